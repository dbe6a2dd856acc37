/* plaq: the program. Finds the command and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/threads.h"
#include "hmc/assemble/tuning.h"
#include "hmc/command/commands.h"
#include "hmc/command/process.h"
#include "hmc/assemble/identity.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"

static void print_usage(void)
{
    printf("%s: Hybrid Monte Carlo for lattice QCD\n\nusage: plaq COMMAND ...\n\n", identity_of_program());
    for (int i = 0; command_number(i); i++) {
        const command *c = command_number(i);
        printf("  %-8s %-40s %s\n", c->name, c->usage, c->help);
    }
    printf("\n`plaq COMMAND --help` tells more. On several ranks: mpirun -n N plaq ...\n"
           "Exit status: " EXIT_STATUS_TEXT "\n");
}

static int is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static const command *find(const char *name)
{
    const char *names[32];
    const command *c = command_named(name);
    int n = 0;
    if (c) return c;
    for (; command_number(n) && n < 32; n++) names[n] = command_number(n)->name;
    const char *nearest = param_nearest(name, names, n);
    user_error("unknown command '%s'%s%s%s; `plaq --help` lists the commands", name, nearest ? "; did you mean '" : "",
               nearest ? nearest : "", nearest ? "'?" : "");
}

int main(int argc, char **argv)
{
    process_begin(argv);
    commands_begin(argc > 0 ? argv[0] : NULL);
    comm_init(&argc, &argv);
    threads_check();
    int status = 0;
    if (argc < 2 || is_help(argv[1])) {
        if (comm_rank() == 0) print_usage();
        status = argc < 2 ? EXIT_USER_ERROR : 0;
    } else if (!strcmp(argv[1], "--version")) {
        if (comm_rank() == 0) printf("%s\n", identity_of_program());
    } else {
        status = find(argv[1])->run(argc - 1, argv + 1);
    }
    tuning_close();
    gpu_transport_close();
    command_check_output();
    comm_finalize();
    return status;
}
