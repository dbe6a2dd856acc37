/* Vector algebra with complex coefficients and many vectors is the sum that its formula says, in every precision, to
 * the rounding of that precision; the sums that come with it are those of vector_norm2() and vector_dot() to the bit.
 * Spinors, colour vectors, and coarse vectors in rows order. */
#include "tests/kernels/kit.h"

#include "kernels/ops/vector.h"

#define MOST 20

typedef struct {
    const lattice *lat;
    precision prec;
    struct ref_rng *rng;
    field_kind kind;
    int colours; /* of coarse vectors */
} scene;

static size_t reals_of(const scene *s)
{
    return (size_t)s->lat->volume * (size_t)(s->colours ? 4 * s->colours : field_kinds[s->kind].reals);
}

static field *make(const scene *s, int nrhs, int Ls, const double *numbers)
{
    field_shape shape = s->colours ? field_shape_coarse(s->colours, nrhs) : field_shape_of_kind(s->kind, nrhs);
    shape.Ls = Ls;
    field *f = field_create_shape(s->lat, &shape, s->prec, PARITY_BOTH, kit_place);
    if (numbers) kit_scatter(f, numbers);
    return f;
}

static field *some(const scene *s)
{
    double *numbers = kit_normals(reals_of(s), s->rng);
    field *f = make(s, 1, 1, numbers);
    free(numbers);
    return f;
}

static field *copy_of(const field *f)
{
    field *g = field_like(f);
    field_copy(g, f);
    return g;
}

/* want += c x */
static void add(double complex *want, double complex c, const field *x)
{
    double complex *psi = kit_spinor(x, 0);
    const size_t n = kit_reals(x) / 2;
    for (size_t i = 0; i < n; i++) want[i] += c * psi[i];
    free(psi);
}

/* After so many storages. */
static void check_field(const char *what, const scene *s, const field *have, double complex *want, int storages)
{
    const size_t n = reals_of(s);
    double complex *psi = kit_spinor(have, 0);
    const double size = kit_largest(want, n);
    kit_where("%s of a %s in %s", what, field_kinds[s->kind].name, precision_names[s->prec]);
    KIT_NEAR(kit_distance(psi, want, n), 0, (50 * kit_epsilon[s->prec] + 1.1 * storages * kit_step[s->prec]) * size);
    free(psi);
    free(want);
}

static double complex *zero(const scene *s)
{
    return kit_alloc(reals_of(s) / 2, sizeof(double complex));
}

/* Norms and real coefficients, of each right-hand side alone where there are sums. */
static void test_simple(const scene *s)
{
    enum { RHS = 3 };
    const size_t n = reals_of(s);
    double *a = kit_normals(RHS * n, s->rng), *b = kit_normals(RHS * n, s->rng);
    field *x = make(s, RHS, 1, a), *y = make(s, RHS, 1, b), *z = copy_of(y);
    double *x_array = kit_gather(x), *y_array = kit_gather(y), dot[2];
    double complex *px[RHS], *py[RHS];
    for (int r = 0; r < RHS; r++) {
        px[r] = kit_rhs(x, x_array, r);
        py[r] = kit_rhs(y, y_array, r);
        kit_where("right-hand side %d of a %s in %s", r, field_kinds[s->kind].name, precision_names[s->prec]);
        /* Fixed point becomes numbers in single. */
        const double tolerance = 1e-15 * (double)n + (s->prec >= PREC_HALF ? 4 * kit_epsilon[s->prec] : 0);
        KIT_REL(vector_norm2(x, r), ref_norm2(px[r], n / 2), tolerance);
        const double complex want = ref_dot(px[r], py[r], n / 2);
        vector_dot(dot, x, y, r);
        KIT_NEAR(dot[0], creal(want), tolerance * (double)n);
        KIT_NEAR(dot[1], cimag(want), tolerance * (double)n);
    }
    vector_axpby(y, 0.75, x, -1.5);
    const double norm2 = vector_axpby_norm2(z, 0.5, x, 0.8, 1);
    for (int r = 0; r < RHS; r++) {
        double complex *have = kit_spinor(y, r), *after = kit_spinor(z, r);
        double worst[2] = {0, 0}, size = 0;
        for (size_t i = 0; i < n / 2; i++) {
            size = fmax(size, cabs(px[r][i]) + cabs(py[r][i]));
            worst[0] = fmax(worst[0], cabs(have[i] - 0.75 * px[r][i] + 1.5 * py[r][i]));
            worst[1] = fmax(worst[1], cabs(after[i] - (r == 1 ? 0.5 * px[r][i] + 0.8 * py[r][i] : py[r][i])));
        }
        const double tolerance = (8 * kit_epsilon[s->prec] + 2 * kit_step[s->prec]) * 1.5 * size;
        KIT_NEAR(worst[0], 0, tolerance);
        KIT_NEAR(worst[1], 0, r == 1 ? tolerance : 0);
        if (r == 1) KIT_REL(norm2, ref_norm2(after, n / 2), 1e-15 * (double)n + 2 * kit_step[s->prec]);
        free(have);
        free(after);
        free(px[r]);
        free(py[r]);
    }
    free(y_array);
    free(x_array);
    free(b);
    free(a);
    field_destroy(x);
    field_destroy(y);
    field_destroy(z);
}

