/* schroedinger: correlators of the Schroedinger functional (M. Luescher et al., hep-lat/9605038, section 6, and hep-lat/9609035, section
 * 2), of a Wilson-clover quark between the walls at x_0 = 0 and T, the last slice that is not idle.
 *
 * The quark field S(x) of a boundary quark at zero momentum has the source P_+ U_t(0, y)^dagger on all sites of slice 1, on 6 columns, P_+-
 * = (1 +- gamma_t) / 2; that of the far wall, R(x), the source P_- U_t(T - 1, y) on slice T - 1. With sums over the L^3 sites of a slice
 * and over columns, in the normalisation M = 4 + m - D / 2 + ... and without factors of c~_t,
 *
 *   f_P(t) = (1 / 2 L^3) sum |S|^2,   f_A(t) = -(1 / 2 L^3) sum Re S^dagger gamma_t S,
 *   g_P(t) = (1 / 2 L^3) sum |R|^2,   g_A(t) = (1 / 2 L^3) sum Re R^dagger gamma_t R,
 *   f_1 = (1 / 2 L^6) sum |sum_y P_+ U_t(T - 1, y)^dagger S(T - 1, y)|^2,
 *
 * so that all are 3 or -3 of free massless quarks, but for lattice artefacts. PCAC masses of the slices that are not next to a wall are
 *
 *   m_f(t) = [f_A(t+1) - f_A(t-1)] / (4 f_P(t)) + c_A [f_P(t+1) - 2 f_P(t) + f_P(t-1)] / (2 f_P(t)),
 *
 * and m_g(t), of g_P and -g_A, likewise; that of the summary is the mean of both in the middle, on two slices where T is odd. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/slices.h"
#include "hmc/measure/solves.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/exact.h"
#include "kernels/ops/gauge.h"

static const measure_column columns[] = {
    {"t", "a", "time slice"},
    {"f_P", "", "pseudoscalar density with the boundary at t = 0"},
    {"f_A", "", "time component of the axial current with the same"},
    {"g_P", "", "pseudoscalar density with the boundary at t = T"},
    {"g_A", "", "time component of the axial current with the same"},
    {"m_f", "1/a", "PCAC mass of f_A and f_P, with c_A"},
    {"m_g", "1/a", "PCAC mass of g_A and g_P, with c_A"},
};
static const measure_column summary[] = {
    SOLVES_COLUMNS("the 12 solves"),
    {"f_1", "", "correlator from boundary to boundary"},
    {"m_pcac", "1/a", "mean of m_f and m_g in the middle, on one slice or two"},
};

typedef struct {
    double c_A;
} schroedinger_keys;

enum { DENSITY, CURRENT, CHANNELS = 4, COLUMNS = 6, NUMBERS = 12 }; /* channels of the far wall come behind */

typedef struct {
    quark_solves q;
    slices sums;
    field *source, *x, *turned;
    double f_1;
} correlators;

static long sites_of_slice(const lattice *lat)
{
    return (long)lat->local[0] * lat->local[1] * lat->local[2];
}

/* The local slice of this rank that is number t, or -1. */
static int local_slice(const field *f, int t)
{
    const int here = t - f->lat->origin[3];
    return field_slices(f) > 0 && here >= 0 && here < field_slices(f) ? here : -1;
}

/* Column 3 spin + colour: spins `spin` and spin + 2 of P_+ are equal, of P_- opposite, and their norm is one. The first two slices are on
 * one rank. */
static void set_source(field *source, const field *links, int far, int column)
{
    const int spin = column / 3, colour = column % 3, T = lattice_last_slice(source->lat);
    const int of_links = local_slice(source, far ? T - 1 : 0);
    field_clear(source);
    if (of_links < 0) return;
    double *u = field_slice_buffer(links), *b = field_slice_buffer(source);
    memset(b, 0, (size_t)sites_of_slice(source->lat) * 24 * sizeof *b);
    field_export(links, of_links, u);
    for (long i = 0; i < sites_of_slice(source->lat); i++)
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 2; k++) {
                const double *e = u + 72 * i + 54 + (far ? 6 * c + 2 * colour : 6 * colour + 2 * c);
                const double norm = k && far ? -M_SQRT1_2 : M_SQRT1_2;
                double *to = b + 24 * i + 6 * (spin + 2 * k) + 2 * c;
                to[0] = norm * e[0];
                to[1] = (far ? norm : -norm) * e[1];
            }
    field_import(source, far ? of_links : 1, b);
    free(b);
    free(u);
}

/* y = gamma_t x: upper and lower spins change places. */
static void apply_gamma_t(field *y, const field *x)
{
    double *slice = field_slice_buffer(x), keep[12];
    for (int t = 0; t < field_slices(x); t++) {
        field_export(x, t, slice);
        for (long i = 0; i < sites_of_slice(x->lat); i++) {
            memcpy(keep, slice + 24 * i, sizeof keep);
            memcpy(slice + 24 * i, slice + 24 * i + 12, sizeof keep);
            memcpy(slice + 24 * i + 12, keep, sizeof keep);
        }
        field_import(y, t, slice);
    }
    free(slice);
}

