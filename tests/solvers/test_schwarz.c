/* Schwarz with blocks that overlap and with blocks in two colours: what it makes of a source is what the oracle makes
 * of it with the links at the edges cut, for every operator, parity, precision, number of cycles, with twisted boundary
 * conditions, and after the links have changed; for fixed blocks it has the same bits on every process grid; inside GCR, more overlap saves iterations.
 * Blocks without overlap send nothing, one may be all that a rank has; and quarks may be heavy. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/run/exchange.h"

#define MAX_GRIDS 16

static solver_settings schwarz_of(const int size[4], int sites, int cycles, const char *prec)
{
    solver_settings s = settings_of("schwarz", prec);
    schwarz_keys *k = schwarz_keys_of(&s);
    for (int d = 0; d < 4; d++) k->block[d] = size[d];
    k->overlap = sites;
    k->colours = 1;
    k->cycles = cycles;
    k->steps = 3;
    return s;
}

/* ---- against the oracle ---- */

static void check_against_oracle(linop *op, const struct ref_wilson *ref, enum ref_kind kind,
                                 const solver_settings *set, precision prec)
{
    const struct ref_lattice l = ref->l;
    const size_t n = 24 * ref_volume(l);
    struct ref_blocks b = {.overlap = schwarz_keys_of(set)->overlap,
                           .steps = schwarz_keys_of(set)->steps,
                           .cycles = schwarz_keys_of(set)->cycles,
                           .colours = schwarz_keys_of(set)->colours,
                           .relaxation = schwarz_keys_of(set)->relaxation};
    for (int d = 0; d < 4; d++)
        b.size[d] = schwarz_keys_of(set)->block[d] ? schwarz_keys_of(set)->block[d] : op->lat->local[d];
    struct ref_rng rng;
    ref_rng_seed(&rng, 91);
    double *numbers = kit_normals(n, &rng);
    field *source = kit_field(op->lat, FIELD_SPINOR, PREC_DOUBLE, op->par, 1, numbers), *x = field_like(source);
    const solve_result result = precondition_by(set, op, x, source);
    const int sweeps = schwarz_keys_of(set)->cycles * schwarz_keys_of(set)->colours;
    KIT_INT(result.iterations, sweeps * schwarz_keys_of(set)->steps + sweeps - 1);
    double complex *given = kit_spinor(source, 0), *have = kit_spinor(x, 0), *want = ref_spinor_new(l);
    ref_schwarz(want, given, ref, kind, op->par, &b);
    /* Sums over blocks keep some 2^-30 of themselves. */
    const double allowed = prec == PREC_DOUBLE ? 1e-7 : prec == PREC_SINGLE ? 2e-5 : 200 * kit_step[prec];
    KIT_NEAR(kit_distance(have, want, n) / kit_largest(want, n), 0, allowed);
    free(want);
    free(have);
    free(given);
    field_destroy(x);
    field_destroy(source);
    free(numbers);
}

typedef struct {
    schur_form form;
    parity p;
    double c_sw;
    field_kind storage;
    int size[4], sites, cycles, colours;
    precision prec;
    int twisted; /* boundary conditions with the angles below */
    double xi_0; /* 0: isotropic */
} trial;

static const double angles[4] = {0.7, -1.9, 2.3, 0.5};

