/* OpenMP threads of the ranks, against the cores that they may use. */
#ifndef PLAQ_THREADS_H
#define PLAQ_THREADS_H

#define THREADS_MOST 4096

/* Called first, after comm_init(): more threads by OMP_NUM_THREADS than THREADS_MOST are a user error. Collective. */
void threads_check(void);

/* Sets the threads of a rank; 0: as OMP_NUM_THREADS says. The first call warns when the ranks of a node have more threads
 * than cores, by their affinity masks and control groups. Returns the number of threads. Collective. */
int threads_set(int wanted);

#endif
