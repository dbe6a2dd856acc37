/* The GPU against the CPU: every kernel but those of staggered quarks (test_staggered.c) on the same fields in both
 * places, in every precision, on lattices that fill neither blocks of storage nor blocks of threads.
 *
 * Both compile the same site functions, and the build lets neither fuse on its own; so where only + - * / sqrt and
 * fused multiply-add enter, the results are equal, real by real, and the sums of any order too. Random fields and log
 * det C use log, sin and cos of two libraries, and agree to 1e-12. On several ranks, which may share a GPU, the lattice
 * is split in every way. Whatever the tuner may choose gives the same. Without a GPU it is skipped (status 77). */
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"
#include "tests/gpu/places.h"

/* ---- spinors ---- */

static void test_each(field *const d[2], field *const h[2])
{
    enum { ROOM = 64 };
    double of_d[ROOM], of_h[ROOM], dot_d[ROOM][2], dot_h[ROOM][2], a[ROOM], b[ROOM];
    for (int r = 0; r < h[0]->nrhs; r++) {
        a[r] = 0.1 * r - 0.4;
        b[r] = r % 2 ? 1 : 0.6;
    }
    vector_dot_each(dot_d, d[0], d[1]);
    vector_dot_each(dot_h, h[0], h[1]);
    vector_axpby_norm2_each(of_d, d[1], a, d[0], b);
    vector_axpby_norm2_each(of_h, h[1], a, h[0], b);
    check_same("axpby_norm2_each", d[1], h[1], EXACT);
    for (int r = 0; r < h[0]->nrhs; r++) {
        for (int k = 0; k < 2; k++) check_value("dot_each", dot_d[r][k], dot_h[r][k], EXACT);
        check_value("the sum of axpby_norm2_each", of_d[r], of_h[r], EXACT);
    }
    vector_norm2_each(of_d, d[1]);
    vector_norm2_each(of_h, h[1]);
    for (int r = 0; r < h[0]->nrhs; r++) check_value("norm2_each", of_d[r], of_h[r], EXACT);
}

