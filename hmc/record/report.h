/* What a run tells: times, sizes, profile, cost. */
#ifndef PLAQ_REPORT_H
#define PLAQ_REPORT_H

#include <stddef.h>

#include "hmc/build/simulation.h"

/* "1:02:03", or "2d 03:04:05". */
const char *report_duration(double seconds, char text[32]);
/* "1.5 MiB". */
const char *report_bytes(double bytes, char text[32]);

/* Logs a long text line by line. */
void report_lines(void (*log)(const char *, ...), const char *text);

/* What a profile needs that kernels do not count. */
typedef struct {
    double seconds, io_seconds, tune_seconds; /* in all, and of them for files and for trials of the tuner */
    place where;                              /* of the fields */
    double copied_bytes, trajectory_bytes;    /* between host and device: in all, and of them within trajectories */
} report_totals;

/* Calls, time, GF/s, GB/s and share of every kernel that ran, of halos and of files, against the time in all; for
 * fields on the device, what was copied to or from the host. Printed as information by rank 0 from its own counts. */
void report_profile(const report_totals *t);

#endif
