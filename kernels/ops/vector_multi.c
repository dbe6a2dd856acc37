/* Sums and updates of many vectors, and of right-hand sides with numbers of their own. */
#include <stdlib.h>

#include "kernels/ops/vector_launch.h"

/* ---- sums of all right-hand sides ---- */

_Static_assert(2 * EACH_MOST <= KERNEL_MAX_SUMS, "more sums than a kernel has");

/* Launches over some right-hand sides: one a parity. */
#define FOR_SEVERAL(l, f) FOR_LAUNCHES(l, f, 0, 1)

/* Up to `most` right-hand sides from number *from on that are going, or all of them without `going`; *from moves behind them. */
static several several_of(const field *f, const char *going, int *from, int most)
{
    several s = {.slices = f->Ls, .apart = f->order == ORDER_ROWS ? f->group_stride : 0};
    for (; *from < f->nrhs && s.many < most; (*from)++)
        if (!going || going[*from]) s.number[s.many++] = *from;
    return s;
}

/* Runs a kernel on them, which makes `nsums` sums. */
static void several_run(kernel_id id, const launch *l, const void *args, const several *s, exact_sum *sums, int nsums)
{
    kernel_work w = registered_work(id, l, s->many * s->slices);
    w.sums = sums;
    w.nsums = nsums;
    kernel_run(id, l->like, args, w);
}

static void sums_clear(exact_sum *s, int n)
{
    for (int k = 0; k < n; k++) s[k] = exact_zero();
}

/* Values of n sums, over all ranks. */
static void sums_values(double *value, const field *like, exact_sum *s, int n, int step)
{
    sum_over_ranks(like->lat, s, n, step);
    for (int k = 0; k < n; k++) value[k] = exact_value(&s[k]);
}

void vector_norm2_each(double *value, const field *x)
{
    check_vector(x);
    for (int first = 0, next = 0; first < x->nrhs; first = next) {
        const several all = several_of(x, NULL, &next, EACH_MOST);
        exact_sum s[EACH_MOST];
        sums_clear(s, EACH_MOST);
        FOR_SEVERAL(l, x)
        {
            const norm2_each_args args = {to_read(&l, x), l.reals, all};
            several_run(KERNEL_norm2_each, &l, &args, &all, s, all.many);
        }
        sums_values(value + first, x, s, all.many, 1);
    }
}

void vector_dot_each(double (*value)[2], const field *x, const field *y)
{
    check_two(x, y);
    for (int first = 0, next = 0; first < x->nrhs; first = next) {
        const several all = several_of(x, NULL, &next, EACH_MOST);
        exact_sum s[2 * EACH_MOST];
        sums_clear(s, 2 * EACH_MOST);
        FOR_SEVERAL(l, x)
        {
            const dot_each_args args = {to_read(&l, x), to_read(&l, y), l.reals, all};
            several_run(KERNEL_dot_each, &l, &args, &all, s, 2 * all.many);
        }
        sums_values(value[first], x, s, 2 * all.many, 2);
    }
}

void vector_axpby_norm2_each(double *value, field *y, const double *a, const field *x, const double *b)
{
    check_two(y, x);
    for (int first = 0, next = 0; first < y->nrhs; first = next) {
        const several all = several_of(y, NULL, &next, EACH_MOST);
        exact_sum s[EACH_MOST];
        sums_clear(s, EACH_MOST);
        FOR_SEVERAL(l, y)
        {
            axpby_norm2_each_args args = {.reals = l.reals, .rhs = all};
            args.y = to_write(&l, y);
            args.x = to_read(&l, x);
            for (int k = 0; k < all.many; k++) {
                args.a[k] = a[first + k];
                args.b[k] = b[first + k];
            }
            several_run(KERNEL_axpby_norm2_each, &l, &args, &all, s, all.many);
        }
        sums_values(value + first, y, s, all.many, 1);
    }
}

_Static_assert(2 * MULTI_DOTS <= KERNEL_MAX_SUMS, "more sums than a kernel has");

/* Dots that ranks add up in one message; a multiple of MULTI_DOTS. */
#define SUMMED_TOGETHER (2 * MULTI_DOTS)

/* Right-hand sides of a launch with m dots each; a work item on the host has room for few. */
static int several_most(const field *y, int m)
{
    const int most = KERNEL_MAX_SUMS / (2 * m);
    return y->where == PLACE_HOST ? 1 : most < EACH_MOST ? most : EACH_MOST;
}

/* Partial sums on this rank of (z_j, y) of the right-hand sides that are going: s[2 (i step + j)] of the i-th; without `going` of
 * number `only`. */
