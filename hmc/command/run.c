/* plaq run: generates an ensemble, from its first configuration or from the newest good checkpoint.
 *
 * State between trajectories is the links and the trajectory number: every random number is a function of the seed, the
 * number and the site. So a run that is stopped, killed, or continued on other ranks goes on with the same bits.
 *
 * A pass of the loop is a trajectory, a checkpoint when one is due, and the measurements that are due. The checkpoint
 * comes first, lest a trajectory be lost in a long measurement; measurements whose rows are missing after a restart are
 * made then. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/eigenvectors.h"
#include "hmc/measure/positions.h"
#include "hmc/plan/forecast.h"
#include "hmc/plan/plan.h"
#include "hmc/assemble/simulation.h"
#include "hmc/assemble/threads.h"
#include "hmc/command/commands.h"
#include "hmc/command/run_state.h"
#include "hmc/command/stop.h"
#include "hmc/tell/life.h"
#include "hmc/assemble/changes.h"
#include "hmc/assemble/identity.h"
#include "hmc/measure/propagator_disk.h"
#include "hmc/record/record.h"
#include "hmc/tell/text.h"
#include "hmc/record/save.h"
#include "hmc/report/ensemble.h"
#include "io/files/atomic.h"
#include "io/files/file_time.h"
#include "io/history/checkpoint.h"
#include "io/links/links.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "kernels/run/exchange.h"
#include "kernels/run/kernel.h"
#include "kernels/run/tune.h"
#include "solvers/solver.h"

static void start_or_continue(run_state *r)
{
    const char *folder = r->p->run.output;
    char path[1024], message[1024];
    checkpoint c;
    const double start = comm_wtime();
    const int found = checkpoint_read_newest(folder, r->s->links, &c, path, sizeof path, message, sizeof message);
    if (found < 0) user_error("%s", message);
    if (found) {
        changes_judge(path, c.parameters, r->p, r->accept);
        r->done = r->saved = c.trajectory;
        r->accepted = c.accepted;
        memcpy(r->digest, c.digest, sizeof r->digest);
        log_info("continuing from %s: %lld trajectories done, digest %s", path, (long long)c.trajectory, c.digest);
        checkpoint_free(&c);
        if (r->ignore_recorded) log_info("--ignore-recorded has no effect: %s is not read", r->p->run.config);
    } else {
        simulation_start(r->s, r->ignore_recorded);
        r->saved = -1;
        links_digest(r->s->links, r->digest);
        log_info("starting: %s%s%s, digest %s", parameters_start(r->p), r->p->run.config[0] ? " " : "",
                 r->p->run.config, r->digest);
    }
    r->session_start = r->done;
    r->history = record_open(folder, r->s, r->done);
    if (save_restore_index(r->p, r->history, r->s->lat, message, sizeof message)) user_error("%s", message);
    watch_open(&r->watch, &r->p->watch, r->s->e.actions);
    r->watch.n = record_recent(r->history, r->watch.rows, WATCH_MOST);
    /* Reading takes about as long as a checkpoint, of which none is written yet. */
    r->longest_save = comm_wtime() - start;
}

/* ---- the page ---- */

/* Writes the page of the run. One that cannot be written is no reason to stop. */
static void write_report(run_state *r)
{
    char message[1024];
    const double start = comm_wtime();
    ensemble *e = comm_rank() == 0 ? ensemble_read(r->p->run.output, 0, message, sizeof message) : NULL;
    if (comm_rank() == 0 && (!e || ensemble_write_page(e, NULL, message, sizeof message)))
        log_warn("the report is not written: %s", message);
    ensemble_free(e);
    comm_barrier();
    file_time_add(start);
}

/* The run stops, and stands where its newest checkpoint is. */
static void stop_for_files(run_state *r, const char *message)
{
    snprintf(r->stopped, sizeof r->stopped, "after trajectory %lld: %s", (long long)r->done, message);
    r->failed = r->files_failed = 1;
    r->advice = "make room or mend the folder, then continue";
    r->done = r->saved > 0 ? r->saved : 0;
}

/* Sets the advice for a lack of memory from now on. */
static void note_checkpoint(const run_state *r)
{
    char advice[PARAM_STRING_SIZE + 192], newest[PARAM_STRING_SIZE + 64] = "no checkpoint has been written yet";
    if (r->saved >= 0)
        snprintf(newest, sizeof newest, "the last checkpoint stands (%s/checkpoint-%06lld.h5)", r->p->run.output,
                 (long long)r->saved);
    snprintf(advice, sizeof advice, "%s: use more nodes, and give the same command again", newest);
    error_set_memory(EXIT_RUN_STOPPED, advice);
}

