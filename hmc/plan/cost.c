#include "hmc/plan/cost.h"

#include <math.h>
#include <string.h>

#include "hmc/actions/action_kind.h"
#include "hmc/integrate/integrator.h"
#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "solvers/solver.h"

#define SUMS_OF_CG 2
/* Links of a face site: four of 18 doubles, two layers. */
#define LINK_FACE_BYTES (2 * 4 * 18 * 8.0)

static cost_part gauge_part(const parameters *p, double forces, double volume)
{
    return (cost_part){.action = "gauge",
                       .forces = forces,
                       .rest = forces * volume * gauge_force_flops(gauge_params_weights(&p->gauge)),
                       .link_exchanges = forces,
                       .link_face_bytes = LINK_FACE_BYTES,
                       .rest_op = CALIBRATION_GAUGE_FORCE,
                       .prec = PREC_DOUBLE};
}

/* Bytes of a face site of one parity in an exchange of a hop: half spinors, or color vectors of as many layers as the hop
 * reaches, in all slices. */
static double hop_face_bytes(const quark_params *f, precision prec)
{
    static const double bytes[PREC_COUNT] = {[PREC_DOUBLE] = 8, [PREC_SINGLE] = 4, [PREC_HALF] = 2, [PREC_QUARTER] = 1};
    const quark_kind *kind = quark_kind_of(f);
    const int layers = kind->spins == 1 && kind->reach && kind->reach(f) > 2 ? 3 : 1;
    return 0.5 * layers * (kind->slices ? kind->slices(f) : 1 + kind->doublet) * (kind->spins == 1 ? 6 : 12) *
           bytes[prec];
}

static cost_part term_part(const parameters *p, const action_term *t, double forces, double volume, double iterations)
{
    const action_kind *kind = action_kind_of(&t->action->p);
    const quark_kind *of = quark_kind_of(&t->quark->p);
    const solver_settings *by = &parameters_attempt(p, t->solvers[USE_FORCE], 0)->p;
    const precision prec = solver_precision(by, PREC_DOUBLE);
    const double solves = forces + SOLVES_BESIDE_FORCES, hops = of->spins == 1 ? 2 : 4;
    const double rest = kind->force_flops(t, 0);
    const double solve = kind->force_flops(t, iterations * iterations_work(by)) - rest;
    return (cost_part){.action = t->name,
                       .forces = forces,
                       .solve = solves * volume * solve,
                       .rest = forces * volume * rest,
                       .solve_op = of->solve_op,
                       .rest_op = of->force_op,
                       .prec = prec,
                       .exchanges = solves * iterations * iterations_exchanges(by) * hops,
                       .sums = solves * iterations * SUMS_OF_CG,
                       .face_bytes = hop_face_bytes(&t->quark->p, prec),
                       .link_exchanges = forces,
                       .link_face_bytes = LINK_FACE_BYTES};
}

cost_part cost_solves(const char *name, const quark_params *f, const solver_settings *by, double volume,
                      double iterations, double solves)
{
    const quark_kind *of = quark_kind_of(f);
    const precision prec = solver_precision(by, PREC_DOUBLE);
    const double hops = of->spins == 1 ? 2 : 4;
    return (cost_part){.action = name,
                       .solve = solves * volume * iterations * iterations_work(by) * of->normal_flops(f),
                       .solve_op = of->solve_op,
                       .rest_op = CALIBRATION_GAUGE_FORCE,
                       .prec = prec,
                       .exchanges = solves * iterations * iterations_exchanges(by) * hops,
                       .sums = solves * iterations * SUMS_OF_CG,
                       .face_bytes = hop_face_bytes(f, prec)};
}

int cost_parts(const parameters *p, const iterations_plan *iterations, cost_part parts[MAX_ACTIONS])
{
    double volume = 1, counts[MAX_LEVELS];
    level levels[MAX_LEVELS] = {0};
    int n = 0;
    for (int d = 0; d < 4; d++) volume *= p->lattice.size[d];
    for (int l = 0; l < p->nlevels; l++) {
        levels[l].scheme = scheme_number(p->levels[l].scheme);
        levels[l].steps = p->levels[l].steps;
    }
    levels_forces(levels, p->nlevels, counts);
    for (int l = 0; l < p->nlevels; l++) {
        char word[128];
        for (int w = 0; param_word(p->levels[l].actions, w, word, sizeof word) && n < MAX_ACTIONS; w++) {
            if (!strcmp(word, "gauge")) parts[n++] = gauge_part(p, counts[l], volume);
            const action_term *t = parameters_term(p, word);
            if (t) parts[n++] = term_part(p, t, counts[l], volume, iterations->solve[t - p->terms]);
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

/* Rate of one rank, or that of the gauge force where the calibration has none. */
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

double cost_network(const cost_part *part, const calibration *c, const lattice *lat)
{
    const double latency = 1e-6 * c->network.latency, rate = 1e9 * c->network.bandwidth;
    double seconds = 0, ranks = 1;
    if (!(rate > 0)) return 0;
    for (int d = 0; d < 4; d++) {
        const double face = (double)lat->local_volume / lat->local[d];
        ranks *= lat->grid[d];
        if (lat->grid[d] == 1) continue;
        seconds += part->exchanges * (latency + 2 * face * part->face_bytes / rate);
        seconds += part->link_exchanges * (latency + 2 * face * part->link_face_bytes / rate);
    }
    return seconds + part->sums * ceil(log2(ranks)) * latency;
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
    for (int i = 0; i < n; i++) {
        if (parts[i].solve_op) count = add_need(needs, count, parts[i].solve_op, parts[i].prec);
        count = add_need(needs, count, parts[i].rest_op, PREC_DOUBLE);
    }
    return count;
}
