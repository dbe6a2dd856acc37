/* A determinant by one pseudofermion: det K of a fermion's normal operator, S = phi^dagger K^-1 phi; or, where K =
 * M^dagger M, the ratio det M^dagger M / det W^dagger W of two fermions on the same vectors, S = |M^-dagger W^dagger
 * phi|^2 (M. Hasenbusch, Phys. Lett. B 519 (2001) 177). */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/actions/inverter.h"
#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

typedef struct {
    action base;
    pseudofermion_settings s;
    inverter of_m, of_over;
    field *phi;
    predictor *guess;
} pseudofermion;

/* phi = (M^dagger eta)_p with eta on both parities, where M^dagger M is block diagonal: <phi phi^dagger> = (M^dagger
 * M)_pp = K. S is known after a solve. */
static int draw_from_whole(pseudofermion *p, random_key key)
{
    field *eta = fermion_vector(p->s.quark), *y = field_like(eta);
    vector_random(eta, key.seed, (uint32_t)p->base.purpose, key.trajectory);
    fermion_apply(p->s.quark, y, eta, 1);
    const field part = field_part(y, p->phi->par);
    vector_axpby(p->phi, 1, &part, 0);
    p->base.start_known = 0;
    field_destroy(y);
    field_destroy(eta);
    return 0;
}

/* phi = W^-dagger M^dagger eta, for which S = |eta|^2. */
static int draw_from_half(pseudofermion *p, random_key key)
{
    linop *m = p->s.quark->direct;
    field *eta = field_like(p->phi);
    int failed = 0;
    vector_random(eta, key.seed, (uint32_t)p->base.purpose, key.trajectory);
    p->base.start_value = vector_norm2(eta, 0);
    p->base.start_known = 1;
    linop_refresh(m);
    linop_apply(m, p->phi, eta, 1);
    if (p->s.over) {
        vector_copy(eta, p->phi);
        failed = inverter_dagger(&p->of_over, p->s.solvers.heat_bath, p->phi, eta, "heat bath");
    }
    field_destroy(eta);
    return failed;
}

static int begin(action *a)
{
    pseudofermion *p = (pseudofermion *)a;
    predictor_forget(p->guess);
    inverter_begin(&p->of_m);
    if (p->s.over) inverter_begin(&p->of_over);
    return 0;
}

static int refresh(action *a, random_key key)
{
    pseudofermion *p = (pseudofermion *)a;
    return p->s.quark->direct ? draw_from_half(p, key) : draw_from_whole(p, key);
}

/* Source of the solve with K: W^dagger phi, a field to be destroyed, or phi itself. */
static field *open_source(pseudofermion *p)
{
    if (!p->s.over) return p->phi;
    field *chi = field_like(p->phi);
    linop_refresh(p->s.over->direct);
    linop_apply(p->s.over->direct, chi, p->phi, 1);
    return chi;
}

static void close_source(const pseudofermion *p, field *chi)
{
    if (chi != p->phi) field_destroy(chi);
}

/* chi^dagger x with x = K^-1 chi from a solver of positive operators; others get on with one solve, of M^-dagger chi. */
static int value(action *a, double *s)
{
    pseudofermion *p = (pseudofermion *)a;
    const named_solver *solver = p->s.solvers.action;
    field *chi = open_source(p), *x = field_like(p->phi);
    int failed;
    if (solver_needs_positive(solver->settings) || !p->s.quark->direct) {
        double d[2];
        failed = inverter_normal(&p->of_m, solver, x, chi, NULL, "action");
        vector_dot(d, chi, x, 0);
        *s = d[0];
    } else {
        failed = inverter_dagger(&p->of_m, solver, x, chi, "action");
        *s = vector_norm2(x, 0);
    }
    field_destroy(x);
    close_source(p, chi);
    return failed;
}

static void *open_sum(action *a, field *f)
{
    return fermion_open_force(((pseudofermion *)a)->s.quark, f);
}

/* Force of dS = 2 Re phi^dagger dW X - X^dagger dK X with X = K^-1 W^dagger phi. */
static int add_to_sum(action *a, void *sum)
{
    static const double one = 1;
    pseudofermion *p = (pseudofermion *)a;
    field *chi = open_source(p), *x = field_like(p->phi);
    const named_solver *solver = action_force_solver(a, &p->s.solvers);
    const int failed = inverter_normal(&p->of_m, solver, x, chi, p->guess, "force");
    close_source(p, chi);
    if (!failed) fermion_add_force(sum, p->s.quark, 1, &one, &x);
    if (!failed && p->s.over) fermion_add_variation(sum, p->s.over, -1, x, p->phi);
    field_destroy(x);
    return failed;
}

static void close_sum(action *a, void *sum)
{
    fermion_close_force(((pseudofermion *)a)->s.quark, sum);
}

static void destroy(action *a)
{
    pseudofermion *p = (pseudofermion *)a;
    predictor_destroy(p->guess);
    inverter_close(&p->of_m);
    if (p->s.over) inverter_close(&p->of_over);
    field_destroy(p->phi);
    free(p);
}

action *pseudofermion_action_create(const char *name, const pseudofermion_settings *s)
{
    static const action_table table = {.begin = begin,
                                       .refresh = refresh,
                                       .value = value,
                                       .destroy = destroy,
                                       .open_sum = open_sum,
                                       .add_to_sum = add_to_sum,
                                       .close_sum = close_sum};
    pseudofermion *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    p->base.table = &table;
    p->base.links = s->quark->links;
    p->base.shares = s->quark->shares;
    p->base.form_of_sum = s->quark->table;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->s = *s;
    inverter_open(&p->of_m, &p->base, s->quark, &s->solvers);
    inverter_reserve(&p->of_m, s->solvers.force);
    inverter_reserve(&p->of_m, s->solvers.action);
    if (s->over) {
        const linop *m = s->quark->direct, *w = s->over->direct;
        REQUIRE(m && w && m->par == w->par, "a ratio of %s to %s", s->quark->table->name, s->over->table->name);
        inverter_open(&p->of_over, &p->base, s->over, &s->solvers);
        inverter_reserve(&p->of_over, s->solvers.heat_bath);
    }
    p->phi = linop_vector(s->quark->normal, 1);
    p->guess = predictor_create(s->predictor);
    return &p->base;
}
