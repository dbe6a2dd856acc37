/* trace: Tr M^-1 / V by noise with what makes its error smaller (stochastic.h), V the number of sites. Normalised as the
 * condensate is (observable_condensate.c). */
#include <math.h>

#include "hmc/measure/stochastic.h"
#include "kernels/ops/vector.h"

typedef struct {
    noise_keys noise;
} trace_keys;

static const measure_column columns[] = {
    {"vector", "", "number of the noise vector"},
    {"trace", "", "Re e^dagger M^-1 (1 - P) e / V by the solver"},
    {"imaginary", "", "its imaginary part, which is noise"},
    {"rough", "", "Re e^dagger M^-1 (1 - P) e / V by the rough solver"},
};
enum { VECTOR, TRACE, IMAGINARY, ROUGH, COLUMNS };

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves, but for the rough ones"),
    {"trace", "", "Tr M^-1 / V, all parts together"},
    {"trace_error", "", "its error from the noise"},
    {"low", "", "its part from the low modes; 0 without them"},
    {"correction", "", "its part from the difference of solver and rough solver; NaN without a rough solver"},
    {"correction_error", "", "its error"},
};

/* Real and imaginary part, over the volume. */
static void contract(void *context, double *value, double weight, const field *e, const field *x)
{
    double both[2];
    (void)context;
    vector_dot(both, e, x, 0);
    for (int i = 0; i < 2; i++) value[i] += weight * both[i] / (double)e->lat->volume;
}

static void conclude(const stochastic *s, const quark_solves *q, measure_result *r)
{
    for (int i = 0; i < s->all; i++)
        measure_add_row(r, (const double[COLUMNS]){[VECTOR] = i,
                                                   [TRACE] = i < s->vectors ? s->fine[2 * i] : NAN,
                                                   [IMAGINARY] = i < s->vectors ? s->fine[2 * i + 1] : NAN,
                                                   [ROUGH] = s->rough ? s->rough[2 * i] : NAN});
    const stochastic_value v = stochastic_mean(s, 0);
    solves_summary(q, r->summary);
    r->summary[SOLVES_VALUES] = v.mean;
    r->summary[SOLVES_VALUES + 1] = v.error;
    r->summary[SOLVES_VALUES + 2] = s->low[0];
    r->summary[SOLVES_VALUES + 3] = v.correction;
    r->summary[SOLVES_VALUES + 4] = v.correction_error;
}

static int measure_trace(const measure_context *c, const measure_params *m, measure_result *r)
{
    quark_solves q;
    stochastic s;
    solves_open_keys(&q, c, m);
    const stochastic_call call = {.q = &q,
                                  .keys = &OBSERVABLE_OWN(trace_keys, m)->noise,
                                  .seed = measure_noise_seed(c),
                                  .values = 2,
                                  .contract = contract};
    const int status = stochastic_estimate(&s, &call, r);
    if (status == MEASURE_DONE) conclude(&s, &q, r);
    stochastic_free(&s);
    solves_close(&q);
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    return noise_check(p, m, &OBSERVABLE_OWN(trace_keys, &m->p)->noise, message, size);
}

static const param own[] = {NOISE_KEYS(trace_keys)};
static const param_section part = PARAM_PART("measure", "trace", measure_params, own);
_Static_assert(sizeof(trace_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of trace");

const observable observable_trace = {
    .name = "trace",
    .help = "Tr M^-1 / V by noise with dilution, probing, a rough solver with its correction, and low modes",
    .own = &part,
    .check = check,
    .quarks = MEASURE_ANY_QUARK,
    .columns = columns,
    .ncolumns = COLUMNS,
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_trace};
