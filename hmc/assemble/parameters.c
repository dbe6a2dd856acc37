#include "hmc/assemble/parameters.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/actions/action_kind.h"
#include "hmc/input/pattern.h"
#include "hmc/observables/observable.h"
#include "io/links/links.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/field/field.h"
#include "kernels/run/tune.h"

#define KEYS(table) (table), (int)(sizeof(table) / sizeof(table)[0])
#define AT(type, member) offsetof(type, member)

/* Choices that a registry offers, as the values and the help of a key: "leapfrog|omelyan2", "leapfrog: order 2; ...".
 * parameter_sections() fills them before any table is looked at. */
typedef struct {
    char names[256], help[768];
} choices;
static choices scheme_choices, save_choices;

static void add_choice(choices *c, const char *name, const char *help)
{
    param_add_choice(c->names, sizeof c->names, c->help, sizeof c->help, name, help);
}

static void fill_choices(void)
{
    if (scheme_choices.names[0]) return;
    for (int i = 0; scheme_number(i); i++)
        add_choice(&scheme_choices, scheme_name(scheme_number(i)), scheme_help(scheme_number(i)));
    for (int i = 0; links_format_writable(i); i++) add_choice(&save_choices, links_format_writable(i), NULL);
}

static const param run_table[] = {
    {"output", PARAM_STRING, AT(run_params, output), NULL, NULL, NULL,
     "folder for checkpoints and history; a run continues from what it finds there", 0},
    {"trajectories", PARAM_LONG, AT(run_params, trajectories), "100", "[0,4294967295]", NULL,
     "number of trajectories in all, counted from the start of the ensemble; random numbers are counted by 32 bits of "
     "it",
     0},
    {"seed", PARAM_LONG, AT(run_params, seed), "1", "[0,inf)", NULL, "key of every random number of the run", 1},
    {"start", PARAM_CHOICE, AT(run_params, start), "cold", PARAM_RANGE(RUN_STARTS), NULL,
     "first configuration: all links one, random, or read from config; cut: that of a periodic lattice, whose links in "
     "time of the last slice become zero, for an ensemble with time_boundary = open",
     1},
    {"config", PARAM_STRING, AT(run_params, config), "", NULL, NULL,
     "lattice file to start from with start = file (any format that plaq reads)", 1},
    {"length", PARAM_REAL, AT(run_params, length), "1", "(0,1000]", "MD time",
     "length of a trajectory, in the time of H = -tr P^2 + S, dU/dt = P U (openQCD's; one of MILC's units is sqrt(2)); "
     "steps are stable up to about 1",
     1},
    {"xi_mom", PARAM_REAL, AT(run_params, xi_mom), "1", "[0.01,100]", NULL,
     "anisotropy of the momenta: kicks and drifts of links in time are divided by it, "
     "so that forces of links in space and in time are equal in size; the end of a run tells both",
     1},
    {"warmup", PARAM_LONG, AT(run_params, warmup), "0", "[0,inf)", NULL,
     "first trajectories that are accepted whatever dH, and left out of the averages", 1},
    {"max_hours", PARAM_REAL, AT(run_params, max_hours), "0", "[0,1000000]", "hours",
     "stop in time for this limit, counted from the start of the program; 0: none but the end of the Slurm job, which "
     "always counts",
     0},
    {"log", PARAM_CHOICE, AT(run_params, log), "info", PARAM_RANGE(LOG_LEVELS), NULL, "how much is printed", 0},
    {"report", PARAM_CHOICE, AT(run_params, report), "end", PARAM_RANGE(RUN_REPORTS), NULL,
     "when the page report.html of the output folder is written (as by plaq report): at the end of the run, or "
     "at each checkpoint, too",
     0},
};

