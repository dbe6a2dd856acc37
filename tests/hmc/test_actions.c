/* Actions of quarks beyond the plain pseudofermion: each use has its own solver; at the heat bath S = |eta|^2; a
 * ratio of nearly equal operators has hardly a force; the determinant of a chain is that of its lightest mass; solvers of either sort lead to the same forces;
 * powers by rational functions are powers; a spectrum outside the range is no result; guesses of solves change nothing
 * but the work. */
#include <stdlib.h>

#include "hmc/integrate/balance.h"
#include "hmc/actions/inverter.h"
#include "hmc/actions/action_kind.h"
#include "hmc/actions/rational_range.h"
#include "kernels/ops/vector.h"
#include "solvers/lanczos.h"
#include "tests/begin.h"
#include "tests/hmc/bench.h"
#include "tests/difference.h"

#define FRAME OF_ACTIONS("light other gauge")
#define OF_ACTIONS(actions)                                                                                            \
    "[run]\noutput = none\nseed = 3\n"                                                                                 \
    "[lattice]\nsize = 4.4.4.4\n"                                                                                      \
    "[gauge]\nbeta = 5.6\n"                                                                                            \
    "[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = " actions "\n"                                            \
    "[solver.good]\ntype = cg\ninner_precision = double\ntolerance = 1e-12\n"                                          \
    "[solver.bicg]\ntype = bicgstab\ntolerance = 1e-12\nfallback = good\n"                                             \
    "[solver.gcr]\ntype = gcr\ntolerance = 1e-12\npreconditioner = mr\n"                                               \
    "[solver.refine]\ntype = refine\ntolerance = 1e-12\ncorrection = half\n"                                           \
    "[solver.half]\ntype = bicgstab\ninner_precision = half\ntolerance = 1e-2\n"                                       \
    "[solver.mr]\ntype = mr\nsteps = 4\nrelaxation = 0.9\n"                                                            \
    "[solver.never]\ntype = bicgstab\ntolerance = 1e-12\nmax_iterations = 3\nfallback = good\n"                        \
    "[solver.loose]\ntype = cg\ntolerance = 1e-3\n"

#define SECOND(keys) "[quark.other]\n" keys "[action.other]\nquark = other\nsolver = good\n"

static const char ratio[] =
    OF_ACTIONS("light gauge") "[quark.light]\nkappa = 0.132\nc_sw = 1.5\n"
                              "[action.light]\nkind = two_flavours\nquark = light\nkappas = 0.120\n"
                              "solver = good\n";
static const char rhmc[] = FRAME "[quark.light]\nkappa = 0.132\nc_sw = 1.5\n"
                                 "[action.light]\nkind = rational\nquark = light\nsolver = good\n" SECOND(
                                     "kappa = 0.132\nc_sw = 1.5\n") "kind = two_flavours\n";

static const char four[] = FRAME "[quark.light]\nkind = staggered\nlinks = naive\nmass = 0.3\n"
                                 "[action.light]\nkind = four_flavours\nquark = light\nsolver = good\n" SECOND(
                                     "kind = staggered\nlinks = naive\nmass = 0.5\n") "kind = four_flavours\n";
static const char root[] = FRAME "[quark.light]\nkind = staggered\nlinks = naive\nmass = 0.3\n"
                                 "[action.light]\nkind = rational\nquark = light\nsolver = good\n" SECOND(
                                     "kind = staggered\nlinks = naive\nmass = 0.5\n") "kind = four_flavours\n";

/* ---- the solver of each use ---- */

enum { HEAT, FORCE, ACCEPT, REVERSAL, USES };

/* The worst residual of the solves of each use. */
static void residuals(bench *b, double worst[USES])
{
    action *a = action_of(b, "light");
    for (int use = HEAT; use < USES; use++) {
        action_reset_counts(a);
        a->check_reversibility = use == REVERSAL;
        CHECK_INT(use == HEAT     ? action_refresh(a, (random_key){3, 1})
                  : use == ACCEPT ? action_value(a, &worst[use])
                                  : action_force(a, b->s->e.force),
                  0);
        worst[use] = a->worst_residual;
    }
}

