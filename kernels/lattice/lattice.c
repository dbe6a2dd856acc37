#include "kernels/lattice/lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/decomposition.h"
#include "kernels/lattice/lanes.h"
#include "kernels/lattice/plan.h"

/* Zeroed, and aligned for tables that kernels read as vectors. */
static void *allocate(size_t n, size_t size)
{
    const size_t bytes = (n * size + 64) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    REQUIRE_MEMORY(p, "out of memory: %zu elements of %zu bytes", n, size);
    return memset(p, 0, bytes);
}

/* ---- the split over ranks ---- */

static int rank_at(const lattice *lat, int d, int step)
{
    int c[4];
    memcpy(c, lat->coord, sizeof c);
    c[d] = (c[d] + step + lat->grid[d]) % lat->grid[d];
    return comm_group_to_world(lat->group, ((c[3] * lat->grid[2] + c[2]) * lat->grid[1] + c[1]) * lat->grid[0] + c[0]);
}

void lattice_box(const lattice *lat, int box[4])
{
    for (int d = 0; d < 4; d++) box[d] = lat->size[d] / lat->grid[d];
}

/* Leaves a rank outside the group without sites. */
static void hold_nothing(lattice *lat)
{
    lat->local_volume = 0;
    memset(lat->local, 0, sizeof lat->local);
    for (int dir = 0; dir < 8; dir++) lat->neighbour[dir] = comm_rank();
}

static void split(lattice *lat, const lattice_spec *spec)
{
    char message[512];
    if (decomposition_ranks(lat, spec->size, spec->grid, comm_group_size(lat->group), message, sizeof message))
        user_error("%s", message);
    if (comm_group_rank(lat->group) < 0) {
        hold_nothing(lat);
        return;
    }
    for (int d = 0, r = comm_group_rank(lat->group); d < 4; r /= lat->grid[d++]) {
        lat->coord[d] = r % lat->grid[d];
        lat->origin[d] = lat->coord[d] * lat->local[d];
    }
    for (int d = 0; d < 4; d++) {
        lat->neighbour[2 * d] = rank_at(lat, d, 1);
        lat->neighbour[2 * d + 1] = rank_at(lat, d, -1);
    }
}

/* ---- a layout ---- */

/* Place of a lane in the lane grid. The order of cuts is recovered by replaying them. */
static void lane_places(const layout *lay, const lattice *lat, int place[][4])
{
    layout replay = *lay;
    memset(place, 0, sizeof(int[4]) * (size_t)lay->lanes);
    for (int n = 1, bit = 0; n < lay->lanes; n *= 2, bit++) {
        int before[4];
        replay.lanes = n;
        decomposition_lanes(&replay, lat);
        memcpy(before, replay.lane_grid, sizeof before);
        replay.lanes = 2 * n;
        decomposition_lanes(&replay, lat);
        for (int d = 0; d < 4; d++)
            if (replay.lane_grid[d] != before[d])
                for (int l = 0; l < lay->lanes; l++) place[l][d] = 2 * place[l][d] + ((l >> bit) & 1);
    }
}

static long unit_at(const layout *lay, const int x[4])
{
    const int *s = lay->sub;
    return (((long)x[3] * s[2] + x[2]) * s[1] + x[1]) * (s[0] / lay->parities) + x[0] / lay->parities;
}

int layout_parity(const layout *lay, const int x[4])
{
    return (x[0] + x[1] + x[2] + x[3]) % lay->parities;
}

static long face_at(const layout *lay, const int x[4], int d)
{
    long f = 0;
    for (int e = 3; e >= 0; e--)
        if (e != d) f = f * lay->sub[e] + x[e];
    return f / lay->parities;
}

static void fill_coordinates(layout *lay)
{
    for (int p = 0; p < lay->parities; p++) lay->coord[p] = allocate((size_t)lay->nunit * 4, sizeof(int16_t));
    int x[4];
    for (x[3] = 0; x[3] < lay->sub[3]; x[3]++)
        for (x[2] = 0; x[2] < lay->sub[2]; x[2]++)
            for (x[1] = 0; x[1] < lay->sub[1]; x[1]++)
                for (x[0] = 0; x[0] < lay->sub[0]; x[0]++)
                    for (int d = 0; d < 4; d++)
                        lay->coord[layout_parity(lay, x)][unit_at(lay, x) * 4 + d] = (int16_t)x[d];
}

