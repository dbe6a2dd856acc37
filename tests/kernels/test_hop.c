/* The hop between parities, in every form, precision, number of rows and right-hand sides, on every shape, against the
 * slow oracle; and what must hold without one: adjoint, covariance, plane waves, linearity.
 *
 * Inputs are gathered after they were stored, so that the oracle sees the rounded numbers; then what may differ is the
 * arithmetic of the fast code (kit_epsilon times some 200 operations on numbers of the size of the result), and one
 * rounding of the result to storage (kit_step times the largest component of the site). */
#include "tests/kernels/kit.h"

#include "kernels/ops/vector.h"
#include "kernels/ops/wilson.h"

enum { RHS = 3 };

/* Third rows from the first two, as two-row links mean it. */
static double complex *three_rows(const double complex *two, size_t links)
{
    double complex *u = kit_alloc(links * 9, sizeof *u);
    for (size_t i = 0; i < links; i++) {
        double complex *m = u + 9 * i;
        memcpy(m, two + 6 * i, 6 * sizeof *m);
        for (int c = 0; c < 3; c++)
            m[6 + c] = conj(m[(c + 1) % 3] * m[3 + (c + 2) % 3] - m[(c + 2) % 3] * m[3 + (c + 1) % 3]);
    }
    return u;
}

/* psi = C psi for a gathered clover field: a Hermitian 6x6 block a chirality. */
static void clover_times(double complex *psi, const double *clover, size_t volume)
{
    for (size_t i = 0; i < 2 * volume; i++) {
        const double *c = clover + 36 * i;
        double complex *v = psi + 6 * i, r[6];
        for (int a = 0; a < 6; a++) {
            r[a] = c[a] * v[a];
            for (int b = 0; b < 6; b++) {
                const int low = a > b ? b : a, high = a > b ? a : b;
                const double *e = c + 6 + high * (high - 1) + 2 * low;
                if (a != b) r[a] += (e[0] + (a > b ? 1 : -1) * I * e[1]) * v[b];
            }
        }
        memcpy(v, r, sizeof r);
    }
}

typedef struct {
    struct ref_lattice l;
    const double *clover;
    double complex *hop[RHS], *add[RHS]; /* D in, and what is added, of each right-hand side */
} expectation;

static void expected(double complex *want, const expectation *e, int r, const wilson_hop_call *call)
{
    const size_t v = ref_volume(e->l), n = 12 * v;
    double complex *x = kit_copy(e->add[r], n * sizeof *x);
    memcpy(want, e->hop[r], n * sizeof *want);
    if (call->form == HOP_CLOVER || call->form == HOP_CLOVER_ADD) clover_times(want, e->clover, v);
    if (call->form == HOP_ADD_CLOVER) clover_times(x, e->clover, v);
    const int adds = call->form == HOP_ADD || call->form == HOP_CLOVER_ADD || call->form == HOP_ADD_CLOVER;
    for (size_t i = 0; i < n; i++) want[i] = call->a * want[i] + (adds ? call->b * x[i] : 0);
    free(x);
}

