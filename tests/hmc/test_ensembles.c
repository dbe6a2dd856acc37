/* One ensemble in many ways: two flavours by the plain pseudofermion, with every solver and every integration scheme,
 * by Hasenbusch's ratios on several levels with guesses, by rational functions, and as one flavour twice, where some
 * trajectories leave the range of their rational functions and are begun again. The plaquettes agree, and
 * <exp(-dH)> = 1 (M. Creutz, Phys. Rev. D 38 (1988) 1228), which fails where heat bath, force and accept step are not
 * of one action. Another power of the determinant is far off: one flavour, and none, are made too, for a measure of
 * what the test can see.
 *
 * The seed is fixed, so this test gives the same numbers every time; test_hmc_ensembles SEED runs it with another one.
 */
#include "tests/hmc/bench.h"

#define WARMUP 60
#define COUNT 600

typedef struct {
    const char *name, *text; /* fermions and levels */
    double plaquette, error;
    int again; /* some trajectories leave the range of their rational functions and are begun again */
} ensemble;

/* Each solver of a force has one of the accept step beside it. */
static const char frame[] = "[run]\noutput = none\nseed = %s\n"
                            "[lattice]\nsize = 4.4.4.4\n"
                            "[gauge]\nbeta = 5.6\n"
                            "[solver.cg]\ntype = cg\ntolerance = 1e-8\n"
                            "[solver.cg2]\ntype = cg\ntolerance = 1e-10\n"
                            "[solver.bicgstab]\ntype = bicgstab\ntolerance = 1e-8\nfallback = cg2\n"
                            "[solver.bicgstab2]\ntype = bicgstab\ntolerance = 1e-10\nfallback = cg2\n"
                            "[solver.gcr]\ntype = gcr\npreconditioner = steps\ntolerance = 1e-8\nfallback = cg2\n"
                            "[solver.gcr2]\ntype = gcr\npreconditioner = steps\ntolerance = 1e-10\nfallback = cg2\n"
                            "[solver.gcrdd]\ntype = gcr\npreconditioner = blocks\ntolerance = 1e-8\nfallback = cg2\n"
                            "[solver.gcrdd2]\ntype = gcr\npreconditioner = blocks\ntolerance = 1e-10\nfallback = cg2\n"
                            "[solver.mr]\ntype = mr\ntolerance = 1e-8\nfallback = cg2\n"
                            "[solver.mr2]\ntype = mr\ntolerance = 1e-10\nfallback = cg2\n"
                            "[solver.refine]\ntype = refine\ncorrection = rough\ntolerance = 1e-8\nfallback = cg2\n"
                            "[solver.refine2]\ntype = refine\ncorrection = rough\ntolerance = 1e-10\nfallback = cg2\n"
                            "[solver.steps]\ntype = mr\nsteps = 4\nrelaxation = 0.9\n"
                            "[solver.blocks]\ntype = schwarz\ninner_precision = half\nblock = 4.4.2.2\nsteps = 4\n"
                            "[solver.rough]\ntype = bicgstab\ninner_precision = half\ntolerance = 1e-3\n"
                            "%s";

#define LIGHT(solver, keys)                                                                                            \
    "[fermion.light]\nkappa = 0.134\nc_sw = 1.76\nsolver = " solver "\naction_solver = " solver "2\n" keys
#define RATIONAL(name, keys)                                                                                           \
    "[fermion." name "]\nkind = wilson_clover_rational\nkappa = 0.134\nc_sw = 1.76\nsolver = cg\n"                     \
    "action_solver = cg2\n" keys
#define LEVELS(scheme, steps, actions, inside)                                                                         \
    "[integrator.0]\nscheme = " scheme "\nsteps = " steps "\nactions = " actions "\n"                                  \
    "[integrator.1]\nscheme = " scheme "\nsteps = " inside "\nactions = gauge\n"
#define OMELYAN LEVELS("omelyan2", "4", "light", "2")

static const char ratios[] =
    "[fermion.light]\nkappa = 0.134\nc_sw = 1.76\nratio_to = middle\npredictor = 3\nsolver = cg\naction_solver = cg2\n"
    "[fermion.middle]\nkappa = 0.125\nc_sw = 1.76\nratio_to = heavy\npredictor = 3\n"
    "solver = bicgstab\naction_solver = bicgstab2\n"
    "[fermion.heavy]\nkappa = 0.11\nc_sw = 1.76\nsolver = cg\naction_solver = cg2\n"
    "[integrator.0]\nscheme = omelyan2\nsteps = 2\nactions = light\n"
    "[integrator.1]\nscheme = omelyan2\nsteps = 1\nactions = middle\n"
    "[integrator.2]\nscheme = omelyan2\nsteps = 1\nactions = heavy gauge\n";

