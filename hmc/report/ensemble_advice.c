/* Rules on the averages of the last stretch, each a line of advice on what to change, or none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/integrate/balance.h"
#include "hmc/report/ensemble.h"

/* Cost per independent configuration is flat around the best acceptance, 61 % for schemes of order 2 and 78 % for order
 * 4 (T. Takaishi, Comput. Phys. Commun. 133 (2000) 6, hep-lat/9909134). <dH^2> is 8 erfc^{-1}(0.8)^2 at the goal. */
#define LOW_ACCEPTANCE 0.6
#define HIGH_ACCEPTANCE 0.95
#define GOAL_ACCEPTANCE 0.8
#define GOAL_SQUARE 0.2567
/* <dH^2> beyond which steps are unstable rather than long. */
#define UNSTABLE_SQUARE 100

static int find_action(const ensemble *e, const char *name, force_record *f)
{
    char title[160];
    snprintf(title, sizeof title, "force %s", name);
    const ensemble_series *s = ensemble_find(e, title);
    *f = (force_record){0};
    for (long i = s ? s->begin : 0; s && i < s->n; i++) {
        f->sum += s->value[i];
        f->square += s->value[i] * s->value[i];
        f->most = fmax(f->most, s->value[i]);
        f->count++;
    }
    return f->count > 0;
}

/* Levels and forces as an evolution that cannot evolve, for hmc/integrate/balance.h. Returns the number of levels. */
static int make_levels(const ensemble *e, evolution *v)
{
    char key[64], text[PARAM_TEXT_SIZE], word[128];
    const ensemble_series *dh = ensemble_find(e, "dH");
    v->nlevels = ensemble_levels(e, v->levels);
    for (int k = 0; k < v->nlevels; k++) {
        level *l = &v->levels[k];
        snprintf(key, sizeof key, "integrator.%d.actions", k);
        ensemble_parameter(e, key, text);
        for (int w = 0; param_word(text, w, word, sizeof word) && v->nactions < MAX_ACTIONS; w++) {
            l->actions[l->nactions++] = v->nactions;
            find_action(e, word, &v->totals[v->nactions++]);
        }
    }
    for (long i = dh ? dh->begin : 0; dh && i < dh->n; i++) {
        v->dh[1].sum += dh->value[i];
        v->dh[1].count++;
    }
    return v->nlevels;
}

static double mean_square(const ensemble_series *s)
{
    double sum = 0;
    for (long i = s->begin; i < s->n; i++) sum += s->value[i] * s->value[i];
    return sum / (double)(s->n - s->begin);
}

static void advise_steps(ensemble *e, const evolution *v, const level_balance balance[MAX_LEVELS])
{
    const ensemble_series *accepted = ensemble_find(e, "accepted"), *dh = ensemble_find(e, "dH");
    if (!accepted || !dh || dh->n - dh->begin < ENSEMBLE_LEAST_ROWS) return;
    int most = 0;
    for (int l = 1; l < v->nlevels; l++)
        if (balance[l].part > balance[most].part) most = l;
    const double share = accepted->a.mean, squares = mean_square(dh);
    const int steps = v->levels[most].steps, order = scheme_order(v->levels[most].scheme);
    if (squares > UNSTABLE_SQUARE) {
        param_text_add(
            &e->advice,
            "dH is so large (root mean square %.3g) that the integration is unstable: double [integrator.%d] "
            "steps = %d, or put a heavier mass between\n",
            sqrt(squares), most, steps);
        return;
    }
    /* <dH^2> goes with the step to the power of twice the order. */
    const double better = steps * pow(squares / GOAL_SQUARE, 0.5 / order);
    if (share < LOW_ACCEPTANCE && ceil(better) > steps)
        param_text_add(
            &e->advice,
            "acceptance %.2f is low: raise [integrator.%d] steps from %d to %.0f (level %d makes most of dH) "
            "for about %.0f %%\n",
            share, most, steps, ceil(better), most, 100 * GOAL_ACCEPTANCE);
    if (share > HIGH_ACCEPTANCE && ceil(better) < steps)
        param_text_add(&e->advice,
                       "acceptance %.2f is more than is worth its cost: [integrator.%d] steps = %.0f in place of %d "
                       "would give about %.0f %%\n",
                       share, most, ceil(better), steps, 100 * GOAL_ACCEPTANCE);
}

static void advise_exp(ensemble *e)
{
    const ensemble_series *s = ensemble_find(e, "exp(-dH)");
    if (!s || isnan(s->a.error) || s->n - s->begin < ENSEMBLE_LEAST_ROWS || fabs(s->a.mean - 1) <= 4 * s->a.error)
        return;
    param_text_add(&e->advice,
                   "<exp(-dH)> = %.4g +- %.2g is not 1: raise [run] warmup, tighten the tolerance of force solvers "
                   "(plaq verify shows reversibility), or shorten steps\n",
                   s->a.mean, s->a.error);
}

