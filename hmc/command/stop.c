#include "hmc/command/stop.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hmc/command/commands.h"
#include "kernels/base/error.h"
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
    /* The signal may have reached one rank only. */
    double number = caught;
    comm_max(&number, 1);
    if (number > 0) caught = (int)number;
    return (int)number;
}

/* End of the Slurm job in seconds since 1970; 0 without a Slurm job that says so. */
static int64_t job_end(void)
{
    const char *text = getenv("SLURM_JOB_END_TIME");
    int64_t end = 0;
    char why[256] = "";
    if (comm_rank() == 0 && text) {
        const char *wrong = param_integer(text, &end);
        if (!wrong && end <= 0) wrong = "is not positive";
        if (wrong)
            snprintf(
                why, sizeof why,
                "SLURM_JOB_END_TIME = '%.64s' in the environment %s; Slurm sets it to seconds since 1970: unset it, "
                "and give run.max_hours",
                text, wrong);
    }
    if (comm_any_bad(why[0] != 0, why, sizeof why)) user_error("%s", why);
    return end;
}

void stop_check(void)
{
    job_end();
}

double stop_seconds_left(const parameters *p)
{
    double left = INFINITY;
    if (p->run.max_hours > 0) left = p->run.max_hours * 3600 - command_age();
    const int64_t end = job_end();
    if (end > 0) left = fmin(left, (double)end - (double)time(NULL));
    comm_bcast(&left, sizeof left);
    return left;
}
