/* Reads and writes at an offset, and messages about files. Local. */
#ifndef PLAQ_IO_FILE_IO_H
#define PLAQ_IO_FILE_IO_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/error.h"

/* Bits of a result: the file is no good for its reader; it cannot be opened or read, whatever it contains; it is a folder,
 * FIFO, socket or device. */
enum { FILE_UNREADABLE = 1, FILE_NO_ACCESS = 8, FILE_NO_REGULAR = 32 };

/* Prints a text in which bytes of a file may be, fit for a terminal. */
void file_print(char *text, size_t size, const char *fmt, va_list ap);
/* Prints the message, fit for a terminal whatever bytes of a file are in it; returns FILE_UNREADABLE. */
int file_fail(char *message, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Prints the message of a failing file_pread() of `what`, by its errno: also FILE_NO_ACCESS, unless the file ends there. */
int file_fail_read(char *message, size_t size, const char *path, const char *what);
/* Opens a regular file for reading; -1 with bits of a result in *bad and a message. `bytes` gets its length. */
int file_open(const char *path, uint64_t *bytes, int *bad, char *message, size_t size);
/* Whole reads and writes at an offset; 0, or -1 with errno (0 for the end of the file). */
int file_pread(int fd, void *buf, size_t n, uint64_t offset);
int file_pwrite(int fd, const void *buf, size_t n, uint64_t offset);

#endif
