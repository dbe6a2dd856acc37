/* plaq run: generates an ensemble, from its first configuration or from the newest good checkpoint.
 *
 * State between trajectories is the links and the trajectory number: every random number is a function of the seed, the
 * number and the site. So a run that is stopped, killed, or continued on other ranks goes on with the same bits. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hmc/commands.h"
#include "hmc/measure/observable.h"
#include "hmc/record.h"
#include "hmc/report.h"
#include "hmc/simulation.h"
#include "io/atomic.h"
#include "io/checkpoint.h"
#include "io/links.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/base/pool.h"
#include "kernels/gauge.h"
#include "kernels/kernels.h"
#include "kernels/lattice/comm.h"

/* ---- reasons to stop ---- */

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
    caught = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

/* A signal may have reached one rank only. */
static int signal_somewhere(void)
{
    double signal_number = caught;
    comm_max(&signal_number, 1);
    if (signal_number > 0) caught = (int)signal_number;
    return signal_number > 0;
}

/* Seconds that remain by max_hours or the end of the Slurm job, as rank 0 sees it; infinite without a limit. */
static double seconds_left(const parameters *p, double begun)
{
    double left = INFINITY;
    if (p->run.max_hours > 0) left = p->run.max_hours * 3600 - (comm_wtime() - begun);
    const char *end = getenv("SLURM_JOB_END_TIME");
    if (p->run.max_hours == 0 && end && atoll(end) > 0) left = (double)atoll(end) - (double)time(NULL);
    comm_bcast(&left, sizeof left);
    return left;
}

/* ---- state ---- */

typedef struct {
    parameters *p;
    simulation *s;
    record *history;
    char input[1024]; /* the input file and the words after it, for the advice at the end */
    int64_t done, accepted, session_start;
    int64_t saved;                     /* trajectory number of the newest checkpoint */
    double begun, io_seconds, longest; /* longest: seconds of the slowest trajectory or checkpoint so far */
    int json;
    char stopped[640]; /* why, when not all trajectories were done */
    int failed;
} run_state;

static void refuse_changes(const checkpoint *c, const parameters *p, const char *path, int accept)
{
    int n;
    const param_section *const *sections = parameter_sections(&n);
    param_text differences = {0};
    const int changed = params_compare(c->parameters, p->dump, sections, n, &differences);
    if (changed && !accept)
        user_error("%s was made with other physics parameters:\n%s  To go on with the new ones all the same: plaq run "
                   "--accept-changes ...; to start afresh give another [run] output",
                   path, differences.data);
    if (changed) log_warn("continuing with changed parameters:\n%s", differences.data);
    param_text_free(&differences);
}

static void start_or_continue(run_state *r, int accept)
{
    const char *folder = r->p->run.output;
    char path[1024], message[1024], digest[65];
    checkpoint c;
    const double start = comm_wtime();
    const int found = checkpoint_read_newest(folder, r->s->links, &c, path, sizeof path, message, sizeof message);
    if (found < 0) user_error("%s", message);
    if (found) {
        refuse_changes(&c, r->p, path, accept);
        r->done = r->saved = c.trajectory;
        r->accepted = c.accepted;
        log_info("continuing from %s: %lld trajectories done, digest %s", path, (long long)c.trajectory, c.digest);
        checkpoint_free(&c);
    } else {
        simulation_start(r->s);
        r->saved = -1;
        links_digest(r->s->links, digest);
        log_info("starting: %s%s%s, digest %s", r->p->run.start, r->p->run.config[0] ? " " : "", r->p->run.config,
                 digest);
    }
    r->session_start = r->done;
    r->history = record_open(folder, r->s, r->done);
    r->io_seconds += comm_wtime() - start;
}

static void save(run_state *r, double plaquette)
{
    char message[1024];
    const double start = comm_wtime();
    checkpoint c = {.trajectory = r->done,
                    .accepted = r->accepted,
                    .seed = (uint64_t)r->p->run.seed,
                    .plaquette = plaquette,
                    .parameters = r->p->dump};
    snprintf(c.program, sizeof c.program, "plaq %s", PLAQ_VERSION);
    record_sync(r->history);
    if (checkpoint_write(r->p->run.output, r->s->links, &c, r->p->checkpoint.keep, message, sizeof message))
        user_error("%s; the run stands at the checkpoint before", message);
    r->saved = r->done;
    const double seconds = comm_wtime() - start;
    r->io_seconds += seconds;
    log_info("checkpoint %lld: digest %s (%.2f s)", (long long)r->done, c.digest, seconds);
}

/* ---- progress ---- */

