/* The gradient flow dV/dt = -(D S)(V) V of a gauge action S (M. Luescher, arXiv:1006.4518), by the third-order Runge-Kutta scheme of
 * its appendix (C.2). With Z_i the slope at W_i times the step:
 *
 *   W_1 = exp(Z_0 / 4) W_0,   W_2 = exp(8/9 Z_1 - 17/36 Z_0) W_1,   V' = exp(3/4 Z_2 - 8/9 Z_1 + 17/36 Z_0) W_2
 *
 * Kernels: wilson, S of plaquettes and D the derivative; symanzik, S of plaquettes and rectangles, c1 = -1/12; zeuthen, that S and D =
 * (1 + nabla*_mu nabla_mu / 12) times the derivative of the link mu, which has no errors of order a^2 at tree level (A. Ramos and
 * S. Sint, arXiv:1508.05552).
 *
 * On lattices bounded in time the flow moves the links that fluctuate. With open ends S has the weights of gauge_weights with c_G = 1,
 * and the slope of links in space on the end slices is twice the derivative (M. Luescher and S. Schaefer, arXiv:1206.2809, appendix
 * B); kernel zeuthen is for periodic lattices.
 *
 * Steps of a given length, or adapted to an error (P. Fritzsch and A. Ramos, arXiv:1301.4388, appendix D): the scheme has a second
 * order one inside,
 *
 *   V'' = exp(-Z_0 + 2 Z_1) W_0,   d = root mean square of the elements of V' - V'',
 *
 * where they take the largest link. d falls with the third power of the step h; a step with d above the error is taken back, and the
 * next one is min(h_max, 2 h, 0.95 h (error / d)^(1/3)), h_max where the scheme is stable.
 *
 * On an anisotropic lattice, a_s = xi a_t, the flow of kernel wilson is that of the continuum with times in units of a_s^2:
 * temporal plaquettes weigh xi^2 in S, and slopes of links in time are divided by it (S. Borsanyi et al., arXiv:1205.0781). */
#ifndef PLAQ_FLOW_H
#define PLAQ_FLOW_H

#include <stddef.h>

#include "kernels/base/param.h"
#include "kernels/field/field.h"

#define FLOW_KERNELS(X) X(FLOW_WILSON, "wilson") X(FLOW_SYMANZIK, "symanzik") X(FLOW_ZEUTHEN, "zeuthen")
enum { FLOW_KERNELS(PARAM_CONSTANT) };

/* The kernel: c1 of its action, whether the slope is corrected, and the largest step that is stable. */
typedef struct {
    const char *name;
    double c1;
    int corrects;
    double most_step;
} flow_kernel;

/* Kernels by number, null after the last. */
const flow_kernel *flow_kernel_number(int i);

/* The scheme is unstable beyond 2.51 / w, w the fastest mode of the flow: 16, 80/3 and 160/9 of the three kernels,
 * and 12 + 4 xi^2 of kernel wilson with an anisotropy. */
#define FLOW_STEPS "(0,0.15]"
#define FLOW_STEP_HELP                                                                                                 \
    "step of the flow's Runge-Kutta, which is unstable beyond 0.157, where 16 steps (the fastest mode of the flow) "   \
    "are more than 2.51"

#define FLOW_XI_HELP                                                                                                   \
    "anisotropy a_s / a_t of the flow, whose times are in units of a_s^2; steps may be 2.4 / (12 + 4 xi^2) at most"

/* Steps of this size, the last one perhaps shorter, from 0 to a flow time, both in units of a^2. */
long flow_steps(double time, double step);
/* Flow time after step number i of those (0: before the first). */
double flow_time_after(long i, double time, double step);
/* Largest step of a kernel with this anisotropy. */
double flow_largest_step(const flow_kernel *kernel, double xi);
/* Links after one step, in double precision and of both parities, in place; a and b are momenta fields to work in.
 * Collective. */
void flow_advance(field *links, const flow_kernel *kernel, double xi, double step, field *a, field *b);

/* Integration of a flow, from time 0 of the links on. */
typedef struct {
    field *links; /* borrowed, and changed */
    const flow_kernel *kernel;
    double xi, error;         /* error of a step; 0: fixed steps */
    double time, step;        /* flow time of the links; length of the next step */
    double distance;          /* d of the step that was tried last */
    long steps, rejected;     /* steps that were made, and taken back */
    field *a, *b;             /* momenta to work in */
    field *start, *lower, *c; /* adaptive steps: links before the step and of second order; momenta */
} flow;

/* `step`: the first one, where there is an error. */
void flow_open(flow *f, field *links, const flow_kernel *kernel, double xi, double step, double error);
/* Goes on to a flow time: in one step, or with an error in as many as it takes. 0, or -1 where the error cannot be met. Collective. */
int flow_to(flow *f, double time);
void flow_close(flow *f);

/* The reason why flow_to() did not get there, for the error that a key flow_error has. */
void flow_explain(const flow *f, double error, char *message, size_t size);

/* Range and help of the key flow_error. */
#define FLOW_ERRORS "[0,0.01]"
#define FLOW_ERROR_HELP                                                                                                \
    "adaptive steps between the times of flow_step: largest root mean square of what links of the third-order step "   \
    "and of "                                                                                                          \
    "one of second order inside it differ by; 0: steps of flow_step"

/* The kernel's action over six times the number of sites, 1 - P of plaquettes: it falls along the flow. Collective. */
double flow_action(const field *links, const flow_kernel *kernel);

#endif
