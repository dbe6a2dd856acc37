#include "operators/fermion.h"

#include <math.h>

#include "kernels/base/error.h"

void fermion_open(fermion *f, const fermion_table *table, const field *links, linop *direct, linop *normal)
{
    *f = (fermion){.table = table, .links = links, .direct = direct, .normal = normal};
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

void *fermion_open_force(fermion *f, field *force)
{
    return f->table->open_force(f, force);
}

void fermion_add_force(void *sum, fermion *f, int n, const double *weights, field *const *x)
{
    f->table->add_force(sum, f, n, weights, x);
}

void fermion_add_variation(void *sum, fermion *f, double factor, const field *x, const field *y)
{
    REQUIRE(f->table->add_variation, "a variation of %s", f->table->name);
    f->table->add_variation(sum, f, factor, x, y);
}

void fermion_add_force_log_det(void *sum, fermion *f, double weight)
{
    if (fermion_has_log_det(f)) f->table->add_force_log_det(sum, f, weight);
}

void fermion_close_force(fermion *f, void *sum)
{
    f->table->close_force(sum);
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
