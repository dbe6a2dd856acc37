/* The oracles of fermions against each other and against theorems; test_gauge.c has those below them. */
#include "tests/reference/kit.h"

static void test_plane_wave(int bc)
{
    struct ref_lattice l = {{4, 2, 6, 4}};
    struct ref_wilson w;
    struct ref_rng r;
    ref_rng_seed(&r, 6);
    size_t n = 12 * ref_volume(l);
    double complex *u = ref_gauge_new(l), *in = ref_spinor_new(l), *out = ref_spinor_new(l),
                   *expect = ref_spinor_new(l);
    ref_unit_gauge(u, l);
    ref_wilson_create(&w, l, u, 0.3, 1.2, bc);
    for (int k = 0; k < 6; k++) {
        double p[4];
        double complex chi[12], d[4][4], moved[12] = {0};
        ref_momentum(p, l, (int[]){k % 4, k % 2, k, (k + 1) % 4}, bc);
        ref_random_spinor(chi, 12, &r);
        ref_free_operator(d, p, 0.3);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int c = 0; c < 3; c++) moved[3 * a + c] += d[a][b] * chi[3 * b + c];
        ref_plane_wave(in, l, p, chi);
        ref_plane_wave(expect, l, p, moved);
        ref_wilson_apply(out, in, &w, 0);
        CHECK_NEAR(distance(out, expect, n), 0, 1e-12);
    }
    ref_wilson_destroy(&w);
    free(u);
    free(in);
    free(out);
    free(expect);
}

/* <a, O b> = <O^+ a, b> for all three operators, gamma5 M gamma5 = M^+, gauge covariance. */
static void test_operator(int bc)
{
    struct ref_lattice l = {{4, 2, 4, 6}};
    struct ref_wilson w, wg;
    struct ref_rng r;
    ref_rng_seed(&r, 7);
    size_t volume = ref_volume(l), n = 12 * volume;
    double complex *u = ref_gauge_new(l), *g = malloc(9 * volume * sizeof *g), *a = ref_spinor_new(l),
                   *b = ref_spinor_new(l), *c = ref_spinor_new(l), *d = ref_spinor_new(l);
    ref_random_gauge(u, l, &r);
    ref_random_rotation(g, l, &r);
    ref_random_spinor(a, n, &r);
    ref_random_spinor(b, n, &r);
    ref_wilson_create(&w, l, u, -0.2, 1.7, bc);
    for (int kind = REF_FULL; kind <= REF_SYMMETRIC; kind++)
        for (int p = 0; p < 2; p++) {
            ref_kind_apply(c, b, &w, kind, p, 0);
            ref_kind_apply(d, a, &w, kind, p, 1);
            CHECK_NEAR(cabs(ref_dot(a, c, n) - ref_dot(d, b, n)), 0, 1e-10);
        }
    ref_wilson_apply(c, a, &w, 1);
    memcpy(b, a, n * sizeof *b);
    ref_apply_gamma5(b, volume);
    ref_wilson_apply(d, b, &w, 0);
    ref_apply_gamma5(d, volume);
    CHECK_NEAR(distance(c, d, n), 0, 1e-12);

    double complex *ug = copy(u, 36 * volume);
    ref_rotate_gauge(ug, l, g);
    ref_wilson_create(&wg, l, ug, -0.2, 1.7, bc);
    ref_wilson_apply(c, a, &w, 0);
    ref_rotate_spinor(c, l, g);
    ref_rotate_spinor(a, l, g);
    ref_wilson_apply(d, a, &wg, 0);
    CHECK_NEAR(distance(c, d, n), 0, 1e-12);
    CHECK_NEAR(ref_log_det_diagonal(&w, 1), ref_log_det_diagonal(&wg, 1), 1e-9);
    ref_wilson_destroy(&w);
    ref_wilson_destroy(&wg);
    free(u);
    free(ug);
    free(g);
    free(a);
    free(b);
    free(c);
    free(d);
}

