/* The staggered operator with all kinds of links, against the slow oracle and free quarks.
 *
 * Theorems: links, siblings among them, follow the thin links, in every precision; the normal operator is that of the
 * oracle, Hermitian and positive; M and its dagger are adjoint, and rotate with the links; prepare, solve, reconstruct
 * gives M x = b; shifts of one Krylov space are solved to their true residuals; the energy of a free quark is p^2 up to
 * p^4, and up to p^6 with long links. */
#include "tests/operators/scene.h"

#include "kernels/ops/staggered.h"
#include "kernels/ops/vector.h"
#include "solvers/multishift.h"

static const staggered_smearing kinds[] = {
    {.kind = STAGGERED_NAIVE},
    {.kind = STAGGERED_FAT7, .u0 = 0.9},
    {.kind = STAGGERED_ASQTAD, .u0 = 0.9},
    {.kind = STAGGERED_HISQ, .epsilon = -0.2},
    {.kind = STAGGERED_ASQTAD, .u0 = 0.9, .long_reals = 13},
    {.kind = STAGGERED_HISQ, .epsilon = -0.2, .long_reals = 13},
    {.kind = STAGGERED_ASQTAD, .u0 = 0.9, .long_reals = 9},
    {.kind = STAGGERED_HISQ, .epsilon = -0.2, .long_reals = 9},
};
static const char *const kind_names[] = {"naive",       "fat7",      "asqtad",     "HISQ",
                                         "asqtad (13)", "HISQ (13)", "asqtad (9)", "HISQ (9)"};
enum { KINDS = 8, WHOLE = 4 /* those with links of 18 reals */ };

static field *random_vector(const lattice *lat, precision prec, parity p, int nrhs, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double *numbers = kit_normals((size_t)lat->volume * 6 * (size_t)nrhs, &rng);
    field *f = kit_field(lat, FIELD_VECTOR, prec, p, nrhs, numbers);
    free(numbers);
    return f;
}

/* ---- links ---- */

static void check_one(const field *have, double scale, const double complex *want, struct ref_lattice l, precision prec)
{
    double *a = kit_gather(have);
    const size_t n = 72 * ref_volume(l);
    for (size_t i = 0; i < n; i++) a[i] *= scale;
    /* Storage of fixed point is relative to the scale; projection has lost four digits at most. */
    const double tolerance = (prec == PREC_DOUBLE ? 1e-11 : kit_epsilon[prec] * 4) * fmax(1, kit_largest(want, n));
    KIT_NEAR(kit_distance(a, want, n), 0, tolerance + 1.001 * kit_step[prec] * scale);
    free(a);
}

static void check_links(scene *s, int number)
{
    const staggered_smearing *k = &kinds[number];
    const int whole = number < WHOLE;
    oracle_links(s->near, s->far, s->l, s->u, k, s->lat->time_sign);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        const staggered_pair *pair = staggered_links_at(s->links, (precision)prec, kit_place);
        kit_where("%s links in %s", kind_names[number], kit_prec[prec]);
        check_one(pair->near, pair->near_scale, s->near, s->l, (precision)prec);
        KIT_CHECK((pair->far == NULL) == (s->far == NULL));
        KIT_CHECK((pair->far_phases != NULL) == !whole);
        if (s->far && whole) check_one(pair->far, pair->far_scale, s->far, s->l, (precision)prec);
        KIT_CHECK(prec >= PREC_HALF || (pair->near_scale == 1 && (!whole || pair->far_scale == 1)));
    }
}

/* The scene's links as siblings of others with another epsilon and long links of so many reals. */
static void use_siblings(scene *s, const staggered_smearing *k, int base_reals)
{
    staggered_smearing other = *k;
    other.long_reals = base_reals;
    if (k->kind == STAGGERED_HISQ) other.epsilon = 0.3;
    staggered_links_destroy(s->links);
    s->base = staggered_links_create(s->thin, &other);
    s->links = staggered_links_sibling(s->base, k->epsilon, k->long_reals);
}

