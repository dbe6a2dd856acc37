#include "io/links/links_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/utf8.h"
#include "kernels/lattice/comm.h"

/* Noise ratios of links are counted in bins, so that the quantile is the same for any process grid. */
enum { BINS = 2048, BINS_PER_OCTAVE = 32, BIN_OF_ONE = 1024 };
#define QUANTILE 0.999
/* Deviations up to so many roundings of a number near one are no news of a link, however exact the others are. */
#define ROUNDING 16.0

/* Doubles are tested in longer arithmetic where the machine has it, lest its own rounding count as noise. */
typedef long double real;

/* ---- one link ---- */

/* Half the spacing of stored numbers around x. */
static double half_ulp(double x, int mantissa)
{
    int e;
    if (x == 0) return 0;
    frexp(x, &e);
    return ldexp(1, e - mantissa - 1);
}

static real group_defect(const double *m, real *det_defect)
{
    real worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            const double *a = m + 6 * i, *b = m + 6 * j;
            real re = i == j ? -1 : 0, im = 0;
            for (int k = 0; k < 6; k += 2) {
                re += (real)a[k] * b[k] + (real)a[k + 1] * b[k + 1];
                im += (real)a[k + 1] * b[k] - (real)a[k] * b[k + 1];
            }
            const real d = sqrtl(re * re + im * im);
            if (!(d <= worst)) worst = d;
        }
    real re = -1, im = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = m + 2 * i, *b = m + 6 + 2 * ((i + 1) % 3), *c = m + 12 + 2 * ((i + 2) % 3);
        const double *d = m + 6 + 2 * ((i + 2) % 3), *e = m + 12 + 2 * ((i + 1) % 3);
        const real pr = ((real)b[0] * c[0] - (real)b[1] * c[1]) - ((real)d[0] * e[0] - (real)d[1] * e[1]);
        const real pi = ((real)b[0] * c[1] + (real)b[1] * c[0]) - ((real)d[0] * e[1] + (real)d[1] * e[0]);
        re += a[0] * pr - a[1] * pi;
        im += a[0] * pi + a[1] * pr;
    }
    *det_defect = sqrtl(re * re + im * im);
    return worst;
}

/* Largest ratio, over the 18 numbers, of the distance between a number and the cofactor it equals in SU(3) to what
 * rounding of the ten numbers involved can make of it. */
static double noise_ratio(const double *m, int mantissa)
{
    double h[18], worst = 0;
    for (int i = 0; i < 18; i++) h[i] = half_ulp(m[i], mantissa);
    for (int row = 0; row < 3; row++)
        for (int col = 0; col < 3; col++) {
            const int r1 = (row + 1) % 3, r2 = (row + 2) % 3, c1 = (col + 1) % 3, c2 = (col + 2) % 3;
            const int pair[2][2] = {{6 * r1 + 2 * c1, 6 * r2 + 2 * c2}, {6 * r1 + 2 * c2, 6 * r2 + 2 * c1}};
            const int self = 6 * row + 2 * col;
            real re = 0, im = 0;
            double noise_re = h[self], noise_im = h[self + 1];
            for (int k = 0; k < 2; k++) {
                const int a = pair[k][0], b = pair[k][1], sign = k ? -1 : 1;
                re += sign * ((real)m[a] * m[b] - (real)m[a + 1] * m[b + 1]);
                im -= sign * ((real)m[a] * m[b + 1] + (real)m[a + 1] * m[b]);
                noise_re +=
                    fabs(m[a]) * h[b] + h[a] * fabs(m[b]) + fabs(m[a + 1]) * h[b + 1] + h[a + 1] * fabs(m[b + 1]);
                noise_im +=
                    fabs(m[a]) * h[b + 1] + h[a] * fabs(m[b + 1]) + fabs(m[a + 1]) * h[b] + h[a + 1] * fabs(m[b]);
            }
            const double least = ldexp(1, -mantissa - 12); /* sums of numbers that are all tiny or zero */
            const double x = fabs((double)(re - m[self])) / (noise_re + least);
            const double y = fabs((double)(im - m[self + 1])) / (noise_im + least);
            if (!(x <= worst)) worst = x;
            if (!(y <= worst)) worst = y;
        }
    return worst;
}

/* ---- all links ---- */

static int bin_of(double ratio)
{
    if (!(ratio > 0)) return isnan(ratio) ? BINS - 1 : 0;
    const double b = BIN_OF_ONE + BINS_PER_OCTAVE * log2(ratio);
    return b < 0 ? 0 : b > BINS - 1 ? BINS - 1 : (int)b;
}

static uint64_t count_beyond(const uint64_t *bins, int from)
{
    uint64_t n = 0;
    for (int b = from; b < BINS; b++) n += bins[b];
    return n;
}

