/* Force of the Wilson hop.
 *
 * With S = phi^dagger (Q^dagger Q)^-1 phi, X = (Q^dagger Q)^-1 phi and Y = Q X continued to both parities, the
 * variation of the action is -2 Re Y^dagger dM X. For U -> exp(w T) U a force F^a T_a = T_a Re tr(T_a W) = -P(W) / 2,
 * with P the traceless anti-Hermitian part. */

/* w += one of the two terms of link (x, mu) and one group:
 * sum_spin U (1 - gamma) X(x+mu) Y(x)^dagger, or the same anti-Hermitian part as -X(x) [U (1 + gamma) Y(x+mu)]^dagger. */
FN void T(hop_force_term)(vreal w[18], const hop_force_args *a, const T(neighbour) * n, long u, int mu, int group,
                          int second, const vreal link[18])
{
    const vreal s = vset(second ? (real)-1 : (real)1);
    vreal h[12], k[12], r[12], psi[24];
    if (n->near == NEAR_GHOST) {
        T(load_real)(h, second ? &a->y_ghost[2 * mu] : &a->x_ghost[2 * mu], n->unit, group, 12);
    } else {
        T(load)(psi, second ? &a->y_there : &a->x_there, n->unit, group, 24);
        T(spin_project)(h, psi, mu, s);
        if (PLAQ_SIMD && n->near == NEAR_TURNED)
            UNROLL for (int i = 0; i < 12; i++) h[i] = T(turn)(h[i], &a->g, T(turn_code)(2 * mu));
    }
    if (mu == 3 && n->edge) {
        const vreal e = T(edge)(&a->g, 0);
        UNROLL for (int i = 0; i < 12; i++) h[i] *= e;
    }
    T(su3_times)(r, link, h);
    T(su3_times)(r + 6, link, h + 6);
    T(load)(psi, second ? &a->x_here : &a->y_here, u, group, 24);
    T(spin_project)(k, psi, mu, s);
    UNROLL for (int i = 0; i < 3; i++)
    {
        UNROLL for (int j = 0; j < 3; j++)
        {
            UNROLL for (int spin = 0; spin < 2; spin++)
            {
                const vreal *p = r + 6 * spin + 2 * i, *q = k + 6 * spin + 2 * j;
                vreal *e = w + 6 * i + 2 * j;
                e[0] = vfma(p[0], q[0], e[0]);
                e[0] = vfma(p[1], q[1], e[0]);
                e[1] = vfma(p[1], q[0], e[1]);
                e[1] = vfnma(p[0], q[1], e[1]);
            }
        }
    }
}

/* The momenta of the hop: dS/dU of all terms of link (x, mu). */
FN void T(hop_force_direction)(const hop_force_args *a, T(stencil) st, long u, int mu)
{
    const T(neighbour) n = T(neighbour_at)(&a->g, st, 2 * mu);
    vreal w[18], link[18];
    T(su3_zero)(w);
    T(load)(link, &a->links, u, mu, 18);
    for (int group = 0; group < a->x_here.groups; group++) {
        T(hop_force_term)(w, a, &n, u, mu, group, 0, link);
        T(hop_force_term)(w, a, &n, u, mu, group, 1, link);
    }
    vreal x[8], p[8];
    T(su3_project)(x, w);
    const vreal factor = vset((real)(mu < 3 ? a->space_factor : a->factor));
    T(load)(p, &a->momenta, u, mu, 8);
    UNROLL for (int i = 0; i < 8; i++) p[i] = vfma(factor, x[i], p[i]);
    T(save)(p, &a->momenta, u, mu, 8);
}

FN void T(hop_force_site)(const hop_force_args *a, long u)
{
    const T(stencil) st = T(stencil_at)(&a->g, a->parity, u);
    T(hop_force_direction)(a, st, u, 0);
    T(hop_force_direction)(a, st, u, 1);
    T(hop_force_direction)(a, st, u, 2);
    T(hop_force_direction)(a, st, u, 3);
}
