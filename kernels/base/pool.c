#include "kernels/base/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernels/base/error.h"

#define PLACES 2 /* places that have memory; as many more count */
#define ALIGNMENT 64
#define MIB(bytes) ((double)(bytes) / 1048576)

typedef struct idle_block {
    size_t bytes;
    void *p;
    struct idle_block *next;
} idle_block;

/* Large blocks on huge pages, where the system has them: a hop out of cache touches many pages at a time. */
#define HUGE_PAGE ((size_t)2 << 20)

static void *host_allocate(size_t bytes)
{
    void *p = NULL;
    const size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    if (posix_memalign(&p, alignment, bytes)) return NULL;
    /* Whole pages alone: the rest of another one would be resident for nothing. */
    if (alignment == HUGE_PAGE) madvise(p, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return p;
}

static struct {
    pool_source source;
    idle_block *idle;
    size_t in_use, peak, limit; /* limit: 0: none */
    size_t held, held_peak;     /* bytes of all blocks, idle ones too */
} pools[2 * PLACES] = {[POOL_HOST] = {.source = {host_allocate, free}}};

static size_t padded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
}

void pool_install(int place, pool_source source)
{
    pools[place].source = source;
}

void pool_set_limit(int place, size_t bytes)
{
    pools[place].limit = bytes;
}

/* Block of a place that only counts: not null, for callers that check. */
static char no_memory[ALIGNMENT];

static int only_counts(int place)
{
    return place >= POOL_COUNTED(POOL_HOST);
}

static void book(int place, size_t bytes)
{
    pools[place].in_use += bytes;
    if (pools[place].in_use > pools[place].peak) pools[place].peak = pools[place].in_use;
}

static void book_fresh(int place, size_t bytes)
{
    pools[place].held += bytes;
    if (pools[place].held > pools[place].held_peak) pools[place].held_peak = pools[place].held;
}

/* A new block. The system gives more than there is, and ends the program when it is used: so beyond the limit none is
 * asked for. */
static void *fresh_block(int place, size_t bytes)
{
    const size_t limit = pools[place].limit;
    if (limit && pools[place].held + bytes > limit) pool_trim(place);
    if (limit && pools[place].in_use > limit) return NULL;
    void *p = pools[place].source.allocate(bytes);
    if (p) return p;
    pool_trim(place);
    return pools[place].source.allocate(bytes);
}

void *pool_take(int place, size_t bytes)
{
    bytes = padded(bytes);
    book(place, bytes);
    REQUIRE(only_counts(place) || pools[place].source.allocate,
            "no memory for place %d in this build or on this machine", place);
    for (idle_block **link = &pools[place].idle; *link; link = &(*link)->next) {
        idle_block *b = *link;
        if (b->bytes != bytes) continue;
        void *p = b->p;
        *link = b->next;
        free(b);
        return p;
    }
    void *p = only_counts(place) ? no_memory : fresh_block(place, bytes);
    book_fresh(place, bytes);
    if (!p && pools[place].source.exhausted) pools[place].source.exhausted(bytes, pools[place].in_use - bytes);
    char limit[64] = "";
    if (pools[place].limit) snprintf(limit, sizeof limit, " of %.1f MiB that a rank has", MIB(pools[place].limit));
    REQUIRE_MEMORY(p, "out of %s memory: %.1f MiB asked for, %.1f MiB%s in use", place == POOL_HOST ? "host" : "device",
                   MIB(bytes), MIB(pools[place].in_use - bytes), limit);
    return p;
}

void pool_give(int place, void *p, size_t bytes)
{
    if (!p) return;
    pools[place].in_use -= padded(bytes);
    idle_block *b = malloc(sizeof *b);
    REQUIRE_MEMORY(b, "out of memory for %zu bytes", sizeof *b);
    *b = (idle_block){padded(bytes), p, pools[place].idle};
    pools[place].idle = b;
}

size_t pool_in_use(int place)
{
    return pools[place].in_use;
}

size_t pool_peak(int place)
{
    return pools[place].peak;
}

size_t pool_held_peak(int place)
{
    return pools[place].held_peak;
}

void pool_forget_peak(int place)
{
    pools[place].peak = pools[place].in_use;
    pools[place].held_peak = pools[place].held;
}

void pool_trim(int place)
{
    while (pools[place].idle) {
        idle_block *b = pools[place].idle;
        pools[place].idle = b->next;
        pools[place].held -= b->bytes;
        if (!only_counts(place)) pools[place].source.release(b->p);
        free(b);
    }
}
