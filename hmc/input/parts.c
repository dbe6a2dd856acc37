#include "hmc/input/parts.h"

void *parts_struct(const param_section *const *list, const char *bytes, size_t size, const param_section *part)
{
    size_t at = 0;
    for (int k = 0; list[k]; k++) {
        const size_t own = (list[k]->size + 7) / 8 * 8;
        REQUIRE(at + own <= size, "no room for the keys of %s", list[k]->owner);
        if (list[k] == part) return (void *)(bytes + at);
        at += own;
    }
    return NULL;
}

int parts_have(const param_section *const *list, const char *key)
{
    for (int k = 0; list[k]; k++)
        if (param_find(list[k], key)) return 1;
    return 0;
}

void parts_keys(const param_section *const *list, char *text, size_t size)
{
    text[0] = 0;
    for (int k = 0; list[k]; k++)
        for (int i = 0; i < list[k]->count; i++) param_append(text, size, " ", list[k]->table[i].name);
}
