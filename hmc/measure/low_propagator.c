#include "hmc/measure/low_propagator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/low_modes.h"
#include "hmc/quarks/quark.h"
#include "hmc/sources/source.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"
#include "solvers/block_matrix.h"

/* The low part of the quark and solver of a propagator, from the store or new. */
static low_part *part_of(low_store *s, const measure_context *c, const propagator *q)
{
    const propagator_params *of = &q->of->p;
    const char *solver = parameters_propagator_solver(c->p, of);
    for (int i = 0; i < s->nparts; i++)
        if (!strcmp(s->parts[i].quark, of->quark) && !strcmp(s->parts[i].solver, solver)) return &s->parts[i];
    quark_solves *by = propagator_solves(c->propagators, q->of);
    low_modes *modes = solves_low_modes(by);
    s->parts[s->nparts] = (low_part){of->quark, solver, modes, solves_low_part(by, modes)};
    return &s->parts[s->nparts++];
}

/* ---- smeared vectors ---- */

/* Blocks of a low part, smeared, or borrowed where there is no smearing. */
typedef struct {
    int n, owned;
    const field **blocks;
} vectors;

static vectors smeared(const measure_context *c, const low_part *l, int solutions, const char *smearing)
{
    vectors v = {low_modes_blocks(l->modes), smearing[0] != 0, NULL};
    v.blocks = calloc((size_t)v.n, sizeof *v.blocks);
    REQUIRE_MEMORY(v.blocks, "out of memory");
    for (int i = 0; i < v.n; i++) {
        const field *from = v.blocks[i] = solutions ? l->solutions[i] : low_modes_block(l->modes, i);
        if (!v.owned) continue;
        field *own = field_like(from);
        vector_axpby(own, 1, from, 0);
        propagator_smear(c, own, smearing);
        v.blocks[i] = own;
    }
    return v;
}

static void vectors_close(vectors *v)
{
    for (int i = 0; i < v->n && v->owned; i++) field_destroy((field *)v->blocks[i]);
    free(v->blocks);
}

/* Low part of a propagator: a_l and f_l with the smearing of both ends. */
typedef struct {
    const propagator *q;
    low_part *part;
    vectors sink, source;
} low_line;

static const char *source_smearing(const measure_context *c, const propagator *q)
{
    return parameters_source(c->p, q->of->p.source)->p.smearing;
}

/* Columns S_L eta of the propagator's sources eta. */
static field *columns_of(const low_line *l, const measure_context *c)
{
    field *out = field_like(l->q->columns), *sources = propagator_own_sources(c, l->q, out);
    for (int i = 0; i < l->sink.n; i++) {
        block_matrix *a = block_dot(low_modes_block(l->part->modes, i), sources, 0);
        block_axpy(out, 1, a, l->sink.blocks[i], 1, out);
        block_free(a);
    }
    field_destroy(sources);
    return out;
}

/* ---- the average ---- */

/* Meson fields of all pairs of columns of two blocks, [time][wave][pair of columns][4 a + a'] = sum_x exp(-i p.x) conj(x_a) y_a' over
 * colours, for a batch of waves. */
typedef struct {
    double complex *sink, *source;
    exact_sum *exact;
    long n; /* numbers of each */
} meson_fields;

/* Exact sums of a batch, at most: 32 MiB. More waves take more batches. */
#define SUMS_AT_ONCE (1L << 20)

static int waves_at_once(const momenta *p, int slices, int pairs)
{
    const long most = SUMS_AT_ONCE / (2L * slices * pairs * SPIN_PAIRS);
    return most < 1 ? 1 : most < p->n ? (int)most : p->n;
}

static meson_fields meson_fields_open(int slices, int waves, int pairs)
{
    meson_fields f = {.n = (long)slices * waves * pairs * SPIN_PAIRS};
    f.sink = malloc(2 * (size_t)f.n * sizeof *f.sink);
    f.exact = malloc(2 * (size_t)f.n * sizeof *f.exact);
    REQUIRE_MEMORY(f.sink && f.exact, "out of memory for %ld sums", f.n);
    f.source = f.sink + f.n;
    return f;
}

