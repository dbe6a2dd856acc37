/* Every scheme of integration is symmetric and has the order that it claims, on pure gauge links with rectangles.
 *
 * A step back undoes a step; a trajectory with its momenta turned around ends where it began; dH falls with the power of
 * the step that scheme_order() says, in one time scale and nested in another. Schemes come from their registry: a new one
 * needs no new test. */
#include "tests/kernels/kit.h"

#include "hmc/integrate/integrator.h"
#include "kernels/ops/gauge.h"

static const struct ref_lattice shape = {{4, 4, 4, 4}};

typedef struct {
    evolution e;
    field *links, *momenta; /* of the start */
} scene;

static void open_scene(scene *s, lattice *lat)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 84);
    double complex *u = kit_random_gauge(shape, 0.4, &rng);
    evolution *e = &s->e;
    *s = (scene){.e = {.lat = lat, .nactions = 2}};
    s->links = kit_links(lat, u);
    s->momenta = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    momenta_random(s->momenta, 9, RANDOM_TEST, 0);
    e->links = field_like(s->links);
    e->momenta = field_like(s->momenta);
    e->force = field_like(s->momenta);
    e->actions[0] = gauge_action_create("gauge", e->links, gauge_weights_c1(3, -0.331));
    e->actions[1] = gauge_action_create("more", e->links, gauge_weights_c1(2, 0));
    free(u);
}

static void close_scene(scene *s)
{
    for (int i = 0; i < s->e.nactions; i++) action_destroy(s->e.actions[i]);
    field *all[] = {s->e.displaced, s->e.force, s->e.momenta, s->e.links, s->momenta, s->links};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
}

/* The scheme on one level, or on two. */
static void begin(scene *s, const scheme *what, int levels, int steps)
{
    evolution *e = &s->e;
    e->nlevels = levels;
    e->levels[0] = (level){what, steps, 3 - levels, {0, 1}};
    e->levels[1] = (level){what, 1, 1, {1}};
    field_copy(e->links, s->links);
    field_copy(e->momenta, s->momenta);
}

static double distance(const field *a, const field *b)
{
    double *x = kit_gather(a), *y = kit_gather(b);
    const double d = kit_distance(x, y, kit_reals(a));
    free(y);
    free(x);
    return d;
}

/* Rounding of a few hundred updates of links of size 1 by forces of size 10. */
#define ROUNDING 1e-12

static void check_undone(scene *s, const scheme *what, int levels)
{
    evolution *e = &s->e;
    for (int steps = 1; steps <= 2; steps++) {
        begin(s, what, levels, steps);
        KIT_INT(evolve(e, 0.1 * steps), EVOLVE_DONE);
        KIT_CHECK(distance(e->links, s->links) > 0.01);
        KIT_INT(evolve(e, -0.1 * steps), EVOLVE_DONE);
        KIT_NEAR(distance(e->links, s->links), 0, ROUNDING);
        KIT_NEAR(distance(e->momenta, s->momenta), 0, 10 * ROUNDING);
    }
}

static void check_reversible(scene *s, const scheme *what, int levels)
{
    evolution *e = &s->e;
    begin(s, what, levels, 5);
    KIT_INT(evolve(e, 0.5), EVOLVE_DONE);
    momenta_add(e->momenta, -2, e->momenta);
    KIT_INT(evolve(e, 0.5), EVOLVE_DONE);
    momenta_add(e->momenta, -2, e->momenta);
    KIT_NEAR(distance(e->links, s->links), 0, ROUNDING);
    KIT_NEAR(distance(e->momenta, s->momenta), 0, 10 * ROUNDING);
}

static double energy(const evolution *e)
{
    double sum = momenta_norm2(e->momenta), value;
    for (int i = 0; i < e->nactions; i++) {
        KIT_INT(action_value(e->actions[i], &value), 0);
        sum += value;
    }
    return sum;
}

/* Root mean square of dH, over momenta. */
static double change(scene *s, const scheme *what, int levels, int steps)
{
    enum { N = 4 };
    double square = 0;
    for (uint32_t k = 0; k < N; k++) {
        begin(s, what, levels, steps);
        momenta_random(s->e.momenta, 9, RANDOM_TEST, k);
        const double before = energy(&s->e);
        KIT_INT(evolve(&s->e, 0.4), EVOLVE_DONE);
        square += pow(energy(&s->e) - before, 2) / N;
    }
    return sqrt(square);
}

/* H is some 10^4, so that dH of 10^-7 has four digits. */
static void check_order(scene *s, const scheme *what, int levels)
{
    const int steps = scheme_order(what) > 2 ? 3 : 8;
    const double one = change(s, what, levels, steps), half = change(s, what, levels, 2 * steps);
    if (comm_rank() == 0) printf("%s: dH %.3g, %.3g: order %.2f\n", kit_case, one, half, log2(one / half));
    KIT_CHECK(half > 1e-9);
    KIT_NEAR(log2(one / half), scheme_order(what), 0.4);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    lattice *lat = kit_lattice(shape, 2, 1);
    const scheme *what;
    int n = 0;
    if (lat) {
        scene s;
        open_scene(&s, lat);
        for (; (what = scheme_number(n)); n++)
            for (int levels = 1; levels <= 2; levels++) {
                kit_where("%s on %d level%s", scheme_name(what), levels, levels > 1 ? "s" : "");
                KIT_CHECK(scheme_find(scheme_name(what)) == what);
                check_undone(&s, what, levels);
                check_reversible(&s, what, levels);
                check_order(&s, what, levels);
            }
        close_scene(&s);
        KIT_CHECK(n > 0);
    }
    lattice_destroy(lat);
    return kit_end();
}
