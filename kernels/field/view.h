/* View of a field, all that a kernel knows of it: where its numbers are. Shared by gcc and nvcc.
 *
 * Storage is [block][group][component / pack][block sites][pack]. A block is a SIMD unit (pack 1), or in the linear
 * layout 32 sites, with pack as large as divides the components of a group: up to 2 in double, 4 in single, 8 below. A
 * group is a direction of links, a right-hand side, a chirality. Precisions below single are fixed point: component =
 * integer / 127 or 32767, times scale[block][group][site] where the kind has scales; in the linear layout the integer
 * is stored with 128 or 32768 added to it. Matrices in rows order are [group][site][component] with scale[site][group], and
 * nothing is added.
 *
 * Links on virtual nodes are [group][block][component][block sites]: a hop reads each direction as a stream of its own,
 * forwards links at the unit and backwards links one step away, which the hardware foresees. */
#ifndef PLAQ_VIEW_H
#define PLAQ_VIEW_H

typedef enum { PREC_DOUBLE, PREC_SINGLE, PREC_HALF, PREC_QUARTER, PREC_COUNT } precision;

#define LINEAR_BLOCK 32

/* Components that stay together in the linear layout: at most 16 bytes, one access. `n` components a group. */
#define VIEW_PACK(prec, n)                                                                                             \
    ((n) % 8 == 0 && (prec) >= PREC_HALF ? 8 : (n) % 4 == 0 && (prec) != PREC_DOUBLE ? 4 : (n) % 2 == 0 ? 2 : 1)

typedef struct view {
    void *data;
    float *scale; /* or null */
    long stride;  /* reals from a site to the next, of one lane: groups x components, or components of one group */
    int groups;
    int scale_groups; /* groups between a site's scales and the next site's: more than groups where a view has only some */
    long group_stride; /* reals of one lane from a group to the next; in the linear layout, reals of a group */
} view;

#endif
