#include "hmc/measure/observable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/propagator.h"
#include "hmc/quarks/quark.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

#define OBSERVABLE(name) extern const observable observable_##name;
#include "hmc/measure/observables.def"
#undef OBSERVABLE

static const observable *const all[] = {
#define OBSERVABLE(name) &observable_##name,
#include "hmc/measure/observables.def"
#undef OBSERVABLE
    NULL};

const observable *observable_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

/* Keys of those that not every kind has. */
static const char *common_keys(const observable *o)
{
    return o->propagators == 1              ? "propagator positions exact_positions"
           : o->propagators                 ? "propagator propagator_2 positions exact_positions"
           : o->from_source                 ? "quark solver source error_estimate"
           : o->quarks != MEASURE_NO_QUARKS ? "quark solver error_estimate"
                                            : "links";
}

int observable_has(const observable *o, const char *key)
{
    return param_has_word(common_keys(o), key) || (o->own && param_find(o->own, key));
}

void observable_keys(const observable *o, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", common_keys(o));
    for (int i = 0; o->own && i < o->own->count && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, " %s", o->own->table[i].name);
}

/* ---- keys ---- */

#define MEMBER(member) offsetof(measure_params, member)

static char kind_names[256], kind_help[2048];

/* Helps that begin with the kinds that have the key. */
enum {
    PROPAGATOR,
    PROPAGATOR_2,
    POSITIONS,
    EXACT_POSITIONS,
    QUARK,
    SOLVER,
    SOURCE,
    ERROR_ESTIMATE,
    LINKS,
    COMMON_KEYS
};
static const struct {
    const char *name, *text;
} common[COMMON_KEYS] = {
    {"propagator", "[propagator.NAME] that is contracted; has to be given"},
    {"propagator_2", "[propagator.NAME] of the other quark; empty: the same"},
    {"positions", "number of positions on a configuration from which it is made, whose mean is taken; 1: that of the "
                  "source; more: random "
                  "ones, by even numbers away from it, in space alone where time is not periodic"},
    {"exact_positions", "positions with solves by the propagators' solvers; the others have rough_solver alone, whose "
                        "bias is corrected by the first "
                        "ones (all-mode averaging). 0: all"},
    {"quark", "[quark.NAME] that is solved for; has to be given"},
    {"solver", "[solver.NAME] of the solves; empty: the quark's solver"},
    {"source", "[source.NAME] that is solved from; has to be given"},
    {"error_estimate",
     "estimates the error of every solution by a second solve, of the residual; it takes about half as long again"},
    {"links", "[links.NAME] of the smeared links that are measured; empty: the links of the ensemble"},
};
static char common_help[COMMON_KEYS][512];

static const param keys[] = {
    {"kind", PARAM_CHOICE, MEMBER(kind), NULL, kind_names, NULL, kind_help, 0},
    {"interval", PARAM_LONG, MEMBER(interval), "1", "[1,inf)", "trajectories", "distance of measurements in a run", 0},
    {"propagator", PARAM_NAME, MEMBER(propagators[0]), "", "propagator", NULL, common_help[PROPAGATOR], 0},
    {"propagator_2", PARAM_NAME, MEMBER(propagators[1]), "", "propagator", NULL, common_help[PROPAGATOR_2], 0},
    {"positions", PARAM_INT, MEMBER(positions), "1", "[1,1000000]", NULL, common_help[POSITIONS], 0},
    {"exact_positions", PARAM_INT, MEMBER(exact_positions), "0", "[0,1000000]", NULL, common_help[EXACT_POSITIONS], 0},
    {"quark", PARAM_NAME, MEMBER(quark), "", "quark", NULL, common_help[QUARK], 0},
    {"solver", PARAM_NAME, MEMBER(solver), "", "solver", NULL, common_help[SOLVER], 0},
    {"source", PARAM_NAME, MEMBER(source), "", "source", NULL, common_help[SOURCE], 0},
    {"error_estimate", PARAM_CHOICE, MEMBER(error_estimate), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     common_help[ERROR_ESTIMATE], 0},
    {"links", PARAM_NAME, MEMBER(links), "", "links", NULL, common_help[LINKS], 0},
};

static const param_section section = {"measure",
                                      1,
                                      keys,
                                      (int)(sizeof keys / sizeof keys[0]),
                                      sizeof(measure_params),
                                      "a measurement, made during a run and by plaq measure",
                                      NULL};

static void fill_texts(void)
{
    if (kind_names[0]) return;
    for (int i = 0; observable_number(i); i++) {
        const observable *o = observable_number(i);
        param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, o->name, o->help);
        for (int k = 0; k < COMMON_KEYS; k++)
            if (param_has_word(common_keys(o), common[k].name))
                param_append(common_help[k], sizeof common_help[k], common_help[k][0] ? ", " : "", o->name);
    }
    for (int k = 0; k < COMMON_KEYS; k++) param_append(common_help[k], sizeof common_help[k], ": ", common[k].text);
}

const param_section *observable_section(int number)
{
    fill_texts();
    if (number == 0) return &section;
    for (int i = 0; observable_number(i); i++)
        if (observable_number(i)->own && --number == 0) return observable_number(i)->own;
    return NULL;
}

measure_result measure(const measure_context *c, const named_measure *m)
{
    const observable *o = observable_of(&m->p);
    REQUIRE(o->nsummary <= MEASURE_MAX_SUMMARY, "%d values in the summary of %s", o->nsummary, o->name);
    measure_result r = {.what = o, .name = m->name};
    for (int i = 0; i < MEASURE_MAX_SUMMARY; i++) r.summary[i] = NAN;
    const double start = comm_wtime();
    link_map *map = measure_map(c, m->p.links);
    measure_context on = *c;
    if (map) on.links = link_map_links(map);
    if (!c->propagators && o->propagators) on.propagators = propagator_store_open(c, NULL, NULL);
    const int status = o->measure(&on, &m->p, &r);
    if (!c->propagators && o->propagators) propagator_store_close(on.propagators);
    if (c->propagators) propagator_store_done(c->propagators, m);
    link_map_destroy(map);
    r.failed = status != MEASURE_DONE;
    r.given_up = status == MEASURE_GIVEN_UP;
    r.seconds = comm_wtime() - start;
    return r;
}

