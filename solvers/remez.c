/* The Remez algorithm for rational functions in barycentric form (S. Filip, Y. Nakatsukasa, L. Trefethen and
 * B. Beckermann, SIAM J. Sci. Comput. 40 (2018) A2427, section 4, here with the error relative to f):
 *
 *   r(x) = N(x) / D(x),  N = sum_j alpha_j / (x - t_j),  D = sum_j beta_j / (x - t_j)
 *
 * On a reference x_0 < x_1 < ... an r with r(x_k) = f(x_k) (1 +- E), signs alternating, is looked for. The t_j are
 * every other point of the reference, so that alpha_j = f(t_j) (1 - E) beta_j; the other points give
 *
 *   sum_j [f(t_j) - f(x_k)] / (x_k - t_j) beta_j = E sum_j [f(t_j) + f(x_k)] / (x_k - t_j) beta_j,
 *
 * an eigenvalue problem whose eigenvalue next to zero belongs to the r without poles in between. Then the reference
 * moves to the extrema of r/f - 1, until these are of equal size. Its conditioning is about 1/E, far from the limits of
 * 113 bits, where the coefficients of polynomials would need many more.
 *
 * x below is the argument plus the smallest shift, as if that were zero, and u = log x. */
#include "solvers/remez.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"

typedef _Float128 quad;

#define MAX_TERMS (RATIONAL_MAX_DEGREE + 1)
#define MAX_POINTS (2 * RATIONAL_MAX_DEGREE + 2)
#define MAX_EXCHANGES 100
#define MAX_SWEEPS 10000   /* sweeps of inverse iteration; a few hundred, unless the error is close to 1 */
#define SETTLED 1e-20f128  /* relative change of an eigenvector in a sweep */
#define LEVELLED 1e-9      /* spread of the extrema from where one more exchange, quadratic, ends beyond double */
#define SMALLEST 1e-22f128 /* smallest error, so that rounding times 1/E stays below double */
#define LOOKS 8            /* between neighbours of the last reference, for an error that is larger after all */
#define PLACES 1e-10f128   /* accuracy of extrema, over the distance of zeros: their values are wrong by its square */

typedef struct {
    quad shift, exponent;
} factor;

typedef struct {
    int nfactors;
    factor factors[RATIONAL_MAX_FACTORS];
    quad lo, hi;  /* range of u */
    quad base;    /* the smallest shift */
    int n, above; /* degrees */
    int m;        /* points of the reference */
    quad u[MAX_POINTS], x[MAX_POINTS], fx[MAX_POINTS];
    quad t[MAX_TERMS], alpha[MAX_TERMS], beta[MAX_TERMS], level;
    char *message;
    size_t size;
} state;

__attribute__((format(printf, 2, 3))) static int fail(state *s, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vsnprintf(s->message, s->size, fmt, list);
    va_end(list);
    return 1;
}

/* ---- f, r and the error ---- */

static quad value(const state *s, quad x)
{
    quad log_f = 0;
    for (int k = 0; k < s->nfactors; k++) log_f += s->factors[k].exponent * logf128(x + s->factors[k].shift);
    return expf128(log_f);
}

/* The term whose t is x itself, or -1. */
static int term_at(const state *s, quad x)
{
    for (int j = 0; j <= s->n; j++)
        if (x == s->t[j]) return j;
    return -1;
}

/* r/f - 1 without the cancellation that forming r first would bring. */
static quad error_at(const state *s, quad u)
{
    const quad x = expf128(u), f = value(s, x);
    const int at = term_at(s, x);
    if (at >= 0) return s->alpha[at] / (s->beta[at] * f) - 1;
    quad top = 0, below = 0;
    for (int j = 0; j <= s->n; j++) {
        const quad w = 1 / (x - s->t[j]);
        top += (s->alpha[j] - s->beta[j] * f) * w;
        below += s->beta[j] * w;
    }
    return top / (f * below);
}

