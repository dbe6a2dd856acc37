/* Fermions: what physics knows of a quark, whatever its kind. Actions, measurements and solves see this and no kind by
 * name; a kind is one file fermion_NAME.c with a static fermion_table and a constructor.
 *
 * M x = b is solved by a preconditioned system on fewer vectors, of which there are two forms:
 *
 *              direct                     normal, Hermitian and positive
 *   Wilson     Mhat, on a parity          Mhat^dagger Mhat
 *   staggered  null                       A = m^2 - D D / 4, on a parity
 *   Moebius    Mhat, on a parity          Mhat^dagger Mhat
 *
 * K is the normal operator.
 *
 * M of domain wall quarks acts on fields with slices in a fifth dimension; quark fields of four dimensions, the physical
 * ones, enter and leave by fermion_import() and fermion_export().
 *
 * A fermion owns its operators and what they derive from the links, which are borrowed; both follow the links by
 * themselves. Fields of M and physical ones are in double precision where the links are, on both parities; vectors of the
 * systems are those of `normal`. All calls are collective.
 *
 * Quarks with twisted boundary conditions have a uniform phase in their links: fields are those of the twist, not those
 * with a phase at the boundary; link_map.h says how the two differ. */
#ifndef PLAQ_FERMION_H
#define PLAQ_FERMION_H

#include "operators/link_map.h"
#include "operators/linop.h"

typedef struct fermion fermion;

typedef struct {
    const char *name;
    /* The right-hand side of the direct system, or where there is none of the normal one, for M x = source; and x from
     * the solution of either system. */
    void (*prepare)(fermion *f, field *rhs, const field *source);
    void (*reconstruct)(fermion *f, field *x, const field *solution, const field *source);
    void (*apply)(fermion *f, field *y, const field *x, int dagger); /* y = M x or M^dagger x */
    /* See fermion_import(); null where M acts on the fields of four dimensions themselves. */
    void (*import)(fermion *f, field *source, const field *physical);
    void (*export)(fermion *f, field *physical, const field *x);
    /* See fermion_midpoint() and fermion_axial(). */
    void (*midpoint)(fermion *f, field *physical, const field *x);
    void (*axial)(fermion *f, field *left, field *right, const field *x, const field *physical);
    /* y = d^n M / d mu^n x at chemical potential mu = 0, for n = 1, 2; or null. */
    void (*derivative)(fermion *f, field *y, const field *x, int n);

    /* A sum of forces, see fermion_open_force(). */
    void *(*open_force)(fermion *f, field *force, field *thin); /* forces of the map's links; of `links` */
    void (*add_force)(void *sum, fermion *f, int n, const double *weights, field *const *x);
    void (*add_variation)(void *sum, fermion *f, double factor, const field *x, const field *y); /* or null */
    void (*close_force)(void *sum);
    /* Factor of the determinant, see fermion_has_log_det(): both or none. */
    double (*log_det)(fermion *f, double *negatives);
    void (*add_force_log_det)(void *sum, fermion *f, double weight);

    double (*filtered)(const fermion *f); /* or null */
    void (*destroy)(fermion *f);
} fermion_table;

struct fermion {
    const fermion_table *table;
    const field *links;     /* borrowed; thin ones where it has a map */
    linop *direct, *normal; /* owned; in double precision where the links are */
    double bound;           /* lower bound of the spectrum of K, for any links; 0: not known */
    fermion *regulator;     /* Pauli-Villars, whose determinant divides this one's in every action; owned; or null */
    link_map *map;          /* link map of the hop's links, one share; null: `links` themselves */
    const void *shares;     /* fermions with the same one, and not null, may add to one sum of forces */
};

/* The link map of a quark: smearing of the thin `links` as s says, none where s is null, and then the twist of the angles
 * theta (link_map.h), none where all are zero. The map is that of one of the n others (null ones do not count), or shares
 * their smearing, or is new; null stands for the thin links themselves. The caller destroys it; a quark takes a share. */
