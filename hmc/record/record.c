#include "hmc/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/identity.h"
#include "hmc/record/missing.h"
#include "hmc/record/stretch.h"
#include "io/history/history.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

#define MAX_COLUMNS 96
/* A session is noted at checkpoints, and no more often than so: each note is a record of the journal. */
#define NOTE_SECONDS 60

struct record {
    history *h;
    int table;
    stretch_state stretch;
    int64_t physics_from, from; /* trajectories where averages of physics begin, and those of acceptance */
    int64_t last;               /* the last trajectory recorded */
    double begun, noted;        /* start of the session, and when it was last noted */
    int ncolumns, nactions;
    int has_spectrum[MAX_ACTIONS];
    int filters, filtered_column;
    /* Rows for the averages. */
    long count, before, capacity; /* rows from physics_from on; of them before `from` */
    double *number, *plaquette, *exp_dh, *accepted;
    double filtered; /* sum over rows that have it */
    long nfiltered;
    /* Tables of measurements. */
    int ntables;
    struct {
        char group[128];
        int number;
    } tables[2 * MAX_NAMED];
};

static void must(int status, const char *message)
{
    if (status < 0) user_error("%s", message);
}

static void remember(record *r, int64_t number, double plaquette, double dh, int accepted, double filtered)
{
    r->last = number;
    if (number < r->physics_from) return;
    r->before += number < r->from;
    if (number >= r->from) r->filtered += isnan(filtered) ? 0 : filtered;
    r->nfiltered += number >= r->from && !isnan(filtered);
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        const size_t bytes = (size_t)r->capacity * sizeof(double);
        r->number = realloc(r->number, bytes);
        r->plaquette = realloc(r->plaquette, bytes);
        r->exp_dh = realloc(r->exp_dh, bytes);
        r->accepted = realloc(r->accepted, bytes);
        REQUIRE_MEMORY(r->number && r->plaquette && r->exp_dh && r->accepted, "out of memory for %ld rows",
                       r->capacity);
    }
    r->number[r->count] = (double)number;
    r->plaquette[r->count] = plaquette;
    r->exp_dh[r->count] = record_exp_minus(dh);
    r->accepted[r->count++] = accepted;
}

enum { TRAJECTORY, ACCEPTED, DH, PLAQUETTE, LINK_TRACE, KINETIC, RESIDUAL, SECONDS, PER_ACTION };

static void declare(record *r, const simulation *s)
{
    static const history_column fixed[PER_ACTION] = {
        [TRAJECTORY] = {"trajectory", HISTORY_INT, "", "number of the trajectory, from 1", 0},
        [ACCEPTED] = {"accepted", HISTORY_BOOL, "", "whether it was accepted", 0},
        [DH] = {"dH", HISTORY_REAL, "", "energy at its end less that at its start", 0},
        [PLAQUETTE] = {"plaquette", HISTORY_REAL, "", "Re tr P / 3 averaged, after the accept step", 0},
        [LINK_TRACE] = {"link_trace", HISTORY_REAL, "", "Re tr U / 3 averaged", 0},
        [KINETIC] = {"kinetic", HISTORY_REAL, "", "kinetic energy at its start", 0},
        [RESIDUAL] = {"worst_residual", HISTORY_REAL, "", "largest true residual among its solves", 0},
        [SECONDS] = {"seconds", HISTORY_REAL, "s", "wall time", 1}};
    history_column columns[MAX_COLUMNS];
    static char names[MAX_ACTIONS][5][96];
    char message[1024];
    memcpy(columns, fixed, sizeof fixed);
    r->ncolumns = PER_ACTION;
    r->nactions = s->e.nactions;
    for (int i = 0; i < s->e.nactions; i++) {
        const char *name = s->e.actions[i]->name;
        snprintf(names[i][0], sizeof names[i][0], "action_%s", name);
        snprintf(names[i][1], sizeof names[i][1], "force_%s", name);
        snprintf(names[i][2], sizeof names[i][2], "iterations_%s", name);
        columns[r->ncolumns++] = (history_column){names[i][0], HISTORY_REAL, "", "value of the action at the start", 0};
        columns[r->ncolumns++] = (history_column){names[i][1], HISTORY_REAL, "",
                                                  "root mean square of F^a over links, averaged over its evaluations; "
                                                  "where several sections share a smearing, the "
                                                  "first of the trajectory",
                                                  0};
        columns[r->ncolumns++] = (history_column){names[i][2], HISTORY_INT, "", "solver iterations", 0};
    }
    for (int i = 0; i < s->e.nactions; i++) {
        const char *name = s->e.actions[i]->name;
        r->has_spectrum[i] = s->e.actions[i]->has_spectrum;
        if (!r->has_spectrum[i]) continue;
        snprintf(names[i][3], sizeof names[i][3], "spectrum_low_%s", name);
        snprintf(names[i][4], sizeof names[i][4], "spectrum_high_%s", name);
        columns[r->ncolumns++] =
            (history_column){names[i][3], HISTORY_REAL, "",
                             "lower bound of its operator's spectrum at start and end of the trajectory", 0};
        columns[r->ncolumns++] = (history_column){names[i][4], HISTORY_REAL, "", "upper bound of the same", 0};
    }
    r->filters = !isnan(quark_set_filtered(s->quarks));
    r->filtered_column = r->ncolumns;
    if (r->filters)
        columns[r->ncolumns++] = (history_column){"filtered_links", HISTORY_REAL, "",
                                                  "links with a singular value that the HISQ force took as larger than "
                                                  "it is, over all forces; a trajectory's first counts once a section",
                                                  0};
    /* A run that goes on with other actions has other columns. */
    r->table = history_table_widened(r->h, "trajectories", columns, r->ncolumns, message, sizeof message);
    must(r->table, message);
}

