/* HEX, HYP and APE links by their definitions. Links are made by recursion: those of a level in a direction, smeared in no
 * plane with one of the directions that are excluded, are made of thin links and of staples of links of the next level, of
 * which the side's direction is excluded across, and the link's direction at the sides (hep-lat/0103029, eqs. (3) to (5)).
 *
 * Projection: the largest Re tr(w^+ v) by SU(2) subgroups, one after the other, until nothing changes; from the unitary
 * part of v without the phase of its determinant, times each cube root of one, because there may be several maxima. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

/* w = g w with the g in the SU(2) of rows i and j that makes Re tr(w^+ v) largest; returns how far g is from 1. */
static double subgroup(double complex w[9], const double complex v[9], int i, int j)
{
    double complex d[9], m[9], rows[6];
    ref_mat_adj(d, w);
    ref_mat_mul(m, v, d);
    double complex a = m[4 * i] + conj(m[4 * j]), b = m[3 * i + j] - conj(m[3 * j + i]);
    const double size = sqrt(creal(a * conj(a) + b * conj(b)));
    if (size < DBL_MIN) return 0;
    a /= size;
    b /= size;
    for (int k = 0; k < 3; k++) {
        rows[k] = a * w[3 * i + k] + b * w[3 * j + k];
        rows[3 + k] = conj(a) * w[3 * j + k] - conj(b) * w[3 * i + k];
    }
    memcpy(w + 3 * i, rows, sizeof rows / 2);
    memcpy(w + 3 * j, rows + 3, sizeof rows / 2);
    return cabs(a - 1) + cabs(b);
}

static double complex determinant(const double complex m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

void ref_project_su3(double complex w[9], const double complex v[9])
{
    double complex start[9], now[9], d[9], m[9];
    double best = -HUGE_VAL;
    ref_project_u3(start, v);
    const double phase = carg(determinant(start));
    for (int root = -1; root <= 1; root++) {
        for (int i = 0; i < 9; i++) now[i] = start[i] * cexp(-I * (phase + 2 * acos(-1) * root) / 3);
        for (int sweep = 0; sweep < 20000; sweep++)
            if (subgroup(now, v, 0, 1) + subgroup(now, v, 0, 2) + subgroup(now, v, 1, 2) < 1e-15) break;
        ref_mat_adj(d, now);
        ref_mat_mul(m, d, v);
        if (creal(ref_mat_trace(m)) <= best) continue;
        best = creal(ref_mat_trace(m));
        memcpy(w, now, sizeof now);
    }
}

/* ---- links from thin ones and staples ---- */

/* What a smearing does with the thin link u and the sum of its staples, each times weight: own * u + sum projected, or
 * with own < 0 the exponential. */
static void finish(double complex *out, const double complex *u, const double complex sum[9], double own)
{
    double complex m[9], d[9];
    if (own < 0) {
        ref_mat_adj(d, u);
        ref_mat_mul(m, sum, d);
        ref_mat_antihermitian(m, m);
        ref_mat_exp(m, m);
        ref_mat_mul(out, m, u);
        return;
    }
    for (int i = 0; i < 9; i++) m[i] = own * u[i] + sum[i];
    ref_project_su3(out, m);
}

/* sum += weight times both staples at the site, of fields [site][9] of one direction each. */
static void add_staples(double complex sum[9], struct ref_lattice l, const double complex *side,
                        const double complex *across, size_t site, int mu, int nu, double weight)
{
    const size_t below = ref_shift(l, site, nu, -1), up = ref_shift(l, site, nu, 1);
    double complex d[9], m[9], r[9];
    ref_mat_adj(d, side + 9 * ref_shift(l, site, mu, 1));
    ref_mat_mul(m, side + 9 * site, across + 9 * up);
    ref_mat_mul(r, m, d);
    for (int i = 0; i < 9; i++) sum[i] += weight * r[i];
    ref_mat_adj(d, side + 9 * below);
    ref_mat_mul(m, d, across + 9 * below);
    ref_mat_mul(r, m, side + 9 * ref_shift(l, below, mu, 1));
    for (int i = 0; i < 9; i++) sum[i] += weight * r[i];
}

struct smearing {
    struct ref_lattice l;
    const double complex *u;
    const double *alpha;
    int exponential;
};

/* Links mu of the level, which has smeared no plane with a direction of the set `excluded`; level 4 has the thin ones. */
static double complex *level_links(const struct smearing *s, int level, int mu, unsigned excluded)
{
    const size_t v = ref_volume(s->l);
    const double alpha = level < 4 ? s->alpha[level - 1] : 0;
    double complex *out = malloc(9 * v * sizeof *out), *sum = calloc(9 * v, sizeof *sum);
    if (!out || !sum) abort();
    for (int nu = 0; level < 4 && nu < 4; nu++) {
        if (nu == mu || (excluded >> nu & 1)) continue;
        double complex *side = level_links(s, level + 1, nu, excluded | 1u << mu);
        double complex *across = level_links(s, level + 1, mu, excluded | 1u << nu);
        for (size_t site = 0; site < v; site++)
            add_staples(sum + 9 * site, s->l, side, across, site, mu, nu, alpha / (8 - 2 * level));
        free(side);
        free(across);
    }
    for (size_t site = 0; site < v; site++) {
        const double complex *u = s->u + 9 * (4 * site + (size_t)mu);
        if (level == 4) memcpy(out + 9 * site, u, 9 * sizeof *u);
        else finish(out + 9 * site, u, sum + 9 * site, s->exponential ? -1 : 1 - alpha);
    }
    free(sum);
    return out;
}

static void hypercubic(double complex *out, const struct smearing *s, int in_space)
{
    memcpy(out, s->u, 36 * ref_volume(s->l) * sizeof *out);
    for (int mu = 0; mu < (in_space ? 3 : 4); mu++) {
        double complex *links = level_links(s, in_space ? 2 : 1, mu, in_space ? 1u << 3 : 0);
        for (size_t site = 0; site < ref_volume(s->l); site++)
            memcpy(out + 9 * (4 * site + (size_t)mu), links + 9 * site, 9 * sizeof *out);
        free(links);
    }
}

void ref_hex(double complex *out, struct ref_lattice l, const double complex *u, const double alpha[3], int in_space)
{
    hypercubic(out, &(struct smearing){l, u, alpha, 1}, in_space);
}

void ref_hyp(double complex *out, struct ref_lattice l, const double complex *u, const double alpha[3], int in_space)
{
    hypercubic(out, &(struct smearing){l, u, alpha, 0}, in_space);
}

void ref_ape(double complex *out, struct ref_lattice l, const double complex *u, double own, int in_space)
{
    const int directions = in_space ? 3 : 4;
    memcpy(out, u, 36 * ref_volume(l) * sizeof *out);
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < directions; mu++) {
            double complex sum[9] = {0}, m[9];
            for (int nu = 0; nu < directions; nu++) {
                const int staples[2][3] = {{nu, mu, REF_BACK(nu)}, {REF_BACK(nu), mu, nu}};
                for (int side = 0; nu != mu && side < 2; side++) {
                    ref_path(m, l, u, site, staples[side], 3);
                    for (int i = 0; i < 9; i++) sum[i] += m[i];
                }
            }
            const size_t link = 4 * site + (size_t)mu;
            finish(out + 9 * link, u + 9 * link, sum, own);
        }
}
