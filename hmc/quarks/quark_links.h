/* Keys of quarks on the links that they hop on: smeared ones of a section [links.NAME], angles of the boundary, and storage. A
 * kind that lists a part has its keys. */
#ifndef PLAQ_QUARK_LINKS_H
#define PLAQ_QUARK_LINKS_H

#include "hmc/quarks/quark.h"

/* The section [links.NAME]. */
typedef struct {
    char name[64];
    link_settings p;
} named_links;

extern const param_section link_reals_part, smearing_part, twist_part;

/* Takes the settings of the section that a quark names, one of n, and reads its angles; nothing where its kind has no such
 * keys. Contradictions are user errors. */
void quark_complete_links(const ini_input *in, named_quark *q, const named_links *links, int n);
/* Settings of the smeared links that the quark hops on, and the name; null and "thin" where there are none. */
const link_settings *smearing_of(const quark_params *q);
const char *smearing_name(const quark_params *q);
/* Angles theta of the boundary conditions psi(x + L_mu e_mu) = e^(i theta_mu) psi(x) (operators/link_map.h). */
const double *theta_of(const quark_params *q);
/* True if two quarks hop on the same links by these keys. */
int quark_same_links(const quark_params *q, const quark_params *r);
/* Appends the angles to a description, unless all are zero. */
void quark_describe_theta(const quark_params *q, char *text, size_t size);
/* Link map that makes all that, one share: of one of the n other quarks (null ones do not count) where it fits; null for thin
 * links. */
link_map *quark_map(const field *links, const quark_params *q, fermion *const *others, int n);
/* Links as the operator stores them. */
field_kind link_storage_of(const quark_params *q);

#endif