/* `off`: the bins of links whose deviation itself is more than rounding. */
static void count_outliers(const uint64_t *bins, const uint64_t *off, check_report *r)
{
    const uint64_t all = count_beyond(bins, 0);
    uint64_t below = 0;
    int b = 0;
    for (; b < BINS; b++) {
        below += bins[b];
        if ((double)below >= QUANTILE * (double)all) break;
    }
    const int usual = (b > BIN_OF_ONE ? b : BIN_OF_ONE) + 1;
    r->outliers = count_beyond(off, usual + (int)(BINS_PER_OCTAVE * log2(LINKS_OUTLIER)));
    r->far_out = count_beyond(off, usual + (int)(BINS_PER_OCTAVE * log2(LINKS_FAR_OUT)));
}

/* Numbers that are not zero, and below what is left when numbers of order one cancel: a flipped bit of a zero. */
static uint64_t count_tiny(const double *m, size_t n, int mantissa)
{
    const double least = mantissa == 24 ? 0x1p-60 : 0x1p-500;
    uint64_t tiny = 0;
    for (size_t i = 0; i < n; i++) tiny += m[i] != 0 && fabs(m[i]) < least;
    return tiny;
}

/* Link number i of the local slice t is inactive where time is bounded, with so many idle slices. */
static int is_inactive(const lattice *lat, int idle, int t, size_t i)
{
    const int last = lat->size[3] - 1 - idle, at = lat->origin[3] + t;
    return at > last || (at == last && i % 4 == 3);
}

void links_check_group(const field *u, int precision_bits, check_report *report)
{
    const lattice *lat = u->lat;
    const int mantissa = precision_bits == 32 ? 24 : 53;
    const size_t links = 4 * (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    double *buf = malloc(links * 18 * sizeof(double)), worst[2] = {0, 0};
    uint64_t *bins = calloc(2 * BINS, sizeof *bins), *off = bins + BINS, tiny = 0;
    const double rounding = ROUNDING * ldexp(1, -mantissa);
    REQUIRE_MEMORY(buf && bins, "out of memory: %zu links", links);
    for (int t = 0; t < lat->local[3]; t++) {
        field_export(u, t, buf);
        tiny += count_tiny(buf, 18 * links, mantissa);
        for (size_t i = 0; i < links; i++) {
            real det;
            if (report->info.open_boundary && is_inactive(lat, report->info.idle_slices, t, i)) continue;
            const double defect = (double)group_defect(buf + 18 * i, &det);
            /* NaN would vanish in the maximum over ranks. */
            worst[0] = fmax(worst[0], isfinite(defect) ? defect : HUGE_VAL);
            worst[1] = fmax(worst[1], isfinite((double)det) ? (double)det : HUGE_VAL);
            const int bin = bin_of(noise_ratio(buf + 18 * i, mantissa));
            bins[bin]++;
            off[bin] += !(defect <= rounding && det <= rounding);
        }
    }
    free(buf);
    comm_max(worst, 2);
    comm_sum_u64(bins, 2 * BINS);
    report->max_unitarity = worst[0];
    report->max_determinant = worst[1];
    comm_sum_u64(&tiny, 1);
    count_outliers(bins, off, report);
    report->tiny = (double)tiny <= 1e-3 * 72.0 * (double)lat->volume ? tiny : 0;
    free(bins);
    report->unitary = worst[0] <= 64 * ldexp(1, -mantissa) && worst[1] <= 64 * ldexp(1, -mantissa);
}

/* Largest |(U U^+ - 1)_ij| or |det U - 1| of one link, infinite where a number is none. Double precision: other than the
 * noise of rounding it needs no more. */
static double deviation_of(const double *m)
{
    double worst2 = 0, cofactor[6]; /* conjugate cofactors of the third row: the cross product of the others */
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            const double *a = m + 6 * i, *b = m + 6 * j;
            double re = i == j ? -1 : 0, im = 0;
            for (int k = 0; k < 6; k += 2) {
                re += a[k] * b[k] + a[k + 1] * b[k + 1];
                im += a[k + 1] * b[k] - a[k] * b[k + 1];
            }
            worst2 = fmax(worst2, re * re + im * im);
        }
    for (int i = 0; i < 3; i++) {
        const double *b = m + 2 * ((i + 1) % 3), *c = m + 2 * ((i + 2) % 3), *d = b + 6, *e = c + 6;
        cofactor[2 * i] = (b[0] * e[0] - b[1] * e[1]) - (c[0] * d[0] - c[1] * d[1]);
        cofactor[2 * i + 1] = (b[0] * e[1] + b[1] * e[0]) - (c[0] * d[1] + c[1] * d[0]);
    }
    double re = -1, im = 0, all = 0;
    for (int k = 0; k < 6; k += 2) {
        re += m[12 + k] * cofactor[k] - m[13 + k] * cofactor[k + 1];
        im += m[12 + k] * cofactor[k + 1] + m[13 + k] * cofactor[k];
    }
    for (int k = 0; k < 18; k++) all += m[k] * 0; /* NaN would vanish in the maximum */
    return all == 0 ? sqrt(fmax(worst2, re * re + im * im)) : HUGE_VAL;
}

