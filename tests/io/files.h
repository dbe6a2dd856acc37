/* What tests of lattice files share: fields of random links, their plaquette by an oracle, and the formats that plaq only
 * reads, written by hand. Works on any number of ranks; rank 0 writes. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/links/links.h"
#include "io/links/links_check.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"
#include "tests/reference/data.h"

#ifndef PLAQ_SOURCE_DIR
#define PLAQ_SOURCE_DIR "."
#endif

static char folder[256], message[512];
static const int small[4] = {4, 4, 4, 4};

/* ---- small helpers ---- */

static inline const char *in_folder(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[0], "%s/%s", folder, name);
    return path[turn];
}

static inline field *field_of(const int size[4])
{
    static const int any[4];
    return field_create(lattice_create(size, any, 1, 1), FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
}

static inline void drop(field *u)
{
    lattice *lat = (lattice *)u->lat;
    field_destroy(u);
    lattice_destroy(lat);
}

static inline size_t site_number(const int *n, int x, int y, int z, int t)
{
    return (((size_t)t * (size_t)n[2] + (size_t)z) * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
}

/* All links on every rank, [t][z][y][x][mu][18]. */
static inline double *gathered(const field *u)
{
    const lattice *lat = u->lat;
    const int *l = lat->local, *o = lat->origin;
    uint64_t *all = calloc(72 * (size_t)lat->volume, sizeof *all);
    double *slice = malloc(72 * sizeof(double) * (size_t)(l[0] * l[1] * l[2]));
    for (int t = 0; t < l[3]; t++) {
        field_export(u, t, slice);
        for (int z = 0; z < l[2]; z++)
            for (int y = 0; y < l[1]; y++)
                memcpy(all + 72 * site_number(lat->size, o[0], y + o[1], z + o[2], t + o[3]),
                       slice + 72 * (size_t)((z * l[1] + y) * l[0]), 72 * sizeof(double) * (size_t)l[0]);
    }
    comm_sum_u64(all, (int)(72 * lat->volume)); /* one rank has each number, the others zero */
    free(slice);
    return (double *)all;
}

static inline void multiply(double *c, const double *a, const double *b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < 3; k++) {
                const double *x = a + 6 * i + 2 * k, *y = b + 6 * k + 2 * j;
                re += x[0] * y[0] - x[1] * y[1];
                im += x[0] * y[1] + x[1] * y[0];
            }
            c[6 * i + 2 * j] = re, c[6 * i + 2 * j + 1] = im;
        }
}

/* Re tr of U_mu(x) U_nu(x + mu) (U_nu(x) U_mu(x + nu))^+ over all sites and planes. */
static inline double plaquette(field *u)
{
    const int *n = u->lat->size;
    double *all = gathered(u), left[18], right[18];
    exact_sum sum = exact_zero();
    for (size_t s = 0; s < (size_t)u->lat->volume; s++) {
        int x[4] = {(int)(s % (size_t)n[0]), (int)(s / (size_t)n[0] % (size_t)n[1]),
                    (int)(s / (size_t)(n[0] * n[1]) % (size_t)n[2]), (int)(s / (size_t)(n[0] * n[1] * n[2]))};
        size_t up[4];
        for (int d = 0; d < 4; d++) {
            int y[4] = {x[0], x[1], x[2], x[3]};
            y[d] = (y[d] + 1) % n[d];
            up[d] = site_number(n, y[0], y[1], y[2], y[3]);
        }
        for (int mu = 0; mu < 4; mu++)
            for (int nu = 0; nu < mu; nu++) {
                multiply(left, all + 18 * (4 * s + (size_t)mu), all + 18 * (4 * up[mu] + (size_t)nu));
                multiply(right, all + 18 * (4 * s + (size_t)nu), all + 18 * (4 * up[nu] + (size_t)mu));
                double re = 0;
                for (int i = 0; i < 18; i++) re += left[i] * right[i];
                exact_add(&sum, re);
            }
    }
    free(all);
    return exact_value(&sum) / (18.0 * (double)u->lat->volume);
}

/* Pseudo-random SU(3) links that depend on the site alone. */
static uint64_t random_state;

