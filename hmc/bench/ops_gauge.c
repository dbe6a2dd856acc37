#include "hmc/bench/ops.h"
#include "hmc/actions/action.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/fixing.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/smear.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson_loop.h"
#include "kernels/ops/wilson.h"

static void run_gauge_force(bench *b)
{
    gauge_force(b->momenta, b->links_double, gauge_weights_c1(1e-3, 0));
}

static void run_rectangle_force(bench *b)
{
    gauge_force(b->momenta, b->links_double, gauge_weights_c1(1e-3, -0.331));
}

static void run_parallelogram_force(bench *b)
{
    const gauge_weights w = GAUGE_WEIGHTS(1e-3, -5e-5, -5e-6);
    gauge_force(b->momenta, b->links_double, w);
}

static void run_hop_force(bench *b)
{
    hop_force(b->momenta, b->links_double, b->spinor, b->more, 1);
}

static void run_clover_force(bench *b)
{
    clover_force(b->momenta, b->links_double, b->tensor);
}

static void run_loops(bench *b)
{
    const gauge_loops l = gauge_measure(b->links_double, 1);
    b->sums[0] = l.plaquette_space;
    b->sums[1] = l.plaquette_time;
    b->sums[2] = l.rectangle;
    b->sums[3] = l.link_trace;
}

static void run_field_strength(bench *b)
{
    gauge_field_strength(b->tensor, b->links_double);
}

static void run_link_update(bench *b)
{
    gauge_update(b->links_double, 1e-6, b->momenta);
}

/* Weights so small that a force which is taken back again and again does not grow. */
#define RHO 1e-8
static const stout_weights stout = {{{0, RHO, RHO, RHO}, {RHO, 0, RHO, RHO}, {RHO, RHO, 0, RHO}, {RHO, RHO, RHO, 0}}};

static void run_stout(bench *b)
{
    smear_stout(b->other_links, b->links_double, &stout);
}

static void run_stout_back(bench *b)
{
    smear_stout_back(b->force, b->links_double, &stout);
}

/* The projection of APE smearing. */
static void run_staples_project(bench *b)
{
    static const stout_weights one = {{{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}}};
    const smear_level level = smear_level_thin(&one);
    const field *links = b->links_double;
    smear_project(&b->other_links, links, &links, &level, 2.5);
}

static void run_clover_build(bench *b)
{
    clover_build(b->whole_clover, b->tensor, 4 + BENCH_MASS, clover_isotropic(BENCH_C_SW));
}

/* The exponential clover term, which begins with the linear one. */
static void run_clover_exp(bench *b)
{
    clover_coefficients c = clover_isotropic(BENCH_C_SW);
    c.exponential = 1;
    clover_build(b->whole_clover, b->tensor, 4 + BENCH_MASS, c);
}

/* Clover inverse with log |det|. */
static void run_clover_invert(bench *b)
{
    b->sums[0] = clover_invert(b->inverse, b->whole_clover, PARITY_EVEN, &b->sums[1]);
}

static void run_twisted_invert(bench *b)
{
    b->sums[0] = twisted_invert(b->inverse, b->mu_inverse, b->whole_clover, PARITY_EVEN, 0.01, &b->sums[1]);
}

/* Factors of zero: the insertions do not grow from call to call. */
static void run_clover_insert(bench *b)
{
    const field x = field_part(b->spinor, PARITY_EVEN), y = field_part(b->more, PARITY_EVEN);
    clover_insert(b->tensor, PARITY_EVEN, clover_isotropic(0), &x, &y);
}

/* The sum grows from call to call, in proportion. */
static void run_clover_outer(bench *b)
{
    const field x = field_part(b->spinor, PARITY_EVEN), y = field_part(b->more, PARITY_EVEN);
    clover_outer(b->mu_inverse, PARITY_EVEN, &x, &y);
}

static void run_clover_chain(bench *b)
{
    clover_chain(b->mu_inverse, PARITY_EVEN, b->inverse, b->whole_clover, 4 + BENCH_MASS, clover_isotropic(BENCH_C_SW));
}

static void run_clover_insert_det(bench *b)
{
    clover_insert_det(b->tensor, PARITY_EVEN, clover_isotropic(BENCH_C_SW), 0, b->inverse);
}

