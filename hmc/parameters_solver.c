/* What the tables of keys cannot say of [solver.NAME] sections: which solvers they and others name, which of them stand
 * inside others. */
#include <string.h>

#include "hmc/evolve/fermion.h"
#include "hmc/parameters.h"
#include "kernels/base/error.h"

/* The key names a solver of the file, and no mere preconditioner. */
void parameters_check_solver(const ini_input *in, const parameters *p, const char *section, const char *instance,
                             const char *key, const char *found)
{
    const char *names[MAX_NAMED];
    for (int i = 0; i < p->nsolvers; i++) names[i] = p->solvers[i].name;
    parameters_check_name(in, section, instance, key, found, names, p->nsolvers, "[solver.NAME]");
    for (int i = 0; i < p->nsolvers; i++)
        if (!strcmp(names[i], found) && !solver_solves(&p->solvers[i].p))
            user_error("%s: %s = %s in [%s.%s], but [solver.%s] is of type %s, which only preconditions; name it as "
                       "the preconditioner of a gcr",
                       ini_where(in, section, instance, key), key, found, section, instance, found,
                       p->solvers[i].p.type);
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
        const char *key = s->correction[0] ? "correction" : "preconditioner";
        const char *inner = s->correction[0] ? s->correction : s->preconditioner;
        if (!inner[0]) continue;
        if (s->correction[0]) parameters_check_solver(in, p, "solver", names[i], key, inner);
        else parameters_check_name(in, "solver", names[i], key, inner, names, p->nsolvers, "[solver.NAME]");
        for (int k = 0; k < p->nsolvers; k++)
            if (!strcmp(names[k], inner)) s->inner = &p->solvers[k].p;
    }
    for (int i = 0; i < p->nsolvers; i++) {
        const solver_settings *s = &p->solvers[i].p, *at = s->inner;
        const char *key = s->correction[0] ? "correction" : "preconditioner";
        for (int k = 0; at && at != s && k < p->nsolvers; k++) at = at->inner;
        if (at == s)
            user_error("%s: [solver.%s] has itself inside, by its key %s; name a solver that ends",
                       ini_where(in, "solver", names[i], key), names[i], key);
    }
}

void solver_parameters_nest(const ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    for (int i = 0; i < p->nsolvers; i++) names[i] = p->solvers[i].name;
    nest_solvers(in, p, names);
    for (int i = 0; i < p->nfermions; i++) {
        named_fermion *f = &p->fermions[i];
        parameters_check_solver(in, p, "fermion", f->name, "solver", f->p.solver);
        if (!f->p.action_solver[0]) memcpy(f->p.action_solver, f->p.solver, sizeof f->p.action_solver);
        parameters_check_solver(in, p, "fermion", f->name, "action_solver", f->p.action_solver);
    }
    for (int i = 0; i < p->nsolvers; i++)
        if (p->solvers[i].p.fallback[0])
            parameters_check_solver(in, p, "solver", p->solvers[i].name, "fallback", p->solvers[i].p.fallback);
}

static int has_blocks(const solver_settings *s)
{
    for (; s; s = s->inner)
        if (!strcmp(s->type, "schwarz")) return 1;
    return 0;
}

/* The operator of staggered quarks has none inside blocks. */
static void check_blocks(const ini_input *in, const parameters *p, const named_fermion *f, const char *section,
                         const char *instance, const char *key, const char *solver)
{
    const named_settings *s;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++)
        if (has_blocks(&s->p))
            user_error(
                "%s: %s = %s of [%s.%s] solves inside blocks (type = schwarz), which there are not for kind = %s",
                ini_where(in, section, instance, key), key, s->name, section, instance, f->p.kind);
}

/* Whether the section is a solver of its own: of an action or a measurement, or the fallback of one. */
static int solves_itself(const parameters *p, int number, int depth)
{
    const char *name = p->solvers[number].name;
    for (int i = 0; i < p->nfermions; i++)
        if (!strcmp(p->fermions[i].p.solver, name) || !strcmp(p->fermions[i].p.action_solver, name)) return 1;
    for (int i = 0; i < p->nmeasures; i++)
        if (!strcmp(p->measures[i].p.solver, name)) return 1;
    for (int i = 0; i < p->nsolvers && depth < p->nsolvers; i++)
        if (!strcmp(p->solvers[i].p.fallback, name) && solves_itself(p, i, depth + 1)) return 1;
    return 0;
}

/* A solver that only works inside another is never repeated: what it leaves is for that one to judge. */
void solver_parameters_check(const ini_input *in, const parameters *p, int every)
{
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *f = &p->fermions[i];
        if (!fermion_kind_find(f->p.kind)->staggered) continue;
        check_blocks(in, p, f, "fermion", f->name, "solver", f->p.solver);
        check_blocks(in, p, f, "fermion", f->name, "action_solver", f->p.action_solver);
        for (int k = 0; k < p->nmeasures; k++)
            if (!strcmp(p->measures[k].p.fermion, f->name))
                check_blocks(in, p, f, "measure", p->measures[k].name, "solver", p->measures[k].p.solver);
        for (int k = 0; every && k < p->nsolvers; k++)
            if (solver_solves(&p->solvers[k].p) && has_blocks(&p->solvers[k].p))
                user_error("%s: [solver.%s] works inside blocks (type = schwarz), which there are not for kind = %s of "
                           "[fermion.%s], and every solver is put on every fermion; leave one of them out",
                           ini_where(in, "solver", p->solvers[k].name, ""), p->solvers[k].name, f->p.kind, f->name);
    }
    for (int i = 0; i < p->nsolvers; i++)
        for (int k = 0; k < p->nsolvers && p->solvers[i].p.fallback[0]; k++) {
            if (p->solvers[k].p.inner != &p->solvers[i].p || solves_itself(p, i, 0)) continue;
            user_error(
                "%s: [solver.%s] has a fallback, but it only works inside [solver.%s], which takes what it finds; "
                "name a fallback in that section",
                ini_where(in, "solver", p->solvers[i].name, "fallback"), p->solvers[i].name, p->solvers[k].name);
        }
}
