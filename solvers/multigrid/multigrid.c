/* Adaptive multigrid for Wilson-clover quarks (R. Babich et al., arXiv:1005.3043; M. Clark et al., arXiv:1612.07873).
 *
 * A cycle smooths by steps of minimal residual on the system of its level, takes the residual to the next lattice by
 * P^dagger, solves there, adds P times the solution, and smooths again. Smoothers and solvers of levels are those of the registry.
 * The solve on a lower level is flexible GCR with the cycle of that level as its preconditioner (K-cycle), or that cycle once or
 * twice (V, W), on the coarsest GCR, CA-GCR or BiCGStab alone. Systems are red-black on every level whose extents are even. On the finest lattice a
 * preconditioner may smooth in place of minimal residuals, such as Schwarz blocks, which nothing is sent for. Around the
 * finest cycle runs flexible GCR in the precision of the source.
 *
 * Several right-hand sides go through all levels together: operators and transfers are applied to all of them at once,
 * with every link and null vector read once, while coefficients and the end of each solve are their own.
 *
 * Cycles work in single precision.
 *
 * In actions quarks that differ by their masses alone, as those of a chain of determinant ratios do, have one set-up, of the
 * lightest: low modes of M are those of M + s, and what is coarse of M + s is that of M plus s. So it is for twisted masses, s = i
 * mu gamma_5: gamma_5 M = Q + i mu, whose singular vectors do not depend on mu.
 *
 * A^dagger is solved by the levels of a partner B, A itself or with a twisted mass that of -mu: A^dagger = S B S^-1 by gamma_5
 * hermiticity (operators/coarse.h), so that S K S^-1 preconditions. Partners have one set-up. */
#include "solvers/multigrid/multigrid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/vector.h"
#include "solvers/gcr.h"
/* ---- the solver ---- */

typedef struct {
    multigrid *m;
    int adjoint; /* A^dagger is solved, and the levels are those of the partner of A */
} state;

static state *of(const solver *s)
{
    return s->state;
}

const multigrid *multigrid_levels_of(const solver *s)
{
    return of(s)->m;
}

/* Flags of all right-hand sides of a call. */
static const char all_going[SOLVER_BLOCK_MOST] = {[0 ... SOLVER_BLOCK_MOST - 1] = 1};

/* x = S K S^-1 b in the precision of the levels. */
static void cycle_of_adjoint(multigrid *m, solver *smoother, const char *going, field *x, const field *b)
{
    linop *op = m->levels[0].op;
    field *t = field_like(b), *y = field_like(t);
    op->coarsening->gamma5_conjugate(op, t, b, 1);
    multigrid_cycle(m, 0, smoother, going, y, t);
    op->coarsening->gamma5_conjugate(op, x, y, 0);
    field_destroy(y);
    field_destroy(t);
}

/* Squares of numbers beyond these leave the range of single precision at single sites. */
#define FAR2 1e-16

static int far_from_one(double r2)
{
    return r2 > 0 && (r2 < FAR2 || r2 > 1 / FAR2);
}

/* Right-hand sides that are far from one, times two to a power that takes them near it, or back: bits stay. */
static void bring_near(field *v, const double *r2, int back)
{
    int done = 0;
    for (int k = 0; k < v->nrhs; k++) {
        if (!far_from_one(r2[k])) continue;
        field part = field_rhs(v, k);
        vector_axpby(&part, ldexp(1, (back ? 1 : -1) * ilogb(sqrt(r2[k]))), &part, 0);
        done = 1;
    }
    if (done) field_written(v);
}

static void precondition(solver *s, const char *given, field *x, const field *b, solve_result *each)
{
    multigrid *m = of(s)->m;
    multigrid_level *l = &m->levels[0];
    double b2[SOLVER_BLOCK_MOST], largest = 0;
    const int broken = m->owner->dependent > 0;
    vector_norm2_each(b2, b);
    for (int k = 0; k < b->nrhs; k++) {
        each[k] = (solve_result){.status = broken ? SOLVE_BROKEN : SOLVE_CONVERGED};
        if (b2[k] > largest) largest = b2[k];
    }
    if (broken || !(largest > 0)) {
        field_clear(x);
        return;
    }
    multigrid_reserve(m, b->nrhs);
    m->applications = 0;
    m->flops = 0;
    int one = b->prec == l->op->prec;
    for (int k = 0; k < b->nrhs; k++) one = one && !far_from_one(b2[k]);
    field *y = one ? x : l->x;
    const field *source = one ? b : l->b;
    if (!one) {
        vector_copy(l->b, b);
        bring_near(l->b, b2, 0);
    }
    multigrid_note(m, largest);
    const char *going = given ? given : all_going;
    if (of(s)->adjoint) cycle_of_adjoint(m, s->inner, going, y, source);
    else multigrid_cycle(m, 0, s->inner, going, y, source);
    if (!one) {
        bring_near(y, b2, 1);
        vector_copy(x, y);
    }
    for (int k = 0; k < b->nrhs; k++) {
        each[k].iterations = m->applications;
        each[k].flops = m->flops / b->nrhs;
    }
}

