#include "hmc/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/history.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"

#define MAX_COLUMNS 64

struct record {
    history *h;
    int table;
    int64_t warmup;
    int ncolumns, nactions;
    /* What the averages need, of all rows after the warm-up. */
    long count, capacity;
    double *plaquette, *dh, *accepted;
    /* Tables of measurements, declared when they first have something to say. */
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

static void remember(record *r, int64_t number, double plaquette, double dh, int accepted)
{
    if (number <= r->warmup) return;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 256;
        const size_t bytes = (size_t)r->capacity * sizeof(double);
        r->plaquette = realloc(r->plaquette, bytes);
        r->dh = realloc(r->dh, bytes);
        r->accepted = realloc(r->accepted, bytes);
        REQUIRE(r->plaquette && r->dh && r->accepted, "out of memory for %ld rows", r->capacity);
    }
    r->plaquette[r->count] = plaquette;
    r->dh[r->count] = dh;
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
    static char names[MAX_ACTIONS][3][96];
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
        columns[r->ncolumns++] = (history_column){
            names[i][1], HISTORY_REAL, "", "root mean square of F^a over links, averaged over its evaluations", 0};
        columns[r->ncolumns++] = (history_column){names[i][2], HISTORY_INT, "", "solver iterations", 0};
    }
    r->table = history_table(r->h, "trajectories", columns, r->ncolumns, message, sizeof message);
    must(r->table, message);
}

record *record_open(const char *folder, const simulation *s, int64_t done)
{
    char message[1024];
    record *r = calloc(1, sizeof *r);
    REQUIRE(r, "out of memory");
    r->warmup = s->p->run.warmup;
    r->h = history_open(folder, message, sizeof message);
    if (!r->h) user_error("%s", message);
    declare(r, s);
    must(history_truncate_after(r->h, done, message, sizeof message), message);
    history_text(r->h, "parameters", s->p->dump);
    history_text(r->h, "program", "plaq " PLAQ_VERSION);
    for (int64_t i = 0; i < history_rows(r->h, r->table); i++)
        remember(r, history_get(r->h, r->table, i, TRAJECTORY).i, history_get(r->h, r->table, i, PLAQUETTE).d,
                 history_get(r->h, r->table, i, DH).d, (int)history_get(r->h, r->table, i, ACCEPTED).i);
    return r;
}

void record_close(record *r)
{
    char message[1024];
    if (!r) return;
    must(history_close(r->h, message, sizeof message), message);
    free(r->plaquette);
    free(r->dh);
    free(r->accepted);
    free(r);
}

void record_add(record *r, int64_t number, const trajectory_result *t, double plaquette, double link_trace)
{
    history_value row[MAX_COLUMNS];
    char message[1024];
    row[TRAJECTORY].i = number;
    row[ACCEPTED].i = t->accepted;
    row[DH].d = t->dh;
    row[PLAQUETTE].d = plaquette;
    row[LINK_TRACE].d = link_trace;
    row[KINETIC].d = t->kinetic_start;
    row[RESIDUAL].d = t->worst_residual;
    row[SECONDS].d = t->seconds;
    for (int i = 0; i < r->nactions; i++) {
        row[PER_ACTION + 3 * i].d = t->start_values[i];
        row[PER_ACTION + 3 * i + 1].d = t->force_mean[i];
        row[PER_ACTION + 3 * i + 2].i = t->iterations[i];
    }
    must(history_append(r->h, r->table, row, message, sizeof message), message);
    remember(r, number, plaquette, t->dh, t->accepted);
}

/* ---- measurements ---- */

static int table_of(record *r, const char *group, const measure_column *columns, int n)
{
    history_column table[MAX_COLUMNS] = {{"trajectory", HISTORY_INT, "", "measured after this trajectory", 0}};
    char message[1024];
    for (int i = 0; i < r->ntables; i++)
        if (!strcmp(r->tables[i].group, group)) return r->tables[i].number;
    REQUIRE(n < MAX_COLUMNS && r->ntables < 2 * MAX_NAMED, "%d columns, %d tables", n, r->ntables);
    for (int i = 0; i < n; i++)
        table[i + 1] = (history_column){columns[i].name, HISTORY_REAL, columns[i].unit, columns[i].help, 0};
    const int number = history_table(r->h, group, table, n + 1, message, sizeof message);
    must(number, message);
    snprintf(r->tables[r->ntables].group, sizeof r->tables[0].group, "%s", group);
    r->tables[r->ntables++].number = number;
    return number;
}

static void add_rows(record *r, const char *group, int64_t number, const measure_column *columns, int n,
                     const double *values, long rows)
{
    history_value row[MAX_COLUMNS];
    char message[1024];
    if (n == 0) return;
    const int table = table_of(r, group, columns, n);
    for (long i = 0; i < rows; i++) {
        row[0].i = number;
        for (int c = 0; c < n; c++) row[c + 1].d = values[i * n + c];
        must(history_append(r->h, table, row, message, sizeof message), message);
    }
}

void record_measurement(record *r, int64_t number, const measure_result *m)
{
    char group[128];
    if (m->failed) return;
    snprintf(group, sizeof group, "measure/%s", m->name);
    add_rows(r, group, number, m->what->columns, m->what->ncolumns, m->rows, m->nrows);
    snprintf(group, sizeof group, "measure/%s/summary", m->name);
    add_rows(r, group, number, m->what->summary, m->what->nsummary, m->summary, 1);
}

void record_digest(const record *r, char hex[65])
{
    history_digest(r->h, hex);
}

void record_sync(record *r)
{
    char message[1024];
    must(history_sync(r->h, message, sizeof message), message);
}

/* ---- averages ---- */

/* Mean, and its error from about 20 blocks (or single rows when there are few). */
static double mean_and_error(const double *x, long n, double (*of)(double), double *error)
{
    double mean = 0, square = 0;
    for (long i = 0; i < n; i++) mean += of(x[i]);
    if (n > 0) mean /= (double)n;
    const long length = n >= 100 ? n / 20 : n >= 40 ? 2 : 1, blocks = n / length;
    for (long b = 0; b < blocks; b++) {
        double block = 0;
        for (long i = b * length; i < (b + 1) * length; i++) block += of(x[i]) / (double)length;
        square += (block - mean) * (block - mean);
    }
    *error = blocks > 1 ? sqrt(square / (double)(blocks * (blocks - 1))) : NAN;
    return mean;
}

static double itself(double x)
{
    return x;
}

static double exp_minus(double x)
{
    return exp(-x);
}

record_averages record_average(const record *r)
{
    record_averages a = {.count = r->count};
    a.acceptance = mean_and_error(r->accepted, r->count, itself, &a.acceptance_error);
    a.exp_dh = mean_and_error(r->dh, r->count, exp_minus, &a.exp_dh_error);
    a.plaquette = mean_and_error(r->plaquette, r->count, itself, &a.plaquette_error);
    return a;
}
