/* The Wilson-clover operator and its Schur complements, against the slow oracle: both forms, both parities, with and
 * without clover term, twisted mass and anisotropy, both time boundaries.
 *
 * Theorems: apply and its dagger are those of the oracle, in every precision within its rounding; prepare, solve,
 * reconstruct gives M x = b; log det M = log det of what the form takes out + log det Mhat (on a lattice small enough
 * for dense algebra); when the links change, all that is derived follows; the normal operator is Hermitian and
 * positive; the force is the derivative of |Mhat phi|^2-like bilinears. */
#include "tests/kernels/kit.h"
#include "tests/solve.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "operators/wilson.h"
#include "solvers/solver.h"

typedef struct {
    struct ref_lattice l;
    lattice *lat;
    double complex *u;
    field *links;
    struct ref_wilson ref;
    schur_form form;
    parity p;
    double mass, mu;
    struct ref_anisotropy k; /* xi_0 = 0: isotropic, and c_T is c_sw */
    wilson *w;
} scene;

/* The oracle on these links, which it keeps. */
static void open_reference(scene *s, const double complex *u)
{
    if (s->k.xi_0 == 0) ref_wilson_create(&s->ref, s->l, u, s->mass, s->k.c_T, s->lat->time_sign);
    else ref_wilson_create_anisotropic(&s->ref, s->l, u, s->mass, &s->k, s->lat->time_sign);
    if (s->mu != 0) ref_wilson_twist(&s->ref, s->mu);
}

static wilson *open_operator(const scene *s, field_kind storage)
{
    wilson_settings set = {.mass = s->mass, .mu = s->mu, .form = s->form, .p = s->p, .storage = storage};
    if (s->k.xi_0 == 0) set.c_sw = s->k.c_T;
    else set.anisotropy = (wilson_anisotropy){s->k.xi_0, s->k.nu, s->k.c_R, s->k.c_T};
    return wilson_create(s->links, &set);
}

static enum ref_kind kind_of(const scene *s)
{
    return s->form == SCHUR_SYMMETRIC ? REF_SYMMETRIC : REF_ASYMMETRIC;
}

static void ref_apply(double complex *out, const double complex *in, const scene *s, int dagger)
{
    ref_kind_apply(out, in, &s->ref, kind_of(s), s->p, dagger);
}

static field *random_vector(const lattice *lat, precision prec, parity p, int nrhs, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double *numbers = kit_normals((size_t)lat->volume * 24 * (size_t)nrhs, &rng);
    field *f = kit_field(lat, FIELD_SPINOR, prec, p, nrhs, numbers);
    free(numbers);
    return f;
}

/* ---- apply ---- */

static void check_apply(const scene *s)
{
    /* Relative to the largest number: a fixed-point step for the input of each of two hops and for the output, and the
     * same for the stored links and clover terms; the sums over neighbours are of random signs. */
    static const double allowed[PREC_COUNT] = {2e-14, 5e-6, 1e-3, 0.25};
    const size_t v = ref_volume(s->l);
    double complex *want = ref_spinor_new(s->l);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        linop *op = linop_at(wilson_schur(s->w), (precision)prec, kit_place);
        KIT_CHECK(op->prec == (precision)prec && op->par == s->p);
        KIT_CHECK(linop_at(wilson_schur(s->w), (precision)prec, kit_place) == op);
        for (int nrhs = 1; nrhs <= 2; nrhs++) {
            field *x = random_vector(s->lat, (precision)prec, s->p, nrhs, 51), *y = linop_vector(op, nrhs);
            for (int dagger = 0; dagger < 2; dagger++) {
                linop_apply(op, y, x, dagger);
                const int r = nrhs - 1;
                double complex *in = kit_spinor(x, r), *have = kit_spinor(y, r);
                if ((prec + dagger) % comm_size() == comm_rank()) {
                    ref_apply(want, in, s, dagger);
                    KIT_NEAR(kit_distance(have, want, 24 * v) / kit_largest(want, 24 * v), 0, allowed[prec]);
                }
                free(have);
                free(in);
            }
            field_destroy(x);
            field_destroy(y);
        }
    }
    free(want);
}

