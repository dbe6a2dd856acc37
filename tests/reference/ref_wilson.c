/* Wilson-clover fermions for the oracles, spin by spin with full 4x4 matrices: no projection tricks.
 *
 *   M psi(x) = (4+m) psi(x) + csw (i/4) sum_{mu,nu} sigma_{mu nu} Fhat_{mu nu}(x) psi(x)
 *              - 1/2 sum_mu [ (1-gamma_mu) U_mu(x) psi(x+mu) + (1+gamma_mu) U_mu(x-mu)^+ psi(x-mu) ]
 * (B. Sheikholeslami, R. Wohlert, Nucl. Phys. B259 (1985) 572), sum over all ordered pairs mu, nu,
 * sigma_{mu nu} = (i/2) [gamma_mu, gamma_nu]. The sign of the clover term follows from the Wilson term: with
 * [D_mu, D_nu] = F_{mu nu}, (gamma.D)^2 = D^2 - (i/2) sigma F, so -(1/2) D^2 + (i/4) sigma F = -(1/2) (gamma.D)^2 up to
 * a^2: for csw = 1 and smooth fields, M is gamma.D - (gamma.D)^2/2 + O(a^2) + m.
 *
 * An anisotropic lattice (R. Edwards, B. Joo and H.-W. Lin, arXiv:0803.3960) has 1 + 3 nu/xi_0 in place of 4, hops in space
 * times nu/xi_0, and csw is c_R/xi_0 where neither mu nor nu is time, else c_T.
 *
 * Even-odd: M = A + H, A block diagonal in sites, H = -hop/2 connects the parities;
 * det M = det A_qq det(A_pp - H_pq A_qq^-1 H_qp). */
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

const double complex ref_gamma[4][4][4] = {
    {{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}},
    {{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}},
    {{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}},
    {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}},
};

static void spin_mul(double complex c[4][4], double complex a[4][4], double complex b[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[i][j] = 0;
            for (int k = 0; k < 4; k++) c[i][j] += a[i][k] * b[k][j];
        }
}

void ref_gamma5(double complex g[4][4])
{
    double complex gamma[4][4][4], xy[4][4], zt[4][4];
    memcpy(gamma, ref_gamma, sizeof gamma);
    spin_mul(xy, gamma[0], gamma[1]);
    spin_mul(zt, gamma[2], gamma[3]);
    spin_mul(g, xy, zt);
}

void ref_sigma(double complex s[4][4], int mu, int nu)
{
    double complex gamma[4][4][4], ab[4][4], ba[4][4];
    memcpy(gamma, ref_gamma, sizeof gamma);
    spin_mul(ab, gamma[mu], gamma[nu]);
    spin_mul(ba, gamma[nu], gamma[mu]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) s[i][j] = 0.5 * I * (ab[i][j] - ba[i][j]);
}

void ref_apply_gamma5(double complex *psi, size_t volume)
{
    double complex g[4][4];
    ref_gamma5(g);
    for (size_t site = 0; site < volume; site++)
        for (int colour = 0; colour < 3; colour++) {
            double complex old[4], *v = psi + site * 12 + colour;
            for (int s = 0; s < 4; s++) old[s] = v[3 * s];
            for (int s = 0; s < 4; s++) {
                v[3 * s] = 0;
                for (int k = 0; k < 4; k++) v[3 * s] += g[s][k] * old[k];
            }
        }
}

/* out[12] += sign * (1 + s gamma_mu) link in[12] */
static void hop_add(double complex *out, double sign, double s, int mu, const double complex link[9],
                    const double complex *in)
{
    double complex moved[4][3];
    for (int spin = 0; spin < 4; spin++)
        for (int i = 0; i < 3; i++) {
            moved[spin][i] = 0;
            for (int j = 0; j < 3; j++) moved[spin][i] += link[3 * i + j] * in[spin * 3 + j];
        }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            double complex projector = (a == b ? 1 : 0) + s * ref_gamma[mu][a][b];
            if (projector == 0) continue;
            for (int i = 0; i < 3; i++) out[a * 3 + i] += sign * projector * moved[b][i];
        }
}

void ref_hop(double complex *out, const double complex *in, struct ref_lattice l, const double complex *u, int bc,
             int dagger)
{
    double s = dagger ? -1 : 1;
    memset(out, 0, 12 * ref_volume(l) * sizeof *out);
    for (size_t site = 0; site < ref_volume(l); site++) {
        int x[4];
        ref_coordinates(x, l, site);
        for (int mu = 0; mu < 4; mu++) {
            size_t up = ref_shift(l, site, mu, 1), down = ref_shift(l, site, mu, -1);
            double sign_up = mu == 3 && x[3] == l.size[3] - 1 ? bc : 1;
            double sign_down = mu == 3 && x[3] == 0 ? bc : 1;
            double complex adj[9];
            ref_mat_adj(adj, u + (down * 4 + mu) * 9);
            hop_add(out + 12 * site, sign_up, -s, mu, u + (site * 4 + mu) * 9, in + 12 * up);
            hop_add(out + 12 * site, sign_down, s, mu, adj, in + 12 * down);
        }
    }
}

