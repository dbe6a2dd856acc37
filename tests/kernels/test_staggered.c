/* Links and hop of staggered quarks, in every precision and number of right-hand sides, on every shape, against the
 * slow oracle; and what must hold without one: projections are unitary and near, D is anti-Hermitian and gauge
 * covariant, process grids, lanes and threads leave no trace. */
#include "tests/kernels/kit.h"

#include <omp.h>

#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"

enum { MOST_RHS = 5 };

static size_t links_of(struct ref_lattice l)
{
    return 4 * ref_volume(l);
}

/* ---- links ---- */

/* Sums of up to some 100 products of up to 7 unitary matrices, of size 1 by their coefficients. */
static const double links_tolerance = 1e-14;

static void check_links(const char *what, const field *have, const double complex *want, size_t links)
{
    double *array = kit_gather(have);
    const double size = kit_largest(want, 18 * links);
    kit_where("%s", what);
    KIT_NEAR(kit_distance(array, want, 18 * links), 0, links_tolerance * fmax(1, size));
    free(array);
}

static void test_links(struct ref_lattice l, int time_sign, links_group group)
{
    static const double c[5] = {0.7, 0.21, 0.043, 0.0071, -0.13};
    static const staggered_paths paths = {0.7, 0.21, 0.043, 0.0071, -0.13};
    lattice *lat = kit_lattice(l, 2, time_sign);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 31);
    double complex *u = kit_random_gauge(l, 0, &rng), *want = ref_gauge_new(l);
    if (group == LINKS_GENERAL) kit_determinants(u, links_of(l), &rng);
    field *links = kit_links(lat, u), *out = field_like(links);
    staggered_fatten(out, links, group, &paths);
    ref_staggered_fat(want, l, u, c);
    check_links("fat links", out, want, links_of(l));
    staggered_lengthen(out, links, -0.3);
    ref_staggered_long(want, l, u, -0.3);
    check_links("long links", out, want, links_of(l));
    for (int reach = 1; reach <= 3; reach += 2) {
        field_copy(out, links);
        staggered_phases(out, reach);
        for (size_t i = 0; i < links_of(l); i++)
            for (int k = 0; k < 9; k++)
                want[9 * i + k] = ref_staggered_sign(l, i / 4, (int)(i % 4), reach, time_sign) * u[9 * i + k];
        check_links("phases", out, want, links_of(l));
    }
    field_destroy(out);
    field_destroy(links);
    free(want);
    free(u);
    lattice_destroy(lat);
}

/* A smeared link whose smallest singular value is `small` times the others, some of which may be equal. */
static void singular_link(double complex v[9], double small, int equal, struct ref_rng *rng)
{
    double complex x[9], y[9], d[9] = {0};
    ref_random_su3(x, rng);
    ref_random_su3(y, rng);
    d[0] = equal ? 1 : 0.3 + ref_uniform(rng);
    d[4] = equal ? 1 : 0.3 + ref_uniform(rng);
    d[8] = small;
    ref_mat_mul(v, x, d);
    ref_mat_mul(d, v, y);
    memcpy(v, d, sizeof d);
}

/* w is unitary, and w^dagger v Hermitian and positive: then w is the projection of v. */
static void check_projection(const double complex *w, const double complex *v, size_t links, double tolerance)
{
    double unitary = 0, skew = 0, negative = 0;
    for (size_t i = 0; i < links; i++) {
        double complex adjoint[9], one[9], h[9];
        ref_mat_adj(adjoint, w + 9 * i);
        ref_mat_mul(one, adjoint, w + 9 * i);
        ref_mat_mul(h, adjoint, v + 9 * i);
        for (int k = 0; k < 9; k++) {
            unitary = fmax(unitary, cabs(one[k] - (k % 4 == 0)));
            skew = fmax(skew, cabs(h[k] - conj(h[k % 3 * 3 + k / 3])));
        }
        /* principal minors of a positive matrix */
        const double minor = creal(h[0] * h[4] - h[1] * h[3]);
        const double det = creal(h[0] * (h[4] * h[8] - h[5] * h[7]) - h[1] * (h[3] * h[8] - h[5] * h[6]) +
                                 h[2] * (h[3] * h[7] - h[4] * h[6]));
        negative = fmax(negative, fmax(-creal(h[0]), fmax(-minor, -det)));
    }
    KIT_NEAR(unitary, 0, tolerance);
    KIT_NEAR(skew, 0, tolerance);
    KIT_NEAR(negative, 0, tolerance);
}

