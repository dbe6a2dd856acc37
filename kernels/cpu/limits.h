/* Machine limits, measured, that plaq bench compares with.
 *
 * All threads of the process take part. Arrays are first touched by the threads that use them, as fields are. Local;
 * ranks that share a machine have to measure at the same time. */
#ifndef PLAQ_LIMITS_H
#define PLAQ_LIMITS_H

#include <stddef.h>

/* Bytes a second, read plus written, of the best of copy and triad (a = b + s c), each with ordinary and with streaming
 * stores, over arrays of `bytes` in all; at least `seconds` long. */
double limits_bandwidth(size_t bytes, double seconds);
/* Operations a second of independent fused multiply-adds (two each) on full vectors. */
double limits_flops_double(double seconds);
double limits_flops_single(double seconds);

#endif
