/* plaq verify: proves on the lattice, ranks and parameters of an input file what a run relies on.
 *
 *   force       F^a P^a = dS/dt along exp(t P) U for random P, by central differences; their error falls as t^2
 *   reversal    evolving forwards, turning the momenta, and evolving again leads back to the start
 *   order       dH of a trajectory falls with the step as the scheme says
 *   solver      true residuals on a random source */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/commands.h"
#include "hmc/simulation.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/gauge.h"
#include "kernels/lattice/comm.h"
#include "kernels/spinor.h"

/* Links this far from one are rough enough to test on and smooth enough for every solver. */
#define ROUGHNESS 0.4

typedef struct {
    simulation *s;
    int json, failures;
} verifier;

static void report(verifier *v, const char *what, const char *of, double found, const char *wanted, int ok)
{
    v->failures += !ok;
    if (comm_rank() != 0) return;
    if (v->json) {
        json j = json_begin(stdout);
        json_string(&j, "check", what);
        json_string(&j, "of", of);
        json_real(&j, "value", found);
        json_string(&j, "wanted", wanted);
        json_bool(&j, "pass", ok);
        json_end(&j);
    } else {
        printf("%-34s %-20s %14.6g   %-28s %s\n", what, of, found, wanted, ok ? "pass" : "FAIL");
        fflush(stdout);
    }
}

static random_key key_of(const simulation *s, uint32_t number)
{
    return (random_key){(uint64_t)s->p->run.seed, number};
}

/* S of one action with the links moved by t along the momenta. */
static double moved_value(simulation *s, action *a, double t, const field *start)
{
    double value = NAN;
    gauge_update(s->links, t, s->e.momenta);
    const int failed = action_value(a, &value);
    field_copy(s->links, start);
    return failed ? NAN : value;
}

static void verify_force(verifier *v, action *a)
{
    simulation *s = v->s;
    field *start = field_like(s->links);
    field_copy(start, s->links);
    momenta_random(s->e.momenta, (uint64_t)s->p->run.seed, RANDOM_TEST, (uint32_t)a->purpose);
    action_refresh(a, key_of(s, 0));
    momenta_zero(s->e.force);
    const int failed = action_force(a, s->e.force);
    const double analytic = failed ? NAN : 2 * momenta_dot(s->e.force, s->e.momenta);
    /* A step short enough for the leading error and long enough to rise above rounding and solver tolerance. */
    const double h = 0.01;
    double error[2];
    for (int i = 0; i < 2; i++) {
        const double t = h / (1 << i);
        const double d = (moved_value(s, a, t, start) - moved_value(s, a, -t, start)) / (2 * t);
        error[i] = d - analytic;
    }
    const double order = log2(fabs(error[0] / error[1]));
    const double best = fabs((4 * error[1] - error[0]) / 3) / fabs(analytic);
    report(v, "force is the derivative, relative", a->name, best, "below 1e-5", best < 1e-5);
    report(v, "order of its error in the step", a->name, order, "2 +- 0.15", fabs(order - 2) < 0.15);
    field_destroy(start);
}

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

static void draw(simulation *s, uint32_t number)
{
    momenta_random(s->e.momenta, (uint64_t)s->p->run.seed, RANDOM_MOMENTA, number);
    for (int i = 0; i < s->e.nactions; i++) action_refresh(s->e.actions[i], key_of(s, number));
}

/* H, or NaN when a solver failed. */
static double energy(simulation *s)
{
    double values[MAX_ACTIONS], h;
    const action *who;
    if (evolution_values(&s->e, values, &h, &who)) return NAN;
    for (int i = 0; i < s->e.nactions; i++) h += values[i];
    return h;
}

static void verify_reversal(verifier *v)
{
    simulation *s = v->s;
    field *start = field_like(s->links), *momenta = field_like(s->e.momenta);
    field_copy(start, s->links);
    draw(s, 1);
    field_copy(momenta, s->e.momenta);
    const double before = energy(s), length = s->p->run.length;
    int failed = evolve(&s->e, length);
    momenta_add(s->e.momenta, -2, s->e.momenta);
    failed = failed || evolve(&s->e, length);
    momenta_add(s->e.momenta, -2, s->e.momenta);
    const double dh = failed ? NAN : energy(s) - before;
    const double links = failed ? NAN : difference(s->links, start), back = difference(s->e.momenta, momenta);
    report(v, "reversal: links, r.m.s.", "trajectory", links, "below 1e-9", links < 1e-9);
    report(v, "reversal: momenta, r.m.s.", "trajectory", back, "below 1e-8", back < 1e-8);
    report(v, "reversal: change of H, relative", "trajectory", fabs(dh / before), "below 1e-10",
           fabs(dh / before) < 1e-10);
    field_copy(s->links, start);
    field_destroy(momenta);
    field_destroy(start);
}

