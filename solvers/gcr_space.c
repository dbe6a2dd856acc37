#include "solvers/gcr_space.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

/* gamma_k^2 over |A p_k|^2 from which on z_k is rounding of A p_k: sums of squares of vectors in each precision. */
static const double dependent[PREC_COUNT] = {1e-14, 1e-10, 1e-8, 1e-4};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n, size);
    REQUIRE_MEMORY(p, "out of memory for a Krylov space of %zu numbers", n);
    return p;
}

void gcr_space_open(gcr_space *s, int most, int n)
{
    const size_t m = (size_t)most, columns = (size_t)n;
    *s = (gcr_space){.most = most,
                     .n = n,
                     .room = n,
                     .p = allocate(m, sizeof *s->p),
                     .z = allocate(m, sizeof *s->z),
                     .own_p = allocate(m, sizeof *s->own_p),
                     .own_z = allocate(m, sizeof *s->own_z),
                     .views = allocate(3 * m, sizeof *s->views),
                     .list = allocate(2 * m + 2, sizeof *s->list),
                     .of = allocate(columns, sizeof *s->of),
                     .dots = allocate(columns * (m + 2), sizeof *s->dots),
                     .c = allocate(columns * m, sizeof *s->c),
                     .back = allocate(columns, sizeof *s->back),
                     .many = allocate(columns, sizeof *s->many)};
    for (int j = 0; j < n; j++)
        s->of[j] = (gcr_numbers){.gamma2 = allocate(m, sizeof *s->of[j].gamma2),
                                 .alpha = allocate(m, sizeof *s->of[j].alpha),
                                 .beta = allocate(m * m, sizeof *s->of[j].beta)};
}

