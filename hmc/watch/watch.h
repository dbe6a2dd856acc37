/* Alarms of a run: limits of [watch] on the trajectories after the warm-up, of the present stretch (stretch.h). Each is
 * off, warns at once, or stops the run. Decisions are made from the rows of the history alone, so that a run in pieces,
 * or on other ranks, has the same ones. Local, but for the same rows on all ranks. */
#ifndef PLAQ_WATCH_H
#define PLAQ_WATCH_H

#include <stddef.h>

#include "hmc/integrate/trajectory.h"
#include "kernels/base/param.h"

#define WATCH_MOST 1000 /* rows that are looked at */

#define WATCH_HOW(X) X(WATCH_OFF, "off") X(WATCH_WARN, "warn") X(WATCH_STOP, "stop")
enum { WATCH_HOW(PARAM_CONSTANT) };

typedef struct {
    int rejections, dh, acceptance, plaquette, forces, iterations, residual, reversibility; /* WATCH_OFF, ... */
    int rejections_limit, window;
    int64_t reversibility_interval;
    double dh_limit, acceptance_limit, plaquette_limit, forces_limit, iterations_limit, residual_limit;
    double reversibility_limit;
} watch_params;

extern const param_section watch_section;

/* Row of a trajectory that alarms look at. */
typedef struct {
    int64_t trajectory;
    int accepted, nactions;
    double dh, plaquette, residual;
    double force[MAX_ACTIONS], iterations[MAX_ACTIONS];
} watch_row;

enum {
    WATCH_REJECTIONS,
    WATCH_DH,
    WATCH_ACCEPTANCE,
    WATCH_PLAQUETTE,
    WATCH_FORCES,
    WATCH_ITERATIONS,
    WATCH_RESIDUAL,
    WATCH_REVERSIBILITY,
    WATCH_ALARMS
};

typedef struct {
    const watch_params *p;
    const action *const *actions; /* actions, for their names */
    watch_row *rows;              /* the last ones, the oldest first; those of before the session are put here */
    int n;
    int64_t count[WATCH_ALARMS];  /* alarms in this session */
    int64_t looked, accepted;     /* trajectories of this session that were looked at */
    int64_t beyond;               /* trajectories, of these, with |dH| above dh_limit */
    double least_dh;              /* least |dH| of them */
    int64_t silent[WATCH_ALARMS]; /* up to this trajectory no warning is repeated */
} watch;

/* `actions`: as many as rows have. Free with watch_close(). */
void watch_open(watch *w, const watch_params *p, action *const *actions);
void watch_close(watch *w);

/* Adds a row: logs what is to be warned of, and returns the alarm that stops the run, with a message, or -1. */
int watch_look(watch *w, const watch_row *row, char *message, size_t size);
/* Likewise of a measurement of reversibility; dh NaN: it has no result. */
int watch_reversal(watch *w, int64_t trajectory, double dh, char *message, size_t size);
/* True if the session generated nothing: none of its trajectories was accepted, and they are as many as make the alarm of
 * rejections, or two or more all of whose |dH| are above dh_limit; with a message. Not where that alarm is off. */
int watch_nothing_accepted(const watch *w, char *message, size_t size);
/* True if reversibility is measured after this trajectory. */
int watch_reversal_due(const watch_params *p, int64_t trajectory);

/* The name of an alarm, its key in [watch], and what to do, as a clause. */
const char *watch_name(int alarm);
const char *watch_advice(int alarm);

#endif
