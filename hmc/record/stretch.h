/* Stretches and sessions of a history: with what its rows were made.
 *
 * A stretch is a part of a run with the same parameters, as far as they act on physics or on acceptance (integrator,
 * solvers, tolerances). Acceptance, dH and times are those of one stretch; averages of physics go on from one to the next
 * unless it has other physics. A session is one start of the program. Each is
 * a text of the history (io/history/history.h), stretches/NNNNNN and sessions/NNNNNN from 000001: lines "key = value",
 *
 *   first                    its first trajectory
 *   program, compilers       version and source digest; what they were compiled by
 *   host, nodes, ranks, threads, grid, device
 *   date                     when it began, UTC
 *   stretch, last, seconds   of a session: its stretch, its last trajectory, its time up to then
 *   alarms, stopped, advice  of a session: alarms of [watch], why it ended before its time, what to do then
 *
 * and in a stretch, behind an empty line, all parameters. A history of a version without stretches gets its first one
 * where it goes on. */
#ifndef PLAQ_STRETCH_H
#define PLAQ_STRETCH_H

#include "hmc/assemble/simulation.h"
#include "io/history/history.h"

typedef struct {
    int stretch, session;  /* numbers of both */
    int64_t first;         /* trajectory of the stretch */
    int64_t physics_first; /* trajectory since which the physics is the same */
    param_text session_head;
} stretch_state;

/* Drops stretches that begin beyond trajectory `done`, begins one where the parameters differ from those of the last, and
 * a session. 0, or -1 with a message when the history cannot be written. Collective; free the state's text. */
int stretch_open(stretch_state *state, history *h, const simulation *s, int64_t done, char *message, size_t size);

/* Keeps how far the session came. Collective. */
int stretch_note(const stretch_state *state, history *h, int64_t last, double seconds, char *message, size_t size);

/* Value of a key in such a text ("" when there is none), true if there is one; and all parameters of the text. Local. */
int stretch_value(const char *text, const char *key, char *value, size_t size);
const char *stretch_parameters(const char *text);

/* First trajectory of the newest of n stretches, given by their texts in order, that began with other physics than the one
 * before: from there on averages of physics go through changes of integrator and solvers. 1 without stretches. Local. */
int64_t stretch_physics_first(const char *const *texts, int n);

#endif
