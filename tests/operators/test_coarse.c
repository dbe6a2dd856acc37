/* Coarse operators are the Galerkin products that they claim to be, on every process grid.
 *
 * P^dagger P = 1; M_c = P^dagger M P by the slow definition, of Wilson-clover and of coarse operators in turn, with and
 * without parity, with links in floating point or half precision, with and without a twisted mass; gamma_5 M_c gamma_5 is the
 * adjoint, with a twisted mass that of M_c of the other sign; the system has the adjoint that it claims, and its solution is that
 * of M_c; all this of a heavier quark on the same null vectors too; a factor of the twisted mass moves M_c by as much; vectors
 * that depend on others are counted; aggregates that do not fit are refused. */
#include "tests/kernels/kit.h"

#include "kernels/lattice/purpose.h"
#include "kernels/ops/vector.h"
#include "operators/coarse.h"
#include "operators/wilson.h"

static const struct ref_lattice shape = {{4, 4, 8, 8}};

static const double angles[4] = {0.7, -1.9, 2.3, 0.5}; /* twisted boundary conditions of the symmetric form */

#define SHIFT 0.3 /* of the mass of a quark on another one's null vectors */
#define TWIST 0.2 /* and of its twisted mass, where it has one */

/* Of links, where those are in half precision. */
static int half_links;

/* Sums of some hundred products, in the precision of the coarse operator. */
static double tolerance(const linop *op)
{
    return half_links ? 2e-4 : 400 * kit_epsilon[op->prec];
}

static field *converted(const field *x, precision prec)
{
    const field_shape s = field_shape_of(x);
    field *y = field_create_shape(x->lat, &s, prec, x->par, x->where);
    vector_copy(y, x);
    return y;
}

static field *random_like(const field *like, uint32_t number)
{
    const field_shape s = field_shape_of(like);
    field *x = field_create_shape(like->lat, &s, PREC_DOUBLE, like->par, like->where), *y = NULL;
    vector_random(x, 9, RANDOM_TEST, number);
    y = converted(x, like->prec);
    field_destroy(x);
    return y;
}

/* |x - y| / |y|; x is overwritten. */
static double distance(field *x, const field *y)
{
    const double y2 = vector_norm2(y, 0);
    return sqrt(vector_axpy_norm2(x, -1, y, 0) / y2);
}

static void set_random_vectors(coarse *c, linop *fine, int n)
{
    field *like = linop_vector(fine, 1);
    for (int k = 0; k < n; k++) {
        field *v = random_like(like, 100 + (uint32_t)k);
        coarse_set_vector(c, k, v);
        field_destroy(v);
    }
    field_destroy(like);
}

/* ---- the slow definition ---- */

typedef struct {
    wilson *w;  /* M of the finest level, or */
    coarse *at; /* of a coarse one */
    linop *fine;
    coarse *c, *opposite; /* opposite: that of the other sign of a twisted mass; without one c */
} product;

static field *whole_rows(const product *p, precision prec)
{
    const aggregation *a = coarse_aggregation(p->c);
    const field_shape s = {FIELD_COARSE, 1, 1, a->spins, a->colours, 0, ORDER_ROWS};
    return field_create_shape(a->fine, &s, prec, coarse_whole(a->fine), p->fine->where);
}

/* y = M x in rows, by the whole operator of the fine level. */
static void fine_apply(const product *p, field *y, const field *x)
{
    if (p->at) {
        coarse_apply(p->at, y, x);
        return;
    }
    field *psi = field_create(x->lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, x->where), *mpsi = field_like(psi);
    field *rows = converted(x, PREC_DOUBLE);
    FOR_PARITIES(q, psi) coarse_sites(psi, (parity)q, rows, 0);
    wilson_apply(p->w, mpsi, psi, 0);
    FOR_PARITIES(q, psi) coarse_rows(rows, (parity)q, mpsi);
    vector_copy(y, rows);
    field_destroy(rows);
    field_destroy(mpsi);
    field_destroy(psi);
}

