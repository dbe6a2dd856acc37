#include "operators/hypercubic.h"

/* Number of the field with the pairs mu, nu and nu, mu. */
static int pair(int mu, int nu)
{
    return (mu ^ nu) - 1;
}

static void set_staples(smear_staples *s, int mu, int nu, double rho, int side, int across)
{
    s->rho[mu][nu] = rho;
    s->side[mu][nu] = (unsigned char)side;
    s->across[mu][nu] = (unsigned char)across;
}

/* Staples of links mu in the plane mu, nu of all levels. `without` is the direction that the second level excludes. */
static void set_plane(hypercubic *h, int mu, int nu, int in_space)
{
    const int own = pair(mu, nu);
    set_staples(&h->level[0].staples[own], mu, nu, h->alpha[0] / 2, 0, 0);
    if (!in_space) set_staples(&h->level[2].staples[0], mu, nu, h->alpha[2] / 6, own, own);
    for (int without = 0; without < 4; without++) {
        if (without == mu || without == nu || (in_space && without != 3)) continue;
        const int eta = 6 - mu - nu - without;
        set_staples(&h->level[1].staples[in_space ? 0 : pair(mu, without)], mu, nu, h->alpha[1] / 4, pair(nu, eta),
                    pair(mu, eta));
    }
}

void hypercubic_open(hypercubic *h, const double alpha[3], int in_space, const field *links)
{
    *h = (hypercubic){.levels = in_space ? 2 : 3, .alpha = {alpha[2], alpha[1], alpha[0]}};
    const int directions = in_space ? 3 : 4;
    for (int i = 0; i < h->levels; i++) {
        h->level[i].outputs = i == h->levels - 1 ? 1 : 3;
        h->level[i].inputs = i == 0 ? 1 : 3;
    }
    for (int mu = 0; mu < directions; mu++)
        for (int nu = 0; nu < directions; nu++)
            if (nu != mu) set_plane(h, mu, nu, in_space);
    for (int i = 0; i < h->levels - 1; i++)
        for (int j = 0; j < 3; j++) h->between[i][j] = field_like(links);
}

void hypercubic_close(hypercubic *h)
{
    for (int i = 0; i < h->levels - 1; i++)
        for (int j = 0; j < 3; j++) field_destroy(h->between[i][j]);
}

/* Inputs of a level: thin links, or outputs of the level below. */
static const field *const *inputs(const hypercubic *h, int level, const field *const *thin)
{
    return level == 0 ? thin : (const field *const *)h->between[level - 1];
}

void hypercubic_make(const hypercubic *h, int level, field *out, const field *thin, int project)
{
    field *const *outputs = level == h->levels - 1 ? &out : h->between[level];
    if (project) smear_project(outputs, thin, inputs(h, level, &thin), &h->level[level], 1 - h->alpha[level]);
    else smear_exponential(outputs, thin, inputs(h, level, &thin), &h->level[level]);
}

void hypercubic_back(const hypercubic *h, field *force, const field *thin)
{
    field *forces[2][3]; /* forces of h->between */
    for (int i = h->levels - 1; i >= 0; i--) {
        for (int j = 0; i > 0 && j < 3; j++) forces[i - 1][j] = field_like(force);
        smear_exponential_back(force, i == h->levels - 1 ? &force : forces[i], i == 0 ? &force : forces[i - 1], thin,
                               inputs(h, i, &thin), &h->level[i]);
        for (int j = 0; i < h->levels - 1 && j < 3; j++) field_destroy(forces[i][j]);
    }
}
