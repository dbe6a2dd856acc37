#include "kernels/ops/multiblas.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

static int is_asked(const multiblas_dot_args *a, int row, int column)
{
    return row < a->nx && column < a->ny && !(a->hermitian && row > column);
}

/* Entries that the tiles have and that are asked for. */
static int entries_of(const multiblas_dot_args *a)
{
    int n = 0;
    for (int t = 0; t < a->tiles; t++)
        for (int i = 0; i < MULTIBLAS_TILE; i++)
            for (int j = 0; j < MULTIBLAS_TILE; j++) n += is_asked(a, a->first[t][0] + i, a->first[t][1] + j);
    return n;
}

/* A matrix in the making. rounded: by a device, whose one rank and launch have the whole of each sum. */
typedef struct {
    multiblas_dot_args args;
    exact_sum *sums; /* [nx][ny][re, im]; null where rounded */
    double (*value)[2];
} product;

/* Takes the sums of the tiles, or their values, to their places in the whole matrix. */
static void collect(const product *m, const exact_sum *sums, const double *values)
{
    const multiblas_dot_args *a = &m->args;
    for (int t = 0; t < a->tiles; t++)
        for (int i = 0; i < MULTIBLAS_TILE; i++)
            for (int j = 0; j < MULTIBLAS_TILE; j++) {
                const int row = a->first[t][0] + i, column = a->first[t][1] + j, to = row * a->ny + column,
                          from = t * MULTIBLAS_TILE_SUMS + 2 * (i * MULTIBLAS_TILE + j);
                for (int c = 0; c < 2 && is_asked(a, row, column); c++)
                    if (a->rounded) m->value[to][c] = values[from + c];
                    else m->sums[2 * to + c] = sums[from + c];
            }
}

/* Runs the tiles that the arguments hold, and empties them. */
static void run_tiles(product *m, const field *x, const field *y)
{
    static exact_sum sums[MULTIBLAS_TILES * MULTIBLAS_TILE_SUMS];
    static double values[MULTIBLAS_TILES * MULTIBLAS_TILE_SUMS];
    multiblas_dot_args *a = &m->args;
    const int n = a->tiles * MULTIBLAS_TILE_SUMS, entries = entries_of(a);
    for (int k = 0; k < n && !a->rounded; k++) sums[k] = exact_zero();
    FOR_PARITIES(p, x)
    {
        kernel_work w = vector_work(KERNEL_multiblas_dot, x, entries * x->Ls);
        const int columns = at_most(a->tiles * MULTIBLAS_TILE, a->nx) + at_most(a->tiles * MULTIBLAS_TILE, a->ny);
        a->x = field_in(x, (parity)p);
        a->y = field_in(y, (parity)p);
        w.bytes *= columns / (2.0 * entries);
        w.n = (long)a->cells[0] * a->cells[1] * a->cells[2] * a->cells[3];
        w.sums = a->rounded ? NULL : sums;
        w.values = a->rounded ? values : NULL;
        w.nsums = n;
        kernel_run(KERNEL_multiblas_dot, x, a, w);
    }
    collect(m, sums, values);
    a->tiles = 0;
}

/* Tiles in squares of SQUARE x SQUARE: tiles in a row are near one another, and on a device read what caches hold. */
#define SQUARE (4 * MULTIBLAS_TILE)

static void run_all_tiles(product *m, const field *x, const field *y)
{
    multiblas_dot_args *a = &m->args;
    const int most = x->where == PLACE_DEVICE ? MULTIBLAS_TILES : 1;
    for (int row = 0; row < a->nx; row += SQUARE)
        for (int column = 0; column < a->ny; column += SQUARE)
            for (int i = row; i < at_most(row + SQUARE, a->nx); i += MULTIBLAS_TILE)
                for (int j = column; j < at_most(column + SQUARE, a->ny); j += MULTIBLAS_TILE) {
                    if (a->hermitian && i > j) continue;
                    a->first[a->tiles][0] = (unsigned char)i;
                    a->first[a->tiles][1] = (unsigned char)j;
                    if (++a->tiles == most) run_tiles(m, x, y);
                }
    if (a->tiles > 0) run_tiles(m, x, y);
}

/* The sums of the upper triangle of n x n, row after row, which alone travel. Returns how many entries these are. */
static int pack_upper(exact_sum *s, int n)
{
    int entries = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++, entries++)
            for (int c = 0; c < 2; c++) s[2 * entries + c] = s[2 * (i * n + j) + c];
    return entries;
}

/* Values of the entries that are asked for, of sums over all ranks. */
static void add_ranks(product *m, const comm_group *group)
{
    const int n = m->args.nx, hermitian = m->args.hermitian, columns = m->args.ny;
    const int entries = hermitian ? pack_upper(m->sums, n) : n * columns;
    comm_group_sum_exact(group, m->sums, 2 * entries);
    const exact_sum *s = m->sums;
    for (int i = 0; i < n; i++)
        for (int j = hermitian ? i : 0; j < columns; j++)
            for (int c = 0; c < 2; c++) m->value[i * columns + j][c] = exact_value(s++);
}

