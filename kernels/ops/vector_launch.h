/* Launches of the kernels on vectors, and what is asked of fields. For kernels/ops/vector.c and vector_multi.c alone. */
#ifndef PLAQ_OPS_VECTOR_LAUNCH_H
#define PLAQ_OPS_VECTOR_LAUNCH_H

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/sums.h"

/* A field in sites order takes a launch for each parity, of any groups; one in rows order, which the kernel sees as a
 * stretch of numbers, a launch for each group, of all its parities. */
typedef struct {
    const field *like;
    int number, many;
    int parity; /* sites order: the parity */
    int group;  /* rows order: the group */
    int reals;  /* components of a group, as the kernel sees it */
    int first, count;
    long n; /* work items */
} launch;

static inline launch launch_open(const field *f, int first, int count)
{
    launch l = {.like = f, .first = first, .count = count, .reals = f->reals};
    l.parity = field_first_parity(f);
    l.many = field_last_parity(f) - l.parity + 1;
    l.n = field_units(f);
    if (f->order == ORDER_SITES) return l;
    l.reals = VECTOR_FLAT(f->prec);
    l.n = field_rows(f) * f->reals / l.reals;
    l.group = first;
    l.many = count;
    l.first = 0;
    l.count = 1;
    return l;
}

static inline void launch_next(launch *l)
{
    l->number++;
    l->parity++;
    l->group++;
}

#define FOR_LAUNCHES(l, f, first, count)                                                                               \
    for (launch l = launch_open(f, first, count); l.number < l.many; launch_next(&l))
/* Launches over all groups, and over the slices of one right-hand side. */
#define FOR_ALL(l, f) FOR_LAUNCHES(l, f, 0, (f)->groups)
#define FOR_RHS(l, f, rhs) FOR_LAUNCHES(l, f, (rhs) * (f)->Ls, (f)->Ls)

static inline view stretch(const field *f, int group)
{
    const int reals = VECTOR_FLAT(f->prec);
    const size_t before = (size_t)group * (size_t)f->group_stride * field_real_bytes(f);
    return (view){(char *)f->data + before, NULL, reals, 1, 1, reals};
}

static inline view to_read(const launch *l, const field *f)
{
    return f->order == ORDER_ROWS ? stretch(f, l->group) : field_in(f, (parity)l->parity);
}

static inline view to_write(const launch *l, field *f)
{
    if (f->order == ORDER_SITES) return field_out(f, (parity)l->parity);
    field_written(f);
    return stretch(f, l->group);
}

/* Work with flops and reals of a spinor. */
static inline kernel_work work_of(const launch *l, double groups, double flops, double reals)
{
    kernel_work w = {.n = l->n};
    const double spinors = (double)l->n * l->like->lay->lanes * l->reals / 24 * groups;
    w.flops = spinors * flops;
    w.bytes = spinors * reals * field_traffic(l->like);
    return w;
}

static inline kernel_work registered_work(kernel_id id, const launch *l, int groups)
{
    const kernel_info *info = &kernel_infos[id];
    return work_of(l, groups, info->flops, info->reads + info->writes);
}

static inline void run(kernel_id id, const launch *l, const void *args)
{
    kernel_run(id, l->like, args, registered_work(id, l, l->like->order == ORDER_ROWS ? 1 : l->like->groups));
}

/* ---- what is asked of fields ---- */

static inline void check_vector(const field *x)
{
    REQUIRE(field_kinds[x->kind].groups == 1, "vector algebra with %s", field_kinds[x->kind].name);
}

/* Vectors of one shape and precision; x has the parities of `like`. */
static inline void check_two(const field *like, const field *x)
{
    check_vector(like);
    REQUIRE(field_alike(like, x) && x->prec == like->prec && (x->par == like->par || x->par == PARITY_BOTH) &&
                (like->order == ORDER_SITES || x->par == like->par),
            "%s (parity %d, precision %d, place %d, %d x %d groups) beside %s (%d, %d, %d, %d x %d) on %s lattice",
            field_kinds[x->kind].name, x->par, x->prec, x->where, x->nrhs, x->Ls, field_kinds[like->kind].name,
            like->par, like->prec, like->where, like->nrhs, like->Ls, x->lat == like->lat ? "the same" : "another");
}

static inline void check_rhs(const field *x, int rhs)
{
    check_vector(x);
    REQUIRE(rhs >= 0 && rhs < x->nrhs, "right-hand side %d of %d", rhs, x->nrhs);
}

/* ---- sums over ranks ---- */

/* n sums over the vectors of a lattice; every `step`-th is a square or the real part of a product. On a planned lattice
 * these are one, so that what is divided by them stays a number. */
static inline void sum_over_ranks(const lattice *lat, exact_sum *s, int n, int step)
{
    comm_group_sum_exact(lat->group, s, n);
    for (int k = 0; lat->planned && k < n; k += step) exact_add(&s[k], 1);
}

/* Work of a kernel on many vectors; flops and reals are those of spinors. */
static inline kernel_work many_vectors(const launch *l, double flops, double reals, exact_sum *sums)
{
    kernel_work w = work_of(l, l->count, flops, reals);
    w.sums = sums;
    return w;
}

static inline void copy_pairs(double (*to)[2], const double (*from)[2], int n)
{
    for (int j = 0; j < n; j++) {
        to[j][0] = from[j][0];
        to[j][1] = from[j][1];
    }
}

#endif
