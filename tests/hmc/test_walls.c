/* Measurements of domain wall quarks.
 *
 * Theorems: the axial Ward identity holds at every time but the source's, on rough links, for Shamir's, Borici's and
 * Moebius coefficients and both signs in time; correlators are those of an oracle that solves M as it is written down;
 * the residual mass of free quarks falls exponentially with Ls, and on smooth links that of Moebius quarks with
 * b5 + c5 = 2 is about that of Shamir's on twice as many slices; results are the same bits on all grids. */
#include "tests/kernels/kit.h"

#include "hmc/quarks/quark.h"
#include "tests/hmc/observe.h"

typedef struct {
    double mass, M5, b5, c5;
    int Ls;
} wall;

static void set_key(const char *key, double value)
{
    quark_params *f = &the_parameters.quarks[0].p;
    const quark_kind *kind = quark_kind_of(f);
    char text[32], message[PARAM_MESSAGE_SIZE];
    snprintf(text, sizeof text, "%.15g", value);
    for (int k = 0; kind->parts[k]; k++) {
        const param *p = param_find(kind->parts[k], key);
        if (p) REQUIRE(!param_set(p, quark_keys(f, kind->parts[k]), text, message, sizeof message), "%s", message);
    }
}

static void open_parameters(const wall *w)
{
    observe_parameters("mobius", w->mass);
    set_key("M5", w->M5);
    set_key("b5", w->b5);
    set_key("c5", w->c5);
    set_key("Ls", w->Ls);
}

static measure_result measured(const field *links, const char *kind, const int source[4])
{
    const measure_context c = {&the_parameters, links, NULL, NULL, -1, NULL};
    static named_measure m;
    m = observe_section(kind);
    observe_place(source);
    return measure(&c, &m);
}

static const int origin[4];

static void test_ward(const wall *w, int sign)
{
    static const int source[4] = {1, 0, 3, 3};
    const struct ref_lattice l = {{4, 4, 4, 6}};
    struct ref_rng rng;
    lattice *lat = kit_lattice(l, 1, sign);
    if (!lat) return;
    ref_rng_seed(&rng, 71);
    double complex *u = kit_random_gauge(l, 0.5, &rng);
    field *links = kit_links(lat, u);
    open_parameters(w);
    measure_result r = measured(links, "residual_mass", source);
    CHECK_INT(r.failed, 0);
    for (int t = 1; t < l.size[3]; t++) {
        const double found = measure_value(&r, t, "axial") - measure_value(&r, t - 1, "axial");
        const double pion = 2 * w->mass * measure_value(&r, t, "pion"), mid = 2 * measure_value(&r, t, "midpoint");
        kit_where("b5 %g, c5 %g, Ls %d, sign %d, t %d", w->b5, w->c5, w->Ls, sign, t);
        KIT_CHECK(mid > 1e-4 * pion); /* else the identity would not see it */
        KIT_NEAR(found, pion + mid, 1e-9 * measure_value(&r, 0, "pion"));
    }
    measure_result_free(&r);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
}

/* ---- against the oracle ---- */

static void normal_of(double complex *out, const double complex *in, void *context)
{
    const struct ref_mobius *m = context;
    double complex *t = kit_alloc(12 * ref_volume(m->w->l) * (size_t)m->Ls, sizeof *t);
    ref_mobius_apply(t, in, m, 0);
    ref_mobius_apply(out, t, m, 1);
    free(t);
}

/* Adds of a column, by time: |q|^2, |midpoint|^2, -q^dagger gamma_t q. psi is [slice][site][12]. */
static void add_oracle(double sums[3][8], const double complex *psi, const struct ref_mobius *m)
{
    const struct ref_lattice l = m->w->l;
    const size_t n = 12 * ref_volume(l), Ls = (size_t)m->Ls;
    for (size_t site = 0; site < ref_volume(l); site++) {
        double complex q[12], mid[12];
        int x[4];
        ref_coordinates(x, l, site);
        for (size_t k = 0; k < 12; k++) { /* upper spins have gamma5 = +1 */
            q[k] = psi[(k < 6 ? Ls - 1 : 0) * n + 12 * site + k];
            mid[k] = psi[(k < 6 ? Ls / 2 - 1 : Ls / 2) * n + 12 * site + k];
        }
        sums[0][x[3]] += ref_norm2(q, 12);
        sums[1][x[3]] += ref_norm2(mid, 12);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int c = 0; c < 3; c++)
                    sums[2][x[3]] -= creal(conj(q[3 * a + c]) * ref_gamma[3][a][b] * q[3 * b + c]);
    }
}

static void oracle(double sums[3][8], struct ref_mobius *m)
{
    const size_t n = 12 * ref_volume(m->w->l), all = n * (size_t)m->Ls;
    double complex *eta = kit_alloc(n, sizeof *eta), *d = kit_alloc(n, sizeof *d), *b = kit_alloc(all, sizeof *b),
                   *rhs = kit_alloc(all, sizeof *rhs), *psi = kit_alloc(all, sizeof *psi);
    for (size_t column = 0; column < 12; column++) {
        const size_t slice = column < 6 ? 0 : (size_t)m->Ls - 1;
        memset(eta, 0, n * sizeof *eta);
        memset(b, 0, all * sizeof *b);
        memset(psi, 0, all * sizeof *psi);
        eta[column] = 1;
        ref_wilson_apply(d, eta, m->w, 0);
        for (size_t i = 0; i < n; i++) b[slice * n + i] = eta[i] - m->c * d[i];
        ref_mobius_apply(rhs, b, m, 1);
        CHECK(ref_cg(psi, rhs, all, normal_of, m, 1e-13, 5000) > 0);
        add_oracle(sums, psi, m);
    }
    free(psi);
    free(rhs);
    free(b);
    free(d);
    free(eta);
}

