/* A planned lattice has the sizes of the one that is made: fields, tables, message buffers; and what the parameter
 * tables and the cost know of registries is what these say. */
#include <glob.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "hmc/assemble/memory.h"
#include "hmc/assemble/simulation.h"
#include "hmc/actions/action_kind.h"
#include "hmc/assemble/parameters.h"
#include "hmc/measure/measure.h"
#include "io/links/links.h"
#include "kernels/base/pool.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/ops/gauge.h"
#include "kernels/ops/halo.h"
#include "kernels/run/exchange.h"
#include "tests/check.h"
#include "tests/solve.h"

static double allocated(void)
{
    const struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
}

static void check_fields(const lattice *real, const lattice *plan)
{
    for (int kind = 0; kind < FIELD_COARSE; kind++)
        for (int prec = 0; prec < PREC_COUNT; prec++)
            for (int par = PARITY_EVEN; par <= PARITY_BOTH; par++)
                for (int where = PLACE_HOST; where <= PLACE_DEVICE; where++)
                    CHECK_INT(field_bytes(plan, (field_kind)kind, (precision)prec, (parity)par, 1, (place)where),
                              field_bytes(real, (field_kind)kind, (precision)prec, (parity)par, 1, (place)where));
    for (int prec = 0; prec < PREC_COUNT; prec++)
        CHECK_INT(field_lanes(plan, (precision)prec), field_lanes(real, (precision)prec));
    CHECK_INT(plan_table_bytes(plan), plan_table_bytes(real));
    CHECK_INT(plan_device_table_bytes(plan), plan_device_table_bytes(real));
    for (int i = 0; i < real->nlayout; i++)
        for (int p = 0; p < 2; p++) {
            CHECK_INT(plan->layouts[i].ninterior[p], real->layouts[i].ninterior[p]);
            CHECK_INT(plan->layouts[i].nfar_interior[p], real->layouts[i].nfar_interior[p]);
        }
    /* Each table is padded. */
    const size_t before = pool_in_use(POOL_COUNTED(PLACE_DEVICE));
    layout_tables(&plan->layouts[0], 1);
    CHECK_NEAR((double)(pool_in_use(POOL_COUNTED(PLACE_DEVICE)) - before), (double)plan_device_table_bytes(plan),
               48 * 128);
}

