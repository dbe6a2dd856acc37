/* disconnected: quark loops, of which disconnected diagrams are products,
 *   L_O(p, t) = sum_x exp(-i p.x) tr O M^-1(x, t; x, t),  p = 2 pi (n_x / L_x, n_y / L_y, n_z / L_z),
 * by noise with what makes its error smaller (stochastic.h). Signs of closed loops, charges and flavours are left to
 * those who contract them. t is that of the lattice.
 *
 * Wilson-clover and domain wall quarks: O = Gamma_n = gamma_x^b0 gamma_y^b1 gamma_z^b2 gamma_t^b3 with the bits of n, in
 * the DeGrand-Rossi basis (kernels/site/spin.h): 0 is the unit matrix, 15 gamma_5, 1, 2, 4, 8 the local vector current,
 * 14, 13, 11, 7 are gamma_mu gamma_5 up to signs, and the others are products of two.
 *
 * Staggered quarks: 0 is the scalar chibar chi, and 1, 2, 4, 8 are the vector current of one link along x, y, z, t, with the
 * phase eta and the mean of both links of the site,
 *   O chi(x) = eta_mu(x) / 2 (U_mu(x) chi(x+mu) + U_mu(x-mu)^dagger chi(x-mu)),
 * of thin links, or of the fat ones of the quark (`transport`). This is the current of C. Davies et al., arXiv:1601.03071,
 * for the light-quark vacuum polarisation, in the form of one link. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "hmc/sources/gamma.h"
#include "hmc/measure/momentum.h"
#include "hmc/measure/stochastic.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/staggered.h"
#include "operators/staggered.h"

typedef struct {
    noise_keys noise;
    char operators[PARAM_WORDS_SIZE];
    int transport, each_vector;
    int momentum2;
} loop_keys;

enum { SPINS = GAMMA_SPINS };

static const measure_column columns[] = {
    {"vector", "", "number of the noise vector; -1: the estimate from all"},
    {"operator", "", "number of O: 0 scalar, 1 2 4 8 vector along x y z t, 15 pseudoscalar, bits of products of gamma"},
    MOMENTUM_COLUMNS,
    {"t", "a", "time slice"},
    {"real", "", "Re L"},
    {"imaginary", "", "Im L"},
    {"real_error", "", "its error from the noise; NaN for one vector"},
    {"imaginary_error", "", "that of the imaginary part"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const table_names names[] = {{"operator", gamma_names}, {NULL, NULL}};

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves, but for the rough ones"),
    {"vectors", "", "noise vectors of the solver"},
};

typedef struct {
    quark_solves q;
    const loop_keys *k;
    const lattice *lat;
    int noperators, operators[GAMMAS];
    spin_matrix gamma[GAMMAS];
    momenta p;
    const field *links; /* links of the currents of staggered quarks, with phases and boundary; or null */
    field *own_links;   /* owned, or null */
    field *moved;
    exact_sum *sums; /* [operator][momentum][t][re, im], of one pair of fields */
} loops;

/* ---- contractions ---- */

static exact_sum *sums_of(const loops *l, int operator, int t)
{
    return l->sums + 2 * ((long)operator* l->p.n * l->lat->size[3] + t);
}

/* sums += exp(-i p.x) times the density of an operator at site i of a slice, of all momenta. */
static void add_site(const loops *l, int operator, int t, long i, double complex density)
{
    const int *local = l->lat->local, *o = l->lat->origin;
    const int x[3] = {(int)(i % local[0]) + o[0], (int)(i / local[0] % local[1]) + o[1],
                      (int)(i / local[0] / local[1]) + o[2]};
    exact_sum *to = sums_of(l, operator, t);
    for (int p = 0; p < l->p.n; p++, to += 2 * l->lat->size[3]) {
        const double complex here = momenta_wave(&l->p, p, x) * density;
        exact_add(&to[0], creal(here));
        exact_add(&to[1], cimag(here));
    }
}

/* sum over colours of conj(e) x, of spins a and b. */
static double complex colours(const double *e, const double *x, int a, int b)
{
    double re = 0, im = 0;
    for (int c = 0; c < 6; c += 2) {
        const double *u = e + 6 * a + c, *v = x + 6 * b + c;
        re += u[0] * v[0] + u[1] * v[1];
        im += u[0] * v[1] - u[1] * v[0];
    }
    return re + I * im;
}

