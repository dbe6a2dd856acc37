/* Densities of contractions and their sums over slices against loops over sites in complex numbers.
 *
 * Sums of slices of very different size have their own bits: those of lanes, which hold several slices side by side, are those
 * of one lane, and what breaks the sum of one slice leaves the others alone. */
#include "tests/kernels/kit.h"

#include "kernels/ops/contract.h"

enum { COLUMNS = 12, WAVES = 5 };
static const int number[WAVES][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 2}, {2, 2, 1}, {1, 1, 1}};
static const double periods[3] = {0, 1, -2}; /* of the factors */

typedef struct {
    struct ref_lattice l;
    lattice *lat;
    struct ref_rng rng;
} scene;

/* conj(x) y over n complex numbers, `step` apart. */
static double complex product(const double complex *x, const double complex *y, int n)
{
    double complex sum = 0;
    for (int i = 0; i < n; i++) sum += conj(x[i]) * y[i];
    return sum;
}

/* ---- densities ---- */

static void test_spin_pairs(scene *s)
{
    const size_t v = ref_volume(s->l), reals = v * COLUMNS * 24;
    double *a = kit_normals(reals, &s->rng), *b = kit_normals(reals, &s->rng);
    field *fa = kit_field(s->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, COLUMNS, a),
          *fb = kit_field(s->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, COLUMNS, b),
          *rho = density_create(fa, SPIN_PAIRS);
    for (int pair = 0; pair < 16; pair++) {
        const int from = pair / 4, to = pair % 4;
        contract_spin_pairs(rho, fa, fb, from, to);
        double complex *have = (double complex *)kit_gather(rho);
        const double complex *x = (const double complex *)a, *y = (const double complex *)b;
        double worst = 0;
        for (size_t i = 0; i < 16 * v; i++) {
            double complex want = 0;
            for (size_t d = 0; d < 3; d++)
                want += product(x + 12 * (COLUMNS * (i / 16) + 3 * (size_t)from + d) + 3 * (i % 16 / 4),
                                y + 12 * (COLUMNS * (i / 16) + 3 * (size_t)to + d) + 3 * (i % 4), 3);
            worst = fmax(worst, cabs(have[i] - want));
        }
        KIT_NEAR(worst, 0, 1e-13);
        free(have);
    }
    /* Of one field the channel of equal spins is real. */
    contract_spin_pairs(rho, fa, fa, 2, 2);
    double *same = kit_gather(rho);
    for (size_t i = 0; i < v; i++) KIT_CHECK(same[32 * i + 1] == 0 && same[32 * i + 11] == 0 && same[32 * i] > 0);
    free(same);
    field_destroy(rho);
    field_destroy(fb);
    field_destroy(fa);
    free(b);
    free(a);
}

/* Sums over all orders of colours of three lines, which may be one. */
static void test_colours(scene *s)
{
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const size_t v = ref_volume(s->l);
    double *a[3];
    field *f[3];
    for (int i = 0; i < 3; i++) {
        a[i] = kit_normals(v * 18, &s->rng);
        f[i] = kit_field(s->lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 3, a[i]);
    }
    field *rho = density_create(f[0], 1);
    for (int same = 0; same < 2; same++) {
        const int line[3] = {0, same ? 0 : 1, same ? 0 : 2};
        double worst = 0;
        contract_colours(rho, f[line[0]], f[line[1]], f[line[2]]);
        double complex *have = (double complex *)kit_gather(rho);
        for (size_t i = 0; i < v; i++) {
            double complex want = 0;
            for (int k = 0; k < 36; k++) {
                const int *sink = order[k / 6], *source = order[k % 6];
                double complex term = (k / 6 < 3) == (k % 6 < 3) ? 1 : -1;
                for (int q = 0; q < 3; q++)
                    term *= ((const double complex *)a[line[q]])[9 * i + 3 * (size_t)source[q] + (size_t)sink[q]];
                want += term;
            }
            worst = fmax(worst, cabs(have[i] - want));
        }
        KIT_NEAR(worst, 0, 1e-12);
        free(have);
    }
    field_destroy(rho);
    for (int i = 0; i < 3; i++) {
        field_destroy(f[i]);
        free(a[i]);
    }
}

