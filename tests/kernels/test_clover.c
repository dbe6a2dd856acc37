/* The clover term and the forces of fermions, against the slow oracles.
 *
 * Clover: built from the field strength, applied in all precisions, inverted, its determinant; each against the 12x12
 * matrices of the oracle, with one coefficient or two; and the same of C + i mu gamma_5. Forces: with X and Y held fixed, that of -2 Re Y^dagger dM X is the numerical
 * derivative of -2 Re Y^dagger M X, where the oracle applies M; that of -w log det A the derivative of the oracle's
 * determinant. */
#include "tests/kernels/kit.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

static const double mass = 0.1;
static struct ref_anisotropy coefficients; /* those of the present shape */

/* ---- the term itself ---- */

static clover_coefficients both(double c_sw)
{
    return clover_isotropic(c_sw);
}

static clover_coefficients present(void)
{
    return (clover_coefficients){.space = coefficients.c_R / coefficients.xi_0, .time = coefficients.c_T};
}

static double space(void)
{
    return coefficients.nu / coefficients.xi_0;
}

static field *clover_of(const field *links, parity p, double diagonal, clover_coefficients c)
{
    field *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    field *clover = field_create(links->lat, FIELD_CLOVER, PREC_DOUBLE, p, 1, kit_place);
    gauge_field_strength(tensor, links);
    clover_build(clover, tensor, diagonal, c);
    field_destroy(tensor);
    return clover;
}

