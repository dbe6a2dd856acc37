/* Checks of the fields that operations are given. A failure is a mistake in the program, and stops it with the values. For
 * kernels/ops alone. */
#ifndef PLAQ_OPS_EXPECT_H
#define PLAQ_OPS_EXPECT_H

#include "kernels/base/error.h"
#include "kernels/field/field.h"

/* A field of this kind on the lattice, in the place and in the precision of `like`. */
static inline void expect_kind(const field *f, field_kind kind, const field *like)
{
    REQUIRE(f->kind == kind && f->lat == like->lat && f->where == like->where && f->prec == like->prec,
            "%s of precision %d, place %d and %s lattice, where %s of precision %d and place %d is expected",
            field_kinds[f->kind].name, f->prec, f->where, f->lat == like->lat ? "the same" : "another",
            field_kinds[kind].name, like->prec, like->where);
}

/* A vector of this kind, with the right-hand sides and slices of `like` as well. */
static inline void expect_vector(const field *f, field_kind kind, const field *like)
{
    expect_kind(f, kind, like);
    REQUIRE(f->nrhs == like->nrhs && f->Ls == like->Ls, "%d right-hand sides of %d slices beside %d of %d", f->nrhs,
            f->Ls, like->nrhs, like->Ls);
}

/* Links of 18 or 12 reals. */
static inline void expect_links(const field *links, const field *like)
{
    expect_kind(links, links->kind == FIELD_LINKS_TWO_ROWS ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS, like);
}

#endif
