/* JSON output (--json): one object a line, for programs that read it.
 *
 *   json j = json_begin(stdout);
 *   json_string(&j, "file", path);
 *   json_real(&j, "plaquette", p);
 *   json_end(&j);                        {"file": "a.lime", "plaquette": 0.58}
 *
 * Members come in the order of the calls. Reals have 17 digits, so that they read back equal; NaN and infinities, which
 * JSON does not have, and a NULL string become null. Control characters, quotes and backslashes are escaped; bytes
 * that are not UTF-8 become the replacement character U+FFFD. The line is flushed at its end. Only the rank that prints
 * calls these functions, so that a line is a local section (local.h): values of collective functions are computed before
 * json_begin(). */
#ifndef PLAQ_JSON_H
#define PLAQ_JSON_H

#include <stdint.h>
#include <stdio.h>

typedef struct {
    FILE *out;
    int members;
} json;

#ifdef __cplusplus
extern "C" {
#endif

json json_begin(FILE *out);
void json_string(json *j, const char *name, const char *value);
void json_int(json *j, const char *name, int64_t value);
void json_real(json *j, const char *name, double value);
void json_bool(json *j, const char *name, int value);
void json_int_array(json *j, const char *name, const int *values, int n);
/* n of the values, every `stride`-th. */
void json_real_array(json *j, const char *name, const double *values, long n, long stride);
/* An object of integers, {"pion": 3, "flow": 0}. */
void json_counts(json *j, const char *name, const char *const *names, const int64_t *values, int n);
void json_end(json *j);

#ifdef __cplusplus
}
#endif
#endif
