/* flow_improved: energy and topological charge of the gradient flow (operators/flow.h), improved by loops of up to five sizes
 * (operators/five_loop.h), beside those of the clover.
 *
 * A row for each flow time that is kept. Loops take about as long as ten steps of the flow, so few flow times are kept. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/measure/measure.h"
#include "operators/five_loop.h"
#include "operators/flow.h"

#define FLOW_LOOPS(X) X(FLOW_LOOPS_FIVE, "five") X(FLOW_LOOPS_THREE, "three")
enum { FLOW_LOOPS(PARAM_CONSTANT) };

typedef struct {
    double flow_time, flow_step, error;
    int every;
    int kernel, loops;
} improved_keys;

static const measure_column columns[] = {
    {"t", "a^2", "flow time"},
    {"e_improved", "a^-4", "energy density by loops of up to five sizes"},
    {"e_improved_time", "a^-4", "its part in temporal planes"},
    {"e_improved_space", "a^-4", "its part in spatial planes"},
    {"charge_improved", "", "topological charge by the same loops"},
    {"e_clover", "a^-4", "energy density of the clover field strength"},
    {"charge", "", "topological charge of the clover field strength"},
};

static const measure_column summary[] = {
    {"charge_improved", "", "improved topological charge at the longest flow time"},
};

static void add_row(measure_result *r, const improved_keys *k, double t, const field *links, field *tensor)
{
    const gauge_energy e = five_loop_energy(tensor, links, k->loops == FLOW_LOOPS_FIVE ? 1.0 / 20 : 1.0 / 10);
    gauge_field_strength(tensor, links);
    const gauge_energy clover = gauge_field_energy(tensor);
    measure_add_row(r, (const double[]){t, e.temporal + e.spatial, e.temporal, e.spatial, e.charge,
                                        clover.temporal + clover.spatial, clover.charge});
    r->summary[0] = e.charge;
}

static int measure_improved(const measure_context *c, const measure_params *m, measure_result *r)
{
    const improved_keys *k = OBSERVABLE_OWN(improved_keys, m);
    const long steps = k->flow_time > 0 ? flow_steps(k->flow_time, k->flow_step) : 0;
    field *links = field_like(c->links),
          *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    flow f;
    int status = MEASURE_DONE;
    field_copy(links, c->links);
    flow_open(&f, links, flow_kernel_number(k->kernel), 1, k->flow_step, k->error);
    for (long i = 0; i <= steps && status == MEASURE_DONE; i++) {
        const double t = i > 0 ? flow_time_after(i, k->flow_time, k->flow_step) : 0;
        if (i > 0 && flow_to(&f, t)) {
            flow_explain(&f, k->error, r->trouble, sizeof r->trouble);
            status = MEASURE_FAILED;
            break;
        }
        if (i == steps || (k->every > 0 && i % k->every == 0)) add_row(r, k, t, links, tensor);
        if (measure_interrupted(c)) status = MEASURE_GIVEN_UP;
    }
    flow_close(&f);
    field_destroy(tensor);
    field_destroy(links);
    return status;
}

#define MOST_STEPS 1000000

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const improved_keys *k = OBSERVABLE_OWN(improved_keys, &m->p);
    const flow_kernel *kernel = flow_kernel_number(k->kernel);
    const double steps = ceil(k->flow_time / k->flow_step), most = flow_largest_step(kernel, 1);
    (void)p;
    if (k->flow_step > most && k->error == 0) {
        snprintf(message, size,
                 "flow_step = %g of [measure.%s] is too long for kernel = %s, which is stable up to %.4g", k->flow_step,
                 m->name, kernel->name, most);
        return "flow_step";
    }
    if (!(steps > MOST_STEPS)) return NULL;
    snprintf(message, size,
             "flow_time = %g of [measure.%s] takes %.3g steps of flow_step = %g; allowed are %d: shorten flow_time or "
             "lengthen flow_step",
             k->flow_time, m->name, steps, k->flow_step, MOST_STEPS);
    return "flow_time";
}

static const param own[] = {
    {"flow_time", PARAM_REAL, OBSERVABLE_KEY(improved_keys, flow_time), "2", "[0,150000]", "a^2",
     "longest flow time; 0: the links as they are", 0},
    {"flow_step", PARAM_REAL, OBSERVABLE_KEY(improved_keys, flow_step), "0.05", FLOW_STEPS, "a^2", FLOW_STEP_HELP, 0},
    {"every", PARAM_INT, OBSERVABLE_KEY(improved_keys, every), "0", "[0,1000000]", "steps",
     "distance of the flow times that are kept, from 0 on; 0: the last one alone, which always is", 0},
    {"kernel", PARAM_CHOICE, OBSERVABLE_KEY(improved_keys, kernel), "wilson", PARAM_RANGE(FLOW_KERNELS), NULL,
     "action of the flow, as of kind = flow", 0},
    {"flow_error", PARAM_REAL, OBSERVABLE_KEY(improved_keys, error), "0", FLOW_ERRORS, NULL, FLOW_ERROR_HELP, 0},
    {"loops", PARAM_CHOICE, OBSERVABLE_KEY(improved_keys, loops), "five", PARAM_RANGE(FLOW_LOOPS), NULL,
     "five: of 1 x 1, 2 x 2, 1 x 2, 1 x 3 and 3 x 3 links; three: of 1 x 1, 2 x 2 and 3 x 3", 0},
};
static const param_section part = PARAM_PART("measure", "flow_improved", measure_params, own);
_Static_assert(sizeof(improved_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of flow_improved");

const observable observable_flow_improved = {
    .name = "flow_improved",
    .help = "energy and topological charge along the gradient flow, improved by loops of five sizes",
    .own = &part,
    .check = check,
    .periodic = "loops of several links reach over its ends",
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .axis = "t",
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_improved};
