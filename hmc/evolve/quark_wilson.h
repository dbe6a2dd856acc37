/* Wilson-clover quarks of sections [fermion.NAME]: keys, and what kinds of fermions say of them. */
#ifndef PLAQ_QUARK_WILSON_H
#define PLAQ_QUARK_WILSON_H

#include "hmc/evolve/fermion_kind.h"

typedef struct {
    double kappa, c_sw;
    char schur[PARAM_CHOICE_SIZE];
} wilson_keys;

extern const fermion_part wilson_part;

static inline wilson_keys *wilson_keys_of(const fermion_params *f)
{
    return (wilson_keys *)fermion_keys(f, &wilson_part);
}

/* Members of a fermion_kind. */
fermion *wilson_quark(const field *links, const fermion_params *f, fermion *const *others, int n);
void wilson_describe(const fermion_params *f, double mass, char *text, size_t size);
int wilson_same_operator(const fermion_params *f, const fermion_params *g);
void wilson_ratio_keys(const fermion_params *f, char *text, size_t size);
int wilson_has_clover(const fermion_params *f); /* log_det */

#endif
