/* Every solver of solvers.def keeps the promises of solvers/solver.h with every quark and system that it can take.
 *
 * A solve ends with the residual that it says, which is at most what was asked for; a zero source has a zero solution; an
 * exact guess costs nothing; right-hand sides have a result each; a solve ends when it is asked to. What preconditions does so inside every solver that
 * takes a preconditioner. Solvers come from their registry with default keys, quarks as in tests/contract/quarks.h: a
 * new one needs no new test. */
#include "tests/contract/quarks.h"
#include "tests/solve.h"

#include "kernels/ops/vector.h"
#include "solvers/transform.h"

static const struct ref_lattice shape = {{4, 4, 4, 4}};

typedef struct {
    const quark_kind *kind;
    fermion *f;
    linop *op;
    int may_fail; /* the spectrum goes around zero, where general solvers may fail, and say so */
} system_of_quark;

static int solves, preconditions, failed, passed_over;

/* ---- settings ---- */

/* Defaults of a type, with small blocks: those of multigrid have a coarse lattice of 2^4; others, which reach over, are
 * four. */
static solver_settings default_settings(const solver_type *type)
{
    solver_settings s;
    char message[PARAM_MESSAGE_SIZE];
    const param *const block = type->own ? param_find(type->own, "block") : NULL;
    const param *const vectors = type->own ? param_find(type->own, "vectors") : NULL;
    params_default(solver_section(0), &s);
    if (type->own) params_default(type->own, &s);
    s.type = param_kind(solver_section(0), type->name);
    if (block)
        REQUIRE(!param_set(block, &s, type->coarsens ? "2.2.2.2" : "4.4.2.2", message, sizeof message), "%s", message);
    if (vectors) REQUIRE(!param_set(vectors, &s, "8", message, sizeof message), "%s", message);
    s.max_iterations = 600;
    return s;
}

static int can_take(const solver_type *type, const system_of_quark *q)
{
    char message[512];
    const solver_settings s = default_settings(type);
    if (type->fits && type->fits(&s, q->op->lat, message, sizeof message)) return 0;
    return (!type->coarsens || (q->kind->coarsens && q->op == q->f->direct)) &&
           (!type->positive || q->op == q->f->normal) && (!type->blocks || q->kind->blocks) &&
           (!solver_type_has(type, "transform") || q->kind->transform_keys);
}

static void put_inside(solver_settings *s, const solver_settings *inner)
{
    snprintf(s->inner_name, sizeof s->inner_name, "inner");
    s->inner = inner;
}

/* ---- promises ---- */

static field *random_vector(const linop *op, uint32_t number)
{
    field *x = linop_vector(op, 1);
    vector_random(x, 7, RANDOM_TEST, number);
    return x;
}

static double true_residual(linop *op, const field *x, const field *b)
{
    field *r = field_like(b);
    linop_refresh(op);
    linop_apply(op, r, x, 0);
    vector_axpby(r, 1, b, -1);
    const double residual = sqrt(vector_norm2(r, 0) / vector_norm2(b, 0));
    field_destroy(r);
    return residual;
}

/* The rounding of a residual: some hundred terms of the size of A x. */
#define ROUNDING 1e-13

static int check_solve(const system_of_quark *q, solver_settings s, double tolerance)
{
    field *b = random_vector(q->op, 0), *x = field_like(b);
    s.tolerance = tolerance;
    const solve_result r = solve_by(&s, q->op, x, b);
    KIT_NEAR(r.residual, true_residual(q->op, x, b), 1e-3 * tolerance + ROUNDING);
    KIT_CHECK(r.status != SOLVE_CONVERGED || r.residual <= 1.5 * tolerance);
    if (!q->may_fail) KIT_INT(r.status, SOLVE_CONVERGED);
    if (q->may_fail && r.status != SOLVE_CONVERGED) printf("  %s: %s\n", kit_case, solve_status_text(r.status));
    failed += r.status != SOLVE_CONVERGED;
    field_destroy(x);
    field_destroy(b);
    return r.status == SOLVE_CONVERGED;
}

