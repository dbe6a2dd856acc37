/* Lattices on groups of ranks: one on some of the ranks beside one on all of them.
 *
 * What is compared are bits: sums, hops and halos of the lattice on the members alone against those of the whole, and
 * fields that were moved from one to the other and back. A rank outside a group holds the lattice with no sites, and
 * runs the same calls. */
#include "tests/kernels/kit.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/halo.h"
#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"
#include "kernels/run/exchange.h"
#include "kernels/run/redistribute.h"

static int bits_differ(double a, double b)
{
    return memcmp(&a, &b, sizeof a) != 0;
}

/* The first half of the ranks, or every second one; at least one. */
static comm_group *some_ranks(int every_second)
{
    const int r = comm_rank(), n = comm_size();
    return comm_group_create(comm_world(), n == 1 || (every_second ? r % 2 : r < n / 2));
}

static lattice *lattice_on(const comm_group *g, const int size[4], int reach, int any_extents)
{
    lattice_spec spec = {.group = g, .reach = reach, .time_sign = -1, .any_extents = any_extents};
    memcpy(spec.size, size, sizeof spec.size);
    return lattice_create_on(&spec);
}

/* ---- groups ---- */

static void check_groups(void)
{
    const int n = comm_size(), me = comm_rank();
    CHECK_INT(comm_group_size(comm_world()), n);
    CHECK_INT(comm_group_rank(comm_world()), me);
    CHECK_INT(comm_group_to_world(comm_self(), 0), me);
    comm_group *g = some_ranks(1);
    const int members = n == 1 ? 1 : n / 2, mine = comm_group_rank(g);
    CHECK_INT(comm_group_size(g), members);
    CHECK_INT(mine, n == 1 ? 0 : me % 2 ? me / 2 : -1);
    CHECK_INT(comm_group_from_world(g, me), mine);
    for (int r = 0; r < members; r++) CHECK_INT(comm_group_from_world(g, comm_group_to_world(g, r)), r);
    double most = me;
    comm_group_max(g, &most, 1);
    CHECK_INT(most, mine >= 0 ? comm_group_to_world(g, members - 1) : me);
    int from = me, all[64] = {0};
    comm_group_bcast(g, &from, sizeof from);
    CHECK_INT(from, mine >= 0 ? comm_group_to_world(g, 0) : me);
    comm_group_gather_all(g, &me, all, sizeof me);
    for (int r = 0; mine >= 0 && r < members; r++) CHECK_INT(all[r], comm_group_to_world(g, r));
    CHECK_INT(comm_group_all(g, mine != 0), mine < 0);
    comm_group_barrier(g);
    /* A group of a group, by members of the first alone. */
    if (mine >= 0) {
        comm_group *one = comm_group_create(g, mine == members - 1);
        CHECK_INT(comm_group_size(one), 1);
        CHECK_INT(comm_group_to_world(one, 0), comm_group_to_world(g, members - 1));
        comm_group_destroy(one);
    }
    comm_group_destroy(g);
}

/* ---- sums, hops, halos ---- */

/* Bits of a field on all ranks and of its copy on some: moved there, and back. */
static void check_moved(field *there, const field *here, const char *what)
{
    field *back = field_like(here);
    field_redistribute(there, here);
    field_redistribute(back, there);
    double *a = kit_gather(here), *b = kit_gather(there), *c = kit_gather(back);
    kit_where("%s in %s", what, kit_prec[here->prec]);
    KIT_CHECK(!memcmp(a, b, kit_reals(here) * sizeof *a));
    KIT_CHECK(!memcmp(a, c, kit_reals(here) * sizeof *a));
    free(a);
    free(b);
    free(c);
    field_destroy(back);
}

static void same_field(const field *a, const field *b)
{
    double *x = kit_gather(a), *y = kit_gather(b);
    KIT_CHECK(!memcmp(x, y, kit_reals(a) * sizeof *x));
    free(x);
    free(y);
}

/* Members find the bits of the whole; others nothing. */
static void same_sum(const lattice *part, double have, double want)
{
    KIT_CHECK(!bits_differ(have, comm_group_rank(part->group) >= 0 ? want : 0));
}

enum { SEED = 11, PURPOSE = 3 };

