/* Weights between ensembles of two masses, or twisted masses.
 *
 * Theorems: on a lattice of 32 sites log W is the difference of the logarithms of dense determinants, within the error from the noise,
 * of two flavours and of one, in mass, and of the doublet in the twisted mass, to zero too; the error is what the scatter of
 * exponents makes it; more steps have less noise; the way there and back is none; without a change the weight is one. What has no
 * weight is named. */
#include "tests/hmc/inverse.h"

static double log_det(const quark_params *f, const scene *s)
{
    fermion *q = quark_kind_of(f)->make(s->links, f, NULL, 0);
    const size_t n = (size_t)s->n;
    gsl_matrix_complex *m = dense(q, n);
    gsl_permutation *order = gsl_permutation_alloc(n);
    int sign;
    gsl_linalg_complex_LU_decomp(m, order, &sign);
    const double value = gsl_linalg_complex_LU_lndet(m);
    gsl_permutation_free(order);
    gsl_matrix_complex_free(m);
    fermion_destroy(q);
    return value;
}

static double *twisted_mass(quark_params *f)
{
    return quark_key(f, "mu");
}

typedef struct {
    double weight, error;
} found;

static found weight_of(const scene *s, const char *key, const char *to, const char *flavours, const char *steps)
{
    const measure_context c = {s->p, s->links, NULL, NULL, -1, NULL};
    named_measure m = s->m;
    observe_set(&m, "to_mass", "same");
    observe_set(&m, key, to);
    observe_set(&m, "flavours", flavours);
    observe_set(&m, "steps", steps);
    measure_result r = measure(&c, &m);
    KIT_INT(r.failed, 0);
    KIT_INT(r.nrows, atoi(steps) * 64);
    const found w = {measure_value(&r, -1, "log_weight"), measure_value(&r, -1, "log_weight_error")};
    measure_result_free(&r);
    return w;
}

static void check_weight(found w, double exact, double largest_error)
{
    KIT_CHECK(w.error > 0 && w.error < largest_error);
    KIT_NEAR(w.weight, exact, 4.5 * w.error);
}

static void test_mass(const char *kind)
{
    scene s = {0};
    open_scene(&s, kind, 0.5, "reweighting", "64");
    quark_params *f = &s.p->quarks[0].p, other;
    wilson_keys_of(f)->c_sw = 1.2;
    const int twisted = !strcmp(kind, "twisted_mass");
    if (twisted) *twisted_mass(f) = 0.3;
    other = *f;
    other.mass = 0.4;
    const double change = log_det(&other, &s) - log_det(f, &s);
    kit_where("%s, mass", kind);
    KIT_CHECK(fabs(change) > 3);
    const found one_step = weight_of(&s, "to_mass", "0.4", "2", "1"), four = weight_of(&s, "to_mass", "0.4", "2", "4");
    check_weight(one_step, 2 * change, 1);
    check_weight(four, 2 * change, 0.6 * one_step.error);
    if (!twisted) check_weight(weight_of(&s, "to_mass", "0.4", "1", "2"), change, 0.5);
    char kappa[32];
    snprintf(kappa, sizeof kappa, "%.17g", 1 / (2 * 0.4 + 8));
    const found same = weight_of(&s, "to_kappa", kappa, "2", "1");
    KIT_NEAR(same.weight, one_step.weight, 1e-9);
    const found none = weight_of(&s, "to_mass", "0.5", "2", "3");
    KIT_NEAR(none.weight, 0, 1e-14);
    KIT_NEAR(none.error, 0, 1e-14);
    *f = other;
    check_weight(weight_of(&s, "to_mass", "0.5", "2", "4"), -2 * change, 1);
    close_scene(&s);
}

static void test_twist(void)
{
    scene s = {0};
    open_scene(&s, "twisted_mass", 0.3, "reweighting", "64");
    quark_params *f = &s.p->quarks[0].p, other;
    wilson_keys_of(f)->c_sw = 0.7;
    *twisted_mass(f) = -0.4;
    other = *f;
    for (int zero = 0; zero < 2; zero++) {
        *twisted_mass(&other) = zero ? 0 : 0.25;
        const double change = log_det(&other, &s) - log_det(f, &s);
        const char *to = zero ? "0" : "0.25";
        kit_where("twisted mass to %s", to);
        check_weight(weight_of(&s, "to_mu", to, "2", "1"), 2 * change, 0.1);
        check_weight(weight_of(&s, "to_mu", to, "2", "3"), 2 * change, 0.1);
    }
    close_scene(&s);
}

static const char *fault(const parameters *p, const char *key, const char *to, const char *other, const char *flavours,
                         char *message)
{
    named_measure m = observe_section("reweighting");
    observe_set(&m, "to_mass", "same");
    if (key[0]) observe_set(&m, key, to);
    if (other[0]) observe_set(&m, other, to);
    observe_set(&m, "flavours", flavours);
    const char *at = observable_number(param_kind(observable_section(0), "reweighting"))->check(p, &m, message, 512);
    return at ? at : "fits";
}

static void test_refusals(void)
{
    char message[512];
    const parameters *p = observe_parameters("wilson_clover", 0.1);
    CHECK_STR(fault(p, "to_mass", "0.2", "", "1", message), "fits");
    CHECK_STR(fault(p, "", "", "", "2", message), "");
    CHECK_HAS(message, "needs one of to_mass, to_kappa and to_mu, and has none");
    CHECK_STR(fault(p, "to_mass", "0.2", "to_kappa", "2", message), "to_mass");
    CHECK_HAS(message, "and has more");
    CHECK_STR(fault(p, "to_mu", "0", "", "2", message), "to_mu");
    CHECK_HAS(message, "is for a quark of kind = twisted_mass");
    p = observe_parameters("twisted_mass", 0.1);
    CHECK_STR(fault(p, "to_mu", "0", "", "2", message), "fits");
    CHECK_STR(fault(p, "to_mass", "0.2", "", "1", message), "flavours");
    p = observe_parameters("mobius", 0.1);
    CHECK_STR(fault(p, "to_mass", "0.2", "", "2", message), "quark");
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_mass("wilson_clover");
    test_mass("twisted_mass");
    test_twist();
    test_refusals();
    return kit_end();
}
