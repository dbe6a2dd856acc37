/* Links of staggered quarks with what they are made of, and solves with them. */
#ifndef PLAQ_TESTS_OPERATORS_SCENE_H
#define PLAQ_TESTS_OPERATORS_SCENE_H

#include "operators/staggered.h"
#include "solvers/solver.h"
#include "tests/kernels/kit.h"
#include "tests/operators/staggered.h"
#include "tests/solve.h"

typedef struct {
    struct ref_lattice l;
    lattice *lat;
    double complex *u;
    field *thin;
    staggered_links *links, *base; /* base: of which links are siblings, or null */
    double complex *near, *far;    /* the oracle's; far is null where there are none */
} scene;

CHECK_UNUSED static int open_scene(scene *s, struct ref_lattice l, const double complex *u, const staggered_smearing *k,
                                   int sign)
{
    *s = (scene){.l = l, .lat = kit_lattice(l, has_far(k) ? 3 : 1, sign)};
    if (!s->lat) return 0;
    s->u = kit_copy(u, 36 * ref_volume(l) * sizeof *u);
    s->thin = kit_links(s->lat, u);
    s->links = staggered_links_create(s->thin, k);
    s->near = ref_gauge_new(l);
    s->far = has_far(k) ? ref_gauge_new(l) : NULL;
    return 1;
}

CHECK_UNUSED static void close_scene(scene *s)
{
    staggered_links_destroy(s->links);
    staggered_links_destroy(s->base);
    field_destroy(s->thin);
    lattice_destroy(s->lat);
    free(s->u);
    free(s->near);
    free(s->far);
}

CHECK_UNUSED static solver_settings settings_of(precision inner, double tolerance)
{
    solver_settings set = {
        .type = param_kind(solver_section(0), "cg"), .max_iterations = 3000, .tolerance = tolerance, .delta = 0.1};
    set.inner_precision = inner;
    return set;
}

CHECK_UNUSED static field *solve_whole(staggered *m, linop *op, const field *b, const solver_settings *set)
{
    field *source = linop_vector(op, 1), *half = linop_vector(op, 1), *x = field_like(b);
    staggered_prepare(m, source, b);
    KIT_INT(solve_by(set, op, half, source).status, SOLVE_CONVERGED);
    staggered_reconstruct(m, x, half, b);
    field_destroy(source);
    field_destroy(half);
    return x;
}

#endif
