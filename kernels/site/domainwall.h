/* Matrices in the fifth dimension on one work item: real, dense, one a chirality; of every right-hand side. */
FN void T(fifth_site)(const fifth_args *a, long u)
{
    for (int first = 0; first < a->out.groups; first += a->Ls)
        for (int s = 0; s < a->Ls; s++) {
            vreal y[24];
            if (a->b != 0) {
                T(load)(y, &a->add, u, first + s, 24);
                UNROLL for (int i = 0; i < 24; i++) y[i] *= vset((real)a->b);
            } else {
                UNROLL for (int i = 0; i < 24; i++) y[i] = vset(0);
            }
            for (int t = 0; t < a->Ls; t++) {
                if (a->m[0][s][t] == 0 && a->m[1][s][t] == 0) continue;
                const vreal upper = vset((real)a->m[0][s][t]), lower = vset((real)a->m[1][s][t]);
                vreal x[24];
                T(load)(x, &a->in, u, first + t, 24);
                UNROLL for (int i = 0; i < 12; i++) y[i] = vfma(upper, x[i], y[i]);
                UNROLL for (int i = 12; i < 24; i++) y[i] = vfma(lower, x[i], y[i]);
            }
            T(save)(y, &a->out, u, first + s, 24);
        }
}
