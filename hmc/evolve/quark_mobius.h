/* Moebius domain wall quarks of sections [fermion.NAME]: keys, and what kinds of fermions say of them. */
#ifndef PLAQ_QUARK_MOBIUS_H
#define PLAQ_QUARK_MOBIUS_H

#include "hmc/evolve/fermion_kind.h"
#include "operators/mobius.h"

extern const fermion_part mobius_part;

mobius_settings mobius_settings_of(const fermion_params *f);

/* Members of a fermion_kind. */
fermion *mobius_quark(const field *links, const fermion_params *f, fermion *const *others, int n);
int mobius_slices(const fermion_params *f);
void mobius_describe(const fermion_params *f, double mass, char *text, size_t size);
int mobius_same_operator(const fermion_params *f, const fermion_params *g);
void mobius_ratio_keys(const fermion_params *f, char *text, size_t size);
void mobius_transform_keys(const fermion_params *f, char *text, size_t size);

/* Flops a site of four dimensions: of an application of Mhat^dagger Mhat, and of a force beside its solve. */
double mobius_normal_flops(const fermion_params *f);
double mobius_assembly_flops(const fermion_params *f);

#endif
