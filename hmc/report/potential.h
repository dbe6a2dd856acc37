/* The static potential V(r) = ln W(r, t) / W(r, t + 1) of Wilson loops in time, at one height t, with jackknife errors, and its
 * fit by V_0 + sigma r - e / r. The fit is linear, weighted by the errors of the points (by 1 where there are none), and made anew on
 * every sample of the jackknife. Scales are where r^2 dV/dr = 1.65 and 1 (R. Sommer, hep-lat/9310022; C. Bernard et al.,
 * hep-lat/0002028): r_0 = sqrt((1.65 - e) / sigma), r_1 = sqrt((1 - e) / sigma). Local. */
#ifndef PLAQ_POTENTIAL_H
#define PLAQ_POTENTIAL_H

#include "io/history/correlators_hdf5.h"
#include "kernels/base/param.h"

enum { POTENTIAL_CONSTANT, POTENTIAL_SIGMA, POTENTIAL_COULOMB, POTENTIAL_R0, POTENTIAL_R1, POTENTIAL_FITTED };

typedef struct {
    const char *table; /* name of /measure/TABLE */
    char lattice[64];  /* "lattice = X.Y.Z.T", or empty */
    int t, n, used;    /* height; distances, and those in the range of the fit */
    long configurations, blocks;
    double *r, *value, *error;                                 /* [n], in rising order of r */
    double fit[POTENTIAL_FITTED], fit_error[POTENTIAL_FITTED]; /* NaN: fewer than three distances, or none */
} potential;

/* True if the correlator is of Wilson loops in time; and if two of them belong to one potential. */
int potential_is_loop(const correlator *c);
int potential_same(const correlator *a, const correlator *b);
/* The potential at height t of all loops that belong to that of c->all[first], fitted to from <= r <= to. `block` as of
 * effective_of(). 0, or -1 with a message: there is no W(r, t + 1). Free with potential_free(). */
int potential_of(potential *v, const correlators *c, int first, int t, int block, double from, double to, char *message,
                 size_t size);
void potential_free(potential *v);

/* Output: a table of text, an object of JSON in one line, and a chart of a page. */
void potential_text(param_text *out, const potential *v);
void potential_json(FILE *out, const potential *v);
void potential_figure(param_text *out, const potential *v);

#endif
