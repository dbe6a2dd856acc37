#include "hmc/integrate/integrator.h"

#include <math.h>
#include <string.h>

#include "hmc/tell/life.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

#define MAX_STAGES 16

/* A kick by `by` of the step with the force taken at links moved ahead by -ahead h^2 F (zero: the force itself); or a
 * drift. */
typedef struct {
    char what; /* 'k' kick, 'd' drift, 0 end */
    double by, ahead;
} stage;

struct scheme {
    const char *name, *help;
    int order;
    stage stages[MAX_STAGES];
};

/* I. Omelyan, I. Mryglod, R. Folk, Comput. Phys. Commun. 151 (2003) 272; names as in T. Takaishi and Ph. de Forcrand,
 * Phys. Rev. E 73 (2006) 036706: 2MN with lambda of eq. (31) there, 4MN5FV. Force gradient: the fourth-order scheme of
 * S. Chin with the look-ahead force of H. Yin and R. Mawhinney, arXiv:1111.5059. */
#define LAMBDA 0.1931833275037836
#define THETA 0.08398315262876693
#define RHO 0.2539785108410595
#define LAMBDA5 0.6822365335719091
#define MU -0.03230286765269967

static const scheme schemes[] = {
    {"leapfrog", "leapfrog", 2, {{'k', 0.5, 0}, {'d', 1, 0}, {'k', 0.5, 0}}},
    {"omelyan2",
     "2MN",
     2,
     {{'k', LAMBDA, 0}, {'d', 0.5, 0}, {'k', 1 - 2 * LAMBDA, 0}, {'d', 0.5, 0}, {'k', LAMBDA, 0}}},
    {"omelyan4",
     "4MN5FV",
     4,
     {{'k', THETA, 0},
      {'d', RHO, 0},
      {'k', LAMBDA5, 0},
      {'d', MU, 0},
      {'k', 0.5 * (1 - 2 * (LAMBDA5 + THETA)), 0},
      {'d', 1 - 2 * (MU + RHO), 0},
      {'k', 0.5 * (1 - 2 * (LAMBDA5 + THETA)), 0},
      {'d', MU, 0},
      {'k', LAMBDA5, 0},
      {'d', RHO, 0},
      {'k', THETA, 0}}},
    {"force_gradient",
     "Yin-Mawhinney force gradient",
     4,
     {{'k', 1.0 / 6, 0}, {'d', 0.5, 0}, {'k', 2.0 / 3, 1.0 / 24}, {'d', 0.5, 0}, {'k', 1.0 / 6, 0}}},
};

#define NSCHEMES ((int)(sizeof schemes / sizeof schemes[0]))

const scheme *scheme_find(const char *name)
{
    for (int i = 0; i < NSCHEMES; i++)
        if (!strcmp(schemes[i].name, name)) return &schemes[i];
    return NULL;
}

const scheme *scheme_number(int i)
{
    return i < NSCHEMES ? &schemes[i] : NULL;
}

const char *scheme_name(const scheme *s)
{
    return s->name;
}

const char *scheme_help(const scheme *s)
{
    return s->help;
}

static int count(const scheme *s, char what)
{
    int n = 0;
    for (const stage *t = s->stages; t < s->stages + MAX_STAGES && t->what; t++) n += t->what == what;
    return n;
}

int scheme_forces(const scheme *s)
{
    int n = count(s, 'k') - 1; /* the last kick of a step and the first of the next are at the same links */
    for (const stage *t = s->stages; t < s->stages + MAX_STAGES && t->what; t++) n += t->what == 'k' && t->ahead != 0;
    return n;
}

int scheme_drifts(const scheme *s)
{
    return count(s, 'd');
}

int scheme_looks_ahead(const scheme *s)
{
    return scheme_forces(s) > count(s, 'k') - 1;
}

int scheme_order(const scheme *s)
{
    return s->order;
}

/* Factor of kicks and drifts of links in time. */
static double time_factor(const evolution *e)
{
    return e->xi_mom > 0 ? 1 / e->xi_mom : 1;
}

static void note_force(const evolution *e, force_record *f, const field *force)
{
    const double v = (double)e->lat->volume, factor = time_factor(e),
                 all = momenta_dot_by(1, factor * factor, force, force);
    const double norm = sqrt(2 * all / (4.0 * v));
    if (e->anisotropic) {
        const double space = momenta_dot_by(1, 0, force, force);
        f->space_square += 2 * space / (3 * v);
        f->time_square += 2 * (all - space) / v;
    }
    f->sum += norm;
    f->square += norm * norm;
    f->most = fmax(f->most, norm);
    f->count++;
}

/* force += one action's, timed and its norm recorded. */
static int force_apart(evolution *e, int which, field *total, int first)
{
    const double start = comm_wtime();
    force_record *record = &e->forces[which];
    field *mine = first ? total : field_like(total);
    const int failed = action_force(e->actions[which], mine);
    momenta_clear_fixed(mine);
    if (!failed) note_force(e, record, mine);
    if (!first) {
        momenta_add(total, 1, mine);
        field_destroy(mine);
    }
    record->seconds += comm_wtime() - start;
    return failed;
}