static inline double random_unit(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static inline void normalise(double *row, const double *other)
{
    double re = 0, im = 0, norm = 0;
    for (int k = 0; k < 6 && other; k += 2) {
        re += other[k] * row[k] + other[k + 1] * row[k + 1];
        im += other[k] * row[k + 1] - other[k + 1] * row[k];
    }
    for (int k = 0; k < 6 && other; k += 2) {
        row[k] -= re * other[k] - im * other[k + 1];
        row[k + 1] -= re * other[k + 1] + im * other[k];
    }
    for (int k = 0; k < 6; k++) norm += row[k] * row[k];
    for (int k = 0; k < 6; k++) row[k] /= sqrt(norm);
}

static inline void random_link(double *m, uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 12345;
    for (int i = 0; i < 12; i++) m[i] = random_unit() - 0.5 + (i % 8 == 0);
    normalise(m, NULL);
    normalise(m + 6, m);
    normalise(m + 6, m);
    for (int i = 0; i < 3; i++) {
        const double *a = m + 2 * ((i + 1) % 3), *b = m + 2 * ((i + 2) % 3), *c = a + 6, *d = b + 6;
        m[12 + 2 * i] = a[0] * d[0] - a[1] * d[1] - b[0] * c[0] + b[1] * c[1];
        m[13 + 2 * i] = b[0] * c[1] + b[1] * c[0] - a[0] * d[1] - a[1] * d[0];
    }
}

static inline void fill_random(field *u)
{
    const int *l = u->lat->local, *o = u->lat->origin;
    double *slice = malloc(72 * sizeof(double) * (size_t)(l[0] * l[1] * l[2]));
    for (int t = 0; t < l[3]; t++) {
        double *m = slice;
        for (int z = 0; z < l[2]; z++)
            for (int y = 0; y < l[1]; y++)
                for (int x = 0; x < l[0]; x++)
                    for (int mu = 0; mu < 4; mu++, m += 18)
                        random_link(m,
                                    4 * site_number(u->lat->size, x + o[0], y + o[1], z + o[2], t + o[3]) + (size_t)mu);
        field_import(u, t, slice);
    }
    free(slice);
}

/* The links of an array as gathered() makes it. */
static inline void scattered(field *u, const double *all)
{
    const lattice *lat = u->lat;
    const int *l = lat->local, *o = lat->origin;
    double *slice = malloc(72 * sizeof(double) * (size_t)(l[0] * l[1] * l[2]));
    for (int t = 0; t < l[3]; t++) {
        for (int z = 0; z < l[2]; z++)
            for (int y = 0; y < l[1]; y++)
                memcpy(slice + 72 * (size_t)((z * l[1] + y) * l[0]),
                       all + 72 * site_number(lat->size, o[0], y + o[1], z + o[2], t + o[3]),
                       72 * sizeof(double) * (size_t)l[0]);
        field_import(u, t, slice);
    }
    free(slice);
}

static inline links_meta meta_of(field *u)
{
    return (links_meta){.has_plaquette = 1,
                        .plaquette = plaquette(u),
                        .ensemble = "test <links>",
                        .sequence = 7,
                        .parameters = "gauge.beta = 5.7\ngauge.action = a<b & \"c\">\n"};
}

static inline int have_samples(void)
{
    return access(data_path("lat.sample.l8888"), R_OK) == 0;
}

/* ---- whole files in memory, and formats written by hand ---- */

typedef struct {
    unsigned char *p;
    size_t n;
} bytes;

static inline bytes load(const char *path)
{
    bytes b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f) return b;
    fseek(f, 0, SEEK_END);
    b.n = (size_t)ftell(f);
    rewind(f);
    b.p = calloc(b.n + 1, 1);
    b.n = fread(b.p, 1, b.n, f);
    fclose(f);
    return b;
}

static inline void save(const char *path, const unsigned char *p, size_t n)
{
    if (comm_rank() == 0) {
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(p, 1, n, f) == n);
        if (f) fclose(f);
    }
    comm_barrier();
}

static inline size_t put(unsigned char *p, const void *value, size_t width, int big)
{
    for (size_t i = 0; i < width; i++) p[i] = ((const unsigned char *)value)[big ? width - 1 - i : i];
    return width;
}

static inline size_t put_link(unsigned char *p, const double *m, int rows, size_t width, int big)
{
    size_t n = 0;
    for (int i = 0; i < 6 * rows; i++) {
        const float f = (float)m[i];
        n += put(p + n, width == 4 ? (const void *)&f : (const void *)(m + i), width, big);
    }
    return n;
}

