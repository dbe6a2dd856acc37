/* Sections [smearing.NAME], [source.NAME] and [propagator.NAME]: their instances, and what tables of keys cannot say of them. */
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/parameters.h"
#include "hmc/input/pattern.h"
#include "hmc/quarks/quark.h"
#include "kernels/base/error.h"

#define AT(member) offsetof(propagator_params, member)

static const param keys[] = {
    {"quark", PARAM_NAME, AT(quark), NULL, "quark", NULL, "[quark.NAME]", 0},
    {"source", PARAM_NAME, AT(source), NULL, "source", NULL, "[source.NAME]", 0},
    {"solver", PARAM_NAME, AT(solver), "", "solver", NULL, "[solver.NAME]; empty: the quark's solver", 0},
    {"sink", PARAM_CHOICE, AT(sink), "site", PARAM_RANGE(PROPAGATOR_SINKS), NULL,
     "site: sinks at every site; wall: the sum over each time slice, for configurations in a smooth gauge (plaq fix) "
     "and "
     "momentum 0",
     0},
    {"rough_solver", PARAM_NAME, AT(rough_solver), "", "solver", NULL,
     "[solver.NAME] of a loose tolerance, for positions of [measure.NAME] behind exact_positions; empty: none", 0},
    {"sink_smearing", PARAM_NAME, AT(sink_smearing), "", "smearing", NULL,
     "[smearing.NAME] of the sink; empty: none. Propagators that differ in it alone share their solves", 0},
    {"error_estimate", PARAM_CHOICE, AT(error_estimate), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     "estimates the error of every solution by a second solve, of the residual; it takes about half as long again", 0},
    {"file", PARAM_STRING, AT(file), "", NULL, NULL,
     "file of the propagator, or a pattern with one %d, light-%06d.h5, for the trajectory number of the configuration; "
     "HDF5, or SciDAC under names that end in .lime or .scidac; empty: none",
     0},
    {"file_mode", PARAM_CHOICE, AT(file_mode), "share", PARAM_RANGE(PROPAGATOR_FILE_MODES), NULL,
     "share: a file that is there is read, else one is made for later jobs; read: it has to be there, and nothing is "
     "solved; replace: it is made anew. A file of other links, quark, source or tolerance is refused",
     0},
    {"file_bits", PARAM_CHOICE, AT(file_bits), "64", PARAM_RANGE(PROPAGATOR_FILE_BITS), "bits",
     "bits of the numbers in the file. With 32 the rounded propagator is measured from the beginning, lest results "
     "tell whether it was solved or read",
     0},
    {"file_residual", PARAM_REAL, AT(file_residual), "1e-5", "(0,1)", NULL,
     "largest |b - M x| / |b| of a propagator in a SciDAC file of another program, which does not say what it is of",
     0},
};
static const param_section section = {"propagator",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(propagator_params),
                                      "a quark's propagator from a source, for every component of it; solved once on a "
                                      "configuration for all measurements "
                                      "that name it",
                                      NULL};

const param_section *propagator_section(void)
{
    return &section;
}

int parameters_file_bits(const propagator_params *q)
{
    return q->file_bits == FILE_BITS_32 ? 32 : 64;
}

const char *parameters_sink(const propagator_params *q)
{
    static const char *const names[] = {PROPAGATOR_SINKS(PARAM_TEXT)};
    return names[q->sink];
}

static int source_has(const void *source, const char *key)
{
    return source_kind_has(source_kind_of(source), key);
}

/* ---- by name ---- */

#define FIND(list, number)                                                                                             \
    for (int i = 0; i < (number); i++)                                                                                 \
        if (!strcmp((list)[i].name, name)) return &(list)[i];                                                          \
    REQUIRE(!name[0], "no section of the name %s", name);                                                              \
    return NULL

const named_smearing *parameters_smearing(const parameters *p, const char *name)
{
    FIND(p->smearings, p->nsmearings);
}

const named_source *parameters_source(const parameters *p, const char *name)
{
    FIND(p->sources, p->nsources);
}

const named_propagator *parameters_propagator(const parameters *p, const char *name)
{
    FIND(p->propagators, p->npropagators);
}

const link_settings *parameters_links(const parameters *p, const char *name)
{
    for (int i = 0; i < p->nlinks; i++)
        if (!strcmp(p->links[i].name, name)) return &p->links[i].p;
    REQUIRE(!name[0], "no links %s", name);
    return NULL;
}

