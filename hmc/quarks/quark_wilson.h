/* Wilson-clover quarks: keys and costs that quarks with more terms share; keys also for tests that set them. */
#ifndef PLAQ_QUARK_WILSON_H
#define PLAQ_QUARK_WILSON_H

#include "hmc/quarks/quark.h"
#include "operators/wilson.h"

#define CLOVER_TERMS(X) X(CLOVER_LINEAR, "linear") X(CLOVER_EXPONENTIAL, "exponential")
#define CLOVER_LINKS(X) X(CLOVER_LINKS_HOP, "hop") X(CLOVER_LINKS_THIN, "thin")
enum { CLOVER_TERMS(PARAM_CONSTANT) };
enum { CLOVER_LINKS(PARAM_CONSTANT) };

typedef struct {
    double kappa, c_sw;
    double xi_0, nu, c_R, c_T; /* keys of anisotropic lattices; 1, 1, 0, 0: isotropic */
    double c_F, c_F_upper;     /* boundary coefficients of lattices bounded in time, else 1 */
    int ends_differ; /* c_F_upper is that of the upper end; else both have c_F. Set where the lattice is known */
    int schur;       /* a schur_form */
    int clover_links, clover_term;
} wilson_keys;

extern const param_section wilson_part;

static inline wilson_keys *wilson_keys_of(const quark_params *q)
{
    return (wilson_keys *)quark_keys(q, &wilson_part);
}

/* Functions that quark_kind asks for, of kinds that list the part. */
void wilson_keys_complete(const ini_input *in, named_quark *q);
/* Text on kappa and coefficients. */
void wilson_describe(const quark_params *q, double mass, char *text, size_t size);
int wilson_same_operator(const quark_params *q, const quark_params *r);
int wilson_has_clover(const quark_params *q);
/* True if the factor of the determinant that even-odd takes out depends on the links. */
int wilson_has_log_det(const quark_params *q);
double wilson_normal_flops(const quark_params *q);
double wilson_force_flops(const quark_params *q);
double wilson_term_flops(const quark_params *q);
double wilson_shift_flops(const quark_params *q);

/* The settings by these keys, but for the map of the links; and the quark of settings, which gets the map that its keys ask
 * for, as quark_kind.make() does. */
wilson_settings wilson_settings_of(const quark_params *q);
fermion *wilson_quark_make(const field *links, const quark_params *q, wilson_settings *s, fermion *const *others,
                           int n);

#endif
