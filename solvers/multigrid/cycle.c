/* The multigrid cycle, and the solves on the levels below (multigrid.c has the algorithm). */
#include "solvers/multigrid/multigrid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/ca_gcr.h"
#include "solvers/mr.h"

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

/* e = K r for each right-hand side that is going; e is zero. */
static void smoother_each(multigrid *m, const char *going, field *e, const field *r)
{
    if (m->columns == 1) {
        solver_precondition(m->smoother, e, r, NULL);
        return;
    }
    field *one_e = linop_vector(m->levels[0].op, 1), *one_r = field_like(one_e);
    for (int k = 0; k < m->columns; k++) {
        field part = field_rhs(e, k);
        const field from = field_rhs(r, k);
        if (!going[k]) continue;
        vector_axpby(one_r, 1, &from, 0);
        solver_precondition(m->smoother, one_e, one_r, NULL);
        vector_axpby(&part, 1, one_e, 0);
    }
    field_written(e);
    field_destroy(one_r);
    field_destroy(one_e);
}

/* x += K r and r -= A K r, so many times. */
static void smooth_by_solver(multigrid *m, const char *going, field *x, field *r, int steps)
{
    multigrid_level *l = &m->levels[0];
    field *e = field_like(r);
    for (int i = 0; i < steps; i++) {
        smoother_each(m, going, e, r);
        vector_axpby(x, 1, e, 1);
        linop_apply(l->op, l->q, e, 0);
        vector_axpby(r, -1, l->q, 1);
        count(m, 0);
    }
    field_destroy(e);
}

static void smooth(multigrid *m, int level, const char *going, field *x, field *r, int steps)
{
    multigrid_level *l = &m->levels[level];
    if (level == 0 && m->smoother) {
        smooth_by_solver(m, going, x, r, steps);
        return;
    }
    double fall[SOLVER_BLOCK_MOST];
    char moves[SOLVER_BLOCK_MOST];
    memcpy(moves, going, (size_t)m->columns);
    for (int i = 0; i < steps && any(moves, m->columns); i++) {
        count(m, level);
        mr_step(fall, moves, m->keys.relaxation, l->op, x, r, l->q);
        for (int k = 0; k < m->columns; k++) moves[k] = moves[k] && fall[k] < INFINITY;
    }
}

/* |z_k|^2 over |A p_k|^2 from which on z_k is rounding of A p_k: sums of squares of vectors in single precision. */
#define DEPENDENT 1e-10

/* Numbers of step k from the sums of the one pass over A p_k: z_k = A p_k + sum_i c_i z_i, its length, the step along it, and what
 * that leaves of |r|^2. `back`: minus the step. */
static void step_numbers(const multigrid *m, int k, level_solve *s, double (*back)[2])
{
    for (int j = 0; j < m->columns; j++) {
        if (!s->going[j]) continue;
        const double(*d)[2] = (const double(*)[2])s->dots + j * (k + 2);
        const double whole2 = d[k + 1][0];
        double gamma2 = whole2;
        for (int i = 0; i < k; i++) {
            for (int part = 0; part < 2; part++) {
                s->beta[k][i][j][part] = d[i][part] / s->gamma2[i][j];
                s->c[j * k + i][part] = -s->beta[k][i][j][part];
            }
            gamma2 -= (d[i][0] * d[i][0] + d[i][1] * d[i][1]) / s->gamma2[i][j];
        }
        s->going[j] = gamma2 > DEPENDENT * whole2;
        if (!s->going[j]) continue;
        s->gamma2[k][j] = gamma2;
        s->alpha[k][j][0] = d[k][0] / gamma2;
        s->alpha[k][j][1] = -d[k][1] / gamma2;
        for (int part = 0; part < 2; part++) back[j][part] = -s->alpha[k][j][part];
        s->r2[j] -= (d[k][0] * d[k][0] + d[k][1] * d[k][1]) / gamma2;
        s->made[j] = k + 1;
    }
}

