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
    double theta[4]; /* angles of the boundary conditions */
} quark;

static const quark quarks[] = {
    {.Ls = 4, .p = PARITY_EVEN, .storage = FIELD_LINKS, .mass = 0.05},
    {.Ls = 3, .p = PARITY_ODD, .storage = FIELD_LINKS_TWO_ROWS, .mass = 0.2, .theta = {0.7, -1.9, 2.3, 0.5}},
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
    link_map *map = link_map_twist(NULL, links, q->theta);
    if (q->Ls) {
        m.walls = mobius_fermion(links, &(mobius_settings){q->mass, 1.8, 1.5, 0.5, q->Ls, q->p, q->storage, map, NULL});
        m.normal = m.walls->normal;
    } else {
        m.w = wilson_create(
            links,
            &(wilson_settings){
                .mass = q->mass, .c_sw = q->c_sw, .form = q->form, .p = q->p, .storage = q->storage, .map = map});
        m.normal = normal_create(wilson_schur(m.w));
    }
    link_map_destroy(map);
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

/* ---- the preconditioner ---- */

static solver_settings preconditioner_of(const cut *c, int steps, int snakes, const char *prec)
{
    solver_settings s = settings_of("multisplitting", prec);
    multisplitting_keys *k = multisplitting_keys_of(&s);
    *k = (multisplitting_keys){.steps = steps, .snakes = snakes};
    memcpy(k->block, c->size, sizeof k->block);
    return s;
}

/* sum[b] = (x, y) of each block */
static void block_dots(double *sum, const cut *c, const double *x, const double *y, size_t n)
{
    for (int b = 0; b < block_count(c); b++) sum[b] = 0;
    for (size_t i = 0; i < n * ref_volume(c->l); i++) sum[block_number(c, i / n)] += x[i] * y[i];
}

/* What conjugate gradients find in each block, by their book. */
static double *slow_steps(linop *local, const cut *c, const field *b, int steps)
{
    const int blocks = block_count(c);
    const size_t n = reals_of(b), all = n * ref_volume(c->l);
    double *x = kit_alloc(all, sizeof *x), *r = kit_gather(b), *p = kit_gather(b);
    double *rr = kit_alloc((size_t)blocks, sizeof *rr), *pq = kit_alloc((size_t)blocks, sizeof *pq),
           *next = kit_alloc((size_t)blocks, sizeof *next);
    field *f = field_like(b);
    block_dots(rr, c, r, r, n);
    for (int k = 0; k < steps; k++) {
        kit_scatter(f, p);
        double *q = applied(local, f);
        block_dots(pq, c, p, q, n);
        for (size_t i = 0; i < all; i++) {
            const int at = block_number(c, i / n);
            x[i] += rr[at] / pq[at] * p[i];
            r[i] -= rr[at] / pq[at] * q[i];
        }
        block_dots(next, c, r, r, n);
        for (size_t i = 0; i < all; i++) {
            const int at = block_number(c, i / n);
            p[i] = r[i] + next[at] / rr[at] * p[i];
        }
        memcpy(rr, next, (size_t)blocks * sizeof *rr);
        free(q);
    }
    field_destroy(f);
    free(next);
    free(pq);
    free(rr);
    free(p);
    free(r);
    return x;
}

static void check_steps(const quark *q, const cut *c, const lattice *lat, const double complex *u)
{
    enum { STEPS = 5 };
    field *links = kit_links(lat, u);
    made m = make(q, links);
    field *b = random_vector(m.normal, 25), *x = field_like(b);
    for (int snakes = 0; snakes < 2; snakes++) {
        double *want = slow_steps(local_of(m.normal, c, snakes), c, b, STEPS);
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            const solver_settings set = preconditioner_of(c, STEPS, snakes, precision_names[prec]);
            const solve_result r = precondition_by(&set, m.normal, x, b);
            double *have = kit_gather(x);
            /* Sums over blocks keep some 2^-30 of themselves, and steps lose digits. */
            const double allowed = prec == PREC_DOUBLE ? 1e-6 : prec == PREC_SINGLE ? 1e-4 : 1000 * kit_step[prec];
            KIT_NEAR(apart(have, want, kit_reals(x)), 0, allowed);
            KIT_INT(r.iterations, STEPS);
            free(have);
        }
        free(want);
    }
    field_destroy(x);
    field_destroy(b);
    give_up(&m);
    field_destroy(links);
}