static void test_blas(const lattice *lat, field_shape shape, precision prec, parity par)
{
    field *h[3], *d[3];
    const int nrhs = shape.nrhs;
    for (int i = 0; i < 3; i++) {
        h[i] = field_create_shape(lat, &shape, prec, par, PLACE_HOST);
        fill(h[i], (unsigned long)(10 + i));
        d[i] = on_device(h[i]);
        check_same("copy", d[i], h[i], EXACT);
    }
    for (int r = 0; r < nrhs; r++) {
        double a[2], b[2];
        check_value("norm2", vector_norm2(d[0], r), vector_norm2(h[0], r), EXACT);
        vector_dot(a, d[0], d[1], r);
        vector_dot(b, h[0], h[1], r);
        check_value("re dot", a[0], b[0], EXACT);
        check_value("im dot", a[1], b[1], EXACT);
        check_value("axpy_norm2", vector_axpy_norm2(d[1], -0.7, d[0], r), vector_axpy_norm2(h[1], -0.7, h[0], r),
                    EXACT);
        check_same("axpy_norm2", d[1], h[1], EXACT);
        check_value("axpby_norm2", vector_axpby_norm2(d[1], 0.6, d[0], -0.8, r),
                    vector_axpby_norm2(h[1], 0.6, h[0], -0.8, r), EXACT);
        check_same("axpby_norm2", d[1], h[1], EXACT);
    }
    vector_axpby(d[1], 0.3, d[0], 1.1);
    vector_axpby(h[1], 0.3, h[0], 1.1);
    check_same("axpby", d[1], h[1], EXACT);
    vector_cg_update(d[2], d[1], 0.9, -0.4, d[0]);
    vector_cg_update(h[2], h[1], 0.9, -0.4, h[0]);
    check_same("cg_update x", d[2], h[2], EXACT);
    check_same("cg_update p", d[1], h[1], EXACT);
    vector_axpby(d[1], 0.5, d[2], 0);
    vector_axpby(h[1], 0.5, h[2], 0);
    check_same("axpby with b = 0", d[1], h[1], EXACT);
    vector_sum of_d, of_h, more_d, more_h, one = vector_sum_known(1), below = vector_sum_known(321);
    vector_axpy_norm2_start(&of_d, d[0], 0.2, d[2], 0);
    vector_cg_update_by(d[2], d[1], (vector_ratio){0.9, &one, &one}, (vector_ratio){-1, &of_d, &below}, d[0]);
    vector_axpy_norm2_start(&of_h, h[0], 0.2, h[2], 0);
    vector_cg_update_by(h[2], h[1], (vector_ratio){0.9, &one, &one}, (vector_ratio){-1, &of_h, &below}, h[0]);
    check_value("a sum on its way", vector_sum_finish(&of_d), vector_sum_finish(&of_h), EXACT);
    check_same("cg_update by a sum x", d[2], h[2], EXACT);
    check_same("cg_update by a sum p", d[1], h[1], EXACT);
    vector_real_dot_start(&of_d, d[0], d[2], 0);
    vector_real_dot_start(&of_h, h[0], h[2], 0);
    vector_axpy_by_norm2_start(&more_d, d[1], (vector_ratio){-1, &below, &of_d}, d[2], 0);
    vector_axpy_by_norm2_start(&more_h, h[1], (vector_ratio){-1, &below, &of_h}, h[2], 0);
    check_value("the sum below", vector_sum_finish(&of_d), vector_sum_finish(&of_h), EXACT);
    check_value("the sum of an axpy by a sum", vector_sum_finish(&more_d), vector_sum_finish(&more_h), EXACT);
    check_same("axpy by a sum", d[1], h[1], EXACT);
    const double alpha = 1.1, zeta = 0.7, beta = 0.5;
    vector_multishift_update(1, &d[2], &d[1], &alpha, &zeta, &beta, d[0], 0);
    vector_multishift_update(1, &h[2], &h[1], &alpha, &zeta, &beta, h[0], 0);
    check_same("multishift_update x", d[2], h[2], EXACT);
    check_same("multishift_update p", d[1], h[1], EXACT);
    test_each(d, h);
    for (int i = 0; i < 3; i++) {
        field_destroy(h[i]);
        field_destroy(d[i]);
    }
}

typedef struct {
    field *links, *clover, *in, *add, *out;
} hop_fields;

static void hop_on(hop_fields *f, parity p, hop_form form, int sign, double mu)
{
    const wilson_hop_call call = {.form = form,
                                  .a = 1.25,
                                  .b = -0.75,
                                  .sign = sign,
                                  .mu = mu,
                                  .links = f->links,
                                  .clover = f->clover,
                                  .add = f->add};
    wilson_hop(f->out, p, f->in, &call);
}

static void test_hop(hop_fields *d, hop_fields *h, parity p)
{
    static const char *const name[] = {"hop", "hop add", "hop clover", "hop clover add", "hop add clover"};
    for (int form = HOP_PLAIN; form <= HOP_ADD_CLOVER; form++)
        for (int k = 0; k < 4; k++) {
            const int sign = k % 2 ? 1 : -1;
            const double mu = k / 2 * 0.3;
            char what[96];
            hop_on(d, p, (hop_form)form, sign, mu);
            hop_on(h, p, (hop_form)form, sign, mu);
            snprintf(what, sizeof what, "%s, %d reals, sign %d, mu %g, parity %d, %d right-hand sides", name[form],
                     h->links->reals, sign, mu, p, h->in->groups);
            check_same(what, d->out, h->out, EXACT);
        }
    /* the sum over what is read */
    hop_fields hh = *h, dd = *d;
    hh.out = hh.add;
    dd.out = dd.add;
    hop_on(&dd, p, HOP_ADD_CLOVER, 1, 0);
    hop_on(&hh, p, HOP_ADD_CLOVER, 1, 0);
    check_same("hop add clover in place", dd.out, hh.out, EXACT);
}

