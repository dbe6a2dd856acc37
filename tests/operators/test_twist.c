/* Twisted boundary conditions of all kinds of quarks (operators/link_map.h, staggered_links.h).
 *
 * M is the oracle's on links times e^(i theta_mu / L_mu), smeared or not, also after the links change. Plane waves on cold
 * links move with p + theta / L. Angles that differ by multiples of 2 pi, and by pi in t where the boundary has the other
 * sign, differ by a gauge transformation in U(1). M^dagger is the adjoint, gamma5 M gamma5 of Wilson quarks, and 2 m - M of
 * staggered ones; the systems agree over precisions and lead to the solution; forces, of quarks of several angles in one
 * sum where they share, are derivatives with the order of the difference; process grids and lanes leave no trace. Angles
 * of zero are no twist.
 *
 * All of that again, but for plane waves and equal angles, where time has open ends: M is the oracle's between fields that vanish on
 * the end slices, and there its diagonal. */
#include "tests/kernels/kit.h"
#include "tests/operators/staggered.h"
#include "tests/solve.h"

#include "kernels/ops/domainwall.h"
#include "kernels/ops/gauge.h"
#include "operators/eofa.h"
#include "operators/staggered.h"
#include "operators/wilson.h"

enum { CLOVER, WALLS, STAGGERED };

typedef struct {
    const char *name;
    int type, stout; /* stout: hops on links of two steps */
    int open;        /* time with open ends */
    int idle;        /* slices behind the last one */
    wilson_settings w;
    mobius_settings m;
    staggered_smearing s;
} kind;

#define MASS 0.3
#define STOUT_RHO 0.12