/* NERSC with two or three rows, either precision and byte order; the averages are those of `truth`. */
static inline void write_nersc(const char *path, field *u, field *truth, int rows, size_t width, int big)
{
    double *all = gathered(u);
    const size_t links = 4 * (size_t)u->lat->volume;
    unsigned char *p = calloc(links * 18 * 8 + 1024, 1), *data = p + 512;
    size_t n = 0;
    for (size_t i = 0; i < links; i++) n += put_link(data + n, all + 18 * i, rows, width, big);
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i += 4)
        for (size_t k = 0; k < 4; k++) sum += (uint32_t)data[i + k] << 8 * (big ? 3 - k : k);
    const int *s = u->lat->size;
    const int header =
        sprintf((char *)p,
                "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE%s\nDIMENSION_1 = %d\nDIMENSION_2 = %d\n"
                "DIMENSION_3 = %d\nDIMENSION_4 = %d\nCHECKSUM = %x\nLINK_TRACE = %.4f\nPLAQUETTE = %.4f\n"
                "FLOATING_POINT = IEEE%d%s\nEND_HEADER\n",
                rows == 3 ? "_3x3" : "", s[0], s[1], s[2], s[3], sum, links_trace(truth), plaquette(truth),
                (int)(8 * width), big ? "BIG" : "LITTLE");
    memmove(p + header, data, n);
    save(path, p, (size_t)header + n);
    free(p);
    free(all);
}

/* MILC old, either byte order. */
static inline void write_old(const char *path, field *u, int big)
{
    double *all = gathered(u);
    const int magic = 59354;
    const float parameters[2] = {5.5f, 0.1f};
    unsigned char *p = malloc(28 + 288 * (size_t)u->lat->volume);
    size_t n = put(p, &magic, 4, big);
    for (int d = 0; d < 4; d++) n += put(p + n, &u->lat->size[d], 4, big);
    for (int i = 0; i < 2; i++) n += put(p + n, &parameters[i], 4, big);
    for (size_t i = 0; i < 4 * (size_t)u->lat->volume; i++) n += put_link(p + n, all + 18 * i, 3, 4, big);
    save(path, p, n);
    free(p);
    free(all);
}

/* MILC v5, either byte order. */
static inline void write_milc(const char *path, field *u, int big)
{
    double *all = gathered(u);
    const int magic = 20103, order = 0;
    uint32_t sums[2] = {0, 0};
    unsigned char *p = calloc(96 + 288 * (size_t)u->lat->volume, 1);
    size_t n = put(p, &magic, 4, big);
    for (int d = 0; d < 4; d++) n += put(p + n, &u->lat->size[d], 4, big);
    strcpy((char *)p + n, "Fri Feb 13 23:31:30 2009\n");
    n = 84 + put(p + 84, &order, 4, big) + 8;
    for (size_t i = 0; i < 4 * (size_t)u->lat->volume; i++) n += put_link(p + n, all + 18 * i, 3, 4, big);
    for (uint32_t i = 0; i < 72 * (uint32_t)u->lat->volume; i++) {
        uint32_t w = 0;
        for (int k = 0; k < 4; k++) w |= (uint32_t)p[96 + 4 * i + (size_t)(big ? 3 - k : k)] << 8 * k;
        sums[0] ^= i % 29 ? w << i % 29 | w >> (32 - i % 29) : w;
        sums[1] ^= i % 31 ? w << i % 31 | w >> (32 - i % 31) : w;
    }
    for (int i = 0; i < 2; i++) put(p + 88 + 4 * i, &sums[i], 4, big);
    save(path, p, n);
    free(p);
    free(all);
}

/* openQCD, either byte order. */
static inline void write_openqcd(const char *path, field *u, int big)
{
    static const int header[4] = {3, 0, 1, 2}, direction[4] = {3, 0, 1, 2};
    const int *s = u->lat->size;
    double *all = gathered(u);
    const double p3 = 3 * plaquette(u);
    unsigned char *p = malloc(24 + 576 * (size_t)u->lat->volume);
    size_t n = 0;
    for (int i = 0; i < 4; i++) n += put(p + n, &s[header[i]], 4, big);
    n += put(p + n, &p3, 8, big);
    for (int t = 0; t < s[3]; t++)
        for (int x = 0; x < s[0]; x++)
            for (int y = 0; y < s[1]; y++)
                for (int z = 0; z < s[2]; z++)
                    for (int k = 0; k < 8 && (t + x + y + z) % 2; k++) {
                        int at[4] = {x, y, z, t}, mu = direction[k / 2];
                        if (k % 2) at[mu] = (at[mu] + s[mu] - 1) % s[mu];
                        const size_t site = site_number(s, at[0], at[1], at[2], at[3]);
                        n += put_link(p + n, all + 18 * (4 * site + (size_t)mu), 3, 8, big);
                    }
    save(path, p, n);
    free(p);
    free(all);
}

/* The folder of a test, made and removed. */
static inline void begin_folder(const char *name)
{
    if (comm_rank() == 0) {
        snprintf(folder, sizeof folder, "%s/%s.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
        CHECK(mkdtemp(folder) != NULL);
    }
    comm_bcast(folder, sizeof folder);
}

static inline void end_folder(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    comm_barrier();
    if (comm_rank() == 0) CHECK_INT(system(command), 0);
}
