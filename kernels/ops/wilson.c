#include "kernels/ops/wilson.h"

#include <math.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/family/clover.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/block_hop.h"
#include "kernels/ops/domainwall.h"
#include "kernels/ops/expect.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/halo.h"
#include "kernels/ops/sums.h"
#include "kernels/run/exchange.h"
#include "kernels/run/tune.h"

/* ---- half spinors at faces ---- */

/* Reals of a half spinor in a message: fixed point travels in single precision with its scale, kernels/site/hop.h. */
static int half_spinor_reals(precision prec)
{
    return prec >= PREC_HALF ? 13 : 12;
}

/* Arguments that pack the parts [first, first + n) of an exchange from parity p of `in`. */
static hop_pack_args half_spinors(const field *in, parity p, const field *links, int sign, const exchange *e, int first,
                                  int n)
{
    const layout *tables = layout_tables(in->lay, in->where == PLACE_DEVICE);
    hop_pack_args args = {.g = tables->g,
                          .in = field_in(in, p),
                          .links = field_in(links, p),
                          .faces = n,
                          .sign = sign,
                          .link_reals = links->reals};
    for (int i = 0; i < n; i++) {
        const int dir = e->parts[first + i].dir;
        args.dir[i] = dir;
        args.face[i] = tables->face[dir][p];
        args.out[i] = e->packed[first + i];
        args.start[i + 1] = args.start[i] + (int)in->lay->nface[dir / 2];
    }
    return args;
}

static void run_pack(const field *in, const hop_pack_args *args)
{
    kernel_run(KERNEL_hop_pack, in, args, (kernel_work){.n = args->start[args->faces], .aside = 1});
}

/* Places the exchange of the half spinors of parity p of `in` that the neighbours' hop needs. */
static hop_pack_args place_half_spinors(exchange *e, const field *in, parity p, const field *links, int sign, int fuse)
{
    exchange_open(e, in);
    for (int dir = 0; dir < 8; dir++)
        if (in->lay->g.split[dir / 2])
            exchange_add(e, dir, dir ^ 1, in->lay->nface[dir / 2], in->groups, half_spinor_reals(in->prec));
    exchange_place(e, fuse);
    return half_spinors(in, p, links, sign, e, 0, e->n);
}

/* Brings in, for the hop's force, the half spinors from above of x (projected with sign +1) and of y (with -1). */
static void bring_pair(const field *x, const field *y, parity p, const field *links, view x_ghost[8], view y_ghost[8])
{
    const field *const of[2] = {x, y};
    exchange e;
    exchange_open(&e, x);
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < 4; d++)
            if (x->lay->g.split[d])
                exchange_add(&e, 2 * d + 1, 2 * d + k, x->lay->nface[d], x->groups, half_spinor_reals(x->prec));
    exchange_place(&e, 0);
    for (int k = 0; k < 2; k++) {
        const int n = e.n / 2;
        const hop_pack_args args = half_spinors(of[k], p, links, k == 0 ? 1 : -1, &e, k * n, n);
        run_pack(of[k], &args);
    }
    exchange_start(&e);
    for (int d = 0; d < 4; d++) {
        if (!x->lay->g.split[d]) continue;
        x_ghost[2 * d] = e.ghost[2 * d];
        y_ghost[2 * d] = e.ghost[2 * d + 1];
    }
    exchange_wait(&e);
}

/* ---- the hop ---- */

/* True if the form has a site-diagonal matrix. */
static int has_matrix(int form)
{
    return form == HOP_CLOVER || form == HOP_CLOVER_ADD || form == HOP_ADD_CLOVER;
}

static void hop_over(const field *like, const hop_args *args, const fifth_matrix *fifth, int doublet, const int *list,
                     long n, const hop_pack_args *pack)
{
    const double sites = (double)n * like->lay->lanes, rhs = args->in.groups;
    const int clover = has_matrix(args->form) ? (args->clover.data != NULL) + (args->mu_clover.data != NULL) : 0;
    const int add = args->form == HOP_ADD || args->form == HOP_CLOVER_ADD || args->form == HOP_ADD_CLOVER;
    const kernel_work w = {
        .list = list,
        .n = n,
        .pack = pack,
        .flops = sites * rhs *
                 (1320 + 504 * clover + 48 * add + 48 * (args->mu != 0) + 48 * doublet + (fifth ? 48 * fifth->Ls : 0)),
        .bytes = sites * ((double)field_real_bytes(like) * (8 * args->link_reals + 72 * clover) +
                          field_traffic(like) * rhs * (48 + 24 * add))};
    if (fifth) {
        const hop_fifth_args all = {*args, *fifth};
        kernel_run(KERNEL_hop_fifth, like, &all, w);
    } else {
        kernel_run(doublet ? KERNEL_hop_doublet : KERNEL_hop, like, args, w);
    }
}

