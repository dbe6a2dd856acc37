#include "kernels/field/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/field/stored.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/lanes.h"
#include "kernels/run/profile.h"

const field_kind_info field_kinds[FIELD_KINDS] = {
#define FIELD_KIND(id, ...) [id] = {__VA_ARGS__},
#include "kernels/field/fields.def"
#undef FIELD_KIND
};

const char *const precision_names[PREC_COUNT] = {"double", "single", "half", "quarter"};

precision precision_named(const char *name)
{
    for (int p = 0; p < PREC_COUNT; p++)
        if (!strcmp(name, precision_names[p])) return (precision)p;
    REQUIRE(0, "no precision %s", name);
    return PREC_DOUBLE;
}

static const size_t stored_bytes[PREC_COUNT] = {8, 4, 2, 1};

static unsigned long next_version(void)
{
    static unsigned long version;
    return ++version;
}

static const layout *layout_for(const lattice *lat, precision prec, place where)
{
    if (where == PLACE_DEVICE) return &lat->layouts[0];
    return lattice_layout(lat, prec == PREC_DOUBLE ? LANES_DOUBLE : LANES_SINGLE);
}

int field_lanes(const lattice *lat, precision prec)
{
    return layout_for(lat, prec, PLACE_HOST)->lanes;
}

static long storage_units(const layout *lay, field_kind kind, parity par)
{
    long units = par == PARITY_BOTH ? 2 * lay->odd_start : lay->odd_start;
    if (field_kinds[kind].ghosts && par == PARITY_BOTH) units = lay->ghost_start + lay->nghost;
    return lay->lanes == 1 ? (units + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK : units;
}

static void set_sizes(field *f, const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, int Ls,
                      place where)
{
    const field_kind_info *info = &field_kinds[kind];
    const int many = info->groups == 1;
    REQUIRE(nrhs >= 1 && Ls >= 1 && (nrhs * Ls == 1 || many), "%d right-hand sides of %d slices of %s", nrhs, Ls,
            info->name);
    REQUIRE(lat->parities == 2 || (par == PARITY_EVEN && !info->ghosts), "a %s of parity %d without parity", info->name,
            par);
    *f = (field){
        .lat = lat, .lay = layout_for(lat, prec, where), .kind = kind, .prec = prec, .par = par, .where = where};
    f->nrhs = nrhs;
    f->Ls = Ls;
    f->groups = many ? nrhs * Ls : info->groups;
    f->reals = info->reals;
    const long units = storage_units(f->lay, kind, par);
    const int apart = info->apart && f->lay->lanes > 1;
    f->stride = apart ? f->reals : f->groups * f->reals;
    f->group_stride = apart ? units * f->reals : f->reals;
    const size_t sites = (size_t)units * (size_t)f->lay->lanes;
    f->bytes = sites * (size_t)(f->groups * f->reals) * stored_bytes[prec];
    f->scale_bytes = prec >= PREC_HALF && info->scaled ? sites * (size_t)f->groups * sizeof(float) : 0;
}

size_t field_bytes(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where)
{
    field f;
    set_sizes(&f, lat, kind, prec, par, nrhs, 1, where);
    return f.bytes + f.scale_bytes;
}

field *field_create(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where)
{
    return field_create_5d(lat, kind, prec, par, nrhs, 1, where);
}

static field *with_memory(const field *sizes)
{
    field *f = malloc(sizeof *f);
    REQUIRE_MEMORY(f, "out of memory for a %s", field_kinds[sizes->kind].name);
    *f = *sizes;
    f->data = pool_take(f->where, f->bytes);
    f->scale = f->scale_bytes ? pool_take(f->where, f->scale_bytes) : NULL;
    f->version = next_version();
    f->ghost_version = 0;
    return f;
}

field *field_create_5d(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, int Ls, place where)
{
    field sizes;
    set_sizes(&sizes, lat, kind, prec, par, nrhs, Ls, where);
    field *f = with_memory(&sizes);
    field_clear(f);
    return f;
}

/* Four bytes of zeros as they are stored; any integer does where the scale is zero. */
static uint32_t stored_zero(const field *f)
{
    if (f->prec < PREC_HALF || f->scale || f->lay->lanes > 1) return 0;
    return f->prec == PREC_HALF ? 0x80008000u : 0x80808080u;
}

void field_clear(field *f)
{
    const uint32_t zero = stored_zero(f);
    if (f->where == PLACE_HOST) {
        memset(f->data, 0, f->bytes);
        for (size_t i = 0; zero && i < f->bytes / sizeof zero; i++) ((uint32_t *)f->data)[i] = zero;
        if (f->scale) memset(f->scale, 0, f->scale_bytes);
    } else {
        gpu_fill(f->data, zero, f->bytes);
        if (f->scale) gpu_fill(f->scale, 0, f->scale_bytes);
    }
    f->version = next_version();
}

field *field_like(const field *f)
{
    return field_create_5d(f->lat, f->kind, f->prec, f->par, f->nrhs, f->Ls, f->where);
}

field *field_scratch(const field *f)
{
    return with_memory(f);
}

void field_destroy(field *f)
{
    if (!f) return;
    pool_give(f->where, f->data, f->bytes);
    if (f->scale) pool_give(f->where, f->scale, f->scale_bytes);
    free(f);
}

long field_units(const field *f)
{
    return f->lay->nunit;
}

size_t field_real_bytes(const field *f)
{
    return stored_bytes[f->prec];
}

double field_traffic(const field *f)
{
    const double scale = f->scale ? (double)sizeof *f->scale / f->reals : 0;
    return (double)stored_bytes[f->prec] + scale;
}

/* ---- views ---- */

static view view_from(const field *f, long unit)
{
    const size_t sites = (size_t)unit * (size_t)f->lay->lanes;
    view v = {(char *)f->data + sites * (size_t)f->stride * stored_bytes[f->prec],
              f->scale ? f->scale + sites * (size_t)f->groups : NULL, f->stride, f->groups, f->group_stride};
    return v;
}

static view view_of(const field *f, parity p)
{
    REQUIRE(p != PARITY_BOTH && (f->par == PARITY_BOTH || f->par == p), "parity %d of a %s with parity %d", p,
            field_kinds[f->kind].name, f->par);
    return view_from(f, f->par == PARITY_BOTH && p == PARITY_ODD ? f->lay->odd_start : 0);
}

view field_in(const field *f, parity p)
{
    return view_of(f, p);
}

view field_out(field *f, parity p)
{
    f->version = next_version();
    return view_of(f, p);
}

void field_written(field *f)
{
    f->version = next_version();
}

view field_all(const field *f)
{
    return view_from(f, 0);
}

field field_part(const field *f, parity p)
{
    const view v = view_of(f, p);
    field half = *f;
    set_sizes(&half, f->lat, f->kind, f->prec, p, f->nrhs, f->Ls, f->where);
    half.data = v.data;
    half.scale = v.scale;
    half.version = f->version;
    return half;
}

field field_rhs(const field *f, int rhs)
{
    const size_t sites = f->lay->lanes == 1 ? LINEAR_BLOCK : (size_t)f->lay->lanes;
    field one = *f;
    REQUIRE(!f->scale && rhs < f->groups, "right-hand side %d of %d", rhs, f->groups);
    one.data = (char *)f->data + sites * (size_t)(rhs * f->group_stride) * stored_bytes[f->prec];
    one.nrhs = one.Ls = one.groups = 1;
    return one;
}

/* ---- element access on the host ---- */

stored_field field_stored(const field *f)
{
    return (stored_field){.data = f->data,
                          .scale = f->scale,
                          .prec = f->prec,
                          .lanes = f->lay->lanes,
                          .groups = f->groups,
                          .reals = f->reals,
                          .stride = f->stride,
                          .group_stride = f->group_stride};
}

static double copied_bytes;

double field_copied_bytes(void)
{
    return copied_bytes;
}

/* A field on the host with the layout of f, its contents undefined. */
static field *host_twin(const field *f)
{
    field *h = malloc(sizeof *h);
    REQUIRE_MEMORY(h, "out of memory for a %s", field_kinds[f->kind].name);
    *h = *f;
    h->where = PLACE_HOST;
    h->data = pool_take(PLACE_HOST, h->bytes);
    h->scale = h->scale_bytes ? pool_take(PLACE_HOST, h->scale_bytes) : NULL;
    return h;
}

/* Copies storage units [first, end) between fields of one layout. */
static void copy_units(field *y, const field *x, long first, long end)
{
    const size_t unit = (size_t)x->stride * stored_bytes[x->prec], scales = (size_t)x->groups * sizeof(float);
    const size_t at = (size_t)first, n = (size_t)(end - first);
    gpu_copy((char *)y->data + at * unit, y->where, (char *)x->data + at * unit, x->where, n * unit);
    if (x->scale)
        gpu_copy((char *)y->scale + at * scales, y->where, (char *)x->scale + at * scales, x->where, n * scales);
    if (x->where != y->where) copied_bytes += (double)(n * (unit + (x->scale ? scales : 0)));
}

/* The blocks of storage that hold time slice t; in the linear layout its units follow each other. */
static void copy_slice(field *y, const field *x, int t)
{
    const long slice = x->lay->nunit / x->lat->local[3], first = t * slice / LINEAR_BLOCK * LINEAR_BLOCK,
               end = ((t + 1) * slice + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    copy_units(y, x, first, end);
    if (x->par == PARITY_BOTH) copy_units(y, x, x->lay->odd_start + first, x->lay->odd_start + end);
}

/* Storage unit and lane of a site, or false when the field has not its parity. */
static int storage_of(const field *f, const int x[4], long *unit, int *lane)
{
    const int p = layout_parity(f->lay, x);
    if (f->par != PARITY_BOTH && (int)f->par != p) return 0;
    layout_locate(f->lay, x, unit, lane);
    if (f->par == PARITY_ODD) *unit -= f->lay->odd_start;
    return 1;
}

double *field_slice_buffer(const field *f)
{
    const int *l = f->lat->local;
    double *slice = malloc((size_t)l[0] * l[1] * l[2] * (size_t)(f->groups * f->reals) * sizeof *slice);
    REQUIRE_MEMORY(slice, "out of memory for a time slice of a %s", field_kinds[f->kind].name);
    return slice;
}

enum { EXPORT, IMPORT };

static void transfer_slice(field *f, int t, double *buf, int way)
{
    if (f->where == PLACE_DEVICE) {
        field *h = host_twin(f);
        copy_slice(h, f, t);
        transfer_slice(h, t, buf, way);
        if (way == IMPORT) copy_slice(f, h, t);
        field_destroy(h);
        return;
    }
    const int *l = f->lat->local;
    const size_t reals = (size_t)(f->groups * f->reals);
    const stored_field stored = field_stored(f);
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < l[2]; z++)
        for (int y = 0; y < l[1]; y++)
            for (int i = 0; i < l[0]; i++) {
                const int x[4] = {i, y, z, t};
                long unit;
                int lane;
                if (!storage_of(f, x, &unit, &lane)) continue;
                double *site = buf + (((size_t)z * l[1] + y) * l[0] + i) * reals;
                for (int g = 0; g < f->groups; g++)
                    if (way == EXPORT) stored_read(site + g * f->reals, &stored, unit, lane, g);
                    else stored_write(&stored, unit, lane, g, site + g * f->reals);
            }
}

void field_export(const field *f, int t, double *buf)
{
    transfer_slice((field *)f, t, buf, EXPORT);
}

void field_import(field *f, int t, const double *buf)
{
    transfer_slice(f, t, (double *)buf, IMPORT);
    f->version = next_version();
}

/* ---- copies ---- */

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
                    if (!storage_of(x, site, &ux, &lx) || !storage_of(y, site, &uy, &ly)) continue;
                    for (int g = 0; g < x->groups; g++)
                        if (way == STORED_ADD) stored_add(&to, uy, ly, factor, &from, ux, lx, g);
                        else stored_convert(&to, uy, ly, &from, ux, lx, g);
                }
}