/* x += sum_i chi_i p_i over the directions of each right-hand side, with chi_i + sum_(l > i) beta_li chi_l = alpha_i (R. Babich et
 * al., arXiv:1109.2935, algorithm 1: the implicit update). */
static void take_directions(const multigrid *m, int level, level_solve *s, field *x)
{
    char moves[SOLVER_BLOCK_MOST];
    for (int j = 0; j < m->columns; j++) {
        double(*chi)[2] = s->c + j * MULTIGRID_SPACE;
        moves[j] = s->made[j] > 0;
        for (int i = s->made[j] - 1; i >= 0; i--) {
            double re = s->alpha[i][j][0], im = s->alpha[i][j][1];
            for (int l = i + 1; l < s->made[j]; l++) {
                const double *b = s->beta[l][i][j];
                re -= b[0] * chi[l][0] - b[1] * chi[l][1];
                im -= b[0] * chi[l][1] + b[1] * chi[l][0];
            }
            chi[i][0] = re;
            chi[i][1] = im;
        }
    }
    vector_multi_axpy_each(moves, x, s->made, MULTIGRID_SPACE, (const double(*)[2])s->c, m->levels[level].space.p);
    for (int j = 0; j < m->columns; j++) s->made[j] = 0;
}

/* Direction number k, and the residual behind the step along it. Ranks add up once. */
static void extend(multigrid *m, int level, int k, level_solve *s, field *x, field *r)
{
    multigrid_level *l = &m->levels[level];
    field **p = l->space.p, **z = l->space.z, *to[MULTIGRID_SPACE + 2];
    double back[SOLVER_BLOCK_MOST][2];
    const int full = k + 1 == l->space.most;
    if (l->below) multigrid_cycle(m, level, s->going, p[k], r);
    else r = p[k];
    linop_apply(l->op, z[k], p[k], 0);
    m->flops += l->op->flops * m->columns;
    for (int i = 0; i < k; i++) to[i] = z[i];
    to[k] = r;
    to[k + 1] = z[k];
    vector_multi_dot_each(s->dots, s->going, k + 2, to, z[k]);
    step_numbers(m, k, s, back);
    if (full) take_directions(m, level, s, x);
    field *next = l->below ? r : p[full ? 0 : k + 1];
    vector_gcr_step_each(s->going, next, r, (const double(*)[2])back, z[k], k, (const double(*)[2])s->c, z);
}

/* Opens the solve for b to a tolerance. */
static void open_solve(const multigrid *m, level_solve *s, double tolerance, const char *going, const field *b)
{
    vector_norm2_each(s->r2, b);
    for (int j = 0; j < m->columns; j++) {
        s->target2[j] = tolerance * tolerance * s->r2[j];
        s->going[j] = going[j] && s->r2[j] > 0;
        s->made[j] = 0;
    }
}

/* Ends right-hand sides that have reached their target. */
static void go_on(const multigrid *m, level_solve *s)
{
    for (int j = 0; j < m->columns; j++) s->going[j] = s->going[j] && s->r2[j] > s->target2[j];
}

/* x about A^-1 b on a level below the finest, by GCR that begins anew when its space is full. */
static void solve_by_gcr(multigrid *m, int level, const char *going, field *x, const field *b)
{
    multigrid_level *l = &m->levels[level];
    const int most = l->below ? m->keys.coarse_iterations : m->keys.bottom_iterations;
    level_solve *s = l->space.solve;
    /* The cycle of this level takes l->r for its own residual. */
    field *r = l->below ? l->b : l->space.p[0];
    open_solve(m, s, l->below ? m->keys.coarse_tolerance : m->keys.bottom_tolerance, going, b);
    field_clear(x);
    if (r != b) vector_copy(r, b);
    for (int k = 0, n = 0; n < most && any(s->going, m->columns); n++, k = (k + 1) % l->space.most) {
        extend(m, level, k, s, x, r);
        l->steps++;
        go_on(m, s);
    }
    take_directions(m, level, s, x);
}

