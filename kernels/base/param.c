#include "kernels/base/param.h"

#include "kernels/base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what is allowed ---- */

typedef struct {
    double low, high;
    int low_open, high_open;
} interval;

static interval interval_of(const param *p)
{
    interval r = {-INFINITY, INFINITY, 1, 1};
    if (!p->range) return r;
    const char *t = p->range;
    char *end = NULL;
    REQUIRE(*t == '[' || *t == '(', "key '%s': malformed range '%s'", p->name, p->range);
    r.low_open = *t == '(';
    r.low = strtod(t + 1, &end);
    REQUIRE(end != t + 1 && *end == ',', "key '%s': malformed range '%s'", p->name, p->range);
    t = end + 1;
    r.high = strtod(t, &end);
    REQUIRE(end != t && (*end == ']' || *end == ')') && (!end[1] || end[1] == '|'), "key '%s': malformed range '%s'",
            p->name, p->range);
    r.high_open = *end == ')';
    return r;
}

/* The word behind an interval "[a,b]|word", or NULL. */
static const char *word_of(const param *p)
{
    const char *bar = p->range ? strchr(p->range, '|') : NULL;
    return bar ? bar + 1 : NULL;
}

static int in_range(const param *p, double v)
{
    interval r = interval_of(p);
    return (r.low_open ? v > r.low : v >= r.low) && (r.high_open ? v < r.high : v <= r.high);
}

/* The next alternative of "a|b|c": its start, its length through `length`; NULL at the end. */
static const char *next_choice(const char **cursor, int *length)
{
    const char *start = *cursor;
    if (!start) return NULL;
    const char *bar = strchr(start, '|');
    *length = bar ? (int)(bar - start) : (int)strlen(start);
    *cursor = bar ? bar + 1 : NULL;
    return start;
}

int param_choice(const char *range, const char *text)
{
    int length;
    const char *c;
    for (int i = 0; (c = next_choice(&range, &length)); i++)
        if ((int)strlen(text) == length && !strncmp(c, text, (size_t)length)) return i;
    return -1;
}

int param_kind(const param_section *section, const char *name)
{
    const int kind = param_choice(section->table[0].range, name);
    REQUIRE(kind >= 0, "[%s] %s = %s", section->section, section->table[0].name, name);
    return kind;
}

static void choices_text(const char *choices, char *text, size_t size)
{
    size_t used = 0;
    int length, first = 1;
    text[0] = 0;
    for (const char *c; (c = next_choice(&choices, &length)); first = 0) {
        const char *joint = first ? "" : choices ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", joint, length, c);
        REQUIRE(used < size, "no room for the choices behind %s", text);
    }
}

static void interval_text(const param *p, const char *noun, char *text, size_t size)
{
    interval r = interval_of(p);
    const char *above = r.low_open ? ">" : ">=", *below = r.high_open ? "<" : "<=";
    if (isinf(r.low) && isinf(r.high)) snprintf(text, size, "any %s", noun);
    else if (isinf(r.high)) snprintf(text, size, "%s %s %.15g", noun, above, r.low);
    else if (isinf(r.low)) snprintf(text, size, "%s %s %.15g", noun, below, r.high);
    else snprintf(text, size, "%.15g %s %s %s %.15g", r.low, r.low_open ? "<" : "<=", noun, below, r.high);
}

static void allowed_integer(const param *p, char *text, size_t size)
{
    interval_text(p, "integer", text, size);
}

static void allowed_real(const param *p, char *text, size_t size)
{
    char number[PARAM_MESSAGE_SIZE];
    const char *word = word_of(p);
    interval_text(p, "real", number, sizeof number);
    snprintf(text, size, "%s%s%s", number, word ? ", or " : "", word ? word : "");
}

static void allowed_bool(const param *p, char *text, size_t size)
{
    (void)p;
    snprintf(text, size, "yes or no");
}

static void allowed_string(const param *p, char *text, size_t size)
{
    snprintf(text, size, p->deflt && !*p->deflt ? "text or nothing" : "text");
}

