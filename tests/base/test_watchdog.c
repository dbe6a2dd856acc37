/* The watchdog: a process that waits longer than its limit ends with EXIT_HUNG and says for what; one that waits often,
 * but each time shorter, does not end. */
#include "kernels/base/watchdog.h"
#include "tests/check.h"

#include <stdlib.h>
#include <time.h>

#define LIMIT 1.0

static char text[4096]; /* what the child wrote on standard error */

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

/* The exit status of fn() in a process of its own, or -1. */
static int run(void (*fn)(void))
{
    FILE *capture = tmpfile();
    fflush(NULL);
    const pid_t child = capture ? fork() : -1;
    if (child == 0) {
        dup2(fileno(capture), STDERR_FILENO);
        fn();
        _exit(0);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    text[0] = 0;
    if (capture) {
        rewind(capture);
        text[fread(text, 1, sizeof text - 1, capture)] = 0;
        fclose(capture);
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
    CHECK_INT(run(hang), EXIT_HUNG);
    CHECK(now() - start < 10 * LIMIT);
    CHECK_HAS(text, "rank 3");
    CHECK_HAS(text, "a message that never comes");
    CHECK_HAS(text, "last kernel started: hop");
    CHECK_HAS(text, "plaq run");
    const double alone = now();
    CHECK_INT(run(hang_alone), EXIT_HUNG);
    CHECK_HAS(text, "a GPU that never answers");
    CHECK(now() - alone < 6 * LIMIT);
    CHECK_INT(run(hang_later), EXIT_HUNG);
    CHECK_HAS(text, "the second thing");
    CHECK_INT(run(busy), 0);
    CHECK_STR(text, "");
    CHECK_INT(run(unwatched), 0);
    CHECK_NEAR(watchdog_limit(), 0, 0);
    return CHECK_SUMMARY();
}
