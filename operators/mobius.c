#include "operators/mobius.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/wilson.h"
#include "operators/fifth.h"
#include "operators/local.h"

typedef struct mobius mobius;

typedef struct {
    linop base;
    mobius *m;
    fifth_complex K; /* K on its slices */
    field *own_links;
    const field *links;
    unsigned long version; /* version of the links that they come from */
} schur;

struct mobius {
    fermion base;
    mobius_settings s;
    parity q;
    int by_mass; /* A and B are those of b5, c5 and the mass */
    fifth_complex A, B;
    fifth_complex K, inverse_A, inverse_B; /* matrices of the even-odd system, of rows A and rows B */
    fifth_complex rows; /* factors of the rows of M in the even-odd system, if coefficients differ by slice */
    double c5[2][2]; /* coefficients c of the first and the last slice, where sources enter, if they differ by slice */
    schur *schurs[PREC_COUNT][2];
};

static double wilson_diagonal(const mobius_settings *s)
{
    return 4 - s->M5;
}

/* ---- the even-odd system ---- */

static linop *schur_at(mobius *m, precision prec, place where);

/* The links that the hop reads: those of the run where they are stored so, else a copy; inside blocks, and on fewer slices,
 * those of the whole operator, brought to the sites of extended ones. */
static void refresh(linop *op)
{
    schur *s = (schur *)op;
    const field *from = fermion_links(&s->m->base);
    if (s->version == from->version) return;
    if (op->inside || op->shape.Ls != s->m->s.Ls) {
        linop *whole = schur_at(s->m, op->prec, op->where);
        refresh(whole);
        s->links = ((schur *)whole)->links;
        if (op->over) {
            local_gather(op, &s->own_links, s->links);
            s->links = s->own_links;
        }
        s->version = from->version;
        return;
    }
    s->links = from;
    if (from->prec != op->prec || from->where != op->where || from->kind != s->m->s.storage) {
        if (!s->own_links) s->own_links = field_create(from->lat, s->m->s.storage, op->prec, PARITY_BOTH, 1, op->where);
        field_copy(s->own_links, from);
        s->links = s->own_links;
    }
    s->version = from->version;
}

/* y = a D x + b add, or with sign -1 D^dagger, or with a matrix K in the fifth dimension K D or K^dagger D^dagger; inside cut. */
static void hop_K(const blocks *cut, const fifth_complex *K, const field *links, field *y, parity p, const field *x,
                  double a, double b, const field *add, int sign)
{
    wilson_hop_call call = {.form = b != 0 ? HOP_ADD : HOP_PLAIN,
                            .a = a,
                            .b = b,
                            .sign = sign,
                            .links = links,
                            .add = add,
                            .cut = cut,
                            .fifth = K ? &K->re : NULL,
                            .fifth_transposed = sign < 0};
    if (!K || !K->is_complex) {
        wilson_hop(y, p, x, &call);
        return;
    }
    call = (wilson_hop_call){.form = HOP_PLAIN, .a = a, .sign = sign, .links = links, .cut = cut};
    field *t = field_scratch_on(x, p);
    wilson_hop(t, p, x, &call);
    fifth_apply(y, p, 1, K, sign < 0, t, b, add);
    field_destroy(t);
}

static void hop(const field *links, field *y, parity p, const field *x, double a, double b, const field *add, int sign)
{
    hop_K(NULL, NULL, links, y, p, x, a, b, add, sign);
}

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    schur *s = (schur *)op;
    const fifth_complex *K = &s->K;
    const parity p = op->par, q = p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    refresh((linop *)op);
    field *on_q = field_scratch_on(x, q);
    if (!dagger) {
        hop_K(op->inside, K, s->links, on_q, q, x, 1, 0, NULL, 1);
        hop_K(op->inside, K, s->links, y, p, on_q, -0.25, 1, x, 1);
    } else {
        field *on_p = field_scratch(x);
        fifth_apply(on_p, p, 1, K, 1, x, 0, NULL);
        hop_K(op->inside, K, s->links, on_q, q, on_p, 1, 0, NULL, -1);
        hop_K(op->inside, NULL, s->links, y, p, on_q, -0.25, 1, x, -1);
        field_destroy(on_p);
    }
    field_destroy(on_q);
}

static linop *slices(linop *op, int Ls, char *message, size_t bytes);

