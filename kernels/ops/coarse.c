#include "kernels/ops/coarse.h"

#include "kernels/base/error.h"
#include "kernels/family/coarse.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/expect.h"
#include "kernels/run/exchange.h"
#include "kernels/run/kernel.h"

/* ---- fields ---- */

parity coarse_whole(const lattice *lat)
{
    return lat->parities == 2 ? PARITY_BOTH : PARITY_EVEN;
}

static int padded(int vectors)
{
    return (vectors + COARSE_PAD - 1) / COARSE_PAD * COARSE_PAD;
}

field *coarse_null_vectors(const aggregation *a, precision prec, place where)
{
    const field_shape shape = field_shape_matrices(a->spins, a->colours, padded(a->vectors), 1);
    return field_create_shape(a->fine, &shape, prec, coarse_whole(a->fine), where);
}

/* Matrices of the aggregation's null vectors. */
static void expect_null_vectors(const aggregation *a, const field *vectors)
{
    REQUIRE(vectors->kind == FIELD_MATRICES && vectors->lat == a->fine && vectors->columns == padded(a->vectors) &&
                vectors->spins * vectors->colours == a->spins * a->colours,
            "%s of %d x %d components and %d columns for %d null vectors of %d x %d", field_kinds[vectors->kind].name,
            vectors->spins, vectors->colours, vectors->columns, a->vectors, a->spins, a->colours);
}

/* Vectors of one lattice in rows order. */
static void expect_rows(const field *v, const lattice *lat, int components, const field *like)
{
    REQUIRE(v->kind == FIELD_COARSE && v->lat == lat && v->spins * v->colours == components && v->prec == like->prec &&
                v->where == like->where,
            "%s of %d components, precision %d and place %d, where rows of %d, %d and %d are expected",
            field_kinds[v->kind].name, v->spins * v->colours, v->prec, v->where, components, like->prec, like->where);
}

/* ---- rows ---- */

static coarse_rows_args rows_args(const field *rows, parity p, const field *f)
{
    const int apart = f->kind == FIELD_SPINOR;
    const precision of_rows = f->prec == PREC_DOUBLE ? PREC_DOUBLE : PREC_SINGLE;
    REQUIRE(rows->order == ORDER_ROWS && f->order == ORDER_SITES && rows->lat == f->lat && rows->where == f->where &&
                rows->prec == of_rows && rows->reals == (apart ? 1 : f->groups) * f->reals &&
                rows->groups == (apart ? f->groups : 1),
            "rows of %d x %d reals in precision %d for a %s of %d x %d in precision %d", rows->groups, rows->reals,
            rows->prec, field_kinds[f->kind].name, f->groups, f->reals, f->prec);
    return (coarse_rows_args){.g = field_geom(f), .parity = p, .reals = f->reals, .groups_apart = apart};
}

static void run_rows(kernel_id id, const field *f, const coarse_rows_args *args)
{
    const double reals = (double)field_units(f) * f->lay->lanes * f->groups * f->reals;
    const kernel_work w = {.n = field_units(f), .bytes = 2 * reals * field_traffic(f)};
    kernel_run(id, f, args, w);
}

void coarse_rows(field *rows, parity p, const field *f)
{
    coarse_rows_args args = rows_args(rows, p, f);
    args.sites = field_in(f, p);
    args.rows = field_out(rows, p);
    run_rows(KERNEL_coarse_gather, f, &args);
}

void coarse_sites(field *f, parity p, const field *rows, int add)
{
    coarse_rows_args args = rows_args(rows, p, f);
    REQUIRE(f->kind == FIELD_SPINOR, "rows into a %s", field_kinds[f->kind].name);
    args.rows = field_in(rows, p);
    args.sites = field_out(f, p);
    args.add = add;
    run_rows(KERNEL_coarse_scatter, f, &args);
}

/* ---- aggregates ---- */