const char *parameters_made_of(const parameters *p, const char *propagator)
{
    const sequential_keys *k =
        source_sequential(&parameters_source(p, parameters_propagator(p, propagator)->p.source)->p);
    return k ? k->propagator : NULL;
}

const named_source *parameters_first_source(const parameters *p, const named_source *s)
{
    const sequential_keys *k;
    while ((k = source_sequential(&s->p))) s = parameters_source(p, parameters_propagator(p, k->propagator)->p.source);
    return s;
}

const char *parameters_propagator_solver(const parameters *p, const propagator_params *q)
{
    return q->solver[0] ? q->solver : p->quarks[parameters_quark(p, q->quark)].p.solver;
}

/* ---- reading ---- */

static void read_smearings(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    char message[512];
    p->nsmearings = names_of(in, "smearing", names);
    for (int i = 0; i < p->nsmearings; i++) {
        named_smearing *s = &p->smearings[i];
        snprintf(s->name, sizeof s->name, "%s", names[i]);
        ini_fill(in, smearing_section(), names[i], &s->p);
        const char *key = smearing_check(s, message, sizeof message);
        if (key) user_error("%s: %s", ini_where(in, "smearing", names[i], key), message);
    }
}

static void read_sources(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    p->nsources = names_of(in, "source", names);
    for (int i = 0; i < p->nsources; i++) {
        named_source *s = &p->sources[i];
        char has[256], rest[320];
        int place[4];
        snprintf(s->name, sizeof s->name, "%s", names[i]);
        ini_fill(in, source_section(0), names[i], &s->p);
        source_kind_keys(source_kind_of(&s->p), has, sizeof has);
        snprintf(rest, sizeof rest, "; beside smearing it has %s", has);
        parameters_refuse_keys(in, source_section(0), names[i], &s->p, source_has, rest);
        ini_fill(in, source_kind_of(&s->p)->own, names[i], &s->p);
        const param *momentum = param_find(source_kind_of(&s->p)->own, "momentum");
        if (momentum && !source_kind_of(&s->p)->volume &&
            ((const int *)(const void *)((const char *)&s->p + momentum->offset))[3] != 0)
            user_error("%s: [source.%s] momentum has a last number other than 0; waves are in space: n_x.n_y.n_z.0",
                       ini_where(in, "source", names[i], "momentum"), names[i]);
        const char *key = source_outside(&s->p, p->lattice.size, place);
        if (key)
            user_error("%s: [source.%s] lies at %d.%d.%d.%d, outside the lattice of extents %d.%d.%d.%d",
                       ini_where(in, "source", names[i], key), names[i], place[0], place[1], place[2], place[3],
                       p->lattice.size[0], p->lattice.size[1], p->lattice.size[2], p->lattice.size[3]);
    }
}

void propagator_parameters_read(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED];
    read_smearings(in, p);
    read_sources(in, p);
    p->npropagators = names_of(in, "propagator", names);
    for (int i = 0; i < p->npropagators; i++) {
        snprintf(p->propagators[i].name, sizeof p->propagators[i].name, "%s", names[i]);
        ini_fill(in, &section, names[i], &p->propagators[i].p);
    }
}

/* ---- checks ---- */

void parameters_need_solver(const ini_input *in, const parameters *p, const char *where, const char *instance,
                            const char *solver, const char *quark)
{
    if (!solver[0] && !p->quarks[parameters_quark(p, quark)].p.solver[0])
        user_error("%s: [%s.%s] has no solver, and [quark.%s] no solver; give one of them",
                   ini_where(in, where, instance, ""), where, instance, quark);
}

/* Smearing hops with the spins of Wilson's quarks. */
static void check_smearing(const ini_input *in, const parameters *p, const named_propagator *q)
{
    const quark_params *f = &p->quarks[parameters_quark(p, q->p.quark)].p;
    const named_source *s = parameters_source(p, q->p.source);
    if (quark_kind_of(f)->spins == 4 || (!q->p.sink_smearing[0] && !s->p.smearing[0])) return;
    const char *key = q->p.sink_smearing[0] ? "sink_smearing" : "source";
    user_error("%s: [propagator.%s] is smeared%s%s, but [quark.%s] is of kind = %s; smearing is for quarks with spin",
               ini_where(in, "propagator", q->name, key), q->name, q->p.sink_smearing[0] ? "" : " by its source ",
               q->p.sink_smearing[0] ? "" : s->name, q->p.quark, quark_kind_of(f)->name);
}

