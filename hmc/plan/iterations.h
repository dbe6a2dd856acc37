/* Iterations of solves, before a run: measured on a configuration, those of the history in the output folder, or a model. */
#ifndef PLAQ_ITERATIONS_H
#define PLAQ_ITERATIONS_H

#include "hmc/assemble/parameters.h"
#include "hmc/report/ensemble.h"

/* Solves of a trajectory in the heat bath, or at the start, and in the accept step. */
#define SOLVES_BESIDE_FORCES 2

typedef enum { ITERATIONS_MODEL, ITERATIONS_HISTORY, ITERATIONS_MEASURED } iterations_source;

typedef struct {
    double solve[MAX_ACTIONS]; /* iterations by the force's solver of term number i, on average */
    iterations_source source[MAX_ACTIONS];
    const char *configuration; /* the file of those that are measured */
} iterations_plan;

/* Model of all terms: CG of M^+ M takes sqrt(condition) / 2 log(2 / tolerance) iterations, with a
 * condition by mass and kind, and other types of solvers a part of these. Right within a factor of a few. Local. */
iterations_plan iterations_model(const parameters *p);
/* Iterations of one solve by the model, of a quark of this mass. Local. */
double iterations_of(const quark_params *f, double mass, const solver_settings *s);
/* Takes iterations of the history in place of the model, for terms whose sections and solvers are those of the run that
 * made it; the averages of the present stretch over the solves of its integrator. Local. */
void iterations_of_history(iterations_plan *plan, const parameters *p, const ensemble *e);
/* Measures all of them on a configuration of the lattice of the input, in a trajectory of one step of the first level and
 * its length. The file's faults, and solves that fail, are user errors. Collective. */
void iterations_measure(iterations_plan *plan, const parameters *p, const char *path);

/* Work of an iteration of this solver in those of CG, and halo exchanges likewise: preconditioners apply the operator
 * inside, those of blocks without an exchange. Local. */
double iterations_work(const solver_settings *s);
double iterations_exchanges(const solver_settings *s);

#endif
