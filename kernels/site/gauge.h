/* Loops, forces and field strength of the links, updates of links and momenta. */

/* Number of the weight of a rectangle in the plane mu, nu with its two links along mu (kernels/ops/gauge.h). */
FN int T(rectangle_kind)(int mu, int nu)
{
    return mu == 3 ? 2 : nu == 3;
}

/* Re tr P^2 of the plaquette P = m n^dagger. */
FN vreal T(trace_twice)(const vreal m[18], const vreal n[18])
{
    vreal p[18], q[18];
    T(su3_mul_right_dagger)(p, m, n);
    T(su3_mul_right_dagger)(q, n, m);
    return T(su3_trace_product_dagger)(p, q);
}

/* Sums over a parity of Re tr: spatial plaquettes, temporal plaquettes, 1x2 rectangles and plaquettes that wind twice times their
 * weights, links. */
FN void T(loops_site)(const loops_args *a, long u, vexact *sum)
{
    const geom *g = &a->g;
    const T(walker) home = T(walk_from)(g, a->parity, u);
    vdouble s[4];
    for (int k = 0; k < 4; k++) s[k] = vdouble_zero();
    const vreal of_space = T(space_factor)(&a->ends, g, home),
                of_time = T(time_factor)(&a->ends, a->ends.time, g, home, 0),
                along = T(time_factor)(&a->ends, a->ends.along, g, home, 0);
    for (int mu = 0; mu < 4; mu++) {
        vreal link[18], m[18];
        T(walk_load)(link, g, &a->links, home, mu, 18);
        T(add_real)(&s[3], T(su3_trace)(link));
        for (int nu = 0; nu < 4; nu++) {
            if (nu == mu) continue;
            const int nu_mu[2] = {2 * nu, 2 * mu}, rectangle[4] = {2 * nu, 2 * nu, 2 * mu, 2 * nu + 1};
            if (nu > mu) {
                vreal n[18];
                const int mu_nu[2] = {2 * mu, 2 * nu};
                T(walk_product)(m, g, &a->links, home, mu_nu, 2, 3);
                T(walk_product)(n, g, &a->links, home, nu_mu, 2, 3);
                T(add_real)(&s[nu == 3], (nu == 3 ? of_time : of_space) * T(su3_trace_product_dagger)(m, n));
                if (nu == 3 && a->rectangle[1] != 0 && T(winds_twice)(&a->ends)) {
                    const vreal twice = T(end_factor)(a->ends.twice, 0, g, home, 0, a->ends.last - 1);
                    T(add_real)(&s[2], twice * (vset((real)a->rectangle[1]) * T(trace_twice)(m, n)));
                }
            }
            const double weight = a->rectangle[T(rectangle_kind)(nu, mu)];
            if (weight != 0) {
                vreal n[18], r[18];
                T(walker) w = T(walk)(g, home, mu, 1);
                T(walk_product)(m, g, &a->links, home, rectangle, 3, 3);
                T(walk_load)(n, g, &a->links, w, nu, 18);
                T(su3_mul)(r, link, n);
                w = T(walk)(g, w, nu, 1);
                T(walk_load)(n, g, &a->links, w, nu, 18);
                vreal q[18];
                T(su3_mul)(q, r, n);
                const vreal factor = nu == 3 ? vset(1) : mu == 3 ? along : of_space;
                T(add_real)(&s[2], factor * (vset((real)weight) * T(su3_trace_product_dagger)(q, m)));
            }
        }
    }
    for (int k = 0; k < 4; k++) T(exact_deposit)(&sum[k], s[k]);
}

/* Sums over a parity of Re tr of the 16 parallelograms a site, mu nu rho -mu -nu -rho with mu < nu < rho, mu forwards
 * and nu and rho both ways: two ways round a cube to the corner opposite. */
FN void T(parallelograms_site)(const parallelograms_args *a, long u, vexact *sum)
{
    const geom *g = &a->g;
    const T(walker) home = T(walk_from)(g, a->parity, u);
    vdouble s = vdouble_zero();
    for (int mu = 0; mu < 2; mu++)
        for (int n = 2 * mu + 2; n < 6; n++)
            for (int r = n / 2 * 2 + 2; r < 8; r++) {
                const int there[3] = {2 * mu, n, r}, other[3] = {r, n, 2 * mu};
                vreal p[18], q[18];
                T(walk_product)(p, g, &a->links, home, there, 3, 3);
                T(walk_product)(q, g, &a->links, home, other, 3, 3);
                T(add_real)(&s, T(su3_trace_product_dagger)(p, q));
            }
    T(exact_deposit)(&sum[0], s);
}

