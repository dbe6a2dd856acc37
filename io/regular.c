#include "io/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL for a regular file. */
static const char *other_kind(mode_t mode)
{
    if (S_ISREG(mode)) return NULL;
    return S_ISDIR(mode)                    ? "a directory, not a regular file"
           : S_ISFIFO(mode)                 ? "a FIFO, not a regular file"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device, not a regular file"
           : S_ISSOCK(mode)                 ? "a socket, not a regular file"
                                            : "not a regular file";
}

int regular_open(const char *path, uint64_t *bytes, const char **why)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        *why = strerror(errno);
        return -1;
    }
    *why = other_kind(st.st_mode);
    if (*why) return -2;
    /* Should it become another file in between, the opening must not wait. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int known = fd >= 0 && fstat(fd, &st) == 0;
    *why = known ? other_kind(st.st_mode) : strerror(errno);
    if (*why) {
        if (fd >= 0) close(fd);
        return known ? -2 : -1;
    }
    if (bytes) *bytes = (uint64_t)st.st_size;
    return fd;
}
