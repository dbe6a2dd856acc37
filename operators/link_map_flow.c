/* Links at a fixed time of the Wilson flow (flow.h), for measurements: valence quarks on flowed links, and smooth loops. */
#include <stdio.h>

#include "kernels/ops/gauge.h"
#include "operators/flow.h"
#include "operators/link_map.h"

typedef struct {
    double time, step, xi;
} flow_keys;

static const flow_keys *keys_of(const link_settings *s)
{
    return (const flow_keys *)(const void *)s->own.bytes;
}

static void apply(link_map *m)
{
    const flow_keys *k = keys_of(&m->settings);
    field *a = field_create(m->from->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, m->from->where),
          *b = field_like(a);
    field_copy(m->links, m->from);
    for (long i = 1; i <= flow_steps(k->time, k->step); i++)
        flow_advance(m->links, flow_kernel_number(FLOW_WILSON), k->xi,
                     flow_time_after(i, k->time, k->step) - flow_time_after(i - 1, k->time, k->step), a, b);
    field_destroy(b);
    field_destroy(a);
}

static int advise(const link_settings *s, char *message, size_t size)
{
    const flow_keys *k = keys_of(s);
    if (k->step <= flow_largest_step(flow_kernel_number(FLOW_WILSON), k->xi)) return 0;
    snprintf(message, size,
             "flow_step = %g is too long for xi = %g: the flow is unstable beyond %.4g, 2.4 / (12 + 4 xi^2)", k->step,
             k->xi, flow_largest_step(flow_kernel_number(FLOW_WILSON), k->xi));
    return 1;
}

static const param own[] = {
    {"flow_time", PARAM_REAL, LINK_KEY(flow_keys, time), NULL, "(0,1000]", "a^2",
     "flow time of the links, whose smearing radius is sqrt(8 t)", 1},
    {"flow_step", PARAM_REAL, LINK_KEY(flow_keys, step), "0.02", FLOW_STEPS, "a^2", FLOW_STEP_HELP, 1},
    {"xi", PARAM_REAL, LINK_KEY(flow_keys, xi), "1", "[0.01,100]", NULL, FLOW_XI_HELP, 1},
};

static const param_section part = PARAM_PART("links", "flow", link_settings, own);
_Static_assert(sizeof(flow_keys) <= sizeof(((link_settings *)0)->own), "no room for the keys of flow");

const link_map_type link_map_flow = {.name = "flow",
                                     .help = "Wilson flow to a fixed time, for measurements alone",
                                     .own = &part,
                                     .advise = advise,
                                     .apply = apply};
