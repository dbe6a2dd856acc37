/* reweighting: log W of the factor W that makes an ensemble of one quark that of another mass or twisted mass, by noise, in steps
 * (A. Hasenfratz, R. Hoffmann and S. Schaefer, arXiv:0805.2369; M. Luescher and F. Palombi, arXiv:0810.0946):
 *
 *   W = prod_k W_k,   W_k = <exp(x)> over Gaussian noise e, from D = D_(k-1) to D' = D_k, D and D' on all sites.
 *
 * Two flavours, W_k = det(D'^dagger D') / det(D^dagger D): of a mass, with phi = D'^-1 (m - m') e,
 *   x = -2 Re e^dagger phi - |phi|^2,
 * and of a twisted mass, with D D^dagger = D_W D_W^dagger + mu^2,
 *   x = -(mu^2 - mu'^2) |D'^-1 e|^2.
 * One flavour, W_k = det(D') / det(D): x = -e^dagger phi, which is complex; W_k is the real part of the mean. Masses, or squares of
 * twisted masses, are equally far apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/measure/solves.h"
#include "hmc/quarks/quark.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"

typedef struct {
    double to_mass, to_kappa, to_mu; /* NaN: as it is */
    int flavours, steps, vectors;
} weight_keys;

static const measure_column columns[] = {
    {"step", "", "number of the step, from 1"},
    {"vector", "", "number of the noise vector of the step"},
    {"real", "", "Re x, the exponent"},
    {"imaginary", "", "Im x, of one flavour"},
};
enum { STEP, VECTOR, REAL, IMAGINARY, COLUMNS };

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
    {"log_weight", "", "log W"},
    {"log_weight_error", "", "error of log W from the noise; none of one vector"},
};

/* ---- the way from one quark to the other ---- */

static double *mu_of(quark_params *f)
{
    return quark_key(f, "mu");
}

static double mass_after(const weight_keys *k)
{
    return isnan(k->to_kappa) ? k->to_mass : 1 / (2 * k->to_kappa) - 4;
}

static int changes_mu(const weight_keys *k)
{
    return !isnan(k->to_mu);
}

/* The quark after a step; 0: the section's. */
static quark_params quark_after(const weight_keys *k, const quark_params *from, int step)
{
    quark_params f = *from;
    const double way = (double)step / k->steps;
    if (step == 0) return f;
    if (changes_mu(k)) {
        double *mu = mu_of(&f);
        const double there = k->to_mu * k->to_mu, here = *mu * *mu;
        *mu = step == k->steps ? k->to_mu : copysign(sqrt(here + way * (there - here)), *mu);
    } else {
        f.mass = step == k->steps ? mass_after(k) : from->mass + way * (mass_after(k) - from->mass);
    }
    return f;
}

/* ---- a step ---- */

typedef struct {
    quark_solves q;
    const weight_keys *k;
    field *noise, *x;
    uint64_t seed;
    double factor;   /* m - m', or mu^2 - mu'^2 */
    int step, first; /* number of the step, and of the first vector of a batch */
    measure_result *r;
} estimator;

static const field *noise_of(void *context, int i)
{
    estimator *e = context;
    const int number = (e->step - 1) * e->k->vectors + e->first + i;
    vector_random(e->noise, e->seed, RANDOM_NOISE, (uint32_t)number);
    slices_scale(e->noise, SLICES_ENDS, 0); /* quark fields vanish there */
    return e->noise;
}

/* x = D'^-1 e of vector number i. */
static void solved(void *context, int i, const field *x)
{
    estimator *e = context;
    const double f = e->factor, norm2 = vector_norm2(x, 0);
    double row[COLUMNS] = {e->step, e->first + i, -f * norm2, 0};
    if (!changes_mu(e->k)) {
        double product[2];
        noise_of(e, i);
        vector_dot(product, e->noise, x, 0);
        const int two = e->k->flavours == 2;
        row[REAL] = two ? -2 * f * product[0] - f * f * norm2 : -f * product[0];
        row[IMAGINARY] = two ? 0 : -f * product[1];
    }
    measure_add_row(e->r, row);
}

static int make_step(const measure_context *c, const measure_params *m, estimator *e)
{
    const quark_params *from = &c->p->quarks[parameters_quark(c->p, m->quark)].p;
    quark_params before = quark_after(e->k, from, e->step - 1), after = quark_after(e->k, from, e->step);
    int status = MEASURE_DONE;
    solves_open_changed(&e->q, c, &after, m->solver[0] ? m->solver : from->solver, m->error_estimate == PARAM_YES);
    e->factor = changes_mu(e->k) ? *mu_of(&before) * *mu_of(&before) - *mu_of(&after) * *mu_of(&after)
                                 : before.mass - after.mass;
    e->noise = fermion_physical(e->q.quark);
    e->x = fermion_physical(e->q.quark);
    const solves_batch_of batch = {noise_of, solved, e, e->x};
    const int most = solves_most(&e->q);
    for (e->first = 0; e->first < e->k->vectors && status == MEASURE_DONE; e->first += most) {
        const int left = e->k->vectors - e->first;
        char what[64];
        snprintf(what, sizeof what, "step %d of %d, vectors from %d on", e->step, e->k->steps, e->first);
        status = solves_batch(&e->q, left < most ? left : most, &batch, what, e->r);
    }
    double values[SOLVES_VALUES];
    solves_summary(&e->q, values);
    solves_merge(e->r->summary, values, e->q.estimates);
    field_destroy(e->x);
    field_destroy(e->noise);
    solves_close(&e->q);
    return status;
}

