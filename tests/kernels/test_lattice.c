/* The lattice: every map from sites to storage is a bijection, and every step leads where it should.
 *
 * Links are filled with the global coordinates of their site; a walk over the extended box, or a look at the stencil,
 * then says which site it reached, and that is compared with the periodic global lattice. All shapes, all layouts (lane
 * counts), all process grids of this number of ranks, reach 1 to 3. */
#include "tests/kernels/kit.h"

#include "kernels/lattice/lanes.h"
#include "kernels/ops/halo.h"
#include "kernels/run/exchange.h"

static int parity_of(const int x[4])
{
    return (x[0] + x[1] + x[2] + x[3]) & 1;
}

/* Global coordinates of what a unit and lane hold. */
static void place_of(int x[4], const layout *lay, int p, long unit, int lane)
{
    for (int d = 0; d < 4; d++) x[d] = lay->g.lane_origin[4 * lane + d] + lay->coord[p][4 * unit + d];
}

/* Each site of the rank has one unit and lane, all of them are taken, and the way back leads to the site. */
static void check_sites(const lattice *lat, const layout *lay)
{
    char *taken = kit_alloc((size_t)(2 * lay->odd_start * lay->lanes), 1);
    long wrong = 0, doubled = 0;
    for (long i = 0; i < lat->local_volume; i++) {
        long rest = i, unit;
        int x[4], back[4], lane;
        for (int d = 0; d < 4; d++, rest /= lat->local[d - 1]) x[d] = (int)(rest % lat->local[d]);
        layout_locate(lay, x, &unit, &lane);
        const int p = parity_of(x);
        const long u = unit - (p ? lay->odd_start : 0);
        if (u < 0 || u >= lay->nunit || lane < 0 || lane >= lay->lanes) {
            wrong++;
            continue;
        }
        doubled += taken[unit * lay->lanes + lane]++;
        place_of(back, lay, p, u, lane);
        for (int d = 0; d < 4; d++) wrong += back[d] != x[d] + lat->origin[d];
    }
    KIT_INT(wrong, 0);
    KIT_INT(doubled, 0);
    KIT_INT(2 * lay->nunit * lay->lanes, lat->local_volume);
    free(taken);
}

/* Where the lane of a neighbour is. */
static int turned(const layout *lay, int near, int dir, int lane)
{
    static const int power[4] = {1, 3, 9, 27};
    const int code = 40 + (dir % 2 ? -1 : 1) * power[dir / 2];
    const int turns = near == NEAR_TURNED ? 1 : near == NEAR_TURNED_TWICE ? 2 : 0;
    for (int k = 0; k < turns; k++) lane = lay->g.turn32[code * lay->lanes + lane];
    return lane;
}

static int is_ghost(const int32_t *table, long unit, int dir)
{
    return ((table[STENCIL_INTS * unit + 8] >> (2 * dir)) & 3) == NEAR_GHOST;
}

/* Neighbours so many steps away: within the rank, lanes turned; over split sides, the slice and the number in it. */
static void check_stencil(const lattice *lat, const layout *lay, int steps)
{
    long wrong = 0, edges = 0, listed = 0;
    for (int p = 0; p < 2; p++) {
        const int32_t *table = steps == 1 ? lay->stencil[p] : lay->far_stencil[p];
        for (long u = 0; u < lay->nunit; u++)
            for (int dir = 0; dir < 8; dir++) {
                const int d = dir / 2, step = dir % 2 ? -steps : steps;
                const int32_t *s = table + STENCIL_INTS * u;
                const int near = (s[8] >> (2 * dir)) & 3;
                for (int lane = 0; lane < lay->lanes; lane++) {
                    int x[4], y[4];
                    place_of(x, lay, p, u, lane);
                    if (near == NEAR_GHOST) {
                        /* A face lists its units as the neighbour across the opposite face does. */
                        const int opposite = lay->face[dir ^ 1][1 - p][s[dir]], slice = s[dir] / (int)lay->nface[d];
                        const int here = lay->coord[p][4 * u + d], there = lay->coord[1 - p][4 * opposite + d];
                        wrong += !lay->g.split[d] || slice >= steps;
                        place_of(y, lay, 1 - p, opposite, lane);
                        for (int e = 0; e < 4; e++) wrong += e != d && y[e] != x[e];
                        wrong += here + step != (step > 0 ? lay->sub[d] + slice : -1 - slice);
                        wrong += there != (step > 0 ? slice : lay->sub[d] - 1 - slice);
                        continue;
                    }
                    place_of(y, lay, 1 - p, s[dir], turned(lay, near, dir, lane));
                    x[d] = (x[d] + step + 2 * lat->size[d]) % lat->size[d];
                    for (int e = 0; e < 4; e++) wrong += y[e] != x[e];
                }
                edges += near == NEAR_GHOST;
            }
        const long outside = steps == 1 ? lay->nexterior[p] : lay->nfar_exterior[p];
        const long inside = steps == 1 ? lay->ninterior[p] : lay->nfar_interior[p];
        const int *exterior = steps == 1 ? lay->exterior[p] : lay->far_exterior[p];
        const int *interior = steps == 1 ? lay->interior[p] : lay->far_interior[p];
        KIT_INT(inside + outside, lay->nunit);
        for (int dir = 0; dir < 8; dir++) {
            for (long i = 0; i < outside; i++) listed += is_ghost(table, exterior[i], dir);
            for (long i = 0; i < inside; i++) wrong += is_ghost(table, interior[i], dir);
        }
    }
    for (int code = 0; code < 81 * lay->lanes; code++) wrong += lay->g.turn32[code] != lay->g.turn64[code];
    KIT_INT(wrong, 0);
    KIT_INT(listed, edges);
}

