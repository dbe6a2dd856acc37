#include "kernels/base/log.h"

#include <stdarg.h>
#include <stdio.h>

static int this_rank;
static log_level threshold = LOG_INFO;
static int clean_stdout, silent;

void log_set_rank(int rank)
{
    this_rank = rank;
}

void log_set_level(log_level level)
{
    threshold = level;
}

void log_keep_stdout_clean(int on)
{
    clean_stdout = on;
}

void log_silence(int on)
{
    silent = on;
}

static void emit(log_level level, const char *prefix, const char *fmt, va_list ap)
{
    if (this_rank != 0 || level > threshold || silent) return;
    FILE *out = level <= LOG_WARN || clean_stdout ? stderr : stdout;
    char line[4096];
    vsnprintf(line, sizeof line, fmt, ap);
    fprintf(out, "%s%s\n", prefix, line);
    fflush(out);
}

#define LOG_FUNCTION(name, level, prefix)                                                                              \
    void name(const char *fmt, ...)                                                                                    \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        va_start(ap, fmt);                                                                                             \
        emit(level, prefix, fmt, ap);                                                                                  \
        va_end(ap);                                                                                                    \
    }

LOG_FUNCTION(log_error, LOG_ERROR, "error: ")
LOG_FUNCTION(log_warn, LOG_WARN, "warning: ")
LOG_FUNCTION(log_info, LOG_INFO, "")
LOG_FUNCTION(log_debug, LOG_DEBUG, "debug: ")
