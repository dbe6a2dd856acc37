#include "hmc/sources/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/input/parts.h"
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

int source_kind_has(const source_kind *kind, const char *key)
{
    return param_find(&section, key) || param_find(kind->own, key);
}

void source_kind_keys(const source_kind *kind, char *text, size_t size)
{
    parts_keys((const param_section *const[]){kind->own, NULL}, text, size);
}

const sequential_keys *source_sequential(const source_params *s)
{
    const source_kind *kind = source_kind_of(s);
    return kind->sequential || kind->current ? SOURCE_OWN(sequential_keys, s) : NULL;
}

int source_same_noise(const source_params *a, const source_params *b)
{
    const param_section *own = source_kind_of(a)->own;
    char one[PARAM_TEXT_SIZE], other[PARAM_TEXT_SIZE];
    int same = a->kind == b->kind;
    for (int i = 0; same && i < own->count; i++) {
        if (!strcmp(own->table[i].name, "momentum")) continue;
        param_format(&own->table[i], a, one, sizeof one);
        param_format(&own->table[i], b, other, sizeof other);
        same = !strcmp(one, other);
    }
    return same;
}

/* ---- fields ---- */

int source_has_place(const source_params *s)
{
    const source_kind *kind = source_kind_of(s);
    return !kind->volume && !kind->all_times;
}

/* The numbers of the key that has the source's place, and the direction of the first: 0 of all four, 3 of the time. */
static int *place_in(source_params *s, int *first)
{
    const param_section *own = source_kind_of(s)->own;
    const param *all = param_find(own, "place");
    *first = all ? 0 : 3;
    return (int *)(void *)((char *)s + (all ? all : param_find(own, "time"))->offset);
}

void source_place(const source_params *s, int place[4])
{
    source_params copy = *s;
    int first;
    memset(place, 0, 4 * sizeof *place);
    if (!source_has_place(s)) return;
    const int *at = place_in(&copy, &first);
    for (int d = 0; d < 4; d++) place[d] = d < first ? 0 : at[d - first];
}

void source_move(source_params *s, const int shift[4], const int size[4])
{
    int first;
    if (!source_has_place(s)) return;
    int *at = place_in(s, &first);
    for (int d = first; d < 4; d++) at[d - first] = (at[d - first] + shift[d]) % size[d];
}

double complex source_wave(const int n[3], const int x[3], const int size[3])
{
    double turns = 0;
    for (int d = 0; d < 3; d++) turns += (double)((long)n[d] * x[d] % size[d]) / size[d];
    return cexp(2 * M_PI * I * turns);
}

/* The wave of a source on all sites along time. */
static double complex wave_in_time(const source_params *s, const lattice *lat, int t)
{
    const int *n = source_volume_momentum(s), T = lat->size[3];
    if (!n) return 1;
    const long halves = 2L * n[3] + (lat->time_sign < 0);
    return cexp(M_PI * I * (double)(halves * t % (2L * T)) / T);
}

static void fill_slice(field *b, const source_params *s, int component, uint64_t seed, int t)
{
    const source_kind *kind = source_kind_of(s);
    const lattice *lat = b->lat;
    const int *l = lat->local, *o = lat->origin, local = t - o[3];
    if (local < 0 || local >= field_slices(b)) return;
    double *slice = field_slice_buffer(b);
    const double complex wave = wave_in_time(s, lat, t);
    field_export(b, local, slice);
    for (long i = 0; i < (long)l[0] * l[1] * l[2]; i++) {
        const int x[4] = {(int)(i % l[0]) + o[0], (int)(i / l[0] % l[1]) + o[1], (int)(i / l[0] / l[1]) + o[2], t};
        double complex f = kind->value(s, x, lat->size, seed);
        if (kind->volume) f *= wave;
        slice[i * b->reals + 2 * component] = creal(f);
        slice[i * b->reals + 2 * component + 1] = cimag(f);
    }
    field_import(b, local, slice);
    free(slice);
}

void source_fill(field *b, const source_params *s, int component, uint64_t seed)
{
    const int volume = source_kind_of(s)->volume, T = b->lat->size[3];
    int place[4];
    source_place(s, place);
    field_clear(b);
    for (int t = volume ? 0 : place[3]; t < (volume ? T : place[3] + 1); t++) fill_slice(b, s, component, seed, t);
}

const char *source_outside(const source_params *s, const int size[4], int place[4])
{
    source_place(s, place);
    for (int d = 0; d < 4; d++)
        if (size[d] > 0 && place[d] >= size[d]) return param_find(source_kind_of(s)->own, "place") ? "place" : "time";
    return NULL;
}
