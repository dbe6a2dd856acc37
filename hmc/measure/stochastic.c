#include "hmc/measure/stochastic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "kernels/base/error.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"

typedef struct {
    const stochastic_call *call;
    const noise_keys *keys;
    stochastic *out;
    low_modes *low;                    /* or null */
    int parts;                         /* parts of a vector, by dilution and probing */
    field *whole, *noise, *source, *x; /* noise of all parts, and of one */
    int made;                          /* the vector that `whole` holds, or -1 */
    int first, first_part;             /* first vector and part of the batch */
    double *rows;                      /* values of the vectors go here */
} estimator;

/* ---- noise and its parts ---- */

static int has(const noise_keys *k, int what)
{
    return k->dilution[what] == PARAM_YES;
}

static int number_of_parts(const noise_keys *k, const field *f)
{
    const int spins = f->reals / 6;
    return k->probing * (has(k, NOISE_BY_TIME) ? f->lat->size[3] : 1) * (has(k, NOISE_BY_COLOUR) ? 3 : 1) *
           (has(k, NOISE_BY_SPIN) ? spins : 1) * (has(k, NOISE_BY_PARITY) ? 2 : 1);
}

/* A component of a site, for what is done to it. */
typedef struct {
    int x[4], component; /* component: 3 spin + colour */
} place_of;

/* Calls change(number, ...) for all components (re, im) of a field of one right-hand side. */
static void change_all(field *f, const field *from, const noise_keys *k,
                       void (*change)(double *to, const noise_keys *k, int part, const place_of *p), int part)
{
    const lattice *lat = from->lat;
    const int *l = lat->local, *o = lat->origin, pairs = from->reals / 2;
    double *buf = field_slice_buffer(from);
    for (int t = 0; t < field_slices(from); t++) {
        field_export(from, t, buf);
        for (long i = 0; i < (long)l[0] * l[1] * l[2]; i++) {
            place_of p = {
                .x = {(int)(i % l[0]) + o[0], (int)(i / l[0] % l[1]) + o[1], (int)(i / l[0] / l[1]) + o[2], t + o[3]}};
            for (p.component = 0; p.component < pairs; p.component++)
                change(buf + 2 * (i * pairs + p.component), k, part, &p);
        }
        field_import(f, t, buf);
    }
    free(buf);
}

static int odd(int n)
{
    int bits = 0;
    for (; n; n >>= 1) bits ^= n & 1;
    return bits;
}

/* The bits of nested colourings, four a level: the parity of the coordinates, then x, y and z. That of t follows. */
static int colour_of(const int x[4])
{
    int colour = 0;
    for (int level = 0; level < 4; level++) {
        const int b[4] = {x[0] >> level & 1, x[1] >> level & 1, x[2] >> level & 1, x[3] >> level & 1};
        colour |= ((b[0] ^ b[1] ^ b[2] ^ b[3]) | b[0] << 1 | b[1] << 2 | b[2] << 3) << 4 * level;
    }
    return colour;
}

/* Zero outside of a part, and the sign of its Hadamard vector. */
static void keep_part(double *to, const noise_keys *k, int part, const place_of *p)
{
    const int spin = p->component / 3, colour = p->component % 3;
    const int sign = odd(part % k->probing & colour_of(p->x)) ? -1 : 1;
    int keep = 1;
    part /= k->probing;
    if (has(k, NOISE_BY_PARITY)) keep = keep && part % 2 == ((p->x[0] + p->x[1] + p->x[2] + p->x[3]) & 1), part /= 2;
    if (has(k, NOISE_BY_COLOUR)) keep = keep && part % 3 == colour, part /= 3;
    if (has(k, NOISE_BY_TIME) && has(k, NOISE_BY_SPIN)) keep = keep && part % 4 == spin && part / 4 == p->x[3];
    else if (has(k, NOISE_BY_SPIN)) keep = keep && part == spin;
    else if (has(k, NOISE_BY_TIME)) keep = keep && part == p->x[3];
    to[0] = keep ? sign * to[0] : 0;
    to[1] = keep ? sign * to[1] : 0;
}

/* Z2 noise, +-1, from Z4 noise, (+-1 +- i) / sqrt 2. */
static void make_real(double *to, const noise_keys *k, int part, const place_of *p)
{
    (void)k, (void)part, (void)p;
    to[0] = to[0] > 0 ? 1 : -1;
    to[1] = 0;
}

