/* A + shift of any operator, with a real shift. */
#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "operators/derived.h"

typedef struct {
    derived d;
    double shift;
} shifted;

static void apply(const linop *op, field *y, const field *x, int dagger)
{
    const shifted *s = (const shifted *)op;
    const linop *inner = s->d.inner;
    if (inner->table->apply_shifted) {
        inner->table->apply_shifted(inner, y, x, s->shift);
        return;
    }
    linop_apply(inner, y, x, dagger);
    if (s->shift != 0) vector_axpby(y, s->shift, x, 1);
}

static linop *again(const derived *d, linop *inner)
{
    return shifted_create(inner, ((const shifted *)d)->shift);
}

static const linop_table table = {.name = "shifted",
                                  .apply = apply,
                                  .at = derived_at,
                                  .local = derived_local,
                                  .refresh = derived_refresh,
                                  .destroy = derived_destroy};

linop *shifted_create(linop *op, double shift)
{
    shifted *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    derived_open(&s->d, &table, op, again);
    s->shift = shift;
    return &s->d.base;
}
