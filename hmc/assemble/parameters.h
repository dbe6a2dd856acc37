/* The input file as structs. The tables of keys stand beside what they belong to; those of sections without kinds in
 * parameters.c. */
#ifndef PLAQ_PARAMETERS_H
#define PLAQ_PARAMETERS_H

#include <stdint.h>

#include "hmc/actions/action_kind.h"
#include "hmc/actions/gauge_kind.h"
#include "hmc/input/names.h"
#include "hmc/observables/observable.h"
#include "hmc/quarks/quark_links.h"
#include "hmc/sources/smearing.h"
#include "hmc/sources/source.h"
#include "hmc/watch/watch.h"
#include "io/input/ini.h"
#include "kernels/base/param.h"
#include "solvers/solver.h"
#include "solvers/transform.h"

/* Choices of the sections below; the keys' helps say what they mean. */
#define RUN_STARTS(X) X(START_COLD, "cold") X(START_HOT, "hot") X(START_FILE, "file") X(START_CUT, "cut")
#define RUN_REPORTS(X) X(REPORT_NO, "no") X(REPORT_END, "end") X(REPORT_CHECKPOINTS, "checkpoints")
#define MACHINE_DEVICES(X) X(DEVICE_AUTO, "auto") X(DEVICE_CPU, "cpu") X(DEVICE_GPU, "gpu")
#define MACHINE_TRANSPORTS(X)                                                                                          \
    X(TRANSPORT_AUTO, "auto")                                                                                          \
    X(TRANSPORT_PEER, "peer")                                                                                          \
    X(TRANSPORT_NCCL, "nccl") X(TRANSPORT_CUDA_AWARE, "cuda_aware") X(TRANSPORT_HOST, "host")
#define MACHINE_SIMD(X) X(SIMD_YES, "yes") X(SIMD_NO, "no")
#define LATTICE_BOUNDARIES(X)                                                                                          \
    X(BOUNDARY_ANTIPERIODIC, "antiperiodic")                                                                           \
    X(BOUNDARY_PERIODIC, "periodic")                                                                                   \
    X(BOUNDARY_OPEN, "open")                                                                                           \
    X(BOUNDARY_SCHROEDINGER, "schroedinger") X(BOUNDARY_OPEN_SCHROEDINGER, "open-schroedinger")
#define SAVE_BITS(X) X(SAVE_BITS_MOST, "most") X(SAVE_BITS_64, "64") X(SAVE_BITS_32, "32")
#define PROPAGATOR_SINKS(X) X(SINK_SITE, "site") X(SINK_WALL, "wall")
#define PROPAGATOR_FILE_MODES(X) X(FILE_SHARE, "share") X(FILE_READ, "read") X(FILE_REPLACE, "replace")
#define PROPAGATOR_FILE_BITS(X) X(FILE_BITS_64, "64") X(FILE_BITS_32, "32")
enum { RUN_STARTS(PARAM_CONSTANT) };
enum { RUN_REPORTS(PARAM_CONSTANT) };
enum { MACHINE_DEVICES(PARAM_CONSTANT) };
enum { MACHINE_TRANSPORTS(PARAM_CONSTANT) };
enum { MACHINE_SIMD(PARAM_CONSTANT) };
enum { LATTICE_BOUNDARIES(PARAM_CONSTANT) };
enum { SAVE_BITS(PARAM_CONSTANT) };
enum { PROPAGATOR_SINKS(PARAM_CONSTANT) };
enum { PROPAGATOR_FILE_MODES(PARAM_CONSTANT) };
enum { PROPAGATOR_FILE_BITS(PARAM_CONSTANT) };

typedef struct {
    char output[PARAM_STRING_SIZE];
    int64_t trajectories, seed, warmup;
    int start;
    char config[PARAM_STRING_SIZE];
    double length, xi_mom, max_hours;
    int log; /* a log_level */
    int report;
} run_params;

typedef struct {
    int grid[4];
    int device, share_gpu, transport;
    int tune; /* a tune_mode */
    char tune_file[PARAM_STRING_SIZE];
    int threads, simd;
    double watchdog, delay;
} machine_params;

typedef struct {
    int size[4];
    int time_boundary;
    int idle_slices;
    char low_phases[PARAM_WORDS_SIZE], up_phases[PARAM_WORDS_SIZE];
    double phases[2][3]; /* angles of low_phases and up_phases */
} lattice_params;

typedef struct {
    int scheme; /* scheme_number() */
    int steps;
    char actions[PARAM_WORDS_SIZE];
} integrator_params;

typedef struct {
    int64_t interval;
    int keep;
} checkpoint_params;

