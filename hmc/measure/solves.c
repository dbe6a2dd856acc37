#include "hmc/measure/solves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "hmc/tell/life.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"

void solves_open_keys(quark_solves *p, const measure_context *c, const measure_params *m)
{
    solves_open(p, c, m->quark, m->solver, m->error_estimate == PARAM_YES);
}

/* Solves for a quark, or for the one of a run, which may be shared. */
static void open_solves(quark_solves *p, const measure_context *c, const quark_params *f, fermion *shared,
                        const char *solver, int estimates)
{
    const char *name = solver[0] ? solver : f->solver;
    *p = (quark_solves){.c = c, .params = f, .low = {.trajectory = c->trajectory}, .estimates = estimates};
    p->solver = fallback_find(p->solvers, simulation_solvers(c->p, p->solvers), name);
    REQUIRE(p->solver, "no solver %s", name);
    p->quark = shared;
    p->owns_quark = !shared;
    if (p->owns_quark) p->quark = quark_kind_of(f)->make(c->links, f, NULL, 0);
    p->one = linop_vector(p->quark->normal, 1);
    p->residual = fermion_vector(p->quark);
    if (!fermion_has_walls(p->quark)) return;
    p->source = fermion_vector(p->quark);
    p->x = fermion_vector(p->quark);
}

void solves_open(quark_solves *p, const measure_context *c, const char *quark, const char *solver, int estimates)
{
    const named_quark *named = &c->p->quarks[parameters_quark(c->p, quark)];
    open_solves(p, c, &named->p, c->run ? quark_set_find(c->run->quarks, named, named->p.mass) : NULL, solver,
                estimates);
}

void solves_open_changed(quark_solves *p, const measure_context *c, const quark_params *f, const char *solver,
                         int estimates)
{
    open_solves(p, c, f, NULL, solver, estimates);
}

void solves_close(quark_solves *p)
{
    field_destroy(p->x);
    field_destroy(p->source);
    field_destroy(p->residual);
    field_destroy(p->one);
    field_destroy(p->half);
    field_destroy(p->rhs);
    solver_store_close(&p->made);
    eigenvectors_close(&p->low);
    if (p->owns_quark) fermion_destroy(p->quark);
}

/* ---- solvers ---- */

static const named_settings *section_of(const quark_solves *p, const solver_settings *s)
{
    const parameters *of = p->c->p;
    for (int i = 0; i < of->nsolvers; i++)
        if (&of->solvers[i].p == s) return &of->solvers[i];
    REQUIRE(0, "settings of no section");
    return NULL;
}

void solves_use_rough(quark_solves *p, const char *name)
{
    p->rough = 1;
    p->solver = fallback_find(p->solvers, p->c->p->nsolvers, name);
    REQUIRE(p->solver, "no solver %s", name);
}

static const eigen_pairs *pairs_of(quark_solves *p, int *modes)
{
    return eigenvectors_of(&p->low, p->c->p, p->params, section_of(p, p->solver->settings), p->quark, modes);
}

low_modes *solves_low_modes(quark_solves *p)
{
    int modes;
    const eigen_pairs *e = pairs_of(p, &modes);
    return low_modes_create(e, modes, p->quark);
}

field **solves_low_part(quark_solves *p, const low_modes *l)
{
    int modes;
    const eigen_pairs *e = pairs_of(p, &modes);
    return low_modes_propagate(l, e, modes, p->quark);
}

/* ---- solves ---- */

typedef struct {
    quark_solves *p;
    int n;
    const solves_batch_of *b;
} job;

/* The source of number k on the field that M acts on. */
static const field *source_of(const job *j, int k)
{
    const field *physical = j->b->source(j->b->context, k);
    if (!j->p->source) return physical;
    fermion_import(j->p->quark, j->p->source, physical);
    return j->p->source;
}

/* The error of what was solved. */
static void estimate(quark_solves *p, solver *by)
{
    solve_error each[SOLVER_BLOCK_MOST];
    const solve_error worst = solver_error(by, p->half, p->rhs, each);
    if (isnan(worst.error)) log_warn("the second solve, for the estimate of the error, did not converge");
    if (!(worst.error <= p->error.error)) p->error.error = worst.error;
    if (!(worst.ratio <= p->error.ratio)) p->error.ratio = worst.ratio;
}

