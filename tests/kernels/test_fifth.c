/* Matrices in the fifth dimension, square and between different numbers of slices: against sums written down, in every
 * precision; and behind a hop, where they give what
 * a hop and a matrix give one after the other: the same bits in double and single, and below, where the fused kernel does
 * not round in between, what double makes of the stored numbers but for one rounding. On every shape, with links of three
 * and of two rows, several right-hand sides, numbers of slices that a GPU's threads do one and several at a time, faces,
 * and in blocks. */
#include "tests/kernels/kit.h"

#include "kernels/ops/block.h"
#include "kernels/ops/domainwall.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

/* other: slices that matrices from those or to those have on the other side. */
static const struct {
    int Ls, nrhs, other;
} sizes[] = {{4, 1, 12}, {3, 2, 2}, {12, 1, 1}, {2, 3, 8}};
#define SIZES (int)(sizeof sizes / sizeof sizes[0])

static fifth_matrix random_matrix(int Ls, int from, struct ref_rng *rng)
{
    fifth_matrix m = domainwall_matrix(Ls, from);
    double *numbers = kit_normals((size_t)(2 * Ls * from), rng);
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < Ls; s++)
            for (int t = 0; t < from; t++) m.of[c][s][t] = numbers[(c * Ls + s) * from + t];
    free(numbers);
    return m;
}

static field *random_walls(const lattice *lat, precision prec, int Ls, int nrhs, struct ref_rng *rng)
{
    field_shape shape = field_shape_of_kind(FIELD_SPINOR, nrhs);
    shape.Ls = Ls;
    field *f = field_create_shape(lat, &shape, prec, PARITY_BOTH, kit_place);
    double *numbers = kit_normals((size_t)lat->volume * (size_t)f->groups * 24, rng);
    kit_scatter(f, numbers);
    free(numbers);
    return f;
}

/* The largest difference of parity p, a spinor's in units of what it may be: `operations` of arithmetic on numbers of the
 * size of all, and one rounding to storage. */
static double excess(const field *have, const field *want, parity p, double operations)
{
    double *a = kit_gather(have), *b = kit_gather(want), worst = 0;
    const size_t spinors = (size_t)have->lat->volume * (size_t)have->groups;
    const double scale = kit_largest(b, 24 * spinors);
    const struct ref_lattice l = {{have->lat->size[0], have->lat->size[1], have->lat->size[2], have->lat->size[3]}};
    for (size_t i = 0; i < spinors; i++) {
        if (ref_parity(l, i / (size_t)have->groups) != (int)p) continue;
        const double allowed = operations * kit_epsilon[have->prec] * scale +
                               1.001 * kit_step[have->prec] * kit_largest(b + 24 * i, 24),
                     d = kit_distance(a + 24 * i, b + 24 * i, 24);
        worst = fmax(worst, d == 0 ? 0 : d / allowed);
    }
    free(b);
    free(a);
    return worst;
}

/* ---- alone ---- */

static void sum_over_slices(double *out, double factor, const fifth_matrix *m, int transposed, const double *in,
                            double b, const double *add)
{
    for (int s = 0; s < (transposed ? m->from : m->Ls); s++)
        for (int i = 0; i < 24; i++) {
            double y = b != 0 ? b * add[24 * s + i] : 0;
            for (int t = 0; t < (transposed ? m->Ls : m->from); t++)
                y += factor * (transposed ? m->of[i >= 12][t][s] : m->of[i >= 12][s][t]) * in[24 * t + i];
            out[24 * s + i] = y;
        }
}

static void test_matrix(struct ref_lattice l, int Ls, int from, int nrhs)
{
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 61);
    const fifth_matrix m = random_matrix(Ls, from, &rng);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int way = 0; way < 4; way++) {
            const int transposed = way % 2, rows = transposed ? from : Ls, columns = transposed ? Ls : from;
            const double b = way < 2 ? 0 : -0.7;
            field *in = random_walls(lat, (precision)prec, columns, nrhs, &rng),
                  *add = random_walls(lat, (precision)prec, rows, nrhs, &rng);
            field *out = field_like(add), *want = kit_convert(add, FIELD_SPINOR, PREC_DOUBLE);
            double *x = kit_gather(in), *y = kit_gather(add);
            for (size_t i = 0; i < (size_t)lat->volume * (size_t)nrhs; i++) {
                double sum[24 * DOMAINWALL_SLICES];
                double *const at = y + 24 * (size_t)rows * i;
                sum_over_slices(sum, 1.3, &m, transposed, x + 24 * (size_t)columns * i, b, at);
                memcpy(at, sum, 24 * (size_t)rows * sizeof *sum);
            }
            kit_scatter(want, y);
            kit_where("from %d slices to %d, %d right-hand sides, %s, way %d", columns, rows, nrhs, kit_prec[prec],
                      way);
            for (int p = 0; p < 2; p++) {
                domainwall_fifth(out, (parity)p, 1.3, &m, transposed, in, b, b != 0 ? add : NULL);
                KIT_NEAR(excess(out, want, (parity)p, 4 * columns + 4), 0, 1);
            }
            field *all[] = {in, add, out, want};
            for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
            free(x);
            free(y);
        }
    lattice_destroy(lat);
}