/* Hermitian, commuting with gamma5 (two 6x6 blocks), trace 12 (4+m), inverse right. */
static void test_clover(void)
{
    struct ref_lattice l = {{2, 4, 2, 4}};
    struct ref_wilson w;
    struct ref_rng r;
    ref_rng_seed(&r, 8);
    double complex *u = ref_gauge_new(l), *b = ref_spinor_new(l), *c = ref_spinor_new(l), *d = ref_spinor_new(l);
    size_t n = 12 * ref_volume(l);
    ref_random_gauge(u, l, &r);
    ref_random_spinor(b, n, &r);
    ref_wilson_create(&w, l, u, 0.1, 1.9, 1);
    double hermitian = 0, mixed = 0, traces = 0;
    for (size_t site = 0; site < ref_volume(l); site++) {
        const double complex *a = w.a + 144 * site;
        double complex trace = 0;
        for (int i = 0; i < 12; i++) {
            trace += a[13 * i];
            for (int j = 0; j < 12; j++) {
                hermitian = fmax(hermitian, cabs(a[12 * i + j] - conj(a[12 * j + i])));
                if (i / 6 != j / 6) mixed = fmax(mixed, cabs(a[12 * i + j]));
            }
        }
        traces = fmax(traces, cabs(trace - 12 * 4.1));
    }
    CHECK_NEAR(hermitian, 0, 1e-14);
    CHECK_NEAR(mixed, 0, 1e-14);
    CHECK_NEAR(traces, 0, 1e-12);
    ref_diagonal(c, b, &w, REF_BOTH, 0);
    ref_diagonal_inverse(d, c, &w, REF_BOTH, 0);
    CHECK_NEAR(distance(b, d, n), 0, 1e-12);
    CHECK_NEAR(ref_log_det_diagonal(&w, 0) + ref_log_det_diagonal(&w, 1), ref_log_det_diagonal(&w, REF_BOTH), 1e-11);
    ref_wilson_destroy(&w);
    free(u);
    free(b);
    free(c);
    free(d);
}

static void naive(double complex *out, const double complex *in, const struct ref_wilson *w)
{
    size_t n = 12 * ref_volume(w->l);
    double complex *plus = ref_spinor_new(w->l), *minus = ref_spinor_new(w->l);
    ref_hop(plus, in, w->l, w->u, w->bc, 0);
    ref_hop(minus, in, w->l, w->u, w->bc, 1);
    for (size_t i = 0; i < n; i++) out[i] = -0.25 * (plus[i] - minus[i]);
    free(plus);
    free(minus);
}

/* |(M - gamma.D + (gamma.D)^2/2) psi| / |psi| at m = 0 */
static double improvement_error(const double complex *psi, struct ref_lattice l, const double complex *u, double csw)
{
    struct ref_wilson w;
    size_t n = 12 * ref_volume(l);
    double complex *m = ref_spinor_new(l), *d = ref_spinor_new(l), *dd = ref_spinor_new(l);
    ref_wilson_create(&w, l, u, 0, csw, 1);
    ref_wilson_apply(m, psi, &w, 0);
    naive(d, psi, &w);
    naive(dd, d, &w);
    for (size_t i = 0; i < n; i++) m[i] += 0.5 * dd[i] - d[i];
    double error = sqrt(ref_norm2(m, n) / ref_norm2(psi, n));
    ref_wilson_destroy(&w);
    free(m);
    free(d);
    free(dd);
    return error;
}

/* The sign and size of the clover term: on a smooth field csw = 1 turns the Wilson term into a square (ref_wilson.c).
 */
