/* The history: rows there and back, truncation and continuation to the same bits, kill -9 at any instant, damage, full
 * disk. */
#include "io/files/atomic.h"
#include "io/history/history.h"
#include "io/history/history_view.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define PATH 512

static const history_column main_columns[] = {
    {"trajectory", HISTORY_INT, "", "number of the trajectory", 0},
    {"plaquette", HISTORY_REAL, "", "(1/3) Re tr, averaged", 0},
    {"accepted", HISTORY_BOOL, "", "whether it was taken", 0},
    {"seconds", HISTORY_REAL, "s", "time on the wall", 1},
};
static const history_column flow_columns[] = {
    {"trajectory", HISTORY_INT, "", "number of the trajectory", 0},
    {"step", HISTORY_INT, "", "step of the flow", 0},
    {"energy", HISTORY_REAL, "1/a^4", "clover energy density", 0},
};

static char folder[PATH], message[1024];

static int root(void)
{
    return comm_rank() == 0;
}

static void shell(const char *fmt)
{
    char command[4 * PATH];
    snprintf(command, sizeof command, fmt, folder, folder, folder, folder);
    if (root()) CHECK_INT(system(command), 0);
    comm_barrier();
}

static history *open_all(int table[2])
{
    history *h = history_open(folder, message, sizeof message);
    CHECK(h != NULL);
    if (!h) {
        printf("%s\n", message);
        exit(1);
    }
    table[0] = history_table(h, "trajectories", main_columns, 4, message, sizeof message);
    table[1] = history_table(h, "measure/flow", flow_columns, 3, message, sizeof message);
    CHECK(table[0] >= 0 && table[1] >= 0);
    return h;
}

/* The rows of one trajectory are functions of its number, the seconds aside. */
static int add(history *h, const int table[2], int64_t i)
{
    history_value row[4] = {{.i = i}, {.d = sin((double)i)}, {.i = i % 3 != 0}, {.d = (double)clock()}};
    int bad = history_append(h, table[0], row, message, sizeof message);
    for (int64_t k = 0; k < 2 && !bad; k++) {
        const history_value flow[3] = {{.i = i}, {.i = k}, {.d = i == 4 ? NAN : cos((double)(i + k))}};
        bad = history_append(h, table[1], flow, message, sizeof message);
    }
    return bad;
}

static void text(history *h, const char *name, const char *value)
{
    CHECK_INT(history_text(h, name, value, message, sizeof message), 0);
}

static void expect_text(const history *h, const char *name, const char *value)
{
    char *found = history_get_text(h, name);
    if (value) CHECK_STR(found, value);
    else CHECK(found == NULL);
    free(found);
}

/* The digest of n trajectories in one go. */
static void unbroken(int64_t n, char hex[65])
{
    int table[2];
    shell("rm -rf '%s' && mkdir '%s'");
    history *h = open_all(table);
    for (int64_t i = 1; i <= n; i++) CHECK_INT(add(h, table, i), 0);
    history_digest(h, hex);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    shell("rm -rf '%s' && mkdir '%s'");
}

