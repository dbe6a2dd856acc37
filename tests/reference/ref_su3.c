/* 3x3 matrices, SU(3) and plain random numbers for the oracles.
 *
 * Exponential: exp(A) = (exp(A/2^s))^(2^s), s such that the largest entry of A/2^s is below 1/8, and Taylor's series to
 * order 20 (remainder below 1e-25 there). Projection: P(A) = (A - A^+)/2 - tr(A - A^+)/6.
 * Generators: T_a = (i/2) lambda_a with the Gell-Mann matrices, a counted from 0.
 * Random SU(3): two rows of normal complex numbers made orthonormal (Gram-Schmidt keeps the Haar measure), the third
 * row their conjugate cross product.
 * Random numbers: xorshift64* (Marsaglia's xorshift with shifts 12, 25, 27 and a final multiplication), Box-Muller. */
#include "reference.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void ref_mat_mul(double complex c[9], const double complex a[9], const double complex b[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double complex s = 0;
            for (int k = 0; k < 3; k++) s += a[3 * i + k] * b[3 * k + j];
            c[3 * i + j] = s;
        }
}

void ref_mat_adj(double complex c[9], const double complex a[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) c[3 * i + j] = conj(a[3 * j + i]);
}

double complex ref_mat_trace(const double complex a[9])
{
    return a[0] + a[4] + a[8];
}

static void mat_one(double complex c[9])
{
    for (int i = 0; i < 9; i++) c[i] = i % 4 == 0 ? 1 : 0;
}

void ref_mat_exp(double complex c[9], const double complex a[9])
{
    double largest = 0;
    for (int i = 0; i < 9; i++) largest = fmax(largest, cabs(a[i]));
    int s = 0;
    while (ldexp(largest, -s) > 0.125) s++;

    double complex small[9], term[9], sum[9], next[9];
    for (int i = 0; i < 9; i++) small[i] = ldexp(1.0, -s) * a[i];
    mat_one(term);
    mat_one(sum);
    for (int n = 1; n <= 20; n++) {
        ref_mat_mul(next, term, small);
        for (int i = 0; i < 9; i++) {
            term[i] = next[i] / n;
            sum[i] += term[i];
        }
    }
    for (int k = 0; k < s; k++) {
        ref_mat_mul(next, sum, sum);
        memcpy(sum, next, sizeof sum);
    }
    memcpy(c, sum, sizeof sum);
}

void ref_mat_antihermitian(double complex c[9], const double complex a[9])
{
    double complex d[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) d[3 * i + j] = 0.5 * (a[3 * i + j] - conj(a[3 * j + i]));
    double complex third = ref_mat_trace(d) / 3;
    for (int i = 0; i < 9; i++) c[i] = i % 4 == 0 ? d[i] - third : d[i];
}

void ref_generator(double complex c[9], int a)
{
    const double r = 1 / sqrt(3.0);
    for (int i = 0; i < 9; i++) c[i] = 0;
    switch (a) { /* Gell-Mann lambda_1 .. lambda_8 */
    case 0: c[1] = 1, c[3] = 1; break;
    case 1: c[1] = -I, c[3] = I; break;
    case 2: c[0] = 1, c[4] = -1; break;
    case 3: c[2] = 1, c[6] = 1; break;
    case 4: c[2] = -I, c[6] = I; break;
    case 5: c[5] = 1, c[7] = 1; break;
    case 6: c[5] = -I, c[7] = I; break;
    case 7: c[0] = r, c[4] = r, c[8] = -2 * r; break;
    }
    for (int i = 0; i < 9; i++) c[i] *= 0.5 * I;
}

double ref_unitarity_error(const double complex *u, size_t matrices)
{
    double worst = 0;
    for (size_t k = 0; k < matrices; k++) {
        const double complex *m = u + 9 * k;
        double complex adj[9], product[9];
        ref_mat_adj(adj, m);
        ref_mat_mul(product, m, adj);
        for (int i = 0; i < 9; i++) worst = fmax(worst, cabs(product[i] - (i % 4 == 0 ? 1 : 0)));
        double complex det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                             m[2] * (m[3] * m[7] - m[4] * m[6]);
        worst = fmax(worst, cabs(det - 1));
    }
    return worst;
}

