/* What tests on lattices share: fields to and from arrays of the whole lattice, shapes, and comparisons.
 *
 * An array of the whole lattice is in the order of tests/reference/reference.h, [site][group][real] with x fastest, and
 * is the same on every rank: links and one right-hand side of a spinor are what the oracles take, cast to double
 * complex. A test makes its input there from one generator, scatters it, runs the fast code, gathers and compares; so
 * it does not know how many ranks there are.
 *
 *   kit_begin(&argc, &argv)   first; with the argument `gpu` fields live on the device, kit_place: a machine without one
 *                             ends the test as skipped. Else as test_begin()
 *   kit_end()                 last; the status of main
 *   kit_gather(f)             that array, to be freed; zero on the parity that f has not. Collective
 *   kit_scatter(f, array)     sets f
 *   kit_field(...)            a field of it
 *   kit_distance(a, b, n)     the largest |a - b|; NaN where one is
 *   kit_where(fmt, ...)       names the case that the checks of KIT_* belong to; printed when one fails
 *   kit_lattice(shape, ...)   NULL when this number of ranks cannot share the shape: the test goes on to the next one
 *
 * Rounding: kit_epsilon[precision] is the relative error of one arithmetic operation, kit_step[precision] that of one
 * storage, relative to the largest component of a group (zero where storage rounds as arithmetic does). */
#ifndef PLAQ_KIT_H
#define PLAQ_KIT_H

#include "tests/begin.h"
#include "tests/check.h"
#include "tests/reference/reference.h"
#include "tests/take_gpu.h"

#include <stdarg.h>
#include <stdlib.h>

#include "kernels/base/device.h"
#include "kernels/field/field.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"

/* The boxes of one rank admit 16, 8, 16, 8, 4, 2 and 16 lanes. */
static const struct ref_lattice kit_shapes[] CHECK_UNUSED = {
    {{4, 4, 4, 4}}, {{2, 4, 2, 8}}, {{8, 4, 4, 6}}, {{4, 6, 8, 10}}, {{6, 2, 2, 8}}, {{4, 2, 6, 6}}, {{8, 8, 8, 8}}};
#define KIT_SHAPES ((int)(sizeof kit_shapes / sizeof kit_shapes[0]))

static const char *const kit_prec[PREC_COUNT] CHECK_UNUSED = {"double", "single", "half", "quarter"};
static const double kit_epsilon[PREC_COUNT] CHECK_UNUSED = {0x1p-53, 0x1p-24, 0x1p-24, 0x1p-24};
static const double kit_step[PREC_COUNT] CHECK_UNUSED = {0, 0, 0.5 / 32767, 0.5 / 127};
static const parity kit_other[2] CHECK_UNUSED = {PARITY_ODD, PARITY_EVEN};

/* ---- which case fails ---- */

static char kit_case[256] CHECK_UNUSED;

CHECK_UNUSED __attribute__((format(printf, 1, 2))) static void kit_where(const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vsnprintf(kit_case, sizeof kit_case, fmt, list);
    va_end(list);
}

#define KIT_SAY(check)                                                                                                 \
    do {                                                                                                               \
        const int before_ = check_failed;                                                                              \
        check;                                                                                                         \
        if (check_failed > before_) printf("  with %s (rank %d of %d)\n", kit_case, comm_rank(), comm_size());         \
    } while (0)
#define KIT_CHECK(cond) KIT_SAY(CHECK(cond))
#define KIT_NEAR(a, b, tol) KIT_SAY(CHECK_NEAR(a, b, tol))
#define KIT_REL(a, b, tol) KIT_SAY(CHECK_REL(a, b, tol))
#define KIT_INT(a, b) KIT_SAY(CHECK_INT(a, b))

/* ---- begin and end ---- */

static place kit_place CHECK_UNUSED = PLACE_HOST;

CHECK_UNUSED static void kit_begin(int *argc, char ***argv)
{
    test_begin(argc, argv);
    if (!test_gpu) return;
    test_take_gpu();
    kit_place = PLACE_DEVICE;
}

#define kit_end() kit_end_of(__FILE__)
CHECK_UNUSED static int kit_end_of(const char *file)
{
    gpu_transport_close();
    const int status = check_summary(file);
    comm_finalize();
    return status;
}

/* ---- memory and lattices ---- */

CHECK_UNUSED static void *kit_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    REQUIRE(p, "out of memory for %zu elements of %zu bytes", n, size);
    return p;
}

CHECK_UNUSED static void *kit_copy(const void *a, size_t bytes)
{
    void *b = kit_alloc(bytes, 1);
    memcpy(b, a, bytes);
    return b;
}

CHECK_UNUSED static lattice *kit_lattice(struct ref_lattice l, int reach, int time_sign)
{
    static const int choose[4];
    char message[512];
    lattice *plan = plan_lattice(l.size, choose, comm_size(), reach, message, sizeof message);
    const int fits = plan != NULL;
    lattice_destroy(plan);
    return fits ? lattice_create(l.size, choose, reach, time_sign) : NULL;
}