static void test_oracle(const wall *w)
{
    const struct ref_lattice l = {{2, 2, 2, 4}};
    struct ref_rng rng;
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 72);
    double complex *u = kit_random_gauge(l, 0.4, &rng);
    double sums[3][8] = {{0}};
    struct ref_wilson wilson;
    ref_wilson_create(&wilson, l, u, -w->M5, 0, -1);
    struct ref_mobius m = {&wilson, w->mass, w->b5, w->c5, w->Ls, NULL, NULL};
    oracle(sums, &m);
    field *links = kit_links(lat, u);
    open_parameters(w);
    measure_result r = measured(links, "residual_mass", origin), pion = measured(links, "pion", origin);
    for (int t = 0; t < l.size[3]; t++) {
        kit_where("b5 %g, c5 %g, Ls %d, t %d", w->b5, w->c5, w->Ls, t);
        KIT_REL(measure_value(&pion, t, "pion"), sums[0][t], 1e-9);
        KIT_REL(measure_value(&r, t, "pion"), sums[0][t], 1e-9);
        KIT_REL(measure_value(&r, t, "midpoint"), sums[1][t], 1e-9);
        KIT_REL(measure_value(&r, t, "residual_mass"), sums[1][t] / sums[0][t], 1e-9);
        KIT_NEAR(measure_value(&r, t, "axial_local"), sums[2][t], 1e-9 * sums[0][t]);
    }
    const double mean = (sums[1][1] / sums[0][1] + sums[1][2] / sums[0][2] + sums[1][3] / sums[0][3]) / 3;
    KIT_REL(measure_value(&r, -1, "residual_mass"), mean, 1e-9);
    measure_result_free(&pion);
    measure_result_free(&r);
    field_destroy(links);
    ref_wilson_destroy(&wilson);
    lattice_destroy(lat);
    free(u);
}

/* ---- how the residual mass falls ---- */

static double residual_mass(const field *links, double M5, double b5, double c5, int Ls)
{
    const wall w = {0.05, M5, b5, c5, Ls};
    open_parameters(&w);
    measure_result r = measured(links, "residual_mass", origin);
    CHECK_INT(r.failed, 0);
    const double m = measure_value(&r, -1, "residual_mass");
    if (comm_rank() == 0) printf("b5 %g, c5 %g, Ls %d: residual mass %.6g\n", b5, c5, Ls, m);
    measure_result_free(&r);
    return m;
}

static void test_slices(void)
{
    const struct ref_lattice l = {{4, 4, 4, 8}};
    struct ref_rng rng;
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    ref_rng_seed(&rng, 73);
    double complex *u = ref_gauge_new(l);
    ref_unit_gauge(u, l);
    field *links = kit_links(lat, u);
    const double free4 = residual_mass(links, 1.4, 1, 0, 4), free8 = residual_mass(links, 1.4, 1, 0, 8),
                 free12 = residual_mass(links, 1.4, 1, 0, 12);
    CHECK(free8 < 0.2 * free4);
    CHECK_REL(log(free8 / free12), log(free4 / free8), 0.2);
    ref_weak_gauge(u, l, 0.2, &rng);
    kit_scatter(links, u);
    CHECK(residual_mass(links, 1.6, 1, 0, 8) < 0.5 * residual_mass(links, 1.6, 1, 0, 4));
    /* A low wall has a kernel of small eigenvalues, for which b5 + c5 counts as slices do. */
    CHECK_REL(residual_mass(links, 0.2, 1.5, 0.5, 4), residual_mass(links, 0.2, 1, 0, 8), 0.05);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
}

/* ---- grids, and what is refused ---- */

static void test_grids(const wall *w)
{
    const struct ref_lattice l = {{4, 4, 4, 4}};
    struct ref_rng rng;
    int grids[64][4];
    double first[4 * 8];
    const int n = kit_grids(l, grids, 64);
    ref_rng_seed(&rng, 74);
    double complex *u = kit_random_gauge(l, 0.3, &rng);
    open_parameters(w);
    for (int i = 0; i < n; i++) {
        lattice *lat = lattice_create(l.size, grids[i], 1, -1);
        field *links = kit_links(lat, u);
        measure_result r = measured(links, "residual_mass", origin);
        const size_t bytes = (size_t)(r.nrows * r.what->ncolumns) * sizeof *r.rows;
        REQUIRE(bytes <= sizeof first, "%zu bytes", bytes);
        if (i == 0) memcpy(first, r.rows, bytes);
        CHECK(!memcmp(first, r.rows, bytes));
        measure_result_free(&r);
        field_destroy(links);
        lattice_destroy(lat);
    }
    free(u);
}

static void test_odd(void)
{
    const wall odd = {0.1, 1.8, 1, 0, 5};
    char message[512] = "";
    open_parameters(&odd);
    const named_measure m = observe_section("residual_mass");
    const char *key = observable_of(&m.p)->check(&the_parameters, &m, message, sizeof message);
    CHECK(key && !strcmp(key, "quark"));
    CHECK_HAS(message, "needs an even Ls, but [quark.quark] has Ls = 5");
}

int main(int argc, char **argv)
{
    static const wall walls[] = {
        {0.1, 1.8, 1, 0, 4}, {0.2, 1.6, 1, 1, 4}, {0.1, 1.8, 1.5, 0.5, 6}, {0.3, 1.3, 0.8, 1.7, 2}};
    kit_begin(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        test_oracle(&walls[i]);
        test_ward(&walls[i], i % 2 ? 1 : -1);
    }
    test_ward(&walls[2], 1);
    test_slices();
    test_grids(&walls[2]);
    test_odd();
    return kit_end();
}