/* Slope with the sign of the error's: d log(r/f) / du. */
static quad slope_at(const state *s, quad u)
{
    const quad x = expf128(u);
    quad n = 0, d = 0, dn = 0, dd = 0, df = 0;
    if (term_at(s, x) >= 0) return 0;
    for (int j = 0; j <= s->n; j++) {
        const quad w = 1 / (x - s->t[j]);
        n += s->alpha[j] * w;
        d += s->beta[j] * w;
        dn -= s->alpha[j] * w * w;
        dd -= s->beta[j] * w * w;
    }
    for (int k = 0; k < s->nfactors; k++) df += s->factors[k].exponent / (x + s->factors[k].shift);
    return x * (dn / n - dd / d - df);
}

/* Zero of g between a and b, to within `width`: regula falsi, Illinois, whose steps shrink faster than geometrically, so
 * that one shorter than `width` is the last. */
static quad crossing(const state *s, quad (*g)(const state *, quad), quad a, quad ga, quad b, quad gb, quad width)
{
    quad before = INFINITY;
    int moved = 0; /* the end that the last step has moved, by its sign */
    for (int i = 0; i < 200 && b - a > width; i++) {
        quad c = (a * gb - b * ga) / (gb - ga);
        /* Steps that gain little, as at a bad start, are replaced by halving. */
        if (!(c > a && c < b) || i % 8 == 7) c = (a + b) / 2;
        if (fabsf128(c - before) < width) return c;
        const quad gc = g(s, before = c);
        if (gc == 0) return c;
        /* An end that stays a second time counts half. */
        if ((gc > 0) == (gb > 0)) {
            b = c, gb = gc;
            if (moved > 0) ga /= 2;
            moved = 1;
        } else {
            a = c, ga = gc;
            if (moved < 0) gb /= 2;
            moved = -1;
        }
    }
    return (a + b) / 2;
}

/* ---- the levelled r of a reference ---- */

typedef quad matrix[MAX_TERMS][MAX_TERMS];

/* a = L U with rows interchanged; nonzero when a is singular. */
static int decompose(int n, matrix a, int pivot[MAX_TERMS])
{
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c + 1; i < n; i++)
            if (fabsf128(a[i][c]) > fabsf128(a[p][c])) p = i;
        pivot[c] = p;
        if (a[p][c] == 0) return 1;
        for (int j = 0; j < n; j++) {
            const quad t = a[p][j];
            a[p][j] = a[c][j];
            a[c][j] = t;
        }
        for (int i = c + 1; i < n; i++) {
            a[i][c] /= a[c][c];
            for (int j = c + 1; j < n; j++) a[i][j] -= a[i][c] * a[c][j];
        }
    }
    return 0;
}

static void back_substitute(int n, matrix a, const int pivot[MAX_TERMS], quad b[MAX_TERMS])
{
    for (int i = 0; i < n; i++) {
        const quad t = b[pivot[i]];
        b[pivot[i]] = b[i];
        b[i] = t;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) b[i] -= a[i][j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
}

/* The two matrices, with rows scaled by sqrt(x_k / f_k) and columns by sqrt(t_j / f_j), which makes their entries
 * alike. With a numerator of lower degree there is a point less, and sum_j alpha_j = 0 instead. */
static void fill(const state *s, matrix left, matrix right)
{
    const int first = s->above == s->n, n = s->n + 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int k = 2 * i + 1 - first, l = 2 * j + first;
            if (k >= s->m) {
                left[i][j] = sqrtf128(s->x[l] * s->fx[l]);
                right[i][j] = 0;
                continue;
            }
            const quad scale = sqrtf128(s->x[k] * s->x[l] / (s->fx[k] * s->fx[l])) / (s->x[k] - s->x[l]);
            left[i][j] = (s->fx[l] - s->fx[k]) * scale;
            right[i][j] = (s->fx[l] + s->fx[k]) * scale;
        }
}

