/* Multigrid solves A^dagger by the levels of A, and follows links that change.
 *
 * Of every form of the Schur complement, with and without a twisted mass: S of A^dagger = S B S^-1 is what it claims to be, and
 * A^dagger takes as many iterations as A on levels, or a set-up, that both share. Their number is gauge invariant. A set-up is kept while links move little, refreshed when they have moved far,
 * and made anew where that has not helped or a solve fails; a solve that a solver forgets to follow has the bits of a new
 * solver. Several right-hand sides at once have the bits and iterations that each has alone. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"

static const struct ref_lattice shape = {{4, 4, 4, 8}};

typedef struct {
    lattice *lat;
    field *links, *momenta;
    wilson *w;
    wilson_settings set;
    linop *direct, *adjoint;
    field *b;
} quark;

static field *random_vector(const linop *op, uint32_t number)
{
    field *x = linop_vector(op, 1);
    vector_random(x, 9, RANDOM_TEST, number);
    return x;
}

static int open_quark(quark *q, const wilson_settings *s)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 5);
    q->lat = kit_lattice(shape, 1, -1);
    if (!q->lat) return 0;
    char message[512];
    const solver_settings set = settings_of("multigrid", "single");
    if (solver_type_number(param_kind(solver_section(0), "multigrid"))->fits(&set, q->lat, message, sizeof message)) {
        lattice_destroy(q->lat);
        return 0;
    }
    double complex *u = kit_random_gauge(shape, 0.35, &rng);
    q->links = kit_links(q->lat, u);
    free(u);
    q->momenta = field_create(q->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    momenta_random(q->momenta, 3, RANDOM_TEST, 0);
    q->set = *s;
    q->w = wilson_create(q->links, s);
    q->direct = wilson_schur(q->w);
    q->adjoint = adjoint_create(q->direct);
    q->b = random_vector(q->direct, 1);
    return 1;
}

static void close_quark(quark *q)
{
    field_destroy(q->b);
    linop_destroy(q->adjoint);
    wilson_destroy(q->w);
    field_destroy(q->momenta);
    field_destroy(q->links);
    lattice_destroy(q->lat);
}

/* Family of all solvers that follow links. */
static solver_family family;

static solver *follower(linop *op, double refresh_at, int refresh_iterations)
{
    solver_settings s = settings_of("multigrid", "single");
    s.follows = 1;
    s.family = &family;
    s.tolerance = 1e-9;
    multigrid_keys_of(&s)->refresh_at = refresh_at;
    multigrid_keys_of(&s)->refresh_iterations = refresh_iterations;
    return solver_create(&s, op);
}

static int solves(solver *s, const quark *q)
{
    field *x = field_like(q->b);
    const solve_result r = solver_solve(s, x, q->b, NULL);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_CHECK(r.residual <= 1.5 * s->settings.tolerance);
    field_destroy(x);
    return r.iterations;
}

/* The links after a random gauge transformation, on which null vectors of before are no use. */
static void rotate_links(quark *q)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 6);
    double complex *u = (double complex *)kit_gather(q->links), *g = kit_alloc(9 * ref_volume(shape), sizeof *g);
    ref_random_rotation(g, shape, &rng);
    ref_rotate_gauge(u, shape, g);
    kit_scatter(q->links, (const double *)u);
    free(g);
    free(u);
}

/* S B x = A^dagger S x, and S^-1 S x = x. */
static void check_similar(const quark *q)
{
    linop *a = linop_at(q->direct, PREC_SINGLE, kit_place), *b = a->coarsening->partner(a);
    KIT_INT(a == b, q->set.mu == 0);
    KIT_CHECK(b->coarsening->partner(b) == a);
    field *wide = random_vector(q->direct, 2), *x = linop_vector(a, 1), *y = field_like(x), *left = field_like(x),
          *right = field_like(x);
    vector_copy(x, wide);
    linop_refresh(a);
    linop_refresh(b);
    linop_apply(b, y, x, 0);
    b->coarsening->gamma5_conjugate(b, left, y, 0);
    b->coarsening->gamma5_conjugate(b, y, x, 0);
    linop_apply(a, right, y, 1);
    const double size = vector_norm2(right, 0);
    KIT_NEAR(sqrt(vector_axpy_norm2(left, -1, right, 0) / size), 0, 100 * kit_epsilon[PREC_SINGLE]);
    b->coarsening->gamma5_conjugate(b, right, y, 1);
    KIT_NEAR(sqrt(vector_axpy_norm2(right, -1, x, 0) / vector_norm2(x, 0)), 0, 100 * kit_epsilon[PREC_SINGLE]);
    field *const all[] = {wide, x, y, left, right};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
}

