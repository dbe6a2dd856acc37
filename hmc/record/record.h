/* The history of a run: one row a trajectory in history.h5, and the averages over them. */
#ifndef PLAQ_RECORD_H
#define PLAQ_RECORD_H

#include "hmc/build/simulation.h"
#include "hmc/measure/observable.h"
#include "kernels/ops/gauge.h"

typedef struct record record;

typedef struct {
    long count; /* trajectories after the warm-up; what needs more of them than there are is NaN */
    double acceptance, acceptance_error;
    double exp_dh, exp_dh_error;
    double plaquette, plaquette_error;
    double filtered; /* as in record_add(); NaN without HISQ quarks */
} record_averages;

/* Opens the history of a run that has done `done` trajectories; rows beyond are those of a run that was killed, and
 * are dropped. Rows that ought to be there and are not are named in a warning. A history that cannot be opened is a
 * user error. Collective, as all functions here. */
record *record_open(const char *folder, const simulation *s, int64_t done);

/* These return 0, or -1 with a message when the files cannot be written (disk full). */
int record_close(record *r, char *message, size_t size);
/* One more row. `number` counts from 1; filtered: simulation_filtered() of this trajectory. */
int record_add(record *r, int64_t number, const trajectory_result *t, const gauge_loops *loops, double filtered,
               char *message, size_t size);
/* The rows of a measurement made after trajectory `number`: table /measure/NAME, and /measure/NAME/summary. */
int record_measurement(record *r, int64_t number, const measure_result *m, char *message, size_t size);
/* Makes all rows so far safe on disk; called before each checkpoint. */
int record_sync(record *r, char *message, size_t size);

/* Whether all rows of that measurement are there. When only some are (the run was killed between them), these are
 * dropped. */
int record_has_measurement(record *r, int64_t number, const named_measure *m);

/* SHA-256 of all recorded values, times aside. */
void record_digest(const record *r, char hex[65]);

/* Averages over the rows after the warm-up; errors from blocks, so that autocorrelation up to the block length is in
 * them. */
record_averages record_average(const record *r);

#endif
