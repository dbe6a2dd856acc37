/* The report on synthetic histories: what is told of autocorrelation, drift, stops and changes of parameters, and that the
 * page has a chart for every series. `test_report FOLDER` leaves its last history there, for plaq report. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hmc/report/ensemble.h"
#include "io/history/history.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "tests/check.h"

#define FORCES 8
#define COLUMNS (7 + 2 * FORCES)

static char message[1024];

/* A run: AR(1) plaquettes that relax from a start and drift, a charge every `apart` trajectories. */
typedef struct {
    int rows, warmup, apart, flow;      /* `flow`: the number of charges, 0: as many as fit */
    double tau, start, drift, drift_dh; /* of exp(-t / tau); before equilibrium; over the run, in sigmas of a row */
    int second, physics; /* the trajectory of a second stretch, with other steps or other physics; 0: none */
    const char *ended;   /* lines of the session */
    int weights;         /* weights exp(tilt x), x the plaquette in units of its deviation, and charges by slice */
    double tilt;
} plan;

static double normal(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*seed >> 11) / 9007199254740992.0;
    }
    return sum;
}

static void put_text(history *h, const char *name, const char *head, const char *parameters)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", head, *parameters ? "\n" : "", parameters);
    CHECK_INT(history_text(h, name, text, message, sizeof message), 0);
}

static void put_texts(history *h, const plan *p)
{
    char parameters[3][1024], head[256];
    for (int k = 0; k < 3; k++)
        snprintf(parameters[k], sizeof parameters[k],
                 "run.trajectories = %d\nrun.warmup = %d\nrun.length = 1\nlattice.size = 8.8.8.8\ngauge.beta = %s\n"
                 "integrator.0.scheme = omelyan2\nintegrator.0.steps = %d\nintegrator.0.actions = gauge\nsave.interval "
                 "= 1\n",
                 p->rows, p->warmup, k == 2 ? "5.8" : "5.7", k == 1 ? 7 : 6);
    const char *last = parameters[p->second ? 1 + p->physics : 0];
    put_text(h, "parameters", last, "");
    put_text(h, "stretches/000001", "first = 1\nprogram = plaq\nhost = here\ndevice = CPU\n", parameters[0]);
    snprintf(head, sizeof head, "first = %d\nprogram = plaq\nhost = here\ndevice = CPU\n", p->second);
    if (p->second) put_text(h, "stretches/000002", head, last);
    snprintf(head, sizeof head, "first = 1\nnodes = 1\nranks = 1\nhost = here\nlast = %d\nseconds = 100\n%s", p->rows,
             p->ended ? p->ended : "");
    put_text(h, "sessions/000001", head, "");
}

/* Weights every second trajectory, so many of the same tilt; the rows of a charge by slice, and its sum. */
static void put_weights(history *h, const plan *p, const double *plaquettes)
{
    static const history_column weight[] = {{"trajectory", HISTORY_INT, "", "", 0},
                                            {"log_weight", HISTORY_REAL, "", "", 0}},
                                charge[] = {{"trajectory", HISTORY_INT, "", "", 0},
                                            {"charge", HISTORY_REAL, "", "", 0}};
    char name[64];
    for (int k = 0; k < p->weights; k++) {
        snprintf(name, sizeof name, "measure/weight%d/summary", k + 1);
        const int t = history_table(h, name, weight, 2, message, sizeof message);
        for (int i = 2; i <= p->rows; i += 2) {
            const history_value row[2] = {{.i = i}, {.d = 40 + p->tilt * (plaquettes[i] - 0.58) / 1e-3}};
            CHECK_INT(history_append(h, t, row, message, sizeof message), 0);
        }
    }
    const int slices = history_table(h, "measure/slices", charge, 2, message, sizeof message),
              sum = history_table(h, "measure/slices/summary", charge, 2, message, sizeof message);
    for (int i = 1; i <= p->rows; i++) {
        const history_value part = {.d = 0.5}, all = {.d = i % 3};
        for (int s = 0; s < 2; s++)
            CHECK_INT(history_append(h, slices, (const history_value[]){{.i = i}, part}, message, sizeof message), 0);
        CHECK_INT(history_append(h, sum, (const history_value[]){{.i = i}, all}, message, sizeof message), 0);
    }
}

