/* The Remez algorithm: what makes an approximation the best one, the solutions that are known in closed form, and those
 * that others published.
 *
 * The error takes its largest value degree + degree_above + 2 times with alternating sign, which by Chebyshev's theorem
 * only the best one does; exponents 1/2 and -1/2 are Zolotarev's (elliptic functions of GSL; A. Kennedy,
 * hep-lat/0402038, section 4); inverses, scaled and shifted arguments are what they must be; what cannot be done ends
 * with a message. Published: the tables of HiRep and of MILC's su3_rhmc_hisq in data/rational. */
#include "tests/check.h"
#include "tests/reference/data.h"

#include <gsl/gsl_sf_ellint.h>
#include <gsl/gsl_sf_elljac.h>
#include <stdlib.h>

#include "kernels/lattice/comm.h"
#include "solvers/remez.h"

static char message[256];

static rational best(const power_product *f, double lo, double hi, int degree, int above)
{
    rational r = {0};
    const int bad = remez(&r, f, lo, hi, degree, above, message, sizeof message);
    CHECK(!bad);
    if (bad) printf("  %s\n", message);
    return r;
}

static power_product power(int num, int den)
{
    return (power_product){1, {{0, num, den}}};
}

/* r/f - 1 from the product form. */
static long double error_of(const rational *r, long double x)
{
    long double q = r->scale;
    for (int i = 0; i < r->degree; i++) q /= x + r->poles[i];
    for (int i = 0; i < r->degree_above; i++) q *= x + r->zeros[i];
    for (int k = 0; k < r->f.nfactors; k++)
        q *= powl(x + r->f.factors[k].shift, -(long double)r->f.factors[k].num / r->f.factors[k].den);
    return q - 1;
}

/* The largest |error| between two grid points around a local maximum. */
static double peak(const rational *r, double a, double b)
{
    const double golden = 0.6180339887498949;
    for (int i = 0; i < 60; i++) {
        const double c = b - golden * (b - a), d = a + golden * (b - a);
        if (fabsl(error_of(r, c)) > fabsl(error_of(r, d))) b = d;
        else a = c;
    }
    return (double)fabsl(error_of(r, (a + b) / 2));
}

/* The extrema of the error on the whole range: how many alternate, the smallest and the largest. */
static int extrema(const rational *r, double *lowest, double *highest)
{
    enum { POINTS = 4000 };
    const double base = r->poles[0], a = log(r->lo + base), b = log(r->hi + base);
    double x[3] = {r->lo, r->lo, r->lo}, e[3] = {0, 0, 0}, here = 0;
    int count = 0;
    *lowest = INFINITY;
    *highest = 0;
    for (int i = 0; i <= POINTS + 1; i++) {
        x[0] = x[1], x[1] = x[2], e[0] = e[1], e[1] = e[2];
        x[2] = i < POINTS ? exp((a + b) / 2 - (b - a) / 2 * cos(M_PI * i / POINTS)) - base : r->hi;
        x[2] = fmin(fmax(x[2], r->lo), r->hi);
        e[2] = i <= POINTS ? (double)error_of(r, x[2]) : 0;
        if (i == 0) continue;
        /* x[1] is looked at; beyond the ends the error counts as zero. */
        if (fabs(e[1]) >= fabs(e[0]) && fabs(e[1]) >= fabs(e[2])) here = fmax(here, peak(r, x[0], x[2]));
        here = fmax(here, fabs(e[1]));
        if (i <= POINTS && (e[1] > 0) == (e[2] > 0)) continue;
        count++;
        *lowest = fmin(*lowest, here);
        *highest = fmax(*highest, here);
        here = 0;
    }
    return count;
}