static void add_before(solve_result *r, const solve_result *before)
{
    r->iterations += before->iterations;
    r->inside += before->inside;
    r->flops += before->flops;
}

/* Cycles that may pass until the residual is halved. Cycles take it down by a factor of two to ten each where the coarse
 * lattices hold the low modes. */
#define CYCLES_TO_HALF 50

static void explain_stall(int iterations)
{
    (solver_outermost() ? log_warn : log_debug)(
        "multigrid: %d cycles have not halved the residual (%d in all). Modes that the coarse lattices do not hold "
        "remain: the mass may lie beyond the critical one, where no null vector helps (look at kappa or mass; plaq "
        "eigen "
        "shows the lowest modes); otherwise raise setup_iterations, vectors or bottom_iterations",
        CYCLES_TO_HALF, iterations);
}

/* Repeats the solves that failed, from where they are, broken ones from zero. */
static void solve_again(solver *s, field *x, const field *b, solve_result *each)
{
    for (int k = 0; k < b->nrhs; k++) {
        const solve_result before = each[k];
        field one_x = field_rhs(x, k);
        const field one_b = field_rhs(b, k);
        if (before.status == SOLVE_CONVERGED) continue;
        if (before.status == SOLVE_BROKEN) field_clear(&one_x);
        gcr_solve(s, &one_x, &one_b, of(s)->m->keys.restart, CYCLES_TO_HALF, s, &each[k]);
        add_before(&each[k], &before);
    }
    field_written(x);
}

/* A set-up that may be out of date has fewer iterations than max_iterations, and a second attempt with a new one. */
static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    multigrid *m = of(s)->m;
    const int patience = multigrid_patience(m, s->settings.tolerance);
    const char *failed = NULL;
    solver patient = *s;
    if (patience < s->settings.max_iterations) patient.settings.max_iterations = patience;
    for (int i = 0; i < m->n; i++) m->levels[i].solves = m->levels[i].steps = 0;
    gcr_solve(&patient, x, b, m->keys.restart, CYCLES_TO_HALF, s, each);
    for (int i = 1; i < m->n; i++)
        log_debug("multigrid: %ld solves on level %d, %.1f iterations each", m->levels[i].solves, i + 1,
                  (double)m->levels[i].steps / fmax(1, (double)m->levels[i].solves));
    for (int k = 0; k < b->nrhs; k++)
        if (each[k].status != SOLVE_CONVERGED) failed = solve_status_text(each[k].status);
    if (failed && multigrid_renew(m, failed)) solve_again(s, x, b, each);
    for (int k = 0; k < b->nrhs; k++)
        if (each[k].status == SOLVE_STALLED) {
            explain_stall(each[k].iterations);
            return;
        }
}

static int block_size(const solver_settings *s)
{
    return multigrid_keys_of(s)->right_hand_sides;
}

static linop *inside(const solver_settings *set, linop *a)
{
    linop *direct = adjoint_inner(a);
    (void)set;
    return direct ? direct : a;
}

static void open(solver *s)
{
    state *t = calloc(1, sizeof *t);
    REQUIRE_MEMORY(t, "out of memory");
    linop *a = inside(&s->settings, s->a);
    for (const solver_settings *at = s->settings.inner; at; at = at->inner)
        REQUIRE(!solver_type_of(at)->coarsens, "%s that smooths for itself", solver_type_of(at)->name);
    t->adjoint = a != s->a;
    linop *single = linop_at(a, PREC_SINGLE, a->where);
    t->m = multigrid_levels(&s->settings, t->adjoint ? single->coarsening->partner(single) : single);
    s->state = t;
    s->settings.delta = MULTIGRID_DELTA;
}

static void update(solver *s)
{
    multigrid_follow(of(s)->m);
}

static void forget(solver *s)
{
    multigrid_forget(of(s)->m);
}

static void close(solver *s)
{
    multigrid *m = of(s)->m;
    free(s->state);
    multigrid_release(m);
}

static const char *fits(const solver_settings *set, const lattice *lat, char *message, size_t bytes)
{
    const multigrid_keys *k = multigrid_keys_of(set);
    static const char *const names[] = {"block", "block_2", "block_3"};
    lattice at = *lat;
    coarse_settings s;
    int box[4];
    lattice_box(lat, box);
    if (!multigrid_level_settings(k, lat, 0, &s)) {
        snprintf(
            message, bytes,
            "the %d.%d.%d.%d sites of a rank have no aggregates of 4 sites or more that leave an even number of coarse "
            "sites; use another process grid, or another solver on so small a lattice",
            box[0], box[1], box[2], box[3]);
        return names[0];
    }
    for (int level = 0, components = 12; multigrid_level_settings(k, &at, level, &s); level++) {
        if (!coarse_fits(&at, components, &s, message, bytes)) return names[level];
        components = 2 * s.vectors;
        multigrid_below(&at, &s);
    }
    return NULL;
}

