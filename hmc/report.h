/* What a run tells: progress, profile, memory, cost. */
#ifndef PLAQ_REPORT_H
#define PLAQ_REPORT_H

#include <stddef.h>

#include "hmc/simulation.h"

/* "1:02:03", or "2d 03:04:05". */
const char *report_duration(double seconds, char text[32]);
/* "1.5 MiB". */
const char *report_bytes(double bytes, char text[32]);

/* Calls, time, GF/s, GB/s and share of every kernel that ran, of halos and of `io_seconds`, against `seconds` in all.
 * Printed as information by rank 0 from its own counts. */
void report_profile(double seconds, double io_seconds);

/* Bytes of fields that this rank holds at the peak of a run with these parameters on this lattice. */
size_t report_memory(const parameters *p, const lattice *lat, place where);

/* Rough floating-point operations of one trajectory, all ranks, taking `iterations` for each solve. */
double report_flops(const parameters *p, double iterations);

#endif