static void allowed_choice(const param *p, char *text, size_t size)
{
    choices_text(p->range, text, size);
}

static void allowed_int4(const param *p, char *text, size_t size)
{
    char each[PARAM_MESSAGE_SIZE];
    interval_text(p, "integer", each, sizeof each);
    const char *word = word_of(p);
    snprintf(text, size, "X.Y.Z.T, each %s%s%s", strncmp(each, "any ", 4) ? each : each + 4, word ? ", or " : "",
             word ? word : "");
}

static void allowed_words(const param *p, char *text, size_t size)
{
    char names[PARAM_MESSAGE_SIZE] = "words";
    if (p->range) choices_text(p->range, names, sizeof names);
    snprintf(text, size, "list of %s%s", names, p->deflt && !*p->deflt ? ", or nothing" : "");
}

static void allowed_name(const param *p, char *text, size_t size)
{
    snprintf(text, size, "NAME of a [%s.NAME]%s", p->range, p->deflt && !*p->deflt ? ", or nothing" : "");
}

static void allowed_names(const param *p, char *text, size_t size)
{
    snprintf(text, size, "list of NAMEs of [%s.NAME]%s", p->range, p->deflt && !*p->deflt ? ", or nothing" : "");
}

const param *param_find(const param_section *section, const char *name)
{
    for (int i = 0; i < section->count; i++)
        if (!strcmp(section->table[i].name, name)) return &section->table[i];
    return NULL;
}

/* ---- the nearest name ---- */

static int least_of(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Optimal string alignment: changes, losses, additions and swaps of neighbours, one each. */
static int distance(const char *a, const char *b)
{
    enum { MOST = 128 };
    int row[3][MOST + 1], la = (int)strlen(a), lb = (int)strlen(b);
    if (la > MOST || lb > MOST) return la > lb ? la : lb;
    /* A beginning such as "traj" is a guess at the whole name, however long the rest. */
    if (la >= 3 && la < lb && !strncasecmp(a, b, (size_t)la)) return 1;
    /* A word within a name, such as "clover" or "quark", is a guess at it too. */
    if (la >= 4 && la < lb && strcasestr(b, a)) return 2;
    int *two_back = row[0], *back = row[1], *here = row[2];
    for (int j = 0; j <= lb; j++) back[j] = j;
    for (int i = 1; i <= la; i++) {
        here[0] = i;
        for (int j = 1; j <= lb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            here[j] = least_of(back[j] + 1, here[j - 1] + 1, back[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]) &&
                two_back[j - 2] + 1 < here[j])
                here[j] = two_back[j - 2] + 1;
        }
        int *old = two_back;
        two_back = back;
        back = here;
        here = old;
    }
    return back[lb];
}

