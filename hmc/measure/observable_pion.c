/* pion: the zero-momentum correlator C(t) = sum_x sum |S(x, t; source)|^2 over spins and colours of both ends, of the
 * Wilson-clover propagator from a point source. gamma5 M^-1 gamma5 = (M^-1)^dagger makes it a sum of squares. t counts
 * from the source.
 *
 * Each of the 12 columns of S is a solve of the even-odd system through its normal equation. A solve that fails is
 * repeated with the solver's fallback; when that fails too, so does the measurement. Sites are summed exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/observable.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/spinor.h"

static const measure_column columns[] = {
    {"t", "a", "time from the source"},
    {"pion", "", "zero-momentum pion correlator"},
};
static const measure_column summary[] = {
    {"residual", "", "largest |b - M x| / |b| of the 12 solves, of the whole operator"},
    {"iterations", "", "of all solves together"},
};

typedef struct {
    const measure_context *c;
    wilson *w;
    linop *schur, *normal;
    field *source, *x, *schur_source, *rhs, *schur_x, *residual;
    named_solver solvers[MAX_NAMED];
    const named_solver *solver;
    exact_sum *sums; /* one a global time slice */
    double worst;
    long iterations;
} pion;

static void open_pion(pion *q, const measure_context *c, int fermion, const char *solver)
{
    const fermion_params *f = &c->p->fermions[fermion].p;
    *q = (pion){.c = c};
    q->solver = fallback_find(q->solvers, simulation_solvers(c->p, q->solvers), solver);
    REQUIRE(q->solver, "no solver %s", solver);
    q->w = c->wilsons ? c->wilsons[fermion] : simulation_wilson(c->links, f);
    q->schur = wilson_schur(q->w);
    q->normal = normal_create(q->schur);
    q->source = field_create(c->links->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, c->links->where);
    q->x = field_like(q->source);
    q->residual = field_like(q->source);
    q->schur_source = linop_vector(q->schur, 1);
    q->rhs = linop_vector(q->schur, 1);
    q->schur_x = linop_vector(q->schur, 1);
    q->sums = malloc((size_t)c->links->lat->size[3] * sizeof *q->sums);
    REQUIRE(q->sums, "out of memory");
    for (int t = 0; t < c->links->lat->size[3]; t++) q->sums[t] = exact_zero();
}

static void close_pion(pion *q)
{
    free(q->sums);
    field_destroy(q->schur_x);
    field_destroy(q->rhs);
    field_destroy(q->schur_source);
    field_destroy(q->residual);
    field_destroy(q->x);
    field_destroy(q->source);
    linop_destroy(q->normal);
    if (!q->c->wilsons) wilson_destroy(q->w);
}

static int solve(pion *q, int column, measure_result *r)
{
    char what[64];
    snprintf(what, sizeof what, "the propagator's column %d", column);
    wilson_prepare(q->w, q->schur_source, q->source);
    linop_apply(q->schur, q->rhs, q->schur_source, 1);
    const solve_result result = fallback_solve(q->solver, q->solvers, q->c->p->nsolvers, q->normal, q->schur_x, q->rhs,
                                               what, r->trouble, sizeof r->trouble);
    q->iterations += result.iterations;
    if (result.status != SOLVE_CONVERGED) return MEASURE_FAILED;
    wilson_reconstruct(q->w, q->x, q->schur_x, q->source);
    wilson_apply(q->w, q->residual, q->x);
    spinor_axpby(q->residual, 1, q->source, -1);
    q->worst = fmax(q->worst, sqrt(spinor_norm2(q->residual, 0) / spinor_norm2(q->source, 0)));
    return MEASURE_DONE;
}

static void add_column(pion *q)
{
    const lattice *lat = q->x->lat;
    const long sites = (long)lat->local[0] * lat->local[1] * lat->local[2];
    double *slice = field_slice_buffer(q->x);
    for (int t = 0; t < lat->local[3]; t++) {
        field_export(q->x, t, slice);
        for (long i = 0; i < sites; i++) {
            double s = 0;
            for (int k = 0; k < 24; k++) s += slice[24 * i + k] * slice[24 * i + k];
            exact_add(&q->sums[lat->origin[3] + t], s);
        }
    }
    free(slice);
}

static int measure_pion(const measure_context *c, const measure_params *m, measure_result *r)
{
    const lattice *lat = c->links->lat;
    for (int d = 0; d < 4; d++)
        if (m->source[d] >= lat->size[d])
            user_error("measure.%s: source = %d.%d.%d.%d lies outside the lattice %d.%d.%d.%d", r->name, m->source[0],
                       m->source[1], m->source[2], m->source[3], lat->size[0], lat->size[1], lat->size[2],
                       lat->size[3]);
    const int fermion = simulation_fermion(c->p, m->fermion);
    const char *name = m->solver[0] ? m->solver : c->p->fermions[fermion].p.action_solver;
    pion q;
    open_pion(&q, c, fermion, name);
    int status = MEASURE_DONE;
    for (int column = 0; column < 12 && status == MEASURE_DONE; column++) {
        if (measure_interrupted(c)) {
            status = MEASURE_GIVEN_UP;
            break;
        }
        simulation_point_source(q.source, m->source, column);
        status = solve(&q, column, r);
        if (status == MEASURE_DONE) add_column(&q);
    }
    if (status == MEASURE_DONE) {
        comm_sum_exact(q.sums, lat->size[3]);
        for (int t = 0; t < lat->size[3]; t++)
            measure_add_row(r, (const double[]){t, exact_value(&q.sums[(t + m->source[3]) % lat->size[3]])});
        r->summary[0] = q.worst;
        r->summary[1] = (double)q.iterations;
    }
    close_pion(&q);
    return status;
}

/* Source, solution and residual on both parities, three vectors of the Schur system, and beside them a solve or what
 * the whole operator takes. */
static size_t memory(const ledger *l, const parameters *p, const measure_params *m)
{
    const fermion_params *f = &p->fermions[simulation_fermion(p, m->fermion)].p;
    const char *solver = memory_solver(p, m);
    const size_t spinor = memory_of(l, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    size_t solve = spinor + memory_of_solve(l, p, FIELD_SPINOR, solver),
           whole = spinor; /* work of the normal operator */
    int used[PREC_COUNT] = {0};
    memory_note_precision(p, solver, used);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        if (used[prec]) solve += memory_of(l, FIELD_SPINOR, prec, PARITY_EVEN);
    if (f->c_sw != 0)
        whole +=
            memory_of(l, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH) + memory_of(l, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH);
    return 9 * spinor + (solve > whole ? solve : whole);
}

const observable observable_pion = {"pion",  "zero-momentum pion correlator from a point source",
                                    columns, sizeof columns / sizeof columns[0],
                                    summary, sizeof summary / sizeof summary[0],
                                    1,       measure_pion,
                                    memory};
