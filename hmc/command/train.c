/* plaq train: the transform of every [solver.NAME] of type reduced_Ls, on one configuration.
 *
 * The samples are residuals of a solve whose preconditioner works on all slices. For each mu the loss of
 * solvers/transform.h is minimised, from the transform of the mu before, and another random source is solved for with what
 * came out; the one of the fewest iterations goes into the file that the section names. A line is printed for the solve
 * without preconditioner, for that with the preconditioner on all slices, and for each mu. A transform serves all
 * configurations of an ensemble. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/memory.h"
#include "hmc/command/commands.h"
#include "hmc/assemble/simulation.h"
#include "hmc/quarks/quark.h"
#include "hmc/assemble/identity.h"
#include "io/history/fifth_hdf5.h"
#include "io/history/output_file.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/vector.h"

#define MOST_MU 32
#define MOST_SAMPLES 64

typedef struct {
    const parameters *p;
    const char *config;
    int Ls, samples, every, steps, nmu, ignore_recorded;
    double mu[MOST_MU];
    lattice *lat;
    field *links;
} job;

/* Section to train, with the solver around it and the quark that is solved for. */
typedef struct {
    const named_settings *reduced, *outer;
    const named_quark *quark;
} target;

typedef struct {
    const char *name;
    double loss;
    solve_result r;
} line;

static void print_head(void)
{
    if (comm_rank() == 0)
        printf("%-14s %-14s %-16s %10s %10s %8s %10s %9s\n", "quark", "solver", "preconditioner", "loss", "iterations",
               "inside", "residual", "seconds");
}

static void print_line(const target *t, const line *l)
{
    char loss[32] = "-";
    if (comm_rank() != 0) return;
    if (!isnan(l->loss)) snprintf(loss, sizeof loss, "%.6f", l->loss);
    printf("%-14s %-14s %-16s %10s %10d %8d %10.2e %9.3f%s\n", t->quark->name, t->outer->name, l->name, loss,
           l->r.iterations, l->r.inside, l->r.residual, l->r.seconds,
           l->r.status == SOLVE_CONVERGED ? "" : "  not converged");
    fflush(stdout);
}

/* ---- one target ---- */

/* Solves for the source with the settings, of which `inner` is the preconditioner, or null. */
static solve_result solve_with(const target *t, fermion *q, const solver_settings *inner, const field *b)
{
    solver_settings set = t->outer->p;
    field *x = linop_vector(q->normal, 1);
    set.inner = inner;
    solver *s = solver_create(&set, q->normal);
    const solve_result r = solver_solve(s, x, b, NULL);
    solver_destroy(s);
    field_destroy(x);
    return r;
}

/* Residuals of a solve, of unit norm, each `every` iterations after the one before; how many there are until it is through. */
static int sample(const job *j, const target *t, fermion *q, const field *b, field *const *v)
{
    solver_settings set = t->outer->p;
    field *x = linop_vector(q->normal, 1);
    set.inner = t->reduced->p.inner;
    set.max_iterations = j->every;
    set.tolerance = 1e-15;
    solver *s = solver_create(&set, q->normal);
    const double b2 = vector_norm2(b, 0);
    int n = 0;
    solver_update(s);
    while (n < j->samples) {
        solver_run(s, x, b, NULL);
        const double r2 = solver_defect(q->normal, v[n], x, b, 1);
        if (!b->lat->planned && !(r2 > 1e-24 * b2)) break;
        vector_axpby(v[n], b->lat->planned ? 1 : 1 / sqrt(r2), v[n], 0);
        n++;
    }
    solver_destroy(s);
    field_destroy(x);
    return n;
}

/* The operator that the preconditioner on all slices is the inverse of, in the precision of the samples. */
static linop *inverted(const target *t, fermion *q)
{
    const solver_settings *inner = t->reduced->p.inner;
    const solver_type *type = solver_type_of(inner);
    linop *a = type->inverts ? type->inverts(inner, q->normal) : q->normal;
    linop_refresh(a);
    return a;
}

