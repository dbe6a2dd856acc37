/* Gauge fields on lattices with open ends in time, and with walls: action, loops, force, field strength and flow against the slow oracles, which leave out
 * loops by coordinates; gauge covariance; links that are inactive stay zero. Recorded numbers of a configuration of openQCD. */
#include "tests/kernels/kit.h"
#include "tests/reference/data.h"

#include "hmc/measure/slices.h"
#include "io/links/links.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"
#include "operators/flow.h"

static const struct {
    double b0, b1, c_G, c_G_upper;
    int weighted; /* rectangles on walls, else plaquettes that wind twice */
} actions[] = {{5.7, 0, 1, 1, 0},   {6, 0, 0.8, 0.8, 0},    {9.5, -0.475, 1, 1, 0}, {8, -0.5, 1.3, 0.7, 0},
               {0, 1, 0.4, 0.4, 0}, {8, -0.5, 0.9, 1.2, 1}, {0, 1, 1, 1, 1}};
#define ACTIONS ((int)(sizeof actions / sizeof actions[0]))

static int idle; /* slices behind the last one */

static int last_of(struct ref_lattice l)
{
    return l.size[3] - 1 - idle;
}

static gauge_weights weights_of(int k)
{
    gauge_weights w = GAUGE_WEIGHTS(actions[k].b0, actions[k].b1, 0);
    w.c_G[0] = actions[k].c_G;
    w.c_G[1] = actions[k].c_G_upper;
    if (actions[k].weighted) {
        w.along_wall = 1.5;
        w.twice_at_wall = 0;
    }
    return w;
}

struct action {
    struct ref_lattice l;
    int number;
    time_boundary time;
};

static double action_value(const double complex *u, void *ctx)
{
    const struct action *a = ctx;
    const int k = a->number;
    struct ref_ends e = {.idle = idle};
    for (int end = 0; end < 2; end++) {
        const int wall = time_has_wall(a->time, end);
        const double c_G = end ? actions[k].c_G_upper : actions[k].c_G;
        e.space[end] = wall ? 0 : c_G / 2;
        e.time[end] = wall ? c_G : 1;
        e.along[end] = wall && actions[k].weighted ? 1.5 : 1;
        e.twice[end] = wall && !actions[k].weighted ? 0.5 : 0;
    }
    return ref_gauge_action_open(a->l, u, actions[k].b0, actions[k].b1, &e);
}

/* All loops that there are alike; and as in Wilson's action. */
static struct ref_ends ends_of(double space)
{
    return (struct ref_ends){{space, space}, {1, 1}, {1, 1}, {0, 0}, idle};
}

static field *zero_momenta(const lattice *lat)
{
    return field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
}

/* Momenta of inactive links are zero, and of walls. */
static double *random_momenta(struct ref_lattice l, time_boundary time, struct ref_rng *rng)
{
    const size_t n = 4 * ref_volume(l);
    double *p = kit_normals(8 * n, rng);
    for (size_t i = 0; i < n; i++) {
        int x[4];
        ref_coordinates(x, l, i / 4);
        const int last = x[3] >= last_of(l), fixed = (last && time_has_wall(time, 1)) ||
                                                     (x[3] == 0 && time_has_wall(time, 0)) || x[3] > last_of(l);
        if (i % 4 == 3 ? last : fixed) memset(p + 8 * i, 0, 8 * sizeof *p);
    }
    return p;
}

static int is_zero(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 0;
    return 1;
}

