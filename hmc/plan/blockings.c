#include "hmc/plan/blockings.h"

#include <stdio.h>
#include <string.h>

#include "hmc/assemble/memory.h"
#include "hmc/quarks/quark.h"
#include "hmc/tell/text.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "solvers/multigrid/multigrid.h"

#define SHOWN 5 /* blockings shown of each level */

/* A solver, and the level that is looked at: the lattice with its extents, and components of a site. */
typedef struct {
    const named_settings *solver;
    const quark_params *quark;
    const lattice *lat;
    place where;
    int rhs, as_json, level, components;
    lattice at;
    coarse_settings own; /* settings of the input */
} levels;

/* The solver with these aggregates on this level; levels below choose theirs where it is not the input's. */
static size_t memory_with(const levels *l, const int block[4], int is_own)
{
    solver_settings s = l->solver->p;
    multigrid_keys *k = multigrid_keys_of(&s);
    for (int i = l->level + 1; i < MULTIGRID_LEVELS - 1 && !is_own; i++) memset(k->block[i], 0, sizeof k->block[i]);
    memcpy(k->block[l->level], block, sizeof k->block[l->level]);
    char message[512];
    const solver_type *type = solver_type_of(&s);
    /* Levels below may choose what does not fit: then there are fewer of them. */
    while (type->fits(&s, l->lat, message, sizeof message) && k->levels > l->level + 2) k->levels--;
    return type->fits(&s, l->lat, message, sizeof message) ? 0
                                                           : memory_of_solver(l->quark, &s, l->rhs, l->lat, l->where);
}

static int ranks_of(const lattice *lat)
{
    return lat->grid[0] * lat->grid[1] * lat->grid[2] * lat->grid[3];
}

static void tell(const levels *l, const int b[4], int is_own)
{
    static const char *const keys[] = {"block", "block_2", "block_3"};
    const size_t bytes = memory_with(l, b, is_own);
    coarse_settings with = l->own;
    lattice below = l->at;
    char text[32], on[64] = "";
    memcpy(with.block, b, sizeof with.block);
    multigrid_below(&below, &with);
    const int *size = below.size, ranks = ranks_of(&below);
    if (ranks < ranks_of(l->lat)) snprintf(on, sizeof on, " on %d of %d ranks", ranks, ranks_of(l->lat));
    log_info("[solver.%s] %s = %d.%d.%d.%d: %d.%d.%d.%d coarse sites%s, memory %s per rank%s", l->solver->name,
             keys[l->level], b[0], b[1], b[2], b[3], size[0], size[1], size[2], size[3], on,
             text_bytes((double)bytes, text), is_own ? "  (this input)" : "");
    if (!l->as_json || comm_rank() != 0) return;
    json j = json_begin(stdout);
    json_string(&j, "solver", l->solver->name);
    json_string(&j, "key", keys[l->level]);
    json_int_array(&j, "lattice", l->at.size, 4);
    json_int_array(&j, "block", b, 4);
    json_int_array(&j, "coarse", size, 4);
    json_int(&j, "ranks", ranks);
    json_int(&j, "vectors", l->own.vectors);
    json_int(&j, "right_hand_sides", l->rhs);
    json_int(&j, "memory", (int64_t)bytes);
    json_bool(&j, "input", is_own);
    json_end(&j);
}

static int same(const int a[4], const int b[4])
{
    return !memcmp(a, b, 4 * sizeof *a);
}

/* Describes a level. True if the input's aggregates are legal, so that there is a level below. */
static int describe_level(const levels *l)
{
    int blocks[SHOWN][4], there = 0;
    char message[512];
    const int n = multigrid_blockings(&l->at, l->components, l->own.vectors, l->level == 0, blocks, SHOWN),
              legal = coarse_fits(&l->at, l->components, &l->own, message, sizeof message);
    for (int i = 0; i < n; i++) there = there || same(blocks[i], l->own.block);
    if (legal && !there) tell(l, l->own.block, 1);
    for (int i = 0; i < n; i++) tell(l, blocks[i], legal && same(blocks[i], l->own.block));
    if (n == 0)
        log_info("[solver.%s] level %d: the lattice has no aggregates on these ranks", l->solver->name, l->level + 1);
    return legal;
}

static void describe_solver(levels *l)
{
    const multigrid_keys *k = multigrid_keys_of(&l->solver->p);
    l->at = *l->lat;
    l->components = 12;
    for (l->level = 0; multigrid_level_settings(k, &l->at, l->level, &l->own); l->level++) {
        if (!describe_level(l)) return;
        l->components = 2 * l->own.vectors;
        multigrid_below(&l->at, &l->own);
    }
}

/* The first quark that has coarse lattices; or null. */
static const quark_params *quark_of(const parameters *p)
{
    for (int i = 0; i < p->nquarks; i++)
        if (quark_kind_of(&p->quarks[i].p)->coarsens) return &p->quarks[i].p;
    return NULL;
}

void blockings_describe(const parameters *p, const lattice *lat, place where, int together, int as_json)
{
    const quark_params *quark = quark_of(p);
    for (int i = 0; i < p->nsolvers && quark; i++) {
        const solver_type *type = solver_type_of(&p->solvers[i].p);
        if (!type->coarsens) continue;
        levels l = {.solver = &p->solvers[i], .quark = quark, .lat = lat, .where = where, .as_json = as_json};
        l.rhs = together ? type->block_size(&p->solvers[i].p) : 1;
        describe_solver(&l);
    }
}