static void check_zero(const system_of_quark *q, const solver_settings *s)
{
    field *x = random_vector(q->op, 1), *b = field_like(x);
    const solve_result r = solve_by(s, q->op, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    KIT_NEAR(r.residual, 0, 0);
    KIT_NEAR(vector_norm2(x, 0), 0, 0);
    field_destroy(b);
    field_destroy(x);
}

static void check_exact_guess(const system_of_quark *q, const solver_settings *s)
{
    field *x = random_vector(q->op, 2), *b = field_like(x), *before = field_like(x);
    linop_refresh(q->op);
    linop_apply(q->op, b, x, 0);
    vector_copy(before, x);
    const solve_result r = solve_by(s, q->op, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(r.iterations, 0);
    KIT_NEAR(vector_axpy_norm2(before, -1, x, 0), 0, 0);
    field_destroy(before);
    field_destroy(b);
    field_destroy(x);
}

/* The second source is a thousandth of the first, the third zero: a norm of them all together would hide it. */
static void check_several(const system_of_quark *q, const solver_settings *s)
{
    enum { N = 3 };
    const double size[N] = {1, 1e-3, 0};
    solve_result each[N];
    field *b = linop_vector(q->op, N), *x = linop_vector(q->op, N);
    for (int r = 0; r < N; r++) {
        field part = field_rhs(b, r), *one = random_vector(q->op, 3 + (uint32_t)r);
        vector_axpby(&part, size[r], one, 0);
        field_destroy(one);
    }
    field_written(b);
    solver *by = solver_create(s, q->op);
    solver_solve(by, x, b, each);
    for (int r = 0; r < N - 1; r++) {
        field *one_x = linop_vector(q->op, 1), *one_b = linop_vector(q->op, 1);
        const field part_x = field_rhs(x, r), part_b = field_rhs(b, r);
        vector_axpby(one_x, 1, &part_x, 0);
        vector_axpby(one_b, 1, &part_b, 0);
        KIT_NEAR(each[r].residual, true_residual(q->op, one_x, one_b), 1e-3 * s->tolerance + ROUNDING);
        if (!q->may_fail) KIT_INT(each[r].status, SOLVE_CONVERGED);
        field_destroy(one_b);
        field_destroy(one_x);
    }
    const field last = field_rhs(x, N - 1);
    KIT_INT(each[N - 1].status, SOLVE_CONVERGED);
    KIT_NEAR(vector_norm2(&last, 0), 0, 0);
    solver_destroy(by);
    field_destroy(x);
    field_destroy(b);
}

static int requests, stop_now;

static int stop_asked(void)
{
    requests++;
    return stop_now;
}

/* A solve that is given up says so at once, on all ranks alike; one that is only asked about has the bits of one that is
 * not. */
static void check_interruption(const system_of_quark *q, const solver_settings *s)
{
    field *b = random_vector(q->op, 6), *x = field_like(b), *plain = field_like(b);
    const solve_result expected = solve_by(s, q->op, plain, b);
    requests = stop_now = 0;
    solver_interrupt_by(stop_asked);
    field_clear(x);
    const solve_result asked = solve_by(s, q->op, x, b);
    KIT_INT(asked.status, expected.status);
    KIT_INT(asked.iterations, expected.iterations);
    KIT_CHECK(requests > 0);
    KIT_NEAR(vector_axpy_norm2(plain, -1, x, 0), 0, 0);
    stop_now = 1;
    solver_interrupt_by(stop_asked);
    field_clear(x);
    const solve_result given_up = solve_by(s, q->op, x, b);
    KIT_INT(given_up.status, SOLVE_INTERRUPTED);
    KIT_CHECK(given_up.iterations <= 1);
    solver_interrupt_by(NULL);
    field_destroy(plain);
    field_destroy(x);
    field_destroy(b);
}

/* ---- every solver ---- */

/* Those with a solver inside get one that suits the system. */
static void check_type(const system_of_quark *q, const solver_type *type)
{
    const int positive = q->op == q->f->normal;
    solver_settings s = default_settings(type), inner = default_settings(solver_type_number(
                                                    param_kind(solver_section(0), positive ? "cg" : "bicgstab")));
    inner.tolerance = 1e-2;
    if (type->inner_solves) put_inside(&s, &inner);
    for (int prec = 0; prec <= PREC_HALF; prec++) {
        s.inner_precision = prec;
        kit_where("%s in %s precision, %s, %s system", type->name, precision_names[prec], q->kind->name,
                  positive ? "normal" : "direct");
        if (check_solve(q, s, 1e-10) && prec == PREC_SINGLE) {
            check_solve(q, s, 1e-5);
            check_exact_guess(q, &s);
            check_several(q, &s);
            check_interruption(q, &s);
        }
        solves++;
    }
    check_zero(q, &s);
}

/* As a preconditioner: K 0 = 0, and the solver around reaches its tolerance, however K changes from step to step. */
static void check_preconditioner(const system_of_quark *q, const solver_type *outer, const solver_type *type)
{
    solver_settings s = default_settings(outer), inner = default_settings(type),
                    inmost = default_settings(
                        solver_type_number(param_kind(solver_section(0), q->op == q->f->normal ? "cg" : "bicgstab")));
    field *x = random_vector(q->op, 1), *b = field_like(x);
    const fifth_transform fewer = transform_first(2, q->op->shape.Ls, 0.1);
    inner.tolerance = inmost.tolerance = 0.1;
    if (type->inner_solves || (type->inside && !type->coarsens)) put_inside(&inner, &inmost);
    if (solver_type_has(type, "transform")) inner.transform = &fewer;
    kit_where("%s inside %s, %s, %s system", type->name, outer->name, q->kind->name,
              q->op == q->f->normal ? "normal" : "direct");
    precondition_by(&inner, q->op, x, b);
    KIT_NEAR(vector_norm2(x, 0), 0, 0);
    put_inside(&s, &inner);
    check_solve(q, s, 1e-10);
    preconditions++;
    field_destroy(b);
    field_destroy(x);
}

static void check_system(const system_of_quark *q)
{
    const solver_type *type, *outer;
    for (int i = 0; (type = solver_type_number(i)); i++) {
        if (!can_take(type, q)) {
            passed_over++;
            continue;
        }
        if (type->solve) check_type(q, type);
        for (int k = 0; (outer = solver_type_number(k)); k++)
            if (outer->solve && outer->inner_key && !outer->inner_solves && can_take(outer, q) &&
                !(outer->coarsens && type->coarsens))
                check_preconditioner(q, outer, type);
    }
}

/* What a kind says of fewer slices, which a transform leads to, is so. */
static void check_slices(const system_of_quark *q)
{
    char message[512];
    KIT_INT(linop_slices(q->op, 2, message, sizeof message) != NULL, q->kind->transform_keys != NULL);
}

/* What a kind says of coarse lattices is so. */
static void check_coarse(const system_of_quark *q)
{
    KIT_INT(q->op->coarsening != NULL, q->kind->coarsens);
}

/* What a kind says of blocks is so. */
static void check_blocks(const system_of_quark *q)
{
    char message[512];
    const block_shape blocks = {.size = {2, 2, 2, 2}};
    KIT_INT(linop_local(q->op, &blocks, message, sizeof message) != NULL, q->kind->blocks);
}

static void check_quark(const quark_kind *kind, const char *keys)
{
    parameters *p = quark_parameters(kind->name, keys, "");
    lattice *lat = kit_lattice(shape, simulation_reach(p), -1);
    if (lat) {
        struct ref_rng rng;
        ref_rng_seed(&rng, 82);
        double complex *u = kit_random_gauge(shape, 0.4, &rng);
        field *links = kit_links(lat, u);
        fermion *f = kind->make(links, &p->quarks[0].p, NULL, 0);
        linop *const op[2] = {f->normal, f->direct};
        for (int i = 0; i < 2; i++) {
            const system_of_quark q = {kind, f, op[i], i == 1 && fermion_has_walls(f)};
            kit_where("%s, %s", kind->name, keys);
            if (op[i] && op[i] == f->direct) check_blocks(&q);
            if (op[i] && op[i] == f->direct) check_coarse(&q);
            if (op[i]) check_slices(&q);
            if (op[i]) check_system(&q);
        }
        fermion_destroy(f);
        field_destroy(links);
        free(u);
    }
    lattice_destroy(lat);
    parameters_free(p);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    const int quarks = quarks_all(check_quark);
    if (comm_rank() == 0)
        printf("%d quarks: %d solves, %d of them given up and said so; %d preconditioners; %d pairs of a solver and a "
               "system that it cannot take\n",
               quarks, solves, failed, preconditions, passed_over);
    KIT_CHECK(quarks > 0);
    return kit_end();
}
