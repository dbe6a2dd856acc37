#include "hmc/plan/iterations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/simulation.h"
#include "hmc/plan/forecast.h"
#include "hmc/quarks/quark_wilson.h"
#include "hmc/integrate/trajectory.h"
#include "hmc/record/stretch.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"

/* ---- solvers ---- */

/* The model of a solver, or of the preconditioner that decides how many iterations it takes. */
static const solver_model *model_of(const solver_settings *s)
{
    static const solver_model of_cg = {.part = 1, .least = 15, .work = 1, .exchanges = 1};
    if (s->inner) return model_of(s->inner);
    const solver_model *own = &solver_type_of(s)->model;
    return own->work > 0 ? own : &of_cg;
}

double iterations_work(const solver_settings *s)
{
    return model_of(s)->work;
}

double iterations_exchanges(const solver_settings *s)
{
    return model_of(s)->exchanges;
}

/* ---- model ---- */

/* Square root of the condition of M^+ M, even-odd. Staggered: (4 + m^2) / m^2 of free quarks with masses in the convention
 * of 2m + D. Wilson: 2 over the mass above the critical one, which is about -0.84 without a clover term and -0.32 with a
 * non-perturbative one, with a twisted mass at a right angle. Domain walls: 0.8 over the mass and a residual mass. */
static double root_condition(const quark_params *f, double mass)
{
    const quark_kind *kind = quark_kind_of(f);
    const double m = fmax(mass, 1e-4);
    if (kind->spins == 1) return sqrt(4 + m * m) / m;
    if (kind->slices) return 0.8 / (m + 1e-3);
    const int clover = wilson_keys_of(f) ? wilson_has_clover(f) : 1;
    const double mu = kind->twist ? kind->twist(f) : 0;
    return 2 / hypot(fmax(mass + (clover ? 0.32 : 0.84), 0.005), mu);
}

double iterations_of(const quark_params *f, double mass, const solver_settings *s)
{
    const solver_model *m = model_of(s);
    return fmax(m->least, m->part * 0.5 * root_condition(f, mass) * log(2 / s->tolerance));
}

iterations_plan iterations_model(const parameters *p)
{
    iterations_plan plan = {0};
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        const solver_settings *s = &parameters_attempt(p, t->solvers[USE_FORCE], 0)->p;
        plan.solve[i] = iterations_of(&t->light->p, t->mass, s);
    }
    return plan;
}

/* ---- history ---- */

/* True if every key that begins so has the same value in both texts of parameters. */
static int same_keys(const char *a, const char *b, const char *prefix)
{
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE], other[PARAM_TEXT_SIZE];
    const size_t n = strlen(prefix);
    for (const char *line = a; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        const size_t end = strcspn(line, " \n");
        if (strncmp(line, prefix, n) || line[end] != ' ') continue;
        snprintf(key, sizeof key, "%.*s", (int)end, line);
        stretch_value(a, key, value, sizeof value);
        if (!stretch_value(b, key, other, sizeof other) || strcmp(value, other)) return 0;
    }
    return 1;
}

static int is_same_term(const parameters *p, const action_term *t, const char *before)
{
    char prefix[PARAM_STRING_SIZE + 32];
    snprintf(prefix, sizeof prefix, "action.%s.", t->action->name);
    if (!same_keys(p->dump, before, prefix)) return 0;
    snprintf(prefix, sizeof prefix, "quark.%s.", t->quark->name);
    if (!same_keys(p->dump, before, prefix)) return 0;
    snprintf(prefix, sizeof prefix, "solver.%s.", t->solvers[USE_FORCE]);
    return same_keys(p->dump, before, prefix);
}

/* Evaluations of the force of an action in a trajectory of the run that left a history; 0: none. */
static double forces_before(const ensemble *e, const char *action)
{
    level levels[MAX_LEVELS] = {0};
    double counts[MAX_LEVELS];
    char key[64], text[PARAM_TEXT_SIZE], word[128];
    const int n = ensemble_levels(e, levels);
    int own = -1;
    for (int l = 0; l < n; l++) {
        snprintf(key, sizeof key, "integrator.%d.actions", l);
        ensemble_parameter(e, key, text);
        for (int w = 0; param_word(text, w, word, sizeof word); w++)
            if (!strcmp(word, action)) own = l;
    }
    levels_forces(levels, n, counts);
    return own < 0 ? 0 : counts[own];
}

void iterations_of_history(iterations_plan *plan, const parameters *p, const ensemble *e)
{
    char title[PARAM_STRING_SIZE + 16];
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        snprintf(title, sizeof title, "iterations %.100s", t->name);
        const ensemble_series *s = ensemble_find(e, title);
        const double forces = forces_before(e, t->name);
        if (!s || s->n == s->begin || forces == 0 || !is_same_term(p, t, e->parameters)) continue;
        plan->solve[i] = s->a.mean / (forces + SOLVES_BESIDE_FORCES);
        plan->source[i] = ITERATIONS_HISTORY;
    }
}

/* ---- measured ---- */

void iterations_measure(iterations_plan *plan, const parameters *p, const char *path)
{
    char message[1024];
    double counts[MAX_LEVELS];
    simulation *s = simulation_create(p, memory_of_run);
    if (simulation_read(s->links, path, 0, NULL, message, sizeof message) ||
        simulation_refuse_walls(p, s->links, path, message, sizeof message))
        user_error("%s", message);
    const double length = p->run.length / s->e.levels[0].steps;
    s->e.levels[0].steps = 1;
    log_info("iterations are measured on %s", path);
    const trajectory_result t = trajectory_run(&s->e, (random_key){(uint64_t)p->run.seed, 0}, length, 1);
    if (t.status == EVOLVE_FAILED) user_error("%s: %s; %s", path, t.trouble, t.advice);
    levels_forces(s->e.levels, s->e.nlevels, counts);
    for (int l = 0; l < s->e.nlevels; l++)
        for (int k = 0; k < s->e.levels[l].nactions; k++) {
            const int a = s->e.levels[l].actions[k];
            const action_term *term = parameters_term(p, s->e.actions[a]->name);
            if (!term) continue;
            plan->solve[term - p->terms] = (double)t.iterations[a] / (counts[l] + SOLVES_BESIDE_FORCES);
            plan->source[term - p->terms] = ITERATIONS_MEASURED;
        }
    plan->configuration = path;
    simulation_destroy(s);
}