static void run_parallelograms(bench *b)
{
    b->sums[0] = gauge_action(b->links_double, (gauge_weights)GAUGE_WEIGHTS(5, -0.4, -0.04));
}

static void run_energy(bench *b)
{
    const gauge_energy e = gauge_field_energy(b->tensor);
    b->sums[0] = e.temporal;
    b->sums[1] = e.spatial;
    b->sums[2] = e.charge;
}

static void run_energy_density(bench *b)
{
    gauge_energy_density(b->density, b->tensor, b->links_double);
}

/* Operations on lattices that are bounded in time. */
static void on_open_lattice(bench *b, void (*run)(bench *b))
{
    lattice *lat = (lattice *)b->lat;
    if (lat->size[3] < 4) return;
    lattice_bound(lat, TIME_OPEN);
    run(b);
    lattice_bound(lat, TIME_PERIODIC);
}

static void scale_slices(bench *b)
{
    slices_scale(b->force, SLICES_QUARK_LINKS, -1);
}

static void run_scale_slices(bench *b)
{
    on_open_lattice(b, scale_slices);
}

static void run_open_force(bench *b)
{
    on_open_lattice(b, run_rectangle_force);
}

static void run_unitarise(bench *b)
{
    b->sums[0] = gauge_unitarise(b->links_double);
}

static void run_momenta_add(bench *b)
{
    momenta_add(b->force, 1e-6, b->momenta);
}

/* A factor so small that what is added again and again does not grow. */
static void run_momenta_laplace(bench *b)
{
    momenta_laplace(b->force, 1e-8, b->links_double);
}

static void run_momenta_dot(bench *b)
{
    b->sums[0] = momenta_dot(b->force, b->momenta);
}

static void run_random_momenta(bench *b)
{
    momenta_random(b->force, 1, RANDOM_TEST, 1);
}

static void run_random_spinor(bench *b)
{
    vector_random(b->spinor, 1, RANDOM_TEST, 1);
}

static void run_random_signs(bench *b)
{
    vector_random_signs(b->spinor, 1, RANDOM_TEST, 1);
}

static void run_random_links(bench *b)
{
    gauge_random(b->other_links, 1, RANDOM_TEST, 1);
}

static void run_gauge_rotate(bench *b)
{
    gauge_rotate(b->other_links, b->links_double, b->rotation);
}

static void run_gauge_relax(bench *b)
{
    gauge_relax(b->rotation, b->links_double, 4, 1.7);
}

static void run_gauge_gradient(bench *b)
{
    const gauge_gradient g = gauge_gradient_of(b->rotation, b->links_double, 4);
    b->sums[0] = g.functional;
    b->sums[1] = g.theta;
}

/* A path of one step more; the rotation stands for the path before. */
static void run_tensor_plane(bench *b)
{
    path_to_tensor(b->tensor, 0, 1, b->path, 0);
}

static void run_links_distance(bench *b)
{
    b->sums[0] = links_distance2(b->links_double, b->other_links);
}

static void run_path_step(bench *b)
{
    path_step(b->path, b->links_double, 0, b->rotation, 0);
}

static void run_loop_strip(bench *b)
{
    exact_sum sum = exact_zero();
    loop_strip(b->path, &sum, b->links_double, 3, b->rotation, b->rotation, b->rotation);
    comm_group_sum_exact(b->lat->group, &sum, 1);
    b->sums[0] = exact_value(&sum);
}

static void run_trace_products(bench *b)
{
    exact_sum sum = exact_zero();
    trace_products(&sum, b->rotation, b->path);
    comm_group_sum_exact(b->lat->group, &sum, 1);
    b->sums[0] = exact_value(&sum);
}

