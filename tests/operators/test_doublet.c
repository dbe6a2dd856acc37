/* The non-degenerate twisted-mass doublet (operators/wilson.h), with and without clover term, in both Schur forms.
 *
 * M is the oracle's in the flavour basis of the operator, and det M that of the oracle in every other basis; it is the log det of
 * what the form takes out and det Mhat. gamma_5 tau_3 M gamma_5 tau_3 = M^dagger. Without splitting M is two quarks of twisted
 * mass mu and -mu, without twist two of masses m + epsilon and m - epsilon. Plane waves on cold links have
 * M^dagger M = s^2 + (sqrt(W^2 + mu^2) +- epsilon)^2 with W = m + sum (1 - cos p), s = sin p. The operators in other precisions,
 * inside blocks of the lattice, and on links that change agree. What holds for every quark is in tests/contract. */
#include "tests/kernels/kit.h"

#include "operators/wilson.h"

#define MASS 0.1

static const wilson_settings settings[] = {
    {.mass = MASS, .c_sw = 1.3, .mu = 0.4, .epsilon = 0.25, .doublet = 1, .storage = FIELD_LINKS_TWO_ROWS},
    {.mass = MASS, .mu = 0.2, .epsilon = -0.35, .doublet = 1, .p = PARITY_ODD, .storage = FIELD_LINKS},
    {.mass = MASS,
     .c_sw = 1.1,
     .mu = -0.3,
     .epsilon = 0.5,
     .doublet = 1,
     .form = SCHUR_SYMMETRIC,
     .p = PARITY_ODD,
     .storage = FIELD_LINKS},
    {.mass = MASS, .mu = 0.3, .epsilon = 0.1, .doublet = 1, .form = SCHUR_SYMMETRIC, .storage = FIELD_LINKS},
};
#define SETTINGS ((int)(sizeof settings / sizeof settings[0]))

typedef struct {
    struct ref_lattice l;
    lattice *lat;
    double complex *u;
    field *links;
    struct ref_wilson ref;
    struct ref_rng rng;
} scene;

static int open_scene(scene *s, struct ref_lattice l, double roughness, double mass, double c_sw)
{
    *s = (scene){.l = l, .lat = kit_lattice(l, 1, -1)};
    if (!s->lat) return 0;
    ref_rng_seed(&s->rng, 91);
    s->u = kit_random_gauge(l, roughness, &s->rng);
    s->links = kit_links(s->lat, s->u);
    ref_wilson_create(&s->ref, l, s->u, mass, c_sw, -1);
    return 1;
}

static void close_scene(scene *s)
{
    ref_wilson_destroy(&s->ref);
    field_destroy(s->links);
    free(s->u);
    lattice_destroy(s->lat);
}

/* Between [site][flavour][12] of a field and [flavour][site][12]. */
static void reorder(double complex *to, const double complex *from, size_t sites, int to_field)
{
    for (size_t i = 0; i < sites; i++)
        for (size_t f = 0; f < 2; f++) {
            const size_t in_field = 12 * (2 * i + f), in_oracle = 12 * (f * sites + i);
            memcpy(to + (to_field ? in_field : in_oracle), from + (to_field ? in_oracle : in_field), 12 * sizeof *to);
        }
}

static void put(field *x, const double complex *a)
{
    const size_t sites = (size_t)x->lat->volume;
    double complex *turned = kit_alloc(24 * sites, sizeof *turned);
    reorder(turned, a, sites, 1);
    kit_scatter(x, turned);
    free(turned);
}

static double complex *take(const field *x)
{
    const size_t sites = (size_t)x->lat->volume;
    double *gathered = kit_gather(x);
    double complex *a = kit_alloc(24 * sites, sizeof *a);
    reorder(a, (double complex *)gathered, sites, 0);
    free(gathered);
    return a;
}

/* M a of the operator, in the order of the oracle. */
static double complex *apply_to(fermion *f, const double complex *a, int dagger)
{
    field *x = fermion_vector(f), *y = field_like(x);
    put(x, a);
    fermion_apply(f, y, x, dagger);
    double complex *out = take(y);
    field_destroy(y);
    field_destroy(x);
    return out;
}

static double complex *random_numbers(scene *s)
{
    return (double complex *)kit_normals(48 * ref_volume(s->l), &s->rng);
}

/* gamma_5 tau_3 */
static void turn(double complex *a, size_t sites)
{
    ref_apply_gamma5(a, 2 * sites);
    for (size_t i = 12 * sites; i < 24 * sites; i++) a[i] = -a[i];
}

