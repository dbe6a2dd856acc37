/* Parts of sections: keys and structs of every kind of fermion and gauge action; records of earlier versions, which have
 * keys of other kinds too. */
#include <unistd.h>

#include "hmc/evolve/fermion_kind.h"
#include "hmc/input/changes.h"
#include "hmc/input/identity.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

static parameters *read_text(const char *fermion)
{
    char path[64];
    snprintf(path, sizeof path, "test-parameters-%ld.ini", (long)getpid());
    FILE *out = fopen(path, "w");
    REQUIRE(out, "%s cannot be written", path);
    fprintf(out, "[fermion.q]\n%smeasured_only = yes\nmass = 0.3\nsolver = s\n[solver.s]\ntype = cg\n%s", fermion,
            "[measure.m]\nkind = condensate\nfermion = q\n");
    fclose(out);
    parameters *p = parameters_read(path, 0, NULL, 0);
    remove(path);
    return p;
}

/* Each part has a struct of its own, in which its keys are found again. */
static void test_parts(const fermion_kind *kind)
{
    char text[128];
    snprintf(text, sizeof text, "kind = %s\n", kind->name);
    parameters *p = read_text(text);
    const fermion_params *f = &p->fermions[0].p;
    const char *last = NULL;
    for (int k = 0; kind->parts[k]; k++) {
        const param_section *s = &kind->parts[k]->keys;
        const char *at = fermion_keys(f, kind->parts[k]);
        CHECK(at && (!last || at > last));
        CHECK(at + s->size <= f->parts.bytes + sizeof f->parts.bytes);
        for (int i = 0; i < s->count; i++) {
            char value[PARAM_TEXT_SIZE], line[PARAM_TEXT_SIZE + 64];
            CHECK(s->table[i].offset < s->size && fermion_kind_has(kind, s->table[i].name));
            param_format(&s->table[i], at, value, sizeof value);
            snprintf(line, sizeof line, "fermion.q.%s = %s\n", s->table[i].name, value);
            CHECK_HAS(p->dump, line);
        }
        last = at + s->size - 1;
    }
    for (int i = 1; fermion_section(i); i++) /* and no keys of others */
        for (int k = 0; k < fermion_section(i)->count; k++) {
            char line[128];
            const char *key = fermion_section(i)->table[k].name;
            snprintf(line, sizeof line, "fermion.q.%s = ", key);
            CHECK_INT(strstr(p->dump, line) != NULL, fermion_kind_has(kind, key));
        }
    parameters_free(p);
}

/* What an earlier version wrote: kappa follows from the mass of any quark. */
static const char recorded[] = "fermion.q.kind = staggered\n"
                               "fermion.q.mass = 0.3\n"
                               "fermion.q.kappa = 0.11627906976744186\n"
                               "fermion.q.c_sw = 0\n"
                               "fermion.q.links = naive\n"
                               "fermion.q.unheard_of = 3\n"
                               "solver.s.delta = 0.1\n";

static void test_records(void)
{
    param_text own = changes_own_keys(recorded);
    CHECK_STR(own.data, "fermion.q.kind = staggered\nfermion.q.mass = 0.3\nfermion.q.links = naive\n"
                        "fermion.q.unheard_of = 3\nsolver.s.delta = 0.1\n");
    param_text_free(&own);
}

/* What acts on acceptance: solvers of actions, their fallbacks and what is inside them; not those of measurements, of
 * checks, or of quarks that are only measured. */
static void test_methods(void)
{
    static const char dump[] = "fermion.q.kind = wilson_clover\nfermion.q.solver = force\nfermion.q.action_solver = \n"
                               "fermion.q.reversal_solver = tight\nfermion.q.measured_only = no\n"
                               "fermion.m.kind = wilson_clover\nfermion.m.solver = light\n"
                               "fermion.m.predictor = 0\nfermion.m.measured_only = yes\n"
                               "integrator.0.steps = 5\n"
                               "solver.force.type = refine\nsolver.force.fallback = again\n"
                               "solver.force.correction = inner\nsolver.force.tolerance = 1e-8\n"
                               "solver.again.type = cg\nsolver.again.tolerance = 1e-8\n"
                               "solver.inner.type = gcr\nsolver.inner.preconditioner = blocks\n"
                               "solver.blocks.type = schwarz\nsolver.blocks.cycles = 4\n"
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
                 {"fermion.q.solver = force", "fermion.q.solver = again", 1},
                 {"solver.light.tolerance = 1e-10", "solver.light.tolerance = 1e-9", 0},
                 {"fermion.m.solver = light", "fermion.m.solver = tight", 0},
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

/* Rows that an earlier version measured are of the same identity, unless a key of their own differs. */
static void test_identity(void)
{
    parameters *p = read_text("kind = staggered\nlinks = naive\n");
    param_text now = identity_of_measurement(p, &p->measures[0]), before = {0}, told = {0};
    param_text_add(&before, "%sfermion.kappa = 0.11627906976744186\nfermion.c_sw = 0\n", now.data);
    CHECK_INT(identity_differ(before.data, now.data, &told), 0);
    param_text_add(&before, "fermion.naik_epsilon_of_another_version = 1\n");
    CHECK_INT(identity_differ(before.data, now.data, &told), 1);
    CHECK_HAS(told.data, "naik_epsilon_of_another_version");
    param_text_free(&told);
    param_text_free(&before);
    param_text_free(&now);
    parameters_free(p);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    for (int i = 0; fermion_kind_number(i); i++) test_parts(fermion_kind_number(i));
    test_records();
    test_identity();
    test_methods();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