/* x about A^-1 b on the coarsest level, by GCR that avoids communication. */
static void solve_by_ca_gcr(multigrid *m, int level, const char *going, field *x, const field *b)
{
    multigrid_level *l = &m->levels[level];
    level_solve *s = l->space.solve;
    open_solve(m, s, m->keys.bottom_tolerance, going, b);
    field_clear(x);
    vector_copy(l->r, b);
    for (int n = 0; n < m->keys.bottom_iterations && any(s->going, m->columns); n += l->space.most) {
        ca_gcr_step(s->r2, s->going, l->space.most, l->op, x, l->r, l->space.p);
        m->flops += l->space.most * l->op->flops * m->columns;
        l->steps += l->space.most;
        go_on(m, s);
    }
}

static void run_bottom(multigrid *m, field *x, const field *b)
{
    solve_result r;
    solver_run(m->bottom, x, b, &r);
    m->flops += r.flops;
    m->levels[m->n - 1].steps += r.iterations;
}

/* x about A^-1 b on the coarsest level, by a solver of one right-hand side. */
static void solve_by_solver(multigrid *m, const char *going, field *x, const field *b)
{
    solver *by = m->bottom;
    field_clear(x);
    if (m->columns == 1) {
        if (going[0]) run_bottom(m, x, b);
        return;
    }
    field *one_x = linop_vector(by->a, 1), *one_b = field_like(one_x);
    for (int k = 0; k < m->columns; k++) {
        field part = field_rhs(x, k);
        const field from = field_rhs(b, k);
        if (!going[k]) continue;
        vector_axpby(one_b, 1, &from, 0);
        field_clear(one_x);
        run_bottom(m, one_x, one_b);
        vector_axpby(&part, 1, one_x, 0);
    }
    field_written(x);
    field_destroy(one_b);
    field_destroy(one_x);
}

/* x about A^-1 b by cycles, each on the residual that is left. */
static void solve_by_cycles(multigrid *m, int level, const char *going, field *x, const field *b)
{
    multigrid_level *l = &m->levels[level];
    multigrid_cycle(m, level, going, x, b);
    for (int visit = 1; visit < m->visits; visit++) {
        field *r = l->space.z[0], *e = l->space.p[0];
        linop_apply(l->op, r, x, 0);
        count(m, level);
        vector_axpby(r, 1, b, -1);
        multigrid_cycle(m, level, going, e, r);
        vector_axpby(x, 1, e, 1);
    }
}

static void solve_level(multigrid *m, int level, const char *going, field *x, const field *b)
{
    const int last = !m->levels[level].below;
    m->levels[level].solves++;
    if (last && m->with == BOTTOM_BICGSTAB) solve_by_solver(m, going, x, b);
    else if (last && m->with == BOTTOM_CA_GCR) solve_by_ca_gcr(m, level, going, x, b);
    else if (last || m->visits == 0) solve_by_gcr(m, level, going, x, b);
    else solve_by_cycles(m, level, going, x, b);
}

void multigrid_cycle(multigrid *m, int level, const char *going, field *x, const field *b)
{
    multigrid_level *l = &m->levels[level], *next = l + 1;
    vector_copy(l->r, b);
    field_clear(x);
    smooth(m, level, going, x, l->r, m->keys.pre_steps);
    coarse_from_fine(l->below, l->whole_b, l->r);
    coarse_prepare(l->below, next->b, l->whole_b);
    solve_level(m, level + 1, going, next->x, next->b);
    coarse_reconstruct(l->below, l->whole_x, next->x, l->whole_b);
    coarse_to_fine(l->below, x, l->whole_x);
    if (m->keys.post_steps == 0) return;
    linop_apply(l->op, l->r, x, 0);
    count(m, level);
    vector_axpby(l->r, 1, b, -1);
    smooth(m, level, going, x, l->r, m->keys.post_steps);
}
