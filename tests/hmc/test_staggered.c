/* Staggered quarks in the molecular dynamics. Sections share what they can of the smearing; at the heat bath
 * S = |eta|^2; the force of the trivial power is that of the plain pseudofermion; forces of several sections are the
 * same together and apart, and with long links of fewer reals; a quark that is only measured is what it is as an
 * action; with nearly singular links a trajectory is reversible; process grids leave no trace in it.
 * test_staggered_ensembles.c has averages. */
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/positions.h"
#include "hmc/measure/solves.h"
#include "io/links/links.h"
#include "kernels/lattice/plan.h"
#include "kernels/ops/vector.h"
#include "solvers/multishift.h"
#include "solvers/rational.h"
#include "tests/begin.h"
#include "tests/solve.h"
#include "operators/staggered.h"
#include "tests/hmc/bench.h"
#include "tests/hmc/staggered.h"

/* ---- what is shared ---- */

static void test_sharing(void)
{
    bench b = open_bench(hisq, 0, NULL);
    staggered_links *a = staggered_fermion_links(quark_of(&b, "a")),
                    *heavy = staggered_fermion_links(quark_of(&b, "heavy")),
                    *charm = staggered_fermion_links(quark_of(&b, "charm"));
    CHECK(a == heavy && a != charm && staggered_links_base(charm) == a);
    CHECK_INT(b.s->lat->reach, 3);
    close_bench(&b);
}

/* ---- the heat bath ---- */

static void test_heat_bath(const char *text, const char *name)
{
    bench b = open_bench(text, 0, NULL);
    action *a = action_of(&b, name);
    for (uint32_t k = 1; k <= 2; k++) {
        CHECK_INT(action_refresh(a, (random_key){3, k}), 0);
        const double s = value_of(a);
        CHECK(a->start_known);
        CHECK_REL(s, a->start_value, 1e-10);
        if (comm_rank() == 0) printf("heat bath: S %.12g, |eta|^2 %.12g\n", s, a->start_value);
    }
    close_bench(&b);
}

/* Six Gaussian numbers of variance 1/2 a site: also of the pseudofermion from both parities. */
static void test_heat_bath_of_four(void)
{
    bench b = open_bench(four, 0, NULL);
    double sum = 0;
    const int n = 40;
    for (uint32_t k = 1; k <= n; k++) {
        action_refresh(action_of(&b, "a"), (random_key){3, k});
        sum += value_of(action_of(&b, "a")) / n;
    }
    const double numbers = 0.5 * 3 * (double)b.s->lat->volume;
    CHECK_NEAR(sum / numbers, 1, 4 / sqrt(n * numbers));
    close_bench(&b);
}

/* ---- forces ---- */

static solver_settings tight(void)
{
    solver_settings set = {
        .type = param_kind(solver_section(0), "cg"), .tolerance = 1e-13, .max_iterations = 5000, .delta = 0.1};
    set.inner_precision = PREC_DOUBLE;
    return set;
}

/* |F - force of phi^dagger A^-1 phi| / |F|, F of the action */
static double force_differs(const bench *b, action *a, fermion *quark, const field *phi)
{
    static const double one = 1;
    const solver_settings set = tight();
    linop *op = quark->normal;
    field *x = linop_vector(op, 1), *f = field_like(b->s->e.force), *g = field_like(f);
    CHECK_INT(solve_by(&set, op, x, phi).status, SOLVE_CONVERGED);
    void *sum = fermion_open_force(quark, f);
    fermion_add_force(sum, quark, 1, &one, &x);
    fermion_close_force(quark, sum);
    CHECK_INT(action_force(a, g), 0);
    const double size = momenta_norm2(g);
    momenta_add(g, -1, f);
    const double difference = sqrt(momenta_norm2(g) / size);
    field_destroy(g);
    field_destroy(f);
    field_destroy(x);
    return difference;
}

/* dS along the force itself */
static void check_slope(const bench *b, action *a)
{
    momenta_zero(b->s->e.force);
    CHECK_INT(action_force(a, b->s->e.force), 0);
    const double slope = 2 * momenta_norm2(b->s->e.force), h = 1e-4 / sqrt(slope);
    gauge_update(b->s->links, h, b->s->e.force);
    const double up = value_of(a);
    gauge_update(b->s->links, -2 * h, b->s->e.force);
    CHECK_REL((up - value_of(a)) / (2 * h), slope, 1e-5);
    field_copy(b->s->links, b->start);
}

