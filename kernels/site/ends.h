/* Ends of time on lattices that are bounded: factors and zeros by time slice. */

/* Factors of the ends by slice: factor[0] on slice 0 and factor[1] on slice `upper`, else `rest`; slices are counted from the one
 * `above` the walker's. */
FN vreal T(end_factor)(const double factor[2], double rest, const geom *g, T(walker) home, int above, int upper)
{
    vreal f = vset((real)rest);
    for (int lane = 0; lane < W; lane++) {
        const int t = T(time_slice)(g, home, lane) + above;
        if (t == 0) LANE(f, lane) = (real)factor[0];
        if (t == upper) LANE(f, lane) = (real)factor[1];
    }
    return f;
}

/* Factor of loops in space on the walker's slice. */
FN vreal T(space_factor)(const loop_ends *ends, const geom *g, T(walker) home)
{
    return ends->bounded ? T(end_factor)(ends->space, 1, g, home, 0, ends->last) : vset(1);
}

/* Factor of loops of one link in time between the slice `above` the walker's and the next one; `factor` of those next to an end. */
FN vreal T(time_factor)(const loop_ends *ends, const double factor[2], const geom *g, T(walker) home, int above)
{
    return ends->bounded ? T(end_factor)(factor, 1, g, home, above, ends->last - 1) : vset(1);
}

/* True if plaquettes that wind twice are in the action. */
FN int T(winds_twice)(const loop_ends *ends)
{
    return ends->bounded && (ends->twice[0] != 0 || ends->twice[1] != 0);
}

/* A group of n numbers times the factor in the lanes that have its bit; what is not finite becomes zero with factor 0. */
FN void T(scale_group)(const scale_slices_args *a, long u, const int *bits, int group, int n)
{
    vreal x[24];
    T(load)(x, &a->out, u, group, n);
    for (int lane = 0; lane < W; lane++) {
        if (!(bits[lane] >> (group & 31) & 1)) continue;
        UNROLL for (int i = 0; i < n; i++) LANE(x[i], lane) = a->factor == 0 ? 0 : (real)a->factor * LANE(x[i], lane);
    }
    T(save)(x, &a->out, u, group, n);
}

/* Chosen groups times a factor on chosen slices next to the ends; other units are not touched. */
FN void T(scale_slices_site)(const scale_slices_args *a, long u)
{
    const T(walker) home = T(walk_from)(&a->g, a->parity, u);
    int bits[W], any = 0;
    for (int lane = 0; lane < W; lane++) {
        const int t = T(time_slice)(&a->g, home, lane), last = a->last;
        bits[lane] = (t == 0 ? a->at[0] : 0) | (t == last - 1 ? a->at[1] : 0) | (t == last ? a->at[2] : 0) |
                     (t > last ? a->at[3] : 0);
        any |= bits[lane];
    }
    if (!any) return;
    for (int group = 0; group < a->out.groups; group++) {
        if (!(any >> (group & 31) & 1)) continue;
        if (a->reals == 18) T(scale_group)(a, u, bits, group, 18);
        else if (a->reals == 24) T(scale_group)(a, u, bits, group, 24);
        else if (a->reals == 9) T(scale_group)(a, u, bits, group, 9);
        else T(scale_group)(a, u, bits, group, 8);
    }
}
