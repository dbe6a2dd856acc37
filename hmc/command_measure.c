/* plaq measure: the [measure.NAME] sections of an input file on saved configurations.
 *
 * The lattice is that of each configuration; [lattice] size need not be given, and has to agree when it is. Results go
 * to standard output and, with --output, to tables of an HDF5 file (io/table_hdf5.h): /NAME has the rows of
 * measure.NAME, /NAME.summary its summary, and /configs plaquette and link trace of every configuration. Exit status 1
 * when a solve of a measurement did not converge; the other measurements are made all the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/commands.h"
#include "hmc/measure/observable.h"
#include "io/links.h"
#include "io/table_hdf5.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/gauge.h"
#include "kernels/lattice/comm.h"

typedef struct {
    const parameters *p;
    int json;
    int ignore_recorded;
    const char *output;
    lattice *lat;
    field *links;
    int failures;
} measurer;

static const table_column config_columns[] = {
    {"plaquette", "", "Re tr / 3 of plaquettes, all planes"},
    {"link_trace", "", "Re tr / 3 of links"},
};

/* Looks at all configurations before any is measured; whatever is wrong with them is one user error. */
static void probe_all(const measurer *m, char *const *configs, int n)
{
    param_text wrong = {0};
    int bad = 0;
    for (int i = 0; i < n; i++) {
        links_info info;
        char message[1024];
        if (links_probe(configs[i], &info, message, sizeof message) ||
            links_settle_size(&info, configs[i], m->p->lattice.size, "[lattice] size", message, sizeof message))
            param_text_add(&wrong, "%s%s", bad++ ? "\n  " : "", message);
    }
    if (bad) user_error("%s%s", wrong.data, bad < n ? "\n  Nothing was measured, on the others neither" : "");
}

/* Makes the lattice and links of this configuration's size, unless they are there from the one before. */
static void open_lattice(measurer *m, const char *config)
{
    links_info info;
    char message[1024];
    if (links_probe(config, &info, message, sizeof message) ||
        links_settle_size(&info, config, m->p->lattice.size, "[lattice] size", message, sizeof message))
        user_error("%s", message);
    const int *size = info.size;
    if (m->lat && !memcmp(m->lat->size, size, sizeof info.size)) return;
    field_destroy(m->links);
    lattice_destroy(m->lat);
    m->lat = simulation_lattice(m->p, size);
    m->links = field_create(m->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, simulation_place(m->p, m->lat));
}

static void print_config(const measurer *m, const char *config, const char *digest, const gauge_loops *l)
{
    if (comm_rank() != 0) return;
    const int *s = m->lat->size;
    if (m->json) {
        json j = json_begin(stdout);
        json_string(&j, "config", config);
        json_string(&j, "digest", digest);
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

/* Everything that was measured on one configuration, in one change of the file. */
static void store(const measurer *m, const char *config, const char *digest, const gauge_loops *l,
                  const measure_result *results, int n)
{
    static char names[MAX_NAMED][96];
    table_rows rows[2 * MAX_NAMED + 1];
    const double values[2] = {l->plaquette, l->link_trace};
    char message[1024];
    int k = 0;
    rows[k++] = (table_rows){"configs", config_columns, 2, 1, values};
    for (int i = 0; i < n; i++) {
        const measure_result *r = &results[i];
        if (r->failed) continue;
        rows[k++] = (table_rows){r->name, r->what->columns, r->what->ncolumns, r->nrows, r->rows};
        if (r->what->nsummary == 0) continue;
        snprintf(names[i], sizeof names[i], "%s.summary", r->name);
        rows[k++] = (table_rows){names[i], r->what->summary, r->what->nsummary, 1, r->summary};
    }
    if (table_append(m->output, config, digest, rows, k, message, sizeof message)) user_error("%s", message);
}

static void measure_config(measurer *m, const char *config)
{
    open_lattice(m, config);
    char digest[65], message[1024];
    if (simulation_read(m->links, config, m->ignore_recorded, message, sizeof message)) user_error("%s", message);
    links_digest(m->links, digest);
    const gauge_loops loops = gauge_measure(m->links, 1);
    print_config(m, config, digest, &loops);
    const measure_context c = {m->p, m->links, NULL, NULL};
    measure_result results[MAX_NAMED];
    const int n = m->p->nmeasures;
    for (int i = 0; i < n; i++) {
        results[i] = measure(&c, &m->p->measures[i]);
        if (results[i].failed) {
            m->failures++;
            log_error("%s: measure.%s: %s", config, results[i].name, results[i].trouble);
        } else if (comm_rank() == 0) {
            measure_print(stdout, &results[i], config, m->json);
        }
    }
    if (m->output) store(m, config, digest, &loops, results, n);
    for (int i = 0; i < n; i++) measure_result_free(&results[i]);
}

int command_measure(int argc, char **argv)
{
    measurer m = {0};
    const command_flag flags[] = {
        {"--json", &m.json, NULL, "one JSON object a line"},
        {"--output", NULL, &m.output, "HDF5 file that the rows are appended to"},
        FLAG_IGNORE_RECORDED(&m.ignore_recorded),
    };
    plain_arguments a = command_arguments(argc, argv, flags, 3, 2, -1);
    log_keep_stdout_clean(m.json);
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, 0);
    m.p = p;
    for (int i = 0; i < p->nmeasures; i++)
        if (m.output && !strcmp(p->measures[i].name, "configs"))
            user_error("%s: [measure.configs] bears the name of the table of configurations; choose another",
                       a.plain[0]);
    probe_all(&m, a.plain + 1, a.nplain - 1);
    for (int i = 1; i < a.nplain; i++) measure_config(&m, a.plain[i]);
    field_destroy(m.links);
    lattice_destroy(m.lat);
    parameters_free(p);
    command_arguments_free(&a);
    return m.failures ? EXIT_CHECK_FAILED : 0;
}
