/* mesons: correlators of two Wilson-clover or domain wall quarks, with gamma matrices at both ends and momenta,
 *
 *   C(p, t) = sum_x exp(-i p.(x - x_0)) tr [gamma_5 S_1(x)^dagger gamma_5 Gamma_sink S_2(x) Gamma_source]
 *
 * S_1, which becomes the antiquark by gamma_5 hermiticity, is of `quark`, and S_2 of `quark_2`, from one source at x_0 =
 * (source, t_0); t counts from t_0. With one gamma matrix at both ends this is Chroma's correlator; gamma_5 (15) is the
 * pion. Sources are points, or points smeared by Gaussians (smearing.h), and so are sinks; domain wall quarks enter and
 * leave by their walls. The 12 columns of a quark are solved for as many at once as its solver takes. */
#include <stdio.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "hmc/measure/contraction.h"
#include "hmc/measure/propagator.h"
#include "hmc/measure/smearing.h"
#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

typedef struct {
    int source[4], steps, momentum2;
    double width;
    char quark_2[PARAM_STRING_SIZE], solver_2[PARAM_STRING_SIZE];
    char operators[PARAM_WORDS_SIZE], pairs[PARAM_CHOICE_SIZE];
    char source_smearing[PARAM_CHOICE_SIZE], sink_smearing[PARAM_CHOICE_SIZE], links[PARAM_STRING_SIZE];
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
    PROPAGATOR_COLUMNS("the solves"),
};

typedef struct {
    const meson_keys *k;
    gaussian at_source, at_sink;
    int first;      /* column of a batch */
    field *sources; /* smeared sources of all columns, which both quarks and every residual use; null: points */
    field *source, *columns[2];
    propagator q;
} mesons;

/* ---- propagators ---- */

static const field *source_of(void *context, int k)
{
    mesons *s = context;
    if (s->sources) {
        const field part = field_rhs(s->sources, s->first + k);
        vector_axpby(s->source, 1, &part, 0);
    } else {
        simulation_point_source(s->source, s->k->source, s->first + k);
    }
    return s->source;
}

static void keep_column(field *columns, int k, const field *x)
{
    field part = field_rhs(columns, k);
    vector_axpby(&part, 1, x, 0);
    field_written(columns);
}

static field *new_columns(const field *links, int n)
{
    return field_create(links->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, n, links->where);
}

static field *smeared_sources(const mesons *s, const field *links)
{
    field *all = new_columns(links, COLUMNS_OF_SOURCE), *one = new_columns(links, 1);
    for (int k = 0; k < COLUMNS_OF_SOURCE; k++) {
        simulation_point_source(one, s->k->source, k);
        gaussian_smear(&s->at_source, one);
        keep_column(all, k, one);
    }
    field_destroy(one);
    return all;
}

static void keep(void *context, int k, const field *x)
{
    mesons *s = context;
    field *to = s->columns[s->columns[1] != NULL];
    if (s->k->steps == 0 || strcmp(s->k->sink_smearing, "gaussian")) {
        keep_column(to, s->first + k, x);
        return;
    }
    field *smeared = field_like(x);
    vector_axpby(smeared, 1, x, 0);
    gaussian_smear(&s->at_sink, smeared);
    keep_column(to, s->first + k, smeared);
    field_destroy(smeared);
}

/* Columns of one quark, put into the next of s->columns; what the solves took is added to the summary. */
static int solve_quark(mesons *s, const measure_context *c, const measure_params *m, measure_result *r)
{
    int status = MEASURE_DONE;
    propagator_open(&s->q, c, m);
    s->source = fermion_physical(s->q.quark);
    field *x = field_like(s->source), *all = new_columns(c->links, COLUMNS_OF_SOURCE);
    s->columns[s->columns[0] != NULL] = all;
    const propagator_batch_of of = {source_of, keep, s, x};
    for (int n; s->first < COLUMNS_OF_SOURCE && status == MEASURE_DONE; s->first += n) {
        char what[64 + PARAM_STRING_SIZE];
        const int left = COLUMNS_OF_SOURCE - s->first;
        n = left < propagator_batch(&s->q) ? left : propagator_batch(&s->q);
        snprintf(what, sizeof what, "columns %d to %d of %s", s->first, s->first + n - 1, m->quark);
        status = propagator_solve_batch(&s->q, n, &of, what, r);
    }
    s->first = 0;
    double values[PROPAGATOR_VALUES];
    propagator_summary(&s->q, values);
    r->summary[1] = (s->columns[1] ? r->summary[1] : 0) + values[1];
    for (int i = 0; i < PROPAGATOR_VALUES; i++)
        if (i != 1 && !(values[i] <= r->summary[i])) r->summary[i] = values[i];
    field_destroy(x);
    field_destroy(s->source);
    propagator_close(&s->q);
    return status;
}

