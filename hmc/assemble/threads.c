#include "hmc/assemble/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/base/machine.h"
#include "kernels/lattice/comm.h"

int threads_now(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

void threads_check(void)
{
    char text[128] = "";
    const int n = threads_now();
    snprintf(text, sizeof text, "OMP_NUM_THREADS = %d; allowed are 1 to %d threads per rank", n, THREADS_MOST);
    if (comm_any_bad(n > THREADS_MOST, text, sizeof text)) user_error("%s", text);
}

/* Threads and cores of a rank. */
typedef struct {
    char node[64];
    int threads;
    double share; /* cores' worth of time of its control group */
    unsigned char cores[MACHINE_CORES];
} rank_cores;

/* The ranks on one node. */
typedef struct {
    int ranks, threads, cores;
} node_cores;

/* The node of rank `first`, all of whose ranks come after it. */
static node_cores add_up(const rank_cores *all, int first)
{
    node_cores n = {0};
    unsigned char cores[MACHINE_CORES] = {0};
    double share = 0;
    for (int r = first; r < comm_size(); r++) {
        if (strcmp(all[r].node, all[first].node)) continue;
        n.ranks++;
        n.threads += all[r].threads;
        share = fmax(share, all[r].share);
        for (int i = 0; i < MACHINE_CORES; i++) cores[i] |= all[r].cores[i];
    }
    for (int i = 0; i < MACHINE_CORES; i++) n.cores += cores[i];
    if (share < n.cores) n.cores = (int)fmax(1, ceil(share));
    return n;
}

static void warn_of_sharing(void)
{
    rank_cores mine = {.threads = threads_now(), .share = machine_core_share()};
    gethostname(mine.node, sizeof mine.node - 1);
    machine_cores(mine.cores);
    rank_cores *all = malloc((size_t)comm_size() * sizeof *all);
    REQUIRE_MEMORY(all, "out of memory for the cores of %d ranks", comm_size());
    comm_gather_all(&mine, all, sizeof mine);
    for (int first = 0; first < comm_size(); first++) {
        const node_cores n = add_up(all, first);
        if (n.threads <= n.cores) continue;
        log_warn(
            "%d rank%s on %s with %d thread%s in all, but %d core%s that %s may use (affinity mask, control group): "
            "threads then wait for each other; start fewer ranks, set [machine] threads = %d, or let them use more",
            n.ranks, n.ranks > 1 ? "s" : "", all[first].node, n.threads, n.threads > 1 ? "s" : "", n.cores,
            n.cores > 1 ? "s" : "", n.ranks > 1 ? "they" : "it", n.cores > n.ranks ? n.cores / n.ranks : 1);
        break; /* nodes are alike */
    }
    free(all);
}

/* Cores' worth of time that this rank may use. */
static int cores_of_rank(void)
{
    unsigned char may_use[MACHINE_CORES];
    int n = 0;
    machine_cores(may_use);
    for (int i = 0; i < MACHINE_CORES; i++) n += may_use[i];
    const double share = machine_core_share();
    return (int)fmax(1, share < n ? ceil(share) : n);
}

/* Threads that wait for each other at every kernel would stall the machine. */
static void refuse_too_many(int n)
{
    char text[256];
    const int cores = cores_of_rank();
    snprintf(
        text, sizeof text,
        "%d threads per rank, but rank %d may use %d core%s (affinity mask, control group): allowed are up to %d, and "
        "%d is best; set [machine] threads, or OMP_NUM_THREADS",
        n, comm_rank(), cores, cores > 1 ? "s" : "", THREADS_A_CORE * cores, cores);
    if (comm_any_bad(n > THREADS_A_CORE * cores, text, sizeof text)) user_error("%s", text);
}

int threads_set(int wanted)
{
    static int warned;
    refuse_too_many(wanted > 0 ? wanted : threads_now());
#ifdef _OPENMP
    if (wanted > 0) omp_set_num_threads(wanted);
#else
    (void)wanted;
#endif
    if (!warned) warn_of_sharing();
    warned = 1;
    return threads_now();
}

void threads_start(void)
{
    int there = 0;
#pragma omp parallel reduction(+ : there)
    there += 1;
    REQUIRE(there > 0, "%d threads", there);
}
