/* BiCGStab(l) (G. Sleijpen and D. Fokkema, ETNA 1 (1993) 11, algorithm 3.1), for general operators, with reliable
 * updates; l = 1 is BiCGStab. The polynomial is found from the normal equations of its minimal residual, all of whose
 * sums come from l passes, as in G. Sleijpen, H. van der Vorst and D. Fokkema, Numer. Algorithms 7 (1994)
 * 75.
 *
 * A breakdown (rho, gamma or omega near zero) begins the recurrence anew with the residual as the shadow residual. */
#include <math.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/bicgstab.h"
#include "solvers/reliable.h"

typedef double pair[2]; /* re, im */

/* Anew in a row before it is given up. */
#define BREAKDOWNS 5
/* (a, b) / (|a| |b|) below which they count as orthogonal. */
#define ORTHOGONAL 1e-14

typedef struct {
    int l;
    field *r[BICGSTAB_MOST + 1], *u[BICGSTAB_MOST + 1]; /* r[0]: the residual */
    field *shadow;
    double shadow2, r2;
    pair rho0, rho, alpha, omega;
} vectors;

static void multiply(pair c, const pair a, const pair b)
{
    const double re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];
    c[0] = re;
    c[1] = im;
}

static double size2(const pair a)
{
    return a[0] * a[0] + a[1] * a[1];
}

/* c = a / b. Returns 0 where b is zero or none is a number. */
static int divide(pair c, const pair a, const pair b)
{
    const double d = size2(b);
    const pair conjugate = {b[0] / d, -b[1] / d};
    multiply(c, a, conjugate);
    return d > 0 && isfinite(c[0]) && isfinite(c[1]);
}

static void anew(vectors *v, double r2)
{
    vector_copy(v->shadow, v->r[0]);
    field_clear(v->u[0]);
    v->shadow2 = v->r2 = r2;
    v->rho[0] = r2;
    v->rho0[0] = v->omega[0] = 1;
    v->rho[1] = v->rho0[1] = v->alpha[0] = v->alpha[1] = v->omega[1] = 0;
}

/* Step j of the l of BiCG. Adds the applications done; returns 0 at a breakdown. */
static int bicg(vectors *v, int j, reliable *t, int *applications)
{
    pair beta, gamma, one[MULTI_PAIRS], other[MULTI_PAIRS];
    field *y[MULTI_PAIRS], *z[MULTI_PAIRS];
    if (j > 0) vector_dot(v->rho, v->shadow, v->r[j], 0);
    if (size2(v->rho) < ORTHOGONAL * ORTHOGONAL * v->shadow2 * v->r2) return 0;
    multiply(beta, v->alpha, v->rho);
    if (!divide(beta, beta, v->rho0)) return 0;
    for (int i = 0; i <= j; i++) {
        one[i][0] = 1;
        one[i][1] = 0;
        other[i][0] = -beta[0];
        other[i][1] = -beta[1];
    }
    vector_multi_axpby(j + 1, v->u, (const pair *)one, v->r, (const pair *)other);
    linop_apply(t->low, v->u[j + 1], v->u[j], 0);
    ++*applications;
    vector_dot(gamma, v->shadow, v->u[j + 1], 0);
    if (!divide(v->alpha, v->rho, gamma)) return 0;
    v->rho0[0] = v->rho[0];
    v->rho0[1] = v->rho[1];
    /* r_i -= alpha u_(i+1), x += alpha u_0 */
    for (int i = 0; i <= j + 1; i++) {
        const int last = i == j + 1;
        y[i] = last ? t->low_x : v->r[i];
        z[i] = last ? v->u[0] : v->u[i + 1];
        one[i][0] = 1;
        one[i][1] = 0;
        other[i][0] = last ? v->alpha[0] : -v->alpha[0];
        other[i][1] = last ? v->alpha[1] : -v->alpha[1];
    }
    vector_multi_axpby(j + 2, y, (const pair *)other, z, (const pair *)one);
    linop_apply(t->low, v->r[j + 1], v->r[j], 0);
    ++*applications;
    return 1;
}

/* gamma of the smallest |r_0 - sum_j gamma_j r_j|: G gamma = h with G_ij = (r_i, r_j), h_i = (r_i, r_0), by
 * elimination. Returns 0 where the r_j depend on each other. */
