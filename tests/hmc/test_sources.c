/* Sources and propagators of the input.
 *
 * Theorems: a source has the values of its kind at every site, whatever the grid; numbers of noise have modulus one, are those
 * of their seed and number alone, and of two sites or two numbers do not depend on each other; a propagator from a wave is the
 * sum over points with the phases of the wave, as an oracle solves it; measurements of one store share solves, and have the
 * values that they have alone; columns are freed when no measurement that is due names them; walls at the sink are sums
 * over time slices. */
#include "hmc/measure/propagator.h"
#include "tests/hmc/observe.h"
#include "kernels/lattice/comm.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{4, 2, 4, 6}};

/* The source in a component, on the whole lattice: [site][12], of the sites of this rank; zero elsewhere. */
static double complex *values_of(const lattice *lat, int component, uint64_t seed)
{
    field *b = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    source_fill(b, &the_parameters.sources[0].p, component, seed);
    double complex *all = kit_alloc(12 * ref_volume(shape), sizeof *all);
    memset(all, 0, 12 * ref_volume(shape) * sizeof *all);
    double *slice = field_slice_buffer(b);
    const int *l = lat->local, *o = lat->origin;
    for (int t = 0; t < l[3]; t++) {
        field_export(b, t, slice);
        for (int i = 0; i < l[0] * l[1] * l[2]; i++) {
            const int x[4] = {i % l[0] + o[0], i / l[0] % l[1] + o[1], i / l[0] / l[1] + o[2], t + o[3]};
            memcpy(all + 12 * ref_site(shape, x), slice + 24 * i, 24 * sizeof *slice);
        }
    }
    free(slice);
    field_destroy(b);
    return all;
}

typedef double complex formula(const int x[4]);

static double complex at_point(const int x[4])
{
    return x[0] == 3 && x[1] == 1 && x[2] == 2 && x[3] == 5;
}

static double complex on_corners(const int x[4])
{
    return x[0] % 2 == 1 && x[1] == 1 && x[2] % 2 == 0 && x[3] == 5;
}

static double complex in_box(const int x[4])
{
    return (x[0] == 3 || x[0] == 0) && x[1] == 0 && x[2] > 0 && x[3] == 2;
}

static double complex in_wave(const int x[4])
{
    return x[3] == 2 ? cexp(2 * M_PI * I * (x[0] / 4. - x[1] / 2. + 2 * x[2] / 4.)) : 0;
}

static double complex on_wall(const int x[4])
{
    return x[3] == 2;
}

static void check_values(const lattice *lat, formula *f, const char *what)
{
    const int component = 7;
    double complex *have = values_of(lat, component, 1);
    for (size_t i = 0; i < ref_volume(shape); i++) {
        int x[4], mine = 1;
        ref_coordinates(x, shape, i);
        for (int d = 0; d < 4; d++) mine = mine && x[d] >= lat->origin[d] && x[d] < lat->origin[d] + lat->local[d];
        kit_where("%s at %d.%d.%d.%d", what, x[0], x[1], x[2], x[3]);
        for (int k = 0; k < 12 && mine; k++)
            KIT_NEAR(cabs(have[12 * i + (size_t)k] - (k == component ? f(x) : 0)), 0, 1e-15);
    }
    free(have);
}

static void test_values(const lattice *lat)
{
    observe_parameters("wilson_clover", 0.3);
    observe_place((int[]){3, 1, 2, 5});
    check_values(lat, at_point, "point");
    observe_source_kind("box");
    observe_source_set("place", "3.0.1.2");
    observe_source_set("extent", "2.1.3.1");
    check_values(lat, in_box, "a box");
    observe_source_kind("corner");
    observe_place((int[]){3, 1, 2, 5});
    check_values(lat, on_corners, "corner");
    observe_source_kind("wall");
    observe_source_set("time", "2");
    check_values(lat, on_wall, "wall");
    observe_source_set("momentum", "1.-1.2.0");
    check_values(lat, in_wave, "wave");
}

