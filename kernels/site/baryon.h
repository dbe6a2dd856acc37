/* Densities of baryons at a site: three lines A, B, C from a sink to a source, colours of either end contracted with epsilon,
 *
 *   [A B C](spins) = epsilon_abc epsilon_a'b'c' A_aa' B_bb' C_cc',
 *
 * where a spin of C at the sink and one at the source stay open: channel 4 alpha + alpha'. Colour matrices are stored [colour at
 * the source][colour at the sink], as columns are. */

/* sum += x y */
FN void T(times_add)(vreal sum[2], const vreal x[2], const vreal y[2])
{
    sum[0] = vfma(x[0], y[0], sum[0]);
    sum[1] = vfma(x[0], y[1], sum[1]);
    sum[0] = vfnma(x[1], y[1], sum[0]);
    sum[1] = vfma(x[1], y[0], sum[1]);
}

/* sum -= x y */
FN void T(times_subtract)(vreal sum[2], const vreal x[2], const vreal y[2])
{
    sum[0] = vfnma(x[0], y[0], sum[0]);
    sum[1] = vfnma(x[0], y[1], sum[1]);
    sum[0] = vfma(x[1], y[1], sum[0]);
    sum[1] = vfnma(x[1], y[0], sum[1]);
}

/* Colour matrix of a line between two spins. */
FN void T(line_load)(vreal m[18], const view *columns, long u, int sink, int source)
{
    UNROLL for (int d = 0; d < 3; d++) T(load)(m + 6 * d, columns, u, 4 * (3 * source + d) + sink, 6);
}

/* sum += factor m */
FN void T(line_add)(vreal sum[18], const double factor[2], const vreal m[18])
{
    vreal f[2];
    f[0] = vset(factor[0]);
    f[1] = vset(factor[1]);
    UNROLL for (int i = 0; i < 18; i += 2) T(times_add)(sum + i, f, m + i);
}

/* q_cc' += epsilon_abc epsilon_a'b'c' x_aa' y_bb' */
FN void T(diquark_add)(vreal q[18], const vreal x[18], const vreal y[18])
{
    UNROLL for (int d = 0; d < 3; d++) UNROLL for (int c = 0; c < 3; c++)
    {
        const int d1 = 6 * ((d + 1) % 3), d2 = 6 * ((d + 2) % 3), c1 = 2 * ((c + 1) % 3), c2 = 2 * ((c + 2) % 3);
        vreal *to = q + 6 * d + 2 * c;
        T(times_add)(to, x + d1 + c1, y + d2 + c2);
        T(times_subtract)(to, x + d1 + c2, y + d2 + c1);
        T(times_subtract)(to, x + d2 + c1, y + d1 + c2);
        T(times_add)(to, x + d2 + c2, y + d1 + c1);
    }
}

/* out = [A B C] of lines without spins. */
FN void T(colour_triple_site)(const colour_triple_args *a, long u)
{
    vreal x[18], y[18], q[18], sum[2] = {vset(0), vset(0)};
    UNROLL for (int i = 0; i < 18; i++) q[i] = vset(0);
    UNROLL for (int d = 0; d < 3; d++)
    {
        T(load)(x + 6 * d, &a->a, u, d, 6);
        T(load)(y + 6 * d, &a->b, u, d, 6);
    }
    T(diquark_add)(q, x, y);
    UNROLL for (int d = 0; d < 3; d++) T(load)(x + 6 * d, &a->c, u, d, 6);
    UNROLL for (int i = 0; i < 18; i += 2) T(times_add)(sum, q + i, x + i);
    T(save)(sum, &a->out, u, 0, 2);
}

/* Sum over the pairs of spins of the sink of line x to the source's spin `first`, and y to `second`. */
FN void T(diquark_sum)(vreal q[18], const baryon_args *a, long u, int first, int second)
{
    UNROLL for (int i = 0; i < 18; i++) q[i] = vset(0);
    for (int k = 0; k < DIQUARK_TERMS; k++) {
        vreal m[18], x[18], y[18];
        UNROLL for (int i = 0; i < 18; i++) x[i] = vset(0);
        T(line_load)(m, &a->a, u, a->sink.at[k][0], first);
        T(line_load)(y, &a->b, u, a->sink.at[k][1], second);
        T(line_add)(x, a->sink.value[k], m);
        T(diquark_add)(q, x, y);
    }
}

/* sum += q_cc' C_cc' */
FN void T(line_close)(vreal sum[2], const vreal q[18], const view *columns, long u, int sink, int source)
{
    vreal m[18];
    T(line_load)(m, columns, u, sink, source);
    UNROLL for (int i = 0; i < 18; i += 2) T(times_add)(sum, q + i, m + i);
}

FN void T(channel_add)(const view *out, long u, int channel, const vreal sum[2])
{
    vreal rho[2];
    T(load)(rho, out, u, channel, 2);
    rho[0] += sum[0];
    rho[1] += sum[1];
    T(save)(rho, out, u, channel, 2);
}

/* out += sum over pairs of spins (i, j) of the sink and (k, l) of the source of factors [A(i; k) B(j; l) C(alpha; alpha')]. */
FN void T(baryon_direct_site)(const baryon_direct_args *a, long u)
{
    vreal all[18], q[18];
    UNROLL for (int i = 0; i < 18; i++) all[i] = vset(0);
    for (int l = 0; l < DIQUARK_TERMS; l++) {
        T(diquark_sum)(q, a, u, a->source.at[l][0], a->source.at[l][1]);
        T(line_add)(all, a->source.value[l], q);
    }
    for (int channel = 0; channel < 16; channel++) {
        vreal sum[2] = {vset(0), vset(0)};
        T(line_close)(sum, all, &a->c, u, channel / 4, channel % 4);
        T(channel_add)(&a->out, u, channel, sum);
    }
}

/* out += sum over pairs of spins (i, j) of the sink and (k, l) of the source of factors [A(i; alpha') B(j; k) C(alpha; l)]. */
FN void T(baryon_crossed_site)(const baryon_crossed_args *a, long u)
{
    for (int open = 0; open < 4; open++) {
        vreal sum[4][2], all[18], q[18];
        UNROLL for (int i = 0; i < 8; i++) sum[i / 2][i % 2] = vset(0);
        for (int l = 0; l < DIQUARK_TERMS; l++) {
            UNROLL for (int i = 0; i < 18; i++) all[i] = vset(0);
            T(diquark_sum)(q, a, u, open, a->source.at[l][0]);
            T(line_add)(all, a->source.value[l], q);
            UNROLL for (int alpha = 0; alpha < 4; alpha++)
                T(line_close)(sum[alpha], all, &a->c, u, alpha, a->source.at[l][1]);
        }
        UNROLL for (int alpha = 0; alpha < 4; alpha++) T(channel_add)(&a->out, u, 4 * alpha + open, sum[alpha]);
    }
}