/* Aggregates of all levels compared with those of one rank. */
static int same_on_any_grid(const solver_settings *set, const lattice *lat)
{
    const multigrid_keys *k = multigrid_keys_of(set);
    lattice at = *lat, alone = *lat;
    for (int d = 0; d < 4; d++) alone.grid[d] = 1;
    coarse_settings s, of_one;
    for (int level = 0;; level++) {
        const int there = multigrid_level_settings(k, &at, level, &s);
        if (there != multigrid_level_settings(k, &alone, level, &of_one)) return 0;
        if (!there) return 1;
        if (memcmp(s.block, of_one.block, sizeof s.block)) return 0;
        multigrid_below(&at, &s);
        multigrid_below(&alone, &of_one);
    }
}

/* True if a key is one of `keys`, separated by spaces. */
static int is_one_of(const char *key, const char *keys)
{
    const size_t n = strlen(key);
    for (const char *at = strstr(keys, key); at; at = strstr(at + 1, key))
        if ((at == keys || at[-1] == ' ') && (at[n] == 0 || at[n] == ' ')) return 1;
    return 0;
}

static const char *why_key_has_no_effect(const solver_settings *s, const char *key)
{
    const multigrid_keys *k = multigrid_keys_of(s);
    if (k->levels < 3 && is_one_of(key, "block_2 vectors_2 ranks_3 cycle coarse_tolerance coarse_iterations "
                                        "coarse_setup_iterations"))
        return "levels = 2 leaves no lattice between the finest and the coarsest";
    if (k->levels < 4 && is_one_of(key, "block_3 vectors_3 ranks_4"))
        return "there is no fourth lattice without levels = 4";
    if (k->cycle != CYCLE_K && is_one_of(key, "coarse_tolerance coarse_iterations"))
        return "only the Krylov solves of cycle = k have it";
    if (k->pre_steps + k->post_steps == 0 && is_one_of(key, "smoother relaxation"))
        return "pre_steps = 0 and post_steps = 0 leave nothing to smooth";
    return NULL;
}

#define KEY(member) SOLVER_KEY(multigrid_keys, member)
#define BLOCK_HELP                                                                                                     \
    "extents X.Y.Z.T of aggregates, which divide the sites of a rank; auto: up to 4 sites on the finest lattice and "  \
    "up to 2 on others"

