/* How a field's numbers are stored, for conversions that are not a kernel's: one group of one site at a time, in
 * double. Shared by gcc and nvcc. See view.h for the order of storage. */
#ifndef PLAQ_STORED_H
#define PLAQ_STORED_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/field/view.h"

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
    int scale_groups; /* groups among which scales are stored */
    long stride, group_stride;
} stored_field;

/* Place of the first component of a group at a storage unit and lane, in reals from the start of the data. */
STORED_FN size_t stored_index(const stored_field *f, long unit, int lane, int group)
{
    if (f->lanes > 1)
        return ((size_t)unit * (size_t)f->stride + (size_t)(group * f->group_stride)) * (size_t)f->lanes + (size_t)lane;
    return (size_t)(unit / LINEAR_BLOCK * f->stride + group * f->reals) * LINEAR_BLOCK +
           (size_t)(unit % LINEAR_BLOCK * VIEW_PACK(f->prec, f->reals));
}

/* How components of a group follow each other. */
typedef struct {
    int lanes, pack;
} stored_order;

STORED_FN stored_order stored_order_of(const stored_field *f)
{
    const stored_order o = {f->lanes, VIEW_PACK(f->prec, f->reals)};
    return o;
}

/* Step from the first component of a group to component c, in reals. */
STORED_FN int stored_step(stored_order o, int c)
{
    return o.lanes > 1 ? c * o.lanes : c / o.pack * o.pack * LINEAR_BLOCK + c % o.pack;
}

STORED_FN size_t stored_scale_index(const stored_field *f, long unit, int lane, int group)
{
    if (f->lanes > 1) return (size_t)((unit * f->scale_groups + group) * f->lanes + lane);
    return (size_t)((unit / LINEAR_BLOCK * f->scale_groups + group) * LINEAR_BLOCK + unit % LINEAR_BLOCK);
}

/* ---- a group's numbers as they are stored, one behind the other ---- */

#define STORED_MOST 36 /* reals of a group */

typedef union {
    double d[STORED_MOST];
    float s[STORED_MOST];
    uint16_t h[STORED_MOST];
    uint8_t q[STORED_MOST];
#ifdef __CUDACC__
    uint4 of_16[STORED_MOST / 2];
    uint2 of_8[STORED_MOST];
    uint32_t of_4[2 * STORED_MOST];
#endif
} stored_group;

#define STORED_HERE(member) g->member[k]
#define STORED_THERE(member) *there

#ifdef __CUDA_ARCH__

/* A thread's accesses are of whole packs, which compilers do not find out. */
#define STORED_PACKS(type, to, from)                                                                                   \
    for (int k = 0; k < f->reals / pack; k++) {                                                                        \
        type *const there = (type *)first + k * LINEAR_BLOCK;                                                          \
        to = from;                                                                                                     \
    }
#define STORED_ACCESS(to, from)                                                                                        \
    const int pack = VIEW_PACK(f->prec, f->reals), bytes = 8 >> (int)f->prec; /* bytes of one real */                  \
    void *const first = (char *)f->data + stored_index(f, unit, lane, group) * (size_t)bytes;                          \
    if (pack * bytes == 16) STORED_PACKS(uint4, to(of_16), from(of_16))                                                \
    else if (pack * bytes == 8) STORED_PACKS(uint2, to(of_8), from(of_8))                                              \
    else if (pack * bytes == 4) STORED_PACKS(uint32_t, to(of_4), from(of_4))                                           \
    else if (pack * bytes == 2) STORED_PACKS(uint16_t, to(h), from(h))                                                 \
    else STORED_PACKS(uint8_t, to(q), from(q))

#else

#define STORED_LOOP(type, to, from)                                                                                    \
    {                                                                                                                  \
        type *const first = (type *)f->data + stored_index(f, unit, lane, group);                                      \
        for (int k = 0; k < n; k++) {                                                                                  \
            type *const there = first + stored_step(o, k);                                                             \
            to = from;                                                                                                 \
        }                                                                                                              \
    }
/* The precision is asked for outside of the loops: there it would be most of a conversion. */
#define STORED_ACCESS(to, from)                                                                                        \
    const stored_order o = stored_order_of(f);                                                                         \
    const int n = f->reals;                                                                                            \
    if (f->prec == PREC_DOUBLE) STORED_LOOP(double, to(d), from(d))                                                    \
    else if (f->prec == PREC_SINGLE) STORED_LOOP(float, to(s), from(s))                                                \
    else if (f->prec == PREC_HALF) STORED_LOOP(uint16_t, to(h), from(h))                                               \
    else STORED_LOOP(uint8_t, to(q), from(q))

#endif

STORED_FN void stored_fetch(stored_group *g, const stored_field *f, long unit, int lane, int group)
{
    STORED_ACCESS(STORED_HERE, STORED_THERE);
}

STORED_FN void stored_put(const stored_field *f, long unit, int lane, int group, const stored_group *g)
{
    STORED_ACCESS(STORED_THERE, STORED_HERE);
}

#undef STORED_HERE
#undef STORED_THERE
#undef STORED_PACKS
#undef STORED_LOOP
#undef STORED_ACCESS

/* ---- in double ---- */

/* The largest integer of a fixed-point precision. */
STORED_FN double stored_range(precision p)
{
    return p == PREC_HALF ? 32767 : 127;
}

/* Offset of fixed-point integers in memory: in the linear layout half their range, so that a GPU puts them into the mantissa of
 * a float as they are. */
