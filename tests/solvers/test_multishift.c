/* Multi-shift conjugate gradients give the answers of single solves: true residuals by the oracle, whatever the order,
 * range and number of shifts, in every precision of the iteration. Shifts drop out as they converge; zero sources,
 * shifts that are none, too few iterations and sources that are no numbers end with the status that says so. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "solvers/multishift.h"

#define MOST 20

typedef struct {
    int n;
    double shifts[MOST], tolerances[MOST];
    field *x[MOST];
} answers;

static void open_answers(answers *a, const field *b, int n)
{
    a->n = n;
    for (int i = 0; i < n; i++) {
        /* 1e-4 to 1e2, not in order. */
        a->shifts[i] = n > 1 ? 1e-4 * pow(1e6, (i * 11 % n) / (n - 1.0)) : 0;
        a->tolerances[i] = i % 3 == 0 ? 1e-12 : i % 3 == 1 ? 1e-9 : 1e-5;
        a->x[i] = field_like(b);
        vector_random(a->x[i], 5, 6, (uint32_t)i); /* of no account */
    }
}

static void close_answers(answers *a)
{
    for (int i = 0; i < a->n; i++) field_destroy(a->x[i]);
}

static solver_settings shift_settings(precision prec)
{
    solver_settings set = {
        .type = param_kind(solver_section(0), "cg"), .max_iterations = 3000, .tolerance = 0.5, .delta = 0.1};
    set.inner_precision = prec;
    return set;
}

static void check_answers(const scene *s, const answers *a, const multishift_result *r, const field *b)
{
    KIT_INT(r->status, SOLVE_CONVERGED);
    KIT_CHECK(r->flops > 0 && r->shared > 0 && r->iterations >= r->shared);
    for (int i = 0; i < a->n; i++) {
        KIT_INT(r->each[i].status, SOLVE_CONVERGED);
        KIT_CHECK(r->each[i].residual <= 1.5 * a->tolerances[i]);
        KIT_NEAR(r->each[i].residual, oracle_residual(s, 1, a->shifts[i], a->x[i], b), 1e-3 * a->tolerances[i] + 2e-14);
    }
}

/* The same as one solve after the other; a solution is off by its residual times the condition number, at most. */
static void check_single(const scene *s, const answers *a, const field *b)
{
    field *y = field_like(b);
    for (int i = 0; i < a->n; i++) {
        linop *op = shifted_create(s->normal, a->shifts[i]);
        solver_settings set = shift_settings(PREC_DOUBLE);
        set.tolerance = a->tolerances[i];
        field_clear(y);
        KIT_INT(solve_by(&set, op, y, b).status, SOLVE_CONVERGED);
        const double size = sqrt(vector_norm2(y, 0));
        KIT_NEAR(sqrt(vector_axpy_norm2(y, -1, a->x[i], 0)), 0, 1e3 * a->tolerances[i] * size);
        linop_destroy(op);
    }
    field_destroy(y);
}

/* The larger of two shifts with one tolerance drops out first, and with fewer iterations. */
static void check_drop_out(const answers *a, const multishift_result *r)
{
    int earlier = 0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->n; j++)
            if (a->tolerances[i] == a->tolerances[j] && a->shifts[i] > a->shifts[j]) {
                KIT_CHECK(r->each[i].iterations <= r->each[j].iterations);
                earlier += r->each[i].iterations < r->each[j].iterations;
            }
    KIT_CHECK(a->n == 1 || earlier > 0);
}

static void test_shifts(const scene *s, const field *b, int n, precision prec)
{
    answers a;
    const solver_settings set = shift_settings(prec);
    kit_where("%d shifts in %s", n, precision_names[prec]);
    open_answers(&a, b, n);
    const multishift_result r = multishift_solve(&set, s->normal, n, a.shifts, a.tolerances, a.x, b);
    check_answers(s, &a, &r, b);
    if (prec == PREC_DOUBLE) {
        check_single(s, &a, b);
        check_drop_out(&a, &r);
        /* The recurrences are enough: one Krylov space, and rounding asks for few applications more. */
        KIT_CHECK(r.iterations - r.shared <= n);
        int most = 0;
        for (int i = 0; i < n; i++) most = r.each[i].iterations > most ? r.each[i].iterations : most;
        KIT_CHECK(r.shared <= most);
    }
    close_answers(&a);
}

/* Single precision goes as far as it can for all shifts at once: little is left to do for each. */
static void test_reach(const scene *s, const field *b)
{
    answers a;
    const solver_settings set = shift_settings(PREC_SINGLE);
    kit_where("the reach of single precision");
    open_answers(&a, b, MOST);
    for (int i = 0; i < MOST; i++) a.tolerances[i] = 1e-6;
    const multishift_result r = multishift_solve(&set, s->normal, MOST, a.shifts, a.tolerances, a.x, b);
    check_answers(s, &a, &r, b);
    KIT_CHECK(r.iterations - r.shared < r.shared);
    close_answers(&a);
}