static ensemble same[] = {
    {"cg, 2MN", LIGHT("cg", "") OMELYAN, 0, 0, 0},
    {"bicgstab", LIGHT("bicgstab", "schur = symmetric\n") OMELYAN, 0, 0, 0},
    {"gcr, mr inside", LIGHT("gcr", "") OMELYAN, 0, 0, 0},
    {"gcr, schwarz inside", LIGHT("gcrdd", "") OMELYAN, 0, 0, 0},
    {"mr", LIGHT("mr", "") OMELYAN, 0, 0, 0},
    {"refine, bicgstab inside", LIGHT("refine", "") OMELYAN, 0, 0, 0},
    {"leapfrog", LIGHT("cg", "") LEVELS("leapfrog", "10", "light", "2"), 0, 0, 0},
    {"4MN5FV", LIGHT("cg", "") LEVELS("omelyan4", "3", "light", "1"), 0, 0, 0},
    {"force gradient", LIGHT("cg", "") LEVELS("force_gradient", "4", "light", "1"), 0, 0, 0},
    {"ratios, predictors", ratios, 0, 0, 0},
    {"two flavours, rational", RATIONAL("light", "flavours = 2\n") OMELYAN, 0, 0, 0},
    {"one flavour twice",
     RATIONAL("up", "") RATIONAL("down", "schur = symmetric\nspectrum = 0.09 2.04\nrange_breach = widen\n")
         LEVELS("omelyan2", "4", "up down", "2"),
     0, 0, 1},
};
static ensemble other[] = {
    {"one flavour", RATIONAL("light", "") OMELYAN, 0, 0, 0},
    {"no flavour", "[integrator.0]\nscheme = omelyan2\nsteps = 6\nactions = gauge\n", 0, 0, 0},
};

static void generate(ensemble *want, const char *seed)
{
    static double plaquette[COUNT], weight[COUNT];
    const double begun = comm_wtime();
    char text[4096];
    snprintf(text, sizeof text, frame, seed, want->text);
    bench b = open_bench(text, 0, NULL);
    double w_error;
    int accepted = 0, failed = 0, repeated = 0;
    for (int i = 0; i < WARMUP + COUNT && !failed; i++) {
        const random_key key = {(uint64_t)b.p->run.seed, (uint32_t)i + 1};
        const trajectory_result r = trajectory_run(&b.s->e, key, 1, i < WARMUP / 2);
        failed = r.status != EVOLVE_DONE;
        if (failed) printf("%s: %s\n", want->name, r.trouble);
        repeated += r.attempts - 1;
        if (i < WARMUP) continue;
        plaquette[i - WARMUP] = gauge_measure(b.s->links, 0).plaquette;
        weight[i - WARMUP] = exp(-r.dh);
        accepted += r.accepted;
    }
    CHECK(!failed);
    want->plaquette = mean(plaquette, COUNT, &want->error);
    const double one = mean(weight, COUNT, &w_error);
    if (comm_rank() == 0)
        printf(
            "%-24s plaquette %.6f +- %.6f  <exp(-dH)> %.4f +- %.4f  acceptance %.3f over %d, %d begun again; %.0f s\n",
            want->name, want->plaquette, want->error, one, w_error, (double)accepted / COUNT, COUNT, repeated,
            comm_wtime() - begun);
    fflush(stdout);
    CHECK_NEAR(one, 1, 3.5 * w_error);
    /* A step that conserves H to all digits would prove nothing, and an error this large nothing either. */
    CHECK(w_error > 1e-5 && w_error < 0.1);
    CHECK(accepted > COUNT / 2);
    CHECK(want->again ? repeated > COUNT / 50 && repeated < COUNT : repeated == 0);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const char *seed = argc > 1 ? argv[1] : "1";
    const int n = sizeof same / sizeof same[0];
    double mean_plaquette = 0, weights = 0, chi2 = 0;
    for (int i = 0; i < n; i++) {
        generate(&same[i], seed);
        const double w = 1 / (same[i].error * same[i].error);
        mean_plaquette += w * same[i].plaquette;
        weights += w;
    }
    mean_plaquette /= weights;
    /* Each against the mean of all, of which it is a part. */
    for (int i = 0; i < n; i++) {
        const double error = sqrt(same[i].error * same[i].error - 1 / weights);
        chi2 += pow((same[i].plaquette - mean_plaquette) / same[i].error, 2);
        CHECK_NEAR(same[i].plaquette, mean_plaquette, 3.5 * error);
    }
    if (comm_rank() == 0)
        printf("mean %.6f +- %.6f, chi^2 %.2f of %d\n", mean_plaquette, 1 / sqrt(weights), chi2, n - 1);
    /* Errors from 20 blocks are known to some 16%. */
    CHECK(chi2 < 4 * (n - 1));
    for (int i = 0; i < 2; i++) {
        generate(&other[i], seed);
        const double error = hypot(other[i].error, sqrt(1 / weights));
        if (comm_rank() == 0)
            printf("%s is %.1f standard errors lower\n", other[i].name, (mean_plaquette - other[i].plaquette) / error);
        CHECK(other[i].plaquette < mean_plaquette - 8 * error);
    }
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
