/* baryons: two-point functions of octet and decuplet baryons at rest and with momenta,
 *
 *   C(p, t) = sum_x exp(-i p.(x - x_0)) tr T < O(x) conj(O)(x_0) >,
 *
 * of light quarks u and d, which are `propagator`, and a strange one, which is `propagator_2`, from one source at x_0 = (source,
 * t_0); t counts from t_0. Interpolators, with all Wick contractions, are those of baryon_contraction.c: (u C gamma_5 d) u for the
 * nucleon. With `insertion`, a propagator through a current summed over all sites (source_sequential.c), C is the sum of
 * those in which it takes the place of one quark of the flavour `inserted`. T = (1 +- gamma_t) / 2 has the baryon of either parity forwards in time and that of the other one backwards. */
#include <stdio.h>
#include <string.h>

#include "hmc/measure/baryon_contraction.h"
#include "hmc/measure/propagator.h"
#include "hmc/sources/source.h"

#define BARYON_WORDS "nucleon|sigma|xi|lambda|delta|sigma_star|xi_star|omega"

#define BARYON_SPINS(X) X(SPIN_AVERAGE, "average") X(SPIN_UP, "up")
#define BARYON_COMPONENTS(X) X(COMPONENTS_ALL, "all") X(COMPONENTS_UPPER, "upper")
enum { BARYON_SPINS(PARAM_CONSTANT) };
enum { BARYON_COMPONENTS(PARAM_CONSTANT) };

/* Flavours, in the order of baryon_contraction.h. */
#define BARYON_INSERTED(X) X(INSERTED_U, "u") X(INSERTED_D, "d") X(INSERTED_S, "s")
enum { BARYON_INSERTED(PARAM_CONSTANT) };
_Static_assert((int)INSERTED_U == FLAVOUR_U && (int)INSERTED_D == FLAVOUR_D && (int)INSERTED_S == FLAVOUR_S,
               "flavours in another order");

typedef struct {
    int momentum2;
    char baryons[PARAM_WORDS_SIZE];
    int spin, components, inserted;
} baryon_keys;