static void save(run_state *r, double plaquette)
{
    char message[1024];
    const double start = comm_wtime();
    param_text ensemble = identity_of_ensemble(r->p);
    checkpoint c = {.trajectory = r->done,
                    .accepted = r->accepted,
                    .seed = (uint64_t)r->p->run.seed,
                    .plaquette = plaquette,
                    .parameters = r->p->dump,
                    .ensemble = r->p->save.ensemble,
                    .physics = ensemble.data};
    snprintf(c.program, sizeof c.program, "%s", identity_of_program());
    int bad = record_sync(r->history, message, sizeof message);
    if (!bad) bad = checkpoint_write(r->p->run.output, r->s->links, &c, r->p->checkpoint.keep, message, sizeof message);
    param_text_free(&ensemble);
    if (bad) {
        stop_for_files(r, message);
        if (bad == CHECKPOINT_BAD_LINKS)
            r->advice =
                "the memory of this machine or GPU is not to be trusted: have it tested, and continue elsewhere";
        return;
    }
    r->saved = r->done;
    note_checkpoint(r);
    memcpy(r->digest, c.digest, sizeof r->digest);
    const double seconds = file_time_add(start);
    r->longest_save = fmax(r->longest_save, seconds);
    log_info("checkpoint %lld: digest %s (%.2f s)", (long long)r->done, c.digest, seconds);
    if (r->p->run.report == REPORT_CHECKPOINTS) write_report(r);
}

/* The configuration that is kept of the trajectory done, unless it was kept before. */
static void keep(run_state *r, double plaquette)
{
    char message[1024], trouble[1024];
    if (!save_due(r->p, r->done)) return;
    const double start = comm_wtime();
    const int status = save_configuration(r->p, r->s->links, r->done, plaquette, message, sizeof message);
    const int unlisted =
        status >= 0 && save_index(r->p, r->history, r->s->links, r->done, plaquette, trouble, sizeof trouble);
    if (status < 0 || unlisted) {
        stop_for_files(r, unlisted ? trouble : message);
        return;
    }
    const double seconds = file_time_add(start);
    r->longest_save = fmax(r->longest_save, seconds);
    if (status > 0) return;
    r->kept++;
    log_info("kept %s (%.2f s)", message, seconds);
}

/* ---- the loop ---- */

static void begin_measurement(void *context, int i, const char *where)
{
    const run_state *r = context;
    char message[1024];
    snprintf(message, sizeof message, "measure.%s after trajectory %lld%s", r->p->measures[i].name, (long long)r->done,
             where);
    life_begin(message);
}

/* Records a measurement; true if the run has to stop. */
static int end_measurement(void *context, int i, measure_result *result)
{
    run_state *r = context;
    const named_measure *m = &r->p->measures[i];
    char message[1024];
    life_begin(NULL);
    if (result->given_up)
        snprintf(r->stopped, sizeof r->stopped, "signal %d; measure.%s was given up and will be repeated",
                 stop_signal(), m->name);
    else if (result->failed) {
        r->failed_measurements[i]++;
        log_warn("measure.%s after trajectory %lld failed: %s", m->name, (long long)r->done, result->trouble);
    }
    if (record_measurement(r->history, r->done, result, message, sizeof message)) stop_for_files(r, message);
    measure_result_free(result);
    return r->stopped[0] != 0;
}

/* The measurements due after the trajectory done, but for those whose rows are there. */
static void make_measurements(run_state *r)
{
    const measure_context c = {r->p, r->s->links, r->s, stop_signal, r->done, NULL};
    int due[MAX_NAMED];
    for (int i = 0; i < r->p->nmeasures; i++) {
        const named_measure *m = &r->p->measures[i];
        due[i] = r->done != 0 && r->done % m->p.interval == 0 && !record_has_measurement(r->history, r->done, m);
    }
    measure_due(&c, due, &(measure_calls){r, begin_measurement, end_measurement});
}

/* An alarm that ends the run, after a checkpoint. */
static void stop_for_alarm(run_state *r, int alarm, const char *message)
{
    if (alarm < 0) return;
    snprintf(r->stopped, sizeof r->stopped, "%s", message);
    r->failed = 1;
    r->advice = watch_advice(alarm);
}