static void test_clover_sign(void)
{
    struct ref_lattice l = {{8, 8, 8, 8}};
    struct ref_rng r;
    ref_rng_seed(&r, 9);
    size_t n = 12 * ref_volume(l);
    double complex *u = ref_gauge_new(l), *psi = ref_spinor_new(l), *a = ref_spinor_new(l), *b = ref_spinor_new(l);
    double phi[2];
    flux_gauge(u, l, phi);
    ref_random_spinor(psi, n, &r);
    for (int k = 0; k < 150; k++) { /* psi + Laplacian psi/16: what is rough dies */
        ref_hop(a, psi, l, u, 1, 0);
        ref_hop(b, psi, l, u, 1, 1);
        for (size_t i = 0; i < n; i++) psi[i] = 0.5 * psi[i] + (a[i] + b[i]) / 32;
    }
    double without = improvement_error(psi, l, u, 0);
    CHECK(improvement_error(psi, l, u, 1) < 0.2 * without);
    CHECK(improvement_error(psi, l, u, -1) > 1.9 * without);
    free(u);
    free(psi);
    free(a);
    free(b);
}

/* The index theorem ties the sign of Q to gamma5: with Q > 0 the near-zero mode has gamma5 = -1, and the other way
 * round after a reflection. The mode comes from inverse iteration. */
static void test_zero_mode(int reflected)
{
    struct ref_lattice l = {{4, 4, 4, 4}};
    struct ref_wilson w;
    struct ref_rng r;
    ref_rng_seed(&r, 10);
    size_t n = 12 * ref_volume(l);
    double complex *u = ref_gauge_new(l), *psi = ref_spinor_new(l), *next = ref_spinor_new(l);
    double phi[2];
    flux_gauge(u, l, phi);
    for (size_t i = 0; reflected && i < 36 * ref_volume(l); i++)
        if (i / 9 % 4 < 2) u[i] = conj(u[i]); /* the other sign of F_xy only */
    ref_wilson_create(&w, l, u, 0.02, 1, -1);
    ref_random_spinor(psi, n, &r);
    for (int k = 0; k < 6; k++) {
        CHECK(ref_normal_solve(next, psi, &w, REF_FULL, 0, 1e-8, 3000) > 0);
        double norm = sqrt(ref_norm2(next, n));
        for (size_t i = 0; i < n; i++) psi[i] = next[i] / norm;
    }
    memcpy(next, psi, n * sizeof *psi);
    ref_apply_gamma5(next, ref_volume(l));
    double chirality = creal(ref_dot(psi, next, n)), q = ref_clover_energy(l, u, 1).q;
    printf("Q = %.6f, chirality of the lowest mode %.6f\n", q, chirality);
    CHECK(reflected ? q < -1 : q > 1);
    CHECK(fabs(chirality) > 0.9);
    CHECK(chirality * q < 0);
    ref_wilson_destroy(&w);
    free(u);
    free(psi);
    free(next);
}

struct dense_ctx {
    const struct ref_wilson *w;
    enum ref_kind kind;
    int p, dagger;
    size_t *sites; /* the sites of the vectors, in order */
    size_t count;
};

static void dense_apply(double complex *out, const double complex *in, void *ctx)
{
    const struct dense_ctx *c = ctx;
    double complex *a = ref_spinor_new(c->w->l), *b = ref_spinor_new(c->w->l);
    for (size_t k = 0; k < c->count; k++) memcpy(a + 12 * c->sites[k], in + 12 * k, 12 * sizeof *a);
    ref_kind_apply(b, a, c->w, c->kind, c->p, c->dagger);
    for (size_t k = 0; k < c->count; k++) memcpy(out + 12 * k, b + 12 * c->sites[k], 12 * sizeof *a);
    free(a);
    free(b);
}

static double complex dense_log_det(const struct ref_wilson *w, enum ref_kind kind, int p)
{
    size_t sites[16];
    struct dense_ctx c = {w, kind, p, 0, sites, 0};
    for (size_t site = 0; site < ref_volume(w->l); site++)
        if (kind == REF_FULL || ref_parity(w->l, site) == p) sites[c.count++] = site;
    int n = (int)(12 * c.count);
    double complex *m = malloc((size_t)n * n * sizeof *m);
    ref_dense(m, n, dense_apply, &c);
    double complex value = ref_log_det(n, m);
    free(m);
    return value;
}

