/* One ensemble of two Wilson-clover flavours: by the plain pseudofermion with every integration scheme, by Hasenbusch's
 * ratios on several levels with guesses, by rational functions, and as one flavour twice, where some trajectories leave
 * the range of their rational functions and are begun again. Plaquettes agree. Another power of the determinant is far
 * off: one flavour, and none, are made too, for a measure of what the test can see. */
#include "tests/hmc/ensembles.h"
#include "tests/hmc/wilson.h"

static const char ratios[] = "[quark.light]\nkappa = 0.134\nc_sw = 1.76\n[action.light]\nkind = two_flavours\nquark = "
                             "light\nkappas = 0.125 0.11\n"
                             "predictor = 3\nsolver = cg bicgstab cg\naction_solver = cg2 bicgstab2 cg2\n"
                             "[integrator.0]\nscheme = omelyan2\nsteps = 2\nactions = light.0\n"
                             "[integrator.1]\nscheme = omelyan2\nsteps = 1\nactions = light.1\n"
                             "[integrator.2]\nscheme = omelyan2\nsteps = 1\nactions = light.2 gauge\n";

/* The second to fourth differ from the first in the integration scheme alone, which cannot make another ensemble as long
 * as <exp(-dH)> = 1: half as many trajectories. */
static ensemble same[] = {
    {"cg, 2MN", LIGHT("cg", "") OMELYAN, 0, 0, 0},
    {"leapfrog", LIGHT("cg", "") LEVELS("leapfrog", "10", "light", "2"), 0, 0, 0},
    {"4MN5FV", LIGHT("cg", "") LEVELS("omelyan4", "3", "light", "1"), 0, 0, 0},
    {"force gradient", LIGHT("cg", "") LEVELS("force_gradient", "4", "light", "1"), 0, 0, 0},
    {"ratios, predictors", ratios, 0, 0, 0},
    {"two flavours, rational", RATIONAL("light", "", "flavours = 2\n") OMELYAN, 0, 0, 0},
    {"one flavour twice",
     RATIONAL("up", "", "") RATIONAL("down", "schur = symmetric\n", "spectrum = 0.09 2.04\nrange_breach = widen\n")
         LEVELS("omelyan2", "4", "up down", "2"),
     0, 0, 1},
};
static ensemble other[] = {
    {"one flavour", RATIONAL("light", "", "") OMELYAN, 0, 0, 0},
    {"no flavour", "[integrator.0]\nscheme = omelyan2\nsteps = 6\nactions = gauge\n", 0, 0, 0},
};

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const char *seed = argc > 1 ? argv[1] : "1";
    const int n = sizeof same / sizeof same[0];
    thermal_links links = {NULL};
    double error;
    for (int i = 0; i < n; i++) generate(&same[i], two_flavours, &links, 30, i && i < 4 ? 40 : 80, seed);
    const double plaquette = check_alike(same, n, &error);
    for (int i = 0; i < 2; i++) { /* so far off that fewer trajectories show it */
        generate(&other[i], two_flavours, &links, 100, 100, seed);
        const double lower = (plaquette - other[i].plaquette) / hypot(other[i].error, error);
        printf("%s is %.1f standard errors lower\n", other[i].name, lower);
        CHECK(lower > 8);
    }
    free(links.slices);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
