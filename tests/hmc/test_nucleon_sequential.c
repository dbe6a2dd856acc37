/* Three-point functions of the nucleon by sequential sources through the sink.
 *
 * Through the operator instead: two-point functions with lines M^-1 Gamma exp(-i q.y) S, made by the reference on one time slice, in place of S,
 * have no sequential sink and no gamma_5 hermiticity. They agree for both flavours, both parities, all polarisations, with momenta at both ends, and for sinks
 * behind the antiperiodic edge. The scalar charge over all times is minus the derivative of the two-point function by the mass, with smeared
 * sources and sinks, too.
 * Free quarks from a wall have the charges of SU(6): 2 and 1 of vectors, 4/3 and -1/3 of axial ones, over 1 + m_0, with the Z_V of the
 * pion. */
#include <complex.h>

#include "hmc/measure/baryon_contraction.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{2, 2, 4, 6}};
static const int source[4] = {1, 0, 2, 3};
static const double mass = 0.3, c_sw = 1.2;
enum { COLUMNS = 12, NUCLEON = 0 };
static const char *const polarisations[4] = {"none", "x", "y", "z"};

/* ---- sections ---- */

/* One quark, and its propagator `through` the sink of a kind. */
static parameters *with_sink(double m, const char *kind, int time)
{
    parameters *p = observe_parameters("wilson_clover", m);
    wilson_keys_of(&p->quarks[0].p)->c_sw = c_sw;
    observe_sink(kind, time, "through", "quark");
    return p;
}

static named_measure through(const char *operators, const char *pairs, const char *momentum2)
{
    named_measure m = observe_section("mesons");
    observe_set(&m, "propagator", "through");
    observe_set(&m, "propagator_2", "propagator");
    observe_set(&m, "operators", operators);
    observe_set(&m, "pairs", pairs);
    observe_set(&m, "momentum2", momentum2);
    return m;
}

static double complex value_of(const measure_result *r, int gamma, const int n[3], int t)
{
    for (long row = 0; row < r->nrows; row++)
        if (measure_value(r, row, "sink") == gamma && measure_value(r, row, "t") == t &&
            measure_value(r, row, "nx") == n[0] && measure_value(r, row, "ny") == n[1] &&
            measure_value(r, row, "nz") == n[2])
            return measure_value(r, row, "real") + I * measure_value(r, row, "imaginary");
    return NAN;
}

/* ---- through the operator ---- */

static void gamma_dense(double complex g[4][4], int number)
{
    memset(g, 0, 16 * sizeof(double complex));
    for (int s = 0; s < 4; s++) g[s][s] = 1;
    for (int mu = 0; mu < 4; mu++) {
        double complex h[4][4] = {{0}};
        for (int i = 0; i < 64 && number >> mu & 1; i++)
            h[i / 16][i % 4] += g[i / 16][i / 4 % 4] * ref_gamma[mu][i / 4 % 4][i % 4];
        if (number >> mu & 1) memcpy(g, h, sizeof h);
    }
}

/* Columns [column][site][12] of M^-1 b, with b = Gamma exp(-i q.(y - x_0)) S on time slices t after the source, all for t < 0; of
 * a point where S is null. */
static double complex *solved(const double complex *u, const double complex *S, int gamma, const int q[3], int t)
{
    const size_t n = 12 * ref_volume(shape);
    double complex *all = kit_alloc(COLUMNS * n, sizeof *all), *b = kit_alloc(n, sizeof *b), g[4][4];
    struct ref_wilson w;
    gamma_dense(g, gamma);
    ref_wilson_create(&w, shape, u, mass, c_sw, -1);
    for (size_t k = 0; k < COLUMNS; k++) {
        memset(b, 0, n * sizeof *b);
        if (!S) b[12 * ref_site(shape, source) + k] = 1;
        for (size_t i = 0; i < ref_volume(shape) && S; i++) {
            int x[4];
            double phase = 0;
            ref_coordinates(x, shape, i);
            if (t >= 0 && x[3] != (t + source[3]) % shape.size[3]) continue;
            for (int d = 0; d < 3; d++) phase += 2 * M_PI * q[d] * (x[d] - source[d]) / shape.size[d];
            for (size_t s = 0; s < 12; s++)
                for (size_t r = 0; r < 4; r++)
                    b[12 * i + s] += cexp(-I * phase) * g[s / 3][r] * S[k * n + 12 * i + 3 * r + s % 3];
        }
        CHECK(ref_wilson_solve(all + k * n, b, &w, 1e-13, 2000) > 0);
    }
    ref_wilson_destroy(&w);
    free(b);
    return all;
}

