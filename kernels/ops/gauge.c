#include "kernels/ops/gauge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/family/gauge.h"
#include "kernels/family/staggered.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/expect.h"
#include "kernels/ops/halo.h"
#include "kernels/ops/vector.h"
#include "kernels/run/kernel.h"

static void run(kernel_id id, const field *like, const void *args, exact_sum *sums)
{
    kernel_run(id, like, args, (kernel_work){.n = field_units(like), .sums = sums});
}

static const loop_ends no_ends = {0, 0, {1, 1}, {1, 1}, {1, 1}, {0, 0}};

/* Factors of loops on a lattice bounded in time. */
static loop_ends ends_of(const lattice *lat, const gauge_weights *w)
{
    loop_ends ends = no_ends;
    if (lat->time == TIME_PERIODIC) return ends;
    ends.bounded = 1;
    ends.last = lattice_last_slice(lat);
    for (int end = 0; end < 2; end++) {
        const int wall = time_has_wall(lat->time, end);
        ends.space[end] = wall ? 0 : w->c_G[end] / 2;
        ends.time[end] = wall ? w->c_G[end] : 1;
        ends.along[end] = wall ? w->along_wall : 1;
        ends.twice[end] = wall ? w->twice_at_wall : 0;
    }
    return ends;
}

/* Numbers of loops that there are, times their factors: plaquettes as in gauge_weights, and rectangles, too. */
typedef struct {
    double plaquette[2], rectangle[3], links;
} loop_numbers;

static loop_numbers numbers_of(const lattice *lat, const loop_ends *ends)
{
    const double t = lattice_last_slice(lat) + 1, slice = (double)lat->volume / lat->size[3], v = slice * t;
    if (lat->time == TIME_PERIODIC) return (loop_numbers){{3 * v, 3 * v}, {6 * v, 3 * v, 3 * v}, 4 * v};
    const double slices = t - 2 + (ends->space[0] + ends->space[1]), gaps = t - 3 + (ends->time[0] + ends->time[1]),
                 high = t - 3 + (ends->along[0] + ends->along[1] + ends->twice[0] + ends->twice[1]);
    return (loop_numbers){{3 * slice * slices, 3 * slice * gaps},
                          {6 * slice * slices, 3 * slice * high, 3 * slice * (t - 2)},
                          4 * v - slice};
}

static void loop_sums(const field *links, const loop_ends *ends, const double rectangle[3], double sums[4])
{
    exact_sum s[4] = {exact_zero(), exact_zero(), exact_zero(), exact_zero()};
    loops_args args = {.g = field_geom(links), .links = halo_in(links), .ends = *ends};
    memcpy(args.rectangle, rectangle, sizeof args.rectangle);
    for (args.parity = 0; args.parity < 2; args.parity++) run(KERNEL_loops, links, &args, s);
    comm_group_sum_exact(links->lat->group, s, 4);
    for (int k = 0; k < 4; k++) sums[k] = exact_value(&s[k]);
}

static gauge_loops averages(const double s[4], const loop_numbers *n, int rectangles)
{
    const double *const p = n->plaquette, *const r = n->rectangle;
    return (gauge_loops){(s[0] + s[1]) / (3 * (p[0] + p[1])), s[0] / (3 * p[0]), s[1] / (3 * p[1]),
                         rectangles ? s[2] / (3 * (r[0] + r[1] + r[2])) : NAN, s[3] / (3 * n->links)};
}

gauge_loops gauge_measure(const field *links, int rectangles)
{
    const double one = rectangles != 0;
    const loop_numbers n = numbers_of(links->lat, &no_ends);
    double s[4];
    loop_sums(links, &no_ends, (const double[]){one, one, one}, s);
    return averages(s, &n, rectangles);
}

gauge_loops gauge_measure_recorded(const field *links)
{
    const double v = (double)links->lat->volume;
    const loop_numbers n = {{3 * v, 3 * v}, {6 * v, 3 * v, 3 * v}, 4 * v};
    double s[4];
    loop_sums(links, &no_ends, (const double[]){0, 0, 0}, s);
    return averages(s, &n, 0);
}

