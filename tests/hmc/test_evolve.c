/* Molecular dynamics and the accept step: forces against derivatives of the action for all actions and forms of the
 * operator, reversibility and order of every scheme, and that a trajectory without result leaves no trace. */
#include <string.h>

#include "io/links/links.h"
#include "tests/begin.h"
#include "tests/hmc/dynamics.h"

static const char base[] =
    "[run]\noutput = none\nseed = 3\n"
    "[lattice]\nsize = 4.4.4.4\n"
    "[gauge]\nbeta = 5.6\n"
    "[quark.light]\nkappa = 0.125\nc_sw = 1.5\n[action.light]\nkind = two_flavours\nquark = light\nsolver = good\n"
    "[integrator.0]\nscheme = omelyan2\nsteps = 2\nactions = light gauge\n"
    "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-13\n";
/* A chain of ratios, one flavour and three, in one form of the operator. */
static const char many[] =
    "[run]\noutput = none\nseed = 3\n"
    "[lattice]\nsize = 4.4.4.4\n"
    "[gauge]\nbeta = 5.6\n"
    "[quark.light]\nkappa = 0.130\nc_sw = %s\nschur = %s\nparity = %s\n"
    "[action.light]\nkind = two_flavours\nquark = light\nkappas = 0.125 0.115\nsolver = good general general\n"
    "[quark.strange]\nlike = light\nkappa = 0.125\n"
    "[action.strange]\nkind = rational\nquark = strange\nforce_approximation = 1e-12\nsolver = good\n"
    "[quark.three]\nlike = light\nkappa = 0.115\n"
    "[action.three]\nkind = rational\nquark = three\nforce_approximation = 1e-12\nflavours = 3\npseudofermions = 2\n"
    "solver = good\n"
    "[integrator.0]\nscheme = omelyan2\nsteps = 2\nactions = light strange three gauge\n"
    "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-12\n"
    "[solver.general]\ntype = bicgstab\ninner_precision = double\ntolerance = 1e-12\n";
static const char pure[] = "[run]\noutput = none\nseed = 3\n"
                           "[lattice]\nsize = 4.4.4.4\n"
                           "[gauge]\nbeta = 5.6\n"
                           "[integrator.0]\nscheme = omelyan2\nsteps = 2\nactions = gauge\n";

/* ---- forces ---- */

static void test_many_forces(const char *c_sw, const char *schur, const char *parity)
{
    char text[4096], what[96];
    snprintf(text, sizeof text, many, c_sw, schur, parity);
    snprintf(what, sizeof what, "c_sw %s %s %s", c_sw, schur, parity);
    test_forces(text, what, 0, NULL, 0);
}

/* ---- trajectories ---- */

static double rms_dh(bench *b, int steps, double length)
{
    double sum = 0;
    b->s->e.levels[0].steps = steps;
    for (uint32_t i = 0; i < 3; i++) {
        draw(b, 20 + i);
        const double before = energy(b);
        CHECK_INT(evolve(&b->s->e, length), EVOLVE_DONE);
        const double dh = energy(b) - before;
        sum += dh * dh;
        field_copy(b->s->links, b->start);
    }
    return sqrt(sum / 3);
}

static void test_schemes(const char *text, const char *what)
{
    for (int i = 0; scheme_number(i); i++) {
        char override[64], name[96];
        const scheme *s = scheme_number(i);
        const char *overrides[1] = {override};
        snprintf(override, sizeof override, "integrator.0.scheme=%s", scheme_name(s));
        snprintf(name, sizeof name, "%s, %s", what, scheme_name(s));
        bench b = open_bench(text, 1, overrides);
        CHECK(scheme_find(scheme_name(s)) == s);
        check_reversal(&b, name, 0.5);
        /* Steps short enough for the leading order; the rounding of H, some 1e-11, is far below. */
        const int steps = scheme_order(s) == 2 ? 12 : 6;
        const double one = rms_dh(&b, steps, 0.5), half = rms_dh(&b, 2 * steps, 0.5), order = log2(one / half);
        if (comm_rank() == 0) printf("order, %s: dH %.3g, %.3g: %.2f\n", name, one, half, order);
        CHECK_NEAR(order, scheme_order(s), 0.3);
        close_bench(&b);
    }
}

