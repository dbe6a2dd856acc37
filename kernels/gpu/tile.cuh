/* The shape of a kernel's blocks: threads, and the box of sites that they do.
 *
 * Threads of a block that do a box of sites share their neighbours in the first cache. Boxes are numbered with x, y
 * along the grid's x, z along its y, t along its z; with several right-hand sides in the order of gpu_sweep. Where a box
 * would be shorter in x than its shape says, and no whole row, memory's order does better than any box. A way is a line of
 * the table of shapes, for the tuner to choose from; by rule a kernel has its own number of threads and boxes of 32 sites
 * in x or whole shorter rows. Tuning files have the numbers of the table's lines: whoever changes their order or meaning
 * raises the number in tune.c. */
#ifndef PLAQ_TILE_CUH
#define PLAQ_TILE_CUH

#include "kernels/gpu/launch.cuh"
#include "kernels/lattice/geom.h"

/* Extents of a box: `row` sites in x / 2, and in y, z, t powers of two with logarithms bits[1..3]. */
typedef struct {
    int on, row, bits[4];
    unsigned inverse; /* gpu_inverse() of the row */
    int across;       /* boxes in x */
    int threads;      /* sites of the box */
} gpu_tile;

typedef struct {
    int threads;
    int length; /* logarithm of the box's extent in x / 2, if a row is not shorter; below zero: no box */
} gpu_shape;

#define REGISTERS 65536 /* registers of a processor */
#define LENGTH_BY_RULE 4
#define SHAPES 10
#define SHAPE_THREADS_MAX 256
static const gpu_shape gpu_shapes[SHAPES] = {{64, 4},  {128, 4}, {256, 4}, {64, 3},  {128, 3},
                                             {256, 3}, {64, 2},  {128, 2}, {64, -1}, {128, -1}};

static inline gpu_shape gpu_shape_for(const gpu_device *dev, int threads_by_rule)
{
    const gpu_shape by_rule = {threads_by_rule, LENGTH_BY_RULE};
    return dev->way < 0 ? by_rule : gpu_shapes[dev->way];
}

/* Quotients of a thread's number by a number of sites of a block: exact where neither is above 1024. */
#define INVERSE_BITS 20
static inline unsigned gpu_inverse(int n)
{
    return ((1u << INVERSE_BITS) + (unsigned)n - 1) / (unsigned)n;
}

static __device__ __forceinline__ unsigned gpu_quotient(unsigned thread, unsigned inverse)
{
    return thread * inverse >> INVERSE_BITS;
}

/* The boxes with rows of so many sites in x / 2 and so many threads at most; *grid is set. */
static inline gpu_tile gpu_tile_of(const geom *g, int row, int threads, dim3 *grid)
{
    gpu_tile t = {1, row, {0, 0, 0, 0}, gpu_inverse(row), g->half_x / row, row};
    int count[4] = {t.across, g->sub[1], g->sub[2], g->sub[3]};
    for (int d = 1, idle = 0; 2 * t.threads <= threads && idle < 3; d = d % 3 + 1) {
        idle++;
        if (count[d] % 2) continue;
        t.bits[d]++;
        count[d] /= 2;
        t.threads *= 2;
        idle = 0;
    }
    t.on = count[2] < 65536 && count[3] < 65536;
    *grid = dim3((unsigned)(count[0] * count[1]), (unsigned)count[2], (unsigned)count[3]);
    return t;
}

/* The boxes of a shape on a rank's sites of one parity, or with whole rows shorter ones; off when they do not fit or are too short
 * in x. *grid is set where they are on. */
static inline gpu_tile gpu_tile_for(const geom *g, gpu_shape shape, dim3 *grid)
{
    int row = 1;
    dim3 boxes;
    while (row < 1 << (shape.length < 0 ? 0 : shape.length) && 2 * row <= shape.threads && g->half_x % (2 * row) == 0)
        row *= 2;
    gpu_tile t = gpu_tile_of(g, row, shape.threads, &boxes);
    if (shape.length < 0 || (row != 1 << shape.length && row != g->half_x) || t.threads != shape.threads) t.on = 0;
    if (t.on) *grid = boxes;
    return t;
}

/* Boxes side by side: where they begin, how many there are along each direction, and 2^32 over that, rounded up, whose
 * product with a number has the quotient in its high word. */
typedef struct {
    unsigned first[4], n[4], inverse[4];
    int face;  /* face of the rank at which all boxes are: a bit a direction */
    int faces; /* directions in which those at either end are at a face, too */
} gpu_region;

/* The boxes of a rank with faces in the order in which one kernel does them: first those that need no message, then
 * those that touch a face, whole, and some of the former last, so that the ones that wait do not end the kernel. A
 * block reads no memory before it knows its box, so that has to be soon. */