link_map *fermion_link_map(const field *links, const link_settings *s, const double theta[4], fermion *const *others,
                           int n);
/* The links that the quark hops on, up to date: those of its map, or thin ones. A twist is in them. */
const field *fermion_links(const fermion *f);
/* A field of M, and a physical one, all zero. */
field *fermion_vector(const fermion *f);
field *fermion_physical(const fermion *f);
/* True if fields of M and physical ones differ in shape. Only then: the source for M of a physical source, and the physical
 * quark field of a solution x, so that import, M^-1 and export make the quark's propagator. */
int fermion_has_walls(const fermion *f);
void fermion_import(fermion *f, field *source, const field *physical);
void fermion_export(fermion *f, field *physical, const field *x);
/* Midpoint and axial current of the solution x for a physical source, on an even number of slices: the quark field between
 * the two middle slices, and the fields whose hop currents are the conserved axial current,
 *   A_mu(x) = 1/2 Re (left(x+mu)^dagger (1 + gamma_mu) U_mu(x)^dagger right(x)
 *                     - left(x)^dagger (1 - gamma_mu) U_mu(x) right(x+mu)), summed over slices.
 * With the physical quark field q, sum_mu A_mu(x) - A_mu(x-mu) = 2 m |q|^2 + 2 |midpoint|^2 - 2 Re source^dagger q. */
void fermion_midpoint(fermion *f, field *physical, const field *x);
void fermion_axial(fermion *f, field *left, field *right, const field *x, const field *source);
/* The system that a solver works on: the normal one where it needs a positive operator, or there is no other. */
linop *fermion_system(const fermion *f, int positive);
/* The right-hand side of that system for M x = source; and x from its solution. */
void fermion_prepare(fermion *f, field *rhs, const field *source, int positive);
void fermion_reconstruct(fermion *f, field *x, const field *solution, const field *source);
void fermion_apply(fermion *f, field *y, const field *x, int dagger);
/* y = d^n M / d mu^n x at chemical potential mu = 0, n = 1 or 2; only of kinds that have it. */
void fermion_derivative(fermion *f, field *y, const field *x, int n);
/* |M x - source| / |source|, 0 where both are zero; work becomes source - M x. */
double fermion_residual(fermion *f, field *work, const field *x, const field *source);

/* Forces are gathered term by term: open, add, close; until it is closed `force` (momenta, normalised as in
 * kernels/ops/gauge.h) is incomplete. Terms of fermions that share may meet in one sum, opened by any of them. Kinds gather
 * the force of the links that they hop on; a map takes it back to `links` when the sum is closed.
 *   add:       the force of sum_i weight_i phi^dagger (K + pole_i)^-1 phi from the solutions x_i
 *   variation: that of S with dS = -2 factor Re y^dagger dD x for the direct operator D; only where add_variation is set
 *   log_det:   that of -weight * fermion_log_det() */
void *fermion_open_force(fermion *f, field *force);
void fermion_add_force(void *sum, fermion *f, int n, const double *weights, field *const *x);
void fermion_add_variation(void *sum, fermion *f, double factor, const field *x, const field *y);
void fermion_add_force_log_det(void *sum, fermion *f, double weight);
void fermion_close_force(fermion *f, void *sum);

/* True if the determinant has a factor that the systems do not have; log |det| of it for one flavour, and how many of its
 * eigenvalues are negative. */
int fermion_has_log_det(const fermion *f);
double fermion_log_det(fermion *f, double *negatives);

/* Links, in all forces so far, of which a projection took a singular value as larger than it is; NaN where there is no
 * projection, or where it is that of another fermion. */
double fermion_filtered(const fermion *f);
void fermion_destroy(fermion *f);

/* Constructor and destructor of the common part, for kinds of fermions. The fermion takes a share of the map, which may be
 * null. A kind calls fermion_close() after it has destroyed its operators. */
void fermion_open(fermion *f, const fermion_table *table, const field *links, link_map *map, linop *direct,
                  linop *normal);
void fermion_close(fermion *f);

#endif
