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

#include "tests/io/lime_files.h"

/* How many there are in the folder, of any process. */
static int temporary_files(void)
{
    glob_t found;
    const int bad = glob(in_folder(".*.tmp"), 0, NULL, &found);
    const int n = bad ? 0 : (int)found.gl_pathc;
    if (!bad) globfree(&found);
    return n;
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

static void test_sample(size_t i)
{
    check_report r;
    int grid[4];
    const char *path = data_path(samples[i].name);
    if (!lattice_choose_grid(samples[i].size, comm_size(), grid)) return; /* boxes have even extents */
    CHECK_INT(links_check(path, NULL, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.info.format, samples[i].format);
    CHECK(!memcmp(r.info.size, samples[i].size, sizeof r.info.size));
    CHECK_INT(r.info.precision_bits, samples[i].bits);
    CHECK_INT(r.unitary, samples[i].plaquette != 0);
    if (samples[i].plaquette == 0) return;
    /* The same weak field was rounded to two rows of 32 bits for its NERSC file. */
    const double tolerance = strcmp(samples[i].name, "qlua.random-gauge.nersc") ? 6e-13 : 1e-9;
    CHECK_NEAR(r.info.found_plaquette, samples[i].plaquette, tolerance);
    CHECK_NEAR(r.info.found_link_trace, samples[i].trace, tolerance);
}

static void test_same_links(const char *a, const char *b)
{
    check_report one, other;
    links_check(data_path(a), NULL, &one);
    links_check(data_path(b), NULL, &other);
    CHECK_STR(one.digest, other.digest);
}

/* ---- writing and reading back ---- */

static void round_trip(field *u, const char *format, const char *name)
{
    char before[65];
    links_digest(u, before);
    const links_meta meta = meta_of(u);
    CHECK_INT(links_write(u, in_folder(name), format, &meta, message, sizeof message), 0);
    check_report r;
    CHECK_INT(links_check(in_folder(name), NULL, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.info.format, format);
    CHECK_STR(r.digest, before);
    CHECK_INT(r.checksum_ok, links_format_has_checksum(format) ? 1 : -1);
    if (strcmp(format, "openqcd")) {
        CHECK_INT(r.info.link_trace_ok, 1);
        CHECK_STR(r.info.parameters, meta.parameters);
    }
    CHECK_INT(r.info.plaquette_ok, 1);
    CHECK(r.unitary);
    CHECK_INT(temporary_files(), 0);
}

/* Every layout of every format: the file gives back what links_rounded() says, averages of these are those that it
 * records, and no number is off by more than the rounding. */
static void layouts(field *u)
{
    const links_meta plain = meta_of(u);
    double *exact = gathered(u);
    check_report r;
    for (int i = 0; links_format_writable(i); i++)
        for (int k = 0; k < 4; k++) {
            const char *format = links_format_writable(i);
            const int bits = k % 2 ? 32 : 64, rows = k < 2 ? 3 : 2;
            links_meta meta = plain;
            meta.bits = bits, meta.rows = rows;
            const int has = !links_format_layout(format, bits, rows, message, sizeof message);
            CHECK_INT(links_write(u, in_folder("layout"), format, &meta, message, sizeof message) == 0, has);
            if (!has) continue;
            field *v = links_rounded(u, format, bits, rows);
            CHECK_INT(v == NULL, bits == 64 && rows == 3);
            double *rounded = gathered(v ? v : u), off = 0;
            for (size_t n = 0; n < 72 * (size_t)u->lat->volume; n++) off = fmax(off, fabs(rounded[n] - exact[n]));
            CHECK(off <= (bits == 64 ? 1e-15 : rows == 3 ? 0x1p-25 : 0x1p-22));
            char digest[65];
            links_digest(v ? v : u, digest);
            CHECK_INT(links_check(in_folder("layout"), NULL, &r), CHECK_WHOLE);
            CHECK_STR(r.message, "");
            CHECK_STR(r.digest, digest);
            CHECK_INT(r.info.precision_bits, bits);
            CHECK_INT(r.info.rows, rows);
            free(rounded);
            if (v) field_destroy(v);
        }
    free(exact);
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
    round_trip(u, "scidac", "oblong.scidac");
    round_trip(u, "openqcd", "oblong.openqcd");
    layouts(u);
    links_digest(u, a);
    field *v = field_like(u);
    CHECK_INT(links_read(v, in_folder("oblong.h5"), NULL, message, sizeof message), 0);
    links_digest(v, b);
    CHECK_STR(a, b);
    field *w = field_of(small);
    CHECK_INT(links_read(w, in_folder("oblong.h5"), NULL, message, sizeof message), LINKS_UNREADABLE);
    CHECK_HAS(message, "8.4.6.4");
    CHECK(links_write(u, in_folder("x"), "milc-old", NULL, message, sizeof message) != 0);
    CHECK_HAS(message, "ildg (.lime .ildg), scidac (.scidac), nersc (.nersc), hdf5 (.h5 .hdf5), milc (.milc), openqcd");
    CHECK(links_write(u, in_folder("no/folder/x"), "nersc", NULL, message, sizeof message) != 0);
    CHECK_HAS(message, "No such file");
    CHECK(links_write(u, in_folder("no/folder/x"), "hdf5", NULL, message, sizeof message) != 0);
    field_destroy(v);
    drop(w);
    drop(u);
}

static void test_endings(void)
{
    static const char *const none[] = {"a", "a.", "a.h", "a.h55", "a.nersc/b", ".h5 ", "a. .ildg x", "a.milc-old"};
    CHECK_STR(links_format_of_ending("a.b/c.lime"), "ildg");
    CHECK_STR(links_format_of_ending("c.ildg"), "ildg");
    CHECK_STR(links_format_of_ending("c.h5.nersc"), "nersc");
    CHECK_STR(links_format_of_ending(".h5"), "hdf5");
    CHECK_STR(links_format_of_ending("c.hdf5"), "hdf5");
    CHECK_STR(links_format_of_ending("c.milc"), "milc");
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

/* ---- formats written by hand ---- */

/* A variant of u is whole and is u, to single precision where it has no more. */
static void check_variant(const char *name, field *u, const char *format, int bits, int exact)
{
    char digest[65];
    check_report r;
    CHECK_INT(links_check(in_folder(name), NULL, &r), CHECK_WHOLE);
    CHECK_STR(r.message, "");
    CHECK_STR(r.info.format, format);
    CHECK_INT(r.info.precision_bits, bits);
    CHECK_NEAR(r.info.found_plaquette, plaquette(u), bits == 32 ? 1e-8 : 1e-14);
    CHECK_NEAR(r.info.found_link_trace, links_trace(u), bits == 32 ? 1e-8 : 1e-14);
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
                write_nersc(in_folder("variant.nersc"), u, u, rows, width, big);
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
    begin_folder("plaq_links");
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
    end_folder();
    const int failed = CHECK_SUMMARY();
    comm_finalize();
    return failed ? 1 : samples_there ? 0 : 77;
}
