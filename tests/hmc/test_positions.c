/* Measurements from several positions of their sources.
 *
 * Theorems: positions are even, of the lattice, different, and those of the configuration and the seed; the values of a measurement
 * are the means of those that it has with its source at each position, sequential sinks included; with rough positions they are the
 * mean of rough ones and the mean difference of exact and rough ones at the exact positions; equal solvers make that the mean of
 * all; measurements with one position stay as they are, beside others; a failure is one of the whole measurement, and the
 * others go on. */
#include "hmc/measure/positions.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{4, 4, 4, 8}};
enum { POSITIONS = 4, EXACT = 2, SINK = 3 };

typedef struct {
    measure_result r[MAX_NAMED];
    int begun[MAX_NAMED], ended, stop_after;
    char where[64]; /* of the pass that began last */
} sitting;

static void begin(void *context, int i, const char *where)
{
    sitting *s = context;
    s->begun[i]++;
    snprintf(s->where, sizeof s->where, "%s", where);
}

static int end(void *context, int i, measure_result *r)
{
    sitting *s = context;
    s->r[i] = *r;
    return ++s->ended == s->stop_after;
}

static void make(const measure_context *c, int n, sitting *s)
{
    int due[MAX_NAMED] = {0};
    for (int i = 0; i < n; i++) due[i] = 1;
    the_parameters.nmeasures = n;
    measure_due(c, due, &(measure_calls){s, begin, end});
}

static void forget(sitting *s)
{
    for (int i = 0; i < MAX_NAMED; i++) measure_result_free(&s->r[i]);
    memset(s, 0, sizeof *s);
}

static void test_shifts(const measure_context *c)
{
    int seen[POSITIONS][4], again[4], same = 0, other = 0;
    for (int k = 0; k < POSITIONS; k++) {
        measure_shift(c, k, seen[k]);
        for (int d = 0; d < 4; d++)
            CHECK(seen[k][d] % 2 == 0 && seen[k][d] >= 0 && seen[k][d] < c->links->lat->size[d]);
        for (int j = 0; j < k; j++) same += !memcmp(seen[j], seen[k], sizeof again);
    }
    CHECK_INT(same, 0);
    the_parameters.run.seed++;
    for (int k = 0; k < POSITIONS; k++) {
        measure_shift(c, k, again);
        other += memcmp(seen[k], again, sizeof again) != 0;
    }
    CHECK(other > POSITIONS / 2);
    the_parameters.run.seed--;
    measure_shift(c, 0, again);
    CHECK(!memcmp(seen[0], again, sizeof again));
}

/* The measurement with the source, and the sink, where position k has them. */
static measure_result alone_at(const measure_context *c, named_measure m, int k, const char *solver)
{
    const int *size = c->links->lat->size;
    parameters *p = &the_parameters;
    int d[4];
    char text[16];
    const source_params source = p->sources[0].p, sink = p->sources[1].p;
    const quark_params quark = p->quarks[0].p;
    measure_shift(c, k, d);
    observe_place((const int[]){(1 + d[0]) % size[0], d[1], d[2], (2 + d[3]) % size[3]});
    snprintf(text, sizeof text, "%d", (2 + SINK + d[3]) % size[3]);
    observe_key(&p->sources[1].p, "time", text);
    snprintf(p->quarks[0].p.solver, sizeof p->quarks[0].p.solver, "%s", solver);
    m.p.positions = 1;
    measure_result r = measure(c, &m);
    p->quarks[0].p = quark;
    p->sources[0].p = source;
    p->sources[1].p = sink;
    return r;
}

/* Sum of w_exact C + w_rough C_rough over positions against a result. */
static void check_mean(const measure_context *c, const named_measure *m, const double (*w)[2], const measure_result *r)
{
    const int columns = r->what->ncolumns, axis = observable_axis(r->what);
    double *sum = calloc((size_t)(r->nrows * columns), sizeof *sum), largest = 0, worst = 0;
    for (int k = 0; k < POSITIONS; k++)
        for (int rough = 0; rough < 2; rough++) {
            if (w[k][rough] == 0) continue;
            measure_result one = alone_at(c, *m, k, rough ? "rough" : "cg");
            CHECK_INT(one.failed, 0);
            CHECK_INT(one.nrows, r->nrows);
            for (long i = 0; i < r->nrows; i++)
                for (int j = 0; j < columns; j++) {
                    if (j <= axis) CHECK(one.rows[i * columns + j] == r->rows[i * columns + j]);
                    else sum[i * columns + j] += w[k][rough] * one.rows[i * columns + j];
                }
            measure_result_free(&one);
        }
    for (long i = 0; i < r->nrows; i++)
        for (int j = axis + 1; j < columns; j++) {
            largest = fmax(largest, fabs(sum[i * columns + j]));
            worst = fmax(worst, fabs(sum[i * columns + j] - r->rows[i * columns + j]));
        }
    CHECK(largest > 1e-6);
    CHECK(worst / largest < 1e-14);
    free(sum);
}

static const double exact[POSITIONS][2] = {{0.25, 0}, {0.25, 0}, {0.25, 0}, {0.25, 0}},
                    averaged[POSITIONS][2] = {{0.5, -0.25}, {0.5, -0.25}, {0, 0.25}, {0, 0.25}};

