#include "io/history/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/files/checksum.h"
#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "io/links/links.h"
#include "io/links/links_check.h"
#include "io/links/links_format.h"
#include "io/files/seal.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

#define VERSION 1
#define MAX_FOUND 65536
/* HDF5 structure, seal and attributes, generously. */
#define STRUCTURE_BYTES 65536

void checkpoint_path(char *path, size_t size, const char *folder, int64_t trajectory)
{
    const int n = snprintf(path, size, "%s/checkpoint-%06" PRId64 ".h5", folder, trajectory);
    REQUIRE(n > 0 && (size_t)n < size, "name of a checkpoint in %s has %d letters, room for %zu", folder, n, size);
}

uint64_t checkpoint_bytes(const int size[4], size_t parameter_bytes)
{
    return links_sites(size) * 4 * 18 * sizeof(double) + parameter_bytes + STRUCTURE_BYTES;
}

void checkpoint_free(checkpoint *c)
{
    free(c->parameters);
    c->parameters = NULL;
}

/* ---- the group of values: rank 0, files known to be whole ---- */

/* The group /checkpoint into a file of links that is being made. */
static int add_group(int64_t file, double link_trace, const char *digest, checkpoint *c)
{
    const int64_t version = VERSION;
    c->link_trace = link_trace;
    snprintf(c->digest, sizeof c->digest, "%s", digest);
    const hid_t group = H5Gcreate2((hid_t)file, "checkpoint", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return 1;
    int bad = values_put_int(group, "version", version);
    bad |= values_put_int(group, "trajectory", c->trajectory);
    bad |= values_put_int(group, "accepted", c->accepted);
    bad |= values_put_unsigned(group, "seed", c->seed);
    bad |= values_put_real(group, "plaquette", c->plaquette);
    bad |= values_put_real(group, "link_trace", c->link_trace);
    bad |= values_put_text(group, "digest", c->digest);
    bad |= values_put_text(group, "program", c->program);
    bad |= values_put_long_text(group, "parameters", c->parameters ? c->parameters : "");
    return bad | (H5Gclose(group) < 0);
}

static int get_values(hid_t group, checkpoint *c)
{
    int64_t version = 0;
    int bad = values_get_int(group, "version", &version);
    bad |= values_get_int(group, "trajectory", &c->trajectory);
    bad |= values_get_int(group, "accepted", &c->accepted);
    bad |= values_get_unsigned(group, "seed", &c->seed);
    bad |= values_get_real(group, "plaquette", &c->plaquette);
    bad |= values_get_real(group, "link_trace", &c->link_trace);
    bad |= values_get_text(group, "digest", c->digest, sizeof c->digest);
    bad |= values_get_text(group, "program", c->program, sizeof c->program);
    c->parameters = values_get_long_text(group, "parameters");
    return bad || !c->parameters || version != VERSION;
}

/* Values of a file, its seal verified first; 0, or bits as of links_read() with a message. */
static int load_group(const char *path, checkpoint *c, seal_regions *out, char *message, size_t size)
{
    int bad = 0;
    image *m = image_read(path, out, &bad, message, size);
    if (!m) return bad;
    const hid_t group = H5Gopen2(image_file(m), "checkpoint", H5P_DEFAULT);
    if (group < 0)
        bad = file_fail(message, size, "%s: no group /checkpoint: a lattice file, but not a checkpoint", path);
    else if (get_values(group, c))
        bad = file_fail(message, size, "%s: values are missing in /checkpoint, or its version is another", path);
    if (group >= 0) H5Gclose(group);
    image_close(m);
    return bad;
}

/* ---- the links of a file on disk: rank 0 ---- */

/* SHA-256 of bytes [at, end) of a file, of which one piece is read while the one before is hashed. -1 with errno. */
static int hash_bytes(int fd, uint64_t at, uint64_t end, char hex[65])
{
    enum { BUFFER = 4 << 20 };
    unsigned char *buf[2] = {malloc(BUFFER), malloc(BUFFER)};
    REQUIRE_MEMORY(buf[0] && buf[1], "out of memory: %d bytes", 2 * BUFFER);
    sha256 s;
    size_t n = 0, before = 0;
    int bad = 0, why = 0;
    sha256_start(&s);
    for (int turn = 0; !bad && (turn == 0 || before > 0); turn = !turn, before = n) {
        n = end - at < BUFFER ? (size_t)(end - at) : BUFFER;
#pragma omp parallel for schedule(dynamic, 1)
        for (int k = 0; k < 2; k++) {
            if (k == 0) sha256_add(&s, buf[!turn], before);
            else if (file_pread(fd, buf[turn], n, at)) bad = -1, why = errno;
        }
        at += n;
    }
    sha256_end(&s, hex);
    for (int i = 0; i < 2; i++) free(buf[i]);
    errno = why;
    return bad;
}

/* The digest is that of the bytes as they lie in the file: no field is needed to verify. */
static int verify_links(const char *path, const seal_regions *out, const char *digest, char *message, size_t size)
{
    char found[65] = "";
    int bad = 0;
    const int fd = file_open(path, NULL, &bad, message, size);
    if (!bad && out->n != 1) bad = file_fail(message, size, "%s: no region of links", path);
    /* Else the kernel would answer from memory what the disk may have lost. */
    if (!bad) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (!bad && hash_bytes(fd, out->start[0], out->start[0] + out->bytes[0], found))
        bad = file_fail_read(message, size, path, "the links");
    if (!bad && (bad = strcmp(found, digest) != 0))
        file_fail(message, size, "%s: the links have SHA-256 %s, the checkpoint says %s", path, found, digest);
    if (fd >= 0) close(fd);
    return bad ? -1 : 0;
}

/* ---- writing ---- */

static int same_values(const checkpoint *a, const checkpoint *b)
{
    return a->trajectory == b->trajectory && a->accepted == b->accepted && a->seed == b->seed &&
           !memcmp(&a->plaquette, &b->plaquette, sizeof(double)) &&
           !memcmp(&a->link_trace, &b->link_trace, sizeof(double)) && !strcmp(a->digest, b->digest) &&
           !strcmp(a->program, b->program) && !strcmp(a->parameters ? a->parameters : "", b->parameters);
}

/* Rank 0 reads everything back from disk, and gives the file its name. */
static int complete(atomic_file *a, const checkpoint *c, char *message, size_t size)
{
    seal_regions out;
    checkpoint back = {0};
    int bad = atomic_sync(a->temporary, message, size);
    if (!bad) bad = load_group(a->temporary, &back, &out, message, size);
    if (!bad && !same_values(c, &back))
        bad = file_fail(message, size, "%s: the values read back are not those written", a->temporary);
    if (!bad) bad = verify_links(a->temporary, &out, c->digest, message, size);
    checkpoint_free(&back);
    return bad ? -1 : atomic_commit(a, message, size);
}

static int find_on_root(const char *folder, int64_t *trajectories, int max);

static void remove_old(const char *folder, int64_t newest, int keep)
{
    int64_t *found = malloc(MAX_FOUND * sizeof *found);
    REQUIRE_MEMORY(found, "out of memory: %d numbers", MAX_FOUND);
    const int n = find_on_root(folder, found, MAX_FOUND);
    for (int i = 0, kept = 0; i < n; i++) {
        char path[ATOMIC_PATH];
        /* Beyond the newest: damaged ones that a continued run passed over; they will be written anew. */
        if (found[i] > newest || kept++ < keep) continue;
        checkpoint_path(path, sizeof path, folder, found[i]);
        if (unlink(path) != 0) log_warn("%s: an old checkpoint cannot be removed: %s", path, strerror(errno));
    }
    free(found);
}

/* The plaquette of the links in memory against what the trajectory left. */
static int judge_plaquette(const char *path, const field *links, const checkpoint *c, char *message, size_t size)
{
    const double plaquette = gauge_measure(links, 0).plaquette;
    if (plaquette == c->plaquette) return 0;
    return file_fail(message, size,
                     "%s: the plaquette of the links in memory is %.16g, after the trajectory it was %.16g", path,
                     plaquette, c->plaquette);
}

static int judge_deviation(const char *path, double off, char *message, size_t size)
{
    if (off < CHECKPOINT_OFF_GROUP) return 0;
    return file_fail(message, size,
                     "%s: the links in memory are not in SU(3): a link or its determinant is off by %.2e", path, off);
}

/* Context of the callbacks of links_write_temporary(). */
typedef struct {
    checkpoint *c;
    double off; /* largest deviation from SU(3) of this rank's links as they are written */
} writing;

static int add_values(int64_t file, double link_trace, const char *digest, void *context)
{
    return add_group(file, link_trace, digest, ((writing *)context)->c);
}

static void look_at_slice(const lattice *lat, int t, const double *links, void *context)
{
    writing *w = context;
    w->off = fmax(w->off, links_slice_deviation(lat, t, links));
}

int checkpoint_write(const char *folder, const field *links, checkpoint *c, int keep, char *message, size_t size)
{
    atomic_file a = {"", ""};
    char path[ATOMIC_PATH - 16];
    links_info info;
    writing w = {c, 0};
    const int root = comm_rank() == 0;
    checkpoint_path(path, sizeof path, folder, c->trajectory);
    const links_meta meta = {.has_plaquette = 1,
                             .plaquette = links->lat->time == TIME_PERIODIC ? c->plaquette
                                                                            : gauge_measure_recorded(links).plaquette,
                             .sequence = (int)c->trajectory,
                             .ensemble = c->ensemble,
                             .parameters = c->physics,
                             .add = add_values,
                             .look = look_at_slice,
                             .context = &w};
    if (links_write_temporary(links, &a, path, "hdf5", &meta, message, size)) return CHECKPOINT_NO_ROOM;
    comm_max(&w.off, 1);
    if (judge_deviation(path, w.off, message, size) || judge_plaquette(path, links, c, message, size)) {
        if (root) atomic_abandon(&a);
        comm_barrier();
        return CHECKPOINT_BAD_LINKS;
    }
    int bad = links_probe(a.temporary, &info, message, size) != 0;
    if (!bad) {
        c->link_trace = info.link_trace;
        strcpy(c->digest, info.digest);
        bad = root ? complete(&a, c, message, size) : 0;
        bad = comm_any_bad(bad, message, size);
    }
    if (root && bad) atomic_abandon(&a);
    if (root && !bad && keep > 0) remove_old(folder, c->trajectory, keep);
    comm_barrier();
    return bad ? CHECKPOINT_NO_ROOM : 0;
}

/* ---- finding ---- */

static int newest_first(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static int find_on_root(const char *folder, int64_t *trajectories, int max)
{
    int n = 0;
    DIR *dir = opendir(folder);
    if (!dir) return errno == ENOENT ? 0 : -1;
    errno = 0;
    for (struct dirent *e; n < max && (e = readdir(dir)); errno = 0) {
        char canonical[64];
        int64_t number;
        if (sscanf(e->d_name, "checkpoint-%" SCNd64, &number) != 1 || number < 0) continue;
        snprintf(canonical, sizeof canonical, "checkpoint-%06" PRId64 ".h5", number);
        if (!strcmp(e->d_name, canonical)) trajectories[n++] = number;
    }
    const int why = errno;
    closedir(dir);
    errno = why;
    if (why) return -1;
    qsort(trajectories, (size_t)n, sizeof *trajectories, newest_first);
    return n;
}

int64_t checkpoint_newest(const char *folder)
{
    int64_t *found = malloc(MAX_FOUND * sizeof *found);
    REQUIRE_MEMORY(found, "out of memory: %d numbers", MAX_FOUND);
    const int64_t newest = find_on_root(folder, found, MAX_FOUND) > 0 ? found[0] : -1;
    free(found);
    return newest;
}

int checkpoint_find(const char *folder, int64_t *trajectories, int max, char *message, size_t size)
{
    int n = comm_rank() == 0 ? find_on_root(folder, trajectories, max) : 0;
    if (n < 0) file_fail(message, size, "%s: the folder cannot be read: %s", folder, strerror(errno));
    if (comm_any_bad(n < 0, message, size)) return -1;
    comm_bcast(&n, sizeof n);
    comm_bcast(trajectories, (size_t)n * sizeof *trajectories);
    return n;
}

/* ---- reading ---- */

static void send_values(checkpoint *c)
{
    size_t n = comm_rank() == 0 ? strlen(c->parameters) + 1 : 0;
    char *text = c->parameters;
    comm_bcast(&n, sizeof n);
    if (comm_rank() != 0) text = malloc(n);
    REQUIRE_MEMORY(text, "out of memory: %zu bytes", n);
    comm_bcast(text, n);
    comm_bcast(c, sizeof *c);
    c->parameters = text;
}

/* The status for bits of links_read(). */
static int status_of(int bits)
{
    return !bits                     ? CHECKPOINT_GOOD
           : bits & LINKS_NO_REGULAR ? CHECKPOINT_NO_FILE
           : bits & LINKS_NO_ACCESS  ? CHECKPOINT_NO_ACCESS
                                     : CHECKPOINT_DAMAGED;
}

static int is_passed_over(int status)
{
    return status == CHECKPOINT_DAMAGED || status == CHECKPOINT_NO_FILE;
}

/* The size of the lattice and the values, on all ranks; all but the links is verified. Bits as of links_read(). */
static int peek(const char *path, int size_out[4], checkpoint *c, char *message, size_t size)
{
    links_info info;
    seal_regions out;
    int bad = 0;
    memset(c, 0, sizeof *c);
    if (comm_rank() == 0) bad = load_group(path, c, &out, message, size);
    comm_any_bad(bad, message, size);
    comm_bcast(&bad, sizeof bad);
    if (!bad) {
        bad = links_probe(path, &info, message, size);
        if (!bad && comm_rank() == 0 && strcmp(info.digest, c->digest))
            bad = file_fail(message, size, "%s: /links and /checkpoint state different digests", path);
        comm_any_bad(bad, message, size);
        comm_bcast(&bad, sizeof bad);
    }
    if (bad) {
        checkpoint_free(c);
        return bad;
    }
    memcpy(size_out, info.size, sizeof info.size);
    send_values(c);
    return 0;
}

int checkpoint_read(const char *path, field *links, checkpoint *c, char *message, size_t size)
{
    int n[4], status;
    const int bits = peek(path, n, c, message, size);
    if (bits) return status_of(bits);
    const int *want = links->lat->size;
    if (memcmp(n, want, sizeof n)) {
        file_fail(message, size, "%s: the lattice of the checkpoint is %d.%d.%d.%d, expected %d.%d.%d.%d", path, n[0],
                  n[1], n[2], n[3], want[0], want[1], want[2], want[3]);
        status = CHECKPOINT_OTHER_LATTICE;
    } else {
        status = status_of(links_read(links, path, NULL, message, size));
    }
    const double off = status ? 0 : links_deviation(links);
    if (!(off < CHECKPOINT_OFF_GROUP)) {
        file_fail(message, size, "%s: the links are not in SU(3): a link or its determinant is off by %.2e", path, off);
        status = CHECKPOINT_DAMAGED;
    }
    if (status) checkpoint_free(c);
    return status;
}

int checkpoint_read_newest(const char *folder, field *links, checkpoint *c, char *path, size_t path_size, char *message,
                           size_t size)
{
    int64_t *found = malloc(MAX_FOUND * sizeof *found);
    REQUIRE_MEMORY(found, "out of memory: %d numbers", MAX_FOUND);
    const int n = checkpoint_find(folder, found, MAX_FOUND, message, size);
    int status = CHECKPOINT_DAMAGED, i = 0;
    for (; i < n && is_passed_over(status); i++) {
        checkpoint_path(path, path_size, folder, found[i]);
        status = checkpoint_read(path, links, c, message, size);
        if (is_passed_over(status))
            log_warn("%s checkpoint, %s: %s", status == CHECKPOINT_DAMAGED ? "damaged" : "no",
                     i + 1 < n ? "trying the one before" : "and none is left", message);
    }
    free(found);
    if (status == CHECKPOINT_NO_ACCESS) {
        char why[1024];
        snprintf(why, sizeof why, "%s", message);
        file_fail(
            message, size,
            "%s. It may be good, so no older checkpoint is taken in its place: make it readable, or move it away to "
            "go on from the one before",
            why);
    }
    if (n > 0 && is_passed_over(status))
        file_fail(message, size, "%s: none of the %d checkpoints there is good; move them away to start anew", folder,
                  n);
    return n == 0 ? 0 : status == CHECKPOINT_GOOD ? 1 : -1;
}