static uint64_t rng_next(struct ref_rng *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * UINT64_C(0x2545F4914F6CDD1D);
}

void ref_rng_seed(struct ref_rng *r, uint64_t seed)
{
    /* The state 0 is a fixed point, and neighbouring seeds start out alike: spread the seed, then run warm. */
    r->state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    if (r->state == 0) r->state = 1;
    for (int i = 0; i < 16; i++) rng_next(r);
}

double ref_uniform(struct ref_rng *r)
{
    return ((double)(rng_next(r) >> 12) + 0.5) / 4503599627370496.0; /* 52 bits and a half: never 0, never 1 */
}

double ref_normal(struct ref_rng *r)
{
    double radius = sqrt(-2 * log(ref_uniform(r)));
    return radius * cos(2 * pi * ref_uniform(r));
}

void ref_random_spinor(double complex *psi, size_t numbers, struct ref_rng *r)
{
    for (size_t i = 0; i < numbers; i++) {
        double re = ref_normal(r), im = ref_normal(r);
        psi[i] = re + I * im;
    }
}

static void row_normalise(double complex v[3])
{
    double norm = 0;
    for (int i = 0; i < 3; i++) norm += creal(v[i] * conj(v[i]));
    for (int i = 0; i < 3; i++) v[i] /= sqrt(norm);
}

void ref_random_su3(double complex m[9], struct ref_rng *r)
{
    double complex *a = m, *b = m + 3, *c = m + 6;
    ref_random_spinor(m, 6, r);
    row_normalise(a);
    double complex overlap = 0;
    for (int i = 0; i < 3; i++) overlap += conj(a[i]) * b[i];
    for (int i = 0; i < 3; i++) b[i] -= overlap * a[i];
    row_normalise(b);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = conj(a[j] * b[k] - a[k] * b[j]);
    }
}

void ref_random_su3_near_one(double complex m[9], double scale, struct ref_rng *r)
{
    double complex sum[9] = {0}, t[9];
    for (int a = 0; a < 8; a++) {
        double n = ref_normal(r);
        ref_generator(t, a);
        for (int i = 0; i < 9; i++) sum[i] += scale * n * t[i];
    }
    ref_mat_exp(m, sum);
}

void ref_unit_gauge(double complex *u, struct ref_lattice l)
{
    for (size_t k = 0; k < 4 * ref_volume(l); k++) mat_one(u + 9 * k);
}

void ref_random_gauge(double complex *u, struct ref_lattice l, struct ref_rng *r)
{
    for (size_t k = 0; k < 4 * ref_volume(l); k++) ref_random_su3(u + 9 * k, r);
}

void ref_weak_gauge(double complex *u, struct ref_lattice l, double scale, struct ref_rng *r)
{
    for (size_t k = 0; k < 4 * ref_volume(l); k++) ref_random_su3_near_one(u + 9 * k, scale, r);
}

void ref_random_rotation(double complex *g, struct ref_lattice l, struct ref_rng *r)
{
    for (size_t k = 0; k < ref_volume(l); k++) ref_random_su3(g + 9 * k, r);
}

void ref_rotate_gauge(double complex *u, struct ref_lattice l, const double complex *g)
{
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++) {
            double complex *link = u + (site * 4 + mu) * 9, left[9], adj[9];
            ref_mat_mul(left, g + 9 * site, link);
            ref_mat_adj(adj, g + 9 * ref_shift(l, site, mu, 1));
            ref_mat_mul(link, left, adj);
        }
}

void ref_rotate_spinor(double complex *psi, struct ref_lattice l, const double complex *g)
{
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int spin = 0; spin < 4; spin++) {
            double complex *v = psi + (site * 4 + spin) * 3, old[3] = {v[0], v[1], v[2]};
            for (int i = 0; i < 3; i++) {
                v[i] = 0;
                for (int j = 0; j < 3; j++) v[i] += g[9 * site + 3 * i + j] * old[j];
            }
        }
}