/* Operators first to last - 1 between e and x; those of spin where there is spin, else the product. */
static void add_slices(const loops *l, int first, int last, const field *e, const field *x)
{
    const long sites = (long)l->lat->local[0] * l->lat->local[1] * l->lat->local[2];
    const int reals = x->reals, spins = reals / 6;
    double *a = field_slice_buffer(e), *b = field_slice_buffer(x);
    for (int t = 0; t < field_slices(x); t++) {
        field_export(e, t, a);
        field_export(x, t, b);
        for (long i = 0; i < sites; i++) {
            double complex spin[SPINS][SPINS];
            for (int s = 0; s < spins; s++)
                for (int r = 0; r < spins; r++) spin[s][r] = colours(a + reals * i, b + reals * i, s, r);
            for (int o = first; o < last; o++) {
                double complex density = 0;
                if (spins == 1) density = spin[0][0];
                else
                    for (int s = 0; s < SPINS; s++) density += l->gamma[o].value[s] * spin[s][l->gamma[o].at[s]];
                if (density != 0) add_site(l, o, l->lat->origin[3] + t, i, density);
            }
        }
    }
    free(b);
    free(a);
}

static void contract(void *context, double *value, double weight, const field *e, const field *x)
{
    const loops *l = context;
    const int n = 2 * l->noperators * l->p.n * l->lat->size[3];
    for (int i = 0; i < n; i++) l->sums[i] = exact_zero();
    if (!l->moved) add_slices(l, 0, l->noperators, e, x);
    else
        for (int o = 0; o < l->noperators; o++) {
            int mu = 0;
            while (l->operators[o] >> mu > 1) mu++;
            const staggered_shift_call call = {.mu = mu, .back = 1, .near = l->links, .near_weight = 0.5};
            if (l->operators[o]) staggered_shift(l->moved, x, &call);
            add_slices(l, o, o + 1, e, l->operators[o] ? l->moved : x);
        }
    comm_group_sum_exact(l->lat->group, l->sums, n);
    for (int i = 0; i < n; i++) value[i] += weight * exact_value(&l->sums[i]);
}

/* ---- the measurement ---- */

/* Links of one-link currents of a staggered quark. */
static void take_links(loops *l, const field *links)
{
    if (l->k->transport == TRANSPORT_FAT) {
        l->links = staggered_links_at(staggered_fermion_links(l->q.quark), PREC_DOUBLE, links->where)->near;
        return;
    }
    l->own_links = field_like(links);
    field_copy(l->own_links, links);
    staggered_phases(l->own_links, 1);
    l->links = l->own_links;
}

static void open_loops(loops *l, const measure_context *c, const measure_params *m)
{
    *l = (loops){.k = OBSERVABLE_OWN(loop_keys, m), .lat = c->links->lat};
    solves_open_keys(&l->q, c, m);
    l->noperators = gamma_listed(l->k->operators, l->operators);
    for (int i = 0; i < l->noperators; i++) l->gamma[i] = gamma_number(l->operators[i]);
    momenta_open(&l->p, l->lat, l->k->momentum2);
    l->sums = malloc((size_t)(2 * l->noperators * l->p.n * l->lat->size[3]) * sizeof *l->sums);
    REQUIRE_MEMORY(l->sums, "out of memory");
    if (quark_kind_of(l->q.params)->spins != 1) return;
    l->moved = fermion_physical(l->q.quark);
    take_links(l, c->links);
}

static void close_loops(loops *l)
{
    momenta_close(&l->p);
    free(l->sums);
    field_destroy(l->moved);
    field_destroy(l->own_links);
    solves_close(&l->q);
}