/* Numbers of the slice: f(x) of this rank's sites, as an array over the spatial sites. */
static void noise_of(double complex f[32], const lattice *lat, const char *number, uint64_t seed)
{
    observe_source_set("number", number);
    double complex *all = values_of(lat, 3, seed);
    for (int i = 0; i < 32; i++) f[i] = all[12 * (32 * 4 + (size_t)i) + 3];
    free(all);
}

static void test_noise(const lattice *lat)
{
    enum { HITS = 400 };
    static const char *const kinds[] = {"z2", "z4"};
    if (comm_size() > 1) return;
    for (int k = 0; k < 2; k++) {
        double complex first[32], f[32], product = 0, square = 0, mean = 0;
        observe_source_kind("noise");
        observe_source_set("time", "4");
        observe_source_set("numbers", kinds[k]);
        noise_of(first, lat, "0", 7);
        noise_of(f, lat, "0", 7);
        CHECK(!memcmp(first, f, sizeof f));
        noise_of(f, lat, "0", 8);
        CHECK(memcmp(first, f, sizeof f));
        for (int hit = 0; hit < HITS; hit++) {
            char number[16];
            snprintf(number, sizeof number, "%d", hit);
            noise_of(f, lat, number, 7);
            for (int i = 0; i < 32; i++) CHECK_NEAR(cabs(f[i]), 1, 1e-15);
            for (int i = 0; i < 31; i++) product += f[i] * conj(f[i + 1]) / (31 * HITS);
            for (int i = 0; i < 32; i++) square += f[i] * f[i] / (32 * HITS), mean += f[i] / (32 * HITS);
        }
        CHECK_NEAR(cabs(product), 0, 5 / sqrt(31. * HITS));
        CHECK_NEAR(cabs(mean), 0, 5 / sqrt(32. * HITS));
        double complex moved[32];
        double worst = 0;
        noise_of(first, lat, "3", 7);
        observe_source_set("momentum", "1.0.-1.0");
        noise_of(moved, lat, "3", 7);
        observe_source_set("momentum", "0.0.0.0");
        for (int i = 0; i < 32; i++) {
            const int x = i % shape.size[0], z = i / (shape.size[0] * shape.size[1]);
            const double complex wave = cexp(2 * M_PI * I * ((double)x / shape.size[0] - (double)z / shape.size[2]));
            worst = fmax(worst, cabs(moved[i] - wave * first[i]));
        }
        CHECK(worst < 1e-14);
        CHECK_NEAR(cabs(square - (k == 0)), 0, k == 0 ? 1e-11 : 5 / sqrt(32. * HITS));
    }
}

/* The pion from a wave, as an oracle solves for it. */
static void test_wave(const lattice *lat, const field *links, const double complex *u)
{
    const size_t n = 12 * ref_volume(shape);
    double complex *b = kit_alloc(n, sizeof *b), *x = kit_alloc(n, sizeof *x);
    double want[6] = {0};
    struct ref_wilson w;
    ref_wilson_create(&w, shape, u, 0.4, 1, -1);
    for (size_t k = 0; k < 12; k++) {
        memset(b, 0, n * sizeof *b);
        for (size_t i = 0; i < ref_volume(shape); i++) {
            int at[4];
            ref_coordinates(at, shape, i);
            b[12 * i + k] = in_wave(at);
        }
        CHECK(ref_wilson_solve(x, b, &w, 1e-13, 2000) > 0);
        for (size_t i = 0; i < n; i++) {
            int at[4];
            ref_coordinates(at, shape, i / 12);
            want[(at[3] + 4) % 6] += creal(x[i] * conj(x[i]));
        }
    }
    ref_wilson_destroy(&w);
    wilson_keys_of(&observe_parameters("wilson_clover", 0.4)->quarks[0].p)->c_sw = 1;
    observe_source_kind("wall");
    observe_source_set("time", "2");
    observe_source_set("momentum", "1.-1.2.0");
    const measure_context c = {&the_parameters, links, NULL, NULL, -1, NULL};
    const named_measure m = observe_section("pion");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    for (int t = 0; t < lat->size[3]; t++) CHECK_REL(measure_value(&r, t, "pion"), want[t], 1e-9);
    measure_result_free(&r);
    free(x);
    free(b);
}

