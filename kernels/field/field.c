#include "kernels/field/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/field/storage.h"
#include "kernels/lattice/lanes.h"

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

#define COARSE_MOST 128 /* spins times colours: random numbers have a counter for so many (kernels/site/random.h) */
#define GROUPS_MOST 256 /* likewise right-hand sides, and slices */

static void check_shape(const field_shape *s, precision prec)
{
    const field_kind_info *info = &field_kinds[s->kind];
    const int rows = info->reals == 0, components = s->spins * s->colours;
    REQUIRE(s->nrhs >= 1 && s->Ls >= 1 && (s->nrhs * s->Ls == 1 || info->groups == 1) && s->nrhs <= GROUPS_MOST &&
                s->Ls <= GROUPS_MOST,
            "%d right-hand sides of %d slices of %s", s->nrhs, s->Ls, info->name);
    REQUIRE((s->order == ORDER_ROWS) == rows, "order %d of %s", s->order, info->name);
    REQUIRE(rows ? components >= 2 && components <= COARSE_MOST && components % 2 == 0 : components == 0,
            "%d spins and %d colours of %s", s->spins, s->colours, info->name);
    REQUIRE(s->kind == FIELD_MATRICES ? s->columns >= 1 && s->columns <= COARSE_MOST : s->columns == 0,
            "%d columns of %s", s->columns, info->name);
    REQUIRE(!rows || prec < PREC_HALF || (prec == PREC_HALF && s->kind == FIELD_MATRICES),
            "%s in %s precision: rows are in double or single, and matrices in half", info->name,
            precision_names[prec]);
}

/* Rows are stored without gaps, even sites and then odd ones. */
static long rows_of(const layout *lay, parity par)
{
    return par == PARITY_BOTH ? 2 * lay->nunit : lay->nunit;
}

static void set_sizes(field *f, const lattice *lat, const field_shape *s, precision prec, parity par, place where)
{
    const field_kind_info *info = &field_kinds[s->kind];
    const int rows = s->order == ORDER_ROWS;
    check_shape(s, prec);
    REQUIRE(lat->parities == 2 || (par == PARITY_EVEN && !info->ghosts), "a %s of parity %d without parity", info->name,
            par);
    *f = (field){.lat = lat,
                 .lay = rows ? &lat->layouts[0] : layout_for(lat, prec, where),
                 .kind = s->kind,
                 .prec = prec,
                 .par = par,
                 .where = where,
                 .nrhs = s->nrhs,
                 .Ls = s->Ls,
                 .spins = s->spins,
                 .colours = s->colours,
                 .columns = s->columns,
                 .order = s->order};
    f->groups = info->groups == 1 ? s->nrhs * s->Ls : info->groups;
    f->reals = rows ? 2 * s->spins * s->colours * (s->columns ? s->columns : 1) : info->reals;
    f->scale_groups = f->groups;
    const long units = rows ? rows_of(f->lay, par) : storage_units(f->lay, s->kind, par);
    const int apart = rows || (info->apart && f->lay->lanes > 1);
    f->stride = apart ? f->reals : f->groups * f->reals;
    f->group_stride = apart ? units * f->reals : f->reals;
    const size_t sites = (size_t)units * (size_t)f->lay->lanes;
    f->bytes = sites * (size_t)(f->groups * f->reals) * stored_bytes[prec];
    f->scale_bytes = prec >= PREC_HALF && (info->scaled || rows) ? sites * (size_t)f->groups * sizeof(float) : 0;
}

field_shape field_shape_of_kind(field_kind kind, int nrhs)
{
    return (field_shape){.kind = kind, .nrhs = nrhs, .Ls = 1, .order = ORDER_SITES};
}

field_shape field_shape_of(const field *f)
{
    return (field_shape){f->kind, f->nrhs, f->Ls, f->spins, f->colours, f->columns, f->order};
}

field_shape field_shape_coarse(int colours, int nrhs)
{
    return (field_shape){FIELD_COARSE, nrhs, 1, 2, colours, 0, ORDER_ROWS};
}

field_shape field_shape_matrices(int spins, int colours, int columns, int number)
{
    return (field_shape){FIELD_MATRICES, number, 1, spins, colours, columns, ORDER_ROWS};
}

int field_alike(const field *x, const field *y)
{
    return x->lat == y->lat && x->where == y->where && x->kind == y->kind && x->nrhs == y->nrhs && x->Ls == y->Ls &&
           x->reals == y->reals;
}

size_t field_bytes(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where)
{
    field f;
    const field_shape shape = field_shape_of_kind(kind, nrhs);
    set_sizes(&f, lat, &shape, prec, par, where);
    return f.bytes + f.scale_bytes;
}