/* x of number k from the solution of the system, and p->residual = source - M x. Returns |source - M x| / |source|. */
static double reconstruct(const job *j, int k)
{
    quark_solves *p = j->p;
    const field part = field_rhs(p->half, k), *from = source_of(j, k);
    field *to = p->x ? p->x : j->b->x;
    vector_axpby(p->one, 1, &part, 0);
    fermion_reconstruct(p->quark, to, p->one, from);
    return fermion_residual(p->quark, p->residual, to, from);
}

/* The right-hand side number k of the system for M x = source. */
static void prepare(quark_solves *p, int k, const field *source, int positive)
{
    field part = field_rhs(p->rhs, k);
    fermion_prepare(p->quark, p->one, source, positive);
    vector_axpby(&part, 1, p->one, 0);
}

/* The right-hand sides of M e = source - M x. Returns the largest |source - M x| / |source|. */
static double prepare_corrections(const job *j, int positive)
{
    quark_solves *p = j->p;
    double worst = 0;
    for (int k = 0; k < j->n; k++) {
        const double residual = reconstruct(j, k);
        if (!(residual <= worst)) worst = residual;
        prepare(p, k, p->residual, positive);
    }
    field_written(p->rhs);
    return worst;
}

/* Corrections after which the whole operator's residual has to be below the tolerance. */
#define CORRECTIONS 4
/* The true residual may be above what the recurrence claims by as much as solver_solve() allows. */
#define ALLOWED 1.5
#define LEAST_TOLERANCE 1e-12

/* M e = source - M x to `tolerance`, with what it took added to *r. Returns the residual of its system. */
static double correct(quark_solves *p, solver *by, double tolerance, solve_result *r)
{
    field *e = field_like(p->half);
    field_clear(e);
    by->settings.tolerance = tolerance;
    const solve_result more = solver_solve(by, e, p->rhs, NULL);
    r->iterations += more.iterations;
    r->inside += more.inside;
    r->flops += more.flops;
    r->seconds += more.seconds;
    if (more.status == SOLVE_INTERRUPTED) r->status = more.status;
    vector_axpby(p->half, 1, e, 1);
    field_destroy(e);
    return more.residual;
}

/* Iterative refinement: the residual of the even-odd system, or of the normal one, may be far below that of M x = source
 * next to a zero mode. A correction solves for what the whole operator leaves, further than is wanted by the factor that
 * lay between the two residuals of the solve before. */
static void refine(const job *j, solver *by, int positive, double tolerance, solve_result *r)
{
    quark_solves *p = j->p;
    double system = r->residual, before = 1;
    for (int n = 0; r->status == SOLVE_CONVERGED; n++) {
        const double whole = prepare_corrections(j, positive), wanted = 0.3 * tolerance / whole;
        /* Plans count one correction; their numbers mean nothing. */
        const int planned = p->half->lat->planned;
        p->whole = planned ? 0 : whole;
        if (planned ? n > 0 : whole <= ALLOWED * tolerance) return;
        if (!planned && (n == CORRECTIONS || !(whole < 0.5 * before))) {
            r->status = SOLVE_STALLED;
            return;
        }
        const double factor = fmax(1, whole / (before * system));
        system = correct(p, by, fmin(0.3, fmax(wanted / factor, LEAST_TOLERANCE)), r);
        before = whole;
    }
}

/* The even-odd system itself, or the normal one for a solver that needs it, from zero. */
static solve_result attempt(const solver_settings *s, double tolerance, void *context)
{
    const job *j = context;
    quark_solves *p = j->p;
    const int positive = solver_needs_positive(s);
    for (int k = 0; k < j->n; k++) prepare(p, k, source_of(j, k), positive);
    field_written(p->rhs);
    field_clear(p->half);
    p->whole = NAN;
    solver *by = solver_from(&p->made, s, fermion_system(p->quark, positive));
    by->settings.tolerance = tolerance;
    eigenvectors_attach(&p->low, p->c->p, p->params, section_of(p, s), p->quark, by);
    solve_result result = solver_solve(by, p->half, p->rhs, NULL);
    if (p->estimates && result.status == SOLVE_CONVERGED) estimate(p, by);
    if (!p->rough) refine(j, by, positive, tolerance, &result);
    return result;
}

