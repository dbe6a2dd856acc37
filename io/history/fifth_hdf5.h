/* A transform of the fifth dimension (solvers/transform.h) in an HDF5 file: datasets `upper` and `lower` [fewer slices][all
 * slices], T of the spins with gamma5 = 1 and -1, and the attributes mu, quark (lines "key = value" of all keys that T
 * depends on) and program. The file is sealed (io/files/seal.h). */
#ifndef PLAQ_IO_FIFTH_HDF5_H
#define PLAQ_IO_FIFTH_HDF5_H

#include <stddef.h>

#include "kernels/family/domainwall.h"

/* Collective; rank 0 alone touches the file, and all ranks get the same result and message. 0, or nonzero with a message;
 * then an older file of that name is untouched. */
int fifth_write(const char *path, const fifth_matrix *T, double mu, const char *quark, const char *program,
                char *message, size_t size);
/* The text of `quark` must fit in `bytes`. */
int fifth_read(const char *path, fifth_matrix *T, double *mu, char *quark, size_t bytes, char *message, size_t size);

#endif
