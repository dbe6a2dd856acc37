#include "hmc/measure/low_modes.h"

#include <stdlib.h>

#include "kernels/base/error.h"
#include "kernels/ops/domainwall.h"
#include "kernels/ops/vector.h"
#include "solvers/block_matrix.h"

enum { WIDTH = 16 }; /* vectors of a block, at most */

struct low_modes {
    int n, nblocks;
    field **blocks;
};

/* Applies G: to = G from. */
static void conjugate(field *to, const field *from, int spins)
{
    if (spins == 4) {
        domainwall_gamma_5(to, from);
        return;
    }
    vector_copy(to, from);
    field odd = field_part(to, PARITY_ODD);
    vector_axpby(&odd, -1, &odd, 0);
    field_written(to);
}

static field *columns(const fermion *f, int n)
{
    field *one = fermion_physical(f);
    field_shape shape = field_shape_of(one);
    shape.nrhs = n;
    field *all = field_create_shape(one->lat, &shape, one->prec, one->par, one->where);
    field_destroy(one);
    return all;
}

/* Orthonormalises a block, also against the blocks before. Columns that depend on others are dropped. */
static int orthonormalise(low_modes *l, field **block)
{
    field *work = field_like(*block);
    for (int pass = 0; pass < 2; pass++) low_modes_project(l, *block);
    block_matrix *C = block_qr(block, &work, NULL);
    field_destroy(work);
    block_free(C);
    return C != NULL;
}

low_modes *low_modes_create(const eigen_pairs *e, int modes, fermion *f)
{
    low_modes *l = calloc(1, sizeof *l);
    field *v = linop_vector(f->normal, 1), *x = fermion_vector(f), *none = fermion_vector(f), *w = fermion_physical(f),
          *Gw = fermion_physical(f);
    const int each = f->direct ? 1 : 2, step = WIDTH / each;
    REQUIRE_MEMORY(l, "out of memory");
    l->blocks = calloc((size_t)(modes / step + 1), sizeof *l->blocks);
    REQUIRE_MEMORY(l->blocks, "out of memory");
    for (int first = 0; first < modes; first += step) {
        const int n = modes - first < step ? modes - first : step;
        field *block = columns(f, each * n);
        for (int k = 0; k < n; k++) {
            const int number = first + k;
            const field pair = field_rhs(e->blocks[number / e->block], number % e->block);
            vector_axpby(v, 1, &pair, 0);
            fermion_reconstruct(f, fermion_has_walls(f) ? x : w, v, none);
            if (fermion_has_walls(f)) fermion_export(f, w, x);
            conjugate(Gw, w, w->reals / 6);
            field row = field_rhs(block, each * k);
            vector_axpby(&row, 1, Gw, 0);
            if (each == 1) continue;
            row = field_rhs(block, each * k + 1);
            vector_axpby(&row, 1, w, 0);
        }
        field_written(block);
        REQUIRE(orthonormalise(l, &block), "eigenvectors are no numbers");
        l->n += block->nrhs;
        l->blocks[l->nblocks++] = block;
    }
    field *const all[] = {v, w, none, Gw, x};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
    return l;
}

/* Eigenvectors in the propagator of the columns of one block. */
static field *propagate(const field *block, const eigen_pairs *e, int modes, fermion *f)
{
    const int walls = fermion_has_walls(f), n = block->nrhs;
    field *to = field_like(block), *b = linop_vector(f->normal, n), *y = linop_vector(f->normal, n),
          *one = linop_vector(f->normal, 1), *x = fermion_vector(f), *none = fermion_vector(f),
          *w = fermion_physical(f);
    for (int k = 0; k < n; k++) {
        const field vector = field_rhs(block, k);
        field row = field_rhs(b, k);
        if (walls) fermion_import(f, x, &vector);
        else vector_axpby(x, 1, &vector, 0);
        fermion_prepare(f, one, x, 1);
        vector_axpby(&row, 1, one, 0);
    }
    field_written(b);
    eigen_deflate(e, modes, f->normal, 0, y, b);
    for (int k = 0; k < n; k++) {
        const field half = field_rhs(y, k);
        field row = field_rhs(to, k);
        vector_axpby(one, 1, &half, 0);
        fermion_reconstruct(f, x, one, none);
        if (walls) fermion_export(f, w, x);
        vector_axpby(&row, 1, walls ? w : x, 0);
    }
    field_written(to);
    field *const all[] = {b, y, one, x, none, w};
    for (int i = 0; i < 6; i++) field_destroy(all[i]);
    return to;
}

field **low_modes_propagate(const low_modes *l, const eigen_pairs *e, int modes, fermion *f)
{
    field **to = calloc((size_t)l->nblocks, sizeof *to);
    REQUIRE_MEMORY(to, "out of memory");
    REQUIRE(f->direct, "low modes of %s quarks", f->table->name);
    for (int k = 0; k < l->nblocks; k++) to[k] = propagate(l->blocks[k], e, modes, f);
    return to;
}

void low_modes_free(low_modes *l)
{
    if (!l) return;
    for (int k = 0; k < l->nblocks; k++) field_destroy(l->blocks[k]);
    free(l->blocks);
    free(l);
}

int low_modes_count(const low_modes *l)
{
    return l->n;
}

int low_modes_blocks(const low_modes *l)
{
    return l->nblocks;
}

const field *low_modes_block(const low_modes *l, int i)
{
    return l->blocks[i];
}

field low_modes_vector(const low_modes *l, int k)
{
    int block = 0;
    for (; k >= l->blocks[block]->nrhs; block++) k -= l->blocks[block]->nrhs;
    return field_rhs(l->blocks[block], k);
}

void low_modes_project(const low_modes *l, field *x)
{
    for (int k = 0; k < l->nblocks; k++) {
        block_matrix *c = block_dot(l->blocks[k], x, 0);
        block_axpy(x, -1, c, l->blocks[k], 1, x);
        block_free(c);
    }
}
