/* Block conjugate gradients against single solves: the same solutions, with true residuals of each right-hand side; one
 * right-hand side is CG; equal, dependent, nearly equal and zero sources; 64 sources, with which the Krylov space is the
 * whole space after as many steps as it has dimensions over 64; more sources than a block takes. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/lattice/purpose.h"
#include "operators/staggered.h"

static const struct ref_lattice shape = {{4, 4, 4, 4}};

static solver_settings block_set(const char *prec, double tolerance)
{
    solver_settings s = settings_of("block_cg", prec);
    s.tolerance = tolerance;
    return s;
}

static void set_column(field *to, int r, double a, const field *x, int from)
{
    field part = field_rhs(to, r);
    const field source = field_rhs(x, from);
    vector_axpby(&part, a, &source, 1);
    field_written(to);
}

static field *random_columns(const linop *op, int n)
{
    field *b = linop_vector(op, n);
    vector_random(b, 5, RANDOM_TEST, 1);
    return b;
}

static field *column(const linop *op, const field *x, int r)
{
    field *one = linop_vector(op, 1);
    const field part = field_rhs(x, r);
    vector_axpby(one, 1, &part, 0);
    return one;
}

/* |x_r - y| / |y| */
static double distance(const linop *op, const field *x, int r, const field *y)
{
    field *one = column(op, x, r);
    vector_axpby(one, -1, y, 1);
    const double d = sqrt(vector_norm2(one, 0) / vector_norm2(y, 0));
    field_destroy(one);
    return d;
}

/* Every column is what CG finds for it alone, to the accuracy of `times` tolerances. Returns the iterations of the block. */
static int check_columns(linop *op, const field *b, const solver_settings *set, double times)
{
    solver_settings single = settings_of("cg", "double");
    solve_result each[SOLVER_BLOCK_MOST];
    field *x = linop_vector(op, b->nrhs);
    solver *by = solver_create(set, op);
    const solve_result all = solver_solve(by, x, b, each);
    solver_destroy(by);
    KIT_INT(all.status, SOLVE_CONVERGED);
    KIT_CHECK(all.residual <= 1.5 * set->tolerance);
    single.tolerance = set->tolerance;
    for (int r = 0; r < b->nrhs; r++) {
        field *source = column(op, b, r), *y = linop_vector(op, 1), *rest = column(op, x, r), *image = field_like(rest);
        KIT_INT(each[r].status, SOLVE_CONVERGED);
        const double b2 = vector_norm2(source, 0);
        if (b2 == 0) {
            KIT_NEAR(vector_norm2(rest, 0), 0, 0);
        } else {
            KIT_INT(solve_by(&single, op, y, source).status, SOLVE_CONVERGED);
            KIT_CHECK(distance(op, x, r, y) <= times * set->tolerance);
            linop_apply(op, image, rest, 0);
            vector_axpby(image, 1, source, -1);
            KIT_NEAR(each[r].residual, sqrt(vector_norm2(image, 0) / b2), 1e-13);
        }
        field *all_of[] = {source, y, rest, image};
        for (int k = 0; k < 4; k++) field_destroy(all_of[k]);
    }
    field_destroy(x);
    return all.iterations;
}

static void test_sources(linop *op, const char *name)
{
    static const char *const precs[] = {"double", "single", "half"};
    for (int k = 0; k < 3; k++) {
        const solver_settings set = block_set(precs[k], 1e-10);
        int before = 0;
        for (int n = 1; n <= 12; n += n == 1 ? 4 : 7) {
            field *b = random_columns(op, n);
            kit_where("%d sources, %s, %s", n, name, precs[k]);
            const int iterations = check_columns(op, b, &set, 300);
            KIT_CHECK(!before || k == 2 || iterations <= before);
            before = iterations;
            field_destroy(b);
        }
        /* Equal, zero, dependent and nearly equal ones, and one of another size. */
        field *b = linop_vector(op, 7), *some = random_columns(op, 3);
        for (int r = 0; r < 2; r++) set_column(b, r, 1, some, 0);
        set_column(b, 3, 1, some, 1);
        for (int r = 0; r < 2; r++) set_column(b, 4, 0.5 + r, some, r);
        set_column(b, 5, 1, some, 0);
        set_column(b, 5, 1e-9, some, 2);
        set_column(b, 6, 1e-8, some, 2);
        kit_where("equal, zero and dependent sources, %s, %s", name, precs[k]);
        check_columns(op, b, &set, 300);
        field_destroy(b);
        field_destroy(some);
    }
}