typedef struct {
    int64_t interval, from;
    int format; /* links_format_writable() */
    int bits;
    char ensemble[PARAM_STRING_SIZE];
    char name[PARAM_STRING_SIZE], lfn[PARAM_STRING_SIZE];
    int rows;
} save_params;

/* The section [propagator.NAME]. */
typedef struct {
    char quark[PARAM_STRING_SIZE], solver[PARAM_STRING_SIZE], source[PARAM_STRING_SIZE];
    int sink;
    char rough_solver[PARAM_STRING_SIZE]; /* solver at positions that are not exact */
    char sink_smearing[PARAM_STRING_SIZE];
    int error_estimate;
    char file[PARAM_STRING_SIZE];
    int file_mode, file_bits;
    double file_residual;
} propagator_params;

typedef struct {
    char name[64];
    propagator_params p;
} named_propagator;

typedef struct {
    char name[64];
    solver_settings p;
} named_settings;

typedef struct parameters {
    run_params run;
    machine_params machine;
    lattice_params lattice;
    gauge_params gauge;
    int nquarks, nactions, nterms, nlevels, nsolvers, nmeasures, nlinks, nsmearings, nsources, npropagators;
    named_quark quarks[MAX_NAMED];
    named_action actions[MAX_NAMED];
    action_term terms[MAX_ACTIONS];
    named_quark twisted[MAX_ACTIONS]; /* quarks of chains of twisted masses, by the term that they divide */
    integrator_params levels[MAX_NAMED];
    named_settings solvers[MAX_NAMED];
    named_links links[MAX_NAMED];
    named_smearing smearings[MAX_NAMED];
    named_source sources[MAX_NAMED];
    named_propagator propagators[MAX_NAMED];
    named_measure measures[MAX_NAMED];
    checkpoint_params checkpoint;
    save_params save;
    watch_params watch;
    char *dump;                             /* canonical text of all, for the log, the checkpoint and comparison */
    fifth_transform *transforms[MAX_NAMED]; /* transforms of solvers, as their files hold them; null: none */
    ini_input *input;                       /* input file for ini_where(), in messages on what only shows later */
} parameters;

/* Every section of the input file; `*n` of them. Not collective. */
const param_section *const *parameter_sections(int *n);

/* Reads and checks an input file; contradictions are user errors. `need`: which parts have to be there (a measurement
 * needs neither), whether every solver has to suit every fermion, and whether files of transforms, which all others
 * read, are yet to be made. Collective. Free with parameters_free(). */
enum { NEED_GAUGE = 1, NEED_INTEGRATOR = 2, NEED_EVERY_SOLVER = 4, NEED_NO_TRANSFORMS = 8 };
parameters *parameters_read(const char *path, int noverride, const char *const *overrides, int need);
void parameters_free(parameters *p);

/* Boundary in time of the lattice. */
time_boundary parameters_time(const parameters *p);
/* Texts of [run] start, [lattice] time_boundary and `sink` of a propagator, for messages. */
const char *parameters_start(const parameters *p);
const char *parameters_boundary(const parameters *p);
const char *parameters_sink(const propagator_params *q);
/* The key of a source on an end slice of a lattice with so many, where quark fields vanish, with a message; null if there is none. */
const char *parameters_source_at_end(const parameters *p, const named_source *s, int slices, char *message,
                                     size_t size);
/* True if the first configuration is read from the file [run] config. */
int parameters_start_reads(const parameters *p);
/* Number of the quark of this name, which there has to be. */
int parameters_quark(const parameters *p, const char *name);
/* True of a quark that no action has: it is only measured. */
int parameters_measured_only(const parameters *p, const named_quark *q);
/* Term of this name; null: there is none. */
const action_term *parameters_term(const parameters *p, const char *name);

/* A key that names the solver of a quark: of an action's term, of the quark, of a propagator, or of a measurement. */
typedef struct {
    const named_quark *quark;
    const action_term *term; /* null of the others */
    const char *solver, *section, *instance, *key;
} solver_use;
/* Keys of this sort that are not empty, by number; 0 after the last. */
int parameters_solver_use(const parameters *p, int number, solver_use *use);

/* ---- for parts of the reader ---- */

/* A key that some kinds of a section have, but not this one, is a user error. The first key of the section is the choice of
 * the kind, `of` its struct, has() says whether the kind of `of` has a key, and `rest` is the end of the message, such as
 * "; it has kappa". */
void parameters_refuse_keys(ini_input *in, const param_section *section, const char *instance, const void *of,
                            int (*has)(const void *of, const char *key), const char *rest);
