/* Low-mode averaging of mesons, low_modes = yes, on 2^3 x 4 with clover quarks of two masses, with and without smearing, and
 * with domain wall quarks.
 *
 * Theorems: the sum over all positions of the source is that of the plain correlator, for all operators and momenta: there is
 * no bias. The average of the low part is the mean over positions of the low part at each, by itself: what eigenvectors hold of
 * solutions for projected sources. It takes no solve. Correlators depend less on the position than plain ones. Stores of several
 * positions share it. */
#include "tests/hmc/eigenvectors.h"
#include "tests/hmc/observe.h"

#include "hmc/measure/low_propagator.h"
#include "hmc/measure/propagator.h"
#include "solvers/block_matrix.h"

static const struct ref_lattice shape = {{2, 2, 2, 4}};
enum { PLAIN, LOW, KINDS };

/* Both measurements with the source at a place, on one store of propagators. */
static void measure_at(const measure_context *context, const named_measure m[KINDS], low_store *low, const int shift[4],
                       measure_result r[KINDS])
{
    measure_context c = *context;
    propagator_place place = {.low = low};
    memcpy(place.shift, shift, sizeof place.shift);
    c.propagators = propagator_store_open(&c, NULL, &place);
    for (int i = 0; i < KINDS; i++) {
        r[i] = measure(&c, &m[i]);
        if (r[i].failed) printf("%s\n", r[i].trouble);
        KIT_INT(r[i].failed, 0);
    }
    propagator_store_close(c.propagators);
}

/* Sums over all positions of both measurements, and of their squares. */
static void test_no_bias(const measure_context *c, const named_measure m[KINDS], double gain)
{
    const int *L = c->links->lat->size, volume = L[0] * L[1] * L[2] * L[3];
    low_store *low = low_store_open();
    double *sum = NULL, *squares = NULL, change = 0;
    long n = 0, columns = 0;
    for (int y = 0; y < volume; y++) {
        const int shift[4] = {y % L[0], y / L[0] % L[1], y / L[0] / L[1] % L[2], y / L[0] / L[1] / L[2]};
        measure_result r[KINDS];
        measure_at(c, m, low, shift, r);
        columns = r[PLAIN].what->ncolumns;
        n = r[PLAIN].nrows * columns;
        if (!sum) sum = kit_alloc((size_t)(KINDS * n), sizeof *sum);
        if (!squares) squares = kit_alloc((size_t)(KINDS * n), sizeof *squares);
        for (int i = 0; i < KINDS; i++)
            for (long k = 0; k < n; k++) {
                sum[i * n + k] += r[i].rows[k] / volume;
                squares[i * n + k] += r[i].rows[k] * r[i].rows[k] / volume;
            }
        KIT_CHECK(measure_value(&r[LOW], -1, "iterations") == measure_value(&r[PLAIN], -1, "iterations"));
        for (int i = 0; i < KINDS; i++) measure_result_free(&r[i]);
    }
    double largest = 0, worst = 0, of[KINDS] = {0, 0};
    for (long k = 0; k < n; k++) {
        if (k % columns < columns - 2) continue;
        largest = fmax(largest, fabs(sum[k]));
        worst = fmax(worst, fabs(sum[k] - sum[n + k]));
        for (int i = 0; i < KINDS; i++) of[i] += squares[i * n + k] - sum[i * n + k] * sum[i * n + k];
        change = fmax(change, fabs(squares[k] - squares[n + k]));
    }
    printf("largest %.4g, bias %.2e, variance over positions: plain %.4g, averaged %.4g\n", largest, worst, of[PLAIN],
           of[LOW]);
    KIT_CHECK(worst < 1e-10 * largest);
    KIT_CHECK(change > 1e-6 * largest * largest);
    KIT_CHECK(gain * of[LOW] < of[PLAIN]);
    free(squares);
    free(sum);
    low_store_close(low);
}

static named_measure section(const char *operators, const char *pairs, const char *low)
{
    named_measure m = observe_section("mesons");
    observe_set(&m, "operators", operators);
    observe_set(&m, "pairs", pairs);
    observe_set(&m, "momentum2", "1");
    observe_set(&m, "low_modes", low);
    return m;
}

