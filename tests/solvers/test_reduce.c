/* Solves to a few digits, by the recurrence from zero, as multigrid's levels have them: the residual falls by the tolerance,
 * where the space is begun anew, too; each of several right-hand sides has the bits that it has alone; those that are not going
 * cost nothing and take no part; a step of a smoother takes the residual with it. */
#include "tests/solvers/scene.h"

enum { SOURCES = 5 };

static field *sources(const scene *s)
{
    field *b = linop_vector(s->schur, SOURCES);
    for (int k = 0; k < SOURCES; k++) {
        field part = field_rhs(b, k), *one = random_source(s, 40 + (uint64_t)k);
        vector_axpby(&part, k + 1, one, 0);
        field_destroy(one);
    }
    field_written(b);
    return b;
}

/* |b - A x| / |b| of right-hand side k. */
static double residual(const scene *s, const field *x, const field *b, int k)
{
    const field part_x = field_rhs(x, k), part_b = field_rhs(b, k);
    field *r = field_like(&part_b);
    linop_apply(s->schur, r, &part_x, 0);
    const double r2 = vector_axpby_norm2(r, 1, &part_b, -1, 0);
    field_destroy(r);
    return sqrt(r2 / vector_norm2(&part_b, 0));
}

/* |x_k - y|^2 */
static double apart(const field *x, int k, field *y)
{
    const field part = field_rhs(x, k);
    return vector_axpy_norm2(y, -1, &part, 0);
}

static void check_reduces(const scene *s, const char *type, const solver_settings *inside, int restart,
                          double tolerance)
{
    static const char going[SOURCES] = {1, 0, 1, 1, 0};
    solver_settings set = settings_of(type, "double");
    set.tolerance = tolerance;
    set.max_iterations = 200;
    set.inner = inside;
    if (!strcmp(type, "gcr")) gcr_keys_of(&set)->restart = restart;
    solver *by = solver_create(&set, s->schur), *alone = solver_create(&set, s->schur);
    field *b = sources(s), *x = field_like(b);
    solve_result each[SOURCES], one;
    solver_update(by);
    solver_update(alone);
    for (int some = 0; some < 2; some++) {
        solver_reduce(by, some ? going : NULL, x, b, each);
        for (int k = 0; k < SOURCES; k++) {
            kit_where("%s, %d vectors, preconditioner %s, right-hand side %d%s", type, restart,
                      inside ? solver_type_of(inside)->name : "none", k, some ? " of some" : "");
            if (some && !going[k]) {
                KIT_INT(each[k].status == SOLVE_BROKEN, 0);
                continue;
            }
            const field part = field_rhs(b, k);
            field *y = field_like(&part);
            solver_reduce(alone, NULL, y, &part, &one);
            KIT_INT(each[k].status, SOLVE_CONVERGED);
            KIT_CHECK(each[k].iterations >= one.iterations && one.iterations > 1 && one.flops > 0);
            KIT_CHECK(residual(s, x, b, k) < 1.01 * tolerance && residual(s, x, b, k) > 1e-4 * tolerance);
            KIT_NEAR(apart(x, k, y), 0, 0);
            field_destroy(y);
        }
    }
    field_destroy(x);
    field_destroy(b);
    solver_destroy(alone);
    solver_destroy(by);
}

/* x and r after a step from x = 0 and r = b: r is b - A x, and those that are not going stay. */
static void check_smooths(const scene *s, const char *type)
{
    char going[SOURCES] = {1, 1, 0, 1, 1};
    const solver_settings set = settings_of(type, "double");
    solver *by = solver_create(&set, s->schur);
    field *b = sources(s), *x = field_like(b), *r = field_like(b), *q = field_like(b);
    solver_update(by);
    vector_copy(r, b);
    solver_smooth(by, going, x, r, q);
    for (int k = 0; k < SOURCES; k++) {
        kit_where("a step of %s, right-hand side %d", type, k);
        KIT_INT(going[k], k != 2);
        if (k == 2) {
            KIT_NEAR(vector_norm2(x, k), 0, 0);
            continue;
        }
        const double size = residual(s, x, b, k);
        KIT_CHECK(size < 0.95);
        KIT_NEAR(sqrt(vector_norm2(r, k) / vector_norm2(b, k)), size, 1e-12);
    }
    field *const all[] = {b, x, r, q};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
    solver_destroy(by);
}

static void test_all(struct ref_lattice l)
{
    scene s;
    const solver_settings blocks = settings_of("schwarz", "double");
    open_scene(&s, l, 0.1, PARITY_EVEN);
    check_reduces(&s, "gcr", NULL, 16, 1e-3);
    check_reduces(&s, "gcr", NULL, 3, 1e-3);
    check_reduces(&s, "gcr", NULL, 40, 1e-6);
    check_reduces(&s, "gcr", &blocks, 4, 1e-3);
    check_reduces(&s, "ca_gcr", NULL, 0, 1e-3);
    check_reduces(&s, "bicgstab", NULL, 0, 1e-3);
    check_smooths(&s, "mr");
    check_smooths(&s, "schwarz");
    close_scene(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    const struct ref_lattice l = {{4, 4, 4, 8}};
    int grid[4];
    if (lattice_choose_grid(l.size, comm_size(), grid)) test_all(l);
    return kit_end();
}