static void test_projection(struct ref_lattice l)
{
    static const double small[] = {1, 0.5, 0.05, 1e-3, 1e-8, 1e-15, 0};
    lattice *lat = kit_lattice(l, 1, 1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 32);
    double complex *v = ref_gauge_new(l);
    for (size_t k = 0; k < 2 * sizeof small / sizeof *small; k++) {
        const double s = small[k / 2];
        for (size_t i = 0; i < links_of(l); i++) singular_link(v + 9 * i, s, k % 2, &rng);
        field *f = kit_links(lat, v), *w = field_like(f);
        double undefined, guarded = staggered_unitarise(w, f, &undefined);
        double *have = kit_gather(w);
        kit_where("smallest singular value %g, others %s", s, k % 2 ? "equal" : "not equal");
        /* Where the ratio of eigenvalues is at the guard, 1e-4, the formula keeps 12 digits. */
        check_projection((double complex *)have, v, links_of(l), 1e-11);
        KIT_NEAR(undefined, 0, 0);
        KIT_NEAR(guarded, s < 2e-3 ? (double)links_of(l) : 0, 0);
        free(have);
        field_destroy(w);
        field_destroy(f);
    }
    /* Of the matrix zero there is none. */
    field *f = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    double undefined;
    staggered_unitarise(f, f, &undefined);
    kit_where("zero links");
    KIT_NEAR(undefined, (double)links_of(l), 0);
    field_destroy(f);
    free(v);
    lattice_destroy(lat);
}

/* ---- the hop ---- */

/* Links of some size that are not unitary, stored divided by `scale`. */
static double complex *any_links(struct ref_lattice l, double scale, struct ref_rng *rng)
{
    double *a = kit_normals(links_of(l) * 18, rng), most = kit_largest(a, links_of(l) * 18);
    for (size_t i = 0; i < links_of(l) * 18; i++) a[i] *= scale / most;
    return (double complex *)a;
}

static void vectors_only(double complex *x, struct ref_lattice l, int p)
{
    for (size_t i = 0; i < ref_volume(l); i++)
        if (ref_parity(l, i) != p) memset(x + 3 * i, 0, 3 * sizeof *x);
}

/* What is stored of links of this precision. */
static double complex *seen(const field *links, double scale, struct ref_lattice l)
{
    double *a = kit_gather(links);
    for (size_t i = 0; i < links_of(l) * 18; i++) a[i] *= scale;
    return (double complex *)a;
}

typedef struct {
    struct ref_lattice l;
    precision prec;
    double complex *near, *far;
    const staggered_call *call;
} hop_case;

/* Site by site, since a fixed-point site is rounded relative to its own largest component. */
static void check_vector(const hop_case *c, field *out, parity p, const field *in, field *add, int r)
{
    const size_t v = ref_volume(c->l);
    double complex *x = kit_spinor(in, r), *y = kit_spinor(add, r), *have = kit_spinor(out, r);
    double complex *want = kit_alloc(3 * v, sizeof *want);
    vectors_only(x, c->l, !p);
    ref_staggered_hop(want, x, c->l, c->near, c->far);
    for (size_t i = 0; i < 3 * v; i++) want[i] = c->call->a * want[i] + (c->call->b != 0 ? c->call->b * y[i] : 0);
    vectors_only(want, c->l, p);
    vectors_only(have, c->l, p);
    double worst = 0, size = kit_largest(want, 6 * v);
    for (size_t i = 0; i < v; i++) {
        const double allowed =
            100 * kit_epsilon[c->prec] * size + 1.001 * kit_step[c->prec] * kit_largest(want + 3 * i, 6);
        const double d = kit_distance(have + 3 * i, want + 3 * i, 6) / allowed;
        if (!(d <= worst)) worst = d;
    }
    KIT_NEAR(worst, 0, 1);
    free(want);
    free(have);
    free(y);
    free(x);
}