/* A hop of a rank with faces: as one kernel, or kernels that pack, compute the interior and, after the messages, the
 * exterior. */
typedef struct {
    const field *like, *in, *links;
    hop_args args;
    const fifth_matrix *fifth; /* or null */
    int doublet, fuse;
} split_hop;

static void run_split_hop(void *of)
{
    const split_hop *hop = of;
    const layout *lay = layout_tables(hop->like->lay, hop->like->where == PLACE_DEVICE);
    hop_args args = hop->args;
    const parity p = args.parity, other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    exchange e;
    const hop_pack_args pack = place_half_spinors(&e, hop->in, other, hop->links, args.sign, hop->fuse);
    memcpy(args.ghost, e.ghost, sizeof args.ghost);
    if (hop->fuse) {
        args.exterior = (int)lay->nexterior[p];
        hop_over(hop->like, &args, NULL, 0, lay->exterior[p], lay->nunit, &pack);
        return;
    }
    run_pack(hop->in, &pack);
    exchange_start(&e);
    args.interior = 1;
    hop_over(hop->like, &args, hop->fifth, hop->doublet, lay->interior[p], lay->ninterior[p], NULL);
    args.interior = 0;
    exchange_wait(&e);
    hop_over(hop->like, &args, hop->fifth, hop->doublet, lay->exterior[p], lay->nexterior[p], NULL);
}

static double split_hop_seconds(int fuse, void *of)
{
    split_hop hop = *(const split_hop *)of;
    field *scratch = field_scratch(hop.like); /* the output may be an input as well */
    hop.args.out = field_out(scratch, hop.args.parity);
    hop.fuse = fuse;
    const double seconds = tune_seconds(hop.like->lat->group, run_split_hop, &hop);
    field_destroy(scratch);
    return seconds;
}

/* True if pack, interior and exterior run as one kernel, which no matrix of slices or flavours can follow. The tuner decides;
 * without an entry one right-hand side is fused, for several share links in separate kernels. */
static int should_fuse(split_hop *hop)
{
    const hop_args *a = &hop->args;
    if (hop->fifth || hop->doublet || !exchange_can_fuse(hop->in)) return 0;
    const tune_key key = tune_case(TUNE_EXCHANGE, hop->like->prec, &a->g,
                                   (a->form + 8 * (a->mu != 0)) * 32 + a->link_reals, hop->like->groups);
    const int way = tune_choice(&key, hop->like->lat->group, 2, split_hop_seconds, hop);
    return way == TUNE_BY_RULE ? hop->like->groups == 1 : way;
}