static void check_lattice(const int size[4], const int grid[4], int reach)
{
    char message[512];
    lattice *plan = plan_lattice(size, grid, comm_size(), reach, message, sizeof message);
    CHECK(plan);
    if (!plan) return;
    const double before = allocated();
    lattice *real = lattice_create(size, grid, reach, -1);
    const double tables = allocated() - before;
    check_fields(real, plan);
    /* Lane tables are not counted; on small lattices they are a part. */
    CHECK_NEAR((double)plan_table_bytes(plan), tables, 0.03 * tables + 60000);
    /* Buffers grow to what the largest message of all lattices so far needs; those of a plan begin anew. */
    const size_t none = pool_in_use(POOL_COUNTED(POOL_HOST));
    field *links = field_create(real, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST),
          *counted = field_create(plan, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
    const size_t in_use = pool_in_use(POOL_HOST), in_count = pool_in_use(POOL_COUNTED(POOL_HOST));
    static size_t buffers;
    halo_fill(links);
    halo_fill(counted);
    buffers += pool_in_use(POOL_HOST) - in_use;
    const size_t planned = pool_in_use(POOL_COUNTED(POOL_HOST)) - in_count;
    CHECK(buffers >= planned);
    static int first = 1;
    if (first) CHECK_INT(buffers, planned);
    first = 0;
    exchange_forget_planned();
    field_destroy(counted);
    CHECK_INT(pool_in_use(POOL_COUNTED(POOL_HOST)), none);
    field_destroy(links);
    lattice_destroy(real);
    lattice_destroy(plan);
}

static void test_lattices(void)
{
    static const int sizes[][4] = {{8, 8, 8, 16}, {16, 8, 4, 8}, {4, 4, 4, 4},
                                   {2, 4, 6, 8},  {12, 4, 8, 4}, {4, 4, 4, 16}};
    for (int i = 0; i < 6; i++)
        for (int code = 0; code < 256; code++) {
            const int grid[4] = {1 << (code & 3), 1 << (code >> 2 & 3), 1 << (code >> 4 & 3), 1 << (code >> 6)};
            int fits = grid[0] * grid[1] * grid[2] * grid[3] == comm_size(), thin = 0;
            for (int d = 0; d < 4; d++) {
                fits = fits && sizes[i][d] % (2 * grid[d]) == 0;
                thin = thin || (grid[d] > 1 && sizes[i][d] / grid[d] < 4);
            }
            if (fits) check_lattice(sizes[i], grid, 2);
            if (fits && !thin) check_lattice(sizes[i], grid, 3);
        }
}

static void refused(const int size[4], const int grid[4], int ranks, const char *text)
{
    char message[512] = "";
    lattice *plan = plan_lattice(size, grid, ranks, 2, message, sizeof message);
    CHECK(!plan);
    CHECK_HAS(message, text);
    lattice_destroy(plan);
}

static void test_refusals(void)
{
    const int any[4] = {0}, size[4] = {8, 8, 8, 12}, large[4] = {512, 512, 512, 512};
    char message[512];
    refused(size, any, 5, "cannot be split over 5 ranks");
    refused(size, (const int[]){1, 1, 1, 4}, 4, "does not split");
    refused(size, (const int[]){1, 1, 1, 2}, 4, "has 2 ranks, but there are 4");
    refused(size, (const int[]){1, 0, 1, 2}, 2, "process grid");
    refused((const int[]){8, 8, 8, 0}, (const int[]){1, 1, 1, 1}, 1, "extent 0 in direction t is not an even");
    refused(large, any, 1, "use more ranks");
    refused((const int[]){128, 128, 128, 512}, any, 2, "messages of up to");
    lattice *plan = plan_lattice(large, any, 65536, 2, message, sizeof message);
    CHECK(plan && plan->local_volume == 1L << 20);
    lattice_destroy(plan);
}

/* ---- registries ---- */

static void check_choice(const char *section, const char *key, const char *name)
{
    int n;
    const param_section *const *all = parameter_sections(&n);
    for (int i = 0; i < n; i++) {
        if (strcmp(all[i]->section, section) || all[i]->owner) continue;
        const param *p = param_find(all[i], key);
        CHECK(p && strstr(p->range, name) && strstr(p->help, name));
    }
}

/* The help of a key says which kinds have it, or the part that it is in does. */
static void check_owner(const char *section, const char *key, const char *name)
{
    int n, found = 0;
    const param_section *const *all = parameter_sections(&n);
    for (int i = 0; i < n; i++) {
        const param *p = strcmp(all[i]->section, section) ? NULL : param_find(all[i], key);
        found += p && strstr(all[i]->owner ? all[i]->owner : p->help, name);
    }
    CHECK_INT(found, 1);
}

/* Coefficients of the one-loop actions as sample runs of MILC in single precision print them; of fixed c1; and of u0 =
 * 1 at tree level. */
static void test_gauge_weights(void)
{
    const struct {
        gauge_params g;
        double rectangle, parallelogram, plaquette;
    } known[] = {
        {{param_kind(gauge_section(0), "symanzik_1loop"), 6.5, 0, 0.862, 0, 1, 1, 1, 1, 1, WALL_WINDING, 0},
         -7.355018e-2,
         -8.663654e-3,
         1},
        {{param_kind(gauge_section(0), "symanzik_1loop_hisq"), 6.7, 0, 0.89, 4, 1, 1, 1, 1, 1, WALL_WINDING, 0},
         -3.316969e-2,
         2.809994e-3,
         1},
        {{param_kind(gauge_section(0), "symanzik_1loop_hisq"), 10, 0, 1, 4, 1, 1, 1, 1, 1, WALL_WINDING, 0},
         -0.05,
         0,
         1},
        {{param_kind(gauge_section(0), "symanzik_tadpole"), 7, 0, 0.5, 0, 1, 1, 1, 1, 1, WALL_WINDING, 0}, -0.2, 0, 1},
        {{param_kind(gauge_section(0), "symanzik"), 6, 0, 1, 0, 1, 1, 1, 1, 1, WALL_WINDING, 0}, -1.0 / 12, 0, 5.0 / 3},
        {{param_kind(gauge_section(0), "custom"), 6, 0.25, 1, 0, 1, 1, 1, 1, 1, WALL_WINDING, 0}, 0.25, 0, -1},
        {{param_kind(gauge_section(0), "wilson"), 6, 0, 1, 0, 1, 1, 1, 1, 1, WALL_WINDING, 0}, 0, 0, 1},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const gauge_weights w = gauge_params_weights(&known[k].g);
        CHECK_NEAR(w.plaquette[0] / known[k].g.beta, known[k].plaquette, 1e-14);
        CHECK_NEAR(w.rectangle[0] / known[k].g.beta, known[k].rectangle, 6e-9);
        CHECK_NEAR(w.parallelogram / known[k].g.beta, known[k].parallelogram, 2e-9);
    }
}

static void test_registries(void)
{
    const int n = solver_types_count();
    for (int i = 0; i < n; i++) check_choice("solver", "type", solver_type_number(i)->name);
    for (int i = 0; quark_kind_number(i); i++) {
        const quark_kind *kind = quark_kind_number(i);
        check_choice("quark", "kind", kind->name);
        for (int k = 0; kind->parts[k]; k++)
            for (int j = 0; j < kind->parts[k]->count; j++)
                check_owner("quark", kind->parts[k]->table[j].name, kind->name);
        CHECK(!quark_kind_has(kind, "mass") && !quark_kind_has(kind, "flavour"));
    }
    for (int i = 0; action_kind_number(i); i++) {
        const action_kind *kind = action_kind_number(i);
        check_choice("action", "kind", kind->name);
        for (int k = 0; kind->parts[k]; k++)
            for (int j = 0; j < kind->parts[k]->count; j++)
                check_owner("action", kind->parts[k]->table[j].name, kind->name);
    }
    for (int i = 0; scheme_number(i); i++) check_choice("integrator", "scheme", scheme_name(scheme_number(i)));
    for (int i = 0; observable_number(i); i++) check_choice("measure", "kind", observable_number(i)->name);
    for (int i = 0; gauge_kind_number(i); i++) {
        const gauge_kind *kind = gauge_kind_number(i);
        check_choice("gauge", "action", kind->name);
        for (int k = 0; kind->parts[k]; k++) check_owner("gauge", kind->parts[k]->table[0].name, kind->name);
    }
    static const struct {
        const char *name;
        int forces, drifts;
    } known[] = {{"leapfrog", 1, 1}, {"omelyan2", 2, 2}, {"omelyan4", 5, 5}, {"force_gradient", 3, 2}};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(scheme_forces(scheme_find(known[i].name)), known[i].forces);
        CHECK_INT(scheme_drifts(scheme_find(known[i].name)), known[i].drifts);
        CHECK_INT(scheme_looks_ahead(scheme_find(known[i].name)), i == 3);
    }
}

