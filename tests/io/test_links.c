/* Lattice files: the recorded files of others, round trips, synthesised variants, and damage of every kind.
 *
 * Sample files are looked for in $PLAQ_TEST_DATA, else in ../shared/data beside the source folder; where they are
 * missing that part is passed over and the exit status is 77. Works on any number of ranks up to 16; rank 0 does the
 * damage. */
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/checksum.h"
#include "io/links.h"
#include "io/links_check.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"
#include "tests/reference/data.h"

#ifndef PLAQ_SOURCE_DIR
#define PLAQ_SOURCE_DIR "."
#endif

static char folder[256], message[512];
static const int small[4] = {4, 4, 4, 4};

/* ---- small helpers ---- */

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[0], "%s/%s", folder, name);
    return path[turn];
}

/* How many there are in the folder, of any process. */
static int temporary_files(void)
{
    glob_t found;
    const int bad = glob(in_folder(".*.tmp"), 0, NULL, &found);
    const int n = bad ? 0 : (int)found.gl_pathc;
    if (!bad) globfree(&found);
    return n;
}

static field *field_of(const int size[4])
{
    static const int any[4];
    return field_create(lattice_create(size, any, 1, 1), FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
}

static void drop(field *u)
{
    lattice *lat = (lattice *)u->lat;
    field_destroy(u);
    lattice_destroy(lat);
}

static size_t site_number(const int *n, int x, int y, int z, int t)
{
    return (((size_t)t * (size_t)n[2] + (size_t)z) * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
}

/* All links on every rank, [t][z][y][x][mu][18]. */
static double *gathered(const field *u)
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

static void multiply(double *c, const double *a, const double *b)
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
static double plaquette(field *u)
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

static double random_unit(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / 9007199254740992.0;
}

static void normalise(double *row, const double *other)
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

static void random_link(double *m, uint64_t seed)
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

static void fill_random(field *u)
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

/* ---- checksums ---- */

/* The vectors of FIPS 180-4: none, one, two and many blocks. */
static void check_sha256(void)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    char hex[65];
    sha256 s;
    sha256_start(&s);
    sha256_end(&s, hex);
    CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_start(&s);
    sha256_add(&s, "abc", 3);
    sha256_end(&s, hex);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_start(&s);
    sha256_add(&s, two, sizeof two - 1);
    sha256_end(&s, hex);
    CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    sha256_start(&s);
    for (int i = 0; i < 1000000 / 8; i++) sha256_add(&s, "aaaaaaaa", 8);
    sha256_end(&s, hex);
    CHECK_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Bytes of random lengths and places, added in random pieces. */
static void hash_random(sha256_way way, uint64_t random, const unsigned char *bytes, size_t n, char hex[65])
{
    sha256 s;
    sha256_use(way);
    sha256_start(&s);
    while (n > 0) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const size_t most = random % 4 ? 100 : 1000, piece = (random >> 8) % most, take = piece < n ? piece : n;
        sha256_add(&s, bytes, take);
        bytes += take;
        n -= take;
    }
    sha256_end(&s, hex);
}

static void test_checksums(void)
{
    static unsigned char bytes[4096];
    uint64_t random = 88172645463325252u;
    CHECK_INT(crc32_of(0, "123456789", 9), 0xcbf43926);
    CHECK_INT(crc32_of(crc32_of(0, "12345", 5), "6789", 4), 0xcbf43926);
    CHECK(sha256_use(SHA256_PORTABLE));
    check_sha256();
    /* Where the CPU has no such instructions, both ways are the portable one. */
    if (!sha256_use(SHA256_INSTRUCTIONS)) printf("SHA-256 by instructions is not tested: this CPU has none\n");
    check_sha256();
    for (int i = 0; i < 500; i++) {
        char one[65], other[65];
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        const size_t start = random % 64, n = (random >> 8) % (i % 2 ? 200 : sizeof bytes - 64);
        for (size_t k = 0; k < n; k++) bytes[start + k] = (unsigned char)(random >> k % 57 ^ k);
        hash_random(SHA256_PORTABLE, random, bytes + start, n, one);
        hash_random(SHA256_INSTRUCTIONS, random, bytes + start, n, other);
        CHECK_STR(one, other);
    }
    sha256_use(SHA256_FASTEST);
}

/* ---- the files of others ---- */

static const struct {
    const char *name, *format;
    int size[4], bits;
    double plaquette, trace; /* plaquette 0: not unitary, not looked at */
} samples[] = {
    {"lat.sample.l8888", "milc", {8, 8, 8, 8}, 32, 0.593560240433, -0.000645638620},
    {"lat.sample.l4444", "milc", {4, 4, 4, 4}, 32, 0.594850158947, 0.646758737419},
    {"lat.sample.l4444.ildg", "ildg", {4, 4, 4, 4}, 32, 0.594850158947, 0.646758737419},
    {"lat.sample.l4444.scidac", "scidac", {4, 4, 4, 4}, 32, 0.594850158947, 0.646758737419},
    {"lat.sample.l4448", "milc", {4, 4, 4, 8}, 32, 0.569055724369, 0.069216590061},
    {"lat.sample.l4448.scidac", "scidac", {4, 4, 4, 8}, 32, 0.569055724369, 0.069216590061},
    {"lat.sample.l4448.gf", "milc", {4, 4, 4, 8}, 32, 0.569055725854, 0.751466183829},
    {"lat.sample.l6666.hisq", "milc", {6, 6, 6, 6}, 32, 0.616691003407, 0.168664636348},
    {"lat.sample.inst", "milc-old", {4, 4, 4, 4}, 32, 0.991009270758, 0.991627751151},
    {"lat.sample.l8", "scidac", {8, 8, 8, 8}, 32, 0.873640874413, 0.965058851974},
    {"fat.l8", "scidac", {8, 8, 8, 8}, 32, 0, 0},
    {"long.l8", "scidac", {8, 8, 8, 8}, 32, 0, 0},
    {"nersc.l8t4b3360", "nersc", {8, 8, 8, 4}, 64, 0.503866446950, 0.005406083858},
    {"ildg.l8t4b3360", "ildg", {8, 8, 8, 4}, 64, 0.503866446950, 0.005406083858},
    {"chroma.t_nersc.cfg", "nersc", {4, 4, 4, 4}, 32, 0.038242289324, 0.463032209838},
    {"qlua.random-gauge.lime", "ildg", {4, 4, 4, 8}, 64, 0.994764948926, 0.379317698946},
    {"qlua.random-gauge.nersc", "nersc", {4, 4, 4, 8}, 32, 0.994764948926, 0.379317698946},
    {"quenched-8888-b6.0.nersc", "nersc", {8, 8, 8, 8}, 64, 0.592431699204, 0.003552633848},
    {"openQCD_qcd1_pb_L8T8_b6.0_c1.234_k0.13_r0_id4n1", "openqcd", {8, 8, 8, 8}, 64, 0.001669681144, -0.000022162127}};

static int have_samples(void)
{
    return access(data_path("lat.sample.l8888"), R_OK) == 0;
}

static void test_sample(size_t i)
{
    check_report r;
    int grid[4];
    const char *path = data_path(samples[i].name);
    if (!lattice_choose_grid(samples[i].size, comm_size(), grid)) return; /* boxes have even extents */
    CHECK_INT(links_check(path, plaquette, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.info.format, samples[i].format);
    CHECK(!memcmp(r.info.size, samples[i].size, sizeof r.info.size));
    CHECK_INT(r.info.precision_bits, samples[i].bits);
    CHECK_INT(r.unitary, samples[i].plaquette != 0);
    if (samples[i].plaquette == 0) return;
    /* The same weak field was rounded to two rows of 32 bits for its NERSC file. */
    const double tolerance = strcmp(samples[i].name, "qlua.random-gauge.nersc") ? 6e-13 : 1e-9;
    CHECK_NEAR(r.plaquette, samples[i].plaquette, tolerance);
    CHECK_NEAR(r.link_trace, samples[i].trace, tolerance);
}

static void test_same_links(const char *a, const char *b)
{
    check_report one, other;
    links_check(data_path(a), NULL, &one);
    links_check(data_path(b), NULL, &other);
    CHECK_STR(one.digest, other.digest);
}

/* ---- writing and reading back ---- */

static links_meta meta_of(field *u)
{
    return (links_meta){.has_plaquette = 1, .plaquette = plaquette(u), .ensemble = "test <links>", .sequence = 7};
}

static void round_trip(field *u, const char *format, const char *name)
{
    char before[65];
    links_digest(u, before);
    const links_meta meta = meta_of(u);
    CHECK_INT(links_write(u, in_folder(name), format, &meta, message, sizeof message), 0);
    check_report r;
    CHECK_INT(links_check(in_folder(name), plaquette, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.info.format, format);
    CHECK_STR(r.digest, before);
    CHECK_INT(r.checksum_ok, 1);
    CHECK_INT(r.plaquette_ok, 1);
    CHECK_INT(r.link_trace_ok, 1);
    CHECK(r.unitary);
    CHECK_INT(temporary_files(), 0);
}

static void test_round_trips(void)
{
    static const int oblong[4] = {8, 4, 6, 4};
    char a[65], b[65];
    field *u = field_of(oblong);
    fill_random(u);
    round_trip(u, "ildg", "oblong.ildg");
    round_trip(u, "nersc", "oblong.nersc");
    round_trip(u, "hdf5", "oblong.h5");
    links_digest(u, a);
    field *v = field_like(u);
    CHECK_INT(links_read(v, in_folder("oblong.h5"), NULL, message, sizeof message), 0);
    links_digest(v, b);
    CHECK_STR(a, b);
    field *w = field_of(small);
    CHECK_INT(links_read(w, in_folder("oblong.h5"), NULL, message, sizeof message), LINKS_UNREADABLE);
    CHECK_HAS(message, "8.4.6.4");
    CHECK(links_write(u, in_folder("x"), "milc", NULL, message, sizeof message) != 0);
    CHECK_HAS(message, "ildg (.lime .ildg), nersc (.nersc), hdf5 (.h5 .hdf5)");
    CHECK(links_write(u, in_folder("no/folder/x"), "nersc", NULL, message, sizeof message) != 0);
    CHECK_HAS(message, "No such file");
    CHECK(links_write(u, in_folder("no/folder/x"), "hdf5", NULL, message, sizeof message) != 0);
    field_destroy(v);
    drop(w);
    drop(u);
}

static void test_endings(void)
{
    static const char *const none[] = {"a", "a.", "a.h", "a.h55", "a.nersc/b", ".h5 ", "a. .ildg x", "a.milc"};
    CHECK_STR(links_format_of_ending("a.b/c.lime"), "ildg");
    CHECK_STR(links_format_of_ending("c.ildg"), "ildg");
    CHECK_STR(links_format_of_ending("c.h5.nersc"), "nersc");
    CHECK_STR(links_format_of_ending(".h5"), "hdf5");
    CHECK_STR(links_format_of_ending("c.hdf5"), "hdf5");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) CHECK(links_format_of_ending(none[i]) == NULL);
    CHECK(links_format_has_checksum("ildg") && links_format_has_checksum("milc"));
    CHECK(!links_format_has_checksum("milc-old") && !links_format_has_checksum("openqcd"));
}

/* A disk that takes no more: nothing is left, and the older file stays. */
static void test_full_disk(void)
{
    char before[65], after[65];
    field *u = field_of(small), *v = field_like(u);
    fill_random(u);
    links_digest(u, before);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 3; i++) {
        const char *format = (const char *[]){"ildg", "nersc", "hdf5"}[i], *path = in_folder("full");
        CHECK_INT(links_write(u, path, format, NULL, message, sizeof message), 0);
        struct rlimit limit;
        getrlimit(RLIMIT_FSIZE, &limit);
        const rlim_t usual = limit.rlim_cur;
        limit.rlim_cur = 100000;
        setrlimit(RLIMIT_FSIZE, &limit);
        CHECK(links_write(v, path, format, NULL, message, sizeof message) != 0);
        CHECK_HAS(message, path);
        limit.rlim_cur = usual;
        setrlimit(RLIMIT_FSIZE, &limit);
        CHECK_INT(temporary_files(), 0);
        CHECK_INT(links_read(v, path, NULL, message, sizeof message), 0);
        links_digest(v, after);
        CHECK_STR(after, before);
    }
    field_destroy(v);
    drop(u);
}

/* ---- whole files in memory, and formats written by hand ---- */

typedef struct {
    unsigned char *p;
    size_t n;
} bytes;

static bytes load(const char *path)
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

static void save(const char *path, const unsigned char *p, size_t n)
{
    if (comm_rank() == 0) {
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(p, 1, n, f) == n);
        if (f) fclose(f);
    }
    comm_barrier();
}