void ref_clover_site(double complex a[144], struct ref_lattice l, const double complex *u, size_t site, double mass,
                     double csw)
{
    const struct ref_anisotropy isotropic = {1, 1, csw, csw};
    ref_clover_site_anisotropic(a, l, u, site, mass, &isotropic);
}

void ref_clover_site_anisotropic(double complex a[144], struct ref_lattice l, const double complex *u, size_t site,
                                 double mass, const struct ref_anisotropy *k)
{
    for (int i = 0; i < 144; i++) a[i] = i % 13 == 0 ? 1 + 3 * k->nu / k->xi_0 + mass : 0;
    for (int mu = 0; mu < 4; mu++)
        for (int nu = 0; nu < 4; nu++) {
            if (mu == nu) continue;
            const double c = mu == 3 || nu == 3 ? k->c_T : k->c_R / k->xi_0;
            double complex f[9], s[4][4];
            ref_field_strength(f, l, u, site, mu, nu);
            ref_sigma(s, mu, nu);
            for (int row = 0; row < 12; row++)
                for (int col = 0; col < 12; col++)
                    a[row * 12 + col] += c * 0.25 * I * s[row / 3][col / 3] * f[row % 3 * 3 + col % 3];
        }
}

void ref_wilson_create(struct ref_wilson *w, struct ref_lattice l, const double complex *u, double mass, double csw,
                       int bc)
{
    const struct ref_anisotropy isotropic = {1, 1, csw, csw};
    ref_wilson_create_anisotropic(w, l, u, mass, &isotropic, bc);
}

void ref_wilson_create_anisotropic(struct ref_wilson *w, struct ref_lattice l, const double complex *u, double mass,
                                   const struct ref_anisotropy *k, int bc)
{
    size_t volume = ref_volume(l);
    *w = (struct ref_wilson){.l = l, .u = u, .mass = mass, .bc = bc};
    w->hop = ref_gauge_new(l);
    for (size_t i = 0; i < 36 * volume; i++) w->hop[i] = i / 9 % 4 == 3 ? u[i] : k->nu / k->xi_0 * u[i];
    w->a = calloc(144 * volume, sizeof *w->a);
    w->a_inverse = calloc(144 * volume, sizeof *w->a_inverse);
    if (!w->a || !w->a_inverse) {
        fprintf(stderr, "reference: no memory for the clover term on %zu sites\n", volume);
        abort();
    }
    for (size_t site = 0; site < volume; site++) {
        ref_clover_site_anisotropic(w->a + 144 * site, l, u, site, mass, k);
        ref_inverse(w->a_inverse + 144 * site, 12, w->a + 144 * site);
    }
}

/* By eigenvalues, site by site. */
void ref_wilson_exponential(struct ref_wilson *w, double diagonal)
{
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(12, 12), *v = gsl_matrix_complex_alloc(12, 12);
    gsl_vector *values = gsl_vector_alloc(12);
    gsl_eigen_hermv_workspace *work = gsl_eigen_hermv_alloc(12);
    for (size_t site = 0; site < ref_volume(w->l); site++) {
        double complex *a = w->a + 144 * site;
        for (size_t i = 0; i < 144; i++) {
            const double complex x = (a[i] - (i % 13 == 0 ? diagonal : 0)) / diagonal;
            gsl_matrix_complex_set(m, i / 12, i % 12, gsl_complex_rect(creal(x), cimag(x)));
            a[i] = 0;
        }
        gsl_eigen_hermv(m, values, v, work);
        for (size_t k = 0; k < 12; k++)
            for (size_t i = 0; i < 144; i++) {
                const gsl_complex row = gsl_matrix_complex_get(v, i / 12, k),
                                  col = gsl_matrix_complex_get(v, i % 12, k);
                a[i] += diagonal * exp(gsl_vector_get(values, k)) * (GSL_REAL(row) + I * GSL_IMAG(row)) *
                        (GSL_REAL(col) - I * GSL_IMAG(col));
            }
        ref_inverse(w->a_inverse + 144 * site, 12, a);
    }
    gsl_eigen_hermv_free(work);
    gsl_vector_free(values);
    gsl_matrix_complex_free(v);
    gsl_matrix_complex_free(m);
}

