#include "hmc/measure/propagator_disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hmc/assemble/identity.h"
#include "hmc/input/pattern.h"
#include "hmc/quarks/quark.h"
#include "hmc/tell/text.h"
#include "io/files/atomic.h"
#include "io/files/file_time.h"
#include "io/history/output_file.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

static int fail(measure_result *r, const named_propagator *q, const char *message)
{
    snprintf(r->trouble, sizeof r->trouble, "[propagator.%s] file: %.400s", q->name, message);
    return MEASURE_FAILED;
}

/* ---- the file fits ---- */

static const char remedy[] = "remove it, name another file, or set file_mode = replace";

static int of_quark(const propagator_file *f, const parameters *p, const named_propagator *q)
{
    const int spins = quark_kind_of(&p->quarks[parameters_quark(p, q->p.quark)].p)->spins;
    const int bits = !f->links[0] || f->bits == parameters_file_bits(&q->p);
    return f->spins == spins && f->columns == 3 * spins && bits;
}

/* True if M acts on the section's columns as they stand. */
static int residual_tells(const parameters *p, const named_propagator *q)
{
    return !q->p.sink_smearing[0] && q->p.sink == SINK_SITE &&
           !quark_kind_of(&p->quarks[parameters_quark(p, q->p.quark)].p)->slices;
}

/* 0, or -1 with what the file is of. */
static int fits(const propagator_disk *d, const measure_context *c, const named_propagator *q, char *message,
                size_t size)
{
    const propagator_file *f = &d->found;
    const int *a = f->size, *b = c->links->lat->size;
    param_text differences = {0};
    int bad = 1;
    if (memcmp(a, b, sizeof f->size))
        snprintf(message, size, "%s is of a lattice of %d.%d.%d.%d sites, and the configuration has %d.%d.%d.%d; %s",
                 d->path, a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], remedy);
    else if (f->links[0] && strcmp(f->links, d->links))
        snprintf(message, size,
                 "%s is of another configuration (links %.12s..., and these are %.12s...); %s; a pattern, FILE-%%d.h5, "
                 "names those of a list",
                 d->path, f->links, d->links, remedy);
    else if (f->links[0] && identity_differ(f->identity, d->identity.data, &differences))
        snprintf(message, size, "%s is another propagator; %s:\n%s", d->path, remedy,
                 differences.data ? differences.data : "  other keys\n");
    else if (!of_quark(f, c->p, q))
        snprintf(message, size, "%s has %d columns of %d spins in %d bits, which are not those of [quark.%s]; %s",
                 d->path, f->columns, f->spins, f->bits, q->p.quark, remedy);
    else if (!f->links[0] && !residual_tells(c->p, q))
        snprintf(message, size,
                 "%s is of another program and does not say what it is of; its residual tells that of quarks in four "
                 "dimensions without sink_smearing or sink = wall alone",
                 d->path);
    else bad = 0;
    param_text_free(&differences);
    return bad ? -1 : 0;
}

/* ---- files ---- */

/* True if there is nothing of that name. */
static int is_absent(const char *path)
{
    int absent = comm_rank() == 0 && access(path, F_OK) != 0;
    comm_bcast(&absent, sizeof absent);
    return absent;
}

