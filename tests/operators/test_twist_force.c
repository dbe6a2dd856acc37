/* Forces of quarks with twisted boundary conditions, of several angles in one sum where they share, are derivatives with the
 * order of the difference, in the exact one-flavour algorithm too; angles of zero are no twist, and quarks share links where these
 * are the same; process grids and lanes leave no trace. All of it with open ends in time, too. */
#include "tests/operators/twist.h"

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
    lattice *lat = lattice_of(k, -1);
    if (lat) check_forces(k, lat);
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