void ref_wilson_twist(struct ref_wilson *w, double mu)
{
    double complex g[4][4];
    ref_gamma5(g);
    for (size_t site = 0; site < ref_volume(w->l); site++) {
        double complex *a = w->a + 144 * site;
        for (int row = 0; row < 12; row++)
            for (int col = 0; col < 12; col++)
                if (row % 3 == col % 3) a[12 * row + col] += I * mu * g[row / 3][col / 3];
        ref_inverse(w->a_inverse + 144 * site, 12, a);
    }
}

void ref_wilson_inside(struct ref_wilson *w, int upper, double add, double add_upper)
{
    for (size_t site = 0; site < ref_volume(w->l); site++) {
        int x[4];
        ref_coordinates(x, w->l, site);
        if (x[3] != 1 && x[3] != upper) continue;
        for (int i = 0; i < 12; i++) w->a[144 * site + 13 * (size_t)i] += x[3] == 1 ? add : add_upper;
        ref_inverse(w->a_inverse + 144 * site, 12, w->a + 144 * site);
    }
}

void ref_wilson_destroy(struct ref_wilson *w)
{
    free(w->a);
    free(w->a_inverse);
    free(w->hop);
    *w = (struct ref_wilson){0};
}

static void site_matrices(double complex *out, const double complex *in, const struct ref_wilson *w,
                          const double complex *a, int parity, int dagger)
{
    for (size_t site = 0; site < ref_volume(w->l); site++)
        for (int i = 0; i < 12; i++) {
            double complex sum = 0;
            if (parity == REF_BOTH || ref_parity(w->l, site) == parity)
                for (int j = 0; j < 12; j++)
                    sum += (dagger ? conj(a[144 * site + 12 * j + i]) : a[144 * site + 12 * i + j]) * in[12 * site + j];
            out[12 * site + i] = sum;
        }
}

void ref_diagonal(double complex *out, const double complex *in, const struct ref_wilson *w, int parity, int dagger)
{
    site_matrices(out, in, w, w->a, parity, dagger);
}

void ref_diagonal_inverse(double complex *out, const double complex *in, const struct ref_wilson *w, int parity,
                          int dagger)
{
    site_matrices(out, in, w, w->a_inverse, parity, dagger);
}

double ref_log_det_diagonal(const struct ref_wilson *w, int parity)
{
    double sum = 0;
    for (size_t site = 0; site < ref_volume(w->l); site++)
        if (parity == REF_BOTH || ref_parity(w->l, site) == parity) sum += creal(ref_log_det(12, w->a + 144 * site));
    return sum;
}

void ref_wilson_apply(double complex *out, const double complex *in, const struct ref_wilson *w, int dagger)
{
    size_t n = 12 * ref_volume(w->l);
    double complex *hopped = ref_spinor_new(w->l);
    ref_hop(hopped, in, w->l, w->hop, w->bc, dagger);
    ref_diagonal(out, in, w, REF_BOTH, dagger);
    for (size_t i = 0; i < n; i++) out[i] -= 0.5 * hopped[i];
    free(hopped);
}

static void keep_parity(double complex *psi, struct ref_lattice l, int parity)
{
    for (size_t site = 0; site < ref_volume(l); site++)
        if (ref_parity(l, site) != parity) memset(psi + 12 * site, 0, 12 * sizeof *psi);
}

/* out_to = H_{to,from} in_from, the other parity of out 0 */
static void hop_between(double complex *out, const double complex *in, const struct ref_wilson *w, int to, int dagger)
{
    size_t n = 12 * ref_volume(w->l);
    ref_hop(out, in, w->l, w->hop, w->bc, dagger);
    keep_parity(out, w->l, to);
    for (size_t i = 0; i < n; i++) out[i] *= -0.5;
}

/* out_p = H_pq A_qq^-1 H_qp in_p, or with the adjoints of all of them */
static void around(double complex *out, const double complex *in, const struct ref_wilson *w, int p, int dagger)
{
    double complex *b = ref_spinor_new(w->l), *c = ref_spinor_new(w->l);
    hop_between(b, in, w, 1 - p, dagger);
    ref_diagonal_inverse(c, b, w, 1 - p, dagger);
    hop_between(out, c, w, p, dagger);
    free(b);
    free(c);
}

void ref_schur_asymmetric(double complex *out, const double complex *in, const struct ref_wilson *w, int p, int dagger)
{
    size_t n = 12 * ref_volume(w->l);
    double complex *b = ref_spinor_new(w->l);
    around(b, in, w, p, dagger);
    ref_diagonal(out, in, w, p, dagger);
    for (size_t i = 0; i < n; i++) out[i] -= b[i];
    free(b);
}

