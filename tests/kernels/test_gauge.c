/* Gauge links: loops, action, force, field strength, flow observables, update and projection, against the slow oracles
 * on every shape; forces also against the numerical derivative of the oracle's action.
 *
 * Numbers made by a fixed number of operations on each site agree to some hundred roundings of their own size. A
 * numerical derivative with step h has errors h^4 and eps S / h: it is compared within both. */
#include "tests/kernels/kit.h"

#include "kernels/ops/gauge.h"

/* Plaquettes alone, with rectangles, with parallelograms, and these alone; anisotropic ones, with and without rectangles, and
 * without those of two links in time. */
static const gauge_weights weights[] = {GAUGE_WEIGHTS(5.7, 0, 0),
                                        GAUGE_WEIGHTS(9.5, -0.475, 0),
                                        GAUGE_WEIGHTS(20.8, -1.9, 0),
                                        GAUGE_WEIGHTS(7.4, -0.31, 0.04),
                                        GAUGE_WEIGHTS(0, 0, 2),
                                        {.plaquette = {1.7, 4.4}},
                                        {.plaquette = {3, 8}, .rectangle = {-0.2, -0.5, -0.6}},
                                        {.plaquette = {1.5, 12}, .rectangle = {-0.05, -1.1, 0}}};

static double ref_action_of(struct ref_lattice l, const double complex *u, const gauge_weights *w)
{
    return ref_gauge_action_anisotropic(l, u, w->plaquette, w->rectangle) +
           ref_gauge_action(l, u, 0, 0, w->parallelogram);
}

struct action {
    struct ref_lattice l;
    gauge_weights w;
};

static double action_value(const double complex *u, void *ctx)
{
    const struct action *a = ctx;
    return ref_action_of(a->l, u, &a->w);
}

static field *zero_momenta(const lattice *lat)
{
    return field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
}

static void check_loops(const field *links, const double complex *u, struct ref_lattice l)
{
    const double v = (double)ref_volume(l);
    const gauge_loops loops = gauge_measure(links, 1);
    KIT_NEAR(loops.plaquette, ref_plaquette(l, u), 1e-14);
    KIT_NEAR(loops.rectangle, ref_rectangle(l, u), 1e-14);
    KIT_NEAR(loops.link_trace, ref_link_trace(l, u), 1e-14);
    KIT_NEAR(0.5 * (loops.plaquette_space + loops.plaquette_time), loops.plaquette, 1e-15);
    double time = 0;
    for (size_t i = 0; i < ref_volume(l); i++)
        for (int mu = 0; mu < 3; mu++) {
            double complex m[9];
            ref_path(m, l, u, i, (int[]){mu, 3, REF_BACK(mu), REF_BACK(3)}, 4);
            time += creal(ref_mat_trace(m)) / (9 * v);
        }
    KIT_NEAR(loops.plaquette_time, time, 1e-14);
    KIT_CHECK(isnan(gauge_measure(links, 0).rectangle));
    for (size_t k = 0; k < sizeof weights / sizeof weights[0]; k++)
        KIT_NEAR(gauge_action(links, weights[k]), ref_action_of(l, u, &weights[k]), 200 * v * 1e-14);
    const gauge_weights w = gauge_weights_c1(6, 0.25);
    const gauge_weights xi = gauge_weights_anisotropic(w, 4);
    for (int i = 0; i < 2; i++) KIT_NEAR(w.plaquette[i], -6, 0);
    for (int i = 0; i < 3; i++) KIT_NEAR(w.rectangle[i], 1.5, 0);
    KIT_NEAR(w.parallelogram, 0, 0);
    for (int i = 0; i < 2; i++) KIT_NEAR(xi.plaquette[i], i ? -24 : -1.5, 0);
    for (int i = 0; i < 3; i++) KIT_NEAR(xi.rectangle[i], i ? 6 : 0.375, 0);
}

static void check_strength(field *tensor, const field *links, const double complex *u, struct ref_lattice l)
{
    const double v = (double)ref_volume(l);
    gauge_field_strength(tensor, links);
    double *have = kit_gather(tensor), worst = 0;
    for (size_t i = 0; i < ref_volume(l); i++) {
        int plane = 0;
        for (int mu = 0; mu < 4; mu++)
            for (int nu = mu + 1; nu < 4; nu++, plane++) {
                const double *x = have + (6 * i + (size_t)plane) * 9;
                double complex f[9];
                ref_field_strength(f, l, u, i, mu, nu);
                const double want[9] = {cimag(f[0]), cimag(f[4]), cimag(f[8]), creal(f[1]), cimag(f[1]),
                                        creal(f[2]), cimag(f[2]), creal(f[5]), cimag(f[5])};
                worst = fmax(worst, kit_distance(x, want, 9));
            }
    }
    KIT_NEAR(worst, 0, 1e-14);
    const struct ref_energy e = ref_clover_energy(l, u, 1);
    const gauge_energy energy = gauge_field_energy(tensor);
    KIT_REL(energy.temporal, e.e_t, 1e-13);
    KIT_REL(energy.spatial, e.e_s, 1e-13);
    KIT_NEAR(energy.charge, e.q, 1e-14 * v);
    free(have);
}

