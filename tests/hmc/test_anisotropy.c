/* Anisotropic lattices: gauge actions with xi_0, Wilson-clover quarks with xi_0 and nu, momenta with an anisotropy.
 *
 * Gauge actions, propagators and log det are those that Chroma's tests recorded. Free quarks have the dispersion of the
 * operator. Forces are derivatives with the order of the difference, trajectories reversible, dH falls with the order of the
 * scheme, and <exp(-dH)> = 1, with momenta of any anisotropy. An anisotropy of 1 is the isotropic lattice to the bit. */
#include <math.h>
#include <stdlib.h>

#include "hmc/measure/slices.h"
#include "hmc/sources/smearing.h"
#include "kernels/ops/vector.h"
#include "operators/wilson.h"
#include "tests/hmc/dynamics.h"
#include "tests/reference/data.h"
#include "tests/solve.h"

#define LATTICE(size) "[run]\noutput = none\nseed = 3\nxi_mom = 1.7\n[lattice]\nsize = " size "\n"
#define GAUGE "[gauge]\naction = symanzik_space\nbeta = 1.5\nxi_0 = 2.8\nu_s = 0.8\nu_t = 1\n"
#define ANISOTROPIC "xi_0 = 2.464\nnu = 0.95\nclover_R = 0.91\nclover_T = 1.07\n"
#define STOUT "links = smeared\n[links.smeared]\nkind = stout\nrho = 0.22\nsteps = 2\ndirections = space\n"
#define SOLVERS "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-12\nmax_iterations = 20000\n"

/* ---- recorded numbers ---- */

static void read_links(bench *b, const char *name)
{
    char message[1024];
    CHECK_INT(simulation_read(b->s->links, data_path(name), 0, NULL, message, sizeof message), 0);
}

/* Sum over each time slice of the squares of a field. */
static void slice_norms(double *sums, const field *f)
{
    slices s;
    slices_open(&s, f->lat, 1);
    slices_add(&s, 0, 1, (const int[]){0}, f, f);
    slices_sum(&s);
    for (int t = 0; t < f->lat->size[3]; t++) sums[t] = slices_value(&s, 0, 0, t);
    slices_close(&s);
}

/* sums += squares of M^-1 source on each of 8 slices. */
static void add_slices(bench *b, double *sums, const field *source)
{
    fermion *q = quark_of(b, "light");
    field *x = fermion_vector(q), *rhs = linop_vector(q->normal, 1), *half = linop_vector(q->normal, 1);
    double one[8];
    fermion_prepare(q, rhs, source, 1);
    field_clear(half);
    CHECK_INT(solve_by(&b->p->solvers[0].p, q->normal, half, rhs).status, SOLVE_CONVERGED);
    fermion_reconstruct(q, x, half, source);
    slice_norms(one, x);
    for (int t = 0; t < 8; t++) sums[t] += one[t];
    field *all[] = {x, rhs, half};
    for (int i = 0; i < 3; i++) field_destroy(all[i]);
}

/* All 12 columns from a Gaussian source at the origin on thin links. */
static void gaussian_slices(bench *b, double *sums, double *source_norm)
{
    fermion *q = quark_of(b, "light");
    const int origin[4] = {0};
    gaussian g;
    field *source = fermion_vector(q);
    gaussian_open(&g, b->s->links, 2, 5);
    *source_norm = 0;
    for (int t = 0; t < 8; t++) sums[t] = 0;
    for (int column = 0; column < 12; column++) {
        source_point(source, origin, column);
        gaussian_smear(&g, source);
        *source_norm += vector_norm2(source, 0);
        add_slices(b, sums, source);
    }
    gaussian_close(&g);
    field_destroy(source);
}

#define RECORDED                                                                                                       \
    LATTICE("4.4.4.8")                                                                                                 \
    "[gauge]\nbeta = 5.6\n[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = light gauge\n"                       \
    "[action.light]\nkind = two_flavours\nquark = light\nsolver = good\n" SOLVERS                                      \
    "[quark.light]\nkappa = 0.115\n" ANISOTROPIC