const char *param_nearest(const char *name, const char *const *names, int n)
{
    const char *best = NULL;
    int length = (int)strlen(name), least = 2 + length / 3; /* beyond that the likeness is an accident */
    if (least > length) least = length;
    for (int i = 0; i < n; i++) {
        int d = distance(name, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

/* ---- from text and to text ---- */

/* The value in plaq's spelling, where that of another language or program was used: 1.0d-8 of Fortran, and true for yes.
 * Null where the text is none of these. */
static const char *other_spelling(const param *p, const char *text, char *room, size_t size)
{
    static const char *const yes[] = {"true", "on", "1", ".true."}, *const no[] = {"false", "off", "0", ".false."};
    double v;
    for (int i = 0; i < 4 && p->type == PARAM_CHOICE; i++) {
        if (!strcasecmp(text, yes[i]) && param_choice(p->range, "yes") >= 0) return "yes";
        if (!strcasecmp(text, no[i]) && param_choice(p->range, "no") >= 0) return "no";
    }
    const size_t d = strcspn(text, "dD");
    if (p->type != PARAM_REAL || !text[d] || strlen(text) >= size) return NULL;
    strcpy(room, text);
    room[d] = 'e';
    return param_real(room, &v) ? NULL : room;
}

static int refuse(const param *p, const char *text, const char *why, char *message, size_t size)
{
    char allowed[PARAM_MESSAGE_SIZE], shown[81]; /* beginning of the text, to name it by */
    param_range_text(p, allowed, sizeof allowed);
    utf8_printable(shown, sizeof shown, text);
    int used =
        *text ? snprintf(message, size, "'%s%s' %s; allowed: %s", shown, strlen(text) > 80 ? "..." : "", why, allowed)
              : snprintf(message, size, "the value is empty; allowed: %s", allowed);
    if (used < 0 || (size_t)used >= size) return -1;
    const char *meant = other_spelling(p, text, shown, sizeof shown);
    if (meant) snprintf(message + used, size - (size_t)used, "; did you mean '%s'?", meant);
    if (meant || p->type != PARAM_CHOICE) return -1;
    const char *names[64], *rest = p->range;
    char copies[64][PARAM_CHOICE_SIZE];
    int n = 0, length;
    for (const char *c; n < 64 && (c = next_choice(&rest, &length)); n++) {
        snprintf(copies[n], sizeof copies[n], "%.*s", length, c);
        names[n] = copies[n];
    }
    const char *near = param_nearest(text, names, n);
    if (near) snprintf(message + used, size - (size_t)used, "; did you mean '%s'?", near);
    return -1;
}

/* An integer that `stop` or the end follows: NULL, or what is wrong. */
static const char *read_integer(const char *text, char stop, int64_t *value, const char **rest)
{
    char *end;
    if (!isdigit((unsigned char)text[*text == '-'])) return "is not an integer";
    errno = 0;
    const long long v = strtoll(text, &end, 10);
    if (*end && *end != stop) return "is not an integer";
    if (errno) return "does not fit into 64 bits with a sign, in which integers go up to 9223372036854775807";
    *value = v;
    *rest = end;
    return NULL;
}

const char *param_integer(const char *text, int64_t *value)
{
    const char *rest;
    return read_integer(text, 0, value, &rest);
}

const char *param_real(const char *text, double *value)
{
    char *end;
    const double v = strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)*text)) return "is not a real number";
    if (!isfinite(v)) return "is not a finite real number";
    if (*text == '+' || text[strspn(text, "0123456789.eE+-")])
        return "is not a decimal number, such as 0.5, -2 or 1e-10";
    if (v == 0 && strcspn(text, "123456789") < strcspn(text, "eE")) return "is so small that it would be taken as 0";
    *value = v + 0.0; /* -0 would have a text of its own */
    return NULL;
}

static const char *set_long(const param *p, void *to, const char *text)
{
    int64_t v;
    const char *why = param_integer(text, &v);
    if (why) return why;
    if (!in_range(p, (double)v)) return "is out of range";
    *(int64_t *)to = v;
    return NULL;
}

static const char *set_int(const param *p, void *to, const char *text)
{
    int64_t v;
    const char *why = param_integer(text, &v);
    if (!why && (v < INT_MIN || v > INT_MAX)) return "does not fit into 32 bits";
    if (!why) why = set_long(p, &v, text);
    if (!why) *(int *)to = (int)v;
    return why;
}

static const char *set_int4(const param *p, void *to, const char *text)
{
    int four[4];
    const char *word = word_of(p);
    if (word && !strcmp(text, word)) text = "0.0.0.0";
    for (int i = 0; i < 4; i++) {
        int64_t v;
        if (read_integer(text, '.', &v, &text) || v < INT_MIN || v > INT_MAX || (i < 3) != (*text == '.'))
            return "is not four integers X.Y.Z.T";
        if (!in_range(p, (double)v)) return "is out of range";
        four[i] = (int)v;
        text += i < 3;
    }
    memcpy(to, four, sizeof four);
    return NULL;
}

static const char *set_real(const param *p, void *to, const char *text)
{
    double v = NAN;
    const char *word = word_of(p);
    const int is_word = word && !strcmp(text, word);
    const char *why = is_word ? NULL : param_real(text, &v);
    if (why) return why;
    if (!is_word && !in_range(p, v)) return "is out of range";
    *(double *)to = v;
    return NULL;
}

