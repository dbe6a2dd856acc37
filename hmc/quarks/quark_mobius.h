/* Moebius quarks: keys and costs that kinds with the same fifth dimension share. */
#ifndef PLAQ_QUARK_MOBIUS_H
#define PLAQ_QUARK_MOBIUS_H

#include "hmc/quarks/quark.h"
#include "operators/mobius.h"

typedef struct {
    double M5, b5, c5;
    int Ls;
} mobius_keys;

extern const param_section mobius_part;

static inline const mobius_keys *mobius_keys_of(const quark_params *q)
{
    return (const mobius_keys *)quark_keys(q, &mobius_part);
}

/* Functions that quark_kind asks for, of kinds that list the part. */
int mobius_slices(const quark_params *q);
int mobius_same_operator(const quark_params *q, const quark_params *r);
double mobius_force_flops(const quark_params *q);
double mobius_term_flops(const quark_params *q);
double mobius_shift_flops(const quark_params *q);

/* The settings by these keys, but for the map of the links; and the quark of settings, which gets the map that its keys ask for, as
 * quark_kind.make() does. */
mobius_settings mobius_settings_of(const quark_params *q);
fermion *mobius_quark_make(const field *links, const quark_params *q, mobius_settings *s, fermion *const *others,
                           int n);

#endif
