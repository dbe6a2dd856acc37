/* Reference oracles: slow, obvious, independent versions of everything that plaq computes per site.
 *
 * Plain C with double complex: no SIMD, no MPI, no threads, nothing of the rest of plaq. A test computes a number here
 * and with the fast code, and compares. When the two differ, this is the side that can be read.
 *
 * Conventions (also those of the data files' ILDG order):
 *   site  = x + Lx*(y + Ly*(z + Lz*t)), directions mu = 0 1 2 3 = x y z t, all gauge fields periodic
 *   links = u[((site*4 + mu)*3 + row)*3 + col], U_mu(x) leads from x to x+mu in the sense of a covariant difference
 *           U_mu(x) psi(x+mu) - psi(x)
 *   psi   = psi[(site*4 + spin)*3 + colour]
 *   gamma = DeGrand-Rossi (table in ref_wilson.c), gamma5 = gamma_x gamma_y gamma_z gamma_t = diag(1, 1, -1, -1)
 *   T_a   = (i/2) lambda_a, a = 0..7, so tr T_a T_b = -delta_ab/2
 *   parity = (x+y+z+t) % 2
 *
 * 3x3 matrices are `double complex m[9]`, row-major. Output arguments come first; an output must not overlap an input
 * unless the comment allows it. Functions that return memory return malloc'ed memory, for the caller to free.
 * Impossible requests (out of memory, singular matrix) print a line and abort: these are tests. */
#ifndef PLAQ_TESTS_REFERENCE_H
#define PLAQ_TESTS_REFERENCE_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

struct ref_lattice {
    int size[4]; /* x y z t */
};

/* ---------------------------------------------------------------- geometry and paths (ref_gauge.c) */

size_t ref_volume(struct ref_lattice l);
size_t ref_site(struct ref_lattice l, const int x[4]); /* 0 <= x[mu] < size[mu] */
void ref_coordinates(int x[4], struct ref_lattice l, size_t site);
size_t ref_shift(struct ref_lattice l, size_t site, int mu, int steps); /* periodic, steps of either sign */
int ref_parity(struct ref_lattice l, size_t site);

/* Allocate a zeroed gauge field (36 numbers a site) or spinor field (12 numbers a site). */
double complex *ref_gauge_new(struct ref_lattice l);
double complex *ref_spinor_new(struct ref_lattice l);

/* Product of the links along a path of n steps from site. A step mu means forward (factor U_mu), REF_BACK(mu) backward
 * (factor U_mu(x-mu)^dagger); the factors stand left to right in walking order. */
#define REF_BACK(mu) (-1 - (mu))
void ref_path(double complex m[9], struct ref_lattice l, const double complex *u, size_t site, const int *steps, int n);

/* ---------------------------------------------------------------- SU(3) and random numbers (ref_su3.c) */

void ref_mat_mul(double complex c[9], const double complex a[9], const double complex b[9]);
void ref_mat_adj(double complex c[9], const double complex a[9]);
double complex ref_mat_trace(const double complex a[9]);
void ref_mat_exp(double complex c[9], const double complex a[9]); /* any matrix; c may be a */
void ref_mat_antihermitian(double complex c[9],
                           const double complex a[9]);                /* (a - a^+)/2 minus its trace; c may be a */
void ref_generator(double complex c[9], int a);                       /* T_a = (i/2) lambda_a */
double ref_unitarity_error(const double complex *u, size_t matrices); /* max of |U U^+ - 1| and |det U - 1| */

struct ref_rng {
    uint64_t state;
};
void ref_rng_seed(struct ref_rng *r, uint64_t seed);
double ref_uniform(struct ref_rng *r);                       /* in (0, 1) */
double ref_normal(struct ref_rng *r);                        /* mean 0, variance 1 */
void ref_random_su3(double complex m[9], struct ref_rng *r); /* Haar measure */
/* exp(scale * sum_a n_a T_a), n_a normal: a matrix close to 1 when scale is small */
void ref_random_su3_near_one(double complex m[9], double scale, struct ref_rng *r);
void ref_random_spinor(double complex *psi, size_t numbers, struct ref_rng *r); /* real and imaginary parts normal */
void ref_unit_gauge(double complex *u, struct ref_lattice l);
void ref_random_gauge(double complex *u, struct ref_lattice l, struct ref_rng *r);
void ref_weak_gauge(double complex *u, struct ref_lattice l, double scale, struct ref_rng *r);

