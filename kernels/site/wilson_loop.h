/* Wilson loops by strips: paths, and strips between two copies of a path, one time step after the other.
 *
 * P(x) is the parallel transporter along a path from x to x + d. The strip of height t is the transporter N_t(x) that goes t
 * steps along nu, the path, and t steps back: N_0 = P, N_t(x) = U_nu(x) N_t-1(x + nu) E(x)^dagger with E(x) = U_nu(x + d).
 * The Wilson loop of height t is Re tr N_t(x) P(x)^dagger. */

/* A path that starts one step earlier: out(x) = U_s(x) path(x + s), U_s(x) the link along s, or the inverse of that against it;
 * `bare`: out(x) = path(x + s). `step`: code of s as in path.h, or -1 for no step, which is bare. `group`: group of `path` that
 * is read, of links a direction. `closed`: of a path that is a sum of loops, carried along s: out(x) = U_s(x) path(x + s)
 * U_s(x)^dagger. `add`: adds to out. */
FN void T(path_step_site)(const path_step_args *a, long u)
{
    const geom *g = &a->g;
    const T(walker) home = T(walk_from)(g, a->parity, u);
    vreal p[18], link[18], r[18];
    const int d = a->step / 2, back = a->step % 2;
    const T(walker) there = a->step < 0 ? home : T(walk)(g, home, d, back ? -1 : 1);
    T(walk_load)(p, g, &a->path, there, a->group, 18);
    if (a->bare) {
        UNROLL for (int i = 0; i < 18; i++) r[i] = p[i];
    } else {
        T(walk_load)(link, g, &a->links, back ? there : home, d, 18);
        if (back) T(su3_mul_left_dagger)(r, link, p);
        else T(su3_mul)(r, link, p);
        if (a->closed) {
            if (back) T(su3_mul)(p, r, link);
            else T(su3_mul_right_dagger)(p, r, link);
            UNROLL for (int i = 0; i < 18; i++) r[i] = p[i];
        }
    }
    if (a->add) {
        T(load)(p, &a->out, u, 0, 18);
        T(su3_add)(r, p);
    }
    T(save)(r, &a->out, u, 0, 18);
}

/* A strip of one step more, and the sum over a parity of its Wilson loops: out = N_t from strip = N_t-1, end = E, path = P. */
FN void T(loop_strip_site)(const loop_strip_args *a, long u, vexact *sum)
{
    const geom *g = &a->g;
    const T(walker) home = T(walk_from)(g, a->parity, u);
    vreal m[18], n[18], r[18];
    vdouble s = vdouble_zero();
    T(walk_load)(m, g, &a->links, home, a->nu, 18);
    T(walk_load)(n, g, &a->strip, T(walk)(g, home, a->nu, 1), 0, 18);
    T(su3_mul)(r, m, n);
    T(walk_load)(m, g, &a->end, home, 0, 18);
    T(su3_mul_right_dagger)(n, r, m);
    T(save)(n, &a->out, u, 0, 18);
    T(walk_load)(m, g, &a->path, home, 0, 18);
    T(add_real)(&s, T(su3_trace_product_dagger)(n, m));
    T(exact_deposit)(&sum[0], s);
}

/* A plane of a tensor from a sum of loops: weight (path - path^dagger) / 2; `add`: is added to it. */
FN void T(tensor_plane_site)(const tensor_plane_args *a, long u)
{
    vreal p[18], x[9], before[9];
    T(load)(p, &a->path, u, 0, 18);
    T(su3_antihermitian)(x, p);
    UNROLL for (int i = 0; i < 9; i++) x[i] *= (real)a->weight;
    if (a->add) {
        T(load)(before, &a->out, u, a->plane, 9);
        UNROLL for (int i = 0; i < 9; i++) x[i] += before[i];
    }
    T(save)(x, &a->out, u, a->plane, 9);
}

/* Sum over a parity, and the four links of its sites, of |x - y|^2. */
FN void T(links_distance_site)(const links_distance_args *a, long u, vexact *sum)
{
    vdouble s = vdouble_zero();
    for (int mu = 0; mu < 4; mu++) {
        vreal x[18], y[18];
        T(load)(x, &a->x, u, mu, 18);
        T(load)(y, &a->y, u, mu, 18);
        UNROLL for (int i = 0; i < 18; i++)
        {
            const vreal d = x[i] - y[i];
            s = vdouble_fma(d, d, s);
        }
    }
    T(exact_deposit)(&sum[0], s);
}

/* Sum over a parity of Re (tr x conj(tr y)). */
FN void T(trace_products_site)(const trace_products_args *a, long u, vexact *sum)
{
    vreal x[18], y[18];
    vdouble s = vdouble_zero();
    T(load)(x, &a->x, u, 0, 18);
    T(load)(y, &a->y, u, 0, 18);
    for (int part = 0; part < 2; part++)
        s = vdouble_fma(x[part] + x[8 + part] + x[16 + part], y[part] + y[8 + part] + y[16 + part], s);
    T(exact_deposit)(&sum[0], s);
}
