/* Geometry, loops and gauge observables for the oracles. Every loop is a walk: ref_path multiplies the links it meets.
 *
 *   plaquette   mu nu -mu -nu            rectangle   mu mu nu -mu -mu -nu
 *   clover      Q_mu_nu(x) = sum of the four plaquettes through x in the mu-nu plane, all in the same sense, each
 *               starting and ending at x; Fhat = (Q_mu_nu - Q_nu_mu)/8, and Q_nu_mu = Q_mu_nu^+
 *   parallelogram  mu nu rho -mu -nu -rho
 *   action      S = b0 sum_plaq (1 - Re tr P/3) + b1 sum_rect (1 - Re tr R/3) + b2 sum_parallelograms (1 - Re tr C/3)
 *               (M. Luescher, P. Weisz, Commun. Math. Phys. 97 (1985) 59)
 *   flow        dV/dt = Z(V) V, Z = -P(W) with W the sum of the six plaquettes that start with the link, P the
 *               traceless anti-hermitian part (that is, minus g0^2 times the derivative of the Wilson action); a step
 * is W1 = exp(Z0/4) V,  W2 = exp(8/9 Z1 - 17/36 Z0) W1,  V' = exp(3/4 Z2 - 8/9 Z1 + 17/36 Z0) W2, Zi = eps Z(Wi), from
 * M. Luescher, arXiv:1006.4518, (C.2) energy      -tr F F per plane; charge -(1/(32 pi^2)) eps tr F F, F anti-hermitian
 */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

size_t ref_volume(struct ref_lattice l)
{
    return (size_t)l.size[0] * l.size[1] * l.size[2] * l.size[3];
}

size_t ref_site(struct ref_lattice l, const int x[4])
{
    return x[0] + (size_t)l.size[0] * (x[1] + (size_t)l.size[1] * (x[2] + (size_t)l.size[2] * x[3]));
}

void ref_coordinates(int x[4], struct ref_lattice l, size_t site)
{
    for (int mu = 0; mu < 4; mu++) {
        x[mu] = (int)(site % l.size[mu]);
        site /= l.size[mu];
    }
}

size_t ref_shift(struct ref_lattice l, size_t site, int mu, int steps)
{
    int x[4], n = l.size[mu];
    ref_coordinates(x, l, site);
    x[mu] = ((x[mu] + steps) % n + n) % n;
    return ref_site(l, x);
}

int ref_parity(struct ref_lattice l, size_t site)
{
    int x[4];
    ref_coordinates(x, l, site);
    return (x[0] + x[1] + x[2] + x[3]) % 2;
}

static double complex *numbers_new(size_t n)
{
    double complex *p = calloc(n, sizeof *p);
    if (!p) {
        fprintf(stderr, "reference: no memory for %zu numbers\n", n);
        abort();
    }
    return p;
}

double complex *ref_gauge_new(struct ref_lattice l)
{
    return numbers_new(36 * ref_volume(l));
}

double complex *ref_spinor_new(struct ref_lattice l)
{
    return numbers_new(12 * ref_volume(l));
}

void ref_path(double complex m[9], struct ref_lattice l, const double complex *u, size_t site, const int *steps, int n)
{
    double complex next[9], factor[9];
    for (int i = 0; i < 9; i++) m[i] = i % 4 == 0 ? 1 : 0;
    for (int k = 0; k < n; k++) {
        if (steps[k] >= 0) {
            ref_mat_mul(next, m, u + (site * 4 + steps[k]) * 9);
            site = ref_shift(l, site, steps[k], 1);
        } else {
            int mu = REF_BACK(steps[k]);
            site = ref_shift(l, site, mu, -1);
            ref_mat_adj(factor, u + (site * 4 + mu) * 9);
            ref_mat_mul(next, m, factor);
        }
        memcpy(m, next, sizeof next);
    }
}

/* Sums of 1 - Re tr/3 over all plaquettes and all rectangles. Small terms, and long double, because numerical
 * derivatives of the action divide its rounding error by a small step. */
