#include "hmc/integrate/balance.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/log.h"

/* Parts that differ by less are in balance: the measure is no better. */
#define BALANCED 10
/* Mean dH at which one trajectory in three is accepted, erfc(sqrt(dH) / 2) of them (S. Gupta, A. Irbaeck, F. Karsch and
 * B. Petersson, Phys. Lett. B 242 (1990) 437). Far from equilibrium links lose energy: dH is negative there. */
#define TOO_LARGE_DH 2

static double mean_square(const force_record *f)
{
    return f->count ? f->square / (double)f->count : 0;
}

/* Standard deviation of the norm, from one evaluation to another. */
static double spread(const force_record *f)
{
    const double mean = f->count ? f->sum / (double)f->count : 0;
    return sqrt(fmax(0, mean_square(f) - mean * mean));
}

void balance_levels(const evolution *e, double length, level_balance levels[MAX_LEVELS])
{
    double time = length;
    for (int l = 0; l < e->nlevels; l++) {
        const level *in = &e->levels[l];
        level_balance *out = &levels[l];
        double square = 0;
        for (int i = 0; i < in->nactions; i++) square += mean_square(&e->totals[in->actions[i]]);
        out->dt = time / in->steps;
        out->apart = out->dt / scheme_forces(in->scheme);
        out->part = square * pow(out->apart, scheme_order(in->scheme));
        time = out->dt / scheme_drifts(in->scheme);
    }
}

void balance_advice(const evolution *e, const level_balance levels[MAX_LEVELS], char *text, size_t size)
{
    int most = 0, least = 0;
    const dh_record *r = &e->dh[e->dh[1].count > 0];
    const double dh = r->count ? r->sum / (double)r->count : 0;
    if (dh > TOO_LARGE_DH) {
        snprintf(text, size,
                 "dH is %.3g (mean of %ld): shorter ones first where the largest force stands out from its r.m.s., or "
                 "a heavier mass between (ratio_to, or `with` of staggered quarks)",
                 dh, r->count);
        return;
    }
    if (e->nlevels == 1) {
        snprintf(text, size, "one level: nothing to balance");
        return;
    }
    for (int l = 1; l < e->nlevels; l++) {
        if (levels[l].part > levels[most].part) most = l;
        if (levels[l].part < levels[least].part) least = l;
    }
    if (!(levels[most].part > BALANCED * levels[least].part)) {
        snprintf(text, size, "the levels are in balance");
        return;
    }
    if (levels[least].part == 0) {
        snprintf(text, size, "level %d has no force; level %d makes dH", least, most);
        return;
    }
    const double longer = pow(levels[most].part / levels[least].part, 1.0 / scheme_order(e->levels[least].scheme));
    snprintf(text, size,
             "level %d makes dH: shorter steps there; those of level %d could be up to %.1f times as long, with the "
             "steps of finer levels kept",
             most, least, longer);
}

void balance_report(const evolution *e, double length)
{
    level_balance levels[MAX_LEVELS];
    char advice[256];
    long forces = 0;
    for (int i = 0; i < e->nactions; i++) forces += e->totals[i].count;
    if (!forces) return;
    balance_levels(e, length, levels);
    log_info("%-26s %6s %10s %10s %10s %10s %12s", "forces", "level", "step", "r.m.s.", "deviation", "largest",
             "part of dH");
    for (int l = 0; l < e->nlevels; l++)
        for (int i = 0; i < e->levels[l].nactions; i++) {
            const int a = e->levels[l].actions[i];
            const force_record *f = &e->totals[a];
            const double part = mean_square(f) * pow(levels[l].apart, scheme_order(e->levels[l].scheme));
            log_info("  %-24s %6d %10.4g %10.4g %10.4g %10.4g %12.2e", e->actions[a]->name, l, levels[l].dt,
                     sqrt(mean_square(f)), spread(f), f->most, part);
        }
    for (int i = 0; e->anisotropic && i < e->nactions; i++) {
        const force_record *f = &e->totals[i];
        const double n = (double)f->count;
        if (f->count)
            log_info("  %-24s %.4g of links in space, %.4g of links in time", e->actions[i]->name,
                     sqrt(f->space_square / n), sqrt(f->time_square / n));
    }
    balance_advice(e, levels, advice, sizeof advice);
    log_info("  steps: %s", advice);
}
