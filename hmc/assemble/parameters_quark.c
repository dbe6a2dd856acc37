/* Sections [quark.NAME]: their instances and parts. */
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/parameters.h"
#include "hmc/quarks/quark_links.h"
#include "kernels/base/error.h"

int parameters_quark(const parameters *p, const char *name)
{
    for (int i = 0; i < p->nquarks; i++)
        if (!strcmp(p->quarks[i].name, name)) return i;
    REQUIRE(0, "no quark %s", name);
    return -1;
}

int parameters_measured_only(const parameters *p, const named_quark *q)
{
    for (int i = 0; i < p->nactions; i++)
        if (!strcmp(p->actions[i].p.quark, q->name)) return 0;
    return 1;
}

static int kind_has(const void *quark, const char *key)
{
    return param_find(quark_section(0), key) || quark_kind_has(quark_kind_of(quark), key);
}

static void check_keys(ini_input *in, const named_quark *q)
{
    char has[512], rest[640];
    quark_kind_keys(quark_kind_of(&q->p), has, sizeof has);
    snprintf(rest, sizeof rest, "; beside those of every kind it has %s", has);
    parameters_refuse_keys(in, quark_section(0), q->name, &q->p, kind_has, rest);
}

void quark_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nquarks = names_of(in, "quark", names);
    for (int i = 0; i < p->nquarks; i++) {
        named_quark *q = &p->quarks[i];
        snprintf(q->name, sizeof q->name, "%s", names[i]);
        ini_fill(in, quark_section(0), names[i], &q->p);
        check_keys(in, q);
        const param_section *const *parts = quark_kind_of(&q->p)->parts;
        for (int k = 0; parts[k]; k++) ini_fill(in, parts[k], names[i], quark_keys(&q->p, parts[k]));
    }
}

void quark_parameters_complete(const ini_input *in, parameters *p)
{
    for (int i = 0; i < p->nquarks; i++) {
        quark_complete_links(in, &p->quarks[i], p->links, p->nlinks);
        quark_kind_of(&p->quarks[i].p)->complete(in, &p->quarks[i]);
    }
}
