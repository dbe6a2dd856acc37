#include "io/history/correlators_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/files/hdf5_image.h"
#include "io/files/hdf5_values.h"
#include "kernels/base/error.h"

enum { MOST_COLUMNS = 64 };

/* A dataset of a table: one number a row, or along the axis. */
typedef struct {
    char name[64];
    int dimensions;
    hsize_t extent[2];
    double *values;
} dataset;

typedef struct {
    dataset all[MOST_COLUMNS];
    int n, axis; /* axis: the dataset t; -1: none in units of a */
    long rows;
} table;

/* ---- datasets ---- */

static int read_dataset(hid_t group, const char *name, dataset *to)
{
    const hid_t d = H5Dopen2(group, name, H5P_DEFAULT);
    if (d < 0) return -1;
    const hid_t space = H5Dget_space(d), type = H5Dget_type(d);
    const H5T_class_t class = H5Tget_class(type);
    int bad = class != H5T_FLOAT && class != H5T_INTEGER;
    to->dimensions = H5Sget_simple_extent_ndims(space);
    if (to->dimensions < 1 || to->dimensions > 2) bad = 1;
    to->extent[1] = 1;
    if (!bad) H5Sget_simple_extent_dims(space, to->extent, NULL);
    if (!bad) {
        const size_t n = (size_t)(to->extent[0] * to->extent[1]);
        snprintf(to->name, sizeof to->name, "%s", name);
        to->values = malloc((n + 1) * sizeof *to->values);
        REQUIRE_MEMORY(to->values, "out of memory for %zu numbers", n);
        bad = H5Dread(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to->values) < 0;
        if (bad) free(to->values);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(d);
    return bad ? -1 : 0;
}

static int is_axis(hid_t group, const dataset *d, const char *axis)
{
    char unit[32];
    if (axis) return !strcmp(d->name, axis) && d->dimensions == 1;
    if (strcmp(d->name, "t") || d->dimensions != 1) return 0;
    const hid_t t = H5Dopen2(group, d->name, H5P_DEFAULT);
    const int found = !values_get_text(t, "unit", unit, sizeof unit) && !strcmp(unit, "a");
    H5Dclose(t);
    return found;
}

/* Numbers of a table, all; texts and groups inside are passed over. */
static void read_table(hid_t group, table *to, const char *axis)
{
    H5G_info_t info;
    *to = (table){.axis = -1};
    if (H5Gget_info(group, &info) < 0) return;
    for (hsize_t i = 0; i < info.nlinks && to->n < MOST_COLUMNS; i++) {
        char name[64];
        H5O_info_t object;
        dataset *d = &to->all[to->n];
        if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) < 0 ||
            H5Oget_info_by_name(group, name, &object, H5P_DEFAULT) < 0 || object.type != H5O_TYPE_DATASET ||
            read_dataset(group, name, d))
            continue;
        if (is_axis(group, d, axis)) to->axis = to->n;
        if (d->dimensions == 2) to->rows = (long)d->extent[0];
        to->n++;
    }
}

static void free_table(table *t)
{
    for (int i = 0; i < t->n; i++) free(t->all[i].values);
}

/* ---- correlators ---- */

static int is_label(const table *t, int i)
{
    const dataset *d = &t->all[i];
    return i != t->axis && d->dimensions == 1 && (long)d->extent[0] == t->rows && strcmp(d->name, "config") &&
           strcmp(d->name, "trajectory");
}

static const dataset *column_of(const table *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (!strcmp(t->all[i].name, name)) return &t->all[i];
    return NULL;
}

/* Extents of the lattice of a row; zeros in the history of a run, which has but one. */
static void size_of(const table *t, const table *configs, long row, int size[4])
{
    static const char *const names[4] = {"size_x", "size_y", "size_z", "size_t"};
    const dataset *config = column_of(t, "config");
    for (int d = 0; d < 4; d++) {
        const dataset *extent = column_of(configs, names[d]);
        const double at = config && row < (long)config->extent[0] ? config->values[row] : -1;
        size[d] = extent && at >= 0 && at < (double)extent->extent[0] ? (int)extent->values[(size_t)at] : 0;
    }
}

/* Labels of a row as a text, with the extents of its lattice unless these are zeros. */
static void labels_of(const table *t, long row, const int size_of_row[4], char *text, size_t size)
{
    const int *l = size_of_row;
    size_t n = 0;
    text[0] = 0;
    if (l[3] > 0) n = (size_t)snprintf(text, size, "lattice = %d.%d.%d.%d", l[0], l[1], l[2], l[3]);
    for (int i = 0; i < t->n && n < size; i++)
        if (is_label(t, i))
            n += (size_t)snprintf(text + n, size - n, "%s%s = %.12g", n ? " " : "", t->all[i].name,
                                  t->all[i].values[row]);
}

static int is_of(const correlator *c, const dataset *d, const char *labels)
{
    return !strcmp(c->column, d->name) && !strcmp(c->labels, labels);
}

/* The correlator of a column and labels, which is new where there is none, from number `first` on. Rows of configurations come in
 * one order, so that the one after `*last` mostly is it. */
