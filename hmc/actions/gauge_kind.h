/* Gauge actions that the key `action` of [gauge] names, with the keys of each. An action is one line of a table. */
#ifndef PLAQ_GAUGE_KIND_H
#define PLAQ_GAUGE_KIND_H

#include "kernels/base/param.h"
#include "kernels/ops/gauge.h"

#define WALL_RECTANGLES(X) X(WALL_WINDING, "winding") X(WALL_WEIGHTED, "weighted")
enum { WALL_RECTANGLES(PARAM_CONSTANT) };

typedef struct {
    int action; /* gauge_kind_number() */
    double beta, c1, u0;
    int flavours;
    double xi_0, u_s, u_t, c_G, c_G_upper;
    int wall_rectangles; /* WALL_WINDING, ... */
    int ends_differ;     /* c_G_upper is that of the upper end; else both have c_G. Set where the lattice is known */
} gauge_params;

/* Weights of loops over beta are 1 - 8 c1 and c1; or with tadpoles 1, -(1 - r ln u0) / (20 u0^2) and p ln u0 / u0^2 of
 * plaquette, rectangle and parallelogram, r and p linear in the number of flavours; or those of the action of C. Morningstar
 * and M. Peardon, hep-lat/9901004, without rectangles of two links in time. */
typedef struct {
    const char *name, *help;
    const param_section *parts[3]; /* parts of [gauge] that the action needs; null after the last */
    double c1;                     /* NaN: as given in the input */
    int tadpole;
    int short_in_time;                     /* the action without rectangles of two links in time */
    int isotropic;                         /* no xi_0: with parallelograms */
    double rectangle[2], parallelogram[2]; /* r = [0] - [1] flavours, and p */
} gauge_kind;

/* Gauge actions by number, null after the last; and that of the input. */
const gauge_kind *gauge_kind_number(int i);
static inline const gauge_kind *gauge_kind_of(const gauge_params *g)
{
    return gauge_kind_number(g->action);
}
/* True if the action has a key that not every one has. */
int gauge_kind_has(const gauge_kind *kind, const char *key);
/* The section [gauge] and its parts by number, each with the actions that have it; null after the last. */
const param_section *gauge_section(int i);

/* Loop weights of the action that the input names; and true if it has the key. */
gauge_weights gauge_params_weights(const gauge_params *g);
int gauge_params_have(const gauge_params *g, const char *key);

#endif
