#include "io/input/ini.h"

#include "io/files/regular.h"
#include "io/input/ini_entries.h"
#include "kernels/lattice/comm.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_BYTES = 1 << 20, /* an input file is written by hand: more is a lattice file given by mistake */
    MOST_KNOWN = 256,
    MOST_MISTAKES = 20
};

void ini_free(ini_input *in)
{
    if (!in) return;
    for (int i = 0; i < in->nsections; i++) {
        free(in->sections[i].name);
        free(in->sections[i].where);
    }
    for (int i = 0; i < in->nvalues; i++) {
        free(in->values[i].section);
        free(in->values[i].key);
        free(in->values[i].value);
        free(in->values[i].where);
    }
    free(in->sections);
    free(in->values);
    param_text_free(&in->mistakes);
    free(in->path);
    free(in);
}

/* ---- mistakes ---- */

void ini_mistake(ini_input *in, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    const int length = vasprintf(&text, fmt, ap);
    va_end(ap);
    REQUIRE_MEMORY(length >= 0, "no memory for the input file");
    ini_add_mistake(in, text);
}

void ini_judge(const ini_input *in)
{
    const char *end = in->mistakes.data;
    if (in->nmistakes == 0) return;
    if (in->nmistakes == 1) user_error("%s", in->mistakes.data);
    for (int i = 0; i < MOST_MISTAKES; i++) end += strcspn(end, "\n") + (i < MOST_MISTAKES - 1 && strchr(end, '\n'));
    char first[32] = ":";
    if (in->nmistakes > MOST_MISTAKES) snprintf(first, sizeof first, "; the first %d:", MOST_MISTAKES);
    user_error("%d errors in the input%s\n  %.*s", in->nmistakes, first, (int)(end - in->mistakes.data),
               in->mistakes.data);
}

/* ---- the text of the file, the same on every rank ---- */

typedef struct {
    char why[128]; /* reason of a failure, or "" */
    int length;
} load_result;

static load_result load(const char *path, char *text)
{
    load_result r = {"", 0};
    const char *why;
    int fd = regular_open(path, NULL, &why);
    if (fd < 0) {
        snprintf(r.why, sizeof r.why, "%s", why);
        return r;
    }
    while (r.length <= MOST_BYTES) {
        ssize_t got = read(fd, text + r.length, (size_t)(MOST_BYTES + 1 - r.length));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) snprintf(r.why, sizeof r.why, "%s", strerror(errno));
        if (got <= 0) break;
        r.length += (int)got;
    }
    close(fd);
    return r;
}

static char *load_everywhere(const char *path)
{
    char *text = (char *)ini_checked(calloc(MOST_BYTES + 2, 1));
    if (!path) return text;
    load_result result = {"", 0};
    if (comm_rank() == 0) result = load(path, text);
    comm_bcast(&result, sizeof result);
    if (result.why[0]) user_error("cannot read the input file '%s': %s", path, result.why);
    if (result.length > MOST_BYTES)
        user_error("'%s' is not an input file: it is larger than %d bytes", path, MOST_BYTES);
    if (result.length) comm_bcast(text, (size_t)result.length);
    if (strlen(text) != (size_t)result.length)
        user_error("'%s' is not an input file: it contains a zero byte at offset %zu", path, strlen(text));
    return text;
}

/* ---- the command line ---- */

static const char *nearest_section(const ini_input *in, const char *name)
{
    const char *names[MOST_KNOWN];
    int n = 0;
    for (int i = 0; i < in->nsections && n < MOST_KNOWN; i++) names[n++] = in->sections[i].name;
    return param_nearest(name, names, n);
}

