#include "solvers/eigen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_eigen.h>

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"
#include "solvers/block_matrix.h"
#include "solvers/lanczos.h"

#define AMPLIFICATION 7.0 /* log of twice the polynomial at zero */
#define FIRST_CUTOFF 0.05 /* over the bound, where nothing is known yet */
#define ADAPTIONS 4       /* adaptions of the cutoff by rule */
#define LAST_CUTOFF 0.9   /* over the bound: the highest that is tried */
#define ABOVE_ONE 1.01    /* values of B above which an eigenvalue of A is surely below the cutoff */
#define ORDER_BY_RULE 2000
#define ORDER_MOST 10000
/* Log of twice the polynomial at zero, at most: beyond it the vectors next to the cutoff drown in rounding. */
#define AMPLIFICATION_MOST 25.0
#define SEARCHES 2 /* cycles from random vectors after which there is no other pair */

/* ---- pairs ---- */

eigen_pairs *eigen_alloc(const linop *a, int n, int block)
{
    eigen_pairs *e = calloc(1, sizeof *e);
    REQUIRE_MEMORY(e, "out of memory");
    *e = (eigen_pairs){.n = n, .block = block, .nblocks = (n + block - 1) / block};
    e->values = calloc((size_t)n, sizeof *e->values);
    e->residuals = calloc((size_t)n, sizeof *e->residuals);
    e->blocks = calloc((size_t)e->nblocks, sizeof *e->blocks);
    REQUIRE_MEMORY(e->values && e->residuals && e->blocks, "out of memory for %d pairs", n);
    for (int k = 0; k < e->nblocks; k++) e->blocks[k] = linop_vector(a, n - k * block < block ? n - k * block : block);
    return e;
}

void eigen_free(eigen_pairs *e)
{
    if (!e) return;
    for (int k = 0; k < e->nblocks; k++) field_destroy(e->blocks[k]);
    free(e->blocks);
    free(e->residuals);
    free(e->values);
    free(e);
}

/* x += sum over the first `modes` pairs of v (v, r) / value. */
static void add_modes(const eigen_pairs *e, int modes, field *x, const field *r)
{
    for (int k = 0; k < e->nblocks && k * e->block < modes; k++) {
        block_matrix *c = block_dot(e->blocks[k], r, 0);
        for (size_t i = 0; i < c->size1; i++)
            for (size_t j = 0; j < c->size2; j++) {
                const int pair = k * e->block + (int)i;
                const double factor = pair >= modes ? 0 : 1 / e->values[pair];
                gsl_matrix_complex_set(c, i, j, gsl_complex_mul_real(gsl_matrix_complex_get(c, i, j), factor));
            }
        block_axpy(x, 1, c, e->blocks[k], 1, x);
        block_free(c);
    }
}

void eigen_deflate(const eigen_pairs *e, int modes, const linop *a, int of_normal, field *x, const field *b)
{
    field *r = field_like(b);
    linop_apply(a, r, x, 0);
    vector_axpby(r, 1, b, -1);
    if (of_normal) {
        field *const other = field_like(b);
        linop_apply(a, other, r, 1);
        field_destroy(r);
        r = other;
    }
    add_modes(e, modes, x, r);
    field_destroy(r);
}

/* ---- the process ---- */

typedef struct {
    const eigen_settings *settings;
    linop *a;
    double high, cutoff;
    int order, width;
    int most, keep; /* blocks of the basis, and those that a restart keeps: one more than are wanted */
    int n;          /* blocks that B was applied to; v[n] is the next one */
    field **v;
    block_matrix *H; /* V^dagger B V of n blocks */
    block_matrix *C; /* B V - V H = v[n] C in the last block, zero elsewhere */
    long applications;
    int given;        /* the cutoff is that of the settings */
    int cycles;       /* since the cutoff was set */
    uint32_t numbers; /* random blocks so far */
    double *ritz;     /* Ritz values of B, descending, with the eigenvectors of H and estimates of residuals of A */
    double *estimate;
    block_matrix *Y;
} process;

static double scale_of(const process *p)
{
    return 2 / (p->high - p->cutoff);
}

