/* Parameter tables: one table of keys beside each struct of parameters.
 *
 * A `param` describes one member of a struct: its key, type, place, default, allowed values, unit, meaning, and whether
 * changing it makes a different ensemble. A `param_section` is such a table under a section name of the input file.
 * From the tables come the input reader (io/input/ini.h), `plaq help`, the reference page of keys, the echo in the log, the
 * record in a checkpoint and its comparison on restart.
 *
 *   type          member                     text
 *   PARAM_INT     int                        12
 *   PARAM_LONG    int64_t                    12345678901
 *   PARAM_REAL    double                     0.1 -2 1e-10; finite and decimal
 *   PARAM_BOOL    int                        yes no true false on off 1 0, any case
 *   PARAM_STRING  char[PARAM_STRING_SIZE]    text; may be empty only where the default is ""
 *   PARAM_CHOICE  int                        one of `range`, "wilson|symanzik", stored as its index there
 *   PARAM_INT4    int[4]                     X.Y.Z.T
 *   PARAM_WORDS   char[PARAM_WORDS_SIZE]     names separated by commas or spaces, of `range` if it is given; may be
 *                                            empty only where the default is ""; stored with single spaces between
 *   PARAM_NAME    char[PARAM_STRING_SIZE]    name of a section [RANGE.NAME], where `range` is "solver" and the like; empty
 *                                            where the default is ""
 *   PARAM_NAMES   char[PARAM_WORDS_SIZE]     several such names, as PARAM_WORDS
 *
 * The sections that names refer to are looked up by the reader of a whole file (hmc/assemble/parameters.h).
 *
 * Numbers have digits, a minus sign in front if they are negative, and reals a point and an exponent; no plus sign in
 * front, no hexadecimal digits, nothing that would overflow, or be 0 without saying so. Text is UTF-8 without control
 * characters.
 *
 * `range` of numbers is an interval, "[0,inf)", "(0,1]", "(-1,1)"; for INT4 it holds for each of the four. A word behind
 * it, "[0,9]|auto", may stand for 0.0.0.0 of an INT4 and for NaN of a REAL. NULL is any.
 * `deflt` is text as in an input file; NULL means that the key must be given.
 *
 *   static const param table[] = {
 *       {"beta", PARAM_REAL, offsetof(gauge_params, beta), NULL, "(0,inf)", "", "inverse coupling 6/g^2", 1},
 *   };
 *   const param_section gauge_section = {"gauge", 0, table, 1, sizeof(gauge_params), "the gauge action"};
 *
 * Choices are compared by their index, never as text. A choice of its own is one list, of which both its enum and its range
 * are made, so that a new value is one entry:
 *
 *   #define GAUGE_STARTS(X) X(START_COLD, "cold") X(START_HOT, "hot")
 *   enum { GAUGE_STARTS(PARAM_CONSTANT) };
 *   {"start", PARAM_CHOICE, offsetof(gauge_params, start), "cold", PARAM_RANGE(GAUGE_STARTS), ...},
 *
 * A choice among the lines of a registry has a range that param_add_choice() makes of all of them in their order, so that
 * the index is the number of the line: quark_kind_number(q->kind).
 *
 * A section whose first key chooses a kind may have keys that some kinds alone have: these stand in tables of their own,
 * of the same section, with the kinds as `owner`. Such parts follow the section in lists of sections.
 *
 * The canonical text of a value reads back equal bit for bit, and equal values have equal text: reals are written with
 * the fewest digits that read back equal, booleans as yes or no. A line of a dump is "section.key = value", or
 * "section.instance.key = value". Nothing here is collective. A malformed table is an internal error. */
#ifndef PLAQ_PARAM_H
#define PLAQ_PARAM_H

#include "kernels/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PARAM_STRING_SIZE 256
#define PARAM_CHOICE_SIZE 64 /* holds the text of any choice */
#define PARAM_WORDS_SIZE 512
#define PARAM_TEXT_SIZE 512     /* holds the canonical text of any value */
#define PARAM_MESSAGE_SIZE 1024 /* holds any message of param_set and any text of param_range_text */

typedef enum {
    PARAM_INT,
    PARAM_LONG,
    PARAM_REAL,
    PARAM_BOOL,
    PARAM_STRING,
    PARAM_CHOICE,
    PARAM_INT4,
    PARAM_WORDS,
    PARAM_NAME,
    PARAM_NAMES
} param_type;

typedef struct {
    const char *name;
    param_type type;
    size_t offset;
    const char *deflt;
    const char *range;
    const char *unit;
    const char *help;
    int physics; /* 1: ensemble changes with the value */
} param;

typedef struct {
    const char *section; /* "run", "quark" */
    int named;           /* 1: [quark.NAME], any number of them */
    const param *table;
    int count;
    size_t size; /* bytes of the struct */
    const char *help;
    const char *owner; /* the keys are those of a part, see above; null: they are the section's own */
} param_section;

/* A part: its section, owner, struct and table. */
#define PARAM_PART(section, owner, keys, table)                                                                        \
    {                                                                                                                  \
        section, 1, table, (int)(sizeof(table) / sizeof(table)[0]), sizeof(keys), "", owner                            \
    }