/* With g[site*9]: u'_mu(x) = g(x) U_mu(x) g(x+mu)^+, psi'(x) = g(x) psi(x). In place. */
void ref_random_rotation(double complex *g, struct ref_lattice l, struct ref_rng *r);
void ref_rotate_gauge(double complex *u, struct ref_lattice l, const double complex *g);
void ref_rotate_spinor(double complex *psi, struct ref_lattice l, const double complex *g);

/* ---------------------------------------------------------------- gauge observables (ref_gauge.c) */

double ref_plaquette(struct ref_lattice l, const double complex *u); /* (1/3) Re tr, mean of 6 planes */
double ref_rectangle(struct ref_lattice l,
                     const double complex *u); /* (1/3) Re tr of 2x1 loops, mean of 12 orientations */
double ref_link_trace(struct ref_lattice l, const double complex *u);       /* (1/3) Re tr U, mean of all links */
double complex ref_polyakov(struct ref_lattice l, const double complex *u); /* (1/3) tr prod_t U_t, mean over space */

/* (1/3) Re tr of Wilson loops, mean over sites: n times the displacement v in space, t steps along nu. The path along v is the
 * mean over all orders of its unit steps, each of the n times. */
double ref_wilson_loop(struct ref_lattice l, const double complex *u, const int v[3], int n, int nu, int t);

/* S = b0 sum_plaq (1 - Re tr P/3) + b1 sum_rect (1 - Re tr R/3) + b2 sum_parallelograms (1 - Re tr C/3), every loop
 * once. */
double ref_gauge_action(struct ref_lattice l, const double complex *u, double b0, double b1, double b2);
/* Weights b0 of plaquettes in space and with time, b1 of rectangles in space, of two links in space and one in time, and of
 * one in space and two in time. */
double ref_gauge_action_anisotropic(struct ref_lattice l, const double complex *u, const double b0[2],
                                    const double b1[3]);

/* Open ends in time: no link leads from the last slice to the first, and these are zero, as are all of idle slices behind the last. */
void ref_open_time(double complex *u, struct ref_lattice l, int idle);
/* Factors of loops at the first and the last slice: in space on it; plaquettes in time with an edge on it; rectangles with two links in
 * space on it; plaquettes in time with an edge on it that wind twice, of weight b1. */
struct ref_ends {
    double space[2], time[2], along[2], twice[2];
    int idle; /* slices behind the last one */
};
/* The action there: loops that pass such a link are left out. */
double ref_gauge_action_open(struct ref_lattice l, const double complex *u, double b0, double b1,
                             const struct ref_ends *e);

/* dS/domega at omega = 0 for U -> exp(omega T_a) U of the one link u[(site*4 + mu)*9]; four-point central difference,
 * error O(h^4). u is changed while the action is called and is restored to the bit. */
typedef double (*ref_action)(const double complex *u, void *ctx);
double ref_derivative(double complex *u, size_t site, int mu, int a, double h, ref_action action, void *ctx);
/* The two-point difference, error O(h^2). */
double ref_derivative2(double complex *u, size_t site, int mu, int a, double h, ref_action action, void *ctx);

/* Fhat_mu_nu(x) = (Q_mu_nu - Q_nu_mu)/8, Q the sum of the four leaves: anti-hermitian, the trace still in. */
void ref_field_strength(double complex f[9], struct ref_lattice l, const double complex *u, size_t site, int mu,
                        int nu);

/* Clover energy and charge. F is Fhat, with its trace removed when traceless is not 0:
 *   e_t, e_s = mean over sites of -sum tr F F over the three planes with / without t; e_t + e_s = (1/4) F^a F^a
 *   q = -(1/(32 pi^2)) sum_x eps_{mu nu rho sigma} tr F_{mu nu} F_{rho sigma}, eps_{xyzt} = 1
 *     = +(1/(32 pi^2)) eps tr G G in terms of the hermitian G = -i F; q > 0 goes with zero modes of gamma5 = -1
 * The recorded flow numbers are those of traceless = 1. */
struct ref_energy {
    double e_t, e_s, q;
};
struct ref_energy ref_clover_energy(struct ref_lattice l, const double complex *u, int traceless);

