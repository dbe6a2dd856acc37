/* A quark on 2^3 x 4 with the dense inverse of its M, for tests of what is estimated of it by noise. */
#ifndef PLAQ_TESTS_INVERSE_H
#define PLAQ_TESTS_INVERSE_H

#include "tests/hmc/observe.h"
#include "tests/kernels/kit.h"

#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_linalg.h>

#include "solvers/block_cg.h"

static const struct ref_lattice shape = {{2, 2, 2, 4}};
enum { SITES = 32 };

typedef struct {
    parameters *p;
    fermion *q;
    field *links;
    double complex *u;     /* the links, in the order of tests/reference */
    int n;                 /* components */
    gsl_matrix_complex *A; /* M^-1 */
    named_measure m;
} scene;

CHECK_UNUSED static gsl_complex at(const gsl_matrix_complex *a, int i, int j)
{
    return gsl_matrix_complex_get(a, (size_t)i, (size_t)j);
}

/* M of a quark of n components by its columns. */
static gsl_matrix_complex *dense(fermion *q, size_t n)
{
    gsl_matrix_complex *m = gsl_matrix_complex_alloc(n, n);
    field *x = fermion_vector(q), *y = field_like(x);
    for (size_t j = 0; j < n; j++) {
        double *unit = kit_alloc(2 * n, sizeof *unit);
        unit[2 * j] = 1;
        kit_scatter(x, unit);
        free(unit);
        fermion_apply(q, y, x, 0);
        double *column = kit_gather(y);
        for (size_t i = 0; i < n; i++)
            gsl_matrix_complex_set(m, i, j, gsl_complex_rect(column[2 * i], column[2 * i + 1]));
        free(column);
    }
    field_destroy(y);
    field_destroy(x);
    return m;
}

static void invert(scene *s)
{
    const size_t n = (size_t)s->n;
    gsl_matrix_complex *m = dense(s->q, n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    int sign;
    s->A = gsl_matrix_complex_alloc(n, n);
    gsl_linalg_complex_LU_decomp(m, order, &sign);
    gsl_linalg_complex_LU_invert(m, order, s->A);
    gsl_permutation_free(order);
    gsl_matrix_complex_free(m);
}

/* The measurement of this kind, with so many vectors. */
CHECK_UNUSED static void open_scene(scene *s, const char *kind, double mass, const char *observable,
                                    const char *vectors)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 84);
    s->p = observe_parameters(kind, mass);
    s->p->run.seed = 17;
    solver_settings *set = &s->p->solvers[0].p;
    set->type = param_kind(solver_section(0), "block_cg");
    block_cg_keys_of(set)->block_size = 32;
    set->tolerance = 1e-11;
    set->delta = 0.1;
    lattice *lat = kit_lattice(shape, 1, -1);
    s->u = kit_random_gauge(shape, 0.4, &rng);
    s->links = kit_links(lat, s->u);
    s->q = quark_kind_number(param_kind(quark_section(0), kind))->make(s->links, &s->p->quarks[0].p, NULL, 0);
    field *x = fermion_vector(s->q);
    s->n = SITES * x->reals / 2;
    field_destroy(x);
    s->m = observe_section(observable);
    observe_set(&s->m, "vectors", vectors);
    invert(s);
}

CHECK_UNUSED static void close_scene(scene *s)
{
    const lattice *lat = s->links->lat;
    gsl_matrix_complex_free(s->A);
    free(s->u);
    fermion_destroy(s->q);
    field_destroy(s->links);
    lattice_destroy((lattice *)lat);
}

#endif