static void put_rows(history *h, const plan *p)
{
    static char names[2][FORCES][32];
    history_column columns[COLUMNS] = {
        {"trajectory", HISTORY_INT, "", "", 0},  {"accepted", HISTORY_BOOL, "", "", 0},
        {"dH", HISTORY_REAL, "", "", 0},         {"plaquette", HISTORY_REAL, "", "", 0},
        {"link_trace", HISTORY_REAL, "", "", 0}, {"worst_residual", HISTORY_REAL, "", "", 0},
        {"seconds", HISTORY_REAL, "s", "", 1}};
    for (int i = 0; i < FORCES; i++) {
        snprintf(names[0][i], sizeof names[0][i], "force_part%d", i + 1);
        snprintf(names[1][i], sizeof names[1][i], "iterations_part%d", i + 1);
        columns[7 + 2 * i] = (history_column){names[0][i], HISTORY_REAL, "", "", 0};
        columns[8 + 2 * i] = (history_column){names[1][i], HISTORY_INT, "", "", 0};
    }
    static const history_column flow[] = {{"trajectory", HISTORY_INT, "", "", 0},
                                          {"charge", HISTORY_REAL, "", "", 0},
                                          {"link_trace", HISTORY_REAL, "", "", 0}};
    const int t = history_table(h, "trajectories", columns, COLUMNS, message, sizeof message);
    const int f = history_table(h, "measure/flow", flow, 3, message, sizeof message);
    const double a = exp(-1 / p->tau);
    double now = 0, trace = 0, *plaquettes = calloc((size_t)p->rows + 1, sizeof *plaquettes);
    uint64_t seed = 5;
    REQUIRE_MEMORY(plaquettes, "out of memory");
    for (int i = 1; i <= p->rows; i++) {
        history_value row[COLUMNS];
        const double dh = 0.3 * normal(&seed) + p->drift_dh * 0.3 * i / p->rows;
        now = a * now + sqrt(1 - a * a) * normal(&seed);
        trace = 0.99 * trace + 0.14 * normal(&seed);
        row[0].i = i;
        row[1].i = dh < 0.5;
        row[2].d = dh;
        row[3].d = 0.58 + 1e-3 * (now + p->drift * i / p->rows) + p->start * exp(-i / 10.0);
        plaquettes[i] = row[3].d;
        row[4].d = row[5].d = 1e-11 * (1 + i % 3);
        row[6].d = 2.5;
        for (int k = 0; k < FORCES; k++) {
            row[7 + 2 * k].d = pow(3, -k) * (1 + 0.05 * normal(&seed));
            row[8 + 2 * k].i = 100 * (k + 1) + (int)(5 * normal(&seed));
        }
        CHECK_INT(history_append(h, t, row, message, sizeof message), 0);
        if (i % p->apart || (p->flow && i / p->apart > p->flow)) continue;
        const history_value q[3] = {{.i = i}, {.d = round(3 * normal(&seed))}, {.d = trace}};
        CHECK_INT(history_append(h, f, q, message, sizeof message), 0);
    }
    if (p->weights) put_weights(h, p, plaquettes);
    free(plaquettes);
}

/* The report of such a run, as text; *e is freed by the caller. */
static param_text report_on(const plan *p, int64_t from, const char *keep, ensemble **e)
{
    char folder[256] = "test-report-XXXXXX", command[512];
    param_text text = {0};
    if (keep) snprintf(folder, sizeof folder, "%s", keep);
    else REQUIRE(mkdtemp(folder), "no folder %s", folder);
    history *h = history_open(folder, message, sizeof message);
    REQUIRE(h, "%s", message);
    put_rows(h, p);
    put_texts(h, p);
    CHECK_INT(history_close(h, message, sizeof message), 0);
    *e = ensemble_read(folder, from, message, sizeof message);
    REQUIRE(*e, "%s", message);
    ensemble_text(&text, *e);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (!keep) CHECK_INT(system(command), 0);
    return text;
}

static int has(const param_text *text, const char *part)
{
    return strstr(text->data, part) != NULL;
}