/* Site by site, since a fixed-point site is rounded relative to its own largest component. */
static double excess(const double complex *have, const double complex *want, size_t volume, precision prec,
                     double scale)
{
    double worst = 0;
    for (size_t i = 0; i < volume; i++) {
        const double allowed =
            200 * kit_epsilon[prec] * scale + 1.001 * kit_step[prec] * kit_largest(want + 12 * i, 24);
        const double d = kit_distance(have + 12 * i, want + 12 * i, 24) / allowed;
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

/* All forms with the fields given; one parity of the output. */
static void check_forms(field *in, field *add, const field *links, const field *clover, const double complex *u,
                        parity p, int sign, double space, struct ref_lattice l)
{
    const size_t v = ref_volume(l);
    double complex *scaled = kit_copy(u, 36 * v * sizeof *scaled);
    for (size_t i = 0; i < 36 * v; i++) scaled[i] *= i / 9 % 4 == 3 ? 1 : space;
    double *clover_array = kit_gather(clover), *add_array = kit_gather(add), *in_array = kit_gather(in);
    expectation e = {.l = l, .clover = clover_array};
    /* The ranks take turns with the oracle. */
    static int turn;
    int mine[RHS];
    for (int r = 0; r < in->groups; r++) {
        mine[r] = turn++ % comm_size() == comm_rank();
        if (!mine[r]) continue;
        double complex *psi = kit_rhs(in, in_array, r);
        e.add[r] = kit_rhs(add, add_array, r);
        e.hop[r] = ref_spinor_new(l);
        kit_only(psi, l, !p);
        ref_hop(e.hop[r], psi, l, scaled, in->lat->time_sign, sign < 0);
        kit_only(e.hop[r], l, p);
        kit_only(e.add[r], l, p);
        free(psi);
    }
    double complex *want = ref_spinor_new(l);
    for (int form = HOP_PLAIN; form <= HOP_ADD_CLOVER; form++) {
        const wilson_hop_call call = {.form = (hop_form)form,
                                      .a = -0.75,
                                      .b = 1.25,
                                      .space = space,
                                      .sign = sign,
                                      .links = links,
                                      .clover = clover,
                                      .add = add};
        field *out = field_like(add);
        /* out may be what is added */
        const int in_place = form == HOP_ADD || form == HOP_ADD_CLOVER;
        if (in_place) field_copy(out, add);
        wilson_hop_call c = call;
        if (in_place) c.add = out;
        wilson_hop(out, p, in, &c);
        double *out_array = kit_gather(out);
        for (int r = 0; r < in->groups; r++) {
            if (!mine[r]) continue;
            double complex *have = kit_rhs(out, out_array, r);
            kit_only(have, l, p);
            expected(want, &e, r, &call);
            KIT_SAY(CHECK_NEAR(excess(have, want, v, in->prec, kit_largest(want, 24 * v)), 0, 1));
            free(have);
        }
        free(out_array);
        field_destroy(out);
    }
    for (int r = 0; r < in->groups; r++) {
        if (!mine[r]) continue;
        free(e.add[r]);
        free(e.hop[r]);
    }
    free(want);
    free(scaled);
    free(in_array);
    free(add_array);
    free(clover_array);
}

static void check_lattice(struct ref_lattice l, int k, int time_sign)
{
    lattice *lat = kit_lattice(l, 1, time_sign);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 21 + (unsigned)k);
    const size_t v = ref_volume(l);
    double complex *u = kit_random_gauge(l, 0, &rng);
    double *numbers = kit_normals(v * 24 * RHS, &rng), *more = kit_normals(v * 24 * RHS, &rng);
    double *hermitian = kit_normals(v * 72, &rng);
    field *links = kit_links(lat, u), *clover = kit_field(lat, FIELD_CLOVER, PREC_DOUBLE, PARITY_BOTH, 1, hermitian);
    for (int prec = 0; prec < PREC_COUNT; prec++)
        for (int reals = 18; reals >= 12; reals -= 6) {
            if (k >= 3 && (prec + reals / 6) % 2 == 0) continue; /* large shapes: every other combination */
            field *low_links = kit_convert(links, reals == 18 ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, (precision)prec);
            field *low_clover = kit_convert(clover, FIELD_CLOVER, (precision)prec);
            double complex *stored = (double complex *)kit_gather(low_links);
            double complex *seen = reals == 18 ? kit_copy(stored, v * 36 * sizeof *seen) : three_rows(stored, 4 * v);
            for (int p = 0; p < 2; p++)
                for (int sign = -1; sign < 2; sign += 2) {
                    const int nrhs = p == (sign > 0) ? 1 : RHS, halves = sign > 0;
                    field *in = kit_field(lat, FIELD_SPINOR, (precision)prec, halves ? kit_other[p] : PARITY_BOTH, nrhs,
                                          numbers);
                    field *add =
                        kit_field(lat, FIELD_SPINOR, (precision)prec, halves ? (parity)p : PARITY_BOTH, nrhs, more);
                    kit_where("shape %d, %s, time sign %d, %d reals a link, parity %d, sign %d, %d right-hand sides", k,
                              kit_prec[prec], time_sign, reals, p, sign, nrhs);
                    check_forms(in, add, low_links, low_clover, seen, (parity)p, sign, nrhs == 1 ? 0.37 : 1, l);
                    field_destroy(in);
                    field_destroy(add);
                }
            free(seen);
            free(stored);
            field_destroy(low_links);
            field_destroy(low_clover);
        }
    field_destroy(links);
    field_destroy(clover);
    free(hermitian);
    free(more);
    free(numbers);
    free(u);
    lattice_destroy(lat);
}

/* Storage: numbers come back from a field within one rounding, groups scaled by themselves. */
static void test_storage(void)
{
    static const double rounding[PREC_COUNT] = {0, 0x1p-24, 0.5 / 32767, 0.5 / 127};
    for (int k = 0; k < 3; k++)
        for (int prec = 0; prec < PREC_COUNT; prec++) {
            lattice *lat = kit_lattice(kit_shapes[k], 1, 1);
            if (!lat) continue;
            struct ref_rng rng;
            ref_rng_seed(&rng, 29);
            const size_t sites = (size_t)lat->volume * RHS;
            double *numbers = kit_normals(sites * 24, &rng);
            for (size_t i = 0; i < sites * 24; i++) numbers[i] *= pow(10, 6 * (double)(i / 24 % 5) - 12);
            field *f = kit_field(lat, FIELD_SPINOR, (precision)prec, PARITY_BOTH, RHS, numbers);
            double *back = kit_gather(f), worst = 0;
            for (size_t i = 0; i < sites; i++)
                worst =
                    fmax(worst, kit_distance(back + 24 * i, numbers + 24 * i, 24) / kit_largest(numbers + 24 * i, 24));
            kit_where("shape %d, %s", k, kit_prec[prec]);
            KIT_NEAR(worst, 0, rounding[prec] * 1.0001 + (prec >= PREC_HALF ? 0x1p-22 : 0));
            KIT_CHECK(prec == PREC_DOUBLE || worst > 0.5 * rounding[prec]);
            /* The fast code reads the same numbers: x + 0 in double is what was stored. */
            field *g = kit_convert(f, FIELD_SPINOR, PREC_DOUBLE);
            double *wide = kit_gather(g);
            KIT_NEAR(kit_distance(wide, back, sites * 24), 0, 0);
            vector_axpby(f, -2, f, 0);
            double *scaled = kit_gather(f);
            worst = 0;
            for (size_t i = 0; i < sites; i++)
                for (int c = 0; c < 24; c++)
                    worst =
                        fmax(worst, fabs(scaled[24 * i + c] + 2 * back[24 * i + c]) / kit_largest(back + 24 * i, 24));
            KIT_NEAR(worst, 0, 4 * kit_step[prec] + 4 * kit_epsilon[prec]);
            free(scaled);
            free(wide);
            free(back);
            free(numbers);
            field_destroy(f);
            field_destroy(g);
            lattice_destroy(lat);
        }
}

/* out = D in of all sites. */
static void hop_all(field *out, const field *in, const field *links, int sign)
{
    const wilson_hop_call call = {.form = HOP_PLAIN, .a = 1, .sign = sign, .links = links};
    wilson_hop(out, PARITY_EVEN, in, &call);
    wilson_hop(out, PARITY_ODD, in, &call);
}

static void test_adjoint(struct ref_lattice l, int time_sign)
{
    lattice *lat = kit_lattice(l, 1, time_sign);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 22);
    const size_t v = ref_volume(l), n = 24 * v;
    double complex *u = kit_random_gauge(l, 0, &rng);
    double *a = kit_normals(n, &rng), *b = kit_normals(n, &rng);
    field *links = kit_links(lat, u);
    for (int prec = 0; prec <= PREC_SINGLE; prec++) {
        field *low = kit_convert(links, FIELD_LINKS, (precision)prec);
        field *x = kit_field(lat, FIELD_SPINOR, (precision)prec, PARITY_BOTH, 1, a), *dx = field_like(x),
              *sum = field_like(x);
        field *y = kit_field(lat, FIELD_SPINOR, (precision)prec, PARITY_BOTH, 1, b), *dy = field_like(y);
        double one[2], two[2];
        hop_all(dx, x, low, -1);
        hop_all(dy, y, low, 1);
        vector_dot(one, x, dy, 0);
        vector_dot(two, dx, y, 0);
        const double size = sqrt(vector_norm2(x, 0) * vector_norm2(dy, 0)), eps = 50 * kit_epsilon[prec];
        kit_where("%s, time sign %d", kit_prec[prec], time_sign);
        KIT_NEAR(one[0], two[0], eps * size);
        KIT_NEAR(one[1], two[1], eps * size);
        KIT_CHECK(fabs(one[1]) > 1e3 * eps * size / sqrt((double)n));
        /* linear */
        hop_all(dx, x, low, 1);
        vector_copy(sum, x);
        vector_axpby(sum, 0.375, y, -2.5);
        vector_axpby(dx, 0.375, dy, -2.5);
        hop_all(dy, sum, low, 1);
        const double norm2 = vector_norm2(dy, 0);
        KIT_NEAR(sqrt(vector_axpy_norm2(dx, -1, dy, 0) / norm2), 0, eps);
        field_destroy(low);
        field_destroy(x);
        field_destroy(dx);
        field_destroy(sum);
        field_destroy(y);
        field_destroy(dy);
    }
    field_destroy(links);
    free(b);
    free(a);
    free(u);
    lattice_destroy(lat);
}