/* Site by site within `tolerance` of the largest component. */
static double distance_of_sites(const double complex *have, const double complex *want, size_t volume)
{
    double worst = 0;
    for (size_t i = 0; i < volume; i++) {
        const double size = kit_largest(want + 12 * i, 24);
        const double d = kit_distance(have + 12 * i, want + 12 * i, 24) / (size > 0 ? size : 1);
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

/* With the norm of what it is applied to, on one right-hand side, the same bits come as from two kernels. */
static void check_norm2(const field *links, const field *clover, const double *numbers)
{
    field *x = kit_field(links->lat, FIELD_SPINOR, clover->prec, PARITY_BOTH, 1, numbers), *y = field_like(x),
          *z = field_like(x);
    for (int p = 0; p < 2; p++) {
        const field part = field_part(x, (parity)p);
        vector_sum s;
        clover_apply_norm2_start(&s, y, (parity)p, clover, x, 1.5);
        clover_apply(z, (parity)p, clover, x, 1.5);
        const double norm2 = vector_sum_finish(&s);
        KIT_NEAR(norm2, vector_norm2(&part, 0), 0);
    }
    double *a = kit_gather(y), *b = kit_gather(z);
    KIT_NEAR(kit_distance(a, b, kit_reals(y)), 0, 0);
    free(a);
    free(b);
    field_destroy(x);
    field_destroy(y);
    field_destroy(z);
}

static void check_term(const field *links, const struct ref_wilson *w, int k, struct ref_rng *rng)
{
    const size_t v = ref_volume(w->l), n = 24 * v;
    static const double exact[PREC_COUNT] = {1e-14, 3e-6, 3e-6, 3e-6};
    field *clover = clover_of(links, PARITY_BOTH, 1 + 3 * space() + mass, present()), *inverse = field_like(clover);
    double complex *want = ref_spinor_new(w->l);
    double *numbers = kit_normals(2 * n, rng), negatives[2], log_det = 0;
    for (int p = 0; p < 2; p++) {
        const double part = clover_invert(inverse, clover, (parity)p, &negatives[p]);
        kit_where("shape %d, parity %d", k, p);
        KIT_REL(part, ref_log_det_diagonal(w, p), 1e-13);
        log_det += part;
        KIT_NEAR(negatives[p], 0, 0);
        /* A clover term on one parity is that part of the whole. */
        field *half = clover_of(links, (parity)p, 1 + 3 * space() + mass, present());
        double *a = kit_gather(half), *b = kit_gather(clover);
        for (size_t i = 0; i < v; i++)
            if (ref_parity(w->l, i) != p) memset(b + 72 * i, 0, 72 * sizeof *b);
        KIT_NEAR(kit_distance(a, b, 72 * v), 0, 0);
        const double again = clover_invert(half, half, (parity)p, &negatives[p]);
        KIT_NEAR(again, part, 0);
        free(a);
        free(b);
        field_destroy(half);
    }
    KIT_REL(log_det, ref_log_det_diagonal(w, REF_BOTH), 1e-13);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int inverted = 0; inverted < 2; inverted++) {
            field *c = kit_convert(inverted ? inverse : clover, FIELD_CLOVER, (precision)prec);
            field *x = field_create(links->lat, FIELD_SPINOR, (precision)prec, PARITY_BOTH, 2, kit_place),
                  *y = field_like(x);
            kit_scatter(x, numbers);
            for (int p = 0; p < 2; p++) clover_apply(y, (parity)p, c, x, 1.5);
            kit_where("shape %d, %s, inverse %d", k, kit_prec[prec], inverted);
            check_norm2(links, c, numbers);
            for (int r = 0; r < 2; r++) {
                double complex *in = kit_spinor(x, r), *out = kit_spinor(y, r);
                if (inverted) ref_diagonal_inverse(want, in, w, REF_BOTH, 0);
                else ref_diagonal(want, in, w, REF_BOTH, 0);
                for (size_t i = 0; i < 12 * v; i++) want[i] *= 1.5;
                /* Twelve products with rounded elements of the term, each below twice the largest result. */
                KIT_NEAR(distance_of_sites(out, want, v), 0, exact[prec] + 20 * kit_step[prec]);
                free(in);
                free(out);
            }
            /* In place. */
            double *before = kit_gather(y);
            for (int p = 0; p < 2; p++) clover_apply(x, (parity)p, c, x, 1.5);
            double *after = kit_gather(x);
            KIT_NEAR(kit_distance(before, after, 2 * n), 0, 0);
            free(before);
            free(after);
            field_destroy(c);
            field_destroy(x);
            field_destroy(y);
        }
    field_destroy(clover);
    field_destroy(inverse);
    free(numbers);
    free(want);
}

/* ---- with a twisted mass ---- */

/* out = 1.5 (C + i mu gamma_5 K) in, in and out of place, against the oracle's A or A^-1 or their daggers. */
static void check_twisted_apply(const field *clover, const field *mu_clover, double mu, const struct ref_wilson *w,
                                int inverted, int dagger, precision prec, const double *numbers)
{
    static const double exact[PREC_COUNT] = {1e-14, 3e-6, 3e-6, 3e-6};
    const size_t v = ref_volume(w->l);
    field *c = kit_convert(clover, FIELD_CLOVER, prec),
          *k = mu_clover ? kit_convert(mu_clover, FIELD_CLOVER, prec) : NULL;
    field *x = field_create(clover->lat, FIELD_SPINOR, prec, PARITY_BOTH, 2, kit_place), *y = field_like(x);
    double complex *want = ref_spinor_new(w->l);
    kit_scatter(x, numbers);
    for (int p = 0; p < 2; p++) twisted_apply(y, (parity)p, c, k, mu, x, 1.5);
    for (int r = 0; r < 2; r++) {
        double complex *in = kit_spinor(x, r), *out = kit_spinor(y, r);
        if (inverted) ref_diagonal_inverse(want, in, w, REF_BOTH, dagger);
        else ref_diagonal(want, in, w, REF_BOTH, dagger);
        for (size_t i = 0; i < 12 * v; i++) want[i] *= 1.5;
        KIT_NEAR(distance_of_sites(out, want, v), 0, exact[prec] + 20 * kit_step[prec]);
        free(in);
        free(out);
    }
    for (int p = 0; p < 2; p++) twisted_apply(x, (parity)p, c, k, mu, x, 1.5);
    double *out = kit_gather(y), *in_place = kit_gather(x);
    KIT_NEAR(kit_distance(out, in_place, 48 * v), 0, 0);
    free(out);
    free(in_place);
    free(want);
    field *all[] = {c, k, x, y};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
}

static void check_twisted(const field *links, const double complex *u, const struct ref_wilson *plain, int k,
                          struct ref_rng *rng)
{
    static const double mus[] = {0.3, -1.1};
    const size_t v = ref_volume(plain->l);
    double *numbers = kit_normals(48 * v, rng);
    field *clover = clover_of(links, PARITY_BOTH, 1 + 3 * space() + mass, present()), *inverse = field_like(clover),
          *mu_inverse = field_like(clover);
    for (int m = 0; m < 2; m++) {
        struct ref_wilson w;
        ref_wilson_create_anisotropic(&w, plain->l, u, mass, &coefficients, plain->bc);
        ref_wilson_twist(&w, mus[m]);
        kit_where("shape %d, mu %g", k, mus[m]);
        for (int p = 0; p < 2; p++) {
            double negatives;
            const double log_det = twisted_invert(inverse, mu_inverse, clover, (parity)p, mus[m] * mus[m], &negatives);
            KIT_REL(log_det, ref_log_det_diagonal(&w, p), 1e-13);
            KIT_NEAR(negatives, 0, 0);
        }
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int dagger = 0; dagger < 2; dagger++) {
                const double mu = dagger ? -mus[m] : mus[m];
                kit_where("shape %d, mu %g, %s, dagger %d", k, mus[m], kit_prec[prec], dagger);
                check_twisted_apply(clover, NULL, mu, &w, 0, dagger, (precision)prec, numbers);
                check_twisted_apply(inverse, mu_inverse, -mu, &w, 1, dagger, (precision)prec, numbers);
            }
        ref_wilson_destroy(&w);
    }
    /* The inverse may take the place of the term. */
    field *in_place = field_like(clover);
    field_copy(in_place, clover);
    double ignored;
    for (int p = 0; p < 2; p++) twisted_invert(in_place, mu_inverse, in_place, (parity)p, mus[1] * mus[1], &ignored);
    double *a = kit_gather(in_place), *b = kit_gather(inverse);
    KIT_NEAR(kit_distance(a, b, 72 * v), 0, 0);
    free(a);
    free(b);
    free(numbers);
    field *all[] = {clover, inverse, mu_inverse, in_place};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
}

