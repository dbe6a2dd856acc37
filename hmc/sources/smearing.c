#include "hmc/sources/smearing.h"

#include <stddef.h>
#include <stdio.h>

#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

static const param keys[] = {
    {"width", PARAM_REAL, offsetof(smearing_params, width), NULL, "(0,1000]", "a",
     "w: n steps of chi - (w^2 / 4n) (6 chi - sum of neighbours in space)", 0},
    {"steps", PARAM_INT, offsetof(smearing_params, steps), NULL, "[1,10000]", NULL, "n; at least w^2", 0},
    {"links", PARAM_NAME, offsetof(smearing_params, links), "", "links", NULL,
     "[links.NAME] to neighbours; empty: the links of the ensemble", 0},
};
static const param_section section = {"smearing",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(smearing_params),
                                      "gauge covariant Gaussian smearing in space, of sources and sinks",
                                      NULL};

const param_section *smearing_section(void)
{
    return &section;
}

const char *smearing_check(const named_smearing *s, char *message, size_t size)
{
    if (s->p.width * s->p.width <= s->p.steps) return NULL;
    snprintf(message, size,
             "[smearing.%s] width = %g in %d steps: beyond width^2 = steps the shortest waves grow; take more steps",
             s->name, s->p.width, s->p.steps);
    return "steps";
}

static field *spatial_links(const field *links)
{
    field *space = field_like(links);
    links_scale(space, links, (const double[]){1, 1, 1, 0});
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
