#include "hmc/input/parameters.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc/evolve/fermion_kind.h"
#include "hmc/measure/observable.h"
#include "io/links.h"
#include "kernels/base/error.h"
#include "kernels/field/field.h"

/* Filled by parameter_sections(), before any table is looked at. */
static choices gauge_choices, fermion_choices, scheme_choices, save_choices;

/* The help of keys that only some gauge actions have, with those actions in front. */
enum { C1, U0, QUARKS, GAUGE_KEYS };
static kind_key gauge_keys[GAUGE_KEYS] = {
    [C1] = {"c1", "coefficient of the rectangles; has to be given", ""},
    [U0] = {"u0", "tadpole factor, fourth root of the plaquette, which enters by its inverse powers; has to be given",
            ""},
    [QUARKS] = {"flavours",
                "number of HISQ quarks in the loops: r = 0.6264 - 1.1746 N and p = 0.0433 - 0.0156 N, where "
                "symanzik_1loop has 0.6264 and 0.04335",
                ""},
};

/* The same for keys that only some kinds of fermions have. */
enum {
    KAPPA,
    CLOVER,
    SCHUR,
    LINK_REALS,
    LONG_REALS,
    HEAT_BATH,
    RATIO_TO,
    PREDICTOR,
    FLAVOURS,
    PSEUDOFERMIONS,
    APPROXIMATION,
    FORCE_APPROXIMATION,
    SPECTRUM,
    LINKS,
    TADPOLE,
    NAIK_EPSILON,
    WITH,
    RANGE_BREACH,
    FERMION_KEYS
};
static kind_key fermion_keys[FERMION_KEYS] = {
    [KAPPA] = {"kappa", "hopping parameter 1/(2m + 8), in place of mass; 1/8 is the free massless quark", ""},
    [CLOVER] = {"c_sw", "clover coefficient; 0: Wilson fermions", ""},
    [SCHUR] = {"schur", "even-odd complement that the pseudofermion has", ""},
    [LONG_REALS] =
        {"long_reals",
         "storage of links of three in a row in solvers, of asqtad and hisq: whole; 13: two rows and the phase of the "
         "determinant, from which the third row is computed, which moves less; or 9: that phase and the eight "
         "parameters of a matrix in SU(3), which moves least and computes most, and loses a digit or two on a few "
         "links, in solvers' true residuals, too",
         ""},
    [LINK_REALS] = {"link_reals",
                    "storage of links in solvers: whole, or two rows with the third computed, which moves less", ""},
    [HEAT_BATH] = {"heat_bath_solver",
                   "[solver.NAME] for the heat bath, which has a solve for rational functions and for a ratio; empty: "
                   "the accept step's",
                   ""},
    [RATIO_TO] =
        {"ratio_to",
         "[fermion.NAME] of a heavier mass: the section then stands for det(M^+ M) / det(W^+ W), W that of NAME, "
         "which has its own section for the rest; empty: det(M^+ M)",
         ""},
    [PREDICTOR] = {"predictor",
                   "the last solutions of the trajectory from which the next force's is guessed; more than 0 makes it "
                   "reversible only to the tolerance of the solver",
                   ""},
    [FLAVOURS] = {"flavours", "N of det(M^+ M)^(N/2), N <= 2 n; of staggered quarks det(M)^(N/4), N <= 4 n", ""},
    [PSEUDOFERMIONS] = {"pseudofermions", "n, each for the nth root of the determinant", ""},
    [APPROXIMATION] = {"approximation", "largest relative error of the rational functions of heat bath and accept step",
                       ""},
    [FORCE_APPROXIMATION] = {"force_approximation", "the same of the force's", ""},
    [SPECTRUM] =
        {"spectrum",
         "range LO HI of the rational functions in eigenvalues of Mhat^+ Mhat, which is measured and has to "
         "be inside; or auto: as measured at the start of each trajectory, with room, which leaves trajectories "
         "reversible to force_approximation. Of staggered quarks in those of M^+ M on one parity, where LO is mass^2",
         ""},
    [LINKS] =
        {"links",
         "naive: thin links; fat7: tadpole-improved paths of up to 7 links; asqtad: those with Lepage's path, and "
         "paths of 3 in a row; hisq: both one after the other without tadpoles, with a projection to U(3) between",
         ""},
    [TADPOLE] =
        {"u0",
         "tadpole factor of fat7 and asqtad links, fourth root of the plaquette, which enters by its inverse powers; "
         "has to be given with them",
         ""},
    [NAIK_EPSILON] = {"naik_epsilon",
                      "of a heavy quark with hisq links: paths of 3 in a row get 1 + epsilon, the link itself "
                      "epsilon / 8 more; at mass m -27/40 m^2 + 327/1120 m^4 - 5843/53760 m^6 + 153607/3942400 m^8 "
                      "(hep-lat/0610092, eq. (24))",
                      ""},
    [WITH] = {"with",
              "further factors MASS:N det(M)^(N/4) on the same pseudofermion, of masses above the section's; N may be "
              "negative, as in 0.05:1 0.2:-3, where another section of that mass and the same links has the 3",
              ""},
    [RANGE_BREACH] = {"range_breach",
                      "what follows when the spectrum is found outside of the range: stop, with advice; or widen: the "
                      "trajectory is begun again with the same random numbers on a range that takes it in, for this "
                      "trajectory alone, which is then reversible to force_approximation",
                      ""},
};

