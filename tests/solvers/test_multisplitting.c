/* The multisplitting preconditioner. The operator in its blocks is R A R^T made of masks and the operator on the whole
 * lattice, in every precision; without snake terms it is made of links that do not leave their block; the two differ,
 * both are Hermitian and positive. What the preconditioner makes of a source is what conjugate gradients make of it block
 * by block, in double and by their book; for fixed blocks it has the same bits on every process grid, and sends nothing.
 * Around it pcg needs the fewer iterations the more steps it takes, fewer than cg, and fewer with snake terms. */
#include "tests/reference/data.h"
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/run/exchange.h"
#include "operators/mobius.h"

#define MAX_GRIDS 16

/* ---- quarks ---- */

typedef struct {
    int Ls; /* 0: Wilson */
    parity p;
    field_kind storage;
    schur_form form;
    double c_sw, mass;
} quark;

static const quark quarks[] = {
    {.Ls = 4, .p = PARITY_EVEN, .storage = FIELD_LINKS, .mass = 0.05},
    {.Ls = 3, .p = PARITY_ODD, .storage = FIELD_LINKS_TWO_ROWS, .mass = 0.2},
    {.p = PARITY_EVEN, .storage = FIELD_LINKS_TWO_ROWS, .form = SCHUR_ASYMMETRIC, .c_sw = 1.2, .mass = 0.1},
    {.p = PARITY_ODD, .storage = FIELD_LINKS, .form = SCHUR_SYMMETRIC, .c_sw = 1.2, .mass = 0.1},
    {.p = PARITY_ODD, .storage = FIELD_LINKS, .form = SCHUR_SYMMETRIC, .c_sw = 0, .mass = 0.1},
};
#define QUARKS ((int)(sizeof quarks / sizeof quarks[0]))

typedef struct {
    fermion *walls;
    wilson *w;
    linop *normal;
} made;

static made make(const quark *q, const field *links)
{
    made m = {0};
    if (q->Ls) {
        m.walls = mobius_fermion(links, &(mobius_settings){q->mass, 1.8, 1.5, 0.5, q->Ls, q->p, q->storage});
        m.normal = m.walls->normal;
    } else {
        m.w = wilson_create(links, &(wilson_settings){q->mass, q->c_sw, q->form, q->p, q->storage});
        m.normal = normal_create(wilson_schur(m.w));
    }
    linop_refresh(m.normal);
    return m;
}

static void give_up(made *m)
{
    if (m->walls) {
        fermion_destroy(m->walls);
        return;
    }
    linop_destroy(m->normal);
    wilson_destroy(m->w);
}

static field *random_vector(const linop *op, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    field *f = linop_vector(op, 1);
    double *numbers = kit_normals(kit_reals(f), &rng);
    kit_scatter(f, numbers);
    free(numbers);
    return f;
}

/* ---- blocks ---- */

typedef struct {
    struct ref_lattice l;
    int size[4];
} cut;

static int block_number(const cut *c, size_t site)
{
    int x[4], b = 0;
    ref_coordinates(x, c->l, site);
    for (int d = 3; d >= 0; d--) b = b * (c->l.size[d] / c->size[d]) + x[d] / c->size[d];
    return b;
}

static int block_count(const cut *c)
{
    int n = 1;
    for (int d = 0; d < 4; d++) n *= c->l.size[d] / c->size[d];
    return n;
}

/* Links without those from one block to another; a block as long as the lattice goes around. */
static double complex *cut_links(const cut *c, const double complex *u)
{
    double complex *v = kit_copy(u, ref_volume(c->l) * 36 * sizeof *v);
    for (size_t site = 0; site < ref_volume(c->l); site++)
        for (int mu = 0; mu < 4; mu++)
            if (block_number(c, site) != block_number(c, ref_shift(c->l, site, mu, 1)))
                memset(v + 36 * site + 9 * mu, 0, 9 * sizeof *v);
    return v;
}

static linop *local_of(linop *op, const cut *c, int snakes)
{
    char message[512];
    block_shape shape = {.overlap = snakes ? 2 : 0, .restricted = snakes, .closed = 1};
    memcpy(shape.size, c->size, sizeof shape.size);
    linop *local = linop_local(op, &shape, message, sizeof message);
    REQUIRE(local, "%s", message);
    linop_refresh(local);
    return local;
}

/* Numbers of a site in arrays of the whole lattice. */
static size_t reals_of(const field *f)
{
    return (size_t)(f->groups * f->reals);
}

/* R^T R A R^T R x of every block, one after the other. */
static double *masked(linop *op, const cut *c, const field *x)
{
    const size_t n = reals_of(x), sites = ref_volume(c->l);
    double *given = kit_gather(x), *part = kit_alloc(n * sites, sizeof *part), *all = kit_alloc(n * sites, sizeof *all);
    field *in = field_like(x), *out = field_like(x);
    for (int b = 0; b < block_count(c); b++) {
        for (size_t i = 0; i < n * sites; i++) part[i] = block_number(c, i / n) == b ? given[i] : 0;
        kit_scatter(in, part);
        linop_apply(op, out, in, 0);
        double *result = kit_gather(out);
        for (size_t i = 0; i < n * sites; i++)
            if (block_number(c, i / n) == b) all[i] = result[i];
        free(result);
    }
    field_destroy(out);
    field_destroy(in);
    free(part);
    free(given);
    return all;
}

