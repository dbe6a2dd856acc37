/* Fields on the device beside fields on the host, for tests that compare what both compute. */
#ifndef PLAQ_TESTS_PLACES_H
#define PLAQ_TESTS_PLACES_H

#include "tests/check.h"

#include <stdlib.h>

#include "kernels/field/field.h"
#include "kernels/run/tune.h"
#include "tests/take_gpu.h"

#define EXACT 0.0
#define ROUNDED 1e-12

CHECK_UNUSED static const char *const prec_name[PREC_COUNT] = {"double", "single", "half", "quarter"};
CHECK_UNUSED static const parity other[2] = {PARITY_ODD, PARITY_EVEN};
static char where[128] CHECK_UNUSED; /* lattice and precision of the checks that follow */

CHECK_UNUSED static long sites_of_slice(const field *f)
{
    const int *l = f->lat->local;
    return (long)l[0] * l[1] * l[2];
}

/* Numbers in (-1, 1), the same for the same seed. */
CHECK_UNUSED static void fill(field *f, unsigned long seed)
{
    const long n = sites_of_slice(f) * f->groups * f->reals;
    double *slice = field_slice_buffer(f);
    uint64_t state = 0x9E3779B97F4A7C15u * (seed + 1);
    for (int t = 0; t < f->lat->local[3]; t++) {
        for (long i = 0; i < n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            slice[i] = (double)(int64_t)state * 0x1p-63;
        }
        field_import(f, t, slice);
    }
    free(slice);
}

CHECK_UNUSED static field *on_device(const field *h)
{
    const field_shape shape = field_shape_of(h);
    field *d = field_create_shape(h->lat, &shape, h->prec, h->par, PLACE_DEVICE);
    field_copy(d, h);
    return d;
}

CHECK_UNUSED static field *like_of(const field *f, field_kind kind, precision prec, parity par)
{
    return field_create(f->lat, kind, prec, par, 1, f->where);
}

CHECK_UNUSED static field *in_precision(const field *f, field_kind kind, precision prec)
{
    field *g = like_of(f, kind, prec, f->par);
    field_copy(g, f);
    return g;
}

/* Compares a field on the device with one on the host, real by real. */
CHECK_UNUSED static void check_same(const char *what, const field *d, const field *h, double tol)
{
    field *back = field_like(h);
    field_copy(back, d);
    const long n = sites_of_slice(h) * h->groups * h->reals;
    double *a = field_slice_buffer(h), *b = field_slice_buffer(h), size = 0, worst = 0;
    memset(a, 0, (size_t)n * sizeof *a);
    memset(b, 0, (size_t)n * sizeof *b);
    long differ = 0, nan = 0;
    for (int t = 0; t < h->lat->local[3]; t++) {
        field_export(back, t, a);
        field_export(h, t, b);
        for (long i = 0; i < n; i++) {
            differ += a[i] != b[i];
            nan += isnan(a[i]) || isnan(b[i]);
            size = fmax(size, fabs(b[i]));
            worst = fmax(worst, fabs(a[i] - b[i]));
        }
    }
    const int ok = nan == 0 && size > 0 && (tol == EXACT ? differ == 0 : worst <= tol * size);
    if (!check_note(ok))
        printf("%s: %s: %ld of %ld reals differ, by up to %.3g of %.3g; %ld NaN\n", where, what, differ,
               n * h->lat->local[3], worst, size, nan);
    free(a);
    free(b);
    field_destroy(back);
}

CHECK_UNUSED static void check_value(const char *what, double d, double h, double tol)
{
    if (!check_note(d == h || fabs(d - h) <= tol * fabs(h)))
        printf("%s: %s: %.17g on the device, %.17g on the host\n", where, what, d, h);
}

/* ---- ways of the tuner ---- */

/* The tuner's text with the same way in all cases; hops with their messages in one kernel, or not. */
CHECK_UNUSED static char *with_way(const char *text, int way, int fuse)
{
    char *out = NULL;
    size_t bytes;
    FILE *f = open_memstream(&out, &bytes);
    const char *line = strchr(text, '\n') + 1;
    fwrite(text, 1, (size_t)(line - text), f);
    for (; *line; line = strchr(line, '\n') + 1) {
        int before = 0;
        sscanf(line, "%*s %*s %*s %*s %*s %n", &before);
        fprintf(f, "%.*s%d 1.00\n", before, line, strncmp(line, "exchange ", 9) ? way : fuse);
    }
    fclose(f);
    return out;
}

CHECK_UNUSED static void take_way(const char *text, int way, int fuse)
{
    int line;
    char *all = with_way(text, way, fuse);
    tune_start(TUNE_FILE, "a GPU");
    CHECK_INT(tune_read(all, &line), 1);
    free(all);
}

/* ---- ranks ---- */

/* Messages that need most of the GPU: by peer, also where ranks share one, if that can be. */
CHECK_UNUSED static void take_peer(void)
{
    char message[512];
    if (comm_size() == 1 || !gpu_transport_choose("peer", message, sizeof message)) return;
    REQUIRE(!test_has_transport("peer"), "%s", message);
    test_take_transport();
}

/* Whether ranks get boxes of even extents; *thin: of fewer sites than a hop of three reaches. */
CHECK_UNUSED static int fits_grid(const int size[4], const int grid[4], int *thin)
{
    int fits = 1;
    *thin = 0;
    for (int d = 0; d < 4; d++) {
        fits = fits && size[d] % (2 * grid[d]) == 0;
        *thin = *thin || (grid[d] > 1 && size[d] / grid[d] < 4);
    }
    return fits;
}

/* The whole program: on every grid of this many ranks test_on() on small lattices, where it may leave out those that do
 * not fit, and then test_more(). Returns the status. */
CHECK_UNUSED static int places_main(int argc, char **argv,
                                    void (*test_on)(const int size[4], const int grid[4], int time_sign),
                                    void (*test_more)(const int grid[4]))
{
    /* The last one in memory's order: its rows are no powers of two. */
    static const int size[][4] = {{8, 8, 8, 8}, {4, 6, 8, 10}, {2, 2, 2, 4}, {6, 2, 4, 2}, {20, 4, 4, 8}};
    /* With sites so far from the faces of ranks that no kernel reaches these from there. */
    static const int away[4] = {4, 4, 4, 24};
    comm_init(&argc, &argv);
    test_take_gpu();
    const int ranks = comm_size(), lattices = ranks > 1 ? 2 : sizeof size / sizeof *size;
    if (comm_rank() == 0) printf("device: %s, transport %s\n", gpu_name(), gpu_transport_name());
    for (int code = 0, tests = 0; code < 81; code++) {
        int grid[4], rest = code, product = 1;
        for (int d = 0; d < 4; d++, rest /= 3) product *= grid[d] = 1 << rest % 3;
        if (product != ranks) continue;
        for (int i = 0; i < lattices; i++) test_on(size[i], grid, tests++ % 2 ? 1 : -1);
        if (ranks > 1 && grid[3] == ranks) test_on(away, grid, -1);
        test_more(grid);
    }
    gpu_transport_close();
    const int status = check_summary(argv[0]);
    comm_finalize();
    return status;
}

#endif
