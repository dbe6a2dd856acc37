#include "kernels/ops/multiblas.h"

#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/family/multiblas.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/sums.h"

static void check(const field *x, const field *y)
{
    REQUIRE(field_kinds[x->kind].groups == 1 && x->order == ORDER_SITES, "multi-BLAS with %s",
            field_kinds[x->kind].name);
    REQUIRE(x->lat == y->lat && x->kind == y->kind && x->Ls == y->Ls && x->par == y->par && x->prec == y->prec &&
                x->where == y->where,
            "%s (parity %d, precision %d, place %d, %d slices) beside %s (%d, %d, %d, %d) on %s lattice",
            field_kinds[y->kind].name, y->par, y->prec, y->where, y->Ls, field_kinds[x->kind].name, x->par, x->prec,
            x->where, x->Ls, x->lat == y->lat ? "the same" : "another");
}

static int at_most(int n, int most)
{
    return n < most ? n : most;
}

/* ---- X^dagger Y ---- */

/* Adds one tile to the sums of the whole matrix, of which a row has y->nrhs. */
static void dot_tile(exact_sum *all, const field *x, const field *y, int first_x, int first_y, int upper)
{
    const int nx = at_most(x->nrhs - first_x, MULTIBLAS_TILE), ny = at_most(y->nrhs - first_y, MULTIBLAS_TILE);
    exact_sum s[2 * MULTIBLAS_TILE * MULTIBLAS_TILE];
    for (int k = 0; k < 2 * MULTIBLAS_TILE * MULTIBLAS_TILE; k++) s[k] = exact_zero();
    FOR_PARITIES(p, x)
    {
        const multiblas_dot_args args = {.x = field_in(x, (parity)p),
                                         .y = field_in(y, (parity)p),
                                         .n = nx * ny,
                                         .nx = nx,
                                         .ny = ny,
                                         .first_x = first_x,
                                         .first_y = first_y,
                                         .upper = upper,
                                         .reals = x->reals,
                                         .slices = x->Ls};
        kernel_work w = vector_work(KERNEL_multiblas_dot, x, nx * ny * x->Ls);
        w.bytes *= (nx + ny) / (2.0 * nx * ny);
        w.sums = s;
        kernel_run(KERNEL_multiblas_dot, x, &args, w);
    }
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < 2 * ny; j++) all[2 * ((first_x + i) * y->nrhs + first_y) + j] = s[2 * i * ny + j];
}

void multiblas_dot(double (*value)[2], const field *x, const field *y, int hermitian)
{
    const int n = x->nrhs, m = y->nrhs;
    check(x, y);
    REQUIRE(!hermitian || n == m, "a Hermitian matrix of %d x %d", n, m);
    exact_sum *s = malloc(2 * (size_t)(n * m) * sizeof *s);
    REQUIRE_MEMORY(s, "out of memory for %d x %d sums", n, m);
    for (int k = 0; k < 2 * n * m; k++) s[k] = exact_zero();
    for (int i = 0; i < n; i += MULTIBLAS_TILE)
        for (int j = hermitian ? i : 0; j < m; j += MULTIBLAS_TILE) dot_tile(s, x, y, i, j, hermitian && i == j);
    comm_group_sum_exact(x->lat->group, s, 2 * n * m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            const int lower = hermitian && i > j, k = lower ? j * m + i : i * m + j;
            double *const to = value[i * m + j];
            to[0] = x->lat->planned ? i == j : exact_value(&s[2 * k]);
            to[1] = x->lat->planned || (hermitian && i == j) ? 0 : exact_value(&s[2 * k + 1]) * (lower ? -1 : 1);
        }
    free(s);
}

/* ---- X a + b w ---- */

static void axpy_tile(field *out, const double (*a)[2], const field *x, double b, const field *w, int first,
                      int first_x)
{
    const int n = at_most(out->nrhs - first, MULTIBLAS_TO), nx = at_most(x->nrhs - first_x, MULTIBLAS_FROM);
    FOR_PARITIES(p, out)
    {
        multiblas_axpy_args args = {.out = field_out(out, (parity)p),
                                    .x = field_in(x, (parity)p),
                                    .b = b,
                                    .n = n,
                                    .nx = nx,
                                    .first = first,
                                    .first_x = first_x,
                                    .reals = out->reals,
                                    .slices = out->Ls};
        args.w = b != 0 ? field_in(w, (parity)p) : args.out;
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < n; j++)
                for (int c = 0; c < 2; c++) args.a[i][j][c] = a[(first_x + i) * out->nrhs + first + j][c];
        kernel_work work = vector_work(KERNEL_multiblas_axpy, out, nx * n * out->Ls);
        work.bytes *= (nx + (b != 0 ? 2 : 1) * n) / (3.0 * nx * n);
        kernel_run(KERNEL_multiblas_axpy, out, &args, work);
    }
}

void multiblas_axpy(field *out, const double (*a)[2], const field *x, double b, const field *w)
{
    check(out, x);
    REQUIRE(out != x && (b == 0 || w == out || w->nrhs == out->nrhs), "%d right-hand sides from %d", out->nrhs,
            x->nrhs);
    if (b != 0) check(out, w);
    for (int first = 0; first < out->nrhs; first += MULTIBLAS_TO)
        for (int i = 0; i < x->nrhs; i += MULTIBLAS_FROM) axpy_tile(out, a, x, i ? 1 : b, i ? out : w, first, i);
}
