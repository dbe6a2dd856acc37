/* mesons: correlators of two Wilson-clover or domain wall quarks, with gamma matrices at both ends and momenta,
 *
 *   C(p, t) = sum_x exp(-i p.(x - x_0)) tr [gamma_5 S_1(x)^dagger gamma_5 Gamma_sink S_2(x) Gamma_source]
 *
 * With a twisted mass gamma_5 S_1^dagger gamma_5 is the propagator of -mu_1.
 *
 * S_1, which becomes the antiquark by gamma_5 hermiticity, is `propagator`, and S_2 is `propagator_2`, from one source at x_0 =
 * (source, t_0); t counts from t_0. With one gamma matrix at both ends this is Chroma's correlator; gamma_5 (15) is the
 * pion. */
#include <stdio.h>
#include <string.h>

#include "hmc/measure/contraction.h"
#include "hmc/measure/propagator.h"
#include "hmc/sources/source.h"

typedef struct {
    int momentum2;
    char operators[PARAM_WORDS_SIZE], pairs[PARAM_CHOICE_SIZE];
} meson_keys;

static const measure_column columns[] = {
    {"source", "",
     "number of the gamma matrix at the source: 0 scalar, 1 2 4 8 vector along x y z t, 15 pseudoscalar, "
     "bits of products of gamma"},
    {"sink", "", "that at the sink"},
    MOMENTUM_COLUMNS,
    {"t", "a", "time from the source"},
    {"real", "", "Re C"},
    {"imaginary", "", "Im C"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

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

static void contract(const meson_keys *k, const propagator *const *q, measure_result *r)
{
    int numbers[GAMMAS];
    const int n = gamma_listed(k->operators, numbers), all = !strcmp(k->pairs, "all"), unit = !strcmp(k->pairs, "unit");
    momenta p;
    contraction c;
    momenta_open(&p, q[0]->columns->lat, k->momentum2);
    contraction_open(&c, &p, q[0]->columns, q[1]->columns, q[0]->place);
    for (int sink = 0; sink < n && unit; sink++)
        for (int i = 0; i < p.n; i++) add_correlator(&c, 0, numbers[sink], i, r);
    for (int source = 0; source < n && !unit; source++)
        for (int sink = 0; sink < n; sink++)
            for (int i = 0; i < p.n && (all || source == sink); i++)
                add_correlator(&c, numbers[source], numbers[sink], i, r);
    contraction_close(&c);
    momenta_close(&p);
}

static int measure_mesons(const measure_context *c, const measure_params *m, measure_result *r)
{
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    if (status == MEASURE_DONE) contract(OBSERVABLE_OWN(meson_keys, m), p, r);
    return status;
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
        k->operators, m->name, q->p.kind, q->name);
    return "operators";
}

static const source_kind *source_kind_of(const parameters *p, const char *propagator)
{
    return source_kind_find(parameters_source(p, parameters_propagator(p, propagator)->p.source)->p.kind);
}

/* A nucleon's sequential propagator is the first one, with the unit matrix at the source. */
static const char *check_nucleon(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const char *first = measure_propagator(&m->p, 0), *second = measure_propagator(&m->p, 1);
    const int unit = !strcmp(OBSERVABLE_OWN(meson_keys, &m->p)->pairs, "unit");
    const char *key = NULL;
    if (!first) return NULL;
    if (source_kind_of(p, second ? second : first)->baryon) key = "propagator_2";
    else if (source_kind_of(p, first)->baryon && !unit) key = "pairs";
    if (key)
        snprintf(message, size,
                 "[measure.%s] has the sequential propagator of a nucleon; it needs that one as propagator, a "
                 "propagator from the "
                 "first source as propagator_2, and pairs = unit",
                 m->name);
    return key;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    if (!k->operators[0]) {
        snprintf(message, size,
                 "[measure.%s] operators is empty; choose of scalar, pseudoscalar, vector, axial and tensor", m->name);
        return "operators";
    }
    const char *key = check_nucleon(p, m, message, size);
    return key ? key : check_twist(p, m, message, size);
}

static const param own[] = {
    {"operators", PARAM_WORDS, OBSERVABLE_KEY(meson_keys, operators), "pseudoscalar vector", GAMMA_WORDS, NULL,
     "gamma matrices: unit matrix, gamma_5, gamma_mu, gamma_mu gamma_5, gamma_mu gamma_nu", 0},
    {"pairs", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, pairs), "diagonal", "diagonal|all|unit", NULL,
     "diagonal: the same gamma matrix at both ends; all: all pairs of those of operators; unit: each at the sink, and "
     "the "
     "unit matrix at the source, for three-point functions of nucleons",
     0},
    MOMENTUM2_KEY(OBSERVABLE_KEY(meson_keys, momentum2)),
};
static const param_section part = PARAM_PART("measure", "mesons", measure_params, own);
_Static_assert(sizeof(meson_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of mesons");

const observable observable_mesons = {.name = "mesons",
                                      .help = "mesons of two quarks, all gamma matrices and momenta",
                                      .own = &part,
                                      .check = check,
                                      .quarks = MEASURE_WILSON,
                                      .propagators = 2,
                                      .sequential = 1,
                                      .columns = columns,
                                      .ncolumns = COLUMNS,
                                      .axis = "t",
                                      .summary = summary,
                                      .nsummary = sizeof summary / sizeof summary[0],
                                      .measure = measure_mesons};