static linop *at(linop *op, precision prec, place where)
{
    mobius *m = ((schur *)op)->m;
    char message[256];
    linop *whole = schur_at(m, prec, where);
    if (op->shape.Ls == m->s.Ls) return whole;
    linop *few = linop_slices(whole, op->shape.Ls, message, sizeof message);
    REQUIRE(few, "%s", message);
    return few;
}

static linop *local(linop *op, const block_shape *shape, char *message, size_t bytes)
{
    (void)message, (void)bytes; /* the blocks fit */
    schur *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->base = local_base(op, shape);
    s->m = ((schur *)op)->m;
    s->K = ((schur *)op)->K;
    return &s->base;
}

static void destroy_schur(linop *op)
{
    schur *s = (schur *)op;
    field_destroy(s->own_links);
    local_close(op);
    free(s);
}

static const linop_table schur_table = {.name = "mobius-schur",
                                        .apply = apply,
                                        .at = at,
                                        .local = local,
                                        .slices = slices,
                                        .refresh = refresh,
                                        .destroy = destroy_schur};

static schur *schur_create(mobius *m, const fifth_complex *K, precision prec, place where)
{
    const int Ls = K->re.Ls;
    const double sites = 0.5 * (double)m->base.links->lat->local_volume;
    schur *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->m = m;
    s->K = *K;
    s->base = (linop){.table = &schur_table,
                      .lat = m->base.links->lat,
                      .shape = {.kind = FIELD_SPINOR, .nrhs = 1, .Ls = Ls},
                      .par = m->s.p,
                      .prec = prec,
                      .where = where,
                      .flops = sites * Ls * (2 * 1320 + (1 + K->is_complex) * 2 * 48 * Ls + 48)};
    return s;
}

static linop *schur_at(mobius *m, precision prec, place where)
{
    schur **s = &m->schurs[prec][where];
    if (!*s) *s = schur_create(m, &m->K, prec, where);
    return &(*s)->base;
}

/* Coefficients b and c of a slice. */
static void coefficients(const mobius_settings *s, int slice, double b[2], double c[2])
{
    const double sum = s->b5 + s->c5, difference = s->b5 - s->c5, *w = s->omega[slice],
                 square = w[0] * w[0] + w[1] * w[1];
    b[0] = 0.5 * (sum * w[0] / square + difference);
    c[0] = 0.5 * (sum * w[0] / square - difference);
    b[1] = c[1] = -0.5 * sum * w[1] / square;
}

static void matrices(const mobius_settings *s, int Ls, fifth_complex *A, fifth_complex *B)
{
    const double diagonal = wilson_diagonal(s);
    const fifth_matrix a = fifth_step(Ls, s->mass, diagonal * s->b5 + 1, diagonal * s->c5 - 1),
                       b = fifth_step(Ls, s->mass, s->b5, s->c5);
    *A = fifth_real(&a);
    *B = fifth_real(&b);
    if (!s->omega) return;
    const fifth_matrix step = fifth_step(Ls, s->mass, 0, 1), unit = fifth_unit(Ls);
    A->is_complex = B->is_complex = 1;
    for (int i = 0; i < Ls; i++) {
        double of_unit[2], of_step[2];
        coefficients(s, i, of_unit, of_step);
        for (int c = 0; c < 2; c++)
            for (int j = 0; j < Ls; j++) {
                const double u = unit.of[c][i][j], t = step.of[c][i][j];
                B->re.of[c][i][j] = of_unit[0] * u + of_step[0] * t;
                B->im.of[c][i][j] = of_unit[1] * u + of_step[1] * t;
                A->re.of[c][i][j] = diagonal * B->re.of[c][i][j] + u - t;
                A->im.of[c][i][j] = diagonal * B->im.of[c][i][j];
            }
    }
}

static fifth_complex ratio(const fifth_complex *B, const fifth_complex *A)
{
    const fifth_complex inverse = fifth_complex_inverse(A, "the diagonal part");
    return fifth_complex_product(B, &inverse);
}

static linop *slices(linop *op, int Ls, char *message, size_t bytes)
{
    mobius *m = ((schur *)op)->m;
    fifth_complex A, B;
    if (!m->by_mass || op->inside) {
        snprintf(message, bytes, "this operator of domain wall quarks is that of its slices alone");
        return NULL;
    }
    matrices(&m->s, Ls, &A, &B);
    const fifth_complex K = ratio(&B, &A);
    return &schur_create(m, &K, op->prec, op->where)->base;
}

