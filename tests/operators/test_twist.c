/* Twisted boundary conditions of all kinds of quarks (operators/link_map.h, staggered_links.h).
 *
 * M is the oracle's on links times e^(i theta_mu / L_mu), smeared or not, also after the links change. Plane waves on cold
 * links move with p + theta / L. Angles that differ by multiples of 2 pi, and by pi in t where the boundary has the other
 * sign, differ by a gauge transformation in U(1). M^dagger is the adjoint, gamma5 M gamma5 of Wilson quarks, and 2 m - M of
 * staggered ones; the systems agree over precisions and lead to the solution.
 *
 * All of that again, but for plane waves and equal angles, where time has open ends: M is the oracle's between fields that vanish on
 * the end slices, and there its diagonal. */
#include "tests/operators/twist.h"

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
    fermion_destroy(f);
    field_destroy(links);
    free(u);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    for (int i = 0; i < KINDS; i++) test_kind(&kinds[i]);
    return kit_end();
}
