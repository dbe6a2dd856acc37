/* The residuals of all shifts are parallel, r_i = zeta_i r, so that one residual and one application of A an iteration
 * serve all (B. Jegerlehner, hep-lat/9612014, in the signs of conjugate gradients). The recurrence runs for the lowest
 * shift; of the others only the sums zeta, alpha, beta are their own. With ratio_n = zeta_(n+1) / zeta_n of a shift that
 * is s above the lowest,
 *
 *   1 / ratio_n = 1 + s alpha_n + (alpha_n beta_(n-1) / alpha_(n-1)) (1 - ratio_(n-1))
 *   alpha_n^s = alpha_n ratio_n,  beta_n^s = beta_n ratio_n^2
 *
 * which has no zeta that could underflow. */
#include "solvers/multishift.h"

#include <math.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"
#include "solvers/reliable.h"

/* Residuals of the recurrences down to which a precision is worth the iterations of all shifts, when it is not that of
 * b: near its rounding. True residuals stay behind there, but what they still gain they gain for all shifts at once. */
static const double reach[PREC_COUNT] = {0, 1e-7, 1e-5, 1e-1};

typedef struct {
    int number;     /* number in the caller's order */
    double above;   /* over the lowest shift */
    double target2; /* target of |r|^2, relative to |b|^2 */
    double zeta, ratio;
    field *x, *p;
} strand;

typedef struct {
    const solver_settings *settings;
    precision outer; /* precision of b */
    linop *low;      /* operator with the lowest shift */
    strand strands[MULTISHIFT_MOST];
    int n, active; /* the first `active` go on */
    field *r, *q;
    multishift_result *result;
} space;

/* Updates the strands behind the first. */
static void update_others(space *k, double alpha, double beta)
{
    field *x[MULTISHIFT_MOST], *p[MULTISHIFT_MOST];
    double alphas[MULTISHIFT_MOST], betas[MULTISHIFT_MOST], zeta[MULTISHIFT_MOST];
    for (int i = 1; i < k->active; i++) {
        strand *t = &k->strands[i];
        x[i - 1] = t->x;
        p[i - 1] = t->p;
        alphas[i - 1] = alpha * t->ratio;
        betas[i - 1] = beta * t->ratio * t->ratio;
        zeta[i - 1] = t->zeta;
    }
    vector_multishift_update(k->active - 1, x, p, alphas, zeta, betas, k->r, 0);
}

/* Takes out the strands that are good enough; the lowest, which carries the recurrence, stays while others do. */
static void drop_out(space *k, double r2)
{
    for (int i = k->active - 1; i >= 0; i--) {
        strand *t = &k->strands[i];
        if (!(t->zeta * t->zeta * r2 <= t->target2) || (i == 0 && k->active > 1)) continue;
        const strand done = *t;
        memmove(t, t + 1, (size_t)(k->active - 1 - i) * sizeof *t);
        k->strands[--k->active] = done;
        k->result->each[done.number].iterations = k->result->shared;
        field_destroy(done.p);
        k->strands[k->active].p = NULL;
    }
}

static void note(const space *k, double r2)
{
    for (int i = 0; i < k->active; i++) {
        const strand *t = &k->strands[i];
        solver_note_system(t->number, 0);
        solver_note(k->result->shared, fabs(t->zeta) * sqrt(r2), k->low->prec, 0);
    }
}

/* The shared iteration, from x = 0 and p = r = b / |b|. The lowest shift, of ratio 1, is plain conjugate gradients: its
 * coefficients stay on a device, where kernels make the sums. What those of the other shifts need comes to the host while A p of
 * the next step is made, which is for nothing at the end. */
static void iterate(space *k)
{
    const int most = k->settings->max_iterations;
    double alpha_before = 1, beta_before = 0;
    vector_sum r2[2] = {vector_sum_known(vector_norm2(k->r, 0))}, pq[2];
    solver_pace pace = pace_start(k->settings, 0, r2[0].value);
    int ahead = 0, now = 0;
    for (; k->active > 0 && k->result->shared < most; now = !now) {
        vector_sum *const before = &r2[now], *const after = &r2[!now];
        const strand *lead = &k->strands[0];
        if (!ahead) linop_apply_dot(k->low, k->q, lead->p, &pq[now]);
        vector_axpy_by_norm2_start(after, k->r, (vector_ratio){-1, before, &pq[now]}, k->q, 0);
        vector_cg_update_by(lead->x, lead->p, (vector_ratio){1, before, &pq[now]}, (vector_ratio){1, after, before},
                            k->r);
        k->result->shared++;
        ahead = after->travels && k->result->shared < most;
        if (ahead) linop_apply_dot(k->low, k->q, lead->p, &pq[!now]);
        const double product = vector_sum_finish(&pq[now]), claimed2 = vector_sum_finish(after);
        if (!(product > 0) || isinf(product) || !(claimed2 < INFINITY)) break;
        const double alpha = before->value / product, beta = claimed2 / before->value;
        for (int i = 1; i < k->active; i++) {
            strand *t = &k->strands[i];
            t->ratio = 1 / (1 + t->above * alpha + alpha * beta_before / alpha_before * (1 - t->ratio));
            t->zeta *= t->ratio;
        }
        update_others(k, alpha, beta);
        alpha_before = alpha;
        beta_before = beta;
        note(k, claimed2);
        if (k->r->lat->planned || solver_interrupted(k->r->lat)) break;
        drop_out(k, claimed2);
        pace_halved(&pace, k->result->shared, claimed2);
        /* Reliable updates, which this iteration does not have, are better then. */
        if (k->low->prec != k->outer && pace_is_slow(&pace, k->result->shared)) {
            log_info("multi-shift solver: slow at a residual of %.1e in %s precision; each shift continues by itself",
                     sqrt(claimed2), precision_names[k->low->prec]);
            break;
        }
    }
    for (int i = 0; i < 2 && ahead; i++) vector_sum_finish(&pq[i]);
    for (int i = 0; i < k->active; i++) {
        k->result->each[k->strands[i].number].iterations = k->result->shared;
        field_destroy(k->strands[i].p);
    }
}

