#include "kernels/lattice/decomposition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/lanes.h"

#define LINEAR_PAD 32 /* sites of one storage block in the linear layout */

/* ---- over ranks ---- */

/* Sites that a rank must have in a split direction: three steps lead to the next rank at most. */
static int least_extent(int reach, int parities)
{
    return reach > 2 ? 4 : parities;
}

static int grid_fits(const int size[4], const int grid[4], int reach, int parities)
{
    for (int d = 0; d < 4; d++) {
        if (grid[d] < 1 || size[d] % grid[d] || (size[d] / grid[d]) % parities) return 0;
        if (grid[d] > 1 && size[d] / grid[d] < least_extent(reach, parities)) return 0;
    }
    return 1;
}

static long grid_surface(const int size[4], const int grid[4])
{
    long volume = 1, surface = 0;
    for (int d = 0; d < 4; d++) volume *= size[d] / grid[d];
    for (int d = 0; d < 4; d++)
        if (grid[d] > 1) surface += volume / (size[d] / grid[d]);
    return surface;
}

/* Divisors of n, ascending; returns how many. */
static int divisors(int n, int *d)
{
    int count = 0;
    for (int i = 1; i <= n; i++)
        if (n % i == 0) d[count++] = i;
    return count;
}

#define DIVISORS_MOST 2048 /* an int has 1536 at most */

typedef struct {
    int grid[4];
    long surface;
} candidate;

/* Least surface first. On a tie the later direction is split: rows in x stay whole. */
static int order(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->surface != b->surface) return a->surface < b->surface ? -1 : 1;
    for (int d = 3; d >= 0; d--)
        if (a->grid[d] != b->grid[d]) return a->grid[d] > b->grid[d] ? -1 : 1;
    return 0;
}

/* Lists the grids that fit, in order; returns how many. *grids is the caller's to free. */
static int list_grids(const int size[4], int ranks, int reach, int parities, candidate **grids)
{
    int of[DIVISORS_MOST], n = 0, room = 0;
    const int count = divisors(ranks, of);
    *grids = NULL;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            for (int k = 0; k < count; k++) {
                const long three = (long)of[i] * of[j] * of[k];
                if (three > ranks || ranks % three) continue;
                const candidate c = {{of[i], of[j], of[k], (int)(ranks / three)}, 0};
                if (!grid_fits(size, c.grid, reach, parities)) continue;
                if (n == room) {
                    room = room ? 2 * room : 64;
                    *grids = realloc(*grids, (size_t)room * sizeof **grids);
                    REQUIRE_MEMORY(*grids, "out of memory for process grids of %d ranks", ranks);
                }
                (*grids)[n] = c;
                (*grids)[n++].surface = grid_surface(size, c.grid);
            }
    if (n) qsort(*grids, (size_t)n, sizeof **grids, order);
    return n;
}

static int choose_grid(const int size[4], int ranks, int reach, int parities, int grid[4])
{
    candidate *all;
    const int n = list_grids(size, ranks, reach, parities, &all);
    if (n) memcpy(grid, all[0].grid, sizeof all[0].grid);
    free(all);
    return n > 0;
}

int lattice_choose_grid(const int size[4], int ranks, int grid[4])
{
    return choose_grid(size, ranks, 1, 2, grid);
}

int lattice_grids(const int size[4], int ranks, int reach, double most, int (**grids)[4])
{
    candidate *all;
    int n = list_grids(size, ranks, reach, 2, &all), near = 0;
    while (near < n && (double)all[near].surface <= most * (double)all[0].surface) near++;
    *grids = malloc((size_t)(near ? near : 1) * sizeof **grids);
    REQUIRE_MEMORY(*grids, "out of memory for process grids of %d ranks", ranks);
    for (int i = 0; i < near; i++) memcpy((*grids)[i], all[i].grid, sizeof all[i].grid);
    free(all);
    return near;
}

static int size_fits(const int size[4], int parities, char *message, size_t bytes)
{
    for (int d = 0; d < 4; d++)
        if (size[d] < parities || size[d] % parities) {
            snprintf(message, bytes, "lattice %d.%d.%d.%d: the extent %d in direction %c is not %s of at least %d",
                     size[0], size[1], size[2], size[3], size[d], "xyzt"[d],
                     parities > 1 ? "an even number" : "a number", parities);
            return 0;
        }
    return 1;
}

void decomposition_shape(lattice *lat, int reach, int any_extents)
{
    lat->reach = reach;
    lat->halo_depth = reach < 2 ? reach : 2;
    lat->parities = any_extents ? 1 : 2;
}

