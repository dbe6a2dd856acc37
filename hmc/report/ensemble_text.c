/* The summary of a run as text, on 100 columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/tell/text.h"
#include "hmc/record/stretch.h"
#include "hmc/report/ensemble.h"

/* The number of tau_int with its error, or what it is below. */
static void add_tau(param_text *out, const autocorrelation *a)
{
    char below[32];
    snprintf(below, sizeof below, "below %.3g", a->interval);
    if (autocorrelation_resolved(a)) param_text_add(out, " %9.2f %7.2f", a->tau, a->tau_error);
    else param_text_add(out, " %9s %7s", below, "");
}

static void add_averages(param_text *out, const ensemble *e)
{
    int unresolved = 0;
    param_text_add(out, "\n%-34s %14s %11s %9s %9s %7s %6s\n", "averages", "mean", "error", "of error", "tau_int",
                   "error", "rows");
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        if (s->n == s->begin) continue;
        param_text_add(out, "  %-32s %14.8g", s->name, s->a.mean);
        if (isnan(s->a.error)) {
            param_text_add(out, " %11s %9s %9s %7s", "", "", "", "");
        } else {
            param_text_add(out, " %11.3g %9.1g", s->a.error, s->a.error_error);
            add_tau(out, &s->a);
            unresolved += !autocorrelation_resolved(&s->a);
        }
        param_text_add(out, " %6ld\n", s->n - s->begin);
    }
    param_text_add(out, "  tau_int in trajectories, and errors, by the Gamma method (hep-lat/0306017)\n");
    if (unresolved)
        param_text_add(out, "  below N: tau_int is below the interval of N trajectories between rows, which cannot "
                            "tell it\n");
}

static void add_weights(param_text *out, const ensemble *e)
{
    for (int i = 0; i < e->nweights; i++) {
        const ensemble_weights *w = &e->weights[i];
        param_text_add(out,
                       "\n<O W>/<W> with the weights of %s, as of %.3g of %ld configurations, log W spread by %.3g\n",
                       w->name, w->effective, w->rows, w->spread);
        for (int k = 0; k < w->n; k++) {
            const ensemble_reweighted *r = &w->averages[k];
            param_text_add(out, "  %-32s %14.8g %11.3g %9.1g", r->of->name, r->a.mean, r->a.error, r->a.error_error);
            add_tau(out, &r->a);
            param_text_add(out, " %6ld\n", r->rows);
        }
    }
}

static void add_drifts(param_text *out, const ensemble *e)
{
    if (e->ndrifts) param_text_add(out, "\ndrift, the second half against the first\n");
    for (int k = 0; k < e->ndrifts; k++) {
        const ensemble_drift *d = &e->drifts[k];
        param_text_add(out, "  %-12s %.8g +- %.2g, then %.8g +- %.2g: %.1f sigma%s\n", d->of->name, d->first.mean,
                       d->first.error, d->second.mean, d->second.error, d->sigmas,
                       d->sigmas > ENSEMBLE_DRIFTING ? ", it drifts" : "");
    }
}

static void add_windows(param_text *out, const ensemble *e)
{
    if (e->nwindows == 0) return;
    param_text_add(out, "\nacceptance by trajectories, and erfc(sqrt(<dH^2>/8))\n");
    for (int w = 0; w < e->nwindows; w++)
        param_text_add(out, "  %8lld - %-8lld %.3f +- %.3f  %.3f\n", (long long)e->windows[w].first,
                       (long long)e->windows[w].last, e->windows[w].accepted, e->windows[w].error,
                       e->windows[w].expected);
}

static void add_stretches(param_text *out, const ensemble *e)
{
    char program[128], device[128], host[128];
    if (e->nstretches == 0) return;
    param_text_add(out, "\nstretches of equal parameters\n");
    for (int k = 0; k < e->nstretches; k++) {
        const ensemble_stretch *s = &e->stretches[k];
        stretch_value(s->text, "program", program, sizeof program);
        stretch_value(s->text, "device", device, sizeof device);
        stretch_value(s->text, "host", host, sizeof host);
        param_text_add(out, "  %d: trajectories %lld - %lld", k + 1, (long long)s->first, (long long)s->last);
        if (!isnan(s->acceptance)) param_text_add(out, ", acceptance %.3f", s->acceptance);
        param_text_add(out, "; %s on %s (%s)\n", program, host, device);
        for (const char *at = s->changes.data; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
            param_text_add(out, "     %.*s\n", (int)strcspn(at, "\n"), at);
    }
}

static void add_time(param_text *out, const ensemble *e)
{
    char spent[32], left[32];
    param_text_add(out, "\ntime spent  %s in %d session%s, %.3g node-hours\n", text_duration(e->seconds, spent),
                   e->nsessions, e->nsessions == 1 ? "" : "s", e->node_seconds / 3600);
    const double rest = (double)(e->wanted - e->done) * e->each;
    if (!(rest > 0)) return;
    param_text_add(out, "time left   %s for %lld trajectories at %.3g s each, %.3g node-hours on %.0f node%s\n",
                   text_duration(rest, left), (long long)(e->wanted - e->done), e->each, rest * e->nodes / 3600,
                   e->nodes, e->nodes == 1 ? "" : "s");
}

static void add_list(param_text *out, const char *title, const param_text *lines)
{
    if (lines->length) param_text_add(out, "\n%s\n", title);
    for (const char *at = lines->data; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        param_text_add(out, "  - %.*s\n", (int)strcspn(at, "\n"), at);
}

void ensemble_text(param_text *out, const ensemble *e)
{
    const ensemble_series *p = ensemble_find(e, "plaquette");
    param_text_add(out, "%s: %lld of %lld trajectories; averages over %ld from trajectory %lld on", e->folder,
                   (long long)e->done, (long long)e->wanted, p ? p->n - p->begin : 0, (long long)e->from);
    if (e->acceptance_from > e->from)
        param_text_add(out, ",\nof acceptance, dH, forces, iterations and times from %lld on, in parameter block %d",
                       (long long)e->acceptance_from, e->nstretches);
    param_text_add(out, "\n");
    if (e->stopped[0]) param_text_add(out, "the last session stopped: %s\n", e->stopped);
    add_averages(out, e);
    add_weights(out, e);
    add_drifts(out, e);
    add_windows(out, e);
    add_stretches(out, e);
    param_text_add(out, "\nconfigurations kept  %d", e->kept.n);
    if (e->kept.n)
        param_text_add(out, ", the last one %s (digest %.16s...)", e->kept.of[e->kept.n - 1].file,
                       e->kept.of[e->kept.n - 1].digest);
    param_text_add(out, "\n");
    add_time(out, e);
    add_list(out, "what is missing or uncertain", &e->notes);
    add_list(out, "what to change", &e->advice);
}
