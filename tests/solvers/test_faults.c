/* Numbers that are none, planted in a preconditioner or in one application of the operator, whichever: a solve ends,
 * and what it says of its solution is true. With noise in low precisions, in which an iteration gets nowhere, higher
 * ones do the work. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "solvers/multishift.h"

/* Numbers that are none end the solve, wherever they come from. */
static void test_broken_preconditioner(const scene *s, const field *b)
{
    static const char *const inside[] = {"mr", "schwarz"};
    field *x = field_like(b);
    for (int k = 0; k < 2; k++)
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int low = prec; low < PREC_COUNT; low++) {
                solver_settings inner = settings_of(inside[k], precision_names[low]),
                                set = settings_of("gcr", precision_names[prec]);
                set.inner = &inner;
                if (k == 0) mr_keys_of(&inner)->relaxation = NAN;
                else schwarz_keys_of(&inner)->relaxation = NAN;
                kit_where("gcr in %s with %s in %s that gives no numbers", precision_names[prec], inside[k],
                          precision_names[low]);
                field_clear(x);
                const solve_result r = solve_by(&set, s->schur, x, b);
                KIT_INT(r.status, SOLVE_BROKEN);
                KIT_CHECK(!(r.residual <= set.tolerance));
            }
    field_destroy(x);
}

/* ---- an operator that fails once, or is noisy ---- */

typedef struct faulty {
    linop base;
    linop *inner;
    struct faulty *others[PREC_COUNT];
} faulty;

/* Until the one whose result is no number, in blocks or not, in that precision or a lower one. */
static int applications_left;
static precision highest;
static double noise; /* relative, in that precision and lower ones */
static uint32_t noises;

static void add_noise(field *y, const field *x)
{
    field *kick = field_create(y->lat, y->kind, PREC_DOUBLE, y->par, 1, y->where), *low = field_like(y);
    vector_random(kick, 3, 3, noises++);
    field_copy(low, kick);
    vector_axpby(y, noise * sqrt(vector_norm2(x, 0) / vector_norm2(low, 0)), low, 1);
    field_destroy(low);
    field_destroy(kick);
}

static void faulty_apply(const linop *op, field *y, const field *x, int dagger)
{
    linop_apply(((const faulty *)op)->inner, y, x, dagger);
    if (op->prec >= highest && --applications_left == 0) vector_axpby(y, NAN, y, 0);
    if (op->prec >= highest && noise > 0) add_noise(y, x);
}

static linop *faulty_create(linop *inner);

static linop *faulty_at(linop *op, precision prec, place where)
{
    faulty *f = (faulty *)op;
    if (!f->others[prec]) f->others[prec] = (faulty *)faulty_create(linop_at(f->inner, prec, where));
    return &f->others[prec]->base;
}

static linop *faulty_local(linop *op, const block_shape *s, char *message, size_t bytes)
{
    linop *inner = linop_local(((faulty *)op)->inner, s, message, bytes);
    return inner ? faulty_create(inner) : NULL;
}

static void faulty_refresh(linop *op)
{
    linop_refresh(((faulty *)op)->inner);
}

static void faulty_destroy(linop *op)
{
    faulty *f = (faulty *)op;
    for (int p = 0; p < PREC_COUNT; p++)
        if (f->others[p]) linop_destroy(&f->others[p]->base);
    free(f);
}

static const linop_table faulty_table = {.name = "faulty",
                                         .apply = faulty_apply,
                                         .at = faulty_at,
                                         .local = faulty_local,
                                         .refresh = faulty_refresh,
                                         .destroy = faulty_destroy};

static linop *faulty_create(linop *inner)
{
    faulty *f = kit_alloc(1, sizeof *f);
    f->base = *inner;
    f->base.kept = NULL;
    f->base.coarsening = NULL;
    f->base.table = &faulty_table;
    f->inner = inner;
    return &f->base;
}

/* Whichever application goes wrong: what is said of the solution is true of it. One of a lower precision is made up for
 * in the next. */
