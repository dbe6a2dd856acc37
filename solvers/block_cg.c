/* Block conjugate gradients, blockCGrQ (A. Dubrulle, Electron. Trans. Numer. Anal. 12 (2001) 216; algorithm 1 of M. Clark
 * et al., arXiv:1710.09745), on a Hermitian positive operator, with block reliable updates (algorithm 3).
 *
 *   Q C = R,  P = Q                          thin QR (block_matrix.h)
 *   beta = (P^dagger A P)^-1
 *   X += P beta C
 *   Q' S = Q - A P beta                      thin QR
 *   C = S C,  P = Q' + P S^dagger
 *
 * N right-hand sides share the Krylov space. Columns of R are in units of |b|, so that |C_j| is the relative residual of
 * right-hand side j. Directions that depend on others are dropped by the QR decomposition: Q and P may have fewer columns
 * than X.
 *
 * The iteration is in the inner precision. When the largest residual has fallen by delta, or all have converged, x is
 * added up and R = B - A X computed in the precision of b. The directions go on: P = Q + P S^dagger with Q of the new R, P
 * without its part along Q, and S^dagger = -beta (A P)^dagger Q, which keeps new directions conjugate to old ones. In
 * exact arithmetic that is S = C C_old^-1 of algorithm 3; it needs no inverse of C. Right-hand sides that have converged
 * leave the block at an update. Where updates find no progress the precision is raised, as in reliable.h. */
#include <math.h>

#include "kernels/base/log.h"
#include "kernels/ops/vector.h"
#include "solvers/block_cg.h"
#include "solvers/block_matrix.h"
#include "solvers/reliable.h"

#define PATIENCE 3 /* updates without progress */

typedef struct {
    const solver_settings *settings;
    linop *a, *low;       /* A in the precisions of b and of the iteration */
    field *x, *r, *low_x; /* low_x: what is not yet added to x, or null where the iteration adds to x */
    const field *b;
    int n, iterations, failures, going, given_up;
    double size[BLOCK_MOST]; /* |b_j|; 1 for b_j = 0 */
    double rest[BLOCK_MOST]; /* |r_j| / |b_j| at the last update */
    double worst, most;      /* the largest at the last update, and since */
    double flops;
    solver_pace pace;
    solve_status status;
    field *q, *p, *ap, *spare;
    block_matrix *C, *S, *beta;
} block_cg;

static void end(block_cg *s, solve_status status)
{
    s->status = status;
    s->going = 0;
}

/* ---- true residuals ---- */

/* R = (B - A X) / |B| in the precision of b; columns that have converged become zero. Returns 0 when that is the end. */
static int measure(block_cg *s)
{
    double a[BLOCK_MOST], b[BLOCK_MOST], norm2[BLOCK_MOST];
    linop_apply(s->a, s->r, s->x, 0);
    s->flops += s->n * s->a->flops;
    for (int j = 0; j < s->n; j++) {
        a[j] = 1 / s->size[j];
        b[j] = -a[j];
    }
    vector_axpby_norm2_each(norm2, s->r, a, s->b, b);
    s->worst = 0;
    for (int j = 0; j < s->n; j++) {
        s->rest[j] = s->b->lat->planned ? !s->iterations : sqrt(norm2[j]);
        if (!(s->rest[j] <= s->worst)) s->worst = s->rest[j];
        a[j] = 0;
        b[j] = s->rest[j] > s->settings->tolerance;
    }
    solver_note(s->iterations, s->worst, s->b->prec, 1);
    s->most = s->worst;
    if (!(s->worst < INFINITY)) end(s, SOLVE_BROKEN);
    else if (s->worst <= s->settings->tolerance) end(s, SOLVE_CONVERGED);
    else if (s->given_up) end(s, SOLVE_INTERRUPTED);
    else if (s->iterations >= s->settings->max_iterations) end(s, SOLVE_TOO_MANY_ITERATIONS);
    else vector_axpby_norm2_each(norm2, s->r, a, s->b, b);
    return s->going;
}

/* x += |b| low_x */
static void add_up(block_cg *s)
{
    double one[BLOCK_MOST], norm2[BLOCK_MOST];
    if (!s->low_x) return;
    for (int j = 0; j < s->n; j++) one[j] = 1;
    vector_copy(s->r, s->low_x);
    vector_axpby_norm2_each(norm2, s->x, s->size, s->r, one);
    field_clear(s->low_x);
}

/* ---- the iteration ---- */

