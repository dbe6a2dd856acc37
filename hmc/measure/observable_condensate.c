/* condensate: <psibar psi> = Tr M^-1 / V by noise, V the number of sites, of one quark as its section has it. The trace is
 * over colours, and spins of Wilson's quark; M^-1 of a domain wall quark is the physical propagator, (D_ov^-1 - 1) / (1 -
 * m), without the contact term. M = m + D / 2 of a staggered quark, whose one field makes four tastes: for N flavours this
 * is to be multiplied by N / 4. (Programs with M = 2 m + D find half of it for Tr M^-1 / V.)
 *
 * A row is one noise vector e, with <e_i conj(e_j)> = delta_ij: e^dagger M^-1 e / V. Its imaginary part is noise; the
 * real one has none between even and odd sites if the quark is staggered. All vectors are functions of the seed, the
 * configuration, their number and the global site. A solver that takes several right-hand sides gets the vectors in
 * batches.
 *
 * With traces, what the second derivative of the pressure by the quark chemical potential is made of (C. Allton et al.,
 * hep-lat/0305007): steps in +t are multiplied by e^mu a site, those in -t by e^-mu, and primes are
 * derivatives by mu at 0,
 *   (ln det M)' = Tr M^-1 M' = i V density,  (ln det M)'' = Tr M^-1 M'' - Tr (M^-1 M')^2 = V (curvature - square),
 *   M' x(s) = 1/2 (F_t(s) x(s+t) + F_t(s-t)^dagger x(s-t)) + 3/2 (the same of the long links), M'' with a minus sign
 * between the two and 9/2. The first trace is imaginary, the others real. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "hmc/measure/solves.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"

#define CONDENSATE_NOISES(X) X(CONDENSATE_Z2, "z2") X(CONDENSATE_GAUSSIAN, "gaussian")
enum { CONDENSATE_NOISES(PARAM_CONSTANT) };

typedef struct {
    int noise, traces, vectors;
} condensate_keys;

static const measure_column columns[] = {
    {"vector", "", "number of the noise vector"},
    {"condensate", "", "Re e^dagger M^-1 e / V"},
    {"imaginary", "", "Im e^dagger M^-1 e / V, which is noise"},
    {"density", "", "Im e^dagger M' M^-1 e / V"},
    {"curvature", "", "Re e^dagger M'' M^-1 e / V"},
    {"square", "", "Re e^dagger M' M^-1 M' M^-1 e / V"},
};
enum { VECTOR, CONDENSATE, IMAGINARY, DENSITY, CURVATURE, SQUARE, COLUMNS };

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
    {"condensate", "", "mean over the noise vectors"},
    {"condensate_error", "", "its error from the noise"},
    {"density", "", "Tr M^-1 M' / i V, mean"},
    {"curvature", "", "Tr M^-1 M'' / V, mean"},
    {"square", "", "Tr (M^-1 M')^2 / V, mean"},
};

typedef struct {
    quark_solves q;
    const condensate_keys *keys;
    field *noise, *x, *y, *all; /* derivatives M' x of a batch: all */
    uint64_t seed;
    double volume;
    int first;                               /* number of the first vector of the batch */
    double rows[SOLVER_BLOCK_MOST][COLUMNS]; /* rows of the batch */
} estimator;

/* e^dagger y / V */
static void product(double value[2], const estimator *e, const field *y)
{
    vector_dot(value, e->noise, y, 0);
    value[0] /= e->volume;
    value[1] /= e->volume;
}

static int has_traces(const measure_params *m)
{
    return OBSERVABLE_OWN(condensate_keys, m)->traces == PARAM_YES;
}

/* ---- M x = e ---- */

static const field *noise_of(void *context, int k)
{
    estimator *e = context;
    const uint32_t number = (uint32_t)(e->first + k);
    if (e->keys->noise == CONDENSATE_Z2) vector_random_signs(e->noise, e->seed, RANDOM_NOISE, number);
    else vector_random(e->noise, e->seed, RANDOM_NOISE, number);
    slices_scale(e->noise, SLICES_ENDS, 0); /* quark fields vanish there */
    return e->noise;
}

static void solved(void *context, int k, const field *x)
{
    estimator *e = context;
    double *row = e->rows[k], value[2];
    noise_of(e, k);
    product(value, e, x);
    row[VECTOR] = e->first + k;
    row[CONDENSATE] = value[0];
    row[IMAGINARY] = value[1];
    row[DENSITY] = row[CURVATURE] = row[SQUARE] = NAN;
    if (!e->y) return;
    fermion_derivative(e->q.quark, e->y, x, 2);
    product(value, e, e->y);
    row[CURVATURE] = value[0];
    fermion_derivative(e->q.quark, e->y, x, 1);
    product(value, e, e->y);
    row[DENSITY] = value[1];
    field part = field_rhs(e->all, k);
    vector_axpby(&part, 1, e->y, 0);
    field_written(e->all);
}

/* ---- M z = M' x ---- */

static const field *derivative_of(void *context, int k)
{
    estimator *e = context;
    const field part = field_rhs(e->all, k);
    vector_axpby(e->y, 1, &part, 0);
    return e->y;
}

