#include "kernels/lattice/comm.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/local.h"
#include "kernels/base/log.h"
#include "kernels/base/machine.h"
#include "kernels/base/pool.h"
#include "kernels/base/watchdog.h"
#include "kernels/lattice/exact_wide.h"

struct comm_group {
    MPI_Comm comm; /* MPI_COMM_NULL outside, and of ranks that are not there */
    int rank, size, serial;
    int *members; /* numbers among all ranks, ascending; null where they are those of the group */
};

static comm_group world = {.size = 1}, self = {.size = 1, .serial = 1};
static int serials = 2;
static int node_rank, node_size = 1;
static MPI_Op exact_op;
static MPI_Datatype exact_type;
static MPI_Request requests[COMM_MAX_REQUESTS];
static int nrequest;

__attribute__((noreturn)) static void mpi_fault(int status, const char *call, int line, const char *function)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(status, text, &length);
    error_fault(
        EXIT_HUNG, __FILE__, line, function,
        "messages between ranks failed (%s); last kernel started: %s.\n  Another rank or the network broke: the "
        "last checkpoint stands, continue with plaq run, on other nodes if it happens again.\n  In %s",
        text, watchdog_last_kernel(), call);
}

#define MPI_CHECK(call)                                                                                                \
    do {                                                                                                               \
        const int status_ = (call);                                                                                    \
        if (status_ != MPI_SUCCESS) mpi_fault(status_, #call, __LINE__, __func__);                                     \
    } while (0)

/* A call that returns only when other ranks come along. */
#define MPI_WAIT(what, call)                                                                                           \
    do {                                                                                                               \
        local_check(what);                                                                                             \
        watchdog_enter(what);                                                                                          \
        MPI_CHECK(call);                                                                                               \
        watchdog_leave();                                                                                              \
    } while (0)

static void end_all(int status)
{
    if (world.size > 1) MPI_Abort(MPI_COMM_WORLD, status);
    _Exit(status);
}

static void end_together(int status)
{
    comm_finalize();
    exit(status);
}

static void merge_exact(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++) exact_wide_merge((exact_wide *)inout + i, (const exact_wide *)in + i);
}

static void find_node(void)
{
    MPI_Comm mine;
    MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL, &mine));
    MPI_CHECK(MPI_Comm_rank(mine, &node_rank));
    MPI_CHECK(MPI_Comm_size(mine, &node_size));
    MPI_CHECK(MPI_Comm_free(&mine));
}

/* Between ranks of a node, Open MPI (4: vader, 5: sm) asks the receiver before it sends a message beyond this size.
 * Halos of small lattices are a few times its default, and the question takes longer than the message. A user's setting
 * stays. */
static void send_small_halos_at_once(void)
{
    setenv("OMPI_MCA_btl_vader_eager_limit", "32768", 0);
    setenv("OMPI_MCA_btl_sm_eager_limit", "32768", 0);
}

double comm_memory(void)
{
    const double all = machine_memory(), own = machine_process_memory();
    const double part = all > 0 ? fmin(all / node_size, own) : own;
    return isinf(part) ? 0 : part;
}

void comm_init(int *argc, char ***argv)
{
    int provided;
    send_small_halos_at_once();
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    world.comm = MPI_COMM_WORLD;
    self.comm = MPI_COMM_SELF;
    self.members = &world.rank;
    error_set_hooks(world.rank, end_all, end_together);
    log_set_rank(world.rank);
    MPI_CHECK(MPI_Op_create(merge_exact, 1, &exact_op));
    MPI_CHECK(MPI_Type_contiguous(sizeof(exact_wide), MPI_BYTE, &exact_type));
    MPI_CHECK(MPI_Type_commit(&exact_type));
    find_node();
    pool_set_limit(POOL_HOST, (size_t)comm_memory());
}

void comm_finalize(void)
{
    MPI_Type_free(&exact_type);
    MPI_Op_free(&exact_op);
    MPI_Finalize();
}

int comm_rank(void)
{
    return world.rank;
}

int comm_size(void)
{
    return world.size;
}