/* momenta[mu] += P(U_mu(x) sum), P the traceless anti-Hermitian part. */
FN void T(staples_to_momenta)(const view *momenta, const geom *g, const view *links, T(walker) home, int mu,
                              const vreal sum[18])
{
    vreal link[18], m[18], x[8], p[8];
    T(walk_link)(link, g, links, home, mu, 2);
    T(su3_mul)(m, link, sum);
    T(su3_project)(x, m);
    T(load)(p, momenta, home.unit, mu, 8);
    UNROLL for (int i = 0; i < 8; i++) p[i] += x[i];
    T(save)(p, momenta, home.unit, mu, 8);
}

/* sum += factor V U V, the derivative of tr (U V)^2 / 2 with U the link and V the rest of the plaquette, which takes these steps. */
FN void T(add_winding)(vreal sum[18], const geom *g, const view *links, T(walker) home, int mu, const int steps[3],
                       vreal factor)
{
    vreal link[18], v[18], w[18];
    T(walk_product)(v, g, links, T(walk)(g, home, mu, 1), steps, 3, 2);
    T(walk_link)(link, g, links, home, mu, 2);
    T(su3_mul)(w, v, link);
    T(su3_mul)(link, w, v);
    T(su3_axpy)(sum, factor, link);
}

/* Force of the plaquette and rectangle action: momenta += P(U_mu(x) sum of staples), the staples weighted with those of c0
 * and c1. A staple goes n b back from the link's end, b against mu, and one of the rectangles f n b in place of n. bounded: a
 * literal, whether loops next to the ends of time have factors. */
FN void T(gauge_force_of)(const gauge_force_args *a, const geom *g, T(walker) home, int mu, int bounded)
{
    const T(walker) end = T(walk)(g, home, mu, 1);
    const int f = 2 * mu, b = 2 * mu + 1;
    vreal sum[18], m[18], u[18];
    T(su3_zero)(sum);
    for (int nu = 0; nu < 4; nu++) {
        if (nu == mu) continue;
        const double along[2] = {a->c1[T(rectangle_kind)(mu, nu)], a->c1[T(rectangle_kind)(nu, mu)]};
        const int in_time = mu == 3 || nu == 3;
        UNROLL for (int side = 0; side < 2; side++)
        {
            const int n = 2 * nu + side, back = 2 * nu + 1 - side;
            const int around[3] = {f, n, b}, rectangles[2][5] = {{n, b, b, back, f}, {n, n, b, back, back}};
            const int above = nu == 3 && side ? -1 : 0; /* lower slice of loops of one link in time */
            const vreal factor = !bounded  ? vset(1)
                                 : in_time ? T(time_factor)(&a->ends, a->ends.time, g, home, above)
                                           : T(space_factor)(&a->ends, g, home);
            /* Rectangles of two links along mu; of two along nu. */
            const vreal on_wall =
                            bounded && in_time ? T(time_factor)(&a->ends, a->ends.along, g, home, above) : vset(1),
                        of_rectangles[2] = {!in_time  ? factor
                                            : mu == 3 ? vset(1)
                                                      : on_wall,
                                            !in_time  ? factor
                                            : mu == 3 ? on_wall
                                                      : vset(1)},
                        c0 = factor * (real)a->c0[in_time];
            T(walker) w = end;
            T(su3_zero)(m);
            if (along[0] != 0) {
                T(walk_product)(m, g, &a->links, end, around, 3, 2);
                const vreal c1 = of_rectangles[0] * (real)along[0];
                UNROLL for (int i = 0; i < 18; i++) m[i] *= c1;
            }
            T(step_first)(u, g, &a->links, &w, n, 2);
            T(su3_axpy)(m, c0, u);
            T(step_mul)(m, g, &a->links, &w, b, 2);
            T(step_mul)(m, g, &a->links, &w, back, 2);
            T(su3_add)(sum, m);
            for (int k = 0; k < 2; k++) {
                if (along[k] == 0) continue;
                T(walk_product)(m, g, &a->links, end, rectangles[k], 5, 2);
                T(su3_axpy)(sum, of_rectangles[k] * (real)along[k], m);
            }
            if (bounded && in_time && a->c1[1] != 0 && T(winds_twice)(&a->ends)) {
                const vreal twice = T(end_factor)(a->ends.twice, 0, g, home, above, a->ends.last - 1);
                const int rest[3] = {n, b, back};
                T(add_winding)(sum, g, &a->links, home, mu, rest, twice * (real)(2 * a->c1[1]));
            }
        }
    }
    T(staples_to_momenta)(&a->momenta, g, &a->links, home, mu, sum);
}

