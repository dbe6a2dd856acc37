#include "kernels/base/error.h"
#include "kernels/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int this_rank;

static void plain_exit(int status)
{
    exit(status);
}

static int memory_status = EXIT_USER_ERROR;
static char memory_advice[512] = "use more nodes, or a smaller lattice";
static void (*stop_all)(int) = plain_exit;
static void (*stop_together)(int) = plain_exit;

void error_set_hooks(int rank, void (*end_all)(int), void (*end_together)(int))
{
    this_rank = rank;
    stop_all = end_all;
    stop_together = end_together;
}

void error_set_memory(int status, const char *advice)
{
    memory_status = status;
    snprintf(memory_advice, sizeof memory_advice, "%s", advice);
}

void error_stop(const char *file, int line, const char *function, const char *condition, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fflush(stdout);
    log_status_clear();
    fprintf(stderr, "plaq: internal error on rank %d at %s:%d in %s: %s\n  (required: %s)\n", this_rank, file, line,
            function, text, condition);
    fflush(stderr);
    stop_all(EXIT_INTERNAL);
    abort();
}

void error_fault(int status, const char *file, int line, const char *function, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fflush(stdout);
    log_status_clear();
    fprintf(stderr, "plaq: error on rank %d: %s\n  (at %s:%d in %s)\n", this_rank, text, file, line, function);
    fflush(stderr);
    stop_all(status);
    abort();
}

void error_memory(const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fflush(stdout);
    log_status_clear();
    fprintf(stderr, "plaq: error: %s, on rank %d; %s\n", text, this_rank, memory_advice);
    fflush(stderr);
    stop_all(memory_status);
    abort();
}

void user_error(const char *fmt, ...)
{
    fflush(stdout);
    if (this_rank == 0) {
        va_list ap;
        va_start(ap, fmt);
        log_status_clear();
        fputs("plaq: error: ", stderr);
        vfprintf(stderr, fmt, ap);
        fputc('\n', stderr);
        va_end(ap);
        fflush(stderr);
    }
    stop_together(EXIT_USER_ERROR);
    abort();
}
