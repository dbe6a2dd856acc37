#include "hmc/measure/baryon_contraction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

enum { U = FLAVOUR_U, D = FLAVOUR_D, S = FLAVOUR_S, MOST_LAUNCHES = 64 };

#define ROOT_3 1.7320508075688772
#define ROOT_6 2.4494897427831781

static const baryon_kind kinds[] = {
    {"nucleon", 0, 1, {{1, {U, D, U}}}},
    {"sigma", 0, 1, {{1, {U, S, U}}}},
    {"xi", 0, 1, {{1, {S, U, S}}}},
    {"lambda", 0, 3, {{2 / ROOT_6, {U, D, S}}, {1 / ROOT_6, {U, S, D}}, {-1 / ROOT_6, {D, S, U}}}},
    {"delta", 1, 1, {{1, {U, U, U}}}},
    {"sigma_star", 1, 2, {{2 / ROOT_3, {U, S, U}}, {1 / ROOT_3, {U, U, S}}}},
    {"xi_star", 1, 2, {{2 / ROOT_3, {S, U, S}}, {1 / ROOT_3, {S, S, U}}}},
    {"omega", 1, 1, {{1, {S, S, S}}}},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const baryon_kind *baryon_kind_number(int i)
{
    return i < KINDS ? &kinds[i] : NULL;
}

int baryon_has_flavour(const baryon_kind *kind, int flavour)
{
    for (int k = 0; k < 3; k++)
        if (kind->term[0].flavour[k] == flavour) return 1;
    return 0;
}

/* ---- tensors of a diquark's spins ---- */

/* Entries in the order of the first spin, so that equal tensors have equal entries. */
typedef struct {
    diquark_pair pair[DIQUARK_PAIRS];
} diquark;

static diquark diquark_of(const spin_matrix *m)
{
    diquark q;
    for (int s = 0; s < DIQUARK_PAIRS; s++) /* no zero is negative */
        q.pair[s] = (diquark_pair){{s, m->at[s]}, {creal(m->value[s]) + 0.0, cimag(m->value[s]) + 0.0}};
    return q;
}

/* The tensor with its two spins exchanged. */
static diquark exchanged(const diquark *q)
{
    diquark r;
    for (int k = 0; k < DIQUARK_PAIRS; k++) {
        const diquark_pair *from = &q->pair[k];
        r.pair[from->at[1]] = (diquark_pair){{from->at[1], from->at[0]}, {from->factor[0], from->factor[1]}};
    }
    return r;
}

/* ---- Wick contractions ---- */

/* A call of a kernel: lines, tensors at either end, and how often. */
typedef struct {
    int crossed;
    const field *line[3];
    diquark sink, source;
    double weight;
} launch;

typedef struct {
    int n;
    launch of[MOST_LAUNCHES];
} launches;

/* Equal calls are one, with the sum of their weights. */
static void add_launch(launches *all, const launch *l)
{
    for (int i = 0; i < all->n; i++) {
        launch *other = &all->of[i];
        if (other->crossed == l->crossed && !memcmp(other->line, l->line, sizeof l->line) &&
            !memcmp(&other->sink, &l->sink, sizeof l->sink) && !memcmp(&other->source, &l->source, sizeof l->source)) {
            other->weight += l->weight;
            return;
        }
    }
    REQUIRE(all->n < MOST_LAUNCHES, "more than %d contractions of a baryon", MOST_LAUNCHES);
    all->of[all->n++] = *l;
}

/* Lines from place i of the sink to place to[i] of the source. The sign of the exchange of quarks is that of the exchange of
 * their colours. Where the third line is not the one between the open spins, line x ends on the open one of the source. */
static void add_contraction(launches *all, const field *const line[3], const int to[3], const diquark *sink,
                            const diquark *source, double weight)
{
    launch l;
    memset(&l, 0, sizeof l);
    const int x = to[1] == 2, y = !x;
    l.crossed = to[2] != 2;
    l.line[0] = line[l.crossed ? x : 0];
    l.line[1] = line[l.crossed ? y : 1];
    l.line[2] = line[2];
    l.sink = l.crossed && x ? exchanged(sink) : *sink;
    l.source = to[l.crossed ? y : 0] == 0 ? *source : exchanged(source);
    l.weight = weight;
    add_launch(all, &l);
}

/* The contraction with lines of flavours at[], or those with an insertion in one of them. */
static void add_insertions(launches *all, const baryon_lines *lines, const int at[3], const int to[3],
                           const diquark *sink, const diquark *source, double weight)
{
    const field *const line[3] = {lines->quark[at[0]], lines->quark[at[1]], lines->quark[at[2]]};
    if (!lines->insertion) add_contraction(all, line, to, sink, source, weight);
    for (int k = 0; lines->insertion && k < 3; k++) {
        const field *const with[3] = {k == 0 ? lines->insertion : line[0], k == 1 ? lines->insertion : line[1],
                                      k == 2 ? lines->insertion : line[2]};
        if (at[k] == lines->inserted) add_contraction(all, with, to, sink, source, weight);
    }
}

/* Wick contractions of the terms of a kind, all, for one gamma matrix. */
static void add_contractions(launches *all, const baryon_kind *kind, const baryon_lines *lines, const diquark *sink,
                             const diquark *source, double weight)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
    for (int i = 0; i < kind->terms; i++)
        for (int j = 0; j < kind->terms; j++)
            for (int k = 0; k < 6; k++) {
                const int *to = orders[k], *at = kind->term[i].flavour, *from = kind->term[j].flavour;
                const int fits = at[0] == from[to[0]] && at[1] == from[to[1]] && at[2] == from[to[2]];
                if (fits)
                    add_insertions(all, lines, at, to, sink, source,
                                   weight * kind->term[i].weight * kind->term[j].weight);
            }
}