/* a + factor b as a field: [site][column][12]. */
static field *lines(const lattice *lat, const double complex *a, const double complex *b, double factor)
{
    const size_t v = ref_volume(shape);
    double complex *all = kit_alloc(144 * v, sizeof *all);
    for (size_t i = 0; i < v; i++)
        for (size_t k = 0; k < 144; k++) {
            const size_t at = k / 12 * 12 * v + 12 * i + k % 12;
            all[144 * i + k] = (a ? a[at] : 0) + factor * b[at];
        }
    field *f = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, COLUMNS, all);
    free(all);
    return f;
}

/* (1 + parity gamma_t) / 2, times i gamma_5 gamma_k. */
static spin_projector projector(int polarisation, int parity)
{
    double complex five[4][4], spin[4][4] = {{0}};
    spin_projector T = {{{0}}};
    ref_gamma5(five);
    for (int i = 0; i < 64; i++) {
        const int a = i / 16, b = i / 4 % 4, c = i % 4;
        if (polarisation) spin[a][c] += I * five[a][b] * ref_gamma[polarisation - 1][b][c];
        else if (b == 0) spin[a][c] = a == c;
    }
    for (int i = 0; i < 64; i++) {
        const int a = i / 16, b = i / 4 % 4, c = i % 4;
        T.at[a][c] += ((a == b) + parity * ref_gamma[3][a][b]) / 2 * spin[b][c];
    }
    return T;
}

static double complex two_point(const momenta *p, field *u, field *d, int polarisation, int parity, int momentum, int t)
{
    const baryon_lines lines = {.quark = {u, d, NULL}};
    const spin_projector T = projector(polarisation, parity);
    baryon b;
    baryon_open(&b, p, baryon_kind_number(NUCLEON), &lines, 0, source);
    const double complex value = baryon_trace(&b, &T, momentum, t);
    baryon_close(&b);
    return value;
}

/* Two-point functions with a line of the flavour replaced: linear in d, and the odd part of those with u + and - the line. */
static double complex replaced(const momenta *p, const lattice *lat, const double complex *S,
                               const double complex *line, int flavour, int polarisation, int parity, int momentum,
                               int t)
{
    field *plain = lines(lat, NULL, S, 1), *plus = lines(lat, S, line, 1), *minus = lines(lat, S, line, -1);
    double complex value = flavour ? two_point(p, plain, plus, polarisation, parity, momentum, t) -
                                         two_point(p, plain, minus, polarisation, parity, momentum, t)
                                   : two_point(p, plus, plain, polarisation, parity, momentum, t) -
                                         two_point(p, minus, plain, polarisation, parity, momentum, t);
    field_destroy(minus);
    field_destroy(plus);
    field_destroy(plain);
    return value / 2;
}

typedef struct {
    int gamma, q[3], t; /* of the operator */
    double complex *line;
} insertion;

/* All insertions with one sink, t after the source. */
static void check_sink(const field *links, const double complex *S, const insertion *all, int n, int flavour,
                       int polarisation, int parity, int t, int momentum)
{
    momenta p;
    momenta_open(&p, links->lat, 1);
    const int *number = p.number[momentum];
    char text[64];
    parameters *q = with_sink(mass, "sequential_nucleon", (t + source[3]) % shape.size[3]);
    const measure_context c = {q, links, NULL, NULL, -1, NULL};
    observe_place(source);
    snprintf(text, sizeof text, "%d.%d.%d.0", number[0], number[1], number[2]);
    observe_key(&q->sources[1].p, "momentum", text);
    observe_key(&q->sources[1].p, "flavour", flavour ? "d" : "u");
    observe_key(&q->sources[1].p, "polarisation", polarisations[polarisation]);
    observe_key(&q->sources[1].p, "parity", parity > 0 ? "+" : "-");
    const named_measure m = through("scalar vector axial tensor", "unit", "2");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    CHECK_INT(r.nrows, 15 * 19 * shape.size[3]);
    for (int i = 0; i < n; i++) {
        const double complex have = value_of(&r, all[i].gamma, all[i].q, all[i].t),
                             want =
                                 replaced(&p, links->lat, S, all[i].line, flavour, polarisation, parity, momentum, t);
        CHECK(cabs(want) > 1e-10);
        CHECK_NEAR(cabs(have - want) / cabs(want), 0, 1e-7);
    }
    measure_result_free(&r);
    momenta_close(&p);
}