gauge_weights gauge_weights_c1(double beta, double c1)
{
    const gauge_weights w = GAUGE_WEIGHTS(beta * (1 - 8 * c1), beta * c1, 0);
    return w;
}

gauge_weights gauge_weights_anisotropic(gauge_weights w, double xi_0)
{
    REQUIRE(w.parallelogram == 0, "parallelograms of weight %g with an anisotropy", w.parallelogram);
    w.plaquette[0] /= xi_0;
    w.plaquette[1] *= xi_0;
    w.rectangle[0] /= xi_0;
    w.rectangle[1] *= xi_0;
    w.rectangle[2] *= xi_0;
    return w;
}

static int has_rectangles(const gauge_weights *w)
{
    return w->rectangle[0] != 0 || w->rectangle[1] != 0 || w->rectangle[2] != 0;
}

static void expect_weights(const lattice *lat, const gauge_weights *w)
{
    if (lat->time == TIME_PERIODIC) return;
    REQUIRE(w->c_G[0] > 0 && w->c_G[1] > 0, "weights %g and %g of loops at the ends of time", w->c_G[0], w->c_G[1]);
    REQUIRE(w->parallelogram == 0, "parallelograms of weight %g at the ends of time", w->parallelogram);
}

static double parallelogram_sum(const field *links)
{
    exact_sum s = exact_zero();
    parallelograms_args args = {.g = field_geom(links), .links = halo_in(links)};
    for (args.parity = 0; args.parity < 2; args.parity++) run(KERNEL_parallelograms, links, &args, &s);
    comm_group_sum_exact(links->lat->group, &s, 1);
    return exact_value(&s);
}

double gauge_action(const field *links, gauge_weights w)
{
    const lattice *lat = links->lat;
    expect_weights(lat, &w);
    const loop_ends ends = ends_of(lat, &w);
    const loop_numbers n = numbers_of(lat, &ends);
    double s[4];
    const double *const p = w.plaquette, *const r = w.rectangle, v = (double)lat->volume;
    double action;
    if (p[0] == p[1] && r[0] == r[1] && r[1] == r[2]) { /* equal weights: one sum of all planes, with one rounding */
        const double one = r[0] != 0;
        loop_sums(links, &ends, (const double[]){one, one, one}, s);
        action = p[0] * (n.plaquette[0] + n.plaquette[1] - (s[0] + s[1]) / 3);
        if (r[0] != 0) action += r[0] * (n.rectangle[0] + n.rectangle[1] + n.rectangle[2] - s[2] / 3);
    } else {
        loop_sums(links, &ends, r, s);
        action = p[0] * (n.plaquette[0] - s[0] / 3) + p[1] * (n.plaquette[1] - s[1] / 3);
        const double rectangles = lat->time == TIME_PERIODIC
                                      ? (6 * r[0] + 3 * r[1] + 3 * r[2]) * v
                                      : r[0] * n.rectangle[0] + r[1] * n.rectangle[1] + r[2] * n.rectangle[2];
        if (has_rectangles(&w)) action += rectangles - s[2] / 3;
    }
    if (w.parallelogram != 0) action += w.parallelogram * (16 * v - parallelogram_sum(links) / 3);
    return action;
}

/* Flops of plaquettes and rectangles: the latter are ten products more a staple, and three sums. */
static double staples_flops(gauge_weights w)
{
    return kernel_infos[KERNEL_gauge_force].flops + (has_rectangles(&w) ? 24 * (10 * 198 + 90) : 0);
}

double gauge_force_flops(gauge_weights w)
{
    return staples_flops(w) + (w.parallelogram != 0 ? kernel_infos[KERNEL_parallelogram_force].flops : 0);
}

