#include "kernels/ops/vector.h"

#include "kernels/ops/vector_launch.h"

kernel_work vector_work(kernel_id id, const field *f, int groups)
{
    const launch l = launch_open(f, 0, f->groups);
    return registered_work(id, &l, groups);
}

void vector_copy(field *y, const field *x)
{
    if (y != x) field_copy(y, x);
}

void vector_axpby(field *y, double a, const field *x, double b)
{
    check_two(y, x);
    FOR_ALL(l, y)
    {
        const axpby_args args = {to_write(&l, y), to_read(&l, x), a, b, l.reals};
        run(KERNEL_axpby, &l, &args);
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
    return (vector_sum){.lat = like->lat, .kernel = id, .sum = exact_zero()};
}

void vector_sum_run(vector_sum *s, const field *like, const void *args, kernel_work w, int first, int last)
{
    w.sums = &s->sum;
    w.ticket = last ? &s->ticket : NULL;
    w.sum_over_ranks = s->sum_over_ranks = first && last && kernel_can_sum_over_ranks(like);
    kernel_run((kernel_id)s->kernel, like, args, w);
    s->travels = last;
}

static void sum_run(vector_sum *s, const launch *l, const void *args)
{
    vector_sum_run(s, l->like, args, registered_work((kernel_id)s->kernel, l, l->count), l->number == 0,
                   l->number == l->many - 1);
}

double vector_sum_finish(vector_sum *s)
{
    if (s->travels) {
        kernel_sums((kernel_id)s->kernel, s->ticket, &s->sum);
        if (!s->sum_over_ranks) sum_over_ranks(s->lat, &s->sum, 1, 1);
        s->value = exact_value(&s->sum);
        s->travels = 0;
    }
    return s->value;
}

vector_sum vector_sum_known(double value)
{
    return (vector_sum){.value = value};
}

/* Place on the device of a global sum that a kernel makes; null for one that is known here, which any other becomes. */
static const double *place_of(vector_sum *s)
{
    const double *at = s->travels && s->sum_over_ranks ? kernel_sum_value(s->ticket) : NULL;
    if (!at) vector_sum_finish(s);
    return at;
}

static coefficient number(double a)
{
    return (coefficient){.times = a};
}

static coefficient ratio(vector_ratio r)
{
    const double *above = place_of(r.above), *below = place_of(r.below);
    if (!above && !below) return number(r.times * exact_quotient(r.above->value, r.below->value));
    return (coefficient){r.times, above, below, r.above->value, r.below->value};
}

void vector_norm2_start(vector_sum *s, const field *x, int rhs)
{
    check_rhs(x, rhs);
    *s = vector_sum_open(KERNEL_norm2, x);
    FOR_RHS(l, x, rhs)
    {
        const norm2_args args = {to_read(&l, x), l.reals, l.first, l.count};
        sum_run(s, &l, &args);
    }
}

double vector_norm2(const field *x, int rhs)
{
    vector_sum s;
    vector_norm2_start(&s, x, rhs);
    return vector_sum_finish(&s);
}

void vector_real_dot_start(vector_sum *s, const field *x, const field *y, int rhs)
{
    check_two(x, y);
    check_rhs(x, rhs);
    *s = vector_sum_open(KERNEL_real_dot, x);
    FOR_RHS(l, x, rhs)
    {
        const real_dot_args args = {to_read(&l, x), to_read(&l, y), l.reals, l.first, l.count};
        sum_run(s, &l, &args);
    }
}

/* y = a x + b y and |y|^2 */
static void axpby_norm2_start(vector_sum *s, field *y, coefficient a, const field *x, double b, int rhs)
{
    check_two(y, x);
    check_rhs(y, rhs);
    *s = vector_sum_open(KERNEL_axpby_norm2, y);
    FOR_RHS(l, y, rhs)
    {
        const axpby_norm2_args args = {to_write(&l, y), to_read(&l, x), a, b, l.reals, l.first, l.count};
        sum_run(s, &l, &args);
    }
}

void vector_axpy_norm2_start(vector_sum *s, field *y, double a, const field *x, int rhs)
{
    axpby_norm2_start(s, y, number(a), x, 1, rhs);
}

void vector_axpy_by_norm2_start(vector_sum *s, field *y, vector_ratio a, const field *x, int rhs)
{
    axpby_norm2_start(s, y, ratio(a), x, 1, rhs);
}

double vector_axpy_norm2(field *y, double a, const field *x, int rhs)
{
    return vector_axpby_norm2(y, a, x, 1, rhs);
}

double vector_axpby_norm2(field *y, double a, const field *x, double b, int rhs)
{
    vector_sum s;
    axpby_norm2_start(&s, y, number(a), x, b, rhs);
    return vector_sum_finish(&s);
}

/* ---- vector algebra ---- */

void vector_dot(double value[2], const field *x, const field *y, int rhs)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    check_two(x, y);
    check_rhs(x, rhs);
    FOR_RHS(l, x, rhs)
    {
        const dot_args args = {to_read(&l, x), to_read(&l, y), l.reals, l.first, l.count};
        kernel_work w = registered_work(KERNEL_dot, &l, l.count);
        w.sums = s;
        kernel_run(KERNEL_dot, x, &args, w);
    }
    sum_over_ranks(x->lat, s, 2, 2);
    value[0] = exact_value(&s[0]);
    value[1] = exact_value(&s[1]);
}

