/* The GPU against the CPU, as in test_gpu.c: the kernels of staggered quarks. Links projected to U(3) agree to 1e-10,
 * because angles are those of two libraries and square roots of small eigenvalues lose four digits; what follows from
 * them, to a little more. */
#include "kernels/ops/gauge.h"
#include "kernels/ops/staggered.h"
#include "tests/gpu/places.h"

static void test_staggered_links(field *links[2])
{
    static const staggered_paths paths = {0.6, 0.07, 0.016, 0.0025, -0.06};
    field *f[2];
    double undefined[2], guarded[2];
    for (int i = 0; i < 2; i++) f[i] = field_like(links[i]);
    field *back[2];
    back[0] = field_like(links[0]);
    fill(back[0], 36); /* what is there is added to, or does not count */
    back[1] = on_device(back[0]);
    for (int g = LINKS_GENERAL; g <= LINKS_SPECIAL; g++) {
        for (int i = 0; i < 2; i++) {
            staggered_fatten(f[i], links[i], (links_group)g, &paths);
            staggered_fatten_back(back[i], g == LINKS_SPECIAL, links[i], (links_group)g, f[i], &paths);
        }
        check_same("fat links", f[1], f[0], EXACT);
        check_same("derivative of fat links", back[1], back[0], EXACT);
    }
    for (int i = 0; i < 2; i++) field_destroy(back[i]);
    for (int i = 0; i < 2; i++) staggered_phases(f[i], 3);
    check_same("phases", f[1], f[0], EXACT);
    for (int i = 0; i < 2; i++) guarded[i] = staggered_unitarise(f[i], f[i], &undefined[i]);
    check_same("projected links", f[1], f[0], 1e-10);
    check_value("slowly projected links", guarded[1], guarded[0], EXACT);
    check_value("links without projection", undefined[1], undefined[0], EXACT);
    field *phases[2];
    for (int i = 0; i < 2; i++) {
        phases[i] = field_create(links[0]->lat, FIELD_PHASES, PREC_DOUBLE, PARITY_BOTH, 1, links[i]->where);
        staggered_link_phases(phases[i], f[i]);
    }
    check_same("phases of determinants", phases[1], phases[0], 1e-9);
    for (int i = 0; i < 2; i++) staggered_link_specials(f[i], phases[i]);
    check_same("links of determinant one", f[1], f[0], 1e-9);
    for (int i = 0; i < 2; i++) field_destroy(phases[i]);
    for (int i = 0; i < 2; i++) staggered_lengthen(f[i], links[i], -0.04);
    check_same("long links", f[1], f[0], EXACT);
    for (int i = 0; i < 2; i++) staggered_scale(f[i], 0.3, f[i]);
    check_same("scaled links", f[1], f[0], EXACT);
    for (int i = 0; i < 2; i++) field_destroy(f[i]);
}

/* From vectors to momenta, with long links where the lattice reaches that far. */
static void test_derivatives(field *const links[2])
{
    enum { VECTORS = 3 };
    const lattice *lat = links[0]->lat;
    const double weights[VECTORS] = {0.4, -0.3, 1.2};
    field *z[2], *near[2], *far[2], *extra[2], *w[2], *momenta[2];
    double undefined[2], filtered[2];
    z[0] = field_create(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, VECTORS, PLACE_HOST);
    fill(z[0], 35);
    z[1] = on_device(z[0]);
    for (int i = 0; i < 2; i++) {
        field **const made[] = {&near[i], &far[i], &extra[i], &w[i]};
        for (int k = 0; k < 4; k++) *made[k] = field_like(links[i]);
        momenta[i] = like_of(links[i], FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH);
        const staggered_outer_call call = {.first = PARITY_ODD,
                                           .near = near[i],
                                           .far = far[i],
                                           .extra = extra[i],
                                           .far_factor = -0.04,
                                           .extra_factor = 0.3};
        staggered_outer(&call, z[i], weights);
    }
    check_same("outer products", near[1], near[0], EXACT);
    check_same("outer products over three sites", far[1], far[0], EXACT);
    check_same("outer products of an extra weight", extra[1], extra[0], EXACT);
    for (int i = 0; i < 2; i++) staggered_lengthen_back(near[i], links[i], far[i], 0.7);
    check_same("derivative of long links", near[1], near[0], EXACT);
    for (int i = 0; i < 2; i++) staggered_unitarise(w[i], far[i], &undefined[i]);
    field_copy(w[1], w[0]); /* the same bits again */
    for (int i = 0; i < 2; i++) filtered[i] = staggered_unitarise_back(near[i], w[i], far[i], 1e-3);
    check_same("derivative of the projection", near[1], near[0], 1e-9);
    check_value("filtered links", filtered[1], filtered[0], EXACT);
    field_copy(near[1], near[0]);
    for (int i = 0; i < 2; i++) staggered_momenta_add(momenta[i], links[i], near[i]);
    check_same("force of staggered quarks", momenta[1], momenta[0], EXACT);
    for (int i = 0; i < 2; i++) {
        field *all[] = {z[i], near[i], far[i], extra[i], w[i], momenta[i]};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) field_destroy(all[k]);
    }
}