static void meson_fields_close(meson_fields *f)
{
    free(f->exact);
    free(f->sink);
}

static void make_fields(const meson_fields *f, double complex *to, const field *x, const field *y,
                        const slice_waves *waves)
{
    exact_sum *s = f->exact;
#pragma omp parallel for schedule(static)
    for (long k = 0; k < 2 * f->n; k++) s[k] = exact_zero();
    contract_column_slices(s, x, y, waves);
    comm_group_sum_exact(x->lat->group, s, (int)(2 * f->n));
#pragma omp parallel for schedule(static)
    for (long k = 0; k < f->n; k++) to[k] = exact_value(&s[2 * k]) + I * exact_value(&s[2 * k + 1]);
}

/* Products of 4 numbers at the source with 16 at the sink. */
enum { SOURCE_TILE = 4 };

/* sums[b][a] += sum over n pairs of columns of a number `a` of sink[pair][SPIN_PAIRS] times the conjugate of number first + b of
 * source[pair][SPIN_PAIRS], for SOURCE_TILE b. */
static void add_products(double re[SOURCE_TILE][SPIN_PAIRS], double im[SOURCE_TILE][SPIN_PAIRS],
                         const double complex *sink, const double complex *source, int first, int n)
{
    for (int pair = 0; pair < n; pair++, sink += SPIN_PAIRS, source += SPIN_PAIRS) {
        const double *s = (const double *)sink, *r = (const double *)(source + first);
        for (int b = 0; b < SOURCE_TILE; b++)
            for (int a = 0; a < SPIN_PAIRS; a++) {
                re[b][a] = fma(s[2 * a], r[2 * b], fma(s[2 * a + 1], r[2 * b + 1], re[b][a]));
                im[b][a] = fma(s[2 * a + 1], r[2 * b], fma(-s[2 * a], r[2 * b + 1], im[b][a]));
            }
    }
}

/* Two lines whose low parts are paired, and the times [first, last) of the source. */
typedef struct {
    const momenta *p;
    const low_line *line;
    int slices, first, last, same; /* Pairs (i, j) and (j, i) of one line are mirror images. */
    double complex *sums;          /* [b, b'][t][p][a, a'] */
} average;

/* sums[b, b'][t][p][a, a'] += weight sum_(t_0) sum_(pairs) sink[t + t_0][p][a, a'] conj(source[t_0][p][b, b']) of a batch. */
static void add_fields(const average *s, const meson_fields *f, int first_wave, int waves, int pairs, double weight)
{
    const int T = s->slices, parts = SPIN_PAIRS / SOURCE_TILE;
    const long of_wave = (long)pairs * SPIN_PAIRS;
#pragma omp parallel for schedule(static)
    for (long unit = 0; unit < (long)T * waves * parts; unit++) {
        const int first = (int)(unit % parts) * SOURCE_TILE, i = (int)(unit / parts % waves),
                  t = (int)(unit / parts / waves);
        double re[SOURCE_TILE][SPIN_PAIRS] = {{0}}, im[SOURCE_TILE][SPIN_PAIRS] = {{0}};
        for (int t0 = s->first; t0 < s->last; t0++)
            add_products(re, im, f->sink + ((long)((t + t0) % T) * waves + i) * of_wave,
                         f->source + ((long)t0 * waves + i) * of_wave, first, pairs);
        for (int b = 0; b < SOURCE_TILE; b++) {
            double complex *to = s->sums + (((long)(first + b) * T + t) * s->p->n + first_wave + i) * SPIN_PAIRS;
            for (int a = 0; a < SPIN_PAIRS; a++) to[a] += weight * (re[b][a] + I * im[b][a]);
        }
    }
}

