/* The set-up of multigrid: null vectors and coarse operators, level by level.
 *
 * Null vectors of the finest level begin as random numbers and are relaxed: v becomes v - (A^-1 A v), the inverse by a few
 * iterations of BiCGStab. Those of a lower level begin as P^dagger of the ones above, and random numbers where there are
 * more. A refinement puts the cycle that there is on the null vectors of the finest level, and makes all again (A. Frommer
 * et al., arXiv:1303.1377, section 3). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"
#include "solvers/bicgstab.h"
#include "solvers/multigrid/multigrid.h"

/* An extent of 4 or less that divides the box and leaves an even number of coarse sites; 1 where the lattice is to stay as
 * it is. */
static int choose_extent(int size, int box, int most)
{
    for (int b = most; b > 1; b--)
        if (box % b == 0 && size / b % 2 == 0) return b;
    for (int b = 7; b > most; b -= 2)
        if (box % b == 0 && size / b % 2 == 0) return b;
    return 1;
}

int multigrid_choose_block(const int size[4], const int box[4], int first, int block[4])
{
    int sites = 1;
    for (int d = 0; d < 4; d++) {
        block[d] = choose_extent(size[d], box[d], first ? 4 : 2);
        sites *= block[d];
    }
    return sites >= 4;
}

static void normalise(field *v)
{
    const double v2 = vector_norm2(v, 0);
    if (v2 > 0) vector_axpby(v, 1 / sqrt(v2), v, 0);
}

static void set_random(field *v, int level, int k)
{
    const field_shape shape = field_shape_of(v);
    field *numbers = field_create_shape(v->lat, &shape, PREC_DOUBLE, v->par, v->where);
    vector_random(numbers, 0, RANDOM_NULL, (uint32_t)(level * 1024 + k));
    vector_copy(v, numbers);
    field_destroy(numbers);
}

/* ---- relaxation ---- */

static solver *relaxer(linop *op, int iterations)
{
    solver_settings s = {.tolerance = 1e-6, .max_iterations = iterations, .delta = 1e-2};
    s.type = param_kind(solver_section(0), "bicgstab");
    s.inner_precision = op->prec;
    bicgstab_keys_of(&s)->l = 2;
    return solver_create(&s, op);
}

static void relax(solver *by, field *v, field *b, field *e)
{
    linop_apply(by->a, b, v, 0);
    field_clear(e);
    solver_run(by, e, b, NULL);
    const double before = vector_norm2(v, 0), after = vector_axpy_norm2(v, -1, e, 0);
    if (!(after > 0) || !(after < 1e6 * before)) vector_axpby(v, 1, e, 1); /* a correction that broke down is undone */
    normalise(v);
}

int multigrid_given_up(const multigrid *m)
{
    return solver_interrupted(m->levels[0].op->lat);
}

static void relax_all(multigrid *m, int level, int iterations)
{
    multigrid_level *l = &m->levels[level];
    solver *by = relaxer(l->op, iterations);
    for (int k = 0; k < l->nvectors && !multigrid_given_up(m); k++) relax(by, l->vectors[k], l->b, l->x);
    solver_destroy(by);
}

/* ---- levels ---- */

/* The operator below a level, from the null vectors of that. */
static void build(multigrid *m, int level)
{
    multigrid_level *l = &m->levels[level];
    for (int k = 0; k < l->nvectors; k++) coarse_set_vector(l->below, k, l->vectors[k]);
    m->dependent += coarse_build(l->below);
}

/* The null vectors of a lower level before they are relaxed. */
static void descend(multigrid *m, int level)
{
    multigrid_level *above = &m->levels[level - 1], *l = &m->levels[level];
    for (int k = 0; k < l->nvectors; k++) {
        if (k >= above->nvectors) {
            set_random(l->vectors[k], level, k);
            continue;
        }
        coarse_project(above->below, above->whole_b, above->vectors[k]);
        const field part = field_part(above->whole_b, PARITY_EVEN);
        vector_copy(l->vectors[k], &part);
        normalise(l->vectors[k]);
    }
}

static void build_all(multigrid *m)
{
    m->dependent = 0;
    for (int level = 0; level < m->n - 1 && !multigrid_given_up(m); level++) {
        if (level > 0) {
            descend(m, level);
            relax_all(m, level, m->keys.coarse_setup_iterations);
        }
        build(m, level);
    }
    /* Ranks without sites of a lattice do not count its dependent null vectors. */
    const lattice *lat = m->levels[0].op->lat;
    if (!lat->planned) comm_group_max(lat->group, &m->dependent, 1);
}

/* v = K v for as many null vectors at once as are solved together. */
static void refine(multigrid *m)
{
    multigrid_level *l = &m->levels[0];
    char going[SOLVER_BLOCK_MOST];
    memset(going, 1, sizeof going);
    for (int first = 0, n; first < l->nvectors; first += n) {
        n = l->nvectors - first < m->keys.right_hand_sides ? l->nvectors - first : m->keys.right_hand_sides;
        multigrid_reserve(m, n);
        for (int k = 0; k < n; k++) {
            field part = field_rhs(l->b, k);
            vector_axpby(&part, 1, l->vectors[first + k], 0);
        }
        field_written(l->b);
        multigrid_cycle(m, 0, NULL, going, l->x, l->b);
        for (int k = 0; k < n; k++) {
            const field part = field_rhs(l->x, k);
            vector_axpby(l->vectors[first + k], 1, &part, 0);
            normalise(l->vectors[first + k]);
        }
    }
    multigrid_reserve(m, 1);
}

static void tell(const multigrid *m, const char *what, double start)
{
    log_info("multigrid: %s of %d levels in %.2f s", what, m->n, comm_wtime() - start);
    if (m->dependent > 0)
        log_info("multigrid: %.0f null vectors depend on others, so that this set-up cannot serve", m->dependent);
}

void multigrid_take(multigrid *m)
{
    for (int level = 0; level < m->n - 1; level++) coarse_build_shifted(m->levels[level].below, &m->shift);
    m->setup_taken = m->owner->number;
}

void multigrid_refresh(multigrid *m)
{
    const double start = comm_wtime();
    multigrid_reserve(m, 1);
    relax_all(m, 0, m->keys.refresh_iterations);
    build_all(m);
    if (multigrid_given_up(m)) return;
    m->number++;
    tell(m, "refresh", start);
}

void multigrid_setup(multigrid *m)
{
    const double start = comm_wtime();
    multigrid_level *l = &m->levels[0];
    multigrid_reserve(m, 1);
    for (int k = 0; k < l->nvectors; k++) set_random(l->vectors[k], 0, k);
    relax_all(m, 0, m->keys.setup_iterations);
    build_all(m);
    for (int i = 0; i < m->keys.refinements && !(m->dependent > 0) && !multigrid_given_up(m); i++) {
        refine(m);
        build_all(m);
    }
    if (multigrid_given_up(m)) return;
    m->number++;
    tell(m, "set-up", start);
}