/* ---- the weight ---- */

/* log W_k from n rows; adds the square of its error, with NaN of one row. Exponents are taken relative to the largest. */
static double log_mean(const double *rows, int n, double *error2)
{
    double largest = -INFINITY, mean = 0, squares = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, rows[i * COLUMNS + REAL]);
    for (int i = 0; i < n; i++)
        mean += exp(rows[i * COLUMNS + REAL] - largest) * cos(rows[i * COLUMNS + IMAGINARY]) / n;
    for (int i = 0; i < n; i++)
        squares += pow(exp(rows[i * COLUMNS + REAL] - largest) * cos(rows[i * COLUMNS + IMAGINARY]) - mean, 2);
    *error2 += n > 1 ? squares / ((double)n * (n - 1) * mean * mean) : NAN;
    return largest + log(mean);
}

static int measure_reweighting(const measure_context *c, const measure_params *m, measure_result *r)
{
    estimator e = {.k = OBSERVABLE_OWN(weight_keys, m), .seed = measure_noise_seed(c), .r = r};
    double weight = 0, error2 = 0;
    solves_none(r->summary);
    for (e.step = 1; e.step <= e.k->steps; e.step++) {
        const int status = make_step(c, m, &e);
        if (status != MEASURE_DONE) return status;
        if (c->links->lat->planned) break;
        weight += log_mean(r->rows + (r->nrows - e.k->vectors) * COLUMNS, e.k->vectors, &error2);
    }
    r->summary[SOLVES_VALUES] = weight;
    r->summary[SOLVES_VALUES + 1] = sqrt(error2);
    return MEASURE_DONE;
}

/* ---- keys ---- */

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const weight_keys *k = OBSERVABLE_OWN(weight_keys, &m->p);
    quark_params f = p->quarks[parameters_quark(p, m->p.quark)].p;
    const int twisted = f.kind == param_kind(quark_section(0), "twisted_mass"),
              given = !isnan(k->to_mass) + !isnan(k->to_kappa);
    if (f.kind != param_kind(quark_section(0), "wilson_clover") && !twisted) {
        snprintf(message, size,
                 "kind = reweighting of [measure.%s] is for quarks of kind = wilson_clover and twisted_mass, and "
                 "[quark.%s] is of kind = %s",
                 m->name, m->p.quark, quark_kind_of(&f)->name);
        return "quark";
    }
    if (given + changes_mu(k) != 1) {
        snprintf(message, size, "[measure.%s] needs one of to_mass, to_kappa and to_mu, and has %s", m->name,
                 given + changes_mu(k) ? "more" : "none");
        return given + changes_mu(k) == 0 ? "" : given ? (isnan(k->to_mass) ? "to_kappa" : "to_mass") : "to_mu";
    }
    if (changes_mu(k) && !twisted) {
        snprintf(message, size, "to_mu = %g of [measure.%s] is for a quark of kind = twisted_mass; [quark.%s] is of %s",
                 k->to_mu, m->name, m->p.quark, quark_kind_of(&f)->name);
        return "to_mu";
    }
    if (twisted && k->flavours == 1) {
        snprintf(message, size, "flavours = 1 of [measure.%s]: [quark.%s] of kind = twisted_mass has two", m->name,
                 m->p.quark);
        return "flavours";
    }
    return NULL;
}

#define KEY(member) OBSERVABLE_KEY(weight_keys, member)
static const param own[] = {
    {"to_mass", PARAM_REAL, KEY(to_mass), "same", "(-inf,inf)|same", NULL, "mass of the other quark", 0},
    {"to_kappa", PARAM_REAL, KEY(to_kappa), "same", "(0,inf)|same", NULL, "its hopping parameter, in place of to_mass",
     0},
    {"to_mu", PARAM_REAL, KEY(to_mu), "same", "[-10,10]|same", "1/a", "its twisted mass, in place of to_mass", 0},
    {"flavours", PARAM_INT, KEY(flavours), "2", "[1,2]", NULL, "flavours of the quark that are changed", 0},
    {"steps", PARAM_INT, KEY(steps), "1", "[1,1000]", NULL,
     "factors of the weight, by quarks in between; more steps have less noise", 0},
    {"vectors", PARAM_INT, KEY(vectors), "16", "[1,1000000]", NULL,
     "noise vectors of each step; they depend on [run] seed, the configuration, their number and the site", 0},
};
static const param_section part = PARAM_PART("measure", "reweighting", measure_params, own);
_Static_assert(sizeof(weight_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of reweighting");

const observable observable_reweighting = {.name = "reweighting",
                                           .help =
                                               "weight of a configuration in the ensemble of another mass or twisted "
                                               "mass, by noise",
                                           .own = &part,
                                           .check = check,
                                           .quarks = MEASURE_WILSON,
                                           .columns = columns,
                                           .ncolumns = COLUMNS,
                                           .summary = summary,
                                           .nsummary = sizeof summary / sizeof summary[0],
                                           .measure = measure_reweighting};