static void test_tau(void)
{
    ensemble *e;
    /* A charge that is independent every 100 trajectories, a plaquette of tau_int 20. */
    plan p = {.rows = 4000, .apart = 100, .tau = 20};
    param_text text = report_on(&p, 0, NULL, &e);
    const ensemble_series *s = ensemble_find(e, "plaquette"), *q = ensemble_find(e, "measure/flow charge");
    CHECK_NEAR(s->a.tau, 20, 4 * s->a.tau_error);
    CHECK(!autocorrelation_resolved(&q->a) && q->a.interval == 100);
    CHECK_HAS(text.data, "below 100");
    CHECK_HAS(text.data, "below N: tau_int is below the interval of N trajectories");
    /* Neither the charge nor the link trace, whose tau_int is the longest. */
    CHECK_HAS(text.data, "those of plaquette decorrelate");
    CHECK(!has(&text, "charge decorrelate") && !has(&text, "link_trace decorrelate") && !has(&text, "of measure/flow"));
    param_text_free(&text);
    ensemble_free(e);
    /* Few rows. */
    p = (plan){.rows = 600, .apart = 100, .tau = 0.1};
    text = report_on(&p, 0, NULL, &e);
    CHECK(!has(&text, "of measure/flow"));
    param_text_free(&text);
    ensemble_free(e);
    p = (plan){.rows = 12, .apart = 5, .tau = 3};
    text = report_on(&p, 0, NULL, &e);
    CHECK_HAS(text.data,
              "the averages have 12 trajectories: advice about steps, warm-up, length and intervals begins with 20");
    CHECK(!has(&text, "decorrelate") && !has(&text, "is worth its cost"));
    param_text_free(&text);
    ensemble_free(e);
}

static void test_drift(void)
{
    ensemble *e;
    plan p = {.rows = 400, .apart = 10, .tau = 1};
    param_text text = report_on(&p, 0, NULL, &e);
    CHECK_INT(e->ndrifts, 2);
    CHECK(e->drifts[0].sigmas < ENSEMBLE_DRIFTING && e->drifts[1].sigmas < ENSEMBLE_DRIFTING);
    CHECK_HAS(text.data, "drift, the second half against the first");
    CHECK(!has(&text, "drifts"));
    param_text_free(&text);
    ensemble_free(e);
    p.drift = 3;
    text = report_on(&p, 0, NULL, &e);
    CHECK_HAS(text.data, "plaquette drifts, from");
    CHECK(!has(&text, "dH drifts"));
    param_text_free(&text);
    ensemble_free(e);
    p.drift = 0;
    p.drift_dh = 3;
    text = report_on(&p, 0, NULL, &e);
    CHECK_HAS(text.data, "dH drifts, from");
    CHECK(!has(&text, "plaquette drifts"));
    param_text_free(&text);
    ensemble_free(e);
}

static long rows_of(const ensemble *e, const char *name)
{
    const ensemble_series *s = ensemble_find(e, name);
    return s ? s->n - s->begin : -1;
}

/* A change of steps restarts what it acts on; one of physics restarts all. */
static void test_stretches(void)
{
    ensemble *e;
    plan p = {.rows = 200, .warmup = 20, .apart = 10, .tau = 1, .second = 101};
    param_text text = report_on(&p, 0, NULL, &e);
    CHECK_INT(rows_of(e, "plaquette"), 180);
    CHECK_INT(rows_of(e, "measure/flow charge"), 18);
    CHECK_INT(rows_of(e, "accepted"), 100);
    CHECK_INT(rows_of(e, "dH"), 100);
    CHECK_INT(rows_of(e, "seconds"), 100);
    CHECK_INT(rows_of(e, "force part1"), 100);
    CHECK_HAS(text.data,
              "averages over 180 from trajectory 21 on,\nof acceptance, dH, forces, iterations and times from 101 on");
    param_text_free(&text);
    ensemble_free(e);
    p.physics = 1;
    text = report_on(&p, 50, NULL, &e);
    CHECK_INT(rows_of(e, "plaquette"), 100);
    CHECK_INT(rows_of(e, "accepted"), 100);
    CHECK_HAS(text.data, "averages begin with trajectory 101, not with 50");
    param_text_free(&text);
    ensemble_free(e);
    p.second = 0;
    text = report_on(&p, 150, NULL, &e);
    CHECK_INT(rows_of(e, "plaquette"), 51);
    CHECK_INT(rows_of(e, "accepted"), 51);
    param_text_free(&text);
    ensemble_free(e);
}

