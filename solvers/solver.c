#include "solvers/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"

solve_result mr_precondition(const solver_settings *, linop *, field *, const field *);
solve_result schwarz_precondition(const solver_settings *, linop *, field *, const field *);

#define SOLVER(name, positive, keys, vectors, precondition, help)                                                      \
    solve_result name##_solve(const solver_settings *, linop *, field *, const field *);                               \
    static int name##_vectors(const solver_settings *s)                                                                \
    {                                                                                                                  \
        (void)s;                                                                                                       \
        return vectors;                                                                                                \
    }
#define PRECONDITIONER(name, keys, vectors, precondition, help)                                                        \
    static int name##_vectors(const solver_settings *s)                                                                \
    {                                                                                                                  \
        (void)s;                                                                                                       \
        return vectors;                                                                                                \
    }
#include "solvers/solvers.def"
#undef SOLVER
#undef PRECONDITIONER

static const solver_type types[] = {
#define SOLVER(name, positive, keys, vectors, precondition, help)                                                      \
    {#name, help, keys, positive, name##_vectors, name##_solve, precondition},
#define PRECONDITIONER(name, keys, vectors, precondition, help)                                                        \
    {#name, help, keys, 0, name##_vectors, NULL, precondition},
#include "solvers/solvers.def"
#undef SOLVER
#undef PRECONDITIONER
};

const solver_type *solver_types(int *n)
{
    *n = (int)(sizeof types / sizeof types[0]);
    return types;
}

int solver_type_has(const solver_type *type, const char *key)
{
    return param_has_word(type->keys, key);
}

const char *solve_status_text(solve_status status)
{
    static const char *const text[] = {"converged", "too many iterations", "stalled above the tolerance",
                                       "broken (not a number, or an operator that is not positive)"};
    return text[status];
}

const solver_type *solver_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    REQUIRE(0, "no solver of type %s", name);
    return NULL;
}

int solver_solves(const solver_settings *s)
{
    return solver_type_find(s->type)->solve != NULL;
}

int solver_needs_positive(const solver_settings *s)
{
    return solver_type_find(s->type)->positive || (s->inner && solver_needs_positive(s->inner));
}

precision solver_precision(const solver_settings *s, precision outer)
{
    const precision inner = precision_named(s->inner_precision);
    return inner > outer ? inner : outer;
}

void solver_vectors(const solver_settings *s, precision outer, int vectors[PREC_COUNT])
{
    const precision prec = solver_precision(s, outer);
    /* The residual; residual and solution of the iteration, where they are not the same. */
    vectors[outer] += 1;
    vectors[prec] += solver_type_find(s->type)->vectors(s) + (prec != outer || s->correction[0] ? 2 : 0);
    if (s->inner) solver_vectors(s->inner, prec, vectors);
}

double solver_defect(linop *a, field *r, const field *x, const field *b, double unit)
{
    linop_apply(a, r, x, 0);
    return vector_axpby_norm2(r, 1 / unit, b, -1 / unit, 0);
}

/* ---- history ---- */

static solve_history *history;
static int depth, noted_system, noted_before;

void solver_record(solve_history *h)
{
    history = h;
}

void solver_note_system(int system, int before)
{
    noted_system = system;
    noted_before = before;
}

void solver_enter(void)
{
    depth++;
}

void solver_leave(void)
{
    depth--;
}

int solver_outermost(void)
{
    return depth == 1;
}

void solver_note(int iteration, double residual, precision prec, int is_true)
{
    solve_history *h = history;
    if (!h || !solver_outermost()) return;
    if (h->n == h->room) {
        h->room = h->room ? 2 * h->room : 256;
        h->points = realloc(h->points, (size_t)h->room * sizeof *h->points);
        REQUIRE_MEMORY(h->points, "out of memory");
    }
    h->points[h->n++] = (solve_point){noted_before + iteration, residual, prec, is_true, noted_system};
}

/* ---- solves ---- */

solve_result solver_run(const solver_settings *s, linop *a, field *x, const field *b)
{
    REQUIRE(solver_solves(s), "%s only preconditions", s->type);
    solver_enter();
    const solve_result result = solver_type_find(s->type)->solve(s, a, x, b);
    solver_leave();
    return result;
}

solve_result solver_precondition(const solver_settings *s, linop *a, field *x, const field *b)
{
    const solver_type *type = solver_type_find(s->type);
    if (!type->precondition) {
        field_clear(x);
        return solver_run(s, a, x, b);
    }
    solver_enter();
    const solve_result result = type->precondition(s, a, x, b);
    solver_leave();
    return result;
}

solve_result solver_solve(const solver_settings *s, linop *a, field *x, const field *b)
{
    const double start = comm_wtime();
    solve_result result = {0};
    REQUIRE(b->groups == 1, "%d right-hand sides for a solver of one", b->groups);
    linop_refresh(a);
    const double b2 = vector_norm2(b, 0);
    if (b2 == 0) {
        field_clear(x);
    } else {
        result = solver_run(s, a, x, b);
        field *r = field_like(b);
        result.residual = sqrt(solver_defect(a, r, x, b, 1) / b2);
        result.flops += a->flops;
        field_destroy(r);
        /* The recurrence may have claimed more than is true; rounding in the check itself is allowed for. */
        if (result.residual != result.residual) result.status = SOLVE_BROKEN;
        else if (result.status == SOLVE_CONVERGED && result.residual > 1.5 * s->tolerance)
            result.status = SOLVE_STALLED;
    }
    result.seconds = comm_wtime() - start;
    return result;
}
