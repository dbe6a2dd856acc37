/* The tuner: of several ways to do a thing, which is the fastest here. Results never depend on it, only times.
 *
 *   TUNE_ESTIMATE  nothing is timed: each kernel's own rule
 *   TUNE_MEASURE   a case that is not known is timed when it first comes up, and known from then on
 *   TUNE_FILE      what was read is used, nothing is timed
 *
 * What is known can be had as text and read back: a line a case, for one machine. The ranks of a lattice time
 * together, the slowest one counts, and so all do the same. A case that a group of fewer than all ranks has timed is
 * known to that group alone: on a larger one some ranks would know it and others wait for them. */
#ifndef PLAQ_TUNE_H
#define PLAQ_TUNE_H

#include "kernels/base/param.h"
#include "kernels/lattice/comm.h"
#include "kernels/run/kernel.h"

/* The beginning of such a text. */
#define TUNE_START "# plaq tuning "

#define TUNE_MODES(X) X(TUNE_ESTIMATE, "estimate") X(TUNE_MEASURE, "measure") X(TUNE_FILE, "file")
typedef enum { TUNE_MODES(PARAM_CONSTANT) } tune_mode;

/* Subjects with several ways: a kernel of families.def with its shapes of blocks, or one of these. */
typedef enum {
    TUNE_EXCHANGE = KERNEL_COUNTED, /* a hop and its messages: kernels one after the other, or one kernel */
    TUNE_TRANSPORT,                 /* messages between GPUs */
    TUNE_SUBJECTS
} tune_subject;

/* A case: on so many sites of a rank, in a variant that whoever asks numbers. */
typedef struct {
    int subject, prec, size[4], variant, rhs;
} tune_key;

#define TUNE_BY_RULE (-1)

#ifdef __cplusplus
extern "C" {
#endif

/* `machine` names the kind of processor; it is kept. */
void tune_start(tune_mode mode, const char *machine);

/* The fastest of `candidates` ways for a lattice on `group`, or TUNE_BY_RULE. seconds(way, of) times one on this rank;
 * INFINITY where it is not possible. All ranks of the group call it for the same ways in the same order, so it may
 * communicate, and ask for other choices. Collective over the group. */
int tune_choice(const tune_key *key, const comm_group *group, int candidates, double (*seconds)(int way, void *of),
                void *of);

/* The case on a rank's sites; its variant tells the directions that are split, too. */
tune_key tune_case(int subject, int prec, const geom *g, int variant, int rhs);

/* Seconds of once(of) on the GPU and on its way between ranks: those of the fastest of a few rounds, after one that does
 * not count. For work that communicates; collective over the group. */
double tune_seconds(const comm_group *group, void (*once)(void *of), void *of);

/* Seconds that trials took since tune_start(); the kernels and messages in them are counted in no profile. */
double tune_spent(void);

/* The known cases as text, to be freed; null when none was measured since tune_start(). */
char *tune_text(void);
/* Takes in such text. Text of another machine or version is left alone: the answer is then 0, else 1; -1 with the
 * number of the line when it makes no sense. */
int tune_read(const char *text, int *line);

#ifdef __cplusplus
}
#endif
#endif
