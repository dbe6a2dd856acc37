/* Every solver of solvers.def keeps the promises of solvers/solver.h, whatever is inside.
 *
 * On the normal operator of a Schur complement at several masses: the residual reported is the true one, as the oracle
 * sees it, and meets the tolerance when the status says converged; zero sources, exact guesses, unreachable tolerances,
 * too few iterations, NaN and operators that are not positive end with the status that says so, in finite time. Mixed
 * precision: the same for every inner precision. All solvers find the same solution. */
#include "tests/kernels/kit.h"

#include "kernels/spinor.h"
#include "operators/wilson.h"
#include "solvers/solver.h"

typedef struct {
    struct ref_lattice l;
    lattice *lat;
    double complex *u;
    field *links;
    wilson *w;
    linop *normal;
    struct ref_wilson ref;
    parity p;
} scene;

static void open_scene(scene *s, struct ref_lattice l, double mass, parity p)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 61);
    s->l = l;
    s->p = p;
    s->lat = kit_lattice(l, 1, -1);
    s->u = kit_random_gauge(l, 0.35, &rng);
    s->links = kit_links(s->lat, s->u);
    s->w = wilson_create(s->links, &(wilson_settings){mass, 1, SCHUR_ASYMMETRIC, p, FIELD_LINKS});
    s->normal = normal_create(wilson_schur(s->w));
    ref_wilson_create(&s->ref, l, s->u, mass, 1, -1);
}

static void close_scene(scene *s)
{
    ref_wilson_destroy(&s->ref);
    linop_destroy(s->normal);
    wilson_destroy(s->w);
    field_destroy(s->links);
    free(s->u);
    lattice_destroy(s->lat);
}

static field *random_source(const scene *s, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double *numbers = kit_normals((size_t)s->lat->volume * 24, &rng);
    field *f = kit_field(s->lat, FIELD_SPINOR, PREC_DOUBLE, s->p, 1, numbers);
    free(numbers);
    return f;
}

/* |b - N x| / |b| by the oracle. */
static double oracle_residual(const scene *s, const field *x, const field *b)
{
    const size_t n = 12 * ref_volume(s->l);
    double complex *psi = kit_spinor(x, 0), *rhs = kit_spinor(b, 0), *t = ref_spinor_new(s->l),
                   *r = ref_spinor_new(s->l);
    double residual = 0;
    if (comm_rank() == 0) {
        ref_schur_asymmetric(t, psi, &s->ref, s->p, 0);
        ref_schur_asymmetric(r, t, &s->ref, s->p, 1);
        for (size_t i = 0; i < n; i++) r[i] = rhs[i] - r[i];
        residual = sqrt(ref_norm2(r, n) / ref_norm2(rhs, n));
    }
    comm_bcast(&residual, sizeof residual);
    free(r);
    free(t);
    free(rhs);
    free(psi);
    return residual;
}

/* ---- what every solver must do ---- */

