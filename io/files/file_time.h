/* Seconds that this process spends with files, from the call of a reader or writer to its return: waiting for other ranks,
 * checksums and conversions are in them. Callers of readers and writers count; a span must not lie in another. */
#ifndef PLAQ_IO_FILE_TIME_H
#define PLAQ_IO_FILE_TIME_H

/* Adds the time since `start`, of comm_wtime(), and returns it. */
double file_time_add(double start);
/* Seconds since the program began. */
double file_time(void);

#endif
