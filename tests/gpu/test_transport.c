/* Every transport that can be used here: exchanges of changing slots, sizes and neighbours, back to back.
 *
 * All ranks hold the same pool of random bytes. A message is a window of the pool whose place follows from exchange,
 * slot and sender, so the receiver knows what must arrive. Neighbours are shifts of the ranks by an amount that changes
 * from slot to slot: to and from differ but for half the number of ranks. Messages are packed by copies on the side
 * stream; what arrives is copied to a record on the main stream, at once or as late as allowed (just before the begin
 * after next), and records are compared after many exchanges, so that the host does not wait in between. Some ranks are
 * slow at times. Then sums over all ranks, which some transports leave to kernels. Without a GPU the test is skipped
 * (status 77); ranks may share GPUs. */
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/pool.h"
#include "kernels/base/watchdog.h"
#include "kernels/gpu/gpu.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"
#include "kernels/run/messages.h"
#include "tests/take_gpu.h"

#define POOL ((size_t)8 << 20)
#define RECORD ((size_t)64 << 20)
#define ENTRIES 1024
#define EXCHANGES 1200
#define EXCHANGES_IN_TURNS 60 /* where ranks share a GPU, which lets one kernel wait for a slice of time of another */
#define BATCH 60              /* exchanges between two comparisons, at most */
#define PATIENCE 120.         /* seconds */

typedef struct {
    size_t at, window, bytes;
    int exchange, slot, from;
} entry;

static char *pool, *pool_device, *record, *record_device, *scratch_device;
static entry entries[ENTRIES];
static int nentry;
static size_t used;
static int exchanges, rank, size;

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9E3779B97F4A7C15u ^ b * 0xC2B2AE3D27D4EB4Fu ^ (c + 1) * 0x165667B19E3779F9u;
    x = (x ^ x >> 31) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 29) * 0x94D049BB133111EBu;
    return x ^ x >> 32;
}

static size_t window_of(int exchange, int slot, int sender, size_t bytes)
{
    return mix((uint64_t)exchange, (uint64_t)slot, 1000 + (uint64_t)sender) % (POOL - bytes + 1);
}

/* Small and odd ones for long, larger ones now and then, so that buffers grow while earlier ones are still read. */
static size_t bytes_of(int exchange, int slot)
{
    const uint64_t x = mix((uint64_t)exchange, (uint64_t)slot, 7);
    if (exchange % 199 == 150) return 1 + x % (5u << 20);
    if (x % 16 == 0) return 1 + (x >> 8) % 3;
    return 1 + (x >> 8) % (200 + 160 * (size_t)exchange);
}

/* The messages of an exchange: some slots, in an order that differs from rank to rank. */
static int messages_of(int exchange, gpu_message *m)
{
    int n = 0;
    if (size == 1) return 0;
    const unsigned slots = 1 + (unsigned)(mix((uint64_t)exchange, 3, 5) % 255);
    for (int i = 0; i < GPU_SLOTS; i++) {
        const int slot = (i + 3 * rank) % GPU_SLOTS;
        if (!(slots >> slot & 1)) continue;
        const int shift = 1 + (int)(mix((uint64_t)exchange, (uint64_t)slot, 11) % (uint64_t)(size - 1));
        m[n++] = (gpu_message){.to = (rank + shift) % size,
                               .from = (rank + size - shift) % size,
                               .slot = slot,
                               .bytes = bytes_of(exchange, slot)};
    }
    return n;
}

static void pack(int exchange, const gpu_message *m, int n)
{
    for (int i = 0; i < n; i++)
        gpu_copy_aside(m[i].out, PLACE_DEVICE, pool_device + window_of(exchange, m[i].slot, rank, m[i].bytes),
                       PLACE_DEVICE, m[i].bytes);
}

static void keep(int exchange, const gpu_message *m, int n)
{
    for (int i = 0; i < n; i++) {
        const size_t window = window_of(exchange, m[i].slot, m[i].from, m[i].bytes);
        REQUIRE(nentry < ENTRIES && used + m[i].bytes <= RECORD, "the record is too small");
        gpu_copy(record_device + used, PLACE_DEVICE, m[i].in, PLACE_DEVICE, m[i].bytes);
        entries[nentry++] = (entry){used, window, m[i].bytes, exchange, m[i].slot, m[i].from};
        used += m[i].bytes;
    }
}

