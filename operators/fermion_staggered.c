/* The fermion of staggered quarks: the system is their even-odd normal operator (operators/staggered.h), which is
 * Hermitian and positive itself. Quarks whose links have the same smearing share them, or what they are made of. */
#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/staggered.h"
#include "operators/staggered.h"

typedef struct {
    fermion base;
    staggered *s;
    staggered_links *links;
    int owns_links;
} staggered_quark;

static staggered *of(fermion *f)
{
    return ((staggered_quark *)f)->s;
}

static void prepare(fermion *f, field *rhs, const field *source)
{
    staggered_prepare(of(f), rhs, source);
}

static void reconstruct(fermion *f, field *x, const field *solution, const field *source)
{
    staggered_reconstruct(of(f), x, solution, source);
}

static void apply(fermion *f, field *y, const field *x, int dagger)
{
    staggered_apply(of(f), y, x, dagger);
}

/* Steps forward in time by one and three sites get exp(mu) and exp(3 mu), those back their inverses. */
static void derivative(fermion *f, field *y, const field *x, int n)
{
    const staggered_pair *links = staggered_links_at(staggered_fermion_links(f), PREC_DOUBLE, x->where);
    const staggered_shift_call call = {.mu = 3,
                                       .back = n == 1 ? 1 : -1,
                                       .near = links->near,
                                       .far = links->far,
                                       .near_weight = 0.5,
                                       .far_weight = n == 1 ? 1.5 : 4.5,
                                       .far_phases = links->far_phases,
                                       .far_scale = links->far_scale};
    staggered_shift(y, x, &call);
}

static void *open_force(fermion *f, field *force, field *thin)
{
    (void)thin;
    return staggered_force_open(force, staggered_links_base(staggered_fermion_links(f)));
}

static void add_force(void *sum, fermion *f, int n, const double *weights, field *const *x)
{
    staggered_force_add(sum, of(f), n, weights, x);
}

static void close_force(void *sum)
{
    staggered_force_close(sum);
}

static double filtered(const fermion *f)
{
    const staggered_quark *q = (const staggered_quark *)f;
    const int first = q->owns_links && staggered_links_base(q->links) == q->links;
    return first && staggered_links_projected(q->links) ? staggered_links_filtered(q->links) : NAN;
}

static void destroy(fermion *f)
{
    staggered_quark *q = (staggered_quark *)f;
    staggered_destroy(q->s);
    if (q->owns_links) staggered_links_destroy(q->links);
    fermion_close(f);
    free(q);
}

static const fermion_table table = {.name = "staggered",
                                    .prepare = prepare,
                                    .reconstruct = reconstruct,
                                    .apply = apply,
                                    .derivative = derivative,
                                    .open_force = open_force,
                                    .add_force = add_force,
                                    .close_force = close_force,
                                    .filtered = filtered,
                                    .destroy = destroy};

/* The links: those of an earlier quark where they are the same, or a sibling of them where the first level is. */
static void find_links(staggered_quark *q, const field *thin, const staggered_smearing *s, fermion *const *others,
                       int n)
{
    staggered_links *base = NULL;
    q->owns_links = 1;
    for (int i = 0; i < n; i++) {
        if (!others[i] || others[i]->table != &table || others[i]->links != thin) continue;
        staggered_links *l = staggered_fermion_links(others[i]);
        if (!staggered_links_alike(l, s)) continue;
        base = l;
        if (!staggered_links_same(l, s)) continue;
        q->links = l;
        q->owns_links = 0;
        return;
    }
    q->links = base ? staggered_links_like(base, s) : staggered_links_create(thin, s);
}

fermion *staggered_fermion(const field *links, const staggered_fermion_settings *s, fermion *const *others, int n)
{
    staggered_quark *q = malloc(sizeof *q);
    REQUIRE_MEMORY(q, "out of memory");
    find_links(q, links, &s->smearing, others, n);
    q->s = staggered_create(q->links, s->mass, s->p);
    fermion_open(&q->base, &table, links, NULL, NULL, staggered_normal(q->s));
    q->base.bound = s->mass * s->mass;
    q->base.shares = staggered_links_base(q->links);
    return &q->base;
}

staggered_links *staggered_fermion_links(const fermion *f)
{
    REQUIRE(f->table == &table, "links of a staggered quark from %s", f->table->name);
    return ((const staggered_quark *)f)->links;
}