/* One source, or the same many times: the steps of CG. */
static void test_one(linop *op)
{
    const solver_settings set = block_set("double", 1e-10);
    solver_settings cg = settings_of("cg", "double");
    cg.tolerance = set.tolerance;
    field *some = random_columns(op, 1), *x = field_like(some);
    const int steps = solve_by(&cg, op, x, some).iterations;
    for (int n = 1; n <= 4; n += 3) {
        field *b = linop_vector(op, n);
        for (int r = 0; r < n; r++) set_column(b, r, 1, some, 0);
        kit_where("the same source %d times", n);
        KIT_NEAR(check_columns(op, b, &set, 300), steps, 1);
        field_destroy(b);
    }
    field_destroy(x);
    field_destroy(some);
}

/* More sources than a block takes are solved in several, each by itself. */
static void test_blocks(linop *op)
{
    solver_settings set = block_set("single", 1e-8);
    block_cg_keys_of(&set)->block_size = 2;
    field *b = random_columns(op, 5), *x = linop_vector(op, 5), *part_b = linop_vector(op, 2),
          *part_x = field_like(part_b);
    solver *by = solver_create(&set, op);
    kit_where("five sources in blocks of two");
    const solve_result all = solver_solve(by, x, b, NULL);
    int iterations = 0;
    for (int first = 0; first < 4; first += 2) {
        field_clear(part_b);
        field_clear(part_x);
        for (int r = 0; r < 2; r++) set_column(part_b, r, 1, b, first + r);
        iterations += solver_solve(by, part_x, part_b, NULL).iterations;
        for (int r = 0; r < 2; r++) {
            field *one = column(op, part_x, r);
            KIT_NEAR(distance(op, x, first + r, one), 0, 0);
            field_destroy(one);
        }
    }
    field *last = column(op, b, 4), *y = field_like(last);
    iterations += solver_solve(by, y, last, NULL).iterations;
    KIT_NEAR(distance(op, x, 4, y), 0, 0);
    KIT_INT(all.iterations, iterations);
    solver_destroy(by);
    field *const fields[] = {b, x, part_b, part_x, last, y};
    for (int k = 0; k < 6; k++) field_destroy(fields[k]);
}

/* Staggered quarks on 4^4 have 384 components on a parity: six steps of 64 sources, and few more by rounding. */
static void test_whole_space(const field *links)
{
    staggered_links *l = staggered_links_create(links, &(staggered_smearing){.kind = STAGGERED_NAIVE});
    staggered *quark = staggered_create(l, 0.01, PARITY_EVEN);
    linop *op = staggered_normal(quark);
    const solver_settings set = block_set("double", 1e-10);
    linop_refresh(op);
    test_sources(op, "staggered");
    field *b = random_columns(op, 64);
    kit_where("64 sources of a staggered quark");
    KIT_CHECK(check_columns(op, b, &set, 1e5) <= 8);
    field_destroy(b);
    staggered_destroy(quark);
    staggered_links_destroy(l);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    scene s;
    open_scene(&s, shape, 0.1, PARITY_EVEN);
    linop_refresh(s.normal);
    test_sources(s.normal, "clover");
    test_one(s.normal);
    test_blocks(s.normal);
    test_whole_space(s.links);
    close_scene(&s);
    return kit_end();
}