void wilson_hop(field *out, parity p, const field *in, const wilson_hop_call *call)
{
    const layout *lay = layout_tables(out->lay, out->where == PLACE_DEVICE);
    const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    const double space = call->space != 0 ? call->space : 1;
    REQUIRE(in != out || out->par == PARITY_BOTH, "the hop reads what it writes");
    expect_vector(in, FIELD_SPINOR, out);
    expect_links(call->links, out);
    if (call->add) expect_vector(call->add, FIELD_SPINOR, out);
    if (call->clover) expect_kind(call->clover, FIELD_CLOVER, out);
    if (call->mu_clover) expect_kind(call->mu_clover, FIELD_CLOVER, out);
    hop_args args = {.g = field_geom(out),
                     .in = field_in(in, other),
                     .here = field_in(call->links, p),
                     .there = field_in(call->links, other),
                     .a = call->a,
                     .a_space = call->a * space,
                     .b = call->b,
                     .mu = call->mu,
                     .epsilon = call->epsilon,
                     .parity = p,
                     .sign = call->sign,
                     .form = call->form,
                     .link_reals = call->links->reals};
    const size_t bytes = call->links->bytes + in->bytes;
    args.stream = bytes > OUT_OF_CACHE;
    args.ahead = bytes > OUT_OF_NEAR_CACHE;
    if (call->clover) args.clover = field_in(call->clover, p);
    if (call->mu_clover) args.mu_clover = field_in(call->mu_clover, p);
    if (call->add) args.x = field_in(call->add, p);
    args.out = field_out(out, p);
    const int doublet = call->doublet && (call->mu != 0 || call->epsilon != 0) && has_matrix(call->form);
    REQUIRE(call->doublet ? out->Ls == 2 : call->epsilon == 0, "a doublet with epsilon %g on %d slices", call->epsilon,
            out->Ls);
    fifth_matrix scaled;
    const fifth_matrix *fifth = NULL;
    if (call->fifth) {
        REQUIRE(call->form == HOP_PLAIN || call->form == HOP_ADD, "a clover term and a matrix of slices");
        REQUIRE(call->fifth->Ls == out->Ls && call->fifth->from == out->Ls, "a matrix of %d slices on %d",
                call->fifth->Ls, out->Ls);
        args.a = 1;
        args.a_space = space;
        scaled = domainwall_scaled(call->a, call->fifth, call->fifth_transposed);
        fifth = &scaled;
    }
    if (call->cut) {
        blocks_cut_hop(call->cut, &args, out);
        if (lay->lanes == 1) {
            hop_over(out, &args, fifth, doublet, NULL, lay->nunit, NULL);
        } else { /* the lists are the order that suits the caches */
            hop_over(out, &args, fifth, doublet, lay->interior[p], lay->ninterior[p], NULL);
            hop_over(out, &args, fifth, doublet, lay->exterior[p], lay->nexterior[p], NULL);
        }
        return;
    }
    if (lay->nexterior[p] == 0) {
        hop_over(out, &args, fifth, doublet, lay->lanes > 1 ? lay->interior[p] : NULL, lay->nunit, NULL);
        return;
    }
    split_hop hop = {out, in, call->links, args, fifth, doublet, 0};
    hop.fuse = should_fuse(&hop);
    run_split_hop(&hop);
}

static clover_apply_args clover_on(field *out, parity p, const field *clover, const field *in, double factor)
{
    expect_vector(in, FIELD_SPINOR, out);
    expect_kind(clover, FIELD_CLOVER, out);
    clover_apply_args args = {.in = field_in(in, p), .clover = field_in(clover, p), .factor = factor};
    args.out = field_out(out, p);
    return args;
}

void clover_apply(field *out, parity p, const field *clover, const field *in, double factor)
{
    const clover_apply_args args = clover_on(out, p, clover, in, factor);
    kernel_run(KERNEL_clover_apply, out, &args, vector_work(KERNEL_clover_apply, out, out->groups));
}

void doublet_apply(field *out, parity p, const field *clover, const field *mu_clover, double mu, double epsilon,
                   const field *in, double factor)
{
    expect_vector(in, FIELD_SPINOR, out);
    REQUIRE(out->Ls == 2, "a doublet of %d flavours", out->Ls);
    if (clover) expect_kind(clover, FIELD_CLOVER, out);
    if (mu_clover) expect_kind(mu_clover, FIELD_CLOVER, out);
    doublet_apply_args args = {.in = field_in(in, p), .factor = factor, .mu = mu, .epsilon = epsilon};
    if (clover) args.clover = field_in(clover, p);
    if (mu_clover) args.mu_clover = field_in(mu_clover, p);
    args.out = field_out(out, p);
    const int fields = (clover != NULL) + (mu_clover != NULL);
    kernel_work w = vector_work(KERNEL_doublet_apply, out, out->groups);
    w.flops *= (144 + 504.0 * fields) / 1152;
    w.bytes *= (48 + 36.0 * fields) / 120;
    kernel_run(KERNEL_doublet_apply, out, &args, w);
}

/* The work of a matrix with so many of the fields C and K; registered are two. */
static kernel_work twisted_work(const field *out, int fields)
{
    kernel_work w = vector_work(KERNEL_twisted_apply, out, out->groups);
    w.flops *= (96 + 504.0 * fields) / 1104;
    w.bytes *= (48 + 72.0 * fields) / 192;
    return w;
}

