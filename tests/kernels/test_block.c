/* Blocks of sites: the hop that stays in its blocks is the oracle's hop with the links between blocks set to zero, in
 * every precision and number of reals, for every way to cut; a step of minimal residual has in each block the
 * coefficient that sums in another order give, touches its colour alone, and shrinks no block's residual less than it
 * should; so does a step of conjugate gradients, over all slices, also where vectors grow; and neither process grid nor
 * lanes leave a trace. */
#include "tests/kernels/kit.h"

#include "kernels/ops/block.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

#define MAX_GRIDS 16

typedef struct {
    struct ref_lattice l;
    int size[4];
} cut;

static void place_of(int x[4], const cut *c, size_t site)
{
    for (int d = 0; d < 4; d++) {
        x[d] = (int)(site % (size_t)c->l.size[d]);
        site /= (size_t)c->l.size[d];
    }
}

static int block_number(const cut *c, size_t site)
{
    int x[4], b = 0;
    place_of(x, c, site);
    for (int d = 3; d >= 0; d--) b = b * (c->l.size[d] / c->size[d]) + x[d] / c->size[d];
    return b;
}

static int block_colour(const cut *c, size_t site)
{
    int x[4], colour = 0;
    place_of(x, c, site);
    for (int d = 0; d < 4; d++) colour += x[d] / c->size[d];
    return colour % 2;
}

static int block_count(const cut *c)
{
    int n = 1;
    for (int d = 0; d < 4; d++) n *= c->l.size[d] / c->size[d];
    return n;
}

/* Links without those that lead from one block to another. */
static double complex *cut_links(const cut *c, const double complex *u)
{
    double complex *v = kit_copy(u, ref_volume(c->l) * 36 * sizeof *v);
    for (size_t site = 0; site < ref_volume(c->l); site++) {
        int x[4];
        place_of(x, c, site);
        for (int mu = 0; mu < 4; mu++)
            if (x[mu] % c->size[mu] == c->size[mu] - 1) memset(v + 36 * site + 9 * mu, 0, 9 * sizeof *v);
    }
    return v;
}

/* The sizes that every rank's box can be cut into, one after the other; false after the last. */
static int next_size(const lattice *lat, int number, int size[4])
{
    static const int wanted[][4] = {{0, 0, 0, 0}, {2, 2, 2, 2}, {4, 2, 2, 4}, {1, 2, 4, 1}, {4, 4, 4, 4}, {2, 4, 2, 8}};
    if (number >= (int)(sizeof wanted / sizeof wanted[0])) return 0;
    for (int d = 0; d < 4; d++) {
        const int w = wanted[number][d];
        size[d] = w == 0 || lat->local[d] % w ? lat->local[d] : w;
    }
    return 1;
}

static blocks *make(const lattice *lat, const int size[4])
{
    char message[512];
    blocks *b = blocks_create(lat, size, kit_place, message, sizeof message);
    REQUIRE(b, "%s", message);
    return b;
}

/* ---- the hop ---- */

static void check_hop(const cut *c, const lattice *lat, const double complex *u, const field *links, precision prec,
                      parity p, int sign)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 71);
    const size_t v = ref_volume(c->l);
    double *numbers = kit_normals(24 * v, &rng);
    field *in = kit_field(lat, FIELD_SPINOR, prec, kit_other[p], 1, numbers);
    field *out = field_create(lat, FIELD_SPINOR, prec, p, 1, kit_place);
    double complex *psi = kit_spinor(in, 0), *want = ref_spinor_new(c->l), *without = cut_links(c, u);
    blocks *b = make(lat, c->size);
    const wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = sign, .links = links, .cut = b};
    wilson_hop(out, p, in, &call);
    ref_hop(want, psi, c->l, without, lat->time_sign, sign < 0);
    kit_only(want, c->l, p);
    double complex *have = kit_spinor(out, 0);
    const double scale = kit_largest(want, 24 * v);
    KIT_NEAR(kit_distance(have, want, 24 * v) / scale, 0, 200 * kit_epsilon[prec] + 4 * kit_step[prec]);
    blocks_destroy(b);
    free(have);
    free(without);
    free(want);
    free(psi);
    field_destroy(out);
    field_destroy(in);
    free(numbers);
}