/* ---- rows that are not there ---- */

static int64_t number_of_row(const void *of, int64_t i)
{
    const record *r = of;
    return history_get(r->h, r->table, i, TRAJECTORY).i;
}

static void warn_of_missing_rows(const record *r, const char *folder, int64_t done)
{
    char which[512];
    const int64_t missing = missing_rows(number_of_row, r, history_rows(r->h, r->table), done, which, sizeof which);
    if (missing > 0)
        log_warn("the history in %s lacks %lld of the %lld trajectories done: number %s. history.journal and "
                 "history.h5 were deleted or damaged, or the checkpoint came from elsewhere; these rows, and those of "
                 "their measurements, are in no average. A copy of history.h5 put back before the run continues brings "
                 "them back",
                 folder, (long long)missing, (long long)done, which);
}

static int table_of(record *r, const char *group, const measure_column *columns, int n, const char *axis);

static void declare_measurements(record *r, const parameters *p)
{
    char group[128];
    for (int i = 0; i < p->nmeasures; i++) {
        const observable *o = observable_of(&p->measures[i].p);
        snprintf(group, sizeof group, "measure/%s", p->measures[i].name);
        table_of(r, group, o->columns, o->ncolumns, o->axis);
        if (o->nsummary == 0) continue;
        snprintf(group, sizeof group, "measure/%s/summary", p->measures[i].name);
        table_of(r, group, o->summary, o->nsummary, NULL);
    }
}

record *record_open(const char *folder, const simulation *s, int64_t done)
{
    char message[1024];
    record *r = calloc(1, sizeof *r);
    REQUIRE_MEMORY(r, "out of memory");
    r->h = history_open(folder, message, sizeof message);
    if (!r->h) user_error("%s", message);
    declare(r, s);
    must(history_truncate_after(r->h, done, message, sizeof message), message);
    declare_measurements(r, s->p);
    must(history_text(r->h, "parameters", s->p->dump, message, sizeof message), message);
    must(history_text(r->h, "program", identity_of_program(), message, sizeof message), message);
    must(stretch_open(&r->stretch, r->h, s, done, message, sizeof message), message);
    r->begun = r->noted = comm_wtime();
    r->last = done;
    const int64_t warm = s->p->run.warmup + 1, first = r->stretch.first, physics = r->stretch.physics_first;
    r->from = warm > first ? warm : first;
    r->physics_from = warm > physics ? warm : physics;
    warn_of_missing_rows(r, folder, done);
    for (int64_t i = 0; i < history_rows(r->h, r->table); i++)
        remember(r, history_get(r->h, r->table, i, TRAJECTORY).i, history_get(r->h, r->table, i, PLAQUETTE).d,
                 history_get(r->h, r->table, i, DH).d, (int)history_get(r->h, r->table, i, ACCEPTED).i,
                 r->filters ? history_get(r->h, r->table, i, r->filtered_column).d : NAN);
    return r;
}

int record_close(record *r, char *message, size_t size)
{
    char ignored[256];
    if (!r) return 0;
    const int unnoted = stretch_note(&r->stretch, r->h, r->last, comm_wtime() - r->begun, message, size);
    const int bad = history_close(r->h, unnoted ? ignored : message, unnoted ? sizeof ignored : size) || unnoted;
    free(r->number);
    free(r->plaquette);
    free(r->exp_dh);
    free(r->accepted);
    param_text_free(&r->stretch.session_head);
    free(r);
    return bad;
}

