/* Exact sums: any order, any grouping, the same bits; the sum itself right to what is promised.
 *
 * Fold by fold the value is a function of the multiset of addends only, so permutations, splits and merges of the same
 * addends are compared with ==. Against an integer oracle: addends that are integers times 2^-40 and below 2^29 lose
 * nothing, and sum exactly in 128 bits. */
#include "tests/kernels/kit.h"

#include "kernels/lattice/exact_wide.h"
#include "kernels/ops/vector.h"
#include "kernels/run/kernel.h"

static uint64_t bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static void shuffle(double *x, int n, struct ref_rng *rng)
{
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)(ref_uniform(rng) * (i + 1));
        const double t = x[i];
        x[i] = x[j];
        x[j] = t;
    }
}

static exact_sum sum_of(const double *x, int n)
{
    exact_sum s = exact_zero();
    for (int i = 0; i < n; i++) exact_add(&s, x[i]);
    return s;
}

/* The same addends in random groups, merged in random order, two at a time. */
static exact_sum sum_in_groups(const double *x, int n, struct ref_rng *rng)
{
    exact_sum part[64];
    int groups = 1 + (int)(ref_uniform(rng) * 63);
    for (int g = 0; g < groups; g++) part[g] = exact_zero();
    for (int i = 0; i < n; i++) exact_add(&part[(int)(ref_uniform(rng) * groups)], x[i]);
    for (; groups > 1; groups--) {
        const int into = (int)(ref_uniform(rng) * (groups - 1));
        exact_merge(&part[into], &part[groups - 1]);
    }
    return part[0];
}

/* Addends over `decades` powers of ten below 10^top, both signs. */
static void spread(double *x, int n, double top, double decades, struct ref_rng *rng)
{
    for (int i = 0; i < n; i++)
        x[i] =
            (ref_uniform(rng) < 0.5 ? -1 : 1) * (1 + ref_uniform(rng)) * pow(10, top - 1 - decades * ref_uniform(rng));
}

static void test_order(void)
{
    static const double range[][2] = {{3, 3},   {3, 12},    {9, 12},     {10, 20},  {0, 20},
                                      {20, 40}, {288, 570}, {-100, 180}, {288, 20}, {-270, 25}};
    struct ref_rng rng;
    ref_rng_seed(&rng, 11);
    for (size_t k = 0; k < sizeof range / sizeof range[0]; k++)
        for (int cancel = 0; cancel < 2; cancel++) {
            enum { N = 1000 };
            double x[N];
            spread(x, N, range[k][0], range[k][1], &rng);
            /* What is left of an almost complete cancellation shows the lowest fold. */
            for (int i = 0; cancel && i < N / 2; i++) x[i] = i % 3 ? -x[N - 1 - i] : x[i];
            const double first = exact_value(&(exact_sum[]){sum_of(x, N)}[0]);
            kit_where("addends from 1e%g down to 1e%g, cancelling %d", range[k][0], range[k][0] - range[k][1], cancel);
            for (int trial = 0; trial < 40; trial++) {
                shuffle(x, N, &rng);
                const exact_sum s = sum_of(x, N), g = sum_in_groups(x, N, &rng);
                if (bits(exact_value(&s)) != bits(first) || bits(exact_value(&g)) != bits(first)) {
                    KIT_NEAR(exact_value(&s), first, 0);
                    KIT_NEAR(exact_value(&g), first, 0);
                    break;
                }
            }
            KIT_CHECK(!isnan(first));
        }
}

/* Raising the bin late drops just what raising it early would have dropped. */
static void test_raise(void)
{
    const double small[] = {0x1p-33 + 0x1p-66, -0x1p-70, 0x1.8p-65, 0x1.8p-65, -0x1.8p-64, 0x1p-30};
    for (size_t n = 1; n <= sizeof small / sizeof small[0]; n++)
        for (int high = 1; high < 90; high += 7) {
            exact_sum late = exact_zero(), early = exact_zero();
            const double big = ldexp(1.25, high);
            exact_add(&early, big);
            for (size_t i = 0; i < n; i++) {
                exact_add(&late, small[i]);
                exact_add(&early, small[i]);
            }
            exact_add(&late, big);
            exact_add(&late, -big);
            exact_add(&early, -big);
            kit_where("%zu small addends under 2^%d", n, high);
            KIT_NEAR(exact_value(&late), exact_value(&early), 0);
        }
}

typedef __int128 wide;

