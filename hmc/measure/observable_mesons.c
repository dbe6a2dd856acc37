/* mesons: correlators of two Wilson-clover or domain wall quarks, with gamma matrices at both ends and momenta,
 *
 *   C(p, t) = sum_x exp(-i p.(x - x_0)) tr [gamma_5 S_1(x)^dagger gamma_5 Gamma_sink S_2(x) Gamma_source]
 *
 * With a twisted mass gamma_5 S_1^dagger gamma_5 is the propagator of -mu_1.
 *
 * S_1, which becomes the antiquark by gamma_5 hermiticity, is `propagator`, and S_2 is `propagator_2`, from one source at x_0 =
 * (source, t_0); t counts from t_0. With one gamma matrix at both ends this is Chroma's correlator; gamma_5 (15) is the
 * pion. With low_modes = yes the part of the eigenvectors is averaged over all positions of the source (low_propagator.h).
 * The sinks 16 + 1, 2, 4, 8 are the conserved vector current (conserved.h). */
#include <stdio.h>
#include <string.h>

#include "hmc/measure/conserved.h"
#include "hmc/measure/low_propagator.h"
#include "hmc/quarks/quark_links.h"
#include "hmc/quarks/quark_wilson.h"
#include "hmc/sources/source.h"

#define MESON_PAIRS(X) X(PAIRS_DIAGONAL, "diagonal") X(PAIRS_ALL, "all") X(PAIRS_UNIT, "unit")
enum { MESON_PAIRS(PARAM_CONSTANT) };

typedef struct {
    int momentum2;
    char operators[PARAM_WORDS_SIZE];
    int pairs, low_modes;
} meson_keys;

static const measure_column columns[] = {
    {"source", "",
     "number of the gamma matrix at the source: 0 scalar, 1 2 4 8 vector along x y z t, 15 pseudoscalar, "
     "bits of products of gamma"},
    {"sink", "", "that at the sink; 17 18 20 24 the conserved vector current along x y z t"},
    MOMENTUM_COLUMNS,
    {"t", "a", "time from the source"},
    {"real", "", "Re C"},
    {"imaginary", "", "Im C"},
};
enum {
    COLUMNS = sizeof columns / sizeof columns[0],
    CONSERVED = 16 /* sinks are CONSERVED plus the vectors' numbers */
};

static const table_names names[] = {{"source", gamma_names}, {"sink", gamma_names}, {NULL, NULL}};

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

static void add_correlator(const contraction *c, int source, int sink, int i, measure_result *r)
{
    const spin_matrix at_source = gamma_number(source), at_sink = gamma_number(sink);
    const int *n = c->p->number[i];
    for (int t = 0; t < c->lat->size[3]; t++) {
        const double complex value = contraction_meson(c, &at_sink, &at_source, i, t);
        measure_add_row(r, (const double[COLUMNS]){source, sink, n[0], n[1], n[2], t, creal(value), cimag(value)});
    }
}

/* Rows of the conserved current with a gamma matrix at the source. */
static void add_conserved(const conserved_current *v, double factor, int source, int i, measure_result *r)
{
    const spin_matrix at_source = gamma_number(source);
    const int *n = v->before.p->number[i];
    for (int t = 0; t < v->before.lat->size[3]; t++) {
        const double complex value = factor * conserved_meson(v, &at_source, i, t);
        measure_add_row(r, (const double[COLUMNS]){source, CONSERVED + (1 << v->mu), n[0], n[1], n[2], t, creal(value),
                                                   cimag(value)});
    }
}

/* The conserved current at the sink, on the links of the quark, with the gamma matrices that `pairs` has at the source. */
static void contract_conserved(const measure_context *c, const meson_keys *k, const propagator *const *q,
                               const momenta *p, measure_result *r)
{
    const quark_params *f = &c->p->quarks[parameters_quark(c->p, q[0]->of->p.quark)].p;
    const wilson_keys *w = wilson_keys_of(f);
    link_map *map = quark_map(c->links, f, NULL, 0);
    int numbers[GAMMAS];
    const int n = gamma_listed(k->operators, numbers);
    for (int mu = 0; mu < 4; mu++) {
        const double factor = mu < 3 ? w->nu / w->xi_0 : 1;
        conserved_current v;
        conserved_open(&v, p, map ? link_map_links(map) : c->links, q[0]->columns, q[1]->columns, q[0]->place, mu);
        for (int i = 0; i < p->n; i++) {
            if (k->pairs == PAIRS_DIAGONAL) add_conserved(&v, factor, 1 << mu, i, r);
            if (k->pairs == PAIRS_UNIT) add_conserved(&v, factor, 0, i, r);
            for (int s = 0; s < n && k->pairs == PAIRS_ALL; s++) add_conserved(&v, factor, numbers[s], i, r);
        }
        conserved_close(&v);
    }
    link_map_destroy(map);
}

