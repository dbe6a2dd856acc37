/* plaq bench: the speed of kernels against what the machine can do.
 *
 * A kernel is run in batches for some time; the best and the median batch count. Its flops and compulsory bytes (every
 * input read once, every output written once) come from the registry of kernels through the counters of
 * kernels/run/kernel.h. The limit is the larger of the times that the bytes take at the bandwidth measured over a working
 * set of the same size, and the flops at the rate of fused multiply-adds, both measured in this run with the same ranks
 * and threads. On a GPU the bandwidth is that of a copy, and there is no limit of flops.
 * Operations are in bench/ops.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/bench/calibration.h"
#include "hmc/bench/halo.h"
#include "hmc/bench/ops.h"
#include "hmc/bench/timing.h"
#include "hmc/assemble/memory.h"
#include "hmc/assemble/threads.h"
#include "hmc/assemble/tuning.h"
#include "hmc/command/commands.h"
#include "hmc/command/stop.h"
#include "io/history/output_file.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/base/param.h"
#include "kernels/base/pool.h"
#include "kernels/base/watchdog.h"
#include "kernels/cpu/limits.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/run/kernel.h"

#define WATCHDOG_SECONDS 600
#define DEVICE_COPY_BYTES ((size_t)1 << 30)

/* ---- limits ---- */

typedef struct {
    size_t bytes;
    double rate;
} known_bandwidth;

/* A sum of rates over ranks, to the integer. */
static double over_ranks(double rate)
{
    uint64_t r = (uint64_t)rate;
    comm_sum_u64(&r, 1);
    return (double)r;
}

static double device_bandwidth(void)
{
    static double rate;
    if (rate > 0) return rate;
    void *a = pool_take(PLACE_DEVICE, DEVICE_COPY_BYTES), *b = pool_take(PLACE_DEVICE, DEVICE_COPY_BYTES);
    gpu_fill(a, 0, DEVICE_COPY_BYTES);
    for (int i = 0; i < 5; i++) {
        gpu_finish();
        const double start = comm_wtime();
        for (int k = 0; k < 10; k++) gpu_copy(b, PLACE_DEVICE, a, PLACE_DEVICE, DEVICE_COPY_BYTES);
        gpu_finish();
        rate = fmax(rate, 20.0 * (double)DEVICE_COPY_BYTES / (comm_wtime() - start));
    }
    pool_give(PLACE_DEVICE, b, DEVICE_COPY_BYTES);
    pool_give(PLACE_DEVICE, a, DEVICE_COPY_BYTES);
    pool_trim(PLACE_DEVICE);
    rate = over_ranks(rate);
    return rate;
}

/* Sizes within a quarter of each other share a measurement. */
static double bandwidth(place where, double bytes, double seconds)
{
    static known_bandwidth known[64];
    static int n;
    if (where == PLACE_DEVICE) return device_bandwidth();
    comm_max(&bytes, 1);
    for (int i = 0; i < n; i++)
        if (bytes < 1.25 * (double)known[i].bytes && bytes > 0.8 * (double)known[i].bytes) return known[i].rate;
    comm_barrier();
    const double rate = over_ranks(limits_bandwidth((size_t)bytes, seconds));
    if (n < 64) known[n++] = (known_bandwidth){(size_t)bytes, rate};
    return rate;
}

static double peak(place where, precision prec, double seconds)
{
    static double rate[2];
    if (where == PLACE_DEVICE) return INFINITY;
    double *r = &rate[prec != PREC_DOUBLE];
    if (*r == 0) {
        comm_barrier();
        *r = over_ranks(prec == PREC_DOUBLE ? limits_flops_double(seconds) : limits_flops_single(seconds));
    }
    return *r;
}

/* ---- report ---- */

typedef struct {
    int json, threads;
    double seconds;
    place where;
    const char *ops;
} settings;