static const param own[] = {
    {"levels", PARAM_INT, KEY(levels), "3", "[2,4]", NULL,
     "lattices, the finest included; fewer where one is too small", 0},
    {"block", PARAM_INT4, KEY(block[0]), "auto", "[0,64]|auto", "sites", BLOCK_HELP, 0},
    {"block_2", PARAM_INT4, KEY(block[1]), "auto", "[0,64]|auto", "sites", "the same on the second lattice", 0},
    {"block_3", PARAM_INT4, KEY(block[2]), "auto", "[0,64]|auto", "sites", "the same on the third", 0},
    {"vectors", PARAM_INT, KEY(vectors[0]), "24", "[2,64]", NULL, "null vectors of the finest lattice, an even number",
     0},
    {"vectors_2", PARAM_INT, KEY(vectors[1]), "32", "[2,64]", NULL, "the same of the second lattice", 0},
    {"vectors_3", PARAM_INT, KEY(vectors[2]), "32", "[2,64]", NULL, "the same of the third", 0},
    {"ranks_2", PARAM_INT, KEY(ranks[0]), "0", "[0,2147483647]", NULL,
     "ranks that hold the second lattice, at most, for all; 0: all, or as few as leave each an even number of sites "
     "along each direction",
     0},
    {"ranks_3", PARAM_INT, KEY(ranks[1]), "0", "[0,2147483647]", NULL, "the same of the third lattice", 0},
    {"ranks_4", PARAM_INT, KEY(ranks[2]), "0", "[0,2147483647]", NULL, "the same of the fourth", 0},
    {"setup_iterations", PARAM_INT, KEY(setup_iterations), "40", "[1,10000]", NULL,
     "applications of the operator in which BiCGStab relaxes each null vector from random numbers", 0},
    {"coarse_setup_iterations", PARAM_INT, KEY(coarse_setup_iterations), "10", "[1,10000]", NULL,
     "the same on coarse lattices", 0},
    {"refinements", PARAM_INT, KEY(refinements), "2", "[0,20]", NULL,
     "how often the cycle itself is put on the null vectors and the set-up made from them", 0},
    {"refresh_at", PARAM_REAL, KEY(refresh_at), "1.5", "[1,1000]", NULL,
     "for actions: the growth of iterations a digit from which the null vectors are refreshed at the next links, "
     "or made anew if a refresh has not helped. A trajectory begins with a set-up from random vectors, so that "
     "restarts find the same bits, and keeps it while it serves",
     0},
    {"refresh_iterations", PARAM_INT, KEY(refresh_iterations), "8", "[1,10000]", NULL,
     "for actions: as setup_iterations, when the null vectors are refreshed", 0},
    {"pre_steps", PARAM_INT, KEY(pre_steps), "0", "[0,100]", NULL, "steps of minimal residual before the coarse solve",
     0},
    {"post_steps", PARAM_INT, KEY(post_steps), "4", "[0,100]", NULL, "and after it", 0},
    {"relaxation", PARAM_REAL, KEY(relaxation), "0.9", "(0,2)", NULL, "factor of each step", 0},
    {"smoother", PARAM_NAME, offsetof(solver_settings, inner_name), "", "solver", NULL,
     "[solver.NAME] of a preconditioner, such as schwarz, for the steps on the finest lattice, not in the set-up; "
     "empty: "
     "minimal residual",
     0},
    {"cycle", PARAM_CHOICE, KEY(cycle), "k", PARAM_RANGE(MULTIGRID_CYCLES), NULL,
     "how lattices between the finest and the coarsest are solved on: GCR with the next cycle inside (k), or that "
     "cycle once (v) or twice (w), which has no sums over ranks of its own",
     0},
    {"coarse_tolerance", PARAM_REAL, KEY(coarse_tolerance), "0.25", "(0,1)", NULL,
     "drop of the residual on lattices between the finest and the coarsest, of cycle = k", 0},
    {"coarse_iterations", PARAM_INT, KEY(coarse_iterations), "8", "[1,100]", NULL, "and the most iterations there", 0},
    {"bottom_solver", PARAM_CHOICE, KEY(bottom_solver), "gcr", PARAM_RANGE(MULTIGRID_BOTTOMS), NULL,
     "on the coarsest lattice: ca_gcr has two sums over ranks for eight steps; bicgstab takes right-hand sides one "
     "after another",
     0},
    {"bottom_tolerance", PARAM_REAL, KEY(bottom_tolerance), "0.25", "(0,1)", NULL,
     "drop of the residual on the coarsest", 0},
    {"bottom_iterations", PARAM_INT, KEY(bottom_iterations), "32", "[1,10000]", NULL, "and the most iterations there",
     0},
    {"mu_factor", PARAM_REAL, KEY(mu_factor), "1", "[1,100]", NULL,
     "of quarks with a twisted mass: factor of it on the coarsest lattice, where larger ones make solves short", 0},
    {"restart", PARAM_INT, KEY(restart), "10", "[1,256]", "vectors", "of the outer GCR", 0},
    {"right_hand_sides", PARAM_INT, KEY(right_hand_sides), "12", "[1,64]", NULL,
     "solved together, at most, through all levels at once, with the same bits as alone but for tensor_cores; memory "
     "of vectors grows with "
     "them",
     0},
    {"half_links", PARAM_BOOL, KEY(half_links), "yes", NULL, NULL,
     "links of coarse lattices in half precision, with a scale each, where cycles work in single", 0},
    {"tensor_cores", PARAM_BOOL, KEY(tensor_cores), "yes", NULL, NULL,
     "on a GPU: coarse lattices multiply four and more right-hand sides on tensor cores, in TF32, whose bits are not "
     "those "
     "of one alone; no: the same bits as alone",
     0},
    {"share_setup", PARAM_BOOL, KEY(share_setup), "yes", NULL, NULL,
     "for actions: quarks that differ by their mass alone, such as Hasenbusch masses, have the null vectors of the "
     "lightest",
     0},
};

static const param_section part = PARAM_PART("solver", "multigrid", solver_settings, own);
_Static_assert(sizeof(multigrid_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of multigrid");

const solver_type solver_multigrid = {
    .name = "multigrid",
    .help = "adaptive multigrid for Wilson-clover quarks, inside GCR; its cycle preconditions",
    .keys = "inner_precision",
    .own = &part,
    .model = {.part = 0, .least = 20, .work = 40, .exchanges = 40},
    .keys_of_twist = "mu_factor",
    .keys_of_actions = "refresh_at refresh_iterations share_setup",
    .restarts = 1,
    .inner_key = "smoother",
    .inside = inside,
    .coarsens = 1,
    .fits = fits,
    .same_on_any_grid = same_on_any_grid,
    .why_key_has_no_effect = why_key_has_no_effect,
    .solve = solve,
    .block_size = block_size,
    .precondition = precondition,
    .open = open,
    .update = update,
    .close = close,
    .forget = forget};
