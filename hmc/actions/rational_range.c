#include "hmc/actions/rational_range.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/log.h"
#include "solvers/lanczos.h"

/* Room for what moves in a trajectory. Low modes move by factors, and a wider range is a pole or so more. */
#define LOW_MARGIN 0.1
#define HIGH_MARGIN 1.5
#define LANCZOS_STEPS 5000
#define LANCZOS_TOLERANCE 0.02
/* Steps after which the upper end alone is looked at, which comes sooner. */
#define LANCZOS_FIRST 64

void rational_range_margin(double *low, double *high)
{
    *low = pow(2, 0.25 * floor(4 * log2(LOW_MARGIN * *low)));
    *high = pow(2, 0.25 * ceil(4 * log2(HIGH_MARGIN * *high)));
}

void rational_range_planned(const rational_range *r, double *low, double *high)
{
    *low = r->given[1] > 0 ? r->given[0] : r->bound > 0 ? r->bound : 1;
    *high = r->given[1] > 0 ? r->given[1] : r->bound > 0 ? r->bound + RATIONAL_ORDINARY_HIGH : RATIONAL_ORDINARY_WIDTH;
}

/* The ends of the spectrum, the lower one as known where it is. */
static spectrum look(const rational_range *r)
{
    spectrum s = {0};
    for (int steps = r->bound > 0 ? LANCZOS_FIRST : LANCZOS_STEPS; steps <= LANCZOS_STEPS; steps *= 4) {
        s = lanczos_bounds(r->op, 1, steps, LANCZOS_TOLERANCE);
        if (r->bound == 0 || s.status == LANCZOS_BROKEN) return s;
        s.low = r->bound;
        s.low_error = 0;
        if (s.high_error <= LANCZOS_TOLERANCE * s.high) s.status = LANCZOS_CONVERGED;
        if (s.status == LANCZOS_CONVERGED) return s;
    }
    return s;
}

/* Bounds of the spectrum; nonzero when there are none. On a planned lattice they are those of the range in use. */
static int measure(const rational_range *r, action *a, const char *use, double *low, double *high)
{
    const spectrum s = look(r);
    if (r->op->lat->planned) {
        rational_range_planned(r, low, high);
        return 0;
    }
    *low = s.low - s.low_error;
    *high = s.high + s.high_error;
    log_debug("%s, %s: %s %.4e to %.4e after %d steps", a->name, use, r->key, *low, *high, s.steps);
    if (s.status != LANCZOS_CONVERGED || !(*low > 0) || !(*high < INFINITY)) {
        snprintf(
            a->trouble, sizeof a->trouble,
            "%s, %s: no bounds of the spectrum after %d Lanczos steps (%.3e with error %.1e, %.3e with error %.1e)",
            a->name, use, s.steps, s.low, s.low_error, s.high, s.high_error);
        a->advice = ADVICE_NUMBERS;
        return 1;
    }
    if (r->recorded) {
        a->spectrum_low = fmin(a->spectrum_low, *low);
        a->spectrum_high = fmax(a->spectrum_high, *high);
    }
    return 0;
}

/* Nonzero when [low, high] is not inside the range in use. */
static int breach(rational_range *r, action *a, const char *use, double low, double high)
{
    /* A bound that is known was typed with the digits that one types. */
    const double least = r->bound > 0 ? r->low * (1 - 1e-12) : r->low;
    if (low >= least && high <= r->high) return 0;
    double wide_low = fmin(low, r->low), wide_high = fmax(high, r->high);
    rational_range_margin(&wide_low, &wide_high);
    if (r->bound > 0) wide_low = fmin(low, r->low);
    snprintf(
        a->trouble, sizeof a->trouble,
        "%s, %s: the spectrum, %.4e to %.4e, is not inside the range of the rational functions, %.4e to %.4e; give "
        "[action.%s] %s%s = %.*g %.3g",
        a->name, use, low, high, r->low, r->high, a->name, r->widen ? "" : "range_breach = widen, or ", r->key,
        r->bound > 0 ? 15 : 3, wide_low, wide_high);
    a->advice = ADVICE_SPECTRUM;
    r->found[0] = low;
    r->found[1] = high;
    return 1;
}

int rational_range_widen(rational_range *r, const action *a)
{
    double low = r->found[0], high = r->found[1];
    if (!r->widen || r->found[1] == 0) return 0;
    rational_range_margin(&low, &high);
    if (r->bound > 0) low = r->found[0];
    log_warn("%s: the spectrum, %.4e to %.4e, is not inside the range %.4e to %.4e, which is now %.4e to %.4e", a->name,
             r->found[0], r->found[1], r->low, r->high, fmin(low, r->low), fmax(high, r->high));
    r->low = fmin(low, r->low);
    r->high = fmax(high, r->high);
    r->found[0] = r->found[1] = 0;
    r->widened = 1;
    return 1;
}

int rational_range_begin(rational_range *r, action *a)
{
    double low, high;
    r->found[0] = r->found[1] = 0;
    if (a->failures == 0) r->widened = 0;
    if (!r->widened) {
        r->low = r->given[0];
        r->high = r->given[1];
    }
    if (measure(r, a, "start", &low, &high)) return 1;
    if (r->given[1] > 0 || r->widened) return breach(r, a, "start", low, high);
    r->low = low;
    r->high = high;
    if (!r->op->lat->planned) rational_range_margin(&r->low, &r->high);
    if (r->bound > 0) r->low = r->bound;
    return 0;
}

int rational_range_check(rational_range *r, action *a)
{
    double low, high;
    return measure(r, a, "action", &low, &high) || breach(r, a, "action", low, high);
}
