/* GCR with a preconditioner (solvers/gcr_space.h): flexible, in a low precision, with implicit update of the solution,
 * restarted in the precision of b when the space is full, when the residual has fallen by delta, and at the tolerance.
 *
 * Several right-hand sides iterate side by side, each with a space, restarts and reliable updates of its own: preconditioner,
 * operator and vector algebra take those that go on together, and each gets the bits that it gets alone.
 *
 * Inside multigrid a solve begins from zero and ends by the recurrence: without updates, in spaces that are begun together. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/gcr.h"
#include "solvers/gcr_space.h"
#include "solvers/reliable.h"

/* ---- solves with reliable updates ---- */

/* A right-hand side. Its fields are views of the caller's. */
typedef struct {
    field x, b;
    reliable u;
    int number;    /* number of the right-hand side */
    double first2; /* |r|^2 where its space began */
} rhs_state;

/* Right-hand sides that go on in one precision: c[j] has column j of the blocks. */
typedef struct {
    rhs_state *c[SOLVER_BLOCK_MOST];
    gcr_space s;
    linop *low;
    solver *preconditioner;
    field *own,
        r; /* residuals where there is a preconditioner: a block and those of it that go on; null: the only one's low_r */
} group;

/* Residuals that the next direction is made from: without a preconditioner they are that direction. */
static field *residuals(group *g)
{
    return g->preconditioner ? &g->r : g->s.p[g->s.at];
}

/* A right-hand side begins a space, from the residual that was measured. */
static void begin_space(group *g, int j)
{
    rhs_state *c = g->c[j];
    field *r = residuals(g), part = field_rhs(r, j);
    c->first2 = g->s.of[j].r2 = c->u.r2;
    if (r->data != c->u.low_r->data) vector_copy(&part, c->u.low_r);
    field_written(r);
}

static void reserve(group *g)
{
    gcr_space_reserve(&g->s, g->s.at, g->low);
}

static void count_inside(rhs_state *c, const solve_result *r)
{
    c->u.result.inside += r->iterations + r->inside;
    c->u.result.flops += r->flops;
}

/* p = K r of all. */
static void directions(group *g)
{
    solve_result each[SOLVER_BLOCK_MOST];
    if (!g->preconditioner) return;
    solver_precondition(g->preconditioner, NULL, g->s.p[g->s.at], &g->r, each);
    for (int j = 0; j < g->s.n; j++) count_inside(g->c[j], &each[j]);
}

/* |r|^2, which rounding may take below zero. */
static double rest_of(const gcr_numbers *of)
{
    return of->r2 < 0 ? 0 : of->r2;
}

/* After the numbers of a step: whether the space goes on. `moves`: there is a step along the direction. */
static int space_goes_on(group *g, int j, int moves, double delta)
{
    rhs_state *c = g->c[j];
    const gcr_numbers *of = &g->s.of[j];
    solver_note_rhs(c->number);
    /* Nothing new, or no number: with nothing before it this is the end. */
    if (!moves && of->made == 0) return 0;
    const int due = reliable_due(&c->u, 1, rest_of(of));
    return moves && !due && of->made < g->s.most && !(of->r2 < delta * delta * c->first2);
}

/* Ends a space. Returns whether the right-hand side begins another one in this precision. */
static int end_space(group *g, int j)
{
    rhs_state *c = g->c[j];
    solver_note_rhs(c->number);
    if (g->s.of[j].made == 0) {
        reliable_break(&c->u);
        return 0;
    }
    gcr_space_solution_of(&g->s, j, c->u.low_x);
    return reliable_update(&c->u, rest_of(&g->s.of[j]));
}

/* Column j leaves, and the last takes its place. */
static void leave(group *g, int j)
{
    const int last = g->s.n - 1;
    gcr_space_leave(&g->s, j, residuals(g));
    g->c[j] = g->c[last];
    if (g->own && last > 0) g->r = field_columns(g->own, 0, last);
}

