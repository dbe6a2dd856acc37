/* The flow of a plane wave of abelian links decays as its kernel says, exactly: with q^2 = 4 sin^2(p / 2) of momentum (p, p, 0, 0) and
 * transverse polarisation the rate is 2 q^2 (wilson), that times 1 + q^2 / 6 (symanzik), and that times 1 - q^2 / 12 (zeuthen). A step
 * of third-order Runge-Kutta multiplies the amplitude with 1 - z + z^2 / 2 - z^3 / 6, z the rate times the step. So the rate of zeuthen is
 * the square of the continuum's momentum, 2 p^2, up to terms of p^6, and those of the others differ from it by some of p^4. */
#include <math.h>
#include <stdlib.h>

#include "operators/flow.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{8, 8, 4, 4}};

/* Links exp(i a diag(1, -1, 0)): a_x = s cos(p (x + y + 1/2)), a_y = -a_x, a wave without longitudinal part. */
static double complex *wave(double p, double s)
{
    double complex *u = ref_gauge_new(shape);
    for (size_t site = 0; site < ref_volume(shape); site++) {
        int x[4];
        ref_coordinates(x, shape, site);
        for (int mu = 0; mu < 4; mu++) {
            const double sign = mu == 0 ? 1 : mu == 1 ? -1 : 0, a = sign * s * cos(p * (x[0] + x[1] + 0.5));
            double complex *link = u + 9 * (4 * site + (size_t)mu);
            link[0] = cexp(I * a);
            link[4] = cexp(-I * a);
            link[8] = 1;
        }
    }
    return u;
}

static double rate_of(int kernel, double q2)
{
    const double wilson = 2 * q2, symanzik = wilson * (1 + q2 / 6);
    return kernel == FLOW_WILSON ? wilson : kernel == FLOW_SYMANZIK ? symanzik : symanzik * (1 - q2 / 12);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    const double p = 2 * acos(-1) / 8, q2 = 4 * sin(p / 2) * sin(p / 2), step = 0.05;
    double complex *u = wave(p, 1e-5);
    double off[3];
    observe_parameters("wilson_clover", 0.3);
    lattice *lat = kit_lattice(shape, 2, -1);
    field *links = kit_links(lat, u);
    const measure_context c = {&the_parameters, links, NULL, NULL, -1, NULL};
    for (int k = 0; flow_kernel_number(k); k++) {
        named_measure m = observe_section("flow");
        observe_set(&m, "kernel", flow_kernel_number(k)->name);
        observe_set(&m, "flow_step", "0.05");
        observe_set(&m, "flow_time", "0.5");
        measure_result r = measure(&c, &m);
        const double rate = rate_of(k, q2), z = rate * step, factor = 1 - z + z * z / 2 - z * z * z / 6;
        kit_where("%s", flow_kernel_number(k)->name);
        KIT_INT(r.nrows, 11);
        for (long row = 1; row < r.nrows; row++)
            KIT_REL(measure_value(&r, row, "e_clover") / measure_value(&r, row - 1, "e_clover"), factor * factor, 1e-9);
        off[k] = rate / (2 * p * p) - 1;
        measure_result_free(&r);
    }
    /* Errors of a^2 are -5% and 4% at p^2 = 0.62; what zeuthen has is of a^4. */
    KIT_CHECK(off[FLOW_WILSON] < -0.04 && off[FLOW_SYMANZIK] > 0.02 && fabs(off[FLOW_ZEUTHEN]) < 0.01);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
    return kit_end();
}