static void compare(const char *name)
{
    if (used == 0) return;
    gpu_copy(record, PLACE_HOST, record_device, PLACE_DEVICE, used);
    for (int i = 0; i < nentry; i++) {
        const entry *e = &entries[i];
        if (!check_note(!memcmp(record + e->at, pool + e->window, e->bytes)))
            printf("%s, rank %d of %d, exchange %d: %zu bytes of rank %d in slot %d differ\n", name, rank, size,
                   e->exchange, e->bytes, e->from, e->slot);
    }
    gpu_fill(record_device, 0, used);
    used = 0;
    nentry = 0;
}

static void be_slow(int exchange)
{
    if (mix((uint64_t)exchange, (uint64_t)rank, 13) % 8) return;
    for (int i = 0; i < 20; i++) gpu_copy(scratch_device, PLACE_DEVICE, pool_device, PLACE_DEVICE, POOL);
}

static void stress(const char *name)
{
    gpu_message m[2][GPU_SLOTS];
    int n[2] = {0, 0}, late = 0; /* late: the exchange before is not yet kept */
    for (int e = 1; e <= exchanges; e++) {
        gpu_message *now = m[e % 2], *before = m[(e + 1) % 2];
        be_slow(e);
        n[e % 2] = messages_of(e, now);
        gpu_exchange_begin(comm_world(), now, n[e % 2]);
        pack(e, now, n[e % 2]);
        gpu_exchange_start(now, n[e % 2]);
        if (mix((uint64_t)e, (uint64_t)rank, 17) % 8 == 0) be_slow(e + 1);
        gpu_exchange_finish(now, n[e % 2]);
        if (late) keep(e - 1, before, n[(e + 1) % 2]);
        late = e % 3 == 0 && e < exchanges;
        if (!late) keep(e, now, n[e % 2]);
        if (!late && (e % BATCH == 1 || nentry > ENTRIES - 3 * GPU_SLOTS || used > RECORD / 3)) compare(name);
    }
    compare(name);
}

/* Sums over all ranks, which kernels may make among themselves, against those of the host, to the bit: used by the
 * kernel behind before anybody has fetched them, and one on the heels of the other. */
static void sums(const char *name)
{
    const int lengths[4] = {4, 4, 4, 4 * size}, grid[4] = {1, 1, 1, size};
    lattice *lat = lattice_create(lengths, grid, 1, -1);
    field *h[4], *d[4];
    long differ = 0;
    for (int i = 0; i < 4; i++) {
        h[i] = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN, 1, PLACE_HOST);
        d[i] = field_create(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN, 1, PLACE_DEVICE);
        vector_random(h[i], 5, 6, (uint32_t)i);
        field_copy(d[i], h[i]);
    }
    CHECK_INT(gpu_sums_whole(), size == 1 || (!strcmp(gpu_transport_name(), "peer") && size <= 32));
    for (int k = 0; k < exchanges; k++) {
        vector_sum on_d, on_h, one = vector_sum_known(1), below = vector_sum_known(1e5);
        if (k == exchanges / 2) comm_set_delay(1e-6); /* with which hosts add up */
        CHECK_INT(size == 1 || k < exchanges / 2 || !gpu_sums_whole(), 1);
        be_slow(k);
        vector_axpy_norm2_start(&on_d, d[1], k % 2 ? -0.5 : 0.5, d[0], 0);
        vector_cg_update_by(d[3], d[2], (vector_ratio){0.1, &one, &one}, (vector_ratio){1, &on_d, &below}, d[1]);
        vector_axpy_norm2_start(&on_h, h[1], k % 2 ? -0.5 : 0.5, h[0], 0);
        vector_cg_update_by(h[3], h[2], (vector_ratio){0.1, &one, &one}, (vector_ratio){1, &on_h, &below}, h[1]);
        if (k % 3 == 0) be_slow(k + 1);
        differ += vector_sum_finish(&on_d) != vector_sum_finish(&on_h);
        differ += vector_norm2(d[2], 0) != vector_norm2(h[2], 0);
    }
    comm_set_delay(0);
    CHECK_INT(differ, 0);
    for (int i = 0; i < 4; i++) {
        field *back = field_like(h[i]);
        field_copy(back, d[i]);
        CHECK_NEAR(vector_axpy_norm2(back, -1, h[i], 0), 0, 0);
        CHECK(vector_norm2(h[i], 0) > 0);
        field_destroy(back);
        field_destroy(h[i]);
        field_destroy(d[i]);
    }
    if (rank == 0) printf("%s: %d sums, %s\n", name, 2 * exchanges, gpu_sums_whole() ? "of kernels" : "of hosts");
    lattice_destroy(lat);
}