static void run_launch(field *rho, const launch *l)
{
    diquark source = l->source;
    for (int k = 0; k < DIQUARK_PAIRS; k++)
        for (int c = 0; c < 2; c++) source.pair[k].factor[c] *= l->weight;
    if (l->crossed) contract_baryon_crossed(rho, l->line[0], l->line[1], l->line[2], l->sink.pair, source.pair);
    else contract_baryon_direct(rho, l->line[0], l->line[1], l->line[2], l->sink.pair, source.pair);
}

/* The part of Gamma with gamma_t behind it, or without. */
static spin_matrix gamma_of(const baryon_kind *kind, int i, int with_t)
{
    const spin_matrix c = gamma_number(CHARGE_CONJUGATION), t = gamma_number(8),
                      own = gamma_number(kind->decuplet ? 1 << i : GAMMA_5), gamma = gamma_product(&c, &own);
    return with_t ? gamma_product(&gamma, &t) : gamma;
}

/* Density of a kind, added to rho. With `components` Gamma is a half of itself, and of itself times components gamma_t. */
static void add_density(field *rho, const baryon_kind *kind, const baryon_lines *lines, int components)
{
    const int n = kind->decuplet ? 3 : 1, parts = components ? 2 : 1;
    for (int i = 0; i < n * parts * parts; i++) {
        const int first = i / n / parts, second = i / n % parts;
        const spin_matrix gamma = gamma_of(kind, i % n, first), other = gamma_of(kind, i % n, second),
                          bar = gamma_of_source(&other);
        const diquark sink = diquark_of(&gamma), source = diquark_of(&bar);
        const double sign = first == second ? 1 : components;
        launches all = {0};
        add_contractions(&all, kind, lines, &sink, &source, sign / (n * parts * parts));
        for (int k = 0; k < all.n; k++)
            if (all.of[k].weight != 0) run_launch(rho, &all.of[k]);
    }
}

/* ---- correlators ---- */

void baryon_open(baryon *b, const momenta *p, const baryon_kind *kind, const baryon_lines *lines, int components,
                 const int x0[4])
{
    const field *like = lines->quark[kind->term[0].flavour[0]];
    const int T = like->lat->size[3], n = 2 * T * p->n * SPIN_PAIRS;
    *b = (baryon){.lat = like->lat, .p = p, .start = x0[3], .sums = malloc((size_t)n * sizeof *b->sums)};
    REQUIRE_MEMORY(b->sums, "out of memory for %d sums", n);
    for (int k = 0; k < n; k++) b->sums[k] = exact_zero();
    field *rho = density_create(like, SPIN_PAIRS);
    slice_waves waves = momenta_waves(p, x0);
    add_density(rho, kind, lines, components);
    contract_slices(b->sums, rho, &waves);
    comm_group_sum_exact(like->lat->group, b->sums, n);
    momenta_waves_free(&waves);
    field_destroy(rho);
}

void baryon_close(baryon *b)
{
    free(b->sums);
}

spin_projector baryon_projector(int parity, int polarised)
{
    const spin_matrix t = gamma_number(8), xy = gamma_number(3), xyt = gamma_product(&xy, &t);
    spin_projector T = {{{0}}};
    for (int s = 0; s < GAMMA_SPINS; s++) {
        T.at[s][s] += 0.5;
        T.at[s][t.at[s]] += 0.5 * parity * t.value[s];
        if (!polarised) continue;
        T.at[s][xy.at[s]] -= 0.5 * I * xy.value[s];
        T.at[s][xyt.at[s]] -= 0.5 * I * parity * xyt.value[s];
    }
    return T;
}

double complex baryon_trace(const baryon *b, const spin_projector *T, int i, int t)
{
    const int extent = b->lat->size[3], at = t + b->start, crossed = at >= extent;
    const exact_sum *sums = b->sums + 2L * SPIN_PAIRS * ((long)(at % extent) * b->p->n + i);
    double complex value = 0;
    for (int row = 0; row < GAMMA_SPINS; row++)
        for (int column = 0; column < GAMMA_SPINS; column++) {
            const exact_sum *g = sums + 2 * (GAMMA_SPINS * column + row);
            value += T->at[row][column] * (exact_value(&g[0]) + I * exact_value(&g[1]));
        }
    return crossed ? b->lat->time_sign * value : value;
}
