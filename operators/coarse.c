#include "operators/coarse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/plan.h"
#include "kernels/ops/vector.h"
#include "kernels/run/redistribute.h"

struct coarse {
    linop system; /* first */
    linop *fine;
    const coarsening *how;
    aggregation a;
    lattice *lat;
    const coarse *from;     /* owner of the lattices and null vectors; null: c itself */
    const comm_group *root; /* ranks of the finest lattice */
    comm_group *members;    /* ranks that hold `lat`, where those are not all that hold the fine one; or null */
    lattice *near;          /* lattice of the aggregates, on all ranks of the fine one; else `lat` */
    field *near_vector;     /* vector on `near`, as large as last asked for */
    field *vectors, *links, *diagonal, *inverse;
    field *rows[2]; /* rows on the sites of the fine system, and whole; made when asked for */
    field *work;    /* vector of the other parity */
    double mu_factor;
    coarse_products products;
    unsigned long version;
};

static coarse *of(const linop *op)
{
    return (coarse *)(void *)op;
}

static int red_black(const coarse *c)
{
    return c->lat->parities == 2;
}

/* ---- aggregates ---- */

static int coarse_extents_even(const lattice *lat, const int block[4])
{
    int even = 1;
    for (int d = 0; d < 4; d++) even = even && lat->size[d] / block[d] % 2 == 0;
    return even;
}

int coarse_fits(const lattice *lat, int components, const coarse_settings *s, char *message, size_t bytes)
{
    int box[4], sites = 1;
    const int *b = s->block;
    lattice_box(lat, box);
    for (int d = 0; d < 4; d++) {
        if (b[d] < 1 || lat->size[d] % b[d] || box[d] % b[d]) {
            snprintf(message, bytes,
                     "aggregates of %d.%d.%d.%d sites do not fill the %d.%d.%d.%d sites of a rank; choose extents that "
                     "divide them, or another process grid",
                     b[0], b[1], b[2], b[3], box[0], box[1], box[2], box[3]);
            return 0;
        }
        sites *= b[d];
    }
    if (s->vectors < 2 || s->vectors % 2 || s->vectors > sites * components / 2) {
        snprintf(message, bytes,
                 "%d null vectors on aggregates of %d sites, which have %d components a chirality: choose an "
                 "even number up to that",
                 s->vectors, sites, sites * components / 2);
        return 0;
    }
    return 1;
}

/* The largest divisor of g, up to `most`, that leaves each of so many ranks as many of n sites as parity needs. */
static int ranks_along(int g, int most, int n, int even)
{
    for (int r = most; r > 1; r--)
        if (g % r == 0 && (!even || n / r % 2 == 0)) return r;
    return 1;
}

void coarse_grid(const lattice *fine, const coarse_settings *s, int grid[4])
{
    const int even = coarse_extents_even(fine, s->block);
    int n[4], ranks = 1;
    for (int d = 0; d < 4; d++) {
        n[d] = fine->size[d] / s->block[d];
        grid[d] = ranks_along(fine->grid[d], fine->grid[d], n[d], even);
        ranks *= grid[d];
    }
    while (s->ranks > 0 && ranks > s->ranks) {
        int least = -1; /* the direction along which a rank has the fewest sites */
        for (int d = 0; d < 4; d++)
            if (grid[d] > 1 && (least < 0 || n[d] / grid[d] < n[least] / grid[least])) least = d;
        ranks /= grid[least];
        grid[least] = ranks_along(fine->grid[least], grid[least] - 1, n[least], even);
        ranks *= grid[least];
    }
}

static lattice *lattice_of(const comm_group *group, const int size[4], const int grid[4], int any_extents, int planned)
{
    char message[512];
    lattice_spec spec = {.group = group, .reach = 1, .time_sign = 1, .any_extents = any_extents};
    int ranks = 1;
    for (int d = 0; d < 4; d++) {
        spec.size[d] = size[d];
        spec.grid[d] = grid[d];
        ranks *= grid[d];
    }
    if (!planned) return lattice_create_on(&spec);
    lattice *lat = plan_lattice_on(&spec, ranks, message, sizeof message);
    REQUIRE(lat, "%s", message);
    return lat;
}