static void test_hop(struct ref_lattice l)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 72);
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    double complex *u = kit_random_gauge(l, 0, &rng);
    field *links = kit_links(lat, u);
    cut c = {.l = l};
    for (int number = 0; next_size(lat, number, c.size); number++)
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int reals = 12; reals <= 18; reals += 6) {
                field *stored = kit_convert(links, reals == 18 ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, (precision)prec);
                kit_where("hop in blocks of %d.%d.%d.%d, %s, %d reals", c.size[0], c.size[1], c.size[2], c.size[3],
                          kit_prec[prec], reals);
                check_hop(&c, lat, u, stored, (precision)prec, number % 2 ? PARITY_ODD : PARITY_EVEN,
                          reals == 18 ? 1 : -1);
                field_destroy(stored);
            }
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

/* ---- minimal residual ---- */

typedef struct {
    double complex *x, *r, *q;
} vectors;

/* The same step, with sums in double in the order of the sites. */
static void slow_step(const cut *c, vectors *s, double w, int colour)
{
    const size_t n = ref_volume(c->l);
    double complex *qr = kit_alloc((size_t)block_count(c), sizeof *qr);
    double *qq = kit_alloc((size_t)block_count(c), sizeof *qq);
    for (size_t i = 0; i < 12 * n; i++) {
        const int b = block_number(c, i / 12);
        qr[b] += conj(s->q[i]) * s->r[i];
        qq[b] += creal(conj(s->q[i]) * s->q[i]);
    }
    for (size_t i = 0; i < 12 * n; i++) {
        const int b = block_number(c, i / 12);
        if (qq[b] == 0 || (colour >= 0 && block_colour(c, i / 12) != colour)) continue;
        const double complex a = w * qr[b] / qq[b];
        s->x[i] += a * s->r[i];
        s->r[i] -= a * s->q[i];
    }
    free(qq);
    free(qr);
}

static field *random_vector(const lattice *lat, precision prec, parity p, uint64_t seed, double size)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double *numbers = kit_normals((size_t)lat->volume * 24, &rng);
    for (size_t i = 0; i < (size_t)lat->volume * 24; i++) numbers[i] *= size;
    field *f = kit_field(lat, FIELD_SPINOR, prec, p, 1, numbers);
    free(numbers);
    return f;
}

/* `norm`: of q over r. */
static void check_step(const cut *c, const lattice *lat, precision prec, parity p, double size, double norm, int colour)
{
    field *x = random_vector(lat, prec, p, 73, size), *r = random_vector(lat, prec, p, 74, size),
          *q = random_vector(lat, prec, p, 75, norm * size);
    vectors want = {kit_spinor(x, 0), kit_spinor(r, 0), kit_spinor(q, 0)};
    const size_t n = 24 * ref_volume(c->l);
    blocks *b = make(lat, c->size);
    blocks_measure(b, r);
    blocks_minimise(b, x, r, q, 0.9, colour);
    slow_step(c, &want, 0.9, colour);
    double complex *x_have = kit_spinor(x, 0), *r_have = kit_spinor(r, 0);
    /* Sums keep some 2^-30 of themselves; in single they are made of numbers with 24 bits. */
    const double allowed = 1e-7 * (prec == PREC_DOUBLE) + 1e-5 * (prec != PREC_DOUBLE) + 2.5 * kit_step[prec];
    KIT_NEAR(kit_distance(x_have, want.x, n) / kit_largest(want.x, n), 0, allowed);
    KIT_NEAR(kit_distance(r_have, want.r, n) / kit_largest(want.r, n), 0, allowed);
    free(r_have);
    free(x_have);
    free(want.q);
    free(want.r);
    free(want.x);
    blocks_destroy(b);
    field_destroy(q);
    field_destroy(r);
    field_destroy(x);
}

static void test_steps(struct ref_lattice l)
{
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    cut c = {.l = l};
    for (int number = 0; next_size(lat, number, c.size); number++) {
        blocks *b = make(lat, c.size);
        const int colours = blocks_colours(b);
        blocks_destroy(b);
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int colour = -1; colour < (colours == 2 ? 2 : 0); colour++) {
                static const double norms[3] = {8, 0.1, 1e6};
                const double size = colour == 0 ? 1e-6 : 1e4, norm = norms[(number + colour + 1) % 3];
                kit_where("a step in blocks of %d.%d.%d.%d, %s, colour %d, norm %g", c.size[0], c.size[1], c.size[2],
                          c.size[3], kit_prec[prec], colour, norm);
                check_step(&c, lat, (precision)prec, number % 2 ? PARITY_ODD : PARITY_EVEN, size, norm, colour);
            }
    }
    lattice_destroy(lat);
}

/* ---- conjugate gradients ---- */

enum { SLICES = 3 };

