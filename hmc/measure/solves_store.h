/* Open solves of a configuration by quark and solver: each solver and its set-up (multigrid, eigenvectors) is made once, however
 * many propagators and positions of sources ask for it. All functions are collective. */
#ifndef PLAQ_SOLVES_STORE_H
#define PLAQ_SOLVES_STORE_H

#include "hmc/measure/solves.h"

typedef struct {
    const char *quark, *solver; /* names of their sections */
    int estimates;              /* errors of solutions are estimated */
} solves_key;

typedef struct solves_store solves_store;

/* An empty store for the configuration of c, which has to live as long. */
solves_store *solves_store_open(const measure_context *c);
void solves_store_close(solves_store *s);
/* Solves of these sections, which there are; opened where they are not. */
quark_solves *solves_store_get(solves_store *s, const solves_key *key);
/* Closes all solves but those that are wanted. */
void solves_store_keep(solves_store *s, int (*wanted)(void *context, const solves_key *key), void *context);
int solves_same_key(const solves_key *a, const solves_key *b);

#endif
