/* sequential_nucleon: the sink of a nucleon as the source of another propagator, for its three-point functions
 *
 *   C3(Gamma, p, q, t) = sum_xy exp(-i p.(x - x_0) - i q.(y - x_0)) tr T < O(x) [conj(f) Gamma f](y) conj(O)(x_0) >,
 *
 * x on the time slice of the sink, y at time t, f = u or d, without disconnected contractions (G. Martinelli and C. T.
 * Sachrajda, Nucl. Phys. B316 (1989) 355). O = epsilon_abc (u_a^T C gamma_5 d_b) u_c is that of the baryons
 * (hmc/measure/baryon_contraction.h), u and d being one propagator S; T = (1 + P gamma_t) / 2 with the parity P, or that times i gamma_5 gamma_k for the spin along k.
 *
 * The two-point function is linear in each of its lines. W(x)[k][j] is its derivative by S(x) at spin and colour j of the sink and
 * column k, summed over the lines of f. The source is gamma_5 conj(W) gamma_5 exp(i p.(x - x_0)), and with Sigma, its propagator,
 *
 *   C3(Gamma, p, q, t) = sum_y exp(-i q.(y - x_0)) tr [gamma_5 Sigma(y)^dagger gamma_5 Gamma S(y)]
 *
 * by gamma_5 hermiticity: mesons of Sigma and S with the unit matrix at the source. The sign of three quarks that cross an
 * antiperiodic edge is taken out, as in two-point functions. */
#include <string.h>

#include "hmc/sources/gamma.h"
#include "hmc/sources/source.h"

#define FLAVOURS(X) X(FLAVOUR_U, "u") X(FLAVOUR_D, "d")
#define POLARISATIONS(X) X(POLARISED_NOT, "none") X(POLARISED_X, "x") X(POLARISED_Y, "y") X(POLARISED_Z, "z")
#define NUCLEON_PARITIES(X) X(NUCLEON, "+") X(NUCLEON_PARTNER, "-")
enum { FLAVOURS(PARAM_CONSTANT) };
enum { POLARISATIONS(PARAM_CONSTANT) };
enum { NUCLEON_PARITIES(PARAM_CONSTANT) };

typedef struct {
    sequential_keys sink;
    int flavour, polarisation, parity;
} nucleon_keys;

/* ---- colour matrices of lines, [colour at the source][colour at the sink] ---- */

typedef struct {
    double complex at[3][3];
} colours;

/* Lines between all spins, [spin at the source][spin at the sink]. */
typedef struct {
    colours at[GAMMA_SPINS][GAMMA_SPINS];
} lines;

static double complex times(double complex a, double complex b)
{
    const double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b);
    return CMPLX(ar * br - ai * bi, ar * bi + ai * br);
}

static void lines_of(lines *s, const double complex x[12][12])
{
    for (int column = 0; column < 12; column++)
        for (int row = 0; row < 12; row++) s->at[column / 3][row / 3].at[column % 3][row % 3] = x[column][row];
}

static void add_scaled(colours *to, double complex factor, const colours *m)
{
    for (int i = 0; i < 9; i++) to->at[i / 3][i % 3] += times(factor, m->at[i / 3][i % 3]);
}

/* q_cc' += factor epsilon_abc epsilon_a'b'c' x_aa' y_bb', symmetric in x and y. */
static void add_cross(colours *q, double complex factor, const colours *x, const colours *y)
{
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++) {
            const int d1 = (d + 1) % 3, d2 = (d + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            const double complex sum = times(x->at[d1][c1], y->at[d2][c2]) - times(x->at[d1][c2], y->at[d2][c1]) -
                                       times(x->at[d2][c1], y->at[d1][c2]) + times(x->at[d2][c2], y->at[d1][c1]);
            q->at[d][c] += times(factor, sum);
        }
}

/* ---- the nucleon ---- */

/* The projector T[row][column], and the two-point function
 *
 *   tr T G = sum sink_ij source_kl T_ba epsilon epsilon [ S(i; k) S(j; l) S(a; b) + S(i; b) S(j; l) S(a; k) ]
 *
 * over spins of the sink; of the source, of lines u d u in this order. */
typedef struct {
    spin_matrix sink, source;
    double complex T[GAMMA_SPINS][GAMMA_SPINS];
} nucleon;

/* T S, spins of the sink turned: (b; k) = sum_a T_ba S(a; k). And S T: (i; a) = sum_b S(i; b) T_ba. */
static void turn(lines *left, lines *right, const nucleon *n, const lines *s)
{
    memset(left, 0, sizeof *left);
    memset(right, 0, sizeof *right);
    for (int b = 0; b < GAMMA_SPINS; b++)
        for (int a = 0; a < GAMMA_SPINS; a++)
            for (int k = 0; k < GAMMA_SPINS && n->T[b][a] != 0; k++) {
                add_scaled(&left->at[k][b], n->T[b][a], &s->at[k][a]);
                add_scaled(&right->at[a][k], n->T[b][a], &s->at[b][k]);
            }
}

static colours spin_trace(const lines *s)
{
    colours sum = {{{0}}};
    for (int k = 0; k < GAMMA_SPINS; k++) add_scaled(&sum, 1, &s->at[k][k]);
    return sum;
}

/* W of the line of d. */
static void derive_d(lines *w, const nucleon *n, const lines *s)
{
    lines left, right;
    turn(&left, &right, n, s);
    const colours trace = spin_trace(&left);
    memset(w, 0, sizeof *w);
    for (int i = 0; i < GAMMA_SPINS; i++)
        for (int k = 0; k < GAMMA_SPINS; k++) {
            const double complex f = n->sink.value[i] * n->source.value[k];
            colours *to = &w->at[n->source.at[k]][n->sink.at[i]];
            add_cross(to, f, &s->at[k][i], &trace);
            for (int b = 0; b < GAMMA_SPINS; b++) add_cross(to, f, &s->at[b][i], &left.at[k][b]);
        }
}