static void add_choice(choices *c, const char *name, const char *help)
{
    param_add_choice(c->names, sizeof c->names, c->help, sizeof c->help, name, help);
}

static void end_help(kind_key *k)
{
    param_append(k->help, sizeof k->help, ": ", k->text);
}

static void fill_choices(void)
{
    if (gauge_choices.names[0]) return;
    for (int i = 0; gauge_kind_number(i); i++)
        add_choice(&gauge_choices, gauge_kind_number(i)->name, gauge_kind_number(i)->help);
    for (int k = 0; k < GAUGE_KEYS; k++) {
        for (int i = 0; gauge_kind_number(i); i++)
            if (gauge_kind_has(gauge_kind_number(i), gauge_keys[k].key))
                param_append(gauge_keys[k].help, sizeof gauge_keys[k].help, ", ", gauge_kind_number(i)->name);
        end_help(&gauge_keys[k]);
    }
    for (int i = 0; fermion_kind_number(i); i++)
        add_choice(&fermion_choices, fermion_kind_number(i)->name, fermion_kind_number(i)->help);
    for (int i = 0; scheme_number(i); i++)
        add_choice(&scheme_choices, scheme_name(scheme_number(i)), scheme_help(scheme_number(i)));
    for (int k = 0; k < FERMION_KEYS; k++) {
        for (int i = 0; fermion_kind_number(i); i++)
            if (fermion_kind_has(fermion_kind_number(i), fermion_keys[k].key))
                param_append(fermion_keys[k].help, sizeof fermion_keys[k].help, ", ", fermion_kind_number(i)->name);
        end_help(&fermion_keys[k]);
    }
    for (int i = 0; links_format_name(i); i++)
        if (links_format_writes(links_format_name(i))) add_choice(&save_choices, links_format_name(i), NULL);
}

static const param run_table[] = {
    {"output", PARAM_STRING, AT(run_params, output), NULL, NULL, NULL,
     "folder for checkpoints and history; a run continues from what it finds there", 0},
    {"trajectories", PARAM_LONG, AT(run_params, trajectories), "100", "[0,4294967295]", NULL,
     "number of trajectories in all, counted from the start of the ensemble; random numbers are counted by 32 bits of "
     "it",
     0},
    {"seed", PARAM_LONG, AT(run_params, seed), "1", "[0,inf)", NULL, "key of every random number of the run", 1},
    {"start", PARAM_CHOICE, AT(run_params, start), "cold", "cold|hot|file", NULL,
     "first configuration: all links one, random, or read from config", 1},
    {"config", PARAM_STRING, AT(run_params, config), "", NULL, NULL,
     "lattice file to start from with start = file (any format that plaq reads)", 1},
    {"length", PARAM_REAL, AT(run_params, length), "1", "(0,1000]", "MD time",
     "length of a trajectory, in the time of H = -tr P^2 + S, dU/dt = P U (openQCD's; one of MILC's units is sqrt(2)); "
     "steps are stable up to about 1",
     1},
    {"warmup", PARAM_LONG, AT(run_params, warmup), "0", "[0,inf)", NULL,
     "first trajectories that are accepted whatever dH, and left out of the averages", 1},
    {"max_hours", PARAM_REAL, AT(run_params, max_hours), "0", "[0,1000000]", "hours",
     "stop in time for this limit, counted from the start of the program; 0: none but the end of the Slurm job, which "
     "always counts",
     0},
    {"log", PARAM_CHOICE, AT(run_params, log), "info", "error|warn|info|debug", NULL, "how much is printed", 0},
};

