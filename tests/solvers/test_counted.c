/* Memory that is counted on a planned lattice is what is taken on a real one, to the byte: by every solver alone and
 * inside others, in one precision and in two, by blocks that overlap, by multi-shift conjugate gradients and by the Lanczos
 * process; and nothing is taken meanwhile. */
#include "tests/solvers/scene.h"
#include "tests/solve.h"

#include "kernels/base/pool.h"
#include "kernels/lattice/plan.h"
#include "kernels/lattice/purpose.h"
#include "kernels/ops/gauge.h"
#include "solvers/lanczos.h"
#include "solvers/multishift.h"

static const int extents[4] = {4, 4, 8, 8};

typedef struct {
    const solver_settings *set; /* null: the Lanczos process */
    int shifts;
    int rhs; /* 0: one */
} solving;

/* The most bytes at a time that a quark and a solve with it take on a lattice, beside its tables and links. */
static size_t taken_on(lattice *lat, const solving *s)
{
    const int pool = lattice_pool(lat, PLACE_HOST);
    field *links = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    gauge_cold(links); /* on which solves take long enough to fill what they have */
    const size_t before = pool_in_use(pool);
    pool_forget_peak(pool);
    wilson *w = wilson_create(
        links, &(wilson_settings){
                   .mass = 0.1, .c_sw = 1, .form = SCHUR_SYMMETRIC, .p = PARITY_ODD, .storage = FIELD_LINKS_TWO_ROWS});
    linop *schur = wilson_schur(w), *normal = normal_create(schur);
    field *b = linop_vector(schur, s->rhs ? s->rhs : 1), *x[3];
    for (int i = 0; i < 3; i++) x[i] = field_like(b);
    vector_random(b, 7, RANDOM_TEST, 1);
    if (!s->set) {
        lanczos_bounds(normal, 1, 20, 0.5);
    } else if (s->shifts) {
        const double shifts[3] = {0, 0.5, 2}, tolerances[3] = {1e-10, 1e-10, 1e-10};
        KIT_INT(multishift_solve(s->set, normal, 3, shifts, tolerances, x, b).status, SOLVE_CONVERGED);
    } else if (solver_solves(s->set)) {
        const solve_result r = solve_by(s->set, solver_needs_positive(s->set) ? normal : schur, x[0], b);
        KIT_INT(r.status, SOLVE_CONVERGED);
    } else {
        precondition_by(s->set, solver_needs_positive(s->set) ? normal : schur, x[0], b);
    }
    for (int i = 0; i < 3; i++) field_destroy(x[i]);
    field_destroy(b);
    linop_destroy(normal);
    wilson_destroy(w);
    const size_t peak = pool_peak(pool) - before;
    field_destroy(links);
    return peak;
}

static void compare_within(const char *what, const solving *s, size_t more, double bytes)
{
    char message[512];
    const int any[4] = {0};
    lattice *real = lattice_create(extents, any, 1, -1),
            *plan = plan_lattice(extents, any, comm_size(), 1, message, sizeof message);
    static int begun;
    kit_where("%s, %s", what, precision_names[s->set ? s->set->inner_precision : PREC_DOUBLE]);
    /* Message buffers stay: those of both are there after the first. */
    if (!begun) taken_on(real, s), taken_on(plan, s);
    begun = 1;
    const size_t taken = taken_on(real, s), tables = lattice_table_peak();
    pool_forget_peak(POOL_HOST);
    const size_t there = pool_peak(POOL_HOST);
    KIT_NEAR((double)taken_on(plan, s), (double)(taken + more), bytes);
    KIT_INT(pool_peak(POOL_HOST), there);
    KIT_INT(lattice_table_peak(), tables);
    lattice_destroy(plan);
    lattice_destroy(real);
}

static void compare(const char *what, const solving *s)
{
    compare_within(what, s, 0, 0);
}

static solver_settings set_of(const char *type, const char *prec)
{
    solver_settings s = settings_of(type, prec);
    s.tolerance = 1e-10;
    s.delta = 1e-6; /* a Krylov space is full before it is begun anew */
    if (!strcmp(type, "gcr")) gcr_keys_of(&s)->restart = 3;
    return s;
}

