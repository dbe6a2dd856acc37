#include "kernels/staggered.h"

#include "kernels/base/error.h"
#include "kernels/kernels.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/halo.h"
#include "kernels/spinor.h"

static void run(kernel_id id, const field *like, const void *args, exact_sum *sums)
{
    kernel_run(id, like, args, (kernel_work){.n = field_units(like), .sums = sums});
}

/* ---- links ---- */

void staggered_scale(field *y, double a, const field *x)
{
    for (int p = 0; p < 2; p++) {
        links_scale_args args = {.x = field_in(x, p), .a = a};
        args.y = field_out(y, p);
        run(KERNEL_links_scale, y, &args, NULL);
    }
}

/* A sum of links as they are and of staples of others, kernels/site/staggered.h, in the making. */
typedef struct {
    const field *plain[STAPLES_PLAIN], *in[2];
    double plain_factor[STAPLES_PLAIN], factor[2];
    int offset[2], nplain, nin;
} path_sum;

static void add_plain(path_sum *s, double factor, const field *f)
{
    if (factor == 0) return;
    s->plain[s->nplain] = f;
    s->plain_factor[s->nplain++] = factor;
}

static void add_staples(path_sum *s, double factor, const field *f, int offset)
{
    if (factor == 0) return;
    s->in[s->nin] = f;
    s->offset[s->nin] = offset;
    s->factor[s->nin++] = factor;
}

/* out = the sum; out may be a plain one. */
static void make_paths(field *out, const field *links, const path_sum *s)
{
    staples_args args = {.g = field_geom(links), .links = field_in_all(links), .nin = s->nin, .nplain = s->nplain};
    for (int j = 0; j < s->nin; j++) {
        args.in[j] = field_in_all(s->in[j]);
        args.offset[j] = s->offset[j];
        args.factor[j] = s->factor[j];
    }
    const double sites = (double)field_units(out) * out->lay->lanes;
    const kernel_work work = {.n = field_units(out),
                              .flops = sites * (3384.0 * s->nin + 144.0 * s->nplain),
                              .bytes =
                                  sites * (double)field_real_bytes(out) * 72 * (1 + (s->nin > 0) + s->nin + s->nplain)};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        for (int k = 0; k < s->nplain; k++) {
            args.plain[k] = field_in(s->plain[k], args.parity);
            args.plain_factor[k] = s->plain_factor[k];
        }
        args.out = field_out(out, args.parity);
        kernel_run(KERNEL_staples, out, &args, work);
    }
}

/* y[i], i = 1, 2, 3: the staples of x in direction mu + i. */
static void make_threes(field *y[4], const field *links, const field *x)
{
    for (int i = 1; i < 4; i++) {
        path_sum s = {0};
        y[i] = field_like(links);
        add_staples(&s, 1, x, i);
        make_paths(y[i], links, &s);
    }
}

static void free_threes(field *y[4])
{
    for (int i = 1; i < 4; i++) field_destroy(y[i]);
}

/* out: what all paths around direction mu + i go around, in place of a link. With x itself it is a staple, with staples
 * of x in the same direction Lepage's path, with those in others and staples of these the paths of 5 and 7 links. */
static void make_core(field *out, const field *links, const field *x, field *const y[4], int i, double three,
                      const staggered_paths *c)
{
    const int j = i % 3 + 1, k = j % 3 + 1;
    path_sum s = {0};
    add_plain(&s, three, x);
    add_plain(&s, c->lepage, y[i]);
    add_plain(&s, c->five, y[j]);
    add_plain(&s, c->five, y[k]);
    add_staples(&s, c->seven, y[k], j);
    add_staples(&s, c->seven, y[j], k);
    make_paths(out, links, &s);
}

/* Staples of staples in the same direction hold the link itself twice, in three directions. */
static double weight_of_one(const staggered_paths *c)
{
    return c->one - 6 * c->lepage;
}

