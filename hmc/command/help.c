/* plaq help: the keys of the input file, how to call a command, and pages made of both. */
#include <stdio.h>
#include <string.h>

#include "hmc/command/commands.h"
#include "hmc/assemble/identity.h"
#include "hmc/assemble/parameters.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

static int is_section(const param_section *const *sections, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(sections[i]->section, name)) return 1;
    return 0;
}

/* A manual page in troff's macros. */
static void put_man(const param_section *const *sections, int n)
{
    printf(".TH PLAQ 1 \"\" \"");
    param_put_man(stdout, identity_of_program());
    printf("\"\n.SH NAME\nplaq \\- Hybrid Monte Carlo for lattice QCD\n"
           ".SH SYNOPSIS\n.B plaq\n.I COMMAND\n[options] [arguments]\n.SH COMMANDS\n");
    for (int i = 0; command_number(i); i++) {
        const command *c = command_number(i);
        printf(".TP\n\\fB%s\\fR ", c->name);
        param_put_man(stdout, c->usage);
        printf("\n");
        param_put_man(stdout, c->help);
        printf("\n");
    }
    printf(".PP\nplaq COMMAND \\-\\-help lists the options.\n.SH KEYS OF THE INPUT FILE\n");
    params_man(stdout, sections, n);
    printf(".SH EXIT STATUS\n");
    param_put_man(stdout, EXIT_STATUS_TEXT);
    printf("\n");
}

int command_help(int argc, char **argv)
{
    int markdown = 0, man = 0, n;
    const command_flag flags[] = {{"--markdown", &markdown, NULL, "all keys as a Markdown page"},
                                  {"--man", &man, NULL, "commands and keys as a manual page"}};
    plain_arguments a = command_arguments(argc, argv, flags, 2, 0, 1);
    const param_section *const *sections = parameter_sections(&n);
    const char *word = a.nplain ? a.plain[0] : NULL;
    const command *c = word ? command_named(word) : NULL;
    /* run and measure are commands and sections. */
    const int keys = !c || is_section(sections, n, word);
    int status = 0;
    if (comm_rank() == 0) {
        if (markdown) params_markdown(stdout, sections, n);
        else if (man) put_man(sections, n);
        else if (keys) status = params_help(stdout, sections, n, word) ? EXIT_USER_ERROR : 0;
        if (c && keys) printf("\n");
    }
    if (c && !markdown && !man) {
        char help[] = "--help", *words[] = {a.plain[0], help, NULL};
        return c->run(2, words);
    }
    command_arguments_free(&a);
    return status;
}
