#include "hmc/stop.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "hmc/commands.h"
#include "kernels/lattice/comm.h"

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

void stop_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
}

int stop_signal(void)
{
    /* It may have reached one rank only. */
    double number = caught;
    comm_max(&number, 1);
    if (number > 0) caught = (int)number;
    return (int)number;
}

double stop_seconds_left(const parameters *p)
{
    double left = INFINITY;
    if (p->run.max_hours > 0) left = p->run.max_hours * 3600 - command_age();
    const char *end = getenv("SLURM_JOB_END_TIME");
    if (end && atoll(end) > 0) left = fmin(left, (double)atoll(end) - (double)time(NULL));
    comm_bcast(&left, sizeof left);
    return left;
}
