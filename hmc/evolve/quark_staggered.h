/* Staggered quarks of sections [fermion.NAME]: keys, and what kinds of fermions say of them. */
#ifndef PLAQ_QUARK_STAGGERED_H
#define PLAQ_QUARK_STAGGERED_H

#include "hmc/evolve/fermion_kind.h"
#include "operators/staggered_links.h"

typedef struct {
    char links[PARAM_CHOICE_SIZE];
    double u0, naik_epsilon; /* NaN: auto, until the section is complete */
    char long_reals[PARAM_CHOICE_SIZE];
} staggered_keys;

extern const fermion_part staggered_part;

static inline staggered_keys *staggered_keys_of(const fermion_params *f)
{
    return (staggered_keys *)fermion_keys(f, &staggered_part);
}

/* What follows from the key `links`. */
typedef struct {
    const char *name;
    staggered_kind kind;
    int levels;     /* of smearing */
    int long_links; /* there are */
    int tadpoles;   /* u0 is for them */
} staggered_links_kind;
const staggered_links_kind *staggered_links_of(const fermion_params *f);

/* What `naik_epsilon = auto` is for a quark of mass m in lattice units: the series in m^2, below mass 1. And the exact
 * value at tree level, at which rest mass and kinetic mass of a free quark agree; any m > 0. */
double staggered_naik_series(double m);
double staggered_naik_exact(double m);

/* Members of a fermion_kind. */
fermion *staggered_quark(const field *links, const fermion_params *f, fermion *const *others, int n);
void staggered_describe(const fermion_params *f, double mass, char *text, size_t size);
void staggered_advise(const parameters *p, const named_fermion *f, double mass);
int staggered_same_operator(const fermion_params *f, const fermion_params *g);
int staggered_in_gauge_loops(const fermion_params *f);
int staggered_reach(const fermion_params *f);

/* Flops a site of the hop, and of the smearing, there and back. */
double staggered_hop_flops_of(const fermion_params *f);
double staggered_smearing_flops_of(const fermion_params *f);

#endif