static void check_adjoint(const quark *q)
{
    solver *plain = follower(q->direct, 1.5, 8), *dagger = follower(q->adjoint, 1.5, 8);
    KIT_INT(multigrid_levels_of(plain) == multigrid_levels_of(dagger), q->set.mu == 0);
    const int one = solves(plain, q), other = solves(dagger, q);
    KIT_CHECK(multigrid_levels_of(plain)->owner == multigrid_levels_of(dagger)->owner);
    KIT_INT(multigrid_levels_of(plain)->owner->number, 1);
    KIT_NEAR(other, one, 0.2 * one + 1);
    solver_destroy(plain);
    KIT_INT(solves(dagger, q), other);
    solver_destroy(dagger);
}

/* One step after the other: kept, of no use on rotated links, refreshed, and made anew where that is not enough. */
static void check_follows(quark *q)
{
    solver *s = follower(q->direct, 1.3, 8), *idle = follower(q->direct, 1.02, 1);
    const multigrid *m = multigrid_levels_of(s), *n = multigrid_levels_of(idle);
    const int first = solves(s, q);
    KIT_CHECK(m != n && m->setup_links_version > 0);
    KIT_INT(solves(idle, q), first);
    gauge_update(q->links, 1e-4, q->momenta);
    KIT_NEAR(solves(s, q), first, 1);
    KIT_INT(m->setup_links_version, 0);
    rotate_links(q);
    const int stale = solves(s, q);
    KIT_CHECK(stale > 1.5 * first);
    KIT_INT(solves(idle, q) > first, 1);
    gauge_update(q->links, 1e-4, q->momenta);
    const int after = solves(s, q);
    solves(idle, q);
    KIT_CHECK(m->refreshed && m->setup_links_version == 0 && n->refreshed);
    KIT_CHECK(after < 0.85 * stale);
    gauge_update(q->links, 1e-4, q->momenta);
    KIT_NEAR(solves(idle, q), first, 0.25 * first + 1);
    KIT_CHECK(n->setup_links_version > 0);
    /* Forgotten: the bits of a new solver. */
    solver_forget(s);
    solver *fresh = follower(q->direct, 1.4, 8);
    field *x = field_like(q->b), *y = field_like(q->b);
    solver_solve(s, x, q->b, NULL);
    solver_solve(fresh, y, q->b, NULL);
    KIT_NEAR(vector_axpy_norm2(x, -1, y, 0), 0, 0);
    KIT_CHECK(m->setup_links_version > 0);
    field_destroy(y);
    field_destroy(x);
    solver_destroy(fresh);
    solver_destroy(idle);
    solver_destroy(s);
}

/* A solver of a quark that is heavier by so much, in its twisted mass if there is one. */
static solver *of_mass(const quark *q, double more, wilson **w, int share)
{
    solver_settings s = settings_of("multigrid", "single");
    wilson_settings set = q->set;
    s.follows = 1;
    s.family = &family;
    s.tolerance = 1e-9;
    multigrid_keys_of(&s)->refresh_at = 1.3;
    multigrid_keys_of(&s)->refresh_iterations = 8;
    multigrid_keys_of(&s)->share_setup = share;
    if (set.mu != 0) set.mu += copysign(more, set.mu);
    else set.mass += more;
    *w = wilson_create(q->links, &set);
    return solver_create(&s, wilson_schur(*w));
}

