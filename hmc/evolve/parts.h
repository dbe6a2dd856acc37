/* Parts of the section [fermion.NAME] that are of no one quark: its actions, the storage of its links. A kind that lists
 * a part has its keys. */
#ifndef PLAQ_PARTS_H
#define PLAQ_PARTS_H

#include "hmc/evolve/fermion_kind.h"

extern const fermion_part heat_bath_part, ratio_part, predictor_part, rational_part, link_reals_part, smearing_part;

/* The solver of the heat bath: that of the accept step where the kind has no such key. */
const char *heat_bath_solver_of(const fermion_params *f);
/* The section whose determinant the section divides by; empty: none. */
const char *ratio_of(const fermion_params *f);
/* Whether another determinant, that of ratio_to or of a regulator, divides the section's. */
int fermion_is_ratio(const fermion_params *f);
/* That quark of fermion `number`; null: none. */
fermion *fermion_denominator(const simulation *s, int number);
/* Adds det K of the section's normal operator K, over that of the denominator, by one pseudofermion. */
void fermion_add_pseudofermion(simulation *s, int number);
/* How many solutions the guess of a force is made from. */
int predictor_of(const fermion_params *f);
/* Settings of the smeared links that the quark hops on, of a section [links.NAME], and the name; null and "thin" where there
 * are none. */
const link_settings *smearing_of(const fermion_params *f);
const char *smearing_name(const fermion_params *f);
/* Link map that makes them, one share: of one of the n other quarks (null ones do not count) where it fits; null for thin
 * links. */
link_map *fermion_map(const field *links, const fermion_params *f, fermion *const *others, int n);
/* Links as the operator stores them. */
field_kind link_storage_of(const fermion_params *f);

typedef struct {
    int flavours, pseudofermions;
    double approximation, force_approximation;
    char spectrum[PARAM_WORDS_SIZE];
    double ends[2]; /* of that text; 0 for auto */
    char range_breach[PARAM_CHOICE_SIZE];
} rational_keys;

static inline rational_keys *rational_keys_of(const fermion_params *f)
{
    return (rational_keys *)fermion_keys(f, &rational_part);
}

/* The range of such a text, auto or two numbers, into ends, which are 0. */
void fermion_read_spectrum(const ini_input *in, const char *name, const char *key, const char *text, double ends[2]);
/* Of kinds that have powers of det M^dagger M: `complete`, one to three flavours on pseudofermions enough, and
 * `rational`. */
void fermion_complete_flavours(const ini_input *in, const parameters *p, named_fermion *f);
rational_settings fermion_flavour_settings(const fermion_params *f);
/* What the settings of a rational action have from its section, whatever the quark; and its solvers, and the action. */
rational_settings fermion_rational_settings(const fermion_params *f);
void fermion_add_rational(simulation *s, int number, rational_settings settings);

#endif
