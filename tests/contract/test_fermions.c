/* Every kind of fermion keeps the promises of operators/fermion.h, on one and several ranks.
 *
 * Kinds come from their registry, and each is tried with the keys that it has: a new kind needs no new test. M and the
 * systems are linear and gauge covariant; M^dagger is the adjoint of M; the normal operator is Hermitian and positive,
 * and the square of the direct one; either system leads to the solution of M x = b; the systems agree over precisions;
 * forces and the derivative of log det are derivatives, and gauge covariant; all follows links that change. */
#include "tests/contract/quarks.h"
#include "tests/solve.h"

#include "solvers/bicgstab.h"

static const struct ref_lattice shape = {{8, 4, 4, 8}};

typedef struct {
    lattice *lat;
    field *links;
    double complex *u;
    fermion *f;
    struct ref_rng rng;
} scene;

/* ---- vectors ---- */

/* A vector of physical fields, or of the systems, with random numbers; the first are always of another one. */
static field *random_whole(scene *s)
{
    field *x = fermion_vector(s->f);
    double *a = kit_normals(kit_reals(x), &s->rng);
    kit_scatter(x, a);
    free(a);
    return x;
}

static field *random_half(scene *s)
{
    field *x = linop_vector(s->f->normal, 1);
    double *a = kit_normals(kit_reals(x), &s->rng);
    kit_scatter(x, a);
    free(a);
    return x;
}

static double distance(const field *x, const field *y)
{
    field *d = field_like(x);
    vector_copy(d, x);
    vector_axpby(d, -1, y, 1);
    const double r = sqrt(vector_norm2(d, 0) / vector_norm2(y, 0));
    field_destroy(d);
    return r;
}

/* |(z, A x) - (A^dagger z, x)| over |z| |A x| */
static double adjoint_differs(const field *z, const field *ax, const field *az, const field *x)
{
    double a[2], b[2];
    vector_dot(a, z, ax, 0);
    vector_dot(b, az, x, 0);
    return hypot(a[0] - b[0], a[1] - b[1]) / sqrt(vector_norm2(z, 0) * vector_norm2(ax, 0));
}

/* ---- operators ---- */

static void check_whole(scene *s)
{
    field *x = random_whole(s), *y = random_whole(s), *ax = field_like(x), *ay = field_like(x), *z = field_like(x);
    fermion_apply(s->f, ax, x, 0);
    fermion_apply(s->f, ay, y, 1);
    KIT_NEAR(adjoint_differs(y, ax, ay, x), 0, 1e-14);
    fermion_apply(s->f, ay, y, 0);
    vector_axpby(y, 0.7, x, -0.4);
    fermion_apply(s->f, z, y, 0);
    vector_axpby(ay, 0.7, ax, -0.4);
    KIT_NEAR(distance(z, ay), 0, 1e-14);
    field *all[] = {x, y, ax, ay, z};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
}

static void check_systems(scene *s)
{
    linop *const op[2] = {s->f->normal, s->f->direct};
    field *x = random_half(s), *y = random_half(s), *ax = field_like(x), *ay = field_like(x), *z = field_like(x);
    double d[2];
    for (int i = 0; i < 2; i++) {
        if (!op[i]) continue;
        linop_refresh(op[i]);
        linop_apply(op[i], ax, x, 0);
        linop_apply(op[i], ay, y, 1);
        KIT_NEAR(adjoint_differs(y, ax, ay, x), 0, 1e-14);
        for (int prec = PREC_SINGLE; prec < PREC_COUNT; prec++) {
            linop *low = linop_at(op[i], (precision)prec, op[i]->where);
            field *lx = linop_vector(low, 1), *ly = linop_vector(low, 1);
            linop_refresh(low);
            vector_copy(lx, x);
            linop_apply(low, ly, lx, 0);
            vector_copy(z, ly);
            KIT_NEAR(distance(z, ax), 0, prec == PREC_SINGLE ? 1e-6 : prec == PREC_HALF ? 1e-3 : 0.1);
            field_destroy(ly);
            field_destroy(lx);
        }
    }
    linop_apply(op[0], ax, x, 0);
    vector_dot(d, x, ax, 0);
    KIT_CHECK(d[0] > s->f->bound * vector_norm2(x, 0) && fabs(d[1]) < 1e-13 * d[0]);
    if (op[1]) {
        linop_apply(op[1], ay, x, 0);
        linop_apply(op[1], z, ay, 1);
        KIT_NEAR(distance(z, ax), 0, 1e-14);
    }
    field *all[] = {x, y, ax, ay, z};
    for (int i = 0; i < 5; i++) field_destroy(all[i]);
}