static const param machine_table[] = {
    {"grid", PARAM_INT4, AT(machine_params, grid), "0.0.0.0", "[0,32766]", "ranks",
     "process grid X.Y.Z.T; 0.0.0.0 chooses the one of least surface", 0},
    {"device", PARAM_CHOICE, AT(machine_params, device), "auto", PARAM_RANGE(MACHINE_DEVICES), NULL,
     "where the fields live; auto: on GPUs where every rank finds one, one per rank, else on the CPU", 0},
    {"share_gpu", PARAM_CHOICE, AT(machine_params, share_gpu), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     "whether ranks of a node may share GPUs when there are more ranks than GPUs", 0},
    {"transport", PARAM_CHOICE, AT(machine_params, transport), "auto", PARAM_RANGE(MACHINE_TRANSPORTS), NULL,
     "how GPUs exchange halos: stores into the neighbour's memory, NCCL, MPI from device memory, MPI through host "
     "memory; auto: the first of these that works on all ranks, or what the tuner finds for the lattice",
     0},
    {"tune", PARAM_CHOICE, AT(machine_params, tune), "estimate", PARAM_RANGE(TUNE_MODES), NULL,
     "how shapes of GPU kernels, hops with their messages in one kernel or several, and the transport are chosen: by "
     "rule; by timing each case when it first comes up, kept in tune_file; or from tune_file alone. Results do not "
     "depend on it",
     0},
    {"tune_file", PARAM_STRING, AT(machine_params, tune_file), "plaq-tune.txt", NULL, NULL,
     "the cache of tune = measure and file, one for each kind of GPU", 0},
    {"threads", PARAM_INT, AT(machine_params, threads), "0", "[0,4096]", NULL,
     "OpenMP threads of a rank; 0: as OMP_NUM_THREADS says", 0},
    {"simd", PARAM_CHOICE, AT(machine_params, simd), "yes", PARAM_RANGE(MACHINE_SIMD), NULL,
     "whether the CPU takes several sites at a time, one in each lane of its vectors; no: one by one, in the order of "
     "a GPU, for comparisons. Results do not depend on it",
     0},
    {"watchdog", PARAM_REAL, AT(machine_params, watchdog), "1800", "[0,1e7]", "seconds",
     "longest that a rank may wait for others or for its GPU before the run is ended as hung (ranks that wait for "
     "others in turns, within half a minute more); more than the slowest file takes; 0: no limit",
     0},
    {"delay", PARAM_REAL, AT(machine_params, delay), "0", "[0,1e6]", "us",
     "for studies: every exchange of halos and every sum over ranks takes so much longer, as on a slower network", 0},
};

static const param lattice_table[] = {
    {"size", PARAM_INT4, AT(lattice_params, size), "0.0.0.0", "[0,32766]", "sites",
     "extents X.Y.Z.T, even numbers of at least 2; a run needs them, a measurement takes them from its files", 1},
    {"time_boundary", PARAM_CHOICE, AT(lattice_params, time_boundary), "antiperiodic", PARAM_RANGE(LATTICE_BOUNDARIES),
     NULL,
     "boundary in time: that of quarks on a periodic lattice, to which `theta` of a quark adds; or open: links in time "
     "of the last slice are zero, quark fields vanish on the two end slices, and loops in space there have half their "
     "weight (arXiv:1206.2809); or schroedinger: a Schroedinger functional of T = N_t - 1, the same with links in "
     "space fixed on the two end slices, the walls; or open-schroedinger: an open first slice, and a wall as last one",
     1},
    {"idle_slices", PARAM_INT, AT(lattice_params, idle_slices), "0", "[0,1]", NULL,
     "1: where time is not periodic, the last slice is not used, and T = N_t - 2 is even, as for T = L", 1},
    {"low_phases", PARAM_WORDS, AT(lattice_params, low_phases), "0 0 0", NULL, NULL,
     "of time_boundary = schroedinger: links in space of the first slice are exp(i diag(phases) / L)", 1},
    {"up_phases", PARAM_WORDS, AT(lattice_params, up_phases), "0 0 0", NULL, NULL,
     "the same of the last slice, also of open-schroedinger", 1},
};

