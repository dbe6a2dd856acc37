#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/assemble/memory.h"
#include "hmc/command/commands.h"
#include "hmc/command/run_state.h"
#include "hmc/integrate/balance.h"
#include "hmc/plan/forecast.h"
#include "hmc/record/profile.h"
#include "hmc/tell/text.h"
#include "hmc/record/save.h"
#include "hmc/report/ensemble.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/kernel.h"
#include "kernels/run/tune.h"

/* An average and its error, which one value alone does not have. */
typedef struct {
    char text[64];
} average_text;

static average_text average(const autocorrelation *a, int digits)
{
    average_text t;
    const int n = snprintf(t.text, sizeof t.text, "%.*f", digits, a->mean);
    if (!isnan(a->error)) snprintf(t.text + n, sizeof t.text - (size_t)n, " +- %.*f", digits, a->error);
    return t;
}

/* Average of exp(-dH), which is huge before equilibrium, with the text before and behind the error. */
static average_text exp_average(const autocorrelation *a, const char *before, const char *behind)
{
    average_text t;
    const int n = snprintf(t.text, sizeof t.text, fabs(a->mean) < 1e4 ? "%.3f" : "%.1e", a->mean);
    if (isnan(a->error)) return t;
    char e[32];
    snprintf(e, sizeof e, fabs(a->error) < 1e4 ? "%.3f" : "%.1e", a->error);
    snprintf(t.text + n, sizeof t.text - (size_t)n, "%s%s%s", before, e, behind);
    return t;
}

void run_print_progress(const run_state *r, const trajectory_result *t, double plaquette)
{
    char eta[32];
    const record_averages a = record_average(r->history);
    const double each = (comm_wtime() - r->begun) / (double)(r->done - r->session_start);
    const int warm = r->done <= r->p->run.warmup;
    char averages[96] = "warm-up";
    if (!warm)
        snprintf(averages, sizeof averages, "acceptance %.2f  <exp(-dH)> %s", a.acceptance.mean,
                 exp_average(&a.exp_dh, "(", ")").text);
    log_info("trajectory %lld/%lld  plaquette %.6f  dH %+9.4f  %s  %s  %.2f s  ETA %s", (long long)r->done,
             (long long)r->p->run.trajectories, plaquette, t->dh, t->accepted ? "yes" : "no ", averages, t->seconds,
             text_duration(each * (double)(r->p->run.trajectories - r->done), eta));
    for (int i = 0; i < r->s->e.nactions; i++)
        log_debug("  %-16s force %.4f  iterations %ld  %.3f s", r->s->e.actions[i]->name, t->force_mean[i],
                  t->iterations[i], t->force_seconds[i]);
    for (int i = 0; i < r->s->e.nactions; i++)
        if (r->s->e.actions[i]->has_spectrum)
            log_debug("  %-16s spectrum within %.4e to %.4e", r->s->e.actions[i]->name, t->spectrum_low[i],
                      t->spectrum_high[i]);
}

int run_finished(const run_state *r)
{
    return r->done >= r->p->run.trajectories && !r->failed && !r->stopped[0];
}

/* Bytes of memory: the largest so far, of the process and of its fields, and the forecast. */
typedef struct {
    size_t peak, fields_peak;
    memory_forecast predicted;
} memory_use;

