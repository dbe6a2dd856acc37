/* HDF5 files in memory. The library does not survive a disk that fails while it has a file open there, and locks of its
 * own make healthy files unreadable where a file system has none; so it never has one open. It makes, changes and reads
 * files in memory, and their bytes are written and read like those of any other file (io/files/atomic.h, io/links/links_format.h).
 *
 *   image *m = image_create();             or image_read(path, ...)
 *   ... groups and datasets of image_file(m) ...
 *   image_write(m, path, message, size);   or image_close(m)
 *
 * Only what was written takes memory, so a file may be a structure around a large hole. Files are sealed (io/files/seal.h).
 * Local. */
#ifndef PLAQ_IO_HDF5_IMAGE_H
#define PLAQ_IO_HDF5_IMAGE_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "io/files/hdf5_values.h"
#include "io/files/seal.h"

typedef struct image image;

/* An empty file; NULL when the library fails. */
image *image_create(void);
/* A sealed file, whose seal is verified first; the regions that the seal leaves out are not read, and are zero here.
 * NULL with a message, and in `status` (unless NULL) the value of file_fail() or of seal_check(). */
image *image_read(const char *path, seal_regions *out, int *status, char *message, size_t size);
/* The open file. */
hid_t image_file(const image *m);

/* Ends the library's work on it; nonzero when that fails. The bytes are there until image_close(). */
int image_finish(image *m);
/* The bytes of a finished file into one on disk, which gets its length; `hole` is passed over. 0, or -1 with errno. */
int image_copy(const image *m, int fd, uint64_t hole, uint64_t hole_bytes);

/* Finishes it, makes it the file of that name, sealed without regions, and closes it in any case. 0, or -1 with a
 * message; then an older file of that name is untouched. */
int image_write(image *m, const char *path, char *message, size_t size);
void image_close(image *m);

/* A file on disk, which may be anything, and its kind. NULL where it is not a sealed one, or with a message and `status` as of
 * image_read(), else zero. */
image *image_look(const char *path, char kind[VALUES_KIND_SIZE], seal_regions *out, int *status, char *message,
                  size_t size);
/* A sealed file of this kind without regions; NULL with a message, and nonzero `status`, where it is not one. */
image *image_of_kind(const char *path, const char *kind, int *status, char *message, size_t size);
/* The kind alone. 0, or bits as of links_read() with a message when the file cannot be read or is damaged. */
int image_kind(const char *path, char kind[VALUES_KIND_SIZE], char *message, size_t size);

#endif
