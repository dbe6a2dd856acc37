/* Wilson-clover flavours, odd numbers too, by rational functions: det(M^dagger M)^(N/2) = (det A)^N
 * det(Mhat^dagger Mhat)^(N/2), the second factor by n pseudofermions, each for its nth root (A. Kennedy, I. Horvath and
 * S. Sint, hep-lat/9809092; M. Clark and A. Kennedy, hep-lat/0608015). With K = Mhat^dagger Mhat and a = N / 2n
 *
 *   S = sum_k phi_k^dagger K^-a phi_k,  phi_k = K^(a/2) eta_k = K K^(a/2 - 1) eta_k
 *
 * where powers are rational functions. All exponents lie between -1 and 0, where the residues have one sign: sums of
 * partial fractions lose no digits, as those of positive exponents would, and K takes back what solves magnify.
 *
 * The range of the functions is given, or measured at the start of the trajectory, from the links alone. That the
 * spectrum is inside is measured before anything is drawn and again before the action of the accept step. Where it is
 * not, there is no result; or, if that is wanted, the trajectory is begun again from its links and random numbers with
 * functions on a wider range, which is forgotten after it. A range stays as it is from heat bath to accept step. A
 * measured or widened one may be another one on the way back, so that such a trajectory is reversible to the
 * precision of the approximation of its force. Where det M may be negative, its modulus is what is simulated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hmc/evolve/inverter.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/spinor.h"
#include "solvers/lanczos.h"

/* Room for what moves in a trajectory. Low modes move by factors, and a wider range is a pole or so more. */
#define LOW_MARGIN 0.1
#define HIGH_MARGIN 1.5
#define LANCZOS_STEPS 5000
#define LANCZOS_TOLERANCE 0.02

enum { HEAT, ACCEPT, EVOLVE };

