/* Identity of a measurement or a solve: the parameters that decide its numbers, as lines "key = value". A table of
 * results (io/history/table_hdf5.h) takes rows of one identity. Names of sections are not part of it, nor is what makes the same
 * numbers in another way (machine, preconditioners, precisions inside). Free with param_text_free(). Local. */
#ifndef PLAQ_IDENTITY_H
#define PLAQ_IDENTITY_H

#include "hmc/assemble/parameters.h"

param_text identity_of_measurement(const parameters *p, const named_measure *m);
/* Propagator of this name, which there is: quark, source, smearings and tolerance, as its file has them. */
param_text identity_of_propagator(const parameters *p, const char *name);
/* Keys that the even-odd operator K of a quark depends on, apart from the links and the parity: those of the quark, and the
 * form of the Schur complement. */
param_text identity_of_operator(const parameters *p, const quark_params *f);
/* `solver`: all of its keys count, for it is what a solve is about. `source`: the text of --source. */
param_text identity_of_solve(const parameters *p, const named_quark *f, const named_settings *solver,
                             const char *source);

/* Ensemble identity: the physics parameters of lattice, gauge action and fermions with an action, as lines "section.key =
 * value"; lattice files carry it. */
param_text identity_of_ensemble(const parameters *p);

/* table_rows.differ: keys that the quark's kind does not have do not count. */
int identity_differ(const char *before, const char *now, param_text *differences);

/* "plaq VERSION (git DESCRIPTION, source DIGEST)", without git where it was built from no repository; DIGEST being the
 * first digits of the SHA-256 of all source files. */
const char *identity_of_program(void);
/* The compilers that it was built with: "gcc 12.2.0, no CUDA", "gcc 12.2.0, CUDA 12.8.93". */
const char *identity_of_compilers(void);

#endif
