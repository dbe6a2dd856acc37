#include "hmc/assemble/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/assemble/memory.h"
#include "hmc/assemble/threads.h"
#include "hmc/assemble/tuning.h"
#include "hmc/actions/action_kind.h"
#include "io/files/file_time.h"
#include "io/links/links.h"
#include "io/links/links_check.h"
#include "kernels/base/device.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/base/watchdog.h"
#include "kernels/lattice/comm.h"
#include "kernels/lattice/plan.h"
#include "kernels/ops/gauge.h"

/* Largest |U U^+ - 1| of a link. Single-precision files leave some 1e-6; the evolution wants links on the group. */
#define UNITARY_TO_ROUNDING 1e-12
#define UNITARY_AT_ALL 1e-4

void simulation_cpu(const parameters *p)
{
    threads_set(p->machine.threads);
    lattice_use_simd(p->machine.simd == SIMD_YES);
}

/* Bits of solutions depend on aggregates, and here these depend on the process grid. */
static void tell_choice(const solver_type *type, const solver_settings *s, const char *name, const lattice *plan)
{
    const int *g = plan->grid;
    if (type->same_on_any_grid && !type->same_on_any_grid(s, plan))
        log_info(
            "[solver.%s] block = auto chooses other aggregates on the process grid %d.%d.%d.%d than on one rank: "
            "solutions agree to the tolerance, and not in all bits; name blocks that divide the boxes of all grids "
            "to keep the bits",
            name, g[0], g[1], g[2], g[3]);
}

void simulation_check_solvers(const parameters *p, const lattice *plan)
{
    char message[512], value[PARAM_TEXT_SIZE];
    for (int i = 0; i < p->nsolvers; i++) {
        const solver_settings *s = &p->solvers[i].p;
        const solver_type *type = solver_type_of(s);
        const char *name = p->solvers[i].name, *key = type->fits ? type->fits(s, plan, message, sizeof message) : NULL;
        if (!key) {
            tell_choice(type, s, name, plan);
            continue;
        }
        param_format(param_find(type->own, key), s, value, sizeof value);
        user_error("%s: [solver.%s] %s = %s: %s", ini_where(p->input, "solver", name, key), name, key, value, message);
    }
}

/* Surface of the boxes of ranks, over the least that there is, up to which a process grid on which all solvers work as they
 * do on one rank is better than others. */
#define SURFACE_MOST 2

/* How well the solvers do on a process grid: 2 as on one rank, 1 otherwise, 0 not at all. */
static int solvers_on(const parameters *p, const lattice *plan)
{
    char message[512];
    int well = 2;
    for (int i = 0; i < p->nsolvers; i++) {
        const solver_settings *s = &p->solvers[i].p;
        const solver_type *type = solver_type_of(s);
        if (type->fits && type->fits(s, plan, message, sizeof message)) return 0;
        if (type->same_on_any_grid && !type->same_on_any_grid(s, plan)) well = 1;
    }
    return well;
}

lattice *simulation_plan(const parameters *p, const int size[4], int ranks)
{
    char message[512];
    const int reach = simulation_reach(p), *given = p->machine.grid;
    int best = 0, (*grids)[4] = NULL;
    const int n = given[0] ? 0 : lattice_grids(size, ranks, reach, SURFACE_MOST, &grids);
    lattice *plan = NULL;
    for (int i = 0; i < n && best < 2; i++) {
        lattice *other = plan_lattice(size, grids[i], ranks, reach, message, sizeof message);
        const int well = other ? solvers_on(p, other) : 0;
        if (well > best) {
            lattice_destroy(plan);
            plan = other;
            best = well;
        } else {
            lattice_destroy(other);
        }
    }
    free(grids);
    if (!plan) plan = plan_lattice(size, given, ranks, reach, message, sizeof message);
    if (!plan) simulation_refuse(p, message);
    lattice_bound(plan, parameters_time(p));
    return plan;
}

int simulation_reach(const parameters *p)
{
    int reach = 2;
    for (int i = 0; i < p->nquarks; i++) {
        const quark_kind *kind = quark_kind_of(&p->quarks[i].p);
        if (kind->reach && kind->reach(&p->quarks[i].p) > reach) reach = kind->reach(&p->quarks[i].p);
    }
    return reach;
}

void simulation_refuse(const parameters *p, const char *message)
{
    const int *g = p->machine.grid, *s = p->lattice.size;
    if (ini_given(p->input, "machine", NULL, "grid"))
        user_error("%s: [machine] grid = %d.%d.%d.%d: %s", ini_where(p->input, "machine", NULL, "grid"), g[0], g[1],
                   g[2], g[3], message);
    if (ini_given(p->input, "lattice", NULL, "size"))
        user_error("%s: [lattice] size = %d.%d.%d.%d: %s", ini_where(p->input, "lattice", NULL, "size"), s[0], s[1],
                   s[2], s[3], message);
    user_error("%s", message); /* size of a configuration, which no key gives */
}