/* The second quark as the measurement's own, with the solver that it names. */
static measure_params second_of(const measure_params *m, const meson_keys *k)
{
    measure_params other = *m;
    snprintf(other.quark, sizeof other.quark, "%s", k->quark_2);
    snprintf(other.solver, sizeof other.solver, "%s", k->solver_2);
    return other;
}

/* ---- the measurement ---- */

static void add_correlator(const contraction *c, int source, int sink, int i, measure_result *r)
{
    const spin_matrix at_source = gamma_number(source), at_sink = gamma_number(sink);
    const int *n = c->p->number[i];
    for (int t = 0; t < c->lat->size[3]; t++) {
        const double complex value = contraction_meson(c, &at_sink, &at_source, i, t);
        measure_add_row(r, (const double[COLUMNS]){source, sink, n[0], n[1], n[2], t, creal(value), cimag(value)});
    }
}

static void contract(const mesons *s, measure_result *r)
{
    int numbers[GAMMAS];
    const int n = gamma_listed(s->k->operators, numbers), all = !strcmp(s->k->pairs, "all");
    const field *first = s->columns[0], *second = s->columns[1] ? s->columns[1] : first;
    momenta p;
    contraction c;
    momenta_open(&p, first->lat, s->k->momentum2);
    contraction_open(&c, &p, first, second, s->k->source);
    for (int source = 0; source < n; source++)
        for (int sink = 0; sink < n; sink++)
            for (int i = 0; i < p.n && (all || source == sink); i++)
                add_correlator(&c, numbers[source], numbers[sink], i, r);
    contraction_close(&c);
    momenta_close(&p);
}

static int measure_mesons(const measure_context *c, const measure_params *m, measure_result *r)
{
    mesons s = {.k = OBSERVABLE_OWN(meson_keys, m)};
    const meson_keys *k = s.k;
    link_map *map = measure_map(c, k->links);
    const field *links = map ? link_map_links(map) : c->links;
    propagator_check_source(c, k->source, r);
    gaussian_open(&s.at_source, links, k->width, strcmp(k->source_smearing, "gaussian") ? 0 : k->steps);
    gaussian_open(&s.at_sink, links, k->width, strcmp(k->sink_smearing, "gaussian") ? 0 : k->steps);
    if (s.at_source.steps) s.sources = smeared_sources(&s, links);
    int status = solve_quark(&s, c, m, r);
    if (status == MEASURE_DONE && k->quark_2[0]) {
        const measure_params other = second_of(m, k);
        status = solve_quark(&s, c, &other, r);
    }
    field_destroy(s.sources);
    if (status == MEASURE_DONE) contract(&s, r);
    for (int i = 0; i < 2; i++) field_destroy(s.columns[i]);
    gaussian_close(&s.at_sink);
    gaussian_close(&s.at_source);
    link_map_destroy(map);
    return status;
}

/* ---- keys ---- */

static const char *check_smearing(const meson_keys *k, const char *name, char *message, size_t size)
{
    const int smears = !strcmp(k->source_smearing, "gaussian") || !strcmp(k->sink_smearing, "gaussian");
    if (smears && (k->steps == 0 || k->width == 0)) {
        snprintf(message, size,
                 "[measure.%s] smears by a Gaussian and needs width and smearing_steps above 0; they are %g and %d",
                 name, k->width, k->steps);
        return k->width == 0 ? "width" : "smearing_steps";
    }
    if (!smears && (k->steps || k->width != 0 || k->links[0])) {
        snprintf(message, size,
                 "[measure.%s] width, smearing_steps and smearing_links have no effect without source_smearing = "
                 "gaussian or "
                 "sink_smearing = gaussian; leave them out",
                 name);
        return k->steps ? "smearing_steps" : k->links[0] ? "smearing_links" : "width";
    }
    if (smears && k->width * k->width > k->steps) {
        snprintf(
            message, size,
            "[measure.%s] width = %g in %d steps: beyond width^2 = smearing_steps the shortest waves grow; take more "
            "steps",
            name, k->width, k->steps);
        return "smearing_steps";
    }
    return NULL;
}

