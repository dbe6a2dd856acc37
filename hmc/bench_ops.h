/* What plaq bench runs: operations on fields of one lattice, precision and place. Adding one is a line of the table in
 * bench_ops.c and a function. */
#ifndef PLAQ_BENCH_OPS_H
#define PLAQ_BENCH_OPS_H

#include "kernels/lattice/field.h"
#include "operators/staggered.h"
#include "operators/wilson.h"

/* Groups of fields that operations need: of Wilson quarks, of one parity and in the precision that is measured; for
 * kernels that come in double only; vectors and links of staggered quarks; and what their links are made of. */
enum { BENCH_WILSON = 1, BENCH_DOUBLE = 2, BENCH_STAGGERED = 4, BENCH_PATHS = 8 };

/* The fields that operations work on; null where no operation that is run needs them. */
typedef struct {
    const lattice *lat;
    precision prec;
    place where;
    int link_reals, rhs;
    field *links, *x, *y, *z; /* x, z of even, y of odd sites */
    field *clover;
    field *links_double; /* always there */
    field *spinor, *tensor, *momenta, *more;
    wilson *w;
    linop *schur, *normal;
    field *sx, *sy;
    staggered_links *asqtad, *naive, *hisq;
    staggered_links *asqtad_13, *asqtad_9; /* with long links of so many reals */
    staggered *quark;
    field *vx, *vy, *vz;      /* as x, y, z */
    field *one, *two, *three; /* links */
    field *poles;             /* vectors */
    long iterations;          /* of a solver's last call */
} bench;

typedef struct {
    const char *name, *group;
    int all_precisions; /* or double only */
    int has_links;      /* is worth running with links of 12 reals too */
    int passes;         /* times that a call, or an iteration of a solver, goes through its working set */
    int needs;          /* groups of fields */
    void (*run)(bench *b);
    int one_rhs; /* takes one right-hand side */
} bench_op;

/* The operations, null after the last. */
const bench_op *bench_op_number(int i);
int bench_op_has(const bench_op *o, precision prec);

/* Makes the fields of b, whose first five members are set, as far as they are needed. Improved staggered quarks need a
 * lattice with a reach of 3. Collective. */
void bench_open(bench *b, int needs);
void bench_close(bench *b);

#endif
