#include "kernels/base/watchdog.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/error.h"

#define TURNS 15

static _Atomic(const char *) waiting, last_kernel = "none";
static atomic_ulong calls; /* count that tells two waiting calls in a row apart */
static atomic_int own;     /* wait for the own GPU, for no other rank */
static double limit, interval, turn;
static int this_rank;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends the process with a message by write(): the main thread may hang while it holds the lock of stderr. */
static void give_up(const char *what, double seconds)
{
    char text[1024];
    const int n = snprintf(text, sizeof text,
                           "plaq: error on rank %d: it has waited %.0f s for %s; last kernel started: %s\n"
                           "  Another rank or a GPU hangs, or has ended without a word. The last checkpoint stands: "
                           "continue with plaq run;\n"
                           "  if it happens again, on other nodes. Where waiting so long is usual (slow disks), raise "
                           "[machine] watchdog, which is %g s.\n",
                           this_rank, seconds, what, watchdog_last_kernel(), limit);
    const size_t length = n < (int)sizeof text ? (size_t)n : sizeof text - 1;
    if (write(STDERR_FILENO, text, length) < 0) _Exit(EXIT_HUNG); /* nobody listens */
    _Exit(EXIT_HUNG);
}

static void *watch(void *unused)
{
    (void)unused;
    unsigned long seen = 0;
    double age = 0, before = now();
    for (;;) {
        const struct timespec pause = {(time_t)interval, (long)(1e9 * (interval - (double)(time_t)interval))};
        nanosleep(&pause, NULL);
        const double time = now(), step = time - before;
        before = time;
        const unsigned long call = atomic_load(&calls);
        const char *what = atomic_load(&waiting);
        if (!what || call != seen) {
            seen = call;
            age = 0;
            continue;
        }
        age += step < 2 * interval ? step : 2 * interval; /* a longer step: this process was stopped */
        if (age > limit + (atomic_load(&own) ? 0 : turn)) give_up(what, age);
    }
    return NULL;
}

void watchdog_start(double seconds, int rank)
{
    pthread_t thread;
    if (seconds <= 0) return;
    REQUIRE(limit == 0, "a second watchdog of %g s beside one of %g s", seconds, limit);
    this_rank = rank;
    limit = seconds;
    interval = seconds < 4 ? seconds / 4 : 1;
    /* Ranks that wait for one rank would speak at once: the first of them ends the others. A rank that waits for something of
     * its own comes before them all, for that is what they wait for. */
    turn = 2 * interval * (1 + (rank < TURNS ? rank : TURNS));
    const int status = pthread_create(&thread, NULL, watch, NULL);
    REQUIRE(status == 0, "no thread for the watchdog: error %d", status);
    pthread_detach(thread);
}

double watchdog_limit(void)
{
    return limit;
}

double watchdog_turn(void)
{
    return turn;
}

static void enter(const char *what, int alone)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    atomic_store_explicit(&own, alone, memory_order_relaxed);
    atomic_store_explicit(&waiting, what, memory_order_release);
}

void watchdog_enter(const char *what)
{
    enter(what, 0);
}

void watchdog_enter_own(const char *what)
{
    enter(what, 1);
}

void watchdog_leave(void)
{
    atomic_store_explicit(&waiting, NULL, memory_order_release);
}

void watchdog_note(const char *kernel)
{
    atomic_store_explicit(&last_kernel, kernel, memory_order_relaxed);
}

const char *watchdog_last_kernel(void)
{
    return atomic_load_explicit(&last_kernel, memory_order_relaxed);
}
