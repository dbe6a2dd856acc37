#include "hmc/assemble/eigenvectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/quarks/quark.h"
#include "hmc/assemble/identity.h"
#include "hmc/input/pattern.h"
#include "io/files/file_time.h"
#include "io/history/eigen_hdf5.h"
#include "io/links/links.h"
#include "kernels/base/error.h"
#include "kernels/lattice/comm.h"

#define BLOCK 16 /* vectors that are read and multiplied together */

static const char *where(const parameters *p, const named_settings *s, const char *key)
{
    return ini_where(p->input, "solver", s->name, key);
}

/* ---- the operator ---- */

/* A text of keys without the mass, whose value goes to *mass. */
static param_text without_mass(const char *keys, double *mass)
{
    static const char key[] = "quark.mass = ";
    param_text rest = {0};
    char value[64];
    for (const char *at = keys, *next; *at; at = next) {
        const size_t n = strcspn(at, "\n");
        next = at + n + (at[n] == '\n');
        if (!strncmp(at, key, strlen(key))) {
            snprintf(value, sizeof value, "%.*s", (int)(n - strlen(key)), at + strlen(key));
            if (param_real(value, mass)) *mass = NAN;
        } else {
            param_text_add(&rest, "%.*s", (int)(next - at), at);
        }
    }
    return rest;
}

/* Shift of the eigenvalues of a file of another mass; a file of another operator is a user error. */
static double shift_of(const parameters *p, const quark_params *f, const named_settings *s, const char *path,
                       const eigen_file *file)
{
    param_text now = identity_of_operator(p, f), differences = {0};
    double there = f->mass, here = f->mass;
    const int shifted = quark_kind_of(f)->shifted_by_mass;
    param_text before = {0};
    param_text_add(&before, "%s", file->quark);
    if (shifted) {
        param_text rest[2] = {without_mass(file->quark, &there), without_mass(now.data, &here)};
        param_text_free(&before);
        param_text_free(&now);
        before = rest[0];
        now = rest[1];
    }
    if (identity_differ(before.data ? before.data : "", now.data ? now.data : "", &differences))
        user_error("%s: [solver.%s] eigenvectors = %s is of another operator than this solver solves with:\n%s%s",
                   where(p, s, "eigenvectors"), s->name, path, differences.data ? differences.data : "  other keys\n",
                   shifted ? "  plaq eigen makes one of this quark; the mass alone may differ"
                           : "  plaq eigen makes one of this quark. Eigenvectors are those of one mass and one form "
                             "here: Mhat^dagger Mhat of others is not this one plus a number");
    param_text_free(&before);
    param_text_free(&now);
    param_text_free(&differences);
    return shifted ? here * here - there * there : 0;
}

/* ---- the lattice and the links ---- */

/* The file is of this lattice, parity and configuration, and has as many vectors. */
static void check(const parameters *p, const named_settings *s, const char *path, const fermion *q,
                  const eigen_file *file)
{
    static const char *const parities[] = {
        [PARITY_EVEN] = "even", [PARITY_ODD] = "odd", [PARITY_BOTH] = "even and odd"};
    char digest[65];
    const int *a = file->size, *b = q->links->lat->size;
    if (s->p.low_modes > file->n)
        user_error("%s: [solver.%s] low_modes = %d, but %s has %d eigenvectors", where(p, s, "low_modes"), s->name,
                   s->p.low_modes, path, file->n);
    if (file->parity != (int)q->normal->par)
        user_error("%s: [solver.%s] eigenvectors = %s is of %s sites, and the quark's parity is %s; make one with this "
                   "parity, or set [quark.NAME] parity = %s",
                   where(p, s, "eigenvectors"), s->name, path, parities[file->parity], parities[q->normal->par],
                   parities[file->parity]);
    if (q->links->lat->planned) return;
    if (memcmp(a, b, sizeof file->size))
        user_error("%s: [solver.%s] eigenvectors = %s is of a lattice of %d.%d.%d.%d sites, and the configuration has "
                   "%d.%d.%d.%d; plaq eigen makes one for each",
                   where(p, s, "eigenvectors"), s->name, path, a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]);
    links_digest(q->links, digest);
    if (strcmp(digest, file->links))
        user_error("%s: [solver.%s] eigenvectors = %s is of another configuration (links %.12s..., and these are "
                   "%.12s...); plaq eigen makes one for each, and a pattern, FILE-%%d.h5, names those of a list",
                   where(p, s, "eigenvectors"), s->name, path, file->links, digest);
}

