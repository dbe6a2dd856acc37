/* Two degenerate Wilson-clover flavours: det M^dagger M = (det A)^2 det Mhat^dagger Mhat, the first factor exactly, the
 * second by a pseudofermion on one parity (K. Jansen and C. Liu, Comput. Phys. Commun. 99 (1997) 221); or the ratio of
 * two such determinants (M. Hasenbusch, Phys. Lett. B 519 (2001) 177). */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/evolve/inverter.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/vector.h"

typedef struct {
    action base;
    pseudofermion_settings s;
    linop *m, *over; /* Mhat; What of a ratio, or null */
    inverter of_m, of_over;
    field *phi;
    predictor *guess;
} pseudofermion;

/* phi = W^-dagger M^dagger eta, for which S = |eta|^2. */
static int refresh(action *a, random_key key)
{
    pseudofermion *p = (pseudofermion *)a;
    field *eta = field_like(p->phi);
    int failed = 0;
    predictor_forget(p->guess);
    vector_random(eta, key.seed, (uint32_t)a->purpose, key.trajectory);
    a->start_value = vector_norm2(eta, 0);
    a->start_known = 1;
    linop_refresh(p->m);
    linop_apply(p->m, p->phi, eta, 1);
    if (p->over) {
        vector_copy(eta, p->phi);
        failed = inverter_dagger(&p->of_over, p->s.solvers.heat_bath, p->phi, eta, "heat bath");
    }
    field_destroy(eta);
    return failed;
}

/* What the inverse of M acts on: W^dagger phi, a field to be destroyed, or phi itself. */
static field *open_source(pseudofermion *p)
{
    if (!p->over) return p->phi;
    field *chi = field_like(p->phi);
    linop_refresh(p->over);
    linop_apply(p->over, chi, p->phi, 1);
    return chi;
}

static void close_source(const pseudofermion *p, field *chi)
{
    if (chi != p->phi) field_destroy(chi);
}

/* chi^dagger x with x = (M^dagger M)^-1 chi from a solver of positive operators; others get on with one solve, of
 * M^-dagger chi. */
static int value(action *a, double *s)
{
    pseudofermion *p = (pseudofermion *)a;
    field *chi = open_source(p), *x = field_like(p->phi);
    int failed;
    if (solver_needs_positive(p->s.solvers.action->settings)) {
        double d[2];
        failed = inverter_normal(&p->of_m, p->s.solvers.action, x, chi, NULL, "action");
        vector_dot(d, chi, x, 0);
        *s = d[0];
    } else {
        failed = inverter_dagger(&p->of_m, p->s.solvers.action, x, chi, "action");
        *s = vector_norm2(x, 0);
    }
    field_destroy(x);
    close_source(p, chi);
    return failed;
}

/* With X = (M^dagger M)^-1 W^dagger phi: dS = 2 Re phi^dagger dW X - 2 Re (M X)^dagger dM X. */
static void assemble(pseudofermion *p, field *f, const field *x)
{
    wilson_force sum = wilson_force_open(f, p->base.links);
    field *y = field_like(p->phi);
    linop_apply(p->m, y, x, 0);
    wilson_force_add(&sum, p->s.w, 1, x, y, y);
    if (p->over) {
        linop_apply(p->over, y, x, 0);
        wilson_force_add(&sum, p->s.over, -1, x, p->phi, y);
    }
    field_destroy(y);
    wilson_force_close(&sum);
}

static int force(action *a, field *f)
{
    pseudofermion *p = (pseudofermion *)a;
    field *chi = open_source(p), *x = field_like(p->phi);
    const named_solver *solver = action_force_solver(a, &p->s.solvers);
    const int failed = inverter_normal(&p->of_m, solver, x, chi, p->guess, "force");
    close_source(p, chi);
    if (!failed) assemble(p, f, x);
    field_destroy(x);
    return failed;
}

static void destroy(action *a)
{
    pseudofermion *p = (pseudofermion *)a;
    predictor_destroy(p->guess);
    inverter_close(&p->of_m);
    if (p->over) inverter_close(&p->of_over);
    field_destroy(p->phi);
    free(p);
}

action *pseudofermion_action_create(const char *name, const field *links, const pseudofermion_settings *s)
{
    static const action_table table = {.refresh = refresh, .value = value, .force = force, .destroy = destroy};
    pseudofermion *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    p->base.table = &table;
    p->base.links = links;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->s = *s;
    p->m = wilson_schur(s->w);
    inverter_open(&p->of_m, &p->base, p->m, s->solvers.all, s->solvers.n);
    if (s->over) {
        p->over = wilson_schur(s->over);
        REQUIRE(p->over->par == p->m->par, "a ratio of operators on parities %d and %d", p->m->par, p->over->par);
        inverter_open(&p->of_over, &p->base, p->over, s->solvers.all, s->solvers.n);
    }
    p->phi = linop_vector(p->m, 1);
    p->guess = predictor_create(s->predictor);
    return &p->base;
}

/* ---- the site-diagonal factor ---- */

typedef struct {
    action base;
    wilson *w, *over;
    int flavours;
} determinant;

static double log_det(const determinant *d, wilson *w)
{
    double negatives;
    const double value = wilson_log_det(w, &negatives);
    if (negatives > 0)
        log_warn("%s: the clover term has %.0f negative eigenvalues; the quark mass is too low for this roughness",
                 d->base.name, negatives);
    return value;
}

static int determinant_value(action *a, double *s)
{
    const determinant *d = (determinant *)a;
    *s = -d->flavours * log_det(d, d->w);
    if (d->over) *s += d->flavours * log_det(d, d->over);
    return 0;
}

static int determinant_force(action *a, field *f)
{
    const determinant *d = (determinant *)a;
    wilson_force sum = wilson_force_open(f, a->links);
    wilson_force_add_log_det(&sum, d->w, d->flavours);
    if (d->over) wilson_force_add_log_det(&sum, d->over, -d->flavours);
    wilson_force_close(&sum);
    return 0;
}

static void determinant_destroy(action *a)
{
    free(a);
}

action *determinant_action_create(const char *name, const field *links, wilson *w, wilson *over, int flavours)
{
    static const action_table table = {
        .value = determinant_value, .force = determinant_force, .destroy = determinant_destroy};
    determinant *d = calloc(1, sizeof *d);
    REQUIRE_MEMORY(d, "out of memory");
    d->base.table = &table;
    d->base.links = links;
    snprintf(d->base.name, sizeof d->base.name, "%s", name);
    d->w = w;
    d->over = over;
    d->flavours = flavours;
    return &d->base;
}
