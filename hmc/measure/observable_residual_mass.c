/* residual_mass: how far domain wall quarks of Ls slices are from chiral symmetry, by correlators from a source,
 * summed over space and over the 12 columns. q is the physical quark field of a column, psi the field of M, and t counts
 * from the source.
 *
 *   pion(t)        = sum |q|^2
 *   midpoint(t)    = sum |P_- psi_(Ls/2) + P_+ psi_(Ls/2-1)|^2
 *   residual_mass  = midpoint / pion
 *   axial(t)       = the time component of the conserved current (operators/fermion.h) on the links from t to t + 1
 *   axial_local(t) = -sum q^dagger gamma_t q
 *
 * At all t but that of the source axial(t) - axial(t-1) = 2 m pion(t) + 2 midpoint(t), on every configuration and for all
 * b5 and c5. axial / axial_local gives Z_A (T. Blum et al., Phys. Rev. D 69 (2004) 074502): the mean of
 * (axial(t-1) + axial(t)) / 2 axial_local(t) and 2 axial(t) / (axial_local(t) + axial_local(t+1)). */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/quarks/quark.h"
#include "hmc/measure/propagator.h"
#include "hmc/measure/slices.h"
#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

typedef struct {
    int plateau_from, plateau_to;
} residual_keys;

static const measure_column columns[] = {
    {"t", "a", "time from the source"},
    {"pion", "", "zero-momentum pion correlator"},
    {"midpoint", "", "the same of the field between the middle slices"},
    {"residual_mass", "1/a", "midpoint / pion"},
    {"axial", "", "conserved axial current between t and t + 1, with the pion's density"},
    {"axial_local", "", "local axial current, with the pion's density"},
};
static const measure_column summary[] = {
    SOLVES_COLUMNS("the 12 solves"),
    {"residual_mass", "1/a", "mean over the plateau"},
};

enum { COLUMNS = 12 };
enum { PION, MIDPOINT, HOP_EVEN, HOP_ODD, LOCAL, CHANNELS };

typedef struct {
    quark_solves q;
    slices sums;
    int place[4]; /* origin of the source */
    field *sources, *source, *quark, *other;
    field *left, *right, *hopped;
    field *links[2]; /* time links alone, that start at even and at odd times */
} correlators;

/* The hop with these links takes a site to one neighbour in time only: forward at times of that parity, else back. */
static field *time_links(const field *links, int odd)
{
    field *only = field_create(links->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, links->where);
    const lattice *lat = links->lat;
    const long sites = (long)lat->local[0] * lat->local[1] * lat->local[2];
    double *slice = field_slice_buffer(links);
    for (int t = 0; t < field_slices(links); t++) {
        const int starts = ((t + lat->origin[3]) & 1) == odd;
        field_export(links, t, slice);
        for (long i = 0; i < sites; i++)
            for (int k = 0; k < (starts ? 54 : 72); k++) slice[72 * i + k] = 0;
        field_import(only, t, slice);
    }
    free(slice);
    return only;
}

/* y = gamma_t x: upper and lower spins change places. */
static void apply_gamma_t(field *y, const field *x)
{
    const lattice *lat = x->lat;
    const long sites = (long)lat->local[0] * lat->local[1] * lat->local[2];
    double *slice = field_slice_buffer(x);
    for (int t = 0; t < field_slices(x); t++) {
        field_export(x, t, slice);
        for (long i = 0; i < sites; i++)
            for (int k = 0; k < 12; k++) {
                double *upper = slice + 24 * i + k, *lower = upper + 12, keep = *upper;
                *upper = *lower;
                *lower = keep;
            }
        field_import(y, t, slice);
    }
    free(slice);
}

static void open_correlators(correlators *k, const measure_context *c, const measure_params *m)
{
    solves_open_keys(&k->q, c, m);
    slices_open(&k->sums, c->links->lat, CHANNELS);
    k->source = fermion_physical(k->q.quark);
    k->sources = propagator_sources(c, m->source, NULL, k->source, COLUMNS, k->place);
    k->quark = field_like(k->source);
    k->other = field_like(k->source);
    k->left = fermion_vector(k->q.quark);
    k->right = field_like(k->left);
    k->hopped = field_like(k->left);
    for (int odd = 0; odd < 2; odd++) k->links[odd] = time_links(fermion_links(k->q.quark), odd);
}

static void close_correlators(correlators *k)
{
    field *all[] = {k->links[1], k->links[0], k->hopped, k->right, k->left, k->other, k->quark, k->source, k->sources};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    slices_close(&k->sums);
    solves_close(&k->q);
}

