/* The page of a run: what matters first, then what to change, pictures, tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hmc/assemble/identity.h"
#include "hmc/tell/text.h"
#include "hmc/record/stretch.h"
#include "hmc/report/ensemble.h"
#include "hmc/report/page.h"
#include "io/history/output_file.h"

/* The newest of long lists are shown. */
#define MOST_ROWS 400
#define CELL 512

static const char *with_error(const autocorrelation *a, char text[64])
{
    if (isnan(a->error)) {
        snprintf(text, 64, "%.6g", a->mean);
        return text;
    }
    /* Two digits of the error. */
    const int digits = a->error > 0 ? (int)fmin(12, fmax(0, 1 - floor(log10(a->error)))) : 3;
    if (fabs(a->mean) < 1e6) snprintf(text, 64, "%.*f \u00b1 %.*f", digits, a->mean, digits, a->error);
    else snprintf(text, 64, "%.4g \u00b1 %.2g", a->mean, a->error);
    return text;
}

static const char *tau_text(const autocorrelation *a, char *text, size_t size)
{
    if (isnan(a->tau)) text[0] = 0;
    else if (autocorrelation_resolved(a)) snprintf(text, size, "%.3g \u00b1 %.2g", a->tau, a->tau_error);
    else snprintf(text, size, "below the interval of %.3g", a->interval);
    return text;
}

/* ---- what matters first ---- */

static void add_average_tile(param_text *out, const ensemble *e, const char *series, const char *name, const char *more)
{
    char text[64];
    const ensemble_series *s = ensemble_find(e, series);
    if (s && s->n > s->begin) page_tile(out, name, with_error(&s->a, text), more);
}

static void add_tiles(param_text *out, const ensemble *e)
{
    char text[96], more[96], spent[32];
    const ensemble_series *p = ensemble_find(e, "plaquette");
    page_tiles(out);
    snprintf(text, sizeof text, "%lld of %lld", (long long)e->done, (long long)e->wanted);
    snprintf(more, sizeof more, "averages over %ld, from %lld on", p ? p->n - p->begin : 0, (long long)e->from);
    page_tile(out, "Trajectories", text, more);
    snprintf(more, sizeof more, "from %lld on, parameter block %d", (long long)e->acceptance_from, e->nstretches);
    add_average_tile(out, e, "accepted", "Acceptance", e->acceptance_from > e->from ? more : NULL);
    add_average_tile(out, e, "plaquette", "Plaquette", NULL);
    add_average_tile(out, e, "exp(-dH)", "\u27e8exp(\u2212dH)\u27e9", "1 within errors if the algorithm is exact");
    if (p && !isnan(p->a.tau)) {
        tau_text(&p->a, text, sizeof text);
        page_tile(out, "tau_int of the plaquette", text, "trajectories");
    }
    snprintf(text, sizeof text, "%.3g", e->node_seconds / 3600);
    page_tile(out, "Node-hours spent", text, text_duration(e->seconds, spent));
    const double rest = (double)(e->wanted - e->done) * e->each;
    if (rest > 0) {
        snprintf(text, sizeof text, "%.3g", rest * e->nodes / 3600);
        snprintf(more, sizeof more, "%s at %.3g s a trajectory", text_duration(rest, spent), e->each);
        page_tile(out, "Node-hours left", text, more);
    }
    snprintf(text, sizeof text, "%d", e->kept.n);
    page_tile(out, "Configurations kept", text, NULL);
    for (int k = 0; k < e->ndrifts; k++) {
        snprintf(text, sizeof text, "%.1f sigma", e->drifts[k].sigmas);
        snprintf(more, sizeof more, "second half of %.40s against the first", e->drifts[k].of->name);
        page_tile(out, e->drifts[k].sigmas > ENSEMBLE_DRIFTING ? "Drift: not in equilibrium" : "Drift", text, more);
    }
    page_tiles_end(out);
}

/* ---- tables ---- */

