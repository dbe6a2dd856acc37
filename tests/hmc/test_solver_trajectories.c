/* Every solver, in force and accept step, makes the trajectories of conjugate gradients: the same pseudofermions, dH, accept
 * step and plaquette to the tolerance of the solves. That conjugate gradients make the right ensemble is in
 * hmc/ensembles_actions. */
#include <math.h>

#include "tests/hmc/bench.h"
#include "tests/hmc/wilson.h"

enum { TRAJECTORIES = 6 };

typedef struct {
    double dh[TRAJECTORIES], plaquette[TRAJECTORIES];
    int accepted[TRAJECTORIES];
} history;

typedef struct {
    const char *name, *quark;
} way;

static const way ways[2][5] = {
    {{"cg", LIGHT("cg", "") OMELYAN},
     {"gcr, mr inside", LIGHT("gcr", "") OMELYAN},
     {"gcr, schwarz inside", LIGHT("gcrdd", "") OMELYAN},
     {"mr", LIGHT("mr", "") OMELYAN},
     {"refine, bicgstab inside", LIGHT("refine", "") OMELYAN}},
    {{"cg, symmetric", FORMED("cg", "schur = symmetric\n") OMELYAN},
     {"bicgstab, symmetric", FORMED("bicgstab", "schur = symmetric\n") OMELYAN}},
};

static history run(const way *w)
{
    char text[4096];
    history h = {0};
    long solves = 0, fallbacks = 0;
    REQUIRE(snprintf(text, sizeof text, "%s%s", two_flavours, w->quark) < (int)sizeof text, "%s: the text is long",
            w->name);
    bench b = open_bench(text, 0, NULL);
    for (int i = 0; i < TRAJECTORIES; i++) {
        const trajectory_result r = trajectory_run(&b.s->e, (random_key){1, (uint32_t)i + 1}, 1, i < 2);
        CHECK_INT(r.status, EVOLVE_DONE);
        h.dh[i] = r.dh;
        h.accepted[i] = r.accepted;
        h.plaquette[i] = gauge_measure(b.s->links, 0).plaquette;
        for (int k = 0; k < b.s->e.nactions; k++) {
            solves += b.s->e.actions[k]->solves;
            fallbacks += b.s->e.actions[k]->repeats;
        }
    }
    /* The solver that is named has done the work. */
    CHECK(solves >= TRAJECTORIES);
    CHECK_INT(fallbacks, 0);
    close_bench(&b);
    return h;
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    for (int form = 0; form < 2; form++) {
        const history cg = run(&ways[form][0]);
        for (int i = 1; i < 5 && ways[form][i].name; i++) {
            const history h = run(&ways[form][i]);
            double dh = 0, plaquette = 0;
            for (int t = 0; t < TRAJECTORIES; t++) {
                dh = fmax(dh, fabs(h.dh[t] - cg.dh[t]));
                plaquette = fmax(plaquette, fabs(h.plaquette[t] - cg.plaquette[t]));
                CHECK_INT(h.accepted[t], cg.accepted[t]);
            }
            printf("%-24s differs from %s by %.1e in dH, %.1e in the plaquette\n", ways[form][i].name,
                   ways[form][0].name, dh, plaquette);
            CHECK_NEAR(dh, 0, 5e-5);
            CHECK_NEAR(plaquette, 0, 2e-9);
        }
    }
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
