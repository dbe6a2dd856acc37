/* Arguments of the kernels of domain wall quarks. The same in every precision. */
#ifndef PLAQ_FAMILY_DOMAINWALL_H
#define PLAQ_FAMILY_DOMAINWALL_H

#include "kernels/family/wilson.h"

#define DOMAINWALL_SLICES 32 /* slices of a fifth dimension, at most */

/* Real matrices, one a chirality: of the upper spins, where gamma5 = +1, and of the lower ones. They lead from fields of `from`
 * slices, the columns, to those of Ls, the rows. */
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

/* Hop with a matrix behind it: out_s = sum_t m_st a (D in)_t + b x_s, in the forms HOP_PLAIN and HOP_ADD. */
typedef struct {
    hop_args hop;
    fifth_matrix m;
} hop_fifth_args;

#endif
