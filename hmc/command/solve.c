/* plaq solve: every solver of an input file, mere preconditioners aside, on every fermion of it, on one configuration.
 *
 * M x = b for a random or a point source b, by the even-odd system Mhat x = b, or where a solver needs a Hermitian
 * positive operator by Mhat^dagger Mhat x = Mhat^dagger b; of a staggered quark by A x = b on one parity, which is
 * Hermitian and positive itself and stands for both. Of each solve: status, iterations, the true residual of the
 * system that was solved (to which the tolerance belongs), that of M itself, time, speed, and how far the solution is
 * from the first solver's. With --shifts, also (Mhat^dagger Mhat + shift) x = Mhat^dagger b, or (A + shift) x = b, with
 * the settings of each solver of type cg, in two ways: for all shifts at once, by multi-shift conjugate gradients, a
 * line a shift, type multi+SHIFT, with the seconds and operations of all of them; and one shift after another from x =
 * 0, type cg+SHIFT, each with its own seconds and its distance from the solution at once; then what both took. What
 * belongs to M is only known without a shift.
 *
 * With --error, the error of each solution by a double solve (solver_error()), which is no part of its seconds.
 *
 * With --rhs N, N random sources, which each solver solves for in blocks or one after another, as its type does: iterations
 * and seconds are those of all together, residuals the worst, the distance that of all solutions.
 *
 * With --output, tables of an HDF5 file (io/history/table_hdf5.h): /solve/FERMION.SOLVER has the history of the residuals of a
 * solve, /solve/FERMION.SOLVER/summary its result; /solve/FERMION.SOLVER.shifts and its summary those of all shifts at
 * once, /solve/FERMION.SOLVER.apart and its summary those of one after another.
 *
 * With --profile, what the kernels of each solve took, its set-up included.
 *
 * Exit status 1 when a solve did not converge; the others are made all the same, and none is repeated by its fallback.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/eigenvectors.h"
#include "hmc/assemble/memory.h"
#include "hmc/command/commands.h"
#include "hmc/sources/source.h"
#include "hmc/assemble/simulation.h"
#include "hmc/quarks/quark.h"
#include "hmc/record/profile.h"
#include "hmc/assemble/identity.h"
#include "io/files/file_time.h"
#include "io/links/links.h"
#include "io/history/output_file.h"
#include "io/history/table_hdf5.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "solvers/multishift.h"

static const param source_param = {"--source", PARAM_INT4, 0, NULL, "[0,inf)", "sites", "place of a point source", 0};

static const table_column history_columns[] = {
    {"iteration", "", "applications of the operator so far"},
    {"residual", "", "|b - A x| / |b|"},
    {"precision", "bytes", "of a real where the residual comes from: 8, 4, 2, 1"},
    {"true", "", "1: computed from x; 0: of the recurrence"},
    {"shift", "", "of the operator; 0: none"},
    {"rhs", "", "right-hand side, from 0; of those that share a Krylov space, the first of them stands for all"},
};
enum { POINT = sizeof history_columns / sizeof history_columns[0] };

static const table_column summary_columns[] = {
    {"status", "", "0 converged, 1 too many iterations, 2 stalled, 3 broken"},
    {"iterations", "", "applications of the operator"},
    {"inside", "", "applications of the operator in preconditioners"},
    {"residual", "", "true, of the system that was solved"},
    {"whole", "", "true, of M x = b"},
    {"seconds", "s", "of the solve"},
    {"flops", "", "of the solve, all ranks"},
    {"distance", "", "|x - x1| / |x1| from the solution of the first solver, or of one shift from that at once"},
    {"shift", "", "of the operator; 0: none"},
    {"rhs", "", "right-hand sides"},
    {"setup", "s", "that the solver took before it, for what it keeps while the links stay"},
    {"error", "",
     "estimate of |x - A^-1 b| / |x| of the system that was solved, by a second solve; NaN without --error"},
    {"error_ratio", "", "that over the residual"},
};
enum {
    STATUS,
    ITERATIONS,
    INSIDE,
    RESIDUAL,
    WHOLE,
    SECONDS,
    FLOPS,
    DISTANCE,
    SHIFT,
    RHS,
    SETUP,
    ERROR,
    RATIO,
    SUMMARY
};

typedef struct {
    const parameters *p;
    const char *config, *output, *place;
    int json, ignore_recorded, error, profile, failures, nshifts, rhs;
    double shifts[MULTISHIFT_MOST];
    char digest[65];
    int64_t trajectory; /* number that the configuration bears, or -1 */
    gauge_loops loops;
    lattice *lat;
    field *links;
} job;

