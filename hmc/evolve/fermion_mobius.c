/* mobius: a Moebius domain wall quark, which is measured only. */
#include "hmc/evolve/fermion_kind.h"

#include <string.h>

#include "kernels/family/domainwall.h"
#include "operators/mobius.h"

typedef struct {
    double M5, b5, c5;
    int Ls;
} mobius_keys;

static const mobius_keys *keys_of(const fermion_params *f)
{
    return (const mobius_keys *)(const void *)f->own.bytes;
}

static const param own[] = {
    {"Ls", PARAM_INT, offsetof(mobius_keys, Ls), "12", "[2,32]", "slices", "extent of the fifth dimension", 1},
    {"M5", PARAM_REAL, offsetof(mobius_keys, M5), "1.8", "(0,2)", NULL, "height of the domain wall", 1},
    {"b5", PARAM_REAL, offsetof(mobius_keys, b5), "1.5", "(0,100]", NULL,
     "coefficient of Wilson's operator within a slice; b5 + c5 scales its spectrum, and with b5 - c5 = 1 the limit of "
     "many slices is that of Shamir's quarks, b5 = 1, c5 = 0",
     1},
    {"c5", PARAM_REAL, offsetof(mobius_keys, c5), "0.5", "[0,100]", NULL,
     "coefficient of Wilson's operator between slices", 1},
};
static const param_section part = PARAM_PART("fermion", "mobius", mobius_keys, own);
_Static_assert(sizeof(mobius_keys) <= sizeof(((fermion_params *)0)->own), "no room for the keys of mobius");
_Static_assert(DOMAINWALL_SLICES == 32, "the range of Ls");

static fermion *quark(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    const mobius_keys *k = keys_of(f);
    const mobius_settings s = {.mass = f->mass,
                               .M5 = k->M5,
                               .b5 = k->b5,
                               .c5 = k->c5,
                               .Ls = k->Ls,
                               .p = strcmp(f->parity, "even") ? PARITY_ODD : PARITY_EVEN,
                               .storage = strcmp(f->link_reals, "18") ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS};
    (void)others, (void)n; /* it shares nothing */
    return mobius_fermion(links, &s);
}

static int slices(const fermion_params *f)
{
    return keys_of(f)->Ls;
}

const fermion_kind fermion_mobius = {.name = "mobius",
                                     .help = "a Moebius domain wall quark, measured only",
                                     .keys = "link_reals",
                                     .own = &part,
                                     .flavours = 2,
                                     .quark = quark,
                                     .slices = slices};