static void check_hop(const lattice *lat, struct ref_lattice l, precision prec, int improved, int nrhs, int halves)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 33 + (unsigned)nrhs);
    const double near_scale = prec >= PREC_HALF ? 2 : 1, far_scale = prec >= PREC_HALF ? 0.0625 : 1;
    double complex *u = any_links(l, 1, &rng), *v = any_links(l, 1, &rng);
    double *a = kit_normals(6 * nrhs * ref_volume(l), &rng), *b = kit_normals(6 * nrhs * ref_volume(l), &rng);
    field *near = kit_field(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, u);
    field *far = improved ? kit_field(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, v) : NULL;
    hop_case c = {.l = l, .prec = prec, .near = seen(near, near_scale, l), .far = far ? seen(far, far_scale, l) : NULL};
    for (int p = 0; p < 2; p++) {
        field *in = kit_field(lat, FIELD_VECTOR, prec, halves ? kit_other[p] : PARITY_BOTH, nrhs, a);
        field *add = kit_field(lat, FIELD_VECTOR, prec, halves ? (parity)p : PARITY_BOTH, nrhs, b);
        for (int adds = 0; adds < 2; adds++) {
            const staggered_call call = {-0.75, adds ? 1.25 : 0, near, far, NULL, near_scale, far_scale, add};
            field *out = field_like(add);
            c.call = &call;
            staggered_hop(out, (parity)p, in, &call);
            kit_where("%s, %s, %d right-hand sides, parity %d of %d.%d.%d.%d", kit_prec[prec],
                      improved ? "improved" : "naive", nrhs, p, l.size[0], l.size[1], l.size[2], l.size[3]);
            for (int r = 0; r < nrhs; r++) check_vector(&c, out, (parity)p, in, add, r);
            if (adds) { /* out may be what is added */
                staggered_call same = call;
                field *inside = field_like(add);
                field_copy(inside, add);
                same.add = inside;
                staggered_hop(inside, (parity)p, in, &same);
                for (int r = 0; r < nrhs; r++) check_vector(&c, inside, (parity)p, in, add, r);
                field_destroy(inside);
            }
            field_destroy(out);
        }
        field_destroy(add);
        field_destroy(in);
    }
    field_destroy(far);
    field_destroy(near);
    free(c.near);
    free(c.far);
    free(b);
    free(a);
    free(v);
    free(u);
}

static void test_hop(struct ref_lattice l, int shape)
{
    for (int improved = 0; improved < 2; improved++) {
        lattice *lat = kit_lattice(l, improved ? 3 : 1, shape % 2 ? 1 : -1);
        if (!lat) continue;
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int nrhs = 1; nrhs <= MOST_RHS; nrhs += 2)
                if (shape < 2 || (nrhs + prec + shape) % 3 == 0)
                    check_hop(lat, l, (precision)prec, improved, nrhs, nrhs > 1);
        lattice_destroy(lat);
    }
}

/* ---- one direction of it ---- */

/* out += weight times m, or its adjoint, times in */
static void add_product(double complex out[3], double weight, const double complex m[9], const double complex in[3],
                        int dagger)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i] += weight * (dagger ? conj(m[3 * j + i]) : m[3 * i + j]) * in[j];
}

static void check_shift(const lattice *lat, struct ref_lattice l, int mu, int improved, struct ref_rng *rng)
{
    enum { RHS = 2 };
    const size_t v = ref_volume(l);
    const int back = mu % 2 ? 1 : -1, odd = (5 * mu + 3) % 16;
    double complex *f = any_links(l, 1, rng), *g = any_links(l, 1, rng);
    double *a = kit_normals(6 * RHS * v, rng);
    field *near = kit_field(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, f);
    field *far = kit_field(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, g);
    field *in = kit_field(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, RHS, a), *out = field_like(in);
    const staggered_shift_call call = {mu, back, odd, near, improved ? far : NULL, 0.75, -1.25, NULL, 1};
    staggered_shift(out, in, &call);
    for (int r = 0; r < RHS; r++) {
        double complex *x = kit_spinor(in, r), *have = kit_spinor(out, r), *want = kit_alloc(3 * v, sizeof *want);
        for (size_t i = 0; i < v; i++) {
            int c[4], sum = 0;
            ref_coordinates(c, l, i);
            for (int d = 0; d < 4; d++) sum += odd >> d & 1 ? c[d] : 0;
            for (int reach = 1; reach <= (improved ? 3 : 1); reach += 2) {
                const double complex *u = reach == 1 ? f : g;
                const double w = (sum % 2 ? -1 : 1) * (reach == 1 ? 0.75 : -1.25);
                const size_t up = ref_shift(l, i, mu, reach), down = ref_shift(l, i, mu, -reach);
                add_product(want + 3 * i, w, u + 9 * (4 * i + (size_t)mu), x + 3 * up, 0);
                add_product(want + 3 * i, w * back, u + 9 * (4 * down + (size_t)mu), x + 3 * down, 1);
            }
        }
        kit_where("shift along %d%s, right-hand side %d", mu, improved ? ", also by three" : "", r);
        KIT_NEAR(kit_distance(have, want, 6 * v), 0, 100 * kit_epsilon[0] * kit_largest(want, 6 * v));
        free(want);
        free(have);
        free(x);
    }
    field_destroy(out);
    field_destroy(in);
    field_destroy(far);
    field_destroy(near);
    free(a);
    free(g);
    free(f);
}

