/* Propagators and vertex functions in momentum space.
 *
 * Theorems: free quarks have S(p) = (a - i gamma.s) / (a^2 + s^2), a = m + sum_mu (1 - cos p_mu), s_mu = sin p_mu, and G = S(p_1) Gamma
 * S(p_2), for all Gamma, with antiperiodic and with periodic time; on rough links they are the sums of the definition over the columns of
 * the propagators, in plain loops; amputated, free vertices are 1, and S^-1 has s = a and v = sin p; means are taken before matrices
 * are inverted; what has no volume source is refused, and volume sources are by all others. */
#include "hmc/measure/propagator.h"
#include "hmc/report/vertices.h"
#include "hmc/sources/gamma.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

static const struct ref_lattice shape = {{4, 4, 2, 6}};
static const int momentum[2][4] = {{1, 0, 0, 1}, {0, -1, 0, 2}};
enum { N = 12 };

typedef double complex matrix[N][N];

static void add(matrix c, double complex factor, const double complex gamma[4][4])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (i % 3 == j % 3) c[i][j] += factor * gamma[i / 3][j / 3];
}

static void multiply(matrix c, const matrix a, const matrix b)
{
    memset(c, 0, sizeof(matrix));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
}

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

static double component(const int n[4], int d, int time_sign)
{
    return 2 * M_PI * (n[d] + (d == 3 && time_sign < 0 ? 0.5 : 0)) / shape.size[d];
}

/* The free propagator. */
static void free_propagator(matrix S, const int n[4], double mass, int time_sign)
{
    double complex one[4][4];
    double a = mass, square = 0;
    gamma_dense(one, 0);
    memset(S, 0, sizeof(matrix));
    for (int d = 0; d < 4; d++) {
        const double p = component(n, d, time_sign);
        a += 1 - cos(p);
        square += sin(p) * sin(p);
        add(S, -I * sin(p), ref_gamma[d]);
    }
    add(S, a, one);
    for (int i = 0; i < N * N; i++) S[i / N][i % N] /= a * a + square;
}

static void have(matrix m, const measure_result *r, int part, int gamma)
{
    int found = 0;
    for (long row = 0; row < r->nrows; row++) {
        if (measure_value(r, row, "part") != part || measure_value(r, row, "gamma") != gamma) continue;
        const int e = (int)measure_value(r, row, "element");
        m[e / N][e % N] = measure_value(r, row, "real") + I * measure_value(r, row, "imaginary");
        found++;
    }
    KIT_INT(found, N * N);
}

static void compare(const matrix a, const matrix b)
{
    double worst = 0, largest = 0;
    for (int i = 0; i < N * N; i++) {
        worst = fmax(worst, cabs(a[i / N][i % N] - b[i / N][i % N]));
        largest = fmax(largest, cabs(b[i / N][i % N]));
    }
    KIT_CHECK(largest > 1e-4);
    KIT_CHECK(worst < 1e-9 * largest);
}

/* Two propagators of one quark from waves. */
static parameters *sections(double mass, double c_sw)
{
    parameters *p = observe_parameters("wilson_clover", mass);
    char text[64];
    wilson_keys_of(&p->quarks[0].p)->c_sw = c_sw;
    observe_source_kind("volume");
    p->nsources = 2;
    p->sources[1] = p->sources[0];
    snprintf(p->sources[1].name, sizeof p->sources[1].name, "second");
    for (int i = 0; i < 2; i++) {
        const int *n = momentum[i];
        snprintf(text, sizeof text, "%d.%d.%d.%d", n[0], n[1], n[2], n[3]);
        observe_key(&p->sources[i].p, "momentum", text);
    }
    named_propagator *q = observe_propagator("out", "quark");
    snprintf(q->p.source, sizeof q->p.source, "second");
    return p;
}

static named_measure section(const char *second)
{
    named_measure m = observe_section("vertices");
    observe_set(&m, "propagator_2", second);
    return m;
}