static const kind kinds[] = {
    {.name = "clover", .type = CLOVER, .w = {.c_sw = 1.3, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "Wilson", .type = CLOVER, .w = {.form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "clover on stout links",
     .type = CLOVER,
     .stout = 1,
     .w = {.c_sw = 1.1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "exponential clover",
     .type = CLOVER,
     .w = {.c_sw = 1.9, .exponential = 1, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "exponential twisted clover, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.c_sw = 1.2, .exponential = 1, .mu = 0.2, .inside = {0.1, 0.1}, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "Moebius",
     .type = WALLS,
     .m = {.mass = MASS, .M5 = 1.8, .b5 = 1.5, .c5 = 0.5, .Ls = 6, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "Moebius on stout links",
     .type = WALLS,
     .stout = 1,
     .m = {.mass = MASS, .M5 = 1.4, .b5 = 1, .c5 = 0, .Ls = 5, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "clover, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.c_sw = 1.7, .inside = {0.2, 0.2}, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "clover on stout links, open time",
     .type = CLOVER,
     .stout = 1,
     .open = 1,
     .w = {.c_sw = 1.1, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "twisted clover, open time",
     .type = CLOVER,
     .open = 1,
     .idle = 1,
     .w = {.c_sw = 0.9, .mu = 0.2, .inside = {-0.1, 0.3}, .storage = FIELD_LINKS}},
    {.name = "doublet, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.c_sw = 1.2,
           .mu = 0.3,
           .epsilon = 0.25,
           .doublet = 1,
           .inside = {0.1, 0.1},
           .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "symmetric doublet without clover term, open time",
     .type = CLOVER,
     .open = 1,
     .w = {.mu = -0.2, .epsilon = 0.3, .doublet = 1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS}},
    {.name = "Moebius, open time",
     .type = WALLS,
     .open = 1,
     .m = {.mass = MASS, .M5 = 1.4, .b5 = 1.5, .c5 = 0.5, .Ls = 4, .storage = FIELD_LINKS_TWO_ROWS}},
    {.name = "naive", .type = STAGGERED, .s = {.kind = STAGGERED_NAIVE}},
    {.name = "asqtad, 13 reals", .type = STAGGERED, .s = {.kind = STAGGERED_ASQTAD, .u0 = 1, .long_reals = 13}},
    {.name = "HISQ", .type = STAGGERED, .s = {.kind = STAGGERED_HISQ, .epsilon = -0.2}},
    {.name = "HISQ, 9 reals", .type = STAGGERED, .s = {.kind = STAGGERED_HISQ, .long_reals = 9}},
};
#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

static const struct ref_lattice shape = {{8, 4, 6, 8}};
static const double angles[4] = {0.7, -1.9, 2.3, 0.5}, other_angles[4] = {0, 0.4, -0.6, 1.2}, none[4];

static link_settings stout_settings(void)
{
    static const char *const text[][2] = {{"rho", "0.12"}, {"steps", "2"}, {"directions", "all"}};
    link_settings s = {.kind = param_kind(link_map_section(0), "stout")};
    const param_section *own = link_map_type_of(&s)->own;
    char message[PARAM_MESSAGE_SIZE];
    for (int i = 0; i < own->count; i++)
        for (size_t k = 0; k < sizeof text / sizeof text[0]; k++)
            if (!strcmp(own->table[i].name, text[k][0]))
                KIT_INT(param_set(&own->table[i], &s, text[k][1], message, sizeof message), 0);
    return s;
}

static fermion *quark(const kind *k, const field *links, const double theta[4], fermion *const *others, int n)
{
    if (k->type == STAGGERED) {
        staggered_fermion_settings s = {.smearing = k->s, .mass = MASS, .p = PARITY_EVEN};
        memcpy(s.smearing.theta, theta, sizeof s.smearing.theta);
        return staggered_fermion(links, &s, others, n);
    }
    const link_settings stout = stout_settings();
    link_map *map = fermion_link_map(links, k->stout ? &stout : NULL, theta, others, n);
    wilson_settings w = k->w;
    mobius_settings m = k->m;
    w.mass = MASS;
    w.map = m.map = map;
    fermion *f = k->type == CLOVER ? wilson_fermion(links, &w) : mobius_fermion(links, &m);
    link_map_destroy(map);
    return f;
}

static lattice *bounded(const kind *k, lattice *lat)
{
    if (lat && k->open) lattice_bound(lat, TIME_OPEN);
    if (lat && k->open) lattice_leave_idle(lat, k->idle);
    return lat;
}

static lattice *lattice_of(const kind *k, int time_sign)
{
    return bounded(k, kit_lattice(shape, k->type == STAGGERED ? 3 : 1, time_sign));
}

/* An end slice of the kind's lattice, by the number of the site. */
static int at_end(const kind *k, size_t site)
{
    int x[4];
    ref_coordinates(x, shape, site);
    return k->open && (x[3] == 0 || x[3] >= shape.size[3] - 1 - k->idle);
}

/* Complex numbers a site. */
static size_t components(const kind *k)
{
    return k->type == CLOVER ? k->w.doublet ? 24 : 12 : k->type == WALLS ? 12 * (size_t)k->m.Ls : 3;
}

static size_t numbers(const kind *k)
{
    return components(k) * ref_volume(shape);
}

static double complex *random_numbers(const kind *k, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    return (double complex *)kit_normals(2 * numbers(k), &rng);
}

static double complex *weak_links(const kind *k, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    double complex *u = kit_random_gauge(shape, 0.5, &rng);
    if (k->open) ref_open_time(u, shape, k->idle);
    return u;
}

static field *random_half(const fermion *f, uint64_t seed)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, seed);
    field *x = linop_vector(f->normal, 1);
    double *a = kit_normals(kit_reals(x), &rng);
    kit_scatter(x, a);
    free(a);
    return x;
}

static double complex *apply_to(fermion *f, const double complex *x, int dagger)
{
    field *in = fermion_vector(f), *out = field_like(in);
    kit_scatter(in, x);
    fermion_apply(f, out, in, dagger);
    double complex *y = (double complex *)kit_gather(out);
    field_destroy(out);
    field_destroy(in);
    return y;
}

/* M x on links u. */
static double complex *apply_on(const kind *k, const lattice *lat, const double complex *u, const double theta[4],
                                const double complex *x)
{
    field *links = kit_links(lat, u);
    fermion *f = quark(k, links, theta, NULL, 0);
    double complex *y = apply_to(f, x, 0);
    fermion_destroy(f);
    field_destroy(links);
    return y;
}

/* ---- against the oracle ---- */

/* Links times e^(i reach theta_mu / L_mu), in place. */
static void twist(double complex *u, const double theta[4], int reach)
{
    for (size_t i = 0; i < 36 * ref_volume(shape); i++) {
        const size_t mu = i / 9 % 4;
        u[i] *= cexp(I * (reach * theta[mu] / shape.size[mu]));
    }
}

static double complex *stout(const double complex *u, int steps)
{
    double rho[4][4];
    double complex *now = kit_copy(u, 36 * ref_volume(shape) * sizeof *u);
    for (int mu = 0; mu < 4; mu++)
        for (int nu = 0; nu < 4; nu++) rho[mu][nu] = mu == nu ? 0 : STOUT_RHO;
    for (int i = 0; i < steps; i++) {
        double complex *next = ref_gauge_new(shape);
        ref_stout(next, shape, now, rho);
        free(now);
        now = next;
    }
    return now;
}

static void swap_slices(double complex *to, const double complex *from, int Ls, int to_field)
{
    const size_t sites = ref_volume(shape);
    for (size_t i = 0; i < sites; i++)
        for (size_t s = 0; s < (size_t)Ls; s++) {
            const size_t in_field = 12 * (i * (size_t)Ls + s), in_oracle = 12 * (s * sites + i);
            memcpy(to + (to_field ? in_field : in_oracle), from + (to_field ? in_oracle : in_field), 12 * sizeof *to);
        }
}

static void oracle_staggered(double complex *out, const double complex *in, const kind *k, const double complex *u,
                             const double theta[4], int dagger)
{
    double complex *fat = ref_gauge_new(shape), *lng = ref_gauge_new(shape);
    oracle_links(fat, lng, shape, u, &k->s, -1);
    twist(fat, theta, 1);
    twist(lng, theta, 3);
    ref_staggered_hop(out, in, shape, fat, has_far(&k->s) ? lng : NULL);
    for (size_t i = 0; i < numbers(k); i++) out[i] = MASS * in[i] + (dagger ? -0.5 : 0.5) * out[i];
    free(lng);
    free(fat);
}

/* Number i of M x on an end slice, of spinors; domain walls are not looked at there. */
static double complex at_the_end(const double complex *x, const kind *k, size_t i, int dagger)
{
    const double mu = (i % 12 < 6) == !dagger ? k->w.mu : -k->w.mu;
    if (k->type != CLOVER) return 0;
    if (!k->w.doublet) return (4 + MASS + I * mu) * x[i];
    return i % 24 < 12 ? (4 + MASS + k->w.epsilon) * x[i] + mu * x[i + 12]
                       : (4 + MASS - k->w.epsilon) * x[i] - mu * x[i - 12];
}

/* The oracles of domain walls and doublets have slices outermost. */
static void oracle_of_slices(double complex *out, const double complex *in, const kind *k, const struct ref_wilson *w,
                             int dagger)
{
    const int slices = k->w.doublet ? 2 : k->m.Ls;
    double complex *x = kit_alloc(numbers(k), sizeof *x), *y = kit_alloc(numbers(k), sizeof *y);
    swap_slices(x, in, slices, 0);
    if (k->w.doublet) ref_doublet_apply(y, x, &(struct ref_doublet){w, k->w.mu, k->w.epsilon, 2, 3}, dagger);
    else ref_mobius_apply(y, x, &(struct ref_mobius){w, k->m.mass, k->m.b5, k->m.c5, k->m.Ls, NULL, NULL}, dagger);
    swap_slices(out, y, slices, 1);
    free(y);
    free(x);
}

static void oracle(double complex *out, const double complex *in, const kind *k, const double complex *u,
                   const double theta[4], int dagger)
{
    struct ref_wilson w;
    if (k->type == STAGGERED) {
        oracle_staggered(out, in, k, u, theta, dagger);
        return;
    }
    double complex *v = stout(u, k->stout ? 2 : 0);
    twist(v, theta, 1);
    ref_wilson_create(&w, shape, v, k->type == CLOVER ? MASS : -k->m.M5, k->w.c_sw, -1);
    if (k->w.exponential) ref_wilson_exponential(&w, 4 + MASS);
    ref_wilson_inside(&w, shape.size[3] - 2 - k->idle, k->w.inside[0], k->w.inside[1]);
    if (k->w.mu != 0 && !k->w.doublet) ref_wilson_twist(&w, k->w.mu);
    double complex *inner = kit_copy(in, numbers(k) * sizeof *in);
    for (size_t i = 0; i < numbers(k); i++)
        if (at_end(k, i / components(k))) inner[i] = 0;
    if (k->type == CLOVER && !k->w.doublet) ref_wilson_apply(out, inner, &w, dagger);
    else oracle_of_slices(out, inner, k, &w, dagger);
    for (size_t i = 0; i < numbers(k); i++)
        if (at_end(k, i / components(k))) out[i] = at_the_end(in, k, i, dagger);
    ref_wilson_destroy(&w);
    free(inner);
    free(v);
}

static void check_oracle(const kind *k, const lattice *lat)
{
    const size_t n = numbers(k);
    double complex *x = random_numbers(k, 11), *want = kit_alloc(n, sizeof *want),
                   *u[2] = {weak_links(k, 1), weak_links(k, 2)};
    field *links = kit_links(lat, u[0]);
    fermion *f = quark(k, links, angles, NULL, 0);
    for (int turn = 0; turn < 2; turn++) {
        if (turn) kit_scatter(links, u[turn]);
        for (int dagger = 0; dagger < 2; dagger++) {
            double complex *have = apply_to(f, x, dagger);
            kit_where("%s, links %d, dagger %d", k->name, turn, dagger);
            oracle(want, x, k, u[turn], angles, dagger);
            for (size_t i = 0; i < n && k->type == WALLS; i++)
                if (at_end(k, i / components(k))) have[i] = 0;
            KIT_NEAR(kit_distance(have, want, 2 * n) / kit_largest(want, 2 * n), 0,
                     k->s.long_reals == 9 ? 1e-12 : 2e-14);
            free(have);
        }
    }
    fermion_destroy(f);
    field_destroy(links);
    free(u[1]);
    free(u[0]);
    free(want);
    free(x);
}

/* ---- plane waves ---- */

/* y = (D_W (b5 + c5 S) + 1 - S) x of slices, or D_W x for one of spinors; d is D_W. */
static void free_apply(double complex *y, const double complex *x, const kind *k, double complex d[4][4])
{
    const int Ls = k->type == WALLS ? k->m.Ls : 1;
    for (int s = 0; s < Ls; s++)
        for (int c = 0; c < 12; c++) {
            double complex sum = 0;
            for (int spin = 0; spin < 4; spin++) {
                const int upper = spin < 2, from = upper ? (s + Ls - 1) % Ls : (s + 1) % Ls, e = 3 * spin + c % 3;
                const double sign = (upper ? s == 0 : s == Ls - 1) ? -k->m.mass : 1;
                const double complex here = x[12 * s + e], step = sign * x[12 * from + e];
                if (k->type == CLOVER) sum += d[c / 3][spin] * here;
                else sum += d[c / 3][spin] * (k->m.b5 * here + k->m.c5 * step) + (spin == c / 3 ? here - step : 0);
            }
            y[12 * s + c] = sum;
        }
}

/* M^dagger M of staggered quarks of momentum p. */
static double free_staggered(const kind *k, const double p[4])
{
    const int far = has_far(&k->s);
    double sum = MASS * MASS;
    for (int mu = 0; mu < 4; mu++) {
        const double f =
            (far ? (9 + k->s.epsilon) / 8 : 1) * sin(p[mu]) - (far ? (1 + k->s.epsilon) / 24 : 0) * sin(3 * p[mu]);
        sum += f * f;
    }
    return sum;
}

static void check_plane_wave(const kind *k, const lattice *lat)
{
    const size_t n = numbers(k), c = components(k);
    double p[4], shifted[4];
    double complex d[4][4], *u = ref_gauge_new(shape), *chi = random_numbers(k, 12),
                            *image = kit_alloc(c, sizeof *image), *x = kit_alloc(n, sizeof *x),
                            *want = kit_alloc(n, sizeof *want);
    ref_unit_gauge(u, shape);
    ref_momentum(p, shape, (const int[4]){1, -1, 2, 1}, -1);
    for (int mu = 0; mu < 4; mu++) shifted[mu] = p[mu] + angles[mu] / shape.size[mu];
    ref_free_operator(d, shifted, k->type == WALLS ? -k->m.M5 : MASS);
    if (k->type != STAGGERED) free_apply(image, chi, k, d);
    for (size_t i = 0; i < c && k->type == STAGGERED; i++) image[i] = free_staggered(k, shifted) * chi[i];
    for (size_t i = 0; i < n; i++) {
        int at[4];
        ref_coordinates(at, shape, i / c);
        const double complex wave = cexp(I * (p[0] * at[0] + p[1] * at[1] + p[2] * at[2] + p[3] * at[3]));
        x[i] = wave * chi[i % c];
        want[i] = wave * image[i % c];
    }
    field *links = kit_links(lat, u);
    fermion *f = quark(k, links, angles, NULL, 0);
    double complex *have = apply_to(f, x, 0);
    if (k->type == STAGGERED) {
        double complex *once = have;
        have = apply_to(f, once, 1);
        free(once);
    }
    kit_where("a plane wave of %s", k->name);
    KIT_NEAR(kit_distance(have, want, 2 * n) / kit_largest(want, 2 * n), 0, k->s.long_reals == 9 ? 1e-12 : 2e-14);
    fermion_destroy(f);
    field_destroy(links);
    void *all[] = {have, want, x, image, chi, u};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

/* ---- angles that are the same ---- */

/* x e^(i delta.x / L), in place. */
static void turn_field(double complex *x, const kind *k, const double delta[4])
{
    for (size_t i = 0; i < numbers(k); i++) {
        int at[4];
        double phase = 0;
        ref_coordinates(at, shape, i / components(k));
        for (int mu = 0; mu < 4; mu++) phase += delta[mu] * at[mu] / shape.size[mu];
        x[i] *= cexp(I * phase);
    }
}

/* M of the angles a on e^(i delta.x / L) x is e^(i delta.x / L) times M of the angles a + delta on x. */
static void check_equivalence(const kind *k, const double a[4], const double delta[4], int time_sign, int other_sign)
{
    const size_t n = numbers(k);
    lattice *lat = lattice_of(k, time_sign), *other = lattice_of(k, other_sign);
    double complex *x = random_numbers(k, 13), *u = weak_links(k, 3);
    double b[4];
    for (int mu = 0; mu < 4; mu++) b[mu] = a[mu] + delta[mu];
    double complex *want = apply_on(k, other, u, b, x);
    turn_field(want, k, delta);
    turn_field(x, k, delta);
    double complex *have = apply_on(k, lat, u, a, x);
    kit_where("%s, angles moved by %g %g %g %g, time signs %d and %d", k->name, delta[0], delta[1], delta[2], delta[3],
              time_sign, other_sign);
    KIT_NEAR(kit_distance(have, want, 2 * n) / kit_largest(want, 2 * n), 0, k->s.long_reals == 9 ? 2e-12 : 1e-13);
    free(have);
    free(want);
    free(u);
    free(x);
    lattice_destroy(other);
    lattice_destroy(lat);
}

/* ---- adjoints and systems ---- */

static void check_adjoint(const kind *k, fermion *f)
{
    const size_t n = numbers(k);
    double complex *x = random_numbers(k, 14), *y = random_numbers(k, 15), *mx = apply_to(f, x, 0),
                   *my = apply_to(f, y, 1);
    const double scale = sqrt(ref_norm2(y, n) * ref_norm2(mx, n));
    kit_where("the adjoint of %s", k->name);
    KIT_NEAR(cabs(ref_dot(y, mx, n) - ref_dot(my, x, n)) / scale, 0, 1e-14);
    if (k->type == CLOVER && k->w.mu == 0) {
        ref_apply_gamma5(y, n / 12);
        double complex *turned = apply_to(f, y, 0);
        ref_apply_gamma5(turned, n / 12);
        KIT_NEAR(kit_distance(turned, my, 2 * n) / kit_largest(my, 2 * n), 0, 1e-14);
        free(turned);
    } else if (k->type == STAGGERED) {
        double complex *sum = apply_to(f, y, 0);
        for (size_t i = 0; i < n; i++) sum[i] += my[i] - 2 * MASS * y[i];
        KIT_NEAR(kit_largest(sum, 2 * n) / kit_largest(my, 2 * n), 0, 1e-14);
        free(sum);
    }
    void *all[] = {my, mx, y, x};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
}

static double relative(field *have, const field *want)
{
    const double norm2 = vector_norm2(want, 0);
    return sqrt(vector_axpy_norm2(have, -1, want, 0) / norm2);
}

static void check_precisions(const kind *k, linop *op, int dagger)
{
    static const double allowed[PREC_COUNT] = {0, 2e-6, 1e-3, 0.15};
    field *x = linop_vector(op, 1), *y = linop_vector(op, 1), *z = linop_vector(op, 1);
    struct ref_rng rng;
    ref_rng_seed(&rng, 16);
    double *a = kit_normals(kit_reals(x), &rng);
    kit_scatter(x, a);
    linop_refresh(op);
    linop_apply(op, y, x, dagger);
    for (int prec = PREC_SINGLE; prec < PREC_COUNT; prec++) {
        linop *low = linop_at(op, (precision)prec, op->where);
        field *in = linop_vector(low, 1), *out = linop_vector(low, 1);
        linop_refresh(low);
        vector_copy(in, x);
        linop_apply(low, out, in, dagger);
        vector_copy(z, out);
        kit_where("%s in %s precision", k->name, kit_prec[prec]);
        KIT_NEAR(relative(z, y), 0, allowed[prec]);
        field_destroy(out);
        field_destroy(in);
    }
    free(a);
    field_destroy(z);
    field_destroy(y);
    field_destroy(x);
}

static void check_solution(const kind *k, fermion *f)
{
    const solver_settings cg = {.type = param_kind(solver_section(0), "cg"),
                                .tolerance = 1e-11,
                                .max_iterations = 3000,
                                .inner_precision = PREC_HALF,
                                .delta = 0.1};
    field *b = fermion_vector(f), *x = field_like(b), *work = field_like(b), *rhs = linop_vector(f->normal, 1),
          *half = linop_vector(f->normal, 1);
    double complex *source = random_numbers(k, 17);
    kit_scatter(b, source);
    fermion_prepare(f, rhs, b, 1);
    kit_where("the solution of %s", k->name);
    KIT_INT(solve_by(&cg, f->normal, half, rhs).status, SOLVE_CONVERGED);
    fermion_reconstruct(f, x, half, b);
    KIT_NEAR(fermion_residual(f, work, x, b), 0, 1e-9);
    free(source);
    field *all[] = {half, rhs, work, x, b};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
}

/* Steps in time times e^mu are those of an angle -i mu L_t: d M / d theta_t = (i / L_t) d M / d mu. */
static void check_chemical_potential(const kind *k, const lattice *lat)
{
    const size_t n = numbers(k);
    const double T = shape.size[3];
    double complex *x = random_numbers(k, 18), *u = weak_links(k, 4);
    field *links = kit_links(lat, u);
    fermion *f = quark(k, links, angles, NULL, 0);
    field *in = fermion_vector(f), *out = field_like(in);
    kit_scatter(in, x);
    fermion_derivative(f, out, in, 1);
    double complex *exact = (double complex *)kit_gather(out);
    double error[2];
    for (int i = 0; i < 2; i++) {
        const double h = 0.2 / (i + 1);
        double up[4], down[4];
        for (int mu = 0; mu < 4; mu++) up[mu] = down[mu] = angles[mu];
        up[3] += h;
        down[3] -= h;
        double complex *plus = apply_on(k, lat, u, up, x), *minus = apply_on(k, lat, u, down, x);
        for (size_t j = 0; j < n; j++) plus[j] = (plus[j] - minus[j]) / (2 * h) - I / T * exact[j];
        error[i] = sqrt(ref_norm2(plus, n) / ref_norm2(exact, n));
        free(minus);
        free(plus);
    }
    kit_where("the chemical potential of %s", k->name);
    KIT_NEAR(log2(error[0] / error[1]), 2, 0.02);
    KIT_CHECK(error[0] < 1e-3);
    free(exact);
    field_destroy(out);
    field_destroy(in);
    fermion_destroy(f);
    field_destroy(links);
    free(u);
    free(x);
}

/* ---- forces ---- */

enum { OF_SYSTEM, OF_VARIATION, OF_LOG_DET, TERMS };

typedef struct {
    field *links;
    fermion *f[2];
    field *x, *y;
    int term;
} form;

static const double weights[2] = {0.8, -0.5};

static double value_of_one(const form *q, fermion *f)
{
    double d[2], negatives;
    if (q->term == OF_LOG_DET) return -fermion_log_det(f, &negatives);
    linop *op = q->term == OF_SYSTEM ? f->normal : f->direct;
    field *ax = field_like(q->x);
    linop_refresh(op);
    linop_apply(op, ax, q->x, 0);
    vector_dot(d, q->term == OF_SYSTEM ? q->x : q->y, ax, 0);
    field_destroy(ax);
    return q->term == OF_SYSTEM ? -d[0] : -2 * d[0];
}

static double form_value(const double complex *u, void *of)
{
    const form *q = of;
    kit_scatter(q->links, u);
    return weights[0] * value_of_one(q, q->f[0]) + weights[1] * value_of_one(q, q->f[1]);
}

static void add_term(const form *q, void *sum, int i)
{
    field *x = q->x;
    if (q->term == OF_SYSTEM) fermion_add_force(sum, q->f[i], 1, &weights[i], &x);
    else if (q->term == OF_VARIATION) fermion_add_variation(sum, q->f[i], weights[i], x, q->y);
    else fermion_add_force_log_det(sum, q->f[i], weights[i]);
}

/* In one sum where the quarks share, else one after the other. */
static field *form_force(const form *q)
{
    field *force = field_create(q->links->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, q->links->where);
    const int shared = q->f[0]->shares && q->f[0]->shares == q->f[1]->shares;
    for (int i = 0; i < 2; i += 1 + shared) {
        void *sum = fermion_open_force(q->f[i], force);
        add_term(q, sum, i);
        if (shared) add_term(q, sum, 1);
        fermion_close_force(q->f[i], sum);
    }
    return force;
}

/* The difference of step h is off by h^2; of both steps together by h^4. */
static void check_slope(const double complex *u, const double *force, size_t links, ref_action value, void *of)
{
    struct ref_rng rng;
    ref_rng_seed(&rng, 19);
    double *p = kit_normals(8 * links, &rng), error[2];
    const double exact = kit_along(force, p, links),
                 scale = sqrt(kit_along(force, force, links) * kit_along(p, p, links) / (double)links);
    for (int i = 0; i < 2; i++) {
        const double h = 0.02 / (i + 1);
        double complex *up = kit_moved(u, p, h, links), *down = kit_moved(u, p, -h, links);
        error[i] = (value(up, of) - value(down, of)) / (2 * h) - exact;
        free(down);
        free(up);
    }
    KIT_NEAR(log2(fabs(error[0] / error[1])), 2, 0.03);
    KIT_NEAR((4 * error[1] - error[0]) / 3, 0, 2e-5 * scale);
    free(p);
}

/* Two quarks of other angles, and of another Naik term. */
static form open_form(const kind *k, const lattice *lat, const double complex *u)
{
    form q = {.links = kit_links(lat, u)};
    kind other = *k;
    if (k->s.kind == STAGGERED_HISQ) other.s.epsilon += 0.15;
    q.f[0] = quark(k, q.links, angles, NULL, 0);
    q.f[1] = quark(&other, q.links, other_angles, q.f, 1);
    q.x = random_half(q.f[0], 20);
    q.y = random_half(q.f[0], 21);
    return q;
}

static void close_form(form *q)
{
    field_destroy(q->y);
    field_destroy(q->x);
    fermion_destroy(q->f[1]);
    fermion_destroy(q->f[0]);
    field_destroy(q->links);
}

static void check_forces(const kind *k, const lattice *lat)
{
    double complex *u = weak_links(k, 5);
    form q = open_form(k, lat, u);
    KIT_INT(q.f[0]->shares != NULL && q.f[0]->shares == q.f[1]->shares, k->stout || k->type == STAGGERED);
    for (q.term = 0; q.term < TERMS; q.term++) {
        if (q.term == OF_VARIATION && !q.f[0]->table->add_variation) continue;
        if (q.term == OF_LOG_DET && !fermion_has_log_det(q.f[0])) continue;
        kit_scatter(q.links, u);
        field *force = form_force(&q);
        double *all = kit_gather(force);
        kit_where("the force of %s, term %d", k->name, q.term);
        check_slope(u, all, 4 * ref_volume(shape), form_value, &q);
        free(all);
        field_destroy(force);
    }
    close_form(&q);
    free(u);
}

/* ---- the exact one-flavour algorithm ---- */

typedef struct {
    field *links, *phi, *x;
    eofa *e;
    fermion *f;
} exact_form;

/* phi^dagger (A - 1) phi, which leaves the solution in x. */
static double exact_value_of(const double complex *u, void *of)
{
    const solver_settings set = {.type = param_kind(solver_section(0), "cg"),
                                 .tolerance = 1e-14,
                                 .max_iterations = 5000,
                                 .inner_precision = PREC_DOUBLE};
    exact_form *q = of;
    field *source = fermion_vector(q->f), *rhs = linop_vector(q->f->normal, 1), *half = linop_vector(q->f->normal, 1),
          *y = field_like(q->phi);
    double d[2];
    kit_scatter(q->links, u);
    eofa_enter(q->e, 0, source, q->phi);
    fermion_prepare(q->f, rhs, source, 1);
    solve_by(&set, q->f->normal, half, rhs);
    fermion_reconstruct(q->f, q->x, half, source);
    eofa_leave(q->e, 0, y, eofa_factor(q->e, 0), q->x);
    vector_dot(d, q->phi, y, 0);
    field *all[] = {y, half, rhs, source};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) field_destroy(all[i]);
    return d[0];
}

static void check_exact(int with_stout, const lattice *lat)
{
    const link_settings stout = stout_settings();
    mobius_settings s = {.mass = 0.1, .M5 = 1.4, .b5 = 1.5, .c5 = 0.5, .Ls = 4, .storage = FIELD_LINKS_TWO_ROWS};
    double complex *u = weak_links(&kinds[0], 6);
    exact_form q = {.links = kit_links(lat, u)};
    s.map = fermion_link_map(q.links, with_stout ? &stout : NULL, angles, NULL, 0);
    q.e = eofa_create(q.links, &s, 1);
    link_map_destroy(s.map);
    q.f = eofa_quark(q.e, 0, 0);
    q.phi = fermion_physical(q.f);
    q.x = fermion_vector(q.f);
    struct ref_rng rng;
    ref_rng_seed(&rng, 22);
    double *phi = kit_normals(kit_reals(q.phi), &rng);
    for (size_t i = 0; i < kit_reals(q.phi); i++)
        if (i % 24 >= 12) phi[i] = 0;
    kit_scatter(q.phi, phi);
    exact_value_of(u, &q);
    field *force = field_create(lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, kit_place);
    eofa_add_force(q.e, 0, force, q.x);
    double *all = kit_gather(force);
    kit_where("the force of one Moebius flavour, stout %d", with_stout);
    check_slope(u, all, 4 * ref_volume(shape), exact_value_of, &q);
    free(all);
    field_destroy(force);
    free(phi);
    field_destroy(q.x);
    field_destroy(q.phi);
    fermion_destroy(q.f);
    eofa_destroy(q.e);
    field_destroy(q.links);
    free(u);
}

/* ---- no twist, and who shares ---- */

static void check_sharing(const lattice *lat)
{
    const double minus[4] = {-0.0, 0, 0, 0};
    const link_settings stout = stout_settings();
    const kind *k = &kinds[2];
    double complex *u = weak_links(k, 7);
    field *links = kit_links(lat, u);
    kit_where("sharing");
    KIT_CHECK(fermion_link_map(links, NULL, none, NULL, 0) == NULL);
    KIT_CHECK(fermion_link_map(links, NULL, minus, NULL, 0) == NULL);
    KIT_INT(link_map_storage(NULL, FIELD_LINKS_TWO_ROWS), FIELD_LINKS_TWO_ROWS);
    fermion *f[4] = {quark(k, links, angles, NULL, 0)};
    f[1] = quark(k, links, none, f, 1);
    f[2] = quark(k, links, angles, f, 2);
    f[3] = quark(&kinds[0], links, angles, f, 3);
    KIT_CHECK(f[1]->map == link_map_smearing(f[0]->map) && link_map_fits(f[1]->map, &stout, links));
    KIT_CHECK(f[2]->map == f[0]->map && f[3]->map && f[3]->map != f[0]->map && !f[3]->shares);
    KIT_INT(link_map_storage(f[0]->map, FIELD_LINKS_TWO_ROWS), FIELD_LINKS);
    KIT_INT(link_map_storage(f[1]->map, FIELD_LINKS_TWO_ROWS), FIELD_LINKS_TWO_ROWS);
    for (int i = 0; i < 4; i++) fermion_destroy(f[i]);
    field_destroy(links);
    free(u);
}

/* ---- bits ---- */

/* M x, the normal operator in half precision and the force, one after the other. */
static double *results_on(const kind *k, const lattice *lat, size_t *n, double *(*whole)(const field *))
{
    double complex *u = weak_links(k, 8), *x = random_numbers(k, 23);
    form q = open_form(k, lat, u);
    linop *low = linop_at(q.f[0]->normal, PREC_HALF, kit_place);
    field *in = fermion_vector(q.f[0]), *out = field_like(in), *half = linop_vector(low, 1),
          *image = linop_vector(low, 1);
    kit_scatter(in, x);
    fermion_apply(q.f[0], out, in, 0);
    linop_refresh(low);
    vector_copy(half, q.x);
    linop_apply(low, image, half, 0);
    field *force = form_force(&q), *parts[] = {out, image, force};
    double *all = NULL;
    *n = 0;
    for (int i = 0; i < 3; i++) {
        double *one = whole(parts[i]);
        all = realloc(all, (*n + kit_reals(parts[i])) * sizeof *all);
        REQUIRE(all, "out of memory");
        memcpy(all + *n, one, kit_reals(parts[i]) * sizeof *all);
        *n += kit_reals(parts[i]);
        free(one);
    }
    field *fields[] = {force, image, half, out, in};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) field_destroy(fields[i]);
    close_form(&q);
    free(x);
    free(u);
    return all;
}

/* All numbers of a field that this rank holds alone. */
static double *here(const field *f)
{
    const size_t slice = kit_reals(f) / (size_t)f->lat->local[3];
    double *a = kit_alloc(kit_reals(f), sizeof *a);
    for (int t = 0; t < f->lat->local[3]; t++) field_export(f, t, a + (size_t)t * slice);
    return a;
}

/* Every grid of all ranks, with all lanes and with one, has the bits of one rank alone. */
static void test_bits(const kind *k)
{
    const int reach = k->type == STAGGERED ? 3 : 1;
    char message[512];
    int grids[64][4];
    const int n = kit_grids(shape, grids, 64);
    size_t count, other_count;
    lattice_spec spec = {.group = comm_self(), .grid = {1, 1, 1, 1}, .reach = reach, .time_sign = -1};
    memcpy(spec.size, shape.size, sizeof spec.size);
    lattice *alone = bounded(k, lattice_create_on(&spec));
    double *first = results_on(k, alone, &count, here);
    lattice_destroy(alone);
    for (int i = 0; i < n; i++) {
        lattice *plan = plan_lattice(shape.size, grids[i], comm_size(), reach, message, sizeof message);
        const int fits = plan != NULL;
        lattice_destroy(plan);
        for (int linear = 0; fits && linear < 2; linear++) {
            lattice_use_simd(test_simd && !linear);
            lattice *lat = bounded(k, lattice_create(shape.size, grids[i], reach, -1));
            double *other = results_on(k, lat, &other_count, kit_gather);
            kit_where("%s, grid %d.%d.%d.%d, linear %d", k->name, grids[i][0], grids[i][1], grids[i][2], grids[i][3],
                      linear);
            KIT_CHECK(other_count == count && !memcmp(other, first, count * sizeof *first));
            free(other);
            lattice_destroy(lat);
        }
    }
    lattice_use_simd(test_simd);
    free(first);
}

/* ---- all kinds ---- */

static void test_kind(const kind *k)
{
    static const double turns[4] = {2 * M_PI, -4 * M_PI, 2 * M_PI, 6 * M_PI}, half_turn[4] = {0, 0, 0, M_PI};
    lattice *lat = lattice_of(k, -1);
    if (!lat) return;
    check_oracle(k, lat);
    if (!k->open) {
        check_plane_wave(k, lat);
        check_equivalence(k, none, turns, -1, -1);
        check_equivalence(k, angles, turns, 1, 1);
        check_equivalence(k, none, half_turn, 1, -1);
        check_equivalence(k, angles, half_turn, -1, 1);
    }
    double complex *u = weak_links(k, 9);
    field *links = kit_links(lat, u);
    fermion *f = quark(k, links, angles, NULL, 0);
    check_adjoint(k, f);
    check_precisions(k, f->normal, 0);
    for (int dagger = 0; f->direct && dagger < 2; dagger++) check_precisions(k, f->direct, dagger);
    check_solution(k, f);
    if (f->table->derivative) check_chemical_potential(k, lat);
    check_forces(k, lat);
    fermion_destroy(f);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int i = 0; i < KINDS; i++) test_kind(&kinds[i]);
    lattice *lat = kit_lattice(shape, 1, -1);
    if (lat) {
        check_sharing(lat);
        for (int with_stout = 0; with_stout < 2; with_stout++) check_exact(with_stout, lat);
    }
    lattice_destroy(lat);
    test_bits(&kinds[2]);
    test_bits(&kinds[3]);
    test_bits(&kinds[5]);
    for (int i = 10; i < KINDS; i++) test_bits(&kinds[i]);
    return kit_end();
}
