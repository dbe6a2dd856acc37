/* One solve, and one use of a preconditioner, by a solver that is made for it. */
#ifndef PLAQ_TESTS_SOLVE_H
#define PLAQ_TESTS_SOLVE_H

#include "solvers/solver.h"
#include "tests/check.h"

CHECK_UNUSED static solve_result solve_by(const solver_settings *s, linop *a, field *x, const field *b)
{
    solver *by = solver_create(s, a);
    const solve_result r = solver_solve(by, x, b, NULL);
    solver_destroy(by);
    return r;
}

CHECK_UNUSED static solve_result precondition_by(const solver_settings *s, linop *a, field *x, const field *b)
{
    solver *by = solver_create(s, a);
    solver_update(by);
    solve_result r;
    solver_precondition(by, NULL, x, b, &r);
    solver_destroy(by);
    return r;
}

CHECK_UNUSED static int solver_types_count(void)
{
    int n = 0;
    while (solver_type_number(n)) n++;
    return n;
}

#endif
