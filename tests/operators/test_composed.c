/* Operators of operators are what they say, in every precision: (y, A^dagger x) = (A y, x) for adjoint.c, A x + shift x
 * for shifted.c, and the dagger of each; and A^dagger A x for normal.c, whose product with x is |A x|^2. */
#include "tests/kernels/kit.h"

#include "kernels/ops/vector.h"
#include "operators/wilson.h"

static field *some(const linop *op, struct ref_rng *rng)
{
    double *numbers = kit_normals((size_t)op->lat->volume * 24, rng);
    field *f = kit_field(op->lat, FIELD_SPINOR, op->prec, op->par, 1, numbers);
    free(numbers);
    return f;
}

/* |y - z| / |y|; z is lost. */
static double apart(const field *y, field *z)
{
    return sqrt(vector_axpy_norm2(z, -1, y, 0) / vector_norm2(y, 0));
}

static void test_at(linop *op, linop *adjoint, linop *shifted, double shift, struct ref_rng *rng)
{
    const precision prec = op->prec;
    field *x = some(op, rng), *y = some(op, rng), *ax = field_like(x), *ay = field_like(x), *z = field_like(x);
    const double tolerance = 1e2 * kit_epsilon[prec] + 30 * kit_step[prec];
    double one[2], other[2];
    KIT_INT(adjoint->prec, prec);
    KIT_INT(shifted->prec, prec);
    linop_apply(adjoint, ax, x, 0);
    linop_apply(op, ay, y, 0);
    vector_dot(one, y, ax, 0);
    vector_dot(other, ay, x, 0);
    const double size = sqrt(vector_norm2(ay, 0) * vector_norm2(x, 0));
    for (int k = 0; k < 2; k++) KIT_NEAR(one[k], other[k], tolerance * size);
    linop_apply(adjoint, z, y, 1);
    KIT_NEAR(apart(ay, z), 0, 0);
    for (int dagger = 0; dagger < 2; dagger++) {
        linop_apply(op, ax, x, dagger);
        vector_axpby(ax, shift, x, 1);
        linop_apply(shifted, z, x, dagger);
        KIT_NEAR(apart(ax, z), 0, tolerance);
    }
    field_destroy(x);
    field_destroy(y);
    field_destroy(ax);
    field_destroy(ay);
    field_destroy(z);
}

static void test_normal(const field *links, schur_form form, double c_sw, struct ref_rng *rng)
{
    wilson *w = wilson_create(
        links, &(wilson_settings){.mass = 0.1, .c_sw = c_sw, .form = form, .p = PARITY_EVEN, .storage = FIELD_LINKS});
    linop *whole = wilson_schur(w), *normal = normal_create(whole);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        linop *op = linop_at(whole, (precision)prec, kit_place), *square = linop_at(normal, (precision)prec, kit_place);
        linop_refresh(square);
        field *x = some(op, rng), *y = field_like(x), *ax = field_like(x), *z = field_like(x);
        kit_where("A^dagger A of form %d, c_sw %g, in %s", form, c_sw, precision_names[prec]);
        vector_sum sum;
        linop_apply_dot(square, y, x, &sum);
        const double product = vector_sum_finish(&sum);
        linop_apply(op, ax, x, 0);
        KIT_NEAR(product, vector_norm2(ax, 0), 0);
        linop_apply(op, z, ax, 1);
        KIT_NEAR(apart(y, z), 0, 0);
        linop_apply(square, z, x, 0);
        KIT_NEAR(apart(y, z), 0, 0);
        field_destroy(x);
        field_destroy(y);
        field_destroy(ax);
        field_destroy(z);
    }
    linop_destroy(normal);
    wilson_destroy(w);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    struct ref_rng rng;
    ref_rng_seed(&rng, 82);
    lattice *lat = kit_lattice(kit_shapes[0], 1, -1);
    if (lat) {
        double complex *u = kit_random_gauge(kit_shapes[0], 0.4, &rng);
        field *links = kit_links(lat, u);
        wilson *w = wilson_create(
            links, &(wilson_settings){
                       .mass = 0.1, .c_sw = 1, .form = SCHUR_ASYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS});
        linop *op = wilson_schur(w), *adjoint = adjoint_create(op), *shifted = shifted_create(op, -0.7);
        linop_refresh(adjoint);
        linop_refresh(shifted);
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            kit_where("operators of an operator in %s", precision_names[prec]);
            linop *low = linop_at(op, (precision)prec, kit_place);
            linop_refresh(low);
            test_at(low, linop_at(adjoint, (precision)prec, kit_place), linop_at(shifted, (precision)prec, kit_place),
                    -0.7, &rng);
        }
        linop_destroy(shifted);
        linop_destroy(adjoint);
        wilson_destroy(w);
        for (int form = 0; form < 2; form++)
            for (int clover = 0; clover < 2; clover++) test_normal(links, (schur_form)form, clover, &rng);
        field_destroy(links);
        free(u);
    }
    lattice_destroy(lat);
    return kit_end();
}
