/* GCR that avoids communication (M. Hoemmen, Communication-avoiding Krylov subspace methods, Berkeley 2010; chapter 3 for
 * s-step bases): begun anew after s applications of A, for whose coefficients ranks add up once.
 *
 *   v_i = A^i r, i = 1 ... s
 *   c minimises |r - sum_i c_i v_i|:   (v_i, v_j) c_j = (v_i, r), all products in one sum
 *   x += sum_i c_i v_(i-1),   r -= sum_i c_i v_i
 *
 * In exact arithmetic these are s steps of GCR from r. The powers A^i r soon point the same way: the equations are scaled
 * to a unit diagonal and solved by Cholesky's decomposition, which ends at the first vector that depends on those before
 * it. Then fewer are used. */
#include "solvers/ca_gcr.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/reliable.h"

/* A pivot, of a unit diagonal, below which a vector depends on others, in each precision. */
static const double dependent[PREC_COUNT] = {1e-13, 1e-6, 1e-4, 1e-2};

typedef double complex square[CA_GCR_MOST][CA_GCR_MOST];

/* (v_i, v_j) and (v_i, r) among the sums of vector_gram_each() over v_1 ... v_n, r. */
static double complex product(const double (*sums)[2], int i, int j)
{
    const double *s = sums[j * (j + 1) / 2 + i];
    return s[0] + I * s[1];
}

/* c of the equations above, of as many vectors as are independent; returns how many. */
static int coefficients(double complex *c, int n, const double (*sums)[2], double least)
{
    square l;
    double scale[CA_GCR_MOST];
    int used = 0;
    for (int i = 0; i < n; i++) {
        const double size2 = creal(product(sums, i, i));
        if (!(size2 > 0 && size2 < INFINITY)) break;
        scale[i] = 1 / sqrt(size2);
        double pivot = 1;
        for (int j = 0; j < i; j++) {
            double complex sum = conj(product(sums, j, i)) * scale[i] * scale[j];
            for (int k = 0; k < j; k++) sum -= l[i][k] * conj(l[j][k]);
            l[i][j] = sum / l[j][j];
            pivot -= creal(l[i][j] * conj(l[i][j]));
        }
        if (!(pivot > least)) break;
        l[i][i] = sqrt(pivot);
        used++;
    }
    for (int i = 0; i < used; i++) {
        c[i] = product(sums, i, n) * scale[i];
        for (int k = 0; k < i; k++) c[i] -= l[i][k] * c[k];
        c[i] /= l[i][i];
    }
    for (int i = used - 1; i >= 0; i--) {
        for (int k = i + 1; k < used; k++) c[i] -= conj(l[k][i]) * c[k];
        c[i] /= conj(l[i][i]);
    }
    for (int i = 0; i < used; i++) c[i] *= scale[i];
    return used;
}

void ca_gcr_step(double *r2, const char *going, int steps, linop *a, field *x, field *r, field *const *v)
{
    enum { SUMS = (CA_GCR_MOST + 1) * (CA_GCR_MOST + 2) / 2 };
    static double sums[SOLVER_BLOCK_MOST * SUMS][2];
    double plus[SOLVER_BLOCK_MOST * CA_GCR_MOST][2] = {{0}}, minus[SOLVER_BLOCK_MOST * CA_GCR_MOST][2] = {{0}},
                                    norm2[SOLVER_BLOCK_MOST];
    int many[SOLVER_BLOCK_MOST];
    field *all[CA_GCR_MOST + 1], *before[CA_GCR_MOST];
    char moves[SOLVER_BLOCK_MOST];
    const int n = steps, each = (n + 1) * (n + 2) / 2;
    REQUIRE(steps >= 1 && steps <= CA_GCR_MOST, "%d steps", steps);
    for (int i = 0; i < n; i++) {
        before[i] = i ? v[i - 1] : r;
        linop_apply(a, v[i], before[i], 0);
        all[i] = v[i];
    }
    all[n] = r;
    vector_gram_each(sums, going, n + 1, all);
    for (int k = 0; k < x->nrhs; k++) {
        double complex c[CA_GCR_MOST];
        const int used = going[k] ? coefficients(c, n, (const double(*)[2])sums + k * each, dependent[a->prec]) : 0;
        moves[k] = used > 0;
        many[k] = used;
        if (going[k]) r2[k] = NAN;
        for (int i = 0; i < used; i++) {
            plus[k * n + i][0] = creal(c[i]);
            plus[k * n + i][1] = cimag(c[i]);
            for (int part = 0; part < 2; part++) minus[k * n + i][part] = -plus[k * n + i][part];
        }
    }
    vector_multi_axpy_each(moves, x, many, n, (const double(*)[2])plus, before);
    vector_multi_axpy_each(moves, r, many, n, (const double(*)[2])minus, v);
    vector_norm2_each(norm2, r);
    for (int k = 0; k < x->nrhs; k++)
        if (moves[k]) r2[k] = norm2[k];
}

