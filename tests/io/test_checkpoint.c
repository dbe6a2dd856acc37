/* Checkpoints on any number of ranks: round trip, damage of every kind, full and unwritable folders, the N kept, the
 * lock. */
#include "io/files/atomic.h"
#include "io/history/checkpoint.h"
#include "io/links/links.h"
#include "io/files/seal.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "tests/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH 512

static char folder[PATH];
static const lattice *lat;

static int root(void)
{
    return comm_rank() == 0;
}

/* A command of the shell on rank 0; %s is the folder. */
/* On the rank that calls. */
static void here(const char *fmt)
{
    char command[4 * PATH];
    snprintf(command, sizeof command, fmt, folder, folder);
    CHECK_INT(system(command), 0);
}

static void shell(const char *fmt)
{
    if (root()) here(fmt);
    comm_barrier();
}

static void fresh_folder(void)
{
    char message[1024] = "";
    shell("rm -rf '%s'");
    if (root()) CHECK_INT(atomic_make_folder(folder, NULL, message, sizeof message), 0);
    comm_barrier();
}

/* Random links of SU(3), which depend on the global place only. */
static field *make_links(int seed)
{
    field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    gauge_random(u, (uint64_t)seed, 0, 0);
    return u;
}

static checkpoint values(const field *u, int64_t trajectory)
{
    checkpoint c = {.trajectory = trajectory,
                    .accepted = trajectory / 2,
                    .seed = 0xfedcba9876543210u,
                    .plaquette = gauge_measure(u, 0).plaquette};
    strcpy(c.program, "plaq 0.1.0 test");
    c.parameters = "gauge.beta = 5.7\nfermion.light.kappa = 0.1355\n";
    return c;
}

static int write_one(const field *u, int64_t trajectory, int keep)
{
    char message[1024] = "";
    checkpoint c = values(u, trajectory);
    const int status = checkpoint_write(folder, u, &c, keep, message, sizeof message);
    if (status && root()) printf("note: %s\n", message);
    return status;
}

static void test_round_trip(void)
{
    char message[1024] = "", path[PATH + 64], digest[65], again[65];
    fresh_folder();
    field *u = make_links(1), *v = make_links(2);
    checkpoint c = values(u, 12), d;
    CHECK_INT(checkpoint_read_newest(folder, v, &d, path, sizeof path, message, sizeof message), 0);
    CHECK_INT(checkpoint_write(folder, u, &c, 3, message, sizeof message), 0);
    links_digest(u, digest);
    CHECK_STR(c.digest, digest);
    CHECK_INT(checkpoint_read_newest(folder, v, &d, path, sizeof path, message, sizeof message), 1);
    CHECK_HAS(path, "checkpoint-000012.h5");
    links_digest(v, again);
    CHECK_STR(again, digest);
    CHECK_INT(d.trajectory, 12);
    CHECK_INT(d.accepted, 6);
    CHECK(d.seed == 0xfedcba9876543210u);
    CHECK(d.plaquette == gauge_measure(u, 0).plaquette);
    CHECK(d.link_trace == links_trace(u));
    CHECK_STR(d.program, c.program);
    CHECK_STR(d.parameters, c.parameters);
    checkpoint_free(&d);
    /* It is a lattice file like any other. */
    CHECK_INT(links_read(v, path, NULL, message, sizeof message), 0);
    shell("test \"$(ls -A '%s')\" = checkpoint-000012.h5");
    field_destroy(u);
    field_destroy(v);
}

/* ---- damage ---- */

static void flip(const char *path, long at, int bit)
{
    unsigned char byte = 0;
    if (root()) {
        const int fd = open(path, O_RDWR);
        CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
        byte = (unsigned char)(byte ^ 1 << bit);
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        close(fd);
    }
    comm_barrier();
}