/* The fermion sign of a step in t is that of the time boundary where it crosses it, and 1 elsewhere. */
static void check_boundary(const lattice *lat, const layout *lay)
{
    long wrong = 0;
    for (int p = 0; p < 2; p++)
        for (long u = 0; u < lay->nunit; u++)
            for (int lane = 0; lane < lay->lanes; lane++) {
                int x[4];
                place_of(x, lay, p, u, lane);
                const int flags = lay->stencil[p][STENCIL_INTS * u + 8];
                const double up = flags & STENCIL_EDGE_UP ? lay->g.edge_double[lane] : 1;
                const double down = flags & STENCIL_EDGE_DOWN ? lay->g.edge_double[lay->lanes + lane] : 1;
                wrong += up != (x[3] == lat->size[3] - 1 ? lat->time_sign : 1);
                wrong += down != (x[3] == 0 ? lat->time_sign : 1);
                wrong += lay->g.edge_single[lane] != (float)lay->g.edge_double[lane];
            }
    KIT_INT(wrong, 0);
}

/* Links whose reals tell their site and direction: exact in every precision of up to 24 bits. */
static field *coordinates(const lattice *lat, precision prec)
{
    const struct ref_lattice l = {{lat->size[0], lat->size[1], lat->size[2], lat->size[3]}};
    double *array = kit_alloc((size_t)lat->volume * 72, sizeof *array);
    for (size_t i = 0; i < ref_volume(l); i++) {
        int x[4];
        ref_coordinates(x, l, i);
        for (int mu = 0; mu < 4; mu++)
            for (int c = 0; c < 18; c++)
                array[(4 * i + (size_t)mu) * 18 + (size_t)c] = c < 4 ? x[c] : c == 4 ? mu : 7 * mu + c;
    }
    field *f = kit_field(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, array);
    free(array);
    return f;
}

static double real_at(const field *f, long unit, int lane, int group, int c)
{
    const stored_field s = field_stored(f);
    const size_t i = stored_index(&s, unit, lane, group) + (size_t)stored_step(stored_order_of(&s), c);
    return f->prec == PREC_DOUBLE ? ((const double *)f->data)[i] : ((const float *)f->data)[i];
}