#define PARTS_gauge_force 4
#define REACH_gauge_force 2
FN void T(gauge_force_part)(const gauge_force_args *a, const geom *g, T(walker) home, int mu)
{
    T(gauge_force_of)(a, g, home, mu, 0);
}
PARTS_SITE(gauge_force)

#define PARTS_gauge_force_bounded 4
#define REACH_gauge_force_bounded 2
FN void T(gauge_force_bounded_part)(const gauge_force_bounded_args *a, const geom *g, T(walker) home, int mu)
{
    T(gauge_force_of)(a, g, home, mu, 1);
}
PARTS_SITE(gauge_force_bounded)

/* Force of parallelograms: 24 of them start with a link. */
#define PARTS_parallelogram_force 4
#define REACH_parallelogram_force 1
FN void T(parallelogram_force_part)(const parallelogram_force_args *a, const geom *g, T(walker) home, int mu)
{
    const T(walker) end = T(walk)(g, home, mu, 1);
    vreal sum[18], m[18], p[18], rest[18];
    T(su3_zero)(sum);
    for (int n = 0; n < 8; n++) {
        if (n / 2 == mu) continue;
        T(walker) w = T(walk)(g, end, n / 2, n % 2 ? -1 : 1);
        T(su3_zero)(rest);
        for (int r = 0; r < 8; r++) {
            if (r / 2 == mu || r / 2 == n / 2) continue;
            const int steps[4] = {r, 2 * mu + 1, n ^ 1, r ^ 1};
            T(walk_product)(m, g, &a->links, w, steps, 4, 2);
            T(su3_add)(rest, m);
        }
        w = end;
        T(step_first)(m, g, &a->links, &w, n, 2);
        T(su3_mul)(p, m, rest);
        T(su3_add)(sum, p);
    }
    UNROLL for (int i = 0; i < 18; i++) sum[i] *= (real)a->c2;
    T(staples_to_momenta)(&a->momenta, g, &a->links, home, mu, sum);
}
PARTS_SITE(parallelogram_force)

/* Field strength F = (Q - Q^dagger) / 8 with Q the sum of the four leaves of the clover, one plane after the other. Two
 * leaves of each side start with its link once one of them is run backwards, which turns the sign of its anti-Hermitian
 * part. */
#define PARTS_field_strength 6
#define REACH_field_strength 1
FN void T(field_strength_part)(const field_strength_args *a, const geom *g, T(walker) home, int plane)
{
    const int mu = plane < 3 ? 0 : plane < 5 ? 1 : 2, nu = plane < 3 ? plane + 1 : plane < 5 ? plane - 1 : 3;
    const int m = 2 * mu;
    vreal q[18], x[9];
    T(su3_zero)(q);
    UNROLL for (int side = 0; side < 2; side++)
    {
        const int n = 2 * nu + side, plus[3] = {m + !side, n ^ 1, m + side}, minus[3] = {m + side, n ^ 1, m + !side};
        T(walker) w = home;
        vreal first[18], rest[18], other[18];
        T(step_first)(first, g, &a->links, &w, n, 3);
        T(walk_product)(rest, g, &a->links, w, plus, 3, 3);
        T(walk_product)(other, g, &a->links, w, minus, 3, 3);
        UNROLL for (int i = 0; i < 18; i++) rest[i] -= other[i];
        T(su3_mul)(other, first, rest);
        T(su3_add)(q, other);
    }
    T(su3_antihermitian)(x, q);
    UNROLL for (int i = 0; i < 9; i++) x[i] *= (real)0.25;
    T(save)(x, &a->out, home.unit, plane, 9);
}
PARTS_SITE(field_strength)

/* -tr(A B) for anti-Hermitian matrices without their traces. */
FN vreal T(tensor_product)(const vreal x[9], const vreal y[9])
{
    const vreal tx = (real)(1.0 / 3.0) * (x[0] + x[1] + x[2]), ty = (real)(1.0 / 3.0) * (y[0] + y[1] + y[2]);
    vreal s = vset(0);
    UNROLL for (int i = 0; i < 3; i++) s = vfma(x[i] - tx, y[i] - ty, s);
    UNROLL for (int i = 3; i < 9; i++) s = vfma((real)2 * x[i], y[i], s);
    return s;
}

