#include "hmc/record/missing.h"

#include <stdio.h>

int64_t missing_rows(int64_t (*number)(const void *of, int64_t i), const void *of, int64_t rows, int64_t done,
                     char *text, size_t size)
{
    int64_t missing = 0, next = 1;
    size_t used = 0;
    text[0] = 0;
    for (int64_t i = 0; i <= rows; i++) {
        const int64_t now = i < rows ? number(of, i) : done + 1;
        if (now > next) {
            missing += now - next;
            if (used < size - 64) {
                used += (size_t)snprintf(text + used, size - used, "%s%lld", used ? ", " : "", (long long)next);
                if (now - 1 > next) used += (size_t)snprintf(text + used, size - used, "-%lld", (long long)now - 1);
            } else if (text[used - 1] != '.') {
                used += (size_t)snprintf(text + used, size - used, " ...");
            }
        }
        next = now + 1;
    }
    return missing;
}
