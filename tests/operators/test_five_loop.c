/* Field strength, energy and charge from loops of several links.
 *
 * Theorems: of 1 x 1 they are those of the clover; of every size they are sums over the leaves around a site, multiplied out link by
 * link; coefficients meet the conditions of their improvement; in a constant abelian field of topological charge -2 or so a loop of m x n
 * gives sin(m n f) / m n in place of the field f, so that the charge of the clover is off by f^2 / 3 and the improved one by f^4; a
 * plane wave of abelian links has the energy of the continuum up to p^6. */
#include <math.h>
#include <string.h>

#include "kernels/ops/gauge.h"
#include "operators/five_loop.h"
#include "tests/kernels/kit.h"

/* path = path U_step, at the site where it ends, which moves on. */
static size_t walk(double complex path[9], struct ref_lattice l, const double complex *u, size_t x, int mu, int sign)
{
    double complex link[9], product[9] = {0};
    const size_t y = ref_shift(l, x, mu, sign);
    const double complex *of = u + 9 * (4 * (sign > 0 ? x : y) + (size_t)mu);
    for (int i = 0; i < 9; i++) link[i] = sign > 0 ? of[i] : conj(of[3 * (i % 3) + i / 3]);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) product[i] += path[3 * (i / 3) + k] * link[3 * k + i % 3];
    memcpy(path, product, sizeof product);
    return y;
}

/* sum += the four leaves of m x n around x, all in the sense from mu to nu. */
static void leaves(double complex sum[9], struct ref_lattice l, const double complex *u, size_t x, int mu, int nu,
                   int m, int n)
{
    const int order[4][2] = {{mu, 1}, {nu, 1}, {mu, -1}, {nu, -1}};
    for (int first = 0; first < 4; first++) {
        double complex path[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        size_t y = x;
        for (int side = 0; side < 4; side++) {
            const int *go = order[(first + side) % 4];
            for (int i = 0; i < (go[0] == mu ? m : n); i++) y = walk(path, l, u, y, go[0], go[1]);
        }
        KIT_CHECK(y == x);
        for (int i = 0; i < 9; i++) sum[i] += path[i];
    }
}

/* A tensor of all sites as matrices: the reals of a plane are those of su3_antihermitian(), which gauge_field_strength() writes, too. */
static void test_oracle(const field *links, struct ref_lattice l, const double complex *u)
{
    static const int sizes[][2] = {{1, 1}, {2, 2}, {1, 2}, {1, 3}, {3, 3}};
    field *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where),
          *clover = field_like(tensor);
    gauge_field_strength(clover, links);
    double *known = kit_gather(clover);
    for (int k = 0; k < 5; k++) {
        const int m = sizes[k][0], n = sizes[k][1];
        double worst = 0;
        kit_where("%d x %d", m, n);
        loop_field_strength(tensor, links, m, n);
        double *have = kit_gather(tensor);
        for (size_t x = 0; x < ref_volume(l); x += 3)
            for (int plane = 0; plane < 6; plane++) {
                static const int of[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
                double complex sum[9] = {0}, f[9];
                leaves(sum, l, u, x, of[plane][0], of[plane][1], m, n);
                leaves(sum, l, u, x, of[plane][0], of[plane][1], n, m);
                for (int i = 0; i < 9; i++) f[i] = (sum[i] - conj(sum[3 * (i % 3) + i / 3])) / (16 * m * n);
                const double *r = have + 9 * (6 * x + (size_t)plane);
                for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(r[i] - cimag(f[4 * i])));
                double off = 0, theirs = 0;
                for (int i = 3; i < 9; i++) theirs += r[i] * r[i];
                for (int i = 0; i < 9; i++)
                    if (i % 4) off += cabs(f[i]) * cabs(f[i]) / 2;
                worst = fmax(worst, fabs(off - theirs));
            }
        KIT_NEAR(worst, 0, 1e-13);
        for (size_t i = 0; i < 54 * ref_volume(l) && k == 0; i++) KIT_NEAR(have[i], known[i], 1e-14);
        free(have);
    }
    free(known);
    field_destroy(clover);
    field_destroy(tensor);
}

static void test_coefficients(void)
{
    for (int k = 0; k < 2; k++) {
        loop_size s[FIVE_LOOP_SIZES];
        double one = 0, squares = 0, fourths = 0, products = 0;
        five_loop_sizes(s, k ? 0.1 : 0.05);
        for (int i = 0; i < FIVE_LOOP_SIZES; i++) {
            const double m = s[i].m * s[i].m, n = s[i].n * s[i].n;
            one += s[i].c;
            squares += s[i].c * (m + n);
            fourths += s[i].c * (m * m + n * n);
            products += s[i].c * m * n;
        }
        KIT_NEAR(one, 1, 1e-14);
        KIT_NEAR(squares, 0, 1e-13);
        KIT_NEAR(fourths, 0, 1e-13);
        KIT_NEAR(products, 0, 1e-13);
    }
}

/* Links exp(i a_mu diag(1, -1, 0)). */
static field *abelian(const lattice *lat, struct ref_lattice l, double (*angle)(const int x[4], int mu, double by),
                      double by)
{
    double complex *u = ref_gauge_new(l);
    for (size_t site = 0; site < ref_volume(l); site++) {
        int x[4];
        ref_coordinates(x, l, site);
        for (int mu = 0; mu < 4; mu++) {
            double complex *link = u + 9 * (4 * site + (size_t)mu);
            memset(link, 0, 9 * sizeof *link);
            link[0] = cexp(I * angle(x, mu, by));
            link[4] = conj(link[0]);
            link[8] = 1;
        }
    }
    field *links = kit_links((lattice *)lat, u);
    free(u);
    return links;
}

