/* Conversions and moves of stored numbers on a GPU, which kernels/gpu/convert.cu has. */
#ifndef PLAQ_STORED_DEVICE_H
#define PLAQ_STORED_DEVICE_H

#include "kernels/field/stored.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `units` sites between linear layouts, converting precision and storage of links; or adds them, times the
 * factor, to fields of the same kind. */
void gpu_convert(const stored_field *to, stored_way way, double factor, const stored_field *from, long units);

/* Moves n sites by a list on the device; first_y and first_x are the storage units that the list counts from; where
 * `signs` are set, negative moves turn the sign; `back`: the list is of the moves from y to x. On the side stream if
 * `aside`. */
void gpu_move(const stored_field *y, long first_y, const stored_field *x, long first_x, const stored_move *moves,
              long n, int signs, int back, int aside);

#ifdef __cplusplus
}
#endif
#endif
