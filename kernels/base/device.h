/* GPUs as all know them: whether there are any, taking one, its memory, and how messages between GPUs travel. kernels/gpu/
 * has the functions; a build without CUDA has no devices (kernels/gpu/none.c). What kernels need beside them is declared in
 * kernels/field/stored_device.h, kernels/run/backend.h and kernels/run/messages.h. */
#ifndef PLAQ_DEVICE_H
#define PLAQ_DEVICE_H

#include <stddef.h>
#include <stdint.h>

struct comm_group; /* kernels/lattice/comm.h */

/* Memory in which a field lives; places of the pool (kernels/base/pool.h) have these numbers. */
typedef enum { PLACE_HOST, PLACE_DEVICE } place;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices ---- */

/* True if this program was built with CUDA. */
int gpu_built_in(void);
/* Devices that can be used now; 0 on a machine without a GPU. */
int gpu_count(void);
/* Why there is none, with this rank's number, for people. */
void gpu_why_none(char *message, size_t size);
/* Takes a device for each rank by its place on its node; collective. Ranks that would share a device get it if `share`
 * is set. Returns 0; or non-zero with the same message on all ranks: no GPU, or more ranks on a node than GPUs. */
int gpu_bind(int share, char *message, size_t size);
const char *gpu_name(void);
/* Waits for all work that was given to the device. */
void gpu_finish(void);

/* ---- memory ---- */

/* Bytes of the memory of the device that is open; 0 without one. */
double gpu_memory(void);
/* Bytes there that are beside the pool, for messages: the most so far. */
size_t gpu_beside_pool_peak(void);
/* Bytes that were taken there when it was opened: its context, and other programs. 0 without one. */
size_t gpu_context_bytes(void);
/* Fills memory with copies of a word; `bytes` is a multiple of its size, or the word is zero. */
void gpu_fill(void *p, uint32_t word, size_t bytes);
void gpu_copy(void *to, place to_place, const void *from, place from_place, size_t bytes);
/* Stretches, n of them, filled and copied likewise: each of so many bytes and its step from the one before. */
void gpu_fill_stretches(void *p, size_t step, uint32_t word, size_t bytes, long n);
void gpu_copy_stretches(void *to, place to_place, size_t to_step, const void *from, place from_place, size_t from_step,
                        size_t bytes, long n);

/* ---- messages ---- */

/* Opens a transport on the device of gpu_bind(), after closing the one before; collective. `name` is "auto" (the first
 * of transports.def that all ranks can use) or a name from there. Returns 0; or non-zero with the same message on all
 * ranks (an unknown name, or why it cannot be used), and no transport is open. */
int gpu_transport_choose(const char *name, char *message, size_t size);
/* Ends and frees it; collective. Without an open one it does nothing. */
void gpu_transport_close(void);
/* Names by number, null after the last. */
const char *gpu_transport_number(int i);
/* Transport's name; "none" without an open one. */
const char *gpu_transport_name(void);

#define GPU_SLOTS 8

typedef struct {
    int to, from; /* ranks other than this one; often equal */
    int slot;     /* 0..GPU_SLOTS-1, the same on sender and receiver; at most once an exchange */
    size_t bytes; /* not 0 */
    void *out;    /* set by begin: where the packing kernel writes, on the device; aligned to 256 bytes */
    void *in;     /* set by begin: where what arrives is found, likewise */
} gpu_message;

/* Exchange of n messages whose contents lie ready on the device: copies out[i] into message i, and waits for what arrives as
 * the main stream does. Collective over the group, see kernels/run/messages.h. */
void gpu_exchange_copies(const struct comm_group *group, gpu_message *m, int n, void *const *out);

#ifdef __cplusplus
}
#endif
#endif
