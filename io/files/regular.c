#include "io/files/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

char *regular_read(const char *path, uint64_t most, uint64_t *bytes, const char **why)
{
    const int fd = regular_open(path, bytes, why);
    if (fd < 0) return NULL;
    char *text = *bytes <= most ? malloc((size_t)*bytes + 1) : NULL;
    *why = *bytes <= most ? "out of memory" : "the file is too long";
    for (uint64_t n = 0; text && n < *bytes;) {
        const ssize_t got = read(fd, text + n, (size_t)(*bytes - n));
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) {
            n += (uint64_t)got;
            continue;
        }
        *why = got < 0 ? strerror(errno) : "the file ends early";
        free(text);
        text = NULL;
    }
    if (text) text[*bytes] = 0;
    close(fd);
    return text;
}