STORED_FN int stored_offset(const stored_field *f)
{
    return f->lanes > 1 ? 0 : f->prec == PREC_HALF ? 1 << 15 : 1 << 7;
}

STORED_FN void stored_read(double *out, const stored_field *f, long unit, int lane, int group)
{
    const int n = f->reals, offset = stored_offset(f);
    stored_group g;
    stored_fetch(&g, f, unit, lane, group);
    if (f->prec == PREC_DOUBLE) {
        for (int c = 0; c < n; c++) out[c] = g.d[c];
    } else if (f->prec == PREC_SINGLE) {
        for (int c = 0; c < n; c++) out[c] = g.s[c];
    } else {
        const double scale =
            (f->scale ? f->scale[stored_scale_index(f, unit, lane, group)] : 1) * (1 / stored_range(f->prec));
        if (f->prec == PREC_HALF)
            for (int c = 0; c < n; c++) out[c] = scale * (int16_t)(g.h[c] - offset);
        else
            for (int c = 0; c < n; c++) out[c] = scale * (int8_t)(g.q[c] - offset);
    }
}

/* An integer within the range; where there is no number, the range. */
STORED_FN int stored_round(double x, double range)
{
    const double whole = rint(x), below = whole < range ? whole : range;
    return (int)(below > -range ? below : -range);
}

STORED_FN void stored_write(const stored_field *f, long unit, int lane, int group, const double *in)
{
    const int n = f->reals, offset = stored_offset(f);
    stored_group g;
    if (f->prec == PREC_DOUBLE) {
        for (int c = 0; c < n; c++) g.d[c] = in[c];
    } else if (f->prec == PREC_SINGLE) {
        for (int c = 0; c < n; c++) g.s[c] = (float)in[c];
    } else {
        const double range = stored_range(f->prec);
        double factor = range;
        if (f->scale) {
            double largest = 0;
            for (int c = 0; c < n; c++) {
                const double size = fabs(in[c]);
                largest = size > largest ? size : largest;
            }
            f->scale[stored_scale_index(f, unit, lane, group)] = (float)largest;
            factor = largest > 0 ? range / largest : 0;
        }
        if (f->prec == PREC_HALF)
            for (int c = 0; c < n; c++) g.h[c] = (uint16_t)(stored_round(in[c] * factor, range) + offset);
        else
            for (int c = 0; c < n; c++) g.q[c] = (uint8_t)(stored_round(in[c] * factor, range) + offset);
    }
    stored_put(f, unit, lane, group, &g);
}

/* ---- moves of sites, as they are stored ---- */

/* A site goes from one storage unit and lane to another; `negative`: with the opposite sign, where signs count. */
typedef struct {
    int32_t to, from;
    int8_t to_lane, from_lane, negative;
} stored_move;

/* The way back. */
STORED_FN stored_move stored_move_back(const stored_move *m)
{
    stored_move back = *m;
    back.to = m->from;
    back.from = m->to;
    back.to_lane = m->from_lane;
    back.from_lane = m->to_lane;
    return back;
}

/* Moves one group of a site between fields of one precision and number of reals: the same bits, but for the sign. */
STORED_FN void stored_move_group(const stored_field *y, long first_y, const stored_field *x, long first_x,
                                 const stored_move *m, int signs, int group)
{
    const long to = first_y + m->to, from = first_x + m->from;
    const int n = x->reals;
    stored_group g;
    stored_fetch(&g, x, from, m->from_lane, group);
    const int sign = signs && m->negative ? -1 : 1, from_offset = stored_offset(x), to_offset = stored_offset(y);
    if (x->prec == PREC_DOUBLE) {
        for (int c = 0; c < n; c++) g.d[c] = sign < 0 ? -g.d[c] : g.d[c];
    } else if (x->prec == PREC_SINGLE) {
        for (int c = 0; c < n; c++) g.s[c] = sign < 0 ? -g.s[c] : g.s[c];
    } else if (x->prec == PREC_HALF) {
        for (int c = 0; c < n; c++) g.h[c] = (uint16_t)(sign * (int16_t)(g.h[c] - from_offset) + to_offset);
    } else {
        for (int c = 0; c < n; c++) g.q[c] = (uint8_t)(sign * (int8_t)(g.q[c] - from_offset) + to_offset);
    }
    stored_put(y, to, m->to_lane, group, &g);
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

/* Converts one group of x into y, which may store links with fewer or more reals. */
STORED_FN void stored_convert(const stored_field *y, long unit_y, int lane_y, const stored_field *x, long unit_x,
                              int lane_x, int group)
{
    double buf[STORED_MOST];
    stored_read(buf, x, unit_x, lane_x, group);
    if (y->reals == 18 && x->reals == 12) stored_third_row(buf);
    if (y->reals == 8 && x->reals == 18) stored_eight_reals(buf);
    stored_write(y, unit_y, lane_y, group, buf);
}

/* Adds one group: y += factor x, of the same kind. */
STORED_FN void stored_add(const stored_field *y, long unit_y, int lane_y, double factor, const stored_field *x,
                          long unit_x, int lane_x, int group)
{
    double added[STORED_MOST], sum[STORED_MOST];
    stored_read(added, x, unit_x, lane_x, group);
    stored_read(sum, y, unit_y, lane_y, group);
    for (int c = 0; c < x->reals; c++) sum[c] = fma(factor, added[c], sum[c]);
    stored_write(y, unit_y, lane_y, group, sum);
}

/* Operations of field_copy() and field_add(). */
typedef enum { STORED_COPY, STORED_ADD } stored_way;

#endif