double comm_wtime(void)
{
    return MPI_Wtime();
}

int comm_node_rank(void)
{
    return node_rank;
}

int comm_node_size(void)
{
    return node_size;
}

/* Open MPI is asked; MPICH and its descendants are told by their environment. */
int comm_cuda_aware(void)
{
#if defined(OMPI_HAVE_MPI_EXT_CUDA)
    return MPIX_Query_cuda_support() != 0;
#else
    const char *told = getenv("MPICH_GPU_SUPPORT_ENABLED");
    return told && !strcmp(told, "1");
#endif
}

static double delay;

void comm_set_delay(double seconds)
{
    delay = seconds;
}

double comm_delay(void)
{
    return delay;
}

void comm_wait_since(double start, double seconds)
{
    while (comm_wtime() < start + seconds) {
    }
}

/* ---- groups ---- */

const comm_group *comm_world(void)
{
    return &world;
}

const comm_group *comm_self(void)
{
    return &self;
}

int comm_group_size(const comm_group *g)
{
    return g->size;
}

int comm_group_rank(const comm_group *g)
{
    return g->rank;
}

int comm_group_serial(const comm_group *g)
{
    return g->serial;
}

int comm_group_to_world(const comm_group *g, int r)
{
    return g->members ? g->members[r] : r;
}

int comm_group_from_world(const comm_group *g, int of)
{
    if (!g->members) return of;
    for (int r = 0; r < g->size; r++)
        if (g->members[r] == of) return r;
    return -1;
}

comm_group *comm_group_imagine(int size)
{
    comm_group *g = malloc(sizeof *g);
    REQUIRE_MEMORY(g, "out of memory for a group of ranks");
    *g = (comm_group){.comm = MPI_COMM_NULL, .size = size, .serial = serials++};
    return g;
}

/* True if this rank can communicate in the group: it is a member, and the group is not imagined. */
static int is_there(const comm_group *g)
{
    return g->comm != MPI_COMM_NULL;
}

comm_group *comm_group_create(const comm_group *parent, int member)
{
    const int mine = member != 0;
    REQUIRE(parent->rank >= 0, "a group of ranks out of one that rank %d is outside of", world.rank);
    comm_group *g = malloc(sizeof *g);
    int *all = malloc((size_t)parent->size * sizeof *all), *members = malloc((size_t)parent->size * sizeof *members);
    REQUIRE_MEMORY(g && all && members, "out of memory for a group of ranks out of %d", parent->size);
    *g = (comm_group){.rank = -1, .serial = serials++, .members = members};
    comm_group_gather_all(parent, &mine, all, sizeof mine);
    for (int r = 0; r < parent->size; r++) {
        if (!all[r]) continue;
        if (r == parent->rank) g->rank = g->size;
        members[g->size++] = comm_group_to_world(parent, r);
    }
    free(all);
    REQUIRE(g->size > 0, "a group of no ranks");
    MPI_WAIT("a group of ranks", MPI_Comm_split(parent->comm, mine ? 0 : MPI_UNDEFINED, parent->rank, &g->comm));
    if (mine) MPI_CHECK(MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN));
    return g;
}

void comm_group_destroy(comm_group *g)
{
    if (!g) return;
    if (is_there(g)) MPI_CHECK(MPI_Comm_free(&g->comm));
    free(g->members);
    free(g);
}

void comm_group_barrier(const comm_group *g)
{
    if (is_there(g)) MPI_WAIT("all ranks at a barrier", MPI_Barrier(g->comm));
}

void comm_group_bcast(const comm_group *g, void *data, size_t bytes)
{
    for (size_t done = 0; is_there(g) && done < bytes;) {
        const int n = bytes - done > INT_MAX ? INT_MAX : (int)(bytes - done);
        MPI_WAIT("a broadcast", MPI_Bcast((char *)data + done, n, MPI_BYTE, 0, g->comm));
        done += (size_t)n;
    }
}