/* Trains the transforms of a target; returns the best. Lines are printed unless the lattice is planned. */
static fifth_transform train(const job *j, const target *t)
{
    field *v[MOST_SAMPLES];
    const int told = !j->lat->planned;
    fermion *q = quark_kind_of(&t->quark->p)->make(j->links, &t->quark->p, NULL, 0);
    field *b = linop_vector(q->normal, 1);
    const int Ls = b->Ls, fewer = j->Ls ? j->Ls : Ls / 3 > 2 ? Ls / 3 / 2 * 2 : 2;
    for (int i = 0; i < j->samples; i++) v[i] = field_like(b);
    vector_random(b, (uint64_t)j->p->run.seed, RANDOM_SOURCE, 0);
    solver_settings K = *t->reduced->p.inner, reduced = t->reduced->p;
    K.inner_precision = PREC_DOUBLE;
    linop_refresh(q->normal);
    const int n = sample(j, t, q, b, v);
    vector_random(b, (uint64_t)j->p->run.seed, RANDOM_SOURCE, 1);
    line l = {"none", NAN, solve_with(t, q, NULL, b)};
    if (told) print_line(t, &l);
    l = (line){"all slices", NAN, solve_with(t, q, t->reduced->p.inner, b)};
    if (told) print_line(t, &l);

    fifth_transform now = transform_first(fewer, Ls, 0), best = now;
    int iterations = 0;
    char name[64], message[256];
    linop *few = linop_slices(q->normal, fewer, message, sizeof message);
    REQUIRE(few, "%s", message);
    solver *inside = solver_create(&K, few);
    solver_update(inside);
    const transform_samples samples = {inverted(t, q), inside, n, v};
    for (int i = 0; i < j->nmu; i++) {
        snprintf(name, sizeof name, "%d slices mu %g", fewer, j->mu[i]);
        now.mu = j->mu[i];
        const double loss = transform_train(&samples, &now, j->steps);
        reduced.transform = &now;
        l = (line){name, loss, solve_with(t, q, &reduced, b)};
        if (told) print_line(t, &l);
        if (l.r.status == SOLVE_CONVERGED && (!iterations || l.r.iterations < iterations)) {
            iterations = l.r.iterations;
            best = now;
        }
    }
    solver_destroy(inside);
    for (int i = 0; i < j->samples; i++) field_destroy(v[i]);
    field_destroy(b);
    fermion_destroy(q);
    if (!iterations && told) best.T.Ls = 0;
    return best;
}

static void check_output(const job *j, const target *t)
{
    char message[1024];
    if (output_file_check(t->reduced->p.transform_file, OUTPUT_TRANSFORM, j->config, message, sizeof message))
        user_error("plaq train: %s", message);
}

static void store(const job *j, const target *t, const fifth_transform *best)
{
    char keys[512], message[1024];
    const char *file = t->reduced->p.transform_file;
    if (!best->T.Ls)
        user_error(
            "plaq train: [solver.%s] did not converge with any transform, and %s was not written; try other --mu",
            t->outer->name, file);
    quark_kind_of(&t->quark->p)->transform_keys(&t->quark->p, keys, sizeof keys);
    /* A file of that name may have come up meanwhile. */
    check_output(j, t);
    if (fifth_write(file, &best->T, best->mu, keys, identity_of_program(), message, sizeof message))
        user_error("plaq train: %s", message);
    if (comm_rank() == 0)
        printf("%-14s %-14s %s: %d of %d slices, mu %g\n", t->quark->name, t->outer->name, file, best->T.Ls,
               best->T.from, best->mu);
}

/* ---- which ---- */

/* True if a key names this solver for the quark, or there is no other quark. */
static int solves(const parameters *p, const named_quark *q, const named_settings *outer)
{
    solver_use use;
    for (int i = 0; parameters_solver_use(p, i, &use); i++)
        if (use.quark == q && !strcmp(use.solver, outer->name)) return 1;
    return p->nquarks == 1;
}

/* The target of section `number`; 0 if it is no transform's. */
static int find(const parameters *p, int number, target *t)
{
    const named_settings *s = &p->solvers[number];
    *t = (target){.reduced = s};
    if (!solver_type_has(solver_type_of(&s->p), "transform")) return 0;
    for (int k = 0; k < p->nsolvers && !t->outer; k++)
        if (p->solvers[k].p.inner == &s->p) t->outer = &p->solvers[k];
    if (!t->outer)
        user_error("%s: no section has [solver.%s] as its preconditioner, and a transform is trained for one that has",
                   ini_where(p->input, "solver", s->name, ""), s->name);
    for (int i = 0; i < p->nquarks; i++) {
        const named_quark *f = &p->quarks[i];
        if (!solves(p, f, t->outer)) continue;
        if (t->quark)
            user_error("%s: [solver.%s] solves for [quark.%s] and [quark.%s]; a transform is that of one quark: give "
                       "the other a solver of its own",
                       ini_where(p->input, "solver", t->outer->name, ""), t->outer->name, t->quark->name, f->name);
        t->quark = f;
    }
    if (!t->quark)
        user_error("%s: no action of a quark and no [quark.NAME] has solver = %s, and a transform is trained for the "
                   "quark of one",
                   ini_where(p->input, "solver", t->outer->name, ""), t->outer->name);
    const quark_kind *kind = quark_kind_of(&t->quark->p);
    if (!kind->transform_keys)
        user_error("%s: kind = %s of [quark.%s] has no operator on fewer slices",
                   ini_where(p->input, "quark", t->quark->name, "kind"), kind->name, t->quark->name);
    return 1;
}

