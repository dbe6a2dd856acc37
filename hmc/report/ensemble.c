#include "hmc/report/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hmc/assemble/changes.h"
#include "hmc/record/missing.h"
#include "hmc/record/record.h"
#include "hmc/record/stretch.h"
#include "io/files/atomic.h"
#include "io/history/checkpoint.h"
#include "io/history/output_file.h"
#include "io/files/regular.h"

static void *grown(void *array, int n, size_t bytes)
{
    array = realloc(array, (size_t)(n + 1) * bytes);
    REQUIRE_MEMORY(array, "out of memory: %zu bytes", (size_t)(n + 1) * bytes);
    memset((char *)array + (size_t)n * bytes, 0, bytes);
    return array;
}

static int64_t integer_in(const char *text, const char *key, int64_t otherwise)
{
    char value[64];
    int64_t n;
    return stretch_value(text, key, value, sizeof value) && !param_integer(value, &n) ? n : otherwise;
}

const char *ensemble_parameter(const ensemble *e, const char *key, char value[PARAM_TEXT_SIZE])
{
    stretch_value(e->parameters, key, value, PARAM_TEXT_SIZE);
    return value;
}

double ensemble_number(const ensemble *e, const char *key, double otherwise)
{
    char text[PARAM_TEXT_SIZE];
    double x;
    return param_real(ensemble_parameter(e, key, text), &x) ? otherwise : x;
}

int ensemble_levels(const ensemble *e, level levels[MAX_LEVELS])
{
    char key[64], text[PARAM_TEXT_SIZE];
    int n = 0;
    for (; n < MAX_LEVELS; n++) {
        snprintf(key, sizeof key, "integrator.%d.scheme", n);
        levels[n].scheme = scheme_find(ensemble_parameter(e, key, text));
        snprintf(key, sizeof key, "integrator.%d.steps", n);
        levels[n].steps = (int)ensemble_number(e, key, 0);
        if (!levels[n].scheme || levels[n].steps < 1) break;
    }
    return n;
}

const ensemble_series *ensemble_find(const ensemble *e, const char *name)
{
    for (int i = 0; i < e->nseries; i++)
        if (!strcmp(e->series[i].name, name)) return &e->series[i];
    return NULL;
}

/* ---- series ---- */

static double itself(double x)
{
    return x;
}

static double square(double x)
{
    return x * x;
}

/* Adds a series of a column: of rows of the same trajectory the last one; `skip_zero`: unless it is nothing but zeros. */
/* True for a series whose averages go through changes of integrator and solvers. */
static int is_physics(const char *name)
{
    return !strcmp(name, "plaquette") || !strncmp(name, "measure/", 8);
}

static void add_series(ensemble *e, int table, int column, const char *name, double (*of)(double), int skip_zero)
{
    const history_view *v = e->view;
    const long rows = (long)history_view_rows(v, table);
    ensemble_series s = {.at = malloc((size_t)(rows + 1) * sizeof(double)),
                         .value = malloc((size_t)(rows + 1) * sizeof(double))};
    REQUIRE_MEMORY(s.at && s.value, "out of memory: %ld rows", rows);
    snprintf(s.name, sizeof s.name, "%s", name);
    s.from = is_physics(name) ? e->from : e->acceptance_from;
    s.is_gauge_dependent = !strcmp(history_view_column_name(v, table, column, &s.unit), "link_trace");
    for (long i = 0; i < rows; i++) {
        const double number = history_view_value(v, table, i, 0), x = history_view_value(v, table, i, column);
        const int more = i + 1 < rows && history_view_value(v, table, i + 1, 0) == number;
        if (more) continue;
        if (!isfinite(x)) {
            s.missing += number >= (double)s.from;
            continue;
        }
        if (number < (double)s.from) s.begin = s.n + 1;
        s.at[s.n] = number;
        s.value[s.n++] = of(x);
    }
    const long n = s.n - s.begin;
    s.a = autocorrelate(s.at + s.begin, s.value + s.begin, n);
    /* Iterations and residuals of actions without a solver. */
    if (s.n == 0 || (skip_zero && s.a.mean == 0 && !(s.a.error > 0))) {
        free(s.at);
        free(s.value);
        return;
    }
    e->series = grown(e->series, e->nseries, sizeof s);
    e->series[e->nseries++] = s;
}