static void cg_update(field *x, field *p, coefficient a, coefficient b, const field *r)
{
    check_two(x, p);
    check_two(x, r);
    FOR_ALL(l, x)
    {
        const cg_update_args args = {to_write(&l, x), to_write(&l, p), to_read(&l, r), a, b, l.reals};
        run(KERNEL_cg_update, &l, &args);
    }
}

void vector_cg_update(field *x, field *p, double a, double b, const field *r)
{
    cg_update(x, p, number(a), number(b), r);
}

void vector_cg_update_by(field *x, field *p, vector_ratio a, vector_ratio b, const field *r)
{
    cg_update(x, p, ratio(a), ratio(b), r);
}

double vector_bicgstab_update(double rho[2], field *x, field *const *r, field *const *u, int l,
                              const double (*gamma)[2], const field *shadow, int rhs)
{
    REQUIRE(l >= 1 && l <= BICGSTAB_MOST, "BiCGStab(%d)", l);
    exact_sum s[3] = {exact_zero(), exact_zero(), exact_zero()};
    check_rhs(x, rhs);
    check_two(x, shadow);
    for (int j = 0; j <= l; j++) {
        check_two(x, r[j]);
        check_two(x, u[j]);
    }
    FOR_RHS(on, x, rhs)
    {
        bicgstab_update_args args = {.x = to_write(&on, x),
                                     .shadow = to_read(&on, shadow),
                                     .l = l,
                                     .reals = on.reals,
                                     .first = on.first,
                                     .count = on.count};
        for (int j = 0; j <= l; j++) {
            args.r[j] = j ? to_read(&on, r[j]) : to_write(&on, r[j]);
            args.u[j] = j ? to_read(&on, u[j]) : to_write(&on, u[j]);
        }
        copy_pairs(args.gamma, gamma, l);
        kernel_run(KERNEL_bicgstab_update, x, &args, many_vectors(&on, 288 * l + 144, 24 * (2 * l + 7), s));
    }
    sum_over_ranks(x->lat, s, 3, 1);
    rho[0] = exact_value(&s[1]);
    rho[1] = exact_value(&s[2]);
    return exact_value(&s[0]);
}

void vector_multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, const field *r, int rhs)
{
    check_rhs(r, rhs);
    for (int first = 0; first < n; first += MULTI_VIEWS) {
        const int m = n - first < MULTI_VIEWS ? n - first : MULTI_VIEWS;
        for (int j = 0; j < m; j++) {
            check_two(r, x[first + j]);
            check_two(r, p[first + j]);
        }
        FOR_RHS(l, r, rhs)
        {
            multishift_update_args args = {
                .r = to_read(&l, r), .n = m, .reals = l.reals, .first = l.first, .count = l.count};
            for (int j = 0; j < m; j++) {
                args.x[j] = to_write(&l, x[first + j]);
                args.p[j] = to_write(&l, p[first + j]);
                args.alpha[j] = alpha[first + j];
                args.zeta[j] = zeta[first + j];
                args.beta[j] = beta[first + j];
            }
            kernel_run(KERNEL_multishift_update, r, &args, many_vectors(&l, 120 * m, 24 * (4 * m + 1), NULL));
        }
    }
}

static void run_random(kernel_id id, field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    check_vector(f);
    REQUIRE(f->prec == PREC_DOUBLE, "random %s in %s precision", field_kinds[f->kind].name, precision_names[f->prec]);
    FOR_PARITIES(p, f)
    {
        const random_args args = {field_geom(f), field_out(f, p),       seed, purpose, number, p, f->reals,
                                  f->Ls,         f->order == ORDER_ROWS};
        const kernel_info *info = &kernel_infos[id];
        const double spinors = (double)field_units(f) * f->lay->lanes * f->groups * f->reals / 24;
        kernel_run(id, f, &args,
                   (kernel_work){.n = field_units(f),
                                 .flops = spinors * info->flops,
                                 .bytes = spinors * info->writes * field_traffic(f)});
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
