/* Actions of Moebius domain wall quarks, two flavours, powers and one flavour exactly, alone and over heavier masses: at
 * the heat bath S = |eta|^2; over their own mass they are a constant; forces are derivatives; trajectories have a way
 * back. */
#include "tests/begin.h"
#include "tests/hmc/dynamics.h"

#define FRAME                                                                                                          \
    "[run]\noutput = none\nseed = 3\n"                                                                                 \
    "[lattice]\nsize = 4.4.4.4\n"                                                                                      \
    "[gauge]\naction = iwasaki\nbeta = 2.2\n"                                                                          \
    "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-13\n"                                          \
    "[solver.general]\ntype = bicgstab\ninner_precision = double\ntolerance = 1e-12\nfallback = good\n"                \
    "[solver.blocks]\ntype = pcg\ninner_precision = double\ntolerance = 1e-13\npreconditioner = inside\n"              \
    "[solver.inside]\ntype = multisplitting\ninner_precision = half\nblock = 4.4.2.2\n"
#define LEVEL(actions) "[integrator.0]\nscheme = omelyan2\nsteps = 6\nactions = " actions " gauge\n"
#define MOEBIUS "Ls = 4\nb5 = 1.5\nc5 = 0.5\nM5 = 1.8\n"
#define SHAMIR "Ls = 6\nb5 = 1\nc5 = 0\nM5 = 1.8\nparity = even\n"
#define QUARK(name, mass, keys) "[quark." name "]\nkind = mobius\nmass = " mass "\n" keys
#define ACTION(name, kind, keys) "[action." name "]\nkind = " kind "\nquark = " name "\n" keys
#define GOOD "solver = good\n"
#define ONE GOOD "flavours = 1\nforce_approximation = 1e-12\n"

static const char all[] = FRAME LEVEL("light twice third strange") QUARK("light", "0.05", MOEBIUS)
    ACTION("light", "two_flavours", GOOD "masses = 0.3\npredictor = 0\n") QUARK("twice", "0.1", MOEBIUS)
        ACTION("twice", "rational", ONE) QUARK("third", "0.1", SHAMIR)
            ACTION("third", "rational", GOOD "flavours = 3\npseudofermions = 2\nforce_approximation = 1e-12\n")
                QUARK("strange", "0.07", MOEBIUS) ACTION("strange", "eofa", GOOD "masses = 0.4\n");
static const char even[] = FRAME LEVEL("light strange") QUARK("light", "0.05", SHAMIR)
    ACTION("light", "two_flavours", GOOD) QUARK("strange", "0.1", SHAMIR) ACTION("strange", "eofa", GOOD);
static const char smeared[] = FRAME LEVEL("light strange") "[links.stout]\nkind = stout\nrho = 0.12\nsteps = 2\n" QUARK(
    "light", "0.05", SHAMIR "links = stout\n") ACTION("light", "two_flavours", GOOD)
    QUARK("strange", "0.1", SHAMIR "links = stout\n") ACTION("strange", "eofa", GOOD "masses = 0.4\n");
static const char in_blocks[] = FRAME LEVEL("light strange") QUARK("light", "0.05", MOEBIUS)
    ACTION("light", "two_flavours", "solver = blocks\naction_solver = blocks\nheat_bath_solver = blocks\n")
        QUARK("strange", "0.1", MOEBIUS)
            ACTION("strange", "eofa", "solver = blocks\naction_solver = blocks\nheat_bath_solver = good\n");
static const char constant[] = FRAME LEVEL("light twice") QUARK("light", "1", MOEBIUS)
    ACTION("light", "two_flavours", GOOD) QUARK("twice", "1", MOEBIUS) ACTION("twice", "rational", ONE);

/* Of S, where solves are to 1e-13 and the force of a ratio is small. */
#define NOISE 1e-13

/* ---- the heat bath ---- */

static void test_heat_bath(const char *text, int n, const char *const *overrides)
{
    bench b = open_bench(text, n, overrides);
    for (int i = 0; i < b.s->e.nactions; i++) {
        action *a = b.s->e.actions[i];
        action_reset_counts(a);
        if (!strcmp(a->name, "gauge")) continue;
        CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
        CHECK(a->start_known);
        const double s = value_of(a);
        if (comm_rank() == 0)
            printf("heat bath, %s: S %.12g, |eta|^2 %.12g, worst residual %.1e, %ld iterations\n", a->name, s,
                   a->start_value, a->worst_residual, a->iterations);
        CHECK_REL(s, a->start_value, 1e-10);
        CHECK(a->solves > 1 && a->worst_residual < 2e-12);
    }
    close_bench(&b);
}

/* ---- a quark over itself ---- */

/* S = |eta|^2 on any links, and there is no force. */
static void test_constant(void)
{
    bench b = open_bench(constant, 0, NULL);
    for (int i = 0; i < b.s->e.nactions; i++) {
        action *a = b.s->e.actions[i];
        if (!strcmp(a->name, "gauge")) continue;
        CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
        gauge_update(b.s->links, 0.3, b.s->e.momenta);
        const double s = value_of(a);
        CHECK_REL(s, a->start_value, 1e-9);
        momenta_zero(b.s->e.force);
        CHECK_INT(action_force(a, b.s->e.force), 0);
        const double left = sqrt(momenta_norm2(b.s->e.force));
        if (comm_rank() == 0) printf("mass 1, %s: S %.12g of %.12g, |F| %.1e\n", a->name, s, a->start_value, left);
        CHECK_NEAR(left, 0, 1e-7);
        field_copy(b.s->links, b.start);
    }
    close_bench(&b);
}

/* ---- trajectories ---- */

static void test_reversal(const char *text, const char *what)
{
    bench b = open_bench(text, 0, NULL);
    check_reversal(&b, what, 0.5);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    static const char *const general[] = {"action.light.solver=general good", "action.light.action_solver=good general",
                                          "action.strange.solver=general"};
    test_begin(&argc, &argv);
    test_heat_bath(all, 0, NULL);
    test_heat_bath(all, 3, general);
    test_heat_bath(in_blocks, 0, NULL);
    test_heat_bath(smeared, 0, NULL);
    test_constant();
    test_forces(all, "in one", 0, NULL, NOISE);
    test_forces(all, "solvers of Mhat", 3, general, NOISE);
    test_forces(even, "even sites", 0, NULL, 0);
    test_forces(smeared, "stout links", 0, NULL, 0);
    test_reversal(even, "light and strange");
    const int status = CHECK_SUMMARY();
    gpu_transport_close();
    comm_finalize();
    return status;
}
