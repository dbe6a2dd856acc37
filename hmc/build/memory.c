#include "hmc/build/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/build/simulation.h"
#include "hmc/evolve/parts.h"
#include "hmc/evolve/quark_staggered.h"
#include "hmc/evolve/quark_wilson.h"
#include "hmc/measure/observable.h"
#include "hmc/record/report.h"
#include "kernels/base/error.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/run/device.h"
#include "solvers/multishift.h"
#include "solvers/schwarz.h"

size_t memory_of(const ledger *m, field_kind kind, precision prec, parity par)
{
    return field_bytes(m->lat, kind, prec, par, 1, m->where);
}

void memory_stay(ledger *m, int count, field_kind kind, precision prec, parity par)
{
    m->stays += (size_t)count * memory_of(m, kind, prec, par);
}

size_t memory_of_tables(const lattice *lat, place where)
{
    return where == PLACE_DEVICE ? plan_device_table_bytes(lat) : plan_table_bytes(lat);
}

static void at_least(size_t *peak, size_t bytes)
{
    if (bytes > *peak) *peak = bytes;
}

/* ---- blocks that overlap (kernels/ops/overlap.h) have a lattice of their own ---- */

/* The one of a solve in double whose blocks overlap, or null; and its precision. */
static const solver_settings *overlapping(const solver_settings *s, precision *prec)
{
    for (*prec = PREC_DOUBLE; s; s = s->inner) {
        *prec = solver_precision(s, *prec);
        if (solver_type_find(s->type)->blocks && schwarz_keys_of(s)->overlap > 0) return s;
    }
    return NULL;
}

static ledger ledger_of_blocks(const ledger *m, const solver_settings *s)
{
    int block[4], all[4];
    char message[512];
    overlap_extents(m->lat, schwarz_keys_of(s)->block, schwarz_keys_of(s)->overlap, block, all);
    /* Extended blocks that fit (overlap_fit()) make a lattice that can be. */
    lattice *plan = plan_lattice(all, (const int[4]){1, 1, 1, 1}, 1, 1, message, sizeof message);
    REQUIRE(plan, "%s", message);
    return (ledger){plan, m->where, 0};
}

/* Work vectors of the blocks. */
static size_t vectors_on_blocks(const ledger *m, const solver_settings *solver)
{
    precision prec;
    const solver_settings *s = overlapping(solver, &prec);
    if (!s) return 0;
    const ledger on = ledger_of_blocks(m, s);
    const size_t bytes = 3 * memory_of(&on, FIELD_SPINOR, prec, PARITY_EVEN);
    lattice_destroy((lattice *)on.lat);
    return bytes;
}

/* ---- solves ---- */

size_t memory_of_solve(const ledger *m, const parameters *p, field_kind kind, const char *solver)
{
    const named_settings *s;
    size_t peak = 0;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++) {
        int vectors[PREC_COUNT] = {0};
        size_t bytes = vectors_on_blocks(m, &s->p);
        solver_vectors(&s->p, PREC_DOUBLE, vectors);
        for (int prec = 0; prec < PREC_COUNT; prec++)
            bytes += (size_t)vectors[prec] * memory_of(m, kind, (precision)prec, PARITY_EVEN);
        at_least(&peak, bytes);
    }
    return peak;
}

/* Conjugate gradients, which have no solver inside (fermion_parameters_check()). */
size_t memory_of_poles(const ledger *m, const parameters *p, field_kind kind, const char *solver, int poles)
{
    const named_settings *s;
    size_t peak = 0;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++) {
        int vectors[PREC_COUNT] = {0};
        size_t bytes = (size_t)poles * memory_of(m, kind, PREC_DOUBLE, PARITY_EVEN);
        multishift_vectors(&s->p, poles, PREC_DOUBLE, vectors);
        for (int prec = 0; prec < PREC_COUNT; prec++)
            bytes += (size_t)vectors[prec] * memory_of(m, kind, (precision)prec, PARITY_EVEN);
        at_least(&peak, bytes);
    }
    return peak;
}

