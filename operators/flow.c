#include "operators/flow.h"

#include <math.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"

long flow_steps(double time, double step)
{
    return (long)ceil(time / step * (1 - 1e-12));
}

double flow_time_after(long i, double time, double step)
{
    return i >= flow_steps(time, step) ? time : (double)i * step;
}

static const flow_kernel kernels[] = {
    {"wilson", 0, 0, 0.15}, {"symanzik", -1.0 / 12, 0, 0.09}, {"zeuthen", -1.0 / 12, 1, 0.14}};

const flow_kernel *flow_kernel_number(int i)
{
    return i < (int)(sizeof kernels / sizeof kernels[0]) ? &kernels[i] : NULL;
}

const flow_kernel *flow_kernel_find(const char *name)
{
    int i = 0;
    while (flow_kernel_number(i) && strcmp(flow_kernel_number(i)->name, name)) i++;
    REQUIRE(flow_kernel_number(i), "no kernel %s of the flow", name);
    return flow_kernel_number(i);
}

double flow_largest_step(const flow_kernel *k, double xi)
{
    return fmin(k->most_step, k->most_step * 16 / (12 + 4 * xi * xi));
}

double flow_action(const field *links, const flow_kernel *k)
{
    return gauge_action(links, gauge_weights_c1(1, k->c1)) / (6 * (double)links->lat->volume);
}

/* gauge_force() adds beta / 6 P(U staples), and the slope is -P(U staples): a weight w of a slope is beta = 6 w, and
 * the sign goes into the step. */
static void slope(field *out, const field *links, const flow_kernel *k, double xi, double weight)
{
    gauge_weights w = gauge_weights_c1(6 * weight, k->c1);
    w.plaquette[1] *= xi * xi;
    momenta_zero(out);
    gauge_force(out, links, w);
    slices_scale(out, SLICES_OPEN_LINKS, 2);
    if (time_has_wall(links->lat->time, 1)) momenta_clear_fixed(out);
    if (k->corrects) momenta_laplace(out, 1.0 / 12, links);
}

void flow_advance(field *links, const flow_kernel *k, double xi, double step, field *a, field *b)
{
    const double in_time = step / (xi * xi);
    REQUIRE(!k->corrects || links->lat->time == TIME_PERIODIC, "kernel %s at the ends of time", k->name);
    REQUIRE(xi == 1 || k->c1 == 0, "kernel %s with an anisotropy", k->name);
    slope(a, links, k, xi, 1.0 / 4);
    gauge_update_by(links, -step, -in_time, a);
    slope(b, links, k, xi, 8.0 / 9);
    momenta_add(b, -17.0 / 9, a);
    gauge_update_by(links, -step, -in_time, b);
    slope(a, links, k, xi, 3.0 / 4);
    momenta_add(a, -1, b);
    gauge_update_by(links, -step, -in_time, a);
}
