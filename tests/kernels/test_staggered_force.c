/* Derivatives of what makes the links of staggered quarks: each is the adjoint of the oracle's derivative, which is
 * taken numerically, and falls to it with the order of the difference; the projection to U(3) is differentiated by a
 * linear system for each link, near singular ones and the bound of the smallest singular value included. Process grids
 * and lanes leave no trace. */
#include "tests/kernels/kit.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/staggered.h"

static const staggered_paths paths = {0.7, 0.21, 0.043, 0.0071, -0.13};
static const double naik = -0.3;

static size_t links_of(struct ref_lattice l)
{
    return 4 * ref_volume(l);
}

static double complex *random_matrices(struct ref_lattice l, struct ref_rng *rng)
{
    return (double complex *)kit_normals(18 * links_of(l), rng);
}

/* Re sum tr a^dagger b */
static double scalar(const double complex *a, const double complex *b, size_t links)
{
    return creal(ref_dot(a, b, 9 * links));
}

/* ---- paths ---- */

typedef void (*oracle)(double complex *out, struct ref_lattice l, const double complex *u);

static void oracle_fat(double complex *out, struct ref_lattice l, const double complex *u)
{
    static const double c[5] = {0.7, 0.21, 0.043, 0.0071, -0.13};
    ref_staggered_fat(out, l, u, c);
}

static void oracle_long(double complex *out, struct ref_lattice l, const double complex *u)
{
    ref_staggered_long(out, l, u, naik);
}

/* u moved by h along x: h x is added, or with `group` what x generates, exp(h x) u. */
static void move(double complex *moved, const double complex *u, const double complex *x, double h, int group, size_t n)
{
    for (size_t i = 0; i < 9 * n; i += 9) {
        double complex step[9];
        for (int k = 0; k < 9; k++) {
            moved[i + k] = u[i + k] + h * x[i + k];
            step[k] = h * x[i + k];
        }
        if (!group) continue;
        ref_mat_exp(step, step);
        ref_mat_mul(moved + i, step, u + i);
    }
}

/* The central difference of Re tr a^dagger f(u) along x. */
static double difference(oracle f, struct ref_lattice l, const double complex *u, const double complex *x,
                         const double complex *a, double h, int group)
{
    double complex *moved = ref_gauge_new(l), *out = ref_gauge_new(l);
    double value = 0;
    for (int side = -1; side < 2; side += 2) {
        move(moved, u, x, side * h, group, links_of(l));
        f(out, l, moved);
        value += side * scalar(a, out, links_of(l)) / (2 * h);
    }
    free(out);
    free(moved);
    return value;
}

/* have: the derivative by u of Re tr a^dagger f(u), an array of the whole lattice. */
static void check_derivative(const char *what, oracle f, struct ref_lattice l, const double complex *u,
                             const double complex *a, const double complex *have, struct ref_rng *rng)
{
    const size_t n = links_of(l);
    double complex *x = random_matrices(l, rng), *tangent = ref_gauge_new(l);
    /* Links stay unitary: Lepage's paths count on it. */
    for (size_t i = 0; i < 9 * n; i += 9) {
        double complex adjoint[9];
        ref_mat_adj(adjoint, x + i);
        for (int k = 0; k < 9; k++) x[i + k] = 0.5 * (x[i + k] - adjoint[k]);
        ref_mat_mul(tangent + i, x + i, u + i);
    }
    const double exact = scalar(have, tangent, n), scale = sqrt(ref_norm2(have, 9 * n));
    const double e1 = difference(f, l, u, x, a, 0.02, 1) - exact, e2 = difference(f, l, u, x, a, 0.01, 1) - exact;
    kit_where("%s on %d.%d.%d.%d", what, l.size[0], l.size[1], l.size[2], l.size[3]);
    KIT_NEAR(log2(fabs(e1 / e2)), 2, 0.02);
    KIT_NEAR((4 * e2 - e1) / 3, 0, 1e-5 * scale);
    free(tangent);
    free(x);
}