typedef struct {
    fermion *q;
    const named_quark *f;
    eigenvectors low;
    const job *j;
    field *source, *x, *residual, *one;    /* fields of one right-hand side; one: a vector of the system */
    field *direct, *normal, *half, *first; /* right-hand sides of both systems, solutions, those of the first solver */
} equation;

/* Makes the source of right-hand side number r. */
static void make_source(const job *j, fermion *q, field *source, int r)
{
    char message[PARAM_MESSAGE_SIZE];
    int place[4];
    if (!strcmp(j->place, "random")) {
        vector_random(source, (uint64_t)j->p->run.seed, RANDOM_SOURCE, (uint32_t)r);
        return;
    }
    if (param_set(&source_param, place, j->place, message, sizeof message))
        user_error("plaq solve: --source %s: %s; or random", j->place, message);
    for (int d = 0; d < 4; d++)
        if (place[d] >= j->lat->size[d])
            user_error("plaq solve: --source %s lies outside the lattice %d.%d.%d.%d", j->place, j->lat->size[0],
                       j->lat->size[1], j->lat->size[2], j->lat->size[3]);
    if (!fermion_has_walls(q)) {
        source_point(source, place, 0);
        return;
    }
    field *physical = fermion_physical(q);
    source_point(physical, place, 0);
    fermion_import(q, source, physical);
    field_destroy(physical);
}

static void put_column(field *to, int r, const field *from)
{
    field part = field_rhs(to, r);
    vector_axpby(&part, 1, from, 0);
    field_written(to);
}

static void take_column(field *to, const field *from, int r)
{
    const field part = field_rhs(from, r);
    vector_axpby(to, 1, &part, 0);
}

static void open_system(const job *j, const named_quark *f, equation *s)
{
    s->q = quark_kind_of(&f->p)->make(j->links, &f->p, NULL, 0);
    s->f = f;
    s->low = (eigenvectors){.trajectory = j->trajectory};
    s->j = j;
    s->source = fermion_vector(s->q);
    s->x = field_like(s->source);
    s->residual = field_like(s->source);
    s->one = linop_vector(s->q->normal, 1);
    s->direct = linop_vector(s->q->normal, j->rhs);
    s->normal = linop_vector(s->q->normal, j->rhs);
    s->half = linop_vector(s->q->normal, j->rhs);
    field_shape all = field_shape_of(s->source);
    all.nrhs = j->rhs;
    s->first = field_create_shape(s->source->lat, &all, s->source->prec, s->source->par, s->source->where);
    for (int r = 0; r < j->rhs; r++) {
        make_source(j, s->q, s->source, r);
        fermion_prepare(s->q, s->one, s->source, 0);
        put_column(s->direct, r, s->one);
        fermion_prepare(s->q, s->one, s->source, 1);
        put_column(s->normal, r, s->one);
    }
}

static void close_system(equation *s)
{
    field *all[] = {s->source, s->direct, s->normal, s->half, s->x, s->first, s->residual, s->one};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    eigenvectors_close(&s->low);
    fermion_destroy(s->q);
}

