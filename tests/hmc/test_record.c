/* The parts of a history that restarts rely on: columns that change, rows of one table dropped, the last row. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/history/history.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

static const history_column number = {"trajectory", HISTORY_INT, "", "number", 0}, a = {"a", HISTORY_REAL, "", "a", 0},
                            b = {"b", HISTORY_REAL, "", "b", 0}, n = {"n", HISTORY_INT, "", "n", 0};
static char message[1024];

static history *opened(const char *folder)
{
    history *h = history_open(folder, message, sizeof message);
    REQUIRE(h, "%s", message);
    return h;
}

static void add(history *h, int table, int64_t trajectory, double x, double y)
{
    const history_value row[3] = {{.i = trajectory}, {.d = x}, {.d = y}};
    CHECK_INT(history_append(h, table, row, message, sizeof message), 0);
}

/* Columns trajectory a; then trajectory b a; then trajectory n. */
static void test_columns(const char *folder)
{
    history *h = opened(folder);
    int t = history_table_widened(h, "trajectories", (const history_column[]){number, a}, 2, message, sizeof message);
    add(h, t, 1, 10, 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);

    h = opened(folder);
    const history_column wider[3] = {number, b, a};
    CHECK_INT(history_table(h, "trajectories", wider, 3, message, sizeof message), -1);
    t = history_table_widened(h, "trajectories", wider, 3, message, sizeof message);
    CHECK(t >= 0);
    add(h, t, 2, 21, 20);
    CHECK_NEAR(history_get(h, t, 0, 2).d, 10, 0);
    CHECK(isnan(history_get(h, t, 0, 1).d));
    CHECK_NEAR(history_get(h, t, 1, 1).d, 21, 0);
    CHECK_NEAR(history_get(h, t, 1, 2).d, 20, 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);

    h = opened(folder);
    t = history_table_widened(h, "trajectories", (const history_column[]){number, n}, 2, message, sizeof message);
    const history_value row[2] = {{.i = 3}, {.i = 33}};
    CHECK_INT(history_append(h, t, row, message, sizeof message), 0);
    CHECK_INT(history_get(h, t, 2, 1).i, 33);
    CHECK_INT(history_get(h, t, 0, 1).i, 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);

    /* All is there, the journal lost or not; another type is refused. */
    for (int lost = 0; lost < 2; lost++) {
        char path[256];
        snprintf(path, sizeof path, "%s/history.journal", folder);
        if (lost && comm_rank() == 0) remove(path);
        comm_barrier();
        h = opened(folder);
        t = history_table_widened(h, "trajectories", wider, 3, message, sizeof message);
        CHECK_INT(history_rows(h, t), 3);
        CHECK_NEAR(history_get(h, t, 0, 2).d, 10, 0);
        CHECK_NEAR(history_get(h, t, 1, 1).d, 21, 0);
        CHECK(isnan(history_get(h, t, 2, 1).d) && isnan(history_get(h, t, 2, 2).d));
        const history_column other = {"a", HISTORY_INT, "", "a", 0};
        CHECK_INT(history_table_widened(h, "trajectories", (const history_column[]){number, other}, 2, message,
                                        sizeof message),
                  -1);
        CHECK_HAS(message, "'a'");
        CHECK_INT(history_close(h, message, sizeof message), 0);
    }
}

static void test_groups(const char *folder)
{
    const history_column columns[3] = {number, a, b};
    history *h = opened(folder);
    CHECK_INT(history_last(h, "measure/x"), -1);
    const int x = history_table(h, "measure/x", columns, 3, message, sizeof message);
    const int y = history_table(h, "measure/y", columns, 3, message, sizeof message);
    CHECK_INT(history_last(h, "measure/x"), -1);
    for (int i = 1; i <= 3; i++)
        for (int k = 0; k < 2; k++) add(h, k ? y : x, i, i, i);
    add(h, x, 3, 4, 4);
    CHECK_INT(history_truncate_group(h, "measure/x", 2, message, sizeof message), 0);
    CHECK_INT(history_truncate_group(h, "measure/z", 2, message, sizeof message), 0);
    CHECK_INT(history_last(h, "measure/x"), 2);
    CHECK_INT(history_last(h, "measure/y"), 3);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    h = opened(folder);
    CHECK_INT(history_last(h, "measure/x"), 2);
    CHECK_INT(history_last(h, "measure/y"), 3);
    CHECK_INT(history_close(h, message, sizeof message), 0);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    char folder[64] = "test-record-XXXXXX", command[128];
    if (comm_rank() == 0) REQUIRE(mkdtemp(folder), "no folder %s", folder);
    comm_bcast(folder, sizeof folder);
    test_columns(folder);
    test_groups(folder);
    comm_barrier();
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (comm_rank() == 0) CHECK_INT(system(command), 0);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