void gauge_force(field *force, const field *links, gauge_weights w)
{
    const double sites = (double)field_units(links) * links->lay->lanes;
    expect_kind(force, FIELD_MOMENTA, links);
    expect_kind(links, FIELD_LINKS, force);
    expect_weights(links->lat, &w);
    gauge_force_args args = {.g = field_geom(links), .links = halo_in(links), .ends = ends_of(links->lat, &w)};
    for (int k = 0; k < 2; k++) args.c0[k] = w.plaquette[k] / 6;
    for (int k = 0; k < 3; k++) args.c1[k] = w.rectangle[k] / 6;
    parallelogram_force_args more = {.g = args.g, .links = args.links, .c2 = w.parallelogram / 6};
    FOR_PARITIES(p, force)
    {
        args.parity = more.parity = p;
        args.momenta = more.momenta = field_out(force, p);
        kernel_run(args.ends.bounded ? KERNEL_gauge_force_bounded : KERNEL_gauge_force, links, &args,
                   (kernel_work){.n = field_units(links), .flops = sites * staples_flops(w)});
        if (w.parallelogram != 0) run(KERNEL_parallelogram_force, links, &more, NULL);
    }
}

void gauge_field_strength(field *tensor, const field *links)
{
    expect_kind(tensor, FIELD_TENSOR, links);
    expect_kind(links, FIELD_LINKS, tensor);
    field_strength_args args = {.g = field_geom(links), .links = halo_in(links)};
    FOR_PARITIES(p, tensor)
    {
        args.parity = p;
        args.out = field_out(tensor, p);
        run(KERNEL_field_strength, links, &args, NULL);
    }
    slices_scale(tensor, SLICES_ENDS, 0);
}

gauge_energy gauge_field_energy(const field *tensor)
{
    exact_sum s[3] = {exact_zero(), exact_zero(), exact_zero()};
    FOR_PARITIES(p, tensor)
    {
        energy_args args = {field_in(tensor, p)};
        run(KERNEL_energy, tensor, &args, s);
    }
    comm_group_sum_exact(tensor->lat->group, s, 3);
    const double v = (double)tensor->lat->volume;
    gauge_energy e = {exact_value(&s[0]) / v, exact_value(&s[1]) / v, exact_value(&s[2])};
    return e;
}

double links_distance2(const field *x, const field *y)
{
    exact_sum sum = exact_zero();
    expect_kind(x, FIELD_LINKS, y);
    expect_kind(y, FIELD_LINKS, x);
    FOR_PARITIES(p, x)
    {
        const links_distance_args args = {field_in(x, (parity)p), field_in(y, (parity)p)};
        kernel_run(KERNEL_links_distance, x, &args, (kernel_work){.n = field_units(x), .sums = &sum});
    }
    comm_group_sum_exact(x->lat->group, &sum, 1);
    return exact_value(&sum);
}

void gauge_energy_density(field *rho, const field *tensor, const field *links)
{
    expect_kind(tensor, FIELD_TENSOR, links);
    expect_kind(links, FIELD_LINKS, tensor);
    expect_kind(rho, FIELD_DENSITY, links);
    REQUIRE(rho->nrhs >= 3, "%d channels of a density, where 3 are written", rho->nrhs);
    energy_density_args args = {.g = field_geom(links),
                                .links = halo_in(links),
                                .bounded = links->lat->time != TIME_PERIODIC,
                                .last = lattice_last_slice(links->lat)};
    FOR_PARITIES(p, rho)
    {
        args.parity = p;
        args.tensor = field_in(tensor, p);
        args.out = field_out(rho, p);
        run(KERNEL_energy_density, links, &args, NULL);
    }
}

void slices_scale(field *f, slice_choice choice, double factor)
{
    enum { SPACE = 7, TIME = 8, ALL = -1 };
    const int wall[2] = {time_has_wall(f->lat->time, 0), time_has_wall(f->lat->time, 1)};
    const int at[][4] = {[SLICES_INACTIVE_LINKS] = {0, 0, TIME, ALL},
                         [SLICES_FIXED_LINKS] = {wall[0] ? SPACE : 0, 0, wall[1] ? SPACE | TIME : TIME, ALL},
                         [SLICES_OPEN_LINKS] = {wall[0] ? 0 : SPACE, 0, wall[1] ? 0 : SPACE, 0},
                         [SLICES_QUARK_LINKS] = {ALL, TIME, ALL, ALL},
                         [SLICES_ENDS] = {ALL, 0, ALL, ALL}};
    if (f->lat->time == TIME_PERIODIC) return;
    REQUIRE(f->prec == PREC_DOUBLE && (f->reals == 8 || f->reals == 9 || f->reals == 18 || f->reals == 24),
            "slices of a %s of %d reals in precision %d", field_kinds[f->kind].name, f->reals, f->prec);
    FOR_PARITIES(p, f)
    {
        scale_slices_args args = {
            .g = field_geom(f), .factor = factor, .parity = p, .reals = f->reals, .last = lattice_last_slice(f->lat)};
        for (int k = 0; k < 4; k++) args.at[k] = at[choice][k];
        args.out = field_out(f, p);
        run(KERNEL_scale_slices, f, &args, NULL);
    }
}