static void add_column(correlators *k)
{
    static const int plain = 0;
    slices_add(&k->sums, PION, 1, &plain, k->quark, k->quark);
    apply_gamma_t(k->other, k->quark);
    slices_add(&k->sums, LOCAL, 1, &plain, k->quark, k->other);
    fermion_midpoint(k->q.quark, k->other, k->q.x);
    slices_add(&k->sums, MIDPOINT, 1, &plain, k->other, k->other);
    fermion_axial(k->q.quark, k->left, k->right, k->q.x, k->source);
    for (int odd = 0; odd < 2; odd++) {
        const wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = 1, .links = k->links[odd]};
        for (int p = 0; p < 2; p++) wilson_hop(k->hopped, (parity)p, k->right, &call);
        slices_add(&k->sums, HOP_EVEN + odd, 1, &plain, k->hopped, k->left);
    }
}

static void add_rows(const correlators *k, int from, int to, measure_result *r)
{
    const int T = k->sums.lat->size[3], start = k->place[3];
    double plateau = 0;
    for (int t = 0; t < T; t++) {
        const int channel = HOP_EVEN + ((start + t) & 1);
        const double pion = slices_value(&k->sums, PION, start, t), mid = slices_value(&k->sums, MIDPOINT, start, t);
        const double forward = slices_value(&k->sums, channel, start, t),
                     back = slices_value(&k->sums, channel, start, t + 1);
        measure_add_row(r, (const double[]){t, pion, mid, mid / pion, 0.5 * (back - forward),
                                            -slices_value(&k->sums, LOCAL, start, t)});
        if (t >= from && t <= to) plateau += mid / pion / (to - from + 1);
    }
    solves_summary(&k->q, r->summary);
    r->summary[SOLVES_VALUES] = plateau;
}

static int last_of(const residual_keys *k, int T)
{
    return k->plateau_to > 0 ? k->plateau_to : 3 * T / 4;
}

static int first_of(const residual_keys *k, int T)
{
    return k->plateau_from > 0 ? k->plateau_from : (T + 3) / 4;
}

/* The key, with a message, or null. */
static const char *plateau_fits(const residual_keys *k, int T, const char *name, char *message, size_t size)
{
    if (first_of(k, T) <= last_of(k, T) && last_of(k, T) < T) return NULL;
    snprintf(message, size, "[measure.%s] the plateau from %d to %d is no range of times below %d", name,
             first_of(k, T), last_of(k, T), T);
    return "plateau_to";
}

static int measure_residual_mass(const measure_context *c, const measure_params *m, measure_result *r)
{
    const residual_keys *keys = OBSERVABLE_OWN(residual_keys, m);
    const int T = c->links->lat->size[3];
    char message[256];
    correlators k;
    int status = MEASURE_DONE;
    const char *key = plateau_fits(keys, T, r->name, message, sizeof message);
    if (key) user_error("%s: %s", ini_where(c->p->input, "measure", r->name, key), message);
    open_correlators(&k, c, m);
    for (int column = 0; column < COLUMNS && status == MEASURE_DONE; column++) {
        char what[64];
        snprintf(what, sizeof what, "the propagator's column %d", column);
        const field part = field_rhs(k.sources, column);
        vector_axpby(k.source, 1, &part, 0);
        status = solves_one(&k.q, k.quark, k.source, what, r);
        if (status == MEASURE_DONE) add_column(&k);
    }
    if (status == MEASURE_DONE) {
        slices_sum(&k.sums);
        add_rows(&k, first_of(keys, T), last_of(keys, T), r);
    }
    close_correlators(&k);
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const residual_keys *keys = OBSERVABLE_OWN(residual_keys, &m->p);
    const quark_params *f = &p->quarks[parameters_quark(p, m->p.quark)].p;
    const int Ls = quark_kind_of(f)->slices(f), T = p->lattice.size[3];
    if (Ls % 2) {
        snprintf(message, size, "[measure.%s] kind = residual_mass needs an even Ls, but [quark.%s] has Ls = %d",
                 m->name, m->p.quark, Ls);
        return "quark";
    }
    return T > 0 ? plateau_fits(keys, T, m->name, message, size) : NULL;
}

static const param own[] = {
    {"plateau_from", PARAM_INT, OBSERVABLE_KEY(residual_keys, plateau_from), "0", "[0,inf)", "a",
     "first time from the source of the plateau's mean; 0: a quarter of the extent", 0},
    {"plateau_to", PARAM_INT, OBSERVABLE_KEY(residual_keys, plateau_to), "0", "[0,inf)", "a",
     "last time from the source of the plateau's mean; 0: three quarters of the extent", 0},
};
static const param_section part = PARAM_PART("measure", "residual_mass", measure_params, own);
_Static_assert(sizeof(residual_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of residual_mass");

const observable observable_residual_mass = {
    .name = "residual_mass",
    .help = "residual mass and axial currents of domain wall quarks, of an even Ls",
    .own = &part,
    .check = check,
    .quarks = MEASURE_WALLS,
    .from_source = 1,
    .columns = columns,
    .ncolumns = sizeof columns / sizeof columns[0],
    .axis = "t",
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_residual_mass};
