/* plaq measure: the [measure.NAME] sections of an input file on saved configurations.
 *
 * The lattice is that of each configuration; [lattice] size need not be given, and has to agree when it is. Results go to
 * standard output, or with --output rows go to tables of an HDF5 file (io/history/table_hdf5.h), laid out as in the history of a run:
 * /measure/NAME has the rows of measure.NAME, /measure/NAME/summary its summary, and /configs file, plaquette and link
 * trace of every configuration. What the file has of a configuration already is not measured again. A configuration that
 * cannot be read is passed over and named at the end. With --part I/N the list is divided over N jobs, of an array say, which
 * may share the file: of N configurations in a row the I-th is measured. Exit status 1 when there was one, or when a solve of a measurement
 * did not converge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/memory.h"
#include "hmc/measure/positions.h"
#include "hmc/plan/forecast.h"
#include "hmc/plan/plan.h"
#include "hmc/command/commands.h"
#include "hmc/tell/life.h"
#include "hmc/assemble/identity.h"
#include "hmc/record/profile.h"
#include "hmc/tell/text.h"
#include "io/files/file_time.h"
#include "io/links/links.h"
#include "io/history/output_file.h"
#include "io/history/table_hdf5.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

typedef struct {
    const parameters *p;
    int json;
    int ignore_recorded;
    const char *output;
    table_file file;
    param_text identities[MAX_NAMED]; /* identities of the measurements */
    lattice *lat;
    field *links;
    int64_t trajectory; /* number that the configuration bears, or -1 */
    int failures;
    int done, made;    /* configurations so far; of them those of which something was measured */
    double spent;      /* seconds in these */
    param_text unread; /* a line for each configuration that was passed over */
    int nunread;
    int nobody_reads; /* standard output, where rows are printed and not stored */
} measurer;

static void pass_over(measurer *m, const char *message)
{
    m->nunread++;
    param_text_add(&m->unread, "\n  %s", message);
}

/* Looks at all configurations before any is measured, and passes over those that are none: configs[i] is then null. */
static void probe_all(measurer *m, char **configs, int n)
{
    for (int i = 0; i < n; i++) {
        links_info info;
        char message[2048];
        if (!links_probe(configs[i], &info, message, sizeof message) &&
            !links_settle_size(&info, configs[i], m->p->lattice.size, "[lattice] size", message, sizeof message))
            continue;
        pass_over(m, message);
        configs[i] = NULL;
    }
    if (m->nunread == n) user_error("no configuration can be measured:%s", m->unread.data);
    if (m->nunread)
        log_warn("%d of %d configurations cannot be read and are passed over:%s", m->nunread, n, m->unread.data);
}

static size_t need_of_measurements(const void *of, const lattice *plan, place where)
{
    const measurer *m = of;
    return memory_measured(m->p, m->trajectory, plan, where).fields;
}

/* Makes the lattice and links of this configuration's size, unless they are there from the one before. */
static int open_lattice(measurer *m, const char *config, char *message, size_t message_size)
{
    links_info info;
    if (links_probe(config, &info, message, message_size) ||
        links_settle_size(&info, config, m->p->lattice.size, "[lattice] size", message, message_size))
        return -1;
    const int *size = info.size;
    m->trajectory = info.has_sequence ? info.sequence : -1;
    if (m->lat && !memcmp(m->lat->size, size, sizeof info.size)) return 0;
    field_destroy(m->links);
    lattice_destroy(m->lat);
    m->lat = simulation_lattice(m->p, size, need_of_measurements, m);
    m->links = field_create(m->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, simulation_place(m->p, m->lat));
    return 0;
}

static void print_config(const measurer *m, const char *config, const char *digest, const gauge_loops *l)
{
    if (comm_rank() != 0) return;
    const int *s = m->lat->size;
    if (m->json) {
        json j = json_begin(stdout);
        json_string(&j, "config", config);
        json_string(&j, "digest", digest);
        if (m->trajectory >= 0) json_int(&j, "trajectory", m->trajectory);
        else json_string(&j, "trajectory", NULL);
        json_int_array(&j, "lattice", s, 4);
        json_int_array(&j, "grid", m->lat->grid, 4);
        json_real(&j, "plaquette", l->plaquette);
        json_real(&j, "rectangle", l->rectangle);
        json_real(&j, "link_trace", l->link_trace);
        json_end(&j);
    } else {
        printf("%s: %d.%d.%d.%d, plaquette %.12f, link trace %.12f\ndigest %s\n", config, s[0], s[1], s[2], s[3],
               l->plaquette, l->link_trace, digest);
        fflush(stdout);
    }
}