/* A vector of some slices with numbers of this size. */
static field *random_slices(const lattice *lat, precision prec, uint64_t seed, double size)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    field *f = field_create_shape(lat, &(field_shape){.kind = FIELD_SPINOR, .nrhs = 1, .Ls = SLICES}, prec, PARITY_ODD,
                                  kit_place);
    double *numbers = kit_normals(kit_reals(f), &rng);
    for (size_t i = 0; i < kit_reals(f); i++) numbers[i] *= size;
    kit_scatter(f, numbers);
    free(numbers);
    return f;
}

typedef struct {
    double *x, *r, *p, *q;
} arrays;

static arrays gathered(const field *x, const field *r, const field *p, const field *q)
{
    return (arrays){kit_gather(x), kit_gather(r), kit_gather(p), kit_gather(q)};
}

static void free_arrays(arrays *a)
{
    free(a->x);
    free(a->r);
    free(a->p);
    free(a->q);
}

/* alpha = (r, r) / (p, q), beta = alpha^2 (q, q) / (r, r) - 1, or zero; no step where (p, q) is not positive. */
static void slow_cg_step(const cut *c, arrays *a)
{
    const size_t n = 24 * SLICES, all = n * ref_volume(c->l);
    double *pq = kit_alloc((size_t)block_count(c), sizeof *pq), *qq = kit_alloc((size_t)block_count(c), sizeof *qq),
           *rr = kit_alloc((size_t)block_count(c), sizeof *rr);
    for (size_t i = 0; i < all; i++) {
        const int b = block_number(c, i / n);
        pq[b] += a->p[i] * a->q[i];
        qq[b] += a->q[i] * a->q[i];
        rr[b] += a->r[i] * a->r[i];
    }
    for (size_t i = 0; i < all; i++) {
        const int b = block_number(c, i / n);
        const double alpha = pq[b] > 0 ? rr[b] / pq[b] : 0, beta = fmax(0, alpha * alpha * qq[b] / rr[b] - 1);
        a->x[i] += alpha * a->p[i];
        a->r[i] -= alpha * a->q[i];
        a->p[i] = a->r[i] + beta * a->p[i];
    }
    free(rr);
    free(qq);
    free(pq);
}

/* Two steps, the second with the q that it is given. Where q is nearly orthogonal to p, the first makes r and p much
 * larger, and the sums of the second have to have room for that. */
static void check_cg(const cut *c, const lattice *lat, precision prec, double size, double norm)
{
    field *x = random_slices(lat, prec, 83, size), *r = random_slices(lat, prec, 84, size),
          *p = random_slices(lat, prec, 84, size), *q = random_slices(lat, prec, 85, size * norm);
    blocks *b = make(lat, c->size);
    blocks_measure(b, r);
    for (int k = 0; k < 2; k++) {
        arrays want = gathered(x, r, p, q);
        slow_cg_step(c, &want);
        blocks_cg_step(b, x, r, p, q);
        arrays have = gathered(x, r, p, q);
        const size_t n = kit_reals(x);
        /* Sums keep some 2^-30 of what can be in them; in single their terms have 24 bits, and (p, q) is small. */
        const double allowed = (prec == PREC_DOUBLE ? 1e-6 : 1e-3) + 2.5 * kit_step[prec];
        KIT_NEAR(kit_distance(have.x, want.x, n) / kit_largest(want.x, n), 0, allowed);
        KIT_NEAR(kit_distance(have.r, want.r, n) / kit_largest(want.r, n), 0, allowed);
        KIT_NEAR(kit_distance(have.p, want.p, n) / kit_largest(want.p, n), 0, allowed);
        free_arrays(&have);
        free_arrays(&want);
        vector_axpby(q, norm, p, 0.1);
    }
    blocks_destroy(b);
    field_destroy(q);
    field_destroy(p);
    field_destroy(r);
    field_destroy(x);
}

static void test_cg(struct ref_lattice l)
{
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    cut c = {.l = l};
    for (int number = 0; next_size(lat, number, c.size); number++)
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            static const double norms[3] = {8, 0.1, 1e4}, sizes[2] = {1e-5, 1e4};
            kit_where("conjugate gradients in blocks of %d.%d.%d.%d, %s", c.size[0], c.size[1], c.size[2], c.size[3],
                      kit_prec[prec]);
            check_cg(&c, lat, (precision)prec, sizes[prec % 2], norms[number % 3]);
        }
    lattice_destroy(lat);
}

/* A device sums many sites a thread only where there are this many: rows of 16, three of which are a block's, so that
 * neighbouring threads are in one block, then in two; and the whole box as one block. */
