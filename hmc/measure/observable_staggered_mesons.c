/* staggered_mesons: zero-momentum correlators of mesons of a staggered quark, summed over colours. t counts from the
 * source.
 *
 * An operator of spin and taste is chibar O chi with O = eps X, eps = (-1)^(x+y+z+t), and with G = M^-1, for which
 * G(s', s) = eps(s) eps(s') G(s, s')^dagger,
 *   C(t) = +-sum_s Re tr (X G)(s) (G X)(s)^dagger  over the sites s of a slice, from the source,
 * where X on the right acts on the source. X is a product of these, all local in time (M. Golterman, Nucl. Phys. B273
 * (1986) 663; G. Kilcup and S. Sharpe, Nucl. Phys. B283 (1987) 493, in the order t, x, y, z of our phases eta):
 *   1 x xi_k:          Xi_k = zeta_k times the symmetric shift (U_k(s) y(s+k) + U_k(s-k)^dagger y(s-k)) / 2,
 *                      zeta_x = (-1)^(y+z), zeta_y = (-1)^z, zeta_z = 1,
 *   gamma_4 x xi_4:    W = (-1)^(x+y+z),
 * with the average over the orders of several Xi, which anticommute for free quarks. So
 *
 *   pion_5    gamma_5 x xi_5                 X = 1
 *   pion_45   gamma_4 gamma_5 x xi_4 xi_5    X = W
 *   pion_i5   gamma_5 x xi_i xi_5            X = Xi_i
 *   pion_ij   gamma_4 gamma_5 x xi_i xi_j    X = W Xi_k
 *   pion_i4   gamma_5 x xi_i xi_4            X = Xi_j Xi_k
 *   pion_i    gamma_4 gamma_5 x xi_i         X = W Xi_j Xi_k
 *   pion_4    gamma_5 x xi_4                 X = Xi_x Xi_y Xi_z
 *   pion_1    gamma_4 gamma_5 x 1            X = W Xi_x Xi_y Xi_z
 *   rho_vt    gamma_i x xi_i                 X = (-1)^(x_i)
 *   rho_pv    gamma_4 gamma_i x xi_4 xi_i    X = W (-1)^(x_i)
 *
 * averaged over the directions. Beside gamma_S x xi_T there is its partner gamma_4 gamma_5 gamma_S x xi_4 xi_5 xi_T,
 * which alternates in sign with t: scalars with the pions of gamma_4 gamma_5, b_1 with rho_vt, a_1 with rho_pv. With
 * those of gamma_5 it would be gamma_4, J^PC = 0^{+-}, which a quark and an antiquark do not make. pion_5 = sum |G|^2.
 * Free quarks have M Xi_k = Xi_k M: all gamma_5 x xi_T are positive sums of |X G|^2 there.
 *
 * The local ones come of the three solves of a source alone; each X with links takes three more. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/propagator.h"
#include "hmc/measure/slices.h"
#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"
#include "operators/staggered.h"

typedef struct {
    char tastes[PARAM_WORDS_SIZE];
    int transport; /* TRANSPORT_THIN or TRANSPORT_FAT */
} meson_keys;

enum { ODD_X = 1, ODD_Y = 2, ODD_Z = 4, ODD_T = 8, ODD_SPACE = 7 };

/* Phases of the site: coordinates whose sum is the sign's exponent. */
static const int zeta[3] = {ODD_Y | ODD_Z, ODD_Z, 0}, eta[3] = {ODD_T, ODD_T | ODD_X, ODD_T | ODD_X | ODD_Y};

/* Local channels, in the order of their columns: the phase X, and how many of them are averaged. */
static const int local_odd[] = {0, ODD_SPACE, ODD_X, ODD_Y, ODD_Z, ODD_Y | ODD_Z, ODD_X | ODD_Z, ODD_X | ODD_Y};
enum { LOCAL = sizeof local_odd / sizeof local_odd[0] };

/* Channels with links, after the local ones. */
typedef struct {
    const char *name;                     /* word in the key tastes */
    int phase, links, members, dir[3][3]; /* phase: that of W or none; dir: of the links of each member */
} linked;

static const linked tastes[] = {
    {"i5", 0, 1, 3, {{0}, {1}, {2}}},
    {"ij", ODD_SPACE, 1, 3, {{0}, {1}, {2}}},
    {"i4", 0, 2, 3, {{0, 1}, {1, 2}, {0, 2}}},
    {"i", ODD_SPACE, 2, 3, {{0, 1}, {1, 2}, {0, 2}}},
    {"4", 0, 3, 1, {{0, 1, 2}}},
    {"1", ODD_SPACE, 3, 1, {{0, 1, 2}}},
};
enum { TASTES = sizeof tastes / sizeof tastes[0], CHANNELS = LOCAL + TASTES };

