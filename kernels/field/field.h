/* Fields: numbers on the sites of a lattice.
 *
 * A field has a shape, a precision, a parity (one, or both) and a place. It is passed whole; kernels get views. Asking
 * for a view to write raises the version, from which derived fields see that they are out of date. Memory comes from the
 * pool (kernels/base/pool.h); a field on a planned lattice (kernels/lattice/plan.h) has none.
 *
 * The shape: the kind, right-hand sides, slices of a fifth dimension in each (slice s of right-hand side r is group
 * r Ls + s), spins and colours, and the order of storage. ORDER_SITES is that of view.h: sites in lanes, or in blocks of
 * 32. ORDER_ROWS is [group][site][component]: all components of a site stand together, in floating point or matrices in half precision too, with one lane
 * on the host, too; coarse vectors, whose 2 x colours components are known at run time alone, are stored like that.
 *
 * Kind               groups  reals  meaning
 * FIELD_SPINOR       nrhs Ls 24     colour spinor [spin][colour][re, im], DeGrand-Rossi basis
 * FIELD_VECTOR       nrhs Ls 6      colour vector of staggered quarks [colour][re, im]
 * FIELD_COARSE       nrhs Ls        coarse vector [spin][colour][re, im] of 2 spins colours reals, in rows order; spins
 *                                   times colours is even and at most 128
 * FIELD_MATRICES     nrhs           spins colours x columns complex numbers a site, in rows order: null vectors, coarse
 *                                   links and what a site has beside them (kernels/family/coarse.h); nrhs: one a direction
 * FIELD_LINKS        4       18     U_mu(x) [row][column][re, im], with ghosts
 * FIELD_LINKS_TWO_ROWS 4     12     the first two rows
 * FIELD_LINKS_EIGHT  4       8      phases of U00 and U20 over pi, then U01, U02, U10 (re, im); loses accuracy as
 *                                   |U01|^2 + |U02|^2 goes to zero, and cannot hold the unit matrix
 * FIELD_PHASES       4       1      phase of det U_mu(x) over pi: with two rows, or eight reals, a link in U(3)
 * FIELD_MOMENTA      4       8      traceless anti-Hermitian: X00/i, X11/i, X01, X02, X12 (re, im)
 * FIELD_CLOVER       2       36     Hermitian 6x6 a chirality: diagonal, then lower triangle by rows (re, im)
 * FIELD_COLOUR_MATRIX 1      18     3x3 matrix a site [row][column][re, im]: a gauge transformation; ghosts
 * FIELD_DENSITY      nrhs    2      complex number (re, im) a channel, a right-hand side each: densities of contractions
 * FIELD_TENSOR       6       9      anti-Hermitian a plane (xy xz xt yz yt zt): X00/i, X11/i, X22/i, X01, X02, X12;
 * ghosts */
#ifndef PLAQ_FIELD_H
#define PLAQ_FIELD_H

#include <stddef.h>

#include "kernels/base/device.h"
#include "kernels/field/stored.h"
#include "kernels/lattice/lattice.h"

typedef enum { PARITY_EVEN, PARITY_ODD, PARITY_BOTH } parity;

typedef enum {
#define FIELD_KIND(id, ...) id,
#include "kernels/field/fields.def"
#undef FIELD_KIND
    FIELD_KINDS
} field_kind;

typedef enum { ORDER_SITES, ORDER_ROWS } storage_order;

typedef struct {
    field_kind kind;
    int nrhs, Ls;        /* right-hand sides, and slices of a fifth dimension in each: one but for vectors */
    int spins, colours;  /* rows order alone; zero for kinds with the components of fields.def */
    int columns;         /* FIELD_MATRICES alone; else zero */
    storage_order order; /* ORDER_ROWS for FIELD_COARSE and FIELD_MATRICES, ORDER_SITES for others */
} field_shape;

typedef struct {
    const char *name;
    int groups, reals;
    int scaled; /* has a scale per site and group in fixed-point precisions */
    int ghosts;
    int apart; /* groups have storage stretches of their own on virtual nodes, see view.h */
} field_kind_info;

typedef struct field {
    const lattice *lat;
    const layout *lay;
    field_kind kind;
    precision prec;
    parity par;
    place where;
    int nrhs, Ls, spins, colours, columns; /* see field_shape */
    storage_order order;
    int groups, reals; /* reals: of a site, in one group */
    int scale_groups; /* groups among which scales are stored: of a view of some right-hand sides, those of the whole */
    long stride, group_stride; /* strides as in views; in rows order reals from a site, and from a group, to the next */
    size_t bytes, scale_bytes;
    void *data;
    float *scale;
    unsigned long version;
    unsigned long ghost_version; /* version that the ghosts belong to */
} field;

