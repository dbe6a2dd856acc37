/* The eigensolver against the dense matrix: the lowest values of a staggered quark on 4^4 on rough links, and on cold ones,
 * whose multiplets are larger than a block; true residuals and orthonormal vectors. Deflation: a source in the space of the
 * vectors is solved for without an iteration, any other with a residual that has no part in it, and in fewer iterations; likewise
 * by a solver of the operator itself, with vectors of the normal one. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>

#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/multiblas.h"
#include "operators/staggered.h"
#include "solvers/eigen.h"

static const struct ref_lattice shape = {{4, 4, 4, 4}};
enum { SITES = 256, DIMENSION = SITES / 2 * 3 };

/* All eigenvalues, ascending, from the matrix of A, made of its columns. */
static void dense_values(linop *a, double values[DIMENSION])
{
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(DIMENSION, DIMENSION);
    gsl_vector *e = gsl_vector_alloc(DIMENSION);
    gsl_eigen_herm_workspace *w = gsl_eigen_herm_alloc(DIMENSION);
    field *x = linop_vector(a, 1), *y = field_like(x);
    int place[DIMENSION], n = 0;
    for (int s = 0; s < SITES; s++) {
        const int sum = s % 4 + s / 4 % 4 + s / 16 % 4 + s / 64;
        for (int c = 0; c < 3 && sum % 2 == (int)a->par; c++) place[n++] = 3 * s + c;
    }
    KIT_INT(n, DIMENSION);
    for (int j = 0; j < DIMENSION; j++) {
        double *unit = kit_alloc(kit_reals(x), sizeof *unit);
        unit[2 * place[j]] = 1;
        kit_scatter(x, unit);
        free(unit);
        linop_apply(a, y, x, 0);
        double *column = kit_gather(y);
        for (int i = 0; i < DIMENSION; i++)
            gsl_matrix_complex_set(m, (size_t)i, (size_t)j,
                                   gsl_complex_rect(column[2 * place[i]], column[2 * place[i] + 1]));
        free(column);
    }
    gsl_eigen_herm(m, e, w);
    for (int i = 0; i < DIMENSION; i++) values[i] = gsl_vector_get(e, (size_t)i);
    for (int i = 1; i < DIMENSION; i++)
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            const double t = values[k];
            values[k] = values[k - 1];
            values[k - 1] = t;
        }
    field_destroy(y);
    field_destroy(x);
    gsl_eigen_herm_free(w);
    gsl_vector_free(e);
    gsl_matrix_complex_free(m);
}

static void check_vectors(const eigen_pairs *e, linop *a)
{
    static double dots[64 * 64][2];
    for (int i = 0; i < e->nblocks; i++)
        for (int j = 0; j < e->nblocks; j++) {
            const field *x = e->blocks[i], *y = e->blocks[j];
            multiblas_dot(dots, x, y, 0);
            double worst = 0;
            for (int k = 0; k < x->nrhs; k++)
                for (int l = 0; l < y->nrhs; l++) {
                    const double *d = dots[k * y->nrhs + l], want = i == j && k == l;
                    worst = fmax(worst, hypot(d[0] - want, d[1]));
                }
            KIT_CHECK(worst < 1e-12);
        }
    for (int k = 0; k < e->n; k++) {
        field *v = linop_vector(a, 1), *w = field_like(v);
        const field column = field_rhs(e->blocks[k / e->block], k % e->block);
        vector_axpby(v, 1, &column, 0);
        linop_apply(a, w, v, 0);
        KIT_NEAR(sqrt(vector_axpy_norm2(w, -e->values[k], v, 0)) / e->high, e->residuals[k], 1e-14);
        KIT_CHECK(e->residuals[k] <= 1e-9);
        field_destroy(w);
        field_destroy(v);
    }
}

static field *random_vector(linop *a, uint32_t number)
{
    field *x = linop_vector(a, 1);
    vector_random(x, 3, RANDOM_TEST, number);
    return x;
}

static void check_deflation(const eigen_pairs *e, linop *a, int gains)
{
    solver_settings set = settings_of("cg", "double");
    solver *by = solver_create(&set, a);
    field *b = random_vector(a, 1), *x = field_like(b), *r = field_like(b), *low = field_like(b);
    const int plain = solver_solve(by, x, b, NULL).iterations;
    eigen_deflate(e, e->n, a, 0, low, b);
    linop_apply(a, r, low, 0);
    vector_axpby(r, 1, b, -1);
    for (int k = 0; k < e->nblocks; k++) {
        double dots[64][2];
        multiblas_dot(dots, e->blocks[k], r, 0);
        for (int i = 0; i < e->blocks[k]->nrhs; i++) KIT_NEAR(hypot(dots[i][0], dots[i][1]), 0, 1e-7);
    }
    solver_deflate(by, e, e->n, 0);
    field_clear(x);
    const int fewer = solver_solve(by, x, b, NULL).iterations;
    KIT_CHECK(!gains || fewer < plain);
    set.tolerance = by->settings.tolerance = 1e-6;
    linop_apply(a, r, low, 0);
    field_clear(x);
    KIT_INT(solver_solve(by, x, r, NULL).iterations, 0);
    solver_destroy(by);
    field *const all[] = {b, x, r, low};
    for (int k = 0; k < 4; k++) field_destroy(all[k]);
}

