/* Copies of fields (kernels/field/field.h) that convert precision, layout and place, and sums of fields of several precisions.
 * The profile counts a conversion as a kernel. */
#include "kernels/base/error.h"
#include "kernels/field/storage.h"
#include "kernels/field/stored_device.h"
#include "kernels/run/profile.h"

static void convert_on_host(field *y, const field *x, stored_way way, double factor)
{
    const int *l = y->lat->local;
    const stored_field from = field_stored(x), to = field_stored(y);
#pragma omp parallel for collapse(2) schedule(static)
    for (int t = 0; t < l[3]; t++)
        for (int z = 0; z < l[2]; z++)
            for (int j = 0; j < l[1]; j++)
                for (int i = 0; i < l[0]; i++) {
                    const int site[4] = {i, j, z, t};
                    long ux, uy;
                    int lx, ly;
                    if (!field_storage_of(x, site, &ux, &lx) || !field_storage_of(y, site, &uy, &ly)) continue;
                    for (int g = 0; g < x->groups; g++)
                        if (way == STORED_ADD) stored_add(&to, uy, ly, factor, &from, ux, lx, g);
                        else stored_convert(&to, uy, ly, &from, ux, lx, g);
                }
}

/* Pair by pair, on either place. */
static void convert_rows(field *y, const field *x, stored_way way, double factor)
{
    const long pairs = field_rows(y) * y->reals / 2;
    for (int g = 0; g < y->groups; g++) {
        const stored_field from = field_row_pairs(x, g, 0), to = field_row_pairs(y, g, 0);
        if (y->where == PLACE_DEVICE) {
            gpu_convert(&to, way, factor, &from, pairs);
            continue;
        }
#pragma omp parallel for schedule(static)
        for (long i = 0; i < pairs; i++)
            if (way == STORED_ADD) stored_add(&to, i, 0, factor, &from, i, 0, 0);
            else stored_convert(&to, i, 0, &from, i, 0, 0);
    }
}

#define FIELD_KIND(id, name, groups, reals, ...) _Static_assert((reals) <= STORED_MOST, name);
#include "kernels/field/fields.def"
#undef FIELD_KIND

/* Converts within one place. Ghosts do not travel: halo_fill() brings them. */
static void convert(field *y, const field *x, stored_way way, double factor)
{
    const kernel_timing timing = kernel_timing_start(KERNEL_convert, y->prec, y->where == PLACE_DEVICE, 0);
    const double sites = (double)field_units(y) * y->lay->lanes * (y->par == PARITY_BOTH ? 2 : 1) * y->groups;
    if (y->order == ORDER_ROWS) {
        convert_rows(y, x, way, factor);
    } else if (y->where == PLACE_DEVICE) {
        const stored_field from = field_stored(x), to = field_stored(y);
        const long units = y->par == PARITY_BOTH ? 2 * y->lay->odd_start : y->lay->odd_start;
        gpu_convert(&to, way, factor, &from, units);
    } else {
        convert_on_host(y, x, way, factor);
    }
    kernel_timing_stop(&timing, way == STORED_ADD ? 2 * sites * x->reals : 0,
                       sites *
                           (x->reals * field_traffic(x) + y->reals * field_traffic(y) * (way == STORED_ADD ? 2 : 1)));
}

static int can_become(field_kind from, field_kind to)
{
    return from == to || (from == FIELD_LINKS && (to == FIELD_LINKS_TWO_ROWS || to == FIELD_LINKS_EIGHT)) ||
           (from == FIELD_LINKS_TWO_ROWS && to == FIELD_LINKS);
}

void field_copy(field *y, const field *x)
{
    REQUIRE(y != x && y->lat == x->lat && y->groups == x->groups && y->Ls == x->Ls &&
                (y->reals == x->reals || y->order != ORDER_ROWS),
            "%s of %d groups, %d reals from %s of %d groups, %d reals", field_kinds[y->kind].name, y->groups, y->reals,
            field_kinds[x->kind].name, x->groups, x->reals);
    REQUIRE(y->par == x->par && can_become(x->kind, y->kind), "%s of parity %d from %s of parity %d",
            field_kinds[y->kind].name, y->par, field_kinds[x->kind].name, x->par);
    field_written(y);
    if (y->lat->planned) return;
    if (y->lay == x->lay && y->prec == x->prec && y->kind == x->kind) {
        field_copy_storage(y, x);
    } else if (x->where == y->where) {
        convert(y, x, STORED_COPY, 1);
    } else if (x->where == PLACE_DEVICE) {
        field *h = field_host_twin(x);
        field_copy_storage(h, x);
        convert(y, h, STORED_COPY, 1);
        field_destroy(h);
    } else {
        field *h = field_host_twin(y);
        convert(h, x, STORED_COPY, 1);
        field_copy_storage(y, h);
        field_destroy(h);
    }
}

void field_add(field *y, double a, const field *x)
{
    REQUIRE(y != x && field_alike(y, x) && y->par == x->par && y->kind != FIELD_LINKS_EIGHT,
            "%s of parity %d and place %d added to %s of parity %d and place %d", field_kinds[x->kind].name, x->par,
            x->where, field_kinds[y->kind].name, y->par, y->where);
    field_written(y);
    if (!y->lat->planned) convert(y, x, STORED_ADD, a);
}