/* base_reals: those of what the links are siblings of, or 0. */
static void test_links(struct ref_lattice l, int k, int sign, int base_reals)
{
    scene s;
    struct ref_rng rng;
    ref_rng_seed(&rng, 41);
    double complex *u = kit_random_gauge(l, kinds[k].kind == STAGGERED_HISQ ? 0.6 : 0, &rng);
    if (open_scene(&s, l, u, &kinds[k], sign)) {
        if (base_reals) use_siblings(&s, &kinds[k], base_reals);
        check_links(&s, k);
        /* Links that have changed: what is derived follows. */
        ref_weak_gauge(s.u, l, 0.4, &rng);
        kit_scatter(s.thin, s.u);
        check_links(&s, k);
        close_scene(&s);
    }
    free(u);
}

/* ---- the operator ---- */

/* out = M in by the oracle */
static void ref_apply(double complex *out, const double complex *in, const scene *s, double mass, int dagger)
{
    ref_staggered_hop(out, in, s->l, s->near, s->far);
    for (size_t i = 0; i < 3 * ref_volume(s->l); i++) out[i] = mass * in[i] + (dagger ? -0.5 : 0.5) * out[i];
}

static void check_normal(const scene *s, double mass, parity p)
{
    /* Relative to the largest number: a fixed-point step for the input of each of two hops and for the output, and
     * the same for the stored links; the sums over neighbours are of random signs. */
    static const double allowed[PREC_COUNT] = {2e-14, 5e-6, 1e-3, 0.25};
    const size_t v = ref_volume(s->l);
    double complex *once = kit_alloc(3 * v, sizeof *once), *want = kit_alloc(3 * v, sizeof *want);
    staggered *m = staggered_create(s->links, mass, p);
    linop *shifted = shifted_create(staggered_normal(m), 0.35);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        linop *op = linop_at(staggered_normal(m), (precision)prec, kit_place);
        KIT_CHECK(op->prec == (precision)prec && op->par == p && op->shape.kind == FIELD_VECTOR && op->flops > 0);
        KIT_CHECK(linop_at(staggered_normal(m), (precision)prec, kit_place) == op);
        for (int nrhs = 1; nrhs <= 3; nrhs += 2) {
            field *x = random_vector(s->lat, (precision)prec, p, nrhs, 42), *y = linop_vector(op, nrhs);
            linop_apply(op, y, x, nrhs == 3);
            double complex *in = kit_spinor(x, nrhs - 1), *have = kit_spinor(y, nrhs - 1);
            ref_apply(once, in, s, mass, 0);
            ref_apply(want, once, s, mass, 1);
            KIT_NEAR(kit_distance(have, want, 6 * v) / kit_largest(want, 6 * v), 0, allowed[prec]);
            free(have);
            linop_apply(linop_at(shifted, (precision)prec, kit_place), y, x, 0);
            have = kit_spinor(y, nrhs - 1);
            for (size_t i = 0; i < 3 * v; i++) want[i] += 0.35 * in[i];
            KIT_NEAR(kit_distance(have, want, 6 * v) / kit_largest(want, 6 * v), 0, allowed[prec]);
            free(have);
            free(in);
            field_destroy(x);
            field_destroy(y);
        }
    }
    linop_destroy(shifted);
    /* Hermitian, and positive */
    linop *op = staggered_normal(m);
    field *x = random_vector(s->lat, PREC_DOUBLE, p, 1, 43), *y = random_vector(s->lat, PREC_DOUBLE, p, 1, 44);
    field *ax = linop_vector(op, 1), *ay = linop_vector(op, 1);
    double one[2], two[2];
    linop_apply(op, ax, x, 0);
    linop_apply(op, ay, y, 0);
    vector_dot(one, x, ay, 0);
    vector_dot(two, ax, y, 0);
    const double size = 50 * kit_epsilon[0] * sqrt(vector_norm2(x, 0) * vector_norm2(ay, 0));
    KIT_NEAR(one[0], two[0], size);
    KIT_NEAR(one[1], two[1], size);
    KIT_CHECK(fabs(one[1]) > size);
    vector_dot(one, x, ax, 0);
    KIT_CHECK(one[0] > mass * mass * vector_norm2(x, 0));
    field_destroy(ax);
    field_destroy(ay);
    field_destroy(x);
    field_destroy(y);
    staggered_destroy(m);
    free(once);
    free(want);
}