static double shift_of(const process *p)
{
    return (p->high + p->cutoff) / (p->high - p->cutoff);
}

/* B x, by the recurrence T_(k+1)(y) = 2 y T_k(y) - T_(k-1)(y). */
static field *filtered(process *p, const field *x)
{
    const double s = scale_of(p), d = shift_of(p);
    field *before = field_like(x), *now = field_like(x), *next = field_like(x);
    vector_copy(before, x);
    linop_apply(p->a, now, x, 0);
    vector_axpby(now, -d, x, s);
    for (int k = 1; k < p->order; k++) {
        linop_apply(p->a, next, now, 0);
        vector_axpby(next, -2 * d, now, 2 * s);
        vector_axpby(next, -1, before, 1);
        field *const old = before;
        before = now;
        now = next;
        next = old;
    }
    p->applications += (long)p->order * x->nrhs;
    field_destroy(before);
    field_destroy(next);
    return now;
}

/* The eigenvalue of A to which one of B belongs that is above 1; the cutoff for others. */
static double unfiltered(const process *p, double b)
{
    if (!(b > 1)) return p->cutoff;
    return (shift_of(p) - cosh(acosh(b) / p->order)) / scale_of(p);
}

/* Residual of A over |B v - b v|, at most: |lambda - mu| over |B(lambda) - B(mu)| is largest for mu next to lambda, or for mu
 * above the cutoff. */
static double residual_factor(const process *p, double b)
{
    if (!(b > 1)) return INFINITY;
    const double angle = acosh(b) / p->order, slope = p->order * scale_of(p) * sinh(p->order * angle) / sinh(angle);
    return fmax(1 / slope, p->high / (b - 1));
}

/* w without its parts along the first n blocks, twice; what was taken goes to the last block of columns of H, if `into`. */
static void orthogonalise(process *p, field *w, int n, int into)
{
    const size_t width = (size_t)p->width;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < n; j++) {
            block_matrix *h = block_dot(p->v[j], w, 0);
            block_axpy(w, -1, h, p->v[j], 1, w);
            if (into) {
                gsl_matrix_complex_view to =
                    gsl_matrix_complex_submatrix(p->H, (size_t)j * width, (size_t)(n - 1) * width, width, width);
                gsl_matrix_complex_add(&to.matrix, h);
            }
            block_free(h);
        }
}

static field *random_block(process *p)
{
    field *f = linop_vector(p->a, p->width);
    vector_random(f, p->settings->seed, RANDOM_LANCZOS, 1 + p->numbers++);
    return f;
}

/* Orthonormal columns, as many as there are; those that are missing are random ones orthogonal to the first n blocks. Gives
 * C of w = Q C. */
static field *orthonormal(process *p, field *w, int n, block_matrix **C)
{
    field *spare = field_like(w);
    block_matrix *c = block_qr(&w, &spare, NULL);
    field_destroy(spare);
    *C = block_zero(p->width, p->width);
    const int rank = c ? w->nrhs : 0;
    for (int i = 0; i < rank; i++)
        for (size_t j = 0; j < (size_t)p->width; j++)
            gsl_matrix_complex_set(*C, (size_t)i, j, gsl_matrix_complex_get(c, (size_t)i, j));
    block_free(c);
    if (rank == p->width) return w;
    field *full = random_block(p);
    if (rank > 0) {
        field part = field_columns(full, 0, rank);
        vector_copy(&part, w);
        field_written(full);
    }
    field_destroy(w);
    orthogonalise(p, full, n, 0);
    spare = field_like(full);
    c = block_qr(&full, &spare, NULL);
    REQUIRE(c && full->nrhs == p->width, "no %d vectors beside %d", p->width, n * p->width);
    field_destroy(spare);
    block_free(c);
    return full;
}

/* Expands the space from n blocks to all. */
static void expand(process *p)
{
    while (p->n < p->most) {
        field *w = filtered(p, p->v[p->n]);
        p->n++;
        orthogonalise(p, w, p->n, 1);
        block_free(p->C);
        p->v[p->n] = orthonormal(p, w, p->n, &p->C);
    }
}