/* The pairs of columns of block i of the first line and block j of the second. */
static void add_blocks(const average *s, const slice_waves *waves, int i, int j, double weight)
{
    const field *const sink[2] = {s->line[0].sink.blocks[i], s->line[1].sink.blocks[j]},
                       *const source[2] = {s->line[0].source.blocks[i], s->line[1].source.blocks[j]};
    const int pairs = sink[0]->nrhs * sink[1]->nrhs, most = waves_at_once(s->p, s->slices, pairs);
    meson_fields f = meson_fields_open(s->slices, most, pairs);
    for (int first = 0; first < waves->n; first += most) {
        slice_waves some = *waves;
        some.n = waves->n - first < most ? waves->n - first : most;
        some.number += first;
        f.n = (long)s->slices * some.n * pairs * SPIN_PAIRS;
        make_fields(&f, f.sink, sink[0], sink[1], &some);
        make_fields(&f, f.source, source[0], source[1], &some);
        add_fields(s, &f, first, some.n, pairs, weight);
    }
    meson_fields_close(&f);
}

static int swapped(int pair)
{
    return GAMMA_SPINS * (pair % GAMMA_SPINS) + pair / GAMMA_SPINS;
}

/* Adds the mirror images of all pairs: with columns, spins and the sign of p exchanged a meson field is its conjugate. */
static void add_mirror_images(const average *s)
{
    const int n = s->p->n;
    const long of_pair = (long)s->slices * n * SPIN_PAIRS, all = SPIN_PAIRS * of_pair;
    double complex *from = malloc((size_t)all * sizeof *from);
    REQUIRE_MEMORY(from, "out of memory for %ld sums", all);
    memcpy(from, s->sums, (size_t)all * sizeof *from);
    for (long k = 0; k < all; k++) {
        const int a = (int)(k % SPIN_PAIRS), i = (int)(k / SPIN_PAIRS % n), t = (int)(k / SPIN_PAIRS / n % s->slices);
        const long at = ((long)t * n + momenta_opposite(s->p, i)) * SPIN_PAIRS + swapped(a);
        s->sums[k] += conj(from[swapped((int)(k / of_pair)) * of_pair + at]);
    }
    free(from);
}

/* Sums over the pairs of columns of the two lines. Of one line, blocks i < j stand for j > i, too. */
static int sum_pairs(const average *s, const slice_waves *waves, const measure_context *c)
{
    const int *L = c->links->lat->size, planned = c->links->lat->planned;
    const double weight = 1.0 / ((double)(s->last - s->first) * L[0] * L[1] * L[2]);
    for (int i = 0; i < s->line[0].sink.n; i++) {
        for (int j = s->same ? i : 0; j < s->line[1].sink.n; j++) {
            add_blocks(s, waves, i, j, s->same && i == j ? 0.5 * weight : weight);
            if (planned) return MEASURE_DONE; /* further blocks take no more memory */
            if (measure_interrupted(c)) return MEASURE_GIVEN_UP;
        }
    }
    if (s->same) add_mirror_images(s);
    return MEASURE_DONE;
}

static int make_average(low_sums *a, const momenta *p, const measure_context *c, const low_line line[2], int same)
{
    static const int origin[3];
    const lattice *lat = c->links->lat;
    const int T = lat->size[3], periodic = lat->time == TIME_PERIODIC;
    const size_t n = (size_t)SPIN_PAIRS * SPIN_PAIRS * (size_t)(T * p->n);
    average s = {.p = p,
                 .line = line,
                 .slices = T,
                 .first = periodic ? 0 : a->start,
                 .last = periodic ? T : a->start + 1,
                 .same = same};
    s.sums = a->sums = calloc(n, sizeof *a->sums);
    REQUIRE_MEMORY(a->sums, "out of memory for %zu sums", n);
    slice_waves waves = momenta_waves(p, origin);
    const int status = sum_pairs(&s, &waves, c);
    momenta_waves_free(&waves);
    return status;
}