static void test_determinant(int bc)
{
    struct ref_lattice l = {{2, 2, 2, 2}};
    struct ref_wilson w;
    struct ref_rng r;
    ref_rng_seed(&r, 11);
    double complex *u = ref_gauge_new(l);
    ref_random_gauge(u, l, &r);
    ref_wilson_create(&w, l, u, 0.15, 1.4, bc);
    double complex full = dense_log_det(&w, REF_FULL, 0);
    CHECK_NEAR(fabs(sin(cimag(full))), 0, 1e-10); /* gamma5-hermiticity: det M is real */
    for (int p = 0; p < 2; p++) {
        double complex asymmetric = dense_log_det(&w, REF_ASYMMETRIC, p),
                       symmetric = dense_log_det(&w, REF_SYMMETRIC, p);
        CHECK_NEAR(creal(full), ref_log_det_diagonal(&w, 1 - p) + creal(asymmetric), 1e-10);
        CHECK_NEAR(creal(full), ref_log_det_diagonal(&w, REF_BOTH) + creal(symmetric), 1e-10);
    }
    ref_wilson_destroy(&w);
    free(u);
}

/* A_pp Mhat_sym = Mhat_asym; and M x = b solved through the Schur complement:
 * Mhat x_p = b_p - H_pq A_qq^-1 b_q, x_q = A_qq^-1 (b_q - H_qp x_p). */
static void test_schur(int bc)
{
    struct ref_lattice l = {{4, 4, 2, 4}};
    struct ref_wilson w;
    struct ref_rng r;
    ref_rng_seed(&r, 12);
    size_t n = 12 * ref_volume(l);
    double complex *u = ref_gauge_new(l), *v[6];
    for (int k = 0; k < 6; k++) v[k] = ref_spinor_new(l);
    double complex *b = v[0], *x = v[1], *c = v[2], *d = v[3], *y = v[4], *e = v[5];
    ref_weak_gauge(u, l, 0.4, &r);
    ref_random_spinor(b, n, &r);
    ref_wilson_create(&w, l, u, 0.2, 1.1, bc);
    CHECK(ref_wilson_solve(x, b, &w, 1e-13, 1000) > 0);
    ref_wilson_apply(c, x, &w, 0);
    CHECK_NEAR(distance(c, b, n), 0, 1e-10);
    for (int p = 0; p < 2; p++) {
        ref_schur_symmetric(c, b, &w, p, 0);
        ref_diagonal(d, c, &w, p, 0);
        ref_schur_asymmetric(c, b, &w, p, 0);
        CHECK_NEAR(distance(c, d, n), 0, 1e-12);

        ref_diagonal_inverse(c, b, &w, 1 - p, 0);
        ref_hop(d, c, l, u, bc, 0);
        for (size_t i = 0; i < n; i++) d[i] = ref_parity(l, i / 12) == p ? b[i] + 0.5 * d[i] : 0;
        ref_schur_asymmetric(e, d, &w, p, 1);
        CHECK(ref_normal_solve(y, e, &w, REF_ASYMMETRIC, p, 1e-13, 1000) > 0);
        ref_hop(d, y, l, u, bc, 0);
        for (size_t i = 0; i < n; i++) d[i] = b[i] + 0.5 * d[i];
        ref_diagonal_inverse(c, d, &w, 1 - p, 0);
        for (size_t i = 0; i < n; i++) y[i] += c[i];
        CHECK_NEAR(distance(x, y, n), 0, 1e-10);
    }
    ref_wilson_destroy(&w);
    free(u);
    for (int k = 0; k < 6; k++) free(v[k]);
}

/* Where no link leads from one block to another, enough steps in the blocks are the inverse, with any overlap; where
 * links do, they are not. */
