/* Moebius domain wall quarks, also with complex coefficients of each slice: M against an oracle that writes it down, and the four-dimensional quark, which has to be that
 * of the overlap operator with the sign function of Ls slices (operators/mobius.h), made of the eigenvectors of its
 * kernel. The contract of fermions (tests/contract) has what holds for every kind. */
#include "tests/kernels/kit.h"
#include "tests/solve.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>

#include "operators/mobius.h"

/* Real numbers and conjugate pairs. */
static const double omega[6][2] = {{1.6, 0}, {0.4, 0.2}, {0.9, -0.15}, {0.9, 0.15}, {0.7, 0}, {0.4, -0.2}};

static const mobius_settings settings[] = {
    {.mass = 0.1, .M5 = 1.8, .b5 = 1.5, .c5 = 0.5, .Ls = 6, .p = PARITY_EVEN, .storage = FIELD_LINKS},
    {.mass = 0.03, .M5 = 1.4, .b5 = 1, .c5 = 0, .Ls = 5, .p = PARITY_ODD, .storage = FIELD_LINKS_TWO_ROWS},
    {.mass = 0.4, .M5 = 1.1, .b5 = 1, .c5 = 1, .Ls = 2, .p = PARITY_EVEN, .storage = FIELD_LINKS},
    {.mass = 0.1,
     .M5 = 1.8,
     .b5 = 1.5,
     .c5 = 0.5,
     .Ls = 6,
     .p = PARITY_ODD,
     .storage = FIELD_LINKS_TWO_ROWS,
     .omega = omega}};
#define SETTINGS (int)(sizeof settings / sizeof settings[0])

/* Between [site][slice][12] of a field and [slice][site][12]. */
static void reorder(double complex *to, const double complex *from, size_t sites, int Ls, int to_field)
{
    for (size_t i = 0; i < sites; i++)
        for (int s = 0; s < Ls; s++) {
            const size_t in_field = 12 * (i * (size_t)Ls + (size_t)s), in_oracle = 12 * ((size_t)s * sites + i);
            memcpy(to + (to_field ? in_field : in_oracle), from + (to_field ? in_oracle : in_field), 12 * sizeof *to);
        }
}

static double complex number(const mobius_settings *s, int i)
{
    return s->omega ? s->omega[i][0] + I * s->omega[i][1] : 1;
}

static void test_operator(struct ref_lattice l, const mobius_settings *s)
{
    struct ref_rng rng;
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 91);
    const size_t sites = ref_volume(l), n = 12 * sites * (size_t)s->Ls;
    double complex *u = kit_random_gauge(l, 0.5, &rng), *in = (double complex *)kit_normals(2 * n, &rng),
                   *want = kit_alloc(n, sizeof *want), *have = kit_alloc(n, sizeof *have);
    struct ref_wilson w;
    ref_wilson_create(&w, l, u, -s->M5, 0, -1);
    double complex b[DOMAINWALL_SLICES], c[DOMAINWALL_SLICES];
    for (int i = 0; s->omega && i < s->Ls; i++) {
        const double complex scaled = (s->b5 + s->c5) / number(s, i);
        b[i] = (scaled + s->b5 - s->c5) / 2;
        c[i] = (scaled - s->b5 + s->c5) / 2;
    }
    const struct ref_mobius oracle = {&w, s->mass, s->b5, s->c5, s->Ls, s->omega ? b : NULL, s->omega ? c : NULL};
    field *links = kit_links(lat, u);
    fermion *f = mobius_fermion(links, s);
    field *x = fermion_vector(f), *y = fermion_vector(f);
    CHECK_INT(x->Ls, s->Ls);
    reorder(have, in, sites, s->Ls, 1);
    kit_scatter(x, have);
    for (int dagger = 0; dagger < 2; dagger++) {
        kit_where("M of %d slices, dagger %d", s->Ls, dagger);
        fermion_apply(f, y, x, dagger);
        double *gathered = kit_gather(y);
        reorder(have, (double complex *)gathered, sites, s->Ls, 0);
        ref_mobius_apply(want, in, &oracle, dagger);
        KIT_NEAR(kit_distance(have, want, 2 * n) / kit_largest(want, 2 * n), 0, 1e-14);
        free(gathered);
    }
    field_destroy(y);
    field_destroy(x);
    fermion_destroy(f);
    field_destroy(links);
    ref_wilson_destroy(&w);
    lattice_destroy(lat);
    free(have);
    free(want);
    free(in);
    free(u);
}

/* ---- the overlap operator of Ls slices ---- */

/* D_W, or gamma5 D_W, as a matrix. */
static gsl_matrix_complex *wilson_matrix(const struct ref_wilson *w, size_t n, int with_gamma5)
{
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(n, n);
    double complex *e = kit_alloc(n, sizeof *e), *d = kit_alloc(n, sizeof *d);
    for (size_t j = 0; j < n; j++) {
        memset(e, 0, n * sizeof *e);
        e[j] = 1;
        ref_wilson_apply(d, e, w, 0);
        if (with_gamma5) ref_apply_gamma5(d, n / 12);
        for (size_t i = 0; i < n; i++) gsl_matrix_complex_set(m, i, j, gsl_complex_rect(creal(d[i]), cimag(d[i])));
    }
    free(d);
    free(e);
    return m;
}

