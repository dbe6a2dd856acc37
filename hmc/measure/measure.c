#include "hmc/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"

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

void measure_print(FILE *out, const measure_result *r, const char *config, int json, const char *file)
{
    const observable *o = r->what;
    if (json) {
        print_rows_json(out, r, config);
        return;
    }
    fprintf(out, "%s (%s), %.2f s", r->name, o->name, r->seconds);
    if (file) fprintf(out, ", %ld rows for %s", r->nrows, file);
    fprintf(out, "\n");
    if (!file) print_values(out, o->columns, o->ncolumns, NULL);
    for (long i = 0; i < r->nrows && !file; i++) print_values(out, o->columns, o->ncolumns, r->rows + i * o->ncolumns);
    for (int i = 0; i < o->nsummary; i++) {
        fprintf(out, "  %s = ", o->summary[i].name);
        if (isnan(r->summary[i])) fprintf(out, "none");
        else fprintf(out, "%.12g", r->summary[i]);
        fprintf(out, "   (%s)\n", o->summary[i].help);
    }
    fflush(out);
}