static const param integrator_table[] = {
    {"scheme", PARAM_CHOICE, AT(integrator_params, scheme), "omelyan2", scheme_choices.names, NULL, scheme_choices.help,
     0},
    {"steps", PARAM_INT, AT(integrator_params, steps), NULL, "[1,100000]", NULL,
     "steps in the trajectory (level 0) or in each drift of the level above", 0},
    {"actions", PARAM_WORDS, AT(integrator_params, actions), NULL, NULL, NULL,
     "forces of this level: gauge, names of actions, NAME.0, NAME.1, ... for the factors of a chain of masses, and "
     "NAME.det "
     "for the log det of a clover term (by default beside NAME, or its last factor)",
     0},
};

static const param checkpoint_table[] = {
    {"interval", PARAM_LONG, AT(checkpoint_params, interval), "1", "[1,inf)", "trajectories",
     "distance of checkpoints; with 1 a killed run loses at most the trajectory in hand", 0},
    {"keep", PARAM_INT, AT(checkpoint_params, keep), "3", "[1,1000]", NULL,
     "number of newest checkpoints that are kept", 0},
};

static const param save_table[] = {
    {"interval", PARAM_LONG, AT(save_params, interval), "0", "[0,inf)", "trajectories",
     "distance of the configurations that are kept permanently, in the folder configurations of the output: those of "
     "trajectories that are multiples of it; 0: none is kept, and of the ensemble only the last checkpoints are left",
     0},
    {"from", PARAM_LONG, AT(save_params, from), "0", "[0,inf)", "trajectories",
     "no configuration of an earlier trajectory is kept", 0},
    {"format", PARAM_CHOICE, AT(save_params, format), "ildg", save_choices.names, NULL,
     "of their files; each is read back and its checksum verified before it has its name", 0},
    {"bits", PARAM_CHOICE, AT(save_params, bits), "most", PARAM_RANGE(SAVE_BITS), NULL,
     "of the numbers in their files; most: as many as the format has, which are 32 in milc and 64 in all others", 0},
    {"rows", PARAM_INT, AT(save_params, rows), "3", "[2,3]", NULL,
     "of a link in their files; with 2, which nersc has, readers make the third row from the others", 0},
    {"name", PARAM_STRING, AT(save_params, name), "", NULL, NULL,
     "name of their files with a %d or %06d for the trajectory number, as in l3248b570.%d or beta57-%06d.lime; empty: "
     "configuration-%06d with the ending of the format",
     0},
    {"lfn", PARAM_STRING, AT(save_params, lfn), "", NULL, NULL,
     "logical file name that files of format ildg carry, with a %d or %06d for the trajectory number, as in "
     "lfn://myproject/beta57/%d; empty: none",
     0},
    {"ensemble", PARAM_STRING, AT(save_params, ensemble), "", NULL, NULL,
     "name of the ensemble, one line that the files carry where their format has a place for it", 0},
};

static const param_section run_section = {
    "run", 0, KEYS(run_table), sizeof(run_params), "what is run, and where its results go", NULL};
static const param_section machine_section = {"machine",       0,   KEYS(machine_table), sizeof(machine_params),
                                              "how it is run", NULL};
static const param_section lattice_section = {"lattice",     0,   KEYS(lattice_table), sizeof(lattice_params),
                                              "the lattice", NULL};
static const param_section integrator_section = {
    "integrator",
    1,
    KEYS(integrator_table),
    sizeof(integrator_params),
    "a time scale of molecular dynamics: integrator.0 is the coarsest, then 1, 2, ...",
    NULL};
static const param_section checkpoint_section = {"checkpoint",  0,   KEYS(checkpoint_table), sizeof(checkpoint_params),
                                                 "checkpoints", NULL};

static const param_section save_section = {
    "save", 0, KEYS(save_table), sizeof(save_params), "configurations that are kept", NULL};

static const param_section *sections[256];
static int nsections;

static void add_section(const param_section *s)
{
    REQUIRE(nsections < (int)(sizeof sections / sizeof sections[0]), "more than %d sections and parts", nsections);
    sections[nsections++] = s;
}