/* Each transform has a file of its own: the second one would replace the first. */
static void check_unique(const parameters *p, int number)
{
    const named_settings *s = &p->solvers[number];
    target t;
    for (int i = 0; i < number; i++)
        if (find(p, i, &t) && !strcmp(t.reduced->p.transform_file, s->p.transform_file))
            user_error("%s: [solver.%s] transform = %s is that of [solver.%s], too; give each a file of its own",
                       ini_where(p->input, "solver", s->name, "transform"), s->name, s->p.transform_file,
                       t.reduced->name);
}

static size_t need_of_training(const void *of, const lattice *plan, place where)
{
    const memory_count count = memory_count_open(plan, where);
    job j = *(const job *)of;
    target t;
    j.lat = count.lat;
    j.links = field_create(j.lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    j.steps = j.nmu = 1;
    for (int i = 0; i < j.p->nsolvers; i++)
        if (find(j.p, i, &t)) train(&j, &t);
    field_destroy(j.links);
    lattice_destroy(j.lat);
    return memory_count_close(&count);
}

static void read_config(job *j)
{
    j->links = simulation_configuration(j->p, j->config, j->ignore_recorded, need_of_training, j, &j->lat, NULL);
}

/* ---- arguments ---- */

static const param counts[] = {
    {"--Ls", PARAM_INT, offsetof(job, Ls), NULL, "[2,32]", "slices", "slices of the operator on fewer", 0},
    {"--vectors", PARAM_INT, offsetof(job, samples), NULL, "[1,64]", "", "residuals to train on", 0},
    {"--every", PARAM_INT, offsetof(job, every), NULL, "[1,1000000]", "", "iterations between them", 0},
    {"--steps", PARAM_INT, offsetof(job, steps), NULL, "[1,100000]", "", "line searches for each mu", 0},
};
_Static_assert(MOST_SAMPLES == 64, "the range of --vectors");

static void read_count(job *j, int number, const char *text)
{
    char message[PARAM_MESSAGE_SIZE];
    if (text && param_set(&counts[number], j, text, message, sizeof message))
        user_error("plaq train: %s %s: %s", counts[number].name, text, message);
}

static void read_mu(job *j, const char *text)
{
    char word[64];
    for (const char *at = text; at; at = at[strcspn(at, ",")] ? at + strcspn(at, ",") + 1 : NULL) {
        double mu;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        if (strcspn(at, ",") >= sizeof word || param_real(word, &mu) || !(mu > 0))
            user_error("plaq train: --mu %s: not numbers above 0, separated by commas", text);
        if (j->nmu == MOST_MU) user_error("plaq train: --mu %s: more than %d numbers", text, MOST_MU);
        j->mu[j->nmu++] = mu;
    }
}

int command_train(int argc, char **argv)
{
    job j = {.samples = 8, .every = 10, .steps = 50};
    const char *Ls = NULL, *vectors = NULL, *every = NULL, *steps = NULL, *mu = "0.6,0.4,0.3,0.2";
    const command_flag flags[] = {
        {"--Ls", NULL, &Ls, "slices of the smaller operator; default a third of all, an even number"},
        {"--mu", NULL, &mu, "M,M,...: values of mu to try; default 0.6,0.4,0.3,0.2"},
        {"--vectors", NULL, &vectors, "residuals of a solve to train on; default 8"},
        {"--every", NULL, &every, "iterations of that solve from one to the next; default 10"},
        {"--steps", NULL, &steps, "line searches for each mu, at most; default 50"},
        FLAG_IGNORE_RECORDED(&j.ignore_recorded),
    };
    plain_arguments a = command_arguments(argc, argv, flags, 6, 2, 2);
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, NEED_NO_TRANSFORMS);
    command_set_log(p);
    target t;
    int targets = 0;
    j.p = p;
    j.config = a.plain[1];
    read_count(&j, 0, Ls);
    read_count(&j, 1, vectors);
    read_count(&j, 2, every);
    read_count(&j, 3, steps);
    read_mu(&j, mu);
    for (int i = 0; i < p->nsolvers; i++) {
        if (!find(p, i, &t)) continue;
        targets++;
        check_output(&j, &t);
        check_unique(p, i);
        const int all = quark_kind_of(&t.quark->p)->slices(&t.quark->p);
        if (j.Ls > all) user_error("plaq train: --Ls %d: [quark.%s] has %d slices", j.Ls, t.quark->name, all);
    }
    if (!targets)
        user_error("%s: plaq train needs a [solver.NAME] with a transform (type = reduced_Ls) as the preconditioner of "
                   "another",
                   a.plain[0]);
    read_config(&j);
    print_head();
    for (int i = 0; i < p->nsolvers; i++) {
        if (!find(p, i, &t)) continue;
        const fifth_transform best = train(&j, &t);
        store(&j, &t, &best);
    }
    field_destroy(j.links);
    lattice_destroy(j.lat);
    parameters_free(p);
    command_arguments_free(&a);
    return 0;
}
