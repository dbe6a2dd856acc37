#include "hmc/input/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the conversion at `percent`, and how many digits it has at least; NULL when it is none. */
static const char *conversion(const char *percent, int *digits)
{
    char *end;
    *digits = 1;
    if (percent[1] == 'd') return percent + 2;
    if (percent[1] != '0' || percent[2] < '1' || percent[2] > '9') return NULL;
    *digits = (int)strtol(percent + 1, &end, 10);
    return *end == 'd' && *digits <= 20 ? end + 1 : NULL;
}

const char *pattern_fault(const char *pattern)
{
    int digits;
    const char *percent = strchr(pattern, '%');
    if (!percent) return "has no %d for the trajectory number";
    const char *rest = conversion(percent, &digits);
    if (!rest) return "has a % that is no %d, %06d or the like";
    return strchr(rest, '%') ? "has more than one %" : NULL;
}

int pattern_name(char *name, size_t size, const char *pattern, int64_t number)
{
    int digits;
    const char *percent = strchr(pattern, '%'), *rest = conversion(percent, &digits);
    return snprintf(name, size, "%.*s%0*" PRId64 "%s", (int)(percent - pattern), pattern, digits, number, rest);
}

int pattern_file(char *name, size_t size, const char *text, int64_t number, char *message, size_t message_size)
{
    const int pattern = strchr(text, '%') != NULL;
    const char *fault = pattern ? pattern_fault(text) : NULL;
    if (!fault && pattern && number < 0)
        fault = "takes the trajectory number of the configuration, which bears none; name the file itself";
    if (!fault && (pattern ? pattern_name(name, size, text, number) : snprintf(name, size, "%s", text)) >= (int)size)
        fault = "is too long a name";
    if (fault) snprintf(message, message_size, "%s %s", text, fault);
    return fault ? -1 : 0;
}

int64_t pattern_number(const char *name, const char *pattern)
{
    char again[1024];
    const size_t before = strcspn(pattern, "%");
    if (strncmp(name, pattern, before) || name[before] < '0' || name[before] > '9') return -1;
    const int64_t number = strtoll(name + before, NULL, 10);
    pattern_name(again, sizeof again, pattern, number);
    return strcmp(name, again) ? -1 : number;
}