/* Sums over time slices have no site left for gamma matrices of a sequential source, nor the phases of staggered tastes. */
static void check_sink(const ini_input *in, const parameters *p, const named_propagator *q)
{
    const quark_params *f = &p->quarks[parameters_quark(p, q->p.quark)].p;
    const char *of = parameters_made_of(p, q->name);
    if (of && parameters_propagator(p, of)->p.sink != SINK_SITE)
        user_error("%s: [propagator.%s] is made of [propagator.%s], whose sink = wall; name one with sink = site",
                   ini_where(in, "propagator", q->name, "source"), q->name, of);
    if (q->p.sink != SINK_SITE && quark_kind_of(f)->spins != 4)
        user_error("%s: sink = %s of [propagator.%s] is for quarks with spin, and [quark.%s] is of kind = %s; take "
                   "sink = site",
                   ini_where(in, "propagator", q->name, "sink"), parameters_sink(&q->p), q->name, q->p.quark,
                   quark_kind_of(f)->name);
}

/* A file has a good name, and one propagator. */
static void check_file(const ini_input *in, const parameters *p, const named_propagator *q)
{
    static const char *const others[] = {"file_mode", "file_bits", "file_residual"};
    const char *fault = strchr(q->p.file, '%') ? pattern_fault(q->p.file) : NULL;
    if (fault)
        user_error("%s: [propagator.%s] file = %s %s", ini_where(in, "propagator", q->name, "file"), q->name, q->p.file,
                   fault);
    for (int i = 0; i < 3 && !q->p.file[0]; i++)
        if (ini_given(in, "propagator", q->name, others[i]))
            user_error("%s: [propagator.%s] has %s, and no file", ini_where(in, "propagator", q->name, others[i]),
                       q->name, others[i]);
    for (const named_propagator *r = p->propagators; r < q && q->p.file[0]; r++)
        if (!strcmp(r->p.file, q->p.file))
            user_error("%s: [propagator.%s] and [propagator.%s] have one file, %s; give each its own",
                       ini_where(in, "propagator", q->name, "file"), r->name, q->name, q->p.file);
}

/* Three quarks end at the sink of a nucleon: from one source, without noise, and not of twisted mass, where u and d differ. */
static void check_nucleon(const ini_input *in, const parameters *p, const named_source *s, const named_source *from)
{
    const char *name = source_sequential(&s->p)->propagator;
    const named_propagator *q = parameters_propagator(p, name);
    if (source_sequential(&parameters_source(p, q->p.source)->p))
        user_error("%s: [source.%s] is the sink of a nucleon, and [propagator.%s] is sequential itself; name one from "
                   "[source.%s]",
                   ini_where(in, "source", s->name, "propagator"), s->name, name, from->name);
    if (source_kind_of(&from->p)->noise)
        user_error(
            "%s: [source.%s] has three quarks from [source.%s] of kind %s, which have no mean; name a propagator "
            "from a point, a wall or a smeared source",
            ini_where(in, "source", s->name, "propagator"), s->name, from->name, source_kind_of(&from->p)->name);
}

/* gamma_5 hermiticity of a twisted mass leads to the other flavour. */
static void check_nucleon_quarks(const ini_input *in, const parameters *p, const named_propagator *q)
{
    const named_source *s = parameters_source(p, q->p.source);
    if (!source_kind_of(&s->p)->baryon) return;
    const char *const of[] = {q->p.quark, parameters_propagator(p, source_sequential(&s->p)->propagator)->p.quark};
    for (int i = 0; i < 2; i++) {
        const quark_params *f = &p->quarks[parameters_quark(p, of[i])].p;
        if (quark_kind_of(f)->twisted_mass)
            user_error(
                "%s: [propagator.%s] is of the nucleon of [source.%s], which is not for kind = %s of [quark.%s], "
                "whose u and d have mu and -mu; give another quark",
                ini_where(in, "propagator", q->name, "source"), q->name, s->name, quark_kind_of(f)->name, of[i]);
    }
}