static void test_inner(scene *s, field_kind kind, int nrhs, int Ls)
{
    const field_shape shape = {.kind = kind, .nrhs = nrhs, .Ls = Ls};
    field *x = field_create_shape(s->lat, &shape, PREC_DOUBLE, PARITY_BOTH, kit_place), *y = field_like(x),
          *rho = density_create(x, 1);
    const int n = nrhs * Ls * field_kinds[kind].reals / 2;
    double *a = kit_normals(kit_reals(x), &s->rng), *b = kit_normals(kit_reals(x), &s->rng);
    kit_scatter(x, a);
    kit_scatter(y, b);
    contract_inner(rho, x, y);
    double complex *have = (double complex *)kit_gather(rho);
    double worst = 0;
    for (size_t i = 0; i < ref_volume(s->l); i++)
        worst = fmax(worst, cabs(have[i] -
                                 product((double complex *)a + i * (size_t)n, (double complex *)b + i * (size_t)n, n)));
    KIT_NEAR(worst, 0, 1e-12);
    free(have);
    free(b);
    free(a);
    field_destroy(rho);
    field_destroy(y);
    field_destroy(x);
}

/* ---- sums over slices ---- */

static slice_waves open_waves(struct ref_lattice l)
{
    slice_waves w = {.n = WAVES, .factors = {3, 3, 3}, .number = number};
    for (int d = 0; d < 3; d++) {
        double(*f)[2] = kit_alloc(3 * (size_t)l.size[d], sizeof *f);
        for (int k = 0; k < 3 * l.size[d]; k++) {
            const double phase = 2 * M_PI * periods[k / l.size[d]] * (k % l.size[d]) / l.size[d];
            f[k][0] = cos(phase);
            f[k][1] = sin(phase);
        }
        w.factor[d] = (const double(*)[2])f;
    }
    return w;
}

static void close_waves(slice_waves *w)
{
    for (int d = 0; d < 3; d++) free((void *)w->factor[d]);
}

/* Sums over all ranks, of a density or of the pairs of columns of a and b: values [t][wave][channel][re, im]. */
static double *sums_over(const field *rho, const field *a, const field *b)
{
    const lattice *lat = (rho ? rho : a)->lat;
    const struct ref_lattice l = {{lat->size[0], lat->size[1], lat->size[2], lat->size[3]}};
    const int n = 2 * lat->size[3] * WAVES * (rho ? rho->nrhs : SPIN_PAIRS * a->nrhs * b->nrhs);
    exact_sum *sums = kit_alloc((size_t)n, sizeof *sums);
    double *values = kit_alloc((size_t)n, sizeof *values);
    for (int i = 0; i < n; i++) sums[i] = exact_zero();
    slice_waves w = open_waves(l);
    if (rho) contract_slices(sums, rho, &w);
    else contract_column_slices(sums, a, b, &w);
    close_waves(&w);
    comm_group_sum_exact(lat->group, sums, n);
    for (int i = 0; i < n; i++) values[i] = exact_value(&sums[i]);
    free(sums);
    return values;
}

static double *sums_of(const lattice *lat, const double *rho, int channels)
{
    field *f = kit_field(lat, FIELD_DENSITY, PREC_DOUBLE, PARITY_BOTH, channels, rho);
    double *values = sums_over(f, NULL, NULL);
    field_destroy(f);
    return values;
}

/* Compares with sums written out; slice t is times scale^t. */
static void check_sums(const scene *s, const double *have, const double *rho, int channels, double scale)
{
    for (int t = 0; t < s->l.size[3]; t++)
        for (int w = 0; w < WAVES; w++)
            for (int c = 0; c < channels; c++) {
                double complex sum = 0;
                const double *value = have + 2 * ((t * WAVES + w) * channels + c);
                for (size_t i = 0; i < ref_volume(s->l); i++) {
                    int x[4];
                    double phase = 0;
                    ref_coordinates(x, s->l, i);
                    if (x[3] != t) continue;
                    for (int d = 0; d < 3; d++) phase += 2 * M_PI * periods[number[w][d]] * x[d] / s->l.size[d];
                    const double *at = rho + 2 * ((size_t)channels * i + (size_t)c);
                    sum += cexp(I * phase) * (at[0] + I * at[1]);
                }
                KIT_NEAR(cabs(value[0] + I * value[1] - sum) / pow(scale, t), 0, 1e-11);
            }
}

