#include "kernels/ops/staggered.h"

#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/expect.h"
#include "kernels/ops/halo.h"
#include "kernels/ops/vector.h"
#include "kernels/run/exchange.h"
#include "kernels/run/kernel.h"

static void run(kernel_id id, const field *like, const void *args, exact_sum *sums)
{
    kernel_run(id, like, args, (kernel_work){.n = field_units(like), .sums = sums});
}

/* ---- colour vectors at faces ---- */

/* Starts to send the vectors of parity p of `in` at faces: downwards 1 or 3 slices as they are; upwards, unless `near`
 * is null, times the links there: one slice times `near` and, unless `far` is null, three times `far`. */
static void send_vectors(exchange *e, const field *in, parity p, const field *near, const field *far,
                         const field *far_phases, int slices)
{
    const layout *tables = layout_tables(in->lay, in->where == PLACE_DEVICE);
    staggered_pack_args args = {.g = tables->g, .in = field_in(in, p)};
    if (near) args.near = field_in(near, p);
    if (far) args.far = field_in(far, p);
    if (far_phases) args.phase = field_in(far_phases, p);
    args.far_reals = far ? far->reals + (far_phases != NULL) : 0;
    exchange_open(e, in);
    for (int dir = 0; dir < 8; dir++) {
        const int parts = dir % 2 ? slices : far ? 4 : 1;
        if (!in->lay->g.split[dir / 2] || (dir % 2 == 0 && !near)) continue;
        exchange_add(e, dir, dir ^ 1, parts * in->lay->nface[dir / 2], in->groups, in->prec >= PREC_HALF ? 7 : 6);
        args.dir[args.faces] = dir;
        args.face[args.faces] = tables->face[dir][p];
        args.start[args.faces + 1] = args.start[args.faces] + (int)(parts * in->lay->nface[dir / 2]);
        args.faces++;
    }
    exchange_place(e, 0);
    for (int i = 0; i < args.faces; i++) args.out[i] = e->packed[i];
    for (int d = 0; d < 4; d++) args.nface[d] = in->lay->nface[d];
    kernel_run(KERNEL_staggered_pack, in, &args, (kernel_work){.n = args.start[args.faces], .aside = 1});
    exchange_start(e);
}

/* Sends the ghosts that the neighbours' hop needs of parity p of `in`. */
static void send_to_hop(exchange *e, const field *in, parity p, const field *near, const field *far,
                        const field *far_phases)
{
    send_vectors(e, in, p, near, far, far_phases, far ? 3 : 1);
}

/* Brings in the vectors of parity p from above, of 1 or (where the reach is 3) 3 slices; ghost[2 d] holds them. */
static void bring_from_above(const field *in, parity p, int slices, view ghost[8])
{
    exchange e;
    send_vectors(&e, in, p, NULL, NULL, NULL, slices);
    exchange_wait(&e);
    memcpy(ghost, e.ghost, sizeof e.ghost);
}

/* ---- links ---- */

void staggered_scale(field *y, double a, const field *x)
{
    for (int p = 0; p < 2; p++) {
        links_scale_args args = {.x = field_in(x, p), .re = {a, a, a, a}};
        args.y = field_out(y, p);
        run(KERNEL_links_scale, y, &args, NULL);
    }
}

/* View of all of a field that is written, whatever its parity. */
static view out_all(field *f)
{
    field_out(f, PARITY_EVEN);
    return field_all(f);
}

/* Units of one parity that are done before those of the other: a plane of x and y, which is soon needed again. */
static long chunk_of(const field *f)
{
    return f->lay->g.stride[2];
}

/* Runs a kernel on both parities; fields: how many of links it reads and writes. */
static void run_both(kernel_id id, const field *like, const void *args, int fields)
{
    const double sites = 2.0 * (double)field_units(like) * like->lay->lanes;
    const kernel_work work = {.n = 2 * field_units(like),
                              .bytes = sites * (double)field_real_bytes(like) * 72 * fields};
    kernel_run(id, like, args, work);
}

/* Links, and what is known of them. */
typedef struct {
    const field *f;
    links_group group;
} known_links;

/* y[j], j = 1, 2, 3: the staples of x in direction mu + j. */
static void make_threes(field *y[PATH_OFFSETS], known_links links, const field *x)
{
    staples_args args = {.g = field_geom(links.f),
                         .links = halo_in(links.f),
                         .in = halo_in(x),
                         .chunk = chunk_of(links.f),
                         .special = links.group == LINKS_SPECIAL};
    for (int j = 1; j < PATH_OFFSETS; j++) {
        y[j] = field_scratch(links.f);
        args.out[j] = out_all(y[j]);
    }
    run_both(KERNEL_staples, links.f, &args, 3 + (x == links.f ? 1 : 2));
}

static void free_offsets(field *y[PATH_OFFSETS])
{
    for (int j = 1; j < PATH_OFFSETS; j++) field_destroy(y[j]);
}