static void make_noise(estimator *e, int vector, int part)
{
    if (e->made != vector) {
        if (e->keys->noise == NOISE_GAUSSIAN) vector_random(e->whole, e->call->seed, RANDOM_NOISE, (uint32_t)vector);
        else vector_random_signs(e->whole, e->call->seed, RANDOM_NOISE, (uint32_t)vector);
        if (e->keys->noise == NOISE_Z2) change_all(e->whole, e->whole, e->keys, make_real, 0);
        slices_scale(e->whole, SLICES_ENDS, 0); /* quark fields vanish there */
        e->made = vector;
    }
    if (e->parts > 1) change_all(e->noise, e->whole, e->keys, keep_part, part);
    else field_copy(e->noise, e->whole);
}

static void make_part(estimator *e, int k)
{
    const int number = e->first_part + k;
    make_noise(e, e->first + number / e->parts, number % e->parts);
}

/* ---- solves ---- */

static const field *part_of(void *context, int k)
{
    estimator *e = context;
    make_part(e, k);
    if (!e->low) return e->noise;
    field_copy(e->source, e->noise);
    low_modes_project(e->low, e->source);
    return e->source;
}

static void part_solved(void *context, int k, const field *x)
{
    estimator *e = context;
    const long vector = e->first + (e->first_part + k) / e->parts;
    make_part(e, k);
    e->call->contract(e->call->context, e->rows + vector * e->out->values, 1.0 / e->keys->probing, e->noise, x);
}

/* Vectors first to first + n - 1, all parts of each, as many at a time as the solver takes. */
static int solve_vectors(estimator *e, int first, int n, const char *solver, measure_result *r)
{
    const solves_batch_of b = {part_of, part_solved, e, e->x};
    const int most = solves_most(e->call->q), all = n * e->parts;
    char what[96];
    int status = MEASURE_DONE;
    snprintf(what, sizeof what, "noise vectors %d to %d%s", first, first + n - 1, solver);
    e->first = first;
    for (e->first_part = 0; e->first_part < all && status == MEASURE_DONE; e->first_part += most)
        status = solves_batch(e->call->q, all - e->first_part < most ? all - e->first_part : most, &b, what, r);
    return status;
}

static const field *mode_of(void *context, int k)
{
    estimator *e = context;
    const field mode = low_modes_vector(e->low, e->first_part + k);
    vector_axpby(e->noise, 1, &mode, 0);
    return e->noise;
}

static void mode_solved(void *context, int k, const field *x)
{
    estimator *e = context;
    mode_of(e, k);
    e->call->contract(e->call->context, e->out->low, 1, e->noise, x);
}

static int solve_modes(estimator *e, measure_result *r)
{
    const solves_batch_of b = {mode_of, mode_solved, e, e->x};
    const int most = solves_most(e->call->q), modes = low_modes_count(e->low);
    int status = MEASURE_DONE;
    for (e->first_part = 0; e->first_part < modes && status == MEASURE_DONE; e->first_part += most)
        status =
            solves_batch(e->call->q, modes - e->first_part < most ? modes - e->first_part : most, &b, "low modes", r);
    return status;
}

static int greatest_common(int a, int b)
{
    return b ? greatest_common(b, a % b) : a;
}

/* Vectors of a batch: as many as fill the solver, and the same for all. */
static int vectors_together(const estimator *e)
{
    const int fit = solves_most(e->call->q) / e->parts,
              share =
                  e->keys->rough_vectors ? greatest_common(e->keys->vectors, e->keys->rough_vectors) : e->keys->vectors;
    int n = fit > 1 ? fit : 1;
    while (e->keys->rough_vectors && share % n) n--;
    return n < share ? n : share;
}

/* Solves for the low modes, the vectors of the solver, and all vectors by the rough one. */
static int solve_all(estimator *e, measure_result *r)
{
    const noise_keys *k = e->keys;
    quark_solves *q = e->call->q;
    int status = e->low ? solve_modes(e, r) : MEASURE_DONE;
    const int together = vectors_together(e);
    e->rows = e->out->fine;
    for (int i = 0; i < k->vectors && status == MEASURE_DONE; i += together)
        status = solve_vectors(e, i, k->vectors - i < together ? k->vectors - i : together, "", r);
    if (!k->rough_vectors) return status;
    const double worst = q->worst;
    e->rows = e->out->rough;
    solves_use_rough(q, k->rough_solver);
    for (int i = 0; i < e->out->all && status == MEASURE_DONE; i += together)
        status = solve_vectors(e, i, together, " by the rough solver", r);
    q->worst = worst;
    return status;
}

static double *zeros(long n)
{
    double *a = calloc((size_t)n, sizeof *a);
    REQUIRE_MEMORY(a, "out of memory");
    return a;
}

