/* Solver sections, beyond what their tables of keys can say: which solvers they and others name, which of them stand inside
 * others. */
#include <stdio.h>
#include <string.h>

#include "hmc/actions/action_kind.h"
#include "hmc/assemble/parameters.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"

static const char *const of_solves[] = {"tolerance", "max_iterations", "fallback", "eigenvectors", "low_modes"};

static int type_has(const void *solver, const char *key)
{
    if (!strcmp(key, "type")) return 1;
    for (size_t k = 0; k < sizeof of_solves / sizeof of_solves[0]; k++)
        if (!strcmp(key, of_solves[k])) return 1;
    return solver_type_has(solver_type_of(solver), key);
}

/* Keys that the type does not have, and what contradicts itself. */
static void check_keys(ini_input *in, const named_settings *s)
{
    const solver_type *type = solver_type_of(&s->p);
    char has[448], message[576];
    solver_type_keys(type, has, sizeof has);
    for (size_t k = 0; k < sizeof of_solves / sizeof of_solves[0]; k++)
        if (!type->solve && ini_given(in, "solver", s->name, of_solves[k]))
            user_error("%s: [solver.%s] type = %s has no key '%s', for it only preconditions; it has %s",
                       ini_where(in, "solver", s->name, of_solves[k]), s->name, type->name, of_solves[k], has);
    snprintf(message, sizeof message, "; it has tolerance, max_iterations, fallback, eigenvectors, low_modes%s%s",
             has[0] ? " and " : "", has);
    parameters_refuse_keys(in, solver_section(0), s->name, &s->p, type_has, message);
    const char *key = type->check ? type->check(&s->p, message, sizeof message) : NULL;
    if (key) user_error("%s: [solver.%s] %s", ini_where(in, "solver", s->name, key), s->name, message);
    if (type->inner_solves && !s->p.inner_name[0])
        user_error("%s: [solver.%s] type = %s needs the key '%s', the name of the solver inside",
                   ini_where(in, "solver", s->name, ""), s->name, type->name, type->inner_key);
}

void solver_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nsolvers = names_of(in, "solver", names);
    for (int i = 0; i < p->nsolvers; i++) {
        snprintf(p->solvers[i].name, sizeof p->solvers[i].name, "%s", names[i]);
        ini_fill(in, solver_section(0), names[i], &p->solvers[i].p);
        solver_settings *s = &p->solvers[i].p;
        const solver_type *type = solver_type_of(s);
        if (type->own) ini_fill(in, type->own, names[i], s);
        if (type->precision && !ini_given(in, "solver", names[i], "inner_precision"))
            s->inner_precision = (int)precision_named(type->precision);
        check_keys(in, &p->solvers[i]);
    }
}

void parameters_check_solver(const ini_input *in, const parameters *p, const char *section, const char *instance,
                             const char *key, const char *found)
{
    for (int i = 0; i < p->nsolvers; i++)
        if (!strcmp(p->solvers[i].name, found) && !solver_solves(&p->solvers[i].p))
            user_error("%s: %s = %s in [%s.%s], but [solver.%s] is of type %s, which only preconditions; name it as "
                       "the preconditioner of a gcr or pcg",
                       ini_where(in, section, instance, key), key, found, section, instance, found,
                       solver_type_of(&p->solvers[i].p)->name);
}

static const named_settings *find_solver(const parameters *p, const char *name)
{
    for (int i = 0; i < p->nsolvers; i++)
        if (!strcmp(p->solvers[i].name, name)) return &p->solvers[i];
    return NULL;
}

const named_settings *parameters_attempt(const parameters *p, const char *solver, int number)
{
    const named_settings *s = number < p->nsolvers ? find_solver(p, solver) : NULL;
    for (; s && number > 0; number--) s = find_solver(p, s->p.fallback);
    return s;
}

