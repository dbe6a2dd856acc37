#include "hmc/build/cost.h"

#include <string.h>

#include "hmc/evolve/fermion_kind.h"
#include "hmc/evolve/integrator.h"
#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "solvers/solver.h"

#define SOLVES_BESIDE_FORCES 2 /* in the heat bath, or at the start, and in the accept step */

static cost_part gauge_part(const parameters *p, double forces, double volume)
{
    return (cost_part){.action = "gauge",
                       .forces = forces,
                       .rest = forces * volume * gauge_force_flops(gauge_params_weights(&p->gauge)),
                       .rest_op = CALIBRATION_GAUGE_FORCE,
                       .prec = PREC_DOUBLE};
}

static cost_part fermion_part_of(const parameters *p, const named_fermion *f, double forces, double volume,
                                 double iterations)
{
    const fermion_kind *kind = fermion_kind_find(f->p.kind);
    const double rest = kind->force_flops(&f->p, 0), solve = kind->force_flops(&f->p, iterations) - rest;
    return (cost_part){.action = f->name,
                       .forces = forces,
                       .solve = (forces + SOLVES_BESIDE_FORCES) * volume * solve,
                       .rest = forces * volume * rest,
                       .solve_op = kind->solve_op,
                       .rest_op = kind->force_op,
                       .prec = solver_precision(&parameters_attempt(p, f->p.solver, 0)->p, PREC_DOUBLE)};
}

int cost_parts(const parameters *p, double iterations, cost_part parts[MAX_ACTIONS])
{
    double volume = 1, counts[MAX_LEVELS];
    level levels[MAX_LEVELS] = {0};
    int n = 0;
    for (int d = 0; d < 4; d++) volume *= p->lattice.size[d];
    for (int l = 0; l < p->nlevels; l++) {
        levels[l].scheme = scheme_find(p->levels[l].scheme);
        levels[l].steps = p->levels[l].steps;
    }
    levels_forces(levels, p->nlevels, counts);
    for (int l = 0; l < p->nlevels; l++) {
        char word[128];
        for (int w = 0; param_word(p->levels[l].actions, w, word, sizeof word) && n < MAX_ACTIONS; w++) {
            if (!strcmp(word, "gauge")) parts[n++] = gauge_part(p, counts[l], volume);
            for (int i = 0; i < p->nfermions; i++)
                if (!strcmp(word, p->fermions[i].name))
                    parts[n++] = fermion_part_of(p, &p->fermions[i], counts[l], volume, iterations);
        }
    }
    return n;
}

double cost_flops(const cost_part *parts, int n)
{
    double flops = 0;
    for (int i = 0; i < n; i++) flops += parts[i].solve + parts[i].rest;
    return flops;
}

/* Of one rank. */
static double rate_of(const calibration *c, const char *op, precision prec)
{
    const double rate = calibration_rate(c, op, prec);
    return rate > 0 ? rate : calibration_rate(c, CALIBRATION_GAUGE_FORCE, PREC_DOUBLE);
}

double cost_seconds(const cost_part *part, const calibration *c, int ranks)
{
    double seconds = part->rest / (ranks * rate_of(c, part->rest_op, PREC_DOUBLE));
    if (part->solve_op) seconds += part->solve / (ranks * rate_of(c, part->solve_op, part->prec));
    return seconds;
}

static int add_need(calibration_need *needs, int n, const char *op, precision prec)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(needs[i].op, op) && needs[i].prec == prec) return n;
    REQUIRE(n < CALIBRATION_MOST, "more than %d rates", CALIBRATION_MOST);
    needs[n] = (calibration_need){op, prec};
    return n + 1;
}

int cost_needs(const cost_part *parts, int n, calibration_need needs[CALIBRATION_MOST])
{
    int count = add_need(needs, 0, CALIBRATION_GAUGE_FORCE, PREC_DOUBLE);
    for (int i = 0; i < n; i++)
        if (parts[i].solve_op) count = add_need(needs, count, parts[i].solve_op, parts[i].prec);
    return count;
}