static int contract(const measure_context *context, const measure_params *m, const propagator *const *q,
                    measure_result *r)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, m);
    int numbers[GAMMAS];
    const int n = gamma_listed(k->operators, numbers), all = k->pairs == PAIRS_ALL, unit = k->pairs == PAIRS_UNIT;
    momenta p;
    contraction c;
    momenta_open(&p, q[0]->columns->lat, k->momentum2);
    contraction_open(&c, &p, q[0]->columns, q[1]->columns, q[0]->place);
    const int status = k->low_modes == PARAM_YES ? low_average(&c, context, m, q) : MEASURE_DONE;
    for (int sink = 0; sink < n && unit; sink++)
        for (int i = 0; i < p.n; i++) add_correlator(&c, 0, numbers[sink], i, r);
    for (int source = 0; source < n && !unit; source++)
        for (int sink = 0; sink < n; sink++)
            for (int i = 0; i < p.n && (all || source == sink); i++)
                add_correlator(&c, numbers[source], numbers[sink], i, r);
    contraction_close(&c);
    if (param_has_word(k->operators, "conserved")) contract_conserved(context, k, q, &p, r);
    momenta_close(&p);
    return status;
}

static int measure_mesons(const measure_context *c, const measure_params *m, measure_result *r)
{
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    return status == MEASURE_DONE ? contract(c, m, p, r) : status;
}

/* ---- keys ---- */

/* Twisted mass of the quark of a propagator; 0: none. */
static double twist_of(const parameters *p, const char *propagator)
{
    const quark_params *q = &p->quarks[parameters_quark(p, parameters_propagator(p, propagator)->p.quark)].p;
    const quark_kind *kind = quark_kind_of(q);
    return kind->twisted_mass ? *kind->twisted_mass(q) : 0;
}

/* gamma_5 hermiticity leads to the other flavour where there is a twisted mass: correlators of one quark are those of charged
 * mesons. The charged P and A of the twisted basis make the charged pion and the PCAC mass; the meanings of the others depend on
 * the angle of the twist. With -mu in the first propagator and mu in the second, quark and antiquark are of one flavour, and
 * all operators are the connected parts of neutral mesons of that flavour. */
static const char *check_twist(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    const char *first = measure_propagator(&m->p, 0), *second = measure_propagator(&m->p, 1);
    int number;
    const named_quark *q = measure_twisted(p, &m->p, &number);
    const int others = param_has_word(k->operators, "scalar") || param_has_word(k->operators, "vector") ||
                       param_has_word(k->operators, "tensor");
    if (!q || !others) return NULL;
    if (first && second && twist_of(p, first) == -twist_of(p, second)) return NULL;
    snprintf(
        message, size,
        "operators = %s of [measure.%s]: the antiquark of kind = %s of [quark.%s] is of the other flavour, -mu; only "
        "operators = pseudoscalar and axial, those of the charged pion, are there; for neutral mesons name propagators "
        "of "
        "-mu and mu",
        k->operators, m->name, quark_kind_of(&q->p)->name, q->name);
    return "operators";
}

static const source_kind *source_of(const parameters *p, const char *propagator)
{
    return source_kind_of(&parameters_source(p, parameters_propagator(p, propagator)->p.source)->p);
}

/* A nucleon's sequential propagator is the first one, with the unit matrix at the source. */
static const char *check_nucleon(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const char *first = measure_propagator(&m->p, 0), *second = measure_propagator(&m->p, 1);
    const int unit = OBSERVABLE_OWN(meson_keys, &m->p)->pairs == PAIRS_UNIT;
    const char *key = NULL;
    if (!first) return NULL;
    if (source_of(p, second ? second : first)->baryon) key = "propagator_2";
    else if (source_of(p, first)->baryon && !unit) key = "pairs";
    if (key)
        snprintf(message, size,
                 "[measure.%s] has the sequential propagator of a nucleon; it needs that one as propagator, a "
                 "propagator from the "
                 "first source as propagator_2, and pairs = unit",
                 m->name);
    return key;
}

