#include "operators/link_map.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"

#define LINK_MAP(name) extern const link_map_type link_map_##name;
#include "operators/link_maps.def"
#undef LINK_MAP

static const link_map_type *const types[] = {
#define LINK_MAP(name) &link_map_##name,
#include "operators/link_maps.def"
#undef LINK_MAP
    NULL};

const link_map_type *link_map_type_number(int i)
{
    return i < (int)(sizeof types / sizeof types[0]) ? types[i] : NULL;
}

/* ---- keys ---- */

static char kind_names[128], kind_help[1024];

static const param keys[] = {
    {"kind", PARAM_CHOICE, offsetof(link_settings, kind), NULL, kind_names, NULL, kind_help, 1},
};

static const param_section section = {"links",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(link_settings),
                                      "smeared links, which quarks take by links = NAME",
                                      NULL};

const param_section *link_map_section(int number)
{
    for (int i = 0; types[i] && !kind_names[0]; i++)
        for (int k = 0; types[k]; k++)
            param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, types[k]->name,
                             types[k]->help);
    if (number == 0) return &section;
    for (int i = 0; types[i]; i++)
        if (--number == 0) return types[i]->own;
    return NULL;
}

int link_map_type_has(const link_map_type *type, const char *key)
{
    return param_find(&section, key) || param_find(type->own, key);
}

/* ---- objects ---- */

link_map *link_map_open(const link_map_type *type, const field *from)
{
    link_map *m = calloc(1, sizeof *m);
    REQUIRE_MEMORY(m, "out of memory");
    REQUIRE(from->kind == FIELD_LINKS && from->prec == PREC_DOUBLE && from->par == PARITY_BOTH,
            "links of kind %d, precision %d", from->kind, from->prec);
    m->type = type;
    m->from = from;
    m->links = field_like(from);
    m->users = 1;
    return m;
}

link_map *link_map_create(const link_settings *s, const field *from)
{
    link_map *m = link_map_open(link_map_type_of(s), from);
    m->settings = *s;
    if (m->type->open) m->type->open(m);
    return m;
}

link_map *link_map_share(link_map *m)
{
    m->users++;
    return m;
}

void link_map_destroy(link_map *m)
{
    if (!m || --m->users > 0) return;
    if (m->type->close) m->type->close(m);
    field_destroy(m->links);
    free(m);
}

int link_map_fits(const link_map *m, const link_settings *s, const field *from)
{
    char mine[PARAM_TEXT_SIZE], other[PARAM_TEXT_SIZE];
    if (!m || m->from != from || m->settings.kind != s->kind) return 0;
    const param_section *own = m->type->own;
    for (int i = 0; i < own->count; i++) {
        param_format(&own->table[i], &m->settings, mine, sizeof mine);
        param_format(&own->table[i], s, other, sizeof other);
        if (strcmp(mine, other)) return 0;
    }
    return 1;
}

const field *link_map_links(link_map *m)
{
    if (m->version == m->from->version) return m->links;
    m->type->apply(m);
    m->version = m->from->version;
    return m->links;
}

void link_map_pull_back(link_map *m, field *force)
{
    REQUIRE(m->type->pull_back, "%s links have no force", m->type->name);
    link_map_links(m);
    m->type->pull_back(m, force);
}

field *link_map_open_force(const link_map *m, field *force)
{
    if (!link_map_smearing(m)) return force;
    field *sum = field_like(force);
    momenta_zero(sum);
    return sum;
}

void link_map_close_force(link_map *m, field *force, field *sum)
{
    if (sum == force) return;
    link_map_pull_back(m, sum);
    momenta_add(force, 1, sum);
    field_destroy(sum);
}
