/* Durations, sizes and long texts as the log has them. */
#ifndef PLAQ_TEXT_H
#define PLAQ_TEXT_H

/* "1:02:03", or "2d 03:04:05". */
const char *text_duration(double seconds, char text[32]);
/* "1.5 MiB". */
const char *text_bytes(double bytes, char text[32]);

/* Logs a long text line by line. */
void text_log_lines(void (*log)(const char *, ...), const char *text);

#endif
