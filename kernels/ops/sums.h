/* Sums in two steps, and the work of a launch, for operations on vectors. For kernels/ops alone. */
#ifndef PLAQ_OPS_SUMS_H
#define PLAQ_OPS_SUMS_H

#include "kernels/ops/vector.h"
#include "kernels/run/kernel.h"

/* Work of a kernel on so many groups of each unit of one parity of f; the registry counts spinors. */
kernel_work vector_work(kernel_id id, const field *f, int groups);

/* An empty sum of a kernel, and one launch that adds to it: the result is fetched after the last. */
vector_sum vector_sum_open(kernel_id id, const field *like);
void vector_sum_run(vector_sum *s, const field *like, const void *args, kernel_work work, int first, int last);

#endif