/* Root mean square of dH over a few draws, with all steps of the coarsest level multiplied. */
static double rms_dh(simulation *s, const field *start, int factor, int draws)
{
    double sum = 0;
    const int steps = s->e.levels[0].steps;
    s->e.levels[0].steps = steps * factor;
    for (int i = 0; i < draws; i++) {
        draw(s, (uint32_t)(10 + i));
        const double before = energy(s);
        const int failed = evolve(&s->e, s->p->run.length);
        const double dh = failed ? NAN : energy(s) - before;
        sum += dh * dh;
        field_copy(s->links, start);
    }
    s->e.levels[0].steps = steps;
    return sqrt(sum / draws);
}

static void verify_order(verifier *v)
{
    simulation *s = v->s;
    field *start = field_like(s->links);
    field_copy(start, s->links);
    int order = 100;
    for (int l = 0; l < s->e.nlevels; l++)
        if (scheme_order(s->e.levels[l].scheme) < order) order = scheme_order(s->e.levels[l].scheme);
    /* Once the step is short enough for the leading order, halving it divides dH by 2^order. */
    double found = 0, dh = rms_dh(s, start, 1, 3);
    report(v, "dH of a trajectory, r.m.s.", "as in the input", dh, "finite", isfinite(dh));
    for (int factor = 1; factor <= 4; factor *= 2) {
        const double half = rms_dh(s, start, 2 * factor, 3);
        found = log2(dh / half);
        dh = half;
        if (fabs(found - order) < 0.3) break;
    }
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%d +- 0.3", order);
    report(v, "order of dH in the step", "trajectory", found, wanted, fabs(found - order) < 0.3);
    field_destroy(start);
}

static void verify_solvers(verifier *v)
{
    simulation *s = v->s;
    for (int f = 0; f < s->p->nfermions; f++) {
        linop *normal = normal_create(wilson_schur(s->wilsons[f]));
        field *b = linop_vector(normal, 1), *x = field_like(b);
        spinor_random(b, (uint64_t)s->p->run.seed, RANDOM_SOURCE, 0);
        for (int i = 0; i < s->p->nsolvers; i++) {
            const solver_settings *settings = s->solvers[i].settings;
            char of[160], wanted[64];
            field_clear(x);
            const solve_result r = solver_solve(settings, normal, x, b);
            snprintf(of, sizeof of, "%s of %s", s->solvers[i].name, s->p->fermions[f].name);
            snprintf(wanted, sizeof wanted, "below %.1e", settings->tolerance);
            report(v, "solver: true residual", of, r.residual, wanted,
                   r.status == SOLVE_CONVERGED && r.residual <= 1.5 * settings->tolerance);
            report(v, "solver: iterations", of, r.iterations, "converged", r.status == SOLVE_CONVERGED);
        }
        field_destroy(x);
        field_destroy(b);
        linop_destroy(normal);
    }
}

int command_verify(int argc, char **argv)
{
    verifier v = {0};
    const command_flag flags[] = {{"--json", &v.json, NULL, "one JSON object a line instead of a table"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 1, 2);
    const char *config = a.nplain > 1 ? a.plain[1] : NULL;
    log_keep_stdout_clean(v.json);
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, NEED_GAUGE | NEED_INTEGRATOR);
    v.s = simulation_create(p);
    if (config) {
        simulation_read(v.s->links, config);
    } else if (!strcmp(p->run.start, "file")) {
        simulation_start(v.s);
    } else {
        momenta_random(v.s->e.momenta, (uint64_t)p->run.seed, RANDOM_START, 0);
        gauge_update(v.s->links, ROUGHNESS, v.s->e.momenta);
    }
    if (comm_rank() == 0 && !v.json) printf("%-34s %-20s %14s   %-28s\n", "check", "of", "value", "wanted");
    for (int i = 0; i < v.s->e.nactions; i++) verify_force(&v, v.s->e.actions[i]);
    verify_solvers(&v);
    verify_reversal(&v);
    verify_order(&v);
    if (comm_rank() == 0 && !v.json) printf("%s\n", v.failures ? "Some checks FAILED." : "All checks passed.");
    simulation_destroy(v.s);
    parameters_free(p);
    command_arguments_free(&a);
    return v.failures ? EXIT_CHECK_FAILED : 0;
}
