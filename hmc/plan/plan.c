#include "hmc/plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/bench/calibration.h"
#include "hmc/measure/measure.h"
#include "hmc/plan/campaign.h"
#include "hmc/plan/blockings.h"
#include "hmc/plan/cost.h"
#include "hmc/plan/forecast.h"
#include "hmc/plan/iterations.h"
#include "hmc/assemble/memory.h"
#include "hmc/assemble/simulation.h"
#include "hmc/assemble/tuning.h"
#include "hmc/actions/action_kind.h"
#include "hmc/assemble/identity.h"
#include "hmc/measure/propagator_disk.h"
#include "hmc/tell/text.h"
#include "hmc/record/save.h"
#include "hmc/report/ensemble.h"
#include "io/files/atomic.h"
#include "io/history/checkpoint.h"
#include "io/links/links.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"

/* The accept step decides with H, a sum over the lattice: a solve this loose leaves a bias that nobody sees. */
#define LOOSEST_ACCEPT 1e-6

static void warn_of_tolerance(const parameters *p, const action_term *t, int use)
{
    const named_settings *s = parameters_attempt(p, t->solvers[use], 0);
    if (s->p.tolerance > LOOSEST_ACCEPT)
        log_warn("[solver.%s] tolerance = %g decides about acceptance for [action.%s]: dH is then wrong by about that "
                 "part of the action; give %s with 1e-10 or less",
                 s->name, s->p.tolerance, t->action->name,
                 use == USE_ACTION ? "an action_solver" : "a heat_bath_solver");
}

/* S is about one for each number of the pseudofermions, on half of the sites, and its relative error that of the
 * rational functions: what is allowed of dH for want of precision. */
#define LARGEST_ERROR_OF_ACTION 0.1

static void warn_of_approximation(const action_term *t, double volume)
{
    const action_kind *kind = action_kind_of(&t->action->p);
    if (!kind->rational) return;
    const rational_settings r = kind->rational(t);
    const quark_kind *quark = quark_kind_of(&t->quark->p);
    const double numbers = r.pseudofermions * 3 * quark->spins / 2.0 * volume * (1 + quark->doublet);
    if (numbers * r.approximation <= LARGEST_ERROR_OF_ACTION) return;
    const double least = LARGEST_ERROR_OF_ACTION / numbers, digit = pow(10, floor(log10(least)));
    log_warn("[action.%s] approximation = %g on this lattice: dH is then wrong by up to %.2g; give %.0e or less",
             t->action->name, r.approximation, numbers * r.approximation, digit * fmax(1, floor(least / digit)));
}

/* S at the start is that of exact solves in the heat bath. A chain has its warnings once. */
static void warn_of_tolerances(const parameters *p, const lattice *l)
{
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        if (t->factor == 0) warn_of_approximation(t, (double)l->volume);
        for (int use = USE_ACTION; use <= USE_HEAT_BATH; use++) {
            const int told = use == USE_HEAT_BATH && !strcmp(t->solvers[use], t->solvers[USE_ACTION]);
            const int again = t->factor > 0 && !strcmp(t->solvers[use], t[-1].solvers[use]);
            if (!told && !again) warn_of_tolerance(p, t, use);
        }
    }
}

/* Guesses of solves, and set-ups, are others on the way back, so that the error of forces decides about reversibility: by
 * some tenths of their tolerance times the volume, light quarks by more, dH differs there. */
#define LARGEST_IRREVERSIBLE 1e-3

static void warn_of_way_back(const parameters *p, const action_term *t, double volume)
{
    const named_settings *s = parameters_attempt(p, t->solvers[USE_FORCE], 0);
    const int guesses = predictor_of(&t->action->p) > 0, follows = solver_type_of(&s->p)->forget != NULL;
    const double least = LARGEST_IRREVERSIBLE / volume;
    if (s->p.tolerance <= least || !(guesses || follows)) return;
    const double digit = pow(10, floor(log10(least)));
    log_warn(
        "[solver.%s] tolerance = %g of forces of [action.%s], whose %s on the way back: trajectories are reversible "
        "only to that, on this lattice; give %.0e or less, and see plaq verify",
        s->name, s->p.tolerance, t->action->name, guesses ? "first guesses are others" : "set-up is another one",
        digit);
}

