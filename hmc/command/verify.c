/* plaq verify: proves on the lattice, ranks and parameters of an input file what a run relies on.
 *
 *   force       F^a P^a = dS/dt along exp(t P) U for random P, by central differences; their error falls as t^2
 *   reversal    evolving forwards, turning the momenta, and evolving again leads back to the start, forces by the
 *               reversal_solver of each fermion. Guesses, set-ups and measured spectra are others on the way back: what they
 *               leave is of the size of tolerances, and a fault of an integrator far larger
 *   order       dH of a trajectory falls with the step as the scheme says
 *   precision   S by solves to the tolerance of the accept step, and S that the heat bath takes for granted, are those of
 *               solves to a much smaller tolerance: an error of S is one of dH, and grows with the volume
 *   solver      true residuals on a random source
 *
 * F.P may be close to zero by accident, so its error is judged against what F.P is for random P: |F| |P| / sqrt(n), n
 * numbers in P. An order that cannot be seen, because steps are too long for the leading power or errors are nothing
 * but rounding, proves nothing and is no failure: the verdict is "unclear" and says why. Nor is it one where the force is
 * no derivative on purpose, because it bounds singular values of HISQ links. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/eigenvectors.h"
#include "hmc/assemble/simulation.h"
#include "hmc/command/commands.h"
#include "hmc/actions/action_kind.h"
#include "hmc/integrate/reversal.h"
#include "hmc/plan/forecast.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"

/* Links this far from one are rough enough to test on and smooth enough for every solver. */
#define ROUGHNESS 0.4

/* Error that dH may have, as a trajectory is accepted with probability exp(-dH). */
#define VALUE_ERROR 0.01

typedef struct {
    simulation *s;
    parameters *p;
    int json, failures, unclear;
} verifier;

typedef enum { PASS, FAIL, UNCLEAR } verdict;

static verdict verdict_of(int ok)
{
    return ok ? PASS : FAIL;
}

