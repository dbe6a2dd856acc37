/* Hybrid Monte Carlo trajectory (S. Duane et al., Phys. Lett. B 195 (1987) 216). */
#ifndef PLAQ_TRAJECTORY_H
#define PLAQ_TRAJECTORY_H

#include "hmc/integrate/integrator.h"

typedef struct {
    int status; /* EVOLVE_DONE, or why there is no result; the links are then those of the start */
    char trouble[512];
    const char *advice; /* likewise: what to do, as a clause */
    int attempts;       /* attempts from the same links and random numbers; what follows is of the last */
    int accepted;
    double dh;
    double start_values[MAX_ACTIONS], end_values[MAX_ACTIONS]; /* S of each action */
    double kinetic_start, kinetic_end;
    long iterations[MAX_ACTIONS];
    double worst_residual;
    double spectrum_low[MAX_ACTIONS], spectrum_high[MAX_ACTIONS]; /* spectrum bounds of actions that measure them */
    double force_mean[MAX_ACTIONS], force_seconds[MAX_ACTIONS];
    double seconds;
} trajectory_result;

/* Draws momenta and pseudofermions for `key`, integrates over `length`, and accepts or rejects; always accepts with
 * `unconditional`. A trajectory that failed is begun again where an action asks for that. Collective; the same bits on
 * any process grid. */
trajectory_result trajectory_run(evolution *e, random_key key, double length, int unconditional);

/* H of the present links and momenta with the pseudofermions in hand; nonzero when an action failed (its name in *who).
 */
int evolution_values(evolution *e, double values[MAX_ACTIONS], double *kinetic, const action **who);

/* True if a step of this status failed because its solve was given up, by a signal say, and not by a fault of its own.
 * Collective. */
int evolution_given_up(const evolution *e, int status);

#endif
