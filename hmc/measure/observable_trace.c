/* trace: Tr M^-1 / V by noise with what makes its error smaller, V the number of sites. Normalised as the condensate is
 * (observable_condensate.c).
 *
 * Noise e has <e_i conj(e_j)> = delta_ij: z2 is +-1, z4 (+-1 +- i) / sqrt 2, gaussian complex normal. Dilution (S. Bernardson
 * et al., Comput. Phys. Commun. 78 (1993) 256; J. Foley et al., hep-lat/0505023) splits e into parts e_d that live on one time
 * slice, colour, spin or parity of sites: sum_d e_d^dagger M^-1 e_d has no noise from elements of M^-1 between parts.
 *
 * Truncated solver (G. Bali et al., arXiv:0910.3970): many vectors are solved for by a rough solver, whose bias is corrected
 * by the difference of both solvers on other vectors. That is unbiased if the rough solution of a vector has the same
 * distribution in both; therefore vectors go to the solvers in batches of one size throughout.
 *
 * Low modes: with eigenvectors v of the solver (plaq eigen), Tr M^-1 = sum_k v_k^dagger M^-1 v_k + Tr M^-1 (1 - sum_k v_k
 * v_k^dagger), of which the first part is solved for and the second is left to the noise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/evolve/fermion_kind.h"
#include "hmc/measure/propagator.h"
#include "kernels/base/error.h"
#include "kernels/ops/vector.h"
#include "solvers/eigen.h"

typedef struct {
    char noise[PARAM_CHOICE_SIZE], low_modes[PARAM_CHOICE_SIZE], rough_solver[PARAM_STRING_SIZE];
    char dilution[4][PARAM_CHOICE_SIZE];
    int vectors, rough_vectors;
} trace_keys;

enum { BY_TIME, BY_COLOUR, BY_SPIN, BY_PARITY };

static const measure_column columns[] = {
    {"vector", "", "number of the noise vector"},
    {"trace", "", "Re e^dagger M^-1 (1 - P) e / V by the solver"},
    {"imaginary", "", "its imaginary part, which is noise"},
    {"rough", "", "Re e^dagger M^-1 (1 - P) e / V by the rough solver"},
};
enum { VECTOR, TRACE, IMAGINARY, ROUGH, COLUMNS };

static const measure_column summary[] = {
    {"residual", "", "largest |b - M x| / |b| of the solves, but for the rough ones, of the whole operator"},
    {"iterations", "", "of all solves together"},
    {"trace", "", "Tr M^-1 / V, all parts together"},
    {"trace_error", "", "its error from the noise"},
    {"low", "", "its part from the low modes; 0 without them"},
    {"correction", "", "its part from the difference of solver and rough solver; NaN without a rough solver"},
    {"correction_error", "", "its error"},
};

typedef struct {
    propagator q;
    const trace_keys *keys;
    const eigen_pairs *low; /* or null */
    int modes;
    int parts;                         /* of a vector, by dilution */
    field *whole, *noise, *source, *x; /* noise of all parts, and of one */
    int made;                          /* the vector that `whole` holds, or -1 */
    uint64_t seed;
    double volume;
    int first, first_part, column; /* of the batch; where its values go */
    double (*rows)[COLUMNS];       /* of all vectors */
    double low_trace;
} estimator;

/* ---- noise and its parts ---- */

static int has(const trace_keys *k, int what)
{
    return !strcmp(k->dilution[what], "yes");
}

static int number_of_parts(const trace_keys *k, const field *f)
{
    const int spins = f->reals / 6;
    return (has(k, BY_TIME) ? f->lat->size[3] : 1) * (has(k, BY_COLOUR) ? 3 : 1) * (has(k, BY_SPIN) ? spins : 1) *
           (has(k, BY_PARITY) ? 2 : 1);
}

/* Calls change(number, ...) for all components (re, im) of a field of one right-hand side. */
static void change_all(field *f, const field *from, const trace_keys *k,
                       void (*change)(double *to, const trace_keys *k, int part, const int place[3]), int part)
{
    const lattice *lat = from->lat;
    const int *l = lat->local, *o = lat->origin, pairs = from->reals / 2;
    double *buf = field_slice_buffer(from);
    for (int t = 0; t < field_slices(from); t++) {
        field_export(from, t, buf);
        for (long i = 0; i < (long)l[0] * l[1] * l[2]; i++) {
            const int x = (int)(i % l[0]) + o[0], y = (int)(i / l[0] % l[1]) + o[1], z = (int)(i / l[0] / l[1]) + o[2];
            for (int c = 0; c < pairs; c++) {
                const int place[3] = {t + o[3], c, (x + y + z + t + o[3]) & 1};
                change(buf + 2 * (i * pairs + c), k, part, place);
            }
        }
        field_import(f, t, buf);
    }
    free(buf);
}

