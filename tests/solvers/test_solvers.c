/* Every solver of solvers.def keeps the promises of solvers/solver.h, whatever is inside.
 *
 * In every precision of the iteration, on a Schur complement (where the type allows that) and on its normal operator,
 * at several masses: the residual reported is the true one, as the oracle sees it, and meets the tolerance when the
 * status says converged; zero sources, exact guesses, unreachable tolerances, too few iterations, NaN and operators
 * that are not positive end with the status that says so, in finite time. All solvers find the same solution.
 * Preconditioners and solvers of corrections are tried in pairs; histories end below the tolerance and say what is
 * true. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/lattice/purpose.h"

typedef struct {
    const scene *s;
    linop *op;
    int is_normal;
    solver_settings set;
    field *b;
} trial;

/* ---- what every solver must do ---- */

static field *check_converges(trial t)
{
    field *x = field_like(t.b), *guess = random_source(t.s, 63);
    for (double tolerance = 1e-5; tolerance > 1e-13; tolerance *= 1e-4) {
        t.set.tolerance = tolerance;
        field_clear(x);
        const solve_result r = solve_by(&t.set, t.op, x, t.b);
        KIT_INT(r.status, SOLVE_CONVERGED);
        KIT_CHECK(r.residual <= 1.5 * tolerance);
        KIT_CHECK(r.iterations > 1 && r.iterations <= t.set.max_iterations);
        KIT_CHECK(r.flops > 0 && r.seconds >= 0);
        KIT_NEAR(r.residual, oracle_residual(t.s, t.is_normal, 0, x, t.b), 1e-3 * tolerance + 2e-14);
    }
    /* The guess changes the way, not the end. */
    const solve_result r = solve_by(&t.set, t.op, guess, t.b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    const double x2 = vector_norm2(x, 0);
    KIT_NEAR(sqrt(vector_axpy_norm2(guess, -1, x, 0) / x2), 0, 1e-9);
    field_destroy(guess);
    return x;
}

static void check_zero_source(const trial *t)
{
    field *x = random_source(t->s, 63), *b = field_like(x);
    const solve_result r = solve_by(&t->set, t->op, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    KIT_NEAR(r.residual, 0, 0);
    KIT_NEAR(vector_norm2(x, 0), 0, 0);
    /* And as a preconditioner: K 0 = 0. */
    field_destroy(x);
    x = random_source(t->s, 63);
    precondition_by(&t->set, t->op, x, b);
    KIT_NEAR(vector_norm2(x, 0), 0, 0);
    field_destroy(x);
    field_destroy(b);
}

/* b = A x made from x. */
static void check_exact_guess(const trial *t)
{
    field *x = random_source(t->s, 64), *b = field_like(x), *before = field_like(x);
    linop_apply(t->op, b, x, 0);
    field_copy(before, x);
    const solve_result r = solve_by(&t->set, t->op, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    KIT_NEAR(vector_axpy_norm2(before, -1, x, 0), 0, 0);
    field_destroy(x);
    field_destroy(b);
    field_destroy(before);
}

static void check_unreachable(trial t)
{
    field *x = field_like(t.b);
    t.set.tolerance = 1e-20;
    solve_result r = solve_by(&t.set, t.op, x, t.b);
    KIT_CHECK(r.status == SOLVE_STALLED || r.status == SOLVE_TOO_MANY_ITERATIONS);
    KIT_CHECK(r.iterations <= t.set.max_iterations);
    KIT_CHECK(r.residual > 1e-20 && r.residual < 1e-12); /* the best that was reached */
    KIT_NEAR(r.residual, oracle_residual(t.s, t.is_normal, 0, x, t.b), 2e-14);
    /* A step of BiCGStab(l) has 2 l applications. */
    t.set.max_iterations = 4;
    t.set.tolerance = 1e-10;
    field_clear(x);
    r = solve_by(&t.set, t.op, x, t.b);
    KIT_INT(r.status, SOLVE_TOO_MANY_ITERATIONS);
    KIT_INT(r.iterations, 4);
    KIT_NEAR(r.residual, oracle_residual(t.s, t.is_normal, 0, x, t.b), 1e-13);
    KIT_CHECK(r.residual < 1);
    field_destroy(x);
}

static void check_not_a_number(const trial *t)
{
    static const double poison[3] = {NAN, INFINITY, 1e200};
    const size_t n = (size_t)t->s->lat->volume * 24;
    for (int k = 0; k < 3; k++)
        for (int where = 0; where < 2; where++) {
            field *x = random_source(t->s, 65), *b = random_source(t->s, 66), *bad = where ? x : b;
            double *array = kit_gather(bad);
            for (size_t i = 24 * ((n / 24) / 2); i < n; i++)
                if (array[i] != 0) {
                    array[i] = poison[k];
                    break;
                }
            kit_scatter(bad, array);
            const solve_result r = solve_by(&t->set, t->op, x, b);
            KIT_INT(r.status, SOLVE_BROKEN);
            KIT_CHECK(!(r.residual <= t->set.tolerance));
            free(array);
            field_destroy(x);
            field_destroy(b);
        }
}

/* ---- an operator that is not positive ---- */

typedef struct negative {
    linop base;
    linop *inner;
    struct negative *others[PREC_COUNT];
} negative;

static void negative_apply(const linop *op, field *y, const field *x, int dagger)
{
    linop_apply(((const negative *)op)->inner, y, x, dagger);
    vector_axpby(y, -1, y, 0);
}

static linop *negative_create(linop *inner);

static linop *negative_at(linop *op, precision prec, place where)
{
    negative *n = (negative *)op;
    if (!n->others[prec]) n->others[prec] = (negative *)negative_create(linop_at(n->inner, prec, where));
    return &n->others[prec]->base;
}

static linop *negative_local(linop *op, const block_shape *s, char *message, size_t bytes)
{
    linop *inner = linop_local(((negative *)op)->inner, s, message, bytes);
    return inner ? negative_create(inner) : NULL;
}

static void negative_refresh(linop *op)
{
    linop_refresh(((negative *)op)->inner);
}

static void negative_destroy(linop *op)
{
    negative *n = (negative *)op;
    for (int p = 0; p < PREC_COUNT; p++)
        if (n->others[p]) negative_destroy(&n->others[p]->base);
    free(n);
}

static const linop_table negative_table = {.name = "negative",
                                           .apply = negative_apply,
                                           .at = negative_at,
                                           .local = negative_local,
                                           .refresh = negative_refresh,
                                           .destroy = negative_destroy};

static linop *negative_create(linop *inner)
{
    negative *n = kit_alloc(1, sizeof *n);
    n->base = *inner;
    n->base.kept = NULL;
    n->base.coarsening = NULL;
    n->base.table = &negative_table;
    n->inner = inner;
    return &n->base;
}

/* A solver that needs a positive operator says that it is none; another one solves, or says that it did not. */
static void check_not_positive(const trial *t)
{
    const solver_type *type = solver_type_of(&t->set);
    linop *op = negative_create(t->op);
    field *x = field_like(t->b);
    const solve_result r = solve_by(&t->set, op, x, t->b);
    if (type->positive) KIT_INT(r.status, SOLVE_BROKEN);
    KIT_INT(r.status == SOLVE_CONVERGED, r.residual <= 1.5 * t->set.tolerance);
    field_destroy(x);
    linop_destroy(op);
}

/* Several right-hand sides, one of them zero: each has the bits of a solve of its own, and a result of its own. One
 * solver does them all, and once more the first. */
static void check_several(const trial *t)
{
    enum { N = 3 };
    solver *s = solver_create(&t->set, t->op);
    if (t->set.type == param_kind(solver_section(0), "block_cg"))
        block_cg_keys_of(&s->settings)->block_size = 1; /* tests/solvers/test_block_cg.c */
    solve_result each[N], one;
    field *b = linop_vector(t->op, N), *x = linop_vector(t->op, N), *y = linop_vector(t->op, 1);
    field *sources[N] = {t->b, field_like(t->b), random_source(t->s, 64)};
    for (int r = 0; r < N; r++) {
        field part = field_rhs(b, r);
        vector_axpby(&part, 1, sources[r], 0);
    }
    const solve_result all = solver_solve(s, x, b, each);
    KIT_INT(all.status, SOLVE_CONVERGED);
    int iterations = 0;
    for (int r = 0; r < N; r++) {
        const field part = field_rhs(x, r);
        field_clear(y);
        one = solver_solve(s, y, sources[r], NULL);
        KIT_INT(each[r].status, one.status);
        KIT_INT(each[r].iterations, one.iterations);
        KIT_NEAR(each[r].residual, one.residual, 0);
        KIT_NEAR(vector_axpy_norm2(y, -1, &part, 0), 0, 0);
        KIT_CHECK(all.residual >= each[r].residual);
        /* Those of a block count once. */
        if (solver_block_size(&s->settings) >= N)
            iterations = each[r].iterations > iterations ? each[r].iterations : iterations;
        else iterations += each[r].iterations;
    }
    KIT_INT(all.iterations, iterations);
    field_clear(y);
    one = solver_solve(s, y, t->b, NULL);
    KIT_NEAR(one.residual, each[0].residual, 0);
    for (int r = 1; r < N; r++) field_destroy(sources[r]);
    field_destroy(y);
    field_destroy(x);
    field_destroy(b);
    solver_destroy(s);
}

/* ---- every line of solvers.def ---- */

/* Compares with the first solution, which *first is. */
static void test_solver(const trial *t, field **first, int edges)
{
    field *x = check_converges(*t);
    if (*first) {
        const double norm2 = vector_norm2(*first, 0);
        KIT_NEAR(sqrt(vector_axpy_norm2(x, -1, *first, 0) / norm2), 0, 1e-9);
        field_destroy(x);
    } else {
        *first = x;
    }
    check_zero_source(t);
    check_exact_guess(t);
    check_several(t);
    if (!edges) return;
    check_unreachable(*t);
    check_not_a_number(t);
    if (!solver_type_of(&t->set)->coarsens) check_not_positive(t);
}

/* Types that work on coarse lattices need an operator that comes there, and aggregates that the ranks have. */
static int can_take(const scene *s, const linop *op, const solver_type *type)
{
    char message[512];
    const solver_settings set = settings_of(type->name, "single");
    return !type->coarsens || (op->coarsening && !type->fits(&set, s->lat, message, sizeof message));
}

/* Every type in every precision; those with a solver inside get one that suits the operator. */
static void test_solvers(struct ref_lattice l, double mass, parity p, int edges)
{
    const int types = solver_types_count();
    int grid[4];
    if (!lattice_choose_grid(l.size, comm_size(), grid)) return;
    scene s;
    open_scene(&s, l, mass, p);
    field *b = random_source(&s, 62), *first[2] = {NULL, NULL};
    for (int is_normal = 0; is_normal < 2; is_normal++)
        for (int k = 0; k < types; k++)
            for (int prec = 0; prec < PREC_COUNT; prec++) {
                if (!solver_type_number(k)->solve || (solver_type_number(k)->positive && !is_normal)) continue;
                solver_settings inner = settings_of(is_normal ? "cg" : "bicgstab", precision_names[prec]);
                if (!can_take(&s, is_normal ? s.normal : s.schur, solver_type_number(k))) continue;
                trial t = {&s, is_normal ? s.normal : s.schur, is_normal,
                           settings_of(solver_type_number(k)->name, precision_names[prec]), b};
                inner.tolerance = prec == PREC_QUARTER ? 0.3 : 1e-2;
                if (solver_type_has(solver_type_number(k), "correction")) {
                    snprintf(t.set.inner_name, sizeof t.set.inner_name, "inner");
                    t.set.inner = &inner;
                }
                kit_where("%s in %s, mass %g, %d.%d.%d.%d, %s operator", solver_type_of(&t.set)->name,
                          precision_names[prec], mass, l.size[0], l.size[1], l.size[2], l.size[3],
                          is_normal ? "normal" : "Schur");
                test_solver(&t, &first[is_normal], edges);
            }
    for (int i = 0; i < 2; i++) {
        CHECK(first[i] != NULL);
        field_destroy(first[i]);
    }
    field_destroy(b);
    close_scene(&s);
}

/* ---- parameters of one type ---- */

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

static void test_texts(void)
{
    for (int a = 0; a <= SOLVE_BROKEN; a++)
        for (int b = 0; b < a; b++)
            CHECK(strcmp(solve_status_text((solve_status)a), solve_status_text((solve_status)b)) != 0);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_texts();
    test_solvers(kit_shapes[0], 0.5, PARITY_EVEN, 1);
    test_solvers(kit_shapes[0], 0.05, PARITY_ODD, 0);
    test_solvers(kit_shapes[2], -0.05, PARITY_ODD, 0);
    test_one_type();
    test_beyond_critical();
    test_no_progress();
    test_wandering();
    return kit_end();
}