/* The record on stout links has digits 617571785 at t = 5, in another order than here. */
static void test_recorded_propagator(void)
{
    static const struct {
        const char *text;
        double slices[8];
    } known[] = {{RECORDED,
                  {.588734367199896, .0440054663488397, .0154934281, .0091365831, .00757904288, .00913718577,
                   .0155014543, .0440099963}},
                 {RECORDED STOUT,
                  {.588521549252684, .04400138286878, .0155092661480697, .00915533368346644, .00759727583393361,
                   .00915717617857341, .0155204098494388, .0440131376793199}}};
    for (size_t k = 0; k < 2; k++) {
        bench b = open_bench(known[k].text, 0, NULL);
        double slices[8], norm;
        read_links(&b, "pyquda.weak_field.lime");
        gaussian_slices(&b, slices, &norm);
        CHECK_REL(norm, 6.63399854, 2e-7); /* single precision */
        for (int t = 0; t < 8; t++) CHECK_REL(slices[t], known[k].slices[t], 1e-6);
        close_bench(&b);
    }
}

/* Links of a Schroedinger functional background on e slices at each end, e = 1 or 2: phases pi m / 6 of (-1, 0, 1) low and of (-5, 2, 3)
 * up; spatial links of slice t between them, temporal ones one. */
static void replace_walls(field *links, int m, int e)
{
    const double low[3] = {-1, 0, 1}, up[3] = {-5, 2, 3};
    const int *l = links->lat->local, *o = links->lat->origin, Lt = links->lat->size[3], L = links->lat->size[0];
    const long n = (long)l[0] * l[1] * l[2];
    double *slice = field_slice_buffer(links);
    for (int t = 0; t < l[3]; t++) {
        const int at = t + o[3], in_space = at < e || at >= Lt - e, in_time = at < e - 1 || at >= Lt - e;
        field_export(links, t, slice);
        for (long i = 0; i < n; i++)
            for (int mu = 0; mu < 4; mu++) {
                if (mu < 3 ? !in_space : !in_time) continue;
                double *u = slice + 18 * (4 * i + mu);
                memset(u, 0, 18 * sizeof *u);
                for (int c = 0; c < 3; c++) {
                    const double phase =
                        mu == 3 ? 0 : M_PI * m / 6 * (at * up[c] + (Lt - e - at) * low[c]) / ((Lt - e) * L);
                    u[8 * c] = cos(phase);
                    u[8 * c + 1] = sin(phase);
                }
            }
        field_import(links, t, slice);
    }
    free(slice);
}

/* Column 3 spin + colour of P_+ U_t^dagger of the origin, at the site above it. */
static void source_above_wall(field *source, const field *links, int column)
{
    field_clear(source);
    if (links->lat->origin[0] || links->lat->origin[1] || links->lat->origin[2] || links->lat->origin[3]) return;
    double *u = field_slice_buffer(links), *b = field_slice_buffer(source);
    field_export(links, 0, u);
    field_export(source, 1, b);
    for (int i = 0; i < 12; i++) { /* spins `spin` and spin + 2 of P_+ are equal */
        const int spin = i / 6, c = i / 2 % 3, im = i % 2;
        const double *e = u + 54 + 6 * (column % 3) + 2 * c;
        b[6 * (column / 3 + 2 * spin) + 2 * c + im] = M_SQRT1_2 * (im ? -e[1] : e[0]);
    }
    field_import(source, 1, b);
    free(b);
    free(u);
}

/* Between walls, from a source next to one of them; the record is in single precision. */
static void test_recorded_walls(void)
{
    static const double slices[8] = {0,
                                     1.13083381358063,
                                     .218907896852225,
                                     .0552531371569852,
                                     .0180330953111868,
                                     .00735410175571659,
                                     .00405414773100149,
                                     0};
    static const char *const given[] = {"lattice.time_boundary=schroedinger",
                                        "lattice.low_phases=-0.5235987755982988 0 0.5235987755982988",
                                        "lattice.up_phases=-2.617993877991494 1.0471975511965976 1.5707963267948966"};
    bench b = open_bench(RECORDED, 3, given);
    double sums[8] = {0};
    lattice_bound(b.s->lat, TIME_PERIODIC);
    read_links(&b, "pyquda.weak_field.lime");
    lattice_bound(b.s->lat, TIME_SCHROEDINGER);
    slices_scale(b.s->links, SLICES_INACTIVE_LINKS, 0);
    gauge_walls(b.s->links, b.p->lattice.phases[0], b.p->lattice.phases[1]);
    field *source = fermion_vector(quark_of(&b, "light"));
    for (int column = 0; column < 6; column++) {
        source_above_wall(source, b.s->links, column);
        add_slices(&b, sums, source);
    }
    for (int t = 0; t < 8; t++) CHECK_NEAR(sums[t], slices[t], 1e-6 * slices[t]);
    field_destroy(source);
    close_bench(&b);
}