/* A field with so many columns, in place of one with another number. */
static void fit(const block_cg *s, field **f, int columns)
{
    if (*f && (*f)->nrhs == columns) return;
    field_destroy(*f);
    *f = linop_vector(s->low, columns);
}

/* Q C = R, of the residual at the last update. */
static int decompose(block_cg *s)
{
    fit(s, &s->q, s->n);
    fit(s, &s->spare, s->n);
    vector_copy(s->q, s->r);
    block_free(s->C);
    s->C = block_qr(&s->q, &s->spare, NULL);
    return s->C != NULL;
}

/* P = Q + P S^dagger; or P = Q. */
static void next_directions(block_cg *s, const block_matrix *S_dagger)
{
    fit(s, &s->spare, s->q->nrhs);
    if (S_dagger) block_axpy(s->spare, 1, S_dagger, s->p, 1, s->q);
    else vector_copy(s->spare, s->q);
    field *const old = s->p;
    s->p = s->spare;
    s->spare = old;
}

/* beta C of X += P beta C, in units of what X is in. */
static block_matrix *weights(const block_cg *s)
{
    block_matrix *a = block_product(s->beta, 0, s->C, 0);
    if (!s->low_x) block_scale_columns(a, s->size);
    return a;
}

/* Takes a step but for the next directions. Gives the largest residual that it claims, or NaN where it cannot be made. The order
 * leaves something to a device while the host works on small matrices. */
static double step(block_cg *s)
{
    double claimed = 0;
    block_free(s->beta);
    block_free(s->S);
    s->beta = s->S = NULL;
    fit(s, &s->ap, s->p->nrhs);
    linop_apply(s->low, s->ap, s->p, 0);
    s->iterations++;
    s->flops += s->p->nrhs * s->low->flops;
    block_matrix *k = block_dot(s->p, s->ap, 1);
    s->beta = block_inverse(k);
    block_free(k);
    if (!s->beta) return NAN;
    block_axpy(s->q, -1, s->beta, s->ap, 1, s->q);
    block_matrix *const a = weights(s), *const gram = block_dot(s->q, s->q, 1);
    field *const x = s->low_x ? s->low_x : s->x;
    block_axpy(x, 1, a, s->p, 1, x);
    block_free(a);
    fit(s, &s->spare, s->q->nrhs);
    s->S = block_qr(&s->q, &s->spare, gram);
    if (!s->S) return NAN;
    block_matrix *const C = block_product(s->S, 0, s->C, 0);
    block_free(s->C);
    s->C = C;
    for (int j = 0; j < s->n; j++) claimed = fmax(claimed, sqrt(block_column_norm2(C, j)));
    return claimed;
}

/* ---- reliable updates ---- */

static void close_precision(block_cg *s)
{
    field *const all[] = {s->low_x, s->q, s->p, s->ap, s->spare};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
    s->low_x = s->q = s->p = s->ap = s->spare = NULL;
    block_free(s->C);
    block_free(s->S);
    block_free(s->beta);
    s->C = s->S = s->beta = NULL;
}

/* Begins the iteration in a precision, at the true residual. */
static void open_precision(block_cg *s, precision prec)
{
    const int same = prec == s->b->prec;
    s->low = linop_at(s->a, prec, s->a->where);
    linop_refresh(s->low);
    s->low_x = same ? NULL : linop_vector(s->low, s->n);
    s->failures = 0;
    s->pace = pace_start(s->settings, s->iterations, same ? INFINITY : s->worst * s->worst);
    if (decompose(s)) next_directions(s, NULL);
    else end(s, SOLVE_BROKEN);
}

static int too_slow(const block_cg *s)
{
    return s->low->prec != s->b->prec && pace_is_slow(&s->pace, s->iterations);
}

/* The next precision; in that of b the end. */
static void raise(block_cg *s, solve_status status, const char *trouble)
{
    const precision prec = s->low->prec;
    if (prec == s->b->prec) {
        end(s, status);
        return;
    }
    (solver_outermost() ? log_info : log_debug)(
        "solver %s: %s at a residual of %.1e in %s precision, which is raised to %s", solver_type_of(s->settings)->name,
        trouble, s->worst, precision_names[prec], precision_names[prec - 1]);
    close_precision(s);
    open_precision(s, prec - 1);
}

/* Directions from the residual that was measured: along the old ones, or anew where the recurrence had lost its way. */
static void go_on(block_cg *s, int anew)
{
    if (!decompose(s)) {
        end(s, SOLVE_BROKEN);
        return;
    }
    if (anew) {
        next_directions(s, NULL);
        return;
    }
    block_matrix *along = block_dot(s->q, s->p, 0), *overlap = block_dot(s->ap, s->q, 0);
    block_matrix *S_dagger = block_product(s->beta, 0, overlap, 0);
    block_scale(S_dagger, -1);
    block_axpy(s->p, -1, along, s->q, 1, s->p);
    next_directions(s, S_dagger);
    block_free(S_dagger);
    block_free(overlap);
    block_free(along);
}