static const param machine_table[] = {
    {"grid", PARAM_INT4, AT(machine_params, grid), "0.0.0.0", "[0,32766]", "ranks",
     "process grid X.Y.Z.T; 0.0.0.0 chooses the one of least surface", 0},
    {"device", PARAM_CHOICE, AT(machine_params, device), "auto", "auto|cpu|gpu", NULL,
     "where the fields live; auto: on GPUs where every rank finds one, one a rank, else on the CPU", 0},
    {"share_gpu", PARAM_CHOICE, AT(machine_params, share_gpu), "no", "no|yes", NULL,
     "whether ranks of a node may share GPUs when there are more ranks than GPUs", 0},
    {"transport", PARAM_CHOICE, AT(machine_params, transport), "auto", "auto|peer|nccl|cuda_aware|host", NULL,
     "how GPUs exchange halos: stores into the neighbour's memory, NCCL, MPI from device memory, MPI through host "
     "memory; auto: the first of these that works on all ranks, or what the tuner finds for the lattice",
     0},
    {"tune", PARAM_CHOICE, AT(machine_params, tune), "estimate", "estimate|measure|file", NULL,
     "how shapes of GPU kernels, hops with their messages in one kernel or several, and the transport are chosen: by "
     "rule; by timing each case when it first comes up, kept in tune_file; or from tune_file alone. Results do not "
     "depend on it",
     0},
    {"tune_file", PARAM_STRING, AT(machine_params, tune_file), "plaq-tune.txt", NULL, NULL,
     "the cache of tune = measure and file, one for each kind of GPU", 0},
    {"threads", PARAM_INT, AT(machine_params, threads), "0", "[0,4096]", NULL,
     "OpenMP threads of a rank; 0: as OMP_NUM_THREADS says", 0},
    {"simd", PARAM_CHOICE, AT(machine_params, simd), "yes", "yes|no", NULL,
     "whether the CPU takes several sites at a time, one in each lane of its vectors; no: one by one, in the order of "
     "a GPU, for comparisons. Results do not depend on it",
     0},
    {"watchdog", PARAM_REAL, AT(machine_params, watchdog), "1800", "[0,1e7]", "seconds",
     "longest that a rank may wait for others or for its GPU before the run is ended as hung (ranks that wait for "
     "others in turns, within half a minute more); more than the slowest file takes; 0: for ever",
     0},
    {"delay", PARAM_REAL, AT(machine_params, delay), "0", "[0,1e6]", "us",
     "for studies: every exchange of halos and every sum over ranks takes so much longer, as on a slower network", 0},
};

static const param lattice_table[] = {
    {"size", PARAM_INT4, AT(lattice_params, size), "0.0.0.0", "[0,32766]", "sites",
     "extents X.Y.Z.T, even numbers of at least 2; a run needs them, a measurement takes them from its files", 1},
    {"time_boundary", PARAM_CHOICE, AT(lattice_params, time_boundary), "antiperiodic", "antiperiodic|periodic", NULL,
     "boundary condition of fermions in time", 1},
};

static const param gauge_table[] = {
    {"action", PARAM_CHOICE, AT(gauge_params, action), "wilson", gauge_choices.names, NULL, gauge_choices.help, 1},
    {"beta", PARAM_REAL, AT(gauge_params, beta), NULL, "[0,1e6]", NULL,
     "coupling: S = beta sum [c0 (1 - Re tr P/3) + c1 (1 - Re tr R/3)] over plaquettes P and rectangles R, "
     "c0 = 1 - 8 c1 and beta = 6/g^2; or of symanzik_1loop: c0 = 1, c1 = -(1 - r ln u0)/(20 u0^2), and beside them "
     "c2 (1 - Re tr C/3) over parallelograms C, c2 = p ln u0/u0^2, beta = 10/g^2; symanzik_tadpole is that with r = p "
     "= "
     "0",
     1},
    {"c1", PARAM_REAL, AT(gauge_params, c1), "0", "[-100,100]", NULL, gauge_keys[C1].help, 1},
    {"u0", PARAM_REAL, AT(gauge_params, u0), "1", "[0.1,1]", NULL, gauge_keys[U0].help, 1},
    {"flavours", PARAM_INT, AT(gauge_params, flavours), "0", "[0,16]", NULL, gauge_keys[QUARKS].help, 1},
};