/* Tadpole factor of the gauge action; NaN: there is none. */
static double tadpole_of(const parameters *p)
{
    return gauge_params_have(&p->gauge, "u0") ? p->gauge.u0 : NAN;
}

static void describe_measured(const parameters *p, const named_quark *q)
{
    const quark_kind *kind = quark_kind_of(&q->p);
    char text[160];
    kind->describe(&q->p, q->p.mass, text, sizeof text);
    log_info("[quark.%s] is measured only: mass %.6g (%s), no action", q->name, q->p.mass, text);
    if (kind->advise) kind->advise(q, q->p.mass, tadpole_of(p));
}

static void describe_action(const parameters *p, const action_term *t, double volume)
{
    const action_kind *kind = action_kind_of(&t->action->p);
    const rational_settings r = kind->rational ? kind->rational(t) : (rational_settings){0};
    if (kind->rational && r.bound == 0 && r.high == 0)
        log_info("[action.%s] spectrum = auto: memory is that of a spectrum of width %g; each factor of ten more "
                 "takes some two vectors",
                 t->action->name, RATIONAL_ORDINARY_WIDTH);
    if (t->factor == 0 || strcmp(t->solvers[USE_FORCE], t[-1].solvers[USE_FORCE])) warn_of_way_back(p, t, volume);
}

static void describe_fermions(const parameters *p, double volume)
{
    for (int i = 0; i < p->nterms; i++) describe_action(p, &p->terms[i], volume);
    for (int i = 0; i < p->nquarks; i++)
        if (parameters_measured_only(p, &p->quarks[i])) describe_measured(p, &p->quarks[i]);
}

/* The determinant that the sections make together, as nothing else in the input says it. */
static void describe_flavours(const parameters *p)
{
    flavours sums[MAX_FLAVOURS];
    const int n = parameters_flavours(p, sums);
    int in_loops = 0;
    for (int i = 0; i < n; i++) {
        const quark_params *f = &sums[i].of->p;
        const quark_kind *kind = quark_kind_of(f);
        char text[160];
        kind->describe(f, sums[i].mass, text, sizeof text);
        log_info("%d flavour%s of mass %.6g (%s)", sums[i].number, sums[i].number == 1 ? "" : "s", sums[i].mass, text);
        if (kind->in_gauge_loops && kind->in_gauge_loops(f)) in_loops += sums[i].number;
        if (kind->advise) kind->advise(sums[i].of, sums[i].mass, tadpole_of(p));
    }
    if (gauge_params_have(&p->gauge, "flavours") && in_loops != p->gauge.flavours)
        log_warn("[gauge] flavours = %d, whose loops its coefficients have, but the sections make %d flavours of HISQ "
                 "quarks",
                 p->gauge.flavours, in_loops);
    const gauge_kind *gauge = gauge_kind_of(&p->gauge);
    if (in_loops > 0 && gauge->parallelogram[0] != 0 && gauge->parallelogram[1] == 0)
        log_warn("[gauge] action = %s is without the loops of HISQ quarks that symanzik_1loop_hisq has", gauge->name);
}

/* Tells how many configurations will be kept. */
static void describe_kept(const parameters *p, const lattice *l)
{
    char one[32], all[32];
    const int64_t n = save_count(p);
    if (n > 0)
        log_info("%lld configurations of %s are kept in %s/" SAVE_FOLDER ", %s in all", (long long)n,
                 text_bytes((double)save_bytes(p, l->size), one), p->run.output,
                 text_bytes((double)n * (double)save_bytes(p, l->size), all));
    else
        log_warn("no configuration of the %lld trajectories is kept but the last %d checkpoints; [save] interval = N "
                 "keeps that of every N-th trajectory",
                 (long long)p->run.trajectories, p->checkpoint.keep);
}

static void describe_lattice(const lattice *l, place where)
{
    log_info("lattice %d.%d.%d.%d on grid %d.%d.%d.%d: %d.%d.%d.%d per rank, %d lanes in double, %d in single",
             l->size[0], l->size[1], l->size[2], l->size[3], l->grid[0], l->grid[1], l->grid[2], l->grid[3],
             l->local[0], l->local[1], l->local[2], l->local[3],
             where == PLACE_DEVICE ? 1 : field_lanes(l, PREC_DOUBLE),
             where == PLACE_DEVICE ? 1 : field_lanes(l, PREC_SINGLE));
}

