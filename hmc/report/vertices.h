/* Amputated vertex functions of quark bilinears, from a table of kind = vertices, with jackknife errors:
 *
 *   Lambda_Gamma = [gamma_5 S(p_1)^dagger gamma_5]^-1 G_Gamma S(p_2)^-1,   lambda_Gamma = tr [Lambda_Gamma Gamma^dagger] / 12,
 *
 * of means over configurations, before anything is inverted; lambda is the mean over the matrices of a kind, and 1 at tree level
 * (G. Martinelli et al., hep-lat/9411010, eqs. (9) to (13)). The field's Z_q is what S^-1 says of it:
 *
 *   s = tr S^-1 / 12,   v_mu = tr [-i gamma_mu S^-1] / 12,
 *
 * m + sum_mu (1 - cos p_mu) and sin p_mu of free Wilson quarks. RI-MOM: Z_Gamma = Z_q / lambda_Gamma at p_1 = p_2; RI-SMOM with the
 * projections by gamma_mu: p_1^2 = p_2^2 = (p_1 - p_2)^2 (C. Sturm et al., arXiv:0901.2599). Local. */
#ifndef PLAQ_VERTICES_H
#define PLAQ_VERTICES_H

#include "io/history/correlators_hdf5.h"
#include "kernels/base/param.h"

enum { VERTICES_KINDS = 5, VERTICES_VALUES = 2 * 5 + VERTICES_KINDS };

/* The names of the values: s and v_mu of p_1 and of p_2, then lambda of the kinds of Gamma. */
extern const char *const vertices_names[VERTICES_VALUES];

typedef struct {
    char table[96], labels[256];
    long n, blocks;                                        /* configurations; blocks of them */
    double value[VERTICES_VALUES], error[VERTICES_VALUES]; /* NaN: not measured, or a matrix without an inverse */
} vertices;

/* The axis of such a table, for correlators_read(). */
#define VERTICES_AXIS "element"
/* True if correlator i is the first one of vertices. */
int vertices_begin(const correlators *c, int i);
/* The vertices whose first correlator is number i; `block` as of effective_of(). */
void vertices_of(vertices *v, const correlators *c, int i, int block);
void vertices_text(param_text *out, const vertices *v);
void vertices_json(FILE *out, const vertices *v);

#endif