static void note_precision(const solver_settings *s, int used[PREC_COUNT])
{
    int vectors[PREC_COUNT] = {0};
    solver_vectors(s, PREC_DOUBLE, vectors);
    for (int prec = 0; prec < PREC_COUNT; prec++) used[prec] |= vectors[prec] > 0;
}

void memory_note_precision(const parameters *p, const char *solver, int used[PREC_COUNT])
{
    const named_settings *s;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++) note_precision(&s->p, used);
}

void memory_note_positive(const parameters *p, const char *solver, int used[PREC_COUNT])
{
    const named_settings *s;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++)
        if (solver_needs_positive(&s->p)) note_precision(&s->p, used);
}

int memory_solver_positive(const parameters *p, const char *solver)
{
    const named_settings *s;
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++)
        if (!solver_needs_positive(&s->p)) return 0;
    return 1;
}

static const fermion_params *fermion_of(const parameters *p, const measure_params *m)
{
    for (int i = 0; i < p->nfermions; i++)
        if (!strcmp(p->fermions[i].name, m->fermion)) return &p->fermions[i].p;
    return NULL;
}

const char *memory_solver(const parameters *p, const measure_params *m)
{
    const fermion_params *f = fermion_of(p, m);
    return m->solver[0] || !f ? m->solver : f->action_solver;
}

/* ---- operators ---- */

/* In which precisions the operator is used, and its normal operator; and solvers with blocks that overlap, one for each
 * of its lattices of such blocks. */
#define MOST_BLOCKS (MAX_NAMED * PREC_COUNT)
typedef struct {
    int op[PREC_COUNT], normal[PREC_COUNT], nblocks;
    const solver_settings *blocks[MOST_BLOCKS];
    precision prec[MOST_BLOCKS];
} uses;

static int same_blocks(const solver_settings *a, const solver_settings *b)
{
    const schwarz_keys *x = schwarz_keys_of(a), *y = schwarz_keys_of(b);
    return x->overlap == y->overlap && !memcmp(x->block, y->block, sizeof x->block);
}

static void note_blocks(uses *used, const solver_settings *solver)
{
    precision prec;
    const solver_settings *s = overlapping(solver, &prec);
    for (int i = 0; s && i < used->nblocks; i++)
        if (used->prec[i] == prec && same_blocks(used->blocks[i], s)) return;
    if (!s) return;
    used->blocks[used->nblocks] = s;
    used->prec[used->nblocks++] = prec;
}

/* Solves of the operator; or also of the normal operator, by solvers that want that. */
static void note(uses *used, const parameters *p, const char *solver, int normal)
{
    const named_settings *s;
    memory_note_precision(p, solver, used->op);
    if (normal) memory_note_positive(p, solver, used->normal);
    for (int i = 0; (s = parameters_attempt(p, solver, i)); i++) note_blocks(used, &s->p);
}

static uses uses_of(const parameters *p, const fermion_params *f)
{
    const int acts = !fermion_measured_only(f);
    uses used = {.op = {1}, .normal = {acts}};
    if (acts) {
        note(&used, p, f->solver, 1);
        note(&used, p, f->action_solver, 1);
        if (fermion_kind_find(f->kind)->shifts) note(&used, p, heat_bath_solver_of(f), 1);
    }
    for (int i = 0; i < p->nmeasures; i++) /* the operator is the same one, the normal operator is not */
        if (fermion_of(p, &p->measures[i].p) == f) note(&used, p, memory_solver(p, &p->measures[i].p), 0);
    for (int i = 0; i < p->nfermions; i++) { /* the heat bath of a ratio inverts its denominator */
        const fermion_params *g = &p->fermions[i].p;
        const int over = ratio_of(g)[0] ? simulation_fermion(p, ratio_of(g)) : -1;
        if (over >= 0 && &p->fermions[over].p == f) note(&used, p, heat_bath_solver_of(g), 0);
    }
    return used;
}

static int is_symmetric(const fermion_params *f)
{
    const wilson_keys *k = wilson_keys_of(f);
    return k && !strcmp(k->schur, "symmetric");
}

static int has_clover(const fermion_params *f)
{
    const wilson_keys *k = wilson_keys_of(f);
    return k && k->c_sw != 0;
}