static void sort_strands(strand *t, int n)
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && t[j].above < t[j - 1].above; j--) {
            const strand swap = t[j];
            t[j] = t[j - 1];
            t[j - 1] = swap;
        }
}

/* Solves all shifts in the precision of the iteration. Answers come in units of |b|, in the precision of b. */
static void share(const solver_settings *s, linop *low, double lowest, int n, const double *shifts,
                  const double *tolerances, field *const *x, const field *b, double b2, multishift_result *result)
{
    space k = {.settings = s, .outer = b->prec, .n = n, .active = n, .result = result};
    const int one = low->prec == b->prec;
    k.low = lowest > 0 ? shifted_create(low, lowest) : low;
    k.r = linop_vector(low, 1);
    k.q = linop_vector(low, 1);
    /* x[0] is free: b in its own units. */
    vector_axpby(x[0], 1 / sqrt(b2), b, 0);
    vector_copy(k.r, x[0]);
    for (int i = 0; i < n; i++) {
        const double target = fmax(tolerances[i], one ? 0 : reach[low->prec]);
        k.strands[i] = (strand){i, shifts[i] - lowest, 0.8 * target * target, 1, 1, NULL, linop_vector(low, 1)};
        k.strands[i].x = one ? x[i] : linop_vector(low, 1);
        field_clear(k.strands[i].x);
        vector_copy(k.strands[i].p, k.r);
    }
    sort_strands(k.strands, n);
    iterate(&k);
    for (int i = 0; i < n; i++) {
        strand *t = &k.strands[i];
        if (!one) {
            vector_copy(x[t->number], t->x);
            field_destroy(t->x);
        }
        vector_axpby(x[t->number], sqrt(b2), x[t->number], 0);
    }
    field_destroy(k.q);
    field_destroy(k.r);
    result->flops += result->shared * k.low->flops;
    if (lowest > 0) linop_destroy(k.low);
}

static void no_answers(multishift_result *result, int n, field *const *x, solve_status status)
{
    for (int i = 0; i < n; i++) {
        field_clear(x[i]);
        result->each[i].status = status;
        result->each[i].residual = status == SOLVE_CONVERGED ? 0 : 1;
    }
    result->status = status;
}

/* The lowest shift; NaN, with a warning, when a shift is none. */
static double lowest_of(int n, const double *shifts)
{
    double lowest = INFINITY;
    for (int i = 0; i < n; i++) {
        if (!(shifts[i] >= 0 && shifts[i] < INFINITY)) {
            log_warn("multi-shift solver: shift %d of %d is %g; it has to be a number of at least 0", i + 1, n,
                     shifts[i]);
            return NAN;
        }
        lowest = fmin(lowest, shifts[i]);
    }
    return lowest;
}

/* Makes what the shared space left into answers; whatever it left, NaN included. */
static void refine(const solver_settings *s, linop *a, double shift, double tolerance, field *x, const field *b,
                   solve_result *each)
{
    linop *shifted = shifted_create(a, shift);
    solver *by = solver_create(s, shifted);
    by->settings.tolerance = tolerance;
    if (!(vector_norm2(x, 0) < INFINITY)) field_clear(x);
    const int shared = each->iterations;
    *each = solver_solve(by, x, b, NULL);
    each->iterations += shared;
    solver_destroy(by);
    linop_destroy(shifted);
}

multishift_result multishift_solve(const solver_settings *s, linop *a, int n, const double *shifts,
                                   const double *tolerances, field *const *x, const field *b)
{
    multishift_result result = {0};
    const double start = comm_wtime(), lowest = lowest_of(n, shifts);
    REQUIRE(n >= 1 && n <= MULTISHIFT_MOST && b->nrhs == 1, "%d shifts, %d right-hand sides", n, b->nrhs);
    REQUIRE(s->type == param_kind(solver_section(0), "cg"), "multi-shift conjugate gradients with the settings of %s",
            solver_type_of(s)->name);
    const double b2 = vector_norm2(b, 0);
    if (!(b2 > 0 && b2 < INFINITY) || isnan(lowest)) {
        no_answers(&result, n, x, b2 == 0 && !isnan(lowest) ? SOLVE_CONVERGED : SOLVE_BROKEN);
    } else {
        solver_enter();
        linop *low = linop_at(a, solver_precision(s, b->prec), a->where);
        linop_refresh(low);
        share(s, low, lowest, n, shifts, tolerances, x, b, b2, &result);
        solver_leave();
        result.iterations = result.shared;
        for (int i = 0; i < n; i++) {
            solve_result *each = &result.each[i];
            const int before = each->iterations;
            solver_note_system(i, before);
            refine(s, a, shifts[i], tolerances[i], x[i], b, each);
            result.iterations += each->iterations - before;
            result.flops += each->flops;
            if (each->status > result.status) result.status = each->status;
        }
        solver_note_system(0, 0);
    }
    result.seconds = comm_wtime() - start;
    return result;
}
