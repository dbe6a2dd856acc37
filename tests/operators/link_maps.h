/* Settings of link maps from text, for tests: link_map_settings_of("hex", "steps=2 directions=space"). */
#ifndef PLAQ_TESTS_OPERATORS_LINK_MAPS_H
#define PLAQ_TESTS_OPERATORS_LINK_MAPS_H

#include "operators/link_map.h"
#include "tests/kernels/kit.h"

/* Keys that are not among the words have their defaults. */
CHECK_UNUSED static link_settings link_map_settings_of(const char *kind, const char *words)
{
    link_settings s = {.kind = param_kind(link_map_section(0), kind)};
    const param_section *own = link_map_type_of(&s)->own;
    char word[128], message[PARAM_MESSAGE_SIZE];
    params_default(own, &s);
    for (int n = 0; sscanf(words, "%127s%n", word, &n) == 1; words += n) {
        char *value = strchr(word, '=');
        REQUIRE(value, "no value in '%s'", word);
        *value++ = 0;
        const param *p = param_find(own, word);
        REQUIRE(p && !param_set(p, &s, value, message, sizeof message), "%s links do not take %s = %s", kind, word,
                value);
    }
    return s;
}

/* Settings to try, at least one of each kind: kind and words. */
static const char *const link_map_variants[][2] CHECK_UNUSED = {{"stout", "rho=0.12 steps=2"},
                                                                {"stout", "rho=0.2 directions=space"},
                                                                {"flow", "flow_time=0.05"},
                                                                {"hex", ""},
                                                                {"hex", "steps=2"},
                                                                {"hex", "steps=3 alpha_1=0.4 alpha_2=0 alpha_3=0.6"},
                                                                {"hex", "steps=2 directions=space"},
                                                                {"hyp", ""},
                                                                {"hyp", "steps=2 directions=space"},
                                                                {"ape", "link_weight=3 steps=2"},
                                                                {"ape", "link_weight=2.5 directions=space"}};
#define LINK_MAP_VARIANTS ((int)(sizeof link_map_variants / sizeof link_map_variants[0]))

#endif