/* Both systems lead to the solution of M x = b, on both sides. */
static void check_solution(scene *s, const solver_settings *positive)
{
    field *b = random_whole(s), *x = field_like(b), *work = field_like(b), *first = field_like(b);
    field *rhs = random_half(s), *half = field_like(rhs);
    solver_settings general = *positive;
    general.type = param_kind(solver_section(0), "bicgstab");
    bicgstab_keys_of(&general)->l = 2;
    for (int i = 0; i < 2; i++) {
        const int may_fail = i == 1 && fermion_has_walls(s->f);
        if (may_fail) general.max_iterations = 400;
        fermion_prepare(s->f, rhs, b, i == 0);
        field_clear(half);
        const solve_result r = solve_by(i ? &general : positive, fermion_system(s->f, i == 0), half, rhs);
        /* The spectrum of a domain wall operator goes around zero, where this solver may fail, and says so. */
        if (may_fail && r.status != SOLVE_CONVERGED) continue;
        KIT_INT(r.status, SOLVE_CONVERGED);
        fermion_reconstruct(s->f, x, half, b);
        KIT_CHECK(fermion_residual(s->f, work, x, b) < 1e-8);
        if (i == 0) vector_copy(first, x);
    }
    KIT_NEAR(distance(x, first), 0, 1e-8);
    field *all[] = {b, x, work, first, rhs, half};
    for (int i = 0; i < 6; i++) field_destroy(all[i]);
}

/* ---- forces ---- */

/* S of the links, for fixed vectors: weight x^dagger K x, whose derivative is that of -weight phi^dagger K^-1 phi with
 * x = K^-1 phi held; or -log det. */
typedef struct {
    scene *s;
    const field *x, *y;
    enum { OF_SYSTEM, OF_VARIATION, OF_LOG_DET } term;
} form;

static double form_value(const double complex *u, void *of)
{
    const form *q = of;
    fermion *f = q->s->f;
    double d[2], negatives;
    kit_scatter(q->s->links, u);
    if (q->term == OF_LOG_DET) return -fermion_log_det(f, &negatives);
    linop *op = q->term == OF_SYSTEM ? f->normal : f->direct;
    field *ax = field_like(q->x);
    linop_refresh(op);
    linop_apply(op, ax, q->x, 0);
    vector_dot(d, q->y, ax, 0);
    field_destroy(ax);
    return q->term == OF_SYSTEM ? -d[0] : -2 * d[0];
}

static double *form_force(const form *q)
{
    static const double one = 1;
    fermion *f = q->s->f;
    field *force = field_create(q->s->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, q->s->links->where);
    field *x = (field *)q->x;
    void *sum = fermion_open_force(f, force);
    if (q->term == OF_SYSTEM) fermion_add_force(sum, f, 1, &one, &x);
    else if (q->term == OF_VARIATION) fermion_add_variation(sum, f, 1, x, q->y);
    else fermion_add_force_log_det(sum, f, 1);
    fermion_close_force(f, sum);
    double *all = kit_gather(force);
    field_destroy(force);
    return all;
}

