/* Hypercubic smearing: the levels that HYP links (A. Hasenfratz and F. Knechtli, hep-lat/0103029) and HEX links (S.
 * Capitani, S. Durr and C. Hoelbling, hep-lat/0607006) share, and the links between them.
 *
 * A staple in the plane mu, nu has sides that are smeared in no plane with mu and a link across that is smeared in no plane
 * with nu, so that smeared links are made of thin ones in hypercubes at the link alone. Levels, innermost first:
 *
 *   V_mu;eta          staples in the plane mu, eta of thin links (excluded are the two other directions)
 *   V_mu;(not nu)     staples in the two planes mu, rho without nu: sides V_rho;eta, across V_mu;eta, eta neither of the three
 *   the links         staples in the three planes mu, nu: sides V_nu;(not mu), across V_mu;(not nu)
 *
 * Weights of staples are alpha_3 / 2, alpha_2 / 4 and alpha_1 / 6. The 12 links mu with another direction nu are three
 * fields of links: field mu ^ nu (exclusive or) has each direction mu once, with the pairs mu, nu and nu, mu together. In
 * space, the second level without t makes the links, and alpha_1 is not used. */
#ifndef PLAQ_HYPERCUBIC_H
#define PLAQ_HYPERCUBIC_H

#include "kernels/ops/smear.h"

typedef struct {
    int levels;
    double alpha[3];      /* of each level, innermost first */
    smear_level level[3]; /* innermost first */
    field *between[2][3]; /* outputs of all levels but the last */
} hypercubic;

/* Opens h with work fields like `links`; alpha: alpha_1, alpha_2, alpha_3. */
void hypercubic_open(hypercubic *h, const double alpha[3], int in_space, const field *links);
void hypercubic_close(hypercubic *h);

/* Makes one level of thin links, from the levels below it: by exponentials, or by projections of (1 - alpha) U + C where
 * `project` is not 0. The last level makes *out; the others leave it alone. */
void hypercubic_make(const hypercubic *h, int level, field *out, const field *thin, int project);
/* Takes a force of links made of exponentials back to thin links, in place; h->between are those of these links. */
void hypercubic_back(const hypercubic *h, field *force, const field *thin);

#endif
