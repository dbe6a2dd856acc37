/* One ensemble of two Moebius domain wall flavours: as a quotient with Pauli-Villars fields, by a ratio of masses between,
 * and as one flavour by rational functions and one by the exact algorithm, which has a ratio too. Plaquettes agree; one
 * flavour is far off. test_hmc_domainwall_ensembles COUNT [SEED] makes so many trajectories of each. */
#include <stdlib.h>

#include "tests/hmc/ensembles.h"

static const char frame[] = "[run]\noutput = none\n"
                            "[lattice]\nsize = 4.4.4.4\n"
                            "[gauge]\naction = iwasaki\nbeta = 1.8\n"
                            "[solver.cg]\ntype = cg\ntolerance = 1e-7\n"
                            "[solver.cg2]\ntype = cg\ntolerance = 1e-10\n";

#define QUARK(name, kind, mass, keys)                                                                                  \
    "[fermion." name "]\nkind = " kind "\nmass = " mass "\nLs = 4\nb5 = 1.25\nc5 = 0.25\nM5 = 1.8\nsolver = cg\n"      \
    "action_solver = cg2\n" keys
#define LEVELS(steps, actions, inside)                                                                                 \
    "[integrator.0]\nscheme = omelyan2\nsteps = " steps "\nactions = " actions "\n"                                    \
    "[integrator.1]\nscheme = omelyan2\nsteps = " inside "\nactions = gauge\n"

static ensemble same[] = {
    {"quotient", QUARK("light", "mobius", "0.1", "") LEVELS("3", "light", "2"), 0, 0, 0},
    {"ratio of masses",
     QUARK("light", "mobius", "0.1", "ratio_to = near\npredictor = 3\n") QUARK("near", "mobius", "0.4", "")
         LEVELS("3", "light near", "2"),
     0, 0, 0},
    {"rational and exact",
     QUARK("up", "mobius_rational", "0.1", "") QUARK("down", "mobius_eofa", "0.1", "ratio_to = near\n")
         QUARK("near", "mobius_eofa", "0.4", "") LEVELS("3", "up down near", "2"),
     0, 0, 0},
};
static ensemble one = {"one flavour", QUARK("up", "mobius_eofa", "0.1", "") LEVELS("3", "up", "2"), 0, 0, 0};

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const int count = argc > 1 ? atoi(argv[1]) : 80;
    const char *seed = argc > 2 ? argv[2] : "1";
    const int n = sizeof same / sizeof same[0];
    double error;
    for (int i = 0; i < n; i++) generate(&same[i], frame, 20, count, seed);
    const double plaquette = check_alike(same, n, &error);
    generate(&one, frame, 20, count / 2, seed);
    const double lower = (plaquette - one.plaquette) / hypot(one.error, error);
    printf("%s is %.1f standard errors lower\n", one.name, lower);
    CHECK(lower > 4);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
