/* What tests of staggered links share: the oracle's links of each kind. */
#ifndef PLAQ_TESTS_OPERATORS_STAGGERED_H
#define PLAQ_TESTS_OPERATORS_STAGGERED_H

#include "operators/staggered_links.h"
#include "tests/reference/reference.h"

static inline int has_far(const staggered_smearing *k)
{
    return k->kind == STAGGERED_ASQTAD || k->kind == STAGGERED_HISQ;
}

/* fat and, where there are any, long links. */
static inline void oracle_links(double complex *fat, double complex *lng, struct ref_lattice l, const double complex *u,
                                const staggered_smearing *k, int bc)
{
    if (k->kind == STAGGERED_NAIVE) ref_naive_links(fat, l, u, bc);
    else if (k->kind == STAGGERED_FAT7) ref_fat7_links(fat, l, u, k->u0, bc);
    else if (k->kind == STAGGERED_ASQTAD) ref_asqtad_links(fat, lng, l, u, k->u0, bc);
    else ref_hisq_links(fat, lng, l, u, k->epsilon, bc);
}

#endif
