/* How test programs of several ranks begin: test_begin(&argc, &argv) in place of comm_init(). With the argument
 * `one-lane` lattices have one lane on the host and the order of a GPU, whose code they run. test_simd tells; a test
 * that asks for one lane in places goes back to it. */
#ifndef PLAQ_TEST_BEGIN_H
#define PLAQ_TEST_BEGIN_H

#include <string.h>

#include "kernels/lattice/comm.h"
#include "kernels/lattice/lattice.h"

static int test_simd = 1;

static inline void test_begin(int *argc, char ***argv)
{
    comm_init(argc, argv);
    test_simd = *argc < 2 || strcmp((*argv)[1], "one-lane") != 0;
    lattice_use_simd(test_simd);
}

#endif