static void test_shift(struct ref_lattice l)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 35);
    for (int code = 0; code < 4; code++) {
        const int improved = code % 2, linear = code / 2;
        lattice_use_simd(test_simd && !linear);
        lattice *lat = kit_lattice(l, improved ? 3 : 1, -1);
        lattice_use_simd(test_simd);
        if (!lat) continue;
        for (int mu = 0; mu < 4; mu++) check_shift(lat, l, mu, improved, &rng);
        lattice_destroy(lat);
    }
}

/* Links in U(3), for storage in 13 or 9 reals. */
static double complex *unitary_links(struct ref_lattice l, struct ref_rng *rng)
{
    double complex *u = kit_random_gauge(l, 0, rng);
    double *angles = kit_normals(links_of(l), rng);
    for (size_t i = 0; i < 9 * links_of(l); i++) u[i] *= cexp(I * angles[i / 9]);
    free(angles);
    return u;
}

/* Long links of `reals` with their phases, made from unitary ones as operators do. */
typedef struct {
    field *matrix, *phases;
} compressed;

static compressed compress(const lattice *lat, precision prec, const double complex *unitary, int reals)
{
    compressed c = {
        field_create(lat, reals == 9 ? FIELD_LINKS_EIGHT : FIELD_LINKS_TWO_ROWS, prec, PARITY_BOTH, 1, PLACE_HOST),
        field_create(lat, FIELD_PHASES, prec, PARITY_BOTH, 1, PLACE_HOST)};
    field *links = kit_field(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, unitary);
    field *phases = field_create(lat, FIELD_PHASES, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    staggered_link_phases(phases, links);
    if (reals == 9) staggered_link_specials(links, phases);
    field_copy(c.phases, phases);
    field_copy(c.matrix, links);
    field_destroy(phases);
    field_destroy(links);
    return c;
}

static void close_compressed(compressed *c)
{
    field_destroy(c->matrix);
    field_destroy(c->phases);
}

/* f = hop with long links of so many reals, plus f */
static void add_compressed(field *f, const field *near, const field *x, const double complex *unitary, int reals)
{
    compressed c = compress(x->lat, x->prec, unitary, reals);
    const staggered_call call = {-0.25, 1, near, c.matrix, c.phases, 1, 0.04, f};
    for (int p = 0; p < 2; p++) staggered_hop(f, (parity)p, x, &call);
    close_compressed(&c);
}

/* Links near the unit matrix, with signs as long links have them; phases of their own where `turned`. */
static double complex *smooth_links(struct ref_lattice l, double width, int turned, struct ref_rng *rng)
{
    double complex *u = ref_gauge_new(l);
    double *angles = kit_normals(links_of(l), rng);
    ref_weak_gauge(u, l, width, rng);
    for (size_t i = 0; i < 9 * links_of(l); i++) u[i] *= turned ? cexp(I * angles[i / 9]) : angles[i / 9] < 0 ? -1 : 1;
    free(angles);
    return u;
}

/* Largest difference to links of 18 reals, in units of the largest number, of the hop and of its part along t, by near
 * links of zero; and their mean square. */
static void check_compressed(const lattice *lat, const double complex *unitary, precision prec, int reals, int linear,
                             double typical, double largest)
{
    const struct ref_lattice l = {{lat->size[0], lat->size[1], lat->size[2], lat->size[3]}};
    const size_t v = ref_volume(l);
    const double scale = 0.04;
    struct ref_rng rng;
    ref_rng_seed(&rng, 36);
    double *a = kit_normals(6 * 3 * v, &rng);
    compressed c = compress(lat, prec, unitary, reals);
    field *near = field_create(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, PLACE_HOST);
    field *x = kit_field(lat, FIELD_VECTOR, prec, PARITY_BOTH, 3, a), *y = field_like(x);
    const staggered_call call = {1, 0, near, c.matrix, c.phases, 1, scale, NULL};
    const staggered_shift_call shift = {.mu = 3,
                                        .back = -1,
                                        .near = near,
                                        .far = c.matrix,
                                        .far_weight = 1,
                                        .far_phases = c.phases,
                                        .far_scale = scale};
    for (int part = 0; part < 1 + (prec == PREC_DOUBLE); part++) {
        double complex *u = kit_copy(unitary, links_of(l) * 9 * sizeof *u);
        double complex *zero = ref_gauge_new(l), *want = kit_alloc(3 * v, sizeof *want);
        memset(zero, 0, links_of(l) * 9 * sizeof *zero);
        for (size_t i = 0; i < links_of(l) * 9; i++) u[i] *= part && i / 9 % 4 != 3 ? 0 : scale;
        if (part) staggered_shift(y, x, &shift);
        else
            for (int p = 0; p < 2; p++) staggered_hop(y, (parity)p, x, &call);
        for (int r = 0; r < 3; r++) {
            double complex *in = kit_spinor(x, r), *have = kit_spinor(y, r);
            ref_staggered_hop(want, in, l, zero, u);
            const double size = kit_largest(want, 6 * v);
            double sum = 0;
            for (size_t i = 0; i < 3 * v; i++) sum += pow(cabs(have[i] - want[i]), 2);
            kit_where("%s, long links of %d reals on %d.%d.%d.%d%s, %s", kit_prec[prec], reals, l.size[0], l.size[1],
                      l.size[2], l.size[3], linear ? ", linear" : "", part ? "along t" : "all directions");
            KIT_NEAR(kit_distance(have, want, 6 * v) / size, 0, largest);
            KIT_NEAR(sqrt(sum / ref_norm2(want, 3 * v)), 0, typical);
            free(have);
            free(in);
        }
        free(want);
        free(zero);
        free(u);
    }
    field_destroy(y);
    field_destroy(x);
    field_destroy(near);
    close_compressed(&c);
    free(a);
}

/* Eight parameters amplify rounding on links that lean on one of them, by factors that have no bound but are rarely
 * large: on such lattices a digit at worst, and less than a factor of two in the mean. */
static void test_compressed(struct ref_lattice l)
{
    static const double typical[PREC_COUNT] = {3e-15, 1e-6, 2e-4, 0.04},
                        largest[PREC_COUNT] = {5e-14, 5e-6, 1e-3, 0.12};
    struct ref_rng rng;
    ref_rng_seed(&rng, 37);
    double complex *u[] = {unitary_links(l, &rng), smooth_links(l, 0, 0, &rng), smooth_links(l, 0.05, 0, &rng),
                           smooth_links(l, 0.05, 1, &rng)};
    for (int code = 0; code < 2; code++) {
        lattice_use_simd(test_simd && !code);
        lattice *lat = kit_lattice(l, 3, -1);
        lattice_use_simd(test_simd);
        if (!lat) continue;
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int reals = 9; reals <= 13; reals += 4)
                for (int k = 0; k < 4; k++)
                    check_compressed(lat, u[k], (precision)prec, reals, code, typical[prec], largest[prec]);
        lattice_destroy(lat);
    }
    for (int k = 0; k < 4; k++) free(u[k]);
}

