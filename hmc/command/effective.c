/* plaq effective: correlators of a file of measurements with their effective masses, static potentials, PCAC masses and amputated vertices, as tables, JSON and a page of charts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hmc/command/commands.h"
#include "hmc/report/effective.h"
#include "hmc/report/page.h"
#include "hmc/report/pcac.h"
#include "hmc/report/potential.h"
#include "hmc/report/vertices.h"
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
    int block, json, potential, pcac, vertices; /* potential: height of loops; none of these: effective masses */
    double from, to;                            /* distances of the fit of the potential, or times of the plateau */
    double c_A;
} request;

/* Texts that are made, and how many correlators or potentials they are of. */
typedef struct {
    param_text text, page;
    int shown;
} output;

static int is_asked(const request *q, const correlators *c, int i)
{
    const correlator *of = &c->all[i];
    for (int k = 0; k < i && q->potential; k++)
        if (potential_same(&c->all[k], of)) return 0;
    if (q->potential) return potential_is_loop(of);
    if (q->pcac) return pcac_is_pp(c, i);
    if (q->vertices) return vertices_begin(c, i);
    return q->column ? !strcmp(of->column, q->column) : strcmp(of->column, "imaginary") != 0;
}

static int show_potential(const request *q, const correlators *c, int i, output *o, char *message, size_t size)
{
    potential v;
    const int bad = potential_of(&v, c, i, q->potential, q->block, q->from, q->to, message, size);
    if (!bad && q->json) potential_json(stdout, &v);
    else if (!bad) potential_text(&o->text, &v);
    if (!bad && q->page && o->shown < MOST_CHARTS) potential_figure(&o->page, &v);
    potential_free(&v);
    return bad;
}

static int show_pcac(const request *q, const correlators *c, int i, output *o, char *message, size_t size)
{
    pcac m;
    const int bad = pcac_of(&m, c, i, q->c_A, q->block, q->from, q->to, message, size);
    if (!bad && q->json) pcac_json(stdout, &m);
    else if (!bad) pcac_text(&o->text, &m);
    if (!bad && q->page && o->shown < MOST_CHARTS) pcac_figure(&o->page, &m);
    pcac_free(&m);
    return bad;
}

static void show_vertices(const request *q, const correlators *c, int i, output *o)
{
    vertices v;
    vertices_of(&v, c, i, q->block);
    if (q->json) vertices_json(stdout, &v);
    else vertices_text(&o->text, &v);
}

static void show_effective(const request *q, const correlator *c, output *o)
{
    effective e = effective_of(c, q->block);
    if (q->json) effective_json(stdout, &e);
    else effective_text(&o->text, &e);
    if (q->page && o->shown < MOST_CHARTS) effective_figures(&o->page, &e);
    effective_free(&e);
}

static int show_all(const request *q, const correlators *c, output *o, char *message, size_t size)
{
    for (int i = 0; i < c->n; i++) {
        if (!is_asked(q, c, i)) continue;
        if (c->all[i].n < q->block) {
            snprintf(message, size, "--block %d is more than the %ld configurations of measure/%s", q->block,
                     c->all[i].n, c->all[i].table);
            return -1;
        }
        if (q->potential && show_potential(q, c, i, o, message, size)) return -1;
        if (q->pcac && show_pcac(q, c, i, o, message, size)) return -1;
        if (q->vertices) show_vertices(q, c, i, o);
        if (!q->potential && !q->pcac && !q->vertices) show_effective(q, &c->all[i], o);
        o->shown++;
    }
    if (o->shown == 0 && q->potential)
        snprintf(message, size, "%s: no Wilson loops, which [measure.NAME] kind = wilson_loops measures", q->file);
    else if (o->shown == 0 && q->pcac)
        snprintf(message, size,
                 "%s: no mesons at rest with the pseudoscalar at the source, and it and the axial current at the sink; "
                 "measure with "
                 "kind = mesons, operators = pseudoscalar axial and pairs = all",
                 q->file);
    else if (o->shown == 0 && q->vertices)
        snprintf(message, size, "%s: no vertices, which [measure.NAME] kind = vertices measures", q->file);
    else if (o->shown == 0)
        snprintf(message, size, "%s: no correlator has a column %s; the first has %s", q->file, q->column,
                 c->all[0].column);
    else if (q->page && o->shown > MOST_CHARTS)
        snprintf(message, size, "%d correlators are too many for one page; choose some by --measure and --column",
                 o->shown);
    else return 0;
    return -1;
}

