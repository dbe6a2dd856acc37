/* Actions: the terms of S in H = -sum tr P^2 + S.
 *
 * An action knows its fields and its physics and nothing of step sizes: refresh() draws its random fields, value()
 * returns S, force() adds dS/dU to a momenta field (sign and normalisation as in kernels/ops/gauge.h). Solves inside are
 * counted, and one that fails even with its fallback makes the call return nonzero with the story in `trouble`; nothing
 * may be concluded from that trajectory then. All calls are collective. */
#ifndef PLAQ_ACTION_H
#define PLAQ_ACTION_H

#include <stdint.h>

#include "kernels/field/field.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"
#include "operators/eofa.h"
#include "operators/fermion.h"
#include "solvers/fallback.h"
#include "solvers/remez.h"

#define MAX_ACTIONS 16 /* action i draws its random field k for the purpose RANDOM_ACTION + i + MAX_ACTIONS k */

typedef struct {
    uint64_t seed;
    uint32_t trajectory;
} random_key;

/* Advice to the user for a trajectory without a result. */
extern const char ADVICE_SOLVE[], ADVICE_NUMBERS[], ADVICE_SPECTRUM[];

typedef struct action action;

typedef struct {
    /* A trajectory begins at these links with the fields that there are: nothing that was found on the way decides about
     * its bits. Called before refresh(), too. Null: there is nothing. */
    int (*begin)(action *a);
    int (*refresh)(action *a, random_key key);
    int (*value)(action *a, double *s);
    int (*force)(action *a, field *force);
    void (*destroy)(action *a);
    /* After a call has failed: whether refresh() can be tried again, and all that follows, because the action has
     * learnt from it. It forgets that at a refresh() without `failures`. Null: never. */
    int (*begin_again)(action *a);
    /* Force sum of actions with `shares`, in place of force(): close_sum() takes it to the links once for all of them, and
     * adds it to `force`. */
    void *(*open_sum)(action *a, field *force);
    int (*add_to_sum)(action *a, void *sum);
    void (*close_sum)(action *a, void *sum);
} action_table;

struct action {
    const action_table *table;
    char name[80];
    int purpose; /* random-number purpose of its fields (kernels/lattice/purpose.h); unique in a run */
    const field *links;
    /* Actions that have the same `shares`, not null, and the same form of sum can add their forces to one. */
    const void *shares, *form_of_sum;
    int failures;            /* attempts at this trajectory that failed and were begun again on its behalf */
    int check_reversibility; /* forces are solved for as where reversibility is checked; set from outside */
    int start_known;         /* refresh() already knows S, without a solve */
    double start_value;
    long iterations, solves, repeats; /* counts since action_reset_counts(); repeats: solves by a fallback */
    double worst_residual;
    int has_spectrum;                   /* spectrum of its operator is measured, as its functions depend on it */
    double spectrum_low, spectrum_high; /* outermost bounds since action_reset_counts() */
    char trouble[512];                  /* message of a failure since action_reset_counts() */
    const char *advice;                 /* advice for it, one of ADVICE_... */
};

/* Nonzero on failure. A refresh() that fails is tried again if the action can. */
int action_begin(action *a);
int action_refresh(action *a, random_key key);
int action_value(action *a, double *s);
int action_force(action *a, field *force);
/* The forces of n actions with the same `shares` by one sum; seconds[i] += what the i-th took, the first one what all
 * share. */
int action_shared_force(action *const *a, int n, field *force, double *const *seconds);
/* After a failure: whether the trajectory may be begun again. */
int action_begin_again(action *a);
void action_reset_counts(action *a);
void action_destroy(action *a);

/* The solvers of a fermion action by their use, and all among which fallbacks are looked up. Borrowed. */
typedef struct {
    const named_solver *heat_bath, *force, *action;
    const named_solver *reversal; /* force solver of an action that is `check_reversibility` */
    const named_solver *all;
    int n;
    solver_family *family; /* family of the solvers of all actions, or null */
} action_solvers;