/* A doublet of twisted mass: both forms, and a ratio of two masses. */
static void test_twisted(void)
{
    static const char *const forms[] = {"quark.light.schur=symmetric", "quark.light.schur=asymmetric"};
    for (int i = 0; i < 2; i++) {
        const char *const overrides[] = {"quark.light.kind=twisted_mass", "quark.light.mu=0.25", "action.light.mus=0.7",
                                         forms[i]};
        bench b = open_bench(base, 4, overrides);
        check_reversal(&b, forms[i] + strlen("quark.light.schur="), 0.5);
        const double one = rms_dh(&b, 12, 0.5), half = rms_dh(&b, 24, 0.5);
        CHECK_NEAR(log2(one / half), 2, 0.3);
        close_bench(&b);
    }
}

/* A non-degenerate doublet, the root of whose normal operator is its determinant. */
static void test_doublet(void)
{
    static const char *const forms[] = {"quark.light.schur=symmetric", "quark.light.schur=asymmetric"};
    for (int i = 0; i < 2; i++) {
        const char *const overrides[] = {"quark.light.kind=twisted_doublet",
                                         "quark.light.mu_sigma=0.25",
                                         "quark.light.mu_delta=0.2",
                                         "action.light.kind=rational",
                                         "action.light.flavours=2",
                                         "action.light.force_approximation=1e-12",
                                         forms[i]};
        bench b = open_bench(base, 7, overrides);
        check_reversal(&b, forms[i] + strlen("quark.light.schur="), 0.5);
        const double one = rms_dh(&b, 12, 0.5), half = rms_dh(&b, 24, 0.5);
        CHECK_NEAR(log2(one / half), 2, 0.3);
        close_bench(&b);
    }
}

/* Guesses come from other vectors on the way back; solves to rounding forget them. */
static void test_guessed_reversal(void)
{
    const char *const overrides[] = {"action.light.predictor=5", "integrator.0.steps=8"};
    bench b = open_bench(base, 2, overrides);
    check_reversal(&b, "guesses from 5 vectors", 0.5);
    close_bench(&b);
}

/* ---- accept, reject, give up ---- */

static const char *digest(const field *links)
{
    static char hex[4][65];
    static int next;
    char *h = hex[next++ % 4];
    links_digest(links, h);
    return h;
}

static int calls_left;

static int interrupted(void)
{
    return calls_left-- <= 0;
}

static void test_accept_step(void)
{
    const char *const overrides[] = {"integrator.0.steps=1"};
    bench b = open_bench(base, 1, overrides);
    evolution *e = &b.s->e;
    int accepted = 0, rejected = 0;
    /* One step of this length violates H by about one. */
    for (uint32_t i = 1; i <= 12; i++) {
        field_copy(e->links, b.start);
        const trajectory_result r = trajectory_run(e, (random_key){3, i}, 0.22, 0);
        CHECK_INT(r.status, EVOLVE_DONE);
        if (comm_rank() == 0) printf("dH %.3f, %s\n", r.dh, r.accepted ? "accepted" : "rejected");
        CHECK(r.accepted || r.dh > 0);
        CHECK((strcmp(digest(e->links), digest(b.start)) == 0) == !r.accepted);
        accepted += r.accepted;
        rejected += !r.accepted;
        double dh = r.kinetic_end - r.kinetic_start;
        for (int k = 0; k < e->nactions; k++) dh += r.end_values[k] - r.start_values[k];
        CHECK_NEAR(dh, r.dh, 1e-9);
        /* 32 Gaussian numbers a site, half their squares: mean 16, variance 16. */
        CHECK_NEAR(r.kinetic_start / (double)e->lat->volume, 16, 5 * sqrt(16 / (double)e->lat->volume));
        if (r.accepted) continue;
        /* The warm-up accepts what was rejected; then the same key, again: the same numbers. */
        const trajectory_result forced = trajectory_run(e, (random_key){3, i}, 0.22, 1);
        CHECK(forced.accepted && forced.dh == r.dh && strcmp(digest(e->links), digest(b.start)));
    }
    if (comm_rank() == 0) printf("accept step: %d accepted, %d rejected\n", accepted, rejected);
    CHECK(accepted > 0 && rejected > 0);
    /* Far too long a step: exp(-dH) is nothing. */
    field_copy(e->links, b.start);
    const trajectory_result far = trajectory_run(e, (random_key){3, 1}, 5, 0);
    CHECK(far.status == EVOLVE_DONE && far.dh > 100 && !far.accepted);
    CHECK_STR(digest(e->links), digest(b.start));
    close_bench(&b);
}

