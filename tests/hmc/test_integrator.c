/* Nested integration: the force of a level is evaluated once at the same links, which is the least possible; and the
 * trajectory is that of the nested schemes. */
#include <stdlib.h>
#include <string.h>

#include "hmc/integrate/integrator.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/vector.h"
#include "tests/begin.h"
#include "tests/check.h"
#include "tests/difference.h"

/* Stages of a scheme in its own words: k kicks, K kicks with a look ahead, d drifts. */
static const struct {
    const char *name, *stages;
    int order;
} known[] = {
    {"leapfrog", "kdk", 2}, {"omelyan2", "kdkdk", 2}, {"omelyan4", "kdkdkdkdkdk", 4}, {"force_gradient", "kdKdk", 4}};
enum { KNOWN = sizeof known / sizeof known[0] };

/* ---- the least possible ---- */

typedef struct {
    const char *stages[MAX_LEVELS];
    int steps[MAX_LEVELS], n;
    long drifts, forces[MAX_LEVELS], at[MAX_LEVELS]; /* at: drifts before the last kick of a level, or -1 */
} walk;

static void go(walk *w, int depth)
{
    if (depth == w->n || depth == MAX_LEVELS) {
        w->drifts++;
        return;
    }
    for (int i = 0; i < w->steps[depth]; i++)
        for (const char *s = w->stages[depth]; *s; s++) {
            if (*s == 'd') {
                go(w, depth + 1);
                continue;
            }
            /* At links that it has not seen; two evaluations where the second is at others. */
            if (w->at[depth] != w->drifts) w->forces[depth] += *s == 'K' ? 2 : 1;
            w->at[depth] = w->drifts;
        }
}

static walk least(const int *schemes, const int *steps, int n)
{
    walk w = {.n = n};
    for (int l = 0; l < n; l++) {
        w.stages[l] = known[schemes[l]].stages;
        w.steps[l] = steps[l];
        w.at[l] = -1;
    }
    go(&w, 0);
    return w;
}

static void fill_levels(level levels[MAX_LEVELS], const int *schemes, const int *steps, int n)
{
    for (int l = 0; l < n; l++)
        levels[l] =
            (level){.scheme = scheme_find(known[schemes[l]].name), .steps = steps[l], .nactions = 1, .actions = {l}};
}

static void check_forecast(const int *schemes, const int *steps, int n)
{
    level levels[MAX_LEVELS];
    double forces[MAX_LEVELS];
    const walk w = least(schemes, steps, n);
    fill_levels(levels, schemes, steps, n);
    levels_forces(levels, n, forces);
    for (int l = 0; l < n; l++) CHECK_NEAR(forces[l], (double)w.forces[l], 0);
}

/* ---- what is made ---- */

typedef struct {
    action a;
    gauge_weights weights;
    long count, repeated; /* evaluations, and those at the links of the one before */
    double *seen;
    size_t bytes;
} counter;

static int count_force(action *a, field *force)
{
    counter *c = (counter *)a;
    double *now = field_slice_buffer(c->a.links);
    const lattice *lat = c->a.links->lat;
    const size_t slice = 72 * (size_t)lat->local[0] * lat->local[1] * lat->local[2];
    int same = c->count > 0;
    for (int t = 0; t < lat->local[3]; t++) {
        field_export(c->a.links, t, now);
        same = same && !memcmp(c->seen + t * slice, now, slice * sizeof *now);
        memcpy(c->seen + t * slice, now, slice * sizeof *now);
    }
    free(now);
    c->count++;
    c->repeated += same;
    gauge_force(force, c->a.links, c->weights);
    return 0;
}

static const action_table counting = {.force = count_force};

typedef struct {
    lattice *lat;
    evolution e;
    counter counters[3];
    field *start, *momenta;
} scene;

