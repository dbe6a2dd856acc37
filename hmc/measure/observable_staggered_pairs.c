/* staggered_pairs: local mesons of two staggered quarks, with momenta,
 *
 *   C(p, t) = X(x_0) sum_x exp(-i p.(x - x_0)) X(x) tr [A(x)^dagger B(x)],
 *
 * the trace over colours. A, which becomes the antiquark by G(s', s) = eps(s) eps(s') G(s, s')^dagger, is `propagator`, and B is
 * `propagator_2`, from one source at x_0 = (source, t_0); t counts from t_0. X are the phases of observable_staggered_mesons.c
 * (M. Golterman, Nucl. Phys. B273 (1986) 663); the parity partner of an operator, if it has one, alternates in sign with t:
 *
 *   pion_5    gamma_5 x xi_5                 1
 *   pion_45   gamma_4 gamma_5 x xi_4 xi_5    (-1)^(x+y+z)
 *   rho_vt    gamma_i x xi_i                 (-1)^(x_i)
 *   rho_pv    gamma_4 gamma_i x xi_4 xi_i    (-1)^(x+y+z+x_i) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/measure/momentum.h"
#include "hmc/measure/propagator.h"
#include "hmc/sources/source.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

#define OPERATORS "pion_5|pion_45|rho_vt|rho_pv"

typedef struct {
    int momentum2;
    char operators[PARAM_WORDS_SIZE];
} pair_keys;

static const measure_column columns[] = {
    {"operator", "", "0 pion_5, 1 pion_45, 2 3 4 rho_vt of x y z, 5 6 7 rho_pv of x y z"},
    MOMENTUM_COLUMNS,
    {"t", "a", "time from the source"},
    {"real", "", "Re C"},
    {"imaginary", "", "Im C"},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const char *const operator_names[] = {"pion_5",   "pion_45",  "rho_vt_x", "rho_vt_y", "rho_vt_z",
                                             "rho_pv_x", "rho_pv_y", "rho_pv_z", NULL};
static const table_names names[] = {{"operator", operator_names}, {NULL, NULL}};

static const measure_column summary[] = {
    SOLVES_COLUMNS("the solves"),
};

enum { X = 1, Y = 2, Z = 4 };
static const struct {
    const char *word;
    int odd; /* coordinates whose sum is the exponent of the sign */
} operators[] = {{"pion_5", 0}, {"pion_45", X | Y | Z}, {"rho_vt", X},     {"rho_vt", Y},
                 {"rho_vt", Z}, {"rho_pv", Y | Z},      {"rho_pv", X | Z}, {"rho_pv", X | Y}};
enum { LOCAL = sizeof operators / sizeof operators[0] };

/* ---- waves with signs ---- */

/* The waves of all momenta, with the signs of an operator relative to that of the origin. */
static slice_waves signed_waves(const momenta *m, const int x0[3], int odd)
{
    slice_waves w = momenta_waves(m, x0);
    for (int d = 0; d < 3; d++) {
        double(*factor)[2] = (double(*)[2])(void *)w.factor[d];
        const int size = m->size[d];
        for (int n = 0; n < w.factors[d]; n++)
            for (int x = 0; x < size; x++)
                for (int c = 0; c < 2 && odd >> d & 1 && (x - x0[d]) % 2; c++)
                    factor[n * size + x][c] = -factor[n * size + x][c];
    }
    return w;
}

static void add_operator(int number, const momenta *p, const field *rho, const int x0[4], measure_result *r)
{
    const int times = rho->lat->size[3], n = 2 * times * p->n;
    exact_sum *sums = malloc((size_t)n * sizeof *sums);
    REQUIRE_MEMORY(sums, "out of memory for %d sums", n);
    for (int k = 0; k < n; k++) sums[k] = exact_zero();
    slice_waves waves = signed_waves(p, x0, operators[number].odd);
    contract_slices(sums, rho, &waves);
    comm_group_sum_exact(rho->lat->group, sums, n);
    for (int i = 0; i < p->n; i++)
        for (int t = 0; t < times; t++) {
            const int *k = p->number[i];
            const exact_sum *at = sums + 2L * ((long)((t + x0[3]) % times) * p->n + i);
            measure_add_row(
                r, (const double[COLUMNS]){number, k[0], k[1], k[2], t, exact_value(&at[0]), exact_value(&at[1])});
        }
    momenta_waves_free(&waves);
    free(sums);
}

static void contract(const pair_keys *k, const propagator *const *q, measure_result *r)
{
    momenta p;
    momenta_open(&p, q[0]->columns->lat, k->momentum2);
    field *rho = density_create(q[0]->columns, 1);
    contract_inner(rho, q[0]->columns, q[1]->columns);
    for (int i = 0; i < LOCAL; i++)
        if (param_has_word(k->operators, operators[i].word)) add_operator(i, &p, rho, q[0]->place, r);
    field_destroy(rho);
    momenta_close(&p);
}

static int measure_pairs(const measure_context *c, const measure_params *m, measure_result *r)
{
    const propagator *p[MEASURE_PROPAGATORS];
    const int status = propagators_of(c, m, p, r);
    if (status == MEASURE_DONE) contract(OBSERVABLE_OWN(pair_keys, m), p, r);
    return status;
}

/* ---- keys ---- */

/* Sources whose sites have different signs X(x_0) are for the operator that has none. */
static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const pair_keys *k = OBSERVABLE_OWN(pair_keys, &m->p);
    const named_source *s = parameters_source(p, parameters_propagator(p, measure_propagator(&m->p, 0))->p.source);
    const int one_sign =
        s->p.kind == param_kind(source_section(0), "point") || s->p.kind == param_kind(source_section(0), "corner");
    if (!k->operators[0]) {
        snprintf(message, size, "[measure.%s] operators is empty; choose of pion_5, pion_45, rho_vt and rho_pv",
                 m->name);
        return "operators";
    }
    if (one_sign || !strcmp(k->operators, "pion_5")) return NULL;
    snprintf(message, size,
             "operators = %s of [measure.%s] have signs that sites of [source.%s], of kind = %s, do not share; take "
             "operators = pion_5, or a source of kind = point or corner",
             k->operators, m->name, s->name, source_kind_of(&s->p)->name);
    return "operators";
}

static const param own[] = {
    {"operators", PARAM_WORDS, OBSERVABLE_KEY(pair_keys, operators), "pion_5 rho_vt", OPERATORS, NULL,
     "gamma_5 x xi_5, gamma_4 gamma_5 x xi_4 xi_5, gamma_i x xi_i and gamma_4 gamma_i x xi_4 xi_i", 0},
    MOMENTUM2_KEY(OBSERVABLE_KEY(pair_keys, momentum2)),
};
static const param_section part = PARAM_PART("measure", "staggered_pairs", measure_params, own);
_Static_assert(sizeof(pair_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of staggered_pairs");

const observable observable_staggered_pairs = {.name = "staggered_pairs",
                                               .help = "local mesons of two staggered quarks, with momenta",
                                               .own = &part,
                                               .check = check,
                                               .quarks = MEASURE_STAGGERED,
                                               .propagators = 2,
                                               .columns = columns,
                                               .ncolumns = COLUMNS,
                                               .axis = "t",
                                               .names = names,
                                               .summary = summary,
                                               .nsummary = sizeof summary / sizeof summary[0],
                                               .measure = measure_pairs};
