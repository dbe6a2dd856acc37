/* First guesses: exact where the solution lies in the span, never farther in the norm of A than zero and any vector
 * kept, indifferent to vectors that repeat, zero without vectors and for operators that are not positive; a smooth
 * sequence of solves takes fewer iterations the more solutions are kept; the same bits on every process grid. */
#include "tests/kernels/kit.h"
#include "tests/solve.h"

#include "hmc/actions/predictor.h"
#include "kernels/ops/vector.h"
#include "operators/wilson.h"
#include "solvers/solver.h"

typedef struct {
    lattice *lat;
    field *links;
    wilson *w;
    linop *normal;
} scene;

static void open_scene(scene *s, struct ref_lattice l, const int grid[4])
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 81);
    s->lat = lattice_create(l.size, grid, 1, -1);
    double complex *u = kit_random_gauge(l, 0.35, &rng);
    s->links = kit_links(s->lat, u);
    free(u);
    s->w = wilson_create(
        s->links, &(wilson_settings){
                      .mass = 0.05, .c_sw = 1, .form = SCHUR_ASYMMETRIC, .p = PARITY_EVEN, .storage = FIELD_LINKS});
    s->normal = normal_create(wilson_schur(s->w));
}

static void close_scene(scene *s)
{
    linop_destroy(s->normal);
    wilson_destroy(s->w);
    field_destroy(s->links);
    lattice_destroy(s->lat);
}

static field *random_vector(const scene *s, uint64_t seed)
{
    field *f = linop_vector(s->normal, 1);
    vector_random(f, seed, 1, 1);
    return f;
}

/* |x - A^-1 b|_A^2 up to a constant. */
static double distance2(const scene *s, const field *x, const field *b)
{
    field *y = field_like(x);
    double xax[2], xb[2];
    linop_apply(s->normal, y, x, 0);
    vector_dot(xax, x, y, 0);
    vector_dot(xb, x, b, 0);
    field_destroy(y);
    return xax[0] - 2 * xb[0];
}

/* x = 2 v0 - 0.5 v1 + 3 v2 and b = A x, with some vectors twice and a multiple among those kept. */
static void test_exact(const scene *s)
{
    predictor *p = predictor_create(6);
    field *v[3], *x = linop_vector(s->normal, 1), *b = field_like(x), *guess = field_like(x);
    const double factors[3] = {2, -0.5, 3};
    for (int i = 0; i < 3; i++) {
        v[i] = random_vector(s, 91 + (uint64_t)i);
        vector_axpby(x, factors[i], v[i], 1);
        predictor_keep(p, v[i]);
    }
    linop_apply(s->normal, b, x, 0);
    KIT_INT(predictor_guess(p, s->normal, guess, b), 3);
    const double x2 = vector_norm2(x, 0);
    KIT_NEAR(sqrt(vector_axpy_norm2(guess, -1, x, 0) / x2), 0, 1e-12);
    predictor_keep(p, v[1]);
    vector_axpby(v[0], 0, v[0], -7);
    predictor_keep(p, v[0]);
    KIT_INT(predictor_guess(p, s->normal, guess, b), 3);
    KIT_NEAR(sqrt(vector_axpy_norm2(guess, -1, x, 0) / x2), 0, 1e-12);
    predictor_forget(p);
    KIT_INT(predictor_guess(p, s->normal, guess, b), 0);
    KIT_NEAR(vector_norm2(guess, 0), 0, 0);
    for (int i = 0; i < 3; i++) field_destroy(v[i]);
    field_destroy(guess);
    field_destroy(b);
    field_destroy(x);
    predictor_destroy(p);
}

