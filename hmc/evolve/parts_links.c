/* The key `links` of quarks that hop on links of a section [links.NAME]. */
#include <string.h>

#include "hmc/evolve/parts.h"
#include "kernels/base/error.h"

typedef struct {
    char links[PARAM_STRING_SIZE];
    link_settings settings; /* settings of the section [links.NAME] */
} smearing_keys;

static const param table[] = {
    {"links", PARAM_STRING, offsetof(smearing_keys, links), "", NULL, NULL,
     "[links.NAME] of the smeared links that the whole operator is made of; empty: the links of the ensemble", 1},
};

static smearing_keys *keys_of(const fermion_params *f)
{
    return fermion_keys(f, &smearing_part);
}

static void complete(const ini_input *in, const parameters *p, named_fermion *f)
{
    smearing_keys *k = keys_of(&f->p);
    const char *names[MAX_NAMED];
    if (!k->links[0]) return;
    for (int i = 0; i < p->nlinks; i++) names[i] = p->links[i].name;
    parameters_check_name(in, "fermion", f->name, "links", k->links, names, p->nlinks, "[links.NAME]");
    for (int i = 0; i < p->nlinks; i++)
        if (!strcmp(names[i], k->links)) k->settings = p->links[i].p;
}

/* Quarks of actions hop on links that have a force; quarks that are only measured hop on any. */
static void check_action(const ini_input *in, const parameters *p, const named_fermion *f)
{
    const smearing_keys *k = keys_of(&f->p);
    (void)p;
    if (k->links[0] && !link_map_type_find(k->settings.kind)->pull_back)
        user_error(
            "%s: [fermion.%s] links = %s, of kind %s, have no force, which an action needs; take links of another "
            "kind, or set measured_only = yes",
            ini_where(in, "fermion", f->name, "links"), f->name, k->links, k->settings.kind);
}

const fermion_part smearing_part = {.keys = PARAM_PART("fermion", "smeared links", smearing_keys, table),
                                    .complete = complete,
                                    .check_action = check_action};

const link_settings *smearing_of(const fermion_params *f)
{
    const smearing_keys *k = keys_of(f);
    return k && k->links[0] ? &k->settings : NULL;
}

const char *smearing_name(const fermion_params *f)
{
    const smearing_keys *k = keys_of(f);
    return k && k->links[0] ? k->links : "thin";
}

link_map *fermion_map(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    const link_settings *s = smearing_of(f);
    if (!s) return NULL;
    for (int i = 0; i < n; i++)
        if (others[i] && link_map_fits(others[i]->map, s, links)) return link_map_share(others[i]->map);
    return link_map_create(s, links);
}
