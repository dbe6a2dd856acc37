/* How test programs of several ranks begin: test_begin(&argc, &argv) in place of comm_init(). With the argument
 * `one-lane` fields on the host have one lane and the order of a GPU, whose code they run. */
#ifndef PLAQ_TEST_BEGIN_H
#define PLAQ_TEST_BEGIN_H

#include <string.h>

#include "kernels/lattice/comm.h"
#include "kernels/lattice/lattice.h"

static inline void test_begin(int *argc, char ***argv)
{
    comm_init(argc, argv);
    lattice_use_simd(*argc < 2 || strcmp((*argv)[1], "one-lane") != 0);
}

#endif