static void check_fault(const scene *s, const solver_settings *set, int is_normal, const field *b, int when)
{
    linop *op = faulty_create(is_normal ? s->normal : s->schur);
    field *x = field_like(b);
    applications_left = when;
    const solve_result r = solve_by(set, op, x, b);
    const double truth = oracle_residual(s, is_normal, 0, x, b);
    KIT_CHECK((applications_left <= 0 && highest == PREC_DOUBLE) || r.status == SOLVE_CONVERGED);
    if (r.status == SOLVE_CONVERGED) {
        KIT_CHECK(truth <= 1.5 * set->tolerance);
        KIT_NEAR(r.residual, truth, 1e-3 * set->tolerance + 2e-14);
    } else {
        KIT_CHECK(r.status == SOLVE_BROKEN);
    }
    field_destroy(x);
    linop_destroy(op);
}

static void test_faults(const scene *s, const field *b, precision high)
{
    static const int when[] = {1, 2, 7, 30};
    const int types = solver_types_count();
    highest = high;
    for (int k = 0; k < types; k++)
        for (int prec = (int)high; prec < PREC_COUNT; prec++)
            for (size_t n = 0; n < sizeof when / sizeof when[0]; n++) {
                if (!solver_type_number(k)->solve || solver_type_number(k)->coarsens) continue;
                const int is_normal = solver_type_number(k)->positive;
                solver_settings set = settings_of(solver_type_number(k)->name, precision_names[prec]),
                                inner = settings_of("bicgstab", precision_names[prec]);
                inner.tolerance = 1e-2;
                if (solver_type_has(solver_type_number(k), "correction")) {
                    snprintf(set.inner_name, sizeof set.inner_name, "inner");
                    set.inner = &inner;
                }
                kit_where("%s in %s, application %d in %s or less is no number", solver_type_number(k)->name,
                          precision_names[prec], when[n], precision_names[high]);
                check_fault(s, &set, is_normal, b, when[n]);
                if (!solver_type_has(solver_type_number(k), "preconditioner")) continue;
                inner = settings_of("schwarz", precision_names[prec]);
                set.inner = &inner;
                kit_where("%s in %s with blocks, application %d in %s or less is no number",
                          solver_type_number(k)->name, precision_names[prec], when[n], precision_names[high]);
                check_fault(s, &set, is_normal, b, when[n]);
            }
}

static void test_noise(const scene *s, const field *b)
{
    linop *op = faulty_create(s->normal);
    field *x = field_like(b);
    solver_settings set = settings_of("cg", "half");
    const double shift = 0.1;
    multishift_result many;
    highest = PREC_SINGLE;
    applications_left = 0;
    noise = 20;
    set.max_iterations = 2000;
    kit_where("cg with noise in single and half precision");
    field_clear(x);
    const solve_result one = solve_by(&set, op, x, b);
    KIT_INT(one.status, SOLVE_CONVERGED);
    KIT_CHECK(oracle_residual(s, 1, 0, x, b) <= 1.5 * set.tolerance);
    KIT_CHECK(one.iterations > 2 * set.max_iterations / 8);
    kit_where("multi-shift cg with noise in single and half precision");
    many = multishift_solve(&set, op, 1, &shift, &set.tolerance, &x, b);
    KIT_INT(many.status, SOLVE_CONVERGED);
    KIT_CHECK(oracle_residual(s, 1, shift, x, b) <= 1.5 * set.tolerance);
    KIT_CHECK(many.shared > set.max_iterations / 8 && many.shared < set.max_iterations / 2);
    noise = 0;
    field_destroy(x);
    linop_destroy(op);
}

int main(int argc, char **argv)
{
    int grid[4];
    kit_begin(&argc, &argv);
    if (lattice_choose_grid(kit_shapes[0].size, comm_size(), grid)) {
        scene s;
        open_scene(&s, kit_shapes[0], 0.2, PARITY_ODD);
        field *b = random_source(&s, 67);
        test_broken_preconditioner(&s, b);
        test_faults(&s, b, PREC_DOUBLE);
        test_faults(&s, b, PREC_SINGLE);
        test_noise(&s, b);
        field_destroy(b);
        close_scene(&s);
    }
    return kit_end();
}