static void check_product(const product *p)
{
    const aggregation *a = coarse_aggregation(p->c);
    const field *vectors = coarse_prolongator(p->c);
    field *like = coarse_vector(p->c, 1), *v = random_like(like, 1), *slow = field_like(v), *fast = field_like(v);
    field *x = whole_rows(p, p->fine->prec), *mx = field_like(x);
    coarse_prolong(a, x, vectors, v);
    KIT_REL(vector_norm2(x, 0), vector_norm2(v, 0), tolerance(p->fine));
    coarse_restrict(a, slow, vectors, x);
    KIT_NEAR(distance(slow, v), 0, tolerance(p->fine));
    fine_apply(p, mx, x);
    coarse_restrict(a, slow, vectors, mx);
    coarse_apply(p->c, fast, v);
    KIT_NEAR(distance(fast, slow), 0, tolerance(p->fine));
    field *const all[] = {like, v, slow, fast, x, mx};
    for (int i = 0; i < 6; i++) field_destroy(all[i]);
}

/* Changes the sign of the second chirality. */
static void gamma_5(field *x)
{
    double *all = kit_gather(x);
    const size_t n = kit_reals(x);
    for (size_t i = 0; i < n; i++)
        if (i % (size_t)x->reals >= (size_t)x->reals / 2) all[i] = -all[i];
    kit_scatter(x, all);
    free(all);
}

static void check_hermiticity(const product *p)
{
    field *like = coarse_vector(p->c, 1), *x = random_like(like, 2), *y = random_like(like, 3), *t = field_like(x);
    double left[2], right[2];
    coarse_apply(p->c, t, x);
    vector_dot(left, y, t, 0);
    gamma_5(y);
    coarse_apply(p->opposite, t, y);
    gamma_5(t);
    vector_dot(right, t, x, 0);
    const double size = vector_norm2(x, 0);
    KIT_NEAR(left[0], right[0], tolerance(p->fine) * size);
    KIT_NEAR(left[1], right[1], tolerance(p->fine) * size);
    field *const all[] = {like, x, y, t};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
}

/* (y, S x) = (S^dagger y, x) without a twisted mass, and from the solution y = S^-1 b of the system the one of M_c: M_c x = b. */
static void check_system(const product *p)
{
    linop *s = coarse_system(p->c);
    field *like = linop_vector(s, 1), *x = random_like(like, 4), *y = random_like(like, 5), *t = field_like(x);
    double left[2], right[2];
    linop_apply(s, t, x, 0);
    vector_dot(left, y, t, 0);
    if (p->opposite == p->c) {
        linop_apply(s, t, y, 1);
        vector_dot(right, t, x, 0);
        const double size = 10 * sqrt(vector_norm2(t, 0) * vector_norm2(x, 0));
        KIT_NEAR(left[0], right[0], tolerance(p->fine) * size);
        KIT_NEAR(left[1], right[1], tolerance(p->fine) * size);
    }

    field *whole = coarse_vector(p->c, 1), *v = random_like(whole, 6), *b = field_like(v), *again = field_like(v);
    coarse_apply(p->c, b, v);
    coarse_prepare(p->c, t, b);
    const field part = field_part(v, PARITY_EVEN);
    linop_apply(s, y, &part, 0);
    KIT_NEAR(distance(y, t), 0, 10 * tolerance(p->fine));
    coarse_reconstruct(p->c, again, &part, b);
    KIT_NEAR(distance(again, v), 0, 10 * tolerance(p->fine));
    field *const all[] = {like, x, y, t, whole, v, b, again};
    for (int i = 0; i < 8; i++) field_destroy(all[i]);
}

static void check_dependent(linop *fine, const coarse_settings *set)
{
    coarse *c = coarse_create(fine, set);
    field *like = linop_vector(fine, 1), *v = random_like(like, 7);
    set_random_vectors(c, fine, set->vectors);
    coarse_set_vector(c, set->vectors - 1, v);
    coarse_set_vector(c, 0, v);
    KIT_CHECK(coarse_build(c) >= 1);
    field_destroy(v);
    field_destroy(like);
    coarse_destroy(c);
}

static void check_refusals(const lattice *lat)
{
    char message[512];
    const coarse_settings bad[] = {{.block = {3, 2, 2, 2}, .vectors = 4},
                                   {.block = {2, 2, 2, 0}, .vectors = 4},
                                   {.block = {2, 2, 2, 2}, .vectors = 5},
                                   {.block = {1, 1, 1, 1}, .vectors = 8},
                                   {.block = {8, 2, 2, 2}, .vectors = 4}};
    for (int i = 0; i < 5; i++) {
        message[0] = 0;
        KIT_INT(coarse_fits(lat, 12, &bad[i], message, sizeof message), 0);
        KIT_CHECK(message[0]);
    }
}