static void test_schwarz(void)
{
    struct ref_lattice l = {{4, 2, 2, 4}};
    struct ref_wilson w;
    struct ref_rng rng;
    const size_t n = 12 * ref_volume(l);
    double complex *u = ref_gauge_new(l), *b = ref_spinor_new(l), *x = ref_spinor_new(l), *r = ref_spinor_new(l);
    ref_rng_seed(&rng, 19);
    ref_random_gauge(u, l, &rng);
    for (size_t i = 0; i < n; i++)
        if (ref_parity(l, i / 12) == 1) b[i] = ref_normal(&rng) + I * ref_normal(&rng);
    for (int links = 1; links >= 0; links--) {
        for (size_t site = 0; site < ref_volume(l); site++)
            for (int mu = 0; mu < 4 && !links; mu++) {
                int c[4];
                ref_coordinates(c, l, site);
                if (c[mu] % 2) memset(u + 36 * site + 9 * mu, 0, 9 * sizeof *u);
            }
        ref_wilson_create(&w, l, u, 1, 0, -1);
        for (int overlap = 0; overlap < 2; overlap++) {
            ref_schwarz(x, b, &w, REF_ASYMMETRIC, 1, &(struct ref_blocks){{2, 2, 2, 2}, overlap, 60, 1, 1, 1});
            ref_schur_asymmetric(r, x, &w, 1, 0);
            for (size_t i = 0; i < n; i++) r[i] -= b[i];
            const double left = sqrt(ref_norm2(r, n) / ref_norm2(b, n));
            if (links) CHECK(left > 1e-3 && left < 0.9);
            else CHECK_NEAR(left, 0, 1e-12);
        }
        ref_wilson_destroy(&w);
    }
    free(r);
    free(x);
    free(b);
    free(u);
}

/* G from both ends with operators from traces of gamma matrices: the pion of gamma_5 x xi_5 is the sum of |G|^2, and
 * operators of links keep their correlators when links are rotated. */
static void test_mesons(void)
{
    const struct ref_lattice l = {{2, 4, 2, 4}};
    const size_t n = 3 * ref_volume(l);
    struct ref_rng r;
    ref_rng_seed(&r, 8);
    double complex *u = ref_gauge_new(l), *fat = ref_gauge_new(l), *g = malloc(9 * ref_volume(l) * sizeof *g);
    double complex *point = malloc(n * sizeof *point), *x = malloc(n * sizeof *x);
    double c[4], sum[4] = {0}, linked[2][4];
    ref_random_gauge(u, l, &r);
    ref_naive_links(fat, l, u, -1);
    struct ref_staggered q = {.l = l, .fat = fat, .mass = 0.4, .u = u, .source = 5};
    ref_staggered_meson(c, &q, 15, 15);
    for (int colour = 0; colour < 3; colour++) {
        memset(point, 0, n * sizeof *point);
        point[3 * q.source + (size_t)colour] = 1;
        ref_staggered_solve(x, point, &q, 0);
        for (int t = 0; t < 4; t++) sum[t] += ref_norm2(x + n / 4 * (size_t)t, n / 4);
    }
    for (int t = 0; t < 4; t++) CHECK_REL(c[t], sum[t], 1e-11); /* the source is at t = 0 */
    ref_staggered_meson(linked[0], &q, 15, 9);
    ref_random_rotation(g, l, &r);
    ref_rotate_gauge(u, l, g);
    ref_naive_links(fat, l, u, -1);
    ref_staggered_meson(linked[1], &q, 15, 9);
    for (int t = 0; t < 4; t++) CHECK_NEAR(linked[1][t], linked[0][t], 1e-11 * c[0]);
    CHECK(fabs(linked[0][0]) > 1e-6);
    free(x);
    free(point);
    free(g);
    free(fat);
    free(u);
}

int main(void)
{
    test_schwarz();
    test_clover();
    test_clover_sign();
    for (int bc = -1; bc <= 1; bc += 2) {
        test_plane_wave(bc);
        test_operator(bc);
        test_determinant(bc);
        test_schur(bc);
    }
    test_zero_mode(0);
    test_zero_mode(1);
    test_mesons();
    return CHECK_SUMMARY();
}