/* Correlators of walls at the sink, of one quark: sum over gamma matrices in plain loops over the sums of columns. */
static void test_wall_sink(const lattice *lat, const field *links)
{
    parameters *p = observe_parameters("wilson_clover", 0.4);
    measure_context c = {p, links, NULL, NULL, -1, NULL};
    named_measure m = observe_section("pion");
    observe_propagator("wall", "quark")->p.sink = SINK_WALL;
    observe_place((const int[]){3, 1, 2, 1});
    c.propagators = propagator_store_open(&c, NULL, NULL);
    const propagator *q[MEASURE_PROPAGATORS];
    measure_result of = {.what = observable_number(param_kind(observable_section(0), "pion"))};
    CHECK_INT(propagators_of(&c, &m.p, q, &of), MEASURE_DONE);
    double complex sum[6][12][12] = {{{0}}};
    double *slice = field_slice_buffer(q[0]->columns);
    for (int k = 0; k < 12; k++)
        for (int t = 0; t < lat->local[3]; t++) {
            const field one = field_rhs(q[0]->columns, k);
            field_export(&one, t, slice);
            for (int i = 0; i < lat->local[0] * lat->local[1] * lat->local[2]; i++)
                for (int s = 0; s < 12; s++)
                    sum[(t + lat->origin[3] + 5) % 6][k][s] += slice[24 * i + 2 * s] + I * slice[24 * i + 2 * s + 1];
        }
    free(slice);
    observe_set(&m, "propagator", "wall");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    for (int t = 0; t < 6 && comm_size() == 1; t++) {
        double want = 0;
        for (int k = 0; k < 144; k++) want += pow(cabs(sum[t][k / 12][k % 12]), 2);
        CHECK_REL(measure_value(&r, t, "pion"), want, 1e-11);
    }
    measure_result_free(&r);
    propagator_store_close(c.propagators);
}

/* Solvers that can do nothing any more show that solves are shared, and when they are forgotten. */
static void test_sharing(const field *links)
{
    enum { PION, MESONS, SMEARED, AGAIN, MEASURES };
    parameters *p = observe_parameters("wilson_clover", 0.4);
    const measure_context alone = {p, links, NULL, NULL, -1, NULL};
    measure_result want[MEASURES];
    p->nmeasures = MEASURES;
    p->nsmearings = 1;
    p->smearings[0] = (named_smearing){.name = "gauss", .p = {.width = 1.5, .steps = 3}};
    snprintf(observe_propagator("smeared", "quark")->p.sink_smearing, PARAM_STRING_SIZE, "gauss");
    for (int i = 0; i < MEASURES; i++) {
        p->measures[i] = observe_section(i == PION || i == AGAIN ? "pion" : "mesons");
        if (i == SMEARED) observe_set(&p->measures[i], "propagator_2", "smeared");
        want[i] = measure(&alone, &p->measures[i]);
    }
    CHECK(memcmp(want[MESONS].rows, want[SMEARED].rows, sizeof(double) * 8));
    int due[MAX_NAMED] = {1, 1, 1, 0};
    measure_context c = alone;
    c.propagators = propagator_store_open(&alone, due, NULL);
    for (int i = 0; i < MEASURES; i++) {
        measure_result r = measure(&c, &p->measures[i]);
        if (i == AGAIN) {
            CHECK(r.failed); /* it was not due, so that the columns are gone */
            CHECK_HAS(r.trouble, "too many iterations");
        } else {
            observe_same(&r, &want[i]);
        }
        p->solvers[0].p.max_iterations = 1;
        measure_result_free(&r);
        measure_result_free(&want[i]);
    }
    propagator_store_close(c.propagators);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 23);
    lattice *lat = kit_lattice(shape, 1, -1);
    if (lat) {
        double complex *u = kit_random_gauge(shape, 0.5, &rng);
        field *links = kit_links(lat, u);
        test_values(lat);
        test_noise(lat);
        test_wave(lat, links, u);
        test_wall_sink(lat, links);
        test_sharing(links);
        field_destroy(links);
        lattice_destroy(lat);
        free(u);
    }
    return kit_end();
}
