/* Kinds of fermions: what [fermion.NAME] sections of the input make. A kind is one line of fermions.def and a table. */
#ifndef PLAQ_FERMION_KIND_H
#define PLAQ_FERMION_KIND_H

#include "hmc/build/simulation.h"
#include "operators/fermion.h"

/* A part of the section [fermion.NAME]: a table of keys and the struct that they are in. Kinds share parts. */
typedef struct {
    param_section keys; /* its owner is a word for those that have it; fermion_section() names the kinds */
    int of_action;      /* a quark that is only measured has none of these keys */
    /* What follows from the keys of one section, when the keys of all sections are read; and what sections say of each
     * other, when all are complete. Contradictions are user errors. Null where there is nothing. */
    void (*complete)(const ini_input *in, const parameters *p, named_fermion *f);
    void (*check)(const ini_input *in, const parameters *p, const named_fermion *f);
    /* Contradictions of a section whose action stands on a level; as check(). */
    void (*check_action)(const ini_input *in, const parameters *p, const named_fermion *f);
} fermion_part;

#define FERMION_MOST_PARTS 8

typedef struct {
    const char *name, *help;
    const fermion_part *parts[FERMION_MOST_PARTS + 1]; /* null after the last */
    int spins;                                         /* of its vectors */
    int blocks;                                        /* its operator comes inside blocks of sites, too */
    int coarsens;                                      /* its operator comes on coarse lattices, too */
    int shifts;          /* shifted systems in its solves, for which there is one type of solver */
    int shifted_by_mass; /* K of two masses differ by the difference of their squares, and have the same eigenvectors */
    int regulated;       /* a regulator divides its determinant */
    int flavours;        /* flavours that a section makes; 0: as many as its key says */
    int chemical_potential; /* its operator has derivatives by it */
    /* As of a part, after those of its parts; or null. */
    void (*complete)(const ini_input *in, const parameters *p, named_fermion *f);
    /* The quark of a section on these links; it may share with one of the n others (null ones do not count). */
    fermion *(*quark)(const field *links, const fermion_params *f, fermion *const *others, int n);
    /* What the log says of a quark of this mass beside the mass; and warnings, or null. */
    void (*describe)(const fermion_params *f, double mass, char *text, size_t size);
    void (*advise)(const parameters *p, const named_fermion *f, double mass);
    /* Whether the operators of two quarks with the same quark() differ by the mass alone, if at all. */
    int (*same_operator)(const fermion_params *f, const fermion_params *g);
    /* Keys that both operators of a ratio have in common, as text; null: it has no ratios. */
    void (*ratio_keys)(const fermion_params *f, char *text, size_t size);
    /* Whether the section has a factor NAME.det; null: never. */
    int (*log_det)(const fermion_params *f);
    /* The factors of its determinant by mass, and how many; null: one, of its mass and flavours. */
    const mass_factor *(*factors)(const fermion_params *f, int *n);
    /* Whether gauge actions may count it among the quarks in their loops; null: never. */
    int (*in_gauge_loops)(const fermion_params *f);
    int (*reach)(const fermion_params *f); /* sites that its operator and force reach to; null: 2 */
    /* Of its rational action, without what needs the quark itself; null: it has none. */
    rational_settings (*rational)(const fermion_params *f);
    int (*slices)(const fermion_params *f); /* of a fifth dimension; null: there is none */
    /* Lines "key = value" that a transform between numbers of slices (solvers/transform.h) depends on; null: the operator is
     * that of its slices alone. */
    void (*transform_keys)(const fermion_params *f, char *text, size_t size);
    /* Adds the actions of fermion `number` to s, with simulation_add(); operators of all fermions are there. */
    void (*create)(simulation *s, int number);
    /* Floating-point operations per site of one force whose solve takes so many iterations; and the operations of plaq
     * bench whose rates are those of an iteration of its solves and of all else of the force. */
    double (*force_flops)(const fermion_params *f, double iterations);
    const char *solve_op, *force_op;
} fermion_kind;

/* Kinds by number, null after the last; and by name. */
const fermion_kind *fermion_kind_number(int i);
const fermion_kind *fermion_kind_find(const char *name);
/* The section [fermion.NAME] and its parts by number, each with the kinds that have it; null after the last. */
const param_section *fermion_section(int i);
/* The struct of a part, writable where f is; null where the kind of f does not have that part. */
void *fermion_keys(const fermion_params *f, const fermion_part *part);
/* Whether the kind has this key, of those that not every kind has; and all of these, separated by spaces. */
int fermion_kind_has(const fermion_kind *kind, const char *key);
void fermion_kind_keys(const fermion_kind *kind, char *text, size_t size);
/* For kinds without another key for it: the mass has to be given. */
void fermion_need_mass(const ini_input *in, const named_fermion *f);
parity fermion_parity(const fermion_params *f);

/* Adds NAME.det of fermion `number`, unless it has no such factor. */
void fermion_add_determinant(simulation *s, int number, fermion *over, int flavours);
/* The solvers that a section names. */
action_solvers fermion_solvers(const simulation *s, const fermion_params *f);

#endif
