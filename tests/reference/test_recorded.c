/* The oracles against numbers that other codes recorded: loops, Wilson flow, pion correlator.
 *
 * Data files come from the folder in PLAQ_TEST_DATA, else from ../shared/data beside the source tree (PLAQ_SOURCE_DIR
 * is set by the build). Without them the exit status is 77: skipped. */
#include "tests/check.h"
#include "tests/reference/data.h"
#include "tests/reference/reference.h"

#include <stdlib.h>

static int data_present(void)
{
    FILE *f = fopen(data_path("lat.sample.l4448"), "rb");
    if (f) fclose(f);
    return f != NULL;
}

static double complex *links_of(struct ref_lattice *l, const char *name)
{
    double complex *u =
        strstr(name, "lat.") == name ? ref_read_milc(l, data_path(name)) : ref_read_nersc(l, data_path(name));
    if (!u) printf("cannot read %s\n", data_path(name));
    CHECK(u != NULL);
    return u;
}

static void test_recorded_loops(void)
{
    static const struct {
        const char *name;
        int size[4];
        double plaquette, link_trace, rectangle, tol; /* rectangle 0: not recorded */
    } file[] = {
        {"lat.sample.l8888", {8, 8, 8, 8}, 0.593560240433, -0.000645638620, 0.383470633687, 1e-12},
        {"lat.sample.l4444", {4, 4, 4, 4}, 0.594850158947, 0.646758737419, 0, 1e-12},
        {"lat.sample.l4448", {4, 4, 4, 8}, 0.569055724369, 0.069216590061, 0.350194842726, 1e-12},
        {"lat.sample.l4448.gf", {4, 4, 4, 8}, 0.569055725854, 0.751466183829, 0, 1e-12},
        {"lat.sample.l6666.hisq", {6, 6, 6, 6}, 0.616691003407, 0.168664636348, 0, 1e-12},
        {"lat.sample.inst", {4, 4, 4, 4}, 0.991009270758, 0.991627751151, 0, 1e-12},
        {"nersc.l8t4b3360", {8, 8, 8, 4}, 0.503866446950, 0.005406083858, 0.261209514718, 1e-12},
        {"chroma.t_nersc.cfg", {4, 4, 4, 4}, 0.038242289324, 0.463032209838, 0, 1e-12},
        {"quenched-8888-b6.0.nersc", {8, 8, 8, 8}, 0.592431699204, 0.003552633848, 0, 1e-12},
        /* the record is of the 64 bit file, this one is rounded to 32 bit */
        {"qlua.random-gauge.nersc", {4, 4, 4, 8}, 0.994764948926, 0.379317698946, 0, 1e-9},
    };
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        struct ref_lattice l;
        double complex *u = links_of(&l, file[k].name);
        if (!u) continue;
        for (int mu = 0; mu < 4; mu++) CHECK_INT(l.size[mu], file[k].size[mu]);
        CHECK_NEAR(ref_plaquette(l, u), file[k].plaquette, file[k].tol);
        CHECK_NEAR(ref_link_trace(l, u), file[k].link_trace, file[k].tol);
        if (file[k].rectangle != 0) CHECK_NEAR(ref_rectangle(l, u), file[k].rectangle, file[k].tol);
        CHECK_NEAR(ref_unitarity_error(u, 4 * ref_volume(l)), 0, 1e-6);
        free(u);
    }
}

/* The action with parallelograms of a single-precision run that prints its coefficients with seven digits. */
static void test_recorded_action(void)
{
    struct ref_lattice l;
    double complex *u = links_of(&l, "lat.sample.l6666.hisq");
    if (!u) return;
    CHECK_REL(ref_gauge_action(l, u, 7.4, 7.4 * -5.726649e-2, 7.4 * -1.073977e-3), 17937.2008064, 1e-7);
    free(u);
}

static void test_recorded_flow(void)
{
    struct ref_lattice l;
    double complex *u = links_of(&l, "lat.sample.l4448");
    if (!u) return;
    struct ref_energy e = ref_clover_energy(l, u, 1);
    CHECK_REL(e.e_t, 1.05787, 5e-6);
    CHECK_REL(e.e_s, 1.03094, 5e-6);
    CHECK_REL(e.q, 0.0955429, 1e-6);
    for (int k = 0; k < 5; k++) ref_flow_step(u, l, 0.1, 1);
    e = ref_clover_energy(l, u, 1);
    CHECK_REL(e.e_t, 0.152452, 4e-6);
    CHECK_REL(e.e_s, 0.125636, 4e-6);
    CHECK_REL(e.q, 0.00570391, 1e-6);
    free(u);
}

/* Wilson loops in space, recorded in single precision, of the orientation whose longer side is along the lower direction. */
static void test_recorded_wilson_loops(void)
{
    static const struct {
        int r, t;
        double loop;
    } record[] = {{1, 1, .99480065}, {1, 2, .99236448}, {1, 3, .98979902}, {2, 2, .99011973}, {3, 3, .98495476}};
    struct ref_lattice l;
    double complex *u = links_of(&l, "qlua.random-gauge.nersc");
    for (size_t k = 0; u && k < sizeof record / sizeof *record; k++) {
        double sum = 0;
        for (int mu = 1; mu < 3; mu++)
            for (int nu = 0; nu < mu; nu++)
                sum += ref_wilson_loop(l, u, (const int[]){0, mu == 1, mu == 2}, record[k].r, nu, record[k].t);
        CHECK_NEAR(sum / 3, record[k].loop, 1.5e-6);
    }
    free(u);
}

/* The record's source solved in single precision: its digits agree to 1e-6, one (t = 7) to 2.5e-6. */
static void test_recorded_pion(void)
{
    static const double record[8] = {0.695079542817612,   0.0371189179171885,  0.00801121181124138, 0.00306581890117901,
                                     0.00206155290575518, 0.00306324855903622, 0.00800190487584655, 0.0371177432075916};
    struct ref_lattice l;
    struct ref_wilson w;
    double c[8];
    double complex *u = links_of(&l, "qlua.random-gauge.nersc");
    if (!u) return;
    CHECK_INT(l.size[3], 8);
    ref_wilson_create(&w, l, u, 1 / (2 * 0.11) - 4, 0, -1);
    CHECK(ref_pion(c, &w, 1e-10, 1000) > 0);
    for (int t = 0; t < 8; t++) CHECK_REL(c[t], record[t], t == 7 ? 3e-6 : 1e-6);
    ref_wilson_destroy(&w);
    free(u);
}

int main(void)
{
    if (!data_present()) {
        printf("skipped: there is no %s (set PLAQ_TEST_DATA)\n", data_path("lat.sample.l4448"));
        return 77;
    }
    test_recorded_loops();
    test_recorded_action();
    test_recorded_flow();
    test_recorded_wilson_loops();
    test_recorded_pion();
    return CHECK_SUMMARY();
}
