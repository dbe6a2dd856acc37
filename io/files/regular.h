/* Files that are opened to be read: regular ones, nothing else.
 *
 * A FIFO would hang the program until somebody writes, and a device may do so or never end. So whatever plaq reads is
 * looked at before it is opened. Local: one rank. */
#ifndef PLAQ_IO_REGULAR_H
#define PLAQ_IO_REGULAR_H

#include <stdint.h>

/* Opens for reading. Returns a descriptor; -1 when it cannot be opened, -2 when it is no regular file. Then *why is the
 * reason ("No such file or directory", "a FIFO, not a regular file"), valid until the next call. `bytes` gets the length
 * of the file, unless it is NULL. */
int regular_open(const char *path, uint64_t *bytes, const char **why);

/* The bytes of a file of `most` at most, and a zero behind them; to be freed. NULL with the reason in *why, as above, or
 * where there is no memory for them. */
char *regular_read(const char *path, uint64_t most, uint64_t *bytes, const char **why);

#endif
