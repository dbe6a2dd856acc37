#include "hmc/record/save.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hmc/input/identity.h"
#include "hmc/input/pattern.h"
#include "io/atomic.h"
#include "io/links.h"
#include "io/regular.h"
#include "kernels/lattice/comm.h"

/* Headers and records of any format, generously. */
#define HEADER_BYTES 65536

int save_due(const parameters *p, int64_t trajectory)
{
    return p->save.interval > 0 && trajectory > 0 && trajectory >= p->save.from && trajectory % p->save.interval == 0;
}

int64_t save_count(const parameters *p)
{
    const save_params *s = &p->save;
    if (s->interval == 0) return 0;
    const int64_t before = s->from > 0 ? (s->from - 1) / s->interval : 0, all = p->run.trajectories / s->interval;
    return all > before ? all - before : 0;
}

uint64_t save_bytes(const parameters *p, const int size[4])
{
    const int bits = parameters_save_bits(&p->save), most = links_format_most_bits(p->save.format);
    const uint64_t site = 24 * (uint64_t)p->save.rows * (uint64_t)(bits ? bits : most) / 8;
    return (uint64_t)size[0] * (uint64_t)size[1] * (uint64_t)size[2] * (uint64_t)size[3] * site + HEADER_BYTES;
}

/* Its name from the output folder. */
static void file_name(const parameters *p, int64_t trajectory, char name[ATOMIC_PATH])
{
    char pattern[PARAM_STRING_SIZE], ending[16];
    links_format_ending(p->save.format, ending);
    snprintf(pattern, sizeof pattern, "configuration-%%06d%s", ending);
    int n = snprintf(name, ATOMIC_PATH, SAVE_FOLDER "/");
    n += pattern_name(name + n, ATOMIC_PATH - (size_t)n, p->save.name[0] ? p->save.name : pattern, trajectory);
    REQUIRE(n < ATOMIC_PATH, "the name of a configuration is too long");
}

static void digest_of_file(const parameters *p, const field *links, char digest[65])
{
    field *rounded = links_rounded(links, p->save.format, parameters_save_bits(&p->save), p->save.rows);
    links_digest(rounded ? rounded : links, digest);
    if (rounded) field_destroy(rounded);
}