static void test_spinor_operators(const field *links, const field *clover, precision prec, parity p, int nrhs)
{
    hop_fields h, d;
    h.in = field_create(links->lat, FIELD_SPINOR, prec, other[p], nrhs, PLACE_HOST);
    h.add = field_create(links->lat, FIELD_SPINOR, prec, p, nrhs, PLACE_HOST);
    h.out = field_like(h.add);
    h.clover = in_precision(clover, FIELD_CLOVER, prec);
    fill(h.in, 20);
    fill(h.add, 21);
    d.in = on_device(h.in);
    d.add = on_device(h.add);
    d.out = on_device(h.out);
    d.clover = on_device(h.clover);
    for (int reals = 18; reals >= 12; reals -= 6) {
        h.links = in_precision(links, reals == 18 ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, prec);
        d.links = on_device(h.links);
        test_hop(&d, &h, p);
        field_destroy(h.links);
        field_destroy(d.links);
    }
    clover_apply(d.out, p, d.clover, d.add, 0.8);
    clover_apply(h.out, p, h.clover, h.add, 0.8);
    check_same("clover", d.out, h.out, EXACT);
    twisted_apply(d.out, p, d.clover, d.clover, 0.3, d.add, 0.8);
    twisted_apply(h.out, p, h.clover, h.clover, 0.3, h.add, 0.8);
    check_same("twisted clover", d.out, h.out, EXACT);
    clover_apply(d.out, p, d.clover, d.out, 1);
    clover_apply(h.out, p, h.clover, h.out, 1);
    check_same("clover in place", d.out, h.out, EXACT);
    field *all[] = {h.in, h.add, h.out, h.clover, d.in, d.add, d.out, d.clover};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
}

/* Hops and site-diagonal matrices of both flavours of a doublet. */
static void test_doublet(const field *links, const field *clover, precision prec, parity p)
{
    static const field_shape shape = {.kind = FIELD_SPINOR, .nrhs = 1, .Ls = 2};
    hop_fields h = {.clover = in_precision(clover, FIELD_CLOVER, prec)}, d = {.clover = on_device(h.clover)};
    h.in = field_create_shape(links->lat, &shape, prec, other[p], PLACE_HOST);
    h.add = field_create_shape(links->lat, &shape, prec, p, PLACE_HOST);
    h.out = field_like(h.add);
    fill(h.in, 22);
    fill(h.add, 23);
    d.in = on_device(h.in);
    d.add = on_device(h.add);
    d.out = on_device(h.out);
    for (int reals = 18; reals >= 12; reals -= 6) {
        h.links = in_precision(links, reals == 18 ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, prec);
        d.links = on_device(h.links);
        for (int form = HOP_CLOVER; form <= HOP_ADD_CLOVER; form++)
            for (int k = 0; k < 4; k++) {
                hop_fields *const of[2] = {&d, &h};
                for (int i = 0; i < 2; i++) {
                    const wilson_hop_call call = {.form = (hop_form)form,
                                                  .a = 1.25,
                                                  .b = -0.75,
                                                  .sign = k % 2 ? 1 : -1,
                                                  .doublet = 1,
                                                  .mu = 0.3,
                                                  .epsilon = -0.2,
                                                  .links = of[i]->links,
                                                  .clover = of[i]->clover,
                                                  .mu_clover = k / 2 ? of[i]->clover : NULL,
                                                  .add = of[i]->add};
                    wilson_hop(of[i]->out, p, of[i]->in, &call);
                }
                check_same("hop of a doublet", d.out, h.out, EXACT);
            }
        field_destroy(h.links);
        field_destroy(d.links);
    }
    doublet_apply(d.out, p, d.clover, d.clover, 0.3, 0.2, d.add, 0.8);
    doublet_apply(h.out, p, h.clover, h.clover, 0.3, 0.2, h.add, 0.8);
    check_same("clover of a doublet", d.out, h.out, EXACT);
    field *all[] = {h.in, h.add, h.out, h.clover, d.in, d.add, d.out, d.clover};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
}