static void test_free(const lattice *lat, double mass)
{
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    gauge_cold(links);
    parameters *p = sections(mass, 1);
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    for (int same = 0; same < 2; same++) {
        named_measure m = section(same ? "propagator" : "out");
        measure_result r = measure(&c, &m);
        matrix S[2], found;
        KIT_INT(r.failed, 0);
        for (int i = 0; i < 2; i++) {
            free_propagator(S[i], momentum[same ? 0 : i], mass, lat->time_sign);
            have(found, &r, i, 0);
            compare(found, S[i]);
        }
        for (int gamma = 0; gamma < 16; gamma++) {
            double complex g[4][4];
            matrix dense = {{0}}, half, want;
            gamma_dense(g, gamma);
            add(dense, 1, g);
            multiply(half, S[0], dense);
            multiply(want, half, S[1]);
            have(found, &r, 2, gamma);
            compare(found, want);
        }
        measure_result_free(&r);
    }
    field_destroy(links);
}

/* A matrix as a correlator of two configurations, the second of which is `factor` times the first. */
static void put(correlators *c, const matrix m, int part, int gamma, double factor)
{
    for (int k = 0; k < 2; k++) {
        correlator *to = &c->all[c->n++];
        *to = (correlator){.T = N * N, .n = 2, .table = "v"};
        snprintf(to->column, sizeof to->column, "%s", k ? "imaginary" : "real");
        snprintf(to->labels, sizeof to->labels, "lattice = 4.4.2.6 gamma = %d part = %d", gamma, part);
        to->values = kit_alloc(2 * N * N, sizeof *to->values);
        for (int e = 0; e < 2 * N * N; e++) {
            const double complex value = m[e % (N * N) / N][e % N];
            to->values[e] = (k ? cimag(value) : creal(value)) * (e < N * N ? 1 : factor);
        }
    }
}

static void test_amputated(const lattice *lat, double mass, double factor)
{
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    gauge_cold(links);
    const measure_context c = {sections(mass, 0), links, NULL, NULL, -1, NULL};
    named_measure m = section("out");
    measure_result r = measure(&c, &m);
    correlators all = {.all = kit_alloc(36, sizeof *all.all)};
    matrix found;
    vertices v;
    for (int i = 0; i < 2; i++) {
        have(found, &r, i, 0);
        put(&all, found, i, 0, factor);
    }
    for (int gamma = 0; gamma < 16; gamma++) {
        have(found, &r, 2, gamma);
        put(&all, found, 2, gamma, factor);
    }
    KIT_CHECK(vertices_begin(&all, 0) && !vertices_begin(&all, 1) && !vertices_begin(&all, 2));
    vertices_of(&v, &all, 0, 1);
    KIT_INT(v.blocks, 2);
    const double mean = (1 + factor) / 2;
    for (int i = 0; i < 2; i++) {
        double a = mass;
        for (int d = 0; d < 4; d++) {
            const double p = component(momentum[i], d, lat->time_sign);
            a += 1 - cos(p);
            KIT_NEAR(v.value[5 * i + 1 + d], sin(p) / mean, 1e-9);
        }
        KIT_NEAR(v.value[5 * i], a / mean, 1e-9);
    }
    for (int k = 10; k < VERTICES_VALUES; k++) {
        KIT_NEAR(v.value[k], 1 / mean, 1e-9);
        /* Samples are those of one configuration, 1 / factor and 1. */
        KIT_NEAR(v.error[k], fabs(1 - 1 / factor) / 2, 1e-9);
    }
    correlators_free(&all);
    measure_result_free(&r);
    field_destroy(links);
}