static void check_actions(const field *links, double complex *u, struct ref_lattice l, struct ref_rng *rng)
{
    const size_t v = ref_volume(l), n = 4 * v;
    double *p = random_momenta(l, links->lat->time, rng);
    for (int k = 0; k < ACTIONS; k++) {
        struct action a = {l, k, links->lat->time};
        kit_where("shape %d.%d.%d.%d, boundary %d, action %d", l.size[0], l.size[1], l.size[2], l.size[3], a.time, k);
        field *force = zero_momenta(links->lat);
        KIT_NEAR(gauge_action(links, weights_of(k)), action_value(u, &a), 200 * (double)v * 1e-14);
        gauge_force(force, links, weights_of(k));
        momenta_clear_fixed(force);
        double *f = kit_gather(force);
        if (k % comm_size() == comm_rank()) {
            double error, slope = kit_derivative_along(&error, u, p, 8e-3, n, action_value, &a);
            KIT_NEAR(kit_along(f, p, n), slope, error);
            KIT_CHECK(error < 1e-6 * sqrt(kit_along(f, f, n) * kit_along(p, p, n)));
        }
        for (size_t i = v - v / (size_t)l.size[3]; i < v; i++) KIT_CHECK(is_zero(f + 8 * (4 * i + 3), 8));
        free(f);
        field_destroy(force);
    }
    free(p);
}

/* Averages are over the loops that there are; records count all six planes. */
static void check_loops(const field *links, const double complex *u, struct ref_lattice l)
{
    const double T = last_of(l) + 1, v = (double)ref_volume(l) / l.size[3] * T;
    const gauge_loops loops = gauge_measure(links, 1);
    const struct ref_ends alike = ends_of(1);
    const double deficit = ref_gauge_action_open(l, u, 1, 0, &alike),
                 rectangles = ref_gauge_action_open(l, u, 0, 1, &alike);
    KIT_NEAR(loops.plaquette, 1 - deficit / (3 * v * (2 - 1 / T)), 1e-14);
    KIT_NEAR(loops.rectangle, 1 - rectangles / (3 * v * (4 - 3 / T)), 1e-14);
    KIT_NEAR(gauge_measure_recorded(links).plaquette, ref_plaquette(l, u), 1e-14);
    KIT_NEAR(gauge_measure_recorded(links).link_trace, ref_link_trace(l, u), 1e-14);
    KIT_NEAR(loops.link_trace, ref_link_trace(l, u) * ((double)ref_volume(l) / v) / (1 - 0.25 / T), 1e-14);
}

/* Rotated links: the action stays, the force turns, zeros stay. */
static void check_covariance(field *links, const double complex *u, struct ref_lattice l, struct ref_rng *rng)
{
    const size_t v = ref_volume(l);
    double complex *g = kit_alloc(9 * v, sizeof *g), *turned = kit_copy(u, 36 * v * sizeof *u);
    ref_random_rotation(g, l, rng);
    ref_rotate_gauge(turned, l, g);
    field *force = zero_momenta(links->lat), *after = zero_momenta(links->lat);
    const double action = gauge_action(links, weights_of(3));
    gauge_force(force, links, weights_of(3));
    kit_scatter(links, turned);
    gauge_force(after, links, weights_of(3));
    KIT_NEAR(action, gauge_action(links, weights_of(3)), 1e-12 * (double)v);
    double *f = kit_gather(force), *t = kit_gather(after);
    KIT_NEAR(kit_turned_distance(t, f, g, 4 * v), 0, 1e-13 * kit_largest(f, 32 * v));
    kit_scatter(links, u);
    void *all[] = {t, f, turned, g};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    field_destroy(force);
    field_destroy(after);
}

/* Hot, cold and moved links; momenta of inactive links, beside which all others have the numbers of a periodic lattice. */
static void check_zeros(const field *links, lattice *lat, struct ref_lattice l)
{
    const size_t v = ref_volume(l), slice = v / (size_t)l.size[3], end = slice * (size_t)last_of(l),
                 behind = end + slice;
    field *u = field_like(links), *p = zero_momenta(lat), *q = zero_momenta(lat);
    momenta_random(p, 7, RANDOM_MOMENTA, 3);
    lattice_bound(lat, TIME_PERIODIC);
    momenta_random(q, 7, RANDOM_MOMENTA, 3);
    lattice_bound(lat, TIME_OPEN);
    double *have = kit_gather(p), *all = kit_gather(q);
    for (size_t i = end; i < v; i++)
        memset(all + 32 * i + (i < behind ? 24 : 0), 0, (i < behind ? 8 : 32) * sizeof *all);
    KIT_CHECK(!memcmp(have, all, 32 * v * sizeof *all));
    for (int way = 0; way < 3; way++) {
        if (way == 0) gauge_cold(u);
        else if (way == 1) gauge_random(u, 5, RANDOM_START, 0);
        else gauge_update(u, 0.3, p);
        KIT_NEAR(gauge_unitarise(u), 0, 1e-14);
        double *x = kit_gather(u);
        for (size_t i = end; i < v; i++) KIT_CHECK(is_zero(x + 72 * i + (i < behind ? 54 : 0), i < behind ? 18 : 72));
        KIT_CHECK(isfinite(kit_largest(x, 72 * v)));
        free(x);
    }
    free(all);
    free(have);
    field_destroy(q);
    field_destroy(p);
    field_destroy(u);
}