/* Reversibility, where it is due after the trajectory done and not measured before. */
static void check_reversal(run_state *r)
{
    char message[1024];
    const random_key key = {(uint64_t)r->p->run.seed, (uint32_t)r->done};
    if (r->stopped[0] || r->done == 0 || !watch_reversal_due(&r->p->watch, r->done) ||
        record_has_reversal(r->history, r->done))
        return;
    const reversal m = reversal_measure(&r->s->e, key, r->p->run.length);
    if (m.status == EVOLVE_INTERRUPTED) {
        snprintf(r->stopped, sizeof r->stopped, "signal %d; the check of reversibility will be repeated",
                 stop_signal());
        return;
    }
    if (m.failed) log_warn("%s", m.failed->trouble);
    log_info("reversibility after trajectory %lld: |dH| %.2e, links %.1e, momenta %.1e", (long long)r->done, fabs(m.dh),
             m.links, m.momenta);
    if (record_reversal(r->history, r->done, &m, message, sizeof message)) {
        stop_for_files(r, message);
        return;
    }
    const int alarm = watch_reversal(&r->watch, r->done, m.dh, message, sizeof message);
    stop_for_alarm(r, alarm, message);
}

static void look_at_trajectory(run_state *r, const trajectory_result *t, double plaquette)
{
    char message[1024];
    watch_row row = {.trajectory = r->done,
                     .accepted = t->accepted,
                     .nactions = r->s->e.nactions,
                     .dh = t->dh,
                     .plaquette = plaquette,
                     .residual = t->worst_residual};
    for (int i = 0; i < row.nactions; i++) {
        row.force[i] = t->force_mean[i];
        row.iterations[i] = (double)t->iterations[i];
    }
    if (r->done < record_from(r->history)) return;
    const int alarm = watch_look(&r->watch, &row, message, sizeof message);
    stop_for_alarm(r, alarm, message);
}

/* Runs a trajectory; false when the run has to stop. */
static int one_trajectory(run_state *r, double *plaquette)
{
    char message[1024];
    const random_key key = {(uint64_t)r->p->run.seed, (uint32_t)(r->done + 1)};
    char what[64];
    snprintf(what, sizeof what, "trajectory %lld", (long long)r->done + 1);
    life_begin(what);
    const double copied = field_copied_bytes(), filtered = quark_set_filtered(r->s->quarks);
    const trajectory_result t = trajectory_run(&r->s->e, key, r->p->run.length, r->done < r->p->run.warmup);
    life_begin(NULL);
    r->trajectory_bytes += field_copied_bytes() - copied;
    if (t.status == EVOLVE_INTERRUPTED) {
        snprintf(r->stopped, sizeof r->stopped, "signal %d; the trajectory in hand was given up and will be repeated",
                 stop_signal());
        return 0;
    }
    if (t.status == EVOLVE_FAILED) {
        snprintf(r->stopped, sizeof r->stopped, "trajectory %lld failed: %s", (long long)r->done + 1, t.trouble);
        r->failed = 1;
        r->advice = t.advice;
        return 0;
    }
    const gauge_loops loops = gauge_measure(r->s->links, 0);
    *plaquette = loops.plaquette;
    r->done++;
    r->accepted += t.accepted;
    if (record_add(r->history, r->done, &t, &loops, quark_set_filtered(r->s->quarks) - filtered, message,
                   sizeof message)) {
        stop_for_files(r, message);
        return 0;
    }
    run_print_progress(r, &t, loops.plaquette);
    look_at_trajectory(r, &t, loops.plaquette);
    return !r->stopped[0];
}

/* Time for one more pass, a little longer than any before, and for what comes after the last. */
static int time_is_up(const run_state *r)
{
    return stop_seconds_left(r->p) < 1.5 * r->longest + 1.5 * r->longest_save + 1;
}

static void loop(run_state *r)
{
    const double begun = comm_wtime();
    double plaquette = gauge_measure(r->s->links, 0).plaquette;
    keep(r, plaquette);
    check_reversal(r);
    make_measurements(r);
    r->longest = comm_wtime() - begun;
    while (r->done < r->p->run.trajectories && !r->stopped[0]) {
        const double start = comm_wtime();
        if (r->done > r->session_start && time_is_up(r))
            snprintf(r->stopped, sizeof r->stopped, "the time limit is near");
        else if (stop_signal()) snprintf(r->stopped, sizeof r->stopped, "signal %d", stop_signal());
        else if (one_trajectory(r, &plaquette)) {
            /* A kept configuration is never before the newest checkpoint, so no run makes it twice. */
            if (r->done % r->p->checkpoint.interval == 0 || save_due(r->p, r->done)) save(r, plaquette);
            if (!r->files_failed) keep(r, plaquette);
            check_reversal(r);
            make_measurements(r);
        }
        r->longest = fmax(r->longest, comm_wtime() - start);
    }
    if (r->saved != r->done && !r->files_failed) save(r, plaquette);
}