/* Masses of which the heaviest solves first: one set-up, of the lightest, which all of them decide about. */
static void check_shares(quark *q)
{
    wilson *w[4];
    solver *heavy = of_mass(q, 0.3, &w[0], 1), *light = of_mass(q, 0, &w[1], 1), *middle = of_mass(q, 0.1, &w[2], 1),
           *alone = of_mass(q, 0.3, &w[3], 0);
    const multigrid *of[4] = {multigrid_levels_of(heavy), multigrid_levels_of(light), multigrid_levels_of(middle),
                              multigrid_levels_of(alone)};
    const int first = solves(heavy, q), own = solves(alone, q), least = solves(light, q), between = solves(middle, q);
    for (int i = 0; i < 3; i++) KIT_CHECK(of[i]->owner == of[1]);
    KIT_CHECK(of[3]->owner == of[3]);
    KIT_NEAR(of[0]->shift.number, q->set.mu != 0 ? 0 : 0.3, 1e-14);
    KIT_NEAR(fabs(of[0]->shift.twist), q->set.mu != 0 ? 0.3 : 0, 1e-14);
    KIT_INT(of[1]->number, 1);
    KIT_NEAR(first, own, 0.25 * own + 1);
    KIT_CHECK(between <= 1.25 * least + 1 && first <= 1.25 * least + 1);
    gauge_update(q->links, 1e-4, q->momenta);
    solves(heavy, q);
    KIT_INT(of[1]->number, 1);
    /* One that is slow brings a new set-up to all. */
    rotate_links(q);
    solves(light, q);
    gauge_update(q->links, 1e-4, q->momenta);
    solves(middle, q);
    KIT_CHECK(of[1]->number > 1);
    KIT_INT(of[2]->setup_taken, of[1]->number);
    solves(light, q);
    solves(heavy, q);
    KIT_INT(of[0]->setup_taken, of[1]->number);
    solver *const all[] = {light, heavy, alone, middle};
    for (int i = 0; i < 4; i++) solver_destroy(all[i]);
    for (int i = 0; i < 4; i++) wilson_destroy(w[i]);
}

enum { SOURCES = 5 };

/* Random ones, of which one is zero and one a tiny multiple of another; first guesses that are far, near and none. */
static void set_sources(const linop *op, field *b, field *x)
{
    field *one = random_vector(op, 1);
    vector_random(b, 9, RANDOM_TEST, 3);
    vector_random(x, 9, RANDOM_TEST, 4);
    for (int k = 1; k < SOURCES; k++) {
        field part_b = field_rhs(b, k), part_x = field_rhs(x, k);
        if (k < 3) vector_axpby(&part_b, k == 1 ? 0 : 1e-20, one, 0);
        if (k != 3) vector_axpby(&part_x, 0, one, 0);
    }
    field_written(b);
    field_written(x);
    field_destroy(one);
}

/* |x_k - y|^2 for right-hand side k of x. */
static double apart(const field *x, int k, field *y)
{
    const field part = field_rhs(x, k);
    return vector_axpy_norm2(y, -1, &part, 0);
}

/* Of the keys: as they are; smoothing by Schwarz blocks, with links in half precision; cycles of three levels. */
enum { PLAIN, BLOCKS, V_CYCLE, W_CYCLE, VARIANTS };
static const char *const variants[] = {"", " with Schwarz blocks and half links", " by V-cycles and CA-GCR",
                                       " by W-cycles and BiCGStab"};

static void set_variant(solver_settings *s, int variant, const solver_settings *smoother)
{
    multigrid_keys *k = multigrid_keys_of(s);
    if (variant == BLOCKS) {
        s->inner = smoother;
        k->post_steps = 1;
        k->half_links = 1;
    }
    if (variant == V_CYCLE || variant == W_CYCLE) {
        k->levels = 3;
        for (int d = 0; d < 4; d++) k->block[1][d] = 2;
        k->vectors[1] = 8;
        k->cycle = variant == V_CYCLE ? CYCLE_V : CYCLE_W;
        k->bottom_solver = variant == V_CYCLE ? BOTTOM_CA_GCR : BOTTOM_BICGSTAB;
    }
}

/* Coarse products on tensor cores, where there are some: other bits, and as many iterations. */
static void check_tensor_cores(linop *op)
{
    solver_settings set = settings_of("multigrid", "single");
    int iterations[2];
    set_variant(&set, BLOCKS, NULL);
    multigrid_keys_of(&set)->vectors[0] = 8;
    field *b = linop_vector(op, SOURCES), *x = field_like(b);
    solve_result each[SOURCES];
    set_sources(op, b, x);
    for (int tensor = 0; tensor < 2; tensor++) {
        kit_where("tensor cores %d", tensor);
        multigrid_keys_of(&set)->tensor_cores = tensor;
        solver *s = solver_create(&set, op);
        field_clear(x);
        KIT_INT(solver_solve(s, x, b, each).status, SOLVE_CONVERGED);
        iterations[tensor] = each[0].iterations;
        solver_destroy(s);
    }
    KIT_CHECK(abs(iterations[1] - iterations[0]) <= 2);
    field_destroy(x);
    field_destroy(b);
}

