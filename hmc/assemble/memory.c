#include "hmc/assemble/memory.h"

#include <stdio.h>
#include <string.h>

#include "hmc/assemble/simulation.h"
#include "hmc/assemble/threads.h"
#include "hmc/quarks/quark.h"
#include "hmc/actions/action_kind.h"
#include "hmc/integrate/reversal.h"
#include "hmc/measure/positions.h"
#include "hmc/tell/text.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/base/machine.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/run/device.h"
#include "kernels/run/exchange.h"

/* ---- counting ---- */

memory_count memory_count_open(const lattice *like, place where)
{
    char message[512];
    const int pool = POOL_COUNTED(where);
    memory_count c = {.where = where, .before = pool_in_use(pool)};
    pool_trim(pool);
    pool_forget_peak(pool);
    log_silence(1);
    c.lat = plan_lattice(like->size, like->grid, comm_group_size(like->group), like->reach, message, sizeof message);
    REQUIRE(c.lat, "%s", message);
    return c;
}

size_t memory_count_close(const memory_count *c)
{
    log_silence(0);
    exchange_forget_planned();
    return pool_peak(POOL_COUNTED(c->where)) - c->before;
}

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

size_t memory_of_solver(const quark_params *f, const solver_settings *s, int rhs, const lattice *lat, place where)
{
    const memory_count count = memory_count_open(lat, where);
    const int pool = POOL_COUNTED(where);
    field *links = field_create(count.lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    fermion *quark = quark_kind_of(f)->make(links, f, NULL, 0);
    linop *system = fermion_system(quark, solver_needs_positive(s));
    field *b = linop_vector(system, rhs), *x = field_like(b);
    /* Copies of the operator in other precisions are its own, not the solver's. */
    for (int prec = 0; prec < PREC_COUNT; prec++) linop_refresh(linop_at(system, (precision)prec, where));
    pool_forget_peak(pool);
    const size_t before = pool_in_use(pool);
    solver *by = solver_create(s, system);
    solver_solve(by, x, b, NULL);
    const size_t bytes = pool_peak(pool) - before;
    solver_destroy(by);
    field_destroy(x);
    field_destroy(b);
    fermion_destroy(quark);
    field_destroy(links);
    lattice_destroy(count.lat);
    memory_count_close(&count);
    return bytes;
}

/* ---- what there is ---- */

/* Caches of HDF5 files, rows, and what the allocator leaves between blocks: resident once a history and a checkpoint were
 * written, 7 to 10 MiB with HDF5 1.10, Open MPI 4.1 and glibc 2.36. */
#define FILES_BYTES ((size_t)10 << 20)

size_t memory_runtime(place where)
{
    static size_t host;
    if (where == PLACE_DEVICE) return gpu_context_bytes();
    if (!host) {
        threads_start();
        host = (size_t)machine_resident() + FILES_BYTES;
    }
    return host;
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

size_t memory_fields_peak(place where)
{
    /* Tables on the device come from the pool. */
    return pool_peak(where) + (where == PLACE_HOST ? lattice_table_peak() : gpu_beside_pool_peak());
}

size_t memory_peak(place where)
{
    if (where == PLACE_HOST) return (size_t)machine_resident_peak();
    return pool_held_peak(where) + gpu_beside_pool_peak() + gpu_context_bytes();
}

double memory_there(place where)
{
    return where == PLACE_DEVICE ? gpu_memory() : comm_memory();
}

int memory_lacks(const lattice *lat, double bytes, place where, char *message, size_t size)
{
    char need[32], have[32];
    const double there = memory_there(where);
    bytes += (double)memory_runtime(where);
    snprintf(message, size,
             "the lattice %d.%d.%d.%d on grid %d.%d.%d.%d takes %s per rank, and %s has %s%s: use more nodes, "
             "or a smaller lattice",
             lat->size[0], lat->size[1], lat->size[2], lat->size[3], lat->grid[0], lat->grid[1], lat->grid[2],
             lat->grid[3], text_bytes(bytes, need), where == PLACE_DEVICE ? "its GPU" : "this machine",
             text_bytes(there, have), where == PLACE_DEVICE ? "" : " for each of its ranks");
    return comm_any_bad(there > 0 && bytes > there, message, size);
}
