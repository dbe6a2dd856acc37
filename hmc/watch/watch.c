#include "hmc/watch/watch.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/log.h"

/* Running means are of at least so many rows. */
#define LEAST_ROWS 10
/* An alarm that goes on is told again after so many trajectories. */
#define SILENCE 10
/* Deviations of the plaquette from rounding are none. */
#define ROUNDING 1e-12

#define HOW_HELP "; warn: in the log; stop: the run ends with status 4 after a checkpoint"
#define AT(member) offsetof(watch_params, member)

static const param table[] = {
    {"rejections", PARAM_CHOICE, AT(rejections), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "rejections_limit rejections in a row" HOW_HELP, 0},
    {"rejections_limit", PARAM_INT, AT(rejections_limit), "10", "[1,1000]", "trajectories",
     "rejections in a row that raise the alarm", 0},
    {"dh", PARAM_CHOICE, AT(dh), "warn", PARAM_RANGE(WATCH_HOW), NULL, "|dH| above dh_limit", 0},
    {"dh_limit", PARAM_REAL, AT(dh_limit), "20", "(0,inf)", "", "largest |dH|", 0},
    {"acceptance", PARAM_CHOICE, AT(acceptance), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "acceptance over the last `window` trajectories below acceptance_limit", 0},
    {"acceptance_limit", PARAM_REAL, AT(acceptance_limit), "0.3", "[0,1]", "", "least acceptance", 0},
    {"plaquette", PARAM_CHOICE, AT(plaquette), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "a plaquette further than plaquette_limit standard deviations from the mean of the last `window` ones", 0},
    {"plaquette_limit", PARAM_REAL, AT(plaquette_limit), "10", "(0,inf)", "standard deviations", "largest jump", 0},
    {"forces", PARAM_CHOICE, AT(forces), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "the mean force of an action in a trajectory more than forces_limit times its mean over the last `window` ones, "
     "or less than that part of it",
     0},
    {"forces_limit", PARAM_REAL, AT(forces_limit), "2", "(1,inf)", "", "largest ratio", 0},
    {"iterations", PARAM_CHOICE, AT(iterations), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "solver iterations of an action in a trajectory more than iterations_limit times their mean over the last "
     "`window` "
     "ones",
     0},
    {"iterations_limit", PARAM_REAL, AT(iterations_limit), "3", "(1,inf)", "", "largest ratio", 0},
    {"residual", PARAM_CHOICE, AT(residual), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "the worst true residual |b - A x| / |b| of a trajectory above residual_limit", 0},
    {"residual_limit", PARAM_REAL, AT(residual_limit), "0.001", "(0,inf)", "", "largest residual", 0},
    {"reversibility", PARAM_CHOICE, AT(reversibility), "warn", PARAM_RANGE(WATCH_HOW), NULL,
     "|dH| above reversibility_limit after a trajectory forwards and back, measured every reversibility_interval "
     "trajectories",
     0},
    {"reversibility_interval", PARAM_LONG, AT(reversibility_interval), "0", "[0,inf)", "trajectories",
     "distance of measurements, each of which takes the time of two trajectories; 0: none", 0},
    {"reversibility_limit", PARAM_REAL, AT(reversibility_limit), "0.01", "(0,inf)", "",
     "largest |dH| of a trajectory and its way back", 0},
    {"window", PARAM_INT, AT(window), "50", "[10,1000]", "trajectories",
     "trajectories of acceptance and of running means; the latter begin with 10", 0},
};

const param_section watch_section = {
    "watch",
    0,
    table,
    (int)(sizeof table / sizeof table[0]),
    sizeof(watch_params),
    "alarms: what is told at once, or ends the run; trajectories of the warm-up are not watched",
    NULL};

