/* Exact one-flavour algorithm (operators/eofa.h): one flavour over a heavier mass. The pseudofermion is one field of four
 * dimensions, whose chiralities belong to the two factors of the determinant.
 *
 * The heat bath has a solve a pole and chirality, each with an operator of its own. One is near the next, so the first guess
 * of a pole's is made from the solutions of those before. */
#include <stdio.h>
#include <stdlib.h>

#include "hmc/actions/inverter.h"
#include "kernels/base/error.h"
#include "kernels/ops/vector.h"

#define CHIRALITIES 2
/* Solutions of other poles from which the next one is guessed; and room for what solves leave at the ends. */
#define FORECAST 8
#define ROOM 1e-3

/* The quark of A, for one chirality. */
typedef struct {
    fermion *quark;
    inverter solves;
    predictor *guess;
} factor;

typedef struct {
    action base;
    eofa_settings s;
    factor of[CHIRALITIES];
    field *phi; /* pseudofermion of four dimensions, both parities */
    rational_store *store;
} exact;

static const char *const sides[CHIRALITIES] = {"right-handed", "left-handed"};

/* x = H_f^-1 w phi by the quark of v. */
static int invert(const exact *e, const inverter *v, int chirality, const named_solver *solver, field *x,
                  const field *phi, predictor *guess, const char *use)
{
    char what[64];
    field *source = field_like(x);
    snprintf(what, sizeof what, "%s, %s", use, sides[chirality]);
    eofa_enter(e->s.quotient, chirality, source, phi);
    const int failed = inverter_whole(v, solver, x, source, guess, what);
    field_destroy(source);
    return failed;
}

/* y += weight (A + pole)^-1 eta in one chirality, but for the part that is a multiple of eta. */
static int add_pole(exact *e, int chirality, double weight, double pole, field *y, const field *eta, predictor *guess)
{
    const double g = 1 / (1 + pole);
    fermion *quark = eofa_quark(e->s.quotient, chirality, g);
    inverter v;
    field *x = fermion_vector(quark);
    inverter_open(&v, &e->base, quark, &e->s.solvers);
    const int failed = invert(e, &v, chirality, e->s.solvers.heat_bath, x, eta, guess, "heat bath");
    eofa_leave(e->s.quotient, chirality, y, -weight * g * g * eofa_factor(e->s.quotient, chirality), x);
    inverter_close(&v);
    field_destroy(x);
    fermion_destroy(quark);
    return failed;
}

/* phi = A^-1/2 eta in both chiralities. */
static int draw(exact *e, const field *eta, const rational *r)
{
    double multiple = r->constant;
    int failed = 0;
    for (int i = 0; i < r->degree; i++) multiple += r->residues[i] / (1 + r->poles[i]);
    vector_axpby(e->phi, multiple, eta, 0);
    for (int c = 0; c < CHIRALITIES; c++) {
        predictor *guess = predictor_create(FORECAST);
        for (int i = 0; i < r->degree && !failed; i++)
            failed = add_pole(e, c, r->residues[i], r->poles[i], e->phi, eta, guess);
        predictor_destroy(guess);
    }
    return failed;
}

/* A^-1/2, null with the reason in message. */
static const rational *inverse_root(rational_store *store, const eofa_settings *s, char *message, size_t size)
{
    const power_product root = power_of_x(-1, 2);
    double low, high;
    eofa_bounds(s->quotient, &low, &high);
    return rational_for(store, &root, (1 - ROOM) * low, (1 + ROOM) * high, s->approximation, message, size);
}

int eofa_action_check(const eofa_settings *s, char *message, size_t size)
{
    rational_store *store = rational_store_create();
    const int bad = !inverse_root(store, s, message, size);
    rational_store_destroy(store);
    return bad;
}

static int begin(action *a)
{
    exact *e = (exact *)a;
    for (int c = 0; c < CHIRALITIES; c++) {
        predictor_forget(e->of[c].guess);
        inverter_begin(&e->of[c].solves);
    }
    return 0;
}

static int refresh(action *a, random_key key)
{
    exact *e = (exact *)a;
    const rational *r = inverse_root(e->store, &e->s, a->trouble, sizeof a->trouble);
    REQUIRE(r, "%s: %s", a->name, a->trouble); /* the input was checked */
    field *eta = field_like(e->phi);
    vector_random(eta, key.seed, (uint32_t)a->purpose, key.trajectory);
    a->start_value = vector_norm2(eta, 0);
    a->start_known = 1;
    const int failed = draw(e, eta, r);
    field_destroy(eta);
    return failed;
}

static int value(action *a, double *s)
{
    exact *e = (exact *)a;
    int failed = 0;
    double d[2];
    field *y = field_like(e->phi);
    vector_copy(y, e->phi);
    for (int c = 0; c < CHIRALITIES && !failed; c++) {
        field *x = fermion_vector(e->of[c].quark);
        failed = invert(e, &e->of[c].solves, c, e->s.solvers.action, x, e->phi, NULL, "action");
        eofa_leave(e->s.quotient, c, y, eofa_factor(e->s.quotient, c), x);
        field_destroy(x);
    }
    vector_dot(d, e->phi, y, 0);
    *s = d[0];
    field_destroy(y);
    return failed;
}

static int force(action *a, field *force)
{
    exact *e = (exact *)a;
    const named_solver *solver = action_force_solver(a, &e->s.solvers);
    int failed = 0;
    for (int c = 0; c < CHIRALITIES && !failed; c++) {
        field *x = fermion_vector(e->of[c].quark);
        failed = invert(e, &e->of[c].solves, c, solver, x, e->phi, e->of[c].guess, "force");
        if (!failed) eofa_add_force(e->s.quotient, c, force, x);
        field_destroy(x);
    }
    return failed;
}

static void destroy(action *a)
{
    exact *e = (exact *)a;
    for (int c = 0; c < CHIRALITIES; c++) {
        predictor_destroy(e->of[c].guess);
        inverter_close(&e->of[c].solves);
        fermion_destroy(e->of[c].quark);
    }
    rational_store_destroy(e->store);
    field_destroy(e->phi);
    eofa_destroy(e->s.quotient);
    free(e);
}

action *eofa_action_create(const char *name, const eofa_settings *s)
{
    static const action_table table = {
        .begin = begin, .refresh = refresh, .value = value, .force = force, .destroy = destroy};
    exact *e = calloc(1, sizeof *e);
    REQUIRE_MEMORY(e, "out of memory");
    e->base.table = &table;
    e->base.links = s->links;
    snprintf(e->base.name, sizeof e->base.name, "%s", name);
    e->s = *s;
    e->store = rational_store_create();
    for (int c = 0; c < CHIRALITIES; c++) {
        factor *f = &e->of[c];
        f->quark = eofa_quark(s->quotient, c, 0);
        f->guess = predictor_create(s->predictor);
        inverter_open(&f->solves, &e->base, f->quark, &s->solvers);
    }
    e->phi = fermion_physical(e->of[0].quark);
    return &e->base;
}