static long file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static void test_flips(void)
{
    char message[1024], path[PATH + 64];
    uint64_t random = 88172645463325252u;
    fresh_folder();
    field *u = make_links(1);
    CHECK_INT(write_one(u, 1, 0), 0);
    checkpoint_path(path, sizeof path, folder, 1);
    const long bytes = file_size(path), data = lat->volume * 576, structure = bytes - data;
    for (int i = 0; i < 100; i++) {
        checkpoint c;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        /* Every other one outside the links, which lie at the end or in the middle: from both ends. */
        long at = (long)(random % (uint64_t)(i % 2 ? bytes : structure));
        if (i % 4 == 2) at = bytes - 1 - at;
        const int bit = (int)(random >> 60) % 8;
        flip(path, at, bit);
        const int status = checkpoint_read(path, u, &c, message, sizeof message);
        if (status != CHECKPOINT_DAMAGED && root()) printf("byte %ld, bit %d of %ld is not found\n", at, bit, bytes);
        CHECK_INT(status, CHECKPOINT_DAMAGED);
        if (status == CHECKPOINT_GOOD) checkpoint_free(&c);
        flip(path, at, bit);
    }
    checkpoint c;
    CHECK_INT(checkpoint_read(path, u, &c, message, sizeof message), CHECKPOINT_GOOD);
    checkpoint_free(&c);
    field_destroy(u);
}

static void test_garbage(void)
{
    char message[1024] = "", path[PATH + 64], first[65], digest[65];
    int64_t found[16];
    checkpoint c;
    fresh_folder();
    field *u = make_links(1), *v = make_links(2);
    CHECK_INT(write_one(u, 7, 0), 0);
    links_digest(u, first);
    shell("cd '%s' && : >checkpoint-000011.h5 && head -c 3000 checkpoint-000007.h5 >checkpoint-000012.h5 && "
          "head -c 90000 /dev/urandom >checkpoint-000013.h5 && mkdir checkpoint-000014.h5 && mkfifo "
          "checkpoint-000015.h5 && "
          "head -c -1 checkpoint-000007.h5 >checkpoint-000017.h5 && "
          "tail -c +513 checkpoint-000007.h5 >checkpoint-000018.h5 && cp checkpoint-000007.h5 checkpoint-7.h5 && "
          "head -c 600 checkpoint-000007.h5 >checkpoint-000019.h5 && touch checkpoint-x.h5 checkpoint-000020.h5.old");
    CHECK_INT(checkpoint_find(folder, found, 16, message, sizeof message), 9);
    CHECK_INT(found[0], 19);
    CHECK_INT(found[8], 7);
    log_set_level(LOG_ERROR);
    CHECK_INT(checkpoint_read_newest(folder, v, &c, path, sizeof path, message, sizeof message), 1);
    CHECK_INT(c.trajectory, 7);
    links_digest(v, digest);
    CHECK_STR(digest, first);
    checkpoint_free(&c);
    shell("rm '%s'/checkpoint-000007.h5");
    CHECK_INT(checkpoint_read_newest(folder, v, &c, path, sizeof path, message, sizeof message), -1);
    CHECK_HAS(message, "none of the 8");
    /* A link to what is not there is none: the other file system may come back. */
    shell("ln -s nowhere '%s'/checkpoint-000016.h5");
    CHECK_INT(checkpoint_read_newest(folder, v, &c, path, sizeof path, message, sizeof message), -1);
    CHECK_HAS(message, "checkpoint-000016.h5: No such file or directory. It may be good");
    log_set_level(LOG_INFO);
    CHECK_INT(checkpoint_read("/nonexistent/checkpoint-000001.h5", v, &c, message, sizeof message),
              CHECKPOINT_NO_ACCESS);
    CHECK_HAS(message, "No such file");
    /* A lattice file that is no checkpoint. */
    snprintf(path, sizeof path, "%s/plain.h5", folder);
    CHECK_INT(links_write(u, path, "hdf5", NULL, message, sizeof message), 0);
    CHECK_INT(checkpoint_read(path, v, &c, message, sizeof message), CHECKPOINT_DAMAGED);
    CHECK_HAS(message, "not a checkpoint");
    field_destroy(u);
    field_destroy(v);
}

