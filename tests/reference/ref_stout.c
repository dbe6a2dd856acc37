/* Stout smearing by its definition: staples as paths, the exponential of a general matrix. */
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

void ref_stout(double complex *out, struct ref_lattice l, const double complex *u, const double rho[4][4])
{
    for (size_t site = 0; site < ref_volume(l); site++)
        for (int mu = 0; mu < 4; mu++) {
            double complex sum[9] = {0}, m[9], omega[9], d[9], e[9];
            const double complex *link = u + 9 * (4 * site + (size_t)mu);
            for (int nu = 0; nu < 4; nu++) {
                if (nu == mu) continue;
                const int staples[2][3] = {{nu, mu, REF_BACK(nu)}, {REF_BACK(nu), mu, nu}};
                for (int side = 0; side < 2; side++) {
                    ref_path(m, l, u, site, staples[side], 3);
                    for (int i = 0; i < 9; i++) sum[i] += rho[mu][nu] * m[i];
                }
            }
            ref_mat_adj(d, link);
            ref_mat_mul(omega, sum, d);
            ref_mat_antihermitian(e, omega);
            ref_mat_exp(e, e);
            ref_mat_mul(out + 9 * (4 * site + (size_t)mu), e, link);
        }
}
