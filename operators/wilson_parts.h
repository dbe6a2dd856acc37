/* Parts that the files of the Wilson-clover operator share; for them alone. */
#ifndef PLAQ_WILSON_PARTS_H
#define PLAQ_WILSON_PARTS_H

#include "operators/coarse.h"
#include "operators/wilson.h"

/* Links and clover terms in one precision and place. */
typedef struct {
    const field *links;
    field *own_links, *clover;
    field *inverse, *mu_inverse; /* (C + X)^-1 = inverse - X mu_inverse of the twisted part X; without it, C^-1 */
    unsigned long version;       /* version of the links that it was built from */
} wilson_material;

typedef struct {
    linop base;
    wilson *w;
    int mu_sign;              /* -1: the complement of -mu, which multigrid solves adjoints by */
    wilson_material extended; /* material on extended blocks, where they overlap */
    field *work_p, *work_q;
    field *diagonal; /* A_pp of the symmetric form, where residuals become coarse */
    unsigned long diagonal_version;
} wilson_complement;

struct wilson {
    const field *links, *special; /* links of the hop, and of the clover term, which has no twist */
    link_map *map;
    double mass, mu, epsilon, space; /* space: factor of the hop's spatial directions */
    int doublet;
    clover_coefficients c;
    schur_form form;
    parity p, q;
    field_kind storage;
    wilson_material materials[PREC_COUNT][2];
    wilson_complement *schurs[2][PREC_COUNT][2]; /* complements of mu, and of -mu */
    double log_det, negatives;
    field *whole; /* the clover term on both parities, where the whole operator was applied */
    unsigned long whole_version;
};

/* The site-diagonal part of M, or its inverse: scale (C + X K), with unit matrices for fields that are null. X is i mu gamma_5,
 * or i mu gamma_5 tau_2 + epsilon tau_3 of a doublet; its dagger has -mu. */
typedef struct {
    double scale, mu, epsilon;
    const field *clover, *mu_clover;
    int doublet;
} wilson_site_matrix;

static inline int wilson_has_clover_term(const wilson *w)
{
    return w->c.space != 0 || w->c.time != 0 || clover_has_inside(&w->c);
}

/* Brings smeared links up to date, whose version then tells of what is derived from them. */
void wilson_follow_map(const wilson *w);
/* Copy of a field into *to, in another precision and place, made when it is not there; nothing without `from`. */
void wilson_convert(field **to, const field *from, precision prec, place where);
const wilson_material *wilson_material_of(wilson_complement *s);
/* The clover term on both parities, of which the Schur complement needs one at most. */
const field *wilson_whole_clover(wilson *w);
/* A, for a dagger where sign is -1, of the clover term `clover` where there is one; and A^-1, or its dagger. */
wilson_site_matrix wilson_own_matrix(const wilson *w, const field *clover, int sign);
wilson_site_matrix wilson_inverse_matrix(const wilson *w, const wilson_material *m, int sign);
/* y = A x on parity p. */
void wilson_apply_matrix(field *y, parity p, const wilson_site_matrix *a, const field *x);
/* y_q = A_qq^-1 D x_p; mu_sign: of the twisted mass in A, -1 for the dagger as well. */
void wilson_hop_to_other(const wilson *w, const wilson_material *m, field *y, const field *x, int sign, int mu_sign,
                         const blocks *cut);
/* Work vectors of a complement, as many right-hand sides as x has. */
void wilson_reserve_work(wilson_complement *s, const field *x);
/* The complement of mu, or of -mu for mu_sign = -1; owned by w. */
linop *wilson_schur_at(wilson *w, int mu_sign, precision prec, place where);

extern const coarsening wilson_coarsening;

#endif