static void check_adjoint(const scene *s)
{
    linop *op = wilson_schur(s->w), *normal = normal_create(op);
    field *x = random_vector(s->lat, PREC_DOUBLE, s->p, 1, 52), *y = random_vector(s->lat, PREC_DOUBLE, s->p, 1, 53);
    field *a = linop_vector(op, 1), *b = linop_vector(op, 1);
    double one[2], two[2];
    linop_apply(op, a, x, 0);
    linop_apply(op, b, y, 1);
    vector_dot(one, y, a, 0);
    vector_dot(two, b, x, 0);
    const double size = sqrt(vector_norm2(a, 0) * vector_norm2(y, 0)), a2 = vector_norm2(a, 0);
    KIT_NEAR(one[0], two[0], 1e-14 * size);
    KIT_NEAR(one[1], two[1], 1e-14 * size);
    /* (x, N x) = |A x|^2; (y, N x) = (N y, x) */
    linop_apply(normal, b, x, 0);
    vector_dot(one, x, b, 0);
    KIT_REL(one[0], a2, 1e-13);
    KIT_NEAR(one[1], 0, 1e-14 * a2);
    vector_dot(one, y, b, 0);
    linop_apply(normal, b, y, 0);
    vector_dot(two, b, x, 0);
    KIT_NEAR(one[0], two[0], 1e-13 * a2);
    KIT_NEAR(one[1], two[1], 1e-13 * a2);
    /* The same operator twice removed is the normal operator of the lower precision. */
    field *low = kit_convert(x, FIELD_SPINOR, PREC_SINGLE), *out = field_like(low);
    linop_apply(linop_at(normal, PREC_SINGLE, kit_place), out, low, 0);
    linop_apply(normal, b, x, 0);
    vector_copy(a, out);
    const double norm2 = vector_norm2(b, 0);
    KIT_NEAR(sqrt(vector_axpy_norm2(a, -1, b, 0) / norm2), 0, 5e-6);
    linop_destroy(normal);
    field_destroy(low);
    field_destroy(out);
    field_destroy(x);
    field_destroy(y);
    field_destroy(a);
    field_destroy(b);
}

/* M(-mu) = gamma_5 M(mu)^dagger gamma_5: the other flavour of a doublet. */
static void check_doublet(const scene *s)
{
    const size_t v = ref_volume(s->l);
    scene other = *s;
    other.mu = -s->mu;
    other.w = open_operator(&other, FIELD_LINKS);
    field *x = random_vector(s->lat, PREC_DOUBLE, PARITY_BOTH, 1, 49), *y = field_like(x);
    double complex *in = kit_spinor(x, 0), *want;
    wilson_apply(other.w, y, x, 0);
    want = kit_spinor(y, 0);
    ref_apply_gamma5(in, v);
    kit_scatter(x, in);
    wilson_apply(s->w, y, x, 1);
    double complex *have = kit_spinor(y, 0);
    ref_apply_gamma5(have, v);
    KIT_NEAR(kit_distance(have, want, 24 * v), 0, 1e-14 * kit_largest(want, 24 * v));
    free(have);
    free(want);
    free(in);
    field_destroy(x);
    field_destroy(y);
    wilson_destroy(other.w);
}

/* ---- the whole system ---- */

static void check_system(const scene *s)
{
    const size_t v = ref_volume(s->l);
    linop *op = wilson_schur(s->w), *normal = normal_create(op);
    field *b = random_vector(s->lat, PREC_DOUBLE, PARITY_BOTH, 1, 54), *x = field_like(b), *y = field_like(b);
    field *source = linop_vector(op, 1), *t = linop_vector(op, 1), *z = linop_vector(op, 1);
    wilson_prepare(s->w, source, b);
    linop_apply(op, t, source, 1);
    const solver_settings cg = {.type = param_kind(solver_section(0), "cg"),
                                .tolerance = 1e-13,
                                .max_iterations = 2000,
                                .inner_precision = PREC_DOUBLE};
    const solve_result r = solve_by(&cg, normal, z, t);
    KIT_CHECK(r.status == SOLVE_CONVERGED || r.status == SOLVE_STALLED);
    wilson_reconstruct(s->w, x, z, b);
    double complex *solution = kit_spinor(x, 0), *rhs = kit_spinor(b, 0), *back = ref_spinor_new(s->l);
    ref_wilson_apply(back, solution, &s->ref, 0);
    KIT_NEAR(kit_distance(back, rhs, 24 * v), 0, 1e-10 * kit_largest(rhs, 24 * v));
    /* M itself */
    wilson_apply(s->w, y, x, 0);
    double complex *have = kit_spinor(y, 0);
    KIT_NEAR(kit_distance(have, back, 24 * v), 0, 2e-14 * kit_largest(solution, 24 * v) * 20);
    wilson_apply(s->w, y, b, 0);
    free(have);
    have = kit_spinor(y, 0);
    ref_wilson_apply(back, rhs, &s->ref, 0);
    KIT_NEAR(kit_distance(have, back, 24 * v), 0, 2e-14 * kit_largest(back, 24 * v));
    free(have);
    free(back);
    free(rhs);
    free(solution);
    linop_destroy(normal);
    field_destroy(b);
    field_destroy(x);
    field_destroy(y);
    field_destroy(source);
    field_destroy(t);
    field_destroy(z);
}