static const trial trials[] = {
    {SCHUR_ASYMMETRIC, PARITY_EVEN, 1.2, FIELD_LINKS, {4, 4, 4, 2}, 1, 1, 1, PREC_DOUBLE, 0, 0},
    {SCHUR_ASYMMETRIC, PARITY_ODD, 1.2, FIELD_LINKS_TWO_ROWS, {2, 2, 4, 2}, 1, 2, 1, PREC_DOUBLE, 1, 0},
    {SCHUR_SYMMETRIC, PARITY_ODD, 1.2, FIELD_LINKS, {4, 4, 4, 2}, 2, 1, 1, PREC_DOUBLE, 0, 0},
    {SCHUR_SYMMETRIC, PARITY_EVEN, 1.2, FIELD_LINKS_TWO_ROWS, {4, 2, 4, 4}, 1, 2, 1, PREC_SINGLE, 0, 0},
    {SCHUR_ASYMMETRIC, PARITY_EVEN, 0, FIELD_LINKS, {2, 4, 4, 8}, 3, 1, 1, PREC_SINGLE, 1, 0},
    {SCHUR_SYMMETRIC, PARITY_ODD, 0, FIELD_LINKS, {4, 4, 2, 2}, 1, 1, 1, PREC_HALF, 0, 0},
    {SCHUR_ASYMMETRIC, PARITY_ODD, 1.2, FIELD_LINKS_TWO_ROWS, {4, 4, 4, 2}, 2, 2, 1, PREC_HALF, 1, 0},
    {SCHUR_ASYMMETRIC, PARITY_EVEN, 1.2, FIELD_LINKS, {4, 4, 4, 2}, 0, 2, 1, PREC_DOUBLE, 0, 0},
    {SCHUR_ASYMMETRIC, PARITY_ODD, 1.2, FIELD_LINKS, {0, 0, 0, 0}, 0, 1, 1, PREC_SINGLE, 0, 0},
    {SCHUR_SYMMETRIC, PARITY_EVEN, 0, FIELD_LINKS_TWO_ROWS, {0, 0, 0, 0}, 0, 2, 1, PREC_DOUBLE, 1, 0},
    {SCHUR_ASYMMETRIC, PARITY_EVEN, 1.2, FIELD_LINKS, {4, 4, 4, 2}, 0, 1, 2, PREC_DOUBLE, 0, 0},
    {SCHUR_SYMMETRIC, PARITY_ODD, 1.2, FIELD_LINKS_TWO_ROWS, {2, 2, 4, 2}, 0, 2, 2, PREC_SINGLE, 1, 0},
    {SCHUR_ASYMMETRIC, PARITY_ODD, 0, FIELD_LINKS, {4, 2, 2, 4}, 0, 2, 2, PREC_HALF, 0, 0},
    {SCHUR_SYMMETRIC, PARITY_EVEN, 1.2, FIELD_LINKS, {0, 0, 0, 0}, 0, 1, 2, PREC_DOUBLE, 1, 0},
    {SCHUR_SYMMETRIC, PARITY_ODD, 1.2, FIELD_LINKS_TWO_ROWS, {4, 4, 4, 2}, 1, 2, 1, PREC_DOUBLE, 0, 2.5},
    {SCHUR_ASYMMETRIC, PARITY_EVEN, 0.8, FIELD_LINKS_TWO_ROWS, {2, 2, 4, 2}, 0, 2, 2, PREC_HALF, 0, 3.5},
};
#define TRIALS ((int)(sizeof trials / sizeof trials[0]))

/* Grids on whose boxes the blocks fit; how many. */
static int fitting(const trial *t, const struct ref_lattice l, int grids[][4])
{
    char message[512];
    const int n = kit_grids(l, grids, MAX_GRIDS);
    int fits = 0;
    for (int i = 0; i < n; i++) {
        lattice *plan = plan_lattice(l.size, grids[i], comm_size(), 1, message, sizeof message);
        if (blocks_fit(plan, t->size, t->colours, message, sizeof message))
            memmove(grids[fits++], grids[i], sizeof grids[i]);
        lattice_destroy(plan);
    }
    return fits;
}

static void check_trial(const trial *t, lattice *lat, const double complex *const *u, int turns)
{
    solver_settings set = schwarz_of(t->size, t->sites, t->cycles, precision_names[t->prec]);
    struct ref_lattice l;
    schwarz_keys_of(&set)->colours = t->colours;
    memcpy(l.size, lat->size, sizeof l.size);
    field *links = kit_links(lat, u[0]);
    link_map *map = t->twisted ? link_map_twist(NULL, links, angles) : NULL;
    const struct ref_anisotropy k = {t->xi_0 > 0 ? t->xi_0 : 1, 1, t->c_sw, t->c_sw};
    wilson_settings settings = {
        .mass = 0.1, .c_sw = t->c_sw, .form = t->form, .p = t->p, .storage = t->storage, .map = map};
    if (t->xi_0 > 0) {
        settings.anisotropy = (wilson_anisotropy){k.xi_0, k.nu, k.c_R, k.c_T};
        settings.c_sw = 0;
    }
    wilson *w = wilson_create(links, &settings);
    for (int turn = 0; turn < turns; turn++) {
        struct ref_wilson ref;
        double complex *hop = kit_copy(u[turn], 36 * ref_volume(l) * sizeof *hop);
        for (size_t i = 0; t->twisted && i < 36 * ref_volume(l); i++)
            hop[i] *= cexp(I * (angles[i / 9 % 4] / l.size[i / 9 % 4]));
        if (turn) kit_scatter(links, u[turn]);
        kit_where("trial %d, links %d, grid %d.%d.%d.%d", (int)(t - trials), turn, lat->grid[0], lat->grid[1],
                  lat->grid[2], lat->grid[3]);
        ref_wilson_create_anisotropic(&ref, l, hop, 0.1, &k, -1);
        check_against_oracle(wilson_schur(w), &ref, t->form == SCHUR_SYMMETRIC ? REF_SYMMETRIC : REF_ASYMMETRIC, &set,
                             t->prec);
        ref_wilson_destroy(&ref);
        free(hop);
    }
    wilson_destroy(w);
    link_map_destroy(map);
    field_destroy(links);
}