/* x, the true residual, and how to go on. claimed: what the iteration says of it, or NaN after a step that failed. */
static void update(block_cg *s, double claimed)
{
    const double before = s->worst;
    add_up(s);
    if (!measure(s)) return;
    const double true_over_recurrence = s->worst / claimed;
    if (pace_halved(&s->pace, s->iterations, s->worst * s->worst)) s->failures = 0;
    else if (!(true_over_recurrence <= 1.5) || (s->worst > before && s->low->prec != s->b->prec)) s->failures++;
    if (s->failures >= PATIENCE)
        raise(s, isnan(claimed) ? SOLVE_BROKEN : SOLVE_STALLED, isnan(claimed) ? "broke down" : "stalled");
    else if (too_slow(s)) raise(s, SOLVE_STALLED, "slow");
    else go_on(s, !(true_over_recurrence <= 2));
}

/* After a step that claims so much. */
static int update_is_due(block_cg *s, double claimed)
{
    solver_note(s->iterations, claimed, s->low->prec, 0);
    s->most = fmax(s->most, claimed);
    s->given_up = solver_interrupted(s->b->lat);
    /* A little beyond the target, so that rounding does not ask for one more update. */
    return s->given_up || !(claimed > 0.9 * s->settings->tolerance) || s->b->lat->planned ||
           s->iterations >= s->settings->max_iterations || too_slow(s) ||
           (s->low_x && claimed < s->settings->delta * s->most);
}

static void iterate(block_cg *s)
{
    while (s->going) {
        const double claimed = step(s);
        if (update_is_due(s, claimed)) {
            update(s, claimed);
            continue;
        }
        block_matrix *S_dagger = block_dagger(s->S);
        next_directions(s, S_dagger);
        block_free(S_dagger);
    }
}

/* ---- entries ---- */

/* Norms of the sources; x = 0 where there is none. Returns 0 where there is a number that is none. */
static int measure_sources(block_cg *s)
{
    vector_norm2_each(s->size, s->b);
    for (int j = 0; j < s->n; j++) {
        if (!(s->size[j] < INFINITY)) return 0;
        s->size[j] = s->size[j] > 0 ? sqrt(s->size[j]) : 1;
        if (s->size[j] != 1) continue;
        const field source = field_rhs(s->b, j);
        if (vector_norm2(&source, 0) > 0) continue;
        field solution = field_rhs(s->x, j);
        vector_axpby(&solution, 0, &source, 0);
        field_written(s->x);
    }
    return 1;
}

static void solve(solver *of, field *x, const field *b, solve_result *each)
{
    block_cg s = {.settings = &of->settings, .a = solver_operator(of, b), .x = x, .b = b, .n = b->nrhs, .going = 1};
    s.given_up = solver_interrupted(b->lat);
    s.r = field_like(b);
    if (!measure_sources(&s)) end(&s, SOLVE_BROKEN);
    else if (measure(&s)) {
        open_precision(&s, solver_precision(&of->settings, b->prec));
        iterate(&s);
        close_precision(&s);
    }
    field_destroy(s.r);
    for (int j = 0; j < s.n; j++)
        each[j] = (solve_result){.status = s.rest[j] <= of->settings.tolerance ? SOLVE_CONVERGED : s.status,
                                 .iterations = s.iterations,
                                 .flops = s.flops / s.n};
}

/* ---- keys ---- */

_Static_assert(sizeof(block_cg_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of block_cg");
_Static_assert(BLOCK_MOST == 64, "the range of block_size");

static const param own[] = {
    {"block_size", PARAM_INT, SOLVER_KEY(block_cg_keys, block_size), "64", "[1,64]", NULL,
     "right-hand sides solved together, at most; more are solved in several blocks", 0},
};

static const param_section part = PARAM_PART("solver", "block_cg", solver_settings, own);

static int block_size(const solver_settings *s)
{
    return block_cg_keys_of(s)->block_size;
}

const solver_type solver_block_cg = {
    .name = "block_cg",
    .help = "block conjugate gradients on a Hermitian positive operator: right-hand sides share a Krylov space",
    .keys = "inner_precision delta",
    .own = &part,
    .positive = 1,
    .solve = solve,
    .block_size = block_size};
