#include "hmc/measure/propagator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/current_source.h"
#include "hmc/measure/propagator_disk.h"
#include "hmc/measure/wall_sink.h"
#include "hmc/quarks/quark.h"
#include "hmc/sources/smearing.h"
#include "hmc/sources/source.h"
#include "io/links/links.h"
#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

/* Results of the solves of a propagator. */
typedef struct {
    field *columns; /* columns without smearing of the sink; null: not solved, or freed */
    int failed;
    char trouble[sizeof((measure_result *)0)->trouble];
    double summary[SOLVES_VALUES];
} solved;

struct propagator_store {
    measure_context c;
    propagator_place at;
    low_store *low;       /* own low parts, where the place has none */
    solves_store *solves; /* own solves, where the place has none */
    int knows_due, due[MAX_NAMED];
    solved solved[MAX_NAMED];   /* number: the first section with the same solves */
    propagator made[MAX_NAMED]; /* number: the section; no columns: not made */
    field *own[MAX_NAMED];      /* columns of those that are smeared at the sink, or rounded by their file */
    char links[65];             /* digest of the links, once it is asked for */
};

/* ---- sections ---- */

static const char *solver_name(const propagator_store *s, const propagator_params *q)
{
    return s->at.rough && q->rough_solver[0] ? q->rough_solver : parameters_propagator_solver(s->c.p, q);
}

static solves_key key_of(const propagator_params *q, const char *solver)
{
    return (solves_key){q->quark, solver, q->error_estimate == PARAM_YES};
}

static int same_solver(const propagator_store *s, const propagator_params *a, const propagator_params *b)
{
    const solves_key one = key_of(a, solver_name(s, a)), other = key_of(b, solver_name(s, b));
    return solves_same_key(&one, &other);
}

/* The first section with the same solves. */
static int solves_of(const propagator_store *s, int i)
{
    const parameters *p = s->c.p;
    const propagator_params *q = &p->propagators[i].p;
    int k = 0;
    while (!same_solver(s, &p->propagators[k].p, q) || strcmp(p->propagators[k].p.source, q->source)) k++;
    return k;
}

static int section_of(const parameters *p, const char *name)
{
    return (int)(parameters_propagator(p, name) - p->propagators);
}

/* True if a measurement that is due names the section, or one made of it. */
static int needed(const parameters *p, const int *due, int section)
{
    const char *name;
    for (int i = 0; due && i < p->nmeasures; i++)
        for (int k = 0; due[i] && (name = measure_propagator(&p->measures[i].p, k)); k++)
            for (; name; name = parameters_made_of(p, name))
                if (section_of(p, name) == section) return 1;
    return 0;
}

/* ---- the store ---- */

propagator_store *propagator_store_open(const measure_context *c, const int *due, const propagator_place *place)
{
    propagator_store *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->c = *c;
    s->c.propagators = NULL;
    if (place) s->at = *place;
    s->knows_due = due != NULL;
    if (!s->at.low) s->low = low_store_open();
    if (!s->at.solves) s->at.solves = s->solves = solves_store_open(&s->c);
    if (due) memcpy(s->due, due, (size_t)c->p->nmeasures * sizeof *due);
    return s;
}

static void forget_section(propagator_store *s, int section)
{
    field_destroy(s->own[section]);
    s->own[section] = NULL;
    s->made[section].columns = NULL;
}

static void forget_solved(propagator_store *s, int number)
{
    field_destroy(s->solved[number].columns);
    s->solved[number].columns = NULL;
}

void propagator_store_close(propagator_store *s)
{
    for (int i = 0; i < MAX_NAMED; i++) {
        forget_section(s, i);
        forget_solved(s, i);
    }
    if (s->low) low_store_close(s->low);
    if (s->solves) solves_store_close(s->solves);
    free(s);
}

/* True if columns are still to be solved for by these solves, here or at a further place. */
static int solves_wanted(void *context, const solves_key *key)
{
    const propagator_store *s = context;
    const parameters *p = s->c.p;
    for (int i = 0; i < p->npropagators; i++) {
        const propagator_params *q = &p->propagators[i].p;
        const solved *of = &s->solved[solves_of(s, i)];
        const solves_key here = key_of(q, solver_name(s, q)), rough = key_of(q, q->rough_solver),
                         exact = key_of(q, parameters_propagator_solver(p, q));
        if (needed(p, s->due, i) && !of->columns && !of->failed && solves_same_key(&here, key)) return 1;
        if (needed(p, s->at.later, i) && (solves_same_key(&rough, key) || solves_same_key(&exact, key))) return 1;
    }
    return 0;
}