/* The solvers inside solvers, by name; one that is inside itself is refused. */
static void nest_solvers(const ini_input *in, parameters *p, const char *const *names)
{
    for (int i = 0; i < p->nsolvers; i++) {
        solver_settings *s = &p->solvers[i].p;
        const solver_type *type = solver_type_of(s);
        const char *key = type->inner_key, *inner = s->inner_name;
        if (!key || !inner[0]) continue;
        if (type->inner_solves) parameters_check_solver(in, p, "solver", names[i], key, inner);
        for (int k = 0; k < p->nsolvers; k++)
            if (!strcmp(names[k], inner)) s->inner = &p->solvers[k].p;
    }
    for (int i = 0; i < p->nsolvers; i++) {
        const solver_settings *s = &p->solvers[i].p, *at = s->inner;
        const char *key = solver_type_of(s)->inner_key;
        for (int k = 0; at && at != s && k < p->nsolvers; k++) at = at->inner;
        if (at == s)
            user_error("%s: [solver.%s] has itself inside, by its key %s; name a solver that ends",
                       ini_where(in, "solver", names[i], key), names[i], key);
    }
}

int parameters_solver_use(const parameters *p, int number, solver_use *use)
{
    for (int i = 0; i < p->nterms; i++)
        for (int k = 0; k < SOLVER_USES; k++) {
            const action_term *t = &p->terms[i];
            *use = (solver_use){t->quark, t, t->solvers[k], "action", t->action->name, action_solver_key(k)};
            if (number-- == 0) return 1;
        }
    for (int i = 0; i < p->nquarks; i++) {
        const named_quark *q = &p->quarks[i];
        *use = (solver_use){q, NULL, q->p.solver, "quark", q->name, "solver"};
        if (q->p.solver[0] && number-- == 0) return 1;
    }
    for (int i = 0; i < p->npropagators; i++) {
        const named_propagator *q = &p->propagators[i];
        *use = (solver_use){
            &p->quarks[parameters_quark(p, q->p.quark)], NULL, q->p.solver, "propagator", q->name, "solver"};
        if (q->p.solver[0] && number-- == 0) return 1;
        use->solver = q->p.rough_solver, use->key = "rough_solver";
        if (q->p.rough_solver[0] && number-- == 0) return 1;
    }
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *m = &p->measures[i];
        if (!m->p.solver[0] || !m->p.quark[0]) continue;
        *use =
            (solver_use){&p->quarks[parameters_quark(p, m->p.quark)], NULL, m->p.solver, "measure", m->name, "solver"};
        if (number-- == 0) return 1;
    }
    return 0;
}

void solver_parameters_nest(const ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    solver_use use;
    for (int i = 0; i < p->nsolvers; i++) names[i] = p->solvers[i].name;
    nest_solvers(in, p, names);
    for (int i = 0; parameters_solver_use(p, i, &use); i++)
        parameters_check_solver(in, p, use.section, use.instance, use.key, use.solver);
    for (int i = 0; i < p->nsolvers; i++)
        if (p->solvers[i].p.fallback[0]) {
            const char *name = p->solvers[i].name, *fallback = p->solvers[i].p.fallback;
            parameters_check_solver(in, p, "solver", name, "fallback", fallback);
            if (!strcmp(name, fallback))
                log_warn(
                    "%s: [solver.%s] fallback = %s is the solver itself, which fails again as it did; name another "
                    "one, or none",
                    ini_where(in, "solver", name, "fallback"), name, fallback);
        }
}

/* The type of a solver, or of one inside it, that works inside blocks or on coarse lattices, where the operators of a kind
 * do not come; null: there is none. */
static const solver_type *missing_in(const quark_kind *kind, const solver_settings *s)
{
    for (; s; s = s->inner) {
        const solver_type *type = solver_type_of(s);
        if ((type->blocks && !kind->blocks) || (type->coarsens && !kind->coarsens)) return type;
    }
    return NULL;
}