/* A step of conjugate gradients with coefficients of sums that are still on their way, to the bit what one thing after the
 * other gives: of both parities, and of one, whose sums a GPU takes from its own memory. */
static void test_by_sum(const scene *s)
{
    field *f[4], *g[4];
    for (int i = 0; i < 4; i++) {
        f[i] = some(s);
        g[i] = copy_of(f[i]);
    }
    for (int parts = 0; parts < 2; parts++) {
        field a[4], b[4];
        for (int i = 0; i < 4; i++) {
            a[i] = parts ? field_part(f[i], PARITY_ODD) : *f[i];
            b[i] = parts ? field_part(g[i], PARITY_ODD) : *g[i];
        }
        double dot[2];
        vector_dot(dot, &b[2], &b[3], 0);
        const double norm2 = vector_norm2(&b[1], 0), alpha = 1e-3 * norm2 / dot[0],
                     r2 = vector_axpy_norm2(&b[0], -exact_quotient(norm2, dot[0]), &b[1], 0);
        vector_cg_update(&b[2], &b[3], dot[0] > 0 ? alpha : 0, exact_quotient(r2, norm2), &b[0]);
        vector_sum known = vector_sum_known(1e-3 * norm2), none = vector_sum_known(0), product, before, sum;
        kit_where("sums on their way, %s in %s", field_kinds[s->kind].name, precision_names[s->prec]);
        vector_real_dot_start(&product, &a[2], &a[3], 0);
        vector_norm2_start(&before, &a[1], 0);
        vector_axpy_by_norm2_start(&sum, &a[0], (vector_ratio){-1, &before, &product}, &a[1], 0);
        vector_cg_update_by(&a[2], &a[3], (vector_ratio){1, &known, &product}, (vector_ratio){1, &sum, &before}, &a[0]);
        KIT_NEAR(vector_sum_finish(&sum), r2, 0);
        KIT_NEAR(vector_sum_finish(&product), dot[0], 0);
        KIT_NEAR(vector_sum_finish(&before), norm2, 0);
        /* A quotient by nothing is nothing. */
        vector_axpy_by_norm2_start(&sum, &a[0], (vector_ratio){1, &before, &none}, &a[1], 0);
        const double same = vector_axpy_norm2(&b[0], 0, &b[1], 0);
        KIT_NEAR(vector_sum_finish(&sum), same, 0);
        KIT_NEAR(vector_sum_finish(&sum), same, 0); /* asked for once more */
    }
    for (int i = 0; i < 4; i++) {
        KIT_NEAR(vector_axpy_norm2(f[i], -1, g[i], 0), 0, 0);
        field_destroy(f[i]);
        field_destroy(g[i]);
    }
}