/* Sets t, alpha, beta and the level E, by inverse iteration. */
static int level(state *s)
{
    matrix left, right;
    quad v[MAX_TERMS], w[MAX_TERMS];
    int pivot[MAX_TERMS];
    const int first = s->above == s->n, n = s->n + 1;
    fill(s, left, right);
    if (decompose(n, left, pivot)) return fail(s, "the function is itself a rational function of that degree");
    for (int j = 0; j < n; j++) v[j] = j & 1 ? -1 : 1;
    quad mu = 0, change = 1, last = 2;
    /* Sweeps go on until rounding is all that changes. */
    for (int sweep = 0; sweep < MAX_SWEEPS && !(change < SETTLED && change >= last); sweep++) {
        last = change;
        int largest = 0;
        for (int i = 0; i < n; i++) {
            w[i] = 0;
            for (int j = 0; j < n; j++) w[i] += right[i][j] * v[j];
        }
        back_substitute(n, left, pivot, w);
        for (int j = 1; j < n; j++)
            if (fabsf128(w[j]) > fabsf128(w[largest])) largest = j;
        mu = w[largest] / v[largest];
        change = 0;
        for (int j = 0; j < n; j++) change = fmaxf128(change, fabsf128(w[j] / mu - v[j]));
        change /= fabsf128(v[largest]);
        for (int j = 0; j < n; j++) v[j] = w[j] / mu;
    }
    if (!(change < SETTLED))
        return fail(s, "the range is too wide for an approximation of degree %d to be found", s->n);
    s->level = 1 / mu;
    if (fabsf128(s->level) < SMALLEST)
        return fail(s, "the error of degree %d is about %.0e, too close to the rounding of 113 bits; take a lower one",
                    s->n, (double)fabsf128(s->level));
    for (int j = 0; j < n; j++) {
        const int l = 2 * j + first;
        /* The denominator keeps its sign from t to t. */
        if (j && (v[j] > 0) == (v[j - 1] > 0)) return fail(s, "the levelled approximation has a pole inside the range");
        s->t[j] = s->x[l];
        s->beta[j] = v[j] * sqrtf128(s->x[l] / s->fx[l]);
        s->alpha[j] = s->beta[j] * s->fx[l] * (1 - s->level);
    }
    return 0;
}

/* ---- the exchange ---- */

static void place(state *s, int k, quad u)
{
    s->u[k] = u;
    s->x[k] = expf128(u);
    s->fx[k] = value(s, s->x[k]);
}

/* The extremum of the error between a and b, where it is positive throughout, or negative. */
static quad extremum(const state *s, quad a, quad b, int positive)
{
    /* Next to a zero |error| rises inwards; at an end of the range it may fall, and then that end is the extremum. */
    const quad inset = 1e-7f128 * (b - a), ca = a + inset, cb = b - inset;
    const quad ga = slope_at(s, ca), gb = slope_at(s, cb);
    if (a == s->lo && (ga > 0) != positive) return a;
    if (b == s->hi && (gb > 0) == positive) return b;
    return crossing(s, slope_at, ca, ga, cb, gb, PLACES * (b - a));
}

/* Moves the reference to the extrema; *spread: how far their sizes are apart, relative to the level. */
static int exchange(state *s, quad *spread)
{
    quad ends[MAX_POINTS + 1], errors[MAX_POINTS], lowest = INFINITY, highest = 0;
    ends[0] = s->lo;
    ends[s->m] = s->hi;
    for (int k = 0; k < s->m; k++) errors[k] = error_at(s, s->u[k]);
    for (int k = 1; k < s->m; k++) {
        const quad width = 1e-4f128 * (s->u[k] - s->u[k - 1]);
        if ((errors[k - 1] > 0) == (errors[k] > 0))
            return fail(s, "rounding is as large as the error of the approximation");
        ends[k] = crossing(s, error_at, s->u[k - 1], errors[k - 1], s->u[k], errors[k], width);
    }
    for (int k = 0; k < s->m; k++) {
        place(s, k, extremum(s, ends[k], ends[k + 1], errors[k] > 0));
        const quad size = fabsf128(error_at(s, s->u[k]));
        lowest = fminf128(lowest, size);
        highest = fmaxf128(highest, size);
    }
    *spread = (highest - lowest) / highest;
    return 0;
}

