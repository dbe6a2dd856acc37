/* The multisplitting preconditioner of a normal operator A = M^dagger M (J. Tu et al., arXiv:2104.05615): on the sites of
 * each block the system R A R^T z = R r, with R what keeps those sites, solved by a fixed number of steps of conjugate
 * gradients from zero, with sums over the block alone.
 *
 * R A R^T holds the snake terms, which leave the block and come back. M of one parity reaches two sites: M inside blocks
 * that are continued by so many gives them all, since M R^T z vanishes beyond, and nothing is sent. Without snake terms M
 * itself is cut at the edge of the block. Where a block is as long as the lattice there is no edge. The blocks are a
 * parameter of the method: results depend on the process grid only where a block is the box of a rank. */
#include <stdio.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/multisplitting.h"

/* Sites that M reaches. */
#define REACH 2

static block_shape blocks_of(const multisplitting_keys *s)
{
    block_shape shape = {.overlap = s->snakes ? REACH : 0, .restricted = s->snakes, .closed = 1};
    for (int d = 0; d < 4; d++) shape.size[d] = s->block[d];
    return shape;
}

static linop *inverts(const solver_settings *set, linop *a)
{
    const block_shape shape = blocks_of(multisplitting_keys_of(set));
    char message[512];
    linop *local = linop_local(a, &shape, message, sizeof message);
    REQUIRE(local, "%s", message); /* a run has asked fits() before it began */
    return local;
}

static void precondition(solver *of, const char *going, field *x, const field *b, solve_result *each)
{
    (void)going;
    const multisplitting_keys *s = multisplitting_keys_of(&of->settings);
    linop *low = linop_at(of->a, solver_precision(&of->settings, b->prec), b->where);
    linop_refresh(low);
    linop *local = inverts(&of->settings, low);
    const int one = low->prec == b->prec;
    field *r = linop_vector(local, 1), *p = field_like(r), *q = field_like(r), *y = one ? x : field_like(r);
    field_clear(y);
    vector_copy(r, b);
    vector_copy(p, r);
    blocks_measure(local->inside, r);
    for (int k = 0; k < s->steps; k++) {
        linop_apply(local, q, p, 0);
        blocks_cg_step(local->inside, y, r, p, q);
    }
    if (!one) vector_copy(x, y);
    if (!one) field_destroy(y);
    field_destroy(q);
    field_destroy(p);
    field_destroy(r);
    *each = (solve_result){.status = SOLVE_CONVERGED, .iterations = s->steps, .flops = s->steps * local->flops};
}

static const char *fits(const solver_settings *set, const lattice *lat, char *message, size_t size)
{
    const block_shape shape = blocks_of(multisplitting_keys_of(set));
    return blocks_fit(lat, shape.size, 1, message, size) &&
                   overlap_can_be(lat, shape.size, shape.overlap, message, size)
               ? NULL
               : "block";
}

static const param own[] = {
    {"block", PARAM_INT4, SOLVER_KEY(multisplitting_keys, block), "rank", "[0,32766]|rank", "sites",
     "extents X.Y.Z.T of the blocks, which divide the sites of a rank; rank: one block per rank, so that results "
     "depend "
     "on the process grid",
     0},
    {"steps", PARAM_INT, SOLVER_KEY(multisplitting_keys, steps), "6", "[1,1000]", NULL, "number of steps in the blocks",
     0},
    {"snakes", PARAM_BOOL, SOLVER_KEY(multisplitting_keys, snakes), "yes", NULL, NULL,
     "whether the operator in a block has the snake terms, which leave the block by up to two sites and come back; "
     "without them a step is cheaper and of less use",
     0},
};

static const param_section part = PARAM_PART("solver", "multisplitting", solver_settings, own);
_Static_assert(sizeof(multisplitting_keys) <= sizeof(((solver_settings *)0)->own),
               "no room for the keys of multisplitting");

const solver_type solver_multisplitting = {
    .name = "multisplitting",
    .help =
        "conjugate gradients inside blocks of sites, on a Hermitian positive operator with all of its terms from a "
        "block to itself; a preconditioner alone, for pcg (MSPCG), in half precision unless inner_precision is given",
    .keys = "inner_precision",
    .precision = "half",
    .own = &part,
    .model = {.part = 0.4, .least = 5, .work = 6, .exchanges = 1},
    .positive = 1,
    .blocks = 1,
    .fits = fits,
    .inverts = inverts,
    .precondition = precondition};