static void test_other_lattice(void)
{
    const int size[4] = {8, 4, 4, 8}, any[4] = {0};
    char message[1024] = "", path[PATH + 64];
    checkpoint c;
    fresh_folder();
    field *u = make_links(1);
    CHECK_INT(write_one(u, 3, 0), 0);
    lattice *other = lattice_create(size, any, 1, 1);
    field *v = field_create(other, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    CHECK_INT(checkpoint_read_newest(folder, v, &c, path, sizeof path, message, sizeof message), -1);
    CHECK_HAS(message, "expected 8.4.4.8");
    field_destroy(v);
    lattice_destroy(other);
    field_destroy(u);
}

static void test_keep(void)
{
    int64_t found[16];
    char message[1024];
    fresh_folder();
    field *u = make_links(1);
    for (int i = 1; i <= 5; i++) CHECK_INT(write_one(u, 10 * i, 2), 0);
    CHECK_INT(checkpoint_find(folder, found, 16, message, sizeof message), 2);
    CHECK_INT(found[0], 50);
    CHECK_INT(found[1], 40);
    /* A run that fell back behind a damaged one removes neither it nor what it has just written. */
    CHECK_INT(write_one(u, 45, 1), 0);
    CHECK_INT(checkpoint_find(folder, found, 16, message, sizeof message), 2);
    CHECK_INT(found[1], 45);
    field_destroy(u);
}

/* What memory may make of links after the trajectory: nothing of it becomes a checkpoint. */
static void test_bad_links(void)
{
    char message[1024] = "";
    fresh_folder();
    field *u = make_links(1);
    double *buf = field_slice_buffer(u);
    const int last = comm_rank() == comm_size() - 1;
    for (int k = 0; k < 4; k++) {
        checkpoint c = values(u, 1);
        field_export(u, 0, buf);
        double *old = malloc(18 * sizeof *old);
        memcpy(old, buf, 18 * sizeof *old);
        if (last) {
            if (k == 0) buf[5] = NAN;
            for (int i = 0; i < 18 && k == 1; i++) buf[i] *= 2;
            if (k == 2) buf[5] += 1e-8;
            /* Another link of the group. */
            for (int i = 0; i < 6 && k == 3; i++) buf[i] = -buf[i], buf[6 + i] = -buf[6 + i];
        }
        field_import(u, 0, buf);
        CHECK_INT(checkpoint_write(folder, u, &c, 2, message, sizeof message), CHECKPOINT_BAD_LINKS);
        CHECK_HAS(message, k < 3 ? "the links in memory are not in SU(3)" : "the plaquette of the links in memory is");
        if (k == 1) CHECK_HAS(message, "off by 7.00e+00");
        shell("test -z \"$(ls -A '%s')\"");
        if (last) memcpy(buf, old, 18 * sizeof *old);
        field_import(u, 0, buf);
        free(old);
    }
    CHECK_INT(write_one(u, 1, 2), 0);
    free(buf);
    field_destroy(u);
}

static unsigned char *load(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    *n = (size_t)file_size(path);
    unsigned char *p = malloc(*n);
    CHECK(f && fread(p, 1, *n, f) == *n);
    if (f) fclose(f);
    return p;
}

/* All occurrences of some bytes; there is one at least. */
static void exchange(unsigned char *p, size_t n, const void *old, const void *new, size_t bytes)
{
    int found = 0;
    for (size_t i = 0; i + bytes <= n; i++)
        if (!memcmp(p + i, old, bytes)) memcpy(p + i, new, bytes), found++;
    CHECK(found > 0);
}

/* Puts the links of another file, and what it says of them, into a checkpoint, and seals that: only the links themselves
 * can show that no run has made them. */
static void forge(const char *path, const char *other)
{
    char message[1024] = "";
    links_info now, then;
    seal_regions out, from;
    size_t n, m;
    CHECK_INT(links_probe(path, &then, message, sizeof message), 0);
    CHECK_INT(links_probe(other, &now, message, sizeof message), 0);
    if (root()) {
        unsigned char *p = load(path, &n), *q = load(other, &m);
        uint32_t sums[2][2];
        CHECK_INT(seal_check(path, &out, message, sizeof message), 0);
        CHECK_INT(seal_check(other, &from, message, sizeof message), 0);
        memcpy(p + out.start[0], q + from.start[0], out.bytes[0]);
        exchange(p, n, then.digest, now.digest, 64);
        exchange(p, n, &then.link_trace, &now.link_trace, sizeof(double));
        for (int i = 0; i < 2; i++)
            CHECK_INT(sscanf(i ? now.checksum : then.checksum, "%8x %8x", &sums[i][0], &sums[i][1]), 2);
        exchange(p, n, sums[0], sums[1], sizeof sums[0]);
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(p, 1, n, f) == n && fclose(f) == 0);
        CHECK_INT(seal_write(path, &out, message, sizeof message), 0);
        free(p);
        free(q);
    }
    comm_barrier();
}