/* x is the reconstruction of what the vectors of e hold of its part on their parity. */
static void keep_eigenvectors(field *x, const eigen_pairs *e, fermion *q)
{
    field *half = linop_vector(q->normal, 1), *sum = field_like(half), *none = fermion_vector(q);
    const field part = field_part(x, half->par);
    vector_axpby(half, 1, &part, 0);
    for (int i = 0; i < e->nblocks; i++) {
        block_matrix *c = block_dot(e->blocks[i], half, 0);
        block_axpy(sum, 1, c, e->blocks[i], 1, sum);
        block_free(c);
    }
    fermion_reconstruct(q, x, sum, none);
    field *const all[] = {half, sum, none};
    for (int i = 0; i < 3; i++) field_destroy(all[i]);
}

/* The low part that average and subtraction stand on, from the columns at one place: C_plain - C_low + average is what the
 * measurement has. M^-1 P eta is solved for column by column, from P eta; the eigenvectors' part of it is the low part, for
 * v^dagger Mhat^-1 = v^dagger Mhat^dagger / lambda. */
static void test_low_part(const measure_context *context, const measure_result r[KINDS], fermion *q,
                          const eigen_pairs *e)
{
    const parameters *p = context->p;
    const lattice *lat = context->links->lat;
    const int *L = lat->size, volume = L[0] * L[1] * L[2] * L[3];
    low_modes *modes = low_modes_create(e, e->n, q);
    field *eta = fermion_physical(q), *low = field_create(lat, eta->kind, PREC_DOUBLE, PARITY_BOTH, 12, eta->where);
    quark_solves s;
    momenta zero;
    double *mean = kit_alloc((size_t)L[3], sizeof *mean), *here = kit_alloc((size_t)L[3], sizeof *here);
    const spin_matrix five = gamma_number(GAMMA_5);
    measure_result trouble = {.what = observable_number(param_kind(observable_section(0), "mesons"))};
    solves_open(&s, context, p->quarks[0].name, "", 0);
    momenta_open(&zero, lat, 0);
    for (int y = 0; y < volume; y++) {
        const int at[4] = {y % L[0], y / L[0] % L[1], y / L[0] / L[1] % L[2], y / L[0] / L[1] / L[2]};
        contraction c;
        for (int k = 0; k < 12; k++) {
            double *unit = kit_alloc(24 * (size_t)volume, sizeof *unit);
            unit[24 * y + 2 * k] = 1;
            kit_scatter(eta, unit);
            free(unit);
            field *all = field_like(eta), *x = field_like(eta), column = field_rhs(low, k);
            vector_axpby(all, 1, eta, 0);
            low_modes_project(modes, eta);
            vector_axpby(all, -1, eta, 1);
            KIT_INT(solves_one(&s, x, all, "a projected source", &trouble), MEASURE_DONE);
            keep_eigenvectors(x, e, q);
            vector_axpby(&column, 1, x, 0);
            field_destroy(x);
            field_destroy(all);
        }
        field_written(low);
        contraction_open(&c, &zero, low, low, at);
        for (int t = 0; t < L[3]; t++) {
            const double value = creal(contraction_meson(&c, &five, &five, 0, t));
            mean[t] += value / volume;
            if (y == 0) here[t] = value;
        }
        contraction_close(&c);
    }
    for (long i = 0; i < r[LOW].nrows; i++) {
        const int t = (int)measure_value(&r[LOW], i, "t");
        if (measure_value(&r[LOW], i, "source") != 15 || measure_value(&r[LOW], i, "sink") != 15) continue;
        if (measure_value(&r[LOW], i, "nx") != 0 || measure_value(&r[LOW], i, "ny") != 0) continue;
        if (measure_value(&r[LOW], i, "nz") != 0) continue;
        KIT_NEAR(measure_value(&r[LOW], i, "real"), measure_value(&r[PLAIN], i, "real") - here[t] + mean[t],
                 1e-9 * fabs(here[t]));
        KIT_CHECK(fabs(here[t] - mean[t]) > 1e-6 * fabs(here[t]));
    }
    momenta_close(&zero);
    solves_close(&s);
    free(here);
    free(mean);
    field_destroy(low);
    field_destroy(eta);
    low_modes_free(modes);
}

typedef struct {
    parameters *p;
    field *links;
    fermion *q[2];
    eigen_pairs *e[2];
    char path[2][96];
} scene;