/* A free quark with phases in space, from a point; the record is in single precision. */
static void test_recorded_phases(void)
{
    static const char *const given[] = {"lattice.time_boundary=periodic", "quark.light.kappa=0.1",
                                        "quark.light.theta=0.6283185307179586 1.2566370614359172 0 0",
                                        "quark.light.xi_0=1", "quark.light.nu=1"};
    bench b = open_bench(RECORDED, 5, given);
    double sums[8] = {0};
    gauge_cold(b.s->links);
    field *source = fermion_vector(quark_of(&b, "light"));
    for (int column = 0; column < 12; column++) {
        source_point(source, (const int[4]){0}, column);
        add_slices(&b, sums, source);
    }
    CHECK_REL(sums[0], .550448091581462, 1e-6);
    CHECK_REL(sums[1], .0187776788580651, 1e-6);
    field_destroy(source);
    close_bench(&b);
}

/* S = -(c / 3) sum Re tr as recorded, of S = sum c (1 - Re tr / 3). */
static double without_constant(const field *links, gauge_weights w)
{
    const double v = (double)links->lat->volume;
    return gauge_action(links, w) - v * (3 * (w.plaquette[0] + w.plaquette[1]) + 6 * w.rectangle[0] +
                                         3 * (w.rectangle[1] + w.rectangle[2]) + 16 * w.parallelogram);
}

/* The parts of Wilson's action in space and in time were recorded before their factors 1 / xi_0 and xi_0. */
static void test_recorded_actions(void)
{
    bench b = open_bench(RECORDED, 0, NULL);
    read_links(&b, "qlua.random-gauge.lime");
    replace_walls(b.s->links, 2, 2);
    gauge_params wilson = {.action = param_kind(gauge_section(0), "wilson"),
                           .beta = 5.6,
                           .u0 = 1,
                           .xi_0 = 1,
                           .u_s = 1,
                           .u_t = 1,
                           .c_G = 1},
                 tree = {.action = param_kind(gauge_section(0), "symanzik_tadpole"),
                         .beta = 7.5,
                         .u0 = 0.9,
                         .xi_0 = 1,
                         .u_s = 1,
                         .u_t = 1,
                         .c_G = 1},
                 space = {.action = param_kind(gauge_section(0), "symanzik_space"),
                          .beta = 1.7,
                          .u0 = 1,
                          .xi_0 = 5,
                          .u_s = 0.73698,
                          .u_t = 1,
                          .c_G = 1};
    const field *u = b.s->links;
    CHECK_REL(without_constant(u, gauge_params_weights(&wilson)), -15279.0968049644, 1e-13);
    CHECK_REL(without_constant(u, (gauge_weights){.plaquette = {5.6, 0}}), -8579.42388656827, 1e-13);
    CHECK_REL(without_constant(u, (gauge_weights){.plaquette = {0, 5.6}}), -6699.67291839616, 1e-13);
    wilson.xi_0 = 2.464;
    CHECK_REL(without_constant(u, gauge_params_weights(&wilson)), -8579.42388656827 / 2.464 - 6699.67291839616 * 2.464,
              1e-13);
    CHECK_REL(without_constant(u, gauge_params_weights(&tree)), -18199.3139307604, 1e-13);
    gauge_weights s = gauge_params_weights(&space);
    s.plaquette[1] = s.rectangle[1] = 0;
    CHECK_REL(without_constant(u, s), -2401.71241554635, 1e-13);
    const double c = -25.0 / 54; /* -.46296 */
    CHECK_REL(without_constant(u, (gauge_weights){.rectangle = {c, c, c}}), 2263.76214731695, 1e-13);
    close_bench(&b);
}

static void test_recorded_log_det(void)
{
    static const char *const given[] = {"quark.light.kappa=0.12", "quark.light.clover_R=0.9",
                                        "quark.light.clover_T=1.3"};
    bench b = open_bench(RECORDED, 3, given);
    double negatives;
    read_links(&b, "qlua.random-gauge.lime");
    replace_walls(b.s->links, 2, 1);
    CHECK_REL(-2 * fermion_log_det(quark_of(&b, "light"), &negatives), -5119.24795511177, 1e-13);
    close_bench(&b);
}

/* ---- free quarks ---- */

/* Energy of a free quark of momentum p in space, from M without its interaction:
 * cosh E = 1 + (sum nu^2/xi_0^2 sin^2 p_i + B^2) / (2 (1 + B)), B = m + nu/xi_0 sum (1 - cos p_i). */
static double free_energy(double mass, double space, const double p[3])
{
    double b = mass, k2 = 0;
    for (int i = 0; i < 3; i++) {
        b += space * (1 - cos(p[i]));
        k2 += space * space * sin(p[i]) * sin(p[i]);
    }
    return acosh(1 + (k2 + b * b) / (2 * (1 + b)));
}

