/* Checkpoints: the state of a run between two trajectories.
 *
 * A checkpoint is the file checkpoint-NNNNNN.h5 (number of trajectories done) in the output folder, one of plaq's HDF5
 * lattice files (io/links/links_hdf5.c, so that every command that reads links reads it) with a group `checkpoint`:
 *
 *   /links                  [t][z][y][x][mu][row][column][re, im], with size, link_trace, sha256 and more as attributes
 *   /checkpoint             attributes version, trajectory, accepted, seed, plaquette, link_trace, digest, program
 *   /checkpoint/parameters  the dump of all parameter tables (kernels/base/param.h), text
 *
 * Every byte is guarded: the links by their SHA-256 (the digest), all else by that of the seal in the user block
 * (io/files/seal.h), which is looked at before the HDF5 library sees the file. A checkpoint is written to a temporary name,
 * synced, read back from disk, verified, and renamed; so a file of that name was good once, and a run may be killed at
 * any instant.
 *
 * All functions but checkpoint_path(), checkpoint_newest() and checkpoint_free() are collective; all ranks get the same
 * result and message. Nothing here is a user error by itself: the caller judges. */
#ifndef PLAQ_IO_CHECKPOINT_H
#define PLAQ_IO_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/field/field.h"

#define CHECKPOINT_PROGRAM_SIZE 128

enum {
    CHECKPOINT_GOOD = 0,
    CHECKPOINT_DAMAGED = 1,       /* or a file of another kind */
    CHECKPOINT_OTHER_LATTICE = 2, /* whole, but of another size than the field */
    CHECKPOINT_NO_ACCESS = 3,     /* the file cannot be opened or read, which says nothing of its contents */
    CHECKPOINT_NO_FILE = 4        /* a folder, a FIFO or a device of that name */
};

/* Refusals of checkpoint_write(). */
enum {
    CHECKPOINT_NO_ROOM = -1,  /* the file cannot be written */
    CHECKPOINT_BAD_LINKS = -2 /* the links in memory are not those of a run */
};

/* Largest |U U^+ - 1| and |det U - 1| of links that a run makes, generously. */
#define CHECKPOINT_OFF_GROUP 1e-10

typedef struct {
    int64_t trajectory; /* trajectories done */
    int64_t accepted;   /* trajectories accepted */
    uint64_t seed;      /* key of the random numbers, which are functions of it, the trajectory and the site */
    double plaquette;
    char program[CHECKPOINT_PROGRAM_SIZE]; /* version of the program */
    char *parameters;                      /* allocated by the functions that read */
    const char *ensemble, *physics;        /* ensemble label and parameters of /links, for writing; or NULL */
    double link_trace;                     /* link trace and digest: set by writing and by reading */
    char digest[65];
} checkpoint;

/* The name of a checkpoint. */
void checkpoint_path(char *path, size_t size, const char *folder, int64_t trajectory);
/* Bytes of a checkpoint file, within some kilobytes. */
uint64_t checkpoint_bytes(const int size[4], size_t parameter_bytes);

/* Writes c and links (both parities), and sets link_trace and digest in c. Afterwards the `keep` newest checkpoints up to
 * this trajectory are left and older ones removed; 0 keeps all. Links that are not in SU(3) or whose plaquette is not
 * that of c are refused: memory was damaged after the trajectory. Returns 0, or one of the above with a message; then the
 * folder is as before. */
int checkpoint_write(const char *folder, const field *links, checkpoint *c, int keep, char *message, size_t size);

/* Trajectory numbers of the files named like checkpoints, newest first; returns how many, at most max, or -1 with a
 * message when the folder is there and cannot be read. */
int checkpoint_find(const char *folder, int64_t *trajectories, int max, char *message, size_t size);

/* Trajectory number of the newest file named like a checkpoint, -1 when there is none or the folder cannot be read.
 * Local. */
int64_t checkpoint_newest(const char *folder);

/* Links and values, verified: seal, digest, recorded plaquette and link trace, unitarity. On failure the links are
 * undefined and c needs no checkpoint_free(). */
int checkpoint_read(const char *path, field *links, checkpoint *c, char *message, size_t size);

/* The newest good checkpoint of the folder; each one passed over, damaged or no file, is logged as a warning. `path`,
 * of `path_size` bytes, gets its name. Returns 1; 0 when the folder holds no checkpoint; -1 with a message when none of
 * those there is good, when one cannot be read (it may be good, so it is not passed over), or when the newest good one
 * has another lattice. */
int checkpoint_read_newest(const char *folder, field *links, checkpoint *c, char *path, size_t path_size, char *message,
                           size_t size);

void checkpoint_free(checkpoint *c);

#endif