/* Enumerators, texts of an array, and range of a list X(CONSTANT, "text") of choices. */
#define PARAM_CONSTANT(constant, text) constant,
#define PARAM_TEXT(constant, text) text,
#define PARAM_BAR(constant, text) "|" text
#define PARAM_RANGE(list) (list(PARAM_BAR) + 1)

/* Choices that several keys have. */
#define PARAM_NO_YES(X) X(PARAM_NO, "no") X(PARAM_YES, "yes")
enum { PARAM_NO_YES(PARAM_CONSTANT) };

/* The parts of a section, each with the kinds that have it as its owner: "wilson_clover, mobius". {0} is empty. */
#define PARAM_MOST_PARTS 16
typedef struct {
    param_section sections[PARAM_MOST_PARTS];
    char owners[PARAM_MOST_PARTS][PARAM_STRING_SIZE];
    int n;
} param_parts;

/* A text that grows; {0} is empty. `data` is NULL until something is added. */
typedef struct {
    char *data;
    size_t length, capacity;
} param_text;

#ifdef __cplusplus
extern "C" {
#endif

/* Sets every key to its default, and before that, unless the table is a part's, the whole struct to zero; keys that must
 * be given stay as they are. */
void params_default(const param_section *section, void *out);

/* Sets one key of the struct `out` from text. Returns 0, or -1 with a message that quotes the text and says what is
 * allowed ("'-1' is out of range; allowed: real > 0"); then the struct is as before. */
int param_set(const param *p, void *out, const char *text, char *message, size_t size);

/* Reads a number that is the whole text. Returns NULL, or what is wrong with it ("is not an integer"). */
const char *param_integer(const char *text, int64_t *value);
const char *param_real(const char *text, double *value);

/* The canonical text of one key of the struct `in`. */
void param_format(const param *p, const void *in, char *text, size_t size);

/* The index of a text in the range of a choice, or -1; and that of a kind by its name, which there has to be, as the first
 * key of a section chooses it. */
int param_choice(const char *range, const char *text);
int param_kind(const param_section *section, const char *name);

/* Allowed values in words: "integer >= 1", "0 < real <= 1", "yes or no", "wilson, symanzik or iwasaki". */
void param_range_text(const param *p, char *text, size_t size);

const char *param_type_name(param_type type);

/* The line of the table with this name, or NULL. */
const param *param_find(const param_section *section, const char *name);

/* Copies the word number `index` (from 0) of a PARAM_WORDS value. Returns 1, or 0 when there are fewer words. */
int param_word(const char *words, int index, char *word, size_t size);
/* True if `word` is in a PARAM_WORDS value. */
int param_has_word(const char *words, const char *word);

/* The name most like the one given (fewest letters changed, left out, added or swapped; case does not count; the
 * beginning of a name counts as close), or NULL when none is like it. */
const char *param_nearest(const char *name, const char *const *names, int n);

/* The sections and keys, with type, default, unit, what is allowed and help, on 100 columns. `key` is NULL for all,
 * "gauge", "gauge.beta", "beta", "quark.NAME.kappa" or "quark.light.kappa" for a part; another word finds the
 * keys that have it in their names, values, kinds or help. Returns 0, or 1 when there are none, with the nearest name on
 * standard error. */
int params_help(FILE *out, const param_section *const *sections, int n, const char *key);

/* Key reference as tables in Markdown, and as sections of a manual page (man, troff). */
void params_markdown(FILE *out, const param_section *const *sections, int n);
void params_man(FILE *out, const param_section *const *sections, int n);
/* A text in a manual page: troff's own characters are shown as they are. */
void param_put_man(FILE *out, const char *text);

/* Appends to the texts of a choice key one more of its values: "wilson|symanzik", and "wilson: HELP; symanzik: HELP". A
 * text without room for it is an internal error. */
void param_add_choice(char *range, size_t range_size, char *help, size_t help_size, const char *name, const char *text);
/* Appends to a text, with `between` in front unless it is empty; no room is an internal error. */
void param_append(char *text, size_t size, const char *between, const char *more);

/* Adds a kind to the owners of a part, and the part if it is new. The list stays in place. */
void param_parts_add(param_parts *parts, const param_section *part, const char *kind);

void param_text_add(param_text *text, const char *fmt, ...) PRINTF_LIKE(2, 3);
void param_text_free(param_text *text);

/* Appends every key of one struct, a line each. `instance` is NULL unless the section is named. */
void params_dump(param_text *text, const param_section *section, const char *instance, const void *in);

/* Compares two dumps and appends a line "  gauge.beta: 5.7 before, 5.8 now" for each physics key that differs; returns
 * how many. A key missing from one dump while its section is there counts as having its default (tables grow from
 * version to version). A section missing from one dump counts as different in each of its physics keys, and so does
 * a key or section that no table knows: its meaning cannot be judged. Without sections (n = 0) all keys count, as text.
 */
int params_compare(const char *before, const char *now, const param_section *const *sections, int n,
                   param_text *differences);

#ifdef __cplusplus
}
#endif
#endif