/* gamma_5 hermiticity leads to the other flavour where there is a twisted mass. At one end and the other gamma_5 leaves the charged
 * pion, sum |S|^2; the meanings of the others depend on the angle of the twist. */
static const char *check_twist(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    const char *const names[2] = {m->p.quark, k->quark_2};
    for (int i = 0; i < 2 && strcmp(k->operators, "pseudoscalar"); i++) {
        if (!names[i][0]) continue;
        const quark_params *q = &p->quarks[parameters_quark(p, names[i])].p;
        if (!quark_kind_of(q)->twisted_mass) continue;
        snprintf(
            message, size,
            "operators = %s of [measure.%s]: the antiquark of kind = %s of [quark.%s] is of the other flavour, -mu; "
            "only operators = pseudoscalar, the charged pion, is there",
            k->operators, m->name, q->kind, names[i]);
        return "operators";
    }
    return NULL;
}

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, &m->p);
    if (!k->operators[0]) {
        snprintf(message, size,
                 "[measure.%s] operators is empty; choose of scalar, pseudoscalar, vector, axial and tensor", m->name);
        return "operators";
    }
    if (k->solver_2[0] && !k->quark_2[0]) {
        snprintf(message, size, "[measure.%s] solver_2 has no effect without quark_2; leave it out", m->name);
        return "solver_2";
    }
    const char *key = check_twist(p, m, message, size);
    if (!key) key = check_smearing(k, m->name, message, size);
    return key ? key : propagator_source_fits(p, m->name, k->source, message, size);
}

static const char *second_quark(const measure_params *m, const char **solver)
{
    const meson_keys *k = OBSERVABLE_OWN(meson_keys, m);
    *solver = k->solver_2;
    return k->quark_2;
}

static const char *smearing_links(const measure_params *m)
{
    return OBSERVABLE_OWN(meson_keys, m)->links;
}

static const param own[] = {
    {"source", PARAM_INT4, OBSERVABLE_KEY(meson_keys, source), "0.0.0.0", "[0,inf)", "sites", "place of the source", 0},
    {"quark_2", PARAM_NAME, OBSERVABLE_KEY(meson_keys, quark_2), "", "quark", NULL,
     "[quark.NAME] of the quark; that of the antiquark is `quark`; empty: the same", 0},
    {"solver_2", PARAM_NAME, OBSERVABLE_KEY(meson_keys, solver_2), "", "solver", NULL,
     "[solver.NAME] of quark_2; empty: its solver", 0},
    {"operators", PARAM_WORDS, OBSERVABLE_KEY(meson_keys, operators), "pseudoscalar vector", GAMMA_WORDS, NULL,
     "gamma matrices: unit matrix, gamma_5, gamma_mu, gamma_mu gamma_5, gamma_mu gamma_nu", 0},
    {"pairs", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, pairs), "diagonal", "diagonal|all", NULL,
     "the same gamma matrix at both ends, or all pairs of those of operators", 0},
    MOMENTUM2_KEY(OBSERVABLE_KEY(meson_keys, momentum2)),
    {"source_smearing", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, source_smearing), "none", "none|gaussian", NULL,
     "gauge covariant Gaussian of the source, in space", 0},
    {"sink_smearing", PARAM_CHOICE, OBSERVABLE_KEY(meson_keys, sink_smearing), "none", "none|gaussian", NULL,
     "the same of both quarks at the sink", 0},
    {"width", PARAM_REAL, OBSERVABLE_KEY(meson_keys, width), "0", "[0,1000]", "a",
     "w of Gaussians: n steps of chi - (w^2 / 4n) (6 chi - sum of neighbours)", 0},
    {"smearing_steps", PARAM_INT, OBSERVABLE_KEY(meson_keys, steps), "0", "[0,10000]", NULL, "n of Gaussians", 0},
    {"smearing_links", PARAM_NAME, OBSERVABLE_KEY(meson_keys, links), "", "links", NULL,
     "[links.NAME] that Gaussians are made with; empty: the links of the ensemble", 0},
};
static const param_section part = PARAM_PART("measure", "mesons", measure_params, own);
_Static_assert(sizeof(meson_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of mesons");

const observable observable_mesons = {
    .name = "mesons",
    .help = "mesons of two quarks, all gamma matrices and momenta, smeared sources and sinks",
    .own = &part,
    .check = check,
    .quarks = MEASURE_WILSON,
    .second_quark = second_quark,
    .links = smearing_links,
    .columns = columns,
    .ncolumns = COLUMNS,
    .axis = "t",
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_mesons};
