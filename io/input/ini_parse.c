/* Lines of an input file, which inih takes apart. */
#include "io/input/ini_entries.h"
#include "kernels/base/utf8.h"

#include <ctype.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    ini_input *in;
    const char *rest; /* text not yet parsed */
    int line;
    int bad;                        /* mistake noted in this line */
    int skipped;                    /* the section has a mistake in its heading: its keys are not looked at */
    char key[INI_LONGEST_NAME + 1]; /* key of the last value */
    int continues, appends;         /* the line to come, or in hand, continues that value */
} parser;

static void PRINTF_LIKE(2, 3) problem_at_line(parser *p, const char *fmt, ...)
{
    char *what = NULL;
    va_list ap;
    va_start(ap, fmt);
    int length = vasprintf(&what, fmt, ap);
    va_end(ap);
    REQUIRE_MEMORY(length >= 0, "no memory for the input file");
    p->bad = 1;
    ini_add_mistake(p->in, ini_text_of("%s:%d: %s", p->in->path, p->line, what));
    free(what);
}

int ini_is_name(const char *name, int length)
{
    for (int i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-') return 0;
    return length > 0;
}

/* "section" or "section.instance". */
int ini_is_section_name(const char *name)
{
    int base = (int)strcspn(name, ".");
    return ini_is_name(name, base) && (!name[base] || ini_is_name(name + base + 1, (int)strlen(name + base + 1)));
}

static void read_heading(parser *p, const char *line, int length)
{
    const char *end = memchr(line, ']', (size_t)length);
    char name[INI_LONGEST_NAME + 1];
    if (!end || end != line + length - 1) {
        problem_at_line(p, "'%.*s' is not a section; a section is [name] on a line of its own", length, line);
        return;
    }
    if (length - 2 > INI_LONGEST_NAME) {
        problem_at_line(p, "the section name '%.*s' has more than %d letters", length - 2, line + 1, INI_LONGEST_NAME);
        return;
    }
    snprintf(name, sizeof name, "%.*s", length - 2, line + 1);
    if (!ini_is_section_name(name)) {
        problem_at_line(p, "'[%s]' is not a section; a section is [name] or [type.name] of letters, digits, _ and -",
                        name);
        return;
    }
    section_entry *old = ini_find_section(p->in, name);
    if (old) problem_at_line(p, "section [%s] is given twice, first at %s", name, old->where);
    else ini_add_section(p->in, name, ini_text_of("%s:%d", p->in->path, p->line));
}

static void check_key_line(parser *p, const char *line, int length)
{
    int name = 0;
    while (name < length && line[name] != '=' && line[name] != ':') name++;
    if (name == length) {
        problem_at_line(p, "'%.*s' is neither a section, a comment nor key = value", length, line);
        return;
    }
    while (name > 0 && isspace((unsigned char)line[name - 1])) name--;
    if (name > INI_LONGEST_NAME)
        problem_at_line(p, "the key '%.*s' has more than %d letters", name, line, INI_LONGEST_NAME);
    else if (!ini_is_name(line, name))
        problem_at_line(p, "'%.*s' is not a key; a key is made of letters, digits, _ and -", name, line);
    else if (!p->in->nsections) problem_at_line(p, "key '%.*s' stands before the first [section]", name, line);
    else snprintf(p->key, sizeof p->key, "%.*s", name, line);
}

/* The next line without byte order mark, indentation and comment; its length. */
static const char *trimmed_line(parser *p, int *letters)
{
    const char *line = p->rest;
    int length = (int)strcspn(line, "\n");
    p->rest = line + length + (line[length] == '\n');
    p->line++;
    if (p->line == 1 && length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
        line += 3;
        length -= 3;
    }
    while (length && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    for (int i = 0; i < length; i++)
        if ((line[i] == '#' || line[i] == ';') && (!i || isspace((unsigned char)line[i - 1]))) length = i;
    while (length && isspace((unsigned char)line[length - 1])) length--;
    *letters = length;
    return line;
}

/* Length of the line without the backslash that continues it, if it has one. */
static int without_backslash(const char *line, int length)
{
    if (!length || line[length - 1] != '\\' || (length > 1 && !isspace((unsigned char)line[length - 2]))) return length;
    do length--;
    while (length && isspace((unsigned char)line[length - 1]));
    return length;
}

static void check_text(parser *p, const char *line, int length, int most)
{
    if (length > most)
        problem_at_line(
            p, "the line has %d letters, allowed are %d; end it with a space and \\ to continue on the next line",
            length, most);
    for (int i = 0, n; i < length && !p->bad; i += n)
        if (!(n = utf8_length(line + i)))
            problem_at_line(p,
                            "'%.*s' is followed by the byte \\x%02x, which is not UTF-8 text; save the file as UTF-8",
                            i, line, (unsigned char)line[i]);
}

static void check_line(parser *p, const char *line, int length)
{
    if (p->continues) {
        if (!length) problem_at_line(p, "the line that continues the value of %s is empty", p->key);
        return;
    }
    p->key[0] = 0;
    if (length && *line == '[') {
        read_heading(p, line, length);
        p->skipped = p->bad;
    } else if (length && !p->skipped) {
        check_key_line(p, line, length);
    }
}

/* Hands inih one line at a time. inih's own treatment of indentation and comments, and whether its handler gets line numbers,
 * depends on how it was compiled: indented lines may continue the value above, and lines or names too long are cut or
 * refused. Its answer to a bad line is only a line number, so lines are judged here. A line that continues a value goes to
 * inih with the key of that value in front. */
static char *next_line(char *buffer, int size, void *user)
{
    parser *p = (parser *)user;
    if (!*p->rest && p->continues) problem_at_line(p, "no line continues the value of %s after \\", p->key);
    if (!*p->rest) return NULL;
    int length;
    const char *line = trimmed_line(p, &length);
    const int whole = length, most = size - 3 - (p->continues ? (int)strlen(p->key) + 3 : 0);
    length = without_backslash(line, length);
    p->bad = 0;
    check_text(p, line, length, most);
    if (!p->bad) check_line(p, line, length);
    if (p->bad || p->skipped) length = 0;
    if (p->continues) snprintf(buffer, (size_t)size, "%s = %.*s\n", p->key, length, line);
    else snprintf(buffer, (size_t)size, "%.*s\n", length, line);
    p->appends = p->continues;
    p->continues = length < whole && length && p->key[0];
    return buffer;
}

static int take_value(void *user, const char *section, const char *name, const char *value
#if INI_HANDLER_LINENO
                      ,
                      int ignored
#endif
)
{
#if INI_HANDLER_LINENO
    (void)ignored;
#endif
    parser *p = (parser *)user;
    if (!name || !value) return 1; /* a new section, where inih is built to announce it */
    value_entry *old = ini_find_value(p->in, section, name);
    if (old && p->appends) {
        char *longer = ini_text_of("%s%s%s", old->value, *old->value ? " " : "", value);
        free(old->value);
        old->value = longer;
    } else if (old) problem_at_line(p, "key '%s' of [%s] is given twice, first at %s", name, section, old->where);
    else ini_add_value(p->in, section, name, value, ini_text_of("%s:%d", p->in->path, p->line));
    return 1;
}

void ini_read_lines(ini_input *in, const char *text)
{
    parser p = {.in = in, .rest = text};
    const int failed = ini_parse_stream(next_line, &p, take_value, &p);
    if (failed) ini_add_mistake(in, ini_text_of("%s:%d: this line is not understood", in->path, failed));
}
