#include "kernels/base/json.h"

#include <inttypes.h>
#include <math.h>

/* The length of the UTF-8 character at `s`, or 0 when the bytes are none (overlong forms, surrogates and codes beyond
 * U+10FFFF are none). A terminating zero is never a continuation byte, so nothing past it is read. */
static int utf8_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (s[0] >= 0xf0 && s[0] <= 0xf4) length = 4;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0;
    return length;
}

static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
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

void json_real_array(json *j, const char *name, const double *values, int n)
{
    put_name(j, name);
    fputc('[', j->out);
    for (int i = 0; i < n; i++) {
        if (i) fputs(", ", j->out);
        put_real(j->out, values[i]);
    }
    fputc(']', j->out);
}

void json_end(json *j)
{
    fputs("}\n", j->out);
    fflush(j->out);
}
