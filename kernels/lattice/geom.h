/* The part of a layout that kernels read; shared by gcc and nvcc. */
#ifndef PLAQ_GEOM_H
#define PLAQ_GEOM_H

#include <stdint.h>

#define GEOM_MAX_LANES 16

/* Direction numbers 0..7 are +x -x +y -y +z -z +t -t. Flags of a unit: two bits a direction tell where the neighbour
 * is; above them one bit each for "+t leaves" and "-t leaves" the antiperiodic edge in some lane. */
enum { NEAR_BODY = 0, NEAR_TURNED = 1, NEAR_GHOST = 2, NEAR_TURNED_TWICE = 3 };
#define STENCIL_INTS 9
#define STENCIL_EDGE_UP (1 << 16)
#define STENCIL_EDGE_DOWN (1 << 17)

typedef struct geom {
    int sub[4], half_x;
    int stride[4]; /* units from a site to the next; in x two sites share one */
    int split[4];  /* the direction is split over ranks */
    int lane_grid[4];
    int depth;                        /* reach of ghost units in split directions */
    int ext_size[4];                  /* sub plus twice the depth in split directions */
    int edge_sign_up, edge_sign_down; /* fermion sign for steps over this rank's last / first time slice: +-1 */
    long odd_start;
    int global[4];              /* extents of the whole lattice */
    const int32_t *lane_origin; /* [lane][4]: global coordinates of a lane's first site */
    const int *ext;
    const int16_t *coord[2];
    const int32_t *stencil[2];
    const int32_t *far_stencil[2]; /* stencil of steps of three sites, without edges; of lattices with that reach */
    /* Lanes after turning, by code sum_d (turn_d + 1) 3^d, turn_d in -1 0 1; in both integer widths of a shuffle mask.
     */
    const int32_t *turn32;
    const int64_t *turn64;
    /* Lane factors of the antiperiodic edge, [up, down][lane]. */
    const double *edge_double;
    const float *edge_single;
} geom;

#endif
