/* What tests of solvers share: a Schur complement with its oracle, and its normal operator. */
#ifndef PLAQ_SCENE_H
#define PLAQ_SCENE_H

#include "solvers/bicgstab.h"
#include "solvers/block_cg.h"
#include "solvers/ca_gcr.h"
#include "solvers/gcr.h"
#include "solvers/mr.h"
#include "solvers/multigrid/multigrid.h"
#include "solvers/multisplitting.h"
#include "solvers/schwarz.h"
#include "tests/kernels/kit.h"

#include "kernels/ops/vector.h"
#include "operators/wilson.h"
#include "solvers/solver.h"

typedef struct {
    struct ref_lattice l;
    lattice *lat;
    double complex *u;
    field *links;
    wilson *w;
    linop *schur, *normal;
    struct ref_wilson ref;
    parity p;
} scene;

CHECK_UNUSED static void open_scene(scene *s, struct ref_lattice l, double mass, parity p)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 61);
    s->l = l;
    s->p = p;
    s->lat = kit_lattice(l, 1, -1);
    s->u = kit_random_gauge(l, 0.35, &rng);
    s->links = kit_links(s->lat, s->u);
    s->w = wilson_create(
        s->links,
        &(wilson_settings){.mass = mass, .c_sw = 1, .form = SCHUR_ASYMMETRIC, .p = p, .storage = FIELD_LINKS});
    s->schur = wilson_schur(s->w);
    s->normal = normal_create(s->schur);
    ref_wilson_create(&s->ref, l, s->u, mass, 1, -1);
}

CHECK_UNUSED static void close_scene(scene *s)
{
    ref_wilson_destroy(&s->ref);
    linop_destroy(s->normal);
    wilson_destroy(s->w);
    field_destroy(s->links);
    free(s->u);
    lattice_destroy(s->lat);
}

CHECK_UNUSED static field *random_source(const scene *s, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double *numbers = kit_normals((size_t)s->lat->volume * 24, &rng);
    field *f = kit_field(s->lat, FIELD_SPINOR, PREC_DOUBLE, s->p, 1, numbers);
    free(numbers);
    return f;
}

/* |b - (A + shift) x| / |b| by the oracle, with A the Schur complement or its normal operator. */
CHECK_UNUSED static double oracle_residual(const scene *s, int is_normal, double shift, const field *x, const field *b)
{
    const size_t n = 12 * ref_volume(s->l);
    double complex *psi = kit_spinor(x, 0), *rhs = kit_spinor(b, 0), *t = ref_spinor_new(s->l),
                   *r = ref_spinor_new(s->l);
    double residual = 0;
    if (comm_rank() == 0) {
        ref_schur_asymmetric(t, psi, &s->ref, s->p, 0);
        if (is_normal) ref_schur_asymmetric(r, t, &s->ref, s->p, 1);
        else memcpy(r, t, n * sizeof *r);
        for (size_t i = 0; i < n; i++) r[i] = rhs[i] - r[i] - shift * psi[i];
        residual = sqrt(ref_norm2(r, n) / ref_norm2(rhs, n));
    }
    comm_bcast(&residual, sizeof residual);
    free(r);
    free(t);
    free(rhs);
    free(psi);
    return residual;
}

/* Every key set, for a type of solver that may use it. */
CHECK_UNUSED static solver_settings settings_of(const char *type, const char *prec)
{
    solver_settings set = {.tolerance = 1e-12, .max_iterations = 3000, .delta = 0.1};
    if (!strcmp(type, "block_cg")) block_cg_keys_of(&set)->block_size = SOLVER_BLOCK_MOST;
    if (!strcmp(type, "gcr")) gcr_keys_of(&set)->restart = 12;
    if (!strcmp(type, "ca_gcr")) ca_gcr_keys_of(&set)->steps = 3;
    if (!strcmp(type, "bicgstab")) bicgstab_keys_of(&set)->l = 2;
    if (!strcmp(type, "mr")) *mr_keys_of(&set) = (mr_keys){.steps = 4, .relaxation = 0.9};
    if (!strcmp(type, "schwarz"))
        *schwarz_keys_of(&set) =
            (schwarz_keys){.block = {2, 2, 2, 2}, .steps = 4, .relaxation = 0.9, .colours = 2, .cycles = 1};
    if (!strcmp(type, "multisplitting"))
        *multisplitting_keys_of(&set) = (multisplitting_keys){.block = {2, 2, 2, 2}, .steps = 4};
    if (!strcmp(type, "multigrid"))
        *multigrid_keys_of(&set) = (multigrid_keys){.relaxation = 0.9,
                                                    .coarse_tolerance = 0.25,
                                                    .bottom_tolerance = 0.25,
                                                    .levels = 2,
                                                    .block = {{2, 2, 2, 2}},
                                                    .vectors = {8},
                                                    .post_steps = 4,
                                                    .coarse_iterations = 8,
                                                    .bottom_iterations = 16,
                                                    .setup_iterations = 10,
                                                    .restart = 3,
                                                    .right_hand_sides = 4};
    set.type = param_kind(solver_section(0), type);
    set.inner_precision = (int)precision_named(prec);
    return set;
}

/* Types that work on coarse lattices need an operator that comes there, and aggregates that the ranks have. */
CHECK_UNUSED static int can_take(const scene *s, const linop *op, const solver_type *type)
{
    char message[512];
    const solver_settings set = settings_of(type->name, "single");
    return !type->coarsens || (op->coarsening && !type->fits(&set, s->lat, message, sizeof message));
}

#endif
