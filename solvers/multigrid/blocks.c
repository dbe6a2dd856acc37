/* Aggregates that a lattice has: choices for a level, the most sensible first.
 *
 * Sensible is what is near to the usual size, 4^4 sites on the finest lattice and 2^4 on others, and near to a cube:
 * aggregates b_d are ordered by |log (prod b_d / size)| + 4 sum_d |log (b_d / (prod b)^(1/4))|. Directions in which the
 * lattice and the boxes of ranks are alike are not told apart. */
#include <math.h>
#include <string.h>

#include "solvers/multigrid/multigrid.h"

#define EXTENT_MOST 8

static double block_shape_penalty(const int b[4], int first)
{
    const double usual = 4 * log(first ? 4 : 2);
    double sum = 0, bent = 0;
    for (int d = 0; d < 4; d++) sum += log(b[d]);
    for (int d = 0; d < 4; d++) bent += fabs(log(b[d]) - sum / 4);
    return fabs(sum - usual) + 4 * bent;
}

/* The only one of those that differ by directions that are alike: extents grow from x to t. */
static int stands_for_others(const lattice *lat, const int b[4])
{
    for (int d = 0; d < 4; d++)
        for (int e = d + 1; e < 4; e++)
            if (lat->size[d] == lat->size[e] && lat->grid[d] == lat->grid[e] && b[d] > b[e]) return 0;
    return 1;
}

/* Puts b in order among n of at most `most`; returns how many there are then. */
static int insert(int (*blocks)[4], int n, int most, const int b[4], int first)
{
    int at = n;
    while (at > 0 && block_shape_penalty(b, first) < block_shape_penalty(blocks[at - 1], first)) at--;
    if (at == most) return n;
    if (n < most) n++;
    for (int i = n - 1; i > at; i--) memcpy(blocks[i], blocks[i - 1], sizeof blocks[i]);
    memcpy(blocks[at], b, sizeof blocks[at]);
    return n;
}

int multigrid_blockings(const lattice *lat, int components, int vectors, int first, int (*blocks)[4], int most)
{
    char message[512];
    int n = 0;
    coarse_settings s = {.vectors = vectors};
    int *b = s.block;
    for (b[0] = 1; b[0] <= EXTENT_MOST; b[0]++)
        for (b[1] = 1; b[1] <= EXTENT_MOST; b[1]++)
            for (b[2] = 1; b[2] <= EXTENT_MOST; b[2]++)
                for (b[3] = 1; b[3] <= EXTENT_MOST; b[3]++)
                    if (b[0] * b[1] * b[2] * b[3] > 1 && stands_for_others(lat, b) &&
                        coarse_fits(lat, components, &s, message, sizeof message))
                        n = insert(blocks, n, most, b, first);
    return n;
}