/* ---- currents summed over all sites ---- */

/* A propagator `through` a current of this number and momentum on all sites. */
static void add_current(const char *gamma, const char *momentum)
{
    named_source *s = &the_parameters.sources[the_parameters.nsources++];
    snprintf(s->name, sizeof s->name, "current");
    s->p.kind = param_kind(source_section(0), "feynman_hellmann");
    params_default(source_kind_of(&s->p)->own, &s->p);
    observe_key(&s->p, "propagator", "propagator");
    observe_key(&s->p, "gamma", gamma);
    observe_key(&s->p, "momentum", momentum);
    named_propagator *q = observe_propagator("through", "quark");
    snprintf(q->p.source, sizeof q->p.source, "current");
}

/* Nucleons of both parities with a line through the current, against the reference's. */
static void check_currents(const field *links, const double complex *S, const double complex *u)
{
    static const struct {
        int gamma, n[3]; /* of the phase exp(i p.x) */
    } all[] = {{8, {0, 0, 0}}, {13, {0, 1, -1}}, {6, {1, 0, 0}}};
    momenta p;
    momenta_open(&p, links->lat, 1);
    for (int i = 0; i < 3; i++) {
        char gamma[16], momentum[64];
        snprintf(gamma, sizeof gamma, "%d", all[i].gamma);
        snprintf(momentum, sizeof momentum, "%d.%d.%d.0", all[i].n[0], all[i].n[1], all[i].n[2]);
        double complex *line = solved(u, S, all[i].gamma, (const int[]){-all[i].n[0], -all[i].n[1], -all[i].n[2]}, -1);
        for (int flavour = 0; flavour < 2; flavour++) {
            parameters *q = observe_parameters("wilson_clover", mass);
            const measure_context c = {q, links, NULL, NULL, -1, NULL};
            wilson_keys_of(&q->quarks[0].p)->c_sw = c_sw;
            observe_place(source);
            add_current(gamma, momentum);
            named_measure m = observe_section("baryons");
            observe_set(&m, "insertion", "through");
            observe_set(&m, "inserted", flavour ? "d" : "u");
            observe_set(&m, "momentum2", "1");
            measure_result r = measure(&c, &m);
            CHECK_INT(r.failed, 0);
            CHECK_INT(r.nrows, 2 * p.n * shape.size[3]);
            for (long row = 0; row < r.nrows; row += 7) {
                const int parity = (int)measure_value(&r, row, "parity"), t = (int)measure_value(&r, row, "t");
                int momentum_number = 0;
                while (p.number[momentum_number][0] != measure_value(&r, row, "nx") ||
                       p.number[momentum_number][1] != measure_value(&r, row, "ny") ||
                       p.number[momentum_number][2] != measure_value(&r, row, "nz"))
                    momentum_number++;
                const double complex have = measure_value(&r, row, "real") + I * measure_value(&r, row, "imaginary"),
                                     want = replaced(&p, links->lat, S, line, flavour, 0, parity, momentum_number, t);
                CHECK(cabs(want) > 1e-12);
                CHECK_NEAR(cabs(have - want) / cabs(want), 0, 1e-6);
            }
            measure_result_free(&r);
        }
        free(line);
    }
    momenta_close(&p);
}

/* ---- the derivative by the mass ---- */

/* Smears the source, and the sink of a propagator of that name. */
static void smear(parameters *p, const char *sink)
{
    p->nsmearings = 1;
    p->smearings[0] = (named_smearing){.name = "gauss", .p = {.width = 1.5, .steps = 3}};
    for (int i = 0; i < p->nsources; i++) snprintf(p->sources[i].p.smearing, PARAM_STRING_SIZE, "gauss");
    for (int i = 0; i < p->npropagators; i++)
        if (!strcmp(p->propagators[i].name, sink))
            snprintf(p->propagators[i].p.sink_smearing, PARAM_STRING_SIZE, "gauss");
}