static const char *set_bool(const param *p, void *to, const char *text)
{
    (void)p;
    static const char *const yes[] = {"yes", "true", "on", "1"}, *const no[] = {"no", "false", "off", "0"};
    for (int i = 0; i < 4; i++)
        if (!strcasecmp(text, yes[i]) || !strcasecmp(text, no[i])) {
            *(int *)to = !strcasecmp(text, yes[i]);
            return NULL;
        }
    return "is neither yes nor no";
}

static const char *set_text(const param *p, void *to, const char *text, size_t size)
{
    if (!*text && !(p->deflt && !*p->deflt)) return "is empty";
    if (strlen(text) >= size) return "is too long";
    if (!utf8_is_text(text)) return "contains a control character, or bytes that are not UTF-8";
    strcpy((char *)to, text);
    return NULL;
}

static const char *set_string(const param *p, void *to, const char *text)
{
    return set_text(p, to, text, PARAM_STRING_SIZE);
}

static const char *set_choice(const param *p, void *to, const char *text)
{
    const int index = param_choice(p->range, text);
    if (index < 0) return strlen(text) < PARAM_CHOICE_SIZE ? "is unknown" : "is too long";
    *(int *)to = index;
    return NULL;
}

static const char *word_start(const char *t)
{
    return t + strspn(t, ", \t");
}

static size_t word_length(const char *t)
{
    return strcspn(t, ", \t");
}

static const char *set_list(const param *p, void *to, const char *text, const char *choices)
{
    char list[PARAM_WORDS_SIZE] = "", word[PARAM_WORDS_SIZE];
    size_t used = 0;
    for (const char *t = word_start(text); *t; t = word_start(t + word_length(t))) {
        size_t length = word_length(t);
        if (used + length + 2 > sizeof list) return "is too long";
        snprintf(word, sizeof word, "%.*s", (int)length, t);
        if (choices && param_choice(choices, word) < 0) return "contains an unknown name";
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? " " : "", word);
    }
    return set_text(p, to, list, sizeof list);
}

static const char *set_words(const param *p, void *to, const char *text)
{
    return set_list(p, to, text, p->range);
}

static const char *set_names(const param *p, void *to, const char *text)
{
    return set_list(p, to, text, NULL);
}

static void format_int(const param *p, const void *from, char *text, size_t size)
{
    (void)p;
    snprintf(text, size, "%d", *(const int *)from);
}

static void format_long(const param *p, const void *from, char *text, size_t size)
{
    (void)p;
    snprintf(text, size, "%lld", (long long)*(const int64_t *)from);
}

static void format_real(const param *p, const void *from, char *text, size_t size)
{
    (void)p;
    const double v = *(const double *)from;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
}

static void format_bool(const param *p, const void *from, char *text, size_t size)
{
    (void)p;
    snprintf(text, size, "%s", *(const int *)from ? "yes" : "no");
}

static void format_text(const param *p, const void *from, char *text, size_t size)
{
    (void)p;
    snprintf(text, size, "%s", (const char *)from);
}

static void format_choice(const param *p, const void *from, char *text, size_t size)
{
    const char *range = p->range, *c = NULL;
    int length = 0;
    for (int i = 0; i <= *(const int *)from; i++) c = next_choice(&range, &length);
    REQUIRE(c, "key '%s': choice %d of %s", p->name, *(const int *)from, p->range);
    snprintf(text, size, "%.*s", length, c);
}

static void format_int4(const param *p, const void *from, char *text, size_t size)
{
    (void)p;
    const int *i = (const int *)from;
    snprintf(text, size, "%d.%d.%d.%d", i[0], i[1], i[2], i[3]);
}

/* ---- the types ---- */

