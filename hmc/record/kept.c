#include "hmc/record/kept.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/atomic.h"
#include "io/files/checksum.h"
#include "io/files/regular.h"
#include "kernels/base/error.h"

#define TITLE SAVE_INDEX_COLUMNS "\tcrc32\n"
#define OLD_TITLE SAVE_INDEX_COLUMNS "\n"
#define LINE_SIZE (KEPT_NAME + 192)

void kept_free(kept_index *k)
{
    free(k->of);
    *k = (kept_index){0};
}

/* The place of a trajectory, or that of the first one after it. */
static int place_of(const kept_index *k, int64_t trajectory)
{
    int low = 0, high = k->n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (k->of[middle].trajectory < trajectory) low = middle + 1;
        else high = middle;
    }
    return low;
}

void kept_put(kept_index *k, const kept_configuration *c)
{
    const int i = place_of(k, c->trajectory);
    if (i == k->n || k->of[i].trajectory != c->trajectory) {
        k->of = realloc(k->of, (size_t)(k->n + 1) * sizeof *k->of);
        REQUIRE_MEMORY(k->of, "out of memory: %d configurations", k->n + 1);
        memmove(k->of + i + 1, k->of + i, (size_t)(k->n++ - i) * sizeof *k->of);
    }
    k->of[i] = *c;
}

/* ---- lines ---- */

/* The line of a configuration without its CRC; returns its length. */
static int format_line(char line[LINE_SIZE], const kept_configuration *c)
{
    return snprintf(line, LINE_SIZE, "%" PRId64 "\t%s\t%s\t%.15f\t%.4f", c->trajectory, c->file, c->digest,
                    c->plaquette, c->acceptance);
}

/* Reads a line without its CRC; false unless it is what such a line would be. */
static int parse_line(const char *line, kept_configuration *c)
{
    char again[LINE_SIZE];
    *c = (kept_configuration){0};
    return sscanf(line, "%" SCNd64 "\t%319[^\t]\t%64[0-9a-f]\t%lf\t%lf", &c->trajectory, c->file, c->digest,
                  &c->plaquette, &c->acceptance) == 5 &&
           strlen(c->digest) == 64 && format_line(again, c) > 0 && !strcmp(line, again);
}
_Static_assert(KEPT_NAME == 320, "the width of a file's name in parse_line()");

/* Reads a line with its CRC, unless the index is of a version without. */
static int read_line(char *line, int has_crc, kept_configuration *c)
{
    char crc[16], *tab = strrchr(line, '\t');
    if (!has_crc) return parse_line(line, c);
    if (!tab) return 0;
    snprintf(crc, sizeof crc, "%08" PRIx32, crc32_of(0, line, (size_t)(tab - line)));
    if (strcmp(crc, tab + 1)) return 0;
    *tab = 0;
    return parse_line(line, c);
}

/* ---- the file ---- */

static void index_path(const char *folder, char path[ATOMIC_PATH])
{
    const int n = snprintf(path, ATOMIC_PATH, "%s/" SAVE_INDEX, folder);
    REQUIRE(n < ATOMIC_PATH, "name of the index in %s is too long", folder);
}

int kept_read(kept_index *k, const char *folder, char *message, size_t size)
{
    char path[ATOMIC_PATH];
    uint64_t bytes = 0;
    *k = (kept_index){0};
    index_path(folder, path);
    if (access(path, F_OK) != 0 && errno == ENOENT) return 0;
    const char *why;
    char *text = regular_read(path, SAVE_INDEX_MOST, &bytes, &why);
    if (!text) {
        snprintf(message, size, "%s: %s", path, why);
        return -1;
    }
    k->is_there = 1;
    const int has_crc = strncmp(text, OLD_TITLE, strlen(OLD_TITLE)) != 0;
    const int has_title = !has_crc || !strncmp(text, TITLE, strlen(TITLE));
    k->bad_title = !has_title;
    /* A byte of zero ends the text of a line, which is then damaged like any other. */
    for (uint64_t at = 0, next; at < bytes; at = next) {
        const char *end = memchr(text + at, '\n', (size_t)(bytes - at));
        kept_configuration c;
        next = end ? (uint64_t)(end - text) + 1 : bytes + 1;
        text[next - 1] = 0;
        if (at == 0 && has_title) continue;
        if (end && read_line(text + at, has_crc, &c)) kept_put(k, &c);
        else if (at > 0) k->damaged++;
    }
    /* A flipped title stands above lines, and one that was cut off begins as it should. */
    const int is_cut = bytes < strlen(TITLE) && !strncmp(text, TITLE, (size_t)bytes);
    const int foreign = !has_title && k->n == 0 && !is_cut;
    free(text);
    if (foreign) snprintf(message, size, "%s: is no index of the configurations of a run; move it away", path);
    return foreign ? -1 : 0;
}

int kept_write(const kept_index *k, const char *folder, char *message, size_t size)
{
    char path[ATOMIC_PATH], line[LINE_SIZE];
    param_text all = {0};
    index_path(folder, path);
    param_text_add(&all, "%s", TITLE);
    for (int i = 0; i < k->n; i++) {
        const int n = format_line(line, &k->of[i]);
        param_text_add(&all, "%s\t%08" PRIx32 "\n", line, crc32_of(0, line, (size_t)n));
    }
    const int bad = atomic_write(path, all.data, all.length, message, size);
    param_text_free(&all);
    return bad;
}

/* ---- the files ---- */

static int is_listed(const kept_index *k, const char *file)
{
    for (int i = 0; i < k->n; i++)
        if (!strcmp(k->of[i].file, file)) return 1;
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Temporary files begin with a dot. */
static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

int kept_compare(const kept_index *k, const char *folder, param_text *unlisted, param_text *gone, char *message,
                 size_t size)
{
    char path[2 * ATOMIC_PATH], file[KEPT_NAME + 256];
    struct dirent **entries = NULL;
    struct stat st;
    snprintf(path, sizeof path, "%.1000s/" SAVE_FOLDER, folder);
    const int n = scandir(path, &entries, is_shown, by_name);
    if (n < 0 && errno != ENOENT) {
        snprintf(message, size, "%s: the folder cannot be read: %s", path, strerror(errno));
        return -1;
    }
    for (int i = 0; i < n; i++) {
        snprintf(file, sizeof file, SAVE_FOLDER "/%.255s", entries[i]->d_name);
        snprintf(path, sizeof path, "%.1000s/%.600s", folder, file);
        if (!is_listed(k, file) && !stat(path, &st) && S_ISREG(st.st_mode)) param_text_add(unlisted, "%s\n", file);
        free(entries[i]);
    }
    free(entries);
    for (int i = 0; i < k->n; i++) {
        snprintf(path, sizeof path, "%.1000s/%s", folder, k->of[i].file);
        if (access(path, F_OK) != 0 && errno == ENOENT) param_text_add(gone, "%s\n", k->of[i].file);
    }
    return 0;
}
