/* Measurements from several positions of their sources, and all-mode averaging.
 *
 * A measurement with `positions` = N > 1 is made N times on a configuration, every time with the sources of its propagators, and the
 * sinks of sequential ones, moved by a vector d_k, k = 0 ... N-1, in space alone on a lattice that is bounded in time; its values are
 * the means. Components of d_k are even, which
 * keeps phases of staggered quarks, and random by [run] seed, the configuration and k; of sources with a time alone, the time is
 * moved. On lattices bounded in time, where correlators depend on the slice of the source, it moves in space alone. Measurements share positions, and the solves at
 * each; positions share solvers and their set-ups.
 *
 * With 0 < `exact_positions` = M < N, solves are by the propagators' rough solvers at all positions, and by their other solvers, too,
 * at the first M (T. Blum, T. Izubuchi and E. Shintani, arXiv:1208.4349, eqs. (3) and (5)):
 *
 *   C = (1/N) sum_(k < N) C_rough(k) + (1/M) sum_(k < M) [C(k) - C_rough(k)],
 *
 * the mean of which over configurations is that of C: exact positions are as random as the others. All functions are
 * collective. */
#ifndef PLAQ_POSITIONS_H
#define PLAQ_POSITIONS_H

#include "hmc/measure/measure.h"

/* Makes the measurement, at one position; free the result with measure_result_free(). A source outside the lattice is a user error. */
measure_result measure(const measure_context *c, const named_measure *m);

/* Calls of measure_due() for measurement number i of the input. */
typedef struct {
    void *context;
    /* A measurement begins at one of its positions; `where` is empty, or ", position 3 of 16" and the like. */
    void (*begin)(void *context, int i, const char *where);
    /* A measurement is through. The result, or a copy of it, is freed by the callee. True: no further ones are made. */
    int (*done)(void *context, int i, measure_result *r);
} measure_calls;

/* Makes the measurements of the input with due[i], each at all of its positions. A measurement that fails at one has failed. */
void measure_due(const measure_context *c, const int due[MAX_NAMED], const measure_calls *calls);

/* Vector d_k of position k of the configuration. */
void measure_shift(const measure_context *c, int k, int shift[4]);

#endif
