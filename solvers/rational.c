#include "solvers/rational.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/error.h"

#define POINTS_PER_EXTREMUM 64

typedef struct entry {
    rational r;
    struct entry *next;
} entry;

struct rational_store {
    entry *first;
};

rational_store *rational_store_create(void)
{
    rational_store *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    return s;
}

void rational_store_destroy(rational_store *s)
{
    if (!s) return;
    for (entry *e = s->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    free(s);
}

/* ---- values ---- */

power_product power_of_x(int num, int den)
{
    return (power_product){1, {{0, num, den}}};
}

static long double precise_value(const power_product *f, long double x)
{
    long double log_f = 0;
    for (int k = 0; k < f->nfactors; k++)
        if (f->factors[k].num != 0) log_f += logl(x + f->factors[k].shift) * f->factors[k].num / f->factors[k].den;
    return expl(log_f);
}

double power_product_value(const power_product *f, double x)
{
    return (double)precise_value(f, x);
}

double rational_value(const rational *r, double x)
{
    double sum = r->constant;
    for (int i = 0; i < r->degree; i++) sum += r->residues[i] / (x + r->poles[i]);
    return sum;
}

double rational_measured_error(const rational *r)
{
    /* Extrema lie evenly in the logarithm of the distance from the poles, or closer at the ends, hence the cosine. */
    const int n = POINTS_PER_EXTREMUM * (2 * r->degree + 2);
    const double base = r->poles[0], a = log(r->lo + base), b = log(r->hi + base);
    double worst = 0;
    for (int i = 0; i <= n; i++) {
        double x = exp((a + b) / 2 - (b - a) / 2 * cos(M_PI * i / n)) - base;
        if (i == 0 || !(x > r->lo)) x = r->lo;
        if (i == n || x > r->hi) x = r->hi;
        const double error = fabs((double)(rational_value(r, x) / precise_value(&r->f, x) - 1));
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

/* ---- finding ---- */

static int same_function(const power_product *f, const power_product *g)
{
    if (f->nfactors != g->nfactors) return 0;
    for (int k = 0; k < f->nfactors; k++) {
        const shifted_power *p = &f->factors[k], *q = &g->factors[k];
        if (p->shift != q->shift || p->num != q->num || p->den != q->den) return 0;
    }
    return 1;
}

/* True if f falls like 1/x beyond its shifts, as where a ratio of determinants is divided by x. With as many zeros as
 * poles one zero would be far out on either side of infinity, wherever rounding puts it. */
static int falls_like_inverse(const power_product *f)
{
    long num = 0, den = 1;
    for (int k = 0; k < f->nfactors; k++) {
        num = num * f->factors[k].den + den * f->factors[k].num;
        den *= f->factors[k].den;
    }
    return num == -den;
}

const rational *rational_of_degree(rational_store *s, const power_product *f, double lo, double hi, int degree,
                                   char *message, size_t size)
{
    for (entry *e = s->first; e; e = e->next)
        if (e->r.degree == degree && e->r.lo == lo && e->r.hi == hi && same_function(&e->r.f, f)) return &e->r;
    rational r;
    if (remez(&r, f, lo, hi, degree, degree - falls_like_inverse(f), message, size)) return NULL;
    entry *e = malloc(sizeof *e);
    REQUIRE_MEMORY(e, "out of memory");
    *e = (entry){r, s->first};
    s->first = e;
    return &e->r;
}

/* Errors fall geometrically with the degree: the degree where that leads to the tolerance, from two that do not. */
static int extrapolate(const rational *a, const rational *b, double tolerance)
{
    const double fall = log(a->error / b->error) / (b->degree - a->degree);
    const double more = fall > 0 ? ceil(log(b->error / tolerance) / fall) : 1;
    return b->degree + (more < 1 ? 1 : more > RATIONAL_MAX_DEGREE ? RATIONAL_MAX_DEGREE : (int)more);
}

const rational *rational_for(rational_store *s, const power_product *f, double lo, double hi, double tolerance,
                             char *message, size_t size)
{
    const rational *failing = NULL, *r = NULL;
    if (!(tolerance > 0)) {
        snprintf(message, size, "a tolerance of %g; it has to be positive", tolerance);
        return NULL;
    }
    for (int degree = 1;;) {
        const int below = failing ? failing->degree : 0;
        r = rational_of_degree(s, f, lo, hi, degree, message, size);
        if (!r) return NULL;
        const double measured = rational_measured_error(r);
        if (measured <= tolerance) {
            if (degree == below + 1) return r;
            degree--;
            continue;
        }
        if (r->error < 0.1 * tolerance) {
            snprintf(message, size, "rounding in double limits the approximation to %.1e; the tolerance is %.1e",
                     measured, tolerance);
            return NULL;
        }
        if (degree == RATIONAL_MAX_DEGREE) {
            snprintf(message, size, "the largest degree, %d, has an error of %.1e; the tolerance is %.1e", degree,
                     measured, tolerance);
            return NULL;
        }
        degree = failing ? extrapolate(failing, r, tolerance) : degree + 1;
        if (degree > RATIONAL_MAX_DEGREE) degree = RATIONAL_MAX_DEGREE;
        failing = r;
    }
}

const rational *rational_inverse(rational_store *s, const rational *r, char *message, size_t size)
{
    power_product f = r->f;
    for (int k = 0; k < f.nfactors; k++) f.factors[k].num = -f.factors[k].num;
    return rational_of_degree(s, &f, r->lo, r->hi, r->degree, message, size);
}
