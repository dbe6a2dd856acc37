/* Arguments of the kernels of domain wall quarks. The same in every precision. */
#ifndef PLAQ_FAMILY_DOMAINWALL_H
#define PLAQ_FAMILY_DOMAINWALL_H

#include "kernels/family/wilson.h"

#define DOMAINWALL_SLICES 32 /* of a fifth dimension, at most */

/* One real matrix a chirality: of the upper spins, where gamma5 = +1, and of the lower ones. From fields of `from` slices,
 * its columns, to those of Ls, its rows. */
typedef struct fifth_matrix {
    int Ls, from;
    double of[2][DOMAINWALL_SLICES][DOMAINWALL_SLICES];
} fifth_matrix;

/* out_s = sum_t m_st in_t + b add_s; in is not out, add may be. */
typedef struct {
    view out, in, add;
    double b; /* 0: nothing is added */
    fifth_matrix m;
} fifth_args;

/* The same of a hop: out_s = sum_t m_st a (D in)_t + b x_s, in the forms HOP_PLAIN and HOP_ADD. */
typedef struct {
    hop_args hop;
    fifth_matrix m;
} hop_fifth_args;

#endif
