/* Ends a run that hangs: a peer that died without a word, or a GPU that stopped answering, would otherwise hold the
 * machine until the queue's limit.
 *
 *   watchdog_start(600, rank);
 *   watchdog_enter("messages of other ranks");
 *   MPI_Waitall(...);
 *   watchdog_leave();
 *
 * Waiting calls of the main thread stand between enter and leave, which cost a few stores; they do not nest. A thread
 * looks once a second (more often for small limits). When one call has lasted longer than the limit, the thread prints
 * the rank, what it waits for, for how long, the last kernel started, and what to do, and the process ends with
 * EXIT_HUNG, without asking MPI. Ranks that wait for others have their turns one after the other, at intervals of two
 * looks and after those that wait for something of their own, so that mpirun ends them before they say the same. Time
 * during which the process itself was stopped, by a debugger or a signal, does not count. */
#ifndef PLAQ_WATCHDOG_H
#define PLAQ_WATCHDOG_H

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the watchdog; without a start, or with seconds <= 0, nobody watches. Call once. */
void watchdog_start(double seconds, int rank);
/* The limit in seconds; 0 when nobody watches. */
double watchdog_limit(void);

/* The seconds after the limit at which this rank says that it waits for others. */
double watchdog_turn(void);

/* Waits for other ranks, or for this rank's own GPU alone, stand between enter and leave. The texts live as long as the
 * program. */
void watchdog_enter(const char *what);
void watchdog_enter_own(const char *what);
void watchdog_leave(void);
void watchdog_note(const char *kernel);
/* Kernel started last; "none" before the first. */
const char *watchdog_last_kernel(void);

#ifdef __cplusplus
}
#endif
#endif
