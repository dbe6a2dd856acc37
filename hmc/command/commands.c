#include "hmc/command/commands.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hmc/assemble/identity.h"
#include "hmc/assemble/parameters.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/base/device.h"

#define COMMAND(name, overrides, usage, help) int command_##name(int argc, char **argv);
#include "hmc/command/commands.def"
#undef COMMAND

static const command commands[] = {
#define COMMAND(name, overrides, usage, help) {#name, overrides, usage, help, command_##name},
#include "hmc/command/commands.def"
#undef COMMAND
};

#define NCOMMANDS ((int)(sizeof commands / sizeof commands[0]))

const command *command_number(int i)
{
    return i < NCOMMANDS ? &commands[i] : NULL;
}

const command *command_named(const char *name)
{
    for (int i = 0; i < NCOMMANDS; i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

/* ---- the program as a whole ---- */

static const char *program = "plaq";
static struct timespec begun;

void commands_begin(const char *name)
{
    if (name) program = name;
    clock_gettime(CLOCK_MONOTONIC, &begun);
}

const char *command_program(void)
{
    return program;
}

double command_age(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
}

int command_check_output(void)
{
    char why[256] = "";
    int bad = 0, unread = 0;
    if (comm_rank() == 0) {
        errno = 0;
        bad = fflush(stdout) != 0;
        if (!bad && ferror(stdout)) { /* an earlier write failed, whose errno is gone: another one tells */
            bad = 1;
            errno = 0;
            fputc('\n', stdout);
            fflush(stdout);
        }
        unread = bad && errno == EPIPE;
        snprintf(why, sizeof why, "%s", bad && errno ? strerror(errno) : "an earlier write failed");
    }
    /* A reader that has seen enough, as head has, is none to complain to. */
    if (comm_any_bad(unread, why, sizeof why)) return 0;
    if (comm_any_bad(bad, why, sizeof why))
        user_error("standard output cannot be written: %s; what was printed is not complete", why);
    return 1;
}

static void print_help(const char *name, const command_flag *flags, int n)
{
    if (comm_rank() == 0) {
        const command *c = command_named(name);
        if (c) printf("usage: plaq %s [options] %s\n\n%s\n\n", name, c->usage, c->help);
        for (int i = 0; i < n; i++) printf("  %-16s %s\n", flags[i].name, flags[i].help);
        printf("  %-16s this text\n", "--help, -h");
    }
    command_check_output();
    comm_finalize();
    exit(0);
}

/* ---- arguments ---- */

static const command_flag *flag_named(const char *word, const command_flag *flags, int n, const char *name)
{
    const char *names[32];
    for (int i = 0; i < n; i++) {
        names[i] = flags[i].name;
        if (!strcmp(word, flags[i].name)) return &flags[i];
    }
    const char *nearest = param_nearest(word, names, n);
    user_error("plaq %s: unknown option %s%s%s%s; `plaq %s --help` lists them", name, word,
               nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", name);
}

int command_list_word(const char *list, int i, char *word, size_t size)
{
    for (; i > 0 && list; i--) {
        list = strchr(list, ',');
        if (list) list++;
    }
    if (!list || !*list) return 0;
    snprintf(word, size, "%.*s", (int)strcspn(list, ","), list);
    return 1;
}

int command_listed(const char *list, const char *name, const char *group)
{
    char word[64];
    if (!list) return 1;
    for (int i = 0; command_list_word(list, i, word, sizeof word); i++)
        if (!strcmp(word, name) || !strcmp(word, group)) return 1;
    return 0;
}

void command_check_words(const char *command, const char *flag, const char *list, const char *const *known, int n)
{
    char word[64];
    for (int i = 0; command_list_word(list, i, word, sizeof word); i++) {
        int ok = 0;
        for (int k = 0; k < n; k++) ok = ok || !strcmp(word, known[k]);
        if (ok) continue;
        const char *nearest = param_nearest(word, known, n);
        user_error("plaq %s: %s has no '%s'%s%s%s", command, flag, word, nearest ? "; did you mean '" : "",
                   nearest ? nearest : "", nearest ? "'?" : "");
    }
}

const char *command_device(const char *given)
{
    if (given) return given;
    return comm_all(gpu_count() > 0) ? "gpu" : "cpu";
}

int command_choice(const char *command, const char *flag, const char *text, const char *const *known, int n)
{
    char all[256] = "";
    command_check_words(command, flag, text, known, n);
    for (int i = 0; i < n; i++) {
        if (!strcmp(text, known[i])) return i;
        param_append(all, sizeof all, " or ", known[i]);
    }
    user_error("plaq %s: %s %s: give one %s, %s", command, flag, text, flag + 2, all);
}

int command_integer(const char *command, const char *flag, const char *text, int low, int high, int none)
{
    int64_t value;
    if (!text) return none;
    if (param_integer(text, &value) || value < low || value > high)
        user_error("plaq %s: %s %s: give a whole number from %d to %d", command, flag, text, low, high);
    return (int)value;
}

/* section.key=value or section.name.key=value. What is wrong with section and key the reader of parameters says. */
static int has_form_of_override(const char *word)
{
    int parts = 0;
    for (;; word++) {
        const char *start = word;
        while (isalnum((unsigned char)*word) || *word == '_' || *word == '-') word++;
        if (word == start) return 0;
        parts++;
        if (*word != '.') break;
    }
    return *word == '=' && (parts == 2 || parts == 3);
}

/* A file of that name is meant as a file; rank 0 looks, so that all ranks agree. */
static int is_override(const char *word)
{
    int is_file = 0;
    if (!has_form_of_override(word)) return 0;
    if (comm_rank() == 0) is_file = access(word, F_OK) == 0;
    comm_bcast(&is_file, sizeof is_file);
    return !is_file;
}

plain_arguments command_arguments(int argc, char **argv, const command_flag *flags, int nflags, int least, int most)
{
    plain_arguments a = {.plain = malloc((size_t)(argc + 1) * sizeof *a.plain),
                         .overrides = malloc((size_t)(argc + 1) * sizeof *a.overrides)};
    REQUIRE_MEMORY(a.plain && a.overrides, "out of memory");
    const command *c = command_named(argv[0]);
    const int overrides = c && c->overrides;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) print_help(argv[0], flags, nflags);
        if (strncmp(argv[i], "--", 2)) {
            if (overrides && is_override(argv[i])) a.overrides[a.noverride++] = argv[i];
            else a.plain[a.nplain++] = argv[i];
            continue;
        }
        const command_flag *f = flag_named(argv[i], flags, nflags, argv[0]);
        if (f->given) *f->given = 1;
        if (f->value) {
            if (i + 1 == argc) user_error("plaq %s: %s needs a value", argv[0], f->name);
            *f->value = argv[++i];
        }
    }
    if (a.nplain < least || (most >= 0 && a.nplain > most))
        user_error("plaq %s: %s argument%s%s; `plaq %s --help` tells how to call it", argv[0],
                   a.nplain < least ? "missing" : "unexpected", a.nplain < least ? "" : " ",
                   a.nplain < least ? "" : a.plain[most], argv[0]);
    return a;
}

void command_arguments_free(plain_arguments *a)
{
    free(a->plain);
    free(a->overrides);
}

void command_set_log(const parameters *p)
{
    log_set_level((log_level)p->run.log);
}

int command_ranks(const char *text, const char *command)
{
    int64_t n = 0;
    if (text && (param_integer(text, &n) || n < 1 || n > INT_MAX))
        user_error("plaq %s: --ranks %s is not a number of ranks; give an integer of at least 1", command, text);
    return (int)n;
}

void command_size(const char *command, const char *text, int size[4])
{
    int used = 0;
    memset(size, 0, 4 * sizeof *size);
    if (!text) return;
    int bad = strspn(text, "0123456789.") != strlen(text) ||
              sscanf(text, "%4d.%4d.%4d.%4d%n", &size[0], &size[1], &size[2], &size[3], &used) != 4 || text[used];
    for (int d = 0; d < 4; d++) bad = bad || size[d] < 2 || size[d] > LINKS_MAX_EXTENT || size[d] % 2;
    if (bad)
        user_error("plaq %s: --size %s is no lattice; give four even extents from 2 to %d, as in 8.8.8.16", command,
                   text, LINKS_MAX_EXTENT);
}

const char *command_format(const char *command, const char *path, const char *asked)
{
    char written[256];
    if (!asked) {
        const char *format = links_format_of_ending(path);
        if (format) return format;
        user_error("plaq %s: the ending of %s names no format; give it an ending of these, or --format: %s", command,
                   path, links_formats_written(written, sizeof written));
    }
    const char *names[16], *name;
    int n = 0;
    while (n < 16 && (name = links_format_writable(n))) names[n++] = name;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], asked)) return names[i];
    const char *nearest = param_nearest(asked, names, n);
    user_error("plaq %s: format '%s' cannot be written; these can: %s%s%s%s", command, asked,
               links_formats_written(written, sizeof written), nearest ? "; did you mean " : "", nearest ? nearest : "",
               nearest ? "?" : "");
}

links_meta command_meta(const links_info *info)
{
    return (links_meta){.has_plaquette = 1,
                        .ensemble = info->ensemble[0] ? info->ensemble : NULL,
                        .sequence = info->has_sequence ? info->sequence : 0,
                        .program = identity_of_program(),
                        .parameters = info->parameters[0] ? info->parameters : NULL,
                        .rows = 3};
}

void command_warn_of_loss(const links_info *info, const links_meta *meta, const char *format)
{
    if (links_format_carries_names(format)) return;
    if (meta->ensemble || info->has_sequence || meta->parameters)
        log_warn("files of format %s have no place for trajectory number, ensemble and parameters: the copy loses them",
                 format);
}