static void test_whole(struct ref_lattice l, const wilson_settings *w)
{
    scene s;
    if (!open_scene(&s, l, 0.5, w->mass, w->c_sw)) return;
    const size_t v = ref_volume(l), n = 24 * v;
    const struct ref_doublet oracle = {&s.ref, w->mu, w->epsilon, 2, 3};
    fermion *f = wilson_fermion(s.links, w);
    double complex *in = random_numbers(&s), *want = kit_alloc(n, sizeof *want);
    for (int dagger = 0; dagger < 2; dagger++) {
        double complex *have = apply_to(f, in, dagger);
        ref_doublet_apply(want, in, &oracle, dagger);
        KIT_NEAR(kit_distance(have, want, 2 * n) / kit_largest(want, 2 * n), 0, 1e-14);
        free(have);
    }
    /* want is M^dagger in */
    turn(in, v);
    double complex *have = apply_to(f, in, 0);
    turn(have, v);
    KIT_NEAR(kit_distance(have, want, 2 * n) / kit_largest(want, 2 * n), 0, 1e-14);
    free(have);
    free(want);
    free(in);
    fermion_destroy(f);
    close_scene(&s);
}

/* ---- determinants by dense algebra ---- */

typedef struct {
    const scene *s;
    const struct ref_doublet *oracle;
    linop *op;
} dense;

static void dense_oracle(double complex *out, const double complex *in, void *of)
{
    ref_doublet_apply(out, in, ((dense *)of)->oracle, 0);
}

static void dense_schur(double complex *out, const double complex *in, void *of)
{
    const dense *d = of;
    const size_t v = ref_volume(d->s->l);
    field *x = linop_vector(d->op, 1), *y = linop_vector(d->op, 1);
    double complex *full = kit_alloc(24 * v, sizeof *full);
    size_t k = 0;
    for (size_t i = 0; i < v; i++)
        if (ref_parity(d->s->l, i) == (int)d->op->par) memcpy(full + 24 * i, in + 24 * k++, 24 * sizeof *full);
    kit_scatter(x, full);
    linop_apply(d->op, y, x, 0);
    double complex *result = (double complex *)kit_gather(y);
    k = 0;
    for (size_t i = 0; i < v; i++)
        if (ref_parity(d->s->l, i) == (int)d->op->par) memcpy(out + 24 * k++, result + 24 * i, 24 * sizeof *full);
    free(result);
    free(full);
    field_destroy(y);
    field_destroy(x);
}

static void test_determinant(const wilson_settings *w)
{
    static const int bases[][2] = {{2, 3}, {1, 3}, {3, 1}};
    const struct ref_lattice l = {{2, 2, 2, 4}};
    const int n = 24 * 32;
    scene s;
    if (!open_scene(&s, l, 0.5, w->mass, w->c_sw)) return;
    double complex *a = kit_alloc((size_t)n * (size_t)n, sizeof *a);
    fermion *f = wilson_fermion(s.links, w);
    double negatives;
    const double taken_out = 2 * (w->c_sw != 0 ? fermion_log_det(f, &negatives)
                                               : 12 * 16 * (1 + (w->form == SCHUR_SYMMETRIC)) * 0.5 *
                                                     log((4 + w->mass) * (4 + w->mass) + w->mu * w->mu -
                                                         w->epsilon * w->epsilon));
    linop_refresh(f->direct);
    ref_dense(a, n / 2, dense_schur, &(dense){&s, NULL, f->direct});
    const double have = taken_out + creal(ref_log_det(n / 2, a));
    for (int b = 0; b < 3; b++) {
        const struct ref_doublet oracle = {&s.ref, w->mu, w->epsilon, bases[b][0], bases[b][1]};
        ref_dense(a, n, dense_oracle, &(dense){&s, &oracle, NULL});
        const double complex log_det = ref_log_det(n, a);
        KIT_REL(have, creal(log_det), 1e-12);
        KIT_NEAR(sin(cimag(log_det)), 0, 1e-9); /* it is real */
    }
    fermion_destroy(f);
    free(a);
    close_scene(&s);
}

/* ---- limits ---- */

/* The slices of M or of Mhat on (a, b a) against those of two operators of one flavour on a; both parities, or one. */
static void check_slices(const scene *s, fermion *doublet, fermion *const one[2], double complex b, int schur, int dagger)
{
    const size_t v = ref_volume(s->l), n = 12 * v;
    struct ref_rng rng = s->rng;
    double complex *in = (double complex *)kit_normals(48 * v, &rng);
    for (size_t i = 0; b != 0 && i < n; i++) in[n + i] = b * in[i];
    linop *op = doublet->direct;
    field *x = schur ? linop_vector(op, 1) : fermion_vector(doublet), *y = field_like(x);
    put(x, in);
    linop_refresh(op);
    if (schur) linop_apply(op, y, x, dagger);
    else fermion_apply(doublet, y, x, dagger);
    double complex *have = take(y);
    for (int f = 0; f < 2; f++) {
        linop *own = one[f]->direct;
        field *x1 = schur ? linop_vector(own, 1) : fermion_vector(one[f]), *y1 = field_like(x1);
        kit_scatter(x1, in + (size_t)f * n);
        linop_refresh(own);
        if (schur) linop_apply(own, y1, x1, dagger);
        else fermion_apply(one[f], y1, x1, dagger);
        double *want = kit_gather(y1);
        KIT_NEAR(kit_distance((double *)(have + (size_t)f * n), want, 2 * n) / kit_largest(want, 2 * n), 0, 1e-14);
        free(want);
        field_destroy(y1);
        field_destroy(x1);
    }
    free(have);
    field_destroy(y);
    field_destroy(x);
    free(in);
}