/* Links without long ones ask for less of the lattice. */
static void test_fat7(void)
{
    static const char text[] =
        FRAME "[gauge]\nbeta = 5.2\n"
              "[quark.a]\nkind = staggered\nlinks = fat7\nu0 = 0.9\nmass = 0.1\n[action.a]\nkind = rational\nquark = "
              "a\nflavours = 2\n" SOLVERS LEVELS("a", "5");
    bench b = open_bench(text, 0, NULL);
    action *a = action_of(&b, "a");
    CHECK_INT(b.s->lat->reach, 2);
    CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
    CHECK_REL(value_of(a), a->start_value, 1e-10);
    check_slope(&b, a);
    close_bench(&b);
}

/* As functions of the pseudofermion the trivial power and the plain action have the same force, phi from what their
 * heat baths draw: (M^dagger eta)_p, and A^(1/2) eta. */
static void test_trivial_power(void)
{
    static const char both[] = FRAME
        "[gauge]\nbeta = 5.2\n"
        "[quark.a]\nkind = staggered\nlinks = asqtad\nu0 = 0.9\nmass = 0.1\n[action.a]\nkind = four_flavours\nquark = "
        "a\n" SOLVERS "[quark.b]\nkind = staggered\nlinks = asqtad\nu0 = 0.9\nmass = 0.1\n[action.b]\nkind = "
        "rational\nquark = b\nflavours = 4\n" SOLVERS LEVELS("a b", "5");
    const random_key key = {3, 1};
    bench b = open_bench(both, 0, NULL);
    action *plain = action_of(&b, "a"), *power = action_of(&b, "b");
    fermion *quark = quark_of(&b, "a");
    linop *op = quark->normal;
    CHECK_INT(action_refresh(plain, key), 0);
    CHECK_INT(action_refresh(power, key), 0);
    CHECK_REL(value_of(power), power->start_value, 1e-10);

    field *eta = field_create(b.s->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST), *y = field_like(eta);
    vector_random(eta, key.seed, (uint32_t)plain->purpose, key.trajectory);
    fermion_apply(quark, y, eta, 1);
    const field of_plain = field_part(y, op->par);
    CHECK_NEAR(force_differs(&b, plain, quark, &of_plain), 0, 1e-8);
    field_destroy(y);
    field_destroy(eta);

    char message[256];
    const power_product root = power_of_x(-1, 2);
    const solver_settings set = tight();
    rational_store *store = rational_store_create();
    const rational *r = rational_for(store, &root, 0.01, 10, 1e-12, message, sizeof message);
    CHECK(r != NULL);
    field *x[RATIONAL_MAX_DEGREE];
    double tolerances[RATIONAL_MAX_DEGREE];
    for (int i = 0; i < r->degree; i++) {
        x[i] = linop_vector(op, 1);
        tolerances[i] = 1e-13;
    }
    field *noise = linop_vector(op, 1), *sum = linop_vector(op, 1), *phi = linop_vector(op, 1);
    vector_random(noise, key.seed, (uint32_t)power->purpose, key.trajectory);
    CHECK_INT(multishift_solve(&set, op, r->degree, r->poles, tolerances, x, noise).status, SOLVE_CONVERGED);
    vector_axpby(sum, r->constant, noise, 0);
    for (int i = 0; i < r->degree; i++) {
        vector_axpby(sum, r->residues[i], x[i], 1);
        field_destroy(x[i]);
    }
    linop_apply(op, phi, sum, 0);
    CHECK_NEAR(force_differs(&b, power, quark, phi), 0, 1e-8);
    /* and both know their own pseudofermion from the other's */
    CHECK(force_differs(&b, plain, quark, phi) > 0.1);
    field_destroy(phi);
    field_destroy(sum);
    field_destroy(noise);
    rational_store_destroy(store);

    check_slope(&b, plain);
    check_slope(&b, power);
    close_bench(&b);
}