/* 1 when the file is there and holds these links, 0 when there is none, -1 with a message. */
static int is_there(const parameters *p, const char *path, const field *links, char *message, size_t size)
{
    char here[65], there[65];
    int found = comm_rank() == 0 ? access(path, F_OK) == 0 : 0;
    comm_bcast(&found, sizeof found);
    if (!found) return 0;
    field *u = field_create(links->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const int bad = links_read(u, path, NULL, message, size);
    digest_of_file(p, links, here);
    links_digest(u, there);
    field_destroy(u);
    if (bad) return -1;
    if (!strcmp(here, there)) return 1;
    snprintf(
        message, size,
        "%s: holds other links than this run has after that trajectory (digest %.16s..., the run's %.16s...); it is "
        "of another run, so move it away",
        path, there, here);
    return -1;
}

int save_configuration(const parameters *p, const field *links, int64_t trajectory, double plaquette, char *message,
                       size_t size)
{
    char folder[ATOMIC_PATH], path[2 * ATOMIC_PATH], name[ATOMIC_PATH], lfn[2 * PARAM_STRING_SIZE] = "";
    file_name(p, trajectory, name);
    snprintf(folder, sizeof folder, "%.*s/" SAVE_FOLDER, ATOMIC_PATH - 32, p->run.output);
    const int n = snprintf(path, sizeof path, "%s/%s", p->run.output, name);
    REQUIRE(n < ATOMIC_PATH, "name of a configuration in %s is too long", p->run.output);
    if (p->save.lfn[0]) pattern_name(lfn, sizeof lfn, p->save.lfn, trajectory);
    const int no_folder = comm_rank() == 0 && atomic_make_folder(folder, NULL, message, size);
    if (comm_any_bad(no_folder, message, size)) return -1;
    const int there = is_there(p, path, links, message, size);
    if (there) return there;
    param_text ensemble = identity_of_ensemble(p);
    const links_meta meta = {.has_plaquette = 1,
                             .plaquette = plaquette,
                             .ensemble = p->save.ensemble[0] ? p->save.ensemble : NULL,
                             .sequence = (int)trajectory,
                             .program = identity_of_program(),
                             .lfn = lfn[0] ? lfn : NULL,
                             .parameters = ensemble.data,
                             .bits = parameters_save_bits(&p->save),
                             .rows = p->save.rows};
    const int bad = links_write(links, path, p->save.format, &meta, message, size);
    param_text_free(&ensemble);
    if (bad) return -1;
    snprintf(message, size, "%s", path);
    return 0;
}

/* ---- the index ---- */

static void index_path(const parameters *p, char path[ATOMIC_PATH])
{
    const int n = snprintf(path, ATOMIC_PATH, "%s/" SAVE_INDEX, p->run.output);
    REQUIRE(n < ATOMIC_PATH, "name of the index in %s is too long", p->run.output);
}

/* The text of the index, empty where there is none; NULL with a message. Local. */
static char *read_index(const char *path, char *message, size_t size)
{
    const char *why;
    uint64_t bytes = 0;
    if (access(path, F_OK) != 0 && errno == ENOENT) return calloc(1, 1);
    const int fd = regular_open(path, &bytes, &why);
    char *text = fd >= 0 ? calloc((size_t)bytes + 1, 1) : NULL;
    ssize_t got = text ? read(fd, text, (size_t)bytes) : -1;
    if (fd >= 0 && got != (ssize_t)bytes) why = got < 0 ? strerror(errno) : "it became shorter";
    if (fd >= 0) close(fd);
    if (got == (ssize_t)bytes && (!bytes || !strncmp(text, SAVE_INDEX_TITLE, strlen(SAVE_INDEX_TITLE)))) return text;
    if (got == (ssize_t)bytes) why = "is no index of the configurations of a run; move it away";
    snprintf(message, size, "%s: %s", path, why);
    free(text);
    return NULL;
}

/* The next line's trajectory, -1 of the title and of what is none; moves on to the line after. */
static int64_t line_number(const char **at)
{
    char *end;
    const long long number = strtoll(*at, &end, 10);
    const int is_one = end > *at && *end == '\t';
    *at += strcspn(*at, "\n");
    if (**at) (*at)++;
    return is_one ? number : -1;
}

int64_t save_indexed(const parameters *p, int64_t trajectory, char *message, size_t size)
{
    char path[ATOMIC_PATH];
    int64_t last = 0;
    index_path(p, path);
    char *text = comm_rank() == 0 ? read_index(path, message, size) : NULL;
    const int bad = comm_rank() == 0 && !text;
    for (const char *at = text; at && *at;) {
        const int64_t number = line_number(&at);
        if (number > last && number < trajectory) last = number;
    }
    free(text);
    if (comm_any_bad(bad, message, size)) return -1;
    comm_bcast(&last, sizeof last);
    return last;
}

/* Local. */
static int write_index(const parameters *p, int64_t trajectory, const char *line, char *message, size_t size)
{
    char path[ATOMIC_PATH];
    param_text all = {0};
    int placed = 0;
    index_path(p, path);
    char *text = read_index(path, message, size);
    if (!text) return -1;
    param_text_add(&all, "%s", SAVE_INDEX_TITLE);
    for (const char *at = text, *next = at; *at; at = next) {
        const int64_t number = line_number(&next);
        if (number > trajectory && !placed++) param_text_add(&all, "%s", line);
        if (number >= 0 && number != trajectory) param_text_add(&all, "%.*s", (int)(next - at), at);
    }
    if (!placed) param_text_add(&all, "%s", line);
    const int bad = atomic_write(path, all.data, all.length, message, size);
    param_text_free(&all);
    free(text);
    return bad;
}

int save_index(const parameters *p, const field *links, int64_t trajectory, double plaquette, double acceptance,
               char *message, size_t size)
{
    char digest[65], name[ATOMIC_PATH], line[ATOMIC_PATH + 160];
    digest_of_file(p, links, digest);
    file_name(p, trajectory, name);
    snprintf(line, sizeof line, "%" PRId64 "\t%s\t%s\t%.15f\t%.4f\n", trajectory, name, digest, plaquette, acceptance);
    const int bad = comm_rank() == 0 ? write_index(p, trajectory, line, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}
