/* Forecast of a campaign of measurements: solves of the propagators that measurements name, on one configuration, as parts of a cost
 * (cost.h), with iterations of the model; other work that observables tell; time, node-hours and disk of all configurations by the
 * rates of a machine. Local. */
#ifndef PLAQ_CAMPAIGN_H
#define PLAQ_CAMPAIGN_H

#include "hmc/plan/cost.h"

enum { CAMPAIGN_MOST = 2 * MAX_NAMED };

/* Solves by one solver from one source. */
typedef struct {
    const char *propagator, *solver; /* the first propagator with these solves */
    int rough;                       /* solves of the rough solver */
    double systems, iterations;      /* right-hand sides a configuration, of all positions; iterations of each */
    cost_part part;
    double seconds; /* a configuration, set by campaign_time() */
} campaign_solves;

typedef struct {
    long configurations;
    int n;
    campaign_solves solves[CAMPAIGN_MOST];
    char left_out[512]; /* measurements that solve for themselves, "" where there are none */
    /* Set by campaign_time(): seconds of all solves, of other work, of a configuration and of all; node-hours and bytes of
     * propagators of all. */
    double all_solves, others, configuration, total, node_hours, disk;
} campaign;

/* Solves of so many configurations of these extents. */
campaign campaign_of(const parameters *p, const int size[4], long configurations);
/* Times on a planned lattice of so many ranks: `slower` times longer for want of SIMD lanes; `bytes`: propagators of a
 * configuration. */
void campaign_time(campaign *g, const parameters *p, const lattice *lat, int ranks, const calibration *c, double slower,
                   double bytes);
/* Tells them in the log. */
void campaign_describe(const campaign *g);

#endif