/* Reals of a lane that a hop moves for a unit, roughly; and what of the second-level cache a sweep over one tile may fill
 * so that the next time slice of the tile finds its neighbours there. */
#define UNIT_REALS 192
#define TILE_BYTES (900 << 10)

/* The units of a parity in the order of a hop: tiles in y and z, in each all times, then the sites of a time slice. */
static int *sweep_order(const layout *lay, int p)
{
    int *order = allocate((size_t)lay->nunit, sizeof *order), tile[2] = {lay->sub[1], lay->sub[2]};
    /* Bytes are the same in double precision, and in single with twice the lanes. */
    const int doubles = lay->lanes < LANES_DOUBLE ? lay->lanes : LANES_DOUBLE;
    const long unit_bytes = UNIT_REALS * doubles * (long)sizeof(double);
    while (lay->lanes > 1 && lay->sub[0] / 2 * tile[0] * tile[1] * unit_bytes > TILE_BYTES &&
           (tile[0] > 1 || tile[1] > 1)) {
        int *longer = tile[1] >= tile[0] ? &tile[1] : &tile[0];
        *longer = (*longer + 1) / 2;
    }
    long n = 0;
    int x[4];
    for (int z = 0; z < lay->sub[2]; z += tile[1])
        for (int y = 0; y < lay->sub[1]; y += tile[0])
            for (x[3] = 0; x[3] < lay->sub[3]; x[3]++)
                for (x[2] = z; x[2] < z + tile[1] && x[2] < lay->sub[2]; x[2]++)
                    for (x[1] = y; x[1] < y + tile[0] && x[1] < lay->sub[1]; x[1]++)
                        for (x[0] = (p + x[1] + x[2] + x[3]) % lay->parities; x[0] < lay->sub[0]; x[0] += lay->parities)
                            order[n++] = (int)unit_at(lay, x);
    return order;
}

/* Neighbours of one unit `step` sites away: their units, and where they are. Returns whether some are on other ranks.
 */
static int fill_unit(int32_t entry[STENCIL_INTS], const layout *lay, const lattice *lat, int p, long u, int step)
{
    int ghost = 0, flags = 0;
    for (int dir = 0; dir < 8; dir++) {
        const int d = dir / 2, up = dir % 2 == 0;
        int x[4], near = NEAR_BODY, turns = 0;
        for (int e = 0; e < 4; e++) x[e] = lay->coord[p][u * 4 + e];
        const int to = x[d] + (up ? step : -step);
        const int leaves = to < 0 || to >= lay->sub[d];
        for (x[d] = to; x[d] >= lay->sub[d]; x[d] -= lay->sub[d]) turns++;
        for (; x[d] < 0; x[d] += lay->sub[d]) turns++;
        if (leaves && lat->grid[d] > 1) near = NEAR_GHOST;
        else if (leaves && lay->lane_grid[d] > 1) near = turns > 1 ? NEAR_TURNED_TWICE : NEAR_TURNED;
        if (leaves && d == 3) flags |= up ? STENCIL_EDGE_UP : STENCIL_EDGE_DOWN;
        const long slice = up ? to - lay->sub[d] : -1 - to;
        entry[dir] = (int32_t)(near == NEAR_GHOST ? slice * lay->nface[d] + face_at(lay, x, d) : unit_at(lay, x));
        flags |= near << (2 * dir);
        ghost |= near == NEAR_GHOST;
    }
    entry[8] = flags;
    return ghost;
}

