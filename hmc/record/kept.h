/* The index of the kept configurations, OUTPUT/configurations.tsv: a title with the names of the columns, and a line of
 * each configuration in order of trajectories, columns separated by tabs:
 *
 *   trajectory, file (from OUTPUT), digest of the links in it, plaquette of the run, acceptance (share of trajectories
 *   accepted since the configuration before, or since the first trajectory), crc32 of the line up to its tab
 *
 * A line whose CRC is wrong is damaged and counts as lost. Lines of versions without the last column are taken as they
 * are, and get it when the index is written again. Local. */
#ifndef PLAQ_KEPT_H
#define PLAQ_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "io/history/output_file.h"
#include "kernels/base/param.h"

#define KEPT_NAME (PARAM_STRING_SIZE + 64)

typedef struct {
    int64_t trajectory;
    char file[KEPT_NAME], digest[65];
    double plaquette, acceptance;
} kept_configuration;

typedef struct {
    int n, damaged;          /* configurations, lines that are not as they were written */
    int is_there, bad_title; /* the index is a file, without the names of its columns */
    kept_configuration *of;
} kept_index;

/* The index in an output folder, without configurations where there is none. 0, or -1 with a message when it is there and
 * cannot be read. Free with kept_free(). */
int kept_read(kept_index *k, const char *folder, char *message, size_t size);
void kept_free(kept_index *k);
/* Takes a configuration in place of that of its trajectory, or adds it. */
void kept_put(kept_index *k, const kept_configuration *c);
/* The whole index anew. 0, or -1 with a message; then it is as before. */
int kept_write(const kept_index *k, const char *folder, char *message, size_t size);

/* Compares with the files in OUTPUT/configurations: names of files there without a line, a line of text each, and those of
 * lines without their file. Returns 0, or -1 with a message when the folder is there and cannot be read. */
int kept_compare(const kept_index *k, const char *folder, param_text *unlisted, param_text *gone, char *message,
                 size_t size);

#endif