/* At once, and each alone: x, iterations and residuals. */
static void check_together(linop *op, const char *type, const char *prec, int variant)
{
    solver_settings set = settings_of(type, prec);
    const solver_settings smoother = settings_of("schwarz", "single");
    solver_settings inner = settings_of("multigrid", "single");
    const int cycles = !strcmp(type, "gcr");
    set.tolerance = 1e-9;
    set_variant(cycles ? &inner : &set, variant, &smoother);
    multigrid_keys_of(cycles ? &inner : &set)->tensor_cores = 0;
    if (cycles) set.inner = &inner;
    field *b = linop_vector(op, SOURCES), *x = field_like(b), *start = field_like(b), *one_b = linop_vector(op, 1),
          *one_x = field_like(one_b);
    solve_result each[SOURCES];
    set_sources(op, b, start);
    vector_copy(x, start);
    solver *s = solver_create(&set, op);
    KIT_INT(s->type->block_size(&s->settings), 4);
    KIT_INT(solver_solve(s, x, b, each).status, SOLVE_CONVERGED);
    for (int k = 0; k < SOURCES; k++) {
        const field from_b = field_rhs(b, k), from_x = field_rhs(start, k);
        kit_where("%s in %s precision%s, right-hand side %d of %d", type, prec, variants[variant], k, SOURCES);
        vector_axpby(one_b, 1, &from_b, 0);
        vector_axpby(one_x, 1, &from_x, 0);
        const solve_result r = solver_solve(s, one_x, one_b, NULL);
        KIT_INT(each[k].iterations, r.iterations);
        KIT_INT(each[k].status, r.status);
        KIT_NEAR(each[k].residual, r.residual, 0);
        KIT_NEAR(apart(x, k, one_x), 0, 0);
    }
    KIT_INT(each[1].iterations, 0);
    KIT_CHECK(each[0].iterations > 2);
    solver_destroy(s);
    field *const all[] = {b, x, start, one_b, one_x};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
}

/* Three levels, of which the lower ones are on so many ranks at most, from the finest on: |x|^2 of a solve. */
static double norm2_on(const quark *q, int second, int third, int half_links, int *iterations)
{
    solver_settings s = settings_of("multigrid", "single");
    multigrid_keys *k = multigrid_keys_of(&s);
    s.tolerance = 1e-9;
    k->levels = 3;
    for (int d = 0; d < 4; d++) k->block[1][d] = 2;
    k->vectors[1] = 8;
    k->ranks[0] = second;
    k->ranks[1] = third;
    k->half_links = half_links;
    solver *by = solver_create(&s, q->direct);
    field *x = field_like(q->b);
    const solve_result r = solver_solve(by, x, q->b, NULL);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_INT(multigrid_levels_of(by)->n, 3);
    KIT_INT(multigrid_levels_of(by)->dependent, 0);
    *iterations = r.iterations;
    const double x2 = vector_norm2(x, 0);
    field_destroy(x);
    solver_destroy(by);
    return x2;
}

/* The bits do not tell how many ranks hold coarse lattices. */
static void check_gathered(const quark *q)
{
    for (int half_links = 0; half_links < 2; half_links++) {
        int first, n;
        const double all = norm2_on(q, 0, 0, half_links, &first);
        KIT_CHECK(first < 60);
        KIT_NEAR(norm2_on(q, 1, 0, half_links, &n), all, 0);
        KIT_INT(n, first);
        KIT_NEAR(norm2_on(q, 2, 1, half_links, &n), all, 0);
        KIT_NEAR(norm2_on(q, 0, 1, half_links, &n), all, 0);
        if (comm_rank() == 0) printf("gathered: |x|^2 = %.17g after %d iterations\n", all, first);
    }
}

/* As many iterations on the links after a gauge transformation, but for random vectors that are others there. */
static void check_covariance(quark *q)
{
    solver_settings set = settings_of("multigrid", "single");
    solver *s = solver_create(&set, q->direct);
    const int first = solves(s, q);
    rotate_links(q);
    KIT_NEAR(solves(s, q), first, 0.25 * first + 1);
    solver_destroy(s);
}

/* A solve that fails with a set-up of other links is repeated with one of these. */
static void check_renewal(quark *q)
{
    solver *s = follower(q->direct, 1000, 8);
    const multigrid *m = multigrid_levels_of(s);
    const int first = solves(s, q);
    rotate_links(q);
    s->settings.max_iterations = first;
    field *x = field_like(q->b);
    solve_result r = solver_solve(s, x, q->b, NULL);
    KIT_CHECK(m->setup_links_version > 0);
    KIT_CHECK(r.iterations > first && r.iterations <= 2 * first);
    /* With that of these links there is no other attempt. */
    field_clear(x);
    r = solver_solve(s, x, q->b, NULL);
    KIT_CHECK(r.iterations <= first);
    field_destroy(x);
    solver_destroy(s);
}