int record_add(record *r, int64_t number, const trajectory_result *t, const gauge_loops *loops, double filtered,
               char *message, size_t size)
{
    history_value row[MAX_COLUMNS];
    row[TRAJECTORY].i = number;
    row[ACCEPTED].i = t->accepted;
    row[DH].d = t->dh;
    row[PLAQUETTE].d = loops->plaquette;
    row[LINK_TRACE].d = loops->link_trace;
    row[KINETIC].d = t->kinetic_start;
    row[RESIDUAL].d = t->worst_residual;
    row[SECONDS].d = t->seconds;
    for (int i = 0; i < r->nactions; i++) {
        row[PER_ACTION + 3 * i].d = t->start_values[i];
        row[PER_ACTION + 3 * i + 1].d = t->force_mean[i];
        row[PER_ACTION + 3 * i + 2].i = t->iterations[i];
    }
    for (int i = 0, c = PER_ACTION + 3 * r->nactions; i < r->nactions; i++) {
        if (!r->has_spectrum[i]) continue;
        row[c++].d = t->spectrum_low[i];
        row[c++].d = t->spectrum_high[i];
    }
    if (r->filters) row[r->filtered_column].d = filtered;
    if (history_append(r->h, r->table, row, message, size)) return -1;
    remember(r, number, loops->plaquette, t->dh, t->accepted, filtered);
    return 0;
}

/* ---- measurements ---- */

static int table_of(record *r, const char *group, const measure_column *columns, int n, const char *axis)
{
    history_column table[MAX_COLUMNS] = {{"trajectory", HISTORY_INT, "", "measured after this trajectory", 0}};
    char message[1024];
    for (int i = 0; i < r->ntables; i++)
        if (!strcmp(r->tables[i].group, group)) return r->tables[i].number;
    REQUIRE(n < MAX_COLUMNS && r->ntables < 2 * MAX_NAMED, "%d columns, %d tables", n, r->ntables);
    history_role role = HISTORY_PLAIN;
    for (int i = 0; i < n; i++) {
        const int is_axis = axis && !strcmp(columns[i].name, axis);
        table[i + 1] = (history_column){columns[i].name, HISTORY_REAL, columns[i].unit, columns[i].help,
                                        is_axis ? HISTORY_AXIS : role};
        if (is_axis) role = HISTORY_ALONG;
    }
    const int number = history_table(r->h, group, table, n + 1, message, sizeof message);
    must(number, message);
    snprintf(r->tables[r->ntables].group, sizeof r->tables[0].group, "%s", group);
    r->tables[r->ntables++].number = number;
    return number;
}

static int add_rows(record *r, const char *group, int64_t number, const measure_column *columns, int n,
                    const char *axis, const double *values, long rows, char *message, size_t size)
{
    history_value row[MAX_COLUMNS];
    if (n == 0) return 0;
    const int table = table_of(r, group, columns, n, axis);
    for (long i = 0; i < rows; i++) {
        row[0].i = number;
        for (int c = 0; c < n; c++) row[c + 1].d = values[i * n + c];
        if (history_append(r->h, table, row, message, size)) return -1;
    }
    return 0;
}

int record_measurement(record *r, int64_t number, const measure_result *m, char *message, size_t size)
{
    char group[128];
    if (m->failed) return 0;
    REQUIRE(m->nrows == 1 || m->what->nsummary > 0, "%s: several rows and no summary to say that all are there",
            m->what->name);
    snprintf(group, sizeof group, "measure/%s", m->name);
    if (add_rows(r, group, number, m->what->columns, m->what->ncolumns, m->what->axis, m->rows, m->nrows, message,
                 size))
        return -1;
    snprintf(group, sizeof group, "measure/%s/summary", m->name);
    return add_rows(r, group, number, m->what->summary, m->what->nsummary, NULL, m->summary, 1, message, size);
}

int record_has_measurement(record *r, int64_t number, const named_measure *m)
{
    char rows[128], summary[128], message[1024];
    snprintf(rows, sizeof rows, "measure/%s", m->name);
    snprintf(summary, sizeof summary, "measure/%s/summary", m->name);
    /* The summary is written last. */
    if (history_last(r->h, observable_of(&m->p)->nsummary ? summary : rows) >= number) return 1;
    must(history_truncate_group(r->h, rows, number - 1, message, sizeof message), message);
    return 0;
}

void record_digest(const record *r, char hex[65])
{
    history_digest(r->h, hex);
}

