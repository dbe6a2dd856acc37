/* The hop of staggered quarks between parities, with fat links F and long links L, which have the phases and the
 * boundary's sign in them:
 *   D x(s) = sum_mu F_mu(s) x(s+mu) - F_mu(s-mu)^dagger x(s-mu) + L_mu(s) x(s+3mu) - L_mu(s-3mu)^dagger x(s-3mu)
 * (eq. (3) of R. Babich et al., arXiv:1109.2935, with D anti-Hermitian). out = a D in + b x; out may be x, never in.
 * Directions are added in the order +x -x ... -t, one site away, then three, wherever the neighbour comes from, so the
 * split over ranks leaves no trace. */

/* Fixed-point vectors and links are taken as the integers that are stored, as in site/link.h: vectors from other ranks come
 * with their scale behind them. */
#if PLAQ_PREC >= 2
#define VECTOR_REALS 7
#else
#define VECTOR_REALS 6
#endif

/* Right-hand sides that a work item takes at a time: as many sums as leave registers for a link, or a row of it. */
#define STAGGERED_MANY (PLAQ_SIMD ? 2 : 4)

/* The neighbour `step` (1 or 3, a literal) sites along dir. */
#if PLAQ_SIMD
FN T(neighbour) T(neighbour_far)(const geom *g, int parity, const long *nface, T(stencil) st, long u, int dir, int step)
{
    (void)nface;
    return T(neighbour_at)(g, step == 1 ? st : g->far_stencil[parity] + u * STENCIL_INTS, dir);
}
#else
FN T(neighbour) T(neighbour_far)(const geom *g, int parity, const long *nface, T(stencil) st, long u, int dir, int step)
{
    (void)parity;
    const int d = dir / 2, up = dir % 2 == 0;
    int to = up ? st.x[d] + step : st.x[d] - step;
    const int leaves = up ? to >= g->sub[d] : to < 0;
    T(neighbour) n = {u, NEAR_BODY, 0};
    if (leaves && g->split[d]) {
        long f = 0;
        UNROLL for (int e = 3; e >= 0; e--) if (e != d) f = f * g->sub[e] + st.x[e];
        n.near = NEAR_GHOST;
        n.unit = (up ? to - g->sub[d] : -1 - to) * nface[d] + f / 2;
        return n;
    }
    if (to >= g->sub[d]) to -= g->sub[d];
    if (to < 0) to += g->sub[d];
    if (step > 1) { /* a box of two sites is crossed twice */
        if (to >= g->sub[d]) to -= g->sub[d];
        if (to < 0) to += g->sub[d];
    }
    n.unit = d == 0 ? st.unit - st.x[0] / 2 + to / 2 : st.unit + (to - st.x[d]) * g->stride[d];
    return n;
}
#endif

FN vreal T(turn_as)(vreal x, const geom *g, int near, int dir)
{
    if (near == NEAR_TURNED || near == NEAR_TURNED_TWICE) x = T(turn)(x, g, T(turn_code)(dir));
    if (near == NEAR_TURNED_TWICE) x = T(turn)(x, g, T(turn_code)(dir));
    return x;
}

/* Reals of the matrix in a long link: where it has a phase beside it, all but that. */
#define MATRIX_REALS(reals) ((reals) == 18 ? 18 : (reals)-1)

/* A long link of 18 reals; or one in U(3), a matrix and the phase of its determinant over pi. Of 13: the matrix is the
 * first two rows, and the third is the conjugate of their cross product, times that phase. Of 9: it is the special
 * unitary one of T(link_specials_site), which is turned back, all of it times a third of the phase. */
FN void T(far_load)(T(link) * l, const view *links, const view *phases, long unit, int mu, int reals)
{
    vreal angle[1], c, s;
    T(link_load)(l, links, unit, mu, MATRIX_REALS(reals));
    if (reals != 18) T(load_stream)(angle, phases, unit, mu, 1);
    if (reals == 9) {
        NEAR_COS_SIN_PI(&c, &s, angle[0] * (real)(1.0 / 3));
        UNROLL for (int i = 0; i < 18; i += 6)
        {
            T(half_turn)(l->u + i);
            T(row_phase)(l->u + i, c, s);
        }
    }
    if (reals == 13) {
        NEAR_COS_SIN_PI(&c, &s, angle[0]);
        c *= (real)RAW_THIRD_ROW(12);
        s *= (real)RAW_THIRD_ROW(12);
        T(row_phase)(l->u + 12, c, s);
    }
}

