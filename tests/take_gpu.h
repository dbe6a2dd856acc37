/* How test programs take a GPU for each rank, after comm_init(). */
#ifndef PLAQ_TEST_TAKE_GPU_H
#define PLAQ_TEST_TAKE_GPU_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/comm.h"
#include "tests/begin.h"

/* Whether PLAQ_TEST_TRANSPORTS in the environment, names with commas, says that this one works here: tests do without
 * others where they do not. */
static inline int test_has_transport(const char *name)
{
    const char *names = getenv("PLAQ_TEST_TRANSPORTS");
    const size_t n = strlen(name);
    for (const char *at = names ? strstr(names, name) : NULL; at; at = strstr(at + 1, name))
        if ((at == names || at[-1] == ',') && (!at[n] || at[n] == ',')) return 1;
    return 0;
}

static inline void test_take_transport(void)
{
    char message[512];
    if (comm_size() > 1) REQUIRE(!gpu_transport_choose("auto", message, sizeof message), "%s", message);
}

/* Ranks may share one. Where there is none the test ends as skipped. */
static inline void test_take_gpu(void)
{
    char message[512];
    test_need_gpu();
    REQUIRE(!gpu_bind(1, message, sizeof message), "%s", message);
    test_take_transport();
}

#endif
