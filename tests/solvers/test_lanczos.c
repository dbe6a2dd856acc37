/* The ends of spectra: of the free Schur complement, known in closed form; on random links against dense algebra with
 * the oracle; the promises of solvers/lanczos.h on errors and bounds; every process grid; every status. */
#include "tests/kernels/kit.h"

#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>

#include "kernels/ops/vector.h"
#include "operators/wilson.h"
#include "solvers/lanczos.h"

/* What a test may ask of an operator: a multiple of another. */
typedef struct {
    linop base;
    linop *inner;
    double factor;
} multiple;

static void multiple_apply(const linop *op, field *y, const field *x, int dagger)
{
    const multiple *m = (const multiple *)op;
    linop_apply(m->inner, y, x, dagger);
    vector_axpby(y, m->factor, y, 0);
}

static void multiple_refresh(linop *op)
{
    linop_refresh(((multiple *)op)->inner);
}

static multiple multiple_of(linop *inner, double factor)
{
    static const linop_table table = {.name = "multiple", .apply = multiple_apply, .refresh = multiple_refresh};
    multiple m = {*inner, inner, factor};
    m.base.table = &table;
    return m;
}

/* ---- the free field ---- */

/* Mhat = a - h^2 / a with a = 4 + m and h = -sum cos p + i sum gamma sin p, whose eigenvalues are -C +- i S. */
static void free_ends(struct ref_lattice l, double mass, int bc, double *low, double *high)
{
    const double a = 4 + mass;
    int n[4];
    *low = INFINITY;
    *high = 0;
    for (n[0] = 0; n[0] < l.size[0]; n[0]++)
        for (n[1] = 0; n[1] < l.size[1]; n[1]++)
            for (n[2] = 0; n[2] < l.size[2]; n[2]++)
                for (n[3] = 0; n[3] < l.size[3]; n[3]++) {
                    double p[4], C = 0, S2 = 0;
                    ref_momentum(p, l, n, bc);
                    for (int mu = 0; mu < 4; mu++) C += cos(p[mu]), S2 += sin(p[mu]) * sin(p[mu]);
                    const double complex h = -C + I * sqrt(S2), value = a - h * h / a;
                    *low = fmin(*low, creal(value * conj(value)));
                    *high = fmax(*high, creal(value * conj(value)));
                }
}

static void test_free(struct ref_lattice l, double mass)
{
    double low, high;
    kit_where("the free field, mass %g on %d.%d.%d.%d", mass, l.size[0], l.size[1], l.size[2], l.size[3]);
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    double complex *u = ref_gauge_new(l);
    ref_unit_gauge(u, l);
    field *links = kit_links(lat, u);
    wilson *w = wilson_create(
        links,
        &(wilson_settings){.mass = mass, .c_sw = 1, .form = SCHUR_ASYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS});
    linop *normal = normal_create(wilson_schur(w));
    free_ends(l, mass, -1, &low, &high);
    const spectrum s = lanczos_bounds(normal, 5, 300, 1e-10);
    KIT_INT(s.status, LANCZOS_CONVERGED);
    KIT_REL(s.low, low, 1e-9);
    KIT_REL(s.high, high, 1e-9);
    linop_destroy(normal);
    wilson_destroy(w);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

/* ---- random links ---- */

/* The lowest and the highest eigenvalue of the normal operator of the oracle. */
static void dense_ends(struct ref_lattice l, const struct ref_wilson *ref, int p, double *low, double *high)
{
    const size_t v = ref_volume(l), n = 6 * v;
    double complex *in = ref_spinor_new(l), *half = ref_spinor_new(l), *out = ref_spinor_new(l);
    size_t *index = kit_alloc(n, sizeof *index), found = 0;
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n);
    gsl_eigen_herm_workspace *work = gsl_eigen_herm_alloc(n);
    for (size_t i = 0; i < 12 * v; i++)
        if (ref_parity(l, i / 12) == p) index[found++] = i;
    for (size_t j = 0; j < n; j++) {
        memset(in, 0, 12 * v * sizeof *in);
        in[index[j]] = 1;
        ref_schur_asymmetric(half, in, ref, p, 0);
        ref_schur_asymmetric(out, half, ref, p, 1);
        for (size_t i = 0; i < n; i++)
            gsl_matrix_complex_set(m, i, j, gsl_complex_rect(creal(out[index[i]]), cimag(out[index[i]])));
    }
    gsl_eigen_herm(m, values, work);
    *low = gsl_vector_min(values);
    *high = gsl_vector_max(values);
    gsl_eigen_herm_free(work);
    gsl_vector_free(values);
    gsl_matrix_complex_free(m);
    free(index);
    free(out);
    free(half);
    free(in);
}

