#include "kernels/ops/block.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/base/device.h"
#include "kernels/family/wilson.h"
#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/ops/block_hop.h"
#include "kernels/ops/sums.h"
#include "kernels/run/kernel.h"

#define LAYOUTS 3

/* Tables for kernels on virtual nodes, made when a field of that layout first comes. */
typedef struct {
    int32_t *stencil[2]; /* stencil as in layouts, of a box that is not split */
    int32_t *of[2];
    float *keep_single; /* [direction][place][lane] */
    double *keep_double;
} lane_tables;

struct blocks {
    const lattice *lat;
    int size[4], count[4], blocks, first_colour, colours;
    int closed[4];  /* 0, or the sign of vectors beyond the edge */
    double sites;   /* sites of one parity in a block */
    int q_measured; /* bound_q is known */
    place where;
    int threads;
    int32_t *bound, *bound_q, *bound_next;
    int64_t *sums;
    lane_tables tables[LAYOUTS];
};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    REQUIRE_MEMORY(p, "out of memory for %zu elements of %zu bytes", n, size);
    return p;
}

static size_t bound_bytes(const blocks *b)
{
    return (size_t)b->blocks * sizeof *b->bound;
}

static size_t sums_bytes(const blocks *b)
{
    return (size_t)3 * (size_t)b->blocks * (size_t)b->threads * sizeof *b->sums;
}

static int max_threads(place where)
{
#ifdef _OPENMP
    if (where == PLACE_HOST) return omp_get_max_threads();
#endif
    (void)where;
    return 1;
}

/* The extents of a block: those asked for, or those of the box. */
static void extents(const lattice *lat, const int asked[4], int size[4])
{
    const int box = asked[0] == 0 && asked[1] == 0 && asked[2] == 0 && asked[3] == 0;
    for (int d = 0; d < 4; d++) size[d] = box ? lat->local[d] : asked[d];
}

static int colours_of(const lattice *lat, const int size[4])
{
    for (int d = 0; d < 4; d++) {
        const int along = lat->size[d] / size[d];
        if (along % 2 && along > 1) return 1;
    }
    return 2;
}

int blocks_fit(const lattice *lat, const int asked[4], int colours, char *message, size_t bytes)
{
    int size[4];
    extents(lat, asked, size);
    for (int d = 0; d < 4; d++)
        if (size[d] < 1 || lat->local[d] % size[d]) {
            snprintf(message, bytes,
                     "blocks of %d.%d.%d.%d do not divide the %d.%d.%d.%d sites of a rank in direction %c; choose "
                     "extents that do, or `rank` for one block per rank",
                     size[0], size[1], size[2], size[3], lat->local[0], lat->local[1], lat->local[2], lat->local[3],
                     "xyzt"[d]);
            return 0;
        }
    if (colours <= colours_of(lat, size)) return 1;
    snprintf(
        message, bytes,
        "blocks of %d.%d.%d.%d sites cannot have two colours on a lattice of %d.%d.%d.%d, which holds an odd number "
        "of them in some direction; use colours = 1 or other extents",
        size[0], size[1], size[2], size[3], lat->size[0], lat->size[1], lat->size[2], lat->size[3]);
    return 0;
}

blocks *blocks_create(const lattice *lat, const int asked[4], place where, char *message, size_t bytes)
{
    if (!blocks_fit(lat, asked, 1, message, bytes)) return NULL;
    blocks *b = allocate(1, sizeof *b);
    *b = (blocks){.lat = lat, .where = where, .blocks = 1, .threads = max_threads(where)};
    extents(lat, asked, b->size);
    b->sites = 0.5;
    for (int d = 0; d < 4; d++) {
        b->count[d] = lat->local[d] / b->size[d];
        b->blocks *= b->count[d];
        b->first_colour += lat->origin[d] / b->size[d];
        b->sites *= b->size[d];
    }
    b->colours = colours_of(lat, b->size);
    const int pool = lattice_pool(lat, where);
    b->bound = pool_take(pool, bound_bytes(b));
    b->bound_q = pool_take(pool, bound_bytes(b));
    b->bound_next = pool_take(pool, bound_bytes(b));
    b->sums = pool_take(pool, sums_bytes(b));
    return b;
}

