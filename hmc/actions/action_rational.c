/* Powers of determinants by rational functions (A. Kennedy, I. Horvath and S. Sint, hep-lat/9809092; M. Clark and A.
 * Kennedy, hep-lat/0608015): odd numbers of flavours, roots of the staggered determinant, and ratios of those of
 * several masses, which are shifts of one operator. With K Hermitian and positive on one parity, and r(K) the nth root
 * of prod_i (K + shift_i)^-power_i, approximated,
 *
 *   S = sum_k phi_k^dagger r(K) phi_k,  phi_k = r(K)^-1/2 eta_k = K [K^-1 r(K)^-1/2] eta_k
 *
 * As the exponents of r, added up from the smallest shift on, stay between -1 and 0, so do those in brackets, and the
 * residues have one sign: sums of partial fractions lose no digits, as those of positive exponents would, and K takes
 * back what solves magnify.
 *
 * A ratio to one power, as that of a domain wall quark to its Pauli-Villars field, has K in the middle (P. Boyle and the
 * RBC and UKQCD collaborations, arXiv:1411.7017, as their quotient action): with L the normal operator of the denominator,
 *
 *   S = sum_k phi_k^dagger s(L) r(K) s(L) phi_k,  s(L) = r(L)^-1/2 = L [L^-1 r(L)^-1/2],  phi_k = s(L)^-1 r(K)^-1/2 eta_k
 *
 * and with w = r(K) s(L) phi, and the bracket c + sum_i a_i (L + b_i)^-1, the force of s(L) is that of
 *
 *   2 Re phi^dagger ds w = 2 Re [c phi^dagger dL w + sum_i a_i b_i X_i^dagger dL Z_i],  X_i, Z_i = (L + b_i)^-1 phi, w
 *
 * For the ranges of the functions see rational_range.h. Where det M may be negative, its modulus is what is simulated. */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/actions/inverter.h"
#include "hmc/actions/rational_range.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/ops/vector.h"

enum { HEAT, ACCEPT, EVOLVE };

/* An operator with its range and functions. */
typedef struct {
    inverter solves;
    rational_range range;
    const rational *r[3]; /* functions of heat bath, accept step and force; borrowed */
} powers;

typedef struct {
    action base;
    rational_settings s;
    powers k, l; /* l: of the denominator, where there is one */
    field *phi[RATIONAL_MOST_PSEUDOFERMIONS];
    rational_store *store;
} rational_part;

static int begin_again(action *a)
{
    rational_part *p = (rational_part *)a;
    return rational_range_widen(&p->k.range, a) || rational_range_widen(&p->l.range, a);
}

/* ---- functions ---- */

/* f on a range, null with a message. */
static const rational *function(rational_store *store, const power_product *f, double low, double high,
                                double tolerance, char *message, size_t size)
{
    static const rational inverse = {.degree = 1, .residues = {1}}; /* 1 / x: what takes no root */
    if (f->nfactors == 1 && f->factors[0].num == -f->factors[0].den) return &inverse;
    return rational_for(store, f, low, high, tolerance, message, size);
}

/* f(x)^(-1/2) / x */
static power_product heat_of(const power_product *f)
{
    power_product h = *f;
    for (int i = 0; i < f->nfactors; i++) {
        h.factors[i].num = -f->factors[i].num;
        h.factors[i].den = 2 * f->factors[i].den;
    }
    h.factors[0].num -= h.factors[0].den;
    return h;
}

/* f(x)^(1/2) */
static power_product root_of(const power_product *f)
{
    power_product h = *f;
    for (int i = 0; i < f->nfactors; i++) h.factors[i].den *= 2;
    return h;
}

/* Functions of heat bath, accept step and force; nonzero, with a message, when one is not to be had by the action of
 * this name. */
static int functions(const char *name, rational_store *store, const rational_settings *s, const rational_range *range,
                     const power_product f[3], const rational *r[3], char *message, size_t size)
{
    char why[256];
    r[HEAT] = r[ACCEPT] = r[EVOLVE] = NULL;
    r[HEAT] = function(store, &f[HEAT], range->low, range->high, s->approximation, why, sizeof why);
    if (r[HEAT]) r[ACCEPT] = function(store, &f[ACCEPT], range->low, range->high, s->approximation, why, sizeof why);
    if (r[ACCEPT])
        r[EVOLVE] = function(store, &f[EVOLVE], range->low, range->high, s->force_approximation, why, sizeof why);
    if (r[EVOLVE]) return 0;
    snprintf(message, size, "%s: no rational functions on %.3e to %.3e: %s; give [action.%s] a larger approximation",
             name, range->low, range->high, why, name);
    return 1;
}