/* Sums over a parity of -tr F F in temporal and in spatial planes, and of the charge density
 * -eps tr F F / (32 pi^2) (M. Luescher, arXiv:1006.4518), F without its trace. */
FN void T(energy_site)(const energy_args *a, long u, vexact *sum)
{
    vreal f[6][9]; /* xy xz xt yz yt zt */
    for (int p = 0; p < 6; p++) T(load)(f[p], &a->tensor, u, p, 9);
    vdouble s[3] = {vdouble_zero(), vdouble_zero(), vdouble_zero()};
    for (int p = 0; p < 6; p++) T(add_real)(&s[p == 2 || p == 4 || p == 5 ? 0 : 1], T(tensor_product)(f[p], f[p]));
    const vreal charge = T(tensor_product)(f[0], f[5]) - T(tensor_product)(f[1], f[4]) + T(tensor_product)(f[2], f[3]);
    s[2] = vdouble_fma(charge, vset((real)(8.0 / (32.0 * 9.8696044010893586188))), s[2]);
    for (int k = 0; k < 3; k++) T(exact_deposit)(&sum[k], s[k]);
}

/* Densities of the energy and the charge at a site, for sums by slices: re and im of channel 0 are -tr F F in temporal and in spatial
 * planes; of channel 1 the charge, and 3 - Re tr of spatial plaquettes; channel 2 that of temporal ones, those that there are. */
FN void T(energy_density_site)(const energy_density_args *a, long u)
{
    const geom *g = &a->g;
    const T(walker) home = T(walk_from)(g, a->parity, u);
    vreal f[6][9], rho[6];
    for (int p = 0; p < 6; p++) T(load)(f[p], &a->tensor, u, p, 9);
    UNROLL for (int i = 0; i < 6; i++) rho[i] = vset(0);
    for (int p = 0; p < 6; p++) rho[p == 2 || p == 4 || p == 5 ? 0 : 1] += T(tensor_product)(f[p], f[p]);
    rho[2] = T(tensor_product)(f[0], f[5]) - T(tensor_product)(f[1], f[4]) + T(tensor_product)(f[2], f[3]);
    rho[2] *= (real)(8.0 / (32.0 * 9.8696044010893586188));
    for (int mu = 0; mu < 3; mu++)
        for (int nu = mu + 1; nu < 4; nu++) {
            const int one[2] = {2 * mu, 2 * nu}, other[2] = {2 * nu, 2 * mu};
            vreal m[18], n[18];
            T(walk_product)(m, g, &a->links, home, one, 2, 3);
            T(walk_product)(n, g, &a->links, home, other, 2, 3);
            rho[nu == 3 ? 4 : 3] += (real)3 - T(su3_trace_product_dagger)(m, n);
        }
    for (int lane = 0; a->bounded && lane < W; lane++) {
        const int t = T(time_slice)(g, home, lane);
        if (t >= a->last) LANE(rho[4], lane) = 0;
        if (t > a->last) LANE(rho[3], lane) = 0;
    }
    for (int c = 0; c < 3; c++) T(save)(rho + 2 * c, &a->out, u, c, 2);
}

/* U = exp(dt P) U, dt that of the direction, then projected back to the group against round-off. */
FN void T(link_update_site)(const link_update_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[8], e[18], link[18], r[18];
        T(load)(x, &a->momenta, u, mu, 8);
        UNROLL for (int i = 0; i < 8; i++) x[i] *= (real)a->dt[mu == 3];
        T(su3_exp)(e, x);
        T(load)(link, &a->links, u, mu, 18);
        T(su3_mul)(r, e, link);
        T(su3_unitarise)(r);
        for (int lane = 0; a->walls && lane < W; lane++) {
            real most = 0;
            UNROLL for (int i = 0; i < 8; i++) most += LANE(x[i], lane) != 0;
            if (most == 0) UNROLL for (int i = 0; i < 18; i++) LANE(r[i], lane) = LANE(link[i], lane);
        }
        T(save)(r, &a->links, u, mu, 18);
    }
}

