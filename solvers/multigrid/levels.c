/* Levels of multigrid: work vectors, coarse lattices, and the quarks that share a set-up. */
#include "solvers/multigrid/multigrid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/mr.h"

static field **vectors_like(const linop *op, int n, int columns)
{
    field **v = calloc((size_t)n, sizeof *v);
    REQUIRE_MEMORY(v, "out of memory");
    for (int k = 0; k < n; k++) v[k] = linop_vector(op, columns);
    return v;
}

static void vectors_destroy(field **v, int n)
{
    for (int k = 0; k < n && v; k++) field_destroy(v[k]);
    free(v);
}

static int has_second_cycle(const multigrid *m, int level)
{
    return level > 0 && m->levels[level].below && m->visits > 1;
}

/* Work vectors and solvers of a level. */
static void open_work(multigrid *m, int level, int columns)
{
    multigrid_level *l = &m->levels[level];
    field **const work[] = {&l->b, &l->x, &l->r, &l->q, &l->left, &l->again};
    for (int i = 0; i < (has_second_cycle(m, level) ? 6 : 4); i++) *work[i] = linop_vector(l->op, columns);
    if (level > 0) l->solver = multigrid_level_solver(m, level);
    if (!l->below) return;
    l->whole_b = coarse_vector(l->below, columns);
    l->whole_x = coarse_vector(l->below, columns);
}

static void close_work(multigrid_level *l)
{
    field **const work[] = {&l->b, &l->x, &l->r, &l->q, &l->left, &l->again, &l->whole_b, &l->whole_x};
    for (int i = 0; i < 8; i++) {
        field_destroy(*work[i]);
        *work[i] = NULL;
    }
    solver_destroy(l->solver);
    l->solver = NULL;
}

void multigrid_reserve(multigrid *m, int columns)
{
    if (m->columns == columns) return;
    for (int i = 0; i < m->n; i++) close_work(&m->levels[i]);
    for (int i = 0; i < m->n; i++) open_work(m, i, columns);
    m->columns = columns;
}

static solver *minimal_residuals(const multigrid *m, linop *op)
{
    solver_settings s = {.type = param_kind(solver_section(0), "mr")};
    *mr_keys_of(&s) = (mr_keys){.steps = 1, .relaxation = m->keys.relaxation};
    return solver_create(&s, op);
}

static void open_level(multigrid *m, int level)
{
    multigrid_level *l = &m->levels[level];
    if (!l->below) return;
    l->smoother = minimal_residuals(m, l->op);
    if (m->owner != m) return;
    l->nvectors = m->keys.vectors[level];
    l->vectors = vectors_like(l->op, l->nvectors, 1);
}

static void close_level(multigrid_level *l)
{
    close_work(l);
    solver_destroy(l->smoother);
    vectors_destroy(l->vectors, l->nvectors);
}

int multigrid_level_settings(const multigrid_keys *k, const lattice *lat, int level, coarse_settings *s)
{
    int box[4];
    lattice_box(lat, box);
    memcpy(s->block, k->block[level], sizeof s->block);
    s->vectors = k->vectors[level];
    s->half_links = k->half_links;
    s->ranks = k->ranks[level];
    s->mu_factor = 0;
    return level < k->levels - 1 && (s->block[0] > 0 || multigrid_choose_block(lat->size, box, level == 0, s->block));
}

void multigrid_below(lattice *at, const coarse_settings *s)
{
    int grid[4];
    coarse_grid(at, s, grid);
    for (int d = 0; d < 4; d++) {
        at->size[d] /= s->block[d];
        at->grid[d] = grid[d];
    }
}

/* The lattice below a level: null where there is none. */
static coarse *open_below(const multigrid *m, int level, linop *op)
{
    coarse_settings set;
    if (m->owner != m) {
        const coarse *from = m->owner->levels[level].below;
        return from ? coarse_create_shifted(op, from) : NULL;
    }
    if (!multigrid_level_settings(&m->keys, op->lat, level, &set)) return NULL;
    coarse_settings next;
    lattice at = *op->lat;
    multigrid_below(&at, &set);
    if (!multigrid_level_settings(&m->keys, &at, level + 1, &next)) set.mu_factor = m->keys.mu_factor;
    return coarse_create(op, &set);
}