static const param fermion_key_table[] = {
    {"kind", PARAM_CHOICE, AT(fermion_params, kind), "wilson_clover", fermion_choices.names, NULL, fermion_choices.help,
     1},
    {"mass", PARAM_REAL, AT(fermion_params, mass), "0", "[-3.5,1e6]", "1/a",
     "bare mass m; one of mass and kappa has to be given; -3.5 is kappa = 1. M = m + D / 2 for staggered quarks, with "
     "m "
     "> 0",
     1},
    {"kappa", PARAM_REAL, AT(fermion_params, kappa), "0.125", "[1e-6,1]", NULL, fermion_keys[KAPPA].help, 1},
    {"c_sw", PARAM_REAL, AT(fermion_params, c_sw), "0", "[-10,10]", NULL, fermion_keys[CLOVER].help, 1},
    {"schur", PARAM_CHOICE, AT(fermion_params, schur), "asymmetric", "asymmetric|symmetric", NULL,
     fermion_keys[SCHUR].help, 0},
    {"parity", PARAM_CHOICE, AT(fermion_params, parity), "odd", "even|odd", NULL, "sites of the pseudofermion", 0},
    {"link_reals", PARAM_CHOICE, AT(fermion_params, link_reals), "12", "18|12", "reals", fermion_keys[LINK_REALS].help,
     0},
    {"solver", PARAM_STRING, AT(fermion_params, solver), NULL, NULL, NULL, "[solver.NAME] for the force", 0},
    {"action_solver", PARAM_STRING, AT(fermion_params, action_solver), "", NULL, NULL,
     "[solver.NAME] for the accept step; empty: the force's", 0},
    {"heat_bath_solver", PARAM_STRING, AT(fermion_params, heat_bath_solver), "", NULL, NULL,
     fermion_keys[HEAT_BATH].help, 0},
    {"reversal_solver", PARAM_STRING, AT(fermion_params, reversal_solver), "", NULL, NULL,
     "[solver.NAME] for the force where plaq verify checks that trajectories are reversible; empty: the force's", 0},
    {"ratio_to", PARAM_STRING, AT(fermion_params, ratio_to), "", NULL, NULL, fermion_keys[RATIO_TO].help, 1},
    {"predictor", PARAM_INT, AT(fermion_params, predictor), "0", "[0,32]", "vectors", fermion_keys[PREDICTOR].help, 0},
    {"flavours", PARAM_INT, AT(fermion_params, flavours), "1", "[1,32]", NULL, fermion_keys[FLAVOURS].help, 1},
    {"pseudofermions", PARAM_INT, AT(fermion_params, pseudofermions), "1", "[1,8]", NULL,
     fermion_keys[PSEUDOFERMIONS].help, 0},
    {"approximation", PARAM_REAL, AT(fermion_params, approximation), "1e-12", "[1e-14,1e-6]", NULL,
     fermion_keys[APPROXIMATION].help, 0},
    {"force_approximation", PARAM_REAL, AT(fermion_params, force_approximation), "1e-7", "[1e-14,1e-3]", NULL,
     fermion_keys[FORCE_APPROXIMATION].help, 0},
    {"spectrum", PARAM_WORDS, AT(fermion_params, spectrum), "auto", NULL, NULL, fermion_keys[SPECTRUM].help, 0},
    {"links", PARAM_CHOICE, AT(fermion_params, links), "hisq", "naive|fat7|asqtad|hisq", NULL, fermion_keys[LINKS].help,
     1},
    {"u0", PARAM_REAL, AT(fermion_params, u0), "1", "[0.1,2]", NULL, fermion_keys[TADPOLE].help, 1},
    {"long_reals", PARAM_CHOICE, AT(fermion_params, long_reals), "18", "18|13|9", "reals",
     fermion_keys[LONG_REALS].help, 0},
    {"naik_epsilon", PARAM_REAL, AT(fermion_params, naik_epsilon), "0", "(-1,1]", NULL, fermion_keys[NAIK_EPSILON].help,
     1},
    {"with", PARAM_WORDS, AT(fermion_params, with), "", NULL, NULL, fermion_keys[WITH].help, 1},
    {"range_breach", PARAM_CHOICE, AT(fermion_params, range_breach), "stop", "stop|widen", NULL,
     fermion_keys[RANGE_BREACH].help, 0},
    {"measured_only", PARAM_CHOICE, AT(fermion_params, measured_only), "no", "no|yes", NULL,
     "yes: no action and on no level, but a quark for [measure.NAME] sections, solved by action_solver or solver; may "
     "be "
     "added to an ensemble that exists",
     1},
};