/* ---- the fermion ---- */

static const field *links_of(mobius *m)
{
    linop *op = schur_at(m, PREC_DOUBLE, m->base.links->where);
    refresh(op);
    return ((schur *)op)->links;
}

static void apply_whole(fermion *f, field *y, const field *x, int dagger)
{
    mobius *m = (mobius *)f;
    field *t = field_scratch(x);
    for (int p = 0; p < 2; p++) {
        fifth_apply(y, (parity)p, 1, &m->A, dagger, x, 0, NULL);
        if (!dagger) fifth_apply(t, (parity)p, 1, &m->B, 0, x, 0, NULL);
    }
    for (int p = 0; p < 2; p++) {
        if (!dagger) {
            hop(links_of(m), y, (parity)p, t, -0.5, 1, y, 1);
        } else {
            hop(links_of(m), t, (parity)p, x, 1, 0, NULL, -1);
            fifth_apply(y, (parity)p, -0.5, &m->B, 1, t, 1, y);
        }
    }
    field_destroy(t);
}

/* The part of a source on one parity, with the factors of the rows. To be destroyed if it is *own. */
static field rows_of(mobius *m, const field *source, parity p, field **own)
{
    const field part = field_part(source, p);
    *own = NULL;
    if (!m->B.is_complex) return part;
    *own = field_scratch(&part);
    fifth_apply(*own, p, 1, &m->rows, 0, &part, 0, NULL);
    return **own;
}

static void prepare(fermion *f, field *rhs, const field *source)
{
    mobius *m = (mobius *)f;
    const parity p = m->s.p, q = m->q;
    field *own_p, *own_q;
    const field b_p = rows_of(m, source, p, &own_p), b_q = rows_of(m, source, q, &own_q);
    field *t = field_scratch(&b_q), *u = field_scratch(&b_p);
    fifth_apply(t, q, 1, &m->K, 0, &b_q, 0, NULL);
    hop(links_of(m), u, p, t, 0.5, 1, &b_p, 1);
    fifth_apply(rhs, p, 1, &m->K, 0, u, 0, NULL);
    field_destroy(u);
    field_destroy(t);
    field_destroy(own_q);
    field_destroy(own_p);
}

static void reconstruct(fermion *f, field *x, const field *solution, const field *source)
{
    mobius *m = (mobius *)f;
    const parity p = m->s.p, q = m->q;
    field *own_q;
    const field b_q = rows_of(m, source, q, &own_q);
    field *t = field_scratch(&b_q);
    hop(links_of(m), t, q, solution, 0.5, 1, &b_q, 1);
    field x_p = field_part(x, p), x_q = field_part(x, q);
    fifth_apply(&x_p, p, 1, &m->inverse_B, 0, solution, 0, NULL);
    fifth_apply(&x_q, q, 1, &m->inverse_A, 0, t, 0, NULL);
    field_written(x);
    field_destroy(t);
    field_destroy(own_q);
}

/* factor times a source, on the walls; and one slice of each chirality. */
static void enter(field *five, double factor, const field *source)
{
    fifth_matrix m = domainwall_matrix(five->Ls, 1);
    m.of[0][0][0] = factor;
    m.of[1][five->Ls - 1][0] = factor;
    domainwall_map(five, &m, 0, source);
}

static void leave(field *x, const field *five, int upper, int lower)
{
    fifth_matrix m = domainwall_matrix(1, five->Ls);
    m.of[0][0][upper] = 1;
    m.of[1][0][lower] = 1;
    domainwall_map(x, &m, 0, five);
}

/* (1 - c5 D_W) of the source on the walls with a complex c5 on each. */
static void import_by_slice(mobius *m, field *five, const field *on_walls)
{
    const int Ls = m->s.Ls;
    const fifth_matrix none = domainwall_matrix(Ls, Ls);
    fifth_complex own = {fifth_unit(Ls), none, 1}, of_hop = {none, none, 1};
    for (int wall = 0; wall < 2; wall++)
        for (int c = 0; c < 2; c++) {
            const int s = wall ? Ls - 1 : 0;
            of_hop.re.of[c][s][s] = 0.5 * m->c5[wall][0];
            of_hop.im.of[c][s][s] = 0.5 * m->c5[wall][1];
            own.re.of[c][s][s] -= wilson_diagonal(&m->s) * m->c5[wall][0];
            own.im.of[c][s][s] -= wilson_diagonal(&m->s) * m->c5[wall][1];
        }
    field *t = field_scratch(five);
    for (int p = 0; p < 2; p++) {
        hop(links_of(m), t, (parity)p, on_walls, 1, 0, NULL, 1);
        fifth_apply(five, (parity)p, 1, &own, 0, on_walls, 0, NULL);
        fifth_apply(five, (parity)p, 1, &of_hop, 0, t, 1, five);
    }
    field_destroy(t);
}

