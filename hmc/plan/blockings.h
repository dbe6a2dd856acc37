/* Before a run or measurements: which aggregates the multigrid solvers of an input may have. */
#ifndef PLAQ_BLOCKINGS_H
#define PLAQ_BLOCKINGS_H

#include "hmc/assemble/parameters.h"
#include "kernels/field/field.h"

/* Tells, for every solver on coarse lattices and each of its levels, a few legal blockings of this lattice, which may be
 * planned, on its ranks, with the memory of the solver for each, and which of them the input has: in the log, and with
 * as_json as a JSON object each. `together`: memory is that of as many right-hand sides as are solved together; else of
 * one. A blocking of the input that is none ends the list of its solver; simulation_check_solvers() refuses it. Nothing
 * without a quark that has coarse lattices. */
void blockings_describe(const parameters *p, const lattice *lat, place where, int together, int as_json);

#endif