#define FIELD_KIND(id, name, groups, reals, ...) _Static_assert((reals) <= STORED_MOST, name);
#include "kernels/field/fields.def"
#undef FIELD_KIND

/* In one place. Ghosts do not travel: halo_fill() brings them. */
static void convert(field *y, const field *x, stored_way way, double factor)
{
    const kernel_timing timing = kernel_timing_start(KERNEL_convert, y->prec, y->where == PLACE_DEVICE, 0);
    const double sites = (double)field_units(y) * y->lay->lanes * (y->par == PARITY_BOTH ? 2 : 1) * y->groups;
    if (y->where == PLACE_DEVICE) {
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

static void copy_same_storage(field *y, const field *x)
{
    if (y->where == PLACE_HOST && x->where == PLACE_HOST) {
        memcpy(y->data, x->data, y->bytes);
        if (y->scale) memcpy(y->scale, x->scale, y->scale_bytes);
    } else {
        copy_units(y, x, 0, (long)(x->bytes / ((size_t)x->stride * stored_bytes[x->prec])));
    }
}

void field_copy(field *y, const field *x)
{
    REQUIRE(y != x && y->lat == x->lat && y->groups == x->groups && y->Ls == x->Ls, "%s from %s",
            field_kinds[y->kind].name, field_kinds[x->kind].name);
    REQUIRE(y->par == x->par && can_become(x->kind, y->kind), "%s of parity %d from %s of parity %d",
            field_kinds[y->kind].name, y->par, field_kinds[x->kind].name, x->par);
    y->version = next_version();
    if (y->lay == x->lay && y->prec == x->prec && y->kind == x->kind) {
        copy_same_storage(y, x);
    } else if (x->where == y->where) {
        convert(y, x, STORED_COPY, 1);
    } else if (x->where == PLACE_DEVICE) {
        field *h = host_twin(x);
        copy_same_storage(h, x);
        convert(y, h, STORED_COPY, 1);
        field_destroy(h);
    } else {
        field *h = host_twin(y);
        convert(h, x, STORED_COPY, 1);
        copy_same_storage(y, h);
        field_destroy(h);
    }
}

void field_add(field *y, double a, const field *x)
{
    REQUIRE(y != x && y->lat == x->lat && y->groups == x->groups && y->Ls == x->Ls && y->par == x->par &&
                y->kind == x->kind && y->where == x->where && y->kind != FIELD_LINKS_EIGHT,
            "%s of parity %d and place %d added to %s of parity %d and place %d", field_kinds[x->kind].name, x->par,
            x->where, field_kinds[y->kind].name, y->par, y->where);
    y->version = next_version();
    convert(y, x, STORED_ADD, a);
}

int field_first_parity(const field *f)
{
    return f->par == PARITY_ODD;
}

int field_last_parity(const field *f)
{
    return f->par != PARITY_EVEN;
}

geom field_geom(const field *f)
{
    return layout_tables(f->lay, f->where == PLACE_DEVICE)->g;
}
