/* Kernels on the CPU: the table of runners, which kernels/cpu/instance.h makes family by family. */
#ifndef PLAQ_CPU_H
#define PLAQ_CPU_H

#include "kernels/lattice/exact.h"
#include "kernels/run/profile.h"

typedef void (*cpu_runner)(const void *args, const int *list, long n, exact_sum *sums);

/* The runner for a layout of so many lanes, or null when the kernel does not come in this precision. */
cpu_runner cpu_find(kernel_id id, precision prec, int lanes);

#endif