typedef struct {
    action base;
    rational_settings s;
    linop *m;
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

/* Bounds of the spectrum; nonzero when there are none. */
static int measure(rational_part *p, const char *use, double *low, double *high)
{
    const spectrum s = lanczos_bounds(p->solves.normal, 1, LANCZOS_STEPS, LANCZOS_TOLERANCE);
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
    if (low >= p->low && high <= p->high) return 0;
    double wide_low = fmin(low, p->low), wide_high = fmax(high, p->high);
    rational_action_range(&wide_low, &wide_high);
    snprintf(
        p->base.trouble, sizeof p->base.trouble,
        "%s, %s: the spectrum, %.4e to %.4e, is not inside the range of the rational functions, %.4e to %.4e; give "
        "[fermion.%s] %sspectrum = %.3g %.3g",
        p->base.name, use, low, high, p->low, p->high, p->base.name, p->s.widen ? "" : "range_breach = widen, or ",
        wide_low, wide_high);
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

/* x^(num/den) on a range, null with a message. */
static const rational *power(rational_store *store, int num, int den, double low, double high, double tolerance,
                             char *message, size_t size)
{
    static const rational inverse = {.degree = 1, .residues = {1}}; /* 1 / x: with two flavours and one pseudofermion */
    if (num == -den) return &inverse;
    const power_product f = power_of_x(num, den);
    return rational_for(store, &f, low, high, tolerance, message, size);
}

/* Functions of heat bath, accept step and force; nonzero, with a message, when one is not to be had. */
static int functions(rational_store *store, const rational_settings *s, double low, double high, const rational *r[3],
                     char *message, size_t size)
{
    const int n = s->flavours, roots = s->pseudofermions;
    r[HEAT] = power(store, n - 4 * roots, 4 * roots, low, high, s->approximation, message, size);
    if (!r[HEAT]) return 1;
    r[ACCEPT] = power(store, -n, 2 * roots, low, high, s->approximation, message, size);
    if (!r[ACCEPT]) return 1;
    r[EVOLVE] = power(store, -n, 2 * roots, low, high, s->force_approximation, message, size);
    return !r[EVOLVE];
}

rational_degrees rational_action_degrees(const rational_settings *s)
{
    const rational *r[3];
    char message[256];
    const double low = s->high > 0 ? s->low : 1, high = s->high > 0 ? s->high : RATIONAL_ORDINARY_WIDTH;
    rational_degrees d = {RATIONAL_MAX_DEGREE, RATIONAL_MAX_DEGREE, RATIONAL_MAX_DEGREE};
    rational_store *store = rational_store_create();
    if (!functions(store, s, low, high, r, message, sizeof message))
        d = (rational_degrees){r[HEAT]->degree, r[ACCEPT]->degree, r[EVOLVE]->degree};
    rational_store_destroy(store);
    return d;
}

static int choose_functions(rational_part *p)
{
    char message[256];
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
        rational_action_range(&p->low, &p->high);
    } else if (breach(p, "start", low, high)) return 1;
    if (functions(p->store, &p->s, p->low, p->high, p->r, message, sizeof message)) {
        snprintf(p->base.trouble, sizeof p->base.trouble,
                 "%s: no rational functions on %.3e to %.3e: %s; give [fermion.%s] a larger approximation",
                 p->base.name, p->low, p->high, message, p->base.name);
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
static int apply(rational_part *p, const rational *r, field *y, const field *b, const char *use)
{
    field *x[RATIONAL_MAX_DEGREE];
    open_solutions(p, r, x);
    const int failed = inverter_poles(&p->solves, p->s.action_solver, r, x, b, use);
    spinor_axpby(y, r->constant, b, 0);
    for (int i = 0; i < r->degree; i++) spinor_axpby(y, r->residues[i], x[i], 1);
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
        spinor_random(eta, key.seed, (uint32_t)(a->purpose + k * MAX_ACTIONS), key.trajectory);
        a->start_value += spinor_norm2(eta, 0);
        failed = apply(p, p->r[HEAT], y, eta, "heat bath");
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
        failed = apply(p, p->r[ACCEPT], y, p->phi[k], "action");
        spinor_dot(d, p->phi[k], y, 0);
        *s += d[0];
    }
    field_destroy(y);
    return failed;
}

/* dS = -sum_i 2 residue_i Re (M X_i)^dagger dM X_i with X_i = (K + pole_i)^-1 phi */
static int force(action *a, field *f)
{
    rational_part *p = (rational_part *)a;
    field *x[RATIONAL_MAX_DEGREE], *y = field_like(p->phi[0]);
    wilson_force sum = wilson_force_open(f, a->links);
    int failed = 0;
    open_solutions(p, p->r[EVOLVE], x);
    for (int k = 0; k < p->s.pseudofermions && !failed; k++) {
        failed = inverter_poles(&p->solves, p->s.force_solver, p->r[EVOLVE], x, p->phi[k], "force");
        for (int i = 0; i < p->r[EVOLVE]->degree && !failed; i++) {
            linop_apply(p->m, y, x[i], 0);
            wilson_force_add(&sum, p->s.w, p->r[EVOLVE]->residues[i], x[i], y, y);
        }
    }
    close_solutions(p->r[EVOLVE], x);
    field_destroy(y);
    wilson_force_close(&sum);
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

action *rational_action_create(const char *name, const field *links, const rational_settings *s)
{
    static const action_table table = {refresh, value, force, destroy, begin_again};
    rational_part *p = calloc(1, sizeof *p);
    REQUIRE(p, "out of memory");
    REQUIRE(s->pseudofermions <= RATIONAL_MOST_PSEUDOFERMIONS && s->flavours <= 2 * s->pseudofermions,
            "%d flavours by %d pseudofermions", s->flavours, s->pseudofermions);
    p->base.table = &table;
    p->base.links = links;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->base.has_spectrum = 1;
    p->s = *s;
    p->m = wilson_schur(s->w);
    inverter_open(&p->solves, &p->base, p->m, s->solvers, s->nsolvers);
    for (int k = 0; k < s->pseudofermions; k++) p->phi[k] = linop_vector(p->m, 1);
    p->store = rational_store_create();
    return &p->base;
}