/* dn(z K, k) by descending Landen transformations, 0 <= z <= 1, from the complementary modulus k' = `kc`. */
static quad elliptic_dn(quad z, quad kc)
{
    quad a[24] = {1}, c[24], b = kc;
    int n = 0;
    for (; n < 23 && fabsf128(a[n] - b) > 1e-15f128 * a[n]; n++) {
        c[n + 1] = (a[n] - b) / 2;
        a[n + 1] = (a[n] + b) / 2;
        b = sqrtf128(a[n] * b);
    }
    /* 2^n a_n z K with K = pi / (2 a_n) */
    quad phi = ldexpf128(z * M_PI_2f128, n), last = phi;
    for (; n > 0; n--) {
        last = phi;
        phi = (phi + asinf128(c[n] / a[n] * sinf128(phi))) / 2;
    }
    return cosf128(phi) / cosf128(last - phi);
}

/* The first reference: Zolotarev's points, right for exponents 1/2 and -1/2. Where f is constant far out, or like 1 /
 * x, the best approximation is that of a shorter range: x / (1 + x / c) with c the distance of the outermost shifts. */
static void first_reference(state *s)
{
    quad total = 0, bend = 0;
    for (int k = 0; k < s->nfactors; k++) {
        total += s->factors[k].exponent;
        bend = fmaxf128(bend, s->factors[k].shift);
    }
    const int rational_far_out = bend > 0 && fabsf128(total - rintf128(total)) < 1e-6f128;
    bend = rational_far_out ? 1 / bend : 0;
    const quad lo = expf128(s->lo), hi = expf128(s->hi), wlo = lo / (1 + lo * bend), whi = hi / (1 + hi * bend);
    place(s, 0, s->lo);
    place(s, s->m - 1, s->hi);
    for (int k = 1; k < s->m - 1; k++) {
        const quad dn = elliptic_dn(1 - (quad)k / (s->m - 1), sqrtf128(wlo / whi)), w = whi * dn * dn;
        place(s, k, logf128(w / (1 - w * bend)));
    }
}

/* Nowhere on the range is the error larger than on the reference. */
static int verify(state *s)
{
    const quad allowed = fabsf128(s->level) * (1 + 1e-6f128);
    for (int k = 0; k <= s->m; k++) {
        const quad a = k ? s->u[k - 1] : s->lo, b = k < s->m ? s->u[k] : s->hi;
        for (int i = 0; i <= LOOKS; i++) {
            const quad error = error_at(s, a + (b - a) * i / LOOKS);
            if (!(fabsf128(error) <= allowed))
                return fail(s, "the levelled approximation of degree %d has a larger error between its extrema", s->n);
        }
    }
    return 0;
}

static int iterate(state *s)
{
    first_reference(s);
    int last = 0;
    for (int i = 0; i < MAX_EXCHANGES; i++) {
        quad spread = 0;
        if (level(s)) return 1;
        if (last) return verify(s);
        if (exchange(s, &spread)) return 1;
        last = spread < LEVELLED;
    }
    return fail(s, "the Remez iteration did not converge in %d exchanges", MAX_EXCHANGES);
}

/* ---- poles, zeros, residues ---- */

/* The roots of sum_j c_j / (x - t_j), `count` of them, as positive numbers -x in ascending order. The polynomial has
 * only negative roots if all is well; then Newton's iteration from zero finds the largest of those not yet divided out,
 * from above. */
static int roots(state *s, const quad c[MAX_TERMS], int count, quad root[MAX_TERMS], const char *what)
{
    for (int found = 0; found < count; found++) {
        quad x = 0, step = 1, last = 1;
        int i = 0;
        for (; i < 300 && !(step < 1e-12f128 * -x && fabsf128(step) >= last / 2); i++) {
            last = fabsf128(step);
            quad sum = 0, slope = 0, newton = 0;
            for (int j = 0; j <= s->n; j++) {
                const quad w = 1 / (x - s->t[j]);
                sum += c[j] * w;
                slope -= c[j] * w * w;
                newton += w;
            }
            if (sum == 0) break;
            newton += slope / sum;
            for (int j = 0; j < found; j++) newton -= 1 / (x + root[j]);
            step = 1 / newton;
            x -= step;
            /* Rounding decides the direction at the end; a step to the right before says that there is no such root. */
            if (!(x < 0) || (step < 0 && step < 1e-12f128 * x)) i = 300;
        }
        if (i >= 300 || (found && !(-x > root[found - 1])))
            return fail(s, "the best approximation has %s that are not real, or not to the left of the range", what);
        root[found] = -x;
    }
    return 0;
}