static void add_column(ensemble *e, int table, const char *column, const char *name, double (*of)(double))
{
    const int c = history_view_column(e->view, table, column);
    if (c >= 0) add_series(e, table, c, name, of, !strcmp(column, "worst_residual"));
}

static void add_trajectories(ensemble *e)
{
    const int t = history_view_table(e->view, "trajectories");
    const char *name;
    char title[160];
    add_column(e, t, "plaquette", "plaquette", itself);
    add_column(e, t, "dH", "dH", itself);
    add_column(e, t, "dH", "exp(-dH)", record_exp_minus);
    add_column(e, t, "accepted", "accepted", itself);
    add_column(e, t, "seconds", "seconds", itself);
    add_column(e, t, "worst_residual", "worst residual", itself);
    add_column(e, history_view_table(e->view, "reversibility"), "dH", "reversibility |dH|", fabs);
    for (int c = 0; (name = history_view_column_name(e->view, t, c, NULL)); c++) {
        const int force = !strncmp(name, "force_", 6), iterations = !strncmp(name, "iterations_", 11);
        if (!force && !iterations) continue;
        snprintf(title, sizeof title, "%s %.100s", force ? "force" : "iterations", name + (force ? 6 : 11));
        add_series(e, t, c, title, itself, iterations);
    }
}

/* False of columns on how a solve went, and of errors of noise. */
static int is_observable(const char *column)
{
    static const char *const others[] = {"trajectory", "residual", "iterations", "error", "error_ratio"};
    const size_t n = strlen(column), tail = strlen("_error");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!strcmp(column, others[i])) return 0;
    return n < tail || strcmp(column + n - tail, "_error");
}

static void add_measurement(ensemble *e, int table, const char *group)
{
    char summary[192], title[160];
    const char *name;
    const size_t n = strlen(group), tail = strlen("/summary");
    const int is_summary = n > tail && !strcmp(group + n - tail, "/summary");
    const int name_length = (int)(is_summary ? n - tail : n), charge = history_view_column(e->view, table, "charge");
    snprintf(summary, sizeof summary, "%s/summary", group);
    const int summed = history_view_table(e->view, summary);
    /* The charge of the last flow time; or that of all slices, where the rows are those of slices. */
    if (charge >= 0 && (summed < 0 || history_view_column(e->view, summed, "charge") < 0)) {
        snprintf(title, sizeof title, "%.*s charge", name_length, group);
        add_series(e, table, charge, title, itself, 0);
        snprintf(title, sizeof title, "%.*s charge squared", name_length, group);
        add_series(e, table, charge, title, square, 0);
    }
    /* Observables with many rows a configuration have a summary of one. */
    if (!is_summary && summed >= 0) return;
    for (int c = 0; (name = history_view_column_name(e->view, table, c, NULL)); c++) {
        if (!is_observable(name) || c == charge) continue;
        snprintf(title, sizeof title, "%.*s %.50s", name_length, group, name);
        add_series(e, table, c, title, itself, 0);
    }
}

/* ---- stretches and sessions ---- */

static void add_stretch(ensemble *e, const char *text)
{
    e->stretches = grown(e->stretches, e->nstretches, sizeof *e->stretches);
    ensemble_stretch *s = &e->stretches[e->nstretches++];
    s->text = text;
    s->first = integer_in(text, "first", 1);
    if (e->nstretches == 1) return;
    s[-1].last = s->first - 1;
    changes_between(stretch_parameters(s[-1].text), stretch_parameters(text), &s->changes, &s->changes);
}

