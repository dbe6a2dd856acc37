/* Files of eigenvectors as plaq eigen makes them, for tests with low modes. */
#ifndef PLAQ_TESTS_EIGENVECTORS_H
#define PLAQ_TESTS_EIGENVECTORS_H

#include "hmc/assemble/identity.h"
#include "hmc/quarks/quark.h"
#include "io/history/eigen_hdf5.h"
#include "io/links/links.h"
#include "solvers/eigen.h"
#include "tests/kernels/kit.h"

/* The lowest eigenpairs of a quark, which the section of the solver then names; the file goes to path. Free with eigen_free(). */
CHECK_UNUSED static eigen_pairs *eigenvectors_for(const parameters *p, fermion *q, const quark_params *of,
                                                  solver_settings *by, int pairs, const char *path)
{
    const eigen_settings set = {
        .pairs = pairs, .block = 2, .basis = 2 * pairs + 4, .tolerance = 1e-11, .restarts = 200, .seed = 5};
    char message[512] = "";
    eigen_pairs *e = eigen_solve(&set, q->normal, message, sizeof message);
    KIT_CHECK(e != NULL);
    KIT_INT(e->converged, 1);
    eigen_file f = {.n = e->n, .values = e->values, .residuals = e->residuals};
    param_text quark = identity_of_operator(p, of);
    snprintf(f.quark, sizeof f.quark, "%s", quark.data);
    param_text_free(&quark);
    links_digest(q->links, f.links);
    KIT_INT(eigen_file_write(path, &f, e->blocks, e->block, "test", message, sizeof message), 0);
    snprintf(by->eigenvectors_file, PARAM_STRING_SIZE, "%s", path);
    return e;
}

#endif