/* A loose solver in one key shows in the solves of that use, and in no others. */
static void test_uses(const char *text, const char *what, int first)
{
    static const char *const keys[USES] = {"heat_bath_solver", "solver", "action_solver", "reversal_solver"};
    for (int loose = first; loose < USES; loose++) {
        char given[USES][64];
        const char *overrides[USES];
        double worst[USES];
        for (int use = first; use < USES; use++) {
            overrides[use - first] = given[use];
            snprintf(given[use], sizeof given[use], "action.light.%s=%s", keys[use], use == loose ? "loose" : "good");
        }
        bench b = open_bench(text, USES - first, overrides);
        residuals(&b, worst);
        if (comm_rank() == 0)
            printf("%s, loose %s: residuals %.1e (heat bath) %.1e (force) %.1e (action) %.1e (reversal)\n", what,
                   keys[loose], worst[HEAT], worst[FORCE], worst[ACCEPT], worst[REVERSAL]);
        for (int use = first; use < USES; use++)
            CHECK(use == loose ? worst[use] > 1e-9 && worst[use] <= 1e-3 : worst[use] > 0 && worst[use] < 2e-12);
        close_bench(&b);
    }
    /* Keys that are not given follow others. */
    static const char *const accept[] = {"action.light.action_solver=loose"};
    static const char *const force[] = {"action.light.solver=loose", "action.light.action_solver=good"};
    for (int i = 0; i < 2; i++) {
        double worst[USES];
        bench b = open_bench(text, 1 + i, i == 0 ? accept : force);
        residuals(&b, worst);
        for (int use = first; use < USES; use++)
            CHECK((worst[use] > 1e-9) == (i == 0 ? use == HEAT || use == ACCEPT : use == FORCE || use == REVERSAL));
        close_bench(&b);
    }
}

/* ---- the heat bath ---- */

static void check_heat_bath(const char *text, const char *what, int n, const char *const *overrides)
{
    bench b = open_bench(text, n, overrides);
    for (uint32_t k = 1; k <= 2; k++) {
        action *a = action_of(&b, "light");
        action_reset_counts(a);
        CHECK_INT(action_refresh(a, (random_key){3, k}), 0);
        const double s = value_of(a), eta2 = a->start_value;
        if (comm_rank() == 0)
            printf("heat bath, %s: S %.12g, |eta|^2 %.12g, worst residual %.1e\n", what, s, eta2, a->worst_residual);
        /* Solves to 1e-12, functions to 1e-12; S holds the condition number once. */
        CHECK_REL(s, eta2, 1e-10);
        /* 24 Gaussian numbers of variance 1/2 a site and pseudofermion: mean 12 a site, variance 12. */
        const action_kind *kind = action_kind_of(&b.p->terms[0].action->p);
        const int fields = kind->rational ? kind->rational(&b.p->terms[0]).pseudofermions : 1;
        const double numbers = 0.5 * (double)b.s->lat->volume * fields;
        CHECK_NEAR(eta2 / numbers, 12, 5 * sqrt(12 / numbers));
        CHECK(a->solves > 0 && a->iterations > 0 && a->worst_residual < 2e-12);
    }
    close_bench(&b);
}

static void test_heat_baths(void)
{
    static const char *const solvers[] = {"good", "bicg", "gcr", "refine", "never"};
    static const char *const forms[] = {"asymmetric", "symmetric"};
    for (int i = 0; i < 5; i++)
        for (int f = 0; f < 2; f++) {
            char one[64], two[64], what[96];
            const char *const overrides[] = {one, two};
            snprintf(one, sizeof one, "action.light.action_solver=%s", solvers[i]);
            snprintf(two, sizeof two, "quark.light.schur=%s", forms[f]);
            snprintf(what, sizeof what, "ratio, %s, %s", solvers[i], forms[f]);
            check_heat_bath(ratio, what, 2, overrides);
        }
    static const char *const flavours[][3] = {
        {"action.light.flavours=1", "action.light.pseudofermions=1", "quark.light.schur=symmetric"},
        {"action.light.flavours=1", "action.light.pseudofermions=3", "quark.light.schur=asymmetric"},
        {"action.light.flavours=2", "action.light.pseudofermions=1", "quark.light.parity=even"},
        {"action.light.flavours=2", "action.light.pseudofermions=2", "action.light.spectrum=1e-3, 400"},
        {"action.light.flavours=3", "action.light.pseudofermions=2", "quark.light.c_sw=0"},
    };
    for (int i = 0; i < 5; i++) {
        char what[96];
        snprintf(what, sizeof what, "%s %s", strchr(flavours[i][0], '.') + 7, flavours[i][1] + 14);
        check_heat_bath(rhmc, what, 3, flavours[i]);
    }
}