static long double plaquette_deficit(struct ref_lattice l, const double complex *u, const double b[2])
{
    long double sum = 0;
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++)
            for (int nu = 0; nu < mu; nu++) {
                double complex m[9];
                ref_path(m, l, u, site, (int[]){mu, nu, REF_BACK(mu), REF_BACK(nu)}, 4);
                sum += b[mu == 3] * (1 - creal(ref_mat_trace(m)) / 3);
            }
    return sum;
}

static long double rectangle_deficit(struct ref_lattice l, const double complex *u, const double b[3])
{
    long double sum = 0;
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++)
            for (int nu = 0; nu < 4; nu++) {
                if (mu == nu) continue;
                double complex m[9];
                ref_path(m, l, u, site, (int[]){mu, mu, nu, REF_BACK(mu), REF_BACK(mu), REF_BACK(nu)}, 6);
                sum += b[mu == 3 ? 2 : nu == 3 ? 1 : 0] * (1 - creal(ref_mat_trace(m)) / 3);
            }
    return sum;
}

/* Sixteen a site: along the least of its three directions forwards, along the others both ways. */
static long double parallelogram_deficit(struct ref_lattice l, const double complex *u)
{
    long double sum = 0;
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++)
            for (int nu = mu + 1; nu < 4; nu++)
                for (int rho = nu + 1; rho < 4; rho++)
                    for (int ways = 0; ways < 4; ways++) {
                        const int b = ways & 1 ? REF_BACK(nu) : nu, c = ways & 2 ? REF_BACK(rho) : rho;
                        double complex m[9];
                        ref_path(m, l, u, site, (int[]){mu, b, c, REF_BACK(mu), REF_BACK(b), REF_BACK(c)}, 6);
                        sum += 1 - creal(ref_mat_trace(m)) / 3;
                    }
    return sum;
}

double ref_plaquette(struct ref_lattice l, const double complex *u)
{
    return (double)(1 - plaquette_deficit(l, u, (double[]){1, 1}) / (6 * ref_volume(l)));
}

double ref_rectangle(struct ref_lattice l, const double complex *u)
{
    return (double)(1 - rectangle_deficit(l, u, (double[]){1, 1, 1}) / (12 * ref_volume(l)));
}

double ref_link_trace(struct ref_lattice l, const double complex *u)
{
    double sum = 0;
    for (size_t k = 0; k < 4 * ref_volume(l); k++) sum += creal(ref_mat_trace(u + 9 * k)) / 3;
    return sum / (4.0 * ref_volume(l));
}

double complex ref_polyakov(struct ref_lattice l, const double complex *u)
{
    size_t space = ref_volume(l) / l.size[3];
    double complex sum = 0;
    for (size_t site = 0; site < space; site++) { /* these are the sites with t = 0 */
        double complex product[9], next[9];
        memcpy(product, u + (site * 4 + 3) * 9, sizeof product);
        for (int t = 1; t < l.size[3]; t++) {
            ref_mat_mul(next, product, u + (ref_shift(l, site, 3, t) * 4 + 3) * 9);
            memcpy(product, next, sizeof next);
        }
        sum += ref_mat_trace(product) / 3;
    }
    return sum / (double)space;
}

/* sum += products of the links along all orders of the steps of v that are left, which begin at site; returns their number. */
static int add_paths(double complex sum[9], struct ref_lattice l, const double complex *u, size_t site,
                     const int left[3], const double complex before[9])
{
    int paths = 0;
    if (!left[0] && !left[1] && !left[2]) {
        for (int i = 0; i < 9; i++) sum[i] += before[i];
        return 1;
    }
    for (int d = 0; d < 3; d++) {
        double complex link[9], next[9];
        int rest[3] = {left[0], left[1], left[2]};
        if (!left[d]) continue;
        const int step = left[d] > 0 ? 1 : -1;
        rest[d] -= step;
        ref_path(link, l, u, site, (int[]){step > 0 ? d : REF_BACK(d)}, 1);
        ref_mat_mul(next, before, link);
        paths += add_paths(sum, l, u, ref_shift(l, site, d, step), rest, next);
    }
    return paths;
}