static int finish(state *s, rational *r)
{
    quad poles[MAX_TERMS], zeros[MAX_TERMS];
    if (roots(s, s->beta, s->n, poles, "poles") || roots(s, s->alpha, s->above, zeros, "zeros")) return 1;
    quad scale = value(s, s->x[s->m - 1]) * (1 + error_at(s, s->hi));
    for (int i = 0; i < s->n; i++) scale *= s->x[s->m - 1] + poles[i];
    for (int i = 0; i < s->above; i++) scale /= s->x[s->m - 1] + zeros[i];
    r->degree = s->n;
    r->degree_above = s->above;
    r->error = (double)fabsf128(s->level);
    r->scale = (double)scale;
    r->constant = s->above == s->n ? r->scale : 0;
    for (int i = 0; i < s->n; i++) {
        quad residue = scale;
        for (int j = 0; j < s->above; j++) residue *= zeros[j] - poles[i];
        for (int j = 0; j < s->n; j++)
            if (j != i) residue /= poles[j] - poles[i];
        r->residues[i] = (double)residue;
        r->poles[i] = (double)(poles[i] + s->base);
    }
    for (int i = 0; i < s->above; i++) r->zeros[i] = (double)(zeros[i] + s->base);
    return 0;
}

/* ---- the call ---- */

static int prepare(state *s, const power_product *f, double lo, double hi)
{
    quad base = INFINITY;
    int integers = 1;
    if (f->nfactors < 1 || f->nfactors > RATIONAL_MAX_FACTORS)
        return fail(s, "%d factors; allowed are 1 to %d", f->nfactors, RATIONAL_MAX_FACTORS);
    for (int k = 0; k < f->nfactors; k++) {
        const shifted_power *p = &f->factors[k];
        if (!isfinite(p->shift)) return fail(s, "a shift is not a number");
        if (p->den == 0) return fail(s, "an exponent %d/0", p->num);
        if (p->num == 0) continue;
        integers = integers && p->num % p->den == 0;
        s->factors[s->nfactors++] = (factor){p->shift, (quad)p->num / p->den};
        base = fminf128(base, p->shift);
    }
    if (!s->nfactors) return fail(s, "the function is constant");
    if (integers) return fail(s, "with integer exponents the function is rational itself");
    if (!(lo < hi) || !isfinite(hi) || !isfinite(lo)) return fail(s, "the range %g to %g is empty", lo, hi);
    if (!(lo + base > 0)) return fail(s, "the range %g to %g reaches a zero or a pole of the function", lo, hi);
    for (int k = 0; k < s->nfactors; k++) s->factors[k].shift -= base;
    s->base = base;
    s->lo = logf128(lo + base);
    s->hi = logf128(hi + base);
    return 0;
}

int remez(rational *r, const power_product *f, double lo, double hi, int degree, int degree_above, char *message,
          size_t size)
{
    state *s = calloc(1, sizeof *s);
    rational result = {.f = *f, .lo = lo, .hi = hi};
    REQUIRE_MEMORY(s, "out of memory");
    s->message = message;
    s->size = size;
    s->n = degree;
    s->above = degree_above;
    s->m = degree + degree_above + 2;
    int bad = degree < 1 || degree > RATIONAL_MAX_DEGREE || degree_above > degree || degree_above < degree - 1;
    if (bad)
        fail(s, "degree (%d, %d); allowed are (n, n) and (n - 1, n) with n from 1 to %d", degree_above, degree,
             RATIONAL_MAX_DEGREE);
    bad = bad || prepare(s, f, lo, hi) || iterate(s) || finish(s, &result);
    if (!bad) *r = result;
    free(s);
    return bad;
}
