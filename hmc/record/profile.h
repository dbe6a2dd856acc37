/* Profile of a run, or of a part of it: kernels, halos and files against the time. */
#ifndef PLAQ_RECORD_PROFILE_H
#define PLAQ_RECORD_PROFILE_H

#include "kernels/field/field.h"

/* The beginning of a stretch of time that is profiled. */
typedef struct {
    double begun, tuned, filed; /* seconds of the clock, of trials of the tuner, and with files */
    double copied;              /* bytes between host and device */
} profile_span;

/* Totals that kernels do not count. */
typedef struct {
    profile_span since;
    place where; /* place of the fields */
    int has_trajectories;
    double trajectory_bytes; /* copies between host and device within trajectories */
    double iterations;       /* iterations of solvers; 0: not told */
} profile_totals;

/* Begins a profile: counts of kernels and halos are zero. No two profiles overlap. */
profile_span profile_open(void);

/* Calls, time, GF/s, GB/s and share of every kernel that ran, of halos and of files, against the time since the
 * beginning; calls an iteration; for fields on the device, what was copied to or from the host. Printed as information by
 * rank 0 from its own counts. */
void profile_print(const profile_totals *t);

#endif