static void report(const settings *s, const bench *b, const bench_op *o, const bench_timing *t)
{
    const double memory = bandwidth(
        s->where, t->rank_bytes / (double)(o->passes * (b->iterations > 0 ? b->iterations : 1)), fmin(1, s->seconds));
    const double arithmetic = peak(s->where, b->prec, fmin(0.5, s->seconds));
    const double memory_time = t->bytes / memory, flop_time = t->flops / arithmetic;
    const double percent = 100 * fmax(memory_time, flop_time) / t->best;
    const double inside = 100 * fmax(memory_time, flop_time) / t->inside;
    const char *limit = memory_time >= flop_time ? "bandwidth" : "flops";
    char size[64];
    snprintf(size, sizeof size, "%d.%d.%d.%d", b->lat->size[0], b->lat->size[1], b->lat->size[2], b->lat->size[3]);
    if (comm_rank() != 0) return;
    if (!s->json) {
        printf("%-16s %-8s %-14s %5d %4d %9.2f %9.2f %9.2f %9.1f %9.1f %6.1f %6.1f %s", o->name,
               precision_names[b->prec], size, o->has_links ? b->link_reals : 18, b->rhs, t->flops / t->best * 1e-9,
               t->flops / t->median * 1e-9, t->bytes / t->best * 1e-9, memory * 1e-9, arithmetic * 1e-9, percent,
               inside, limit);
        if (b->iterations > 0)
            printf(", %ld iterations of %.4f ms", b->iterations, 1e3 * t->median / (double)b->iterations);
        printf("\n");
        fflush(stdout);
        return;
    }
    json j = json_begin(stdout);
    json_string(&j, "kernel", o->name);
    json_string(&j, "precision", precision_names[b->prec]);
    json_string(&j, "lattice", size);
    json_int_array(&j, "grid", b->lat->grid, 4);
    json_string(&j, "device", s->where == PLACE_DEVICE ? gpu_name() : "cpu");
    if (s->where == PLACE_HOST) json_string(&j, "simd", lattice_uses_simd() ? "yes" : "no");
    json_int(&j, "ranks", comm_size());
    if (s->where == PLACE_DEVICE && comm_size() > 1) json_string(&j, "transport", gpu_transport_name());
    json_int(&j, "threads", s->threads);
    json_int(&j, "links", o->has_links ? b->link_reals : 18);
    json_int(&j, "rhs", b->rhs);
    json_real(&j, "seconds", t->best);
    json_real(&j, "seconds_median", t->median);
    json_real(&j, "gflops", t->flops / t->best * 1e-9);
    json_real(&j, "gflops_median", t->flops / t->median * 1e-9);
    json_real(&j, "gbytes_per_s", t->bytes / t->best * 1e-9);
    json_real(&j, "percent_of_limit", percent);
    json_real(&j, "percent_in_kernels", inside);
    if (b->iterations > 0) json_int(&j, "iterations", b->iterations);
    json_string(&j, "limit", limit);
    json_real(&j, "limit_gbytes_per_s", memory * 1e-9);
    json_real(&j, "limit_gflops", arithmetic * 1e-9);
    json_end(&j);
}

/* `tuned`: the tuner is going to say how halos travel. */
static void print_header(const settings *s, int tuned)
{
    if (comm_rank() != 0 || s->json) return;
    printf("%d rank%s of %d thread%s on %s; GF/s and GB/s of the best batch\n", comm_size(), comm_size() > 1 ? "s" : "",
           s->threads, s->threads > 1 ? "s" : "",
           s->where == PLACE_DEVICE ? gpu_name()
           : lattice_uses_simd()    ? "the CPU"
                                    : "the CPU, without SIMD");
    if (s->where == PLACE_DEVICE && comm_size() > 1 && !tuned) printf("halos by %s\n", gpu_transport_name());
    printf("%-16s %-8s %-14s %5s %4s %9s %9s %9s %9s %9s %6s %6s %s\n", "kernel", "prec", "lattice", "links", "rhs",
           "GF/s", "median", "GB/s", "max GB/s", "max GF/s", "%", "in k.", "limit");
    fflush(stdout);
}

/* ---- arguments ---- */

/* X.Y.Z.T; each as the range says. */
static void parse_four(const char *flag, const char *range, const char *word, int x[4])
{
    char message[PARAM_MESSAGE_SIZE];
    const param four = {.name = flag, .type = PARAM_INT4, .range = range};
    if (param_set(&four, x, word, message, sizeof message)) user_error("plaq bench: %s: %s", flag, message);
}