/* Eigenvalues of H, and residuals as the process sees them. */
static void diagonalise(process *p)
{
    const size_t m = (size_t)(p->n * p->width), width = (size_t)p->width;
    block_matrix *h = block_zero((int)m, (int)m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = i; j < m; j++) {
            const gsl_complex x = gsl_matrix_complex_get(p->H, i, j);
            gsl_matrix_complex_set(h, i, j, i == j ? gsl_complex_rect(GSL_REAL(x), 0) : x);
            if (i != j) gsl_matrix_complex_set(h, j, i, gsl_complex_conjugate(x));
        }
    gsl_vector *e = gsl_vector_alloc(m);
    gsl_eigen_hermv_workspace *work = gsl_eigen_hermv_alloc(m);
    block_free(p->Y);
    p->Y = block_zero((int)m, (int)m);
    gsl_eigen_hermv(h, e, p->Y, work);
    gsl_eigen_hermv_sort(e, p->Y, GSL_EIGEN_SORT_VAL_DESC);
    gsl_matrix_complex_const_view last = gsl_matrix_complex_const_submatrix(p->Y, m - width, 0, width, m);
    block_matrix *rest = block_product(p->C, 0, &last.matrix, 0);
    for (size_t i = 0; i < m; i++) {
        p->ritz[i] = gsl_vector_get(e, i);
        p->estimate[i] = sqrt(block_column_norm2(rest, (int)i)) * residual_factor(p, p->ritz[i]);
    }
    block_free(rest);
    gsl_eigen_hermv_free(work);
    gsl_vector_free(e);
    block_free(h);
}

/* The first `blocks` blocks of V Y. */
static field **rotated(const process *p, field *const *v, int n, const block_matrix *Y, int blocks)
{
    const size_t width = (size_t)p->width;
    field **out = calloc((size_t)blocks, sizeof *out);
    REQUIRE_MEMORY(out, "out of memory");
    for (int j = 0; j < blocks; j++) {
        out[j] = field_like(v[0]);
        for (int i = 0; i < n; i++) {
            gsl_matrix_complex_const_view y =
                gsl_matrix_complex_const_submatrix(Y, (size_t)i * width, (size_t)j * width, width, width);
            block_axpy(out[j], 1, &y.matrix, v[i], i ? 1 : 0, out[j]);
        }
    }
    return out;
}

/* The basis becomes the first blocks of Ritz vectors, and the next block stays. */
static void restart(process *p)
{
    field **kept = rotated(p, p->v, p->n, p->Y, p->keep), *next = p->v[p->n];
    for (int j = 0; j < p->n; j++) field_destroy(p->v[j]);
    for (int j = 0; j < p->keep; j++) p->v[j] = kept[j];
    free(kept);
    p->v[p->keep] = next;
    p->n = p->keep;
    gsl_matrix_complex_set_zero(p->H);
    for (int i = 0; i < p->keep * p->width; i++)
        gsl_matrix_complex_set(p->H, (size_t)i, (size_t)i, gsl_complex_rect(p->ritz[i], 0));
}

/* The next block becomes a random one. */
static void search(process *p)
{
    field *w = random_block(p);
    block_matrix *c;
    orthogonalise(p, w, p->n, 0);
    field_destroy(p->v[p->n]);
    p->v[p->n] = orthonormal(p, w, p->n, &c);
    block_free(c);
}

/* ---- the polynomial ---- */

/* The even order at which log of twice the polynomial at zero reaches AMPLIFICATION. */
static int order_by_rule(const process *p)
{
    return 2 * (int)fmin(ceil(0.5 * AMPLIFICATION / acosh(shift_of(p))), ORDER_BY_RULE / 2);
}

/* The highest even order at which it is no more than AMPLIFICATION_MOST. */
static int highest_order(const process *p)
{
    return 2 * (int)fmax(fmin(0.5 * AMPLIFICATION_MOST / acosh(shift_of(p)), ORDER_MOST / 2), 1);
}

