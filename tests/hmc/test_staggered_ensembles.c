/* Ensembles of staggered quarks. Four flavours without roots, by a trivial power and as two roots are one ensemble; so
 * are 2+1 asqtad flavours, with the gauge action that belongs to them, over a common heavy mass or each for itself, and
 * 2+1+1 HISQ ones. <exp(-dH)> = 1 of all (M. Creutz, Phys. Rev. D 38 (1988) 1228).
 *
 * The seed is fixed, so this test gives the same numbers every time. test_hmc_staggered_ensembles FOUR REST [SEED]
 * makes so many trajectories of each ensemble of four flavours, and of the others. */
#include <stdlib.h>

#include "tests/hmc/bench.h"
#include "tests/hmc/staggered.h"

#define WARMUP 20

typedef struct {
    double plaquette, error;
} ensemble;

static ensemble generate(const char *text, const char *name, int count, const char *seed)
{
    const double begun = comm_wtime();
    char one[64];
    const char *const overrides[] = {one};
    snprintf(one, sizeof one, "run.seed=%s", seed);
    bench b = open_bench(text, 1, overrides);
    double *p = malloc((size_t)count * sizeof *p), *d = malloc((size_t)count * sizeof *d), error;
    REQUIRE(p && d && count >= 20, "%d trajectories", count);
    int accepted = 0;
    for (int i = 0; i < WARMUP + count; i++) {
        const trajectory_result r =
            trajectory_run(&b.s->e, (random_key){(uint64_t)atol(seed), (uint32_t)i + 1}, 1, i < WARMUP);
        CHECK_INT(r.status, EVOLVE_DONE);
        if (i < WARMUP) continue;
        accepted += r.accepted;
        p[i - WARMUP] = gauge_measure(b.s->links, 0).plaquette;
        d[i - WARMUP] = exp(-r.dh);
    }
    ensemble e;
    e.plaquette = mean(p, count, &e.error);
    const double creutz = mean(d, count, &error);
    if (comm_rank() == 0)
        printf("%-24s plaquette %.5f(%.5f), <exp(-dH)> %.4f(%.4f), accepted %.3f over %d; %.0f s\n", name, e.plaquette,
               e.error, creutz, error, (double)accepted / count, count, comm_wtime() - begun);
    fflush(stdout);
    CHECK(error < 0.1);
    CHECK_NEAR(creutz, 1, 4 * error);
    CHECK(accepted > count / 2);
    free(d);
    free(p);
    close_bench(&b);
    return e;
}

static void check_alike(ensemble a, ensemble b)
{
    CHECK_NEAR(a.plaquette, b.plaquette, 4 * hypot(a.error, b.error));
}

static void test_four(int count, const char *seed)
{
    const ensemble plain = generate(four, "4, plain", count, seed);
    check_alike(plain, generate(four_trivial, "4, 1/x", count, seed));
    check_alike(plain, generate(four_roots, "4, two roots", count, seed));
}

static void test_improved(int count, const char *seed)
{
    const ensemble of_asqtad = generate(asqtad, "2+1 asqtad", count, seed);
    check_alike(of_asqtad, generate(asqtad_apart, "2+1 asqtad, apart", count, seed));
    const ensemble of_hisq = generate(hisq, "2+1+1 HISQ", count, seed);
    check_alike(of_hisq, generate(hisq_apart, "2+1+1 HISQ, apart", count, seed));
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const char *seed = argc > 3 ? argv[3] : "5";
    test_four(argc > 1 ? atoi(argv[1]) : 60, seed);
    test_improved(argc > 2 ? atoi(argv[2]) : 300, seed);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
