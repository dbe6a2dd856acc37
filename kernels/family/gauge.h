/* Arguments of the kernels of links and momenta: loops, forces, field strength, updates. The same in every precision. */
#ifndef PLAQ_FAMILY_GAUGE_H
#define PLAQ_FAMILY_GAUGE_H

#include "kernels/family/random.h"
#include "kernels/field/view.h"
#include "kernels/lattice/geom.h"

/* Factors of loops at the ends of time, [0] of the first slice and [1] of the last one. Periodic lattices are not bounded, and no factor
 * is read. */
typedef struct {
    int bounded, last; /* number of the last slice */
    double space[2];   /* loops in space on the slice */
    double time[2];    /* plaquettes in time with an edge on it */
    double along[2];   /* rectangles with two links in space on it, and one in time */
    double twice
        [2]; /* plaquettes in time with an edge on it that wind twice, times the weight of those rectangles; else there are none */
} loop_ends;

typedef struct {
    geom g;
    view links;
    loop_ends ends;
    double rectangle[3]; /* weights of rectangles, as in gauge_weights */
    int parity;
} loops_args;

typedef struct {
    geom g;
    view links;
    int parity;
} parallelograms_args;

typedef struct {
    geom g;
    view links, momenta;
    loop_ends ends;
    double c0[2], c1[3]; /* plaquette and rectangle of gauge_weights, over 6 */
    int parity;
} gauge_force_args;

typedef struct {
    geom g;
    view links, momenta;
    double c2;
    int parity;
} parallelogram_force_args;

typedef struct {
    geom g;
    view links, out;
    int parity;
} field_strength_args;

typedef struct {
    view tensor;
} energy_args;

typedef struct {
    geom g;
    view tensor, links, out;
    int parity, bounded, last;
} energy_density_args;

/* Groups are chosen by bits, and by time slices: the first one, the one before the last, the last one, idle ones. */
typedef struct {
    geom g;
    view out;
    double factor;
    int parity, reals, last, at[4];
} scale_slices_args;

typedef struct {
    geom g;
    view links, path, out;
    int parity, step, group, bare, closed, add; /* see path_step_site() */
} path_step_args;

typedef struct {
    geom g;
    view links, strip, end, path, out;
    int parity, nu;
} loop_strip_args;

typedef struct {
    view path, out;
    double weight;
    int plane, add; /* see tensor_plane_site() */
} tensor_plane_args;

typedef struct {
    view x, y;
} trace_products_args;

typedef trace_products_args links_distance_args;

typedef struct {
    view links, momenta;
    double dt[2]; /* links in space; links in time */
    int walls;    /* links without momentum, those of walls, stay the same bits */
} link_update_args;

typedef struct {
    view links;
} unitarise_args;

typedef struct {
    view y, x;
    double a[2]; /* links in space; links in time */
} momenta_add_args;

typedef struct {
    view x, y;
    double weight[2]; /* links in space; links in time */
} momenta_dot_args;

typedef struct {
    view x, y;
} momenta_matrix_args;

typedef struct {
    geom g;
    view links, matrix, y;
    double a;
    int parity;
} momenta_laplace_args;

typedef gauge_force_args gauge_force_bounded_args;

typedef random_args random_momenta_args;
typedef random_args random_links_args;

#endif
