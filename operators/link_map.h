/* Link maps: links made of other links, for quarks to hop on.
 *
 * A map has its links up to date with those that they are made of (apply), and takes a force of its links, dS/dU in the
 * algebra as kernels/ops/gauge.h has it, back to a force of those (pull_back). That form of a force is all that links in
 * SU(3) need, and smearing here makes such links. A type is one line of link_maps.def and one file link_map_NAME.c with
 * its keys. The twist, a uniform phase, comes last in a map and has no section: its links are in U(3).
 *
 * Quarks with the same links share a map, which counts its users: the links are made once, and forces of all of them are
 * taken back together (fermion.shares). All functions are collective, but for those on settings. */
#ifndef PLAQ_LINK_MAP_H
#define PLAQ_LINK_MAP_H

#include <stddef.h>

#include "kernels/base/param.h"
#include "kernels/field/field.h"

/* Settings of a map: the section [links.NAME]. Types have keys of their own in `own`, whose layout is theirs. */
typedef struct {
    int kind; /* link_map_type_number() */
    union {
        double align;
        char bytes[128];
    } own;
} link_settings;

/* Offset of a member of the type's struct, for tables of own keys. */
#define LINK_KEY(keys, member) (offsetof(link_settings, own) + offsetof(keys, member))

/* Directions of staples, a key of several types. */
#define LINK_MAP_DIRECTIONS(X) X(LINK_MAP_ALL, "all") X(LINK_MAP_SPACE, "space")
enum { LINK_MAP_DIRECTIONS(PARAM_CONSTANT) };

typedef struct link_map link_map;

typedef struct {
    const char *name, *help;
    const param_section *own; /* a part of the section with its own keys, its owner the name */
    /* A message on settings that are allowed and likely wrong; 0 if there is none. */
    int (*advise)(const link_settings *s, char *message, size_t size);
    /* The key at fault with a message, on a lattice with this boundary in time; null if there is none. Or null. */
    const char *(*check)(const link_settings *s, time_boundary time, char *message, size_t size);
    void (*open)(link_map *m);                    /* or null */
    void (*apply)(link_map *m);                   /* m->links from m->from */
    void (*pull_back)(link_map *m, field *force); /* force in place; m->links are up to date. Null: no action has it */
    void (*close)(link_map *m);                   /* or null */
} link_map_type;

struct link_map {
    const link_map_type *type;
    link_settings settings;
    const field *from;     /* borrowed */
    field *links;          /* owned; of the kind, place and precision of `from` */
    unsigned long version; /* version of `from` that `links` are made of */
    int users;
    link_map *smearing; /* map of `from` whose links a twist multiplies, one share, or null */
    void *state;        /* data of its type */
};

/* Types by number, null after the last; and that of settings. */
const link_map_type *link_map_type_number(int i);
static inline const link_map_type *link_map_type_of(const link_settings *s)
{
    return link_map_type_number(s->kind);
}
/* The section [links.NAME] and its parts by number, null after the last. */
const param_section *link_map_section(int i);
/* True if sections of this type have the key. */
int link_map_type_has(const link_map_type *type, const char *key);

/* A map of the links `from`, with one user; and one more user of a map. Each user destroys it. */
link_map *link_map_create(const link_settings *s, const field *from);
link_map *link_map_share(link_map *m);
void link_map_destroy(link_map *m);
/* A map of this type, with one user, before the data of the type are set: for constructors. */
link_map *link_map_open(const link_map_type *type, const field *from);
/* True of a map, which may be null, that makes what these settings make of these links; never of a twist. */
int link_map_fits(const link_map *m, const link_settings *s, const field *from);

/* Brings m->links up to date with m->from, and returns them. */
const field *link_map_links(link_map *m);
/* Takes a force of m->links back, in place: it becomes that of m->from. */
void link_map_pull_back(link_map *m, field *force);

/* ---- twisted boundary conditions, link_map_twist.c ----
 *
 * Angles theta give a quark the boundary conditions psi(x + L_mu e_mu) = e^(i theta_mu) psi(x), on top of the lattice's own
 * in t; theta_t / L_t is an imaginary chemical potential (C. Sachrajda and G. Villadoro, hep-lat/0411033, section 2). The
 * twist spreads the phase over the lattice: it multiplies links of direction mu with e^(i theta_mu / L_mu), and fields keep
 * the lattice's boundary. A plane wave of momentum p has p + theta / L in the operator.
 *
 * Phases at the boundary in place of the twist: fields there are e^(i theta.x / L) times fields here, and a propagator from y
 * to x there is e^(i theta.(x - y) / L) times the one here, with 0 <= x_mu, y_mu < L_mu. Products at one site that have as
 * many quarks as antiquarks of each theta do not differ.
 *
 * The force dS/dU of twisted links is that of the links before the twist, since a phase commutes with all matrices. */

/* A map that twists the links of `smearing`, or where that is null the links `from`; it takes a share of `smearing` and has
 * one user. Angles that are all zero make no map on a periodic lattice: the result is a share of `smearing`, or null.
 *
 * On a lattice bounded in time quark fields vanish on both end slices: the map's links that touch one are zero, and so are their
 * forces. The hop then couples an end slice to nothing, and M is its diagonal there, whatever solver, precision or blocks read the
 * links. The clover term is made of the links before the map. */
link_map *link_map_twist(link_map *smearing, const field *from, const double theta[4]);
/* True if m, which may be null, is what that would make. */
int link_map_twist_fits(const link_map *m, const link_map *smearing, const field *from, const double theta[4]);
/* The map that takes forces back: m without its twist, null where there is no smearing. m may be null. */
link_map *link_map_smearing(const link_map *m);
/* The links before the twist, in SU(3), up to date when those of m are; `from` itself where m is null. */
const field *link_map_special(const link_map *m, const field *from);
/* Storage of a hop's links: `wanted`, but FIELD_LINKS for a twist, whose third rows two rows do not tell. m may be null. */
field_kind link_map_storage(const link_map *m, field_kind wanted);

/* Sums of forces of m's links, momenta, that end up in `force`. open() gives the field to sum in: a new one, zero, where there
 * is smearing, else `force` itself. close() takes a new one back, adds it to `force` and frees it. m may be null. */
field *link_map_open_force(const link_map *m, field *force);
void link_map_close_force(link_map *m, field *force, field *sum);

#endif
