#include "solvers/transform.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

fifth_transform transform_first(int Ls, int from, double mu)
{
    fifth_transform t = {domainwall_matrix(Ls, from), mu};
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < Ls; s++) t.T.of[c][s][s < Ls / 2 ? s : from - Ls + s] = 1;
    return t;
}

/* ---- the loss ---- */

/* g_st += 2 sum_x Re y_s^dagger x_t, chirality by chirality. */
static void add_products(fifth_matrix *g, const field *y, const field *x)
{
    double products[DOMAINWALL_SLICES][2];
    field slices[DOMAINWALL_SLICES], *each[DOMAINWALL_SLICES], *upper = field_scratch(y);
    fifth_matrix keep = domainwall_matrix(g->Ls, g->Ls);
    for (int s = 0; s < g->Ls; s++) keep.of[0][s][s] = 1;
    domainwall_map(upper, &keep, 0, y);
    for (int t = 0; t < g->from; t++) {
        slices[t] = field_group(x, t);
        each[t] = &slices[t];
    }
    for (int s = 0; s < g->Ls; s++) {
        const field of_upper = field_group(upper, s), of_both = field_group(y, s);
        vector_multi_dot(products, g->from, each, &of_upper, 0);
        for (int t = 0; t < g->from; t++) {
            g->of[0][s][t] += 2 * products[t][0];
            g->of[1][s][t] -= 2 * products[t][0];
        }
        vector_multi_dot(products, g->from, each, &of_both, 0);
        for (int t = 0; t < g->from; t++) g->of[1][s][t] += 2 * products[t][0];
    }
    field_destroy(upper);
}

/* z = (T^dagger u + mu v), with w = T v and u = K w. */
static void transformed(const transform_samples *s, const fifth_transform *t, field *z, field *u, field *w,
                        const field *v)
{
    domainwall_map(w, &t->T, 0, v);
    solver_precondition(s->inside, NULL, u, w, NULL);
    domainwall_fifth(z, v->par, 1, &t->T, 1, u, t->mu, v);
}

/* d |e|^2 = 2 Re (f^dagger dT^dagger u + (K T f)^dagger dT v) with e = M z - v and f = M e, for M and K Hermitian. */
double transform_loss(const transform_samples *s, const fifth_transform *t, fifth_matrix *gradient)
{
    double loss = 0, norm = 0;
    linop *few = linop_at(s->inside->a, s->a->prec, s->a->where);
    field *z = linop_vector(s->a, 1), *e = field_like(z), *w = linop_vector(few, 1), *u = field_like(w);
    if (gradient) *gradient = domainwall_matrix(t->T.Ls, t->T.from);
    for (int i = 0; i < s->n; i++) {
        transformed(s, t, z, u, w, s->v[i]);
        linop_apply(s->a, e, z, 0);
        loss += vector_axpby_norm2(e, -1, s->v[i], 1, 0);
        norm += vector_norm2(s->v[i], 0);
        if (!gradient) continue;
        field *f = z, *g = u;
        linop_apply(s->a, f, e, 0);
        add_products(gradient, u, f);
        domainwall_map(w, &t->T, 0, f);
        solver_precondition(s->inside, NULL, g, w, NULL);
        add_products(gradient, g, s->v[i]);
    }
    for (int c = 0; gradient && c < 2; c++)
        for (int k = 0; k < t->T.Ls; k++)
            for (int l = 0; l < t->T.from; l++) gradient->of[c][k][l] /= norm;
    field *all[] = {z, e, w, u};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    return loss / norm;
}

/* ---- training ---- */

typedef struct {
    const transform_samples *s;
    fifth_transform t;
} search;

static size_t unknowns(const fifth_matrix *m)
{
    return 2 * (size_t)m->Ls * (size_t)m->from;
}

static double *element(fifth_matrix *m, size_t i)
{
    const size_t from = (size_t)m->from, rest = i / from;
    return &m->of[rest / (size_t)m->Ls][rest % (size_t)m->Ls][i % from];
}

static void evaluate(const gsl_vector *x, void *of, double *loss, gsl_vector *gradient)
{
    search *q = of;
    fifth_matrix g;
    for (size_t i = 0; i < x->size; i++) *element(&q->t.T, i) = gsl_vector_get(x, i);
    *loss = transform_loss(q->s, &q->t, gradient ? &g : NULL);
    for (size_t i = 0; gradient && i < x->size; i++) gsl_vector_set(gradient, i, *element(&g, i));
}

static double value(const gsl_vector *x, void *of)
{
    double loss;
    evaluate(x, of, &loss, NULL);
    return loss;
}

static void derivative(const gsl_vector *x, void *of, gsl_vector *gradient)
{
    double loss;
    evaluate(x, of, &loss, gradient);
}

double transform_train(const transform_samples *s, fifth_transform *t, int steps)
{
    search q = {s, *t};
    const size_t n = unknowns(&t->T);
    gsl_multimin_function_fdf f = {value, derivative, evaluate, n, &q};
    gsl_multimin_fdfminimizer *m = gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, n);
    gsl_vector *x = gsl_vector_alloc(n);
    REQUIRE_MEMORY(m && x, "out of memory for %zu unknowns", n);
    for (size_t i = 0; i < n; i++) gsl_vector_set(x, i, *element(&q.t.T, i));
    gsl_multimin_fdfminimizer_set(m, &f, x, 0.01, 0.1);
    /* The search ends where the line gets no lower, as when K is too far from linear. */
    for (int k = 0; k < steps && gsl_multimin_fdfminimizer_iterate(m) == GSL_SUCCESS; k++) continue;
    for (size_t i = 0; i < n; i++) *element(&t->T, i) = gsl_vector_get(m->x, i);
    const double loss = m->f;
    gsl_vector_free(x);
    gsl_multimin_fdfminimizer_free(m);
    return loss;
}
