/* What a run tells: times, sizes, profile, cost. */
#ifndef PLAQ_REPORT_H
#define PLAQ_REPORT_H

#include <stddef.h>

#include "hmc/simulation.h"

/* "1:02:03", or "2d 03:04:05". */
const char *report_duration(double seconds, char text[32]);
/* "1.5 MiB". */
const char *report_bytes(double bytes, char text[32]);

/* Logs a long text line by line. */
void report_lines(void (*log)(const char *, ...), const char *text);

/* Calls, time, GF/s, GB/s and share of every kernel that ran, of halos and of `io_seconds`, against `seconds` in all.
 * Printed as information by rank 0 from its own counts. */
void report_profile(double seconds, double io_seconds);

/* Rough floating-point operations of one trajectory, all ranks, taking `iterations` for each solve. */
double report_flops(const parameters *p, double iterations);

#endif