static coarse_aggregates aggregates(const aggregation *a, const field *vectors, parity p)
{
    const layout *fine = &a->fine->layouts[0],
                 *tables = layout_tables(&a->coarse->layouts[0], vectors->where == PLACE_DEVICE);
    coarse_aggregates m = {.coarse = tables->g,
                           .parities = fine->parities,
                           .rows_of_parity = fine->nunit,
                           .components = a->spins * a->colours,
                           .vectors = a->vectors,
                           .padded = padded(a->vectors),
                           .parity = p};
    expect_null_vectors(a, vectors);
    for (int d = 0; d < 4; d++) {
        m.sub[d] = fine->sub[d];
        m.block[d] = a->block[d];
    }
    return m;
}

static double aggregate_sites(const aggregation *a)
{
    return (double)a->block[0] * a->block[1] * a->block[2] * a->block[3];
}

void coarse_insert(const aggregation *a, field *vectors, int k, const field *v)
{
    expect_rows(v, a->fine, a->spins * a->colours, vectors);
    REQUIRE(k >= 0 && k < a->vectors && v->groups == 1, "null vector %d of %d", k, a->vectors);
    coarse_insert_args args = {.of = aggregates(a, vectors, PARITY_EVEN), .number = k};
    field_written(vectors);
    args.vectors = field_all(vectors);
    FOR_PARITIES(p, v)
    {
        args.in = field_in(v, p);
        args.fine = p;
        kernel_run(
            KERNEL_coarse_insert, v, &args,
            (kernel_work){.n = field_units(v), .bytes = 2.0 * (double)field_units(v) * v->reals * field_traffic(v)});
    }
}

/* A whole field on the coarse lattice, whose units launches run over. */
static field coarse_like(const aggregation *a, const field *vectors)
{
    field like = *vectors;
    like.lat = a->coarse;
    like.lay = &a->coarse->layouts[0];
    like.par = coarse_whole(a->coarse);
    return like;
}

double coarse_orthonormalise(const aggregation *a, field *vectors)
{
    const field like = coarse_like(a, vectors);
    const double n = a->vectors, rows = aggregate_sites(a) * a->spins * a->colours;
    exact_sum sum = exact_zero();
    REQUIRE(a->vectors <= COARSE_VECTORS_MOST, "%d null vectors", a->vectors);
    field_written(vectors);
    FOR_PARITIES(p, &like)
    {
        const coarse_orthonormalise_args args = {aggregates(a, vectors, (parity)p), field_all(vectors)};
        const double units = (double)field_units(&like);
        kernel_run(KERNEL_coarse_orthonormalise, &like, &args,
                   (kernel_work){.n = field_units(&like),
                                 .sums = &sum,
                                 .flops = units * rows * n * n * 16,
                                 .bytes = units * rows * n * 12 * field_traffic(vectors)});
    }
    if (!a->coarse->planned) comm_group_sum_exact(a->coarse->group, &sum, 1);
    return a->coarse->planned ? 0 : exact_value(&sum);
}

static void transfer(kernel_id id, const aggregation *a, const field *vectors, const field *fine, const field *coarse)
{
    const double complexes = (double)fine->lay->nunit * (fine->par == PARITY_BOTH ? 2 : 1) * a->spins * a->colours;
    expect_rows(fine, a->fine, a->spins * a->colours, vectors);
    expect_rows(coarse, a->coarse, 2 * a->vectors, vectors);
    REQUIRE(fine->groups == coarse->groups && coarse->par == coarse_whole(a->coarse),
            "%d right-hand sides to %d of parity %d", fine->groups, coarse->groups, coarse->par);
    const double launches = coarse->par == PARITY_BOTH ? 2 : 1;
    coarse_transfer_args args = {.vectors = field_all(vectors),
                                 .fine_vector = field_all(fine),
                                 .coarse_vector = field_all(coarse),
                                 .fine = fine->par == PARITY_BOTH || a->fine->parities == 1 ? 2 : (int)fine->par};
    FOR_PARITIES(p, coarse)
    {
        args.of = aggregates(a, vectors, (parity)p);
        args.coarse_vector = field_in(coarse, (parity)p);
        kernel_run(
            id, coarse, &args,
            (kernel_work){.n = field_units(coarse),
                          .flops = complexes / launches * a->vectors * 8 * fine->groups,
                          .bytes = complexes / launches * 2 * (a->vectors + 2 * fine->groups) * field_traffic(fine)});
    }
}