/* D of rotated links on a rotated spinor is the rotated D. */
static void test_covariance(struct ref_lattice l)
{
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 23);
    const size_t v = ref_volume(l);
    double complex *u = kit_random_gauge(l, 0, &rng), *psi = ref_spinor_new(l), *g = kit_alloc(9 * v, sizeof *g);
    ref_random_spinor(psi, 12 * v, &rng);
    ref_random_rotation(g, l, &rng);
    field *links = kit_links(lat, u), *x = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, psi),
          *y = field_like(x);
    hop_all(y, x, links, 1);
    double complex *plain = kit_spinor(y, 0);
    ref_rotate_gauge(u, l, g);
    ref_rotate_spinor(psi, l, g);
    ref_rotate_spinor(plain, l, g);
    kit_scatter(links, u);
    kit_scatter(x, psi);
    hop_all(y, x, links, 1);
    double complex *rotated = kit_spinor(y, 0);
    kit_where("gauge rotation");
    KIT_NEAR(kit_distance(rotated, plain, 24 * v), 0, 1e-13);
    free(rotated);
    free(plain);
    free(g);
    free(psi);
    free(u);
    field_destroy(links);
    field_destroy(x);
    field_destroy(y);
    lattice_destroy(lat);
}

/* Slices of a fifth dimension do not see each other: the hop of each is that of a field of its own. */
static void test_slices(struct ref_lattice l)
{
    enum { NRHS = 2, LS = 3 };
    lattice *lat = kit_lattice(l, 1, -1);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 25);
    const size_t v = ref_volume(l);
    const size_t n = NRHS * LS;
    double complex *u = kit_random_gauge(l, 0, &rng), *all_psi = kit_alloc(12 * n * v, sizeof *u),
                   *psi = ref_spinor_new(l);
    ref_random_spinor(all_psi, 12 * n * v, &rng);
    field *links = kit_links(lat, u);
    field_shape shape = field_shape_of_kind(FIELD_SPINOR, NRHS);
    shape.Ls = LS;
    field *x = field_create_shape(lat, &shape, PREC_DOUBLE, PARITY_BOTH, kit_place), *y = field_like(x);
    CHECK_INT(y->Ls, LS);
    CHECK_INT(y->nrhs, NRHS);
    kit_scatter(x, all_psi);
    hop_all(y, x, links, 1);
    field *one = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, NULL), *out = field_like(one);
    for (int g = 0; g < NRHS * LS; g++) {
        for (size_t i = 0; i < v; i++) memcpy(psi + 12 * i, all_psi + 12 * (n * i + (size_t)g), 12 * sizeof *psi);
        kit_scatter(one, psi);
        hop_all(out, one, links, 1);
        double complex *want = kit_spinor(out, 0), *have = kit_spinor(y, g);
        kit_where("slice %d of right-hand side %d", g % LS, g / LS);
        KIT_NEAR(kit_distance(have, want, 24 * v), 0, 0);
        free(want);
        free(have);
    }
    free(psi);
    free(all_psi);
    free(u);
    field *all[] = {links, x, y, one, out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) field_destroy(all[i]);
    lattice_destroy(lat);
}