void momenta_clear_fixed(field *p)
{
    slices_scale(p, SLICES_FIXED_LINKS, 0);
}

void gauge_update(field *links, double dt, const field *momenta)
{
    gauge_update_by(links, dt, dt, momenta);
}

void gauge_update_by(field *links, double space, double time, const field *momenta)
{
    expect_kind(links, FIELD_LINKS, momenta);
    expect_kind(momenta, FIELD_MOMENTA, links);
    FOR_PARITIES(p, links)
    {
        link_update_args args = {
            field_out(links, p), field_in(momenta, p), {space, time}, time_has_wall(links->lat->time, 1)};
        run(KERNEL_link_update, links, &args, NULL);
    }
    slices_scale(links, SLICES_INACTIVE_LINKS, 0); /* zeros without a sign */
}

double gauge_unitarise(field *links)
{
    exact_sum s = exact_zero();
    FOR_PARITIES(p, links)
    {
        unitarise_args args = {field_out(links, p)};
        run(KERNEL_unitarise, links, &args, &s);
    }
    slices_scale(links, SLICES_INACTIVE_LINKS, 0);
    comm_group_sum_exact(links->lat->group, &s, 1);
    const lattice *lat = links->lat;
    const double inactive = lat->time == TIME_PERIODIC ? 0 : (1 + 4 * lat->idle) * (double)lat->volume / lat->size[3];
    exact_add(&s, -3 * inactive); /* deviation |0 - 1|^2 of a zero matrix */
    return sqrt(exact_value(&s) / (4.0 * (double)lat->volume - inactive));
}

void gauge_cold(field *links)
{
    const int *l = links->lat->local;
    const long sites = (long)l[0] * l[1] * l[2];
    const int slices = field_slices(links);
    if (slices == 0) return;
    double *slice = field_slice_buffer(links);
    memset(slice, 0, (size_t)(sites * links->groups) * 18 * sizeof *slice);
    for (long i = 0; i < sites * links->groups; i++)
        for (int c = 0; c < 3; c++) slice[i * 18 + 8 * c] = 1;
    for (int t = 0; t < slices; t++) field_import(links, t, slice);
    free(slice);
    if (links->kind == FIELD_LINKS) slices_scale(links, SLICES_INACTIVE_LINKS, 0);
}

/* Diagonal links in space on the slices of this rank that are chosen, and links in time one; the walls have the phases. */
static void set_abelian(field *links, const double low[3], const double up[3], int walls_only)
{
    const lattice *lat = links->lat;
    const int *l = lat->local, T = lattice_last_slice(lat);
    double *slice = field_slice_buffer(links);
    for (int t = 0; t < field_slices(links); t++) {
        const int at = t + lat->origin[3];
        const int wall = (at == 0 && time_has_wall(lat->time, 0)) || (at == T && time_has_wall(lat->time, 1));
        if (walls_only && !wall) continue;
        field_export(links, t, slice);
        for (long i = 0; i < 4L * l[0] * l[1] * l[2]; i++) {
            const int mu = (int)(i % 4);
            double *u = slice + 18 * i;
            if (mu == 3 && walls_only) continue;
            memset(u, 0, 18 * sizeof *u);
            for (int c = 0; c < 3; c++) {
                const double angle = mu == 3 ? 0 : (at * up[c] + (T - at) * low[c]) / ((double)T * lat->size[mu]);
                u[8 * c] = cos(angle);
                u[8 * c + 1] = sin(angle);
            }
        }
        field_import(links, t, slice);
    }
    free(slice);
    slices_scale(links, SLICES_INACTIVE_LINKS, 0);
}