/* ---- links, momenta, clover term: a world is a set of fields in one place ---- */

typedef struct {
    field *links, *momenta, *force, *tensor, *insertion, *clover, *inverse, *x, *y;
} world;

static world make_world(const lattice *lat, place where_to)
{
    world w;
    field **const all[] = {&w.links, &w.momenta, &w.force, &w.tensor, &w.insertion, &w.clover, &w.inverse, &w.x, &w.y};
    static const field_kind kind[] = {FIELD_LINKS,  FIELD_MOMENTA, FIELD_MOMENTA, FIELD_TENSOR, FIELD_TENSOR,
                                      FIELD_CLOVER, FIELD_CLOVER,  FIELD_SPINOR,  FIELD_SPINOR};
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++)
        *all[i] = field_create(lat, kind[i], PREC_DOUBLE, PARITY_BOTH, 1, where_to);
    return w;
}

static void destroy_world(world *w)
{
    field *all[] = {w->links, w->momenta, w->force, w->tensor, w->insertion, w->clover, w->inverse, w->x, w->y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
}

static void test_random(world *d, world *h)
{
    gauge_random(h->links, 7, 1, 3);
    gauge_random(d->links, 7, 1, 3);
    check_same("random links", d->links, h->links, ROUNDED);
    momenta_random(h->momenta, 7, 2, 3);
    momenta_random(d->momenta, 7, 2, 3);
    check_same("random momenta", d->momenta, h->momenta, ROUNDED);
    field *const spinors[2][2] = {{d->x, h->x}, {d->y, h->y}};
    for (int i = 0; i < 2; i++) {
        vector_random(spinors[i][1], 7, 3, (uint32_t)i);
        vector_random(spinors[i][0], 7, 3, (uint32_t)i);
        check_same("random spinor", spinors[i][0], spinors[i][1], ROUNDED);
        vector_random_signs(spinors[i][1], 7, 3, (uint32_t)i);
        vector_random_signs(spinors[i][0], 7, 3, (uint32_t)i);
        check_same("random signs", spinors[i][0], spinors[i][1], EXACT);
        field_copy(spinors[i][0], spinors[i][1]);
    }
    /* From here on the same bits in both places. */
    field_copy(d->links, h->links);
    field_copy(d->momenta, h->momenta);
}

static void test_gauge(world *d, world *h)
{
    gauge_update(d->links, 0.3, d->momenta);
    gauge_update(h->links, 0.3, h->momenta);
    check_same("link update", d->links, h->links, EXACT);
    const gauge_loops a = gauge_measure(d->links, 1), b = gauge_measure(h->links, 1);
    check_value("spatial plaquette", a.plaquette_space, b.plaquette_space, EXACT);
    check_value("temporal plaquette", a.plaquette_time, b.plaquette_time, EXACT);
    check_value("rectangle", a.rectangle, b.rectangle, EXACT);
    check_value("link trace", a.link_trace, b.link_trace, EXACT);
    static const struct {
        const char *force, *action;
        gauge_weights w;
    } kinds[] = {{"gauge force", "action", GAUGE_WEIGHTS(5.5, 0, 0)},
                 {"gauge force with rectangles", "action with rectangles", GAUGE_WEIGHTS(20, -1.8, 0)},
                 {"gauge force with parallelograms", "action with parallelograms", GAUGE_WEIGHTS(7.4, -0.31, 0.04)}};
    check_value("kinetic energy", momenta_norm2(d->momenta), momenta_norm2(h->momenta), EXACT);
    for (int k = 0; k < 3; k++) {
        gauge_force(d->force, d->links, kinds[k].w);
        gauge_force(h->force, h->links, kinds[k].w);
        check_same(kinds[k].force, d->force, h->force, EXACT);
        check_value(kinds[k].action, gauge_action(d->links, kinds[k].w), gauge_action(h->links, kinds[k].w), EXACT);
    }
    momenta_add(d->momenta, -0.01, d->force);
    momenta_add(h->momenta, -0.01, h->force);
    check_same("momenta add", d->momenta, h->momenta, EXACT);
    check_value("deviation", gauge_unitarise(d->links), gauge_unitarise(h->links), EXACT);
    check_same("unitarise", d->links, h->links, EXACT);
}

static void test_clover(world *d, world *h)
{
    gauge_field_strength(d->tensor, d->links);
    gauge_field_strength(h->tensor, h->links);
    check_same("field strength", d->tensor, h->tensor, EXACT);
    const gauge_energy a = gauge_field_energy(d->tensor), b = gauge_field_energy(h->tensor);
    check_value("temporal energy", a.temporal, b.temporal, EXACT);
    check_value("spatial energy", a.spatial, b.spatial, EXACT);
    check_value("charge", a.charge, b.charge, EXACT);
    clover_build(d->clover, d->tensor, 4.1, clover_isotropic(1.7));
    clover_build(h->clover, h->tensor, 4.1, clover_isotropic(1.7));
    check_same("clover build", d->clover, h->clover, EXACT);
    for (int p = 0; p < 2; p++) {
        double negatives[2];
        const double log_d = clover_invert(d->inverse, d->clover, (parity)p, &negatives[0]);
        const double log_h = clover_invert(h->inverse, h->clover, (parity)p, &negatives[1]);
        check_value("log det C", log_d, log_h, ROUNDED);
        check_value("negative pivots", negatives[0], negatives[1], EXACT);
    }
    check_same("clover inverse", d->inverse, h->inverse, EXACT);
    field *d_mu = field_like(d->clover), *h_mu = field_like(h->clover);
    for (int p = 0; p < 2; p++) {
        double negatives[2];
        const double log_d = twisted_invert(d->inverse, d_mu, d->clover, (parity)p, 0.04, &negatives[0]);
        const double log_h = twisted_invert(h->inverse, h_mu, h->clover, (parity)p, 0.04, &negatives[1]);
        check_value("log det of a twisted mass", log_d, log_h, ROUNDED);
        check_value("negative pivots of C^2 + mu^2", negatives[0], negatives[1], EXACT);
    }
    check_same("inverse of a twisted mass", d->inverse, h->inverse, EXACT);
    check_same("inverse of C^2 + mu^2", d_mu, h_mu, EXACT);
    field_destroy(d_mu);
    field_destroy(h_mu);
}

static void test_forces(world *d, world *h)
{
    world *const both[2] = {d, h};
    for (int i = 0; i < 2; i++) {
        world *w = both[i];
        hop_force(w->force, w->links, w->x, w->y, 1);
    }
    check_same("hop force", d->force, h->force, EXACT);
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < 2; i++) {
            world *w = both[i];
            const field x = field_part(w->x, (parity)p), y = field_part(w->y, (parity)p);
            clover_insert(w->insertion, (parity)p, clover_isotropic(1.7), &x, &y);
        }
        check_same("clover insertion", d->insertion, h->insertion, EXACT);
        for (int i = 0; i < 2; i++)
            clover_insert_det(both[i]->insertion, (parity)p, clover_isotropic(1.7), 2, both[i]->inverse);
        check_same("insertion of log det C", d->insertion, h->insertion, EXACT);
    }
    for (int i = 0; i < 2; i++) clover_force(both[i]->force, both[i]->links, both[i]->insertion);
    check_same("clover force", d->force, h->force, EXACT);
}

