/* The tuner of kernels/run/tune.h: by rule it times nothing; measuring it takes the way that is fastest for the slowest rank,
 * asks all ranks once a case, and agrees on them; a choice may ask for others; its text reads back to the same choices,
 * and only on the machine that it came from; what runs in a trial is in no profile. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "kernels/run/exchange.h"
#include "kernels/run/tune.h"
#include "tests/check.h"

#define WAYS 5
static int asked;

/* Fastest: way `*of`; way 0 is impossible. Ranks disagree on purpose: to all but the last one way 1 is as fast. */
static double seconds(int way, void *of)
{
    asked++;
    if (way == 0) return INFINITY;
    if (way == 1 && comm_rank() < comm_size() - 1) return 1e-7;
    return 1e-6 * (1 + abs(way - *(int *)of));
}

static double impossible(int way, void *of)
{
    (void)way, (void)of;
    return INFINITY;
}

/* Of kernels, and of what is none. */
static tune_key case_number(int i)
{
    static const int subjects[] = {KERNEL_hop, KERNEL_gauge_force, TUNE_EXCHANGE, TUNE_TRANSPORT};
    return (tune_key){subjects[i / 50 % 4], i % PREC_COUNT, {4, 4, 4, 8 + i}, 12, 1};
}

static int choice(int i, int best)
{
    const tune_key key = case_number(i);
    return tune_choice(&key, comm_world(), WAYS, seconds, &best);
}

static char *test_measuring(void)
{
    tune_start(TUNE_MEASURE, "a machine");
    CHECK(tune_text() == NULL);
    for (int i = 0; i < 200; i++) CHECK_INT(choice(i, 1 + i % (WAYS - 1)), 1 + i % (WAYS - 1));
    CHECK_INT(asked, 200 * WAYS);
    /* Known now, whatever the times have become. */
    for (int i = 0; i < 200; i++) CHECK_INT(choice(i, 1 + (i + 1) % (WAYS - 1)), 1 + i % (WAYS - 1));
    CHECK_INT(asked, 200 * WAYS);
    const tune_key key = case_number(200);
    CHECK_INT(tune_choice(&key, comm_world(), WAYS, impossible, NULL), TUNE_BY_RULE);
    char *text = tune_text();
    CHECK(text != NULL);
    return text;
}

/* Each way of this case comes upon another case. */
static double asks_others(int way, void *of)
{
    const int *best = of;
    const int inner = choice(300 + way, 1 + way % (WAYS - 1));
    CHECK_INT(inner, 1 + way % (WAYS - 1));
    return 1e-6 * (1 + abs(way - *best));
}

static void test_nesting(void)
{
    tune_start(TUNE_MEASURE, "a machine");
    asked = 0;
    int best = 70;
    const tune_key key = {TUNE_TRANSPORT, PREC_HALF, {8, 8, 8, 8}, 1, 1};
    CHECK_INT(tune_choice(&key, comm_world(), 99, asks_others, &best), 70);
    CHECK_INT(asked, 99 * WAYS);
    CHECK_INT(tune_choice(&key, comm_world(), 99, impossible, NULL), 70);
    for (int i = 0; i < 99; i++) CHECK_INT(choice(300 + i, 4), 1 + i % (WAYS - 1));
    CHECK_INT(asked, 99 * WAYS);
}

/* A trial with a kernel and, on several ranks, messages. */
static double with_kernels(int way, void *of)
{
    field *links = of;
    field_out(links, PARITY_EVEN); /* its ghosts are out of date */
    gauge_measure(links, 0);
    return 1e-6 * (1 + way);
}

