#include "hmc/measure/current_source.h"

#include <stdlib.h>

#include "hmc/measure/conserved.h"
#include "hmc/quarks/quark_links.h"
#include "hmc/quarks/quark_wilson.h"
#include "hmc/sources/gamma.h"
#include "kernels/ops/vector.h"

/* x on time slice t (all for t < 0) becomes factor (1 + sign gamma_mu) wave x, and zero elsewhere; without the wave for place = null. */
static void project(field *x, int t, const int *momentum, const int *place, double factor, int sign, int mu)
{
    const lattice *lat = x->lat;
    const int *l = lat->local, *o = lat->origin, columns = x->nrhs;
    const spin_matrix gamma = gamma_number(1 << mu);
    double *slice = field_slice_buffer(x);
    for (int local = 0; local < field_slices(x); local++) {
        const int here = t < 0 || local + o[3] == t;
        field_export(x, local, slice);
#pragma omp parallel for schedule(static)
        for (long site = 0; site < (long)l[0] * l[1] * l[2]; site++) {
            double complex *all = (double complex *)(void *)slice + 12 * columns * site;
            double complex wave = here ? factor : 0;
            if (here && place) {
                const int at[3] = {(int)(site % l[0]) + o[0] - place[0], (int)(site / l[0] % l[1]) + o[1] - place[1],
                                   (int)(site / l[0] / l[1]) + o[2] - place[2]};
                wave *= source_wave(momentum, at, lat->size);
            }
            for (int k = 0; k < columns; k++) {
                double complex *v = all + 12 * k, out[12];
                for (int r = 0; r < 12; r++)
                    out[r] = wave * (v[r] + sign * gamma.value[r / 3] * v[3 * gamma.at[r / 3] + r % 3]);
                for (int r = 0; r < 12; r++) v[r] = out[r];
            }
        }
        field_import(x, local, slice);
    }
    free(slice);
}

/* w(x) S(x) on the slice, zero elsewhere. */
static field *on_slice(const propagator *from, const sequential_keys *k)
{
    field *x = field_like(from->columns), *half = field_like(from->columns);
    vector_axpby(x, 1, from->columns, 0);
    vector_axpby(half, 1, from->columns, 0);
    /* Half of (1 + gamma_t) and of (1 - gamma_t). */
    project(x, k->time, k->momentum, from->place, 0.5, 1, 3);
    project(half, k->time, k->momentum, from->place, 0.5, -1, 3);
    vector_axpby(x, 1, half, 1);
    field_destroy(half);
    return x;
}

field *current_sources(const measure_context *c, const propagator *from, const source_params *s)
{
    const sequential_keys *k = source_sequential(s);
    const quark_params *f = &c->p->quarks[parameters_quark(c->p, from->of->p.quark)].p;
    const wilson_keys *w = wilson_keys_of(f);
    const int mu = source_current(s);
    const double factor = mu < 3 ? w->nu / w->xi_0 : 1;
    link_map *map = quark_map(c->links, f, NULL, 0);
    const field *links = map ? link_map_links(map) : c->links;
    field *slice = on_slice(from, k);
    /* A hop has (1 - gamma) U S(x + mu) and (1 + gamma) U^dagger S(x - mu), and (1 +- gamma) (1 -+ gamma) = 0. */
    field *forward = conserved_hop(links, slice, mu), *back = conserved_hop(links, from->columns, mu);
    project(forward, -1, NULL, NULL, 0.25 * factor, 1, mu);
    project(back, k->time, k->momentum, from->place, -0.25 * factor, -1, mu);
    vector_axpby(forward, 1, back, 1);
    field_destroy(back);
    field_destroy(slice);
    link_map_destroy(map);
    return forward;
}
