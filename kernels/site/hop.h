/* The Wilson hop between the two parities, and what is fused with it:
 *
 *   D psi(x) = sum_mu (1 - s gamma_mu) U_mu(x) psi(x+mu) + (1 + s gamma_mu) U_mu(x-mu)^dagger psi(x-mu),
 *
 * s = +1, or -1 for the dagger (eq. (2) of M. Clark et al., arXiv:1612.07873, without its factor -1/2). On an anisotropic
 * lattice terms of mu < 3 have the factor a_space / a. out is one of
 *   HOP_PLAIN              a D in
 *   HOP_ADD                a D in + b x
 *   HOP_CLOVER             a C D in
 *   HOP_CLOVER_ADD         a C D in + b x
 *   HOP_ADD_CLOVER         a D in + b C x
 * with C a field of clover kind on the parity of out; where mu is not zero, C + i mu gamma_5 K stands for C, with unit
 * matrices for fields that are not there. out may be x, never in. Directions are always added in the order
 * +x -x +y -y +z -z +t -t, wherever the neighbour comes from, so the split over ranks leaves no trace. */

FN void T(third_row_units)(vreal h[12], int reals)
{
    const real units = RAW_THIRD_ROW(reals);
    (void)reals;
    UNROLL for (int spin = 0; spin < 2; spin++)
    {
        h[6 * spin + 4] *= units;
        h[6 * spin + 5] *= units;
    }
}

/* r = U h for both spins of a half spinor. */
FN void T(link_times)(vreal r[12], const T(link) * l, const vreal h[12], int reals)
{
    UNROLL for (int i = 0; i < 3; i++)
    {
        vreal row[6];
        T(link_row)(row, l, i, reals);
        T(rows_times)(r + 2 * i, row, h);
    }
    T(third_row_units)(r, reals);
}

/* r = U^dagger h; row after row of U adds its part to all of r. h is used up. */
FN void T(link_dagger_times)(vreal r[12], const T(link) * l, vreal h[12], int reals)
{
    T(third_row_units)(h, reals);
    UNROLL for (int k = 0; k < 3; k++)
    {
        vreal row[6];
        T(link_row)(row, l, k, reals);
        UNROLL for (int c = 0; c < 3; c++)
        {
            UNROLL for (int spin = 0; spin < 2; spin++)
            {
                const vreal *g = h + 6 * spin + 2 * k;
                vreal *q = r + 6 * spin + 2 * c;
                q[0] = k == 0 ? row[2 * c] * g[0] : vfma(row[2 * c], g[0], q[0]);
                q[1] = k == 0 ? row[2 * c] * g[1] : vfma(row[2 * c], g[1], q[1]);
                q[0] = vfma(row[2 * c + 1], g[1], q[0]);
                q[1] = vfnma(row[2 * c + 1], g[0], q[1]);
            }
        }
    }
}

/* Weight of a half spinor when it is added: a of its direction, its scale, and the sign of the antiperiodic edge. */
FN vreal T(hop_weight)(const hop_args *a, const T(neighbour) * n, long u, int rhs, int dir, int reals, int cut)
{
    vreal w = vset((real)(dir < 6 ? a->a_space : a->a) * RAW_LINK(reals));
#if PLAQ_PREC >= 2
    if (n->near == NEAR_GHOST) {
        vreal h[13];
        T(load_real)(h, &a->ghost[dir], n->unit, a->ghost_first + rhs, 13);
        w *= h[12];
    } else {
        vreal scale = T(load_scale)(&a->in, n->unit, rhs);
        if (PLAQ_SIMD && n->near == NEAR_TURNED) scale = T(turn)(scale, &a->g, T(turn_code)(dir));
        w *= scale;
    }
#else
    (void)rhs, (void)reals;
#endif
    if (dir >= 6 && n->edge) w *= T(edge)(&a->g, dir % 2);
#if PLAQ_SIMD
    if (cut) w *= ((const vreal *)a->keep)[dir * a->keep_places + a->g.coord[a->parity][4 * u + dir / 2]];
#else
    (void)u, (void)cut;
#endif
    return w;
}

