#include "hmc/integrate/reversal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

/* Root mean square difference of two fields per number. */
static double difference(const field *x, const field *y)
{
    const int *l = x->lat->local;
    const size_t n = (size_t)l[0] * l[1] * l[2] * (size_t)(x->groups * x->reals);
    double *a = field_slice_buffer(x), *b = field_slice_buffer(y);
    exact_sum sum = exact_zero();
    for (int t = 0; t < l[3]; t++) {
        field_export(x, t, a);
        field_export(y, t, b);
        for (size_t i = 0; i < n; i++) exact_add(&sum, (a[i] - b[i]) * (a[i] - b[i]));
    }
    free(a);
    free(b);
    comm_sum_exact(&sum, 1);
    return sqrt(exact_value(&sum) / ((double)x->lat->volume * x->groups * x->reals));
}

static int find_energy(evolution *e, double *energy, const action **who)
{
    double values[MAX_ACTIONS];
    if (evolution_values(e, values, energy, who)) return EVOLVE_FAILED;
    for (int i = 0; i < e->nactions; i++) *energy += values[i];
    return EVOLVE_DONE;
}

static int draw(evolution *e, random_key key, const action **who)
{
    momenta_random(e->momenta, key.seed, RANDOM_MOMENTA, key.trajectory);
    for (int i = 0; i < e->nactions; i++) {
        e->actions[i]->failures = 0;
        *who = e->actions[i];
        if (action_refresh(e->actions[i], key)) return EVOLVE_FAILED;
    }
    *who = NULL;
    return EVOLVE_DONE;
}

/* The way back is a trajectory of its own, as it would be in a run. */
static int begin(evolution *e, const action **who)
{
    for (int i = 0; i < e->nactions; i++)
        if (action_begin(e->actions[i])) {
            *who = e->actions[i];
            return EVOLVE_FAILED;
        }
    return EVOLVE_DONE;
}

/* Over `length`, with the momenta turned at the end. */
static int evolve_and_turn(evolution *e, double length, const action **who)
{
    const int status = evolve(e, length);
    for (int i = 0; i < e->nactions && status == EVOLVE_FAILED; i++)
        if (e->actions[i]->trouble[0]) *who = e->actions[i];
    if (status == EVOLVE_DONE) momenta_add(e->momenta, -2, e->momenta);
    return status;
}

reversal reversal_measure(evolution *e, random_key key, double length)
{
    reversal r = {.links = NAN, .momenta = NAN, .energy = NAN, .dh = NAN};
    double after = 0;
    force_record forces[MAX_ACTIONS];
    field *links = field_like(e->links), *momenta = field_like(e->momenta);
    memcpy(forces, e->forces, sizeof forces);
    for (int i = 0; i < e->nactions; i++) action_reset_counts(e->actions[i]);
    field_copy(links, e->links);
    r.status = draw(e, key, &r.failed);
    field_copy(momenta, e->momenta);
    if (r.status == EVOLVE_DONE) r.status = find_energy(e, &r.energy, &r.failed);
    if (r.status == EVOLVE_DONE) r.status = evolve_and_turn(e, length, &r.failed);
    if (r.status == EVOLVE_DONE) r.status = begin(e, &r.failed);
    if (r.status == EVOLVE_DONE) r.status = evolve_and_turn(e, length, &r.failed);
    if (r.status == EVOLVE_DONE) r.status = find_energy(e, &after, &r.failed);
    if (evolution_given_up(e, r.status)) r.status = EVOLVE_INTERRUPTED;
    if (r.status == EVOLVE_DONE) {
        r.dh = after - r.energy;
        r.links = difference(e->links, links);
        r.momenta = difference(e->momenta, momenta);
    }
    field_copy(e->links, links);
    memcpy(e->forces, forces, sizeof forces);
    field_destroy(momenta);
    field_destroy(links);
    return r;
}