static correlator *find(correlators *c, int first, int *last, const char *name, const dataset *d, const char *labels,
                        const correlator *shape)
{
    const int next = *last + 1 < c->n ? *last + 1 : first;
    for (int i = next; i < c->n; i++)
        if (is_of(&c->all[ *last = i], d, labels)) return &c->all[i];
    for (int i = first; i < next && i < c->n; i++)
        if (is_of(&c->all[ *last = i], d, labels)) return &c->all[i];
    *last = c->n;
    c->all = realloc(c->all, (size_t)(c->n + 1) * sizeof *c->all);
    REQUIRE_MEMORY(c->all, "out of memory");
    correlator *new = &c->all[c->n++];
    *new = *shape;
    snprintf(new->table, sizeof new->table, "%s", name);
    snprintf(new->column, sizeof new->column, "%s", d->name);
    snprintf(new->labels, sizeof new->labels, "%s", labels);
    return new;
}

/* Times of a row that count: as many as the lattice has, and in a table whose times do not begin at 0 those up to the last value
 * that is there, because its rows differ in length. */
static correlator shape_of(const table *t, const dataset *d, long row, int lattice_times)
{
    const int most = (int)d->extent[1], first = (int)t->all[t->axis].values[0];
    correlator shape = {
        .T = lattice_times > 0 && lattice_times < most ? lattice_times : most, .periodic = first == 0, .first = first};
    while (!shape.periodic && shape.T > 1 && isnan(d->values[(size_t)row * (size_t)most + (size_t)shape.T - 1]))
        shape.T--;
    return shape;
}

/* A row, of which as many times count as the lattice has. */
static void add_row(correlators *c, int first, int *last, const char *name, const table *t, const table *configs,
                    int of_time, long row)
{
    char labels[sizeof((correlator *)0)->labels];
    int extents[4];
    size_of(t, configs, row, extents);
    labels_of(t, row, extents, labels, sizeof labels);
    for (int i = 0; i < t->n; i++) {
        const dataset *d = &t->all[i];
        if (d->dimensions != 2) continue;
        const int most = (int)d->extent[1];
        const correlator shape = shape_of(t, d, row, of_time ? extents[3] : 0);
        correlator *to = find(c, first, last, name, d, labels, &shape);
        const size_t T = (size_t)to->T;
        to->values = realloc(to->values, (size_t)(to->n + 1) * T * sizeof *to->values);
        REQUIRE_MEMORY(to->values, "out of memory");
        memcpy(to->values + (size_t)to->n++ * T, d->values + (size_t)row * (size_t)most, T * sizeof *to->values);
    }
}

static void add_table(correlators *c, hid_t measure, const char *name, const table *configs, const char *axis)
{
    const hid_t group = H5Gopen2(measure, name, H5P_DEFAULT);
    table t;
    if (group < 0) return;
    const int first = c->n;
    int last = first - 1;
    read_table(group, &t, axis);
    for (long row = 0; t.axis >= 0 && row < t.rows; row++) add_row(c, first, &last, name, &t, configs, !axis, row);
    free_table(&t);
    H5Gclose(group);
}

/* Tables of the file, all or the one that is asked for; their names are added to a text. */
static int read_tables(correlators *c, hid_t measure, const table *configs, const char *asked, const char *axis,
                       char *names, size_t size)
{
    H5G_info_t info;
    int found = 0;
    size_t n = 0;
    names[0] = 0;
    if (H5Gget_info(measure, &info) < 0) return 0;
    for (hsize_t i = 0; i < info.nlinks; i++) {
        char name[96];
        if (H5Lget_name_by_idx(measure, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) < 0)
            continue;
        if (n < size) n += (size_t)snprintf(names + n, size - n, "%s%s", n ? " " : "", name);
        if (asked && strcmp(asked, name)) continue;
        found = 1;
        add_table(c, measure, name, configs, axis);
    }
    return found;
}

int correlators_read(correlators *c, const char *path, const char *asked, const char *axis, char *message, size_t size)
{
    char names[512] = "";
    *c = (correlators){0};
    values_silence();
    image *m = image_read(path, &(seal_regions){0}, NULL, message, size);
    if (!m) return -1;
    const hid_t measure = H5Gopen2(image_file(m), "measure", H5P_DEFAULT);
    const hid_t group = H5Gopen2(image_file(m), "configs", H5P_DEFAULT);
    table configs = {0};
    if (group >= 0) read_table(group, &configs, NULL);
    const int found = measure >= 0 && read_tables(c, measure, &configs, asked, axis, names, sizeof names);
    free_table(&configs);
    if (group >= 0) H5Gclose(group);
    if (measure >= 0) H5Gclose(measure);
    image_close(m);
    if (!found && asked && names[0])
        snprintf(message, size, "%s: no table measure/%s; there are %s", path, asked, names);
    else if (c->n == 0 && axis)
        snprintf(message, size, "%s: no table with an axis %s%s%s", path, axis, names[0] ? "; its tables are " : "",
                 names);
    else if (c->n == 0)
        snprintf(message, size, "%s: no correlators, which are columns along a time t in units of a%s%s", path,
                 names[0] ? "; its tables are " : "", names);
    return c->n > 0 ? 0 : -1;
}

void correlators_free(correlators *c)
{
    for (int i = 0; i < c->n; i++) free(c->all[i].values);
    free(c->all);
}
