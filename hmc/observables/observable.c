#include "hmc/observables/observable.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/error.h"

#define OBSERVABLE(name) extern const observable observable_##name;
#include "hmc/observables/observables.def"
#undef OBSERVABLE

static const observable *const all[] = {
#define OBSERVABLE(name) &observable_##name,
#include "hmc/observables/observables.def"
#undef OBSERVABLE
    NULL};

const observable *observable_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

/* Keys of those that not every kind has. */
static const char *common_keys(const observable *o)
{
    return o->propagators == 1              ? "propagator positions exact_positions"
           : o->propagators == 3            ? "propagator propagator_2 insertion positions exact_positions"
           : o->propagators                 ? "propagator propagator_2 positions exact_positions"
           : o->from_source                 ? "quark solver source error_estimate"
           : o->quarks != MEASURE_NO_QUARKS ? "quark solver error_estimate"
                                            : "links";
}

int observable_has(const observable *o, const char *key)
{
    return param_has_word(common_keys(o), key) || (o->own && param_find(o->own, key));
}

void observable_keys(const observable *o, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", common_keys(o));
    for (int i = 0; o->own && i < o->own->count && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, " %s", o->own->table[i].name);
}

/* ---- keys ---- */

#define MEMBER(member) offsetof(measure_params, member)

static char kind_names[256], kind_help[2048];

/* Helps that begin with the kinds that have the key. */
enum {
    PROPAGATOR,
    PROPAGATOR_2,
    INSERTION,
    POSITIONS,
    EXACT_POSITIONS,
    QUARK,
    SOLVER,
    SOURCE,
    ERROR_ESTIMATE,
    LINKS,
    COMMON_KEYS
};
static const struct {
    const char *name, *text;
} common[COMMON_KEYS] = {
    {"propagator", "[propagator.NAME] that is contracted; has to be given"},
    {"propagator_2", "[propagator.NAME] of the other quark; empty: the same"},
    {"insertion", "[propagator.NAME] from a source of kind = feynman_hellmann, which takes the place of one quark "
                  "line after the other; empty: none"},
    {"positions", "number of positions on a configuration from which it is made, whose mean is taken; 1: that of the "
                  "source; more: random "
                  "ones, by even numbers away from it, in space alone where time is not periodic"},
    {"exact_positions", "positions with solves by the propagators' solvers; the others have rough_solver alone, whose "
                        "bias is corrected by the first "
                        "ones (all-mode averaging). 0: all"},
    {"quark", "[quark.NAME] that is solved for; has to be given"},
    {"solver", "[solver.NAME] of the solves; empty: the quark's solver"},
    {"source", "[source.NAME] that is solved from; has to be given"},
    {"error_estimate",
     "estimates the error of every solution by a second solve, of the residual; it takes about half as long again"},
    {"links", "[links.NAME] of the smeared links that are measured; empty: the links of the ensemble"},
};
static char common_help[COMMON_KEYS][512];

static const param keys[] = {
    {"kind", PARAM_CHOICE, MEMBER(kind), NULL, kind_names, NULL, kind_help, 0},
    {"interval", PARAM_LONG, MEMBER(interval), "1", "[1,inf)", "trajectories", "distance of measurements in a run", 0},
    {"propagator", PARAM_NAME, MEMBER(propagators[0]), "", "propagator", NULL, common_help[PROPAGATOR], 0},
    {"propagator_2", PARAM_NAME, MEMBER(propagators[1]), "", "propagator", NULL, common_help[PROPAGATOR_2], 0},
    {"insertion", PARAM_NAME, MEMBER(propagators[2]), "", "propagator", NULL, common_help[INSERTION], 0},
    {"positions", PARAM_INT, MEMBER(positions), "1", "[1,1000000]", NULL, common_help[POSITIONS], 0},
    {"exact_positions", PARAM_INT, MEMBER(exact_positions), "0", "[0,1000000]", NULL, common_help[EXACT_POSITIONS], 0},
    {"quark", PARAM_NAME, MEMBER(quark), "", "quark", NULL, common_help[QUARK], 0},
    {"solver", PARAM_NAME, MEMBER(solver), "", "solver", NULL, common_help[SOLVER], 0},
    {"source", PARAM_NAME, MEMBER(source), "", "source", NULL, common_help[SOURCE], 0},
    {"error_estimate", PARAM_CHOICE, MEMBER(error_estimate), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     common_help[ERROR_ESTIMATE], 0},
    {"links", PARAM_NAME, MEMBER(links), "", "links", NULL, common_help[LINKS], 0},
};

static const param_section section = {"measure",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(measure_params),
                                      "a measurement, made during a run and by plaq measure",
                                      NULL};

static void fill_texts(void)
{
    if (kind_names[0]) return;
    for (int i = 0; observable_number(i); i++) {
        const observable *o = observable_number(i);
        param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, o->name, o->help);
        for (int k = 0; k < COMMON_KEYS; k++)
            if (param_has_word(common_keys(o), common[k].name))
                param_append(common_help[k], sizeof common_help[k], common_help[k][0] ? ", " : "", o->name);
    }
    for (int k = 0; k < COMMON_KEYS; k++) param_append(common_help[k], sizeof common_help[k], ": ", common[k].text);
}

const param_section *observable_section(int number)
{
    fill_texts();
    if (number == 0) return &section;
    for (int i = 0; observable_number(i); i++)
        if (observable_number(i)->own && --number == 0) return observable_number(i)->own;
    return NULL;
}

/* ---- a section ---- */

int observable_axis(const observable *o)
{
    int i = 0;
    while (i < o->ncolumns && !(o->axis && !strcmp(o->columns[i].name, o->axis))) i++;
    return i;
}

const char *measure_propagator(const measure_params *m, int i)
{
    const int n = observable_of(m)->propagators;
    if (i == 1 && n > 2 && !m->propagators[1][0] && m->propagators[2][0]) return m->propagators[0];
    return i < n && m->propagators[i][0] ? m->propagators[i] : NULL;
}

int measure_is_rough(const measure_params *m)
{
    return m->exact_positions > 0 && m->exact_positions < m->positions;
}
