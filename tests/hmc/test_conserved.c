/* The conserved vector current at the sink of mesons.
 *
 * Theorems, on random links with a clover term, a theta angle and, in a second turn, anisotropic hops: the Ward identity
 *
 *   V_t(p, t) - V_t(p, t - 1) + sum_k (1 - exp(-i p_k)) V_k(p, t) = 0
 *
 * holds at every momentum and time but that of the source, for any gamma matrix at the source; the charge of a pion, by a sequential
 * propagator, is the same at all times before its sink and at all after it, and jumps there by the pion's correlator: Z_V = 1. The local
 * current has neither. The current as a sequential source gives, at the time of that sink, what the sequential sink gives at the time of the
 * current, in all directions and with momentum. What the current is not for is named. */
#include "hmc/measure/propagator.h"
#include "hmc/quarks/quark_links.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{4, 4, 2, 8}};
enum { SINK = 5, SOURCE = 2, V_T = 24, LOCAL_T = 8 };

static double complex value(const measure_result *r, int source, int sink, const int n[3], int t)
{
    for (long row = 0; row < r->nrows; row++)
        if (measure_value(r, row, "source") == source && measure_value(r, row, "sink") == sink &&
            measure_value(r, row, "nx") == n[0] && measure_value(r, row, "ny") == n[1] &&
            measure_value(r, row, "nz") == n[2] && measure_value(r, row, "t") == t)
            return measure_value(r, row, "real") + I * measure_value(r, row, "imaginary");
    CHECK(0);
    return NAN;
}

/* The largest violation of the identity by the sinks first + 1, 2, 4, 8, over the largest current. */
static double violation(const measure_result *r, int source, int first, const int n[3])
{
    double worst = 0, largest = 0;
    const int times = shape.size[3];
    for (int t = 1; t < times; t++) {
        double complex sum = value(r, source, first + 8, n, t) - value(r, source, first + 8, n, t - 1);
        for (int k = 0; k < 3; k++)
            sum += (1 - cexp(-2 * M_PI * I * n[k] / shape.size[k])) * value(r, source, first + (1 << k), n, t);
        worst = fmax(worst, cabs(sum));
        largest = fmax(largest, cabs(value(r, source, first + 8, n, t)));
    }
    return worst / largest;
}

static void test_ward(const measure_context *c)
{
    named_measure m = observe_section("mesons");
    observe_set(&m, "operators", "vector axial conserved");
    observe_set(&m, "pairs", "all");
    observe_set(&m, "momentum2", "2");
    measure_result r = measure(c, &m);
    CHECK_INT(r.failed, 0);
    const int momenta[][3] = {{0, 0, 0}, {1, 0, 0}, {0, -1, 0}, {1, 1, 0}, {0, 1, -1}};
    const int sources[] = {1, 8, 14};
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 5; i++) {
            CHECK(violation(&r, sources[s], 16, momenta[i]) < 1e-9);
            CHECK(violation(&r, sources[s], 0, momenta[i]) > 1e-3);
        }
    measure_result_free(&r);
}

static void test_charge(const measure_context *c)
{
    const int zero[3] = {0}, times = shape.size[3];
    named_measure two = observe_section("mesons"), three = observe_section("mesons");
    observe_set(&two, "operators", "pseudoscalar");
    observe_set(&three, "operators", "pseudoscalar vector conserved");
    observe_set(&three, "pairs", "all");
    observe_set(&three, "propagator", "behind");
    observe_set(&three, "propagator_2", "propagator");
    measure_result pion = measure(c, &two), r = measure(c, &three);
    CHECK_INT(pion.failed + r.failed, 0);
    const double complex correlator = value(&pion, 15, 15, zero, SINK), before = value(&r, 15, V_T, zero, 0),
                         after = value(&r, 15, V_T, zero, SINK);
    CHECK(creal(correlator) > 0);
    for (int t = 0; t < times; t++) {
        const double complex v = value(&r, 15, V_T, zero, t);
        CHECK(cabs(v - (t < SINK ? before : after)) < 1e-9 * cabs(correlator));
    }
    CHECK(cabs(before - after - correlator) < 1e-9 * cabs(correlator));
    CHECK(cabs(value(&r, 15, LOCAL_T, zero, 1) - value(&r, 15, LOCAL_T, zero, 2)) > 1e-6 * cabs(correlator));
    measure_result_free(&pion);
    measure_result_free(&r);
}

