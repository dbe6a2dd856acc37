/* Every link map keeps the promises of operators/link_map.h, on one and several ranks.
 *
 * Maps come from their registry, each with the settings of tests/operators/link_maps.h; a map without settings there fails
 * the test. Links of a map are in SU(3), are unit links where the thin ones are, turn with the sites under gauge rotations,
 * and follow thin links that change. Links and forces are the same bits on every process grid, with every number of lanes,
 * and on one rank. A force that is taken back is the derivative of an action of the map's links: what a difference quotient
 * with step h is off by falls with the fourth power of h. It turns with the sites. */
#include "tests/operators/link_maps.h"

#include "kernels/ops/gauge.h"

static const struct ref_lattice shape = {{4, 4, 4, 8}};
static const gauge_weights loops = GAUGE_WEIGHTS(5.5, -0.3, 0);

typedef struct {
    lattice *lat;
    field *thin;
    link_map *map;
} scene;

static void open_scene(scene *s, lattice *lat, const link_settings *k, const double complex *u)
{
    s->lat = lat;
    s->thin = kit_links(lat, u);
    s->map = link_map_create(k, s->thin);
}

static void close_scene(scene *s)
{
    link_map_destroy(s->map);
    field_destroy(s->thin);
}

/* The force by thin links of an action of the map's links. */
static double *force_of(const scene *s)
{
    field *force = field_create(s->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    momenta_zero(force);
    gauge_force(force, link_map_links(s->map), loops);
    link_map_pull_back(s->map, force);
    double *f = kit_gather(force);
    field_destroy(force);
    return f;
}

static double action_of(const double complex *u, void *of)
{
    const scene *s = of;
    kit_scatter(s->thin, u);
    return gauge_action(link_map_links(s->map), loops);
}

/* ---- links ---- */

static void check_group(const scene *s, const double complex *u)
{
    const size_t n = 4 * ref_volume(shape);
    double complex *v = (double complex *)kit_gather(link_map_links(s->map)), *one = ref_gauge_new(shape);
    KIT_NEAR(ref_unitarity_error(v, n), 0, 1e-13);
    KIT_CHECK(kit_distance(u, v, 18 * n) > 0.01);
    free(v);
    ref_unit_gauge(one, shape);
    kit_scatter(s->thin, one);
    v = (double complex *)kit_gather(link_map_links(s->map));
    KIT_NEAR(kit_distance(v, one, 18 * n), 0, 1e-15);
    kit_scatter(s->thin, u);
    free(v);
    free(one);
}

static void check_covariance(const scene *s, const double complex *u, struct ref_rng *rng)
{
    const size_t n = 4 * ref_volume(shape);
    const int forces = s->map->type->pull_back != NULL;
    double complex *g = kit_alloc(9 * n / 4, sizeof *g), *turned = kit_copy(u, 9 * n * sizeof *u);
    ref_random_rotation(g, shape, rng);
    ref_rotate_gauge(turned, shape, g);
    double complex *before = (double complex *)kit_gather(link_map_links(s->map));
    double *force = forces ? force_of(s) : NULL;
    kit_scatter(s->thin, turned);
    double complex *after = (double complex *)kit_gather(link_map_links(s->map));
    ref_rotate_gauge(before, shape, g);
    KIT_NEAR(kit_distance(after, before, 18 * n), 0, 1e-12);
    if (forces) {
        double *f = force_of(s);
        KIT_NEAR(kit_turned_distance(f, force, g, n), 0, 1e-12 * kit_largest(force, 8 * n));
        free(f);
    }
    kit_scatter(s->thin, u);
    free(force);
    free(after);
    free(before);
    free(turned);
    free(g);
}

/* ---- forces ---- */

/* The error of the four-point difference falls by 16 where the step is halved, until rounding is seen. */
static void check_derivative(const scene *s, const double complex *u, struct ref_rng *rng)
{
    const size_t n = 4 * ref_volume(shape);
    double *p = kit_normals(8 * n, rng), *f = force_of(s);
    const double along = kit_along(f, p, n), h = 0.01;
    const double one = kit_difference_along(u, p, h, n, action_of, (void *)s) - along;
    const double half = kit_difference_along(u, p, h / 2, n, action_of, (void *)s) - along;
    const double size = sqrt(kit_along(f, f, n) * kit_along(p, p, n));
    KIT_CHECK(fabs(one) < 1e-6 * size);
    KIT_NEAR(one / half, 16, 6); /* the next power of h is seen where that of the fourth is small */
    kit_scatter(s->thin, u);
    free(f);
    free(p);
}

/* ---- bits ---- */

/* Links, and where there is one a force, on a lattice. */
static double *results_on(lattice *lat, const link_settings *k, const double complex *u, size_t *n)
{
    scene s;
    open_scene(&s, lat, k, u);
    double *links = kit_gather(link_map_links(s.map));
    *n = kit_reals(s.thin);
    if (s.map->type->pull_back) {
        double *f = force_of(&s);
        const size_t more = 32 * ref_volume(shape);
        links = realloc(links, (*n + more) * sizeof *links);
        REQUIRE(links, "out of memory for %zu numbers", *n + more);
        memcpy(links + *n, f, more * sizeof *f);
        *n += more;
        free(f);
    }
    close_scene(&s);
    return links;
}

static void check_bits(const link_settings *k, const double complex *u)
{
    int grids[64][4];
    const int count = kit_grids(shape, grids, 64);
    size_t n, m;
    comm_group *first = comm_group_create(comm_world(), comm_rank() == 0);
    lattice_spec spec = {.group = first, .reach = 2, .time_sign = 1};
    memcpy(spec.size, shape.size, sizeof spec.size);
    lattice *lat = lattice_create_on(&spec);
    double *alone = results_on(lat, k, u, &n);
    lattice_destroy(lat);
    for (int i = 0; i < 2 * count; i++) {
        lattice_use_simd(test_simd && i % 2);
        lat = lattice_create(shape.size, grids[i / 2], 2, 1);
        double *now = results_on(lat, k, u, &m);
        KIT_CHECK(m == n && !memcmp(now, alone, n * sizeof *now));
        lattice_destroy(lat);
        free(now);
    }
    lattice_use_simd(test_simd);
    free(alone);
    comm_group_destroy(first);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 93);
    double complex *u = kit_random_gauge(shape, 0.3, &rng);
    lattice *lat = kit_lattice(shape, 2, 1);
    for (int i = 0; i < LINK_MAP_VARIANTS; i++) {
        const link_settings k = link_map_settings_of(link_map_variants[i][0], link_map_variants[i][1]);
        kit_where("%s, %s", link_map_variants[i][0], link_map_variants[i][1]);
        scene s;
        open_scene(&s, lat, &k, u);
        check_group(&s, u);
        check_covariance(&s, u, &rng);
        if (s.map->type->pull_back) check_derivative(&s, u, &rng);
        close_scene(&s);
        check_bits(&k, u);
    }
    for (int i = 0; link_map_type_number(i); i++) {
        int tried = 0;
        for (int v = 0; v < LINK_MAP_VARIANTS; v++)
            tried += !strcmp(link_map_variants[v][0], link_map_type_number(i)->name);
        kit_where("%s", link_map_type_number(i)->name);
        KIT_CHECK(tried > 0);
    }
    lattice_destroy(lat);
    free(u);
    return kit_end();
}
