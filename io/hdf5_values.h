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

/* Opens a file for reading, silently and without a lock: a lock held elsewhere, or a file system that has none, does not
 * matter, for files are replaced by renaming and the output folder is locked as a whole. Negative on failure. */
hid_t values_open(const char *path);
/* The message of a failing values_open() of a file whose seal is right; bits of links_read() that do not call it damaged.
 */
int values_fail_open(char *message, size_t size, const char *path);

/* After a failure, the seal being right: when errno tells that the library could not read, that message and those bits;
 * else the message and `bits` as they are. errno was zero before. */
int values_fail_read(int bits, char *message, size_t size, const char *path);

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

#endif