static const char *where_it_works(const solver_type *type)
{
    return type->blocks ? "inside blocks" : "on coarse lattices";
}

/* Not every operator comes inside blocks, or on coarse lattices. */
static void check_system(const ini_input *in, const parameters *p, const solver_use *use)
{
    const named_settings *s;
    for (int i = 0; (s = parameters_attempt(p, use->solver, i)); i++) {
        const solver_type *type = missing_in(quark_kind_of(&use->quark->p), &s->p);
        if (type)
            user_error("%s: %s = %s of [%s.%s] solves %s (type = %s), which kind = %s of [quark.%s] does not have; "
                       "choose another type, cg for one",
                       ini_where(in, use->section, use->instance, use->key), use->key, s->name, use->section,
                       use->instance, where_it_works(type), type->name, quark_kind_of(&use->quark->p)->name,
                       use->quark->name);
    }
}

/* The normal operator does not come on coarse lattices. */
static void check_coarse(const ini_input *in, const named_settings *s)
{
    const solver_type *type = solver_type_of(&s->p);
    if (type->coarsens && solver_needs_positive(&s->p))
        user_error(
            "%s: [solver.%s] type = %s is for M itself, and %s = %s solves for positive operators; choose one of "
            "type schwarz, gcr or bicgstab",
            ini_where(in, "solver", s->name, type->inner_key), s->name, type->name, type->inner_key, s->p.inner_name);
    for (const solver_settings *at = s->p.inner; at; at = at->inner)
        if (solver_type_of(at)->coarsens && type->coarsens)
            user_error("%s: [solver.%s] type = %s has type = %s inside, by %s = %s; choose one of type schwarz, gcr or "
                       "bicgstab",
                       ini_where(in, "solver", s->name, type->inner_key), s->name, type->name, solver_type_of(at)->name,
                       type->inner_key, s->p.inner_name);
    for (const solver_settings *at = s->p.inner; at; at = at->inner)
        if (solver_type_of(at)->coarsens && solver_needs_positive(&s->p))
            user_error(
                "%s: [solver.%s] type = %s solves for positive operators and has type = %s inside, which is for M "
                "itself; choose type = gcr, or multigrid alone",
                ini_where(in, "solver", s->name, solver_type_of(&s->p)->inner_key), s->name, type->name,
                solver_type_of(at)->name);
}

/* True if the section solves by itself: for an action, a quark or a measurement, or as the fallback of one that does. */
static int solves_itself(const parameters *p, int number, int depth)
{
    const char *name = p->solvers[number].name;
    solver_use use;
    for (int i = 0; parameters_solver_use(p, i, &use); i++)
        if (!strcmp(use.solver, name)) return 1;
    for (int i = 0; i < p->nsolvers && depth < p->nsolvers; i++)
        if (!strcmp(p->solvers[i].p.fallback, name) && solves_itself(p, i, depth + 1)) return 1;
    return 0;
}

/* True if another section has the solver inside, for corrections or else as a preconditioner. */
static int inside_others(const parameters *p, int number, int corrects)
{
    for (int k = 0; k < p->nsolvers; k++)
        if (p->solvers[k].p.inner == &p->solvers[number].p &&
            solver_type_of(&p->solvers[k].p)->inner_solves == corrects)
            return 1;
    return 0;
}

int parameters_solver_tried(const parameters *p, int number)
{
    return solver_solves(&p->solvers[number].p) && (!inside_others(p, number, 0) || solves_itself(p, number, 0));
}

/* True if an action has the solver, itself or inside or as fallback of another: then links change between its solves. */
static int sees_links_change(const parameters *p, int number, int depth)
{
    const char *name = p->solvers[number].name;
    solver_use use;
    for (int i = 0; parameters_solver_use(p, i, &use) && p->nlevels; i++)
        if (use.term && !strcmp(use.solver, name)) return 1;
    for (int i = 0; i < p->nsolvers && depth < p->nsolvers; i++)
        if ((!strcmp(p->solvers[i].p.fallback, name) || p->solvers[i].p.inner == &p->solvers[number].p) &&
            sees_links_change(p, i, depth + 1))
            return 1;
    return 0;
}

