/* What crosses the faces of a rank.
 *
 * Two exchanges. halo_fill() continues links and tensors by halo_depth sites, corners included, direction after
 * direction so that corners travel with faces. The Wilson hop's exchange sends spin-projected half spinors of one
 * parity, one site deep, while the interior is computed: halo_hop_start(), interior kernel, halo_hop_wait(), exterior
 * kernel; or one kernel does it all. A direction that is not split costs nothing. One exchange is in flight at a time.
 * All functions are collective. */
#ifndef PLAQ_HALO_H
#define PLAQ_HALO_H

#include "kernels/family/wilson.h"
#include "kernels/field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Brings the ghost units of f up to date, if they are not. */
void halo_fill(field *f);

/* Brings in, for the hop's force, the half spinors from above of x (projected with sign +1) and of y (with -1). */
void halo_hop_pair(const field *x, const field *y, parity p, const field *links, view x_ghost[8], view y_ghost[8]);

/* Whether the hop of `in` can be one kernel with its exchange: the transport can. The same on all ranks. */
int halo_hop_fuses(const field *in);
/* Sends the half spinors of parity p of `in` that the neighbours' hop needs; `links` of the precision of `in`; sign as
 * in kernels/site/hop.h. ghost[dir] becomes the view of what arrives from direction dir, valid after halo_hop_wait()
 * until the next exchange. With `fuse`, for a hop that can, nothing is sent yet: the next kernel has to be the hop, with
 * work.pack = pack, and there is nothing to wait for. */
void halo_hop_start(const field *in, parity p, const field *links, int sign, int fuse, view ghost[8],
                    hop_pack_args *pack);
void halo_hop_wait(void);

/* The same for the hop of staggered quarks: starts to send what the neighbours need of parity p of `in`; near and far
 * links as in kernels/ops/staggered.h, far ones and their phases or null. After halo_hop_wait() the views hold what has
 * arrived. */
void halo_staggered_start(const field *in, parity p, const field *near, const field *far, const field *far_phases,
                          view ghost[8]);

/* Brings in the vectors of parity p from above, of 1 or (where the reach is 3) 3 slices; ghost[2 d] holds them. */
void halo_vectors_above(const field *in, parity p, int slices, view ghost[8]);

/* Bytes sent and seconds spent waiting so far, for the profile; more of them, of exchanges that are not from here; and
 * none from here on. */
void halo_counted(double *bytes, double *seconds);
void halo_count(double bytes, double seconds);
void halo_counts_reset(void);

#ifdef __cplusplus
}
#endif
#endif
