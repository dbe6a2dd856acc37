#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"
#include "solvers/eigen.h"

#define SOLVER(name) extern const solver_type solver_##name;
#include "solvers/solvers.def"
#undef SOLVER

static const solver_type *const types[] = {
#define SOLVER(name) &solver_##name,
#include "solvers/solvers.def"
#undef SOLVER
    NULL};

const solver_type *solver_type_number(int i)
{
    return i < (int)(sizeof types / sizeof types[0]) ? types[i] : NULL;
}

int solver_type_has(const solver_type *type, const char *key)
{
    return param_has_word(type->keys, key) || (type->own && param_find(type->own, key));
}

void solver_type_keys(const solver_type *type, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", type->keys);
    for (int i = 0; type->own && i < type->own->count && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "", type->own->table[i].name);
}

/* ---- keys ---- */

#define AT(member) offsetof(solver_settings, member)

static char type_names[256], type_help[4096], precision_choices[64];

static const param keys[] = {
    {"type", PARAM_CHOICE, AT(type), "cg", type_names, NULL, type_help, 0},
    {"tolerance", PARAM_REAL, AT(tolerance), "1e-10", "[1e-16,1)", NULL,
     "relative true residual |b - A x| / |b| that counts as solved; doubles have 16 digits, of which a residual loses "
     "one or more",
     0},
    {"max_iterations", PARAM_INT, AT(max_iterations), "10000", "[1,1000000000]", NULL,
     "iterations before the solve is given up; an inner precision that needs an eighth of them, and more than "
     "50, to halve the residual is raised; gcr, ca_gcr and mr end there as stalled, multigrid after 50 cycles",
     0},
    {"fallback", PARAM_NAME, AT(fallback), "", "solver", NULL,
     "[solver.NAME] that repeats a solve that failed; empty: the run stops; not for a solver inside another", 0},
    {"inner_precision", PARAM_CHOICE, AT(inner_precision), "single", precision_choices, NULL,
     "precision of the iteration; residuals are true, and solutions are added up, in that of the source. Raised, with "
     "a line in the log, where the iteration stagnates",
     0},
    {"delta", PARAM_REAL, AT(delta), "0.1", "(0,1)", NULL,
     "drop of the residual after which the true one is computed, where the iteration is in a lower precision; gcr "
     "begins anew there in any; not of types without an iteration of their own",
     0},
    {"eigenvectors", PARAM_STRING, AT(eigenvectors_file), "", NULL, NULL,
     "HDF5 file of plaq eigen with eigenvectors of this quark on this configuration, of any mass where the quark is "
     "staggered; FILE-%d.h5 names those of a list of configurations by trajectory number. Solves begin with the "
     "solution "
     "in their space; for plaq solve and plaq measure",
     0},
    {"low_modes", PARAM_INT, AT(low_modes), "0", "[0,1024]", NULL,
     "eigenvectors to take, the lowest; 0: all of the file", 0},
    {"transform", PARAM_STRING, AT(transform_file), "", NULL, NULL,
     "reduced_Ls: HDF5 file with the transform between numbers of slices, made by plaq train for a quark of the same "
     "mass, Ls, M5, b5 and c5",
     0},
};

static const param_section section = {
    "solver", 1, keys, (int)(sizeof keys / sizeof keys[0]), sizeof(solver_settings), "a solver", NULL};

static void fill_texts(void)
{
    if (type_names[0]) return;
    for (int i = 0; types[i]; i++)
        param_add_choice(type_names, sizeof type_names, type_help, sizeof type_help, types[i]->name, types[i]->help);
    for (int i = 0; i < PREC_COUNT; i++)
        param_append(precision_choices, sizeof precision_choices, "|", precision_names[i]);
}

const param_section *solver_section(int number)
{
    fill_texts();
    if (number == 0) return &section;
    for (int i = 0; types[i]; i++)
        if (types[i]->own && --number == 0) return types[i]->own;
    return NULL;
}

const char *solve_status_text(solve_status status)
{
    static const char *const text[] = {"converged", "too many iterations", "stalled above the tolerance",
                                       "broken (not a number, or an operator that is not positive)",
                                       "given up on request"};
    return text[status];
}

int solver_solves(const solver_settings *s)
{
    return solver_type_of(s)->solve != NULL;
}

int solver_needs_positive(const solver_settings *s)
{
    return solver_type_of(s)->positive || (s->inner && solver_needs_positive(s->inner));
}

const solver_settings *solver_with_transform(const solver_settings *s)
{
    while (s && !solver_type_has(solver_type_of(s), "transform")) s = s->inner;
    return s;
}