/* The norm of sum_y P_+ U_t(T - 1, y)^dagger S(T - 1, y) in the basis of the columns. */
static double norm2_at_far_wall(const field *x, const field *links)
{
    const lattice *lat = x->lat;
    exact_sum sums[NUMBERS];
    for (int k = 0; k < NUMBERS; k++) sums[k] = exact_zero();
    const int at = local_slice(x, lattice_last_slice(lat) - 1);
    if (at >= 0) {
        double *u = field_slice_buffer(links), *s = field_slice_buffer(x);
        field_export(links, at, u);
        field_export(x, at, s);
        for (long i = 0; i < sites_of_slice(lat); i++)
            for (int spin = 0; spin < 2; spin++)
                for (int c = 0; c < 3; c++) {
                    double re = 0, im = 0;
                    for (int k = 0; k < 3; k++) {
                        const double *e = u + 72 * i + 54 + 6 * k + 2 * c, *v = s + 24 * i + 6 * spin + 2 * k;
                        const double a = M_SQRT1_2 * (v[0] + v[12]), b = M_SQRT1_2 * (v[1] + v[13]);
                        re += e[0] * a + e[1] * b;
                        im += e[0] * b - e[1] * a;
                    }
                    exact_add(&sums[2 * (3 * spin + c)], re);
                    exact_add(&sums[2 * (3 * spin + c) + 1], im);
                }
        free(s);
        free(u);
    }
    comm_group_sum_exact(lat->group, sums, NUMBERS);
    double norm2 = 0;
    for (int k = 0; k < NUMBERS; k++) norm2 += exact_value(&sums[k]) * exact_value(&sums[k]);
    return norm2;
}

static int one_column(correlators *k, const field *links, int far, int column, measure_result *r)
{
    static const int plain = 0;
    char what[64];
    snprintf(what, sizeof what, "column %d of the boundary quark at t = %d", column,
             far ? lattice_last_slice(links->lat) : 0);
    set_source(k->source, links, far, column);
    const int status = solves_one(&k->q, k->x, k->source, what, r);
    if (status != MEASURE_DONE) return status;
    slices_add(&k->sums, 2 * far + DENSITY, 1, &plain, k->x, k->x);
    apply_gamma_t(k->turned, k->x);
    slices_add(&k->sums, 2 * far + CURRENT, 1, &plain, k->x, k->turned);
    if (!far) k->f_1 += norm2_at_far_wall(k->x, links);
    return status;
}

/* f_P, f_A, g_P and g_A, numbers 0 to 3, of a slice. */
static double correlator(const correlators *k, int number, int t)
{
    const lattice *lat = k->sums.lat;
    const double sites = (double)lat->size[0] * lat->size[1] * lat->size[2];
    return (number == 1 ? -1 : 1) * slices_value(&k->sums, number, 0, t) / (2 * sites);
}

/* The PCAC mass from the lower wall, or from the far one; NaN next to the walls. */
static double pcac_mass(const correlators *k, int far, int t, double c_A)
{
    const int p = 2 * far, a = p + 1;
    if (t < 2 || t > lattice_last_slice(k->sums.lat) - 2) return NAN;
    const double density = correlator(k, p, t),
                 slope = 0.5 * (correlator(k, a, t + 1) - correlator(k, a, t - 1)) * (far ? -1 : 1),
                 second = correlator(k, p, t + 1) - 2 * density + correlator(k, p, t - 1);
    return (slope + c_A * second) / (2 * density);
}

/* Rows of all slices; the mass in the middle. */
static double add_rows(const correlators *k, double c_A, measure_result *r)
{
    const int slices = k->sums.lat->size[3], T = lattice_last_slice(k->sums.lat), middle[2] = {T / 2, (T + 1) / 2};
    double mean = 0;
    for (int t = 0; t < slices; t++) {
        const double mass[2] = {pcac_mass(k, 0, t, c_A), pcac_mass(k, 1, t, c_A)};
        measure_add_row(r, (const double[]){t, correlator(k, 0, t), correlator(k, 1, t), correlator(k, 2, t),
                                            correlator(k, 3, t), mass[0], mass[1]});
        for (int i = 0; i < 2; i++)
            if (t == middle[i]) mean += 0.25 * (mass[0] + mass[1]);
    }
    return mean;
}

static int measure_schroedinger(const measure_context *c, const measure_params *m, measure_result *r)
{
    const lattice *lat = c->links->lat;
    const double sites = (double)lat->size[0] * lat->size[1] * lat->size[2];
    correlators k = {0};
    int status = MEASURE_DONE;
    solves_open_keys(&k.q, c, m);
    slices_open(&k.sums, lat, CHANNELS);
    k.source = fermion_physical(k.q.quark);
    k.x = field_like(k.source);
    k.turned = field_like(k.source);
    fermion_links(k.q.quark); /* smeared links are brought up to date */
    const field *links = link_map_special(k.q.quark->map, c->links);
    for (int i = 0; i < 2 * COLUMNS && status == MEASURE_DONE; i++)
        status = one_column(&k, links, i / COLUMNS, i % COLUMNS, r);
    if (status == MEASURE_DONE) {
        slices_sum(&k.sums);
        r->summary[SOLVES_VALUES + 1] = add_rows(&k, OBSERVABLE_OWN(schroedinger_keys, m)->c_A, r);
        solves_summary(&k.q, r->summary);
        r->summary[SOLVES_VALUES] = k.f_1 / (2 * sites * sites);
    }
    field *all[] = {k.turned, k.x, k.source};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    slices_close(&k.sums);
    solves_close(&k.q);
    return status;
}

static const param own[] = {
    {"c_A", PARAM_REAL, OBSERVABLE_KEY(schroedinger_keys, c_A), "0", "[-10,10]", NULL,
     "improvement coefficient of the axial current, in the PCAC masses alone", 0},
};
static const param_section part = PARAM_PART("measure", "schroedinger", measure_params, own);
_Static_assert(sizeof(schroedinger_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of schroedinger");

const observable observable_schroedinger = {
    .name = "schroedinger",
    .help = "boundary correlators f_P, f_A, g_P, g_A and f_1 of a Schroedinger functional, and PCAC masses",
    .own = &part,
    .quarks = MEASURE_WILSON,
    .walls = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .axis = "t",
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_schroedinger};
