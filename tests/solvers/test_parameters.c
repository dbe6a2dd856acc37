/* Parameters of solvers, limits and histories.
 *
 * Preconditioners and solvers of corrections are tried in pairs; every limit on the way to the solution ends the solve, and
 * nothing else is claimed, beyond the critical mass too; histories end below the tolerance and say what is true; the error of a
 * solution is found by a double solve. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/lattice/purpose.h"

static int solve_once(const scene *s, const solver_settings *set, const field *b, int is_normal)
{
    field *x = field_like(b);
    const solve_result r = solve_by(set, is_normal ? s->normal : s->schur, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_NEAR(r.residual, oracle_residual(s, is_normal, 0, x, b), 1e-3 * set->tolerance + 2e-14);
    field_destroy(x);
    return r.iterations;
}

/* Single precision outside, lower ones inside: true residuals are those of its vectors. */
static void test_single_outside(const scene *s, const field *b)
{
    linop *schur = linop_at(s->schur, PREC_SINGLE, s->schur->where),
          *normal = linop_at(s->normal, PREC_SINGLE, s->normal->where);
    const int types = solver_types_count();
    field *rhs = linop_vector(schur, 1), *x = field_like(rhs);
    vector_copy(rhs, b);
    for (int k = 0; k < types; k++)
        for (int prec = PREC_DOUBLE; prec < PREC_COUNT; prec++)
            for (int blocks = 0; blocks < 2; blocks++) {
                if (!solver_type_number(k)->solve || !can_take(s, schur, solver_type_number(k)) ||
                    (blocks && !solver_type_has(solver_type_number(k), "preconditioner")))
                    continue;
                solver_settings set = settings_of(solver_type_number(k)->name, precision_names[prec]),
                                inner = settings_of(blocks ? "schwarz" : "bicgstab", precision_names[prec]);
                set.tolerance = 2e-6;
                inner.tolerance = 0.1;
                if (solver_type_has(solver_type_number(k), "correction"))
                    snprintf(set.inner_name, sizeof set.inner_name, "inner");
                if (blocks || set.inner_name[0]) set.inner = &inner;
                kit_where("%s in %s%s for vectors in single", solver_type_number(k)->name, precision_names[prec],
                          blocks ? " with blocks" : "");
                field_clear(x);
                const solve_result r = solve_by(&set, solver_type_number(k)->positive ? normal : schur, x, rhs);
                KIT_INT(r.status, SOLVE_CONVERGED);
                KIT_CHECK(r.residual <= 1.5 * set.tolerance);
                KIT_NEAR(r.residual, oracle_residual(s, solver_type_number(k)->positive, 0, x, rhs), 1e-6);
            }
    field_destroy(x);
    field_destroy(rhs);
}

static void test_variants(const scene *s, const field *b)
{
    for (int l = 1; l <= BICGSTAB_MOST; l++)
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            solver_settings set = settings_of("bicgstab", precision_names[prec]);
            bicgstab_keys_of(&set)->l = l;
            kit_where("bicgstab(%d) in %s", l, precision_names[prec]);
            KIT_INT(solve_once(s, &set, b, 0) % 2, 0);
        }
    /* A space of one vector is steps of minimal residuals; a larger one needs fewer applications. */
    int steps[3];
    for (int k = 0; k < 3; k++) {
        static const int restart[3] = {1, 8, 40};
        solver_settings set = settings_of("gcr", "double");
        gcr_keys_of(&set)->restart = restart[k];
        set.delta = 1e-12;
        kit_where("gcr with %d vectors", gcr_keys_of(&set)->restart);
        steps[k] = solve_once(s, &set, b, 0);
    }
    KIT_CHECK(steps[0] > steps[1] && steps[1] > steps[2]);
    solver_settings mr = settings_of("mr", "double");
    mr_keys_of(&mr)->relaxation = 1;
    kit_where("mr");
    KIT_NEAR(solve_once(s, &mr, b, 0), steps[0], 2);
}

/* GCR with every other type inside, in every two precisions: fewer steps than without. */
static void test_preconditioners(const scene *s, const field *b)
{
    static const char *const inside[] = {"mr", "bicgstab", "gcr", "schwarz"};
    for (int prec = PREC_DOUBLE; prec < PREC_COUNT; prec++) {
        solver_settings set = settings_of("gcr", precision_names[prec]);
        kit_where("gcr in %s without preconditioner", precision_names[prec]);
        const int alone = solve_once(s, &set, b, 0);
        for (int k = 0; k < 4; k++)
            for (int low = prec; low < PREC_COUNT; low++) {
                solver_settings inner = settings_of(inside[k], precision_names[low]);
                inner.tolerance = 0.1;
                snprintf(set.inner_name, sizeof set.inner_name, "inner");
                set.inner = &inner;
                kit_where("gcr in %s with %s in %s", precision_names[prec], inside[k], precision_names[low]);
                KIT_CHECK(solve_once(s, &set, b, 0) < alone);
                KIT_CHECK(!solver_needs_positive(&set));
            }
    }
}

