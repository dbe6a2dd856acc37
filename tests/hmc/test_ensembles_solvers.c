/* One ensemble of two Wilson-clover flavours with every solver, in force and accept step: plaquettes agree. The first
 * is in hmc/ensembles_actions too, whose actions and integration schemes it stands against. */
#include "tests/hmc/ensembles.h"
#include "tests/hmc/wilson.h"

static ensemble same[] = {
    {"cg, 2MN", LIGHT("cg", "") OMELYAN, 0, 0, 0},
    {"bicgstab", LIGHT("bicgstab", "schur = symmetric\n") OMELYAN, 0, 0, 0},
    {"gcr, mr inside", LIGHT("gcr", "") OMELYAN, 0, 0, 0},
    {"gcr, schwarz inside", LIGHT("gcrdd", "") OMELYAN, 0, 0, 0},
    {"mr", LIGHT("mr", "") OMELYAN, 0, 0, 0},
    {"refine, bicgstab inside", LIGHT("refine", "") OMELYAN, 0, 0, 0},
};

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const int n = sizeof same / sizeof same[0];
    double error;
    for (int i = 0; i < n; i++) generate(&same[i], two_flavours, 30, 90, argc > 1 ? argv[1] : "1");
    check_alike(same, n, &error);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