typedef char group_name[96];

/* The tables of a measurement and of its summary, without rows. `group` gets the name. */
static table_rows table_of(const measurer *m, int i, group_name group)
{
    const named_measure *named = &m->p->measures[i];
    const observable *o = observable_of(&named->p);
    snprintf(group, sizeof(group_name), "measure/%s", named->name);
    return (table_rows){.group = group,
                        .columns = o->columns,
                        .ncolumns = o->ncolumns,
                        .axis = o->axis,
                        .names = o->names,
                        .identity = m->identities[i].data};
}

static table_rows summary_of(const measurer *m, int i, group_name group)
{
    const named_measure *named = &m->p->measures[i];
    const observable *o = observable_of(&named->p);
    snprintf(group, sizeof(group_name), "measure/%s/summary", named->name);
    return (table_rows){
        .group = group, .columns = o->summary, .ncolumns = o->nsummary, .identity = m->identities[i].data};
}

/* Measurements that the file has of these links; a file that cannot take their rows is a user error. */
static void look(const measurer *m, const table_config *config, int there[MAX_NAMED])
{
    static group_name names[MAX_NAMED];
    table_rows tables[MAX_NAMED];
    char message[4096];
    const int n = m->p->nmeasures;
    for (int i = 0; i < n; i++) tables[i] = table_of(m, i, names[i]);
    if (table_look(&m->file, config, tables, n, there, message, sizeof message)) user_error("%s", message);
}

/* How far the list is; the time left is that of configurations like those measured. */
static void tell_progress(measurer *m, int count, int made, double seconds)
{
    char eta[32];
    m->done++;
    m->made += made;
    m->spent += made ? seconds : 0;
    if (count == 1) return;
    if (m->made == 0) log_info("configuration %d of %d: nothing to measure", m->done, count);
    else
        log_info("configuration %d of %d: %.2f s  ETA %s", m->done, count, seconds,
                 text_duration(m->spent / m->made * (count - m->done), eta));
}

/* Everything that was measured on one configuration, in one change of the file. */
static void store(const measurer *m, const table_config *measured, const measure_result *results, int n)
{
    static group_name names[2 * MAX_NAMED];
    table_rows rows[2 * MAX_NAMED];
    char message[4096];
    int k = 0;
    for (int i = 0; i < n; i++) {
        const measure_result *r = &results[i];
        if (!r->what || r->failed) continue;
        rows[k] = table_of(m, i, names[k]);
        rows[k].nrows = r->nrows;
        rows[k++].values = r->rows;
        if (r->what->nsummary == 0) continue;
        rows[k] = summary_of(m, i, names[k]);
        rows[k].nrows = 1;
        rows[k++].values = r->summary;
    }
    const double start = comm_wtime();
    if (table_append(&m->file, measured, rows, k, message, sizeof message)) user_error("%s", message);
    file_time_add(start);
}

/* Measurements of one configuration while they are made. */
typedef struct {
    measurer *m;
    const char *config;
    measure_result results[MAX_NAMED]; /* no `what`: not made */
    int made;
} sitting;

static void begin_measurement(void *context, int i, const char *where)
{
    const sitting *s = context;
    char message[2048];
    snprintf(message, sizeof message, "%s: measure.%s%s", s->config, s->m->p->measures[i].name, where);
    life_begin(message);
}

static int end_measurement(void *context, int i, measure_result *r)
{
    sitting *s = context;
    life_begin(NULL);
    s->made++;
    s->results[i] = *r;
    if (r->failed) {
        s->m->failures++;
        log_error("%s: measure.%s: %s", s->config, r->name, r->trouble);
    } else if (comm_rank() == 0) {
        measure_print(stdout, r, s->config, s->m->json, s->m->output);
    }
    return 0;
}

