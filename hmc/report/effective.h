/* Effective masses of correlators, with jackknife errors, for a first look. Local. */
#ifndef PLAQ_EFFECTIVE_H
#define PLAQ_EFFECTIVE_H

#include "io/history/correlators_hdf5.h"
#include "kernels/base/param.h"

/* Means and errors by time; NaN: none. Errors are those of the jackknife over blocks, NaN of fewer than two. */
typedef struct {
    const correlator *of;
    long blocks;
    double *value, *error;     /* C(t) */
    double *log, *log_error;   /* ln C(t) / C(t+1) */
    double *cosh, *cosh_error; /* arcosh (C(t-1) + C(t+1)) / 2 C(t), of periodic correlators */
} effective;

/* `block`: configurations that are averaged to one value of the jackknife; those beyond the last whole block are left out, and
 * at least one block has to be there. Free with effective_free(). */
effective effective_of(const correlator *c, int block);
void effective_free(effective *e);

/* Output: a table of text, an object of JSON in one line, and charts of a page. */
void effective_text(param_text *out, const effective *e);
void effective_json(FILE *out, const effective *e);
void effective_figures(param_text *out, const effective *e);

#endif
