#include "hmc/assemble/changes.h"

#include <stdio.h>
#include <string.h>

#include "hmc/actions/action_kind.h"
#include "hmc/tell/text.h"
#include "kernels/base/log.h"

/* KEY of "SECTION.NAME.KEY". */
static const char *key_of(const char *line)
{
    return strrchr(line, '.') + 1;
}

/* The key of "SECTION.NAME.KEY" as the tables have it, if it names sections [range.NAME]; else null. */
static const param *reference(const char *line, const char *section, const char *range)
{
    int n;
    const param_section *const *sections = parameter_sections(&n);
    const size_t length = strlen(section);
    if (strncmp(line, section, length) || line[length] != '.') return NULL;
    for (int i = 0; i < n; i++) {
        const param *key = strcmp(sections[i]->section, section) ? NULL : param_find(sections[i], key_of(line));
        if (key && (key->type == PARAM_NAME || key->type == PARAM_NAMES) && !strcmp(key->range, range)) return key;
    }
    return NULL;
}

/* Sections whose keys decide bits. Those of the checkpoint policy, of the machine and of measurements do not, nor do
 * checks of reversibility. */
static int decides_bits(const char *key)
{
    static const char *const sections[] = {"quark.", "action.", "integrator.", "solver."};
    if (reference(key, "action", "solver") && !strcmp(key_of(key), action_solver_key(USE_REVERSAL))) return 0;
    for (int i = 0; i < 4; i++)
        if (!strncmp(key, sections[i], strlen(sections[i]))) return 1;
    return 0;
}

static int take_line(const char **text, char *key, size_t key_size, char *value, size_t value_size)
{
    while (*text && **text) {
        const char *line = *text, *end = line + strcspn(line, "\n"), *equals = strstr(line, " = ");
        *text = *end ? end + 1 : end;
        if (!equals || equals > end) continue;
        snprintf(key, key_size, "%.*s", (int)(equals - line), line);
        snprintf(value, value_size, "%.*s", (int)(end - equals - 3), equals + 3);
        return 1;
    }
    return 0;
}

static int value_in(const char *dump, const char *key, char *value, size_t size)
{
    char found[PARAM_TEXT_SIZE];
    while (take_line(&dump, found, sizeof found, value, size))
        if (!strcmp(found, key)) return 1;
    return 0;
}

/* True if a dump has a section [quark.NAME] that no action of it names. */
static int is_measured_quark(const char *dump, const char *name)
{
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE];
    snprintf(key, sizeof key, "quark.%.200s.kind", name);
    if (!value_in(dump, key, value, sizeof value)) return 0;
    while (take_line(&dump, key, sizeof key, value, sizeof value))
        if (reference(key, "action", "quark") && !strcmp(value, name)) return 0;
    return 1;
}

/* True if the section of a key "quark.NAME.KEY" is that of a quark which is only measured. */
static int is_only_measured(const char *dump, const char *key)
{
    char name[PARAM_TEXT_SIZE];
    if (strncmp(key, "quark.", strlen("quark."))) return 0;
    const char *from = key + strlen("quark.");
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(key, '.') - from), from);
    return is_measured_quark(dump, name);
}

/* True if the key is of a quark that is only measured, in a section that the other dump does not have. */
static int comes_or_goes(const char *dump, const char *other, const char *key)
{
    char name[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE];
    if (!is_only_measured(dump, key)) return 0;
    snprintf(name, sizeof name, "%.*s.kind", (int)(strrchr(key, '.') - key), key);
    return !value_in(other, name, value, sizeof value);
}

/* The lines of a dump but for quarks that are only measured and that the other one does not have: such come and go, as
 * measurements may. */
static param_text of_ensemble(const char *dump, const char *other)
{
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE];
    param_text text = {0};
    for (const char *at = dump; take_line(&at, key, sizeof key, value, sizeof value);)
        if (!comes_or_goes(dump, other, key)) param_text_add(&text, "%s = %s\n", key, value);
    return text;
}

/* Appends the name, between blanks, unless it is there. */
static int add_name(param_text *names, const char *name)
{
    char word[PARAM_TEXT_SIZE + 2];
    snprintf(word, sizeof word, " %s ", name);
    if (!name[0] || (names->data && strstr(names->data, word))) return 0;
    param_text_add(names, "%s", word);
    return 1;
}

