/* Matrices in the fifth dimension, real, dense, one a chirality, and hops that they follow. A GPU starts both in ways of its
 * own (kernels/family/domainwall.cuh), with the same sums in the same order. */

/* y += m_st x of one slice t. */
FN void T(fifth_term)(vreal y[24], vreal upper, vreal lower, const vreal x[24])
{
    UNROLL for (int i = 0; i < 12; i++) y[i] = vfma(upper, x[i], y[i]);
    UNROLL for (int i = 12; i < 24; i++) y[i] = vfma(lower, x[i], y[i]);
}

/* Start of the sum over slices of a group: b add, or zero without `adds`. */
FN void T(fifth_begin)(vreal y[24], const view *add, double b, int adds, long u, int group)
{
    if (!adds) {
        UNROLL for (int i = 0; i < 24; i++) y[i] = vset(0);
        return;
    }
    T(load)(y, add, u, group, 24);
    UNROLL for (int i = 0; i < 24; i++) y[i] *= vset((real)b);
}

#ifndef __CUDACC__
/* Slice s of m x, for x of all slices. */
FN void T(fifth_row)(vreal y[24], const fifth_matrix *m, int s, const vreal *x)
{
    for (int t = 0; t < m->from; t++)
        T(fifth_term)(y, vset((real)m->of[0][s][t]), vset((real)m->of[1][s][t]), x + 24 * t);
}

FN void T(fifth_site)(const fifth_args *a, long u)
{
    const int Ls = a->m.Ls, from = a->m.from;
    vreal x[24 * DOMAINWALL_SLICES], y[24];
    for (int rhs = 0; rhs < a->out.groups / Ls; rhs++) {
        for (int t = 0; t < from; t++) T(load)(x + 24 * t, &a->in, u, rhs * from + t, 24);
        for (int s = 0; s < Ls; s++) {
            T(fifth_begin)(y, &a->add, a->b, a->b != 0, u, rhs * Ls + s);
            T(fifth_row)(y, &a->m, s, x);
            T(save)(y, &a->out, u, rhs * Ls + s, 24);
        }
    }
}

FN void T(hop_fifth_body)(const hop_fifth_args *a, long u, int reals, int cut)
{
    const int Ls = a->m.Ls;
    const T(stencil) st = T(stencil_at)(&a->hop.g, a->hop.parity, u);
    vreal x[24 * DOMAINWALL_SLICES], y[24];
    for (int first = 0; first < a->hop.in.groups; first += Ls) {
        for (int t = 0; t < Ls; t++) T(hop_sum)(x + 24 * t, &a->hop, st, u, first + t, 1, reals, cut);
        for (int s = 0; s < Ls; s++) {
            T(fifth_begin)(y, &a->hop.x, a->hop.b, a->hop.form == HOP_ADD, u, first + s);
            T(fifth_row)(y, &a->m, s, x);
            T(hop_save)(y, &a->hop, u, first + s);
        }
    }
}

FN void T(hop_fifth_site)(const hop_fifth_args *a, long u)
{
    const int cut = a->hop.block[0] != 0;
    if (a->hop.link_reals == 18 && cut) T(hop_fifth_body)(a, u, 18, 1);
    else if (a->hop.link_reals == 18) T(hop_fifth_body)(a, u, 18, 0);
    else if (cut) T(hop_fifth_body)(a, u, 12, 1);
    else T(hop_fifth_body)(a, u, 12, 0);
}
#endif