static void test_value(void)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 12);
    for (int trial = 0; trial < 300; trial++) {
        const int n = 1 + (int)(ref_uniform(&rng) * 400), top = 20 + trial % 50;
        wide total = 0;
        exact_sum s = exact_zero();
        double largest = 0;
        for (int i = 0; i < n; i++) {
            const double x = rint(ldexp(2 * ref_uniform(&rng) - 1, (int)(top * ref_uniform(&rng))));
            total += (wide)x;
            largest = fmax(largest, fabs(x));
            exact_add(&s, ldexp(x, -40));
        }
        const double want = ldexp((double)total, -40);
        kit_where("%d integers below 2^%d", n, top);
        KIT_NEAR(exact_value(&s), want, fabs(want) * 0x1p-52);
    }
    /* Little remains of large addends: positive or negative, it is there. */
    for (int sign = -1; sign < 2; sign += 2)
        for (int low = 0; low < 60; low++) {
            exact_sum s = exact_zero();
            exact_add(&s, 3);
            exact_add(&s, sign * ldexp(1, -low));
            exact_add(&s, -3);
            kit_where("3 + %d 2^-%d - 3", sign, low);
            KIT_NEAR(exact_value(&s), sign * ldexp(1, -low), 0);
        }
    /* A million ones, one by one and doubled by merging. */
    exact_sum s = exact_zero();
    for (int i = 0; i < 1000000; i++) exact_add(&s, 1);
    for (int i = 0; i < 9; i++) exact_merge(&s, &(exact_sum[]){s}[0]);
    CHECK_NEAR(exact_value(&s), 512e6, 0);
    CHECK_NEAR(exact_value(&(exact_sum[]){exact_zero()}[0]), 0, 0);
}

static void test_broken(void)
{
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        exact_sum s = exact_zero(), t = exact_zero();
        exact_add(&s, bad[k]);
        exact_add(&s, 1);
        exact_add(&t, 2);
        exact_merge(&t, &s);
        CHECK(isnan(exact_value(&s)));
        CHECK(isnan(exact_value(&t)));
    }
}

/* Sums over ranks: every rank adds other numbers, and all get the sum of all. */
static void test_ranks(void)
{
    enum { N = 4000 };
    struct ref_rng rng;
    ref_rng_seed(&rng, 13);
    double x[N];
    spread(x, N, 5, 15, &rng);
    exact_sum mine = exact_zero(), whole = exact_zero();
    for (int i = 0; i < N; i++) {
        exact_add(&whole, x[i]);
        if (i % comm_size() == comm_rank()) exact_add(&mine, x[i]);
    }
    comm_sum_exact(&mine, 1);
    CHECK_NEAR(exact_value(&mine), exact_value(&whole), 0);
}

/* Kernels: with one real a site not zero, |x|^2 of a site is one product, rounded once, in every precision and layout;
 * so the sum is that of exact_add(). */
static void test_kernels(void)
{
    for (int k = 0; k < KIT_SHAPES; k++)
        for (int prec = 0; prec <= PREC_SINGLE; prec++)
            for (int decades = 0; decades < 40; decades += 3) {
                lattice *lat = kit_lattice(kit_shapes[k], 1, 1);
                if (!lat) continue;
                struct ref_rng rng;
                ref_rng_seed(&rng, 14 + (unsigned)decades);
                double *psi = kit_alloc((size_t)lat->volume * 24, sizeof *psi);
                exact_sum want = exact_zero(), wanted_dot = exact_zero();
                for (long i = 0; i < lat->volume; i++) {
                    double v;
                    spread(&v, 1, 0, decades / 2.0, &rng);
                    if (prec == PREC_SINGLE) v = (float)v;
                    psi[i * 24 + i % 24] = v;
                    exact_add(&want, v * v);
                    exact_add(&wanted_dot, i % 2 ? v * v : -v * v);
                }
                field *x = kit_field(lat, FIELD_SPINOR, (precision)prec, PARITY_BOTH, 1, psi), *y = field_like(x);
                for (long i = 0; i < lat->volume; i++)
                    for (int c = 0; c < 24; c++) psi[i * 24 + c] *= i % 2 ? 1 : -1;
                kit_scatter(y, psi);
                double dot[2];
                vector_dot(dot, x, y, 0);
                kit_where("shape %d, %s, %d decades", k, kit_prec[prec], decades);
                KIT_NEAR(vector_norm2(x, 0), exact_value(&want), 0);
                KIT_NEAR(dot[0], exact_value(&wanted_dot), 0);
                KIT_NEAR(dot[1], 0, 0);
                psi[24 * (lat->volume / 3) + 7] = NAN;
                kit_scatter(y, psi);
                KIT_CHECK(isnan(vector_norm2(y, 0)));
                KIT_CHECK(!isnan(vector_norm2(x, 0)));
                field_destroy(x);
                field_destroy(y);
                free(psi);
                lattice_destroy(lat);
            }
}