static void test_slices(scene *s, int channels, double scale)
{
    const size_t n = 2 * (size_t)channels * ref_volume(s->l), of_slice = n / (size_t)s->l.size[3];
    double *rho = kit_normals(n, &s->rng);
    for (size_t i = 0; i < n; i++) rho[i] *= pow(scale, (double)(i / of_slice));
    double *have = sums_of(s->lat, rho, channels);
    check_sums(s, have, rho, channels, scale);
    lattice_use_simd(0);
    lattice *one = lattice_create(s->l.size, s->lat->grid, 1, 1);
    lattice_use_simd(test_simd);
    double *other = sums_of(one, rho, channels);
    const int values = 2 * s->l.size[3] * WAVES * channels;
    KIT_CHECK(!memcmp(have, other, (size_t)values * sizeof *have));
    free(other);
    /* A number that is none, in slice 1. */
    rho[of_slice + 3] = NAN;
    other = sums_of(s->lat, rho, channels);
    for (int i = 0; i < values; i++) {
        const int t = i / (values / s->l.size[3]);
        KIT_CHECK(t == 1 ? i / 2 % channels != 1 % channels || isnan(other[i]) : other[i] == have[i]);
    }
    free(other);
    free(have);
    free(rho);
    lattice_destroy(one);
}

enum { OF_A = 5, OF_B = 3 };

static double *column_sums(const lattice *lat, const double *a, const double *b)
{
    field *fa = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, OF_A, a),
          *fb = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, OF_B, b);
    double *values = sums_over(NULL, fa, fb);
    field_destroy(fb);
    field_destroy(fa);
    return values;
}

/* Pairs of columns of two fields: the sums are those of their densities, written out; with lanes and without. */
static void test_column_slices(scene *s)
{
    const size_t v = ref_volume(s->l), channels = SPIN_PAIRS * OF_A * OF_B;
    double *a = kit_normals(v * OF_A * 24, &s->rng), *b = kit_normals(v * OF_B * 24, &s->rng),
           *rho = kit_alloc(2 * v * channels, sizeof *rho);
    const double complex *x = (const double complex *)a, *y = (const double complex *)b;
    for (size_t i = 0; i < v * channels; i++) {
        const size_t site = i / channels, pair = i % channels / SPIN_PAIRS, k = i % SPIN_PAIRS / 4, l = i % 4;
        ((double complex *)rho)[i] =
            product(x + 12 * (OF_A * site + pair / OF_B) + 3 * k, y + 12 * (OF_B * site + pair % OF_B) + 3 * l, 3);
    }
    double *have = column_sums(s->lat, a, b);
    check_sums(s, have, rho, (int)channels, 1);
    lattice_use_simd(0);
    lattice *one = lattice_create(s->l.size, s->lat->grid, 1, 1);
    lattice_use_simd(test_simd);
    double *other = column_sums(one, a, b);
    KIT_CHECK(!memcmp(have, other, 2 * (size_t)s->l.size[3] * WAVES * channels * sizeof *have));
    lattice_destroy(one);
    free(other);
    free(have);
    free(rho);
    free(b);
    free(a);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        scene s = {.l = kit_shapes[k], .lat = kit_lattice(kit_shapes[k], 1, 1)};
        if (!s.lat) continue;
        ref_rng_seed(&s.rng, 5);
        kit_where("shape %d, %d lanes", k, field_lanes(s.lat, PREC_DOUBLE));
        test_spin_pairs(&s);
        test_colours(&s);
        test_inner(&s, FIELD_SPINOR, 2, 3);
        test_inner(&s, FIELD_VECTOR, 4, 1);
        test_slices(&s, 1, 1);
        test_slices(&s, 9, 1e-20);
        test_column_slices(&s);
        lattice_destroy(s.lat);
    }
    return kit_end();
}
