/* Measurements: observables (hmc/observables/observable.h) on a configuration.
 *
 * All functions but those of measure_result are collective. Results are the same bits on all ranks and on any process
 * grid. */
#ifndef PLAQ_MEASURE_H
#define PLAQ_MEASURE_H

#include <stdint.h>
#include <stdio.h>

#include "hmc/assemble/simulation.h"
#include "hmc/assemble/parameters.h"
#include "hmc/observables/observable.h"

#define MEASURE_MAX_SUMMARY 12

typedef struct propagator_store propagator_store;

typedef struct measure_context {
    const parameters *p;      /* fermions and solvers by name */
    const field *links;       /* double, on the group, in any place */
    const simulation *run;    /* run whose quarks are used where it has them; null: none */
    int (*interrupted)(void); /* asked now and then; collective; when it is true the measurement is given up. Or null */
    int64_t trajectory;       /* number that the configuration bears, or -1 */
    /* Propagators that measurements share (hmc/measure/propagator.h); null: measure() makes those of the measurement. */
    propagator_store *propagators;
} measure_context;

typedef struct measure_result {
    const observable *what;
    const char *name; /* NAME of the section measure.NAME */
    long nrows, capacity;
    double *rows; /* [row][column] */
    double summary[MEASURE_MAX_SUMMARY];
    double seconds;
    int failed; /* a solve did not converge (`trouble` says which), or it was given up: the values mean nothing */
    int given_up;
    char trouble[512];
} measure_result;

/* Noise seed of this configuration, from [run] seed and its plaquette to twelve digits. So configurations have different
 * noise, and one has the same whenever and wherever it is measured with the same links; stored in single precision it is
 * another one. */
uint64_t measure_noise_seed(const measure_context *c);
/* The first quark with a twisted mass of the propagators of a measurement, and of those that these are made of; null: none.
 * `number`: of the propagator. */
const named_quark *measure_twisted(const parameters *p, const measure_params *m, int *number);
/* Link map, for observables, of the section [links.NAME] of this name, on the configuration's links; null for an empty name. To
 * be destroyed. */
link_map *measure_map(const measure_context *c, const char *name);
/* True if the measurement has to be given up. */
int measure_interrupted(const measure_context *c);
/* Adds a row of ncolumns values. */
void measure_add_row(measure_result *r, const double *values);
void measure_result_free(measure_result *r);

/* Prints a result, on the rank that calls: as a table, or with `json` as objects that have the members config, measure and
 * kind first, one a row, or with an axis one for each set of labels with arrays along it; and one for the summary. Rows of a
 * table are left out where `file`, unless null, gets them. */
void measure_print(FILE *out, const measure_result *r, const char *config, int json, const char *file);

#endif