/* Mean of the paths along n v from site; *end is where they lead. */
static void mean_path(double complex path[9], size_t *end, struct ref_lattice l, const double complex *u, size_t site,
                      const int v[3], int n)
{
    double complex one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(path, one, sizeof one);
    for (int k = 0; k < n; k++) {
        double complex sum[9] = {0}, next[9];
        const int paths = add_paths(sum, l, u, site, v, one);
        for (int i = 0; i < 9; i++) sum[i] /= paths;
        ref_mat_mul(next, path, sum);
        memcpy(path, next, sizeof next);
        for (int d = 0; d < 3; d++) site = ref_shift(l, site, d, v[d]);
    }
    *end = site;
}

double ref_wilson_loop(struct ref_lattice l, const double complex *u, const int v[3], int n, int nu, int t)
{
    double sum = 0;
    int up[64];
    for (int i = 0; i < t; i++) up[i] = nu;
    for (size_t site = 0; site < ref_volume(l); site++) {
        double complex lower[9], upper[9], near[9], far[9], a[9], b[9];
        size_t end, other;
        mean_path(lower, &end, l, u, site, v, n);
        mean_path(upper, &other, l, u, ref_shift(l, site, nu, t), v, n);
        ref_path(near, l, u, site, up, t);
        ref_path(far, l, u, end, up, t);
        ref_mat_mul(a, lower, far);
        ref_mat_mul(b, near, upper);
        for (int i = 0; i < 9; i++) sum += creal(a[i] * conj(b[i])) / 3;
    }
    return sum / (double)ref_volume(l);
}

double ref_gauge_action(struct ref_lattice l, const double complex *u, double b0, double b1, double b2)
{
    long double s = b0 * plaquette_deficit(l, u, (double[]){1, 1});
    if (b1 != 0) s += b1 * rectangle_deficit(l, u, (double[]){1, 1, 1});
    if (b2 != 0) s += b2 * parallelogram_deficit(l, u);
    return (double)s;
}

double ref_gauge_action_anisotropic(struct ref_lattice l, const double complex *u, const double b0[2],
                                    const double b1[3])
{
    return (double)(plaquette_deficit(l, u, b0) + rectangle_deficit(l, u, b1));
}

static double action_moved(double complex *u, size_t link, int a, double omega, ref_action action, void *ctx)
{
    double complex old[9], t[9], move[9];
    memcpy(old, u + 9 * link, sizeof old);
    ref_generator(t, a);
    for (int i = 0; i < 9; i++) t[i] *= omega;
    ref_mat_exp(move, t);
    ref_mat_mul(u + 9 * link, move, old);
    double s = action(u, ctx);
    memcpy(u + 9 * link, old, sizeof old);
    return s;
}

double ref_derivative2(double complex *u, size_t site, int mu, int a, double h, ref_action action, void *ctx)
{
    size_t link = site * 4 + mu;
    double up = action_moved(u, link, a, h, action, ctx), down = action_moved(u, link, a, -h, action, ctx);
    return (up - down) / (2 * h);
}

double ref_derivative(double complex *u, size_t site, int mu, int a, double h, ref_action action, void *ctx)
{
    double near = ref_derivative2(u, site, mu, a, h, action, ctx);
    double far = ref_derivative2(u, site, mu, a, 2 * h, action, ctx);
    return (4 * near - far) / 3;
}

void ref_field_strength(double complex f[9], struct ref_lattice l, const double complex *u, size_t site, int mu, int nu)
{
    const int bmu = REF_BACK(mu), bnu = REF_BACK(nu);
    const int leaf[4][4] = {{mu, nu, bmu, bnu}, {nu, bmu, bnu, mu}, {bmu, bnu, mu, nu}, {bnu, mu, nu, bmu}};
    double complex q[9] = {0}, q_adj[9], m[9];
    for (int k = 0; k < 4; k++) {
        ref_path(m, l, u, site, leaf[k], 4);
        for (int i = 0; i < 9; i++) q[i] += m[i];
    }
    ref_mat_adj(q_adj, q);
    for (int i = 0; i < 9; i++) f[i] = (q[i] - q_adj[i]) / 8;
}

