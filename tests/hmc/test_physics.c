/* Hybrid Monte Carlo against plaquettes that others have published or that are known, and <exp(-dH)> = 1 (M. Creutz,
 * Phys. Rev. D 38 (1988) 1228), which holds whatever the step size as long as area and reversibility are kept.
 *
 * The seed is fixed, so this test gives the same numbers every time; test_hmc_physics SEED runs it with another one. */
#include <stdlib.h>

#include "tests/hmc/bench.h"

#define MOST 2000

typedef struct {
    const char *name;
    int warmup, count;
    double plaquette, within; /* expected, and how far off that may be beside three standard errors */
    int add;                  /* both allowances added, else the larger */
} ensemble;

static const char quenched[] = "[run]\noutput = none\n"
                               "[lattice]\nsize = 8.8.8.8\n"
                               "[gauge]\nbeta = %s\n"
                               "[integrator.0]\nscheme = omelyan2\nsteps = 8\nactions = gauge\n";
static const char dynamical[] = "[run]\noutput = none\n"
                                "[lattice]\nsize = 4.4.4.4\n"
                                "[gauge]\nbeta = %s\n"
                                "[quark.light]\nkappa = 0.138\nc_sw = 1.76\n[action.light]\nkind = two_flavours\nquark "
                                "= light\nsolver = force\naction_solver = accept\n"
                                "[integrator.0]\nscheme = omelyan2\nsteps = 4\nactions = light\n"
                                "[integrator.1]\nscheme = omelyan2\nsteps = 2\nactions = gauge\n"
                                "[solver.force]\ntype = cg\ntolerance = 1e-7\nfallback = safe\n"
                                "[solver.accept]\ntype = cg\ntolerance = 1e-10\nfallback = safe\n"
                                "[solver.safe]\ntype = cg\ninner_precision = double\ntolerance = 1e-10\n";

static parameters *read_input(const char *form, const char *beta, const char *seed)
{
    char path[64], text[2048], start[64];
    const char *overrides[1] = {start};
    snprintf(text, sizeof text, form, beta);
    snprintf(start, sizeof start, "run.seed=%s", seed);
    snprintf(path, sizeof path, "test-physics-%ld.ini", (long)getpid());
    if (comm_rank() == 0) {
        FILE *f = fopen(path, "w");
        REQUIRE(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s cannot be written", path);
    }
    parameters *p = parameters_read(path, 1, overrides, NEED_GAUGE | NEED_INTEGRATOR);
    if (comm_rank() == 0) remove(path);
    return p;
}

static void generate(const char *form, const char *beta, const char *seed, const ensemble *want)
{
    static double plaquette[MOST], weight[MOST];
    parameters *p = read_input(form, beta, seed);
    simulation *s = simulation_create(p, NULL);
    double p_error, w_error;
    int accepted = 0, failed = 0;
    /* From cold links, where simulation_create() leaves them. */
    for (int i = 0; i < want->warmup + want->count && !failed; i++) {
        const random_key key = {(uint64_t)p->run.seed, (uint32_t)i + 1};
        const trajectory_result r = trajectory_run(&s->e, key, 1, i < want->warmup / 2);
        failed = r.status != EVOLVE_DONE;
        if (i < want->warmup) continue;
        plaquette[i - want->warmup] = gauge_measure(s->links, 0).plaquette;
        weight[i - want->warmup] = exp(-r.dh);
        accepted += r.accepted;
    }
    CHECK(!failed);
    const double found = mean(plaquette, want->count, &p_error), one = mean(weight, want->count, &w_error);
    const double allowed = want->add ? want->within + 3 * p_error : fmax(want->within, 3 * p_error);
    if (comm_rank() == 0)
        printf("%s: plaquette %.6f +- %.6f, expected %.5f, off by %.6f, allowed %.6f; <exp(-dH)> %.4f +- %.4f; "
               "acceptance %.3f over %d\n",
               want->name, found, p_error, want->plaquette, found - want->plaquette, allowed, one, w_error,
               (double)accepted / want->count, want->count);
    fflush(stdout);
    CHECK_NEAR(found, want->plaquette, allowed);
    CHECK_NEAR(one, 1, 3 * w_error);
    /* A step that conserves H to all digits would prove nothing, and an error this large nothing either. */
    CHECK(w_error > 1e-5 && w_error < 0.1);
    CHECK(p_error < 3e-3);
    CHECK(accepted > want->count / 2);
    simulation_destroy(s);
    parameters_free(p);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    const char *seed = argc > 1 ? argv[1] : "1";
    generate(dynamical, "5.6", seed,
             &(ensemble){"two flavours, clover, beta 5.6, kappa 0.138, 4^4", 60, 240, 0.5905, 1e-3, 1});
    generate(quenched, "6.0", seed, &(ensemble){"pure gauge, beta 6.0, 8^4", 40, 120, 0.5937, 1e-3, 0});
    generate(quenched, "5.7", seed, &(ensemble){"pure gauge, beta 5.7, 8^4", 40, 120, 0.5492, 5e-3, 0});
    /* The leading terms of strong coupling, u + 4 u^5 with u of a single plaquette: 0.060130 in any volume. */
    generate(quenched, "1.0", seed, &(ensemble){"pure gauge, beta 1.0, 8^4", 10, 80, 0.060130, 3e-4, 0});
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
