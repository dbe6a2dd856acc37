/* plaq eigen: the lowest eigenpairs of the even-odd operator of a quark, on one configuration.
 *
 * The operator is K of operators/fermion.h, Hermitian and positive: Mhat^dagger Mhat, or A = m^2 - D D / 4 of a staggered
 * quark. Of each pair its value and |K v - value v| over the bound of the spectrum are printed, then what it took. With
 * --output the vectors are written for [solver.NAME] eigenvectors = FILE.
 *
 * Exit status 1 when a residual is above the tolerance; then nothing is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/eigenvectors.h"
#include "hmc/assemble/memory.h"
#include "hmc/input/pattern.h"
#include "hmc/command/commands.h"
#include "hmc/assemble/simulation.h"
#include "hmc/quarks/quark.h"
#include "hmc/record/profile.h"
#include "hmc/assemble/identity.h"
#include "io/files/file_time.h"
#include "io/history/eigen_hdf5.h"
#include "io/links/links.h"
#include "io/history/output_file.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "solvers/eigen.h"

typedef struct {
    const parameters *p;
    const named_quark *quark;
    const char *config, *output;
    char name[PARAM_STRING_SIZE + 32]; /* file name made of an output with a pattern */
    int json, ignore_recorded;
    eigen_settings s;
    lattice *lat;
    field *links;
} job;

/* ---- arguments ---- */

static const param numbers[] = {
    {"--pairs", PARAM_INT, offsetof(job, s.pairs), NULL, "[1,1024]", "", "eigenpairs, the lowest", 0},
    {"--block", PARAM_INT, offsetof(job, s.block), NULL, "[1,64]", "",
     "vectors that the operator is applied to together", 0},
    {"--basis", PARAM_INT, offsetof(job, s.basis), NULL, "[1,4096]", "", "vectors that are kept", 0},
    {"--order", PARAM_INT, offsetof(job, s.order), NULL, "[2,10000]", "", "order of the polynomial, even", 0},
    {"--cutoff", PARAM_REAL, offsetof(job, s.cutoff), NULL, "(0,inf)", "",
     "eigenvalue above which the polynomial is small", 0},
    {"--tolerance", PARAM_REAL, offsetof(job, s.tolerance), NULL, "[1e-15,1)", "", "of residuals", 0},
    {"--restarts", PARAM_INT, offsetof(job, s.restarts), NULL, "[1,100000]", "", "at most", 0},
};
#define NUMBERS ((int)(sizeof numbers / sizeof numbers[0]))
_Static_assert(EIGEN_MOST == 1024, "the range of --pairs");

static void read_number(job *j, const param *n, const char *text)
{
    char message[PARAM_MESSAGE_SIZE];
    if (text && param_set(n, j, text, message, sizeof message))
        user_error("plaq eigen: %s %s: %s", n->name, text, message);
}

static void choose_fermion(job *j, const char *input, const char *name)
{
    const parameters *p = j->p;
    for (int i = 0; i < p->nquarks; i++)
        if (!name || !strcmp(p->quarks[i].name, name)) {
            if (j->quark)
                user_error("%s: plaq eigen makes the pairs of one quark; say which by --quark: %s, %s, ...", input,
                           j->quark->name, p->quarks[i].name);
            j->quark = &p->quarks[i];
        }
    if (!j->quark && name) user_error("plaq eigen: --quark %s: %s has no section [quark.%s]", name, input, name);
    if (!j->quark) user_error("%s: plaq eigen needs a section [quark.NAME]", input);
}

/* ---- what comes out ---- */

static void print(const job *j, const eigen_pairs *e)
{
    if (comm_rank() != 0) return;
    for (int k = 0; k < e->n && j->json; k++) {
        json o = json_begin(stdout);
        json_string(&o, "config", j->config);
        json_string(&o, "quark", j->quark->name);
        json_int(&o, "pair", k);
        json_real(&o, "value", e->values[k]);
        json_real(&o, "residual", e->residuals[k]);
        json_end(&o);
    }
    if (j->json) {
        json o = json_begin(stdout);
        json_string(&o, "config", j->config);
        json_string(&o, "quark", j->quark->name);
        json_bool(&o, "converged", e->converged);
        json_int(&o, "pairs", e->n);
        json_int(&o, "applications", e->applications);
        json_int(&o, "restarts", e->restarts);
        json_int(&o, "order", e->order);
        json_real(&o, "cutoff", e->cutoff);
        json_real(&o, "bound", e->high);
        json_real(&o, "seconds", e->seconds);
        json_end(&o);
        return;
    }
    printf("%-14s %5s %22s %10s\n", "quark", "pair", "value", "residual");
    for (int k = 0; k < e->n; k++)
        printf("%-14s %5d %22.15g %10.2e\n", j->quark->name, k, e->values[k], e->residuals[k]);
    printf("%-14s %d pairs%s: %ld applications of the operator, %d restarts, order %d, cutoff %.4g of %.4g, %.3f s\n",
           j->quark->name, e->n, e->converged ? "" : ", not all of them converged", e->applications, e->restarts,
           e->order, e->cutoff, e->high, e->seconds);
}

