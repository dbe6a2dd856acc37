/* How a field's numbers are stored, for conversions that are not a kernel's: one group of one site at a time, in
 * double. Shared by gcc and nvcc. See view.h for the order of storage. */
#ifndef PLAQ_STORED_H
#define PLAQ_STORED_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/lattice/view.h"

#ifdef __CUDACC__
#define STORED_FN static __host__ __device__ __forceinline__
#else
#define STORED_FN static inline
#endif

typedef struct {
    void *data;
    float *scale; /* or null */
    precision prec;
    int lanes, groups, reals;
    long stride, group_stride;
} stored_field;

/* Place of component c of a group at a storage unit and lane, in reals from the start of the data. */
STORED_FN size_t stored_index(const stored_field *f, long unit, int lane, int group, int c)
{
    if (f->lanes > 1)
        return ((size_t)unit * (size_t)f->stride + (size_t)(group * f->group_stride + c)) * (size_t)f->lanes +
               (size_t)lane;
    const int pack = VIEW_PACK(f->prec, f->reals);
    const size_t block = (size_t)(unit / LINEAR_BLOCK * f->stride + group * f->reals + c / pack * pack);
    return block * LINEAR_BLOCK + (size_t)(unit % LINEAR_BLOCK * pack + c % pack);
}

STORED_FN size_t stored_scale_index(const stored_field *f, long unit, int lane, int group)
{
    if (f->lanes > 1) return (size_t)((unit * f->groups + group) * f->lanes + lane);
    return (size_t)((unit / LINEAR_BLOCK * f->groups + group) * LINEAR_BLOCK + unit % LINEAR_BLOCK);
}

/* The largest integer of a fixed-point precision. */
STORED_FN double stored_range(precision p)
{
    return p == PREC_HALF ? 32767 : 127;
}

/* What fixed-point integers have added to them in memory: in the linear layout half their range, so that a GPU puts
 * them into the mantissa of a float as they are. */
STORED_FN int stored_offset(const stored_field *f)
{
    return f->lanes > 1 ? 0 : f->prec == PREC_HALF ? 1 << 15 : 1 << 7;
}

/* The integer at a place, and back. */
STORED_FN int stored_integer(const stored_field *f, size_t i)
{
    if (f->prec == PREC_HALF) return (int16_t)(((const uint16_t *)f->data)[i] - stored_offset(f));
    return (int8_t)(((const uint8_t *)f->data)[i] - stored_offset(f));
}

STORED_FN void stored_integer_set(const stored_field *f, size_t i, int x)
{
    if (f->prec == PREC_HALF) ((uint16_t *)f->data)[i] = (uint16_t)(x + stored_offset(f));
    else ((uint8_t *)f->data)[i] = (uint8_t)(x + stored_offset(f));
}

STORED_FN void stored_read(double *out, const stored_field *f, long unit, int lane, int group)
{
    double scale = 1;
    if (f->prec >= PREC_HALF)
        scale = (f->scale ? f->scale[stored_scale_index(f, unit, lane, group)] : 1) * (1 / stored_range(f->prec));
    for (int c = 0; c < f->reals; c++) {
        const size_t i = stored_index(f, unit, lane, group, c);
        if (f->prec == PREC_DOUBLE) out[c] = ((const double *)f->data)[i];
        else if (f->prec == PREC_SINGLE) out[c] = ((const float *)f->data)[i];
        else out[c] = scale * stored_integer(f, i);
    }
}

STORED_FN void stored_write(const stored_field *f, long unit, int lane, int group, const double *in)
{
    const double range = stored_range(f->prec);
    double factor = range;
    if (f->prec >= PREC_HALF && f->scale) {
        double largest = 0;
        for (int c = 0; c < f->reals; c++) largest = fmax(largest, fabs(in[c]));
        f->scale[stored_scale_index(f, unit, lane, group)] = (float)largest;
        factor = largest > 0 ? range / largest : 0;
    }
    for (int c = 0; c < f->reals; c++) {
        const size_t i = stored_index(f, unit, lane, group, c);
        if (f->prec == PREC_DOUBLE) ((double *)f->data)[i] = in[c];
        else if (f->prec == PREC_SINGLE) ((float *)f->data)[i] = (float)in[c];
        else stored_integer_set(f, i, (int)fmax(-range, fmin(range, rint(in[c] * factor))));
    }
}

/* ---- moves of sites, as they are stored ---- */

/* A site goes from one storage unit and lane to another; `negative`: with the opposite sign, where signs count. */
typedef struct {
    int32_t to, from;
    int8_t to_lane, from_lane, negative;
} stored_move;

/* One group of a site, between fields of one precision and number of reals: the same bits, but for the sign. */
STORED_FN void stored_move_group(const stored_field *y, long first_y, const stored_field *x, long first_x,
                                 const stored_move *m, int signs, int group)
{
    const int negative = signs && m->negative;
    const long to = first_y + m->to, from = first_x + m->from;
    for (int c = 0; c < x->reals; c++) {
        const size_t i = stored_index(y, to, m->to_lane, group, c), j = stored_index(x, from, m->from_lane, group, c);
        if (x->prec == PREC_DOUBLE) {
            const double r = ((const double *)x->data)[j];
            ((double *)y->data)[i] = negative ? -r : r;
        } else if (x->prec == PREC_SINGLE) {
            const float r = ((const float *)x->data)[j];
            ((float *)y->data)[i] = negative ? -r : r;
        } else {
            const int r = stored_integer(x, j);
            stored_integer_set(y, i, negative ? -r : r);
        }
    }
    if (x->scale)
        y->scale[stored_scale_index(y, to, m->to_lane, group)] =
            x->scale[stored_scale_index(x, from, m->from_lane, group)];
}

/* ---- links of 18, 12 and 8 reals ---- */

STORED_FN void stored_third_row(double u[18])
{
    for (int c = 0; c < 3; c++) {
        const double *a = u + 2 * ((c + 1) % 3), *b = u + 2 * ((c + 2) % 3);
        const double *e = u + 6 + 2 * ((c + 2) % 3), *d = u + 6 + 2 * ((c + 1) % 3);
        u[12 + 2 * c] = a[0] * e[0] - a[1] * e[1] - (b[0] * d[0] - b[1] * d[1]);
        u[13 + 2 * c] = -(a[0] * e[1] + a[1] * e[0] - (b[0] * d[1] + b[1] * d[0]));
    }
}

/* The eight reals of a special unitary matrix (B. Bunk and R. Sommer, Comput. Phys. Commun. 40 (1986) 229). */
STORED_FN void stored_eight_reals(double u[18])
{
    const double pi = 3.14159265358979323846;
    const double first = atan2(u[1], u[0]) / pi, second = atan2(u[13], u[12]) / pi;
    u[0] = first; /* U01, U02 and U10 stand where they are wanted */
    u[1] = second;
}

/* One group of x into y, which may store links with fewer or more reals. */
STORED_FN void stored_convert(const stored_field *y, long unit_y, int lane_y, const stored_field *x, long unit_x,
                              int lane_x, int group)
{
    double buf[36];
    stored_read(buf, x, unit_x, lane_x, group);
    if (y->reals == 18 && x->reals == 12) stored_third_row(buf);
    if (y->reals == 8 && x->reals == 18) stored_eight_reals(buf);
    stored_write(y, unit_y, lane_y, group, buf);
}

#endif