/* H = gamma5 (b + c) D_W / (2 + (b - c) D_W) */
static gsl_matrix_complex *kernel_matrix(const struct ref_wilson *w, const mobius_settings *s, size_t n)
{
    const gsl_complex one = gsl_complex_rect(1, 0), zero = gsl_complex_rect(0, 0);
    gsl_matrix_complex *h5 = wilson_matrix(w, n, 1), *below = wilson_matrix(w, n, 0),
                       *h = gsl_matrix_complex_alloc(n, n), *inverse = gsl_matrix_complex_alloc(n, n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    int sign;
    gsl_matrix_complex_scale(h5, gsl_complex_rect(s->b5 + s->c5, 0));
    gsl_matrix_complex_scale(below, gsl_complex_rect(s->b5 - s->c5, 0));
    for (size_t i = 0; i < n; i++)
        gsl_matrix_complex_set(below, i, i, gsl_complex_add_real(gsl_matrix_complex_get(below, i, i), 2));
    gsl_linalg_complex_LU_decomp(below, order, &sign);
    gsl_linalg_complex_LU_invert(below, order, inverse);
    gsl_blas_zgemm(CblasNoTrans, CblasNoTrans, one, h5, inverse, zero, h);
    gsl_permutation_free(order);
    gsl_matrix_complex_free(inverse);
    gsl_matrix_complex_free(below);
    gsl_matrix_complex_free(h5);
    return h;
}

/* out = D_ov in */
static void overlap_apply(double complex *out, const double complex *in, const struct ref_wilson *w,
                          const mobius_settings *s, size_t n)
{
    gsl_matrix_complex *h = kernel_matrix(w, s, n), *v = gsl_matrix_complex_alloc(n, n);
    gsl_vector *value = gsl_vector_alloc(n);
    gsl_eigen_hermv_workspace *work = gsl_eigen_hermv_alloc(n);
    gsl_eigen_hermv(h, value, v, work);
    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        const double x = gsl_vector_get(value, k);
        double complex along = 0, up = 1, down = 1;
        for (int t = 0; t < s->Ls; t++) {
            up *= 1 + x / number(s, t);
            down *= 1 - x / number(s, t);
        }
        for (size_t i = 0; i < n; i++) {
            const gsl_complex z = gsl_matrix_complex_get(v, i, k);
            along += (GSL_REAL(z) - I * GSL_IMAG(z)) * in[i];
        }
        for (size_t i = 0; i < n; i++) {
            const gsl_complex z = gsl_matrix_complex_get(v, i, k);
            out[i] += (up - down) / (up + down) * along * (GSL_REAL(z) + I * GSL_IMAG(z));
        }
    }
    ref_apply_gamma5(out, n / 12);
    for (size_t i = 0; i < n; i++) out[i] = (1 + s->mass) / 2 * in[i] + (1 - s->mass) / 2 * out[i];
    gsl_eigen_hermv_free(work);
    gsl_vector_free(value);
    gsl_matrix_complex_free(v);
    gsl_matrix_complex_free(h);
}

/* D_ov ((1 - m) q + eta) = eta for the quark q of the source eta. */
static void test_quark(const mobius_settings *s)
{
    const struct ref_lattice l = {{2, 2, 2, 2}};
    struct ref_rng rng;
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 92);
    const size_t n = 12 * ref_volume(l);
    double complex *u = kit_random_gauge(l, 0.3, &rng), *eta = (double complex *)kit_normals(2 * n, &rng),
                   *sum = kit_alloc(n, sizeof *sum);
    struct ref_wilson w;
    ref_wilson_create(&w, l, u, -s->M5, 0, -1);
    field *links = kit_links(lat, u);
    fermion *f = mobius_fermion(links, s);
    field *source = fermion_physical(f), *q = fermion_physical(f), *b = fermion_vector(f), *x = fermion_vector(f);
    field *rhs = linop_vector(f->normal, 1), *half = linop_vector(f->normal, 1), *work = fermion_vector(f);
    const solver_settings set = {.type = param_kind(solver_section(0), "cg"),
                                 .tolerance = 1e-14,
                                 .max_iterations = 5000,
                                 .inner_precision = PREC_DOUBLE,
                                 .delta = 0.1};
    kit_scatter(source, eta);
    fermion_import(f, b, source);
    fermion_prepare(f, rhs, b, 1);
    solve_by(&set, f->normal, half, rhs);
    fermion_reconstruct(f, x, half, b);
    KIT_NEAR(fermion_residual(f, work, x, b), 0, 1e-12);
    fermion_export(f, q, x);
    double *have = kit_gather(q);
    for (size_t i = 0; i < n; i++) sum[i] = (1 - s->mass) * ((double complex *)have)[i] + eta[i];
    overlap_apply((double complex *)have, sum, &w, s, n);
    kit_where("the quark of %d slices", s->Ls);
    KIT_NEAR(kit_distance(have, eta, 2 * n), 0, 1e-10);
    field *all[] = {source, q, b, x, rhs, half, work};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    fermion_destroy(f);
    field_destroy(links);
    ref_wilson_destroy(&w);
    lattice_destroy(lat);
    free(have);
    free(sum);
    free(eta);
    free(u);
}