/* One step of the gradient flow, third order Runge-Kutta of M. Luescher, arXiv:1006.4518 (C.2): of the Wilson action, or of plaquettes
 * and rectangles with c1; `zeuthen`: with the correction of the slope of arXiv:1508.05552. xi: of an anisotropic lattice by
 * S. Borsanyi et al., arXiv:1205.0781, in units of a_s. */
void ref_flow_step(double complex *u, struct ref_lattice l, double eps, double xi);
void ref_flow_step_of(double complex *u, struct ref_lattice l, double eps, double xi, double c1, int zeuthen);

/* ---------------------------------------------------------------- dense linear algebra (ref_linalg.c) */

/* n x n, row-major. log of the determinant: real part log|det|, imaginary part the phase (mod 2 pi). */
double complex ref_log_det(int n, const double complex *a);
void ref_inverse(double complex *inverse, int n, const double complex *a);

typedef void (*ref_operator)(double complex *out, const double complex *in, void *ctx);
/* The n x n matrix of an operator on vectors of n numbers. */
void ref_dense(double complex *a, int n, ref_operator op, void *ctx);

double ref_norm2(const double complex *a, size_t n);
double complex ref_dot(const double complex *a, const double complex *b, size_t n); /* sum conj(a) b */

/* Conjugate gradient for a hermitian positive op on vectors of n numbers, from x = 0 until |b - op x| <= tol |b|.
 * Returns the number of iterations, or -1 when max_iterations do not suffice. */
int ref_cg(double complex *x, const double complex *b, size_t n, ref_operator op, void *ctx, double tol,
           int max_iterations);

/* ---------------------------------------------------------------- Wilson-clover fermions (ref_wilson.c) */

extern const double complex ref_gamma[4][4][4];            /* [mu][row][col] */
void ref_gamma5(double complex g[4][4]);                   /* the product of the four */
void ref_sigma(double complex s[4][4], int mu, int nu);    /* (i/2) [gamma_mu, gamma_nu] */
void ref_apply_gamma5(double complex *psi, size_t volume); /* in place */

/* out(x) = sum_mu (1-gamma_mu) U_mu(x) in(x+mu) + (1+gamma_mu) U_mu(x-mu)^+ in(x-mu); bc = +-1 multiplies the terms
 * across the t boundary; dagger swaps the two projectors. */
void ref_hop(double complex *out, const double complex *in, struct ref_lattice l, const double complex *u, int bc,
             int dagger);

/* The operator M = A + H with H = -hop/2 and, per site, the hermitian 12x12 matrix
 *   A = (4+m) + csw (i/4) sum_{mu,nu} sigma_{mu nu} Fhat_{mu nu}, index spin*3 + colour.
 * create builds A and its inverse from u, and keeps a pointer to u. twist adds i mu gamma5 to A; its dagger is then another
 * matrix. */
struct ref_wilson {
    struct ref_lattice l;
    const double complex *u;
    double mass;
    int bc;
    double complex *hop;           /* links of the hop: u, times nu/xi_0 in space */
    double complex *a, *a_inverse; /* [site*144 + row*12 + col] */
};
struct ref_anisotropy {
    double xi_0, nu, c_R, c_T;
};
void ref_wilson_create(struct ref_wilson *w, struct ref_lattice l, const double complex *u, double mass, double csw,
                       int bc);
void ref_wilson_create_anisotropic(struct ref_wilson *w, struct ref_lattice l, const double complex *u, double mass,
                                   const struct ref_anisotropy *k, int bc);
void ref_wilson_twist(struct ref_wilson *w, double mu);
/* Makes the site-diagonal part diagonal exp[(a - diagonal) / diagonal], before it is twisted or changed next to the ends. */
void ref_wilson_exponential(struct ref_wilson *w, double diagonal);
/* Adds to the diagonal of A on the slices next to the ends of time. */
void ref_wilson_inside(struct ref_wilson *w, int upper, double add, double add_upper);
void ref_wilson_destroy(struct ref_wilson *w);
void ref_clover_site(double complex a[144], struct ref_lattice l, const double complex *u, size_t site, double mass,
                     double csw);