field *field_create(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where)
{
    const field_shape shape = field_shape_of_kind(kind, nrhs);
    return field_create_shape(lat, &shape, prec, par, where);
}

static field *with_memory(const field *sizes)
{
    field *f = malloc(sizeof *f);
    REQUIRE_MEMORY(f, "out of memory for a %s", field_kinds[sizes->kind].name);
    *f = *sizes;
    const int pool = lattice_pool(f->lat, f->where);
    f->data = pool_take(pool, f->bytes);
    f->scale = f->scale_bytes ? pool_take(pool, f->scale_bytes) : NULL;
    f->version = next_version();
    f->ghost_version = 0;
    return f;
}

field *field_create_shape(const lattice *lat, const field_shape *shape, precision prec, parity par, place where)
{
    field sizes;
    set_sizes(&sizes, lat, shape, prec, par, where);
    field *f = with_memory(&sizes);
    field_clear(f);
    return f;
}

/* Stretches of f in memory, between which a part of a field has what is not its own: groups, where these stand apart, as
 * those of rows and of links on virtual nodes; blocks of sites of a view of some groups; else one. */
typedef struct {
    long n;
    size_t bytes, step; /* bytes of a stretch, and from one to the next */
} stretches;

/* Sites of a block of storage (view.h). */
static size_t block_sites(const field *f)
{
    return f->lay->lanes == 1 ? LINEAR_BLOCK : (size_t)f->lay->lanes;
}

static stretches stretches_of(const field *f)
{
    const size_t real = stored_bytes[f->prec], block = block_sites(f) * (size_t)(f->groups * f->reals) * real;
    if (f->order == ORDER_ROWS || (f->stride == f->reals && f->group_stride != f->reals))
        return (stretches){f->groups, f->bytes / (size_t)f->groups,
                           (size_t)f->group_stride * (size_t)f->lay->lanes * real};
    if (f->stride == f->groups * f->reals) return (stretches){1, f->bytes, f->bytes};
    return (stretches){(long)(f->bytes / block), block, block_sites(f) * (size_t)f->stride * real};
}

static stretches scales_of(const field *f)
{
    const size_t one = block_sites(f) * sizeof *f->scale, block = one * (size_t)f->groups;
    if (!f->scale || f->scale_groups == f->groups) return (stretches){1, f->scale_bytes, f->scale_bytes};
    return (stretches){(long)(f->scale_bytes / block), block, one * (size_t)f->scale_groups};
}

/* Four bytes of zeros as they are stored; any integer does where the scale is zero. */
static uint32_t stored_zero(const field *f)
{
    if (f->prec < PREC_HALF || f->scale || f->lay->lanes > 1) return 0;
    return f->prec == PREC_HALF ? 0x80008000u : 0x80808080u;
}

static void fill_stretches(void *data, place where, uint32_t word, stretches s)
{
    if (where == PLACE_DEVICE) {
        gpu_fill_stretches(data, s.step, word, s.bytes, s.n);
        return;
    }
#pragma omp parallel for schedule(static) if (s.n > 1)
    for (long k = 0; k < s.n; k++) {
        char *there = (char *)data + (size_t)k * s.step;
        memset(there, 0, s.bytes);
        for (size_t i = 0; word && i < s.bytes / sizeof word; i++) ((uint32_t *)there)[i] = word;
    }
}

void field_clear(field *f)
{
    f->version = next_version();
    if (f->lat->planned) return;
    fill_stretches(f->data, f->where, stored_zero(f), stretches_of(f));
    if (f->scale) fill_stretches(f->scale, f->where, 0, scales_of(f));
}

field *field_like(const field *f)
{
    const field_shape shape = field_shape_of(f);
    return field_create_shape(f->lat, &shape, f->prec, f->par, f->where);
}

field *field_scratch_on(const field *f, parity par)
{
    field sizes;
    const field_shape shape = field_shape_of(f);
    set_sizes(&sizes, f->lat, &shape, f->prec, par, f->where);
    return with_memory(&sizes);
}

field *field_scratch(const field *f)
{
    return field_scratch_on(f, f->par);
}

void field_destroy(field *f)
{
    if (!f) return;
    const int pool = lattice_pool(f->lat, f->where);
    pool_give(pool, f->data, f->bytes);
    if (f->scale) pool_give(pool, f->scale, f->scale_bytes);
    free(f);
}

long field_units(const field *f)
{
    return f->lay->nunit;
}

long field_rows(const field *f)
{
    REQUIRE(f->order == ORDER_ROWS, "rows of a %s", field_kinds[f->kind].name);
    return rows_of(f->lay, f->par);
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
              f->scale ? f->scale + sites * (size_t)f->scale_groups : NULL,
              f->stride,
              f->groups,
              f->scale_groups,
              f->group_stride};
    return v;
}

