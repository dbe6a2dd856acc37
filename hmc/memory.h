/* How much memory a run takes, from its parameters and the sizes of its lattice alone. */
#ifndef PLAQ_MEMORY_H
#define PLAQ_MEMORY_H

#include <stddef.h>

#include "hmc/parameters.h"
#include "kernels/lattice/field.h"

/* Bytes of a rank at the peak of a run with these parameters, on a lattice planned (kernels/lattice/plan.h) or real:
 * fields, halo buffers and the tables of the lattice. */
size_t memory_predicted(const parameters *p, const lattice *lat, place where);
/* The same as it was up to now, on this rank. */
size_t memory_peak(const lattice *lat, place where);
/* Memory of this machine for one of its ranks; 0 when unknown. */
double memory_of_machine(void);

/* ---- for what has fields: kinds of fermions, observables ---- */

typedef struct {
    const lattice *lat;
    place where;
    size_t stays;
} ledger;

size_t memory_of(const ledger *m, field_kind kind, precision prec, parity par);
/* Books fields that come and stay. */
void memory_stay(ledger *m, int count, field_kind kind, precision prec, parity par);
/* Work vectors of a solve on one parity. */
size_t memory_of_solve(const ledger *m, const parameters *p, const char *solver);
/* Sets the entries of the precisions that a solver uses. */
void memory_note_precision(const parameters *p, const char *solver, int used[PREC_COUNT]);
/* The solver of a measurement's propagators, and whether they are of this fermion. */
const char *memory_solver(const parameters *p, const measure_params *m);
int memory_uses_fermion(const parameters *p, const measure_params *m, const fermion_params *f);

#endif
