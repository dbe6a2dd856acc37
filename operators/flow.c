#include "operators/flow.h"

#include <math.h>

#include "kernels/ops/gauge.h"

long flow_steps(double time, double step)
{
    return (long)ceil(time / step * (1 - 1e-12));
}

double flow_time_after(long i, double time, double step)
{
    return i >= flow_steps(time, step) ? time : (double)i * step;
}

double flow_largest_step(double xi)
{
    return fmin(0.15, 0.15 * 16 / (12 + 4 * xi * xi));
}

/* Weights of a slope. */
static gauge_weights slope(double weight, double xi)
{
    return (gauge_weights){.plaquette = {6 * weight, 6 * weight * xi * xi}};
}

/* gauge_force() adds beta / 6 P(U staples), and the slope is -P(U staples): a weight w of a slope is beta = 6 w, and
 * the sign goes into the step. */
void flow_advance(field *links, double step, double xi, field *a, field *b)
{
    const double in_time = step / (xi * xi);
    momenta_zero(a);
    gauge_force(a, links, slope(1.0 / 4, xi));
    gauge_update_by(links, -step, -in_time, a);
    momenta_zero(b);
    gauge_force(b, links, slope(8.0 / 9, xi));
    momenta_add(b, -17.0 / 9, a);
    gauge_update_by(links, -step, -in_time, b);
    momenta_zero(a);
    gauge_force(a, links, slope(3.0 / 4, xi));
    momenta_add(a, -1, b);
    gauge_update_by(links, -step, -in_time, a);
}