/* Fills the row of a solve whose solution is in s->half; first: the others are compared with it. */
static void judge(equation *s, const solve_result *r, double shift, int first, double row[SUMMARY])
{
    uint64_t flops = (uint64_t)r->flops;
    comm_sum_u64(&flops, 1);
    row[STATUS] = r->status;
    row[ITERATIONS] = r->iterations;
    row[INSIDE] = r->inside;
    row[RESIDUAL] = r->residual;
    row[SECONDS] = r->seconds;
    row[FLOPS] = (double)flops;
    row[SHIFT] = shift;
    row[RHS] = s->half->nrhs;
    row[SETUP] = r->setup;
    row[WHOLE] = row[DISTANCE] = row[ERROR] = row[RATIO] = NAN;
    if (shift != 0) return;
    double apart = 0, all = 0;
    row[WHOLE] = 0;
    for (int i = 0; i < s->half->nrhs; i++) {
        make_source(s->j, s->q, s->source, i);
        take_column(s->one, s->half, i);
        fermion_reconstruct(s->q, s->x, s->one, s->source);
        const double whole = fermion_residual(s->q, s->residual, s->x, s->source);
        if (!(whole <= row[WHOLE])) row[WHOLE] = whole;
        if (first) put_column(s->first, i, s->x);
        const field reference = field_rhs(s->first, i);
        vector_axpby(s->x, -1, &reference, 1);
        apart += vector_norm2(s->x, 0);
        all += vector_norm2(&reference, 0);
    }
    row[DISTANCE] = sqrt(apart / all);
}

/* The largest error of the solutions in s->half, by the solver that has found them. */
static void estimate(const equation *s, solver *by, const field *b, double row[SUMMARY])
{
    solve_error *each = calloc((size_t)b->nrhs, sizeof *each);
    REQUIRE_MEMORY(each, "out of memory for %d errors", b->nrhs);
    const solve_error worst = solver_error(by, s->half, b, each);
    row[ERROR] = worst.error;
    row[RATIO] = worst.ratio;
    free(each);
}

/* Solves by a solver; first: as in judge(). */
static void solve(equation *s, const named_settings *n, int first, solve_history *h, double row[SUMMARY])
{
    const int positive = solver_needs_positive(&n->p);
    field_clear(s->half);
    solver *by = solver_create(&n->p, fermion_system(s->q, positive));
    eigenvectors_attach(&s->low, s->j->p, &s->f->p, n, s->q, by);
    solver_record(h);
    const field *b = positive ? s->normal : s->direct;
    const profile_span since = profile_open();
    const solve_result r = solver_solve(by, s->half, b, NULL);
    solver_record(NULL);
    if (s->j->profile && !b->lat->planned)
        profile_print(&(profile_totals){.since = since, .where = b->where, .iterations = r.iterations});
    judge(s, &r, 0, first, row);
    if (s->j->error && r.status == SOLVE_CONVERGED) estimate(s, by, b, row);
    solver_destroy(by);
}

static void open_solutions(const job *j, const equation *s, field **x)
{
    for (int i = 0; i < j->nshifts; i++) x[i] = linop_vector(s->q->normal, 1);
}

static void close_solutions(const job *j, field *const *x)
{
    for (int i = 0; i < j->nshifts; i++) field_destroy(x[i]);
}

/* Solves all shifts at once; x: their solutions. */
static multishift_result solve_at_once(const job *j, equation *s, const solver_settings *set, field *const *x,
                                       solve_history *h, double rows[MULTISHIFT_MOST][SUMMARY])
{
    double tolerances[MULTISHIFT_MOST];
    for (int i = 0; i < j->nshifts; i++) tolerances[i] = set->tolerance;
    linop_refresh(s->q->normal);
    solver_record(h);
    const multishift_result m = multishift_solve(set, s->q->normal, j->nshifts, j->shifts, tolerances, x, s->normal);
    solver_record(NULL);
    for (int i = 0; i < j->nshifts; i++) {
        solve_result each = m.each[i];
        each.seconds = m.seconds;
        each.flops = m.flops;
        field_copy(s->half, x[i]);
        judge(s, &each, j->shifts[i], 0, rows[i]);
    }
    return m;
}

