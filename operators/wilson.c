#include "operators/wilson.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/domainwall.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"
#include "operators/local.h"
#include "operators/wilson_parts.h"

static double diagonal(const wilson *w)
{
    return 1 + 3 * w->space + w->mass;
}

/* True if the site-diagonal part has a twisted part, i mu gamma_5 or that of a doublet. */
static int has_twist(const wilson *w)
{
    return w->mu != 0 || w->epsilon != 0;
}

/* Square of its mass that stands beside C^2. */
static double twist_square(const wilson *w)
{
    return w->mu * w->mu - w->epsilon * w->epsilon;
}

/* Brings smeared links up to date, whose version then tells of what is derived from them. */
void wilson_follow_map(const wilson *w)
{
    if (w->map) link_map_links(w->map);
}

/* ---- derived fields ---- */

void wilson_convert(field **to, const field *from, precision prec, place where)
{
    if (!from) return;
    if (!*to) *to = field_create(from->lat, from->kind, prec, from->par, 1, where);
    field_copy(*to, from);
}

/* The links that the hop reads: those of the run where they are stored so, else a copy. */
static void use_links(wilson *w, wilson_material *m, precision prec, place where)
{
    m->links = w->links;
    if (w->links->prec == prec && w->links->where == where && w->links->kind == w->storage) return;
    if (!m->own_links) m->own_links = field_create(w->links->lat, w->storage, prec, PARITY_BOTH, 1, where);
    field_copy(m->own_links, w->links);
    m->links = m->own_links;
}

/* The inverse on parity p in place of the clover term, and what it adds to the log det. */
static void invert(wilson *w, wilson_material *m, parity p)
{
    double negatives = 0;
    w->log_det += !has_twist(w) ? clover_invert(m->inverse, m->inverse, p, &negatives)
                                : twisted_invert(m->inverse, m->mu_inverse, m->inverse, p, twist_square(w), &negatives);
    w->negatives += negatives;
}

static void build_double(wilson *w)
{
    wilson_material *m = &w->materials[PREC_DOUBLE][w->links->where];
    const lattice *lat = w->links->lat;
    const int both = w->form == SCHUR_SYMMETRIC;
    m->version = w->links->version;
    use_links(w, m, PREC_DOUBLE, w->links->where);
    w->log_det = w->negatives = 0;
    if (!wilson_has_clover_term(w)) {
        const double sites = 0.5 * (double)lat->volume * (both ? 2 : 1);
        const double square = diagonal(w) * diagonal(w) + twist_square(w);
        w->log_det = 12 * sites * (w->doublet ? 0.5 * log(fabs(square)) : log(hypot(diagonal(w), w->mu)));
        w->negatives = (has_twist(w) ? square : diagonal(w)) > 0 ? 0 : 12 * sites;
        return;
    }
    const parity of_inverse = both ? PARITY_BOTH : w->q;
    if (!m->inverse) m->inverse = field_create(lat, FIELD_CLOVER, PREC_DOUBLE, of_inverse, 1, w->links->where);
    if (!m->mu_inverse && has_twist(w)) m->mu_inverse = field_like(m->inverse);
    if (!m->clover && !both) m->clover = field_create(lat, FIELD_CLOVER, PREC_DOUBLE, w->p, 1, w->links->where);
    field *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, w->links->where);
    gauge_field_strength(tensor, w->special);
    clover_build(m->inverse, tensor, diagonal(w), w->c);
    if (m->clover) clover_build(m->clover, tensor, diagonal(w), w->c);
    field_destroy(tensor);
    invert(w, m, w->q);
    if (both) invert(w, m, w->p);
}

static const wilson_material *material_at(wilson *w, precision prec, place where)
{
    wilson_material *source = &w->materials[PREC_DOUBLE][w->links->where], *m = &w->materials[prec][where];
    wilson_follow_map(w);
    if (source->version != w->links->version) build_double(w);
    if (m->version != w->links->version) {
        use_links(w, m, prec, where);
        wilson_convert(&m->clover, source->clover, prec, where);
        wilson_convert(&m->inverse, source->inverse, prec, where);
        wilson_convert(&m->mu_inverse, source->mu_inverse, prec, where);
        m->version = w->links->version;
    }
    return m;
}

