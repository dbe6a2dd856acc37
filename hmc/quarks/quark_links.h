/* Keys of quarks on the links that they hop on: smeared ones of a section [links.NAME], and their storage. A kind that lists
 * a part has its keys. */
#ifndef PLAQ_QUARK_LINKS_H
#define PLAQ_QUARK_LINKS_H

#include "hmc/quarks/quark.h"

/* The section [links.NAME]. */
typedef struct {
    char name[64];
    link_settings p;
} named_links;

extern const param_section link_reals_part, smearing_part;

/* Takes the settings of the section that a quark names, one of n; nothing where its kind has no such key. */
void quark_complete_links(named_quark *q, const named_links *links, int n);
/* Settings of the smeared links that the quark hops on, and the name; null and "thin" where there are none. */
const link_settings *smearing_of(const quark_params *q);
const char *smearing_name(const quark_params *q);
/* Link map that makes them, one share: of one of the n other quarks (null ones do not count) where it fits; null for thin
 * links. */
link_map *quark_map(const field *links, const quark_params *q, fermion *const *others, int n);
/* Links as the operator stores them. */
field_kind link_storage_of(const quark_params *q);

#endif
