/* The plainest readers that give the oracles real links: no checksums, no diagnosis. NULL for anything unexpected.
 *
 * MILC v5: int32 magic 20103, int32 nx ny nz nt, char[64] time stamp, int32 order, two uint32 checksums: 96 bytes.
 * MILC old: int32 magic 59354, int32 nx ny nz nt, two float32: 28 bytes.
 * Both: then sites with x fastest, mu = x y z t, 3x3 row-major complex float32; the magic tells the byte order.
 * NERSC: text lines KEY = VALUE between BEGIN_HEADER and END_HEADER, then the same order of links, big-endian, in
 * FLOATING_POINT IEEE32BIG or IEEE64BIG. DATATYPE 4D_SU3_GAUGE stores two rows; the third is their conjugate cross
 * product.
 * SciDAC: LIME records (header of 144 bytes, big-endian: magic 0x456789ab, version, flags, length, type), padded to
 * eight bytes; the extents stand in the private file XML, the numbers as complex float32, big-endian. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char *data;
    size_t size;
};

static struct bytes bytes_read(const char *path)
{
    struct bytes b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f) return b;
    if (fseek(f, 0, SEEK_END) == 0) {
        long size = ftell(f);
        rewind(f);
        b.data = size > 0 ? malloc((size_t)size + 1) : NULL;
        if (b.data) {
            b.size = fread(b.data, 1, (size_t)size, f);
            b.data[b.size] = 0; /* so that a header can be searched as a string */
        }
    }
    fclose(f);
    return b;
}

static uint32_t word32(const unsigned char *p, int big)
{
    uint32_t w = 0;
    for (int i = 0; i < 4; i++) w |= (uint32_t)p[big ? 3 - i : i] << 8 * i;
    return w;
}

static double real32(const unsigned char *p, int big)
{
    uint32_t w = word32(p, big);
    float f;
    memcpy(&f, &w, sizeof f);
    return f;
}

static uint64_t word64_big(const unsigned char *p)
{
    return (uint64_t)word32(p, 1) << 32 | word32(p + 4, 1);
}

static double real64_big(const unsigned char *p)
{
    uint64_t w = word64_big(p);
    double d;
    memcpy(&d, &w, sizeof d);
    return d;
}

/* Sizes come from a file: without bounds a wrong one would overflow the volume. */
static int size_ok(const int size[4])
{
    for (int mu = 0; mu < 4; mu++)
        if (size[mu] < 1 || size[mu] > 256) return 0;
    return 1;
}

double complex *ref_read_milc(struct ref_lattice *l, const char *path)
{
    struct bytes b = bytes_read(path);
    double complex *u = NULL;
    if (b.size > 96) {
        uint32_t little = word32(b.data, 0), big_magic = word32(b.data, 1);
        int big = big_magic == 20103 || big_magic == 59354;
        uint32_t magic = big ? big_magic : little;
        for (int mu = 0; mu < 4; mu++) l->size[mu] = (int)word32(b.data + 4 + 4 * mu, big);
        size_t header = magic == 20103 ? 96 : 28;
        if ((magic == 20103 || magic == 59354) && size_ok(l->size) && b.size >= header + 288 * ref_volume(*l)) {
            u = ref_gauge_new(*l);
            for (size_t i = 0; i < 36 * ref_volume(*l); i++) {
                const unsigned char *p = b.data + header + 8 * i;
                u[i] = real32(p, big) + I * real32(p + 4, big);
            }
        }
    }
    free(b.data);
    return u;
}

/* Copies the value of "key = value" in a NERSC header; 0 when there is no such line. */
static int header_value(char value[64], const char *header, const char *key)
{
    char format[64], line[256];
    snprintf(format, sizeof format, " %s = %%63s", key);
    for (const char *p = header; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
        size_t n = strcspn(p, "\n");
        if (n >= sizeof line) n = sizeof line - 1;
        memcpy(line, p, n);
        line[n] = 0;
        if (sscanf(line, format, value) == 1) return 1;
    }
    return 0;
}

static void third_row(double complex m[9])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        m[6 + i] = conj(m[j] * m[3 + k] - m[k] * m[3 + j]);
    }
}

static double complex *nersc_links(struct ref_lattice *l, const unsigned char *data, size_t size, int rows, int width)
{
    size_t links = 4 * ref_volume(*l), per_link = (size_t)rows * 3;
    if (size < links * per_link * 2 * width) return NULL;
    double complex *u = ref_gauge_new(*l);
    for (size_t link = 0; link < links; link++) {
        for (size_t i = 0; i < per_link; i++) {
            const unsigned char *p = data + (link * per_link + i) * 2 * width;
            double re = width == 4 ? real32(p, 1) : real64_big(p),
                   im = width == 4 ? real32(p + 4, 1) : real64_big(p + 8);
            u[9 * link + i] = re + I * im;
        }
        if (rows == 2) third_row(u + 9 * link);
    }
    return u;
}

double complex *ref_read_nersc(struct ref_lattice *l, const char *path)
{
    static const char *const size_key[4] = {"DIMENSION_1", "DIMENSION_2", "DIMENSION_3", "DIMENSION_4"};
    struct bytes b = bytes_read(path);
    double complex *u = NULL;
    char *end = b.size ? strstr((char *)b.data, "END_HEADER") : NULL;
    char *data = end ? strchr(end, '\n') : NULL;
    if (data) {
        char value[64], type[64], real[64];
        *end = 0; /* the header is now a string of its own */
        for (int mu = 0; mu < 4; mu++)
            l->size[mu] = header_value(value, (char *)b.data, size_key[mu]) ? atoi(value) : 0;
        if (size_ok(l->size) && header_value(type, (char *)b.data, "DATATYPE") &&
            header_value(real, (char *)b.data, "FLOATING_POINT")) {
            int rows = strcmp(type, "4D_SU3_GAUGE_3x3") == 0 || strcmp(type, "4D_SU3_GAUGE_3X3") == 0 ? 3 : 2;
            int width = strcmp(real, "IEEE64BIG") == 0 ? 8 : 4;
            data++;
            u = nersc_links(l, (unsigned char *)data, b.size - (size_t)(data - (char *)b.data), rows, width);
        }
    }
    free(b.data);
    return u;
}

double complex *ref_read_scidac(struct ref_lattice *l, const char *path)
{
    struct bytes b = bytes_read(path);
    double complex *u = NULL;
    int known = 0;
    for (size_t at = 0; at + 144 <= b.size && word32(b.data + at, 1) == 0x456789ab;) {
        const unsigned char *data = b.data + at + 144;
        const char *type = (const char *)b.data + at + 16;
        const uint64_t length = word64_big(b.data + at + 8), left = b.size - at - 144;
        if (length > left) break;
        if (!strcmp(type, "scidac-private-file-xml")) {
            char text[1024] = "";
            memcpy(text, data, length < sizeof text ? (size_t)length : sizeof text - 1);
            const char *dims = strstr(text, "<dims>");
            int *s = l->size;
            known = dims && sscanf(dims, "<dims>%d %d %d %d", s, s + 1, s + 2, s + 3) == 4 && size_ok(s);
        }
        if (!strcmp(type, "scidac-binary-data") && known && length == 288 * ref_volume(*l)) {
            u = ref_gauge_new(*l);
            for (size_t i = 0; i < 36 * ref_volume(*l); i++)
                u[i] = real32(data + 8 * i, 1) + I * real32(data + 8 * i + 4, 1);
            break;
        }
        at += 144 + (size_t)(length + 7) / 8 * 8;
    }
    free(b.data);
    return u;
}
