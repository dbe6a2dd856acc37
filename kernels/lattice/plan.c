#include "kernels/lattice/plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/decomposition.h"
#include "kernels/lattice/lanes.h"

/* Units from which steps of so many sites stay on the rank, and all others. */
static void count_interior(const layout *lay, int step, long interior[2], long exterior[2])
{
    long n = lay->nunit;
    for (int d = 0; d < 4 && n > 0; d++) {
        const int inside = lay->sub[d] > 2 * step ? lay->sub[d] - 2 * step : 0;
        if (lay->g.split[d]) n = n / lay->sub[d] * inside;
    }
    for (int p = 0; p < lay->parities; p++) {
        interior[p] = n;
        exterior[p] = lay->nunit - n;
    }
}

/* Layout as lattice.c makes it; tests/hmc/test_plan.c compares the two. */
static int count_layout(layout *lay, const lattice *lat, int lanes)
{
    if (!decomposition_layout(lay, lat, lanes)) return 0;
    long extended = 1, body = 1;
    for (int d = 0; d < 4; d++) {
        extended *= lay->g.ext_size[d];
        body *= lay->sub[d];
        if (!lay->g.split[d]) continue;
        lay->nshell[d] = lat->halo_depth;
        for (int e = 0; e < 4; e++)
            if (e < d) lay->nshell[d] *= lay->g.ext_size[e];
            else if (e > d) lay->nshell[d] *= lay->sub[e];
    }
    lay->nghost = extended - body;
    count_interior(lay, 1, lay->ninterior, lay->nexterior);
    if (lat->reach > 2) count_interior(lay, 3, lay->nfar_interior, lay->nfar_exterior);
    return 1;
}

/* Bytes of the largest message: the ghosts of links in double. */
static size_t largest_message(const lattice *lat)
{
    const layout *lay = lattice_layout(lat, LANES_DOUBLE);
    size_t largest = 0;
    for (int d = 0; d < 4; d++) {
        const size_t lanes = (size_t)(lay->lanes / lay->lane_grid[d]);
        const size_t bytes = lay->g.split[d] ? (size_t)lay->nshell[d] * lanes * 72 * sizeof(double) : 0;
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

lattice *plan_lattice_on(const lattice_spec *spec, int ranks, char *message, size_t bytes)
{
    lattice *lat = calloc(1, sizeof *lat);
    REQUIRE_MEMORY(lat, "out of memory");
    decomposition_shape(lat, spec->reach, spec->any_extents);
    lat->time_sign = 1;
    if (decomposition_ranks(lat, spec->size, spec->grid, ranks, message, bytes)) {
        free(lat);
        return NULL;
    }
    for (int dir = 0; dir < 8; dir++) lat->neighbour[dir] = COMM_NOBODY;
    decomposition_layouts(lat, count_layout);
    const layout *linear = &lat->layouts[0];
    const size_t units = (size_t)(linear->ghost_start + linear->nghost), sent = largest_message(lat);
    if (units < INT_MAX && sent <= INT_MAX) {
        lat->planned = 1;
        lat->group = comm_group_imagine(ranks);
        pool_take(POOL_COUNTED(POOL_HOST), plan_table_bytes(lat));
        return lat;
    }
    const int *size = lat->size, *l = lat->local;
    snprintf(
        message, bytes,
        "lattice %d.%d.%d.%d on %d ranks: %d.%d.%d.%d sites per rank, %zu with their ghosts, messages of up to %zu "
        "bytes; at most %d of either can be counted: use more ranks",
        size[0], size[1], size[2], size[3], ranks, l[0], l[1], l[2], l[3], units, sent, INT_MAX);
    free(lat);
    return NULL;
}

void plan_forget(lattice *lat)
{
    /* Blocks of a place that counts are no memory: any pointer stands for them. */
    pool_give(POOL_COUNTED(POOL_HOST), lat, plan_table_bytes(lat));
    comm_group_destroy((comm_group *)lat->group);
}

lattice *plan_lattice(const int size[4], const int grid[4], int ranks, int reach, char *message, size_t bytes)
{
    lattice_spec spec = {.reach = reach};
    memcpy(spec.size, size, sizeof spec.size);
    memcpy(spec.grid, grid, sizeof spec.grid);
    return plan_lattice_on(&spec, ranks, message, bytes);
}

static long extended_units(const layout *lay)
{
    long n = 1;
    for (int d = 0; d < 4; d++) n *= lay->g.ext_size[d];
    return n;
}

static long shells(const layout *lay)
{
    long n = 0;
    for (int d = 0; d < 4; d++) n += lay->g.split[d] ? 2 * 2 * lay->nshell[d] : 0;
    return n;
}

size_t plan_table_bytes(const lattice *lat)
{
    size_t bytes = 0;
    for (int i = 0; i < lat->nlayout; i++) {
        const layout *lay = &lat->layouts[i];
        long ints = extended_units(lay) + shells(lay) + lay->parities * lay->nunit * (STENCIL_INTS + 2);
        for (int d = 0; d < 4; d++) ints += 2 * lay->parities * lay->nface[d] * (lat->reach > 2 ? 3 : 1);
        if (lat->reach > 2) ints += 2 * lay->nunit * STENCIL_INTS + 4 * lay->nunit;
        bytes += (size_t)ints * sizeof(int) + (size_t)(lay->parities * lay->nunit * 4) * sizeof(int16_t);
    }
    return bytes;
}

size_t plan_device_table_bytes(const lattice *lat)
{
    const layout *lay = &lat->layouts[0];
    const int three = lat->reach > 2;
    long ints = extended_units(lay) + shells(lay) + (three ? 4 : 2) * lay->nunit;
    for (int d = 0; d < 4; d++) ints += lay->g.split[d] ? 4 * lay->nface[d] * (three ? 3 : 1) : 0;
    return (size_t)ints * sizeof(int) + (size_t)lay->nunit * 2 * 4 * sizeof(int16_t);
}
