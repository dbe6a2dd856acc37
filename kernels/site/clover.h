/* The clover term as an operation of its own; the hop takes its product from clover_product.h. */

/* Group r of out = factor C psi; changes psi. */
FN void T(clover_save)(const clover_apply_args *a, vreal *psi, long u, int r)
{
    const vreal factor = vset((real)a->factor);
    T(clover_times)(psi, 1, &a->clover, u);
    UNROLL for (int i = 0; i < 24; i++) psi[i] *= factor;
    T(save)(psi, &a->out, u, r, 24);
}

/* out = factor C in, over one parity; out may be in. */
FN void T(clover_apply_site)(const clover_apply_args *a, long u)
{
    for (int r = 0; r < a->in.groups; r++) {
        vreal psi[24];
        T(load)(psi, &a->in, u, r, 24);
        T(clover_save)(a, psi, u, r);
    }
}

/* Clover product of a range of groups, and |in|^2. */
FN void T(clover_norm2_site)(const clover_norm2_args *a, long u, vexact *sum)
{
    for (int r = a->first; r < a->first + a->count; r++) {
        vreal psi[24];
        T(load)(psi, &a->apply.in, u, r, 24);
        T(exact_deposit)(&sum[0], T(site_norm2)(psi, 24));
        T(clover_save)(&a->apply, psi, u, r);
    }
}

/* out = factor (C + i mu gamma_5 K) in, over one parity; C and K are unit matrices where their views are empty. out may be
 * in. */
FN void T(twisted_apply_site)(const twisted_apply_args *a, long u)
{
    const vreal factor = vset((real)a->factor);
    for (int r = 0; r < a->in.groups; r++) {
        vreal psi[24];
        T(load)(psi, &a->in, u, r, 24);
        T(twisted_times)(psi, 1, &a->clover, &a->mu_clover, a->mu, u);
        UNROLL for (int i = 0; i < 24; i++) psi[i] *= factor;
        T(save)(psi, &a->out, u, r, 24);
    }
}

/* out = factor (C + (i mu gamma_5 tau_2 + epsilon tau_3) K) in, over one parity, as twisted_apply_site() for doublets. */
FN void T(doublet_apply_site)(const doublet_apply_args *a, long u)
{
    const vreal factor = vset((real)a->factor);
    for (int r = 0; r < a->in.groups; r += 2) {
        vreal psi[48];
        UNROLL for (int k = 0; k < 2; k++) T(load)(psi + 24 * k, &a->in, u, r + k, 24);
        T(doublet_times)(psi, &a->clover, &a->mu_clover, a->mu, a->epsilon, u);
        UNROLL for (int i = 0; i < 48; i++) psi[i] *= factor;
        UNROLL for (int k = 0; k < 2; k++) T(save)(psi + 24 * k, &a->out, u, r + k, 24);
    }
}