void ref_clover_site_anisotropic(double complex a[144], struct ref_lattice l, const double complex *u, size_t site,
                                 double mass, const struct ref_anisotropy *k);

#define REF_BOTH (-1) /* a parity argument: both parities */
void ref_diagonal(double complex *out, const double complex *in, const struct ref_wilson *w, int parity, int dagger);
void ref_diagonal_inverse(double complex *out, const double complex *in, const struct ref_wilson *w, int parity,
                          int dagger);
double ref_log_det_diagonal(const struct ref_wilson *w, int parity); /* log|det A| */
void ref_wilson_apply(double complex *out, const double complex *in, const struct ref_wilson *w, int dagger);

/* Schur complements on parity p (q the other). Vectors are full-lattice; sites of parity q are not read, and written 0.
 *   asymmetric: A_pp - H_pq A_qq^-1 H_qp;    symmetric: 1 - A_pp^-1 H_pq A_qq^-1 H_qp */
void ref_schur_asymmetric(double complex *out, const double complex *in, const struct ref_wilson *w, int p, int dagger);
void ref_schur_symmetric(double complex *out, const double complex *in, const struct ref_wilson *w, int p, int dagger);

/* Which operator a solve is for; p is used by the Schur complements only. */
enum ref_kind { REF_FULL, REF_ASYMMETRIC, REF_SYMMETRIC };
void ref_kind_apply(double complex *out, const double complex *in, const struct ref_wilson *w, enum ref_kind kind,
                    int p, int dagger);
/* O^+ O x = b by CG; returns iterations or -1 as ref_cg. */
int ref_normal_solve(double complex *x, const double complex *b, const struct ref_wilson *w, enum ref_kind kind, int p,
                     double tol, int max_iterations);
/* M x = b through the normal equation of the full operator. */
int ref_wilson_solve(double complex *x, const double complex *b, const struct ref_wilson *w, double tol,
                     int max_iterations);
/* Zero-momentum pion correlator from a point source at the origin: c[t] = sum_x sum |M^-1|^2, t < size[3]. */
int ref_pion(double *c, const struct ref_wilson *w, double tol, int max_iterations);

/* ---------------------------------------------------------------- Moebius domain wall fermions (ref_mobius.c) */

/* Vectors are [slice][site][12]; w is Wilson's operator of mass -M5. */
struct ref_mobius {
    const struct ref_wilson *w;
    double mass, b, c;
    int Ls;
    const double complex *bs, *cs; /* by slice, in place of b and c; or null */
};
void ref_mobius_apply(double complex *out, const double complex *in, const struct ref_mobius *m, int dagger);

/* ---------------------------------------------------------------- non-degenerate doublet (ref_doublet.c) */

/* M = D + i mu gamma_5 tau_twist + epsilon tau_split, tau_1 to tau_3; vectors are [flavour][site][12]. */
struct ref_doublet {
    const struct ref_wilson *w;
    double mu, epsilon;
    int twist, split;
};
extern const double complex ref_tau[3][2][2];
void ref_doublet_apply(double complex *out, const double complex *in, const struct ref_doublet *d, int dagger);

/* out = K in for the restricted additive Schwarz preconditioner K of that operator, from zero: in every block of `size`
 * sites, continued by `overlap` sites where it is shorter than the lattice, so many steps of minimal residual with
 * Dirichlet conditions, of which the block's own sites are kept (ref_schwarz.c). With two colours first the blocks
 * whose place among the blocks is even, then the others on what is left, in each cycle. p as above, `in` zero
 * elsewhere. */
struct ref_blocks {
    int size[4], overlap, steps, cycles, colours; /* colours: 1 or 2 */
    double relaxation;
};
void ref_schwarz(double complex *out, const double complex *in, const struct ref_wilson *w, enum ref_kind kind, int p,
                 const struct ref_blocks *b);

/* Free field: M exp(ipx) chi = exp(ipx) D(p) chi with D(p) = m + sum (1 - cos p_mu) + i sum gamma_mu sin p_mu. */
void ref_free_operator(double complex d[4][4], const double p[4], double mass);
/* p_mu = 2 pi n_mu/L_mu, and 2 pi (n_t + 1/2)/L_t when bc = -1. */
void ref_momentum(double p[4], struct ref_lattice l, const int n[4], int bc);
void ref_plane_wave(double complex *psi, struct ref_lattice l, const double p[4], const double complex chi[12]);

