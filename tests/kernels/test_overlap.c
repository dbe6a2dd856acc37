/* Blocks that overlap: on every site of the extended blocks overlap_gather() leaves the bits that the lattice has
 * there, vectors beyond the antiperiodic edge with the other sign; overlap_keep() brings back each block's own sites,
 * and overlap_place() brings them there; in every precision, of every kind, for every process grid; the lists of sites take the memory that is foretold. What
 * does not fit is refused by name. */
#include "tests/kernels/kit.h"

#include "kernels/base/pool.h"
#include "kernels/ops/overlap.h"

#define MAX_GRIDS 16
#define MOST_SITES 20000

static int wrap(int x, int n)
{
    return ((x % n) + n) % n;
}

/* Numbers that no two places share; small enough for fixed point without a scale. */
static field *numbered(const lattice *lat, field_kind kind, precision prec, parity p)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 81);
    const size_t n = (size_t)lat->volume * (size_t)(field_kinds[kind].groups * field_kinds[kind].reals);
    double *a = kit_normals(n, &rng);
    for (size_t i = 0; i < n; i++) a[i] = sin(a[i]);
    field *f = kit_field(lat, kind, prec, p, 1, a);
    free(a);
    return f;
}

typedef struct {
    const lattice *lat;
    const overlap *o;
    int size[4], reach[4], extent[4];
} blocked;

/* The largest difference between what the extended blocks hold and the lattice. */
static double compare(const blocked *b, const field *own, const double *global, int signs)
{
    const lattice *lat = b->lat, *w = own->lat;
    const int reals = own->groups * own->reals;
    double *slice = field_slice_buffer(own), worst = 0;
    for (int t = 0; t < w->local[3]; t++) {
        memset(slice, 0, (size_t)w->local[0] * w->local[1] * w->local[2] * (size_t)reals * sizeof *slice);
        field_export(own, t, slice);
        for (int i = 0; i < w->local[0] * w->local[1] * w->local[2]; i++) {
            const int y[4] = {i % w->local[0], i / w->local[0] % w->local[1], i / w->local[0] / w->local[1], t};
            int x[4], sign = 1;
            for (int d = 0; d < 4; d++) {
                const int at = lat->origin[d] + y[d] / b->extent[d] * b->size[d] + y[d] % b->extent[d] - b->reach[d];
                x[d] = wrap(at, lat->size[d]);
                if (d == 3 && x[d] != at) sign = signs ? lat->time_sign : 1;
            }
            const size_t site = (size_t)x[0] + (size_t)lat->size[0] *
                                                   (x[1] + (size_t)lat->size[1] * (x[2] + (size_t)lat->size[2] * x[3]));
            for (int k = 0; k < reals; k++)
                worst = fmax(worst, fabs(slice[(size_t)i * reals + k] - sign * global[site * (size_t)reals + k]));
        }
    }
    free(slice);
    return worst;
}

/* Numbers of this rank that are not zero. */
static long count_numbers(const field *f)
{
    const size_t n = (size_t)(f->lat->local_volume / f->lat->local[3]) * (size_t)(f->groups * f->reals);
    double *slice = field_slice_buffer(f);
    long count = 0;
    for (int t = 0; t < f->lat->local[3]; t++) {
        memset(slice, 0, n * sizeof *slice);
        field_export(f, t, slice);
        for (size_t i = 0; i < n; i++) count += slice[i] != 0;
    }
    free(slice);
    return count;
}

static void check_kind(const blocked *b, field_kind kind, precision prec, parity p)
{
    field *f = numbered(b->lat, kind, prec, p), *back = field_like(f);
    field *own = field_create(overlap_lattice(b->o), kind, prec, overlap_parity(b->o, p), 1, kit_place);
    const unsigned long version = own->version;
    overlap_gather(b->o, own, f);
    KIT_CHECK(own->version != version);
    double *global = kit_gather(f);
    KIT_CHECK(kit_largest(global, kit_reals(f)) > 0.5);
    KIT_NEAR(compare(b, own, global, kind == FIELD_SPINOR), 0, 0);
    overlap_keep(b->o, back, own);
    double *kept = kit_gather(back);
    KIT_NEAR(kit_distance(kept, global, kit_reals(f)), 0, 0);
    /* The way back changes no site that has the same already, and beside own sites none. */
    field *placed = field_like(own);
    overlap_place(b->o, own, f);
    KIT_NEAR(compare(b, own, global, kind == FIELD_SPINOR), 0, 0);
    overlap_place(b->o, placed, f);
    KIT_INT(count_numbers(placed), count_numbers(f));
    field_clear(back);
    overlap_keep(b->o, back, placed);
    free(kept);
    kept = kit_gather(back);
    KIT_NEAR(kit_distance(kept, global, kit_reals(f)), 0, 0);
    field_destroy(placed);
    free(kept);
    free(global);
    field_destroy(own);
    field_destroy(back);
    field_destroy(f);
}

