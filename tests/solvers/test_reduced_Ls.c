/* Domain wall quarks on fewer slices. The operator that another number of slices gives is that of a quark made with so many,
 * to the bit, in every precision and inside blocks; what the preconditioner makes of a source is T^dagger K T + mu put
 * together by hand. The loss of a transform is its formula, zero for the unit transform between equal numbers of slices;
 * its gradient is its derivative, with an error that falls as the square of the step. Training lowers the loss, and with
 * what it finds pcg needs fewer iterations than alone; a file gives back every bit of it. */
#include <unistd.h>

#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "io/history/fifth_hdf5.h"
#include "operators/fifth.h"
#include "operators/mobius.h"
#include "solvers/multisplitting.h"
#include "solvers/transform.h"

static const struct ref_lattice shape = {{4, 4, 4, 8}};
static const int block[4] = {4, 4, 2, 2};
static const int half[4] = {4, 4, 4, 4}; /* blocks to train in, which four ranks do not have */

static fermion *quark_of(const field *links, int Ls, parity p, field_kind storage)
{
    return mobius_fermion(links, &(mobius_settings){0.05, 1.8, 1.5, 0.5, Ls, p, storage, NULL, NULL});
}

static field *random_vector(const linop *op, uint32_t number)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 17 + number);
    field *x = linop_vector(op, 1);
    double *numbers = kit_normals(kit_reals(x), &rng);
    kit_scatter(x, numbers);
    free(numbers);
    return x;
}

static linop *fewer(linop *op, int Ls)
{
    char message[256];
    linop *few = linop_slices(op, Ls, message, sizeof message);
    REQUIRE(few, "%s", message);
    linop_refresh(few);
    return few;
}

static solver_settings blocks_of(int steps, const int size[4])
{
    solver_settings s = settings_of("multisplitting", "double");
    *multisplitting_keys_of(&s) = (multisplitting_keys){.steps = steps, .snakes = 1};
    memcpy(multisplitting_keys_of(&s)->block, size, sizeof block);
    return s;
}

static fifth_transform random_transform(int Ls, int from, double mu)
{
    struct ref_rng rng;
    fifth_transform t = {domainwall_matrix(Ls, from), mu};
    ref_rng_seed(&rng, 5);
    double *numbers = kit_normals((size_t)(2 * Ls * from), &rng);
    for (int i = 0; i < 2 * Ls * from; i++) t.T.of[i / (Ls * from)][i / from % Ls][i % from] = numbers[i];
    free(numbers);
    return t;
}

/* ---- the operator ---- */

static void check_same(linop *have, linop *want, int number)
{
    field *x = random_vector(want, (uint32_t)number), *y = linop_vector(have, 1), *z = linop_vector(want, 1);
    linop_apply(have, y, x, 0);
    linop_apply(want, z, x, 0);
    KIT_CHECK(vector_norm2(z, 0) > 0);
    KIT_NEAR(vector_axpy_norm2(y, -1, z, 0), 0, 0);
    field *all[] = {x, y, z};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
}

static void test_operator(const field *links)
{
    const block_shape blocks = {.size = {block[0], block[1], block[2], block[3]}, .overlap = 2, .restricted = 1};
    char message[512];
    for (int k = 0; k < 2; k++) {
        const parity p = k ? PARITY_ODD : PARITY_EVEN;
        const field_kind storage = k ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS;
        fermion *all = quark_of(links, 6, p, storage), *few = quark_of(links, 3, p, storage);
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            kit_where("parity %d, %s", (int)p, kit_prec[prec]);
            linop *have = linop_at(fewer(all->normal, 3), (precision)prec, kit_place),
                  *want = linop_at(few->normal, (precision)prec, kit_place);
            linop_refresh(have);
            linop_refresh(want);
            check_same(have, want, prec);
            linop *have_cut = linop_local(have, &blocks, message, sizeof message),
                  *want_cut = linop_local(want, &blocks, message, sizeof message);
            REQUIRE(have_cut && want_cut, "%s", message);
            linop_refresh(have_cut);
            linop_refresh(want_cut);
            check_same(have_cut, want_cut, 10 + prec);
        }
        KIT_CHECK(fewer(all->normal, 3) == fewer(all->normal, 3));
        fermion_destroy(few);
        fermion_destroy(all);
    }
}

