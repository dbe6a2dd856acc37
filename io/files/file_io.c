#include "io/files/file_io.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/files/regular.h"
#include "kernels/base/utf8.h"

void file_print(char *text, size_t size, const char *fmt, va_list ap)
{
    char raw[2048];
    vsnprintf(raw, sizeof raw, fmt, ap);
    utf8_printable(text, size, raw);
}

int file_fail(char *message, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    file_print(message, size, fmt, ap);
    va_end(ap);
    return FILE_UNREADABLE;
}

int file_fail_read(char *message, size_t size, const char *path, const char *what)
{
    const int why = errno;
    file_fail(message, size, "%s: %s cannot be read: %s", path, what, why ? strerror(why) : "the file ends before");
    return why ? FILE_UNREADABLE | FILE_NO_ACCESS : FILE_UNREADABLE;
}

int file_open(const char *path, uint64_t *bytes, int *bad, char *message, size_t size)
{
    const char *why;
    const int fd = regular_open(path, bytes, &why);
    if (fd >= 0) return fd;
    *bad = file_fail(message, size, "%s: %s", path, why) | FILE_NO_ACCESS | (fd == -2 ? FILE_NO_REGULAR : 0);
    return -1;
}

int file_pread(int fd, void *buf, size_t n, uint64_t offset)
{
    for (size_t done = 0; done < n;) {
        errno = 0;
        const ssize_t got = pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        done += (size_t)got;
    }
    return 0;
}

int file_pwrite(int fd, const void *buf, size_t n, uint64_t offset)
{
    for (size_t done = 0; done < n;) {
        const ssize_t put = pwrite(fd, (const char *)buf + done, n - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return -1;
        done += (size_t)put;
    }
    return 0;
}
