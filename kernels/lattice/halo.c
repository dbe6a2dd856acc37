#include "kernels/lattice/halo.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/args.h"
#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/kernels.h"
#include "kernels/lattice/comm.h"

/* A message buffer that grows as needed and lives as long as the program. */
typedef struct {
    char *data;
    size_t size;
} buffer;

static buffer ghosts[8], outgoing[8], incoming[8];
static double counted_bytes, counted_seconds;

static char *reserve(buffer *b, size_t size)
{
    if (b->size < size) {
        pool_give(PLACE_HOST, b->data, b->size);
        b->data = pool_take(PLACE_HOST, size);
        b->size = size;
    }
    return b->data;
}

/* Lanes whose neighbour over side g of the rank (0..7) lies on another rank. */
static int edge_lanes(const layout *lay, int g, int lanes[])
{
    const int *v = lay->lane_grid, d = g / 2, wanted = g % 2 ? 0 : v[d] - 1;
    int n = 0;
    for (int i = 0; i < lay->lanes; i++) {
        const int place[4] = {i % v[0], i / v[0] % v[1], i / v[0] / v[1] % v[2], i / v[0] / v[1] / v[2]};
        if (place[d] == wanted) lanes[n++] = lay->lane_number[i];
    }
    return n;
}

/* Moves the edge lanes of vectors of `lanes` elements of `bytes` between their field (`wide`) and a message (`narrow`).
 */
static void gather_lanes(char *narrow, const char *wide, size_t vectors, int lanes, size_t bytes, const int *edge,
                         int n)
{
    for (size_t i = 0; i < vectors; i++)
        for (int k = 0; k < n; k++) memcpy(narrow + (i * n + k) * bytes, wide + (i * lanes + edge[k]) * bytes, bytes);
}

static void scatter_lanes(char *wide, const char *narrow, size_t vectors, int lanes, size_t bytes, const int *edge,
                          int n)
{
    for (size_t i = 0; i < vectors; i++)
        for (int k = 0; k < n; k++) memcpy(wide + (i * lanes + edge[k]) * bytes, narrow + (i * n + k) * bytes, bytes);
}

/* ---- half spinors of the hop ---- */

static struct {
    const layout *lay;
    int scatter[8], side[8];
    size_t vectors[8], bytes;
} hop_flight;

/* Sends along dir; what arrives over the opposite side goes to buffer `slot` and view *ghost. */
static void hop_start_side(const field *in, parity p, const field *links, int sign, int dir, int slot, view *ghost)
{
    const layout *lay = in->lay;
    const int g = dir ^ 1, d = dir / 2; /* what I send along dir, I receive over the opposite side */
    const size_t bytes = in->prec == PREC_DOUBLE ? sizeof(double) : sizeof(float);
    const long units =
        lay->lanes > 1 ? lay->nface[d] : (lay->nface[d] + LINEAR_BLOCK - 1) / LINEAR_BLOCK * LINEAR_BLOCK;
    const size_t vectors = (size_t)units * (size_t)in->groups * 12, whole = vectors * (size_t)lay->lanes * bytes;
    int edge[GEOM_MAX_LANES];
    const int n = edge_lanes(lay, g, edge), direct = n == lay->lanes;
    const size_t size = vectors * (size_t)n * bytes;
    *ghost = (view){reserve(&ghosts[slot], whole), NULL, in->groups * 12, in->groups, 12};
    char *out = reserve(&outgoing[slot], size), *arriving = direct ? ghosts[slot].data : reserve(&incoming[slot], size);
    view packed = *ghost;
    if (direct) packed.data = out;
    hop_pack_args args = {lay->g, field_in(in, p), field_in(links, p), packed, lay->face[dir][p], dir,
                          sign,   links->reals};
    kernel_run(KERNEL_hop_pack, in, &args, (kernel_work){.n = lay->nface[d]});
    if (!direct) gather_lanes(out, ghosts[slot].data, vectors, lay->lanes, bytes, edge, n);
    comm_start_receive(arriving, size, in->lat->neighbour[g], slot);
    comm_start_send(out, size, in->lat->neighbour[dir], slot);
    counted_bytes += (double)size;
    hop_flight.scatter[slot] = !direct;
    hop_flight.side[slot] = g;
    hop_flight.vectors[slot] = vectors;
    hop_flight.bytes = bytes;
}

static void hop_begin(const field *in)
{
    memset(&hop_flight, 0, sizeof hop_flight);
    hop_flight.lay = in->lay;
    for (int d = 0; d < 4; d++)
        REQUIRE(in->where == PLACE_HOST || !in->lay->g.split[d], "fields on the device cannot be split over ranks");
}

void halo_hop_start(const field *in, parity p, const field *links, int sign, view ghost[8])
{
    hop_begin(in);
    for (int dir = 0; dir < 8; dir++)
        if (in->lay->g.split[dir / 2]) hop_start_side(in, p, links, sign, dir, dir ^ 1, &ghost[dir ^ 1]);
}

void halo_hop_pair(const field *x, const field *y, parity p, const field *links, view x_ghost[8], view y_ghost[8])
{
    hop_begin(x);
    for (int d = 0; d < 4; d++) {
        if (!x->lay->g.split[d]) continue;
        hop_start_side(x, p, links, 1, 2 * d + 1, 2 * d, &x_ghost[2 * d]);
        hop_start_side(y, p, links, -1, 2 * d + 1, 2 * d + 1, &y_ghost[2 * d]);
    }
    halo_hop_wait();
}