void propagator_store_done(propagator_store *s, const named_measure *m)
{
    const parameters *p = s->c.p;
    int keep[MAX_NAMED] = {0};
    if (!s->knows_due) return;
    s->due[m - p->measures] = 0;
    for (int i = 0; i < p->npropagators; i++) {
        if (needed(p, s->due, i)) keep[solves_of(s, i)] = 1;
        else forget_section(s, i);
    }
    for (int i = 0; i < p->npropagators; i++)
        if (!keep[i]) forget_solved(s, i);
    solves_store_keep(s->at.solves, solves_wanted, s);
}

/* ---- smearing ---- */

void propagator_smear(const measure_context *c, field *columns, const char *name)
{
    const named_smearing *s = parameters_smearing(c->p, name);
    if (!s) return;
    link_map *map = measure_map(c, s->p.links);
    gaussian g;
    gaussian_open(&g, map ? link_map_links(map) : c->links, s->p.width, s->p.steps);
    gaussian_smear(&g, columns);
    gaussian_close(&g);
    link_map_destroy(map);
}

static field *columns_like(const field *one, int n)
{
    return field_create(one->lat, one->kind, PREC_DOUBLE, PARITY_BOTH, n, one->where);
}

static void put_column(field *columns, int k, const field *x)
{
    field part = field_rhs(columns, k);
    vector_axpby(&part, 1, x, 0);
    field_written(columns);
}

/* ---- sources ---- */

/* The source, moved by `shift` unless that is null. The place that it names lies inside the lattice, or that is a user error. */
static source_params moved(const measure_context *c, const named_source *s, const int shift[4], int place[4])
{
    source_params m = s->p;
    const int *size = c->links->lat->size;
    const char *key = source_outside(&s->p, size, place);
    if (key)
        user_error("%s: [source.%s] lies at %d.%d.%d.%d, outside the lattice of extents %d.%d.%d.%d",
                   ini_where(c->p->input, "source", s->name, key), s->name, place[0], place[1], place[2], place[3],
                   size[0], size[1], size[2], size[3]);
    char message[1024];
    if (parameters_source_at_end(c->p, s, size[3], message, sizeof message)) user_error("%s", message);
    if (shift) source_move(&m, shift, size);
    source_place(&m, place);
    return m;
}

field *propagator_sources(const measure_context *c, const char *name, const int shift[4], const field *like, int n,
                          int place[4])
{
    const named_source *s = parameters_source(c->p, name);
    const uint64_t seed = source_kind_of(&s->p)->noise ? measure_noise_seed(c) : 0;
    const source_params at = moved(c, s, shift, place);
    field *all = columns_like(like, n), *one = columns_like(like, 1);
    for (int k = 0; k < n; k++) {
        source_fill(one, &at, k, seed);
        put_column(all, k, one);
    }
    field_destroy(one);
    propagator_smear(c, all, s->p.smearing);
    return all;
}

/* Columns of a sequential source on a time slice of this rank. */
static void sequential_slice(field *y, const propagator *from, const source_params *s, int t)
{
    const source_kind *kind = source_kind_of(s);
    const sequential_keys *k = source_sequential(s);
    const lattice *lat = y->lat;
    const int *l = lat->local, *o = lat->origin;
    const double sign = kind->baryon && k->time < from->place[3] ? lat->time_sign : 1;
    double *in = field_slice_buffer(y), *out = field_slice_buffer(y);
    field_export(from->columns, t, in);
#pragma omp parallel for schedule(static)
    for (long site = 0; site < (long)l[0] * l[1] * l[2]; site++) {
        const int at[3] = {(int)(site % l[0]) + o[0] - from->place[0],
                           (int)(site / l[0] % l[1]) + o[1] - from->place[1],
                           (int)(site / l[0] / l[1]) + o[2] - from->place[2]};
        kind->sequential((double complex(*)[12])(void *)(out + 288 * site),
                         (const double complex(*)[12])(void *)(in + 288 * site), s,
                         sign * source_wave(k->momentum, at, lat->size));
    }
    field_import(y, t, out);
    free(out);
    free(in);
}