/* Free plane waves: D = 2 (4 + m - M), and M of a wave is the wave times the matrix of the free dispersion. */
static void test_waves(struct ref_lattice l, int time_sign)
{
    static const int modes[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 2}, {1, 2, 3, 1}, {0, 0, 1, 3}};
    lattice *lat = kit_lattice(l, 1, time_sign);
    if (!lat) return;
    struct ref_rng rng;
    ref_rng_seed(&rng, 24);
    const size_t v = ref_volume(l);
    double complex *u = ref_gauge_new(l), *psi = ref_spinor_new(l), *want = ref_spinor_new(l);
    ref_unit_gauge(u, l);
    field *links = kit_links(lat, u), *x = kit_field(lat, FIELD_SPINOR, PREC_DOUBLE, PARITY_BOTH, 1, NULL),
          *y = field_like(x);
    for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++) {
        double complex chi[12], moved[12] = {0}, d[4][4];
        double p[4];
        ref_random_spinor(chi, 12, &rng);
        ref_momentum(p, l, modes[k], time_sign);
        ref_free_operator(d, p, 0);
        for (int a = 0; a < 4; a++)
            for (int c = 0; c < 3; c++) {
                moved[3 * a + c] = 8 * chi[3 * a + c];
                for (int b = 0; b < 4; b++) moved[3 * a + c] -= 2 * d[a][b] * chi[3 * b + c];
            }
        ref_plane_wave(psi, l, p, chi);
        ref_plane_wave(want, l, p, moved);
        kit_scatter(x, psi);
        hop_all(y, x, links, 1);
        double complex *have = kit_spinor(y, 0);
        kit_where("momentum %zu, time sign %d", k, time_sign);
        KIT_NEAR(kit_distance(have, want, 24 * v), 0, 1e-13);
        free(have);
    }
    free(want);
    free(psi);
    free(u);
    field_destroy(links);
    field_destroy(x);
    field_destroy(y);
    lattice_destroy(lat);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_storage();
    for (int k = 0; k < KIT_SHAPES; k++) {
        check_lattice(kit_shapes[k], k, k % 2 ? 1 : -1);
        if (k < 3) check_lattice(kit_shapes[k], k, k % 2 ? -1 : 1);
        test_adjoint(kit_shapes[k], k % 2 ? -1 : 1);
        test_covariance(kit_shapes[k]);
        test_slices(kit_shapes[k]);
        test_waves(kit_shapes[k], k % 2 ? -1 : 1);
    }
    return kit_end();
}