void blocks_destroy(blocks *b)
{
    if (!b) return;
    for (int i = 0; i < LAYOUTS; i++) {
        for (int p = 0; p < 2; p++) {
            free(b->tables[i].stencil[p]);
            free(b->tables[i].of[p]);
        }
        free(b->tables[i].keep_single);
        free(b->tables[i].keep_double);
    }
    const int pool = lattice_pool(b->lat, b->where);
    pool_give(pool, b->sums, sums_bytes(b));
    pool_give(pool, b->bound_next, bound_bytes(b));
    pool_give(pool, b->bound_q, bound_bytes(b));
    pool_give(pool, b->bound, bound_bytes(b));
    free(b);
}

void blocks_close(blocks *b, int d, int sign)
{
    REQUIRE(b->count[d] == 1, "%d blocks that close in direction %d", b->count[d], d);
    b->closed[d] = sign;
}

int blocks_colours(const blocks *b)
{
    return b->colours;
}

/* ---- virtual nodes ---- */

static int places(const layout *lay)
{
    int most = 0;
    for (int d = 0; d < 4; d++) most = lay->sub[d] > most ? lay->sub[d] : most;
    return most;
}

/* Place within the rank's box of a lane's site, given that of the unit. */
static int place_of(const blocks *b, const layout *lay, int lane, int d, int unit_place)
{
    return lay->g.lane_origin[4 * lane + d] - b->lat->origin[d] + unit_place;
}

/* Neighbours as if the rank's box closed in itself: what lies beyond it is cut off where it does not. */
static void fill_stencil(lane_tables *t, const layout *lay, int p)
{
    const geom *g = &lay->g;
    t->stencil[p] = allocate((size_t)lay->nunit * STENCIL_INTS, sizeof(int32_t));
    for (long u = 0; u < lay->nunit; u++) {
        int32_t *entry = t->stencil[p] + u * STENCIL_INTS;
        for (int dir = 0; dir < 8; dir++) {
            const int d = dir / 2;
            int x[4], near = NEAR_BODY;
            for (int e = 0; e < 4; e++) x[e] = g->coord[p][4 * u + e];
            x[d] += dir % 2 ? -1 : 1;
            if (x[d] < 0 || x[d] == g->sub[d]) {
                x[d] = (x[d] + g->sub[d]) % g->sub[d];
                if (g->lane_grid[d] > 1) near = NEAR_TURNED;
            }
            entry[dir] = (int32_t)((((long)x[3] * g->sub[2] + x[2]) * g->sub[1] + x[1]) * g->half_x + x[0] / 2);
            entry[8] |= near << (2 * dir);
        }
    }
}

static void fill_block_numbers(lane_tables *t, const blocks *b, const layout *lay, int p)
{
    t->of[p] = allocate((size_t)lay->nunit * (size_t)lay->lanes, sizeof(int32_t));
    for (long u = 0; u < lay->nunit; u++)
        for (int lane = 0; lane < lay->lanes; lane++) {
            int32_t n = 0;
            for (int d = 3; d >= 0; d--)
                n = n * b->count[d] + place_of(b, lay, lane, d, lay->g.coord[p][4 * u + d]) / b->size[d];
            t->of[p][u * lay->lanes + lane] = n;
        }
}

static void fill_keep(lane_tables *t, const blocks *b, const layout *lay)
{
    const size_t n = (size_t)8 * (size_t)places(lay) * (size_t)lay->lanes;
    t->keep_single = aligned_alloc(64, n * sizeof *t->keep_single);
    t->keep_double = aligned_alloc(64, n * sizeof *t->keep_double);
    REQUIRE_MEMORY(t->keep_single && t->keep_double, "out of memory for masks of blocks");
    size_t i = 0;
    for (int dir = 0; dir < 8; dir++)
        for (int x = 0; x < places(lay); x++)
            for (int lane = 0; lane < lay->lanes; lane++, i++) {
                const int d = dir / 2, in = place_of(b, lay, lane, d, x) % b->size[d];
                const int leaves = in == (dir % 2 ? 0 : b->size[d] - 1);
                t->keep_double[i] = leaves ? b->closed[d] : 1;
                t->keep_single[i] = (float)t->keep_double[i];
            }
}

static const lane_tables *tables_for(const blocks *b, const layout *lay)
{
    lane_tables *t = (lane_tables *)&b->tables[lay - b->lat->layouts];
    if (t->of[0] || b->lat->planned) return t;
    for (int p = 0; p < 2; p++) {
        fill_stencil(t, lay, p);
        fill_block_numbers(t, b, lay, p);
    }
    fill_keep(t, b, lay);
    return t;
}

/* ---- the hop ---- */