static void print_progress(const run_state *r, const trajectory_result *t, double plaquette)
{
    char eta[32];
    const record_averages a = record_average(r->history);
    const double each = (comm_wtime() - r->begun) / (double)(r->done - r->session_start);
    const int warm = r->done <= r->p->run.warmup;
    char averages[96] = "warm-up";
    if (!warm)
        snprintf(averages, sizeof averages, "acceptance %.2f  <exp(-dH)> %.3f(%.3f)", a.acceptance, a.exp_dh,
                 a.exp_dh_error);
    log_info("trajectory %lld/%lld  plaquette %.6f  dH %+9.4f  %s  %s  %.2f s  ETA %s", (long long)r->done,
             (long long)r->p->run.trajectories, plaquette, t->dh, t->accepted ? "yes" : "no ", averages, t->seconds,
             report_duration(each * (double)(r->p->run.trajectories - r->done), eta));
    for (int i = 0; i < r->s->e.nactions; i++)
        log_debug("  %-16s force %.4f  iterations %ld  %.3f s", r->s->e.actions[i]->name, t->force_mean[i],
                  t->iterations[i], t->force_seconds[i]);
}

static void print_summary(const run_state *r)
{
    const record_averages a = record_average(r->history);
    const double seconds = comm_wtime() - r->begun;
    char digest[65], history_hex[65], time_text[32];
    links_digest(r->s->links, digest);
    record_digest(r->history, history_hex);
    if (r->json && comm_rank() == 0) {
        json j = json_begin(stdout);
        json_int(&j, "trajectories", r->done);
        json_bool(&j, "finished", r->done >= r->p->run.trajectories);
        json_real(&j, "acceptance", a.acceptance);
        json_real(&j, "exp_dh", a.exp_dh);
        json_real(&j, "exp_dh_error", a.exp_dh_error);
        json_real(&j, "plaquette", a.plaquette);
        json_real(&j, "plaquette_error", a.plaquette_error);
        json_string(&j, "digest", digest);
        json_string(&j, "history_digest", history_hex);
        json_int_array(&j, "grid", r->s->lat->grid, 4);
        json_real(&j, "seconds", seconds);
        json_string(&j, "output", r->p->run.output);
        json_end(&j);
    }
    report_profile(seconds, r->io_seconds);
    log_info("%lld trajectories in %s, %lld in all", (long long)(r->done - r->session_start),
             report_duration(seconds, time_text), (long long)r->done);
    if (a.count > 0) {
        log_info("  over %ld after the warm-up:", a.count);
        log_info("  plaquette    %.6f +- %.6f", a.plaquette, a.plaquette_error);
        log_info("  acceptance   %.3f +- %.3f", a.acceptance, a.acceptance_error);
        log_info("  <exp(-dH)>   %.3f +- %.3f   (1 within errors when all is well)", a.exp_dh, a.exp_dh_error);
    }
    char peak[32], predicted[32];
    log_info("memory: %s a rank for fields at the peak, %s predicted",
             report_bytes((double)pool_peak(r->s->links->where), peak),
             report_bytes((double)report_memory(r->p, r->s->lat, r->s->links->where), predicted));
    log_info("digests: links %s, history %s", digest, history_hex);
    log_info("results: %s/history.h5 (h5dump, h5py), newest configuration %s/checkpoint-%06lld.h5", r->p->run.output,
             r->p->run.output, (long long)r->saved);
    if (r->stopped[0]) log_info("stopped: %s", r->stopped);
    if (r->done < r->p->run.trajectories) log_info("to go on: plaq run %s", r->input);
    else
        log_info("next: raise [run] trajectories to go on, or measure: plaq measure %s %s/checkpoint-%06lld.h5",
                 r->input, r->p->run.output, (long long)r->saved);
}

/* ---- the loop ---- */

/* One trajectory; false when the run has to stop. */
static int one_trajectory(run_state *r, double *plaquette)
{
    const random_key key = {(uint64_t)r->p->run.seed, (uint32_t)(r->done + 1)};
    const trajectory_result t = trajectory_run(&r->s->e, key, r->p->run.length, r->done < r->p->run.warmup);
    if (t.status == EVOLVE_INTERRUPTED) {
        snprintf(r->stopped, sizeof r->stopped, "signal %d; the trajectory in hand was given up and will be repeated",
                 (int)caught);
        return 0;
    }
    if (t.status == EVOLVE_FAILED) {
        snprintf(r->stopped, sizeof r->stopped, "trajectory %lld failed: %s", (long long)r->done + 1, t.trouble);
        r->failed = 1;
        return 0;
    }
    const gauge_loops loops = gauge_measure(r->s->links, 0);
    *plaquette = loops.plaquette;
    r->done++;
    r->accepted += t.accepted;
    record_add(r->history, r->done, &t, loops.plaquette, loops.link_trace);
    r->longest = fmax(r->longest, t.seconds);
    print_progress(r, &t, loops.plaquette);
    measure_result *results;
    const int n = measure_during_run(r->s, r->done, &results);
    for (int i = 0; i < n; i++) record_measurement(r->history, r->done, &results[i]);
    measure_results_free(results, n);
    return 1;
}