static void fit(quark_solves *p, int n)
{
    if (p->rhs && p->rhs->nrhs == n) return;
    field_destroy(p->half);
    field_destroy(p->rhs);
    p->rhs = linop_vector(p->quark->normal, n);
    p->half = linop_vector(p->quark->normal, n);
}

double solves_residual(quark_solves *p, const field *x, const field *source)
{
    REQUIRE(!p->x, "a vector of %s in four dimensions", quark_kind_of(p->params)->name);
    return fermion_residual(p->quark, p->residual, x, source);
}

int solves_most(const quark_solves *p)
{
    return solver_block_size(p->solver->settings);
}

/* Adds to the trouble of a solve what the whole operator says, where that is the reason. */
static void explain(const quark_solves *p, double residual, measure_result *r)
{
    const size_t n = strlen(r->trouble);
    if (isnan(p->whole)) return;
    snprintf(
        r->trouble + n, sizeof r->trouble - n,
        ". |b - M x| / |b| of the whole operator is %.2e, and %.2e of the even-odd system: double precision holds no "
        "better solution next to a zero mode of M, or where M has numbers of very different size; take another mass or "
        "boundary, or raise the tolerance",
        p->whole, residual);
}

int solves_batch(quark_solves *p, int n, const solves_batch_of *b, const char *what, measure_result *r)
{
    if (measure_interrupted(p->c)) return MEASURE_GIVEN_UP;
    job j = {p, n, b};
    fit(p, n);
    life_solve(what, p->solver->name);
    const solve_result result = fallback_try(p->solver, p->solvers, p->c->p->nsolvers, p->half->lat, attempt, &j, what,
                                             r->trouble, sizeof r->trouble);
    p->iterations += result.iterations;
    if (result.status == SOLVE_INTERRUPTED) return MEASURE_GIVEN_UP;
    if (result.status != SOLVE_CONVERGED) {
        explain(p, result.residual, r);
        return MEASURE_FAILED;
    }
    for (int k = 0; k < n; k++) {
        p->worst = fmax(p->worst, reconstruct(&j, k));
        if (p->x) fermion_export(p->quark, b->x, p->x);
        if (b->solved) b->solved(b->context, k, b->x);
    }
    return MEASURE_DONE;
}

static const field *the_source(void *context, int k)
{
    (void)k;
    return context;
}

int solves_one(quark_solves *p, field *x, const field *source, const char *what, measure_result *r)
{
    const solves_batch_of one = {.source = the_source, .context = (void *)source, .x = x};
    return solves_batch(p, 1, &one, what, r);
}

void solves_count_anew(quark_solves *p)
{
    p->worst = 0;
    p->iterations = 0;
    p->error = (solve_error){0};
}

void solves_summary(const quark_solves *p, double values[SOLVES_VALUES])
{
    values[SOLVES_RESIDUAL] = p->worst;
    values[SOLVES_ITERATIONS] = (double)p->iterations;
    values[SOLVES_ERROR] = p->estimates ? p->error.error : NAN;
    values[SOLVES_ERROR_RATIO] = p->estimates ? p->error.ratio : NAN;
}

void solves_none(double values[SOLVES_VALUES])
{
    values[SOLVES_RESIDUAL] = values[SOLVES_ITERATIONS] = 0;
    values[SOLVES_ERROR] = values[SOLVES_ERROR_RATIO] = NAN;
}

void solves_merge(double values[SOLVES_VALUES], const double more[SOLVES_VALUES], int estimates)
{
    for (int i = 0; i < SOLVES_VALUES; i++) {
        if (i == SOLVES_ITERATIONS) values[i] += more[i];
        else if ((i == SOLVES_RESIDUAL || estimates) && !(more[i] <= values[i])) values[i] = more[i];
    }
}