/* y += a x with x in each precision. */
static void test_add(const scene *s)
{
    for (int p = 0; p < (s->colours ? PREC_HALF : PREC_COUNT); p++) {
        const scene other = {s->lat, (precision)p, s->rng, s->kind, s->colours};
        field *x = some(&other), *y = some(s);
        double complex *want = zero(s);
        add(want, 1, y);
        add(want, -0.6, x);
        vector_add(y, -0.6, x);
        check_field("add", s, y, want, 1);
        field_destroy(x);
        field_destroy(y);
    }
}

static void test_multi(const scene *s, int n)
{
    field *z[MOST], *y = some(s);
    double c[MOST][2], value[MOST][2], one[2];
    double complex *want = zero(s);
    add(want, 1, y);
    for (int j = 0; j < n; j++) {
        z[j] = some(s);
        c[j][0] = ref_normal(s->rng);
        c[j][1] = ref_normal(s->rng);
        add(want, c[j][0] + I * c[j][1], z[j]);
    }
    vector_multi_dot(value, n, z, y, 0);
    for (int j = 0; j < n; j++) {
        kit_where("%d dots in %s", n, precision_names[s->prec]);
        vector_dot(one, z[j], y, 0);
        KIT_NEAR(value[j][0], one[0], 0);
        KIT_NEAR(value[j][1], one[1], 0);
    }
    const double norm2 = vector_multi_axpy(y, n, (const double(*)[2])c, z, 0);
    check_field("multi_axpy", s, y, want, (n + MULTI_VIEWS - 1) / MULTI_VIEWS);
    /* Of what is stored, but for fixed point, which sums before it rounds. */
    KIT_REL(norm2, vector_norm2(y, 0), kit_step[s->prec]);
    for (int j = 0; j < n; j++) field_destroy(z[j]);
    field_destroy(y);
}

static void test_pairs(const scene *s)
{
    field *y[MULTI_PAIRS], *x[MULTI_PAIRS];
    double complex *want[MULTI_PAIRS];
    double a[MULTI_PAIRS][2], b[MULTI_PAIRS][2];
    for (int j = 0; j < MULTI_PAIRS; j++) {
        y[j] = some(s);
        x[j] = some(s);
        for (int k = 0; k < 2; k++) {
            a[j][k] = ref_normal(s->rng);
            b[j][k] = ref_normal(s->rng);
        }
        want[j] = zero(s);
        add(want[j], a[j][0] + I * a[j][1], x[j]);
        add(want[j], b[j][0] + I * b[j][1], y[j]);
    }
    vector_multi_axpby(MULTI_PAIRS, y, (const double(*)[2])a, x, (const double(*)[2])b);
    for (int j = 0; j < MULTI_PAIRS; j++) {
        check_field("multi_axpby", s, y[j], want[j], 1);
        field_destroy(y[j]);
        field_destroy(x[j]);
    }
}

static void test_mr(const scene *s)
{
    field *x = some(s), *r = some(s), *q = some(s);
    double complex *want_x = zero(s), *want_r = zero(s);
    char going[MOST];
    double a[MOST][2];
    for (int k = 0; k < x->nrhs; k++) {
        going[k] = 1;
        a[k][0] = 0.7;
        a[k][1] = -0.4;
    }
    add(want_x, 1, x);
    add(want_x, 0.7 - 0.4 * I, r);
    add(want_r, 1, r);
    add(want_r, -0.7 + 0.4 * I, q);
    vector_mr_update_each(going, x, r, (const double(*)[2])a, q);
    check_field("mr_update x", s, x, want_x, 1);
    check_field("mr_update r", s, r, want_r, 1);
    field_destroy(x);
    field_destroy(r);
    field_destroy(q);
}