static void parse_grid(const char *word, int grid[4])
{
    parse_four("--grid", "[0,32766]", word, grid);
    int given = 0;
    for (int d = 0; d < 4; d++) given += grid[d] > 0;
    if (given > 0 && given < 4)
        user_error("plaq bench: --grid %s: four numbers of at least 1, or 0.0.0.0 to have one chosen", word);
}

static void parse_size(const char *word, int size[4])
{
    parse_four("--lattice", "[2,32766]", word, size);
    for (int d = 0; d < 4; d++)
        if (size[d] % 2) user_error("plaq bench: --lattice %s: extents are even", word);
}

static double parse_number(const char *flag, const char *text, double low, double high)
{
    double x;
    if (param_real(text, &x) || !(x >= low && x <= high))
        user_error("plaq bench: %s %s: expected a number from %g to %g", flag, text, low, high);
    return x;
}

static int parse_integer(const char *flag, const char *text, int low, int high)
{
    int64_t n;
    if (param_integer(text, &n) || n < low || n > high)
        user_error("plaq bench: %s %s: expected an integer from %d to %d", flag, text, low, high);
    return (int)n;
}

/* first_links, first_rhs: what does not depend on the one or the other is measured with its first value alone. */
static int is_wanted(const settings *s, const bench *b, const bench_op *o, int first_links, int first_rhs)
{
    const int has_rhs = (o->needs & (BENCH_WILSON | BENCH_STAGGERED)) != 0;
    return command_listed(s->ops, o->name, o->group) && bench_op_has(o, b->prec) && (first_links || o->has_links) &&
           (first_rhs || has_rhs) && (b->rhs == 1 || !(o->limits & BENCH_ONE_RHS)) &&
           bench_op_reach(o) <= b->lat->reach;
}

/* Sites that the operations reach to. Where all are asked for, those that the boxes of ranks are too small for are left
 * out. */
static int reach_of(const char *list, const int size[4], const int grid[4])
{
    const bench_op *o;
    char message[512];
    int reach = BENCH_REACH;
    for (int i = 0; (o = bench_op_number(i)); i++)
        if (command_listed(list, o->name, o->group) && bench_op_reach(o) > reach) reach = bench_op_reach(o);
    lattice *plan = plan_lattice(size, grid, comm_size(), reach, message, sizeof message);
    if (!list && !plan) reach = BENCH_REACH;
    lattice_destroy(plan);
    return reach;
}

/* The groups of fields that its operations need. */
static int needs_of(const settings *s, const bench *b, int first_links, int first_rhs)
{
    const bench_op *o;
    int needs = 0;
    for (int i = 0; (o = bench_op_number(i)); i++)
        if (is_wanted(s, b, o, first_links, first_rhs)) needs |= o->needs;
    return needs;
}

/* The answer is how many operations there were. */
static int run_on(const settings *s, const lattice *lat, precision prec, int link_reals, int rhs, int first_links,
                  int first_rhs)
{
    bench b = {.lat = lat, .prec = prec, .where = s->where, .link_reals = link_reals, .rhs = rhs};
    const bench_op *o;
    const int needs = needs_of(s, &b, first_links, first_rhs);
    int count = 0;
    if (!needs) return 0;
    bench_open(&b, needs);
    for (int i = 0; (o = bench_op_number(i)); i++) {
        if (!is_wanted(s, &b, o, first_links, first_rhs)) continue;
        b.iterations = 0;
        const bench_timing t = bench_time(&b, o, s->seconds);
        report(s, &b, o, &t);
        count++;
    }
    bench_close(&b);
    return count;
}

typedef struct {
    const char *ops, *lattices, *precisions, *rhs, *links, *threads, *seconds, *device, *simd, *grid, *transport, *tune,
        *delay, *calibrate;
} texts;

