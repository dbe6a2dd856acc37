/* GCR with a preconditioner: algorithm 1 of R. Babich et al., arXiv:1109.2935 (flexible GCR in a low precision with
 * explicit orthogonalisation and implicit update of the solution, restarted in the precision of b when the space is
 * full, when the residual has fallen by delta, and at the tolerance).
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

static void *room(int n, size_t size)
{
    void *p = calloc((size_t)n, size);
    REQUIRE_MEMORY(p, "out of memory for a Krylov space of %d vectors", n);
    return p;
}

static void space_open(space *k, int most)
{
    *k = (space){.most = most,
                 .p = room(most, sizeof *k->p),
                 .r_and_z = room(most + 1, sizeof *k->z),
                 .gamma = room(most, sizeof *k->gamma),
                 .alpha = room(most, sizeof *k->alpha),
                 .beta = room(most * most, sizeof *k->beta),
                 .c = room(most + 1, sizeof *k->c),
                 .chi = room(most, sizeof *k->chi)};
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

/* z_k = A K r without its parts along z_i, i < k, and alpha_k. Returns |z_k|^2 over |A K r|^2. */
static double extend(space *s, int k, reliable *u, solver *preconditioner)
{
    if (k == s->made) {
        s->p[k] = field_like(u->low_r);
        s->z[k] = field_like(u->low_r);
        s->made++;
    }
    if (preconditioner) {
        const solve_result r = solver_precondition(preconditioner, s->p[k], u->low_r);
        u->result.inside += r.iterations + r.inside;
        u->result.flops += r.flops;
    } else {
        vector_copy(s->p[k], u->low_r);
    }
    linop_apply(u->low, s->z[k], s->p[k], 0);
    s->r_and_z[0] = u->low_r;
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

/* From r_0 to the next restart. Returns 0 when the turn ends. */
static int cycle(reliable *u, space *s, double delta, solver *preconditioner)
{
    const double first2 = u->r2;
    for (int k = 0;; k++) {
        pair minus;
        const double rest = extend(s, k, u, preconditioner);
        if (!(rest > dependent[u->low->prec] * dependent[u->low->prec]) || !(s->gamma[k] > 0)) {
            /* Nothing new, or no number: with nothing before it this is the end. */
            if (k == 0 || !isfinite(s->gamma[k])) {
                reliable_break(u);
                return 0;
            }
            solution(s, k, u->low_x);
            reliable_due(u, 1, vector_norm2(u->low_r, 0));
            return reliable_update(u, vector_norm2(u->low_r, 0));
        }
        for (int j = 0; j < 2; j++) minus[j] = -s->alpha[k][j] / s->gamma[k];
        const double r2 = vector_multi_axpy(u->low_r, 1, (const pair *)&minus, &s->z[k], 0);
        const int due = reliable_due(u, 1, r2);
        if (!due && k + 1 < s->most && !(r2 < delta * delta * first2)) continue;
        solution(s, k + 1, u->low_x);
        return reliable_update(u, r2);
    }
}

solve_result gcr_solve(solver *s, field *x, const field *b, int restart, solver *preconditioner)
{
    reliable u;
    reliable_open(&u, s, x, b, 1, 0);
    u.vectors_after = restart;
    while (u.going) {
        space k;
        space_open(&k, restart);
        while (cycle(&u, &k, s->settings.delta, preconditioner)) {
        }
        space_close(&k);
    }
    return reliable_close(&u);
}

static solve_result solve(solver *s, field *x, const field *b)
{
    return gcr_solve(s, x, b, gcr_keys_of(&s->settings)->restart, s->inner);
}

static const param own[] = {
    {"restart", PARAM_INT, SOLVER_KEY(gcr_keys, restart), "16", "[1,256]", "vectors",
     "vectors after which the space is begun anew", 0},
    {"preconditioner", PARAM_STRING, offsetof(solver_settings, inner_name), "", NULL, NULL,
     "[solver.NAME] of the preconditioner; empty: none", 0},
};

static const param_section part = PARAM_PART("solver", "gcr", solver_settings, own);
_Static_assert(sizeof(gcr_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of gcr");

const solver_type solver_gcr = {.name = "gcr",
                                .help = "generalised conjugate residuals, with any preconditioner",
                                .keys = "inner_precision delta",
                                .own = &part,
                                .inner_key = "preconditioner",
                                .solve = solve};