/* The file of the configuration's trajectory number, where the output is a pattern. */
static void name_output(job *j)
{
    links_info info;
    char message[1024];
    if (!j->output || !strchr(j->output, '%')) return;
    if (links_probe(j->config, &info, message, sizeof message)) user_error("plaq eigen: %s", message);
    if (pattern_file(j->name, sizeof j->name, j->output, info.has_sequence ? info.sequence : -1, message,
                     sizeof message))
        user_error("plaq eigen: --output %s", message);
    j->output = j->name;
}

static void check_output(const job *j)
{
    char message[1024];
    if (j->output && output_file_check(j->output, OUTPUT_EIGENVECTORS, j->config, message, sizeof message))
        user_error("plaq eigen: %s", message);
}

static void store(const job *j, const eigen_pairs *e)
{
    char message[1024];
    /* A file of that name may have come up meanwhile. */
    check_output(j);
    eigen_file f = {.n = e->n, .values = e->values, .residuals = e->residuals};
    param_text quark = identity_of_operator(j->p, &j->quark->p);
    REQUIRE(strlen(quark.data) < sizeof f.quark, "%zu bytes of keys", strlen(quark.data));
    strcpy(f.quark, quark.data);
    param_text_free(&quark);
    links_digest(j->links, f.links);
    const double start = comm_wtime();
    if (eigen_file_write(j->output, &f, e->blocks, e->block, identity_of_program(), message, sizeof message))
        user_error("plaq eigen: %s", message);
    file_time_add(start);
}

/* ---- the work ---- */

static eigen_pairs *find(const job *j)
{
    char message[512];
    fermion *q = quark_kind_of(&j->quark->p)->make(j->links, &j->quark->p, NULL, 0);
    if (eigen_fits(&j->s, q->normal, message, sizeof message)) user_error("plaq eigen: %s", message);
    eigen_pairs *e = eigen_solve(&j->s, q->normal, message, sizeof message);
    if (!e) user_error("plaq eigen: %s", message);
    fermion_destroy(q);
    return e;
}

static size_t need_of_pairs(const void *of, const lattice *plan, place where)
{
    const memory_count count = memory_count_open(plan, where);
    job j = *(const job *)of;
    j.lat = count.lat;
    j.links = field_create(j.lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    eigen_free(find(&j));
    field_destroy(j.links);
    lattice_destroy(j.lat);
    return memory_count_close(&count);
}

static void read_config(job *j)
{
    j->links = simulation_configuration(j->p, j->config, j->ignore_recorded, need_of_pairs, j, &j->lat, NULL);
}

int command_eigen(int argc, char **argv)
{
    job j = {.s = {.pairs = 16, .block = 8, .tolerance = 1e-10, .restarts = 100}};
    const char *texts[NUMBERS] = {NULL}, *name = NULL;
    int profile = 0;
    const command_flag flags[] = {
        {"--json", &j.json, NULL, "one JSON object a line instead of a table"},
        {"--output", NULL, &j.output,
         "HDF5 file of the vectors, for [solver.NAME] eigenvectors; a %d in the name is the trajectory number"},
        {"--quark", NULL, &name, "NAME of the section, where there are several"},
        {"--pairs", NULL, &texts[0], "number of lowest eigenpairs; default 16"},
        {"--block", NULL, &texts[1], "vectors that the operator is applied to together; default 8"},
        {"--basis", NULL, &texts[2], "vectors that are kept; default 2.5 times the pairs and 4 blocks"},
        {"--order", NULL, &texts[3], "order of the Chebyshev polynomial, even; default by the cutoff, which bounds it"},
        {"--cutoff", NULL, &texts[4],
         "eigenvalue above which the polynomial is small, raised where too few are below; default by what is found"},
        {"--tolerance", NULL, &texts[5], "tolerance of |K v - value v| over the bound of the spectrum; default 1e-10"},
        {"--restarts", NULL, &texts[6], "largest number of restarts; default 100"},
        FLAG_PROFILE(&profile),
        FLAG_IGNORE_RECORDED(&j.ignore_recorded),
    };
    plain_arguments a = command_arguments(argc, argv, flags, 12, 2, 2);
    log_keep_stdout_clean(j.json);
    parameters *p = parameters_read(a.plain[0], a.noverride, a.overrides, 0);
    command_set_log(p);
    j.p = p;
    j.config = a.plain[1];
    for (int i = 0; i < NUMBERS; i++) read_number(&j, &numbers[i], texts[i]);
    if (j.s.order % 2)
        user_error("plaq eigen: --order %d is odd; even orders keep the lowest eigenvalues the largest", j.s.order);
    j.s.seed = (uint64_t)p->run.seed;
    choose_fermion(&j, a.plain[0], name);
    name_output(&j);
    check_output(&j);
    read_config(&j);
    const profile_span since = profile_open();
    eigen_pairs *e = find(&j);
    if (profile) profile_print(&(profile_totals){.since = since, .where = j.links->where});
    const int converged = e->converged;
    print(&j, e);
    if (j.output && converged) store(&j, e);
    eigen_free(e);
    field_destroy(j.links);
    lattice_destroy(j.lat);
    parameters_free(p);
    command_arguments_free(&a);
    return converged ? 0 : EXIT_CHECK_FAILED;
}
