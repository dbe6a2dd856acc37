/* Multigrid in actions: forces are derivatives and those of conjugate gradients; the heat bath gives S = |eta|^2; a
 * trajectory has the energies of conjugate gradients, goes its way back, and is a function of its start and number, whether
 * its set-ups are kept or refreshed on the way; also of twisted masses, where adjoints are solved by the other sign of mu. */
#include "tests/begin.h"
#include "tests/hmc/dynamics.h"

#define TEXT(quark, chain, levels)                                                                                     \
    "[run]\noutput = none\nseed = 3\n"                                                                                 \
    "[lattice]\nsize = 4.4.4.8\n"                                                                                      \
    "[gauge]\nbeta = 5.6\n"                                                                                            \
    "[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = light.0\n"                                                \
    "[integrator.1]\nscheme = omelyan2\nsteps = 1\nactions = light.1 gauge\n"                                          \
    "[quark.light]\nkappa = 0.14\nc_sw = 1.5\n" quark "[action.light]\nkind = two_flavours\nquark = light\n" chain     \
    "solver = good\n"                                                                                                  \
    "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-12\n"                                          \
    "[solver.levels]\ntype = multigrid\ntolerance = 1e-12\nlevels = 2\nblock = 2.2.2.2\nvectors = 8\n"                 \
    "setup_iterations = 16\nrefinements = 1\nfallback = good\n" levels                                                \
    "[solver.around]\ntype = gcr\ntolerance = 1e-12\npreconditioner = inside\nfallback = good\n"                       \
    "[solver.inside]\ntype = multigrid\nlevels = 2\nblock = 2.2.2.2\nvectors = 8\nsetup_iterations = 16\nrefinements = " \
    "1\n"

/* Quarks without and with a twisted mass. */
static const char *const texts[] = {TEXT("", "kappas = 0.125\n", ""),
                                    TEXT("kind = twisted_mass\nmu = 0.03\n", "mus = 0.2\n", "mu_factor = 2\n")};
static int with_mu;

enum { KEYS = 4 };

/* Both factors by one solver, in a form, with set-ups that are refreshed at a growth of the iterations. */
static bench open_with(const char *solver, const char *form, double refresh_at)
{
    char all[KEYS][64];
    const char *overrides[KEYS];
    for (int i = 0; i < KEYS; i++) overrides[i] = all[i];
    snprintf(all[0], sizeof all[0], "action.light.solver=%s", solver);
    snprintf(all[1], sizeof all[1], "quark.light.schur=%s", form);
    snprintf(all[2], sizeof all[2], "solver.levels.refresh_at=%g", refresh_at);
    snprintf(all[3], sizeof all[3], "solver.inside.refresh_at=%g", refresh_at);
    return open_bench(texts[with_mu], KEYS, overrides);
}

/* Force and heat bath after a step of the links, against those of conjugate gradients. */
static void test_force(const char *solver, const char *form)
{
    bench b[2];
    double s[2];
    for (int i = 0; i < 2; i++) {
        b[i] = open_with(i ? solver : "good", form, 1.5);
        action *a = action_of(&b[i], "light");
        action_reset_counts(a);
        CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
        CHECK_REL(value_of(a), a->start_value, 1e-10);
        gauge_update(b[i].s->links, 0.1, b[i].s->e.momenta);
        momenta_zero(b[i].s->e.force);
        CHECK_INT(action_force(a, b[i].s->e.force), 0);
        s[i] = value_of(a);
        CHECK_INT(a->repeats, 0);
        CHECK(a->solves > 0 && a->worst_residual <= 1.5e-12);
    }
    const double size = momenta_norm2(b[0].s->e.force);
    CHECK_REL(s[1], s[0], 1e-10);
    CHECK_NEAR(largest_difference(b[1].s->e.force, b[0].s->e.force) / sqrt(size), 0, 1e-10);
    for (int i = 0; i < 2; i++) close_bench(&b[i]);
}

static trajectory_result run_number(bench *b, uint32_t number)
{
    field_copy(b->s->links, b->start);
    const trajectory_result r = trajectory_run(&b->s->e, (random_key){3, number}, 0.5, 1);
    CHECK_INT(r.status, EVOLVE_DONE);
    return r;
}

/* With refresh_at = 1 null vectors are refreshed, or made anew, whenever an iteration more is counted. */
static void test_trajectory(const char *solver, const char *form)
{
    bench cg = open_with("good", form, 1.5);
    const trajectory_result plain = run_number(&cg, 1);
    for (int often = 0; often < 2; often++) {
        bench b = open_with(solver, form, often ? 1 : 1.5);
        const trajectory_result first = run_number(&b, 1), other = run_number(&b, 2), again = run_number(&b, 1);
        CHECK_NEAR(first.dh, plain.dh, 1e-7);
        CHECK(other.dh != first.dh);
        CHECK(again.dh == first.dh);
        for (int i = 0; i < b.s->e.nactions; i++) CHECK_INT(again.iterations[i], first.iterations[i]);
        CHECK_NEAR(largest_difference(b.s->links, cg.s->links), 0, 1e-8);
        close_bench(&b);
        /* As after a restart. */
        bench fresh = open_with(solver, form, often ? 1 : 1.5);
        CHECK(run_number(&fresh, 2).dh == other.dh);
        close_bench(&fresh);
    }
    close_bench(&cg);
}

static void test_way_back(const char *solver)
{
    bench b = open_with(solver, "symmetric", 1.2);
    check_reversal(&b, solver, 0.5);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    static const char *const solvers[] = {"levels", "around"}, *const forms[] = {"asymmetric", "symmetric"};
    for (int i = 0; i < 2; i++) {
        for (int f = 0; f < 2; f++) test_force(solvers[i], forms[f]);
        test_trajectory(solvers[i], forms[i]);
    }
    test_way_back("levels");
    with_mu = 1;
    test_force("levels", "asymmetric");
    test_force("around", "symmetric");
    test_trajectory("levels", "symmetric");
    test_way_back("levels");
    with_mu = 0;
    bench b = open_with("levels", "symmetric", 1.5);
    check_force(&b, action_of(&b, "light"), "multigrid", 1e-13);
    close_bench(&b);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
