/* Ghost packing for fields that reach beyond a face: whole groups of the units that continue the neighbour's box, lanes turned
 * as a step over the edge turns them. */

FN void T(ghost_pack_reals)(const ghost_pack_args *a, long i, int reals)
{
    for (int group = 0; group < a->in.groups; group++) {
        vreal x[18];
        T(load)(x, &a->in, a->list[i], group, reals);
        if (PLAQ_SIMD) UNROLL for (int c = 0; c < reals; c++) x[c] = T(turn)(x[c], &a->g, T(turn_code)(a->dir ^ 1));
        T(save_real)(x, &a->out, i, group, reals);
    }
}

FN void T(ghost_pack_site)(const ghost_pack_args *a, long i)
{
    if (a->reals == 18) T(ghost_pack_reals)(a, i, 18);
    else if (a->reals == 12) T(ghost_pack_reals)(a, i, 12);
    else T(ghost_pack_reals)(a, i, 9);
}

FN void T(ghost_unpack_reals)(const ghost_unpack_args *a, long i, int reals)
{
    for (int group = 0; group < a->in.groups; group++) {
        vreal x[18];
        T(load_real)(x, &a->in, i, group, reals);
        T(save)(x, &a->out, a->list[i], group, reals);
    }
}

FN void T(ghost_unpack_site)(const ghost_unpack_args *a, long i)
{
    if (a->reals == 18) T(ghost_unpack_reals)(a, i, 18);
    else if (a->reals == 12) T(ghost_unpack_reals)(a, i, 12);
    else T(ghost_unpack_reals)(a, i, 9);
}