/* Sums of parts, merged over ranks in wide folds, in random order. */
static double wide_value(const exact_sum *part, int n, struct ref_rng *rng)
{
    exact_wide w[64];
    for (int i = 0; i < n; i++) w[i] = exact_widen(&part[i]);
    for (; n > 1; n--) {
        const int into = (int)(ref_uniform(rng) * (n - 1));
        exact_wide_merge(&w[into], &w[n - 1]);
    }
    const exact_sum s = exact_narrow(&w[0]);
    return exact_value(&s);
}

static void test_wide(void)
{
    static const double range[][2] = {{3, 3}, {10, 20}, {0, 20}, {20, 40}, {288, 570}, {-270, 25}};
    enum { N = 640, PARTS = 64 };
    struct ref_rng rng;
    ref_rng_seed(&rng, 14);
    for (size_t k = 0; k < sizeof range / sizeof range[0]; k++)
        for (int trial = 0; trial < 20; trial++) {
            double x[N];
            exact_sum part[PARTS];
            spread(x, N, range[k][0], range[k][1], &rng);
            for (int i = 0; trial % 2 && i < N / 2; i++) x[i] = i % 3 ? -x[N - 1 - i] : x[i];
            const exact_sum s = sum_of(x, N);
            for (int i = 0; i < PARTS; i++) part[i] = sum_of(x + N / PARTS * i, N / PARTS);
            kit_where("addends from 1e%g down to 1e%g over ranks", range[k][0], range[k][0] - range[k][1]);
            KIT_NEAR(wide_value(part, PARTS, &rng), exact_value(&s), 0);
        }
    exact_sum broken[2] = {exact_zero(), exact_zero()};
    exact_add(&broken[0], NAN);
    CHECK(isnan(wide_value(broken, 2, &rng)));
}

/* `count` addends x. */
static exact_sum times(double x, int64_t count)
{
    exact_sum s = exact_zero();
    exact_add(&s, x);
    for (int i = 0; i < 3; i++) s.fold[i] *= count;
    return s;
}

/* 2^31 addends on each of up to 2^10 ranks, a few small ones among them: their sum is a double, or rounds to one. */
static void test_counts(void)
{
    static const double addend[] = {1, -1, 0x1.fffffffffffffp30, -0x1.fffffffffffffp30, 0x1.921fb54442d18p1, 0x1p-40};
    struct ref_rng rng;
    ref_rng_seed(&rng, 15);
    for (size_t k = 0; k < sizeof addend / sizeof addend[0]; k++)
        for (int doubled = 0; doubled <= 10; doubled++) {
            exact_sum part[64];
            exact_wide all[16];
            const double x = addend[k];
            const int ranks = 1 << doubled, first = ranks < 64 ? ranks : 64;
            for (int i = 0; i < first; i++) part[i] = times(x, (int64_t)1 << 31);
            kit_where("2^31 addends %a on %d ranks", x, ranks);
            if (ranks <= 64) KIT_NEAR(wide_value(part, ranks, &rng), ldexp(x, 31 + doubled), 0);
            for (int i = 0; i < ranks / 64; i++) {
                all[i] = exact_widen(&part[0]);
                for (int j = 1; j < 64; j++) {
                    const exact_wide w = exact_widen(&part[j]);
                    exact_wide_merge(&all[i], &w);
                }
                if (i > 0) exact_wide_merge(&all[0], &all[i]);
            }
            if (ranks < 64) continue;
            exact_sum s = exact_narrow(&all[0]);
            KIT_NEAR(exact_value(&s), ldexp(x, 31 + doubled), 0);
            /* Without those of one rank, wherever it stands. */
            const exact_sum less = times(-x, (int64_t)1 << 31);
            exact_wide w = exact_widen(&less);
            exact_wide_merge(&all[0], &w);
            s = exact_narrow(&all[0]);
            KIT_REL(exact_value(&s), (ranks - 1) * ldexp(x, 31), 0x1p-52);
        }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_order();
    test_raise();
    test_value();
    test_wide();
    test_counts();
    test_broken();
    test_ranks();
    test_kernels();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