/* Boxes of ranks that leave vectors of the CPU unused. `c`: rates with the cost of that; null: unknown. */
static void warn_of_lanes(const lattice *l, place where, const calibration *c)
{
    char slower[96] = "";
    if (where == PLACE_DEVICE || !lattice_uses_simd() || field_lanes(l, PREC_DOUBLE) > 1) return;
    if (c && c->place.one_lane > 1)
        snprintf(slower, sizeof slower, ", %.1f times slower (the gauge force in double)", c->place.one_lane);
    log_warn("a rank has %d.%d.%d.%d sites, which SIMD lanes do not divide: kernels work on one lane%s; choose "
             "[lattice] size, ranks or [machine] grid so that local extents have more factors of two, 4 or "
             "8 rather than 2 or 6",
             l->local[0], l->local[1], l->local[2], l->local[3], slower);
}

static void describe(const parameters *p, const lattice *l, place where, const memory_forecast *m)
{
    char memory[256], file[32];
    describe_lattice(l, where);
    log_info("%s; checkpoint %s", memory_describe(m, memory, sizeof memory),
             text_bytes((double)checkpoint_bytes(l->size, strlen(p->dump)), file));
    describe_kept(p, l);
    describe_flavours(p);
    warn_of_tolerances(p, l);
    describe_fermions(p, (double)l->volume);
}

void plan_describe(const parameters *p, const lattice *l, place where)
{
    warn_of_lanes(l, where, NULL);
    const memory_forecast m = memory_predicted(p, l, where);
    describe(p, l, where, &m);
}

/* ---- time ---- */

typedef struct {
    int ranks, nodes, parts;
    cost_part part[MAX_ACTIONS];
    double flops, network, trajectory, run, node_hours,
        disk;           /* seconds: messages, a trajectory, those left; bytes in the end */
    double slower;      /* times, for want of SIMD lanes */
    int64_t done, left; /* trajectories */
} schedule;

/* Seconds of a rate, so few that a dry run waits for none. */
#define QUICKLY 0.003

/* The rates of this machine: of the gauge force and of solves as the actions have them, on a lattice of 8^4 per rank; and
 * of one lane, where the plan has no more. */
static calibration measured_here(const lattice *plan, const cost_part *parts, int n, place where)
{
    const int any[4] = {0}, size[4] = {8, 8, 8, 8 * comm_size()};
    calibration_need needs[CALIBRATION_MOST];
    lattice *lat = lattice_create(size, any, 3, 1);
    calibration c = calibration_measure(lat, where, needs, cost_needs(parts, n, needs), QUICKLY, NULL);
    if (field_lanes(plan, PREC_DOUBLE) == 1) calibration_measure_lanes(&c, lat, where, QUICKLY);
    lattice_destroy(lat);
    return c;
}

/* Bytes of the files of propagators that measurements name: of one configuration, or of a whole run. */
static double propagator_bytes(const parameters *p, const int size[4], int of_run)
{
    double sum = 0;
    for (int i = 0; i < p->npropagators; i++) {
        const int64_t interval = propagator_disk_interval(p, &p->propagators[i]);
        if (interval == 0) continue;
        sum += propagator_disk_bytes(p, &p->propagators[i], size) *
               (of_run ? (double)(p->run.trajectories / interval) : 1);
    }
    return sum;
}

static void describe_propagators(const parameters *p, const int size[4])
{
    for (int i = 0; i < p->npropagators; i++) {
        const named_propagator *q = &p->propagators[i];
        char bytes[32];
        if (q->p.file[0] && propagator_disk_interval(p, q))
            log_info("disk: propagator.%s takes %s a configuration, in %s", q->name,
                     text_bytes(propagator_disk_bytes(p, q, size), bytes), q->p.file);
    }
}

/* Files of the run when all is done: checkpoints, kept configurations, propagators. */
static double disk_of(const parameters *p, const lattice *l)
{
    return (double)save_count(p) * (double)save_bytes(p, l->size) +
           (double)p->checkpoint.keep * (double)checkpoint_bytes(l->size, strlen(p->dump)) +
           propagator_bytes(p, l->size, 1);
}

