/* Cost of a trajectory, before it is run: floating-point operations of its actions by what does them, messages between
 * ranks, and from the rates of a machine its time. Solves take as many iterations as the caller says (iterations.h). */
#ifndef PLAQ_COST_H
#define PLAQ_COST_H

#include "hmc/bench/calibration.h"
#include "hmc/plan/iterations.h"
#include "hmc/assemble/parameters.h"

typedef struct {
    const char *action; /* name of the action, which belongs to the parameters */
    double forces;      /* evaluations of its force in a trajectory */
    double solve, rest; /* floating-point operations in a trajectory, all ranks: of solves, and of all else of forces */
    const char *solve_op, *rest_op; /* operations of plaq bench that are like them; solve_op is null without solves */
    precision prec;                 /* precision of the iterations of its force's solver */
    /* Halo exchanges and sums over ranks of its solves, and exchanges of links of all else, in a trajectory; bytes for a
     * site of a face in one of both. */
    double exchanges, sums, link_exchanges, face_bytes, link_face_bytes;
} cost_part;

/* The actions on the levels, but for determinants of clover terms; how many. Beside its forces an action with solves has
 * two more, in the heat bath and in the accept step. */
int cost_parts(const parameters *p, const iterations_plan *iterations, cost_part parts[MAX_ACTIONS]);
/* Cost of `solves` solves of a quark by a solver, of these iterations each, on a lattice of `volume` sites. */
cost_part cost_solves(const char *name, const quark_params *f, const solver_settings *by, double volume,
                      double iterations, double solves);
double cost_flops(const cost_part *parts, int n);
/* Seconds of a part on so many ranks. A rate that the calibration lacks is that of a wider precision, or else of the gauge
 * force. */
double cost_seconds(const cost_part *part, const calibration *c, int ranks);
/* Seconds of its messages on this lattice, none of which hides behind computing: an exchange takes in each split direction
 * the latency, and two faces over the bandwidth; a sum the latency for each doubling of ranks. 0 where the calibration has
 * no network. */
double cost_network(const cost_part *part, const calibration *c, const lattice *lat);

/* Rates to measure for these parts: of the gauge force, and of the solve and the rest of each part. Returns how many. */
int cost_needs(const cost_part *parts, int n, calibration_need needs[CALIBRATION_MOST]);

#endif