static void check_log_det(const scene *s)
{
    double negatives;
    const double have = wilson_log_det(s->w, &negatives);
    KIT_REL(have, ref_log_det_diagonal(&s->ref, s->form == SCHUR_SYMMETRIC ? REF_BOTH : !s->p), 1e-13);
    KIT_NEAR(negatives, 0, 0);
}

/* ---- forces ---- */

struct bilinear {
    const scene *s;
    const double complex *x, *y; /* S = -2 Re y^dagger Mhat x, and */
    double weight;               /* -weight log det A */
};

static double bilinear_value(const double complex *u, void *ctx)
{
    const struct bilinear *b = ctx;
    const scene *s = b->s;
    scene moved = *s;
    double complex *out = ref_spinor_new(s->l);
    open_reference(&moved, u);
    ref_apply(out, b->x, &moved, 0);
    double sum = b->y ? -2 * creal(ref_dot(b->y, out, 12 * ref_volume(s->l))) : 0;
    if (b->weight != 0)
        sum -= b->weight * ref_log_det_diagonal(&moved.ref, s->form == SCHUR_SYMMETRIC ? REF_BOTH : !s->p);
    ref_wilson_destroy(&moved.ref);
    free(out);
    return sum;
}

/* For any X and Y, in two terms of one sum. */
static void check_force(const scene *s)
{
    static int turn;
    const size_t n = 4 * ref_volume(s->l);
    struct ref_rng rng;
    ref_rng_seed(&rng, 55);
    field *x = random_vector(s->lat, PREC_DOUBLE, s->p, 1, 56), *y = random_vector(s->lat, PREC_DOUBLE, s->p, 1, 57);
    field *mx = field_like(x);
    linop_apply(wilson_schur(s->w), mx, x, 0);
    double complex *psi = kit_spinor(x, 0), *chi = kit_spinor(y, 0);
    double *p = kit_normals(8 * n, &rng);
    for (int k = 0; k < 2; k++) {
        field *force = field_create(s->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
        struct bilinear b = {s, psi, k ? NULL : chi, k ? 2 : 0};
        wilson_force sum = wilson_force_open(force, force, s->links);
        if (k) wilson_force_add_log_det(&sum, s->w, 2);
        else wilson_force_add(&sum, s->w, 1.5, x, y, mx);
        if (!k) wilson_force_add(&sum, s->w, -0.5, x, y, mx);
        wilson_force_close(&sum);
        double *f = kit_gather(force);
        if (turn++ % comm_size() == comm_rank()) {
            double error, slope = kit_derivative_along(&error, s->u, p, 8e-3, n, bilinear_value, &b);
            KIT_NEAR(kit_along(f, p, n), slope, error);
            KIT_CHECK(s->k.c_T == 0 || error < 1e-4 * sqrt(kit_along(f, f, n) * kit_along(p, p, n) / (double)n));
        }
        free(f);
        field_destroy(force);
    }
    free(p);
    free(chi);
    free(psi);
    field_destroy(mx);
    field_destroy(x);
    field_destroy(y);
}

/* ---- all forms ---- */

static void open_scene(scene *s, struct ref_lattice l, int time_sign, struct ref_rng *rng)
{
    s->l = l;
    s->lat = kit_lattice(l, 1, time_sign);
    s->u = kit_random_gauge(l, 0.5, rng);
    s->links = kit_links(s->lat, s->u);
}

static void close_scene(scene *s)
{
    field_destroy(s->links);
    free(s->u);
    lattice_destroy(s->lat);
}

static void check_all(scene *s, int full)
{
    const field_kind storage = (int)s->form == (int)s->p ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
    s->w = open_operator(s, storage);
    check_apply(s);
    check_adjoint(s);
    check_log_det(s);
    if (full) check_system(s);
    if (full) check_doublet(s);
    /* Other links: everything follows, in all precisions. */
    double complex *before = s->u;
    struct ref_wilson ref = s->ref;
    struct ref_rng rng;
    ref_rng_seed(&rng, 58);
    s->u = kit_random_gauge(s->l, 0.4, &rng);
    kit_scatter(s->links, s->u);
    open_reference(s, s->u);
    strncat(kit_case, ", new links", sizeof kit_case - strlen(kit_case) - 1);
    check_apply(s);
    check_log_det(s);
    if (full && (int)s->form == (int)s->p) check_force(s);
    ref_wilson_destroy(&s->ref);
    free(s->u);
    s->u = before;
    s->ref = ref;
    kit_scatter(s->links, s->u);
    wilson_destroy(s->w);
}

static void test_forms(struct ref_lattice l, int time_sign, double mu, int full)
{
    static const struct ref_anisotropy coefficients[] = {{0}, {.c_T = 1.3}, {2.5, 0.9, 1.4, 0.7}, {0.8, 1.3, 0, 0}};
    scene s = {0};
    int grid[4];
    if (!lattice_choose_grid(l.size, comm_size(), grid)) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 50);
    open_scene(&s, l, time_sign, &rng);
    s.mass = 0.07;
    s.mu = mu;
    for (int c = 0; c < (full ? 4 : 3); c++) {
        s.k = coefficients[c];
        open_reference(&s, s.u);
        for (int form = 0; form < 2; form++)
            for (int p = 0; p < 2; p++) {
                if (!full && p == (form ^ (c % 2))) continue;
                s.form = (schur_form)form;
                s.p = (parity)p;
                kit_where("%d.%d.%d.%d, time sign %d, xi_0 %g, c_T %g, mu %g, %s, parity %d", l.size[0], l.size[1],
                          l.size[2], l.size[3], time_sign, s.k.xi_0, s.k.c_T, mu,
                          form == SCHUR_SYMMETRIC ? "symmetric" : "asymmetric", p);
                check_all(&s, full);
            }
        ref_wilson_destroy(&s.ref);
    }
    close_scene(&s);
}

