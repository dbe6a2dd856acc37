/* Correlators of staggered mesons, slowly: operators from traces of gamma matrices (H. Kluberg-Stern, A. Morel, O.
 * Napoly and B. Petersson, Nucl. Phys. B220 (1983) 447), all paths of links written out, and propagators from both ends
 * by solves of their own, so that nothing is taken from G(s', s) = eps(s) eps(s') G(s, s')^dagger. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex gamma_matrix[4][4];

static void multiply(gamma_matrix c, gamma_matrix a, gamma_matrix b)
{
    gamma_matrix r;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            r[i][j] = 0;
            for (int k = 0; k < 4; k++) r[i][j] += a[i][k] * b[k][j];
        }
    memcpy(c, r, sizeof r);
}

static void adjoint(gamma_matrix c, gamma_matrix a)
{
    gamma_matrix r;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) r[i][j] = conj(a[j][i]);
    memcpy(c, r, sizeof r);
}

/* The product of gamma_t^n_t gamma_x^n_x gamma_y^n_y gamma_z^n_z, in this order; n: of x, y, z, t. */
static void product(gamma_matrix c, const int n[4])
{
    static const int order[4] = {3, 0, 1, 2};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[i][j] = i == j;
    for (int k = 0; k < 4; k++) {
        gamma_matrix g;
        memcpy(g, ref_gamma[order[k]], sizeof g);
        if (n[order[k]] % 2) multiply(c, c, g);
    }
}

static void bits(int n[4], int mask)
{
    for (int d = 0; d < 4; d++) n[d] = mask >> d & 1;
}

/* tr Gamma_s^+ spin Gamma_s' taste^+ / 4 */
static double phase(struct ref_lattice l, size_t s, size_t to, gamma_matrix spin, gamma_matrix taste)
{
    int x[4];
    gamma_matrix a, b;
    double complex trace = 0;
    ref_coordinates(x, l, s);
    product(a, x);
    adjoint(a, a);
    multiply(a, a, spin);
    ref_coordinates(x, l, to);
    product(b, x);
    multiply(a, a, b);
    adjoint(b, taste);
    multiply(a, a, b);
    for (int i = 0; i < 4; i++) trace += a[i][i];
    return creal(trace) / 4;
}

/* One path of the operator that leads from site s: to a site, with a matrix. */
typedef struct {
    size_t to;
    double complex m[9];
} term;
enum { MOST_TERMS = 48 };

/* All of them, of as many links as spin and taste differ in; returns how many. */
static int terms_of(term *out, const struct ref_staggered *q, size_t s, gamma_matrix spin, gamma_matrix taste,
                    const int *links, int nlinks)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int counts[4] = {1, 1, 2, 6};
    int n = 0;
    for (int order = 0; order < counts[nlinks]; order++)
        for (int signs = 0; signs < 1 << nlinks; signs++, n++) {
            int steps[3];
            out[n].to = s;
            for (int k = 0; k < nlinks; k++) {
                const int d = links[orders[order][k]], back = signs >> k & 1;
                steps[k] = back ? REF_BACK(d) : d;
                out[n].to = ref_shift(q->l, out[n].to, d, back ? -1 : 1);
            }
            ref_path(out[n].m, q->l, q->u, s, steps, nlinks);
            const double weight = phase(q->l, s, out[n].to, spin, taste) / (counts[nlinks] * (1 << nlinks));
            for (int i = 0; i < 9; i++) out[n].m[i] *= weight;
        }
    return n;
}

/* ---- propagators ---- */

static void apply(double complex *out, const double complex *in, const struct ref_staggered *q, double sign)
{
    ref_staggered_hop(out, in, q->l, q->fat, q->lng);
    for (size_t i = 0; i < 3 * ref_volume(q->l); i++) out[i] = q->mass * in[i] + sign * out[i] / 2;
}

