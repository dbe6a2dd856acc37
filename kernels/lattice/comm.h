/* Ranks and messages. All functions but those named otherwise are collective over all ranks.
 *
 * Reductions are exact (kernels/lattice/exact.h) or on integers and maxima, so results do not depend on the number of
 * ranks. Without mpirun the program is one rank. Every call that waits for others is watched
 * (kernels/base/watchdog.h). */
#ifndef PLAQ_COMM_H
#define PLAQ_COMM_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/lattice/exact.h"

#define COMM_MAX_REQUESTS 64

#ifdef __cplusplus
extern "C" {
#endif

/* Starts MPI, sets the rank of errors and of the log. Call once, first. */
void comm_init(int *argc, char ***argv);
void comm_finalize(void);

/* Local. */
int comm_rank(void);
int comm_size(void);
double comm_wtime(void);
/* Ranks on the same node (that share memory): this one's place among them, and how many they are. */
int comm_node_rank(void);
int comm_node_size(void);
/* Bytes of this machine's memory for one of its ranks; 0 when unknown. */
double comm_memory(void);
/* True when MPI says that messages may lie in the memory of a GPU. */
int comm_cuda_aware(void);

void comm_barrier(void);
/* From rank 0. */
void comm_bcast(void *data, size_t bytes);
/* all[r] of `bytes` bytes becomes what rank r gave in *mine. */
void comm_gather_all(const void *mine, void *all, size_t bytes);
void comm_sum_exact(exact_sum *s, int n);
void comm_sum_u64(uint64_t *x, int n);
void comm_xor_u32(uint32_t *x, int n);
void comm_max(double *x, int n);
/* True when `ok` is true on every rank. */
int comm_all(int ok);
/* True when `bad` is true on some rank; `text` is then everywhere the text of the lowest such rank. */
int comm_any_bad(int bad, char *text, size_t size);

/* For studies of slower networks: from now on every exchange of halos, and every sum over ranks, takes so many seconds
 * more; an exchange does so beside what is computed meanwhile. Nothing else changes. */
void comm_set_delay(double seconds);
double comm_delay(void);
/* Waits until so long after `start` (comm_wtime()). Local. */
void comm_wait_since(double start, double seconds);

/* Point to point; messages in flight at a time: COMM_MAX_REQUESTS. The buffers stay untouched until comm_wait(). */
void comm_start_receive(void *data, size_t bytes, int from, int tag);
void comm_start_send(const void *data, size_t bytes, int to, int tag);
void comm_wait(void);

#ifdef __cplusplus
}
#endif
#endif