/* Long links of so many reals, 0 for naive ones. Of phases the device takes its own sine and cosine in fixed point, so
 * that a number may be rounded the other way; so it does with roots and quotients, which long links of 9 reals need:
 * those of random numbers, which are no links, amplify that. */
static void test_staggered_hop(const lattice *lat, precision prec, int nrhs, int reals)
{
    const field_kind kind = reals == 9 ? FIELD_LINKS_EIGHT : reals == 13 ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
    const double tolerance = reals % 18 == 0 || prec <= PREC_SINGLE ? EXACT : prec == PREC_HALF ? 1e-4 : 1.6e-2;
    char name[64];
    snprintf(name, sizeof name, "staggered hop, long links of %d reals", reals);
    field *near[2], *far[2] = {NULL, NULL}, *phases[2] = {NULL, NULL}, *x[2], *y[2];
    near[0] = field_create(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, PLACE_HOST);
    fill(near[0], 31);
    near[1] = on_device(near[0]);
    if (reals) {
        far[0] = field_create(lat, kind, prec, PARITY_BOTH, 1, PLACE_HOST);
        fill(far[0], 32);
        far[1] = on_device(far[0]);
    }
    if (kind != FIELD_LINKS) {
        phases[0] = field_create(lat, FIELD_PHASES, prec, PARITY_BOTH, 1, PLACE_HOST);
        fill(phases[0], 34);
        phases[1] = on_device(phases[0]);
    }
    x[0] = field_create(lat, FIELD_VECTOR, prec, PARITY_BOTH, nrhs, PLACE_HOST);
    fill(x[0], 33);
    x[1] = on_device(x[0]);
    for (int i = 0; i < 2; i++) y[i] = field_like(x[i]);
    for (int adds = 0; adds < 2; adds++) {
        for (int i = 0; i < 2; i++) {
            const staggered_call call = {0.7, adds ? -0.4 : 0, near[i], far[i], phases[i], 2, 0.0625, x[i]};
            for (int p = 0; p < 2; p++) staggered_hop(y[i], (parity)p, x[i], &call);
        }
        check_same(name, y[1], y[0], tolerance);
    }
    for (int mu = 0; mu < 4 && prec == PREC_DOUBLE; mu++) {
        for (int i = 0; i < 2; i++) {
            const staggered_shift_call call = {.mu = mu,
                                               .back = mu % 2 ? 1 : -1,
                                               .odd = 3 * mu + 1,
                                               .near = near[i],
                                               .far = far[i],
                                               .near_weight = 0.5,
                                               .far_weight = 1.5,
                                               .far_phases = phases[i],
                                               .far_scale = 2};
            staggered_shift(y[i], x[i], &call);
        }
        check_same("staggered shift", y[1], y[0], EXACT);
    }
    for (int i = 0; i < 2; i++) {
        field_destroy(near[i]);
        field_destroy(far[i]);
        field_destroy(phases[i]);
        field_destroy(x[i]);
        field_destroy(y[i]);
    }
}

