#include "hmc/bench/calibration.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hmc/bench/halo.h"
#include "hmc/bench/timing.h"
#include "hmc/assemble/threads.h"
#include "hmc/quarks/quark.h"
#include "hmc/assemble/identity.h"
#include "io/files/atomic.h"
#include "io/input/ini.h"
#include "io/history/output_file.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

#define AT(member) offsetof(calibration_place, member)
static const param place_keys[] = {
    {"program", PARAM_STRING, AT(program), NULL, NULL, NULL, "version", 0},
    {"host", PARAM_STRING, AT(host), NULL, NULL, NULL, "of the first rank", 0},
    {"device", PARAM_STRING, AT(device), NULL, NULL, NULL, "CPU, or the GPU", 0},
    {"date", PARAM_STRING, AT(date), NULL, NULL, NULL, "UTC", 0},
    {"nodes", PARAM_INT, AT(nodes), NULL, "[1,inf)", NULL, "of the measurement", 0},
    {"ranks", PARAM_INT, AT(ranks), NULL, "[1,inf)", NULL, "of the measurement", 0},
    {"threads", PARAM_INT, AT(threads), NULL, "[1,inf)", NULL, "of a rank", 0},
    {"local", PARAM_INT4, AT(local), NULL, "[1,inf)", "sites", "of a rank", 0},
    {"one_lane", PARAM_REAL, AT(one_lane), "0", "[0,inf)", "", "times slower without SIMD; 0: not measured", 0},
};
#undef AT
#define AT(member) offsetof(calibration_network, member)
static const param network_keys[] = {
    {"latency", PARAM_REAL, AT(latency), "0", "[0,inf)", "us", "of an exchange, one message each way", 0},
    {"bandwidth", PARAM_REAL, AT(bandwidth), "0", "[0,inf)", "GB/s", "of both messages; 0: not measured", 0},
};
#undef AT
#define AT(prec) (offsetof(calibration_rates, rate) + (prec) * sizeof(double))
static const param rate_keys[] = {
    {"double", PARAM_REAL, AT(PREC_DOUBLE), NULL, "(0,inf)", "GF/s per rank", "rate in double precision", 0},
    {"single", PARAM_REAL, AT(PREC_SINGLE), "0", "[0,inf)", "GF/s per rank", "in single; 0: not measured", 0},
    {"half", PARAM_REAL, AT(PREC_HALF), "0", "[0,inf)", "GF/s per rank", "in half; 0: not measured", 0},
    {"quarter", PARAM_REAL, AT(PREC_QUARTER), "0", "[0,inf)", "GF/s per rank", "in quarter; 0: not measured", 0},
};
#undef AT

static const param_section place_section = {
    "place", 0, place_keys, sizeof place_keys / sizeof place_keys[0], sizeof(calibration_place), "", NULL};
static const param_section network_section = {
    "network", 0, network_keys, sizeof network_keys / sizeof network_keys[0], sizeof(calibration_network), "", NULL};
static const param_section rate_section = {
    "rate", 1, rate_keys, sizeof rate_keys / sizeof rate_keys[0], sizeof(calibration_rates), "", NULL};

static const bench_op *op_named(const char *name)
{
    const bench_op *o;
    for (int i = 0; (o = bench_op_number(i)); i++)
        if (!strcmp(o->name, name)) return o;
    REQUIRE(0, "no operation %s", name);
    return NULL;
}

static int number_of(const calibration *c, const char *op)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->names[i], op)) return i;
    return -1;
}

/* ---- what is measured ---- */

static int add_all(calibration_need *needs, int n, const char *op)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(needs[i].op, op)) return n;
    for (int prec = PREC_DOUBLE; prec <= PREC_HALF; prec++) {
        if (!bench_op_has(op_named(op), (precision)prec)) continue;
        REQUIRE(n < CALIBRATION_MOST, "more than %d rates", CALIBRATION_MOST);
        needs[n++] = (calibration_need){op, (precision)prec};
    }
    return n;
}