int stochastic_estimate(stochastic *s, const stochastic_call *call, measure_result *r)
{
    const noise_keys *k = call->keys;
    estimator e = {.call = call, .keys = k, .out = s, .made = -1};
    *s = (stochastic){.values = call->values, .vectors = k->vectors, .all = k->vectors + k->rough_vectors};
    s->fine = zeros((long)s->vectors * s->values);
    if (k->rough_vectors) s->rough = zeros((long)s->all * s->values);
    s->low = zeros(s->values);
    if (k->low_modes == PARAM_YES) e.low = solves_low_modes(call->q);
    e.whole = fermion_physical(call->q->quark);
    e.noise = field_like(e.whole);
    e.source = field_like(e.whole);
    e.x = field_like(e.whole);
    e.parts = number_of_parts(k, e.whole);
    const int status = solve_all(&e, r);
    field *const all[] = {e.whole, e.noise, e.source, e.x};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
    low_modes_free(e.low);
    return status;
}

void stochastic_free(stochastic *s)
{
    free(s->fine);
    free(s->rough);
    free(s->low);
}

/* ---- the estimate ---- */

/* Mean over the vectors first to first + n - 1 of a, or with `less` of the difference from that one. */
static double mean_of(const stochastic *s, int value, int first, int n, const double *a, const double *less,
                      double *error)
{
    double sum = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (long i = first; i < first + n; i++) {
            const double here = a[i * s->values + value] - (less ? less[i * s->values + value] : 0);
            if (pass) squares += (here - sum / n) * (here - sum / n);
            else sum += here;
        }
    *error = n > 1 ? sqrt(squares / ((double)n * (n - 1))) : NAN;
    return sum / n;
}

stochastic_value stochastic_mean(const stochastic *s, int value)
{
    stochastic_value v = {.correction = NAN, .correction_error = NAN};
    if (!s->rough) {
        v.mean = s->low[value] + mean_of(s, value, 0, s->vectors, s->fine, NULL, &v.error);
        return v;
    }
    double rough_error;
    v.correction = mean_of(s, value, 0, s->vectors, s->fine, s->rough, &v.correction_error);
    v.mean =
        s->low[value] + v.correction + mean_of(s, value, s->vectors, s->all - s->vectors, s->rough, NULL, &rough_error);
    v.error = hypot(v.correction_error, rough_error);
    return v;
}

/* ---- keys ---- */

const char *noise_check(const parameters *p, const named_measure *m, const noise_keys *k, char *message, size_t size)
{
    const quark_params *f = &p->quarks[parameters_quark(p, m->p.quark)].p;
    const quark_kind *kind = quark_kind_of(f);
    const named_settings *solver = parameters_attempt(p, m->p.solver[0] ? m->p.solver : f->solver, 0);
    int rough = 0;
    for (int i = 0; i < p->nsolvers; i++)
        rough |= !strcmp(p->solvers[i].name, k->rough_solver) && solver_solves(&p->solvers[i].p);
    if (has(k, NOISE_BY_SPIN) && kind->spins == 1) {
        snprintf(message, size, "by_spin = yes, but [quark.%s] is of kind = %s, which has no spin", m->p.quark,
                 kind->name);
        return "by_spin";
    }
    if (k->probing & (k->probing - 1)) {
        snprintf(message, size, "probing = %d is no power of 2", k->probing);
        return "probing";
    }
    if (k->probing > 1 && has(k, NOISE_BY_PARITY)) {
        snprintf(message, size, "by_parity = yes with probing = %d, whose first two vectors do the same: leave it out",
                 k->probing);
        return "by_parity";
    }
    if (k->rough_solver[0] && !rough) {
        snprintf(message, size, "rough_solver = %s is no [solver.NAME] that solves", k->rough_solver);
        return "rough_solver";
    }
    if (!k->rough_solver[0] != !k->rough_vectors) {
        snprintf(message, size, "rough_solver and rough_vectors belong together: give both or none");
        return "rough_vectors";
    }
    if (k->low_modes == PARAM_NO) return NULL;
    if (kind->twisted_mass)
        snprintf(message, size,
                 "low_modes = yes takes low modes on the left from those on the right by M^dagger = gamma_5 M gamma_5, "
                 "which kind = %s of [quark.%s] does not have; leave it out",
                 kind->name, m->p.quark);
    else if (!solver || !solver->p.eigenvectors_file[0])
        snprintf(message, size, "low_modes = yes needs the key eigenvectors in the section of its solver");
    else return NULL;
    return "low_modes";
}
