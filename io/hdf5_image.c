#include "io/hdf5_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/atomic.h"
#include "io/hdf5_values.h"
#include "io/links_format.h"
#include "io/regular.h"
#include "io/seal.h"

/* By which the library lengthens a file in memory. */
#define CORE_STEP (1 << 20)

hid_t image_create(void)
{
    values_silence();
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_fapl_core(fapl, CORE_STEP, 0);
    H5Pset_userblock(fcpl, SEAL_BYTES);
    const hid_t file = H5Fcreate("plaq", H5F_ACC_TRUNC, fcpl, fapl);
    H5Pclose(fcpl);
    H5Pclose(fapl);
    return file;
}

static hid_t open_bytes(void *bytes, size_t n)
{
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(fapl, CORE_STEP, 0);
    const hid_t file = H5Pset_file_image(fapl, bytes, n) < 0 ? -1 : H5Fopen("plaq", H5F_ACC_RDWR, fapl);
    H5Pclose(fapl);
    return file;
}

hid_t image_read(const char *path, char *message, size_t size)
{
    seal_regions out;
    uint64_t n = 0;
    const char *why;
    hid_t file = -1;
    if (seal_check(path, &out, message, size)) return -1;
    const int fd = regular_open(path, &n, &why);
    char *bytes = fd < 0 ? NULL : malloc((size_t)n);
    if (fd < 0) links_fail(message, size, "%s: %s", path, why);
    else if (!bytes) links_fail(message, size, "%s: no memory for its %llu bytes", path, (unsigned long long)n);
    else if (links_pread(fd, bytes, (size_t)n, 0)) links_fail(message, size, "%s: %s", path, strerror(errno));
    else if (values_silence(), (file = open_bytes(bytes, (size_t)n)) < 0)
        links_fail(message, size, "%s: HDF5 cannot open the file", path);
    if (fd >= 0) close(fd);
    free(bytes);
    return file;
}

/* The bytes of the file, room for the seal in front; NULL when the library fails. */
static unsigned char *bytes_of(hid_t file, size_t *bytes)
{
    const ssize_t n = H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(file, NULL, 0);
    unsigned char *image = n > 0 ? calloc((size_t)n + SEAL_BYTES, 1) : NULL;
    if (image && H5Fget_file_image(file, image + SEAL_BYTES, (size_t)n) != n) {
        free(image);
        image = NULL;
    }
    *bytes = (size_t)n + SEAL_BYTES;
    return image;
}

int image_write(hid_t file, const char *path, char *message, size_t size)
{
    size_t bytes = 0;
    atomic_file a;
    const seal_regions none = {0, {0}, {0}};
    unsigned char *image = bytes_of(file, &bytes);
    H5Fclose(file);
    if (!image) {
        links_fail(message, size, "%s: HDF5 cannot make the file in memory", path);
        return -1;
    }
    int bad = atomic_begin(&a, path, bytes, message, size) || atomic_fill(&a, image, bytes, message, size);
    free(image);
    if (bad) return -1;
    if (!seal_write(a.temporary, &none, message, size)) return atomic_commit(&a, message, size);
    atomic_abandon(&a);
    return -1;
}
