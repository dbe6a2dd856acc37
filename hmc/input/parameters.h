/* The input file as structs. The tables of keys stand beside what they belong to; those of sections without kinds in
 * parameters.c. */
#ifndef PLAQ_PARAMETERS_H
#define PLAQ_PARAMETERS_H

#include <stdint.h>

#include "hmc/evolve/gauge_kind.h"
#include "hmc/record/watch.h"
#include "io/ini.h"
#include "kernels/base/param.h"
#include "operators/link_map.h"
#include "solvers/solver.h"
#include "solvers/transform.h"

#define MAX_NAMED 64

typedef struct {
    char output[PARAM_STRING_SIZE];
    int64_t trajectories, seed, warmup;
    char start[PARAM_CHOICE_SIZE], config[PARAM_STRING_SIZE];
    double length, max_hours;
    char log[PARAM_CHOICE_SIZE], report[PARAM_CHOICE_SIZE];
} run_params;

typedef struct {
    int grid[4];
    char device[PARAM_CHOICE_SIZE], share_gpu[PARAM_CHOICE_SIZE], transport[PARAM_CHOICE_SIZE];
    char tune[PARAM_CHOICE_SIZE], tune_file[PARAM_STRING_SIZE];
    int threads;
    char simd[PARAM_CHOICE_SIZE];
    double watchdog, delay;
} machine_params;

typedef struct {
    int size[4];
    char time_boundary[PARAM_CHOICE_SIZE];
} lattice_params;

/* A factor of a determinant: of so many flavours of this mass. */
#define MAX_FACTORS 4
typedef struct {
    double mass;
    int flavours;
} mass_factor;

/* Kinds have keys of their own in `parts`, see fermion_keys() of hmc/evolve/fermion_kind.h. */
typedef struct {
    char kind[PARAM_CHOICE_SIZE];
    double mass;
    char parity[PARAM_CHOICE_SIZE];
    char solver[PARAM_STRING_SIZE], action_solver[PARAM_STRING_SIZE], reversal_solver[PARAM_STRING_SIZE];
    char measured_only[PARAM_CHOICE_SIZE];
    union {
        double align;
        char bytes[3072];
    } parts;
} fermion_params;

typedef struct {
    char scheme[PARAM_CHOICE_SIZE];
    int steps;
    char actions[PARAM_WORDS_SIZE];
} integrator_params;

typedef struct {
    int64_t interval;
    int keep;
} checkpoint_params;

typedef struct {
    int64_t interval, from;
    char format[PARAM_CHOICE_SIZE], bits[PARAM_CHOICE_SIZE], ensemble[PARAM_STRING_SIZE];
    char name[PARAM_STRING_SIZE], lfn[PARAM_STRING_SIZE];
    int rows;
} save_params;

/* Observables have keys of their own in `own`, whose layout is theirs. */
typedef struct {
    char kind[PARAM_CHOICE_SIZE];
    int64_t interval;
    /* Of observables with a quark. */
    char fermion[PARAM_STRING_SIZE], solver[PARAM_STRING_SIZE], error_estimate[PARAM_CHOICE_SIZE];
    char links[PARAM_STRING_SIZE]; /* [links.NAME] of observables without a quark */
    union {
        double align;
        char bytes[2048];
    } own;
} measure_params;

typedef struct {
    char name[64];
    fermion_params p;
} named_fermion;

typedef struct {
    char name[64];
    solver_settings p;
} named_settings;

typedef struct {
    char name[64];
    link_settings p;
} named_links;

typedef struct {
    char name[64];
    measure_params p;
} named_measure;

typedef struct parameters {
    run_params run;
    machine_params machine;
    lattice_params lattice;
    gauge_params gauge;
    int nfermions, nlevels, nsolvers, nmeasures, nlinks;
    named_fermion fermions[MAX_NAMED];
    integrator_params levels[MAX_NAMED];
    named_settings solvers[MAX_NAMED];
    named_links links[MAX_NAMED];
    named_measure measures[MAX_NAMED];
    checkpoint_params checkpoint;
    save_params save;
    watch_params watch;
    char *dump;                             /* canonical text of all, for the log, the checkpoint and comparison */
    fifth_transform *transforms[MAX_NAMED]; /* of solvers that have one, as their files hold them; else null */
    ini_input *input;                       /* for ini_where(), in messages on what only shows later */
} parameters;

