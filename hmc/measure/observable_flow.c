/* flow: the gradient flow (operators/flow.h) and what it says of the links.
 *
 * With an anisotropy xi times are in units of a_s^2 and energies in a_s^-4: xi^2 times as large in temporal planes.
 *
 * A row for each flow time: E of the clover field strength in temporal and spatial planes, E of the plaquette, 36 (1 - P),
 * and the topological charge. The flow lowers the action of its kernel, 6 (1 - P) a site of the Wilson flow: where it rises, the step
 * is too long and the measurement has failed. The summary has t0, where t^2 E = 0.3, and w0, where t d/dt (t^2 E) = 0.3 at t =
 * w0^2 (S. Borsanyi et al., arXiv:1203.4469), both of the clover E, by cubic splines, NaN when not reached.
 * With keys first_slice and last_slice energies are averages over those time slices, as they have to be on lattices bounded in time;
 * the charge is of all slices.
 *
 * xi is tuned by the parts of d/dt (t^2 E) in spatial and in temporal planes, which are equal then (arXiv:1205.0781). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_roots.h>
#include <gsl/gsl_spline.h>

#include "hmc/measure/measure.h"
#include "hmc/measure/slices.h"
#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "operators/flow.h"

typedef struct {
    double flow_time, flow_step, xi, error;
    int kernel;      /* FLOW_WILSON, ... */
    int first, last; /* window of time slices; -1: all */
} flow_keys;

#define SCALE_AT 0.3

static const measure_column columns[] = {
    {"t", "a^2", "flow time"},
    {"e_clover", "a^-4", "energy density of the clover field strength"},
    {"e_clover_time", "a^-4", "its part in temporal planes"},
    {"e_clover_space", "a^-4", "its part in spatial planes"},
    {"e_plaquette", "a^-4", "energy density of the plaquette"},
    {"charge", "", "topological charge of the clover field strength"},
};
static const measure_column summary[] = {
    {"t0", "a^2", "flow time where t^2 E = 0.3"},
    {"w0", "a", "root of the flow time where t d/dt (t^2 E) = 0.3"},
};

/* Averages over the time slices of a window; the charge of all. */
static void add_row_of_window(measure_result *r, const flow_keys *k, double t, const field *links, field *tensor)
{
    const int *size = links->lat->size;
    const double sites = (double)(k->last - k->first + 1) * size[0] * size[1] * size[2];
    slice_energy *of = malloc((size_t)size[3] * sizeof *of), e = {0};
    REQUIRE_MEMORY(of, "out of memory for %d slices", size[3]);
    slices_energy(of, links, tensor);
    for (int s = 0; s < size[3]; s++) {
        e.charge += of[s].charge;
        if (s < k->first || s > k->last) continue;
        e.temporal += of[s].temporal / sites;
        e.spatial += of[s].spatial / sites;
        e.plaquette += of[s].plaquette / sites;
    }
    measure_add_row(r, (const double[]){t, e.temporal + e.spatial, e.temporal, e.spatial, e.plaquette, e.charge});
    free(of);
}

/* Returns the action of the kernel in the normalisation of E: E of the plaquette, of the Wilson flow. */
static double add_row(measure_result *r, const flow_keys *k, const flow_kernel *kernel, double t, const field *links,
                      field *tensor)
{
    const double xi = k->xi;
    if (k->first >= 0) {
        add_row_of_window(r, k, t, links, tensor);
        return 36 * flow_action(links, kernel);
    }
    gauge_field_strength(tensor, links);
    const gauge_energy e = gauge_field_energy(tensor);
    const gauge_loops loops = gauge_measure(links, 0);
    const double xi2 = xi * xi, temporal = xi2 * e.temporal;
    const double plaquette =
        xi == 1 ? 36 * (1 - loops.plaquette) : 18 * (1 - loops.plaquette_space) + 18 * xi2 * (1 - loops.plaquette_time);
    measure_add_row(r, (const double[]){t, temporal + e.spatial, temporal, e.spatial, plaquette, e.charge});
    return kernel->c1 == 0 ? plaquette : 36 * flow_action(links, kernel);
}

/* 1 - P is a difference of numbers of order one. */
#define ROUNDING_OF_ENERGY 1e-12

/* True if the action has risen in a step, or is no number. */
static int has_risen(measure_result *r, const flow_kernel *kernel, double before, double now, double t, double step)
{
    if (now <= before + ROUNDING_OF_ENERGY) return 0;
    snprintf(r->trouble, sizeof r->trouble,
             "the energy of the %s rises along the flow, from %.6g to %.6g at t = %.6g: steps of flow_step = %g are "
             "too long for these links; halve flow_step",
             kernel->c1 == 0 ? "plaquette" : "action", before, now, t, step);
    return 1;
}

/* ---- scales ---- */

