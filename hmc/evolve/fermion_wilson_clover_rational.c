/* wilson_clover_rational: one, two or three flavours by rational functions, as pseudofermions on one parity and, with a
 * clover term, NAME.det. */
#include <string.h>

#include "hmc/evolve/fermion.h"
#include "solvers/multishift.h"

static rational_settings settings_of(const fermion_params *f)
{
    return (rational_settings){.flavours = f->flavours,
                               .pseudofermions = f->pseudofermions,
                               .approximation = f->approximation,
                               .force_approximation = f->force_approximation,
                               .low = f->spectrum_low,
                               .high = f->spectrum_high,
                               .widen = !strcmp(f->range_breach, "widen")};
}

static void create(simulation *s, int number)
{
    const named_fermion *f = &s->p->fermions[number];
    rational_settings settings = settings_of(&f->p);
    settings.w = s->wilsons[number];
    settings.force_solver = simulation_solver(s, f->p.solver);
    settings.action_solver = simulation_solver(s, f->p.action_solver);
    settings.solvers = s->solvers;
    settings.nsolvers = s->p->nsolvers;
    simulation_add(s, rational_action_create(f->name, s->links, &settings));
    fermion_add_determinant(s, number, NULL, f->p.flavours);
}

/* Solutions and work vectors of a solve for all poles. */
static size_t solve_bytes(const ledger *m, const parameters *p, const char *solver, int degree)
{
    int vectors[PREC_COUNT] = {0};
    for (int i = 0; i < p->nsolvers; i++)
        if (!strcmp(p->solvers[i].name, solver)) multishift_vectors(&p->solvers[i].p, degree, PREC_DOUBLE, vectors);
    vectors[PREC_DOUBLE] += degree;
    size_t bytes = 0;
    for (int prec = 0; prec < PREC_COUNT; prec++)
        bytes += (size_t)vectors[prec] * memory_of(m, FIELD_SPINOR, (precision)prec, PARITY_EVEN);
    return bytes;
}

static fermion_moments memory(ledger *m, const parameters *p, const fermion_params *f)
{
    const size_t spinor = memory_of(m, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    const rational_settings settings = settings_of(f);
    const rational_degrees degrees = rational_action_degrees(&settings);
    memory_stay_wilson(m, p, f);
    memory_stay(m, f->pseudofermions, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    /* The insertions of one pseudofermion are kept through the solve of the next. */
    const size_t insertions = f->pseudofermions > 1 ? memory_of_insertions(m, f) : 0;
    const size_t solve = spinor + insertions + solve_bytes(m, p, f->solver, degrees.force);
    const size_t assembly = (size_t)degrees.force * spinor + memory_of_assembly(m, f);
    /* The source and the result beside the solve. */
    const size_t heat = 2 * spinor + solve_bytes(m, p, f->action_solver, degrees.heat);
    const size_t action = spinor + solve_bytes(m, p, f->action_solver, degrees.action);
    return (fermion_moments){.force = solve > assembly ? solve : assembly,
                             .value = heat > action ? heat : action,
                             .determinant = memory_of_insertions(m, f)};
}

/* As for two flavours, with some ten poles to assemble. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double poles = 10, clover = f->c_sw != 0;
    const double each = iterations * (2 * 1320 + clover * 2 * 504 + poles * 240) + poles * 12000;
    return f->pseudofermions * each + clover * 45000;
}

const fermion_kind fermion_wilson_clover_rational = {
    .name = "wilson_clover_rational",
    .help = "one, two or three flavours, by rational functions (RHMC)",
    .keys = "flavours pseudofermions approximation force_approximation spectrum range_breach",
    .shifts = 1,
    .create = create,
    .memory = memory,
    .force_flops = force_flops};
