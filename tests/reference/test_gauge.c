/* The oracles of algebra and gauge fields against each other and against theorems; test_fermion.c has those of
 * fermions, test_recorded.c the numbers of other codes. */
#include "tests/reference/kit.h"

/* ---- spin and colour algebra ---- */

static void product4(double complex c[4][4], double complex a[4][4], double complex b[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[i][j] = 0;
            for (int k = 0; k < 4; k++) c[i][j] += a[i][k] * b[k][j];
        }
}

static void test_gamma(void)
{
    double complex g[5][4][4], ab[4][4], ba[4][4], s[4][4];
    memcpy(g, ref_gamma, sizeof ref_gamma);
    ref_gamma5(g[4]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) CHECK_NEAR(cabs(g[4][i][j] - (i != j ? 0 : i < 2 ? 1 : -1)), 0, 0);
    for (int mu = 0; mu < 5; mu++)
        for (int nu = 0; nu < 5; nu++) {
            product4(ab, g[mu], g[nu]);
            product4(ba, g[nu], g[mu]);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    CHECK_NEAR(cabs(ab[i][j] + ba[i][j] - (mu == nu && i == j ? 2 : 0)), 0, 0);
                    CHECK_NEAR(cabs(g[mu][i][j] - conj(g[mu][j][i])), 0, 0);
                }
        }
    for (int mu = 0; mu < 4; mu++)
        for (int nu = 0; nu < 4; nu++) {
            ref_sigma(s, mu, nu);
            product4(ab, s, g[4]);
            product4(ba, g[4], s);
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    CHECK_NEAR(cabs(s[i][j] - conj(s[j][i])), 0, 0);
                    CHECK_NEAR(cabs(ab[i][j] - ba[i][j]), 0, 0);
                }
        }
}

static void test_su3(void)
{
    struct ref_rng r;
    ref_rng_seed(&r, 1);
    double complex ta[9], tb[9], m[9], x[9], y[9];
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++) {
            ref_generator(ta, a);
            ref_generator(tb, b);
            ref_mat_mul(m, ta, tb);
            CHECK_NEAR(cabs(ref_mat_trace(m) + (a == b ? 0.5 : 0)), 0, 1e-15);
        }

    /* P(X) = -2 sum_a T_a Re tr T_a X, and P is a projection */
    double complex sum[9] = {0};
    ref_random_spinor(x, 9, &r);
    for (int a = 0; a < 8; a++) {
        ref_generator(ta, a);
        ref_mat_mul(m, ta, x);
        for (int i = 0; i < 9; i++) sum[i] -= 2 * creal(ref_mat_trace(m)) * ta[i];
    }
    ref_mat_antihermitian(y, x);
    CHECK_NEAR(distance(y, sum, 9), 0, 1e-14);
    ref_mat_antihermitian(m, y);
    CHECK_NEAR(distance(y, m, 9), 0, 1e-15);

    /* exp: a diagonal matrix, the inverse, unitarity of a large algebra element, and a nilpotent matrix */
    double complex d[9] = {1.5, 0, 0, 0, 7 * I, 0, 0, 0, -2 + I}, n[9] = {0, 2, 0, 0, 0, 3, 0, 0, 0};
    ref_mat_exp(m, d);
    CHECK_NEAR(cabs(m[0] - exp(1.5)), 0, 1e-13);
    CHECK_NEAR(cabs(m[4] - cexp(7 * I)), 0, 1e-13);
    CHECK_NEAR(cabs(m[8] - cexp(-2 + I)), 0, 1e-13);
    ref_mat_exp(m, n);
    CHECK_NEAR(cabs(m[1] - 2) + cabs(m[2] - 3) + cabs(m[5] - 3) + cabs(m[3]) + cabs(m[0] - 1), 0, 1e-14);
    for (int i = 0; i < 9; i++) y[i] *= 5;
    ref_mat_exp(m, y);
    CHECK_NEAR(ref_unitarity_error(m, 1), 0, 1e-12);
    for (int i = 0; i < 9; i++) y[i] = -y[i];
    ref_mat_exp(x, y);
    ref_mat_adj(y, m);
    CHECK_NEAR(distance(x, y, 9), 0, 1e-12);

    /* random numbers: moments within five standard errors; Haar: <|tr U|^2> = 1, <tr U> = 0 */
    enum { samples = 20000 };
    double mean = 0, square = 0, uniform = 0, trace2 = 0;
    double complex trace = 0;
    for (int i = 0; i < samples; i++) {
        double z = ref_normal(&r);
        mean += z / samples;
        square += z * z / samples;
        uniform += ref_uniform(&r) / samples;
        ref_random_su3(m, &r);
        trace += ref_mat_trace(m) / samples;
        trace2 += cabs(ref_mat_trace(m)) * cabs(ref_mat_trace(m)) / samples;
        if (i < 100) CHECK_NEAR(ref_unitarity_error(m, 1), 0, 1e-14);
    }
    CHECK_NEAR(mean, 0, 5 / sqrt(samples));
    CHECK_NEAR(square, 1, 5 * sqrt(2.0 / samples));
    CHECK_NEAR(uniform, 0.5, 5 * sqrt(1.0 / 12 / samples));
    CHECK_NEAR(cabs(trace), 0, 5 / sqrt(samples));
    CHECK_NEAR(trace2, 1, 5 / sqrt(samples));
}

