/* A simulation made from the text of an input file, on rough links that are the same in every test. */
#ifndef PLAQ_TESTS_BENCH_H
#define PLAQ_TESTS_BENCH_H

#include <unistd.h>

#include "hmc/assemble/simulation.h"
#include "kernels/lattice/comm.h"
#include "kernels/ops/gauge.h"
#include "tests/begin.h"
#include "tests/check.h"

typedef struct {
    parameters *p;
    simulation *s;
    field *start; /* rough links, the same in every test */
} bench;

CHECK_UNUSED static bench open_bench(const char *text, int n, const char *const *overrides)
{
    char path[64];
    bench b;
    const char *all[10] = {test_simd ? "machine.simd=yes" : "machine.simd=no", "machine.device=gpu",
                           "machine.share_gpu=yes"};
    const int first = test_gpu ? 3 : 1;
    REQUIRE(n < 8, "%d overrides", n);
    for (int i = 0; i < n; i++) all[i + first] = overrides[i];
    snprintf(path, sizeof path, "test-bench-%ld.ini", (long)getpid());
    if (comm_rank() == 0) {
        FILE *f = fopen(path, "w");
        REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s cannot be written", path);
    }
    b.p = parameters_read(path, n + first, all, NEED_GAUGE | NEED_INTEGRATOR);
    if (comm_rank() == 0) remove(path);
    b.s = simulation_create(b.p, NULL);
    CHECK_INT(lattice_uses_simd(), test_simd);
    momenta_random(b.s->e.momenta, 17, RANDOM_START, 0);
    gauge_update(b.s->links, 0.4, b.s->e.momenta);
    b.start = field_like(b.s->links);
    field_copy(b.start, b.s->links);
    return b;
}

CHECK_UNUSED static void close_bench(bench *b)
{
    field_destroy(b->start);
    simulation_destroy(b->s);
    parameters_free(b->p);
}

/* Mean, and its error from 20 blocks, each longer than the correlation of what is averaged. */
CHECK_UNUSED static double mean(const double *x, int n, double *error)
{
    double sum = 0, square = 0;
    const int blocks = 20, length = n / blocks;
    for (int i = 0; i < blocks * length; i++) sum += x[i] / (blocks * length);
    for (int b = 0; b < blocks; b++) {
        double block = 0;
        for (int i = b * length; i < (b + 1) * length; i++) block += x[i] / length;
        square += (block - sum) * (block - sum);
    }
    *error = sqrt(square / (blocks * (blocks - 1)));
    return sum;
}

/* The action of this name, or the first factor of the chain. */
CHECK_UNUSED static action *action_of(const bench *b, const char *name)
{
    char first[80];
    snprintf(first, sizeof first, "%s.0", name);
    for (int i = 0; i < b->s->e.nactions; i++)
        if (!strcmp(b->s->e.actions[i]->name, name) || !strcmp(b->s->e.actions[i]->name, first))
            return b->s->e.actions[i];
    REQUIRE(0, "no action %s", name);
    return NULL;
}

/* The quark of a section, which an action has. */
CHECK_UNUSED static fermion *quark_of(const bench *b, const char *name)
{
    const named_quark *q = &b->p->quarks[parameters_quark(b->p, name)];
    fermion *f = quark_set_find(b->s->quarks, q, q->p.mass);
    REQUIRE(f, "no action of quark %s", name);
    return f;
}

CHECK_UNUSED static double value_of(action *a)
{
    double s = NAN;
    CHECK_INT(action_value(a, &s), 0);
    return s;
}

#endif