static const measure_column columns[] = {
    {"t", "a", "time from the source"},
    {"pion_5", "", "gamma_5 x xi_5"},
    {"pion_45", "", "gamma_4 gamma_5 x xi_4 xi_5"},
    {"rho_vt", "", "gamma_i x xi_i"},
    {"rho_pv", "", "gamma_4 gamma_i x xi_4 xi_i"},
    {"pion_i5", "", "gamma_5 x xi_i xi_5"},
    {"pion_ij", "", "gamma_4 gamma_5 x xi_i xi_j"},
    {"pion_i4", "", "gamma_5 x xi_i xi_4"},
    {"pion_i", "", "gamma_4 gamma_5 x xi_i"},
    {"pion_4", "", "gamma_5 x xi_4"},
    {"pion_1", "", "gamma_4 gamma_5 x 1"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

typedef struct {
    quark_solves q;
    const meson_keys *k;
    const field *links; /* links of the shifts */
    int phased;         /* links have the phases eta in them */
    field *point[3];    /* G of a colour */
    int place[4];       /* origin of the source */
    field *sources;     /* sources of all colours */
    field *source, *x, *shifted, *work[2];
    slices sums;
} mesons;

/* ---- X ---- */

/* y = Xi_k x, and a further sign */
static void shift(const mesons *q, field *y, const field *x, int k, int phase)
{
    const staggered_shift_call call = {
        .mu = k, .back = 1, .odd = zeta[k] ^ phase ^ (q->phased ? eta[k] : 0), .near = q->links, .near_weight = 0.5};
    staggered_shift(y, x, &call);
}

/* y = the phase times the mean over all orders of the product of Xi, with the sign of the order. */
static void apply(const mesons *q, field *y, const field *x, const linked *o, const int *dir)
{
    /* The first n! are the orders of n. */
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int signs[6] = {1, -1, -1, 1, 1, -1}, counts[4] = {1, 1, 2, 6};
    for (int i = 0; i < counts[o->links]; i++) {
        const field *from = x;
        for (int k = o->links - 1; k >= 0; k--) {
            field *to = q->work[k % 2];
            shift(q, to, from, dir[orders[i][k]], k == 0 ? o->phase : 0);
            from = to;
        }
        vector_axpby(y, (double)signs[i] / counts[o->links], from, i > 0);
    }
}

static void make_source(mesons *q, int colour)
{
    const field part = field_rhs(q->sources, colour);
    vector_axpby(q->source, 1, &part, 0);
}

/* ---- correlators ---- */

static int local_channels(mesons *q, measure_result *r)
{
    for (int colour = 0; colour < 3; colour++) {
        char what[64];
        snprintf(what, sizeof what, "the propagator's colour %d", colour);
        make_source(q, colour);
        const int status = solves_one(&q->q, q->point[colour], q->source, what, r);
        if (status != MEASURE_DONE) return status;
        slices_add(&q->sums, 0, LOCAL, local_odd, q->point[colour], q->point[colour]);
    }
    return MEASURE_DONE;
}

static int linked_channel(mesons *q, int taste, measure_result *r)
{
    static const int plain = 0;
    const linked *o = &tastes[taste];
    for (int member = 0; member < o->members; member++)
        for (int colour = 0; colour < 3; colour++) {
            char what[64];
            snprintf(what, sizeof what, "colour %d of direction %d of the taste %s", colour, member, o->name);
            make_source(q, colour);
            apply(q, q->shifted, q->source, o, o->dir[member]);
            const int status = solves_one(&q->q, q->x, q->shifted, what, r);
            if (status != MEASURE_DONE) return status;
            apply(q, q->shifted, q->point[colour], o, o->dir[member]);
            slices_add(&q->sums, LOCAL + taste, 1, &plain, q->shifted, q->x);
        }
    return MEASURE_DONE;
}

/* X at the source, all of whose sites have the same. */
static int source_sign(const int place[4], int odd)
{
    int sum = 0;
    for (int d = 0; d < 4; d++)
        if (odd >> d & 1) sum += place[d];
    return sum & 1 ? -1 : 1;
}

/* The mean of n local channels. */
static double mean_of(const mesons *q, int first, int n, int t)
{
    double sum = 0;
    for (int c = first; c < first + n; c++)
        sum += source_sign(q->place, local_odd[c]) * slices_value(&q->sums, c, q->place[3], t);
    return sum / n;
}

static void add_rows(mesons *q, measure_result *r)
{
    slices_sum(&q->sums);
    for (int t = 0; t < q->source->lat->size[3]; t++) {
        double row[COLUMNS] = {t, mean_of(q, 0, 1, t), mean_of(q, 1, 1, t), mean_of(q, 2, 3, t), mean_of(q, 5, 3, t)};
        for (int i = 0; i < TASTES; i++)
            row[5 + i] = param_has_word(q->k->tastes, tastes[i].name)
                             ? slices_value(&q->sums, LOCAL + i, q->place[3], t) / tastes[i].members
                             : NAN;
        measure_add_row(r, row);
    }
    solves_summary(&q->q, r->summary);
}

/* ---- the measurement ---- */

static void open_mesons(mesons *q, const measure_context *c, const measure_params *m)
{
    *q = (mesons){.k = OBSERVABLE_OWN(meson_keys, m), .links = c->links};
    solves_open_keys(&q->q, c, m);
    slices_open(&q->sums, c->links->lat, CHANNELS);
    q->source = fermion_physical(q->q.quark);
    q->sources = propagator_sources(c, m->source, NULL, q->source, 3, q->place);
    for (int i = 0; i < 3; i++) q->point[i] = fermion_physical(q->q.quark);
    if (!OBSERVABLE_OWN(meson_keys, m)->tastes[0]) return;
    q->x = fermion_physical(q->q.quark);
    q->shifted = fermion_physical(q->q.quark);
    for (int i = 0; i < 2; i++) q->work[i] = fermion_physical(q->q.quark);
    if (OBSERVABLE_OWN(meson_keys, m)->transport != TRANSPORT_FAT) return;
    q->links = staggered_links_at(staggered_fermion_links(q->q.quark), PREC_DOUBLE, c->links->where)->near;
    q->phased = 1;
}

static void close_mesons(mesons *q)
{
    for (int i = 0; i < 2; i++) field_destroy(q->work[i]);
    for (int i = 0; i < 3; i++) field_destroy(q->point[i]);
    field_destroy(q->shifted);
    field_destroy(q->x);
    field_destroy(q->source);
    field_destroy(q->sources);
    slices_close(&q->sums);
    solves_close(&q->q);
}

static int measure_mesons(const measure_context *c, const measure_params *m, measure_result *r)
{
    mesons q;
    open_mesons(&q, c, m);
    int status = local_channels(&q, r);
    for (int i = 0; i < TASTES && status == MEASURE_DONE; i++)
        if (param_has_word(OBSERVABLE_OWN(meson_keys, m)->tastes, tastes[i].name)) status = linked_channel(&q, i, r);
    if (status == MEASURE_DONE) add_rows(&q, r);
    close_mesons(&q);
    return status;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    const int kind = parameters_source(p, m->p.source)->p.kind;
    if (kind != param_kind(source_section(0), "point") && kind != param_kind(source_section(0), "corner")) {
        snprintf(
            message, size,
            "[measure.%s] kind = staggered_mesons takes a source of kind = point or corner, whose sites have one taste "
            "phase each, but [source.%s] is of kind = %s",
            m->name, m->p.source, source_kind_number(kind)->name);
        return "source";
    }
    if (k->transport == TRANSPORT_FAT && !k->tastes[0]) {
        snprintf(message, size, "transport = fat is for the pions of tastes, of which [measure.%s] has none", m->name);
        return "transport";
    }
    return NULL;
}

static const param own[] = {
    {"tastes", PARAM_WORDS, OBSERVABLE_KEY(meson_keys, tastes), "", "i5|ij|i4|i|4|1", NULL,
     "further pions gamma_5 x xi_T for T = i5, i4, 4 and gamma_4 gamma_5 x xi_T for T = ij, i, 1, of 1, 2, 3 and 1, 2, "
     "3 links, averaged over directions: three solves each, or nine; empty: those without links",
     0},
    {"transport", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, transport), "thin", PARAM_RANGE(TRANSPORT_LINKS), NULL,
     "links along which quark and antiquark of such pions are apart: thin, or the quark's fat ones, of which free ones "
     "are (9 + naik_epsilon) / 8 times the unit matrix (asqtad's and HISQ's, at u0 = 1), so that a correlator of n "
     "links has that factor 2 n times",
     0},
};
static const param_section part = PARAM_PART("measure", "staggered_mesons", measure_params, own);
_Static_assert(sizeof(meson_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of staggered_mesons");

const observable observable_staggered_mesons = {.name = "staggered_mesons",
                                                .help = "zero-momentum correlators of staggered pions and rhos, local "
                                                        "ones and of all tastes",
                                                .own = &part,
                                                .check = check,
                                                .quarks = MEASURE_STAGGERED,
                                                .from_source = 1,
                                                .columns = columns,
                                                .ncolumns = COLUMNS,
                                                .axis = "t",
                                                .summary = summary,
                                                .nsummary = sizeof summary / sizeof summary[0],
                                                .measure = measure_mesons};