static const struct {
    const char *name, *advice;
    size_t how;
} alarms[WATCH_ALARMS] = {
    [WATCH_REJECTIONS] = {"rejections", "raise the steps of [integrator.N]", AT(rejections)},
    [WATCH_DH] = {"dh", "raise the steps of [integrator.N], or run.warmup before equilibrium", AT(dh)},
    [WATCH_ACCEPTANCE] = {"acceptance", "raise the steps of [integrator.N]", AT(acceptance)},
    [WATCH_PLAQUETTE] = {"plaquette", "look at the links (plaq check, plaq verify) and the history", AT(plaquette)},
    [WATCH_FORCES] = {"forces", "look at the spectrum: a small mass or an exceptional configuration", AT(forces)},
    [WATCH_ITERATIONS] = {"iterations", "look at the spectrum: a small mass or an exceptional configuration",
                          AT(iterations)},
    [WATCH_RESIDUAL] = {"residual", "tighten the tolerance of [solver.NAME]", AT(residual)},
    [WATCH_REVERSIBILITY] = {"reversibility", "tighten the tolerance of the force's [solver.NAME]", AT(reversibility)},
};

const char *watch_name(int alarm)
{
    return alarms[alarm].name;
}

const char *watch_advice(int alarm)
{
    return alarms[alarm].advice;
}

/* ---- rows ---- */

void watch_open(watch *w, const watch_params *p, action *const *actions)
{
    *w = (watch){.p = p, .actions = (const action *const *)actions, .rows = malloc(WATCH_MOST * sizeof *w->rows)};
    REQUIRE_MEMORY(w->rows, "out of memory: %d rows", WATCH_MOST);
    for (int i = 0; i < WATCH_ALARMS; i++) w->silent[i] = -1;
}

void watch_close(watch *w)
{
    free(w->rows);
    w->rows = NULL;
}

static void remember(watch *w, const watch_row *row)
{
    if (w->n == WATCH_MOST) memmove(w->rows, w->rows + 1, (size_t)--w->n * sizeof *w->rows);
    w->rows[w->n++] = *row;
}

/* The window before the last row: its first row, and how many. */
static const watch_row *window_before(const watch *w, int *n)
{
    *n = w->n - 1 < w->p->window ? w->n - 1 : w->p->window;
    return w->rows + w->n - 1 - *n;
}

/* ---- alarms ---- */

typedef struct {
    watch *w;
    int64_t trajectory;
    char *message; /* message of the first alarm that stops */
    size_t size;
    int stop; /* the alarm, -1: none */
} looking;