/* The conserved current is of two quarks of one kind, on the links that they hop on, at sinks that are not smeared. */
static const char *check_conserved(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    const quark_params *f[MEASURE_PROPAGATORS];
    const char *name;
    int numbers[GAMMAS], n = 0;
    if (!param_has_word(k->operators, "conserved")) return NULL;
    for (; (name = measure_propagator(&m->p, n)); n++) {
        const propagator_params *q = &parameters_propagator(p, name)->p;
        f[n] = &p->quarks[parameters_quark(p, q->quark)].p;
        const int wilson = wilson_keys_of(f[n]) && !quark_kind_of(f[n])->slices && !quark_kind_of(f[n])->twisted_mass;
        if (!wilson || q->sink_smearing[0] || q->sink != SINK_SITE) {
            snprintf(
                message, size,
                "operators of [measure.%s] has the conserved vector current, which is that of Wilson quarks at a sink "
                "without smearing; [propagator.%s] is of kind = %s, sink = %s%s%s",
                m->name, name, quark_kind_of(f[n])->name, parameters_sink(q),
                q->sink_smearing[0] ? " with sink_smearing = " : "", q->sink_smearing);
            return n == 0 ? "propagator" : "propagator_2";
        }
    }
    if (n == 2 && !quark_same_links(f[0], f[1])) {
        snprintf(message, size,
                 "operators of [measure.%s] has the conserved vector current, but the quarks of its propagators hop on "
                 "different links or have different theta; it is of quarks that share them",
                 m->name);
        return "propagator_2";
    }
    if (k->pairs == PAIRS_ALL && gamma_listed(k->operators, numbers) == 0) {
        snprintf(message, size,
                 "operators = %s of [measure.%s] has nothing for the source with pairs = all; add vector, or take "
                 "pairs = diagonal",
                 k->operators, m->name);
        return "operators";
    }
    return NULL;
}

static const char *check_low_modes(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    if (k->low_modes == PARAM_NO) return NULL;
    if (low_average_refused(p, m, message, size)) return "low_modes";
    if (!param_has_word(k->operators, "conserved")) return NULL;
    snprintf(message, size,
             "low_modes = yes of [measure.%s] is for local operators, and operators = %s has conserved; take two "
             "measurements",
             m->name, k->operators);
    return "low_modes";
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    if (!k->operators[0]) {
        snprintf(message, size,
                 "[measure.%s] operators is empty; choose of scalar, pseudoscalar, vector, axial, tensor and conserved",
                 m->name);
        return "operators";
    }
    const char *key = check_nucleon(p, m, message, size);
    if (!key) key = check_conserved(p, m, message, size);
    if (!key) key = check_low_modes(p, m, message, size);
    return key ? key : check_twist(p, m, message, size);
}

static const param own[] = {
    {"operators", PARAM_WORDS, OBSERVABLE_KEY(meson_keys, operators), "pseudoscalar vector", GAMMA_WORDS "|conserved",
     NULL,
     "gamma matrices: unit matrix, gamma_5, gamma_mu, gamma_mu gamma_5, gamma_mu gamma_nu; conserved: at the sink, the "
     "vector "
     "current of Wilson quarks that needs no renormalisation, with gamma_mu at the source",
     0},
    {"pairs", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, pairs), "diagonal", PARAM_RANGE(MESON_PAIRS), NULL,
     "diagonal: the same gamma matrix at both ends; all: all pairs of those of operators; unit: each at the sink, and "
     "the "
     "unit matrix at the source, for three-point functions of nucleons",
     0},
    MOMENTUM2_KEY(OBSERVABLE_KEY(meson_keys, momentum2)),
    {"low_modes", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, low_modes), "no", PARAM_RANGE(PARAM_NO_YES), NULL,
     "low-mode averaging: the part of the eigenvectors that the sections of the propagators' solvers name is averaged "
     "over all positions of the source, without bias, and the rest is from the source; without further solves",
     0},
};
static const param_section part = PARAM_PART("measure", "mesons", measure_params, own);
_Static_assert(sizeof(meson_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of mesons");

const observable observable_mesons = {.name = "mesons",
                                      .help = "mesons of two quarks, all gamma matrices and momenta",
                                      .own = &part,
                                      .later = "low_modes",
                                      .check = check,
                                      .quarks = MEASURE_WILSON,
                                      .propagators = 2,
                                      .sequential = 1,
                                      .columns = columns,
                                      .ncolumns = COLUMNS,
                                      .axis = "t",
                                      .names = names,
                                      .summary = summary,
                                      .nsummary = sizeof summary / sizeof summary[0],
                                      .measure = measure_mesons};
