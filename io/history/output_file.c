#include "io/history/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/files/hdf5_image.h"
#include "io/history/propagator_file.h"
#include "io/links/links_format.h"
#include "io/files/regular.h"
#include "kernels/base/utf8.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/tune.h"

#define FIRST_BYTES 1024

#define KIND_PAGE "a page of plaq report"
#define KIND_EFFECTIVE "a page of plaq effective"
#define KIND_CALIBRATION "a calibration of plaq bench"
#define KIND_TUNING "a file of the tuner"

/* Names of the kinds of files; `replaced`: true if the writer may change or replace an earlier one. */
static const struct {
    const char *what;
    int replaced;
} outputs[] = {
    [OUTPUT_LINKS] = {VALUES_LATTICE, 1},
    [OUTPUT_TABLES] = {VALUES_TABLES, 1},
    [OUTPUT_EIGENVECTORS] = {VALUES_EIGENVECTORS, 0},
    [OUTPUT_TRANSFORM] = {VALUES_TRANSFORM, 1},
    [OUTPUT_PROPAGATOR] = {VALUES_PROPAGATOR, 1},
    [OUTPUT_TRANSFORMATION] = {VALUES_TRANSFORMATION, 1},
    [OUTPUT_PAGE] = {KIND_PAGE, 1},
    [OUTPUT_EFFECTIVE] = {KIND_EFFECTIVE, 1},
    [OUTPUT_CALIBRATION] = {KIND_CALIBRATION, 1},
    [OUTPUT_TUNING] = {KIND_TUNING, 1},
};

/* Texts of plaq, by a piece of their beginning. */
static const struct {
    const char *piece, *what;
} texts[] = {
    {OUTPUT_CALIBRATION_START, KIND_CALIBRATION},
    {TUNE_START, KIND_TUNING},
    {SAVE_INDEX_COLUMNS, "the index of a run's configurations"},
    {"plaq history journal", "the journal of a run's history"},
    {"<title>" OUTPUT_PAGE_TITLE, KIND_PAGE},
    {"<title>" OUTPUT_EFFECTIVE_TITLE, KIND_EFFECTIVE},
};

/* A text of plaq or of somebody else; NULL for what is no text. */
static const char *kind_of_text(const char *first, size_t n)
{
    const int is_page = !strncmp(first, "<!DOCTYPE html>", 15);
    if (n == 0) return "an empty file";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *at = strstr(first, texts[i].piece);
        if (at == first || (at && is_page)) return texts[i].what;
    }
    if (strlen(first) < n) return NULL;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)first[i] < ' ' && !strchr("\t\n\r\f", first[i])) return NULL;
    return "a text";
}

/* Kind of a regular file, as a reader would say it; NULL with a message when it cannot be read or is damaged. */
static const char *kind_of(const char *path, char kind[VALUES_KIND_SIZE], char *message, size_t size)
{
    char first[FIRST_BYTES + 1] = "", why[1024];
    uint64_t bytes = 0;
    int bad = 0;
    if (image_kind(path, kind, message, size)) return NULL;
    if (strcmp(kind, VALUES_NOT_HDF5)) return kind;
    const int fd = file_open(path, &bytes, &bad, message, size);
    if (fd < 0) return NULL;
    const size_t n = bytes < FIRST_BYTES ? (size_t)bytes : FIRST_BYTES;
    bad = file_pread(fd, first, n, 0) ? file_fail_read(message, size, path, "the first bytes") : 0;
    close(fd);
    if (bad) return NULL;
    if (links_probe_local(path, why, sizeof why)) return VALUES_LATTICE;
    if (propagator_file_is_ours(path)) return VALUES_PROPAGATOR;
    const char *text = kind_of_text(first, n);
    return text ? text : "of a kind that plaq does not know";
}

static int is_same_file(const struct stat *a, const char *path)
{
    struct stat b;
    return path && stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* True if the index of a run lists the file, under its real name. */
static int is_kept(const char *path)
{
    char index[ATOMIC_PATH + 32], *real = realpath(path, NULL), *name = NULL;
    int kept = 0;
    for (char *slash = real ? strrchr(real, '/') : NULL; slash && slash > real && !name; slash--)
        if (!strncmp(slash, "/" SAVE_FOLDER "/", strlen("/" SAVE_FOLDER "/"))) name = slash + 1;
    if (name && (size_t)snprintf(index, sizeof index, "%.*s" SAVE_INDEX, (int)(name - real), real) < sizeof index) {
        uint64_t bytes;
        const char *why;
        char *text = regular_read(index, SAVE_INDEX_MOST, &bytes, &why);
        for (char *at = text; at && (at = strstr(at, name)) && !kept; at++)
            kept = at > text && at[-1] == '\t' && at[strlen(name)] == '\t';
        free(text);
    }
    free(real);
    return kept;
}

int output_file_allowed(const char *path, output_kind kind, const char *reads, char *message, size_t size)
{
    char buffer[VALUES_KIND_SIZE];
    struct stat st;
    const char *what = NULL;
    if (stat(path, &st) != 0) return atomic_can_write(path, 0, message, size);
    if (!S_ISREG(st.st_mode)) {
        what = S_ISDIR(st.st_mode)    ? "a directory"
               : S_ISFIFO(st.st_mode) ? "a FIFO"
               : S_ISSOCK(st.st_mode) ? "a socket"
                                      : "a device";
    } else if (is_same_file(&st, reads)) {
        what = "the one that is read";
    } else {
        what = kind_of(path, buffer, message, size);
        if (!what) return -1;
        if (!strcmp(what, outputs[kind].what)) {
            if (kind == OUTPUT_LINKS && is_kept(path)) what = "a configuration that a run keeps";
            else if (outputs[kind].replaced) return atomic_can_write(path, 0, message, size);
        }
    }
    file_fail(message, size, "%s: the file is %s, and is not replaced; choose another name, or remove it", path, what);
    return -1;
}

int output_file_check(const char *path, output_kind kind, const char *reads, char *message, size_t size)
{
    const int bad = comm_rank() == 0 && output_file_allowed(path, kind, reads, message, size);
    return comm_any_bad(bad, message, size) ? -1 : 0;
}