static void loop(run_state *r)
{
    double plaquette = gauge_measure(r->s->links, 0).plaquette;
    const int64_t interval = r->p->checkpoint.interval;
    while (r->done < r->p->run.trajectories && !r->stopped[0]) {
        /* Time for one more trajectory, a little longer than any before, and for the checkpoint. */
        if (seconds_left(r->p, r->begun) < 1.5 * r->longest + 30 && r->done > r->session_start)
            snprintf(r->stopped, sizeof r->stopped, "the time limit is near");
        else if (signal_somewhere()) snprintf(r->stopped, sizeof r->stopped, "signal %d", (int)caught);
        else if (one_trajectory(r, &plaquette) && r->done % interval == 0) save(r, plaquette);
    }
    if (r->saved != r->done) save(r, plaquette);
}

/* ---- before a run ---- */

static void describe(const run_state *r)
{
    const lattice *l = r->s->lat;
    char memory[32], file[32];
    log_info("lattice %d.%d.%d.%d on grid %d.%d.%d.%d: %d.%d.%d.%d a rank, %d lanes in double, %d in single",
             l->size[0], l->size[1], l->size[2], l->size[3], l->grid[0], l->grid[1], l->grid[2], l->grid[3],
             l->local[0], l->local[1], l->local[2], l->local[3], r->s->links->lay->lanes, field_lanes(l, PREC_SINGLE));
    log_info("memory %s a rank for fields; checkpoint %s",
             report_bytes((double)report_memory(r->p, l, r->s->links->where), memory),
             report_bytes((double)checkpoint_bytes(l->size, strlen(r->p->dump)), file));
}

#define TYPICAL_ITERATIONS 200

/* Floating-point operations a second of all ranks together, from one gauge force. */
static double measured_rate(simulation *s)
{
    momenta_zero(s->e.force);
    gauge_force(s->e.force, s->links, 1, 0);
    kernel_counts_reset();
    gauge_force(s->e.force, s->links, 1, 0);
    const kernel_count c = kernel_counted(KERNEL_gauge_force, PREC_DOUBLE);
    return comm_size() * c.flops / c.seconds;
}

static int dry_run(run_state *r)
{
    describe(r);
    log_info("parameters:\n%s", r->p->dump);
    const double flops = report_flops(r->p, TYPICAL_ITERATIONS), rate = measured_rate(r->s);
    log_info("cost: about %.2g floating-point operations a trajectory if a solve takes %d iterations: %.2g s at the "
             "%.1f GF/s "
             "of the gauge force here",
             flops, TYPICAL_ITERATIONS, flops / rate, 1e-9 * rate);
    if (!strcmp(r->p->run.start, "file")) {
        char message[1024];
        links_info info;
        if (links_probe(r->p->run.config, &info, message, sizeof message)) user_error("%s", message);
        for (int d = 0; d < 4; d++)
            if (info.size[d] != r->p->lattice.size[d])
                user_error("%s holds a lattice %d.%d.%d.%d, but [lattice] size is %d.%d.%d.%d", r->p->run.config,
                           info.size[0], info.size[1], info.size[2], info.size[3], r->p->lattice.size[0],
                           r->p->lattice.size[1], r->p->lattice.size[2], r->p->lattice.size[3]);
    }
    log_info("dry run: everything is in order, nothing was run");
    return 0;
}

static void set_log(const char *level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(names[i], level)) log_set_level((log_level)i);
}

int command_run(int argc, char **argv)
{
    int dry = 0, accept = 0;
    run_state r = {.begun = comm_wtime()};
    const command_flag flags[] = {
        {"--dry-run", &dry, NULL, "check everything and print decomposition, memory, sizes and cost; run nothing"},
        {"--accept-changes", &accept, NULL, "continue although physics parameters differ from the checkpoint's"},
        {"--json", &r.json, NULL, "the summary as a JSON object on standard output, all else on standard error"}};
    plain_arguments a = command_arguments(argc, argv, flags, 3, 1, 1);
    log_keep_stdout_clean(r.json);
    snprintf(r.input, sizeof r.input, "%s", a.plain[0]);
    for (int i = 0; i < a.noverride; i++) {
        const size_t used = strlen(r.input);
        snprintf(r.input + used, sizeof r.input - used, " %s", a.overrides[i]);
    }
    r.p = parameters_read(a.plain[0], a.noverride, a.overrides, NEED_GAUGE | NEED_INTEGRATOR);
    set_log(r.p->run.log);
    r.s = simulation_create(r.p);
    int status = 0;
    if (dry) {
        status = dry_run(&r);
    } else {
        output_open(r.p->run.output);
        describe(&r);
        log_debug("parameters:\n%s", r.p->dump);
        catch_signals();
        r.s->e.interrupted = signal_somewhere;
        start_or_continue(&r, accept);
        kernel_counts_reset();
        r.begun = comm_wtime();
        r.io_seconds = 0;
        loop(&r);
        print_summary(&r);
        if (r.failed) {
            log_error("%s. The last checkpoint stands: loosen the tolerance, raise max_iterations or name a fallback, "
                      "then go on",
                      r.stopped);
            status = EXIT_RUN_STOPPED;
        }
        record_close(r.history);
        output_close();
    }
    simulation_destroy(r.s);
    parameters_free(r.p);
    command_arguments_free(&a);
    return status;
}
