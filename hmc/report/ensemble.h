/* Ensemble of a run as its output folder tells it: the history (io/history/history_view.h), its stretches and sessions
 * (hmc/record/stretch.h), and the index of kept configurations (hmc/record/kept.h); and what follows from them. Nothing in
 * the folder is changed, and the run may go on meanwhile. Local. */
#ifndef PLAQ_ENSEMBLE_H
#define PLAQ_ENSEMBLE_H

#include "hmc/integrate/integrator.h"
#include "hmc/record/autocorrelation.h"
#include "hmc/record/kept.h"
#include "io/history/history_view.h"
#include "kernels/base/param.h"

/* A column of the history: value[i] after trajectory at[i], without those that are NaN. */
typedef struct {
    char name[160]; /* "plaquette", "force light", "measure/flow t0" */
    const char *unit;
    long n;
    double *at, *value;
    int64_t from; /* trajectory where averages begin */
    long begin;   /* rows from here on are in the averages */
    long missing; /* rows from there on without a finite value */
    int is_gauge_dependent;
    autocorrelation a;
} ensemble_series;

/* Fewer rows give averages, and no advice. */
#define ENSEMBLE_LEAST_ROWS 20

typedef struct {
    const char *text; /* text of the history, or "" */
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

/* Means of the first and the second half of the rows in the averages, and their difference in errors. */
typedef struct {
    const ensemble_series *of;
    autocorrelation first, second;
    double sigmas;
} ensemble_drift;

#define ENSEMBLE_DRIFTS 2
/* A drift of so many errors is told in words. */
#define ENSEMBLE_DRIFTING 3

/* Average of a series over `rows` trajectories with weights; and all averages with one weight, whose logarithm has this standard
 * deviation. */
typedef struct {
    const ensemble_series *of;
    autocorrelation a;
    long rows;
} ensemble_reweighted;

typedef struct {
    char name[160]; /* "measure/weight" */
    long rows;
    double effective, spread; /* effective number of its rows */
    int n;
    ensemble_reweighted *averages;
} ensemble_weights;

/* Weights of fewer effective configurations than this part of all get advice. */
#define ENSEMBLE_EFFECTIVE 0.3

typedef struct {
    const char *folder, *parameters; /* the latter of the last stretch, or "" */
    history_view *view;
    int64_t done, wanted;          /* trajectories done, asked for */
    int64_t from, acceptance_from; /* trajectories where averages of physics begin, and those of the present stretch */
    int nseries, nstretches, nsessions, nwindows, ndrifts, nweights;
    ensemble_series *series;
    ensemble_stretch *stretches;
    ensemble_session *sessions;
    ensemble_window windows[ENSEMBLE_WINDOWS];
    ensemble_drift drifts[ENSEMBLE_DRIFTS]; /* halves of plaquette and dH, with rows enough */
    ensemble_weights *weights;
    char stopped[PARAM_TEXT_SIZE]; /* how the last session ended before its time, or "" */
    kept_index kept;
    double seconds, node_seconds; /* spent in all sessions */
    double each, nodes; /* seconds a trajectory with its measurements and files in the last session, its nodes */
    param_text notes;   /* missing and uncertain things, a line each */
    param_text advice;  /* changes to make, a line each */
} ensemble;

/* Averages begin behind the warm-up, or with trajectory `from` unless that is 0; never before the last change of physics,
 * nor those of acceptance, dH, forces, iterations and times before the present stretch. NULL with a message when there is
 * no history in the folder, or none that can be read. */
ensemble *ensemble_read(const char *folder, int64_t from, char *message, size_t size);
void ensemble_free(ensemble *e);

/* NULL when there is no such series; of one that is there, n > 0. */
const ensemble_series *ensemble_find(const ensemble *e, const char *name);
/* The value of a parameter of the last stretch as text, "" when there is none; as a number, or `otherwise`. */
const char *ensemble_parameter(const ensemble *e, const char *key, char value[PARAM_TEXT_SIZE]);
double ensemble_number(const ensemble *e, const char *key, double otherwise);

/* Schemes and steps of the levels of the last stretch; how many. */
int ensemble_levels(const ensemble *e, level levels[MAX_LEVELS]);

/* ensemble_weights.c: fills e->weights from the series. */
void ensemble_reweigh(ensemble *e);
void ensemble_free_weights(ensemble *e);
/* ensemble_advice.c: fills e->advice, and adds to e->notes what no advice is made from. */
void ensemble_advise(ensemble *e);

/* ensemble_text.c: the summary as text; ensemble_page.c: the page, HTML that needs no other file. */
void ensemble_text(param_text *out, const ensemble *e);
void ensemble_page(param_text *out, const ensemble *e);
/* ensemble_charts.c: the charts of the page. */
void ensemble_charts(param_text *out, const ensemble *e);
/* The page written as a file, NULL: FOLDER/report.html, which may be an earlier page (io/history/output_file.h). 0, or -1 with a
 * message. */
#define ENSEMBLE_PAGE "report.html"
int ensemble_write_page(const ensemble *e, const char *path, char *message, size_t size);

#endif
