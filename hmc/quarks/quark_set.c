#include "hmc/quarks/quark_set.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"

#define MOST_QUARKS 64

struct quark_set {
    const field *links;
    int n;
    fermion *quarks[MOST_QUARKS];
    const named_quark *of[MOST_QUARKS];
    double masses[MOST_QUARKS];
};

quark_set *quark_set_create(const field *links)
{
    quark_set *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->links = links;
    return s;
}

const field *quark_set_links(const quark_set *s)
{
    return s->links;
}

fermion *const *quark_set_all(const quark_set *s, int *n)
{
    *n = s->n;
    return s->quarks;
}

/* The last one first: quarks share what earlier ones have made. */
void quark_set_destroy(quark_set *s)
{
    if (!s) return;
    while (s->n > 0) fermion_destroy(s->quarks[--s->n]);
    free(s);
}

fermion *quark_set_find(const quark_set *s, const named_quark *q, double mass)
{
    for (int i = 0; i < s->n; i++)
        if (s->of[i] == q && s->masses[i] == mass) return s->quarks[i];
    return NULL;
}

fermion *quark_set_get(quark_set *s, const named_quark *q, double mass)
{
    fermion *found = quark_set_find(s, q, mass);
    if (found) return found;
    REQUIRE(s->n < MOST_QUARKS, "more than %d quarks", MOST_QUARKS);
    const quark_params own = quark_of_mass(&q->p, mass);
    fermion *made = quark_kind_of(&own)->make(s->links, &own, s->quarks, s->n);
    s->quarks[s->n] = made;
    s->of[s->n] = q;
    s->masses[s->n++] = mass;
    return made;
}

double quark_set_filtered(const quark_set *s)
{
    double sum = NAN;
    for (int i = 0; i < s->n; i++) {
        const double more = fermion_filtered(s->quarks[i]);
        if (!isnan(more)) sum = (isnan(sum) ? 0 : sum) + more;
    }
    return sum;
}