/* The file can be written later: its name is free or a propagator's, and there is room. */
static int can_write(const propagator_disk *d, const measure_context *c, const named_propagator *q, char *message,
                     size_t size)
{
    const double bytes = propagator_disk_bytes(c->p, q, c->links->lat->size);
    if (output_file_check(d->path, OUTPUT_PROPAGATOR, NULL, message, size)) return -1;
    const int bad = comm_rank() == 0 && atomic_can_write(d->path, (uint64_t)bytes, message, size);
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

int propagator_disk_open(propagator_disk *d, const measure_context *c, const named_propagator *q, const char *digest,
                         measure_result *r)
{
    char message[1024] = "";
    *d = (propagator_disk){.identity = identity_of_propagator(c->p, q->name)};
    snprintf(d->links, sizeof d->links, "%s", digest);
    if (pattern_file(d->path, sizeof d->path, q->p.file, c->trajectory, message, sizeof message))
        return fail(r, q, message);
    const int absent = is_absent(d->path);
    if (absent && q->p.file_mode == FILE_READ) {
        snprintf(message, sizeof message, "%s is not there, and file_mode = read solves for nothing", d->path);
        return fail(r, q, message);
    }
    if (absent || q->p.file_mode == FILE_REPLACE)
        return can_write(d, c, q, message, sizeof message) ? fail(r, q, message) : MEASURE_DONE;
    if (propagator_file_look(d->path, &d->found, message, sizeof message)) return fail(r, q, message);
    if (d->found.is_transformation) {
        snprintf(message, sizeof message, "%s is a gauge transformation, and not a propagator; %s", d->path, remedy);
        return fail(r, q, message);
    }
    d->there = 1;
    d->foreign = !d->found.links[0];
    return fits(d, c, q, message, sizeof message) ? fail(r, q, message) : MEASURE_DONE;
}

void propagator_disk_close(propagator_disk *d)
{
    propagator_file_free(&d->found);
    param_text_free(&d->identity);
}

field *propagator_disk_read(const propagator_disk *d, const measure_context *c, const named_propagator *q,
                            measure_result *r)
{
    char message[1024] = "";
    field *columns = field_create(c->links->lat, d->found.spins == 4 ? FIELD_SPINOR : FIELD_VECTOR, PREC_DOUBLE,
                                  PARITY_BOTH, d->found.columns, c->links->where);
    const double start = comm_wtime();
    const int bad = propagator_file_read(d->path, &d->found, c->links->lat, columns, message, sizeof message);
    file_time_add(start);
    if (!bad) {
        log_info("propagator.%s is read from %s", q->name, d->path);
        return columns;
    }
    fail(r, q, message);
    field_destroy(columns);
    return NULL;
}

int propagator_disk_judge(const propagator_disk *d, const named_propagator *q, double residual, measure_result *r)
{
    char message[512];
    if (residual <= q->p.file_residual) {
        log_info("propagator.%s: %s is of another program and has |b - M x| / |b| = %.2e with this quark and source",
                 q->name, d->path, residual);
        return MEASURE_DONE;
    }
    snprintf(
        message, sizeof message,
        "%.200s has |b - M x| / |b| = %.2e with this quark and source, above file_residual = %g: it is of other links, "
        "another quark or source, another basis of spins or normalisation",
        d->path, residual, q->p.file_residual);
    return fail(r, q, message);
}

int propagator_disk_write(const propagator_disk *d, const measure_context *c, const named_propagator *q,
                          const field *columns, int nsolves, const double (*solves)[PROPAGATOR_VALUES],
                          measure_result *r)
{
    char message[1024] = "", bytes[32];
    propagator_file f = {.bits = parameters_file_bits(&q->p),
                         .trajectory = c->trajectory,
                         .identity = d->identity.data,
                         .nsolves = nsolves};
    REQUIRE(nsolves <= PROPAGATOR_SOLVES, "%d solves behind a propagator", nsolves);
    memcpy(f.solves, solves, (size_t)nsolves * sizeof *solves);
    snprintf(f.links, sizeof f.links, "%s", d->links);
    const double start = comm_wtime();
    const int bad = propagator_file_write(d->path, columns, &f, identity_of_program(), message, sizeof message);
    file_time_add(start);
    if (bad) return fail(r, q, message);
    log_info("propagator.%s is in %s (%s)", q->name, d->path,
             text_bytes(propagator_disk_bytes(c->p, q, c->links->lat->size), bytes));
    return MEASURE_DONE;
}

double propagator_disk_bytes(const parameters *p, const named_propagator *q, const int size[4])
{
    const int spins = quark_kind_of(&p->quarks[parameters_quark(p, q->p.quark)].p)->spins;
    propagator_file f = {.columns = 3 * spins, .spins = spins, .bits = parameters_file_bits(&q->p)};
    memcpy(f.size, size, sizeof f.size);
    return q->p.file[0] ? (double)propagator_file_bytes(&f) : 0;
}

int64_t propagator_disk_interval(const parameters *p, const named_propagator *q)
{
    int64_t shortest = 0;
    const char *name;
    for (int i = 0; i < p->nmeasures; i++) {
        const measure_params *m = &p->measures[i].p;
        for (int k = 0; (name = measure_propagator(m, k)); k++)
            for (; name; name = parameters_made_of(p, name))
                if (!strcmp(name, q->name) && (shortest == 0 || m->interval < shortest)) shortest = m->interval;
    }
    return shortest;
}

void propagator_disk_need_patterns(const parameters *p)
{
    for (int i = 0; i < p->npropagators; i++) {
        const named_propagator *q = &p->propagators[i];
        if (q->p.file[0] && !strchr(q->p.file, '%'))
            user_error("%s: [propagator.%s] file = %s is the name of one file, and plaq run measures on many "
                       "configurations; a pattern, FILE-%%06d.h5, has the trajectory number in its place",
                       ini_where(p->input, "propagator", q->name, "file"), q->name, q->p.file);
    }
}
