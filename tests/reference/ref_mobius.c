/* The Moebius domain wall operator as it is written down: M psi_s = D_+ psi_s + D_- (P_- psi_(s+1) + P_+ psi_(s-1)) with
 * D_+ = b D_W + 1, D_- = c D_W - 1, D_W Wilson's operator of mass -M5, and -m at the walls; with b and c of slice s where they are
 * given. */
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

static double complex b_of(const struct ref_mobius *m, int s, int dagger)
{
    const double complex b = m->bs ? m->bs[s] : m->b;
    return dagger ? conj(b) : b;
}

static double complex c_of(const struct ref_mobius *m, int s, int dagger)
{
    const double complex c = m->cs ? m->cs[s] : m->c;
    return dagger ? conj(c) : c;
}

/* out_s += factor P_(chirality) in_t, of a site's 12 numbers; chirality 0: gamma5 = +1. */
static void add_half(double complex *out, const double complex *in, double factor, int chirality, size_t sites)
{
    for (size_t i = 0; i < sites; i++)
        for (int k = 6 * chirality; k < 6 * chirality + 6; k++) out[12 * i + k] += factor * in[12 * i + k];
}

/* out_s of the step in the fifth dimension, or of its transpose. */
static void step(double complex *out, const double complex *in, const struct ref_mobius *m, int s, int transposed)
{
    const size_t sites = ref_volume(m->w->l), n = 12 * sites;
    memset(out, 0, n * sizeof *out);
    for (int chirality = 0; chirality < 2; chirality++) {
        const int up = (chirality == 1) != transposed, t = s + (up ? 1 : -1);
        const int wraps = t < 0 || t == m->Ls;
        add_half(out, in + (size_t)((t + m->Ls) % m->Ls) * n, wraps ? -m->mass : 1, chirality, sites);
    }
}

void ref_mobius_apply(double complex *out, const double complex *in, const struct ref_mobius *m, int dagger)
{
    const size_t n = 12 * ref_volume(m->w->l);
    double complex *t = malloc(n * sizeof *t), *d = malloc(n * sizeof *d),
                   *minus = malloc((size_t)m->Ls * n * sizeof *minus);
    for (int s = 0; s < m->Ls; s++) {
        ref_wilson_apply(d, in + (size_t)s * n, m->w, dagger);
        for (size_t i = 0; i < n; i++) {
            out[(size_t)s * n + i] = b_of(m, s, dagger) * d[i] + in[(size_t)s * n + i];
            minus[(size_t)s * n + i] = c_of(m, s, dagger) * d[i] - in[(size_t)s * n + i];
        }
    }
    for (int s = 0; s < m->Ls; s++) {
        if (dagger) { /* the transposed step of D_-^dagger in */
            step(t, minus, m, s, 1);
        } else { /* D_- of the step */
            double complex *e = malloc(n * sizeof *e);
            step(e, in, m, s, 0);
            ref_wilson_apply(d, e, m->w, 0);
            for (size_t i = 0; i < n; i++) t[i] = c_of(m, s, 0) * d[i] - e[i];
            free(e);
        }
        for (size_t i = 0; i < n; i++) out[(size_t)s * n + i] += t[i];
    }
    free(minus);
    free(d);
    free(t);
}