static void test_counts(void)
{
    static const int size[4] = {4, 4, 4, 4}, grid[4] = {0, 0, 0, 0};
    const tune_key key = {TUNE_EXCHANGE, PREC_SINGLE, {6, 6, 6, 6}, 1, 1};
    double bytes[2], seconds[2];
    lattice *lat = lattice_create(size, grid, 2, -1);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    tune_start(TUNE_MEASURE, "a machine");
    CHECK(tune_spent() == 0);
    gauge_measure(links, 0);
    const long calls = kernel_counted(KERNEL_loops, PREC_DOUBLE).calls;
    CHECK(calls > 0);
    exchange_counted(&bytes[0], &seconds[0]);
    CHECK_INT(tune_choice(&key, comm_world(), WAYS, with_kernels, links), 0);
    exchange_counted(&bytes[1], &seconds[1]);
    CHECK_INT(kernel_counted(KERNEL_loops, PREC_DOUBLE).calls, calls);
    CHECK(bytes[1] == bytes[0]);
    CHECK_NEAR(seconds[1], seconds[0], 1e-9);
    CHECK(tune_spent() > 0);
    gauge_measure(links, 0);
    CHECK(kernel_counted(KERNEL_loops, PREC_DOUBLE).calls > calls);
    field_destroy(links);
    lattice_destroy(lat);
}

static void test_reading(const char *text)
{
    int line;
    asked = 0;
    tune_start(TUNE_FILE, "a machine");
    CHECK_INT(choice(3, 2), TUNE_BY_RULE);
    CHECK_INT(tune_read(text, &line), 1);
    for (int i = 0; i < 200; i++) CHECK_INT(choice(i, 1), 1 + i % (WAYS - 1));
    CHECK_INT(choice(201, 1), TUNE_BY_RULE);
    CHECK(tune_text() == NULL); /* nothing measured: nothing to write */
    /* A way that this version does not have. */
    const tune_key key = case_number(3);
    int best = 1;
    CHECK_INT(tune_choice(&key, comm_world(), 2, seconds, &best), TUNE_BY_RULE);
    tune_start(TUNE_FILE, "another machine");
    CHECK_INT(tune_read(text, &line), 0);
    CHECK_INT(choice(3, 1), TUNE_BY_RULE);
    CHECK_INT(asked, 0);
}

static void test_nonsense(const char *text)
{
    static const char *const lines[] = {"hop double 4.4.4.8 12 1 2\n",      "hops double 4.4.4.8 12 1 2 1.0\n",
                                        "hop triple 4.4.4.8 12 1 2 1.0\n",  "hop double 4.4.4 12 1 2 1.0\n",
                                        "hop double 4.4.4.8 12 1 -2 1.0\n", "\n"};
    const char *end = strchr(text, '\n') + 1;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *bad = malloc(strlen(text) + 64);
        int line;
        memcpy(bad, text, (size_t)(end - text));
        strcpy(bad + (end - text), "hop single 2.2.2.2 18 1 3 1.00\n");
        strcat(bad, lines[i]);
        tune_start(TUNE_FILE, "a machine");
        CHECK_INT(tune_read(bad, &line), -1);
        CHECK_INT(line, 3);
        free(bad);
    }
}

static void test_estimate(const char *text)
{
    int line;
    asked = 0;
    tune_start(TUNE_ESTIMATE, "a machine");
    tune_read(text, &line);
    CHECK_INT(choice(3, 1), TUNE_BY_RULE);
    CHECK_INT(asked, 0);
}

static double plain_seconds(int way, void *of)
{
    return 1e-6 * (1 + abs(way - *(int *)of));
}

/* What some ranks have found, all ranks do not take for known: they would wait for each other. */
static void test_groups(void)
{
    const tune_key key = case_number(400);
    int best = 2;
    comm_group *g = comm_group_create(comm_world(), comm_rank() <= comm_size() / 2);
    tune_start(TUNE_MEASURE, "a machine");
    for (int time = 0; time < 2; time++) {
        best = 2;
        if (comm_group_rank(g) >= 0) CHECK_INT(tune_choice(&key, g, WAYS, plain_seconds, &best), 2);
        best = 3 + time;
        CHECK_INT(tune_choice(&key, comm_world(), WAYS, plain_seconds, &best), 3);
    }
    comm_group_destroy(g);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    char *text = test_measuring();
    test_reading(text);
    test_nonsense(text);
    test_estimate(text);
    free(text);
    test_nesting();
    test_counts();
    test_groups();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