static void make_hermitian(double (*value)[2], int n)
{
    for (int i = 0; i < n; i++) {
        value[i * n + i][1] = 0;
        for (int j = i + 1; j < n; j++) {
            value[j * n + i][0] = value[i * n + j][0];
            value[j * n + i][1] = -value[i * n + j][1];
        }
    }
}

void multiblas_dot(double (*value)[2], const field *x, const field *y, int hermitian)
{
    const int n = x->nrhs, columns = y->nrhs, entries = n * columns, planned = x->lat->planned;
    const comm_group *group = x->lat->group;
    check(x, y);
    REQUIRE(!hermitian || n == columns, "a Hermitian matrix of %d x %d", n, columns);
    REQUIRE(n <= UCHAR_MAX && columns <= UCHAR_MAX, "%d and %d right-hand sides", n, columns);
    const geom g = field_geom(x);
    product m = {.args = {.nx = n, .ny = columns, .hermitian = hermitian, .reals = x->reals, .slices = x->Ls},
                 .value = value};
    m.args.rounded = x->where == PLACE_DEVICE && comm_group_size(group) == 1 && x->par != PARITY_BOTH && !planned;
    for (int d = 0; d < 4; d++) {
        m.args.cells[d] = g.sub[d] / 2;
        m.args.stride[d] = g.stride[d];
    }
    if (!m.args.rounded) {
        m.sums = malloc(2 * (size_t)entries * sizeof *m.sums);
        REQUIRE_MEMORY(m.sums, "out of memory for %d x %d sums", n, columns);
        for (int k = 0; k < 2 * entries; k++) m.sums[k] = exact_zero();
    }
    run_all_tiles(&m, x, y);
    if (!m.args.rounded) add_ranks(&m, group);
    free(m.sums);
    for (int k = 0; k < entries && planned; k++) {
        value[k][0] = k / columns == k % columns;
        value[k][1] = 0;
    }
    if (hermitian) make_hermitian(value, n);
}

/* ---- X a + b w ---- */

/* Bytes of a real in arithmetic precision. */
static size_t arithmetic_bytes(const field *f)
{
    return f->prec == PREC_DOUBLE ? sizeof(double) : sizeof(float);
}

/* n complex coefficients in arithmetic precision; free() them. */
static void *round_coefficients(const field *f, const double (*a)[2], size_t n)
{
    void *to = malloc(2 * n * arithmetic_bytes(f));
    REQUIRE_MEMORY(to, "out of memory for %zu coefficients", n);
    if (f->prec == PREC_DOUBLE) memcpy(to, a, 2 * n * sizeof(double));
    else
        for (size_t i = 0; i < 2 * n; i++) ((float *)to)[i] = (float)a[i / 2][i % 2];
    return to;
}

/* Columns of out that one launch makes of nx columns: all of them on the host. On a device a launch rounds them up to a
 * multiple of what a warp makes, 16 at most, and has coefficients for all of these. */
static int columns_at_once(const field *out, int nx)
{
    if (out->where == PLACE_HOST) return out->nrhs;
    const int most = (int)(MULTIBLAS_COEFFICIENT_BYTES / (2 * arithmetic_bytes(out) * (size_t)nx));
    return most >= 16 ? most / 16 * 16 : most >= 8 ? 8 : most >= 4 ? 4 : 0;
}

void multiblas_axpy(field *out, const double (*a)[2], const field *x, double b, const field *w)
{
    check(out, x);
    REQUIRE(out != x && (b == 0 || w == out || w->nrhs == out->nrhs), "%d right-hand sides from %d", out->nrhs,
            x->nrhs);
    if (b != 0) check(out, w);
    const int nx = x->nrhs, most = columns_at_once(out, nx);
    REQUIRE(most >= 1, "%d right-hand sides", nx);
    void *const rounded = round_coefficients(out, a, (size_t)nx * (size_t)out->nrhs);
    for (int first = 0; first < out->nrhs; first += most) FOR_PARITIES(p, out)
        {
            const int n = at_most(out->nrhs - first, most);
            multiblas_axpy_args args = {.out = field_out(out, (parity)p),
                                        .x = field_in(x, (parity)p),
                                        .a = (const char *)rounded + 2 * (size_t)first * arithmetic_bytes(out),
                                        .b = b,
                                        .row = out->nrhs,
                                        .n = n,
                                        .nx = nx,
                                        .first = first,
                                        .reals = out->reals,
                                        .slices = out->Ls};
            args.w = b != 0 ? field_in(w, (parity)p) : args.out;
            kernel_work work = vector_work(KERNEL_multiblas_axpy, out, nx * n * out->Ls);
            work.bytes *= (nx + (b != 0 ? 2 : 1) * n) / (3.0 * nx * n);
            kernel_run(KERNEL_multiblas_axpy, out, &args, work);
        }
    free(rounded);
}