static void test_lattice(const lattice *lat)
{
    const int *l = lat->local;
    /* Right-hand sides of which a hop's parts leave some over: of 3 in single precision, of 8 in half. */
    static const int right_hand_sides[] = {1, 3, 8};
    world h = make_world(lat, PLACE_HOST), d = make_world(lat, PLACE_DEVICE);
    snprintf(where, sizeof where, "%d.%d.%d.%d double", l[0], l[1], l[2], l[3]);
    test_random(&d, &h);
    test_gauge(&d, &h);
    test_clover(&d, &h);
    test_forces(&d, &h);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        snprintf(where, sizeof where, "%d.%d.%d.%d %s", l[0], l[1], l[2], l[3], prec_name[prec]);
        for (size_t i = 0; i < sizeof right_hand_sides / sizeof *right_hand_sides; i++) {
            const int nrhs = right_hand_sides[i];
            const field_shape spinor = field_shape_of_kind(FIELD_SPINOR, nrhs);
            field_shape slices = field_shape_of_kind(FIELD_VECTOR, nrhs);
            test_blas(lat, spinor, (precision)prec, PARITY_ODD);
            test_blas(lat, spinor, (precision)prec, PARITY_BOTH);
            test_blas(lat, slices, (precision)prec, PARITY_BOTH);
            slices.Ls = 3;
            test_blas(lat, slices, (precision)prec, PARITY_EVEN);
            if (prec < PREC_HALF) test_blas(lat, field_shape_coarse(24, nrhs), (precision)prec, PARITY_BOTH);
            for (int p = 0; p < 2; p++) test_spinor_operators(h.links, h.clover, (precision)prec, (parity)p, nrhs);
        }
        for (int p = 0; p < 2; p++) test_doublet(h.links, h.clover, (precision)prec, (parity)p);
    }
    destroy_world(&h);
    destroy_world(&d);
}