/* Tables of the coarse lattice are counted with what is taken. Where it is gathered ranks take more and less: passed over. */
static void compare_coarse(const char *what, const solver_settings *s, int rhs)
{
    char message[512];
    const int any[4] = {0};
    lattice *lat = plan_lattice(extents, any, comm_size(), 1, message, sizeof message), below_it = *lat;
    coarse_settings level;
    multigrid_level_settings(multigrid_keys_of(s), lat, 0, &level);
    multigrid_below(&below_it, &level);
    if (!solver_type_number(param_kind(solver_section(0), what))->fits(s, lat, message, sizeof message) &&
        !memcmp(below_it.grid, lat->grid, sizeof lat->grid)) {
        const lattice_spec spec = {.size = {2, 2, 4, 4},
                                   .grid = {lat->grid[0], lat->grid[1], lat->grid[2], lat->grid[3]},
                                   .reach = 1,
                                   .time_sign = 1};
        const size_t before = pool_in_use(POOL_COUNTED(POOL_HOST));
        lattice *below = plan_lattice_on(&spec, comm_size(), message, sizeof message);
        const size_t tables = pool_in_use(POOL_COUNTED(POOL_HOST)) - before;
        compare_within(what, &(solving){.set = s, .rhs = rhs}, tables, 0);
        lattice_destroy(below);
    }
    lattice_destroy(lat);
}

static void test_types(const char *prec)
{
    for (int i = 0; solver_type_number(i); i++) {
        const solver_type *type = solver_type_number(i);
        solver_settings s = set_of(type->name, prec), inner = set_of("gcr", prec);
        inner.tolerance = 1e-3;
        if (type->coarsens) {
            compare_coarse(type->name, &s, 1);
            compare_coarse(type->name, &s, 5);
            continue;
        }
        if (type->inside) continue; /* another quark's: tests/cli/memory.sh */
        if (type->inner_solves) s.inner = &inner;
        compare(type->name, &(solving){.set = &s});
        if (!type->solve) continue;
        if (type->precondition) {
            solver_settings outside = set_of("gcr", prec);
            outside.inner = &s;
            compare("gcr with it inside", &(solving){.set = &outside});
        }
    }
    const solver_settings cg = set_of("cg", prec);
    compare("shifts", &(solving){.set = &cg, .shifts = 3});
    solver_settings block = set_of("block_cg", prec);
    compare("a block", &(solving){.set = &block, .rhs = 5});
    block_cg_keys_of(&block)->block_size = 3;
    compare("two blocks", &(solving){.set = &block, .rhs = 5});
    compare("one after another", &(solving){.set = &cg, .rhs = 3});
}

/* Lists of sites are counted as one, with the padding of one; and with what is taken go the tables of the lattice on
 * which extended blocks lie. */
static void compare_extended(const char *what, const solver_settings *s, const int size[4], int sites)
{
    const int any[4] = {0}, alone[4] = {1, 1, 1, 1};
    int block[4], all[4];
    char message[512];
    lattice *lat = plan_lattice(extents, any, comm_size(), 1, message, sizeof message);
    overlap_extents(lat, size, sites, block, all);
    lattice *blocks = plan_lattice(all, alone, 1, 1, message, sizeof message);
    compare_within(what, &(solving){.set = s}, plan_table_bytes(blocks), comm_size() > 1 ? 68 * 128 : 4 * 128);
    lattice_destroy(blocks);
    lattice_destroy(lat);
}

static void test_overlap(void)
{
    const int size[4] = {4, 4, 2, 2};
    solver_settings s = set_of("schwarz", "half");
    *schwarz_keys_of(&s) = (schwarz_keys){.overlap = 1, .steps = 2, .relaxation = 1, .colours = 1, .cycles = 1};
    memcpy(schwarz_keys_of(&s)->block, size, sizeof size);
    compare_extended("blocks that overlap", &s, size, 1);
    s = set_of("multisplitting", "half");
    *multisplitting_keys_of(&s) = (multisplitting_keys){.steps = 2, .snakes = 1};
    memcpy(multisplitting_keys_of(&s)->block, size, sizeof size);
    compare_extended("snake terms", &s, size, 2);
    solver_settings pcg = set_of("pcg", "single");
    pcg.inner = &s;
    compare_extended("pcg with snake terms inside", &pcg, size, 2);
}

int main(int argc, char **argv)
{
    kit_begin(&argc, &argv);
    test_types("double");
    test_types("single");
    test_types("half");
    compare("Lanczos", &(solving){.set = NULL});
    test_overlap();
    return kit_end();
}
