/* Actions: the terms of S in H = -sum tr P^2 + S.
 *
 * An action knows its fields and its physics and nothing of step sizes: refresh() draws its random fields, value()
 * returns S, force() adds dS/dU to a momenta field (sign and normalisation as in kernels/gauge.h). Solves inside are
 * counted, and one that fails even with its fallback makes the call return nonzero with the story in `trouble`; nothing
 * may be concluded from that trajectory then. All calls are collective. */
#ifndef PLAQ_ACTION_H
#define PLAQ_ACTION_H

#include <stdint.h>

#include "kernels/lattice/field.h"
#include "operators/wilson.h"
#include "solvers/fallback.h"

/* Purposes of random fields: with the seed and the trajectory they key every random number of the program. */
enum {
    RANDOM_START = 1,
    RANDOM_MOMENTA = 2,
    RANDOM_ACCEPT = 3,
    RANDOM_SOURCE = 4,
    RANDOM_TEST = 5,
    RANDOM_ACTION = 16
};

typedef struct {
    uint64_t seed;
    uint32_t trajectory;
} random_key;

typedef struct action action;

typedef struct {
    int (*refresh)(action *a, random_key key);
    int (*value)(action *a, double *s);
    int (*force)(action *a, field *force);
    void (*destroy)(action *a);
} action_table;

struct action {
    const action_table *table;
    char name[80];
    int purpose; /* of its random fields; unique in a run */
    const field *links;
    int start_known; /* refresh() already knows S, without a solve */
    double start_value;
    long iterations, solves; /* since action_reset_counts() */
    double worst_residual;
    char trouble[512]; /* likewise */
    int broken;        /* a solve met numbers that are none, or an operator that is not positive; likewise */
};

int action_refresh(action *a, random_key key);
int action_value(action *a, double *s);
int action_force(action *a, field *force);
void action_destroy(action *a);
void action_reset_counts(action *a);

/* Gauge actions by number, null after the last: plaquette, and rectangle with c1. */
typedef struct {
    const char *name;
    double c1; /* NaN: as given in the input */
    const char *help;
} gauge_kind;
const gauge_kind *gauge_kind_number(int i);

/* S = beta sum [c0 (1 - Re tr P / 3) + c1 (1 - Re tr R / 3)] */
action *gauge_action_create(const char *name, const field *links, double beta, double c1);

/* Two degenerate flavours by an even-odd pseudofermion: S = phi^dagger (Mhat^dagger Mhat)^-1 phi with the Schur
 * complement of w (borrowed, as are the settings). force_solver serves the force, action_solver value(); either may
 * name a fallback, looked up in `solvers`. */
action *pseudofermion_action_create(const char *name, const field *links, wilson *w, const named_solver *force_solver,
                                    const named_solver *action_solver, const named_solver *solvers, int nsolvers);

/* The rest of that determinant: S = -2 log |det A| over the parities that the Schur form takes out. */
action *determinant_action_create(const char *name, const field *links, wilson *w);

#endif
