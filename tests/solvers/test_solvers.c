/* Every solver of solvers.def keeps the promises of solvers/solver.h, whatever is inside.
 *
 * In every precision of the iteration, on a Schur complement (where the type allows that) and on its normal operator,
 * at several masses: the residual reported is the true one, as the oracle sees it, and meets the tolerance when the
 * status says converged; zero sources, exact guesses, unreachable tolerances, too few iterations, NaN and operators
 * that are not positive end with the status that says so, in finite time. All solvers find the same solution. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

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
    return kit_end();
}