static void print_json(const run_state *r, const record_averages *a, const char *history_hex, double seconds,
                       const memory_use *memory)
{
    if (comm_rank() != 0) return;
    json j = json_begin(stdout);
    json_int(&j, "trajectories", r->done);
    json_bool(&j, "finished", run_finished(r));
    json_string(&j, "stopped", r->stopped[0] ? r->stopped : NULL);
    const char *names[MAX_NAMED];
    for (int i = 0; i < r->p->nmeasures; i++) names[i] = r->p->measures[i].name;
    json_counts(&j, "failed_measurements", names, r->failed_measurements, r->p->nmeasures);
    const char *alarms[WATCH_ALARMS];
    for (int i = 0; i < WATCH_ALARMS; i++) alarms[i] = watch_name(i);
    json_counts(&j, "alarms", alarms, r->watch.count, WATCH_ALARMS);
    json_int(&j, "stretch", a->stretch);
    json_int(&j, "averages_from", a->from);
    json_int(&j, "acceptance_from", a->acceptance_from);
    json_real(&j, "acceptance", a->acceptance.mean);
    json_real(&j, "exp_dh", a->exp_dh.mean);
    json_real(&j, "exp_dh_error", a->exp_dh.error);
    json_real(&j, "plaquette", a->plaquette.mean);
    json_real(&j, "plaquette_error", a->plaquette.error);
    json_real(&j, "plaquette_tau_int", a->plaquette.tau);
    json_real(&j, "filtered_links", a->filtered);
    json_int(&j, "kept", r->kept);
    json_string(&j, "digest", r->digest);
    json_string(&j, "history_digest", history_hex);
    json_int_array(&j, "grid", r->s->lat->grid, 4);
    json_int(&j, "memory_peak", (int64_t)memory->peak);
    json_int(&j, "memory_predicted", (int64_t)memory_total(&memory->predicted));
    json_int(&j, "fields_peak", (int64_t)memory->fields_peak);
    json_int(&j, "fields_predicted", (int64_t)memory->predicted.fields);
    json_real(&j, "seconds", seconds);
    json_string(&j, "output", r->p->run.output);
    json_end(&j);
}

static void print_averages(const record_averages *a)
{
    if (a->count == 0) return;
    log_info("  over %ld from trajectory %lld on:", a->count, (long long)a->from);
    log_info("  plaquette    %s", average(&a->plaquette, 6).text);
    if (!isnan(a->plaquette.tau_error))
        log_info("  tau_int      %.2f +- %.2f trajectories, of the plaquette", a->plaquette.tau,
                 a->plaquette.tau_error);
    if (a->acceptance_from > a->from)
        log_info("  over %ld from trajectory %lld on, in parameter block %d:", a->acceptance_count,
                 (long long)a->acceptance_from, a->stretch);
    log_info("  acceptance   %s", average(&a->acceptance, 3).text);
    log_info("  <exp(-dH)>   %s   (1 within errors if the algorithm is exact)",
             exp_average(&a->exp_dh, " +- ", "").text);
    if (!isnan(a->filtered))
        log_info(
            "  HISQ filter  %.4g links a trajectory, summed over its forces (their smallest singular value was raised)",
            a->filtered);
    const double off = fabs(a->exp_dh.mean - 1);
    if (off > 4 * a->exp_dh.error && off > 0.1)
        log_warn("<exp(-dH)> = %s is not 1. Likely causes: steps so long that rare large -dH dominate the "
                 "average (raise steps); a force solver whose tolerance is too loose for reversibility (plaq verify "
                 "shows it); trajectories before equilibrium (raise warmup)",
                 exp_average(&a->exp_dh, " +- ", "").text);
}

static void print_alarms(const run_state *r)
{
    const watch *w = &r->watch;
    param_text text = {0};
    for (int i = 0; i < WATCH_ALARMS; i++)
        if (w->count[i])
            param_text_add(&text, "%s%s %lld", text.length ? ", " : "", watch_name(i), (long long)w->count[i]);
    if (text.length) log_warn("watch: alarms in this session: %s", text.data);
    if (text.length) record_session(r->history, "alarms", text.data);
    if (r->stopped[0]) record_session(r->history, "stopped", r->stopped);
    if (r->failed) record_session(r->history, "advice", r->advice);
    param_text_free(&text);
}