/* Equal values have equal text, so format() is what compares them. */
static const struct {
    const char *name;
    const char *(*set)(const param *p, void *to, const char *text); /* NULL, or what is wrong */
    void (*format)(const param *p, const void *from, char *text, size_t size);
    void (*allowed)(const param *p, char *text, size_t size);
} types[] = {
    [PARAM_INT] = {"integer", set_int, format_int, allowed_integer},
    [PARAM_LONG] = {"integer", set_long, format_long, allowed_integer},
    [PARAM_REAL] = {"real", set_real, format_real, allowed_real},
    [PARAM_BOOL] = {"yes/no", set_bool, format_bool, allowed_bool},
    [PARAM_STRING] = {"text", set_string, format_text, allowed_string},
    [PARAM_CHOICE] = {"choice", set_choice, format_choice, allowed_choice},
    [PARAM_INT4] = {"X.Y.Z.T", set_int4, format_int4, allowed_int4},
    [PARAM_WORDS] = {"list", set_words, format_text, allowed_words},
    [PARAM_NAME] = {"name", set_string, format_text, allowed_name},
    [PARAM_NAMES] = {"names", set_names, format_text, allowed_names},
};

const char *param_type_name(param_type type)
{
    return types[type].name;
}

void param_range_text(const param *p, char *text, size_t size)
{
    types[p->type].allowed(p, text, size);
}

int param_set(const param *p, void *out, const char *text, char *message, size_t size)
{
    const char *why = types[p->type].set(p, (char *)out + p->offset, text);
    return why ? refuse(p, text, why, message, size) : 0;
}

void param_format(const param *p, const void *in, char *text, size_t size)
{
    static const int zeros[4];
    const char *from = (const char *)in + p->offset;
    int is_word = p->type == PARAM_INT4 && word_of(p) && !memcmp(from, zeros, sizeof zeros);
    if (p->type == PARAM_REAL && word_of(p)) is_word = isnan(*(const double *)(const void *)from);
    if (is_word) snprintf(text, size, "%s", word_of(p));
    else types[p->type].format(p, from, text, size);
}

/* ---- whole sections ---- */

void params_default(const param_section *section, void *out)
{
    char message[PARAM_MESSAGE_SIZE];
    if (!section->owner) memset(out, 0, section->size);
    for (int i = 0; i < section->count; i++) {
        const param *p = &section->table[i];
        if (!p->deflt) continue;
        REQUIRE(!param_set(p, out, p->deflt, message, sizeof message), "default of [%s] %s: %s", section->section,
                p->name, message);
    }
}

int param_word(const char *words, int index, char *word, size_t size)
{
    const char *t = word_start(words);
    for (int i = 0; i < index && *t; i++) t = word_start(t + word_length(t));
    if (!*t) return 0;
    snprintf(word, size, "%.*s", (int)word_length(t), t);
    return 1;
}

int param_has_word(const char *words, const char *word)
{
    char found[PARAM_WORDS_SIZE];
    for (int i = 0; param_word(words, i, found, sizeof found); i++)
        if (!strcmp(found, word)) return 1;
    return 0;
}

/* ---- dump and compare ---- */

void param_text_add(param_text *text, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t more = (size_t)vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (text->length + more + 1 > text->capacity) {
        text->capacity = 2 * (text->length + more + 1);
        text->data = (char *)realloc(text->data, text->capacity);
        REQUIRE_MEMORY(text->data, "no memory for %zu bytes", text->capacity);
    }
    vsnprintf(text->data + text->length, more + 1, fmt, again);
    va_end(again);
    text->length += more;
}

void param_append(char *text, size_t size, const char *between, const char *more)
{
    const size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", n ? between : "", more);
    REQUIRE(strlen(text) + 1 < size, "no room for %s", more);
}

void param_add_choice(char *range, size_t range_size, char *help, size_t help_size, const char *name, const char *text)
{
    param_append(range, range_size, "|", name);
    if (!text) return;
    param_append(help, help_size, "; ", name);
    param_append(help, help_size, ": ", text);
}

void param_text_free(param_text *text)
{
    free(text->data);
    *text = (param_text){0};
}