/* The loops of one vector, or of all (-1). */
static void add_rows(const loops *l, const stochastic *s, int vector, measure_result *r)
{
    const int times = l->lat->size[3];
    for (int o = 0; o < l->noperators; o++)
        for (int p = 0; p < l->p.n; p++)
            for (int t = 0; t < times; t++) {
                const int *n = l->p.number[p], i = 2 * ((o * l->p.n + p) * times + t);
                double row[COLUMNS] = {vector, l->operators[o], n[0], n[1], n[2], t};
                for (int part = 0; part < 2; part++) {
                    const stochastic_value v = stochastic_mean(s, i + part);
                    row[6 + part] =
                        vector < 0 ? v.mean : s->low[i + part] + s->fine[(long)vector * s->values + i + part];
                    row[8 + part] = vector < 0 ? v.error : NAN;
                }
                measure_add_row(r, row);
            }
}

static int measure_loops(const measure_context *c, const measure_params *m, measure_result *r)
{
    loops l;
    stochastic s;
    open_loops(&l, c, m);
    const stochastic_call call = {.q = &l.q,
                                  .keys = &l.k->noise,
                                  .seed = measure_noise_seed(c),
                                  .values = 2 * l.noperators * l.p.n * l.lat->size[3],
                                  .contract = contract,
                                  .context = &l};
    const int status = stochastic_estimate(&s, &call, r);
    if (status == MEASURE_DONE) {
        add_rows(&l, &s, -1, r);
        if (l.k->each_vector == PARAM_YES)
            for (int v = 0; v < s.vectors; v++) add_rows(&l, &s, v, r);
        solves_summary(&l.q, r->summary);
        r->summary[SOLVES_VALUES] = s.vectors;
    }
    stochastic_free(&s);
    close_loops(&l);
    return status;
}

/* ---- keys ---- */

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const loop_keys *k = OBSERVABLE_OWN(loop_keys, &m->p);
    const quark_params *f = &p->quarks[parameters_quark(p, m->p.quark)].p;
    const int spins = quark_kind_of(f)->spins;
    if (!k->operators[0]) {
        snprintf(message, size, "operators is empty; choose of scalar, pseudoscalar, vector, axial and tensor");
        return "operators";
    }
    const char *word = gamma_needs_spin(k->operators);
    if (word && spins == 1) {
        snprintf(message, size, "operators = %s needs a quark with spin, but [quark.%s] is of kind = %s, which has %s",
                 word, m->p.quark, quark_kind_of(f)->name, "scalar and vector");
        return "operators";
    }
    if (spins != 1 && k->transport != TRANSPORT_THIN) {
        snprintf(message, size, "transport = fat is for staggered quarks, but [quark.%s] is of kind = %s", m->p.quark,
                 quark_kind_of(f)->name);
        return "transport";
    }
    if (k->each_vector == PARAM_YES && k->noise.rough_vectors) {
        snprintf(message, size, "each_vector = yes with a rough solver, whose vectors are no estimates by themselves");
        return "each_vector";
    }
    return noise_check(p, m, &k->noise, message, size);
}

static const param own[] = {
    NOISE_KEYS(loop_keys),
    {"operators", PARAM_WORDS, OBSERVABLE_KEY(loop_keys, operators), "vector", GAMMA_WORDS, NULL,
     "operators in the loop: unit matrix, gamma_5, gamma_mu, gamma_mu gamma_5, gamma_mu gamma_nu; of staggered quarks "
     "scalar, and vector with one link",
     0},
    MOMENTUM2_KEY(OBSERVABLE_KEY(loop_keys, momentum2)),
    {"transport", PARAM_CHOICE, OBSERVABLE_KEY(loop_keys, transport), "thin", PARAM_RANGE(TRANSPORT_LINKS), NULL,
     "links of the staggered vector current: thin, or the quark's fat ones", 0},
    {"each_vector", PARAM_CHOICE, OBSERVABLE_KEY(loop_keys, each_vector), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     "rows of each noise vector too: products of loops want different vectors in the two, lest their noise be squared",
     0},
};
static const param_section part = PARAM_PART("measure", "disconnected", measure_params, own);
_Static_assert(sizeof(loop_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of disconnected");

const observable observable_disconnected = {
    .name = "disconnected",
    .help = "quark loops by time slice, operator and momentum, by noise as of trace",
    .own = &part,
    .check = check,
    .quarks = MEASURE_ANY_QUARK,
    .columns = columns,
    .ncolumns = COLUMNS,
    .axis = "t",
    .names = names,
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_loops};