static void report(verifier *v, const char *what, const char *of, double found, const char *wanted, verdict is)
{
    static const char *const names[] = {"pass", "fail", "unclear"}, *const table[] = {"pass", "FAIL", "unclear"};
    v->failures += is == FAIL;
    v->unclear += is == UNCLEAR;
    if (comm_rank() != 0) return;
    if (v->json) {
        json j = json_begin(stdout);
        json_string(&j, "check", what);
        json_string(&j, "of", of);
        json_real(&j, "value", found);
        json_string(&j, "wanted", wanted);
        json_bool(&j, "pass", is == PASS);
        json_string(&j, "verdict", names[is]);
        json_end(&j);
    } else {
        printf("%-34s %-20s %14.6g   %-42s %s\n", what, of, found, wanted, table[is]);
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

/* Draws the random fields of an action; nonzero when that failed, with the reason in the log. */
static int refresh(simulation *s, action *a, uint32_t number)
{
    a->failures = 0;
    if (!action_refresh(a, key_of(s, number))) return 0;
    log_warn("%s", a->trouble);
    return 1;
}

/* ---- forces ---- */

/* Steps are tried from FIRST_STEP down, each half of the one before, until the error of the central difference falls
 * fourfold and little is left of it; and where rounding hides that, from LONG_STEP. */
#define FIRST_STEP 0.01
#define LONG_STEP 0.08
#define HALVINGS 5
/* Errors relative to F.P for random P. An error below ROUNDING has no order. */
#define ROUNDING 1e-9
#define FORCE_ERROR 1e-5

typedef struct {
    simulation *s;
    action *a;
    const field *start;
    double analytic, scale; /* F.P, and its size for random P */
} force_test;

/* Errors of central differences at a step and its half. */
typedef struct {
    double at[2], order, rest; /* rest: what is left of them, relative, when the leading error is taken away */
} step_pair;

static double error_at(const force_test *t, double h)
{
    const double up = moved_value(t->s, t->a, h, t->start), down = moved_value(t->s, t->a, -h, t->start);
    return (up - down) / (2 * h) - t->analytic;
}

static step_pair pair_of(const force_test *t, double error, double of_half)
{
    return (step_pair){{error, of_half}, log2(fabs(error / of_half)), fabs((4 * of_half - error) / 3) / t->scale};
}

static int shows_order(const step_pair *p)
{
    return fabs(p->order - 2) < 0.15;
}

/* A smaller rest proves more where both show the order 2; else an order closer to 2 does. */
static int proves_more(const step_pair *p, const step_pair *best)
{
    if (shows_order(p) && shows_order(best)) return p->rest < best->rest;
    return !(fabs(p->order - 2) >= fabs(best->order - 2));
}

static step_pair find_order(const force_test *t)
{
    const double from[2] = {FIRST_STEP, LONG_STEP};
    step_pair best = {{NAN, NAN}, NAN, NAN};
    for (int k = 0; k < 2; k++) {
        double last = error_at(t, from[k]);
        for (int i = 1; i <= (k == 0 ? HALVINGS : 3); i++) {
            const step_pair p = pair_of(t, last, error_at(t, from[k] / (1 << i)));
            if (proves_more(&p, &best)) best = p;
            if ((shows_order(&best) && best.rest < FORCE_ERROR) || isnan(p.at[1])) return best;
            last = p.at[1];
        }
    }
    return best;
}

static void verify_force(verifier *v, action *a)
{
    simulation *s = v->s;
    field *start = field_like(s->links);
    field_copy(start, s->links);
    momenta_random(s->e.momenta, (uint64_t)s->p->run.seed, RANDOM_TEST, (uint32_t)a->purpose);
    momenta_zero(s->e.force);
    const double filtered = quark_set_filtered(s->quarks);
    const int failed = refresh(s, a, 0) || action_force(a, s->e.force),
              bounded = quark_set_filtered(s->quarks) > filtered;
    const double norms = sqrt(momenta_norm2(s->e.force) * momenta_norm2(s->e.momenta));
    const double scale = 2 * norms / sqrt(32.0 * (double)s->lat->volume);
    const force_test t = {s, a, start, failed ? NAN : 2 * momenta_dot(s->e.force, s->e.momenta), scale};
    if (!failed && scale == 0) { /* beta = 0, say */
        const double error = fabs(error_at(&t, FIRST_STEP));
        report(v, "no force, and no derivative", a->name, error, "below 1e-9", verdict_of(error < ROUNDING));
        field_destroy(start);
        return;
    }
    const step_pair p = failed ? (step_pair){{NAN, NAN}, NAN, NAN} : find_order(&t);
    const double largest = fmax(fabs(p.at[0]), fabs(p.at[1])) / scale;
    const double best = largest < ROUNDING ? largest : p.rest; /* rounding has no leading error to take away */
    const int shows = shows_order(&p), agrees = best < FORCE_ERROR;
    if (bounded && isfinite(best) && !agrees) {
        report(v, "force is the derivative, relative", a->name, best, "below 1e-5, but HISQ links are filtered",
               UNCLEAR);
        field_destroy(start);
        return;
    }
    report(v, "force is the derivative, relative", a->name, best, "below 1e-5", verdict_of(agrees));
    /* Small errors without an order are rounding or the solver's tolerance. */
    if (shows || !agrees) report(v, "order of its error in the step", a->name, p.order, "2 +- 0.15", verdict_of(shows));
    else report(v, "order of its error in the step", a->name, p.order, "2, but rounding hides it", UNCLEAR);
    field_destroy(start);
}

/* ---- trajectories ---- */

static int draw(simulation *s, uint32_t number)
{
    int failed = 0;
    momenta_random(s->e.momenta, (uint64_t)s->p->run.seed, RANDOM_MOMENTA, number);
    for (int i = 0; i < s->e.nactions; i++) failed = refresh(s, s->e.actions[i], number) || failed;
    return failed;
}

/* H, or NaN when a solver failed. */
static double energy(simulation *s)
{
    double values[MAX_ACTIONS], h;
    const action *who;
    if (evolution_values(&s->e, values, &h, &who)) {
        log_warn("%s", who->trouble);
        return NAN;
    }
    for (int i = 0; i < s->e.nactions; i++) h += values[i];
    return h;
}

static void set_check_reversibility(simulation *s, int check_reversibility)
{
    for (int i = 0; i < s->e.nactions; i++) s->e.actions[i]->check_reversibility = check_reversibility;
}

static void verify_reversal(verifier *v)
{
    simulation *s = v->s;
    set_check_reversibility(s, 1);
    const reversal r = reversal_measure(&s->e, key_of(s, 1), s->p->run.length);
    set_check_reversibility(s, 0);
    if (r.failed) log_warn("%s", r.failed->trouble);
    report(v, "reversal: links, r.m.s.", "trajectory", r.links, "below 1e-6", verdict_of(r.links < 1e-6));
    report(v, "reversal: momenta, r.m.s.", "trajectory", r.momenta, "below 1e-5", verdict_of(r.momenta < 1e-5));
    report(v, "reversal: change of H", "trajectory", fabs(r.dh), "below 0.01", verdict_of(fabs(r.dh) < VALUE_ERROR));
}

/* Root mean square of dH over a few draws, with all steps of the coarsest level multiplied. */
static double rms_dh(simulation *s, const field *start, int factor, int draws)
{
    double sum = 0;
    const int steps = s->e.levels[0].steps;
    s->e.levels[0].steps = steps * factor;
    for (int i = 0; i < draws; i++) {
        int failed = draw(s, (uint32_t)(10 + i));
        const double before = failed ? NAN : energy(s);
        failed = failed || evolve(&s->e, s->p->run.length);
        const double dh = failed ? NAN : energy(s) - before;
        sum += dh * dh;
        field_copy(s->links, start);
    }
    s->e.levels[0].steps = steps;
    return sqrt(sum / draws);
}

/* dH with the step divided by 1, 2, 4, ... until halving it divides dH by 2^order. */
#define MOST_DIVIDED 16
/* r.m.s. dH above which the leading order need not show, and relative to H below which it is rounding. */
#define DH_LONG 0.05
#define DH_ROUNDING 1e-13

static void verify_order(verifier *v)
{
    simulation *s = v->s;
    field *start = field_like(s->links);
    field_copy(start, s->links);
    int order = 100;
    for (int l = 0; l < s->e.nlevels; l++)
        if (scheme_order(s->e.levels[l].scheme) < order) order = scheme_order(s->e.levels[l].scheme);
    const double filtered = quark_set_filtered(s->quarks), floor = draw(s, 1) ? NAN : DH_ROUNDING * fabs(energy(s));
    double found = NAN, dh = rms_dh(s, start, 1, 3), before = dh;
    report(v, "dH of a trajectory, r.m.s.", "as in the input", dh, "finite", verdict_of(isfinite(dh)));
    for (int factor = 2; factor <= MOST_DIVIDED && dh > floor; factor *= 2) {
        before = dh;
        dh = rms_dh(s, start, factor, 3);
        found = log2(before / dh);
        if (fabs(found - order) < 0.3) break;
    }
    char wanted[64];
    const int shows = fabs(found - order) < 0.3;
    const char *why = shows                                      ? ""
                      : quark_set_filtered(s->quarks) > filtered ? ", but HISQ links are filtered"
                      : before > DH_LONG                         ? ", but the step is too long for it to show"
                      : dh <= 100 * floor                        ? ", but dH is nothing but rounding"
                                                                 : "";
    snprintf(wanted, sizeof wanted, "%d +- 0.3%s", order, why);
    report(v, "order of dH in the step", "trajectory", found, wanted,
           *why && isfinite(dh) ? UNCLEAR : verdict_of(shows));
    field_destroy(start);
}

/* True if solves by the solver of this name may come to `wanted`: it is that one, or a fallback. */
static int comes_to(const simulation *s, const char *solver, const named_solver *wanted)
{
    const named_settings *at;
    for (int i = 0; (at = parameters_attempt(s->p, solver, i)); i++)
        if (!strcmp(at->name, wanted->name)) return 1;
    return 0;
}

/* True if solves with a term's operator come to this solver. The heat bath of a ratio solves with the denominator's. */
static int uses_solver(const simulation *s, const action_term *t, const named_solver *wanted)
{
    for (int use = 0; use < SOLVER_USES; use++)
        if ((use != USE_HEAT_BATH || action_kind_of(&t->action->p)->rational || !action_is_ratio(t)) &&
            comes_to(s, t->solvers[use], wanted))
            return 1;
    const action_term *before = t - 1;
    return t->factor > 0 && comes_to(s, before->solvers[USE_HEAT_BATH], wanted);
}

/* ---- precision ---- */

/* S by solves to a part of their tolerance; NaN where they do not come to it. */
static double tightened_value(const verifier *v, action *a, double part)
{
    double kept[MAX_NAMED], value = NAN;
    parameters *p = v->p;
    for (int i = 0; i < p->nsolvers; i++) {
        int used = 0;
        for (int t = 0; t < p->nterms; t++)
            used = used || comes_to(v->s, p->terms[t].solvers[USE_ACTION], &v->s->solvers[i]);
        kept[i] = p->solvers[i].p.tolerance;
        if (used) p->solvers[i].p.tolerance *= part;
    }
    const int failed = action_value(a, &value);
    for (int i = 0; i < p->nsolvers; i++) p->solvers[i].p.tolerance = kept[i];
    return failed ? NAN : value;
}

static void report_precision(verifier *v, const char *what, const action *a, double value, double exact)
{
    const double error = fabs(value - exact);
    const char *wanted = isnan(exact)          ? "below 0.01; no tighter solve converges"
                         : error < VALUE_ERROR ? "below 0.01"
                                               : "below 0.01; give a smaller tolerance";
    report(v, what, a->name, error, wanted, isnan(exact) ? UNCLEAR : verdict_of(error < VALUE_ERROR));
}

static void verify_precision(verifier *v, action *a)
{
    double value = NAN;
    if (refresh(v->s, a, 0)) return;
    action_reset_counts(a);
    if (action_value(a, &value)) log_warn("%s", a->trouble);
    if (a->solves == 0) return;
    double exact = tightened_value(v, a, 0.01);
    if (isnan(exact)) exact = tightened_value(v, a, 0.1);
    report_precision(v, "error of S: accept step", a, value, exact);
    if (a->start_known) report_precision(v, "error of S: heat bath", a, a->start_value, exact);
}

/* Each solver on the operator that it has in the run. */
static void verify_solvers(verifier *v)
{
    simulation *s = v->s;
    for (int t = 0; t < s->p->nterms; t++) {
        const action_term *term = &s->p->terms[t];
        const fermion *quark = quark_set_get(s->quarks, term->light, term->mass);
        field *b = linop_vector(quark->normal, 1), *x = field_like(b);
        vector_random(b, (uint64_t)s->p->run.seed, RANDOM_SOURCE, 0);
        for (int i = 0; i < s->p->nsolvers; i++) {
            const solver_settings *settings = s->solvers[i].settings;
            char of[160], wanted[64];
            if (!uses_solver(s, term, &s->solvers[i])) continue;
            field_clear(x);
            solver *by = solver_create(settings, fermion_system(quark, solver_needs_positive(settings)));
            const solve_result r = solver_solve(by, x, b, NULL);
            solver_destroy(by);
            snprintf(of, sizeof of, "%s of %s", s->solvers[i].name, term->name);
            snprintf(wanted, sizeof wanted, "below %.1e", settings->tolerance);
            report(v, "solver: true residual", of, r.residual, wanted,
                   verdict_of(r.status == SOLVE_CONVERGED && r.residual <= 1.5 * settings->tolerance));
            report(v, "solver: iterations", of, r.iterations, "converged", verdict_of(r.status == SOLVE_CONVERGED));
        }
        field_destroy(x);
        field_destroy(b);
    }
}

static void verify_forces(verifier *v)
{
    for (int i = 0; i < v->s->e.nactions; i++) verify_force(v, v->s->e.actions[i]);
}

static void verify_precisions(verifier *v)
{
    for (int i = 0; i < v->s->e.nactions; i++) verify_precision(v, v->s->e.actions[i]);
}

static const struct {
    const char *name;
    void (*verify)(verifier *v);
} checks[] = {{"force", verify_forces},
              {"precision", verify_precisions},
              {"solver", verify_solvers},
              {"reversal", verify_reversal},
              {"order", verify_order}};
enum { CHECKS = sizeof checks / sizeof checks[0] };

int command_verify(int argc, char **argv)
{
    verifier v = {0};
    int ignore_recorded = 0;
    const char *only = NULL;
    const command_flag flags[] = {{"--only", NULL, &only,
                                   "checks to make, separated by commas: force,precision,solver,reversal,order; "
                                   "default all"},
                                  {"--json", &v.json, NULL, "one JSON object a line instead of a table"},
                                  FLAG_IGNORE_RECORDED(&ignore_recorded)};
    plain_arguments a = command_arguments(argc, argv, flags, 3, 1, 2);
    const char *names[CHECKS];
    for (int i = 0; i < CHECKS; i++) names[i] = checks[i].name;
    command_check_words("verify", "--only", only, names, CHECKS);
    if (only && !*only) user_error("plaq verify: --only is empty: give some of force,precision,solver,reversal,order");
    const char *config = a.nplain > 1 ? a.plain[1] : NULL;
    log_keep_stdout_clean(v.json);
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, NEED_GAUGE | NEED_INTEGRATOR);
    command_set_log(p);
    eigenvectors_refuse(p, "verify");
    if (ignore_recorded && !config && !parameters_start_reads(p))
        user_error("plaq verify: --ignore-recorded is for a configuration, and none is read");
    v.p = p;
    v.s = simulation_create(p, memory_of_run);
    if (config) {
        char message[1024];
        if (simulation_read(v.s->links, config, ignore_recorded, NULL, message, sizeof message) ||
            simulation_refuse_walls(p, v.s->links, config, message, sizeof message))
            user_error("%s", message);
    } else if (parameters_start_reads(p)) {
        simulation_start(v.s, ignore_recorded);
    } else {
        momenta_random(v.s->e.momenta, (uint64_t)p->run.seed, RANDOM_START, 0);
        gauge_update(v.s->links, ROUGHNESS, v.s->e.momenta);
    }
    if (comm_rank() == 0 && !v.json) printf("%-34s %-20s %14s   %-42s\n", "check", "of", "value", "wanted");
    for (int i = 0; i < CHECKS; i++)
        if (command_listed(only, checks[i].name, "")) checks[i].verify(&v);
    if (comm_rank() == 0 && !v.json)
        printf("%s\n", v.failures  ? "Some checks FAILED."
                       : v.unclear ? "No check failed; some are unclear."
                                   : "All checks passed.");
    simulation_destroy(v.s);
    parameters_free(p);
    command_arguments_free(&a);
    return v.failures ? EXIT_CHECK_FAILED : 0;
}
