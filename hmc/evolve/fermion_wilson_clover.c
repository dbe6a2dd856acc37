/* wilson_clover: two degenerate flavours, or a ratio of two such determinants, as a pseudofermion on one parity and,
 * with a clover term, NAME.det. */
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_wilson.h"

static void create(simulation *s, int number)
{
    const parameters *p = s->p;
    const named_fermion *f = &p->fermions[number];
    fermion *over = ratio_of(&f->p)[0] ? s->quarks[simulation_fermion(p, ratio_of(&f->p))] : NULL;
    const pseudofermion_settings settings = {.quark = s->quarks[number],
                                             .over = over,
                                             .solvers = fermion_solvers(s, &f->p),
                                             .predictor = predictor_of(&f->p)};
    simulation_add(s, pseudofermion_action_create(f->name, &settings));
    fermion_add_determinant(s, number, over, 2);
}

/* The normal operator of a ratio's denominator is the action's own. */
static void stay_denominator(ledger *m, const parameters *p, const fermion_params *f)
{
    int used[PREC_COUNT] = {0};
    if (!ratio_of(f)[0]) return;
    memory_note_positive(p, heat_bath_solver_of(f), used);
    for (int prec = 0; prec < PREC_COUNT; prec++) memory_stay(m, used[prec], FIELD_SPINOR, prec, PARITY_EVEN);
}

static fermion_moments memory(ledger *m, const parameters *p, const fermion_params *f)
{
    const size_t spinor = memory_of(m, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    const size_t source = ratio_of(f)[0] ? spinor : 0;
    const int twice = !memory_solver_positive(p, f->solver);
    memory_stay_wilson(m, p, f);
    stay_denominator(m, p, f);
    memory_stay(m, 1 + predictor_of(f), FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN); /* phi, and solutions that are kept */
    /* The solution and the source beside the work of the solver or of the guess; or the solution in assembling. */
    const size_t guess = (size_t)predictor_of(f) * spinor;
    const size_t work = memory_of_solve(m, p, FIELD_SPINOR, f->solver) + (twice ? spinor : 0);
    const size_t solve = spinor + source + (work > guess ? work : guess);
    const size_t assembly = spinor + memory_of_assembly(m, f);
    /* The noise of the heat bath and what a solver of positive operators makes, of a ratio. */
    const size_t heat = ratio_of(f)[0] ? 2 * spinor + memory_of_solve(m, p, FIELD_SPINOR, heat_bath_solver_of(f)) : 0;
    const size_t action = spinor + source + memory_of_solve(m, p, FIELD_SPINOR, f->action_solver);
    return (fermion_moments){.force = solve > assembly ? solve : assembly,
                             .value = heat > action ? heat : action,
                             .determinant = memory_of_insertions(m, f)};
}

/* Hops and clover terms of the Schur complement and its dagger on half the sites; assembling takes some 60000. */
static double force_flops(const fermion_params *f, double iterations)
{
    const double assembly = ratio_of(f)[0] ? 90000 : 60000;
    return iterations * 0.5 * 2 * (2 * 1320 + (wilson_keys_of(f)->c_sw != 0 ? 2 * 504 : 0)) + assembly;
}

const fermion_kind fermion_wilson_clover = {
    .name = "wilson_clover",
    .help = "two degenerate Wilson-clover flavours, even-odd preconditioned",
    .parts = {&wilson_part, &link_reals_part, &heat_bath_part, &ratio_part, &predictor_part},
    .spins = 4,
    .flavours = 2,
    .blocks = 1,
    .quark = wilson_quark,
    .describe = wilson_describe,
    .same_operator = wilson_same_operator,
    .ratio_keys = wilson_ratio_keys,
    .log_det = wilson_has_clover,
    .create = create,
    .memory = memory,
    .force_flops = force_flops};