/* With an insertion of the unit matrix instead: minus the derivative of all of a baryon's correlators by the mass of the flavour. */
static void check_slopes(const field *links, const char *baryon, const char *inserted)
{
    const double h = 0.01;
    measure_result r[5];
    for (int i = 0; i < 5; i++) {
        parameters *q = observe_parameters("wilson_clover", mass);
        const measure_context c = {q, links, NULL, NULL, -1, NULL};
        wilson_keys_of(&q->quarks[0].p)->c_sw = c_sw;
        observe_place(source);
        observe_second_quark("other")->mass = mass + (i < 4 ? (i < 2 ? i - 2 : i - 1) * h : 0);
        observe_propagator("of_other", "other");
        named_measure m = observe_section("baryons");
        observe_set(&m, "baryons", baryon);
        observe_set(&m, "momentum2", "1");
        observe_set(&m, "propagator", *inserted == 's' ? "propagator" : "of_other");
        observe_set(&m, "propagator_2", *inserted == 's' ? "of_other" : "propagator");
        if (i == 4) add_current("0", "0.0.0.0");
        if (i == 4) observe_set(&m, "insertion", "through");
        if (i == 4) observe_set(&m, "inserted", inserted);
        r[i] = measure(&c, &m);
        CHECK_INT(r[i].failed, 0);
    }
    for (long row = 0; row < r[4].nrows; row++) {
        double value[5];
        for (int i = 0; i < 5; i++) value[i] = measure_value(&r[i], row, "real");
        const double slope = (8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * h), of_current = value[4];
        CHECK_NEAR(fabs(of_current + slope) / fmax(fabs(slope), 1e-6 * fabs(value[1])), 0, 1e-3);
    }
    for (int i = 0; i < 5; i++) measure_result_free(&r[i]);
}

static double complex nucleon_at(const field *links, double m, int t, int smeared)
{
    parameters *q = observe_parameters("wilson_clover", m);
    if (smeared) smear(q, "propagator");
    const measure_context c = {q, links, NULL, NULL, -1, NULL};
    wilson_keys_of(&q->quarks[0].p)->c_sw = c_sw;
    observe_place(source);
    named_measure n = observe_section("baryons");
    measure_result r = measure(&c, &n);
    CHECK_INT(r.failed, 0);
    double complex value = NAN;
    for (long row = 0; row < r.nrows; row++)
        if (measure_value(&r, row, "parity") == 1 && measure_value(&r, row, "t") == t)
            value = measure_value(&r, row, "real") + I * measure_value(&r, row, "imaginary");
    measure_result_free(&r);
    return value;
}

static void check_mass(const field *links, int t, int smeared)
{
    static const int rest[3] = {0, 0, 0};
    const double h = 0.01;
    double complex sum = 0;
    for (int flavour = 0; flavour < 2; flavour++) {
        parameters *q = with_sink(mass, "sequential_nucleon", (t + source[3]) % shape.size[3]);
        const measure_context c = {q, links, NULL, NULL, -1, NULL};
        observe_place(source);
        observe_key(&q->sources[1].p, "flavour", flavour ? "d" : "u");
        if (smeared) {
            observe_propagator("sunk", "quark");
            observe_key(&q->sources[1].p, "propagator", "sunk");
            smear(q, "sunk");
        }
        const named_measure m = through("scalar", "unit", "0");
        measure_result r = measure(&c, &m);
        CHECK_INT(r.failed, 0);
        for (int at = 0; at < shape.size[3]; at++) sum += value_of(&r, 0, rest, at);
        measure_result_free(&r);
    }
    const double complex slope =
        (8 * (nucleon_at(links, mass + h, t, smeared) - nucleon_at(links, mass - h, t, smeared)) -
         (nucleon_at(links, mass + 2 * h, t, smeared) - nucleon_at(links, mass - 2 * h, t, smeared))) /
        (12 * h);
    CHECK(cabs(slope) > 1e-7);
    CHECK_NEAR(cabs(sum + slope) / cabs(slope), 0, 1e-5);
}

static void test_rough(void)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 31);
    lattice *lat = kit_lattice(shape, 2, -1);
    double complex *u = kit_random_gauge(shape, 0.5, &rng), *S = solved(u, NULL, 0, NULL, 0);
    field *links = kit_links(lat, u);
    insertion all[] = {{8, {0, 0, 0}, 1, NULL},
                       {7, {0, 1, -1}, 1, NULL},
                       {6, {0, 0, 1}, 2, NULL},
                       {14, {0, 0, -1}, 4, NULL},
                       {0, {1, 0, 0}, 0, NULL}};
    enum { N = sizeof all / sizeof all[0] };
    for (int i = 0; i < N; i++) all[i].line = solved(u, S, all[i].gamma, all[i].q, all[i].t);
    /* Sinks before the edge of time, and behind it. */
    for (int polarisation = 0; polarisation < 4; polarisation++)
        for (int flavour = 0; flavour < 2; flavour++)
            check_sink(links, S, all, N, flavour, polarisation, (polarisation + flavour) % 3 ? 1 : -1,
                       polarisation % 2 ? 2 : 4, polarisation == 0 ? 0 : 1 + 2 * (polarisation - 1) + flavour);
    check_currents(links, S, u);
    check_slopes(links, "delta sigma sigma_star xi", "u");
    check_slopes(links, "omega xi xi_star lambda", "s");
    check_mass(links, 2, 0);
    check_mass(links, 3, 1);
    for (int i = 0; i < N; i++) free(all[i].line);
    field_destroy(links);
    free(S);
    free(u);
    lattice_destroy(lat);
}

