#include "kernels/ops/fixing.h"

#include "kernels/family/fixing.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/expect.h"
#include "kernels/ops/halo.h"
#include "kernels/run/kernel.h"

static void expect_rotation(const field *g, const field *links)
{
    expect_kind(links, FIELD_LINKS, g);
    expect_kind(g, FIELD_COLOUR_MATRIX, links);
}

void gauge_rotate(field *out, const field *links, const field *g)
{
    expect_rotation(g, links);
    expect_kind(out, FIELD_LINKS, links);
    gauge_rotate_args args = {.g = field_geom(links), .links = field_all(links), .rotation = halo_in(g)};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        args.out = field_out(out, (parity)args.parity);
        kernel_run(KERNEL_gauge_rotate, links, &args, (kernel_work){.n = field_units(links)});
    }
}

void gauge_relax(field *g, const field *links, int directions, double over_relaxation)
{
    expect_rotation(g, links);
    gauge_relax_args args = {
        .g = field_geom(links), .links = halo_in(links), .over_relaxation = over_relaxation, .directions = directions};
    for (args.parity = 0; args.parity < 2; args.parity++) {
        args.rotation = halo_in(g);
        args.out = field_out(g, (parity)args.parity);
        kernel_run(KERNEL_gauge_relax, links, &args, (kernel_work){.n = field_units(links)});
    }
}

gauge_gradient gauge_gradient_of(const field *g, const field *links, int directions)
{
    exact_sum s[2] = {exact_zero(), exact_zero()};
    expect_rotation(g, links);
    gauge_gradient_args args = {
        .g = field_geom(links), .links = halo_in(links), .rotation = halo_in(g), .directions = directions};
    for (args.parity = 0; args.parity < 2; args.parity++)
        kernel_run(KERNEL_gauge_gradient, links, &args, (kernel_work){.n = field_units(links), .sums = s});
    comm_group_sum_exact(links->lat->group, s, 2);
    const double v = (double)links->lat->volume;
    return (gauge_gradient){exact_value(&s[0]) / (6 * directions * v), exact_value(&s[1]) / (3 * v)};
}
