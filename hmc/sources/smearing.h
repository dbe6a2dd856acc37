/* Gauge covariant Gaussian smearing of sources and sinks (S. Guesken, Nucl. Phys. B Proc. Suppl. 17 (1990) 361), in Chroma's
 * normalisation: n steps of
 *
 *   chi <- chi - (w^2 / 4n) (6 chi - sum_(j = x y z) U_j(x) chi(x+j) + U_j(x-j)^dagger chi(x-j)).
 *
 * The sum over neighbours is the hop D of staggered quarks on links i U, those in time zero, for each spin: D is i times it, and with
 * vectors times -i on odd sites, it is D to even sites and -D to odd ones. Collective. */
#ifndef PLAQ_SMEARING_H
#define PLAQ_SMEARING_H

#include "kernels/base/param.h"
#include "kernels/field/field.h"

/* The section [smearing.NAME]. */
typedef struct {
    double width;
    int steps;
    char links[PARAM_STRING_SIZE]; /* [links.NAME], or empty */
} smearing_params;

typedef struct {
    char name[64];
    smearing_params p;
} named_smearing;

const param_section *smearing_section(void);
/* The key at fault, with a message, or null. */
const char *smearing_check(const named_smearing *s, char *message, size_t size);

typedef struct {
    double width; /* w */
    int steps;    /* n; 0: no smearing */
    field *space; /* links times i, those in time zero; null without steps */
} gaussian;

void gaussian_open(gaussian *g, const field *links, double width, int steps);
void gaussian_close(gaussian *g);
/* Smearing in place, of a spinor field of both parities in double precision where the links are. */
void gaussian_smear(const gaussian *g, field *chi);

#endif
