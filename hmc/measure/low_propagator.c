#include "hmc/measure/low_propagator.h"

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

/* ---- solves ---- */

typedef struct {
    low_part *part;
    field *vector;
    int block, first;
} job;

static const field *source_of(void *context, int k)
{
    job *j = context;
    const field mode = field_rhs(low_modes_block(j->part->modes, j->block), j->first + k);
    vector_axpby(j->vector, 1, &mode, 0);
    return j->vector;
}

static void keep(void *context, int k, const field *x)
{
    job *j = context;
    field part = field_rhs(j->part->solutions[j->block], j->first + k);
    vector_axpby(&part, 1, x, 0);
    field_written(j->part->solutions[j->block]);
}

static int solve(low_part *l, quark_solves *by, measure_result *r)
{
    job j = {.part = l, .vector = fermion_physical(by->quark)};
    field *x = field_like(j.vector);
    const solves_batch_of of = {source_of, keep, &j, x};
    const int most = solves_most(by), blocks = low_modes_blocks(l->modes);
    int status = MEASURE_DONE;
    for (; j.block < blocks && status == MEASURE_DONE; j.block++) {
        const int n = l->solutions[j.block]->nrhs;
        for (j.first = 0; j.first < n && status == MEASURE_DONE; j.first += most) {
            status = solves_batch(by, n - j.first < most ? n - j.first : most, &of, "low modes", r);
            if (x->lat->planned) break; /* further batches take no more memory */
        }
    }
    field_destroy(x);
    field_destroy(j.vector);
    return status;
}