/* ---- free quarks ---- */

/* Three-point functions of a sink at time 10, at time 5, with Gamma at rest. */
static double complex charge(const field *links, const char *kind, const char *flavour, const char *polarisation,
                             int gamma)
{
    static const int rest[3] = {0, 0, 0};
    const int nucleon = flavour != NULL;
    parameters *q = with_sink(1, kind, 10);
    const measure_context c = {q, links, NULL, NULL, -1, NULL};
    double complex value = NAN, other;
    observe_source_kind("wall");
    if (nucleon) observe_key(&q->sources[1].p, "flavour", flavour);
    if (nucleon) observe_key(&q->sources[1].p, "polarisation", polarisation);
    const named_measure m = through("pseudoscalar vector axial", nucleon ? "unit" : "all", "0");
    measure_result r = measure(&c, &m);
    CHECK_INT(r.failed, 0);
    for (long row = 0; row < r.nrows; row++)
        if (measure_value(&r, row, "source") == (nucleon ? 0 : 15) && measure_value(&r, row, "sink") == gamma &&
            measure_value(&r, row, "t") == 5)
            value = measure_value(&r, row, "real") + I * measure_value(&r, row, "imaginary");
    other = nucleon ? value_of(&r, gamma, rest, 7) : value;
    CHECK_NEAR(cabs(value - other) / cabs(value), 0, 1e-3);
    measure_result_free(&r);
    return value;
}

static double two_point_of(const field *links, const char *kind, const char *column, int number)
{
    parameters *q = observe_parameters("wilson_clover", 1);
    const measure_context c = {q, links, NULL, NULL, -1, NULL};
    observe_source_kind("wall");
    const named_measure m = observe_section(kind);
    measure_result r = measure(&c, &m);
    double value = NAN;
    CHECK_INT(r.failed, 0);
    for (long row = 0; row < r.nrows; row++)
        if (measure_value(&r, row, "t") == 10 && measure_value(&r, row, column) == number)
            value = measure_value(&r, row, "real");
    measure_result_free(&r);
    return value;
}

static void test_free(void)
{
    const struct ref_lattice free_shape = {{2, 2, 2, 32}};
    const double Z = 2; /* 1 + m_0 */
    lattice *lat = kit_lattice(free_shape, 2, -1);
    double complex *u = kit_alloc(36 * ref_volume(free_shape), sizeof *u);
    for (size_t i = 0; i < 36 * ref_volume(free_shape); i++) u[i] = i % 9 % 4 == 0;
    field *links = kit_links(lat, u);
    const double nucleon = two_point_of(links, "baryons", "parity", 1),
                 pion = two_point_of(links, "mesons", "sink", 15);
    const char *const kind = "sequential_nucleon";
    CHECK_NEAR(creal(charge(links, kind, "u", "none", 8)) / nucleon, 2 / Z, 1e-5);
    CHECK_NEAR(creal(charge(links, kind, "d", "none", 8)) / nucleon, 1 / Z, 1e-5);
    CHECK_NEAR(cabs(charge(links, "sequential", NULL, NULL, 8)) / pion, 1 / Z, 1e-5);
    /* Gamma_14 = gamma_x gamma_5, Gamma_13 = - gamma_y gamma_5, Gamma_11 = gamma_z gamma_5; expectation values are i times the charge. */
    static const int number[3] = {14, 13, 11}, sign[3] = {1, -1, 1};
    for (int k = 0; k < 3; k++) {
        const double complex up = charge(links, kind, "u", polarisations[k + 1], number[k]) / nucleon,
                             down = charge(links, kind, "d", polarisations[k + 1], number[k]) / nucleon;
        CHECK_NEAR(cabs(up - I * sign[k] * 4 / 3 / Z), 0, 1e-5);
        CHECK_NEAR(cabs(down + I * sign[k] / 3.0 / Z), 0, 1e-5);
    }
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_rough();
    test_free();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