/* ---- determinants by dense algebra ---- */

static void dense_schur(double complex *out, const double complex *in, void *ctx)
{
    scene *s = ctx;
    const size_t v = ref_volume(s->l);
    linop *op = wilson_schur(s->w);
    field *x = linop_vector(op, 1), *y = linop_vector(op, 1);
    double complex *full = ref_spinor_new(s->l);
    size_t k = 0;
    for (size_t i = 0; i < v; i++)
        if (ref_parity(s->l, i) == (int)s->p) memcpy(full + 12 * i, in + 12 * k++, 12 * sizeof *full);
    kit_scatter(x, full);
    linop_apply(op, y, x, 0);
    double complex *result = kit_spinor(y, 0);
    k = 0;
    for (size_t i = 0; i < v; i++)
        if (ref_parity(s->l, i) == (int)s->p) memcpy(out + 12 * k++, result + 12 * i, 12 * sizeof *full);
    free(result);
    free(full);
    field_destroy(x);
    field_destroy(y);
}

static void dense_full(double complex *out, const double complex *in, void *ctx)
{
    const scene *s = ctx;
    ref_wilson_apply(out, in, &s->ref, 0);
}

static void test_determinant(struct ref_anisotropy coefficients, double mu)
{
    const struct ref_lattice l = {{2, 2, 2, 4}};
    int grid[4];
    if (!lattice_choose_grid(l.size, comm_size(), grid)) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 59);
    scene s = {0};
    open_scene(&s, l, -1, &rng);
    s.mass = 0.2;
    s.k = coefficients;
    s.mu = mu;
    open_reference(&s, s.u);
    const int n = 12 * 32;
    double complex *a = kit_alloc((size_t)n * (size_t)n, sizeof *a);
    ref_dense(a, n, dense_full, &s);
    const double whole = creal(ref_log_det(n, a));
    for (int form = 0; form < 2; form++) {
        double negatives;
        s.form = (schur_form)form;
        s.p = (parity)form;
        s.w = open_operator(&s, FIELD_LINKS);
        ref_dense(a, n / 2, dense_schur, &s);
        kit_where("log det M, form %d, xi_0 %g, c_T %g, mu %g", form, s.k.xi_0, s.k.c_T, mu);
        KIT_REL(wilson_log_det(s.w, &negatives) + creal(ref_log_det(n / 2, a)), whole, 1e-12);
        wilson_destroy(s.w);
    }
    free(a);
    ref_wilson_destroy(&s.ref);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    const struct ref_anisotropy c_sw = {.c_T = 1.1}, none = {0}, xi = {3.1, 1.2, 1.5, 0.9};
    test_determinant(c_sw, 0);
    test_determinant(c_sw, 0.4);
    test_determinant(none, -0.6);
    test_determinant(xi, 0);
    test_determinant(xi, 0.4);
    test_forms(kit_shapes[0], -1, 0, 1);
    test_forms(kit_shapes[1], 1, 0, 0);
    test_forms(kit_shapes[2], 1, 0, 0);
    test_forms(kit_shapes[0], -1, 0.3, 1);
    test_forms(kit_shapes[1], 1, -0.2, 0);
    return kit_end();
}
