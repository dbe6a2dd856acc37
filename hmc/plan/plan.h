/* Before a run: what it will take of the machine. */
#ifndef PLAQ_HMC_PLAN_H
#define PLAQ_HMC_PLAN_H

#include "hmc/assemble/parameters.h"
#include "kernels/field/field.h"

/* Logs decomposition, memory and the size of a checkpoint, and warns of what is likely to go wrong. The lattice may be
 * a planned one. */
void plan_describe(const parameters *p, const lattice *lat, place where);

/* plaq run --dry-run: all that can be told without a trajectory, for this many ranks (0: those there are, which then
 * read the first configuration where that is a file, as a run from its beginning does), in the log or as a JSON object.
 * Times are those of the machine that the file `calibration` describes (hmc/bench/calibration.h), or, with NULL, of this
 * one; iterations are measured on the file `configuration`, or with NULL those of the history or of a model
 * (hmc/plan/iterations.h). What is not in order is a user error; ignore_recorded is that of simulation_read(). Collective. */
void plan_dry_run(const parameters *p, int ranks, const char *calibration, const char *configuration, int as_json,
                  int ignore_recorded);

/* plaq measure --dry-run, on a configuration of this size and trajectory number (-1: none): decomposition, memory,
 * blockings, and the time, node-hours and disk of so many configurations by the rates of a machine as of plan_dry_run(). What is not
 * in order is a user error. Collective. */
void plan_dry_measure(const parameters *p, const int size[4], int64_t trajectory, long configurations, int ranks,
                      const char *calibration, int as_json);

#endif
