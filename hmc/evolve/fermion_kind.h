/* Kinds of fermions: what [fermion.NAME] sections of the input make. A kind is one line of fermions.def and a table. */
#ifndef PLAQ_FERMION_KIND_H
#define PLAQ_FERMION_KIND_H

#include "hmc/build/simulation.h"
#include "operators/fermion.h"
#include "operators/staggered_links.h"

typedef struct {
    const char *name, *help;
    const char *keys;         /* of its section that not every kind has, separated by spaces */
    const param_section *own; /* a part of the section with its own keys, in fermion_params.own; or null */
    int blocks;               /* its operator comes inside blocks of sites, too */
    int shifts;               /* its solves have shifts, for which there is one type of solver */
    int staggered;            /* a staggered quark; else one of Wilson's */
    int flavours;             /* that a section makes; 0: as many as its key says */
    /* The quark of a section on these links; it may share with one of the n others (null ones do not count). */
    fermion *(*quark)(const field *links, const fermion_params *f, fermion *const *others, int n);
    /* Of its rational action, without what needs the quark itself; null: it has none. */
    rational_settings (*rational)(const fermion_params *f);
    int (*slices)(const fermion_params *f); /* of a fifth dimension; null: there is none */
    /* Adds the actions of fermion `number` to s, with simulation_add(); operators of all fermions are there. Null: it is
     * measured only, and the next is null, too. */
    void (*create)(simulation *s, int number);
    /* Floating-point operations per site of one force whose solve takes so many iterations. */
    double (*force_flops)(const fermion_params *f, double iterations);
} fermion_kind;

/* Kinds by number, null after the last; and by name. */
const fermion_kind *fermion_kind_number(int i);
const fermion_kind *fermion_kind_find(const char *name);
/* Whether the kind has this key. */
int fermion_kind_has(const fermion_kind *kind, const char *key);

/* Adds NAME.det of fermion `number`, unless it has no such factor. */
void fermion_add_determinant(simulation *s, int number, fermion *over, int flavours);
/* The solvers that a section names. */
action_solvers fermion_solvers(const simulation *s, const fermion_params *f);
/* What the settings of a rational action have from its section, whatever the quark; and its solvers, and the action. */
rational_settings fermion_rational_settings(const fermion_params *f);
void fermion_add_rational(simulation *s, int number, rational_settings settings);
/* The quarks of the two families of kinds, as fermion_kind.quark. */
fermion *fermion_of_wilson(const field *links, const fermion_params *f, fermion *const *others, int n);
fermion *fermion_of_staggered(const field *links, const fermion_params *f, fermion *const *others, int n);
/* The links of a staggered quark. */
typedef struct {
    const char *name;
    staggered_kind kind;
    int levels;     /* of smearing */
    int long_links; /* there are */
    int tadpoles;   /* u0 is for them */
} fermion_links;
const fermion_links *fermion_links_of(const fermion_params *f);
/* Whether both are staggered quarks with links from the same smearing; epsilon and the storage of long links aside. */
int fermion_same_smearing(const fermion_params *f, const fermion_params *g);

/* Flops a site of the hop of a staggered quark, and of its smearing, there and back. */
double fermion_staggered_hop_flops(const fermion_params *f);
double fermion_smearing_flops(const fermion_params *f);

#endif
