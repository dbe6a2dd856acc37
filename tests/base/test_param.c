/* Parameter tables: every type from text and back, refusals, nearest names, help, dump and comparison. */
#include "kernels/base/param.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ACTIONS(X) X(WILSON, "wilson") X(SYMANZIK, "symanzik") X(IWASAKI, "iwasaki")
enum { ACTIONS(PARAM_CONSTANT) };

typedef struct {
    int steps;
    int64_t seed;
    double beta, tau;
    int even_odd;
    char output[PARAM_STRING_SIZE];
    char note[PARAM_STRING_SIZE];
    int action; /* WILSON, ... */
    int size[4], block[4];
    char levels[PARAM_WORDS_SIZE];
    char kinds[PARAM_WORDS_SIZE];
    int guard;
} sample;

#define AT(member) offsetof(sample, member)
static const param table[] = {
    {"steps", PARAM_INT, AT(steps), "10", "[1,inf)", "", "steps of a trajectory", 0},
    {"seed", PARAM_LONG, AT(seed), "1", "[0,inf)", "", "random numbers are a function of it", 1},
    {"beta", PARAM_REAL, AT(beta), NULL, "(0,inf)", "", "inverse coupling 6/g^2", 1},
    {"tau", PARAM_REAL, AT(tau), "1", "(0,10]", "MD units", "length of a trajectory | with a bar", 1},
    {"even_odd", PARAM_BOOL, AT(even_odd), "yes", NULL, "", "even-odd", 0},
    {"output", PARAM_STRING, AT(output), "out", NULL, "", "folder of the results", 0},
    {"note", PARAM_STRING, AT(note), "", NULL, "", "free text", 0},
    {"action", PARAM_CHOICE, AT(action), "wilson", PARAM_RANGE(ACTIONS), "", "gauge action", 1},
    {"size", PARAM_INT4, AT(size), "4.4.4.8", "[2,inf)", "sites", "extents", 1},
    {"block", PARAM_INT4, AT(block), "rank", "[0,16]|rank", "sites", "extents, or a word for zeros", 0},
    {"levels", PARAM_WORDS, AT(levels), "", NULL, "", "actions on this level", 0},
    {"kinds", PARAM_WORDS, AT(kinds), "hop", "hop|clover|blas", "", "kernels", 0},
};
enum { KEYS = sizeof table / sizeof *table };
static const param_section plain = {"gauge", 0, table, KEYS, sizeof(sample), "a sample section", NULL};
static const param_section named = {"fermion", 1, table, KEYS, sizeof(sample), "another, with names", NULL};
static const param_section *const sections[] = {&plain, &named};

static sample s;
static char message[PARAM_MESSAGE_SIZE], text[PARAM_MESSAGE_SIZE];

static int set(const char *key, const char *value)
{
    return param_set(param_find(&plain, key), &s, value, message, sizeof message);
}

static const char *get(const char *key)
{
    param_format(param_find(&plain, key), &s, text, sizeof text);
    return text;
}

static const char *allowed(const char *key)
{
    param_range_text(param_find(&plain, key), text, sizeof text);
    return text;
}

static void refused(const char *key, const char *value, const char *part)
{
    char before[PARAM_TEXT_SIZE];
    snprintf(before, sizeof before, "%s", get(key));
    CHECK_INT(set(key, value), -1);
    CHECK_HAS(message, part);
    CHECK_HAS(message, "allowed: ");
    CHECK_STR(get(key), before);
}

static void test_defaults(void)
{
    s.guard = 5;
    params_default(&plain, &s);
    CHECK_INT(s.guard, 0);
    CHECK_INT(s.steps, 10);
    CHECK_INT(s.seed, 1);
    CHECK_NEAR(s.beta, 0, 0);
    CHECK_NEAR(s.tau, 1, 0);
    CHECK_INT(s.even_odd, 1);
    CHECK_STR(s.note, "");
    CHECK_INT(s.action, WILSON);
    CHECK_INT(s.size[0], 4);
    CHECK_INT(s.size[3], 8);
    CHECK_INT(s.block[0], 0);
    CHECK(!param_find(&plain, "no_such_key"));
}

