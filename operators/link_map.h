/* Link maps: links made of other links, for quarks to hop on.
 *
 * A map has its links up to date with those that they are made of (apply), and takes a force of its links, dS/dU in the
 * algebra as kernels/ops/gauge.h has it, back to a force of those (pull_back). That form of a force is all that links in
 * SU(3) need, so maps here make such links. A type is one line of link_maps.def and one file link_map_NAME.c with its keys.
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
    char kind[PARAM_CHOICE_SIZE];
    union {
        double align;
        char bytes[128];
    } own;
} link_settings;

/* Offset of a member of the type's struct, for tables of own keys. */
#define LINK_KEY(keys, member) (offsetof(link_settings, own) + offsetof(keys, member))

typedef struct link_map link_map;

typedef struct {
    const char *name, *help;
    const param_section *own; /* a part of the section with its own keys, its owner the name */
    /* A message on settings that are allowed and likely wrong; 0 if there is none. */
    int (*advise)(const link_settings *s, char *message, size_t size);
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
    void *state; /* data of its type */
};

/* Types by number, null after the last; that of this name, which there has to be. */
const link_map_type *link_map_type_number(int i);
const link_map_type *link_map_type_find(const char *name);
/* The section [links.NAME] and its parts by number, null after the last. */
const param_section *link_map_section(int i);
/* True if sections of this type have the key. */
int link_map_type_has(const link_map_type *type, const char *key);

/* A map of the links `from`, with one user; and one more user of a map. Each user destroys it. */
link_map *link_map_create(const link_settings *s, const field *from);
link_map *link_map_share(link_map *m);
void link_map_destroy(link_map *m);
/* True of a map, which may be null, that makes what these settings make of these links. */
int link_map_fits(const link_map *m, const link_settings *s, const field *from);

/* Brings m->links up to date with m->from, and returns them. */
const field *link_map_links(link_map *m);
/* Takes a force of m->links back, in place: it becomes that of m->from. */
void link_map_pull_back(link_map *m, field *force);

#endif
