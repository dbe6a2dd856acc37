/* Keys of staggered quarks, for tests that set them, their links and their Naik terms. */
#ifndef PLAQ_QUARK_STAGGERED_H
#define PLAQ_QUARK_STAGGERED_H

#include "hmc/quarks/quark.h"
#include "operators/staggered_links.h"

#define LONG_REALS(X) X(LONG_REALS_18, "18") X(LONG_REALS_13, "13") X(LONG_REALS_9, "9")
enum { LONG_REALS(PARAM_CONSTANT) };

typedef struct {
    int links;               /* a staggered_kind */
    double u0, naik_epsilon; /* NaN: auto, until the section is complete */
    int long_reals;
} staggered_keys;

extern const param_section staggered_part;

static inline staggered_keys *staggered_keys_of(const quark_params *q)
{
    return (staggered_keys *)quark_keys(q, &staggered_part);
}

/* Consequences of the key `links`. */
typedef struct {
    int levels;     /* levels of smearing */
    int long_links; /* long links are there */
    int tadpoles;   /* u0 belongs to them */
} staggered_links_kind;
const staggered_links_kind *staggered_links_of(const quark_params *q);

/* Value of `naik_epsilon = auto` for a quark of mass m in lattice units: the series in m^2, below mass 1. And the exact
 * value at tree level, at which rest mass and kinetic mass of a free quark agree; any m > 0. */
double staggered_naik_series(double m);
double staggered_naik_exact(double m);

#endif