precision solver_precision(const solver_settings *s, precision outer)
{
    const precision inner = (precision)s->inner_precision;
    return inner > outer ? inner : outer;
}

double solver_defect(linop *a, field *r, const field *x, const field *b, double unit)
{
    linop_apply(a, r, x, 0);
    const double r2 = vector_axpby_norm2(r, 1 / unit, b, -1 / unit, 0);
    return b->lat->planned ? 0 : r2;
}

/* ---- history ---- */

static solve_history *history;
static void (*watching)(int iteration, double residual);
static int depth, noted_system, noted_before, noted_first, noted_rhs;

void solver_record(solve_history *h)
{
    history = h;
}

void solver_watch(void (*watch)(int iteration, double residual))
{
    watching = watch;
}

void solver_note_system(int system, int before)
{
    noted_system = system;
    noted_before = before;
}

void solver_note_rhs(int rhs)
{
    noted_rhs = rhs;
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
    if (!solver_outermost()) return;
    if (watching) watching(noted_before + iteration, residual);
    if (!h) return;
    if (h->n == h->room) {
        h->room = h->room ? 2 * h->room : 256;
        h->points = realloc(h->points, (size_t)h->room * sizeof *h->points);
        REQUIRE_MEMORY(h->points, "out of memory");
    }
    h->points[h->n++] =
        (solve_point){noted_before + iteration, residual, prec, is_true, noted_system, noted_first + noted_rhs};
}

/* ---- requests to stop ---- */

#define SECONDS_BETWEEN_REQUESTS 0.25

/* Iterations are counted, since ranks agree on counts and not on clocks: `left` of `every` iterations remain before the
 * next call of asked(). The slowest rank's time since the last call decides how many come before the one after it. */
static struct {
    int (*asked)(void);
    int given_up;
    long every, left;
    double last;
} request;

void solver_interrupt_by(int (*asked)(void))
{
    request.asked = asked;
    request.given_up = 0;
    request.every = request.left = 1;
    request.last = comm_wtime();
}

int solver_interrupted(const lattice *lat)
{
    if (!request.asked || request.given_up || lat->planned) return request.given_up && !lat->planned;
    if (lat->group != comm_world() || --request.left > 0) return 0;
    double seconds = comm_wtime() - request.last;
    comm_max(&seconds, 1);
    const double pace = SECONDS_BETWEEN_REQUESTS / fmax(seconds, 1e-3 * SECONDS_BETWEEN_REQUESTS);
    request.every = (long)fmax(1, fmin(pace, 4) * (double)request.every);
    request.left = request.every;
    request.last = comm_wtime();
    request.given_up = request.asked();
    return request.given_up;
}

/* ---- objects ---- */

solver *solver_create_around(const solver_type *type, const solver_settings *set, linop *a, solver *inner)
{
    solver *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->type = type;
    s->settings = *set;
    s->a = a;
    s->inner = inner;
    if (type->open) type->open(s);
    return s;
}

solver *solver_create(const solver_settings *set, linop *a)
{
    const solver_type *type = solver_type_of(set);
    solver *inner = NULL;
    if (set->inner) {
        solver_settings of_inner = *set->inner;
        of_inner.follows = set->follows;
        of_inner.family = set->family;
        inner = solver_create(&of_inner, type->inside ? type->inside(set, a) : a);
    }
    return solver_create_around(type, set, a, inner);
}

void solver_destroy(solver *s)
{
    if (!s) return;
    if (s->type->close) s->type->close(s);
    solver_destroy(s->inner);
    free(s);
}

void solver_update(solver *s)
{
    linop_refresh(s->a);
    if (s->inner) solver_update(s->inner);
    if (s->type->update) s->type->update(s);
}

void solver_forget(solver *s)
{
    if (s->inner) solver_forget(s->inner);
    if (s->type->forget) s->type->forget(s);
}

solver *solver_from(solver_store *store, const solver_settings *set, linop *a)
{
    solver *s = NULL;
    for (int i = 0; i < store->n && !s; i++)
        if (store->settings[i] == set && store->solvers[i]->a == a) s = store->solvers[i];
    if (!s) {
        REQUIRE(store->n < SOLVER_STORE_MOST, "more than %d solvers", SOLVER_STORE_MOST);
        store->settings[store->n] = set;
        solver_settings own = *set;
        own.follows = store->follow;
        own.family = store->family ? store->family : &store->own;
        store->solvers[store->n++] = s = solver_create(&own, a);
    }
    s->settings.tolerance = set->tolerance;
    s->settings.max_iterations = set->max_iterations;
    return s;
}

void solver_store_forget(solver_store *store)
{
    for (int i = 0; i < store->n; i++) solver_forget(store->solvers[i]);
}

