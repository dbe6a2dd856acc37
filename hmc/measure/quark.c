#include "hmc/measure/quark.h"

#include <math.h>

#include "hmc/evolve/fermion.h"
#include "kernels/ops/vector.h"

static void open_systems(quark *q)
{
    if (q->w) {
        q->direct = wilson_schur(q->w);
        q->normal = normal_create(q->direct);
    } else {
        q->direct = q->normal = staggered_normal(q->s);
        q->fat = staggered_quark_links(q->s);
    }
    q->work = linop_vector(q->direct, 1);
}

void quark_open(quark *q, const field *links, const fermion_params *f)
{
    *q = (quark){.owner = 1};
    if (fermion_kind_find(f->kind)->staggered) q->s = simulation_staggered(simulation_staggered_links(links, f), f);
    else q->w = simulation_wilson(links, f);
    open_systems(q);
}

void quark_borrow(quark *q, wilson *w, staggered *s)
{
    *q = (quark){.w = w, .s = s};
    open_systems(q);
}

void quark_close(quark *q)
{
    field_destroy(q->work);
    if (q->w) linop_destroy(q->normal);
    if (!q->owner) return;
    wilson_destroy(q->w);
    staggered_destroy(q->s);
    staggered_links_destroy(q->fat);
}

field *quark_vector(const quark *q)
{
    const linop *op = q->direct;
    return field_create(op->lat, op->kind, PREC_DOUBLE, PARITY_BOTH, 1, op->where);
}

void quark_prepare(quark *q, field *direct, field *normal, const field *source)
{
    field *half = direct ? direct : q->work;
    if (q->s) {
        staggered_prepare(q->s, half, source);
        if (normal) vector_copy(normal, half);
        return;
    }
    wilson_prepare(q->w, half, source);
    if (normal) linop_apply(q->direct, normal, half, 1);
}

void quark_reconstruct(quark *q, field *x, const field *half, const field *source)
{
    if (q->s) staggered_reconstruct(q->s, x, half, source);
    else wilson_reconstruct(q->w, x, half, source);
}

double quark_residual(quark *q, field *work, const field *x, const field *source)
{
    if (q->s) staggered_apply(q->s, work, x, 0);
    else wilson_apply(q->w, work, x);
    vector_axpby(work, 1, source, -1);
    return sqrt(vector_norm2(work, 0) / vector_norm2(source, 0));
}