/* From every site, every displacement that links are asked for, through ext[] and turned lanes. */
static void check_walks(const lattice *lat, precision prec)
{
    field *f = coordinates(lat, prec);
    const layout *lay = f->lay;
    const geom *g = &lay->g;
    const int reach = lat->halo_depth, power[4] = {1, 3, 9, 27};
    halo_fill(f);
    long wrong = 0;
    for (int p = 0; p < 2; p++)
        for (long u = 0; u < lay->nunit; u++) {
            int step[4];
            for (step[0] = -reach; step[0] <= reach; step[0]++)
                for (step[1] = -reach; step[1] <= reach; step[1]++)
                    for (step[2] = -reach; step[2] <= reach; step[2]++)
                        for (step[3] = -reach; step[3] <= reach; step[3]++) {
                            if (reach == 2 && abs(step[0]) + abs(step[1]) + abs(step[2]) + abs(step[3]) > 4) continue;
                            int turn = 40;
                            long i = 0;
                            for (int d = 3; d >= 0; d--) {
                                int x = lay->coord[p][4 * u + d] + step[d];
                                if (g->split[d]) {
                                    x += g->depth;
                                } else if (x >= g->sub[d]) {
                                    x -= g->sub[d];
                                    turn += g->lane_grid[d] > 1 ? power[d] : 0;
                                } else if (x < 0) {
                                    x += g->sub[d];
                                    turn -= g->lane_grid[d] > 1 ? power[d] : 0;
                                }
                                i = i * g->ext_size[d] + x;
                            }
                            for (int lane = 0; lane < lay->lanes; lane++) {
                                const int from = g->turn32[turn * lay->lanes + lane], mu = (int)((u + lane) & 3);
                                int x[4];
                                place_of(x, lay, p, u, lane);
                                for (int d = 0; d < 4; d++) {
                                    x[d] = (x[d] + step[d] + lat->size[d]) % lat->size[d];
                                    wrong += real_at(f, g->ext[i], from, mu, d) != x[d];
                                }
                                wrong += real_at(f, g->ext[i], from, mu, 4) != mu;
                                wrong += real_at(f, g->ext[i], from, mu, 17) != 7 * mu + 17;
                            }
                        }
        }
    KIT_INT(wrong, 0);
    field_destroy(f);
}

/* One parity of links shares the memory of both: it reads, is copied and is cleared as a field of its own. */
static void check_parts(const lattice *lat, precision prec)
{
    const struct ref_lattice l = {{lat->size[0], lat->size[1], lat->size[2], lat->size[3]}};
    field *f = coordinates(lat, prec);
    double *whole = kit_gather(f);
    for (int p = 0; p < 2; p++) {
        field part = field_part(f, (parity)p);
        field *copy = field_create(lat, FIELD_LINKS, prec, (parity)p, 1, PLACE_HOST), *other = field_like(f);
        field_copy(copy, &part);
        double *of_part = kit_gather(&part), *of_copy = kit_gather(copy), worst = 0;
        for (size_t i = 0; i < ref_volume(l); i++) {
            int x[4];
            ref_coordinates(x, l, i);
            const int here = ((x[0] + x[1] + x[2] + x[3]) & 1) == p;
            for (size_t c = 72 * i; c < 72 * (i + 1); c++) {
                worst = fmax(worst, fabs(of_part[c] - (here ? whole[c] : 0)));
                worst = fmax(worst, fabs(of_copy[c] - of_part[c]));
            }
        }
        KIT_NEAR(worst, 0, 0);
        field_copy(other, f);
        field there = field_part(other, (parity)p);
        field_clear(&there);
        field_copy(&there, copy);
        double *again = kit_gather(other);
        KIT_NEAR(kit_distance(again, whole, kit_reals(f)), 0, 0);
        field_clear(&there);
        double *half = kit_gather(other);
        for (size_t i = 0; i < kit_reals(f); i++) worst = fmax(worst, fabs(half[i] - (whole[i] - of_part[i])));
        KIT_NEAR(worst, 0, 0);
        free(half);
        free(again);
        free(of_copy);
        free(of_part);
        field_destroy(other);
        field_destroy(copy);
    }
    free(whole);
    field_destroy(f);
}

static void test_maps(void)
{
    for (int k = 0; k < KIT_SHAPES; k++) {
        int grids[64][4];
        const int n = kit_grids(kit_shapes[k], grids, 64);
        for (int i = 0; i < n; i++)
            for (int reach = 1; reach <= 3; reach++) {
                int thin = 0;
                for (int d = 0; d < 4; d++) thin |= grids[i][d] > 1 && kit_shapes[k].size[d] / grids[i][d] < 4;
                if (reach == 3 && thin) continue;
                lattice *lat = lattice_create(kit_shapes[k].size, grids[i], reach, reach == 1 ? 1 : -1);
                for (int j = 0; j < lat->nlayout; j++) {
                    kit_where("shape %d, grid %d.%d.%d.%d, reach %d, %d lanes", k, grids[i][0], grids[i][1],
                              grids[i][2], grids[i][3], reach, lat->layouts[j].lanes);
                    check_sites(lat, &lat->layouts[j]);
                    check_stencil(lat, &lat->layouts[j], 1);
                    if (reach == 3) check_stencil(lat, &lat->layouts[j], 3);
                    check_boundary(lat, &lat->layouts[j]);
                }
                if (lat->volume <= 2000) {
                    check_walks(lat, PREC_DOUBLE);
                    check_walks(lat, PREC_SINGLE);
                    check_parts(lat, PREC_DOUBLE);
                    check_parts(lat, PREC_SINGLE);
                }
                lattice_destroy(lat);
            }
    }
}