static void test_numbers(void)
{
    CHECK_INT(set("steps", "2147483647"), 0);
    CHECK_STR(get("steps"), "2147483647");
    refused("steps", "2147483648", "32 bits");
    refused("steps", "0", "'0' is out of range; allowed: integer >= 1");
    refused("steps", "12a", "not an integer");
    refused("steps", "1.5", "not an integer");
    refused("steps", " 5", "not an integer");
    refused("steps", "+-5", "not an integer");
    refused("steps", "", "the value is empty");
    CHECK_INT(set("seed", "9223372036854775807"), 0);
    CHECK_STR(get("seed"), "9223372036854775807");
    refused("seed", "9223372036854775808", "64 bits");
    refused("seed", "-1", "out of range");
    refused("tau", "0", "allowed: 0 < real <= 10");
    refused("tau", "10.000001", "out of range");
    CHECK_INT(set("tau", "10"), 0);
    refused("tau", "nan", "finite");
    refused("tau", "inf", "finite");
    refused("tau", "1e999", "finite");
    refused("tau", "1,5", "not a real number");
    refused("tau", " 1", "not a real number");
    refused("tau", "0x1p-1", "'0x1p-1' is not a decimal number");
    refused("tau", "+1", "not a decimal number");
    refused("tau", "1e-400", "so small that it would be taken as 0");
    refused("tau", "0.000e5", "out of range");
    CHECK_INT(set("tau", "0.00000001e+8"), 0);
    CHECK_NEAR(s.tau, 1, 1e-15);
    refused("steps", "+5", "not an integer");
    refused("steps", "0x10", "not an integer");
    refused("size", "+4.4.4.4", "X.Y.Z.T");
    refused("size", "0x4.4.4.4", "X.Y.Z.T");
    refused("seed", "9223372036854775808", "integers go up to 9223372036854775807");
    refused("note", "caf\xe9", "caf\\xe9");
    refused("note", "a\xc2\x85z", "control character, or bytes that are not UTF-8");
    CHECK_INT(set("note", "caf\xc3\xa9"), 0);
    CHECK_INT(set("note", ""), 0);
    CHECK_INT(set("size", "8.10.12.64"), 0);
    CHECK_STR(get("size"), "8.10.12.64");
    refused("size", "8.8.8", "X.Y.Z.T");
    refused("size", "8.8.8.8.8", "X.Y.Z.T");
    refused("size", "8.8.8.", "X.Y.Z.T");
    refused("size", "8x8x8x8", "X.Y.Z.T");
    refused("size", "8.8.8.1", "each integer >= 2");
    refused("size", "8.8.8.4294967304", "X.Y.Z.T");
    CHECK_INT(set("block", "4.4.2.16"), 0);
    CHECK_STR(get("block"), "4.4.2.16");
    refused("block", "ranks", "allowed: X.Y.Z.T, each 0 <= integer <= 16, or rank");
    refused("size", "rank", "X.Y.Z.T");
    CHECK_INT(set("block", "rank"), 0);
    CHECK_STR(get("block"), "rank");
    CHECK_INT(set("block", "0.0.0.0"), 0);
    CHECK_STR(get("block"), "rank");
}

/* A word behind the interval of a real is NaN, and NaN is the word. */
static void test_real_or_word(void)
{
    const param p = {"x", PARAM_REAL, 0, "auto", "(-1,1]|auto", "", "", 0};
    double x = 7;
    CHECK_INT(param_set(&p, &x, "auto", message, sizeof message), 0);
    CHECK(isnan(x));
    param_format(&p, &x, text, sizeof text);
    CHECK_STR(text, "auto");
    CHECK_INT(param_set(&p, &x, "-0.25", message, sizeof message), 0);
    CHECK(x == -0.25);
    param_format(&p, &x, text, sizeof text);
    CHECK_STR(text, "-0.25");
    CHECK_INT(param_set(&p, &x, "nan", message, sizeof message), -1);
    CHECK_INT(param_set(&p, &x, "-1", message, sizeof message), -1);
    CHECK_HAS(message, "allowed: -1 < real <= 1, or auto");
    CHECK(x == -0.25);
}

