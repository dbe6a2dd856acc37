/* The kernel layer's face: run a site function over units of a lattice.
 *
 * kernels/family/families.def is the registry. Arguments are the structs of kernels/family/NAME.h, known without a
 * precision. */
#ifndef PLAQ_KERNELS_H
#define PLAQ_KERNELS_H

#include "kernels/field/field.h"
#include "kernels/lattice/exact.h"
#include "kernels/run/profile.h"

/* Number of a sum on its way from a device; 0 for one that is there. Sums on their way are SUMS_ON_WAY at most, and each is
 * fetched before as many later kernels have summed. */
typedef unsigned sum_ticket;
#define SUMS_ON_WAY 8

/* Work on `n` units of field `like`'s layout: list[0..n), or 0..n where list is null. Sums, if the kernel has any, are
 * added into sums[] (this rank's part). A rank with n = 0 takes part like others: the tuner and sums over ranks are
 * collective. On a planned lattice nothing is run. */
typedef struct kernel_work {
    const int *list;
    long n;
    exact_sum *sums;
    int nsums; /* device: sums of this launch where they are more than the registry's for one work item; else 0 */
    /* Sum of a kernel with one sum that kernel_sums() fetches, by what is left here; null: at once. */
    sum_ticket *ticket;
    /* Device: nsums values that a kernel has rounded, in place of sums; only where its arguments ask for them. */
    double *values;
    int sum_over_ranks; /* Global sum over the ranks of the lattice inside the kernel. Only where kernel_can_sum_over_ranks(). */
    int aside;          /* device: on the stream of messages, beside what the main stream does */
    const void *pack;    /* device, hop that is an exchange (exchange_place()): arguments of its packing */
    double flops, bytes; /* profile counts, over all units of this launch; 0: from the registry, one group */
} kernel_work;

/* Bytes of all that a hop reads, on a processor: beyond the first it comes from memory or a cache far away, and what
 * later units need is asked for ahead; beyond the second what is written is out of the caches when it is read again,
 * and a line need not be read to be overwritten. */
#define OUT_OF_NEAR_CACHE ((size_t)16 << 20)
#define OUT_OF_CACHE ((size_t)64 << 20)

#ifdef __cplusplus
extern "C" {
#endif

void kernel_run(kernel_id id, const field *like, const void *args, kernel_work work);
/* Adds the sum of the kernel that was run with a ticket. */
void kernel_sums(kernel_id id, sum_ticket ticket, exact_sum *sum);
/* True if a kernel with one sum can add up those of all ranks itself. The same on all ranks of its
 * lattice. */
int kernel_can_sum_over_ranks(const field *like);
/* Value of that sum for kernels on the device, without anybody's waiting for it, until SUMS_ON_WAY - 1 later kernels have
 * summed; null for number 0. */
const double *kernel_sum_value(sum_ticket ticket);

#ifdef __cplusplus
}
#endif
#endif
