/* plaq effective: correlators of a file of measurements with their effective masses, as tables, JSON and a page of charts. */
#include <stdio.h>
#include <string.h>

#include "hmc/command/commands.h"
#include "hmc/report/effective.h"
#include "hmc/report/page.h"
#include "io/files/atomic.h"
#include "io/history/correlators_hdf5.h"
#include "io/history/output_file.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

/* Charts that a page may have. */
#define MOST_CHARTS 300

typedef struct {
    const char *file, *table, *column, *page;
    int block, json;
} request;

/* 0, or -1 with a message. Rank 0 alone. */
static int show(const request *q, char *message, size_t size)
{
    correlators c;
    param_text text = {0}, page = {0};
    char title[512];
    int bad = correlators_read(&c, q->file, q->table, message, size), shown = 0;
    snprintf(title, sizeof title, OUTPUT_EFFECTIVE_TITLE "%s", q->file);
    page_begin(&page, title);
    for (int i = 0; i < c.n && !bad; i++) {
        if (q->column ? strcmp(c.all[i].column, q->column) != 0 : !strcmp(c.all[i].column, "imaginary")) continue;
        if (c.all[i].n < q->block) {
            snprintf(message, size, "--block %d is more than the %ld configurations of measure/%s", q->block,
                     c.all[i].n, c.all[i].table);
            bad = -1;
            break;
        }
        effective e = effective_of(&c.all[i], q->block);
        if (q->json) effective_json(stdout, &e);
        else effective_text(&text, &e);
        if (q->page && shown < MOST_CHARTS) effective_figures(&page, &e);
        effective_free(&e);
        shown++;
    }
    if (!bad && q->page && shown > MOST_CHARTS) {
        snprintf(message, size, "%d correlators are too many for one page; choose some by --measure and --column",
                 shown);
        bad = -1;
    }
    page_end(&page);
    if (!bad && shown == 0) {
        snprintf(message, size, "%s: no correlator has a column %s; the first has %s", q->file, q->column,
                 c.all[0].column);
        bad = -1;
    }
    if (!bad && text.data) fputs(text.data, stdout);
    if (!bad && q->page) bad = atomic_write(q->page, page.data, page.length, message, size);
    param_text_free(&page);
    param_text_free(&text);
    correlators_free(&c);
    return bad;
}

int command_effective(int argc, char **argv)
{
    const char *block = NULL;
    char message[1024];
    request q = {0};
    const command_flag flags[] = {
        {"--measure", NULL, &q.table, "the table /measure/NAME alone; default every one with a time in units of a"},
        {"--column", NULL, &q.column, "the column of this name alone; default all but imaginary"},
        {"--block", NULL, &block, "configurations in a row that make one value of the jackknife; default 1"},
        {"--output", NULL, &q.page, "an HTML page of charts, too"},
        {"--json", &q.json, NULL, "one JSON object a correlator"}};
    plain_arguments a = command_arguments(argc, argv, flags, 5, 1, 1);
    log_keep_stdout_clean(q.json);
    q.file = a.plain[0];
    q.block = command_integer("effective", "--block", block, 1, 1000000, 1);
    if (q.page && output_file_check(q.page, OUTPUT_EFFECTIVE, q.file, message, sizeof message))
        user_error("plaq effective: %s", message);
    const int bad = comm_rank() == 0 ? show(&q, message, sizeof message) : 0;
    if (comm_any_bad(bad, message, sizeof message)) user_error("plaq effective: %s", message);
    command_arguments_free(&a);
    return 0;
}