void blocks_cut_hop(const blocks *b, hop_args *a, const field *like)
{
    for (int d = 0; d < 4; d++) a->block[d] = b->closed[d] ? -b->size[d] : b->size[d];
    memset(a->g.split, 0, sizeof a->g.split);
    a->g.edge_sign_up = a->g.edge_sign_down = b->closed[3] ? b->closed[3] : 1;
    if (like->lay->lanes == 1) return;
    const lane_tables *t = tables_for(b, like->lay);
    for (int p = 0; p < 2; p++) a->g.stencil[p] = t->stencil[p];
    a->keep = like->prec == PREC_DOUBLE ? (const void *)t->keep_double : t->keep_single;
    a->keep_places = places(like->lay);
}

/* ---- sums and updates ---- */

static block_args arguments(const blocks *b, const field *like)
{
    REQUIRE(like->par != PARITY_BOTH && like->nrhs == 1, "vectors of parity %d with %d right-hand sides", like->par,
            like->nrhs);
    REQUIRE(max_threads(b->where) == b->threads, "%d threads, after %d", max_threads(b->where), b->threads);
    block_args a = {.g = field_geom(like),
                    .parity = like->par,
                    .blocks = b->blocks,
                    .bound = b->bound,
                    .bound_q = b->bound_q,
                    .bound_next = b->bound_next,
                    .sums = b->sums};
    memcpy(a.size, b->size, sizeof a.size);
    memcpy(a.count, b->count, sizeof a.count);
    a.first_colour = b->first_colour;
    a.shift = 52 - (int)ceil(log2(b->sites * like->Ls));
    if (like->lay->lanes > 1) a.of = tables_for(b, like->lay)->of[like->par];
    return a;
}

static void clear(const blocks *b, void *p, size_t bytes)
{
    if (b->where == PLACE_DEVICE) gpu_fill(p, 0, bytes);
    else memset(p, 0, bytes);
}

static void measure(const blocks *b, int32_t *bound, const field *r)
{
    block_args a = arguments(b, r);
    a.r = field_in(r, r->par);
    a.bound = bound;
    clear(b, bound, bound_bytes(b));
    kernel_run(KERNEL_block_bound, r, &a, vector_work(KERNEL_block_bound, r, r->Ls));
}

void blocks_measure(blocks *b, const field *r)
{
    if (b->lat->planned) return;
    measure(b, b->bound, r);
    b->q_measured = 0;
}

/* The sums of all threads into those of the first. */
static void gather_threads(const blocks *b)
{
    const long n = 3 * (long)b->blocks;
    for (int t = 1; t < b->threads; t++)
        for (long i = 0; i < n; i++) b->sums[i] += b->sums[t * n + i];
}

/* A kernel of three sums a block. */
static void sum_blocks(const blocks *b, kernel_id id, const field *r, const block_args *a)
{
    clear(b, b->sums, sums_bytes(b));
    kernel_run(id, r, a, vector_work(id, r, r->Ls));
    if (b->where == PLACE_HOST) gather_threads(b);
}

void blocks_minimise(blocks *b, field *x, field *r, const field *q, double w, int colour)
{
    if (b->lat->planned) return;
    block_args a = arguments(b, r);
    if (!b->q_measured) measure(b, b->bound_q, q);
    b->q_measured = 1;
    a.r = field_in(r, r->par);
    a.q = field_in(q, r->par);
    sum_blocks(b, KERNEL_block_dots, r, &a);
    a.x = field_out(x, r->par);
    a.r = field_out(r, r->par);
    a.relaxation = w;
    a.colour = colour;
    kernel_run(KERNEL_block_update, r, &a, vector_work(KERNEL_block_update, r, r->Ls));
}

void blocks_cg_step(blocks *b, field *x, field *r, field *p, const field *q)
{
    if (b->lat->planned) return;
    block_args a = arguments(b, r);
    measure(b, b->bound_q, q);
    a.r = field_in(r, r->par);
    a.p = field_in(p, r->par);
    a.q = field_in(q, r->par);
    sum_blocks(b, KERNEL_block_cg_dots, r, &a);
    clear(b, b->bound_next, bound_bytes(b));
    a.x = field_out(x, r->par);
    a.r = field_out(r, r->par);
    a.p = field_out(p, r->par);
    kernel_run(KERNEL_block_cg_update, r, &a, vector_work(KERNEL_block_cg_update, r, r->Ls));
    int32_t *const before = b->bound;
    b->bound = b->bound_next;
    b->bound_next = before;
}