static int run(run_state *r)
{
    char message[1024];
    output_open(r->p->run.output);
    log_info("%s; %s; %d rank%s of %d thread%s, %s", identity_of_program(), identity_of_compilers(), comm_size(),
             comm_size() == 1 ? "" : "s", threads_now(), threads_now() == 1 ? "" : "s",
             r->s->links->where == PLACE_DEVICE ? gpu_name() : "CPU");
    plan_describe(r->p, r->s->lat, r->s->links->where);
    log_debug("parameters:");
    text_log_lines(log_debug, r->p->dump);
    r->s->e.interrupted = stop_signal;
    solver_interrupt_by(stop_signal);
    start_or_continue(r);
    r->since = profile_open();
    r->begun = r->since.begun;
    note_checkpoint(r);
    life_open();
    loop(r);
    life_close();
    run_print_summary(r);
    if (record_close(r->history, message, sizeof message) && !r->failed) stop_for_files(r, message);
    if (r->p->run.report != REPORT_NO && !r->files_failed) write_report(r);
    output_close();
    if (r->failed) run_print_advice(r);
    const int nothing = watch_nothing_accepted(&r->watch, message, sizeof message);
    const int64_t unmeasured = r->failed ? 0 : run_print_failed_measurements(r);
    if (nothing) log_error("%s", message);
    watch_close(&r->watch);
    return r->failed ? EXIT_RUN_STOPPED : nothing || unmeasured ? EXIT_CHECK_FAILED : 0;
}

/* ---- the command ---- */

int command_run(int argc, char **argv)
{
    int dry = 0, status = 0;
    const char *ranks_text = NULL, *calibration = NULL, *configuration = NULL;
    run_state r = {.begun = comm_wtime()};
    const command_flag flags[] = {
        {"--dry-run", &dry, NULL, "check everything and print decomposition, memory, sizes and cost; run nothing"},
        {"--ranks", NULL, &ranks_text, "with --dry-run: plan for this many ranks"},
        {"--calibration", NULL, &calibration,
         "with --dry-run: plan for the machine where plaq bench --calibrate wrote this file"},
        {"--configuration", NULL, &configuration,
         "with --dry-run: measure iterations of solves on this configuration, of the lattice of the input"},
        {"--accept-changes", &r.accept, NULL, "continue although physics parameters differ from the checkpoint's"},
        FLAG_IGNORE_RECORDED(&r.ignore_recorded),
        {"--json", &r.json, NULL, "the summary as a JSON object on standard output, all else on standard error"}};
    plain_arguments a = command_arguments(argc, argv, flags, sizeof flags / sizeof flags[0], 1, 1);
    log_keep_stdout_clean(r.json);
    run_add_shell_word(&r.input, a.plain[0]);
    for (int i = 0; i < a.noverride; i++) run_add_shell_word(&r.input, a.overrides[i]);
    const int ranks = command_ranks(ranks_text, "run");
    if (!dry) stop_catch_signals();
    if (ranks && !dry) user_error("plaq run: --ranks plans a run and needs --dry-run; mpirun -n %d starts one", ranks);
    if (calibration && !dry) user_error("plaq run: --calibration %s is for a plan and needs --dry-run", calibration);
    if (configuration && !dry)
        user_error("plaq run: --configuration %s is for a plan and needs --dry-run; [run] start = file begins with one",
                   configuration);
    r.p = parameters_read(a.plain[0], a.noverride, a.overrides, NEED_GAUGE | NEED_INTEGRATOR);
    eigenvectors_refuse(r.p, "run");
    propagator_disk_need_patterns(r.p);
    if (r.ignore_recorded && !parameters_start_reads(r.p))
        user_error("plaq run: --ignore-recorded is for the file of [run] start = file, and start is %s",
                   parameters_start(r.p));
    command_set_log(r.p);
    stop_check();
    if (dry) {
        plan_dry_run(r.p, ranks, calibration, configuration, r.json, r.ignore_recorded);
    } else {
        r.s = simulation_create(r.p, memory_of_run);
        status = run(&r);
        simulation_destroy(r.s);
    }
    param_text_free(&r.input);
    parameters_free(r.p);
    command_arguments_free(&a);
    return status;
}