static view view_of(const field *f, parity p)
{
    REQUIRE(p != PARITY_BOTH && (f->par == PARITY_BOTH || f->par == p), "parity %d of a %s with parity %d", p,
            field_kinds[f->kind].name, f->par);
    const long odd_start = f->order == ORDER_ROWS ? f->lay->nunit : f->lay->odd_start;
    return view_from(f, f->par == PARITY_BOTH && p == PARITY_ODD ? odd_start : 0);
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
    const field_shape shape = field_shape_of(f);
    field half;
    set_sizes(&half, f->lat, &shape, f->prec, p, f->where);
    half.stride = f->stride;
    half.group_stride = f->group_stride; /* the memory is that of both parities, and maybe of more right-hand sides */
    half.scale_groups = f->scale_groups;
    half.data = v.data;
    half.scale = v.scale;
    half.version = f->version;
    return half;
}

field field_colours(const field *f)
{
    REQUIRE(f->kind == FIELD_SPINOR && f->prec == PREC_DOUBLE, "colour vectors of a %s", field_kinds[f->kind].name);
    field part = *f;
    part.kind = FIELD_VECTOR;
    part.reals = field_kinds[FIELD_VECTOR].reals;
    part.nrhs = part.groups = 4 * f->groups;
    part.Ls = 1;
    part.group_stride = part.reals;
    return part;
}

/* Groups of f from the first on, as a field of nrhs right-hand sides of Ls slices. */
static field some_groups(const field *f, int first, int nrhs, int Ls)
{
    const int linear = f->lay->lanes == 1 && f->order == ORDER_SITES, groups = nrhs * Ls;
    const size_t sites = linear ? LINEAR_BLOCK : (size_t)f->lay->lanes;
    field part = *f;
    REQUIRE(field_kinds[f->kind].groups == 1 && first >= 0 && groups >= 1 && first + groups <= f->groups,
            "groups %d to %d of %d of a %s", first, first + groups - 1, f->groups, field_kinds[f->kind].name);
    REQUIRE(!f->scale || f->order == ORDER_SITES, "some %s of several in fixed point", field_kinds[f->kind].name);
    part.data = (char *)f->data + sites * (size_t)(first * f->group_stride) * stored_bytes[f->prec];
    if (f->scale) part.scale = f->scale + sites * (size_t)first;
    part.nrhs = nrhs;
    part.Ls = Ls;
    part.groups = groups;
    part.bytes = f->bytes / (size_t)f->groups * (size_t)groups;
    part.scale_bytes = f->scale_bytes / (size_t)f->groups * (size_t)groups;
    return part;
}

field field_rhs(const field *f, int rhs)
{
    return some_groups(f, rhs * f->Ls, 1, f->Ls);
}

field field_columns(const field *f, int first, int n)
{
    return some_groups(f, first * f->Ls, n, f->Ls);
}

field field_group(const field *f, int group)
{
    return some_groups(f, group, 1, 1);
}

/* ---- element access on the host ---- */

stored_field field_stored(const field *f)
{
    REQUIRE(f->order == ORDER_SITES, "%s is stored in rows", field_kinds[f->kind].name);
    return (stored_field){.data = f->data,
                          .scale = f->scale,
                          .prec = f->prec,
                          .lanes = f->lay->lanes,
                          .groups = f->groups,
                          .reals = f->reals,
                          .scale_groups = f->scale_groups,
                          .stride = f->stride,
                          .group_stride = f->group_stride};
}

stored_field field_row_pairs(const field *f, int group, long row)
{
    const size_t reals = (size_t)group * (size_t)f->group_stride + (size_t)row * (size_t)f->reals;
    return (stored_field){.data = (char *)f->data + reals * stored_bytes[f->prec],
                          .prec = f->prec,
                          .lanes = 1,
                          .groups = 1,
                          .reals = 2,
                          .stride = 2,
                          .group_stride = 2};
}

static double copied_bytes;

double field_copied_bytes(void)
{
    return copied_bytes;
}

field *field_host_twin(const field *f)
{
    field *h = malloc(sizeof *h);
    REQUIRE_MEMORY(h, "out of memory for a %s", field_kinds[f->kind].name);
    *h = *f;
    h->where = PLACE_HOST;
    if (f->stride != f->reals) h->stride = f->groups * f->reals;
    else if (stretches_of(f).n > 1) h->group_stride = (long)(f->bytes / ((size_t)f->groups * stored_bytes[f->prec]));
    h->scale_groups = f->groups;
    h->data = pool_take(PLACE_HOST, h->bytes);
    h->scale = h->scale_bytes ? pool_take(PLACE_HOST, h->scale_bytes) : NULL;
    return h;
}