int decomposition_ranks(lattice *lat, const int size[4], const int grid[4], int ranks, char *message, size_t bytes)
{
    const int *s = size, *g = lat->grid;
    const char *boxes = lat->parities == 1 ? "equal boxes" : "boxes of even extents";
    const char *least = least_extent(lat->reach, lat->parities) > 2 ? ", at least 4 in split directions" : "";
    if (!size_fits(size, lat->parities, message, bytes)) return -1;
    memcpy(lat->size, size, sizeof lat->size);
    memcpy(lat->grid, grid, sizeof lat->grid);
    if (grid[0] == 0 && !choose_grid(size, ranks, lat->reach, lat->parities, lat->grid)) {
        snprintf(message, bytes,
                 "lattice %d.%d.%d.%d cannot be split over %d ranks into %s%s; use fewer ranks, or a number whose "
                 "factors divide the extents",
                 s[0], s[1], s[2], s[3], ranks, boxes, least);
        return -1;
    }
    const long product = (long)g[0] * g[1] * g[2] * g[3];
    if (product != ranks) {
        snprintf(message, bytes, "process grid %d.%d.%d.%d has %ld ranks, but there are %d", g[0], g[1], g[2], g[3],
                 product, ranks);
        return -1;
    }
    if (!grid_fits(size, g, lat->reach, lat->parities)) {
        snprintf(message, bytes, "process grid %d.%d.%d.%d does not split the lattice %d.%d.%d.%d into %s%s", g[0],
                 g[1], g[2], g[3], s[0], s[1], s[2], s[3], boxes, least);
        return -1;
    }
    lat->volume = lat->local_volume = 1;
    for (int d = 0; d < 4; d++) {
        lat->local[d] = s[d] / g[d];
        lat->volume *= s[d];
        lat->local_volume *= lat->local[d];
    }
    return 0;
}

/* ---- into lanes ---- */

int decomposition_lanes(layout *lay, const lattice *lat)
{
    for (int d = 0; d < 4; d++) {
        lay->sub[d] = lat->local[d];
        lay->lane_grid[d] = 1;
    }
    for (int n = 1; n < lay->lanes; n *= 2) {
        int best = -1;
        for (int d = 0; d < 4; d++) {
            if (lay->sub[d] % 4 || (lat->grid[d] > 1 && lay->sub[d] / 2 < least_extent(lat->reach, lat->parities)))
                continue;
            const int inside = lat->grid[d] == 1, best_inside = best >= 0 && lat->grid[best] == 1;
            if (best < 0 || inside > best_inside || (inside == best_inside && lay->sub[d] >= lay->sub[best])) best = d;
        }
        if (best < 0) return 0;
        lay->sub[best] /= 2;
        lay->lane_grid[best] *= 2;
    }
    return 1;
}

int decomposition_layout(layout *lay, const lattice *lat, int lanes)
{
    memset(lay, 0, sizeof *lay);
    lay->lanes = lanes;
    lay->parities = lat->parities;
    if (lanes > 1 && (lat->parities == 1 || lat->local_volume == 0)) return 0;
    if (!decomposition_lanes(lay, lat)) return 0;
    lay->nunit = lat->local_volume / lat->parities / lanes;
    lay->odd_start = lanes > 1 ? lay->nunit : (lay->nunit + LINEAR_PAD - 1) / LINEAR_PAD * LINEAR_PAD;
    lay->ghost_start = lat->parities * lay->odd_start;
    for (int d = 0; d < 4 && lay->nunit > 0; d++) {
        lay->nface[d] = lay->nunit / lay->sub[d];
        lay->g.split[d] = lat->grid[d] > 1;
        lay->g.ext_size[d] = lay->sub[d] + (lay->g.split[d] ? 2 * lat->halo_depth : 0);
    }
    return 1;
}

static int simd = 1;

void lattice_use_simd(int yes)
{
    simd = yes;
}

int lattice_uses_simd(void)
{
    return simd;
}

const layout *lattice_layout(const lattice *lat, int lanes)
{
    for (int parts = 1; LANES_HAVE(parts); parts *= 2)
        for (int i = 1; i < lat->nlayout; i++)
            if (lat->layouts[i].lanes * parts == lanes) return &lat->layouts[i];
    return &lat->layouts[0];
}

void decomposition_layouts(lattice *lat, int (*make)(layout *lay, const lattice *lat, int lanes))
{
    const int full[2] = {LANES_DOUBLE, LANES_SINGLE};
    lat->nlayout = make(&lat->layouts[0], lat, 1);
    for (int i = 0; lattice_uses_simd() && i < 2; i++)
        for (int parts = 1; LANES_HAVE(parts); parts *= 2) {
            const int lanes = full[i] / parts;
            if (lattice_layout(lat, lanes)->lanes == lanes) break;
            if (!make(&lat->layouts[lat->nlayout], lat, lanes)) continue;
            lat->nlayout++;
            break;
        }
}