/* True on ranks that hold the coarse lattice: the first of each box of the fine lattice's ranks. */
static int is_member(const lattice *fine, const int grid[4])
{
    int yes = comm_group_rank(fine->group) >= 0;
    for (int d = 0; d < 4; d++) yes = yes && fine->coord[d] % (fine->grid[d] / grid[d]) == 0;
    return yes;
}

static void open_lattices(coarse *c, const coarse_settings *s)
{
    const lattice *fine = c->fine->lat;
    int size[4], grid[4];
    for (int d = 0; d < 4; d++) size[d] = fine->size[d] / s->block[d];
    coarse_grid(fine, s, grid);
    const int any = !coarse_extents_even(fine, s->block), all = !memcmp(grid, fine->grid, sizeof grid);
    if (!all && !fine->planned) c->members = comm_group_create(c->root, is_member(fine, grid));
    c->lat = lattice_of(c->members ? c->members : fine->group, size, grid, any, fine->planned);
    c->near = all ? c->lat : lattice_of(fine->group, size, fine->grid, 1, fine->planned);
}

static void close_lattices(coarse *c)
{
    if (c->near != c->lat) lattice_destroy(c->near);
    lattice_destroy(c->lat);
    comm_group_destroy(c->members);
}

/* True if some of the ranks hold the coarse lattice for all. */
static int gathered(const coarse *c)
{
    return c->near != c->lat;
}

/* Vector where the aggregates are, of as many right-hand sides as `like`. */
static field *near_vector(coarse *c, const field *like)
{
    if (c->near_vector && c->near_vector->nrhs == like->nrhs) return c->near_vector;
    const field_shape shape = field_shape_of(like);
    field_destroy(c->near_vector);
    c->near_vector = field_create_shape(c->near, &shape, like->prec, coarse_whole(c->near), like->where);
    return c->near_vector;
}

/* b = P^dagger rows */
static void restrict_to(coarse *c, field *b, const field *rows)
{
    field *near = gathered(c) ? near_vector(c, b) : b;
    coarse_restrict(&c->a, near, c->vectors, rows);
    if (near != b) field_redistribute(b, near);
}

/* ---- the system ---- */

static void hop(coarse *c, field *y, parity p, double a, const field *x, double b, const field *add)
{
    coarse_hop(y, p, a, c->links, x, b, add, c->products);
}

static void reserve_work(coarse *c, const field *x)
{
    if (c->work && c->work->nrhs == x->nrhs) return;
    field_destroy(c->work);
    const field_shape shape = field_shape_coarse(c->a.vectors, x->groups);
    c->work = field_create_shape(c->lat, &shape, x->prec, PARITY_ODD, x->where);
}

static void apply_plain(coarse *c, field *y, const field *x)
{
    if (!red_black(c)) {
        hop(c, y, PARITY_EVEN, 1, x, 1, x);
        return;
    }
    reserve_work(c, x);
    hop(c, c->work, PARITY_ODD, 1, x, 0, NULL);
    hop(c, y, PARITY_EVEN, -1, c->work, 1, x);
}

static double twist_of_finest(const coarse *c);

/* The dagger of a system S is gamma_5 X S X^-1 gamma_5; with a twisted mass those would be of -mu. */
static void apply(const linop *op, field *y, const field *x, int dagger)
{
    coarse *c = of(op);
    REQUIRE(!dagger || twist_of_finest(c) == 0, "the adjoint of a coarse operator of twisted mass %g",
            twist_of_finest(c));
    if (!dagger) {
        apply_plain(c, y, x);
        return;
    }
    field *t = field_like(x), *s = field_like(x);
    coarse_local(t, PARITY_EVEN, c->inverse, x, GAMMA_RIGHT);
    apply_plain(c, s, t);
    coarse_local(y, PARITY_EVEN, c->diagonal, s, GAMMA_LEFT);
    field_destroy(s);
    field_destroy(t);
}