static void step(group *g, double delta)
{
    char moves[SOLVER_BLOCK_MOST], goes_on[SOLVER_BLOCK_MOST];
    field *r = residuals(g);
    directions(g);
    memset(moves, 1, sizeof moves);
    gcr_space_extend(&g->s, moves, g->low, r);
    for (int j = 0; j < g->s.n; j++) goes_on[j] = (char)space_goes_on(g, j, moves[j], delta);
    reserve(g);
    gcr_space_step(&g->s, goes_on, residuals(g), r);
    for (int j = g->s.n - 1; j >= 0; j--) {
        if (goes_on[j]) continue;
        if (end_space(g, j)) begin_space(g, j);
        else leave(g, j);
    }
}

/* Right-hand sides that go on in the lowest precision, until each of them has reached its end there. */
static void iterate(rhs_state *const *all, int n, double delta, int restart, solver *preconditioner)
{
    group g = {.preconditioner = preconditioner};
    int going = 0;
    for (int i = 0; i < n; i++)
        if (all[i]->u.going && (!g.low || all[i]->u.low->prec > g.low->prec)) g.low = all[i]->u.low;
    for (int i = 0; i < n; i++)
        if (all[i]->u.going && all[i]->u.low == g.low) g.c[going++] = all[i];
    gcr_space_open(&g.s, restart, going);
    if (preconditioner && going > 1) g.own = linop_vector(g.low, going);
    g.r = g.own ? *g.own : *g.c[0]->u.low_r;
    reserve(&g);
    for (int j = 0; j < going; j++) begin_space(&g, j);
    while (g.s.n > 0) step(&g, delta);
    field_destroy(g.own);
    gcr_space_close(&g.s);
}

static int any_going(rhs_state *const *c, int n)
{
    for (int i = 0; i < n; i++)
        if (c[i]->u.going) return 1;
    return 0;
}

void gcr_solve(const solver *s, field *x, const field *b, int restart, int patience, solver *preconditioner,
               solve_result *each)
{
    const int n = b->nrhs;
    rhs_state *c[SOLVER_BLOCK_MOST], *states = calloc((size_t)n, sizeof *states);
    REQUIRE_MEMORY(states, "out of memory");
    for (int i = 0; i < n; i++) {
        c[i] = &states[i];
        c[i]->x = field_rhs(x, i);
        c[i]->b = field_rhs(b, i);
        c[i]->number = i;
        solver_note_rhs(i);
        reliable_open(&c[i]->u, s, &c[i]->x, &c[i]->b, 1, 0);
        c[i]->u.vectors_after = restart;
        c[i]->u.patience = patience;
    }
    while (any_going(c, n)) iterate(c, n, s->settings.delta, restart, preconditioner);
    for (int i = 0; i < n; i++) each[i] = reliable_close(&c[i]->u);
    solver_note_rhs(0);
    field_written(x);
    free(states);
}

static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    gcr_solve(s, x, b, gcr_keys_of(&s->settings)->restart, pace_of(&s->settings), s->inner, each);
}

/* ---- solves from zero by the recurrence ---- */

/* Vectors kept from call to call. */
typedef struct {
    gcr_space s;
    int n;    /* right-hand sides, 0: none yet */
    field *r; /* residuals where there is a preconditioner */
} state;

static void open(solver *s)
{
    s->state = calloc(1, sizeof(state));
    REQUIRE_MEMORY(s->state, "out of memory");
}

static void release(state *t)
{
    if (t->n > 0) gcr_space_close(&t->s);
    field_destroy(t->r);
    *t = (state){0};
}

static void close(solver *s)
{
    release(s->state);
    free(s->state);
}

/* Vectors for n right-hand sides, all of them. */
static state *keep(solver *s, linop *a, int n)
{
    state *t = s->state;
    if (t->n == n) return t;
    release(t);
    gcr_space_open(&t->s, gcr_keys_of(&s->settings)->restart, n);
    for (int k = 0; k < t->s.most; k++) gcr_space_reserve(&t->s, k, a);
    if (s->inner) t->r = linop_vector(a, n);
    t->n = n;
    return t;
}