void gauge_background(field *links, const double low[3], const double up[3])
{
    set_abelian(links, low, up, 0);
}

void gauge_walls(field *links, const double low[3], const double up[3])
{
    set_abelian(links, low, up, 1);
}

void gauge_random(field *links, uint64_t seed, uint32_t purpose, uint32_t number)
{
    FOR_PARITIES(p, links)
    {
        const random_args args = {field_geom(links), field_out(links, p), seed, purpose, number, p, 0, 1, 0};
        run(KERNEL_random_links, links, &args, NULL);
    }
    if (links->kind == FIELD_LINKS) slices_scale(links, SLICES_INACTIVE_LINKS, 0);
}

void links_scale(field *y, const field *x, const double factor[4])
{
    expect_kind(y, FIELD_LINKS, x);
    expect_kind(x, FIELD_LINKS, y);
    for (int p = 0; p < 2; p++) {
        links_scale_args args = {.x = field_in(x, p)};
        for (int mu = 0; mu < 4; mu++) args.re[mu] = factor[mu];
        args.y = field_out(y, p);
        run(KERNEL_links_scale, y, &args, NULL);
    }
}

void links_twist(field *y, const field *x, const double angle[4])
{
    expect_kind(y, FIELD_LINKS, x);
    expect_kind(x, FIELD_LINKS, y);
    for (int p = 0; p < 2; p++) {
        links_scale_args args = {.x = field_in(x, p)};
        for (int mu = 0; mu < 4; mu++) {
            args.re[mu] = cos(angle[mu]);
            args.im[mu] = sin(angle[mu]);
        }
        args.y = field_out(y, p);
        run(KERNEL_links_scale, y, &args, NULL);
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
        const random_args args = {field_geom(m), field_out(m, p), seed, purpose, number, p, 0, 1, 0};
        run(KERNEL_random_momenta, m, &args, NULL);
    }
    momenta_clear_fixed(m);
}

/* Momenta of one lattice, or of two of the same extents and grid. */
static void expect_momenta(const field *x, const field *y)
{
    REQUIRE(x->kind == FIELD_MOMENTA && y->kind == FIELD_MOMENTA && x->where == y->where && x->par == y->par &&
                field_units(x) == field_units(y),
            "%s of %ld units beside %s of %ld", field_kinds[x->kind].name, field_units(x), field_kinds[y->kind].name,
            field_units(y));
}

void momenta_add(field *y, double a, const field *x)
{
    momenta_add_by(y, a, a, x);
}

void momenta_add_by(field *y, double space, double time, const field *x)
{
    expect_momenta(y, x);
    FOR_PARITIES(p, y)
    {
        momenta_add_args args = {field_out(y, p), field_in(x, p), {space, time}};
        run(KERNEL_momenta_add, y, &args, NULL);
    }
}

void momenta_laplace(field *p, double a, const field *links)
{
    expect_kind(p, FIELD_MOMENTA, links);
    expect_kind(links, FIELD_LINKS, p);
    field *matrix = field_scratch(links);
    FOR_PARITIES(q, p)
    {
        momenta_matrix_args args = {field_in(p, q), field_out(matrix, q)};
        run(KERNEL_momenta_matrix, p, &args, NULL);
    }
    momenta_laplace_args args = {.g = field_geom(links), .links = halo_in(links), .matrix = halo_in(matrix), .a = a};
    FOR_PARITIES(q, p)
    {
        args.parity = q;
        args.y = field_out(p, q);
        run(KERNEL_momenta_laplace, links, &args, NULL);
    }
    field_destroy(matrix);
}

double momenta_dot(const field *x, const field *y)
{
    return momenta_dot_by(1, 1, x, y);
}

double momenta_dot_by(double space, double time, const field *x, const field *y)
{
    exact_sum s = exact_zero();
    expect_momenta(x, y);
    FOR_PARITIES(p, x)
    {
        momenta_dot_args args = {field_in(x, p), field_in(y, p), {space, time}};
        run(KERNEL_momenta_dot, x, &args, &s);
    }
    comm_group_sum_exact(x->lat->group, &s, 1);
    return exact_value(&s);
}

double momenta_norm2(const field *m)
{
    return momenta_dot(m, m);
}