static void add_session(ensemble *e, const char *text)
{
    e->sessions = grown(e->sessions, e->nsessions, sizeof *e->sessions);
    ensemble_session *s = &e->sessions[e->nsessions++];
    s->text = text;
    s->first = integer_in(text, "first", 1);
    s->last = integer_in(text, "last", 0);
    s->seconds = (double)integer_in(text, "seconds", 0);
    s->nodes = (double)integer_in(text, "nodes", 1);
}

static void find_from(ensemble *e, int64_t asked)
{
    const char **texts = malloc((size_t)(e->nstretches + 1) * sizeof *texts);
    REQUIRE_MEMORY(texts, "out of memory: %d stretches", e->nstretches);
    for (int k = 0; k < e->nstretches; k++) texts[k] = e->stretches[k].text;
    const int64_t warm = asked > 0 ? asked : integer_in(e->parameters, "run.warmup", 0) + 1;
    const int64_t physics = stretch_physics_first(texts, e->nstretches);
    const int64_t stretch = e->nstretches ? e->stretches[e->nstretches - 1].first : 1;
    free(texts);
    e->from = warm > physics ? warm : physics;
    e->acceptance_from = warm > stretch ? warm : stretch;
    if (asked > 0 && asked < physics)
        param_text_add(&e->notes,
                       "averages begin with trajectory %lld, not with %lld: the physics was another one before (see "
                       "stretches)\n",
                       (long long)physics, (long long)asked);
}

/* How the last session ended. */
static void read_end(ensemble *e)
{
    char alarms[PARAM_TEXT_SIZE], advice[PARAM_TEXT_SIZE];
    if (e->nsessions == 0) return;
    const char *text = e->sessions[e->nsessions - 1].text;
    if (stretch_value(text, "alarms", alarms, sizeof alarms))
        param_text_add(&e->notes, "[watch] raised alarms in the last session: %s\n", alarms);
    if (!stretch_value(text, "stopped", e->stopped, sizeof e->stopped)) return;
    if (stretch_value(text, "advice", advice, sizeof advice))
        param_text_add(&e->advice, "the last session stopped %s: %s\n", e->stopped, advice);
}

static void read_texts(ensemble *e)
{
    const char *name, *text;
    for (int i = 0; (name = history_view_text_name(e->view, i)); i++) {
        if (!strncmp(name, "stretches/", 10)) add_stretch(e, history_view_text(e->view, name));
        if (!strncmp(name, "sessions/", 9)) add_session(e, history_view_text(e->view, name));
    }
    text = history_view_text(e->view, "parameters");
    e->parameters = e->nstretches ? stretch_parameters(e->stretches[e->nstretches - 1].text) : text ? text : "";
    /* Parameters that start no new stretch may have changed since it began: how many trajectories, measurements. */
    e->wanted = integer_in(text ? text : e->parameters, "run.trajectories", 0);
}

/* Rows, and acceptance after the warm-up, of each stretch. */
static void count_rows(ensemble *e)
{
    const ensemble_series *a = ensemble_find(e, "accepted");
    for (int k = 0; k < e->nstretches; k++) {
        ensemble_stretch *s = &e->stretches[k];
        const int64_t warmup = integer_in(stretch_parameters(s->text), "run.warmup", 0);
        double accepted = 0, counted = 0;
        if (k + 1 == e->nstretches) s->last = e->done;
        for (long i = 0; a && i < a->n; i++) {
            if (a->at[i] < (double)s->first || a->at[i] > (double)s->last) continue;
            s->rows++;
            if (a->at[i] <= (double)warmup) continue;
            accepted += a->value[i];
            counted++;
        }
        s->acceptance = counted > 0 ? accepted / counted : NAN;
    }
}

