/* Ensembles: many trajectories of one input, their plaquette and <exp(-dH)>, which is 1 (M. Creutz, Phys. Rev. D 38
 * (1988) 1228) and fails to be where heat bath, force and accept step are not of one action. Seeds are fixed, so these
 * tests give the same numbers every time; a test's last argument is another seed. */
#ifndef PLAQ_TESTS_ENSEMBLES_H
#define PLAQ_TESTS_ENSEMBLES_H

#include <stdlib.h>

#include "tests/hmc/bench.h"

typedef struct {
    const char *name, *text; /* of an input file; what ensembles have in common may stand in front of it */
    double plaquette, error;
    int again; /* some trajectories leave the range of their rational functions and are begun again */
} ensemble;

/* Links at the end of an ensemble, where those that are to be like it begin: time slices of one rank. */
typedef struct {
    double *slices;
} thermal_links;

/* From f, or into it. */
CHECK_UNUSED static void thermal_move(thermal_links *t, field *f, int in)
{
    const size_t length = (size_t)(f->lat->volume / f->lat->size[3] * f->groups * f->reals);
    REQUIRE(comm_size() == 1, "%d ranks", comm_size());
    if (!t->slices) t->slices = calloc((size_t)f->lat->size[3] * length, sizeof *t->slices);
    REQUIRE(t->slices, "out of memory");
    for (int s = 0; s < f->lat->size[3]; s++) {
        if (in) field_import(f, s, t->slices + (size_t)s * length);
        else field_export(f, s, t->slices + (size_t)s * length);
    }
    if (in) field_written(f);
}

/* `count` trajectories after `warmup` ones, of which the first half is accepted whatever dH. An ensemble that begins on
 * thermal links forgets them in a fifth of the warmup; the first leaves them in *t. Without t it begins on rough links. */
CHECK_UNUSED static void generate(ensemble *e, const char *common, thermal_links *t, int warmup, int count,
                                  const char *seed)
{
    const double begun = comm_wtime();
    char text[4096], run_seed[64];
    const char *const overrides[] = {run_seed};
    double plaquette[count], weight[count], w_error;
    REQUIRE(snprintf(text, sizeof text, "%s%s", common, e->text) < (int)sizeof text, "%s: the text is long", e->name);
    snprintf(run_seed, sizeof run_seed, "run.seed=%s", seed);
    bench b = open_bench(text, 1, overrides);
    const int first = t && !t->slices;
    if (t && !first) {
        thermal_move(t, b.s->links, 1);
        warmup /= 5;
    }
    int accepted = 0, failed = 0, repeated = 0;
    long solves = 0, fallbacks = 0;
    for (int i = 0; i < warmup + count && !failed; i++) {
        const random_key key = {(uint64_t)b.p->run.seed, (uint32_t)i + 1};
        const trajectory_result r = trajectory_run(&b.s->e, key, 1, i < warmup / 2);
        failed = r.status != EVOLVE_DONE;
        if (failed) printf("%s: %s\n", e->name, r.trouble);
        repeated += r.attempts - 1;
        for (int k = 0; k < b.s->e.nactions; k++) {
            solves += b.s->e.actions[k]->solves;
            fallbacks += b.s->e.actions[k]->repeats;
        }
        if (i < warmup) continue;
        plaquette[i - warmup] = gauge_measure(b.s->links, 0).plaquette;
        weight[i - warmup] = exp(-r.dh);
        accepted += r.accepted;
    }
    CHECK(!failed);
    if (failed) {
        close_bench(&b);
        return;
    }
    if (first) thermal_move(t, b.s->links, 0);
    e->plaquette = mean(plaquette, count, &e->error);
    const double one = mean(weight, count, &w_error);
    printf("%-24s plaquette %.6f +- %.6f  <exp(-dH)> %.4f +- %.4f  acceptance %.3f over %d, %d begun again, %ld of "
           "%ld solves by a fallback; %.0f s\n",
           e->name, e->plaquette, e->error, one, w_error, (double)accepted / count, count, repeated, fallbacks, solves,
           comm_wtime() - begun);
    fflush(stdout);
    CHECK_NEAR(one, 1, 4 * w_error);
    /* A step that conserves H to all digits would prove nothing, and an error this large nothing either. */
    CHECK(w_error > 1e-5 && w_error < 0.1);
    CHECK(accepted > count / 2);
    /* The solver that is named has done the work. */
    CHECK(fallbacks <= solves / 1000);
    CHECK(e->again ? repeated > count / 50 && repeated < count : repeated == 0);
    close_bench(&b);
}

/* The weighted mean of the plaquettes of n ensembles that are alike, and its error: each is near the mean of all. */
CHECK_UNUSED static double check_alike(const ensemble *e, int n, double *error)
{
    double sum = 0, weights = 0, chi2 = 0;
    for (int i = 0; i < n; i++) {
        const double w = 1 / (e[i].error * e[i].error);
        sum += w * e[i].plaquette;
        weights += w;
    }
    const double all = sum / weights;
    for (int i = 0; i < n; i++) {
        /* The mean has this one in it. */
        CHECK_NEAR(e[i].plaquette, all, 4 * sqrt(e[i].error * e[i].error - 1 / weights));
        chi2 += pow((e[i].plaquette - all) / e[i].error, 2);
    }
    *error = 1 / sqrt(weights);
    printf("mean %.6f +- %.6f, chi^2 %.2f of %d\n", all, *error, chi2, n - 1);
    /* Errors from 20 blocks are known to some 16%; for few ensembles and for many this is some one in a thousand. */
    CHECK(chi2 < 10 + 2 * (n - 1));
    return all;
}

#endif
