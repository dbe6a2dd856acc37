/* Quark loops against the dense inverse of M on 2^3 x 4. With all Hadamard vectors of probing, which give every site of this
 * lattice a colour of its own, and dilution of colours and spins, one noise vector has no noise left: every loop is exact. With
 * plain noise the mean agrees within its error. */
#include "tests/hmc/inverse.h"

#include "tests/reference/reference.h"

static double complex element(const scene *s, int i, int j)
{
    const gsl_complex m = at(s->A, i, j);
    return GSL_REAL(m) + I * GSL_IMAG(m);
}

/* tr Gamma_n M^-1(x, x) */
static double complex spin_density(const scene *s, int n, int site)
{
    double complex sum = 0, gamma[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int mu = 0; mu < 4; mu++) {
        double complex product[4][4] = {{0}};
        if (!(n >> mu & 1)) continue;
        for (int i = 0; i < 64; i++)
            product[i / 16][i % 4] += gamma[i / 16][i / 4 % 4] * ref_gamma[mu][i / 4 % 4][i % 4];
        memcpy(gamma, product, sizeof gamma);
    }
    for (int a = 0; a < 16; a++)
        for (int c = 0; c < 3; c++)
            sum += gamma[a / 4][a % 4] * element(s, 12 * site + 3 * (a % 4) + c, 12 * site + 3 * (a / 4) + c);
    return sum;
}

/* The same of the scalar, and of the current of one link along mu, of staggered quarks. */
static double complex link_density(const scene *s, int n, int site)
{
    double complex sum = 0;
    for (int c = 0; c < 3; c++) {
        if (!n) sum += element(s, 3 * site + c, 3 * site + c);
        for (int mu = 0; mu < 4; mu++)
            for (int k = 0; n == 1 << mu && k < 6; k++) {
                const int forward = k % 2, b = k / 2;
                const size_t other = ref_shift(shape, (size_t)site, mu, forward ? 1 : -1),
                             from = forward ? (size_t)site : other;
                const double complex *u = s->u + (from * 4 + (size_t)mu) * 9;
                sum += 0.5 * ref_staggered_sign(shape, from, mu, 1, -1) *
                       (forward ? u[3 * c + b] : conj(u[3 * b + c])) * element(s, (int)other * 3 + b, 3 * site + c);
            }
    }
    return sum;
}

/* L of operator n at this momentum and time. */
static double complex exact_loop(const scene *s, int n, const int p[3], int t)
{
    double complex sum = 0;
    for (int site = 0; site < SITES; site++) {
        int x[4];
        double complex phase = 1;
        ref_coordinates(x, shape, (size_t)site);
        if (x[3] != t) continue;
        for (int d = 0; d < 3; d++) phase *= cexp(-2 * M_PI * I * p[d] * x[d] / shape.size[d]);
        sum += phase * (s->n == 3 * SITES ? link_density(s, n, site) : spin_density(s, n, site));
    }
    return sum;
}

static measure_result measured(const scene *s)
{
    const measure_context c = {s->p, s->links, NULL, NULL, -1, NULL};
    measure_result r = measure(&c, &s->m);
    KIT_INT(r.failed, 0);
    if (r.failed) printf("%s\n", r.trouble);
    return r;
}

/* Rows against exact loops: within `errors` errors of each, and `rounding`. */
static void check_rows(const scene *s, int operators, double errors, double rounding)
{
    measure_result r = measured(s);
    double largest = 0;
    KIT_INT(r.nrows, operators * 7 * 4);
    for (long i = 0; i < r.nrows; i++) {
        const int n = (int)measure_value(&r, i, "operator"), t = (int)measure_value(&r, i, "t");
        const int p[3] = {(int)measure_value(&r, i, "nx"), (int)measure_value(&r, i, "ny"),
                          (int)measure_value(&r, i, "nz")};
        const double complex exact = exact_loop(s, n, p, t);
        const double re = errors > 0 ? errors * measure_value(&r, i, "real_error") : 0,
                     im = errors > 0 ? errors * measure_value(&r, i, "imaginary_error") : 0;
        KIT_INT((int)measure_value(&r, i, "vector"), -1);
        KIT_NEAR(measure_value(&r, i, "real"), creal(exact), re + rounding);
        KIT_NEAR(measure_value(&r, i, "imaginary"), cimag(exact), im + rounding);
        largest = fmax(largest, cabs(exact));
    }
    KIT_CHECK(largest > 0.1);
    measure_result_free(&r);
}

static void test_loops(const char *kind, double mass, const char *operators, int number)
{
    scene s = {0};
    open_scene(&s, kind, mass, "disconnected", "1");
    const int spins = s.n / SITES / 3;
    observe_set(&s.m, "operators", operators);
    observe_set(&s.m, "momentum2", "1");
    observe_set(&s.m, "probing", "32");
    observe_set(&s.m, "by_colour", "yes");
    if (spins == 4) observe_set(&s.m, "by_spin", "yes");
    kit_where("%s, all parts", kind);
    check_rows(&s, number, 0, 1e-8);
    if (spins == 1) {
        kit_where("%s, fat links, which are thin ones of naive quarks", kind);
        observe_set(&s.m, "transport", "fat");
        check_rows(&s, number, 0, 1e-8);
    }
    kit_where("%s, probing with 2 vectors", kind);
    observe_set(&s.m, "probing", "2");
    observe_set(&s.m, "by_colour", "no");
    if (spins == 4) observe_set(&s.m, "by_spin", "no");
    observe_set(&s.m, "vectors", "40");
    check_rows(&s, number, 6.5, 1e-8);
    close_scene(&s);
}

/* Rows of each vector have the mean as theirs, and that is all. */
static void test_each_vector(void)
{
    scene s = {0};
    open_scene(&s, "staggered", 0.2, "disconnected", "5");
    observe_set(&s.m, "each_vector", "yes");
    kit_where("rows of each vector");
    measure_result r = measured(&s);
    KIT_INT(r.nrows, 6 * 4 * 4);
    for (int i = 0; i < 16; i++) {
        double sum = 0;
        for (int v = 0; v < 5; v++) {
            KIT_INT((int)measure_value(&r, 16 * (v + 1) + i, "vector"), v);
            sum += measure_value(&r, 16 * (v + 1) + i, "imaginary") / 5;
        }
        KIT_NEAR(measure_value(&r, i, "imaginary"), sum, 1e-13);
    }
    measure_result_free(&r);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_loops("staggered", 0.2, "scalar vector", 5);
    test_loops("wilson_clover", 0.3, "scalar pseudoscalar vector axial tensor", 16);
    test_each_vector();
    return kit_end();
}
