#include "hmc/sources/smearing.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "kernels/ops/gauge.h"
#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"

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

/* i U in space, zero in time. */
static field *spatial_links(const field *links)
{
    const double quarter = 0.5 * M_PI;
    field *space = field_like(links);
    links_scale(space, links, (const double[]){1, 1, 1, 0});
    links_twist(space, space, (const double[]){quarter, quarter, quarter, 0});
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

/* Odd sites times i or -i. */
static void turn_odd(field *chi, double i)
{
    field odd = field_part(chi, PARITY_ODD), *part = &odd;
    vector_multi_axpby(1, &part, (const double[1][2]){{0, 0}}, &part, (const double[1][2]){{0, i}});
    field_written(chi);
}

void gaussian_smear(const gaussian *g, field *chi)
{
    if (!g->steps) return;
    const double k = g->width * g->width / (4 * g->steps);
    field *next = field_like(chi);
    field part[2] = {field_colours(chi), field_colours(next)};
    turn_odd(chi, -1);
    for (int i = 0; i < g->steps; i++)
        for (int p = 0; p < 2; p++) {
            const field *from = &part[i % 2];
            const staggered_call call = {
                .a = p == PARITY_EVEN ? k : -k, .b = 1 - 6 * k, .near = g->space, .near_scale = 1, .add = from};
            staggered_hop(&part[1 - i % 2], (parity)p, from, &call);
        }
    field_written(g->steps % 2 ? next : chi);
    if (g->steps % 2) vector_axpby(chi, 1, next, 0);
    turn_odd(chi, 1);
    field_destroy(next);
}
