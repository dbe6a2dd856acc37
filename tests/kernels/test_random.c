/* Random numbers: Philox gives the published words, and fields of random numbers depend on nothing but key and site.
 *
 * The vectors are those of the Random123 distribution (kat_vectors, philox4x32 with 10 rounds). Fields are compared
 * real by real with numbers made here, site by site in global order, straight from philox(): so no grid, layout or
 * thread count enters. Moments are compared with the weights exp(-phi^dagger phi), exp(tr P^2) and the Haar measure
 * within five standard errors. */
#include "tests/kernels/kit.h"

#include "kernels/lattice/philox.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"

static void test_known_answers(void)
{
    static const uint32_t known[][10] = {{0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                         {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
                                          0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        uint32_t c[4];
        memcpy(c, known[k], sizeof c);
        philox(c, known[k][4], known[k][5]);
        for (int i = 0; i < 4; i++) CHECK_INT(c[i], known[k][6 + i]);
    }
    CHECK(philox_uniform(0, 0) > 0);
    CHECK(philox_uniform(~0u, ~0u) < 1);
    CHECK_NEAR(philox_uniform(1u << 31, 0), 0.5, 0x1p-52);
    CHECK(philox_uniform(0, 1u << 13) > philox_uniform(0, 0));
}

enum { SEED = 77, PURPOSE = 3, NUMBER = 12 };
static const uint64_t seed = SEED + (5ull << 32);

/* Normal deviates of pair `index` at a global site. */
static void pair(double out[2], uint64_t site, uint32_t index)
{
    uint32_t k[4] = {(uint32_t)site, (uint32_t)(site >> 32) | index << 8, NUMBER, PURPOSE};
    philox(k, (uint32_t)seed, (uint32_t)(seed >> 32));
    const double r = sqrt(-2 * log(philox_uniform(k[0], k[1]))), angle = 2 * acos(-1) * philox_uniform(k[2], k[3]);
    out[0] = r * cos(angle);
    out[1] = r * sin(angle);
}

static void check_spinor(const lattice *lat)
{
    field *f = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    vector_random(f, seed, PURPOSE, NUMBER);
    double *have = kit_gather(f), *want = kit_alloc(kit_reals(f), sizeof *want);
    for (long i = 0; i < lat->volume; i++)
        for (int c = 0; c < 12; c++) {
            double *z = want + 24 * i + 2 * c;
            pair(z, (uint64_t)i, (uint32_t)c);
            z[0] *= sqrt(0.5);
            z[1] *= sqrt(0.5);
        }
    KIT_NEAR(kit_distance(have, want, kit_reals(f)), 0, 1e-14);
    /* A field of one parity has the same numbers. */
    field *odd = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_ODD, 1, PLACE_HOST);
    vector_random(odd, seed, PURPOSE, NUMBER);
    double *half = kit_gather(odd);
    kit_only((double complex *)have, (struct ref_lattice){{lat->size[0], lat->size[1], lat->size[2], lat->size[3]}}, 1);
    KIT_NEAR(kit_distance(half, have, kit_reals(f)), 0, 0);
    /* Another number, purpose or seed has others. */
    for (int k = 0; k < 3; k++) {
        vector_random(odd, seed + (k == 0), PURPOSE + (k == 1), NUMBER + (k == 2));
        double *other = kit_gather(odd);
        KIT_CHECK(kit_distance(half, other, kit_reals(f)) > 1);
        free(other);
    }
    free(half);
    free(want);
    free(have);
    field_destroy(odd);
    field_destroy(f);
}

/* Colour vectors have the first numbers of the spinors. */
static void check_vector(const lattice *lat)
{
    field *f = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    field *g = field_create(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    vector_random(f, seed, PURPOSE, NUMBER);
    vector_random(g, seed, PURPOSE, NUMBER);
    double *spinor = kit_gather(f), *vector = kit_gather(g), worst = 0;
    for (long i = 0; i < lat->volume; i++) worst = fmax(worst, kit_distance(vector + 6 * i, spinor + 24 * i, 6));
    KIT_NEAR(worst, 0, 0);
    free(spinor);
    free(vector);
    field_destroy(f);
    field_destroy(g);
}

/* Bits of the first word. */
static void check_signs(const lattice *lat)
{
    field *f = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    field *g = field_create(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    vector_random_signs(f, seed, PURPOSE, NUMBER);
    vector_random_signs(g, seed, PURPOSE, NUMBER);
    double *spinor = kit_gather(f), *vector = kit_gather(g), worst = 0, sum = 0;
    for (long i = 0; i < lat->volume; i++) {
        uint32_t k[4] = {(uint32_t)i, 0, NUMBER, PURPOSE};
        philox(k, (uint32_t)seed, (uint32_t)(seed >> 32));
        for (int c = 0; c < 24; c++) {
            const double want = k[0] >> c & 1 ? -sqrt(0.5) : sqrt(0.5);
            worst = fmax(worst, fabs(spinor[24 * i + c] - want));
            if (c < 6) worst = fmax(worst, fabs(vector[6 * i + c] - want));
            sum += want;
        }
    }
    KIT_NEAR(worst, 0, 1e-15);
    KIT_NEAR(sum, 0, 5 * sqrt(12.0 * (double)lat->volume));
    free(vector);
    free(spinor);
    field_destroy(g);
    field_destroy(f);
}

static void check_momenta(const lattice *lat)
{
    field *f = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    momenta_random(f, seed, PURPOSE, NUMBER);
    double *have = kit_gather(f), worst = 0;
    /* Coefficients of lambda_3, lambda_8, and then of the off-diagonal ones, real and imaginary parts. */
    static const int generator[8] = {2, 7, 1, 0, 4, 3, 6, 5};
    for (long i = 0; i < lat->volume * 4; i++) {
        double n[8];
        for (int k = 0; k < 4; k++) pair(n + 2 * k, (uint64_t)(i / 4), (uint32_t)(4 * (i % 4) + k));
        for (int k = 0; k < 8; k++)
            worst = fmax(worst, fabs(fabs(kit_coefficient(have + 8 * i, generator[k])) - fabs(n[k])));
    }
    KIT_NEAR(worst, 0, 1e-13);
    free(have);
    field_destroy(f);
}

/* Every group has numbers of its own, whose counter holds the right-hand side and the slice; group 0 those of a field
 * that has no others. */
static void check_groups(const lattice *lat, const field_shape *shape, int signs)
{
    field *f = field_create_shape(lat, shape, PREC_DOUBLE, PARITY_BOTH, PLACE_HOST);
    if (signs) vector_random_signs(f, seed, PURPOSE, NUMBER);
    else vector_random(f, seed, PURPOSE, NUMBER);
    double *have = kit_gather(f), worst = 0;
    const int groups = f->groups, reals = f->reals;
    for (long i = 0; i < lat->volume; i++)
        for (int g = 0; g < groups; g++)
            for (int c = 0; c < reals / 2; c++) {
                const uint32_t index = (uint32_t)(g % f->Ls) << 8 | (uint32_t)(g / f->Ls) << 16;
                const double *z = have + ((long)groups * i + g) * reals + 2 * c;
                double want[2];
                pair(want, (uint64_t)i, (uint32_t)c | index);
                if (signs) {
                    uint32_t k[4] = {(uint32_t)i, (uint32_t)(2 * c / 128) << 8 | index << 8, NUMBER, PURPOSE};
                    philox(k, (uint32_t)seed, (uint32_t)(seed >> 32));
                    for (int e = 0; e < 2; e++) want[e] = k[2 * c / 32 % 4] >> (2 * c + e) % 32 & 1 ? -1 : 1;
                }
                for (int e = 0; e < 2; e++) worst = fmax(worst, fabs(z[e] - sqrt(0.5) * want[e]));
            }
    KIT_NEAR(worst, 0, 1e-14);
    free(have);
    field_destroy(f);
}

static void check_all_groups(const lattice *lat)
{
    for (int signs = 0; signs < 2; signs++)
        for (int k = 0; k < 3; k++) {
            field_shape shape =
                k == 2 ? field_shape_coarse(24, 3) : field_shape_of_kind(k ? FIELD_VECTOR : FIELD_SPINOR, 3);
            shape.Ls = 2;
            check_groups(lat, &shape, signs);
        }
}

/* Two purposes that were equal would give the same numbers to different ends. */
static void test_purposes(void)
{
    static const struct {
        const char *name;
        int value;
    } purposes[] = {
#define PURPOSE_ENTRY(name, value) {#name, value},
        RANDOM_PURPOSES(PURPOSE_ENTRY)
#undef PURPOSE_ENTRY
    };
    const int n = (int)(sizeof purposes / sizeof *purposes);
    for (int i = 0; i < n; i++) {
        kit_where("purposes %s", purposes[i].name);
        KIT_CHECK(purposes[i].value > 0 && purposes[i].value <= RANDOM_ACTION);
        for (int k = 0; k < i; k++) KIT_CHECK(purposes[i].value != purposes[k].value);
    }
}

static void test_sites(void)
{
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        int grids[64][4];
        const int n = kit_grids(kit_shapes[k], grids, 64);
        for (int i = 0; i < n; i++) {
            lattice *lat = lattice_create(kit_shapes[k].size, grids[i], 1, 1);
            kit_where("shape %d, grid %d.%d.%d.%d", k, grids[i][0], grids[i][1], grids[i][2], grids[i][3]);
            check_spinor(lat);
            check_vector(lat);
            check_signs(lat);
            check_momenta(lat);
            check_all_groups(lat);
            lattice_destroy(lat);
        }
    }
}

/* Mean, and its standard error from the variance that the weight has. */
static void check_moment(double sum, double n, double mean, double variance)
{
    KIT_NEAR(sum / n, mean, 5 * sqrt(variance / n));
}

static void test_moments(void)
{
    lattice *lat = kit_lattice(kit_shapes[KIT_SHAPES - 1], 1, 1);
    if (!lat) return;
    const double v = (double)lat->volume;
    field *f = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    field *p = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    vector_random(f, seed, PURPOSE, NUMBER);
    momenta_random(p, seed, PURPOSE, NUMBER + 1);
    kit_where("8^4");
    check_moment(vector_norm2(f, 0), 12 * v, 1, 1);
    check_moment(momenta_norm2(p), 32 * v, 0.5, 0.5);
    double *x = kit_gather(f), *y = kit_gather(p);
    for (int c = 0; c < 24; c++) {
        double m[4] = {0}, next = 0;
        for (long i = 0; i < lat->volume; i++) {
            const double r = x[24 * i + c] * sqrt(2);
            m[0] += r;
            m[1] += r * r;
            m[2] += r * r * r;
            m[3] += r * r * r * r;
            next += r * x[24 * i + (c + 1) % 24] * sqrt(2);
        }
        kit_where("component %d of a spinor", c);
        check_moment(m[0], v, 0, 1);
        check_moment(m[1], v, 1, 2);
        check_moment(m[2], v, 0, 15);
        check_moment(m[3], v, 3, 96);
        check_moment(next, v, 0, 1);
    }
    for (int a = 0; a < 8; a++) {
        double m[2] = {0}, next = 0;
        for (long i = 0; i < 4 * lat->volume; i++) {
            const double r = kit_coefficient(y + 8 * i, a);
            m[0] += r;
            m[1] += r * r;
            next += r * kit_coefficient(y + 8 * i, (a + 1) % 8);
        }
        kit_where("coefficient %d of momenta", a);
        check_moment(m[0], 4 * v, 0, 1);
        check_moment(m[1], 4 * v, 1, 2);
        check_moment(next, 4 * v, 0, 1);
    }
    free(x);
    free(y);
    field_destroy(f);
    field_destroy(p);
    lattice_destroy(lat);
}

/* Haar measure: <tr U> = 0, <|tr U|^2> = 1, <(Re tr U)^2> = 1/2, <U_ij conj U_ij> = 1/3, <tr U^3> = 1. */
static void test_links(void)
{
    lattice *lat = kit_lattice(kit_shapes[KIT_SHAPES - 1], 1, 1);
    if (!lat) return;
    field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    gauge_random(u, seed, PURPOSE, NUMBER);
    double complex *link = (double complex *)kit_gather(u);
    const size_t n = (size_t)lat->volume * 4;
    kit_where("random links");
    KIT_NEAR(ref_unitarity_error(link, n), 0, 1e-14);
    double m[4] = {0}, element[9] = {0};
    for (size_t i = 0; i < n; i++) {
        double complex a[9], b[9];
        const double complex t = ref_mat_trace(link + 9 * i);
        ref_mat_mul(a, link + 9 * i, link + 9 * i);
        ref_mat_mul(b, a, link + 9 * i);
        m[0] += creal(t);
        m[1] += cimag(t);
        m[2] += creal(t * conj(t));
        m[3] += creal(ref_mat_trace(b));
        for (int k = 0; k < 9; k++) element[k] += creal(link[9 * i + (size_t)k] * conj(link[9 * i + (size_t)k]));
    }
    check_moment(m[0], (double)n, 0, 0.5);
    check_moment(m[1], (double)n, 0, 0.5);
    check_moment(m[2], (double)n, 1, 1); /* <|tr U|^4> = 2 */
    check_moment(m[3], (double)n, 1, 2); /* <|tr U^3|^2> = 3 */
    for (int k = 0; k < 9; k++) check_moment(element[k], (double)n, 1.0 / 3, 1.0 / 18);
    gauge_cold(u);
    double complex *cold = (double complex *)kit_gather(u), *one = ref_gauge_new(kit_shapes[KIT_SHAPES - 1]);
    ref_unit_gauge(one, kit_shapes[KIT_SHAPES - 1]);
    KIT_NEAR(kit_distance(cold, one, 2 * 9 * n), 0, 0);
    free(one);
    free(cold);
    free(link);
    field_destroy(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_known_answers();
    test_purposes();
    test_sites();
    test_moments();
    test_links();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