/* The coefficients are rounded to double, which moves each of the 2n factors and so the error by 1e-16 or so. */
static void check_alternation(const rational *r)
{
    double lowest, highest;
    const double rounding = 4e-16 * (2 * r->degree + 2);
    CHECK_INT(extrema(r, &lowest, &highest), r->degree + r->degree_above + 2);
    CHECK_NEAR(lowest, r->error, rounding + 1e-12 * r->error);
    CHECK_NEAR(highest, r->error, rounding + 1e-12 * r->error);
}

/* Poles and zeros are ordered and left of -shift; both forms are one function. */
static void check_forms(const rational *r)
{
    double shift = INFINITY;
    for (int k = 0; k < r->f.nfactors; k++) shift = fmin(shift, r->f.factors[k].shift);
    for (int i = 0; i < r->degree; i++) {
        CHECK(r->poles[i] > shift);
        CHECK(i == 0 || r->poles[i] > r->poles[i - 1]);
        CHECK(i >= r->degree_above || r->zeros[i] > shift);
        CHECK(i == 0 || i >= r->degree_above || r->zeros[i] > r->zeros[i - 1]);
    }
    for (int i = 0; i <= 50; i++) {
        const long double x = (r->lo + shift) * powl((r->hi + shift) / (r->lo + shift), i / 50.0L) - shift;
        long double sum = r->constant, product = r->scale, largest = fabsl(sum);
        for (int k = 0; k < r->degree; k++) {
            sum += r->residues[k] / (x + r->poles[k]);
            largest = fmaxl(largest, fabsl(r->residues[k] / (x + r->poles[k])));
            product /= x + r->poles[k];
        }
        for (int k = 0; k < r->degree_above; k++) product *= x + r->zeros[k];
        CHECK_NEAR((double)(sum / product), 1, 4e-16 * r->degree * (double)(1 + largest / product));
    }
}