static void check_blocks(const lattice *lat, const int size[4], int sites)
{
    char message[512];
    blocked b = {.lat = lat};
    int all[4];
    if (!overlap_fit(lat, size, sites, message, sizeof message)) return;
    overlap_extents(lat, size, sites, b.extent, all);
    if ((long)all[0] * all[1] * all[2] * all[3] > MOST_SITES) return;
    for (int d = 0; d < 4; d++) {
        b.size[d] = size[d] ? size[d] : lat->local[d];
        b.reach[d] = (b.extent[d] - b.size[d]) / 2;
        CHECK_INT(b.reach[d], b.size[d] < lat->size[d] ? sites : 0);
    }
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        const size_t before = pool_in_use((int)kit_place);
        overlap *o = overlap_create(lat, size, sites, (precision)prec, kit_place);
        const size_t lists = pool_in_use((int)kit_place) - before;
        b.o = o;
        kit_where("blocks of %d.%d.%d.%d and %d more, %s", b.size[0], b.size[1], b.size[2], b.size[3], sites,
                  kit_prec[prec]);
        /* Beside up to 128 bytes of padding for each of the lists: four, and four for each of at most 16 partners. */
        const size_t predicted = overlap_list_bytes(lat, size, sites), slack = comm_size() > 1 ? 68 * 128 : 4 * 128;
        KIT_CHECK(lists >= predicted && lists <= predicted + slack);
        check_kind(&b, FIELD_SPINOR, (precision)prec, PARITY_EVEN);
        check_kind(&b, FIELD_SPINOR, (precision)prec, PARITY_ODD);
        check_kind(&b, FIELD_LINKS_TWO_ROWS, (precision)prec, PARITY_BOTH);
        check_kind(&b, FIELD_CLOVER, (precision)prec, prec % 2 ? PARITY_ODD : PARITY_BOTH);
        overlap_destroy(o);
    }
}

static void test_moves(struct ref_lattice l, int time_sign)
{
    static const int sizes[][4] = {{0, 0, 0, 0}, {2, 2, 2, 2}, {4, 4, 2, 2}};
    int grids[MAX_GRIDS][4];
    const int n = kit_grids(l, grids, MAX_GRIDS);
    for (int i = 0; i < n; i++) {
        lattice *lat = lattice_create(l.size, grids[i], 1, time_sign);
        for (int s = 0; s < 3; s++)
            for (int sites = 1; sites <= 3; sites++) {
                int size[4];
                for (int d = 0; d < 4; d++) size[d] = sizes[s][d] && lat->local[d] % sizes[s][d] ? 2 : sizes[s][d];
                check_blocks(lat, size, sites);
            }
        lattice_destroy(lat);
    }
}

static void test_refusal(void)
{
    char message[512] = "";
    static const int one[4] = {1, 1, 1, 1};
    lattice *plan = plan_lattice((const int[4]){8, 8, 8, 16}, one, 1, 1, message, sizeof message);
    CHECK(overlap_fit(plan, (const int[4]){4, 4, 4, 4}, 0, message, sizeof message));
    CHECK(overlap_fit(plan, (const int[4]){4, 4, 4, 4}, 2, message, sizeof message));
    CHECK(overlap_fit(plan, (const int[4]){0, 0, 0, 0}, 0, message, sizeof message));
    CHECK(overlap_fit(plan, (const int[4]){8, 8, 8, 4}, 6, message, sizeof message));
    CHECK(!overlap_fit(plan, (const int[4]){4, 4, 4, 4}, 3, message, sizeof message));
    CHECK_HAS(message, "blocks of 4 sites, continued by 3 on either side, are longer than the 8 sites");
    CHECK_HAS(message, "direction x; the overlap may be 0 to 2");
    CHECK(!overlap_fit(plan, (const int[4]){0, 0, 0, 0}, 1, message, sizeof message));
    CHECK_HAS(message, "a block of 8.8.8.16 sites is the whole lattice");
    lattice_destroy(plan);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int s = 0; s < KIT_SHAPES - 1; s++) test_moves(kit_shapes[s], s == 1 ? 1 : -1);
    test_refusal();
    return kit_end();
}
