/* Observables: what [measure.NAME] sections of the input measure on a configuration.
 *
 * An observable is one line of observables.def and one file observable_NAME.c with a table and a function. What it
 * finds has rows of named columns (one row for a configuration, or one a flow time, or one a time slice), and may have
 * a summary, one row of further columns. Values are doubles; NaN means that there is none. So printing, JSON and
 * storing are written once, for all of them. With an axis, a file stores one row for each set of labels, the columns
 * before the axis, with arrays along it: one row for a correlator.
 *
 * All functions but those of measure_result are collective. Results are the same bits on all ranks and on any process
 * grid. */
#ifndef PLAQ_OBSERVABLE_H
#define PLAQ_OBSERVABLE_H

#include <stdint.h>
#include <stdio.h>

#include "hmc/assemble/simulation.h"
#include "hmc/assemble/parameters.h"
#include "io/history/table_hdf5.h"

#define MEASURE_MAX_SUMMARY 12

typedef table_column measure_column; /* name, unit, help */

typedef struct propagator_store propagator_store;

typedef struct {
    const parameters *p;      /* fermions and solvers by name */
    const field *links;       /* double, on the group, in any place */
    const simulation *run;    /* run whose quarks are used where it has them; null: none */
    int (*interrupted)(void); /* asked now and then; collective; when it is true the measurement is given up. Or null */
    int64_t trajectory;       /* number that the configuration bears, or -1 */
    /* Propagators that measurements share (hmc/measure/propagator.h); null: measure() makes those of the measurement. */
    propagator_store *propagators;
} measure_context;

enum { MEASURE_DONE, MEASURE_FAILED, MEASURE_GIVEN_UP };

typedef struct observable observable;

typedef struct {
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

struct observable {
    const char *name, *help;
    const measure_column *columns;
    int ncolumns;
    const char *axis; /* the column along which those behind it go, in rising order; null: each row stands alone */
    const table_names *names; /* words for numbers in columns before the axis; null: none */
    const measure_column *summary;
    int nsummary;
    const param_section *own; /* a part of the section with its own keys, its owner the name; or null */
    /* Own keys that came after tables of results: the identity has them where they are not the default. Null: none. */
    const char *later;
    /* Checks keys against each other and against the quark and the lattice of the input: the key at fault, with a message,
     * or null. Null where no fault is possible. */
    const char *(*check)(const parameters *p, const named_measure *m, char *message, size_t size);
    enum {
        MEASURE_NO_QUARKS,
        MEASURE_WILSON,
        MEASURE_WALLS,
        MEASURE_STAGGERED,
        MEASURE_ANY_QUARK
    } quarks;        /* quarks that it needs */
    int propagators; /* propagators that it contracts, at most; 0: it solves for itself where it needs quarks */
    int volume;      /* contracts propagators from sources on all sites, and no others */
    int sequential;  /* sequential propagators are allowed */
    const char
        *periodic;   /* why it is for lattices alone that are periodic in time; null: it is for bounded ones, too */
    int walls;       /* needs the walls of a Schroedinger functional */
    int from_source; /* solves of its own, from a source that a key names */
    /* Adds rows and sets the summary; an observable of several rows has a summary. MEASURE_DONE, MEASURE_FAILED with
     * the reason in r->trouble, or MEASURE_GIVEN_UP. */
    int (*measure)(const measure_context *c, const measure_params *m, measure_result *r);
    /* Rough floating-point operations a site of one measurement on a lattice of these extents; null where they depend on
     * solves. */
    double (*flops)(const measure_params *m, const int size[4]);
};

/* Observables by number, null after the last; and that of a section. */
const observable *observable_number(int i);
static inline const observable *observable_of(const measure_params *m)
{
    return observable_number(m->kind);
}
/* True if the observable has this key, of those that not every kind has; and all of these, separated by spaces. */
int observable_has(const observable *o, const char *key);
void observable_keys(const observable *o, char *text, size_t size);
/* The section [measure.NAME] and its parts by number, null after the last. */
const param_section *observable_section(int i);

/* Links that transport quarks over a distance of one, a key of several observables. */
#define TRANSPORT_LINKS(X) X(TRANSPORT_THIN, "thin") X(TRANSPORT_FAT, "fat")
enum { TRANSPORT_LINKS(PARAM_CONSTANT) };

/* Offset of a member of an observable's own struct, for its table of keys; and that struct in settings. */
#define OBSERVABLE_KEY(keys, member) (offsetof(measure_params, own) + offsetof(keys, member))
#define OBSERVABLE_OWN(keys, m) ((const keys *)(const void *)(m)->own.bytes)

/* The number of the column `axis`; that of all columns where there is none. */
int observable_axis(const observable *o);

/* Makes the measurement, at one position; free the result with measure_result_free(). A source outside the lattice is a user error. */
measure_result measure(const measure_context *c, const named_measure *m);

/* Noise seed of this configuration, from [run] seed and its plaquette to twelve digits. So configurations have different
 * noise, and one has the same whenever and wherever it is measured with the same links; stored in single precision it is
 * another one. */
uint64_t measure_noise_seed(const measure_context *c);
/* Names of the propagators that a measurement contracts, by number; null after the last. */
const char *measure_propagator(const measure_params *m, int i);
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
 * kind first, one a row, or with an axis one for each set of labels with arrays along it; and one for the summary. */
void measure_print(FILE *out, const measure_result *r, const char *config, int json);

#endif