void wilson_refresh(wilson *w)
{
    material_at(w, PREC_DOUBLE, w->links->where);
}

double wilson_log_det(wilson *w, double *negatives)
{
    wilson_refresh(w);
    *negatives = w->negatives;
    return w->log_det;
}

/* ---- the Schur complements ---- */

const wilson_material *wilson_material_of(wilson_complement *s)
{
    const wilson_material *m = material_at(s->w, s->base.prec, s->base.where);
    wilson_material *e = &s->extended;
    if (!s->base.over) return m;
    if (e->version != m->version) {
        local_gather(&s->base, &e->own_links, m->links);
        local_gather(&s->base, &e->clover, m->clover);
        local_gather(&s->base, &e->inverse, m->inverse);
        local_gather(&s->base, &e->mu_inverse, m->mu_inverse);
        e->links = e->own_links;
        e->version = m->version;
    }
    return e;
}

/* A, for a dagger where sign is -1, of the clover term `clover` where there is one. */
wilson_site_matrix wilson_own_matrix(const wilson *w, const field *clover, int sign)
{
    const double scale = wilson_has_clover_term(w) ? 1 : diagonal(w);
    return (wilson_site_matrix){scale, sign * w->mu / scale, w->epsilon / scale, clover, NULL, w->doublet};
}

/* A^-1, or its dagger. */
wilson_site_matrix wilson_inverse_matrix(const wilson *w, const wilson_material *m, int sign)
{
    if (wilson_has_clover_term(w))
        return (wilson_site_matrix){1, -sign * w->mu, -w->epsilon, m->inverse, m->mu_inverse, w->doublet};
    const double d = diagonal(w), ratio = w->mu / d, split = w->epsilon / d;
    return (wilson_site_matrix){.scale = 1 / (d * (1 + ratio * ratio - split * split)),
                                .mu = -sign * ratio,
                                .epsilon = -split,
                                .doublet = w->doublet};
}

static int is_twisted(const wilson_site_matrix *a)
{
    return a->mu != 0 || a->epsilon != 0;
}

static int is_number(const wilson_site_matrix *a)
{
    return !a->clover && !is_twisted(a);
}

void wilson_apply_matrix(field *y, parity p, const wilson_site_matrix *a, const field *x)
{
    if (a->doublet && is_twisted(a)) {
        doublet_apply(y, p, a->clover, a->mu_clover, a->mu, a->epsilon, x, a->scale);
    } else if (a->mu != 0) {
        twisted_apply(y, p, a->clover, a->mu_clover, a->mu, x, a->scale);
    } else if (a->clover) {
        clover_apply(y, p, a->clover, x, a->scale);
    } else {
        const field part = x->par == p ? *x : field_part(x, p);
        vector_axpby(y, a->scale, &part, 0);
    }
}

/* The hop of `form`, which has a site-diagonal matrix, with a in it; factors of the hop and of what is added are those
 * without the scale of a. */
static void hop_with(field *y, parity p, const field *x, hop_form form, const wilson_site_matrix *a,
                     wilson_hop_call call)
{
    call.form = !is_number(a) ? form : form == HOP_CLOVER ? HOP_PLAIN : HOP_ADD;
    if (form == HOP_ADD_CLOVER) call.b *= a->scale;
    else call.a *= a->scale;
    call.clover = a->clover;
    call.mu_clover = a->mu_clover;
    call.mu = a->mu;
    call.epsilon = a->epsilon;
    call.doublet = a->doublet;
    wilson_hop(y, p, x, &call);
}

/* y_q = A_qq^-1 D x_p; mu_sign: of the twisted mass in A, -1 for the dagger as well. */
void wilson_hop_to_other(const wilson *w, const wilson_material *m, field *y, const field *x, int sign, int mu_sign,
                         const blocks *cut)
{
    const wilson_site_matrix inverse = wilson_inverse_matrix(w, m, mu_sign);
    hop_with(y, y->par, x, HOP_CLOVER, &inverse,
             (wilson_hop_call){.a = 1, .sign = sign, .links = m->links, .space = w->space, .cut = cut});
}

