/* Parts of sections: keys and structs of every kind of quark and gauge action; and what changes between two dumps. */
#include <unistd.h>

#include "hmc/quarks/quark.h"
#include "hmc/assemble/changes.h"
#include "hmc/assemble/identity.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

static parameters *read_text(const char *keys, int measured)
{
    char path[64];
    snprintf(path, sizeof path, "test-parameters-%ld.ini", (long)getpid());
    FILE *out = fopen(path, "w");
    REQUIRE(out, "%s cannot be written", path);
    fprintf(out, "[quark.q]\n%smass = 0.3\nsolver = s\n[solver.s]\ntype = cg\n%s", keys,
            measured ? "[measure.m]\nkind = condensate\nquark = q\n" : "");
    fclose(out);
    parameters *p = parameters_read(path, 0, NULL, 0);
    remove(path);
    return p;
}

/* Each part has a struct of its own, in which its keys are found again. */
static void test_parts(const quark_kind *kind)
{
    char text[128];
    snprintf(text, sizeof text, "kind = %s\n%s", kind->name,
             kind->twisted_mass              ? "mu = 0.1\n"
             : kind->doublet                 ? "mu_sigma = 0.1\n"
             : quark_kind_has(kind, "omega") ? "Ls = 2\nomega = 0.5+0.1i 0.5-0.1i\n"
                                             : "");
    parameters *p = read_text(text, !kind->doublet);
    const quark_params *f = &p->quarks[0].p;
    const char *last = NULL;
    for (int k = 0; kind->parts[k]; k++) {
        const param_section *s = kind->parts[k];
        const char *at = quark_keys(f, kind->parts[k]);
        CHECK(at && (!last || at > last));
        CHECK(at + s->size <= f->parts.bytes + sizeof f->parts.bytes);
        for (int i = 0; i < s->count; i++) {
            char value[PARAM_TEXT_SIZE], line[PARAM_TEXT_SIZE + 64];
            CHECK(s->table[i].offset < s->size && quark_kind_has(kind, s->table[i].name));
            param_format(&s->table[i], at, value, sizeof value);
            snprintf(line, sizeof line, "quark.q.%s = %s\n", s->table[i].name, value);
            CHECK_HAS(p->dump, line);
        }
        last = at + s->size - 1;
    }
    for (int i = 1; quark_section(i); i++) /* and no keys of others */
        for (int k = 0; k < quark_section(i)->count; k++) {
            char line[128];
            const char *key = quark_section(i)->table[k].name;
            snprintf(line, sizeof line, "quark.q.%s = ", key);
            CHECK_INT(strstr(p->dump, line) != NULL, quark_kind_has(kind, key));
        }
    parameters_free(p);
}

/* What acts on acceptance: solvers of actions, their fallbacks and what is inside them; not those of measurements, of
 * checks, or of quarks that are only measured. */
static void test_methods(void)
{
    static const char dump[] = "quark.q.kind = wilson_clover\nquark.q.solver = \n"
                               "quark.m.kind = wilson_clover\nquark.m.solver = light\n"
                               "action.q.quark = q\naction.q.solver = force heavy\naction.q.action_solver = force\n"
                               "action.q.reversal_solver = tight\n"
                               "integrator.0.steps = 5\n"
                               "solver.force.type = refine\nsolver.force.fallback = again\n"
                               "solver.force.correction = inner\nsolver.force.tolerance = 1e-8\n"
                               "solver.again.type = cg\nsolver.again.tolerance = 1e-8\n"
                               "solver.inner.type = gcr\nsolver.inner.preconditioner = blocks\n"
                               "solver.blocks.type = schwarz\nsolver.blocks.cycles = 4\n"
                               "solver.heavy.type = cg\nsolver.heavy.tolerance = 1e-7\n"
                               "solver.light.type = cg\nsolver.light.tolerance = 1e-10\n"
                               "solver.tight.type = cg\nsolver.tight.tolerance = 1e-12\n"
                               "solver.forc.type = cg\nsolver.forc.tolerance = 1e-11\n";
    static const struct {
        const char *line, *changed;
        int counts;
    } cases[] = {{"solver.force.tolerance = 1e-8", "solver.force.tolerance = 1e-9", 1},
                 {"solver.again.tolerance = 1e-8", "solver.again.tolerance = 1e-9", 1},
                 {"solver.blocks.cycles = 4", "solver.blocks.cycles = 5", 1},
                 {"integrator.0.steps = 5", "integrator.0.steps = 6", 1},
                 {"action.q.solver = force heavy", "action.q.solver = again heavy", 1},
                 {"solver.heavy.tolerance = 1e-7", "solver.heavy.tolerance = 1e-9", 1},
                 {"solver.light.tolerance = 1e-10", "solver.light.tolerance = 1e-9", 0},
                 {"quark.m.solver = light", "quark.m.solver = tight", 0},
                 {"solver.tight.tolerance = 1e-12", "solver.tight.tolerance = 1e-9", 0},
                 {"solver.forc.tolerance = 1e-11", "solver.forc.tolerance = 1e-9", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *at = strstr(dump, cases[i].line);
        param_text now = {0}, physics = {0}, methods = {0};
        REQUIRE(at, "no line %s", cases[i].line);
        param_text_add(&now, "%.*s%s%s", (int)(at - dump), dump, cases[i].changed, at + strlen(cases[i].line));
        changes_between(dump, now.data, &physics, &methods);
        if ((methods.length > 0) != cases[i].counts) printf("%s\n", cases[i].changed);
        CHECK_INT(methods.length > 0, cases[i].counts);
        param_text_free(&methods);
        param_text_free(&physics);
        param_text_free(&now);
    }
}

/* Rows of one measurement have one identity, unless a key differs. */
static void test_identity(void)
{
    parameters *p = read_text("kind = staggered\nlinks = naive\n", 1);
    param_text now = identity_of_measurement(p, &p->measures[0]), before = {0}, told = {0};
    CHECK_INT(identity_differ(now.data, now.data, &told), 0);
    param_text_add(&before, "%squark.unheard_of = 1\n", now.data);
    CHECK_INT(identity_differ(before.data, now.data, &told), 1);
    CHECK_HAS(told.data, "unheard_of");
    param_text_free(&told);
    param_text_free(&before);
    param_text_free(&now);
    parameters_free(p);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    for (int i = 0; quark_kind_number(i); i++) test_parts(quark_kind_number(i));
    test_identity();
    test_methods();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
