/* Kinds of actions: what [action.NAME] sections of the input make of the quarks that they name. A kind is one line of
 * actions.def and a table; it is an algorithm and knows no quark by name. */
#ifndef PLAQ_ACTION_KIND_H
#define PLAQ_ACTION_KIND_H

#include "hmc/actions/action.h"
#include "hmc/quarks/quark_set.h"

/* Uses of solvers in an action. */
enum { USE_FORCE, USE_ACTION, USE_HEAT_BATH, USE_REVERSAL, SOLVER_USES };

/* The section [action.NAME]. Kinds have keys of their own in `parts`, see action_keys(). */
typedef struct {
    int kind; /* action_kind_number() */
    char quark[PARAM_STRING_SIZE];
    char solvers[SOLVER_USES][PARAM_WORDS_SIZE]; /* names, one for all factors or one for each */
    union {
        double align;
        char bytes[3072];
    } parts;
} action_params;

typedef struct {
    char name[64];
    action_params p;
} named_action;

/* A factor of a determinant: of so many flavours of this mass. */
#define MAX_FACTORS 4 /* factors of one action */
typedef struct {
    double mass;
    int flavours;
} mass_factor;

/* A term of the action: the determinant of a quark, or a factor of it (M. Hasenbusch, Phys. Lett. B 519 (2001) 177), as what
 * the chain of masses m_0 < m_1 < ... of [action.NAME] makes of it: NAME.k is the quark of mass m_k over that of m_k+1. In a
 * chain of twisted masses all have one mass, and parameters of their own. */
typedef struct {
    char name[80]; /* NAME, or NAME.k in a chain of several */
    const named_action *action;
    const named_quark *quark;
    const named_quark *light, *heavy; /* numerator and denominator: `quark`, but for the twisted mass */
    double mass, over; /* over: of the denominator; NaN: none but what every determinant of the quark has */
    int factor, factors;
    char solvers[SOLVER_USES][64];
} action_term;

/* Ingredients of actions. */
typedef struct {
    quark_set *quarks;
    const named_solver *solvers; /* solvers of the whole input */
    int nsolvers;
    solver_family *family; /* family of the solvers of all actions */
} action_scene;

#define ACTION_MOST_PARTS 4

typedef struct {
    const char *name, *help;
    const param_section *parts[ACTION_MOST_PARTS + 1]; /* tables of keys, as of quark_kind */
    int flavours;                                      /* flavours that a quark's normal operator has to have; 0: any */
    int shifts; /* shifted systems in its solves, for which there is one type of solver */
    /* Consequences of the keys of the section and its quark, which is complete, one of the n `all`. Contradictions are user
     * errors. Null: nothing. */
    void (*complete)(const ini_input *in, named_action *a, const named_quark *q, const named_quark *all, int n);
    /* Contradictions of a term; null: there are none. */
    void (*check)(const ini_input *in, const action_term *t);
    /* Factors of the determinant by mass, its quark's own mass first; returns how many. */
    int (*factors)(const named_action *a, const named_quark *q, mass_factor factors[MAX_FACTORS]);
    int (*heat_bath_solves)(const action_term *t);       /* true if the heat bath has a solve */
    rational_settings (*rational)(const action_term *t); /* settings but for the quark itself; null: not rational */
    action *(*create)(const action_scene *s, const action_term *t);
    /* Floating-point operations a site of one force, whose solve takes so many iterations. */
    double (*force_flops)(const action_term *t, double iterations);
} action_kind;

/* Kinds by number, null after the last; and an action's kind. */
const action_kind *action_kind_number(int i);
static inline const action_kind *action_kind_of(const action_params *a)
{
    return action_kind_number(a->kind);
}
/* The section [action.NAME] and its parts by number, each with the kinds that have it; null after the last. */
const param_section *action_section(int i);
/* The struct of a part, writable where a is; null where the kind of a does not have that part. */
void *action_keys(const action_params *a, const param_section *part);
/* The key of a use of solvers. */
const char *action_solver_key(int use);

/* True if another determinant, of the next mass of a chain or of a regulator, divides that of the term. */
int action_is_ratio(const action_term *t);
/* The quark of a term, and that of the denominator; null: there is none. */
fermion *action_quark(const action_scene *s, const action_term *t);
fermion *action_over(const action_scene *s, const action_term *t);
action_solvers action_solvers_of(const action_scene *s, const action_term *t);
/* True if the section of a term has a NAME.det; and that determinant. */
int action_has_det(const action_term *t);
action *action_create_det(const action_scene *s, const action_term *t);

/* ---- parts that kinds share ---- */

extern const param_section chain_part, predictor_part;

/* Heavier masses of a section, the lightest first; how many. */
#define MAX_CHAIN (MAX_ACTIONS - 1)
int chain_of(const action_params *a, const double **masses);
/* True if they are twisted masses, which have the sign of the quark's. */
int chain_is_twisted(const action_params *a);
/* True if the heaviest of them only divides: ratios are all that there is of the determinant. */
int chain_of_ratios(const action_params *a);
void chain_complete(const ini_input *in, named_action *a, const named_quark *q);
/* How many solutions the guess of a force is made from. */
int predictor_of(const action_params *a);

#endif