/* A session that was killed did not note its end: the trajectories that it left took at least their own time. */
static void count_time(ensemble *e)
{
    const ensemble_series *t = ensemble_find(e, "seconds");
    for (int k = 0; k < e->nsessions; k++) {
        ensemble_session *s = &e->sessions[k];
        const double next = k + 1 < e->nsessions ? (double)s[1].first : (double)e->done + 1;
        double sum = 0;
        for (long i = 0; t && i < t->n; i++)
            if (t->at[i] >= (double)s->first && t->at[i] < next) {
                sum += t->value[i];
                if (t->at[i] > (double)s->last) s->last = (int64_t)t->at[i];
            }
        s->seconds = fmax(s->seconds, sum);
        e->seconds += s->seconds;
        e->node_seconds += s->seconds * s->nodes;
        if (s->last < s->first) continue;
        e->each = s->seconds / (double)(s->last - s->first + 1);
        e->nodes = s->nodes;
    }
}

/* ---- acceptance by windows ---- */

#define LEAST_IN_WINDOW 20

static void make_windows(ensemble *e)
{
    const ensemble_series *a = ensemble_find(e, "accepted"), *dh = ensemble_find(e, "dH");
    if (!a || !dh || a->n != dh->n) return;
    const long n = a->n - a->begin;
    const long most = n / LEAST_IN_WINDOW;
    e->nwindows = n == 0 ? 0 : most < 1 ? 1 : most > ENSEMBLE_WINDOWS ? ENSEMBLE_WINDOWS : (int)most;
    for (int w = 0; w < e->nwindows; w++) {
        const long from = a->begin + n * w / e->nwindows, to = a->begin + n * (w + 1) / e->nwindows;
        double accepted = 0, squares = 0;
        for (long i = from; i < to; i++) {
            accepted += a->value[i];
            squares += dh->value[i] * dh->value[i] / (double)(to - from);
        }
        /* Divided once: the share of a window without rejections is 1, and its error no root of rounding. */
        accepted /= (double)(to - from);
        e->windows[w] =
            (ensemble_window){(int64_t)a->at[from], (int64_t)a->at[to - 1], accepted,
                              sqrt(accepted * (1 - accepted) / (double)(to - from)), erfc(sqrt(squares / 8))};
    }
}

/* ---- drift ---- */

static void find_drifts(ensemble *e)
{
    static const char *const names[ENSEMBLE_DRIFTS] = {"plaquette", "dH"};
    for (int k = 0; k < ENSEMBLE_DRIFTS; k++) {
        const ensemble_series *s = ensemble_find(e, names[k]);
        const long n = s ? s->n - s->begin : 0, half = n / 2;
        if (n < 2 * ENSEMBLE_LEAST_ROWS) continue;
        ensemble_drift d = {.of = s};
        const double *at = s->at + s->begin, *value = s->value + s->begin;
        d.first = autocorrelate(at, value, half);
        d.second = autocorrelate(at + half, value + half, n - half);
        const double error = hypot(d.first.error, d.second.error);
        d.sigmas = error > 0 ? fabs(d.second.mean - d.first.mean) / error : 0;
        e->drifts[e->ndrifts++] = d;
    }
}

/* ---- what is missing ---- */

static int64_t number_of_row(const void *of, int64_t i)
{
    const ensemble *e = of;
    return (int64_t)history_view_value(e->view, history_view_table(e->view, "trajectories"), i, 0);
}

/* Trajectories done, which the newest checkpoint and the last session know, too; and those without a row. */
static void count_done(ensemble *e)
{
    char which[512];
    const int64_t rows = history_view_rows(e->view, history_view_table(e->view, "trajectories"));
    const int64_t newest = checkpoint_newest(e->folder), noted = e->nsessions ? e->sessions[e->nsessions - 1].last : 0;
    if (rows > 0) e->done = number_of_row(e, rows - 1);
    if (newest > e->done) e->done = newest;
    if (noted > e->done) e->done = noted;
    const int64_t missing = missing_rows(number_of_row, e, rows, e->done, which, sizeof which);
    if (missing == 0) return;
    param_text_add(&e->notes,
                   "the history has rows of %lld of the %lld trajectories done; number %s %s missing, with what was "
                   "measured after %s, in all averages",
                   (long long)rows, (long long)e->done, which, missing == 1 ? "is" : "are",
                   missing == 1 ? "it" : "them");
    if (*history_view_trouble(e->view)) param_text_add(&e->notes, ": %s", history_view_trouble(e->view));
    param_text_add(&e->notes, ". A copy of history.h5 put back before the run continues brings them back\n");
}