/* Solves shift after shift; x: the solutions at once, which are overwritten. Returns the sum of iterations and seconds. */
static solve_result separate_solution(const job *j, equation *s, const solver_settings *set, field *const *x,
                                      solve_history *h, double rows[MULTISHIFT_MOST][SUMMARY])
{
    solve_result sum = {0};
    for (int i = 0; i < j->nshifts; i++) {
        linop *shifted = shifted_create(s->q->normal, j->shifts[i]);
        field_clear(s->half);
        solver_record(h);
        solver_note_system(i, 0);
        solver *by = solver_create(set, shifted);
        const solve_result r = solver_solve(by, s->half, s->normal, NULL);
        solver_destroy(by);
        solver_note_system(0, 0);
        solver_record(NULL);
        linop_destroy(shifted);
        judge(s, &r, j->shifts[i], 0, rows[i]);
        vector_axpby(x[i], -1, s->half, 1);
        rows[i][DISTANCE] = sqrt(vector_norm2(x[i], 0) / vector_norm2(s->half, 0));
        sum.iterations += r.iterations;
        sum.seconds += r.seconds;
    }
    return sum;
}

/* Types are longer with shifts. */
static int type_width(const job *j)
{
    return j->nshifts ? 17 : 9;
}

/* A column of the table, for what may be unknown. */
static const char *known(char text[16], double x)
{
    if (isnan(x)) return "-";
    snprintf(text, 16, "%.2e", x);
    return text;
}

/* The precisions of the iterations, from the outermost in, as they are and not as they are asked for. */
static const char *precisions(char text[64], const solver_settings *set)
{
    precision prec = PREC_DOUBLE;
    int n = 0;
    for (; set && n < 64; set = set->inner) {
        prec = solver_precision(set, prec);
        n += snprintf(text + n, (size_t)(64 - n), "%s%s", n ? "/" : "", precision_names[prec]);
    }
    return text;
}

static void print(const job *j, const char *fermion, const char *solver, const solver_settings *set, const char *type,
                  const double *row)
{
    const char *status = solve_status_text((solve_status)row[STATUS]);
    if (comm_rank() != 0) return;
    if (!j->json) {
        char inner[64], whole[16], distance[16], error[16];
        printf("%-14s %-14s %-*s %-14s %7.0f %7.0f %10.2e %10s %9.3f %8.1f %10s", fermion, solver, type_width(j), type,
               precisions(inner, set), row[ITERATIONS], row[INSIDE], row[RESIDUAL], known(whole, row[WHOLE]),
               row[SECONDS], 1e-9 * row[FLOPS] / row[SECONDS], known(distance, row[DISTANCE]));
        if (j->error) printf(" %10s %10s", known(error, row[ERROR]), known(whole, row[RATIO]));
        printf("  %s\n", status);
        fflush(stdout);
        return;
    }
    json o = json_begin(stdout);
    json_string(&o, "config", j->config);
    json_string(&o, "quark", fermion);
    json_string(&o, "solver", solver);
    json_string(&o, "type", type);
    json_string(&o, "inner_precision", precision_names[set->inner_precision]);
    json_bool(&o, "converged", row[STATUS] == SOLVE_CONVERGED);
    json_string(&o, "status_text", status);
    for (int i = 0; i < SUMMARY; i++) json_real(&o, summary_columns[i].name, row[i]);
    json_end(&o);
}

typedef char group_names[2][176];

/* The tables of a solve, without rows: its points, and its results. `groups` gets their names. */
static void tables_of(table_rows tables[2], const char *name, group_names groups, const char *identity)
{
    snprintf(groups[0], sizeof groups[0], "solve/%s", name);
    snprintf(groups[1], sizeof groups[1], "solve/%.160s/summary", name);
    tables[0] = (table_rows){.group = groups[0], .columns = history_columns, .ncolumns = POINT, .identity = identity};
    tables[1] = (table_rows){.group = groups[1], .columns = summary_columns, .ncolumns = SUMMARY, .identity = identity};
}

static table_config config_of(const job *j)
{
    const int *s = j->lat->size;
    return (table_config){j->config,     j->digest,          {s[0], s[1], s[2], s[3]},
                          j->trajectory, j->loops.plaquette, j->loops.link_trace};
}