static void test_dispersion(void)
{
    static const char text[] = LATTICE("4.4.4.32") GAUGE SOLVERS
        "[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = light gauge\n"
        "[action.light]\nkind = two_flavours\nquark = light\nsolver = good\n"
        "[quark.light]\nmass = 1\nxi_0 = 3.5\nnu = 1.2\nclover_R = 1.3\nclover_T = 0.8\n";
    static const int momenta[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 2, 1}};
    bench b = open_bench(text, 0, NULL);
    gauge_cold(b.s->links);
    fermion *q = quark_of(&b, "light");
    field *source = fermion_vector(q), *x = fermion_vector(q), *rhs = linop_vector(q->normal, 1),
          *half = linop_vector(q->normal, 1);
    const lattice *lat = source->lat;
    for (size_t k = 0; k < sizeof momenta / sizeof momenta[0]; k++) {
        double p[3], slices[32], *slice = field_slice_buffer(source);
        for (int i = 0; i < 3; i++) p[i] = 2 * M_PI * momenta[k][i] / 4;
        field_clear(source);
        if (lat->origin[3] == 0) {
            for (int i = 0; i < lat->local[0] * lat->local[1] * lat->local[2]; i++) {
                const int at[3] = {i % lat->local[0] + lat->origin[0],
                                   i / lat->local[0] % lat->local[1] + lat->origin[1],
                                   i / lat->local[0] / lat->local[1] + lat->origin[2]};
                memset(slice + 24 * i, 0, 24 * sizeof *slice);
                slice[24 * i] = cos(p[0] * at[0] + p[1] * at[1] + p[2] * at[2]);
                slice[24 * i + 1] = sin(p[0] * at[0] + p[1] * at[1] + p[2] * at[2]);
            }
            field_import(source, 0, slice);
        }
        free(slice);
        fermion_prepare(q, rhs, source, 1);
        field_clear(half);
        CHECK_INT(solve_by(&b.p->solvers[0].p, q->normal, half, rhs).status, SOLVE_CONVERGED);
        fermion_reconstruct(q, x, half, source);
        slice_norms(slices, x);
        /* |psi|^2 falls with 2 E where the way around the other side is long. */
        const double e = free_energy(1, 1.2 / 3.5, p), found = log(slices[4] / slices[5]) / 2;
        if (comm_rank() == 0)
            printf("E(%d %d %d) = %.10f, expected %.10f\n", momenta[k][0], momenta[k][1], momenta[k][2], found, e);
        CHECK_NEAR(found, e, 10 * exp(-22 * e) + 1e-9);
    }
    field *all[] = {source, x, rhs, half};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
    close_bench(&b);
}

/* ---- forces and trajectories ---- */

#define DYNAMICS(quark, action)                                                                                        \
    LATTICE("4.4.4.8")                                                                                                 \
    GAUGE SOLVERS "[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = light\n[integrator.1]\nscheme = "           \
                  "force_gradient\nsteps = 2\n"                                                                        \
                  "actions = gauge\n[quark.light]\nmass = 0.1\n" quark                                                 \
                  "[action.light]\nquark = light\nsolver = good\n" action

static const char chain[] =
    DYNAMICS("schur = symmetric\nlink_reals = 12\n" ANISOTROPIC STOUT, "kind = two_flavours\nmasses = 0.4\n");
static const char rhmc[] = DYNAMICS(ANISOTROPIC, "kind = rational\nflavours = 1\n");
static const char thin[] = DYNAMICS(ANISOTROPIC "clover_links = thin\n" STOUT, "kind = two_flavours\n");

static void test_dynamics(void)
{
    test_forces(chain, "stout in space, a chain, symmetric", 0, NULL, 1e-12);
    test_forces(rhmc, "one flavour", 0, NULL, 1e-11);
    test_forces(thin, "thin clover term", 0, NULL, 1e-12);
    bench b = open_bench(chain, 0, NULL);
    check_reversal(&b, "anisotropic", 0.5);
    close_bench(&b);
}

/* dH of a trajectory, by its number of steps. */
static double dh_of(const char *steps)
{
    const char *given[] = {steps};
    bench b = open_bench(rhmc, 1, given);
    draw(&b, 9);
    const double before = energy(&b);
    CHECK_INT(evolve(&b.s->e, 0.5), EVOLVE_DONE);
    const double dh = energy(&b) - before;
    close_bench(&b);
    return dh;
}

