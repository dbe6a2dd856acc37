/* Files of propagators: the order, byte order and rounding of their numbers, parsed anew here; what is written is read, on any
 * number of ranks, with everything beside the numbers; and damage of the numbers shows.
 *
 * A number tells its place: site, column, component. */
#include <stdlib.h>

#include "io/history/propagator_file.h"
#include "tests/difference.h"
#include "tests/io/files.h"

static const int size[4] = {4, 6, 4, 8};

/* Number of global site, column, component (spin and colour) and part, with bits beyond single precision. */
static double number(size_t site, int column, int component, int part)
{
    return (double)site + column / 16.0 + component / 256.0 + part / 512.0 + 0x1p-40 * (1 + (double)(site % 7));
}

static field *columns_of(const lattice *lat, int spins)
{
    field *x =
        field_create(lat, spins == 4 ? FIELD_SPINOR : FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, 3 * spins, PLACE_HOST);
    const int *l = lat->local, *o = lat->origin;
    double *slice = field_slice_buffer(x);
    for (int t = 0; t < l[3]; t++) {
        double *to = slice;
        for (int i = 0; i < l[0] * l[1] * l[2]; i++) {
            const size_t site =
                site_number(size, i % l[0] + o[0], i / l[0] % l[1] + o[1], i / l[0] / l[1] + o[2], t + o[3]);
            for (int k = 0; k < 3 * spins; k++)
                for (int c = 0; c < 6 * spins; c++) *to++ = number(site, k, c / 2, c % 2);
        }
        field_import(x, t, slice);
    }
    free(slice);
    return x;
}

/* Byte offset of the numbers behind the header of the LIME record, or as the look at the file says. */
static size_t numbers_at(const bytes *b, const propagator_file *f)
{
    if (!strcmp(propagator_file_format(f), "hdf5")) return f->data;
    for (size_t at = 0; at + 144 <= b->n; at += 144) {
        size_t length = 0;
        for (int i = 0; i < 8; i++) length = length << 8 | b->p[at + 8 + (size_t)i];
        if (!strcmp((const char *)b->p + at + 16, "scidac-binary-data")) return at + 144;
        at += (length + 7) / 8 * 8;
    }
    return 0;
}

static double stored(const unsigned char *p, int width, int big)
{
    unsigned char turned[8];
    double x;
    float y;
    for (int i = 0; i < width; i++)
        turned[i] = p[big ? width - 1 - i : i]; /* to little-endian, as this machine's are */
    memcpy(&x, turned, sizeof x);
    memcpy(&y, turned, sizeof y);
    return width == 8 ? x : y;
}

/* Every number of the file against its place. */
static void check_bytes(const char *path, const propagator_file *f, int spins, int bits)
{
    const int lime = strstr(path, ".lime") != NULL, width = bits / 8, matrix = 3 * spins;
    const bytes b = load(path);
    const unsigned char *p = b.p + numbers_at(&b, f);
    long wrong = 0;
    for (size_t site = 0; site < site_number(size, 0, 0, 0, size[3]); site++)
        for (int i = 0; i < matrix * matrix; i++)
            for (int part = 0; part < 2; part++, p += width) {
                int column = i / matrix, component = i % matrix;
                if (lime) {
                    const int spin = i / (9 * spins), source_spin = i / 9 % spins, colour = i / 3 % 3;
                    column = 3 * source_spin + i % 3;
                    component = 3 * spin + colour;
                }
                const double want = number(site, column, component, part);
                wrong += stored(p, width, lime) != (bits == 64 ? want : (double)(float)want);
            }
    CHECK_INT(wrong, 0);
    free(b.p);
}

static void check_file(const lattice *lat, const char *name, int spins, int bits)
{
    char path[1024];
    snprintf(path, sizeof path, "%s", in_folder(name));
    field *x = columns_of(lat, spins), *y = field_like(x);
    propagator_file f = {.bits = bits,
                         .links = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                         .trajectory = 42,
                         .identity = "quark.mass = 0.1\nquark.note = a < b & c\n",
                         .nsolves = 2,
                         .solves = {{1e-11 / 3, 120, NAN, NAN}, {2e-10 / 7, 240, 1.0 / 3, 2}}};
    propagator_file found;
    CHECK_INT(propagator_file_write(path, x, &f, "a test", message, sizeof message), 0);
    CHECK_INT(propagator_file_look(path, &found, message, sizeof message), 0);
    CHECK(!memcmp(found.size, size, sizeof size));
    CHECK_INT(found.spins, spins);
    CHECK_INT(found.columns, 3 * spins);
    CHECK_INT(found.bits, bits);
    CHECK_INT(found.trajectory, 42);
    CHECK_STR(found.links, f.links);
    CHECK_STR(found.identity, f.identity);
    CHECK_INT(found.nsolves, 2);
    for (int i = 0; i < 8; i++) {
        const double a = f.solves[i / 4][i % 4], b = found.solves[i / 4][i % 4];
        CHECK(a == b || (isnan(a) && isnan(b)));
    }
    CHECK_STR(propagator_file_format(&found), strstr(name, ".lime") ? "scidac" : "hdf5");
    CHECK_INT(propagator_file_read(path, &found, lat, y, message, sizeof message), 0);
    if (bits == 32) propagator_round(x);
    CHECK_NEAR(largest_difference(x, y), 0, 0);
    if (comm_rank() == 0) check_bytes(path, &found, spins, bits);
    /* One bit of the numbers. */
    bytes b = load(path);
    b.p[numbers_at(&b, &found) + b.n / 3] ^= 16;
    comm_barrier();
    save(path, b.p, b.n);
    free(b.p);
    CHECK_INT(propagator_file_read(path, &found, lat, NULL, message, sizeof message), LINKS_BAD_CHECKSUM);
    CHECK_HAS(message, "the propagator is damaged");
    propagator_file_free(&found);
    field_destroy(y);
    field_destroy(x);
}

int main(int argc, char **argv)
{
    static const int any[4];
    comm_init(&argc, &argv);
    begin_folder("propagator");
    lattice *lat = lattice_create(size, any, 1, -1);
    static const char *const names[2] = {"p.h5", "p.lime"};
    for (int i = 0; i < 2; i++)
        for (int bits = 32; bits <= 64; bits += 32)
            for (int spins = 1; spins <= 4; spins += 3) check_file(lat, names[i], spins, bits);
    lattice_destroy(lat);
    end_folder();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