/* Copies stretches, of which either side may have one alone. */
static void copy_stretches(field *y, void *to, stretches ys, const field *x, const void *from, stretches xs)
{
    const long n = ys.n > xs.n ? ys.n : xs.n;
    const size_t all = xs.bytes * (size_t)xs.n, bytes = n > 0 ? all / (size_t)n : 0;
    REQUIRE(ys.bytes * (size_t)ys.n == all && (xs.n == 1 || ys.n == 1 || xs.n == ys.n),
            "a copy of %ld x %zu bytes to %ld x %zu", xs.n, xs.bytes, ys.n, ys.bytes);
    if (all == 0) return; /* a rank outside of the lattice's group */
    const size_t to_step = ys.n == 1 ? bytes : ys.step, from_step = xs.n == 1 ? bytes : xs.step;
    if (y->where == PLACE_DEVICE || x->where == PLACE_DEVICE) {
        gpu_copy_stretches(to, y->where, to_step, from, x->where, from_step, bytes, n);
        return;
    }
#pragma omp parallel for schedule(static) if (n > 1)
    for (long k = 0; k < n; k++)
        memcpy((char *)to + (size_t)k * to_step, (const char *)from + (size_t)k * from_step, bytes);
}

void field_copy_storage(field *y, const field *x)
{
    copy_stretches(y, y->data, stretches_of(y), x, x->data, stretches_of(x));
    if (x->scale) copy_stretches(y, y->scale, scales_of(y), x, x->scale, scales_of(x));
    if (x->where != y->where) copied_bytes += (double)(x->bytes + x->scale_bytes);
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
    if (x->order == ORDER_ROWS || x->stride != y->stride) {
        field_copy_storage(y, x);
        return;
    }
    const long slice = x->lay->nunit / x->lat->local[3], first = t * slice / LINEAR_BLOCK * LINEAR_BLOCK,
               end = ((t + 1) * slice + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    copy_units(y, x, first, end);
    if (x->par == PARITY_BOTH) copy_units(y, x, x->lay->odd_start + first, x->lay->odd_start + end);
}

int field_storage_of(const field *f, const int x[4], long *unit, int *lane)
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

/* Copies one site of a field on the host to `site`, or back. */
static void transfer_site(field *f, const stored_field *stored, long unit, int lane, double *site, int way)
{
    for (int g = 0; g < f->groups; g++)
        if (way == EXPORT) stored_read(site + g * f->reals, stored, unit, lane, g);
        else stored_write(stored, unit, lane, g, site + g * f->reals);
}

static void transfer_row(field *f, long unit, double *site, int way)
{
    const long row = unit < f->lay->odd_start ? unit : unit - f->lay->odd_start + f->lay->nunit;
    for (int g = 0; g < f->groups; g++) {
        const stored_field pairs = field_row_pairs(f, g, row);
        for (int i = 0; i < f->reals / 2; i++)
            if (way == EXPORT) stored_read(site + g * f->reals + 2 * i, &pairs, i, 0, 0);
            else stored_write(&pairs, i, 0, 0, site + g * f->reals + 2 * i);
    }
}

static void transfer_slice(field *f, int t, double *buf, int way)
{
    if (f->where == PLACE_DEVICE) {
        field *h = field_host_twin(f);
        copy_slice(h, f, t);
        transfer_slice(h, t, buf, way);
        if (way == IMPORT) copy_slice(f, h, t);
        field_destroy(h);
        return;
    }
    const int *l = f->lat->local;
    const size_t reals = (size_t)(f->groups * f->reals);
    stored_field stored = {0};
    if (f->order == ORDER_SITES) stored = field_stored(f);
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 0; z < l[2]; z++)
        for (int y = 0; y < l[1]; y++)
            for (int i = 0; i < l[0]; i++) {
                const int x[4] = {i, y, z, t};
                long unit;
                int lane;
                if (!field_storage_of(f, x, &unit, &lane)) continue;
                double *site = buf + (((size_t)z * l[1] + y) * l[0] + i) * reals;
                if (f->order == ORDER_ROWS) transfer_row(f, unit, site, way);
                else transfer_site(f, &stored, unit, lane, site, way);
            }
}

int field_slices(const field *f)
{
    return f->lat->planned ? 0 : f->lat->local[3];
}

void field_export(const field *f, int t, double *buf)
{
    if (f->lat->planned) return;
    transfer_slice((field *)f, t, buf, EXPORT);
}

void field_import(field *f, int t, const double *buf)
{
    f->version = next_version();
    if (!f->lat->planned) transfer_slice(f, t, (double *)buf, IMPORT);
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
