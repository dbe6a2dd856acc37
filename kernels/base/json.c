#include "kernels/base/json.h"

#include <inttypes.h>
#include <math.h>

#include "kernels/base/local.h"
#include "kernels/base/utf8.h"

static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length((const char *)s);
        if (*s == '"' || *s == '\\') fprintf(out, "\\%c", *s);
        else if (*s == '\n') fputs("\\n", out);
        else if (*s == '\t') fputs("\\t", out);
        else if (*s < 0x20 || *s == 0x7f) fprintf(out, "\\u%04x", *s);
        else if (!length) fputs("\\ufffd", out);
        else fwrite(s, 1, (size_t)length, out);
        s += length ? length : 1;
    }
    fputc('"', out);
}

static void put_name(json *j, const char *name)
{
    if (j->members++) fputs(", ", j->out);
    put_quoted(j->out, name);
    fputs(": ", j->out);
}

static void put_real(FILE *out, double value)
{
    if (isfinite(value)) fprintf(out, "%.17g", value);
    else fputs("null", out);
}

json json_begin(FILE *out)
{
    local_begin("a line of JSON");
    fputc('{', out);
    return (json){out, 0};
}

void json_string(json *j, const char *name, const char *value)
{
    put_name(j, name);
    if (value) put_quoted(j->out, value);
    else fputs("null", j->out);
}

void json_int(json *j, const char *name, int64_t value)
{
    put_name(j, name);
    fprintf(j->out, "%" PRId64, value);
}

void json_real(json *j, const char *name, double value)
{
    put_name(j, name);
    put_real(j->out, value);
}

void json_bool(json *j, const char *name, int value)
{
    put_name(j, name);
    fputs(value ? "true" : "false", j->out);
}

void json_int_array(json *j, const char *name, const int *values, int n)
{
    put_name(j, name);
    fputc('[', j->out);
    for (int i = 0; i < n; i++) fprintf(j->out, "%s%d", i ? ", " : "", values[i]);
    fputc(']', j->out);
}

void json_real_array(json *j, const char *name, const double *values, long n, long stride)
{
    put_name(j, name);
    for (long i = 0; i < n; i++) {
        fputs(i ? ", " : "[", j->out);
        put_real(j->out, values[i * stride]);
    }
    fputs(n ? "]" : "[]", j->out);
}

void json_counts(json *j, const char *name, const char *const *names, const int64_t *values, int n)
{
    put_name(j, name);
    json inner = {j->out, 0};
    fputc('{', j->out);
    for (int i = 0; i < n; i++) json_int(&inner, names[i], values[i]);
    fputc('}', j->out);
}

void json_end(json *j)
{
    fputs("}\n", j->out);
    fflush(j->out);
    local_end();
}