static void test_reals_read_back(void)
{
    const double values[] = {0.1, 1.0 / 3, 5.7, 1e22, DBL_MAX, DBL_MIN, 4.9e-324, 0.1 + 0.2, 123456789.0, 1e-10};
    const param p = {"x", PARAM_REAL, 0, "0", NULL, "", "", 0};
    double x;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        param_format(&p, &values[i], text, sizeof text);
        CHECK_INT(param_set(&p, &x, text, message, sizeof message), 0);
        CHECK_NEAR(x, values[i], 0);
    }
    param_format(&p, &values[0], text, sizeof text);
    CHECK_STR(text, "0.1");
    param_format(&p, &values[7], text, sizeof text);
    CHECK_STR(text, "0.30000000000000004");
    CHECK_INT(param_set(&p, &x, "-0.0", message, sizeof message), 0);
    param_format(&p, &x, text, sizeof text);
    CHECK_STR(text, "0");
}

static void test_texts(void)
{
    const char *yes[] = {"yes", "True", "ON", "1"}, *no[] = {"no", "false", "Off", "0"};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(set("even_odd", no[i]), 0);
        CHECK_STR(get("even_odd"), "no");
        CHECK_INT(set("even_odd", yes[i]), 0);
        CHECK_STR(get("even_odd"), "yes");
    }
    refused("even_odd", "2", "yes or no");
    refused("output", "", "empty");
    CHECK_INT(set("note", ""), 0);
    char longest[PARAM_STRING_SIZE + 1];
    memset(longest, 'x', PARAM_STRING_SIZE);
    longest[PARAM_STRING_SIZE] = 0;
    refused("output", longest, "too long");
    longest[PARAM_STRING_SIZE - 1] = 0;
    CHECK_INT(set("output", longest), 0);
    CHECK_STR(get("output"), longest);
    refused("note", "a\nb", "control character");
    CHECK_INT(set("action", "iwasaki"), 0);
    CHECK_INT(s.action, IWASAKI);
    CHECK_STR(get("action"), "iwasaki");
    CHECK_INT(param_choice(PARAM_RANGE(ACTIONS), "symanzik"), SYMANZIK);
    CHECK_INT(param_choice(PARAM_RANGE(ACTIONS), "symanz"), -1);
    refused("action", "wilsn", "did you mean 'wilson'?");
    refused("action", "wils", "allowed: wilson, symanzik or iwasaki");
    refused("action", "wilson|symanzik", "unknown");
    CHECK_INT(set("levels", " a,b ,, c "), 0);
    CHECK_STR(get("levels"), "a b c");
    CHECK_INT(set("levels", ""), 0);
    CHECK_STR(get("levels"), "");
    CHECK_INT(set("kinds", "blas,hop"), 0);
    refused("kinds", "blas,hopp", "list of hop, clover or blas");
    refused("kinds", ", ,", "empty");
    char many[PARAM_WORDS_SIZE + 2] = "";
    memset(many, 'y', PARAM_WORDS_SIZE);
    refused("levels", many, "too long");
    CHECK(param_word("a b  c", 2, text, sizeof text));
    CHECK_STR(text, "c");
    CHECK(!param_word("a b", 2, text, sizeof text));
    CHECK(!param_word("", 0, text, sizeof text));
    CHECK_STR(allowed("note"), "text or nothing");
    CHECK_STR(allowed("levels"), "list of words, or nothing");
}

static void test_nearest(void)
{
    const char *names[] = {"kappa", "mass", "c_sw", "trajectories", "max_hours"};
    CHECK_STR(param_nearest("kapa", names, 5), "kappa");
    CHECK_STR(param_nearest("kpapa", names, 5), "kappa");
    CHECK_STR(param_nearest("KAPPA", names, 5), "kappa");
    CHECK_STR(param_nearest("csw", names, 5), "c_sw");
    CHECK_STR(param_nearest("traj", names, 5), "trajectories");
    CHECK_STR(param_nearest("maxhours", names, 5), "max_hours");
    CHECK(!param_nearest("wilson_loop", names, 5));
    CHECK(!param_nearest("x", names, 5));
    CHECK(!param_nearest("", names, 5));
    CHECK(!param_nearest("kappa", names, 0));
}

