/* The watchdog: a process that waits longer than its limit ends with EXIT_HUNG and says for what; one that waits often,
 * but each time shorter, does not end. */
#include "kernels/base/watchdog.h"
#include "tests/base/child.h"
#include "tests/check.h"

#include <stdlib.h>
#include <time.h>

#define LIMIT 1.0

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_seconds(double seconds)
{
    const double end = now() + seconds;
    while (now() < end) usleep(10000);
}

static void hang(void)
{
    watchdog_start(LIMIT, 3);
    watchdog_note("hop");
    watchdog_enter("a message that never comes");
    wait_seconds(30);
}

/* Of its own, so without a turn, which would be late. */
static void hang_alone(void)
{
    watchdog_start(LIMIT, 100);
    watchdog_enter_own("a GPU that never answers");
    wait_seconds(30);
}

static void hang_later(void)
{
    watchdog_start(LIMIT, 0);
    for (int i = 0; i < 20; i++) {
        watchdog_enter("something quick");
        watchdog_leave();
    }
    watchdog_enter("the second thing");
    wait_seconds(30);
}

/* Longer than the limit in all, in calls without a pause between them and in work outside of calls. */
static void busy(void)
{
    watchdog_start(LIMIT, 0);
    for (int i = 0; i < 6; i++) {
        watchdog_enter("a message that comes");
        wait_seconds(LIMIT / 3);
        watchdog_leave();
    }
    wait_seconds(2 * LIMIT);
}

static void unwatched(void)
{
    watchdog_start(0, 0);
    watchdog_enter("anything");
    wait_seconds(2 * LIMIT);
}

int main(void)
{
    const double start = now();
    CHECK_INT(child_run(hang), EXIT_HUNG);
    CHECK(now() - start < 10 * LIMIT);
    CHECK_HAS(child_text, "rank 3");
    CHECK_HAS(child_text, "a message that never comes");
    CHECK_HAS(child_text, "last kernel started: hop");
    CHECK_HAS(child_text, "plaq run");
    const double alone = now();
    CHECK_INT(child_run(hang_alone), EXIT_HUNG);
    CHECK_HAS(child_text, "a GPU that never answers");
    CHECK(now() - alone < 6 * LIMIT);
    CHECK_INT(child_run(hang_later), EXIT_HUNG);
    CHECK_HAS(child_text, "the second thing");
    CHECK_INT(child_run(busy), 0);
    CHECK_STR(child_text, "");
    CHECK_INT(child_run(unwatched), 0);
    CHECK_NEAR(watchdog_limit(), 0, 0);
    return CHECK_SUMMARY();
}