static void test_round_trip(void)
{
    int table[2];
    char digest[65], again[65];
    unbroken(50, digest);
    history *h = open_all(table);
    text(h, "parameters", "gauge.beta = 5.7\n");
    text(h, "version", "old");
    text(h, "version", "0.1.0");
    for (int64_t i = 1; i <= 30; i++) CHECK_INT(add(h, table, i), 0);
    CHECK_INT(history_sync(h, message, sizeof message), 0);
    for (int64_t i = 31; i <= 40; i++) CHECK_INT(add(h, table, i), 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    /* Back to a checkpoint at 20, and on. */
    h = open_all(table);
    CHECK_INT(history_rows(h, table[0]), 40);
    CHECK_INT(history_rows(h, table[1]), 80);
    CHECK(history_get(h, table[0], 9, 1).d == sin(10.0));
    CHECK_INT(history_get(h, table[1], 21, 1).i, 1);
    CHECK_INT(history_truncate_after(h, 20, message, sizeof message), 0);
    CHECK_INT(history_rows(h, table[1]), 40);
    for (int64_t i = 21; i <= 50; i++) CHECK_INT(add(h, table, i), 0);
    history_digest(h, again);
    CHECK_STR(again, digest);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    shell("test \"$(ls -A '%s' | tr '\\n' ' ')\" = 'history.h5 history.journal '");
}

/* h5dump shows what was written; skipped where it is not installed. */
static void test_readers(void)
{
    shell("command -v h5dump >/dev/null || exit 0; cd '%s' && h5dump -d /trajectories/seconds -A history.h5 >dump && "
          "grep -q '( 50 ) / ( H5S_UNLIMITED )' dump && grep -q '\"time on the wall' dump && rm dump");
}

/* ---- texts ---- */

/* What is left of texts after any way of opening: A changed, b removed, c in a group. */
static void expect_texts(void)
{
    int table[2];
    char name[HISTORY_NAME];
    history *h = open_all(table);
    expect_text(h, "a", "new\tA\n");
    expect_text(h, "b", NULL);
    expect_text(h, "stretches/000001", "");
    expect_text(h, "stretches/000002", "two");
    static const char *const names[] = {"a", "stretches/000001", "stretches/000002"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(history_texts(h, i, name), 1);
        CHECK_STR(name, names[i]);
    }
    CHECK_INT(history_texts(h, 3, name), 0);
    CHECK_INT(history_rows(h, table[0]), 3);
    CHECK_INT(history_close(h, message, sizeof message), 0);
}

/* Texts are as durable as rows: after a kill (the files as the journal alone has them), without the journal, and after
 * the journal was made anew; and they leave no trace in the digest. */
static void test_texts(void)
{
    int table[2];
    char before[65], after[65];
    shell("rm -rf '%s' && mkdir '%s'");
    history *h = open_all(table);
    text(h, "b", "old");
    text(h, "stretches/000002", "two");
    for (int64_t i = 1; i <= 3; i++) CHECK_INT(add(h, table, i), 0);
    history_digest(h, before);
    text(h, "a", "A");
    text(h, "b", NULL);
    text(h, "none", NULL);
    text(h, "stretches/000001", "");
    text(h, "a", "new\tA\n");
    text(h, "a", "new\tA\n");
    history_digest(h, after);
    CHECK_STR(after, before);
    shell("cp -r '%s' '%s'.killed");
    CHECK_INT(history_close(h, message, sizeof message), 0);
    shell("rm -rf '%s' && mv '%s'.killed '%s'");
    expect_texts();
    log_set_level(LOG_ERROR);
    shell("rm '%s'/history.journal");
    expect_texts();
    log_set_level(LOG_INFO);
    h = open_all(table);
    CHECK_INT(add(h, table, 4), 0);
    CHECK_INT(history_truncate_after(h, 3, message, sizeof message), 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    expect_texts();
}

/* ---- an axis ---- */

static const history_column pion_columns[] = {
    {"trajectory", HISTORY_INT, "", "number of the trajectory", 0},
    {"source", HISTORY_REAL, "", "number of the source", 0},
    {"t", HISTORY_REAL, "a", "time", HISTORY_AXIS},
    {"pion", HISTORY_REAL, "", "correlator", HISTORY_ALONG},
};

static int open_pion(history *h)
{
    const int table = history_table(h, "measure/pion", pion_columns, 4, message, sizeof message);
    CHECK(table >= 0);
    return table;
}

/* Two correlators of n times with steps of `step`. */
static void add_pion(history *h, int table, int64_t i, int n, double step)
{
    for (int source = 0; source < 2; source++)
        for (int t = 0; t < n; t++) {
            const history_value row[4] = {{.i = i}, {.d = source}, {.d = t * step}, {.d = t == 1 ? NAN : sin(i + t)}};
            CHECK_INT(history_append(h, table, row, message, sizeof message), 0);
        }
}

/* The rows come back from history.h5 alone, one row there for each correlator. */
static void expect_pion(const char *digest, const char *extents)
{
    char again[65], command[256];
    snprintf(command, sizeof command,
             "command -v h5dump >/dev/null || exit 0; for c in source t pion; do "
             "h5dump -H -d /measure/pion/$c \"$FILE\" | sed -n 's/.*SIMPLE { ( \\([0-9, ]*\\) ).*/\\1/p'; done | "
             "tr '\\n' ' ' | grep -qx '%s '",
             extents);
    if (root()) {
        char file[PATH + 16];
        snprintf(file, sizeof file, "%s/history.h5", folder);
        setenv("FILE", file, 1);
        CHECK_INT(system(command), 0);
    }
    shell("rm '%s'/history.journal");
    log_set_level(LOG_ERROR);
    history *h = history_open(folder, message, sizeof message);
    log_set_level(LOG_INFO);
    CHECK(h != NULL);
    if (!h) return;
    open_pion(h);
    history_digest(h, again);
    CHECK_STR(again, digest);
    CHECK_INT(history_close(h, message, sizeof message), 0);
}

/* Rows of equal lengths, rows of unequal lengths, rows whose axis is another, and a table without rows. */
static void test_axis(void)
{
    static const struct {
        int n[2];
        double step[2];
        const char *extents;
    } cases[] = {{{4, 4}, {1, 1}, "4 4 4, 4"},
                 {{4, 6}, {1, 1}, "4 6 4, 6"},
                 {{4, 6}, {1, 0.5}, "4 4, 6 4, 6"},
                 {{0, 0}, {1, 1}, "0 0 0"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char digest[65];
        shell("rm -rf '%s' && mkdir '%s'");
        history *h = history_open(folder, message, sizeof message);
        const int table = open_pion(h);
        for (int i = 0; i < 2; i++) add_pion(h, table, 10 * i + 1, cases[k].n[i], cases[k].step[i]);
        history_digest(h, digest);
        CHECK_INT(history_close(h, message, sizeof message), 0);
        expect_pion(digest, cases[k].extents);
    }
}

/* ---- a view ---- */

static void expect_view(int64_t rows)
{
    history_view *v = history_view_open(folder, message, sizeof message);
    CHECK(v != NULL);
    if (!v) {
        printf("%s\n", message);
        return;
    }
    const int t = history_view_table(v, "trajectories"), p = history_view_column(v, t, "plaquette");
    const char *unit = NULL;
    CHECK_INT(history_view_rows(v, t), rows);
    CHECK_INT(history_view_rows(v, history_view_table(v, "measure/flow")), 2 * rows);
    CHECK_INT(history_view_table(v, "measure/none"), -1);
    CHECK_INT(history_view_column(v, t, "none"), -1);
    CHECK_STR(history_view_column_name(v, t, 3, &unit), "seconds");
    CHECK_STR(unit, "s");
    CHECK(history_view_column_name(v, t, 4, NULL) == NULL);
    CHECK(history_view_value(v, t, rows - 1, p) == sin((double)rows));
    CHECK(history_view_value(v, t, 1, history_view_column(v, t, "accepted")) == 1);
    CHECK(history_view_value(v, t, 2, 0) == 3);
    CHECK_STR(history_view_text(v, "who"), "a run");
    CHECK_STR(history_view_text_name(v, 0), "who");
    CHECK(history_view_text_name(v, 1) == NULL);
    history_view_close(v);
}

/* A view of a run that goes on, in the middle of a row too, of one that was killed, and of what remains when either
 * file is lost; it writes nothing. */
static void test_view(void)
{
    int table[2];
    shell("rm -rf '%s' && mkdir '%s'");
    if (root()) {
        CHECK(history_view_open(folder, message, sizeof message) == NULL);
        CHECK_HAS(message, "no run has left a history here");
    }
    history *h = open_all(table);
    text(h, "who", "a run");
    for (int64_t i = 1; i <= 12; i++) CHECK_INT(add(h, table, i), 0);
    if (root()) expect_view(12);
    shell("cp '%s'/history.journal '%s'.journal && printf 'torn row' >>'%s'/history.journal && touch '%s'/stamp");
    if (root()) expect_view(12);
    shell("test -z \"$(find '%s' -type f -newer '%s'/stamp)\" && rm '%s'/stamp");
    shell("mv '%s'.journal '%s'/history.journal");
    CHECK_INT(history_close(h, message, sizeof message), 0);
    shell("mv '%s'/history.h5 '%s'.h5");
    if (root()) expect_view(12);
    shell("mv '%s'.h5 '%s'/history.h5 && rm '%s'/history.journal");
    if (root()) expect_view(12);
    shell("printf X | dd of='%s'/history.h5 bs=1 seek=2000 conv=notrunc 2>/dev/null");
    if (!root()) return;
    CHECK(history_view_open(folder, message, sizeof message) == NULL);
    CHECK_HAS(message, "history.h5");
    CHECK(history_view_open("/dev/null", message, sizeof message) == NULL);
    CHECK_HAS(message, "/dev/null: not a folder");
    CHECK(history_view_open("/nowhere", message, sizeof message) == NULL);
    CHECK_HAS(message, "/nowhere: No such file");
}

/* ---- damage ---- */

static void expect(const char *digest, int64_t rows)
{
    int table[2];
    char again[65];
    history *h = open_all(table);
    CHECK_INT(history_rows(h, table[0]), rows);
    history_digest(h, again);
    if (digest) CHECK_STR(again, digest);
    CHECK_INT(history_close(h, message, sizeof message), 0);
}

static void test_damage(void)
{
    char digest[65];
    int table[2];
    unbroken(50, digest);
    history *h = open_all(table);
    for (int64_t i = 1; i <= 50; i++) CHECK_INT(add(h, table, i), 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    log_set_level(LOG_ERROR);
    shell("rm -rf '%s'.copy && cp -r '%s' '%s'.copy");
    shell("rm '%s'/history.journal");
    expect(digest, 50);
    shell("printf X | dd of='%s'/history.journal bs=1 seek=400 conv=notrunc 2>/dev/null");
    expect(digest, 50);
    shell("head -c 20000 /dev/urandom >'%s'/history.journal");
    expect(digest, 50);
    shell(": >'%s'/history.journal");
    expect(digest, 50);
    shell("printf 'torn' >>'%s'/history.journal");
    expect(digest, 50);
    shell("rm '%s'/history.h5");
    expect(digest, 50);
    shell("head -c 3000 /dev/urandom >'%s'/history.h5");
    expect(digest, 50);
    shell("rm '%s'/history.journal && printf X | dd of='%s'/history.h5 bs=1 seek=2000 conv=notrunc 2>/dev/null");
    expect(NULL, 0);
    shell("test -f '%s'/history.h5.damaged");
    /* Cut anywhere, the journal alone gives whole trajectories or nothing of a row. */
    for (int cut = 0; cut < 40; cut++) {
        char command[64];
        shell("cp '%s'.copy/history.journal '%s'/history.journal && rm -f '%s'/history.h5");
        snprintf(command, sizeof command, "truncate -s -%d", 1 + 37 * cut);
        if (root()) setenv("CUT", command, 1);
        shell("$CUT '%s'/history.journal");
        h = open_all(table);
        const int64_t last = history_rows(h, table[0]) - 1;
        CHECK(last > 20 && last < 50);
        CHECK_INT(history_truncate_after(h, 20, message, sizeof message), 0);
        for (int64_t i = 21; i <= 50; i++) CHECK_INT(add(h, table, i), 0);
        char again[65];
        history_digest(h, again);
        CHECK_STR(again, digest);
        CHECK_INT(history_close(h, message, sizeof message), 0);
    }
    log_set_level(LOG_INFO);
    shell("rm -rf '%s'.copy");
}

static void test_columns(void)
{
    int table[2];
    shell("rm -rf '%s' && mkdir '%s'");
    history *h = open_all(table);
    CHECK_INT(history_table(h, "trajectories", main_columns, 3, message, sizeof message), table[0]);
    CHECK_INT(history_table(h, "trajectories", main_columns, 4, message, sizeof message), table[0]);
    CHECK_INT(add(h, table, 1), 0);
    CHECK_INT(history_table(h, "trajectories", main_columns, 3, message, sizeof message), -1);
    CHECK_HAS(message, "column 4 is 'seconds', now it is 'none'");
    CHECK_INT(history_close(h, message, sizeof message), 0);
}

/* ---- kill -9 ---- */

/* A run with a checkpoint every 5 trajectories: its number is in the file `checkpoint`. */
static void run_until(int64_t end)
{
    int table[2];
    char path[PATH + 32];
    long long done = 0;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    atomic_remove_leftovers(folder);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%lld", &done) != 1) _exit(9);
    if (f) fclose(f);
    history *h = open_all(table);
    if (history_rows(h, table[0]) < done) _exit(8);
    if (history_truncate_after(h, done, message, sizeof message)) _exit(7);
    if (history_rows(h, table[0]) != done) _exit(6);
    for (int64_t i = done + 1; i <= end; i++) {
        if (add(h, table, i)) _exit(5);
        if (i % 5 && i != end) continue;
        char text[32];
        if (history_sync(h, message, sizeof message)) _exit(4);
        const int n = snprintf(text, sizeof text, "%lld\n", (long long)i);
        if (atomic_write(path, text, (size_t)n, message, sizeof message)) _exit(3);
    }
    _exit(history_close(h, message, sizeof message) ? 2 : 0);
}

/* Where the history ends after the kills is left to chance; a run in one go of that length must have the same digest.
 */
static void test_kill(void)
{
    enum { KILLS = 20, REST = 57 };
    char broken[65], digest[65], file[PATH + 32];
    long long done = 0;
    int killed = 0, table[2];
    if (comm_size() > 1) return;
    shell("rm -rf '%s' && mkdir '%s'");
    log_set_level(LOG_ERROR);
    srand(7);
    for (int i = 0; i <= KILLS; i++) {
        if (i == KILLS) {
            snprintf(file, sizeof file, "%s/checkpoint", folder);
            FILE *f = fopen(file, "r");
            if (f) {
                CHECK_INT(fscanf(f, "%lld", &done), 1);
                fclose(f);
            }
        }
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) run_until(i < KILLS ? 1000000000 : done + REST);
        int status = 0;
        if (i < KILLS) {
            /* Ever longer on average: a slow machine too must get beyond its first checkpoints. */
            usleep((useconds_t)(1000 + rand() % (20000 * (i + 1))));
            kill(child, SIGKILL);
        }
        waitpid(child, &status, 0);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        CHECK_INT(WIFSIGNALED(status) ? 0 : WEXITSTATUS(status), 0);
        /* Readers find a whole file at any time. */
        snprintf(file, sizeof file, "%s/history.h5", folder);
        if (access(file, F_OK) == 0)
            shell("command -v h5dump >/dev/null || exit 0; h5dump -H '%s'/history.h5 >/dev/null");
    }
    CHECK_INT(killed, KILLS);
    history *h = open_all(table);
    CHECK_INT(history_rows(h, table[0]), done + REST);
    history_digest(h, broken);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    unbroken(done + REST, digest);
    CHECK_STR(broken, digest);
    log_set_level(LOG_INFO);
}

/* ---- long histories ---- */

/* What a sync costs: how often history.h5 is made anew, and the bytes of all makings. Root only. */
typedef struct {
    ino_t inode;
    int count;
    double bytes, last;
} makings;

static void look(makings *m)
{
    struct stat st;
    char path[PATH + 32];
    snprintf(path, sizeof path, "%s/history.h5", folder);
    if (!root() || stat(path, &st) != 0 || st.st_ino == m->inode) return;
    m->inode = st.st_ino;
    m->count++;
    m->last = (double)st.st_size;
    m->bytes += m->last;
}

/* Beyond some size history.h5 is made anew ever more seldom, never lags far behind, and the journal has all rows. */
static void test_long(void)
{
    enum { SHORT = 2400, LONG = 16000, EVERY = 40 };
    int table[2];
    makings early = {0}, late = {0};
    shell("rm -rf '%s' && mkdir '%s'");
    history *h = open_all(table);
    for (int64_t i = 1; i <= LONG; i++) {
        if (add(h, table, i)) CHECK_STR(message, "");
        if (i % EVERY) continue;
        CHECK_INT(history_sync(h, message, sizeof message), 0);
        look(i <= SHORT ? &early : &late);
    }
    if (root()) {
        /* 16000 / 2400 = 1.25^8.5; a making that the inode hides is one more. */
        CHECK(early.count > SHORT / EVERY / 2);
        CHECK(late.count >= 5 && late.count <= 11);
        CHECK(late.bytes < 6 * late.last);
    }
    /* As a kill would leave it. */
    shell("rm -rf '%s'.copy && cp -r '%s' '%s'.copy");
    CHECK_INT(history_close(h, message, sizeof message), 0);
    shell("cmp -s '%s'.copy/history.h5 '%s'/history.h5 && exit 1; cp '%s'.copy/history.h5 '%s'/history.h5");
    h = open_all(table);
    CHECK_INT(history_rows(h, table[0]), LONG);
    CHECK_INT(history_truncate_after(h, LONG - 1, message, sizeof message), 0);
    CHECK_INT(history_rows(h, table[1]), 2 * (LONG - 1));
    CHECK_INT(history_close(h, message, sizeof message), 0);
    log_set_level(LOG_ERROR);
    shell("rm '%s'/history.journal");
    expect(NULL, LONG - 1);
    shell("rm '%s'/history.journal && cp '%s'.copy/history.h5 '%s'/history.h5");
    h = open_all(table);
    const int64_t rows = history_rows(h, table[0]);
    CHECK(rows >= 0.79 * LONG && rows < LONG);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    log_set_level(LOG_INFO);
    shell("rm -rf '%s'.copy");
}

/* A FIFO under one of its names does not hang the program. */
static void test_fifo(void)
{
    int table[2];
    shell("rm -rf '%s' && mkdir '%s' && mkfifo '%s'/history.h5");
    log_set_level(LOG_ERROR);
    history *h = open_all(table);
    CHECK_INT(add(h, table, 1), 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    log_set_level(LOG_INFO);
    shell("test -f '%s'/history.h5 && test -p '%s'/history.h5.damaged");
}

/* ---- no room ---- */

static void test_full(void)
{
    struct rlimit old, few;
    int table[2];
    char digest[65];
    unbroken(50, digest);
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    history *h = open_all(table);
    for (int64_t i = 1; i <= 40; i++) CHECK_INT(add(h, table, i), 0);
    CHECK_INT(history_sync(h, message, sizeof message), 0);
    few = old;
    few.rlim_cur = 4000;
    setrlimit(RLIMIT_FSIZE, &few);
    const history_value row[4] = {{.i = 41}, {.d = 1}, {.i = 1}, {.d = 0}};
    CHECK_INT(history_append(h, table[0], row, message, sizeof message), -1);
    CHECK_HAS(message, "File too large");
    CHECK_INT(history_sync(h, message, sizeof message), 0); /* nothing is new */
    CHECK_INT(history_text(h, "version", "0.1.0", message, sizeof message), -1);
    CHECK_HAS(message, "File too large");
    CHECK(history_get_text(h, "version") == NULL);
    CHECK_INT(history_sync(h, message, sizeof message), 0);
    setrlimit(RLIMIT_FSIZE, &old);
    text(h, "version", "0.1.0");
    setrlimit(RLIMIT_FSIZE, &few);
    CHECK_INT(history_sync(h, message, sizeof message), -1);
    CHECK_HAS(message, "history.h5");
    CHECK_INT(history_truncate_after(h, 40, message, sizeof message), -1);
    CHECK_INT(history_rows(h, table[0]), 40);
    setrlimit(RLIMIT_FSIZE, &old);
    for (int64_t i = 41; i <= 50; i++) CHECK_INT(add(h, table, i), 0);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    expect(digest, 50);
    shell("test \"$(ls -A '%s' | tr '\\n' ' ')\" = 'history.h5 history.journal '");
    const int super = geteuid() == 0;
    shell("chmod 555 '%s' && rm -f '%s'/history.journal '%s'/history.h5");
    if (super) CHECK_INT(seteuid(65534), 0);
    CHECK(history_open(folder, message, sizeof message) == NULL);
    CHECK_HAS(message, "ermission denied");
    if (super) CHECK_INT(seteuid(0), 0);
    shell("chmod 755 '%s'");
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    if (root()) {
        strcpy(folder, "/tmp/plaq-history-XXXXXX");
        CHECK(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0);
        strcat(folder, "/out");
    }
    comm_bcast(folder, sizeof folder);
    test_round_trip();
    test_readers();
    test_axis();
    test_texts();
    test_view();
    test_damage();
    test_columns();
    test_kill();
    test_long();
    test_fifo();
    test_full();
    shell("rm -rf \"$(dirname '%s')\"");
    const int all_good = comm_all(check_failed == 0);
    comm_finalize();
    return CHECK_SUMMARY() || !all_good;
}