/* The conserved current is that of Wilson quarks in four dimensions, at sinks without smearing, of a quark that goes on. */
static void check_current(const ini_input *in, const parameters *p, const named_source *s)
{
    const char *name = source_sequential(&s->p)->propagator;
    const propagator_params *q = &parameters_propagator(p, name)->p;
    const quark_params *f = &p->quarks[parameters_quark(p, q->quark)].p;
    if (quark_kind_of(f)->slices || quark_kind_of(f)->twisted_mass || q->sink_smearing[0] || q->sink != SINK_SITE)
        user_error("%s: [source.%s] has the conserved vector current, which is that of Wilson quarks at a sink without "
                   "smearing; [propagator.%s] is of kind = %s, sink = %s%s%s",
                   ini_where(in, "source", s->name, "propagator"), s->name, name, quark_kind_of(f)->name,
                   parameters_sink(q), q->sink_smearing[0] ? " with sink_smearing = " : "", q->sink_smearing);
    if (s->p.smearing[0])
        user_error("%s: [source.%s] has smearing, and the conserved vector current is a sum over links",
                   ini_where(in, "source", s->name, "smearing"), s->name);
    for (const named_propagator *by = p->propagators; by < p->propagators + p->npropagators; by++)
        if (!strcmp(by->p.source, s->name) && strcmp(by->p.quark, q->quark))
            user_error("%s: [propagator.%s] goes on from the conserved current of [quark.%s] with [quark.%s]; take the "
                       "same quark",
                       ini_where(in, "propagator", by->name, "quark"), by->name, q->quark, by->p.quark);
}

/* A current is local, and acts before the sink is smeared. */
static void check_all_times(const ini_input *in, const parameters *p, const named_source *s)
{
    const propagator_params *q = &parameters_propagator(p, source_sequential(&s->p)->propagator)->p;
    if (s->p.smearing[0])
        user_error("%s: [source.%s] has smearing, and its current is local; leave it out",
                   ini_where(in, "source", s->name, "smearing"), s->name);
    if (q->sink_smearing[0] || q->sink != SINK_SITE)
        user_error("%s: [source.%s] has a local current, and [propagator.%s] a sink of another kind; name a propagator "
                   "without sink_smearing, with sink = site",
                   ini_where(in, "source", s->name, "propagator"), s->name, source_sequential(&s->p)->propagator);
}

/* Sequential sources are made of propagators that are there before them, of quarks with spin, and end at another time. */
static void check_sequential(const ini_input *in, const parameters *p, const named_source *s)
{
    const named_source *from = s;
    const sequential_keys *k = source_sequential(&s->p);
    int origin[4];
    if (!k) return;
    for (int steps = 0; source_sequential(&from->p); steps++) {
        if (steps == p->nsources)
            user_error("%s: [source.%s] propagator = %s is made of the source itself; name one from another source",
                       ini_where(in, "source", s->name, "propagator"), s->name, k->propagator);
        from = parameters_source(p, parameters_propagator(p, source_sequential(&from->p)->propagator)->p.source);
    }
    const quark_params *f = &p->quarks[parameters_quark(p, parameters_propagator(p, k->propagator)->p.quark)].p;
    if (quark_kind_of(f)->spins != 4)
        user_error("%s: [source.%s] has gamma matrices, and [propagator.%s] is of a quark of kind = %s without spin",
                   ini_where(in, "source", s->name, "propagator"), s->name, k->propagator, quark_kind_of(f)->name);
    if (source_kind_of(&s->p)->baryon) check_nucleon(in, p, s, from);
    if (source_current(&s->p) >= 0) check_current(in, p, s);
    if (source_kind_of(&s->p)->all_times) check_all_times(in, p, s);
    source_place(&from->p, origin);
    if (source_has_place(&s->p) && origin[3] == k->time)
        user_error("%s: [source.%s] time = %d of the sink is that of the source, [source.%s]; give a later one",
                   ini_where(in, "source", s->name, "time"), s->name, k->time, from->name);
}

void propagator_parameters_check(const ini_input *in, const parameters *p)
{
    for (int i = 0; i < p->nsources; i++) check_sequential(in, p, &p->sources[i]);
    for (int i = 0; i < p->npropagators; i++) {
        const named_propagator *q = &p->propagators[i];
        parameters_need_solver(in, p, "propagator", q->name, q->p.solver, q->p.quark);
        check_smearing(in, p, q);
        check_nucleon_quarks(in, p, q);
        check_file(in, p, q);
        check_sink(in, p, q);
    }
}
