/* Configurations that are kept: the ensemble. [save] says which, and in which format; they lie apart from checkpoints,
 * which come and go, and no run removes or replaces one. */
#ifndef PLAQ_SAVE_H
#define PLAQ_SAVE_H

#include <stddef.h>
#include <stdint.h>

#include "hmc/assemble/parameters.h"
#include "hmc/record/kept.h"
#include "hmc/record/record.h"
#include "io/history/output_file.h"
#include "kernels/field/field.h"

/* True if the configuration of a trajectory is kept; and how many are from trajectory 1 to the last. Local. */
int save_due(const parameters *p, int64_t trajectory);
int64_t save_count(const parameters *p);
/* Bytes of one, within some kilobytes. Local. */
uint64_t save_bytes(const parameters *p, const int size[4]);

/* Writes the links of a trajectory into OUTPUT/configurations under the name that [save] gives, with trajectory number,
 * name and parameters of the ensemble where the format has a place for them; it is read back and verified before it has
 * its name, and `message` is then that name. 1 when the same links are there already; -1 with a message,
 * also when other links are there under that name. Collective. */
int save_configuration(const parameters *p, const field *links, int64_t trajectory, double plaquette, char *message,
                       size_t size);

/* Puts that configuration into the index (kept.h), with the share of trajectories accepted since the one before. 0, or -1
 * with a message when the index is there and cannot be read or written. Collective. */
int save_index(const parameters *p, record *history, const field *links, int64_t trajectory, double plaquette,
               char *message, size_t size);

/* Reads the configurations whose lines the index lacks, and writes these. What is no lattice file, is damaged or says no
 * trajectory is told in a warning. 0, or -1 with a message when the index cannot be read or written. Collective. */
int save_restore_index(const parameters *p, record *history, const lattice *lat, char *message, size_t size);

#endif
