/* The keys of [measure.NAME], and what their table cannot say: which of them an observable has, and which quark. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/build/simulation.h"
#include "hmc/evolve/fermion_kind.h"
#include "hmc/input/parameters.h"
#include "hmc/measure/observable.h"
#include "kernels/base/error.h"

#define FLOW_MOST_STEPS 1000000

static choices observable_choices;

/* The help of keys that only some observables have, with those observables in front. */
enum {
    FLOW_TIME,
    FLOW_STEP,
    QUARK,
    PROPAGATOR,
    SOURCE,
    NOISE,
    VECTORS,
    TRACES,
    SHAPE,
    TASTES,
    TRANSPORT,
    MEASURE_KEYS
};
static kind_key measure_keys[MEASURE_KEYS] = {
    [FLOW_TIME] = {"flow_time", "longest flow time; the flow has at most 1000000 steps", ""},
    [FLOW_STEP] =
        {"flow_step",
         "step of the flow's Runge-Kutta, which is unstable beyond 0.157, where 16 steps (the fastest mode of "
         "the flow) are more than 2.51",
         ""},
    [QUARK] = {"fermion", "[fermion.NAME] of the propagator; has to be given", ""},
    [PROPAGATOR] = {"solver", "[solver.NAME] of the propagator; empty: the fermion's action_solver", ""},
    [SOURCE] = {"source", "place of the point source, or of the corner that a corner source begins with", ""},
    [NOISE] = {"noise", "numbers of the noise vectors: (+-1 +- i)/sqrt 2, or normal ones", ""},
    [VECTORS] =
        {"vectors",
         "number of noise vectors; they depend on [run] seed, the configuration, their number and the site, and are "
         "the same for every quark",
         ""},
    [TRACES] = {"traces",
                "of a staggered quark: also Tr M^-1 M', Tr M^-1 M'' and Tr (M^-1 M')^2 by derivatives with the quark "
                "chemical potential, at the price of one more solve a vector",
                ""},
    [SHAPE] = {"shape",
               "point; or corner: ones on all sites of the source's time slice whose other coordinates differ from the "
               "source's by even numbers, for configurations in a smooth gauge",
               ""},
    [TASTES] =
        {"tastes",
         "further pions gamma_5 x xi_T for T = i5, i4, 4 and gamma_4 gamma_5 x xi_T for T = ij, i, 1, of 1, 2, 3 "
         "and 1, 2, 3 links, averaged over directions: three solves each, or nine; empty: those without links",
         ""},
    [TRANSPORT] =
        {"transport",
         "links along which quark and antiquark of such pions are apart: thin, or the quark's fat "
         "ones, of which free ones are (9 + naik_epsilon) / 8 times the unit matrix (asqtad's and HISQ's, at u0 = "
         "1), so that a correlator of n links has that factor 2 n times",
         ""},
};

void measure_parameters_fill(void)
{
    for (int i = 0; observable_number(i); i++)
        parameters_add_choice(&observable_choices, observable_number(i)->name, observable_number(i)->help);
    for (int k = 0; k < MEASURE_KEYS; k++) {
        for (int i = 0; observable_number(i); i++)
            if (observable_has(observable_number(i), measure_keys[k].key))
                parameters_add_owner(&measure_keys[k], observable_number(i)->name);
        parameters_end_help(&measure_keys[k]);
    }
}

static const param measure_table[] = {
    {"kind", PARAM_CHOICE, AT(measure_params, kind), NULL, observable_choices.names, NULL, observable_choices.help, 0},
    {"interval", PARAM_LONG, AT(measure_params, interval), "1", "[1,inf)", "trajectories",
     "distance of measurements in a run", 0},
    {"flow_time", PARAM_REAL, AT(measure_params, flow_time), "2", "(0,150000]", "a^2", measure_keys[FLOW_TIME].help, 0},
    {"flow_step", PARAM_REAL, AT(measure_params, flow_step), "0.05", "(0,0.15]", "a^2", measure_keys[FLOW_STEP].help,
     0},
    {"fermion", PARAM_STRING, AT(measure_params, fermion), "", NULL, NULL, measure_keys[QUARK].help, 0},
    {"solver", PARAM_STRING, AT(measure_params, solver), "", NULL, NULL, measure_keys[PROPAGATOR].help, 0},
    {"source", PARAM_INT4, AT(measure_params, source), "0.0.0.0", "[0,inf)", "sites", measure_keys[SOURCE].help, 0},
    {"noise", PARAM_CHOICE, AT(measure_params, noise), "z2", "z2|gaussian", NULL, measure_keys[NOISE].help, 0},
    {"vectors", PARAM_INT, AT(measure_params, vectors), "16", "[1,1000000]", NULL, measure_keys[VECTORS].help, 0},
    {"traces", PARAM_CHOICE, AT(measure_params, traces), "no", "no|yes", NULL, measure_keys[TRACES].help, 0},
    {"shape", PARAM_CHOICE, AT(measure_params, shape), "point", "point|corner", NULL, measure_keys[SHAPE].help, 0},
    {"tastes", PARAM_WORDS, AT(measure_params, tastes), "", "i5|ij|i4|i|4|1", NULL, measure_keys[TASTES].help, 0},
    {"transport", PARAM_CHOICE, AT(measure_params, transport), "thin", "thin|fat", NULL, measure_keys[TRANSPORT].help,
     0},
};

