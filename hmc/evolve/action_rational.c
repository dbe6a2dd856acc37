/* Powers of determinants by rational functions (A. Kennedy, I. Horvath and S. Sint, hep-lat/9809092; M. Clark and A.
 * Kennedy, hep-lat/0608015): odd numbers of flavours, roots of the staggered determinant, and ratios of those of
 * several masses, which are shifts of one operator. With K Hermitian and positive on one parity, and r(K) the nth root
 * of prod_i (K + shift_i)^-power_i, approximated,
 *
 *   S = sum_k phi_k^dagger r(K) phi_k,  phi_k = r(K)^-1/2 eta_k = K [K^-1 r(K)^-1/2] eta_k
 *
 * As the exponents of r, added up from the smallest shift on, stay between -1 and 0, so do those in brackets, and the
 * residues have one sign: sums of partial fractions lose no digits, as those of positive exponents would, and K takes
 * back what solves magnify.
 *
 * The range of the functions is given, or measured at the start of the trajectory, from the links alone. That the
 * spectrum is inside is measured before anything is drawn and again before the action of the accept step. Where it is
 * not, there is no result; or, if that is wanted, the trajectory is begun again from its links and random numbers with
 * functions on a wider range, which is forgotten after it. A range stays as it is from heat bath to accept step. A
 * measured or widened one may be another one on the way back, so that such a trajectory is reversible to the precision
 * of the approximation of its force; only where the quark bounds its spectrum from below, that end is always the same.
 * Where det M may be negative, its modulus is what is simulated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hmc/evolve/inverter.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/vector.h"
#include "solvers/lanczos.h"

/* Room for what moves in a trajectory. Low modes move by factors, and a wider range is a pole or so more. */
#define LOW_MARGIN 0.1
#define HIGH_MARGIN 1.5
#define LANCZOS_STEPS 5000
#define LANCZOS_TOLERANCE 0.02
/* Steps after which the upper end alone is looked at, which comes sooner. */
#define LANCZOS_FIRST 64

enum { HEAT, ACCEPT, EVOLVE };

typedef struct {
    action base;
    rational_settings s;
    inverter solves;
    field *phi[RATIONAL_MOST_PSEUDOFERMIONS];
    rational_store *store;
    double low, high;     /* the range in use */
    double found[2];      /* the spectrum that was not inside, else 0 */
    int widened;          /* low, high hold for all attempts at this trajectory that are to come */
    const rational *r[3]; /* of the store */
} rational_part;

void rational_action_range(double *low, double *high)
{
    *low = pow(2, 0.25 * floor(4 * log2(LOW_MARGIN * *low)));
    *high = pow(2, 0.25 * ceil(4 * log2(HIGH_MARGIN * *high)));
}

/* ---- the range ---- */

/* The range before the spectrum is measured. */
static void planned_range(const rational_settings *s, double *low, double *high)
{
    const double bound = s->bound;
    *low = s->high > 0 ? s->low : bound > 0 ? bound : 1;
    *high = s->high > 0 ? s->high : bound > 0 ? bound + RATIONAL_ORDINARY_HIGH : RATIONAL_ORDINARY_WIDTH;
}

/* The ends of the spectrum, the lower one as known where it is. */
static spectrum look(const rational_part *p)
{
    const double bound = p->s.bound;
    spectrum s = {0};
    for (int steps = bound > 0 ? LANCZOS_FIRST : LANCZOS_STEPS; steps <= LANCZOS_STEPS; steps *= 4) {
        s = lanczos_bounds(p->solves.normal, 1, steps, LANCZOS_TOLERANCE);
        if (bound == 0 || s.status == LANCZOS_BROKEN) return s;
        s.low = bound;
        s.low_error = 0;
        if (s.high_error <= LANCZOS_TOLERANCE * s.high) s.status = LANCZOS_CONVERGED;
        if (s.status == LANCZOS_CONVERGED) return s;
    }
    return s;
}

static int is_planned(const rational_part *p)
{
    return p->solves.normal->lat->planned;
}

/* Bounds of the spectrum; nonzero when there are none. On a planned lattice they are those of the range in use. */
static int measure(rational_part *p, const char *use, double *low, double *high)
{
    const spectrum s = look(p);
    if (is_planned(p)) {
        planned_range(&p->s, low, high);
        return 0;
    }
    *low = s.low - s.low_error;
    *high = s.high + s.high_error;
    log_debug("%s, %s: spectrum %.4e to %.4e after %d steps", p->base.name, use, *low, *high, s.steps);
    if (s.status != LANCZOS_CONVERGED || !(*low > 0) || !(*high < INFINITY)) {
        snprintf(
            p->base.trouble, sizeof p->base.trouble,
            "%s, %s: no bounds of the spectrum after %d Lanczos steps (%.3e with error %.1e, %.3e with error %.1e)",
            p->base.name, use, s.steps, s.low, s.low_error, s.high, s.high_error);
        p->base.advice = ADVICE_NUMBERS;
        return 1;
    }
    p->base.spectrum_low = fmin(p->base.spectrum_low, *low);
    p->base.spectrum_high = fmax(p->base.spectrum_high, *high);
    return 0;
}