/* ---- the backend itself ---- */

/* Precisions and link storages into each other on the device, and slices from there and back. */
static void test_copies(const lattice *lat)
{
    field *h = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 2, PLACE_HOST);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    fill(h, 40);
    gauge_random(links, 7, 1, 4);
    field *const from[2] = {h, links};
    static const field_kind kinds[] = {FIELD_SPINOR,      FIELD_LINKS,  FIELD_LINKS_TWO_ROWS,
                                       FIELD_LINKS_EIGHT, FIELD_CLOVER, FIELD_TENSOR};
    for (int k = 0; k < 6; k++)
        for (int a = 0; a < PREC_COUNT; a++)
            for (int b = 0; b < PREC_COUNT; b++) {
                const int nrhs = k == 0 ? 2 : 1;
                field *source =
                    field_create(lat, k >= 1 && k <= 3 ? FIELD_LINKS : kinds[k], a, PARITY_BOTH, nrhs, PLACE_HOST);
                field *there = field_create(lat, kinds[k], b, PARITY_BOTH, nrhs, PLACE_DEVICE);
                field *here = field_create(lat, kinds[k], b, PARITY_BOTH, nrhs, PLACE_HOST);
                if (k > 3 || (k == 0 && a == PREC_DOUBLE)) fill(source, 41);
                else field_copy(source, from[k > 0]);
                field *d = on_device(source);
                field_copy(there, d);
                field_copy(here, source);
                snprintf(where, sizeof where, "%s to %s", prec_name[a], prec_name[b]);
                /* The arguments of complex numbers come out of two libraries. */
                check_same(field_kinds[kinds[k]].name, there, here,
                           k != 3 ? EXACT : (double[]){1e-12, 1e-6, 1e-4, 1e-2}[b]);
                if (k < 2 || k > 3) {
                    field_add(there, -0.37, d);
                    field_add(here, -0.37, source);
                    check_same("sum", there, here, EXACT);
                }
                field *all[] = {source, there, here, d};
                for (int i = 0; i < 4; i++) field_destroy(all[i]);
            }
    field *d = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 2, PLACE_DEVICE);
    fill(d, 40);
    snprintf(where, sizeof where, "slices into the device");
    check_same("spinor", d, h, EXACT);
    field_destroy(d);
    field_destroy(links);
    field_destroy(h);
}

