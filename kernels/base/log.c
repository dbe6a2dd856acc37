#include "kernels/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ORDINARY_WIDTH 80
#define ERASE "\r\033[K" /* carriage return, then erase to the end of the line */

static int status_open, status_shown;
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
    log_status_clear();
    FILE *out = level <= LOG_WARN || clean_stdout ? stderr : stdout;
    char line[4096];
    vsnprintf(line, sizeof line, fmt, ap);
    fprintf(out, "%s%s\n", prefix, line);
    fflush(out);
}

/* ---- the status line ---- */

void log_status_open(void)
{
    const char *terminal = getenv("TERM");
    status_open =
        this_rank == 0 && threshold >= LOG_INFO && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

int log_status_wanted(void)
{
    return status_open && !silent;
}

void log_status(const char *fmt, ...)
{
    struct winsize size = {0};
    char line[512];
    va_list ap;
    if (!log_status_wanted()) return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    const int known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    /* A full line would make the terminal begin another. */
    fprintf(stderr, ERASE "%.*s", (known ? size.ws_col : ORDINARY_WIDTH) - 1, line);
    fflush(stderr);
    status_shown = 1;
}

void log_status_clear(void)
{
    if (!status_shown) return;
    fputs(ERASE, stderr);
    fflush(stderr);
    status_shown = 0;
}

void log_status_close(void)
{
    log_status_clear();
    status_open = 0;
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