static void test_bicgstab(const scene *s, int l)
{
    field *x = some(s), *shadow = some(s), *r[BICGSTAB_MOST + 1], *u[BICGSTAB_MOST + 1];
    double gamma[BICGSTAB_MOST][2], rho[2], dot[2];
    double complex *want_x = zero(s), *want_r = zero(s), *want_u = zero(s);
    for (int j = 0; j <= l; j++) {
        r[j] = some(s);
        u[j] = some(s);
    }
    add(want_x, 1, x);
    add(want_r, 1, r[0]);
    add(want_u, 1, u[0]);
    for (int j = 1; j <= l; j++) {
        gamma[j - 1][0] = ref_normal(s->rng);
        gamma[j - 1][1] = ref_normal(s->rng);
        const double complex g = gamma[j - 1][0] + I * gamma[j - 1][1];
        add(want_x, g, r[j - 1]);
        add(want_r, -g, r[j]);
        add(want_u, -g, u[j]);
    }
    const double norm2 = vector_bicgstab_update(rho, x, r, u, l, (const double(*)[2])gamma, shadow, 0);
    check_field("bicgstab_update x", s, x, want_x, 1);
    check_field("bicgstab_update r", s, r[0], want_r, 1);
    check_field("bicgstab_update u", s, u[0], want_u, 1);
    KIT_REL(norm2, vector_norm2(r[0], 0), kit_step[s->prec]);
    vector_dot(dot, shadow, r[0], 0);
    const double size = sqrt(vector_norm2(shadow, 0) * norm2);
    for (int k = 0; k < 2; k++) KIT_NEAR(rho[k], dot[k], kit_step[s->prec] * size);
    for (int j = 0; j <= l; j++) {
        field_destroy(r[j]);
        field_destroy(u[j]);
    }
    field_destroy(x);
    field_destroy(shadow);
}

/* One shift with zeta = 1 is the update of conjugate gradients. */
static void test_multishift(const scene *s, int n)
{
    field *x[MOST], *p[MOST], *r = some(s);
    double alpha[MOST], zeta[MOST], beta[MOST];
    double complex *want_x[MOST], *want_p[MOST];
    for (int j = 0; j < n; j++) {
        x[j] = some(s);
        p[j] = some(s);
        alpha[j] = ref_normal(s->rng);
        beta[j] = ref_normal(s->rng);
        zeta[j] = j == 0 ? 1 : ref_normal(s->rng);
        want_x[j] = zero(s);
        want_p[j] = zero(s);
        add(want_x[j], 1, x[j]);
        add(want_x[j], alpha[j], p[j]);
        add(want_p[j], zeta[j], r);
        add(want_p[j], beta[j], p[j]);
    }
    field *one_x = copy_of(x[0]), *one_p = copy_of(p[0]);
    vector_multishift_update(n, x, p, alpha, zeta, beta, r, 0);
    vector_cg_update(one_x, one_p, alpha[0], beta[0], r);
    kit_where("the first of %d shifts in %s", n, precision_names[s->prec]);
    KIT_NEAR(vector_axpy_norm2(one_x, -1, x[0], 0), 0, 0);
    for (int j = 0; j < n; j++) {
        check_field("multishift_update x", s, x[j], want_x[j], 1);
        check_field("multishift_update p", s, p[j], want_p[j], 1);
        field_destroy(x[j]);
        field_destroy(p[j]);
    }
    field_destroy(one_x);
    field_destroy(one_p);
    field_destroy(r);
}

/* One number that is much larger than all others, on each site in turn: whatever addend comes last, it is there. */
static void test_largest(const scene *s)
{
    const size_t sites = (size_t)s->lat->volume, each = reals_of(s) / sites;
    double *numbers = kit_alloc(reals_of(s), sizeof *numbers);
    field *f = make(s, 1, 1, NULL);
    kit_where("one large number in a %s in %s", field_kinds[s->kind].name, precision_names[s->prec]);
    for (size_t site = 0; site < sites; site++) {
        for (size_t i = 0; i < sites; i++) numbers[i * each] = i == site ? 0x1p40 : 0x1p-40;
        kit_scatter(f, numbers);
        KIT_REL(vector_norm2(f, 0), 0x1p80, 1e-4);
    }
    field_destroy(f);
    free(numbers);
}

/* One right-hand side of a field with slices: its sums are those of a field with these slices one after the other in one
 * number, and other right-hand sides are left alone. */
