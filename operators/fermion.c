#include "operators/fermion.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

void fermion_open(fermion *f, const fermion_table *table, const field *links, link_map *map, linop *direct,
                  linop *normal)
{
    REQUIRE(!map || map->from == links, "a map of other links");
    *f = (fermion){.table = table, .links = links, .direct = direct, .normal = normal};
    if (map) f->map = link_map_share(map);
    f->shares = link_map_smearing(map);
}

link_map *fermion_link_map(const field *links, const link_settings *s, const double theta[4], fermion *const *others,
                           int n)
{
    link_map *smearing = NULL;
    for (int i = 0; s && !smearing && i < n; i++) {
        link_map *m = others[i] ? link_map_smearing(others[i]->map) : NULL;
        if (link_map_fits(m, s, links)) smearing = link_map_share(m);
    }
    if (s && !smearing) smearing = link_map_create(s, links);
    link_map *whole = NULL;
    for (int i = 0; !whole && i < n; i++)
        if (others[i] && link_map_twist_fits(others[i]->map, smearing, links, theta))
            whole = link_map_share(others[i]->map);
    if (!whole) whole = link_map_twist(smearing, links, theta);
    link_map_destroy(smearing);
    return whole;
}

void fermion_close(fermion *f)
{
    link_map_destroy(f->map);
}

const field *fermion_links(const fermion *f)
{
    return f->map ? link_map_links(f->map) : f->links;
}

field *fermion_vector(const fermion *f)
{
    const linop *op = f->normal;
    return field_create_shape(op->lat, &op->shape, PREC_DOUBLE, PARITY_BOTH, op->where);
}

field *fermion_physical(const fermion *f)
{
    const linop *op = f->normal;
    return field_create(op->lat, op->shape.kind, PREC_DOUBLE, PARITY_BOTH, 1, op->where);
}

int fermion_has_walls(const fermion *f)
{
    return f->table->import != NULL;
}

void fermion_import(fermion *f, field *source, const field *physical)
{
    REQUIRE(fermion_has_walls(f), "%s has no fields but physical ones", f->table->name);
    f->table->import(f, source, physical);
}

void fermion_export(fermion *f, field *physical, const field *x)
{
    REQUIRE(fermion_has_walls(f), "%s has no fields but physical ones", f->table->name);
    f->table->export(f, physical, x);
}

void fermion_midpoint(fermion *f, field *physical, const field *x)
{
    REQUIRE(fermion_has_walls(f), "%s has no fields but physical ones", f->table->name);
    f->table->midpoint(f, physical, x);
}

void fermion_axial(fermion *f, field *left, field *right, const field *x, const field *source)
{
    REQUIRE(fermion_has_walls(f), "%s has no fields but physical ones", f->table->name);
    f->table->axial(f, left, right, x, source);
}

linop *fermion_system(const fermion *f, int positive)
{
    return f->direct && !positive ? f->direct : f->normal;
}

void fermion_prepare(fermion *f, field *rhs, const field *source, int positive)
{
    if (!f->direct || !positive) {
        f->table->prepare(f, rhs, source);
        return;
    }
    field *half = field_scratch(rhs);
    f->table->prepare(f, half, source);
    linop_apply(f->direct, rhs, half, 1);
    field_destroy(half);
}

void fermion_reconstruct(fermion *f, field *x, const field *solution, const field *source)
{
    f->table->reconstruct(f, x, solution, source);
}

void fermion_apply(fermion *f, field *y, const field *x, int dagger)
{
    f->table->apply(f, y, x, dagger);
}

void fermion_derivative(fermion *f, field *y, const field *x, int n)
{
    REQUIRE(f->table->derivative, "%s by a chemical potential", f->table->name);
    f->table->derivative(f, y, x, n);
}

double fermion_residual(fermion *f, field *work, const field *x, const field *source)
{
    fermion_apply(f, work, x, 0);
    vector_axpby(work, 1, source, -1);
    const double r2 = vector_norm2(work, 0), source2 = vector_norm2(source, 0);
    if (source2 == 0) return r2 > 0 ? INFINITY : 0;
    return sqrt(r2 / source2);
}

/* A sum of forces. Of smeared links it is gathered apart, for the map to take back. */
typedef struct {
    void *of_kind;
    field *force, *own; /* the caller's; that of the links of the map */
} force_sum;

void *fermion_open_force(fermion *f, field *force)
{
    force_sum *s = malloc(sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    *s = (force_sum){.force = force, .own = link_map_open_force(f->map, force)};
    s->of_kind = f->table->open_force(f, s->own, force);
    return s;
}

void fermion_add_force(void *sum, fermion *f, int n, const double *weights, field *const *x)
{
    f->table->add_force(((force_sum *)sum)->of_kind, f, n, weights, x);
}

void fermion_add_variation(void *sum, fermion *f, double factor, const field *x, const field *y)
{
    REQUIRE(f->table->add_variation, "a variation of %s", f->table->name);
    f->table->add_variation(((force_sum *)sum)->of_kind, f, factor, x, y);
}

void fermion_add_force_log_det(void *sum, fermion *f, double weight)
{
    if (fermion_has_log_det(f)) f->table->add_force_log_det(((force_sum *)sum)->of_kind, f, weight);
}

void fermion_close_force(fermion *f, void *sum)
{
    force_sum *s = sum;
    f->table->close_force(s->of_kind);
    link_map_close_force(f->map, s->force, s->own);
    free(s);
}

int fermion_has_log_det(const fermion *f)
{
    return f->table->log_det != NULL;
}

double fermion_log_det(fermion *f, double *negatives)
{
    *negatives = 0;
    return fermion_has_log_det(f) ? f->table->log_det(f, negatives) : 0;
}

double fermion_filtered(const fermion *f)
{
    return f->table->filtered ? f->table->filtered(f) : NAN;
}

void fermion_destroy(fermion *f)
{
    if (f) f->table->destroy(f);
}