enum { L = 8 };

/* A field f in the planes xy and zt, closed on the torus: 2 pi / L^2. */
static double constant_angle(const int x[4], int mu, double f)
{
    switch (mu) {
    case 0: return -f * x[1];
    case 1: return x[1] == L - 1 ? f * L * x[0] : 0;
    case 2: return -f * x[3];
    default: return x[3] == L - 1 ? f * L * x[2] : 0;
    }
}

/* a_x = s cos(p (x + y + 1/2)), a_y = -a_x: F_xy is of transverse polarisation. */
static double wave_angle(const int x[4], int mu, double s)
{
    const double a = s * cos(2 * M_PI / L * (x[0] + x[1] + 0.5));
    return mu == 0 ? a : mu == 1 ? -a : 0;
}

static void test_constant(const lattice *lat, struct ref_lattice l)
{
    const double f = 2 * M_PI / (L * L), volume = (double)ref_volume(l);
    field *links = abelian(lat, l, constant_angle, f);
    field *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    loop_size s[FIVE_LOOP_SIZES];
    double want = 0;
    five_loop_sizes(s, 0.05);
    for (int i = 0; i < FIVE_LOOP_SIZES; i++) {
        const int mn = s[i].m * s[i].n;
        const double field_of = sin(mn * f) / mn, charge = volume * 2 * field_of * field_of / (4 * M_PI * M_PI);
        loop_field_strength(tensor, links, s[i].m, s[i].n);
        const gauge_energy e = gauge_field_energy(tensor);
        kit_where("a constant field, %d x %d", s[i].m, s[i].n);
        KIT_NEAR(fabs(e.charge), charge, 1e-12);
        KIT_NEAR(e.temporal, 2 * field_of * field_of, 1e-14);
        KIT_NEAR(e.spatial, 2 * field_of * field_of, 1e-14);
        want += s[i].c * charge;
    }
    gauge_field_strength(tensor, links);
    const double clover = fabs(gauge_field_energy(tensor).charge);
    const gauge_energy improved = five_loop_energy(tensor, links, 0.05);
    printf("charge 2: clover %.9f, five loops %.9f\n", clover, fabs(improved.charge));
    KIT_NEAR(fabs(improved.charge), want, 1e-12);
    KIT_NEAR(2 - clover, 2 * f * f / 3, 1e-4);
    KIT_NEAR(fabs(improved.charge), 2, 1e-3 * (2 - clover) + 200 * pow(f, 4));
    KIT_CHECK(fabs(fabs(improved.charge) - 2) < 0.5 * (2 - clover));
    field_destroy(tensor);
    field_destroy(links);
}

/* Energy of the wave over s^2 by the coefficients: four leaves are a window of 2 m x 2 n plaquettes around the site, which multiplies
 * their amplitude, 4 s sin(p / 2), with sin(m p) sin(n p) / (4 m n sin^2(p / 2)); -tr F F is 2 F^2, and its mean F^2. */
static double wave_energy(double p, double c_5)
{
    loop_size s[FIVE_LOOP_SIZES];
    double sum = 0;
    five_loop_sizes(s, c_5);
    for (int i = 0; i < FIVE_LOOP_SIZES; i++)
        sum += s[i].c * pow(sin(s[i].m * p) * sin(s[i].n * p) / (s[i].m * s[i].n * sin(p / 2)), 2);
    return sum;
}

/* Links are integrals of a continuum wave, whose energy is p^4 s^2 / sin^2(p / 2). Errors of the improved energy are of p^6. */
static double off_by(double energy, double p)
{
    return energy * pow(sin(p / 2) / (p * p), 2) - 1;
}

static void test_wave(const lattice *lat, struct ref_lattice l)
{
    const double s = 1e-4, p = 2 * M_PI / L, small = p / 16;
    field *links = abelian(lat, l, wave_angle, s);
    field *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    gauge_field_strength(tensor, links);
    const gauge_energy clover = gauge_field_energy(tensor);
    for (int k = 0; k < 2; k++) {
        const double c_5 = k ? 0.1 : 0.05;
        const gauge_energy improved = five_loop_energy(tensor, links, c_5);
        printf("a wave of p = %.3f: clover off by %.3e, loops by %.3e\n", p, off_by(clover.spatial / s / s, p),
               off_by(improved.spatial / s / s, p));
        KIT_REL(improved.spatial / s / s, wave_energy(p, c_5), 1e-6);
        KIT_NEAR(improved.temporal, 0, 1e-18);
        KIT_CHECK(fabs(off_by(improved.spatial / s / s, p)) < 0.4 * fabs(off_by(clover.spatial / s / s, p)));
        const double off = off_by(wave_energy(small, c_5), small),
                     half = off_by(wave_energy(small / 2, c_5), small / 2);
        KIT_NEAR(off / half, 64, 2);
    }
    field_destroy(tensor);
    field_destroy(links);
}

int main(int argc, char **argv)
{
    const struct ref_lattice l = {{4, 6, 4, 4}}, even = {{L, L, L, L}};
    struct ref_rng rng;
    kit_begin(&argc, &argv);
    ref_rng_seed(&rng, 17);
    double complex *u = kit_random_gauge(l, 0.5, &rng);
    lattice *lat = kit_lattice(l, 1, -1), *cube = kit_lattice(even, 1, -1);
    if (lat) {
        field *links = kit_links(lat, u);
        test_oracle(links, l, u);
        field_destroy(links);
    }
    test_coefficients();
    if (cube) {
        test_constant(cube, even);
        test_wave(cube, even);
    }
    lattice_destroy(cube);
    lattice_destroy(lat);
    free(u);
    return kit_end();
}