static linop *at(linop *op, precision prec, place where)
{
    REQUIRE(op->prec == prec && op->where == where, "a coarse operator in %s precision", precision_names[prec]);
    return op;
}

static void refresh(linop *op)
{
    (void)op; /* built by coarse_build() alone */
}

static void destroy(linop *op)
{
    (void)op; /* coarse_destroy() */
}

/* ---- the coarsening of a coarse system ---- */

static void residual(linop *op, field *rows, const field *v)
{
    coarse_local(rows, PARITY_EVEN, of(op)->diagonal, v, GAMMA_NONE);
}

static void vector(linop *op, field *rows, const field *v)
{
    (void)op;
    vector_copy(rows, v);
}

static void correct(linop *op, field *v, const field *rows)
{
    (void)op;
    vector_axpby(v, 1, rows, 1);
}

static void complete(linop *op, field *rows, const field *v)
{
    coarse *c = of(op);
    if (!red_black(c)) {
        vector_copy(rows, v);
        return;
    }
    field even = field_part(rows, PARITY_EVEN);
    vector_copy(&even, v);
    hop(c, rows, PARITY_ODD, -1, v, 0, NULL);
}

/* Links of the precision of operators: those that there are, or others that have their values. */
static field *full_links(const coarse *c)
{
    if (c->links->prec == c->system.prec) return c->links;
    const field_shape shape = field_shape_of(c->links);
    return field_create_shape(c->lat, &shape, c->system.prec, c->links->par, c->links->where);
}

static field *open_links(const coarse *c)
{
    field *full = full_links(c);
    if (full != c->links) coarse_expand(full, c->links);
    return full;
}

static void close_links(const coarse *c, field *full)
{
    if (full != c->links) field_destroy(full);
}

static void keep_links(coarse *c, field *full)
{
    if (full != c->links) coarse_compress(c->links, full);
    close_links(c, full);
}

static void galerkin(linop *op, const aggregation *a, field *links, field *diagonal, const field *vectors)
{
    coarse *c = of(op);
    field *full = open_links(c);
    coarse_galerkin(a, links, diagonal, vectors, full, c->diagonal);
    close_links(c, full);
}

static unsigned long version(const linop *op)
{
    return of(op)->version;
}

static double twist(const linop *op)
{
    return twist_of_finest(of(op));
}

static const linop_table plain_table = {
    .name = "coarse", .apply = apply, .at = at, .refresh = refresh, .destroy = destroy};

static const coarsening further = {.residual = residual,
                                   .vector = vector,
                                   .correct = correct,
                                   .complete = complete,
                                   .galerkin = galerkin,
                                   .version = version,
                                   .twist = twist};

static double twist_of_finest(const coarse *c)
{
    return c->how->twist ? c->how->twist(c->fine) : 0;
}

/* ---- objects ---- */