const param_section *const *parameter_sections(int *n)
{
    const param_section *const first[] = {&run_section, &machine_section, &lattice_section};
    fill_choices();
    if (!nsections) {
        for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) add_section(first[i]);
        for (int i = 0; gauge_section(i); i++) add_section(gauge_section(i));
        for (int i = 0; link_map_section(i); i++) add_section(link_map_section(i));
        for (int i = 0; quark_section(i); i++) add_section(quark_section(i));
        for (int i = 0; action_section(i); i++) add_section(action_section(i));
        add_section(&integrator_section);
        for (int i = 0; solver_section(i); i++) add_section(solver_section(i));
        add_section(&checkpoint_section);
        add_section(&save_section);
        add_section(&watch_section);
        add_section(smearing_section());
        for (int i = 0; source_section(i); i++) add_section(source_section(i));
        add_section(propagator_section());
        for (int i = 0; observable_section(i); i++) add_section(observable_section(i));
    }
    *n = nsections;
    return sections;
}

/* ---- reading ---- */

void parameters_refuse_keys(ini_input *in, const param_section *section, const char *instance, const void *of,
                            int (*has)(const void *of, const char *key), const char *rest)
{
    int n;
    const param_section *const *sections = parameter_sections(&n);
    const char *name = section->section;
    char kind[PARAM_TEXT_SIZE];
    param_format(&section->table[0], of, kind, sizeof kind);
    for (int i = 0; i < n; i++) {
        if (strcmp(sections[i]->section, name)) continue;
        for (int k = 0; k < sections[i]->count; k++) {
            const char *key = sections[i]->table[k].name;
            if (ini_given(in, name, instance, key) && !has(of, key))
                ini_mistake(in, "%s: [%s%s%s] %s = %s has no key '%s'%s", ini_where(in, name, instance, key), name,
                            instance ? "." : "", instance ? instance : "", section->table[0].name, kind, key, rest);
        }
    }
    ini_judge(in);
}

static int gauge_has(const void *gauge, const char *key)
{
    return param_find(gauge_section(0), key) || gauge_params_have(gauge, key);
}

/* Also without the section, of which a measurement has no need. */
static void read_gauge(ini_input *in, gauge_params *g, int required)
{
    params_default(gauge_section(0), g);
    if (!required && !ini_has_section(in, "gauge", NULL)) return;
    ini_fill(in, gauge_section(0), NULL, g);
    parameters_refuse_keys(in, gauge_section(0), NULL, g, gauge_has, "");
    const gauge_kind *kind = gauge_kind_of(g);
    if (kind->isotropic && ini_given(in, "gauge", NULL, "xi_0"))
        ini_mistake(in, "%s: [gauge] action = %s knows no xi_0; anisotropic are actions without parallelograms, %s",
                    ini_where(in, "gauge", NULL, "xi_0"), kind->name, "symanzik_space among them");
    if (kind->short_in_time && !ini_given(in, "gauge", NULL, "xi_0"))
        ini_mistake(in, "%s: [gauge] action = %s needs the key 'xi_0'", ini_where(in, "gauge", NULL, "action"),
                    kind->name);
    for (int i = 0; kind->parts[i]; i++) {
        ini_fill(in, kind->parts[i], NULL, g);
        for (int k = 0; k < kind->parts[i]->count; k++)
            if (!ini_given(in, "gauge", NULL, kind->parts[i]->table[k].name))
                ini_mistake(in, "%s: [gauge] action = %s needs the key '%s'", ini_where(in, "gauge", NULL, "action"),
                            kind->name, kind->parts[i]->table[k].name);
    }
    ini_judge(in);
}

static int links_have(const void *links, const char *key)
{
    return link_map_type_has(link_map_type_of(links), key);
}

/* The sections [links.NAME]. */
static void read_links(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    char message[512];
    p->nlinks = names_of(in, "links", names);
    for (int i = 0; i < p->nlinks; i++) {
        named_links *l = &p->links[i];
        snprintf(l->name, sizeof l->name, "%s", names[i]);
        ini_fill(in, link_map_section(0), names[i], &l->p);
        parameters_refuse_keys(in, link_map_section(0), names[i], &l->p, links_have, "");
        const link_map_type *type = link_map_type_of(&l->p);
        ini_fill(in, type->own, names[i], &l->p);
        const char *key = type->check ? type->check(&l->p, parameters_time(p), message, sizeof message) : NULL;
        if (key) user_error("%s: [links.%s] %s", ini_where(in, "links", names[i], key), names[i], message);
        if (type->advise && type->advise(&l->p, message, sizeof message))
            log_warn("%s: [links.%s] %s", ini_where(in, "links", names[i], ""), names[i], message);
    }
}