int record_sync(record *r, char *message, size_t size)
{
    double now[2] = {comm_wtime() - r->begun, comm_wtime() - r->noted};
    comm_max(now, 2);
    if (now[1] > NOTE_SECONDS) {
        if (stretch_note(&r->stretch, r->h, r->last, now[0], message, size)) return -1;
        r->noted = comm_wtime();
    }
    return history_sync(r->h, message, size);
}

/* ---- alarms ---- */

#define REVERSIBILITY "reversibility"

int record_reversal(record *r, int64_t number, const reversal *m, char *message, size_t size)
{
    static const history_column columns[] = {
        {"trajectory", HISTORY_INT, "", "measured after this trajectory", 0},
        {"dH", HISTORY_REAL, "", "energy after a trajectory forwards and back less that before; NaN: no result", 0},
        {"links", HISTORY_REAL, "", "root mean square difference of the links", 0},
        {"momenta", HISTORY_REAL, "", "root mean square difference of the momenta", 0}};
    const history_value row[4] = {{.i = number}, {.d = m->dh}, {.d = m->links}, {.d = m->momenta}};
    const int table = history_table(r->h, REVERSIBILITY, columns, 4, message, size);
    return table < 0 || history_append(r->h, table, row, message, size) ? -1 : 0;
}

int record_has_reversal(const record *r, int64_t number)
{
    return history_last(r->h, REVERSIBILITY) >= number;
}

void record_session(record *r, const char *key, const char *value)
{
    param_text *const head = &r->stretch.session_head;
    param_text_add(head, "%s = ", key);
    const size_t from = head->length;
    param_text_add(head, "%s\n", value);
    for (size_t i = from; i + 1 < head->length; i++)
        if (head->data[i] == '\n') head->data[i] = ' ';
}

int64_t record_from(const record *r)
{
    return r->from;
}

int record_recent(const record *r, watch_row *rows, int most)
{
    const int64_t all = history_rows(r->h, r->table);
    int64_t first = all;
    while (first > 0 && all - first < most && history_get(r->h, r->table, first - 1, TRAJECTORY).i >= r->from) first--;
    for (int64_t i = first; i < all; i++) {
        watch_row *w = &rows[i - first];
        *w = (watch_row){.trajectory = history_get(r->h, r->table, i, TRAJECTORY).i,
                         .accepted = history_get(r->h, r->table, i, ACCEPTED).i != 0,
                         .nactions = r->nactions,
                         .dh = history_get(r->h, r->table, i, DH).d,
                         .plaquette = history_get(r->h, r->table, i, PLAQUETTE).d,
                         .residual = history_get(r->h, r->table, i, RESIDUAL).d};
        for (int a = 0; a < r->nactions; a++) {
            w->force[a] = history_get(r->h, r->table, i, PER_ACTION + 3 * a + 1).d;
            w->iterations[a] = (double)history_get(r->h, r->table, i, PER_ACTION + 3 * a + 2).i;
        }
    }
    return (int)(all - first);
}

/* ---- averages ---- */

double record_exp_minus(double dh)
{
    return exp(fmin(-dh, 300));
}

record_averages record_average(const record *r)
{
    const long skip = r->before, n = r->count - skip;
    record_averages a = {.from = r->physics_from,
                         .acceptance_from = r->from,
                         .stretch = r->stretch.stretch,
                         .count = r->count,
                         .acceptance_count = n};
    a.filtered = r->filtered / (double)r->nfiltered;
    a.acceptance = autocorrelate(r->number + skip, r->accepted + skip, n);
    a.exp_dh = autocorrelate(r->number + skip, r->exp_dh + skip, n);
    a.plaquette = autocorrelate(r->number, r->plaquette, r->count);
    return a;
}

double record_acceptance(const record *r, int64_t after, int64_t to)
{
    int64_t rows = 0, accepted = 0;
    for (int64_t i = history_rows(r->h, r->table) - 1; i >= 0; i--) {
        const int64_t number = history_get(r->h, r->table, i, TRAJECTORY).i;
        if (number <= after) break;
        if (number > to) continue;
        rows++;
        accepted += history_get(r->h, r->table, i, ACCEPTED).i;
    }
    return rows > 0 && rows == to - after ? (double)accepted / (double)rows : NAN;
}

double record_plaquette(const record *r, int64_t trajectory)
{
    int64_t low = 0, high = history_rows(r->h, r->table);
    while (low < high) {
        const int64_t middle = (low + high) / 2, number = history_get(r->h, r->table, middle, TRAJECTORY).i;
        if (number == trajectory) return history_get(r->h, r->table, middle, PLAQUETTE).d;
        if (number < trajectory) low = middle + 1;
        else high = middle;
    }
    return NAN;
}