/* The force along random momenta is the derivative of the action along them. */
static void check_force_along(const field *links, double complex *u, struct ref_lattice l, struct ref_rng *rng)
{
    const size_t n = ref_volume(l) * 4;
    double *p = kit_normals(8 * n, rng);
    for (size_t k = 0; k < sizeof weights / sizeof weights[0]; k++) {
        struct action a = {l, weights[k]};
        field *force = zero_momenta(links->lat);
        gauge_force(force, links, a.w);
        double *f = kit_gather(force);
        if ((int)k % comm_size() == comm_rank()) {
            double error, slope = kit_derivative_along(&error, u, p, 8e-3, n, action_value, &a);
            KIT_NEAR(kit_along(f, p, n), slope, error);
            KIT_CHECK(error < 1e-6 * sqrt(kit_along(f, f, n) * kit_along(p, p, n)));
        }
        /* A second call adds the same once more. */
        gauge_force(force, links, a.w);
        double *twice = kit_gather(force);
        for (size_t i = 0; i < 8 * n; i++) f[i] *= 2;
        KIT_NEAR(kit_distance(f, twice, 8 * n), 0, 1e-13 * kit_largest(f, 8 * n));
        free(twice);
        free(f);
        field_destroy(force);
    }
    free(p);
}

/* Component by component on a few links. */
static void check_force_links(const field *links, double complex *u, struct ref_lattice l)
{
    struct action a = {l, weights[3]};
    field *force = zero_momenta(links->lat);
    gauge_force(force, links, a.w);
    double *f = kit_gather(force);
    for (size_t link = 0; link < 4 * ref_volume(l); link += ref_volume(l) - 1) {
        if ((int)(link / (ref_volume(l) - 1)) % comm_size() != comm_rank()) continue;
        for (int c = 0; c < 8; c++) {
            const double d = ref_derivative(u, link / 4, (int)(link % 4), c, 2e-3, action_value, &a);
            KIT_NEAR(kit_coefficient(f + 8 * link, c), d, 1e-9 + 1e-15 * action_value(u, &a) / 2e-3);
        }
    }
    free(f);
    field_destroy(force);
}

/* Sums of loops stay, force and field strength turn with the site. */
static void check_covariance(field *links, double complex *u, struct ref_lattice l, struct ref_rng *rng)
{
    const size_t v = ref_volume(l);
    double complex *g = kit_alloc(9 * v, sizeof *g), *turned = kit_copy(u, 36 * v * sizeof *u);
    ref_random_rotation(g, l, rng);
    ref_rotate_gauge(turned, l, g);
    field *force = zero_momenta(links->lat), *after = zero_momenta(links->lat);
    const gauge_loops one = gauge_measure(links, 1);
    const double action = gauge_action(links, weights[4]);
    gauge_force(force, links, weights[3]);
    kit_scatter(links, turned);
    const gauge_loops two = gauge_measure(links, 1);
    gauge_force(after, links, weights[3]);
    KIT_NEAR(one.plaquette, two.plaquette, 1e-14);
    KIT_NEAR(one.rectangle, two.rectangle, 1e-14);
    KIT_NEAR(action, gauge_action(links, weights[4]), 1e-12 * (double)v);
    KIT_CHECK(fabs(one.link_trace - two.link_trace) > 1e-6);
    KIT_REL(momenta_norm2(force), momenta_norm2(after), 1e-13);
    double *f = kit_gather(force), *t = kit_gather(after);
    KIT_NEAR(kit_turned_distance(t, f, g, 4 * v), 0, 1e-13 * kit_largest(f, 32 * v));
    kit_scatter(links, u);
    free(t);
    free(f);
    free(turned);
    free(g);
    field_destroy(force);
    field_destroy(after);
}