/* Quarks `quark` and `heavy` with solvers `cg` and `other`, and propagators `propagator` and `second` of each, from one point. */
static void open_scene(scene *s, const lattice *lat, const double complex *u, const char *kind, const char *keys[][2],
                       double mass, double heavy)
{
    parameters *p = s->p = observe_parameters(kind, mass);
    char message[PARAM_MESSAGE_SIZE];
    for (int i = 0; keys[i][0]; i++)
        for (int k = 0; quark_kind_number(param_kind(quark_section(0), kind))->parts[k]; k++) {
            const param *of = param_find(quark_kind_number(param_kind(quark_section(0), kind))->parts[k], keys[i][0]);
            void *in = quark_keys(&p->quarks[0].p, quark_kind_number(param_kind(quark_section(0), kind))->parts[k]);
            if (of) REQUIRE(!param_set(of, in, keys[i][1], message, sizeof message), "%s", message);
        }
    quark_params *second = observe_second_quark("heavy");
    p->nsolvers = 2;
    p->solvers[1] = p->solvers[0];
    snprintf(p->solvers[1].name, sizeof p->solvers[1].name, "other");
    snprintf(second->solver, sizeof second->solver, "other");
    second->mass = heavy;
    observe_propagator("second", "heavy");
    s->links = kit_links((lattice *)lat, u);
    for (int i = 0; i < 2; i++) {
        s->q[i] = quark_kind_number(param_kind(quark_section(0), kind))->make(s->links, &p->quarks[i].p, NULL, 0);
        snprintf(s->path[i], sizeof s->path[i], "test-low-average-%d-%d.h5", comm_size(), i);
        s->e[i] = eigenvectors_for(p, s->q[i], &p->quarks[i].p, &p->solvers[i].p, 12, s->path[i]);
    }
}

static void close_scene(scene *s)
{
    for (int i = 0; i < 2; i++) {
        if (comm_rank() == 0) remove(s->path[i]);
        eigen_free(s->e[i]);
        fermion_destroy(s->q[i]);
    }
    field_destroy(s->links);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 77);
    lattice *lat = kit_lattice(shape, 1, 1);
    if (lat) {
        double complex *u = kit_random_gauge(shape, 0.4, &rng);
        static const int origin[4];
        const char *clover[][2] = {{"c_sw", "1.2"}, {NULL, NULL}}, *walls[][2] = {{"Ls", "4"}, {NULL, NULL}};
        scene s;
        open_scene(&s, lat, u, "wilson_clover", clover, -0.3, 0.1);
        const measure_context c = {s.p, s.links, NULL, NULL, -1, NULL};
        named_measure m[KINDS] = {section("pseudoscalar vector", "all", "no"),
                                  section("pseudoscalar vector", "all", "yes")};
        measure_result r[KINDS];
        kit_where("one mass");
        low_store *low = low_store_open();
        measure_at(&c, m, low, origin, r);
        test_low_part(&c, r, s.q[0], s.e[0]);
        for (int i = 0; i < KINDS; i++) measure_result_free(&r[i]);
        low_store_close(low);
        test_no_bias(&c, m, 5);
        kit_where("two masses, smeared");
        s.p->nsmearings = 1;
        snprintf(s.p->smearings[0].name, sizeof s.p->smearings[0].name, "wide");
        params_default(smearing_section(), &s.p->smearings[0].p);
        s.p->smearings[0].p.width = 0.7;
        s.p->smearings[0].p.steps = 3;
        snprintf(s.p->sources[0].p.smearing, PARAM_STRING_SIZE, "wide");
        snprintf(s.p->propagators[1].p.sink_smearing, PARAM_STRING_SIZE, "wide");
        for (int i = 0; i < KINDS; i++) observe_set(&m[i], "propagator_2", "second");
        test_no_bias(&c, m, 2);
        close_scene(&s);
        kit_where("domain walls");
        open_scene(&s, lat, u, "mobius", walls, 0.1, 0.2);
        const measure_context d = {s.p, s.links, NULL, NULL, -1, NULL};
        for (int i = 0; i < KINDS; i++) {
            m[i] = section("pseudoscalar", "diagonal", i ? "yes" : "no");
            observe_set(&m[i], "momentum2", "5"); /* momenta of two batches */
        }
        test_no_bias(&d, m, 2);
        close_scene(&s);
        free(u);
    }
    lattice_destroy(lat);
    return kit_end();
}
