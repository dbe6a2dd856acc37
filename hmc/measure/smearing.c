#include "hmc/measure/smearing.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

static field *spatial_links(const field *links)
{
    field *space = field_like(links);
    const int *l = links->lat->local;
    const size_t sites = (size_t)l[0] * l[1] * l[2];
    double *slice = field_slice_buffer(links);
    for (int t = 0; t < field_slices(links); t++) {
        field_export(links, t, slice);
        for (size_t i = 0; i < sites; i++) memset(slice + 72 * i + 54, 0, 18 * sizeof *slice);
        field_import(space, t, slice);
    }
    free(slice);
    return space;
}

void gaussian_open(gaussian *g, const field *links, double width, int steps)
{
    *g = (gaussian){.width = width, .steps = steps, .space = steps ? spatial_links(links) : NULL};
}

void gaussian_close(gaussian *g)
{
    field_destroy(g->space);
}

void gaussian_smear(const gaussian *g, field *chi)
{
    const double k = g->steps ? g->width * g->width / (4 * g->steps) : 0;
    field *next = g->steps ? field_like(chi) : NULL;
    for (int i = 0; i < g->steps; i++) {
        for (int p = 0; p < 2; p++) {
            wilson_hop_call call = {
                .form = HOP_ADD, .a = 0.5 * k, .b = 1 - 6 * k, .sign = 1, .links = g->space, .add = chi};
            wilson_hop(next, (parity)p, chi, &call);
            call.b = 1;
            call.sign = -1;
            call.add = next;
            wilson_hop(next, (parity)p, chi, &call);
        }
        vector_axpby(chi, 1, next, 0);
    }
    field_destroy(next);
}