/* All process grids of this many ranks that split the shape; returns how many, at most `max`. */
CHECK_UNUSED static int kit_grids(struct ref_lattice l, int grids[][4], int max)
{
    const int n = comm_size();
    int count = 0;
    for (int x = 1; x <= n; x++)
        for (int y = 1; y <= n; y++)
            for (int z = 1; z <= n; z++)
                for (int t = 1; t <= n; t++) {
                    const int g[4] = {x, y, z, t};
                    int fits = x * y * z * t == n;
                    for (int d = 0; d < 4; d++) fits = fits && l.size[d] % (2 * g[d]) == 0;
                    if (fits && count < max) memcpy(grids[count++], g, sizeof g);
                }
    return count;
}

/* ---- fields and arrays of the whole lattice ---- */

CHECK_UNUSED static double *kit_row(const field *f, double *global, int y, int z, int t)
{
    const lattice *lat = f->lat;
    const int *s = lat->size, *o = lat->origin;
    const size_t site = o[0] + (size_t)s[0] * ((y + o[1]) + (size_t)s[1] * ((z + o[2]) + (size_t)s[2] * (t + o[3])));
    return global + site * (size_t)(f->groups * f->reals);
}

CHECK_UNUSED static size_t kit_reals(const field *f)
{
    return (size_t)f->lat->volume * (size_t)(f->groups * f->reals);
}

CHECK_UNUSED static double *kit_gather(const field *f)
{
    const int *l = f->lat->local;
    const size_t n = kit_reals(f), row = (size_t)l[0] * (size_t)(f->groups * f->reals);
    double *global = kit_alloc(n, sizeof *global), *slice = field_slice_buffer(f);
    for (int t = 0; t < l[3]; t++) {
        memset(slice, 0, row * (size_t)(l[1] * l[2]) * sizeof *slice);
        field_export(f, t, slice);
        for (int z = 0; z < l[2]; z++)
            for (int y = 0; y < l[1]; y++)
                memcpy(kit_row(f, global, y, z, t), slice + (size_t)(z * l[1] + y) * row, row * sizeof *slice);
    }
    free(slice);
    /* One rank has the bits of each number and the others zero: the sum of the words is a gather. */
    uint64_t *words = kit_alloc(n, sizeof *words);
    memcpy(words, global, n * sizeof *words);
    comm_sum_u64(words, (int)n);
    memcpy(global, words, n * sizeof *words);
    free(words);
    return global;
}

CHECK_UNUSED static void kit_scatter(field *f, const void *array)
{
    const int *l = f->lat->local;
    const size_t row = (size_t)l[0] * (size_t)(f->groups * f->reals);
    double *slice = field_slice_buffer(f);
    for (int t = 0; t < l[3]; t++) {
        for (int z = 0; z < l[2]; z++)
            for (int y = 0; y < l[1]; y++)
                memcpy(slice + (size_t)(z * l[1] + y) * row, kit_row(f, (double *)array, y, z, t), row * sizeof *slice);
        field_import(f, t, slice);
    }
    free(slice);
}

CHECK_UNUSED static field *kit_field(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs,
                                     const void *array)
{
    field *f = field_create(lat, kind, prec, par, nrhs, kit_place);
    if (array) kit_scatter(f, array);
    return f;
}

CHECK_UNUSED static field *kit_links(const lattice *lat, const double complex *u)
{
    return kit_field(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, u);
}

/* f in another precision, and for links with another number of rows. */
CHECK_UNUSED static field *kit_convert(const field *f, field_kind kind, precision prec)
{
    field_shape shape = field_shape_of(f);
    shape.kind = kind;
    field *g = field_create_shape(f->lat, &shape, prec, f->par, kit_place);
    field_copy(g, f);
    return g;
}

/* Right-hand side r of a gathered field of spinors or colour vectors, as the oracles take it. */
CHECK_UNUSED static double complex *kit_rhs(const field *f, const double *global, int r)
{
    const size_t v = (size_t)f->lat->volume, reals = (size_t)f->reals, groups = (size_t)f->groups;
    double complex *psi = kit_alloc(v * reals / 2, sizeof *psi);
    for (size_t i = 0; i < v; i++)
        memcpy(psi + i * reals / 2, global + (i * groups + (size_t)r) * reals, reals * sizeof(double));
    return psi;
}

CHECK_UNUSED static double complex *kit_spinor(const field *f, int r)
{
    double *global = kit_gather(f);
    double complex *psi = kit_rhs(f, global, r);
    free(global);
    return psi;
}

/* ---- random input, the same on every rank ---- */

CHECK_UNUSED static double *kit_normals(size_t n, struct ref_rng *rng)
{
    double *a = kit_alloc(n, sizeof *a);
    for (size_t i = 0; i < n; i++) a[i] = ref_normal(rng);
    return a;
}

CHECK_UNUSED static double complex *kit_random_gauge(struct ref_lattice l, double scale, struct ref_rng *rng)
{
    double complex *u = ref_gauge_new(l);
    if (scale > 0) ref_weak_gauge(u, l, scale, rng);
    else ref_random_gauge(u, l, rng);
    return u;
}

