/* Profile of a run: kernels, halos and files against its time. */
#ifndef PLAQ_RECORD_PROFILE_H
#define PLAQ_RECORD_PROFILE_H

#include "kernels/field/field.h"

/* Totals of a run that kernels do not count. */
typedef struct {
    double seconds, io_seconds, tune_seconds; /* time in all, and of it for files and for trials of the tuner */
    place where;                              /* place of the fields */
    double copied_bytes, trajectory_bytes; /* copies between host and device: in all, and of them within trajectories */
} profile_totals;

/* Calls, time, GF/s, GB/s and share of every kernel that ran, of halos and of files, against the time in all; for
 * fields on the device, what was copied to or from the host. Printed as information by rank 0 from its own counts. */
void profile_print(const profile_totals *t);

#endif
