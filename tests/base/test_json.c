/* JSON lines: escapes, numbers that JSON does not have, reals that read back equal. */
#include "kernels/base/json.h"
#include "tests/check.h"

#include <stdlib.h>

static char *text;
static size_t size;

static FILE *open_text(void)
{
    free(text);
    text = NULL;
    return open_memstream(&text, &size);
}

static void test_members(void)
{
    const int grid[4] = {1, 2, 1, -4};
    FILE *out = open_text();
    json j = json_begin(out);
    json_string(&j, "file", "a.lime");
    json_int(&j, "bytes", INT64_C(-9007199254740993));
    json_real(&j, "plaquette", 0.5);
    json_bool(&j, "whole", 1);
    json_bool(&j, "broken", 0);
    json_int_array(&j, "grid", grid, 4);
    json_int_array(&j, "none", grid, 0);
    const double reals[5] = {0.5, 7, NAN, 8, -2};
    json_real_array(&j, "every", reals, 3, 2);
    json_real_array(&j, "no", reals, 0, 1);
    json_real(&j, "unknown", NAN);
    json_counts(&j, "failed", (const char *const[]){"pion", "flow"}, (const int64_t[]){2, 0}, 2);
    json_counts(&j, "nothing", NULL, NULL, 0);
    json_end(&j);
    fclose(out);
    CHECK_STR(text, "{\"file\": \"a.lime\", \"bytes\": -9007199254740993, \"plaquette\": 0.5, \"whole\": true, "
                    "\"broken\": false, \"grid\": [1, 2, 1, -4], \"none\": [], "
                    "\"every\": [0.5, null, -2], \"no\": [], \"unknown\": null, "
                    "\"failed\": {\"pion\": 2, \"flow\": 0}, \"nothing\": {}}\n");
    out = open_text();
    j = json_begin(out);
    json_end(&j);
    fclose(out);
    CHECK_STR(text, "{}\n");
}

static void check_string(const char *value, const char *expected)
{
    FILE *out = open_text();
    json j = json_begin(out);
    json_string(&j, "s", value);
    json_end(&j);
    fclose(out);
    CHECK_STR(text, expected);
}

static void test_escapes(void)
{
    check_string("a\"b\\c/d", "{\"s\": \"a\\\"b\\\\c/d\"}\n");
    check_string("line\nnext\ttab\r\x01\x7f", "{\"s\": \"line\\nnext\\ttab\\u000d\\u0001\\u007f\"}\n");
    check_string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "{\"s\": \"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"}\n");
    /* cut short, overlong, a surrogate, beyond the last code, a lone continuation byte */
    check_string("\xe2\x82", "{\"s\": \"\\ufffd\\ufffd\"}\n");
    check_string("\xc0\xaf", "{\"s\": \"\\ufffd\\ufffd\"}\n");
    check_string("\xe0\x80\xaf", "{\"s\": \"\\ufffd\\ufffd\\ufffd\"}\n");
    check_string("\xed\xa0\x80", "{\"s\": \"\\ufffd\\ufffd\\ufffd\"}\n");
    check_string("\xf4\x90\x80\x80", "{\"s\": \"\\ufffd\\ufffd\\ufffd\\ufffd\"}\n");
    check_string("a\x80z\xff", "{\"s\": \"a\\ufffdz\\ufffd\"}\n");
    check_string("", "{\"s\": \"\"}\n");
    check_string(NULL, "{\"s\": null}\n");
}

static void test_reals(void)
{
    const double values[] = {0, 0.1, 1.0 / 3, -2.5e-300, 5e-324, 1.7976931348623157e308, 123456789.123456789};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        FILE *out = open_text();
        json j = json_begin(out);
        json_real(&j, "x", values[i]);
        json_end(&j);
        fclose(out);
        CHECK_NEAR(strtod(text + strlen("{\"x\": "), NULL), values[i], 0);
    }
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        FILE *out = open_text();
        json j = json_begin(out);
        json_real(&j, "x", odd[i]);
        json_end(&j);
        fclose(out);
        CHECK_STR(text, "{\"x\": null}\n");
    }
}

int main(void)
{
    test_members();
    test_escapes();
    test_reals();
    free(text);
    return CHECK_SUMMARY();
}