void staggered_fatten(field *fat, const field *links, const staggered_paths *c)
{
    field *three[4], *core = field_like(links);
    make_threes(three, links, links);
    for (int i = 1; i < 4; i++) {
        path_sum s = {0};
        make_core(core, links, links, three, i, c->three, c);
        add_plain(&s, i == 1 ? weight_of_one(c) : 1, i == 1 ? links : fat);
        add_staples(&s, 1, core, i);
        make_paths(fat, links, &s);
    }
    free_threes(three);
    field_destroy(core);
}

void staggered_lengthen(field *out, const field *links, double coefficient)
{
    long_links_args args = {.g = field_geom(links), .links = field_in_all(links), .coefficient = coefficient};
    REQUIRE(links->lat->reach >= 2, "long links on a lattice of reach %d", links->lat->reach);
    for (args.parity = 0; args.parity < 2; args.parity++) {
        args.out = field_out(out, args.parity);
        run(KERNEL_long_links, out, &args, NULL);
    }
}

void staggered_phases(field *links, int reach)
{
    staggered_phases_args args = {.g = field_geom(links), .reach = reach, .time_sign = links->lat->time_sign};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        args.links = field_out(links, args.parity);
        run(KERNEL_staggered_phases, links, &args, NULL);
    }
}

double staggered_unitarise(field *w, const field *v, double *undefined)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    for (int p = 0; p < 2; p++) {
        project_links_args args = {.in = field_in(v, p)};
        args.out = field_out(w, p);
        run(KERNEL_project_links, w, &args, s);
    }
    comm_sum_exact(s, 2);
    *undefined = exact_value(&s[1]);
    return exact_value(&s[0]);
}

/* ---- derivatives ---- */

/* Pairs of links and derivatives by their staples. */
typedef struct {
    const field *m[SIDE_PAIRS], *a[SIDE_PAIRS];
    double factor[SIDE_PAIRS];
    int n;
} side_sum;

static void add_pair(side_sum *s, double factor, const field *m, const field *a)
{
    if (factor == 0) return;
    s->m[s->n] = m;
    s->a[s->n] = a;
    s->factor[s->n++] = factor;
}

static void add_sides(field *out, const field *links, const side_sum *s, int offset)
{
    staple_sides_args args = {.g = field_geom(links), .links = field_in_all(links), .n = s->n, .offset = offset};
    for (int k = 0; k < s->n; k++) {
        args.m[k] = field_in_all(s->m[k]);
        args.a[k] = field_in_all(s->a[k]);
        args.factor[k] = s->factor[k];
    }
    const double sites = (double)field_units(out) * out->lay->lanes;
    const kernel_work work = {.n = field_units(out),
                              .flops = sites * 4 * s->n * 1728,
                              .bytes = sites * (double)field_real_bytes(out) * 72 * (3 + 2 * s->n)};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        args.out = field_out(out, args.parity);
        kernel_run(KERNEL_staple_sides, out, &args, work);
    }
}

/* The paths are bilinear: with u_i and a_i the staples of U and of A, and C_i(U) and C_i(A) what make_core() makes of
 * them, the derivative is the sum of the paths of A in place of the link they go around, and of the sides of
 * (U, C_i(A)), (C_i(U), A) and seven times (u_j, a_k) and (u_k, a_j). */
void staggered_fatten_back(field *out, const field *links, const field *a, const staggered_paths *c)
{
    field *u[4], *b[4], *around_u = field_like(links), *around_a = field_like(links);
    make_threes(u, links, links);
    make_threes(b, links, a);
    for (int i = 1; i < 4; i++) {
        const int j = i % 3 + 1, k = j % 3 + 1;
        path_sum s = {0};
        side_sum sides = {0};
        make_core(around_a, links, a, b, i, c->three, c);
        make_core(around_u, links, links, u, i, 0, c);
        add_plain(&s, 1, out);
        if (i == 1) add_plain(&s, weight_of_one(c), a);
        add_staples(&s, 1, around_a, i);
        make_paths(out, links, &s);
        add_pair(&sides, 1, links, around_a);
        add_pair(&sides, 1, around_u, a);
        add_pair(&sides, c->seven, u[j], b[k]);
        add_pair(&sides, c->seven, u[k], b[j]);
        add_sides(out, links, &sides, i);
    }
    free_threes(u);
    free_threes(b);
    field_destroy(around_u);
    field_destroy(around_a);
}