static void test_steps(void)
{
    const cut *c = &cuts[1];
    int grids[MAX_GRIDS][4];
    const int n = fitting(c, grids);
    struct ref_rng rng;
    ref_rng_seed(&rng, 26);
    double complex *u = kit_random_gauge(c->l, 0.4, &rng);
    for (int i = 0; i < QUARKS && n > 0; i++) {
        lattice *lat = lattice_create(c->l.size, grids[i % n], 1, -1);
        kit_where("steps with quark %d", i);
        check_steps(&quarks[i], c, lat, u);
        lattice_destroy(lat);
    }
    free(u);
}

/* ---- bits ---- */

/* All numbers of a vector that this rank holds alone. */
static double *here(const field *f)
{
    const size_t slice = (size_t)(f->lat->local_volume / f->lat->local[3]) * reals_of(f);
    double *a = kit_alloc(slice * (size_t)f->lat->local[3], sizeof *a);
    for (int t = 0; t < f->lat->local[3]; t++) field_export(f, t, a + (size_t)t * slice);
    return a;
}

static double *result_on(lattice *lat, int alone, const quark *q, const double complex *u, precision prec)
{
    const cut c = {.size = {2, 2, 2, 2}};
    const solver_settings set = preconditioner_of(&c, 3, 1, precision_names[prec]);
    field *links = kit_links(lat, u);
    made m = make(q, links);
    field *b = random_vector(m.normal, 27), *x = field_like(b);
    precondition_by(&set, m.normal, x, b);
    double *result = alone ? here(x) : kit_gather(x);
    field_destroy(x);
    field_destroy(b);
    give_up(&m);
    field_destroy(links);
    lattice_destroy(lat);
    return result;
}

/* Every grid of all ranks has the bits of one rank alone. */
static void test_bits(void)
{
    const struct ref_lattice l = {{4, 8, 4, 8}};
    int grids[MAX_GRIDS][4];
    const int n = kit_grids(l, grids, MAX_GRIDS);
    struct ref_rng rng;
    ref_rng_seed(&rng, 28);
    double complex *u = kit_random_gauge(l, 0.4, &rng);
    for (int k = 0; k < QUARKS; k += 2)
        for (int prec = PREC_DOUBLE; prec < PREC_COUNT; prec++) {
            const size_t reals = ref_volume(l) * 24 * (size_t)(quarks[k].Ls ? quarks[k].Ls : 1);
            double *first = result_on(lattice_create_alone(l.size, -1), 1, &quarks[k], u, (precision)prec);
            KIT_CHECK(kit_largest(first, reals) > 0.1);
            for (int i = 0; i < n; i++) {
                double *other = result_on(lattice_create(l.size, grids[i], 1, -1), 0, &quarks[k], u, (precision)prec);
                kit_where("quark %d, %s on grid %d.%d.%d.%d", k, kit_prec[prec], grids[i][0], grids[i][1], grids[i][2],
                          grids[i][3]);
                KIT_NEAR(kit_distance(first, other, reals), 0, 0);
                free(other);
            }
            free(first);
        }
    free(u);
}

/* ---- around it ---- */

static double bytes_sent(void)
{
    double bytes, seconds;
    exchange_counted(&bytes, &seconds);
    comm_max(&bytes, 1);
    return bytes;
}

