/* The kernel layer's face: run a site function over units of a lattice.
 *
 * kernels/family/families.def is the registry. Arguments are the structs of kernels/family/NAME.h, known without a
 * precision. */
#ifndef PLAQ_KERNELS_H
#define PLAQ_KERNELS_H

#include "kernels/field/field.h"
#include "kernels/lattice/exact.h"

typedef enum {
#define KERNEL(name, ...) KERNEL_##name,
#define KERNEL_SUM(name, ...) KERNEL_##name,
#define KERNEL_DEVICE_BITS(name)
#include "kernels/family/families.def"
#undef KERNEL
#undef KERNEL_SUM
#undef KERNEL_DEVICE_BITS
    KERNEL_COUNT,
    KERNEL_convert = KERNEL_COUNT, /* between precisions, of whole fields: counted among kernels, run by field.h */
    KERNEL_COUNTED
} kernel_id;

#define KERNEL_MAX_SUMS 32

typedef struct {
    const char *name;
    int sums;
    int precisions;
    double flops, reads, writes; /* a site and right-hand side */
} kernel_info;

/* Work on `n` units of field `like`'s layout: list[0..n), or 0..n where list is null. Sums, if the kernel has any, are
 * added into sums[] (this rank's part). A rank with n = 0 takes part like others: the tuner and sums over ranks are
 * collective. */
typedef struct {
    const int *list;
    long n;
    exact_sum *sums;
    int later;           /* the sums are fetched by kernel_sums(); until then no other kernel that sums may be run */
    int sum_over_ranks;  /* Global sum inside the kernel. Only where kernel_can_sum_over_ranks(). */
    int aside;           /* on the device: on the stream of messages, beside what the main stream does */
    const void *pack;    /* on the device, of a hop that is an exchange (halo_hop_start()): arguments of its packing */
    double flops, bytes; /* for the profile, over all units of this launch; 0: from the registry, one group */
} kernel_work;

/* Bytes of all that a hop reads, on a processor: beyond the first it comes from memory or a cache far away, and what
 * later units need is asked for ahead; beyond the second what is written is out of the caches when it is read again,
 * and a line need not be read to be overwritten. */
#define OUT_OF_NEAR_CACHE ((size_t)16 << 20)
#define OUT_OF_CACHE ((size_t)64 << 20)

#ifdef __cplusplus
extern "C" {
#endif

extern const kernel_info kernel_infos[KERNEL_COUNTED];
/* True if the bits of a kernel belong to a kind of device: it stands only inside preconditioners and inner precisions. */
int kernel_has_device_bits(kernel_id id);

void kernel_run(kernel_id id, const field *like, const void *args, kernel_work work);
/* Adds the sums of the kernel that was run `later`, with the same first two arguments. */
void kernel_sums(kernel_id id, const field *like, exact_sum *sums);
/* True if a kernel with one sum can add up those of all ranks itself. The same on all ranks. */
int kernel_can_sum_over_ranks(const field *like);
/* Where kernels on the device find the value of the first of these sums, until the next kernel that sums, without
 * anybody's waiting for it; null on the host. */
const double *kernel_sum_value(const field *like);

/* What has been run so far: for the profile and for benchmarks. */
typedef struct {
    long calls;
    double seconds, flops, bytes;
} kernel_count;
kernel_count kernel_counted(kernel_id id, precision prec);
/* Counts what runs between the two: on the device, a sample of calls is timed. */
typedef struct {
    kernel_id id;
    precision prec;
    int on_device, aside, watch;
    long pauses; /* begun before the start: a sample with trials of the tuner in it says nothing */
    double start;
} kernel_timing;
kernel_timing kernel_timing_start(kernel_id id, precision prec, place where, int aside);
void kernel_timing_stop(const kernel_timing *t, double flops, double bytes);
void kernel_counts_reset(void);
/* What runs from pause = 1 to pause = 0 is not counted. Pairs may be within others. */
void kernel_counts_pause(int pause);

#ifdef __cplusplus
}
#endif
#endif