static double trace_of_product(const double complex a[9], const double complex b[9])
{
    double complex m[9];
    ref_mat_mul(m, a, b);
    return creal(ref_mat_trace(m));
}

struct ref_energy ref_clover_energy(struct ref_lattice l, const double complex *u, int traceless)
{
    struct ref_energy e = {0, 0, 0};
    double volume = (double)ref_volume(l);
    for (size_t site = 0; site < ref_volume(l); site++) {
        double complex f[4][4][9];
        for (int mu = 0; mu < 4; mu++)
            for (int nu = mu + 1; nu < 4; nu++) {
                ref_field_strength(f[mu][nu], l, u, site, mu, nu);
                if (traceless) ref_mat_antihermitian(f[mu][nu], f[mu][nu]);
                double energy = -trace_of_product(f[mu][nu], f[mu][nu]);
                *(nu == 3 ? &e.e_t : &e.e_s) += energy / volume;
            }
        /* The 24 permutations fall into three pairs of planes with 8 equal terms each. */
        double dual = trace_of_product(f[0][1], f[2][3]) - trace_of_product(f[0][2], f[1][3]) +
                      trace_of_product(f[0][3], f[1][2]);
        e.q -= 8 * dual / (32 * pi * pi);
    }
    return e;
}

/* sum += weight times the product of links around the loop. */
static void add_loop(double complex sum[9], struct ref_lattice l, const double complex *u, size_t site,
                     const int *steps, int n, double weight)
{
    double complex m[9];
    if (weight == 0) return;
    ref_path(m, l, u, site, steps, n);
    for (int i = 0; i < 9; i++) sum[i] += weight * m[i];
}

/* z += (U z(x+mu) U^+ + U^+ z(x-mu) U - 2 z) / 12, of all links. */
static void correct_slope(double complex *z, struct ref_lattice l, const double complex *u)
{
    const size_t bytes = 36 * ref_volume(l) * sizeof *z;
    double complex *old = ref_gauge_new(l);
    memcpy(old, z, bytes);
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++) {
            const size_t up = ref_shift(l, site, mu, 1), down = ref_shift(l, site, mu, -1), at = 4 * site + (size_t)mu;
            double complex link[9], adj[9], m[9], r[9];
            ref_path(link, l, u, site, (int[]){mu}, 1);
            ref_path(adj, l, u, up, (int[]){REF_BACK(mu)}, 1);
            ref_mat_mul(m, link, old + 9 * (4 * up + (size_t)mu));
            ref_mat_mul(r, m, adj);
            for (int i = 0; i < 9; i++) z[9 * at + (size_t)i] += (r[i] - 2 * old[9 * at + (size_t)i]) / 12;
            ref_path(link, l, u, down, (int[]){mu}, 1);
            ref_path(adj, l, u, site, (int[]){REF_BACK(mu)}, 1);
            ref_mat_mul(m, adj, old + 9 * (4 * down + (size_t)mu));
            ref_mat_mul(r, m, link);
            for (int i = 0; i < 9; i++) z[9 * at + (size_t)i] += r[i] / 12;
        }
    free(old);
}

static void flow_slope(double complex *z, struct ref_lattice l, const double complex *u, double eps, double xi,
                       double c1, int zeuthen)
{
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++) {
            const int b = REF_BACK(mu);
            double complex w[9] = {0}, *out = z + (site * 4 + mu) * 9;
            for (int nu = 0; nu < 4; nu++) {
                const double by = nu == 3 ? xi * xi : 1; /* xi^2 of the action over that of the link */
                for (int side = 0; side < 2 && nu != mu; side++) {
                    const int n = side ? REF_BACK(nu) : nu, m = side ? nu : REF_BACK(nu);
                    add_loop(w, l, u, site, (int[]){mu, n, b, m}, 4, by * (1 - 8 * c1));
                    add_loop(w, l, u, site, (int[]){mu, n, n, b, m, m}, 6, by * c1);
                    add_loop(w, l, u, site, (int[]){mu, mu, n, b, b, m}, 6, by * c1);
                    add_loop(w, l, u, site, (int[]){mu, n, b, b, m, mu}, 6, by * c1);
                }
            }
            ref_mat_antihermitian(out, w);
            for (int i = 0; i < 9; i++) out[i] *= -eps;
        }
    if (zeuthen) correct_slope(z, l, u);
}

