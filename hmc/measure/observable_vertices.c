/* vertices: propagators and vertex functions of quark bilinears in momentum space, for non-perturbative renormalisation (G.
 * Martinelli et al., hep-lat/9411010; momenta that differ: C. Sturm et al., arXiv:0901.2599), of configurations in Landau gauge.
 *
 * `propagator` and `propagator_2`, which may be one, have sources of kind = volume with momenta p_1 and p_2. With S_p(x) = sum_y S(x, y)
 * exp(i p.y), and V sites,
 *
 *   S(p) = (1/V) sum_x exp(-i p.x) S_p(x)
 *   G_Gamma(p_1, p_2) = (1/V) sum_x exp(i (p_1 - p_2).x) gamma_5 S_p1(x)^dagger gamma_5 Gamma S_p2(x),
 *
 * where the quark comes with p_2 and leaves with p_1, by gamma_5 hermiticity. Rows are elements of 12 x 12
 * matrices, 12 row + column, of 3 spin + colour; part 0 is S(p_1), 1 is S(p_2), 2 is G_Gamma. Amputated vertices are S(p_1)^-1 G
 * S(p_2)^-1 of averages over configurations (plaq effective --vertices). Free quarks have G = S(p_1) Gamma S(p_2). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/propagator.h"
#include "hmc/quarks/quark.h"
#include "hmc/sources/gamma.h"
#include "hmc/sources/source.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/contract.h"

typedef struct {
    char operators[PARAM_WORDS_SIZE];
} vertex_keys;

enum { PART_FIRST, PART_SECOND, PART_VERTEX, COMPONENTS = 12, ELEMENTS = COMPONENTS * COMPONENTS };

static const measure_column columns[] = {
    {"part", "", "0 S(p_1), 1 S(p_2), 2 G_Gamma(p_1, p_2)"},
    {"gamma", "", "number of Gamma: 0 scalar, 1 2 4 8 vector along x y z t, 15 pseudoscalar, bits of products; 0 of S"},
    {"element", "", "12 row + column of the matrix, rows and columns 3 spin + colour"},
    {"real", "", "real part of the element"},
    {"imaginary", "", "imaginary part"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const char *const part_names[] = {"propagator", "propagator_2", "vertex", NULL};
static const table_names names[] = {{"part", part_names}, {"gamma", gamma_names}, {NULL, NULL}};

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

/* ---- sums over all sites ---- */

typedef struct {
    int number[1][3];
    slice_waves wave;
} plane_wave;

/* exp(i q.x) in space; q = 2 pi n / L. */
static void wave_open(plane_wave *w, const lattice *lat, const int n[4])
{
    *w = (plane_wave){.wave = {.n = 1, .factors = {1, 1, 1}}};
    w->wave.number = (const int(*)[3])w->number;
    for (int d = 0; d < 3; d++) {
        double(*factor)[2] = malloc((size_t)lat->size[d] * sizeof *factor);
        REQUIRE_MEMORY(factor, "out of memory for a wave");
        for (int x = 0; x < lat->size[d]; x++) {
            const int along[3] = {d == 0 ? x : 0, d == 1 ? x : 0, d == 2 ? x : 0};
            const double complex value = source_wave(n, along, lat->size);
            factor[x][0] = creal(value);
            factor[x][1] = cimag(value);
        }
        w->wave.factor[d] = (const double(*)[2])factor;
    }
}

static void wave_close(plane_wave *w)
{
    for (int d = 0; d < 3; d++) free((void *)w->wave.factor[d]);
}

/* out[column of x][column of y][4 a + a'] = (1/V) sum_x exp(i q.x) sum over colours of conj(x_a) y_a', q = 2 pi n / L. */
static void sum_columns(double complex *out, const field *x, const field *y, const int n[4])
{
    const lattice *lat = x->lat;
    const int T = lat->size[3], sums = x->nrhs * y->nrhs * SPIN_PAIRS, all = 2 * T * sums;
    exact_sum *exact = malloc((size_t)all * sizeof *exact);
    REQUIRE_MEMORY(exact, "out of memory for %d sums", all);
    plane_wave w;
    wave_open(&w, lat, n);
    for (int k = 0; k < all; k++) exact[k] = exact_zero();
    contract_column_slices(exact, x, y, &w.wave);
    comm_group_sum_exact(lat->group, exact, all);
    for (int k = 0; k < sums; k++) {
        out[k] = 0;
        for (int t = 0; t < T; t++) {
            const exact_sum *at = &exact[2 * (t * sums + k)];
            const double turns = (double)((long)n[3] * t % T) / T;
            out[k] += cexp(2 * M_PI * I * turns) * (exact_value(&at[0]) + I * exact_value(&at[1]));
        }
        out[k] /= (double)lat->volume;
    }
    wave_close(&w);
    free(exact);
}

/* ---- matrices ---- */

typedef double complex matrix[COMPONENTS][COMPONENTS];

static void add_matrix(measure_result *r, int part, int gamma, const matrix m)
{
    for (int e = 0; e < ELEMENTS; e++) {
        const double complex value = m[e / COMPONENTS][e % COMPONENTS];
        measure_add_row(r, (const double[COLUMNS]){part, gamma, e, creal(value), cimag(value)});
    }
}