static void check_solution(const scene *s, double mass, parity p)
{
    const size_t v = ref_volume(s->l);
    staggered *m = staggered_create(s->links, mass, p);
    linop *op = staggered_normal(m);
    field *b = random_vector(s->lat, PREC_DOUBLE, PARITY_BOTH, 1, 45), *y = field_like(b);
    double complex *want = kit_spinor(b, 0), *have = kit_alloc(3 * v, sizeof *have);
    for (int prec = PREC_DOUBLE; prec <= PREC_HALF; prec++) {
        const solver_settings set = settings_of((precision)prec, 1e-11);
        field *x = solve_whole(m, op, b, &set);
        double complex *psi = kit_spinor(x, 0);
        kit_where("solution in %s of %d.%d.%d.%d", kit_prec[prec], s->l.size[0], s->l.size[1], s->l.size[2],
                  s->l.size[3]);
        ref_apply(have, psi, s, mass, 0);
        double difference = 0;
        for (size_t i = 0; i < 3 * v; i++) difference += pow(cabs(have[i] - want[i]), 2);
        /* The other parity divides by the mass. */
        KIT_NEAR(sqrt(difference / ref_norm2(want, 3 * v)), 0, 1e-11 * 5 / mass);
        staggered_apply(m, y, x, 0);
        KIT_NEAR(sqrt(vector_axpy_norm2(y, -1, b, 0) / vector_norm2(b, 0)), 0, 1e-11 * 5 / mass);
        free(psi);
        field_destroy(x);
    }
    /* (M^dagger y, x) = (y, M x) */
    field *x = random_vector(s->lat, PREC_DOUBLE, PARITY_BOTH, 1, 46), *mx = field_like(b), *my = field_like(b);
    double one[2], two[2];
    staggered_apply(m, mx, x, 0);
    staggered_apply(m, my, b, 1);
    vector_dot(one, b, mx, 0);
    vector_dot(two, my, x, 0);
    const double size = 50 * kit_epsilon[0] * sqrt(vector_norm2(b, 0) * vector_norm2(mx, 0));
    KIT_NEAR(one[0], two[0], size);
    KIT_NEAR(one[1], two[1], size);
    field_destroy(my);
    field_destroy(mx);
    field_destroy(x);
    field_destroy(y);
    field_destroy(b);
    free(have);
    free(want);
    staggered_destroy(m);
}

/* One Krylov space for many masses: shifts of the lightest one's operator. */
static void check_shifts(const scene *s)
{
    enum { N = 5 };
    static const double masses[N] = {0.05, 0.08, 0.2, 0.5, 1.5};
    double shifts[N], tolerances[N];
    staggered *m = staggered_create(s->links, masses[0], PARITY_EVEN);
    linop *op = staggered_normal(m);
    field *b = random_vector(s->lat, PREC_DOUBLE, PARITY_EVEN, 1, 47), *x[N], *r = linop_vector(op, 1);
    for (int i = 0; i < N; i++) {
        shifts[i] = masses[i] * masses[i] - masses[0] * masses[0];
        tolerances[i] = 1e-10;
        x[i] = linop_vector(op, 1);
    }
    for (int prec = PREC_DOUBLE; prec <= PREC_HALF; prec++) {
        const solver_settings set = settings_of((precision)prec, 0.5);
        const multishift_result result = multishift_solve(&set, op, N, shifts, tolerances, x, b);
        kit_where("shifts in %s", kit_prec[prec]);
        KIT_INT(result.status, SOLVE_CONVERGED);
        for (int i = 0; i < N; i++) {
            staggered *heavy = staggered_create(s->links, masses[i], PARITY_EVEN);
            linop_apply(staggered_normal(heavy), r, x[i], 0);
            KIT_NEAR(sqrt(vector_axpy_norm2(r, -1, b, 0) / vector_norm2(b, 0)), 0, 1.01e-10);
            staggered_destroy(heavy);
        }
    }
    for (int i = 0; i < N; i++) field_destroy(x[i]);
    field_destroy(r);
    field_destroy(b);
    staggered_destroy(m);
}