/* On a lattice with a reach of 3. */
static void test_staggered(const int size[4], const int grid[4], int time_sign)
{
    int thin;
    if (!fits_grid(size, grid, &thin) || thin) return;
    lattice *lat = lattice_create(size, grid, 3, time_sign);
    field *links[2];
    links[0] = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    gauge_random(links[0], 5, 6, 7);
    links[1] = on_device(links[0]);
    snprintf(where, sizeof where, "staggered links on %d.%d.%d.%d", size[0], size[1], size[2], size[3]);
    test_staggered_links(links);
    test_derivatives(links);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 4; k++) {
                static const int reals[] = {0, 18, 13, 9}, right_hand_sides[] = {1, 6, 8};
                const int nrhs = right_hand_sides[i]; /* 6: three parts of two; 8: two of four */
                snprintf(where, sizeof where, "%d.%d.%d.%d on %d.%d.%d.%d, %s, %d right-hand sides", size[0], size[1],
                         size[2], size[3], grid[0], grid[1], grid[2], grid[3], prec_name[prec], nrhs);
                test_staggered_hop(lat, (precision)prec, nrhs, reals[k]);
            }
    field_destroy(links[0]);
    field_destroy(links[1]);
    lattice_destroy(lat);
}

/* Boxes of sites are swept here in several columns of several boxes each. */
static const int columns[4] = {8, 64, 16, 4};

static void test_columns(const int grid[4], const int size[4])
{
    lattice *lat = lattice_create(size, grid, 3, -1);
    field *links[2];
    links[0] = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    gauge_random(links[0], 9, 1, 3);
    links[1] = on_device(links[0]);
    snprintf(where, sizeof where, "staggered links on %d.%d.%d.%d", size[0], size[1], size[2], size[3]);
    test_staggered_links(links);
    test_staggered_hop(lat, PREC_DOUBLE, 16, 18);
    field_destroy(links[0]);
    field_destroy(links[1]);
    lattice_destroy(lat);
}

/* A call that finds trials to make is one call in the profile, and so is the next. */
static void test_trials_in_profile(const int size[4], const int grid[4])
{
    lattice *lat = lattice_create(size, grid, 3, -1);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_DEVICE), *out = field_like(links);
    gauge_cold(links);
    kernel_counts_reset();
    for (int calls = 2; calls <= 4; calls += 2) {
        staggered_lengthen(out, links, 1);
        CHECK_INT(kernel_counted(KERNEL_long_links, PREC_DOUBLE).calls, calls);
    }
    CHECK(tune_spent() > 0);
    field_destroy(out);
    field_destroy(links);
    lattice_destroy(lat);
}

/* Every shape of blocks. */
static void test_ways(const int grid[4])
{
    static const int size[4] = {8, 8, 8, 16}; /* for four ranks along t, too */
    static const char *const tuned[] = {"\nstaples ", "\nstaples_core ", "\nstaples_sum ", "\nlong_links ",
                                        "\nlong_back "};
    take_peer();
    tune_start(TUNE_MEASURE, "a GPU");
    test_trials_in_profile(size, grid);
    test_staggered(size, grid, -1);
    if (comm_size() == 1) test_columns(grid, columns);
    char *text = tune_text();
    for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++) CHECK_HAS(text, tuned[i]);
    /* Hops of a rank with faces go by lists, which have no boxes. */
    CHECK(!text || !strstr(text, "\nstaggered_hop ") == (comm_size() > 1));
    for (int way = 0; text && way < gpu_shape_count(); way++) {
        take_way(text, way, 1);
        test_staggered(size, grid, -1);
        if (comm_size() == 1) test_columns(grid, columns);
    }
    free(text);
    tune_start(TUNE_ESTIMATE, "");
    test_take_transport();
}

static void test_more(const int grid[4])
{
    /* Boxes that threads do not fill, one a block and several; enough of them for blocks that do whole lines. On several
     * ranks, where lines are open or closed, pieces of them and whole ones. */
    static const int more[][4] = {{32, 6, 4, 10}, {12, 28, 12, 12}, {36, 8, 12, 4}, {32, 32, 24, 4}};
    static const int pieces[4] = {16, 16, 16, 8}, lines[4] = {32, 32, 16, 4};
    if (comm_size() == 1) {
        test_columns(grid, columns);
        for (int i = 0; i < 4; i++) test_columns(grid, more[i]);
    } else {
        const int *of_rank = grid[0] == comm_size() ? lines : pieces;
        const int size[4] = {grid[0] * of_rank[0], grid[1] * of_rank[1], grid[2] * of_rank[2], grid[3] * of_rank[3]};
        test_columns(grid, size);
    }
    if (grid[3] == comm_size()) test_ways(grid);
}

int main(int argc, char **argv)
{
    return places_main(argc, argv, test_staggered, test_more);
}