void params_dump(param_text *text, const param_section *section, const char *instance, const void *in)
{
    REQUIRE(!section->named == !instance, "section '%s' %s", section->section, instance ? "has no names" : "has names");
    char value[PARAM_TEXT_SIZE];
    for (int i = 0; i < section->count; i++) {
        param_format(&section->table[i], in, value, sizeof value);
        param_text_add(text, "%s%s%s.%s = %s\n", section->section, instance ? "." : "", instance ? instance : "",
                       section->table[i].name, value);
    }
}

typedef struct {
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE];
} dump_line;

static int next_line(const char **cursor, dump_line *line)
{
    for (const char *t = *cursor; t && *t; t = *cursor) {
        size_t length = strcspn(t, "\n");
        *cursor = t + length + (t[length] == '\n');
        const char *equals = memmem(t, length, " =", 2);
        if (!equals) continue;
        const char *v = equals + 2, *end = t + length;
        while (v < end && *v == ' ') v++;
        snprintf(line->key, sizeof line->key, "%.*s", (int)(equals - t), t);
        snprintf(line->value, sizeof line->value, "%.*s", (int)(end - v), v);
        return 1;
    }
    return 0;
}

/* The value of `key` in a dump; without the key, whether its section is there. */
static int find_line(const char *dump, const char *key, dump_line *found, int *section_there)
{
    const char *dot = strrchr(key, '.');
    size_t prefix = dot ? (size_t)(dot - key) + 1 : 0;
    *section_there = 0;
    while (next_line(&dump, found)) {
        if (!strcmp(found->key, key)) return 1;
        const char *other = strrchr(found->key, '.');
        if (other && (size_t)(other - found->key) + 1 == prefix && !strncmp(key, found->key, prefix))
            *section_there = 1;
    }
    return 0;
}

static const param *param_of_key(const param_section *const *sections, int n, const char *key)
{
    size_t base = strcspn(key, ".");
    const char *last = strrchr(key, '.');
    for (int i = 0; i < n && last; i++)
        if (strlen(sections[i]->section) == base && !strncmp(sections[i]->section, key, base) &&
            (last != key + base) == sections[i]->named && param_find(sections[i], last + 1))
            return param_find(sections[i], last + 1);
    return NULL;
}

static int same_value(const param *p, const char *a, const char *b)
{
    if (!strcmp(a, b)) return 1;
    param alone = *p;
    alone.offset = 0;
    /* Records of other versions may write a value in another way, so values are compared, not letters. */
    union {
        char bytes[PARAM_WORDS_SIZE];
        double align;
    } store;
    char ta[PARAM_TEXT_SIZE], tb[PARAM_TEXT_SIZE], message[PARAM_MESSAGE_SIZE];
    if (param_set(&alone, &store, a, message, sizeof message)) return 0;
    param_format(&alone, &store, ta, sizeof ta);
    if (param_set(&alone, &store, b, message, sizeof message)) return 0;
    param_format(&alone, &store, tb, sizeof tb);
    return !strcmp(ta, tb);
}

int params_compare(const char *before, const char *now, const param_section *const *sections, int n,
                   param_text *differences)
{
    int count = 0;
    dump_line line, other;
    for (int pass = 0; pass < 2; pass++) { /* keys of `now`, then those that only `before` has */
        const char *cursor = pass ? before : now, *against = pass ? now : before;
        while (next_line(&cursor, &line)) {
            const param *p = param_of_key(sections, n, line.key);
            int section_there, found = find_line(against, line.key, &other, &section_there);
            if ((p && !p->physics) || (pass && found)) continue;
            const char *value = found ? other.value : p && section_there ? p->deflt : NULL;
            if (value && (p ? same_value(p, line.value, value) : !strcmp(line.value, value))) continue;
            const char *missing = value ? value : "(absent)";
            param_text_add(differences, "  %s: %s before, %s now%s\n", line.key, pass ? line.value : missing,
                           pass ? missing : line.value, p || n == 0 ? "" : " (a key unknown to this version)");
            count++;
        }
    }
    return count;
}
