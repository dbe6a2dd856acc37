/* The fermion of Wilson-clover quarks: the direct system is an even-odd Schur complement (operators/wilson.h). */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "operators/wilson.h"

typedef struct {
    fermion base;
    wilson *w;
} wilson_quark;

static wilson *of(fermion *f)
{
    return ((wilson_quark *)f)->w;
}

static void prepare(fermion *f, field *rhs, const field *source)
{
    wilson_prepare(of(f), rhs, source);
}

static void reconstruct(fermion *f, field *x, const field *solution, const field *source)
{
    wilson_reconstruct(of(f), x, solution, source);
}

static void apply(fermion *f, field *y, const field *x, int dagger)
{
    wilson_apply(of(f), y, x, dagger);
}

static void *open_with(fermion *f, field *of_hop, field *of_clover, const field *links)
{
    wilson_force *sum = malloc(sizeof *sum);
    REQUIRE_MEMORY(sum, "out of memory");
    fermion_links(f); /* links of the clover term are brought up to date, too */
    *sum = wilson_force_open(of_hop, of_clover, links);
    return sum;
}

static void *open_force(fermion *f, field *force, field *thin)
{
    (void)thin;
    return open_with(f, force, force, link_map_special(f->map, f->links));
}

static void *open_thin(fermion *f, field *force, field *thin)
{
    return open_with(f, force, thin, f->links);
}

/* dS = -sum_i 2 weight_i Re Y_i^dagger dMhat X_i with Y_i = Mhat X_i. */
static void add_force(void *sum, fermion *f, int n, const double *weights, field *const *x)
{
    field *y = linop_vector(f->direct, 1);
    for (int i = 0; i < n; i++) {
        linop_apply(f->direct, y, x[i], 0);
        wilson_force_add(sum, of(f), weights[i], x[i], y, y);
    }
    field_destroy(y);
}

static void add_variation(void *sum, fermion *f, double factor, const field *x, const field *y)
{
    field *mx = linop_vector(f->direct, 1);
    linop_apply(f->direct, mx, x, 0);
    wilson_force_add(sum, of(f), factor, x, y, mx);
    field_destroy(mx);
}

static void close_force(void *sum)
{
    wilson_force_close(sum);
    free(sum);
}

static double log_det(fermion *f, double *negatives)
{
    return wilson_log_det(of(f), negatives);
}

static void add_force_log_det(void *sum, fermion *f, double weight)
{
    wilson_force_add_log_det(sum, of(f), weight);
}

static void destroy(fermion *f)
{
    linop_destroy(f->normal);
    wilson_destroy(of(f));
    fermion_close(f);
    free(f);
}

#define TABLE(open, ...)                                                                                               \
    {                                                                                                                  \
        .name = "wilson_clover", .prepare = prepare, .reconstruct = reconstruct, .apply = apply, .open_force = open,   \
        .add_force = add_force, .add_variation = add_variation, .close_force = close_force, .destroy = destroy,        \
        __VA_ARGS__                                                                                                    \
    }
/* Quarks with a constant for the other factor of the determinant. */
static const fermion_table plain = TABLE(open_force, ), plain_thin = TABLE(open_thin, ),
                           clover = TABLE(open_force, .log_det = log_det, .add_force_log_det = add_force_log_det),
                           thin_clover = TABLE(open_thin, .log_det = log_det, .add_force_log_det = add_force_log_det);

int wilson_has_constant_det(const wilson_settings *s)
{
    const clover_coefficients c = wilson_clover(s);
    if (c.space == 0 && c.time == 0) return !clover_has_inside(&c);
    return c.exponential && !clover_has_inside(&c) && s->mu == 0 && s->epsilon == 0;
}

fermion *wilson_fermion(const field *links, const wilson_settings *s)
{
    wilson_quark *q = malloc(sizeof *q);
    REQUIRE_MEMORY(q, "out of memory");
    q->w = wilson_create(links, s);
    linop *direct = wilson_schur(q->w);
    const fermion_table *const tables[2][2] = {{&clover, &thin_clover}, {&plain, &plain_thin}};
    fermion_open(&q->base, tables[wilson_has_constant_det(s)][s->thin_clover != 0], links, s->map, direct,
                 normal_create(direct));
    return &q->base;
}
