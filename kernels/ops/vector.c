#include "kernels/ops/vector.h"

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/sums.h"

static kernel_work all_units(const field *f)
{
    return (kernel_work){.n = field_units(f)};
}

kernel_work vector_work(kernel_id id, const field *f, int groups)
{
    const kernel_info *info = &kernel_infos[id];
    kernel_work w = all_units(f);
    const double spinors = (double)w.n * f->lay->lanes * groups * f->reals / 24;
    w.flops = spinors * info->flops;
    w.bytes = spinors * (info->reads + info->writes) * field_traffic(f);
    return w;
}

static kernel_work all_groups(kernel_id id, const field *f)
{
    return vector_work(id, f, f->groups);
}

void vector_copy(field *y, const field *x)
{
    if (y != x) field_copy(y, x);
}

void vector_axpby(field *y, double a, const field *x, double b)
{
    FOR_PARITIES(p, y)
    {
        axpby_args args = {field_out(y, p), field_in(x, p), a, b};
        kernel_run(KERNEL_axpby, y, &args, all_groups(KERNEL_axpby, y));
    }
}

void vector_add(field *y, double a, const field *x)
{
    if (y->prec == x->prec) vector_axpby(y, a, x, 1);
    else field_add(y, a, x);
}

/* ---- sums in two steps ---- */

vector_sum vector_sum_open(kernel_id id, const field *like)
{
    return (vector_sum){.like = like, .kernel = id, .sum = exact_zero()};
}

void vector_sum_run(vector_sum *s, const void *args, int first, int last)
{
    kernel_work w = vector_work((kernel_id)s->kernel, s->like, 1);
    w.sums = &s->sum;
    w.later = last;
    w.whole = s->whole = first && last && kernel_sums_whole(s->like);
    kernel_run((kernel_id)s->kernel, s->like, args, w);
    s->travels = last;
}

double vector_sum_finish(vector_sum *s)
{
    if (s->travels) {
        kernel_sums((kernel_id)s->kernel, s->like, &s->sum);
        if (!s->whole) comm_group_sum_exact(s->like->lat->group, &s->sum, 1);
        s->value = exact_value(&s->sum);
        s->travels = 0;
    }
    return s->value;
}

void vector_norm2_start(vector_sum *s, const field *x, int rhs)
{
    *s = vector_sum_open(KERNEL_norm2, x);
    FOR_PARITIES(p, x)
    {
        const norm2_args args = {field_in(x, p), rhs};
        vector_sum_run(s, &args, p == field_first_parity(x), p == field_last_parity(x));
    }
}

double vector_norm2(const field *x, int rhs)
{
    vector_sum s;
    vector_norm2_start(&s, x, rhs);
    return vector_sum_finish(&s);
}

/* y = a x + b y and |y|^2 */
static void axpby_norm2_start(vector_sum *s, field *y, double a, const field *x, double b, int rhs)
{
    *s = vector_sum_open(KERNEL_axpby_norm2, y);
    FOR_PARITIES(p, y)
    {
        const axpby_norm2_args args = {field_out(y, p), field_in(x, p), a, b, rhs};
        vector_sum_run(s, &args, p == field_first_parity(y), p == field_last_parity(y));
    }
}

void vector_axpy_norm2_start(vector_sum *s, field *y, double a, const field *x, int rhs)
{
    axpby_norm2_start(s, y, a, x, 1, rhs);
}

double vector_axpy_norm2(field *y, double a, const field *x, int rhs)
{
    return vector_axpby_norm2(y, a, x, 1, rhs);
}

double vector_axpby_norm2(field *y, double a, const field *x, double b, int rhs)
{
    vector_sum s;
    axpby_norm2_start(&s, y, a, x, b, rhs);
    return vector_sum_finish(&s);
}

/* ---- vector algebra ---- */

void vector_dot(double value[2], const field *x, const field *y, int rhs)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    FOR_PARITIES(p, x)
    {
        dot_args args = {field_in(x, p), field_in(y, p), rhs};
        kernel_work w = vector_work(KERNEL_dot, x, 1);
        w.sums = s;
        kernel_run(KERNEL_dot, x, &args, w);
    }
    comm_group_sum_exact(x->lat->group, s, 2);
    value[0] = exact_value(&s[0]);
    value[1] = exact_value(&s[1]);
}

