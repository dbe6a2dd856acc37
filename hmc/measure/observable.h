/* Observables: what [measure.NAME] sections of the input measure on a configuration.
 *
 * An observable is one line of observables.def and one file observable_NAME.c with a table and a function. What it
 * finds has rows of named columns (one row for a configuration, or one a flow time, or one a time slice), and may have
 * a summary, one row of further columns. Values are doubles; NaN means that there is none. So printing, JSON and
 * storing are written once, for all of them.
 *
 * All functions but those of measure_result are collective. Results are the same bits on all ranks and on any process
 * grid. */
#ifndef PLAQ_OBSERVABLE_H
#define PLAQ_OBSERVABLE_H

#include <stdint.h>
#include <stdio.h>

#include "hmc/parameters.h"
#include "hmc/simulation.h"
#include "io/table_hdf5.h"

#define MEASURE_MAX_SUMMARY 8

typedef table_column measure_column; /* name, unit, help */

typedef struct {
    const parameters *p;    /* fermions and solvers by name */
    const field *links;     /* double, host, on the group */
    wilson *const *wilsons; /* operators by number of the fermion, where there are any; else null */
} measure_context;

typedef struct observable observable;

typedef struct {
    const observable *what;
    const char *name; /* of the section measure.NAME */
    long nrows, capacity;
    double *rows; /* [row][column] */
    double summary[MEASURE_MAX_SUMMARY];
    double seconds;
    int failed; /* a solve did not converge; `trouble` says which, and the values mean nothing */
    char trouble[512];
} measure_result;

struct observable {
    const char *name, *help;
    const measure_column *columns;
    int ncolumns;
    const measure_column *summary;
    int nsummary;
    /* Adds rows and sets the summary. Nonzero when it failed, with the reason in r->trouble. */
    int (*measure)(const measure_context *c, const measure_params *m, measure_result *r);
};

/* Observables by number, null after the last; and by name, null when there is none. */
const observable *observable_number(int i);
const observable *observable_find(const char *name);

/* Makes the measurement; free the result with measure_result_free(). A source outside the lattice is a user error. */
measure_result measure(const measure_context *c, const named_measure *m);

/* The measurements that are due after trajectory number `trajectory` (a multiple of their interval) on the links of s.
 * Returns how many; *results is an array of them, to be freed with measure_results_free(). Failures are logged as
 * warnings. */
int measure_during_run(const simulation *s, int64_t trajectory, measure_result **results);
void measure_results_free(measure_result *results, int n);

/* For observables: one more row of ncolumns values. */
void measure_add_row(measure_result *r, const double *values);
/* The value of a column in a row, or of a column of the summary (row = -1); NaN when there is no such column. */
double measure_value(const measure_result *r, long row, const char *column);
void measure_result_free(measure_result *r);

/* Prints a result, on the rank that calls: as a table, or with `json` as one object a row and one for the summary, each
 * with the members config, measure and kind first. */
void measure_print(FILE *out, const measure_result *r, const char *config, int json);

#endif