static char *help_text(const char *key, int *status, int markdown)
{
    char *out = NULL;
    size_t size;
    FILE *file = open_memstream(&out, &size);
    if (markdown) params_markdown(file, sections, 2);
    else *status = params_help(file, sections, 2, key);
    fclose(file);
    return out;
}

static void test_help(void)
{
    const char *keys[] = {NULL,        "gauge", "beta", "gauge.beta", "fermion.NAME", "fermion.light.beta",
                          "gauge.bta", "zzz"};
    const int sections_shown[] = {2, 1, 2, 1, 1, 1, 0, 0};
    for (int i = 0; i < 8; i++) {
        int status, heads = 0;
        size_t widest = 0;
        char *out = help_text(keys[i], &status, 0);
        CHECK_INT(status, sections_shown[i] == 0);
        for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
            heads += *line == '[';
            if (strlen(line) > widest) widest = strlen(line);
        }
        CHECK_INT(heads, sections_shown[i]);
        CHECK(widest <= 100);
        free(out);
    }
    char *out = help_text(NULL, NULL, 1);
    CHECK_HAS(out, "## [fermion.NAME]");
    CHECK_HAS(out, "\\| with a bar |");
    CHECK_HAS(out, "| `beta` | real | (required) |");
    free(out);
}

static void test_dump_and_compare(void)
{
    sample other;
    param_text before = {0}, now = {0}, diff = {0};
    params_default(&plain, &s);
    s.beta = 5.7;
    other = s;
    params_dump(&before, &plain, NULL, &s);
    params_dump(&before, &named, "light", &s);
    CHECK_HAS(before.data, "gauge.beta = 5.7\n");
    CHECK_HAS(before.data, "gauge.note = \n");
    CHECK_HAS(before.data, "fermion.light.size = 4.4.4.8\n");
    CHECK_INT(before.length, strlen(before.data));
    CHECK_INT(params_compare(before.data, before.data, sections, 2, &diff), 0);
    CHECK(!diff.data);

    other.beta = 5.8;
    other.steps = 77;
    strcpy(other.note, "not physics");
    params_dump(&now, &plain, NULL, &other);
    CHECK_INT(params_compare(before.data, now.data, sections, 2, &diff), 1 + 5);
    CHECK_HAS(diff.data, "  gauge.beta: 5.7 before, 5.8 now\n");
    CHECK_HAS(diff.data, "  fermion.light.beta: 5.7 before, (absent) now\n");
    CHECK(!strstr(diff.data, "steps"));
    CHECK_INT(params_compare(now.data, before.data, sections, 2, &diff), 6);
    param_text_free(&diff);
    param_text_free(&before);
    param_text_free(&now);
    CHECK(!now.data && !now.length);
}

static void test_compare_versions(void)
{
    param_text diff = {0};
    /* a key that one version does not know has its default there */
    CHECK_INT(params_compare("gauge.beta = 5.7\n", "gauge.beta = 5.7\ngauge.tau = 1\n", sections, 2, &diff), 0);
    CHECK_INT(params_compare("gauge.beta = 5.7\ngauge.tau = 1.0\n", "gauge.beta = 5.70\n", sections, 2, &diff), 0);
    CHECK_INT(params_compare("gauge.beta = 5.7\n", "gauge.beta = 5.7\ngauge.tau = 2\n", sections, 2, &diff), 1);
    CHECK_HAS(diff.data, "gauge.tau: 1 before, 2 now");
    param_text_free(&diff);
    CHECK_INT(params_compare("gauge.old = 1\ngauge.beta = 1\n", "gauge.beta = 1\n", sections, 2, &diff), 1);
    CHECK_HAS(diff.data, "gauge.old: 1 before, (absent) now (a key unknown to this version)");
    param_text_free(&diff);
    CHECK_INT(params_compare("", "gauge.beta = 1\n", sections, 2, &diff), 1);
    CHECK_INT(params_compare("", "gauge.steps = 1\n", sections, 2, &diff), 0);
    param_text_free(&diff);
}

int main(void)
{
    test_defaults();
    test_numbers();
    test_real_or_word();
    test_reals_read_back();
    test_texts();
    test_nearest();
    test_help();
    test_dump_and_compare();
    test_compare_versions();
    return CHECK_SUMMARY();
}
