#include "hmc/input/names.h"

#include <string.h>

int names_of(const ini_input *in, const char *section, const char *names[MAX_NAMED])
{
    return ini_instances(in, section, names, MAX_NAMED);
}

void names_check(const ini_input *in, const char *section, const char *instance, const char *key, const char *found,
                 const char *const *known, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(known[i], found)) return;
    const char *nearest = param_nearest(found, known, n);
    user_error("%s: %s = %s in [%s.%s] names no %s of this file%s%s%s", ini_where(in, section, instance, key), key,
               found, section, instance, what, nearest ? "; did you mean '" : "", nearest ? nearest : "",
               nearest ? "'?" : "");
}
