/* The history of a run: one row a trajectory in history.h5, and the averages over them; stretches and sessions
 * (stretch.h). */
#ifndef PLAQ_RECORD_H
#define PLAQ_RECORD_H

#include "hmc/assemble/simulation.h"
#include "hmc/integrate/reversal.h"
#include "hmc/measure/measure.h"
#include "hmc/record/autocorrelation.h"
#include "hmc/watch/watch.h"
#include "kernels/ops/gauge.h"

typedef struct record record;

typedef struct {
    int64_t from;            /* trajectories of the plaquette: those of the same physics after the warm-up */
    int64_t acceptance_from; /* trajectories of the rest: those of this stretch (stretch.h) */
    int stretch;
    long count, acceptance_count; /* rows of both; averages that need more than there are are NaN */
    autocorrelation acceptance, exp_dh, plaquette;
    double filtered; /* filtered links a trajectory, as in record_add(); NaN without HISQ quarks */
} record_averages;

/* Opens the history of a run that has done `done` trajectories; rows beyond are those of a run that was killed, and
 * are dropped. Rows that ought to be there and are not are named in a warning. A history that cannot be opened is a
 * user error. Collective, as all functions here. */
record *record_open(const char *folder, const simulation *s, int64_t done);

/* Writers return 0, or -1 with a message when the files cannot be written (disk full). */
int record_close(record *r, char *message, size_t size);
/* Adds a row. `number` counts from 1; filtered: quark_set_filtered() of this trajectory. */
int record_add(record *r, int64_t number, const trajectory_result *t, const gauge_loops *loops, double filtered,
               char *message, size_t size);
/* The rows of a measurement made after trajectory `number`: table /measure/NAME, and /measure/NAME/summary. */
int record_measurement(record *r, int64_t number, const measure_result *m, char *message, size_t size);
/* The row of a measured reversibility, in the table /reversibility, and whether it is there. */
int record_reversal(record *r, int64_t number, const reversal *m, char *message, size_t size);
int record_has_reversal(const record *r, int64_t number);

/* Rows for alarms: the first trajectory that is watched, which is that of acceptance_from; the last rows from there on, the
 * oldest first, and how many, at most `most`. */
int64_t record_from(const record *r);
int record_recent(const record *r, watch_row *rows, int most);

/* Makes all rows so far safe on disk; called before each checkpoint. */
int record_sync(record *r, char *message, size_t size);

/* True if all rows of that measurement are there. Rows are dropped when only some are (the run was killed between them). */
int record_has_measurement(record *r, int64_t number, const named_measure *m);

/* Share of accepted trajectories in (after, to]; NaN where a row is missing. */
double record_acceptance(const record *r, int64_t after, int64_t to);
/* Plaquette after a trajectory; NaN where its row is missing. */
double record_plaquette(const record *r, int64_t trajectory);

/* SHA-256 of all recorded values, times aside. */
void record_digest(const record *r, char hex[65]);

/* exp(-dH); of dH below -300 that of -300, as beyond the squares overflow and the average says as little. Local. */
double record_exp_minus(double dh);

/* A line "KEY = VALUE" of this session in the history, from the next note of the session on: how it ended, say. */
void record_session(record *r, const char *key, const char *value);

/* Averages over the rows after the warm-up, with errors by the Gamma method. */
record_averages record_average(const record *r);

#endif