const param_section measure_parameters = {"measure", 1, KEYS(measure_table), sizeof(measure_params),
                                          "a measurement, made during a run and by plaq measure"};

/* Refuses keys that its observable does not have. */
static void check_measure_keys(const ini_input *in, const named_measure *m)
{
    const observable *o = observable_find(m->p.kind);
    for (int k = 0; k < MEASURE_KEYS; k++) {
        const char *key = measure_keys[k].key;
        if (ini_given(in, "measure", m->name, key) && !observable_has(o, key))
            user_error("%s: [measure.%s] kind = %s has no key '%s'; beside interval it has %s",
                       ini_where(in, "measure", m->name, key), m->name, o->name, key,
                       o->keys[0] ? o->keys : "no other");
    }
}

/* The quark is of the kind that is measured with. */
static void check_quark(const ini_input *in, const parameters *p, const named_measure *m)
{
    const fermion_params *f = &p->fermions[simulation_fermion(p, m->p.fermion)].p;
    const int staggered = fermion_kind_find(f->kind)->staggered, want = observable_find(m->p.kind)->quarks;
    if (want == (staggered ? MEASURE_WILSON : MEASURE_STAGGERED))
        user_error("%s: [measure.%s] kind = %s needs a %s quark, but [fermion.%s] is of kind = %s",
                   ini_where(in, "measure", m->name, "fermion"), m->name, m->p.kind,
                   want == MEASURE_WILSON ? "Wilson" : "staggered", m->p.fermion, f->kind);
    if (!staggered && !strcmp(m->p.traces, "yes"))
        user_error("%s: traces = yes needs a staggered quark, but [fermion.%s] is of kind = %s",
                   ini_where(in, "measure", m->name, "traces"), m->p.fermion, f->kind);
}

/* A flow of so many steps that it would not come to an end, or not fit. */
static void check_flow(const ini_input *in, const named_measure *m)
{
    const double steps = ceil(m->p.flow_time / m->p.flow_step);
    if (observable_has(observable_find(m->p.kind), "flow_step") && steps > FLOW_MOST_STEPS)
        user_error(
            "%s: flow_time = %g of [measure.%s] takes %.3g steps of flow_step = %g; allowed are %d, each of which "
            "takes as long as three gauge forces: shorten flow_time or lengthen flow_step",
            ini_where(in, "measure", m->name,
                      ini_given(in, "measure", m->name, "flow_step") ? "flow_step" : "flow_time"),
            m->p.flow_time, m->name, steps, m->p.flow_step, FLOW_MOST_STEPS);
}

void measure_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED + 1], *fermions[MAX_NAMED];
    for (int i = 0; i < p->nfermions; i++) fermions[i] = p->fermions[i].name;
    p->nmeasures = parameters_instances(in, "measure", names);
    for (int i = 0; i < p->nmeasures; i++) {
        named_measure *m = &p->measures[i];
        snprintf(m->name, sizeof m->name, "%s", names[i]);
        ini_fill(in, &measure_parameters, names[i], &m->p);
        check_measure_keys(in, m);
        check_flow(in, m);
        if (observable_find(m->p.kind)->quarks == MEASURE_NO_QUARKS) continue;
        parameters_check_name(in, "measure", m->name, "fermion", m->p.fermion, fermions, p->nfermions,
                              "[fermion.NAME]");
        check_quark(in, p, m);
        if (!strcmp(m->p.transport, "fat") && !m->p.tastes[0])
            user_error("%s: transport = fat is for the pions of tastes, of which [measure.%s] has none",
                       ini_where(in, "measure", m->name, "transport"), m->name);
        if (m->p.solver[0]) parameters_check_solver(in, p, "measure", m->name, "solver", m->p.solver);
        for (int d = 0; d < 4; d++)
            if (p->lattice.size[d] > 0 && m->p.source[d] >= p->lattice.size[d])
                user_error("%s: [measure.%s] source component %d lies outside the lattice of extent %d",
                           ini_where(in, "measure", m->name, "source"), m->name, m->p.source[d], p->lattice.size[d]);
    }
}
