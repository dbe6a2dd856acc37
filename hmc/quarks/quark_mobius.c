/* mobius: Moebius domain wall quarks of sections [quark.NAME]. */
#include <stdio.h>
#include <string.h>

#include "hmc/quarks/quark_links.h"
#include "hmc/quarks/quark_mobius.h"
#include "kernels/family/domainwall.h"
#include "operators/eofa.h"

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

const param_section mobius_part = PARAM_PART("quark", "mobius", mobius_keys, table);

static void complete(const ini_input *in, named_quark *q)
{
    quark_need_mass(in, q);
}

mobius_settings mobius_settings_of(const quark_params *f)
{
    const mobius_keys *k = mobius_keys_of(f);
    return (mobius_settings){.mass = f->mass,
                             .M5 = k->M5,
                             .b5 = k->b5,
                             .c5 = k->c5,
                             .Ls = k->Ls,
                             .p = quark_parity(f),
                             .storage = link_storage_of(f)};
}

fermion *mobius_quark_make(const field *links, const quark_params *f, mobius_settings *s, fermion *const *others, int n)
{
    s->map = quark_map(links, f, others, n);
    fermion *quark = mobius_fermion(links, s);
    link_map_destroy(s->map); /* the quark has its own share */
    return quark;
}

static fermion *make(const field *links, const quark_params *f, fermion *const *others, int n)
{
    mobius_settings s = mobius_settings_of(f);
    return mobius_quark_make(links, f, &s, others, n);
}

int mobius_slices(const quark_params *f)
{
    return mobius_keys_of(f)->Ls;
}

static void describe(const quark_params *f, double mass, char *text, size_t size)
{
    const mobius_keys *k = mobius_keys_of(f);
    (void)mass;
    snprintf(text, size, "%d slices, M5 %.6g, b5 %.6g, c5 %.6g", k->Ls, k->M5, k->b5, k->c5);
    quark_describe_theta(f, text, size);
}

int mobius_same_operator(const quark_params *f, const quark_params *g)
{
    const mobius_keys *k = mobius_keys_of(f), *l = mobius_keys_of(g);
    return k->Ls == l->Ls && k->M5 == l->M5 && k->b5 == l->b5 && k->c5 == l->c5 && quark_same_links(f, g);
}

static void transform_keys(const quark_params *f, char *text, size_t size)
{
    const mobius_keys *k = mobius_keys_of(f);
    snprintf(text, size, "mass = %.15g\nLs = %d\nM5 = %.15g\nb5 = %.15g\nc5 = %.15g\n", f->mass, k->Ls, k->M5, k->b5,
             k->c5);
}

static eofa *one_flavour(const field *links, const quark_params *f, double heavy, fermion *const *others, int n)
{
    mobius_settings s = mobius_settings_of(f);
    if (links) s.map = quark_map(links, f, others, n);
    eofa *quotient = eofa_create(links, &s, heavy);
    link_map_destroy(s.map); /* the quotient has its own share */
    return quotient;
}

/* Two operators of half of the sites, each of two hops and two matrices. */
static double normal_flops(const quark_params *f)
{
    const double Ls = mobius_keys_of(f)->Ls;
    return Ls * (2 * 1320 + 2 * 48 * Ls);
}

double mobius_force_flops(const quark_params *f)
{
    (void)f;
    return 0;
}

/* Numerator and denominator: hops and matrices of the fields, and 8 products of links and outer products. */
double mobius_term_flops(const quark_params *f)
{
    const double Ls = mobius_keys_of(f)->Ls;
    return 2 * (Ls * (3 * 1320 + 3 * 48 * Ls + 4 * 600) + 4 * 400);
}

double mobius_shift_flops(const quark_params *f)
{
    return mobius_keys_of(f)->Ls * 240.0;
}

const quark_kind quark_mobius = {.name = "mobius",
                                 .help = "Moebius domain wall, over Pauli-Villars fields",
                                 .parts = {&link_reals_part, &smearing_part, &twist_part, &mobius_part},
                                 .spins = 4,
                                 .flavours = 2,
                                 .ratios = 1,
                                 .blocks = 1,
                                 .bounded = 1,
                                 .regulated = 1,
                                 .axial = 1,
                                 .complete = complete,
                                 .make = make,
                                 .describe = describe,
                                 .same_operator = mobius_same_operator,
                                 .slices = mobius_slices,
                                 .transform_keys = transform_keys,
                                 .one_flavour = one_flavour,
                                 .normal_flops = normal_flops,
                                 .force_flops = mobius_force_flops,
                                 .term_flops = mobius_term_flops,
                                 .shift_flops = mobius_shift_flops,
                                 .solve_op = "mobius_cg",
                                 .force_op = "hop_force"};