static void test_linalg(void)
{
    struct ref_rng r;
    ref_rng_seed(&r, 2);
    enum { n = 17 };
    double complex a[n * n], b[n * n], c[n * n];
    ref_random_spinor(a, n * n, &r);
    ref_inverse(b, n, a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i * n + j] = i == j ? -1 : 0;
            for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
    CHECK_NEAR(sqrt(ref_norm2(c, n * n)), 0, 1e-11);
    CHECK_NEAR(cabs(cexp(ref_log_det(n, a) + ref_log_det(n, b)) - 1), 0, 1e-11);
    double complex two[4] = {0, 2, 3, 0};
    CHECK_NEAR(cabs(cexp(ref_log_det(2, two)) + 6), 0, 1e-14);
}

/* ---- gauge fields ---- */

static void test_geometry(void)
{
    struct ref_lattice l = {{2, 3, 4, 5}};
    CHECK_INT(ref_volume(l), 120);
    CHECK_INT(ref_site(l, (int[]){1, 2, 3, 4}), 119);
    CHECK_INT(ref_site(l, (int[]){1, 0, 0, 0}), 1);
    CHECK_INT(ref_site(l, (int[]){0, 0, 0, 1}), 24);
    for (size_t site = 0; site < ref_volume(l); site++) {
        int x[4];
        ref_coordinates(x, l, site);
        CHECK_INT(ref_site(l, x), site);
        CHECK_INT(ref_parity(l, site), (x[0] + x[1] + x[2] + x[3]) & 1);
        for (int mu = 0; mu < 4; mu++) {
            CHECK_INT(ref_shift(l, ref_shift(l, site, mu, 7), mu, -7), site);
            CHECK_INT(ref_shift(l, site, mu, -l.size[mu]), site);
        }
    }
}

