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

/* gauge_force() adds beta / 6 P(U staples), and the slope is -P(U staples): a weight w of a slope is beta = 6 w, and
 * the sign goes into the step. */
void flow_advance(field *links, double step, field *a, field *b)
{
    momenta_zero(a);
    gauge_force(a, links, gauge_weights_c1(6 * (1.0 / 4), 0));
    gauge_update(links, -step, a);
    momenta_zero(b);
    gauge_force(b, links, gauge_weights_c1(6 * (8.0 / 9), 0));
    momenta_add(b, -17.0 / 9, a);
    gauge_update(links, -step, b);
    momenta_zero(a);
    gauge_force(a, links, gauge_weights_c1(6 * (3.0 / 4), 0));
    momenta_add(a, -1, b);
    gauge_update(links, -step, a);
}