/* The links change in the first trial. Trials take the grids in turn, so that some split the time. */
static void test_oracle(void)
{
    const struct ref_lattice l = {{8, 4, 4, 8}};
    int done = 0, split_time = 0;
    struct ref_rng rng;
    ref_rng_seed(&rng, 92);
    double complex *u = kit_random_gauge(l, 0.4, &rng), *other = kit_random_gauge(l, 0.4, &rng);
    for (int k = 0; k < TRIALS; k++) {
        int grids[MAX_GRIDS][4];
        const int n = fitting(&trials[k], l, grids);
        if (n == 0) continue;
        lattice *lat = lattice_create(l.size, grids[k % n], 1, -1);
        check_trial(&trials[k], lat, (const double complex *const[2]){u, other}, k == 0 ? 2 : 1);
        split_time += lat->grid[3] > 1;
        lattice_destroy(lat);
        done++;
    }
    CHECK(done >= 5);
    CHECK(split_time >= 2 || comm_size() == 1);
    free(other);
    free(u);
}

/* ---- bits ---- */

/* All numbers of a vector that this rank holds alone. */
static double *here(const field *f)
{
    const size_t slice = (size_t)f->lat->local_volume / (size_t)f->lat->local[3] * 24;
    double *a = kit_alloc(slice * (size_t)f->lat->local[3], sizeof *a);
    for (int t = 0; t < f->lat->local[3]; t++) field_export(f, t, a + (size_t)t * slice);
    return a;
}

static double *result_on(lattice *lat, int alone, precision prec)
{
    struct ref_rng rng;
    struct ref_lattice l;
    memcpy(l.size, lat->size, sizeof l.size);
    ref_rng_seed(&rng, 93);
    double complex *u = kit_random_gauge(l, 0.4, &rng);
    double *numbers = kit_normals(24 * ref_volume(l), &rng);
    field *links = kit_links(lat, u);
    wilson *w = wilson_create(
        links,
        &(wilson_settings){.mass = 0.1, .c_sw = 1, .form = SCHUR_ASYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS});
    field *b = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_ODD, 1, numbers), *x = field_like(b);
    const solver_settings set = schwarz_of((const int[4]){2, 2, 2, 2}, 1, 2, precision_names[prec]);
    precondition_by(&set, wilson_schur(w), x, b);
    double *result = alone ? here(x) : kit_gather(x);
    field_destroy(x);
    field_destroy(b);
    wilson_destroy(w);
    field_destroy(links);
    lattice_destroy(lat);
    free(numbers);
    free(u);
    return result;
}

/* Every grid of all ranks has the bits of one rank alone. */
static void test_bits(void)
{
    const struct ref_lattice l = {{4, 8, 4, 8}};
    int grids[MAX_GRIDS][4];
    const int n = kit_grids(l, grids, MAX_GRIDS);
    for (int prec = PREC_DOUBLE; prec < PREC_COUNT; prec++) {
        double *first = result_on(lattice_create_alone(l.size, -1), 1, (precision)prec);
        KIT_CHECK(kit_largest(first, 24 * ref_volume(l)) > 0.1);
        for (int i = 0; i < n; i++) {
            double *other = result_on(lattice_create(l.size, grids[i], 1, -1), 0, (precision)prec);
            kit_where("%s on grid %d.%d.%d.%d", kit_prec[prec], grids[i][0], grids[i][1], grids[i][2], grids[i][3]);
            KIT_NEAR(kit_distance(first, other, 24 * ref_volume(l)), 0, 0);
            free(other);
        }
        free(first);
    }
}

/* ---- inside a solver ---- */

