#include "kernels/gauge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/halo.h"
#include "kernels/spinor.h"

#define FOR_PARITIES(p, f) for (int p = field_first_parity(f); p <= field_last_parity(f); p++)

static void run(kernel_id id, const field *like, const void *args, exact_sum *sums)
{
    kernel_run(id, like, args, (kernel_work){.n = field_units(like), .sums = sums});
}

static void loop_sums(const field *links, int rectangles, double sums[4])
{
    exact_sum s[4] = {exact_zero(), exact_zero(), exact_zero(), exact_zero()};
    loops_args args = {.g = field_geom(links), .links = field_in_all(links), .rectangles = rectangles};
    for (args.parity = 0; args.parity < 2; args.parity++) run(KERNEL_loops, links, &args, s);
    comm_sum_exact(s, 4);
    for (int k = 0; k < 4; k++) sums[k] = exact_value(&s[k]);
}

gauge_loops gauge_measure(const field *links, int rectangles)
{
    double s[4];
    loop_sums(links, rectangles, s);
    const double v = (double)links->lat->volume;
    gauge_loops loops = {(s[0] + s[1]) / (18 * v), s[0] / (9 * v), s[1] / (9 * v), rectangles ? s[2] / (36 * v) : NAN,
                         s[3] / (12 * v)};
    return loops;
}

gauge_weights gauge_weights_c1(double beta, double c1)
{
    const gauge_weights w = {beta * (1 - 8 * c1), beta * c1, 0};
    return w;
}

static double parallelogram_sum(const field *links)
{
    exact_sum s = exact_zero();
    parallelograms_args args = {.g = field_geom(links), .links = field_in_all(links)};
    for (args.parity = 0; args.parity < 2; args.parity++) run(KERNEL_parallelograms, links, &args, &s);
    comm_sum_exact(&s, 1);
    return exact_value(&s);
}

double gauge_action(const field *links, gauge_weights w)
{
    double s[4];
    loop_sums(links, w.rectangle != 0, s);
    const double v = (double)links->lat->volume;
    double action = w.plaquette * (6 * v - (s[0] + s[1]) / 3);
    if (w.rectangle != 0) action += w.rectangle * (12 * v - s[2] / 3);
    if (w.parallelogram != 0) action += w.parallelogram * (16 * v - parallelogram_sum(links) / 3);
    return action;
}

/* Of plaquettes and rectangles: the latter are ten products more a staple, and three sums. */
static double staples_flops(gauge_weights w)
{
    return kernel_infos[KERNEL_gauge_force].flops + (w.rectangle != 0 ? 24 * (10 * 198 + 90) : 0);
}

double gauge_force_flops(gauge_weights w)
{
    return staples_flops(w) + (w.parallelogram != 0 ? kernel_infos[KERNEL_parallelogram_force].flops : 0);
}

void gauge_force(field *force, const field *links, gauge_weights w)
{
    const double sites = (double)field_units(links) * links->lay->lanes;
    gauge_force_args args = {
        .g = field_geom(links), .links = field_in_all(links), .c0 = w.plaquette / 6, .c1 = w.rectangle / 6};
    parallelogram_force_args more = {.g = args.g, .links = args.links, .c2 = w.parallelogram / 6};
    FOR_PARITIES(p, force)
    {
        args.parity = more.parity = p;
        args.momenta = more.momenta = field_out(force, p);
        kernel_run(KERNEL_gauge_force, links, &args,
                   (kernel_work){.n = field_units(links), .flops = sites * staples_flops(w)});
        if (w.parallelogram != 0) run(KERNEL_parallelogram_force, links, &more, NULL);
    }
}

void gauge_field_strength(field *tensor, const field *links)
{
    field_strength_args args = {.g = field_geom(links), .links = field_in_all(links)};
    FOR_PARITIES(p, tensor)
    {
        args.parity = p;
        args.out = field_out(tensor, p);
        run(KERNEL_field_strength, links, &args, NULL);
    }
}

gauge_energy gauge_field_energy(const field *tensor)
{
    exact_sum s[3] = {exact_zero(), exact_zero(), exact_zero()};
    FOR_PARITIES(p, tensor)
    {
        energy_args args = {field_in(tensor, p)};
        run(KERNEL_energy, tensor, &args, s);
    }
    comm_sum_exact(s, 3);
    const double v = (double)tensor->lat->volume;
    gauge_energy e = {exact_value(&s[0]) / v, exact_value(&s[1]) / v, exact_value(&s[2])};
    return e;
}

void gauge_update(field *links, double dt, const field *momenta)
{
    FOR_PARITIES(p, links)
    {
        link_update_args args = {field_out(links, p), field_in(momenta, p), dt};
        run(KERNEL_link_update, links, &args, NULL);
    }
}