/* Levels integrator.0, 1, ... */
static void read_levels(ini_input *in, parameters *p, int required)
{
    const char *names[MAX_NAMED];
    p->nlevels = names_of(in, "integrator", names);
    if (p->nlevels > MAX_LEVELS)
        user_error("%s: %d integrator sections; a trajectory has at most %d time scales",
                   ini_where(in, "integrator", names[MAX_LEVELS], ""), p->nlevels, MAX_LEVELS);
    if (p->nlevels == 0 && required)
        user_error("%s: no section [integrator.0]; it says how the trajectory is integrated",
                   ini_where(in, "run", NULL, ""));
    for (int l = 0; l < p->nlevels; l++) {
        char number[16];
        snprintf(number, sizeof number, "%d", l);
        if (!ini_has_section(in, "integrator", number))
            user_error("%s: %d integrator sections, but no [integrator.%d]; number them from 0, the coarsest",
                       ini_where(in, "integrator", names[0], ""), p->nlevels, l);
        ini_fill(in, &integrator_section, number, &p->levels[l]);
    }
}

/* ---- all sections that there are ---- */

typedef void visit(void *context, const param_section *s, const char *instance, const void *in);

static void visit_parts(visit *each, void *context, const param_section *const *parts, const char *instance,
                        void *(*keys)(const void *params, const param_section *part), const void *params)
{
    for (int k = 0; parts[k]; k++) each(context, parts[k], instance, keys(params, parts[k]));
}

static void *keys_of_quark(const void *params, const param_section *part)
{
    return quark_keys(params, part);
}

static void *keys_of_action(const void *params, const param_section *part)
{
    return action_keys(params, part);
}

/* Tables of keys of links, quarks, actions and levels with their structs. */
static void visit_physics(const parameters *p, visit *each, void *context)
{
    for (int i = 0; i < p->nlinks; i++) {
        const named_links *n = &p->links[i];
        each(context, link_map_section(0), n->name, &n->p);
        each(context, link_map_type_of(&n->p)->own, n->name, &n->p);
    }
    for (int i = 0; i < p->nquarks; i++) {
        const named_quark *n = &p->quarks[i];
        each(context, quark_section(0), n->name, &n->p);
        visit_parts(each, context, quark_kind_of(&n->p)->parts, n->name, keys_of_quark, &n->p);
    }
    for (int i = 0; i < p->nactions; i++) {
        const named_action *n = &p->actions[i];
        each(context, action_section(0), n->name, &n->p);
        visit_parts(each, context, action_kind_of(&n->p)->parts, n->name, keys_of_action, &n->p);
    }
    for (int i = 0; i < p->nlevels; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        each(context, &integrator_section, number, &p->levels[i]);
    }
}

/* Tables of keys of the whole input. */
static void visit_all(const parameters *p, visit *each, void *context)
{
    const gauge_kind *gauge = gauge_kind_of(&p->gauge);
    each(context, &run_section, NULL, &p->run);
    each(context, &machine_section, NULL, &p->machine);
    each(context, &lattice_section, NULL, &p->lattice);
    each(context, gauge_section(0), NULL, &p->gauge);
    for (int k = 0; gauge->parts[k]; k++) each(context, gauge->parts[k], NULL, &p->gauge);
    visit_physics(p, each, context);
    for (int i = 0; i < p->nsolvers; i++) {
        const named_settings *n = &p->solvers[i];
        const solver_type *type = solver_type_of(&n->p);
        each(context, solver_section(0), n->name, &n->p);
        if (type->own) each(context, type->own, n->name, &n->p);
    }
    each(context, &checkpoint_section, NULL, &p->checkpoint);
    each(context, &save_section, NULL, &p->save);
    each(context, &watch_section, NULL, &p->watch);
    for (int i = 0; i < p->nsmearings; i++) each(context, smearing_section(), p->smearings[i].name, &p->smearings[i].p);
    for (int i = 0; i < p->nsources; i++) {
        const named_source *n = &p->sources[i];
        each(context, source_section(0), n->name, &n->p);
        each(context, source_kind_of(&n->p)->own, n->name, &n->p);
    }
    for (int i = 0; i < p->npropagators; i++)
        each(context, propagator_section(), p->propagators[i].name, &p->propagators[i].p);
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *n = &p->measures[i];
        const observable *o = observable_of(&n->p);
        each(context, observable_section(0), n->name, &n->p);
        if (o->own) each(context, o->own, n->name, &n->p);
    }
}

