/* Rows of trajectories that a history ought to have and has not. Local. */
#ifndef PLAQ_MISSING_H
#define PLAQ_MISSING_H

#include <stddef.h>
#include <stdint.h>

/* Names the trajectories from 1 to `done` without a row, "3, 7-12", with " ..." where the text is full; returns how many.
 * number(of, i): the trajectory of row i, which rises. `size` is 128 at least. */
int64_t missing_rows(int64_t (*number)(const void *of, int64_t i), const void *of, int64_t rows, int64_t done,
                     char *text, size_t size);

#endif