void halo_hop_wait(void)
{
    const double start = comm_wtime();
    comm_wait();
    counted_seconds += comm_wtime() - start;
    for (int slot = 0; slot < 8; slot++) {
        if (!hop_flight.scatter[slot]) continue;
        int edge[GEOM_MAX_LANES];
        const int n = edge_lanes(hop_flight.lay, hop_flight.side[slot], edge);
        scatter_lanes(ghosts[slot].data, incoming[slot].data, hop_flight.vectors[slot], hop_flight.lay->lanes,
                      hop_flight.bytes, edge, n);
    }
}

/* ---- ghosts with corners ---- */

static long ext_unit(const layout *lay, const int x[4])
{
    const geom *g = &lay->g;
    long i = 0;
    for (int d = 3; d >= 0; d--) i = i * g->ext_size[d] + x[d] + (g->split[d] ? g->depth : 0);
    return lay->ext[i];
}

/* The storage units behind side s and the units of this rank that a step over the whole box leads them to. Directions
 * before that of s are taken with their ghosts. Returns their number. */
static long shell_units(const layout *lay, int s, long **from, long **to)
{
    const geom *g = &lay->g;
    const int d = s / 2;
    int low[4], high[4], x[4];
    long count = 1;
    for (int e = 0; e < 4; e++) {
        const int reach = g->split[e] && e < d ? g->depth : 0;
        low[e] = -reach;
        high[e] = lay->sub[e] + reach;
        if (e == d) {
            low[e] = s % 2 ? -g->depth : lay->sub[e];
            high[e] = low[e] + g->depth;
        }
        count *= high[e] - low[e];
    }
    *from = malloc((size_t)count * sizeof **from);
    *to = malloc((size_t)count * sizeof **to);
    REQUIRE(*from && *to, "out of memory for %ld ghost units", count);
    long n = 0;
    for (x[3] = low[3]; x[3] < high[3]; x[3]++)
        for (x[2] = low[2]; x[2] < high[2]; x[2]++)
            for (x[1] = low[1]; x[1] < high[1]; x[1]++)
                for (x[0] = low[0]; x[0] < high[0]; x[0]++, n++) {
                    int y[4];
                    memcpy(y, x, sizeof y);
                    y[d] += s % 2 ? lay->sub[d] : -lay->sub[d];
                    (*to)[n] = ext_unit(lay, x);
                    (*from)[n] = ext_unit(lay, y);
                }
    return n;
}

static void fill_side(field *f, int s)
{
    const layout *lay = f->lay;
    const size_t bytes = field_real_bytes(f);
    const int reals = f->groups * f->reals, power[4] = {1, 3, 9, 27};
    const int32_t *turn = lay->g.turn32 + (40 + (s % 2 ? -power[s / 2] : power[s / 2])) * lay->lanes;
    int edge[GEOM_MAX_LANES], is_edge[GEOM_MAX_LANES] = {0};
    const int n = edge_lanes(lay, s, edge);
    for (int k = 0; k < n; k++) is_edge[edge[k]] = 1;
    long *from, *to;
    const long units = shell_units(lay, s, &from, &to);
    const size_t size = (size_t)units * (size_t)(reals * n) * bytes;
    char *out = reserve(&outgoing[s], size), *arriving = reserve(&incoming[s], size), *data = f->data;
#define REAL_AT(unit, lane, i) (data + field_real_index(f, unit, lane, (i) / f->reals, (i) % f->reals) * bytes)
#pragma omp parallel for schedule(static)
    for (long u = 0; u < units; u++) {
        char *next = out + (size_t)u * (size_t)(reals * n) * bytes;
        for (int i = 0; i < reals; i++)
            for (int l = 0; l < lay->lanes; l++) {
                const char *source = REAL_AT(from[u], turn[l], i);
                if (is_edge[l]) {
                    memcpy(next, source, bytes);
                    next += bytes;
                } else {
                    memcpy(REAL_AT(to[u], l, i), source, bytes);
                }
            }
    }
    comm_start_receive(arriving, size, f->lat->neighbour[s], s);
    comm_start_send(out, size, f->lat->neighbour[s ^ 1], s);
    const double start = comm_wtime();
    comm_wait();
    counted_seconds += comm_wtime() - start;
    counted_bytes += (double)size;
#pragma omp parallel for schedule(static)
    for (long u = 0; u < units; u++) {
        const char *next = arriving + (size_t)u * (size_t)(reals * n) * bytes;
        for (int i = 0; i < reals; i++)
            for (int l = 0; l < lay->lanes; l++)
                if (is_edge[l]) {
                    memcpy(REAL_AT(to[u], l, i), next, bytes);
                    next += bytes;
                }
    }
#undef REAL_AT
    free(from);
    free(to);
}

void halo_fill(field *f)
{
    if (f->ghost_version == f->version) return;
    REQUIRE(field_kinds[f->kind].ghosts && f->par == PARITY_BOTH, "a %s has no ghosts", field_kinds[f->kind].name);
    for (int s = 0; s < 8; s++) {
        if (!f->lay->g.split[s / 2]) continue;
        REQUIRE(f->where == PLACE_HOST, "fields on the device cannot be split over ranks");
        fill_side(f, s);
    }
    f->ghost_version = f->version;
}

void halo_counted(double *bytes, double *seconds)
{
    *bytes = counted_bytes;
    *seconds = counted_seconds;
}
