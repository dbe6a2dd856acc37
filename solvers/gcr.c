/* GCR with a preconditioner: algorithm 1 of R. Babich et al., arXiv:1109.2935 (flexible GCR in a low precision with
 * explicit orthogonalisation and implicit update of the solution, restarted in the precision of b when the space is
 * full, when the residual has fallen by delta, and at the tolerance).
 *
 * Several right-hand sides iterate side by side, each with a space, restarts and reliable updates of its own: preconditioner
 * and operator are applied to the residuals of all that go on, together, and each gets the bits that it gets alone.
 *
 * z_k is kept as A p_k orthogonalised, and its norm gamma_k beside it: what the paper writes with z_k / gamma_k is
 * divided by gamma_k where it is used. The sums beta of a step are taken in one pass, with (r, A p_k), which is (r,
 * z_k) since r has no part along earlier z_i; the subtractions are another pass. Ranks add up three times a step. */
#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/gcr.h"
#include "solvers/reliable.h"

typedef double pair[2]; /* re, im */

/* |z_k| over |A p_k| below which the one is rounding of the other, in each precision. */
static const double dependent[PREC_COUNT] = {1e-14, 1e-6, 1e-4, 1e-2};

typedef struct {
    int most, made;  /* the size of the space; vectors that there are */
    field **p, **z;  /* [most] */
    field **r_and_z; /* [1 + most]: the residual, and then z */
    double *gamma;   /* [most] */
    pair *alpha;     /* [most] */
    pair *beta;      /* [i most + k] for i < k */
    pair *c;         /* [1 + most] */
    pair *chi;       /* [most] */
} space;

static void *allocate(int n, size_t size)
{
    void *p = calloc((size_t)n, size);
    REQUIRE_MEMORY(p, "out of memory for a Krylov space of %d vectors", n);
    return p;
}

static void space_open(space *k, int most)
{
    *k = (space){.most = most,
                 .p = allocate(most, sizeof *k->p),
                 .r_and_z = allocate(most + 1, sizeof *k->z),
                 .gamma = allocate(most, sizeof *k->gamma),
                 .alpha = allocate(most, sizeof *k->alpha),
                 .beta = allocate(most * most, sizeof *k->beta),
                 .c = allocate(most + 1, sizeof *k->c),
                 .chi = allocate(most, sizeof *k->chi)};
    k->z = k->r_and_z + 1;
}

