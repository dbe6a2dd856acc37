/* Memory for fields: blocks of 64-byte alignment that are kept for reuse when returned.
 *
 * A pool serves one place. The device's allocator is installed by the GPU backend; asking for device memory without one
 * is an internal error. A request that cannot be met, or goes beyond the limit, ends the program as error_set_memory()
 * says, with what was asked and what is in use. */
#ifndef PLAQ_POOL_H
#define PLAQ_POOL_H

#include <stddef.h>

#define POOL_HOST 0 /* the place of host memory */
/* A place that only counts what would be taken of another one: its blocks are no memory, and nobody reads or writes
 * them. */
#define POOL_COUNTED(place) ((int)(place) + 2)

typedef struct {
    void *(*allocate)(size_t bytes); /* null on failure */
    void (*release)(void *p);
    void (*exhausted)(size_t bytes, size_t in_use); /* says so and does not return; null: the pool says it */
} pool_source;

#ifdef __cplusplus
extern "C" {
#endif

void pool_install(int place, pool_source source);
/* The most bytes of a place that blocks may take; 0, as it begins: any number. */
void pool_set_limit(int place, size_t bytes);
void *pool_take(int place, size_t bytes);
void pool_give(int place, void *p, size_t bytes);
size_t pool_in_use(int place);
/* The most bytes that were taken at a time; and from now on, as if nothing had been taken before. */
size_t pool_peak(int place);
void pool_forget_peak(int place);
/* The most bytes that were taken or kept for reuse at a time. A place that only counts keeps sizes as the other one keeps
 * blocks. */
size_t pool_held_peak(int place);
/* Returns idle blocks to the system. */
void pool_trim(int place);

#ifdef __cplusplus
}
#endif
#endif
