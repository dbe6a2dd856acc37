/* First guesses of a sequence of solves A x = b with A and b that change little from one to the next, as along a
 * trajectory: the minimal residual extrapolation of R. Brower, T. Ivanenko, A. Levi and K. Orginos, hep-lat/9509012,
 * Nucl. Phys. B 484 (1997) 353.
 *
 * A predictor keeps the last `vectors` solutions. The guess is their combination with the least error in the norm of A,
 * |x - A^-1 b|_A^2 = (x, A x) - 2 Re (x, b) + constant, so never farther than any of them and than zero; with nothing
 * kept, or none to be kept, it is zero. Coefficients are real: a smooth sequence is extrapolated by real ones. A is
 * Hermitian and positive; where it shows that it is not, the guess is zero, and the solve will say so.
 *
 * The guess depends on what was solved before, so a trajectory is reversible only to the tolerance of the solves; to
 * forget between trajectories keeps these independent of each other and of restarts.
 *
 * Costs of a guess from n vectors: n applications of A, about 2 n^2 steps of algebra, and n vectors besides those kept,
 * for as long as it takes. Vectors have one right-hand side and are all of one shape. Collective. */
#ifndef PLAQ_PREDICTOR_H
#define PLAQ_PREDICTOR_H

#include "operators/linop.h"

#define PREDICTOR_MAX_VECTORS 32

typedef struct predictor predictor;

predictor *predictor_create(int vectors);
void predictor_destroy(predictor *p);

/* x = the guess; returns the applications of A that it took. x, b: vectors of A, not the same. */
int predictor_guess(predictor *p, linop *a, field *x, const field *b);
/* Copies x, the newest; the oldest gives way. */
void predictor_keep(predictor *p, const field *x);
void predictor_forget(predictor *p);

#endif