typedef struct {
    int on, sides;
    unsigned early, across; /* boxes in front of those at faces; boxes in x */
    unsigned end[9];        /* boxes at each side and those before it */
    gpu_region region[9];   /* the sides, and behind them the boxes at no face */
} gpu_rim;

static inline gpu_region gpu_region_of(const unsigned first[4], const unsigned n[4])
{
    gpu_region r = {};
    for (int d = 0; d < 4; d++) {
        r.first[d] = first[d];
        r.n[d] = n[d];
        r.inverse[d] = (unsigned)(((1ull << 32) + n[d] - 1) / n[d]);
    }
    return r;
}

/* Off where too few boxes are away from the faces. */
static inline gpu_rim gpu_rim_for(const gpu_device *dev, const geom *g, const gpu_tile *tile, dim3 grid)
{
    gpu_rim r = {};
    const unsigned all = grid.x * grid.y * grid.z, across = (unsigned)tile->across;
    unsigned first[4] = {0, 0, 0, 0}, n[4] = {across, grid.x / across, grid.y, grid.z}, faces = 0, most = 1;
    int split = 0;
    if (!tile->on) return r;
    r.across = across;
    for (int d = 0; d < 4; d++) {
        split |= (g->split[d] != 0) << d;
        if (n[d] > most) most = n[d];
        if (g->split[d] && n[d] < 3) return r;
    }
    for (int d = 3; d >= 0; d--) {
        if (!g->split[d]) continue;
        const unsigned last = n[d] - 1, inner = n[d] - 2;
        n[d] = 1;
        split &= ~(1 << d);
        for (int end = 0; end < 2; end++) {
            first[d] = end ? last : 0;
            r.region[r.sides] = gpu_region_of(first, n);
            r.region[r.sides].face = 1 << d;
            r.region[r.sides].faces = split;
            faces += n[0] * n[1] * n[2] * n[3];
            r.end[r.sides++] = faces;
        }
        first[d] = 1;
        n[d] = inner;
    }
    const unsigned inner = all - faces;
    const unsigned late = inner / 4 < 4 * (unsigned)dev->processors ? inner / 4 : 4 * (unsigned)dev->processors;
    r.region[r.sides] = gpu_region_of(first, n);
    r.early = inner - late;
    /* Quotients by way of the inverse are exact below 2^32. */
    r.on = 2 * inner >= all && (unsigned long long)all * most < 1ull << 32;
    return r;
}

/* Box number `i` in that order; says whose faces it touches, a bit a direction. */
static __device__ __forceinline__ int gpu_rim_box(unsigned box[4], const gpu_rim *r, unsigned i)
{
    int k = r->sides;
    if (i >= r->early) {
        const unsigned faces = r->end[k - 1], at = i - r->early;
        if (at < faces) {
            for (k = 0; at >= r->end[k]; k++) {
            }
            i = k > 0 ? at - r->end[k - 1] : at;
        } else {
            i -= faces;
        }
    }
    const gpu_region *in = &r->region[k];
    int touched = in->face;
#pragma unroll
    for (int d = 0; d < 4; d++) {
        unsigned x = 0;
        if (in->n[d] > 1) {
            const unsigned rest = __umulhi(i, in->inverse[d]);
            x = i - rest * in->n[d];
            i = rest;
        }
        box[d] = in->first[d] + x;
        if (in->faces >> d & 1 && (x == 0 || x == in->n[d] - 1)) touched |= 1 << d;
    }
    return touched;
}

/* Boxes of sites of both parities, for kernels that make links from links around them: the sites of a block share
 * neighbours in the first cache, and the second one keeps a few slices in t of the columns, of so many sites in x, y
 * and z, that are swept one after the other. So much is shared that half the usual extent in x will do. */
#define COLUMN_SITES 2048
typedef struct {
    gpu_tile box;
    unsigned column[2], columns; /* boxes of a column in y and z; columns in y */
} gpu_columns;

