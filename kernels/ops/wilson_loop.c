#include "kernels/ops/wilson_loop.h"

#include "kernels/family/gauge.h"
#include "kernels/ops/expect.h"
#include "kernels/ops/halo.h"
#include "kernels/run/kernel.h"

static void run_step(field *out, path_step_args args)
{
    args.g = field_geom(out);
    FOR_PARITIES(p, out)
    {
        args.parity = p;
        args.out = field_out(out, (parity)p);
        kernel_run(KERNEL_path_step, out, &args, (kernel_work){.n = field_units(out)});
    }
}

void path_step(field *out, const field *links, int step, const field *path, int add)
{
    expect_kind(out, FIELD_COLOUR_MATRIX, links);
    expect_kind(path, FIELD_COLOUR_MATRIX, links);
    REQUIRE(step >= 0 && step < 8, "step %d", step);
    run_step(out, (path_step_args){.links = halo_in(links), .path = halo_in(path), .step = step, .add = add});
}

void path_carry(field *out, const field *links, int step, const field *path)
{
    expect_kind(out, FIELD_COLOUR_MATRIX, links);
    expect_kind(path, FIELD_COLOUR_MATRIX, links);
    REQUIRE(step >= 0 && step < 8, "step %d", step);
    run_step(out, (path_step_args){.links = halo_in(links), .path = halo_in(path), .step = step, .closed = 1});
}

void path_add(field *out, const field *path)
{
    expect_kind(out, FIELD_COLOUR_MATRIX, path);
    expect_kind(path, FIELD_COLOUR_MATRIX, out);
    const view all = field_all(path);
    run_step(out, (path_step_args){.links = all, .path = all, .step = -1, .bare = 1, .add = 1});
}

void path_to_tensor(field *tensor, int plane, double weight, const field *path, int add)
{
    expect_kind(tensor, FIELD_TENSOR, path);
    expect_kind(path, FIELD_COLOUR_MATRIX, tensor);
    FOR_PARITIES(p, tensor)
    {
        const tensor_plane_args args = {.path = field_in(path, (parity)p),
                                        .out = field_out(tensor, (parity)p),
                                        .weight = weight,
                                        .plane = plane,
                                        .add = add};
        kernel_run(KERNEL_tensor_plane, tensor, &args, (kernel_work){.n = field_units(tensor)});
    }
}

void path_shift(field *out, int step, const field *from, int mu)
{
    expect_kind(out, FIELD_COLOUR_MATRIX, from);
    expect_kind(from, from->kind == FIELD_LINKS ? FIELD_LINKS : FIELD_COLOUR_MATRIX, out);
    const view all = step < 0 ? field_all(from) : halo_in(from);
    run_step(out, (path_step_args){.links = all, .path = all, .step = step < 0 ? -1 : step, .group = mu, .bare = 1});
}

void loop_strip(field *out, exact_sum *sum, const field *links, int nu, const field *strip, const field *end,
                const field *path)
{
    const field *const all[] = {out, strip, end, path};
    for (int i = 0; i < 4; i++) expect_kind(all[i], FIELD_COLOUR_MATRIX, links);
    loop_strip_args args = {.g = field_geom(links),
                            .links = field_all(links),
                            .strip = halo_in(strip),
                            .end = field_all(end),
                            .path = field_all(path),
                            .nu = nu};
    FOR_PARITIES(p, out)
    {
        args.parity = p;
        args.out = field_out(out, (parity)p);
        kernel_run(KERNEL_loop_strip, links, &args, (kernel_work){.n = field_units(links), .sums = sum});
    }
}

void trace_products(exact_sum *sum, const field *x, const field *y)
{
    expect_kind(x, FIELD_COLOUR_MATRIX, y);
    expect_kind(y, FIELD_COLOUR_MATRIX, x);
    FOR_PARITIES(p, x)
    {
        const trace_products_args args = {field_in(x, (parity)p), field_in(y, (parity)p)};
        kernel_run(KERNEL_trace_products, x, &args, (kernel_work){.n = field_units(x), .sums = sum});
    }
}