static eigen_pairs *load(const parameters *p, const quark_params *f, const named_settings *s, fermion *q,
                         int64_t trajectory)
{
    eigen_file file;
    char message[1024], path[PARAM_STRING_SIZE + 32];
    /* Sizes are all that a plan asks for, and these are in the input. */
    if (q->links->lat->planned && trajectory < 0 && s->p.low_modes && strchr(s->p.eigenvectors_file, '%'))
        return eigen_alloc(q->normal, s->p.low_modes, BLOCK);
    if (pattern_file(path, sizeof path, s->p.eigenvectors_file, trajectory, message, sizeof message))
        user_error("%s: [solver.%s] eigenvectors = %s", where(p, s, "eigenvectors"), s->name, message);
    const double start = comm_wtime();
    if (eigen_file_open(path, &file, message, sizeof message))
        user_error("%s: [solver.%s] eigenvectors: %s; plaq eigen makes it", where(p, s, "eigenvectors"), s->name,
                   message);
    const double shift = shift_of(p, f, s, path, &file);
    check(p, s, path, q, &file);
    const int n = s->p.low_modes ? s->p.low_modes : file.n;
    eigen_pairs *e = eigen_alloc(q->normal, n, BLOCK);
    for (int k = 0; k < n; k++) e->values[k] = file.values[k] + shift;
    memcpy(e->residuals, file.residuals, (size_t)n * sizeof *e->residuals);
    if (!q->links->lat->planned && eigen_file_read(&file, path, n, e->blocks, BLOCK, message, sizeof message))
        user_error("%s: [solver.%s] eigenvectors: %s", where(p, s, "eigenvectors"), s->name, message);
    eigen_file_close(&file);
    file_time_add(start);
    return e;
}

const eigen_pairs *eigenvectors_of(eigenvectors *e, const parameters *p, const quark_params *f,
                                   const named_settings *section, fermion *q, int *modes)
{
    const char *const file = section->p.eigenvectors_file;
    eigen_pairs *pairs = NULL;
    for (int i = 0; i < e->n; i++)
        if (!strcmp(e->files[i], file) && e->pairs[i]->n >= section->p.low_modes) pairs = e->pairs[i];
    if (!pairs) {
        REQUIRE(e->n < MAX_NAMED, "more than %d files of eigenvectors", MAX_NAMED);
        pairs = load(p, f, section, q, e->trajectory);
        e->files[e->n] = file;
        e->pairs[e->n++] = pairs;
    }
    *modes = section->p.low_modes ? section->p.low_modes : pairs->n;
    return pairs;
}

void eigenvectors_attach(eigenvectors *e, const parameters *p, const quark_params *f, const named_settings *section,
                         fermion *q, solver *by)
{
    int modes;
    if (!section->p.eigenvectors_file[0]) return;
    const eigen_pairs *pairs = eigenvectors_of(e, p, f, section, q, &modes);
    solver_deflate(by, pairs, modes, by->a != q->normal);
}

void eigenvectors_close(eigenvectors *e)
{
    for (int i = 0; i < e->n; i++) eigen_free(e->pairs[i]);
    e->n = 0;
}

void eigenvectors_refuse(const parameters *p, const char *command)
{
    for (int i = 0; i < p->nsolvers; i++)
        if (p->solvers[i].p.eigenvectors_file[0])
            user_error(
                "%s: [solver.%s] has eigenvectors, which are those of one configuration, and plaq %s changes the "
                "links; leave the key away, or measure with plaq measure",
                where(p, &p->solvers[i], "eigenvectors"), p->solvers[i].name, command);
}
