/* Log events, a line each, printed by rank 0 on standard output (warnings and errors on standard error), in four levels. */
#ifndef PLAQ_LOG_H
#define PLAQ_LOG_H

#include "kernels/base/error.h"
#include "kernels/base/param.h"

#define LOG_LEVELS(X) X(LOG_ERROR, "error") X(LOG_WARN, "warn") X(LOG_INFO, "info") X(LOG_DEBUG, "debug")
typedef enum { LOG_LEVELS(PARAM_CONSTANT) } log_level;

#ifdef __cplusplus
extern "C" {
#endif

void log_set_rank(int rank);
/* Events above `level` are dropped. The default is LOG_INFO. */
void log_set_level(log_level level);
/* Sends information to standard error, too, if `on`, so that standard output carries only results (--json). */
void log_keep_stdout_clean(int on);

/* Prints nothing if `on`. */
void log_silence(int on);

/* The status line: one line on standard error, written over again and again, that says what takes long. It is there on
 * rank 0 only, while standard error is a terminal that can move its cursor, at LOG_INFO or more; events of the log take its
 * place. log_status() cuts the text to the terminal's width; log_status_clear() removes the line; log_status_wanted()
 * says whether there is any. */
void log_status_open(void);
int log_status_wanted(void);
void log_status(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_status_clear(void);
void log_status_close(void);

void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);

#ifdef __cplusplus
}
#endif
#endif
