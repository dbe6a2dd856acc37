/* Restricted additive Schwarz, and the alternating procedure, for the oracles: on the whole lattice, one block after
 * the other, with the links that lead out of the extended block set to zero. No block has a lattice of its own. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const struct ref_wilson *w;
    int origin[4], block[4], reach[4], extent[4];
} extended;

/* Place along d within the extended block, or -1 outside. */
static int place(const extended *e, const int x[4], int d)
{
    const int n = e->w->l.size[d], at = (x[d] - e->origin[d] + e->reach[d] + n) % n;
    return at < e->extent[d] ? at : -1;
}

static int is_in(const extended *e, size_t site, int own)
{
    int x[4], in = 1;
    ref_coordinates(x, e->w->l, site);
    for (int d = 0; d < 4; d++) {
        const int at = place(e, x, d);
        in = in && at >= 0 && (!own || (at >= e->reach[d] && at < e->reach[d] + e->block[d]));
    }
    return in;
}

/* Links whose two ends are in the block, side by side. */
static double complex *links_inside(const extended *e)
{
    const struct ref_lattice l = e->w->l;
    double complex *u = ref_gauge_new(l);
    for (size_t site = 0; site < ref_volume(l); site++) {
        int x[4];
        ref_coordinates(x, l, site);
        for (int mu = 0; mu < 4 && is_in(e, site, 0); mu++)
            if (place(e, x, mu) + 1 < e->extent[mu])
                memcpy(u + 36 * site + 9 * mu, e->w->hop + 36 * site + 9 * mu, 9 * sizeof *u);
    }
    return u;
}

/* out += what steps of minimal residual find in the block for `given`, on the block's own sites. */
static void add_block(double complex *out, const double complex *given, const extended *e, enum ref_kind kind, int p,
                      int steps, double relaxation)
{
    const struct ref_lattice l = e->w->l;
    const size_t n = 12 * ref_volume(l);
    double complex *u = links_inside(e), *x = ref_spinor_new(l), *r = ref_spinor_new(l), *q = ref_spinor_new(l);
    struct ref_wilson inside = *e->w; /* with the site-diagonal part of the whole operator */
    inside.hop = u;
    for (size_t i = 0; i < n; i++) r[i] = is_in(e, i / 12, 0) ? given[i] : 0;
    for (int k = 0; k < steps; k++) {
        double complex qr = 0;
        double qq = 0;
        ref_kind_apply(q, r, &inside, kind, p, 0);
        for (size_t i = 0; i < n; i++) {
            qr += conj(q[i]) * r[i];
            qq += creal(conj(q[i]) * q[i]);
        }
        for (size_t i = 0; i < n && qq > 0; i++) {
            x[i] += relaxation * qr / qq * r[i];
            r[i] -= relaxation * qr / qq * q[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        if (is_in(e, i / 12, 1)) out[i] += x[i];
    free(q);
    free(r);
    free(x);
    free(u);
}

void ref_schwarz(double complex *out, const double complex *in, const struct ref_wilson *w, enum ref_kind kind, int p,
                 const struct ref_blocks *b)
{
    const struct ref_lattice l = w->l;
    const size_t n = 12 * ref_volume(l);
    double complex *r = ref_spinor_new(l);
    extended e = {.w = w};
    for (int d = 0; d < 4; d++) {
        e.block[d] = b->size[d];
        e.reach[d] = b->size[d] < l.size[d] ? b->overlap : 0;
        e.extent[d] = e.block[d] + 2 * e.reach[d];
    }
    memset(out, 0, n * sizeof *out);
    for (int sweep = 0; sweep < b->cycles * b->colours; sweep++) {
        ref_kind_apply(r, out, w, kind, p, 0);
        for (size_t i = 0; i < n; i++) r[i] = in[i] - r[i];
        for (size_t site = 0; site < ref_volume(l); site++) {
            int first = 1, colour = 0;
            ref_coordinates(e.origin, l, site);
            for (int d = 0; d < 4; d++) {
                first = first && e.origin[d] % b->size[d] == 0;
                colour += e.origin[d] / b->size[d];
            }
            if (first && colour % b->colours == sweep % b->colours)
                add_block(out, r, &e, kind, p, b->steps, b->relaxation);
        }
    }
    free(r);
}
