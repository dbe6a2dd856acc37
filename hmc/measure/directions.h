/* Directions x.y.z in space, x >= y >= z >= 0, that stand for all their images by permutations and signs, and for their multiples.
 * Local. */
#ifndef PLAQ_DIRECTIONS_H
#define PLAQ_DIRECTIONS_H

#include <stddef.h>

enum { DIRECTIONS_MOST = 8, DIRECTION_STEPS = 5, DIRECTION_IMAGES = 48 };

/* The three numbers of a direction, which has at most DIRECTION_STEPS steps: 0, or -1. */
int direction_read(const char *word, int v[3]);
/* 0, or -1 with a message that names [measure.NAME]: a word of the key `directions` is none, stands there twice, or there are
 * too many. */
int directions_fault(const char *directions, const char *name, char *message, size_t size);
double direction_length(const int v[3]);
/* Multiples n of a direction whose length is at most r_max; rounding does not decide. */
int direction_multiples(const int v[3], int r_max);
/* Images by permutations and signs, one of each pair of opposite ones; how many. */
int direction_images(const int v[3], int images[DIRECTION_IMAGES][3]);
/* Unit steps of an image in rising order of their codes, 2 d forwards and 2 d + 1 backwards; how many. */
int direction_steps(const int v[3], int steps[DIRECTION_STEPS]);
/* The next order of the steps; 0 after the last, which leaves them in the first order. */
int direction_next_order(int *steps, int n);
/* Orders of the steps of a direction: shortest lattice paths. */
double direction_paths(const int v[3]);

#endif
