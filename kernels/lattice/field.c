#include "kernels/lattice/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/halo.h"
#include "kernels/lattice/lanes.h"

const field_kind_info field_kinds[FIELD_KINDS] = {
#define FIELD_KIND(id, ...) [id] = {__VA_ARGS__},
#include "kernels/lattice/fields.def"
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
static const double fixed_range[PREC_COUNT] = {0, 0, 32767, 127};

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

static void set_sizes(field *f, const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where)
{
    const field_kind_info *info = &field_kinds[kind];
    REQUIRE(nrhs >= 1 && (nrhs == 1 || kind == FIELD_SPINOR), "%d right-hand sides of %s", nrhs, info->name);
    *f = (field){
        .lat = lat, .lay = layout_for(lat, prec, where), .kind = kind, .prec = prec, .par = par, .where = where};
    f->groups = kind == FIELD_SPINOR ? nrhs : info->groups;
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
    set_sizes(&f, lat, kind, prec, par, nrhs, where);
    return f.bytes + f.scale_bytes;
}

field *field_create(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where)
{
    field *f = malloc(sizeof *f);
    REQUIRE(f, "out of memory for a %s", field_kinds[kind].name);
    set_sizes(f, lat, kind, prec, par, nrhs, where);
    f->data = pool_take(where, f->bytes);
    f->scale = f->scale_bytes ? pool_take(where, f->scale_bytes) : NULL;
    f->ghost_version = 0;
    field_clear(f);
    return f;
}

void field_clear(field *f)
{
    if (f->where == PLACE_HOST) {
        memset(f->data, 0, f->bytes);
        if (f->scale) memset(f->scale, 0, f->scale_bytes);
    } else {
        gpu_zero(f->data, f->bytes);
        if (f->scale) gpu_zero(f->scale, f->scale_bytes);
    }
    f->version = next_version();
}

field *field_like(const field *f)
{
    return field_create(f->lat, f->kind, f->prec, f->par, f->kind == FIELD_SPINOR ? f->groups : 1, f->where);
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

view field_in_all(const field *f)
{
    halo_fill((field *)f);
    return view_from(f, 0);
}

field field_part(const field *f, parity p)
{
    const view v = view_of(f, p);
    field half = *f;
    set_sizes(&half, f->lat, f->kind, f->prec, p, f->kind == FIELD_SPINOR ? f->groups : 1, f->where);
    half.data = v.data;
    half.scale = v.scale;
    half.version = f->version;
    return half;
}

/* ---- element access on the host ---- */

size_t field_real_index(const field *f, long unit, int lane, int group, int c)
{
    if (f->lay->lanes > 1) return ((size_t)unit * f->stride + group * f->group_stride + c) * f->lay->lanes + lane;
    const int pack = VIEW_PACK(f->prec == PREC_DOUBLE, f->reals);
    const size_t block = unit / LINEAR_BLOCK * f->stride + group * f->reals + c / pack * pack;
    return block * LINEAR_BLOCK + unit % LINEAR_BLOCK * pack + c % pack;
}

static size_t scale_index(const field *f, long unit, int lane, int group)
{
    if (f->lay->lanes > 1) return ((size_t)unit * f->groups + group) * f->lay->lanes + lane;
    return ((size_t)unit / LINEAR_BLOCK * f->groups + group) * LINEAR_BLOCK + unit % LINEAR_BLOCK;
}

static void read_group(const field *f, long unit, int lane, int group, double *out)
{
    double scale = 1;
    if (f->prec >= PREC_HALF)
        scale = (f->scale ? f->scale[scale_index(f, unit, lane, group)] : 1) * (1 / fixed_range[f->prec]);
    for (int c = 0; c < f->reals; c++) {
        const size_t i = field_real_index(f, unit, lane, group, c);
        switch (f->prec) {
        case PREC_DOUBLE: out[c] = ((const double *)f->data)[i]; break;
        case PREC_SINGLE: out[c] = ((const float *)f->data)[i]; break;
        case PREC_HALF: out[c] = scale * ((const int16_t *)f->data)[i]; break;
        default: out[c] = scale * ((const int8_t *)f->data)[i];
        }
    }
}

static void write_group(field *f, long unit, int lane, int group, const double *in)
{
    double factor = 1;
    if (f->prec >= PREC_HALF) {
        double largest = 1;
        if (f->scale) {
            largest = 0;
            for (int c = 0; c < f->reals; c++) largest = fmax(largest, fabs(in[c]));
            f->scale[scale_index(f, unit, lane, group)] = (float)largest;
        }
        factor = largest > 0 ? fixed_range[f->prec] / largest : 0;
    }
    for (int c = 0; c < f->reals; c++) {
        const size_t i = field_real_index(f, unit, lane, group, c);
        const double fixed =
            f->prec >= PREC_HALF ? fmax(-fixed_range[f->prec], fmin(fixed_range[f->prec], rint(in[c] * factor))) : 0;
        switch (f->prec) {
        case PREC_DOUBLE: ((double *)f->data)[i] = in[c]; break;
        case PREC_SINGLE: ((float *)f->data)[i] = (float)in[c]; break;
        case PREC_HALF: ((int16_t *)f->data)[i] = (int16_t)fixed; break;
        default: ((int8_t *)f->data)[i] = (int8_t)fixed;
        }
    }
}

/* Storage unit and lane of a site, or false when the field has not its parity. */
static int storage_of(const field *f, const int x[4], long *unit, int *lane)
{
    const int p = (x[0] + x[1] + x[2] + x[3]) & 1;
    if (f->par != PARITY_BOTH && (int)f->par != p) return 0;
    layout_locate(f->lay, x, unit, lane);
    if (f->par == PARITY_ODD) *unit -= f->lay->odd_start;
    return 1;
}

double *field_slice_buffer(const field *f)
{
    const int *l = f->lat->local;
    double *slice = malloc((size_t)l[0] * l[1] * l[2] * (size_t)(f->groups * f->reals) * sizeof *slice);
    REQUIRE(slice, "out of memory for a time slice of a %s", field_kinds[f->kind].name);
    return slice;
}

enum { EXPORT, IMPORT };

static void transfer_slice(field *f, int t, double *buf, int way)
{
    REQUIRE(f->where == PLACE_HOST, "a %s on the device", field_kinds[f->kind].name);
    const int *l = f->lat->local;
    const size_t reals = (size_t)(f->groups * f->reals);
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
                    if (way == EXPORT) read_group(f, unit, lane, g, site + g * f->reals);
                    else write_group(f, unit, lane, g, site + g * f->reals);
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

static void complete_third_row(double u[18])
{
    for (int c = 0; c < 3; c++) {
        const double *a = u + 2 * ((c + 1) % 3), *b = u + 2 * ((c + 2) % 3);
        const double *e = u + 6 + 2 * ((c + 2) % 3), *d = u + 6 + 2 * ((c + 1) % 3);
        u[12 + 2 * c] = a[0] * e[0] - a[1] * e[1] - (b[0] * d[0] - b[1] * d[1]);
        u[13 + 2 * c] = -(a[0] * e[1] + a[1] * e[0] - (b[0] * d[1] + b[1] * d[0]));
    }
}

/* The eight reals of a special unitary matrix (B. Bunk and R. Sommer, Comput. Phys. Commun. 40 (1986) 229). */
static void compress_to_eight(double out[8], const double u[18])
{
    out[0] = atan2(u[1], u[0]) / M_PI;
    out[1] = atan2(u[13], u[12]) / M_PI;
    for (int i = 0; i < 6; i++) out[2 + i] = u[2 + i];
}

static void convert_on_host(field *y, const field *x)
{
    const int *l = y->lat->local;
#pragma omp parallel for collapse(2) schedule(static)
    for (int t = 0; t < l[3]; t++)
        for (int z = 0; z < l[2]; z++)
            for (int j = 0; j < l[1]; j++)
                for (int i = 0; i < l[0]; i++) {
                    const int site[4] = {i, j, z, t};
                    long ux, uy;
                    int lx, ly;
                    if (!storage_of(x, site, &ux, &lx) || !storage_of(y, site, &uy, &ly)) continue;
                    for (int g = 0; g < x->groups; g++) {
                        double buf[36];
                        read_group(x, ux, lx, g, buf);
                        if (y->reals == 18 && x->reals == 12) complete_third_row(buf);
                        if (y->kind == FIELD_LINKS_EIGHT) {
                            double eight[8];
                            compress_to_eight(eight, buf);
                            write_group(y, uy, ly, g, eight);
                        } else {
                            write_group(y, uy, ly, g, buf);
                        }
                    }
                }
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
        gpu_copy(y->data, y->where, x->data, x->where, y->bytes);
        if (y->scale) gpu_copy(y->scale, y->where, x->scale, x->where, y->scale_bytes);
    }
}

/* A copy of f on the host in the layout that the device uses. */
static field *host_twin(const field *f)
{
    field *h = field_like(f);
    pool_give(h->where, h->data, h->bytes);
    if (h->scale) pool_give(h->where, h->scale, h->scale_bytes);
    h->where = PLACE_HOST;
    h->data = pool_take(PLACE_HOST, h->bytes);
    h->scale = h->scale_bytes ? pool_take(PLACE_HOST, h->scale_bytes) : NULL;
    return h;
}

void field_copy(field *y, const field *x)
{
    REQUIRE(y != x && y->lat == x->lat && y->groups == x->groups, "%s from %s", field_kinds[y->kind].name,
            field_kinds[x->kind].name);
    REQUIRE(y->par == x->par && can_become(x->kind, y->kind), "%s of parity %d from %s of parity %d",
            field_kinds[y->kind].name, y->par, field_kinds[x->kind].name, x->par);
    y->version = next_version();
    if (y->lay == x->lay && y->prec == x->prec && y->kind == x->kind) {
        copy_same_storage(y, x);
    } else if (x->where == PLACE_DEVICE) {
        field *h = host_twin(x);
        copy_same_storage(h, x);
        if (y->where == PLACE_HOST) convert_on_host(y, h);
        else field_copy(y, h);
        field_destroy(h);
    } else if (y->where == PLACE_DEVICE) {
        field *h = host_twin(y);
        convert_on_host(h, x);
        copy_same_storage(y, h);
        field_destroy(h);
    } else {
        convert_on_host(y, x);
    }
}