static void fill_stencil(layout *lay, const lattice *lat)
{
    const size_t n = (size_t)lay->nunit;
    for (int p = 0; p < lay->parities; p++) {
        lay->stencil[p] = allocate(n * STENCIL_INTS, sizeof(int32_t));
        lay->interior[p] = allocate(n, sizeof(int));
        lay->exterior[p] = allocate(n, sizeof(int));
        if (lat->reach > 2) {
            lay->far_stencil[p] = allocate(n * STENCIL_INTS, sizeof(int32_t));
            lay->far_interior[p] = allocate(n, sizeof(int));
            lay->far_exterior[p] = allocate(n, sizeof(int));
        }
        int *order = sweep_order(lay, p);
        for (long i = 0; i < lay->nunit; i++) {
            const long u = order[i];
            if (fill_unit(lay->stencil[p] + u * STENCIL_INTS, lay, lat, p, u, 1))
                lay->exterior[p][lay->nexterior[p]++] = (int)u;
            else lay->interior[p][lay->ninterior[p]++] = (int)u;
            if (lat->reach <= 2) continue;
            if (fill_unit(lay->far_stencil[p] + u * STENCIL_INTS, lay, lat, p, u, 3))
                lay->far_exterior[p][lay->nfar_exterior[p]++] = (int)u;
            else lay->far_interior[p][lay->nfar_interior[p]++] = (int)u;
        }
        free(order);
    }
}

/* Slices of sites whose vectors a message of the lattice's hops may hold. */
static int face_slices(const lattice *lat)
{
    return lat->reach > 2 ? 3 : 1;
}

static void fill_faces(layout *lay, const lattice *lat)
{
    for (int d = 0; d < 4; d++)
        for (int side = 0; side < 2; side++)
            for (int p = 0; p < lay->parities; p++) {
                const int slices = face_slices(lat);
                int *list = allocate((size_t)(slices * lay->nface[d]), sizeof(int));
                lay->face[2 * d + side][p] = list;
                for (long u = 0; u < lay->nunit; u++) {
                    int x[4];
                    for (int e = 0; e < 4; e++) x[e] = lay->coord[p][u * 4 + e];
                    const int slice = side == 0 ? lay->sub[d] - 1 - x[d] : x[d];
                    if (slice < slices) list[slice * lay->nface[d] + face_at(lay, x, d)] = (int)u;
                }
            }
}

static void fill_extended(layout *lay, const lattice *lat)
{
    geom *g = &lay->g;
    long n = 1;
    for (int d = 0; d < 4; d++) n *= g->ext_size[d];
    lay->ext = allocate((size_t)n, sizeof(int));
    for (long i = 0; i < n; i++) {
        int x[4], body = 1;
        long rest = i;
        for (int d = 0; d < 4; d++) {
            x[d] = (int)(rest % g->ext_size[d]) - (lat->grid[d] > 1 ? lat->halo_depth : 0);
            rest /= g->ext_size[d];
            body = body && x[d] >= 0 && x[d] < lay->sub[d];
        }
        lay->ext[i] = (int)(body ? unit_at(lay, x) + (layout_parity(lay, x) ? lay->odd_start : 0)
                                 : lay->ghost_start + lay->nghost++);
    }
}

static long extended_unit(const layout *lay, const int x[4])
{
    const geom *g = &lay->g;
    long i = 0;
    for (int d = 3; d >= 0; d--) i = i * g->ext_size[d] + x[d] + (g->split[d] ? g->depth : 0);
    return lay->ext[i];
}

/* The ghosts behind side s and what a step over the whole box leads them to. Directions before that of s are taken with
 * their ghosts, so that corners travel with faces. */
static void fill_shell(layout *lay, int s)
{
    const geom *g = &lay->g;
    const int d = s / 2;
    int low[4], high[4], x[4];
    long count = 1, n = 0;
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
    lay->nshell[d] = count;
    lay->shell_to[s] = allocate((size_t)count, sizeof(int));
    lay->shell_from[s] = allocate((size_t)count, sizeof(int));
    for (x[3] = low[3]; x[3] < high[3]; x[3]++)
        for (x[2] = low[2]; x[2] < high[2]; x[2]++)
            for (x[1] = low[1]; x[1] < high[1]; x[1]++)
                for (x[0] = low[0]; x[0] < high[0]; x[0]++, n++) {
                    int y[4];
                    memcpy(y, x, sizeof y);
                    y[d] += s % 2 ? lay->sub[d] : -lay->sub[d];
                    lay->shell_to[s][n] = (int)extended_unit(lay, x);
                    lay->shell_from[s][n] = (int)extended_unit(lay, y);
                }
}

