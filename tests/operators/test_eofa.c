/* The exact one-flavour algorithm: the determinants of its two operators, as matrices, make that of the quark over the
 * heavier one; they are Hermitian, with spectra where operators/eofa.h says; and their resolvents are those of the
 * interpolated quarks. */
#include "tests/kernels/kit.h"
#include "tests/solve.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_linalg.h>

#include "operators/eofa.h"

static const struct {
    mobius_settings s;
    double heavy;
} cases[] = {
    {{.mass = 0.1, .M5 = 1.8, .b5 = 1.5, .c5 = 0.5, .Ls = 4, .p = PARITY_EVEN, .storage = FIELD_LINKS}, 1},
    {{.mass = 0.02, .M5 = 1.4, .b5 = 1, .c5 = 0, .Ls = 2, .p = PARITY_ODD, .storage = FIELD_LINKS_TWO_ROWS}, 0.3}};
#define CASES (int)(sizeof cases / sizeof cases[0])

static void set_unit(field *f, size_t n, size_t j, double complex *work)
{
    memset(work, 0, n * sizeof *work);
    work[j] = 1;
    kit_scatter(f, work);
}

static double log_det(gsl_matrix_complex *m, size_t n)
{
    int sign;
    gsl_permutation *order = gsl_permutation_alloc(n);
    gsl_linalg_complex_LU_decomp(m, order, &sign);
    gsl_permutation_free(order);
    return gsl_linalg_complex_LU_lndet(m);
}

/* log |det M| of a mass. */
static double log_det_of_quark(const field *links, mobius_settings s, double mass)
{
    s.mass = mass;
    fermion *f = mobius_fermion(links, &s);
    field *x = fermion_vector(f), *y = field_like(x);
    const size_t n = 12 * (size_t)s.Ls * (size_t)links->lat->volume;
    double complex *unit = kit_alloc(n, sizeof *unit);
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(n, n);
    for (size_t j = 0; j < n; j++) {
        set_unit(x, n, j, unit);
        fermion_apply(f, y, x, 0);
        double *column = kit_gather(y);
        for (size_t i = 0; i < n; i++)
            gsl_matrix_complex_set(m, i, j, gsl_complex_rect(column[2 * i], column[2 * i + 1]));
        free(column);
    }
    const double result = log_det(m, n);
    gsl_matrix_complex_free(m);
    free(unit);
    field_destroy(y);
    field_destroy(x);
    fermion_destroy(f);
    return result;
}

/* y = phi + weight w^T H_f^-1 w phi of a chirality. */
static void apply(const eofa *e, fermion *f, int chirality, double weight, field *y, const field *phi)
{
    const solver_settings set = {.type = param_kind(solver_section(0), "cg"),
                                 .tolerance = 1e-14,
                                 .max_iterations = 5000,
                                 .inner_precision = PREC_DOUBLE,
                                 .delta = 0.1};
    field *source = fermion_vector(f), *x = fermion_vector(f), *rhs = linop_vector(f->normal, 1),
          *half = linop_vector(f->normal, 1);
    eofa_enter(e, chirality, source, phi);
    fermion_prepare(f, rhs, source, 1);
    solve_by(&set, f->normal, half, rhs);
    fermion_reconstruct(f, x, half, source);
    vector_copy(y, phi);
    eofa_leave(e, chirality, y, weight, x);
    field_destroy(half);
    field_destroy(rhs);
    field_destroy(x);
    field_destroy(source);
}

/* A on the vectors of its chirality, 6 a site. */
static gsl_matrix_complex *matrix_of(const eofa *e, const field *links, int chirality)
{
    fermion *f = eofa_quark(e, chirality, 0);
    field *phi = fermion_physical(f), *y = field_like(phi);
    const size_t sites = (size_t)links->lat->volume, n = 6 * sites;
    double complex *unit = kit_alloc(12 * sites, sizeof *unit);
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(n, n);
    for (size_t j = 0; j < n; j++) {
        set_unit(phi, 12 * sites, 12 * (j / 6) + 6 * (size_t)chirality + j % 6, unit);
        apply(e, f, chirality, eofa_factor(e, chirality), y, phi);
        double *column = kit_gather(y);
        for (size_t i = 0; i < n; i++) {
            const size_t at = 12 * (i / 6) + 6 * (size_t)chirality + i % 6;
            gsl_matrix_complex_set(m, i, j, gsl_complex_rect(column[2 * at], column[2 * at + 1]));
        }
        free(column);
    }
    free(unit);
    field_destroy(y);
    field_destroy(phi);
    fermion_destroy(f);
    return m;
}