/* ---- ratios ---- */

/* W near M: S = |phi|^2 and no force, but for what is proportional to the difference of the masses. */
static void test_near_masses(const char *form)
{
    static const char *const kappas[] = {"action.light.kappas=0.1319999", "action.light.kappas=0.13199995"};
    double left[2];
    for (int k = 0; k < 2; k++) {
        char one[64];
        const char *const overrides[] = {one, kappas[k]};
        snprintf(one, sizeof one, "quark.light.schur=%s", form);
        bench b = open_bench(ratio, 2, overrides);
        action *a = action_of(&b, "light"), *whole = action_of(&b, "light.1");
        CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
        CHECK_INT(action_refresh(whole, (random_key){3, 1}), 0);
        const double s = value_of(a);
        gauge_update(b.s->links, 0.3, b.s->e.momenta);
        CHECK_REL(value_of(a), s, 1e-5);
        momenta_zero(b.s->e.force);
        CHECK_INT(action_force(whole, b.s->e.force), 0);
        const double size = momenta_norm2(b.s->e.force);
        momenta_zero(b.s->e.force);
        CHECK_INT(action_force(a, b.s->e.force), 0);
        left[k] = sqrt(momenta_norm2(b.s->e.force) / size);
        CHECK(left[k] < 1e-4);
        close_bench(&b);
    }
    if (comm_rank() == 0) printf("near masses, %s: |F| %.2e, at half the difference %.2e\n", form, left[0], left[1]);
    CHECK_REL(left[0] / left[1], 2, 1e-3);
}

/* The determinant of a chain is that of its lightest mass; that of one flavour is half of that of two. */
static void test_determinants(void)
{
    static const char *const plain[] = {"quark.light.schur=symmetric", "action.light.kappas="};
    static const char *const both[] = {"quark.light.schur=symmetric", "quark.other.schur=symmetric"};
    for (int form = 0; form < 2; form++) {
        bench b = open_bench(ratio, form, plain);
        const double chain = value_of(action_of(&b, "light.det"));
        close_bench(&b);
        b = open_bench(ratio, 1 + form, form ? plain : plain + 1);
        CHECK(value_of(action_of(&b, "light.det")) == chain);
        close_bench(&b);
        b = open_bench(rhmc, form ? 2 : 0, both);
        CHECK_REL(2 * value_of(action_of(&b, "light.det")), chain, 1e-13);
        CHECK_REL(value_of(action_of(&b, "other.det")), chain, 1e-13);
        close_bench(&b);
    }
}

/* ---- solvers of either sort ---- */