static void test_best(const scene *s)
{
    enum { KEPT = 4 };
    predictor *p = predictor_create(KEPT), *none = predictor_create(0);
    field *b = random_vector(s, 95), *x = field_like(b), *v[KEPT + 2];
    double before = 0;
    for (int i = 0; i < KEPT + 2; i++) {
        v[i] = random_vector(s, 96 + (uint64_t)i);
        predictor_keep(p, v[i]);
        predictor_keep(none, v[i]);
        KIT_INT(predictor_guess(p, s->normal, x, b), i < KEPT ? i + 1 : KEPT);
        const double d = distance2(s, x, b);
        KIT_CHECK(d < 0); /* better than zero */
        for (int j = i < KEPT ? 0 : i - KEPT + 1; j <= i; j++) KIT_CHECK(d < distance2(s, v[j], b));
        /* One more vector makes it better, until one gives way. */
        if (i < KEPT) KIT_CHECK(d < before);
        before = d;
    }
    KIT_INT(predictor_guess(none, s->normal, x, b), 0);
    KIT_NEAR(vector_norm2(x, 0), 0, 0);
    /* A vector that is none is left out. */
    field *bad = field_like(b);
    vector_axpby(bad, NAN, b, 0);
    predictor_keep(p, bad);
    KIT_INT(predictor_guess(p, s->normal, x, b), KEPT - 1);
    KIT_CHECK(distance2(s, x, b) < 0);
    field_destroy(bad);
    /* An operator that is not positive: with a mass of -8 the Schur complement is -4 + ... */
    wilson *w = wilson_create(
        s->links,
        &(wilson_settings){.mass = -8, .c_sw = 0, .form = SCHUR_ASYMMETRIC, .p = PARITY_EVEN, .storage = FIELD_LINKS});
    predictor_guess(p, wilson_schur(w), x, b);
    KIT_NEAR(vector_norm2(x, 0), 0, 0);
    wilson_destroy(w);
    for (int i = 0; i < KEPT + 2; i++) field_destroy(v[i]);
    field_destroy(b);
    field_destroy(x);
    predictor_destroy(none);
    predictor_destroy(p);
}

/* b(t) = b0 cos t + b1 sin t + b2 exp(-t), with t in small steps. */
static int iterations_of(const scene *s, int kept)
{
    predictor *p = predictor_create(kept);
    field *b[3], *source = linop_vector(s->normal, 1), *x = field_like(source);
    const solver_settings set = {.type = param_kind(solver_section(0), "cg"),
                                 .inner_precision = PREC_DOUBLE,
                                 .tolerance = 1e-9,
                                 .max_iterations = 5000};
    int total = 0;
    for (int i = 0; i < 3; i++) b[i] = random_vector(s, 101 + (uint64_t)i);
    for (int step = 0; step < 12; step++) {
        const double t = 0.05 * step;
        vector_axpby(source, cos(t), b[0], 0);
        vector_axpby(source, sin(t), b[1], 1);
        vector_axpby(source, exp(-t), b[2], 1);
        predictor_guess(p, s->normal, x, source);
        const solve_result r = solve_by(&set, s->normal, x, source);
        KIT_INT(r.status, SOLVE_CONVERGED);
        if (step >= 4) total += r.iterations;
        predictor_keep(p, x);
    }
    for (int i = 0; i < 3; i++) field_destroy(b[i]);
    field_destroy(x);
    field_destroy(source);
    predictor_destroy(p);
    return total;
}

static void test_sequence(const scene *s)
{
    int last = iterations_of(s, 0);
    printf("iterations of 8 solves: %d without a guess", last);
    for (int kept = 1; kept <= 3; kept++) {
        const int n = iterations_of(s, kept);
        printf(", %d from %d", n, kept);
        KIT_CHECK(n < last);
        last = n;
    }
    printf("\n");
    /* Three sources span the sequence: nothing is left to be done but what the tolerance leaves. */
    KIT_CHECK(last <= 8 * 3);
}

/* The bits of a guess are those of every other grid. */
static double sum_of_guess(const scene *s)
{
    predictor *p = predictor_create(3);
    field *b = random_vector(s, 95), *x = field_like(b);
    for (int i = 0; i < 3; i++) {
        field *v = random_vector(s, 96 + (uint64_t)i);
        predictor_keep(p, v);
        field_destroy(v);
    }
    predictor_guess(p, s->normal, x, b);
    const double sum = vector_norm2(x, 0);
    field_destroy(b);
    field_destroy(x);
    predictor_destroy(p);
    return sum;
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    int grids[16][4];
    double sum = 0;
    const int n = kit_grids(kit_shapes[0], grids, 16);
    for (int g = 0; g < n; g++) {
        scene s;
        kit_where("grid %d.%d.%d.%d", grids[g][0], grids[g][1], grids[g][2], grids[g][3]);
        open_scene(&s, kit_shapes[0], grids[g]);
        if (g == 0) {
            test_exact(&s);
            test_best(&s);
            test_sequence(&s);
            sum = sum_of_guess(&s);
        }
        KIT_NEAR(sum_of_guess(&s), sum, 0);
        close_scene(&s);
    }
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