/* Times that kernels are slower on a lattice that has no SIMD lanes where the calibration had some; else 1. */
static double slower_for_lanes(const lattice *l, const calibration *c, place where)
{
    return where == PLACE_HOST && field_lanes(l, PREC_DOUBLE) == 1 && c->place.one_lane > 1 ? c->place.one_lane : 1;
}

static schedule schedule_of(const parameters *p, const lattice *l, const calibration *c, int ranks, place where,
                            const iterations_plan *iterations, int64_t done)
{
    const int a_node = (c->place.ranks + c->place.nodes - 1) / c->place.nodes;
    schedule s = {.ranks = ranks, .nodes = (ranks + a_node - 1) / a_node, .done = done, .disk = disk_of(p, l)};
    s.parts = cost_parts(p, iterations, s.part);
    s.slower = slower_for_lanes(l, c, where);
    s.flops = cost_flops(s.part, s.parts);
    for (int i = 0; i < s.parts; i++) {
        s.network += cost_network(&s.part[i], c, l);
        s.trajectory += s.slower * cost_seconds(&s.part[i], c, ranks);
    }
    s.trajectory += s.network;
    s.left = p->run.trajectories > done ? p->run.trajectories - done : 0;
    s.run = (double)s.left * s.trajectory;
    s.node_hours = s.run * s.nodes / 3600;
    return s;
}

/* Tells where rates come from, and how to get others. */
static void describe_rates(const calibration *c)
{
    char text[256];
    calibration_describe(c, text, sizeof text);
    if (c->path) log_info("cost: rates are those of %s: %s", c->path, text);
    else
        log_info("cost: rates are those of this machine, measured now: %s; for another one run plaq bench --calibrate "
                 "FILE there, and give --calibration FILE here",
                 text);
    if (c->path && strcmp(c->place.program, identity_of_program()))
        log_info("cost: that file is of another version, %s; renew it with plaq bench --calibrate", c->place.program);
}

/* How many iterations solves take, by where that is known from. */
static void describe_iterations(const parameters *p, const iterations_plan *plan)
{
    static const char *const sources[] = {
        [ITERATIONS_MODEL] =
            "a model by mass, solver and tolerance, right within a factor of a few; plaq run --dry-run "
            "--configuration FILE measures them, and a short run leaves them in its output folder",
        [ITERATIONS_HISTORY] = "the history of this run",
        [ITERATIONS_MEASURED] = "measured on "};
    for (int k = 0; k < 3; k++) {
        param_text text = {0};
        for (int i = 0; i < p->nterms; i++)
            if (plan->solve[i] > 0 && (int)plan->source[i] == k)
                param_text_add(&text, "%s%s %.0f", text.length ? ", " : "", p->terms[i].name, plan->solve[i]);
        if (text.length)
            log_info("cost: iterations a solve: %s (%s%s)", text.data, sources[k],
                     k == ITERATIONS_MEASURED ? plan->configuration : "");
        param_text_free(&text);
    }
}

static void describe_network(const schedule *s, const calibration *c)
{
    if (s->ranks == 1) return;
    if (c->network.bandwidth > 0)
        log_info("cost: of it messages %.3g s, by %.3g us and %.3g GB/s between ranks, none hidden behind computing",
                 s->network, c->network.latency, c->network.bandwidth);
    else
        log_warn("cost: messages between ranks are left out: the calibration was made with one rank; make it with two "
                 "nodes or more");
}