/* Gives n matrices of SU(3) random determinants. */
CHECK_UNUSED static void kit_determinants(double complex *u, size_t n, struct ref_rng *rng)
{
    for (size_t i = 0; i < n; i++) {
        const double complex phase = cexp(2 * M_PI * I * ref_uniform(rng));
        for (int k = 0; k < 9; k++) u[9 * i + k] *= phase;
    }
}

/* ---- comparisons ---- */

CHECK_UNUSED static double kit_distance(const void *a, const void *b, size_t reals)
{
    const double *x = a, *y = b;
    double worst = 0;
    for (size_t i = 0; i < reals; i++) {
        const double d = fabs(x[i] - y[i]);
        if (!(d <= worst)) worst = d;
        if (d != d) return d;
    }
    return worst;
}

CHECK_UNUSED static double kit_largest(const void *a, size_t reals)
{
    const double *x = a;
    double worst = 0;
    for (size_t i = 0; i < reals; i++) worst = fmax(worst, fabs(x[i]));
    return worst;
}

/* Zero on all sites but those of parity p. */
CHECK_UNUSED static void kit_only(double complex *psi, struct ref_lattice l, int p)
{
    for (size_t i = 0; i < ref_volume(l); i++)
        if (ref_parity(l, i) != p) memset(psi + 12 * i, 0, 12 * sizeof *psi);
}

/* ---- the algebra: the eight reals of FIELD_MOMENTA ---- */

CHECK_UNUSED static void kit_algebra(double complex m[9], const double x[8])
{
    m[0] = I * x[0];
    m[4] = I * x[1];
    m[8] = -I * (x[0] + x[1]);
    m[1] = x[2] + I * x[3];
    m[2] = x[4] + I * x[5];
    m[5] = x[6] + I * x[7];
    m[3] = -conj(m[1]);
    m[6] = -conj(m[2]);
    m[7] = -conj(m[5]);
}

/* Coefficient of T_a: p^a = -2 tr T_a P. */
CHECK_UNUSED static double kit_coefficient(const double x[8], int a)
{
    double complex p[9], t[9], c[9];
    kit_algebra(p, x);
    ref_generator(t, a);
    ref_mat_mul(c, t, p);
    return -2 * creal(ref_mat_trace(c));
}

/* How far `turned`, the algebra of links after gauge rotation by g, is from g times `before` times its adjoint:
 * momenta and forces sit at the site where their link starts. */
CHECK_UNUSED static double kit_turned_distance(const double *turned, const double *before, const double complex *g,
                                               size_t links)
{
    double worst = 0;
    for (size_t i = 0; i < links; i++) {
        double complex a[9], b[9], r[9], d[9];
        kit_algebra(a, before + 8 * i);
        kit_algebra(b, turned + 8 * i);
        ref_mat_mul(r, g + 9 * (i / 4), a);
        ref_mat_adj(d, g + 9 * (i / 4));
        ref_mat_mul(a, r, d);
        worst = fmax(worst, kit_distance(a, b, 18));
    }
    return worst;
}

/* sum over links of f^a p^a */
CHECK_UNUSED static double kit_along(const double *f, const double *p, size_t links)
{
    double sum = 0;
    for (size_t i = 0; i < links; i++)
        for (int a = 0; a < 8; a++) sum += kit_coefficient(f + 8 * i, a) * kit_coefficient(p + 8 * i, a);
    return sum;
}

/* exp(w P) U on all links */
CHECK_UNUSED static double complex *kit_moved(const double complex *u, const double *p, double w, size_t links)
{
    double complex *moved = kit_alloc(links * 9, sizeof *moved);
    for (size_t i = 0; i < links; i++) {
        double complex x[9];
        kit_algebra(x, p + 8 * i);
        for (int k = 0; k < 9; k++) x[k] *= w;
        ref_mat_exp(x, x);
        ref_mat_mul(moved + 9 * i, x, u + 9 * i);
    }
    return moved;
}

/* d/dw of an action of exp(w P) U at w = 0 by the four-point difference, error O(h^4), with step h. */
CHECK_UNUSED static double kit_difference_along(const double complex *u, const double *p, double h, size_t links,
                                                ref_action action, void *ctx)
{
    static const double weight[4] = {8, -8, -1, 1}, place[4] = {1, -1, 2, -2};
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        double complex *moved = kit_moved(u, p, place[k] * h, links);
        sum += weight[k] * action(moved, ctx);
        free(moved);
    }
    return sum / (12 * h);
}

/* The derivative, and an error above its own: halving the step takes away 15/16 of the step's error, and rounding of
 * the action brings in eps |S| / h. */
CHECK_UNUSED static double kit_derivative_along(double *error, const double complex *u, const double *p, double h,
                                                size_t links, ref_action action, void *ctx)
{
    const double one = kit_difference_along(u, p, h, links, action, ctx);
    const double half = kit_difference_along(u, p, h / 2, links, action, ctx);
    *error = 0.2 * fabs(one - half) + 20 * 0x1p-53 * fabs(action(u, ctx)) / h;
    return half;
}

#endif