#ifdef __cplusplus
extern "C" {
#endif

extern const field_kind_info field_kinds[FIELD_KINDS];

/* A field, all zero. nrhs: right-hand sides of a spinor or colour vector, else 1. Collective where the kind has ghosts.
 */
field *field_create(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where);
/* Field of any shape, all zero. Kernels of four dimensions treat each group as a right-hand side. */
field *field_create_shape(const lattice *lat, const field_shape *shape, precision prec, parity par, place where);
/* The shape of a kind in four dimensions, of a field, and of coarse vectors of 2 x colours components. */
field_shape field_shape_of_kind(field_kind kind, int nrhs);
field_shape field_shape_of(const field *f);
field_shape field_shape_coarse(int colours, int nrhs);
/* Shape of `number` matrices a site, of spins x colours rows. */
field_shape field_shape_matrices(int spins, int colours, int columns, int number);
/* True if two fields have the same lattice, shape and place; parities and precisions may differ. */
int field_alike(const field *x, const field *y);
/* Like f in everything, contents aside: they are zero. */
field *field_like(const field *f);
/* Field like f with contents that are not defined, for results written whole before they are read. */
field *field_scratch(const field *f);
field *field_scratch_on(const field *f, parity par); /* parity par in place of f's */
void field_destroy(field *f);

/* "double", "single", "half", "quarter"; and the precision of such a name, which must be one of them. */
extern const char *const precision_names[PREC_COUNT];
precision precision_named(const char *name);

/* Views of one parity of f: to read, or to write (raises the version). */
view field_in(const field *f, parity p);
view field_out(field *f, parity p);
/* Raises the version of f, for code that writes into its storage by itself. */
void field_written(field *f);
/* View of all storage, ghosts as they are; kernels/ops/halo.h fills them. */
view field_all(const field *f);

/* Parity p of f as a field that shares its memory; it is not destroyed, and writing to it does not raise f's version. */
field field_part(const field *f, parity p);
/* Colour vectors of spinors in double precision as a field that shares their memory, as field_part() does: right-hand side 4 k + s is
 * spin s of group k. */
field field_colours(const field *f);
/* Right-hand side with its slices, n of them from the first on, or one group of vectors, as such a field, in any precision. */
field field_rhs(const field *f, int rhs);
field field_columns(const field *f, int first, int n);
field field_group(const field *f, int group);

/* y = x, converting precision, layout and place; same kind (links also into two-row and eight-real links and two-row
 * links into links), parity and groups. y and x may not be the same field. kernels/run/convert.c has both. */
void field_copy(field *y, const field *x);
/* y += a x, in double, of fields of one kind (no eight-real links), parity and place whose precisions may differ. */
void field_add(field *y, double a, const field *x);

/* Bytes that were copied between host and device so far. */
double field_copied_bytes(void);

/* Time slices of this rank that there are to export: none on a planned lattice, where field_export() leaves buf alone. */
int field_slices(const field *f);
/* Sites of the time slice t of this rank (0 <= t < local[3]) as doubles buf[z][y][x][group][real], from or into f. With
 * a field of one parity the other sites are left alone. */
void field_export(const field *f, int t, double *buf);
void field_import(field *f, int t, const double *buf);

/* Room for one such slice; free() it. */
double *field_slice_buffer(const field *f);

void field_clear(field *f);

/* Bytes that field_create() would take for one field. */
size_t field_bytes(const lattice *lat, field_kind kind, precision prec, parity par, int nrhs, place where);
/* Lanes that a field of this precision has on the host. */
int field_lanes(const lattice *lat, precision prec);
long field_units(const field *f); /* units (work items) of one parity */
/* Sites in the rows of one group, of the parities that a field in rows order has. */
long field_rows(const field *f);
/* Storage of the field's numbers, for conversions; not in rows order. */
stored_field field_stored(const field *f);
/* Bytes of a stored real. */
size_t field_real_bytes(const field *f);
/* Bytes of a stored real with its share of the scale. */
double field_traffic(const field *f);

/* The parity that a call on a whole field means first, and whether there is a second. */
int field_first_parity(const field *f);
int field_last_parity(const field *f);
/* Parities of f, one after the other. */
#define FOR_PARITIES(p, f) for (int p = field_first_parity(f); p <= field_last_parity(f); p++)
/* Arguments' geometry for the place of f. */
geom field_geom(const field *f);

#ifdef __cplusplus
}
#endif
#endif