/* "12 configurations of INDEX (FIRST, ...)", of a list of names. */
static void add_names(param_text *out, const char *names, const char *what, const char *where)
{
    int n = 0;
    for (const char *c = names; *c; c++) n += *c == '\n';
    param_text_add(out, "%d %s%s %s (%.*s%s)", n, what, n == 1 ? "" : "s", where, (int)strcspn(names, "\n"), names,
                   n > 1 ? ", ..." : "");
}

static void read_kept(ensemble *e)
{
    char message[ATOMIC_PATH + 256];
    param_text unlisted = {0}, gone = {0};
    if (kept_read(&e->kept, e->folder, message, sizeof message) ||
        kept_compare(&e->kept, e->folder, &unlisted, &gone, message, sizeof message))
        param_text_add(&e->notes, "%s\n", message);
    const int damaged = e->kept.damaged + e->kept.bad_title;
    if (damaged)
        param_text_add(&e->notes, SAVE_INDEX " has %d damaged line%s%s\n", damaged, damaged == 1 ? "" : "s",
                       unlisted.length ? "" : "; plaq run writes it anew at its next start");
    if (unlisted.length) {
        param_text_add(&e->notes, "%s", e->kept.is_there ? SAVE_INDEX " lacks " : SAVE_INDEX " is missing; it lacks ");
        add_names(&e->notes, unlisted.data, "file", "in " SAVE_FOLDER);
        param_text_add(&e->notes, ": plaq run makes it again at its next start\n");
    }
    if (gone.length) {
        add_names(&e->notes, gone.data, "configuration", "of " SAVE_INDEX);
        param_text_add(&e->notes, " %s not there: moved away, or deleted\n", strchr(gone.data, '\n')[1] ? "are" : "is");
    }
    param_text_free(&unlisted);
    param_text_free(&gone);
}

/* ---- all ---- */

ensemble *ensemble_read(const char *folder, int64_t from, char *message, size_t size)
{
    ensemble *e = calloc(1, sizeof *e);
    REQUIRE_MEMORY(e, "out of memory: %zu bytes", sizeof *e);
    e->folder = folder;
    e->nodes = 1;
    e->each = NAN;
    e->view = history_view_open(folder, message, size);
    if (!e->view) {
        ensemble_free(e);
        return NULL;
    }
    read_texts(e);
    find_from(e, from);
    read_end(e);
    count_done(e);
    add_trajectories(e);
    const char *group;
    for (int i = 0; (group = history_view_group(e->view, i)); i++)
        if (!strncmp(group, "measure/", 8)) add_measurement(e, i, group);
    count_rows(e);
    count_time(e);
    make_windows(e);
    find_drifts(e);
    read_kept(e);
    ensemble_reweigh(e);
    ensemble_advise(e);
    return e;
}

void ensemble_free(ensemble *e)
{
    if (!e) return;
    for (int i = 0; i < e->nseries; i++) {
        free(e->series[i].at);
        free(e->series[i].value);
    }
    for (int i = 0; i < e->nstretches; i++) param_text_free(&e->stretches[i].changes);
    ensemble_free_weights(e);
    free(e->series);
    free(e->stretches);
    free(e->sessions);
    kept_free(&e->kept);
    param_text_free(&e->notes);
    param_text_free(&e->advice);
    history_view_close(e->view);
    free(e);
}

int ensemble_write_page(const ensemble *e, const char *path, char *message, size_t size)
{
    char own[ATOMIC_PATH];
    param_text page = {0};
    snprintf(own, sizeof own, "%.990s/" ENSEMBLE_PAGE, e->folder);
    if (!path) path = own;
    if (output_file_allowed(path, OUTPUT_PAGE, NULL, message, size)) return -1;
    ensemble_page(&page, e);
    const int bad = atomic_write(path, page.data, page.length, message, size);
    param_text_free(&page);
    return bad;
}