/* r = U h, and r = U^dagger h, to which row after row of U adds its part. */
FN void T(vector_times)(vreal r[6], const T(link) * l, const vreal h[6], int reals)
{
    UNROLL for (int i = 0; i < 3; i++)
    {
        vreal row[6];
        T(link_row)(row, l, i, reals);
        T(row_times)(r + 2 * i, row, h);
    }
}

FN void T(vector_dagger_times)(vreal r[6], const T(link) * l, const vreal h[6], int reals)
{
    UNROLL for (int i = 0; i < 3; i++)
    {
        vreal row[6];
        T(link_row)(row, l, i, reals);
        const vreal re = h[2 * i], im = h[2 * i + 1];
        UNROLL for (int c = 0; c < 6; c += 2)
        {
            r[c] = i == 0 ? row[c] * re : vfma(row[c], re, r[c]);
            r[c + 1] = i == 0 ? row[c] * im : vfma(row[c], im, r[c + 1]);
            r[c] = vfma(row[c + 1], im, r[c]);
            r[c + 1] = vfnma(row[c + 1], re, r[c + 1]);
        }
    }
}

/* True if the product with a link of so many reals has a weight. */
#define HAS_WEIGHT(reals) (PLAQ_PREC >= 2 || (reals) != 18)

/* The vector of a neighbour as it is stored, and what it is to be multiplied with when it is added. */
FN void T(vector_load)(vreal *h, vreal *weight, const staggered_hop_args *a, const T(neighbour) * n, int rhs, int dir,
                       int step, int reals)
{
    vreal x[7];
    vreal w = vset(1);
    if (n->near == NEAR_GHOST) {
        /* Ghosts from below have the product with a fat link first, then those with long links. */
        T(load_real)(x, &a->ghost[dir], n->unit + (dir % 2 && step > 1 ? a->nface[dir / 2] : 0), rhs, VECTOR_REALS);
    } else {
        T(load_raw)(x, &a->in, n->unit, rhs, 6);
#if PLAQ_PREC >= 2
        x[6] = T(load_scale)(&a->in, n->unit, rhs);
#endif
    }
    UNROLL for (int i = 0; i < 6; i++) h[i] = x[i];
#if PLAQ_PREC >= 2
    w = x[6];
    if (PLAQ_SIMD) w = T(turn_as)(w, &a->g, n->near, dir);
    w *= (real)(step > 1 ? a->far_scale : a->near_scale) * RAW_LINK(MATRIX_REALS(reals));
#else
    if (HAS_WEIGHT(reals)) w = vset((real)a->far_scale);
#endif
    *weight = w;
}

/* acc += w r, or -= for what comes from below */
FN void T(vector_add)(vreal acc[6], const vreal r[6], vreal w, int down, int reals)
{
    UNROLL for (int i = 0; i < 6; i++)
    {
        if (HAS_WEIGHT(reals)) acc[i] = down ? vfnma(w, r[i], acc[i]) : vfma(w, r[i], acc[i]);
        else acc[i] = down ? acc[i] - r[i] : acc[i] + r[i];
    }
}

/* Hop along one direction for `many` right-hand sides from rhs on, which share the link of `reals`: acc += its term. step, many
 * and reals are literals. */
FN void T(staggered_direction)(vreal *acc, const staggered_hop_args *a, T(stencil) st, long u, int rhs, int many,
                               int dir, int step, int reals)
{
    const int mu = dir / 2, down = dir % 2, stored = MATRIX_REALS(reals);
    const T(neighbour) n = T(neighbour_far)(&a->g, a->parity, a->nface, st, u, dir, step);
    if (down && n.near == NEAR_GHOST) { /* times the link already */
        UNROLL for (int k = 0; k < many; k++)
        {
            vreal h[6], w;
            T(vector_load)(h, &w, a, &n, rhs + k, dir, step, reals);
            T(vector_add)(acc + 6 * k, h, w, 1, reals);
        }
        return;
    }
    T(link) link;
    const view *near = down ? &a->near_there : &a->near_here, *far = down ? &a->far_there : &a->far_here;
    const long at = down ? n.unit : u;
#if PLAQ_SIMD
    if (a->ahead && rhs == 0) T(fetch)(step == 1 ? near : far, at + UNITS_AHEAD, mu, stored);
#endif
    if (step == 1) T(link_load)(&link, near, at, mu, 18);
    else T(far_load)(&link, far, down ? &a->phase_there : &a->phase_here, at, mu, reals);
    UNROLL for (int k = 0; k < many; k++)
    {
        vreal h[6], r[6], w;
        T(vector_load)(h, &w, a, &n, rhs + k, dir, step, reals);
        if (down) T(vector_dagger_times)(r, &link, h, stored);
        if (PLAQ_SIMD && n.near != NEAR_BODY) UNROLL for (int i = 0; i < 6; i++)
            {
                if (down) r[i] = T(turn_as)(r[i], &a->g, n.near, dir);
                else h[i] = T(turn_as)(h[i], &a->g, n.near, dir);
            }
        if (!down) T(vector_times)(r, &link, h, stored);
        T(vector_add)(acc + 6 * k, r, w, down, reals);
    }
}