/* The solver that the force of an action takes now. */
const named_solver *action_force_solver(const action *a, const action_solvers *s);

/* S as in gauge_action(). */
action *gauge_action_create(const char *name, const field *links, gauge_weights weights);

/* det K of a fermion's normal operator by a pseudofermion: S = phi^dagger K^-1 phi. With `over`, W of a fermion of the
 * same kind on the same vectors, for K = M^dagger M the ratio det M^dagger M / det W^dagger W: S = |M^-dagger W^dagger
 * phi|^2. Everything named is borrowed. */
typedef struct {
    fermion *quark, *over;  /* over: or null */
    action_solvers solvers; /* heat-bath solver: for W^-dagger, unused without `over` */
    int predictor;          /* solutions of a trajectory's forces from which the next one is guessed */
} pseudofermion_settings;

action *pseudofermion_action_create(const char *name, const pseudofermion_settings *s);

/* A product of powers of K, the normal operator of a fermion, by a rational function: S = sum_k phi_k^dagger r(K) phi_k
 * over n pseudofermions phi_k, with r(K) = the nth root of prod_i (K + shift_i)^-power_i (M. Clark and A. Kennedy,
 * hep-lat/0608015). With `over`, a fermion on the same vectors with normal operator L, of a ratio det K / det L to one
 * power: S = sum_k phi_k^dagger r(L)^-1/2 r(K) r(L)^-1/2 phi_k. */
typedef struct {
    fermion *quark, *over;                     /* borrowed; over: or null */
    double bound;                              /* lower bound of K's spectrum; 0: it has to be measured */
    action_solvers solvers;                    /* solvers of type cg */
    power_product root;                        /* r(K); the first shift is 0, its exponent in [-1, 0) */
    int pseudofermions;                        /* n */
    double approximation, force_approximation; /* largest relative errors of r */
    double low, high;                          /* the range of r; 0: measured at the start of each trajectory */
    double over_low, over_high;                /* range of the functions of L; 0: measured likewise */
    int widen; /* a trajectory whose spectrum is found outside is begun again on a wider range, rather than failing */
} rational_settings;

#define RATIONAL_MOST_PSEUDOFERMIONS 8
action *rational_action_create(const char *name, const rational_settings *s);

/* The spectrum that is expected before it is known, and by which memory is counted: HI / LO = RATIONAL_ORDINARY_WIDTH
 * where it is to be measured, or up to RATIONAL_ORDINARY_HIGH where the lower end is known. */
#define RATIONAL_ORDINARY_WIDTH 1e4
#define RATIONAL_ORDINARY_HIGH 10
#define RATIONAL_LEAST_HIGH 1
/* Checks that rational functions of K exist: nonzero, with the message of the action of this name, if not; 0, too, where
 * the range is not known before the run. With its lower end alone known, the part is taken that every spectrum covers. */
int rational_action_check(const char *name, const rational_settings *s, char *message, size_t size);

/* Exact one-flavour algorithm (operators/eofa.h): one flavour of a domain wall quark over a heavier mass, S = phi^dagger
 * A_- phi + phi^dagger A_+ phi of both chiralities, with phi = A^-1/2 eta by rational functions. */
typedef struct {
    eofa *quotient; /* owned by the action from its creation on */
    const field *links;
    action_solvers solvers; /* solvers of the quarks' even-odd systems */
    int predictor;          /* solutions that the next guess is made from, for each chirality */
    double approximation;   /* largest relative error of A^-1/2 */
} eofa_settings;

/* Checks that the rational function A^-1/2 exists: 0, or nonzero with the reason. */
int eofa_action_check(const eofa_settings *s, char *message, size_t size);
action *eofa_action_create(const char *name, const eofa_settings *s);

/* Determinant beside the systems of a quark: S = -flavours fermion_log_det(). */
action *determinant_action_create(const char *name, fermion *quark, int flavours);

#endif