static const param integrator_table[] = {
    {"scheme", PARAM_CHOICE, AT(integrator_params, scheme), "omelyan2", scheme_choices.names, NULL, scheme_choices.help,
     0},
    {"steps", PARAM_INT, AT(integrator_params, steps), NULL, "[1,100000]", NULL,
     "steps in the trajectory (level 0) or in each drift of the level above", 0},
    {"actions", PARAM_WORDS, AT(integrator_params, actions), NULL, NULL, NULL,
     "forces of this level: gauge, names of fermions, and NAME.det for a fermion's log det (by default beside NAME)",
     0},
};

static const param checkpoint_table[] = {
    {"interval", PARAM_LONG, AT(checkpoint_params, interval), "1", "[1,inf)", "trajectories",
     "distance of checkpoints; with 1 a killed run loses at most the trajectory in hand", 0},
    {"keep", PARAM_INT, AT(checkpoint_params, keep), "3", "[1,1000]", NULL, "checkpoints kept, the newest", 0},
};

static const param save_table[] = {
    {"interval", PARAM_LONG, AT(save_params, interval), "0", "[0,inf)", "trajectories",
     "distance of the configurations that are kept for ever, in the folder configurations of the output: those of "
     "trajectories that are multiples of it; 0: none is kept, and of the ensemble only the last checkpoints are left",
     0},
    {"from", PARAM_LONG, AT(save_params, from), "0", "[0,inf)", "trajectories",
     "no configuration of an earlier trajectory is kept", 0},
    {"format", PARAM_CHOICE, AT(save_params, format), "ildg", save_choices.names, NULL,
     "of their files; each is read back and its checksum verified before it has its name", 0},
    {"ensemble", PARAM_STRING, AT(save_params, ensemble), "", NULL, NULL,
     "name of the ensemble, one line that the files carry where their format has a place for it", 0},
};

static const param_section run_section = {
    "run", 0, KEYS(run_table), sizeof(run_params), "what is run, and where its results go", NULL};
static const param_section machine_section = {"machine",       0,   KEYS(machine_table), sizeof(machine_params),
                                              "how it is run", NULL};
static const param_section lattice_section = {"lattice",     0,   KEYS(lattice_table), sizeof(lattice_params),
                                              "the lattice", NULL};
static const param_section gauge_section = {"gauge", 0, KEYS(gauge_table), sizeof(gauge_params), "the gauge action",
                                            NULL};
static const param_section fermion_section = {"fermion",
                                              1,
                                              KEYS(fermion_key_table),
                                              sizeof(fermion_params),
                                              "a fermion action, or a quark that is only measured; none for pure gauge",
                                              NULL};
static const param_section integrator_section = {
    "integrator",
    1,
    KEYS(integrator_table),
    sizeof(integrator_params),
    "a time scale of molecular dynamics: integrator.0 is the coarsest, then 1, 2, ...",
    NULL};
static const param_section checkpoint_section = {"checkpoint",  0,   KEYS(checkpoint_table), sizeof(checkpoint_params),
                                                 "checkpoints", NULL};

static const param_section save_section = {
    "save", 0, KEYS(save_table), sizeof(save_params), "configurations that are kept", NULL};

const param_section *const *parameter_sections(int *n)
{
    static const param_section *all[32];
    static int count;
    fill_choices();
    if (!count) {
        const param_section *const first[] = {&run_section,   &machine_section, &lattice_section,
                                              &gauge_section, &fermion_section, &integrator_section};
        const param_section *const last[] = {&checkpoint_section, &save_section};
        for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
            all[count++] = first[i];
            for (int k = 0; first[i] == &fermion_section && fermion_kind_number(k); k++)
                if (fermion_kind_number(k)->own) all[count++] = fermion_kind_number(k)->own;
        }
        for (int i = 0; solver_section(i); i++) all[count++] = solver_section(i);
        for (size_t i = 0; i < sizeof last / sizeof last[0]; i++) all[count++] = last[i];
        for (int i = 0; observable_section(i); i++) all[count++] = observable_section(i);
    }
    *n = count;
    return all;
}

