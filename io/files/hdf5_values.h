/* Named values in HDF5 files: numbers and texts as attributes, long texts as datasets.
 *
 * The put functions create; the get functions demand the type's class and one element. All return 0, or 1 when the
 * library refuses. Local; the objects are open. For io/ only, since hdf5.h is. */
#ifndef PLAQ_IO_HDF5_VALUES_H
#define PLAQ_IO_HDF5_VALUES_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

/* The library prints no errors of its own from here on: callers report. */
void values_silence(void);

int values_put_int(hid_t where, const char *name, int64_t value);
int values_put_unsigned(hid_t where, const char *name, uint64_t value);
int values_put_real(hid_t where, const char *name, double value);
int values_put_text(hid_t where, const char *name, const char *text);
int values_put_long_text(hid_t where, const char *name, const char *text);

int values_get_int(hid_t where, const char *name, int64_t *value);
int values_get_unsigned(hid_t where, const char *name, uint64_t *value);
int values_get_real(hid_t where, const char *name, double *value);
/* The text must fit in `size` bytes with its final zero. */
int values_get_text(hid_t where, const char *name, char *text, size_t size);
/* Allocated; NULL when it cannot be read. */
char *values_get_long_text(hid_t where, const char *name);
char *values_get_attribute_text(hid_t where, const char *name);

/* Kind of an open file, in a reader's words: VALUES_TABLES, VALUES_TRANSFORM, VALUES_EIGENVECTORS, VALUES_PROPAGATOR or VALUES_TRANSFORMATION,
 * whose root has that text as the attribute `kind`, "the history of a run", "a checkpoint", "a lattice file"; NULL for none of these. */
#define VALUES_KIND "kind"
#define VALUES_TABLES "a file of measurements"
#define VALUES_TRANSFORM "a transform of the fifth dimension"
#define VALUES_EIGENVECTORS "eigenvectors of an operator"
#define VALUES_PROPAGATOR "a propagator"
#define VALUES_TRANSFORMATION "a gauge transformation"
#define VALUES_LATTICE "a lattice file"
#define VALUES_NOT_HDF5 "not an HDF5 file"
const char *values_kind_of(hid_t file);
#define VALUES_KIND_SIZE 64

#endif