/* Functions of K: r(K)^-1/2 without a factor K for the heat bath, else r(K). */
static int functions_of_quark(const char *name, rational_store *store, const rational_settings *s,
                              const rational_range *range, const rational *r[3], char *message, size_t size)
{
    const power_product f[3] = {[HEAT] = heat_of(&s->root), [ACCEPT] = s->root, [EVOLVE] = s->root};
    return functions(name, store, s, range, f, r, message, size);
}

/* Functions of L: s(L)^-1 for the heat bath, else s(L) without a factor L. */
static int functions_of_denominator(const char *name, rational_store *store, const rational_settings *s,
                                    const rational_range *range, const rational *r[3], char *message, size_t size)
{
    const power_product heat = heat_of(&s->root), f[3] = {[HEAT] = root_of(&s->root), [ACCEPT] = heat, [EVOLVE] = heat};
    return functions(name, store, s, range, f, r, message, size);
}

static rational_range range_of_quark(const rational_settings *s)
{
    return (rational_range){
        .key = "spectrum", .bound = s->bound, .given = {s->low, s->high}, .widen = s->widen, .recorded = 1};
}

static rational_range range_of_denominator(const rational_settings *s)
{
    return (rational_range){.key = "pauli_villars_spectrum", .given = {s->over_low, s->over_high}, .widen = s->widen};
}

int rational_action_check(const char *name, const rational_settings *s, char *message, size_t size)
{
    const rational *r[3];
    rational_store *store = rational_store_create();
    int bad = 0;
    if (s->high > 0 || s->bound > 0) {
        rational_range range = range_of_quark(s);
        rational_range_planned(&range, &range.low, &range.high);
        if (s->high == 0) range.high = s->bound + RATIONAL_LEAST_HIGH;
        bad = functions_of_quark(name, store, s, &range, r, message, size);
    }
    if (!bad && s->over_high > 0) {
        rational_range range = range_of_denominator(s);
        rational_range_planned(&range, &range.low, &range.high);
        bad = functions_of_denominator(name, store, s, &range, r, message, size);
    }
    rational_store_destroy(store);
    return bad;
}

static void tell_functions(const action *a, const powers *o)
{
    log_debug("%s: %s %.4e to %.4e, degrees %d (heat bath), %d (action), %d (force)", a->name, o->range.key,
              o->range.low, o->range.high, o->r[HEAT]->degree, o->r[ACCEPT]->degree, o->r[EVOLVE]->degree);
}

/* Chooses the functions for the spectrum at these links. */
static int begin(action *a)
{
    rational_part *p = (rational_part *)a;
    const rational_range *k = &p->k.range, *l = &p->l.range;
    if (rational_range_begin(&p->k.range, a)) return 1;
    if (p->s.over && rational_range_begin(&p->l.range, a)) return 1;
    int bad = functions_of_quark(a->name, p->store, &p->s, k, p->k.r, a->trouble, sizeof a->trouble);
    if (!bad && p->s.over)
        bad = functions_of_denominator(a->name, p->store, &p->s, l, p->l.r, a->trouble, sizeof a->trouble);
    if (bad) {
        a->advice = ADVICE_SPECTRUM;
        return 1;
    }
    tell_functions(a, &p->k);
    if (p->s.over) tell_functions(a, &p->l);
    return 0;
}

/* ---- solves ---- */

static void open_solutions(const rational_part *p, const rational *r, field **x)
{
    for (int i = 0; i < r->degree; i++) x[i] = field_like(p->phi[0]);
}

static void close_solutions(const rational *r, field **x)
{
    for (int i = 0; i < r->degree; i++) field_destroy(x[i]);
}

static void add_solutions(const rational *r, field *y, const field *b, field *const *x)
{
    vector_axpby(y, r->constant, b, 0);
    for (int i = 0; i < r->degree; i++) vector_axpby(y, r->residues[i], x[i], 1);
}