/* How many measurements were made. */
static int measure_config(measurer *m, const char *config)
{
    char message[2048], digest[65];
    if (open_lattice(m, config, message, sizeof message) ||
        simulation_read(m->links, config, m->ignore_recorded, digest, message, sizeof message) ||
        simulation_refuse_walls(m->p, m->links, config, message, sizeof message)) {
        log_error("%s: passed over", message);
        pass_over(m, message);
        return 0;
    }
    const gauge_loops loops = gauge_measure(m->links, 1);
    print_config(m, config, digest, &loops);
    const measure_context c = {m->p, m->links, NULL, NULL, m->trajectory, NULL};
    sitting s = {.m = m, .config = config};
    int there[MAX_NAMED] = {0}, due[MAX_NAMED];
    const int n = m->p->nmeasures;
    table_config measured = {.name = config, .digest = digest, .trajectory = m->trajectory};
    memcpy(measured.size, m->lat->size, sizeof measured.size);
    measured.plaquette = loops.plaquette, measured.link_trace = loops.link_trace;
    if (m->output) look(m, &measured, there);
    for (int i = 0; i < n; i++) {
        due[i] = !there[i];
        if (there[i])
            log_info("%s: measure.%s of these links is in %s already, and is not measured again", config,
                     m->p->measures[i].name, m->output);
    }
    measure_due(&c, due, &(measure_calls){&s, begin_measurement, end_measurement});
    if (m->output) store(m, &measured, s.results, n);
    for (int i = 0; i < n; i++) measure_result_free(&s.results[i]);
    /* Measurements end where standard output has no reader and nothing is stored. */
    if (!m->output) m->nobody_reads = !command_check_output();
    return n == 0 ? 1 : s.made; /* plaquette and link trace are measured beside them */
}

/* The identities of the tables. What is wrong with the file shows before anything is measured. */
static void open_output(measurer *m)
{
    int there[MAX_NAMED];
    char message[1024];
    const parameters *p = m->p;
    if (output_file_check(m->output, OUTPUT_TABLES, NULL, message, sizeof message))
        user_error("plaq measure: %s", message);
    m->file = (table_file){m->output, identity_of_program(), p->dump, identity_differ};
    for (int i = 0; i < p->nmeasures; i++) m->identities[i] = identity_of_measurement(p, &p->measures[i]);
    look(m, &(table_config){.digest = ""}, there);
}

/* ---- dry runs ---- */

/* Plans for each size of lattice that the configurations have, or for that of the input. */
static void dry_run(const measurer *m, char **configs, int n, int ranks, const char *calibration)
{
    const parameters *p = m->p;
    struct {
        int size[4];
        int64_t trajectory;
        long configurations;
    } seen[MAX_NAMED];
    int nseen = 0;
    if (n == 0 && p->lattice.size[0] == 0)
        user_error("plaq measure: --dry-run needs a configuration, or lattice.size=X.Y.Z.T");
    if (n == 0) plan_dry_measure(p, p->lattice.size, -1, 1, ranks, calibration, m->json);
    for (int i = 0; i < n; i++) {
        links_info info;
        char message[2048];
        int k = 0;
        if (links_probe(configs[i], &info, message, sizeof message) ||
            links_settle_size(&info, configs[i], p->lattice.size, "[lattice] size", message, sizeof message))
            user_error("%s", message);
        while (k < nseen && memcmp(seen[k].size, info.size, sizeof seen[k].size)) k++;
        if (k == MAX_NAMED) continue;
        if (k == nseen) {
            memcpy(seen[k].size, info.size, sizeof seen[k].size);
            seen[k].trajectory = info.has_sequence ? info.sequence : -1;
            seen[nseen++].configurations = 0;
        }
        seen[k].configurations++;
    }
    for (int k = 0; k < nseen; k++)
        plan_dry_measure(p, seen[k].size, seen[k].trajectory, seen[k].configurations, ranks, calibration, m->json);
}

/* ---- parts of a list ---- */

