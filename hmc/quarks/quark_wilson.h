/* Keys of Wilson-clover quarks, for tests that set them. */
#ifndef PLAQ_QUARK_WILSON_H
#define PLAQ_QUARK_WILSON_H

#include "hmc/quarks/quark.h"

typedef struct {
    double kappa, c_sw;
    char schur[PARAM_CHOICE_SIZE], clover_links[PARAM_CHOICE_SIZE];
} wilson_keys;

extern const param_section wilson_part;

static inline wilson_keys *wilson_keys_of(const quark_params *q)
{
    return (wilson_keys *)quark_keys(q, &wilson_part);
}

#endif
