/* flow_slices: energies and charge by time slice along the gradient flow (operators/flow.h), for lattices of any boundary in time.
 *
 * A row for each time slice of each flow time that is kept, sums over the sites of the slice: -tr F F of the clover field strength, which
 * is zero on the end slices of a bounded lattice; 2 (3 - Re tr) of the plaquettes, those in time shared by the slices on either side;
 * and the charge. Over the number of sites in space they are densities: a^4 E of both kinds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hmc/measure/measure.h"
#include "hmc/measure/slices.h"
#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "operators/flow.h"

typedef struct {
    double flow_time, flow_step, error;
    int every;
    int kernel; /* FLOW_WILSON, ... */
} flow_slices_keys;

static const measure_column columns[] = {
    {"t", "a^2", "flow time"},
    {"slice", "a", "time slice"},
    {"e_clover_time", "a^-4", "energy of the clover field strength in temporal planes, summed over the slice"},
    {"e_clover_space", "a^-4", "the same in spatial planes"},
    {"e_plaquette", "a^-4", "energy of plaquettes, summed over the slice"},
    {"charge", "", "topological charge of the slice"},
};

static const measure_column summary[] = {
    {"charge", "", "topological charge of all slices at the longest flow time"},
};

static void add_rows(measure_result *r, double t, const field *links, field *tensor)
{
    const int T = links->lat->size[3];
    slice_energy *of = malloc((size_t)T * sizeof *of);
    REQUIRE_MEMORY(of, "out of memory for %d slices", T);
    slices_energy(of, links, tensor);
    r->summary[0] = 0;
    for (int s = 0; s < T; s++) {
        measure_add_row(r, (const double[]){t, s, of[s].temporal, of[s].spatial, of[s].plaquette, of[s].charge});
        r->summary[0] += of[s].charge;
    }
    free(of);
}

static int measure_slices(const measure_context *c, const measure_params *m, measure_result *r)
{
    const flow_slices_keys *k = OBSERVABLE_OWN(flow_slices_keys, m);
    const long steps = k->flow_time > 0 ? flow_steps(k->flow_time, k->flow_step) : 0;
    field *links = field_like(c->links),
          *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    flow f;
    field_copy(links, c->links);
    flow_open(&f, links, flow_kernel_number(k->kernel), 1, k->flow_step, k->error);
    add_rows(r, 0, links, tensor);
    int status = MEASURE_DONE;
    for (long i = 1; i <= steps && status == MEASURE_DONE; i++) {
        const double t = flow_time_after(i, k->flow_time, k->flow_step);
        if (flow_to(&f, t)) {
            flow_explain(&f, k->error, r->trouble, sizeof r->trouble);
            status = MEASURE_FAILED;
            break;
        }
        if (i % k->every == 0 || i == steps) add_rows(r, t, links, tensor);
        if (measure_interrupted(c)) status = MEASURE_GIVEN_UP;
    }
    flow_close(&f);
    field_destroy(tensor);
    field_destroy(links);
    return status;
}

static double flops(const measure_params *m, const int size[4])
{
    (void)size;
    const flow_slices_keys *k = OBSERVABLE_OWN(flow_slices_keys, m);
    return 3 * (k->flow_time / k->flow_step) *
           gauge_force_flops(gauge_weights_c1(1, flow_kernel_number(k->kernel)->c1));
}

#define MOST_ROWS 1000000

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const flow_slices_keys *k = OBSERVABLE_OWN(flow_slices_keys, &m->p);
    const flow_kernel *kernel = flow_kernel_number(k->kernel);
    const double steps = ceil(k->flow_time / k->flow_step), most = flow_largest_step(kernel, 1);
    if (parameters_time(p) != TIME_PERIODIC && kernel->corrects) {
        snprintf(message, size, "kernel = %s of [measure.%s] is for lattices that are periodic in time", kernel->name,
                 m->name);
        return "kernel";
    }
    if (k->flow_step > most && k->error == 0) {
        snprintf(message, size,
                 "flow_step = %g of [measure.%s] is too long for kernel = %s, which is stable up to %.4g", k->flow_step,
                 m->name, kernel->name, most);
        return "flow_step";
    }
    if (!(steps / k->every > MOST_ROWS)) return NULL;
    snprintf(message, size,
             "flow_time = %g of [measure.%s] is kept %.3g times; allowed are %d: raise every, lengthen flow_step or "
             "shorten flow_time",
             k->flow_time, m->name, steps / k->every, MOST_ROWS);
    return "flow_time";
}

static const param own[] = {
    {"flow_time", PARAM_REAL, OBSERVABLE_KEY(flow_slices_keys, flow_time), "0", "[0,150000]", "a^2",
     "longest flow time; 0: the links as they are", 0},
    {"flow_step", PARAM_REAL, OBSERVABLE_KEY(flow_slices_keys, flow_step), "0.05", FLOW_STEPS, "a^2", FLOW_STEP_HELP,
     0},
    {"every", PARAM_INT, OBSERVABLE_KEY(flow_slices_keys, every), "1", "[1,1000000]", "steps",
     "distance of the flow times whose slices are kept; the last one always is", 0},
    {"kernel", PARAM_CHOICE, OBSERVABLE_KEY(flow_slices_keys, kernel), "wilson", PARAM_RANGE(FLOW_KERNELS), NULL,
     "action of the flow, as of kind = flow", 0},
    {"flow_error", PARAM_REAL, OBSERVABLE_KEY(flow_slices_keys, error), "0", FLOW_ERRORS, NULL, FLOW_ERROR_HELP, 0},
};
static const param_section part = PARAM_PART("measure", "flow_slices", measure_params, own);
_Static_assert(sizeof(flow_slices_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of flow_slices");

const observable observable_flow_slices = {.name = "flow_slices",
                                           .help = "energies and charge by time slice along the gradient flow",
                                           .own = &part,
                                           .later = "flow_error",
                                           .check = check,
                                           .columns = columns,
                                           .ncolumns = sizeof columns / sizeof columns[0],
                                           .axis = "slice",
                                           .summary = summary,
                                           .nsummary = sizeof summary / sizeof summary[0],
                                           .measure = measure_slices,
                                           .flops = flops};