/* Beyond the critical mass the spectrum of M goes around zero: a solve ends by rule, long before max_iterations. */
static void check_stall(void)
{
    static const wilson_settings beyond = {.mass = -2.2, .c_sw = 1.2, .form = SCHUR_SYMMETRIC, .storage = FIELD_LINKS};
    quark q;
    if (!open_quark(&q, &beyond)) return;
    kit_where("a mass of %g", beyond.mass);
    solver_settings s = settings_of("multigrid", "single");
    s.max_iterations = 10000;
    s.tolerance = 1e-12;
    field *x = field_like(q.b);
    const solve_result r = solve_by(&s, q.direct, x, q.b);
    KIT_INT(r.status, SOLVE_STALLED);
    KIT_CHECK(r.iterations < 400);
    field_destroy(x);
    close_quark(&q);
}

/* Aggregates that the keys leave open divide the boxes of ranks, and leave even coarse extents; on a lattice without any the
 * solver is refused. */
static void check_choices(void)
{
    static const struct {
        int size[4], box[4], first, block[4];
    } cases[] = {{{24, 24, 24, 48}, {24, 24, 24, 48}, 1, {4, 4, 4, 4}},
                 {{24, 24, 24, 48}, {24, 24, 24, 6}, 1, {4, 4, 4, 3}},
                 {{24, 24, 24, 48}, {12, 6, 6, 6}, 1, {4, 3, 3, 3}},
                 {{8, 8, 8, 12}, {8, 8, 8, 6}, 1, {4, 4, 4, 3}},
                 {{6, 6, 6, 12}, {6, 6, 6, 6}, 0, {3, 3, 3, 2}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int block[4];
        KIT_INT(multigrid_choose_block(cases[i].size, cases[i].box, cases[i].first, block), 1);
        for (int d = 0; d < 4; d++) KIT_INT(block[d], cases[i].block[d]);
    }
    if (comm_size() > 1) return;
    char message[512];
    lattice *lat = kit_lattice((struct ref_lattice){{2, 2, 2, 2}}, 1, -1);
    solver_settings s = settings_of("multigrid", "single");
    memset(multigrid_keys_of(&s)->block, 0, sizeof multigrid_keys_of(&s)->block);
    const char *key =
        solver_type_number(param_kind(solver_section(0), "multigrid"))->fits(&s, lat, message, sizeof message);
    KIT_CHECK(key && !strcmp(key, "block"));
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    static const wilson_settings forms[] = {
        {.storage = FIELD_LINKS, .mass = 0.1},
        {.storage = FIELD_LINKS, .mass = -0.2, .c_sw = 1.2, .p = PARITY_ODD},
        {.storage = FIELD_LINKS, .mass = 0.1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD},
        {.storage = FIELD_LINKS, .mass = -0.2, .c_sw = 1.2, .form = SCHUR_SYMMETRIC},
        {.storage = FIELD_LINKS,
         .mass = -0.03,
         .form = SCHUR_SYMMETRIC,
         .p = PARITY_ODD,
         .anisotropy = {3.4, 1.2, 1.5, 0.9}},
        {.storage = FIELD_LINKS, .mass = -0.25, .mu = -0.02},
        {.storage = FIELD_LINKS, .mass = -0.25, .c_sw = 1.2, .mu = 0.02, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD}};
    static const char *const precs[] = {"double", "single", "half", "double", "single", "double", "single"};
    int done = 0;
    for (int i = 0; i < 7; i++) {
        quark q;
        if (!open_quark(&q, &forms[i])) continue;
        kit_where("%s form, c_sw %g, xi_0 %g, mu %g", forms[i].form == SCHUR_SYMMETRIC ? "symmetric" : "asymmetric",
                  forms[i].c_sw, forms[i].anisotropy.xi_0, forms[i].mu);
        check_similar(&q);
        check_adjoint(&q);
        for (int variant = 0; variant < VARIANTS; variant++)
            check_together(i % 2 ? q.adjoint : q.direct, i != 3 ? "multigrid" : "gcr", precs[i], variant);
        if (forms[i].c_sw != 0) {
            check_tensor_cores(q.direct);
            check_covariance(&q);
            check_gathered(&q);
            check_follows(&q);
            check_renewal(&q);
            check_shares(&q);
        }
        close_quark(&q);
        done++;
    }
    check_stall();
    check_choices();
    KIT_CHECK(done > 0);
    return kit_end();
}