static void test_solvers(const char *text, const char *what)
{
    static const char *const solvers[] = {"good", "bicg", "gcr", "refine", "never"};
    field *first = NULL;
    double first_value = 0;
    bench keep = open_bench(text, 0, NULL); /* the lattice of `first` */
    for (int i = 0; i < 5; i++) {
        char one[64], two[64];
        const char *const overrides[] = {one, two};
        snprintf(one, sizeof one, "action.light.solver=%s", solvers[i]);
        snprintf(two, sizeof two, "action.light.action_solver=%s", solvers[i]);
        bench b = open_bench(text, 2, overrides);
        action *a = action_of(&b, "light");
        action_reset_counts(a);
        CHECK_INT(action_refresh(a, (random_key){3, 1}), 0);
        momenta_zero(b.s->e.force);
        gauge_update(b.s->links, 0.1, b.s->e.momenta);
        CHECK_INT(action_force(a, b.s->e.force), 0);
        const double s = value_of(a);
        CHECK(a->worst_residual <= 1.5e-12);
        if (!first) {
            first = field_like(keep.s->e.force);
            first_value = s;
            momenta_add(first, 1, b.s->e.force);
        }
        const double size = momenta_norm2(first);
        momenta_add(b.s->e.force, -1, first);
        const double off = sqrt(momenta_norm2(b.s->e.force) / size);
        if (comm_rank() == 0)
            printf("%s, %s: S off by %.1e, force by %.1e, %ld iterations in %ld solves\n", what, solvers[i],
                   s / first_value - 1, off, a->iterations, a->solves);
        CHECK_REL(s, first_value, 1e-10);
        CHECK_NEAR(off, 0, 1e-10);
        close_bench(&b);
    }
    field_destroy(first);
    close_bench(&keep);
}

/* ---- powers ---- */

static field *apply(const inverter *v, const named_solver *s, const rational *r, const field *b)
{
    field *x[RATIONAL_MAX_DEGREE], *y = field_like(b);
    for (int i = 0; i < r->degree; i++) x[i] = field_like(b);
    CHECK_INT(inverter_poles(v, s, r, x, b, "test"), 0);
    vector_axpby(y, r->constant, b, 0);
    for (int i = 0; i < r->degree; i++) {
        vector_axpby(y, r->residues[i], x[i], 1);
        field_destroy(x[i]);
    }
    return y;
}

/* K^(-1/2) twice, and K^(-1/4) and K^(-3/4) one after the other, are the inverse. */
static void test_powers(void)
{
    static const int pairs[][4] = {{-1, 2, -1, 2}, {-1, 4, -3, 4}, {-1, 6, -5, 6}};
    bench b = open_bench(rhmc, 0, NULL);
    action counts = {.advice = ADVICE_SOLVE};
    inverter v;
    const action_solvers solvers = {.all = b.s->solvers, .n = b.s->p->nsolvers};
    inverter_open(&v, &counts, quark_of(&b, "light"), &solvers);
    const named_solver *good = fallback_find(b.s->solvers, b.s->p->nsolvers, "good");
    const spectrum range = lanczos_bounds(v.normal, 1, 500, 1e-3);
    double low = range.low - range.low_error, high = range.high + range.high_error;
    rational_range_margin(&low, &high);
    CHECK(low < range.low && high > range.high && low > 0.05 * range.low && high < 2 * range.high);
    CHECK_NEAR(4 * log2(low), round(4 * log2(low)), 1e-12);
    rational_store *store = rational_store_create();
    field *x = linop_vector(v.op, 1), *back = field_like(x);
    vector_random(x, 5, RANDOM_TEST, 0);
    for (int i = 0; i < 3; i++) {
        char message[256];
        const power_product f = power_of_x(pairs[i][0], pairs[i][1]), g = power_of_x(pairs[i][2], pairs[i][3]);
        const rational *r = rational_for(store, &f, low, high, 1e-12, message, sizeof message),
                       *q = rational_for(store, &g, low, high, 1e-12, message, sizeof message);
        REQUIRE(r && q, "%s", message);
        field *y = apply(&v, good, r, x), *z = apply(&v, good, q, y);
        linop_apply(v.normal, back, z, 0);
        const double off = sqrt(vector_axpy_norm2(back, -1, x, 0) / vector_norm2(x, 0));
        if (comm_rank() == 0)
            printf("K^(%d/%d) K^(%d/%d) K = 1 but for %.1e, degrees %d and %d\n", pairs[i][0], pairs[i][1], pairs[i][2],
                   pairs[i][3], off, r->degree, q->degree);
        CHECK_NEAR(off, 0, 1e-9);
        field_destroy(z);
        field_destroy(y);
    }
    field_destroy(back);
    field_destroy(x);
    rational_store_destroy(store);
    inverter_close(&v);
    close_bench(&b);
}