/* Before a solve: a file that cannot take its rows is a user error. */
static void look(const job *j, const char *name, const char *identity)
{
    const table_file file = {j->output, identity_of_program(), j->p->dump, identity_differ};
    table_rows tables[2];
    group_names groups;
    char message[4096];
    int there[2];
    if (!j->output) return;
    tables_of(tables, name, groups, identity);
    const table_config config = config_of(j);
    if (table_look(&file, &config, tables, 2, there, message, sizeof message)) user_error("%s", message);
    if (there[0]) log_info("%s of these links is in %s already, and is not stored again", name, j->output);
}

/* Everything of one solve, in one change of the file: its points, and n lines of results. `shifts`: of its systems. */
static void store(const job *j, const char *name, const char *identity, const solve_history *h, const double *shifts,
                  const double *results, int n)
{
    static const double bytes[PREC_COUNT] = {8, 4, 2, 1};
    const table_file file = {j->output, identity_of_program(), j->p->dump, identity_differ};
    const table_config config = config_of(j);
    table_rows tables[2];
    group_names groups;
    char message[4096];
    if (!j->output) return;
    double(*rows)[POINT] = calloc((size_t)h->n + 1, sizeof *rows);
    REQUIRE_MEMORY(rows, "out of memory for %d points", h->n);
    for (int i = 0; i < h->n; i++) {
        const solve_point *p = &h->points[i];
        rows[i][0] = p->iteration;
        rows[i][1] = p->residual;
        rows[i][2] = bytes[p->prec];
        rows[i][3] = p->is_true;
        rows[i][4] = shifts[p->system];
        rows[i][5] = p->rhs;
    }
    tables_of(tables, name, groups, identity);
    tables[0].nrows = h->n, tables[0].values = rows[0];
    tables[1].nrows = n, tables[1].values = results;
    const double start = comm_wtime();
    if (table_append(&file, &config, tables, 2, message, sizeof message)) user_error("%s", message);
    file_time_add(start);
    free(rows);
}

static void one_solver(job *j, equation *s, const named_quark *f, const named_settings *n, int *first)
{
    static const double none = 0;
    solve_history h = {0};
    double row[SUMMARY];
    char name[160];
    param_text identity = identity_of_solve(j->p, f, n, j->place);
    if (j->rhs > 1) param_text_add(&identity, "rhs = %d\n", j->rhs);
    if (j->error) param_text_add(&identity, "error = yes\n");
    snprintf(name, sizeof name, "%s.%s", f->name, n->name);
    look(j, name, identity.data);
    solve(s, n, *first, &h, row);
    if (row[STATUS] == SOLVE_CONVERGED) *first = 0; /* distances are from this solution */
    j->failures += row[STATUS] != SOLVE_CONVERGED;
    print(j, f->name, n->name, &n->p, solver_type_of(&n->p)->name, row);
    store(j, name, identity.data, &h, &none, row, 1);
    param_text_free(&identity);
    free(h.points);
}

static param_text identity_of_shifts(const job *j, const named_quark *f, const named_settings *n)
{
    param_text identity = identity_of_solve(j->p, f, n, j->place);
    for (int i = 0; i < j->nshifts; i++) param_text_add(&identity, "shift.%d = %.17g\n", i, j->shifts[i]);
    return identity;
}

/* The lines and the table of all shifts, solved in one of two ways. */
static void tell_shifts(job *j, const named_quark *f, const named_settings *n, const char *way, const char *table,
                        const solve_history *h, const double rows[MULTISHIFT_MOST][SUMMARY])
{
    char name[160], type[64];
    param_text identity = identity_of_shifts(j, f, n);
    for (int i = 0; i < j->nshifts; i++) {
        snprintf(type, sizeof type, "%s+%g", way, j->shifts[i]);
        j->failures += rows[i][STATUS] != SOLVE_CONVERGED;
        print(j, f->name, n->name, &n->p, type, rows[i]);
    }
    snprintf(name, sizeof name, "%s.%s.%s", f->name, n->name, table);
    store(j, name, identity.data, h, j->shifts, rows[0], j->nshifts);
    param_text_free(&identity);
}