void ref_schur_symmetric(double complex *out, const double complex *in, const struct ref_wilson *w, int p, int dagger)
{
    size_t n = 12 * ref_volume(w->l);
    double complex *b = ref_spinor_new(w->l), *c = ref_spinor_new(w->l);
    if (dagger) { /* the order of the factors turns round: H^+ A_qq^-+ H^+ A_pp^-+ */
        ref_diagonal_inverse(b, in, w, p, 1);
        around(c, b, w, p, 1);
    } else {
        around(b, in, w, p, 0);
        ref_diagonal_inverse(c, b, w, p, 0);
    }
    memcpy(out, in, n * sizeof *out);
    keep_parity(out, w->l, p);
    for (size_t i = 0; i < n; i++) out[i] -= c[i];
    free(b);
    free(c);
}

void ref_kind_apply(double complex *out, const double complex *in, const struct ref_wilson *w, enum ref_kind kind,
                    int p, int dagger)
{
    if (kind == REF_FULL) ref_wilson_apply(out, in, w, dagger);
    if (kind == REF_ASYMMETRIC) ref_schur_asymmetric(out, in, w, p, dagger);
    if (kind == REF_SYMMETRIC) ref_schur_symmetric(out, in, w, p, dagger);
}

struct normal_ctx {
    const struct ref_wilson *w;
    enum ref_kind kind;
    int p;
};

static void normal_apply(double complex *out, const double complex *in, void *ctx)
{
    const struct normal_ctx *c = ctx;
    double complex *b = ref_spinor_new(c->w->l);
    ref_kind_apply(b, in, c->w, c->kind, c->p, 0);
    ref_kind_apply(out, b, c->w, c->kind, c->p, 1);
    free(b);
}

int ref_normal_solve(double complex *x, const double complex *b, const struct ref_wilson *w, enum ref_kind kind, int p,
                     double tol, int max_iterations)
{
    struct normal_ctx ctx = {w, kind, p};
    return ref_cg(x, b, 12 * ref_volume(w->l), normal_apply, &ctx, tol, max_iterations);
}

int ref_wilson_solve(double complex *x, const double complex *b, const struct ref_wilson *w, double tol,
                     int max_iterations)
{
    double complex *c = ref_spinor_new(w->l);
    ref_wilson_apply(c, b, w, 1);
    int iterations = ref_normal_solve(x, c, w, REF_FULL, 0, tol, max_iterations);
    free(c);
    return iterations;
}

int ref_pion(double *c, const struct ref_wilson *w, double tol, int max_iterations)
{
    size_t space = ref_volume(w->l) / w->l.size[3];
    int total = 0;
    double complex *source = ref_spinor_new(w->l), *x = ref_spinor_new(w->l);
    memset(c, 0, w->l.size[3] * sizeof *c);
    for (int column = 0; column < 12; column++) {
        source[column] = 1; /* site 0 is the origin */
        int iterations = ref_wilson_solve(x, source, w, tol, max_iterations);
        source[column] = 0;
        if (iterations < 0) total = -1;
        if (total >= 0) total += iterations;
        /* Sites of one time slice are contiguous. gamma5 M^-1 gamma5 = (M^-1)^+ makes the pion a sum of squares. */
        for (int t = 0; t < w->l.size[3]; t++) c[t] += ref_norm2(x + 12 * space * t, 12 * space);
    }
    free(source);
    free(x);
    return total;
}

void ref_free_operator(double complex d[4][4], const double p[4], double mass)
{
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            d[a][b] = a == b ? mass : 0;
            for (int mu = 0; mu < 4; mu++)
                d[a][b] += (a == b ? 1 - cos(p[mu]) : 0) + I * sin(p[mu]) * ref_gamma[mu][a][b];
        }
}

void ref_momentum(double p[4], struct ref_lattice l, const int n[4], int bc)
{
    for (int mu = 0; mu < 4; mu++) p[mu] = 2 * pi * n[mu] / l.size[mu];
    if (bc < 0) p[3] = 2 * pi * (n[3] + 0.5) / l.size[3];
}

void ref_plane_wave(double complex *psi, struct ref_lattice l, const double p[4], const double complex chi[12])
{
    for (size_t site = 0; site < ref_volume(l); site++) {
        int x[4];
        ref_coordinates(x, l, site);
        double phase = 0;
        for (int mu = 0; mu < 4; mu++) phase += p[mu] * x[mu];
        for (int i = 0; i < 12; i++) psi[12 * site + i] = cexp(I * phase) * chi[i];
    }
}
