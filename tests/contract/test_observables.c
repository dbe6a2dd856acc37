/* Every observable is gauge invariant, with every quark that it can be measured with: on links that a random gauge
 * transformation has turned it has the values that it had before, to rounding and the residual of solves.
 *
 * The link trace alone depends on the gauge, so it shows that the links were turned.
 *
 * Noise is not turned with the links, so a mean over noise vectors is compared with its error, in rows and summary: there
 * a value NAME has its error NAME_error. How a solve went (residual, iterations) is no value. Observables come from their
 * registry, quarks as in tests/contract/quarks.h: a new one needs no new test. */
#include "tests/contract/quarks.h"

#include "hmc/measure/positions.h"
#include "kernels/ops/gauge.h"

static const struct ref_lattice shape = {{4, 4, 4, 4}};

static const observable *observed;
static int measured, values, passed_over;

/* Keys that have to be given, and few noise vectors. */
static parameters *parameters_of(const quark_kind *kind, const char *keys, const observable *o)
{
    const struct {
        const char *key, *value;
    } given[] = {{"quark", "q"},
                 {"source", "s"},
                 {"propagator", "p"},
                 {"flow_time", "0.1"},
                 {"flow_step", "0.05"},
                 {"vectors", "24"},
                 {"tastes", "i5 ij i4 i 4 1"},
                 {"to_mass", "0.29"},
                 {"operators", !strcmp(o->name, "staggered_pairs")    ? "pion_5 pion_45 rho_vt rho_pv"
                               : kind->twisted_mass && o->propagators ? "pseudoscalar"
                                                                      : "scalar"}};
    char text[512];
    int n = snprintf(text, sizeof text, "[source.s]\n[propagator.p]\nquark = q\nsource = s\n[measure.m]\nkind = %s\n",
                     o->name);
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
        if (observable_has(o, given[i].key))
            n += snprintf(text + n, sizeof text - (size_t)n, "%s = %s\n", given[i].key, given[i].value);
    return quark_parameters(kind->name, keys, text);
}

static int has_middle(const quark_kind *kind, const char *keys)
{
    parameters *p = quark_parameters(kind->name, keys, "");
    const int even = kind->slices(&p->quarks[0].p) % 2 == 0;
    parameters_free(p);
    return even;
}

static int can_measure(const observable *o, const quark_kind *kind, const char *keys)
{
    if (o->walls || o->volume) return 0; /* vertices are those of a gauge */
    if (kind->twisted_mass && !strcmp(o->name, "baryons")) return 0;
    if (observable_has(o, "to_mass") && strcmp(kind->name, "wilson_clover") && strcmp(kind->name, "twisted_mass"))
        return 0;
    if (kind->doublet && o->quarks != MEASURE_NO_QUARKS) return 0;
    if (o->quarks == MEASURE_WILSON) return kind->spins == 4;
    if (o->quarks == MEASURE_WALLS) return kind->axial && has_middle(kind, keys);
    if (o->quarks == MEASURE_STAGGERED) return kind->spins == 1;
    return 1;
}

/* ---- comparisons ---- */

static double value_of(const measure_column *columns, int n, const double *row, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(columns[i].name, name)) return row[i];
    return NAN;
}

/* The largest value of the column, in units of which differences are small; that of an imaginary part is of the numbers whose real
 * part is the column before it. */
static double size_of(const measure_result *r, int column)
{
    const int first = column - (column > 0 && !strcmp(r->what->columns[column].name, "imaginary") &&
                                !strcmp(r->what->columns[column - 1].name, "real"));
    double most = 0;
    for (long i = 0; i < r->nrows; i++)
        for (int c = first; c <= column; c++) most = fmax(most, fabs(r->rows[i * r->what->ncolumns + c]));
    return most;
}

static void compare_rows(const measure_result *a, const measure_result *b)
{
    const int n = a->what->ncolumns;
    for (int c = 0; c < n; c++) {
        const double size = size_of(a, c);
        for (long i = 0; i < a->nrows; i++) {
            if (isnan(a->rows[i * n + c]) && isnan(b->rows[i * n + c])) continue;
            kit_where("%s, %s of row %ld", a->what->name, a->what->columns[c].name, i);
            if (!strcmp(a->what->columns[c].name, "link_trace")) {
                KIT_CHECK(fabs(b->rows[i * n + c] - a->rows[i * n + c]) > 0.1);
                continue;
            }
            KIT_NEAR(b->rows[i * n + c], a->rows[i * n + c], 1e-8 * size + 1e-13);
            values++;
        }
    }
}