static void test_paths(struct ref_lattice l, links_group group)
{
    lattice *lat = kit_lattice(l, 2, 1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 71);
    double complex *u = kit_random_gauge(l, 0, &rng), *a = random_matrices(l, &rng), *before = random_matrices(l, &rng);
    if (group == LINKS_GENERAL) kit_determinants(u, links_of(l), &rng);
    field *links = kit_links(lat, u), *of = kit_links(lat, a);
    for (int k = 0; k < 2; k++) {
        field *out = kit_links(lat, before);
        if (k == 0) staggered_fatten_back(out, 1, links, group, of, &paths);
        else staggered_lengthen_back(out, links, of, naik);
        double complex *have = (double complex *)kit_gather(out);
        for (size_t i = 0; i < 9 * links_of(l); i++) have[i] -= before[i]; /* it was added */
        check_derivative(k == 0 ? "fat links" : "long links", k == 0 ? oracle_fat : oracle_long, l, u, a, have, &rng);
        free(have);
        field_destroy(out);
    }
    if (group == LINKS_SPECIAL) {
        field *two = field_like(links), *three = kit_links(lat, before); /* which does not count */
        staggered_fatten_back(two, 1, links, LINKS_SPECIAL, of, &paths);
        staggered_fatten_back(three, 0, links, LINKS_GENERAL, of, &paths);
        double *x = kit_gather(two), *y = kit_gather(three);
        kit_where("derivative by two rows and by three on %d.%d.%d.%d", l.size[0], l.size[1], l.size[2], l.size[3]);
        KIT_NEAR(kit_distance(x, y, 18 * links_of(l)), 0, 1e-13 * kit_largest(y, 18 * links_of(l)));
        free(x);
        free(y);
        field_destroy(two);
        field_destroy(three);
    }
    field_destroy(of);
    field_destroy(links);
    free(before);
    free(a);
    free(u);
    lattice_destroy(lat);
}

/* ---- projection ---- */

/* The anti-Hermitian solution of h y + y h = b, as a system of nine equations. */
static void solve_sylvester(double complex y[9], const double complex h[9], const double complex b[9])
{
    double complex m[81] = {0}, inverse[81];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                m[9 * (3 * i + j) + 3 * k + j] += h[3 * i + k];
                m[9 * (3 * i + j) + 3 * i + k] += h[3 * k + j];
            }
    ref_inverse(inverse, 9, m);
    for (int i = 0; i < 9; i++) {
        y[i] = 0;
        for (int k = 0; k < 9; k++) y[i] += inverse[9 * i + k] * b[k];
    }
}

/* r = -2 w y with h y + y h = the anti-Hermitian part of a^dagger w */
static void oracle_back(double complex r[9], const double complex a[9], const double complex w[9],
                        const double complex h[9])
{
    double complex adjoint[9], m[9], b[9], y[9];
    ref_mat_adj(adjoint, a);
    ref_mat_mul(m, adjoint, w);
    ref_mat_adj(adjoint, m);
    for (int i = 0; i < 9; i++) b[i] = 0.5 * (m[i] - adjoint[i]);
    solve_sylvester(y, h, b);
    ref_mat_mul(r, w, y);
    for (int i = 0; i < 9; i++) r[i] *= -2;
}

/* v = x s y^dagger, w = x y^dagger, h = y s' y^dagger with s' of at least `least` */
static void decomposed(double complex v[9], double complex w[9], double complex h[9], const double s[3], double least,
                       struct ref_rng *rng)
{
    double complex x[9], y[9], d[9] = {0}, bounded[9] = {0}, adjoint[9], m[9];
    ref_random_su3(x, rng);
    ref_random_su3(y, rng);
    ref_mat_adj(adjoint, y);
    for (int i = 0; i < 3; i++) {
        d[4 * i] = s[i];
        bounded[4 * i] = fmax(s[i], least);
    }
    ref_mat_mul(m, x, d);
    ref_mat_mul(v, m, adjoint);
    ref_mat_mul(w, x, adjoint);
    ref_mat_mul(m, y, bounded);
    ref_mat_mul(h, m, adjoint);
}