static void add_averages(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"<series", "mean", "error", "error of error", "tau_int", "rows", NULL};
    char cell[6][CELL];
    const char *row[6] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5]};
    page_heading(out, "Averages");
    page_table(out, titles);
    for (int i = 0; i < e->nseries; i++) {
        const ensemble_series *s = &e->series[i];
        const autocorrelation *a = &s->a;
        if (s->n == s->begin) continue;
        snprintf(cell[0], CELL, "%s%s%s%s", s->name, *s->unit ? " [" : "", s->unit, *s->unit ? "]" : "");
        snprintf(cell[1], CELL, "%.8g", a->mean);
        cell[2][0] = cell[3][0] = 0;
        if (!isnan(a->error)) snprintf(cell[2], CELL, "%.2g", a->error);
        if (!isnan(a->error)) snprintf(cell[3], CELL, "%.2g", a->error_error);
        tau_text(a, cell[4], CELL);
        snprintf(cell[5], CELL, "%ld", s->n - s->begin);
        page_row(out, titles, row);
    }
    page_table_end(out);
    param_text_add(out, "<p class=\"soft\">tau_int in trajectories, and errors, by the Gamma method (U. Wolff, "
                        "hep-lat/0306017), S = 2.</p>\n");
}

static void add_weights(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"<series", "mean", "error", "tau_int", "rows", NULL};
    char cell[5][CELL];
    const char *row[5] = {cell[0], cell[1], cell[2], cell[3], cell[4]};
    for (int i = 0; i < e->nweights; i++) {
        const ensemble_weights *w = &e->weights[i];
        snprintf(cell[0], CELL, "Averages with the weights of %.160s", w->name);
        page_heading(out, cell[0]);
        param_text_add(out, "<p class=\"soft\">Weights as of %.3g of %ld configurations; log W spreads by %.3g.</p>\n",
                       w->effective, w->rows, w->spread);
        page_table(out, titles);
        for (int k = 0; k < w->n; k++) {
            const ensemble_reweighted *r = &w->averages[k];
            snprintf(cell[0], CELL, "%s", r->of->name);
            snprintf(cell[1], CELL, "%.8g", r->a.mean);
            snprintf(cell[2], CELL, "%.2g", r->a.error);
            tau_text(&r->a, cell[3], CELL);
            snprintf(cell[4], CELL, "%ld", r->rows);
            page_row(out, titles, row);
        }
        page_table_end(out);
    }
}

static void add_stretches(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"block",    "from",   "to",       "acceptance", "<what changed",
                                         "<program", "<built", "<machine", "<began",     NULL};
    char cell[9][CELL], host[128], device[128], ranks[32], grid[32];
    const char *row[9] = {cell[0], cell[1], cell[2], cell[3], NULL, cell[5], cell[6], cell[7], cell[8]};
    if (e->nstretches == 0) return;
    page_heading(out, "Stretches of equal parameters");
    page_table(out, titles);
    for (int k = 0; k < e->nstretches; k++) {
        const ensemble_stretch *s = &e->stretches[k];
        snprintf(cell[0], CELL, "%d", k + 1);
        snprintf(cell[1], CELL, "%lld", (long long)s->first);
        snprintf(cell[2], CELL, "%lld", (long long)s->last);
        cell[3][0] = 0;
        if (!isnan(s->acceptance)) snprintf(cell[3], CELL, "%.3f", s->acceptance);
        row[4] = s->changes.length ? s->changes.data + strspn(s->changes.data, " ") : "";
        stretch_value(s->text, "program", cell[5], CELL);
        stretch_value(s->text, "compilers", cell[6], CELL);
        stretch_value(s->text, "host", host, sizeof host);
        stretch_value(s->text, "device", device, sizeof device);
        stretch_value(s->text, "ranks", ranks, sizeof ranks);
        stretch_value(s->text, "grid", grid, sizeof grid);
        snprintf(cell[7], CELL, "%s, %s, %s rank%s as %s", host, device, ranks, strcmp(ranks, "1") ? "s" : "", grid);
        stretch_value(s->text, "date", cell[8], CELL);
        page_row(out, titles, row);
    }
    page_table_end(out);
}

