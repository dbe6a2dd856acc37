/* Contractions of baryons against sums over all Wick contractions with their signs, written out: < O O^dagger > of quarks in the
 * field of random columns, for all kinds, at momenta and from a source off the origin.
 *
 * Correlators do not change when colours are rotated at the sink, site by site, and at the source. */
#include "tests/kernels/kit.h"

#include "hmc/measure/baryon_contraction.h"

enum { COLUMNS = 12, MOMENTUM2 = 1 };
static const struct ref_lattice shape = {{4, 2, 2, 4}};
static const int source[4] = {1, 1, 0, 3};

/* Columns of a quark: [site][column][spin][colour]. */
typedef struct {
    double complex *at[BARYON_FLAVOURS];
    field *columns[BARYON_FLAVOURS];
} quarks;

static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
static const int signs[6] = {1, 1, 1, -1, -1, -1};

static void product(double complex out[4][4], double complex a[4][4], double complex b[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 4; k++) out[i][j] += a[i][k] * b[k][j];
        }
}

/* gamma_y gamma_t times gamma_5, or times gamma_i, and times (1 + components gamma_t) / 2 unless components are 0. */
static void diquark(double complex out[4][4], int five, int i, int components)
{
    double complex c[4][4], g[4][4], h[4][4], half[4][4];
    product(c, (double complex(*)[4])ref_gamma[1], (double complex(*)[4])ref_gamma[3]);
    ref_gamma5(g);
    product(h, c, five ? g : (double complex(*)[4])ref_gamma[i]);
    for (int s = 0; s < 16; s++)
        half[s / 4][s % 4] = (components ? 0.5 : 1) * (s / 4 == s % 4) + 0.5 * components * ref_gamma[3][s / 4][s % 4];
    product(out, h, half);
}

/* < q(spin s, colour c) q^dagger(spin r, colour d) > at a site: S gamma_t. */
static void with_dagger(double complex out[12][12], const double complex *columns)
{
    for (int k = 0; k < 12; k++)
        for (int r = 0; r < 4; r++)
            for (int d = 0; d < 3; d++) {
                out[k][3 * r + d] = 0;
                for (int q = 0; q < 4; q++) out[k][3 * r + d] += columns[12 * (3 * q + d) + k] * ref_gamma[3][q][r];
            }
}

/* Sum over colours and contractions, for the spins of the sink and of the source. */
static double complex wick(double complex (*line[3])[12], const int *at, const int *from, const int s[3],
                           const int r[3])
{
    double complex sum = 0;
    for (int k = 0; k < 6; k++) {
        const int *to = orders[k];
        if (at[0] != from[to[0]] || at[1] != from[to[1]] || at[2] != from[to[2]]) continue;
        for (int c = 0; c < 6; c++)
            for (int d = 0; d < 6; d++) {
                double complex term = signs[k] * signs[c] * signs[d];
                for (int i = 0; i < 3; i++) term *= line[i][3 * s[i] + orders[c][i]][3 * r[to[i]] + orders[d][to[i]]];
                sum += term;
            }
    }
    return sum;
}

/* G of a kind at a site. */
static void correlator(double complex g[4][4], const baryon_kind *kind, int components, double complex (*q)[12][12])
{
    double complex all[4][4] = {{0}}, gamma[4][4];
    const int n = kind->decuplet ? 3 : 1;
    for (int i = 0; i < n * kind->terms * kind->terms; i++) {
        const int first = i / n / kind->terms, second = i / n % kind->terms, *at = kind->term[first].flavour;
        double complex(*line[3])[12] = {q[at[0]], q[at[1]], q[at[2]]};
        diquark(gamma, !kind->decuplet, i % n, components);
        for (int s = 0; s < 256; s++) { /* spins of the two diquarks */
            const int m = s / 64, v = s / 16 % 4, k = s / 4 % 4, l = s % 4;
            if (gamma[m][v] == 0 || gamma[k][l] == 0) continue;
            for (int a = 0; a < 16; a++)
                all[a / 4][a % 4] +=
                    kind->term[first].weight * kind->term[second].weight / n * gamma[m][v] * conj(gamma[k][l]) *
                    wick(line, at, kind->term[second].flavour, (const int[]){m, v, a / 4}, (const int[]){k, l, a % 4});
        }
    }
    product(g, all, (double complex(*)[4])ref_gamma[3]);
}

/* All sites' G of a kind: [site][alpha][alpha']. */
static double complex *correlators(const baryon_kind *kind, int components, const quarks *q)
{
    const size_t v = ref_volume(shape);
    double complex *all = kit_alloc(16 * v, sizeof *all);
    for (size_t i = 0; i < v; i++) {
        double complex lines[BARYON_FLAVOURS][12][12], g[4][4];
        for (int f = 0; f < BARYON_FLAVOURS; f++) with_dagger(lines[f], q->at[f] + 144 * i);
        correlator(g, kind, components, lines);
        memcpy(all + 16 * i, g, sizeof g);
    }
    return all;
}

