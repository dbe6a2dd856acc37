/* What is known of a run from its output folder: the history (io/history_view.h), its stretches and sessions
 * (hmc/record/stretch.h), and the index of kept configurations (hmc/record/save.h); and what follows from them. Nothing
 * in the folder is changed, and the run may go on meanwhile. Local. */
#ifndef PLAQ_ENSEMBLE_H
#define PLAQ_ENSEMBLE_H

#include "hmc/record/autocorrelation.h"
#include "io/history_view.h"
#include "kernels/base/param.h"

/* A column of the history: value[i] after trajectory at[i], without those that are NaN. */
typedef struct {
    char name[160]; /* "plaquette", "force light", "measure/flow t0" */
    const char *unit;
    long n;
    double *at, *value;
    long begin;   /* rows from here on are in the averages */
    long missing; /* of the rows that would be, those that are NaN */
    double step;  /* mean distance of these, in trajectories */
    autocorrelation a;
} ensemble_series;

typedef struct {
    const char *text; /* of the history, or "" */
    int64_t first, last;
    long rows;
    double acceptance;  /* NaN without rows after the warm-up */
    param_text changes; /* lines of parameters that differ from the stretch before */
} ensemble_stretch;

typedef struct {
    const char *text;
    int64_t first, last;
    double seconds, nodes;
} ensemble_session;

/* Acceptance over neighbouring rows, its binomial error, and erfc(sqrt(<dH^2> / 8)), which a Gaussian dH with
 * <exp(-dH)> = 1 makes (S. Gupta, A. Irbaeck, F. Karsch and B. Petersson, Phys. Lett. B 242 (1990) 437). */
typedef struct {
    int64_t first, last;
    double accepted, error, expected;
} ensemble_window;

#define ENSEMBLE_WINDOWS 12

typedef struct {
    int64_t trajectory;
    char file[256], digest[65];
    double plaquette, acceptance;
} ensemble_kept;

typedef struct {
    const char *folder, *parameters; /* the latter of the last stretch, or "" */
    history_view *view;
    int64_t done, wanted, from; /* trajectories done, asked for; the averages begin with `from` */
    int nseries, nstretches, nsessions, nwindows, nkept;
    ensemble_series *series;
    ensemble_stretch *stretches;
    ensemble_session *sessions;
    ensemble_window windows[ENSEMBLE_WINDOWS];
    ensemble_kept *kept;
    double seconds, node_seconds; /* spent in all sessions */
    double each, nodes; /* seconds a trajectory with its measurements and files in the last session, its nodes */
    param_text advice;  /* what to change, a line each */
} ensemble;

/* NULL with a message when there is no history in the folder, or none that can be read. */
ensemble *ensemble_read(const char *folder, char *message, size_t size);
void ensemble_free(ensemble *e);

/* NULL when there is no such series; of one that is there, n > 0. */
const ensemble_series *ensemble_find(const ensemble *e, const char *name);
/* The value of a parameter of the last stretch as text, "" when there is none; as a number, or `otherwise`. */
const char *ensemble_parameter(const ensemble *e, const char *key, char value[PARAM_TEXT_SIZE]);
double ensemble_number(const ensemble *e, const char *key, double otherwise);

/* ensemble_advice.c: fills e->advice. */
void ensemble_advise(ensemble *e);

/* ensemble_text.c: the summary as text; ensemble_page.c: the page, HTML that needs no other file. */
void ensemble_text(param_text *out, const ensemble *e);
void ensemble_page(param_text *out, const ensemble *e);
/* The page written as a file, NULL: FOLDER/report.html, which may be an earlier page (io/output_file.h). 0, or -1 with a
 * message. */
#define ENSEMBLE_PAGE "report.html"
int ensemble_write_page(const ensemble *e, const char *path, char *message, size_t size);

#endif
