/* Eigenvectors of an operator in an HDF5 file: datasets `values` and `residuals` [pairs], `vectors`
 * [pair][t][z][y][x][real], 64-bit floats, of the sites of one parity (x counts these) or of all; reals are slices times
 * components, re and im. Attributes: size, parity, links (the digest of io/links/links.h), quark (lines "key = value" of all keys
 * that the operator depends on) and program. The file is sealed (io/files/seal.h). Rank 0 holds it in memory as a whole. */
#ifndef PLAQ_IO_EIGEN_HDF5_H
#define PLAQ_IO_EIGEN_HDF5_H

#include <stddef.h>

#include "kernels/field/field.h"

#define EIGEN_KEYS_SIZE 4096

typedef struct {
    int n;
    double *values, *residuals; /* [n] */
    char links[65], quark[EIGEN_KEYS_SIZE];
    int size[4], parity; /* extents of the lattice, parity of the sites; set by eigen_file_open() */
    struct image *image; /* the open file in the memory of rank 0 */
} eigen_file;

/* Vectors are in blocks of `block` columns each, but for the last, in double precision and all of one shape and parity.
 * Collective; all ranks get the same result and message. 0, or nonzero with a message; then an older file of that name is
 * untouched. */
int eigen_file_write(const char *path, const eigen_file *f, field *const *blocks, int block, const char *program,
                     char *message, size_t size);
/* Reads and verifies the file, and gives all but the vectors; eigen_file_close() frees what it holds. Collective. */
int eigen_file_open(const char *path, eigen_file *f, char *message, size_t size);
/* The first n vectors of the open file into such blocks. A lattice, parity or shape that is another is an error. Collective. */
int eigen_file_read(const eigen_file *f, const char *path, int n, field *const *blocks, int block, char *message,
                    size_t size);
void eigen_file_close(eigen_file *f);

#endif