static void set_cutoff(process *p, double cutoff)
{
    const int given = p->settings->order;
    p->cutoff = cutoff;
    p->cycles = 0;
    const int most = highest_order(p);
    p->order = given ? given : order_by_rule(p);
    if (!given || given <= most) return;
    p->order = most;
    log_info("eigenvectors: order %d instead of %d, the highest that rounding allows with a cutoff of %.4g of %.4g",
             most, given, cutoff, p->high);
}

/* The process begins anew with another polynomial, from sums of the Ritz vectors. */
static void begin_anew(process *p, double cutoff)
{
    restart(p);
    for (int j = 1; j < p->keep; j++) vector_axpby(p->v[0], 1, p->v[j], 1);
    for (int j = 1; j <= p->keep; j++) field_destroy(p->v[j]);
    p->n = 0;
    block_matrix *c;
    p->v[0] = orthonormal(p, p->v[0], 0, &c);
    block_free(c);
    gsl_matrix_complex_set_zero(p->H);
    set_cutoff(p, cutoff);
}

/* Cutoff by rule: just above those that are kept. */
static int adapt(process *p)
{
    const double last = p->ritz[p->keep * p->width - 1], wanted = last > 1 ? 1.2 * unfiltered(p, last) : 3 * p->cutoff;
    if (last > 1 && wanted > 0.6 * p->cutoff) return 0;
    if (!(wanted > 0 && wanted < 0.5 * p->high)) return 0;
    begin_anew(p, wanted);
    return 1;
}

/* A higher cutoff, if fewer Ritz values than pairs are below this one. The first cycle, which has not converged, does not
 * tell yet. */
static int raise_cutoff(process *p, int settled)
{
    const double wanted = fmin(fmax(3 * p->cutoff, FIRST_CUTOFF * p->high), LAST_CUTOFF * p->high);
    const int pairs = p->settings->pairs;
    int below = 0;
    while (below < pairs && p->ritz[below] > ABOVE_ONE) below++;
    if (below == pairs || (below > 0 && p->cycles < 2 && !settled) || !(wanted > p->cutoff)) return 0;
    if (p->given)
        log_warn("eigenvectors: the cutoff %.4g is too low: %d of %d eigenvalues are below it; it is raised to %.4g",
                 p->cutoff, below, pairs, wanted);
    p->given = 0;
    begin_anew(p, wanted);
    return 1;
}

/* ---- pairs of A ---- */

/* Whole blocks: a vector that has not converged would mix with those of its multiplet that have. */
static int wanted_blocks(const process *p)
{
    return p->keep - 1;
}

/* The blocks in which A is diagonal, with its values. */
static field **pairs_of(process *p, double *values)
{
    const int blocks = wanted_blocks(p), m = blocks * p->width;
    const size_t width = (size_t)p->width;
    field **v = rotated(p, p->v, p->n, p->Y, blocks), *w = field_like(p->v[0]);
    block_matrix *g = block_zero(m, m), *y = block_zero(m, m);
    for (int j = 0; j < blocks; j++) {
        linop_apply(p->a, w, v[j], 0);
        for (int i = 0; i < blocks; i++) {
            block_matrix *h = block_dot(v[i], w, 0);
            gsl_matrix_complex_view to =
                gsl_matrix_complex_submatrix(g, (size_t)i * width, (size_t)j * width, width, width);
            gsl_matrix_complex_memcpy(&to.matrix, h);
            block_free(h);
        }
    }
    p->applications += m;
    for (int i = 0; i < m; i++)
        gsl_matrix_complex_set(g, (size_t)i, (size_t)i,
                               gsl_complex_rect(GSL_REAL(gsl_matrix_complex_get(g, (size_t)i, (size_t)i)), 0));
    gsl_vector *e = gsl_vector_alloc((size_t)m);
    gsl_eigen_hermv_workspace *work = gsl_eigen_hermv_alloc((size_t)m);
    gsl_eigen_hermv(g, e, y, work);
    gsl_eigen_hermv_sort(e, y, GSL_EIGEN_SORT_VAL_ASC);
    for (int i = 0; i < m; i++) values[i] = gsl_vector_get(e, (size_t)i);
    field **out = rotated(p, v, blocks, y, blocks);
    gsl_eigen_hermv_free(work);
    gsl_vector_free(e);
    block_free(y);
    block_free(g);
    field_destroy(w);
    for (int j = 0; j < blocks; j++) field_destroy(v[j]);
    free(v);
    return out;
}