/* Hop along one direction for `many` right-hand sides from rhs on, which share the link: acc += its term. dir, many, reals and
 * cut are literals. */
FN void T(hop_direction)(vreal *acc, const hop_args *a, T(stencil) st, long u, int rhs, int many, int dir, int reals,
                         int cut)
{
    const int mu = dir / 2, down = dir % 2;
#if !PLAQ_SIMD
    if (cut && a->block[mu] > 0 && st.x[mu] % a->block[mu] == (down ? 0 : a->block[mu] - 1)) return;
#endif
    const T(neighbour) n = T(neighbour_at)(&a->g, st, dir);
    const vreal s = vset((real)(down ? -a->sign : a->sign));
    T(link) link;
#if PLAQ_SIMD
    if (a->ahead && n.near != NEAR_GHOST) {
        if (rhs == 0) T(fetch)(down ? &a->there : &a->here, (down ? n.unit : u) + UNITS_AHEAD, mu, reals);
        T(fetch)(&a->in, n.unit + 1, rhs, 24);
    }
#endif
    UNROLL for (int k = 0; k < many; k++)
    {
        vreal h[HALF_SPINOR_REALS], r[HALF_SPINOR_REALS];
        if (n.near != NEAR_GHOST) T(load_project)(h, &a->in, n.unit, rhs + k, mu, s);
        else T(load_real)(h, &a->ghost[dir], n.unit, a->ghost_first + rhs + k, HALF_SPINOR_REALS);
        if (k == 0 && !down) T(link_load)(&link, &a->here, u, mu, reals);
        if (k == 0 && down && n.near != NEAR_GHOST) T(link_load)(&link, &a->there, n.unit, mu, reals);
        if (down && n.near == NEAR_GHOST) {
            UNROLL for (int i = 0; i < 12; i++) r[i] = h[i];
        } else if (down) {
            T(link_dagger_times)(r, &link, h, reals);
            if (PLAQ_SIMD && n.near == NEAR_TURNED)
                UNROLL for (int i = 0; i < 12; i++) r[i] = T(turn)(r[i], &a->g, T(turn_code)(dir));
        } else {
            if (PLAQ_SIMD && n.near == NEAR_TURNED)
                UNROLL for (int i = 0; i < 12; i++) h[i] = T(turn)(h[i], &a->g, T(turn_code)(dir));
            T(link_times)(r, &link, h, reals);
        }
        T(spin_add)(acc + 24 * k, r, mu, s, T(hop_weight)(a, &n, u, rhs + k, dir, reals, cut));
    }
}

FN void T(hop_save)(const vreal y[24], const hop_args *a, long u, int rhs)
{
#if PLAQ_SIMD
    if (a->stream) {
        T(save_stream)(y, &a->out, u, rhs, 24);
        return;
    }
#endif
    T(save)(y, &a->out, u, rhs, 24);
}

/* The site-diagonal matrix of the form times `many` spinors. */
FN void T(hop_diagonal)(vreal *psi, int many, const hop_args *a, long u)
{
    if (a->mu == 0) T(clover_times)(psi, many, &a->clover, u);
    else T(twisted_times)(psi, many, &a->clover, &a->mu_clover, a->mu, u);
}