/* y = r(A) b of the operator A of o; y is not b. */
static int apply(rational_part *p, powers *o, const named_solver *solver, const rational *r, field *y, const field *b,
                 const char *use)
{
    field *x[RATIONAL_MAX_DEGREE];
    open_solutions(p, r, x);
    const int failed = inverter_poles(&o->solves, solver, r, x, b, use);
    add_solutions(r, y, b, x);
    close_solutions(r, x);
    return failed;
}

/* y = A r(A) b; y is not b. */
static int apply_times(rational_part *p, powers *o, const named_solver *solver, const rational *r, field *y,
                       const field *b, const char *use)
{
    field *t = field_like(b);
    const int failed = apply(p, o, solver, r, t, b, use);
    linop_apply(o->solves.normal, y, t, 0);
    field_destroy(t);
    return failed;
}

static int draw(rational_part *p, field *phi, const field *eta)
{
    const named_solver *solver = p->s.solvers.heat_bath;
    if (!p->s.over) return apply_times(p, &p->k, solver, p->k.r[HEAT], phi, eta, "heat bath");
    field *t = field_like(eta);
    const int failed = apply_times(p, &p->k, solver, p->k.r[HEAT], t, eta, "heat bath") ||
                       apply(p, &p->l, solver, p->l.r[HEAT], phi, t, "heat bath of the denominator");
    field_destroy(t);
    return failed;
}

static int refresh(action *a, random_key key)
{
    rational_part *p = (rational_part *)a;
    int failed = 0;
    field *eta = field_like(p->phi[0]);
    a->start_value = 0;
    a->start_known = 1;
    for (int k = 0; k < p->s.pseudofermions && !failed; k++) {
        vector_random(eta, key.seed, (uint32_t)(a->purpose + k * MAX_ACTIONS), key.trajectory);
        a->start_value += vector_norm2(eta, 0);
        failed = draw(p, p->phi[k], eta);
    }
    field_destroy(eta);
    return failed;
}

static int value_of(rational_part *p, const field *phi, double *s)
{
    const named_solver *solver = p->s.solvers.action;
    field *chi = p->s.over ? field_like(phi) : NULL, *y = field_like(phi);
    double d[2];
    int failed = chi && apply_times(p, &p->l, solver, p->l.r[ACCEPT], chi, phi, "action of the denominator");
    if (!failed) failed = apply(p, &p->k, solver, p->k.r[ACCEPT], y, chi ? chi : phi, "action");
    vector_dot(d, chi ? chi : phi, y, 0);
    *s = d[0];
    field_destroy(y);
    field_destroy(chi);
    return failed;
}

static int value(action *a, double *s)
{
    rational_part *p = (rational_part *)a;
    int failed = rational_range_check(&p->k.range, a) || (p->s.over && rational_range_check(&p->l.range, a));
    *s = 0;
    for (int k = 0; k < p->s.pseudofermions && !failed; k++) {
        double more = 0;
        failed = value_of(p, p->phi[k], &more);
        *s += more;
    }
    return failed;
}

/* ---- forces ---- */

static void *open_sum(action *a, field *f)
{
    rational_part *p = (rational_part *)a;
    return fermion_open_force(p->s.quark, f);
}

static void close_sum(action *a, void *sum)
{
    fermion_close_force(((rational_part *)a)->s.quark, sum);
}

/* The forces of all poles, with X_i = (K + pole_i)^-1 b; w = r(K) b, unless that is null. */
static int add_poles(rational_part *p, void *sum, field *w, const field *b)
{
    const rational *r = p->k.r[EVOLVE];
    field *x[RATIONAL_MAX_DEGREE];
    open_solutions(p, r, x);
    const int failed = inverter_poles(&p->k.solves, action_force_solver(&p->base, &p->s.solvers), r, x, b, "force");
    if (!failed) fermion_add_force(sum, p->s.quark, r->degree, r->residues, x);
    if (w) add_solutions(r, w, b, x);
    close_solutions(r, x);
    return failed;
}