/* y_p = A_pp x_p - D t_q / 4; mu_sign as above. */
static void close_asymmetric(const wilson *w, const wilson_material *m, field *y, const field *t, const field *x,
                             int sign, int mu_sign, const blocks *cut)
{
    const wilson_site_matrix own = wilson_own_matrix(w, m->clover, mu_sign);
    hop_with(y, y->par, t, HOP_ADD_CLOVER, &own,
             (wilson_hop_call){
                 .a = -0.25, .b = 1, .sign = sign, .links = m->links, .space = w->space, .add = x, .cut = cut});
}

/* y_p = x_p - A_pp^-1 D A_qq^-1 D x_p / 4, or its dagger, in which A_pp^-dagger comes first. sum: where |x|^2 goes, which
 * the dagger with an untwisted clover term finds on its way; else null. */
static void apply_symmetric(const wilson_complement *s, const wilson_material *m, field *y, const field *x, int dagger,
                            vector_sum *sum)
{
    const wilson *w = s->w;
    const int sign = dagger ? -1 : 1, mu_sign = sign * s->mu_sign;
    const wilson_site_matrix inverse = wilson_inverse_matrix(w, m, mu_sign), one = {.scale = 1};
    const wilson_hop_call call = {
        .a = -0.25, .b = 1, .sign = sign, .links = m->links, .space = w->space, .add = x, .cut = s->base.inside};
    const int first = dagger && !is_number(&inverse);
    if (sum) clover_apply_norm2_start(sum, s->work_p, x->par, m->inverse, x, 1);
    else if (first) wilson_apply_matrix(s->work_p, x->par, &inverse, x);
    wilson_hop_to_other(w, m, s->work_q, first ? s->work_p : x, sign, mu_sign, call.cut);
    hop_with(y, y->par, s->work_q, HOP_CLOVER_ADD, first ? &one : &inverse, call);
}

void wilson_reserve_work(wilson_complement *s, const field *x)
{
    if (s->work_q && s->work_q->groups == x->groups) return;
    field_destroy(s->work_q);
    field_destroy(s->work_p);
    const parity q = x->par == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    const field_shape shape = field_shape_of(x);
    s->work_q = field_create_shape(x->lat, &shape, x->prec, q, x->where);
    s->work_p = s->w->form == SCHUR_SYMMETRIC ? field_like(x) : NULL;
}

static void apply_and_sum(const linop *op, field *y, const field *x, int dagger, vector_sum *sum)
{
    wilson_complement *s = (wilson_complement *)op;
    wilson *w = s->w;
    const wilson_material *m = wilson_material_of(s);
    wilson_reserve_work(s, x);
    if (w->form == SCHUR_SYMMETRIC) {
        apply_symmetric(s, m, y, x, dagger, sum);
    } else {
        const int sign = dagger ? -1 : 1;
        wilson_hop_to_other(w, m, s->work_q, x, sign, sign * s->mu_sign, op->inside);
        close_asymmetric(w, m, y, s->work_q, x, sign, sign * s->mu_sign, op->inside);
    }
}

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    apply_and_sum(op, y, x, dagger, NULL);
}

static void apply_norm2(const linop *op, field *y, const field *x, int dagger, vector_sum *sum)
{
    const wilson *w = ((const wilson_complement *)op)->w;
    const int on_the_way = w->form == SCHUR_SYMMETRIC && wilson_has_clover_term(w) && !has_twist(w) && dagger;
    if (!on_the_way) vector_norm2_start(sum, x, 0);
    apply_and_sum(op, y, x, dagger, on_the_way ? sum : NULL);
}

static linop *at(linop *op, precision prec, place where)
{
    const wilson_complement *s = (wilson_complement *)op;
    return wilson_schur_at(s->w, s->mu_sign, prec, where);
}

static linop *local(linop *op, const block_shape *shape, char *message, size_t bytes)
{
    (void)message, (void)bytes; /* the blocks fit */
    wilson_complement *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->base = local_base(op, shape);
    s->w = ((wilson_complement *)op)->w;
    s->mu_sign = ((wilson_complement *)op)->mu_sign;
    return &s->base;
}

static void refresh(linop *op)
{
    wilson_material_of((wilson_complement *)op);
}