/* The wanted pairs with their true residuals; true if all are below the tolerance, and their values below the cutoff: those
 * above it are not the lowest. */
static int finish(process *p, eigen_pairs *e)
{
    const int blocks = wanted_blocks(p);
    double *values = calloc((size_t)(blocks * p->width), sizeof *values), minus[BLOCK_MOST], one[BLOCK_MOST],
           norm2[BLOCK_MOST];
    REQUIRE_MEMORY(values, "out of memory");
    field **found = pairs_of(p, values), *w = field_like(found[0]);
    e->converged = 1;
    for (int j = 0; j < blocks; j++) {
        linop_apply(p->a, w, found[j], 0);
        for (int i = 0; i < p->width; i++) {
            minus[i] = -values[j * p->width + i];
            one[i] = 1;
        }
        vector_axpby_norm2_each(norm2, w, minus, found[j], one);
        for (int i = 0; i < p->width && j * p->width + i < e->n; i++) {
            const int k = j * p->width + i;
            e->values[k] = values[k];
            e->residuals[k] = sqrt(norm2[i]) / p->high;
            if (!(e->residuals[k] <= p->settings->tolerance)) e->converged = 0;
        }
        const field wanted = field_columns(found[j], 0, e->blocks[j]->nrhs);
        vector_copy(e->blocks[j], &wanted);
        field_destroy(found[j]);
    }
    if (!(e->values[e->n - 1] < p->cutoff)) e->converged = 0;
    field_destroy(w);
    free(found);
    free(values);
    return e->converged;
}

/* ---- entries ---- */

/* Complex components of a vector. */
static double dimension(const linop *a)
{
    const double sites = (double)a->lat->volume / (a->par == PARITY_BOTH ? 1 : 2);
    return sites * field_kinds[a->shape.kind].reals / 2 * a->shape.Ls;
}

static int basis_of(const eigen_settings *s, const linop *a)
{
    const double most = dimension(a) / 2;
    if (s->basis) return s->basis;
    const double wanted = 2.5 * s->pairs + 4 * s->block;
    return (int)(wanted < most ? wanted : most);
}

const char *eigen_fits(const eigen_settings *s, const linop *a, char *message, size_t size)
{
    const int basis = basis_of(s, a), most = (int)(dimension(a) / 2), pairs = most - 3 * s->block;
    if (pairs < 1)
        snprintf(message, size,
                 "blocks of %d vectors are too large for an operator on %.0f components; at most %d are possible",
                 s->block, dimension(a), (most - 1) / 3);
    else if (s->pairs > pairs)
        snprintf(message, size, "%d pairs: an operator on %.0f components has at most %d, in blocks of %d vectors",
                 s->pairs, dimension(a), pairs, s->block);
    else if (basis < s->pairs + 3 * s->block || basis > most)
        snprintf(message, size, "a basis of %d vectors: %d pairs in blocks of %d need %d, and %d are possible", basis,
                 s->pairs, s->block, s->pairs + 3 * s->block, most);
    else return NULL;
    return message;
}

/* A given cutoff and order that are of use on this spectrum; else a message. Of a plan the spectrum is not known. */
static int fits_spectrum(const process *p, char *message, size_t size)
{
    const eigen_settings *s = p->settings;
    if (p->a->lat->planned || !(s->cutoff > 0)) return 1;
    if (!(s->cutoff < p->high)) {
        snprintf(
            message, size,
            "a cutoff of %g is above the spectrum, which ends below %.6g; give one just above the wanted eigenvalues, "
            "or none",
            s->cutoff, p->high);
        return 0;
    }
    const process given = {.high = p->high, .cutoff = s->cutoff};
    const int most = highest_order(&given);
    if (s->order <= most) return 1;
    snprintf(
        message, size,
        "an order of %d is too high with a cutoff of %g of %.6g: rounding allows at most %d; give that, or no order",
        s->order, s->cutoff, p->high, most);
    return 0;
}

