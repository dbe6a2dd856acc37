/* Operators inside blocks of sites (linop_local()): what those share that are made of links, and an operator on extended
 * blocks restricted to the blocks' own sites. */
#ifndef PLAQ_LOCAL_H
#define PLAQ_LOCAL_H

#include "operators/linop.h"

/* The base of `op` inside blocks that there are: with blocks, extended ones where they overlap, and their lattice. */
linop local_base(const linop *op, const block_shape *s);
void local_close(linop *local);
/* Brings a field of the whole lattice to the extended blocks; *to is made where it is null, `from` may be. Collective. */
void local_gather(const linop *local, field **to, const field *from);

/* R A R^T with A the operator inside blocks of this overlap, and R what keeps the sites of each block that are its own.
 * Its vectors are those of `op`. Null, with the reason in `message`, where there is no such A. */
linop *local_restricted(linop *op, const block_shape *s, char *message, size_t bytes);

#endif
