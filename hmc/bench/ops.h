/* Operations of plaq bench, on fields of one lattice, precision and place. A new one is a function and a line of the table
 * in an ops_*.c here. */
#ifndef PLAQ_BENCH_OPS_H
#define PLAQ_BENCH_OPS_H

#include "kernels/field/field.h"
#include "operators/coarse.h"
#include "operators/mobius.h"
#include "operators/staggered.h"
#include "operators/wilson.h"

/* Groups of fields that operations need: of Wilson quarks, of one parity and in the precision that is measured; for
 * kernels that come in double only; vectors and links of staggered quarks; what their links are made of; and columns of a quark
 * with their densities. */
enum {
    BENCH_WILSON = 1,
    BENCH_DOUBLE = 2,
    BENCH_STAGGERED = 4,
    BENCH_PATHS = 8,
    BENCH_WALL = 16,
    BENCH_COARSE = 32,
    BENCH_COLUMNS = 64,
    BENCH_DOUBLET = 128
};

#define BENCH_MOST_RHS 64 /* right-hand sides */
#define BENCH_SUMS (2 * BENCH_MOST_RHS)

/* The fields that operations work on; null where no operation that is run needs them. */
typedef struct {
    const lattice *lat;
    precision prec;
    place where;
    int link_reals, rhs;
    field *links, *x, *y, *z; /* x, z of even, y of odd sites */
    field *clover;
    field *links_double; /* always there */
    field *converted;    /* copy of a spinor in double precision, or in single where x is in double */
    /* Fields in double precision, of both parities; other_links and force change. */
    field *spinor, *more, *tensor, *momenta, *force, *whole_clover, *inverse, *mu_inverse, *other_links;
    wilson *w;
    linop *schur, *normal;
    field *sx, *sy;
    staggered_links *asqtad, *naive, *hisq;
    staggered_links *asqtad_13, *asqtad_9; /* long links stored as so many reals */
    staggered *quark;
    field *vx, *vy, *vz;      /* vectors: vx, vz of even, vy of odd sites */
    field *vectors, *shifted; /* vectors in double precision, of both parities */
    field *one, *two, *three; /* links */
    field *poles;             /* vectors */
    field *phases;            /* phases of links */
    field *rotation, *path;   /* colour matrices: a gauge transformation, and a path */
    fermion *wall;            /* a domain wall quark, and vectors of its even-odd system */
    field *dx, *dy;
    fermion *doublet; /* a non-degenerate doublet, and vectors of its even-odd system */
    field *ux, *uy;
    coarse *coarse, *coarser, *heavier; /* coarse operators of w, the level below, a heavier w; single at most */
    field *fx, *cx, *cy, *px, *py, *c1; /* a fine vector; coarse ones, whole and of the system; one right-hand side */
    field *tx, *ty;          /* coarse ones of the system, of as many right-hand sides as tensor cores take */
    field *columns, *triple; /* columns of a source, with spins and without */
    field *density, *inner;  /* densities of 16 channels and of one */
    long iterations;         /* iterations of the last solve */
    double sums[BENCH_SUMS]; /* results of reductions */
} bench;

typedef struct {
    const char *name, *group;
    int all_precisions; /* or double only */
    int has_links;      /* is worth running with links of 12 reals too */
    int passes;         /* times that a call, or an iteration of a solver, goes through its working set */
    int needs;          /* groups of fields */
    void (*run)(bench *b);
    int limits; /* see below */
} bench_op;

/* Limits: it takes one right-hand side; it works on the box of each rank, so that numbers depend on the process grid. */
enum { BENCH_ONE_RHS = 1, BENCH_BY_RANK = 2 };

#define BENCH_MASS 0.1
#define BENCH_C_SW 1.0
#define BENCH_SLICES 12
#define BENCH_POLES 8 /* poles of a rational function */

/* Tables of operations by what they work on; the last entry of each is null. */
extern const bench_op bench_ops_wilson[], bench_ops_gauge[], bench_ops_staggered[], bench_ops_domainwall[],
    bench_ops_coarse[], bench_ops_measure[];
/* The operations, null after the last. */
const bench_op *bench_op_number(int i);
int bench_op_has(const bench_op *o, precision prec);
/* Sites that it reaches to: more for links of three in a row. */
#define BENCH_REACH 2
int bench_op_reach(const bench_op *o);
/* True if a kernel packs halos, which measurements leave out. */
int bench_is_packing(int kernel);

/* Makes the fields of b, whose first five members are set, as far as they are needed. Improved staggered quarks need a
 * lattice with a reach of 3. Collective. */
void bench_open(bench *b, int needs);
void bench_open_coarse(bench *b);
void bench_close_coarse(bench *b);
/* Bytes of a rank that its fields take at least, on a lattice that may be planned. */
size_t bench_bytes(const bench *b, int needs);
void bench_close(bench *b);
/* The fields that there are, whatever operations are for; how many. */
#define BENCH_FIELDS 40
int bench_fields(const bench *b, field *fields[BENCH_FIELDS]);

/* CG on op x = source for a few iterations, all in the precision of the fields. */
void bench_cg(bench *b, linop *op, field *x, const field *source);
/* Op x = source to 1e-14, in double precision with half inside. */
void bench_solve_with_half(bench *b, linop *op, field *x, const field *source);
/* (op + shift) x = source with shifts like those of a rational function, from a thousandth of the operator's size to
 * all of it: each to 1e-8, from a Krylov space in single precision. */
void bench_solve_shifts(bench *b, linop *op, const field *source);

#endif