FN void T(staggered_step)(vreal *acc, const staggered_hop_args *a, T(stencil) st, long u, int rhs, int many, int step,
                          int reals)
{
    DIRECTIONS for (int mu = 0; mu < 4; mu++)
    {
        T(staggered_direction)(acc, a, st, u, rhs, many, 2 * mu, step, reals);
        T(staggered_direction)(acc, a, st, u, rhs, many, 2 * mu + 1, step, reals);
    }
}

/* far_reals is a literal. */
FN void T(staggered_some)(const staggered_hop_args *a, T(stencil) st, long u, int rhs, int many, int far_reals)
{
    vreal acc[6 * STAGGERED_MANY];
    UNROLL for (int i = 0; i < 6 * many; i++) acc[i] = vset(0);
    T(staggered_step)(acc, a, st, u, rhs, many, 1, 18);
    if (far_reals) T(staggered_step)(acc, a, st, u, rhs, many, 3, far_reals);
    const vreal fa = vset((real)a->a), fb = vset((real)a->b);
    UNROLL for (int k = 0; k < many; k++)
    {
        vreal *y = acc + 6 * k, x[6];
        UNROLL for (int i = 0; i < 6; i++) y[i] *= fa;
        if (a->b != 0) {
            T(load)(x, &a->x, u, rhs + k, 6);
            UNROLL for (int i = 0; i < 6; i++) y[i] = vfma(fb, x[i], y[i]);
        }
#if PLAQ_SIMD
        if (a->stream) {
            T(save_stream)(y, &a->out, u, rhs + k, 6);
            continue;
        }
#endif
        T(save)(y, &a->out, u, rhs + k, 6);
    }
}

FN void T(staggered_body)(const staggered_hop_args *a, long u, int far_reals)
{
    const T(stencil) st = T(stencil_at)(&a->g, a->parity, u);
    int rhs = 0;
    for (; rhs + STAGGERED_MANY <= a->in.groups; rhs += STAGGERED_MANY)
        T(staggered_some)(a, st, u, rhs, STAGGERED_MANY, far_reals);
    for (; rhs < a->in.groups; rhs++) T(staggered_some)(a, st, u, rhs, 1, far_reals);
}

FN void T(staggered_hop_site)(const staggered_hop_args *a, long u)
{
    if (a->far_reals == 9) T(staggered_body)(a, u, 9);
    else if (a->far_reals == 13) T(staggered_body)(a, u, 13);
    else if (a->far_reals == 18) T(staggered_body)(a, u, 18);
    else T(staggered_body)(a, u, 0);
}

/* ---- one direction of it ---- */

/* Terms from above, and minus those from below. mu and step are literals. */
FN void T(shift_step)(vreal ahead[6], vreal behind[6], const staggered_hop_args *a, T(stencil) st, long u, int rhs,
                      int mu, int step, int reals)
{
    UNROLL for (int i = 0; i < 6; i++) ahead[i] = behind[i] = vset(0);
    T(staggered_direction)(ahead, a, st, u, rhs, 1, 2 * mu, step, reals);
    T(staggered_direction)(behind, a, st, u, rhs, 1, 2 * mu + 1, step, reals);
}

