/* The static potential of Wilson loops: exact loops of V_0 + sigma r - e / r give back its numbers and r_0; errors are those of the
 * jackknife made anew here, with the fit by another way of solving it. */
#include <math.h>
#include <stdlib.h>

#include "hmc/report/potential.h"
#include "tests/check.h"

enum { CONFIGS = 6, HEIGHTS = 4, DISTANCES = 5 };

static const double distance[DISTANCES] = {2, 1, 3, 1.41421356237, 2.2360679775};

static double potential_at(double r, const double v[3])
{
    return v[0] + v[1] * r - v[2] / r;
}

/* Loops of heights from 1 on, whose configurations differ in the parameters of the potential by `spread`. */
static correlators loops_of(const double v[3], double spread)
{
    correlators c = {.n = DISTANCES + 1, .all = calloc(DISTANCES + 1, sizeof(correlator))};
    CHECK(c.all != NULL);
    for (int i = 0; i < c.n; i++) {
        correlator *of = &c.all[i];
        *of = (correlator){.T = HEIGHTS, .first = 1, .n = CONFIGS, .values = calloc(CONFIGS * HEIGHTS, sizeof(double))};
        snprintf(of->table, sizeof of->table, "loops");
        snprintf(of->column, sizeof of->column, "loop");
        /* The last is of loops in space, which belong to no potential. */
        snprintf(of->labels, sizeof of->labels, "lattice = 8.8.8.8 temporal = %d x = 1 y = 0 z = 0 r = %.12g",
                 i < DISTANCES, i < DISTANCES ? distance[i] : 1);
        for (int k = 0; k < CONFIGS; k++)
            for (int t = 1; t <= HEIGHTS; t++) {
                const double w[3] = {v[0] + spread * (k % 3), v[1] + 0.3 * spread * (k % 2), v[2] + 0.2 * spread * k};
                of->values[k * HEIGHTS + t - 1] = exp(-potential_at(distance[i % DISTANCES], w) * t);
            }
    }
    return c;
}

static void test_exact(void)
{
    const double v[3] = {0.6, 0.05, 0.28};
    correlators c = loops_of(v, 0);
    char message[512] = "";
    potential p;
    CHECK_INT(potential_of(&p, &c, 0, 2, 1, 0, INFINITY, message, sizeof message), 0);
    CHECK_INT(p.n, DISTANCES);
    CHECK_INT(p.used, DISTANCES);
    CHECK_INT(p.blocks, CONFIGS);
    for (int i = 0; i < p.n; i++) {
        CHECK(i == 0 || p.r[i] > p.r[i - 1]);
        CHECK_NEAR(p.value[i], potential_at(p.r[i], v), 1e-13);
        CHECK_NEAR(p.error[i], 0, 1e-13);
    }
    for (int k = 0; k < 3; k++) CHECK_NEAR(p.fit[k], v[k], 1e-9);
    CHECK_NEAR(p.fit[POTENTIAL_R0], sqrt((1.65 - v[2]) / v[1]), 1e-7);
    CHECK_NEAR(p.fit[POTENTIAL_R1], sqrt((1 - v[2]) / v[1]), 1e-7);
    CHECK(!strcmp(p.lattice, "lattice = 8.8.8.8"));
    potential_free(&p);
    /* Two distances determine no three numbers. */
    CHECK_INT(potential_of(&p, &c, 0, 1, 1, 1.5, 2.1, message, sizeof message), 0);
    CHECK_INT(p.used, 1);
    CHECK(isnan(p.fit[POTENTIAL_SIGMA]) && isnan(p.fit[POTENTIAL_R0]));
    potential_free(&p);
    CHECK(potential_of(&p, &c, 0, 4, 1, 0, INFINITY, message, sizeof message) != 0);
    CHECK_HAS(message, "--potential 4 needs loops of heights 4 and 5, and measure/loops has 1 to 4");
    potential_free(&p);
    CHECK(!potential_is_loop(&c.all[DISTANCES]) && potential_same(&c.all[0], &c.all[1]));
    correlators_free(&c);
}

/* V at one distance without the block b; all blocks where b < 0. */
static double value_without(const correlator *c, int t, int b)
{
    double now = 0, next = 0;
    for (int k = 0; k < CONFIGS; k++) {
        if (k / 2 == b) continue;
        now += c->values[k * HEIGHTS + t - 1];
        next += c->values[k * HEIGHTS + t];
    }
    return log(now / next);
}

static double spread_of(const double *x, int n)
{
    double mean = 0, square = 0;
    for (int b = 0; b < n; b++) mean += x[b] / n;
    for (int b = 0; b < n; b++) square += (x[b] - mean) * (x[b] - mean);
    return sqrt(square * (n - 1) / n);
}

/* The fit to three distances goes through them: by Cramer's rule. */
static void through(double fit[3], const double r[3], const double v[3])
{
    const double a[3][3] = {{1, r[0], -1 / r[0]}, {1, r[1], -1 / r[1]}, {1, r[2], -1 / r[2]}};
    double det[4];
    for (int k = 0; k < 4; k++) {
        double m[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) m[i][j] = j == k ? v[i] : a[i][j];
        det[k] = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                 m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    }
    for (int k = 0; k < 3; k++) fit[k] = det[k] / det[3];
}

static void test_errors(void)
{
    enum { BLOCKS = CONFIGS / 2, T = 1 };
    const double v[3] = {0.5, 0.08, 0.25};
    correlators c = loops_of(v, 0.01);
    const int order[3] = {1, 0, 2}; /* distances 1, 2, 3 */
    char message[512] = "";
    double sample[3][BLOCKS], r0[BLOCKS], sigma[BLOCKS];
    potential p;
    for (int b = 0; b < BLOCKS; b++) {
        double fit[3], value[3];
        for (int i = 0; i < 3; i++) value[i] = sample[i][b] = value_without(&c.all[order[i]], T, b);
        through(fit, (const double[]){1, 2, 3}, value);
        sigma[b] = fit[1];
        r0[b] = sqrt((1.65 - fit[2]) / fit[1]);
    }
    /* Of the five distances those of integers alone. */
    correlators three = {.n = 3, .all = (correlator[]){c.all[0], c.all[1], c.all[2]}};
    CHECK_INT(potential_of(&p, &three, 0, T, 2, 0, INFINITY, message, sizeof message), 0);
    CHECK_INT(p.blocks, BLOCKS);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(p.value[i], value_without(&c.all[order[i]], T, -1), 1e-13);
        CHECK_REL(p.error[i], spread_of(sample[i], BLOCKS), 1e-9);
    }
    CHECK_REL(p.fit_error[POTENTIAL_SIGMA], spread_of(sigma, BLOCKS), 1e-6);
    CHECK_REL(p.fit_error[POTENTIAL_R0], spread_of(r0, BLOCKS), 1e-6);
    CHECK(p.fit_error[POTENTIAL_SIGMA] > 1e-5);
    potential_free(&p);
    correlators_free(&c);
}

int main(void)
{
    test_exact();
    test_errors();
    return CHECK_SUMMARY();
}
