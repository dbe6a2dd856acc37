/* wilson_clover: two degenerate flavours, as a pseudofermion on one parity and, with a clover term, NAME.det. */
#include <stdio.h>
#include <string.h>

#include "hmc/evolve/fermion.h"

static void create(simulation *s, int number)
{
    const parameters *p = s->p;
    const named_fermion *f = &p->fermions[number];
    const named_solver *force = simulation_solver(s, f->p.solver), *accept = simulation_solver(s, f->p.action_solver);
    s->wilsons[number] = simulation_wilson(s->links, &f->p);
    simulation_add(
        s, pseudofermion_action_create(f->name, s->links, s->wilsons[number], force, accept, s->solvers, p->nsolvers));
    if (f->p.c_sw == 0) return;
    char name[80];
    snprintf(name, sizeof name, "%s.det", f->name);
    simulation_add(s, determinant_action_create(name, s->links, s->wilsons[number]));
}

static fermion_moments memory(ledger *m, const parameters *p, const fermion_params *f)
{
    const int symmetric = !strcmp(f->schur, "symmetric"), clover = f->c_sw != 0;
    const int whole = !strcmp(f->link_reals, "18");
    int used[PREC_COUNT] = {1, 0, 0, 0};
    memory_note_precision(p, f->solver, used);
    memory_note_precision(p, f->action_solver, used);
    for (int i = 0; i < p->nmeasures; i++) /* the operator is the same one */
        if (memory_uses_fermion(p, &p->measures[i].p, f))
            memory_note_precision(p, memory_solver(p, &p->measures[i].p), used);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        if (!used[prec]) continue;
        if (prec != PREC_DOUBLE || !whole)
            memory_stay(m, 1, whole ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, prec, PARITY_BOTH);
        if (clover) memory_stay(m, 2, FIELD_CLOVER, prec, PARITY_EVEN);
        /* work of the Schur and normal operators */
        memory_stay(m, symmetric ? 3 : 2, FIELD_SPINOR, prec, PARITY_EVEN);
    }
    memory_stay(m, 1, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN); /* phi */
    const size_t spinor = memory_of(m, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    const size_t tensor = clover ? memory_of(m, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH) : 0;
    /* The solution beside the solver's work, or beside both continued to the other parity and the insertions. */
    const size_t assembly = (size_t)(6 + symmetric) * spinor + tensor;
    const size_t solve = spinor + memory_of_solve(m, p, f->solver);
    return (fermion_moments){.force = solve > assembly ? solve : assembly,
                             .value = spinor + memory_of_solve(m, p, f->action_solver),
                             .determinant = tensor};
}

/* Hops and clover terms of the Schur complement and its dagger on half the sites; assembling takes some 60000. */
static double force_flops(const fermion_params *f, double iterations)
{
    return iterations * 0.5 * 2 * (2 * 1320 + (f->c_sw != 0 ? 2 * 504 : 0)) + 60000;
}

const fermion_kind fermion_wilson_clover = {
    "wilson_clover", "two degenerate Wilson-clover flavours, even-odd preconditioned", create, memory, force_flops};