/* Once the links are there nothing is sent. */
static void test_silence(void)
{
    const cut *c = &cuts[1];
    int grids[MAX_GRIDS][4];
    if (fitting(c, grids) == 0) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 29);
    double complex *u = kit_random_gauge(c->l, 0.4, &rng);
    lattice *lat = lattice_create(c->l.size, grids[0], 1, -1);
    field *links = kit_links(lat, u);
    made m = make(&quarks[0], links);
    field *b = random_vector(m.normal, 30), *x = field_like(b);
    const solver_settings set = preconditioner_of(c, 2, 1, "half");
    const double none = bytes_sent();
    precondition_by(&set, m.normal, x, b);
    const double before = bytes_sent();
    precondition_by(&set, m.normal, x, b);
    KIT_CHECK((before > none) == (comm_size() > 1));
    KIT_NEAR(bytes_sent(), before, 0);
    field_destroy(x);
    field_destroy(b);
    give_up(&m);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
}

/* Iterations of a solve by `type`, with the preconditioner unless that is null. */
static int iterations_of(const char *type, const solver_settings *inside, linop *op, const field *b)
{
    solver_settings set = settings_of(type, "single");
    field *x = field_like(b), *r = field_like(b);
    set.tolerance = 1e-8;
    set.inner = inside;
    if (inside) snprintf(set.inner_name, sizeof set.inner_name, "inside");
    const solve_result result = solve_by(&set, op, x, b);
    KIT_INT(result.status, SOLVE_CONVERGED);
    linop_apply(op, r, x, 0);
    vector_axpby(r, 1, b, -1);
    KIT_NEAR(sqrt(vector_norm2(r, 0) / vector_norm2(b, 0)), result.residual, 1e-12);
    KIT_CHECK(result.residual <= set.tolerance);
    if (inside) KIT_INT(result.inside, multisplitting_keys_of(inside)->steps * result.iterations);
    field_destroy(r);
    field_destroy(x);
    return result.iterations;
}

/* The numbers of iterations that steps of each number leave, with snake terms and without. */
static void check_solves(const quark *q, const cut *c, const lattice *lat, const double complex *u)
{
    static const int steps[2] = {2, 6};
    int with[2], without;
    field *links = kit_links(lat, u);
    made m = make(q, links);
    field *b = random_vector(m.normal, 31);
    const int alone = iterations_of("cg", NULL, m.normal, b);
    for (int k = 0; k < 2; k++) {
        const solver_settings inside = preconditioner_of(c, steps[k], 1, "half");
        with[k] = iterations_of("pcg", &inside, m.normal, b);
    }
    const solver_settings cut_off = preconditioner_of(c, steps[1], 0, "half");
    without = iterations_of("pcg", &cut_off, m.normal, b);
    printf("  %s: cg %d; pcg with %d and %d steps %d and %d; without snake terms %d\n", kit_case, alone, steps[0],
           steps[1], with[0], with[1], without);
    KIT_CHECK(with[0] > with[1]);
    KIT_CHECK(with[0] < alone);
    KIT_CHECK(with[1] < without);
    field_destroy(b);
    give_up(&m);
    field_destroy(links);
}

static void test_solves(void)
{
    static const quark light[] = {
        {.Ls = 4, .p = PARITY_EVEN, .storage = FIELD_LINKS, .mass = 0.01},
        {.p = PARITY_ODD, .storage = FIELD_LINKS, .form = SCHUR_SYMMETRIC, .c_sw = 1.5, .mass = -0.6}};
    const char *const recorded = "quenched-8888-b6.0.nersc";
    const cut c = {{{8, 8, 8, 8}}, {8, 8, 8, 4}};
    struct ref_lattice l;
    int grids[MAX_GRIDS][4];
    if (!data_has(recorded) || fitting(&c, grids) == 0) return;
    double complex *u = ref_read_nersc(&l, data_path(recorded));
    REQUIRE(u, "%s cannot be read", recorded);
    lattice *lat = lattice_create(c.l.size, grids[0], 1, -1);
    for (size_t i = 0; i < sizeof light / sizeof light[0]; i++) {
        kit_where("light quark %d", (int)i);
        check_solves(&light[i], &c, lat, u);
    }
    lattice_destroy(lat);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_operator();
    test_steps();
    test_bits();
    test_silence();
    test_solves();
    return kit_end();
}