void gcr_space_close(gcr_space *s)
{
    for (int k = 0; k < s->most; k++) {
        field_destroy(s->own_p[k]);
        field_destroy(s->own_z[k]);
    }
    for (int j = 0; j < s->room; j++) {
        free(s->of[j].gamma2);
        free(s->of[j].alpha);
        free(s->of[j].beta);
    }
    void *const all[] = {s->p, s->z, s->own_p, s->own_z, s->views, s->list, s->of, s->dots, s->c, s->back, s->many};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* p and z of a slot become those of the first n right-hand sides. */
static void look_at(gcr_space *s, int slot)
{
    field *p = &s->views[2 * slot], *z = p + 1;
    *p = field_columns(s->own_p[slot], 0, s->n);
    *z = field_columns(s->own_z[slot], 0, s->n);
    s->p[slot] = p;
    s->z[slot] = z;
}

void gcr_space_reserve(gcr_space *s, int slot, const linop *op)
{
    if (!s->own_p[slot]) {
        s->own_p[slot] = linop_vector(op, s->room);
        s->own_z[slot] = linop_vector(op, s->room);
    }
    look_at(s, slot);
}

static void move_column(field *f, int to, int from)
{
    field there = field_rhs(f, to);
    const field here = field_rhs(f, from);
    vector_copy(&there, &here);
}

void gcr_space_leave(gcr_space *s, int column, field *r)
{
    const int last = s->n - 1;
    if (column < last) {
        const gcr_numbers left = s->of[column];
        for (int i = 0; i < s->of[last].made; i++) {
            const int slot = (s->of[last].first + i) % s->most;
            move_column(s->p[slot], column, last);
            move_column(s->z[slot], column, last);
        }
        move_column(r, column, last);
        s->of[column] = s->of[last];
        s->of[last] = left;
    }
    s->n = last;
    for (int k = 0; k < s->most && last > 0; k++)
        if (s->own_p[k]) look_at(s, k);
}

/* Numbers of the step from the products d[before + 2] with the z_i, r and A p; returns 0 where p is no new direction. */
static int numbers(const gcr_space *s, gcr_numbers *c, const gcr_pair *d, double least)
{
    const int k = c->k = c->made;
    const gcr_pair *along = d + s->before - k, *with_r = d + s->before;
    const double whole2 = with_r[1][0];
    double gamma2 = whole2;
    for (int i = 0; i < k; i++) {
        for (int part = 0; part < 2; part++) c->beta[i * s->most + k][part] = along[i][part] / c->gamma2[i];
        gamma2 -= (along[i][0] * along[i][0] + along[i][1] * along[i][1]) / c->gamma2[i];
    }
    if (!(gamma2 > least * whole2)) return 0;
    c->gamma2[k] = gamma2;
    c->alpha[k][0] = with_r[0][0] / gamma2;
    c->alpha[k][1] = -with_r[0][1] / gamma2;
    c->r2 -= (with_r[0][0] * with_r[0][0] + with_r[0][1] * with_r[0][1]) / gamma2;
    c->made = k + 1;
    return 1;
}

/* Numbers of a step on a planned lattice, where all products of vectors are one. */
static void count_direction(gcr_numbers *c)
{
    c->k = c->made++;
    c->gamma2[c->k] = 1;
}

void gcr_space_extend(gcr_space *s, char *going, linop *a, const field *r)
{
    field *p = s->p[s->at], *z = s->z[s->at];
    linop_apply(a, z, p, 0);
    s->before = 0;
    for (int j = 0; j < s->n; j++) {
        gcr_numbers *c = &s->of[j];
        if (c->made == 0) c->first = s->at;
        if (going[j] && c->made > s->before) s->before = c->made;
    }
    const int k = s->before;
    for (int i = 0; i < k; i++) s->list[i] = s->z[(s->at - k + i + s->most) % s->most];
    s->list[k] = (field *)r;
    s->list[k + 1] = z;
    vector_multi_dot_each(s->dots, going, k + 2, s->list, z);
    for (int j = 0; j < s->n; j++) {
        if (!going[j]) continue;
        if (z->lat->planned) count_direction(&s->of[j]);
        else going[j] = (char)numbers(s, &s->of[j], (const gcr_pair *)s->dots + j * (k + 2), dependent[z->prec]);
    }
    s->at = (s->at + 1) % s->most;
}

/* Coefficients of m of the z_i from the first on, for those that have going[]. */
static void coefficients(gcr_space *s, const char *going, int first, int m)
{
    for (int j = 0; j < s->n; j++) {
        const gcr_numbers *c = &s->of[j];
        for (int l = 0; l < m && going[j]; l++)
            for (int part = 0; part < 2; part++) s->c[j * m + l][part] = -c->beta[(first + l) * s->most + c->k][part];
        s->many[j] = m;
    }
}

/* The step along direction number k of those for which it has this number. */
static void step_of(gcr_space *s, const char *going, int k, field *next, const field *r)
{
    field **z = s->list + s->before - k, *newest = s->list[s->before + 1];
    int first = 0;
    for (; k - first > MULTI_VIEWS; first += MULTI_VIEWS) {
        coefficients(s, going, first, MULTI_VIEWS);
        vector_multi_axpy_each(going, newest, s->many, MULTI_VIEWS, (const gcr_pair *)s->c, z + first);
    }
    coefficients(s, going, first, k - first);
    for (int j = 0; j < s->n; j++)
        for (int part = 0; part < 2 && going[j]; part++) s->back[j][part] = -s->of[j].alpha[k][part];
    vector_gcr_step_each(going, next, r, (const gcr_pair *)s->back, newest, k - first, (const gcr_pair *)s->c,
                         z + first);
}

void gcr_space_step(gcr_space *s, const char *going, field *next, const field *r)
{
    for (int k = s->before; k >= 0; k--) {
        char these[SOLVER_BLOCK_MOST];
        int many = 0;
        for (int j = 0; j < s->n; j++) many += these[j] = going[j] && s->of[j].k == k;
        if (many > 0) step_of(s, these, k, next, r);
    }
}

/* chi of a right-hand side. */
static void weights(const gcr_space *s, const gcr_numbers *c, gcr_pair *chi)
{
    for (int i = c->made - 1; i >= 0; i--) {
        double re = c->alpha[i][0], im = c->alpha[i][1];
        for (int l = i + 1; l < c->made; l++) {
            const double *b = c->beta[i * s->most + l];
            re -= b[0] * chi[l][0] - b[1] * chi[l][1];
            im -= b[0] * chi[l][1] + b[1] * chi[l][0];
        }
        chi[i][0] = re;
        chi[i][1] = im;
    }
}

/* x += sum_k chi_k p_k over made[j] vectors of each right-hand side, chi[j most + k], in as few passes as possible. */
static void add_directions(const gcr_space *s, field *x, const int *made, const gcr_pair *chi, field *const *p)
{
    char reaches[SOLVER_BLOCK_MOST];
    int many[SOLVER_BLOCK_MOST], longest = 0;
    for (int j = 0; j < x->nrhs; j++)
        if (made[j] > longest) longest = made[j];
    for (int first = 0; first < longest; first += MULTI_VIEWS) {
        for (int j = 0; j < x->nrhs; j++) {
            const int left = made[j] - first;
            reaches[j] = left > 0;
            many[j] = left < MULTI_VIEWS ? left : MULTI_VIEWS;
        }
        vector_multi_axpy_each(reaches, x, many, s->most, chi + first, p + first);
    }
}

void gcr_space_solution(gcr_space *s, field *x)
{
    int made[SOLVER_BLOCK_MOST], first = 0;
    for (int j = 0; j < s->n; j++) {
        gcr_numbers *c = &s->of[j];
        made[j] = c->made;
        if (c->made > 0) first = c->first;
        weights(s, c, s->c + j * s->most);
    }
    for (int j = 0; j < s->n; j++) {
        REQUIRE(made[j] == 0 || s->of[j].first == first, "spaces from slots %d and %d", s->of[j].first, first);
        s->of[j].made = 0;
    }
    field **p = s->list + s->most + 2;
    for (int i = 0; i < s->most; i++) p[i] = s->p[(first + i) % s->most];
    add_directions(s, x, made, (const gcr_pair *)s->c, p);
}

void gcr_space_solution_of(gcr_space *s, int column, field *x)
{
    gcr_numbers *c = &s->of[column];
    field *one = s->views + 2 * s->most, **p = s->list + s->most + 2;
    weights(s, c, s->c);
    for (int i = 0; i < c->made; i++) {
        one[i] = field_rhs(s->p[(c->first + i) % s->most], column);
        p[i] = &one[i];
    }
    add_directions(s, x, &c->made, (const gcr_pair *)s->c, p);
    c->made = 0;
}
