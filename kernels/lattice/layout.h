/* Geometry: the global lattice, its split over ranks, and the order of sites in memory.
 *
 * Directions are 0..3 = x y z t. A lattice belongs to a group of ranks: a member holds a box of extents `local` from
 * `origin`, members are numbered with x fastest; any other rank that has the lattice holds no sites of it, and its
 * layouts have no units. Parity is that of x+y+z+t in global coordinates, and local extents are even; or, where no
 * operator needs parity, all sites count as even ones and extents are any.
 *
 * A layout maps the sites of one rank to (parity, unit, lane):
 *   virtual nodes   the rank's box is cut into `lanes` equal boxes of even extents `sub`; a unit is the sites at the
 *                   same place in each, one a lane of a SIMD vector (P. Boyle et al., arXiv:1512.03487)
 *   linear          one lane; a unit is a site: on GPUs, in boxes that lanes do not divide, and on request
 * Units of a parity are numbered lexicographically over `sub`, x fastest and halved. In storage, units of odd sites
 * follow those of even sites at `odd_start`, and ghost units follow at `ghost_start`.
 *
 * Ghost units continue the box by `halo_depth` sites in every split direction, corners included; ext[] gives the
 * storage unit of each place of the extended box. In directions that are not split neighbours wrap within the rank: a
 * step across the box's edge turns the lanes of that direction by one. */
#ifndef PLAQ_LAYOUT_H
#define PLAQ_LAYOUT_H

#include <stdint.h>

#include "kernels/lattice/comm.h"
#include "kernels/lattice/geom.h"

typedef struct layout {
    int lanes;
    int parities; /* 2, or 1: all sites count as even */
    int lane_grid[4];
    int lane_number[GEOM_MAX_LANES]; /* lane at a place of the lane grid, x fastest */
    int sub[4];
    long nunit;     /* units of one parity */
    long odd_start; /* storage unit of the first odd unit */
    long ghost_start;
    long nghost;
    geom g;              /* geometry that kernels see; pointers into the tables below */
    int *ext;            /* storage unit at each place of the extended box, halo and corners included, x fastest */
    int16_t *coord[2];   /* [unit][4], place of a unit in `sub` */
    int32_t *stencil[2]; /* [unit][9]: eight neighbours and flags, see geom.h */
    /* Interior: units whose stencil stays on the rank; exterior: all others. In the order of a hop. */
    int *interior[2], *exterior[2];
    long ninterior[2], nexterior[2];
    /* Stencil of steps of three sites, its interior and exterior: where the lattice's reach is 3. */
    int32_t *far_stencil[2];
    int *far_interior[2], *far_exterior[2];
    long nfar_interior[2], nfar_exterior[2];
    /* Face: the units of a parity that a hop's message along a direction is gathered from, and where the reach is 3 the
     * two slices behind it; nface: units of one parity on one slice. */
    int *face[8][2];
    long nface[4];
    /* Halo exchange over a side: shell_to, the ghost units behind it; shell_from, the units that the message for the
     * opposite neighbour is gathered from, ghosts of the directions before included, so that corners travel. */
    int *shell_to[8], *shell_from[8];
    long nshell[4];
    struct layout *device; /* copy with tables on the device, made on first use; of the linear layout only */
} layout;

/* Boundary of the lattice in time (M. Luescher and S. Schaefer, arXiv:1105.4749, section 2, and arXiv:1206.2809). Bounded lattices
 * have no link from the last slice to the first: those links in time are inactive, zero matrices in fields of links. The last slice is
 * N_t - 1; or N_t - 2, so that the distance of the ends is even, with an idle slice behind it whose links are all inactive.
 *
 *   open                fields fluctuate on all slices; loops in space on the two end slices have a weight of their own
 *   schroedinger        links in space of the two end slices, the walls, are fixed
 *   open-schroedinger   the first slice is open, the last one a wall
 *
 * Quark fields vanish on both end slices: operators couple these to no other, and the field strength is zero there. */
typedef enum { TIME_PERIODIC, TIME_OPEN, TIME_SCHROEDINGER, TIME_OPEN_SCHROEDINGER } time_boundary;

/* True if the first (end = 0) or the last slice (1) is a wall. */
static inline int time_has_wall(time_boundary time, int end)
{
    return time == TIME_SCHROEDINGER || (time == TIME_OPEN_SCHROEDINGER && end == 1);
}

typedef struct lattice {
    const comm_group *group;
    int planned; /* plan: no tables, and fields without memory: what would be taken is counted, see plan.h */
    int parities;
    int size[4], grid[4], coord[4], local[4], origin[4];
    int neighbour[8]; /* rank, numbered among all, at +x -x +y -y +z -z +t -t; nobody of a plan */
    int reach, halo_depth;
    int time_sign;      /* fermion boundary sign in t: +1 periodic, -1 antiperiodic; +1 where time is bounded */
    time_boundary time; /* see lattice_bound() */
    int idle;           /* idle slices where time is bounded, 0 or 1 */
    long volume, local_volume;
    int nlayout;
    layout layouts[3]; /* linear; then those of several lanes, of double precision and of single, if they differ */
} lattice;

/* Parameters of a lattice. grid: ranks in each direction, or all zero to choose. reach: 1 for next neighbours and plaquettes, 2
 * for rectangles, 3 for the hops of staggered quarks with long links, too; links and tensors continue by reach, at most 2, and
 * with a reach of 3 a rank has at least 4 sites in split directions. time_sign: +1 or -1. any_extents: all sites count as even,
 * so that extents may be odd, too, down to 1; of a reach of 1, with one lane; fields on it are of even parity and have no
 * ghosts. */
typedef struct {
    const comm_group *group;
    int size[4], grid[4];
    int reach, time_sign, any_extents;
} lattice_spec;

/* ---- arithmetic, in decomposition.c ---- */

#ifdef __cplusplus
extern "C" {
#endif

/* The process grid that lattice_create() takes for `ranks` ranks and a reach of less than 3, least surface first; 0 when
 * there is none, else 1. */
int lattice_choose_grid(const int size[4], int ranks, int grid[4]);
/* Process grids of `ranks` ranks for a lattice of this reach whose boxes have at most `most` times the least surface, in
 * ascending order of surface: the first is what lattice_create() chooses. Returns how many; *grids is the caller's to free.
 * Local. */
int lattice_grids(const int size[4], int ranks, int reach, double most, int (**grids)[4]);

/* Allows layouts of several lanes for fields on the host, on lattices and plans made from now on, as is the default, or the
 * linear one alone. */
void lattice_use_simd(int yes);
int lattice_uses_simd(void);

/* The layout with `lanes` lanes, or else the one with a half or a quarter of them for which there are SIMD vectors, or
 * the linear one: whichever the box admits first. */
const layout *lattice_layout(const lattice *lat, int lanes);

#ifdef __cplusplus
}
#endif
#endif