static void dump_one(void *text, const param_section *s, const char *instance, const void *in)
{
    params_dump(text, s, instance, in);
}

/* Keys that name sections name such that are there. */
static void check_names(void *context, const param_section *s, const char *instance, const void *from)
{
    const ini_input *in = context;
    for (int i = 0; i < s->count; i++) {
        const param *key = &s->table[i];
        const char *names[MAX_NAMED], *const text = (const char *)from + key->offset;
        char what[PARAM_CHOICE_SIZE], word[PARAM_WORDS_SIZE];
        if (key->type != PARAM_NAME && key->type != PARAM_NAMES) continue;
        const int n = names_of(in, key->range, names);
        snprintf(what, sizeof what, "[%s.NAME]", key->range);
        if (key->type == PARAM_NAME && text[0]) names_check(in, s->section, instance, key->name, text, names, n, what);
        for (int w = 0; key->type == PARAM_NAMES && param_word(text, w, word, sizeof word); w++)
            names_check(in, s->section, instance, key->name, word, names, n, what);
    }
}

/* Names and layout of the files of kept configurations. */
static void check_save(ini_input *in, const save_params *s)
{
    const char *format = links_format_writable(s->format);
    char why[160];
    const struct {
        const char *key, *pattern;
    } patterns[] = {{"name", s->name}, {"lfn", s->lfn}};
    for (int i = 0; i < 2; i++) {
        const char *fault = patterns[i].pattern[0] ? pattern_fault(patterns[i].pattern) : NULL;
        if (fault)
            ini_mistake(in, "%s: [save] %s = %s %s", ini_where(in, "save", NULL, patterns[i].key), patterns[i].key,
                        patterns[i].pattern, fault);
    }
    if (strchr(s->name, '/') || s->name[0] == '.')
        ini_mistake(in,
                    "%s: [save] name = %s is no name of a file in the folder configurations: it must have no / and not "
                    "begin with a dot",
                    ini_where(in, "save", NULL, "name"), s->name);
    if (s->lfn[0] && !links_format_carries_lfn(format))
        ini_mistake(in, "%s: [save] lfn is given, but files of format %s have no place for it; only those of ildg do",
                    ini_where(in, "save", NULL, "lfn"), format);
    if (s->ensemble[0] && !links_format_carries_names(format))
        ini_mistake(in, "%s: [save] ensemble is given, but files of format %s have no place for it",
                    ini_where(in, "save", NULL, "ensemble"), format);
    if (links_format_layout(format, parameters_save_bits(s), s->rows, why, sizeof why))
        ini_mistake(in, "%s: [save] %s", ini_where(in, "save", NULL, strstr(why, "rows") ? "rows" : "bits"), why);
}

int parameters_save_bits(const save_params *s)
{
    static const int bits[] = {[SAVE_BITS_MOST] = 0, [SAVE_BITS_64] = 64, [SAVE_BITS_32] = 32};
    return bits[s->bits];
}

#define LONG_TRAJECTORY 10 /* MD time */