static void test_means(const measure_context *c)
{
    enum { ALL, ROUGH, SEQUENTIAL, ONE, MEASURES };
    parameters *p = &the_parameters;
    sitting s = {0};
    for (int i = 0; i < MEASURES; i++) p->measures[i] = observe_section("mesons");
    for (int i = 0; i < ONE; i++) p->measures[i].p.positions = POSITIONS;
    for (int i = ROUGH; i <= SEQUENTIAL; i++) p->measures[i].p.exact_positions = EXACT;
    observe_set(&p->measures[SEQUENTIAL], "propagator", "behind");
    observe_set(&p->measures[SEQUENTIAL], "propagator_2", "propagator");
    observe_set(&p->measures[SEQUENTIAL], "pairs", "unit");
    make(c, MEASURES, &s);
    CHECK_INT(s.begun[ALL], POSITIONS);
    CHECK_INT(s.begun[ROUGH], POSITIONS + EXACT);
    CHECK_INT(s.begun[ONE], 1);
    CHECK_HAS(s.where, ", position 4 of 4, rough");
    check_mean(c, &p->measures[ALL], exact, &s.r[ALL]);
    check_mean(c, &p->measures[ROUGH], averaged, &s.r[ROUGH]);
    check_mean(c, &p->measures[SEQUENTIAL], averaged, &s.r[SEQUENTIAL]);
    CHECK(measure_value(&s.r[ROUGH], -1, "residual") < 1e-10);
    measure_result one = measure(c, &p->measures[ONE]);
    observe_same(&s.r[ONE], &one);
    measure_result_free(&one);
    /* Rough positions correct a bias that is there, and do not change much. */
    double change = 0, value = 0;
    for (long i = 0; i < s.r[ALL].nrows; i++) {
        const double want = measure_value(&s.r[ALL], i, "real"), have = measure_value(&s.r[ROUGH], i, "real");
        change = fmax(change, fabs(want - have));
        value = fmax(value, fabs(want));
    }
    CHECK(change > 1e-12 * value);
    CHECK(change / value < 1e-3);
    forget(&s);
}

/* With one solver for both, rough positions make the mean over all. */
static void test_equal_solvers(const measure_context *c)
{
    parameters *p = &the_parameters;
    sitting s = {0};
    for (int i = 0; i < 2; i++) {
        p->measures[i] = observe_section("pion");
        p->measures[i].p.positions = POSITIONS;
    }
    p->measures[1].p.exact_positions = 1;
    snprintf(p->propagators[0].p.rough_solver, PARAM_STRING_SIZE, "cg");
    make(c, 2, &s);
    for (long i = 0; i < s.r[0].nrows; i++)
        CHECK_REL(measure_value(&s.r[1], i, "pion"), measure_value(&s.r[0], i, "pion"), 1e-14);
    snprintf(p->propagators[0].p.rough_solver, PARAM_STRING_SIZE, "rough");
    forget(&s);
}

static void test_failures(const measure_context *c)
{
    parameters *p = &the_parameters;
    sitting s = {0};
    for (int i = 0; i < 2; i++) p->measures[i] = observe_section("pion");
    p->measures[0].p.positions = POSITIONS;
    p->measures[0].p.exact_positions = EXACT;
    p->solvers[1].p.max_iterations = 1;
    make(c, 2, &s);
    CHECK_INT(s.r[0].failed, 1);
    CHECK_INT(s.begun[0], 2); /* the first position: exact, then rough */
    CHECK_HAS(s.r[0].trouble, "too many iterations");
    CHECK_INT(s.r[1].failed, 0);
    CHECK_INT(s.ended, 2);
    p->solvers[1].p.max_iterations = p->solvers[0].p.max_iterations;
    forget(&s);
    s.stop_after = 1;
    make(c, 2, &s);
    CHECK_INT(s.ended, 1);
    CHECK_INT(s.begun[0], 0);
    forget(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 29);
    lattice *lat = kit_lattice(shape, 1, -1);
    if (lat) {
        double complex *u = kit_random_gauge(shape, 0.5, &rng);
        field *links = kit_links(lat, u);
        parameters *p = observe_parameters("wilson_clover", 0.4);
        p->nsolvers = 2;
        p->solvers[1] = p->solvers[0];
        snprintf(p->solvers[1].name, sizeof p->solvers[1].name, "rough");
        p->solvers[1].p.tolerance = 1e-3;
        snprintf(p->propagators[0].p.rough_solver, PARAM_STRING_SIZE, "rough");
        observe_place((const int[]){1, 0, 0, 2});
        observe_sink("sequential", 2 + SINK, "behind", "quark");
        snprintf(p->propagators[1].p.rough_solver, PARAM_STRING_SIZE, "rough");
        const measure_context c = {p, links, NULL, NULL, -1, NULL};
        test_shifts(&c);
        test_means(&c);
        test_equal_solvers(&c);
        test_failures(&c);
        field_destroy(links);
        lattice_destroy(lat);
        free(u);
    }
    return kit_end();
}
