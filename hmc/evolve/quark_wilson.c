#include "hmc/evolve/quark_wilson.h"

#include <stdio.h>
#include <string.h>

#include "hmc/evolve/parts.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "operators/wilson.h"

#define AT(member) offsetof(wilson_keys, member)

static const param table[] = {
    {"kappa", PARAM_REAL, AT(kappa), "0.125", "[1e-6,1]", NULL,
     "hopping parameter 1/(2m + 8), in place of mass; 1/8 is the free massless quark", 1},
    {"c_sw", PARAM_REAL, AT(c_sw), "0", "[-10,10]", NULL, "clover coefficient; 0: Wilson fermions", 1},
    {"schur", PARAM_CHOICE, AT(schur), "asymmetric", "asymmetric|symmetric", NULL,
     "form of the even-odd Schur complement", 0},
};

/* The free doublers with one momentum pi are massless at a mass of -2. */
#define LARGEST_KAPPA 0.25

/* Mass and kappa, of which one is given. */
static void complete(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    const int mass = ini_given(in, "fermion", f->name, "mass"), kappa = ini_given(in, "fermion", f->name, "kappa");
    wilson_keys *k = wilson_keys_of(&f->p);
    if (mass && kappa)
        user_error("%s: both mass and kappa are given for [fermion.%s]; give one of them (kappa = 1 / (2 mass + 8))",
                   ini_where(in, "fermion", f->name, "kappa"), f->name);
    if (!mass && !kappa)
        user_error("%s: [fermion.%s] has neither mass nor kappa; give one of them",
                   ini_where(in, "fermion", f->name, ""), f->name);
    if (kappa) f->p.mass = 1 / (2 * k->kappa) - 4;
    else k->kappa = 1 / (2 * f->p.mass + 8);
    if (!ini_given(in, "fermion", f->name, "c_sw"))
        log_warn(
            "%s: [fermion.%s] has no c_sw: plain Wilson fermions, with errors of order a; give c_sw, or c_sw = 0 where "
            "that is meant",
            ini_where(in, "fermion", f->name, ""), f->name);
    if (k->kappa > LARGEST_KAPPA)
        log_warn(
            "%s: [fermion.%s] kappa = %.8g is a mass of %.4g, beyond the critical one on any links: the doublers are "
            "lighter than the quark; kappa of clover quarks lies between 0.12 and 0.18",
            ini_where(in, "fermion", f->name, kappa ? "kappa" : "mass"), f->name, k->kappa, f->p.mass);
}

const fermion_part wilson_part = {.keys = PARAM_PART("fermion", "Wilson quarks", wilson_keys, table),
                                  .complete = complete};

fermion *wilson_quark(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    const wilson_keys *k = wilson_keys_of(f);
    wilson_settings s = {.mass = f->mass,
                         .c_sw = k->c_sw,
                         .form = strcmp(k->schur, "symmetric") ? SCHUR_ASYMMETRIC : SCHUR_SYMMETRIC,
                         .p = fermion_parity(f),
                         .storage = link_storage_of(f)};
    s.map = fermion_map(links, f, others, n);
    fermion *quark = wilson_fermion(links, &s);
    link_map_destroy(s.map); /* the quark has its own share */
    return quark;
}

void wilson_describe(const fermion_params *f, double mass, char *text, size_t size)
{
    snprintf(text, size, "kappa %.8g, c_sw %.6g", 1 / (2 * mass + 8), wilson_keys_of(f)->c_sw);
}

int wilson_same_operator(const fermion_params *f, const fermion_params *g)
{
    return wilson_keys_of(f)->c_sw == wilson_keys_of(g)->c_sw && !strcmp(smearing_name(f), smearing_name(g));
}

void wilson_ratio_keys(const fermion_params *f, char *text, size_t size)
{
    const wilson_keys *k = wilson_keys_of(f);
    snprintf(text, size, "c_sw = %.15g, schur = %s, parity = %s, links = %s", k->c_sw, k->schur, f->parity,
             smearing_name(f));
}

int wilson_has_clover(const fermion_params *f)
{
    return wilson_keys_of(f)->c_sw != 0;
}
