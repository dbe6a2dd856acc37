/* Multi-BLAS: X^dagger Y is to the bit the exact sum of its cells, and X a + b w what a loop over numbers gives, for any numbers
 * of columns, also such that fill no tile, in every precision, with slices, in place and not. */
#include "tests/kernels/kit.h"

#include "kernels/lattice/exact.h"
#include "kernels/ops/multiblas.h"

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

/* Sum conj(x_i) y_j as multiblas_dot() makes it: products of a cell's eight sites of one parity one after the other, in the
 * arithmetic of the precision, and cells exactly. n, m: columns; per: reals of a column at a site. */
static void add_cell(exact_sum s[2], const double *x, const double *y, int n, int m, const field *f,
                     const int corner[4], int p)
{
    const int *const l = f->lat->size, slices = f->Ls, reals = f->reals;
    for (int slice = 0; slice < slices; slice++) {
        double re = 0, im = 0;
        for (int k = 0; k < 8; k++) {
            const int at[4] = {corner[0], corner[1] + (k & 1), corner[2] + (k >> 1 & 1), corner[3] + (k >> 2)};
            const int odd = (at[1] + at[2] + at[3] + p) & 1;
            const long site = (((long)at[3] * l[2] + at[2]) * l[1] + at[1]) * l[0] + at[0] + odd;
            const double *a = x + (site * n * slices + slice) * reals, *b = y + (site * m * slices + slice) * reals;
            for (int c = 0; c < reals; c += 2) {
                if (f->prec == PREC_DOUBLE) {
                    re = fma(a[c + 1], b[c + 1], fma(a[c], b[c], re));
                    im = fma(-a[c + 1], b[c], fma(a[c], b[c + 1], im));
                } else {
                    const float u[2] = {(float)a[c], (float)a[c + 1]}, v[2] = {(float)b[c], (float)b[c + 1]};
                    re = fmaf(u[1], v[1], fmaf(u[0], v[0], (float)re));
                    im = fmaf(-u[1], v[0], fmaf(u[0], v[1], (float)im));
                }
            }
        }
        exact_add(&s[0], re);
        exact_add(&s[1], im);
    }
}

static void reference_dot(double want[2], const double *x, const double *y, int n, int m, const field *f)
{
    const int *const l = f->lat->size;
    exact_sum s[2] = {exact_zero(), exact_zero()};
    int at[4];
    for (int p = field_first_parity(f); p <= field_last_parity(f); p++)
        for (at[3] = 0; at[3] < l[3]; at[3] += 2)
            for (at[2] = 0; at[2] < l[2]; at[2] += 2)
                for (at[1] = 0; at[1] < l[1]; at[1] += 2)
                    for (at[0] = 0; at[0] < l[0]; at[0] += 2) add_cell(s, x, y, n, m, f, at, p);
    for (int c = 0; c < 2; c++) want[c] = exact_value(&s[c]);
}

static void check_dot(const field *x, const field *y, int hermitian)
{
    static double all[MOST * MOST][2];
    const int n = x->nrhs, m = y->nrhs, per = x->Ls * x->reals;
    multiblas_dot(all, x, y, hermitian);
    for (int i = 0; i < n && hermitian; i++)
        for (int j = 0; j <= i; j++) {
            KIT_NEAR(all[i * m + j][0], all[j * m + i][0], 0);
            KIT_NEAR(all[i * m + j][1], -all[j * m + i][1], 0);
        }
    double *ax = kit_gather(x), *by = kit_gather(y);
    /* A kernel and a conversion round a product of an integer and its scale in ways of their own. */
    const double tolerance = x->prec >= PREC_HALF ? 0x1p-22 * per * (double)x->lat->volume : 0;
    for (int i = 0; i < n; i++)
        for (int j = hermitian ? i : 0; j < m; j++) {
            double want[2];
            reference_dot(want, ax + i * per, by + j * per, n, m, x);
            KIT_NEAR(all[i * m + j][0], want[0], tolerance);
            if (!hermitian || i != j) KIT_NEAR(all[i * m + j][1], want[1], tolerance);
        }
    free(by);
    free(ax);
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
    const double tolerance = 4 * (n + 2) * kit_epsilon[prec] + 2 * kit_step[prec];
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
            if (n > 17) continue;
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