/* The lowest values come out whatever cutoff and order are given, or these are refused; never others. */
static void check_settings(eigen_settings s, linop *a, const double *want)
{
    char message[256];
    static const double cutoffs[] = {5e-3, 0.3, 3};
    for (int i = 0; i < 3; i++)
        for (int order = 0; order <= 60; order += 60) {
            const double cutoff = cutoffs[i];
            s.cutoff = cutoff;
            s.order = order;
            kit_where("cutoff %g, order %d", cutoff, order);
            eigen_pairs *e = eigen_solve(&s, a, message, sizeof message);
            KIT_CHECK(e || (order && strstr(message, "rounding allows at most")));
            for (int k = 0; e && e->converged && k < s.pairs; k++) KIT_NEAR(e->values[k], want[k], 1e-10);
            if (e && !order) KIT_INT(e->converged, 1);
            eigen_free(e);
        }
    s.cutoff = 0;
    s.order = 2000;
    kit_where("order 2000 alone");
    eigen_pairs *e = eigen_solve(&s, a, message, sizeof message);
    KIT_INT(e->converged, 1);
    for (int k = 0; k < s.pairs; k++) KIT_NEAR(e->values[k], want[k], 1e-10);
    eigen_free(e);
    s.cutoff = 1000;
    KIT_CHECK(!eigen_solve(&s, a, message, sizeof message) && strstr(message, "above the spectrum, which ends below"));
    s.pairs = DIMENSION / 2 - 3 * s.block + 1;
    char most[32];
    snprintf(most, sizeof most, "at most %d", s.pairs - 1);
    KIT_CHECK(eigen_fits(&s, a, message, sizeof message) && strstr(message, most));
    s.pairs--, s.basis = 0;
    KIT_CHECK(!eigen_fits(&s, a, message, sizeof message));
}

/* gains: the spectrum has other values beside the lowest multiplets. */
static void test_links(const field *links, const char *name, int gains, int pairs, int block)
{
    static double want[DIMENSION];
    staggered_links *l = staggered_links_create(links, &(staggered_smearing){.kind = STAGGERED_NAIVE});
    staggered *quark = staggered_create(l, 0.05, PARITY_EVEN);
    linop *a = staggered_normal(quark);
    const eigen_settings s = {
        .pairs = pairs, .block = block, .basis = pairs + 8 * block, .tolerance = 1e-10, .restarts = 100, .seed = 5};
    char message[256];
    linop_refresh(a);
    kit_where("%d pairs in blocks of %d, %s links", pairs, block, name);
    KIT_CHECK(!eigen_fits(&s, a, message, sizeof message));
    eigen_pairs *e = eigen_solve(&s, a, message, sizeof message);
    KIT_INT(e->converged, 1);
    dense_values(a, want);
    for (int k = 0; k < pairs; k++) KIT_NEAR(e->values[k], want[k], 1e-10);
    check_vectors(e, a);
    check_deflation(e, a, gains);
    if (gains) check_settings(s, a, want);
    eigen_free(e);
    staggered_destroy(quark);
    staggered_links_destroy(l);
}

/* Vectors of A^dagger A deflate a solver of A. */
static void test_direct(scene *s)
{
    const eigen_settings set = {.pairs = 16, .block = 4, .tolerance = 1e-10, .restarts = 100, .seed = 6};
    solver_settings gcr = settings_of("gcr", "double");
    gcr.tolerance = 1e-6;
    char message[256];
    eigen_pairs *e = eigen_solve(&set, s->normal, message, sizeof message);
    kit_where("eigenvectors of the normal operator of a clover quark");
    KIT_INT(e->converged, 1);
    check_vectors(e, s->normal);
    check_deflation(e, s->normal, 1);
    solver *by = solver_create(&gcr, s->schur);
    field *b = random_vector(s->normal, 2), *low = field_like(b), *x = field_like(b);
    eigen_deflate(e, e->n, s->normal, 0, low, b);
    linop_apply(s->schur, b, low, 0);
    solver_deflate(by, e, e->n, 1);
    const solve_result r = solver_solve(by, x, b, NULL);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    field_destroy(low);
    solver_destroy(by);
    field_destroy(x);
    field_destroy(b);
    eigen_free(e);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    scene s;
    open_scene(&s, shape, 0.02, PARITY_EVEN);
    linop_refresh(s.normal);
    test_links(s.links, "rough", 1, 20, 4);
    field *cold = field_like(s.links);
    gauge_cold(cold);
    test_links(cold, "cold", 0, 24, 4);
    field_destroy(cold);
    test_direct(&s);
    close_scene(&s);
    return kit_end();
}