void coarse_restrict(const aggregation *a, field *coarse, const field *vectors, const field *fine)
{
    field_written(coarse);
    transfer(KERNEL_coarse_restrict, a, vectors, fine, coarse);
}

void coarse_prolong(const aggregation *a, field *fine, const field *vectors, const field *coarse)
{
    field_written(fine);
    transfer(KERNEL_coarse_prolong, a, vectors, fine, coarse);
}

/* ---- halos ---- */

/* Rows of group `group` of f at the face that is left along `dir`, of parity p: behind each other in `out`. */
static void pack_face(const field *f, parity p, int group, int dir, view out, long before)
{
    const layout *tables = layout_tables(f->lay, f->where == PLACE_DEVICE);
    const field one = field_group(f, group);
    coarse_pack_args args = {.in = field_in(&one, p), .out = out, .face = tables->face[dir][p], .reals = f->reals};
    args.in.groups = 1;
    args.out.data = (char *)out.data + (size_t)before * (size_t)f->reals * field_real_bytes(f);
    const long n = f->lay->nface[dir / 2];
    kernel_run(KERNEL_coarse_pack, f, &args,
               (kernel_work){.n = n, .aside = 1, .bytes = 2.0 * (double)n * f->reals * field_traffic(f)});
}

/* Brings whole rows of a whole field over the faces: group 2 mu where `backward`, of the lattice's sites below, else group
 * 0 of those above. */
static void bring_rows(const field *f, int backward, view ghost[4], long ghost_rows[4])
{
    const int parities = f->lat->parities;
    exchange e;
    exchange_open(&e, f);
    for (int mu = 0; mu < 4; mu++)
        if (f->lay->g.split[mu])
            exchange_add(&e, 2 * mu + !backward, 2 * mu + backward, parities * f->lay->nface[mu], 1, f->reals);
    exchange_place(&e, 0);
    for (int i = 0; i < e.n; i++) {
        const int dir = e.parts[i].dir;
        for (int p = 0; p < parities; p++)
            pack_face(f, (parity)p, backward ? dir : 0, dir, e.packed[i], p * f->lay->nface[dir / 2]);
    }
    exchange_start(&e);
    exchange_wait(&e);
    for (int mu = 0; mu < 4; mu++) {
        ghost_rows[mu] = f->lay->nface[mu];
        ghost[mu] = e.ghost[2 * mu + backward];
    }
}

/* ---- the Galerkin product ---- */

static void backward_links(field *links)
{
    coarse_backward_args args = {.g = field_geom(links),
                                 .links = field_all(links),
                                 .rows_of_parity = links->lay->nunit,
                                 .components = links->columns,
                                 .parities = links->lat->parities};
    bring_rows(links, 1, args.ghost, args.ghost_rows);
    FOR_PARITIES(p, links)
    {
        args.parity = p;
        kernel_run(KERNEL_coarse_backward, links, &args,
                   (kernel_work){.n = field_units(links),
                                 .bytes = 8.0 * (double)field_units(links) * links->reals * field_traffic(links)});
    }
}

static void galerkin(kernel_id id, const aggregation *a, field *links, field *diagonal, const field *vectors,
                     const field *fine_links, const field *fine_diagonal, double hop_flops)
{
    const layout *fine = &a->fine->layouts[0];
    const double sites = (double)fine->nunit * fine->parities, components = a->spins * a->colours, n = a->vectors;
    coarse_galerkin_args args = {.vectors = field_all(vectors),
                                 .links = field_all(fine_links),
                                 .diagonal = field_all(fine_diagonal),
                                 .time_sign = fine->g.edge_sign_up};
    bring_rows(vectors, 0, args.ghost, args.ghost_rows);
    for (int d = 0; d < 4; d++) args.split[d] = fine->g.split[d];
    field_written(links);
    field_written(diagonal);
    FOR_PARITIES(p, links)
    {
        args.of = aggregates(a, vectors, (parity)p);
        args.out = field_in(links, (parity)p);
        args.out_diagonal = field_in(diagonal, (parity)p);
        const double part = 1.0 / a->coarse->parities;
        kernel_run(id, links, &args,
                   (kernel_work){.n = field_units(links),
                                 .flops = part * sites * 2 * n * (8 * 5 * components * n + hop_flops),
                                 .bytes = part * sites * components * 4 * n * field_traffic(vectors)});
    }
    backward_links(links);
}