/* The actions of a level, from its i-th on, that can be summed together with it: their numbers, one at least. Only the
 * first force of a trajectory is taken apart from others, so that its size is known. */
static int sharers_of(const evolution *e, const level *l, int i, int which[MAX_ACTIONS])
{
    const action *first = e->actions[l->actions[i]];
    int n = 0;
    for (int k = i; k < l->nactions; k++) {
        const action *a = e->actions[l->actions[k]];
        const int same = first->shares && a->shares == first->shares && a->form_of_sum == first->form_of_sum;
        if (k == i || same) which[n++] = l->actions[k];
    }
    for (int k = 0; k < n; k++)
        if (e->forces[which[k]].count == 0) return 1;
    return n;
}

/* force += the forces of a level. */
static int level_force(evolution *e, const level *l, field *total)
{
    int done[MAX_ACTIONS] = {0};
    momenta_zero(total);
    for (int i = 0; i < l->nactions; i++) {
        int which[MAX_ACTIONS], failed;
        if (done[l->actions[i]]) continue;
        const int n = sharers_of(e, l, i, which);
        for (int k = 0; k < n; k++) done[which[k]] = 1;
        if (n == 1) {
            failed = force_apart(e, which[0], total, i == 0);
        } else {
            action *together[MAX_ACTIONS];
            double *seconds[MAX_ACTIONS];
            for (int k = 0; k < n; k++) {
                together[k] = e->actions[which[k]];
                seconds[k] = &e->forces[which[k]].seconds;
            }
            failed = action_shared_force(together, n, total, seconds);
        }
        if (failed) return EVOLVE_FAILED;
    }
    momenta_clear_fixed(total);
    return EVOLVE_DONE;
}

/* ---- the integration ---- */

/* Kicks between two drifts. A kick changes momenta alone, so all of them see the same links, and those of one level with
 * the same force are one. */
typedef struct {
    int level;
    double dt, ahead;
} kick;

typedef struct {
    evolution *e;
    kick
        kicks[2 * MAX_LEVELS]; /* due before the next drift: of a level those with the force, and those looking ahead */
    int n;
} integration;

static void add_kick(integration *in, int depth, double dt, double ahead)
{
    for (int i = 0; i < in->n; i++)
        if (in->kicks[i].level == depth && in->kicks[i].ahead == ahead) {
            in->kicks[i].dt += dt;
            return;
        }
    REQUIRE(in->n < 2 * MAX_LEVELS, "%d kicks at the same links", in->n);
    in->kicks[in->n++] = (kick){depth, dt, ahead};
}

static int make_kick(evolution *e, const kick *k)
{
    const level *l = &e->levels[k->level];
    const double f = time_factor(e);
    int status = level_force(e, l, e->force);
    if (status == EVOLVE_DONE && k->ahead != 0) {
        if (!e->displaced) e->displaced = field_like(e->links);
        field_copy(e->displaced, e->links);
        gauge_update_by(e->links, -k->ahead, -k->ahead * f * f, e->force);
        status = level_force(e, l, e->force);
        field_copy(e->links, e->displaced);
    }
    if (status == EVOLVE_DONE) momenta_add_by(e->momenta, -k->dt, -k->dt * f, e->force);
    return status;
}

static int make_kicks(integration *in)
{
    int status = EVOLVE_DONE;
    for (int i = 0; i < in->n && status == EVOLVE_DONE; i++) status = make_kick(in->e, &in->kicks[i]);
    in->n = 0;
    return status;
}

static int integrate(integration *in, int depth, double time)
{
    evolution *e = in->e;
    if (depth == e->nlevels) {
        const int status = make_kicks(in);
        if (status == EVOLVE_DONE) gauge_update_by(e->links, time, time * time_factor(e), e->momenta);
        return status;
    }
    const level *l = &e->levels[depth];
    const double h = time / l->steps;
    for (int step = 0; step < l->steps; step++) {
        if (depth == 0 && e->interrupted && e->interrupted()) return EVOLVE_INTERRUPTED;
        life_step(depth, step + 1, l->steps);
        for (const stage *s = l->scheme->stages; s < l->scheme->stages + MAX_STAGES && s->what; s++) {
            int status = EVOLVE_DONE;
            if (s->what == 'd') status = integrate(in, depth + 1, s->by * h);
            else add_kick(in, depth, s->by * h, s->ahead * h * h);
            if (status != EVOLVE_DONE) return status;
        }
    }
    return EVOLVE_DONE;
}

int evolve(evolution *e, double time)
{
    integration in = {.e = e};
    const int status = integrate(&in, 0, time);
    return status == EVOLVE_DONE ? make_kicks(&in) : status;
}

void levels_forces(const level *levels, int n, double forces[MAX_LEVELS])
{
    double steps = 1;
    for (int l = 0; l < n; l++) {
        steps *= levels[l].steps;
        forces[l] = steps * scheme_forces(levels[l].scheme) + 1;
        steps *= scheme_drifts(levels[l].scheme);
    }
}
