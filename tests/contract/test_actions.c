/* Every kind of action on every kind of quark that has what it needs, alone and as a chain of masses: the force is the
 * derivative, with the right order; at the heat bath S is that of the noise; the determinant has the flavours that the kind
 * claims. */
#include "hmc/actions/action_kind.h"
#include "hmc/input/parts.h"
#include "tests/begin.h"
#include "tests/hmc/dynamics.h"

#define FRAME                                                                                                          \
    "[run]\noutput = none\nseed = 3\n"                                                                                 \
    "[lattice]\nsize = 4.4.4.8\n"                                                                                      \
    "[gauge]\nbeta = 5.6\n"                                                                                            \
    "[integrator.0]\nsteps = 4\nactions = a gauge\n"                                                                   \
    "[solver.s]\ntype = cg\ninner_precision = double\ntolerance = 1e-13\n"                                             \
    "[links.smeared]\nkind = stout\nrho = 0.1\n"                                                                       \
    "[links.hex]\nkind = hex\n"

/* Quarks whose solves are short. A line is for the kinds that have its first key. */
static const char *const quarks[] = {
    "c_sw = 1.3\n",
    "c_sw = 1.1\nschur = symmetric\nlinks = hex\n",
    "c_sw = 1.2\nlinks = smeared\nclover_links = thin\ntheta = 0.3 0 0 0\n",
    "c_sw = 0\nparity = even\nlinks = smeared\ntheta = 0.5 0 0 0.9\n",
    "xi_0 = 2.5\nnu = 0.9\nclover_R = 1.4\nclover_T = 0.7\nlinks = hex\n",
    "c_sw = 1.9\nclover_term = exponential\nlinks = smeared\nclover_links = thin\n",
    "mu = 0.5\nc_sw = 1.5\nclover_term = exponential\nschur = symmetric\n",
    "mu = 0.2\nc_sw = 1.3\n",
    "mu = 0.2\nxi_0 = 2.5\nnu = 0.9\nclover_R = 1.4\nclover_T = 0.7\n",
    "mu = -0.3\nc_sw = 1.1\nschur = symmetric\nlinks = hex\ntheta = 0.3 0 0 0\n",
    "mu = 0.4\nc_sw = 0\nparity = even\n",
    "mu_sigma = 0.3\nmu_delta = 0.25\nc_sw = 1.3\n",
    "mu_sigma = 0.2\nmu_delta = 0.3\nc_sw = 0\nparity = even\n",
    "mu_sigma = -0.3\nmu_delta = 0.1\nc_sw = 1.1\nschur = symmetric\nlinks = hex\ntheta = 0.3 0 0 0\n",
    "u0 = 0.9\nlinks = asqtad\ntheta = 0 0.7 0 0\n",
    "naik_epsilon = -0.1\nlinks = hisq\n",
    "Ls = 4\nb5 = 1.25\nc5 = 0.25\n",
    "Ls = 4\nb5 = 1\nc5 = 0\nlinks = smeared\ntheta = 0 0 0.6 0.4\n"};

static int has(const quark_kind *kind, const char *keys)
{
    if ((kind->twisted_mass || kind->doublet) && strncmp(keys, "mu", 2)) return 0;
    char word[32] = "";
    sscanf(keys, "%31s", word);
    return quark_kind_has(kind, word);
}

/* The kinds of actions that a quark may have, by what both say of themselves. */
static int fits(const action_kind *action, const quark_kind *quark)
{
    if (quark->valence) return 0;
    const int exact = !strcmp(action->name, "eofa");
    if (action->rational && quark->twisted_mass) return 0;
    return (!action->flavours || action->flavours == quark->flavours) && (!exact || quark->one_flavour);
}

static void check_action(const action_kind *kind, const quark_kind *quark, const char *keys, const char *chain)
{
    char text[2048], what[128];
    const double noise = quark->spins == 1 ? 1e-12 : 1e-13;
    snprintf(text, sizeof text,
             FRAME "[quark.q]\nkind = %s\nmass = 0.3\n%s[action.a]\nkind = %s\nquark = q\nsolver = s\n%s%s%s",
             quark->name, keys, kind->name, chain, kind->rational ? "force_approximation = 1e-12\n" : "",
             kind->rational && quark->doublet ? "flavours = 2\n" : "");
    snprintf(what, sizeof what, "%s of %s, %.*s%s", kind->name, quark->name, (int)strcspn(keys, "\n"), keys,
             chain[0] ? ", a chain" : "");
    bench b = open_bench(text, 0, NULL);
    flavours sums[MAX_FLAVOURS];
    mass_factor factors[MAX_FACTORS];
    CHECK_INT(parameters_flavours(b.p, sums), 1);
    CHECK_INT(kind->factors(&b.p->actions[0], &b.p->quarks[0], factors), 1);
    CHECK_INT(sums[0].number, factors[0].flavours);
    CHECK_INT(b.p->nterms, chain[0] ? 2 : 1);
    for (int i = 0; i < b.s->e.nactions; i++) {
        action *a = b.s->e.actions[i];
        if (!strcmp(a->name, "gauge")) continue;
        check_force(&b, a, what, noise);
        const action_term *t = parameters_term(b.p, a->name);
        CHECK(t || !strcmp(a->name, "a.det"));
        if (!t) continue;
        CHECK_INT(action_refresh(a, (random_key){3, 2}), 0);
        CHECK(a->start_known || !kind->heat_bath_solves(t));
        if (a->start_known) CHECK_REL(value_of(a), a->start_value, 1e-9);
    }
    close_bench(&b);
}

int main(int argc, char **argv)
{
    int n = 0;
    test_begin(&argc, &argv);
    for (int i = 0; action_kind_number(i); i++)
        for (int q = 0; quark_kind_number(q); q++) {
            const action_kind *kind = action_kind_number(i);
            const quark_kind *quark = quark_kind_number(q);
            const int chains = quark->ratios && parts_have(kind->parts, "masses");
            for (size_t k = 0; k < sizeof quarks / sizeof quarks[0] && fits(kind, quark); k++) {
                if (!has(quark, quarks[k])) continue;
                check_action(kind, quark, quarks[k], "");
                if (chains) check_action(kind, quark, quarks[k], "masses = 0.7\n");
                if (chains && quark->twisted_mass) check_action(kind, quark, quarks[k], "mus = 0.9\n");
                n += 1 + chains;
            }
        }
    if (comm_rank() == 0) printf("%d actions\n", n);
    CHECK(n >= 29);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