/* Nonzero when [low, high] is not inside the range in use. */
static int breach(rational_part *p, const char *use, double low, double high)
{
    /* A bound that is known was typed with the digits that one types. */
    const double least = p->s.bound > 0 ? p->low * (1 - 1e-12) : p->low;
    if (low >= least && high <= p->high) return 0;
    double wide_low = fmin(low, p->low), wide_high = fmax(high, p->high);
    rational_action_range(&wide_low, &wide_high);
    if (p->s.bound > 0) wide_low = fmin(low, p->low);
    snprintf(
        p->base.trouble, sizeof p->base.trouble,
        "%s, %s: the spectrum, %.4e to %.4e, is not inside the range of the rational functions, %.4e to %.4e; give "
        "[fermion.%s] %sspectrum = %.*g %.3g",
        p->base.name, use, low, high, p->low, p->high, p->base.name, p->s.widen ? "" : "range_breach = widen, or ",
        p->s.bound > 0 ? 15 : 3, wide_low, wide_high);
    p->base.advice = ADVICE_SPECTRUM;
    p->found[0] = low;
    p->found[1] = high;
    return 1;
}

/* The range in use takes in the spectrum that was not inside, with room. */
static void widen(rational_part *p)
{
    double low = p->found[0], high = p->found[1];
    rational_action_range(&low, &high);
    if (p->s.bound > 0) low = p->found[0];
    log_warn("%s: the spectrum, %.4e to %.4e, is not inside the range %.4e to %.4e, which is now %.4e to %.4e",
             p->base.name, p->found[0], p->found[1], p->low, p->high, fmin(low, p->low), fmax(high, p->high));
    p->low = fmin(low, p->low);
    p->high = fmax(high, p->high);
    p->found[0] = p->found[1] = 0;
}

static int begin_again(action *a)
{
    rational_part *p = (rational_part *)a;
    if (!p->s.widen || p->found[1] == 0) return 0;
    widen(p);
    p->widened = 1;
    return 1;
}

/* f on a range, null with a message. */
static const rational *function(rational_store *store, const power_product *f, double low, double high,
                                double tolerance, char *message, size_t size)
{
    static const rational inverse = {.degree = 1, .residues = {1}}; /* 1 / x: what takes no root */
    if (f->nfactors == 1 && f->factors[0].num == -f->factors[0].den) return &inverse;
    return rational_for(store, f, low, high, tolerance, message, size);
}

/* f(x)^(-1/2) / x */
static power_product heat_of(const power_product *f)
{
    power_product h = *f;
    for (int i = 0; i < f->nfactors; i++) {
        h.factors[i].num = -f->factors[i].num;
        h.factors[i].den = 2 * f->factors[i].den;
    }
    h.factors[0].num -= h.factors[0].den;
    return h;
}

/* Functions of heat bath, accept step and force; nonzero, with a message, when one is not to be had by the action of
 * this name. */
static int functions(const char *name, rational_store *store, const rational_settings *s, double low, double high,
                     const rational *r[3], char *message, size_t size)
{
    const power_product heat = heat_of(&s->root);
    char why[256];
    r[HEAT] = r[ACCEPT] = r[EVOLVE] = NULL;
    r[HEAT] = function(store, &heat, low, high, s->approximation, why, sizeof why);
    if (r[HEAT]) r[ACCEPT] = function(store, &s->root, low, high, s->approximation, why, sizeof why);
    if (r[ACCEPT]) r[EVOLVE] = function(store, &s->root, low, high, s->force_approximation, why, sizeof why);
    if (r[EVOLVE]) return 0;
    snprintf(message, size, "%s: no rational functions on %.3e to %.3e: %s; give [fermion.%s] a larger approximation",
             name, low, high, why, name);
    return 1;
}

int rational_action_check(const char *name, const rational_settings *s, char *message, size_t size)
{
    const rational *r[3];
    double low, high;
    if (s->high == 0 && s->bound == 0) return 0;
    rational_store *store = rational_store_create();
    planned_range(s, &low, &high);
    if (s->high == 0) high = s->bound + RATIONAL_LEAST_HIGH;
    const int bad = functions(name, store, s, low, high, r, message, size);
    rational_store_destroy(store);
    return bad;
}

static int choose_functions(rational_part *p)
{
    double low, high;
    p->found[0] = p->found[1] = 0;
    if (p->base.failures == 0) p->widened = 0;
    if (!p->widened) {
        p->low = p->s.low;
        p->high = p->s.high;
    }
    if (measure(p, "start", &low, &high)) return 1;
    if (p->s.high == 0 && !p->widened) {
        p->low = low;
        p->high = high;
        if (!is_planned(p)) rational_action_range(&p->low, &p->high);
        if (p->s.bound > 0) p->low = p->s.bound;
    } else if (breach(p, "start", low, high)) return 1;
    if (functions(p->base.name, p->store, &p->s, p->low, p->high, p->r, p->base.trouble, sizeof p->base.trouble)) {
        p->base.advice = ADVICE_SPECTRUM;
        return 1;
    }
    log_debug("%s: range %.4e to %.4e, degrees %d (heat bath), %d (action), %d (force)", p->base.name, p->low, p->high,
              p->r[HEAT]->degree, p->r[ACCEPT]->degree, p->r[EVOLVE]->degree);
    return 0;
}

