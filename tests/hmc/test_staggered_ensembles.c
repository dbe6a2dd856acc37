/* Ensembles of staggered quarks. Four flavours without roots, by a trivial power and as two roots are one ensemble; so
 * are 2+1 asqtad flavours, with the gauge action that belongs to them, over a common heavy mass or each for itself, and
 * 2+1+1 HISQ ones. test_hmc_staggered_ensembles FOUR REST [SEED] makes so many trajectories of each ensemble of four
 * flavours, and of the others. */
#include <stdlib.h>

#include "tests/hmc/ensembles.h"
#include "tests/hmc/staggered.h"

static void test_alike(ensemble *e, int n, int count, const char *seed)
{
    thermal_links links = {NULL};
    double error;
    for (int i = 0; i < n; i++) generate(&e[i], "", &links, 20, count, seed);
    free(links.slices);
    check_alike(e, n, &error);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const int of_four = argc > 1 ? atoi(argv[1]) : 60, of_others = argc > 2 ? atoi(argv[2]) : 90;
    const char *seed = argc > 3 ? argv[3] : "5";
    ensemble fours[] = {
        {"4, plain", four, 0, 0, 0}, {"4, 1/x", four_trivial, 0, 0, 0}, {"4, two roots", four_roots, 0, 0, 0}};
    ensemble asqtads[] = {{"2+1 asqtad", asqtad, 0, 0, 0}, {"2+1 asqtad, apart", asqtad_apart, 0, 0, 0}};
    ensemble hisqs[] = {{"2+1+1 HISQ", hisq, 0, 0, 0}, {"2+1+1 HISQ, apart", hisq_apart, 0, 0, 0}};
    test_alike(fours, 3, of_four, seed);
    test_alike(asqtads, 2, of_others, seed);
    test_alike(hisqs, 2, of_others, seed);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