static void raise_alarm(looking *l, int alarm, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void raise_alarm(looking *l, int alarm, const char *fmt, ...)
{
    char what[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    const int how = *(const int *)(const void *)((const char *)l->w->p + alarms[alarm].how);
    if (how == WATCH_OFF) return;
    l->w->count[alarm]++;
    if (how == WATCH_STOP && l->stop < 0) {
        l->stop = alarm;
        snprintf(l->message, l->size, "after trajectory %lld: %s; [watch] %s = stop", (long long)l->trajectory, what,
                 alarms[alarm].name);
        return;
    }
    if (l->trajectory <= l->w->silent[alarm]) return;
    l->w->silent[alarm] = l->trajectory + SILENCE - 1;
    log_warn("watch: after trajectory %lld %s: %s ([watch] %s)", (long long)l->trajectory, what, alarms[alarm].advice,
             alarms[alarm].name);
}

static void look_at_acceptance(looking *l)
{
    const watch *w = l->w;
    int row = 0, accepted = 0;
    while (row < w->n && !w->rows[w->n - 1 - row].accepted) row++;
    /* Rejections alarm at the limit, and again each time that as many are added. */
    if (row > 0 && row % w->p->rejections_limit == 0)
        raise_alarm(l, WATCH_REJECTIONS, "%d rejections in a row (limit %d)", row, w->p->rejections_limit);
    if (w->n < w->p->window) return;
    for (int i = w->n - w->p->window; i < w->n; i++) accepted += w->rows[i].accepted;
    const double share = (double)accepted / w->p->window;
    if (share < w->p->acceptance_limit)
        raise_alarm(l, WATCH_ACCEPTANCE, "acceptance over the last %d is %.3f, below %g", w->p->window, share,
                    w->p->acceptance_limit);
}

static void look_at_plaquette(looking *l)
{
    int n;
    double mean = 0, square = 0;
    const watch_row *rows = window_before(l->w, &n);
    const double now = l->w->rows[l->w->n - 1].plaquette;
    if (n < LEAST_ROWS) return;
    for (int i = 0; i < n; i++) mean += rows[i].plaquette / n;
    for (int i = 0; i < n; i++) square += (rows[i].plaquette - mean) * (rows[i].plaquette - mean) / (n - 1);
    const double sigma = fmax(sqrt(square), ROUNDING), jump = fabs(now - mean) / sigma;
    if (jump > l->w->p->plaquette_limit)
        raise_alarm(l, WATCH_PLAQUETTE,
                    "the plaquette %.8f is %.3g standard deviations from the mean %.8f of %d, above %g", now, jump,
                    mean, n, l->w->p->plaquette_limit);
}

static void look_at_action(looking *l, int a)
{
    int n;
    double force = 0, iterations = 0;
    const watch_params *p = l->w->p;
    const watch_row *rows = window_before(l->w, &n), *now = &l->w->rows[l->w->n - 1];
    const char *name = l->w->actions[a]->name;
    if (n < LEAST_ROWS) return;
    for (int i = 0; i < n; i++) {
        force += rows[i].force[a] / n;
        iterations += rows[i].iterations[a] / n;
    }
    if (now->force[a] > p->forces_limit * force || now->force[a] * p->forces_limit < force)
        raise_alarm(l, WATCH_FORCES, "the force of %s is %.4g, %.3g times the mean %.4g of %d, beyond a factor of %g",
                    name, now->force[a], now->force[a] / force, force, n, p->forces_limit);
    if (now->iterations[a] > p->iterations_limit * iterations)
        raise_alarm(l, WATCH_ITERATIONS, "%s took %.0f iterations, %.3g times the mean %.0f of %d, above %g", name,
                    now->iterations[a], now->iterations[a] / iterations, iterations, n, p->iterations_limit);
}

int watch_look(watch *w, const watch_row *row, char *message, size_t size)
{
    looking l = {.w = w, .trajectory = row->trajectory, .message = message, .size = size, .stop = -1};
    remember(w, row);
    w->least_dh = w->looked ? fmin(w->least_dh, fabs(row->dh)) : fabs(row->dh);
    w->looked++;
    w->accepted += row->accepted;
    w->beyond += fabs(row->dh) > w->p->dh_limit;
    if (fabs(row->dh) > w->p->dh_limit)
        raise_alarm(&l, WATCH_DH, "|dH| is %.4g, above %g", fabs(row->dh), w->p->dh_limit);
    if (row->residual > w->p->residual_limit)
        raise_alarm(&l, WATCH_RESIDUAL, "the worst residual is %.3g, above %g", row->residual, w->p->residual_limit);
    look_at_acceptance(&l);
    look_at_plaquette(&l);
    for (int a = 0; a < row->nactions; a++) look_at_action(&l, a);
    return l.stop;
}

int watch_nothing_accepted(const watch *w, char *message, size_t size)
{
    const int many = w->looked >= w->p->rejections_limit || (w->looked >= 2 && w->beyond == w->looked);
    if (w->p->rejections == WATCH_OFF || !many || w->accepted) return 0;
    snprintf(
        message, size,
        "none of the %lld trajectories of this session after the warm-up was accepted, |dH| being %.3g or more: the "
        "links are those of before; %s",
        (long long)w->looked, w->least_dh, watch_advice(WATCH_REJECTIONS));
    return 1;
}

int watch_reversal_due(const watch_params *p, int64_t trajectory)
{
    return p->reversibility != WATCH_OFF && p->reversibility_interval > 0 &&
           trajectory % p->reversibility_interval == 0;
}

int watch_reversal(watch *w, int64_t trajectory, double dh, char *message, size_t size)
{
    looking l = {.w = w, .trajectory = trajectory, .message = message, .size = size, .stop = -1};
    if (isnan(dh)) raise_alarm(&l, WATCH_REVERSIBILITY, "a trajectory forwards and back came to no end");
    else if (fabs(dh) > w->p->reversibility_limit)
        raise_alarm(&l, WATCH_REVERSIBILITY, "|dH| of a trajectory forwards and back is %.3g, above %g", fabs(dh),
                    w->p->reversibility_limit);
    return l.stop;
}