void comm_group_gather_all(const comm_group *g, const void *mine, void *all, size_t bytes)
{
    REQUIRE(bytes <= INT_MAX, "%zu bytes of each rank", bytes);
    if (!is_there(g)) return;
    MPI_WAIT("data of all ranks", MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, g->comm));
}

/* Sums of a message: most calls have few, those of large blocks thousands, whose time is that of a message each. */
#define SUMS_FEW 64
#define SUMS_AT_ONCE 16384

void comm_group_sum_exact(const comm_group *g, exact_sum *s, int n)
{
    exact_wide few[SUMS_FEW], *wide = few;
    if (g->size == 1 || !is_there(g)) return;
    const int most = n < SUMS_AT_ONCE ? n : SUMS_AT_ONCE;
    if (n > SUMS_FEW) wide = malloc((size_t)most * sizeof *wide);
    REQUIRE_MEMORY(wide, "out of memory for %d sums", most);
    for (int done = 0; done < n; done += most) {
        const int now = n - done < most ? n - done : most;
        for (int i = 0; i < now; i++) wide[i] = exact_widen(&s[done + i]);
        MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, wide, now, exact_type, exact_op, g->comm));
        for (int i = 0; i < now; i++) s[done + i] = exact_narrow(&wide[i]);
    }
    if (wide != few) free(wide);
    if (delay > 0) comm_wait_since(comm_wtime(), delay);
}

void comm_group_max(const comm_group *g, double *x, int n)
{
    if (!is_there(g)) return;
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_MAX, g->comm));
}

int comm_group_all(const comm_group *g, int ok)
{
    int all = ok != 0;
    if (!is_there(g)) return all;
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, g->comm));
    return all;
}

/* ---- all ranks ---- */

void comm_barrier(void)
{
    comm_group_barrier(&world);
}

void comm_bcast(void *data, size_t bytes)
{
    comm_group_bcast(&world, data, bytes);
}

void comm_gather_all(const void *mine, void *all, size_t bytes)
{
    comm_group_gather_all(&world, mine, all, bytes);
}

void comm_sum_exact(exact_sum *s, int n)
{
    comm_group_sum_exact(&world, s, n);
}

void comm_max(double *x, int n)
{
    comm_group_max(&world, x, n);
}

int comm_all(int ok)
{
    return comm_group_all(&world, ok);
}

void comm_sum_u64(uint64_t *x, int n)
{
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
}

void comm_xor_u32(uint32_t *x, int n)
{
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_UINT32_T, MPI_BXOR, MPI_COMM_WORLD));
}

int comm_any_bad(int bad, char *text, size_t bytes)
{
    int first = bad ? world.rank : world.size;
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (first == world.size) return 0;
    MPI_WAIT("a broadcast", MPI_Bcast(text, (int)bytes, MPI_CHAR, first, MPI_COMM_WORLD));
    return 1;
}

static int rank_or_nobody(int rank)
{
    return rank == COMM_NOBODY ? MPI_PROC_NULL : rank;
}

static MPI_Request *next_request(size_t bytes)
{
    REQUIRE(nrequest < COMM_MAX_REQUESTS, "more than %d messages in flight", COMM_MAX_REQUESTS);
    REQUIRE(bytes <= INT_MAX, "message of %zu bytes: split the lattice over more ranks", bytes);
    return &requests[nrequest++];
}

void comm_start_receive(void *data, size_t bytes, int from, int tag)
{
    MPI_Request *r = next_request(bytes);
    MPI_CHECK(MPI_Irecv(data, (int)bytes, MPI_BYTE, rank_or_nobody(from), tag, MPI_COMM_WORLD, r));
}

void comm_start_send(const void *data, size_t bytes, int to, int tag)
{
    MPI_Request *r = next_request(bytes);
    MPI_CHECK(MPI_Isend(data, (int)bytes, MPI_BYTE, rank_or_nobody(to), tag, MPI_COMM_WORLD, r));
}

void comm_wait(void)
{
    MPI_WAIT("messages of other ranks", MPI_Waitall(nrequest, requests, MPI_STATUSES_IGNORE));
    nrequest = 0;
}
