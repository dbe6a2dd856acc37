/* The calibration of a machine: rates of what a trajectory is made of, from which plaq run --dry-run plans. plaq bench
 * --calibrate writes it to a file in the form of an input file:
 *
 *   [place]                where it was measured: program, host, device, date, nodes, ranks, threads, local (sites of a
 *                          rank)
 *   [network]              latency of an exchange between neighbouring ranks, one message each way, us; bandwidth of both
 *                          together, GB/s; none where a single rank measured
 *   [rate.OPERATION]       of plaq bench: floating-point operations a second of one rank, 1e9 of them, by precision
 *
 * Operations are those that kinds of quarks name (hmc/quarks/quark.h), and the gauge force. */
#ifndef PLAQ_CALIBRATION_H
#define PLAQ_CALIBRATION_H

#include "hmc/bench/ops.h"
#include "kernels/base/param.h"

#define CALIBRATION_MOST 32
#define CALIBRATION_GAUGE_FORCE "gauge_force"

typedef struct {
    char program[PARAM_STRING_SIZE], host[PARAM_STRING_SIZE], device[PARAM_STRING_SIZE], date[PARAM_STRING_SIZE];
    int nodes, ranks, threads, local[4];
    double one_lane; /* how many times slower the gauge force is without SIMD; 0: not measured */
} calibration_place;

typedef struct {
    double latency, bandwidth; /* us, GB/s; 0: not measured */
} calibration_network;

typedef struct {
    double rate[PREC_COUNT]; /* 1e9 operations a second of a rank; 0: none */
} calibration_rates;

typedef struct {
    const char *path; /* file; null: measured here and now */
    calibration_place place;
    calibration_network network;
    int n;
    char names[CALIBRATION_MOST][PARAM_CHOICE_SIZE];
    calibration_rates rates[CALIBRATION_MOST];
} calibration;

typedef struct {
    const char *op;
    precision prec;
} calibration_need;

/* Lists the operations of a calibration file, in the precisions that solvers iterate in; returns how many. */
int calibration_all(calibration_need needs[CALIBRATION_MOST]);

/* Called after each of n rates, with what there is so far; the calibration ends early when it returns true. Collective. */
typedef int calibration_progress(const calibration *c, const calibration_need *done, int number, int n);

/* Measures them on a lattice, by bench_time(seconds), and the network between ranks if there are several. A rate is that
 * of kernels alone where there are, so that the network is not in it. progress may be null. Collective. */
calibration calibration_measure(const lattice *lat, place where, const calibration_need *needs, int n, double seconds,
                                calibration_progress *progress);

/* Measures place.one_lane: the gauge force on this lattice without SIMD against that with as many lanes as it allows; leaves
 * it where the lattice allows one. Collective. */
void calibration_measure_lanes(calibration *c, const lattice *lat, place where, double seconds);

/* 0, or -1 with a message. Collective. */
int calibration_write(const calibration *c, const char *path, char *message, size_t size);
/* A file that is none, or that lacks the gauge force, is a user error; other operations that it lacks are named in a
 * warning. Collective. */
calibration calibration_read(const char *path);

/* Operations a second of a rank, of this precision or the next wider one that there is; 0: none. Local. */
double calibration_rate(const calibration *c, const char *op, precision prec);
/* "4 ranks of 8 threads on HOST (CPU), 16.16.16.16 per rank, DATE". Returns text. Local. */
const char *calibration_describe(const calibration *c, char *text, size_t size);

#endif