/* ---- the range ---- */

static trajectory_result run_with(bench *b, double length, int unconditional)
{
    field_copy(b->s->links, b->start);
    return trajectory_run(&b->s->e, (random_key){3, 1}, length, unconditional);
}

static void check_refused(const char *range, double length, const char *use)
{
    char one[96];
    const char *const overrides[] = {one};
    snprintf(one, sizeof one, "action.light.spectrum=%s", range);
    bench b = open_bench(rhmc, 1, overrides);
    const trajectory_result r = run_with(&b, length, 1);
    CHECK_INT(r.status, EVOLVE_FAILED);
    CHECK(!r.accepted);
    if (comm_rank() == 0) printf("refused: %s\n", r.trouble);
    CHECK_HAS(r.trouble, use);
    CHECK_HAS(r.trouble, "is not inside the range");
    CHECK_HAS(r.trouble, "give [action.light] range_breach = widen, or spectrum = ");
    CHECK_HAS(r.advice, "spectrum");
    CHECK(largest_difference(b.s->links, b.start) == 0);
    /* With the numbers of the message it runs. */
    const char *numbers = strstr(r.trouble, "spectrum = ");
    char better[96];
    const char *const overridden[] = {better};
    snprintf(better, sizeof better, "action.light.spectrum=%s", numbers ? numbers + 11 : "");
    close_bench(&b);
    b = open_bench(rhmc, 1, overridden);
    CHECK_INT(run_with(&b, length, 1).status, EVOLVE_DONE);
    close_bench(&b);
}

/* The same breach with range_breach = widen: a result, from the second attempt where the first showed the breach at its
 * end; but for the approximation that of a range which was good from the start; and the same bits again. */
static void check_widened(const char *range, double length, int attempts)
{
    char one[96];
    const char *const overrides[] = {one, "action.light.range_breach=widen", "action.light.force_approximation=1e-12"};
    const char *const wide[] = {"action.light.spectrum=1e-4 1000", "action.light.force_approximation=1e-12"};
    snprintf(one, sizeof one, "action.light.spectrum=%s", range);
    bench b = open_bench(rhmc, 3, overrides);
    field *end = field_like(b.start);
    const trajectory_result r = run_with(&b, length, 1);
    field_copy(end, b.s->links);
    CHECK_INT(r.status, EVOLVE_DONE);
    CHECK_INT(r.attempts, attempts);
    CHECK(r.accepted);
    /* The range is forgotten: any later trajectory begins with that of the input. */
    const trajectory_result again = run_with(&b, length, 1);
    CHECK_INT(again.attempts, attempts);
    CHECK(again.dh == r.dh && largest_difference(b.s->links, end) == 0);
    bench good = open_bench(rhmc, 2, wide);
    const trajectory_result direct = run_with(&good, length, 1);
    const double off = largest_difference(good.s->links, end);
    if (comm_rank() == 0)
        printf("widened from %s: dH %.12g, at once %.12g, links off by %.1e\n", range, r.dh, direct.dh, off);
    CHECK_INT(direct.attempts, 1);
    CHECK_NEAR(r.dh, direct.dh, 1e-7);
    CHECK_NEAR(off, 0, 1e-9);
    close_bench(&good);
    field_destroy(end);
    close_bench(&b);
}

/* Two actions that find their spectra outside at the end, one after the other: neither forgets what it learnt before.
 */
static void check_both_widened(const char *range, double length)
{
    char one[96], two[96];
    const char *const overrides[] = {one, two, "action.other.kind=rational", "action.light.range_breach=widen",
                                     "action.other.range_breach=widen"};
    snprintf(one, sizeof one, "action.light.spectrum=%s", range);
    snprintf(two, sizeof two, "action.other.spectrum=%s", range);
    bench b = open_bench(rhmc, 5, overrides);
    const trajectory_result r = run_with(&b, length, 1);
    CHECK_INT(r.status, EVOLVE_DONE);
    CHECK_INT(r.attempts, 3);
    close_bench(&b);
    b = open_bench(rhmc, 4, overrides);
    const trajectory_result stopped = run_with(&b, length, 1);
    CHECK_INT(stopped.status, EVOLVE_FAILED);
    CHECK_INT(stopped.attempts, 2);
    CHECK_HAS(stopped.trouble, "other, action");
    CHECK(largest_difference(b.s->links, b.start) == 0);
    close_bench(&b);
}