void coarse_galerkin_wilson(const aggregation *a, field *links, field *diagonal, const field *vectors,
                            const field *link_rows, const field *clover_rows)
{
    expect_rows(link_rows, a->fine, 36, vectors);
    expect_rows(clover_rows, a->fine, 36, vectors);
    galerkin(KERNEL_coarse_galerkin_wilson, a, links, diagonal, vectors, link_rows, clover_rows, 4 * 200 + 8 * 36);
}

void coarse_galerkin(const aggregation *a, field *links, field *diagonal, const field *vectors, const field *fine_links,
                     const field *fine_diagonal)
{
    const double n = a->spins * a->colours;
    expect_kind(fine_links, FIELD_MATRICES, vectors);
    expect_kind(fine_diagonal, FIELD_MATRICES, vectors);
    galerkin(KERNEL_coarse_galerkin, a, links, diagonal, vectors, fine_links, fine_diagonal, 8 * (4.5 + 4) * n * n);
}

/* ---- coarse operators ---- */

/* Work of so many products of matrices with vectors at each unit. */
static kernel_work matrix_work(const field *matrices, double products, double reads)
{
    const double n = matrices->columns, units = (double)field_units(matrices);
    return (kernel_work){.n = field_units(matrices),
                         .flops = units * products * 8 * n * n,
                         .bytes = units * reads * 2 * n * n * field_traffic(matrices)};
}

void coarse_invert(field *inverse, const field *diagonal)
{
    expect_kind(inverse, FIELD_MATRICES, diagonal);
    FOR_PARITIES(p, inverse)
    {
        coarse_invert_args args = {field_in(diagonal, (parity)p), field_out(inverse, (parity)p), diagonal->columns};
        kernel_run(KERNEL_coarse_invert, inverse, &args, matrix_work(inverse, diagonal->columns, 2));
    }
}

static void compress(kernel_id id, const field *links, const field *fixed)
{
    REQUIRE(links->kind == FIELD_MATRICES && fixed->kind == FIELD_MATRICES && links->lat == fixed->lat &&
                links->where == fixed->where && links->reals == fixed->reals && links->groups == fixed->groups &&
                links->par == fixed->par && fixed->prec == PREC_HALF && links->prec < PREC_HALF,
            "%d matrices of %d reals in %s precision beside %d of %d in %s", links->groups, links->reals,
            precision_names[links->prec], fixed->groups, fixed->reals, precision_names[fixed->prec]);
    FOR_PARITIES(p, links)
    {
        const coarse_compress_args args = {field_in(links, (parity)p), field_in(fixed, (parity)p), links->columns};
        const double reals = (double)field_units(links) * links->groups * links->reals;
        kernel_run(id, links, &args,
                   (kernel_work){.n = field_units(links),
                                 .flops = reals,
                                 .bytes = reals * (field_traffic(links) + field_traffic(fixed))});
    }
}

void coarse_compress(field *fixed, const field *links)
{
    field_written(fixed);
    compress(KERNEL_coarse_compress, links, fixed);
}

void coarse_expand(field *links, const field *fixed)
{
    field_written(links);
    compress(KERNEL_coarse_expand, links, fixed);
}

void coarse_shift(field *matrices, coarse_scalar times, coarse_scalar plus)
{
    expect_kind(matrices, FIELD_MATRICES, matrices);
    REQUIRE(matrices->groups == 1, "%d matrices a site", matrices->groups);
    FOR_PARITIES(p, matrices)
    {
        const coarse_shift_args args = {field_out(matrices, (parity)p), times, plus, matrices->columns};
        const double reals = (double)field_units(matrices) * matrices->reals;
        kernel_run(
            KERNEL_coarse_shift, matrices, &args,
            (kernel_work){.n = field_units(matrices), .flops = reals, .bytes = 2 * reals * field_traffic(matrices)});
    }
}