/* The time of an exchange with both neighbours on a ring, for the reader of the log. */
static void report(const char *name)
{
    const int times = exchanges;
    gpu_message m[2];
    const double start = comm_wtime();
    for (int e = 0; e < times; e++) {
        for (int k = 0; k < 2; k++)
            m[k] =
                (gpu_message){(rank + (k ? 1 : size - 1)) % size, (rank + (k ? size - 1 : 1)) % size, k, 65536, 0, 0};
        gpu_exchange_begin(comm_world(), m, 2);
        gpu_exchange_start(m, 2);
        gpu_exchange_finish(m, 2);
    }
    gpu_finish();
    if (rank == 0) printf("%s: %.1f us an exchange\n", name, 1e6 * (comm_wtime() - start) / times);
}

static void test_transport(const char *name)
{
    char message[1024] = "";
    double bytes[2], seconds, start = comm_wtime();
    if (gpu_transport_choose(name, message, sizeof message)) {
        CHECK(message[0] != 0);
        CHECK(!test_has_transport(name));
        if (rank == 0) printf("%s: not tested: %s\n", name, message);
        return;
    }
    if (strcmp(name, "auto")) CHECK_STR(gpu_transport_name(), name);
    gpu_exchange_counted(&bytes[0], &seconds);
    stress(name);
    gpu_exchange_counted(&bytes[1], &seconds);
    CHECK(size == 1 || bytes[1] > bytes[0]);
    if (rank == 0) printf("%s: %d exchanges in %.2f s\n", name, exchanges, comm_wtime() - start);
    sums(name);
    if (size > 1) report(name);
}

static void test_choice(void)
{
    char message[1024] = "";
    CHECK(gpu_transport_choose("pear", message, sizeof message) != 0);
    CHECK_HAS(message, "did you mean 'peer'");
    CHECK_HAS(message, "cuda_aware");
    CHECK_STR(gpu_transport_name(), "none");
    CHECK_INT(gpu_transport_choose("host", message, sizeof message), 0);
    CHECK_STR(gpu_transport_name(), "host");
}

static void open_pool(void)
{
    pool = malloc(POOL);
    record = malloc(RECORD);
    REQUIRE(pool && record, "out of memory");
    for (size_t i = 0; i < POOL / 8; i++) ((uint64_t *)pool)[i] = mix(i, 19, 23);
    pool_device = pool_take(PLACE_DEVICE, POOL);
    scratch_device = pool_take(PLACE_DEVICE, POOL);
    record_device = pool_take(PLACE_DEVICE, RECORD);
    gpu_copy(pool_device, PLACE_DEVICE, pool, PLACE_HOST, POOL);
    gpu_fill(record_device, 0, RECORD);
}

static void close_pool(void)
{
    gpu_finish();
    pool_give(PLACE_DEVICE, pool_device, POOL);
    pool_give(PLACE_DEVICE, scratch_device, POOL);
    pool_give(PLACE_DEVICE, record_device, RECORD);
    free(pool);
    free(record);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"host", "cuda_aware", "nccl", "peer", "auto"};
    char message[1024] = "";
    comm_init(&argc, &argv);
    rank = comm_rank();
    size = comm_size();
    if (!comm_all(gpu_count() > 0)) {
        printf("skipped: there is no GPU\n");
        comm_finalize();
        return 77;
    }
    watchdog_start(PATIENCE, rank);
    REQUIRE(gpu_bind(1, message, sizeof message) == 0, "%s", message);
    if (rank == 0) printf("device: %s\n", gpu_name());
    exchanges = comm_node_size() > gpu_count() ? EXCHANGES_IN_TURNS : EXCHANGES;
    open_pool();
    test_choice();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) test_transport(names[i]);
    gpu_transport_close();
    CHECK_STR(gpu_transport_name(), "none");
    close_pool();
    const int status = comm_all(CHECK_SUMMARY() == 0) ? 0 : 1;
    comm_finalize();
    return status;
}