/* out[j], j = 1, 2, 3: what all paths around direction mu + j go around, in place of a link. With x itself it is a
 * staple, with staples y of x in the same direction Lepage's path, with those in others and staples of these the paths
 * of 5 and 7 links. */
static void make_cores(field *out[PATH_OFFSETS], known_links links, const field *x, field *const y[PATH_OFFSETS],
                       double three, const staggered_paths *c)
{
    staples_core_args args = {.g = field_geom(links.f),
                              .links = halo_in(links.f),
                              .in = field_all(x),
                              .one = c->lepage,
                              .three = three,
                              .five = c->five,
                              .seven = c->seven,
                              .chunk = chunk_of(links.f),
                              .special = links.group == LINKS_SPECIAL};
    for (int j = 1; j < PATH_OFFSETS; j++) {
        out[j] = field_scratch(links.f);
        args.out[j] = out_all(out[j]);
        args.threes[j] = halo_in(y[j]);
    }
    run_both(KERNEL_staples_core, links.f, &args, 6 + (x == links.f ? 1 : 2));
}

/* Staples of staples in the same direction hold the link itself twice, in three directions. */
static double weight_of_one(const staggered_paths *c)
{
    return c->one - 6 * c->lepage;
}

/* out = all paths of x, the staples of what they go around, or with `add` out +=. */
static void sum_paths(field *out, int add, known_links links, const field *x, field *const core[PATH_OFFSETS],
                      const staggered_paths *c)
{
    staples_sum_args args = {.g = field_geom(links.f),
                             .links = halo_in(links.f),
                             .plain = field_all(x),
                             .plain_factor = weight_of_one(c),
                             .add = add,
                             .chunk = chunk_of(links.f),
                             .special = links.group == LINKS_SPECIAL};
    for (int j = 1; j < PATH_OFFSETS; j++) args.in[j] = halo_in(core[j]);
    args.out = out_all(out);
    run_both(KERNEL_staples_sum, links.f, &args, 4 + (x == links.f ? 1 : 2) + (add ? 1 : 0));
}

void staggered_fatten(field *fat, const field *links, links_group group, const staggered_paths *c)
{
    expect_kind(fat, FIELD_LINKS, links);
    expect_kind(links, FIELD_LINKS, fat);
    const known_links known = {links, group};
    field *three[PATH_OFFSETS], *core[PATH_OFFSETS];
    make_threes(three, known, links);
    make_cores(core, known, links, three, c->three, c);
    free_offsets(three);
    sum_paths(fat, 0, known, links, core, c);
    free_offsets(core);
}