static void all_shifts(job *j, equation *s, const named_quark *f, const named_settings *n)
{
    static double rows[2][MULTISHIFT_MOST][SUMMARY];
    static const char *const ways[2] = {"shifts", "apart"};
    field *x[MULTISHIFT_MOST];
    solve_history h[2] = {{0}, {0}};
    param_text identity = identity_of_shifts(j, f, n);
    for (int i = 0; i < 2; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s.%s.%s", f->name, n->name, ways[i]);
        look(j, name, identity.data);
    }
    param_text_free(&identity);
    open_solutions(j, s, x);
    const multishift_result m = solve_at_once(j, s, &n->p, x, &h[0], rows[0]);
    tell_shifts(j, f, n, "multi", ways[0], &h[0], rows[0]);
    const solve_result apart = separate_solution(j, s, &n->p, x, &h[1], rows[1]);
    tell_shifts(j, f, n, "cg", ways[1], &h[1], rows[1]);
    if (comm_rank() == 0 && !j->json)
        printf("%-14s %-14s all shifts at once: %d iterations, %.3f s; one after another: %d, %.3f s, %.2f times as "
               "long\n",
               f->name, n->name, m.iterations, m.seconds, apart.iterations, apart.seconds, apart.seconds / m.seconds);
    close_solutions(j, x);
    free(h[0].points);
    free(h[1].points);
}

static void solve_all(job *j, const named_quark *f)
{
    equation s;
    open_system(j, f, &s);
    int first = 1;
    for (int i = 0; i < j->p->nsolvers; i++) {
        const named_settings *n = &j->p->solvers[i];
        if (!parameters_solver_tried(j->p, i)) continue;
        one_solver(j, &s, f, n, &first);
        if (j->nshifts && n->p.type == param_kind(solver_section(0), "cg")) all_shifts(j, &s, f, n);
    }
    close_system(&s);
}