static void check_status(linop *normal, linop *schur, double low, double high)
{
    /* A few steps: values inside the spectrum, errors that say so, and no claim. */
    const spectrum few = lanczos_bounds(normal, 5, 9, 1e-6);
    KIT_INT(few.status, LANCZOS_TOO_MANY_STEPS);
    KIT_INT(few.steps, 9);
    KIT_CHECK(few.low >= low && few.high <= high && few.low_error > 1e-6 * few.low);
    multiple zero = multiple_of(normal, 0), negative = multiple_of(normal, -1), nan = multiple_of(normal, NAN),
             large = multiple_of(normal, 1e12);
    KIT_INT(lanczos_bounds(&negative.base, 5, 100, 1e-6).status, LANCZOS_BROKEN);
    KIT_INT(lanczos_bounds(&nan.base, 5, 100, 1e-6).status, LANCZOS_BROKEN);
    KIT_INT(lanczos_bounds(schur, 5, 100, 1e-6).status, LANCZOS_BROKEN);
    KIT_INT(lanczos_bounds(&zero.base, 5, 100, 1e-6).status, LANCZOS_BROKEN);
    KIT_REL(lanczos_bounds(&large.base, 5, 500, 1e-4).high, 1e12 * high, 1e-4);
}

static void test_random(double mass)
{
    const struct ref_lattice l = {{2, 2, 2, 4}};
    int grids[16][4];
    const int n = kit_grids(l, grids, 16);
    struct ref_rng rng;
    struct ref_wilson ref;
    spectrum first = {0};
    double low = 0, high = 0;
    ref_rng_seed(&rng, 71);
    double complex *u = kit_random_gauge(l, 0.4, &rng);
    ref_wilson_create(&ref, l, u, mass, 1.5, -1);
    dense_ends(l, &ref, 0, &low, &high);
    for (int g = 0; g < n; g++) {
        kit_where("random links, mass %g, grid %d.%d.%d.%d", mass, grids[g][0], grids[g][1], grids[g][2], grids[g][3]);
        lattice *lat = lattice_create(l.size, grids[g], 1, -1);
        field *links = kit_links(lat, u);
        wilson *w = wilson_create(
            links, &(wilson_settings){
                       .mass = mass, .c_sw = 1.5, .form = SCHUR_ASYMMETRIC, .p = PARITY_EVEN, .storage = FIELD_LINKS});
        linop *normal = normal_create(wilson_schur(w));
        for (double tolerance = 1e-2; tolerance > 1e-7; tolerance *= 1e-2) {
            const spectrum s = lanczos_bounds(normal, 5, 500, tolerance);
            KIT_INT(s.status, LANCZOS_CONVERGED);
            /* Inside the spectrum, up to the rounding of the process. */
            KIT_CHECK(s.low >= low - 1e-13 * high && s.high <= high * (1 + 1e-13));
            KIT_CHECK(s.low_error <= tolerance * s.low && s.high_error <= tolerance * s.high);
            KIT_NEAR(s.low, low, s.low_error + 1e-13 * high);
            KIT_NEAR(s.high, high, s.high_error + 1e-13 * high);
            if (tolerance < 1e-5 && g == 0) first = s;
            if (tolerance < 1e-5) KIT_CHECK(!memcmp(&s, &first, sizeof s));
        }
        linop *single = linop_at(normal, PREC_SINGLE, kit_place);
        const spectrum rough = lanczos_bounds(single, 5, 500, 1e-3);
        KIT_INT(rough.status, LANCZOS_CONVERGED);
        KIT_NEAR(rough.low, low, rough.low_error + 1e-5 * high);
        KIT_NEAR(rough.high, high, rough.high_error + 1e-5 * high);
        check_status(normal, wilson_schur(w), low, high);
        linop_destroy(normal);
        wilson_destroy(w);
        field_destroy(links);
        lattice_destroy(lat);
    }
    ref_wilson_destroy(&ref);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_free((struct ref_lattice){{4, 4, 4, 4}}, 0.1);
    test_free((struct ref_lattice){{4, 2, 6, 8}}, 0.02);
    test_random(0.3);
    test_random(-0.2);
    return kit_end();
}