static void dots_here(exact_sum *s, int step, const char *going, int only, int n, field *const *z, const field *y)
{
    for (int j = 0; j < n; j++) check_two(y, z[j]);
    for (int first = 0; first < n; first += MULTI_DOTS) {
        const int m = n - first < MULTI_DOTS ? n - first : MULTI_DOTS;
        for (int next = going ? 0 : only, done = 0; going || !done;) {
            const several some = several_of(y, going, &next, going ? several_most(y, m) : 1);
            exact_sum t[2 * MULTI_DOTS * EACH_MOST];
            if (some.many == 0) break;
            sums_clear(t, 2 * MULTI_DOTS * some.many);
            FOR_SEVERAL(l, y)
            {
                multi_dot_args args = {.y = to_read(&l, y), .n = m, .reals = l.reals, .rhs = some};
                for (int j = 0; j < m; j++) args.z[j] = to_read(&l, z[first + j]);
                kernel_work w = many_vectors(&l, 96 * m, 24 * (m + 1), t);
                w.flops *= some.many * some.slices;
                w.bytes *= some.many * some.slices;
                w.nsums = 2 * m * some.many;
                kernel_run(KERNEL_multi_dot, y, &args, w);
            }
            for (int i = 0; i < some.many; i++)
                for (int k = 0; k < 2 * m; k++) exact_merge(&s[2 * ((done + i) * step + first) + k], &t[2 * m * i + k]);
            done += some.many;
        }
    }
}

void vector_multi_dot(double (*value)[2], int n, field *const *z, const field *y, int rhs)
{
    check_rhs(y, rhs);
    for (int first = 0; first < n; first += SUMMED_TOGETHER) {
        const int many = n - first < SUMMED_TOGETHER ? n - first : SUMMED_TOGETHER;
        exact_sum s[2 * SUMMED_TOGETHER];
        sums_clear(s, 2 * SUMMED_TOGETHER);
        dots_here(s, many, NULL, rhs, many, z + first, y);
        sums_values(value[first], y, s, 2 * many, 2);
    }
}

/* y += sum_j c_j z_j, and this rank's part of |y|^2. */
static exact_sum axpy_here(field *y, int n, const double (*c)[2], field *const *z, int rhs)
{
    exact_sum s = exact_zero();
    check_rhs(y, rhs);
    for (int first = 0; first < n || first == 0; first += MULTI_VIEWS) {
        const int m = n - first < MULTI_VIEWS ? n - first : MULTI_VIEWS;
        s = exact_zero();
        for (int j = 0; j < m; j++) check_two(y, z[first + j]);
        FOR_RHS(l, y, rhs)
        {
            multi_axpy_args args = {.y = to_write(&l, y), .n = m, .reals = l.reals, .first = l.first, .count = l.count};
            for (int j = 0; j < m; j++) args.z[j] = to_read(&l, z[first + j]);
            copy_pairs(args.c, c + first, m);
            kernel_run(KERNEL_multi_axpy, y, &args, many_vectors(&l, 96 * m + 48, 24 * (m + 2), &s));
        }
    }
    return s;
}

double vector_multi_axpy(field *y, int n, const double (*c)[2], field *const *z, int rhs)
{
    exact_sum s = axpy_here(y, n, c, z, rhs);
    sum_over_ranks(y->lat, &s, 1, 1);
    return exact_value(&s);
}

/* ---- right-hand sides with coefficients of their own ---- */

static exact_sum *sums_open(int n)
{
    exact_sum *s = malloc((size_t)n * sizeof *s);
    REQUIRE_MEMORY(s, "out of memory for %d sums", n);
    sums_clear(s, n);
    return s;
}

static int count_going(const char *going, int n)
{
    int many = 0;
    for (int r = 0; r < n; r++) many += going[r] != 0;
    return many;
}

/* The values of n sums each of the right-hand sides that are going, over all ranks; s is freed. */
static void sums_close(double (*value)[2], const char *going, int n, const field *y, exact_sum *s)
{
    const exact_sum *here = s;
    sum_over_ranks(y->lat, s, 2 * n * count_going(going, y->nrhs), 2);
    for (int r = 0; r < y->nrhs; r++)
        for (int j = 0; j < n && going[r]; j++, here += 2) {
            value[r * n + j][0] = exact_value(&here[0]);
            value[r * n + j][1] = exact_value(&here[1]);
        }
    free(s);
}