/* Links projected to the group, and the sum of |U^dagger U - 1|^2 + |det U - 1|^2 before. */
FN void T(unitarise_site)(const unitarise_args *a, long u, vexact *sum)
{
    vdouble s = vdouble_zero();
    for (int mu = 0; mu < 4; mu++) {
        vreal link[18], m[18], third[18];
        T(load)(link, &a->links, u, mu, 18);
        T(su3_mul_left_dagger)(m, link, link);
        m[0] -= (real)1;
        m[8] -= (real)1;
        m[16] -= (real)1;
        UNROLL for (int i = 0; i < 18; i++) s = vdouble_fma(m[i], m[i], s);
        UNROLL for (int i = 0; i < 18; i++) third[i] = link[i];
        T(su3_third_row)(third);
        UNROLL for (int i = 12; i < 18; i++) s = vdouble_fma(third[i] - link[i], third[i] - link[i], s);
        T(su3_unitarise)(link);
        T(save)(link, &a->links, u, mu, 18);
    }
    T(exact_deposit)(&sum[0], s);
}

/* y += a x for momenta, a that of the direction. */
FN void T(momenta_add_site)(const momenta_add_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[8], y[8];
        T(load)(x, &a->x, u, mu, 8);
        T(load)(y, &a->y, u, mu, 8);
        UNROLL for (int i = 0; i < 8; i++) y[i] = vfma(vset((real)a->a[mu == 3]), x[i], y[i]);
        T(save)(y, &a->y, u, mu, 8);
    }
}

/* -sum weight tr X Y, the weight that of the direction */
FN void T(momenta_dot_site)(const momenta_dot_args *a, long u, vexact *sum)
{
    vdouble s = vdouble_zero();
    for (int mu = 0; mu < 4; mu++) {
        vreal x[8], y[8];
        T(load)(x, &a->x, u, mu, 8);
        T(load)(y, &a->y, u, mu, 8);
        UNROLL for (int i = 0; i < 8; i++) y[i] *= (real)a->weight[mu == 3];
        s = vdouble_fma(x[0], y[0], s);
        s = vdouble_fma(x[1], y[1], s);
        s = vdouble_fma(x[0] + x[1], y[0] + y[1], s);
        UNROLL for (int i = 2; i < 8; i++) s = vdouble_fma((real)2 * x[i], y[i], s);
    }
    T(exact_deposit)(&sum[0], s);
}

/* y_mu = x_mu as matrices, where links of a field stand. */
FN void T(momenta_matrix_site)(const momenta_matrix_args *a, long u)
{
    for (int mu = 0; mu < 4; mu++) {
        vreal x[8], m[18];
        T(load)(x, &a->x, u, mu, 8);
        T(su3_from_algebra)(m, x);
        T(save)(m, &a->y, u, mu, 18);
    }
}

/* y_mu(x) += a (U_mu(x) M_mu(x+mu) U_mu(x)^dagger + U_mu(x-mu)^dagger M_mu(x-mu) U_mu(x-mu) - 2 M_mu(x)): the covariant second
 * difference of each direction along itself, of matrices M in the algebra. */
#define PARTS_momenta_laplace 4
#define REACH_momenta_laplace 1
FN void T(momenta_laplace_part)(const momenta_laplace_args *a, const geom *g, T(walker) home, int mu)
{
    const T(walker) up = T(walk)(g, home, mu, 1), down = T(walk)(g, home, mu, -1);
    vreal link[18], m[18], r[18], sum[18], x[8], y[8];
    T(walk_load)(link, g, &a->links, home, mu, 18);
    T(walk_load)(m, g, &a->matrix, up, mu, 18);
    T(su3_mul)(r, link, m);
    T(su3_mul_right_dagger)(sum, r, link);
    T(walk_load)(link, g, &a->links, down, mu, 18);
    T(walk_load)(m, g, &a->matrix, down, mu, 18);
    T(su3_mul_left_dagger)(r, link, m);
    T(su3_mul)(m, r, link);
    T(su3_add)(sum, m);
    T(walk_load)(m, g, &a->matrix, home, mu, 18);
    T(su3_axpy)(sum, vset(-2), m);
    T(su3_project)(x, sum);
    T(load)(y, &a->y, home.unit, mu, 8);
    UNROLL for (int i = 0; i < 8; i++) y[i] = vfma(vset((real)a->a), x[i], y[i]);
    T(save)(y, &a->y, home.unit, mu, 8);
}
PARTS_SITE(momenta_laplace)
