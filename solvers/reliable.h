/* Reliable updates: an iteration in a low precision, kept true by the precision of b (G. Sleijpen and H. van der Vorst,
 * Computing 56 (1996) 141; M. Clark et al., arXiv:0911.3191).
 *
 * The iteration works on low_r, its residual, and low_x, the solution since the last update, both in units of `unit`.
 * When its residual has fallen by delta from the largest since the last update, or to the target, x += unit low_x and
 * r = (b - A x) / unit are computed in the precision of b, low_r becomes r and low_x zero. The iteration goes on with
 * directions that it has.
 *
 * A residual of minimal length never grows: one that does not fall either has stalled, in the precision of b too. Solvers
 * of that kind set `patience`.
 *
 * When updates find no progress although the iteration claimed it, or residuals that grow, or when it does not keep
 * the pace, the precision of the iteration is raised, with a line in the log, and the iteration begins anew; in the
 * precision of b itself the solve has stalled when an update finds less than was claimed. Where the two precisions are
 * one, low_x and low_r are x and the residual themselves, and updates only check what is claimed.
 *
 *   reliable_open(&u, ...);
 *   while (u.going) {            one turn a precision: vectors in that of u.low, the iteration from low_r
 *       do ... until             a step that adds to low_x and takes from low_r; claimed2 = |low_r|^2
 *       if (reliable_due(&u, applications, claimed2) && !reliable_update(&u, claimed2)) the turn ends
 *       if (the step is impossible) reliable_break(&u), and the turn ends
 *   }
 *   return reliable_close(&u);  */
#ifndef PLAQ_RELIABLE_H
#define PLAQ_RELIABLE_H

#include "solvers/solver.h"

/* How long a precision below that of b may take to halve the residual: a part of max_iterations. */
typedef struct {
    int most, since; /* iterations; those when the residual was last halved */
    double mark2;    /* and its square then */
} solver_pace;

/* Iterations in which such a precision has to halve the residual: an eighth of max_iterations, 50 at least. */
int pace_of(const solver_settings *s);
solver_pace pace_start(const solver_settings *s, int iterations, double r2);
/* True if |r|^2 = r2 is that of half the marked residual or less, which then moves the mark. */
int pace_halved(solver_pace *p, int iterations, double r2);
int pace_is_slow(const solver_pace *p, int iterations);

typedef struct {
    int going;
    linop *low;                  /* A in the precision of the iteration */
    field *low_x, *low_r;        /* solution and residual to iterate on */
    double r2, target2;          /* |r|^2 at the last update; what counts as solved; over unit^2 */
    double true_over_recurrence; /* ratio at the last update: |r|^2 over what was claimed */
    solve_result result;         /* iterations and flops grow */
    int step;                    /* may change, see reliable_open() */
    int vectors_after;           /* iterations after which it has all of its vectors; 1, unless it is set */
    int patience; /* iterations that may pass in any precision until the residual is halved; 0: in lower ones alone */

    /* private members */
    const solver_settings *settings;
    linop *a;
    field *x, *r;
    const field *b;
    int apart, failures, given_up;
    solver_pace pace;
    double b2, unit, most2;
} reliable;

/* `step`: applications of A that the next step takes, at least; more than are left end the solve. `apart`: low_x is
 * never x itself, but starts from zero. */
void reliable_open(reliable *u, const solver *s, field *x, const field *b, int step, int apart);
/* After a step: counts, and says whether an update is due. */
int reliable_due(reliable *u, int applications, double claimed2);
/* True if the step behind one that claimed so much may ask for an update: should it divide the residual by four. */
int reliable_nears(const reliable *u, double claimed2);
/* Makes an update; 0 when the turn ends. */
int reliable_update(reliable *u, double claimed2);
/* The iteration cannot go on: what it did since the last update is dropped. */
void reliable_break(reliable *u);
solve_result reliable_close(reliable *u);

#endif