static void space_close(space *k)
{
    for (int i = 0; i < k->made; i++) {
        field_destroy(k->p[i]);
        field_destroy(k->z[i]);
    }
    void *const all[] = {k->p, k->r_and_z, k->gamma, k->alpha, k->beta, k->c, k->chi};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* z_k = A p_k loses its parts along z_i, i < k; and alpha_k. Returns |z_k|^2 over |A p_k|^2. */
static double orthogonalise(space *s, int k, field *low_r)
{
    s->r_and_z[0] = low_r;
    vector_multi_dot(s->c, k + 1, s->r_and_z, s->z[k], 0);
    pair *along = s->c + 1;
    double along2 = 0;
    for (int i = 0; i < k; i++)
        for (int j = 0; j < 2; j++) {
            const double beta = along[i][j] / s->gamma[i];
            s->beta[i * s->most + k][j] = beta;
            along[i][j] = -beta / s->gamma[i];
            along2 += beta * beta;
        }
    const double z2 = vector_multi_axpy(s->z[k], k, (const pair *)along, s->z, 0);
    s->gamma[k] = sqrt(z2);
    s->alpha[k][0] = s->c[0][0] / s->gamma[k];
    s->alpha[k][1] = -s->c[0][1] / s->gamma[k];
    return z2 / (z2 + along2);
}

/* low_x += sum_i chi_i p_i over n vectors, with gamma_l chi_l + sum_(i > l) beta_li chi_i = alpha_l. */
static void solution(space *s, int n, field *x)
{
    for (int l = n - 1; l >= 0; l--) {
        double re = s->alpha[l][0], im = s->alpha[l][1];
        for (int i = l + 1; i < n; i++) {
            const double *b = s->beta[l * s->most + i], *c = s->chi[i];
            re -= b[0] * c[0] - b[1] * c[1];
            im -= b[0] * c[1] + b[1] * c[0];
        }
        s->chi[l][0] = re / s->gamma[l];
        s->chi[l][1] = im / s->gamma[l];
    }
    vector_multi_axpy(x, n, (const pair *)s->chi, s->p, 0);
}

/* ---- right-hand sides side by side ---- */

/* A right-hand side. Its fields are those of the caller's block, or the caller's own where there is one alone. */
typedef struct {
    field x, b;
    reliable u;
    space s;
    int number, k; /* number of the right-hand side; vectors of the space so far */
    double first2; /* |r|^2 where it began */
} rhs_state;

static field rhs_of(const field *f, int r)
{
    return f->nrhs == 1 ? *f : field_rhs(f, r);
}

/* y = x, of which either may be a right-hand side of a block. */
static void copy_vector(field *y, const field *x)
{
    if (y->prec == x->prec) vector_axpby(y, 1, x, 0);
    else vector_copy(y, x);
}

/* Vectors number k, which are made when they are first needed. */
static void reserve(rhs_state *c)
{
    if (c->k < c->s.made) return;
    c->s.p[c->k] = field_like(c->u.low_r);
    c->s.z[c->k] = field_like(c->u.low_r);
    c->s.made++;
}

static void count_inside(rhs_state *c, const solve_result *r)
{
    c->u.result.inside += r->iterations + r->inside;
    c->u.result.flops += r->flops;
}

/* p_k = K r and z_k = A p_k of one right-hand side. */
static void direction(rhs_state *c, solver *preconditioner)
{
    field *p = c->s.p[c->k];
    if (preconditioner) {
        solve_result r;
        solver_precondition(preconditioner, p, c->u.low_r, &r);
        count_inside(c, &r);
    } else {
        vector_copy(p, c->u.low_r);
    }
    linop_apply(c->u.low, c->s.z[c->k], p, 0);
}

/* Directions of n right-hand sides at once. In fixed point the block is in single, the lowest precision that has
 * right-hand sides of their own. */
static void directions(rhs_state *const *c, int n, solver *preconditioner)
{
    linop *low = c[0]->u.low;
    const int fixed = low->prec > PREC_SINGLE;
    linop *of_block = fixed ? linop_at(c[0]->u.a, PREC_SINGLE, low->where) : low;
    field *r = linop_vector(of_block, n), *p = field_like(r);
    solve_result each[SOLVER_BLOCK_MOST];
    for (int i = 0; i < n; i++) {
        field part = field_rhs(r, i);
        copy_vector(&part, c[i]->u.low_r);
    }
    field_written(r);
    solver_precondition(preconditioner, p, r, each);
    if (!fixed) linop_apply(low, r, p, 0);
    for (int i = 0; i < n; i++) {
        const field part_p = field_rhs(p, i), part_z = field_rhs(r, i);
        count_inside(c[i], &each[i]);
        copy_vector(c[i]->s.p[c[i]->k], &part_p);
        if (fixed) linop_apply(low, c[i]->s.z[c[i]->k], c[i]->s.p[c[i]->k], 0);
        else copy_vector(c[i]->s.z[c[i]->k], &part_z);
    }
    field_destroy(p);
    field_destroy(r);
}

/* Restarts from the residual that was measured, or ends the cycle. Returns `goes_on`. */
static int begin_again(rhs_state *c, int goes_on)
{
    c->k = 0;
    c->first2 = c->u.r2;
    return goes_on;
}

/* After direction k: the step along it. Returns 0 when the cycle of this right-hand side ends. */
static int step(rhs_state *c, double delta)
{
    reliable *u = &c->u;
    space *s = &c->s;
    pair minus;
    const int k = c->k;
    solver_note_rhs(c->number);
    const double rest = orthogonalise(s, k, u->low_r);
    if (!(rest > dependent[u->low->prec] * dependent[u->low->prec]) || !(s->gamma[k] > 0)) {
        /* Nothing new, or no number: with nothing before it this is the end. */
        if (k == 0 || !isfinite(s->gamma[k])) {
            reliable_break(u);
            return 0;
        }
        solution(s, k, u->low_x);
        const double r2 = vector_norm2(u->low_r, 0);
        reliable_due(u, 1, r2);
        return begin_again(c, reliable_update(u, r2));
    }
    for (int j = 0; j < 2; j++) minus[j] = -s->alpha[k][j] / s->gamma[k];
    const double r2 = vector_multi_axpy(u->low_r, 1, (const pair *)&minus, &s->z[k], 0);
    const int due = reliable_due(u, 1, r2);
    c->k++;
    if (!due && c->k < s->most && !(r2 < delta * delta * c->first2)) return 1;
    solution(s, c->k, u->low_x);
    return begin_again(c, reliable_update(u, r2));
}

/* The right-hand sides that go on in the lowest precision, until the cycle of each has ended. */
static void cycle(rhs_state *const *all, int n, double delta, int restart, solver *preconditioner)
{
    rhs_state *c[SOLVER_BLOCK_MOST];
    precision lowest = PREC_DOUBLE;
    int going = 0;
    for (int i = 0; i < n; i++)
        if (all[i]->u.going && all[i]->u.low->prec > lowest) lowest = all[i]->u.low->prec;
    for (int i = 0; i < n; i++)
        if (all[i]->u.going && all[i]->u.low->prec == lowest) c[going++] = all[i];
    for (int i = 0; i < going; i++) {
        space_open(&c[i]->s, restart);
        begin_again(c[i], 1);
    }
    while (going > 0) {
        int left = 0;
        for (int i = 0; i < going; i++) reserve(c[i]);
        if (going > 1) directions(c, going, preconditioner);
        else direction(c[0], preconditioner);
        for (int i = 0; i < going; i++) {
            if (step(c[i], delta)) c[left++] = c[i];
            else space_close(&c[i]->s);
        }
        going = left;
    }
}

static int any_going(rhs_state *const *c, int n)
{
    for (int i = 0; i < n; i++)
        if (c[i]->u.going) return 1;
    return 0;
}

void gcr_solve(solver *s, field *x, const field *b, int restart, int patience, solver *preconditioner,
               solve_result *each)
{
    const int n = b->nrhs;
    rhs_state *c[SOLVER_BLOCK_MOST], *states = allocate(n, sizeof *states);
    for (int i = 0; i < n; i++) {
        c[i] = &states[i];
        c[i]->x = rhs_of(x, i);
        c[i]->b = rhs_of(b, i);
        c[i]->number = i;
        solver_note_rhs(i);
        reliable_open(&c[i]->u, s, &c[i]->x, &c[i]->b, 1, 0);
        c[i]->u.vectors_after = restart;
        c[i]->u.patience = patience;
    }
    while (any_going(c, n)) cycle(c, n, s->settings.delta, restart, preconditioner);
    for (int i = 0; i < n; i++) each[i] = reliable_close(&c[i]->u);
    solver_note_rhs(0);
    field_written(x);
    free(states);
}

static void solve(solver *s, field *x, const field *b, solve_result *each)
{
    gcr_solve(s, x, b, gcr_keys_of(&s->settings)->restart, pace_of(&s->settings), s->inner, each);
}

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
    .restarts = 1,
    .inner_key = "preconditioner",
    .solve = solve,
    .block_size = block_size};