static field *random_vectors(const lattice *lat, field_kind kind, precision prec, int nrhs, uint32_t number)
{
    field *f = field_create(lat, kind, PREC_DOUBLE, lat->parities == 2 ? PARITY_BOTH : PARITY_EVEN, nrhs, kit_place);
    vector_random(f, SEED, PURPOSE, number);
    if (prec == PREC_DOUBLE) return f;
    field *g = kit_convert(f, kind, prec);
    field_destroy(f);
    return g;
}

static void check_wilson(const lattice *whole, const lattice *part, const double complex *u, precision prec)
{
    field *links = kit_links(whole, u),
          *links_there = field_create(part, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    field_redistribute(links_there, links);
    field *l = kit_convert(links, FIELD_LINKS, prec), *l_there = kit_convert(links_there, FIELD_LINKS, prec);
    field *x = random_vectors(whole, FIELD_SPINOR, prec, 1, 1), *y = field_like(x);
    field *x_there = field_create(part, FIELD_SPINOR, prec, PARITY_BOTH, 1, kit_place), *y_there = field_like(x_there);
    check_moved(x_there, x, "spinors");
    for (int p = 0; p < 2; p++) {
        wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = 1, .links = l};
        wilson_hop(y, (parity)p, x, &call);
        call.links = l_there;
        wilson_hop(y_there, (parity)p, x_there, &call);
    }
    kit_where("a hop in %s", kit_prec[prec]);
    same_field(y, y_there);
    same_sum(part, vector_norm2(y_there, 0), vector_norm2(y, 0));
    field *const all[] = {links, links_there, l, l_there, x, y, x_there, y_there};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
}

static void check_staggered(const lattice *whole, const lattice *part, const double complex *u, precision prec)
{
    enum { RHS = 2 };
    field *links = kit_links(whole, u);
    field *near = kit_convert(links, FIELD_LINKS, prec),
          *near_there = field_create(part, FIELD_LINKS, prec, PARITY_BOTH, 1, kit_place);
    check_moved(near_there, near, "links");
    field *x = random_vectors(whole, FIELD_VECTOR, prec, RHS, 2), *y = field_like(x);
    field *x_there = field_create(part, FIELD_VECTOR, prec, PARITY_BOTH, RHS, kit_place),
          *y_there = field_like(x_there);
    check_moved(x_there, x, "colour vectors");
    for (int p = 0; p < 2; p++) {
        staggered_call call = {.a = 1, .near = near, .far = near, .near_scale = 1, .far_scale = 1};
        staggered_hop(y, (parity)p, x, &call);
        call.near = call.far = near_there;
        staggered_hop(y_there, (parity)p, x_there, &call);
    }
    kit_where("a staggered hop in %s", kit_prec[prec]);
    same_field(y, y_there);
    for (int r = 0; r < RHS; r++) {
        double a[2], b[2];
        vector_dot(a, x, y, r);
        vector_dot(b, x_there, y_there, r);
        for (int k = 0; k < 2; k++) same_sum(part, b[k], a[k]);
    }
    field *const all[] = {links, near, near_there, x, y, x_there, y_there};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
}

