/* Stout links against the slow oracle on every shape and grid, and their derivative: the force of an action of smeared
 * links, taken back, is the numerical derivative of the oracle's action of the oracle's smeared links; it turns with the
 * site under gauge rotations. Weights: the same in all planes, in space alone, and another one in each plane. */
#include "tests/kernels/kit.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/smear.h"

static const stout_weights weights[] = {
    {{{0, 0.125, 0.125, 0.125}, {0.125, 0, 0.125, 0.125}, {0.125, 0.125, 0, 0.125}, {0.125, 0.125, 0.125, 0}}},
    {{{0, 0.2, 0.2, 0}, {0.2, 0, 0.2, 0}, {0.2, 0.2, 0, 0}, {0, 0, 0, 0}}},
    {{{0, 0.11, 0.03, -0.05}, {0.02, 0, 0.07, 0.1}, {0.06, 0, 0, 0.04}, {0.09, 0.01, 0.08, 0}}}};
#define WEIGHTS ((int)(sizeof weights / sizeof weights[0]))
#define STEPS 2

static const gauge_weights loops = GAUGE_WEIGHTS(5.5, -0.3, 0);

struct action {
    struct ref_lattice l;
    const stout_weights *w;
};

static double action_value(const double complex *u, void *ctx)
{
    const struct action *a = ctx;
    double complex *v = ref_gauge_new(a->l), *t = ref_gauge_new(a->l);
    ref_stout(t, a->l, u, a->w->rho);
    ref_stout(v, a->l, t, a->w->rho);
    const double s = ref_gauge_action(a->l, v, loops.plaquette[0], loops.rectangle[0], loops.parallelogram);
    free(t);
    free(v);
    return s;
}

/* Links of each step, of which the first are given. */
static void smear(field *links[STEPS + 1], const stout_weights *w)
{
    for (int i = 0; i < STEPS; i++) smear_stout(links[i + 1], links[i], w);
}

static void pull_back(field *force, field *const links[STEPS + 1], const stout_weights *w)
{
    for (int i = STEPS; i > 0; i--) smear_stout_back(force, links[i - 1], w);
}

static void check_links(field *links[STEPS + 1], const double complex *u, struct ref_lattice l, const stout_weights *w)
{
    const size_t n = 4 * ref_volume(l);
    double complex *want = ref_gauge_new(l);
    smear(links, w);
    ref_stout(want, l, u, w->rho);
    double complex *have = (double complex *)kit_gather(links[1]);
    KIT_NEAR(kit_distance(have, want, 18 * n), 0, 3e-14);
    KIT_NEAR(ref_unitarity_error(have, n), 0, 3e-14);
    free(have);
    free(want);
}

static void check_force(field *links[STEPS + 1], const double complex *u, struct ref_lattice l, const stout_weights *w,
                        struct ref_rng *rng, int turn)
{
    const size_t n = 4 * ref_volume(l);
    double *p = kit_normals(8 * n, rng);
    struct action a = {l, w};
    field *force = field_create(links[0]->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    momenta_zero(force);
    gauge_force(force, links[STEPS], loops);
    pull_back(force, links, w);
    double *f = kit_gather(force);
    if (turn % comm_size() == comm_rank()) {
        double error, slope = kit_derivative_along(&error, u, p, 8e-3, n, action_value, &a);
        KIT_NEAR(kit_along(f, p, n), slope, error);
        KIT_CHECK(error < 1e-5 * sqrt(kit_along(f, f, n) * kit_along(p, p, n)));
    }
    free(f);
    free(p);
    field_destroy(force);
}

static void check_covariance(field *links[STEPS + 1], const double complex *u, struct ref_lattice l,
                             const stout_weights *w, struct ref_rng *rng)
{
    const size_t v = ref_volume(l);
    double complex *g = kit_alloc(9 * v, sizeof *g), *turned = kit_copy(u, 36 * v * sizeof *u);
    field *force[2];
    ref_random_rotation(g, l, rng);
    ref_rotate_gauge(turned, l, g);
    for (int k = 0; k < 2; k++) {
        kit_scatter(links[0], k ? turned : u);
        smear(links, w);
        force[k] = field_create(links[0]->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
        momenta_zero(force[k]);
        gauge_force(force[k], links[STEPS], loops);
        pull_back(force[k], links, w);
    }
    double *f = kit_gather(force[0]), *t = kit_gather(force[1]);
    KIT_NEAR(kit_turned_distance(t, f, g, 4 * v), 0, 1e-12 * kit_largest(f, 32 * v));
    kit_scatter(links[0], u);
    free(t);
    free(f);
    for (int k = 0; k < 2; k++) field_destroy(force[k]);
    free(turned);
    free(g);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        const struct ref_lattice l = kit_shapes[k];
        lattice *lat = kit_lattice(l, 2, 1);
        if (!lat) continue;
        struct ref_rng rng;
        ref_rng_seed(&rng, 57 + (unsigned)k);
        double complex *u = kit_random_gauge(l, k % 2 ? 0 : 0.6, &rng);
        field *links[STEPS + 1] = {kit_links(lat, u)};
        for (int i = 1; i <= STEPS; i++) links[i] = field_like(links[0]);
        for (int i = 0; i < WEIGHTS; i++) {
            kit_where("shape %d, weights %d", k, i);
            check_links(links, u, l, &weights[i]);
            if (k < 2) check_force(links, u, l, &weights[i], &rng, WEIGHTS * k + i);
            check_covariance(links, u, l, &weights[i], &rng);
        }
        for (int i = 0; i <= STEPS; i++) field_destroy(links[i]);
        free(u);
        lattice_destroy(lat);
    }
    return kit_end();
}
