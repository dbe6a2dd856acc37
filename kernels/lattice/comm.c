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
#include "kernels/base/log.h"
#include "kernels/base/machine.h"
#include "kernels/base/pool.h"
#include "kernels/base/watchdog.h"

static int rank, size = 1;
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
        watchdog_enter(what);                                                                                          \
        MPI_CHECK(call);                                                                                               \
        watchdog_leave();                                                                                              \
    } while (0)

static void end_all(int status)
{
    if (size > 1) MPI_Abort(MPI_COMM_WORLD, status);
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
    for (int i = 0; i < *n; i++) exact_merge((exact_sum *)inout + i, (const exact_sum *)in + i);
}

static void find_node(void)
{
    MPI_Comm mine;
    MPI_CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &mine));
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
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    error_set_hooks(rank, end_all, end_together);
    log_set_rank(rank);
    MPI_CHECK(MPI_Op_create(merge_exact, 1, &exact_op));
    MPI_CHECK(MPI_Type_contiguous(sizeof(exact_sum), MPI_BYTE, &exact_type));
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
    return rank;
}

int comm_size(void)
{
    return size;
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

void comm_barrier(void)
{
    MPI_WAIT("all ranks at a barrier", MPI_Barrier(MPI_COMM_WORLD));
}

void comm_bcast(void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const int n = bytes - done > INT_MAX ? INT_MAX : (int)(bytes - done);
        MPI_WAIT("a broadcast", MPI_Bcast((char *)data + done, n, MPI_BYTE, 0, MPI_COMM_WORLD));
        done += (size_t)n;
    }
}

void comm_gather_all(const void *mine, void *all, size_t bytes)
{
    REQUIRE(bytes <= INT_MAX, "%zu bytes of each rank", bytes);
    MPI_WAIT("data of all ranks", MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, MPI_COMM_WORLD));
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

void comm_sum_exact(exact_sum *s, int n)
{
    if (size == 1) return;
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, s, n, exact_type, exact_op, MPI_COMM_WORLD));
    if (delay > 0) comm_wait_since(comm_wtime(), delay);
}

void comm_sum_u64(uint64_t *x, int n)
{
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
}

void comm_xor_u32(uint32_t *x, int n)
{
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_UINT32_T, MPI_BXOR, MPI_COMM_WORLD));
}

void comm_max(double *x, int n)
{
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
}

int comm_all(int ok)
{
    int all = ok != 0;
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return all;
}

int comm_any_bad(int bad, char *text, size_t bytes)
{
    int first = bad ? rank : size;
    MPI_WAIT("a reduction over all ranks", MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (first == size) return 0;
    MPI_WAIT("a broadcast", MPI_Bcast(text, (int)bytes, MPI_CHAR, first, MPI_COMM_WORLD));
    return 1;
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
    MPI_CHECK(MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, r));
}

void comm_start_send(const void *data, size_t bytes, int to, int tag)
{
    MPI_Request *r = next_request(bytes);
    MPI_CHECK(MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, r));
}

void comm_wait(void)
{
    MPI_WAIT("messages of other ranks", MPI_Waitall(nrequest, requests, MPI_STATUSES_IGNORE));
    nrequest = 0;
}