void run_add_shell_word(param_text *text, const char *word)
{
    int plain = *word != 0;
    for (const char *c = word; *c; c++) plain = plain && (isalnum((unsigned char)*c) || strchr("_-./=:,+@%", *c));
    if (text->length) param_text_add(text, " ");
    if (!plain) param_text_add(text, "'");
    for (const char *c = word; *c; c++)
        if (!plain && *c == '\'') param_text_add(text, "'\\''");
        else param_text_add(text, "%c", *c);
    if (!plain) param_text_add(text, "'");
}

/* Command to give next; how ranks were started the program cannot know. */
static void print_next(const run_state *r)
{
    const char *launcher = comm_size() > 1 ? ", with mpirun or srun as before" : "";
    param_text next = {0};
    char newest[PARAM_STRING_SIZE + 64] = "none yet";
    if (r->saved >= 0)
        snprintf(newest, sizeof newest, "%s/checkpoint-%06lld.h5", r->p->run.output, (long long)r->saved);
    log_info("results: %s/history.h5 (h5dump, h5py), newest configuration %s", r->p->run.output, newest);
    if (r->p->run.report != REPORT_NO && !r->files_failed)
        log_info("report: %s/" ENSEMBLE_PAGE " (open it in a browser)", r->p->run.output);
    if (r->kept)
        log_info("%lld configurations kept in this session: %s/" SAVE_FOLDER, (long long)r->kept, r->p->run.output);
    if (r->stopped[0]) log_info("stopped: %s", r->stopped);
    const int go_on = !run_finished(r);
    run_add_shell_word(&next, command_program());
    param_text_add(&next, " %s %s", go_on ? "run" : "measure", r->input.data);
    if (!go_on) {
        run_add_shell_word(&next, newest);
        log_info("next: raise [run] trajectories to continue, or measure%s: %s", launcher, next.data);
    } else {
        /* The checkpoint of a run that got nowhere still has the parameters of before. */
        const int again = r->accept && r->saved <= r->session_start;
        log_info("to continue%s: %s%s%s", launcher, next.data, again ? " --accept-changes" : "",
                 r->json ? " --json" : "");
    }
    param_text_free(&next);
}

void run_print_summary(const run_state *r)
{
    const record_averages a = record_average(r->history);
    const double seconds = comm_wtime() - r->begun;
    const place where = r->s->links->where;
    /* The forecast runs the program on a planned lattice, on all ranks. */
    const memory_use memory = {(size_t)memory_peak(where), (size_t)memory_fields_peak(where),
                               memory_predicted(r->p, r->s->lat, where)};
    char history_hex[65], time_text[32], peak[32], predicted[32];
    record_digest(r->history, history_hex);
    if (r->json) print_json(r, &a, history_hex, seconds, &memory);
    profile_print(&(profile_totals){
        .since = r->since, .where = where, .has_trajectories = 1, .trajectory_bytes = r->trajectory_bytes});
    log_info("%lld trajectories in %s, %lld in all", (long long)(r->done - r->session_start),
             text_duration(seconds, time_text), (long long)r->done);
    print_averages(&a);
    print_alarms(r);
    balance_report(&r->s->e, r->p->run.length);
    log_info("memory: %s per rank at the peak, %s predicted", text_bytes((double)memory.peak, peak),
             text_bytes((double)memory_total(&memory.predicted), predicted));
    log_info("digests: links %s, history %s", r->digest, history_hex);
    print_next(r);
}

void run_print_advice(const run_state *r)
{
    log_error("%s. The last checkpoint stands: %s", r->stopped, r->advice);
}

int64_t run_print_failed_measurements(const run_state *r)
{
    int64_t sum = 0;
    for (int i = 0; i < r->p->nmeasures; i++) {
        const int64_t n = r->failed_measurements[i];
        if (n > 0)
            log_error(
                "measure.%s failed %lld time%s: its rows are missing, the ensemble is whole; the warnings above say "
                "why, and plaq measure repeats it on saved configurations",
                r->p->measures[i].name, (long long)n, n > 1 ? "s" : "");
        sum += n;
    }
    return sum;
}