/* A sum over addends of very different size, and one that is NaN: both must come back from the device. */
static void test_sums(const lattice *lat)
{
    field *h = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const long n = sites_of_slice(h) * 24;
    double *slice = field_slice_buffer(h);
    snprintf(where, sizeof where, "sums");
    for (int t = 0; t < lat->local[3]; t++) {
        for (long i = 0; i < n; i++) slice[i] = ldexp(1 + (double)(i % 97) / 64, (int)((i * 131 + t) % 200) - 100);
        field_import(h, t, slice);
    }
    field *d = on_device(h);
    check_value("norm of addends of all sizes", vector_norm2(d, 0), vector_norm2(h, 0), EXACT);
    slice[5] = NAN;
    field_import(h, 0, slice);
    field_copy(d, h);
    CHECK(isnan(vector_norm2(d, 0)));
    free(slice);
    field_destroy(h);
    field_destroy(d);
}

/* So large that a rank's boxes of sites are mostly away from its faces. */
static const int large[4] = {16, 16, 32, 32};

/* The hop alone. */
static void test_large_hop(const int size[4], const int grid[4])
{
    lattice *lat = lattice_create(size, grid, 2, -1);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    gauge_random(links, 7, 1, 3);
    for (int prec = 0; prec <= PREC_HALF; prec++) {
        snprintf(where, sizeof where, "%d %d %d %d on %d %d %d %d, %s", size[0], size[1], size[2], size[3], grid[0],
                 grid[1], grid[2], grid[3], prec_name[prec]);
        const int nrhs = prec == PREC_SINGLE ? 2 : 1;
        hop_fields h = {.in = field_create(lat, FIELD_SPINOR, (precision)prec, PARITY_ODD, nrhs, PLACE_HOST),
                        .links = in_precision(links, prec ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS, (precision)prec)};
        h.add = h.out = field_create(lat, FIELD_SPINOR, (precision)prec, PARITY_EVEN, nrhs, PLACE_HOST);
        fill(h.in, 20);
        fill(h.add, 21);
        hop_fields d = {.in = on_device(h.in), .links = on_device(h.links)};
        d.add = d.out = on_device(h.add);
        for (int sign = -1; sign <= 1; sign += 2) {
            hop_on(&d, PARITY_EVEN, HOP_ADD, sign, 0);
            hop_on(&h, PARITY_EVEN, HOP_ADD, sign, 0);
            check_same("large hop", d.out, h.out, EXACT);
        }
        field *all[] = {h.in, h.out, h.links, d.in, d.out, d.links};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
    }
    field_destroy(links);
    lattice_destroy(lat);
}

/* All tests on one lattice, split as `grid` says. */
static void test_on(const int size[4], const int grid[4], int time_sign)
{
    int thin;
    if (!fits_grid(size, grid, &thin)) return;
    lattice *lat = lattice_create(size, grid, 2, time_sign);
    test_copies(lat);
    test_lattice(lat);
    test_sums(lat);
    lattice_destroy(lat);
}

/* Every shape of blocks, and hops in one kernel with their messages and in several, where a transport can do that: all
 * that the tuner comes upon here is tried in way after way. */
static void test_ways(const int grid[4])
{
    static const int size[4] = {8, 8, 8, 8};
    take_peer();
    tune_start(TUNE_MEASURE, "a GPU");
    test_on(size, grid, -1);
    test_large_hop(large, grid);
    char *text = tune_text();
    CHECK(text && strstr(text, "\nhop ") && strstr(text, "\ngauge_force "));
    CHECK(!text || !strstr(text, "\nexchange ") == !gpu_exchange_can_fuse());
    for (int way = 0; text && way < gpu_shape_count(); way++) {
        take_way(text, way, 1);
        test_on(size, grid, -1);
        test_large_hop(large, grid);
        if (!gpu_exchange_can_fuse()) continue;
        take_way(text, way, 0);
        test_large_hop(large, grid);
    }
    free(text);
    tune_start(TUNE_ESTIMATE, "");
    test_take_transport();
}

static void test_more(const int grid[4])
{
    static const int in_order_of_memory[4] = {24, 16, 16, 32};
    test_large_hop(large, grid);
    test_large_hop(in_order_of_memory, grid);
    if (grid[3] == comm_size()) test_ways(grid);
}

int main(int argc, char **argv)
{
    return places_main(argc, argv, test_on, test_more);
}