/* Three-point functions with the current on the source's side, against those through the sink. */
static void test_insertion(const measure_context *c)
{
    static const char *const directions[4] = {"x", "y", "z", "t"};
    enum { AT = 2 };
    const int zero[3] = {0}, n[3] = {1, 0, 0}, times = shape.size[3];
    parameters *p = &the_parameters;
    named_measure through = observe_section("mesons"), inserted = observe_section("mesons");
    observe_set(&through, "operators", "pseudoscalar conserved");
    observe_set(&through, "pairs", "all");
    observe_set(&through, "propagator", "behind");
    observe_set(&through, "propagator_2", "propagator");
    observe_set(&through, "momentum2", "1");
    observe_set(&inserted, "operators", "pseudoscalar");
    observe_set(&inserted, "propagator_2", "inserted");
    measure_result known = measure(c, &through);
    CHECK_INT(known.failed, 0);
    for (int at = AT; at <= SINK + 2; at += SINK)
        for (int mu = 0; mu < 4; mu++) {
            char text[16];
            source_params *s = &p->sources[p->nsources - 1].p;
            snprintf(text, sizeof text, "%d", (SOURCE + at) % times);
            observe_key(s, "time", text);
            observe_key(s, "direction", directions[mu]);
            observe_key(s, "momentum", "-1.0.0.0");
            measure_result r = measure(c, &inserted);
            CHECK_INT(r.failed, 0);
            const double complex want = value(&known, 15, 16 + (1 << mu), n, at), have = value(&r, 15, 15, zero, SINK);
            CHECK(cabs(want) > 1e-12);
            CHECK(cabs(have - want) < 1e-8 * cabs(value(&known, 15, V_T, zero, at)));
            measure_result_free(&r);
        }
    measure_result_free(&known);
}

static const char *fault(const parameters *p, const char *operators, const char *pairs, char *message)
{
    named_measure m = observe_section("mesons");
    observe_set(&m, "operators", operators);
    observe_set(&m, "pairs", pairs);
    const char *key = observable_number(param_kind(observable_section(0), "mesons"))->check(p, &m, message, 512);
    return key ? key : "";
}

static void test_refusals(parameters *p)
{
    char message[512];
    CHECK_STR(fault(p, "conserved", "diagonal", message), "");
    CHECK_STR(fault(p, "conserved", "all", message), "operators");
    CHECK_HAS(message, "has nothing for the source");
    snprintf(p->propagators[0].p.sink_smearing, PARAM_STRING_SIZE, "wide");
    CHECK_STR(fault(p, "vector conserved", "all", message), "propagator");
    CHECK_HAS(message, "with sink_smearing = wide");
    p->propagators[0].p.sink_smearing[0] = 0;
    p = observe_parameters("mobius", 0.1);
    CHECK_STR(fault(p, "vector conserved", "all", message), "propagator");
    CHECK_HAS(message, "is of kind = mobius");
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 37);
    lattice *lat = kit_lattice(shape, 1, -1);
    if (lat) {
        double complex *u = kit_random_gauge(shape, 0.5, &rng);
        field *links = kit_links(lat, u);
        parameters *p = observe_parameters("wilson_clover", 0.3);
        wilson_keys *w = wilson_keys_of(&p->quarks[0].p);
        w->c_sw = 1.1;
        *(double *)(uintptr_t)theta_of(&p->quarks[0].p) = 0.7; /* along x */
        observe_place((const int[]){1, 2, 0, SOURCE});
        observe_sink("sequential", SOURCE + SINK, "behind", "quark");
        named_source *current = &p->sources[p->nsources++];
        snprintf(current->name, sizeof current->name, "current");
        current->p.kind = param_kind(source_section(0), "sequential_current");
        params_default(source_kind_of(&current->p)->own, &current->p);
        observe_key(&current->p, "propagator", "propagator");
        snprintf(observe_propagator("inserted", "quark")->p.source, PARAM_STRING_SIZE, "current");
        const measure_context c = {p, links, NULL, NULL, -1, NULL};
        test_insertion(&c);
        test_ward(&c);
        test_charge(&c);
        w->c_sw = 0, w->xi_0 = 2, w->nu = 1.3, w->c_R = 0.8, w->c_T = 0.9;
        test_insertion(&c);
        test_ward(&c);
        test_charge(&c);
        test_refusals(p);
        field_destroy(links);
        lattice_destroy(lat);
        free(u);
    }
    return kit_end();
}