/* Every limit on the way to the solution: the limit is what ends the solve, and nothing else is claimed; the residual
 * is no worse than where it began. */
static void test_limits(const scene *s, const field *b)
{
    const int types = solver_types_count();
    field *x = field_like(b);
    for (int k = 0; k < types; k++)
        for (int prec = 0; prec <= PREC_HALF; prec++) {
            if (!solver_type_number(k)->solve || !can_take(s, s->schur, solver_type_number(k))) continue;
            solver_settings set = settings_of(solver_type_number(k)->name, precision_names[prec]),
                            inner =
                                settings_of(solver_type_number(k)->positive ? "cg" : "bicgstab", precision_names[prec]);
            inner.tolerance = 1e-3;
            if (solver_type_has(solver_type_number(k), "correction")) {
                snprintf(set.inner_name, sizeof set.inner_name, "inner");
                set.inner = &inner;
            }
            linop *op = solver_type_number(k)->positive ? s->normal : s->schur;
            field_clear(x);
            kit_where("%s in %s without a limit", solver_type_number(k)->name, precision_names[prec]);
            const int whole = solve_by(&set, op, x, b).iterations;
            for (int most = 1; most < whole; most = most < 12 ? most + 1 : most + whole / 7) {
                set.max_iterations = most;
                kit_where("%s in %s with %d of %d iterations", solver_type_number(k)->name, precision_names[prec], most,
                          whole);
                field_clear(x);
                const solve_result r = solve_by(&set, op, x, b);
                KIT_INT(r.status, SOLVE_TOO_MANY_ITERATIONS);
                KIT_CHECK(r.iterations <= most && r.residual <= 1 + 1e-12 && r.residual > set.tolerance);
            }
        }
    /* Corrections that are cut off each time still add up; those that cannot begin end the solve. */
    solver_settings set = settings_of("refine", "single"), inner = settings_of("bicgstab", "single");
    snprintf(set.inner_name, sizeof set.inner_name, "inner");
    set.inner = &inner;
    inner.tolerance = 1e-6;
    inner.max_iterations = 8;
    kit_where("corrections of 8 iterations each");
    solve_once(s, &set, b, 0);
    inner.max_iterations = 3;
    kit_where("corrections of no iteration");
    field_clear(x);
    const solve_result r = solve_by(&set, s->schur, x, b);
    KIT_INT(r.status, SOLVE_TOO_MANY_ITERATIONS);
    KIT_INT(r.iterations, 0);
    field_destroy(x);
}

/* Quarks beyond their critical mass: spectra on both sides of zero, where solvers may fail. What they say is true. */
static void test_beyond_critical(void)
{
    const int types = solver_types_count();
    int grid[4], failures = 0;
    if (!lattice_choose_grid(kit_shapes[0].size, comm_size(), grid)) return;
    scene s;
    open_scene(&s, kit_shapes[0], -1.1, PARITY_EVEN);
    field *b = random_source(&s, 67), *x = field_like(b);
    for (int k = 0; k < types; k++)
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            if (!solver_type_number(k)->solve || !can_take(&s, s.schur, solver_type_number(k))) continue;
            const int is_normal = solver_type_number(k)->positive;
            solver_settings set = settings_of(solver_type_number(k)->name, precision_names[prec]),
                            inner = settings_of("bicgstab", precision_names[prec]);
            set.max_iterations = inner.max_iterations = 200;
            inner.tolerance = 0.1;
            if (solver_type_has(solver_type_number(k), "correction")) {
                snprintf(set.inner_name, sizeof set.inner_name, "inner");
                set.inner = &inner;
            }
            kit_where("%s in %s beyond the critical mass", solver_type_number(k)->name, precision_names[prec]);
            field_clear(x);
            const solve_result r = solve_by(&set, is_normal ? s.normal : s.schur, x, b);
            const double truth = oracle_residual(&s, is_normal, 0, x, b);
            KIT_NEAR(r.residual / truth, 1, 1e-3);
            KIT_CHECK((r.status == SOLVE_CONVERGED) == (truth <= 1.5 * set.tolerance));
            failures += r.status != SOLVE_CONVERGED;
        }
    kit_where("beyond the critical mass");
    KIT_CHECK(failures > 0);
    field_destroy(x);
    field_destroy(b);
    close_scene(&s);
}