void coarse_fold(field *links, const field *inverse)
{
    expect_kind(links, FIELD_MATRICES, inverse);
    FOR_PARITIES(p, links)
    {
        const coarse_fold_args args = {field_out(links, (parity)p), field_in(inverse, (parity)p), inverse->columns};
        kernel_run(KERNEL_coarse_fold, links, &args,
                   matrix_work(links, links->groups * links->columns, 2 * links->groups));
    }
}

/* Brings the rows of parity p of `in` over all faces. */
static void bring_vectors(exchange *e, const field *in, parity p)
{
    exchange_open(e, in);
    for (int dir = 0; dir < 8; dir++)
        if (in->lay->g.split[dir / 2]) exchange_add(e, dir, dir ^ 1, in->lay->nface[dir / 2], in->groups, in->reals);
    exchange_place(e, 0);
    const layout *tables = layout_tables(in->lay, in->where == PLACE_DEVICE);
    for (int i = 0; i < e->n; i++) {
        const int dir = e->parts[i].dir;
        const coarse_pack_args args = {field_in(in, p), e->packed[i], tables->face[dir][p], in->reals};
        const long n = in->lay->nface[dir / 2];
        kernel_run(
            KERNEL_coarse_pack, in, &args,
            (kernel_work){.n = n, .aside = 1, .bytes = 2.0 * (double)n * in->groups * in->reals * field_traffic(in)});
    }
    exchange_start(e);
    exchange_wait(e);
}

void coarse_hop(field *out, parity p, double a, const field *links, const field *in, double b, const field *add,
                coarse_products products)
{
    const int tensor = products == COARSE_TENSOR_CORES && out->where == PLACE_DEVICE && out->prec == PREC_SINGLE &&
                       out->groups >= COARSE_TENSOR_RHS && links->columns % 16 == 0;
    const parity other = out->lat->parities == 1 ? p : p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    exchange e;
    expect_rows(in, out->lat, links->columns, out);
    expect_rows(out, links->lat, links->columns, out);
    REQUIRE(links->kind == FIELD_MATRICES && links->where == out->where &&
                (links->prec == out->prec || links->prec == PREC_HALF),
            "%s in %s precision", field_kinds[links->kind].name, precision_names[links->prec]);
    REQUIRE(in->groups == out->groups && (b == 0 || (add && add->groups == out->groups)), "%d groups to %d", in->groups,
            out->groups);
    bring_vectors(&e, in, other);
    coarse_hop_args args = {.g = field_geom(out),
                            .in = field_in(in, other),
                            .links = field_in(links, p),
                            .a = a,
                            .b = b,
                            .parity = p,
                            .components = links->columns};
    if (b != 0) args.add = field_in(add, p);
    for (int dir = 0; dir < 8; dir++) args.ghost[dir] = e.ghost[dir];
    args.out = field_out(out, p);
    kernel_run(tensor ? KERNEL_coarse_hop_tensor : KERNEL_coarse_hop, out, &args,
               matrix_work(links, 8.0 * out->groups, 8));
}

void coarse_local(field *out, parity p, const field *matrices, const field *in, coarse_gamma gamma)
{
    expect_rows(in, out->lat, matrices->columns, matrices);
    expect_rows(out, out->lat, matrices->columns, matrices);
    REQUIRE(in->groups == out->groups && in != out, "%d groups to %d", in->groups, out->groups);
    coarse_local_args args = {.in = field_in(in, p),
                              .matrices = field_in(matrices, p),
                              .components = matrices->columns,
                              .left = gamma == GAMMA_LEFT ? -1 : 1,
                              .right = gamma == GAMMA_RIGHT ? -1 : 1};
    args.out = field_out(out, p);
    kernel_run(KERNEL_coarse_local, out, &args, matrix_work(matrices, out->groups, 1));
}
