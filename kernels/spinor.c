#include "kernels/spinor.h"

#include "kernels/base/error.h"
#include "kernels/block_hop.h"
#include "kernels/kernels.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/halo.h"
#include "kernels/tune.h"

int field_first_parity(const field *f)
{
    return f->par == PARITY_ODD;
}

int field_last_parity(const field *f)
{
    return f->par != PARITY_EVEN;
}

geom field_geom(const field *f)
{
    return layout_tables(f->lay, f->where == PLACE_DEVICE)->g;
}

/* Runs a kernel over one parity after the other of `f`. */
#define FOR_PARITIES(p, f) for (int p = field_first_parity(f); p <= field_last_parity(f); p++)

static kernel_work all_units(const field *f)
{
    return (kernel_work){.n = field_units(f)};
}

/* Of so many right-hand sides; the registry counts spinors. */
static kernel_work some_groups(kernel_id id, const field *f, int groups)
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
    return some_groups(id, f, f->groups);
}

void spinor_copy(field *y, const field *x)
{
    if (y != x) field_copy(y, x);
}

void spinor_axpby(field *y, double a, const field *x, double b)
{
    FOR_PARITIES(p, y)
    {
        axpby_args args = {field_out(y, p), field_in(x, p), a, b};
        kernel_run(KERNEL_axpby, y, &args, all_groups(KERNEL_axpby, y));
    }
}

void spinor_add(field *y, double a, const field *x)
{
    if (y->prec == x->prec) spinor_axpby(y, a, x, 1);
    else field_add(y, a, x);
}

/* ---- sums in two steps ---- */

static spinor_sum empty_sum(kernel_id id, const field *like)
{
    return (spinor_sum){.like = like, .kernel = id, .sum = exact_zero()};
}

/* Runs the kernel of a sum, whose result is fetched later if this is the last. */
static void run_sum(spinor_sum *s, const void *args, int first, int last)
{
    kernel_work w = some_groups((kernel_id)s->kernel, s->like, 1);
    w.sums = &s->sum;
    w.later = last;
    w.whole = s->whole = first && last && kernel_sums_whole(s->like);
    kernel_run((kernel_id)s->kernel, s->like, args, w);
    s->travels = last;
}

double spinor_sum_finish(spinor_sum *s)
{
    if (s->travels) {
        kernel_sums((kernel_id)s->kernel, s->like, &s->sum);
        if (!s->whole) comm_sum_exact(&s->sum, 1);
        s->value = exact_value(&s->sum);
        s->travels = 0;
    }
    return s->value;
}

void spinor_norm2_start(spinor_sum *s, const field *x, int rhs)
{
    *s = empty_sum(KERNEL_norm2, x);
    FOR_PARITIES(p, x)
    {
        const norm2_args args = {field_in(x, p), rhs};
        run_sum(s, &args, p == field_first_parity(x), p == field_last_parity(x));
    }
}

double spinor_norm2(const field *x, int rhs)
{
    spinor_sum s;
    spinor_norm2_start(&s, x, rhs);
    return spinor_sum_finish(&s);
}

/* y = a x + b y and |y|^2 */
static void axpby_norm2_start(spinor_sum *s, field *y, double a, const field *x, double b, int rhs)
{
    *s = empty_sum(KERNEL_axpby_norm2, y);
    FOR_PARITIES(p, y)
    {
        const axpby_norm2_args args = {field_out(y, p), field_in(x, p), a, b, rhs};
        run_sum(s, &args, p == field_first_parity(y), p == field_last_parity(y));
    }
}

void spinor_axpy_norm2_start(spinor_sum *s, field *y, double a, const field *x, int rhs)
{
    axpby_norm2_start(s, y, a, x, 1, rhs);
}

double spinor_axpy_norm2(field *y, double a, const field *x, int rhs)
{
    return spinor_axpby_norm2(y, a, x, 1, rhs);
}

double spinor_axpby_norm2(field *y, double a, const field *x, double b, int rhs)
{
    spinor_sum s;
    axpby_norm2_start(&s, y, a, x, b, rhs);
    return spinor_sum_finish(&s);
}

/* ---- vector algebra ---- */

void spinor_dot(double value[2], const field *x, const field *y, int rhs)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    FOR_PARITIES(p, x)
    {
        dot_args args = {field_in(x, p), field_in(y, p), rhs};
        kernel_work w = some_groups(KERNEL_dot, x, 1);
        w.sums = s;
        kernel_run(KERNEL_dot, x, &args, w);
    }
    comm_sum_exact(s, 2);
    value[0] = exact_value(&s[0]);
    value[1] = exact_value(&s[1]);
}

