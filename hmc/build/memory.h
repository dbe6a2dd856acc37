/* How much memory a run takes, from its parameters and the sizes of its lattice alone. */
#ifndef PLAQ_MEMORY_H
#define PLAQ_MEMORY_H

#include <stddef.h>

#include "hmc/input/parameters.h"
#include "kernels/field/field.h"

/* Bytes of a rank at the peak of a run with these parameters, on a lattice planned (kernels/lattice/plan.h) or real:
 * fields, halo buffers and the tables of the lattice; as if every solve might need its fallbacks. */
size_t memory_predicted(const parameters *p, const lattice *lat, place where);
/* The same as it was up to now, on this rank. */
size_t memory_peak(place where);
/* The same of plaq measure and of plaq solve, whose quarks have no actions: bytes that are taken at least. */
size_t memory_measured(const parameters *p, const lattice *lat, place where);
size_t memory_solved(const parameters *p, const lattice *lat, place where);
/* Bytes of the tables of a lattice. */
size_t memory_of_tables(const lattice *lat, place where);
/* Memory of this machine for one of its ranks, or of the GPU; 0 when unknown. */
double memory_there(place where);
/* True when some rank has less than these bytes, which the lattice takes; then with a message. Collective. */
int memory_lacks(const lattice *lat, double bytes, place where, char *message, size_t size);

/* ---- for what has fields: kinds of fermions, observables ---- */

typedef struct {
    const lattice *lat;
    place where;
    size_t stays;
} ledger;

size_t memory_of(const ledger *m, field_kind kind, precision prec, parity par);
/* Books fields that come and stay. */
void memory_stay(ledger *m, int count, field_kind kind, precision prec, parity par);
/* Work vectors, spinors or colour vectors, of a solve on one parity, or of a fallback that has more. */
size_t memory_of_solve(const ledger *m, const parameters *p, field_kind kind, const char *solver);
/* Solutions and work vectors, spinors or colour vectors on one parity, of a solve for so many poles. */
size_t memory_of_poles(const ledger *m, const parameters *p, field_kind kind, const char *solver, int poles);
/* Sets the entries of the precisions that a solver and its fallbacks use. */
void memory_note_precision(const parameters *p, const char *solver, int used[PREC_COUNT]);
/* The same of those that need a Hermitian positive operator. */
void memory_note_positive(const parameters *p, const char *solver, int used[PREC_COUNT]);
/* Whether a solver and all of its fallbacks need a Hermitian positive operator. */
int memory_solver_positive(const parameters *p, const char *solver);
/* Books what the operator of a fermion keeps: links, clover term and work fields, in all precisions of its solves. */
void memory_stay_wilson(ledger *m, const parameters *p, const fermion_params *f);
/* What is taken for a moment in assembling its force beside one solution, which is counted, and in that of NAME.det. */
size_t memory_of_assembly(const ledger *m, const fermion_params *f);
size_t memory_of_insertions(const ledger *m, const fermion_params *f);
/* Books what the operator of a staggered quark keeps: links that no quark before it has, and vectors between hops. */
void memory_stay_staggered(ledger *m, const parameters *p, const fermion_params *f);
/* What is taken for a moment in smearing, in taking a force back through it, and by the derivatives that it begins
 * with, which are counted in it. These have a field for other weights of single links than the base's; where no quark has
 * such weights, it is taken only when the force goes back. */
size_t memory_of_smearing(const ledger *m, const fermion_params *f);
size_t memory_of_smearing_back(const ledger *m, const fermion_params *f);
size_t memory_of_derivatives(const ledger *m, const fermion_params *f);
/* The solver of a measurement's propagators. */
const char *memory_solver(const parameters *p, const measure_params *m);

#endif