static void test_forged(void)
{
    char message[1024] = "", path[PATH + 64], plain[PATH + 64];
    checkpoint c;
    fresh_folder();
    field *u = make_links(1), *v = make_links(1);
    snprintf(plain, sizeof plain, "%s/plain.h5", folder);
    checkpoint_path(path, sizeof path, folder, 5);
    const links_meta meta = {.has_plaquette = 1, .plaquette = gauge_measure(u, 0).plaquette, .sequence = 5};
    double *buf = field_slice_buffer(v);
    for (int k = 0; k < 3; k++) {
        CHECK_INT(write_one(u, 5, 0), 0);
        field_export(v, 0, buf);
        /* The same links; one off the group, by too little for the averages; another of the group. */
        if (root() && k == 1) buf[5] += 1e-9;
        if (root() && k == 2)
            for (int i = 0; i < 12; i++) buf[i] = -buf[i];
        field_import(v, 0, buf);
        CHECK_INT(links_write(v, plain, "hdf5", &meta, message, sizeof message), 0);
        if (k) forge(path, plain);
        CHECK_INT(checkpoint_read(path, v, &c, message, sizeof message), k ? CHECKPOINT_DAMAGED : CHECKPOINT_GOOD);
        if (!k) checkpoint_free(&c);
        else CHECK_HAS(message, k == 1 ? "the links are not in SU(3)" : "plaquette is");
    }
    free(buf);
    field_destroy(v);
    field_destroy(u);
}

/* ---- the folder ---- */

/* Files may not grow beyond a limit: what a full disk or quota does, at each stage of writing. */
static void test_full(void)
{
    struct rlimit old, few;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    fresh_folder();
    field *u = make_links(1);
    CHECK_INT(write_one(u, 1, 0), 0);
    const long whole = lat->volume * 576;
    const long limits[] = {0, 1, 600, 2048, 4096, whole / 2, whole, whole + 2000, whole + 3000, whole + 5000};
    int failed = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        few = old;
        few.rlim_cur = (rlim_t)limits[i];
        setrlimit(RLIMIT_FSIZE, &few);
        char message[1024] = "";
        checkpoint c = values(u, 2);
        const int bad = checkpoint_write(folder, u, &c, 1, message, sizeof message);
        setrlimit(RLIMIT_FSIZE, &old);
        comm_barrier();
        failed += bad != 0;
        if (limits[i] <= whole) CHECK_INT(bad, -1);
        if (bad) {
            CHECK_HAS(message, "checkpoint-000002.h5");
            shell("test \"$(ls -A '%s')\" = checkpoint-000001.h5");
        } else {
            shell("cd '%s' && mv checkpoint-000002.h5 checkpoint-000001.h5");
        }
    }
    CHECK(failed >= 7);
    CHECK_INT(write_one(u, 3, 0), 0);
    field_destroy(u);
    char message[1024] = "";
    if (root()) {
        CHECK_INT(atomic_free_space(folder, UINT64_MAX / 2, message, sizeof message), -1);
        CHECK_HAS(message, "MiB free");
    }
}