static void test_order(void)
{
    const double one = dh_of("integrator.0.steps=8"), two = dh_of("integrator.0.steps=16");
    if (comm_rank() == 0) printf("dH %.4e, %.4e: order %.3f\n", one, two, log2(fabs(one / two)));
    CHECK_NEAR(log2(fabs(one / two)), 2, 0.2);
}

/* <exp(-dH)> = 1 with momenta of several anisotropies, and the same plaquettes within their errors. */
static void test_area(void)
{
    enum { WARMUP = 30, COUNT = 120 };
    static const char text[] =
        LATTICE("4.4.4.8") GAUGE "[integrator.0]\nscheme = omelyan2\nsteps = 6\nactions = gauge\n";
    static const char *const xi_mom[] = {"run.xi_mom=1", "run.xi_mom=2.8"};
    double space[2], time[2], space_error[2], time_error[2], weight[2];
    static double s[COUNT], t[COUNT], w[COUNT];
    for (int k = 0; k < 2; k++) {
        bench b = open_bench(text, 1, &xi_mom[k]);
        double w_error;
        int accepted = 0;
        for (int i = 0; i < WARMUP + COUNT; i++) {
            const trajectory_result r = trajectory_run(&b.s->e, (random_key){11, (uint32_t)i + 1}, 1, i < WARMUP / 2);
            CHECK_INT(r.status, EVOLVE_DONE);
            if (i < WARMUP) continue;
            const gauge_loops loops = gauge_measure(b.s->links, 0);
            s[i - WARMUP] = loops.plaquette_space;
            t[i - WARMUP] = loops.plaquette_time;
            w[i - WARMUP] = exp(-r.dh);
            accepted += r.accepted;
        }
        space[k] = mean(s, COUNT, &space_error[k]);
        time[k] = mean(t, COUNT, &time_error[k]);
        weight[k] = mean(w, COUNT, &w_error);
        if (comm_rank() == 0)
            printf("%s: plaquettes %.5f +- %.5f in space, %.5f +- %.5f in time, <exp(-dH)> %.4f +- %.4f, accepted %d\n",
                   xi_mom[k], space[k], space_error[k], time[k], time_error[k], weight[k], w_error, accepted);
        CHECK_NEAR(weight[k], 1, 3 * w_error);
        CHECK(w_error > 1e-5 && w_error < 0.15);
        close_bench(&b);
    }
    CHECK_NEAR(space[0], space[1], 4 * hypot(space_error[0], space_error[1]));
    CHECK_NEAR(time[0], time[1], 4 * hypot(time_error[0], time_error[1]));
    CHECK(time[0] > space[0]);
}

/* ---- an anisotropy of 1 ---- */

static bench after_trajectory(const char *quark, const char *gauge, double *dh)
{
    char text[2048];
    snprintf(text, sizeof text,
             "[run]\noutput = none\nseed = 3\n[lattice]\nsize = 4.4.4.4\n[gauge]\nbeta = 5.6\n%s" SOLVERS
             "[integrator.0]\nscheme = omelyan2\nsteps = 2\nactions = light gauge\n"
             "[quark.light]\nmass = 0.1\n%s[action.light]\nkind = two_flavours\nquark = light\nsolver = good\n",
             gauge, quark);
    bench b = open_bench(text, 0, NULL);
    const trajectory_result r = trajectory_run(&b.s->e, (random_key){3, 1}, 0.5, 1);
    *dh = r.dh;
    return b;
}

static void test_isotropic(void)
{
    double one, two;
    bench a = after_trajectory("c_sw = 1.3\n", "", &one);
    bench b = after_trajectory("xi_0 = 1\nnu = 1\nclover_R = 1.3\nclover_T = 1.3\n", "xi_0 = 1\n", &two);
    CHECK_NEAR(one, two, 0);
    CHECK_NEAR(largest_difference(a.s->links, b.s->links), 0, 0);
    close_bench(&b);
    close_bench(&a);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    const int data = data_has("pyquda.weak_field.lime");
    test_dispersion();
    test_recorded_phases();
    test_dynamics();
    test_isotropic();
    if (comm_size() == 1) { /* other grids have the same bits */
        test_order();
        test_area();
    }
    if (data) {
        test_recorded_propagator();
        test_recorded_walls();
        test_recorded_actions();
        test_recorded_log_det();
    } else if (comm_rank() == 0) {
        printf("no %s (PLAQ_TEST_DATA): nothing is compared with recorded numbers\n",
               data_path("pyquda.weak_field.lime"));
    }
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
