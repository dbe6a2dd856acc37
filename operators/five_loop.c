#include "operators/five_loop.h"

#include <math.h>

#include "kernels/base/error.h"
#include "kernels/ops/wilson_loop.h"

void five_loop_sizes(loop_size sizes[FIVE_LOOP_SIZES], double c_5)
{
    const loop_size all[FIVE_LOOP_SIZES] = {{1, 1, (19 - 55 * c_5) / 9},
                                            {2, 2, (1 - 64 * c_5) / 9},
                                            {1, 2, (-64 + 640 * c_5) / 45},
                                            {1, 3, 0.2 - 2 * c_5},
                                            {3, 3, c_5}};
    for (int i = 0; i < FIVE_LOOP_SIZES; i++) sizes[i] = all[i];
}

/* Colour matrices to work in; the current path is at[now]. */
typedef struct {
    const field *links;
    field *at[2], *sum;
    int now;
} paths;

/* The path begins with n more steps before. */
static void go(paths *p, int step, int n)
{
    for (int i = 0; i < n; i++, p->now ^= 1) path_step(p->at[p->now ^ 1], p->links, step, p->at[p->now], 0);
}

/* p->sum becomes itself and what it is after n steps of parallel transport: a leaf on either side of a site. */
static void mirror(paths *p, int step, int n)
{
    path_shift(p->at[p->now], -1, p->sum, 0);
    for (int i = 0; i < n; i++, p->now ^= 1) path_carry(p->at[p->now ^ 1], p->links, step, p->at[p->now]);
    path_add(p->sum, p->at[p->now]);
}

/* The sum of the four leaves of m x n loops: the loop +mu +nu -mu -nu, and that carried m steps along mu, n along nu, and both. */
static void clover(paths *p, int mu, int nu, int m, int n)
{
    gauge_cold(p->at[p->now]);
    go(p, 2 * nu + 1, n);
    go(p, 2 * mu + 1, m);
    go(p, 2 * nu, n);
    go(p, 2 * mu, m);
    path_shift(p->sum, -1, p->at[p->now], 0);
    mirror(p, 2 * mu + 1, m);
    mirror(p, 2 * nu + 1, n);
}

void loop_field_strength(field *tensor, const field *links, int m, int n)
{
    paths p = {.links = links};
    REQUIRE(links->lat->time == TIME_PERIODIC, "loops of several links at the ends of time");
    p.sum = field_create(links->lat, FIELD_COLOUR_MATRIX, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    for (int i = 0; i < 2; i++) p.at[i] = field_like(p.sum);
    int plane = 0;
    for (int mu = 0; mu < 4; mu++)
        for (int nu = mu + 1; nu < 4; nu++, plane++) {
            const double weight = 0.25 / (m * n) / (m == n ? 1 : 2);
            clover(&p, mu, nu, m, n);
            path_to_tensor(tensor, plane, weight, p.sum, 0);
            if (m == n) continue;
            clover(&p, mu, nu, n, m);
            path_to_tensor(tensor, plane, weight, p.sum, 1);
        }
    for (int i = 0; i < 2; i++) field_destroy(p.at[i]);
    field_destroy(p.sum);
}

gauge_energy five_loop_energy(field *tensor, const field *links, double c_5)
{
    loop_size sizes[FIVE_LOOP_SIZES];
    gauge_energy sum = {0};
    five_loop_sizes(sizes, c_5);
    for (int i = 0; i < FIVE_LOOP_SIZES; i++) {
        const double c = sizes[i].c;
        if (fabs(c) < 1e-12) continue;
        loop_field_strength(tensor, links, sizes[i].m, sizes[i].n);
        const gauge_energy e = gauge_field_energy(tensor);
        sum.temporal += c * e.temporal;
        sum.spatial += c * e.spatial;
        sum.charge += c * e.charge;
    }
    return sum;
}