/* Opens the numbers of a solve for b; returns how many right-hand sides have something to solve. */
static int open_numbers(gcr_space *s, double tolerance, const char *given, const field *b, char *going, double *target2)
{
    double b2[SOLVER_BLOCK_MOST];
    int many = 0;
    vector_norm2_each(b2, b);
    s->at = 0;
    for (int j = 0; j < s->n; j++) {
        target2[j] = tolerance * tolerance * b2[j];
        going[j] = (!given || given[j]) && b2[j] > 0;
        s->of[j].made = 0;
        s->of[j].r2 = b2[j];
        many += going[j];
    }
    return many;
}

/* x about A^-1 b in the precision of b, from residuals b, which stay as they are. */
static void reduce(solver *of, const char *given, field *x, const field *b, solve_result *each)
{
    linop *a = solver_operator(of, b);
    gcr_space *s = &keep(of, a, b->nrhs)->s;
    field *own_r = ((state *)of->state)->r;
    char going[SOLVER_BLOCK_MOST];
    double target2[SOLVER_BLOCK_MOST];
    int steps = 0, many = open_numbers(s, of->settings.tolerance, given, b, going, target2);
    const field *r = b;
    solve_result inside[SOLVER_BLOCK_MOST];
    field_clear(x);
    if (!of->inner) vector_copy(s->p[0], b);
    for (; steps < of->settings.max_iterations && many > 0; steps++) {
        if (of->inner) solver_precondition(of->inner, going, s->p[s->at], r, inside);
        else r = s->p[s->at];
        for (int j = 0; j < s->n && of->inner; j++) {
            each[j].inside += inside[j].iterations + inside[j].inside;
            each[j].flops += inside[j].flops;
        }
        gcr_space_extend(s, going, a, r);
        if (s->at == 0) gcr_space_solution(s, x);
        many = 0;
        for (int j = 0; j < s->n; j++) {
            going[j] = going[j] && !b->lat->planned && s->of[j].r2 > target2[j]; /* a planned solve ends after a step */
            many += going[j];
        }
        field *next = of->inner ? own_r : s->p[s->at];
        gcr_space_step(s, going, next, r);
        r = next;
    }
    gcr_space_solution(s, x);
    for (int j = 0; j < s->n; j++) {
        each[j].status = s->of[j].r2 <= target2[j] ? SOLVE_CONVERGED : SOLVE_TOO_MANY_ITERATIONS;
        each[j].iterations = steps;
        each[j].flops += steps * a->flops;
    }
}

/* ---- keys ---- */

/* Right-hand sides that the preconditioner takes at once. */
static int block_size(const solver_settings *s)
{
    return s->inner && solver_type_of(s->inner)->precondition ? solver_block_size(s->inner) : 1;
}

static const param own[] = {
    {"restart", PARAM_INT, SOLVER_KEY(gcr_keys, restart), "16", "[1,256]", "vectors",
     "vectors after which the space is begun anew", 0},
    {"preconditioner", PARAM_NAME, offsetof(solver_settings, inner_name), "", "solver", NULL,
     "[solver.NAME] of the preconditioner; empty: none", 0},
};

static const param_section part = PARAM_PART("solver", "gcr", solver_settings, own);
_Static_assert(sizeof(gcr_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of gcr");

const solver_type solver_gcr = {
    .name = "gcr",
    .help = "generalised conjugate residuals, with any preconditioner; GCR-DD with Schwarz blocks "
            "(type schwarz) inside",
    .keys = "inner_precision delta",
    .own = &part,
    .model = {.part = 1, .least = 10, .work = 0.7, .exchanges = 0.5},
    .restarts = 1,
    .inner_key = "preconditioner",
    .solve = solve,
    .reduce = reduce,
    .open = open,
    .close = close,
    .block_size = block_size};