static void open_levels(multigrid *m)
{
    linop *op = m->levels[0].op;
    linop_refresh(op);
    for (;; m->n++) {
        multigrid_level *l = &m->levels[m->n];
        l->op = op;
        l->below = open_below(m, m->n, op);
        if (l->below && m->keys.tensor_cores) coarse_use_products(l->below, COARSE_TENSOR_CORES);
        open_level(m, m->n);
        if (!l->below) break;
        op = coarse_system(l->below);
    }
    m->n++;
}

/* True if m could have the set-up of `other`, whose M is that of m with the shift *by. Partners always can. */
static int could_share(const multigrid *m, const multigrid *other, operator_shift *by)
{
    linop *op = m->levels[0].op;
    const linop *from = other->levels[0].op;
    const coarsening *how = op->coarsening;
    const int shares = m->keys.share_setup || (how->partner && how->partner(op) == from);
    return m->follows && other->follows && shares && !memcmp(&m->keys, &other->keys, sizeof m->keys) && how->shifted &&
           how->shifted(from, op, by);
}

static double size_of_twist(const multigrid *m)
{
    const linop *op = m->levels[0].op;
    return fabs(op->coarsening->twist(op));
}

/* The lightest of those that m could share a set-up with, by mass and twisted mass; of the same masses, that which has a
 * set-up. */
static multigrid *lightest(multigrid *m)
{
    multigrid *best = m;
    operator_shift by;
    double least = 0, least_twist = size_of_twist(m);
    for (multigrid *other = m->family ? *m->family : NULL; other; other = other->next) {
        if (other == m || !could_share(m, other, &by)) continue;
        const double twist = size_of_twist(other);
        const int same = by.number == least && twist == least_twist;
        if (by.number < least || (by.number == least && twist < least_twist) ||
            (same && other->owner && !best->owner)) {
            least = by.number;
            least_twist = twist;
            best = other;
        }
    }
    if (best != m) multigrid_open(best);
    return best == m ? m : best->owner;
}

void multigrid_open(multigrid *m)
{
    if (m->owner) return;
    multigrid *owner = lightest(m);
    m->owner = owner;
    if (owner != m) {
        const linop *op = m->levels[0].op;
        op->coarsening->shifted(op, owner->levels[0].op, &m->shift);
        m->next_sharer = owner->next_sharer;
        owner->next_sharer = m;
    }
    open_levels(m);
}

multigrid *multigrid_levels(const solver_settings *s, linop *op)
{
    const multigrid_keys k = *multigrid_keys_of(s);
    multigrid **family = s->family ? &s->family->multigrids : NULL, *m = family ? *family : NULL;
    while (m && (m->levels[0].op != op || m->follows != s->follows || memcmp(&m->keys, &k, sizeof k))) m = m->next;
    if (!m) {
        m = calloc(1, sizeof *m);
        REQUIRE_MEMORY(m, "out of memory");
        m->keys = k;
        m->visits = k.cycle == CYCLE_V ? 1 : k.cycle == CYCLE_W ? 2 : 0;
        m->follows = s->follows;
        m->levels[0].op = op;
        m->family = family;
        m->next = family ? *family : NULL;
        if (family) *family = m;
    }
    m->users++;
    return m;
}

static void free_if_unused(multigrid *m)
{
    multigrid **at = m->family, *owner = m->owner;
    if (m->users > 0 || (owner == m && m->next_sharer)) return;
    while (at && *at != m) at = &(*at)->next;
    if (at) *at = m->next;
    for (int i = m->n - 1; i >= 0; i--) close_level(&m->levels[i]);
    for (int i = m->n - 1; i >= 0; i--) coarse_destroy(m->levels[i].below);
    if (owner && owner != m) {
        for (at = &owner->next_sharer; *at != m;) at = &(*at)->next_sharer;
        *at = m->next_sharer;
        free_if_unused(owner);
    }
    free(m);
}

void multigrid_release(multigrid *m)
{
    m->users--;
    free_if_unused(m);
}
