/* Links at a fixed time of the gradient flow (flow.h), for measurements: valence quarks on flowed links, and smooth loops. */
#include <stdio.h>

#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "operators/flow.h"
#include "operators/link_map.h"

typedef struct {
    double time, step, xi, error;
    int kernel; /* FLOW_WILSON, ... */
} flow_keys;

static const flow_keys *keys_of(const link_settings *s)
{
    return (const flow_keys *)(const void *)s->own.bytes;
}

static void apply(link_map *m)
{
    const flow_keys *k = keys_of(&m->settings);
    const long steps = k->error > 0 ? 1 : flow_steps(k->time, k->step);
    char message[512];
    flow f;
    field_copy(m->links, m->from);
    flow_open(&f, m->links, flow_kernel_number(k->kernel), k->xi, k->step, k->error);
    for (long i = 1; i <= steps; i++)
        if (flow_to(&f, i == steps ? k->time : flow_time_after(i, k->time, k->step))) {
            flow_explain(&f, k->error, message, sizeof message);
            user_error("links of kind = flow: %s", message);
        }
    flow_close(&f);
}

static int advise(const link_settings *s, char *message, size_t size)
{
    const flow_keys *k = keys_of(s);
    const flow_kernel *kernel = flow_kernel_number(k->kernel);
    const double most = flow_largest_step(kernel, k->xi);
    if (k->step <= most || k->error > 0) return 0;
    if (kernel->c1 == 0)
        snprintf(message, size,
                 "flow_step = %g is too long for xi = %g: the flow is unstable beyond %.4g, 2.4 / (12 + 4 xi^2)",
                 k->step, k->xi, most);
    else
        snprintf(message, size, "flow_step = %g is too long for kernel = %s: the flow is unstable beyond %.4g", k->step,
                 kernel->name, most);
    return 1;
}

static const char *check(const link_settings *s, time_boundary time, char *message, size_t size)
{
    const flow_keys *k = keys_of(s);
    const flow_kernel *kernel = flow_kernel_number(k->kernel);
    if (k->xi != 1 && kernel->c1 != 0)
        snprintf(message, size, "kernel = %s is for isotropic lattices; take kernel = wilson for xi = %g", kernel->name,
                 k->xi);
    else if (time != TIME_PERIODIC && kernel->corrects)
        snprintf(message, size, "kernel = %s is for lattices that are periodic in time", kernel->name);
    else return NULL;
    return "kernel";
}

static const param own[] = {
    {"flow_time", PARAM_REAL, LINK_KEY(flow_keys, time), NULL, "(0,1000]", "a^2",
     "flow time of the links, whose smearing radius is sqrt(8 t)", 1},
    {"flow_step", PARAM_REAL, LINK_KEY(flow_keys, step), "0.02", FLOW_STEPS, "a^2", FLOW_STEP_HELP, 1},
    {"xi", PARAM_REAL, LINK_KEY(flow_keys, xi), "1", "[0.01,100]", NULL, FLOW_XI_HELP, 1},
    {"kernel", PARAM_CHOICE, LINK_KEY(flow_keys, kernel), "wilson", PARAM_RANGE(FLOW_KERNELS), NULL,
     "action of the flow, as of measurements of kind = flow; the last two with xi = 1, zeuthen where time is periodic",
     1},
    {"flow_error", PARAM_REAL, LINK_KEY(flow_keys, error), "0", FLOW_ERRORS, NULL,
     "adaptive steps, from flow_step on, as of measurements of kind = flow; 0: steps of flow_step", 1},
};

static const param_section part = PARAM_PART("links", "flow", link_settings, own);
_Static_assert(sizeof(flow_keys) <= sizeof(((link_settings *)0)->own), "no room for the keys of flow");

const link_map_type link_map_flow = {.name = "flow",
                                     .help = "gradient flow to a fixed time, for measurements alone",
                                     .own = &part,
                                     .advise = advise,
                                     .check = check,
                                     .apply = apply};
