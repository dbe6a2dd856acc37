/* Balance of the levels of an integrator, from the forces of a run.
 *
 * A scheme of order n conserves not H but H + dt^n (brackets of the parts of H). The bracket of an action twice with
 * itself is |F|^2 (M. Clark, B. Joo, A. Kennedy and P. Silva, arXiv:1108.1828), so at order 2 an action adds to dH
 * about |F|^2 dt^2, and to its variance the square of that. The work is least where no level adds much less than
 * another: the one with the smallest part could take longer steps for nothing. dt is taken between two forces of the
 * level. At order 4 the brackets hold higher derivatives too; taken as of order one, |F|^2 dt^4 is a hint and no more.
 */
#ifndef PLAQ_BALANCE_H
#define PLAQ_BALANCE_H

#include "hmc/integrate/integrator.h"

typedef struct {
    double dt;    /* step, in units of MD time */
    double apart; /* mean time between its forces */
    double part;  /* sum over actions of |F|^2 apart^order; r.m.s. of F over links and forces */
} level_balance;

/* Step, time and part of each level, for trajectories of this length and all forces since the evolution was made. */
void balance_levels(const evolution *e, double length, level_balance levels[MAX_LEVELS]);
/* A clause of advice; where dH, after the warm-up if there is an after, is so large that the integrator may be
 * unstable, that comes before any balance. */
void balance_advice(const evolution *e, const level_balance levels[MAX_LEVELS], char *text, size_t size);
/* Logs forces, steps and advice; nothing before the first force. */
void balance_report(const evolution *e, double length);

#endif