/* Counts the memory of all solves. */
static size_t need_of_solves(const void *of, const lattice *plan, place where)
{
    static double rows[MULTISHIFT_MOST][SUMMARY];
    const memory_count count = memory_count_open(plan, where);
    job j = *(const job *)of;
    j.lat = count.lat;
    j.links = field_create(j.lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    for (int i = 0; i < j.p->nquarks; i++) {
        equation s;
        open_system(&j, &j.p->quarks[i], &s);
        for (int k = 0; k < j.p->nsolvers; k++) {
            const solver_settings *set = &j.p->solvers[k].p;
            field *x[MULTISHIFT_MOST];
            if (!parameters_solver_tried(j.p, k)) continue;
            solve(&s, &j.p->solvers[k], 1, NULL, rows[0]);
            if (!j.nshifts || set->type != param_kind(solver_section(0), "cg")) continue;
            open_solutions(&j, &s, x);
            solve_at_once(&j, &s, set, x, NULL, rows);
            separate_solution(&j, &s, set, x, NULL, rows);
            close_solutions(&j, x);
        }
        close_system(&s);
    }
    field_destroy(j.links);
    lattice_destroy(j.lat);
    return memory_count_close(&count);
}

static void read_shifts(job *j, const char *text)
{
    char word[64];
    for (const char *at = text; at; at = at[strcspn(at, ",")] ? at + strcspn(at, ",") + 1 : NULL) {
        double shift;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        if (strcspn(at, ",") >= sizeof word || param_real(word, &shift) || !(shift >= 0))
            user_error("plaq solve: --shifts %s: not numbers of at least 0, separated by commas", text);
        if (j->nshifts == MULTISHIFT_MOST)
            user_error("plaq solve: --shifts %s: more than %d shifts", text, MULTISHIFT_MOST);
        j->shifts[j->nshifts++] = shift;
    }
}

static void read_rhs(job *j, const char *text)
{
    static const param rhs = {"--rhs", PARAM_INT, 0, NULL, "[1,256]", "", "random sources", 0};
    char message[PARAM_MESSAGE_SIZE];
    if (text && param_set(&rhs, &j->rhs, text, message, sizeof message))
        user_error("plaq solve: --rhs %s: %s", text, message);
    if (j->rhs > 1 && strcmp(j->place, "random"))
        user_error("plaq solve: --rhs %s: several sources are random ones; leave --source %s away", text, j->place);
    if (j->rhs > 1 && j->nshifts)
        user_error("plaq solve: --rhs %s: solves with --shifts have one source; leave one of the two away", text);
}

static int has_type(const parameters *p, const char *type)
{
    for (int i = 0; i < p->nsolvers; i++)
        if (p->solvers[i].p.type == param_kind(solver_section(0), type)) return 1;
    return 0;
}

static void read_config(job *j)
{
    links_info info;
    char message[1024];
    if (links_probe(j->config, &info, message, sizeof message)) user_error("%s", message);
    j->trajectory = info.has_sequence ? info.sequence : -1;
    j->links = simulation_configuration(j->p, j->config, j->ignore_recorded, need_of_solves, j, &j->lat, j->digest);
    j->loops = gauge_measure(j->links, 0);
}

int command_solve(int argc, char **argv)
{
    job j = {.place = "random", .rhs = 1};
    const char *shifts = NULL, *rhs = NULL;
    char message[1024];
    const command_flag flags[] = {
        {"--json", &j.json, NULL, "one JSON object a line instead of a table"},
        {"--source", NULL, &j.place, "random, or X.Y.Z.T of a point source; default random"},
        {"--rhs", NULL, &rhs,
         "number of random sources, 1 to 256; solvers that take blocks solve them together, others one after another"},
        {"--shifts", NULL, &shifts,
         "S,S,...: solves with these shifts too, all at once and one after another, by each solver of type cg"},
        {"--output", NULL, &j.output, "HDF5 file that histories and results are appended to"},
        {"--error", &j.error, NULL,
         "estimates the error of each solution by a second solve, of the residual: error and error / residual"},
        FLAG_PROFILE(&j.profile),
        FLAG_IGNORE_RECORDED(&j.ignore_recorded),
    };
    plain_arguments a = command_arguments(argc, argv, flags, 8, 2, 2);
    log_keep_stdout_clean(j.json);
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, NEED_EVERY_SOLVER);
    command_set_log(p);
    j.p = p;
    j.config = a.plain[1];
    if (p->nquarks == 0 || p->nsolvers == 0)
        user_error("%s: plaq solve needs a section [quark.NAME] and a section [solver.NAME]", a.plain[0]);
    if (shifts) read_shifts(&j, shifts);
    read_rhs(&j, rhs);
    if (shifts && !has_type(p, "cg"))
        user_error("%s: --shifts needs a [solver.NAME] of type cg, for multi-shift conjugate gradients", a.plain[0]);
    if (j.output && output_file_check(j.output, OUTPUT_TABLES, NULL, message, sizeof message))
        user_error("plaq solve: %s", message);
    read_config(&j);
    if (comm_rank() == 0 && !j.json)
        printf("%-14s %-14s %-*s %-14s %7s %7s %10s %10s %9s %8s %10s%s\n", "quark", "solver", type_width(&j), "type",
               "inner", "iter.", "inside", "residual", "of M", "seconds", "GF/s", "distance",
               j.error ? "      error err./resid." : "");
    for (int i = 0; i < p->nsolvers; i++)
        if (!parameters_solver_tried(p, i))
            log_info("[solver.%s] of type %s is left out: it preconditions other solvers", p->solvers[i].name,
                     solver_type_of(&p->solvers[i].p)->name);
    for (int i = 0; i < p->nquarks; i++) solve_all(&j, &p->quarks[i]);
    field_destroy(j.links);
    lattice_destroy(j.lat);
    parameters_free(p);
    command_arguments_free(&a);
    return j.failures ? EXIT_CHECK_FAILED : 0;
}
