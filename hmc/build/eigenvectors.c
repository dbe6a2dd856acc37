#include "hmc/build/eigenvectors.h"

#include <stdlib.h>
#include <string.h>

#include "hmc/input/identity.h"
#include "io/eigen_hdf5.h"
#include "io/links.h"
#include "kernels/base/error.h"

#define BLOCK 16 /* vectors that are read and multiplied together */

static const char *where(const parameters *p, const named_settings *s, const char *key)
{
    return ini_where(p->input, "solver", s->name, key);
}

/* The file is of this quark and these links, and has as many vectors. */
static void check(const parameters *p, const fermion_params *f, const named_settings *s, const field *links,
                  const eigen_file *file)
{
    const char *const path = s->p.eigenvectors_file;
    char digest[65];
    param_text quark = identity_of_quark(p, f), differences = {0};
    if (identity_differ(file->quark, quark.data, &differences))
        user_error("%s: [solver.%s] eigenvectors = %s is of another quark than this solver solves for: %s",
                   where(p, s, "eigenvectors"), s->name, path, differences.data ? differences.data : "other keys");
    param_text_free(&quark);
    param_text_free(&differences);
    if (s->p.low_modes > file->n)
        user_error("%s: [solver.%s] low_modes = %d, but %s has %d eigenvectors", where(p, s, "low_modes"), s->name,
                   s->p.low_modes, path, file->n);
    if (links->lat->planned) return;
    links_digest(links, digest);
    if (strcmp(digest, file->links))
        user_error("%s: [solver.%s] eigenvectors = %s is of another configuration (links %.12s..., and these are "
                   "%.12s...); plaq eigen makes one for each",
                   where(p, s, "eigenvectors"), s->name, path, file->links, digest);
}

static eigen_pairs *load(const parameters *p, const fermion_params *f, const named_settings *s, fermion *q)
{
    eigen_file file;
    char message[1024];
    if (eigen_file_look(s->p.eigenvectors_file, &file, message, sizeof message))
        user_error("%s: [solver.%s] eigenvectors: %s; plaq eigen makes it", where(p, s, "eigenvectors"), s->name,
                   message);
    check(p, f, s, q->links, &file);
    const int n = s->p.low_modes ? s->p.low_modes : file.n;
    eigen_pairs *e = eigen_alloc(q->normal, n, BLOCK);
    memcpy(e->values, file.values, (size_t)n * sizeof *e->values);
    memcpy(e->residuals, file.residuals, (size_t)n * sizeof *e->residuals);
    free(file.values);
    free(file.residuals);
    if (!q->links->lat->planned &&
        eigen_file_read(s->p.eigenvectors_file, n, e->blocks, BLOCK, message, sizeof message))
        user_error("%s: [solver.%s] eigenvectors: %s", where(p, s, "eigenvectors"), s->name, message);
    return e;
}

const eigen_pairs *eigenvectors_of(eigenvectors *e, const parameters *p, const fermion_params *f,
                                   const named_settings *section, fermion *q, int *modes)
{
    const char *const file = section->p.eigenvectors_file;
    eigen_pairs *pairs = NULL;
    for (int i = 0; i < e->n; i++)
        if (!strcmp(e->files[i], file) && e->pairs[i]->n >= section->p.low_modes) pairs = e->pairs[i];
    if (!pairs) {
        REQUIRE(e->n < MAX_NAMED, "more than %d files of eigenvectors", MAX_NAMED);
        pairs = load(p, f, section, q);
        e->files[e->n] = file;
        e->pairs[e->n++] = pairs;
    }
    *modes = section->p.low_modes ? section->p.low_modes : pairs->n;
    return pairs;
}

void eigenvectors_attach(eigenvectors *e, const parameters *p, const fermion_params *f, const named_settings *section,
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
