#include "kernels/ops/vector.h"

#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/sums.h"

/* ---- launches of a vector kernel ---- */

/* A field in sites order takes a launch for each parity, of any groups; one in rows order, which the kernel sees as a
 * stretch of numbers, a launch for each group, of all its parities. */
typedef struct {
    const field *like;
    int number, many;
    int parity; /* sites order: the parity */
    int group;  /* rows order: the group */
    int reals;  /* components of a group, as the kernel sees it */
    int first, count;
    long n; /* work items */
} launch;

static launch launch_open(const field *f, int first, int count)
{
    launch l = {.like = f, .first = first, .count = count, .reals = f->reals};
    l.parity = field_first_parity(f);
    l.many = field_last_parity(f) - l.parity + 1;
    l.n = field_units(f);
    if (f->order == ORDER_SITES) return l;
    l.reals = VECTOR_FLAT(f->prec);
    l.n = field_rows(f) * f->reals / l.reals;
    l.group = first;
    l.many = count;
    l.first = 0;
    l.count = 1;
    return l;
}

static void launch_next(launch *l)
{
    l->number++;
    l->parity++;
    l->group++;
}

#define FOR_LAUNCHES(l, f, first, count)                                                                               \
    for (launch l = launch_open(f, first, count); l.number < l.many; launch_next(&l))
/* Launches over all groups, and over the slices of one right-hand side. */
#define FOR_ALL(l, f) FOR_LAUNCHES(l, f, 0, (f)->groups)
#define FOR_RHS(l, f, rhs) FOR_LAUNCHES(l, f, (rhs) * (f)->Ls, (f)->Ls)

static view stretch(const field *f, int group)
{
    const int reals = VECTOR_FLAT(f->prec);
    const size_t before = (size_t)group * (size_t)f->group_stride * field_real_bytes(f);
    return (view){(char *)f->data + before, NULL, reals, 1, reals};
}

static view to_read(const launch *l, const field *f)
{
    return f->order == ORDER_ROWS ? stretch(f, l->group) : field_in(f, (parity)l->parity);
}

static view to_write(const launch *l, field *f)
{
    if (f->order == ORDER_SITES) return field_out(f, (parity)l->parity);
    field_written(f);
    return stretch(f, l->group);
}

/* Work with flops and reals of a spinor. */
static kernel_work work_of(const launch *l, double groups, double flops, double reals)
{
    kernel_work w = {.n = l->n};
    const double spinors = (double)l->n * l->like->lay->lanes * l->reals / 24 * groups;
    w.flops = spinors * flops;
    w.bytes = spinors * reals * field_traffic(l->like);
    return w;
}

static kernel_work registered_work(kernel_id id, const launch *l, int groups)
{
    const kernel_info *info = &kernel_infos[id];
    return work_of(l, groups, info->flops, info->reads + info->writes);
}

static void run(kernel_id id, const launch *l, const void *args)
{
    kernel_run(id, l->like, args, registered_work(id, l, l->like->order == ORDER_ROWS ? 1 : l->like->groups));
}

kernel_work vector_work(kernel_id id, const field *f, int groups)
{
    const launch l = launch_open(f, 0, f->groups);
    return registered_work(id, &l, groups);
}

/* ---- what is asked of fields ---- */

static void check_vector(const field *x)
{
    REQUIRE(field_kinds[x->kind].groups == 1, "vector algebra with %s", field_kinds[x->kind].name);
}

/* Vectors of one shape and precision; x has the parities of `like`. */
static void check_two(const field *like, const field *x)
{
    check_vector(like);
    REQUIRE(field_alike(like, x) && x->prec == like->prec && (x->par == like->par || x->par == PARITY_BOTH) &&
                (like->order == ORDER_SITES || x->par == like->par),
            "%s (parity %d, precision %d, place %d, %d x %d groups) beside %s (%d, %d, %d, %d x %d) on %s lattice",
            field_kinds[x->kind].name, x->par, x->prec, x->where, x->nrhs, x->Ls, field_kinds[like->kind].name,
            like->par, like->prec, like->where, like->nrhs, like->Ls, x->lat == like->lat ? "the same" : "another");
}

static void check_rhs(const field *x, int rhs)
{
    check_vector(x);
    REQUIRE(rhs >= 0 && rhs < x->nrhs, "right-hand side %d of %d", rhs, x->nrhs);
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

/* ---- sums over ranks ---- */

/* n sums over the vectors of a lattice; every `step`-th is a square or the real part of a product. On a planned lattice
 * these are one, so that what is divided by them stays a number. */
static void sum_over_ranks(const lattice *lat, exact_sum *s, int n, int step)
{
    comm_group_sum_exact(lat->group, s, n);
    for (int k = 0; lat->planned && k < n; k += step) exact_add(&s[k], 1);
}

/* ---- sums in two steps ---- */

vector_sum vector_sum_open(kernel_id id, const field *like)
{
    return (vector_sum){.like = like, .kernel = id, .sum = exact_zero()};
}

void vector_sum_run(vector_sum *s, const void *args, kernel_work w, int first, int last)
{
    w.sums = &s->sum;
    w.later = last;
    w.sum_over_ranks = s->sum_over_ranks = first && last && kernel_can_sum_over_ranks(s->like);
    kernel_run((kernel_id)s->kernel, s->like, args, w);
    s->travels = last;
}

static void sum_run(vector_sum *s, const launch *l, const void *args)
{
    vector_sum_run(s, args, registered_work((kernel_id)s->kernel, l, l->count), l->number == 0,
                   l->number == l->many - 1);
}

double vector_sum_finish(vector_sum *s)
{
    if (s->travels) {
        kernel_sums((kernel_id)s->kernel, s->like, &s->sum);
        if (!s->sum_over_ranks) sum_over_ranks(s->like->lat, &s->sum, 1, 1);
        s->value = exact_value(&s->sum);
        s->travels = 0;
    }
    return s->value;
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

/* y = a x + b y and |y|^2 */
static void axpby_norm2_start(vector_sum *s, field *y, double a, const field *x, double b, int rhs)
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

/* sum / below; a global sum that a kernel makes is taken on the device, without waiting for it. */
static coefficient by_sum(vector_sum *sum, double below)
{
    const double *above = sum->travels && sum->sum_over_ranks ? kernel_sum_value(sum->like) : NULL;
    return above ? (coefficient){1, above, below} : (coefficient){.times = vector_sum_finish(sum) / below};
}

static void cg_update(field *x, field *p, double a, coefficient b, const field *r)
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
    cg_update(x, p, a, (coefficient){.times = b}, r);
}

void vector_cg_update_by(field *x, field *p, double a, vector_sum *sum, double below, const field *r)
{
    cg_update(x, p, a, by_sum(sum, below), r);
}

/* Work of a kernel on many vectors; flops and reals are those of spinors. */
static kernel_work many_vectors(const launch *l, double flops, double reals, exact_sum *sums)
{
    kernel_work w = work_of(l, l->count, flops, reals);
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

static void multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, coefficient by, const field *r, int rhs)
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
                .r = to_read(&l, r), .by = by, .n = m, .reals = l.reals, .first = l.first, .count = l.count};
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