/* (1 - c5 D_W) of the source on the walls */
static void import(fermion *f, field *five, const field *source)
{
    mobius *m = (mobius *)f;
    field *u = field_scratch(five);
    enter(u, 1, source);
    if (m->B.is_complex) {
        import_by_slice(m, five, u);
        field_destroy(u);
        return;
    }
    for (int p = 0; p < 2; p++)
        hop(links_of(m), five, (parity)p, u, 0.5 * m->s.c5, 1 - m->s.c5 * wilson_diagonal(&m->s), u, 1);
    field_destroy(u);
}

static void export(fermion *f, field *x, const field *five)
{
    (void)f;
    leave(x, five, five->Ls - 1, 0);
}

/* ---- axial symmetry ---- */

static void require_middle(const mobius *m)
{
    REQUIRE(m->s.Ls % 2 == 0, "%d slices have no middle", m->s.Ls);
}

static void midpoint(fermion *f, field *x, const field *five)
{
    require_middle((mobius *)f);
    leave(x, five, five->Ls / 2 - 1, five->Ls / 2);
}

/* right = B psi + c5 W eta with W eta the source on the walls, and left is its mirror image in the fifth dimension times
 * gamma5, with opposite signs on the halves, over b5 + c5. For M = (1 - c5 D_W) (Q - S), D_W right = Q psi - psi: this
 * turns the current of the nonlocal Q into that of D_W. */
static void axial(fermion *f, field *left, field *right, const field *five, const field *source)
{
    mobius *m = (mobius *)f;
    const int Ls = m->s.Ls;
    fifth_matrix of_mirror = domainwall_matrix(Ls, Ls);
    require_middle(m);
    REQUIRE(!m->B.is_complex, "axial current with coefficients of each slice");
    for (int s = 0; s < Ls; s++)
        for (int c = 0; c < 2; c++) of_mirror.of[c][s][Ls - 1 - s] = (s < Ls / 2) == (c == 0) ? -1 : 1;
    const fifth_complex mirror = fifth_real(&of_mirror);
    enter(right, m->s.c5, source);
    for (int p = 0; p < 2; p++) {
        fifth_apply(right, (parity)p, 1, &m->B, 0, five, 1, right);
        fifth_apply(left, (parity)p, 1 / (m->s.b5 + m->s.c5), &mirror, 0, right, 0, NULL);
    }
}

/* ---- forces ---- */

/* The fields whose outer products make dMhat: x on p, and K D x / 2 on q. adjoint: factor K^dagger x on p, and
 * K^dagger D^dagger of it / 2 on q. */
static field *continue_field(mobius *m, const field *x, double factor, int adjoint)
{
    field *whole = field_scratch_on(x, PARITY_BOTH);
    field p = field_part(whole, m->s.p), q = field_part(whole, m->q);
    if (adjoint) fifth_apply(&p, m->s.p, factor, &m->K, 1, x, 0, NULL);
    else vector_axpby(&p, factor, x, 0);
    hop_K(NULL, &m->K, links_of(m), &q, m->q, &p, 0.5, 0, NULL, adjoint ? -1 : 1);
    field_written(whole);
    return whole;
}

static void *open_force(fermion *f, field *force, field *thin)
{
    (void)thin;
    (void)f;
    return force;
}

/* dMhat = -K (dD_pq K D_qp + D_pq K dD_qp) / 4 is that of Wilson's hop, -dD / 2, between continued fields. */
static void add_variation(void *force, fermion *f, double factor, const field *x, const field *y)
{
    mobius *m = (mobius *)f;
    field *right = continue_field(m, x, 1, 0), *left = continue_field(m, y, factor, 1);
    hop_force(force, fermion_links(f), right, left, 1);
    field_destroy(left);
    field_destroy(right);
}