/* ---- reading ---- */

int parameters_instances(const ini_input *in, const char *section, const char *names[MAX_NAMED + 1])
{
    const int n = ini_instances(in, section, names, MAX_NAMED + 1);
    if (n > MAX_NAMED)
        user_error("%s: more than %d sections [%s.NAME]", ini_where(in, section, names[0], ""), MAX_NAMED, section);
    return n;
}

/* Refuses keys that a fermion's kind does not have. */
static void check_fermion_keys(const ini_input *in, const named_fermion *f)
{
    const fermion_kind *kind = fermion_kind_find(f->p.kind), *other;
    for (int i = 0; (other = fermion_kind_number(i)); i++)
        for (int k = 0; other->own && k < other->own->count; k++) {
            const char *key = other->own->table[k].name;
            if (ini_given(in, "fermion", f->name, key) && !fermion_kind_has(kind, key))
                user_error("%s: [fermion.%s] kind = %s has no key '%s'; beside those of every kind it has %s",
                           ini_where(in, "fermion", f->name, key), f->name, kind->name, key, kind->keys);
        }
    for (int k = 0; k < FERMION_KEYS; k++)
        if (ini_given(in, "fermion", f->name, fermion_keys[k].key) && !fermion_kind_has(kind, fermion_keys[k].key))
            user_error("%s: [fermion.%s] kind = %s has no key '%s'; beside those of every kind it has %s",
                       ini_where(in, "fermion", f->name, fermion_keys[k].key), f->name, kind->name, fermion_keys[k].key,
                       kind->keys);
}

static void read_fermions(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED + 1];
    p->nfermions = parameters_instances(in, "fermion", names);
    for (int i = 0; i < p->nfermions; i++) {
        named_fermion *f = &p->fermions[i];
        snprintf(f->name, sizeof f->name, "%s", names[i]);
        ini_fill(in, &fermion_section, names[i], &f->p);
        if (!strcmp(names[i], "gauge"))
            user_error("%s: a fermion may not be called gauge", ini_where(in, "fermion", names[i], ""));
        const fermion_kind *kind = fermion_kind_find(f->p.kind);
        if (kind->own) ini_fill(in, kind->own, names[i], f->p.own.bytes);
        check_fermion_keys(in, f);
        fermion_parameters_mass(in, f);
        fermion_parameters_complete(in, f);
    }
}

/* Refuses keys that a solver's type does not have. */
static void check_solver_keys(const ini_input *in, const named_settings *s)
{
    const solver_type *type = solver_type_find(s->p.type);
    static const char *const of_all[] = {"type", "tolerance", "max_iterations", "fallback"};
    char has[512], message[512];
    const param_section *part;
    solver_type_keys(type, has, sizeof has);
    for (size_t k = 1; k < sizeof of_all / sizeof of_all[0]; k++)
        if (!type->solve && ini_given(in, "solver", s->name, of_all[k]))
            user_error("%s: [solver.%s] type = %s has no key '%s', for it only preconditions; it has %s",
                       ini_where(in, "solver", s->name, of_all[k]), s->name, s->p.type, of_all[k], has);
    for (int i = 0; (part = solver_section(i)); i++)
        for (int k = i ? 0 : (int)(sizeof of_all / sizeof of_all[0]); k < part->count; k++) {
            const char *key = part->table[k].name;
            if (ini_given(in, "solver", s->name, key) && !solver_type_has(type, key))
                user_error("%s: [solver.%s] type = %s has no key '%s'; it has tolerance, max_iterations, fallback%s%s",
                           ini_where(in, "solver", s->name, key), s->name, s->p.type, key, has[0] ? " and " : "", has);
        }
    const char *key = type->check ? type->check(&s->p, message, sizeof message) : NULL;
    if (key) user_error("%s: [solver.%s] %s", ini_where(in, "solver", s->name, key), s->name, message);
    if (type->inner_solves && !s->p.inner_name[0])
        user_error("%s: [solver.%s] type = %s needs the key '%s', the name of the solver inside",
                   ini_where(in, "solver", s->name, ""), s->name, s->p.type, type->inner_key);
}

