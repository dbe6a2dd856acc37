/* Quarks of a run: objects made of sections, each once for each mass that actions ask for. */
#ifndef PLAQ_QUARK_SET_H
#define PLAQ_QUARK_SET_H

#include "hmc/quarks/quark.h"

typedef struct quark_set quark_set;

/* Links are borrowed. */
quark_set *quark_set_create(const field *links);
void quark_set_destroy(quark_set *s);
/* The links of all of them; and the quarks that there are, *n of them. */
const field *quark_set_links(const quark_set *s);
fermion *const *quark_set_all(const quark_set *s, int *n);
/* The quark of a section with this mass, which the set owns; made when it is first asked for. Collective. */
fermion *quark_set_get(quark_set *s, const named_quark *q, double mass);
/* The quark that get() has made; null where nothing has asked for it. */
fermion *quark_set_find(const quark_set *s, const named_quark *q, double mass);
/* The sum of fermion_filtered() over all quarks; NaN where none has a projection. */
double quark_set_filtered(const quark_set *s);

#endif