/* Columns of a sequential source: on the time slice of the sink, zero elsewhere, or on all of them. */
static field *sequential_sources(const propagator *from, const source_params *s)
{
    field *y = field_like(from->columns);
    const int all = source_kind_of(s)->all_times, at = source_sequential(s)->time - y->lat->origin[3],
              slices = field_slices(y);
    for (int t = 0; t < slices; t++)
        if (all || t == at) sequential_slice(y, from, s, t);
    return y;
}

/* ---- solves ---- */

typedef struct {
    const field *sources;
    field *source, *columns; /* source: of one column */
    int first;               /* column of the batch */
} job;

static const field *source_of(void *context, int k)
{
    job *j = context;
    const field part = field_rhs(j->sources, j->first + k);
    vector_axpby(j->source, 1, &part, 0);
    return j->source;
}

static void keep(void *context, int k, const field *x)
{
    job *j = context;
    put_column(j->columns, j->first + k, x);
}

static int solve_columns(quark_solves *q, job *j, const char *name, measure_result *r)
{
    const int n = j->columns->nrhs;
    field *x = field_like(j->source);
    const solves_batch_of of = {source_of, keep, j, x};
    int status = MEASURE_DONE;
    for (int batch; j->first < n && status == MEASURE_DONE; j->first += batch) {
        char what[64 + PARAM_STRING_SIZE];
        batch = n - j->first < solves_most(q) ? n - j->first : solves_most(q);
        if (batch == 1) snprintf(what, sizeof what, "column %d of %s", j->first, name);
        else snprintf(what, sizeof what, "columns %d to %d of %s", j->first, j->first + batch - 1, name);
        status = solves_batch(q, batch, &of, what, r);
        if (x->lat->planned) j->first = n; /* columns after the first batch take no more memory */
    }
    field_destroy(x);
    return status;
}

static quark_solves *solves_for(propagator_store *s, int section)
{
    const propagator_params *q = &s->c.p->propagators[section].p;
    const solves_key key = key_of(q, solver_name(s, q));
    return solves_store_get(s->at.solves, &key);
}

static int get(propagator_store *s, int section, const propagator **p, measure_result *r);

/* Sources of the section, of n components; its place is set. */
static int make_sources(propagator_store *s, int section, const field *like, int n, field **sources, int place[4],
                        measure_result *r)
{
    const named_propagator *q = &s->c.p->propagators[section];
    const sequential_keys *k = source_sequential(&parameters_source(s->c.p, q->p.source)->p);
    const propagator *from;
    *sources = NULL;
    if (!k) *sources = propagator_sources(&s->c, q->p.source, s->at.shift, like, n, place);
    if (!k) return MEASURE_DONE;
    const source_params sink = moved(&s->c, parameters_source(s->c.p, q->p.source), s->at.shift, place);
    const int status = get(s, section_of(s->c.p, k->propagator), &from, r);
    if (status != MEASURE_DONE) return status;
    *sources = source_current(&sink) >= 0 ? current_sources(&s->c, from, &sink) : sequential_sources(from, &sink);
    propagator_smear(&s->c, *sources, sink.smearing);
    return MEASURE_DONE;
}

/* Columns of the section, without the smearing of its sink. */
static int solve(propagator_store *s, int section, measure_result *r)
{
    const named_propagator *q = &s->c.p->propagators[section];
    solved *to = &s->solved[solves_of(s, section)];
    int place[4];
    if (to->failed) snprintf(r->trouble, sizeof r->trouble, "%s", to->trouble);
    if (to->failed) return MEASURE_FAILED;
    if (to->columns) return MEASURE_DONE;
    quark_solves *by = solves_for(s, section);
    field *source = fermion_physical(by->quark), *sources;
    const int n = source->reals / 2, made = make_sources(s, section, source, n, &sources, place, r);
    if (made != MEASURE_DONE) {
        field_destroy(source);
        return made;
    }
    job j = {.sources = sources, .source = source, .columns = columns_like(source, n)};
    solves_count_anew(by);
    const int status = solve_columns(by, &j, q->name, r);
    solves_summary(by, to->summary);
    field_destroy(sources);
    field_destroy(source);
    to->columns = j.columns;
    if (status != MEASURE_DONE) forget_solved(s, solves_of(s, section));
    to->failed = status == MEASURE_FAILED;
    if (to->failed) snprintf(to->trouble, sizeof to->trouble, "%s", r->trouble);
    return status;
}