/* dS = -sum_i 2 weight_i Re Y_i^dagger dMhat X_i with Y_i = Mhat X_i. */
static void add_force(void *force, fermion *f, int n, const double *weights, field *const *x)
{
    field *y = linop_vector(f->direct, 1);
    linop_refresh(f->direct);
    for (int i = 0; i < n; i++) {
        linop_apply(f->direct, y, x[i], 0);
        add_variation(force, f, weights[i], x[i], y);
    }
    field_destroy(y);
}

static void close_force(void *force)
{
    (void)force; /* every term went into it at once */
}

static void destroy(fermion *f)
{
    mobius *m = (mobius *)f;
    fermion_destroy(f->regulator);
    linop_destroy(f->normal);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int where = 0; where < 2; where++)
            if (m->schurs[prec][where]) linop_destroy(&m->schurs[prec][where]->base);
    fermion_close(f);
    free(m);
}

static const fermion_table table = {.name = "mobius",
                                    .prepare = prepare,
                                    .reconstruct = reconstruct,
                                    .apply = apply_whole,
                                    .import = import,
                                    .export = export,
                                    .midpoint = midpoint,
                                    .axial = axial,
                                    .open_force = open_force,
                                    .add_force = add_force,
                                    .add_variation = add_variation,
                                    .close_force = close_force,
                                    .destroy = destroy};

/* |omega_s|^1/2: with these factors of its rows the even-odd system is conditioned as that of uniform coefficients is. */
static fifth_complex rows_by_slice(const mobius_settings *s)
{
    fifth_matrix rows = fifth_unit(s->Ls);
    for (int i = 0; s->omega && i < s->Ls; i++)
        for (int c = 0; c < 2; c++) rows.of[c][i][i] = sqrt(hypot(s->omega[i][0], s->omega[i][1]));
    return fifth_real(&rows);
}

static fermion *create(const field *links, const mobius_settings *s, const fifth_complex *A, const fifth_complex *B)
{
    mobius *m = calloc(1, sizeof *m);
    REQUIRE_MEMORY(m, "out of memory");
    REQUIRE(s->Ls >= 2 && s->Ls <= DOMAINWALL_SLICES, "%d slices", s->Ls);
    m->s = *s;
    m->s.storage = link_map_storage(s->map, s->storage);
    m->q = s->p == PARITY_EVEN ? PARITY_ODD : PARITY_EVEN;
    m->A = *A;
    m->B = *B;
    m->rows = rows_by_slice(s);
    const fifth_complex of_A = A->is_complex ? fifth_complex_product(&m->rows, A) : *A,
                        of_B = B->is_complex ? fifth_complex_product(&m->rows, B) : *B;
    m->inverse_A = fifth_complex_inverse(&of_A, "the diagonal part");
    m->inverse_B = fifth_complex_inverse(&of_B, "b5 + c5 S");
    m->K = ratio(&of_B, &of_A);
    m->base.links = links;
    linop *direct = schur_at(m, PREC_DOUBLE, links->where);
    fermion_open(&m->base, &table, links, s->map, direct, normal_create(direct));
    return &m->base;
}

static fermion *of_mass(const field *links, const mobius_settings *s, double mass)
{
    mobius_settings own = *s;
    fifth_complex A, B;
    double b[2];
    own.mass = mass;
    matrices(&own, s->Ls, &A, &B);
    fermion *f = create(links, &own, &A, &B);
    mobius *m = (mobius *)f;
    m->by_mass = !s->omega;
    for (int wall = 0; s->omega && wall < 2; wall++) coefficients(s, wall ? s->Ls - 1 : 0, b, m->c5[wall]);
    m->s.omega = NULL; /* the caller's */
    return f;
}

fermion *mobius_fermion(const field *links, const mobius_settings *s)
{
    fermion *f = of_mass(links, s, s->mass);
    f->regulator = of_mass(links, s, 1);
    return f;
}

fermion *mobius_with(const field *links, const mobius_settings *s, const fifth_matrix *N)
{
    const fifth_matrix unit = fifth_unit(s->Ls);
    const fifth_complex one = fifth_real(&unit);
    fifth_complex A = fifth_real(N);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < s->Ls; i++) A.re.of[c][i][i] += wilson_diagonal(s);
    return create(links, s, &A, &one);
}