static double *applied(linop *op, const field *x)
{
    field *given = linop_vector(op, 1), *y = field_like(given);
    vector_copy(given, x);
    linop_apply(op, y, given, 0);
    double *a = kit_gather(y);
    field_destroy(y);
    field_destroy(given);
    return a;
}

static double apart(const double *a, const double *b, size_t n)
{
    return kit_distance(a, b, n) / kit_largest(b, n);
}

/* ---- the operator in blocks ---- */

static void check_hermitian(linop *local)
{
    field *x = random_vector(local, 21), *y = random_vector(local, 22), *ax = field_like(x), *ay = field_like(x);
    double one[2], other[2];
    linop_apply(local, ax, x, 0);
    linop_apply(local, ay, y, 0);
    vector_dot(one, y, ax, 0);
    vector_dot(other, ay, x, 0);
    const double size = sqrt(vector_norm2(ax, 0) * vector_norm2(y, 0));
    for (int k = 0; k < 2; k++) KIT_NEAR(one[k], other[k], 1e-14 * size);
    vector_dot(one, x, ax, 0);
    KIT_CHECK(one[0] > 0);
    KIT_NEAR(one[1], 0, 1e-14 * size);
    field_destroy(ay);
    field_destroy(ax);
    field_destroy(y);
    field_destroy(x);
}

static void check_operator(const quark *q, const cut *c, const lattice *lat, const double complex *u)
{
    double complex *v = cut_links(c, u);
    field *links = kit_links(lat, u), *without = kit_links(lat, v);
    made m = make(q, links), inside = make(q, without);
    field *x = random_vector(m.normal, 23);
    const size_t n = kit_reals(x);
    double *want = masked(m.normal, c, x), *want_cut = applied(inside.normal, x);
    linop *local = local_of(m.normal, c, 1), *plain = local_of(m.normal, c, 0);
    double *have = applied(local, x), *have_cut = applied(plain, x);
    KIT_NEAR(apart(have, want, n), 0, 1e-14);
    if (block_count(c) > 1) KIT_CHECK(apart(have_cut, want, n) > 1e-3);
    /* The clover term is that of all links. */
    if (q->c_sw == 0) KIT_NEAR(apart(have_cut, want_cut, n), 0, 1e-14);
    check_hermitian(local);
    check_hermitian(plain);
    for (int prec = PREC_SINGLE; prec < PREC_COUNT; prec++) {
        double *low = applied(local_of(linop_at(m.normal, (precision)prec, kit_place), c, 1), x);
        KIT_NEAR(apart(low, want, n), 0, 200 * kit_epsilon[prec] + 8 * kit_step[prec]);
        free(low);
    }
    free(have_cut);
    free(have);
    free(want_cut);
    free(want);
    field_destroy(x);
    give_up(&inside);
    give_up(&m);
    field_destroy(without);
    field_destroy(links);
    free(v);
}

/* Blocks with walls and without; in the last two a block with what continues it is the whole lattice. */
static const cut cuts[] = {{{{8, 4, 4, 12}}, {4, 4, 4, 4}},
                           {{{4, 8, 4, 6}}, {4, 4, 4, 2}},
                           {{{8, 8, 2, 2}}, {4, 4, 2, 2}},
                           {{{4, 4, 4, 4}}, {4, 4, 4, 4}}};
#define CUTS ((int)(sizeof cuts / sizeof cuts[0]))

/* Grids whose boxes can be cut so; how many. */
static int fitting(const cut *c, int grids[][4])
{
    char message[512];
    const int n = kit_grids(c->l, grids, MAX_GRIDS);
    int fits = 0;
    for (int i = 0; i < n; i++) {
        lattice *plan = plan_lattice(c->l.size, grids[i], comm_size(), 1, message, sizeof message);
        if (blocks_fit(plan, c->size, 1, message, sizeof message)) memmove(grids[fits++], grids[i], sizeof grids[i]);
        lattice_destroy(plan);
    }
    return fits;
}

static void test_operator(void)
{
    int done = 0;
    for (int k = 0; k < CUTS; k++) {
        const cut *c = &cuts[k];
        int grids[MAX_GRIDS][4];
        const int n = fitting(c, grids);
        struct ref_rng rng;
        ref_rng_seed(&rng, 24);
        double complex *u = kit_random_gauge(c->l, 0.4, &rng);
        for (int i = 0; i < QUARKS && n > 0; i++) {
            const int *grid = grids[i % n];
            lattice *lat = lattice_create(c->l.size, grid, 1, k == 1 ? 1 : -1);
            kit_where("quark %d, cut %d, grid %d.%d.%d.%d", i, k, grid[0], grid[1], grid[2], grid[3]);
            check_operator(&quarks[i], c, lat, u);
            lattice_destroy(lat);
            done++;
        }
        free(u);
    }
    CHECK(done >= QUARKS);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_operator();
    return kit_end();
}