/* The same numbers on every process grid: the bits of a norm are those of the first. */
static void check_bits(const product *p, double first[2], int level)
{
    field *like = coarse_vector(p->c, 1), *v = random_like(like, 8), *t = field_like(v);
    coarse_apply(p->c, t, v);
    const double norm2 = vector_norm2(t, 0);
    if (first[level] == 0) first[level] = norm2;
    KIT_NEAR(norm2, first[level], 0);
    field *const all[] = {like, v, t};
    for (int i = 0; i < 3; i++) field_destroy(all[i]);
}

static void check_both(const product of[2], const char *what, double first[2])
{
    for (int level = 0; level < 2; level++) {
        char where[256];
        snprintf(where, sizeof where, "%.200s", kit_case);
        kit_where("%.200s, the %s level%s", where, level ? "second" : "first", what);
        check_product(&of[level]);
        check_hermiticity(&of[level]);
        check_system(&of[level]);
        check_bits(&of[level], first, level);
        kit_where("%s", where);
    }
}

/* Coarse operators of the other sign of a twisted mass, on null vectors of `owners`, whose twisted mass is that of `of` less
 * by->twist; of c itself without one. */
static void open_opposites(product of[2], const product owners[2], const operator_shift *by)
{
    linop *fine = of[0].fine, *partner = fine->coarsening->partner(fine);
    const double mu = fine->coarsening->twist(fine);
    const operator_shift all = {by->number, by->twist - 2 * mu};
    KIT_INT(partner == fine, mu == 0);
    for (int level = 0; level < 2; level++) {
        of[level].opposite = of[level].c;
        if (partner == fine) continue;
        linop_refresh(partner);
        of[level].opposite = coarse_create_shifted(level ? coarse_system(of[0].opposite) : partner, owners[level].c);
        coarse_build_shifted(of[level].opposite, &all);
    }
}

static void close_opposites(const product of[2])
{
    for (int level = 1; level >= 0; level--)
        if (of[level].opposite != of[level].c) coarse_destroy(of[level].opposite);
}

/* M_c of a factor of mu less that of none is i mu (factor - 1) gamma_5. */
static void check_factor(const product *p, const coarse_settings *set)
{
    coarse_settings scaled = *set;
    scaled.mu_factor = 4;
    const double mu = p->fine->coarsening->twist(p->fine);
    coarse *c = coarse_create(p->fine, &scaled);
    set_random_vectors(c, p->fine, set->vectors);
    coarse_build(c);
    double complex *of[3] = {NULL}; /* v, M_c v without the factor and with it */
    for (int i = 0; i < 2; i++) {
        field *like = coarse_vector(i ? c : p->c, 1), *v = random_like(like, 9), *t = field_like(v);
        coarse_apply(i ? c : p->c, t, v);
        if (i == 0) of[0] = (double complex *)kit_gather(v);
        of[i + 1] = (double complex *)kit_gather(t);
        const size_t n = kit_reals(t) / 2, row = (size_t)t->reals / 2;
        for (size_t k = 0; i && k < n; k++) of[2][k] -= 3 * mu * I * (k % row < row / 2 ? of[0][k] : -of[0][k]);
        if (i) KIT_NEAR(kit_distance(of[2], of[1], 2 * n) / kit_largest(of[1], 2 * n), 0, 4 * tolerance(p->fine));
        field *const all[] = {like, v, t};
        for (int k = 0; k < 3; k++) field_destroy(all[k]);
    }
    for (int i = 0; i < 3; i++) free(of[i]);
    coarse_destroy(c);
}

/* A heavier quark on the null vectors of this one. */
static void check_shifted(const product of[2], const field *links, const wilson_settings *set, precision prec,
                          double first[2])
{
    wilson_settings heavier = *set;
    heavier.mass += SHIFT;
    if (set->mu != 0) heavier.mu += TWIST;
    wilson *w = wilson_create(links, &heavier);
    linop *fine = linop_at(wilson_schur(w), prec, kit_place);
    operator_shift by = {0, 0};
    linop_refresh(fine);
    KIT_INT(fine->coarsening->shifted(fine, of[0].fine, &by), 1);
    KIT_NEAR(by.number, SHIFT, 1e-15);
    KIT_NEAR(by.twist, set->mu != 0 ? TWIST : 0, 1e-15);
    coarse *c = coarse_create_shifted(fine, of[0].c), *next = coarse_create_shifted(coarse_system(c), of[1].c);
    coarse_build_shifted(c, &by);
    coarse_build_shifted(next, &by);
    product shifted[2] = {{w, NULL, fine, c, c}, {NULL, c, coarse_system(c), next, next}};
    open_opposites(shifted, of, &by);
    check_both(shifted, " of a heavier quark", first);
    close_opposites(shifted);
    coarse_destroy(next);
    coarse_destroy(c);
    wilson_destroy(w);
}

