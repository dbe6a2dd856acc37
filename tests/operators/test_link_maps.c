/* HEX, HYP and APE links against the slow oracle of their definitions, on every shape and grid, from weak links to random
 * ones, with another alpha in each level; and clover terms of thin links beside a hop on smeared ones. */
#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"
#include "operators/wilson.h"
#include "tests/operators/link_maps.h"

static const double alpha[3] = {0.9, 0.7, 0.5};
#define ALPHA "alpha_1=0.9 alpha_2=0.7 alpha_3=0.5 "

enum which { HEX, HYP, APE };

static void oracle(double complex *out, struct ref_lattice l, const double complex *u, enum which which, int in_space)
{
    if (which == HEX) ref_hex(out, l, u, alpha, in_space);
    else if (which == HYP) ref_hyp(out, l, u, alpha, in_space);
    else ref_ape(out, l, u, 1.5, in_space);
}

/* As many steps as the name of the case says. */
static void check_map(const field *thin, struct ref_lattice l, const double complex *u, enum which which, int in_space,
                      int steps, double tolerance)
{
    static const char *const kind[] = {"hex", "hyp", "ape"}, *const words[] = {ALPHA, ALPHA, "link_weight=1.5 "};
    char text[256];
    const size_t reals = 72 * ref_volume(l);
    snprintf(text, sizeof text, "%s steps=%d directions=%s", words[which], steps, in_space ? "space" : "all");
    const link_settings k = link_map_settings_of(kind[which], text);
    link_map *m = link_map_create(&k, thin);
    double complex *have = (double complex *)kit_gather(link_map_links(m));
    double complex *want = ref_gauge_new(l), *last = kit_copy(u, reals * sizeof(double));
    for (int i = 0; i < steps; i++) {
        oracle(want, l, last, which, in_space);
        memcpy(last, want, reals * sizeof(double));
    }
    kit_where("%s, %s, %d.%d.%d.%d", kind[which], text, l.size[0], l.size[1], l.size[2], l.size[3]);
    KIT_NEAR(kit_distance(have, want, reals), 0, tolerance);
    KIT_NEAR(ref_unitarity_error(have, reals / 18), 0, 1e-13);
    free(last);
    free(want);
    free(have);
    link_map_destroy(m);
}

static void check_shape(struct ref_lattice l, double scale, double tolerance, struct ref_rng *rng)
{
    lattice *lat = kit_lattice(l, 2, 1);
    if (!lat) return;
    double complex *u = kit_random_gauge(l, scale, rng);
    field *thin = kit_links(lat, u);
    for (int which = HEX; which <= APE; which++)
        for (int in_space = 0; in_space < 2; in_space++)
            check_map(thin, l, u, (enum which)which, in_space, 2 - in_space, tolerance);
    field_destroy(thin);
    free(u);
    lattice_destroy(lat);
}

/* M is linear in hop and clover term: M(stout hop, thin clover) = M(stout) without a clover term + M(thin) - M(thin) without. */
static void check_thin_clover(struct ref_lattice l, struct ref_rng *rng)
{
    lattice *lat = kit_lattice(l, 2, -1);
    if (!lat) return;
    double complex *u = kit_random_gauge(l, 0.4, rng);
    field *thin = kit_links(lat, u), *x = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, thin->where),
          *y = field_like(x), *sum = field_like(x);
    const link_settings k = link_map_settings_of("stout", "rho=0.12 steps=2");
    link_map *m = link_map_create(&k, thin);
    const struct {
        wilson_settings s;
        double factor;
    } terms[] = {
        {{.c_sw = 1.4, .map = m, .thin_clover = 1}, -1}, {{.map = m}, 1}, {{.c_sw = 1.4}, 1}, {{.c_sw = 0}, -1}};
    vector_random(x, 5, RANDOM_TEST, 0);
    field_clear(sum);
    for (int i = 0; i < 4; i++) {
        wilson_settings s = terms[i].s;
        s.mass = 0.2;
        s.p = PARITY_ODD;
        s.storage = FIELD_LINKS;
        fermion *q = wilson_fermion(thin, &s);
        fermion_apply(q, y, x, 0);
        vector_axpby(sum, terms[i].factor, y, 1);
        fermion_destroy(q);
    }
    kit_where("thin clover, %d.%d.%d.%d", l.size[0], l.size[1], l.size[2], l.size[3]);
    KIT_NEAR(sqrt(vector_norm2(sum, 0) / vector_norm2(x, 0)), 0, 1e-13);
    link_map_destroy(m);
    field_destroy(sum);
    field_destroy(y);
    field_destroy(x);
    field_destroy(thin);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    struct ref_rng rng;
    kit_begin(&argc, &argv);
    ref_rng_seed(&rng, 71);
    check_shape(kit_shapes[0], 0.3, 3e-14, &rng);
    check_shape(kit_shapes[1], 0.6, 1e-12, &rng);
    check_shape(kit_shapes[4], 0, 1e-9, &rng);
    check_thin_clover(kit_shapes[0], &rng);
    check_thin_clover(kit_shapes[1], &rng);
    return kit_end();
}