const bench_op bench_ops_gauge[] = {
    {"gauge_force", "force", 0, 0, 1, BENCH_DOUBLE, run_gauge_force, 0},
    {"rectangle_force", "force", 0, 0, 1, BENCH_DOUBLE, run_rectangle_force, 0},
    {"open_force", "force", 0, 0, 1, BENCH_DOUBLE, run_open_force, 0},
    {"parallelogram_force", "force", 0, 0, 1, BENCH_DOUBLE, run_parallelogram_force, 0},
    {"hop_force", "force", 0, 0, 1, BENCH_DOUBLE, run_hop_force, 0},
    {"clover_insert", "force", 0, 0, 1, BENCH_DOUBLE, run_clover_insert, 0},
    {"clover_outer", "force", 0, 0, 1, BENCH_DOUBLE, run_clover_outer, 0},
    {"clover_chain", "force", 0, 0, 1, BENCH_DOUBLE, run_clover_chain, 0},
    {"clover_insert_det", "force", 0, 0, 1, BENCH_DOUBLE, run_clover_insert_det, 0},
    {"clover_force", "force", 0, 0, 1, BENCH_DOUBLE, run_clover_force, 0},
    {"momenta_add", "force", 0, 0, 1, BENCH_DOUBLE, run_momenta_add, 0},
    {"momenta_laplace", "force", 0, 0, 1, BENCH_DOUBLE, run_momenta_laplace, 0},
    {"momenta_dot", "force", 0, 0, 1, BENCH_DOUBLE, run_momenta_dot, 0},
    {"loops", "gauge", 0, 0, 1, BENCH_DOUBLE, run_loops, 0},
    {"parallelograms", "gauge", 0, 0, 2, BENCH_DOUBLE, run_parallelograms, 0},
    {"field_strength", "gauge", 0, 0, 1, BENCH_DOUBLE, run_field_strength, 0},
    {"energy", "gauge", 0, 0, 1, BENCH_DOUBLE, run_energy, 0},
    {"energy_density", "gauge", 0, 0, 1, BENCH_DOUBLE | BENCH_COLUMNS, run_energy_density, 0},
    {"scale_slices", "gauge", 0, 0, 1, BENCH_DOUBLE, run_scale_slices, 0},
    {"clover_build", "clover", 0, 0, 1, BENCH_DOUBLE, run_clover_build, 0},
    {"clover_exp", "clover", 0, 0, 1, BENCH_DOUBLE, run_clover_exp, 0},
    {"clover_invert", "clover", 0, 0, 1, BENCH_DOUBLE, run_clover_invert, 0},
    {"twisted_invert", "clover", 0, 0, 1, BENCH_DOUBLE, run_twisted_invert, 0},
    {"path_step", "gauge", 0, 0, 1, BENCH_DOUBLE, run_path_step, 0},
    {"tensor_plane", "gauge", 0, 0, 1, BENCH_DOUBLE, run_tensor_plane, 0},
    {"links_distance", "gauge", 0, 0, 1, BENCH_DOUBLE, run_links_distance, 0},
    {"loop_strip", "gauge", 0, 0, 1, BENCH_DOUBLE, run_loop_strip, 0},
    {"trace_products", "gauge", 0, 0, 1, BENCH_DOUBLE, run_trace_products, 0},
    {"link_update", "gauge", 0, 0, 1, BENCH_DOUBLE, run_link_update, 0},
    {"stout", "smear", 0, 0, 1, BENCH_DOUBLE, run_stout, 0},
    {"stout_back", "smear", 0, 0, 1, BENCH_DOUBLE, run_stout_back, 0},
    {"staples_project", "smear", 0, 0, 1, BENCH_DOUBLE, run_staples_project, 0},
    {"gauge_rotate", "fixing", 0, 0, 1, BENCH_DOUBLE, run_gauge_rotate, 0},
    {"gauge_relax", "fixing", 0, 0, 1, BENCH_DOUBLE, run_gauge_relax, 0},
    {"gauge_gradient", "fixing", 0, 0, 1, BENCH_DOUBLE, run_gauge_gradient, 0},
    {"unitarise", "gauge", 0, 0, 1, BENCH_DOUBLE, run_unitarise, 0},
    {"random_momenta", "random", 0, 0, 1, BENCH_DOUBLE, run_random_momenta, 0},
    {"random_spinor", "random", 0, 0, 1, BENCH_DOUBLE, run_random_spinor, 0},
    {"random_signs", "random", 0, 0, 1, BENCH_DOUBLE, run_random_signs, 0},
    {"random_links", "random", 0, 0, 1, BENCH_DOUBLE, run_random_links, 0},
    {0},
};
