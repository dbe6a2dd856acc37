/* Arguments of the kernels of domain wall quarks. The same in every precision. */
#ifndef PLAQ_FAMILY_DOMAINWALL_H
#define PLAQ_FAMILY_DOMAINWALL_H

#include "kernels/field/view.h"

#define DOMAINWALL_SLICES 32 /* of a fifth dimension, at most */

/* out_s = sum_t m[chirality][s][t] in_t + b add_s; in is not out, add may be. */
typedef struct {
    view out, in, add;
    double b; /* 0: nothing is added */
    int Ls;
    double m[2][DOMAINWALL_SLICES]
            [DOMAINWALL_SLICES]; /* of the upper spins, where gamma5 = +1, and of the lower ones */
} fifth_args;

#endif