/* Fat, projected and long links of thin ones. */
static field *trace_links(const lattice *lat, const double complex *thin)
{
    const staggered_paths paths = {0.125, 0.0625, 0.015625, 1.0 / 384, -0.125};
    double undefined;
    field *links = kit_links(lat, thin), *f = field_like(links);
    staggered_fatten(f, links, LINKS_GENERAL, &paths);
    staggered_unitarise(f, f, &undefined);
    staggered_lengthen(links, f, -0.04);
    field_destroy(f);
    return links;
}

typedef struct {
    double complex *near, *far, *unitary;
    double *vectors;
} trace_input;

/* Hops of both parities, with long links of all kinds. */
static field *trace_hops(const lattice *lat, const trace_input *in, precision prec)
{
    field *near = kit_field(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, in->near);
    field *far = kit_field(lat, FIELD_LINKS, prec, PARITY_BOTH, 1, in->far);
    field *x = kit_field(lat, FIELD_VECTOR, prec, PARITY_BOTH, 3, in->vectors), *f = field_like(x);
    const staggered_call call = {-0.25, 0.7, near, far, NULL, 1, 1, x};
    for (int p = 0; p < 2; p++) staggered_hop(f, (parity)p, x, &call);
    add_compressed(f, near, x, in->unitary, 13);
    add_compressed(f, near, x, in->unitary, 9);
    field_destroy(near);
    field_destroy(far);
    field_destroy(x);
    return f;
}