/* Vectors of both levels: rows that fill registers of a CPU in part, and whole ones. */
static const int vectors_of_form[2][2] = {{6, 8}, {20, 32}};

static void check_levels(wilson *w, const field *links, const wilson_settings *set, const int vectors[2],
                         precision prec, double first[2][2])
{
    linop *fine = linop_at(wilson_schur(w), prec, kit_place);
    const coarse_settings one = {.block = {2, 2, 2, 2}, .vectors = vectors[0], .half_links = half_links},
                          two = {.block = {2, 2, 2, 2}, .vectors = vectors[1], .half_links = half_links};
    linop_refresh(fine);
    coarse *c = coarse_create(fine, &one);
    set_random_vectors(c, fine, one.vectors);
    KIT_NEAR(coarse_build(c), 0, 0);
    coarse *next = coarse_create(coarse_system(c), &two);
    set_random_vectors(next, coarse_system(c), two.vectors);
    KIT_NEAR(coarse_build(next), 0, 0);
    KIT_INT(coarse_system(next)->lat->parities, 1);
    product of[2] = {{w, NULL, fine, c, c}, {NULL, c, coarse_system(c), next, next}};
    open_opposites(of, of, &(operator_shift){0, 0});
    check_both(of, "", first[0]);
    close_opposites(of);
    if (set->mu != 0) check_factor(&of[0], &one);
    check_shifted(of, links, set, prec, first[1]);
    coarse_destroy(next);
    coarse_destroy(c);
    check_dependent(fine, &one);
}

/* A coarse operator of so many null vectors. */
static coarse *coarse_of(linop *fine, int vectors, int tensor_cores)
{
    const coarse_settings set = {
        .block = {2, 2, 2, 2}, .vectors = vectors, .half_links = half_links, .tensor_cores = tensor_cores};
    coarse *c = coarse_create(fine, &set);
    set_random_vectors(c, fine, vectors);
    KIT_NEAR(coarse_build(c), 0, 0);
    return c;
}

/* |A' x - A x| / |A x| of the coarse systems with tensor cores and without, for so many right-hand sides. */
static double off_by_tensor_cores(linop *fine, int vectors, int rhs)
{
    coarse *plain = coarse_of(fine, vectors, 0), *tensor = coarse_of(fine, vectors, 1);
    field *like = linop_vector(coarse_system(plain), rhs), *x = random_like(like, 11), *y = field_like(x),
          *like_t = linop_vector(coarse_system(tensor), rhs), *x_t = random_like(like_t, 11), *y_t = field_like(x_t);
    linop_apply(coarse_system(plain), y, x, 0);
    linop_apply(coarse_system(tensor), y_t, x_t, 0);
    double *a = kit_gather(y), *b = kit_gather(y_t), sum = 0, size = 0;
    const size_t n = kit_reals(y);
    for (size_t i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        size += a[i] * a[i];
    }
    free(a);
    free(b);
    field *const all[] = {like, x, y, like_t, x_t, y_t};
    for (int i = 0; i < 6; i++) field_destroy(all[i]);
    coarse_destroy(tensor);
    coarse_destroy(plain);
    return sqrt(sum / size);
}

/* Tensor cores: where they are used TF32's rounding shows, and no more than that; elsewhere nothing changes. */
static void check_tensor_cores(wilson *w)
{
    static const int rhs[] = {3, 4, 17}, vectors[] = {8, 24, 28};
    for (half_links = 0; half_links < 2; half_links++)
        for (int prec = half_links; prec <= PREC_SINGLE; prec++) {
            linop *fine = linop_at(wilson_schur(w), (precision)prec, kit_place);
            linop_refresh(fine);
            for (int i = 0; i < 9; i++) {
                const int n = rhs[i / 3], v = vectors[i % 3];
                const int used =
                    kit_place == PLACE_DEVICE && prec == PREC_SINGLE && n >= COARSE_TENSOR_RHS && v % 8 == 0;
                kit_where("%d right-hand sides, %d vectors, %s precision%s", n, v, kit_prec[prec],
                          half_links ? ", links in half" : "");
                const double off = off_by_tensor_cores(fine, v, n);
                if (used) KIT_CHECK(off > 1e-6 && off < 1e-3);
                else KIT_NEAR(off, 0, 0);
            }
        }
    half_links = 0;
}

