#include "hmc/measure/conserved.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/wilson.h"

/* A hop on links of one direction. */
field *conserved_hop(const field *links, const field *chi, int mu)
{
    double factor[4] = {0};
    factor[mu] = 1;
    field *one = field_like(links), *y = field_like(chi);
    links_scale(one, links, factor);
    for (int p = 0; p < 2; p++) {
        const wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = 1, .links = one};
        wilson_hop(y, (parity)p, chi, &call);
    }
    field_destroy(one);
    return y;
}

void conserved_open(conserved_current *v, const momenta *p, const field *links, const field *a, const field *b,
                    const int x0[4], int mu)
{
    field *hop_a = conserved_hop(links, a, mu), *hop_b = a == b ? hop_a : conserved_hop(links, b, mu);
    v->mu = mu;
    contraction_open(&v->before, p, hop_a, b, x0);
    contraction_open(&v->behind, p, a, hop_b, x0);
    if (hop_b != hop_a) field_destroy(hop_b);
    field_destroy(hop_a);
}

void conserved_close(conserved_current *v)
{
    contraction_close(&v->before);
    contraction_close(&v->behind);
}

/* (1 - gamma_mu) times the hop has U_mu(x) chi(x+mu) twice, and no other neighbour. gamma_5 takes the sign to the other side of
 * A, so that the first half is contraction_meson() of (1 + gamma_mu) / 4 with the hop of A, and the second that of
 * -(1 - gamma_mu) / 4 with the hop of B. */
double complex conserved_meson(const conserved_current *v, const spin_matrix *source, int i, int t)
{
    const spin_matrix one = gamma_number(0), gamma = gamma_number(1 << v->mu);
    const double complex before =
        contraction_meson(&v->before, &one, source, i, t) + contraction_meson(&v->before, &gamma, source, i, t);
    const double complex behind =
        contraction_meson(&v->behind, &one, source, i, t) - contraction_meson(&v->behind, &gamma, source, i, t);
    return (before - behind) / 4;
}