static void test_operator(struct ref_lattice l, int k, int sign)
{
    scene s;
    struct ref_rng rng;
    ref_rng_seed(&rng, 48);
    double complex *u = kit_random_gauge(l, 0.5, &rng);
    if (open_scene(&s, l, u, &kinds[k], sign)) {
        oracle_links(s.near, s.far, s.l, s.u, &kinds[k], s.lat->time_sign);
        kit_where("%s quarks on %d.%d.%d.%d", kind_names[k], l.size[0], l.size[1], l.size[2], l.size[3]);
        check_normal(&s, 0.1, (parity)(k % 2));
        check_solution(&s, 0.3, (parity)(k % 2));
        check_shifts(&s);
        close_scene(&s);
    }
    free(u);
}

/* M of rotated links on a rotated vector is the rotated M. */
static void test_covariance(struct ref_lattice l, int k)
{
    scene s;
    struct ref_rng rng;
    ref_rng_seed(&rng, 49);
    const size_t v = ref_volume(l);
    double complex *u = kit_random_gauge(l, 0.7, &rng), *g = kit_alloc(9 * v, sizeof *g), *psi, *plain, *rotated;
    if (open_scene(&s, l, u, &kinds[k], -1)) {
        staggered *m = staggered_create(s.links, 0.2, PARITY_EVEN);
        field *x = random_vector(s.lat, PREC_DOUBLE, PARITY_BOTH, 1, 50), *y = field_like(x);
        ref_random_rotation(g, l, &rng);
        psi = kit_spinor(x, 0);
        staggered_apply(m, y, x, 0);
        plain = kit_spinor(y, 0);
        ref_rotate_gauge(s.u, l, g);
        kit_scatter(s.thin, s.u);
        for (int which = 0; which < 2; which++) {
            double complex *w = which ? plain : psi;
            for (size_t i = 0; i < v; i++) {
                double complex r[3] = {0};
                for (int c = 0; c < 9; c++) r[c / 3] += g[9 * i + (size_t)c] * w[3 * i + (size_t)(c % 3)];
                memcpy(w + 3 * i, r, sizeof r);
            }
        }
        kit_scatter(x, psi);
        staggered_apply(m, y, x, 0);
        rotated = kit_spinor(y, 0);
        kit_where("rotated %s links", kind_names[k]);
        KIT_NEAR(kit_distance(rotated, plain, 6 * v), 0, 1e-11);
        free(rotated);
        free(plain);
        free(psi);
        field_destroy(x);
        field_destroy(y);
        staggered_destroy(m);
        close_scene(&s);
    }
    free(g);
    free(u);
}

/* ---- storages of long links ---- */