static void describe_schedule(const parameters *p, const schedule *s, const calibration *c,
                              const iterations_plan *iterations)
{
    char text[32], disk[32];
    param_text shares = {0};
    const int a_node = (c->place.ranks + c->place.nodes - 1) / c->place.nodes;
    for (int i = 0; i < s->parts; i++)
        param_text_add(&shares, "%s%s %.3g s", i ? ", " : "", s->part[i].action,
                       s->slower * cost_seconds(&s->part[i], c, s->ranks));
    log_info("cost: about %.2g floating-point operations and %.3g s a trajectory on %d rank%s (%s)", s->flops,
             s->trajectory, s->ranks, s->ranks == 1 ? "" : "s", shares.data ? shares.data : "");
    describe_network(s, c);
    describe_iterations(p, iterations);
    param_text_free(&shares);
    log_info(
        "cost: %lld trajectories take about %s and %.3g node-hours on %d node%s of %d rank%s, without measurements; "
        "files take %s in the end",
        (long long)s->left, text_duration(s->run, text), s->node_hours, s->nodes, s->nodes == 1 ? "" : "s", a_node,
        a_node == 1 ? "" : "s", text_bytes(s->disk, disk));
    describe_rates(c);
}

/* Reads the run's own folder, which tells more than any plan. Returns the trajectories done. */
static int64_t describe_past(const parameters *p, iterations_plan *iterations)
{
    char message[1024], text[32];
    int64_t done = 0;
    ensemble *e = comm_rank() == 0 ? ensemble_read(p->run.output, 0, message, sizeof message) : NULL;
    if (e && e->done > 0) {
        const double left = p->run.trajectories > e->done ? (double)(p->run.trajectories - e->done) : 0;
        done = e->done;
        iterations_of_history(iterations, p, e);
        log_info("%s has %lld of %lld trajectories; its last session took %.2g s each, with measurements and files, on "
                 "%.0f node%s: so the others take %s and %.3g node-hours",
                 p->run.output, (long long)e->done, (long long)p->run.trajectories, e->each, e->nodes,
                 e->nodes > 1 ? "s" : "", text_duration(left * e->each, text), left * e->each * e->nodes / 3600);
    }
    ensemble_free(e);
    comm_bcast(&done, sizeof done);
    comm_bcast(iterations, sizeof *iterations);
    return done;
}

/* Refuses rational functions that would fail in the first trajectory, where the range is known before. */
static void check_functions(const parameters *p)
{
    char message[512];
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        if (!action_kind_of(&t->action->p)->rational) continue;
        const rational_settings s = action_kind_of(&t->action->p)->rational(t);
        if (rational_action_check(t->name, &s, message, sizeof message))
            user_error("%s: %s", ini_where(p->input, "action", t->action->name, s.high > 0 ? "spectrum" : "quark"),
                       message);
    }
}

/* Cost of measurements, at `rate` floating-point operations a second of all ranks. */
static void describe_measurements(const parameters *p, const int size[4], double rate)
{
    double volume = 1;
    for (int d = 0; d < 4; d++) volume *= size[d];
    for (int i = 0; i < p->nmeasures; i++) {
        const measure_params *m = &p->measures[i].p;
        const observable *o = observable_of(m);
        if (o->flops)
            log_info("cost: measure.%s takes about %.2g s each time", p->measures[i].name,
                     volume * o->flops(m, size) / rate);
    }
    describe_propagators(p, size);
}

