/* Hypercubic smearing: the levels that HYP links (A. Hasenfratz and F. Knechtli, hep-lat/0103029) and HEX links (S.
 * Capitani, S. Durr and C. Hoelbling, hep-lat/0607006) share, and the links between them.
 *
 * Sides of a staple in the plane mu, nu are smeared in no plane with mu, and its link across in no plane with nu. So smeared
 * links depend on thin ones of the hypercubes at the link alone. Levels, innermost first:
 *
 *   V_mu,eta     staples in the plane mu, eta of thin links
 *   W_mu,nu      staples in the planes mu, rho with rho != nu: sides V_rho,eta, across V_mu,eta; eta is not mu, nu or rho
 *   links        staples in the planes mu, nu: sides W_nu,mu, across W_mu,nu
 *
 * Weights of staples are alpha_3 / 2, alpha_2 / 4 and alpha_1 / 6. V and W have 12 links a site, in three fields of links:
 * the field mu ^ nu (exclusive or) has the pairs mu, nu and nu, mu, and so each direction once. In space the links are W
 * without the direction t. */
#ifndef PLAQ_HYPERCUBIC_H
#define PLAQ_HYPERCUBIC_H

#include "kernels/ops/smear.h"

typedef struct {
    int levels;
    /* Levels, innermost first: alpha, staples, and output fields of all but the last. */
    double alpha[3];
    smear_level level[3];
    field *between[2][3];
} hypercubic;

/* Opens h with work fields like `links`; alpha is alpha_1, alpha_2, alpha_3. In space alpha_1 is not used. */
void hypercubic_open(hypercubic *h, const double alpha[3], int in_space, const field *links);
void hypercubic_close(hypercubic *h);

/* Makes one level from thin links and the level below: exponentials, or projections of (1 - alpha) U + C if `project` is
 * not 0. The last level writes `out`, the others h->between; `out` is not `thin`. */
void hypercubic_make(const hypercubic *h, int level, field *out, const field *thin, int project);
/* Takes a force of the last level's links, made by exponentials, back to thin links, in place. h->between hold the levels
 * of these thin links. */
void hypercubic_back(const hypercubic *h, field *force, const field *thin);

#endif