/* A term that is not positive says so: the number of its negative eigenvalues. */
static void check_negative(const field *links)
{
    double negatives;
    field *clover = clover_of(links, PARITY_ODD, -5, both(0.2)), *inverse = field_like(clover);
    const double half = 0.5 * (double)links->lat->volume;
    clover_invert(inverse, clover, PARITY_ODD, &negatives);
    KIT_NEAR(negatives, 12 * half, 0);
    field_destroy(clover);
    clover = clover_of(links, PARITY_ODD, 1, both(0));
    KIT_NEAR(clover_invert(inverse, clover, PARITY_ODD, &negatives), 0, 0); /* C = 1 */
    KIT_NEAR(negatives, 0, 0);
    field_destroy(clover);
    field_destroy(inverse);
}

/* ---- forces ---- */

struct bilinear {
    struct ref_lattice l;
    const double complex *x, *y;
    int bc, hop;   /* the hop's part is in */
    int clover;    /* the clover term's part, of which parity: 0, 1, or REF_BOTH; -2: none */
    double det[2]; /* weights of log det A on each parity */
};

static double bilinear_value(const double complex *u, void *ctx)
{
    const struct bilinear *b = ctx;
    const size_t v = ref_volume(b->l);
    double sum = 0;
    if (b->hop) {
        double complex *d = ref_spinor_new(b->l), *scaled = kit_copy(u, 36 * v * sizeof *scaled);
        for (size_t i = 0; i < 36 * v; i++) scaled[i] *= i / 9 % 4 == 3 ? 1 : space();
        ref_hop(d, b->x, b->l, scaled, b->bc, 0);
        sum += creal(ref_dot(b->y, d, 12 * v)); /* -2 Re y^+ (-D / 2) x */
        free(scaled);
        free(d);
    }
    for (size_t i = 0; i < v; i++) {
        const int p = ref_parity(b->l, i), term = b->clover == REF_BOTH || b->clover == p;
        double complex a[144];
        if (!term && b->det[p] == 0) continue;
        ref_clover_site_anisotropic(a, b->l, u, i, mass, &coefficients);
        for (int r = 0; term && r < 12; r++)
            for (int c = 0; c < 12; c++)
                sum -= 2 * creal(conj(b->y[12 * i + (size_t)r]) * a[12 * r + c] * b->x[12 * i + (size_t)c]);
        if (b->det[p] != 0) sum -= b->det[p] * creal(ref_log_det(12, a));
    }
    return sum;
}