/* In quarter precision BiCGStab gets nowhere with a light quark, and knows it: true residuals rise and fall as it
 * claims. */
static void test_no_progress(void)
{
    int grid[4];
    if (!lattice_choose_grid(kit_shapes[0].size, comm_size(), grid)) return;
    scene s;
    open_scene(&s, kit_shapes[0], -0.6, PARITY_ODD);
    field *b = random_source(&s, 67);
    solver_settings set = settings_of("bicgstab", "quarter");
    bicgstab_keys_of(&set)->l = 1;
    set.tolerance = 1e-8;
    set.max_iterations = 1500;
    kit_where("bicgstab without progress in quarter");
    solve_once(&s, &set, b, 0);
    field_destroy(b);
    close_scene(&s);
}

/* Nearer to the critical mass quarter precision wanders for thousands of iterations: it gets its part of them, and
 * higher ones do the rest. */
static void test_wandering(void)
{
    int grid[4], in_quarter = 0;
    if (!lattice_choose_grid(kit_shapes[0].size, comm_size(), grid)) return;
    scene s;
    open_scene(&s, kit_shapes[0], -0.9, PARITY_EVEN);
    field *b = random_source(&s, 68), *x = field_like(b);
    solver_settings set = settings_of("bicgstab", "quarter");
    solve_history h = {0};
    set.delta = 1e-9;
    set.tolerance = 1e-10;
    set.max_iterations = 1600;
    kit_where("bicgstab that wanders in quarter precision");
    field_clear(x);
    solver_record(&h);
    const solve_result r = solve_by(&set, s.schur, x, b);
    solver_record(NULL);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_CHECK(r.residual <= set.tolerance);
    KIT_NEAR(r.residual, oracle_residual(&s, 0, 0, x, b), 1e-13);
    for (int i = 0; i < h.n; i++)
        if (h.points[i].prec == PREC_QUARTER) in_quarter = h.points[i].iteration;
    KIT_CHECK(in_quarter >= set.max_iterations / 8 && in_quarter < set.max_iterations / 2);
    free(h.points);
    field_destroy(x);
    field_destroy(b);
    close_scene(&s);
}

/* ---- histories ---- */

static void check_history(const solve_history *h, const solve_result *r, double tolerance)
{
    double truth = 1;
    KIT_CHECK(h->n > r->iterations / 4);
    for (int i = 0; i < h->n; i++) {
        if (i) KIT_CHECK(h->points[i].iteration >= h->points[i - 1].iteration);
        if (h->points[i].is_true) truth = h->points[i].residual;
    }
    KIT_NEAR(h->points[0].residual, 1, 1e-14); /* from x = 0 */
    KIT_INT(h->points[h->n - 1].iteration, r->iterations);
    KIT_CHECK(h->points[h->n - 1].is_true && truth <= tolerance);
    KIT_NEAR(truth, r->residual, 1e-3 * tolerance + 2e-14);
}

static void test_histories(const scene *s, const field *b)
{
    const int types = solver_types_count();
    for (int k = 0; k < types; k++)
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            if (!solver_type_number(k)->solve || solver_type_number(k)->coarsens) continue;
            solver_settings set = settings_of(solver_type_number(k)->name, precision_names[prec]),
                            inner = settings_of("cg", "double");
            inner.tolerance = 0.1;
            if (solver_type_has(solver_type_number(k), "correction")) {
                snprintf(set.inner_name, sizeof set.inner_name, "inner");
                set.inner = &inner;
            }
            kit_where("history of %s in %s", solver_type_number(k)->name, precision_names[prec]);
            solve_history h = {0};
            field *x = field_like(b);
            solver_record(&h);
            const solve_result r = solve_by(&set, s->normal, x, b);
            solver_record(NULL);
            const int n = h.n;
            check_history(&h, &r, set.tolerance);
            solve_by(&set, s->normal, x, b);
            KIT_INT(h.n, n);
            field_destroy(x);
            free(h.points);
        }
}