static void open_output(void *name)
{
    output_open(name);
}

static void test_unwritable(void)
{
    char message[1024] = "", path[PATH + 64];
    fresh_folder();
    field *u = make_links(1);
    shell("chmod 555 '%s'");
    const int super = geteuid() == 0 && seteuid(65534) == 0;
    CHECK_INT(write_one(u, 1, 0), CHECKPOINT_NO_ROOM);
    if (root()) {
        CHECK_INT(atomic_make_folder(folder, NULL, message, sizeof message), -1);
        CHECK_HAS(message, "cannot be written");
    }
    if (super) CHECK_INT(seteuid(0), 0);
    shell("chmod 755 '%s'");
    shell("test -z \"$(ls -A '%s')\"");
    shell("echo >'%s'/file");
    if (comm_size() == 1) {
        snprintf(path, sizeof path, "%s/file/deep", folder);
        CHECK_USER_ERROR(open_output, path, "cannot be made an output folder");
        CHECK_USER_ERROR(open_output, "", "output folder has 0 letters");
    }
    field_destroy(u);
}

/* A start that is refused leaves no folder, and none that was there before goes. */
static void test_lock(void)
{
    char message[1024] = "", path[PATH + 64];
    shell("rm -rf '%s'");
    snprintf(path, sizeof path, "%s/a/b", folder);
    output_open(path);
    shell("grep -q 'host .*process' '%s'/a/b/plaq.lock");
    output_close();
    shell("test ! -e '%s'");
    shell("mkdir '%s'");
    output_open(path);
    output_close();
    shell("test -d '%s' -a ! -e '%s'/a");
    output_open(path);
    shell("touch '%s'/a/result");
    output_close();
    shell("test -e '%s'/a/result -a ! -e '%s'/a/b");
    shell("mkdir '%s'/a/b");
    if (root()) {
        atomic_lock lock;
        CHECK_INT(atomic_lock_folder(&lock, path, message, sizeof message), 0);
        /* The child of a fork does not inherit the lock. */
        const pid_t child = fork();
        if (child == 0) {
            char text[1024] = "";
            atomic_lock other;
            const int refused = atomic_lock_folder(&other, path, text, sizeof text);
            _exit(refused && strstr(text, "another run") && strstr(text, "process") ? 7 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK_INT(WEXITSTATUS(status), 7);
        atomic_release(&lock);
    }
    comm_barrier();
}

/* The lock of a file waits for its holder, and clears what dead writers of that file left, and of no other. */
static void test_file_lock(void)
{
    char message[1024] = "", path[PATH + 64];
    fresh_folder();
    snprintf(path, sizeof path, "%s/x.h5", folder);
    if (root()) {
        atomic_lock lock;
        here("cd '%s' && touch .x.h5.00000000-1.tmp .x.h5.tmp .y.h5.00000000-1.tmp .x.h5.00000000-1.tmpx");
        CHECK_INT(atomic_lock_file(&lock, path, 0, message, sizeof message), 0);
        here(
            "cd '%s' && test \"$(ls -A | LC_ALL=C sort | tr '\\n' ' ')\" = '.x.h5.00000000-1.tmpx .x.h5.lock .x.h5.tmp "
            ".y.h5.00000000-1.tmp '");
        const pid_t child = fork();
        if (child == 0) {
            char text[1024] = "";
            atomic_lock other;
            if (!atomic_lock_file(&other, path, 0.1, text, sizeof text) || !strstr(text, "another program")) _exit(1);
            _exit(atomic_lock_file(&other, path, 20, text, sizeof text) ? 2 : 7);
        }
        int status = 0;
        usleep(500000);
        atomic_release(&lock);
        waitpid(child, &status, 0);
        CHECK_INT(WEXITSTATUS(status), 7);
        here("test ! -e '%s'/y.lock");
    }
    comm_barrier();
}

/* Names of temporary files are of a process, a link stays a link, and a name that leads nowhere is told. */
static void test_names(void)
{
    char message[1024] = "", path[PATH + 64];
    fresh_folder();
    if (root()) {
        atomic_file a;
        snprintf(path, sizeof path, "%s/x", folder);
        CHECK_INT(atomic_begin(&a, path, 0, message, sizeof message), 0);
        const char *dash = strrchr(a.temporary, '-');
        CHECK(dash && atoi(dash + 1) == (int)getpid());
        here("cd '%s' && echo old >real && ln -s real x && ln -s nowhere/y z && ln -s gone folder");
        CHECK_INT(atomic_write(path, "new", 3, message, sizeof message), 0);
        here("cd '%s' && test -L x && test \"$(cat real)\" = new");
        snprintf(path, sizeof path, "%s/z", folder);
        CHECK_INT(atomic_write(path, "new", 3, message, sizeof message), -1);
        CHECK_HAS(message, "a symbolic link to nowhere/y, where no file is");
        snprintf(path, sizeof path, "%s/folder", folder);
        CHECK_INT(atomic_make_folder(path, NULL, message, sizeof message), -1);
        CHECK_HAS(message, "a symbolic link to gone, where no folder is");
        snprintf(path, sizeof path, "%s/deleted/x", folder);
        CHECK_INT(atomic_write(path, "new", 3, message, sizeof message), -1);
        CHECK_HAS(message, "cannot be created: No such file or directory (the folder");
        snprintf(path, sizeof path, "%s", folder);
        CHECK_INT(atomic_write(path, "new", 3, message, sizeof message), -1);
        CHECK_HAS(message, "Is a directory");
    }
    comm_barrier();
}

/* What a killed run leaves goes; what others write in the folder, a `plaq measure --output` above all, stays. */
static void test_leftovers(void)
{
    char path[PATH + 64];
    snprintf(path, sizeof path, "%s/left", folder);
    shell("mkdir -p '%s'/left");
    shell("cd '%s'/left && touch .checkpoint-000001.h5.0a1b2c3d-4.tmp .checkpoint-1000000.h5.0a1b2c3d-77.tmp "
          ".history.h5.0a1b2c3d-4.tmp .history.journal.0a1b2c3d-4.tmp .write-test.0a1b2c3d-77.tmp && "
          "mkdir .checkpoint-000002.h5.0a1b2c3d-4.tmp && touch .flow.h5.0a1b2c3d-4.tmp .history-flow.h5.0a1b2c3d-4.tmp "
          ".checkpoint-2flow.h5.0a1b2c3d-4.tmp .x.tmp keep.tmp .hidden");
    output_open(path);
    shell("cd '%s'/left && test \"$(ls -A | LC_ALL=C sort | tr '\\n' ' ')\" = '.checkpoint-000002.h5.0a1b2c3d-4.tmp "
          ".checkpoint-2flow.h5.0a1b2c3d-4.tmp .flow.h5.0a1b2c3d-4.tmp .hidden .history-flow.h5.0a1b2c3d-4.tmp .x.tmp "
          "keep.tmp plaq.lock '");
    output_close();
}

int main(int argc, char **argv)
{
    const int size[4] = {4, 4, 4, 4}, any[4] = {0};
    comm_init(&argc, &argv);
    if (root()) {
        strcpy(folder, "/tmp/plaq-checkpoint-XXXXXX");
        CHECK(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0);
        strcat(folder, "/out");
    }
    comm_bcast(folder, sizeof folder);
    lat = lattice_create(size, any, 1, 1);
    test_round_trip();
    test_flips();
    test_garbage();
    test_other_lattice();
    test_keep();
    test_bad_links();
    test_forged();
    test_full();
    test_unwritable();
    test_lock();
    test_file_lock();
    test_names();
    test_leftovers();
    shell("rm -rf \"$(dirname '%s')\"");
    lattice_destroy((lattice *)lat);
    const int all_good = comm_all(check_failed == 0);
    comm_finalize();
    return CHECK_SUMMARY() || !all_good;
}
