/* The PCAC mass of two quarks, from correlators of a table of mesons at rest with the pseudoscalar P = conj(psi) gamma_5 psi at the
 * source, and P or the axial current A = conj(psi) gamma_t gamma_5 psi at the sink, with jackknife errors:
 *
 *   m(t) = (d C_AP(t) + c_A d* d C_PP(t)) / (2 C_PP(t)),  d f = (f(t+1) - f(t-1)) / 2,  d* d f = f(t+1) - 2 f(t) + f(t-1)
 *
 * (M. Luescher, S. Sint, R. Sommer, P. Weisz and U. Wolff, hep-lat/9609035), with times that are periodic. It is the mean
 * of the bare masses of the two quarks, at tree level m_0 - m_0^2 / 2 + O(m_0^3) for c_A = 0. Of a quark with a twisted mass,
 * whose antiquark is of the other flavour, it is that of the charged currents in the twisted basis: mu does not enter, and
 * it vanishes at maximal twist. Local. */
#ifndef PLAQ_PCAC_H
#define PLAQ_PCAC_H

#include "io/history/correlators_hdf5.h"
#include "kernels/base/param.h"

typedef struct {
    const correlator *pp;
    char labels[256]; /* labels of pp without the gamma matrices */
    double c_A, from, to;
    int fitted; /* times in the range of the plateau with a mass */
    long blocks;
    double *mass, *error;          /* [T]; NaN: none */
    double plateau, plateau_error; /* NaN: none */
} pcac;

/* True if correlator i is C_PP at rest, of a table that has C_AP, too. */
int pcac_is_pp(const correlators *c, int i);
/* The PCAC mass of c->all[pp], for which pcac_is_pp() is true, and its plateau: the constant that fits the masses at from <= t <=
 * to best, weighted by their errors, or by 1 where there are none; none is fitted where `from` is NaN. `block` as of
 * effective_of(). 0, or -1 with a message: no time is in the range. Free with pcac_free() in any case. */
int pcac_of(pcac *m, const correlators *c, int pp, double c_A, int block, double from, double to, char *message,
            size_t size);
void pcac_free(pcac *m);

/* Output: a table of text, an object of JSON in one line, and a chart of a page. */
void pcac_text(param_text *out, const pcac *m);
void pcac_json(FILE *out, const pcac *m);
void pcac_figure(param_text *out, const pcac *m);

#endif
