/* Outputs of commands: what may stand under the name of a file that a command is about to write.
 *
 * Every command asks here before its work begins, so a file that is something else is refused at once and keeps its bytes.
 * A name may be free, or that of a file of the kind that the command itself makes, as far as the table in output_file.c
 * allows this: `plaq measure` and `plaq solve` append to files of measurements, `plaq convert` replaces lattice files
 * but those that a run keeps and the one that it reads, `plaq report`, `plaq bench --calibrate`, `plaq train` and the
 * tuner replace what they made before. Eigenvectors are not replaced. */
#ifndef PLAQ_IO_OUTPUT_FILE_H
#define PLAQ_IO_OUTPUT_FILE_H

#include <stddef.h>

#include "io/files/run_folder.h"

typedef enum {
    OUTPUT_LINKS,
    OUTPUT_TABLES,
    OUTPUT_EIGENVECTORS,
    OUTPUT_TRANSFORM,
    OUTPUT_PROPAGATOR,
    OUTPUT_TRANSFORMATION,
    OUTPUT_PAGE,
    OUTPUT_EFFECTIVE,
    OUTPUT_CALIBRATION,
    OUTPUT_TUNING
} output_kind;

/* Beginnings by which texts of plaq are known; their writers begin with them. The title is that of a page. */
#define OUTPUT_PAGE_TITLE "plaq report: "
#define OUTPUT_EFFECTIVE_TITLE "plaq effective: "
#define OUTPUT_CALIBRATION_START "; Rates of what a trajectory is made of"

/* Permission to write a file of this kind under that name: 0, or -1 with a message that says what stands there, or what
 * is wrong with the folder. `reads` is the lattice file that the command reads, or NULL. Nothing is changed. Local. */
int output_file_allowed(const char *path, output_kind kind, const char *reads, char *message, size_t size);
/* output_file_allowed() by rank 0, with one result and message for all ranks. Collective. */
int output_file_check(const char *path, output_kind kind, const char *reads, char *message, size_t size);

#endif