void solver_store_close(solver_store *store)
{
    for (int i = 0; i < store->n; i++) solver_destroy(store->solvers[i]);
    store->n = 0;
}

linop *solver_operator(const solver *s, const field *b)
{
    return linop_at(s->a, b->prec, b->where);
}

void solver_deflate(solver *s, const eigen_pairs *low, int modes, int of_normal)
{
    s->low = low;
    s->modes = modes;
    s->low_normal = of_normal;
}

/* ---- solves ---- */

static int block_size(const solver_type *type, const solver_settings *s)
{
    const int n = type->block_size ? type->block_size(s) : 1;
    return n < SOLVER_BLOCK_MOST ? n : SOLVER_BLOCK_MOST;
}

int solver_block_size(const solver_settings *s)
{
    return block_size(solver_type_of(s), s);
}

/* Right-hand sides of a call that a type takes at once: views, which have norms and scales of their own. */
typedef struct {
    int first, n;
    field x, b;
} columns;

/* Moves to the columns behind those of the turn before; from {0} to the first. Returns whether there are any. */
static int next_columns(columns *c, int together, field *x, const field *b)
{
    const int left = b->nrhs - (c->first += c->n);
    if (left <= 0) return 0;
    c->n = left < together ? left : together;
    c->x = field_columns(x, c->first, c->n);
    c->b = field_columns(b, c->first, c->n);
    return 1;
}

void solver_run(solver *s, field *x, const field *b, solve_result *each)
{
    solve_result unread[SOLVER_BLOCK_MOST];
    REQUIRE(s->type->solve, "%s only preconditions", s->type->name);
    REQUIRE(b->nrhs <= SOLVER_BLOCK_MOST, "%d right-hand sides at once", b->nrhs);
    if (!each) each = unread;
    solver_enter();
    for (columns c = {0}; next_columns(&c, block_size(s->type, &s->settings), x, b);)
        s->type->solve(s, &c.x, &c.b, each + c.first);
    solver_leave();
    field_written(x);
}

static int any_going(const char *going, int first, int n)
{
    for (int k = first; going && k < first + n; k++)
        if (going[k]) return 1;
    return !going;
}

void solver_precondition(solver *s, const char *going, field *x, const field *b, solve_result *each)
{
    solve_result unread[SOLVER_BLOCK_MOST];
    const int together = going && !s->type->precondition ? 1 : block_size(s->type, &s->settings);
    REQUIRE(b->nrhs <= SOLVER_BLOCK_MOST, "%d right-hand sides at once", b->nrhs);
    if (!each) each = unread;
    memset(each, 0, (size_t)b->nrhs * sizeof *each);
    solver_enter();
    for (columns c = {0}; next_columns(&c, together, x, b);) {
        if (!any_going(going, c.first, c.n)) continue;
        if (s->type->precondition) {
            s->type->precondition(s, going ? going + c.first : NULL, &c.x, &c.b, each + c.first);
            continue;
        }
        field_clear(&c.x);
        s->type->solve(s, &c.x, &c.b, each + c.first);
    }
    solver_leave();
    field_written(x);
}

void solver_reduce(solver *s, const char *going, field *x, const field *b, solve_result *each)
{
    solve_result unread[SOLVER_BLOCK_MOST];
    if (!s->type->reduce) {
        solver_precondition(s, going, x, b, each);
        return;
    }
    REQUIRE(b->nrhs <= SOLVER_BLOCK_MOST, "%d right-hand sides at once", b->nrhs);
    if (!each) each = unread;
    memset(each, 0, (size_t)b->nrhs * sizeof *each);
    solver_enter();
    s->type->reduce(s, going, x, b, each);
    solver_leave();
}

void solver_smooth(solver *s, char *going, field *x, field *r, field *q)
{
    if (s->type->smooth) {
        s->type->smooth(s, going, x, r, q);
        return;
    }
    field *e = field_like(r);
    solver_precondition(s, going, e, r, NULL);
    vector_axpby(x, 1, e, 1);
    linop_apply(solver_operator(s, r), q, e, 0);
    vector_axpby(r, -1, q, 1);
    field_destroy(e);
}

