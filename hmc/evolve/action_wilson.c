/* Two degenerate Wilson-clover flavours: det M^dagger M = (det A)^2 det Mhat^dagger Mhat, the first factor exactly, the
 * second by a pseudofermion on one parity (K. Jansen and C. Liu, Comput. Phys. Commun. 99 (1997) 221). */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/evolve/action.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/spinor.h"

#define FLAVOURS 2

typedef struct {
    action base;
    wilson *w;
    linop *schur, *normal;
    field *phi;
    const named_solver *force_solver, *action_solver, *solvers;
    int nsolvers;
} pseudofermion;

/* x = (Mhat^dagger Mhat)^-1 phi from zero, so that the trajectory is reversible. */
static int solve(pseudofermion *p, const named_solver *s, field *x, const char *use)
{
    char what[128];
    snprintf(what, sizeof what, "%s, %s", p->base.name, use);
    const solve_result r =
        fallback_solve(s, p->solvers, p->nsolvers, p->normal, x, p->phi, what, p->base.trouble, sizeof p->base.trouble);
    p->base.iterations += r.iterations;
    p->base.solves++;
    p->base.broken = r.status == SOLVE_BROKEN;
    if (r.status != SOLVE_CONVERGED) return 1;
    if (r.residual > p->base.worst_residual) p->base.worst_residual = r.residual;
    return 0;
}

static int refresh(action *a, random_key key)
{
    pseudofermion *p = (pseudofermion *)a;
    field *eta = field_like(p->phi);
    spinor_random(eta, key.seed, (uint32_t)a->purpose, key.trajectory);
    linop_refresh(p->schur);
    linop_apply(p->schur, p->phi, eta, 1);
    a->start_value = spinor_norm2(eta, 0);
    a->start_known = 1;
    field_destroy(eta);
    return 0;
}

static int value(action *a, double *s)
{
    pseudofermion *p = (pseudofermion *)a;
    field *x = field_like(p->phi);
    const int failed = solve(p, p->action_solver, x, "action");
    double d[2];
    spinor_dot(d, p->phi, x, 0);
    *s = d[0];
    field_destroy(x);
    return failed;
}

static int force(action *a, field *f)
{
    pseudofermion *p = (pseudofermion *)a;
    field *x = field_like(p->phi);
    const int failed = solve(p, p->force_solver, x, "force");
    if (!failed) {
        field *y = field_like(p->phi);
        linop_apply(p->schur, y, x, 0);
        wilson_schur_force(p->w, f, x, y);
        field_destroy(y);
    }
    field_destroy(x);
    return failed;
}

static void destroy(action *a)
{
    pseudofermion *p = (pseudofermion *)a;
    linop_destroy(p->normal);
    field_destroy(p->phi);
    free(p);
}

action *pseudofermion_action_create(const char *name, const field *links, wilson *w, const named_solver *force_solver,
                                    const named_solver *action_solver, const named_solver *solvers, int nsolvers)
{
    static const action_table table = {refresh, value, force, destroy};
    pseudofermion *p = calloc(1, sizeof *p);
    REQUIRE(p, "out of memory");
    p->base.table = &table;
    p->base.links = links;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->w = w;
    p->schur = wilson_schur(w);
    p->normal = normal_create(p->schur);
    p->phi = linop_vector(p->schur, 1);
    p->force_solver = force_solver;
    p->action_solver = action_solver;
    p->solvers = solvers;
    p->nsolvers = nsolvers;
    return &p->base;
}

/* ---- the site-diagonal factor ---- */

typedef struct {
    action base;
    wilson *w;
} determinant;

static int determinant_value(action *a, double *s)
{
    double negatives;
    *s = -FLAVOURS * wilson_log_det(((determinant *)a)->w, &negatives);
    if (negatives > 0)
        log_warn("%s: the clover term has %.0f negative eigenvalues; the quark mass is too low for this roughness",
                 a->name, negatives);
    return 0;
}

static int determinant_force(action *a, field *f)
{
    wilson_log_det_force(((determinant *)a)->w, f, FLAVOURS);
    return 0;
}

static void determinant_destroy(action *a)
{
    free(a);
}

action *determinant_action_create(const char *name, const field *links, wilson *w)
{
    static const action_table table = {NULL, determinant_value, determinant_force, determinant_destroy};
    determinant *d = calloc(1, sizeof *d);
    REQUIRE(d, "out of memory");
    d->base.table = &table;
    d->base.links = links;
    snprintf(d->base.name, sizeof d->base.name, "%s", name);
    d->w = w;
    return &d->base;
}
