/* Solves with the systems of a fermion, A = Mhat and A^dagger A, on behalf of an action, by whatever solver the input
 * names, with its fallbacks.
 *
 * A solver that needs a Hermitian positive operator works on A^dagger A; any other one solves A^dagger y = b and then
 * A x = y, the second to what makes the residual of the whole |b - A^dagger A x| / |b| the tolerance of its settings.
 * That residual is computed and is what counts, for either, with the room for rounding that solver_solve() leaves. A
 * fallback may be of the other sort.
 *
 * Solves and iterations are counted in the action, and so is the worst residual; a solve that fails even with its
 * fallback leaves the story in the action's `trouble`, and nonzero is returned. Vectors are those of A, and no output
 * is an input. Collective. */
#ifndef PLAQ_INVERTER_H
#define PLAQ_INVERTER_H

#include "hmc/actions/action.h"
#include "hmc/actions/predictor.h"
#include "solvers/rational.h"

typedef struct {
    action *a;                   /* action that is served */
    fermion *quark;              /* borrowed */
    linop *op, *normal;          /* systems of the fermion, borrowed: A and A^dagger A, or null and its only system */
    linop *dagger;               /* A^dagger, or null */
    const named_solver *solvers; /* solvers that fallbacks are found in */
    int nsolvers;
    solver_store *made; /* solvers on these operators, owned */
} inverter;

/* Opens an inverter. Any solver works on the normal system of a fermion that has no other. */
void inverter_open(inverter *v, action *a, fermion *quark, const action_solvers *solvers);
void inverter_close(inverter *v);
/* A trajectory begins: nothing that solvers keep from the links of another one decides about its bits. */
void inverter_begin(const inverter *v);

/* Makes the solvers that this one needs. Where that is done for all actions before the first solve, what solvers share is
 * the same whichever solves first. */
void inverter_reserve(const inverter *v, const named_solver *s);

/* x = (A^dagger A)^-1 b. The guess is the predictor's, or zero when that is null; the solution is kept there. `use` is
 * for messages. */
int inverter_normal(const inverter *v, const named_solver *s, field *x, const field *b, predictor *p, const char *use);
/* y = A^-dagger b, from zero. A solver for positive operators makes it as A (A^dagger A)^-1 b, to the residual of that.
 */
int inverter_dagger(const inverter *v, const named_solver *s, field *y, const field *b, const char *use);
/* x = M^-1 b of the fermion's own operator, both vectors on both parities, by way of inverter_normal(). */
int inverter_whole(const inverter *v, const named_solver *s, field *x, const field *b, predictor *p, const char *use);
/* x[i] = (A^dagger A + pole_i)^-1 b for the poles of r, by multi-shift conjugate gradients; solvers are of type cg. */
int inverter_poles(const inverter *v, const named_solver *s, const rational *r, field *const *x, const field *b,
                   const char *use);

#endif
