/* Staggered quarks, slowly: every path of the fat links is written out, the projection to U(3) is by Higham's
 * iteration, phases and boundary are counted step by step.
 *
 * Coefficients of the paths of 1, 3, 5, 7 links, Lepage's and Naik's: asqtad (K. Orginos, D. Toussaint and R. Sugar,
 * hep-lat/9903032) and HISQ (E. Follana et al., hep-lat/0610092), without the signs that phases in the links bring. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ref_staggered_sign(struct ref_lattice l, size_t site, int mu, int steps, int bc)
{
    int x[4], sign = 1;
    ref_coordinates(x, l, site);
    for (int k = 0; k < steps; k++) {
        int before = mu == 0 ? x[3] : mu == 1 ? x[3] + x[0] : mu == 2 ? x[3] + x[0] + x[1] : 0;
        if (before % 2) sign = -sign;
        x[mu] = (x[mu] + 1) % l.size[mu];
        if (mu == 3 && x[3] == 0) sign *= bc;
    }
    return sign;
}

static void add(double complex m[9], double c, struct ref_lattice l, const double complex *u, size_t site,
                const int *steps, int n)
{
    double complex p[9];
    ref_path(p, l, u, site, steps, n);
    for (int i = 0; i < 9; i++) m[i] += c * p[i];
}

/* A step along direction d, forwards or backwards. */
static int step(int d, int back)
{
    return back ? REF_BACK(d) : d;
}

/* The link mu of a site: all paths that go out along `depth` further directions, each either way, and come back. */
static void add_detours(double complex m[9], double c, struct ref_lattice l, const double complex *u, size_t site,
                        int mu, int depth)
{
    int d[3], s[3];
    for (int code = 0; code < 512; code++) {
        int fits = 1, rest = code, steps[7];
        for (int k = 0; k < 3; k++, rest /= 8) {
            d[k] = rest % 8 / 2;
            s[k] = rest % 2;
            if (k >= depth) fits = fits && rest % 8 == 0;
            else fits = fits && d[k] != mu;
            for (int j = 0; j < k && k < depth; j++) fits = fits && d[j] != d[k];
        }
        if (!fits) continue;
        for (int k = 0; k < depth; k++) {
            steps[k] = step(d[k], s[k]);
            steps[2 * depth - k] = step(d[k], !s[k]);
        }
        steps[depth] = mu;
        add(m, c, l, u, site, steps, 2 * depth + 1);
    }
}

void ref_staggered_fat(double complex *fat, struct ref_lattice l, const double complex *u, const double c[5])
{
    for (size_t i = 0; i < 4 * ref_volume(l); i++) {
        const int mu = (int)(i % 4);
        double complex *m = fat + 9 * i;
        memset(m, 0, 9 * sizeof *m);
        for (int depth = 0; depth < 4; depth++) add_detours(m, c[depth], l, u, i / 4, mu, depth);
        for (int nu = 0; nu < 4; nu++)
            for (int back = 0; back < 2 && nu != mu; back++) {
                const int a = step(nu, back), b = step(nu, !back), steps[5] = {a, a, mu, b, b};
                add(m, c[4], l, u, i / 4, steps, 5);
            }
    }
}

void ref_staggered_long(double complex *lng, struct ref_lattice l, const double complex *u, double naik)
{
    for (size_t i = 0; i < 4 * ref_volume(l); i++) {
        const int mu = (int)(i % 4), steps[3] = {mu, mu, mu};
        memset(lng + 9 * i, 0, 9 * sizeof *lng);
        add(lng + 9 * i, naik, l, u, i / 4, steps, 3);
    }
}

/* X -> (X + X^-dagger) / 2 (N. Higham, SIAM J. Sci. Stat. Comput. 7 (1986) 1160). */
void ref_project_u3(double complex w[9], const double complex v[9])
{
    memcpy(w, v, 9 * sizeof *w);
    for (int k = 0; k < 100; k++) {
        double complex inverse[9], adjoint[9];
        ref_inverse(inverse, 3, w);
        ref_mat_adj(adjoint, inverse);
        for (int i = 0; i < 9; i++) w[i] = 0.5 * (w[i] + adjoint[i]);
    }
}

static void times_signs(double complex *u, struct ref_lattice l, int steps, int bc)
{
    for (size_t i = 0; i < 4 * ref_volume(l); i++)
        for (int k = 0; k < 9; k++) u[9 * i + k] *= ref_staggered_sign(l, i / 4, (int)(i % 4), steps, bc);
}

void ref_fat7_links(double complex *fat, struct ref_lattice l, const double complex *u, double u0, int bc)
{
    const double c[5] = {1.0 / 8, pow(u0, -2) / 16, pow(u0, -4) / 64, pow(u0, -6) / 384, 0};
    ref_staggered_fat(fat, l, u, c);
    times_signs(fat, l, 1, bc);
}

void ref_asqtad_links(double complex *fat, double complex *lng, struct ref_lattice l, const double complex *u,
                      double u0, int bc)
{
    const double c[5] = {5.0 / 8, pow(u0, -2) / 16, pow(u0, -4) / 64, pow(u0, -6) / 384, -pow(u0, -4) / 16};
    ref_staggered_fat(fat, l, u, c);
    ref_staggered_long(lng, l, u, -pow(u0, -2) / 24);
    times_signs(fat, l, 1, bc);
    times_signs(lng, l, 3, bc);
}

void ref_hisq_links(double complex *fat, double complex *lng, struct ref_lattice l, const double complex *u,
                    double epsilon, int bc)
{
    const double fat7[5] = {1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0};
    const double second[5] = {1 + epsilon / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8};
    double complex *v = ref_gauge_new(l), *w = ref_gauge_new(l);
    ref_staggered_fat(v, l, u, fat7);
    for (size_t i = 0; i < 4 * ref_volume(l); i++) ref_project_u3(w + 9 * i, v + 9 * i);
    ref_staggered_fat(fat, l, w, second);
    ref_staggered_long(lng, l, w, -(1 + epsilon) / 24);
    times_signs(fat, l, 1, bc);
    times_signs(lng, l, 3, bc);
    free(v);
    free(w);
}

void ref_naive_links(double complex *fat, struct ref_lattice l, const double complex *u, int bc)
{
    memcpy(fat, u, 36 * ref_volume(l) * sizeof *fat);
    times_signs(fat, l, 1, bc);
}

/* out += sign times U or U^dagger of a link times the vector at `from`. */
static void add_term(double complex out[3], const double complex m[9], const double complex in[3], int dagger)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i] += dagger ? -conj(m[3 * j + i]) * in[j] : m[3 * i + j] * in[j];
}

void ref_staggered_hop(double complex *out, const double complex *in, struct ref_lattice l, const double complex *fat,
                       const double complex *lng)
{
    memset(out, 0, 3 * ref_volume(l) * sizeof *out);
    for (size_t i = 0; i < ref_volume(l); i++)
        for (int mu = 0; mu < 4; mu++)
            for (int reach = 1; reach <= (lng ? 3 : 1); reach += 2) {
                const double complex *u = reach == 1 ? fat : lng;
                const size_t up = ref_shift(l, i, mu, reach), down = ref_shift(l, i, mu, -reach);
                add_term(out + 3 * i, u + 9 * (4 * i + (size_t)mu), in + 3 * up, 0);
                add_term(out + 3 * i, u + 9 * (4 * down + (size_t)mu), in + 3 * down, 1);
            }
}
