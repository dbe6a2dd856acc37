/* The parameter tables for a reader: `plaq help` and the reference page of keys (see param.h). */
#include "kernels/base/param.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, AT_KEY = 2, AT_TYPE = 24, AT_DEFAULT = 33, AT_UNIT = 51, AT_ALLOWED = 61, AT_HELP = 6 };

/* Prints words from `column` on, and further lines from `indent`. */
static void put_wrapped(FILE *out, int column, int indent, const char *text)
{
    int at_start = 1;
    while (*(text += strspn(text, " "))) {
        int length = (int)strcspn(text, " ");
        if (!at_start && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            at_start = 1;
        }
        column += fprintf(out, "%s%.*s", at_start ? "" : " ", length, text);
        at_start = 0;
        text += length;
    }
    fputc('\n', out);
}

static int put_column(FILE *out, int column, int target, const char *text)
{
    int space = target > column ? target - column : 2;
    return column + fprintf(out, "%*s%s", space, "", text);
}

static const char *default_text(const param *p)
{
    return !p->deflt ? "(required)" : !*p->deflt ? "(none)" : p->deflt;
}

void param_parts_add(param_parts *parts, const param_section *part, const char *kind)
{
    int i = 0;
    while (i < parts->n && parts->sections[i].table != part->table) i++;
    REQUIRE(i < PARAM_MOST_PARTS, "more than %d parts of [%s]", PARAM_MOST_PARTS, part->section);
    if (i == parts->n) {
        parts->sections[parts->n++] = *part;
        parts->sections[i].owner = parts->owners[i];
    }
    param_append(parts->owners[i], sizeof parts->owners[i], ", ", kind);
}

/* Help of a key, after the kind that has it. Free with param_text_free(). */
static param_text help_text(const param_section *s, const param *p)
{
    param_text text = {0};
    param_text_add(&text, "%s%s%s", s->owner ? s->owner : "", s->owner ? ": " : "", p->help);
    return text;
}

/* The explanation of one value of a choice, "name: text", in the key's help, as param_add_choice() puts them: where it
 * begins, or null. */
static const char *value_help(const char *help, const char *name, size_t length)
{
    for (const char *at = help; (at = strstr(at, name)); at++)
        if ((at == help || (at - help >= 2 && !strncmp(at - 2, "; ", 2))) && !strncmp(at + length, ": ", 2)) return at;
    return NULL;
}

/* The beginnings of the explanations of a choice's values, in their order in the help, and behind them its end; returns
 * how many. */
static int value_helps(const param *p, const char *help, const char **at, int most)
{
    char name[PARAM_CHOICE_SIZE];
    int n = 0;
    for (const char *c = p->type == PARAM_CHOICE ? p->range : NULL, *bar; c && n < most; c = bar ? bar + 1 : NULL) {
        bar = strchr(c, '|');
        const size_t length = bar ? (size_t)(bar - c) : strlen(c);
        snprintf(name, sizeof name, "%.*s", (int)length, c);
        const char *where = value_help(help, name, length);
        if (where && (n == 0 || where > at[n - 1])) at[n++] = where;
    }
    at[n] = help + strlen(help) + 2;
    return n;
}

/* True if the text has the word, in letters of either case. */
static int mentions(const char *text, const char *word)
{
    return text && strcasestr(text, word) != NULL;
}

/* The help of a key, and each value of a choice on a line of its own: with a word, those that mention it, where any does. */
static void put_help(FILE *out, const param *p, const char *help, const char *word)
{
    enum { MOST = 64 };
    const char *at[MOST + 1];
    const int n = value_helps(p, help, at, MOST);
    int about = 0;
    param_text line = {0};
    if (n == 0) {
        put_wrapped(out, put_column(out, 0, AT_HELP, ""), AT_HELP, help);
        return;
    }
    if (at[0] - help > 2) {
        param_text_add(&line, "%.*s", (int)(at[0] - help - 2), help);
        put_wrapped(out, put_column(out, 0, AT_HELP, ""), AT_HELP, line.data);
        param_text_free(&line);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            param_text_add(&line, "%.*s", (int)(at[i + 1] - at[i] - 2), at[i]);
            const int is = word && mentions(line.data, word);
            if (pass == 0) about += is;
            else if (is || !about) put_wrapped(out, put_column(out, 0, AT_HELP, ""), AT_HELP + 2, line.data);
            param_text_free(&line);
        }
}

