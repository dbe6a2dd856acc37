/* Ranks and messages.
 *
 * A group is a set of ranks. What belongs to a lattice (sums, halos, the tuner's trials) takes part by the lattice's
 * group, comm_group_*(); what belongs to the program (errors, files, the log) by all ranks, the group comm_world(). A
 * rank outside a group may hold the group too: size and members are known to it, its own number is -1, and collective
 * functions of the group return at once there and leave their data alone.
 *
 * Reductions are exact (kernels/lattice/exact.h) or on integers and maxima, so results do not depend on the number of
 * ranks. Without mpirun the program is one rank. Every call that waits for others is watched
 * (kernels/base/watchdog.h). All functions are collective over their group, those without one over all ranks, but for
 * those named otherwise. */
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

/* ---- groups ---- */
typedef struct comm_group comm_group;

/* Groups of all ranks, and of this rank alone. Local. */
const comm_group *comm_world(void);
const comm_group *comm_self(void);
/* The group of those ranks of `parent` that give member = 1, in the order of parent; at least one does. Collective over
 * parent. Free it after the lattices on it, collectively over parent. */
comm_group *comm_group_create(const comm_group *parent, int member);
void comm_group_destroy(comm_group *g);

/* Local: members; this rank's number in the group, or -1; the number among all ranks of member r, and its inverse, -1
 * for a rank that is none. */
int comm_group_size(const comm_group *g);
int comm_group_rank(const comm_group *g);
int comm_group_to_world(const comm_group *g, int r);
int comm_group_from_world(const comm_group *g, int rank);
/* `size` ranks that are not there, of which this one takes itself for the first: for planned lattices (plan.h). What is
 * collective over it returns at once and leaves its data alone. Free it. Local. */
comm_group *comm_group_imagine(int size);
/* A number that no other group of this rank has, nor had. Local. */
int comm_group_serial(const comm_group *g);

void comm_group_barrier(const comm_group *g);
/* Broadcast from member 0. */
void comm_group_bcast(const comm_group *g, void *data, size_t bytes);
/* Gathers: all[r] of `bytes` bytes becomes what member r gave in *mine. */
void comm_group_gather_all(const comm_group *g, const void *mine, void *all, size_t bytes);
/* Sums of up to 2^31 addends a rank; nothing may be added to the results. */
void comm_group_sum_exact(const comm_group *g, exact_sum *s, int n);
void comm_group_max(const comm_group *g, double *x, int n);
/* True when `ok` is true on every member; where there is none, as on ranks outside, `ok`. */
int comm_group_all(const comm_group *g, int ok);

/* ---- all ranks ---- */

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
/* Broadcast from rank 0. */
void comm_bcast(void *data, size_t bytes);
/* Gathers: all[r] of `bytes` bytes becomes what rank r gave in *mine. */
void comm_gather_all(const void *mine, void *all, size_t bytes);
void comm_sum_exact(exact_sum *s, int n);
void comm_sum_u64(uint64_t *x, int n);
void comm_xor_u32(uint32_t *x, int n);
void comm_max(double *x, int n);
/* True when `ok` is true on every rank. */
int comm_all(int ok);
/* True when `bad` is true on some rank; `text` is then everywhere the text of the lowest such rank. */
int comm_any_bad(int bad, char *text, size_t size);

/* Delays for studies of slower networks: from now on every exchange of halos, and every sum over ranks, takes so many seconds
 * more; an exchange does so beside what is computed meanwhile. Nothing else changes. */
void comm_set_delay(double seconds);
double comm_delay(void);
/* Waits until so long after `start` (comm_wtime()). Local. */
void comm_wait_since(double start, double seconds);

/* Point to point, by numbers among all ranks; messages in flight at a time: COMM_MAX_REQUESTS. The buffers stay untouched
 * until comm_wait(). What goes to nobody is gone, and from nobody nothing comes. */
#define COMM_NOBODY (-1)
void comm_start_receive(void *data, size_t bytes, int from, int tag);
void comm_start_send(const void *data, size_t bytes, int to, int tag);
void comm_wait(void);

#ifdef __cplusplus
}
#endif
#endif