/* parameters_solver.c: a key that names a solver of the file names no mere preconditioner, or that is a user error. */
void parameters_check_solver(const ini_input *in, const parameters *p, const char *section, const char *instance,
                             const char *key, const char *found);
/* The solver of attempt `number` at a solve: the one named, or a fallback; null after the last. Solvers that name each
 * other have had their turn when all are through. */
const named_settings *parameters_attempt(const parameters *p, const char *solver, int number);
/* True of a solver that plaq solve tries: one that solves, and that is not a preconditioner of another section alone. */
int parameters_solver_tried(const parameters *p, int number);
/* The sections [solver.NAME]; with names checked, those inside others and what keys of actions and quarks name; then, with
 * all read, what is said of solvers that nothing could use; every: as with NEED_EVERY_SOLVER. Contradictions are user
 * errors. */
void solver_parameters_read(ini_input *in, parameters *p);
void solver_parameters_nest(const ini_input *in, parameters *p);
void solver_parameters_check(const ini_input *in, const parameters *p, int every);
/* parameters_time.c: keys of the input that a boundary in time needs, or that do not go with it, are user errors. */
void time_parameters_check(ini_input *in, parameters *p);
/* parameters_transform.c: reads the files of transforms between numbers of slices, and refuses those of other quarks; every:
 * as with NEED_EVERY_SOLVER. */
void transform_parameters_read(const ini_input *in, parameters *p, int every);
/* parameters_quark.c: the sections [quark.NAME]; then, with links read and names checked, what follows from their keys.
 * Contradictions are user errors. */
void quark_parameters_read(ini_input *in, parameters *p);
void quark_parameters_complete(const ini_input *in, parameters *p);
/* parameters_action.c: the sections [action.NAME]; with quarks complete, the terms that they make; with solvers nested,
 * whether these suit. Contradictions are user errors. */
void action_parameters_read(ini_input *in, parameters *p);
void action_parameters_complete(const ini_input *in, parameters *p);
void action_parameters_check(const ini_input *in, const parameters *p);
/* Words that stand on levels for actions: puts the names of terms in place of those of whole actions, and each NAME.det
 * that is not named behind its action, or its last factor. Every term stands on one level, or that is a user error. */
void action_parameters_levels(const ini_input *in, parameters *p, int required);
/* 32, 64, or 0 for as many as the format has. */
int parameters_save_bits(const save_params *s);
/* 32 or 64. */
int parameters_file_bits(const propagator_params *q);
/* Flavours of one operator and mass that the determinants of all actions make together, roots reckoned in; `of` is a quark
 * with that operator. Returns how many there are. */
#define MAX_FLAVOURS (MAX_NAMED * MAX_FACTORS)
typedef struct {
    const named_quark *of;
    double mass;
    int number;
} flavours;
int parameters_flavours(const parameters *p, flavours sums[MAX_FLAVOURS]);
/* parameters_earlier.c: keys of earlier forms of the input are user errors, which say what to write now. */
void parameters_refuse_earlier(ini_input *in);
/* parameters_propagator.c: the sections [smearing.NAME], [source.NAME] and [propagator.NAME]; then, with quarks and solvers read
 * and names checked, what they say of those. Contradictions are user errors. */
const param_section *propagator_section(void);
void propagator_parameters_read(ini_input *in, parameters *p);
void propagator_parameters_check(const ini_input *in, const parameters *p);
/* Sections of these names, which there are; null for an empty name. */
const named_smearing *parameters_smearing(const parameters *p, const char *name);
const named_source *parameters_source(const parameters *p, const char *name);
const named_propagator *parameters_propagator(const parameters *p, const char *name);
const link_settings *parameters_links(const parameters *p, const char *name);
/* The propagator whose columns the source of this one is made of; null where it is not sequential. */
const char *parameters_made_of(const parameters *p, const char *propagator);
/* The source where a chain of sequential ones begins, which has the origin of times and momenta; the source itself where it is
 * none. */
const named_source *parameters_first_source(const parameters *p, const named_source *s);
/* The solver that a propagator names, or that of its quark. */
const char *parameters_propagator_solver(const parameters *p, const propagator_params *q);
/* A section that solves for a quark names a solver, or its quark does, or that is a user error. */
void parameters_need_solver(const ini_input *in, const parameters *p, const char *section, const char *instance,
                            const char *solver, const char *quark);
/* parameters_measure.c: the sections [measure.NAME]; then, with quarks and solvers read and names checked, what they say of
 * those. Contradictions are user errors. */
void measure_parameters_read(ini_input *in, parameters *p);
void measure_parameters_check(const ini_input *in, const parameters *p);

#endif