/* The origin of times and momenta. */
static void origin_of(const propagator_store *s, int section, int place[4])
{
    const parameters *p = s->c.p;
    const named_source *of = parameters_source(p, p->propagators[section].p.source);
    moved(&s->c, parameters_first_source(p, of), s->at.shift, place);
}

/* ---- files ---- */

/* The propagators that the section is made of, itself first, by the numbers of their solves. */
static int solves_behind(const propagator_store *s, int section, int numbers[PROPAGATOR_SOLVES])
{
    const parameters *p = s->c.p;
    int n = 0;
    for (const char *name = p->propagators[section].name; name; name = parameters_made_of(p, name)) {
        REQUIRE(n < PROPAGATOR_SOLVES, "more than %d propagators behind %s", PROPAGATOR_SOLVES, name);
        numbers[n++] = solves_of(s, section_of(p, name));
    }
    return n;
}

/* Sinks other than the sites themselves. */
static int is_wall(const named_propagator *q)
{
    return q->p.sink == SINK_WALL;
}

static int has_sink(const named_propagator *q)
{
    return q->p.sink_smearing[0] || is_wall(q);
}

static int is_rounded(const named_propagator *q)
{
    return q->p.file[0] && parameters_file_bits(&q->p) != 64;
}

/* Values of solves that a file has, for those that are not made here. */
static void take_solves(propagator_store *s, int section, const propagator_file *f)
{
    int numbers[PROPAGATOR_SOLVES];
    const int n = solves_behind(s, section, numbers);
    for (int i = 0; i < n && i < f->nsolves; i++)
        if (!s->solved[numbers[i]].columns) memcpy(s->solved[numbers[i]].summary, f->solves[i], sizeof f->solves[i]);
}

static int write_file(propagator_store *s, int section, const propagator_disk *d, measure_result *r)
{
    int numbers[PROPAGATOR_SOLVES];
    double values[PROPAGATOR_SOLVES][PROPAGATOR_VALUES];
    const int n = solves_behind(s, section, numbers);
    _Static_assert((int)SOLVES_VALUES == (int)PROPAGATOR_VALUES, "a file has all values of a solve");
    for (int i = 0; i < n; i++) memcpy(values[i], s->solved[numbers[i]].summary, sizeof values[i]);
    return propagator_disk_write(d, &s->c, &s->c.p->propagators[section], s->made[section].columns, n,
                                 (const double(*)[PROPAGATOR_VALUES])values, r);
}

/* Columns of a file of another program against the sources of the section; the residual becomes that of its solves. */
static int verify_foreign(propagator_store *s, int section, const propagator_disk *d, const field *columns,
                          measure_result *r)
{
    double *summary = s->solved[solves_of(s, section)].summary, worst = 0;
    quark_solves *by = solves_for(s, section);
    field *source = fermion_physical(by->quark), *sources, *x = field_like(source);
    int place[4], status = make_sources(s, section, source, columns->nrhs, &sources, place, r);
    for (int k = 0; k < columns->nrhs && status == MEASURE_DONE; k++) {
        const field of = field_rhs(columns, k), from = field_rhs(sources, k);
        vector_axpby(x, 1, &of, 0);
        vector_axpby(source, 1, &from, 0);
        const double residual = solves_residual(by, x, source);
        if (!(residual <= worst)) worst = residual;
    }
    field_destroy(x);
    field_destroy(sources);
    field_destroy(source);
    summary[SOLVES_RESIDUAL] = worst;
    summary[SOLVES_ITERATIONS] = 0;
    summary[SOLVES_ERROR] = summary[SOLVES_ERROR_RATIO] = NAN;
    return status == MEASURE_DONE ? propagator_disk_judge(d, &s->c.p->propagators[section], worst, r) : status;
}

/* The columns of a file that is there become those of the section, or where they are all of its solves, those of these. */
static int read_file(propagator_store *s, int section, const propagator_disk *d, measure_result *r)
{
    const named_propagator *q = &s->c.p->propagators[section];
    solved *of = &s->solved[solves_of(s, section)];
    const int shared = !has_sink(q) && (d->foreign || !is_rounded(q));
    if (!shared || !of->columns) {
        field *columns = propagator_disk_read(d, &s->c, q, r);
        int status = columns ? MEASURE_DONE : MEASURE_FAILED;
        if (columns && d->foreign) status = verify_foreign(s, section, d, columns, r);
        if (status != MEASURE_DONE) {
            field_destroy(columns);
            return status;
        }
        take_solves(s, section, &d->found);
        if (shared) of->columns = columns;
        else s->own[section] = columns;
    }
    s->made[section].columns = shared ? of->columns : s->own[section];
    return MEASURE_DONE;
}