static coarse *create(linop *fine, const coarse_settings *s, const coarse *from)
{
    char message[512];
    coarse *c = calloc(1, sizeof *c);
    REQUIRE_MEMORY(c, "out of memory");
    REQUIRE(fine->coarsening, "operator %s has no coarse one", fine->table->name);
    c->fine = fine;
    c->how = fine->coarsening;
    c->a = (aggregation){.fine = fine->lat, .spins = c->how->spins, .colours = c->how->colours, .vectors = s->vectors};
    if (fine->table == &plain_table) {
        c->a.spins = 2;
        c->a.colours = of(fine)->a.vectors;
    }
    REQUIRE(coarse_fits(fine->lat, c->a.spins * c->a.colours, s, message, sizeof message), "%s", message);
    memcpy(c->a.block, s->block, sizeof s->block);
    c->from = from;
    c->mu_factor = s->mu_factor != 0 ? s->mu_factor : 1;
    c->products = s->tensor_cores ? COARSE_TENSOR_CORES : COARSE_IN_PRECISION;
    c->root = fine->table == &plain_table ? of(fine)->root : fine->lat->group;
    if (from) {
        c->lat = from->lat;
        c->near = from->near;
    } else {
        open_lattices(c, s);
    }
    c->a.coarse = c->near;
    const int n = 2 * s->vectors;
    const field_shape links = field_shape_matrices(2, s->vectors, n, 8),
                      one = field_shape_matrices(2, s->vectors, n, 1);
    const parity whole = coarse_whole(c->lat);
    c->vectors = from ? from->vectors : coarse_null_vectors(&c->a, fine->prec, fine->where);
    c->links = field_create_shape(c->lat, &links, s->half_links && fine->prec == PREC_SINGLE ? PREC_HALF : fine->prec,
                                  whole, fine->where);
    c->diagonal = field_create_shape(c->lat, &one, fine->prec, whole, fine->where);
    c->inverse = field_create_shape(c->lat, &one, fine->prec, whole, fine->where);
    const double sites = (double)c->lat->local_volume;
    c->system = (linop){.table = &plain_table,
                        .coarsening = &further,
                        .lat = c->lat,
                        .shape = field_shape_coarse(s->vectors, 1),
                        .par = PARITY_EVEN,
                        .prec = fine->prec,
                        .where = fine->where,
                        .flops = sites * 8 * 8 * n * n};
    return c;
}

coarse *coarse_create(linop *fine, const coarse_settings *s)
{
    return create(fine, s, NULL);
}

coarse *coarse_create_shifted(linop *fine, const coarse *from)
{
    coarse_settings s = {.vectors = from->a.vectors,
                         .half_links = from->links->prec == PREC_HALF,
                         .mu_factor = from->mu_factor,
                         .tensor_cores = from->products == COARSE_TENSOR_CORES};
    memcpy(s.block, from->a.block, sizeof s.block);
    REQUIRE(fine->prec == from->fine->prec && fine->where == from->fine->where, "null vectors of another precision");
    return create(fine, &s, from);
}

void coarse_destroy(coarse *c)
{
    if (!c) return;
    field *const all[] = {c->from ? NULL : c->vectors,
                          c->links,
                          c->diagonal,
                          c->inverse,
                          c->rows[0],
                          c->rows[1],
                          c->work,
                          c->near_vector};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    if (!c->from) close_lattices(c);
    free(c);
}

linop *coarse_system(coarse *c)
{
    return &c->system;
}

const aggregation *coarse_aggregation(const coarse *c)
{
    return &c->a;
}

const field *coarse_prolongator(const coarse *c)
{
    return c->vectors;
}

field *coarse_vector(const coarse *c, int nrhs)
{
    const field_shape shape = field_shape_coarse(c->a.vectors, nrhs);
    return field_create_shape(c->lat, &shape, c->fine->prec, coarse_whole(c->lat), c->fine->where);
}

/* Rows on the sites of the fine system, or on all. */
static field *fine_rows(coarse *c, int whole, int nrhs)
{
    field **rows = &c->rows[whole];
    if (*rows && (*rows)->nrhs == nrhs) return *rows;
    field_destroy(*rows);
    const field_shape shape = {FIELD_COARSE, nrhs, 1, c->a.spins, c->a.colours, 0, ORDER_ROWS};
    *rows = field_create_shape(c->fine->lat, &shape, c->fine->prec, whole ? coarse_whole(c->fine->lat) : c->fine->par,
                               c->fine->where);
    return *rows;
}

void coarse_set_vector(coarse *c, int k, const field *v)
{
    field *rows = fine_rows(c, 1, 1);
    c->how->complete(c->fine, rows, v);
    coarse_insert(&c->a, c->vectors, k, rows);
}

/* The Galerkin product, where the coarse lattice is. */
static void product(coarse *c, field *links)
{
    if (!gathered(c)) {
        c->how->galerkin(c->fine, &c->a, links, c->diagonal, c->vectors);
        return;
    }
    const field_shape shape = field_shape_of(links), one = field_shape_of(c->diagonal);
    const parity whole = coarse_whole(c->near);
    field *near_links = field_create_shape(c->near, &shape, links->prec, whole, links->where),
          *near_diagonal = field_create_shape(c->near, &one, links->prec, whole, links->where);
    c->how->galerkin(c->fine, &c->a, near_links, near_diagonal, c->vectors);
    field_redistribute(links, near_links);
    field_redistribute(c->diagonal, near_diagonal);
    field_destroy(near_diagonal);
    field_destroy(near_links);
}