FN void T(shift_along)(const staggered_shift_args *a, T(stencil) st, vreal sign, long u, int mu)
{
    const staggered_hop_args *hop = &a->hop;
    const vreal near = sign * (real)a->near_weight, far = sign * (real)a->far_weight, back = vset((real)-a->back);
    for (int rhs = 0; rhs < hop->in.groups; rhs++) {
        vreal ahead[6], behind[6], y[6];
        T(shift_step)(ahead, behind, hop, st, u, rhs, mu, 1, 18);
        UNROLL for (int i = 0; i < 6; i++) y[i] = near * vfma(back, behind[i], ahead[i]);
        if (hop->far_reals) {
            if (hop->far_reals == 9) T(shift_step)(ahead, behind, hop, st, u, rhs, mu, 3, 9);
            else if (hop->far_reals == 13) T(shift_step)(ahead, behind, hop, st, u, rhs, mu, 3, 13);
            else T(shift_step)(ahead, behind, hop, st, u, rhs, mu, 3, 18);
            UNROLL for (int i = 0; i < 6; i++) y[i] = vfma(far, vfma(back, behind[i], ahead[i]), y[i]);
        }
        T(save)(y, &hop->out, u, rhs, 6);
    }
}

/* out(s) = (-1)^(sum of the coordinates `odd` of s) (near_weight [F_mu(s) x(s+mu) + back F_mu(s-mu)^dagger x(s-mu)]
 * + far_weight [L_mu(s) x(s+3mu) + back L_mu(s-3mu)^dagger x(s-3mu)]) */
FN void T(staggered_shift_site)(const staggered_shift_args *a, long u)
{
    const geom *g = &a->hop.g;
    const T(stencil) st = T(stencil_at)(g, a->hop.parity, u);
    const int16_t *c = g->coord[a->hop.parity] + 4 * u;
    vreal sign = vset(1);
    for (int lane = 0; lane < W; lane++) {
        int sum = 0;
        for (int d = 0; d < 4; d++)
            if (a->odd >> d & 1) sum += g->lane_origin[4 * lane + d] + c[d];
        if (sum & 1) LANE(sign, lane) = -1;
    }
    DIRECTIONS for (int mu = 0; mu < 4; mu++) if (a->mu == mu) T(shift_along)(a, st, sign, u, mu);
}

/* Packing of a face: vectors of its slices to the rank below; to the one above, which would multiply them with links of this
 * rank, their products with the fat links of the outermost slice and the long links of all. Item i of face k is unit i % nface
 * of slice or product i / nface. */
FN void T(staggered_pack_item)(const staggered_pack_args *a, long i, int k, int mu, int upwards, int far_reals)
{
    const long part = i / a->nface[mu], slice = upwards && part > 0 ? part - 1 : part;
    const long u = a->face[k][slice * a->nface[mu] + i % a->nface[mu]];
    T(link) link;
    if (upwards && part > 0) T(far_load)(&link, &a->far, &a->phase, u, mu, far_reals);
    else if (upwards) T(link_load)(&link, &a->near, u, mu, 18);
    for (int rhs = 0; rhs < a->in.groups; rhs++) {
        vreal h[6], r[7];
        T(load_raw)(h, &a->in, u, rhs, 6);
        if (upwards) {
            if (part > 0 && far_reals != 18) T(vector_dagger_times)(r, &link, h, MATRIX_REALS(far_reals));
            else T(vector_dagger_times)(r, &link, h, 18);
        } else {
            UNROLL for (int c = 0; c < 6; c++) r[c] = h[c];
        }
#if PLAQ_PREC >= 2
        r[6] = T(load_scale)(&a->in, u, rhs);
#endif
        if (PLAQ_SIMD && a->g.lane_grid[mu] > 1)
            UNROLL for (int c = 0; c < VECTOR_REALS; c++) r[c] = T(turn)(r[c], &a->g, T(turn_code)(2 * mu + upwards));
        T(save_real)(r, &a->out[k], i, rhs, VECTOR_REALS);
    }
}

FN void T(staggered_pack_site)(const staggered_pack_args *a, long i)
{
    int k = 0;
    while (i >= a->start[k + 1]) k++;
    if (a->dir[k] % 2) T(staggered_pack_item)(a, i - a->start[k], k, a->dir[k] / 2, 0, 18);
    else if (a->far_reals == 9) T(staggered_pack_item)(a, i - a->start[k], k, a->dir[k] / 2, 1, 9);
    else if (a->far_reals == 13) T(staggered_pack_item)(a, i - a->start[k], k, a->dir[k] / 2, 1, 13);
    else T(staggered_pack_item)(a, i - a->start[k], k, a->dir[k] / 2, 1, 18);
}