/* Keeps the configurations of a part, given as I/N, and returns their number. */
static int take_part(const char *text, char **configs, int n)
{
    static const param key = {"--part", PARAM_INT, 0, NULL, "[1,1000000]", "", "part of a list", 0};
    char message[PARAM_MESSAGE_SIZE], number[16];
    const char *const slash = strchr(text, '/');
    int part, parts, kept = 0;
    if (!slash || slash - text >= (int)sizeof number)
        user_error("plaq measure: --part %s: not I/N, part I of N, say 3/16", text);
    snprintf(number, sizeof number, "%.*s", (int)(slash - text), text);
    if (param_set(&key, &part, number, message, sizeof message) ||
        param_set(&key, &parts, slash + 1, message, sizeof message))
        user_error("plaq measure: --part %s: %s", text, message);
    if (part > parts) user_error("plaq measure: --part %s: there are parts 1 to %d", text, parts);
    for (int i = part - 1; i < n; i += parts) configs[kept++] = configs[i];
    return kept;
}

/* Memory at the peak, beside which stands the forecast of a dry run. */
static void tell_memory(const measurer *m)
{
    char peak[32];
    if (m->links) log_info("memory: %s per rank at the peak", text_bytes((double)memory_peak(m->links->where), peak));
}

int command_measure(int argc, char **argv)
{
    measurer m = {0};
    int dry = 0, profile = 0;
    const char *ranks_text = NULL, *part = NULL, *calibration = NULL;
    const command_flag flags[] = {
        {"--json", &m.json, NULL, "one JSON object a line"},
        {"--output", NULL, &m.output, "HDF5 file that the rows are appended to"},
        {"--dry-run", &dry, NULL,
         "check everything and print decomposition, memory, blockings of multigrid, time, node-hours and disk; measure "
         "nothing. Without a configuration, on lattice.size"},
        {"--ranks", NULL, &ranks_text, "with --dry-run: plan for this many ranks"},
        {"--calibration", NULL, &calibration,
         "with --dry-run: file of plaq bench --calibrate, whose machine is planned for; default this one"},
        {"--part", NULL, &part,
         "I/N: measures every N-th configuration, from the I-th on, so that N jobs share a list and, with --output, a "
         "file"},
        FLAG_PROFILE(&profile),
        FLAG_IGNORE_RECORDED(&m.ignore_recorded),
    };
    plain_arguments a = command_arguments(argc, argv, flags, 8, 1, -1);
    log_keep_stdout_clean(m.json);
    const int ranks = command_ranks(ranks_text, "measure");
    if (ranks && !dry)
        user_error("plaq measure: --ranks plans measurements and needs --dry-run; mpirun -n %d makes them", ranks);
    if (calibration && !dry)
        user_error("plaq measure: --calibration %s is for a plan and needs --dry-run", calibration);
    if (!dry && a.nplain < 2) user_error("plaq measure: no configuration; give one or more behind %s", a.plain[0]);
    if (part) {
        const int given = a.nplain - 1;
        a.nplain = 1 + take_part(part, a.plain + 1, given);
        log_info("part %s: %d of %d configurations", part, a.nplain - 1, given);
        if (given > 0 && a.nplain == 1) {
            command_arguments_free(&a);
            return 0;
        }
    }
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, 0);
    command_set_log(p);
    m.p = p;
    if (dry) {
        dry_run(&m, a.plain + 1, a.nplain - 1, ranks, calibration);
        parameters_free(p);
        command_arguments_free(&a);
        return 0;
    }
    if (m.output) open_output(&m);
    probe_all(&m, a.plain + 1, a.nplain - 1);
    life_open();
    const profile_span since = profile_open();
    const int count = a.nplain - 1 - m.nunread;
    for (int i = 1; i < a.nplain && !m.nobody_reads; i++) {
        const double start = comm_wtime();
        const int made = a.plain[i] ? measure_config(&m, a.plain[i]) : 0;
        if (a.plain[i]) tell_progress(&m, count, made, comm_wtime() - start);
    }
    life_close();
    if (profile && m.links) profile_print(&(profile_totals){.since = since, .where = m.links->where});
    tell_memory(&m);
    if (m.nunread) log_error("%d of %d configurations were not measured:%s", m.nunread, a.nplain - 1, m.unread.data);
    for (int i = 0; i < p->nmeasures; i++) param_text_free(&m.identities[i]);
    param_text_free(&m.unread);
    field_destroy(m.links);
    lattice_destroy(m.lat);
    parameters_free(p);
    command_arguments_free(&a);
    return m.failures || m.nunread ? EXIT_CHECK_FAILED : 0;
}