static void test_large(void)
{
    cut c = {.l = {{32, 30, 32, 32}}, .size = {32, 3, 4, 4}};
    lattice *lat = kit_place == PLACE_DEVICE ? kit_lattice(c.l, 1, -1) : NULL;
    if (!lat) return;
    for (int whole = 0; whole < 2; whole++) {
        for (int d = 0; d < 4; d++)
            if (whole || lat->local[d] % c.size[d]) c.size[d] = lat->local[d];
        kit_where("a step in large blocks of %d.%d.%d.%d", c.size[0], c.size[1], c.size[2], c.size[3]);
        check_step(&c, lat, PREC_HALF, PARITY_EVEN, 1, 8, -1);
    }
    lattice_destroy(lat);
}

/* Zero vectors have no coefficient. */
static void test_zero(void)
{
    lattice *lat = kit_lattice(kit_shapes[0], 1, -1);
    if (!lat) return;
    const int size[4] = {0};
    blocks *b = make(lat, size);
    field *x = random_vector(lat, PREC_HALF, PARITY_EVEN, 76, 1), *r = field_like(x), *q = field_like(x),
          *before = field_like(x);
    field_copy(before, x);
    blocks_measure(b, r);
    blocks_minimise(b, x, r, q, 1, -1);
    CHECK_NEAR(vector_norm2(r, 0), 0, 0);
    /* Stored again with the same scale: the rounding of arithmetic is left. */
    const double x2 = vector_norm2(x, 0);
    CHECK_NEAR(vector_axpy_norm2(before, -1, x, 0) / x2, 0, 1e-13);
    field_destroy(before);
    field_destroy(q);
    field_destroy(r);
    field_destroy(x);
    blocks_destroy(b);
    lattice_destroy(lat);
}

/* ---- bits ---- */

static double *steps_on(const int grid[4], struct ref_lattice l, precision prec)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 77);
    double complex *u = kit_random_gauge(l, 0, &rng);
    lattice *lat = lattice_create(l.size, grid, 1, -1);
    field *links = kit_links(lat, u), *stored = kit_convert(links, FIELD_LINKS, prec);
    field *r = random_vector(lat, prec, PARITY_EVEN, 78, 1), *x = field_like(r), *q = field_like(r);
    field *t = field_create(lat, FIELD_SPINOR, prec, PARITY_ODD, 1, kit_place);
    const int size[4] = {2, 2, 2, 2};
    blocks *b = make(lat, size);
    const wilson_hop_call call = {.form = HOP_PLAIN, .a = 0.3, .sign = 1, .links = stored, .cut = b};
    blocks_measure(b, r);
    for (int k = 0; k < 3; k++) {
        wilson_hop(t, PARITY_ODD, r, &call);
        wilson_hop(q, PARITY_EVEN, t, &call);
        vector_axpby(q, 1, r, 1);
        blocks_minimise(b, x, r, q, 1.1, k == 1 ? 0 : -1);
    }
    double *result = kit_gather(x);
    blocks_destroy(b);
    field_destroy(t);
    field_destroy(q);
    field_destroy(x);
    field_destroy(r);
    field_destroy(stored);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
    return result;
}

static void test_grids(void)
{
    const struct ref_lattice l = kit_shapes[KIT_SHAPES - 1];
    int grids[MAX_GRIDS][4];
    const int n = kit_grids(l, grids, MAX_GRIDS);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        double *first = steps_on(grids[0], l, (precision)prec);
        for (int i = 1; i < n; i++) {
            double *other = steps_on(grids[i], l, (precision)prec);
            kit_where("%s on grid %d.%d.%d.%d", kit_prec[prec], grids[i][0], grids[i][1], grids[i][2], grids[i][3]);
            KIT_NEAR(kit_distance(first, other, 24 * ref_volume(l)), 0, 0);
            free(other);
        }
        free(first);
    }
}

static void test_refusal(void)
{
    lattice *lat = kit_lattice(kit_shapes[0], 1, -1);
    if (!lat) return;
    char message[512] = "";
    CHECK(blocks_create(lat, (const int[4]){4, 4, 3, 4}, kit_place, message, sizeof message) == NULL);
    CHECK_HAS(message, "blocks of 4.4.3.4 do not divide");
    CHECK_HAS(message, "in direction");
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int s = 0; s < KIT_SHAPES - 1; s++) {
        test_hop(kit_shapes[s]);
        if (s != 2) test_steps(kit_shapes[s]);
        if (s < 3) test_cg(kit_shapes[s]);
    }
    test_large();
    test_zero();
    test_grids();
    test_refusal();
    return kit_end();
}
