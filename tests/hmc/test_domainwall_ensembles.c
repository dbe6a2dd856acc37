/* One ensemble of two Moebius domain wall flavours: as a quotient with Pauli-Villars fields, by a ratio of masses between,
 * and as one flavour twice, by the exact algorithm, with a ratio too, and by rational functions. Plaquettes agree; that
 * without quarks is far off. test_hmc_domainwall_ensembles COUNT [SEED] makes so many trajectories of each, or twice that. */
#include <stdlib.h>

#include "tests/hmc/ensembles.h"

static const char frame[] = "[run]\noutput = none\n"
                            "[lattice]\nsize = 4.4.4.4\n"
                            "[gauge]\naction = iwasaki\nbeta = 1.8\n"
                            "[solver.cg]\ntype = cg\ntolerance = 1e-7\n"
                            "[solver.cg2]\ntype = cg\ntolerance = 1e-10\n";

#define QUARK "[quark.light]\nkind = mobius\nmass = 0.1\nLs = 4\nb5 = 1.25\nc5 = 0.25\nM5 = 1.8\n"
#define ACTION(name, kind, keys)                                                                                       \
    "[action." name "]\nkind = " kind "\nquark = light\nsolver = cg\naction_solver = cg2\n" keys
#define RANGES "approximation = 1e-10\nforce_approximation = 1e-4\n"
#define LEVELS(steps, actions, inside)                                                                                 \
    "[integrator.0]\nscheme = omelyan2\nsteps = " steps "\nactions = " actions "\n"                                    \
    "[integrator.1]\nscheme = omelyan2\nsteps = " inside "\nactions = gauge\n"

typedef struct {
    ensemble e;
    int shares; /* of COUNT */
} sized;

static sized same[] = {
    {{"quotient", QUARK ACTION("light", "two_flavours", "") LEVELS("3", "light", "2"), 0, 0, 0}, 2},
    {{"ratio of masses",
      QUARK ACTION("light", "two_flavours", "masses = 0.4\npredictor = 3\n") LEVELS("3", "light", "2"), 0, 0, 0},
     2},
    {{"exact, twice one",
      QUARK ACTION("up", "eofa", "") ACTION("down", "eofa", "masses = 0.4\n") LEVELS("3", "up down", "2"), 0, 0, 0},
     1},
    {{"rational, twice one",
      QUARK ACTION("up", "rational", RANGES) ACTION("down", "rational", RANGES) LEVELS("3", "up down", "2"), 0, 0, 0},
     1},
};
#define ALIKE (int)(sizeof same / sizeof same[0])
static ensemble none = {"no flavour", "[integrator.0]\nscheme = omelyan2\nsteps = 6\nactions = gauge\n", 0, 0, 0};

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const int count = argc > 1 ? atoi(argv[1]) : 25;
    const char *seed = argc > 2 ? argv[2] : "1";
    ensemble all[ALIKE];
    double error;
    /* Each from rough links: the plaquette of this glue forgets slowly. */
    for (int i = 0; i < ALIKE; i++) {
        generate(&same[i].e, frame, NULL, 20, count * same[i].shares, seed);
        all[i] = same[i].e;
    }
    const double plaquette = check_alike(all, ALIKE, &error);
    generate(&none, frame, NULL, 20, 10 * count, seed);
    const double lower = (plaquette - none.plaquette) / hypot(none.error, error);
    printf("%s is %.1f standard errors lower\n", none.name, lower);
    CHECK(lower > 4);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