static void fill_lane_tables(layout *lay, const lattice *lat)
{
    geom *g = &lay->g;
    int place[GEOM_MAX_LANES][4];
    lane_places(lay, lat, place);
    for (int l = 0; l < lay->lanes; l++) {
        const int *c = place[l], *v = lay->lane_grid;
        lay->lane_number[((c[3] * v[2] + c[2]) * v[1] + c[1]) * v[0] + c[0]] = l;
    }
    int32_t *origin = allocate((size_t)4 * lay->lanes, sizeof *origin);
    for (int l = 0; l < lay->lanes; l++)
        for (int d = 0; d < 4; d++) origin[4 * l + d] = lat->origin[d] + place[l][d] * lay->sub[d];
    g->lane_origin = origin;
    memcpy(g->global, lat->size, sizeof g->global);
    int32_t *t32 = allocate((size_t)81 * lay->lanes, sizeof *t32);
    int64_t *t64 = allocate((size_t)81 * lay->lanes, sizeof *t64);
    for (int code = 0; code < 81; code++)
        for (int l = 0; l < lay->lanes; l++) {
            int rest = code, want[4], source = -1;
            for (int d = 0; d < 4; d++, rest /= 3)
                want[d] = (place[l][d] + rest % 3 - 1 + lay->lane_grid[d]) % lay->lane_grid[d];
            for (int k = 0; k < lay->lanes; k++)
                if (!memcmp(place[k], want, sizeof want)) source = k;
            t32[code * lay->lanes + l] = source;
            t64[code * lay->lanes + l] = source;
        }
    double *ed = allocate((size_t)2 * lay->lanes, sizeof *ed);
    float *es = allocate((size_t)2 * lay->lanes, sizeof *es);
    for (int l = 0; l < lay->lanes; l++) {
        ed[l] = place[l][3] == lay->lane_grid[3] - 1 ? g->edge_sign_up : 1;
        ed[lay->lanes + l] = place[l][3] == 0 ? g->edge_sign_down : 1;
        es[l] = (float)ed[l];
        es[lay->lanes + l] = (float)ed[lay->lanes + l];
    }
    g->turn32 = t32;
    g->turn64 = t64;
    g->edge_double = ed;
    g->edge_single = es;
}

static int build_layout(layout *lay, const lattice *lat, int lanes)
{
    if (!decomposition_layout(lay, lat, lanes)) return 0;
    geom *g = &lay->g;
    g->depth = lat->halo_depth;
    g->odd_start = lay->odd_start;
    g->half_x = lay->sub[0] / lay->parities;
    for (int d = 0, stride = 1; d < 4; stride *= d++ == 0 ? g->half_x : lay->sub[d - 1]) g->stride[d] = stride;
    g->edge_sign_up = lat->coord[3] == lat->grid[3] - 1 ? lat->time_sign : 1;
    g->edge_sign_down = lat->coord[3] == 0 ? lat->time_sign : 1;
    memcpy(g->sub, lay->sub, sizeof g->sub);
    memcpy(g->lane_grid, lay->lane_grid, sizeof g->lane_grid);
    fill_coordinates(lay);
    fill_stencil(lay, lat);
    fill_faces(lay, lat);
    fill_extended(lay, lat);
    for (int s = 0; s < 8; s++)
        if (g->split[s / 2]) fill_shell(lay, s);
    fill_lane_tables(lay, lat);
    g->ext = lay->ext;
    for (int p = 0; p < 2; p++) {
        g->coord[p] = lay->coord[p];
        g->stencil[p] = lay->stencil[p];
        g->far_stencil[p] = lay->far_stencil[p];
    }
    return 1;
}

static size_t table_bytes, table_peak;

size_t lattice_table_peak(void)
{
    return table_peak;
}

/* Tables that have come, or that go. */
static void count_tables(const lattice *lat, int come)
{
    if (come) table_bytes += plan_table_bytes(lat);
    else table_bytes -= plan_table_bytes(lat);
    if (table_bytes > table_peak) table_peak = table_bytes;
}