void staggered_lengthen_back(field *out, const field *links, const field *a, double coefficient)
{
    long_back_args args = {
        .g = field_geom(links), .links = field_in_all(links), .in = field_in_all(a), .coefficient = coefficient};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        args.out = field_out(out, args.parity);
        run(KERNEL_long_back, out, &args, NULL);
    }
}

double staggered_unitarise_back(field *a, const field *w, const field *v, double least)
{
    exact_sum s = exact_zero();
    for (int p = 0; p < 2; p++) {
        project_back_args args = {.v = field_in(v, p), .w = field_in(w, p), .least = least};
        args.a = field_out(a, p);
        run(KERNEL_project_back, a, &args, &s);
    }
    comm_sum_exact(&s, 1);
    return exact_value(&s);
}

void staggered_momenta_add(field *momenta, const field *links, const field *a)
{
    for (int p = 0; p < 2; p++) {
        staggered_momenta_args args = {.links = field_in(links, p), .a = field_in(a, p)};
        args.momenta = field_out(momenta, p);
        run(KERNEL_staggered_momenta, momenta, &args, NULL);
    }
}

void staggered_outer(const staggered_outer_call *call, const field *z, const double *weights)
{
    const layout *lay = layout_tables(z->lay, z->where == PLACE_DEVICE);
    REQUIRE(z->groups <= STAGGERED_OUTER_MOST && z->par == PARITY_BOTH, "%d vectors on parity %d", z->groups, z->par);
    REQUIRE(!call->far || z->lat->reach >= 3, "vectors three sites away on a lattice of reach %d", z->lat->reach);
    const double sites = (double)lay->nunit * lay->lanes, n = z->groups;
    const int links = 1 + (call->far != NULL) + (call->extra != NULL);
    for (int p = 0; p < 2; p++) {
        staggered_outer_args args = {.g = field_geom(z),
                                     .here = field_in(z, p),
                                     .there = field_in(z, !p),
                                     .far_factor = call->far_factor,
                                     .extra_factor = call->extra_factor,
                                     .parity = p,
                                     .time_sign = z->lat->time_sign};
        for (int d = 0; d < 4; d++) args.nface[d] = lay->nface[d];
        for (int i = 0; i < z->groups; i++) args.weight[i] = p == (int)call->first ? weights[i] : -weights[i];
        halo_vectors_above(z, !p, call->far ? 3 : 1, args.ghost);
        args.near = field_out(call->near, p);
        if (call->far) args.far = field_out(call->far, p);
        if (call->extra) args.extra = field_out(call->extra, p);
        const kernel_work work = {.n = lay->nunit,
                                  .flops = sites * 4 * (n * (call->far ? 2 : 1) * 84 + 36 * links),
                                  .bytes = sites * (double)field_real_bytes(z) * (12 * n + 144 * links)};
        kernel_run(KERNEL_staggered_outer, call->near, &args, work);
    }
}

/* ---- the hop ---- */

static void hop_over(const field *like, const staggered_hop_args *args, const int *list, long n)
{
    const double sites = (double)n * like->lay->lanes, rhs = args->in.groups;
    const int improved = args->far_here.data != NULL, adds = args->b != 0;
    const kernel_work w = {.list = list,
                           .n = n,
                           .flops = sites * rhs * ((improved ? 1146 : 570) + 12 * adds),
                           .bytes = sites * ((double)field_real_bytes(like) * (improved ? 288 : 144) +
                                             field_traffic(like) * rhs * (12 + 6 * adds))};
    kernel_run(KERNEL_staggered_hop, like, args, w);
}

/* Fields beyond this are out of the caches when they are read again; then a line need not be read to be overwritten. */
#define OUT_OF_CACHE ((size_t)64 << 20)