static int tells_of_solves(const char *name)
{
    return !strcmp(name, "residual") || !strcmp(name, "iterations") || strstr(name, "_error") != NULL;
}

/* Rows of means over noise: what has an error, to five of it, and some of it well above its error. */
static void compare_means(const measure_result *a, const measure_result *b)
{
    const measure_column *columns = a->what->columns;
    const int n = a->what->ncolumns;
    for (int c = 0; c < n; c++) {
        char error[64];
        const double size = size_of(a, c);
        snprintf(error, sizeof error, "%s_error", columns[c].name);
        for (long i = 0; i < a->nrows; i++) {
            const double *x = a->rows + i * n, *y = b->rows + i * n;
            const double one = value_of(columns, n, x, error), other = value_of(columns, n, y, error);
            if (isnan(one)) break;
            kit_where("%s, %s of row %ld", a->what->name, columns[c].name, i);
            KIT_NEAR(y[c], x[c], 5 * hypot(one, other) + 1e-8 * size);
            values += one < 0.2 * fabs(x[c]);
        }
    }
}

/* With noise what has an error, to five of it; else all. */
static void compare_summaries(const measure_result *a, const measure_result *b, int noise)
{
    const measure_column *columns = a->what->summary;
    const int n = a->what->nsummary;
    for (int c = 0; c < n; c++) {
        char error[64];
        snprintf(error, sizeof error, "%s_error", columns[c].name);
        const double one = value_of(columns, n, a->summary, error), other = value_of(columns, n, b->summary, error);
        if (tells_of_solves(columns[c].name) || (noise && isnan(one))) continue;
        if (isnan(a->summary[c]) && isnan(b->summary[c])) continue;
        kit_where("%s, summary %s", a->what->name, columns[c].name);
        KIT_CHECK(!noise || (one > 0 && one < 0.2 * fabs(a->summary[c])));
        KIT_NEAR(b->summary[c], a->summary[c], noise ? 5 * hypot(one, other) : 1e-8 * fabs(a->summary[c]));
        values++;
    }
}

/* ---- every observable ---- */

static void check_invariance(const parameters *p, const lattice *lat, const observable *o)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 83);
    double complex *u = kit_random_gauge(shape, 0.4, &rng), *g = kit_alloc(9 * (size_t)lat->volume, sizeof *g);
    ref_random_rotation(g, shape, &rng);
    field *links = kit_links(lat, u);
    const measure_context c = {p, links, NULL, NULL, -1, NULL};
    measure_result before = measure(&c, &p->measures[0]);
    ref_rotate_gauge(u, shape, g);
    field *turned = kit_links(lat, u);
    const measure_context d = {p, turned, NULL, NULL, -1, NULL};
    measure_result after = measure(&d, &p->measures[0]);
    const int noise = observable_has(o, "vectors"), seen = values;
    KIT_INT(before.failed || after.failed, 0);
    KIT_CHECK(before.nrows > 0 && before.nrows == after.nrows);
    (noise ? compare_means : compare_rows)(&before, &after);
    compare_summaries(&before, &after, noise);
    KIT_CHECK(values > seen);
    measure_result_free(&after);
    measure_result_free(&before);
    field_destroy(turned);
    field_destroy(links);
    free(g);
    free(u);
}

static void check_quark(const quark_kind *kind, const char *keys)
{
    if (!can_measure(observed, kind, keys)) {
        passed_over++;
        return;
    }
    parameters *p = parameters_of(kind, keys, observed);
    lattice *lat = kit_lattice(shape, simulation_reach(p), -1);
    kit_where("%s, %s, %s", observed->name, kind->name, keys);
    if (lat) check_invariance(p, lat, observed);
    measured += lat != NULL;
    lattice_destroy(lat);
    parameters_free(p);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int i = 0; (observed = observable_number(i)); i++) {
        if (observed->quarks == MEASURE_NO_QUARKS) check_quark(quark_kind_number(0), "");
        else quarks_all(check_quark);
    }
    if (comm_rank() == 0)
        printf("%d measurements, %d values; %d pairs of an observable and a quark that it is not measured with\n",
               measured, values, passed_over);
    return kit_end();
}