/* tr T G of a slice, with the sign of time that is antiperiodic. */
static double complex slice(const double complex *g, const spin_projector *T, const int n[3], int t)
{
    double complex sum = 0;
    for (size_t i = 0; i < ref_volume(shape); i++) {
        int x[4];
        double phase = 0;
        ref_coordinates(x, shape, i);
        if (x[3] != (t + source[3]) % shape.size[3]) continue;
        for (int d = 0; d < 3; d++) phase += 2 * M_PI * n[d] * (x[d] - source[d]) / shape.size[d];
        for (int a = 0; a < 16; a++) sum += cexp(-I * phase) * T->at[a % 4][a / 4] * g[16 * i + (size_t)a];
    }
    return t + source[3] >= shape.size[3] ? -sum : sum;
}

static void open_quarks(quarks *q, const lattice *lat, struct ref_rng *rng)
{
    const size_t n = 144 * ref_volume(shape);
    for (int f = 0; f < BARYON_FLAVOURS; f++) {
        q->at[f] = (double complex *)kit_normals(2 * n, rng);
        q->columns[f] = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, COLUMNS, q->at[f]);
    }
}

static void close_quarks(quarks *q)
{
    for (int f = 0; f < BARYON_FLAVOURS; f++) {
        field_destroy(q->columns[f]);
        free(q->at[f]);
    }
}

static baryon contracted(const momenta *p, const baryon_kind *kind, int components, const quarks *q)
{
    baryon b;
    const baryon_lines lines = {.quark = {q->columns[0], q->columns[1], q->columns[2]}};
    baryon_open(&b, p, kind, &lines, components, source);
    return b;
}

static void check_kind(const baryon_kind *kind, int components, const momenta *p, const quarks *q)
{
    double complex *want = correlators(kind, components, q);
    baryon b = contracted(p, kind, components, q);
    double worst = 0, largest = 0;
    for (int way = 0; way < 4; way++) {
        const spin_projector T = baryon_projector(way % 2 ? -1 : 1, way / 2);
        for (int i = 0; i < p->n; i++)
            for (int t = 0; t < shape.size[3]; t++) {
                const double complex exact = slice(want, &T, p->number[i], t);
                worst = fmax(worst, cabs(baryon_trace(&b, &T, i, t) - exact));
                largest = fmax(largest, cabs(exact));
            }
    }
    kit_where("%s, components %d", kind->name, components);
    KIT_CHECK(largest > 1);
    KIT_NEAR(worst / largest, 0, 1e-13);
    baryon_close(&b);
    free(want);
}

/* Colours of the columns turned by a matrix of each site, and by the same one at the source. */
static void turn(quarks *q, const double complex *g)
{
    for (int f = 0; f < BARYON_FLAVOURS; f++) {
        double complex old[144];
        for (size_t i = 0; i < ref_volume(shape); i++) {
            double complex *now = q->at[f] + 144 * i;
            memcpy(old, now, sizeof old);
            for (int k = 0; k < 144; k++) {
                const int column = k / 12, spin = k / 3 % 4, colour = k % 3;
                now[k] = 0;
                for (int c = 0; c < 3; c++)
                    for (int d = 0; d < 3; d++)
                        now[k] += g[9 * i + (size_t)(3 * colour + c)] * conj(g[3 * (column % 3) + d]) *
                                  old[12 * (column / 3 * 3 + d) + 3 * spin + c];
            }
        }
        kit_scatter(q->columns[f], q->at[f]);
    }
}

static void check_rotation(const momenta *p, quarks *q, struct ref_rng *rng)
{
    const baryon_kind *kinds[] = {baryon_kind_number(0), baryon_kind_number(5)};
    const size_t values = 2 * SPIN_PAIRS * (size_t)(shape.size[3] * p->n);
    double complex *u = kit_random_gauge(shape, 0, rng), *g = kit_alloc(9 * ref_volume(shape), sizeof *g);
    baryon before[2], after;
    for (size_t i = 0; i < ref_volume(shape); i++) memcpy(g + 9 * i, u + 36 * i, 9 * sizeof *g);
    for (int k = 0; k < 2; k++) before[k] = contracted(p, kinds[k], 0, q);
    turn(q, g);
    for (int k = 0; k < 2; k++) {
        double worst = 0, largest = 0;
        after = contracted(p, kinds[k], 0, q);
        for (size_t i = 0; i < values; i++) {
            worst = fmax(worst, fabs(exact_value(&after.sums[i]) - exact_value(&before[k].sums[i])));
            largest = fmax(largest, fabs(exact_value(&after.sums[i])));
        }
        kit_where("%s with colours turned", kinds[k]->name);
        KIT_NEAR(worst / largest, 0, 1e-12);
        baryon_close(&after);
        baryon_close(&before[k]);
    }
    free(g);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 23);
    lattice *lat = kit_lattice(shape, 1, -1);
    quarks q;
    momenta p;
    open_quarks(&q, lat, &rng);
    momenta_open(&p, lat, MOMENTUM2);
    for (int i = 0; baryon_kind_number(i); i++) check_kind(baryon_kind_number(i), 0, &p, &q);
    check_kind(baryon_kind_number(3), 1, &p, &q);
    check_kind(baryon_kind_number(5), -1, &p, &q);
    check_rotation(&p, &q, &rng);
    momenta_close(&p);
    close_quarks(&q);
    lattice_destroy(lat);
    return kit_end();
}