static void put_param(FILE *out, const param_section *s, const param *p, const char *word)
{
    char name[128], allowed[PARAM_MESSAGE_SIZE];
    snprintf(name, sizeof name, "%s%s", p->name, p->physics ? " *" : "");
    param_range_text(p, allowed, sizeof allowed);
    int column = put_column(out, 0, AT_KEY, name);
    column = put_column(out, column, AT_TYPE, param_type_name(p->type));
    column = put_column(out, column, AT_DEFAULT, default_text(p));
    if (p->unit && *p->unit) column = put_column(out, column, AT_UNIT, p->unit);
    if (column + 2 > AT_ALLOWED) column = fprintf(out, "\n") - 1;
    put_wrapped(out, put_column(out, column, AT_ALLOWED, ""), AT_ALLOWED, allowed);
    param_text help = help_text(s, p);
    put_help(out, p, help.data, word);
    param_text_free(&help);
}

static void put_section_head(FILE *out, const param_section *s)
{
    int column = fprintf(out, "[%s%s]  ", s->section, s->named ? ".NAME" : "");
    put_wrapped(out, column, column, s->help);
    column = put_column(out, 0, AT_KEY, "key");
    column = put_column(out, column, AT_TYPE, "type");
    column = put_column(out, column, AT_DEFAULT, "default");
    column = put_column(out, column, AT_UNIT, "unit");
    put_column(out, column, AT_ALLOWED, "allowed\n");
}

/* True if the word is in the key's name, kinds, choices or help. */
static int is_about(const param_section *s, const param *p, const char *word)
{
    return mentions(p->name, word) || mentions(p->help, word) || mentions(s->owner, word) ||
           (p->type == PARAM_CHOICE && mentions(p->range, word));
}

static int help_wanted(const param_section *s, const param *p, const char *key)
{
    if (!key || !strcmp(key, s->section) || !strcmp(key, p->name)) return 1;
    size_t base = strlen(s->section);
    if (strncmp(key, s->section, base) || key[base] != '.') return 0;
    return !strcmp(strrchr(key, '.') + 1, p->name) || (s->named && !strcmp(key + base, ".NAME"));
}

static void suggest_help(const param_section *const *sections, int n, const char *key)
{
    int most = n, count = 0;
    const char *dot = strchr(key, '.'), *last = strrchr(key, '.');
    char plain[128];
    snprintf(plain, sizeof plain, "%.*s%s", dot ? (int)(dot - key) : (int)strlen(key), key, dot ? last : "");
    for (int i = 0; i < n; i++) most += 2 * sections[i]->count;
    char(*store)[128] = (char(*)[128])calloc((size_t)most + 1, sizeof *store);
    const char **names = (const char **)calloc((size_t)most + 1, sizeof *names);
    REQUIRE_MEMORY(store && names, "no memory for %d names", most);
    for (int i = 0; i < n; i++) {
        if (!sections[i]->owner) snprintf(store[count++], sizeof *store, "%s", sections[i]->section);
        for (int k = 0; k < sections[i]->count; k++) {
            const char *name = sections[i]->table[k].name;
            if (!dot) snprintf(store[count++], sizeof *store, "%s", name);
            if (dot) snprintf(store[count++], sizeof *store, "%s.%s", sections[i]->section, name);
        }
    }
    for (int i = 0; i < count; i++) names[i] = store[i];
    const char *near = param_nearest(plain, names, count);
    if (near) fprintf(stderr, "plaq: no section or key '%s'; did you mean '%s'?\n", key, near);
    else fprintf(stderr, "plaq: no section or key '%s'; 'plaq help' lists all\n", key);
    free(names);
    free(store);
}

/* The keys that `wanted` picks, under the heads of their sections; how many. */
static int put_keys(FILE *out, const param_section *const *sections, int n, const char *key,
                    int (*wanted)(const param_section *s, const param *p, const char *key))
{
    int shown = 0, physics = 0, head = 0;
    const param_section *whole = NULL; /* section that the parts belong to */
    for (int i = 0; i < n; i++) {
        const param_section *s = sections[i];
        if (!s->owner) whole = s, head = 0;
        for (int k = 0; k < s->count; k++) {
            if (!wanted(s, &s->table[k], key)) continue;
            if (!head && shown) fputc('\n', out);
            if (!head) put_section_head(out, whole);
            put_param(out, s, &s->table[k], wanted == is_about ? key : NULL);
            physics |= s->table[k].physics;
            head = 1;
            shown++;
        }
    }
    if (physics) fputs("\n* changing it makes a different ensemble\n", out);
    return shown;
}