/* Walls stay the same bits when links move; the classical solution has no force, and its temporal plaquettes are those of the field between
 * the walls. */
static void check_walls(const field *links, struct ref_lattice l)
{
    static const double low[3] = {-M_PI / 6, 0, M_PI / 6}, up[3] = {-5 * M_PI / 6, M_PI / 3, M_PI / 2};
    const int cubic = l.size[0] == l.size[1] && l.size[1] == l.size[2];
    field *u = field_like(links), *p = zero_momenta(links->lat), *force = zero_momenta(links->lat);
    gauge_background(u, low, up);
    for (int k = 0; k < ACTIONS; k++) {
        if (!cubic || actions[k].c_G != 1 || actions[k].c_G_upper != 1) continue;
        momenta_zero(force);
        gauge_force(force, u, weights_of(k));
        momenta_clear_fixed(force);
        kit_where("classical solution of action %d", k);
        KIT_NEAR(momenta_norm2(force), 0, 1e-24 * (1 + actions[k].b0 * actions[k].b0));
    }
    double want = 0;
    for (int mu = 0; mu < 3; mu++)
        for (int c = 0; c < 3; c++) want += cos((up[c] - low[c]) / (last_of(l) * l.size[mu])) / 9;
    KIT_NEAR(gauge_measure(u, 0).plaquette_time, want, 1e-14);
    double *before = kit_gather(u);
    momenta_random(p, 9, RANDOM_MOMENTA, 0);
    for (int i = 0; i < 5; i++) gauge_update(u, 0.2, p);
    gauge_unitarise(u);
    double *after = kit_gather(u);
    const size_t slice = ref_volume(l) / (size_t)l.size[3], ends[] = {0, slice * (size_t)last_of(l)};
    for (int k = 0; k < 2; k++)
        for (size_t i = ends[k]; i < ends[k] + slice; i++)
            KIT_NEAR(kit_distance(before + 72 * i, after + 72 * i, 54), 0, 1e-15);
    KIT_CHECK(kit_distance(before, after, 72 * ref_volume(l)) > 0.1);
    free(after);
    free(before);
    field_destroy(force);
    field_destroy(p);
    field_destroy(u);
}

/* An open end below a wall: the wall stays the same bits when links move, and links of the first slice do not; a constant Abelian field
 * has no action. */
static void check_wall(const field *links, struct ref_lattice l)
{
    static const double up[3] = {-5 * M_PI / 6, M_PI / 3, M_PI / 2};
    field *u = field_like(links), *p = zero_momenta(links->lat);
    gauge_background(u, up, up);
    for (int k = 0; k < ACTIONS; k++) KIT_NEAR(gauge_action(u, weights_of(k)), 0, 1e-12 * (double)ref_volume(l));
    double *before = kit_gather(u);
    momenta_random(p, 9, RANDOM_MOMENTA, 0);
    gauge_update(u, 0.2, p);
    double *after = kit_gather(u);
    const size_t slice = ref_volume(l) / (size_t)l.size[3], end = slice * (size_t)last_of(l);
    KIT_CHECK(!memcmp(before + 72 * end, after + 72 * end, 72 * slice * sizeof *before));
    for (size_t i = 0; i < slice; i++) KIT_CHECK(kit_distance(before + 72 * i, after + 72 * i, 54) > 1e-3);
    free(after);
    free(before);
    field_destroy(p);
    field_destroy(u);
}