/* t^2 E as a natural cubic spline of t. */
typedef struct {
    gsl_spline *spline;
    int derivative; /* true: t d/dt (t^2 E) is the curve */
} scale_curve;

static double above_scale(double t, void *curve)
{
    const scale_curve *c = curve;
    const double y =
        c->derivative ? t * gsl_spline_eval_deriv(c->spline, t, NULL) : gsl_spline_eval(c->spline, t, NULL);
    return y - SCALE_AT;
}

/* Root of a curve between two times, below and above SCALE_AT. */
static double root_between(scale_curve *c, double below, double above)
{
    gsl_root_fsolver *by = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    gsl_function f = {above_scale, c};
    gsl_root_fsolver_set(by, &f, below, above);
    for (int i = 0; i < 100 && gsl_root_fsolver_x_upper(by) - gsl_root_fsolver_x_lower(by) > 1e-15 * above; i++)
        gsl_root_fsolver_iterate(by);
    const double root = gsl_root_fsolver_root(by);
    gsl_root_fsolver_free(by);
    return root;
}

/* Time of the first crossing of SCALE_AT from below; NaN when there is none. */
static double crossing(scale_curve *c, const double *t, long n)
{
    double before = -SCALE_AT;
    for (long i = 1; i < n; i++) {
        const double now = above_scale(t[i], c);
        if (before < 0 && now >= 0) return now == 0 ? t[i] : root_between(c, t[i - 1], t[i]);
        before = now;
    }
    return NAN;
}

static void find_scales(measure_result *r)
{
    const long n = r->nrows;
    if (n < 3) return;
    double *t = malloc(2 * (size_t)n * sizeof *t), *y = t + n;
    REQUIRE_MEMORY(t, "out of memory for %ld flow times", n);
    for (long i = 0; i < n; i++) {
        const double *row = r->rows + i * r->what->ncolumns;
        t[i] = row[0];
        y[i] = row[0] * row[0] * row[1];
    }
    scale_curve c = {gsl_spline_alloc(gsl_interp_cspline, (size_t)n), 0};
    gsl_spline_init(c.spline, t, y, (size_t)n);
    r->summary[0] = crossing(&c, t, n);
    c.derivative = 1;
    r->summary[1] = sqrt(crossing(&c, t, n));
    gsl_spline_free(c.spline);
    free(t);
}

static int measure_flow(const measure_context *c, const measure_params *m, measure_result *r)
{
    const flow_keys *k = OBSERVABLE_OWN(flow_keys, m);
    const flow_kernel *kernel = flow_kernel_number(k->kernel);
    const lattice *lat = c->links->lat;
    field *links = field_like(c->links),
          *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    flow f;
    field_copy(links, c->links);
    flow_open(&f, links, kernel, k->xi, k->flow_step, k->error);
    double energy = add_row(r, k, kernel, 0, links, tensor);
    const long steps = flow_steps(k->flow_time, k->flow_step);
    int status = MEASURE_DONE;
    for (long i = 1; i <= steps; i++) {
        if (measure_interrupted(c)) {
            status = MEASURE_GIVEN_UP;
            break;
        }
        const double t = flow_time_after(i, k->flow_time, k->flow_step);
        if (flow_to(&f, t)) {
            flow_explain(&f, k->error, r->trouble, sizeof r->trouble);
            status = MEASURE_FAILED;
            break;
        }
        const double before = energy;
        energy = add_row(r, k, kernel, t, links, tensor);
        if (has_risen(r, kernel, before, energy, t, k->flow_step)) {
            status = MEASURE_FAILED;
            break;
        }
    }
    if (status == MEASURE_DONE) find_scales(r);
    flow_close(&f);
    field_destroy(tensor);
    field_destroy(links);
    return status;
}

static double flops(const measure_params *m, const int size[4])
{
    (void)size;
    const flow_keys *k = OBSERVABLE_OWN(flow_keys, m);
    return 3 * (double)flow_steps(k->flow_time, k->flow_step) *
           gauge_force_flops(gauge_weights_c1(1, flow_kernel_number(k->kernel)->c1));
}

#define MOST_STEPS 1000000