static void check_force(scene *s, const form *q)
{
    const size_t links = 4 * (size_t)s->lat->volume;
    double *p = kit_normals(8 * links, &s->rng), error;
    double *f = form_force(q);
    const double along = kit_along(f, p, links),
                 slope = kit_derivative_along(&error, s->u, p, 2e-3, links, form_value, (void *)q);
    KIT_NEAR(along, slope, error + 1e-9 * fabs(slope));
    KIT_CHECK(error < 1e-5 * fabs(slope));
    kit_scatter(s->links, s->u);
    free(f);
    free(p);
}

/* ---- gauge covariance ---- */

static void rotate(field *x, const double complex *g)
{
    double complex *a = (double complex *)kit_gather(x);
    const size_t colours = (size_t)(x->groups * x->reals) / 6;
    for (size_t i = 0; i < (size_t)x->lat->volume * colours; i++) {
        double complex v[3] = {0};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) v[r] += g[9 * (i / colours) + 3 * r + c] * a[3 * i + c];
        memcpy(a + 3 * i, v, sizeof v);
    }
    kit_scatter(x, a);
    free(a);
}

static void check_covariance(scene *s)
{
    const size_t volume = (size_t)s->lat->volume;
    double complex *g = kit_alloc(9 * volume, sizeof *g), *turned = kit_copy(s->u, 36 * volume * sizeof *turned);
    ref_random_rotation(g, shape, &s->rng);
    field *x = random_whole(s), *y = field_like(x), *z = field_like(x), *h = random_half(s);
    const form q = {s, h, h, OF_SYSTEM};
    fermion_apply(s->f, y, x, 0);
    const int forces = s->f->table->open_force && !(s->f->map && !s->f->map->type->pull_back);
    double *before = forces ? form_force(&q) : NULL;
    ref_rotate_gauge(turned, shape, g);
    kit_scatter(s->links, turned);
    rotate(x, g);
    rotate(y, g);
    rotate(h, g);
    fermion_apply(s->f, z, x, 0);
    KIT_NEAR(distance(z, y), 0, 1e-13);
    double *after = forces ? form_force(&q) : NULL;
    if (forces)
        KIT_NEAR(kit_turned_distance(after, before, g, 4 * volume) / kit_largest(before, 32 * volume), 0, 1e-11);
    kit_scatter(s->links, s->u);
    field *all[] = {x, y, z, h};
    for (int i = 0; i < 4; i++) field_destroy(all[i]);
    free(after);
    free(before);
    free(turned);
    free(g);
}

/* ---- all of them ---- */

static void check_forces(scene *s)
{
    if (!s->f->table->open_force || (s->f->map && !s->f->map->type->pull_back)) return;
    field *x = random_half(s), *y = random_half(s);
    check_force(s, &(form){s, x, x, OF_SYSTEM});
    if (s->f->table->add_variation) check_force(s, &(form){s, x, y, OF_VARIATION});
    if (fermion_has_log_det(s->f)) check_force(s, &(form){s, x, y, OF_LOG_DET});
    field_destroy(y);
    field_destroy(x);
}

static void check_kind(const quark_kind *kind, const char *keys)
{
    scene s = {0};
    kit_where("%s, %s", kind->name, keys);
    parameters *p = quark_parameters(kind->name, keys, "");
    s.lat = kit_lattice(shape, simulation_reach(p), -1);
    if (s.lat) {
        ref_rng_seed(&s.rng, 81);
        s.u = kit_random_gauge(shape, 0.4, &s.rng);
        s.links = kit_links(s.lat, s.u);
        s.f = kind->make(s.links, &p->quarks[0].p, NULL, 0);
        check_whole(&s);
        check_systems(&s);
        check_solution(&s, &p->solvers[0].p);
        check_covariance(&s);
        check_forces(&s);
        check_whole(&s);
        fermion_destroy(s.f);
        field_destroy(s.links);
        free(s.u);
    }
    lattice_destroy(s.lat);
    parameters_free(p);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    KIT_CHECK(quarks_all(check_kind) > 0);
    return kit_end();
}