/* 0, or -1 with a message. Rank 0 alone. */
static int show(const request *q, char *message, size_t size)
{
    correlators c;
    output o = {0};
    char title[512];
    int bad = correlators_read(&c, q->file, q->table, q->vertices ? VERTICES_AXIS : NULL, message, size);
    snprintf(title, sizeof title, OUTPUT_EFFECTIVE_TITLE "%s", q->file);
    page_begin(&o.page, title);
    bad = bad || show_all(q, &c, &o, message, size);
    page_end(&o.page);
    if (!bad && o.text.data) fputs(o.text.data, stdout);
    if (!bad && q->page) bad = atomic_write(q->page, o.page.data, o.page.length, message, size);
    param_text_free(&o.page);
    param_text_free(&o.text);
    correlators_free(&c);
    return bad;
}

/* A number from `low` on; `none` where it is not given. */
static double number(const char *flag, const char *text, double low, double none)
{
    double r = none;
    if (text && (param_real(text, &r) || !(r >= low) || isinf(r))) {
        if (isinf(low)) user_error("plaq effective: %s %s is not a number", flag, text);
        user_error("plaq effective: %s %s is not a number from %g on", flag, text, low);
    }
    return r;
}

/* The choice of a potential or a PCAC mass, with its range of distances or times. */
static void read_choice(request *q, const char *height, const char *c_A, const char *from, const char *to)
{
    q->potential = command_integer("effective", "--potential", height, 1, 100000, 0);
    q->c_A = number("--c_A", c_A, -INFINITY, 0);
    q->from = number("--from", from, 0, !q->pcac ? 0 : to ? 1 : NAN);
    q->to = number("--to", to, 0, INFINITY);
    if (q->potential && q->pcac) user_error("plaq effective: --potential and --pcac are given; choose one of them");
    if (q->vertices && (q->potential || q->pcac || q->column || q->page))
        user_error("plaq effective: --vertices goes with --measure, --block and --json alone");
    if (c_A && !q->pcac) user_error("plaq effective: --c_A is given without --pcac");
    if (!q->potential && !q->pcac && (from || to))
        user_error("plaq effective: %s is given without --potential or --pcac", from ? "--from" : "--to");
    if (q->potential && q->column) user_error("plaq effective: --potential has the column loop, and --column is given");
    if (q->pcac && q->column) user_error("plaq effective: --pcac has the column real, and --column is given");
}

int command_effective(int argc, char **argv)
{
    const char *block = NULL, *height = NULL, *c_A = NULL, *from = NULL, *to = NULL;
    char message[1024];
    request q = {0};
    const command_flag flags[] = {
        {"--measure", NULL, &q.table, "the table /measure/NAME alone; default every one with a time in units of a"},
        {"--column", NULL, &q.column, "the column of this name alone; default all but imaginary"},
        {"--block", NULL, &block, "configurations in a row that make one value of the jackknife; default 1"},
        {"--output", NULL, &q.page, "an HTML page of charts, too"},
        {"--potential", NULL, &height,
         "the static potential ln W(r,T) / W(r,T+1) at this T of Wilson loops, with a fit of r_0, in place of masses"},
        {"--pcac", &q.pcac, NULL,
         "the PCAC mass of mesons with operators = pseudoscalar axial and pairs = all, in place of effective masses"},
        {"--c_A", NULL, &c_A, "its coefficient of the improved axial current A + c_A d P; default 0"},
        {"--from", NULL, &from,
         "the smallest distance of the fit of a potential, default all, or the first time of the plateau of a PCAC "
         "mass, "
         "default none, or 1 with --to"},
        {"--to", NULL, &to, "the largest distance or the last time; default all"},
        {"--vertices", &q.vertices, NULL,
         "amputated vertex functions and inverse propagators of kind = vertices, in place of effective masses"},
        {"--json", &q.json, NULL, "one JSON object a correlator"}};
    plain_arguments a = command_arguments(argc, argv, flags, (int)(sizeof flags / sizeof flags[0]), 1, 1);
    log_keep_stdout_clean(q.json);
    q.file = a.plain[0];
    q.block = command_integer("effective", "--block", block, 1, 1000000, 1);
    read_choice(&q, height, c_A, from, to);
    if (q.page && output_file_check(q.page, OUTPUT_EFFECTIVE, q.file, message, sizeof message))
        user_error("plaq effective: %s", message);
    const int bad = comm_rank() == 0 ? show(&q, message, sizeof message) : 0;
    if (comm_any_bad(bad, message, sizeof message)) user_error("plaq effective: %s", message);
    command_arguments_free(&a);
    return 0;
}