static void solved_again(void *context, int k, const field *z)
{
    estimator *e = context;
    double value[2];
    noise_of(e, k);
    fermion_derivative(e->q.quark, e->y, z, 1);
    product(value, e, e->y);
    e->rows[k][SQUARE] = value[0];
}

/* n vectors from number e->first on, which the solver may take together. */
static int one_batch(estimator *e, int n, measure_result *r)
{
    const solves_batch_of noise = {noise_of, solved, e, e->x}, again = {derivative_of, solved_again, e, e->x};
    char vectors[64], what[96];
    if (n == 1) snprintf(vectors, sizeof vectors, "noise vector %d", e->first);
    else snprintf(vectors, sizeof vectors, "noise vectors %d to %d", e->first, e->first + n - 1);
    int status = solves_batch(&e->q, n, &noise, vectors, r);
    if (status == MEASURE_DONE && e->y) {
        snprintf(what, sizeof what, "the derivative of %s", vectors);
        status = solves_batch(&e->q, n, &again, what, r);
    }
    for (int k = 0; k < n && status == MEASURE_DONE; k++) measure_add_row(r, e->rows[k]);
    return status;
}

static double mean_of(const measure_result *r, int column, double *error)
{
    const double n = (double)r->nrows;
    double sum = 0, squares = 0;
    for (long i = 0; i < r->nrows; i++) sum += r->rows[i * COLUMNS + column];
    for (long i = 0; i < r->nrows; i++) squares += pow(r->rows[i * COLUMNS + column] - sum / n, 2);
    if (error) *error = r->nrows > 1 ? sqrt(squares / (n * (n - 1))) : NAN;
    return sum / n;
}

/* Sites that quark fields live on. */
static double volume_of(const lattice *lat)
{
    const double slices = lat->size[3];
    return (double)lat->volume / slices * (lat->time == TIME_PERIODIC ? slices : lattice_last_slice(lat) - 1);
}

static int measure_condensate(const measure_context *c, const measure_params *m, measure_result *r)
{
    estimator e = {
        .keys = OBSERVABLE_OWN(condensate_keys, m), .seed = measure_noise_seed(c), .volume = volume_of(c->links->lat)};
    int status = MEASURE_DONE;
    solves_open_keys(&e.q, c, m);
    const int vectors = e.keys->vectors, most = solves_most(&e.q), batch = most < vectors ? most : vectors;
    e.noise = fermion_physical(e.q.quark);
    e.x = fermion_physical(e.q.quark);
    if (has_traces(m)) {
        field_shape shape = field_shape_of(e.x);
        shape.nrhs = batch;
        e.y = fermion_physical(e.q.quark);
        e.all = field_create_shape(e.x->lat, &shape, e.x->prec, e.x->par, e.x->where);
    }
    for (; e.first < vectors && status == MEASURE_DONE; e.first += batch)
        status = one_batch(&e, vectors - e.first < batch ? vectors - e.first : batch, r);
    if (status == MEASURE_DONE) {
        solves_summary(&e.q, r->summary);
        r->summary[SOLVES_VALUES] = mean_of(r, CONDENSATE, &r->summary[SOLVES_VALUES + 1]);
        for (int i = 0; i < 3; i++) r->summary[SOLVES_VALUES + 2 + i] = mean_of(r, DENSITY + i, NULL);
    }
    field_destroy(e.all);
    field_destroy(e.y);
    field_destroy(e.x);
    field_destroy(e.noise);
    solves_close(&e.q);
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const quark_kind *kind = quark_kind_of(&p->quarks[parameters_quark(p, m->p.quark)].p);
    if (!has_traces(&m->p) || kind->chemical_potential) return NULL;
    snprintf(message, size, "traces = yes needs a staggered quark, but [quark.%s] is of kind = %s", m->p.quark,
             kind->name);
    return "traces";
}

static const param own[] = {
    {"noise", PARAM_CHOICE, OBSERVABLE_KEY(condensate_keys, noise), "z2", PARAM_RANGE(CONDENSATE_NOISES), NULL,
     "numbers of the noise vectors: (+-1 +- i)/sqrt 2, or normal ones", 0},
    {"vectors", PARAM_INT, OBSERVABLE_KEY(condensate_keys, vectors), "16", "[1,1000000]", NULL,
     "number of noise vectors; they depend on [run] seed, the configuration, their number and the site, and are the "
     "same for every quark",
     0},
    {"traces", PARAM_CHOICE, OBSERVABLE_KEY(condensate_keys, traces), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     "of a staggered quark: also Tr M^-1 M', Tr M^-1 M'' and Tr (M^-1 M')^2 by derivatives with the quark chemical "
     "potential, at the price of one more solve a vector",
     0},
};
static const param_section part = PARAM_PART("measure", "condensate", measure_params, own);
_Static_assert(sizeof(condensate_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of condensate");

const observable observable_condensate = {
    .name = "condensate",
    .help = "chiral condensate Tr M^-1 / V by noise; of domain wall quarks M^-1 = (D_ov^-1 - 1) / (1 - m)",
    .own = &part,
    .check = check,
    .quarks = MEASURE_ANY_QUARK,
    .columns = columns,
    .ncolumns = COLUMNS,
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_condensate};