static int count_of(const param_text *page, const char *part)
{
    int n = 0;
    for (const char *at = page->data; (at = strstr(at, part)); at++) n++;
    return n;
}

/* A Gaussian x of deviation 1 has mean tilt with the weight exp(tilt x), of N exp(-tilt^2) effective configurations. */
static void test_weights(void)
{
    ensemble *e;
    plan p = {.rows = 4000, .apart = 100, .tau = 0.1, .weights = 2, .tilt = 0.4};
    param_text text = report_on(&p, 0, NULL, &e);
    CHECK_INT(e->nweights, 3);
    for (int k = 0; k < e->nweights; k++) {
        const ensemble_weights *w = &e->weights[k];
        const double tilt = k < 2 ? 0.4 : 0.8;
        CHECK_INT(w->rows, 2000);
        CHECK_NEAR(w->effective / 2000, exp(-tilt * tilt), 0.1);
        CHECK_NEAR(w->spread, tilt, 0.05);
        const ensemble_reweighted *r = &w->averages[0];
        CHECK(!strcmp(r->of->name, "plaquette"));
        CHECK_INT(r->rows, 2000);
        CHECK_NEAR(r->a.mean, 0.58 + 1e-3 * tilt, 4 * r->a.error);
        CHECK(r->a.error > 1e-3 / sqrt(2000) && r->a.error < 5e-3 / sqrt(2000));
    }
    CHECK_HAS(text.data, "<O W>/<W> with the weights of measure/weight2, as of ");
    CHECK_HAS(text.data, "the product of all weights");
    CHECK(!has(&text, "go less far"));
    CHECK_NEAR(ensemble_find(e, "measure/slices charge")->a.mean, 1, 1e-2);
    CHECK_INT(count_of(&text, "measure/slices charge "), 8); /* with its square: once, and once with each weight */
    param_text_free(&text);
    ensemble_free(e);
    p.weights = 1;
    p.tilt = 2;
    text = report_on(&p, 0, NULL, &e);
    CHECK_INT(e->nweights, 1);
    CHECK_HAS(text.data, "weights of measure/weight1 leave ");
    CHECK_HAS(text.data, "go less far");
    param_text page = {0};
    ensemble_page(&page, e);
    CHECK_HAS(page.data, "Averages with the weights of measure/weight1");
    param_text_free(&page);
    param_text_free(&text);
    ensemble_free(e);
}

static void test_page(const char *keep)
{
    ensemble *e;
    const plan p = {.rows = 500,
                    .warmup = 60,
                    .apart = 10,
                    .tau = 5,
                    .start = -0.2,
                    .second = 301,
                    .ended =
                        "alarms = rejections 1\nstopped = after trajectory 500: 10 rejections in a row (limit 10); "
                        "[watch] rejections = stop\nadvice = raise the steps of [integrator.N]\n"};
    param_text text = report_on(&p, 0, keep, &e), page = {0};
    CHECK_HAS(text.data, "the last session stopped: after trajectory 500: 10 rejections in a row (limit 10)");
    CHECK_HAS(text.data, "[watch] rejections = stop: raise the steps of [integrator.N]");
    CHECK_HAS(text.data, "[watch] raised alarms in the last session: rejections 1");
    ensemble_page(&page, e);
    CHECK_HAS(page.data, "The last session stopped: after trajectory 500");
    /* All forces and iterations, in two charts each; every chart has names on both axes. */
    for (int i = 0; i < 2; i++)
        for (int k = 1; k <= FORCES; k++) {
            char name[64];
            snprintf(name, sizeof name, "</i>part%d</span>", k);
            CHECK_INT(count_of(&page, name), 2);
        }
    CHECK_HAS(page.data, "Forces, root mean square over links (2 of 2)");
    CHECK_INT(count_of(&page, "class=\"axis\""), 2 * count_of(&page, "<figure>"));
    /* The start of the warm-up is in the chart, and equilibrium has one of its own. */
    CHECK_HAS(page.data, "Plaquette, without the warm-up");
    CHECK(count_of(&page, "class=\"band\"") >= 5);
    param_text_free(&page);
    param_text_free(&text);
    ensemble_free(e);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_tau();
    test_drift();
    test_stretches();
    test_weights();
    test_page(argc > 1 ? argv[1] : NULL);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