static int open_process(process *p, const eigen_settings *s, linop *a, char *message, size_t size)
{
    const spectrum ends = lanczos_bounds(a, s->seed, 200, 0.01);
    *p = (process){.settings = s, .a = a, .width = s->block, .applications = ends.steps, .given = s->cutoff > 0};
    p->high = 1.02 * (ends.high + ends.high_error);
    if (!fits_spectrum(p, message, size)) return 0;
    p->most = basis_of(s, a) / p->width;
    p->keep = (s->pairs + p->width - 1) / p->width + 1;
    const size_t m = (size_t)(p->most * p->width);
    p->v = calloc((size_t)p->most + 1, sizeof *p->v);
    p->ritz = calloc(m, sizeof *p->ritz);
    p->estimate = calloc(m, sizeof *p->estimate);
    p->H = block_zero((int)m, (int)m);
    REQUIRE_MEMORY(p->v && p->ritz && p->estimate && p->H, "out of memory for a basis of %zu vectors", m);
    set_cutoff(p, p->given ? s->cutoff : FIRST_CUTOFF * p->high);
    block_matrix *c;
    p->v[0] = orthonormal(p, random_block(p), 0, &c);
    block_free(c);
    return 1;
}

static void close_process(process *p)
{
    for (int j = 0; j <= p->n; j++) field_destroy(p->v[j]);
    free(p->v);
    free(p->estimate);
    free(p->ritz);
    block_free(p->H);
    block_free(p->C);
    block_free(p->Y);
}

static double worst_of(const process *p)
{
    double worst = 0;
    for (int i = 0; i < wanted_blocks(p) * p->width; i++) worst = fmax(worst, p->estimate[i]);
    return worst / p->high;
}

/* True if the wanted Ritz values are those of before. */
static int same_values(const process *p, const double *before)
{
    for (int i = 0; i < p->settings->pairs; i++)
        if (fabs(p->ritz[i] - before[i]) > 1e-6 * fabs(before[i])) return 0;
    return 1;
}

eigen_pairs *eigen_solve(const eigen_settings *s, linop *a, char *message, size_t size)
{
    const double start = comm_wtime();
    process p;
    linop_refresh(a);
    if (!open_process(&p, s, a, message, size)) return NULL;
    eigen_pairs *e = eigen_alloc(a, s->pairs, s->block);
    double *before = calloc((size_t)s->pairs, sizeof *before), tolerance = s->tolerance;
    REQUIRE_MEMORY(before, "out of memory");
    int adaptions = 0, searches = 0;
    for (e->restarts = 0;; e->restarts++) {
        expand(&p);
        diagonalise(&p);
        const double worst = worst_of(&p);
        log_info("eigenvectors: cycle %d, order %d, cutoff %.4g, %ld applications, lowest %.10g, residual %.2e",
                 e->restarts, p.order, p.cutoff, p.applications, unfiltered(&p, p.ritz[0]), worst);
        const int last = e->restarts >= s->restarts || a->lat->planned;
        p.cycles++;
        const int by_rule = !p.given && adaptions < ADAPTIONS;
        if (!last && ((by_rule && adapt(&p)) || raise_cutoff(&p, worst <= tolerance))) {
            adaptions++;
            searches = 0;
            continue;
        }
        /* Pairs that the search finds count only if they are lower. */
        if (searches && !same_values(&p, before)) searches = 0;
        if (searches == SEARCHES) break;
        const int done = !searches && worst <= tolerance && (finish(&p, e) || last);
        if (!searches && !done && worst <= tolerance) tolerance *= 0.1;
        if (last) {
            if (!searches && !done) finish(&p, e);
            break;
        }
        for (int i = 0; done && i < s->pairs; i++) before[i] = p.ritz[i];
        restart(&p);
        if (done) search(&p);
        searches += searches || done;
    }
    e->order = p.order;
    e->applications = p.applications;
    e->high = p.high;
    e->cutoff = p.cutoff;
    free(before);
    close_process(&p);
    e->seconds = comm_wtime() - start;
    return e;
}