static void test_giving_up(void)
{
    const char *const overrides[] = {"integrator.0.scheme=force_gradient", "integrator.0.steps=3"};
    bench b = open_bench(base, 2, overrides);
    evolution *e = &b.s->e;
    char whole[65];
    const trajectory_result r = trajectory_run(e, (random_key){3, 1}, 0.3, 1);
    strcpy(whole, digest(e->links));
    for (int after = 0; after < 3; after++) {
        field_copy(e->links, b.start);
        e->interrupted = interrupted;
        calls_left = after;
        CHECK_INT(trajectory_run(e, (random_key){3, 1}, 0.3, 1).status, EVOLVE_INTERRUPTED);
        CHECK_STR(digest(e->links), digest(b.start));
        e->interrupted = NULL;
        const trajectory_result again = trajectory_run(e, (random_key){3, 1}, 0.3, 1);
        CHECK(again.dh == r.dh);
        CHECK_STR(digest(e->links), whole);
    }
    close_bench(&b);
}

/* The solver of the force, then that of the accept step, does not converge: no result, links as before, and the story.
 */
static void test_failed_solves(void)
{
    const char *const force[] = {"solver.good.max_iterations=1"};
    bench b = open_bench(base, 1, force);
    trajectory_result r = trajectory_run(&b.s->e, (random_key){3, 1}, 0.3, 1);
    CHECK_INT(r.status, EVOLVE_FAILED);
    CHECK(!r.accepted);
    CHECK_HAS(r.trouble, "light");
    CHECK_STR(digest(b.s->links), digest(b.start));
    close_bench(&b);

    static const char accept_text[] = "[solver.accept]\ntype = cg\ntolerance = 1e-12\nmax_iterations = 1\n";
    char text[sizeof base + sizeof accept_text];
    snprintf(text, sizeof text, "%s%s", base, accept_text);
    const char *const accept[] = {"action.light.action_solver=accept"};
    b = open_bench(text, 1, accept);
    r = trajectory_run(&b.s->e, (random_key){3, 1}, 0.3, 1);
    CHECK_INT(r.status, EVOLVE_FAILED);
    CHECK_HAS(r.trouble, "light");
    CHECK_STR(digest(b.s->links), digest(b.start));
    close_bench(&b);

    /* With a fallback both go through, and the result is that of a solver that converges, to its tolerance. */
    const char *const safe[] = {"action.light.action_solver=accept", "solver.accept.fallback=good"};
    b = open_bench(text, 2, safe);
    r = trajectory_run(&b.s->e, (random_key){3, 1}, 0.3, 1);
    close_bench(&b);
    b = open_bench(base, 0, NULL);
    const trajectory_result direct = trajectory_run(&b.s->e, (random_key){3, 1}, 0.3, 1);
    CHECK_INT(r.status, EVOLVE_DONE);
    CHECK(r.worst_residual < 1e-12);
    CHECK_NEAR(r.dh, direct.dh, 1e-8);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    static const char *const forms[][3] = {
        {"quark.light.schur=asymmetric", "quark.light.parity=odd", "lattice.time_boundary=antiperiodic"},
        {"quark.light.schur=asymmetric", "quark.light.parity=even", "lattice.time_boundary=periodic"},
        {"quark.light.schur=symmetric", "quark.light.parity=odd", "lattice.time_boundary=periodic"},
        {"quark.light.schur=symmetric", "quark.light.parity=even", "lattice.time_boundary=antiperiodic"},
        {"quark.light.schur=symmetric", "quark.light.parity=odd", "quark.light.c_sw=0"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char what[96];
        snprintf(what, sizeof what, "%s %s %s", strchr(forms[i][0], '=') + 1, strchr(forms[i][1], '=') + 1,
                 strchr(forms[i][2], '=') + 1);
        test_forces(base, what, 3, forms[i], 0);
    }
    static const char *const gauges[] = {"gauge.action=symanzik",
                                         "gauge.action=iwasaki",
                                         "gauge.action=dbw2",
                                         "gauge.action=symanzik_1loop",
                                         "gauge.action=symanzik_1loop_hisq",
                                         "gauge.u0=0.86",
                                         "gauge.flavours=4"};
    for (int i = 0; i < 3; i++) test_forces(pure, gauges[i], 1, &gauges[i], 0);
    test_forces(pure, gauges[3], 2, (const char *const[]){gauges[3], gauges[5]}, 0);
    test_forces(pure, gauges[4], 3, &gauges[4], 0);
    test_many_forces("1.5", "asymmetric", "odd");
    test_many_forces("1.5", "symmetric", "even");
    test_many_forces("0", "symmetric", "odd");
    test_many_forces("0", "asymmetric", "even");
    test_schemes(pure, "pure gauge");
    test_schemes(base, "clover");
    test_twisted();
    test_doublet();
    test_guessed_reversal();
    test_accept_step();
    test_giving_up();
    test_failed_solves();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