static void test_projection(struct ref_lattice l)
{
    static const double small[] = {1, 0.3, 0.02, 0.0101, 0.0099, 0.004, 1e-4, 1e-8}, least[] = {0, 0.01};
    lattice *lat = kit_lattice(l, 2, 1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 72);
    const size_t n = links_of(l);
    double complex *v = ref_gauge_new(l), *w = ref_gauge_new(l), *want = ref_gauge_new(l),
                   *a = random_matrices(l, &rng);
    for (int k = 0; k < 16; k++) {
        const double bound = least[k / 8];
        for (size_t i = 0; i < n; i++) {
            double complex h[9];
            const double big = 0.2 + ref_uniform(&rng);
            const double s[3] = {big, i % 2 ? big : 0.2 + ref_uniform(&rng), small[k % 8]};
            decomposed(v + 9 * i, w + 9 * i, h, s, bound, &rng);
            oracle_back(want + 9 * i, a + 9 * i, w + 9 * i, h);
        }
        field *fv = kit_links(lat, v), *fw = kit_links(lat, w), *f = kit_links(lat, a);
        const double filtered = staggered_unitarise_back(f, fw, fv, bound);
        double *have = kit_gather(f);
        kit_where("smallest singular value %g, bounded by %g", small[k % 8], bound);
        KIT_NEAR(filtered, small[k % 8] < bound ? (double)n : 0, 0);
        /* The derivative is as large as the inverse of the singular value, which has its rounding. */
        const double size = fmax(small[k % 8], bound);
        KIT_NEAR(kit_distance(have, want, 18 * n) * size, 0, 1e-13 / size);
        free(have);
        field_destroy(f);
        field_destroy(fw);
        field_destroy(fv);
    }
    free(a);
    free(want);
    free(w);
    free(v);
    lattice_destroy(lat);
}

static void oracle_project(double complex *out, struct ref_lattice l, const double complex *u)
{
    for (size_t i = 0; i < links_of(l); i++) ref_project_u3(out + 9 * i, u + 9 * i);
}

/* The formula itself is the derivative of the projection. */
static void test_projection_order(struct ref_lattice l)
{
    lattice *lat = kit_lattice(l, 2, 1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 73);
    double complex *v = ref_gauge_new(l), *a = random_matrices(l, &rng), h[9], w[9];
    for (size_t i = 0; i < links_of(l); i++) {
        const double s[3] = {0.8 + ref_uniform(&rng), 0.8 + ref_uniform(&rng), 0.8 + ref_uniform(&rng)};
        decomposed(v + 9 * i, w, h, s, 0, &rng);
    }
    field *fv = kit_links(lat, v), *fw = field_like(fv), *f = kit_links(lat, a);
    double undefined;
    staggered_unitarise(fw, fv, &undefined);
    staggered_unitarise_back(f, fw, fv, 0);
    double complex *have = (double complex *)kit_gather(f), *x = random_matrices(l, &rng);
    const double exact = scalar(have, x, links_of(l));
    const double e1 = difference(oracle_project, l, v, x, a, 4e-3, 0) - exact,
                 e2 = difference(oracle_project, l, v, x, a, 2e-3, 0) - exact;
    kit_where("projection");
    KIT_NEAR(log2(fabs(e1 / e2)), 2, 0.02);
    KIT_NEAR((4 * e2 - e1) / 3, 0, 1e-7 * sqrt(ref_norm2(have, 9 * links_of(l))));
    free(x);
    free(have);
    field_destroy(f);
    field_destroy(fw);
    field_destroy(fv);
    free(a);
    free(v);
    lattice_destroy(lat);
}

/* ---- outer products ---- */

enum { VECTORS = 5 };

typedef struct {
    struct ref_lattice l;
    double complex *near, *far, *x[VECTORS]; /* x on parity p alone */
    double weights[VECTORS];
    int time_sign;
} scene;

