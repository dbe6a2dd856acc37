/* The process, before anything else of the program: waiting threads, descriptors, signals. */
#ifndef PLAQ_PROCESS_H
#define PLAQ_PROCESS_H

/* Called first in main().
 * - OpenMP threads that wait for work spin for some ten microseconds and then sleep, unless the environment says
 *   otherwise (OMP_WAIT_POLICY, GOMP_SPINCOUNT, KMP_BLOCKTIME). The runtime reads its settings when it is loaded, so the
 *   program is started once more with them, as the same process.
 * - Descriptors 0 to 2 that are closed are opened on /dev/null, lest a file that is written get one of their numbers.
 * - SIGPIPE and SIGXFSZ are ignored: writing then fails, and is reported as any failure to write. */
void process_begin(char **argv);

#endif
