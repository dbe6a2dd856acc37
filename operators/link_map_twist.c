/* Boundary conditions of a quark as the last step of a link map: links times e^(i theta_mu / L_mu), and zeros at the ends of time. */
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "operators/link_map.h"

static void apply(link_map *m)
{
    const double *theta = m->state;
    double angle[4];
    if (m->smearing) link_map_links(m->smearing);
    for (int mu = 0; mu < 4; mu++) angle[mu] = theta[mu] / m->from->lat->size[mu];
    links_twist(m->links, link_map_special(m, m->from), angle);
    slices_scale(m->links, SLICES_QUARK_LINKS, 0);
}

static void pull_back(link_map *m, field *force)
{
    if (m->smearing) link_map_pull_back(m->smearing, force);
}

static void close(link_map *m)
{
    link_map_destroy(m->smearing);
    free(m->state);
}

static const link_map_type twist = {
    .name = "twist", .help = "a phase for each direction", .apply = apply, .pull_back = pull_back, .close = close};

static const double none[4];

static int same(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

link_map *link_map_twist(link_map *smearing, const field *from, const double theta[4])
{
    REQUIRE(!smearing || (smearing->from == from && smearing->type != &twist), "a twist of %s links",
            smearing->from == from ? smearing->type->name : "other");
    link_map *share = smearing ? link_map_share(smearing) : NULL;
    if (same(theta, none) && from->lat->time == TIME_PERIODIC) return share;
    link_map *m = link_map_open(&twist, from);
    m->smearing = share;
    m->state = malloc(sizeof none);
    REQUIRE_MEMORY(m->state, "out of memory");
    memcpy(m->state, theta, sizeof none);
    return m;
}

int link_map_twist_fits(const link_map *m, const link_map *smearing, const field *from, const double theta[4])
{
    return m && m->type == &twist && m->from == from && m->smearing == smearing && same(m->state, theta);
}

link_map *link_map_smearing(const link_map *m)
{
    return m && m->type == &twist ? m->smearing : (link_map *)m;
}

const field *link_map_special(const link_map *m, const field *from)
{
    const link_map *smearing = link_map_smearing(m);
    return smearing ? smearing->links : from;
}

field_kind link_map_storage(const link_map *m, field_kind wanted)
{
    return m && m->type == &twist && !same(m->state, none) ? FIELD_LINKS : wanted;
}