/* The definition in plain loops. */
static void sums_of(matrix S[2], matrix G, const field *const x[2], int gamma)
{
    const lattice *lat = x[0]->lat;
    const int *l = lat->local, *o = lat->origin;
    double *slice[2] = {field_slice_buffer(x[0]), field_slice_buffer(x[1])};
    double complex five[4][4], g[4][4];
    ref_gamma5(five);
    gamma_dense(g, gamma);
    memset(S, 0, 2 * sizeof(matrix));
    memset(G, 0, sizeof(matrix));
    for (int t = 0; t < l[3]; t++) {
        for (int k = 0; k < 2; k++) field_export(x[k], t, slice[k]);
        for (int site = 0; site < l[0] * l[1] * l[2]; site++) {
            const int at[4] = {site % l[0] + o[0], site / l[0] % l[1] + o[1], site / l[0] / l[1] + o[2], t + o[3]};
            double complex wave[2];
            for (int k = 0; k < 2; k++) {
                double phase = 0;
                for (int d = 0; d < 4; d++) phase += component(momentum[k], d, lat->time_sign) * at[d];
                wave[k] = cexp(-I * phase) / (double)lat->volume;
            }
            const double complex *a = (const double complex *)slice[0] + 144 * site,
                                 *b = (const double complex *)slice[1] + 144 * site;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    S[0][i][j] += wave[0] * a[N * j + i];
                    S[1][i][j] += wave[1] * b[N * j + i];
                    double complex sum = 0;
                    for (int s = 0; s < 64; s++) {
                        const int u = s / 16, v = s / 4 % 4, w = s % 4;
                        for (int colour = 0; colour < 3; colour++)
                            sum += conj(a[N * i + 3 * u + colour]) * five[u][v] * g[v][w] * b[N * j + 3 * w + colour];
                    }
                    G[i][j] += conj(wave[0]) * wave[1] * (double)lat->volume * five[i / 3][i / 3] * sum;
                }
        }
    }
    for (int k = 0; k < 2; k++) free(slice[k]);
    double *all[3] = {(double *)S[0], (double *)S[1], (double *)G};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 2 * N * N; i++) {
            exact_sum e = exact_zero();
            exact_add(&e, all[k][i]);
            comm_sum_exact(&e, 1);
            all[k][i] = exact_value(&e);
        }
}

static void test_definition(const field *links)
{
    parameters *p = sections(0.4, 1.1);
    measure_context c = {p, links, NULL, NULL, -1, NULL};
    named_measure m = section("out");
    c.propagators = propagator_store_open(&c, NULL, NULL);
    measure_result r = measure(&c, &m), again = {.what = r.what};
    const propagator *q[MEASURE_PROPAGATORS];
    KIT_INT(r.failed, 0);
    KIT_INT(propagators_of(&c, &m.p, q, &again), MEASURE_DONE);
    const field *const x[2] = {q[0]->columns, q[1]->columns};
    for (int gamma = 0; gamma < 16; gamma += 5) {
        matrix S[2], G, found;
        sums_of(S, G, x, gamma);
        for (int k = 0; k < 2; k++) {
            have(found, &r, k, 0);
            compare(found, S[k]);
        }
        have(found, &r, 2, gamma);
        compare(found, G);
    }
    measure_result_free(&r);
    propagator_store_close(c.propagators);
}

static void test_refused(void)
{
    char message[512];
    parameters *p = sections(0.4, 1.1);
    named_measure m = section("out");
    const observable *o = observable_number(param_kind(observable_section(0), "vertices"));
    CHECK(o->check(p, &m, message, sizeof message) == NULL);
    p->propagators[1].p.sink = SINK_WALL;
    CHECK_STR(o->check(p, &m, message, sizeof message), "propagator_2");
    observe_source_kind("point");
    CHECK_STR(o->check(p, &m, message, sizeof message), "propagator");
    CHECK_HAS(message,
              "needs sources of kind = volume, and [source.source] of [propagator.propagator] is of kind = point");
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 61);
    double complex *u = kit_random_gauge(shape, 0.5, &rng);
    for (int sign = -1; sign <= 1; sign += 2) {
        lattice *lat = kit_lattice(shape, 1, sign);
        if (!lat) continue;
        kit_where("time sign %d", sign);
        test_free(lat, 0.3);
        test_amputated(lat, 0.3, 1);
        test_amputated(lat, 0.3, 3);
        field *links = kit_links(lat, u);
        test_definition(links);
        field_destroy(links);
        lattice_destroy(lat);
    }
    test_refused();
    free(u);
    return kit_end();
}