void twisted_apply(field *out, parity p, const field *clover, const field *mu_clover, double mu, const field *in,
                   double factor)
{
    expect_vector(in, FIELD_SPINOR, out);
    if (clover) expect_kind(clover, FIELD_CLOVER, out);
    if (mu_clover) expect_kind(mu_clover, FIELD_CLOVER, out);
    twisted_apply_args args = {.in = field_in(in, p), .factor = factor, .mu = mu};
    if (clover) args.clover = field_in(clover, p);
    if (mu_clover) args.mu_clover = field_in(mu_clover, p);
    args.out = field_out(out, p);
    const kernel_work work = twisted_work(out, (clover != NULL) + (mu_clover != NULL));
    kernel_run(KERNEL_twisted_apply, out, &args, work);
}

void clover_apply_norm2_start(vector_sum *s, field *out, parity p, const field *clover, const field *in, double factor)
{
    REQUIRE(in->nrhs == 1, "one sum of %d right-hand sides", in->nrhs);
    const clover_norm2_args args = {clover_on(out, p, clover, in, factor), 0, in->Ls};
    *s = vector_sum_open(KERNEL_clover_norm2, out);
    vector_sum_run(s, out, &args, vector_work(KERNEL_clover_norm2, out, in->Ls), 1, 1);
}

/* ---- clover term and forces ---- */

static void run(kernel_id id, const field *like, const void *args, exact_sum *sums)
{
    kernel_run(id, like, args, (kernel_work){.n = field_units(like), .sums = sums});
}

/* Terms of the series of exp(x) that leave out less than rounding does: |x| is at most 3 c / diagonal, for the three Pauli matrices
 * of a chirality have the field strengths of two planes each, and these are at most 1. */
static int series_terms(double diagonal, clover_coefficients c)
{
    const double x = 3 * fmax(fabs(c.space), fabs(c.time)) / fabs(diagonal);
    double term = 1;
    int n = 0;
    REQUIRE(x < 100, "coefficients %g and %g of an exponential clover term, diagonal %g", c.space, c.time, diagonal);
    while (n < x || term > 1e-18) term *= x / ++n;
    return n;
}

/* clover = diagonal exp(clover / diagonal) */
static void exponentiate(field *clover, double diagonal, clover_coefficients c)
{
    FOR_PARITIES(p, clover)
    {
        clover_exp_args args = {.in = field_in(clover, p),
                                .diagonal = diagonal,
                                .terms = series_terms(diagonal, c),
                                .g = field_geom(clover),
                                .parity = p};
        for (int end = 0; clover->lat->time != TIME_PERIODIC && end < 2; end++) args.inside[end] = c.inside[end];
        args.last = lattice_last_slice(clover->lat);
        args.out = field_out(clover, p);
        run(KERNEL_clover_exp, clover, &args, NULL);
    }
}

void clover_build(field *clover, const field *tensor, double diagonal, clover_coefficients c)
{
    if (c.exponential) {
        clover_build(clover, tensor, 0, (clover_coefficients){.space = c.space, .time = c.time});
        exponentiate(clover, diagonal, c);
        return;
    }
    expect_kind(clover, FIELD_CLOVER, tensor);
    expect_kind(tensor, FIELD_TENSOR, clover);
    FOR_PARITIES(p, clover)
    {
        clover_build_args args = {.tensor = field_in(tensor, p),
                                  .diagonal = diagonal,
                                  .factor = {0.5 * c.space, 0.5 * c.time},
                                  .g = field_geom(clover),
                                  .parity = p};
        for (int end = 0; clover->lat->time != TIME_PERIODIC && end < 2; end++) args.inside[end] = c.inside[end];
        args.last = lattice_last_slice(clover->lat);
        args.out = field_out(clover, p);
        run(KERNEL_clover_build, clover, &args, NULL);
    }
}

double clover_invert(field *inverse, const field *clover, parity p, double *negatives)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    expect_kind(clover, FIELD_CLOVER, inverse);
    expect_kind(inverse, FIELD_CLOVER, clover);
    clover_invert_args args = {.in = field_in(clover, p)};
    args.out = field_out(inverse, p);
    run(KERNEL_clover_invert, clover, &args, s);
    comm_group_sum_exact(clover->lat->group, s, 2);
    *negatives = exact_value(&s[1]);
    return exact_value(&s[0]);
}