/* Precisions of the vectors that the solver is given, one bit each: double when it solves by itself, that of the iterations
 * around it inside others. */
static int given_precisions(const parameters *p, int number, int every)
{
    int given = (every && parameters_solver_tried(p, number)) || solves_itself(p, number, 0) ? 1 << PREC_DOUBLE : 0;
    for (int k = 0; k < p->nsolvers; k++) {
        if (p->solvers[k].p.inner != &p->solvers[number].p) continue;
        const int around = given_precisions(p, k, every);
        for (int prec = 0; prec < PREC_COUNT; prec++)
            if (around >> prec & 1) given |= 1 << solver_precision(&p->solvers[k].p, (precision)prec);
    }
    return given;
}

static void check_precisions(const ini_input *in, const named_settings *s, const solver_type *type, int given)
{
    const int inner = s->p.inner_precision;
    int lower = 0, highest = 0;
    for (int prec = PREC_COUNT - 1; prec >= 0; prec--)
        if (given >> prec & 1) {
            lower |= solver_precision(&s->p, (precision)prec) != (precision)prec;
            highest = prec;
        }
    if (ini_given(in, "solver", s->name, "inner_precision") && !(given & ((2 << inner) - 1)))
        user_error(
            "%s: inner_precision = %s of [solver.%s] has no effect: it only works inside solvers that iterate in "
            "%s precision or lower; choose that or a lower one",
            ini_where(in, "solver", s->name, "inner_precision"), precision_names[inner], s->name,
            precision_names[highest]);
    if (ini_given(in, "solver", s->name, "delta") && !lower && !type->restarts)
        user_error("%s: delta = %g of [solver.%s] has no effect: with inner_precision = %s the iteration is in the "
                   "precision of what is solved for; leave delta out or choose a lower inner_precision",
                   ini_where(in, "solver", s->name, "delta"), s->p.delta, s->name, precision_names[inner]);
}

static int any_twisted_mass(const parameters *p)
{
    for (int i = 0; i < p->nquarks; i++)
        if (quark_kind_of(&p->quarks[i].p)->twisted_mass) return 1;
    return 0;
}

/* The first of these own keys of its type that the section gives; null: there is none. */
static const param *given_of(const ini_input *in, const named_settings *s, const char *keys)
{
    char word[PARAM_WORDS_SIZE];
    for (int i = 0; keys && param_word(keys, i, word, sizeof word); i++)
        if (ini_given(in, "solver", s->name, word)) return param_find(solver_type_of(&s->p)->own, word);
    return NULL;
}

/* Refuses keys of a type that mean nothing beside the others, or for the quarks that there are. */
static void check_effect_of_keys(const ini_input *in, const parameters *p, const named_settings *s)
{
    const solver_type *type = solver_type_of(&s->p);
    const param *twist = given_of(in, s, type->keys_of_twist);
    char text[PARAM_TEXT_SIZE];
    if (twist && !any_twisted_mass(p))
        user_error("%s: %s of [solver.%s] has no effect: it is of quarks of kind = twisted_mass, and there is none; "
                   "leave it out",
                   ini_where(in, "solver", s->name, twist->name), twist->name, s->name);
    for (int k = 0; type->why_key_has_no_effect && k < type->own->count; k++) {
        const param *key = &type->own->table[k];
        const char *why =
            ini_given(in, "solver", s->name, key->name) ? type->why_key_has_no_effect(&s->p, key->name) : NULL;
        if (!why) continue;
        param_format(key, &s->p, text, sizeof text);
        user_error("%s: %s = %s of [solver.%s] has no effect: %s; leave it out",
                   ini_where(in, "solver", s->name, key->name), key->name, text, s->name, why);
    }
}

