/* OpenMP threads of the ranks, against the cores that they may use. */
#ifndef PLAQ_THREADS_H
#define PLAQ_THREADS_H

#define THREADS_MOST 4096
#define THREADS_A_CORE 4 /* threads of a rank, at most, for each core that it may use */

/* Called first, after comm_init(): more threads by OMP_NUM_THREADS than THREADS_MOST are a user error. Collective. */
void threads_check(void);

/* Sets the threads of a rank; 0: as OMP_NUM_THREADS says. More than THREADS_A_CORE for each core that the rank may use, by
 * its affinity mask and control group, are a user error. The first call warns when the ranks of a node have more threads
 * than cores. Returns the number of threads. Collective. */
int threads_set(int wanted);
/* Starts the threads, so that their stacks are there. Local. */
void threads_start(void);
/* Threads of this rank. Local. */
int threads_now(void);

#endif
