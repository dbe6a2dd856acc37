/* How much memory a command takes: counted by its own constructors and calls, on a planned lattice
 * (kernels/lattice/plan.h). */
#ifndef PLAQ_FORECAST_H
#define PLAQ_FORECAST_H

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
/* Bytes of fields of a run with these parameters, for simulation_create(). */
size_t memory_of_run(const void *parameters, const lattice *plan, place where);

#endif
