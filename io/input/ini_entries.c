#include "io/input/ini_entries.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *ini_checked(void *memory)
{
    REQUIRE_MEMORY(memory, "no memory for the input file");
    return memory;
}

char *PRINTF_LIKE(1, 2) ini_text_of(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int length = vasprintf(&text, fmt, ap);
    va_end(ap);
    REQUIRE_MEMORY(length >= 0, "no memory for the input file");
    return text;
}

section_entry *ini_find_section(const ini_input *in, const char *name)
{
    for (int i = 0; i < in->nsections; i++)
        if (!strcmp(in->sections[i].name, name)) return &in->sections[i];
    return NULL;
}

value_entry *ini_find_value(const ini_input *in, const char *section, const char *key)
{
    for (int i = 0; i < in->nvalues; i++)
        if (!strcmp(in->values[i].section, section) && !strcmp(in->values[i].key, key)) return &in->values[i];
    return NULL;
}

void ini_add_section(ini_input *in, const char *name, char *where)
{
    in->sections =
        (section_entry *)ini_checked(realloc(in->sections, (size_t)(in->nsections + 1) * sizeof *in->sections));
    in->sections[in->nsections++] = (section_entry){ini_text_of("%s", name), where, 0};
}

void ini_add_value(ini_input *in, const char *section, const char *key, const char *value, char *where)
{
    in->values = (value_entry *)ini_checked(realloc(in->values, (size_t)(in->nvalues + 1) * sizeof *in->values));
    in->values[in->nvalues++] =
        (value_entry){ini_text_of("%s", section), ini_text_of("%s", key), ini_text_of("%s", value), where};
}

/* Mistakes of one text count once. */
void ini_add_mistake(ini_input *in, char *text)
{
    const int known = in->nmistakes && strstr(in->mistakes.data, text);
    if (!known) param_text_add(&in->mistakes, "%s%s", in->nmistakes++ ? "\n  " : "", text);
    free(text);
}