/* Hermitian, and the spectrum; overwrites m. Returns log det. */
static double examine(gsl_matrix_complex *m, const eofa *e, int chirality)
{
    const size_t n = m->size1;
    double off = 0, sum = 0, least, most;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            off = fmax(off, gsl_complex_abs(gsl_complex_sub(gsl_matrix_complex_get(m, i, j),
                                                            gsl_complex_conjugate(gsl_matrix_complex_get(m, j, i)))));
    KIT_NEAR(off, 0, 1e-10);
    eofa_bounds(e, &least, &most);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_herm_workspace *work = gsl_eigen_herm_alloc(n);
    gsl_eigen_herm(m, values, work);
    double low, high;
    gsl_vector_minmax(values, &low, &high);
    printf("chirality %d: spectrum %.6f to %.6f, allowed %g to %g\n", chirality, low, high, least, most);
    CHECK(low > least * (1 - 1e-9) && high < most * (1 + 1e-9));
    CHECK(high > 1.05 * low); /* it is not a unit matrix */
    for (size_t i = 0; i < n; i++) sum += log(gsl_vector_get(values, i));
    gsl_eigen_herm_free(work);
    gsl_vector_free(values);
    return sum;
}

/* (A + pole) g (1 - g factor w^T H_f^-1 w) phi = phi */
static void check_resolvent(const eofa *e, int chirality, double pole, struct ref_rng *rng)
{
    const double g = 1 / (1 + pole), factor = eofa_factor(e, chirality);
    fermion *of_a = eofa_quark(e, chirality, 0), *shifted = eofa_quark(e, chirality, g);
    field *phi = fermion_physical(of_a), *y = field_like(phi), *z = field_like(phi);
    const size_t n = 12 * (size_t)phi->lat->volume;
    double complex *numbers = (double complex *)kit_normals(2 * n, rng);
    for (size_t i = 0; i < n; i++)
        if ((i % 12 < 6) != (chirality == 0)) numbers[i] = 0;
    kit_scatter(phi, numbers);
    apply(e, shifted, chirality, -g * factor, y, phi);
    vector_axpby(y, g, y, 0);
    apply(e, of_a, chirality, factor, z, y);
    vector_axpby(z, pole, y, 1);
    KIT_NEAR(sqrt(vector_axpy_norm2(z, -1, phi, 0) / vector_norm2(phi, 0)), 0, 1e-10);
    free(numbers);
    field_destroy(z);
    field_destroy(y);
    field_destroy(phi);
    fermion_destroy(shifted);
    fermion_destroy(of_a);
}

/* On each of two configurations log det M(m) / M(heavy) + log det A_+ A_-, which is a constant of the masses alone. */
static void test_determinant(const mobius_settings *s, double heavy)
{
    const struct ref_lattice l = {{2, 2, 2, 2}};
    double constants[2];
    struct ref_rng rng;
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 93);
    for (int k = 0; k < 2; k++) {
        double complex *u = kit_random_gauge(l, k == 0 ? 0.3 : 1, &rng);
        field *links = kit_links(lat, u);
        eofa *e = eofa_create(links, s, heavy);
        const double whole = log_det_of_quark(links, *s, s->mass) - log_det_of_quark(links, *s, heavy);
        constants[k] = whole;
        kit_where("EOFA of %d slices, links %d", s->Ls, k);
        for (int c = 0; c < 2; c++) {
            gsl_matrix_complex *m = matrix_of(e, links, c);
            constants[k] += examine(m, e, c);
            gsl_matrix_complex_free(m);
            check_resolvent(e, c, 0.3, &rng);
        }
        printf("links %d: log det %.10f, with both factors %.10f\n", k, whole, constants[k]);
        eofa_destroy(e);
        field_destroy(links);
        free(u);
    }
    KIT_NEAR(constants[0], constants[1], 1e-8);
    lattice_destroy(lat);
}

/* Resolvents on a lattice that ranks may share. */
static void test_resolvents(const mobius_settings *s, double heavy)
{
    struct ref_rng rng;
    lattice *lat = kit_lattice(kit_shapes[0], 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 94);
    double complex *u = kit_random_gauge(kit_shapes[0], 0.5, &rng);
    field *links = kit_links(lat, u);
    eofa *e = eofa_create(links, s, heavy);
    for (int c = 0; c < 2; c++) {
        kit_where("the resolvent of %d slices, chirality %d", s->Ls, c);
        check_resolvent(e, c, 0.7, &rng);
    }
    eofa_destroy(e);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < CASES; k++) test_resolvents(&cases[k].s, cases[k].heavy);
    for (int k = 0; k < CASES; k++) test_determinant(&cases[k].s, cases[k].heavy);
    return kit_end();
}