/* sum / below; of a sum that is whole on the device without waiting for it. */
static coefficient by_sum(spinor_sum *sum, double below)
{
    const double *above = sum->travels && sum->whole ? kernel_sum_value(sum->like) : NULL;
    return above ? (coefficient){1, above, below} : (coefficient){.times = spinor_sum_finish(sum) / below};
}

static void cg_update(field *x, field *p, double a, coefficient b, const field *r)
{
    FOR_PARITIES(q, x)
    {
        const cg_update_args args = {field_out(x, q), field_out(p, q), field_in(r, q), a, b};
        kernel_run(KERNEL_cg_update, x, &args, all_groups(KERNEL_cg_update, x));
    }
}

void spinor_cg_update(field *x, field *p, double a, double b, const field *r)
{
    cg_update(x, p, a, (coefficient){.times = b}, r);
}

void spinor_cg_update_by(field *x, field *p, double a, spinor_sum *sum, double below, const field *r)
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

void spinor_multi_dot(double (*value)[2], int n, field *const *z, const field *y, int rhs)
{
    for (int first = 0; first < n; first += SUMMED_TOGETHER) {
        const int many = n - first < SUMMED_TOGETHER ? n - first : SUMMED_TOGETHER;
        exact_sum s[2 * SUMMED_TOGETHER];
        for (int j = 0; j < 2 * SUMMED_TOGETHER; j++) s[j] = exact_zero();
        for (int j = 0; j < many; j += MULTI_DOTS) dots_here(s + 2 * j, many - j, z + first + j, y, rhs);
        comm_sum_exact(s, 2 * many);
        for (int j = 0; j < many; j++) {
            value[first + j][0] = exact_value(&s[2 * j]);
            value[first + j][1] = exact_value(&s[2 * j + 1]);
        }
    }
}

double spinor_multi_axpy(field *y, int n, const double (*c)[2], field *const *z, int rhs)
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
    comm_sum_exact(&s, 1);
    return exact_value(&s);
}

void spinor_multi_axpby(int n, field *const *y, const double (*a)[2], field *const *x, const double (*b)[2])
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

void spinor_mr_update(field *x, field *r, const double a[2], const field *q)
{
    FOR_PARITIES(p, x)
    {
        mr_update_args args = {field_out(x, p), field_out(r, p), field_in(q, p), {a[0], a[1]}};
        kernel_run(KERNEL_mr_update, x, &args, all_groups(KERNEL_mr_update, x));
    }
}