/* Solutions with long links of fewer reals are those with 18, whatever the inner precision, on unit links, too. */
static void test_storages(struct ref_lattice l, double roughness)
{
    scene s;
    struct ref_rng rng;
    ref_rng_seed(&rng, 51);
    double complex *u = ref_gauge_new(l);
    ref_weak_gauge(u, l, roughness, &rng);
    if (open_scene(&s, l, u, &kinds[3], -1)) {
        staggered *whole = staggered_create(s.links, 0.2, PARITY_EVEN);
        field *b = random_vector(s.lat, PREC_DOUBLE, PARITY_BOTH, 1, 52);
        const solver_settings best = settings_of(PREC_DOUBLE, 1e-13);
        field *x = solve_whole(whole, staggered_normal(whole), b, &best);
        for (int reals = 9; reals <= 13; reals += 4) {
            staggered_links *links = staggered_links_sibling(s.links, kinds[3].epsilon, reals);
            staggered *m = staggered_create(links, 0.2, PARITY_EVEN);
            for (int prec = PREC_DOUBLE; prec <= PREC_HALF; prec++) {
                const solver_settings set = settings_of((precision)prec, 1e-12);
                field *y = solve_whole(m, staggered_normal(m), b, &set);
                kit_where("solution with long links of %d reals in %s, roughness %g", reals, kit_prec[prec], roughness);
                KIT_NEAR(sqrt(vector_axpy_norm2(y, -1, x, 0) / vector_norm2(x, 0)), 0, 1e-10);
                field_destroy(y);
            }
            staggered_destroy(m);
            staggered_links_destroy(links);
        }
        field_destroy(x);
        field_destroy(b);
        staggered_destroy(whole);
        close_scene(&s);
    }
    free(u);
}

/* ---- free quarks ---- */

/* -D^2 / 4 of a free wave of momentum p is this multiple of it. k: a staggered_kind, in whose order the first of kinds[]
 * are. */
static double free_energy(struct ref_lattice l, const double p[4], int k, double epsilon)
{
    /* Without tadpoles, which unit links have no use for. */
    const staggered_smearing plain[WHOLE] = {{.kind = STAGGERED_NAIVE},
                                             {.kind = STAGGERED_FAT7, .u0 = 1},
                                             {.kind = STAGGERED_ASQTAD, .u0 = 1},
                                             {.kind = STAGGERED_HISQ, .epsilon = epsilon}};
    scene s;
    double energy = NAN;
    double complex *u = ref_gauge_new(l), *wave = kit_alloc(3 * ref_volume(l), sizeof *wave);
    ref_unit_gauge(u, l);
    if (open_scene(&s, l, u, &plain[k], -1)) {
        /* A wave on even sites stays what it is: the phases of two hops in one direction cancel. */
        for (size_t i = 0; i < ref_volume(l); i++) {
            size_t rest = i;
            double phase = 0;
            for (int d = 0; d < 4; rest /= (size_t)l.size[d++]) phase += p[d] * (double)(rest % (size_t)l.size[d]);
            wave[3 * i] = cexp(I * phase);
        }
        staggered *m = staggered_create(s.links, 0, PARITY_EVEN);
        linop *op = staggered_normal(m);
        field *x = kit_field(s.lat, FIELD_VECTOR, PREC_DOUBLE, PARITY_EVEN, 1, wave), *y = field_like(x);
        double dot[2];
        linop_apply(op, y, x, 0);
        vector_dot(dot, x, y, 0);
        energy = dot[0] / vector_norm2(x, 0);
        kit_where("the wave of momentum %g %g %g %g, %s", p[0], p[1], p[2], p[3], kind_names[k]);
        KIT_NEAR(sqrt(vector_axpy_norm2(y, -energy, x, 0) / vector_norm2(x, 0)), 0, 1e-14);
        field_destroy(x);
        field_destroy(y);
        staggered_destroy(m);
        close_scene(&s);
    }
    free(wave);
    free(u);
    return energy;
}

/* The energy squared of the longest wave in t on 4.4.4.n. */
static double longest_wave(int n, int k, double epsilon)
{
    const double p[4] = {0, 0, 0, acos(-1) / n};
    return free_energy((struct ref_lattice){{4, 4, 4, n}}, p, k, epsilon);
}