static int polynomial(const vectors *v, pair *gamma)
{
    pair g[BICGSTAB_MOST][BICGSTAB_MOST + 1], sums[BICGSTAB_MOST + 1];
    const int l = v->l;
    for (int j = 1; j <= l; j++) {
        vector_multi_dot(sums, j + 1, v->r, v->r[j], 0);
        for (int i = 0; i <= j; i++) {
            const pair conjugate = {sums[i][0], -sums[i][1]};
            memcpy(g[j - 1][i > 0 ? i - 1 : l], conjugate, sizeof conjugate);
            if (i > 0) memcpy(g[i - 1][j - 1], sums[i], sizeof sums[i]);
        }
    }
    pair factor, part;
    for (int k = 0; k < l; k++) {
        if (!(g[k][k][0] > 0) || isinf(g[k][k][0])) return 0;
        for (int i = k + 1; i < l; i++) {
            divide(factor, g[i][k], g[k][k]);
            for (int j = k; j <= l; j++) {
                multiply(part, factor, g[k][j]);
                g[i][j][0] -= part[0];
                g[i][j][1] -= part[1];
            }
        }
    }
    for (int i = l - 1; i >= 0; i--) {
        for (int j = i + 1; j < l; j++) {
            multiply(part, g[i][j], gamma[j]);
            g[i][l][0] -= part[0];
            g[i][l][1] -= part[1];
        }
        if (!divide(gamma[i], g[i][l], g[i][i])) return 0;
    }
    return 1;
}

/* Runs a cycle: l steps and the polynomial. Returns 0 at a breakdown; r_0 then belongs to x all the same. */
static int cycle(vectors *v, reliable *t, int *applications)
{
    pair gamma[BICGSTAB_MOST];
    multiply(v->rho0, v->omega, v->rho0);
    v->rho0[0] = -v->rho0[0];
    v->rho0[1] = -v->rho0[1];
    for (int j = 0; j < v->l; j++)
        if (!bicg(v, j, t, applications)) return 0;
    if (!polynomial(v, gamma)) return 0;
    memcpy(v->omega, gamma[v->l - 1], sizeof v->omega);
    v->r2 = vector_bicgstab_update(v->rho, t->low_x, v->r, v->u, v->l, (const pair *)gamma, v->shadow, 0);
    return size2(v->omega) > 0;
}

/* Iterates until the end, or until the precision is raised. */
static void iterate(vectors *v, reliable *t)
{
    anew(v, t->r2);
    for (int breakdowns = 0;;) {
        int applications = 0;
        const int whole = cycle(v, t, &applications);
        if (!whole) v->r2 = vector_norm2(v->r[0], 0);
        breakdowns = whole ? 0 : breakdowns + 1;
        if (breakdowns > BREAKDOWNS) {
            reliable_break(t);
            return;
        }
        if (!reliable_due(t, applications, v->r2) && whole) continue;
        if (!reliable_update(t, v->r2)) return;
        v->r2 = t->r2;
        /* The directions go on, unless the recurrence had lost its way. */
        if (whole && t->true_over_recurrence < 4) vector_dot(v->rho, v->shadow, v->r[0], 0);
        else anew(v, v->r2);
    }
}

static void solve(solver *of, field *x, const field *b, solve_result *each)
{
    const bicgstab_keys *s = bicgstab_keys_of(&of->settings);
    reliable t;
    REQUIRE(s->l >= 1 && s->l <= BICGSTAB_MOST, "BiCGStab(%d)", s->l);
    reliable_open(&t, of, x, b, 2 * s->l, 0);
    while (t.going) {
        vectors v = {.l = s->l, .shadow = field_like(t.low_r)};
        v.r[0] = t.low_r;
        v.u[0] = field_like(t.low_r);
        for (int j = 1; j <= v.l; j++) {
            v.r[j] = field_like(t.low_r);
            v.u[j] = field_like(t.low_r);
        }
        iterate(&v, &t);
        for (int j = 1; j <= v.l; j++) {
            field_destroy(v.u[j]);
            field_destroy(v.r[j]);
        }
        field_destroy(v.u[0]);
        field_destroy(v.shadow);
    }
    *each = reliable_close(&t);
}

static const param own[] = {
    {"l", PARAM_INT, SOLVER_KEY(bicgstab_keys, l), "2", "[1,4]", NULL, "degree of the polynomial; 1 is BiCGStab", 0},
};

static const param_section part = PARAM_PART("solver", "bicgstab", solver_settings, own);
_Static_assert(sizeof(bicgstab_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of bicgstab");

const solver_type solver_bicgstab = {.name = "bicgstab",
                                     .help = "BiCGStab(l), with reliable updates",
                                     .keys = "inner_precision delta",
                                     .own = &part,
                                     .model = {.part = 0.7, .least = 10, .work = 1, .exchanges = 1},
                                     .solve = solve};
