#include "hmc/sources/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"

#define SOURCE(kind) extern const source_kind source_kind_##kind;
#include "hmc/sources/sources.def"
#undef SOURCE

static const source_kind *const all[] = {
#define SOURCE(kind) &source_kind_##kind,
#include "hmc/sources/sources.def"
#undef SOURCE
    NULL};

const source_kind *source_kind_number(int i)
{
    return i < (int)(sizeof all / sizeof all[0]) ? all[i] : NULL;
}

const source_kind *source_kind_find(const char *name)
{
    for (int i = 0; all[i]; i++)
        if (!strcmp(all[i]->name, name)) return all[i];
    REQUIRE(0, "no kind of source %s", name);
    return NULL;
}

/* ---- keys ---- */

static char kind_names[256], kind_help[1024];

static const param keys[] = {
    {"kind", PARAM_CHOICE, offsetof(source_params, kind), "point", kind_names, NULL, kind_help, 0},
    {"smearing", PARAM_NAME, offsetof(source_params, smearing), "", "smearing", NULL,
     "[smearing.NAME] of the source, of quarks with spin; empty: none", 0},
};

static const param_section section = {
    "source", 1, keys, (int)(sizeof keys / sizeof keys[0]), sizeof(source_params), "a source, which propagators name",
    NULL};

const param_section *source_section(int number)
{
    if (!kind_names[0])
        for (int i = 0; all[i]; i++)
            param_add_choice(kind_names, sizeof kind_names, kind_help, sizeof kind_help, all[i]->name, all[i]->help);
    return number == 0 ? &section : source_kind_number(number - 1) ? all[number - 1]->own : NULL;
}

int source_kind_has(const char *kind, const char *key)
{
    return param_find(&section, key) || param_find(source_kind_find(kind)->own, key);
}

void source_kind_keys(const char *kind, char *text, size_t size)
{
    const param_section *own = source_kind_find(kind)->own;
    text[0] = 0;
    for (int i = 0; i < own->count; i++) param_append(text, size, text[0] ? " " : "", own->table[i].name);
}

/* ---- fields ---- */

/* Room of the slice at global time t, filled from the field; null on ranks and plans without that slice. `local`: its number. */
static double *open_slice(const field *b, int t, int *local)
{
    *local = t - b->lat->origin[3];
    if (*local < 0 || *local >= field_slices(b)) return NULL;
    double *slice = field_slice_buffer(b);
    field_export(b, *local, slice);
    return slice;
}

void source_fill(field *b, const source_params *s, int component, uint64_t seed)
{
    const source_kind *kind = source_kind_find(s->kind);
    const lattice *lat = b->lat;
    const int *l = lat->local, *o = lat->origin;
    int place[4], local;
    kind->place(s, place);
    field_clear(b);
    double *slice = open_slice(b, place[3], &local);
    if (!slice) return;
    for (long i = 0; i < (long)l[0] * l[1] * l[2]; i++) {
        const int x[4] = {(int)(i % l[0]) + o[0], (int)(i / l[0] % l[1]) + o[1], (int)(i / l[0] / l[1]) + o[2],
                          place[3]};
        const double complex f = kind->value(s, x, lat->size, seed);
        slice[i * b->reals + 2 * component] = creal(f);
        slice[i * b->reals + 2 * component + 1] = cimag(f);
    }
    field_import(b, local, slice);
    free(slice);
}

void source_point(field *b, const int place[4], int component)
{
    const lattice *lat = b->lat;
    int x[3], mine = 1, local;
    for (int d = 0; d < 3; d++) {
        x[d] = place[d] - lat->origin[d];
        mine = mine && x[d] >= 0 && x[d] < lat->local[d];
    }
    field_clear(b);
    double *slice = mine ? open_slice(b, place[3], &local) : NULL;
    if (!slice) return;
    slice[(((size_t)x[2] * lat->local[1] + x[1]) * lat->local[0] + x[0]) * (size_t)b->reals + 2 * (size_t)component] =
        1;
    field_import(b, local, slice);
    free(slice);
}

const char *source_outside(const source_params *s, const int size[4], int place[4])
{
    const source_kind *kind = source_kind_find(s->kind);
    kind->place(s, place);
    for (int d = 0; d < 4; d++)
        if (size[d] > 0 && place[d] >= size[d]) return param_find(kind->own, "place") ? "place" : "time";
    return NULL;
}