/* S(p): source i has exp(i p.x) in component i alone, which is all that its product with a column of S_p leaves. */
static void add_propagator(measure_result *r, const measure_context *c, const propagator *q, int part)
{
    static const int rest[4];
    double complex of[3][COMPONENTS][SPIN_PAIRS];
    matrix S;
    field *sources = propagator_own_sources(c, q, q->columns), first = field_columns(sources, 0, 3);
    sum_columns(&of[0][0][0], &first, q->columns, rest);
    for (int colour = 0; colour < 3; colour++)
        for (int j = 0; j < COMPONENTS; j++)
            for (int a = 0; a < GAMMA_SPINS; a++) S[3 * a + colour][j] = of[colour][j][a];
    add_matrix(r, part, 0, S);
    field_destroy(sources);
}

static void add_vertices(measure_result *r, const vertex_keys *k, const propagator *const *q, const int n[4])
{
    static double complex pairs[COMPONENTS][COMPONENTS][SPIN_PAIRS];
    const spin_matrix five = gamma_number(GAMMA_5);
    int numbers[GAMMAS];
    sum_columns(&pairs[0][0][0], q[0]->columns, q[1]->columns, n);
    const int count = gamma_listed(k->operators, numbers);
    for (int g = 0; g < count; g++) {
        const spin_matrix of = gamma_number(numbers[g]), X = gamma_product(&five, &of);
        matrix G;
        for (int i = 0; i < COMPONENTS; i++)
            for (int j = 0; j < COMPONENTS; j++) {
                G[i][j] = 0;
                for (int a = 0; a < GAMMA_SPINS; a++) G[i][j] += X.value[a] * pairs[i][j][GAMMA_SPINS * a + X.at[a]];
                G[i][j] *= five.value[i / 3];
            }
        add_matrix(r, PART_VERTEX, numbers[g], G);
    }
}

static int measure_vertices(const measure_context *c, const measure_params *m, measure_result *r)
{
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    int n[4];
    if (status != MEASURE_DONE) return status;
    for (int d = 0; d < 4; d++)
        n[d] = source_volume_momentum(&parameters_source(c->p, p[0]->of->p.source)->p)[d] -
               source_volume_momentum(&parameters_source(c->p, p[1]->of->p.source)->p)[d];
    add_propagator(r, c, p[0], PART_FIRST);
    add_propagator(r, c, p[1], PART_SECOND);
    add_vertices(r, OBSERVABLE_OWN(vertex_keys, m), p, n);
    return MEASURE_DONE;
}

/* ---- keys ---- */

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const char *name;
    for (int i = 0; (name = measure_propagator(&m->p, i)); i++) {
        const propagator_params *q = &parameters_propagator(p, name)->p;
        const named_quark *f = &p->quarks[parameters_quark(p, q->quark)];
        const named_source *s = parameters_source(p, q->source);
        if (!source_volume_momentum(&s->p))
            snprintf(message, size,
                     "[measure.%s] kind = vertices needs sources of kind = volume, and [source.%s] of [propagator.%s] "
                     "is of kind = %s",
                     m->name, s->name, name, source_kind_of(&s->p)->name);
        else if (s->p.smearing[0] || q->sink_smearing[0] || q->sink != SINK_SITE)
            snprintf(message, size,
                     "[measure.%s] kind = vertices needs plane waves at both ends, and [propagator.%s] has smearing or "
                     "a wall",
                     m->name, name);
        else if (quark_kind_of(&f->p)->twisted_mass)
            snprintf(message, size,
                     "[measure.%s] kind = vertices uses M^dagger = gamma_5 M gamma_5, which kind = %s of [quark.%s] "
                     "does not have",
                     m->name, quark_kind_of(&f->p)->name, f->name);
        else continue;
        return i ? "propagator_2" : "propagator";
    }
    if (m->p.positions > 1) {
        snprintf(message, size, "[measure.%s] has positions = %d, and sources on all sites have one", m->name,
                 m->p.positions);
        return "positions";
    }
    if (OBSERVABLE_OWN(vertex_keys, &m->p)->operators[0]) return NULL;
    snprintf(message, size, "[measure.%s] operators is empty; choose of " GAMMA_WORDS, m->name);
    return "operators";
}

static const param own[] = {
    {"operators", PARAM_WORDS, OBSERVABLE_KEY(vertex_keys, operators), "scalar pseudoscalar vector axial tensor",
     GAMMA_WORDS, NULL,
     "gamma matrices of the bilinears: unit matrix, gamma_5, gamma_mu, gamma_mu gamma_5, gamma_mu "
     "gamma_nu",
     0},
};
static const param_section part = PARAM_PART("measure", "vertices", measure_params, own);
_Static_assert(sizeof(vertex_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of vertices");

const observable observable_vertices = {.name = "vertices",
                                        .help = "quark propagators and vertex functions of bilinears in momentum space",
                                        .own = &part,
                                        .check = check,
                                        .quarks = MEASURE_WILSON,
                                        .propagators = 2,
                                        .volume = 1,
                                        .periodic = "momenta in time need translations",
                                        .columns = columns,
                                        .ncolumns = COLUMNS,
                                        .axis = "element",
                                        .names = names,
                                        .summary = summary,
                                        .nsummary = sizeof summary / sizeof summary[0],
                                        .measure = measure_vertices};