static void test_slices(const scene *s)
{
    enum { RHS = 3, LS = 4, GROUPS = RHS * LS };
    const size_t n = reals_of(s);
    double *a = kit_normals(GROUPS * n, s->rng), *b = kit_normals(GROUPS * n, s->rng), dot[2], one[1][2];
    field *x = make(s, RHS, LS, a), *y = make(s, RHS, LS, b), *z = copy_of(y), *w = copy_of(y);
    double *x_array = kit_gather(x), *y_array = kit_gather(y);
    const double tolerance = 1e-15 * LS * (double)n + (s->prec >= PREC_HALF ? 4 * kit_epsilon[s->prec] : 0);
    for (int r = 0; r < RHS; r++) {
        double want = 0;
        double complex want_dot = 0;
        for (int k = 0; k < LS; k++) {
            double complex *px = kit_rhs(x, x_array, r * LS + k), *py = kit_rhs(y, y_array, r * LS + k);
            want += ref_norm2(px, n / 2);
            want_dot += ref_dot(px, py, n / 2);
            free(px);
            free(py);
        }
        kit_where("%d slices of right-hand side %d of a %s in %s", LS, r, field_kinds[s->kind].name,
                  precision_names[s->prec]);
        KIT_REL(vector_norm2(x, r), want, tolerance);
        vector_dot(dot, x, y, r);
        KIT_NEAR(dot[0], creal(want_dot), tolerance * (double)n);
        KIT_NEAR(dot[1], cimag(want_dot), tolerance * (double)n);
        vector_multi_dot(one, 1, (field *[]){x}, y, r);
        KIT_NEAR(one[0][0], dot[0], 0);
        KIT_NEAR(one[0][1], dot[1], 0);
    }
    const double norm2 = vector_axpby_norm2(z, 0.5, x, 1, 1);
    KIT_REL(norm2, vector_norm2(z, 1), 2 * kit_step[s->prec]);
    const double again = vector_multi_axpy(w, 1, (const double[1][2]){{0.5, 0}}, (field *[]){x}, 1);
    KIT_REL(again, norm2, 8 * kit_epsilon[s->prec]);
    for (int r = 0; r < RHS; r += 2) KIT_NEAR(vector_norm2(z, r), vector_norm2(y, r), 0);
    field *all[] = {x, y, z, w};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
    free(x_array);
    free(y_array);
    free(a);
    free(b);
}

/* Sums of all right-hand sides in one pass are those of each, to the bit: more of them than a launch takes. */
static void test_each(const scene *s, int rhs, int Ls)
{
    enum { ROOM = 40 };
    const size_t n = reals_of(s) * (size_t)(rhs * Ls);
    double *numbers = kit_normals(n, s->rng), norm2[ROOM], dot[ROOM][2], want[2], a[ROOM], b[ROOM];
    field *x = make(s, rhs, Ls, numbers);
    for (size_t i = 0; i < n; i++) numbers[i] = numbers[i] * 0.5 + 0.25;
    field *y = make(s, rhs, Ls, numbers), *z = copy_of(y);
    kit_where("%d right-hand sides of %d slices of a %s in %s", rhs, Ls, field_kinds[s->kind].name,
              precision_names[s->prec]);
    vector_norm2_each(norm2, x);
    vector_dot_each(dot, x, y);
    for (int r = 0; r < rhs; r++) {
        KIT_NEAR(norm2[r], vector_norm2(x, r), 0);
        vector_dot(want, x, y, r);
        KIT_NEAR(dot[r][0], want[0], 0);
        KIT_NEAR(dot[r][1], want[1], 0);
        a[r] = 0.3 + 0.1 * r;
        b[r] = r % 3 ? 1 : 0.7;
    }
    vector_axpby_norm2_each(norm2, y, a, x, b);
    for (int r = 0; r < rhs; r++) {
        KIT_NEAR(norm2[r], vector_axpby_norm2(z, a[r], x, b[r], r), 0);
        KIT_NEAR(vector_norm2(y, r), vector_norm2(z, r), 0);
    }
    field_destroy(x);
    field_destroy(y);
    field_destroy(z);
    free(numbers);
}

static field *some_each(const scene *s, int rhs, int Ls)
{
    double *numbers = kit_normals(reals_of(s) * (size_t)(rhs * Ls), s->rng);
    field *f = make(s, rhs, Ls, numbers);
    free(numbers);
    return f;
}

