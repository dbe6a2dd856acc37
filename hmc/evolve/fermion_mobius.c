/* mobius: a Moebius domain wall quark, which is measured only. */
#include <stdio.h>

#include "hmc/evolve/parts.h"
#include "kernels/family/domainwall.h"
#include "operators/mobius.h"

typedef struct {
    double M5, b5, c5;
    int Ls;
} mobius_keys;

static const param table[] = {
    {"Ls", PARAM_INT, offsetof(mobius_keys, Ls), "12", "[2,32]", "slices", "extent of the fifth dimension", 1},
    {"M5", PARAM_REAL, offsetof(mobius_keys, M5), "1.8", "(0,2)", NULL, "height of the domain wall", 1},
    {"b5", PARAM_REAL, offsetof(mobius_keys, b5), "1.5", "(0,100]", NULL,
     "coefficient of Wilson's operator within a slice; b5 + c5 scales its spectrum, and with b5 - c5 = 1 the limit of "
     "many slices is that of Shamir's quarks, b5 = 1, c5 = 0",
     1},
    {"c5", PARAM_REAL, offsetof(mobius_keys, c5), "0.5", "[0,100]", NULL,
     "coefficient of Wilson's operator between slices", 1},
};
_Static_assert(DOMAINWALL_SLICES == 32, "the range of Ls");

static void complete(const ini_input *in, named_fermion *f)
{
    fermion_need_mass(in, f);
}

static const fermion_part mobius_part = {.keys = PARAM_PART("fermion", "mobius", mobius_keys, table),
                                         .complete = complete};

static const mobius_keys *keys_of(const fermion_params *f)
{
    return fermion_keys(f, &mobius_part);
}

static fermion *quark(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    const mobius_keys *k = keys_of(f);
    const mobius_settings s = {.mass = f->mass,
                               .M5 = k->M5,
                               .b5 = k->b5,
                               .c5 = k->c5,
                               .Ls = k->Ls,
                               .p = fermion_parity(f),
                               .storage = link_storage_of(f)};
    (void)others, (void)n; /* it shares nothing */
    return mobius_fermion(links, &s);
}

static int slices(const fermion_params *f)
{
    return keys_of(f)->Ls;
}

static void describe(const fermion_params *f, double mass, char *text, size_t size)
{
    (void)mass;
    snprintf(text, size, "%d slices", slices(f));
}

static int same_operator(const fermion_params *f, const fermion_params *g)
{
    const mobius_keys *k = keys_of(f), *l = keys_of(g);
    return k->Ls == l->Ls && k->M5 == l->M5 && k->b5 == l->b5 && k->c5 == l->c5;
}

const fermion_kind fermion_mobius = {.name = "mobius",
                                     .help = "a Moebius domain wall quark, measured only",
                                     .parts = {&link_reals_part, &mobius_part},
                                     .spins = 4,
                                     .flavours = 2,
                                     .quark = quark,
                                     .describe = describe,
                                     .same_operator = same_operator,
                                     .slices = slices};