/* One Euler step of the Wilson flow by the derivative of the oracle's action, twice it for links in space on open end slices and none for
 * those of walls; the Runge-Kutta step differs by the square of the step. */
static void check_flow(const field *links, const double complex *u, struct ref_lattice l)
{
    const size_t v = ref_volume(l), slice = v / (size_t)l.size[3], ends[] = {0, slice + 1, v - 1, v - slice};
    struct action a = {l, 0, links->lat->time};
    double complex *moved = kit_copy(u, 36 * v * sizeof *u);
    field *flowed = kit_convert(links, FIELD_LINKS, PREC_DOUBLE), *p = zero_momenta(links->lat), *q = field_like(p);
    const double step = 1e-5;
    flow_advance(flowed, flow_kernel_number(FLOW_WILSON), 1, step, p, q);
    double complex *have = (double complex *)kit_gather(flowed);
    for (int k = 0; k < 4; k++)
        for (int mu = 0; mu < 4; mu++) {
            const size_t site = ends[k];
            const int first = site < slice, last = site >= v - slice;
            const double factor = mu == 3 || !(first || last) ? 1 : time_has_wall(links->lat->time, last) ? 0 : 2;
            double complex x[9] = {0}, e[9], t[9], want[9];
            for (int c = 0; c < 8; c++) {
                const double d = ref_derivative(moved, site, mu, c, 2e-3, action_value, &a) * 6 / actions[0].b0;
                ref_generator(t, c);
                for (int i = 0; i < 9; i++) x[i] -= step * factor * d * t[i];
            }
            ref_mat_exp(e, x);
            ref_mat_mul(want, e, u + 9 * (4 * site + (size_t)mu));
            KIT_NEAR(kit_distance(have + 9 * (4 * site + (size_t)mu), want, 18), 0, 100 * step * step);
        }
    const double before = flow_action(links, flow_kernel_number(FLOW_WILSON));
    flow_advance(flowed, flow_kernel_number(FLOW_WILSON), 1, 0.1, p, q);
    KIT_CHECK(flow_action(flowed, flow_kernel_number(FLOW_WILSON)) < before);
    free(have);
    free(moved);
    field_destroy(q);
    field_destroy(p);
    field_destroy(flowed);
}

/* Energies by slice: their sums, and the oracle's field strength away from the ends. */
static void check_slices(const field *links, const double complex *u, struct ref_lattice l)
{
    const int T = l.size[3], last = last_of(l);
    const size_t slice = ref_volume(l) / (size_t)T;
    const struct ref_ends half = ends_of(0.5);
    field *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    slice_energy *of = kit_alloc((size_t)T, sizeof *of), sum = {0};
    slices_energy(of, links, tensor);
    for (int t = 0; t < T; t++) {
        double spatial = 0;
        for (size_t i = 0; i < slice && t > 0 && t < last; i++)
            for (int mu = 0; mu < 3; mu++)
                for (int nu = mu + 1; nu < 3; nu++) {
                    double complex f[9], s = 0, trace = 0;
                    ref_field_strength(f, l, u, (size_t)t * slice + i, mu, nu);
                    for (int k = 0; k < 9; k++) s += f[k] * f[k % 3 * 3 + k / 3];
                    trace = f[0] + f[4] + f[8];
                    spatial -= creal(s - trace * trace / 3);
                }
        KIT_NEAR(of[t].spatial, spatial, 1e-12 * (1 + spatial));
        sum.temporal += of[t].temporal;
        sum.spatial += of[t].spatial;
        sum.plaquette += of[t].plaquette;
        sum.charge += of[t].charge;
    }
    const gauge_energy e = gauge_field_energy(tensor);
    KIT_REL(sum.temporal, e.temporal * (double)ref_volume(l), 1e-13);
    KIT_REL(sum.spatial, e.spatial * (double)ref_volume(l), 1e-13);
    KIT_NEAR(sum.charge, e.charge, 1e-13 * (double)ref_volume(l));
    KIT_REL(sum.plaquette, 6 * ref_gauge_action_open(l, u, 1, 0, &half), 1e-12);
    KIT_NEAR(of[0].temporal + of[last].temporal, 0, 0);
    free(of);
    field_destroy(tensor);
}

