/* plaq report: a page and a summary of a run, from its output folder; also while it goes on. */
#include <stdio.h>
#include <string.h>

#include "hmc/command/commands.h"
#include "hmc/report/ensemble.h"
#include "io/atomic.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

/* 0, or -1 with a message. Rank 0 alone. */
static int report(const char *folder, const char *output, char *message, size_t size)
{
    param_text text = {0};
    ensemble *e = ensemble_read(folder, message, size);
    if (!e) return -1;
    const int bad = ensemble_write_page(e, output, message, size);
    ensemble_text(&text, e);
    if (!bad) fputs(text.data, stdout);
    if (!bad && output) printf("\npage: %s\n", output);
    else if (!bad) printf("\npage: %s/" ENSEMBLE_PAGE "\n", folder);
    param_text_free(&text);
    ensemble_free(e);
    return bad;
}

int command_report(int argc, char **argv)
{
    const char *output = NULL;
    char message[1024];
    const command_flag flags[] = {
        {"--output", NULL, &output, "write the page as this file, not as " ENSEMBLE_PAGE " in the folder"}};
    plain_arguments a = command_arguments(argc, argv, flags, 1, 1, 1);
    const int bad = comm_rank() == 0 ? report(a.plain[0], output, message, sizeof message) : 0;
    if (comm_any_bad(bad, message, sizeof message)) user_error("%s", message);
    command_arguments_free(&a);
    return 0;
}
