/* How test programs of several ranks begin: test_begin(&argc, &argv) in place of comm_init(). With the argument
 * `one-lane` lattices have one lane on the host and the order of a GPU, whose code they run. test_simd tells; a test
 * that asks for one lane in places goes back to it. With the argument `gpu` simulations are to take a GPU, which
 * test_gpu tells; where there is none the test ends as skipped. */
#ifndef PLAQ_TEST_BEGIN_H
#define PLAQ_TEST_BEGIN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/lattice.h"

static int test_simd = 1, test_gpu;

static inline void test_need_gpu(void)
{
    if (comm_all(gpu_count() > 0)) return;
    if (comm_rank() == 0) printf("skipped: there is no GPU\n");
    comm_finalize();
    exit(77);
}

static inline void test_begin(int *argc, char ***argv)
{
    comm_init(argc, argv);
    test_simd = *argc < 2 || strcmp((*argv)[1], "one-lane") != 0;
    lattice_use_simd(test_simd);
    test_gpu = *argc > 1 && !strcmp((*argv)[1], "gpu");
    if (test_gpu) test_need_gpu();
}

#endif
