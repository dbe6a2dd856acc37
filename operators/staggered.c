#include "operators/staggered.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"

typedef struct {
    linop base;
    staggered *s;
    field *work;
} normal;

struct staggered {
    staggered_links *links;
    double mass;
    parity p, q;
    normal *normals[PREC_COUNT][2];
};

/* y = a D x + b add on parity p */
static void hop(staggered *s, field *y, parity p, const field *x, double a, double b, const field *add)
{
    const staggered_pair *l = staggered_links_at(s->links, x->prec, x->where);
    const staggered_call call = {.a = a,
                                 .b = b,
                                 .near = l->near,
                                 .far = l->far,
                                 .far_phases = l->far_phases,
                                 .near_scale = l->near_scale,
                                 .far_scale = l->far_scale,
                                 .add = add};
    staggered_hop(y, p, x, &call);
}

/* ---- the normal operator ---- */

static void apply_shifted(const linop *op, field *y, const field *x, double shift)
{
    normal *n = (normal *)op;
    staggered *s = n->s;
    if (!n->work || n->work->groups != x->groups) {
        field_destroy(n->work);
        n->work = field_create(x->lat, FIELD_VECTOR, x->prec, s->q, x->groups, x->where);
    }
    hop(s, n->work, s->q, x, 1, 0, NULL);
    hop(s, y, s->p, n->work, -0.25, s->mass * s->mass + shift, x);
}

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    (void)dagger; /* Hermitian */
    apply_shifted(op, y, x, 0);
}

static linop *normal_at(staggered *s, precision prec, place where);

static linop *at(linop *op, precision prec, place where)
{
    return normal_at(((normal *)op)->s, prec, where);
}

static void refresh(linop *op)
{
    staggered_links_at(((normal *)op)->s->links, op->prec, op->where);
}

static void destroy(linop *op)
{
    field_destroy(((normal *)op)->work);
    free(op);
}

static const linop_table normal_table = {.name = "staggered-normal",
                                         .apply = apply,
                                         .apply_shifted = apply_shifted,
                                         .at = at,
                                         .refresh = refresh,
                                         .destroy = destroy};

static linop *normal_at(staggered *s, precision prec, place where)
{
    normal **n = &s->normals[prec][where];
    if (!*n) {
        const staggered_pair *l = staggered_links_at(s->links, prec, where);
        const double sites = 0.5 * (double)l->near->lat->local_volume;
        *n = calloc(1, sizeof **n);
        REQUIRE_MEMORY(*n, "out of memory");
        (*n)->base = (linop){.table = &normal_table,
                             .lat = l->near->lat,
                             .shape = field_shape_of_kind(FIELD_VECTOR, 1),
                             .par = s->p,
                             .prec = prec,
                             .where = where,
                             .flops = sites * (2 * (l->far ? 1146 : 570) + 12)};
        (*n)->s = s;
    }
    return &(*n)->base;
}

linop *staggered_normal(staggered *s)
{
    return normal_at(s, PREC_DOUBLE, staggered_links_thin(s->links)->where);
}

staggered *staggered_create(staggered_links *links, double mass, parity p)
{
    staggered *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->links = links;
    s->mass = mass;
    s->p = p;
    s->q = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    return s;
}

void staggered_destroy(staggered *s)
{
    if (!s) return;
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int where = 0; where < 2; where++)
            if (s->normals[prec][where]) linop_destroy(&s->normals[prec][where]->base);
    free(s);
}

/* ---- the whole operator ---- */

void staggered_prepare(staggered *s, field *normal_source, const field *source)
{
    const field b_p = field_part(source, s->p);
    hop(s, normal_source, s->p, source, -0.5, s->mass, &b_p);
}

void staggered_reconstruct(staggered *s, field *x, const field *normal_x, const field *source)
{
    field x_p = field_part(x, s->p), x_q = field_part(x, s->q);
    const field b_q = field_part(source, s->q);
    REQUIRE(s->mass != 0, "the other half of the solution needs a mass, not %g", s->mass);
    vector_copy(&x_p, normal_x);
    hop(s, &x_q, s->q, normal_x, -0.5 / s->mass, 1 / s->mass, &b_q);
    field_out(x, s->p);
}

void staggered_apply(staggered *s, field *y, const field *x, int dagger)
{
    const double half = dagger ? -0.5 : 0.5;
    hop(s, y, PARITY_EVEN, x, half, s->mass, x);
    hop(s, y, PARITY_ODD, x, half, s->mass, x);
}

/* ---- forces ---- */

static field *links_like(const field *thin)
{
    return field_create(thin->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, thin->where);
}

struct staggered_force {
    field *momenta;
    staggered_links *base;
    field *near, *far, *extra;
    double theta[4]; /* the sums are of derivatives by links with this twist */
};

/* Derivatives by links are multiplied with the same phase as the links. */
static void turn(staggered_force *f, const double theta[4])
{
    staggered_links_turn(f->near, 1, f->theta, theta);
    if (f->far) staggered_links_turn(f->far, 3, f->theta, theta);
    if (f->extra) staggered_links_turn(f->extra, 1, f->theta, theta);
    memcpy(f->theta, theta, sizeof f->theta);
}

staggered_force *staggered_force_open(field *momenta, staggered_links *base)
{
    const field *thin = staggered_links_thin(base);
    staggered_force *f = malloc(sizeof *f);
    REQUIRE_MEMORY(f, "out of memory");
    *f = (staggered_force){.momenta = momenta, .base = base, .near = links_like(thin)}; /* extra when it is needed */
    if (staggered_links_naik(base) != 0) f->far = links_like(thin);
    memcpy(f->theta, staggered_links_theta(base), sizeof f->theta);
    return f;
}

/* x^dagger dA x = -x^dagger d(D D) x / 4 */
static void add_some(staggered_force *f, staggered *s, int n, const double *weights, field *const *x)
{
    double scaled[STAGGERED_OUTER_MOST];
    const double extra = staggered_links_extra(s->links);
    if (extra != 0 && !f->extra) f->extra = links_like(f->near);
    field *z = field_create(x[0]->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, n, x[0]->where);
    const field half = field_part(z, s->p);
    for (int i = 0; i < n; i++) {
        field one = field_rhs(&half, i);
        vector_axpby(&one, 1, x[i], 0);
        scaled[i] = 0.5 * weights[i];
    }
    hop(s, z, s->q, z, 1, 0, NULL);
    const staggered_outer_call call = {.first = s->p,
                                       .near = f->near,
                                       .far = f->far,
                                       .extra = extra != 0 ? f->extra : NULL,
                                       .far_factor = staggered_links_naik(s->links),
                                       .extra_factor = extra};
    staggered_outer(&call, z, scaled);
    field_destroy(z);
}

void staggered_force_add(staggered_force *f, staggered *s, int n, const double *weights, field *const *x)
{
    REQUIRE(staggered_links_base(s->links) == f->base, "a force of links with another base");
    turn(f, staggered_links_theta(s->links));
    for (int i = 0; i < n; i += STAGGERED_OUTER_MOST)
        add_some(f, s, n - i < STAGGERED_OUTER_MOST ? n - i : STAGGERED_OUTER_MOST, weights + i, x + i);
}

void staggered_force_close(staggered_force *f)
{
    static const double none[4];
    turn(f, none);
    staggered_links_back(f->momenta, f->base, f->near, f->far, f->extra);
    field_destroy(f->extra);
    field_destroy(f->far);
    field_destroy(f->near);
    free(f);
}