void staggered_lengthen(field *out, const field *links, double coefficient)
{
    long_links_args args = {.g = field_geom(links), .links = halo_in(links), .coefficient = coefficient};
    expect_kind(out, FIELD_LINKS, links);
    expect_kind(links, FIELD_LINKS, out);
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

void staggered_link_phases(field *phases, const field *links)
{
    for (int p = 0; p < 2; p++) {
        link_phases_args args = {.links = field_in(links, p)};
        args.out = field_out(phases, p);
        run(KERNEL_link_phases, links, &args, NULL);
    }
}

void staggered_link_specials(field *links, const field *phases)
{
    for (int p = 0; p < 2; p++) {
        link_specials_args args = {.phases = field_in(phases, p)};
        args.links = field_out(links, p);
        run(KERNEL_link_specials, links, &args, NULL);
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
    comm_group_sum_exact(w->lat->group, s, 2);
    *undefined = exact_value(&s[1]);
    return exact_value(&s[0]);
}

/* ---- derivatives ---- */

/* The paths are bilinear: with u_i and a_i the staples of U and of A, and C_i(U) and C_i(A) what make_cores() makes of
 * them, the derivative is the sum of the paths of A in place of the link they go around, and of the sides of
 * (U, C_i(A)), (C_i(U), A) and seven times (u_j, a_k) and (u_k, a_j). */
void staggered_fatten_back(field *out, int add, const field *links, links_group group, const field *a,
                           const staggered_paths *c)
{
    const known_links known = {links, group};
    expect_kind(out, FIELD_LINKS, links);
    expect_kind(links, FIELD_LINKS, a);
    expect_kind(a, FIELD_LINKS, links);
    field *u[PATH_OFFSETS], *b[PATH_OFFSETS], *core_u[PATH_OFFSETS], *core_a[PATH_OFFSETS];
    make_threes(u, known, links);
    make_threes(b, known, a);
    make_cores(core_a, known, a, b, c->three, c);
    make_cores(core_u, known, links, u, 0, c);
    sum_paths(out, add, known, a, core_a, c);
    for (int i = 1; i < PATH_OFFSETS; i++) {
        const int j = i % 3 + 1, k = j % 3 + 1;
        const field *m[SIDE_PAIRS] = {links, core_u[i], u[j], u[k]}, *with[SIDE_PAIRS] = {core_a[i], a, b[k], b[j]};
        staple_sides_args args = {.g = field_geom(links),
                                  .links = halo_in(links),
                                  .seven = c->seven,
                                  .offset = i,
                                  .chunk = chunk_of(links),
                                  .special = group == LINKS_SPECIAL};
        for (int p = 0; p < SIDE_PAIRS; p++) {
            args.m[p] = halo_in(m[p]);
            args.a[p] = halo_in(with[p]);
        }
        args.out = out_all(out);
        run_both(KERNEL_staple_sides, links, &args, 2 * SIDE_PAIRS + 2);
    }
    free_offsets(u);
    free_offsets(b);
    free_offsets(core_u);
    free_offsets(core_a);
}

double staggered_smearing_flops(void)
{
    const kernel_info *k = kernel_infos;
    return 3 * (k[KERNEL_staples].flops + k[KERNEL_staples_core].flops + k[KERNEL_staple_sides].flops) +
           2 * k[KERNEL_staples_sum].flops;
}

void staggered_lengthen_back(field *out, const field *links, const field *a, double coefficient)
{
    long_back_args args = {
        .g = field_geom(links), .links = halo_in(links), .in = halo_in(a), .coefficient = coefficient};
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
    comm_group_sum_exact(a->lat->group, &s, 1);
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
        bring_from_above(z, !p, call->far ? 3 : 1, args.ghost);
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

/* Reals of a long link, with its phase in U(3). */
static int reals_of(const field *far, const field *phases)
{
    REQUIRE((far->kind == FIELD_LINKS) == (phases == NULL), "long links of kind %d", far->kind);
    return far->reals + (phases != NULL);
}

static void hop_over(const field *like, const staggered_hop_args *args, const int *list, long n)
{
    const double sites = (double)n * like->lay->lanes, rhs = args->in.groups;
    const int adds = args->b != 0;
    const kernel_work w = {.list = list,
                           .n = n,
                           .flops = sites * rhs * ((args->far_reals ? 1146 : 570) + 12 * adds),
                           .bytes = sites * ((double)field_real_bytes(like) * (144 + 8 * args->far_reals) +
                                             field_traffic(like) * rhs * (12 + 6 * adds))};
    kernel_run(KERNEL_staggered_hop, like, args, w);
}

void staggered_hop(field *out, parity p, const field *in, const staggered_call *call)
{
    const layout *lay = layout_tables(out->lay, out->where == PLACE_DEVICE);
    const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    REQUIRE(in != out || out->par == PARITY_BOTH, "the hop reads what it writes");
    expect_vector(in, FIELD_VECTOR, out);
    expect_kind(call->near, FIELD_LINKS, out);
    if (call->b != 0) expect_vector(call->add, FIELD_VECTOR, out);
    if (call->far_phases) expect_kind(call->far_phases, FIELD_PHASES, out);
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
        args.far_reals = reals_of(call->far, call->far_phases);
        args.far_here = field_in(call->far, p);
        args.far_there = field_in(call->far, other);
    }
    if (call->far_phases) {
        args.phase_here = field_in(call->far_phases, p);
        args.phase_there = field_in(call->far_phases, other);
    }
    for (int d = 0; d < 4; d++) args.nface[d] = lay->nface[d];
    const size_t bytes = 2 * call->near->bytes + in->bytes;
    args.stream = bytes > OUT_OF_CACHE;
    args.ahead = bytes > OUT_OF_NEAR_CACHE;
    if (call->b != 0) args.x = field_in(call->add, p);
    args.out = field_out(out, p);
    const int *interior = call->far ? lay->far_interior[p] : lay->interior[p];
    const int *exterior = call->far ? lay->far_exterior[p] : lay->exterior[p];
    const long ninterior = call->far ? lay->nfar_interior[p] : lay->ninterior[p];
    if (ninterior == lay->nunit) {
        hop_over(out, &args, lay->lanes > 1 ? interior : NULL, lay->nunit);
        return;
    }
    exchange e;
    send_to_hop(&e, in, other, call->near, call->far, call->far_phases);
    memcpy(args.ghost, e.ghost, sizeof args.ghost);
    hop_over(out, &args, interior, ninterior);
    exchange_wait(&e);
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
    REQUIRE(in->prec == PREC_DOUBLE, "a shift in precision %d", in->prec);
    expect_vector(in, FIELD_VECTOR, out);
    expect_kind(call->near, FIELD_LINKS, out);
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
            args.hop.far_reals = reals_of(call->far, call->far_phases);
            args.hop.far_scale = call->far_scale;
            args.hop.far_here = field_in(call->far, p);
            args.hop.far_there = field_in(call->far, other);
        }
        if (call->far_phases) {
            args.hop.phase_here = field_in(call->far_phases, p);
            args.hop.phase_there = field_in(call->far_phases, other);
        }
        for (int d = 0; d < 4; d++) args.hop.nface[d] = lay->nface[d];
        args.hop.out = field_out(out, p);
        exchange e;
        send_to_hop(&e, in, other, call->near, call->far, call->far_phases);
        exchange_wait(&e);
        memcpy(args.hop.ghost, e.ghost, sizeof args.hop.ghost);
        kernel_run(KERNEL_staggered_shift, out, &args, work);
    }
}