double twisted_invert(field *inverse, field *mu_inverse, const field *clover, parity p, double square,
                      double *negatives)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    expect_kind(clover, FIELD_CLOVER, inverse);
    expect_kind(inverse, FIELD_CLOVER, clover);
    expect_kind(mu_inverse, FIELD_CLOVER, clover);
    twisted_invert_args args = {.in = field_in(clover, p), .square = square};
    args.out = field_out(inverse, p);
    args.mu_out = field_out(mu_inverse, p);
    run(KERNEL_twisted_invert, clover, &args, s);
    comm_group_sum_exact(clover->lat->group, s, 2);
    *negatives = exact_value(&s[1]);
    return exact_value(&s[0]);
}

/* The variation of the clover term is (i c_sw / 2) sigma dF a plane, dF = (dQ - dQ^dagger) / 8; a force term k Re tr[L
 * dF] becomes Re tr[Z dQ] with Z a quarter of the anti-Hermitian part of k L. */
void clover_insert(field *tensor, parity p, clover_coefficients c, const field *x, const field *y)
{
    expect_kind(tensor, FIELD_TENSOR, x);
    expect_vector(x, FIELD_SPINOR, y);
    clover_insert_args args = {field_in(x, p), field_in(y, p), field_out(tensor, p), {-0.25 * c.space, -0.25 * c.time}};
    run(KERNEL_clover_insert, tensor, &args, NULL);
}

void clover_outer(field *outer, parity p, const field *x, const field *y)
{
    expect_kind(outer, FIELD_CLOVER, x);
    expect_vector(x, FIELD_SPINOR, y);
    const clover_outer_args args = {field_in(x, p), field_in(y, p), field_out(outer, p)};
    run(KERNEL_clover_outer, outer, &args, NULL);
}

void clover_chain(field *out, parity p, const field *h, const field *exponent, double diagonal, clover_coefficients c)
{
    expect_kind(h, FIELD_CLOVER, out);
    expect_kind(exponent, FIELD_CLOVER, out);
    clover_chain_args args = {.in = field_in(h, p),
                              .exponent = field_in(exponent, p),
                              .diagonal = diagonal,
                              .terms = series_terms(diagonal, c)};
    args.out = field_out(out, p);
    run(KERNEL_clover_chain, out, &args, NULL);
}

void clover_insert_det(field *tensor, parity p, clover_coefficients c, double weight, const field *inverse)
{
    expect_kind(tensor, FIELD_TENSOR, inverse);
    expect_kind(inverse, FIELD_CLOVER, tensor);
    clover_insert_det_args args = {
        field_in(inverse, p), field_out(tensor, p), {-0.125 * c.space * weight, -0.125 * c.time * weight}};
    run(KERNEL_clover_insert_det, tensor, &args, NULL);
}

void clover_force(field *force, const field *links, field *tensor)
{
    expect_kind(force, FIELD_MOMENTA, links);
    expect_kind(links, FIELD_LINKS, tensor);
    expect_kind(tensor, FIELD_TENSOR, links);
    slices_scale(tensor, SLICES_ENDS, 0);
    clover_force_args args = {
        .g = field_geom(links), .links = halo_in(links), .tensor = halo_in(tensor), .factor = -0.5};
    FOR_PARITIES(p, force)
    {
        args.parity = p;
        args.momenta = field_out(force, p);
        run(KERNEL_clover_force, links, &args, NULL);
    }
}

void hop_force(field *force, const field *links, const field *x, const field *y, double space)
{
    const layout *lay = x->lay;
    expect_kind(force, FIELD_MOMENTA, links);
    expect_kind(links, FIELD_LINKS, x);
    expect_vector(x, FIELD_SPINOR, y);
    for (int p = 0; p < 2; p++) {
        const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
        hop_force_args args = {.g = field_geom(x),
                               .x_here = field_in(x, p),
                               .y_here = field_in(y, p),
                               .x_there = field_in(x, other),
                               .y_there = field_in(y, other),
                               .links = field_in(links, p),
                               .momenta = field_out(force, p),
                               .factor = -0.5,
                               .space_factor = -0.5 * space,
                               .parity = p};
        if (lay->nexterior[p] > 0) bring_pair(x, y, other, links, args.x_ghost, args.y_ghost);
        kernel_run(KERNEL_hop_force, x, &args, vector_work(KERNEL_hop_force, x, x->groups));
    }
}