/* ---- solves ---- */

static void open_solutions(const rational_part *p, const rational *r, field **x)
{
    for (int i = 0; i < r->degree; i++) x[i] = field_like(p->phi[0]);
}

static void close_solutions(const rational *r, field **x)
{
    for (int i = 0; i < r->degree; i++) field_destroy(x[i]);
}

/* y = r(K) b; y is not b. */
static int apply(rational_part *p, const named_solver *solver, const rational *r, field *y, const field *b,
                 const char *use)
{
    field *x[RATIONAL_MAX_DEGREE];
    open_solutions(p, r, x);
    const int failed = inverter_poles(&p->solves, solver, r, x, b, use);
    vector_axpby(y, r->constant, b, 0);
    for (int i = 0; i < r->degree; i++) vector_axpby(y, r->residues[i], x[i], 1);
    close_solutions(r, x);
    return failed;
}

static int refresh(action *a, random_key key)
{
    rational_part *p = (rational_part *)a;
    int failed = choose_functions(p);
    field *eta = field_like(p->phi[0]), *y = field_like(eta);
    a->start_value = 0;
    a->start_known = 1;
    for (int k = 0; k < p->s.pseudofermions && !failed; k++) {
        vector_random(eta, key.seed, (uint32_t)(a->purpose + k * MAX_ACTIONS), key.trajectory);
        a->start_value += vector_norm2(eta, 0);
        failed = apply(p, p->s.solvers.heat_bath, p->r[HEAT], y, eta, "heat bath");
        linop_apply(p->solves.normal, p->phi[k], y, 0);
    }
    field_destroy(y);
    field_destroy(eta);
    return failed;
}

static int value(action *a, double *s)
{
    rational_part *p = (rational_part *)a;
    double low, high;
    int failed = measure(p, "action", &low, &high) || breach(p, "action", low, high);
    field *y = field_like(p->phi[0]);
    *s = 0;
    for (int k = 0; k < p->s.pseudofermions && !failed; k++) {
        double d[2];
        failed = apply(p, p->s.solvers.action, p->r[ACCEPT], y, p->phi[k], "action");
        vector_dot(d, p->phi[k], y, 0);
        *s += d[0];
    }
    field_destroy(y);
    return failed;
}

static void *open_sum(action *a, field *f)
{
    rational_part *p = (rational_part *)a;
    return fermion_open_force(p->s.quark, f);
}

static void close_sum(action *a, void *sum)
{
    fermion_close_force(((rational_part *)a)->s.quark, sum);
}

/* The forces of all poles, with X_i = (K + pole_i)^-1 phi. */
static int add_to_sum(action *a, void *sum)
{
    rational_part *p = (rational_part *)a;
    const rational *r = p->r[EVOLVE];
    const named_solver *solver = action_force_solver(a, &p->s.solvers);
    field *x[RATIONAL_MAX_DEGREE];
    int failed = 0;
    open_solutions(p, r, x);
    for (int k = 0; k < p->s.pseudofermions && !failed; k++) {
        failed = inverter_poles(&p->solves, solver, r, x, p->phi[k], "force");
        if (!failed) fermion_add_force(sum, p->s.quark, r->degree, r->residues, x);
    }
    close_solutions(r, x);
    return failed;
}

static void destroy(action *a)
{
    rational_part *p = (rational_part *)a;
    rational_store_destroy(p->store);
    inverter_close(&p->solves);
    for (int k = 0; k < p->s.pseudofermions; k++) field_destroy(p->phi[k]);
    free(p);
}

action *rational_action_create(const char *name, const rational_settings *s)
{
    static const action_table table = {.refresh = refresh,
                                       .value = value,
                                       .destroy = destroy,
                                       .begin_again = begin_again,
                                       .open_sum = open_sum,
                                       .add_to_sum = add_to_sum,
                                       .close_sum = close_sum};
    rational_part *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    REQUIRE(s->pseudofermions <= RATIONAL_MOST_PSEUDOFERMIONS && s->root.factors[0].shift == 0,
            "%d pseudofermions, first shift %g", s->pseudofermions, s->root.factors[0].shift);
    p->base.table = &table;
    p->base.links = s->quark->links;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->base.has_spectrum = 1;
    p->base.shares = s->quark->shares;
    p->s = *s;
    inverter_open(&p->solves, &p->base, s->quark, s->solvers.all, s->solvers.n);
    for (int k = 0; k < s->pseudofermions; k++) p->phi[k] = linop_vector(p->solves.normal, 1);
    p->store = rational_store_create();
    return &p->base;
}