double coarse_build(coarse *c)
{
    const double dependent = coarse_orthonormalise(&c->a, c->vectors);
    field *links = full_links(c);
    product(c, links);
    if (twist_of_finest(c) != 0)
        coarse_shift(c->diagonal, coarse_number(1, 0), coarse_number(0, c->mu_factor * twist_of_finest(c)));
    coarse_invert(c->inverse, c->diagonal);
    coarse_fold(links, c->inverse);
    keep_links(c, links);
    c->version++;
    return dependent;
}

/* X' = X + s, and Y' = X'^-1 X Y = (1 - X'^-1 s) Y, s of each chirality. */
void coarse_build_shifted(coarse *c, const operator_shift *by)
{
    const double twist = c->mu_factor * by->twist;
    REQUIRE(c->from, "a coarse operator with null vectors of its own");
    field_copy(c->diagonal, c->from->diagonal);
    coarse_shift(c->diagonal, coarse_number(1, 0), coarse_number(by->number, twist));
    coarse_invert(c->inverse, c->diagonal);
    field *factor = field_like(c->inverse);
    field_copy(factor, c->inverse);
    coarse_shift(factor, coarse_number(-by->number, -twist), coarse_number(1, 0));
    field *links = full_links(c);
    if (links != c->links) coarse_expand(links, c->from->links);
    else field_copy(links, c->from->links);
    coarse_fold(links, factor);
    keep_links(c, links);
    field_destroy(factor);
    c->version++;
}

/* ---- transfer ---- */

void coarse_from_fine(coarse *c, field *b, const field *r)
{
    field *rows = fine_rows(c, 0, r->nrhs);
    c->how->residual(c->fine, rows, r);
    restrict_to(c, b, rows);
}

void coarse_to_fine(coarse *c, field *v, const field *x)
{
    field *rows = fine_rows(c, 0, v->nrhs);
    field *near = gathered(c) ? near_vector(c, x) : NULL;
    if (near) field_redistribute(near, x);
    coarse_prolong(&c->a, rows, c->vectors, near ? near : x);
    c->how->correct(c->fine, v, rows);
}

void coarse_project(coarse *c, field *b, const field *v)
{
    field *rows = fine_rows(c, 1, v->nrhs);
    c->how->complete(c->fine, rows, v);
    restrict_to(c, b, rows);
}

void coarse_prepare(coarse *c, field *source, field *b)
{
    field *t = field_like(b);
    FOR_PARITIES(p, b) coarse_local(t, (parity)p, c->inverse, b, GAMMA_NONE);
    vector_copy(b, t);
    field_destroy(t);
    if (!red_black(c)) {
        vector_copy(source, b);
        return;
    }
    const field odd = field_part(b, PARITY_ODD), even = field_part(b, PARITY_EVEN);
    hop(c, source, PARITY_EVEN, -1, &odd, 1, &even);
}

void coarse_reconstruct(coarse *c, field *x, const field *y, const field *b)
{
    if (!red_black(c)) {
        vector_copy(x, y);
        return;
    }
    field even = field_part(x, PARITY_EVEN), odd = field_part(x, PARITY_ODD);
    const field b_odd = field_part(b, PARITY_ODD);
    vector_copy(&even, y);
    hop(c, &odd, PARITY_ODD, -1, y, 1, &b_odd);
    field_written(x);
}

void coarse_apply(coarse *c, field *y, const field *x)
{
    field *t = field_like(x);
    FOR_PARITIES(p, x) hop(c, t, (parity)p, 1, x, 1, x);
    FOR_PARITIES(p, x) coarse_local(y, (parity)p, c->diagonal, t, GAMMA_NONE);
    field_destroy(t);
}
