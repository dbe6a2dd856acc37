/* plaq report: a page and a summary of a run, from its output folder; also while it goes on. */
#include <stdio.h>
#include <string.h>

#include "hmc/command/commands.h"
#include "hmc/report/ensemble.h"
#include "io/files/atomic.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

/* 0, or -1 with a message. Rank 0 alone. */
static int report(const char *folder, int64_t from, const char *output, char *message, size_t size)
{
    param_text text = {0};
    ensemble *e = ensemble_read(folder, from, message, size);
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
    const char *output = NULL, *from_text = NULL;
    int64_t from = 0;
    char message[1024];
    const command_flag flags[] = {
        {"--output", NULL, &output, "write the page as this file, not as " ENSEMBLE_PAGE " in the folder"},
        {"--from", NULL, &from_text, "averages from this trajectory on, in place of [run] warmup"}};
    plain_arguments a = command_arguments(argc, argv, flags, 2, 1, 1);
    if (from_text && (param_integer(from_text, &from) || from < 1))
        user_error("plaq report: --from %s: expected the number of a trajectory, from 1", from_text);
    const int bad = comm_rank() == 0 ? report(a.plain[0], from, output, message, sizeof message) : 0;
    if (comm_any_bad(bad, message, sizeof message)) user_error("%s", message);
    command_arguments_free(&a);
    return 0;
}