static void read_solvers(ini_input *in, parameters *p)
{
    const char *names[MAX_NAMED + 1];
    p->nsolvers = parameters_instances(in, "solver", names);
    for (int i = 0; i < p->nsolvers; i++) {
        snprintf(p->solvers[i].name, sizeof p->solvers[i].name, "%s", names[i]);
        ini_fill(in, solver_section(0), names[i], &p->solvers[i].p);
        const solver_type *type = solver_type_find(p->solvers[i].p.type);
        if (type->own) ini_fill(in, type->own, names[i], &p->solvers[i].p);
        check_solver_keys(in, &p->solvers[i]);
    }
}

void parameters_check_name(const ini_input *in, const char *section, const char *instance, const char *key,
                           const char *found, const char *const *known, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(known[i], found)) return;
    const char *nearest = param_nearest(found, known, n);
    user_error("%s: %s = %s in [%s.%s] names no %s of this file%s%s%s", ini_where(in, section, instance, key), key,
               found, section, instance, what, nearest ? "; did you mean '" : "", nearest ? nearest : "",
               nearest ? "'?" : "");
}

int parameters_on_level(const parameters *p, const char *name)
{
    char word[128];
    for (int l = 0; l < p->nlevels; l++)
        for (int w = 0; param_word(p->levels[l].actions, w, word, sizeof word); w++)
            if (!strcmp(word, name)) return 1;
    return 0;
}

/* Levels integrator.0, 1, ...; every action stands on exactly one of them. */
static void read_levels(ini_input *in, parameters *p, int required)
{
    const char *names[MAX_NAMED + 1], *actions[2 * MAX_NAMED + 1];
    int seen[2 * MAX_NAMED + 1] = {0}, n = 0;
    p->nlevels = parameters_instances(in, "integrator", names);
    if (p->nlevels > MAX_LEVELS)
        user_error("%s: %d integrator sections; a trajectory has at most %d time scales",
                   ini_where(in, "integrator", names[MAX_LEVELS], ""), p->nlevels, MAX_LEVELS);
    if (p->nlevels == 0 && required)
        user_error("%s: no section [integrator.0]; it says how the trajectory is integrated",
                   ini_where(in, "run", NULL, ""));
    static char determinants[MAX_NAMED][80];
    actions[n++] = "gauge";
    for (int i = 0; i < p->nfermions; i++) actions[n++] = p->fermions[i].name;
    for (int i = 0; i < p->nfermions; i++) {
        if (fermion_kind_find(p->fermions[i].p.kind)->staggered) continue;
        snprintf(determinants[i], sizeof determinants[i], "%s.det", p->fermions[i].name);
        actions[n++] = determinants[i];
    }
    for (int l = 0; l < p->nlevels; l++) {
        char number[16];
        snprintf(number, sizeof number, "%d", l);
        if (!ini_has_section(in, "integrator", number))
            user_error("%s: %d integrator sections, but no [integrator.%d]; number them from 0, the coarsest",
                       ini_where(in, "integrator", names[0], ""), p->nlevels, l);
        ini_fill(in, &integrator_section, number, &p->levels[l]);
        char word[128];
        for (int w = 0; param_word(p->levels[l].actions, w, word, sizeof word); w++) {
            parameters_check_name(in, "integrator", number, "actions", word, actions, n, "action");
            for (int i = 0; i < n; i++)
                if (!strcmp(actions[i], word) && seen[i]++)
                    user_error("%s: [integrator.%s] actions: action %s stands on more than one level, or twice",
                               ini_where(in, "integrator", number, "actions"), number, word);
        }
    }
    if (!required) return;
    if (!parameters_on_level(p, "gauge"))
        user_error("%s: the action gauge stands on no level; add it to actions of an [integrator.N]",
                   ini_where(in, "integrator", names[0], "actions"));
    fermion_parameters_levels(in, p);
}