/* Zero outside of a part. place: time, 3 spin + colour, parity. */
static void keep_part(double *to, const trace_keys *k, int part, const int place[3])
{
    int keep = 1;
    if (has(k, BY_PARITY)) keep = keep && part % 2 == place[2], part /= 2;
    if (has(k, BY_COLOUR)) keep = keep && part % 3 == place[1] % 3, part /= 3;
    if (has(k, BY_TIME) && has(k, BY_SPIN)) keep = keep && part % 4 == place[1] / 3 && part / 4 == place[0];
    else if (has(k, BY_SPIN)) keep = keep && part == place[1] / 3;
    else if (has(k, BY_TIME)) keep = keep && part == place[0];
    if (!keep) to[0] = to[1] = 0;
}

/* +-1 of (+-1 +- i) / sqrt 2. */
static void make_real(double *to, const trace_keys *k, int part, const int place[3])
{
    (void)k, (void)part, (void)place;
    to[0] = to[0] > 0 ? 1 : -1;
    to[1] = 0;
}

static void make_noise(estimator *e, int vector, int part)
{
    if (e->made != vector) {
        if (!strcmp(e->keys->noise, "gaussian")) vector_random(e->whole, e->seed, RANDOM_NOISE, (uint32_t)vector);
        else vector_random_signs(e->whole, e->seed, RANDOM_NOISE, (uint32_t)vector);
        if (!strcmp(e->keys->noise, "z2")) change_all(e->whole, e->whole, e->keys, make_real, 0);
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
    field half = field_part(e->source, e->q.quark->normal->par);
    eigen_project(e->low, e->modes, &half);
    field_written(e->source);
    return e->source;
}

static void part_solved(void *context, int k, const field *x)
{
    estimator *e = context;
    double *row = e->rows[e->first + (e->first_part + k) / e->parts], value[2];
    make_part(e, k);
    vector_dot(value, e->noise, x, 0);
    row[e->column] += value[0] / e->volume;
    if (e->column == TRACE) row[IMAGINARY] += value[1] / e->volume;
}

/* Vectors first to first + n - 1, all parts of each, as many at a time as the solver takes. */
static int solve_vectors(estimator *e, int first, int n, const char *solver, measure_result *r)
{
    const propagator_batch_of b = {part_of, part_solved, e, e->x};
    const int most = propagator_batch(&e->q), all = n * e->parts;
    char what[96];
    int status = MEASURE_DONE;
    snprintf(what, sizeof what, "noise vectors %d to %d%s", first, first + n - 1, solver);
    e->first = first;
    for (e->first_part = 0; e->first_part < all && status == MEASURE_DONE; e->first_part += most)
        status = propagator_solve_batch(&e->q, all - e->first_part < most ? all - e->first_part : most, &b, what, r);
    return status;
}

static const field *mode_of(void *context, int k)
{
    estimator *e = context;
    const int number = e->first_part + k;
    const field column = field_rhs(e->low->blocks[number / e->low->block], number % e->low->block);
    field_clear(e->noise);
    field half = field_part(e->noise, e->q.quark->normal->par);
    vector_axpby(&half, 1, &column, 0);
    field_written(e->noise);
    return e->noise;
}

static void mode_solved(void *context, int k, const field *x)
{
    estimator *e = context;
    double value[2];
    mode_of(e, k);
    vector_dot(value, e->noise, x, 0);
    e->low_trace += value[0] / e->volume;
}

static int solve_modes(estimator *e, measure_result *r)
{
    const propagator_batch_of b = {mode_of, mode_solved, e, e->x};
    const int most = propagator_batch(&e->q);
    int status = MEASURE_DONE;
    for (e->first_part = 0; e->first_part < e->modes && status == MEASURE_DONE; e->first_part += most)
        status = propagator_solve_batch(&e->q, e->modes - e->first_part < most ? e->modes - e->first_part : most, &b,
                                        "eigenvectors", r);
    return status;
}

/* ---- the estimate ---- */

/* Mean of a column, or with `less` of the difference from that one, over n vectors from the first on. */
static double mean_of(const estimator *e, int first, int n, int column, int less, double *error)
{
    double sum = 0, squares = 0;
    for (int i = first; i < first + n; i++) sum += e->rows[i][column] - (less >= 0 ? e->rows[i][less] : 0);
    for (int i = first; i < first + n; i++)
        squares += pow(e->rows[i][column] - (less >= 0 ? e->rows[i][less] : 0) - sum / n, 2);
    *error = n > 1 ? sqrt(squares / ((double)n * (n - 1))) : NAN;
    return sum / n;
}

static int greatest_common(int a, int b)
{
    return b ? greatest_common(b, a % b) : a;
}

/* Vectors of a batch: as many as fill the solver, and the same for all. */
static int vectors_together(const estimator *e)
{
    const int fit = propagator_batch(&e->q) / e->parts,
              share =
                  e->keys->rough_vectors ? greatest_common(e->keys->vectors, e->keys->rough_vectors) : e->keys->vectors;
    int n = fit > 1 ? fit : 1;
    while (e->keys->rough_vectors && share % n) n--;
    return n < share ? n : share;
}

/* Both sets of vectors, by both solvers. */
static int solve_all(estimator *e, measure_result *r)
{
    const trace_keys *k = e->keys;
    const int all = k->vectors + k->rough_vectors;
    int status = e->low ? solve_modes(e, r) : MEASURE_DONE;
    const int together = vectors_together(e);
    e->column = TRACE;
    for (int i = 0; i < k->vectors && status == MEASURE_DONE; i += together)
        status = solve_vectors(e, i, k->vectors - i < together ? k->vectors - i : together, "", r);
    if (!k->rough_vectors) return status;
    const double worst = e->q.worst;
    e->column = ROUGH;
    propagator_use(&e->q, k->rough_solver);
    for (int i = 0; i < all && status == MEASURE_DONE; i += together)
        status = solve_vectors(e, i, together, " by the rough solver", r);
    e->q.worst = worst;
    return status;
}

static void conclude(const estimator *e, measure_result *r)
{
    const trace_keys *k = e->keys;
    const int all = k->vectors + k->rough_vectors;
    double error, rough_error;
    for (int i = 0; i < all; i++) {
        double *row = e->rows[i];
        row[VECTOR] = i;
        if (i >= k->vectors) row[TRACE] = row[IMAGINARY] = NAN;
        if (!k->rough_vectors) row[ROUGH] = NAN;
        measure_add_row(r, row);
    }
    propagator_summary(&e->q, r->summary);
    r->summary[4] = e->low_trace;
    r->summary[5] = r->summary[6] = NAN;
    if (!k->rough_vectors) {
        r->summary[2] = e->low_trace + mean_of(e, 0, k->vectors, TRACE, -1, &r->summary[3]);
        return;
    }
    r->summary[5] = mean_of(e, 0, k->vectors, TRACE, ROUGH, &error);
    r->summary[6] = error;
    r->summary[2] = e->low_trace + r->summary[5] + mean_of(e, k->vectors, k->rough_vectors, ROUGH, -1, &rough_error);
    r->summary[3] = hypot(error, rough_error);
}

static int measure_trace(const measure_context *c, const measure_params *m, measure_result *r)
{
    estimator e = {.keys = OBSERVABLE_OWN(trace_keys, m),
                   .seed = measure_noise_seed(c),
                   .volume = (double)c->links->lat->volume,
                   .made = -1};
    propagator_open(&e.q, c, m);
    if (!strcmp(e.keys->low_modes, "yes")) e.low = propagator_low_modes(&e.q, &e.modes);
    e.whole = fermion_physical(e.q.quark);
    e.noise = field_like(e.whole);
    e.source = field_like(e.whole);
    e.x = field_like(e.whole);
    e.parts = number_of_parts(e.keys, e.whole);
    e.rows = calloc((size_t)(e.keys->vectors + e.keys->rough_vectors), sizeof *e.rows);
    REQUIRE_MEMORY(e.rows, "out of memory");
    const int status = solve_all(&e, r);
    if (status == MEASURE_DONE) conclude(&e, r);
    free(e.rows);
    field *const all[] = {e.whole, e.noise, e.source, e.x};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
    propagator_close(&e.q);
    return status;
}

/* ---- keys ---- */

static const char *check(const parameters *p, const named_measure *m, char *message, size_t size)
{
    const trace_keys *k = OBSERVABLE_OWN(trace_keys, &m->p);
    const fermion_params *f = &p->fermions[simulation_fermion(p, m->p.fermion)].p;
    const fermion_kind *kind = fermion_kind_find(f->kind);
    const named_settings *solver = parameters_attempt(p, m->p.solver[0] ? m->p.solver : f->action_solver, 0);
    int rough = 0;
    for (int i = 0; i < p->nsolvers; i++)
        rough |= !strcmp(p->solvers[i].name, k->rough_solver) && solver_solves(&p->solvers[i].p);
    if (has(k, BY_SPIN) && kind->spins == 1) {
        snprintf(message, size, "by_spin = yes, but [fermion.%s] is of kind = %s, which has no spin", m->p.fermion,
                 f->kind);
        return "by_spin";
    }
    if (k->rough_solver[0] && !rough) {
        snprintf(message, size, "rough_solver = %s is no [solver.NAME] that solves", k->rough_solver);
        return "rough_solver";
    }
    if (!k->rough_solver[0] != !k->rough_vectors) {
        snprintf(message, size, "rough_solver and rough_vectors belong together: give both or none");
        return "rough_vectors";
    }
    if (strcmp(k->low_modes, "yes")) return NULL;
    if (kind->slices)
        snprintf(message, size, "low_modes = yes is not for domain wall quarks, as [fermion.%s] is", m->p.fermion);
    else if (!solver || !solver->p.eigenvectors_file[0])
        snprintf(message, size, "low_modes = yes needs the key eigenvectors in the section of its solver");
    else return NULL;
    return "low_modes";
}

#define DILUTION(name, which, text)                                                                                    \
    {                                                                                                                  \
        name, PARAM_CHOICE, OBSERVABLE_KEY(trace_keys, dilution[which]), "no", "no|yes", NULL, text, 0                 \
    }

static const param own[] = {
    {"noise", PARAM_CHOICE, OBSERVABLE_KEY(trace_keys, noise), "z4", "z2|z4|gaussian", NULL,
     "numbers of the noise vectors: +-1, (+-1 +- i)/sqrt 2, or complex normal ones", 0},
    {"vectors", PARAM_INT, OBSERVABLE_KEY(trace_keys, vectors), "16", "[1,1000000]", NULL,
     "number of noise vectors; they depend on [run] seed, the configuration, their number and the site", 0},
    DILUTION("by_time", BY_TIME,
             "dilution: parts of a vector on one time slice each, at the price of a solve for each"),
    DILUTION("by_colour", BY_COLOUR, "dilution: parts of one colour"),
    DILUTION("by_spin", BY_SPIN, "dilution: parts of one spin"),
    DILUTION("by_parity", BY_PARITY, "dilution: parts on even and on odd sites"),
    {"rough_solver", PARAM_STRING, OBSERVABLE_KEY(trace_keys, rough_solver), "", NULL, NULL,
     "[solver.NAME] of a loose tolerance for the truncated solver method; empty: none", 0},
    {"rough_vectors", PARAM_INT, OBSERVABLE_KEY(trace_keys, rough_vectors), "0", "[0,1000000]", NULL,
     "noise vectors beside the others that are solved for by the rough solver alone", 0},
    {"low_modes", PARAM_CHOICE, OBSERVABLE_KEY(trace_keys, low_modes), "no", "no|yes", NULL,
     "the part of the eigenvectors that the solver's section names is solved for, and taken out of the noise", 0},
};
static const param_section part = PARAM_PART("measure", "trace", measure_params, own);
_Static_assert(sizeof(trace_keys) <= sizeof(((measure_params *)0)->own), "no room for the keys of trace");

const observable observable_trace = {
    .name = "trace",
    .help = "Tr M^-1 / V by noise with dilution, a rough solver with its correction, and low modes",
    .own = &part,
    .check = check,
    .quarks = MEASURE_ANY_QUARK,
    .columns = columns,
    .ncolumns = COLUMNS,
    .summary = summary,
    .nsummary = sizeof summary / sizeof summary[0],
    .measure = measure_trace};