static void check_texts(const texts *t)
{
    enum { NAMES = 256 };
    const char *names[NAMES];
    const bench_op *o;
    int n = 0;
    names[n++] = "halo";
    static const char *const reals[] = {"18", "12"}, *const devices[] = {"cpu", "gpu"},
                             *const answers[] = {"yes", "no"};
    for (int i = 0; (o = bench_op_number(i)); i++) {
        REQUIRE(n + 2 <= NAMES, "more than %d operations", i);
        names[n++] = o->name;
        names[n++] = o->group;
    }
    command_check_words("bench", "--op", t->ops, names, n);
    command_check_words("bench", "--prec", t->precisions, precision_names, PREC_COUNT);
    command_check_words("bench", "--links", t->links, reals, 2);
    if (t->simd) command_choice("bench", "--simd", t->simd, answers, 2);
    const int gpu = command_choice("bench", "--device", t->device, devices, 2);
    if (!gpu && (t->transport || t->tune))
        user_error("plaq bench: %s is for --device gpu", t->transport ? "--transport" : "--tune-file");
    if (gpu && t->simd) user_error("plaq bench: --simd is for --device cpu");
    n = 0;
    names[n++] = "auto";
    for (int i = 0; gpu_transport_number(i); i++) names[n++] = gpu_transport_number(i);
    command_check_words("bench", "--transport", t->transport, names, n);
}

static const char *transport_of(const texts *t)
{
    return t->transport ? t->transport : "auto";
}

static int is_transport_tuned(const texts *t)
{
    return t->tune && !strcmp(transport_of(t), "auto") && tuning_has_transport();
}

static settings make_settings(const texts *t, int json)
{
    settings s = {.json = json, .ops = t->ops, .seconds = parse_number("--seconds", t->seconds, 1e-3, 3600)};
    s.threads = threads_set(t->threads ? parse_integer("--threads", t->threads, 1, THREADS_MOST) : 0);
    if (!strcmp(t->device, "gpu")) {
        char message[512];
        watchdog_start(WATCHDOG_SECONDS, comm_rank());
        if (gpu_bind(1, message, sizeof message)) user_error("plaq bench: %s", message);
        if (comm_size() > 1 && gpu_transport_choose(transport_of(t), message, sizeof message))
            user_error("plaq bench: %s", message);
        tuning_open(t->tune ? TUNE_MEASURE : TUNE_ESTIMATE, t->tune, gpu_name());
        s.where = PLACE_DEVICE;
    }
    return s;
}

/* True if the list of operations names no kernel. */
static int is_halo_alone(const char *ops)
{
    char word[64];
    if (!ops) return 0;
    for (int i = 0; command_list_word(ops, i, word, sizeof word); i++)
        if (strcmp(word, "halo")) return 0;
    return 1;
}

/* Runs a precision with all storages of links and all numbers of right-hand sides. */
static int run_links(const settings *s, const lattice *lat, precision prec, const texts *t)
{
    char reals[64], rhs[64];
    int count = 0;
    for (int k = 0; command_list_word(t->links, k, reals, sizeof reals); k++)
        for (int r = 0; command_list_word(t->rhs, r, rhs, sizeof rhs); r++)
            count += run_on(s, lat, prec, atoi(reals), parse_integer("--rhs", rhs, 1, BENCH_MOST_RHS), k == 0, r == 0);
    return count;
}

static size_t table_bytes(const lattice *plan, place where)
{
    return where == PLACE_DEVICE ? plan_device_table_bytes(plan) : plan_table_bytes(plan);
}

/* Refuses a lattice that does not fit before any memory is taken. */
static void check_memory(const settings *s, const texts *t, const int size[4], const int grid[4])
{
    char rhs[64], message[512];
    lattice *plan = plan_lattice(size, grid, comm_size(), reach_of(t->ops, size, grid), message, sizeof message);
    if (!plan) user_error("%s", message);
    for (int p = 0; p < PREC_COUNT; p++)
        for (int r = 0;
             command_listed(t->precisions, precision_names[p], "") && command_list_word(t->rhs, r, rhs, sizeof rhs);
             r++) {
            const bench b = {.lat = plan,
                             .prec = (precision)p,
                             .where = s->where,
                             .link_reals = 18,
                             .rhs = parse_integer("--rhs", rhs, 1, BENCH_MOST_RHS)};
            const double bytes = (double)(table_bytes(plan, s->where) + bench_bytes(&b, needs_of(s, &b, 1, r == 0)));
            if (memory_lacks(plan, bytes, s->where, message, sizeof message)) user_error("%s", message);
        }
    lattice_destroy(plan);
}

