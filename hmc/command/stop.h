/* Reasons to stop a run before its end: signals, and the time that the job has. */
#ifndef PLAQ_STOP_H
#define PLAQ_STOP_H

#include "hmc/assemble/parameters.h"

/* Catches SIGTERM, SIGINT, SIGUSR1 and, unless it is ignored (nohup), SIGHUP from now on: they do not end the program. */
void stop_catch_signals(void);
/* Number of the signal that reached some rank, else 0. Collective. */
int stop_signal(void);
/* Refuses what stop_seconds_left() cannot read, as a user error: called before a run begins. Collective. */
void stop_check(void);
/* Seconds that remain by max_hours, counted from the start of the program, or by the end of the Slurm job, whatever
 * comes first, as rank 0 sees it; infinite without a limit. Collective. */
double stop_seconds_left(const parameters *p);

#endif
