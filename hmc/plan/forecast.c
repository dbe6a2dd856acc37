#include "hmc/plan/forecast.h"

#include <stdio.h>

#include "hmc/assemble/memory.h"
#include "hmc/assemble/simulation.h"
#include "hmc/integrate/reversal.h"
#include "hmc/measure/positions.h"
#include "hmc/tell/text.h"
#include "kernels/base/pool.h"

/* Propagators and flows of many steps take no more after so many. */
#define ENOUGH 64

static int asked;

static int had_enough(void)
{
    return ++asked > ENOUGH;
}

static void begin_counting(void *context, int i, const char *where)
{
    (void)context, (void)i, (void)where;
    asked = 0;
}

static int end_counting(void *context, int i, measure_result *r)
{
    (void)context, (void)i;
    measure_result_free(r);
    return 0;
}

/* The measurements that are due, one after the other. */
static void count_measurements(const measure_context *c, const int due[MAX_NAMED])
{
    measure_due(c, due, &(measure_calls){NULL, begin_counting, end_counting});
}

/* Steps of a level after which the guesses of its solves are made of all solutions that are kept. */
static int enough_steps(const simulation *s, const level *l)
{
    int steps = 1;
    for (int k = 0; k < l->nactions; k++) {
        const action_term *t = parameters_term(s->p, s->e.actions[l->actions[k]]->name);
        if (t && predictor_of(&t->action->p) > steps) steps = predictor_of(&t->action->p);
    }
    return steps;
}

/* Closes a count of all that a command does. */
static memory_forecast forecast_of(const memory_count *count)
{
    const size_t held = pool_held_peak(POOL_COUNTED(count->where)) - count->before;
    memory_forecast f = {.fields = memory_count_close(count), .runtime = memory_runtime(count->where)};
    f.kept = held > f.fields ? held - f.fields : 0;
    return f;
}

memory_forecast memory_predicted(const parameters *p, const lattice *lat, place where)
{
    memory_runtime(where); /* before there is anything */
    const memory_count count = memory_count_open(lat, where);
    simulation *s = simulation_create_on(p, count.lat, where);
    for (int l = 0; l < s->e.nlevels; l++) s->e.levels[l].steps = enough_steps(s, &s->e.levels[l]);
    const measure_context c = {p, s->links, s, had_enough, -1, NULL};
    int due[MAX_NAMED] = {0};
    for (int i = 0; i < p->nmeasures; i++) due[i] = p->measures[i].p.interval <= p->run.trajectories;
    /* Twice: what the first ones keep is there while the second ones run. */
    for (int turn = 0; turn < 2; turn++) {
        trajectory_run(&s->e, (random_key){0}, 1, 1); /* a trajectory that comes to no end says so in the run */
        if (watch_reversal_due(&p->watch, p->watch.reversibility_interval)) reversal_measure(&s->e, (random_key){0}, 1);
        count_measurements(&c, due);
    }
    simulation_destroy(s);
    return forecast_of(&count);
}

memory_forecast memory_measured(const parameters *p, int64_t trajectory, const lattice *lat, place where)
{
    memory_runtime(where);
    const memory_count count = memory_count_open(lat, where);
    field *links = field_create(count.lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    const measure_context c = {p, links, NULL, had_enough, trajectory, NULL};
    int due[MAX_NAMED];
    for (int i = 0; i < MAX_NAMED; i++) due[i] = 1;
    for (int turn = 0; turn < 2; turn++) count_measurements(&c, due);
    field_destroy(links);
    lattice_destroy(count.lat);
    return forecast_of(&count);
}

size_t memory_of_run(const void *parameters, const lattice *plan, place where)
{
    return memory_predicted(parameters, plan, where).fields;
}

size_t memory_total(const memory_forecast *f)
{
    return f->fields + f->kept + f->runtime;
}

const char *memory_describe(const memory_forecast *f, char *text, size_t size)
{
    char all[32], fields[32], kept[32], runtime[32];
    snprintf(text, size, "memory %s per rank: %s for fields, halos and tables, %s kept for reuse, %s for libraries",
             text_bytes((double)memory_total(f), all), text_bytes((double)f->fields, fields),
             text_bytes((double)f->kept, kept), text_bytes((double)f->runtime, runtime));
    return text;
}