/* ---- behind a hop ---- */

typedef struct {
    int sign, adds;
    parity p;
    const blocks *cut;
} hop_case;

/* out by a hop and a matrix, one after the other. */
static void one_after_the_other(field *out, const field *in, const field *add, const field *links,
                                const fifth_matrix *m, const hop_case *c)
{
    const wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = c->sign, .links = links, .cut = c->cut};
    field *hopped = field_like(out);
    wilson_hop(hopped, c->p, in, &call);
    domainwall_fifth(out, c->p, -0.25, m, c->sign < 0, hopped, c->adds ? 0.9 : 0, add);
    field_destroy(hopped);
}

static void together(field *out, const field *in, const field *add, const field *links, const fifth_matrix *m,
                     const hop_case *c)
{
    const wilson_hop_call call = {.form = c->adds ? HOP_ADD : HOP_PLAIN,
                                  .a = -0.25,
                                  .b = 0.9,
                                  .sign = c->sign,
                                  .links = links,
                                  .add = add,
                                  .cut = c->cut,
                                  .fifth = m,
                                  .fifth_transposed = c->sign < 0};
    wilson_hop(out, c->p, in, &call);
}

static void check_hop(const field *in, const field *add, const field *links, const fifth_matrix *m, const hop_case *c)
{
    field *out = field_like(in);
    vector_copy(out, add); /* out may be what is added */
    together(out, in, out, links, m, c);
    if (in->prec <= PREC_SINGLE) {
        field *want = field_like(in);
        one_after_the_other(want, in, add, links, m, c);
        KIT_NEAR(excess(out, want, c->p, 0), 0, 0);
        field_destroy(want);
    } else {
        field *x = kit_convert(in, FIELD_SPINOR, PREC_DOUBLE), *y = kit_convert(add, FIELD_SPINOR, PREC_DOUBLE),
              *u = kit_convert(links, links->kind, PREC_DOUBLE), *want = field_like(x);
        one_after_the_other(want, x, y, u, m, c);
        KIT_NEAR(excess(out, want, c->p, 200 + 4 * m->Ls), 0, 1);
        field *all[] = {x, y, u, want};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    }
    field_destroy(out);
}

static void test_hop(struct ref_lattice l, int size)
{
    static const field_kind kinds[2] = {FIELD_LINKS, FIELD_LINKS_TWO_ROWS};
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 62);
    double complex *u = kit_random_gauge(l, 0.7, &rng);
    const fifth_matrix m = random_matrix(sizes[size].Ls, sizes[size].Ls, &rng);
    field *links = kit_links(lat, u);
    int block[4];
    char message[256];
    for (int d = 0; d < 4; d++) block[d] = lat->local[d] % 4 == 0 && lat->local[d] > 4 ? 4 : lat->local[d];
    blocks *cut = blocks_create(lat, block, kit_place, message, sizeof message);
    REQUIRE(cut, "%s", message);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int way = 0; way < 8; way++) {
            const field_kind kind = kinds[way % 2];
            const hop_case c = {way & 2 ? 1 : -1, (way / 2 + way / 4) % 2, way & 4 ? PARITY_ODD : PARITY_EVEN,
                                way == 3 || way == 6 ? cut : NULL};
            field *low = kit_convert(links, kind, (precision)prec);
            field *in = random_walls(lat, (precision)prec, m.Ls, sizes[size].nrhs, &rng),
                  *add = random_walls(lat, (precision)prec, m.Ls, sizes[size].nrhs, &rng);
            kit_where("%d slices, %d right-hand sides, %s, way %d, %d.%d.%d.%d", m.Ls, in->nrhs, kit_prec[prec], way,
                      l.size[0], l.size[1], l.size[2], l.size[3]);
            check_hop(in, add, low, &m, &c);
            field_destroy(add);
            field_destroy(in);
            field_destroy(low);
        }
    blocks_destroy(cut);
    field_destroy(links);
    lattice_destroy(lat);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int size = 0; size < SIZES; size++) {
        test_matrix(kit_shapes[1], sizes[size].Ls, sizes[size].Ls, sizes[size].nrhs);
        test_matrix(kit_shapes[1], sizes[size].Ls, sizes[size].other, sizes[size].nrhs);
        for (int k = 0; k < 6; k++)
            if (k % 2 == size % 2) test_hop(kit_shapes[k], size);
    }
    return kit_end();
}
