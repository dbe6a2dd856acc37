/* Four staggered flavours: det M = det A = det (m^2 - D_pq D_qp / 4) by a pseudofermion on parity p,
 * S = phi^dagger A^-1 phi. */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/evolve/inverter.h"
#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

typedef struct {
    action base;
    staggered_settings s;
    inverter solves;
    field *phi;
    predictor *guess;
} four_flavours;

/* phi = (M^dagger eta)_p, with eta on both parities: <phi phi^dagger> = (M^dagger M)_pp = A. S is known after a solve.
 */
static int refresh(action *a, random_key key)
{
    four_flavours *p = (four_flavours *)a;
    const field *phi = p->phi;
    field *eta = field_create(phi->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 1, phi->where), *y = field_like(eta);
    predictor_forget(p->guess);
    vector_random(eta, key.seed, (uint32_t)a->purpose, key.trajectory);
    staggered_apply(p->s.quark, y, eta, 1);
    const field part = field_part(y, phi->par);
    vector_axpby(p->phi, 1, &part, 0);
    a->start_known = 0;
    field_destroy(y);
    field_destroy(eta);
    return 0;
}

static int value(action *a, double *s)
{
    four_flavours *p = (four_flavours *)a;
    double d[2];
    field *x = field_like(p->phi);
    const int failed = inverter_normal(&p->solves, p->s.solvers.action, x, p->phi, NULL, "action");
    vector_dot(d, p->phi, x, 0);
    *s = d[0];
    field_destroy(x);
    return failed;
}

static void *open_sum(action *a, field *f)
{
    return staggered_force_open(f, staggered_links_base(staggered_quark_links(((four_flavours *)a)->s.quark)));
}

static int add_to_sum(action *a, void *sum)
{
    static const double one = 1;
    four_flavours *p = (four_flavours *)a;
    field *x = field_like(p->phi);
    const named_solver *solver = action_force_solver(a, &p->s.solvers);
    const int failed = inverter_normal(&p->solves, solver, x, p->phi, p->guess, "force");
    if (!failed) staggered_force_add(sum, p->s.quark, 1, &one, &x);
    field_destroy(x);
    return failed;
}

static void close_sum(action *a, void *sum)
{
    (void)a;
    staggered_force_close(sum);
}

static void destroy(action *a)
{
    four_flavours *p = (four_flavours *)a;
    predictor_destroy(p->guess);
    inverter_close(&p->solves);
    field_destroy(p->phi);
    free(p);
}

action *staggered_action_create(const char *name, const field *links, const staggered_settings *s)
{
    static const action_table table = {.refresh = refresh,
                                       .value = value,
                                       .destroy = destroy,
                                       .open_sum = open_sum,
                                       .add_to_sum = add_to_sum,
                                       .close_sum = close_sum};
    four_flavours *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    p->base.table = &table;
    p->base.links = links;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->base.shares = staggered_links_base(staggered_quark_links(s->quark));
    p->s = *s;
    inverter_open_positive(&p->solves, &p->base, staggered_normal(s->quark), s->solvers.all, s->solvers.n);
    p->phi = linop_vector(p->solves.normal, 1);
    p->guess = predictor_create(s->predictor);
    return &p->base;
}