static field *check_converges(const scene *s, solver_settings set, const field *b)
{
    field *x = field_like(b), *guess = random_source(s, 63);
    for (double tolerance = 1e-5; tolerance > 1e-13; tolerance *= 1e-4) {
        set.tolerance = tolerance;
        field_clear(x);
        const solve_result r = solver_solve(&set, s->normal, x, b);
        KIT_INT(r.status, SOLVE_CONVERGED);
        KIT_CHECK(r.residual <= 1.5 * tolerance);
        KIT_CHECK(r.iterations > 1 && r.iterations <= set.max_iterations);
        KIT_CHECK(r.flops > 0 && r.seconds >= 0);
        KIT_NEAR(r.residual, oracle_residual(s, x, b), 1e-3 * tolerance + 2e-14);
    }
    /* The guess changes the way, not the end. */
    const solve_result r = solver_solve(&set, s->normal, guess, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    const double x2 = spinor_norm2(x, 0);
    KIT_NEAR(sqrt(spinor_axpy_norm2(guess, -1, x, 0) / x2), 0, 1e-9);
    field_destroy(guess);
    return x;
}

static void check_zero_source(const scene *s, solver_settings set)
{
    field *x = random_source(s, 63), *b = field_like(x);
    const solve_result r = solver_solve(&set, s->normal, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    KIT_NEAR(r.residual, 0, 0);
    KIT_NEAR(spinor_norm2(x, 0), 0, 0);
    field_destroy(x);
    field_destroy(b);
}

/* b = N x made from x. */
static void check_exact_guess(const scene *s, solver_settings set)
{
    field *x = random_source(s, 64), *b = field_like(x), *before = field_like(x);
    linop_apply(s->normal, b, x, 0);
    field_copy(before, x);
    const solve_result r = solver_solve(&set, s->normal, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    KIT_NEAR(spinor_axpy_norm2(before, -1, x, 0), 0, 0);
    field_destroy(x);
    field_destroy(b);
    field_destroy(before);
}

static void check_unreachable(const scene *s, solver_settings set, const field *b)
{
    field *x = field_like(b);
    set.tolerance = 1e-20;
    solve_result r = solver_solve(&set, s->normal, x, b);
    KIT_CHECK(r.status == SOLVE_STALLED || r.status == SOLVE_TOO_MANY_ITERATIONS);
    KIT_CHECK(r.iterations <= set.max_iterations);
    KIT_CHECK(r.residual > 1e-20 && r.residual < 1e-12); /* the best that was reached */
    KIT_NEAR(r.residual, oracle_residual(s, x, b), 2e-14);
    set.max_iterations = 4;
    set.tolerance = 1e-10;
    field_clear(x);
    r = solver_solve(&set, s->normal, x, b);
    KIT_INT(r.status, SOLVE_TOO_MANY_ITERATIONS);
    KIT_INT(r.iterations, 4);
    KIT_NEAR(r.residual, oracle_residual(s, x, b), 1e-13);
    KIT_CHECK(r.residual < 1);
    field_destroy(x);
}

static void check_not_a_number(const scene *s, solver_settings set)
{
    static const double poison[3] = {NAN, INFINITY, 1e200};
    const size_t n = (size_t)s->lat->volume * 24;
    for (int k = 0; k < 3; k++)
        for (int where = 0; where < 2; where++) {
            field *x = random_source(s, 65), *b = random_source(s, 66), *bad = where ? x : b;
            double *array = kit_gather(bad);
            for (size_t i = 24 * ((n / 24) / 2); i < n; i++)
                if (array[i] != 0) {
                    array[i] = poison[k];
                    break;
                }
            kit_scatter(bad, array);
            const solve_result r = solver_solve(&set, s->normal, x, b);
            KIT_INT(r.status, SOLVE_BROKEN);
            KIT_CHECK(!(r.residual <= set.tolerance));
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
    spinor_axpby(y, -1, y, 0);
}

static linop *negative_create(linop *inner);

static linop *negative_at(linop *op, precision prec, place where)
{
    negative *n = (negative *)op;
    if (!n->others[prec]) n->others[prec] = (negative *)negative_create(linop_at(n->inner, prec, where));
    return &n->others[prec]->base;
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

static const linop_table negative_table = {"negative", negative_apply, negative_at, negative_refresh, negative_destroy};

static linop *negative_create(linop *inner)
{
    negative *n = kit_alloc(1, sizeof *n);
    n->base = *inner;
    n->base.table = &negative_table;
    n->inner = inner;
    return &n->base;
}

static void check_not_positive(const scene *s, solver_settings set, const field *b)
{
    linop *op = negative_create(s->normal);
    field *x = field_like(b);
    const solve_result r = solver_solve(&set, op, x, b);
    KIT_INT(r.status, SOLVE_BROKEN);
    KIT_CHECK(!(r.residual <= set.tolerance));
    field_destroy(x);
    linop_destroy(op);
}

/* ---- every line of solvers.def ---- */

static void test_solver(const scene *s, const solver_settings *set, const field *b, field **first, int edges)
{
    field *x = check_converges(s, *set, b);
    if (*first) {
        const double norm2 = spinor_norm2(*first, 0);
        KIT_NEAR(sqrt(spinor_axpy_norm2(x, -1, *first, 0) / norm2), 0, 1e-9);
        field_destroy(x);
    } else {
        *first = x;
    }
    check_zero_source(s, *set);
    check_exact_guess(s, *set);
    if (!edges) return;
    check_unreachable(s, *set, b);
    check_not_a_number(s, *set);
    check_not_positive(s, *set, b);
}

static void test_solvers(struct ref_lattice l, double mass, parity p, int edges)
{
    static const char *const inner[] = {"single", "half", "quarter"};
    static const double reduction[] = {1e-4, 1e-2, 0.3};
    int grid[4], types;
    if (!lattice_choose_grid(l.size, comm_size(), grid)) return;
    scene s;
    open_scene(&s, l, mass, p);
    field *b = random_source(&s, 62), *first = NULL;
    const solver_type *type = solver_types(&types);
    for (int k = 0; k < types; k++)
        for (int prec = 0; prec < 3; prec++) {
            const int mixed = strstr(type[k].name, "mixed") != NULL;
            if (prec && !mixed) continue;
            solver_settings set = {.tolerance = 1e-12, .max_iterations = 3000, .inner_tolerance = reduction[prec]};
            snprintf(set.type, sizeof set.type, "%s", type[k].name);
            snprintf(set.inner_precision, sizeof set.inner_precision, "%s", inner[prec]);
            kit_where("%s%s%s, mass %g, %d.%d.%d.%d", set.type, mixed ? " with " : "", mixed ? inner[prec] : "", mass,
                      l.size[0], l.size[1], l.size[2], l.size[3]);
            test_solver(&s, &set, b, &first, edges);
        }
    CHECK(types > 0 && first);
    field_destroy(first);
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
    comm_init(&argc, &argv);
    test_texts();
    test_solvers(kit_shapes[0], 0.5, PARITY_EVEN, 1);
    test_solvers(kit_shapes[0], 0.05, PARITY_ODD, 0);
    test_solvers(kit_shapes[2], -0.05, PARITY_ODD, 0);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