/* ---- one link off the group ---- */

/* Its part in a root mean square over all links would be 1e-5. */
static void test_unitarity(void)
{
    const int size[4] = {8, 8, 8, 8}, any[4] = {0};
    char path[64], message[512];
    snprintf(path, sizeof path, "test-plan-%d.lime", 0);
    for (int off = 0; off < 2; off++) {
        lattice *lat = lattice_create(size, any, 2, -1);
        field *u = field_create(lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, PLACE_HOST);
        gauge_random(u, 5, RANDOM_START, 0);
        double *slice = field_slice_buffer(u);
        field_export(u, 0, slice);
        if (off && comm_rank() == 0)
            for (int k = 0; k < 18; k++) slice[k] *= 1 + 1e-3;
        field_import(u, 0, slice);
        free(slice);
        const links_meta meta = {.has_plaquette = 1, .plaquette = gauge_measure(u, 0).plaquette};
        CHECK_INT(links_write(u, path, "ildg", &meta, message, sizeof message), 0);
        CHECK_INT(simulation_read(u, path, 0, NULL, message, sizeof message) != 0, off);
        if (off) CHECK_HAS(message, "not in SU(3)");
        field_destroy(u);
        lattice_destroy(lat);
    }
    comm_barrier();
    if (comm_rank() == 0) remove(path);
}

/* Solvers of an input fit the boxes of so many ranks. Aggregates are those of one rank where there is a grid for it. */
static void check_input(const parameters *p, const int size[4], int ranks)
{
    lattice *plan = simulation_plan(p, size, ranks);
    const int *g = plan->grid;
    CHECK_INT(g[0] * g[1] * g[2] * g[3], ranks);
    simulation_check_solvers(p, plan); /* ends the test where one does not fit */
    for (int i = 0; i < p->nsolvers; i++) {
        const solver_settings *s = &p->solvers[i].p;
        const solver_type *type = solver_type_of(s);
        if (type->same_on_any_grid && ranks <= 16) CHECK(type->same_on_any_grid(s, plan));
    }
    lattice_destroy(plan);
}

static void test_inputs(void)
{
    static const int ranks[] = {1, 2, 4, 8, 16, 64, 256}, usual[4] = {16, 16, 16, 32};
    glob_t files;
    CHECK_INT(glob(PLAQ_SOURCE_DIR "/inputs/*.ini", 0, NULL, &files), 0);
    CHECK(files.gl_pathc > 10);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        /* Plans of this input read the transform, which plaq train has yet to make; cli/inputs does both. */
        if (strstr(files.gl_pathv[i], "/transform.ini")) continue;
        parameters *p = parameters_read(files.gl_pathv[i], 0, NULL, 0);
        const int *size = p->lattice.size[0] ? p->lattice.size : usual;
        for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) check_input(p, size, ranks[k]);
        parameters_free(p);
    }
    globfree(&files);
}

/* The grid of least surface comes first; all have the ranks, and no more than the surface asked for. */
static void test_grids(void)
{
    static const int size[4] = {24, 24, 24, 48};
    int(*grids)[4], least[4];
    const int n = lattice_grids(size, 8, 2, 2, &grids);
    CHECK(n > 1);
    CHECK_INT(lattice_choose_grid(size, 8, least), 1);
    for (int d = 0; d < 4; d++) CHECK_INT(grids[0][d], least[d]);
    for (int i = 0; i < n; i++) CHECK_INT(grids[i][0] * grids[i][1] * grids[i][2] * grids[i][3], 8);
    free(grids);
    CHECK_INT(lattice_grids(size, 7, 2, 2, &grids), 0);
    free(grids);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv);
    test_lattices();
    test_refusals();
    test_registries();
    test_gauge_weights();
    test_unitarity();
    test_grids();
    test_inputs();
    const int status = CHECK_SUMMARY();
    comm_finalize();
    return status;
}
