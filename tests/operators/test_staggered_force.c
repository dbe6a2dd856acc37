/* The force of staggered quarks of all kinds: it is the derivative of the oracle's action, of several operators with
 * different masses and epsilons at once, with the order of the difference; it rotates with the links; terms add up
 * whatever way they are grouped; process grids leave no trace. */
#include "tests/kernels/kit.h"
#include "tests/operators/staggered.h"

#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "operators/staggered.h"

enum { VECTORS = 3, KINDS = 5 };

static const staggered_smearing kinds[KINDS] = {{.kind = STAGGERED_NAIVE},
                                                {.kind = STAGGERED_FAT7, .u0 = 0.9},
                                                {.kind = STAGGERED_ASQTAD, .u0 = 0.9},
                                                {.kind = STAGGERED_HISQ, .epsilon = 0},
                                                {.kind = STAGGERED_HISQ, .epsilon = 0.1}};
static const char *const names[KINDS] = {"naive", "fat7", "asqtad", "HISQ", "HISQ, epsilon of the base"};
static const double other_epsilon = -0.25, weights[2][VECTORS] = {{0.7, 1.1, -0.3}, {0.4, 0.2, 0.9}};

typedef struct {
    struct ref_lattice l;
    const staggered_smearing *kind;
    int time_sign, operators; /* two where links have siblings */
    parity p;
    double *x[VECTORS]; /* of the whole lattice */
} scene;

/* ---- the oracle ---- */

/* -sum_i weight_i x_i^dagger A x_i without the mass term: |D x|^2 = -x^dagger D D x */
static double oracle_action(const scene *s, const double complex *u)
{
    const size_t v = ref_volume(s->l);
    double complex *fat = ref_gauge_new(s->l), *lng = ref_gauge_new(s->l), *y = kit_alloc(3 * v, sizeof *y);
    double value = 0;
    for (int k = 0; k < s->operators; k++) {
        staggered_smearing kind = *s->kind;
        if (k) kind.epsilon = other_epsilon;
        oracle_links(fat, lng, s->l, u, &kind, s->time_sign);
        for (int i = 0; i < VECTORS; i++) {
            double complex *x = kit_copy(s->x[i], 6 * v * sizeof(double));
            for (size_t j = 0; j < v; j++)
                if (ref_parity(s->l, j) != (int)s->p) memset(x + 3 * j, 0, 3 * sizeof *x);
            ref_staggered_hop(y, x, s->l, fat, has_far(s->kind) ? lng : NULL);
            value -= 0.25 * weights[k][i] * ref_norm2(y, 3 * v);
            free(x);
        }
    }
    free(y);
    free(lng);
    free(fat);
    return value;
}

static double moved_action(const scene *s, const double complex *u, const double *p, double t)
{
    double complex *moved = ref_gauge_new(s->l);
    for (size_t i = 0; i < 4 * ref_volume(s->l); i++) {
        double complex m[9];
        kit_algebra(m, p + 8 * i);
        for (int k = 0; k < 9; k++) m[k] *= t;
        ref_mat_exp(m, m);
        ref_mat_mul(moved + 9 * i, m, u + 9 * i);
    }
    const double value = oracle_action(s, moved);
    free(moved);
    return value;
}

/* ---- the force ---- */

/* grouped: vectors one after the other, in place of all at once */
static field *force_of(const scene *s, const field *thin, int grouped)
{
    field *force = field_create(thin->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place), *x[VECTORS];
    staggered_links *links[2] = {staggered_links_create(thin, s->kind)};
    if (s->operators > 1) links[1] = staggered_links_sibling(links[0], other_epsilon, 0);
    for (int i = 0; i < VECTORS; i++) x[i] = kit_field(thin->lat, FIELD_VECTOR, PREC_DOUBLE, s->p, 1, s->x[i]);
    staggered_force *f = staggered_force_open(force, links[0]);
    for (int k = 0; k < s->operators; k++) {
        staggered *m = staggered_create(links[k], 0.1 + k, s->p);
        for (int i = 0; i < (grouped ? VECTORS : 1); i++)
            staggered_force_add(f, m, grouped ? 1 : VECTORS, weights[k] + i, x + i);
        staggered_destroy(m);
    }
    staggered_force_close(f);
    KIT_NEAR(staggered_links_filtered(links[0]), 0, 0);
    for (int i = 0; i < VECTORS; i++) field_destroy(x[i]);
    staggered_links_destroy(links[1]);
    staggered_links_destroy(links[0]);
    return force;
}

static void check_derivative(const scene *s, const double complex *u, const field *thin, const field *force)
{
    field *p = field_like(force);
    momenta_random(p, 5, 3, 1);
    double *along = kit_gather(p);
    const double exact = 2 * momenta_dot(force, p),
                 scale = 2 * sqrt(momenta_norm2(force) * momenta_norm2(p)) / sqrt(32 * (double)thin->lat->volume);
    double error[2];
    for (int k = 0; k < 2; k++) {
        const double h = 0.02 / (k + 1);
        error[k] = (moved_action(s, u, along, h) - moved_action(s, u, along, -h)) / (2 * h) - exact;
    }
    KIT_NEAR(log2(fabs(error[0] / error[1])), 2, 0.02);
    KIT_NEAR((4 * error[1] - error[0]) / 3, 0, 1e-5 * scale);
    free(along);
    field_destroy(p);
}