/* Plaquettes, rectangles and more plaquettes, on a level each. */
static void open_scene(scene *s, const int size[4])
{
    const int any[4] = {0};
    const gauge_weights weights[3] = {gauge_weights_c1(0.7, 0), gauge_weights_c1(0.5, -0.331), gauge_weights_c1(4, 0)};
    *s = (scene){.lat = lattice_create(size, any, 2, -1)};
    evolution *e = &s->e;
    e->lat = s->lat;
    e->links = field_create(s->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    e->momenta = field_create(s->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    e->force = field_like(e->momenta);
    s->start = field_like(e->links);
    s->momenta = field_like(e->momenta);
    gauge_cold(s->start);
    momenta_random(s->momenta, 3, RANDOM_TEST, 0);
    gauge_update(s->start, 0.3, s->momenta);
    momenta_random(s->momenta, 3, RANDOM_TEST, 1);
    for (int l = 0; l < 3; l++) {
        counter *c = &s->counters[l];
        *c = (counter){.a = {.table = &counting, .links = e->links}, .weights = weights[l]};
        c->seen = malloc(72 * (size_t)s->lat->volume * sizeof(double));
        REQUIRE(c->seen, "no room for %ld sites", s->lat->volume);
        e->actions[e->nactions++] = &c->a;
    }
}

static void close_scene(scene *s)
{
    for (int l = 0; l < 3; l++) free(s->counters[l].seen);
    field_destroy(s->e.displaced);
    field_destroy(s->momenta);
    field_destroy(s->start);
    field_destroy(s->e.force);
    field_destroy(s->e.momenta);
    field_destroy(s->e.links);
    lattice_destroy(s->lat);
}

static void begin(scene *s, const int *schemes, const int *steps, int n)
{
    fill_levels(s->e.levels, schemes, steps, n);
    s->e.nlevels = n;
    field_copy(s->e.links, s->start);
    field_copy(s->e.momenta, s->momenta);
    for (int l = 0; l < 3; l++) s->counters[l].count = s->counters[l].repeated = 0;
}

static void check_counts(scene *s, const int *schemes, const int *steps, int n)
{
    const walk w = least(schemes, steps, n);
    begin(s, schemes, steps, n);
    CHECK_INT(evolve(&s->e, 0.1), EVOLVE_DONE);
    for (int l = 0; l < n; l++) {
        CHECK_INT(s->counters[l].count, w.forces[l]);
        CHECK_INT(s->counters[l].repeated, 0);
    }
}

/* Every scheme on every level, one to three of them, of 1 to 4 steps: the forecast of all; what is made of those of few
 * drifts. */
static void test_counts(scene *s)
{
    int schemes[3], steps[3], made = 0, all = 0;
    for (int n = 1, combinations = 16; n <= 3; n++, combinations *= 16)
        for (int i = 0; i < combinations; i++, all++) {
            for (int l = 0, rest = i; l < n; l++, rest /= 16) {
                schemes[l] = rest % 4;
                steps[l] = 1 + rest / 4 % 4;
            }
            check_forecast(schemes, steps, n);
            if (least(schemes, steps, n).drifts > 14) continue;
            check_counts(s, schemes, steps, n);
            made++;
        }
    printf("integrations: %d forecast, %d made\n", all, made);
    CHECK(made > 300);
}

/* An inner leapfrog of 1, 2 and 3 steps in ten drifts. */
static void test_example(scene *s)
{
    for (int inner = 1; inner <= 3; inner++) {
        begin(s, (const int[]){0, 0}, (const int[]){10, inner}, 2);
        CHECK_INT(evolve(&s->e, 0.1), EVOLVE_DONE);
        CHECK_INT(s->counters[1].count, 10 * inner + 1);
        CHECK_INT(s->counters[0].count, 11);
    }
}

/* ---- the trajectory ---- */

static void plain_kick(scene *s, int l, double dt)
{
    momenta_zero(s->e.force);
    gauge_force(s->e.force, s->e.links, s->counters[l].weights);
    momenta_add(s->e.momenta, -dt, s->e.force);
}

/* Leapfrog in leapfrog as it is written, every kick by itself. */
static void test_against_plain(scene *s)
{
    const int outer = 3, inner = 2;
    const double time = 0.3, h = time / outer, k = h / inner;
    begin(s, (const int[]){0, 0}, (const int[]){outer, inner}, 2);
    CHECK_INT(evolve(&s->e, time), EVOLVE_DONE);
    field *links = field_like(s->e.links), *momenta = field_like(s->e.momenta);
    field_copy(links, s->e.links);
    field_copy(momenta, s->e.momenta);
    field_copy(s->e.links, s->start);
    field_copy(s->e.momenta, s->momenta);
    for (int i = 0; i < outer; i++) {
        plain_kick(s, 0, h / 2);
        for (int j = 0; j < inner; j++) {
            plain_kick(s, 1, k / 2);
            gauge_update(s->e.links, k, s->e.momenta);
            plain_kick(s, 1, k / 2);
        }
        plain_kick(s, 0, h / 2);
    }
    CHECK_NEAR(largest_difference(links, s->e.links), 0, 1e-13);
    CHECK_NEAR(largest_difference(momenta, s->e.momenta), 0, 1e-12);
    CHECK(largest_difference(links, s->start) > 0.01);
    field_destroy(links);
    field_destroy(momenta);
}

/* How dH falls is for tests/contract/test_schemes.c to find; here that schemes say what they are known for. */
static void test_known(void)
{
    for (int i = 0; i < KNOWN; i++) CHECK_INT(scheme_order(scheme_find(known[i].name)), known[i].order);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    test_known();
    scene small, large;
    open_scene(&small, (const int[4]){2, 2, 2, 2});
    test_counts(&small);
    test_example(&small);
    close_scene(&small);
    open_scene(&large, (const int[4]){4, 4, 4, 4});
    test_against_plain(&large);
    close_scene(&large);
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
