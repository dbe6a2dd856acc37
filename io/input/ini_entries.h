/* Sections and values of an input file as they are read: what the parts of the reader (ini.h) share. */
#ifndef PLAQ_IO_INI_ENTRIES_H
#define PLAQ_IO_INI_ENTRIES_H

#include "kernels/base/param.h"

enum { INI_LONGEST_NAME = 47 }; /* inih cuts longer names of sections and keys without a word */

typedef struct ini_input ini_input; /* ini.h */

typedef struct {
    char *name, *where;
    int filled;
} section_entry;

typedef struct {
    char *section, *key, *value, *where;
} value_entry;

struct ini_input {
    char *path;
    section_entry *sections;
    value_entry *values;
    int nsections, nvalues;
    const param_section *const *known; /* or null */
    int nknown;
    param_text mistakes; /* found so far, a line each */
    int nmistakes;
};

/* Memory that is there, or the end with a message. */
void *ini_checked(void *memory);
/* Text in memory of its own. */
char *PRINTF_LIKE(1, 2) ini_text_of(const char *fmt, ...);
section_entry *ini_find_section(const ini_input *in, const char *name);
value_entry *ini_find_value(const ini_input *in, const char *section, const char *key);
/* Entries, which take `where` over. */
void ini_add_section(ini_input *in, const char *name, char *where);
void ini_add_value(ini_input *in, const char *section, const char *key, const char *value, char *where);
/* Notes a mistake by its text, which is taken over. */
void ini_add_mistake(ini_input *in, char *text);
/* True if so many letters may name a key; and if a text may name a section, or one of a type. */
int ini_is_name(const char *name, int length);
int ini_is_section_name(const char *name);
/* Reads the text of a file, line by line. */
void ini_read_lines(ini_input *in, const char *text);

#endif
