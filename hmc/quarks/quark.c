#include "hmc/quarks/quark.h"

#include <stdio.h>
#include <string.h>

#include "hmc/input/parts.h"
#include "kernels/base/error.h"

#define QUARK(kind) extern const quark_kind quark_##kind;
#include "hmc/quarks/quarks.def"
#undef QUARK

static const quark_kind *const all[] = {
#define QUARK(kind) &quark_##kind,
#include "hmc/quarks/quarks.def"
#undef QUARK
    NULL};

const quark_kind *quark_kind_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

/* ---- keys ---- */

#define AT(member) offsetof(quark_params, member)

static char kind_names[256], kind_help[1024];

static const param keys[] = {
    {"kind", PARAM_CHOICE, AT(kind), "wilson_clover", kind_names, NULL, kind_help, 1},
    {"mass", PARAM_REAL, AT(mass), "0", "[-3.5,1e6]", "1/a",
     "bare mass m; one of mass and kappa has to be given; -3.5 is kappa = 1. M = m + D / 2 for staggered quarks, "
     "with m > 0",
     1},
    {"parity", PARAM_CHOICE, AT(parity), "odd", PARAM_RANGE(QUARK_PARITIES), NULL,
     "sites of the even-odd system, on which pseudofermions live", 0},
    {"solver", PARAM_NAME, AT(solver), "", "solver", NULL,
     "[solver.NAME] of measurements with this quark that name none; actions name their own", 0},
};

static const param_section section = {"quark",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(quark_params),
                                      "a quark; [action.NAME] sections and measurements name it",
                                      NULL};

static param_parts parts;

const param_section *quark_section(int number)
{
    for (int i = 0; all[i] && !kind_names[0]; i++)
        for (int j = 0; all[j]; j++) {
            param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, all[j]->name, all[j]->help);
            for (int k = 0; all[j]->parts[k]; k++) param_parts_add(&parts, all[j]->parts[k], all[j]->name);
        }
    return number == 0 ? &section : number <= parts.n ? &parts.sections[number - 1] : NULL;
}

void *quark_keys(const quark_params *q, const param_section *part)
{
    return parts_struct(quark_kind_of(q)->parts, q->parts.bytes, sizeof q->parts.bytes, part);
}

void *quark_key(const quark_params *q, const char *key)
{
    const param_section *const *parts = quark_kind_of(q)->parts;
    for (int k = 0; parts[k]; k++) {
        const param *found = param_find(parts[k], key);
        if (found) return (char *)quark_keys(q, parts[k]) + found->offset;
    }
    return NULL;
}

int quark_kind_has(const quark_kind *kind, const char *key)
{
    return parts_have(kind->parts, key);
}

void quark_kind_keys(const quark_kind *kind, char *text, size_t size)
{
    parts_keys(kind->parts, text, size);
}

void quark_need_mass(const ini_input *in, const named_quark *q)
{
    if (!ini_given(in, "quark", q->name, "mass"))
        user_error("%s: [quark.%s] has no mass", ini_where(in, "quark", q->name, ""), q->name);
}

parity quark_parity(const quark_params *q)
{
    return q->parity == QUARK_EVEN ? PARITY_EVEN : PARITY_ODD;
}

quark_params quark_of_mass(const quark_params *q, double mass)
{
    quark_params r = *q;
    r.mass = mass;
    return r;
}