/* Forces of sections with the same smearing, taken together, are the sum of them apart. */
static void test_together(void)
{
    bench b = open_bench(hisq, 0, NULL);
    action *all[] = {action_of(&b, "a"), action_of(&b, "heavy"), action_of(&b, "charm")};
    double seconds[3] = {0}, *const where[] = {&seconds[0], &seconds[1], &seconds[2]};
    field *sum = field_like(b.s->e.force), *together = field_like(sum);
    for (int i = 0; i < 3; i++) {
        CHECK(all[i]->shares && all[i]->shares == all[0]->shares);
        CHECK_INT(action_refresh(all[i], (random_key){3, 1}), 0);
        CHECK_INT(action_force(all[i], sum), 0);
    }
    const double size = momenta_norm2(sum);
    CHECK_INT(action_shared_force(all, 3, together, where), 0);
    momenta_add(together, -1, sum);
    CHECK_NEAR(sqrt(momenta_norm2(together) / size), 0, 1e-12);
    CHECK(seconds[0] > 0 && seconds[1] > 0 && seconds[2] > 0);
    field_destroy(together);
    field_destroy(sum);
    close_bench(&b);
}

/* With long links of 9 reals an action has the value and the force that it has with whole ones. */
static void test_storages(void)
{
    static const char *const overrides[] = {"quark.a.long_reals=9", "quark.charm.long_reals=9"}, *const names[] = {
                                                                                                     "a", "charm"};
    bench b[2] = {open_bench(hisq, 0, NULL), open_bench(hisq, 2, overrides)};
    field *other = field_like(b[0].s->e.force);
    double *slice = field_slice_buffer(other);
    CHECK(staggered_fermion_links(quark_of(&b[1], "a")) != staggered_fermion_links(quark_of(&b[1], "heavy")));
    for (int k = 0; k < 2; k++) {
        double value[2];
        for (int i = 0; i < 2; i++) {
            action *a = action_of(&b[i], names[k]);
            CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
            value[i] = value_of(a);
            CHECK_INT(action_force(a, b[i].s->e.force), 0);
        }
        CHECK_REL(value[1], value[0], 1e-10);
        const double size = momenta_norm2(b[0].s->e.force);
        for (int t = 0; t < other->lat->local[3]; t++) { /* the lattices are two */
            field_export(b[1].s->e.force, t, slice);
            field_import(other, t, slice);
        }
        momenta_add(other, -1, b[0].s->e.force);
        CHECK_NEAR(sqrt(momenta_norm2(other) / size), 0, 1e-8);
    }
    free(slice);
    field_destroy(other);
    for (int i = 0; i < 2; i++) close_bench(&b[i]);
}

/* A quark that is only measured: no action and no flavours, and what is measured is the same as with the operator of an
 * action of that mass, or without a run. */
static void test_measured_only(void)
{
    static const char more[] = "[quark.copy]\nkind = staggered\nmass = 0.2\nsolver = good\n"
                               "[measure.copy]\nkind = condensate\nvectors = 2\nquark = copy\n"
                               "[measure.heavy]\nkind = condensate\nvectors = 2\nquark = heavy\nsolver = good\n";
    char text[sizeof hisq + sizeof more];
    snprintf(text, sizeof text, "%s%s", hisq, more);
    bench b = open_bench(text, 0, NULL);
    const parameters *p = b.p;
    const int copy = parameters_quark(p, "copy");
    flavours sums[MAX_FLAVOURS];
    int all = 0;
    for (int i = parameters_flavours(p, sums); i > 0; i--) all += sums[i - 1].number;
    CHECK_INT(all, 4);
    CHECK(parameters_measured_only(p, &p->quarks[copy]) && !quark_set_find(b.s->quarks, &p->quarks[copy], 0.2));
    CHECK_INT(b.s->e.nactions, 4);
    const measure_context in_run = {p, b.s->links, b.s, NULL, -1, NULL}, alone = {p, b.s->links, NULL, NULL, -1, NULL};
    measure_result r[3] = {measure(&in_run, &p->measures[0]), measure(&in_run, &p->measures[1]),
                           measure(&alone, &p->measures[0])};
    for (int k = 0; k < 3; k++) {
        CHECK_INT(r[k].failed, 0);
        CHECK_INT(r[k].nrows, 2);
        for (int i = 0; i < 3 * (r[k].nrows == 2); i++) CHECK_NEAR(r[k].rows[i], r[0].rows[i], 0);
        CHECK_NEAR(r[k].summary[SOLVES_VALUES], r[0].summary[SOLVES_VALUES], 0);
    }
    for (int k = 0; k < 3; k++) measure_result_free(&r[k]);
    close_bench(&b);
}

/* ---- trajectories ---- */

