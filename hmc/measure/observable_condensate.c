/* condensate: <psibar psi> = Tr M^-1 / V by noise, V the number of sites, of one quark as its section has it. The trace
 * is over colours, and spins of Wilson's quark; M^-1 of a domain wall quark is the physical propagator, (D_ov^-1 - 1) / (1 - m),
 * without the contact term. M = m + D / 2 of a staggered quark, whose one field makes four tastes:
 * for N flavours this is to be multiplied by N / 4. (Programs with M = 2 m + D find half of it for Tr M^-1 / V.)
 *
 * A row is one noise vector e, with <e_i conj(e_j)> = delta_ij: e^dagger M^-1 e / V. Its imaginary part is noise; the
 * real one has none between even and odd sites if the quark is staggered. All vectors are functions of the seed, the
 * configuration, their number and the global site.
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

#include "hmc/evolve/fermion_kind.h"
#include "hmc/measure/propagator.h"
#include "kernels/ops/vector.h"

typedef struct {
    char noise[PARAM_CHOICE_SIZE], traces[PARAM_CHOICE_SIZE];
    int vectors;
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
    {"residual", "", "largest |b - M x| / |b| of the solves, of the whole operator"},
    {"iterations", "", "of all solves together"},
    {"condensate", "", "mean over the noise vectors"},
    {"condensate_error", "", "its error from the noise"},
    {"density", "", "Tr M^-1 M' / i V, mean"},
    {"curvature", "", "Tr M^-1 M'' / V, mean"},
    {"square", "", "Tr (M^-1 M')^2 / V, mean"},
};

typedef struct {
    propagator q;
    field *noise, *x, *y, *z;
    uint64_t seed;
    double volume;
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
    return !strcmp(OBSERVABLE_OWN(condensate_keys, m)->traces, "yes");
}

static int one_vector(estimator *e, const measure_params *m, int number, measure_result *r)
{
    double row[COLUMNS] = {[VECTOR] = number, [DENSITY] = NAN, [CURVATURE] = NAN, [SQUARE] = NAN}, value[2];
    char what[64];
    if (!strcmp(OBSERVABLE_OWN(condensate_keys, m)->noise, "z2"))
        vector_random_signs(e->noise, e->seed, RANDOM_NOISE, (uint32_t)number);
    else vector_random(e->noise, e->seed, RANDOM_NOISE, (uint32_t)number);
    snprintf(what, sizeof what, "noise vector %d", number);
    int status = propagator_solve(&e->q, e->x, e->noise, what, r);
    if (status != MEASURE_DONE) return status;
    product(value, e, e->x);
    row[CONDENSATE] = value[0];
    row[IMAGINARY] = value[1];
    if (e->y) {
        fermion_derivative(e->q.quark, e->y, e->x, 2);
        product(value, e, e->y);
        row[CURVATURE] = value[0];
        fermion_derivative(e->q.quark, e->y, e->x, 1);
        product(value, e, e->y);
        row[DENSITY] = value[1];
        snprintf(what, sizeof what, "the derivative of noise vector %d", number);
        status = propagator_solve(&e->q, e->z, e->y, what, r);
        if (status != MEASURE_DONE) return status;
        fermion_derivative(e->q.quark, e->y, e->z, 1);
        product(value, e, e->y);
        row[SQUARE] = value[0];
    }
    measure_add_row(r, row);
    return MEASURE_DONE;
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

static int measure_condensate(const measure_context *c, const measure_params *m, measure_result *r)
{
    estimator e = {.seed = measure_noise_seed(c), .volume = (double)c->links->lat->volume};
    int status = MEASURE_DONE;
    propagator_open(&e.q, c, m);
    e.noise = fermion_physical(e.q.quark);
    e.x = fermion_physical(e.q.quark);
    if (has_traces(m)) {
        e.y = fermion_physical(e.q.quark);
        e.z = fermion_physical(e.q.quark);
    }
    for (int i = 0; i < OBSERVABLE_OWN(condensate_keys, m)->vectors && status == MEASURE_DONE; i++)
        status = one_vector(&e, m, i, r);
    if (status == MEASURE_DONE) {
        propagator_summary(&e.q, r->summary);
        r->summary[2] = mean_of(r, CONDENSATE, &r->summary[3]);
        for (int i = 0; i < 3; i++) r->summary[4 + i] = mean_of(r, DENSITY + i, NULL);
    }
    field_destroy(e.z);
    field_destroy(e.y);
    field_destroy(e.x);
    field_destroy(e.noise);
    propagator_close(&e.q);
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const char *kind = p->fermions[simulation_fermion(p, m->p.fermion)].p.kind;
    if (!has_traces(&m->p) || fermion_kind_find(kind)->chemical_potential) return NULL;
    snprintf(message, size, "traces = yes needs a staggered quark, but [fermion.%s] is of kind = %s", m->p.fermion,
             kind);
    return "traces";
}

static const param own[] = {
    {"noise", PARAM_CHOICE, OBSERVABLE_KEY(condensate_keys, noise), "z2", "z2|gaussian", NULL,
     "numbers of the noise vectors: (+-1 +- i)/sqrt 2, or normal ones", 0},
    {"vectors", PARAM_INT, OBSERVABLE_KEY(condensate_keys, vectors), "16", "[1,1000000]", NULL,
     "number of noise vectors; they depend on [run] seed, the configuration, their number and the site, and are the "
     "same "
     "for every quark",
     0},
    {"traces", PARAM_CHOICE, OBSERVABLE_KEY(condensate_keys, traces), "no", "no|yes", NULL,
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
