/* Solves of M x = b, for propagators and observables with a quark, to which its name and its solver's lead.
 *
 * A solver that needs a Hermitian positive operator works on the normal equation, any other one on the even-odd system
 * itself. The residual that counts is |b - M x| / |b| of the whole operator, against the solver's tolerance: where it is
 * above, M e = b - M x is solved, too, but for rough solutions. A solve that fails is repeated with the solver's fallback;
 * when that fails too, so does the measurement. */
#ifndef PLAQ_SOLVES_H
#define PLAQ_SOLVES_H

#include "hmc/assemble/eigenvectors.h"
#include "hmc/measure/low_modes.h"
#include "hmc/measure/measure.h"
#include "operators/fermion.h"

typedef struct {
    const measure_context *c;
    fermion *quark;
    const quark_params *params;
    eigenvectors low;
    int owns_quark;
    named_solver solvers[MAX_NAMED];
    const named_solver *solver;
    solver_store made; /* solvers of the quark */
    field *rhs, *half; /* right-hand sides and solutions of a batch */
    field *one, *residual;
    field *source, *x; /* fields that M acts on, of a quark with walls; else null */
    double worst;      /* largest |b - M x| / |b| so far */
    double whole;      /* |b - M x| / |b|, the largest of the last batch; NaN where its system was not solved */
    int estimates;     /* the error of every solution is estimated */
    solve_error error; /* the largest so far */
    long iterations;
    int rough; /* solutions stay as the solver of the system leaves them */
} quark_solves;

/* Solves for a [quark.NAME], which there is, by the [solver.NAME] or, where that is empty, by the quark's; `estimates`: the
 * error of every solution is estimated. */
void solves_open(quark_solves *p, const measure_context *c, const char *quark, const char *solver, int estimates);
/* Solves for a quark of these keys, which are those of a section but for some numbers and stay where they are. */
void solves_open_changed(quark_solves *p, const measure_context *c, const quark_params *f, const char *solver,
                         int estimates);
/* Solves by the keys of an observable that solves for itself. */
void solves_open_keys(quark_solves *p, const measure_context *c, const measure_params *m);
void solves_close(quark_solves *p);
/* M x = source on both parities; `what` is solved for, in messages. MEASURE_DONE, _FAILED with the reason in
 * r->trouble, or _GIVEN_UP. */
int solves_one(quark_solves *p, field *x, const field *source, const char *what, measure_result *r);
/* Solves for n sources, at most solves_most(). source() gives number k, whenever it is asked; x is solved for, and
 * solved() called, for each source in turn. Returns as solves_one() does. */
typedef struct {
    const field *(*source)(void *context, int k);
    void (*solved)(void *context, int k, const field *x);
    void *context;
    field *x;
} solves_batch_of;
int solves_batch(quark_solves *p, int n, const solves_batch_of *b, const char *what, measure_result *r);
/* |b - M x| / |b| of a vector and its source, both of the fields that M acts on: of quarks without walls. */
double solves_residual(quark_solves *p, const field *x, const field *source);
/* Right-hand sides that the solver takes together; 1 of one that takes them one at a time. */
int solves_most(const quark_solves *p);
/* Rough solutions from now on, without refinement, by the solver of this name, which there is: for estimates whose bias is
 * corrected. */
void solves_use_rough(quark_solves *p, const char *solver);
/* Low modes from the eigenvectors that its solver's section names. Free with low_modes_free(). */
low_modes *solves_low_modes(quark_solves *p);
/* Eigenvectors in the propagator from these low modes, as low_modes_propagate() gives it. */
field **solves_low_part(quark_solves *p, const low_modes *l);
/* Summary columns that come first, and their values. */
#define SOLVES_COLUMNS(solves)                                                                                         \
    {"residual", "", "largest |b - M x| / |b| of " solves ", of the whole operator"},                                  \
        {"iterations", "", "of all solves together"},                                                                  \
        {"error", "",                                                                                                  \
         "largest estimate of |x - A^-1 b| / |x| of the solves of systems A x = b, by a second solve; NaN without "    \
         "error_estimate"},                                                                                            \
    {                                                                                                                  \
        "error_ratio", "", "largest of these over |b - A x| / |b|"                                                     \
    }
enum { SOLVES_RESIDUAL, SOLVES_ITERATIONS, SOLVES_ERROR, SOLVES_ERROR_RATIO, SOLVES_VALUES };
/* The values are those of the solves since, where that was called. */
void solves_count_anew(quark_solves *p);
void solves_summary(const quark_solves *p, double values[SOLVES_VALUES]);
/* Values of no solves, and of further ones beside: iterations are added, all else is the largest; errors are those of solves with
 * `estimates`. */
void solves_none(double values[SOLVES_VALUES]);
void solves_merge(double values[SOLVES_VALUES], const double more[SOLVES_VALUES], int estimates);

#endif
