/* Sources of propagators, [source.NAME] sections of the input. A kind is one line of sources.def and a file source_NAME.c with
 * a table of keys and the value f(x) at the sites of one time slice. Column number k of a propagator has the source f(x) in
 * component k, colour or 3 spin + colour, and zero in the others; then the source is smeared in space where the section names
 * a [smearing.NAME] (smearing.h). Sequential sources are made of the columns of another propagator. */
#ifndef PLAQ_SOURCE_H
#define PLAQ_SOURCE_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

#include "hmc/input/names.h"
#include "kernels/base/param.h"
#include "kernels/field/field.h"

/* The section [source.NAME]. Kinds have keys of their own in `own`, whose layout is theirs. */
typedef struct {
    int kind; /* source_kind_number() */
    char smearing[PARAM_STRING_SIZE];
    union {
        double align;
        char bytes[512];
    } own;
} source_params;

typedef struct {
    char name[64];
    source_params p;
} named_source;

/* A kind has the key `place`, X.Y.Z.T, or `time`: the time slice with sources; or it is on all sites, with no place. */
typedef struct {
    const char *name, *help;
    const param_section *own; /* a part of the section with its own keys, its owner the name */
    /* Own keys that came after tables of results: the identity has them where they are not the default. Null: none. */
    const char *later;
    int volume; /* source on all sites, without the keys of a place; times a wave of half a period where time is antiperiodic */
    int all_times; /* 1: sequential on all time slices, without the keys of a place */
    int noise;     /* 1: f(x) has random numbers; products of more than two columns have no mean */
    int current;   /* 1: sequential, of a current that needs the links of the quark (hmc/measure/current_source.h) */
    int baryon;    /* 1: a sequential source of three quarks, whose sign at an antiperiodic edge is taken out */
    /* f at global coordinates x on that slice. `size`: extents of the lattice; `seed`: of noise. */
    double complex (*value)(const source_params *s, const int x[4], const int size[4], uint64_t seed);
    /* Columns of a sequential source at a site of the sink, in place of f (source_sequential()): y[column][3 spin +
     * colour], out of those of the propagator, x. `wave`: exp(i p.(x - x_0)), with the sign of a baryon's edge. */
    void (*sequential)(double complex y[12][12], const double complex x[12][12], const source_params *s,
                       double complex wave);
} source_kind;

/* Kinds by number, null after the last; and a source's kind. */
const source_kind *source_kind_number(int i);
static inline const source_kind *source_kind_of(const source_params *s)
{
    return source_kind_number(s->kind);
}
/* True if the kind has this key; and all of the kind's own, separated by spaces. */
int source_kind_has(const source_kind *kind, const char *key);
void source_kind_keys(const source_kind *kind, char *text, size_t size);
/* The section [source.NAME] and its parts by number, null after the last. */
const param_section *source_section(int i);

/* Offset of a member of a kind's own struct, for its table of keys; and that struct in settings. */
#define SOURCE_KEY(keys, member) (offsetof(source_params, own) + offsetof(keys, member))
#define SOURCE_OWN(keys, s) ((const keys *)(const void *)(s)->own.bytes)

/* Keys of all sequential sources, which are made on the time slice of a sink out of the columns of another propagator. They come
 * first in the struct of a kind. */
typedef struct {
    char propagator[PARAM_STRING_SIZE]; /* [propagator.NAME] */
    int time, momentum[4];              /* slice and momentum of the sink */
} sequential_keys;
/* The keys of a sequential source; null for all others. */
const sequential_keys *source_sequential(const source_params *s);

/* n_x, n_y, n_z and n_t of a source on all sites; null for all others. */
const int *source_volume_momentum(const source_params *s);

/* Direction of the current of a sequential source; -1 of all others. */
int source_current(const source_params *s);

/* True if two sources of noise have the same numbers, whatever their momenta. */
int source_same_noise(const source_params *a, const source_params *b);
/* False of sources on all sites. */
int source_has_place(const source_params *s);
/* Origin of times and of the phases of momenta, and the one time slice with sources; of a sequential source the slice alone, for
 * its origin is that of the other propagator. */
void source_place(const source_params *s, int place[4]);
/* Moves a source modulo the extents; one that has a time alone, in time; one on all sites stays. */
void source_move(source_params *s, const int shift[4], const int size[4]);
/* Plane wave exp(i p.x), p = 2 pi n / L, at coordinates x, which may be differences of such. */
double complex source_wave(const int n[3], const int x[3], const int size[3]);

/* Sets b, a vector of a right-hand side on both parities in double precision, to the source of a component, without smearing.
 * `seed`: of noise. Collective. */
void source_fill(field *b, const source_params *s, int component, uint64_t seed);
/* A point source: one at a place of the lattice, in one component. Collective. */
void source_point(field *b, const int place[4], int component);
/* The origin of a source that lies outside a lattice of these extents, of which those of 0 are not known, and the key that has
 * it; null where it fits. */
const char *source_outside(const source_params *s, const int size[4], int place[4]);

#endif