/* Root mean square difference of the numbers of links. */
static double distance(const field *x, const field *y)
{
    double *a = field_slice_buffer(x), *b = field_slice_buffer(y), sum = 0;
    const int *l = x->lat->local;
    const size_t n = (size_t)(l[0] * l[1] * l[2]) * (size_t)(x->groups * x->reals);
    for (int t = 0; t < l[3]; t++) {
        field_export(x, t, a);
        field_export(y, t, b);
        for (size_t i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]) / (double)(n * (size_t)l[3]);
    }
    free(a);
    free(b);
    return sqrt(sum);
}

/* Random links have smeared ones that are nearly singular. The force is then not the derivative, but the same on the
 * way back, and the trajectory has an end; what is filtered is counted, by a trajectory again as often. */
static void test_filter(void)
{
    static const char text[] = HISQ_GLUE HISQ("a", "0.3", "", "2", "") LEVELS("a", "4");
    bench b = open_bench(text, 0, NULL);
    evolution *e = &b.s->e;
    field *momenta = field_like(e->momenta);
    CHECK_NEAR(quark_set_filtered(b.s->quarks), 0, 0);
    gauge_random(e->links, 3, RANDOM_START, 0);
    field_copy(b.start, e->links);
    CHECK_INT(action_refresh(action_of(&b, "a"), (random_key){3, 1}), 0);
    momenta_random(e->momenta, 3, RANDOM_MOMENTA, 1);
    field_copy(momenta, e->momenta);
    for (int way = 0; way < 2; way++) {
        CHECK_INT(evolve(e, 0.1), EVOLVE_DONE);
        momenta_add(e->momenta, -2, e->momenta);
        if (way == 0) CHECK(distance(e->links, b.start) > 1e-2);
    }
    momenta_add(e->momenta, -1, momenta);
    CHECK_NEAR(sqrt(momenta_norm2(e->momenta) / momenta_norm2(momenta)), 0, 1e-9);
    CHECK_NEAR(distance(e->links, b.start), 0, 1e-9);
    double counted[3] = {quark_set_filtered(b.s->quarks)};
    CHECK(counted[0] > 0);
    for (int k = 1; k < 3; k++) {
        field_copy(e->links, b.start);
        const trajectory_result r = trajectory_run(e, (random_key){3, 1}, 0.1, 1);
        CHECK_INT(r.status, EVOLVE_DONE);
        counted[k] = quark_set_filtered(b.s->quarks) - counted[0];
        counted[0] += counted[k];
    }
    CHECK(counted[1] > 0);
    CHECK_NEAR(counted[2], counted[1], 0);
    printf("HISQ filter: %g links in the forces of a trajectory\n", counted[1]);
    field_destroy(momenta);
    close_bench(&b);
}

static void test_traces(const char *text)
{
    static const char *const grids[] = {"1.1.1.1", "1.2.1.1", "1.1.1.2", "1.2.2.1", "1.1.2.2"};
    double first = NAN;
    char links[65] = "";
    for (int i = 0; i < 5; i++) {
        char one[64];
        int g[4];
        const char *const overrides[] = {one, "lattice.size=4.8.8.8", "quark.heavy.long_reals=9"};
        snprintf(one, sizeof one, "machine.grid=%s", grids[i]);
        REQUIRE(sscanf(grids[i], "%d.%d.%d.%d", g, g + 1, g + 2, g + 3) == 4, "%s", grids[i]);
        if (g[0] * g[1] * g[2] * g[3] != comm_size()) continue;
        bench b = open_bench(text, 3, overrides);
        b.s->e.levels[0].steps = 1;
        const trajectory_result r = trajectory_run(&b.s->e, (random_key){5, 1}, 0.1, 1);
        char digest[65];
        links_digest(b.s->links, digest);
        CHECK_INT(r.status, EVOLVE_DONE);
        if (isnan(first)) {
            first = r.dh;
            memcpy(links, digest, sizeof links);
        }
        CHECK(first == r.dh);
        CHECK(!strcmp(links, digest));
        if (comm_rank() == 0) printf("grid %s: dH %.17g, links %s\n", grids[i], r.dh, digest);
        close_bench(&b);
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_traces(hisq);
    test_traces(asqtad);
    if (comm_size() == 1) {
        test_sharing();
        test_heat_bath(asqtad, "a");
        test_heat_bath(asqtad, "heavy");
        test_heat_bath(hisq, "charm");
        test_heat_bath_of_four();
        test_fat7();
        test_trivial_power();
        test_together();
        test_storages();
        test_measured_only();
        test_filter();
    }
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