static void add_sessions(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"session", "from",  "to",     "<time",  "nodes",
                                         "ranks",   "<host", "<began", "<ended", NULL};
    char cell[9][CELL], duration[32];
    const char *row[9] = {cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], cell[6], cell[7], cell[8]};
    if (e->nsessions == 0) return;
    page_fold(out, e->nsessions > MOST_ROWS
                       ? "Sessions: each start of the program, and its time (the newest; all in history.h5)"
                       : "Sessions: each start of the program, and its time");
    page_table(out, titles);
    for (int k = e->nsessions > MOST_ROWS ? e->nsessions - MOST_ROWS : 0; k < e->nsessions; k++) {
        const ensemble_session *s = &e->sessions[k];
        snprintf(cell[0], CELL, "%d", k + 1);
        snprintf(cell[1], CELL, "%lld", (long long)s->first);
        snprintf(cell[2], CELL, "%lld", (long long)s->last);
        if (s->last < s->first) snprintf(cell[2], CELL, "none done");
        snprintf(cell[3], CELL, "%s", text_duration(s->seconds, duration));
        stretch_value(s->text, "nodes", cell[4], CELL);
        stretch_value(s->text, "ranks", cell[5], CELL);
        stretch_value(s->text, "host", cell[6], CELL);
        stretch_value(s->text, "date", cell[7], CELL);
        stretch_value(s->text, "stopped", cell[8], CELL);
        page_row(out, titles, row);
    }
    page_table_end(out);
    page_fold_end(out);
}

static void add_kept(param_text *out, const ensemble *e)
{
    static const char *const titles[] = {"trajectory", "<file", "plaquette", "acceptance since", "<digest", NULL};
    char cell[5][CELL];
    const char *row[5] = {cell[0], cell[1], cell[2], cell[3], cell[4]};
    if (e->kept.n == 0) return;
    page_fold(out, e->kept.n > MOST_ROWS ? "Configurations kept (the newest; all in configurations.tsv)"
                                         : "Configurations kept");
    page_table(out, titles);
    for (int k = e->kept.n > MOST_ROWS ? e->kept.n - MOST_ROWS : 0; k < e->kept.n; k++) {
        const kept_configuration *c = &e->kept.of[k];
        snprintf(cell[0], CELL, "%lld", (long long)c->trajectory);
        snprintf(cell[1], CELL, "%s", c->file);
        snprintf(cell[2], CELL, "%.10f", c->plaquette);
        snprintf(cell[3], CELL, "%.3f", c->acceptance);
        snprintf(cell[4], CELL, "%s", c->digest);
        page_row(out, titles, row);
    }
    page_table_end(out);
    page_fold_end(out);
}

void ensemble_page(param_text *out, const ensemble *e)
{
    char title[CELL], label[PARAM_TEXT_SIZE], size[PARAM_TEXT_SIZE], date[64];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    snprintf(title, sizeof title, OUTPUT_PAGE_TITLE "%s", e->folder);
    page_begin(out, title);
    param_text_add(out, "<p class=\"soft\">");
    if (*ensemble_parameter(e, "save.ensemble", label)) {
        page_escape(out, label);
        param_text_add(out, ", ");
    }
    if (*ensemble_parameter(e, "lattice.size", size)) param_text_add(out, "lattice %s, ", size);
    param_text_add(out, "written %s by ", date);
    page_escape(out, identity_of_program());
    param_text_add(out, "</p>\n");
    if (e->stopped[0]) {
        param_text_add(out, "<p class=\"warning\">The last session stopped: ");
        page_escape(out, e->stopped);
        param_text_add(out, "</p>\n");
    }
    add_tiles(out, e);
    if (e->notes.length) {
        page_heading(out, "What is missing or uncertain");
        page_list(out, e->notes.data);
    }
    if (e->advice.length) {
        page_heading(out, "What to change");
        page_list(out, e->advice.data);
    }
    ensemble_charts(out, e);
    add_averages(out, e);
    add_weights(out, e);
    add_stretches(out, e);
    add_sessions(out, e);
    add_kept(out, e);
    if (e->parameters[0]) {
        page_fold(out, "Parameters of the last block");
        page_verbatim(out, e->parameters);
        page_fold_end(out);
    }
    page_end(out);
}