/* GCR is begun anew, from a true residual, when it has fallen by delta or the space is full, and not before. */
static void test_restarts(const scene *s, const field *b)
{
    static const double delta[2] = {0.1, 1e-13};
    for (int prec = PREC_DOUBLE; prec < PREC_COUNT; prec++)
        for (int k = 0; k < 2; k++) {
            solver_settings set = settings_of("gcr", precision_names[prec]);
            solve_history h = {0};
            field *x = field_like(b);
            int begun = 0, restarts = 0;
            double truth = 1;
            gcr_keys_of(&set)->restart = k ? 5 : 40;
            set.delta = delta[k];
            set.tolerance = 1e-10;
            kit_where("restarts of gcr in %s, delta %g", precision_names[prec], set.delta);
            solver_record(&h);
            const solve_result r = solve_by(&set, s->schur, x, b);
            solver_record(NULL);
            KIT_INT(r.status, SOLVE_CONVERGED);
            for (int i = 0; i + 1 < h.n; i++) {
                const solve_point *p = &h.points[i];
                if (p->is_true) {
                    begun = p->iteration;
                    truth = p->residual;
                    continue;
                }
                const int fallen = p->residual < set.delta * truth,
                          full = p->iteration - begun == gcr_keys_of(&set)->restart;
                if (p[1].is_true && p[1].residual <= set.tolerance) break;
                KIT_INT(p[1].is_true, fallen || full);
                restarts += p[1].is_true;
            }
            KIT_CHECK(restarts >= 3);
            field_destroy(x);
            free(h.points);
        }
}

/* The error of conjugate gradients falls in the norm of A, step by step (their theorem). */
static void test_falling(const scene *s, const field *b)
{
    field *x = field_like(b), *exact = field_like(b), *e = field_like(b), *ae = field_like(b);
    solver_settings set = settings_of("cg", "double");
    kit_where("the error of cg");
    solve_by(&set, s->normal, exact, b);
    double before = INFINITY;
    for (int n = 1; n < 20; n++) {
        double d[2];
        set.max_iterations = n;
        field_clear(x);
        solve_by(&set, s->normal, x, b);
        field_copy(e, exact);
        vector_axpby(e, -1, x, 1);
        linop_apply(s->normal, ae, e, 0);
        vector_dot(d, e, ae, 0);
        KIT_CHECK(d[0] > 0 && d[0] < before);
        before = d[0];
    }
    field_destroy(ae);
    field_destroy(e);
    field_destroy(exact);
    field_destroy(x);
}

/* Of a solution that is off by a known vector the double solve finds how far, for sources one by one and in a block. */
static void test_error(const scene *s)
{
    enum { N = 3 };
    static const char *const types[] = {"cg", "block_cg", "bicgstab"};
    for (int i = 0; i < 3; i++) {
        linop *op = i < 2 ? s->normal : s->schur;
        solver_settings set = settings_of(types[i], "single");
        solver *by = solver_create(&set, op);
        field *x = linop_vector(op, N), *b = field_like(x), *off = field_like(x), *of_off = field_like(x);
        double size[N], source[N], error[N], residual[N], ones[N] = {1, 1, 1}, small[N] = {1e-3, 1e-6, 1e-9};
        solve_error each[N];
        vector_random(x, 4, RANDOM_TEST, 21);
        vector_random(off, 4, RANDOM_TEST, 22);
        linop_apply(op, b, x, 0);
        linop_apply(op, of_off, off, 0);
        vector_norm2_each(source, b);
        vector_norm2_each(error, off);
        vector_norm2_each(residual, of_off);
        vector_axpby_norm2_each(size, x, small, off, ones);
        const solve_error worst = solver_error(by, x, b, each);
        kit_where("errors by %s", types[i]);
        for (int k = 0; k < N; k++) {
            KIT_REL(each[k].error, small[k] * sqrt(error[k] / size[k]), 1e-3);
            KIT_REL(each[k].ratio, sqrt(error[k] / size[k] / (residual[k] / source[k])), 1e-3);
        }
        KIT_NEAR(worst.error, each[0].error, 0);
        /* The same where it is of the solver's own solution: nothing is left to find but what the tolerance leaves. */
        solver_solve(by, x, b, NULL);
        KIT_CHECK(solver_error(by, x, b, each).error < 1e-9);
        solver_destroy(by);
        field *const all[] = {x, b, off, of_off};
        for (int k = 0; k < 4; k++) field_destroy(all[k]);
    }
}

static void test_one_type(void)
{
    const struct ref_lattice l = kit_shapes[0];
    int grid[4];
    if (!lattice_choose_grid(l.size, comm_size(), grid)) return;
    scene s;
    open_scene(&s, l, 0.2, PARITY_ODD);
    field *b = random_source(&s, 67);
    test_single_outside(&s, b);
    test_variants(&s, b);
    test_preconditioners(&s, b);
    test_limits(&s, b);
    test_error(&s);
    test_histories(&s, b);
    test_restarts(&s, b);
    test_falling(&s, b);
    field_destroy(b);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_one_type();
    test_beyond_critical();
    test_no_progress();
    test_wandering();
    return kit_end();
}