static const measure_column columns[] = {
    {"baryon", "",
     "number of the baryon: 0 nucleon, 1 sigma, 2 xi, 3 lambda, 4 delta, 5 sigma_star, 6 xi_star, 7 omega"},
    {"parity", "", "1 or -1, of T = (1 + parity gamma_t) / 2"},
    MOMENTUM_COLUMNS,
    {"t", "a", "time from the source"},
    {"real", "", "Re C"},
    {"imaginary", "", "Im C"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const char *const baryon_names[] = {"nucleon",    "sigma",   "xi",    "lambda", "delta",
                                           "sigma_star", "xi_star", "omega", NULL};
static const table_names names[] = {{"baryon", baryon_names}, {NULL, NULL}};

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

static void add_correlators(const baryon *b, int number, int parity, int polarised, measure_result *r)
{
    const spin_projector T = baryon_projector(parity, polarised);
    for (int i = 0; i < b->p->n; i++)
        for (int t = 0; t < b->lat->size[3]; t++) {
            const double complex value = baryon_trace(b, &T, i, t);
            const int *n = b->p->number[i];
            measure_add_row(r,
                            (const double[COLUMNS]){number, parity, n[0], n[1], n[2], t, creal(value), cimag(value)});
        }
}

/* Correlators of both parities of a baryon, from one contraction unless they have components of their own. */
static void add_baryon(const baryon_keys *k, int number, const momenta *p, const propagator *const *q,
                       measure_result *r)
{
    const baryon_lines lines = {.quark = {q[0]->columns, q[0]->columns, q[1]->columns},
                                .insertion = q[2] ? q[2]->columns : NULL,
                                .inserted = k->inserted};
    const int upper = k->components == COMPONENTS_UPPER, polarised = k->spin == SPIN_UP;
    baryon b;
    for (int parity = 1; parity >= -1; parity -= 2) {
        if (upper || parity == 1)
            baryon_open(&b, p, baryon_kind_number(number), &lines, upper ? parity : 0, q[0]->place);
        add_correlators(&b, number, parity, polarised, r);
        if (upper || parity == -1) baryon_close(&b);
    }
}

static void contract(const baryon_keys *k, const propagator *const *q, measure_result *r)
{
    momenta p;
    momenta_open(&p, q[0]->columns->lat, k->momentum2);
    for (int i = 0; baryon_kind_number(i); i++)
        if (param_has_word(k->baryons, baryon_kind_number(i)->name)) add_baryon(k, i, &p, q, r);
    momenta_close(&p);
}

static int measure_baryons(const measure_context *c, const measure_params *m, measure_result *r)
{
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    if (!measure_propagator(m, 2)) p[2] = NULL;
    if (status == MEASURE_DONE) contract(OBSERVABLE_OWN(baryon_keys, m), p, r);
    return status;
}

/* ---- keys ---- */

/* u and d of twisted mass are two quarks, and parity is turned with the angle of the twist. */
static const char *check_twist(const parameters *p, const named_measure *m, char *message, size_t size)
{
    int number;
    const named_quark *q = measure_twisted(p, &m->p, &number);
    if (!q) return NULL;
    snprintf(message, size,
             "[measure.%s] kind = baryons is not for kind = %s of [quark.%s], whose u and d have mu and -mu; give a "
             "propagator of another quark",
             m->name, quark_kind_of(&q->p)->name, q->name);
    return number ? "propagator_2" : "propagator";
}

/* An insertion is a current summed over all sites, in a flavour that each of the baryons has. */
static const char *check_insertion(const parameters *p, const named_measure *m, char *message, size_t size)
{
    static const char *const flavours[] = {BARYON_INSERTED(PARAM_TEXT)};
    const baryon_keys *k = OBSERVABLE_OWN(baryon_keys, &m->p);
    const char *name = measure_propagator(&m->p, 2), *inserted = flavours[k->inserted];
    if (!name && ini_given(p->input, "measure", m->name, "inserted")) {
        snprintf(message, size, "[measure.%s] inserted = %s has no effect without an insertion", m->name, inserted);
        return "inserted";
    }
    const named_source *s = name ? parameters_source(p, parameters_propagator(p, name)->p.source) : NULL;
    if (s && !source_kind_of(&s->p)->all_times) {
        snprintf(message, size,
                 "[measure.%s] insertion = %s is from [source.%s] of kind = %s; name a [propagator.NAME] from a source "
                 "of kind = feynman_hellmann",
                 m->name, name, s->name, source_kind_of(&s->p)->name);
        return "insertion";
    }
    for (int i = 0; name && baryon_kind_number(i); i++) {
        const baryon_kind *kind = baryon_kind_number(i);
        if (!param_has_word(k->baryons, kind->name) || baryon_has_flavour(kind, k->inserted)) continue;
        snprintf(message, size, "[measure.%s] inserted = %s, and the %s has no such quark", m->name, inserted,
                 kind->name);
        return "inserted";
    }
    return NULL;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const char *name = measure_propagator(&m->p, 0);
    const char *key = check_insertion(p, m, message, size);
    if (key) return key;
    const named_source *source = parameters_source(p, parameters_propagator(p, name)->p.source);
    if (!OBSERVABLE_OWN(baryon_keys, &m->p)->baryons[0]) {
        snprintf(message, size, "[measure.%s] baryons is empty; choose of " BARYON_WORDS, m->name);
        return "baryons";
    }
    if (source_kind_of(&source->p)->noise) {
        snprintf(message, size,
                 "[measure.%s] three quarks from [source.%s] of kind %s have no mean: give a propagator from a point, "
                 "a wall or a smeared source",
                 m->name, source->name, source_kind_of(&source->p)->name);
        return "propagator";
    }
    return check_twist(p, m, message, size);
}

static const param own[] = {
    {"baryons", PARAM_WORDS, OBSERVABLE_KEY(baryon_keys, baryons), "nucleon", BARYON_WORDS, NULL,
     "which ones; u and d are propagator, s is propagator_2", 0},
    {"spin", PARAM_CHOICE, OBSERVABLE_KEY(baryon_keys, spin), "average", PARAM_RANGE(BARYON_SPINS), NULL,
     "T = (1 +- gamma_t) / 2, or that times 1 + Sigma_z", 0},
    {"components", PARAM_CHOICE, OBSERVABLE_KEY(baryon_keys, components), "all", PARAM_RANGE(BARYON_COMPONENTS), NULL,
     "of the diquark's quarks; upper: C gamma_5 (1 +- gamma_t) / 2 in place of C gamma_5, with the sign of T", 0},
    {"inserted", PARAM_CHOICE, OBSERVABLE_KEY(baryon_keys, inserted), "u", PARAM_RANGE(BARYON_INSERTED), NULL,
     "flavour of the quarks that the insertion takes the place of", 0},
    MOMENTUM2_KEY(OBSERVABLE_KEY(baryon_keys, momentum2)),
};
static const param_section part = PARAM_PART("measure", "baryons", measure_params, own);
_Static_assert(sizeof(baryon_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of baryons");

const observable observable_baryons = {.name = "baryons",
                                       .help = "octet and decuplet baryons of both parities",
                                       .own = &part,
                                       .check = check,
                                       .quarks = MEASURE_WILSON,
                                       .later = "inserted",
                                       .propagators = 3,
                                       .columns = columns,
                                       .ncolumns = COLUMNS,
                                       .axis = "t",
                                       .names = names,
                                       .summary = summary,
                                       .nsummary = sizeof summary / sizeof summary[0],
                                       .measure = measure_baryons};
