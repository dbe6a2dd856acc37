/* The Naik term of heavy staggered quarks by the dispersion of a free quark, F(E)^2 = m^2 + f(p)^2 with f = sin p + a sin^3
 * p, F = sinh E - a sinh^3 E, a = (1 + epsilon) / 6: with the exact epsilon rest mass and kinetic mass agree at all masses,
 * and the series differs from it by a term in m^10. */
#include <math.h>

#include "hmc/quarks/quark_staggered.h"
#include "tests/check.h"

/* E of momentum p along one axis, below the E at which F is largest. */
static double energy(double m, double epsilon, double p)
{
    const double a = (1 + epsilon) / 6, f = sin(p) + a * pow(sin(p), 3), want = hypot(m, f);
    double low = 0, high = asinh(1 / sqrt(3 * a));
    for (int i = 0; i < 200; i++) {
        const double E = 0.5 * (low + high), S = sinh(E);
        if (S - a * S * S * S < want) low = E;
        else high = E;
    }
    return 0.5 * (low + high);
}

/* p^2 / 2 (E - M) at p -> 0. */
static double kinetic_mass(double m, double epsilon)
{
    const double M = energy(m, epsilon, 0), p = 0.1 * m;
    double k[3];
    for (int i = 0; i < 3; i++) {
        const double q = p / (1 << i);
        k[i] = q * q / (2 * (energy(m, epsilon, q) - M));
    }
    for (int i = 0; i < 2; i++) k[i] = (4 * k[i + 1] - k[i]) / 3;
    return (16 * k[1] - k[0]) / 15;
}

int main(void)
{
    static const double masses[] = {0.1, 0.286, 0.4313, 0.838, 1.2};
    for (size_t i = 0; i < sizeof masses / sizeof masses[0]; i++) {
        const double m = masses[i], epsilon = staggered_naik_exact(m), M = energy(m, epsilon, 0);
        CHECK_NEAR(kinetic_mass(m, epsilon) / M, 1, 1e-7);
        if (m < 1) CHECK(fabs(kinetic_mass(m, 0) / energy(m, 0, 0) - 1) > 0.3 * pow(m, 4));
        printf("mass %g: rest mass %.6f, epsilon %.6f, series %.6f\n", m, M, epsilon, staggered_naik_series(m));
    }
    const double at2 = staggered_naik_series(0.2) - staggered_naik_exact(0.2),
                 at4 = staggered_naik_series(0.4) - staggered_naik_exact(0.4);
    CHECK_NEAR(log2(at4 / at2), 10, 0.3);
    /* Light quarks, whose rest mass the formula does not resolve. */
    CHECK_NEAR(staggered_naik_exact(0.001), staggered_naik_series(0.001), 1e-12);
    CHECK_NEAR(staggered_naik_exact(0.049), staggered_naik_exact(0.0501) * 0.049 * 0.049 / (0.0501 * 0.0501), 1e-5);
    return CHECK_SUMMARY();
}