const char *measure_propagator(const measure_params *m, int i)
{
    const int n = observable_of(m)->propagators;
    return i < n && m->propagators[i][0] ? m->propagators[i] : NULL;
}

uint64_t measure_noise_seed(const measure_context *c)
{
    return (uint64_t)c->p->run.seed ^ (uint64_t)llround(1e12 * gauge_measure(c->links, 0).plaquette);
}

const named_quark *measure_twisted(const parameters *p, const measure_params *m, int *number)
{
    const char *name;
    for (*number = 0; (name = measure_propagator(m, *number)); ++*number)
        for (; name; name = parameters_made_of(p, name)) {
            const named_quark *q = &p->quarks[parameters_quark(p, parameters_propagator(p, name)->p.quark)];
            if (quark_kind_of(&q->p)->twisted_mass) return q;
        }
    return NULL;
}

link_map *measure_map(const measure_context *c, const char *name)
{
    const link_settings *links = parameters_links(c->p, name);
    return links ? link_map_create(links, c->links) : NULL;
}

int measure_interrupted(const measure_context *c)
{
    return c->interrupted && c->interrupted();
}

void measure_add_row(measure_result *r, const double *values)
{
    const size_t columns = (size_t)r->what->ncolumns;
    if (r->nrows == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->rows = realloc(r->rows, (size_t)r->capacity * columns * sizeof *r->rows);
        REQUIRE_MEMORY(r->rows, "out of memory for %ld rows of %s", r->capacity, r->name);
    }
    memcpy(r->rows + (size_t)r->nrows++ * columns, values, columns * sizeof *values);
}

void measure_result_free(measure_result *r)
{
    free(r->rows);
    r->rows = NULL;
    r->nrows = r->capacity = 0;
}

/* The word for a number in a column, as the member COLUMN_name. */
static void print_name(json *j, const observable *o, const char *column, double value)
{
    char member[64];
    const table_names *n = o->names;
    while (n && n->column && strcmp(n->column, column)) n++;
    if (!n || !n->column || !(value >= 0)) return;
    for (int i = 0; n->names[i]; i++) {
        if (i != (int)value) continue;
        snprintf(member, sizeof member, "%s_name", column);
        json_string(j, member, n->names[i]);
    }
}

/* Prints an object of n columns, those from `axis` on as arrays over the rows. */
static void print_json(FILE *out, const measure_result *r, const char *config, const measure_column *columns, int n,
                       int axis, const double *values, long rows)
{
    json j = json_begin(out);
    json_string(&j, "config", config);
    json_string(&j, "measure", r->name);
    json_string(&j, "kind", r->what->name);
    for (int i = 0; i < n; i++) {
        if (i < axis) json_real(&j, columns[i].name, values[i]);
        else json_real_array(&j, columns[i].name, values + i, rows, n);
    }
    for (int i = 0; i < axis && columns == r->what->columns; i++) print_name(&j, r->what, columns[i].name, values[i]);
    json_end(&j);
}

int observable_axis(const observable *o)
{
    int i = 0;
    while (i < o->ncolumns && !(o->axis && !strcmp(o->columns[i].name, o->axis))) i++;
    return i;
}

/* True if two rows have the same labels, which stand before the axis. */
static int same_labels(const double *a, const double *b, int axis)
{
    for (int i = 0; i < axis; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) return 0;
    return 1;
}

/* Prints rows as files store them: an object for each, or with an axis for each set of labels. */
static void print_rows_json(FILE *out, const measure_result *r, const char *config)
{
    const observable *o = r->what;
    const int axis = observable_axis(o);
    for (long i = 0, next; i < r->nrows; i = next) {
        const double *first = r->rows + i * o->ncolumns;
        for (next = i + 1; o->axis && next < r->nrows; next++)
            if (!same_labels(first, r->rows + next * o->ncolumns, axis)) break;
        print_json(out, r, config, o->columns, o->ncolumns, axis, first, next - i);
    }
    if (o->nsummary) print_json(out, r, config, o->summary, o->nsummary, o->nsummary, r->summary, 1);
}

static void print_values(FILE *out, const measure_column *columns, int n, const double *values)
{
    for (int i = 0; i < n; i++) {
        if (values && isnan(values[i])) fprintf(out, " %20s", "-");
        else if (values) fprintf(out, " %20.12g", values[i]);
        else fprintf(out, " %20s", columns[i].name);
    }
    fprintf(out, "\n");
}

void measure_print(FILE *out, const measure_result *r, const char *config, int json)
{
    const observable *o = r->what;
    if (json) {
        print_rows_json(out, r, config);
        return;
    }
    fprintf(out, "%s (%s), %.2f s\n", r->name, o->name, r->seconds);
    print_values(out, o->columns, o->ncolumns, NULL);
    for (long i = 0; i < r->nrows; i++) print_values(out, o->columns, o->ncolumns, r->rows + i * o->ncolumns);
    for (int i = 0; i < o->nsummary; i++) {
        fprintf(out, "  %s = ", o->summary[i].name);
        if (isnan(r->summary[i])) fprintf(out, "none");
        else fprintf(out, "%.12g", r->summary[i]);
        fprintf(out, "   (%s)\n", o->summary[i].help);
    }
    fflush(out);
}