/* A quark whose fifth dimension is not made by a mass has none of another extent. */
static void test_refusal(const field *links)
{
    char message[256] = "";
    const fifth_matrix N = domainwall_matrix(4, 4);
    fermion *f = mobius_with(links, &(mobius_settings){.M5 = 1.8, .Ls = 4, .storage = FIELD_LINKS}, &N);
    kit_where("a fifth dimension of its own");
    KIT_CHECK(linop_slices(f->normal, 2, message, sizeof message) == NULL);
    KIT_CHECK(strlen(message) > 0);
    fermion_destroy(f);
}

/* ---- the preconditioner ---- */

static void test_preconditioner(const field *links)
{
    fermion *f = quark_of(links, 6, PARITY_EVEN, FIELD_LINKS);
    const solver_settings K = blocks_of(3, block);
    const fifth_transform t = random_transform(4, 6, 0.3);
    solver_settings s = settings_of("reduced_Ls", "double");
    s.inner = &K;
    s.transform = &t;
    kit_where("four of six slices");
    field *b = random_vector(f->normal, 3), *x = field_like(b), *want = field_like(b);
    linop *few = fewer(f->normal, 4);
    field *w = linop_vector(few, 1), *u = field_like(w);
    precondition_by(&s, f->normal, x, b);
    domainwall_map(w, &t.T, 0, b);
    precondition_by(&K, few, u, w);
    domainwall_map(want, &t.T, 1, u);
    vector_axpby(want, 0.3, b, 1);
    KIT_NEAR(sqrt(vector_axpy_norm2(x, -1, want, 0) / vector_norm2(want, 0)), 0, 1e-14);
    field *all[] = {b, x, want, w, u};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    fermion_destroy(f);
}

/* ---- the loss ---- */

#define SAMPLES 2

typedef struct {
    fermion *f;
    solver *inside;
    field *v[SAMPLES];
    transform_samples s;
} training;

static void open_training(training *t, const field *links, int Ls, int few, const solver_settings *K)
{
    t->f = quark_of(links, Ls, PARITY_ODD, FIELD_LINKS);
    t->inside = solver_create(K, fewer(t->f->normal, few));
    solver_update(t->inside);
    for (int i = 0; i < SAMPLES; i++) t->v[i] = random_vector(t->f->normal, 20 + (uint32_t)i);
    linop *a = solver_type_of(K)->inverts(K, t->f->normal);
    linop_refresh(a);
    t->s = (transform_samples){a, t->inside, SAMPLES, t->v};
}

static void close_training(training *t)
{
    for (int i = 0; i < SAMPLES; i++) field_destroy(t->v[i]);
    solver_destroy(t->inside);
    fermion_destroy(t->f);
}

static double loss_along(const training *t, const fifth_transform *at, const fifth_matrix *direction, double step)
{
    fifth_transform moved = *at;
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < at->T.Ls; s++)
            for (int r = 0; r < at->T.from; r++) moved.T.of[c][s][r] += step * direction->of[c][s][r];
    return transform_loss(&t->s, &moved, NULL);
}

/* So many steps solve in the blocks to rounding: K is linear and Hermitian. */
static void test_loss(const field *links)
{
    training t;
    const solver_settings K = blocks_of(90, half);
    kit_where("loss");
    open_training(&t, links, 4, 4, &K);
    fifth_transform unit = {fifth_unit(4), 0}, none = {domainwall_matrix(4, 4), 0};
    KIT_NEAR(transform_loss(&t.s, &none, NULL), 1, 1e-14);
    KIT_NEAR(transform_loss(&t.s, &unit, NULL), 0, 1e-18);
    close_training(&t);

    open_training(&t, links, 4, 2, &K);
    fifth_transform at = transform_first(2, 4, 0.2);
    const fifth_transform direction = random_transform(2, 4, 0);
    fifth_matrix g;
    double slope = 0;
    const double loss = transform_loss(&t.s, &at, &g);
    KIT_NEAR(loss, transform_loss(&t.s, &at, NULL), 0);
    for (int c = 0; c < 2; c++)
        for (int s = 0; s < 2; s++)
            for (int r = 0; r < 4; r++) slope += g.of[c][s][r] * direction.T.of[c][s][r];
    double error[2];
    for (int k = 0; k < 2; k++) {
        const double h = 0.02 / (1 << k);
        error[k] = (loss_along(&t, &at, &direction.T, h) - loss_along(&t, &at, &direction.T, -h)) / (2 * h) - slope;
    }
    printf("  gradient %.6g, errors of differences %.2e %.2e\n", slope, error[0], error[1]);
    KIT_CHECK(fabs(error[0]) < 0.05 * fabs(slope));
    KIT_NEAR(error[0] / error[1], 4, 0.1);
    close_training(&t);
}