void ref_flow_step(double complex *u, struct ref_lattice l, double eps, double xi)
{
    ref_flow_step_of(u, l, eps, xi, 0, 0);
}

void ref_flow_step_of(double complex *u, struct ref_lattice l, double eps, double xi, double c1, int zeuthen)
{
    const double weight[3][3] = {
        {1.0 / 4, 0, 0}, {-17.0 / 36, 8.0 / 9, 0}, {17.0 / 36, -8.0 / 9, 3.0 / 4}}; /* [stage][slope] */
    double complex *z[3];
    for (int k = 0; k < 3; k++) z[k] = ref_gauge_new(l);
    for (int stage = 0; stage < 3; stage++) {
        flow_slope(z[stage], l, u, eps, xi, c1, zeuthen);
        for (size_t link = 0; link < 4 * ref_volume(l); link++) {
            double complex sum[9] = {0}, move[9], old[9];
            for (int k = 0; k <= stage; k++)
                for (int i = 0; i < 9; i++) sum[i] += weight[stage][k] * z[k][9 * link + i];
            ref_mat_exp(move, sum);
            memcpy(old, u + 9 * link, sizeof old);
            ref_mat_mul(u + 9 * link, move, old);
        }
    }
    for (int k = 0; k < 3; k++) free(z[k]);
}

/* ---- open ends in time ---- */

void ref_open_time(double complex *u, struct ref_lattice l, int idle)
{
    for (size_t site = 0; site < ref_volume(l); site++) {
        int x[4];
        ref_coordinates(x, l, site);
        const int last = l.size[3] - 1 - idle;
        if (x[3] == last) memset(u + (4 * site + 3) * 9, 0, 9 * sizeof *u);
        if (x[3] > last) memset(u + 36 * site, 0, 36 * sizeof *u);
    }
}

/* Factor of loops from slice t to slice t + height: of the end that they touch. */
static double at_ends(const double factor[2], double rest, int last, int t, int height)
{
    return t == 0 ? factor[0] : t + height == last ? factor[1] : rest;
}

/* 1 - Re tr / 3 of the loop with so many links along mu and one along nu, run through `times` times, times its factor. */
static double open_deficit(struct ref_lattice l, const double complex *u, size_t site, int mu, int links, int nu,
                           int times, const struct ref_ends *e)
{
    int x[4], steps[12], n = 0;
    double complex m[9];
    ref_coordinates(x, l, site);
    const int height = mu == 3 ? links : nu == 3 ? 1 : 0, last = l.size[3] - 1 - e->idle;
    if (x[3] + height > last) return 0;
    for (int turn = 0; turn < times; turn++) {
        for (int i = 0; i < links; i++) steps[n++] = mu;
        steps[n++] = nu;
        for (int i = 0; i < links; i++) steps[n++] = REF_BACK(mu);
        steps[n++] = REF_BACK(nu);
    }
    ref_path(m, l, u, site, steps, n);
    const double *const of_height[3] = {e->space, times == 2 ? e->twice : links == 1 ? e->time : e->along, NULL};
    const double factor = height == 2 ? 1 : at_ends(of_height[height], times == 2 ? 0 : 1, last, x[3], height);
    return factor * (1 - creal(ref_mat_trace(m)) / 3);
}

double ref_gauge_action_open(struct ref_lattice l, const double complex *u, double b0, double b1,
                             const struct ref_ends *e)
{
    long double plaquettes = 0, rectangles = 0;
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++)
            for (int nu = 0; nu < 4; nu++) {
                if (nu == mu) continue;
                if (nu > mu) plaquettes += open_deficit(l, u, site, mu, 1, nu, 1, e);
                if (nu == 3) rectangles += open_deficit(l, u, site, mu, 1, nu, 2, e);
                rectangles += open_deficit(l, u, site, mu, 2, nu, 1, e);
            }
    return (double)(b0 * plaquettes + b1 * rectangles);
}
