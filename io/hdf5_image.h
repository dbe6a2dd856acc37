/* HDF5 files in memory. The library does not survive a disk that fills up while it has a file open there, so it never
 * has one open for writing: it makes and changes files in memory, and their bytes are written like any other (io/atomic.h).
 * Then a full disk is an ordinary error.
 *
 *   hid_t file = image_create();           or image_read(path, ...), to add to a file that is there
 *   ... groups and datasets ...
 *   image_write(file, path, message, size);
 *
 * The files are sealed (io/seal.h), no region left out. What they hold must fit in memory twice. Local. */
#ifndef PLAQ_IO_HDF5_IMAGE_H
#define PLAQ_IO_HDF5_IMAGE_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

/* An empty file; negative when the library fails. */
hid_t image_create(void);
/* A copy of a sealed file, whose seal is verified; negative with a message. */
hid_t image_read(const char *path, char *message, size_t size);
/* Closes the file in any case, and makes it the file of that name. 0, or -1 with a message; then an older file of that
 * name is untouched. */
int image_write(hid_t file, const char *path, char *message, size_t size);

/* A file in memory of which only what is written takes memory: for a structure around a large hole. `access` is the
 * property list for H5Fcreate(), whose name does not count; the store outlives the file. */
typedef struct image_store image_store;
image_store *image_store_create(hid_t *access);
void image_store_destroy(image_store *s, hid_t access);
/* The closed file's bytes into a file on disk, which gets its length; the hole is passed over. 0, or -1 with errno. */
int image_store_copy(const image_store *s, int fd, uint64_t hole, uint64_t hole_bytes);

#endif