/* ---------------------------------------------------------------- smeared links (ref_stout.c) */

/* One step of stout smearing with weights rho of the staples of a link of direction mu in the plane mu, nu; out is not u. */
void ref_stout(double complex *out, struct ref_lattice l, const double complex *u, const double rho[4][4]);

/* HEX and HYP links (ref_smear.c), alpha_1 to alpha_3; in space: spatial links smeared by spatial links alone. out is not
 * u. */
void ref_hex(double complex *out, struct ref_lattice l, const double complex *u, const double alpha[3], int in_space);
void ref_hyp(double complex *out, struct ref_lattice l, const double complex *u, const double alpha[3], int in_space);
/* One step of APE smearing: own u + staples, projected. */
void ref_ape(double complex *out, struct ref_lattice l, const double complex *u, double own, int in_space);
/* The w in SU(3) with the largest Re tr(w^+ v); v regular. */
void ref_project_su3(double complex w[9], const double complex v[9]);

/* ---------------------------------------------------------------- staggered fermions (ref_staggered.c)
 * Vectors have three numbers a site. */

/* Phase and boundary sign (bc = +-1) of a path of so many steps forwards in mu: eta_x = (-1)^t, eta_y = (-1)^(t+x),
 * eta_z = (-1)^(t+x+y), eta_t = 1. */
int ref_staggered_sign(struct ref_lattice l, size_t site, int mu, int steps, int bc);
/* Without signs: the sum of all paths, c of those of 1, 3, 5, 7 links and Lepage's; naik times three links in a row. */
void ref_staggered_fat(double complex *fat, struct ref_lattice l, const double complex *u, const double c[5]);
void ref_staggered_long(double complex *lng, struct ref_lattice l, const double complex *u, double naik);
void ref_project_u3(double complex w[9], const double complex v[9]); /* v (v^+ v)^-1/2 of a regular v */
/* With signs. */
void ref_naive_links(double complex *fat, struct ref_lattice l, const double complex *u, int bc);
void ref_fat7_links(double complex *fat, struct ref_lattice l, const double complex *u, double u0, int bc);
void ref_asqtad_links(double complex *fat, double complex *lng, struct ref_lattice l, const double complex *u,
                      double u0, int bc);
void ref_hisq_links(double complex *fat, double complex *lng, struct ref_lattice l, const double complex *u,
                    double epsilon, int bc);
/* out(x) = sum_mu F_mu(x) in(x+mu) - F_mu(x-mu)^+ in(x-mu), and the same with L over three sites unless lng is null. */
void ref_staggered_hop(double complex *out, const double complex *in, struct ref_lattice l, const double complex *fat,
                       const double complex *lng);

/* ---------------------------------------------------------------- staggered mesons (ref_mesons.c) */

struct ref_staggered {
    struct ref_lattice l;
    const double complex *fat, *lng; /* with signs, as above; lng may be null */
    double mass;                     /* of M = mass + D / 2 */
    const double complex *u;         /* links of the operators, without signs */
    size_t source;
};
/* M x = b, or M^+ x = b. */
void ref_staggered_solve(double complex *x, const double complex *b, const struct ref_staggered *q, int dagger);
/* c[t], t from the source: -sum_s tr O(s, z) G(z, source) O'(source, w) G(w, s) of the operator O = Gamma_S x xi_T and
 * its adjoint O'. Bits 1 x, 2 y, 4 z, 8 t of S and T say which gamma matrices are multiplied; they may differ in three
 * of them at most. */
void ref_staggered_meson(double *c, const struct ref_staggered *q, int spin_mask, int taste_mask);

/* ---------------------------------------------------------------- readers (ref_read.c) */

/* Links of a MILC v5 or old-format file, or of a NERSC file (2 or 3 rows, 32 or 64 bit, big-endian); the lattice is
 * set. NULL when the file cannot be opened, is not of that format, or is too short. */
double complex *ref_read_milc(struct ref_lattice *l, const char *path);
double complex *ref_read_nersc(struct ref_lattice *l, const char *path);
/* Four matrices a site, unitary or not, of a SciDAC file with single precision. */
double complex *ref_read_scidac(struct ref_lattice *l, const char *path);

#endif