static void normal(double complex *out, const double complex *in, void *ctx)
{
    const struct ref_staggered *q = ctx;
    double complex *once = malloc(3 * ref_volume(q->l) * sizeof *once);
    apply(once, in, q, 1);
    apply(out, once, q, -1);
    free(once);
}

void ref_staggered_solve(double complex *x, const double complex *b, const struct ref_staggered *q, int dagger)
{
    const size_t n = 3 * ref_volume(q->l);
    double complex *half = malloc(n * sizeof *half);
    if (ref_cg(half, b, n, normal, (void *)q, 1e-14, 100000) < 0) abort();
    apply(x, half, q, dagger ? 1 : -1);
    free(half);
}

/* G(., s) or the complex conjugate of G(s, .), of a colour at s. */
static void from_site(double complex *x, const struct ref_staggered *q, size_t s, int colour, int dagger)
{
    const size_t n = 3 * ref_volume(q->l);
    double complex *point = calloc(n, sizeof *point);
    point[3 * s + (size_t)colour] = 1;
    ref_staggered_solve(x, point, q, dagger);
    free(point);
}

void ref_staggered_meson(double *c, const struct ref_staggered *q, int spin_mask, int taste_mask)
{
    const size_t v = ref_volume(q->l), n = 3 * v;
    gamma_matrix spin, taste, other_spin, other_taste, gamma_t;
    int set[4], links[4], nlinks = 0, x[4];
    for (int d = 0; d < 4; d++)
        if ((spin_mask ^ taste_mask) >> d & 1) links[nlinks++] = d;
    bits(set, spin_mask);
    product(spin, set);
    bits(set, taste_mask);
    product(taste, set);
    /* The adjoint of psibar Gamma psi is psibar gamma_t Gamma^+ gamma_t psi. */
    memcpy(gamma_t, ref_gamma[3], sizeof gamma_t);
    adjoint(other_spin, spin);
    multiply(other_spin, gamma_t, other_spin);
    multiply(other_spin, other_spin, gamma_t);
    adjoint(other_taste, taste);
    double complex *column = malloc(3 * n * sizeof *column), *row = malloc(n * sizeof *row);
    double complex *back = calloc(9 * v, sizeof *back); /* sum_w O(source, w) G(w, s) */
    for (int i = 0; i < 3; i++) from_site(column + (size_t)i * n, q, q->source, i, 0);
    term terms[MOST_TERMS];
    const int nsource = terms_of(terms, q, q->source, other_spin, other_taste, links, nlinks);
    for (size_t w = 0; w < v; w++) {
        double complex m[9] = {0};
        int used = 0;
        for (int k = 0; k < nsource; k++)
            if (terms[k].to == w) {
                used = 1;
                for (int i = 0; i < 9; i++) m[i] += terms[k].m[i];
            }
        for (int b = 0; b < 3 && used; b++) {
            from_site(row, q, w, b, 1);
            for (size_t s = 0; s < v; s++)
                for (int a = 0; a < 3; a++)
                    for (int e = 0; e < 3; e++)
                        back[9 * s + (size_t)(3 * a + e)] += m[3 * a + b] * conj(row[3 * s + (size_t)e]);
        }
    }
    ref_coordinates(x, q->l, q->source);
    const int start = x[3], time = q->l.size[3];
    for (int t = 0; t < time; t++) c[t] = 0;
    for (size_t s = 0; s < v; s++) {
        double complex sum = 0;
        const int nsink = terms_of(terms, q, s, spin, taste, links, nlinks);
        for (int k = 0; k < nsink; k++)
            for (int e = 0; e < 3; e++)
                for (int f = 0; f < 3; f++)
                    for (int a = 0; a < 3; a++)
                        sum += terms[k].m[3 * e + f] * column[(size_t)a * n + 3 * terms[k].to + (size_t)f] *
                               back[9 * s + (size_t)(3 * a + e)];
        ref_coordinates(x, q->l, s);
        c[(x[3] - start + time) % time] -= creal(sum);
    }
    free(back);
    free(row);
    free(column);
}