/* Finishes the hop behind the sum over directions, and saves the output. */
FN void T(hop_finish)(vreal *acc, const hop_args *a, long u, int rhs, int many)
{
    if (a->form == HOP_CLOVER || a->form == HOP_CLOVER_ADD) T(hop_diagonal)(acc, many, a, u);
    const vreal fb = vset((real)a->b);
    if (a->form == HOP_ADD || a->form == HOP_CLOVER_ADD || a->form == HOP_ADD_CLOVER) {
        UNROLL for (int k = 0; k < many; k++)
        {
            vreal x[24], *y = acc + 24 * k;
            T(load)(x, &a->x, u, rhs + k, 24);
            if (a->form == HOP_ADD_CLOVER) T(hop_diagonal)(x, 1, a, u);
            UNROLL for (int i = 0; i < 24; i++) y[i] = vfma(fb, x[i], y[i]);
        }
    }
    UNROLL for (int k = 0; k < many; k++) T(hop_save)(acc + 24 * k, a, u, rhs + k);
}

/* The most right-hand sides that a work item takes at a time. */
#define HOP_MANY 4

/* acc = a D in */
FN void T(hop_sum)(vreal *acc, const hop_args *a, T(stencil) st, long u, int rhs, int many, int reals, int cut)
{
    UNROLL for (int i = 0; i < 24 * many; i++) acc[i] = vset(0);
    T(hop_direction)(acc, a, st, u, rhs, many, 0, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 1, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 2, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 3, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 4, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 5, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 6, reals, cut);
    T(hop_direction)(acc, a, st, u, rhs, many, 7, reals, cut);
}

FN void T(hop_some)(const hop_args *a, T(stencil) st, long u, int rhs, int many, int reals, int cut)
{
    vreal acc[24 * HOP_MANY];
    T(hop_sum)(acc, a, st, u, rhs, many, reals, cut);
    T(hop_finish)(acc, a, u, rhs, many);
}

/* The hop of both flavours of a doublet, groups rhs and rhs + 1: in the forms with a site-diagonal matrix, where
 * C + (i mu gamma_5 tau_2 + epsilon tau_3) K stands for C. A GPU's thread holds the link for both; caches do on a CPU. */
FN void T(hop_doublet_some)(const hop_args *a, T(stencil) st, long u, int rhs, int reals, int cut)
{
    vreal acc[48], product[48];
    const int of_sum = a->form != HOP_ADD_CLOVER;
#ifdef __CUDACC__
    T(hop_sum)(acc, a, st, u, rhs, 2, reals, cut);
#else
    for (int k = 0; k < 2; k++) T(hop_sum)(acc + 24 * k, a, st, u, rhs + k, 1, reals, cut);
#endif
    if (of_sum) {
        UNROLL for (int i = 0; i < 48; i++) product[i] = acc[i];
    } else {
        UNROLL for (int k = 0; k < 2; k++) T(load)(product + 24 * k, &a->x, u, rhs + k, 24);
    }
    /* Product of the matrix: one copy serves all forms, for it is most of the code. */
    T(doublet_times)(product, &a->clover, &a->mu_clover, a->mu, a->epsilon, u);
    const vreal fb = vset((real)a->b);
    if (!of_sum) {
        UNROLL for (int i = 0; i < 48; i++) product[i] = vfma(fb, product[i], acc[i]);
    } else if (a->form != HOP_CLOVER) {
        UNROLL for (int k = 0; k < 2; k++) T(load)(acc + 24 * k, &a->x, u, rhs + k, 24);
        UNROLL for (int i = 0; i < 48; i++) product[i] = vfma(fb, acc[i], product[i]);
    }
    UNROLL for (int k = 0; k < 2; k++) T(hop_save)(product + 24 * k, a, u, rhs + k);
}

FN void T(hop_doublet_body)(const hop_args *a, long u, int reals, int cut)
{
    const T(stencil) st = T(stencil_at)(&a->g, a->parity, u);
    for (int rhs = 0; rhs < a->in.groups; rhs += 2) T(hop_doublet_some)(a, st, u, rhs, reals, cut);
}

FN void T(hop_doublet_site)(const hop_doublet_args *a, long u)
{
    const int cut = a->block[0] != 0; /* no literal: half the code, and the hop is a part of the work */
    if (a->link_reals == 18) T(hop_doublet_body)(a, u, 18, cut);
    else T(hop_doublet_body)(a, u, 12, cut);
}