static double log_det_of(fermion *f)
{
    double negatives = 0;
    return fermion_has_log_det(f) ? fermion_log_det(f, &negatives) + negatives : 0;
}

static void check_limit(const scene *s, const wilson_settings *w, double complex b, const wilson_settings one[2])
{
    fermion *doublet = wilson_fermion(s->links, w),
            *const of[2] = {wilson_fermion(s->links, &one[0]), wilson_fermion(s->links, &one[1])};
    for (int schur = 0; schur < 2; schur++)
        for (int dagger = 0; dagger < 2; dagger++) check_slices(s, doublet, of, b, schur, dagger);
    KIT_REL(2 * log_det_of(doublet), log_det_of(of[0]) + log_det_of(of[1]), 1e-14);
    fermion_destroy(of[1]);
    fermion_destroy(of[0]);
    fermion_destroy(doublet);
}

static void test_limits(struct ref_lattice l, const wilson_settings *w)
{
    scene s;
    if (!open_scene(&s, l, 0.5, w->mass, w->c_sw)) return;
    wilson_settings limit = *w, one[2];
    char where[64];
    snprintf(where, sizeof where, "%.60s", kit_case);
    /* (1, i) and (1, -i) are eigenvectors of tau_2. */
    limit.epsilon = 0;
    for (int sign = 1; sign >= -1; sign -= 2) {
        one[0] = limit;
        one[0].doublet = 0;
        one[0].mu = sign * w->mu;
        one[1] = one[0];
        kit_where("%s, no splitting, tau_2 = %d", where, sign);
        check_limit(&s, &limit, sign * I, one);
    }
    limit = *w;
    limit.mu = 0;
    for (int f = 0; f < 2; f++) {
        one[f] = limit;
        one[f].doublet = 0;
        one[f].epsilon = 0;
        one[f].mass += f ? -w->epsilon : w->epsilon;
    }
    kit_where("%s, no twist", where);
    check_limit(&s, &limit, 0, one);
    close_scene(&s);
}

/* ---- free quarks ---- */

static void test_plane_waves(struct ref_lattice l, const wilson_settings *w)
{
    static const int momenta[][4] = {{0, 0, 0, 0}, {1, 0, 2, 1}, {2, 1, 3, 5}};
    scene s;
    if (!open_scene(&s, l, 0.5, w->mass, w->c_sw)) return;
    const size_t v = ref_volume(l), n = 24 * v;
    fermion *f = wilson_fermion(s.links, w);
    for (size_t i = 0; i < 36 * v; i++) s.u[i] = i % 9 % 4 == 0;
    kit_scatter(s.links, s.u);
    for (size_t k = 0; k < sizeof momenta / sizeof momenta[0]; k++) {
        double p[4], W = w->mass, s2 = 0;
        ref_momentum(p, l, momenta[k], -1);
        for (int d = 0; d < 4; d++) {
            W += 1 - cos(p[d]);
            s2 += sin(p[d]) * sin(p[d]);
        }
        const double e = w->epsilon, centre = s2 + W * W + w->mu * w->mu + e * e,
                     square = 4 * e * e * (W * W + w->mu * w->mu);
        double complex *x = kit_alloc(n, sizeof *x), *chi = (double complex *)kit_normals(48, &s.rng);
        for (int flavour = 0; flavour < 2; flavour++)
            ref_plane_wave(x + 12 * v * (size_t)flavour, l, p, chi + 12 * flavour);
        double complex *y = kit_copy(x, n * sizeof *x);
        /* (M^dagger M - centre)^2 = square */
        for (int twice = 0; twice < 2; twice++) {
            double complex *my = apply_to(f, y, 0), *next = apply_to(f, my, 1);
            for (size_t i = 0; i < n; i++) y[i] = next[i] - centre * y[i];
            free(next);
            free(my);
        }
        for (size_t i = 0; i < n; i++) x[i] *= square;
        KIT_NEAR(kit_distance((double *)y, (double *)x, 2 * n), 0, 1e-13 * centre * centre * kit_largest((double *)chi, 48));
        free(y);
        free(chi);
        free(x);
    }
    fermion_destroy(f);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < SETTINGS; k++) {
        kit_where("settings %d", k);
        test_determinant(&settings[k]);
        test_whole(kit_shapes[0], &settings[k]);
        test_whole(kit_shapes[2], &settings[k]);
        test_plane_waves(kit_shapes[2], &settings[k]);
        test_limits(kit_shapes[0], &settings[k]);
    }
    return kit_end();
}