static void check_covariance(const scene *s, const double complex *u, const field *force, struct ref_rng *rng)
{
    const size_t v = ref_volume(s->l);
    double complex *g = kit_alloc(9 * v, sizeof *g), *turned_links = kit_copy(u, 36 * v * sizeof *u);
    scene turned = *s;
    ref_random_rotation(g, s->l, rng);
    ref_rotate_gauge(turned_links, s->l, g);
    for (int i = 0; i < VECTORS; i++) {
        double complex *x = kit_alloc(3 * v, sizeof *x), *in = (double complex *)s->x[i];
        for (size_t j = 0; j < 9 * v; j++) x[j / 3] += g[j] * in[j / 9 * 3 + j % 3];
        turned.x[i] = (double *)x;
    }
    field *thin = kit_links(force->lat, turned_links), *f = force_of(&turned, thin, 0);
    double *have = kit_gather(f), *before = kit_gather(force);
    KIT_NEAR(kit_turned_distance(have, before, g, 4 * v), 0, 1e-11 * kit_largest(before, 32 * v));
    free(before);
    free(have);
    field_destroy(f);
    field_destroy(thin);
    for (int i = 0; i < VECTORS; i++) free(turned.x[i]);
    free(turned_links);
    free(g);
}

static void test_force(struct ref_lattice l, int k, parity p, int time_sign)
{
    lattice *lat = kit_lattice(l, has_far(&kinds[k]) ? 3 : 1, time_sign);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 81 + (uint64_t)k);
    scene s = {l, &kinds[k], time_sign, kinds[k].kind == STAGGERED_HISQ ? 2 : 1, p, {NULL}};
    for (int i = 0; i < VECTORS; i++) s.x[i] = kit_normals(6 * ref_volume(l), &rng);
    double complex *u = kit_random_gauge(l, 0.6, &rng);
    field *thin = kit_links(lat, u);
    kit_where("%s, parity %d of %d.%d.%d.%d", names[k], p, l.size[0], l.size[1], l.size[2], l.size[3]);
    field *force = force_of(&s, thin, 0), *grouped = force_of(&s, thin, 1);
    double *a = kit_gather(force), *b = kit_gather(grouped);
    KIT_NEAR(kit_distance(a, b, kit_reals(force)), 0, 1e-12 * kit_largest(a, kit_reals(force)));
    check_derivative(&s, u, thin, force);
    check_covariance(&s, u, force, &rng);
    free(a);
    free(b);
    field_destroy(grouped);
    field_destroy(force);
    field_destroy(thin);
    free(u);
    for (int i = 0; i < VECTORS; i++) free(s.x[i]);
    lattice_destroy(lat);
}

/* The same bits on all process grids. */
static void test_traces(struct ref_lattice l, int k)
{
    const int reach = has_far(&kinds[k]) ? 3 : 1;
    int grids[64][4];
    const int n = kit_grids(l, grids, 64);
    struct ref_rng rng;
    ref_rng_seed(&rng, 91);
    scene s = {l, &kinds[k], -1, kinds[k].kind == STAGGERED_HISQ ? 2 : 1, PARITY_EVEN, {NULL}};
    for (int i = 0; i < VECTORS; i++) s.x[i] = kit_normals(6 * ref_volume(l), &rng);
    double complex *u = kit_random_gauge(l, 0.6, &rng);
    double *first = NULL;
    for (int i = 0; i < n; i++) {
        char message[512];
        lattice *plan = plan_lattice(l.size, grids[i], comm_size(), reach, message, sizeof message);
        const int fits = plan != NULL;
        lattice_destroy(plan);
        if (!fits) continue;
        lattice *lat = lattice_create(l.size, grids[i], reach, -1);
        field *thin = kit_links(lat, u), *force = force_of(&s, thin, 0);
        double *have = kit_gather(force);
        kit_where("%s, grid %d.%d.%d.%d", names[k], grids[i][0], grids[i][1], grids[i][2], grids[i][3]);
        if (!first) first = kit_copy(have, kit_reals(force) * sizeof *have);
        KIT_INT(memcmp(have, first, kit_reals(force) * sizeof *have), 0);
        free(have);
        field_destroy(force);
        field_destroy(thin);
        lattice_destroy(lat);
    }
    free(first);
    free(u);
    for (int i = 0; i < VECTORS; i++) free(s.x[i]);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KINDS; k++) {
        test_force(kit_shapes[0], k, k % 2 ? PARITY_ODD : PARITY_EVEN, k % 2 ? 1 : -1);
        test_force((struct ref_lattice){{8, 2, 4, 4}}, k, k % 2 ? PARITY_EVEN : PARITY_ODD, -1);
    }
    test_force((struct ref_lattice){{8, 4, 4, 4}}, 4, PARITY_EVEN, -1);
    test_traces((struct ref_lattice){{8, 4, 8, 4}}, 1);
    test_traces((struct ref_lattice){{8, 4, 8, 4}}, 4);
    return kit_end();
}
