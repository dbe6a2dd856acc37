#include "hmc/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/parameters.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

#define COMMAND(name, usage, help) int command_##name(int argc, char **argv);
#include "hmc/commands.def"
#undef COMMAND

static const command commands[] = {
#define COMMAND(name, usage, help) {#name, usage, help, command_##name},
#include "hmc/commands.def"
#undef COMMAND
};

#define NCOMMANDS ((int)(sizeof commands / sizeof commands[0]))

const command *command_number(int i)
{
    return i < NCOMMANDS ? &commands[i] : NULL;
}

static void print_help(const char *name, const command_flag *flags, int n)
{
    if (comm_rank() == 0) {
        for (int i = 0; i < NCOMMANDS; i++)
            if (!strcmp(commands[i].name, name))
                printf("usage: plaq %s [options] %s\n\n%s\n\n", name, commands[i].usage, commands[i].help);
        for (int i = 0; i < n; i++) printf("  %-14s %s\n", flags[i].name, flags[i].help);
        printf("  %-14s this text\n", "--help");
    }
    comm_finalize();
    exit(0);
}

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

/* "section.key=value" (what is wrong with it the reader of parameters says), and not a path. */
static int is_override(const char *word)
{
    const char *equals = strchr(word, '='), *slash = strchr(word, '/');
    return equals && (!slash || slash > equals);
}

plain_arguments command_arguments(int argc, char **argv, const command_flag *flags, int nflags, int least, int most)
{
    plain_arguments a = {.plain = malloc((size_t)(argc + 1) * sizeof *a.plain),
                         .overrides = malloc((size_t)(argc + 1) * sizeof *a.overrides)};
    REQUIRE(a.plain && a.overrides, "out of memory");
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) print_help(argv[0], flags, nflags);
        if (strncmp(argv[i], "--", 2)) {
            if (is_override(argv[i])) a.overrides[a.noverride++] = argv[i];
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

int command_help(int argc, char **argv)
{
    int markdown = 0, n;
    const command_flag flags[] = {{"--markdown", &markdown, NULL, "all keys as a Markdown page"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 0, 1);
    const param_section *const *sections = parameter_sections(&n);
    int status = 0;
    if (comm_rank() == 0) {
        if (markdown) params_markdown(stdout, sections, n);
        else status = params_help(stdout, sections, n, a.nplain ? a.plain[0] : NULL) ? EXIT_USER_ERROR : 0;
    }
    command_arguments_free(&a);
    return status;
}
