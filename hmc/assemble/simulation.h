/* A run's objects made from its parameters: lattice, links, operators, actions and time scales. */
#ifndef PLAQ_SIMULATION_H
#define PLAQ_SIMULATION_H

#include "hmc/integrate/trajectory.h"
#include "hmc/assemble/parameters.h"
#include "hmc/quarks/quark_set.h"
#include "operators/fermion.h"

typedef struct {
    const parameters *p;
    lattice *lat;
    field *links;
    quark_set *quarks;
    named_solver solvers[MAX_NAMED];
    solver_family family; /* family of the actions' solvers */
    evolution e;
} simulation;

/* Sites that the operators of a run reach to. */
int simulation_reach(const parameters *p);
/* The planned lattice of extents `size` on so many ranks, on the process grid that [machine] gives or, where it leaves that
 * open, on one with little surface on which the solvers of the input work as they do on one rank, where there is such a
 * one. A lattice that cannot be split is a user error. Free with lattice_destroy(). */
lattice *simulation_plan(const parameters *p, const int size[4], int ranks);
/* Sets the threads and the lanes that the input asks for; before lattices and plans are made. */
void simulation_cpu(const parameters *p);
/* Refuses solvers whose keys do not suit the lattice, which may be a plan. */
void simulation_check_solvers(const parameters *p, const lattice *plan);
/* The lattice of the input (or of `size`, when given) on all ranks. Sets threads and lanes. One that does not fit the
 * ranks, or with which the command takes more bytes a rank than there are, is a user error before any are taken. `need`
 * says how many, of what the caller names (hmc/plan/forecast.h); null: the caller knows that they fit. Collective. */
typedef size_t memory_need(const void *of, const lattice *plan, place where);
lattice *simulation_lattice(const parameters *p, const int size[4], memory_need *need, const void *of);
/* The user error of a lattice that does not suit the ranks or the machine: the message, with the keys that ask for it. */
__attribute__((noreturn)) void simulation_refuse(const parameters *p, const char *message);
/* Place of the fields of this input. The first call takes the GPUs, and each one chooses the transport of halos of `lat`
 * (null: no lattice yet). A device or transport that the machine does not offer is a user error. Collective. */
place simulation_place(const parameters *p, const lattice *lat);
/* Makes the lattice of the input and the simulation on it, with cold links; `need` of p as simulation_lattice() takes it. */
simulation *simulation_create(const parameters *p, memory_need *need);
/* Makes the simulation on a lattice, which it takes over; a planned one makes a simulation that only counts. Local. */
simulation *simulation_create_on(const parameters *p, lattice *lat, place where);
void simulation_destroy(simulation *s);

/* The first configuration: cold, hot, or read from the file of the input, whose faults are user errors. */
void simulation_start(simulation *s, int ignore_recorded);
/* The user error of the file of the first configuration: the message, with the key that names the file. */
__attribute__((noreturn)) void simulation_refuse_start(const parameters *p, const char *message);
/* Reads a configuration into links: 0, or nonzero with a message. Faults are those of links_read(), a link far off the
 * group, and, without a checksum, one further off than the others explain. When plaquette or link trace alone differ from
 * those recorded, ignore_recorded makes that a warning. Single-precision links are projected to the group. `digest`, unless
 * NULL, gets that of the links as the file has them, as plaq check tells it. Inactive links that are not zero are a fault, and on a
 * periodic lattice those that are. Collective. */
int simulation_read(field *links, const char *path, int ignore_recorded, char digest[65], char *message, size_t size);
/* The file of the first configuration of a run, on its lattice, with start = file or cut: as simulation_read(). */
int simulation_read_first(const parameters *p, lattice *lat, field *links, int ignore_recorded, char *message,
                          size_t size);
/* Links read into a Schroedinger functional, whose walls have to be those of the input, and then get them to all digits: 0, or nonzero
 * with a message. Nothing happens with other boundaries in time. Collective. */
int simulation_refuse_walls(const parameters *p, field *links, const char *path, char *message, size_t size);

/* The links of one configuration, whose faults are user errors, and the lattice of its size, as simulation_lattice() makes
 * it. Collective. */
field *simulation_configuration(const parameters *p, const char *path, int ignore_recorded, memory_need *need,
                                const void *of, lattice **lat, char digest[65]);

/* Lists the solvers of the input; returns how many. */
int simulation_solvers(const parameters *p, named_solver solvers[MAX_NAMED]);

#endif
