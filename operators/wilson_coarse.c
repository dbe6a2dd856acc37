/* The coarse operator's view of a Schur complement of Wilson's operator (operators/coarse.h). */
#include "kernels/ops/domainwall.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "operators/wilson_parts.h"

/* The clover term of A_pp in the precision of the operator; null without one. */
static const field *own_diagonal(wilson_complement *s)
{
    wilson *w = s->w;
    if (!wilson_has_clover_term(w)) return NULL;
    wilson_follow_map(w);
    if (s->diagonal && s->diagonal_version == w->links->version) return s->diagonal;
    const field part = field_part(wilson_whole_clover(w), w->p);
    wilson_convert(&s->diagonal, &part, s->base.prec, s->base.where);
    s->diagonal_version = w->links->version;
    return s->diagonal;
}

static void to_rows(linop *op, field *rows, const field *v)
{
    (void)op;
    coarse_rows(rows, v->par, v);
}

/* r of the symmetric form is A_pp^-1 times that of M. */
static void residual_to_rows(linop *op, field *rows, const field *v)
{
    wilson_complement *s = (wilson_complement *)op;
    if (s->w->form == SCHUR_ASYMMETRIC) {
        coarse_rows(rows, v->par, v);
        return;
    }
    wilson_reserve_work(s, v);
    const wilson_site_matrix own = wilson_own_matrix(s->w, own_diagonal(s), s->mu_sign);
    wilson_apply_matrix(s->work_p, v->par, &own, v);
    coarse_rows(rows, v->par, s->work_p);
}

static void correct_by_rows(linop *op, field *v, const field *rows)
{
    (void)op;
    coarse_sites(v, v->par, rows, 1);
}

static void complete_rows(linop *op, field *rows, const field *v)
{
    wilson_complement *s = (wilson_complement *)op;
    wilson_reserve_work(s, v);
    wilson_hop_to_other(s->w, wilson_material_of(s), s->work_q, v, 1, s->mu_sign, NULL);
    vector_axpby(s->work_q, 0.5, s->work_q, 0);
    coarse_rows(rows, s->w->p, v);
    coarse_rows(rows, s->w->q, s->work_q);
}

/* Rows of a field of both parities, in the precision of null vectors. */
static field *rows_of_field(const field *f, const field *vectors)
{
    const field_shape shape = {FIELD_COARSE, 1, 1, 2, f->groups * f->reals / 4, 0, ORDER_ROWS};
    field *rows = field_create_shape(f->lat, &shape, vectors->prec, PARITY_BOTH, vectors->where);
    field *low =
        vectors->prec == f->prec ? NULL : field_create(f->lat, f->kind, vectors->prec, PARITY_BOTH, 1, vectors->where);
    if (low) field_copy(low, f);
    FOR_PARITIES(p, f) coarse_rows(rows, (parity)p, low ? low : f);
    field_destroy(low);
    return rows;
}

/* Galerkin product of M without its twisted mass, which the coarse operator adds. */
static void galerkin(linop *op, const aggregation *a, field *links, field *diagonal, const field *vectors)
{
    wilson *w = ((wilson_complement *)op)->w;
    field *scaled = w->space != 1 ? field_like(w->links) : NULL;
    if (scaled) links_scale(scaled, w->links, (const double[]){w->space, w->space, w->space, 1});
    field *link_rows = rows_of_field(scaled ? scaled : w->links, vectors),
          *clover_rows = rows_of_field(wilson_whole_clover(w), vectors);
    coarse_galerkin_wilson(a, links, diagonal, vectors, link_rows, clover_rows);
    field_destroy(clover_rows);
    field_destroy(link_rows);
    field_destroy(scaled);
}

static unsigned long links_version(const linop *op)
{
    const wilson *w = ((const wilson_complement *)op)->w;
    wilson_follow_map(w);
    return w->links->version;
}

static double twist(const linop *op)
{
    const wilson_complement *s = (const wilson_complement *)op;
    return s->mu_sign * s->w->mu;
}

/* The complement of -mu, whose adjoint is similar to that of mu. */
static linop *partner(linop *op)
{
    const wilson_complement *s = (wilson_complement *)op;
    return s->w->mu == 0 ? op : wilson_schur_at(s->w, -s->mu_sign, op->prec, op->where);
}

/* M = m + i mu gamma_5 + what depends on neither */
static int shifted(const linop *op, const linop *from, operator_shift *by)
{
    if (from->table != op->table) return 0;
    const wilson *w = ((const wilson_complement *)op)->w, *v = ((const wilson_complement *)from)->w;
    *by = (operator_shift){w->mass - v->mass, twist(op) - twist(from)};
    return w->links == v->links && w->special == v->special && w->space == v->space && w->c.space == v->c.space &&
           w->c.time == v->c.time && w->c.inside[0] == v->c.inside[0] && w->c.inside[1] == v->c.inside[1] &&
           op->prec == from->prec && op->where == from->where;
}

/* S = gamma_5, and gamma_5 A_pp of the symmetric form, A_pp of this complement; it keeps the chiralities apart. */
static void gamma5_conjugate(linop *op, field *y, const field *x, int inverse)
{
    wilson_complement *s = (wilson_complement *)op;
    const wilson *w = s->w;
    domainwall_gamma_5(y, x);
    if (w->form == SCHUR_ASYMMETRIC) return;
    const wilson_site_matrix a = inverse ? wilson_inverse_matrix(w, wilson_material_of(s), s->mu_sign)
                                         : wilson_own_matrix(w, own_diagonal(s), s->mu_sign);
    wilson_apply_matrix(y, y->par, &a, y);
}

const coarsening wilson_coarsening = {.spins = 4,
                                      .colours = 3,
                                      .residual = residual_to_rows,
                                      .vector = to_rows,
                                      .correct = correct_by_rows,
                                      .complete = complete_rows,
                                      .galerkin = galerkin,
                                      .version = links_version,
                                      .twist = twist,
                                      .partner = partner,
                                      .shifted = shifted,
                                      .gamma5_conjugate = gamma5_conjugate};