static lattice *create(const lattice_spec *spec)
{
    lattice *lat = allocate(1, sizeof *lat);
    REQUIRE(spec->reach >= 1 && spec->reach <= 3, "reach %d", spec->reach);
    REQUIRE(spec->reach == 1 || !spec->any_extents, "a reach of %d without parity", spec->reach);
    REQUIRE(spec->time_sign == 1 || spec->time_sign == -1, "time sign %d", spec->time_sign);
    lat->group = spec->group;
    lat->time_sign = spec->time_sign;
    decomposition_shape(lat, spec->reach, spec->any_extents);
    split(lat, spec);
    decomposition_layouts(lat, build_layout);
    count_tables(lat, 1);
    return lat;
}

/* Tables beyond the memory of the machine are not begun. */
static void check_memory(const lattice_spec *spec)
{
    char message[512];
    lattice *plan = plan_lattice_on(spec, comm_group_size(spec->group), message, sizeof message);
    if (!plan) return; /* failure is the same on every rank, and reported where the lattice is made */
    const double bytes = (double)(table_bytes + plan_table_bytes(plan)), there = comm_memory();
    snprintf(message, sizeof message,
             "the lattice %d.%d.%d.%d takes %.1f GiB per rank for its tables alone, and this machine has %.1f GiB for "
             "each of "
             "its ranks: use more nodes, or a smaller lattice",
             spec->size[0], spec->size[1], spec->size[2], spec->size[3], bytes / 0x1p30, there / 0x1p30);
    /* No sum over ranks: that would make MPI allocate beside the tables, and every rank stops them all. */
    if (there > 0 && bytes > there) error_memory("%s", message);
    lattice_destroy(plan);
}

static lattice_spec spec_of(const comm_group *group, const int size[4], const int grid[4], int reach, int time_sign)
{
    lattice_spec spec = {.group = group, .reach = reach, .time_sign = time_sign};
    memcpy(spec.size, size, sizeof spec.size);
    memcpy(spec.grid, grid, sizeof spec.grid);
    return spec;
}

lattice *lattice_create_on(const lattice_spec *spec)
{
    check_memory(spec);
    return create(spec);
}

lattice *lattice_create(const int size[4], const int grid[4], int reach, int time_sign)
{
    const lattice_spec spec = spec_of(comm_world(), size, grid, reach, time_sign);
    return lattice_create_on(&spec);
}

lattice *lattice_create_alone(const int size[4], int time_sign)
{
    const lattice_spec spec = spec_of(comm_self(), size, (const int[4]){1, 1, 1, 1}, 1, time_sign);
    return create(&spec);
}

void lattice_bound(lattice *lat, time_boundary time)
{
    REQUIRE(time == TIME_PERIODIC || lat->size[3] >= 4, "%d time slices with two ends", lat->size[3]);
    lat->time = time;
}

void lattice_leave_idle(lattice *lat, int slices)
{
    REQUIRE(slices == 0 || (slices == 1 && lat->size[3] - slices >= 4), "%d idle slices of %d", slices, lat->size[3]);
    lat->idle = slices;
}

/* ---- tables on the device ---- */

/* gives[] are the tables that kernels read on the device, of `bytes` each; null where there is none. */
#define DEVICE_TABLES 48
typedef struct {
    void **table[DEVICE_TABLES];
    size_t bytes[DEVICE_TABLES];
    int n;
} table_list;

static void list_table(table_list *l, void *table, long elements, size_t size)
{
    REQUIRE(l->n < DEVICE_TABLES, "more than %d tables", DEVICE_TABLES);
    l->table[l->n] = table;
    l->bytes[l->n++] = (size_t)elements * size;
}

static int has_far_steps(const layout *lay)
{
    return lay->nfar_interior[0] + lay->nfar_exterior[0] > 0;
}

