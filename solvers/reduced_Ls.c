/* A preconditioner of domain wall quarks that works on fewer slices: x = (T^dagger K T + mu) b, with T a trained transform
 * of the slices and K a preconditioner of the same quark's operator on fewer of them (J. Tu et al., arXiv:2104.05615,
 * eq. 20). mu lifts what T does not see, without which the whole would not be positive. */
#include <stdio.h>

#include "kernels/base/error.h"
#include "solvers/transform.h"

static const char *check(const solver_settings *s, char *message, size_t size)
{
    if (!s->inner_name[0]) {
        snprintf(message, size, "needs the key 'preconditioner', which names what solves on fewer slices");
        return "preconditioner";
    }
    if (!s->transform_file[0]) {
        snprintf(message, size, "needs the key 'transform', the file that plaq train makes");
        return "transform";
    }
    return NULL;
}

/* The operator on fewer slices. That the quark has it, with this transform, is known from the input. */
static linop *inside(const solver_settings *s, linop *a)
{
    char message[256];
    REQUIRE(s->transform, "a preconditioner on fewer slices without a transform");
    linop *few = linop_slices(a, s->transform->T.Ls, message, sizeof message);
    REQUIRE(few, "%s", message);
    return few;
}

static void precondition(solver *of, const char *going, field *x, const field *b, solve_result *each)
{
    (void)going;
    const fifth_transform *t = of->settings.transform;
    field *w = linop_vector(solver_operator(of->inner, b), 1), *u = field_like(w);
    domainwall_fifth(w, b->par, 1, &t->T, 0, b, 0, NULL);
    solver_precondition(of->inner, NULL, u, w, each);
    domainwall_fifth(x, b->par, 1, &t->T, 1, u, t->mu, b);
    field_destroy(u);
    field_destroy(w);
}

static const param own[] = {
    {"preconditioner", PARAM_NAME, offsetof(solver_settings, inner_name), "", "solver", NULL,
     "[solver.NAME] of the preconditioner of the operator on fewer slices", 0},
};

static const param_section part = PARAM_PART("solver", "reduced_Ls", solver_settings, own);

const solver_type solver_reduced_Ls = {
    .name = "reduced_Ls",
    .help = "another preconditioner on fewer slices of domain wall quarks, by a transform that plaq train makes; a "
            "preconditioner alone, for pcg",
    .keys = "transform",
    .own = &part,
    .positive = 1,
    .inner_key = "preconditioner",
    .check = check,
    .inside = inside,
    .precondition = precondition};
