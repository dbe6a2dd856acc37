/* The state of plaq run, and what it tells: a line a trajectory, and the summary at the end of a session. All functions
 * but run_add_shell_word() are collective. */
#ifndef PLAQ_RUN_STATE_H
#define PLAQ_RUN_STATE_H

#include <stdint.h>

#include "hmc/assemble/simulation.h"
#include "hmc/assemble/parameters.h"
#include "hmc/record/profile.h"
#include "hmc/record/record.h"
#include "hmc/watch/watch.h"

typedef struct {
    parameters *p;
    simulation *s;
    record *history;
    watch watch;
    param_text input; /* the input file and the words after it, quoted for a shell */
    int64_t done, accepted, session_start;
    int64_t saved;   /* trajectory number of the newest checkpoint, -1 when there is none */
    char digest[65]; /* digest of its links, or of the first ones */
    double begun;
    profile_span since;
    double trajectory_bytes;      /* between host and device, in trajectories */
    double longest, longest_save; /* seconds of the slowest pass and of the slowest checkpoint so far */
    int64_t kept;                 /* configurations, in this session */
    int json, accept, ignore_recorded;
    int64_t failed_measurements[MAX_NAMED]; /* failures of each section, in this session */
    char stopped[1200];                     /* why, when not all trajectories were done */
    int failed, files_failed;               /* run had to stop; because the links in memory cannot be saved */
    const char *advice;                     /* advice on that stop */
} run_state;

/* The trajectory just done. */
void run_print_progress(const run_state *r, const trajectory_result *t, double plaquette);

/* Profile, averages, alarms, balance, memory, digests, and what to do next; in JSON, too, where it is asked for. */
void run_print_summary(const run_state *r);

/* True if all trajectories, with the measurements and checks that are due after the last one, are done. */
int run_finished(const run_state *r);

/* Prints why a run had to stop, and what to do. */
void run_print_advice(const run_state *r);

/* Measurements that failed in this session; how many there were. */
int64_t run_print_failed_measurements(const run_state *r);

/* Appends a word of a command line, quoted for a shell where it must be. */
void run_add_shell_word(param_text *text, const char *word);

#endif