/* Right-hand side r of two fields is the same to the bit. */
static void check_same(field *x, field *y, int r)
{
    double dot[2];
    vector_dot(dot, x, y, r);
    KIT_NEAR(vector_norm2(x, r), vector_norm2(y, r), 0);
    KIT_NEAR(dot[0], vector_norm2(y, r), 0);
}

/* Multi-BLAS of those right-hand sides that are going is that of each alone, to the bit, and the others stay as they are. */
static void test_multi_each(const scene *s, int rhs, int Ls, int n)
{
    enum { ROOM = 20, VECTORS = 5 };
    field *z[VECTORS], *y = some_each(s, rhs, Ls), *r = some_each(s, rhs, Ls), *x = some_each(s, rhs, Ls),
                       *y0 = copy_of(y), *r0 = copy_of(r), *x0 = copy_of(x), *next = some_each(s, rhs, Ls),
                       *next0 = copy_of(next);
    char going[ROOM];
    int many[ROOM];
    double dots[ROOM * VECTORS][2], gram[ROOM * VECTORS * (VECTORS + 1) / 2][2], want[VECTORS][2], c[ROOM * VECTORS][2],
        a[ROOM][2];
    for (int j = 0; j < n; j++) z[j] = some_each(s, rhs, Ls);
    for (int k = 0; k < rhs; k++) {
        going[k] = k % 3 != 1;
        many[k] = (k + 1) % (n + 1);
        a[k][0] = 0.4 - 0.1 * k;
        a[k][1] = 0.2;
        for (int j = 0; j < n; j++) {
            c[k * n + j][0] = 0.3 + 0.01 * k;
            c[k * n + j][1] = 0.1 * j - 0.2;
        }
    }
    kit_where("%d vectors of %d right-hand sides of %d slices of a %s in %s", n, rhs, Ls, field_kinds[s->kind].name,
              precision_names[s->prec]);
    vector_multi_dot_each(dots, going, n, z, y);
    vector_gram_each(gram, going, n, z);
    for (int k = 0; k < rhs; k++) {
        if (!going[k]) continue;
        vector_multi_dot(want, n, z, y, k);
        for (int j = 0; j < 2 * n; j++) KIT_NEAR(dots[k * n + j / 2][j % 2], want[j / 2][j % 2], 0);
        for (int j = 0; j < n; j++) {
            const double(*column)[2] = (const double(*)[2])gram + k * (n * (n + 1) / 2) + j * (j + 1) / 2;
            vector_multi_dot(want, j + 1, z, z[j], k);
            for (int i = 0; i < 2 * (j + 1); i++) KIT_NEAR(column[i / 2][i % 2], want[i / 2][i % 2], 0);
        }
    }
    vector_multi_axpy_each(going, y, many, n, (const double(*)[2])c, z);
    for (int k = 0; k < rhs; k++) {
        if (going[k] && many[k]) vector_multi_axpy(y0, many[k], (const double(*)[2])c + k * n, z, k);
        check_same(y, y0, k);
    }
    /* Next is made of y as registers hold it, which fixed point rounds. */
    vector_gcr_step_each(going, next, r, (const double(*)[2])a, y, n, (const double(*)[2])c, z);
    for (int k = 0; k < rhs; k++) {
        if (going[k]) vector_multi_axpy(y0, n, (const double(*)[2])c + k * n, z, k);
        check_same(y, y0, k);
        if (s->prec >= PREC_HALF) continue;
        if (going[k]) vector_axpby_norm2(next0, 1, r, 0, k);
        if (going[k]) vector_multi_axpy(next0, 1, (const double(*)[2])a + k, &y, k);
        check_same(next, next0, k);
    }
    vector_mr_update_each(going, x, r, (const double(*)[2])a, y);
    for (int k = 0; k < rhs; k++) {
        const double minus[1][2] = {{-a[k][0], -a[k][1]}};
        if (going[k]) vector_multi_axpy(x0, 1, (const double(*)[2])a + k, &r0, k);
        if (going[k]) vector_multi_axpy(r0, 1, minus, &y, k);
        check_same(x, x0, k);
        check_same(r, r0, k);
    }
    field *const all[] = {y, r, x, y0, r0, x0, next, next0};
    for (int j = 0; j < n; j++) field_destroy(z[j]);
    for (int j = 0; j < 8; j++) field_destroy(all[j]);
}