/* Names of the solvers of actions, and of those that these name. */
static param_text solvers_of_actions(const char *dump)
{
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE], word[PARAM_TEXT_SIZE], named[PARAM_TEXT_SIZE + 2];
    param_text names = {0};
    for (const char *at = dump; take_line(&at, key, sizeof key, value, sizeof value);)
        for (int w = 0;
             reference(key, "action", "solver") && decides_bits(key) && param_word(value, w, word, sizeof word); w++)
            add_name(&names, word);
    for (int more = names.length > 0; more;) {
        more = 0;
        for (const char *at = dump; take_line(&at, key, sizeof key, value, sizeof value);) {
            if (!reference(key, "solver", "solver")) continue;
            const char *name = key + strlen("solver.");
            snprintf(named, sizeof named, " %.*s ", (int)(strrchr(key, '.') - name), name);
            if (strstr(names.data, named)) more |= add_name(&names, value);
        }
    }
    return names;
}

/* True if the key acts on trajectories, as keys of quarks that are only measured and of solvers of measurements do not. */
static int acts(const char *dump, const char *solvers, const char *key)
{
    char word[PARAM_TEXT_SIZE + 2];
    if (!decides_bits(key)) return 0;
    if (strncmp(key, "solver.", strlen("solver."))) return !is_only_measured(dump, key);
    const char *name = key + strlen("solver.");
    snprintf(word, sizeof word, " %.*s ", (int)(strrchr(key, '.') - name), name);
    return strstr(solvers, word) != NULL;
}

static void compare_methods(const char *before, const char *now, param_text *physics, param_text *differences)
{
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE], other[PARAM_TEXT_SIZE], told[PARAM_TEXT_SIZE + 8];
    const char *const dump = now;
    param_text solvers = solvers_of_actions(now);
    while (take_line(&now, key, sizeof key, value, sizeof value)) {
        if (!acts(dump, solvers.data ? solvers.data : "", key) || !value_in(before, key, other, sizeof other) ||
            !strcmp(value, other))
            continue;
        snprintf(told, sizeof told, "  %s: ", key);
        if (physics->data && strstr(physics->data, told)) continue;
        param_text_add(differences, "  %s: %s before, %s now\n", key, other, value);
    }
    param_text_free(&solvers);
}

/* Keys that decide the values of measurements. */
static int decides_values(const char *key)
{
    static const char *const sections[] = {"measure.", "source.", "smearing.", "propagator."};
    if (!strcmp(key_of(key), "interval")) return 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (!strncmp(key, sections[i], strlen(sections[i]))) return 1;
    return 0;
}

static void warn_of_measurements(const char *before, const char *now)
{
    char key[PARAM_TEXT_SIZE], value[PARAM_TEXT_SIZE], other[PARAM_TEXT_SIZE];
    param_text differences = {0};
    while (take_line(&now, key, sizeof key, value, sizeof value))
        if (decides_values(key) && value_in(before, key, other, sizeof other) && strcmp(value, other))
            param_text_add(&differences, "  %s: %s before, %s now\n", key, other, value);
    if (differences.length) {
        log_warn(
            "measurements differ since the checkpoint; rows of before keep their values, so give the new ones another "
            "name where both are to be averaged:");
        text_log_lines(log_warn, differences.data);
    }
    param_text_free(&differences);
}

int changes_between(const char *before, const char *now, param_text *physics, param_text *methods)
{
    int n;
    const param_section *const *sections = parameter_sections(&n);
    param_text old = of_ensemble(before, now), new = of_ensemble(now, before);
    const int changed = params_compare(old.data ? old.data : "", new.data ? new.data : "", sections, n, physics);
    compare_methods(old.data ? old.data : "", new.data ? new.data : "", physics, methods);
    param_text_free(&old);
    param_text_free(&new);
    return changed;
}

void changes_judge(const char *checkpoint, const char *before, const parameters *now, int accept)
{
    param_text physics = {0}, methods = {0};
    const int changed = changes_between(before, now->dump, &physics, &methods);
    if (changed && !accept)
        user_error(
            "%s was made with other physics parameters:\n%s  To continue with the new ones all the same: plaq run "
            "--accept-changes ...; to start afresh give another [run] output",
            checkpoint, physics.data);
    if (changed) {
        log_warn("continuing with changed parameters:");
        text_log_lines(log_warn, physics.data);
    }
    warn_of_measurements(before, now->dump);
    if (methods.length) {
        log_info("computed differently since the checkpoint (same physics, other bits):");
        text_log_lines(log_info, methods.data);
    }
    param_text_free(&physics);
    param_text_free(&methods);
}