/* sum / below; of a sum that is whole on the device without waiting for it. */
static coefficient by_sum(vector_sum *sum, double below)
{
    const double *above = sum->travels && sum->whole ? kernel_sum_value(sum->like) : NULL;
    return above ? (coefficient){1, above, below} : (coefficient){.times = vector_sum_finish(sum) / below};
}

static void cg_update(field *x, field *p, double a, coefficient b, const field *r)
{
    FOR_PARITIES(q, x)
    {
        const cg_update_args args = {field_out(x, q), field_out(p, q), field_in(r, q), a, b};
        kernel_run(KERNEL_cg_update, x, &args, all_groups(KERNEL_cg_update, x));
    }
}

void vector_cg_update(field *x, field *p, double a, double b, const field *r)
{
    cg_update(x, p, a, (coefficient){.times = b}, r);
}

void vector_cg_update_by(field *x, field *p, double a, vector_sum *sum, double below, const field *r)
{
    cg_update(x, p, a, by_sum(sum, below), r);
}

/* Work of a kernel on one right-hand side of many vectors; flops and reals are those of spinors. */
static kernel_work many_vectors(const field *f, double flops, double reals, exact_sum *sums)
{
    kernel_work w = all_units(f);
    const double spinors = (double)w.n * f->lay->lanes * f->reals / 24;
    w.flops = spinors * flops;
    w.bytes = spinors * reals * field_traffic(f);
    w.sums = sums;
    return w;
}

static void copy_pairs(double (*to)[2], const double (*from)[2], int n)
{
    for (int j = 0; j < n; j++) {
        to[j][0] = from[j][0];
        to[j][1] = from[j][1];
    }
}

/* Dots that ranks add up in one message; a multiple of MULTI_DOTS. */
#define SUMMED_TOGETHER (2 * MULTI_DOTS)

/* This rank's part of MULTI_DOTS dots, or of the n that there are. */
static void dots_here(exact_sum *s, int n, field *const *z, const field *y, int rhs)
{
    const int m = n < MULTI_DOTS ? n : MULTI_DOTS;
    FOR_PARITIES(p, y)
    {
        multi_dot_args args = {.y = field_in(y, p), .n = m, .rhs = rhs};
        for (int j = 0; j < m; j++) args.z[j] = field_in(z[j], p);
        kernel_run(KERNEL_multi_dot, y, &args, many_vectors(y, 96 * m, 24 * (m + 1), s));
    }
}

void vector_multi_dot(double (*value)[2], int n, field *const *z, const field *y, int rhs)
{
    for (int first = 0; first < n; first += SUMMED_TOGETHER) {
        const int many = n - first < SUMMED_TOGETHER ? n - first : SUMMED_TOGETHER;
        exact_sum s[2 * SUMMED_TOGETHER];
        for (int j = 0; j < 2 * SUMMED_TOGETHER; j++) s[j] = exact_zero();
        for (int j = 0; j < many; j += MULTI_DOTS) dots_here(s + 2 * j, many - j, z + first + j, y, rhs);
        comm_group_sum_exact(y->lat->group, s, 2 * many);
        for (int j = 0; j < many; j++) {
            value[first + j][0] = exact_value(&s[2 * j]);
            value[first + j][1] = exact_value(&s[2 * j + 1]);
        }
    }
}

double vector_multi_axpy(field *y, int n, const double (*c)[2], field *const *z, int rhs)
{
    exact_sum s = exact_zero();
    for (int first = 0; first < n || first == 0; first += MULTI_VIEWS) {
        const int m = n - first < MULTI_VIEWS ? n - first : MULTI_VIEWS;
        s = exact_zero();
        FOR_PARITIES(p, y)
        {
            multi_axpy_args args = {.y = field_out(y, p), .n = m, .rhs = rhs};
            for (int j = 0; j < m; j++) args.z[j] = field_in(z[first + j], p);
            copy_pairs(args.c, c + first, m);
            kernel_run(KERNEL_multi_axpy, y, &args, many_vectors(y, 96 * m + 48, 24 * (m + 2), &s));
        }
    }
    comm_group_sum_exact(y->lat->group, &s, 1);
    return exact_value(&s);
}