double spinor_bicgstab_update(double rho[2], field *x, field *const *r, field *const *u, int l,
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
    comm_sum_exact(s, 3);
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

void spinor_multishift_update(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                              const double *beta, const field *r, int rhs)
{
    multishift_update(n, x, p, alpha, zeta, beta, (coefficient){.times = 1}, r, rhs);
}

void spinor_multishift_update_by(int n, field *const *x, field *const *p, const double *alpha, const double *zeta,
                                 const double *beta, spinor_sum *sum, double below, const field *r, int rhs)
{
    multishift_update(n, x, p, alpha, zeta, beta, by_sum(sum, below), r, rhs);
}

static void hop_over(const field *like, const hop_args *args, const int *list, long n, const hop_pack_args *pack)
{
    const double sites = (double)n * like->lay->lanes, rhs = args->in.groups;
    const int clover = args->form == HOP_CLOVER || args->form == HOP_CLOVER_ADD || args->form == HOP_ADD_CLOVER;
    const int add = args->form == HOP_ADD || args->form == HOP_CLOVER_ADD || args->form == HOP_ADD_CLOVER;
    const kernel_work w = {.list = list,
                           .n = n,
                           .pack = pack,
                           .flops = sites * rhs * (1320 + 504 * clover + 48 * add),
                           .bytes = sites * ((double)field_real_bytes(like) * (8 * args->link_reals + 72 * clover) +
                                             field_traffic(like) * rhs * (48 + 24 * add))};
    kernel_run(KERNEL_hop, like, args, w);
}

/* A hop of a rank with faces: as one kernel, or kernels that pack, compute the interior and, after the messages, the
 * exterior. */
typedef struct {
    const field *like, *in, *links;
    hop_args args;
    int fuse;
} split_hop;

static void run_split_hop(void *of)
{
    const split_hop *hop = of;
    const layout *lay = layout_tables(hop->like->lay, hop->like->where == PLACE_DEVICE);
    hop_args args = hop->args;
    const parity p = args.parity, other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    hop_pack_args pack;
    halo_hop_start(hop->in, other, hop->links, args.sign, hop->fuse, args.ghost, &pack);
    if (hop->fuse) {
        args.exterior = (int)lay->nexterior[p];
        hop_over(hop->like, &args, lay->exterior[p], lay->nunit, &pack);
        return;
    }
    args.interior = 1;
    hop_over(hop->like, &args, lay->interior[p], lay->ninterior[p], NULL);
    args.interior = 0;
    halo_hop_wait();
    hop_over(hop->like, &args, lay->exterior[p], lay->nexterior[p], NULL);
}

static double split_hop_seconds(int fuse, void *of)
{
    split_hop hop = *(const split_hop *)of;
    field *scratch = field_scratch(hop.like); /* the output may be an input as well */
    hop.args.out = field_out(scratch, hop.args.parity);
    hop.fuse = fuse;
    const double seconds = tune_seconds(run_split_hop, &hop);
    field_destroy(scratch);
    return seconds;
}

/* Whether to make it one kernel, where that can be: as the tuner found, and by rule unless right-hand sides would share
 * links in several. */
static int fuses(split_hop *hop)
{
    const hop_args *a = &hop->args;
    const int shares = a->link_reals == 12 && hop->like->groups % HOP_SHARERS(hop->like->prec) == 0;
    if (!halo_hop_fuses(hop->in, hop->links)) return 0;
    const tune_key key =
        tune_case(TUNE_EXCHANGE, hop->like->prec, &a->g, a->form * 32 + a->link_reals, hop->like->groups);
    const int way = tune_choice(&key, 2, split_hop_seconds, hop);
    return way == TUNE_BY_RULE ? !shares : way;
}

void spinor_hop(field *out, parity p, const field *in, const hop_call *call)
{
    const layout *lay = layout_tables(out->lay, out->where == PLACE_DEVICE);
    const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    REQUIRE(in != out || out->par == PARITY_BOTH, "the hop reads what it writes");
    REQUIRE(in->prec == out->prec && call->links->prec == out->prec && in->lay == out->lay, "precisions %d %d %d",
            in->prec, out->prec, call->links->prec);
    hop_args args = {.g = field_geom(out),
                     .in = field_in(in, other),
                     .here = field_in(call->links, p),
                     .there = field_in(call->links, other),
                     .a = call->a,
                     .b = call->b,
                     .parity = p,
                     .sign = call->sign,
                     .form = call->form,
                     .link_reals = call->links->reals};
    const size_t bytes = call->links->bytes + in->bytes;
    args.stream = bytes > OUT_OF_CACHE;
    args.ahead = bytes > OUT_OF_NEAR_CACHE;
    if (call->clover) args.clover = field_in(call->clover, p);
    if (call->add) args.x = field_in(call->add, p);
    args.out = field_out(out, p);
    if (call->cut) {
        blocks_cut_hop(call->cut, &args, out);
        if (lay->lanes == 1) {
            hop_over(out, &args, NULL, lay->nunit, NULL);
        } else { /* the lists are the order that suits the caches */
            hop_over(out, &args, lay->interior[p], lay->ninterior[p], NULL);
            hop_over(out, &args, lay->exterior[p], lay->nexterior[p], NULL);
        }
        return;
    }
    if (lay->nexterior[p] == 0) {
        hop_over(out, &args, lay->lanes > 1 ? lay->interior[p] : NULL, lay->nunit, NULL);
        return;
    }
    split_hop hop = {out, in, call->links, args, 0};
    hop.fuse = fuses(&hop);
    run_split_hop(&hop);
}

static clover_apply_args clover_on(field *out, parity p, const field *clover, const field *in, double factor)
{
    clover_apply_args args = {.in = field_in(in, p), .clover = field_in(clover, p), .factor = factor};
    args.out = field_out(out, p);
    return args;
}

void spinor_clover(field *out, parity p, const field *clover, const field *in, double factor)
{
    const clover_apply_args args = clover_on(out, p, clover, in, factor);
    kernel_run(KERNEL_clover_apply, out, &args, all_groups(KERNEL_clover_apply, out));
}

void spinor_clover_norm2_start(spinor_sum *s, field *out, parity p, const field *clover, const field *in, double factor)
{
    REQUIRE(in->groups == 1, "one sum of %d right-hand sides", in->groups);
    const clover_norm2_args args = clover_on(out, p, clover, in, factor);
    *s = empty_sum(KERNEL_clover_norm2, out);
    run_sum(s, &args, 1, 1);
}

static void run_random(kernel_id id, field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    FOR_PARITIES(p, f)
    {
        random_args args = {field_geom(f), field_out(f, p), seed, purpose, number, p};
        kernel_run(id, f, &args, some_groups(id, f, 1));
    }
}

void spinor_random(field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    run_random(KERNEL_random_spinor, f, seed, purpose, number);
}

void spinor_random_signs(field *f, uint64_t seed, uint32_t purpose, uint32_t number)
{
    run_random(KERNEL_random_signs, f, seed, purpose, number);
}