static void test_range(void)
{
    bench b = open_bench(rhmc, 0, NULL);
    linop *normal = quark_of(&b, "light")->normal;
    const spectrum before = lanczos_bounds(normal, 1, 500, 1e-3);
    const trajectory_result r = run_with(&b, 0.5, 1), again = run_with(&b, 0.5, 1);
    CHECK(r.status == EVOLVE_DONE && r.dh == again.dh);
    const int light = (int)(action_of(&b, "light")->purpose - RANDOM_ACTION);
    field_copy(b.start, b.s->links);
    const spectrum after = lanczos_bounds(normal, 1, 500, 1e-3);
    if (comm_rank() == 0)
        printf("spectrum %.4g to %.4g, after a trajectory %.4g to %.4g\n", before.low, before.high, after.low,
               after.high);
    /* Bounds lie outside of the values found, by what is not known of them. */
    CHECK(b.s->e.actions[light]->has_spectrum);
    CHECK_REL(r.spectrum_low[light], fmin(before.low, after.low), 0.05);
    CHECK_REL(r.spectrum_high[light], fmax(before.high, after.high), 0.05);
    close_bench(&b);
    /* A wide range in place of the measured one is other functions of the same precision. */
    const char *const wide[] = {"action.light.spectrum=1e-4 1000", "action.light.force_approximation=1e-10"};
    b = open_bench(rhmc, 2, wide);
    const trajectory_result far = run_with(&b, 0.5, 1);
    CHECK_NEAR(far.dh, r.dh, 1e-5);
    close_bench(&b);
    char range[64];
    check_refused("0.5 2", 0.5, "light, start");
    check_widened("0.5 2", 0.5, 1);
    /* Good for the first links, not for the last. */
    const int falls = after.low < before.low * 0.95;
    CHECK(falls || after.high > 1.02 * before.high);
    snprintf(range, sizeof range, "%.17g %.17g", falls ? 0.5 * (before.low + after.low) : 0.5 * after.low,
             falls ? 2 * after.high : 0.5 * (before.high + after.high));
    check_refused(range, 0.5, "light, action");
    check_widened(range, 0.5, 2);
    check_both_widened(range, 0.5);
}

/* ---- guesses ---- */

static void test_predictor(void)
{
    static const char *const with[] = {"integrator.0.steps=16", "action.light.predictor=6"};
    bench b = open_bench(ratio, 1, with), p = open_bench(ratio, 2, with);
    const trajectory_result plain = run_with(&b, 0.5, 1), guessed = run_with(&p, 0.5, 1);
    long before = 0, now = 0;
    for (int i = 0; i < b.s->e.nactions; i++) {
        before += plain.iterations[i];
        now += guessed.iterations[i];
    }
    if (comm_rank() == 0)
        printf("guesses: %ld iterations in place of %ld, dH %.12g and %.12g\n", now, before, guessed.dh, plain.dh);
    CHECK(now < 0.8 * (double)before);
    CHECK_NEAR(guessed.dh, plain.dh, 1e-7);
    /* A trajectory is a function of its start and number, whatever was before. */
    const trajectory_result second = trajectory_run(&p.s->e, (random_key){3, 2}, 0.5, 1);
    const trajectory_result first = run_with(&p, 0.5, 1), other = trajectory_run(&p.s->e, (random_key){3, 2}, 0.5, 1);
    CHECK(first.dh == guessed.dh && other.dh == second.dh);
    close_bench(&p);
    close_bench(&b);
}

/* ---- balance ---- */