static void override(ini_input *in, const char *word)
{
    size_t length = strcspn(word, "=");
    const char *dot = word[length] ? (const char *)memrchr(word, '.', length) : NULL;
    if (!dot) user_error("command line: '%s' is not of the form section.key=value", word);
    char *section = ini_text_of("%.*s", (int)(dot - word), word);
    size_t key_length = (size_t)(word + length - dot) - 1;
    while (key_length && isspace((unsigned char)dot[key_length])) key_length--;
    char *key = ini_text_of("%.*s", (int)key_length, dot + 1);
    if (!ini_is_section_name(section) || !ini_is_name(key, (int)strlen(key)))
        user_error("command line: '%s' is not of the form section.key=value", word);
    if (!ini_find_section(in, section)) {
        const char *near = nearest_section(in, section);
        if (strchr(section, '.'))
            user_error("command line: %s: there is no section [%s] in %s%s%s%s", word, section, in->path,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        ini_add_section(in, section, ini_text_of("command line: %s", word));
    }
    const char *value = word + length + 1;
    while (isspace((unsigned char)*value)) value++;
    size_t used = strlen(value);
    while (used && isspace((unsigned char)value[used - 1])) used--;
    char *where = ini_text_of("command line: %s", word), *copy = ini_text_of("%.*s", (int)used, value);
    value_entry *old = ini_find_value(in, section, key);
    if (old) {
        free(old->value);
        free(old->where);
        old->value = copy;
        old->where = where;
    } else {
        ini_add_value(in, section, key, copy, where);
        free(copy);
    }
    free(section);
    free(key);
}

/* ---- sections like others ---- */

static void drop_value(ini_input *in, value_entry *v)
{
    free(v->section);
    free(v->key);
    free(v->value);
    free(v->where);
    *v = in->values[--in->nvalues];
}

/* Keys of another section that this one does not have, with the place where they were given. */
static void copy_keys(ini_input *in, const char *from, const char *to)
{
    const int n = in->nvalues;
    for (int i = 0; i < n; i++) {
        const value_entry v = in->values[i];
        if (strcmp(v.section, from) || ini_find_value(in, to, v.key)) continue;
        ini_add_value(in, to, v.key, v.value, ini_text_of("%s", v.where));
    }
}

/* Resolves `like` of one section, and first that of the section that it names. */
static void resolve_like(ini_input *in, const char *section, int depth)
{
    const value_entry *v = ini_find_value(in, section, "like");
    const char *const dot = strchr(section, '.');
    if (!v) return;
    char *const other = ini_text_of("%.*s.%s", (int)(dot ? dot - section : 0), section, v->value);
    if (!dot) {
        ini_mistake(in, "%s: like = %s in [%s]: only sections [type.NAME] can be like others", v->where, v->value,
                    section);
    } else if (!ini_find_section(in, other)) {
        const char *near = nearest_section(in, other);
        ini_mistake(in, "%s: like = %s in [%s] names no [%.*s.NAME] of this file%s%s%s", v->where, v->value, section,
                    (int)(dot - section), section, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    } else if (!strcmp(other, section) || depth > in->nsections) {
        ini_mistake(in, "%s: like = %s in [%s]: the section is like itself", v->where, v->value, section);
    } else {
        resolve_like(in, other, depth + 1);
        copy_keys(in, other, section);
    }
    value_entry *own = ini_find_value(in, section, "like");
    if (own) drop_value(in, own);
    free(other);
}

ini_input *ini_read(const char *path, int noverride, const char *const *overrides)
{
    ini_input *in = (ini_input *)ini_checked(calloc(1, sizeof *in));
    in->path = ini_text_of("%s", path ? path : "the input");
    char *text = load_everywhere(path);
    ini_read_lines(in, text);
    free(text);
    for (int i = 0; i < noverride; i++) override(in, overrides[i]);
    for (int i = 0; i < in->nsections; i++) resolve_like(in, in->sections[i].name, 0);
    return in;
}

/* ---- questions ---- */

static void full_name(char *name, size_t size, const char *section, const char *instance)
{
    snprintf(name, size, "%s%s%s", section, instance ? "." : "", instance ? instance : "");
}

int ini_has_section(const ini_input *in, const char *section, const char *instance)
{
    char name[PARAM_STRING_SIZE];
    full_name(name, sizeof name, section, instance);
    return ini_find_section(in, name) != NULL;
}

int ini_given(const ini_input *in, const char *section, const char *instance, const char *key)
{
    char name[PARAM_STRING_SIZE];
    full_name(name, sizeof name, section, instance);
    return ini_find_value(in, name, key) != NULL;
}

const char *ini_text(const ini_input *in, const char *section, const char *instance, const char *key)
{
    char name[PARAM_STRING_SIZE];
    full_name(name, sizeof name, section, instance);
    const value_entry *v = ini_find_value(in, name, key);
    return v ? v->value : NULL;
}

const char *ini_where(const ini_input *in, const char *section, const char *instance, const char *key)
{
    char name[PARAM_STRING_SIZE];
    full_name(name, sizeof name, section, instance);
    const value_entry *v = ini_find_value(in, name, key);
    const section_entry *s = ini_find_section(in, name);
    return v ? v->where : s ? s->where : in->path;
}

int ini_instances(const ini_input *in, const char *section, const char **names, int max)
{
    size_t base = strlen(section);
    int n = 0;
    for (int i = 0; i < in->nsections; i++) {
        const section_entry *s = &in->sections[i];
        if (strncmp(s->name, section, base) || s->name[base] != '.') continue;
        if (n == max)
            user_error("%s: section [%s] is one too many: allowed are %d [%s.NAME]", s->where, s->name, max, section);
        names[n++] = s->name + base + 1;
    }
    return n;
}

/* ---- filling ---- */

/* Tables of one section: the one given, and those that are known beside it. Null after the last. */
static const param_section *table_of(const ini_input *in, const param_section *type, int number)
{
    if (number == 0) return type;
    for (int i = 0; i < in->nknown; i++)
        if (in->known[i] != type && !strcmp(in->known[i]->section, type->section) && --number == 0) return in->known[i];
    return NULL;
}

static int is_known(const ini_input *in, const param_section *type, const char *key)
{
    const param_section *t;
    for (int i = 0; (t = table_of(in, type, i)); i++)
        if (param_find(t, key)) return 1;
    return 0;
}

/* The sections that have the key, "[fermion.NAME]", separated by commas; 0 if there is none. */
static int other_section(const ini_input *in, const param_section *type, const char *key, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < in->nknown; i++) {
        const param_section *s = in->known[i];
        char name[PARAM_STRING_SIZE];
        snprintf(name, sizeof name, "[%s%s]", s->section, s->named ? ".NAME" : "");
        if (!strcmp(s->section, type->section) || !param_find(s, key) || strstr(text, name)) continue;
        param_append(text, size, ", ", name);
    }
    return text[0] != 0;
}

static void refuse_key(ini_input *in, const param_section *type, const value_entry *v)
{
    const char *names[MOST_KNOWN];
    const param_section *t;
    param_text keys = {0};
    int n = 0;
    for (int k = 0; (t = table_of(in, type, k)); k++)
        for (int i = 0; i < t->count && n < MOST_KNOWN; i++) {
            int seen = 0;
            for (int j = 0; j < n; j++) seen = seen || !strcmp(names[j], t->table[i].name);
            if (seen) continue;
            names[n] = t->table[i].name;
            param_text_add(&keys, "%s%s", n ? ", " : "", names[n]);
            n++;
        }
    const char *near = param_nearest(v->key, names, n);
    char elsewhere[PARAM_STRING_SIZE];
    if (other_section(in, type, v->key, elsewhere, sizeof elsewhere))
        ini_mistake(in, "%s: unknown key '%s' in [%s]; it is a key of %s (keys of [%s]: %s)", v->where, v->key,
                    v->section, elsewhere, v->section, keys.data ? keys.data : "none");
    else
        ini_mistake(in, "%s: unknown key '%s' in [%s]%s%s%s (keys: %s)", v->where, v->key, v->section,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", keys.data ? keys.data : "none");
    param_text_free(&keys);
}

/* Keys that must be given and are not. Where the section has an unknown key, that is the one meant. */
static void require_keys(ini_input *in, const param_section *type, const char *name)
{
    char message[PARAM_MESSAGE_SIZE];
    const section_entry *s = ini_find_section(in, name);
    for (int i = 0; i < in->nvalues; i++)
        if (!strcmp(in->values[i].section, name) && !is_known(in, type, in->values[i].key)) return;
    for (int i = 0; i < type->count; i++) {
        const param *p = &type->table[i];
        if (p->deflt || ini_find_value(in, name, p->name)) continue;
        param_range_text(p, message, sizeof message);
        ini_mistake(in, "%s: [%s] needs the key '%s' (%s); allowed: %s", s ? s->where : in->path, name, p->name,
                    p->help, message);
    }
}

void ini_fill_some(ini_input *in, const param_section *type, const char *instance, void *out)
{
    char name[PARAM_STRING_SIZE], message[PARAM_MESSAGE_SIZE];
    REQUIRE(!type->named == !instance, "section type '%s', instance '%s'", type->section, instance ? instance : "none");
    full_name(name, sizeof name, type->section, instance);
    section_entry *s = ini_find_section(in, name);
    if (s) s->filled = 1;
    params_default(type, out);
    for (int i = 0; i < in->nvalues; i++) {
        const value_entry *v = &in->values[i];
        if (strcmp(v->section, name)) continue;
        const param *p = param_find(type, v->key);
        if (!p && !is_known(in, type, v->key)) refuse_key(in, type, v);
        if (p && param_set(p, out, v->value, message, sizeof message))
            ini_mistake(in, "%s: [%s] %s: %s", v->where, name, v->key, message);
    }
    if (in->known) ini_judge(in);
}

void ini_fill(ini_input *in, const param_section *type, const char *instance, void *out)
{
    char name[PARAM_STRING_SIZE];
    ini_fill_some(in, type, instance, out);
    full_name(name, sizeof name, type->section, instance);
    require_keys(in, type, name);
    if (in->known) ini_judge(in);
}

/* ---- all at once ---- */

static void refuse_section(ini_input *in, const section_entry *s)
{
    const char *names[MOST_KNOWN];
    char base[INI_LONGEST_NAME + 1];
    int count = 0;
    param_text all = {0};
    size_t length = strcspn(s->name, ".");
    snprintf(base, sizeof base, "%.*s", (int)length, s->name);
    for (int i = 0; i < in->nknown; i++) {
        const char *type = in->known[i]->section;
        if (!strcmp(type, base)) {
            if (in->known[i]->named)
                ini_mistake(in, "%s: section [%s] needs a name: [%s.NAME]", s->where, s->name, base);
            else ini_mistake(in, "%s: section [%s] takes no name: [%s]", s->where, s->name, base);
            param_text_free(&all);
            return;
        }
        if (in->known[i]->owner || count == MOST_KNOWN) continue;
        param_text_add(&all, "%s[%s%s]", count ? ", " : "", type, in->known[i]->named ? ".NAME" : "");
        names[count++] = type;
    }
    const char *near = param_nearest(base, names, count);
    ini_mistake(in, "%s: unknown section [%s]%s%s%s%s (sections: %s)", s->where, s->name,
                near ? "; did you mean '[" : "", near ? near : "", near && s->name[length] ? s->name + length : "",
                near ? "]'?" : "", all.data ? all.data : "none");
    param_text_free(&all);
}

/* The value of a known key must suit one of the tables that have it; which one counts is for the caller to say. */
static void check_value(ini_input *in, const param_section *type, const value_entry *v)
{
    char message[PARAM_MESSAGE_SIZE], first[PARAM_MESSAGE_SIZE] = "";
    const param_section *t;
    for (int k = 0; (t = table_of(in, type, k)); k++) {
        const param *p = param_find(t, v->key);
        if (!p) continue;
        void *scratch = ini_checked(calloc(1, t->size));
        const int bad = param_set(p, scratch, v->value, message, sizeof message);
        free(scratch);
        if (!bad) return;
        if (!first[0]) snprintf(first, sizeof first, "%s", message);
    }
    if (first[0]) ini_mistake(in, "%s: [%s] %s: %s", v->where, v->section, v->key, first);
    else refuse_key(in, type, v);
}

/* The first table of a section, null when there is none of that name. */
static const param_section *type_of(const ini_input *in, const char *name)
{
    const size_t base = strcspn(name, ".");
    for (int k = 0; k < in->nknown; k++) {
        const param_section *t = in->known[k];
        if (strlen(t->section) == base && !strncmp(t->section, name, base) && !t->named == !name[base]) return t;
    }
    return NULL;
}

void ini_check_all_used(ini_input *in, const param_section *const *known, int n)
{
    in->known = known;
    in->nknown = n;
    for (int i = 0; i < in->nsections; i++) {
        const section_entry *s = &in->sections[i];
        const param_section *type = type_of(in, s->name);
        if (!type) refuse_section(in, s);
        else if (!s->filled) require_keys(in, type, s->name);
    }
    for (int i = 0; i < in->nvalues; i++) {
        const param_section *type = type_of(in, in->values[i].section);
        if (type) check_value(in, type, &in->values[i]);
    }
    ini_judge(in);
}