/* W of both lines of u. */
static void derive_u(lines *w, const nucleon *n, const lines *s)
{
    lines left, right;
    colours diquark = {{{0}}};
    turn(&left, &right, n, s);
    const colours trace = spin_trace(&left);
    memset(w, 0, sizeof *w);
    for (int i = 0; i < GAMMA_SPINS; i++)
        for (int k = 0; k < GAMMA_SPINS; k++) {
            const double complex f = n->sink.value[i] * n->source.value[k];
            const colours *d = &s->at[n->source.at[k]][n->sink.at[i]];
            add_cross(&diquark, f, &s->at[k][i], d);
            add_cross(&w->at[k][i], f, d, &trace);
            for (int b = 0; b < GAMMA_SPINS; b++) {
                add_cross(&w->at[b][i], f, d, &left.at[k][b]);
                add_cross(&w->at[k][b], f, d, &right.at[b][i]);
            }
        }
    for (int b = 0; b < GAMMA_SPINS; b++)
        for (int a = 0; a < GAMMA_SPINS; a++) add_scaled(&w->at[b][a], n->T[b][a], &diquark);
}

/* sum += factor (1 + parity gamma_t) / 2 Gamma. */
static void add_projected(double complex T[GAMMA_SPINS][GAMMA_SPINS], double complex factor, int parity,
                          const spin_matrix *gamma)
{
    const spin_matrix t = gamma_number(8), with_t = gamma_product(&t, gamma);
    for (int s = 0; s < GAMMA_SPINS; s++) {
        T[s][gamma->at[s]] += factor * gamma->value[s] / 2;
        T[s][with_t.at[s]] += parity * factor * with_t.value[s] / 2;
    }
}

static nucleon nucleon_of(const nucleon_keys *k)
{
    const spin_matrix c = gamma_number(CHARGE_CONJUGATION), five = gamma_number(GAMMA_5);
    nucleon n = {.sink = gamma_product(&c, &five)};
    n.source = gamma_of_source(&n.sink);
    const int direction = k->polarisation == POLARISED_X ? 1 : k->polarisation == POLARISED_Y ? 2 : 4;
    const spin_matrix unit = gamma_number(0), along = gamma_number(direction), spin = gamma_product(&five, &along);
    const int parity = k->parity == NUCLEON ? 1 : -1;
    if (k->polarisation == POLARISED_NOT) add_projected(n.T, 1, parity, &unit);
    else add_projected(n.T, I, parity, &spin);
    return n;
}

static void columns(double complex y[12][12], const double complex x[12][12], const source_params *p,
                    double complex wave)
{
    const nucleon_keys *keys = SOURCE_OWN(nucleon_keys, p);
    const spin_matrix five = gamma_number(GAMMA_5);
    const nucleon n = nucleon_of(keys);
    lines s, w;
    lines_of(&s, x);
    if (keys->flavour == FLAVOUR_U) derive_u(&w, &n, &s);
    else derive_d(&w, &n, &s);
    for (int column = 0; column < 12; column++)
        for (int row = 0; row < 12; row++) {
            const double complex sign = five.value[column / 3] * five.value[row / 3],
                                 conjugate = conj(w.at[column / 3][row / 3].at[column % 3][row % 3]);
            y[column][row] = times(sign * wave, conjugate);
        }
}

/* ---- keys ---- */

#define SINK(member) (offsetof(source_params, own) + offsetof(nucleon_keys, sink) + offsetof(sequential_keys, member))

static const param own[] = {
    {"propagator", PARAM_NAME, SINK(propagator), NULL, "propagator", NULL,
     "[propagator.NAME] of u and d, which are one", 0},
    {"time", PARAM_INT, SINK(time), NULL, "[0,inf)", "a", "time slice of the sink", 0},
    {"flavour", PARAM_CHOICE, SOURCE_KEY(nucleon_keys, flavour), NULL, PARAM_RANGE(FLAVOURS), NULL,
     "the quark that meets the operator; u is there twice", 0},
    {"polarisation", PARAM_CHOICE, SOURCE_KEY(nucleon_keys, polarisation), "none", PARAM_RANGE(POLARISATIONS), NULL,
     "T = (1 + P gamma_t) / 2, or that times i gamma_5 gamma_k for the spin along k", 0},
    {"parity", PARAM_CHOICE, SOURCE_KEY(nucleon_keys, parity), "+", PARAM_RANGE(NUCLEON_PARITIES), NULL,
     "P = 1 or -1: the nucleon forwards in time, or its parity partner", 0},
    {"momentum", PARAM_INT4, SINK(momentum), "0.0.0.0", "[-1000,1000]", "2 pi / L",
     "n_x.n_y.n_z.0 of the nucleon at the sink, with the phase exp(-i p.x) of the correlator", 0},
};
static const param_section part = PARAM_PART("source", "sequential_nucleon", source_params, own);
_Static_assert(offsetof(nucleon_keys, sink) == 0, "sequential_keys come first");
_Static_assert(sizeof(nucleon_keys) <= sizeof(((source_params *)0)->own), "no room for the keys of sequential_nucleon");

const source_kind source_kind_sequential_nucleon = {
    .name = "sequential_nucleon",
    .help = "the sink of a nucleon, made of another propagator, for its three-point functions",
    .own = &part,
    .later = "parity",
    .sequential = columns,
    .baryon = 1};