/* Off (box.on) when boxes of so many threads do not fit; else *grid is set, with `parts` blocks a box side by side. */
static inline gpu_columns gpu_columns_for(const geom *g, gpu_shape shape, unsigned parts, dim3 *grid)
{
    gpu_shape half = {shape.threads / 2, shape.length};
    dim3 boxes;
    gpu_columns c = {gpu_tile_for(g, half, &boxes), {1, 1}, 1};
    if (!c.box.on && half.length == LENGTH_BY_RULE) {
        half.length--;
        c.box = gpu_tile_for(g, half, &boxes);
    }
    if (!c.box.on) return c;
    unsigned left[2] = {boxes.x / (unsigned)c.box.across, boxes.y};
    long sites = (long)g->sub[0] << (c.box.bits[1] + c.box.bits[2]);
    for (int d = 0; sites < COLUMN_SITES && (left[0] % 2 == 0 || left[1] % 2 == 0); d = !d) {
        if (left[d] % 2) continue;
        c.column[d] *= 2;
        left[d] /= 2;
        sites *= 2;
    }
    c.columns = left[0];
    c.box.on = left[0] * left[1] < 65536;
    if (c.box.on) *grid = dim3(parts * (unsigned)c.box.across * c.column[0] * c.column[1], boxes.z, left[0] * left[1]);
    return c;
}

/* Box of block (x, y, z) in the grid of gpu_columns_for(), x without its parts, in the terms of gpu_tile_site. */
static __device__ __forceinline__ void gpu_column_box(unsigned box[2], const gpu_columns *c, unsigned x, unsigned z)
{
    const unsigned across = (unsigned)c->box.across, tx = x % across, rest = x / across;
    box[0] = tx + across * (rest % c->column[0] + c->column[0] * (z % c->columns));
    box[1] = rest / c->column[0] + c->column[1] * (z / c->columns);
}

/* Length in x / 2 of boxes with whole rows, or with long equal parts of a row: half a row costs the caches as many requests as a whole
 * one. */
#define ROW_WHOLE 24
#define ROW_LEAST 8
static inline int gpu_whole_row(const geom *g)
{
    int row = g->half_x < ROW_WHOLE ? g->half_x : ROW_WHOLE;
    while (g->half_x % row) row--;
    return row;
}

/* Boxes for several right-hand sides, which are done in parts: blocks with the parts of a box stand side by side, so that the second
 * cache hands out its links, and boxes go in columns as above, swept in t, whose slices of links and vectors the second cache
 * keeps. */
#define SLICE_BYTES 11e6
typedef struct {
    gpu_columns columns;
    unsigned parts;
} gpu_sweep;

/* Off (columns.box.on) where no boxes fit; else *grid is set. cap: registers of a thread; bytes: of vectors and links a site. */
static inline gpu_sweep gpu_sweep_for(const geom *g, gpu_shape shape, int cap, unsigned parts, double bytes, dim3 *grid)
{
    dim3 boxes;
    gpu_sweep s = {{gpu_tile_for(g, shape, &boxes), {1, 1}, 1}, parts};
    gpu_tile *box = &s.columns.box;
    if (shape.length == LENGTH_BY_RULE) {
        const int most = REGISTERS / cap, threads = 3 * shape.threads / 2;
        const int row = gpu_whole_row(g);
        *box = gpu_tile_of(g, row, threads < most ? threads : most, &boxes);
        if (row < ROW_LEAST && row != g->half_x) box->on = 0;
    }
    if (!box->on) return s;
    unsigned n[2] = {boxes.x / (unsigned)box->across, boxes.y}, apart[2] = {1, 1};
    double slice = bytes * g->half_x * g->sub[1] * g->sub[2];
    while (slice > SLICE_BYTES && n[0] * n[1] > 1) {
        const int d = n[1] == 1 || (n[0] > 1 && n[0] << box->bits[1] > n[1] << box->bits[2]) ? 0 : 1;
        unsigned factor = 2;
        while (n[d] % factor) factor++;
        n[d] /= factor;
        apart[d] *= factor;
        slice /= factor;
    }
    for (int d = 0; d < 2; d++) s.columns.column[d] = n[d];
    s.columns.columns = apart[0];
    box->on = apart[0] * apart[1] < 65536;
    *grid = dim3(parts * (unsigned)box->across * n[0] * n[1], boxes.z, apart[0] * apart[1]);
    return s;
}

/* Coordinates of the site of a box's thread, by the place of the box in the grid, x halved. */
static __device__ __forceinline__ void gpu_tile_site(int x[4], const gpu_tile *t, unsigned thread, unsigned block,
                                                     unsigned z, unsigned high)
{
    unsigned tx = 0;
    if (t->across > 1) {
        tx = block % (unsigned)t->across;
        block /= (unsigned)t->across;
    }
    const unsigned origin[4] = {tx, block, z, high}, rest = gpu_quotient(thread, t->inverse);
    x[0] = (int)(tx * (unsigned)t->row + thread - rest * (unsigned)t->row);
    thread = rest;
#pragma unroll
    for (int d = 1; d < 4; d++) {
        x[d] = (int)((origin[d] << t->bits[d]) + (thread & ((1u << t->bits[d]) - 1)));
        thread >>= t->bits[d];
    }
}

#endif