static void test_alternation(void)
{
    static const struct {
        power_product f;
        double lo, hi;
        int degree, below;
    } cases[] = {{{1, {{0, -1, 2}}}, 1e-2, 1, 1, 0},
                 {{1, {{0, -1, 2}}}, 1e-4, 64, 12, 0},
                 {{1, {{0, -1, 2}}}, 1e-4, 64, 12, 1},
                 {{1, {{0, 1, 4}}}, 1e-3, 10, 9, 0},
                 {{1, {{0, -1, 4}}}, 1e-8, 1, 20, 0},
                 {{1, {{0, -1, 4}}}, 1e-8, 1, 20, 1},
                 {{1, {{0, 3, 4}}}, 1e-5, 2, 15, 0},
                 {{1, {{0, -5, 7}}}, 0.3, 2, 5, 0},
                 {{1, {{0, 1, 16}}}, 1e-6, 64, 20, 0},
                 {{1, {{0, -1, 3}}}, 1e-16, 1, 32, 0},
                 {{1, {{0.16, 1, 8}}}, 0, 90, 7, 0},
                 {{2, {{0.01, -1, 2}, {0.2, 1, 4}}}, 0, 40, 8, 0},
                 {{3, {{0.0004, -2, 4}, {0.01, -1, 4}, {0.16, 3, 4}}}, 1e-15, 90, 9, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int n = cases[i].degree;
        const rational r = best(&cases[i].f, cases[i].lo, cases[i].hi, n, n - cases[i].below);
        printf("case %zu: error %.3e\n", i, r.error);
        check_alternation(&r);
        check_forms(&r);
    }
}

/* E(n + 1) / E(n) goes to exp(-2 pi K(k) / K(k')), k^2 = lo / hi (E. Zolotarev; A. Gonchar, 1978), down to what is
 * refused. */
static void test_fall(void)
{
    const power_product f = power(-1, 3);
    const double k = 0.1, rate = exp(-2 * M_PI * gsl_sf_ellint_Kcomp(k, GSL_PREC_DOUBLE) /
                                     gsl_sf_ellint_Kcomp(sqrt(1 - k * k), GSL_PREC_DOUBLE));
    double last = 1;
    int n = 1;
    for (rational r; n < RATIONAL_MAX_DEGREE && !remez(&r, &f, 0.01, 1, n, n, message, sizeof message); n++) {
        if (n > 1) CHECK_REL(r.error / last, rate, 0.5 / (n * n));
        last = r.error;
    }
    CHECK(last < 1e-20);
    CHECK_HAS(message, "too close to the rounding");
}

/* x^(-1/2) with n poles and n - below zeros: -x = lo sn^2 / cn^2 at multiples of K / (2n + 1 - below). */
static void test_zolotarev(void)
{
    for (int below = 0; below < 2; below++)
        for (int n = 1; n < 20; n += 3) {
            const double lo = 2e-4, hi = 3, modulus = sqrt(1 - lo / hi);
            const double K = gsl_sf_ellint_Kcomp(modulus, GSL_PREC_DOUBLE);
            const int m = 2 * n + 1 - below;
            const power_product f = power(-1, 2), g = power(1, 2);
            const rational r = best(&f, lo, hi, n, n - below);
            double sn, cn, dn, least = INFINITY, most = 0;
            /* Rounding of the modulus is multiplied by hi/lo. */
            const double tolerance = 20 * 0x1p-53 * hi / lo;
            for (int l = 1; l < m; l++) {
                gsl_sf_elljac_e(l * K / m, modulus * modulus, &sn, &cn, &dn);
                CHECK_REL(l & 1 ? r.poles[l / 2] : r.zeros[l / 2 - 1], lo * sn * sn / (cn * cn), tolerance);
            }
            for (int l = 0; l <= m; l++) {
                gsl_sf_elljac_e(l * K / m, modulus * modulus, &sn, &cn, &dn);
                const double x = fmin(fmax(hi * dn * dn, lo), hi), e = (double)error_of(&r, x);
                least = fmin(least, fabs(e));
                most = fmax(most, fabs(e));
            }
            CHECK_NEAR(least, r.error, 1e-14 + 1e-9 * r.error);
            CHECK_NEAR(most, r.error, 1e-14 + 1e-9 * r.error);
            if (below) continue;
            const rational inverse = best(&g, lo, hi, n, n);
            for (int i = 0; i < n; i++) CHECK_REL(inverse.poles[i], r.zeros[i], 4e-16);
        }
}

/* 1/f, f(a x), f(x - s). */
static void test_symmetries(void)
{
    const power_product f = {2, {{0.01, -1, 2}, {0.2, 1, 4}}}, inverse = {2, {{0.01, 1, 2}, {0.2, -1, 4}}};
    const power_product scaled = {2, {{0.04, -1, 2}, {0.8, 1, 4}}}, moved = {2, {{0.26, -1, 2}, {0.45, 1, 4}}};
    const rational a = best(&f, 0.125, 8, 7, 7), b = best(&inverse, 0.125, 8, 7, 7), c = best(&scaled, 0.5, 32, 7, 7),
                   d = best(&moved, -0.125, 7.75, 7, 7);
    CHECK_REL(a.error, b.error, 1e-15);
    CHECK_REL(a.scale * b.scale, 1 - a.error * a.error, 1e-15);
    CHECK_REL(a.error, c.error, 1e-13);
    CHECK_REL(a.error, d.error, 1e-13);
    for (int i = 0; i < 7; i++) {
        CHECK_REL(a.poles[i], b.zeros[i], 1e-15);
        CHECK_REL(a.zeros[i], b.poles[i], 1e-15);
        /* Shifts that are rounded differently. */
        CHECK_REL(4 * a.poles[i], c.poles[i], 1e-14);
        CHECK_REL(a.poles[i] + 0.25, d.poles[i], 1e-14);
    }
    const rational again = best(&f, 0.125, 8, 7, 7);
    CHECK(!memcmp(&a, &again, sizeof a));
}

static void check_refused(power_product f, double lo, double hi, int degree, int above, const char *part)
{
    rational r, kept;
    memset(&r, 7, sizeof r);
    kept = r;
    CHECK(remez(&r, &f, lo, hi, degree, above, message, sizeof message) != 0);
    CHECK_HAS(message, part);
    CHECK(!memcmp(&r, &kept, sizeof r));
}

static void test_refusals(void)
{
    check_refused(power(-1, 2), 1, 1, 3, 3, "empty");
    check_refused(power(-1, 2), 2, 1, 3, 3, "empty");
    check_refused(power(-1, 2), NAN, 1, 3, 3, "empty");
    check_refused(power(-1, 2), 0, 1, 3, 3, "reaches a zero or a pole");
    check_refused(power(-1, 2), 0.1, INFINITY, 3, 3, "empty");
    check_refused(power(-1, 0), 0.1, 1, 3, 3, "-1/0");
    check_refused(power(0, 2), 0.1, 1, 3, 3, "constant");
    check_refused(power(-2, 2), 0.1, 1, 3, 3, "rational itself");
    check_refused(power(-1, 2), 0.1, 1, 0, 0, "from 1 to 32");
    check_refused(power(-1, 2), 0.1, 1, 33, 33, "from 1 to 32");
    check_refused(power(-1, 2), 0.1, 1, 5, 3, "allowed are");
    check_refused(power(-1, 2), 0.1, 1, 20, 20, "too close to the rounding");
    check_refused(power(-3, 2), 1e-3, 1, 5, 5, "not real");
    check_refused((power_product){0}, 0.1, 1, 5, 5, "0 factors");
    check_refused((power_product){1, {{-0.2, 1, 2}}}, 0.1, 1, 5, 5, "reaches a zero or a pole");
    check_refused((power_product){1, {{NAN, 1, 2}}}, 0.1, 1, 5, 5, "not a number");
}

/* ---- published approximations ---- */

static FILE *open_data(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/rational/%s", data_folder(), name);
    FILE *in = fopen(path, "r");
    CHECK(in != NULL);
    return in;
}

static double apart(double a, double b)
{
    return fabs(a - b) / fmax(fabs(a), fabs(b));
}

/* Numbers separated by commas; returns how many. */
static int split(const char *line, double *v, int most)
{
    int count = 0;
    char *end;
    for (const char *p = line; count < most; p = end + (*end == ',')) {
        v[count] = strtod(p, &end);
        if (end == p) break;
        count++;
    }
    return count;
}

/* Lines num,den,n,err,lo,hi,a0,a_1..a_n,b_1..b_n of x^(-num/den) = a0 prod (x - a_i) / (x - b_i). Their iteration
 * stopped where the extrema were equal to some digits, from which their `err` differs as much: so far the coefficients
 * can agree. */
static void test_hirep(const char *name, int expected)
{
    static char line[4096];
    FILE *in = open_data(name);
    int lines = 0;
    while (in && fgets(line, sizeof line, in)) {
        double v[7 + 2 * RATIONAL_MAX_DEGREE], worst = 0;
        const int count = split(line, v, 7 + 2 * RATIONAL_MAX_DEGREE);
        if (count < 7) continue;
        lines++;
        const int n = (int)v[2];
        const power_product f = power(-(int)v[0], (int)v[1]);
        const rational r = best(&f, v[4], v[5], n, n);
        CHECK_INT(count, 7 + 2 * n);
        for (int i = 0; i < n; i++) {
            worst = fmax(worst, apart(-v[7 + n - 1 - i], r.zeros[i]));
            worst = fmax(worst, apart(-v[7 + 2 * n - 1 - i], r.poles[i]));
        }
        worst = fmax(worst, apart(v[6], r.scale));
        printf("%s degree %d: error %.10e, theirs %.10e; coefficients differ by %.1e\n", name, n, r.error, v[3], worst);
        CHECK_NEAR(worst, 0, 2e-15 + apart(v[3], r.error));
        CHECK_REL(v[3], r.error, 1e-7);
    }
    CHECK_INT(lines, expected);
    if (in) fclose(in);
}

/* Blocks y_NAME, z_NAME, m_NAME, order_NAME, res_NAME..., pole_NAME... after comments that name range and error:
 * r(x) = res_0 + sum res_i / (x + pole_i) for the product of (x + 4 m^2)^(y/z). Where y has the other sign than in the
 * comment, the best approximation of 1/f was inverted, which makes it larger than the best one by 1 / (1 - error^2). */
static void check_milc(const power_product *f, double lo, double hi, double error, int inverted, int n,
                       const double *residues, const double *poles)
{
    const rational r = best(f, lo, hi, n, n);
    const double factor = inverted ? 1 - r.error * r.error : 1;
    /* Seven digits are printed of the error, and 17 of the rest, whose last few are their rounding. */
    CHECK_REL(r.error, error, 1e-6);
    CHECK_REL(r.constant, factor * residues[0], 2e-15);
    for (int i = 0; i < n; i++) {
        CHECK_REL(r.poles[i], poles[i + 1], 2e-15);
        CHECK_REL(r.residues[i], factor * residues[i + 1], 2e-14);
    }
}

static void test_milc(void)
{
    static char line[1024];
    FILE *in = open_data("rationals.sample.su3_rhmc_hisq_f211");
    power_product f = {.nfactors = 4};
    double lo = 0, hi = 0, error = 0, residues[RATIONAL_MAX_DEGREE + 1], poles[RATIONAL_MAX_DEGREE + 1], m[4];
    int n = 0, nresidues = 0, npoles = 0, blocks = 0, approximated = 0;
    while (in && fgets(line, sizeof line, in)) {
        double value;
        int y[4];
        const char *rest = strchr(line, ' '), *text = strstr(line, "error = ");
        sscanf(line, "# Approximation bounds are [%lf,%lf]", &lo, &hi);
        if (text) error = atof(text + 8);
        if (strstr(line, "Approximating") && (text = strstr(line, "^("))) approximated = atoi(text + 2);
        if (!rest || line[0] == '#') continue;
        const int four = sscanf(rest, "%d %d %d %d", &y[0], &y[1], &y[2], &y[3]) == 4;
        if (!strncmp(line, "y_", 2) && four)
            for (int k = 0; k < 4; k++) f.factors[k].num = y[k];
        if (!strncmp(line, "z_", 2) && four)
            for (int k = 0; k < 4; k++) f.factors[k].den = y[k];
        if (!strncmp(line, "m_", 2) && sscanf(rest, "%lf %lf %lf %lf", &m[0], &m[1], &m[2], &m[3]) == 4)
            for (int k = 0; k < 4; k++) f.factors[k].shift = 4 * m[k] * m[k];
        if (sscanf(line, "order_%*s %d", &n) == 1) nresidues = npoles = 0;
        if (sscanf(line, "res_%*s %lf", &value) == 1) residues[nresidues++] = value;
        if (sscanf(line, "pole_%*s %lf", &value) == 1) poles[npoles++] = value;
        if (n > 0 && npoles == n + 1) {
            CHECK_INT(nresidues, n + 1);
            check_milc(&f, lo, hi, error, approximated * f.factors[0].num < 0, n, residues, poles);
            blocks++;
            n = 0;
        }
    }
    CHECK_INT(blocks, 15);
    if (in) fclose(in);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_alternation();
    test_fall();
    test_zolotarev();
    test_symmetries();
    test_refusals();
    if (access(data_folder(), R_OK) == 0) {
        test_hirep("hirep.approx_1_2_1.e-10", 22);
        test_hirep("hirep.approx_1_16_1.e-10", 20);
        test_milc();
    } else printf("no folder %s (PLAQ_TEST_DATA): nothing is compared with published approximations\n", data_folder());
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
