#include "hmc/quarks/quark_links.h"

#include <string.h>

/* ---- smeared links ---- */

typedef struct {
    char links[PARAM_STRING_SIZE];
    link_settings settings; /* settings of the section [links.NAME] */
} smearing_keys;

static const param smearing_table[] = {
    {"links", PARAM_NAME, offsetof(smearing_keys, links), "", "links", NULL,
     "[links.NAME] of the smeared links that the whole operator is made of; empty: the links of the ensemble", 1},
};

const param_section smearing_part = PARAM_PART("quark", "smeared links", smearing_keys, smearing_table);

void quark_complete_links(named_quark *q, const named_links *links, int n)
{
    smearing_keys *k = quark_keys(&q->p, &smearing_part);
    for (int i = 0; k && i < n; i++)
        if (!strcmp(links[i].name, k->links)) k->settings = links[i].p;
}

const link_settings *smearing_of(const quark_params *q)
{
    const smearing_keys *k = quark_keys(q, &smearing_part);
    return k && k->links[0] ? &k->settings : NULL;
}

const char *smearing_name(const quark_params *q)
{
    const smearing_keys *k = quark_keys(q, &smearing_part);
    return k && k->links[0] ? k->links : "thin";
}

link_map *quark_map(const field *links, const quark_params *q, fermion *const *others, int n)
{
    const link_settings *s = smearing_of(q);
    if (!s) return NULL;
    for (int i = 0; i < n; i++)
        if (others[i] && link_map_fits(others[i]->map, s, links)) return link_map_share(others[i]->map);
    return link_map_create(s, links);
}

/* ---- storage ---- */

typedef struct {
    char reals[PARAM_CHOICE_SIZE];
} link_reals_keys;

static const param link_reals_table[] = {
    {"link_reals", PARAM_CHOICE, offsetof(link_reals_keys, reals), "12", "18|12", "reals",
     "storage of links in solvers: whole, or two rows with the third computed, which moves less", 0},
};

const param_section link_reals_part = PARAM_PART("quark", "links", link_reals_keys, link_reals_table);

field_kind link_storage_of(const quark_params *q)
{
    const link_reals_keys *k = quark_keys(q, &link_reals_part);
    return k && strcmp(k->reals, "18") ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
}