/* Refuses keys that a type has, but that mean nothing where the section is used. One that nothing uses is left alone.
 */
static void check_effects(const ini_input *in, const parameters *p, int number, int every)
{
    static const char *const of_iterations[] = {"tolerance", "max_iterations", "delta"};
    const named_settings *s = &p->solvers[number];
    const double values[] = {s->p.tolerance, s->p.max_iterations, s->p.delta};
    const int given = given_precisions(p, number, every);
    const int solves =
        (every && parameters_solver_tried(p, number)) || solves_itself(p, number, 0) || inside_others(p, number, 1);
    const solver_type *type = solver_type_of(&s->p);
    if (!given) return;
    for (size_t k = 0; k < sizeof of_iterations / sizeof of_iterations[0] && type->precondition && type->solve; k++)
        if (!solves && ini_given(in, "solver", s->name, of_iterations[k]))
            user_error(
                "%s: %s = %.15g of [solver.%s] has no effect: it is only a preconditioner, and type = %s then takes a "
                "fixed number of steps; leave it out",
                ini_where(in, "solver", s->name, of_iterations[k]), of_iterations[k], values[k], s->name, type->name);
    char text[PARAM_TEXT_SIZE];
    const param *inside = given_of(in, s, type->keys_inside), *of_actions = given_of(in, s, type->keys_of_actions);
    if (inside && !inside_others(p, number, 0)) {
        param_format(inside, &s->p, text, sizeof text);
        user_error("%s: %s = %s of [solver.%s] has no effect: type = %s takes them as a preconditioner, but no "
                   "section has preconditioner = %s; leave %s out",
                   ini_where(in, "solver", s->name, inside->name), inside->name, text, s->name, type->name, s->name,
                   inside->name);
    }
    if (of_actions && !sees_links_change(p, number, 0)) {
        param_format(of_actions, &s->p, text, sizeof text);
        user_error(
            "%s: %s = %s of [solver.%s] has no effect: no action has this solver, and links change in trajectories "
            "alone; leave it out",
            ini_where(in, "solver", s->name, of_actions->name), of_actions->name, text, s->name);
    }
    check_precisions(in, s, type, given);
}

/* A solver that only works inside another is never repeated: what it leaves is for that one to judge. */
void solver_parameters_check(const ini_input *in, const parameters *p, int every)
{
    solver_use use;
    for (int i = 0; parameters_solver_use(p, i, &use); i++) check_system(in, p, &use);
    for (int i = 0; i < p->nquarks && every; i++)
        for (int k = 0; k < p->nsolvers; k++) {
            const solver_type *type = missing_in(quark_kind_of(&p->quarks[i].p), &p->solvers[k].p);
            if (solver_solves(&p->solvers[k].p) && type)
                user_error("%s: [solver.%s] works %s (type = %s), which kind = %s of [quark.%s] does not "
                           "have, and every solver is tried on every quark; leave one of them out",
                           ini_where(in, "solver", p->solvers[k].name, ""), p->solvers[k].name, where_it_works(type),
                           type->name, quark_kind_of(&p->quarks[i].p)->name, p->quarks[i].name);
        }
    for (int i = 0; i < p->nsolvers; i++)
        for (int k = 0; k < p->nsolvers && p->solvers[i].p.fallback[0]; k++) {
            if (p->solvers[k].p.inner != &p->solvers[i].p || solves_itself(p, i, 0)) continue;
            user_error(
                "%s: [solver.%s] has a fallback, but it only works inside [solver.%s], which takes what it finds; "
                "name a fallback in that section",
                ini_where(in, "solver", p->solvers[i].name, "fallback"), p->solvers[i].name, p->solvers[k].name);
        }
    for (int i = 0; i < p->nsolvers; i++) {
        check_coarse(in, &p->solvers[i]);
        check_effect_of_keys(in, p, &p->solvers[i]);
        check_effects(in, p, i, every);
    }
}