/* True residuals of right-hand sides whose sources have these norms squared, and what they make of the status. */
static void judge(const solver *s, const field *x, const field *b, const double *b2, solve_result *each)
{
    double ones[SOLVER_BLOCK_MOST], minus[SOLVER_BLOCK_MOST], r2[SOLVER_BLOCK_MOST];
    linop *a = solver_operator(s, b);
    field *r = field_like(b);
    for (int k = 0; k < b->nrhs; k++) {
        ones[k] = 1;
        minus[k] = -1;
    }
    linop_apply(a, r, x, 0);
    vector_axpby_norm2_each(r2, r, ones, b, minus);
    for (int k = 0; k < b->nrhs; k++) {
        solve_result *e = &each[k];
        if (b2[k] == 0) continue;
        e->residual = b->lat->planned ? 0 : sqrt(r2[k] / b2[k]);
        e->flops += a->flops;
        /* The recurrence may have claimed more than is true; rounding in the check itself is allowed for. */
        if (e->residual != e->residual) e->status = SOLVE_BROKEN;
        else if (e->status == SOLVE_CONVERGED && e->residual > 1.5 * s->settings.tolerance) e->status = SOLVE_STALLED;
    }
    field_destroy(r);
}

static void add_result(solve_result *sum, const solve_result *one)
{
    if (one->status > sum->status) sum->status = one->status;
    if (!(one->residual <= sum->residual)) sum->residual = one->residual;
    sum->inside += one->inside;
    sum->seconds += one->seconds;
    sum->flops += one->flops;
}

/* Solves right-hand sides together: results with true residuals into each[], and added to *all. */
static void solve_some(solver *s, field *x, const field *b, solve_result *each, solve_result *all)
{
    const double start = comm_wtime();
    double b2[SOLVER_BLOCK_MOST], largest = 0;
    int iterations = 0;
    linop_refresh(solver_operator(s, b));
    vector_norm2_each(b2, b);
    for (int k = 0; k < b->nrhs; k++) {
        each[k] = (solve_result){0};
        if (!(b2[k] <= largest)) largest = b2[k];
    }
    if (largest != 0 && s->low) eigen_deflate(s->low, s->modes, solver_operator(s, b), s->low_normal, x, b);
    if (largest == 0) {
        field_clear(x);
    } else {
        solver_run(s, x, b, each);
        judge(s, x, b, b2, each);
    }
    const double seconds = (comm_wtime() - start) / b->nrhs;
    for (int k = 0; k < b->nrhs; k++) {
        each[k].seconds = seconds;
        if (each[k].iterations > iterations) iterations = each[k].iterations;
        add_result(all, &each[k]);
    }
    all->iterations += iterations;
}

solve_result solver_solve(solver *s, field *x, const field *b, solve_result *each)
{
    solve_result all = {0}, some[SOLVER_BLOCK_MOST];
    const double start = comm_wtime();
    solver_update(s);
    all.setup = comm_wtime() - start;
    for (columns c = {0}; next_columns(&c, block_size(s->type, &s->settings), x, b);) {
        noted_first = c.first;
        solve_some(s, &c.x, &c.b, each ? each + c.first : some, &all);
        noted_first = 0;
    }
    field_written(x);
    return all;
}

/* ---- errors ---- */

/* The norm of each right-hand side; free() it. */
static double *norms(const field *f)
{
    double *n = malloc((size_t)f->nrhs * sizeof *n);
    REQUIRE_MEMORY(n, "out of memory for %d norms", f->nrhs);
    vector_norm2_each(n, f);
    for (int k = 0; k < f->nrhs; k++) n[k] = sqrt(n[k]);
    return n;
}

static double larger(double a, double b)
{
    return !(b <= a) ? b : a;
}

solve_error solver_error(solver *s, const field *x, const field *b, solve_error *each)
{
    field *r = field_like(b), *e = field_like(b);
    solve_error worst = {0};
    solve_result *results = calloc((size_t)b->nrhs, sizeof *results);
    REQUIRE_MEMORY(results, "out of memory");
    linop_apply(solver_operator(s, b), r, x, 0);
    vector_axpby(r, 1, b, -1);
    const double tolerance = s->settings.tolerance;
    s->settings.tolerance = SOLVER_ERROR_TOLERANCE;
    solver_solve(s, e, r, results);
    s->settings.tolerance = tolerance;
    double *of_b = norms(b), *of_r = norms(r), *of_x = norms(x), *of_e = norms(e);
    for (int k = 0; k < b->nrhs; k++) {
        const int known = results[k].status == SOLVE_CONVERGED;
        each[k].error = !known ? NAN : of_x[k] > 0 ? of_e[k] / of_x[k] : 0;
        each[k].ratio = of_r[k] > 0 ? each[k].error / (of_r[k] / of_b[k]) : NAN;
        worst.error = larger(worst.error, each[k].error);
        if (of_r[k] > 0) worst.ratio = larger(worst.ratio, each[k].ratio);
    }
    double *const all[] = {of_b, of_r, of_x, of_e};
    for (int i = 0; i < 4; i++) free(all[i]);
    free(results);
    field_destroy(e);
    field_destroy(r);
    return worst;
}