/* Fields have the most lanes that the box of a rank admits, no less than a quarter of a full vector and no less than 16
 * bytes of them, or one. */
static void test_lanes(void)
{
    static const int admitted[] = {16, 8, 16, 8, 4, 2, 16}; /* by kit_shapes, and those powers of two that are less */
    _Static_assert(sizeof admitted / sizeof *admitted == KIT_SHAPES, "lanes of every shape");
    for (int k = 0; k < KIT_SHAPES; k++) {
        lattice *lat = lattice_create_alone(kit_shapes[k].size, 1);
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            const int full = prec == PREC_DOUBLE ? LANES_DOUBLE : LANES_SINGLE;
            int lanes = full;
            while (lanes > admitted[k]) lanes /= 2;
            if (lanes < full / 4 || lanes * (prec == PREC_DOUBLE ? 8 : 4) < 16 || !test_simd) lanes = 1;
            kit_where("shape %d, %s", k, kit_prec[prec]);
            KIT_INT(field_lanes(lat, (precision)prec), lanes);
        }
        lattice_destroy(lat);
    }
}

/* Ghosts follow a change of the field, and only a change. */
static void test_versions(void)
{
    lattice *lat = kit_lattice(kit_shapes[2], 1, 1);
    if (!lat) return;
    field *f = coordinates(lat, PREC_DOUBLE), *g = coordinates(lat, PREC_DOUBLE);
    double before, after, seconds;
    halo_fill(f);
    exchange_counted(&before, &seconds);
    halo_fill(f);
    exchange_counted(&after, &seconds);
    CHECK_NEAR(after, before, 0);
    const unsigned long version = f->version;
    field_copy(f, g);
    CHECK(f->version != version);
    halo_fill(f);
    exchange_counted(&after, &seconds);
    CHECK(comm_size() == 1 || after > before);
    field_out(f, PARITY_ODD);
    CHECK(f->version != f->ghost_version);
    field_destroy(f);
    field_destroy(g);
    lattice_destroy(lat);
}

/* ---- the choice of a grid, and impossible ones ---- */

static void test_grid(void)
{
    int g[4];
    const int even[4] = {8, 8, 8, 16}, flat[4] = {2, 2, 2, 2}, three[4] = {6, 4, 4, 4};
    CHECK_INT(lattice_choose_grid(even, 1, g), 1);
    CHECK_INT(g[0] * g[1] * g[2] * g[3], 1);
    CHECK_INT(lattice_choose_grid(even, 2, g), 1);
    CHECK_INT(g[3], 2); /* the cut across the long direction is the smallest */
    CHECK_INT(lattice_choose_grid(flat, 2, g), 0);
    CHECK_INT(lattice_choose_grid(three, 3, g), 1);
    CHECK_INT(g[0], 3);
    CHECK_INT(lattice_choose_grid(three, 5, g), 0);
    for (int ranks = 1; ranks <= 128; ranks *= 2) {
        CHECK_INT(lattice_choose_grid(even, ranks, g), 1);
        CHECK_INT(g[0] * g[1] * g[2] * g[3], ranks);
        for (int d = 0; d < 4; d++) CHECK_INT(even[d] % (2 * g[d]), 0);
    }
}

struct request {
    int size[4], grid[4], reach;
};

static void create(void *arg)
{
    const struct request *r = arg;
    lattice_create(r->size, r->grid, r->reach, 1);
}

static void test_errors(void)
{
    struct request odd = {{4, 5, 4, 4}, {0}, 1}, none = {{4, 4, 0, 4}, {0}, 1}, grid = {{4, 4, 4, 4}, {7, 1, 1, 1}, 1};
    struct request thin = {{2, 8, 8, 8}, {comm_size(), 1, 1, 1}, 1};
    CHECK_USER_ERROR(create, &odd, "5");
    CHECK_USER_ERROR(create, &none, "direction z");
    CHECK_USER_ERROR(create, &grid, "7.1.1.1");
    if (comm_size() > 1) {
        struct request tiny = {{2, 2, 2, 2}, {0}, 1},
                       short_box = {{2 * comm_size(), 8, 8, 8}, {comm_size(), 1, 1, 1}, 3};
        CHECK_USER_ERROR(create, &tiny, "2.2.2.2");
        CHECK_USER_ERROR(create, &thin, "even extents");
        CHECK_USER_ERROR(create, &short_box, "at least 4");
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_grid();
    test_errors();
    test_maps();
    test_lanes();
    test_versions();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
