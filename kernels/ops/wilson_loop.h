/* Wilson loops of any path and height, by strips (kernels/site/wilson_loop.h).
 *
 * A path is a colour matrix P(x), the parallel transporter along links from x to x + d, or a sum of those with the same d. Fields
 * are in double precision, hold both parities, and are of one lattice and place; an output is no input. Steps are codes: 2 mu
 * along direction mu, 2 mu + 1 against it. All functions are collective. */
#ifndef PLAQ_OPS_WILSON_LOOP_H
#define PLAQ_OPS_WILSON_LOOP_H

#include "kernels/field/field.h"
#include "kernels/lattice/exact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out(x) = U_s(x) path(x + s), d + s; with `add` it is added to out. */
void path_step(field *out, const field *links, int step, const field *path, int add);
/* out(x) = U_s(x) path(x + s) U_s(x)^dagger, of a path that is a sum of loops. */
void path_carry(field *out, const field *links, int step, const field *path);
/* out(x) += path(x). */
void path_add(field *out, const field *path);
/* A plane of a tensor, 0 to 5 for xy xz xt yz yt zt: weight (path - path^dagger) / 2, or with `add` that is added to it. */
void path_to_tensor(field *tensor, int plane, double weight, const field *path, int add);
/* out(x) = from(x + s); of links (`from`) their direction mu, of a colour matrix mu = 0. A negative step: no shift. */
void path_shift(field *out, int step, const field *from, int mu);
/* out(x) = U_nu(x) strip(x + nu) end(x)^dagger, and *sum += sum over the sites of this rank of Re tr out path^dagger. With strip =
 * path at the first step and end(x) = U_nu(x + d), step number t sums loops of height t. comm_group_sum_exact() adds up the
 * other ranks'. strip may be path. */
void loop_strip(field *out, exact_sum *sum, const field *links, int nu, const field *strip, const field *end,
                const field *path);
/* *sum += sum over the sites of this rank of Re (tr x conj(tr y)); x may be y. */
void trace_products(exact_sum *sum, const field *x, const field *y);

#ifdef __cplusplus
}
#endif
#endif