/* openQCD: header, slices of the Wilson and the clover energy, charge. */
static void test_recorded(void)
{
    static const char *const name = "openQCD_qcd1_ob_L8T8_b12.0_c1.1329_k0.07n1";
    static const double plaquettes[8] = {2190.9123450308125, 2972.2361042026669, 3025.9644616131136,
                                         3036.7303385187884, 3030.0970965090023, 2964.9859783298034,
                                         2935.9214984384339, 2205.2896618928303},
                        clover[8] = {0,
                                     599.97765048648591,
                                     612.82361881016141,
                                     630.95249267986230,
                                     618.22993203120677,
                                     607.04066139211864,
                                     598.40893154888931,
                                     0};
    const struct ref_lattice l = {{8, 8, 8, 8}};
    lattice *lat = data_has(name) ? kit_lattice(l, 2, 1) : NULL;
    if (!data_has(name) && comm_rank() == 0) printf("left out: there is no %s (set PLAQ_TEST_DATA)\n", data_path(name));
    if (!lat) return;
    char message[512];
    links_info info;
    lattice_bound(lat, TIME_OPEN);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, kit_place),
          *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    kit_where("%s", name);
    KIT_INT(links_read(links, data_path(name), &info, message, sizeof message), 0);
    KIT_INT(info.open_boundary, 1);
    KIT_REL(3 * info.found_plaquette, 2.2997535600322965, 1e-14);
    KIT_REL(3 * info.plaquette, 2.2997535600322965, 1e-15);
    slice_energy of[8];
    double charge = 0;
    slices_energy(of, links, tensor);
    for (int t = 0; t < 8; t++) {
        KIT_REL(of[t].plaquette, plaquettes[t], 1e-13);
        KIT_NEAR(of[t].temporal + of[t].spatial, clover[t], 1e-13 * 600);
        charge += of[t].charge;
    }
    KIT_NEAR(charge, -.3206654993, 1e-10); /* openQCD orders t x y z: epsilon has the other sign */
    field_destroy(tensor);
    field_destroy(links);
    lattice_destroy(lat);
}

static void test_shape(struct ref_lattice l, int k)
{
    lattice *lat = kit_lattice(l, 2, 1);
    if (!lat) return;
    lattice_bound(lat, TIME_OPEN);
    lattice_leave_idle(lat, idle);
    struct ref_rng rng;
    ref_rng_seed(&rng, 41 + (unsigned)k);
    double complex *u = kit_random_gauge(l, 0.6, &rng);
    ref_open_time(u, l, idle);
    field *links = kit_links(lat, u);
    kit_where("shape %d", k);
    check_actions(links, u, l, &rng);
    check_loops(links, u, l);
    check_covariance(links, u, l, &rng);
    check_zeros(links, lat, l);
    if (k == 2) check_flow(links, u, l);
    check_slices(links, u, l);
    lattice_bound(lat, TIME_SCHROEDINGER);
    kit_where("shape %d with walls", k);
    check_actions(links, u, l, &rng);
    check_walls(links, l);
    lattice_bound(lat, TIME_OPEN_SCHROEDINGER);
    kit_where("shape %d with a wall", k);
    check_actions(links, u, l, &rng);
    check_covariance(links, u, l, &rng);
    check_wall(links, l);
    if (k == 2) check_flow(links, u, l);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < 5; k++) {
        idle = k > 2;
        test_shape(k == 2   ? (struct ref_lattice){{4, 2, 6, 4}}
                   : k == 3 ? (struct ref_lattice){{4, 4, 4, 6}}
                   : k == 4 ? (struct ref_lattice){{2, 4, 6, 8}}
                            : kit_shapes[k],
                   k);
    }
    idle = 0;
    test_recorded();
    return kit_end();
}
