/* How much memory a command takes: counted by its own constructors and calls, on a planned lattice
 * (kernels/lattice/plan.h). */
#ifndef PLAQ_MEMORY_H
#define PLAQ_MEMORY_H

#include <stddef.h>

#include "hmc/assemble/parameters.h"
#include "kernels/field/field.h"

/* Bytes of a rank. */
typedef struct {
    size_t fields;  /* fields, message buffers and tables of lattices at their peak */
    size_t kept;    /* blocks beside them that were given back and wait to be taken again, as long as there is room */
    size_t runtime; /* memory_runtime() */
} memory_forecast;

/* Bytes of a rank at the peak of a run with these parameters, on a lattice planned or real. Two trajectories are run with
 * a step or so a level, each with every measurement of the run behind it; every solve comes to its last fallback. Local,
 * but for the first call of memory_runtime(). */
memory_forecast memory_predicted(const parameters *p, const lattice *lat, place where);
/* Bytes of plaq measure, whose quarks have no actions, on a configuration of that trajectory number (-1: none). */
memory_forecast memory_measured(const parameters *p, int64_t trajectory, const lattice *lat, place where);
size_t memory_total(const memory_forecast *f);
/* "memory 30.1 MiB per rank: ...", of a forecast. Returns text. */
const char *memory_describe(const memory_forecast *f, char *text, size_t size);

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