FN void T(hop_body)(const hop_args *a, long u, int reals, int cut)
{
    const T(stencil) st = T(stencil_at)(&a->g, a->parity, u);
    for (int rhs = 0; rhs < a->in.groups; rhs++) T(hop_some)(a, st, u, rhs, 1, reals, cut);
}

FN void T(hop_site)(const hop_args *a, long u)
{
    const int cut = a->block[0] != 0;
    if (a->link_reals == 18 && cut) T(hop_body)(a, u, 18, 1);
    else if (a->link_reals == 18) T(hop_body)(a, u, 18, 0);
    else if (cut) T(hop_body)(a, u, 12, 1);
    else T(hop_body)(a, u, 12, 0);
}

/* Packing of a face: unit face[f] of the parity of `in`, projected for the neighbour over direction dir (the neighbour that
 * lies there sees it from the opposite side), lanes turned so that a unit's inner lanes are already home. */
FN void T(hop_pack_link)(const hop_pack_args *a, long f, int k, int sign, int mu, int upwards, int reals)
{
    const long u = a->face[k][f];
    /* The site above needs (1 + s gamma) U^dagger psi of this one; the site below (1 - s gamma) psi. */
    const vreal s = vset((real)(upwards ? -sign : sign));
    T(link) link;
    if (upwards) T(link_load)(&link, &a->links, u, mu, reals);
    for (int rhs = 0; rhs < a->in.groups; rhs++) {
        vreal h[12], r[HALF_SPINOR_REALS];
        T(load_project)(h, &a->in, u, rhs, mu, s);
        if (upwards) {
            T(link_dagger_times)(r, &link, h, reals);
        } else {
            UNROLL for (int i = 0; i < 12; i++) r[i] = h[i];
        }
#if PLAQ_PREC >= 2
        r[12] = T(load_scale)(&a->in, u, rhs);
#endif
        if (PLAQ_SIMD && a->g.lane_grid[mu] > 1)
            UNROLL for (int i = 0; i < HALF_SPINOR_REALS; i++) r[i] =
                T(turn)(r[i], &a->g, T(turn_code)(2 * mu + upwards));
        T(save_real)(r, &a->out[k], f, rhs, HALF_SPINOR_REALS);
    }
}

FN void T(hop_pack_direction)(const hop_pack_args *a, long f, int k, int sign, int mu, int upwards, int reals)
{
    if (!upwards || reals == 18) T(hop_pack_link)(a, f, k, sign, mu, upwards, 18);
    else T(hop_pack_link)(a, f, k, sign, mu, upwards, 12);
}

/* sign and reals stand beside the arguments so that they can be literals. */
FN void T(hop_pack_item)(const hop_pack_args *a, long i, int sign, int reals)
{
    int k = 0;
    while (i >= a->start[k + 1]) k++;
    const long f = i - a->start[k];
    switch (a->dir[k]) {
    case 0: T(hop_pack_direction)(a, f, k, sign, 0, 1, reals); break;
    case 1: T(hop_pack_direction)(a, f, k, sign, 0, 0, reals); break;
    case 2: T(hop_pack_direction)(a, f, k, sign, 1, 1, reals); break;
    case 3: T(hop_pack_direction)(a, f, k, sign, 1, 0, reals); break;
    case 4: T(hop_pack_direction)(a, f, k, sign, 2, 1, reals); break;
    case 5: T(hop_pack_direction)(a, f, k, sign, 2, 0, reals); break;
    case 6: T(hop_pack_direction)(a, f, k, sign, 3, 1, reals); break;
    default: T(hop_pack_direction)(a, f, k, sign, 3, 0, reals); break;
    }
}

FN void T(hop_pack_site)(const hop_pack_args *a, long i)
{
    T(hop_pack_item)(a, i, a->sign, a->link_reals);
}