/* sum_i weight_i x_i^dagger D D x_i with D's links moved by h times `to` without phases */
static double bilinear(const scene *s, double h, const double complex *to, int of_far)
{
    const size_t n = links_of(s->l), v = 3 * ref_volume(s->l);
    double complex *near = kit_copy(s->near, 9 * n * sizeof *near);
    double complex *far = s->far ? kit_copy(s->far, 9 * n * sizeof *far) : NULL;
    double complex *y = kit_alloc(v, sizeof *y), *moved = of_far ? far : near;
    double value = 0;
    for (size_t i = 0; i < 9 * n; i++)
        moved[i] += h * to[i] * ref_staggered_sign(s->l, i / 36, (int)(i / 9 % 4), of_far ? 3 : 1, s->time_sign);
    for (int k = 0; k < VECTORS; k++) {
        ref_staggered_hop(y, s->x[k], s->l, near, far);
        value -= s->weights[k] * ref_norm2(y, v);
    }
    free(y);
    free(far);
    free(near);
    return value;
}

/* z of all vectors, an array of the whole lattice */
static double *both_parities(const scene *s)
{
    const size_t sites = ref_volume(s->l);
    double complex *z = kit_alloc(3 * VECTORS * sites, sizeof *z), *y = kit_alloc(3 * sites, sizeof *y);
    for (int k = 0; k < VECTORS; k++) {
        ref_staggered_hop(y, s->x[k], s->l, s->near, s->far);
        for (size_t i = 0; i < 3 * sites; i++) z[(i / 3 * VECTORS + (size_t)k) * 3 + i % 3] = s->x[k][i] + y[i];
    }
    free(y);
    return (double *)z;
}

static void check_outer(const scene *s, const lattice *lat, parity p, struct ref_rng *rng)
{
    double *array = both_parities(s), doubled[VECTORS];
    double complex *before = random_matrices(s->l, rng), *direction = random_matrices(s->l, rng);
    for (int k = 0; k < VECTORS; k++) doubled[k] = 2 * s->weights[k];
    field *z = kit_field(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, VECTORS, array);
    field *f[3];
    for (int k = 0; k < 3; k++) f[k] = kit_links(lat, before);
    const staggered_outer_call call = {p, f[0], s->far ? f[1] : NULL, f[2], -0.5, 3};
    staggered_outer(&call, z, doubled);
    for (int k = 0; k < 3; k++) {
        double complex *have = (double complex *)kit_gather(f[k]);
        for (size_t i = 0; i < 9 * links_of(s->l); i++) have[i] -= before[i];
        /* quadratic in the links: the central difference is the derivative */
        const double h = 0.5, factor = k == 0 ? 1 : k == 1 ? -0.5 : 3;
        const double slope =
            k == 1 && !s->far
                ? 0
                : (bilinear(s, h, direction, k == 1) - bilinear(s, -h, direction, k == 1)) / (2 * h) * factor;
        kit_where("outer products %d on parity %d of %d.%d.%d.%d", k, p, s->l.size[0], s->l.size[1], s->l.size[2],
                  s->l.size[3]);
        KIT_NEAR(scalar(have, direction, links_of(s->l)), slope, 1e-10 * fmax(fabs(slope), 1e3));
        free(have);
        field_destroy(f[k]);
    }
    field_destroy(z);
    free(direction);
    free(before);
    free(array);
}

static void test_outer(struct ref_lattice l, int improved, int time_sign)
{
    lattice *lat = kit_lattice(l, improved ? 3 : 1, time_sign);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 74);
    scene s = {.l = l, .near = random_matrices(l, &rng), .time_sign = time_sign};
    if (improved) s.far = random_matrices(l, &rng);
    for (int p = 0; p < 2; p++) {
        for (int k = 0; k < VECTORS; k++) {
            s.weights[k] = ref_normal(&rng);
            s.x[k] = (double complex *)kit_normals(6 * ref_volume(l), &rng);
            for (size_t i = 0; i < ref_volume(l); i++)
                if (ref_parity(l, i) != p) memset(s.x[k] + 3 * i, 0, 3 * sizeof *s.x[k]);
        }
        check_outer(&s, lat, (parity)p, &rng);
        for (int k = 0; k < VECTORS; k++) free(s.x[k]);
    }
    free(s.far);
    free(s.near);
    lattice_destroy(lat);
}

/* ---- traces ---- */