/* The operator on extended blocks: links, clover terms, work vectors, tables. */
static size_t operator_on_blocks(const ledger *m, const fermion_params *f, const solver_settings *s, precision prec)
{
    ledger on = ledger_of_blocks(m, s);
    const field_kind links = link_storage_of(f);
    memory_stay(&on, 1, links, prec, PARITY_BOTH);
    if (has_clover(f)) memory_stay(&on, 2, FIELD_CLOVER, prec, PARITY_EVEN);
    memory_stay(&on, 1 + is_symmetric(f), FIELD_SPINOR, prec, PARITY_EVEN);
    on.stays += memory_of_tables(on.lat, on.where) +
                overlap_list_bytes(m->lat, schwarz_keys_of(s)->block, schwarz_keys_of(s)->overlap);
    lattice_destroy((lattice *)on.lat);
    return on.stays;
}

void memory_stay_wilson(ledger *m, const parameters *p, const fermion_params *f)
{
    const int symmetric = is_symmetric(f), whole = link_storage_of(f) == FIELD_LINKS;
    const uses used = uses_of(p, f);
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        if (!used.op[prec]) continue;
        if (prec != PREC_DOUBLE || !whole)
            memory_stay(m, 1, whole ? FIELD_LINKS : FIELD_LINKS_TWO_ROWS, prec, PARITY_BOTH);
        if (has_clover(f)) memory_stay(m, 2, FIELD_CLOVER, prec, PARITY_EVEN);
        memory_stay(m, 1 + symmetric + used.normal[prec], FIELD_SPINOR, prec, PARITY_EVEN);
    }
    for (int i = 0; i < used.nblocks; i++) m->stays += operator_on_blocks(m, f, used.blocks[i], used.prec[i]);
}

size_t memory_of_insertions(const ledger *m, const fermion_params *f)
{
    return has_clover(f) ? memory_of(m, FIELD_TENSOR, PREC_DOUBLE, PARITY_BOTH) : 0;
}

/* M X, both continued to the other parity, A^-1 of one, and the insertions. */
size_t memory_of_assembly(const ledger *m, const fermion_params *f)
{
    const size_t spinor = memory_of(m, FIELD_SPINOR, PREC_DOUBLE, PARITY_EVEN);
    return (size_t)(5 + is_symmetric(f)) * spinor + memory_of_insertions(m, f);
}

/* ---- staggered quarks ---- */

/* Precisions of the solves of its actions and measurements. */
static void note_staggered(const parameters *p, const fermion_params *f, int used[PREC_COUNT])
{
    if (!fermion_measured_only(f)) {
        memory_note_precision(p, f->solver, used);
        memory_note_precision(p, f->action_solver, used);
        memory_note_precision(p, heat_bath_solver_of(f), used);
    }
    for (int i = 0; i < p->nmeasures; i++)
        if (fermion_of(p, &p->measures[i].p) == f) memory_note_precision(p, memory_solver(p, &p->measures[i].p), used);
}

/* Links in the precisions of all quarks that share them are booked with the first of these. A quark that is only
 * measured shares none. */