static void dump(parameters *p)
{
    param_text t = {0};
    params_dump(&t, &run_section, NULL, &p->run);
    params_dump(&t, &machine_section, NULL, &p->machine);
    params_dump(&t, &lattice_section, NULL, &p->lattice);
    params_dump(&t, &gauge_section, NULL, &p->gauge);
    for (int i = 0; i < p->nfermions; i++) {
        const named_fermion *n = &p->fermions[i];
        const param_section *own = fermion_kind_find(n->p.kind)->own;
        params_dump(&t, &fermion_section, n->name, &n->p);
        if (own) params_dump(&t, own, n->name, n->p.own.bytes);
    }
    for (int i = 0; i < p->nlevels; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        params_dump(&t, &integrator_section, number, &p->levels[i]);
    }
    for (int i = 0; i < p->nsolvers; i++) {
        const named_settings *n = &p->solvers[i];
        const solver_type *type = solver_type_find(n->p.type);
        params_dump(&t, solver_section(0), n->name, &n->p);
        if (type->own) params_dump(&t, type->own, n->name, &n->p);
    }
    params_dump(&t, &checkpoint_section, NULL, &p->checkpoint);
    params_dump(&t, &save_section, NULL, &p->save);
    for (int i = 0; i < p->nmeasures; i++) {
        const named_measure *n = &p->measures[i];
        const observable *o = observable_find(n->p.kind);
        params_dump(&t, observable_section(0), n->name, &n->p);
        if (o->own) params_dump(&t, o->own, n->name, &n->p);
    }
    p->dump = t.data;
}

parameters *parameters_read(const char *path, int noverride, const char *const *overrides, int need)
{
    parameters *p = calloc(1, sizeof *p);
    REQUIRE_MEMORY(p, "out of memory");
    ini_input *in = p->input = ini_read(path, noverride, overrides);
    int nsections;
    const param_section *const *sections = parameter_sections(&nsections);
    /* A measurement's may have but a seed, which is not enough for the check. */
    if (!(need & NEED_GAUGE)) ini_fill_some(in, &run_section, NULL, &p->run);
    ini_check_all_used(in, sections, nsections);
    if (need & NEED_GAUGE) ini_fill(in, &run_section, NULL, &p->run);
    ini_fill(in, &machine_section, NULL, &p->machine);
    ini_fill(in, &lattice_section, NULL, &p->lattice);
    if (need & NEED_GAUGE && !ini_given(in, "lattice", NULL, "size"))
        user_error("%s: [lattice] needs the key 'size' (extents X.Y.Z.T, even numbers of at least 2)",
                   ini_where(in, "lattice", NULL, "size"));
    if (need & NEED_GAUGE || ini_has_section(in, "gauge", NULL)) ini_fill(in, &gauge_section, NULL, &p->gauge);
    else params_default(&gauge_section, &p->gauge);
    gauge_parameters_check(in, &p->gauge);
    ini_fill(in, &checkpoint_section, NULL, &p->checkpoint);
    ini_fill(in, &save_section, NULL, &p->save);
    for (int d = 0; d < 4; d++)
        if (p->lattice.size[d] % 2 || (p->lattice.size[d] == 0 && ini_given(in, "lattice", NULL, "size")))
            user_error(
                "%s: [lattice] size: extent %d in direction %c of the lattice is not an even number of at least 2",
                ini_where(in, "lattice", NULL, "size"), p->lattice.size[d], "xyzt"[d]);
    const int *g = p->machine.grid;
    const int given = (g[0] > 0) + (g[1] > 0) + (g[2] > 0) + (g[3] > 0);
    if (given > 0 && given < 4)
        user_error("%s: [machine] grid: process grid %d.%d.%d.%d; give four numbers of at least 1, or 0.0.0.0 to have "
                   "one chosen",
                   ini_where(in, "machine", NULL, "grid"), g[0], g[1], g[2], g[3]);
    if (!strcmp(p->run.start, "file") && !p->run.config[0])
        user_error("%s: [run] start = file needs config = FILE", ini_where(in, "run", NULL, "start"));
    if (strcmp(p->run.start, "file") && p->run.config[0])
        user_error("%s: [run] config is given, but start = %s does not read it; use start = file",
                   ini_where(in, "run", NULL, "config"), p->run.start);
    read_solvers(in, p);
    read_fermions(in, p);
    solver_parameters_nest(in, p);
    fermion_parameters_check(in, p);
    if (need & NEED_INTEGRATOR) fermion_parameters_together(in, p);
    read_levels(in, p, need & NEED_INTEGRATOR);
    measure_parameters_read(in, p);
    solver_parameters_check(in, p, need & NEED_EVERY_SOLVER);
    dump(p);
    return p;
}

void parameters_free(parameters *p)
{
    if (!p) return;
    ini_free(p->input);
    free(p->dump);
    free(p);
}
