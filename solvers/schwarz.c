/* Schwarz methods: the operator is inverted in blocks of sites, each for itself, by a fixed number of steps of minimal
 * residual with sums over the block alone (R. Babich et al., arXiv:1109.2935, section 8.1).
 *
 * One colour is the additive method; without overlap, nothing is sent. Two colours are the multiplicative one, the
 * alternating procedure (M. Luescher, hep-lat/0310048): blocks of one colour, then those of the other on the residual
 * that the first leave, which takes one application of A with its messages. Each cycle after the first begins from the
 * residual too. The blocks are a parameter of the method: results depend on the process grid only where a block is the
 * box of a rank.
 *
 * With an overlap the blocks are extended (kernels/ops/overlap.h): the residual is gathered on them, and of what each finds
 * its own sites are kept, so that none gets two corrections: restricted additive Schwarz (X.-C. Cai and M. Sarkis, SIAM
 * J. Sci. Comput. 21 (1999) 792). */
#include <stdio.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/schwarz.h"

static linop *inside_blocks(const schwarz_keys *s, linop *low)
{
    char message[512];
    block_shape shape = {.overlap = s->overlap};
    for (int d = 0; d < 4; d++) shape.size[d] = s->block[d];
    linop *local = linop_local(low, &shape, message, sizeof message);
    /* A run has asked blocks_fit() and overlap_fit() before it began. */
    REQUIRE(local, "%s", message);
    REQUIRE(s->colours <= blocks_colours(local->inside), "blocks of one colour for %d", s->colours);
    REQUIRE(s->colours == 1 || !local->over, "blocks that overlap in %d colours", s->colours);
    return local;
}

/* Steps of minimal residual: x += about A^-1 r in the blocks of a colour, r becomes what is left there. */
static void invert_blocks(const schwarz_keys *s, linop *local, field *x, field *r, field *q, int colour)
{
    blocks_measure(local->inside, r);
    for (int k = 0; k < s->steps; k++) {
        linop_apply(local, q, r, 0);
        blocks_minimise(local->inside, x, r, q, s->relaxation, colour);
    }
}

/* Inverts in extended blocks: x += about A^-1 r; r is overwritten. */
static void invert_extended(const schwarz_keys *s, linop *local, field *x, field *r)
{
    field *mine = linop_vector(local, 1), *left = field_like(mine), *q = field_like(mine);
    overlap_gather(local->over, left, r);
    invert_blocks(s, local, mine, left, q, -1);
    overlap_keep(local->over, r, mine);
    vector_axpby(x, 1, r, 1);
    field_destroy(q);
    field_destroy(left);
    field_destroy(mine);
}

static void precondition(solver *of, const char *going, field *x, const field *b, solve_result *each)
{
    (void)going;
    const schwarz_keys *s = schwarz_keys_of(&of->settings);
    linop *low = linop_at(of->a, solver_precision(&of->settings, b->prec), b->where);
    linop_refresh(low);
    linop *local = inside_blocks(s, low);
    const int one = low->prec == b->prec;
    field *given = one ? NULL : linop_vector(low, 1), *r = linop_vector(low, 1),
          *q = local->over ? NULL : field_like(r), *y = one ? x : field_like(r);
    const field *source = one ? b : given;
    solve_result result = {.status = SOLVE_CONVERGED};
    if (!one) vector_copy(given, b);
    field_clear(y);
    for (int sweep = 0; sweep < s->cycles * s->colours; sweep++) {
        if (sweep == 0) {
            vector_copy(r, source);
        } else {
            linop_apply(low, r, y, 0);
            vector_axpby(r, 1, source, -1);
            result.iterations++;
            result.flops += low->flops;
        }
        if (local->over) invert_extended(s, local, y, r);
        else invert_blocks(s, local, y, r, q, s->colours == 2 ? sweep % 2 : -1);
        result.iterations += s->steps;
        result.flops += s->steps * local->flops;
    }
    if (!one) vector_copy(x, y);
    if (!one) field_destroy(y);
    field_destroy(q);
    field_destroy(r);
    field_destroy(given);
    *each = result;
}

static const char *check(const solver_settings *set, char *message, size_t size)
{
    const schwarz_keys *s = schwarz_keys_of(set);
    if (s->overlap == 0 || s->colours == 1) return NULL;
    snprintf(message, size,
             "overlap = %d with colours = %d: blocks that overlap have one colour; choose overlap = 0 or colours = 1",
             s->overlap, s->colours);
    return "overlap";
}

static const char *fits(const solver_settings *set, const lattice *lat, char *message, size_t size)
{
    const schwarz_keys *s = schwarz_keys_of(set);
    if (!blocks_fit(lat, s->block, s->colours, message, size)) return "block";
    return overlap_fit(lat, s->block, s->overlap, message, size) ? NULL : "overlap";
}

static const param own[] = {
    {"block", PARAM_INT4, SOLVER_KEY(schwarz_keys, block), "rank", "[0,32766]|rank", "sites",
     "extents X.Y.Z.T of the blocks, which divide the sites of a rank; rank: one block per rank, so that results "
     "depend "
     "on the process grid",
     0},
    {"overlap", PARAM_INT, SOLVER_KEY(schwarz_keys, overlap), "0", "[0,32766]", "sites",
     "sites by which each block is continued on either side, along directions in which it is shorter than the lattice; "
     "of what an extended block finds, the sites of the block itself are kept (restricted additive Schwarz); only with "
     "colours = 1",
     0},
    {"steps", PARAM_INT, SOLVER_KEY(schwarz_keys, steps), "8", "[1,1000]", NULL, "number of steps in the blocks", 0},
    {"relaxation", PARAM_REAL, SOLVER_KEY(schwarz_keys, relaxation), "1", "(0,2)", NULL,
     "relaxation factor of each step", 0},
    {"colours", PARAM_INT, SOLVER_KEY(schwarz_keys, colours), "1", "[1,2]", NULL,
     "1: all blocks at once (additive); 2: in turns, like the fields of a chess board (multiplicative)", 0},
    {"cycles", PARAM_INT, SOLVER_KEY(schwarz_keys, cycles), "1", "[1,1000]", NULL,
     "repetitions, from the residual that is left", 0},
};

static const param_section part = PARAM_PART("solver", "schwarz", solver_settings, own);
_Static_assert(sizeof(schwarz_keys) <= sizeof(((solver_settings *)0)->own), "no room for the keys of schwarz");

const solver_type solver_schwarz = {
    .name = "schwarz",
    .help =
        "minimal residuals inside blocks of sites (Schwarz, domain decomposition), additive (also with overlap) or by "
        "two colours; a preconditioner alone; GCR-DD inside gcr",
    .keys = "inner_precision",
    .own = &part,
    .model = {.part = 0.15, .least = 5, .work = 8, .exchanges = 0.5},
    .blocks = 1,
    .check = check,
    .fits = fits,
    .precondition = precondition};