/* Numbers that are all one, or whose coefficients are those of other b5 and c5, make the Moebius operator of these. */
static void test_equal(void)
{
    static const double ones[4][2] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}},
                        halves[4][2] = {{0.5, 0}, {0.5, 0}, {0.5, 0}, {0.5, 0}};
    const mobius_settings plain = {.mass = 0.1, .M5 = 1.8, .b5 = 1.5, .c5 = 0.5, .Ls = 4, .storage = FIELD_LINKS};
    struct ref_rng rng;
    lattice *lat = kit_lattice(kit_shapes[0], 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 93);
    double complex *u = kit_random_gauge(kit_shapes[0], 0.5, &rng);
    field *links = kit_links(lat, u);
    for (int scaled = 0; scaled < 2; scaled++) {
        mobius_settings same = plain, by_slice = plain;
        by_slice.omega = scaled ? halves : ones;
        same.b5 = scaled ? 2.5 : 1.5;
        same.c5 = scaled ? 1.5 : 0.5;
        fermion *f = mobius_fermion(links, &same), *g = mobius_fermion(links, &by_slice);
        field *source = fermion_physical(f), *b[2] = {fermion_vector(f), fermion_vector(g)},
              *y[2] = {fermion_vector(f), fermion_vector(g)};
        kit_where("equal coefficients, scaled %d", scaled);
        double *eta = kit_normals(kit_reals(source), &rng);
        kit_scatter(source, eta);
        fermion_import(f, b[0], source);
        fermion_import(g, b[1], source);
        for (int dagger = 0; dagger < 2; dagger++) {
            fermion_apply(f, y[0], b[0], dagger);
            fermion_apply(g, y[1], b[1], dagger);
            vector_axpby(y[1], 1, y[0], -1);
            KIT_NEAR(sqrt(vector_norm2(y[1], 0) / vector_norm2(y[0], 0)), 0, 1e-15);
        }
        field *all[] = {source, b[0], b[1], y[0], y[1]};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
        free(eta);
        fermion_destroy(g);
        fermion_destroy(f);
    }
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

/* Iterations of CG on the normal system of a random vector. */
static long iterations(const field *links, const mobius_settings *s)
{
    fermion *f = mobius_fermion(links, s);
    const solver_settings cg = {.type = param_kind(solver_section(0), "cg"),
                                .tolerance = 1e-8,
                                .max_iterations = 5000,
                                .inner_precision = PREC_DOUBLE,
                                .delta = 0.1};
    field *b = linop_vector(f->normal, 1), *x = linop_vector(f->normal, 1);
    struct ref_rng rng;
    ref_rng_seed(&rng, 97);
    double *numbers = kit_normals(kit_reals(b), &rng);
    kit_scatter(b, numbers);
    field_clear(x);
    const solve_result r = solve_by(&cg, f->normal, x, b);
    KIT_NEAR(r.status, SOLVE_CONVERGED, 0);
    free(numbers);
    field_destroy(x);
    field_destroy(b);
    fermion_destroy(f);
    return r.iterations;
}

/* Ten coefficients that stand for 24 slices: as many iterations, within a third. */
static void test_condition(void)
{
    static const double ten[10][2] = {{1.458064389850479, 0},
                                      {1.182313183893475, 0},
                                      {0.830951166685955, 0},
                                      {0.542352409156791, 0},
                                      {0.341985020453729, 0},
                                      {0.21137902619029, 0},
                                      {0.126074299502912, 0},
                                      {0.0990136651962626, 0},
                                      {0.0686324988446592, 0.0550658530827402},
                                      {0.0686324988446592, -0.0550658530827402}};
    const mobius_settings many = {.mass = 0.03, .M5 = 1.8, .b5 = 1.5, .c5 = 0.5, .Ls = 24, .storage = FIELD_LINKS},
                          few = {.mass = 0.03, .M5 = 1.8, .b5 = 1, .Ls = 10, .storage = FIELD_LINKS, .omega = ten};
    struct ref_rng rng;
    lattice *lat = kit_lattice(kit_shapes[0], 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 96);
    double complex *u = kit_random_gauge(kit_shapes[0], 0.2, &rng);
    field *links = kit_links(lat, u);
    const long of_many = iterations(links, &many), of_few = iterations(links, &few);
    printf("iterations: %ld of 24 slices, %ld of ten coefficients\n", of_many, of_few);
    CHECK(3 * of_few < 4 * of_many);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_equal();
    test_condition();
    for (int k = 0; k < SETTINGS; k++) {
        test_operator(kit_shapes[0], &settings[k]);
        test_operator(kit_shapes[2], &settings[k]);
        test_quark(&settings[k]);
    }
    return kit_end();
}