/* A curve a shift: what the recurrence claims of it, then true residuals of which the last is that of the result. */
static void test_histories(const scene *s, const field *b, precision prec)
{
    answers a;
    solve_history h = {0};
    const solver_settings set = shift_settings(prec);
    kit_where("histories of 5 shifts in %s", precision_names[prec]);
    open_answers(&a, b, 5);
    solver_record(&h);
    const multishift_result r = multishift_solve(&set, s->normal, a.n, a.shifts, a.tolerances, a.x, b);
    solver_record(NULL);
    for (int i = 0; i < a.n; i++) {
        int shared = 0, last = 0;
        double claimed = 1, truth = -1, first_truth = -1;
        for (int k = 0; k < h.n; k++) {
            const solve_point *p = &h.points[k];
            if (p->system != i) continue;
            KIT_CHECK(p->iteration >= last);
            last = p->iteration;
            if (!p->is_true && truth < 0) {
                KIT_INT(p->iteration, ++shared);
                claimed = p->residual;
            }
            if (p->is_true) truth = p->residual;
            if (p->is_true && first_truth < 0) first_truth = truth;
        }
        KIT_CHECK(shared > 0 && shared <= r.shared);
        KIT_INT(last, r.each[i].iterations);
        KIT_NEAR(truth, r.each[i].residual, 1e-3 * a.tolerances[i] + 2e-14);
        KIT_CHECK(first_truth > 0 && first_truth < 1);
        if (prec == PREC_DOUBLE) KIT_NEAR(first_truth / claimed, 1, 0.5);
    }
    const int n = h.n;
    solve_by(&set, s->normal, a.x[0], b);
    KIT_INT(h.n, n);
    close_answers(&a);
    free(h.points);
}

static void test_zero(const scene *s)
{
    answers a;
    field *b = linop_vector(s->normal, 1);
    const solver_settings set = shift_settings(PREC_SINGLE);
    kit_where("a zero source");
    open_answers(&a, b, 5);
    const multishift_result r = multishift_solve(&set, s->normal, a.n, a.shifts, a.tolerances, a.x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    for (int i = 0; i < a.n; i++) KIT_NEAR(vector_norm2(a.x[i], 0), 0, 0);
    close_answers(&a);
    field_destroy(b);
}

/* Twice the same shift, and a single one of zero. */
static void test_same(const scene *s, const field *b)
{
    answers a;
    const solver_settings set = shift_settings(PREC_SINGLE);
    kit_where("a shift that is given twice");
    open_answers(&a, b, 4);
    a.shifts[3] = a.shifts[1];
    a.tolerances[3] = a.tolerances[1];
    const multishift_result r = multishift_solve(&set, s->normal, a.n, a.shifts, a.tolerances, a.x, b);
    check_answers(s, &a, &r, b);
    KIT_NEAR(vector_axpy_norm2(a.x[3], -1, a.x[1], 0), 0, 0);
    close_answers(&a);
}

static void test_refused(const scene *s, const field *b)
{
    static const double bad[3] = {-1e-3, NAN, INFINITY};
    const solver_settings set = shift_settings(PREC_SINGLE);
    answers a;
    for (int k = 0; k < 3; k++) {
        kit_where("a shift of %g", bad[k]);
        open_answers(&a, b, 4);
        a.shifts[2] = bad[k];
        const multishift_result r = multishift_solve(&set, s->normal, a.n, a.shifts, a.tolerances, a.x, b);
        KIT_INT(r.status, SOLVE_BROKEN);
        for (int i = 0; i < a.n; i++) KIT_NEAR(vector_norm2(a.x[i], 0), 0, 0);
        close_answers(&a);
    }
    kit_where("tolerances that no arithmetic reaches");
    open_answers(&a, b, 4);
    for (int i = 0; i < a.n; i++) a.tolerances[i] = 1e-20;
    multishift_result r = multishift_solve(&set, s->normal, a.n, a.shifts, a.tolerances, a.x, b);
    KIT_INT(r.status, SOLVE_STALLED);
    for (int i = 0; i < a.n; i++) {
        KIT_INT(r.each[i].status, SOLVE_STALLED);
        KIT_CHECK(r.each[i].residual < 1e-12);
        KIT_NEAR(r.each[i].residual, oracle_residual(s, 1, a.shifts[i], a.x[i], b), 2e-14);
    }
    close_answers(&a);
    kit_where("too few iterations");
    open_answers(&a, b, 4);
    solver_settings few = set;
    few.max_iterations = 2;
    r = multishift_solve(&few, s->normal, a.n, a.shifts, a.tolerances, a.x, b);
    KIT_INT(r.status, SOLVE_TOO_MANY_ITERATIONS);
    KIT_CHECK(r.iterations <= 2 * (a.n + 1));
    for (int i = 0; i < a.n; i++) KIT_NEAR(r.each[i].residual, oracle_residual(s, 1, a.shifts[i], a.x[i], b), 2e-14);
    kit_where("a source that is no number");
    field *nan = field_like(b);
    field_copy(nan, b);
    vector_axpby(nan, NAN, nan, 0);
    r = multishift_solve(&set, s->normal, a.n, a.shifts, a.tolerances, a.x, nan);
    KIT_INT(r.status, SOLVE_BROKEN);
    field_destroy(nan);
    close_answers(&a);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    scene s;
    open_scene(&s, kit_shapes[0], 0.05, PARITY_EVEN);
    field *b = random_source(&s, 68);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        test_shifts(&s, b, 1, (precision)prec);
        test_shifts(&s, b, 7, (precision)prec);
    }
    test_shifts(&s, b, MOST, PREC_DOUBLE); /* more than a launch takes */
    test_shifts(&s, b, MOST, PREC_SINGLE);
    for (int prec = 0; prec < PREC_COUNT; prec++) test_histories(&s, b, (precision)prec);
    test_reach(&s, b);
    test_zero(&s);
    test_same(&s, b);
    test_refused(&s, b);
    field_destroy(b);
    close_scene(&s);
    return kit_end();
}
