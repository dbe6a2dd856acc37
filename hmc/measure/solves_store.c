#include "hmc/measure/solves_store.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"

typedef struct {
    solves_key key;
    quark_solves *solves;
} open_solves;

struct solves_store {
    measure_context c;
    int n;
    open_solves open[2 * MAX_NAMED]; /* a propagator has a solver, and a rough one */
};

solves_store *solves_store_open(const measure_context *c)
{
    solves_store *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->c = *c;
    s->c.propagators = NULL;
    return s;
}

int solves_same_key(const solves_key *a, const solves_key *b)
{
    return a->estimates == b->estimates && !strcmp(a->quark, b->quark) && !strcmp(a->solver, b->solver);
}

quark_solves *solves_store_get(solves_store *s, const solves_key *key)
{
    for (int i = 0; i < s->n; i++)
        if (solves_same_key(&s->open[i].key, key)) return s->open[i].solves;
    REQUIRE(s->n < 2 * MAX_NAMED, "more than %d quarks and solvers", 2 * MAX_NAMED);
    open_solves *o = &s->open[s->n++];
    *o = (open_solves){*key, malloc(sizeof *o->solves)};
    REQUIRE_MEMORY(o->solves, "out of memory");
    solves_open(o->solves, &s->c, key->quark, key->solver, key->estimates);
    return o->solves;
}

void solves_store_keep(solves_store *s, int (*wanted)(void *context, const solves_key *key), void *context)
{
    int kept = 0;
    for (int i = 0; i < s->n; i++) {
        if (wanted(context, &s->open[i].key)) {
            s->open[kept++] = s->open[i];
            continue;
        }
        solves_close(s->open[i].solves);
        free(s->open[i].solves);
    }
    s->n = kept;
}

static int none(void *context, const solves_key *key)
{
    (void)context;
    (void)key;
    return 0;
}

void solves_store_close(solves_store *s)
{
    solves_store_keep(s, none, NULL);
    free(s);
}
