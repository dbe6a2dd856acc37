/* Profile: the kernels that there are (kernels/family/families.def is their registry), and what each has done so far.
 *
 * Counts are by kernel and precision: calls, seconds, flops, bytes. On the host every call is timed, on the device a
 * sample of them. Nothing here knows a field. All functions are local. */
#ifndef PLAQ_PROFILE_H
#define PLAQ_PROFILE_H

#include "kernels/field/view.h"

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

#define KERNEL_MAX_SUMS 8192

typedef struct {
    const char *name;
    int sums;
    int precisions;
    double flops, reads, writes; /* a site and right-hand side */
} kernel_info;

typedef struct {
    long calls;
    double seconds, flops, bytes;
} kernel_count;

/* A call that is being counted. */
typedef struct {
    kernel_id id;
    precision prec;
    int on_device, aside, watch;
    long pauses; /* begun before the start: a sample with trials of the tuner in it says nothing */
    double start;
} kernel_timing;

#ifdef __cplusplus
extern "C" {
#endif

extern const kernel_info kernel_infos[KERNEL_COUNTED];
/* True if the bits of a kernel belong to a kind of device: it stands only inside preconditioners and inner precisions. */
int kernel_has_device_bits(kernel_id id);

/* Counts of a kernel since the last reset. */
kernel_count kernel_counted(kernel_id id, precision prec);
/* Counts as one call what runs between the two. aside: on the device's stream of messages. */
kernel_timing kernel_timing_start(kernel_id id, precision prec, int on_device, int aside);
void kernel_timing_stop(const kernel_timing *t, double flops, double bytes);
void kernel_counts_reset(void);
/* Pauses the counts, from pause = 1 to pause = 0. Pairs may be within others. */
void kernel_counts_pause(int pause);

#ifdef __cplusplus
}
#endif
#endif
