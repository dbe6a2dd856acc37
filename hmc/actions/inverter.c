#include "hmc/actions/inverter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hmc/tell/life.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/vector.h"
#include "solvers/multishift.h"

/* Solves of A x = y until the whole residual is right: the first guess at the second tolerance may be off by |A|. */
#define ROUNDS 3

void inverter_open(inverter *v, action *a, fermion *quark, const action_solvers *solvers)
{
    *v = (inverter){.a = a,
                    .quark = quark,
                    .op = quark->direct,
                    .normal = quark->normal,
                    .solvers = solvers->all,
                    .nsolvers = solvers->n};
    if (v->op) v->dagger = adjoint_create(v->op);
    v->made = calloc(1, sizeof *v->made);
    REQUIRE_MEMORY(v->made, "out of memory");
    v->made->follow = 1;
    v->made->family = solvers->family;
}

void inverter_begin(const inverter *v)
{
    solver_store_forget(v->made);
}

void inverter_close(inverter *v)
{
    solver_store_close(v->made);
    free(v->made);
    linop_destroy(v->dagger);
}

void inverter_reserve(const inverter *v, const named_solver *s)
{
    if (!v->op || solver_needs_positive(s->settings)) return;
    solver_from(v->made, s->settings, v->op);
    solver_from(v->made, s->settings, v->dagger);
}

typedef struct {
    const inverter *v;
    field *const *x; /* solution, or one a pole */
    const field *b;
    predictor *guess; /* predictor for the first attempt */
    const rational *r;
} job;

/* Attempts, with what they leave in the action. */
static int attempts(const inverter *v, const named_solver *s, solve_attempt attempt, job *j, const char *use)
{
    char what[128];
    action *a = v->a;
    snprintf(what, sizeof what, "%s, %s", a->name, use);
    life_solve(what, s->name);
    const solve_result r =
        fallback_try(s, v->solvers, v->nsolvers, v->normal->lat, attempt, j, what, a->trouble, sizeof a->trouble);
    a->iterations += r.iterations;
    a->solves++;
    a->repeats += r.attempts - 1;
    if (r.status == SOLVE_BROKEN) a->advice = ADVICE_NUMBERS;
    if (r.status != SOLVE_CONVERGED) return 1;
    a->worst_residual = fmax(a->worst_residual, r.residual);
    return 0;
}

static void add_to(solve_result *sum, const solve_result *r)
{
    sum->status = r->status;
    sum->residual = r->residual;
    sum->iterations += r->iterations;
    sum->inside += r->inside;
    sum->seconds += r->seconds;
    sum->flops += r->flops;
}

/* A^dagger y = b to half of the tolerance, then A x = y from x. With r and q the residuals, that of the whole is
 * r + A^dagger q, and |A^dagger q| <= |A| |q|, where |y| may be much larger than |b|. */
static solve_result solve_twice(const solver_settings *s, double tolerance, const inverter *v, field *x, const field *b)
{
    solver *first = solver_from(v->made, s, v->dagger), *second = solver_from(v->made, s, v->op);
    solve_result sum = {0}, r;
    const double b2 = vector_norm2(b, 0);
    field *y = field_like(b);
    linop_refresh(v->op);
    linop_apply(v->op, y, x, 0);
    first->settings.tolerance = 0.5 * tolerance;
    r = solver_solve(first, y, b, NULL);
    add_to(&sum, &r);
    second->settings.tolerance = 0.5 * tolerance * fmin(1, sqrt(b2 / vector_norm2(y, 0)));
    for (int round = 0; r.status == SOLVE_CONVERGED && b2 > 0 && round < ROUNDS; round++) {
        r = solver_solve(second, x, y, NULL);
        add_to(&sum, &r);
        field *whole = field_like(b);
        sum.residual = sqrt(solver_defect(v->normal, whole, x, b, 1) / b2);
        field_destroy(whole);
        sum.flops += v->normal->flops;
        if (sum.residual <= tolerance) break;
        second->settings.tolerance *= 0.4 * tolerance / sum.residual;
    }
    field_destroy(y);
    if (sum.status == SOLVE_CONVERGED && !(sum.residual <= 1.5 * tolerance)) sum.status = SOLVE_STALLED;
    return sum;
}

/* Solves a x = b by one of the inverter's solvers. */
static solve_result solve(const inverter *v, const solver_settings *s, linop *a, double tolerance, field *x,
                          const field *b)
{
    solver *by = solver_from(v->made, s, a);
    by->settings.tolerance = tolerance;
    return solver_solve(by, x, b, NULL);
}

static solve_result attempt_normal(const solver_settings *s, double tolerance, void *context)
{
    job *j = context;
    field_clear(j->x[0]);
    if (j->guess) {
        const int n = predictor_guess(j->guess, j->v->normal, j->x[0], j->b);
        log_debug("%s: a first guess from %d solutions", j->v->a->name, n);
    }
    j->guess = NULL;
    return solver_needs_positive(s) || !j->v->op ? solve(j->v, s, j->v->normal, tolerance, j->x[0], j->b)
                                                 : solve_twice(s, tolerance, j->v, j->x[0], j->b);
}

int inverter_normal(const inverter *v, const named_solver *s, field *x, const field *b, predictor *p, const char *use)
{
    job j = {v, &x, b, p, NULL};
    if (attempts(v, s, attempt_normal, &j, use)) return 1;
    if (p) predictor_keep(p, x);
    return 0;
}

int inverter_whole(const inverter *v, const named_solver *s, field *x, const field *b, predictor *p, const char *use)
{
    field *half = linop_vector(v->normal, 1), *solution = field_like(half);
    fermion_prepare(v->quark, half, b, 1);
    const int failed = inverter_normal(v, s, solution, half, p, use);
    fermion_reconstruct(v->quark, x, solution, b);
    field_destroy(solution);
    field_destroy(half);
    return failed;
}

static solve_result attempt_dagger(const solver_settings *s, double tolerance, void *context)
{
    const job *j = context;
    if (!solver_needs_positive(s)) {
        field_clear(j->x[0]);
        return solve(j->v, s, j->v->dagger, tolerance, j->x[0], j->b);
    }
    field *x = field_like(j->b);
    const solve_result r = solve(j->v, s, j->v->normal, tolerance, x, j->b);
    linop_apply(j->v->op, j->x[0], x, 0);
    field_destroy(x);
    return r;
}

int inverter_dagger(const inverter *v, const named_solver *s, field *y, const field *b, const char *use)
{
    job j = {v, &y, b, NULL, NULL};
    return attempts(v, s, attempt_dagger, &j, use);
}

static solve_result attempt_poles(const solver_settings *s, double tolerance, void *context)
{
    const job *j = context;
    double tolerances[RATIONAL_MAX_DEGREE];
    for (int i = 0; i < j->r->degree; i++) tolerances[i] = tolerance;
    const multishift_result m = multishift_solve(s, j->v->normal, j->r->degree, j->r->poles, tolerances, j->x, j->b);
    solve_result r = {.status = m.status, .iterations = m.iterations, .seconds = m.seconds, .flops = m.flops};
    for (int i = 0; i < j->r->degree; i++) r.residual = fmax(r.residual, m.each[i].residual);
    return r;
}

int inverter_poles(const inverter *v, const named_solver *s, const rational *r, field *const *x, const field *b,
                   const char *use)
{
    job j = {v, x, b, NULL, r};
    return attempts(v, s, attempt_poles, &j, use);
}