/* The low part of the quark and solver of a propagator. */
static int part_of(low_part **part, low_store *s, const measure_context *c, const propagator *q, measure_result *r)
{
    const propagator_params *of = &q->of->p;
    const char *solver = parameters_propagator_solver(c->p, of);
    double values[SOLVES_VALUES];
    for (int i = 0; i < s->nparts; i++)
        if (!strcmp(s->parts[i].quark, of->quark) && !strcmp(s->parts[i].solver, solver)) {
            *part = &s->parts[i];
            return MEASURE_DONE;
        }
    quark_solves *by = propagator_solves(c->propagators, q->of);
    low_part *l = *part = &s->parts[s->nparts];
    *l = (low_part){of->quark, solver, solves_low_modes(by), NULL};
    l->solutions = calloc((size_t)low_modes_blocks(l->modes), sizeof *l->solutions);
    REQUIRE_MEMORY(l->solutions, "out of memory");
    for (int i = 0; i < low_modes_blocks(l->modes); i++) l->solutions[i] = field_like(low_modes_block(l->modes, i));
    solves_count_anew(by);
    const int status = solve(l, by, r);
    solves_summary(by, values);
    solves_merge(r->summary, values, by->estimates);
    if (status == MEASURE_DONE) s->nparts++;
    else low_part_free(l);
    return status;
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

/* Sums of the pairs of spins of two vectors: to[t][momentum][4 a + a'] = sum_x exp(-i p.x) conj(x_a) y_a'. */
typedef struct {
    const momenta *p;
    slice_waves waves;
    field *rho;
    exact_sum *exact;
    int n, slices; /* numbers of a pair of vectors; time slices */
} pair_sums;

static void pair_of(const pair_sums *s, double complex *to, const field *x, int i, const field *y, int j)
{
    for (int k = 0; k < 2 * s->n; k++) s->exact[k] = exact_zero();
    contract_column_pairs(s->rho, x, i, y, j);
    contract_slices(s->exact, s->rho, &s->waves);
    comm_group_sum_exact(s->rho->lat->group, s->exact, 2 * s->n);
    for (int k = 0; k < s->n; k++) to[k] = exact_value(&s->exact[2 * k]) + I * exact_value(&s->exact[2 * k + 1]);
}

/* sums[b, b'][t][p][a, a'] += weight sum_(t_0 in [first, last)) sink[t + t_0][p][a, a'] conj(source[t_0][p][b, b']). */
static void add_pair(const pair_sums *s, double complex *sums, const double complex *sink, const double complex *source,
                     int first, int last, double weight)
{
    const int T = s->slices, momenta = s->p->n;
#pragma omp parallel for schedule(static)
    for (int unit = 0; unit < SPIN_PAIRS * T; unit++) {
        const int pair = unit / T, t = unit % T;
        for (int t0 = first; t0 < last; t0++)
            for (int i = 0; i < momenta; i++) {
                double complex *to = sums + ((long)unit * momenta + i) * SPIN_PAIRS;
                const double complex *a = sink + ((long)((t + t0) % T) * momenta + i) * SPIN_PAIRS,
                                     b = weight * conj(source[((long)t0 * momenta + i) * SPIN_PAIRS + pair]);
                for (int k = 0; k < SPIN_PAIRS; k++) to[k] += a[k] * b;
            }
    }
}

/* Sums over the pairs of vectors of the two lines. */
static int sum_pairs(const pair_sums *s, double complex *sums, const measure_context *c, const low_line line[2],
                     int first, int last)
{
    const int *L = c->links->lat->size, planned = c->links->lat->planned;
    const double weight = 1.0 / ((double)(last - first) * L[0] * L[1] * L[2]);
    double complex *sink = malloc(2 * (size_t)s->n * sizeof *sink), *source = sink + s->n;
    int status = MEASURE_DONE;
    REQUIRE_MEMORY(sink, "out of memory for %d sums", 2 * s->n);
    for (int bi = 0; bi < line[0].sink.n && status == MEASURE_DONE; bi++)
        for (int i = 0; i < line[0].sink.blocks[bi]->nrhs && status == MEASURE_DONE; i++) {
            for (int bj = 0; bj < line[1].sink.n; bj++)
                for (int j = 0; j < line[1].sink.blocks[bj]->nrhs && !(planned && bi + i + bj + j); j++) {
                    pair_of(s, sink, line[0].sink.blocks[bi], i, line[1].sink.blocks[bj], j);
                    pair_of(s, source, line[0].source.blocks[bi], i, line[1].source.blocks[bj], j);
                    add_pair(s, sums, sink, source, first, last, weight);
                }
            if (measure_interrupted(c)) status = MEASURE_GIVEN_UP;
        }
    free(sink);
    return status;
}

static int make_average(low_sums *a, const momenta *p, const measure_context *c, const low_line line[2])
{
    static const int origin[3];
    const lattice *lat = c->links->lat;
    const int T = lat->size[3], periodic = lat->time == TIME_PERIODIC;
    pair_sums s = {.p = p,
                   .waves = momenta_waves(p, origin),
                   .rho = density_create(line[0].q->columns, SPIN_PAIRS),
                   .n = T * p->n * SPIN_PAIRS,
                   .slices = T};
    s.exact = malloc(2 * (size_t)s.n * sizeof *s.exact);
    a->sums = calloc((size_t)SPIN_PAIRS * (size_t)s.n, sizeof *a->sums);
    REQUIRE_MEMORY(s.exact && a->sums, "out of memory for %d sums", SPIN_PAIRS * s.n);
    const int status = sum_pairs(&s, a->sums, c, line, periodic ? 0 : a->start, periodic ? T : a->start + 1);
    free(s.exact);
    field_destroy(s.rho);
    momenta_waves_free(&s.waves);
    return status;
}

/* The average of the measurement, from the store or new. */
static int average_of(const double complex **sums, low_store *s, const momenta *p, const measure_context *c,
                      const measure_params *m, const low_line line[2])
{
    low_sums a = {.of = m, .start = c->links->lat->time == TIME_PERIODIC ? 0 : line[0].q->place[3]};
    for (int i = 0; i < s->naverages; i++)
        if (s->averages[i].of == a.of && s->averages[i].start == a.start) {
            *sums = s->averages[i].sums;
            return MEASURE_DONE;
        }
    const int status = make_average(&a, p, c, line);
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

int low_average(contraction *to, const measure_context *c, const measure_params *m, const propagator *const pair[2],
                measure_result *r)
{
    low_store *s = propagator_low_store(c->propagators);
    const int lines = pair[0] == pair[1] ? 1 : 2;
    low_line line[2] = {{.q = pair[0]}, {.q = pair[1]}};
    const double complex *sums;
    int status = MEASURE_DONE, made = 0;
    for (; made < lines && status == MEASURE_DONE; made += status == MEASURE_DONE) {
        low_line *l = &line[made];
        status = part_of(&l->part, s, c, l->q, r);
        if (status != MEASURE_DONE) break;
        l->sink = smeared(c, l->part, 1, l->q->of->p.sink_smearing);
        l->source = smeared(c, l->part, 0, source_smearing(c, l->q));
    }
    if (lines == 1) line[1] = line[0];
    if (status == MEASURE_DONE) status = average_of(&sums, s, to->p, c, m, line);
    if (status == MEASURE_DONE) {
        subtract(to, c, line, lines);
        contraction_add(to, 1, sums, 0);
    }
    for (int i = 0; i < made; i++) {
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
