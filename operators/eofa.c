#include "operators/eofa.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/wilson.h"
#include "operators/fifth.h"

struct eofa {
    const field *links;
    mobius_settings s;
    double heavy, kappa, w[DOMAINWALL_SLICES]; /* w_+ */
    fifth_matrix N;                            /* N of the lighter mass */
};

/* w is the last row of B_+(heavy)^-1, and R B_+(m)^-1 e_0 a multiple of it. */
static void find_step(eofa *e)
{
    const mobius_settings *s = &e->s;
    const int Ls = s->Ls;
    const fifth_matrix B = fifth_step(Ls, s->mass, s->b5, s->c5), B_heavy = fifth_step(Ls, e->heavy, s->b5, s->c5),
                       rest = fifth_step(Ls, s->mass, 1, -1), inverse = fifth_inverse(&B, "b5 + c5 S"),
                       inverse_heavy = fifth_inverse(&B_heavy, "b5 + c5 S");
    int largest = 0;
    e->N = fifth_product(&rest, &inverse);
    for (int k = 0; k < Ls; k++) {
        e->w[k] = inverse_heavy.of[0][Ls - 1][k];
        if (fabs(e->w[k]) > fabs(e->w[largest])) largest = k;
    }
    e->kappa = (s->b5 + s->c5) * (e->heavy - s->mass) * inverse.of[0][Ls - 1 - largest][0] / e->w[largest];
}

eofa *eofa_create(const field *links, const mobius_settings *s, double heavy)
{
    eofa *e = calloc(1, sizeof *e);
    REQUIRE_MEMORY(e, "out of memory");
    REQUIRE(s->Ls % 2 == 0 && s->mass > 0 && s->mass < heavy, "EOFA of masses %g and %g on %d slices", s->mass, heavy,
            s->Ls);
    REQUIRE(!s->map || s->map->from == links, "a map of other links");
    e->links = links;
    e->s = *s;
    if (s->map) link_map_share(s->map);
    e->heavy = heavy;
    find_step(e);
    return e;
}

void eofa_destroy(eofa *e)
{
    if (e) link_map_destroy(e->s.map);
    free(e);
}

void eofa_bounds(const eofa *e, double *low, double *high)
{
    const double ratio = pow(e->s.c5 / e->s.b5, e->s.Ls);
    *low = (1 + e->s.mass * ratio) / (1 + e->heavy * ratio);
    *high = *low * e->heavy / e->s.mass;
}

double eofa_factor(const eofa *e, int chirality)
{
    return chirality == 0 ? e->kappa : -e->kappa;
}

/* N_+ + f_+ kappa R w w^T; and as R N_- = N_+ R, N_- + f_- kappa w w^T R. */
fermion *eofa_quark(const eofa *e, int chirality, double g)
{
    const int Ls = e->s.Ls;
    const double f[2] = {chirality == 0 ? g : 0, chirality == 0 ? 1 : g};
    fifth_matrix N = e->N;
    for (int i = 0; i < Ls; i++)
        for (int j = 0; j < Ls; j++) {
            N.of[0][i][j] += f[0] * e->kappa * e->w[Ls - 1 - i] * e->w[j];
            N.of[1][i][j] += f[1] * e->kappa * e->w[i] * e->w[Ls - 1 - j];
        }
    return mobius_with(e->links, &e->s, &N);
}

void eofa_enter(const eofa *e, int chirality, field *source, const field *phi)
{
    const int Ls = e->s.Ls;
    fifth_matrix enter = domainwall_matrix(Ls, 1);
    for (int s = 0; s < Ls; s++) enter.of[chirality][s][0] = chirality == 0 ? e->w[Ls - 1 - s] : -e->w[s];
    domainwall_map(source, &enter, 0, phi);
}

void eofa_leave(const eofa *e, int chirality, field *y, double factor, const field *x)
{
    const int Ls = e->s.Ls;
    fifth_matrix leave = domainwall_matrix(1, Ls);
    for (int s = 0; s < Ls; s++) leave.of[chirality][0][s] = e->w[chirality == 0 ? s : Ls - 1 - s];
    FOR_PARITIES(p, y) domainwall_fifth(y, (parity)p, factor, &leave, 0, x, 1, y);
}

/* d (factor phi^dagger w^T H^-1 w phi) = -factor X^dagger gamma5 R dD_W X */
void eofa_add_force(const eofa *e, int chirality, field *force, const field *x)
{
    const double half = 0.5 * eofa_factor(e, chirality);
    const fifth_matrix reflect = fifth_reflection(e->s.Ls, half, -half);
    link_map *map = e->s.map;
    field *y = field_like(x), *sum = link_map_open_force(map, force);
    domainwall_map(y, &reflect, 0, x);
    hop_force(sum, map ? link_map_links(map) : e->links, x, y, 1);
    link_map_close_force(map, force, sum);
    field_destroy(y);
}