/* Views of some right-hand sides: copies to and from them, in one precision and between two, their norms, zeros; the others stay. */
static void test_columns(const scene *s, int rhs, int first, int n)
{
    enum { ROOM = 20 };
    field *x = some_each(s, rhs, 2), *y = some_each(s, rhs, 2), *y0 = copy_of(y);
    const field_shape shape = field_shape_of(x);
    field *wide = field_create_shape(s->lat, &shape, PREC_DOUBLE, PARITY_BOTH, kit_place),
          view = field_columns(x, first, n), *part = field_like(&view), to = field_columns(y, rhs - n, n),
          of_wide = field_columns(wide, rhs - n, n);
    double norm2[ROOM];
    kit_where("%d of %d right-hand sides of a %s in %s", n, rhs, field_kinds[s->kind].name, precision_names[s->prec]);
    KIT_INT(part->nrhs, n);
    vector_copy(part, &view);
    vector_copy(&to, part);
    vector_copy(&of_wide, &view);
    vector_norm2_each(norm2, &view);
    for (int k = 0; k < n; k++) {
        KIT_NEAR(norm2[k], vector_norm2(x, first + k), 0);
        KIT_NEAR(vector_norm2(part, k), norm2[k], 0);
        KIT_NEAR(vector_norm2(y, rhs - n + k), norm2[k], 0);
        KIT_NEAR(vector_norm2(wide, rhs - n + k), norm2[k], (s->prec < PREC_HALF ? 1e-14 : 1e-6) * norm2[k]);
    }
    for (int k = 0; k < rhs - n; k++) {
        check_same(y, y0, k);
        KIT_NEAR(vector_norm2(wide, k), 0, 0);
    }
    field_clear(&to);
    for (int k = 0; k < rhs; k++) {
        if (k < rhs - n) check_same(y, y0, k);
        else KIT_NEAR(vector_norm2(y, k), 0, 0);
    }
    field *const all[] = {x, y, y0, wide, part};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
}

static void test_scene(const scene *s)
{
    test_simple(s);
    test_by_sum(s);
    test_add(s);
    test_multi(s, 1);
    test_multi(s, 3);
    test_pairs(s);
    test_mr(s);
    test_bicgstab(s, 2);
    test_multishift(s, 2);
    test_slices(s);
    test_each(s, 3, 2);
    test_multi_each(s, 4, 2, 3);
    test_columns(s, 5, 1, 3);
    test_columns(s, 3, 2, 1);
    test_columns(s, 2, 0, 2);
    test_multi_each(s, 20, 1, 5);
}

/* Coarse vectors of 2 x 24 components, and of fewer. */
static void test_rows(const lattice *lat, struct ref_rng *rng)
{
    for (int prec = 0; prec < PREC_HALF; prec++)
        for (int colours = 4; colours <= 24; colours += 20) {
            const scene s = {lat, (precision)prec, rng, FIELD_COARSE, colours};
            test_scene(&s);
        }
}

static void test_all(struct ref_lattice l, struct ref_rng *rng)
{
    lattice *lat = kit_lattice(l, 1, -1);
    for (int k = 0; lat && k < 2 * PREC_COUNT; k++) {
        const scene s = {lat, (precision)(k / 2), rng, k % 2 ? FIELD_VECTOR : FIELD_SPINOR, 0};
        test_scene(&s);
        test_multi(&s, MOST);
        test_largest(&s);
        for (int l = 1; l <= BICGSTAB_MOST; l++) test_bicgstab(&s, l);
        test_multishift(&s, MOST);
        test_each(&s, 20, 1);
    }
    if (lat) test_rows(lat, rng);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 81);
    test_all(kit_shapes[0], &rng);
    for (int k = 4; k < KIT_SHAPES - 1; k++) test_all(kit_shapes[k], &rng); /* few lanes */
    return kit_end();
}