static void destroy(linop *op)
{
    wilson_complement *s = (wilson_complement *)op;
    field_destroy(s->extended.own_links);
    field_destroy(s->extended.clover);
    field_destroy(s->extended.inverse);
    field_destroy(s->extended.mu_inverse);
    field_destroy(s->work_p);
    field_destroy(s->work_q);
    field_destroy(s->diagonal);
    local_close(op);
    free(s);
}

/* The clover term on both parities, of which the Schur complement needs one at most. */
const field *wilson_whole_clover(wilson *w)
{
    const field *links = w->links;
    wilson_follow_map(w);
    if (!w->whole) w->whole = field_create(links->lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    if (w->whole_version == links->version) return w->whole;
    field *tensor = field_create(links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    gauge_field_strength(tensor, w->special);
    clover_build(w->whole, tensor, diagonal(w), w->c);
    field_destroy(tensor);
    w->whole_version = links->version;
    return w->whole;
}

static const linop_table schur_table = {.name = "wilson-schur",
                                        .apply = apply,
                                        .at = at,
                                        .local = local,
                                        .refresh = refresh,
                                        .destroy = destroy,
                                        .apply_norm2 = apply_norm2};

linop *wilson_schur_at(wilson *w, int mu_sign, precision prec, place where)
{
    wilson_complement **s = &w->schurs[mu_sign < 0][prec][where];
    if (!*s) {
        *s = calloc(1, sizeof **s);
        REQUIRE_MEMORY(*s, "out of memory");
        const double sites = 0.5 * (double)w->links->lat->local_volume * (w->doublet ? 2 : 1);
        (*s)->base =
            (linop){.table = &schur_table,
                    .coarsening = prec <= PREC_SINGLE && !w->doublet ? &wilson_coarsening : NULL,
                    .lat = w->links->lat,
                    .shape = {.kind = FIELD_SPINOR, .nrhs = 1, .Ls = w->doublet ? 2 : 1},
                    .par = w->p,
                    .prec = prec,
                    .where = where,
                    .flops = sites * (2 * 1320 + (wilson_has_clover_term(w) ? (has_twist(w) ? 3 : 2) * 504 : 0) +
                                      (has_twist(w) ? 96 : 0) + 48)};
        (*s)->w = w;
        (*s)->mu_sign = mu_sign;
    }
    return &(*s)->base;
}

linop *wilson_schur(wilson *w)
{
    return wilson_schur_at(w, 1, PREC_DOUBLE, w->links->where);
}

double wilson_space(const wilson_settings *s)
{
    return s->anisotropy.xi_0 != 0 ? s->anisotropy.nu / s->anisotropy.xi_0 : 1;
}

clover_coefficients wilson_clover(const wilson_settings *s)
{
    const wilson_anisotropy *a = &s->anisotropy;
    clover_coefficients c = clover_isotropic(s->c_sw);
    if (a->xi_0 != 0) c = (clover_coefficients){.space = a->c_R / a->xi_0, .time = a->c_T};
    for (int end = 0; end < 2; end++) c.inside[end] = s->inside[end];
    c.exponential = s->exponential;
    return c;
}

wilson *wilson_create(const field *links, const wilson_settings *s)
{
    wilson *w = calloc(1, sizeof *w);
    REQUIRE_MEMORY(w, "out of memory");
    REQUIRE(links->prec == PREC_DOUBLE && links->kind == FIELD_LINKS, "links of kind %d, precision %d", links->kind,
            links->prec);
    REQUIRE(!s->map || s->map->from == links, "a map of other links");
    REQUIRE(s->doublet || s->epsilon == 0, "epsilon %g of one flavour", s->epsilon);
    REQUIRE(s->anisotropy.xi_0 == 0 || s->c_sw == 0, "c_sw = %g beside an anisotropy", s->c_sw);
    w->map = s->map ? link_map_share(s->map) : NULL;
    w->links = w->map ? w->map->links : links;
    w->special = s->thin_clover ? links : link_map_special(w->map, links);
    w->mass = s->mass;
    w->mu = s->mu;
    w->epsilon = s->epsilon;
    w->doublet = s->doublet;
    w->space = wilson_space(s);
    w->c = wilson_clover(s);
    w->form = s->form;
    w->p = s->p;
    w->q = s->p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    w->storage = link_map_storage(w->map, s->storage);
    return w;
}

void wilson_destroy(wilson *w)
{
    if (!w) return;
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int where = 0; where < 2; where++) {
            wilson_material *m = &w->materials[prec][where];
            field_destroy(m->own_links);
            field_destroy(m->clover);
            field_destroy(m->inverse);
            field_destroy(m->mu_inverse);
            for (int k = 0; k < 2; k++)
                if (w->schurs[k][prec][where]) linop_destroy(&w->schurs[k][prec][where]->base);
        }
    field_destroy(w->whole);
    link_map_destroy(w->map);
    free(w);
}

/* ---- the whole operator ---- */

void wilson_prepare(wilson *w, field *schur_source, const field *source)
{
    const wilson_material *m = material_at(w, source->prec, source->where);
    const wilson_site_matrix inverse = wilson_inverse_matrix(w, m, 1);
    const field b_p = field_part(source, w->p);
    field *t = field_scratch_on(source, w->q);
    /* b_p - H A^-1 b_q = b_p + D A^-1 b_q / 2 */
    wilson_apply_matrix(t, w->q, &inverse, source);
    wilson_hop_call call = {
        .form = HOP_ADD, .a = 0.5, .b = 1, .sign = 1, .links = m->links, .space = w->space, .add = &b_p};
    wilson_hop(schur_source, w->p, t, &call);
    if (w->form == SCHUR_SYMMETRIC) wilson_apply_matrix(schur_source, w->p, &inverse, schur_source);
    field_destroy(t);
}

void wilson_reconstruct(wilson *w, field *x, const field *schur_x, const field *source)
{
    const wilson_material *m = material_at(w, x->prec, x->where);
    field x_p = field_part(x, w->p), x_q = field_part(x, w->q);
    const field b_q = field_part(source, w->q);
    vector_copy(&x_p, schur_x);
    /* x_q = A^-1 (b_q + D x_p / 2) */
    wilson_hop_call call = {
        .form = HOP_ADD, .a = 0.5, .b = 1, .sign = 1, .links = m->links, .space = w->space, .add = &b_q};
    wilson_hop(&x_q, w->q, schur_x, &call);
    const wilson_site_matrix inverse = wilson_inverse_matrix(w, m, 1);
    wilson_apply_matrix(&x_q, w->q, &inverse, &x_q);
    field_out(x, w->p);
}

void wilson_apply(wilson *w, field *y, const field *x, int dagger)
{
    REQUIRE(x->prec == PREC_DOUBLE && x->where == w->links->where, "the whole operator in precision %d, place %d",
            x->prec, x->where);
    const wilson_material *m = material_at(w, x->prec, x->where);
    const int sign = dagger ? -1 : 1;
    const wilson_site_matrix own =
        wilson_own_matrix(w, wilson_has_clover_term(w) ? wilson_whole_clover(w) : NULL, sign);
    const wilson_hop_call call = {.a = -0.5, .b = 1, .links = m->links, .space = w->space, .add = x, .sign = sign};
    hop_with(y, PARITY_EVEN, x, HOP_ADD_CLOVER, &own, call);
    hop_with(y, PARITY_ODD, x, HOP_ADD_CLOVER, &own, call);
}

/* ---- forces ---- */

/* factor X and factor Y continued to parity q: x_q = -A_q^-1 H x_p, y_q = -A_q^-dagger H^dagger y_p. */
static void continue_field(const wilson *w, const wilson_material *m, field *full, double factor, const field *half,
                           int sign)
{
    field p = field_part(full, w->p), q = field_part(full, w->q);
    vector_axpby(&p, factor, half, 0);
    wilson_hop_to_other(w, m, &q, half, sign, sign, NULL);
    vector_axpby(&q, 0.5 * factor, &q, 0);
    field_out(full, w->p);
}

wilson_force wilson_force_open(field *of_hop, field *of_clover, const field *links)
{
    return (wilson_force){links, of_hop, of_clover, NULL, NULL, NULL};
}

static void need_tensor(wilson_force *f)
{
    if (!f->tensor) f->tensor = field_create(f->links->lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, f->links->where);
}

/* The exponent A of an exponential clover term diagonal exp(A / diagonal), on both parities. */
static field *exponent_of(const wilson *w)
{
    const lattice *lat = w->links->lat;
    field *tensor = field_create(lat, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH, 1, w->links->where),
          *exponent = field_create(lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, w->links->where);
    gauge_field_strength(tensor, w->special);
    clover_build(exponent, tensor, 0, (clover_coefficients){.space = w->c.space, .time = w->c.time});
    field_destroy(tensor);
    return exponent;
}

/* Insertions of the exponential clover term of an operator, from all products of vectors so far, or none. */
static void insert_outer(wilson_force *f)
{
    if (!f->outer) return;
    field *exponent = exponent_of(f->of);
    for (int p = 0; p < 2; p++) {
        clover_chain(f->outer, (parity)p, f->outer, exponent, diagonal(f->of), f->of->c);
        clover_insert_det(f->tensor, (parity)p, f->of->c, 1, f->outer);
    }
    field_destroy(exponent);
    field_destroy(f->outer);
    f->outer = NULL;
}

/* Terms of -2 Re Y^dagger dA X on parity p, A the clover term. */
static void insert(wilson_force *f, wilson *w, parity p, const field *x, const field *y)
{
    if (!w->c.exponential) {
        clover_insert(f->tensor, p, w->c, x, y);
        return;
    }
    if (f->outer && f->of != w) insert_outer(f);
    f->of = w;
    if (!f->outer) f->outer = field_create(f->links->lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, f->links->where);
    clover_outer(f->outer, p, x, y);
}

void wilson_force_add(wilson_force *f, wilson *w, double factor, const field *x, const field *y, const field *mx)
{
    const wilson_material *m = material_at(w, PREC_DOUBLE, w->links->where);
    field *full_x = field_scratch_on(x, PARITY_BOTH), *full_y = field_like(full_x);
    field *z = NULL;
    const field *left = y; /* vector to the left of the asymmetric complement's variation */
    if (w->form == SCHUR_SYMMETRIC) {
        const wilson_site_matrix dagger = wilson_inverse_matrix(w, m, -1);
        z = field_like(y);
        wilson_apply_matrix(z, w->p, &dagger, y);
        left = z;
    }
    continue_field(w, m, full_x, 1, x, 1);
    continue_field(w, m, full_y, factor, left, -1);
    hop_force(f->of_hop, w->links, full_x, full_y, w->space);
    if (wilson_has_clover_term(w)) {
        need_tensor(f);
        insert(f, w, w->q, full_x, full_y);
        if (w->form == SCHUR_SYMMETRIC) {
            /* Mhat = A_p^-1 (asymmetric one): the variation of A_p^-1 adds -(A_p^-dagger Y)^dagger dA_p (Mhat X). */
            field difference = field_part(full_x, w->p);
            vector_axpby(&difference, -1, mx, 1);
        }
        insert(f, w, w->p, full_x, full_y);
    }
    field_destroy(z);
    field_destroy(full_y);
    field_destroy(full_x);
}

void wilson_force_add_log_det(wilson_force *f, wilson *w, double weight)
{
    if (!wilson_has_clover_term(w)) return;
    const wilson_material *m = material_at(w, PREC_DOUBLE, w->links->where);
    field *exponent = w->c.exponential ? exponent_of(w) : NULL, *chained = exponent ? field_like(m->inverse) : NULL;
    need_tensor(f);
    for (int k = 0; k < (w->form == SCHUR_SYMMETRIC ? 2 : 1); k++) {
        const parity p = k ? w->p : w->q;
        if (exponent) clover_chain(chained, p, m->inverse, exponent, diagonal(w), w->c);
        clover_insert_det(f->tensor, p, w->c, weight, exponent ? chained : m->inverse);
    }
    field_destroy(chained);
    field_destroy(exponent);
}

void wilson_force_close(wilson_force *f)
{
    insert_outer(f);
    if (f->tensor) clover_force(f->of_clover, f->links, f->tensor);
    field_destroy(f->tensor);
    f->tensor = NULL;
}