/* The average of the measurement, from the store or new. */
static int average_of(const double complex **sums, low_store *s, const momenta *p, const measure_context *c,
                      const measure_params *m, const low_line line[2], int same)
{
    low_sums a = {.of = m, .start = c->links->lat->time == TIME_PERIODIC ? 0 : line[0].q->place[3]};
    for (int i = 0; i < s->naverages; i++)
        if (s->averages[i].of == a.of && s->averages[i].start == a.start) {
            *sums = s->averages[i].sums;
            return MEASURE_DONE;
        }
    const int status = make_average(&a, p, c, line, same);
    if (status != MEASURE_DONE) {
        free(a.sums);
        return status;
    }
    s->averages = realloc(s->averages, (size_t)(s->naverages + 1) * sizeof *s->averages);
    REQUIRE_MEMORY(s->averages, "out of memory");
    s->averages[s->naverages++] = a;
    *sums = a.sums;
    return status;
}

/* The low part at the source of the propagators leaves the sums. */
static void subtract(contraction *to, const measure_context *c, const low_line line[2], int lines)
{
    contraction low;
    field *columns[2] = {columns_of(&line[0], c), lines > 1 ? columns_of(&line[1], c) : NULL};
    contraction_open(&low, to->p, columns[0], columns[lines - 1], line[0].q->place);
    contraction_add(to, -1, low.sums, low.start);
    contraction_close(&low);
    for (int i = 0; i < 2; i++) field_destroy(columns[i]);
}

int low_average(contraction *to, const measure_context *c, const measure_params *m, const propagator *const pair[2])
{
    low_store *s = propagator_low_store(c->propagators);
    const int lines = pair[0] == pair[1] ? 1 : 2;
    low_line line[2] = {{.q = pair[0]}, {.q = pair[1]}};
    const double complex *sums;
    for (int i = 0; i < lines; i++) {
        low_line *l = &line[i];
        l->part = part_of(s, c, l->q);
        l->sink = smeared(c, l->part, 1, l->q->of->p.sink_smearing);
        l->source = smeared(c, l->part, 0, source_smearing(c, l->q));
    }
    if (lines == 1) line[1] = line[0];
    const int status = average_of(&sums, s, to->p, c, m, line, lines == 1);
    if (status == MEASURE_DONE) {
        subtract(to, c, line, lines);
        contraction_add(to, 1, sums, 0);
    }
    for (int i = 0; i < lines; i++) {
        vectors_close(&line[i].sink);
        vectors_close(&line[i].source);
    }
    return status;
}

/* ---- keys ---- */

const char *low_average_refused(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const char *name;
    for (int i = 0; (name = measure_propagator(&m->p, i)); i++) {
        const propagator_params *q = &parameters_propagator(p, name)->p;
        const named_quark *f = &p->quarks[parameters_quark(p, q->quark)];
        const named_source *s = parameters_source(p, q->source);
        const named_settings *solver = parameters_attempt(p, parameters_propagator_solver(p, q), 0);
        if (s->p.kind != param_kind(source_section(0), "point"))
            snprintf(message, size,
                     "low_modes = yes of [measure.%s] averages over the positions of a point, and [source.%s] of "
                     "[propagator.%s] is of kind = %s",
                     m->name, s->name, name, source_kind_of(&s->p)->name);
        else if (q->sink != SINK_SITE)
            snprintf(message, size,
                     "low_modes = yes of [measure.%s] needs sink = site, and [propagator.%s] has sink = %s", m->name,
                     name, parameters_sink(q));
        else if (quark_kind_of(&f->p)->twisted_mass)
            snprintf(
                message, size,
                "low_modes = yes of [measure.%s] takes low modes on the left from those on the right by M^dagger = "
                "gamma_5 M gamma_5, which kind = %s of [quark.%s] does not have",
                m->name, quark_kind_of(&f->p)->name, f->name);
        else if (!solver || !solver->p.eigenvectors_file[0])
            snprintf(message, size,
                     "low_modes = yes of [measure.%s] needs the key eigenvectors in the section of the solver of "
                     "[propagator.%s]",
                     m->name, name);
        else continue;
        return name;
    }
    return NULL;
}
