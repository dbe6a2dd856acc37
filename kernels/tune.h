/* The tuner: of several ways to start a kernel, which is the fastest here. Results never depend on it, only times.
 *
 *   TUNE_ESTIMATE  nothing is timed: each kernel's own rule
 *   TUNE_MEASURE   a case that is not known is timed when it first comes up, and known from then on
 *   TUNE_FILE      what was read is used, nothing is timed
 *
 * What is known can be had as text and read back: a line a case, for one machine. Rank 0 times and tells the others, so
 * all ranks do the same. */
#ifndef PLAQ_TUNE_H
#define PLAQ_TUNE_H

#include "kernels/kernels.h"

typedef enum { TUNE_ESTIMATE, TUNE_MEASURE, TUNE_FILE } tune_mode;

/* A case: a kernel on so many sites, in a variant that the backend numbers. */
typedef struct {
    int kernel, prec, size[4], variant, rhs;
} tune_key;

#define TUNE_BY_RULE (-1)

#ifdef __cplusplus
extern "C" {
#endif

/* `machine` names the kind of processor; it is kept. */
void tune_start(tune_mode mode, const char *machine);

/* The fastest of `candidates` ways, or TUNE_BY_RULE. seconds(way, of) times one; INFINITY where it is not possible.
 * Collective. */
int tune_choice(const tune_key *key, int candidates, double (*seconds)(int way, void *of), void *of);

/* The known cases as text, to be freed; null when none was measured since tune_start(). */
char *tune_text(void);
/* Takes in such text. Text of another machine or version is left alone: the answer is then 0, else 1; -1 with the
 * number of the line when it makes no sense. */
int tune_read(const char *text, int *line);

#ifdef __cplusplus
}
#endif
#endif
