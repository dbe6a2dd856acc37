/* The multigrid cycle, and the solvers on the levels below (multigrid.c has the algorithm). */
#include "solvers/multigrid/multigrid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/bicgstab.h"
#include "solvers/ca_gcr.h"
#include "solvers/gcr.h"

static void count(multigrid *m, int level)
{
    if (level == 0) m->applications++;
    m->flops += m->levels[level].op->flops * m->columns;
}

static int any(const char *going, int n)
{
    for (int k = 0; k < n; k++)
        if (going[k]) return 1;
    return 0;
}

static void smooth(multigrid *m, int level, solver *by, const char *going, field *x, field *r, int steps)
{
    multigrid_level *l = &m->levels[level];
    char moves[SOLVER_BLOCK_MOST];
    memcpy(moves, going, (size_t)m->columns);
    for (int i = 0; i < steps && any(moves, m->columns); i++) {
        count(m, level);
        solver_smooth(by, moves, x, r, l->q);
    }
}

/* x about A^-1 b on a level below the finest, by its solver. */
static void solve_level(multigrid *m, int level, const char *going, field *x, const field *b)
{
    multigrid_level *l = &m->levels[level];
    solve_result each[SOLVER_BLOCK_MOST];
    int steps = 0;
    solver_reduce(l->solver, going, x, b, each);
    for (int k = 0; k < m->columns; k++) {
        m->flops += each[k].flops;
        if (each[k].iterations > steps) steps = each[k].iterations;
    }
    l->solves++;
    l->steps += steps;
}

void multigrid_cycle(multigrid *m, int level, solver *smoother, const char *going, field *x, const field *b)
{
    multigrid_level *l = &m->levels[level], *next = l + 1;
    solver *by = smoother ? smoother : l->smoother;
    const field *r = m->keys.pre_steps > 0 ? l->r : b;
    field_clear(x);
    if (m->keys.pre_steps > 0) {
        vector_copy(l->r, b);
        smooth(m, level, by, going, x, l->r, m->keys.pre_steps);
    }
    coarse_from_fine(l->below, l->whole_b, r);
    coarse_prepare(l->below, next->b, l->whole_b);
    solve_level(m, level + 1, going, next->x, next->b);
    coarse_reconstruct(l->below, l->whole_x, next->x, l->whole_b);
    coarse_to_fine(l->below, x, l->whole_x);
    if (m->keys.post_steps == 0) return;
    linop_apply(l->op, l->r, x, 0);
    count(m, level);
    vector_axpby(l->r, 1, b, -1);
    smooth(m, level, by, going, x, l->r, m->keys.post_steps);
}

/* ---- solvers of levels ---- */

/* The cycle on a level as a preconditioner. What it applies is counted by the multigrid itself. */
typedef struct {
    multigrid *m;
    int level;
} cycle_state;

/* x = K b, by cycles each on the residual that is left. */
static void precondition(solver *s, const char *going, field *x, const field *b, solve_result *each)
{
    const cycle_state *at = s->state;
    multigrid *m = at->m;
    multigrid_level *l = &m->levels[at->level];
    const int visits = m->visits > 1 ? m->visits : 1;
    for (int k = 0; k < b->nrhs; k++) each[k] = (solve_result){0};
    multigrid_cycle(m, at->level, NULL, going, x, b);
    for (int visit = 1; visit < visits; visit++) {
        linop_apply(l->op, l->left, x, 0);
        count(m, at->level);
        vector_axpby(l->left, 1, b, -1);
        multigrid_cycle(m, at->level, NULL, going, l->again, l->left);
        vector_axpby(x, 1, l->again, 1);
    }
}

static int block_size(const solver_settings *s)
{
    (void)s;
    return SOLVER_BLOCK_MOST;
}

static void close(solver *s)
{
    free(s->state);
}

static const solver_type level_cycle = {
    .name = "cycle", .precondition = precondition, .block_size = block_size, .close = close};

static solver *cycle_on(multigrid *m, int level)
{
    const solver_settings none = {0};
    cycle_state *at = malloc(sizeof *at);
    REQUIRE_MEMORY(at, "out of memory");
    *at = (cycle_state){m, level};
    solver *s = solver_create_around(&level_cycle, &none, m->levels[level].op, NULL);
    s->state = at;
    return s;
}

/* Settings of a solver on a level, by name. */
static solver_settings settings_of(const multigrid_level *l, const char *type, double tolerance, int iterations)
{
    solver_settings s = {.tolerance = tolerance, .max_iterations = iterations, .delta = 1e-2};
    s.type = param_kind(solver_section(0), type);
    s.inner_precision = l->op->prec;
    if (!strcmp(type, "gcr")) gcr_keys_of(&s)->restart = iterations < MULTIGRID_SPACE ? iterations : MULTIGRID_SPACE;
    if (!strcmp(type, "ca_gcr")) ca_gcr_keys_of(&s)->steps = MULTIGRID_STEPS;
    if (!strcmp(type, "bicgstab")) bicgstab_keys_of(&s)->l = 1;
    return s;
}

solver *multigrid_level_solver(multigrid *m, int level)
{
    const multigrid_level *l = &m->levels[level];
    const multigrid_keys *k = &m->keys;
    static const char *const bottoms[] = {MULTIGRID_BOTTOMS(PARAM_TEXT)};
    if (!l->below) {
        const solver_settings s = settings_of(l, bottoms[k->bottom_solver], k->bottom_tolerance, k->bottom_iterations);
        return solver_create(&s, l->op);
    }
    if (m->visits > 0) return cycle_on(m, level);
    const solver_settings s = settings_of(l, "gcr", k->coarse_tolerance, k->coarse_iterations);
    return solver_create_around(solver_type_of(&s), &s, l->op, cycle_on(m, level));
}