/* The force of S with dS = 2 factor Re x^dagger dL z, L = W^dagger W. */
static void add_between(rational_part *p, void *sum, double factor, const field *x, const field *z)
{
    fermion *over = p->s.over;
    field *t = field_like(x);
    linop_apply(over->direct, t, z, 0);
    fermion_add_variation(sum, over, -factor, x, t);
    linop_apply(over->direct, t, x, 0);
    fermion_add_variation(sum, over, -factor, z, t);
    field_destroy(t);
}

/* Force of 2 Re phi^dagger ds(L) w from the solutions X_i for phi. */
static int add_denominator(rational_part *p, void *sum, const field *phi, field *const *x, const field *w)
{
    const rational *r = p->l.r[EVOLVE];
    field *z[RATIONAL_MAX_DEGREE];
    open_solutions(p, r, z);
    const int failed =
        inverter_poles(&p->l.solves, action_force_solver(&p->base, &p->s.solvers), r, z, w, "force of the denominator");
    if (!failed) {
        add_between(p, sum, r->constant, phi, w);
        for (int i = 0; i < r->degree; i++) add_between(p, sum, r->residues[i] * r->poles[i], x[i], z[i]);
    }
    close_solutions(r, z);
    return failed;
}

static int add_ratio(rational_part *p, void *sum, const field *phi)
{
    const rational *r = p->l.r[EVOLVE];
    const named_solver *solver = action_force_solver(&p->base, &p->s.solvers);
    field *x[RATIONAL_MAX_DEGREE], *chi = field_like(phi), *t = field_like(phi);
    open_solutions(p, r, x);
    int failed = inverter_poles(&p->l.solves, solver, r, x, phi, "force of the denominator");
    add_solutions(r, t, phi, x);
    linop_apply(p->l.solves.normal, chi, t, 0);
    failed = failed || add_poles(p, sum, t, chi) || add_denominator(p, sum, phi, x, t);
    close_solutions(r, x);
    field_destroy(t);
    field_destroy(chi);
    return failed;
}

static int add_to_sum(action *a, void *sum)
{
    rational_part *p = (rational_part *)a;
    int failed = 0;
    for (int k = 0; k < p->s.pseudofermions && !failed; k++)
        failed = p->s.over ? add_ratio(p, sum, p->phi[k]) : add_poles(p, sum, NULL, p->phi[k]);
    return failed;
}

static void destroy(action *a)
{
    rational_part *p = (rational_part *)a;
    rational_store_destroy(p->store);
    inverter_close(&p->k.solves);
    if (p->s.over) inverter_close(&p->l.solves);
    for (int k = 0; k < p->s.pseudofermions; k++) field_destroy(p->phi[k]);
    free(p);
}

static void open_powers(rational_part *p, powers *o, fermion *quark, rational_range range)
{
    inverter_open(&o->solves, &p->base, quark, &p->s.solvers);
    o->range = range;
    o->range.op = o->solves.normal;
}

action *rational_action_create(const char *name, const rational_settings *s)
{
    static const action_table table = {.begin = begin,
                                       .refresh = refresh,
                                       .value = value,
                                       .destroy = destroy,
                                       .begin_again = begin_again,
                                       .open_sum = open_sum,
                                       .add_to_sum = add_to_sum,
                                       .close_sum = close_sum};
    rational_part *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    REQUIRE(s->pseudofermions <= RATIONAL_MOST_PSEUDOFERMIONS && s->root.factors[0].shift == 0,
            "%d pseudofermions, first shift %g", s->pseudofermions, s->root.factors[0].shift);
    REQUIRE(!s->over || (s->root.nfactors == 1 && s->quark->direct && s->over->direct), "a ratio of several powers");
    p->base.table = &table;
    p->base.links = s->quark->links;
    snprintf(p->base.name, sizeof p->base.name, "%s", name);
    p->base.has_spectrum = 1;
    p->base.shares = s->quark->shares;
    p->base.form_of_sum = s->quark->table;
    p->s = *s;
    open_powers(p, &p->k, s->quark, range_of_quark(s));
    if (s->over) open_powers(p, &p->l, s->over, range_of_denominator(s));
    for (int k = 0; k < s->pseudofermions; k++) p->phi[k] = linop_vector(p->k.solves.normal, 1);
    p->store = rational_store_create();
    return &p->base;
}
