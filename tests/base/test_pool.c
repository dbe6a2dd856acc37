/* Memory that runs out: one message, and the exit status that the program has chosen; and the limit of a pool. */
#include <stdlib.h>

#include "kernels/base/machine.h"
#include "kernels/base/pool.h"
#include "tests/check.h"

#define MIB ((size_t)1 << 20)

static void *refuse(size_t bytes)
{
    (void)bytes;
    return NULL;
}

static void take_of_none(void *unused)
{
    (void)unused;
    pool_install(POOL_HOST, (pool_source){refuse, free, NULL});
    pool_take(POOL_HOST, 3 * MIB);
}

static void take_beyond_limit(void *unused)
{
    (void)unused;
    pool_set_limit(POOL_HOST, 10 * MIB);
    pool_take(POOL_HOST, 6 * MIB);
    pool_take(POOL_HOST, 6 * MIB);
}

/* The status is that of user errors, as CHECK_USER_ERROR() wants it; or of a run. */
static void leave(int status)
{
    fflush(stderr);
    _exit(status == 4 ? EXIT_USER_ERROR : 0);
}

static void take_in_run(void *unused)
{
    error_set_hooks(0, leave, leave);
    error_set_memory(4, "the last checkpoint stands (out/checkpoint-000003.h5)");
    take_of_none(unused);
}

static void test_limit(void)
{
    pool_set_limit(POOL_HOST, 10 * MIB);
    void *a = pool_take(POOL_HOST, 6 * MIB);
    CHECK(a);
    pool_give(POOL_HOST, a, 6 * MIB);
    /* What lies idle makes room. */
    void *b = pool_take(POOL_HOST, 7 * MIB);
    CHECK(b);
    CHECK(pool_in_use(POOL_HOST) >= 7 * MIB && pool_in_use(POOL_HOST) < 8 * MIB);
    pool_give(POOL_HOST, b, 7 * MIB);
    pool_set_limit(POOL_HOST, 0);
    void *c = pool_take(POOL_HOST, 20 * MIB);
    CHECK(c);
    pool_give(POOL_HOST, c, 20 * MIB);
}

/* A place that only counts keeps what is given back as the other one does: blocks of equal size are taken again. */
static void test_held(void)
{
    static const size_t sizes[] = {3, 5, 3, 4, 5, 2};
    size_t held[2];
    for (int k = 0; k < 2; k++) {
        const int place = k ? POOL_COUNTED(POOL_HOST) : POOL_HOST;
        pool_trim(place);
        pool_forget_peak(place);
        const size_t before = pool_held_peak(place);
        for (int i = 0; i < 6; i++) pool_give(place, pool_take(place, sizes[i] * MIB), sizes[i] * MIB);
        held[k] = pool_held_peak(place) - before;
        CHECK(pool_peak(place) < 6 * MIB);
        pool_trim(place);
        pool_forget_peak(place);
        CHECK(pool_held_peak(place) == before);
    }
    CHECK(held[0] == held[1]);
    CHECK(held[0] >= 14 * MIB && held[0] < 15 * MIB);
}

/* What the system says is possible at all. */
static void test_machine(void)
{
    unsigned char cores[MACHINE_CORES];
    int n = 0;
    machine_cores(cores);
    for (int i = 0; i < MACHINE_CORES; i++) n += cores[i];
    CHECK(n >= 1);
    CHECK(machine_core_share() > 0);
    CHECK(machine_memory() == 0 || machine_memory() > 16.0 * MIB);
    CHECK(machine_process_memory() > 16.0 * MIB);
}

int main(void)
{
    CHECK_USER_ERROR(take_of_none, NULL, "out of host memory: 3.0 MiB asked for");
    CHECK_USER_ERROR(take_beyond_limit, NULL, "6.0 MiB of 10.0 MiB that a rank has in use");
    CHECK_USER_ERROR(take_in_run, NULL, "the last checkpoint stands (out/checkpoint-000003.h5)");
    test_limit();
    test_held();
    test_machine();
    return CHECK_SUMMARY();
}