enum { FORMS = 4 };

static void check_grid(const int grid[4], double first[FORMS][3][2][2], int tensor_cores)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 5);
    lattice *lat = lattice_create(shape.size, grid, 1, -1);
    double complex *u = kit_random_gauge(shape, 0.4, &rng);
    field *links = kit_links(lat, u);
    check_refusals(lat);
    for (int form = 0; form < FORMS; form++) {
        const wilson_settings set = {.mass = 0.1,
                                     .c_sw = form % 2 ? 1.2 : 0,
                                     .mu = form == 3 ? -0.15 : 0,
                                     .form = form ? SCHUR_SYMMETRIC : SCHUR_ASYMMETRIC,
                                     .p = form ? PARITY_ODD : PARITY_EVEN,
                                     .storage = form ? FIELD_LINKS_TWO_ROWS : FIELD_LINKS,
                                     .map = form ? link_map_twist(NULL, links, angles) : NULL,
                                     .anisotropy = {form == 2 ? 3.1 : 0, 1.2, 1.4, 0.8}};
        wilson *w = wilson_create(links, &set);
        for (int prec = 0; prec <= PREC_HALF; prec++) {
            half_links = prec == PREC_HALF;
            kit_where("grid %d.%d.%d.%d, form %d, %s", grid[0], grid[1], grid[2], grid[3], form, kit_prec[prec]);
            check_levels(w, links, &set, vectors_of_form[form > 0], half_links ? PREC_SINGLE : (precision)prec,
                         first[form][prec]);
        }
        half_links = 0;
        if (form == 1 && tensor_cores) check_tensor_cores(w);
        wilson_destroy(w);
        link_map_destroy(set.map);
    }
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

/* Kernels of devices depend on the number of right-hand sides and of sites; bits do not. */
static void check_alone(void)
{
    const struct ref_lattice size = kit_place == PLACE_DEVICE ? (struct ref_lattice){{16, 16, 8, 8}} : shape;
    struct ref_rng rng;
    ref_rng_seed(&rng, 6);
    lattice *lat = kit_lattice(size, 1, -1);
    if (!lat) return;
    double complex *u = kit_random_gauge(size, 0.4, &rng);
    field *links = kit_links(lat, u);
    const wilson_settings set = {.mass = 0.1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS};
    wilson *w = wilson_create(links, &set);
    for (half_links = 0; half_links < 2; half_links++)
        for (int vectors = 8; vectors <= 32; vectors += 8) {
            linop *fine = linop_at(wilson_schur(w), PREC_SINGLE, kit_place);
            linop_refresh(fine);
            coarse *c = coarse_of(fine, vectors, 0);
            linop *system = coarse_system(c);
            field *like = linop_vector(system, 3), *x = random_like(like, 11), *y = field_like(x),
                  *one = linop_vector(system, 1), *two = field_like(one);
            linop_apply(system, y, x, 0);
            for (int k = 0; k < 3; k++) {
                const field x_k = field_rhs(x, k), y_k = field_rhs(y, k);
                kit_where("right-hand side %d alone, %d vectors%s", k, vectors, half_links ? ", links in half" : "");
                vector_axpby(one, 1, &x_k, 0);
                linop_apply(system, two, one, 0);
                KIT_NEAR(vector_axpy_norm2(two, -1, &y_k, 0), 0, 0);
            }
            field *const all[] = {like, x, y, one, two};
            for (int i = 0; i < 5; i++) field_destroy(all[i]);
            coarse_destroy(c);
        }
    half_links = 0;
    wilson_destroy(w);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    int grids[16][4];
    double first[FORMS][3][2][2] = {{{{0}}}};
    const int n = kit_grids(shape, grids, 16);
    int done = 0;
    for (int i = 0; i < n; i++) {
        int fits = 1;
        for (int d = 0; d < 4; d++) fits = fits && shape.size[d] / 2 / grids[i][d] % 2 == 0;
        if (!fits) continue;
        check_grid(grids[i], first, done == 0);
        done++;
    }
    check_alone();
    KIT_CHECK(first[0][0][0][0] > 0);
    KIT_CHECK(first[0][PREC_HALF][0][0] != first[0][PREC_SINGLE][0][0]);
    return kit_end();
}