/* All of it: from vectors to momenta, as two levels of smearing make it. */
static field *whole_force(const field *links, const field *z)
{
    static const double weights[VECTORS] = {0.3, -0.1, 0.2, 1, 0.7};
    field *v = field_like(links), *w = field_like(links), *near = field_like(links), *far = field_like(links);
    field *back = field_like(links),
          *p = field_create(links->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    const staggered_outer_call call = {PARITY_EVEN, near, far, back, naik, 0.1};
    double undefined;
    staggered_fatten(v, links, LINKS_SPECIAL, &paths);
    staggered_unitarise(w, v, &undefined);
    staggered_outer(&call, z, weights);
    staggered_fatten_back(back, 1, w, LINKS_GENERAL, near, &paths);
    staggered_lengthen_back(back, w, far, 1);
    staggered_unitarise_back(back, w, v, 7e-3);
    staggered_fatten_back(near, 0, links, LINKS_SPECIAL, back, &paths);
    staggered_momenta_add(p, links, near);
    field_destroy(back);
    field_destroy(far);
    field_destroy(near);
    field_destroy(w);
    field_destroy(v);
    return p;
}

static void test_traces(struct ref_lattice l)
{
    int grids[64][4];
    const int n = kit_grids(l, grids, 64);
    struct ref_rng rng;
    ref_rng_seed(&rng, 75);
    double complex *u = kit_random_gauge(l, 0, &rng);
    double *vectors = kit_normals(6 * VECTORS * ref_volume(l), &rng), *first = NULL;
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < 2 * n; i++) {
        const int *g = grids[i / 2], linear = i % 2;
        char message[512];
        lattice *plan = plan_lattice(l.size, g, comm_size(), 3, message, sizeof message);
        const int fits = plan != NULL;
        lattice_destroy(plan);
        if (!fits) continue;
        lattice_use_simd(test_simd && !linear);
        lattice *lat = lattice_create(l.size, g, 3, -1);
        lattice_use_simd(test_simd);
        field *links = kit_links(lat, u);
        field *z = kit_field(lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_BOTH, VECTORS, vectors);
        field *force = whole_force(links, z);
        double *have = kit_gather(force);
        kit_where("grid %d.%d.%d.%d, %s", g[0], g[1], g[2], g[3], linear ? "linear" : "lanes");
        if (!first) {
            first = kit_copy(have, kit_reals(force) * sizeof *have);
            for (size_t j = 0; j < kit_reals(force) * sizeof *have; j++)
                hash = (hash ^ ((unsigned char *)have)[j]) * 1099511628211u;
        }
        KIT_NEAR(kit_distance(have, first, kit_reals(force)), 0, 0);
        KIT_INT(memcmp(have, first, kit_reals(force) * sizeof *have), 0);
        free(have);
        field_destroy(force);
        field_destroy(z);
        field_destroy(links);
        lattice_destroy(lat);
    }
    /* Runs on other numbers of ranks can be compared by eye. */
    if (first && comm_rank() == 0)
        printf("%d.%d.%d.%d on %d ranks: all bits hash to %016llx\n", l.size[0], l.size[1], l.size[2], l.size[3],
               comm_size(), (unsigned long long)hash);
    free(first);
    free(vectors);
    free(u);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KIT_SHAPES - 1; k++) {
        if (k == 3) continue; /* larger than it needs to be */
        test_paths(kit_shapes[k], LINKS_GENERAL);
        test_paths(kit_shapes[k], LINKS_SPECIAL);
    }
    test_projection(kit_shapes[0]);
    test_projection_order(kit_shapes[0]);
    for (int k = 0; k < KIT_SHAPES - 1; k++)
        if (k != 3) test_outer(kit_shapes[k], 0, 1);
    test_outer((struct ref_lattice){{4, 8, 4, 8}}, 1, -1);
    test_outer((struct ref_lattice){{8, 4, 2, 4}}, 1, 1);
    test_traces((struct ref_lattice){{4, 8, 4, 8}});
    test_traces((struct ref_lattice){{8, 2, 4, 16}});
    return kit_end();
}
