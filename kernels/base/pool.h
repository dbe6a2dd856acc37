/* Memory for fields: blocks of 64-byte alignment that are kept for reuse when returned.
 *
 * A pool serves one place. The device's allocator is installed by the GPU backend; asking for device memory without one
 * is an internal error. A request that cannot be met ends the run with what was asked, what is in use and what would
 * help. */
#ifndef PLAQ_POOL_H
#define PLAQ_POOL_H

#include <stddef.h>

typedef struct {
    void *(*allocate)(size_t bytes); /* null on failure */
    void (*release)(void *p);
    void (*exhausted)(size_t bytes, size_t in_use); /* says so and does not return; null: the pool says it */
} pool_source;

#ifdef __cplusplus
extern "C" {
#endif

void pool_install(int place, pool_source source);
void *pool_take(int place, size_t bytes);
void pool_give(int place, void *p, size_t bytes);
size_t pool_in_use(int place);
/* The most bytes that were taken at a time. */
size_t pool_peak(int place);
/* Returns idle blocks to the system. */
void pool_trim(int place);

#ifdef __cplusplus
}
#endif
#endif