/* exp(dt P) U, and back; momenta sums. */
static void check_update(const field *links, const double complex *u, struct ref_lattice l, struct ref_rng *rng)
{
    const size_t n = 4 * ref_volume(l);
    double *p = kit_normals(8 * n, rng), *q = kit_normals(8 * n, rng);
    field *moved = kit_convert(links, FIELD_LINKS, PREC_DOUBLE);
    field *a = kit_field(links->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, p), *b = field_like(a);
    kit_scatter(b, q);
    static const double steps[] = {1e-4, 0.05, 0.4};
    for (int k = 0; k < 3; k++) {
        field_copy(moved, links);
        gauge_update(moved, steps[k], a);
        double complex *have = (double complex *)kit_gather(moved), *want = kit_moved(u, p, steps[k], n);
        KIT_NEAR(kit_distance(have, want, 18 * n), 0, 3e-14);
        KIT_NEAR(ref_unitarity_error(have, n), 0, 4e-15);
        gauge_update(moved, -steps[k], a);
        double complex *back = (double complex *)kit_gather(moved);
        KIT_NEAR(kit_distance(back, u, 18 * n), 0, 3e-14);
        free(back);
        free(want);
        free(have);
    }
    KIT_REL(momenta_norm2(a), 0.5 * kit_along(p, p, n), 1e-13);
    KIT_NEAR(momenta_dot(a, b), 0.5 * kit_along(p, q, n), 1e-14 * (double)n);
    momenta_add(b, -1.5, a);
    double *sum = kit_gather(b);
    for (size_t i = 0; i < 8 * n; i++) q[i] -= 1.5 * p[i];
    KIT_NEAR(kit_distance(sum, q, 8 * n), 0, 1e-14);
    momenta_zero(b);
    KIT_NEAR(momenta_norm2(b), 0, 0);
    free(sum);
    free(q);
    free(p);
    field_destroy(moved);
    field_destroy(a);
    field_destroy(b);
}

/* Links with a known defect: measured as |U^+ U - 1|^2 + |third row - that of the others|^2, and mended. */
static void check_unitarise(const field *links, const double complex *u, struct ref_lattice l, struct ref_rng *rng)
{
    const size_t n = 4 * ref_volume(l);
    field *bent = kit_convert(links, FIELD_LINKS, PREC_DOUBLE);
    KIT_NEAR(gauge_unitarise(bent), 0, 1e-14);
    double *noise = kit_normals(18 * n, rng);
    double complex *broken = kit_copy(u, 9 * n * sizeof *broken);
    for (size_t i = 0; i < 18 * n; i++) ((double *)broken)[i] += 1e-5 * noise[i];
    kit_scatter(bent, broken);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double complex *m = broken + 9 * i, d[9], s[9];
        ref_mat_adj(d, m);
        ref_mat_mul(s, d, m);
        for (int k = 0; k < 9; k++) sum += creal((s[k] - (k % 4 == 0)) * conj(s[k] - (k % 4 == 0)));
        for (int c = 0; c < 3; c++) {
            const double complex w =
                conj(m[(c + 1) % 3] * m[3 + (c + 2) % 3] - m[(c + 2) % 3] * m[3 + (c + 1) % 3]) - m[6 + c];
            sum += creal(w * conj(w));
        }
    }
    KIT_REL(gauge_unitarise(bent), sqrt(sum / (double)n), 1e-9);
    double complex *mended = (double complex *)kit_gather(bent);
    KIT_NEAR(ref_unitarity_error(mended, n), 0, 4e-15);
    KIT_NEAR(kit_distance(mended, u, 18 * n), 0, 3e-4);
    KIT_NEAR(gauge_unitarise(bent), 0, 1e-14);
    free(mended);
    free(broken);
    free(noise);
    field_destroy(bent);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        const struct ref_lattice l = kit_shapes[k];
        lattice *lat = kit_lattice(l, 2, 1);
        if (!lat) continue;
        struct ref_rng rng;
        ref_rng_seed(&rng, 31 + (unsigned)k);
        double complex *u = kit_random_gauge(l, k % 2 ? 0 : 0.6, &rng);
        field *links = kit_links(lat, u),
              *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
        kit_where("shape %d", k);
        check_loops(links, u, l);
        check_strength(tensor, links, u, l);
        if (k < 3) check_force_along(links, u, l, &rng);
        if (k < 2) check_force_links(links, u, l);
        check_covariance(links, u, l, &rng);
        check_update(links, u, l, &rng);
        check_unitarise(links, u, l, &rng);
        field_destroy(tensor);
        field_destroy(links);
        free(u);
        lattice_destroy(lat);
    }
    return kit_end();
}