static void test_free(int k)
{
    double error[3];
    for (int i = 0; i < 3; i++) error[i] = longest_wave(16 << i, k, 0) / pow(acos(-1) / (16 << i), 2) - 1;
    /* sin^2 p = p^2 (1 - p^2 / 3 ...); with long links p^2 (1 - 3 p^4 / 20 ...) */
    kit_where("order of the error of %s quarks", kind_names[k]);
    const double order = log2(error[1] / error[2]), expected = has_far(&kinds[k]) ? 4 : 2;
    KIT_NEAR(order, expected, 0.02);
    KIT_NEAR(log2(error[0] / error[1]), expected, 0.08);
}

/* The whole spectrum: each direction adds sin^2 p, or with long links (9/8 sin p - 1/24 sin 3p)^2. */
static void test_free_spectrum(int k)
{
    static const int modes[][4] = {{1, 0, 0, 0}, {0, 1, 0, 0},   {0, 0, 2, 0},
                                   {1, 1, 0, 1}, {2, -1, 1, -2}, {-1, 2, 3, 3}};
    const struct ref_lattice l = {{8, 6, 4, 8}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        double p[4], want = 0;
        for (int d = 0; d < 4; d++) {
            p[d] = 2 * acos(-1) * (modes[i][d] + (d == 3 ? 0.5 : 0)) / l.size[d];
            want += pow(has_far(&kinds[k]) ? 9.0 / 8 * sin(p[d]) - sin(3 * p[d]) / 24 : sin(p[d]), 2);
        }
        const double energy = free_energy(l, p, k, 0);
        if (!isnan(energy)) KIT_REL(energy, want, 1e-13);
    }
}

/* f(E) = m at rest; f^2 = m^2 + p^2 gives dE^2/dp^2 = E / f f' at p = 0. */
static double speed_squared(double mass, double epsilon)
{
    const double c = (1 + epsilon) / 6;
    double low = 0, high = 1.2;
    for (int i = 0; i < 60; i++) {
        const double e = 0.5 * (low + high), f = sinh(e) - c * pow(sinh(e), 3);
        if (f < mass) low = e;
        else high = e;
    }
    return low / (mass * cosh(low) * (1 - 3 * c * pow(sinh(low), 2)));
}

/* The charm quark of inputs/hisq-2plus1plus1.ini: sin p (1 + (1 + epsilon) / 6 sin^2 p) is what a wave has for its
 * momentum, and its energy then goes with momentum as it has to (E. Follana et al., hep-lat/0610092, section III.C). */
static void test_charm(void)
{
    const double mass = 0.838, epsilon = -0.358;
    for (int n = 16; n <= 32; n *= 2) {
        const double s = sin(acos(-1) / n), want = pow(s + (1 + epsilon) / 6 * s * s * s, 2);
        const double energy = longest_wave(n, STAGGERED_HISQ, epsilon);
        kit_where("the wave of %d sites, charm", n);
        KIT_REL(energy, want, 1e-12);
    }
    kit_where("speed of light of charm: %.4f, %.4f without epsilon", sqrt(speed_squared(mass, epsilon)),
              sqrt(speed_squared(mass, 0)));
    KIT_NEAR(speed_squared(mass, epsilon), 1, 0.01);
    KIT_CHECK(fabs(speed_squared(mass, 0) - 1) > 0.1);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int k = 0; k < KINDS; k++) {
        test_links(kit_shapes[1], k, 1, 0);
        test_links(kit_shapes[2], k, -1, 0);
        test_links(kit_shapes[2], k, -1, 18);
        test_links(kit_shapes[2], k, -1, 13);
        test_operator(kit_shapes[2], k, -1);
        test_operator((struct ref_lattice){{4, 2, 8, 4}}, k, 1);
        test_covariance(kit_shapes[0], k);
        if (k < WHOLE) test_free(k);
        if (k < WHOLE) test_free_spectrum(k);
    }
    test_charm();
    for (int k = 0; k < 3; k++) test_storages(kit_shapes[2], (double[]){0, 0.05, 0.5}[k]);
    return kit_end();
}
