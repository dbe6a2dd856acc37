/* Solutions that measurements take have the residual of the whole operator that the solver's tolerance names, however
 * small that of the even-odd system is; where double precision holds no such solution, the measurement fails and says so. */
#include "kernels/lattice/comm.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"
#include "tests/hmc/observe.h"

static const int size[4] = {4, 4, 4, 4}, any_grid[4] = {0, 0, 0, 0};

/* On random links, or on cold ones with periodic time. */
static measure_result measured(const char *kind, const char *quark, double mass, int cold)
{
    parameters *p = observe_parameters(quark, mass);
    p->solvers[0].p.tolerance = 1e-10;
    p->solvers[0].p.max_iterations = 20000;
    lattice *lat = lattice_create(size, any_grid, 2, cold ? 1 : -1);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    if (cold) gauge_cold(links);
    else gauge_random(links, 3, RANDOM_START, 0);
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    static named_measure m;
    m = observe_section(kind);
    const measure_result r = measure(&c, &m);
    field_destroy(links);
    lattice_destroy(lat);
    return r;
}

/* M has 1 / mass of the system's residual: 1e-10 of that alone would be some 1e-7 of it. */
static void test_refined(void)
{
    static const struct {
        const char *kind, *quark;
        double mass;
    } cases[] = {{"condensate", "staggered", 1e-3},
                 {"condensate", "staggered", 0.1},
                 {"pion", "wilson_clover", 0.05},
                 {"pion", "mobius", 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        measure_result r = measured(cases[i].kind, cases[i].quark, cases[i].mass, 0);
        CHECK_INT(r.failed, 0);
        CHECK(measure_value(&r, -1, "residual") <= 1.5e-10);
        CHECK(measure_value(&r, -1, "residual") > 0);
        measure_result_free(&r);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *kind, *quark;
        double mass;
        int cold;
    } cases[] = {{"condensate", "staggered", 1e-8, 0}, {"pion", "wilson_clover", 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        measure_result r = measured(cases[i].kind, cases[i].quark, cases[i].mass, cases[i].cold);
        CHECK_INT(r.failed, 1);
        CHECK(!r.given_up);
        if (!strstr(r.trouble, "|b - M x| / |b| of the whole operator is")) printf("  trouble: %s\n", r.trouble);
        CHECK(strstr(r.trouble, "|b - M x| / |b| of the whole operator is"));
        measure_result_free(&r);
    }
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_refined();
    test_refused();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
