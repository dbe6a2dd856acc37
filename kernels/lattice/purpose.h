/* Purposes of random numbers. With the seed and a number, usually the trajectory, a purpose keys every random number of
 * the program: no two of them may be equal. This is the list of all; tests/kernels/test_random.c compares them. */
#ifndef PLAQ_PURPOSE_H
#define PLAQ_PURPOSE_H

#define RANDOM_PURPOSES(X)                                                                                             \
    X(RANDOM_START, 1)     /* links of a random start */                                                               \
    X(RANDOM_MOMENTA, 2)   /* momenta of a trajectory */                                                               \
    X(RANDOM_ACCEPT, 3)    /* Metropolis step */                                                                       \
    X(RANDOM_SOURCE, 4)    /* random sources of solves */                                                              \
    X(RANDOM_TEST, 5)      /* benchmarks and checks */                                                                 \
    X(RANDOM_LANCZOS, 6)   /* start vectors of the Lanczos process, whose results are in histories */                  \
    X(RANDOM_NOISE, 7)     /* noise vectors of measurements */                                                         \
    X(RANDOM_NULL, 8)      /* null vectors before they are relaxed */                                                  \
    X(RANDOM_WALL, 9)      /* noise on a time slice, the sources of propagators */                                     \
    X(RANDOM_POSITION, 10) /* positions of sources */                                                                  \
    X(RANDOM_ACTION, 16)   /* actions, from here on: hmc/actions/action.h */

enum {
#define PURPOSE(name, value) name = value,
    RANDOM_PURPOSES(PURPOSE)
#undef PURPOSE
};

#endif