double links_slice_deviation(const lattice *lat, int t, const double *links)
{
    const size_t n = 4 * (size_t)lat->local[0] * (size_t)lat->local[1] * (size_t)lat->local[2];
    double worst = 0;
#pragma omp parallel for reduction(max : worst)
    for (size_t i = 0; i < n; i++) {
        const double off = deviation_of(links + 18 * i);
        if (lat->time == TIME_PERIODIC || !is_inactive(lat, lat->idle, t, i) || !isfinite(off))
            worst = fmax(worst, off);
    }
    return worst;
}

double links_deviation(const field *u)
{
    double *buf = field_slice_buffer(u), worst = 0;
    for (int t = 0; t < u->lat->local[3]; t++) {
        field_export(u, t, buf);
        worst = fmax(worst, links_slice_deviation(u->lat, t, buf));
    }
    free(buf);
    comm_max(&worst, 1);
    return worst;
}

/* ---- the file ---- */

static void find(check_report *r, check_verdict verdict, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void find(check_report *r, check_verdict verdict, const char *fmt, ...)
{
    if (verdict <= r->verdict) return;
    char raw[2 * sizeof r->message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    utf8_printable(r->message, sizeof r->message, raw);
    r->verdict = verdict;
}

static void judge_group(check_report *r, const char *path)
{
    if (!r->unitary)
        find(r, CHECK_DAMAGED, "%s: links are not in SU(3): off unitarity by %.3g, determinant by %.3g", path,
             r->max_unitarity, r->max_determinant);
    if (r->outliers)
        find(r, r->far_out ? CHECK_DAMAGED : CHECK_ODD,
             "%s: %llu links are further off SU(3) than rounding and the other links explain", path,
             (unsigned long long)r->outliers);
    if (r->tiny)
        find(r, CHECK_ODD, "%s: %llu numbers of the links are nearly but not zero", path, (unsigned long long)r->tiny);
}

check_verdict links_judge(const field *u, const char *path, int bits, const char *message, check_report *r)
{
    r->verdict = CHECK_WHOLE;
    r->message[0] = 0;
    r->header_ok = 1;
    r->checksum_ok = -1;
    r->links_read = !(bits & LINKS_UNREADABLE);
    if (bits) find(r, bits & (LINKS_NO_ACCESS | LINKS_NO_LATTICE) ? CHECK_UNCHECKED : CHECK_DAMAGED, "%s", message);
    if (!r->links_read) return r->verdict;
    if (r->info.has_checksum) r->checksum_ok = !(bits & LINKS_BAD_CHECKSUM);
    links_digest(u, r->digest);
    links_check_group(u, r->info.precision_bits, r);
    if (r->checksum_ok < 0) judge_group(r, path);
    if (r->info.oddity[0]) find(r, CHECK_ODD, "%s: %s: %s", path, r->info.format, r->info.oddity);
    return r->verdict;
}

static int readable(const char *path, const int *size, check_report *r)
{
    int grid[4];
    char message[512] = "";
    const int bad = links_probe(path, &r->info, message, sizeof message);
    r->header_ok = !bad;
    if (bad) {
        find(r, bad & (LINKS_NO_ACCESS | LINKS_NO_LATTICE) ? CHECK_UNCHECKED : CHECK_DAMAGED, "%s", message);
        return 0;
    }
    if (links_settle_size(&r->info, path, size, "--size", message, sizeof message)) {
        find(r, CHECK_UNCHECKED, "%s", message);
        return 0;
    }
    const int *s = r->info.size, odd = (s[0] | s[1] | s[2] | s[3]) % 2;
    if (odd)
        find(r, CHECK_UNCHECKED, "%s: the lattice is %d.%d.%d.%d, even extents are allowed", path, s[0], s[1], s[2],
             s[3]);
    else if (!lattice_choose_grid(s, comm_size(), grid))
        find(r, CHECK_UNCHECKED, "%s: %d ranks cannot share a lattice of %d.%d.%d.%d; take fewer", path, comm_size(),
             s[0], s[1], s[2], s[3]);
    return r->verdict == CHECK_WHOLE;
}

check_verdict links_check(const char *path, const int *size, check_report *report)
{
    static const int any_grid[4];
    char message[512] = "";
    memset(report, 0, sizeof *report);
    report->checksum_ok = -1;
    if (!readable(path, size, report)) return report->verdict;
    lattice *lat = lattice_create(report->info.size, any_grid, 1, 1);
    field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const int bits = links_read(u, path, &report->info, message, sizeof message);
    links_judge(u, path, bits, message, report);
    field_destroy(u);
    lattice_destroy(lat);
    return report->verdict;
}
