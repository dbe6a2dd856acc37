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

/* out = staples of in, where out is not null; fat += coefficient times them. */
static void add_staples(field *out, field *fat, const field *links, const field *in, int offset, double coefficient)
{
    staple_args args = {.g = field_geom(links),
                        .links = field_in_all(links),
                        .in = field_in_all(in),
                        .coefficient = coefficient,
                        .offset = offset};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        if (out) args.out = field_out(out, args.parity);
        args.sum = field_out(fat, args.parity);
        run(KERNEL_staple, fat, &args, NULL);
    }
}

void staggered_fatten(field *fat, const field *links, const staggered_paths *c)
{
    field *three = field_like(links), *five = field_like(links);
    /* Staples of staples in the same direction hold the link itself twice, in three directions. */
    staggered_scale(fat, c->one - 6 * c->lepage, links);
    for (int i = 1; i < 4; i++) {
        add_staples(three, fat, links, links, i, c->three);
        if (c->lepage != 0) add_staples(NULL, fat, links, three, i, c->lepage);
        for (int j = 1; j < 4; j++) {
            if (j == i) continue;
            add_staples(five, fat, links, three, j, c->five);
            add_staples(NULL, fat, links, five, 6 - i - j, c->seven);
        }
    }
    field_destroy(five);
    field_destroy(three);
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

/* ---- the hop ---- */

static void hop_over(const field *like, const staggered_hop_args *args, const int *list, long n)
{
    const double sites = (double)n * like->lay->lanes, rhs = args->in.groups;
    const int improved = args->far_here.data != NULL, adds = args->b != 0;
    const kernel_work w = {.list = list,
                           .n = n,
                           .flops = sites * rhs * ((improved ? 1146 : 570) + 12 * adds),
                           .bytes = sites * (double)field_real_bytes(like) *
                                    ((improved ? 288 : 144) + rhs * (12 + 6 * adds))};
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