static void test_balance(void)
{
    static const char two[] =
        "[run]\noutput = none\n[lattice]\nsize = 4.4.4.4\n[gauge]\nbeta = 5.6\n"
        "[quark.light]\nkappa = 0.12\nc_sw = 1\n[action.light]\nkind = two_flavours\nquark = light\nsolver = s\n"
        "[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = light\n"
        "[integrator.1]\nscheme = leapfrog\nsteps = 5\nactions = gauge\n"
        "[solver.s]\ntolerance = 1e-8\n";
    level_balance levels[MAX_LEVELS];
    char text[256];
    bench b = open_bench(two, 0, NULL);
    evolution *e = &b.s->e;
    for (int i = 0; i < e->nactions; i++) e->totals[i] = (force_record){0};
    const int light = e->levels[0].actions[0], gauge = e->levels[1].actions[0];
    e->totals[light] = (force_record){.square = 2 * 0.25, .count = 2};
    e->totals[gauge] = (force_record){.square = 10 * 25., .count = 10};
    balance_levels(e, 2, levels);
    /* Steps of 2/4, its two drifts of 1/4 in five. */
    CHECK_REL(levels[0].dt, 0.5, 1e-15);
    CHECK_REL(levels[0].apart, 0.25, 1e-15);
    CHECK_REL(levels[1].dt, 0.05, 1e-15);
    CHECK_REL(levels[1].apart, 0.05, 1e-15);
    CHECK_REL(levels[0].part, 0.25 / 16, 1e-14);
    CHECK_REL(levels[1].part, 25. / 400, 1e-14);
    balance_advice(e, levels, text, sizeof text);
    CHECK_HAS(text, "in balance");
    e->totals[light].square /= 100;
    balance_levels(e, 2, levels);
    balance_advice(e, levels, text, sizeof text);
    CHECK_HAS(text, "level 1 makes dH");
    CHECK_HAS(text, "level 0 could be up to 20.0 times as long");
    e->dh[0] = (dh_record){2 * 10, 2};
    balance_advice(e, levels, text, sizeof text);
    CHECK_HAS(text, "dH is 10 (mean of 2)");
    e->dh[1] = (dh_record){5, 5}; /* the warm-up is over */
    balance_advice(e, levels, text, sizeof text);
    CHECK_HAS(text, "level 1 makes dH");
    e->dh[0] = e->dh[1] = (dh_record){0};
    /* What a run gathers. */
    e->totals[light] = e->totals[gauge] = (force_record){0};
    const trajectory_result r = run_with(&b, 0.2, 1);
    const trajectory_result next = trajectory_run(e, (random_key){3, 2}, 0.2, 1);
    CHECK_INT(e->dh[1].count + e->dh[0].count, 2);
    CHECK_REL(e->dh[0].sum + e->dh[1].sum, r.dh + next.dh, 1e-12);
    CHECK_INT(e->totals[light].count, 2 * (4 * 2 + 1));
    CHECK_INT(e->totals[gauge].count, 2 * (4 * 2 * 5 + 1));
    CHECK(e->totals[gauge].most >= r.force_mean[gauge]);
    CHECK(e->totals[gauge].square * (double)e->totals[gauge].count >= e->totals[gauge].sum * e->totals[gauge].sum);
    close_bench(&b);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_uses(ratio, "ratio", HEAT);
    test_uses(rhmc, "rational", HEAT);
    test_uses(four, "staggered", FORCE); /* no solve in its heat bath */
    test_uses(root, "staggered, rational", HEAT);
    test_heat_baths();
    test_near_masses("asymmetric");
    test_near_masses("symmetric");
    test_determinants();
    static const char plain[] = FRAME
        "[quark.light]\nkappa = 0.132\nc_sw = 1.5\nschur = symmetric\n[action.light]\nkind = two_flavours\nquark = "
        "light\nsolver = good\n"
        "[quark.other]\nkappa = 0.120\nc_sw = 1.5\n[action.other]\nkind = two_flavours\nquark = other\nsolver = good\n";
    test_solvers(plain, "plain");
    test_solvers(ratio, "ratio");
    test_powers();
    test_range();
    test_predictor();
    test_balance();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