/* The same input on all process grids, with all lanes and with one, with one thread and with two: the same bits. */
static void test_traces(struct ref_lattice l)
{
    int grids[64][4], first = 1;
    const int n = kit_grids(l, grids, 64);
    const size_t reals = 6 * 3 * ref_volume(l);
    struct ref_rng rng;
    ref_rng_seed(&rng, 34);
    double complex *u = any_links(l, 1, &rng), *v = any_links(l, 1, &rng), *w = kit_random_gauge(l, 0, &rng);
    double complex *z = unitary_links(l, &rng);
    double *a = kit_normals(reals, &rng), *results[PREC_COUNT + 1] = {NULL};
    const trace_input in = {u, v, z, a};
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < 4 * n; i++) {
        const int *g = grids[i / 4], linear = i % 2, threads = 1 + i / 2 % 2;
        char message[512];
        lattice *plan = plan_lattice(l.size, g, comm_size(), 3, message, sizeof message);
        const int fits = plan != NULL;
        lattice_destroy(plan);
        if (!fits || (threads > 1 && comm_size() > 1)) continue;
        lattice_use_simd(test_simd && !linear);
        lattice *lat = lattice_create(l.size, g, 3, -1);
        lattice_use_simd(test_simd);
        omp_set_num_threads(threads);
        for (int k = 0; k <= PREC_COUNT; k++) {
            field *f = k == PREC_COUNT ? trace_links(lat, w) : trace_hops(lat, &in, (precision)k);
            double *have = kit_gather(f);
            kit_where("result %d on grid %d.%d.%d.%d, %s, %d threads", k, g[0], g[1], g[2], g[3],
                      linear ? "linear" : "lanes", threads);
            if (first) {
                results[k] = kit_copy(have, kit_reals(f) * sizeof *have);
                for (size_t j = 0; j < kit_reals(f) * sizeof *have; j++)
                    hash = (hash ^ ((unsigned char *)have)[j]) * 1099511628211u;
            }
            KIT_INT(memcmp(have, results[k], kit_reals(f) * sizeof *have), 0);
            free(have);
            field_destroy(f);
        }
        first = 0;
        lattice_destroy(lat);
    }
    /* Runs on other numbers of ranks can be compared by eye. */
    if (!first && comm_rank() == 0)
        printf("%d.%d.%d.%d on %d ranks: all bits hash to %016llx\n", l.size[0], l.size[1], l.size[2], l.size[3],
               comm_size(), (unsigned long long)hash);
    for (int k = 0; k <= PREC_COUNT; k++) free(results[k]);
    free(a);
    free(z);
    free(w);
    free(v);
    free(u);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        test_links(kit_shapes[k], k % 2 ? 1 : -1, LINKS_GENERAL);
        test_links(kit_shapes[k], k % 2 ? 1 : -1, LINKS_SPECIAL);
        test_hop(kit_shapes[k], k);
        test_shift(kit_shapes[k]);
        test_compressed(kit_shapes[k]);
    }
    test_projection(kit_shapes[0]);
    test_traces((struct ref_lattice){{4, 8, 4, 8}});
    test_traces((struct ref_lattice){{8, 2, 4, 16}});
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