lattice *simulation_lattice(const parameters *p, const int size[4], memory_need *need, const void *of)
{
    simulation_cpu(p);
    comm_set_delay(1e-6 * p->machine.delay);
    const int sign = p->lattice.time_boundary == BOUNDARY_ANTIPERIODIC ? -1 : 1;
    const int *extents = size ? size : p->lattice.size;
    char message[512];
    int grid[4];
    /* Faults show in the plan before memory is asked for. */
    lattice *plan = simulation_plan(p, extents, comm_size());
    memcpy(grid, plan->grid, sizeof grid);
    simulation_check_solvers(p, plan);
    const place where = need ? simulation_place(p, NULL) : PLACE_HOST;
    if (need && memory_lacks(plan, (double)need(of, plan, where), where, message, sizeof message))
        simulation_refuse(p, message);
    lattice_destroy(plan);
    lattice *lat = lattice_create(extents, grid, simulation_reach(p), sign);
    lattice_bound(lat, parameters_time(p));
    lattice_leave_idle(lat, p->lattice.idle_slices);
    return lat;
}

static void start_watchdog(const parameters *p)
{
    static int started;
    if (!started) watchdog_start(p->machine.watchdog, comm_rank());
    started = 1;
}

/* True if every rank finds a GPU. If not, the log says why, and device = gpu is a user error. */
static int are_gpus_there(const parameters *p)
{
    static int told;
    char message[512];
    gpu_why_none(message, sizeof message);
    if (!comm_any_bad(gpu_count() == 0, message, sizeof message)) return 1;
    if (p->machine.device == DEVICE_GPU)
        user_error("%s: [machine] device = gpu, but %s; or use device = cpu",
                   ini_where(p->input, "machine", NULL, "device"), message);
    if (gpu_built_in() && !told) log_info("device: CPU, since %s", message);
    told = 1;
    return 0;
}

/* Takes the GPUs, and opens what they exchange messages by. */
static void open_devices(const machine_params *m)
{
    static const char *const transports[] = {MACHINE_TRANSPORTS(PARAM_TEXT)};
    char message[512];
    if (gpu_bind(m->share_gpu == PARAM_YES, message, sizeof message)) user_error("%s", message);
    if (comm_size() > 1 && gpu_transport_choose(transports[m->transport], message, sizeof message))
        user_error("%s", message);
    log_info("device: %s%s%s", gpu_name(), comm_size() > 1 ? ", halos by " : "",
             comm_size() > 1 ? gpu_transport_name() : "");
    tuning_open((tune_mode)m->tune, m->tune_file, gpu_name());
}

/* Keys that have no effect here are not passed over in silence. */
static void stay_on_host(const machine_params *m)
{
    static int told;
    const int shares = m->share_gpu == PARAM_YES, by = m->transport != TRANSPORT_AUTO, tunes = m->tune != TUNE_ESTIMATE;
    if (!told && (shares || by || tunes))
        log_info("[machine] keys without effect on the CPU:%s%s%s", shares ? " share_gpu" : "", by ? " transport" : "",
                 tunes ? " tune" : "");
    told = 1;
}

place simulation_place(const parameters *p, const lattice *lat)
{
    start_watchdog(p);
    static int opened;
    const machine_params *m = &p->machine;
    if (!opened && (m->device == DEVICE_CPU || !are_gpus_there(p))) {
        stay_on_host(m);
        return PLACE_HOST;
    }
    if (!opened) open_devices(m);
    opened = 1;
    if (lat && m->transport == TRANSPORT_AUTO) tuning_transport(lat);
    return PLACE_DEVICE;
}

static int action_number(const simulation *s, const char *name)
{
    for (int i = 0; i < s->e.nactions; i++)
        if (!strcmp(s->e.actions[i]->name, name)) return i;
    REQUIRE(0, "no action %s", name);
    return -1;
}

int simulation_solvers(const parameters *p, named_solver solvers[MAX_NAMED])
{
    for (int i = 0; i < p->nsolvers; i++) solvers[i] = (named_solver){p->solvers[i].name, &p->solvers[i].p};
    return p->nsolvers;
}

static void add_action(simulation *s, action *a)
{
    REQUIRE(s->e.nactions < MAX_ACTIONS, "more than %d actions", MAX_ACTIONS);
    a->purpose = RANDOM_ACTION + s->e.nactions;
    s->e.actions[s->e.nactions++] = a;
}

