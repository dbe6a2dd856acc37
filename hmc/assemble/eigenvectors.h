/* Eigenvectors that [solver.NAME] sections name by their key `eigenvectors`, for solves with one quark on one
 * configuration. The key may be a pattern with one %d (hmc/input/pattern.h), for the trajectory number that the configuration
 * bears. Eigenvectors of a staggered quark serve any mass: their values are shifted. */
#ifndef PLAQ_EIGENVECTORS_H
#define PLAQ_EIGENVECTORS_H

#include "hmc/assemble/parameters.h"
#include "operators/fermion.h"
#include "solvers/eigen.h"

/* Eigenvectors read so far, on the configuration of that trajectory number (-1: it bears none). */
typedef struct {
    int64_t trajectory;
    const char *files[MAX_NAMED];
    eigen_pairs *pairs[MAX_NAMED];
    int n;
} eigenvectors;

/* Gives the solver, of this section and quark, the eigenvectors that the section names, if any; they are read when they are
 * first asked for. A file that cannot be read, or of another quark, even-odd operator, lattice, configuration or number of
 * vectors, is a user error that names the difference. On a planned lattice they are only counted. Collective. */
void eigenvectors_attach(eigenvectors *e, const parameters *p, const quark_params *f, const named_settings *section,
                         fermion *q, solver *by);
/* The eigenvectors of a section that names some, and how many of them to take. Collective. */
const eigen_pairs *eigenvectors_of(eigenvectors *e, const parameters *p, const quark_params *f,
                                   const named_settings *section, fermion *q, int *modes);
void eigenvectors_close(eigenvectors *e);
/* Refuses eigenvectors for commands that change the links: a section that names some is a user error. */
void eigenvectors_refuse(const parameters *p, const char *command);

#endif
