/* One event a line, printed by rank 0 on standard output (warnings and errors on standard error), in four levels. */
#ifndef PLAQ_LOG_H
#define PLAQ_LOG_H

#include "kernels/base/error.h"

typedef enum { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG } log_level;

#ifdef __cplusplus
extern "C" {
#endif

void log_set_rank(int rank);
/* Events above `level` are dropped. The default is LOG_INFO. */
void log_set_level(log_level level);
/* With `on`, information goes to standard error too, so that standard output carries only results (--json). */
void log_keep_stdout_clean(int on);

/* With `on`, nothing is printed. */
void log_silence(int on);

void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);

#ifdef __cplusplus
}
#endif
#endif