static void check_output(const char *path)
{
    char message[1024];
    if (output_file_check(path, OUTPUT_CALIBRATION, NULL, message, sizeof message))
        user_error("plaq bench: %s", message);
}

/* Tells each rate as it comes; true when a signal asks to end. */
static int tell_rate(const calibration *c, const calibration_need *done, int number, int n)
{
    if (comm_rank() == 0) {
        printf("%2d of %d  %-16s %-8s %9.2f GF/s per rank\n", number, n, done->op, precision_names[done->prec],
               1e-9 * calibration_rate(c, done->op, done->prec));
        fflush(stdout);
    }
    return stop_signal() != 0;
}

/* The rates of this machine into a file; those that there are when a signal comes. */
static int calibrate(const settings *s, const texts *t)
{
    calibration_need needs[CALIBRATION_MOST];
    char message[1024];
    int size[4] = {16, 16, 16, 16 * comm_size()}, grid[4];
    const int n = calibration_all(needs);
    check_output(t->calibrate);
    if (t->lattices && strchr(t->lattices, ','))
        user_error("plaq bench: --lattice %s: --calibrate measures on one lattice", t->lattices);
    if (t->lattices) parse_size(t->lattices, size);
    parse_grid(t->grid, grid);
    texts of = *t;
    char ops[CALIBRATION_MOST * PARAM_CHOICE_SIZE] = "";
    for (int i = 0, used = 0; i < n; i++)
        used += snprintf(ops + used, sizeof ops - (size_t)used, "%s%s", i ? "," : "", needs[i].op);
    of.ops = ops;
    check_memory(s, &of, size, grid);
    lattice *lat = lattice_create(size, grid, reach_of(of.ops, size, grid), -1);
    if (is_transport_tuned(t)) tuning_transport(lat);
    stop_catch_signals();
    calibration c = calibration_measure(lat, s->where, needs, n, s->seconds, tell_rate);
    if (!stop_signal()) calibration_measure_lanes(&c, lat, s->where, s->seconds);
    const int signal = stop_signal();
    lattice_destroy(lat);
    check_output(t->calibrate);
    if (calibration_write(&c, t->calibrate, message, sizeof message)) user_error("%s", message);
    if (signal)
        log_warn("signal %d: the calibration ends early; rates that it lacks are those of " CALIBRATION_GAUGE_FORCE,
                 signal);
    if (comm_rank() != 0) return 0;
    printf("%s\n%-16s %9s %9s %9s\n", calibration_describe(&c, message, sizeof message), "GF/s per rank", "double",
           "single", "half");
    for (int i = 0; i < c.n; i++)
        printf("%-16s %9.2f %9.2f %9.2f\n", c.names[i], c.rates[i].rate[PREC_DOUBLE], c.rates[i].rate[PREC_SINGLE],
               c.rates[i].rate[PREC_HALF]);
    if (c.network.bandwidth > 0) printf("between ranks: %.2f us, %.2f GB/s\n", c.network.latency, c.network.bandwidth);
    if (c.place.one_lane > 0) printf("without SIMD %.2f times slower\n", c.place.one_lane);
    printf("written to %s: plaq run --dry-run --calibration %s FILE.ini plans for this machine\n", t->calibrate,
           t->calibrate);
    return 0;
}