/* Prints one line of the keys that mention a word, beside those that have its name. */
static void put_also(FILE *out, const param_section *const *sections, int n, const char *word)
{
    param_text also = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < sections[i]->count; k++) {
            const param_section *s = sections[i];
            const param *p = &s->table[k];
            if (help_wanted(s, p, word) || !is_about(s, p, word)) continue;
            char name[128];
            snprintf(name, sizeof name, " %s%s.%s,", s->section, s->named ? ".NAME" : "", p->name);
            if (!also.data || !strstr(also.data, name)) param_text_add(&also, "%s", name);
        }
    if (also.length) {
        fputs("\nmentioned by ", out);
        also.data[also.length - 1] = 0;
        put_wrapped(out, (int)strlen("mentioned by "), 0, also.data);
    }
    param_text_free(&also);
}

int params_help(FILE *out, const param_section *const *sections, int n, const char *key)
{
    if (put_keys(out, sections, n, key, help_wanted)) {
        int whole = !key || strchr(key, '.');
        for (int i = 0; i < n && !whole; i++) whole = !strcmp(sections[i]->section, key);
        if (!whole) put_also(out, sections, n, key);
        return 0;
    }
    if (put_keys(out, sections, n, key, is_about)) return 0;
    suggest_help(sections, n, key);
    return 1;
}

static void put_cell(FILE *out, const char *text)
{
    fputs(" ", out);
    for (; *text; text++) {
        if (strchr("|*_<`", *text)) fputc('\\', out);
        fputc(*text, out);
    }
    fputs(" |", out);
}

/* Heads of sections and all keys, one after another; `range` and `help` of a key as they are told. */
static void put_page(FILE *out, const param_section *const *sections, int n,
                     void (*head)(FILE *out, const param_section *s),
                     void (*key)(FILE *out, const param *p, const char *range, const char *help))
{
    for (int i = 0; i < n; i++) {
        const param_section *s = sections[i];
        if (!s->owner) head(out, s);
        for (int k = 0; k < s->count; k++) {
            char range[PARAM_MESSAGE_SIZE];
            param_text help = help_text(s, &s->table[k]);
            param_range_text(&s->table[k], range, sizeof range);
            key(out, &s->table[k], range, help.data);
            param_text_free(&help);
        }
    }
}

static void put_markdown_head(FILE *out, const param_section *s)
{
    fprintf(out, "\n## [%s%s]\n\n%s\n\n", s->section, s->named ? ".NAME" : "", s->help);
    fputs("| key | type | default | unit | allowed | physics | meaning |\n", out);
    fputs("|---|---|---|---|---|---|---|\n", out);
}

static void put_markdown_key(FILE *out, const param *p, const char *range, const char *help)
{
    fprintf(out, "| `%s` |", p->name);
    put_cell(out, param_type_name(p->type));
    put_cell(out, default_text(p));
    put_cell(out, p->unit ? p->unit : "");
    put_cell(out, range);
    put_cell(out, p->physics ? "yes" : "");
    put_cell(out, help);
    fputc('\n', out);
}

void params_markdown(FILE *out, const param_section *const *sections, int n)
{
    fputs("A key in the column *physics* makes a different ensemble when it is changed.\n", out);
    put_page(out, sections, n, put_markdown_head, put_markdown_key);
}

void param_put_man(FILE *out, const char *text)
{
    if (strchr(".'", *text)) fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\\') fputs("\\e", out);
        else if (*text == '-') fputs("\\-", out);
        else fputc(*text, out);
    }
}

static void put_man_head(FILE *out, const param_section *s)
{
    fprintf(out, ".SS [%s%s]\n", s->section, s->named ? ".NAME" : "");
    param_put_man(out, s->help);
    fputc('\n', out);
}

static void put_man_key(FILE *out, const param *p, const char *range, const char *help)
{
    fprintf(out, ".TP\n\\fB%s\\fR (", p->name);
    param_put_man(out, range);
    fputs("; default ", out);
    param_put_man(out, default_text(p));
    fprintf(out, "%s%s)\n", p->unit ? "; " : "", p->unit ? p->unit : "");
    param_put_man(out, help);
    fputc('\n', out);
}

void params_man(FILE *out, const param_section *const *sections, int n)
{
    put_page(out, sections, n, put_man_head, put_man_key);
}