/* The links of the file as the run reads them, where they are not too many for this machine. */
static void read_start(const parameters *p, const lattice *plan, int ignore_recorded)
{
    char need[32], have[32], message[1024];
    const double bytes = (double)field_bytes(plan, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const double there = memory_there(PLACE_HOST);
    /* Half of it leaves room for what else is there. */
    if (!comm_all(there == 0 || bytes < there / 2)) {
        log_warn("%s: only its header was checked; the links take %s per rank, and this machine has %s for each of its "
                 "ranks",
                 p->run.config, text_bytes(bytes, need), text_bytes(there, have));
        return;
    }
    log_info("reading %s", p->run.config);
    lattice *lat = simulation_lattice(p, NULL, NULL, NULL);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    if (simulation_read_first(p, lat, links, ignore_recorded, message, sizeof message))
        simulation_refuse_start(p, message);
    field_destroy(links);
    lattice_destroy(lat);
}

/* The file of the first configuration, if a run would read it; planned for other ranks, only what it says of itself. */
static void check_start(const parameters *p, const lattice *plan, int ranks, int ignore_recorded)
{
    char message[1024];
    links_info info;
    int64_t any;
    if (!parameters_start_reads(p)) return;
    const int there = checkpoint_find(p->run.output, &any, 1, message, sizeof message);
    if (there < 0) user_error("%s", message);
    if (there) {
        log_info("the run continues from the newest checkpoint in %s: %s is not read", p->run.output, p->run.config);
        return;
    }
    if (links_probe(p->run.config, &info, message, sizeof message) ||
        links_settle_size(&info, p->run.config, p->lattice.size, "[lattice] size", message, sizeof message))
        simulation_refuse_start(p, message);
    if (ranks == 0) read_start(p, plan, ignore_recorded);
}

static void print_json(const parameters *p, const lattice *lat, const schedule *s, const calibration *c,
                       const iterations_plan *iterations, place where, const memory_forecast *m)
{
    if (comm_rank() != 0) return;
    json j = json_begin(stdout);
    json_bool(&j, "dry_run", 1);
    json_int_array(&j, "lattice", lat->size, 4);
    json_int(&j, "ranks", s->ranks);
    json_int_array(&j, "grid", lat->grid, 4);
    json_int_array(&j, "local", lat->local, 4);
    json_string(&j, "place", where == PLACE_DEVICE ? "device" : "host");
    json_int(&j, "memory_predicted", (int64_t)memory_total(m));
    json_int(&j, "fields_predicted", (int64_t)m->fields);
    json_int(&j, "checkpoint_bytes", (int64_t)checkpoint_bytes(lat->size, strlen(p->dump)));
    json_int(&j, "kept", save_count(p));
    json_int(&j, "kept_bytes", (int64_t)save_bytes(p, lat->size) * save_count(p));
    json_int(&j, "propagator_bytes", (int64_t)propagator_bytes(p, lat->size, 0));
    json_int(&j, "disk_bytes", (int64_t)s->disk);
    json_real(&j, "trajectory_flops", s->flops);
    json_real(&j, "trajectory_seconds", s->trajectory);
    json_real(&j, "network_seconds", s->network);
    json_real(&j, "slower_without_lanes", s->slower);
    static const char *const sources[] = {"model", "history", "configuration"};
    for (int i = 0; i < p->nterms; i++) {
        char key[PARAM_STRING_SIZE + 32];
        if (!(iterations->solve[i] > 0)) continue;
        snprintf(key, sizeof key, "iterations_%s", p->terms[i].name);
        json_real(&j, key, iterations->solve[i]);
        snprintf(key, sizeof key, "iterations_%s_from", p->terms[i].name);
        json_string(&j, key, sources[iterations->source[i]]);
    }
    json_int(&j, "trajectories_left", s->left);
    json_real(&j, "run_seconds", s->run);
    json_int(&j, "nodes", s->nodes);
    json_real(&j, "node_hours", s->node_hours);
    json_string(&j, "calibration", c->path ? c->path : "this machine");
    json_end(&j);
}

/* A plan of a dry run: for so many ranks, or for those that there are (0). */
typedef struct {
    lattice *lat;
    place here, where; /* place on this machine, and in the plan */
    int ranks;
} planned;

static planned open_plan(const parameters *p, const int size[4], int ranks)
{
    planned o = {.ranks = ranks > 0 ? ranks : comm_size()};
    simulation_cpu(p);
    /* Ranks that are not there have devices that are not there. */
    o.here = ranks > 0 ? PLACE_HOST : simulation_place(p, NULL);
    tuning_discard(); /* a dry run writes nothing */
    o.where = ranks > 0 && p->machine.device == DEVICE_GPU ? PLACE_DEVICE : o.here;
    o.lat = simulation_plan(p, size, o.ranks);
    return o;
}

static void close_plan(const parameters *p, planned *o, int ranks, size_t bytes)
{
    char message[512];
    /* Memory is known of this machine alone. */
    if (ranks == 0 && memory_lacks(o->lat, (double)bytes, o->where, message, sizeof message))
        simulation_refuse(p, message);
    lattice_destroy(o->lat);
    log_info("dry run: everything is in order%s, nothing was run", ranks > 0 ? " as far as this machine can tell" : "");
}

void plan_dry_run(const parameters *p, int ranks, const char *file, const char *configuration, int as_json,
                  int ignore_recorded)
{
    planned o = open_plan(p, p->lattice.size, ranks);
    const lattice *lat = o.lat;
    blockings_describe(p, lat, o.where, 0, as_json);
    simulation_check_solvers(p, lat);
    check_functions(p);
    check_start(p, lat, ranks, ignore_recorded);
    char message[2048];
    if (ranks == 0 && !output_could_open(p->run.output, message, sizeof message))
        log_warn("%s: [run] output = %s: the run will not begin here: %s", ini_where(p->input, "run", NULL, "output"),
                 p->run.output, message);
    const memory_forecast m = memory_predicted(p, lat, o.where);
    describe(p, lat, o.where, &m);
    log_info("parameters:");
    text_log_lines(log_info, p->dump);
    iterations_plan iterations = iterations_model(p);
    const int64_t done = describe_past(p, &iterations);
    if (configuration) iterations_measure(&iterations, p, configuration);
    cost_part parts[MAX_ACTIONS];
    const calibration c =
        file ? calibration_read(file) : measured_here(lat, parts, cost_parts(p, &iterations, parts), o.here);
    const schedule s = schedule_of(p, lat, &c, o.ranks, o.where, &iterations, done);
    warn_of_lanes(lat, o.where, &c);
    describe_schedule(p, &s, &c, &iterations);
    describe_measurements(p, lat->size, o.ranks * calibration_rate(&c, CALIBRATION_GAUGE_FORCE, PREC_DOUBLE));
    if (as_json) print_json(p, lat, &s, &c, &iterations, o.where, &m);
    close_plan(p, &o, ranks, m.fields);
}

static void print_json_of_measurements(const parameters *p, const lattice *lat, int ranks, place where,
                                       const memory_forecast *m, const campaign *g, const calibration *c)
{
    if (comm_rank() != 0) return;
    json j = json_begin(stdout);
    json_bool(&j, "dry_run", 1);
    json_int_array(&j, "lattice", lat->size, 4);
    json_int(&j, "ranks", ranks);
    json_int_array(&j, "grid", lat->grid, 4);
    json_int_array(&j, "local", lat->local, 4);
    json_string(&j, "place", where == PLACE_DEVICE ? "device" : "host");
    json_int(&j, "memory_predicted", (int64_t)memory_total(m));
    json_int(&j, "fields_predicted", (int64_t)m->fields);
    json_int(&j, "propagator_bytes", (int64_t)propagator_bytes(p, lat->size, 0));
    json_int(&j, "configurations", g->configurations);
    json_real(&j, "solve_seconds", g->all_solves);
    json_real(&j, "configuration_seconds", g->configuration);
    json_real(&j, "seconds", g->total);
    json_real(&j, "node_hours", g->node_hours);
    json_int(&j, "disk_bytes", (int64_t)g->disk);
    json_string(&j, "left_out", g->left_out[0] ? g->left_out : NULL);
    json_string(&j, "calibration", c->path ? c->path : "this machine");
    json_end(&j);
}

void plan_dry_measure(const parameters *p, const int size[4], int64_t trajectory, long configurations, int ranks,
                      const char *file, int as_json)
{
    planned o = open_plan(p, size, ranks);
    char memory[256];
    blockings_describe(p, o.lat, o.where, 1, as_json);
    simulation_check_solvers(p, o.lat);
    const memory_forecast m = memory_measured(p, trajectory, o.lat, o.where);
    describe_lattice(o.lat, o.where);
    log_info("%s", memory_describe(&m, memory, sizeof memory));
    campaign g = campaign_of(p, size, configurations);
    cost_part parts[CAMPAIGN_MOST];
    for (int i = 0; i < g.n; i++) parts[i] = g.solves[i].part;
    const calibration c = file ? calibration_read(file) : measured_here(o.lat, parts, g.n, o.here);
    campaign_time(&g, p, o.lat, o.ranks, &c, slower_for_lanes(o.lat, &c, o.where), propagator_bytes(p, size, 0));
    warn_of_lanes(o.lat, o.where, &c);
    describe_measurements(p, size, o.ranks * calibration_rate(&c, CALIBRATION_GAUGE_FORCE, PREC_DOUBLE));
    describe_rates(&c);
    campaign_describe(&g);
    if (as_json) print_json_of_measurements(p, o.lat, o.ranks, o.where, &m, &g, &c);
    close_plan(p, &o, ranks, m.fields);
}
