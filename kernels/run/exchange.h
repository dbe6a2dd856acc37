/* Exchange of messages between neighbours on the process grid: parts, pack, start, wait.
 *
 *   exchange_open(&e, f)        of fields with the layout, precision and place of f
 *   exchange_add(&e, ...)       a part: a message along one direction, and its opposite number that arrives
 *   exchange_place(&e, 0)       memory: e.packed[i] of the i-th part, e.ghost[slot] of what arrives
 *   kernels with .aside = 1     pack: write whole vectors into e.packed[i]
 *   exchange_start(&e)          messages leave
 *   other kernels               the interior, which needs no message
 *   exchange_wait(&e)           e.ghost[slot] holds what has arrived, until the next exchange is placed
 *
 * Message buffers belong to slots and are shared by all exchanges, so one exchange is in flight at a time: from
 * exchange_place() to exchange_wait(). Placing a second one is an error. What the numbers mean is the business of
 * whoever packs and reads them. On a planned lattice buffers are counted and nothing is sent. All functions are
 * collective over the group of the lattice, unless said. */
#ifndef PLAQ_EXCHANGE_H
#define PLAQ_EXCHANGE_H

#include "kernels/field/field.h"
#include "kernels/run/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EXCHANGE_PARTS GPU_SLOTS

/* A message. Vectors have all lanes of the layout; edge lanes are those that travel. */
typedef struct {
    int dir, slot, reals, groups;
    size_t vectors;
    void *packed, *ghost;
    int edge[GEOM_MAX_LANES], nedge;
} exchange_part;

typedef struct {
    const lattice *lat;
    const layout *lay;
    place where;
    size_t real_bytes;
    double started;
    int n;
    exchange_part parts[EXCHANGE_PARTS];
    gpu_message messages[EXCHANGE_PARTS];
    view packed[EXCHANGE_PARTS]; /* parts in the order of exchange_add() */
    view ghost[EXCHANGE_PARTS];  /* ghosts, a slot each */
} exchange;

/* An exchange without parts. Numbers travel in double for fields in double precision, else in single. Local. */
void exchange_open(exchange *e, const field *f);
/* A part that leaves along `dir` (0..7, a direction that is split) and arrives over the opposite side into `slot`
 * (0..EXCHANGE_PARTS - 1, each once): `units` units of `groups` groups of `reals` reals. Parts with one slot have the
 * same size on all ranks. Local. */
void exchange_add(exchange *e, int dir, int slot, long units, int groups, int reals);
/* Takes message buffers. With `fuse`, where exchange_can_fuse(), the next kernel is the exchange: it packs, sends and
 * waits by itself (kernel_work.pack), and neither exchange_start() nor exchange_wait() is called. */
void exchange_place(exchange *e, int fuse);
void exchange_start(exchange *e);
void exchange_wait(exchange *e);

/* Gives back the buffers of planned lattices, so that those of the next one are counted from the beginning. Local. */
void exchange_forget_planned(void);

/* True if the transport lets one kernel be the whole exchange of fields like f. The same on all ranks of the group. */
int exchange_can_fuse(const field *f);

/* A message of n sites of x as they are stored, for stored_move: in the linear layout in `memory` of *bytes bytes, scales
 * behind the numbers. Local. */
stored_field exchange_sites(const field *x, long n, void *memory, size_t *bytes);

/* Profile: bytes sent and seconds spent waiting so far; adding those of messages that are sent elsewhere; and starting
 * again from zero. Local. */
void exchange_counted(double *bytes, double *seconds);
void exchange_count(double bytes, double seconds);
void exchange_counts_reset(void);

#ifdef __cplusplus
}
#endif
#endif