static size_t put(unsigned char *p, const void *value, size_t width, int big)
{
    for (size_t i = 0; i < width; i++) p[i] = ((const unsigned char *)value)[big ? width - 1 - i : i];
    return width;
}

static size_t put_link(unsigned char *p, const double *m, int rows, size_t width, int big)
{
    size_t n = 0;
    for (int i = 0; i < 6 * rows; i++) {
        const float f = (float)m[i];
        n += put(p + n, width == 4 ? (const void *)&f : (const void *)(m + i), width, big);
    }
    return n;
}

/* NERSC with two or three rows, either precision and byte order. */
static void write_nersc(const char *path, field *u, int rows, size_t width, int big)
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
                rows == 3 ? "_3x3" : "", s[0], s[1], s[2], s[3], sum, links_trace(u), plaquette(u), (int)(8 * width),
                big ? "BIG" : "LITTLE");
    memmove(p + header, data, n);
    save(path, p, (size_t)header + n);
    free(p);
    free(all);
}

/* MILC old, either byte order. */
static void write_old(const char *path, field *u, int big)
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

/* openQCD, either byte order. */
static void write_openqcd(const char *path, field *u, int big)
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

/* A variant of u is whole and is u, to single precision where it has no more. */
static void check_variant(const char *name, field *u, const char *format, int bits, int exact)
{
    char digest[65];
    check_report r;
    CHECK_INT(links_check(in_folder(name), plaquette, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.info.format, format);
    CHECK_INT(r.info.precision_bits, bits);
    CHECK_NEAR(r.plaquette, plaquette(u), bits == 32 ? 1e-8 : 1e-14);
    CHECK_NEAR(r.link_trace, links_trace(u), bits == 32 ? 1e-8 : 1e-14);
    links_digest(u, digest);
    if (exact) CHECK_STR(r.digest, digest);
}

static void test_variants(void)
{
    static const int oblong[4] = {4, 8, 4, 6};
    field *u = field_of(oblong);
    fill_random(u);
    for (int big = 0; big < 2; big++) {
        for (int rows = 2; rows < 4; rows++)
            for (size_t width = 4; width < 9; width += 4) {
                write_nersc(in_folder("variant.nersc"), u, rows, width, big);
                check_variant("variant.nersc", u, "nersc", (int)(8 * width), rows == 3 && width == 8);
            }
        write_old(in_folder("variant.old"), u, big);
        check_variant("variant.old", u, "milc-old", 32, 0);
        write_openqcd(in_folder("variant.openqcd"), u, big);
        check_variant("variant.openqcd", u, "openqcd", 64, 1);
    }
    drop(u);
}

#include "tests/io/damage.h"

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    if (comm_rank() == 0) {
        snprintf(folder, sizeof folder, "%s/plaq_links.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
        CHECK(mkdtemp(folder) != NULL);
    }
    comm_bcast(folder, sizeof folder);
    const int samples_there = have_samples();
    test_checksums();
    for (size_t i = 0; i < sizeof samples / sizeof samples[0] && samples_there; i++) test_sample(i);
    if (samples_there) {
        test_same_links("lat.sample.l4444", "lat.sample.l4444.ildg");
        test_same_links("lat.sample.l4444", "lat.sample.l4444.scidac");
        test_same_links("lat.sample.l4448", "lat.sample.l4448.scidac");
    } else {
        printf("sample files not found: set PLAQ_TEST_DATA\n");
    }
    test_round_trips();
    test_endings();
    test_full_disk();
    test_variants();
    test_damage(samples_there);
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    comm_barrier();
    if (comm_rank() == 0) CHECK_INT(system(command), 0);
    const int failed = CHECK_SUMMARY();
    comm_finalize();
    return failed ? 1 : samples_there ? 0 : 77;
}
