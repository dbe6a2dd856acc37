/* Multi-BLAS: X^dagger Y is to the bit what dots of pairs are, and X a + b w what a loop over numbers gives, for any numbers
 * of columns, also such that fill no tile, in every precision, with slices, in place and not. */
#include "tests/kernels/kit.h"

#include "kernels/ops/multiblas.h"
#include "kernels/ops/vector.h"

enum { MOST = 37 };

static field *columns(const lattice *lat, field_kind kind, int Ls, precision prec, parity par, int n, double **numbers,
                      struct ref_rng *rng)
{
    const field_shape shape = {.kind = kind, .nrhs = n, .Ls = Ls};
    field *f = field_create_shape(lat, &shape, prec, par, kit_place);
    double *random = kit_normals(kit_reals(f), rng);
    kit_scatter(f, random);
    free(random);
    *numbers = kit_gather(f);
    return f;
}

static void check_dot(const field *x, const field *y, int hermitian)
{
    static double all[MOST * MOST][2];
    multiblas_dot(all, x, y, hermitian);
    for (int i = 0; i < x->nrhs && hermitian; i++)
        for (int j = 0; j <= i; j++) {
            KIT_NEAR(all[i * y->nrhs + j][0], all[j * y->nrhs + i][0], 0);
            KIT_NEAR(all[i * y->nrhs + j][1], -all[j * y->nrhs + i][1], 0);
        }
    for (int i = 0; i < x->nrhs; i++)
        for (int j = hermitian ? i + 1 : 0; j < y->nrhs; j++) {
            double want[2];
            field *a = field_create_shape(x->lat, &(field_shape){.kind = x->kind, .nrhs = 1, .Ls = x->Ls}, x->prec,
                                          x->par, x->where),
                  *b = field_like(a);
            double *ax = kit_gather(x), *by = kit_gather(y), *column = kit_alloc(kit_reals(a), sizeof *column);
            const size_t per = (size_t)(x->reals * x->Ls), sites = (size_t)x->lat->volume;
            for (size_t s = 0; s < sites; s++)
                memcpy(column + s * per, ax + (s * (size_t)x->nrhs + (size_t)i) * per, per * sizeof *column);
            kit_scatter(a, column);
            for (size_t s = 0; s < sites; s++)
                memcpy(column + s * per, by + (s * (size_t)y->nrhs + (size_t)j) * per, per * sizeof *column);
            kit_scatter(b, column);
            vector_dot(want, a, b, 0);
            const double tolerance = x->prec >= PREC_HALF ? 1e-3 * (double)sites : 0;
            KIT_NEAR(all[i * y->nrhs + j][0], want[0], tolerance);
            KIT_NEAR(all[i * y->nrhs + j][1], want[1], tolerance);
            free(column);
            free(by);
            free(ax);
            field_destroy(b);
            field_destroy(a);
        }
}

/* The largest |out - (X a + b w)|, in units of the largest number of out. */
static double error_of(const field *out, const double *x, const double *w, const double (*a)[2], double b, int n)
{
    const int m = out->nrhs, per = out->reals * out->Ls;
    const long sites = out->lat->volume;
    double *got = kit_gather(out), worst = 0, largest = 0;
    for (long s = 0; s < sites; s++)
        for (int j = 0; j < m; j++)
            for (int c = 0; c < per; c += 2) {
                const double *y = got + (s * m + j) * per + c, *z = w + (s * m + j) * per + c;
                double re = b != 0 ? b * z[0] : 0, im = b != 0 ? b * z[1] : 0;
                for (int i = 0; i < n; i++) {
                    const double *v = x + (s * n + i) * per + c, *f = a[i * m + j];
                    re += f[0] * v[0] - f[1] * v[1];
                    im += f[0] * v[1] + f[1] * v[0];
                }
                worst = fmax(worst, fmax(fabs(re - y[0]), fabs(im - y[1])));
                largest = fmax(largest, fmax(fabs(re), fabs(im)));
            }
    free(got);
    return worst / largest;
}

static void check_axpy(const lattice *lat, field_kind kind, int Ls, precision prec, parity par, int n, int m,
                       struct ref_rng *rng)
{
    double *nx, *nw, *no, (*a)[2] = (double(*)[2])(void *)kit_normals((size_t)(2 * n * m), rng);
    field *x = columns(lat, kind, Ls, prec, par, n, &nx, rng), *w = columns(lat, kind, Ls, prec, par, m, &nw, rng),
          *out = columns(lat, kind, Ls, prec, par, m, &no, rng);
    const double tolerance = 4 * (n + 2) * kit_epsilon[prec] + (n / 16 + 2) * kit_step[prec];
    multiblas_axpy(out, a, x, 0, NULL);
    KIT_CHECK(error_of(out, nx, nw, a, 0, n) <= tolerance);
    multiblas_axpy(out, a, x, -0.5, w);
    KIT_CHECK(error_of(out, nx, nw, a, -0.5, n) <= tolerance);
    multiblas_axpy(w, a, x, 1, w);
    KIT_CHECK(error_of(w, nx, nw, a, 1, n) <= tolerance);
    field_destroy(out);
    field_destroy(w);
    field_destroy(x);
    free(no);
    free(nw);
    free(nx);
    free(a);
}

static void test_on(struct ref_lattice l, struct ref_rng *rng)
{
    static const int shapes[][2] = {{1, 1}, {3, 5}, {4, 4}, {9, 2}, {17, 11}, {MOST, 8}};
    lattice *lat = kit_lattice(l, 1, -1);
    for (int k = 0; lat && k < 2 * PREC_COUNT; k++) {
        const precision prec = (precision)(k / 2);
        const field_kind kind = k % 2 ? FIELD_VECTOR : FIELD_SPINOR;
        const int Ls = kind == FIELD_SPINOR && prec == PREC_SINGLE ? 2 : 1;
        const parity par = prec == PREC_DOUBLE ? PARITY_BOTH : PARITY_ODD;
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            const int n = shapes[i][0], m = shapes[i][1];
            kit_where("%d and %d columns of %d slices of %s in %s", n, m, Ls, field_kinds[kind].name,
                      precision_names[prec]);
            check_axpy(lat, kind, Ls, prec, par, n, m, rng);
            if (n > 9) continue;
            double *nx, *ny;
            field *x = columns(lat, kind, Ls, prec, par, n, &nx, rng),
                  *y = columns(lat, kind, Ls, prec, par, m, &ny, rng);
            check_dot(x, y, 0);
            check_dot(x, x, 1);
            field_destroy(y);
            field_destroy(x);
            free(ny);
            free(nx);
        }
    }
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    struct ref_rng rng;
    kit_begin(&argc, &argv);
    ref_rng_seed(&rng, 83);
    test_on(kit_shapes[0], &rng);
    test_on(kit_shapes[4], &rng);
    return kit_end();
}