/* ---- propagators ---- */

/* The section's propagator by a solve: smeared at the sink, and rounded as its file is to have it. */
static int make(propagator_store *s, int section, measure_result *r)
{
    const named_propagator *q = &s->c.p->propagators[section];
    propagator *made = &s->made[section];
    const int status = solve(s, section, r);
    if (status != MEASURE_DONE) return status;
    const solved *from = &s->solved[solves_of(s, section)];
    made->columns = from->columns;
    if (!has_sink(q) && !is_rounded(q)) return MEASURE_DONE;
    field *own = s->own[section] = field_like(from->columns);
    vector_axpby(own, 1, from->columns, 0);
    propagator_smear(&s->c, own, q->p.sink_smearing);
    if (is_wall(q) && !own->lat->planned) wall_sink(own, made->place);
    if (is_rounded(q)) propagator_round(own);
    made->columns = own;
    return MEASURE_DONE;
}

/* The section's propagator, from its file where that is there, else made and put there. */
static int make_or_read(propagator_store *s, int section, measure_result *r)
{
    propagator_disk d;
    if (!s->links[0]) links_digest(s->c.links, s->links);
    int status = propagator_disk_open(&d, &s->c, &s->c.p->propagators[section], s->links, r);
    if (status == MEASURE_DONE && d.there) status = read_file(s, section, &d, r);
    else if (status == MEASURE_DONE) {
        status = make(s, section, r);
        if (status == MEASURE_DONE) status = write_file(s, section, &d, r);
    }
    propagator_disk_close(&d);
    if (status != MEASURE_DONE) forget_section(s, section);
    return status;
}

/* The section's propagator, from the store or new. */
static int get(propagator_store *s, int section, const propagator **p, measure_result *r)
{
    propagator *made = &s->made[section];
    *p = made;
    if (made->columns) return MEASURE_DONE;
    made->of = &s->c.p->propagators[section];
    origin_of(s, section, made->place);
    const int has_file = made->of->p.file[0] && !s->c.links->lat->planned;
    return has_file ? make_or_read(s, section, r) : make(s, section, r);
}

/* ---- for low parts ---- */

low_store *propagator_low_store(propagator_store *s)
{
    return s->at.low ? s->at.low : s->low;
}

quark_solves *propagator_solves(propagator_store *s, const named_propagator *q)
{
    REQUIRE(!s->at.rough, "low parts of %s by a rough solver", q->name);
    return solves_for(s, (int)(q - s->c.p->propagators));
}

field *propagator_own_sources(const measure_context *c, const propagator *q, const field *like)
{
    int place[4];
    return propagator_sources(c, q->of->p.source, c->propagators->at.shift, like, like->nrhs, place);
}

/* Summary of all solves of the propagators of a measurement and of those that they are made of, each once. */
static void summarise(const propagator_store *s, const measure_params *m, measure_result *r)
{
    int counted[MAX_NAMED] = {0};
    const char *name;
    solves_none(r->summary);
    for (int i = 0; (name = measure_propagator(m, i)); i++)
        for (; name; name = parameters_made_of(s->c.p, name)) {
            const int section = section_of(s->c.p, name), number = solves_of(s, section);
            const int estimates = s->c.p->propagators[section].p.error_estimate == PARAM_YES;
            if (!counted[number]++) solves_merge(r->summary, s->solved[number].summary, estimates);
        }
}

int propagators_of(const measure_context *c, const measure_params *m, const propagator *p[MEASURE_PROPAGATORS],
                   measure_result *r)
{
    int section[MEASURE_PROPAGATORS] = {0};
    for (int i = 0; i < MEASURE_PROPAGATORS; i++) {
        const char *name = measure_propagator(m, i);
        section[i] = name ? section_of(c->p, name) : section[0];
        const int status = get(c->propagators, section[i], &p[i], r);
        if (status != MEASURE_DONE) return status;
    }
    summarise(c->propagators, m, r);
    return MEASURE_DONE;
}
