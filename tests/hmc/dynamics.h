/* Forces against derivatives, and the way back of a trajectory, of a simulation on its bench. */
#ifndef PLAQ_TESTS_DYNAMICS_H
#define PLAQ_TESTS_DYNAMICS_H

#include "tests/hmc/bench.h"
#include "tests/difference.h"

/* ---- forces ---- */

CHECK_UNUSED static double value_at(bench *b, action *a, double t)
{
    double s = NAN;
    gauge_update(b->s->links, t, b->s->e.momenta);
    CHECK_INT(action_value(a, &s), 0);
    field_copy(b->s->links, b->start);
    return s;
}

/* Central differences at h and h/2: the force agrees with their extrapolation, and their error falls fourfold. noise: of
 * what solves leave of S, relative. */
CHECK_UNUSED static void check_force(bench *b, action *a, const char *what, double noise)
{
    evolution *e = &b->s->e;
    momenta_random(e->momenta, 5, RANDOM_TEST, (uint32_t)a->purpose);
    CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
    momenta_zero(e->force);
    CHECK_INT(action_force(a, e->force), 0);
    const double f = 2 * momenta_dot(e->force, e->momenta), h = 0.01;
    const double ahead = value_at(b, a, h), d1 = (ahead - value_at(b, a, -h)) / (2 * h);
    const double d2 = (value_at(b, a, h / 2) - value_at(b, a, -h / 2)) / h;
    const double order = log2(fabs((d1 - f) / (d2 - f))), derivative = (4 * d2 - d1) / 3;
    if (comm_rank() == 0)
        printf("force, %s, %s: %.10g, derivative %.10g, order %.3f\n", what, a->name, f, derivative, order);
    CHECK_NEAR(f, derivative, 1e-5 * fabs(derivative) + noise * fabs(ahead) / h);
    CHECK_NEAR(order, 2, 0.15);
    /* Adding to what is there, twice, is twice the force. */
    CHECK_INT(action_force(a, e->force), 0);
    CHECK_REL(2 * momenta_dot(e->force, e->momenta), 2 * f, 1e-9);
}

CHECK_UNUSED static void test_forces(const char *text, const char *what, int n, const char *const *overrides,
                                     double noise)
{
    bench b = open_bench(text, n, overrides);
    for (int i = 0; i < b.s->e.nactions; i++) check_force(&b, b.s->e.actions[i], what, noise);
    close_bench(&b);
}

/* ---- trajectories ---- */

CHECK_UNUSED static void draw(bench *b, uint32_t number)
{
    evolution *e = &b->s->e;
    momenta_random(e->momenta, 3, RANDOM_MOMENTA, number);
    for (int i = 0; i < e->nactions; i++) CHECK_INT(action_refresh(e->actions[i], (random_key){3, number}), 0);
}

CHECK_UNUSED static double energy(bench *b)
{
    double values[MAX_ACTIONS], h = NAN;
    const action *who;
    CHECK_INT(evolution_values(&b->s->e, values, &h, &who), 0);
    for (int i = 0; i < b->s->e.nactions; i++) h += values[i];
    return h;
}

CHECK_UNUSED static void check_reversal(bench *b, const char *what, double length)
{
    evolution *e = &b->s->e;
    field *momenta = field_like(e->momenta);
    draw(b, 7);
    field_copy(momenta, e->momenta);
    const double before = energy(b);
    CHECK_INT(evolve(e, length), EVOLVE_DONE);
    const double way = largest_difference(e->links, b->start);
    momenta_add(e->momenta, -2, e->momenta);
    for (int i = 0; i < e->nactions; i++) CHECK_INT(action_begin(e->actions[i]), 0);
    CHECK_INT(evolve(e, length), EVOLVE_DONE);
    momenta_add(e->momenta, -2, e->momenta);
    const double links = largest_difference(e->links, b->start), back = largest_difference(e->momenta, momenta);
    const double dh = energy(b) - before;
    if (comm_rank() == 0)
        printf("reversal, %s: links %.1e of %.2g, momenta %.1e, H %.1e\n", what, links, way, back, dh);
    CHECK(way > 0.1);
    CHECK_NEAR(links, 0, 1e-10);
    CHECK_NEAR(back, 0, 1e-9);
    CHECK_NEAR(dh / before, 0, 1e-12);
    field_copy(e->links, b->start);
    field_destroy(momenta);
}

#endif