static void test_flux(void)
{
    struct ref_lattice l = {{4, 6, 6, 8}};
    double complex *u = ref_gauge_new(l), f[9];
    double phi[2], volume = (double)ref_volume(l);
    ref_unit_gauge(u, l);
    CHECK_NEAR(ref_plaquette(l, u), 1, 1e-14);
    CHECK_NEAR(ref_rectangle(l, u), 1, 1e-14);
    CHECK_NEAR(ref_link_trace(l, u), 1, 1e-14);
    CHECK_NEAR(cabs(ref_polyakov(l, u) - 1), 0, 1e-14);
    CHECK_NEAR(ref_gauge_action(l, u, 21.9, -1.986, 0.5), 0, 1e-8);

    flux_gauge(u, l, phi);
    double plane_xy = (1 + 2 * cos(phi[0])) / 3, plane_zt = (1 + 2 * cos(phi[1])) / 3;
    double rect_xy = (1 + 2 * cos(2 * phi[0])) / 3, rect_zt = (1 + 2 * cos(2 * phi[1])) / 3;
    CHECK_NEAR(ref_plaquette(l, u), (4 + plane_xy + plane_zt) / 6, 1e-13);
    CHECK_NEAR(ref_rectangle(l, u), (8 + 2 * rect_xy + 2 * rect_zt) / 12, 1e-13);
    /* a parallelogram encloses the flux of one of the two planes */
    const double b[3] = {9.2, -0.5, 0.3};
    CHECK_REL(ref_gauge_action(l, u, b[0], b[1], b[2]),
              volume * ((b[0] + 8 * b[2]) * (2 - plane_xy - plane_zt) + 2 * b[1] * (2 - rect_xy - rect_zt)), 1e-12);
    /* F = +i phi: the sign that goes with U = exp(A), F = [D_mu, D_nu] */
    ref_field_strength(f, l, u, 77, 0, 1);
    CHECK_NEAR(cabs(f[0] - I * sin(phi[0])), 0, 1e-14);
    CHECK_NEAR(cabs(f[4] + I * sin(phi[0])), 0, 1e-14);
    ref_field_strength(f, l, u, 77, 1, 0);
    CHECK_NEAR(cabs(f[0] + I * sin(phi[0])), 0, 1e-14);
    struct ref_energy e = ref_clover_energy(l, u, 1);
    CHECK_REL(e.e_s, 2 * sin(phi[0]) * sin(phi[0]), 1e-12);
    CHECK_REL(e.e_t, 2 * sin(phi[1]) * sin(phi[1]), 1e-12);
    CHECK_REL(e.q, 2 * sin(phi[0]) * sin(phi[1]) * volume / (4 * pi * pi), 1e-12); /* 2 in the continuum */
    free(u);
}

static void test_invariance(void)
{
    struct ref_lattice l = {{2, 4, 3, 4}};
    struct ref_rng r;
    ref_rng_seed(&r, 3);
    double complex *u = ref_gauge_new(l), *v, *g = malloc(9 * ref_volume(l) * sizeof *g);
    ref_weak_gauge(u, l, 0.5, &r);
    ref_random_rotation(g, l, &r);
    v = copy(u, 36 * ref_volume(l));
    ref_rotate_gauge(v, l, g);
    CHECK_NEAR(ref_unitarity_error(v, 4 * ref_volume(l)), 0, 1e-13);
    CHECK(fabs(ref_link_trace(l, u) - ref_link_trace(l, v)) > 0.1);
    CHECK_NEAR(ref_plaquette(l, u), ref_plaquette(l, v), 1e-13);
    CHECK_NEAR(ref_rectangle(l, u), ref_rectangle(l, v), 1e-13);
    CHECK_NEAR(cabs(ref_polyakov(l, u) - ref_polyakov(l, v)), 0, 1e-13);
    for (int traceless = 0; traceless < 2; traceless++) {
        struct ref_energy a = ref_clover_energy(l, u, traceless), b = ref_clover_energy(l, v, traceless);
        CHECK_REL(a.e_t, b.e_t, 1e-12);
        CHECK_REL(a.e_s, b.e_s, 1e-12);
        CHECK_NEAR(a.q, b.q, 1e-12);
    }
    /* the flow commutes with the rotation */
    ref_flow_step(u, l, 0.02, 1);
    ref_flow_step(v, l, 0.02, 1);
    ref_rotate_gauge(u, l, g);
    CHECK_NEAR(distance(u, v, 36 * ref_volume(l)), 0, 1e-12);
    free(u);
    free(v);
    free(g);
}

struct action_ctx {
    struct ref_lattice l;
    double b[3];
};

static double action_of(const double complex *u, void *ctx)
{
    const struct action_ctx *c = ctx;
    return ref_gauge_action(c->l, u, c->b[0], c->b[1], c->b[2]);
}

/* dS/domega_a = -Re tr T_a W / 3, W = b0 times the six plaquettes + b1 times the eighteen rectangles + b2 times the 24
 * parallelograms through the link that start with it. */