/* Every section of the input file; `*n` of them. Not collective. */
const param_section *const *parameter_sections(int *n);

/* Reads and checks an input file; contradictions are user errors. `need`: which parts have to be there (a measurement
 * needs neither), whether every solver has to suit every fermion, and whether files of transforms, which all others
 * read, are yet to be made. Collective. Free with parameters_free(). */
enum { NEED_GAUGE = 1, NEED_INTEGRATOR = 2, NEED_EVERY_SOLVER = 4, NEED_NO_TRANSFORMS = 8 };
parameters *parameters_read(const char *path, int noverride, const char *const *overrides, int need);
void parameters_free(parameters *p);

/* Whether an action of this name, "gauge", that of a fermion or NAME.det, is listed in an [integrator.N]. */
int parameters_on_level(const parameters *p, const char *name);

/* ---- for parts of the reader ---- */

/* Names of the sections [section.NAME], in their order; how many. More than MAX_NAMED are a user error. */
int parameters_instances(const ini_input *in, const char *section, const char *names[MAX_NAMED]);

/* A name in a key of a section that is none of the n known ones is a user error, with the nearest; `what`: those. */
void parameters_check_name(const ini_input *in, const char *section, const char *instance, const char *key,
                           const char *found, const char *const *known, int n, const char *what);
/* A key that some kinds of a section have, but not this one, is a user error. `choice` is the key that names the kind,
 * has() whether a kind has a key, and `rest` the end of the message, such as "; it has kappa". */
void parameters_refuse_keys(ini_input *in, const char *section, const char *instance, const char *choice,
                            const char *kind, int (*has)(const char *kind, const char *key), const char *rest);
/* parameters_solver.c: the key names a solver of the file, and no mere preconditioner, or that is a user error. */
void parameters_check_solver(const ini_input *in, const parameters *p, const char *section, const char *instance,
                             const char *key, const char *found);
/* Key `number` of a fermion's section that names a solver, which every section has after reading, and what it names
 * there; null after the last. */
const char *parameters_solver_key(const fermion_params *f, int number, const char **solver);
/* The solver of attempt `number` at a solve: the one named, or a fallback; null after the last. Solvers that name each
 * other have had their turn when all are through. */
const named_settings *parameters_attempt(const parameters *p, const char *solver, int number);
/* True of a solver that plaq solve tries: one that solves, and that is not a preconditioner of another section alone. */
int parameters_solver_tried(const parameters *p, int number);
/* The sections [solver.NAME]; the solvers that solvers and fermions name, and those inside others; then, with all read,
 * what is said of solvers that nothing could use; every: as with NEED_EVERY_SOLVER. Contradictions are user errors. */
void solver_parameters_read(ini_input *in, parameters *p);
void solver_parameters_nest(const ini_input *in, parameters *p);
void solver_parameters_check(const ini_input *in, const parameters *p, int every);
/* parameters_transform.c: reads the files of transforms between numbers of slices, and refuses those of other quarks; every:
 * as with NEED_EVERY_SOLVER. */
void transform_parameters_read(const ini_input *in, parameters *p, int every);
/* parameters_fermion.c: the sections [fermion.NAME]; then, with solvers read too, what they say of each other.
 * Contradictions are user errors. */
void fermion_parameters_read(ini_input *in, parameters *p);
void fermion_parameters_check(const ini_input *in, const parameters *p);
/* Whether the section makes no action of the run, but a quark that measurements may name. */
/* 32, 64, or 0 for as many as the format has. */
int parameters_save_bits(const save_params *s);
int fermion_measured_only(const fermion_params *f);
/* With levels read: a section stands on one of them, or its quark is only measured. */
void fermion_parameters_levels(const ini_input *in, const parameters *p);
/* Flavours of one operator and mass that the determinants of all sections with an action make together, roots and
 * ratios reckoned in; `of` is a section with that operator. Returns how many there are. */
#define MAX_FLAVOURS (MAX_NAMED * MAX_FACTORS)
typedef struct {
    const named_fermion *of;
    double mass;
    int number;
} flavours;
int fermion_parameters_flavours(const parameters *p, flavours sums[MAX_FLAVOURS]);
/* A determinant that is divided by and not made good by another section is a user error. */
void fermion_parameters_together(const ini_input *in, const parameters *p);
/* parameters_measure.c: with fermions and solvers read, the sections [measure.NAME]; contradictions are user errors. */
void measure_parameters_read(ini_input *in, parameters *p);

#endif
