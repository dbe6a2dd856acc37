#include "kernels/lattice/cut.h"

#include <stdio.h>
#include <string.h>

#include "kernels/lattice/lanes.h"

#define LINEAR_PAD 32 /* sites of one storage block in the linear layout */

/* ---- over ranks ---- */

/* Sites that a rank must have in a split direction: three steps lead to the next rank at most. */
static int least_extent(int reach)
{
    return reach > 2 ? 4 : 2;
}

static int grid_fits(const int size[4], const int grid[4], int reach)
{
    for (int d = 0; d < 4; d++) {
        if (grid[d] < 1 || size[d] % grid[d] || (size[d] / grid[d]) % 2) return 0;
        if (grid[d] > 1 && size[d] / grid[d] < least_extent(reach)) return 0;
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

static int choose_grid(const int size[4], int ranks, int reach, int grid[4])
{
    long best = -1;
    int g[4];
    for (g[0] = 1; g[0] <= ranks; g[0]++) {
        if (ranks % g[0]) continue;
        for (g[1] = 1; g[1] <= ranks / g[0]; g[1]++) {
            if ((ranks / g[0]) % g[1]) continue;
            const int rest = ranks / g[0] / g[1];
            for (g[2] = 1; g[2] <= rest; g[2]++) {
                if (rest % g[2]) continue;
                g[3] = rest / g[2];
                if (!grid_fits(size, g, reach)) continue;
                const long surface = grid_surface(size, g);
                /* On a tie the later direction is split: rows in x stay whole. */
                if (best < 0 || surface < best || (surface == best && g[3] >= grid[3])) {
                    best = surface;
                    memcpy(grid, g, sizeof g);
                }
            }
        }
    }
    return best >= 0;
}

int lattice_choose_grid(const int size[4], int ranks, int grid[4])
{
    return choose_grid(size, ranks, 1, grid);
}

static int size_fits(const int size[4], char *message, size_t bytes)
{
    for (int d = 0; d < 4; d++)
        if (size[d] < 2 || size[d] % 2) {
            snprintf(message, bytes,
                     "lattice %d.%d.%d.%d: the extent %d in direction %c is not an even number of at least 2", size[0],
                     size[1], size[2], size[3], size[d], "xyzt"[d]);
            return 0;
        }
    return 1;
}

void cut_reach(lattice *lat, int reach)
{
    lat->reach = reach;
    lat->halo_depth = reach < 2 ? reach : 2;
}

int cut_ranks(lattice *lat, const int size[4], const int grid[4], int ranks, char *message, size_t bytes)
{
    const int *s = size, *g = lat->grid, least = least_extent(lat->reach);
    if (!size_fits(size, message, bytes)) return -1;
    memcpy(lat->size, size, sizeof lat->size);
    memcpy(lat->grid, grid, sizeof lat->grid);
    if (grid[0] == 0 && !choose_grid(size, ranks, lat->reach, lat->grid)) {
        snprintf(message, bytes,
                 "lattice %d.%d.%d.%d cannot be split over %d ranks into boxes of even extents%s; use fewer ranks, or "
                 "a number whose factors divide the extents",
                 s[0], s[1], s[2], s[3], ranks, least > 2 ? ", at least 4 in split directions" : "");
        return -1;
    }
    const long product = (long)g[0] * g[1] * g[2] * g[3];
    if (product != ranks) {
        snprintf(message, bytes, "process grid %d.%d.%d.%d has %ld ranks, but the program runs on %d", g[0], g[1], g[2],
                 g[3], product, ranks);
        return -1;
    }
    if (!grid_fits(size, g, lat->reach)) {
        snprintf(message, bytes,
                 "process grid %d.%d.%d.%d does not split the lattice %d.%d.%d.%d into boxes of even extents%s", g[0],
                 g[1], g[2], g[3], s[0], s[1], s[2], s[3], least > 2 ? ", at least 4 in split directions" : "");
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

int cut_lanes(layout *lay, const lattice *lat)
{
    for (int d = 0; d < 4; d++) {
        lay->sub[d] = lat->local[d];
        lay->lane_grid[d] = 1;
    }
    for (int n = 1; n < lay->lanes; n *= 2) {
        int best = -1;
        for (int d = 0; d < 4; d++) {
            if (lay->sub[d] % 4 || (lat->grid[d] > 1 && lay->sub[d] / 2 < least_extent(lat->reach))) continue;
            const int inside = lat->grid[d] == 1, best_inside = best >= 0 && lat->grid[best] == 1;
            if (best < 0 || inside > best_inside || (inside == best_inside && lay->sub[d] >= lay->sub[best])) best = d;
        }
        if (best < 0) return 0;
        lay->sub[best] /= 2;
        lay->lane_grid[best] *= 2;
    }
    return 1;
}

int cut_layout(layout *lay, const lattice *lat, int lanes)
{
    memset(lay, 0, sizeof *lay);
    lay->lanes = lanes;
    if (!cut_lanes(lay, lat)) return 0;
    lay->nunit = lat->local_volume / 2 / lanes;
    lay->odd_start = lanes > 1 ? lay->nunit : (lay->nunit + LINEAR_PAD - 1) / LINEAR_PAD * LINEAR_PAD;
    lay->ghost_start = 2 * lay->odd_start;
    for (int d = 0; d < 4; d++) {
        lay->nface[d] = lay->nunit / lay->sub[d];
        lay->g.split[d] = lat->grid[d] > 1;
        lay->g.ext_size[d] = lay->sub[d] + (lay->g.split[d] ? 2 * lat->halo_depth : 0);
    }
    return 1;
}

const layout *lattice_layout(const lattice *lat, int lanes)
{
    for (int parts = 1; LANES_HAVE(parts); parts *= 2)
        for (int i = 1; i < lat->nlayout; i++)
            if (lat->layouts[i].lanes * parts == lanes) return &lat->layouts[i];
    return &lat->layouts[0];
}

void cut_layouts(lattice *lat, int (*make)(layout *lay, const lattice *lat, int lanes))
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
