/* zmobius: Moebius quarks with complex coefficients of each slice, for measurements, of sections [quark.NAME] (operators/mobius.h). With numbers
 * omega_s that approximate the sign function as well as uniform ones on more slices, they are cheaper than Moebius quarks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark_links.h"
#include "hmc/quarks/quark_mobius.h"
#include "kernels/base/error.h"

typedef struct {
    char text[PARAM_WORDS_SIZE];
    double omega[DOMAINWALL_SLICES][2];
} zmobius_keys;

static const param table[] = {
    {"omega", PARAM_WORDS, offsetof(zmobius_keys, text), NULL, NULL, NULL,
     "Ls complex numbers omega_s such as 1.45 0.83+0.2i 0.83-0.2i, each with its conjugate: the coefficients of slice "
     "s are "
     "((b5 + c5) / omega_s +- (b5 - c5)) / 2, and a sign function of H is made of the factors 1 +- H / omega_s",
     1},
};

static const param_section zmobius_part = PARAM_PART("quark", "zmobius", zmobius_keys, table);

static zmobius_keys *keys_of(const quark_params *f)
{
    return quark_keys(f, &zmobius_part);
}

/* A number, and where an imaginary part follows, that with an i. */
static int read_complex(const char *word, double z[2])
{
    char *end;
    z[0] = strtod(word, &end);
    z[1] = 0;
    if (end == word || !isfinite(z[0])) return 0;
    if (!*end) return 1;
    const char *rest = end;
    z[1] = strtod(rest, &end);
    return (*rest == '+' || *rest == '-') && end != rest && isfinite(z[1]) && !strcmp(end, "i");
}

/* Conjugate of omega_s that no other number has taken, or -1. Only pairs make an operator with gamma5 Hermiticity. */
static int find_partner(const zmobius_keys *k, int n, int s, const char *taken)
{
    for (int t = 0; t < n; t++) {
        const double off = hypot(k->omega[s][0] - k->omega[t][0], k->omega[s][1] + k->omega[t][1]);
        if (!taken[t] && off <= 1e-12 * hypot(k->omega[s][0], k->omega[s][1])) return t;
    }
    return -1;
}

static void check_pairs(const char *where, const named_quark *q, const zmobius_keys *k, int n)
{
    char taken[DOMAINWALL_SLICES] = {0};
    for (int s = 0; s < n; s++) {
        const int t = find_partner(k, n, s, taken);
        if (t < 0)
            user_error("%s: [quark.%s] omega: %.15g%+.15gi of slice %d has no conjugate among the others", where,
                       q->name, k->omega[s][0], k->omega[s][1], s);
        taken[t] = 1;
    }
}

static void complete(const ini_input *in, named_quark *q)
{
    zmobius_keys *k = keys_of(&q->p);
    const char *where = ini_where(in, "quark", q->name, "omega");
    const int Ls = mobius_slices(&q->p);
    char word[PARAM_WORDS_SIZE];
    int n = 0;
    quark_need_mass(in, q);
    for (; param_word(k->text, n, word, sizeof word); n++) {
        double z[2];
        if (!read_complex(word, z) || (z[0] == 0 && z[1] == 0))
            user_error("%s: [quark.%s] omega: '%s' is not a complex number other than 0, such as 0.83 or 0.83+0.2i",
                       where, q->name, word);
        if (n < Ls) memcpy(k->omega[n], z, sizeof z);
    }
    if (n != Ls)
        user_error("%s: [quark.%s] omega has %d numbers, and Ls = %d needs one for each slice", where, q->name, n, Ls);
    check_pairs(where, q, k, n);
}

static fermion *make(const field *links, const quark_params *f, fermion *const *others, int n)
{
    mobius_settings s = mobius_settings_of(f);
    s.omega = (const double(*)[2])keys_of(f)->omega;
    return mobius_quark_make(links, f, &s, others, n);
}

static void describe(const quark_params *f, double mass, char *text, size_t size)
{
    const mobius_keys *k = mobius_keys_of(f);
    (void)mass;
    snprintf(text, size, "%d slices, M5 %.6g, b5 + c5 %.6g, b5 - c5 %.6g, omega of each slice", k->Ls, k->M5,
             k->b5 + k->c5, k->b5 - k->c5);
    quark_describe_theta(f, text, size);
}

static int same_operator(const quark_params *f, const quark_params *g)
{
    return mobius_same_operator(f, g) && !strcmp(keys_of(f)->text, keys_of(g)->text);
}

/* Flops of a Moebius quark, with twice the products of matrices. */
static double normal_flops(const quark_params *f)
{
    const double Ls = mobius_slices(f);
    return Ls * (2 * 1320 + 4 * 48 * Ls);
}

const quark_kind quark_zmobius = {.name = "zmobius",
                                  .help = "Moebius with complex coefficients of each slice, for measurements",
                                  .parts = {&link_reals_part, &smearing_part, &twist_part, &mobius_part, &zmobius_part},
                                  .spins = 4,
                                  .flavours = 2,
                                  .blocks = 1,
                                  .bounded = 1,
                                  .valence = 1,
                                  .complete = complete,
                                  .make = make,
                                  .describe = describe,
                                  .same_operator = same_operator,
                                  .slices = mobius_slices,
                                  .normal_flops = normal_flops,
                                  .force_flops = mobius_force_flops,
                                  .term_flops = mobius_term_flops,
                                  .shift_flops = mobius_shift_flops,
                                  .solve_op = "mobius_cg",
                                  .force_op = "hop_force"};
