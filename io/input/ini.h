/* The input file: sections of "key = value" lines, read into structs by their parameter tables (kernels/base/param.h).
 *
 *   [gauge]
 *   beta = 5.7          # a comment begins with # or ; at the start of a line or after a space
 *   [quark.light]
 *     kappa: 0.13       ; a colon is as good as =, indentation means nothing
 *     omega = 1.5 0.8 \
 *             0.5 0.3   ; a space and a backslash in the end continue a value on the next line
 *
 * `like = NAME` in a section [type.NAME2] takes those keys of [type.NAME] that the section does not have itself; they count
 * as given, where they were.
 *
 * Use: ini_read, ini_fill for each section of interest, ini_check_all_used, ini_free.
 *
 * Collective: ini_read. Rank 0 reads the file, all ranks get the same text, so all later calls give the same result on
 * every rank without further messages, and every user_error is met by all ranks together. These are user errors, with
 * file, line, what was found and what is allowed: a missing or unreadable file, what is no regular file, a file that is
 * no text, a line that is not UTF-8 outside its comment, one that is no section, key or comment, a line too long, one that nothing continues, a
 * section or key given twice, a key outside any section, an unknown section or key (the nearest is named), a value of
 * the wrong type or out of range, a missing value. Those of the text are told together, by ini_check_all_used().
 *
 * Overrides are words of the command line, "section.key=value", the key being what follows the last dot before the
 * first '='. They go before the file, the last one of the same key counts, and messages name them in place of file and
 * line. An override of a named section ("quark.light.kappa=0.13") needs [quark.light] in the file, so that a misspelt
 * name does not add a quark. */
#ifndef PLAQ_IO_INI_H
#define PLAQ_IO_INI_H

#include "kernels/base/param.h"

typedef struct ini_input ini_input;

/* Reads the file; `path` NULL is an empty file. The strings are copied. */
ini_input *ini_read(const char *path, int noverride, const char *const *overrides);
void ini_free(ini_input *input);

/* Fills the struct of one section: defaults, then what is given. `instance` is NULL unless the type is named. A key
 * that must be given and is not, an unknown key and a refused value are user errors. Keys of other parts of the section
 * (kernels/base/param.h) are passed over: which parts fit is for the caller to say. */
void ini_fill(ini_input *input, const param_section *type, const char *instance, void *out);
/* Fills as ini_fill() does, but keys that must be given may be missing, and stay zero. */
void ini_fill_some(ini_input *input, const param_section *type, const char *instance, void *out);

/* True if the section is in the file (or, if it has no instance, on the command line). */
int ini_has_section(const ini_input *input, const char *section, const char *instance);

/* True if the key was given in the file or on the command line, as opposed to taken from its default. */
int ini_given(const ini_input *input, const char *section, const char *instance, const char *key);

/* Text of a key that was given, valid until ini_free; null for one that was not. */
const char *ini_text(const ini_input *input, const char *section, const char *instance, const char *key);

/* Place of a key, for messages of the caller: "FILE:LINE" or "command line: section.key=value"; for a key not given the
 * place of its section, and without that the file. Valid until ini_free. */
const char *ini_where(const ini_input *input, const char *section, const char *instance, const char *key);

/* The names of the sections [section.NAME] in file order, valid until ini_free. Returns how many; more than `max` is a
 * user error. */
int ini_instances(const ini_input *input, const char *section, const char **names, int max);

/* Refuses all mistakes found so far in one user error: lines that are none, sections of no known type, unknown keys,
 * values that no table with their key allows, and keys that are missing in sections not filled. The list, which stays in
 * place, is where later calls find the parts of a section; these refuse mistakes at once. */
void ini_check_all_used(ini_input *input, const param_section *const *known, int n);

/* Notes a mistake of the input, with its place; ini_judge() is a user error with all of them, when there are any. */
void ini_mistake(ini_input *input, const char *fmt, ...) PRINTF_LIKE(2, 3);
void ini_judge(const ini_input *input);

#endif