/* Rectangles of links, whose ghosts have corners. */
static void check_halo(const lattice *whole, const lattice *part, const double complex *u)
{
    field *links = kit_links(whole, u),
          *there = field_create(part, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    field_redistribute(there, links);
    const gauge_loops a = gauge_measure(links, 1), b = gauge_measure(there, 1);
    kit_where("loops");
    if (comm_group_rank(part->group) >= 0) KIT_CHECK(!memcmp(&a, &b, sizeof a));
    field_destroy(links);
    field_destroy(there);
}

static void check_part(int every_second)
{
    const struct ref_lattice l = {{4, 4, 8, 8}};
    struct ref_rng rng;
    ref_rng_seed(&rng, 5);
    comm_group *g = some_ranks(every_second);
    lattice *whole = lattice_on(comm_world(), l.size, 3, 0), *part = lattice_on(g, l.size, 3, 0);
    CHECK_INT(part->local_volume > 0, comm_group_rank(g) >= 0);
    double complex *u = kit_random_gauge(l, 0, &rng);
    check_halo(whole, part, u);
    for (precision prec = PREC_DOUBLE; prec < PREC_COUNT; prec++) {
        check_wilson(whole, part, u, prec);
        check_staggered(whole, part, u, prec);
    }
    free(u);
    lattice_destroy(part);
    lattice_destroy(whole);
    comm_group_destroy(g);
}

/* ---- odd extents ---- */

static long global_site(const lattice *lat, const layout *lay, long u, int dir)
{
    long site = 0;
    for (int d = 3; d >= 0; d--) {
        const int step = dir / 2 != d ? 0 : dir % 2 ? -1 : 1, n = lat->size[d];
        site = site * n + (lat->origin[d] + lay->coord[0][4 * u + d] + (dir < 0 ? 0 : step) + n) % n;
    }
    return site;
}

/* Every site finds its neighbours, on the rank and, after an exchange of one number a site, on others. */
static void check_neighbours(const lattice *lat)
{
    const layout *lay = &lat->layouts[0];
    field *f = field_create(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_EVEN, 1, PLACE_HOST);
    exchange e;
    exchange_open(&e, f);
    for (int dir = 0; dir < 8; dir++)
        if (lay->g.split[dir / 2]) exchange_add(&e, dir, dir ^ 1, lay->nface[dir / 2], 1, 1);
    exchange_place(&e, 0);
    for (int i = 0; i < e.n; i++) {
        const int dir = e.parts[i].dir;
        for (long k = 0; k < lay->nface[dir / 2]; k++)
            ((double *)e.packed[i].data)[k] = (double)global_site(lat, lay, lay->face[dir][0][k], -1);
    }
    exchange_start(&e);
    exchange_wait(&e);
    for (long u = 0; u < lay->nunit; u++)
        for (int dir = 0; dir < 8; dir++) {
            const int32_t *entry = lay->stencil[0] + STENCIL_INTS * u, near = entry[8] >> (2 * dir) & 3;
            const long have = near == NEAR_GHOST ? (long)((double *)e.ghost[dir].data)[entry[dir]]
                                                 : global_site(lat, lay, entry[dir], -1);
            CHECK_INT(have, global_site(lat, lay, u, dir));
        }
    field_destroy(f);
}

/* All of a field on a lattice of this rank alone. */
static double *gather_alone(const field *f)
{
    const int *l = f->lat->local;
    const size_t slice = (size_t)l[0] * l[1] * l[2] * (size_t)(f->groups * f->reals);
    double *all = kit_alloc(kit_reals(f), sizeof *all);
    for (int t = 0; t < l[3]; t++) field_export(f, t, all + (size_t)t * slice);
    return all;
}

/* Vectors on it against those of this rank alone. */
static void check_odd(const int size[4])
{
    for (int whole = 0; whole < 2; whole++) {
        char message[512];
        comm_group *g = whole ? comm_group_create(comm_world(), 1) : some_ranks(0);
        const lattice_spec spec = {.size = {size[0], size[1], size[2], size[3]}, .reach = 1, .any_extents = 1};
        lattice *fits = plan_lattice_on(&spec, comm_group_size(g), message, sizeof message);
        if (fits) {
            lattice *lat = lattice_on(g, size, 1, 1), *alone = lattice_on(comm_self(), size, 1, 1);
            check_neighbours(lat);
            for (precision prec = PREC_DOUBLE; prec < PREC_COUNT; prec++) {
                field *x = random_vectors(lat, FIELD_SPINOR, prec, 1, 3),
                      *y = random_vectors(lat, FIELD_SPINOR, prec, 1, 4);
                field *mine = random_vectors(alone, FIELD_SPINOR, prec, 1, 3),
                      *other = random_vectors(alone, FIELD_SPINOR, prec, 1, 4);
                vector_axpby(y, 0.5, x, 2);
                vector_axpby(other, 0.5, mine, 2);
                kit_where("%d.%d.%d.%d on %d ranks in %s", size[0], size[1], size[2], size[3], comm_group_size(g),
                          kit_prec[prec]);
                same_sum(lat, vector_norm2(y, 0), vector_norm2(other, 0));
                double *a = kit_gather(y), *b = gather_alone(other);
                KIT_CHECK(!memcmp(a, b, kit_reals(y) * sizeof *a));
                free(a);
                free(b);
                field *const all[] = {x, y, mine, other};
                for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
            }
            lattice_destroy(alone);
            lattice_destroy(lat);
        }
        lattice_destroy(fits);
        comm_group_destroy(g);
    }
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    check_groups();
    for (int every_second = 0; every_second < 2; every_second++) check_part(every_second);
    static const int odd[][4] = {{3, 5, 6, 4}, {3, 3, 2, 2}, {1, 1, 4, 1}, {3, 5, 7, 1}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) check_odd(odd[i]);
    return kit_end();
}