/* The force of what b says, by the fast code. */
static double *force_of(const field *links, const field *x, const field *y, const struct bilinear *b)
{
    field *force = field_create(links->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    field *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    if (b->hop) hop_force(force, links, x, y, space());
    for (int p = 0; p < 2; p++) {
        if (b->clover == REF_BOTH || b->clover == p) clover_insert(tensor, (parity)p, present(), x, y);
        if (b->det[p] != 0) {
            double negatives;
            field *inverse = clover_of(links, (parity)p, 1 + 3 * space() + mass, present());
            clover_invert(inverse, inverse, (parity)p, &negatives);
            clover_insert_det(tensor, (parity)p, present(), b->det[p], inverse);
            field_destroy(inverse);
        }
    }
    if (b->clover >= REF_BOTH || b->det[0] != 0 || b->det[1] != 0) clover_force(force, links, tensor);
    double *f = kit_gather(force);
    field_destroy(tensor);
    field_destroy(force);
    return f;
}

/* The ranks share the numerical derivatives. */
static void check_force(const field *links, double complex *u, const field *x, const field *y, struct bilinear *b,
                        const char *what, int on_links, struct ref_rng *rng)
{
    static int turn;
    const size_t n = 4 * ref_volume(b->l);
    double *f = force_of(links, x, y, b), *p = kit_normals(8 * n, rng);
    const double h = 2e-3, size = sqrt(kit_along(f, f, n) / (double)n), noise = 1e-15 * fabs(bilinear_value(u, b)) / h;
    kit_where("%s, lattice %d.%d.%d.%d", what, b->l.size[0], b->l.size[1], b->l.size[2], b->l.size[3]);
    KIT_CHECK(size > 1e-3);
    if (turn++ % comm_size() == comm_rank()) {
        double error, slope = kit_derivative_along(&error, u, p, 8e-3, n, bilinear_value, b);
        KIT_NEAR(kit_along(f, p, n), slope, error);
        KIT_CHECK(error < 1e-5 * size * sqrt((double)n));
    }
    /* On single links everything but a few sites cancels, and the error is of the size of this link's force. */
    for (size_t link = 0; on_links && link < n; link += n / 4 - 1)
        if (turn++ % comm_size() == comm_rank())
            for (int a = 0; a < 8; a += 3)
                KIT_NEAR(kit_coefficient(f + 8 * link, a),
                         ref_derivative(u, link / 4, (int)(link % 4), a, h, bilinear_value, b),
                         10 * noise + 1e-8 * size);
    free(p);
    free(f);
}

static void check_forces(field *links, double complex *u, struct ref_lattice l, int bc, int on_links,
                         struct ref_rng *rng)
{
    const size_t v = ref_volume(l);
    double complex *psi = ref_spinor_new(l), *chi = ref_spinor_new(l);
    ref_random_spinor(psi, 12 * v, rng);
    ref_random_spinor(chi, 12 * v, rng);
    field *x = kit_field(links->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, psi);
    field *y = kit_field(links->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, chi);
    struct bilinear hop = {l, psi, chi, bc, 1, -2, {0, 0}}, even = {l, psi, chi, bc, 0, 0, {0, 0}};
    struct bilinear odd = {l, psi, chi, bc, 0, 1, {0, 0}}, all = {l, psi, chi, bc, 1, REF_BOTH, {2, 1.5}};
    struct bilinear det = {l, psi, chi, bc, 0, -2, {0, 2}};
    check_force(links, u, x, y, &hop, "hop", on_links, rng);
    check_force(links, u, x, y, &even, "clover on even sites", on_links, rng);
    check_force(links, u, x, y, &odd, "clover on odd sites", 0, rng);
    check_force(links, u, x, y, &det, "log det on odd sites", on_links, rng);
    check_force(links, u, x, y, &all, "everything", 0, rng);
    /* Rotated links and spinors: the force turns, its norm stays. */
    double complex *g = kit_alloc(9 * v, sizeof *g);
    double *before = force_of(links, x, y, &all);
    ref_random_rotation(g, l, rng);
    ref_rotate_gauge(u, l, g);
    ref_rotate_spinor(psi, l, g);
    ref_rotate_spinor(chi, l, g);
    kit_scatter(links, u);
    kit_scatter(x, psi);
    kit_scatter(y, chi);
    double *after = force_of(links, x, y, &all);
    kit_where("gauge rotation of forces");
    KIT_NEAR(kit_turned_distance(after, before, g, 4 * v), 0, 1e-13 * kit_largest(before, 32 * v));
    free(after);
    free(before);
    free(g);
    free(chi);
    free(psi);
    field_destroy(x);
    field_destroy(y);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        const struct ref_lattice l = kit_shapes[k];
        const int bc = k % 2 ? 1 : -1;
        lattice *lat = kit_lattice(l, 1 + k % 2, bc);
        if (!lat) continue;
        struct ref_rng rng;
        ref_rng_seed(&rng, 41 + (unsigned)k);
        double complex *u = kit_random_gauge(l, 0.5, &rng);
        field *links = kit_links(lat, u);
        struct ref_wilson w;
        coefficients = k % 2 ? (struct ref_anisotropy){2.5, 0.9, 1.4, 0.7} : (struct ref_anisotropy){1, 1, 1.7, 1.7};
        ref_wilson_create_anisotropic(&w, l, u, mass, &coefficients, bc);
        check_term(links, &w, k, &rng);
        check_negative(links);
        if (k < 4) check_twisted(links, u, &w, k, &rng);
        if (k < 3) check_forces(links, u, l, bc, k < 2, &rng);
        ref_wilson_destroy(&w);
        field_destroy(links);
        free(u);
        lattice_destroy(lat);
    }
    return kit_end();
}