static solve_result solve_with(const scene *s, const solver_settings *inside, const char *prec, const field *b)
{
    solver_settings set = settings_of("gcr", prec);
    field *x = field_like(b);
    set.tolerance = 1e-10;
    set.inner = inside;
    snprintf(set.inner_name, sizeof set.inner_name, "inside");
    field_clear(x);
    const solve_result r = solve_by(&set, s->schur, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    KIT_CHECK(r.residual <= set.tolerance);
    KIT_NEAR(r.residual, oracle_residual(s, 0, 0, x, b), 1e-13);
    field_destroy(x);
    return r;
}

static void test_inside(void)
{
    scene s;
    int iterations[3];
    open_scene(&s, (struct ref_lattice){{8, 8, 4, 4}}, -0.1, PARITY_EVEN);
    field *b = random_source(&s, 94);
    for (int sites = 0; sites < 3; sites++) {
        solver_settings inside = schwarz_of((const int[4]){2, 4, 4, 4}, sites, 1, "half");
        schwarz_keys_of(&inside)->steps = 6;
        kit_where("gcr with overlap %d", sites);
        iterations[sites] = solve_with(&s, &inside, "single", b).iterations;
        if (sites > 0) KIT_CHECK(iterations[sites] < iterations[0]);
    }
    field_destroy(b);
    close_scene(&s);
}

/* The method of R. Babich et al., arXiv:1109.2935: one block per rank, with half precision in the blocks, and half or
 * single in the Krylov space. */
static void test_blocks_of_ranks(void)
{
    scene s;
    open_scene(&s, (struct ref_lattice){{8, 8, 4, 4}}, -0.1, PARITY_ODD);
    field *b = random_source(&s, 95);
    for (int prec = PREC_SINGLE; prec <= PREC_HALF; prec++) {
        solver_settings inside = schwarz_of((const int[4]){0, 0, 0, 0}, 0, 1, "half");
        schwarz_keys_of(&inside)->steps = 10;
        kit_where("gcr in %s with a block per rank", precision_names[prec]);
        const solve_result r = solve_with(&s, &inside, precision_names[prec], b);
        KIT_INT(r.inside, 10 * r.iterations);
    }
    field_destroy(b);
    close_scene(&s);
}

/* The norm of the operator grows with the mass, and with its square the sums over blocks. Heavy quarks are easy. */
static void test_heavy(void)
{
    static const double kappas[] = {0.05, 0.005, 1e-7};
    for (int k = 0; k < 3; k++) {
        scene s;
        open_scene(&s, (struct ref_lattice){{4, 4, 4, 4}}, 0.5 / kappas[k] - 4, PARITY_EVEN);
        field *b = random_source(&s, 95), *x = field_like(b);
        solver_settings set = settings_of("gcr", "half"), inside = schwarz_of((const int[4]){2, 2, 2, 2}, 0, 1, "half");
        set.tolerance = 1e-10;
        set.inner = &inside;
        snprintf(set.inner_name, sizeof set.inner_name, "inside");
        kit_where("gcr with blocks, kappa %g", kappas[k]);
        const solve_result r = solve_by(&set, s.schur, x, b);
        KIT_INT(r.status, SOLVE_CONVERGED);
        KIT_CHECK(r.iterations < 20);
        KIT_NEAR(r.residual, oracle_residual(&s, 0, 0, x, b), 1e-13);
        field_destroy(x);
        field_destroy(b);
        close_scene(&s);
    }
}

static double bytes_sent(void)
{
    double bytes, seconds;
    exchange_counted(&bytes, &seconds);
    return bytes;
}

/* The additive method without overlap sends nothing; every other one does, where there are ranks to send to. */
static void test_silence(void)
{
    scene s;
    open_scene(&s, (struct ref_lattice){{8, 8, 4, 4}}, 0.1, PARITY_EVEN);
    field *b = random_source(&s, 96), *x = field_like(b);
    for (int way = 0; way < 4; way++) {
        solver_settings set = schwarz_of((const int[4]){2, 2, 2, 2}, way == 1, 1 + (way == 2), "half");
        if (way == 3) schwarz_keys_of(&set)->colours = 2;
        /* The first application brings in what is derived from the links. */
        precondition_by(&set, s.schur, x, b);
        const double before = bytes_sent();
        precondition_by(&set, s.schur, x, b);
        double sent = bytes_sent() - before;
        comm_max(&sent, 1);
        kit_where("%.0f bytes sent with overlap %d, %d cycles, %d colours", sent, schwarz_keys_of(&set)->overlap,
                  schwarz_keys_of(&set)->cycles, schwarz_keys_of(&set)->colours);
        KIT_CHECK((sent > 0) == (way > 0 && comm_size() > 1));
    }
    field_destroy(x);
    field_destroy(b);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_oracle();
    test_bits();
    test_inside();
    test_blocks_of_ranks();
    test_heavy();
    test_silence();
    return kit_end();
}
