#include "hmc/integrate/trajectory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/philox.h"
#include "kernels/ops/gauge.h"

int evolution_values(evolution *e, double values[MAX_ACTIONS], double *kinetic, const action **who)
{
    *kinetic = momenta_norm2(e->momenta);
    for (int i = 0; i < e->nactions; i++)
        if (action_value(e->actions[i], &values[i])) {
            *who = e->actions[i];
            return 1;
        }
    return 0;
}

int evolution_given_up(const evolution *e, int status)
{
    return status == EVOLVE_FAILED && e->interrupted && e->interrupted();
}

static double accept_deviate(random_key key)
{
    uint32_t counter[4] = {0, 0, key.trajectory, RANDOM_ACCEPT};
    philox(counter, (uint32_t)key.seed, (uint32_t)(key.seed >> 32));
    return philox_uniform(counter[0], counter[1]);
}

static int start(evolution *e, random_key key, trajectory_result *r, const action **who)
{
    memset(e->forces, 0, sizeof e->forces);
    momenta_random(e->momenta, key.seed, RANDOM_MOMENTA, key.trajectory);
    r->kinetic_start = momenta_norm2(e->momenta);
    for (int i = 0; i < e->nactions; i++) action_reset_counts(e->actions[i]);
    for (int i = 0; i < e->nactions; i++) {
        action *a = e->actions[i];
        *who = a;
        if (action_refresh(a, key)) return EVOLVE_FAILED;
        if (a->start_known) r->start_values[i] = a->start_value;
        else if (action_value(a, &r->start_values[i])) return EVOLVE_FAILED;
    }
    return EVOLVE_DONE;
}

/* Trajectory up to its accept step: heat bath, integration, and H at the end. */
static int attempt(evolution *e, random_key key, double length, trajectory_result *r)
{
    const action *who = NULL;
    int status = start(e, key, r, &who);
    if (status == EVOLVE_DONE) status = evolve(e, length);
    if (status == EVOLVE_DONE && evolution_values(e, r->end_values, &r->kinetic_end, &who)) status = EVOLVE_FAILED;
    return status;
}

static int begin_again(evolution *e)
{
    int again = 0;
    for (int i = 0; i < e->nactions; i++) again += action_begin_again(e->actions[i]);
    return again > 0;
}

static void add_forces(force_record *sum, const force_record *f)
{
    sum->sum += f->sum;
    sum->square += f->square;
    sum->space_square += f->space_square;
    sum->time_square += f->time_square;
    sum->most = fmax(sum->most, f->most);
    sum->count += f->count;
    sum->seconds += f->seconds;
}

trajectory_result trajectory_run(evolution *e, random_key key, double length, int unconditional)
{
    const double begun = comm_wtime();
    trajectory_result r = {0};
    field *saved = field_like(e->links);
    field_copy(saved, e->links);
    for (int i = 0; i < e->nactions; i++) e->actions[i]->failures = 0;
    for (r.attempts = 1;; r.attempts++) {
        r.status = attempt(e, key, length, &r);
        if (evolution_given_up(e, r.status)) r.status = EVOLVE_INTERRUPTED;
        if (r.status != EVOLVE_FAILED || !begin_again(e)) break;
        log_warn("the trajectory is repeated from the same links and random numbers");
        field_copy(e->links, saved);
    }
    if (r.status == EVOLVE_FAILED) {
        for (int i = 0; i < e->nactions; i++) {
            if (!e->actions[i]->trouble[0]) continue;
            memcpy(r.trouble, e->actions[i]->trouble, sizeof r.trouble);
            r.advice = e->actions[i]->advice;
        }
    }
    if (r.status == EVOLVE_DONE) {
        r.dh = r.kinetic_end - r.kinetic_start;
        for (int i = 0; i < e->nactions; i++) r.dh += r.end_values[i] - r.start_values[i];
        if (!isfinite(r.dh)) {
            r.status = EVOLVE_FAILED;
            r.advice = ADVICE_NUMBERS;
            snprintf(r.trouble, sizeof r.trouble, "the energy is not a number at the end of the trajectory");
        } else {
            e->dh[!unconditional].sum += r.dh;
            e->dh[!unconditional].count++;
            r.accepted = unconditional || r.dh <= 0 || accept_deviate(key) < exp(-r.dh);
        }
    }
    if (!r.accepted) field_copy(e->links, saved);
    field_destroy(saved);
    for (int i = 0; i < e->nactions; i++) {
        const force_record *f = &e->forces[i];
        r.iterations[i] = e->actions[i]->iterations;
        r.spectrum_low[i] = e->actions[i]->spectrum_low;
        r.spectrum_high[i] = e->actions[i]->spectrum_high;
        r.worst_residual = fmax(r.worst_residual, e->actions[i]->worst_residual);
        r.force_mean[i] = f->count ? f->sum / (double)f->count : 0;
        r.force_seconds[i] = f->seconds;
        add_forces(&e->totals[i], f);
    }
    r.seconds = comm_wtime() - begun;
    return r;
}
