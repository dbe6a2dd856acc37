#include "operators/flow.h"

#include <math.h>
#include <stdio.h>
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

/* First two stages, of links after flow_advance() in the middle: a = Z_0 / 4, b = 8/9 Z_1 - 17/36 Z_0. */
static void first_stages(field *links, const flow_kernel *k, double xi, double step, field *a, field *b)
{
    slope(a, links, k, xi, 1.0 / 4);
    gauge_update_by(links, -step, -step / (xi * xi), a);
    slope(b, links, k, xi, 8.0 / 9);
    momenta_add(b, -17.0 / 9, a);
}

static void last_stages(field *links, const flow_kernel *k, double xi, double step, field *a, field *b)
{
    const double in_time = step / (xi * xi);
    gauge_update_by(links, -step, -in_time, b);
    slope(a, links, k, xi, 3.0 / 4);
    momenta_add(a, -1, b);
    gauge_update_by(links, -step, -in_time, a);
}

void flow_advance(field *links, const flow_kernel *k, double xi, double step, field *a, field *b)
{
    REQUIRE(!k->corrects || links->lat->time == TIME_PERIODIC, "kernel %s at the ends of time", k->name);
    REQUIRE(xi == 1 || k->c1 == 0, "kernel %s with an anisotropy", k->name);
    first_stages(links, k, xi, step, a, b);
    last_stages(links, k, xi, step, a, b);
}

/* ---- adaptive steps ---- */

void flow_open(flow *f, field *links, const flow_kernel *kernel, double xi, double step, double error)
{
    const lattice *lat = links->lat;
    *f = (flow){.links = links, .kernel = kernel, .xi = xi, .error = error, .step = step};
    f->a = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    f->b = field_like(f->a);
    if (error == 0) return;
    f->c = field_like(f->a);
    f->start = field_like(links);
    f->lower = field_like(links);
}

void flow_close(flow *f)
{
    field *const all[] = {f->a, f->b, f->c, f->start, f->lower};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
}

/* Step of length h; returns its distance d. */
static double try_step(flow *f, double h)
{
    const double in_time = h / (f->xi * f->xi);
    field_copy(f->start, f->links);
    first_stages(f->links, f->kernel, f->xi, h, f->a, f->b);
    /* 2 Z_1 - Z_0 */
    momenta_zero(f->c);
    momenta_add(f->c, 9.0 / 4, f->b);
    momenta_add(f->c, 1.0 / 4, f->a);
    field_copy(f->lower, f->start);
    gauge_update_by(f->lower, -h, -in_time, f->c);
    last_stages(f->links, f->kernel, f->xi, h, f->a, f->b);
    return sqrt(links_distance2(f->links, f->lower) / (36 * (double)f->links->lat->volume));
}

void flow_explain(const flow *f, double error, char *message, size_t size)
{
    snprintf(
        message, size,
        "the flow does not go on at t = %.6g with steps of %.1e whose error is below flow_error = %g; the links are "
        "too rough, or flow_error is below rounding: raise it",
        f->time, f->step, error);
}

/* Steps below this one are no progress. */
#define LEAST_STEP 1e-7

int flow_to(flow *f, double time)
{
    const double most = flow_largest_step(f->kernel, f->xi);
    if (f->error == 0) {
        flow_advance(f->links, f->kernel, f->xi, time - f->time, f->a, f->b);
        f->time = time;
        f->steps++;
    }
    while (f->time < time && !f->links->lat->planned) {
        const double left = time - f->time, tried = fmin(f->step, most);
        const int last = tried >= left * (1 - 1e-9);
        const double h = last ? left : tried, d = f->distance = try_step(f, h);
        const double next = fmin(fmin(2 * h, most), 0.95 * h * cbrt(f->error / fmax(d, 1e-3 * f->error)));
        if (!(d <= f->error)) {
            field_copy(f->links, f->start);
            f->rejected++;
            f->step = next < h ? next : h / 2;
            if (!(f->step >= LEAST_STEP)) return -1;
            continue;
        }
        f->time = last ? time : f->time + h;
        f->steps++;
        /* A step that was cut short says little of the next one. */
        f->step = last && h < tried ? fmax(tried, next) : next;
    }
    return 0;
}
