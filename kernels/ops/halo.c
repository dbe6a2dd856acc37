#include "kernels/ops/halo.h"

#include "kernels/family/blas.h"
#include "kernels/base/error.h"
#include "kernels/run/exchange.h"
#include "kernels/run/kernel.h"

static void fill_direction(const field *f, int d)
{
    const layout *tables = layout_tables(f->lay, f->where == PLACE_DEVICE);
    exchange e;
    exchange_open(&e, f);
    for (int s = 2 * d; s < 2 * d + 2; s++) exchange_add(&e, s ^ 1, s, f->lay->nshell[d], f->groups, f->reals);
    exchange_place(&e, 0);
    for (int k = 0; k < 2; k++) {
        const int s = 2 * d + k;
        ghost_pack_args args = {tables->g, field_all(f), e.packed[k], tables->shell_from[s], s ^ 1, f->reals};
        kernel_run(KERNEL_ghost_pack, f, &args, (kernel_work){.n = f->lay->nshell[d], .aside = 1});
    }
    exchange_start(&e);
    exchange_wait(&e);
    for (int k = 0; k < 2; k++) {
        const int s = 2 * d + k;
        ghost_unpack_args args = {field_all(f), e.ghost[s], tables->shell_to[s], f->reals};
        kernel_run(KERNEL_ghost_unpack, f, &args, (kernel_work){.n = f->lay->nshell[d]});
    }
}

void halo_fill(const field *f)
{
    if (f->ghost_version == f->version) return;
    REQUIRE(field_kinds[f->kind].ghosts && f->par == PARITY_BOTH, "a %s has no ghosts", field_kinds[f->kind].name);
    for (int d = 0; d < 4; d++)
        if (f->lay->g.split[d]) fill_direction(f, d);
    ((field *)f)->ghost_version = f->version; /* ghosts are no part of what a reader of f may rely on */
}

view halo_in(const field *f)
{
    halo_fill(f);
    return field_all(f);
}