/* ---- training ---- */

static int iterations_of(linop *op, const solver_settings *inside)
{
    solver_settings s = settings_of("pcg", "double");
    s.tolerance = 1e-8;
    s.inner = inside;
    field *b = random_vector(op, 40), *x = field_like(b);
    const solve_result r = solve_by(&s, op, x, b);
    KIT_INT(r.status, SOLVE_CONVERGED);
    field_destroy(x);
    field_destroy(b);
    return r.iterations;
}

static void test_training(const field *links)
{
    training t;
    const solver_settings K = blocks_of(6, half);
    open_training(&t, links, 6, 2, &K);
    fifth_transform at = transform_first(2, 6, 0.2);
    kit_where("training");
    const double before = transform_loss(&t.s, &at, NULL), after = transform_train(&t.s, &at, 15);
    KIT_NEAR(transform_loss(&t.s, &at, NULL), after, 0);
    solver_settings s = settings_of("reduced_Ls", "double");
    s.inner = &K;
    s.transform = &at;
    const int alone = iterations_of(t.f->normal, NULL), all = iterations_of(t.f->normal, &K),
              trained = iterations_of(t.f->normal, &s);
    printf("  loss %.4f, trained %.4f; iterations %d, with blocks on all slices %d, on two of six %d\n", before, after,
           alone, all, trained);
    KIT_CHECK(after < 0.8 * before);
    KIT_CHECK(trained < alone);
    KIT_CHECK(all <= trained);
    close_training(&t);
}

/* ---- files ---- */

static void test_file(void)
{
    const fifth_transform t = random_transform(4, 12, 0.1);
    fifth_matrix T;
    double mu;
    char name[64], quark[64], message[1024];
    snprintf(name, sizeof name, "transform.%d.h5", comm_size());
    kit_where("file");
    KIT_INT(fifth_write(name, &t.T, t.mu, "mass = 0.1\n", "test", message, sizeof message), 0);
    KIT_INT(fifth_read(name, &T, &mu, quark, sizeof quark, message, sizeof message), 0);
    KIT_INT(memcmp(&T, &t.T, sizeof T), 0);
    KIT_NEAR(mu, 0.1, 0);
    KIT_CHECK(!strcmp(quark, "mass = 0.1\n"));
    KIT_CHECK(fifth_read("no such file", &T, &mu, quark, sizeof quark, message, sizeof message) != 0);
    if (comm_rank() == 0) {
        FILE *f = fopen(name, "r+b");
        REQUIRE(f && !fseek(f, -100, SEEK_END), "%s", name);
        const int c = fgetc(f);
        fseek(f, -1, SEEK_CUR);
        fputc(c ^ 16, f);
        fclose(f);
    }
    KIT_CHECK(fifth_read(name, &T, &mu, quark, sizeof quark, message, sizeof message) != 0);
    if (comm_rank() == 0) unlink(name);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    lattice *lat = kit_lattice(shape, 1, -1);
    if (lat) {
        struct ref_rng rng;
        char message[512];
        ref_rng_seed(&rng, 91);
        double complex *u = kit_random_gauge(shape, 0.3, &rng);
        field *links = kit_links(lat, u);
        test_operator(links);
        test_refusal(links);
        test_preconditioner(links);
        if (blocks_fit(lat, half, 1, message, sizeof message)) {
            test_loss(links);
            test_training(links);
        }
        field_destroy(links);
        free(u);
        lattice_destroy(lat);
    }
    if (kit_place == PLACE_HOST) test_file();
    return kit_end();
}