int calibration_all(calibration_need needs[CALIBRATION_MOST])
{
    const quark_kind *kind;
    int n = add_all(needs, 0, CALIBRATION_GAUGE_FORCE);
    for (int i = 0; (kind = quark_kind_number(i)); i++) {
        n = add_all(needs, n, kind->solve_op);
        n = add_all(needs, n, kind->force_op);
    }
    return n;
}

static void fill_place(calibration_place *p, const lattice *lat, place where)
{
    const time_t now = time(NULL);
    const int here = comm_node_size();
    struct tm utc;
    gmtime_r(&now, &utc);
    snprintf(p->program, sizeof p->program, "%s", identity_of_program());
    if (gethostname(p->host, sizeof p->host - 1) || !p->host[0]) strcpy(p->host, "unknown");
    snprintf(p->device, sizeof p->device, "%s", where == PLACE_DEVICE ? gpu_name() : "CPU");
    strftime(p->date, sizeof p->date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    p->ranks = comm_size();
    p->nodes = (comm_size() + here - 1) / here;
    p->threads = threads_now();
    memcpy(p->local, lat->local, sizeof p->local);
}

/* False when it is to end. */
static int measure_in(calibration *c, bench *b, const calibration_need *needs, int n, double seconds, int *number,
                      calibration_progress *progress)
{
    int groups = 0;
    for (int i = 0; i < n; i++)
        if (needs[i].prec == b->prec) groups |= op_named(needs[i].op)->needs;
    if (!groups) return 1;
    int goes_on = 1;
    bench_open(b, groups);
    for (int i = 0; i < n && goes_on; i++) {
        if (needs[i].prec != b->prec) continue;
        int k = number_of(c, needs[i].op);
        if (k < 0) {
            k = c->n++;
            snprintf(c->names[k], sizeof c->names[k], "%s", needs[i].op);
        }
        const bench_timing t = bench_time(b, op_named(needs[i].op), seconds);
        const double took = comm_size() > 1 ? t.inside : t.median;
        c->rates[k].rate[b->prec] = 1e-9 * t.flops / took / comm_size();
        comm_bcast(&c->rates[k].rate[b->prec], sizeof(double));
        ++*number;
        goes_on = !progress || !progress(c, &needs[i], *number, n);
    }
    bench_close(b);
    return goes_on;
}

/* Seconds of the gauge force in double. */
static double gauge_seconds(const lattice *lat, place where, double seconds)
{
    const bench_op *o = op_named(CALIBRATION_GAUGE_FORCE);
    bench b = {.lat = lat, .prec = PREC_DOUBLE, .where = where, .link_reals = 18, .rhs = 1};
    bench_open(&b, o->needs);
    double took = bench_time(&b, o, seconds).median;
    bench_close(&b);
    comm_bcast(&took, sizeof took);
    return took;
}

void calibration_measure_lanes(calibration *c, const lattice *lat, place where, double seconds)
{
    if (where == PLACE_DEVICE || !lattice_uses_simd() || field_lanes(lat, PREC_DOUBLE) == 1) return;
    const double fast = gauge_seconds(lat, PLACE_HOST, seconds);
    lattice_use_simd(0);
    lattice *plain = lattice_create(lat->size, lat->grid, lat->reach, lat->time_sign);
    const double slow = gauge_seconds(plain, PLACE_HOST, seconds);
    lattice_destroy(plain);
    lattice_use_simd(1);
    c->place.one_lane = slow / fast;
}

calibration calibration_measure(const lattice *lat, place where, const calibration_need *needs, int n, double seconds,
                                calibration_progress *progress)
{
    calibration c = {0};
    int number = 0, goes_on = 1;
    fill_place(&c.place, lat, where);
    if (comm_size() > 1) bench_network(where, seconds, &c.network.latency, &c.network.bandwidth);
    for (int prec = 0; prec < PREC_COUNT && goes_on; prec++) {
        bench b = {.lat = lat, .prec = (precision)prec, .where = where, .link_reals = 12, .rhs = 1};
        goes_on = measure_in(&c, &b, needs, n, seconds, &number, progress);
    }
    return c;
}

/* ---- the file ---- */

static void add_keys(param_text *text, const param_section *s, const void *values)
{
    char value[PARAM_TEXT_SIZE];
    for (int i = 0; i < s->count; i++) {
        param_format(&s->table[i], values, value, sizeof value);
        param_text_add(text, "%s = %s\n", s->table[i].name, value);
    }
}

int calibration_write(const calibration *c, const char *path, char *message, size_t size)
{
    param_text text = {0};
    int bad = 0;
    param_text_add(&text, OUTPUT_CALIBRATION_START
                   ", 1e9 floating-point operations a second of one rank, by "
                   "plaq bench\n; --calibrate. They are for plaq run --dry-run --calibration THIS FILE.\n\n"
                   "[place]\n");
    add_keys(&text, &place_section, &c->place);
    if (c->network.bandwidth > 0) {
        param_text_add(&text, "\n[network]\n");
        add_keys(&text, &network_section, &c->network);
    }
    for (int i = 0; i < c->n; i++) {
        param_text_add(&text, "\n[rate.%s]\n", c->names[i]);
        add_keys(&text, &rate_section, &c->rates[i]);
    }
    if (comm_rank() == 0) bad = atomic_write(path, text.data, text.length, message, size);
    param_text_free(&text);
    return comm_any_bad(bad, message, size) ? -1 : 0;
}

calibration calibration_read(const char *path)
{
    static const param_section *const known[] = {&place_section, &network_section, &rate_section};
    const char *names[CALIBRATION_MOST];
    calibration_need needs[CALIBRATION_MOST];
    calibration c = {.path = path};
    ini_input *in = ini_read(path, 0, NULL);
    if (!ini_has_section(in, "place", NULL))
        user_error("%s: there is no section [place]; give a file that plaq bench --calibrate wrote", path);
    ini_check_all_used(in, known, 3);
    ini_fill(in, &place_section, NULL, &c.place);
    ini_fill(in, &network_section, NULL, &c.network);
    c.n = ini_instances(in, "rate", names, CALIBRATION_MOST);
    for (int i = 0; i < c.n; i++) {
        snprintf(c.names[i], sizeof c.names[i], "%s", names[i]);
        ini_fill(in, &rate_section, names[i], &c.rates[i]);
    }
    ini_free(in);
    const int n = calibration_all(needs);
    for (int i = 0; i < n; i++) {
        if (number_of(&c, needs[i].op) >= 0 || (i > 0 && !strcmp(needs[i].op, needs[i - 1].op))) continue;
        if (!strcmp(needs[i].op, CALIBRATION_GAUGE_FORCE))
            user_error("%s: there is no section [rate.%s]; renew the file with plaq bench --calibrate", path,
                       needs[i].op);
        log_warn("%s: there is no section [rate.%s], so the rate of " CALIBRATION_GAUGE_FORCE
                 " is taken; a calibration that was not stopped has it",
                 path, needs[i].op);
    }
    return c;
}

/* ---- reading it ---- */

double calibration_rate(const calibration *c, const char *op, precision prec)
{
    const int i = number_of(c, op);
    for (int k = (int)prec; i >= 0 && k >= (int)PREC_DOUBLE; k--)
        if (c->rates[i].rate[k] > 0) return 1e9 * c->rates[i].rate[k];
    return 0;
}

const char *calibration_describe(const calibration *c, char *text, size_t size)
{
    const calibration_place *p = &c->place;
    snprintf(text, size, "%d rank%s of %d thread%s on %.64s (%.64s), %d.%d.%d.%d per rank, %.32s", p->ranks,
             p->ranks == 1 ? "" : "s", p->threads, p->threads == 1 ? "" : "s", p->host, p->device, p->local[0],
             p->local[1], p->local[2], p->local[3], p->date);
    return text;
}