/* The window of time slices, and what bounded lattices need. */
static const char *check_slices(const parameters *p, const named_measure *m, char *message, size_t bytes)
{
    const flow_keys *k = OBSERVABLE_OWN(flow_keys, &m->p);
    const int bounded = parameters_time(p) != TIME_PERIODIC, slices = p->lattice.size[3],
              T = slices > 0 && bounded ? slices - p->lattice.idle_slices : slices;
    if (bounded && flow_kernel_number(k->kernel)->corrects) {
        snprintf(message, bytes, "kernel = %s of [measure.%s] is for lattices that are periodic in time",
                 flow_kernel_number(k->kernel)->name, m->name);
        return "kernel";
    }
    if ((k->first < 0) != (k->last < 0) || (bounded && k->first < 0)) {
        snprintf(message, bytes,
                 "[measure.%s] needs first_slice and last_slice%s: the time slices over which energies are averaged",
                 m->name, bounded ? " where time is not periodic, a window well inside" : ", or none of them");
        return k->first < 0 ? "first_slice" : "last_slice";
    }
    if (k->first >= 0 && k->xi != 1) {
        snprintf(message, bytes, "first_slice of [measure.%s] is for isotropic lattices, and xi = %g", m->name, k->xi);
        return "first_slice";
    }
    if (k->last < k->first || (T > 0 && k->last >= T)) {
        snprintf(message, bytes,
                 "first_slice = %d and last_slice = %d of [measure.%s] are no time slices 0 to %d in order", k->first,
                 k->last, m->name, T - 1);
        return "last_slice";
    }
    return NULL;
}

/* A flow of so many steps that it would not come to an end, or not fit; or of steps too long for the anisotropy. */
static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const flow_keys *k = OBSERVABLE_OWN(flow_keys, &m->p);
    const flow_kernel *kernel = flow_kernel_number(k->kernel);
    const double steps = ceil(k->flow_time / k->flow_step), most = flow_largest_step(kernel, k->xi);
    const char *wrong = check_slices(p, m, message, size);
    if (wrong) return wrong;
    if (k->xi != 1 && kernel->c1 != 0) {
        snprintf(message, size,
                 "kernel = %s of [measure.%s] is for isotropic lattices; take kernel = wilson for xi = %g",
                 kernel->name, m->name, k->xi);
        return "kernel";
    }
    if (k->flow_step > most && k->error == 0) {
        char anisotropy[48] = "";
        if (k->xi != 1) snprintf(anisotropy, sizeof anisotropy, " and xi = %g", k->xi);
        snprintf(message, size,
                 "flow_step = %g of [measure.%s] is too long for kernel = %s%s, which is stable up to %.4g",
                 k->flow_step, m->name, kernel->name, anisotropy, most);
        return k->xi == 1 || ini_given(p->input, "measure", m->name, "flow_step") ? "flow_step" : "xi";
    }
    if (!(steps > MOST_STEPS)) return NULL;
    snprintf(
        message, size,
        "flow_time = %g of [measure.%s] takes %.3g steps of flow_step = %g; allowed are %d, each of which takes as "
        "long as three gauge forces: shorten flow_time or lengthen flow_step",
        k->flow_time, m->name, steps, k->flow_step, MOST_STEPS);
    return ini_given(p->input, "measure", m->name, "flow_step") ? "flow_step" : "flow_time";
}

static const param own[] = {
    {"flow_time", PARAM_REAL, OBSERVABLE_KEY(flow_keys, flow_time), "2", "(0,150000]", "a^2",
     "longest flow time; the flow has at most 1000000 steps", 0},
    {"flow_step", PARAM_REAL, OBSERVABLE_KEY(flow_keys, flow_step), "0.05", FLOW_STEPS, "a^2", FLOW_STEP_HELP, 0},
    {"xi", PARAM_REAL, OBSERVABLE_KEY(flow_keys, xi), "1", "[0.01,100]", NULL, FLOW_XI_HELP, 0},
    {"kernel", PARAM_CHOICE, OBSERVABLE_KEY(flow_keys, kernel), "wilson", PARAM_RANGE(FLOW_KERNELS), NULL,
     "action of the flow: wilson: plaquettes; symanzik: plaquettes and rectangles, for steps up to 0.09; zeuthen: that "
     "with "
     "a correction, without errors of order a^2 at tree level, for steps up to 0.14",
     0},
    {"flow_error", PARAM_REAL, OBSERVABLE_KEY(flow_keys, error), "0", FLOW_ERRORS, NULL, FLOW_ERROR_HELP, 0},
    {"first_slice", PARAM_INT, OBSERVABLE_KEY(flow_keys, first), "-1", "[-1,32765]", NULL,
     "first time slice of those over which energies are averaged; -1: all of a periodic lattice", 0},
    {"last_slice", PARAM_INT, OBSERVABLE_KEY(flow_keys, last), "-1", "[-1,32765]", NULL, "last one of these", 0},
};
static const param_section part = PARAM_PART("measure", "flow", measure_params, own);
_Static_assert(sizeof(flow_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of flow");

const observable observable_flow = {.name = "flow",
                                    .help = "gradient flow: energy densities, charge, t0 and w0",
                                    .own = &part,
                                    .later = "kernel flow_error first_slice last_slice",
                                    .check = check,
                                    .columns = columns,
                                    .ncolumns = sizeof columns / sizeof columns[0],
                                    .axis = "t",
                                    .summary = summary,
                                    .nsummary = sizeof summary / sizeof summary[0],
                                    .measure = measure_flow,
                                    .flops = flops};
