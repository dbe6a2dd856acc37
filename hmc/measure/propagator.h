/* Propagators of [propagator.NAME] sections, for observables that contract them: M^-1 on a source in every component, smeared at
 * the sink where the section says so. A store makes each on a configuration when it is first asked for, and keeps it, with the
 * set-up of its solver, as long as measurements that are due name it. So several measurements share solves; their values are
 * those that each would have alone.
 *
 * Domain wall quarks enter and leave by their walls. The columns of a quark are solved for as many at once as its solver
 * takes. All functions are collective. */
#ifndef PLAQ_PROPAGATOR_H
#define PLAQ_PROPAGATOR_H

#include "hmc/measure/columns.h"
#include "hmc/measure/low_store.h"
#include "hmc/measure/solves_store.h"

/* How sources are moved from the places that they name, modulo the extents; and whether solves are by rough solvers, of the
 * propagators that name one. */
typedef struct {
    int shift[4], rough;
    low_store *low;       /* low parts that the stores of all places share */
    solves_store *solves; /* solves that they share */
    const int *later;     /* measurements of the input that come at a further place, too */
} propagator_place;

/* A store for the configuration of c; due[i], unless null, says which measurements of the input are to come. `place`: null where
 * sources stay, solves are not rough, and low parts and solves are the store's own. */
propagator_store *propagator_store_open(const measure_context *c, const int *due, const propagator_place *place);
void propagator_store_close(propagator_store *s);
/* The measurement is through: what no other one needs is freed. */
void propagator_store_done(propagator_store *s, const named_measure *m);

/* The propagators that the measurement names, in its order; without a second one p[1] is p[0]. The first SOLVES_VALUES of the
 * summary are set to those of all their solves, and of those that they are made of. They are there until the measurement is through. MEASURE_DONE, _FAILED with
 * the reason in r->trouble, or _GIVEN_UP. A source outside the lattice is a user error. */
int propagators_of(const measure_context *c, const measure_params *m, const propagator *p[MEASURE_PROPAGATORS],
                   measure_result *r);

/* Sources of the section [source.NAME], which there is, in n components of the vectors that `like` is; smeared. To be
 * destroyed. A source outside the lattice is a user error. `shift`: the source is moved by it; null: it stays. `place`: its
 * origin. */
field *propagator_sources(const measure_context *c, const char *name, const int shift[4], const field *like, int n,
                          int place[4]);

/* Store of low parts (hmc/measure/low_propagator.h), and what makes them: solves by the solver of the section, at a place
 * without rough solves; the sources of a propagator that is not sequential, for fields like `like`, to be destroyed; smearing
 * of any columns by the section [smearing.NAME], if the name is not empty. */
low_store *propagator_low_store(propagator_store *s);
quark_solves *propagator_solves(propagator_store *s, const named_propagator *q);
field *propagator_own_sources(const measure_context *c, const propagator *q, const field *like);
void propagator_smear(const measure_context *c, field *columns, const char *name);

#endif
