/* What the tests of the oracles share: distances, copies, and a gauge field that is known in closed form. */
#ifndef PLAQ_REFERENCE_KIT_H
#define PLAQ_REFERENCE_KIT_H

#include "tests/check.h"
#include "tests/reference/reference.h"

#include <stdlib.h>

static const double pi = 3.14159265358979323846;

CHECK_UNUSED static double distance(const double complex *a, const double complex *b, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) worst = fmax(worst, cabs(a[i] - b[i]));
    return worst;
}

CHECK_UNUSED static double complex *copy(const double complex *a, size_t n)
{
    double complex *b = malloc(n * sizeof *b);
    if (!b) abort();
    memcpy(b, a, n * sizeof *b);
    return b;
}

/* Abelian field of one flux quantum in the x-y and one in the z-t plane, times diag(1, -1, 0): every x-y plaquette is
 * exp(i phi_xy diag), every z-t plaquette exp(i phi_zt diag), phi = 2 pi/(area), the rest is 1. */
CHECK_UNUSED static void flux_gauge(double complex *u, struct ref_lattice l, double phi[2])
{
    ref_unit_gauge(u, l);
    for (int plane = 0; plane < 2; plane++) {
        int mu = 2 * plane, nu = mu + 1, lmu = l.size[mu], lnu = l.size[nu];
        phi[plane] = 2 * pi / (lmu * lnu);
        for (size_t site = 0; site < ref_volume(l); site++) {
            int x[4];
            ref_coordinates(x, l, site);
            double angle_mu = -phi[plane] * x[nu], angle_nu = x[nu] == lnu - 1 ? phi[plane] * lnu * x[mu] : 0;
            double complex *a = u + (site * 4 + mu) * 9, *b = u + (site * 4 + nu) * 9;
            a[0] = cexp(I * angle_mu), a[4] = conj(a[0]);
            b[0] = cexp(I * angle_nu), b[4] = conj(b[0]);
        }
    }
}

#endif