static void advise_drifts(ensemble *e)
{
    for (int k = 0; k < e->ndrifts; k++) {
        const ensemble_drift *d = &e->drifts[k];
        if (d->sigmas <= ENSEMBLE_DRIFTING) continue;
        param_text_add(
            &e->advice,
            "%s drifts, from %.6g +- %.2g in the first half to %.6g +- %.2g in the second, by %.1f sigma: the "
            "run is not in equilibrium from trajectory %lld on; raise [run] warmup (now %.0f), or see what "
            "plaq report --from N gives\n",
            d->of->name, d->first.mean, d->first.error, d->second.mean, d->second.error, d->sigmas,
            (long long)d->of->from, ensemble_number(e, "run.warmup", 0));
    }
}

/* True if advice about autocorrelation may rest on the series: an observable whose rows are many, and close enough to tell
 * its tau_int. */
static int tells_tau(const ensemble_series *s)
{
    const int counts = !strcmp(s->name, "plaquette") || !strncmp(s->name, "measure/", 8);
    return counts && !s->is_gauge_dependent && s->n - s->begin >= ENSEMBLE_LEAST_ROWS && s->a.error > 0 &&
           autocorrelation_resolved(&s->a);
}

static void advise_length(ensemble *e)
{
    const ensemble_series *slowest = NULL;
    for (int i = 0; i < e->nseries; i++)
        if (tells_tau(&e->series[i]) && (!slowest || e->series[i].a.tau > slowest->a.tau)) slowest = &e->series[i];
    if (!slowest) return;
    const double tau = slowest->a.tau, span = slowest->at[slowest->n - 1] - slowest->at[slowest->begin] + 1;
    if (span < 50 * tau)
        param_text_add(&e->advice,
                       "%.0f trajectories are %.0f times tau_int = %.1f of %s: errors are uncertain below 50\n", span,
                       span / tau, tau, slowest->name);
    const double apart = ensemble_number(e, "save.interval", 0);
    if (apart > 0 && apart < tau)
        param_text_add(&e->advice,
                       "configurations are kept every %.0f trajectories, and those of %s decorrelate in 2 tau_int = "
                       "%.0f: a larger [save] interval loses little\n",
                       apart, slowest->name, 2 * tau);
}

/* Says that there is no advice yet. */
static void note_few_rows(ensemble *e)
{
    const ensemble_series *s = ensemble_find(e, "plaquette");
    const long n = s ? s->n - s->begin : 0;
    if (n > 0 && n < ENSEMBLE_LEAST_ROWS)
        param_text_add(&e->notes,
                       "the averages have %ld trajectories: advice about steps, warm-up, length and intervals begins "
                       "with %d\n",
                       n, ENSEMBLE_LEAST_ROWS);
}

/* Averages of what was reached only. */
static void advise_missing(ensemble *e)
{
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        if (s->missing == 0 || strncmp(s->name, "measure/", 8)) continue;
        param_text_add(&e->advice,
                       "%s has no value in %ld of %ld measurements, so its average is biased: for scales of the flow "
                       "raise flow_time\n",
                       s->name, s->missing, s->missing + s->n - s->begin);
    }
}

static void advise_topology(ensemble *e)
{
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        const size_t n = strlen(s->name), tail = strlen(" charge");
        if (n < tail || strcmp(s->name + n - tail, " charge") || s->n - s->begin < ENSEMBLE_LEAST_ROWS) continue;
        double low = INFINITY, high = -INFINITY;
        for (long k = s->begin; k < s->n; k++) low = fmin(low, s->value[k]), high = fmax(high, s->value[k]);
        if (high - low < 0.5)
            param_text_add(&e->advice,
                           "%s stays within %.2f to %.2f: topology is frozen on this scale; open boundaries, longer "
                           "trajectories or more of them\n",
                           s->name, low, high);
    }
}

static void advise_weights(ensemble *e)
{
    for (int i = 0; i < e->nweights; i++) {
        const ensemble_weights *w = &e->weights[i];
        if (w->rows < ENSEMBLE_LEAST_ROWS || w->effective >= ENSEMBLE_EFFECTIVE * (double)w->rows) continue;
        param_text_add(&e->advice,
                       "weights of %s leave %.3g of %ld configurations: go less far, to a mass or twisted mass that is "
                       "nearer to that of the ensemble\n",
                       w->name, w->effective, w->rows);
    }
}

void ensemble_advise(ensemble *e)
{
    evolution *v = calloc(1, sizeof *v);
    level_balance balance[MAX_LEVELS] = {0};
    char text[256];
    REQUIRE_MEMORY(v, "out of memory: %zu bytes", sizeof *v);
    const double length = ensemble_number(e, "run.length", 0);
    if (make_levels(e, v) > 0 && length > 0) {
        balance_levels(v, length, balance);
        advise_steps(e, v, balance);
        if (v->dh[1].count >= ENSEMBLE_LEAST_ROWS && v->nlevels > 1) {
            balance_advice(v, balance, text, sizeof text);
            param_text_add(&e->advice, "%s\n", text);
        }
    }
    free(v);
    advise_exp(e);
    advise_drifts(e);
    advise_length(e);
    note_few_rows(e);
    advise_topology(e);
    advise_missing(e);
    advise_weights(e);
    if (e->parameters[0] && ensemble_number(e, "save.interval", 0) == 0)
        param_text_add(&e->advice,
                       "no configuration is kept: [save] interval = N keeps that of every N-th trajectory\n");
}
