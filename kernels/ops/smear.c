#include "kernels/ops/smear.h"

#include "kernels/ops/expect.h"
#include "kernels/ops/halo.h"
#include "kernels/run/kernel.h"

void smear_stout(field *out, const field *links, const stout_weights *w)
{
    expect_kind(out, FIELD_LINKS, links);
    expect_kind(links, FIELD_LINKS, out);
    stout_args args = {.g = field_geom(links), .links = halo_in(links), .w = *w};
    FOR_PARITIES(p, out)
    {
        args.parity = p;
        args.out = field_out(out, p);
        kernel_run(KERNEL_stout, links, &args, (kernel_work){.n = field_units(links)});
    }
}

void smear_stout_back(field *force, const field *links, const stout_weights *w)
{
    expect_kind(force, FIELD_MOMENTA, links);
    expect_kind(links, FIELD_LINKS, force);
    field *lambda = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    field_clear(lambda); /* four of its six planes are used, and halos send all */
    stout_back_args back = {.g = field_geom(links), .links = halo_in(links), .w = *w};
    FOR_PARITIES(p, force)
    {
        back.parity = p;
        back.force = field_out(force, p);
        back.lambda = field_out(lambda, p);
        kernel_run(KERNEL_stout_back, links, &back, (kernel_work){.n = field_units(links)});
    }
    stout_gather_args gather = {.g = back.g, .links = back.links, .lambda = halo_in(lambda), .w = *w};
    FOR_PARITIES(p, force)
    {
        gather.parity = p;
        gather.force = field_out(force, p);
        kernel_run(KERNEL_stout_gather, links, &gather, (kernel_work){.n = field_units(links)});
    }
    field_destroy(lambda);
}