static table_list device_tables(layout *lay)
{
    table_list l = {.n = 0};
    long ext = 1;
    for (int d = 0; d < 4; d++) ext *= lay->g.ext_size[d];
    list_table(&l, &lay->g.ext, ext, sizeof(int));
    list_table(&l, &lay->g.lane_origin, 4, sizeof(int32_t));
    for (int p = 0; p < lay->parities; p++) {
        list_table(&l, &lay->g.coord[p], 4 * lay->nunit, sizeof(int16_t));
        list_table(&l, &lay->interior[p], lay->ninterior[p], sizeof(int));
        list_table(&l, &lay->exterior[p], lay->nexterior[p], sizeof(int));
        if (!has_far_steps(lay)) continue;
        list_table(&l, &lay->far_interior[p], lay->nfar_interior[p], sizeof(int));
        list_table(&l, &lay->far_exterior[p], lay->nfar_exterior[p], sizeof(int));
    }
    for (int s = 0; s < 8; s++) {
        if (!lay->g.split[s / 2]) continue;
        for (int p = 0; p < lay->parities; p++)
            list_table(&l, &lay->face[s][p], lay->nface[s / 2] * (has_far_steps(lay) ? 3 : 1), sizeof(int));
        list_table(&l, &lay->shell_to[s], lay->nshell[s / 2], sizeof(int));
        list_table(&l, &lay->shell_from[s], lay->nshell[s / 2], sizeof(int));
    }
    return l;
}

/* The place of the pool that a layout's tables on the device come from: those of a plan are counted. */
static int device_pool(const layout *lay)
{
    return lay->ext ? PLACE_DEVICE : POOL_COUNTED(PLACE_DEVICE);
}

static void make_device_tables(layout *lay)
{
    lay->device = allocate(1, sizeof *lay);
    *lay->device = *lay;
    const table_list l = device_tables(lay->device);
    for (int i = 0; i < l.n; i++) {
        const void *host = *l.table[i];
        *l.table[i] = pool_take(device_pool(lay), l.bytes[i]);
        if (host) gpu_copy(*l.table[i], PLACE_DEVICE, host, PLACE_HOST, l.bytes[i]);
    }
}

static void free_device_tables(layout *lay)
{
    if (!lay->device) return;
    const table_list l = device_tables(lay->device);
    for (int i = 0; i < l.n; i++) pool_give(device_pool(lay), *l.table[i], l.bytes[i]);
    free(lay->device);
}

const layout *layout_tables(const layout *lay, int on_device)
{
    if (!on_device) return lay;
    if (!lay->device) make_device_tables((layout *)lay);
    return lay->device;
}

int lattice_pool(const lattice *lat, int place)
{
    return lat->planned ? POOL_COUNTED(place) : place;
}

void lattice_destroy(lattice *lat)
{
    if (!lat) return;
    if (lat->planned) plan_forget(lat);
    else count_tables(lat, 0);
    for (int i = 0; i < lat->nlayout; i++) {
        layout *lay = &lat->layouts[i];
        free_device_tables(lay);
        free(lay->ext);
        free((void *)lay->g.lane_origin);
        free((void *)lay->g.turn32);
        free((void *)lay->g.turn64);
        free((void *)lay->g.edge_double);
        free((void *)lay->g.edge_single);
        for (int p = 0; p < 2; p++) {
            free(lay->coord[p]);
            free(lay->stencil[p]);
            free(lay->interior[p]);
            free(lay->exterior[p]);
            free(lay->far_stencil[p]);
            free(lay->far_interior[p]);
            free(lay->far_exterior[p]);
        }
        for (int s = 0; s < 8; s++) {
            for (int p = 0; p < 2; p++) free(lay->face[s][p]);
            free(lay->shell_to[s]);
            free(lay->shell_from[s]);
        }
    }
    free(lat);
}

void layout_locate(const layout *lay, const int x[4], long *unit, int *lane)
{
    int in[4], place[4];
    for (int d = 0; d < 4; d++) {
        place[d] = x[d] / lay->sub[d];
        in[d] = x[d] % lay->sub[d];
    }
    *unit = unit_at(lay, in) + (layout_parity(lay, in) ? lay->odd_start : 0);
    *lane = lay->lane_number[((place[3] * lay->lane_grid[2] + place[2]) * lay->lane_grid[1] + place[1]) *
                                 lay->lane_grid[0] +
                             place[0]];
}
