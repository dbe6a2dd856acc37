#include "hmc/bench/halo.h"

#include <stdio.h>
#include <string.h>

#include "hmc/bench/times.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"

#define SMALLEST ((size_t)1 << 10)
#define LARGEST ((size_t)1 << 25)
#define ROUNDS_MAX 4096
#define ROUNDS_MIN 5
#define TAG 77

/* Messages to the next rank and to the previous one. */
typedef struct {
    place where;
    char *out[2], *in[2]; /* transports of GPUs have places of their own for what arrives */
    size_t bytes;
    int next, previous;
} ring;

static void exchange_on_host(const ring *r)
{
    comm_start_receive(r->in[0], r->bytes, r->previous, TAG);
    comm_start_receive(r->in[1], r->bytes, r->next, TAG + 1);
    comm_start_send(r->out[0], r->bytes, r->next, TAG);
    comm_start_send(r->out[1], r->bytes, r->previous, TAG + 1);
    comm_wait();
}

static void exchange_on_device(const ring *r)
{
    gpu_message m[2] = {{.to = r->next, .from = r->previous, .slot = 0, .bytes = r->bytes},
                        {.to = r->previous, .from = r->next, .slot = 1, .bytes = r->bytes}};
    void *const out[2] = {r->out[0], r->out[1]};
    gpu_exchange_copies(comm_world(), m, 2, out);
}

/* Best and median seconds of an exchange, the slowest rank's. */
static void time_exchange(const ring *r, double seconds, double *best, double *median)
{
    static double times[ROUNDS_MAX];
    const int calls = r->bytes < ((size_t)1 << 20) ? 20 : 4;
    int n = 0;
    for (double spent = 0; n < ROUNDS_MAX && (spent < seconds || n < ROUNDS_MIN); n++) {
        comm_barrier();
        const double start = comm_wtime();
        for (int i = 0; i < calls; i++) {
            if (r->where == PLACE_DEVICE) exchange_on_device(r);
            else exchange_on_host(r);
        }
        if (r->where == PLACE_DEVICE) gpu_finish();
        double took = comm_wtime() - start;
        comm_max(&took, 1);
        times[n] = took / calls;
        spent += took;
    }
    best_and_median(times, n, best, median);
}

static void report(const char *transport, size_t bytes, double best, double median, int as_json)
{
    if (comm_rank() != 0) return;
    const double rate = 2 * (double)bytes / best;
    if (!as_json) {
        printf("%-16s %-11s %10zu %10.2f %10.2f %10.2f\n", "halo", transport, bytes, 1e6 * best, 1e6 * median,
               1e-9 * rate);
        fflush(stdout);
        return;
    }
    json j = json_begin(stdout);
    json_string(&j, "kernel", "halo");
    json_string(&j, "transport", transport);
    json_int(&j, "ranks", comm_size());
    json_int(&j, "bytes", (int64_t)bytes);
    json_real(&j, "seconds", best);
    json_real(&j, "seconds_median", median);
    json_real(&j, "gbytes_per_s", 1e-9 * rate);
    json_end(&j);
}

static ring open_ring(place where)
{
    ring r = {.where = where,
              .next = (comm_rank() + 1) % comm_size(),
              .previous = (comm_rank() + comm_size() - 1) % comm_size()};
    for (int i = 0; i < 2; i++) {
        r.out[i] = pool_take(where, LARGEST);
        if (where == PLACE_HOST) r.in[i] = pool_take(where, LARGEST);
    }
    return r;
}

static void close_ring(const ring *r)
{
    for (int i = 0; i < 2; i++) {
        if (r->where == PLACE_HOST) pool_give(r->where, r->in[i], LARGEST);
        pool_give(r->where, r->out[i], LARGEST);
    }
}

void bench_network(place where, double seconds, double *latency, double *bandwidth)
{
    double best, median;
    ring r = open_ring(where);
    r.bytes = SMALLEST;
    time_exchange(&r, 0.1 * seconds, &best, &median);
    time_exchange(&r, seconds, &best, &median);
    *latency = 1e6 * median;
    r.bytes = LARGEST;
    time_exchange(&r, 0.1 * seconds, &best, &median);
    time_exchange(&r, seconds, &best, &median);
    *bandwidth = 2e-9 * (double)r.bytes / median;
    close_ring(&r);
    comm_bcast(latency, sizeof *latency);
    comm_bcast(bandwidth, sizeof *bandwidth);
}

static void all_sizes(place where, const char *transport, double seconds, int as_json)
{
    ring r = open_ring(where);
    for (r.bytes = SMALLEST; r.bytes <= LARGEST; r.bytes *= 4) {
        double best, median;
        time_exchange(&r, 0.1 * seconds, &best, &median); /* opens connections, fills caches */
        time_exchange(&r, seconds, &best, &median);
        report(transport, r.bytes, best, median, as_json);
    }
    close_ring(&r);
}

void bench_halo(place where, const char *transport, double seconds, int as_json)
{
    char message[512];
    if (comm_size() == 1) return;
    if (comm_rank() == 0 && !as_json)
        printf("%-16s %-11s %10s %10s %10s %10s   two messages per rank, one each way\n", "kernel", "transport",
               "bytes", "us", "median", "GB/s sent");
    if (where == PLACE_HOST) {
        all_sizes(where, "mpi", seconds, as_json);
        return;
    }
    for (int i = 0; gpu_transport_number(i); i++) {
        const char *name = gpu_transport_number(i);
        if (strcmp(transport, "auto") && strcmp(transport, name)) continue;
        if (!gpu_transport_choose(name, message, sizeof message)) all_sizes(where, name, seconds, as_json);
        else if (comm_rank() == 0 && !as_json) printf("%-16s %-11s %s\n", "halo", name, message);
    }
    if (gpu_transport_choose(transport, message, sizeof message)) user_error("plaq bench: %s", message);
}