void vector_multi_dot_each(double (*value)[2], const char *going, int n, field *const *z, const field *y)
{
    exact_sum *s = sums_open(2 * n * y->nrhs);
    dots_here(s, n, going, 0, n, z, y);
    sums_close(value, going, n, y, s);
}

void vector_gram_each(double (*value)[2], const char *going, int n, field *const *z)
{
    const int each = n * (n + 1) / 2;
    exact_sum *s = sums_open(2 * each * z[0]->nrhs);
    for (int k = 0; k < n; k++) dots_here(s + k * (k + 1), each, going, 0, k + 1, z, z[k]);
    sums_close(value, going, each, z[0], s);
}

/* y += sum_j c_j z_j over n[r] vectors of right-hand side r, or `step` of each, whose coefficients start at c[r step]; then next =
 * r + s y, where there is one. */
static void axpy_each(const char *going, field *y, const int *n, int step, const double (*c)[2], field *const *z,
                      field *next, const field *r, const double (*s)[2])
{
    int most = n ? 0 : step;
    for (int k = 0; n && k < y->nrhs; k++)
        if (going[k] && n[k] > most) most = n[k];
    REQUIRE(most <= MULTI_VIEWS, "%d vectors", most);
    for (int j = 0; j < most; j++) check_two(y, z[j]);
    const int together = most ? EACH_PAIRS / most : EACH_MOST;
    for (int from = 0;;) {
        const several some = several_of(y, going, &from, together < EACH_MOST ? together : EACH_MOST);
        if (some.many == 0) break;
        FOR_SEVERAL(l, y)
        {
            multi_axpy_each_args args = {.most = most, .steps = next != NULL, .reals = l.reals, .rhs = some};
            int vectors = 0;
            args.y = to_write(&l, y);
            for (int i = 0; i < some.many; i++) {
                const int k = some.number[i];
                args.n[i] = n ? n[k] : step;
                vectors += args.n[i];
                copy_pairs(args.c + i * most, c + k * step, args.n[i]);
                if (next) copy_pairs(args.s + i, s + k, 1);
            }
            for (int j = 0; j < most; j++) args.z[j] = to_read(&l, z[j]);
            if (next) {
                args.r = to_read(&l, r);
                args.next = to_write(&l, next);
            }
            kernel_work w = work_of(&l, some.slices, 96 * (vectors + some.many * (next != NULL)),
                                    24 * (vectors + some.many * (2 + 2 * (next != NULL))));
            kernel_run(KERNEL_multi_axpy_each, y, &args, w);
        }
    }
}

void vector_multi_axpy_each(const char *going, field *y, const int *n, int step, const double (*c)[2], field *const *z)
{
    axpy_each(going, y, n, step, c, z, NULL, NULL, NULL);
}

void vector_gcr_step_each(const char *going, field *next, const field *r, const double (*s)[2], field *y, int n,
                          const double (*c)[2], field *const *z)
{
    check_two(y, r);
    check_two(y, next);
    axpy_each(going, y, NULL, n, c, z, next, r, s);
}

void vector_multi_axpby(int n, field *const *y, const double (*a)[2], field *const *x, const double (*b)[2])
{
    REQUIRE(n <= MULTI_PAIRS, "%d pairs of vectors", n);
    for (int j = 0; j < n; j++) {
        check_two(y[0], x[j]);
        check_two(y[0], y[j]);
    }
    FOR_ALL(l, y[0])
    {
        multi_axpby_args args = {.n = n, .reals = l.reals};
        for (int j = 0; j < n; j++) {
            args.x[j] = to_read(&l, x[j]);
            args.y[j] = to_write(&l, y[j]);
        }
        copy_pairs(args.a, a, n);
        copy_pairs(args.b, b, n);
        kernel_run(KERNEL_multi_axpby, y[0], &args, many_vectors(&l, 168 * n, 72 * n, NULL));
    }
}

void vector_mr_update_each(const char *going, field *x, field *r, const double (*a)[2], const field *q)
{
    check_two(x, r);
    check_two(x, q);
    for (int from = 0;;) {
        const several some = several_of(x, going, &from, EACH_MOST);
        if (some.many == 0) break;
        FOR_SEVERAL(l, x)
        {
            mr_update_args args = {.reals = l.reals, .rhs = some};
            args.x = to_write(&l, x);
            args.r = to_write(&l, r);
            args.q = to_read(&l, q);
            for (int i = 0; i < some.many; i++) copy_pairs(args.a + i, a + some.number[i], 1);
            several_run(KERNEL_mr_update, &l, &args, &some, NULL, 0);
        }
    }
}