/* The gauge action, then section after section its factors and the rest of its determinant. */
static void make_actions(simulation *s)
{
    const parameters *p = s->p;
    const action_scene scene = {s->quarks, s->solvers, simulation_solvers(p, s->solvers), &s->family};
    add_action(s, gauge_action_create("gauge", s->links, gauge_params_weights(&p->gauge)));
    for (int i = 0; i < p->nterms; i++) {
        const action_term *t = &p->terms[i];
        add_action(s, action_kind_of(&t->action->p)->create(&scene, t));
        if (t->factor == t->factors - 1 && action_has_det(t)) add_action(s, action_create_det(&scene, t));
    }
}

static void make_levels(simulation *s)
{
    for (int l = 0; l < s->p->nlevels; l++) {
        const integrator_params *in = &s->p->levels[l];
        level *out = &s->e.levels[l];
        char word[128];
        out->scheme = scheme_number(in->scheme);
        out->steps = in->steps;
        for (int w = 0; param_word(in->actions, w, word, sizeof word); w++)
            out->actions[out->nactions++] = action_number(s, word);
    }
    s->e.nlevels = s->p->nlevels;
}

/* Fixed links of walls. */
static void set_walls(const parameters *p, field *links)
{
    const lattice_params *l = &p->lattice;
    if (time_has_wall(links->lat->time, 1)) gauge_walls(links, l->phases[0], l->phases[1]);
}

/* Cold start: all links one, or with walls the classical solution, which from an open end to a wall is constant. */
static void set_cold(simulation *s)
{
    const lattice_params *l = &s->p->lattice;
    if (time_has_wall(s->lat->time, 1))
        gauge_background(s->links, l->phases[!time_has_wall(s->lat->time, 0)], l->phases[1]);
    else gauge_cold(s->links);
}

simulation *simulation_create_on(const parameters *p, lattice *lat, place where)
{
    simulation *s = calloc(1, sizeof *s);
    REQUIRE_MEMORY(s, "out of memory");
    s->p = p;
    s->lat = lat;
    s->links = field_create(s->lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, where);
    set_cold(s);
    s->e.lat = s->lat;
    s->e.xi_mom = p->run.xi_mom;
    s->e.anisotropic = p->run.xi_mom != 1 || p->gauge.xi_0 != 1;
    s->e.links = s->links;
    s->e.momenta = field_create(s->lat, FIELD_MOMENTA, PREC_DOUBLE, PARITY_BOTH, 1, where);
    s->e.force = field_like(s->e.momenta);
    s->quarks = quark_set_create(s->links);
    make_actions(s);
    make_levels(s);
    return s;
}

simulation *simulation_create(const parameters *p, memory_need *need)
{
    lattice *lat = simulation_lattice(p, NULL, need, p);
    return simulation_create_on(p, lat, simulation_place(p, lat));
}

void simulation_destroy(simulation *s)
{
    if (!s) return;
    for (int i = 0; i < s->e.nactions; i++) action_destroy(s->e.actions[i]);
    quark_set_destroy(s->quarks);
    field_destroy(s->e.displaced);
    field_destroy(s->e.force);
    field_destroy(s->e.momenta);
    field_destroy(s->links);
    lattice_destroy(s->lat);
    free(s);
}

int simulation_read(field *links, const char *path, int ignore_recorded, char digest[65], char *message, size_t size)
{
    links_info info;
    const double start = comm_wtime();
    const int bits = links_read(links, path, &info, message, size);
    file_time_add(start);
    if (bits == LINKS_BAD_RECORDED && !ignore_recorded) {
        const size_t n = strlen(message);
        snprintf(message + n, size - n,
                 ": the links are damaged or in another order; --ignore-recorded continues all the same");
    }
    if (bits && !(bits == LINKS_BAD_RECORDED && ignore_recorded)) return bits;
    if (bits) log_warn("%s; continuing all the same, as --ignore-recorded says", message);
    const int open = links->lat->time != TIME_PERIODIC;
    if (info.open_boundary != open) {
        snprintf(
            message, size,
            open ? "%s: a periodic configuration: links in time of the last slice are not zero, and with [lattice] "
                   "time_boundary = open, schroedinger or open-schroedinger they are; [run] start = cut begins such an "
                   "ensemble with it"
                 : "%s: open boundaries in time: all links in time of the last time slice are zero; give [lattice] "
                   "time_boundary = open, or schroedinger or open-schroedinger for fixed walls",
            path);
        return 1;
    }
    if (open && info.idle_slices != links->lat->idle) {
        snprintf(message, size, "%s: the last time slice has %s links; give [lattice] idle_slices = %d", path,
                 info.idle_slices ? "no" : "active", info.idle_slices);
        return 1;
    }
    if (digest) links_digest(links, digest);
    if (info.oddity[0]) log_warn("%s: %s: %s", path, info.format, info.oddity);
    check_report group = {.info = info};
    if (!info.has_checksum) links_check_group(links, info.precision_bits, &group);
    const double deviation =
        info.has_checksum ? links_deviation(links) : fmax(group.max_unitarity, group.max_determinant);
    const int off = !(deviation < UNITARY_AT_ALL);
    if (off)
        snprintf(message, size,
                 "%s: the links are not in SU(3) (a link or its determinant is off by %.2e, allowed is %.0e); is this "
                 "a gauge configuration, without phases or boundary conditions? plaq check tells more",
                 path, deviation, UNITARY_AT_ALL);
    else if (group.far_out)
        snprintf(message, size,
                 "%s: %llu links are further off SU(3) than rounding and the other links explain, and the file has no "
                 "checksum: it is damaged; plaq check tells more",
                 path, (unsigned long long)group.far_out);
    if (off || group.far_out) return 1;
    if (deviation > UNITARY_TO_ROUNDING) {
        log_info("%s: links of %d bits deviate from the group by up to %.1e and are projected", path,
                 info.precision_bits, deviation);
        gauge_unitarise(links);
    }
    return 0;
}

