#include "hmc/record/save.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hmc/assemble/identity.h"
#include "hmc/input/pattern.h"
#include "io/files/atomic.h"
#include "io/links/links.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

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
    const int bits = parameters_save_bits(&p->save),
              most = links_format_most_bits(links_format_writable(p->save.format));
    const uint64_t site = 24 * (uint64_t)p->save.rows * (uint64_t)(bits ? bits : most) / 8;
    return (uint64_t)size[0] * (uint64_t)size[1] * (uint64_t)size[2] * (uint64_t)size[3] * site + HEADER_BYTES;
}

static void name_pattern(const parameters *p, char pattern[PARAM_STRING_SIZE])
{
    char ending[16];
    links_format_ending(links_format_writable(p->save.format), ending);
    if (p->save.name[0]) snprintf(pattern, PARAM_STRING_SIZE, "%s", p->save.name);
    else snprintf(pattern, PARAM_STRING_SIZE, "configuration-%%06d%s", ending);
}

/* Name of a configuration's file from the output folder. */
static void file_name(const parameters *p, int64_t trajectory, char name[ATOMIC_PATH])
{
    char pattern[PARAM_STRING_SIZE];
    name_pattern(p, pattern);
    int n = snprintf(name, ATOMIC_PATH, SAVE_FOLDER "/");
    n += pattern_name(name + n, ATOMIC_PATH - (size_t)n, pattern, trajectory);
    REQUIRE(n < KEPT_NAME, "the name of a configuration is too long");
}

static void digest_of_file(const parameters *p, const field *links, char digest[65])
{
    field *rounded =
        links_rounded(links, links_format_writable(p->save.format), parameters_save_bits(&p->save), p->save.rows);
    links_digest(rounded ? rounded : links, digest);
    if (rounded) field_destroy(rounded);
}

/* Looks for the file: 1 when it holds these links, 0 when there is none, -1 with a message. */
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
    const int bad = links_write(links, path, links_format_writable(p->save.format), &meta, message, size);
    param_text_free(&ensemble);
    if (bad) return -1;
    snprintf(message, size, "%s", path);
    return 0;
}

/* ---- the index ---- */

/* Fills what the history knows of a configuration; before: the trajectory of the one before it in the index. */
static void complete_line(kept_configuration *c, const kept_index *k, record *history)
{
    int64_t before = 0;
    for (int i = 0; i < k->n && k->of[i].trajectory < c->trajectory; i++) before = k->of[i].trajectory;
    c->acceptance = record_acceptance(history, before, c->trajectory);
}

/* The index on all ranks, and with `unlisted` the files that it lacks. */
static int read_everywhere(kept_index *k, const char *folder, param_text *unlisted, char *message, size_t size)
{
    param_text gone = {0};
    *k = (kept_index){0};
    int bad = comm_rank() == 0 && (kept_read(k, folder, message, size) ||
                                   (unlisted && kept_compare(k, folder, unlisted, &gone, message, size)));
    param_text_free(&gone);
    if (comm_any_bad(bad, message, size)) return -1;
    kept_configuration *mine = k->of;
    size_t length = unlisted && comm_rank() == 0 ? unlisted->length : 0;
    comm_bcast(k, sizeof *k);
    k->of = mine;
    if (comm_rank() != 0) k->of = malloc((size_t)(k->n + 1) * sizeof *k->of);
    REQUIRE_MEMORY(k->of || k->n == 0, "out of memory: %d configurations", k->n);
    if (k->n) comm_bcast(k->of, (size_t)k->n * sizeof *k->of);
    comm_bcast(&length, sizeof length);
    if (length == 0) return 0;
    if (comm_rank() != 0) param_text_add(unlisted, "%*s", (int)length, "");
    comm_bcast(unlisted->data, length);
    return 0;
}

static int write_everywhere(const kept_index *k, const char *folder, char *message, size_t size)
{
    const int bad = comm_rank() == 0 ? kept_write(k, folder, message, size) : 0;
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

int save_index(const parameters *p, record *history, const field *links, int64_t trajectory, double plaquette,
               char *message, size_t size)
{
    kept_index k;
    char name[ATOMIC_PATH];
    if (read_everywhere(&k, p->run.output, NULL, message, size)) return -1;
    kept_configuration c = {.trajectory = trajectory, .plaquette = plaquette};
    file_name(p, trajectory, name);
    snprintf(c.file, sizeof c.file, "%.*s", KEPT_NAME - 1, name);
    digest_of_file(p, links, c.digest);
    complete_line(&c, &k, history);
    kept_put(&k, &c);
    const int bad = write_everywhere(&k, p->run.output, message, size);
    kept_free(&k);
    return bad;
}

/* ---- an index that lacks lines ---- */

/* The trajectory that a file says, or its name; -1 when neither does. */
static int64_t trajectory_of(const parameters *p, const char *file, const links_info *info)
{
    char pattern[PARAM_STRING_SIZE];
    name_pattern(p, pattern);
    return info->has_sequence ? info->sequence : pattern_number(file + strlen(SAVE_FOLDER "/"), pattern);
}

/* The line of a file, or -1 with a message. */
static int line_of_file(const parameters *p, record *history, field *u, kept_configuration *c, char *message,
                        size_t size)
{
    char path[2 * ATOMIC_PATH];
    links_info info;
    snprintf(path, sizeof path, "%s/%s", p->run.output, c->file);
    if (links_probe(path, &info, message, size)) return -1;
    c->trajectory = trajectory_of(p, c->file, &info);
    if (c->trajectory < 0) {
        snprintf(message, size, "%.700s: neither the file nor its name says a trajectory", path);
        return -1;
    }
    if (links_settle_size(&info, path, u->lat->size, "[lattice] size", message, size) ||
        links_read(u, path, &info, message, size))
        return -1;
    links_digest(u, c->digest);
    c->plaquette = record_plaquette(history, c->trajectory);
    if (isnan(c->plaquette)) c->plaquette = gauge_measure(u, 0).plaquette;
    return 0;
}

int save_restore_index(const parameters *p, record *history, const lattice *lat, char *message, size_t size)
{
    kept_index k;
    param_text unlisted = {0};
    char why[1024];
    int restored = 0, bad = 0;
    if (read_everywhere(&k, p->run.output, &unlisted, message, size)) return -1;
    if (unlisted.length) {
        log_info("%s/" SAVE_INDEX " lacks configurations that are there: they are read again", p->run.output);
        field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
        for (const char *at = unlisted.data; *at; at += strcspn(at, "\n") + 1) {
            kept_configuration c = {0};
            snprintf(c.file, sizeof c.file, "%.*s", (int)strcspn(at, "\n"), at);
            if (line_of_file(p, history, u, &c, why, sizeof why)) {
                log_warn("not in the index " SAVE_INDEX ": %s", why);
                continue;
            }
            kept_put(&k, &c);
            restored++;
        }
        field_destroy(u);
        for (int i = 0; i < k.n; i++)
            if (strstr(unlisted.data, k.of[i].file)) complete_line(&k.of[i], &k, history);
    }
    if (k.damaged > restored)
        log_warn("%s/" SAVE_INDEX ": %d damaged lines, of which %d have no good configuration in " SAVE_FOLDER
                 ": these "
                 "are dropped",
                 p->run.output, k.damaged, k.damaged - restored);
    if (restored || k.damaged || k.bad_title) {
        log_info("%s/" SAVE_INDEX ": %d lines were made again, %d in all", p->run.output, restored, k.n);
        bad = write_everywhere(&k, p->run.output, message, size);
    }
    param_text_free(&unlisted);
    kept_free(&k);
    return bad;
}
