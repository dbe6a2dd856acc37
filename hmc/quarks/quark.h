/* Kinds of quarks: what [quark.NAME] sections of the input make. A kind is one line of quarks.def and a table; it is physics
 * of a quark and knows no action. */
#ifndef PLAQ_QUARK_H
#define PLAQ_QUARK_H

#include "hmc/input/names.h"
#include "kernels/base/param.h"
#include "operators/eofa.h"
#include "operators/fermion.h"

#define QUARK_PARITIES(X) X(QUARK_EVEN, "even") X(QUARK_ODD, "odd")
enum { QUARK_PARITIES(PARAM_CONSTANT) };

/* The section [quark.NAME]. Kinds have keys of their own in `parts`, see quark_keys(). */
typedef struct {
    int kind; /* quark_kind_number() */
    double mass;
    int parity;
    char solver[PARAM_STRING_SIZE]; /* solver of measurements that name none */
    union {
        double align;
        char bytes[2560];
    } parts;
} quark_params;

typedef struct {
    char name[64];
    quark_params p;
} named_quark;

#define QUARK_MOST_PARTS 5

typedef struct {
    const char *name, *help;
    const param_section *parts[QUARK_MOST_PARTS + 1]; /* tables of keys, each with a struct; null after the last */
    int spins;                                        /* spins of its vectors */
    int flavours;                                     /* flavours whose determinant is that of the normal operator K */
    int doublet;         /* vectors have two flavours, whose determinants are simulated together */
    int ratios;          /* K of two masses act on the same vectors, and have a direct system each */
    int blocks;          /* operator inside blocks of sites, too */
    int coarsens;        /* operator on coarse lattices, too */
    int shifted_by_mass; /* K of two masses differ by the difference of their squares, and have the same eigenvectors */
    int regulated;       /* a regulator divides its determinant */
    int chemical_potential; /* derivatives of the operator by it */
    int bounded;            /* lattices that are bounded in time, too */
    int axial;              /* conserved axial current and the density between the middle slices (fermion_axial()) */
    int valence;            /* no action takes it: quarks for measurements alone */
    /* Consequences of the keys of the section, when those of all sections are read. Contradictions are user errors. */
    void (*complete)(const ini_input *in, named_quark *q);
    /* The quark of a section on these links; it may share with one of the n others (null ones do not count). */
    fermion *(*make)(const field *links, const quark_params *q, fermion *const *others, int n);
    /* Text of the log on a quark of this mass beside the mass; and warnings, or null. u0: the tadpole factor of the
     * gauge action; NaN: it has none. */
    void (*describe)(const quark_params *q, double mass, char *text, size_t size);
    void (*advise)(const named_quark *q, double mass, double u0);
    /* True if the operators of two quarks of this kind differ by the mass alone, if at all. */
    int (*same_operator)(const quark_params *q, const quark_params *r);
    /* True if the determinant has a factor beside that of its systems, for which actions have a NAME.det; null: never. */
    int (*log_det)(const quark_params *q);
    /* True if gauge actions may count it among the quarks in their loops; null: never. */
    int (*in_gauge_loops)(const quark_params *q);
    /* Twisted mass mu of the quark: gamma_5 M^dagger gamma_5 is not M but the operator of -mu, the other flavour of a doublet,
     * and K is of both flavours. Where it is, writable where q is; null: there is none. */
    double *(*twisted_mass)(const quark_params *q);
    /* Mass at a right angle to that of Wilson's operator, of the lightest flavour, for the model of iterations; null: none. */
    double (*twist)(const quark_params *q);
    int (*reach)(const quark_params *q);  /* sites that its operator and force reach to; null: 2 */
    int (*slices)(const quark_params *q); /* slices of a fifth dimension; null: none */
    /* Lines "key = value" that a transform between numbers of slices (solvers/transform.h) depends on; null: none. */
    void (*transform_keys)(const quark_params *q, char *text, size_t size);
    /* The quotient of this quark and a heavier one for the exact one-flavour algorithm, sharing as make() does; null: it has
     * none. Null links make one for checks of its numbers alone. */
    eofa *(*one_flavour)(const field *links, const quark_params *q, double heavy, fermion *const *others, int n);
    /* Floating-point operations a site of the lattice: of one application of K; of all else of a force, once, and for
     * each solution; and of the shifts of one more pole an iteration. */
    double (*normal_flops)(const quark_params *q);
    double (*force_flops)(const quark_params *q);
    double (*term_flops)(const quark_params *q);
    double (*shift_flops)(const quark_params *q);
    /* Operations of plaq bench whose rates are those of an iteration of its solves, and of all else of a force. */
    const char *solve_op, *force_op;
} quark_kind;

/* Kinds by number, null after the last; and a quark's kind. */
const quark_kind *quark_kind_number(int i);
static inline const quark_kind *quark_kind_of(const quark_params *q)
{
    return quark_kind_number(q->kind);
}
/* The section [quark.NAME] and its parts by number, each with the kinds that have it; null after the last. */
const param_section *quark_section(int i);
/* The struct of a part, writable where q is; null where the kind of q does not have that part. */
void *quark_keys(const quark_params *q, const param_section *part);
/* True if the kind has this key, of those that not every kind has; and all of these, separated by spaces. */
int quark_kind_has(const quark_kind *kind, const char *key);
/* The value of a key of the quark's kind by its name; null where the kind has no such key. */
void *quark_key(const quark_params *q, const char *key);
void quark_kind_keys(const quark_kind *kind, char *text, size_t size);
/* A section without a mass is a user error: for kinds without another key for it. */
void quark_need_mass(const ini_input *in, const named_quark *q);
parity quark_parity(const quark_params *q);
/* A copy of the quark with another mass. */
quark_params quark_of_mass(const quark_params *q, double mass);

#endif