/* Links of walls in files of 32 bits are off by some 1e-7. */
#define WALLS_OFF 1e-6

/* The largest difference of two fields of links. */
static double links_distance(const field *a, const field *b)
{
    const int *l = a->lat->local;
    const long n = 72L * l[0] * l[1] * l[2];
    double *x = field_slice_buffer(a), *y = field_slice_buffer(b), most = 0;
    for (int t = 0; t < field_slices(a); t++) {
        field_export(a, t, x);
        field_export(b, t, y);
        for (long i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    }
    free(y);
    free(x);
    comm_max(&most, 1);
    return most;
}

int simulation_refuse_walls(const parameters *p, field *links, const char *path, char *message, size_t size)
{
    const lattice_params *l = &p->lattice;
    if (!time_has_wall(links->lat->time, 1)) return 0;
    field *walls = field_like(links);
    field_copy(walls, links);
    gauge_walls(walls, l->phases[0], l->phases[1]);
    const double off = links_distance(walls, links);
    if (off < WALLS_OFF) field_copy(links, walls);
    else
        snprintf(
            message, size,
            "%s: links of the walls differ by %.2g from those of [lattice] low_phases and up_phases; give the phases "
            "of this ensemble, or begin with [run] start = cut, which sets the walls",
            path, off);
    field_destroy(walls);
    return !(off < WALLS_OFF);
}

void simulation_refuse_start(const parameters *p, const char *message)
{
    user_error("%s: [run] config = %s: %s", ini_where(p->input, "run", NULL, "config"), p->run.config, message);
}

int simulation_read_first(const parameters *p, lattice *lat, field *links, int ignore_recorded, char *message,
                          size_t size)
{
    const time_boundary time = lat->time;
    const int cut = p->run.start == START_CUT;
    if (cut) lattice_bound(lat, TIME_PERIODIC); /* the file is judged as a periodic one */
    const int bad = simulation_read(links, p->run.config, ignore_recorded, NULL, message, size);
    lattice_bound(lat, time);
    if (bad && cut) {
        const size_t n = strlen(message);
        snprintf(message + n, size - n,
                 " (start = cut takes configurations of periodic lattices, start = file others)");
    }
    if (bad || !cut) return bad || simulation_refuse_walls(p, links, p->run.config, message, size);
    slices_scale(links, SLICES_INACTIVE_LINKS, 0);
    set_walls(p, links);
    return 0;
}

void simulation_start(simulation *s, int ignore_recorded)
{
    const run_params *run = &s->p->run;
    char message[1024];
    if (parameters_start_reads(s->p)) {
        if (simulation_read_first(s->p, s->lat, s->links, ignore_recorded, message, sizeof message))
            simulation_refuse_start(s->p, message);
    } else if (run->start == START_HOT) {
        gauge_random(s->links, (uint64_t)run->seed, RANDOM_START, 0);
        set_walls(s->p, s->links);
    } else {
        REQUIRE(run->start == START_COLD, "start = %s", parameters_start(s->p));
        set_cold(s);
    }
}

field *simulation_configuration(const parameters *p, const char *path, int ignore_recorded, memory_need *need,
                                const void *of, lattice **lat, char digest[65])
{
    links_info info;
    char message[1024];
    if (links_probe(path, &info, message, sizeof message)) user_error("%s", message);
    if (links_settle_size(&info, path, p->lattice.size, "[lattice] size", message, sizeof message))
        user_error("%s", message);
    *lat = simulation_lattice(p, info.size, need, of);
    field *links = field_create(*lat, FIELD_LINKS, PREC_DOUBLE, PARITY_BOTH, 1, simulation_place(p, *lat));
    if (simulation_read(links, path, ignore_recorded, digest, message, sizeof message) ||
        simulation_refuse_walls(p, links, path, message, sizeof message))
        user_error("%s", message);
    return links;
}
