/* Schwarz methods: the operator is inverted in blocks of sites, each for itself, by a fixed number of steps of minimal
 * residual with sums over the block alone (R. Babich et al., arXiv:1109.2935, section 8.1).
 *
 * One colour is the additive method without overlap: nothing is sent. Two colours are the multiplicative one, the
 * alternating procedure (M. Luescher, hep-lat/0310048): blocks of one colour, then those of the other on the residual
 * that the first leave, which takes one application of A with its messages. Each cycle after the first begins from the
 * residual too. The blocks are a parameter of the method: results depend on the process grid only where a block is the
 * box of a rank. */
#include "kernels/base/error.h"
#include "kernels/spinor.h"
#include "solvers/solver.h"

static linop *inside_blocks(const solver_settings *s, linop *low)
{
    char message[512];
    linop *local = linop_local(low, s->block, message, sizeof message);
    /* A run has asked blocks_fit() before it began. */
    REQUIRE(local, "%s", message);
    REQUIRE(s->colours <= blocks_colours(local->inside), "blocks of one colour for %d", s->colours);
    return local;
}

solve_result schwarz_precondition(const solver_settings *s, linop *a, field *x, const field *b)
{
    linop *low = linop_at(a, solver_precision(s, b->prec), a->where);
    linop_refresh(low);
    linop *local = inside_blocks(s, low);
    const int one = low == a;
    field *given = one ? NULL : linop_vector(low, 1), *r = linop_vector(low, 1), *q = field_like(r),
          *y = one ? x : field_like(r);
    const field *source = one ? b : given;
    solve_result result = {.status = SOLVE_CONVERGED};
    if (!one) spinor_copy(given, b);
    field_clear(y);
    for (int sweep = 0; sweep < s->cycles * s->colours; sweep++) {
        if (sweep == 0) {
            spinor_copy(r, source);
        } else {
            linop_apply(low, r, y, 0);
            spinor_axpby(r, 1, source, -1);
            result.iterations++;
        }
        blocks_measure(local->inside, r);
        for (int k = 0; k < s->steps; k++) {
            linop_apply(local, q, r, 0);
            blocks_minimise(local->inside, y, r, q, s->relaxation, s->colours == 2 ? sweep % 2 : -1);
            result.iterations++;
        }
    }
    result.flops = result.iterations * low->flops;
    if (!one) spinor_copy(x, y);
    if (!one) field_destroy(y);
    field_destroy(q);
    field_destroy(r);
    field_destroy(given);
    return result;
}
