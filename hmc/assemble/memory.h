/* How much memory there is, what is taken of it, and what solvers would take: counted on a planned lattice
 * (kernels/lattice/plan.h). hmc/plan/forecast.h has that of whole commands. */
#ifndef PLAQ_MEMORY_H
#define PLAQ_MEMORY_H

#include <stddef.h>

#include "hmc/quarks/quark.h"
#include "kernels/field/field.h"
#include "solvers/solver.h"

/* Bytes up to now on this rank: most of fields, message buffers and tables; most of all, on the host resident bytes of the
 * process. */
size_t memory_fields_peak(place where);
size_t memory_peak(place where);
/* Bytes that do not belong to fields: on the host what is resident before there are any (program, MPI, OpenMP threads),
 * as the first call finds it, and what files take; on a GPU its context. */
size_t memory_runtime(place where);
/* Bytes of a solver of this fermion's systems with so many right-hand sides, beside operator, sources and solutions. */
size_t memory_of_solver(const quark_params *f, const solver_settings *s, int rhs, const lattice *lat, place where);
/* Memory of this machine for one of its ranks, or of the GPU; 0 when unknown. */
double memory_there(place where);
/* True when some rank has less than these bytes of fields, which the lattice takes, and memory_runtime(); then with a
 * message. Collective. */
int memory_lacks(const lattice *lat, double bytes, place where, char *message, size_t size);

/* Counting: between open and close things are made, run and destroyed on `lat`, a plan of another lattice, planned or
 * real; and at last `lat` itself, if nothing has taken it over. close tells the most bytes that were taken at a time, with
 * those of the plan's tables. Nothing is logged meanwhile. */
typedef struct {
    lattice *lat;
    place where;
    size_t before; /* bytes that other plans had taken */
} memory_count;
memory_count memory_count_open(const lattice *like, place where);
size_t memory_count_close(const memory_count *c);

#endif