void staggered_hop(field *out, parity p, const field *in, const staggered_call *call)
{
    const layout *lay = layout_tables(out->lay, out->where == PLACE_DEVICE);
    const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    REQUIRE(in != out || out->par == PARITY_BOTH, "the hop reads what it writes");
    REQUIRE(in->prec == out->prec && call->near->prec == out->prec && in->lay == out->lay, "precisions %d %d %d",
            in->prec, out->prec, call->near->prec);
    REQUIRE(!call->far || in->lat->reach >= 3, "a hop of three sites on a lattice of reach %d", in->lat->reach);
    staggered_hop_args args = {.g = field_geom(out),
                               .in = field_in(in, other),
                               .near_here = field_in(call->near, p),
                               .near_there = field_in(call->near, other),
                               .a = call->a,
                               .b = call->b,
                               .near_scale = call->near_scale,
                               .far_scale = call->far_scale,
                               .parity = p};
    if (call->far) {
        args.far_here = field_in(call->far, p);
        args.far_there = field_in(call->far, other);
    }
    for (int d = 0; d < 4; d++) args.nface[d] = lay->nface[d];
    args.stream = 2 * call->near->bytes + in->bytes > OUT_OF_CACHE;
    if (call->b != 0) args.x = field_in(call->add, p);
    args.out = field_out(out, p);
    const int *interior = call->far ? lay->far_interior[p] : lay->interior[p];
    const int *exterior = call->far ? lay->far_exterior[p] : lay->exterior[p];
    const long ninterior = call->far ? lay->nfar_interior[p] : lay->ninterior[p];
    if (ninterior == lay->nunit) {
        hop_over(out, &args, lay->lanes > 1 ? interior : NULL, lay->nunit);
        return;
    }
    halo_staggered_start(in, other, call->near, call->far, args.ghost);
    hop_over(out, &args, interior, ninterior);
    halo_hop_wait();
    args.exterior = 1;
    hop_over(out, &args, exterior, lay->nunit - ninterior);
}

/* ---- one direction of it ---- */

void staggered_shift(field *out, const field *in, const staggered_shift_call *call)
{
    const layout *lay = layout_tables(out->lay, out->where == PLACE_DEVICE);
    const double sites = (double)field_units(out) * lay->lanes, rhs = in->groups;
    REQUIRE(in != out && in->par == PARITY_BOTH && out->par == PARITY_BOTH, "a shift of parities %d to %d", in->par,
            out->par);
    REQUIRE(in->prec == PREC_DOUBLE && call->near->prec == PREC_DOUBLE, "a shift in precision %d", in->prec);
    REQUIRE(!call->far || in->lat->reach >= 3, "a shift of three sites on a lattice of reach %d", in->lat->reach);
    const double steps = call->far ? 2 : 1;
    const kernel_work work = {.n = field_units(out),
                              .flops = sites * steps * rhs * 156,
                              .bytes = sites * (double)field_real_bytes(out) * (36 * steps + 12 * rhs)};
    for (parity p = PARITY_EVEN; p <= PARITY_ODD; p++) {
        const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
        staggered_shift_args args = {.hop = {.g = field_geom(out),
                                             .in = field_in(in, other),
                                             .near_here = field_in(call->near, p),
                                             .near_there = field_in(call->near, other),
                                             .parity = p},
                                     .near_weight = call->near_weight,
                                     .far_weight = call->far_weight,
                                     .mu = call->mu,
                                     .back = call->back,
                                     .odd = call->odd};
        if (call->far) {
            args.hop.far_here = field_in(call->far, p);
            args.hop.far_there = field_in(call->far, other);
        }
        for (int d = 0; d < 4; d++) args.hop.nface[d] = lay->nface[d];
        args.hop.out = field_out(out, p);
        halo_staggered_start(in, other, call->near, call->far, args.hop.ghost);
        halo_hop_wait();
        kernel_run(KERNEL_staggered_shift, out, &args, work);
    }
}
