/* Observables: what [measure.NAME] sections of the input measure on a configuration.
 *
 * An observable is one line of observables.def and one file hmc/measure/observable_NAME.c with a table and a function. What it
 * finds has rows of named columns (one row for a configuration, or one a flow time, or one a time slice), and may have
 * a summary, one row of further columns. Values are doubles; NaN means that there is none. So printing, JSON and
 * storing are written once, for all of them. With an axis, a file stores one row for each set of labels, the columns
 * before the axis, with arrays along it: one row for a correlator. Nothing here is collective. */
#ifndef PLAQ_OBSERVABLE_H
#define PLAQ_OBSERVABLE_H

#include <stddef.h>
#include <stdint.h>

#include "io/history/table_hdf5.h"
#include "kernels/base/param.h"

struct parameters;      /* hmc/assemble/parameters.h */
struct measure_context; /* hmc/measure/measure.h */
struct measure_result;  /* hmc/measure/measure.h */

typedef table_column measure_column; /* name, unit, help */

/* The section [measure.NAME]. Observables have keys of their own in `own`, whose layout is theirs. */
#define MEASURE_PROPAGATORS 3
typedef struct {
    int kind; /* observable_number() */
    int64_t interval;
    char propagators[MEASURE_PROPAGATORS][PARAM_STRING_SIZE]; /* names of those that observables contract */
    int positions, exact_positions; /* numbers of source positions (hmc/measure/positions.h) */
    /* Keys of observables that solve for themselves. */
    char quark[PARAM_STRING_SIZE], solver[PARAM_STRING_SIZE];
    int error_estimate;
    char source[PARAM_STRING_SIZE];
    char links[PARAM_STRING_SIZE]; /* [links.NAME] of observables without a quark */
    union {
        double align;
        char bytes[2048];
    } own;
} measure_params;

typedef struct {
    char name[64];
    measure_params p;
} named_measure;

enum { MEASURE_DONE, MEASURE_FAILED, MEASURE_GIVEN_UP };

typedef struct {
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
    const char *(*check)(const struct parameters *p, const named_measure *m, char *message, size_t size);
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
    int (*measure)(const struct measure_context *c, const measure_params *m, struct measure_result *r);
    /* Rough floating-point operations a site of one measurement on a lattice of these extents; null where they depend on
     * solves. */
    double (*flops)(const measure_params *m, const int size[4]);
} observable;

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

/* Names of the propagators that a measurement contracts, by number; null after the last. In front of an insertion the second
 * one, where it is not given, is the first. */
const char *measure_propagator(const measure_params *m, int i);
/* True if some positions of the measurement have rough solves alone (hmc/measure/positions.h). */
int measure_is_rough(const measure_params *m);

#endif
