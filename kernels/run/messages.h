/* Messages between GPUs, one process a GPU (several processes may share one).
 *
 * An exchange moves up to GPU_SLOTS messages and overlaps with work on the main stream:
 *
 *   fill m[0..n): to, from, slot, bytes
 *   gpu_exchange_begin(m, n)    sets m[].out and m[].in; the side stream waits for all that the main stream was given
 *   kernels with .aside = 1     write what goes to m[i].to into m[i].out (on the device)
 *   gpu_exchange_start(m, n)    messages leave as soon as they are packed
 *   kernels on the main stream  whatever needs no message
 *   gpu_exchange_finish(m, n)   the main stream waits for the packing and for all arrivals; the host may block
 *   kernels on the main stream  read what came from m[i].from in m[i].in
 *
 * Every rank of a group runs the same sequence of exchanges, each with the same slots, and one exchange is in flight at
 * a time; a message has the same bytes on both sides, and within an exchange a slot has the same bytes on all ranks.
 * What is packed may be written again after finish. m[i].in may be read by work given to the main stream before the begin
 * after next, or before the next fused one. An exchange of no messages does nothing and needs no transport.
 *
 * How messages travel is the business of transports (kernels/gpu/transport.cuh). */
#ifndef PLAQ_MESSAGES_H
#define PLAQ_MESSAGES_H

#include <stddef.h>

#include "kernels/base/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over the group of the lattice that it belongs to. Where that is not all ranks, messages take the transport
 * `host`, whatever is in use: others number their exchanges, or make room for them, together on all ranks. */
void gpu_exchange_begin(const struct comm_group *group, gpu_message *m, int n);
void gpu_exchange_start(gpu_message *m, int n);
void gpu_exchange_finish(gpu_message *m, int n);

/* Instead of the three, for a lattice on all ranks, where the transport can: sets m[].out and m[].in, and the next hop
 * with .pack (kernels/run/kernel.h) is the exchange. */
int gpu_exchange_can_fuse(void);
void gpu_exchange_fuse(gpu_message *m, int n);

/* True if kernels add up sums over all ranks (kernel_work.sum_over_ranks). */
int gpu_sums_whole(void);

/* Bytes that this rank sent and seconds that its host spent in exchanges so far. */
void gpu_exchange_counted(double *bytes, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
