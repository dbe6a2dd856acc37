/* Symplectic, reversible integration of molecular dynamics with nested time scales.
 *
 * A scheme is a palindromic table of kicks (momenta, by the force) and drifts (links); a drift of one level is the
 * whole integration of the next finer one (J. Sexton and D. Weingarten, Nucl. Phys. B 380 (1992) 665), and of the
 * finest the update of the links. Only that changes links, so all kicks between two of them see the same ones: those of
 * a level are merged, over steps and over drifts of coarser levels, and the force is evaluated once. Adding a scheme is
 * one table in integrator.c, which begins and ends with a kick by the force itself.
 *
 * Momenta may be anisotropic: kicks and drifts of links in time are then 1 / xi_mom times as long. That is a mass of these
 * momenta, of which H in terms of their own variable is free; it makes the larger forces of temporal links on an anisotropic
 * lattice as large as those of spatial ones (R. Morrin et al., hep-lat/0604021). */
#ifndef PLAQ_INTEGRATOR_H
#define PLAQ_INTEGRATOR_H

#include "hmc/actions/action.h"

#define MAX_LEVELS 8

typedef struct scheme scheme;

typedef struct {
    const scheme *scheme;
    int steps; /* steps in each drift of the coarser level */
    int nactions;
    int actions[MAX_ACTIONS]; /* indices into evolution.actions */
} level;

/* Force statistics of one action over a trajectory: root mean square over links, 2 |F|^2 = F^a F^a in our
 * normalisation; with anisotropic momenta that of links in time is over xi_mom. Of actions that are summed together
 * (action.shares) only the first force of a trajectory is known. */
typedef struct {
    double sum, square;               /* sums of the norms, and of their squares */
    double space_square, time_square; /* squares over links in space and in time, on an anisotropic lattice */
    double most;                      /* the largest norm */
    long count;
    double seconds;
} force_record;

typedef struct {
    double sum; /* sum of dH */
    long count;
} dh_record;

typedef struct evolution {
    const lattice *lat;
    double xi_mom;   /* anisotropy of the momenta; 0: 1 */
    int anisotropic; /* forces of links in space and in time are recorded apart */
    field *links, *momenta, *force;
    field *displaced; /* links kept while a force-gradient step looks ahead; made when a scheme needs it */
    action *actions[MAX_ACTIONS];
    int nactions;
    level levels[MAX_LEVELS];
    int nlevels;
    force_record forces[MAX_ACTIONS], totals[MAX_ACTIONS]; /* statistics of this trajectory; of all that ended */
    dh_record dh[2];          /* dH of trajectories that came to their end: of the warm-up, and with an accept step */
    int (*interrupted)(void); /* asked before each step of the coarsest level; collective; may be null */
} evolution;

const scheme *scheme_find(const char *name);
const char *scheme_name(const scheme *s);
const char *scheme_help(const scheme *s);
/* Evaluations of the force, and drifts, in one of many steps; and whether forces are taken at displaced links. */
int scheme_forces(const scheme *s);
int scheme_drifts(const scheme *s);
int scheme_looks_ahead(const scheme *s);
int scheme_order(const scheme *s); /* order of dH in the step size, for a trajectory of fixed length */
/* Schemes by number, null after the last. */
const scheme *scheme_number(int i);

/* Evaluations of the force of each level in a trajectory: the least that the schemes allow. In floating point, as nested
 * levels may have more than an integer holds. */
void levels_forces(const level *levels, int n, double forces[MAX_LEVELS]);

enum { EVOLVE_DONE, EVOLVE_FAILED, EVOLVE_INTERRUPTED };
/* Integrates links and momenta over `time`. EVOLVE_FAILED: an action's solver failed, its `trouble` says why. */
int evolve(evolution *e, double time);

#endif
