#include "hmc/evolve/quark_mobius.h"

#include <stdio.h>
#include <string.h>

#include "hmc/evolve/parts.h"
#include "kernels/family/domainwall.h"

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

static void complete(const ini_input *in, const parameters *p, named_fermion *f)
{
    (void)p;
    fermion_need_mass(in, f);
}

const fermion_part mobius_part = {.keys = PARAM_PART("fermion", "mobius", mobius_keys, table), .complete = complete};

static const mobius_keys *keys_of(const fermion_params *f)
{
    return fermion_keys(f, &mobius_part);
}

mobius_settings mobius_settings_of(const fermion_params *f)
{
    const mobius_keys *k = keys_of(f);
    return (mobius_settings){.mass = f->mass,
                             .M5 = k->M5,
                             .b5 = k->b5,
                             .c5 = k->c5,
                             .Ls = k->Ls,
                             .p = fermion_parity(f),
                             .storage = link_storage_of(f)};
}

fermion *mobius_quark(const field *links, const fermion_params *f, fermion *const *others, int n)
{
    mobius_settings s = mobius_settings_of(f);
    s.map = fermion_map(links, f, others, n);
    fermion *quark = mobius_fermion(links, &s);
    link_map_destroy(s.map); /* the quark has its own share */
    return quark;
}

int mobius_slices(const fermion_params *f)
{
    return keys_of(f)->Ls;
}

void mobius_describe(const fermion_params *f, double mass, char *text, size_t size)
{
    const mobius_keys *k = keys_of(f);
    (void)mass;
    snprintf(text, size, "%d slices, M5 %.6g, b5 %.6g, c5 %.6g", k->Ls, k->M5, k->b5, k->c5);
}

int mobius_same_operator(const fermion_params *f, const fermion_params *g)
{
    const mobius_keys *k = keys_of(f), *l = keys_of(g);
    return k->Ls == l->Ls && k->M5 == l->M5 && k->b5 == l->b5 && k->c5 == l->c5 &&
           !strcmp(smearing_name(f), smearing_name(g));
}

void mobius_ratio_keys(const fermion_params *f, char *text, size_t size)
{
    const mobius_keys *k = keys_of(f);
    snprintf(text, size, "Ls = %d, M5 = %.15g, b5 = %.15g, c5 = %.15g, parity = %s, links = %s", k->Ls, k->M5, k->b5,
             k->c5, f->parity, smearing_name(f));
}

void mobius_transform_keys(const fermion_params *f, char *text, size_t size)
{
    const mobius_keys *k = keys_of(f);
    snprintf(text, size, "mass = %.15g\nLs = %d\nM5 = %.15g\nb5 = %.15g\nc5 = %.15g\n", f->mass, k->Ls, k->M5, k->b5,
             k->c5);
}

/* Two operators of half of the sites, each of two hops and two matrices. */
double mobius_normal_flops(const fermion_params *f)
{
    const double Ls = keys_of(f)->Ls;
    return Ls * (2 * 1320 + 2 * 48 * Ls);
}

/* Of numerator and denominator: hops and matrices of the fields, and 8 products of links and outer products. */
double mobius_assembly_flops(const fermion_params *f)
{
    const double Ls = keys_of(f)->Ls;
    return 2 * (Ls * (3 * 1320 + 3 * 48 * Ls + 4 * 600) + 4 * 400);
}