parameters *parameters_read(const char *path, int noverride, const char *const *overrides, int need)
{
    parameters *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    ini_input *in = p->input = ini_read(path, noverride, overrides);
    int nsections;
    const param_section *const *sections = parameter_sections(&nsections);
    /* A measurement's may have but a seed, which is not enough for the check. */
    if (!(need & NEED_GAUGE)) ini_fill_some(in, &run_section, NULL, &p->run);
    parameters_refuse_earlier(in);
    ini_check_all_used(in, sections, nsections);
    if (need & NEED_GAUGE) ini_fill(in, &run_section, NULL, &p->run);
    ini_fill(in, &machine_section, NULL, &p->machine);
    ini_fill(in, &lattice_section, NULL, &p->lattice);
    if (need & NEED_GAUGE && !ini_given(in, "lattice", NULL, "size"))
        user_error("%s: [lattice] needs the key 'size' (extents X.Y.Z.T, even numbers of at least 2)",
                   ini_where(in, "lattice", NULL, "size"));
    read_gauge(in, &p->gauge, need & NEED_GAUGE);
    ini_fill(in, &checkpoint_section, NULL, &p->checkpoint);
    ini_fill(in, &save_section, NULL, &p->save);
    ini_fill(in, &watch_section, NULL, &p->watch);
    for (int d = 0; d < 4; d++)
        if (p->lattice.size[d] % 2 || (p->lattice.size[d] == 0 && ini_given(in, "lattice", NULL, "size")))
            ini_mistake(
                in, "%s: [lattice] size: extent %d in direction %c of the lattice is not an even number of at least 2",
                ini_where(in, "lattice", NULL, "size"), p->lattice.size[d], "xyzt"[d]);
    const int *g = p->machine.grid;
    const int given = (g[0] > 0) + (g[1] > 0) + (g[2] > 0) + (g[3] > 0);
    if (given > 0 && given < 4)
        ini_mistake(in,
                    "%s: [machine] grid: process grid %d.%d.%d.%d; give four numbers of at least 1, or 0.0.0.0 to have "
                    "one chosen",
                    ini_where(in, "machine", NULL, "grid"), g[0], g[1], g[2], g[3]);
    if (parameters_start_reads(p) && !p->run.config[0])
        ini_mistake(in, "%s: [run] start = %s needs config = FILE", ini_where(in, "run", NULL, "start"),
                    parameters_start(p));
    if (!parameters_start_reads(p) && p->run.config[0])
        ini_mistake(in, "%s: [run] config is given, but start = %s does not read it; use start = file",
                    ini_where(in, "run", NULL, "config"), parameters_start(p));
    check_save(in, &p->save);
    ini_judge(in);
    solver_parameters_read(in, p);
    read_links(in, p);
    quark_parameters_read(in, p);
    action_parameters_read(in, p);
    read_levels(in, p, need & NEED_INTEGRATOR);
    propagator_parameters_read(in, p);
    measure_parameters_read(in, p);
    visit_all(p, check_names, in);
    quark_parameters_complete(in, p);
    action_parameters_complete(in, p);
    solver_parameters_nest(in, p);
    action_parameters_check(in, p);
    time_parameters_check(in, p);
    action_parameters_levels(in, p, need & NEED_INTEGRATOR);
    if (need & NEED_INTEGRATOR && p->run.length > LONG_TRAJECTORY)
        log_warn(
            "%s: [run] length = %g is a very long trajectory (1 or 2 are usual): rounding grows along it, and each "
            "rejection loses all of it; is it meant as a number of steps, [integrator.N] steps?",
            ini_where(in, "run", NULL, "length"), p->run.length);
    propagator_parameters_check(in, p);
    measure_parameters_check(in, p);
    solver_parameters_check(in, p, need & NEED_EVERY_SOLVER);
    if (!(need & NEED_NO_TRANSFORMS)) transform_parameters_read(in, p, need & NEED_EVERY_SOLVER);
    param_text text = {0};
    visit_all(p, dump_one, &text);
    p->dump = text.data;
    return p;
}

void parameters_free(parameters *p)
{
    if (!p) return;
    for (int i = 0; i < p->nsolvers; i++) free(p->transforms[i]);
    ini_free(p->input);
    free(p->dump);
    free(p);
}
