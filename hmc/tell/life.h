/* The line of life: what a trajectory or a measurement is doing, on the status line of the log (kernels/base/log.h):
 *
 *   trajectory 12: step 3/10, 2/3, light: force by precise, iteration 140, residual 3.2e-05, 1:23
 *
 * Steps are those of the levels, from the coarsest on. Written at most five times a second; where there is no terminal, all
 * functions do nothing. Local. */
#ifndef PLAQ_LIFE_H
#define PLAQ_LIFE_H

#define LIFE_LEVELS 16 /* levels that the line has room for */

/* Begins the line, and watches solves; life_close() ends it. */
void life_open(void);
void life_close(void);

/* Begins "trajectory 12" or "measure.pion"; NULL: nothing, and the line goes. */
void life_begin(const char *what);
/* Step number `step`, from 1, of `steps` of a level. Those of finer levels are over. */
void life_step(int level, int step, int steps);
/* A solve begins, "light: force", by the solver of this name. */
void life_solve(const char *what, const char *solver);

#endif