void vector_multi_axpby(int n, field *const *y, const double (*a)[2], field *const *x, const double (*b)[2])
{
    REQUIRE(n <= MULTI_PAIRS, "%d pairs of vectors", n);
    FOR_PARITIES(p, y[0])
    {
        multi_axpby_args args = {.n = n};
        for (int j = 0; j < n; j++) {
            args.x[j] = field_in(x[j], p);
            args.y[j] = field_out(y[j], p);
        }
        copy_pairs(args.a, a, n);
        copy_pairs(args.b, b, n);
        const double all = n * y[0]->groups;
        kernel_run(KERNEL_multi_axpby, y[0], &args, many_vectors(y[0], 168 * all, 72 * all, NULL));
    }
}

void vector_mr_update(field *x, field *r, const double a[2], const field *q)
{
    FOR_PARITIES(p, x)
    {
        mr_update_args args = {field_out(x, p), field_out(r, p), field_in(q, p), {a[0], a[1]}};
        kernel_run(KERNEL_mr_update, x, &args, all_groups(KERNEL_mr_update, x));
    }
}

double vector_bicgstab_update(double rho[2], field *x, field *const *r, field *const *u, int l,
                              const double (*gamma)[2], const field *shadow, int rhs)
{
    REQUIRE(l >= 1 && l <= BICGSTAB_MOST, "BiCGStab(%d)", l);
    exact_sum s[3] = {exact_zero(), exact_zero(), exact_zero()};
    FOR_PARITIES(p, x)
    {
        bicgstab_update_args args = {.x = field_out(x, p), .shadow = field_in(shadow, p), .l = l, .rhs = rhs};
        for (int j = 0; j <= l; j++) {
            args.r[j] = j ? field_in(r[j], p) : field_out(r[j], p);
            args.u[j] = j ? field_in(u[j], p) : field_out(u[j], p);
        }
        copy_pairs(args.gamma, gamma, l);
        kernel_run(KERNEL_bicgstab_update, x, &args, many_vectors(x, 288 * l + 144, 24 * (2 * l + 7), s));
    }
    comm_group_sum_exact(x->lat->group, s, 3);
    rho[0] = exact_value(&s[1]);
    rho[1] = exact_value(&s[2]);
    return exact_value(&s[0]);
}

static void multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, coefficient by, const field *r, int rhs)
{
    for (int first = 0; first < n; first += MULTI_VIEWS) {
        const int m = n - first < MULTI_VIEWS ? n - first : MULTI_VIEWS;
        FOR_PARITIES(q, r)
        {
            multishift_update_args args = {.r = field_in(r, q), .by = by, .n = m, .rhs = rhs};
            for (int j = 0; j < m; j++) {
                args.x[j] = field_out(x[first + j], q);
                args.p[j] = field_out(p[first + j], q);
                args.alpha[j] = alpha[first + j];
                args.zeta[j] = zeta[first + j];
                args.beta[j] = beta[first + j];
            }
            kernel_run(KERNEL_multishift_update, r, &args, many_vectors(r, 120 * m, 24 * (4 * m + 1), NULL));
        }
    }
}

void vector_multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, const field *r, int rhs)
{
    multishift_update(n, x, p, alpha, zeta, beta, (coefficient){.times = 1}, r, rhs);
}

void vector_multishift_update_by(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                                 const double *beta, vector_sum *sum, double below, const field *r, int rhs)
{
    multishift_update(n, x, p, alpha, zeta, beta, by_sum(sum, below), r, rhs);
}

static void run_random(kernel_id id, field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    FOR_PARITIES(p, f)
    {
        random_args args = {field_geom(f), field_out(f, p), seed, purpose, number, p};
        kernel_run(id, f, &args, vector_work(id, f, 1));
    }
}

void vector_random(field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    run_random(KERNEL_random_spinor, f, seed, purpose, number);
}

void vector_random_signs(field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    run_random(KERNEL_random_signs, f, seed, purpose, number);
}