int command_bench(int argc, char **argv)
{
    char word[64];
    int json = 0, count = 0;
    texts t = {.lattices = NULL,
               .precisions = "double,single,half",
               .rhs = "1",
               .links = "18",
               .seconds = "0.5",
               .grid = "0.0.0.0",
               .delay = "0"};
    const command_flag flags[] = {
        {"--op", NULL, &t.ops,
         "kernels or groups of them: hop,clover,blas,force,gauge,random,staggered,cg; halo: messages between ranks; "
         "default all"},
        {"--lattice", NULL, &t.lattices, "X.Y.Z.T, or several separated by commas; default 16.16.16.16"},
        {"--prec", NULL, &t.precisions, "double,single,half,quarter; default the first three"},
        {"--rhs", NULL, &t.rhs,
         "right-hand sides of spinors, 1,4,8, say; default 1; more leave out solvers that take one"},
        {"--links", NULL, &t.links, "reals of a link, 18,12; default 18"},
        {"--threads", NULL, &t.threads, "OpenMP threads of a rank; default as OMP_NUM_THREADS says"},
        {"--seconds", NULL, &t.seconds, "time for each kernel; default 0.5"},
        {"--device", NULL, &t.device,
         "cpu or gpu; default gpu where every rank finds one, as [machine] device; cpu with --simd"},
        {"--simd", NULL, &t.simd, "SIMD vectors on the CPU, as [machine] simd: yes or no; default yes"},
        {"--grid", NULL, &t.grid, "process grid X.Y.Z.T; default the one of least surface"},
        {"--transport", NULL, &t.transport, "transport of halos between GPUs, as [machine] transport; default auto"},
        {"--tune-file", NULL, &t.tune,
         "time shapes of GPU kernels, fused exchanges and transports, and keep the fastest in this file"},
        {"--delay", NULL, &t.delay,
         "microseconds that every exchange and every sum over ranks takes longer; default 0"},
        {"--calibrate", NULL, &t.calibrate,
         "measure what a trajectory is made of, on 16.16.16.16 per rank without --lattice, and write the rates to this "
         "file, for plaq run --dry-run --calibration"},
        {"--json", &json, NULL, "one JSON object a line"},
    };
    plain_arguments a = command_arguments(argc, argv, flags, sizeof flags / sizeof flags[0], 0, 0);
    command_arguments_free(&a);
    log_keep_stdout_clean(json);
    if (!t.device) t.device = t.simd ? "cpu" : command_device(NULL);
    check_texts(&t);
    if (t.calibrate &&
        (t.ops || json || strcmp(t.rhs, "1") || strcmp(t.links, "18") || strcmp(t.precisions, "double,single,half")))
        user_error(
            "plaq bench: --calibrate chooses what is measured; leave --op, --prec, --rhs, --links and --json away");
    if (!t.lattices && !t.calibrate) t.lattices = "16.16.16.16";
    for (int r = 0; command_list_word(t.rhs, r, word, sizeof word); r++)
        parse_integer("--rhs", word, 1, BENCH_MOST_RHS);
    const settings s = make_settings(&t, json);
    lattice_use_simd(!t.simd || !strcmp(t.simd, "yes"));
    comm_set_delay(1e-6 * parse_number("--delay", t.delay, 0, 1e6));
    if (t.calibrate) return calibrate(&s, &t);
    if (is_halo_alone(t.ops) && comm_size() == 1)
        user_error("plaq bench: --op halo measures messages between ranks: start more than one, with mpirun -n 2");
    if (command_listed(t.ops, "halo", "")) bench_halo(s.where, transport_of(&t), s.seconds, json);
    if (is_halo_alone(t.ops)) return 0;
    int size[4], grid[4];
    parse_grid(t.grid, grid);
    for (int l = 0; command_list_word(t.lattices, l, word, sizeof word); l++) {
        parse_size(word, size);
        check_memory(&s, &t, size, grid);
    }
    print_header(&s, is_transport_tuned(&t));
    for (int l = 0; command_list_word(t.lattices, l, word, sizeof word); l++) {
        parse_size(word, size);
        lattice *lat = lattice_create(size, grid, reach_of(t.ops, size, grid), -1);
        if (is_transport_tuned(&t)) tuning_transport(lat);
        for (int p = 0; p < PREC_COUNT; p++)
            if (command_listed(t.precisions, precision_names[p], "")) count += run_links(&s, lat, p, &t);
        lattice_destroy(lat);
    }
    if (count == 0)
        user_error(
            "plaq bench: nothing to measure: no kernel of --op comes with these --prec and --rhs, or --lattice, --rhs "
            "or --links is empty");
    return 0;
}