double gauge_unitarise(field *links)
{
    exact_sum s = exact_zero();
    FOR_PARITIES(p, links)
    {
        unitarise_args args = {field_out(links, p)};
        run(KERNEL_unitarise, links, &args, &s);
    }
    comm_sum_exact(&s, 1);
    return sqrt(exact_value(&s) / (4.0 * (double)links->lat->volume));
}

void gauge_cold(field *links)
{
    const int *l = links->lat->local;
    const long sites = (long)l[0] * l[1] * l[2];
    double *slice = field_slice_buffer(links);
    memset(slice, 0, (size_t)sites * 72 * sizeof *slice);
    for (long i = 0; i < sites * 4; i++)
        for (int c = 0; c < 3; c++) slice[i * 18 + 8 * c] = 1;
    for (int t = 0; t < l[3]; t++) field_import(links, t, slice);
    free(slice);
}

void gauge_random(field *links, uint64_t seed, uint32_t purpose, uint32_t number)
{
    FOR_PARITIES(p, links)
    {
        random_args args = {field_geom(links), field_out(links, p), seed, purpose, number, p};
        run(KERNEL_random_links, links, &args, NULL);
    }
}

void momenta_zero(field *p)
{
    field_clear(p);
}

void momenta_random(field *m, uint64_t seed, uint32_t purpose, uint32_t number)
{
    FOR_PARITIES(p, m)
    {
        random_args args = {field_geom(m), field_out(m, p), seed, purpose, number, p};
        run(KERNEL_random_momenta, m, &args, NULL);
    }
}

void momenta_add(field *y, double a, const field *x)
{
    FOR_PARITIES(p, y)
    {
        momenta_add_args args = {field_out(y, p), field_in(x, p), a};
        run(KERNEL_momenta_add, y, &args, NULL);
    }
}

double momenta_dot(const field *x, const field *y)
{
    exact_sum s = exact_zero();
    FOR_PARITIES(p, x)
    {
        momenta_dot_args args = {field_in(x, p), field_in(y, p)};
        run(KERNEL_momenta_dot, x, &args, &s);
    }
    comm_sum_exact(&s, 1);
    return exact_value(&s);
}

double momenta_norm2(const field *m)
{
    return momenta_dot(m, m);
}

void clover_build(field *clover, const field *tensor, double diagonal, double c_sw)
{
    FOR_PARITIES(p, clover)
    {
        clover_build_args args = {field_in(tensor, p), field_out(clover, p), diagonal, 0.5 * c_sw};
        run(KERNEL_clover_build, clover, &args, NULL);
    }
}

double clover_invert(field *inverse, const field *clover, parity p, double *negatives)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    clover_invert_args args = {.in = field_in(clover, p)};
    args.out = field_out(inverse, p);
    run(KERNEL_clover_invert, clover, &args, s);
    comm_sum_exact(s, 2);
    *negatives = exact_value(&s[1]);
    return exact_value(&s[0]);
}

/* The variation of the clover term is (i c_sw / 2) sigma dF a plane, dF = (dQ - dQ^dagger) / 8; a force term k Re tr[L
 * dF] becomes Re tr[Z dQ] with Z a quarter of the anti-Hermitian part of k L. */
void clover_insert(field *tensor, parity p, double c_sw, const field *x, const field *y)
{
    clover_insert_args args = {field_in(x, p), field_in(y, p), field_out(tensor, p), -0.25 * c_sw};
    run(KERNEL_clover_insert, tensor, &args, NULL);
}

void clover_insert_det(field *tensor, parity p, double c_sw, double weight, const field *inverse)
{
    clover_insert_det_args args = {field_in(inverse, p), field_out(tensor, p), -0.125 * c_sw * weight};
    run(KERNEL_clover_insert_det, tensor, &args, NULL);
}

void clover_force(field *force, const field *links, const field *tensor)
{
    clover_force_args args = {
        .g = field_geom(links), .links = field_in_all(links), .tensor = field_in_all(tensor), .factor = -0.5};
    FOR_PARITIES(p, force)
    {
        args.parity = p;
        args.momenta = field_out(force, p);
        run(KERNEL_clover_force, links, &args, NULL);
    }
}

void hop_force(field *force, const field *links, const field *x, const field *y)
{
    const layout *lay = x->lay;
    for (int p = 0; p < 2; p++) {
        const parity other = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
        hop_force_args args = {.g = field_geom(x),
                               .x_here = field_in(x, p),
                               .y_here = field_in(y, p),
                               .x_there = field_in(x, other),
                               .y_there = field_in(y, other),
                               .links = field_in(links, p),
                               .momenta = field_out(force, p),
                               .factor = -0.5,
                               .parity = p};
        if (lay->nexterior[p] > 0) halo_hop_pair(x, y, other, links, args.x_ghost, args.y_ghost);
        run(KERNEL_hop_force, x, &args, NULL);
    }
}
