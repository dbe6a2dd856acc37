#include "hmc/tell/life.h"

#include <stdio.h>
#include <string.h>

#include "hmc/tell/text.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "solvers/solver.h"

#define BETWEEN 0.2 /* seconds */

static struct {
    char what[96], solve[192];
    int levels, step[LIFE_LEVELS], steps[LIFE_LEVELS];
    double begun, shown;
} life;

static void show(const char *end)
{
    char line[512], took[32];
    const double now = comm_wtime();
    if (!life.what[0] || now - life.shown < BETWEEN) return;
    life.shown = now;
    int n = snprintf(line, sizeof line, "%s:", life.what);
    for (int l = 0; l < life.levels; l++)
        n += snprintf(line + n, sizeof line - (size_t)n, "%s %d/%d", l ? "," : " step", life.step[l], life.steps[l]);
    if (life.solve[0]) n += snprintf(line + n, sizeof line - (size_t)n, "%s %s", life.levels ? "," : "", life.solve);
    log_status("%s%s, %s", line, end, text_duration(now - life.begun, took));
}

static void show_iteration(int iteration, double residual)
{
    char end[64];
    snprintf(end, sizeof end, ", iteration %d, residual %.1e", iteration, residual);
    show(end);
}

void life_open(void)
{
    log_status_open();
    if (log_status_wanted()) solver_watch(show_iteration);
}

void life_close(void)
{
    solver_watch(NULL);
    log_status_close();
}

void life_begin(const char *what)
{
    memset(&life, 0, sizeof life);
    log_status_clear();
    if (!what || !log_status_wanted()) return;
    snprintf(life.what, sizeof life.what, "%s", what);
    /* Trajectories and measurements that are over within a moment show nothing. */
    life.begun = life.shown = comm_wtime();
}

void life_step(int level, int step, int steps)
{
    if (!life.what[0] || level >= LIFE_LEVELS) return;
    life.levels = level + 1;
    life.step[level] = step;
    life.steps[level] = steps;
    life.solve[0] = 0;
    show("");
}

void life_solve(const char *what, const char *solver)
{
    if (!life.what[0]) return;
    snprintf(life.solve, sizeof life.solve, "%.100s by %.64s", what, solver);
    show("");
}