static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    const int steps = ca_gcr_keys_of(&s->settings)->steps;
    reliable u;
    reliable_open(&u, s, x, b, 1, 0);
    u.patience = pace_of(&s->settings);
    while (u.going) {
        field *v[CA_GCR_MOST];
        for (int i = 0; i < steps; i++) v[i] = field_like(u.low_r);
        for (double r2;;) {
            const int left = s->settings.max_iterations - u.result.iterations, n = steps < left ? steps : left;
            ca_gcr_step(&r2, &(const char){1}, n, u.low, u.low_x, u.low_r, v);
            if (!(r2 < INFINITY)) {
                reliable_break(&u);
                break;
            }
            if (reliable_due(&u, n, r2) && !reliable_update(&u, r2)) break;
        }
        for (int i = 0; i < steps; i++) field_destroy(v[i]);
    }
    *each = reliable_close(&u);
}

/* ---- solves from zero by the recurrence ---- */

/* Vectors kept from call to call, of n right-hand sides. */
typedef struct {
    int n;
    field *r, *v[CA_GCR_MOST];
} state;

static void open(solver *s)
{
    s->state = calloc(1, sizeof(state));
    REQUIRE_MEMORY(s->state, "out of memory");
}

static void release(state *t)
{
    field_destroy(t->r);
    for (int i = 0; i < CA_GCR_MOST; i++) field_destroy(t->v[i]);
    *t = (state){0};
}

static void close(solver *s)
{
    release(s->state);
    free(s->state);
}

static state *keep(solver *s, const field *b)
{
    state *t = s->state;
    if (t->n == b->nrhs) return t;
    release(t);
    t->n = b->nrhs;
    t->r = field_like(b);
    for (int i = 0; i < ca_gcr_keys_of(&s->settings)->steps; i++) t->v[i] = field_like(b);
    return t;
}

static void reduce(solver *of, const char *given, field *x, const field *b, solve_result *each)
{
    const int steps = ca_gcr_keys_of(&of->settings)->steps;
    const double tolerance2 = of->settings.tolerance * of->settings.tolerance;
    linop *a = solver_operator(of, b);
    state *t = keep(of, b);
    double b2[SOLVER_BLOCK_MOST], r2[SOLVER_BLOCK_MOST];
    char going[SOLVER_BLOCK_MOST];
    int n = 0, many = 0;
    vector_norm2_each(b2, b);
    for (int k = 0; k < t->n; k++) {
        r2[k] = b2[k];
        many += going[k] = (!given || given[k]) && b2[k] > 0;
    }
    field_clear(x);
    vector_copy(t->r, b);
    for (; n < of->settings.max_iterations && many > 0; n += steps) {
        ca_gcr_step(r2, going, steps, a, x, t->r, t->v);
        many = 0;
        for (int k = 0; k < t->n; k++) many += going[k] = going[k] && !b->lat->planned && r2[k] > tolerance2 * b2[k];
    }
    for (int k = 0; k < t->n; k++)
        each[k] = (solve_result){
            .status = r2[k] <= tolerance2 * b2[k] ? SOLVE_CONVERGED : SOLVE_TOO_MANY_ITERATIONS,
            .iterations = n,
            .flops = n * a->flops,
        };
}

static const param own[] = {
    {"steps", PARAM_INT, SOLVER_KEY(ca_gcr_keys, steps), "8", "[1,16]", NULL,
     "applications of the operator between two sums over ranks", 0},
};

static const param_section part = PARAM_PART("solver", "ca_gcr", solver_settings, own);
_Static_assert(sizeof(ca_gcr_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of ca_gcr");

const solver_type solver_ca_gcr = {
    .name = "ca_gcr",
    .help = "generalised conjugate residuals that avoid communication: several steps from one sum over ranks",
    .keys = "inner_precision delta",
    .own = &part,
    .model = {.part = 1, .least = 10, .work = 0.7, .exchanges = 0.5},
    .solve = solve,
    .reduce = reduce,
    .open = open,
    .close = close};