static double derivative_exact(const struct action_ctx *c, const double complex *u, size_t site, int mu, int a)
{
    double complex w[9] = {0}, m[9], t[9];
    const int bm = REF_BACK(mu);
    for (int nu = 0; nu < 4; nu++)
        for (int way = 0; way < 2 && nu != mu; way++) {
            int f = way ? REF_BACK(nu) : nu, b = way ? nu : REF_BACK(nu);
            const int walk[4][6] = {
                {mu, f, bm, b}, {mu, mu, f, bm, bm, b}, {mu, f, bm, bm, b, mu}, {mu, f, f, bm, b, b}};
            for (int k = 0; k < 4; k++) {
                ref_path(m, c->l, u, site, walk[k], k ? 6 : 4);
                for (int i = 0; i < 9; i++) w[i] += c->b[k > 0] * m[i];
            }
            for (int r = -4; r < 4; r++) {
                if (r == mu || r == bm || r == nu || r == REF_BACK(nu)) continue;
                ref_path(m, c->l, u, site, (int[]){mu, f, r, bm, b, REF_BACK(r)}, 6);
                for (int i = 0; i < 9; i++) w[i] += c->b[2] * m[i];
            }
        }
    ref_generator(t, a);
    ref_mat_mul(m, t, w);
    return -creal(ref_mat_trace(m)) / 3;
}

static void test_derivative(void)
{
    struct action_ctx c = {{{4, 3, 4, 3}}, {20.8, -1.9, 0.7}};
    struct ref_rng r;
    ref_rng_seed(&r, 4);
    double complex *u = ref_gauge_new(c.l), *v;
    ref_weak_gauge(u, c.l, 0.4, &r);
    v = copy(u, 36 * ref_volume(c.l));
    for (int a = 0; a < 8; a++) {
        size_t site = 11 * a + 3;
        double exact = derivative_exact(&c, u, site, a % 4, a);
        CHECK_NEAR(ref_derivative(u, site, a % 4, a, 0.01, action_of, &c), exact, 1e-7);
        double wide = ref_derivative2(u, site, a % 4, a, 0.2, action_of, &c) - exact;
        double half = ref_derivative2(u, site, a % 4, a, 0.1, action_of, &c) - exact;
        CHECK_NEAR(wide / half, 4, 0.1);
        wide = ref_derivative(u, site, a % 4, a, 0.2, action_of, &c) - exact;
        half = ref_derivative(u, site, a % 4, a, 0.1, action_of, &c) - exact;
        CHECK_NEAR(wide / half, 16, 1);
    }
    CHECK(memcmp(u, v, 36 * ref_volume(c.l) * sizeof *u) == 0);
    free(u);
    free(v);
}

/* Third order: halving the step divides the error by eight. And the flow is steepest descent of the Wilson action. */
static void test_flow_order(void)
{
    struct ref_lattice l = {{2, 2, 2, 4}};
    struct ref_rng r;
    ref_rng_seed(&r, 5);
    size_t n = 36 * ref_volume(l);
    double complex *start = ref_gauge_new(l), *u[4];
    ref_weak_gauge(start, l, 0.5, &r);
    for (int k = 0; k < 4; k++) {
        u[k] = copy(start, n);
        int steps = k < 3 ? 8 << k : 256;
        for (int i = 0; i < steps; i++) ref_flow_step(u[k], l, 0.2 / steps, 1);
    }
    double e0 = distance(u[0], u[3], n), e1 = distance(u[1], u[3], n), e2 = distance(u[2], u[3], n);
    CHECK_NEAR(log2(e0 / e1), 3, 0.3);
    CHECK_NEAR(log2(e1 / e2), 3, 0.2);
    CHECK(ref_plaquette(l, u[3]) > ref_plaquette(l, start));
    CHECK_NEAR(ref_unitarity_error(u[3], 4 * ref_volume(l)), 0, 1e-12);
    for (int k = 0; k < 4; k++) free(u[k]);
    free(start);
}

int main(void)
{
    test_gamma();
    test_su3();
    test_linalg();
    test_geometry();
    test_flux();
    test_invariance();
    test_derivative();
    test_flow_order();
    return CHECK_SUMMARY();
}