void memory_stay_staggered(ledger *m, const parameters *p, const fermion_params *f)
{
    int used[PREC_COUNT] = {1}, mine[PREC_COUNT] = {1}, first = 1;
    const staggered_links_kind *links = staggered_links_of(f);
    int first_level = links->levels > 1;
    note_staggered(p, f, mine);
    for (int i = 0; i < p->nfermions; i++) {
        const fermion_params *g = &p->fermions[i].p;
        if (!staggered_same_smearing(f, g) || (g != f && (fermion_measured_only(f) || fermion_measured_only(g))))
            continue;
        if (g < f) first_level = 0;
        if (!staggered_same_operator(f, g) ||
            strcmp(staggered_keys_of(g)->long_reals, staggered_keys_of(f)->long_reals))
            continue;
        if (g < f) first = 0;
        note_staggered(p, g, used);
    }
    if (first_level) memory_stay(m, 2, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
    const field_kind far = !strcmp(staggered_keys_of(f)->long_reals, "9")    ? FIELD_LINKS_EIGHT
                           : !strcmp(staggered_keys_of(f)->long_reals, "13") ? FIELD_LINKS_TWO_ROWS
                                                                             : FIELD_LINKS;
    for (int prec = 0; prec < PREC_COUNT; prec++) {
        const int n = first * used[prec];
        memory_stay(m, n, FIELD_LINKS, (precision)prec, PARITY_BOTH);
        memory_stay(m, n * links->long_links, far, (precision)prec, PARITY_BOTH);
        memory_stay(m, n * links->long_links * (far != FIELD_LINKS), FIELD_PHASES, (precision)prec, PARITY_BOTH);
        memory_stay(m, mine[prec], FIELD_VECTOR, (precision)prec, PARITY_EVEN);
    }
}

size_t memory_of_smearing(const ledger *m, const fermion_params *f)
{
    return (staggered_links_of(f)->levels > 0 ? 6 : 0) * memory_of(m, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
}

size_t memory_of_derivatives(const ledger *m, const fermion_params *f)
{
    const staggered_links_kind *links = staggered_links_of(f);
    return (size_t)(1 + links->long_links + (links->levels > 0)) * memory_of(m, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
}

/* Staples of links and of derivatives in three directions, and what their paths go around in each; for HISQ also the
 * result of the second level. */
size_t memory_of_smearing_back(const ledger *m, const fermion_params *f)
{
    const int levels = staggered_links_of(f)->levels, fields = levels > 0 ? 11 + levels : 0;
    return memory_of_derivatives(m, f) + (size_t)fields * memory_of(m, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
}

/* ---- the run ---- */

/* What the forces of a level take for a moment: the second and further ones have momenta of their own. */
static size_t level_moment(const ledger *m, const parameters *p, const integrator_params *level,
                           const fermion_moments *moments)
{
    const size_t own = memory_of(m, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH);
    char word[128], determinant[160];
    size_t peak = 0;
    for (int w = 0; param_word(level->actions, w, word, sizeof word); w++) {
        if (w > 0) at_least(&peak, own);
        for (int i = 0; i < p->nfermions; i++) {
            snprintf(determinant, sizeof determinant, "%s.det", p->fermions[i].name);
            if (!strcmp(word, determinant)) at_least(&peak, (w > 0 ? own : 0) + moments[i].determinant);
            if (strcmp(word, p->fermions[i].name)) continue;
            at_least(&peak, (w > 0 ? own : 0) + moments[i].force);
            if (moments[i].determinant && !parameters_on_level(p, determinant))
                at_least(&peak, own + moments[i].determinant);
        }
    }
    return peak;
}

/* A quark that is only measured has its operator, and links are smeared for it, for that long. */
static size_t measure_moment(const ledger *m, const parameters *p, const measure_params *what)
{
    const observable *o = observable_find(what->kind);
    const fermion_params *f = fermion_of(p, what);
    ledger own = {m->lat, m->where, 0}, smearing = own;
    if (f && fermion_measured_only(f) && fermion_kind_find(f->kind)->spins == 1) {
        memory_stay_staggered(&own, p, f);
        /* Then there is the first level, and of the last one only the result. */
        memory_stay(&smearing, staggered_links_of(f)->levels > 1 ? 3 : 1, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
        at_least(&own.stays, smearing.stays + memory_of_smearing(m, f));
    } else if (f && fermion_measured_only(f)) {
        memory_stay_wilson(&own, p, f);
    }
    return own.stays + (o->memory ? o->memory(m, p, what) : 0);
}

size_t memory_predicted(const parameters *p, const lattice *lat, place where)
{
    ledger m = {lat, where, 0};
    fermion_moments moments[MAX_NAMED] = {0};
    int ahead = 0;
    size_t trajectory = 0, peak = 0;
    for (int l = 0; l < p->nlevels; l++) ahead = ahead || scheme_looks_ahead(scheme_find(p->levels[l].scheme));
    memory_stay(&m, 1 + ahead, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH);
    memory_stay(&m, 2, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH);
    for (int i = 0; i < p->nfermions; i++) {
        const fermion_params *f = &p->fermions[i].p;
        if (fermion_measured_only(f)) continue;
        moments[i] = fermion_kind_find(f->kind)->memory(&m, p, f);
        at_least(&trajectory, moments[i].value);
    }
    for (int l = 0; l < p->nlevels; l++) at_least(&trajectory, level_moment(&m, p, &p->levels[l], moments));
    at_least(&peak, trajectory + memory_of(&m, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH)); /* the links of the start */
    for (int i = 0; i < p->nmeasures; i++)
        if (p->measures[i].p.interval <= p->run.trajectories) at_least(&peak, measure_moment(&m, p, &p->measures[i].p));
    return m.stays + peak + plan_halo_bytes(lat, FIELD_LINKS, where) + memory_of_tables(lat, where);
}

/* The parameters with quarks that no action has; free() them. */
static parameters *without_actions(const parameters *p)
{
    parameters *own = malloc(sizeof *own);
    REQUIRE_MEMORY(own, "out of memory");
    *own = *p;
    for (int i = 0; i < own->nfermions; i++)
        snprintf(own->fermions[i].p.measured_only, sizeof own->fermions[i].p.measured_only, "yes");
    return own;
}

size_t memory_measured(const parameters *p, const lattice *lat, place where)
{
    const ledger m = {lat, where, 0};
    parameters *own = without_actions(p);
    size_t peak = 0;
    for (int i = 0; i < own->nmeasures; i++) at_least(&peak, measure_moment(&m, own, &own->measures[i].p));
    free(own);
    return memory_of(&m, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH) + peak + memory_of_tables(lat, where);
}

/* Of each quark its operator, source, solution, the first solution and the residual; on one parity two right-hand sides,
 * a solution, and what the solver takes. */
size_t memory_solved(const parameters *p, const lattice *lat, place where)
{
    const ledger m = {lat, where, 0};
    parameters *own = without_actions(p);
    size_t peak = 0;
    for (int i = 0; i < own->nfermions; i++) {
        const fermion_params *f = &own->fermions[i].p;
        const int one_spin = fermion_kind_find(f->kind)->spins == 1;
        const field_kind kind = one_spin ? FIELD_VECTOR : FIELD_SPINOR;
        ledger quark = m;
        size_t solver = 0;
        if (one_spin) memory_stay_staggered(&quark, own, f);
        else memory_stay_wilson(&quark, own, f);
        memory_stay(&quark, 4, kind, PREC_DOUBLE, PARITY_BOTH);
        memory_stay(&quark, 3, kind, PREC_DOUBLE, PARITY_EVEN);
        for (int s = 0; s < own->nsolvers; s++)
            if (solver_solves(&own->solvers[s].p))
                at_least(&solver, memory_of_solve(&m, own, kind, own->solvers[s].name));
        at_least(&peak, quark.stays + solver);
    }
    free(own);
    return memory_of(&m, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH) + peak + memory_of_tables(lat, where);
}

size_t memory_peak(place where)
{
    /* Tables on the device come from the pool. */
    return pool_peak(where) + (where == PLACE_HOST ? lattice_table_peak() : gpu_beside_pool_peak());
}

double memory_there(place where)
{
    return where == PLACE_DEVICE ? gpu_memory() : comm_memory();
}

int memory_lacks(const lattice *lat, double bytes, place where, char *message, size_t size)
{
    char need[32], have[32];
    const double there = memory_there(where);
    snprintf(message, size,
             "the lattice %d.%d.%d.%d on grid %d.%d.%d.%d takes %s a rank, and %s has %s%s: use more nodes, "
             "or a smaller lattice",
             lat->size[0], lat->size[1], lat->size[2], lat->size[3], lat->grid[0], lat->grid[1], lat->grid[2],
             lat->grid[3], report_bytes(bytes, need), where == PLACE_DEVICE ? "its GPU" : "this machine",
             report_bytes(there, have), where == PLACE_DEVICE ? "" : " for each of its ranks");
    return comm_any_bad(there > 0 && bytes > there, message, size);
}
