/* Krylov spaces of flexible GCR (R. Babich et al., arXiv:1109.2935, algorithm 1), of right-hand sides side by side.
 *
 * Directions p_k, made by a preconditioner or the residuals themselves, and z_k = A p_k made orthogonal to the z_i before. All
 * lengths of a step come from the products of one pass over A p_k, so that ranks add up once a step:
 *
 *   beta_ik = (z_i, A p_k) / gamma_i^2,   gamma_k^2 = |A p_k|^2 - sum_i |beta_ik|^2 gamma_i^2,   alpha_k = (A p_k, r) / gamma_k^2
 *   z_k = A p_k - sum_i beta_ik z_i,   r -= alpha_k z_k,   |r|^2 -= |alpha_k|^2 gamma_k^2
 *
 * for r has no part along earlier z_i. The solution is built at the end of a space (the implicit update):
 *
 *   x += sum_k chi_k p_k,   chi_k + sum_(l > k) beta_kl chi_l = alpha_k
 *
 * Vectors are blocks with a place for each right-hand side. A step puts the direction of all of them in one slot, `at`, of a
 * ring; `made` slots from `first` on are the space of a right-hand side. Spaces may begin at different steps, and each gets the
 * bits that it gets alone. */
#ifndef PLAQ_GCR_SPACE_H
#define PLAQ_GCR_SPACE_H

#include "solvers/solver.h"

typedef double gcr_pair[2]; /* re, im */

/* Numbers of a right-hand side. */
typedef struct {
    int made, first; /* directions that are not in the solution yet; the slot of the first of them */
    int k;           /* number of the newest direction */
    double r2;       /* |r|^2 by the recurrence */
    double *gamma2;  /* [most]: gamma_k^2 */
    gcr_pair *alpha; /* [most] */
    gcr_pair *beta;  /* [i most + k] for i < k */
} gcr_numbers;

typedef struct {
    int most, n; /* vectors of a space; right-hand sides */
    int at;      /* slot of the direction that comes next */
    int before;  /* directions before it that the longest of the spaces has */
    field **p, **z;
    gcr_numbers *of; /* [n] */

    /* private members */
    int room;               /* right-hand sides of the vectors */
    field **own_p, **own_z; /* vectors, null before they are needed */
    field *views;           /* views behind p and z, of the first n right-hand sides; and [most] of one */
    field **list;           /* [most + 2] of a step, and [most] of a solution */
    gcr_pair *dots, *c, *back;
    int *many;
} gcr_space;

/* Opens spaces of at most `most` vectors for n right-hand sides, without a vector; and closes them. */
void gcr_space_open(gcr_space *s, int most, int n);
void gcr_space_close(gcr_space *s);
/* The vectors of a slot, those of an operator, which are made when they are first needed. */
void gcr_space_reserve(gcr_space *s, int slot, const linop *op);
/* A right-hand side leaves: the last one takes its place, in r too, which is a block of n. */
void gcr_space_leave(gcr_space *s, int column, field *r);

/* z = A p in the slot `at`, which moves on, and the numbers of the step of each right-hand side that has going[], which is lost
 * where p is no new direction. r: the residuals; p itself where nothing preconditions. Collective. */
void gcr_space_extend(gcr_space *s, char *going, linop *a, const field *r);
/* The step itself, of those that have going[]: z orthogonal, and next = r - alpha z. next may be r. */
void gcr_space_step(gcr_space *s, const char *going, field *next, const field *r);
/* x += sum_k chi_k p_k of all right-hand sides, which began together; or of one, into x of its own. Spaces are empty then. */
void gcr_space_solution(gcr_space *s, field *x);
void gcr_space_solution_of(gcr_space *s, int column, field *x);

#endif
