/* The shape of a kernel's blocks: threads, and the box of sites that they do.
 *
 * Threads of a block that do a box of sites share their neighbours in the first cache. Boxes are numbered with x, y
 * along the grid's x, z along its y, t along its z, and behind t the groups of right-hand sides: a sweep with few of
 * them finds its neighbours in the second cache. A way is a line of the table of shapes, for the tuner to choose from;
 * by rule a kernel has its own number of threads and a box as long in x as it gets. */
#ifndef PLAQ_TILE_CUH
#define PLAQ_TILE_CUH

#include "kernels/gpu/launch.cuh"
#include "kernels/lattice/geom.h"
#include "kernels/tune.h"

/* bits[] are the logarithms of the box's extents in x / 2, y, z, t. */
typedef struct {
    int on, bits[4];
    int across, high; /* boxes in x, in t */
} gpu_tile;

typedef struct {
    int threads;
    int longest; /* logarithm of the box's longest extent in x / 2; below zero: no box */
} gpu_shape;

#define LONGEST_BY_RULE 4
#define SHAPES 10
#define SHAPE_THREADS_MAX 256
static const gpu_shape gpu_shapes[SHAPES] = {{64, 4},  {128, 4}, {256, 4}, {64, 3},  {128, 3},
                                             {256, 3}, {64, 2},  {128, 2}, {64, -1}, {128, -1}};

static inline gpu_shape gpu_shape_for(const gpu_device *dev, int threads_by_rule)
{
    const gpu_shape by_rule = {threads_by_rule, LONGEST_BY_RULE};
    return dev->way == TUNE_BY_RULE ? by_rule : gpu_shapes[dev->way];
}

/* The boxes of a shape on a rank's sites of one parity; off when they do not fit. *grid is set where they do. */
static inline gpu_tile gpu_tile_for(const geom *g, gpu_shape shape, dim3 *grid)
{
    gpu_tile t = {1, {0, 0, 0, 0}, 1, 1};
    int left = shape.threads, count[4] = {g->half_x, g->sub[1], g->sub[2], g->sub[3]};
    for (; t.bits[0] < shape.longest && count[0] % 2 == 0 && left > 1; left /= 2, count[0] /= 2) t.bits[0]++;
    for (int d = 1, idle = 0; left > 1 && idle < 3; d = d % 3 + 1) {
        idle++;
        if (count[d] % 2) continue;
        t.bits[d]++;
        count[d] /= 2;
        left /= 2;
        idle = 0;
    }
    t.on = shape.longest >= 0 && left == 1 && count[2] < 65536 && count[3] < 65536;
    t.across = count[0];
    t.high = count[3];
    if (t.on) *grid = dim3((unsigned)(count[0] * count[1]), (unsigned)count[2], (unsigned)count[3]);
    return t;
}

/* Coordinates of a thread's site in the box with this place in the grid, x halved. */
static __device__ __forceinline__ void gpu_tile_site(int x[4], const gpu_tile *t, unsigned block, unsigned z,
                                                     unsigned high)
{
    unsigned tx = 0, thread = threadIdx.x;
    if (t->across > 1) {
        tx = block % (unsigned)t->across;
        block /= (unsigned)t->across;
    }
    const unsigned origin[4] = {tx, block, z, high};
#pragma unroll
    for (int d = 0; d < 4; d++) {
        x[d] = (int)((origin[d] << t->bits[d]) + (thread & ((1u << t->bits[d]) - 1)));
        thread >>= t->bits[d];
    }
}

#endif
