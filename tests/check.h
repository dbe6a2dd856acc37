/* Checks of the test programs. Each prints the place, the expressions and both values when it fails, and the program
 * goes on; main ends with `return CHECK_SUMMARY();`, which is 0 when at least one check ran and none failed.
 *
 *   CHECK(cond)             the condition holds
 *   CHECK_NEAR(a, b, tol)   |a - b| <= tol; NaN fails
 *   CHECK_REL(a, b, tol)    |a - b| <= tol max(|a|, |b|); NaN fails
 *   CHECK_INT(a, b)         equal integers
 *   CHECK_STR(a, b)         equal strings (NULL differs from all strings)
 *   CHECK_HAS(text, part)   the text contains the part
 *   CHECK_USER_ERROR(fn, arg, part)   fn(arg), in a process of its own, ends in user_error with `part` in its message
 */
#ifndef PLAQ_CHECK_H
#define PLAQ_CHECK_H

#include "kernels/base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_UNUSED __attribute__((unused))

static int check_count CHECK_UNUSED, check_failed CHECK_UNUSED;

CHECK_UNUSED static int check_note(int ok)
{
    check_count++;
    check_failed += !ok;
    return ok;
}

CHECK_UNUSED static void check_true(const char *file, int line, const char *what, int ok)
{
    if (!check_note(ok)) printf("%s:%d: failed: %s\n", file, line, what);
}

CHECK_UNUSED static void check_near(const char *file, int line, const char *sa, const char *sb, double a, double b,
                                    double tol, int relative)
{
    double scale = relative ? fmax(fabs(a), fabs(b)) : 1;
    if (!check_note(a == b || fabs(a - b) <= tol * scale))
        printf("%s:%d: failed: %s = %.17g, %s = %.17g, difference %.3g, allowed %.3g%s\n", file, line, sa, a, sb, b,
               fabs(a - b), tol * scale, relative ? " (relative)" : "");
}

CHECK_UNUSED static void check_int(const char *file, int line, const char *sa, const char *sb, long long a, long long b)
{
    if (!check_note(a == b)) printf("%s:%d: failed: %s = %lld, %s = %lld\n", file, line, sa, a, sb, b);
}

CHECK_UNUSED static void check_str(const char *file, int line, const char *sa, const char *sb, const char *a,
                                   const char *b, int part)
{
    if (!check_note(a && b && (part ? strstr(a, b) != NULL : !strcmp(a, b))))
        printf("%s:%d: failed: %s = \"%s\"\n  %s %s = \"%s\"\n", file, line, sa, a ? a : "(null)",
               part ? "does not contain" : "differs from", sb, b ? b : "(null)");
}

/* A forked process must not run the exit handlers of its parent (leak checks, MPI). */
CHECK_UNUSED static void check_leave(int status)
{
    fflush(stderr);
    _exit(status);
}

CHECK_UNUSED static void check_user_error(const char *file, int line, void (*fn)(void *), void *arg, const char *part)
{
    char text[8192] = "";
    FILE *capture = tmpfile();
    fflush(NULL);
    pid_t child = capture ? fork() : -1;
    if (child == 0) {
        dup2(fileno(capture), STDERR_FILENO);
        error_set_hooks(0, check_leave, check_leave);
        fn(arg);
        _exit(0);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    if (capture) {
        rewind(capture);
        text[fread(text, 1, sizeof text - 1, capture)] = 0;
        fclose(capture);
    }
    int ended = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (!check_note(ended == EXIT_USER_ERROR && strstr(text, part)))
        printf("%s:%d: failed: exit status %d, expected %d\n  message: %s\n  expected in it: %s\n", file, line, ended,
               EXIT_USER_ERROR, text, part);
}

CHECK_UNUSED static int check_summary(const char *file)
{
    printf("%s: %d checks, %d failed\n", file, check_count, check_failed);
    return check_failed || !check_count;
}

#define CHECK(cond) check_true(__FILE__, __LINE__, #cond, (cond) ? 1 : 0)
#define CHECK_NEAR(a, b, tol) check_near(__FILE__, __LINE__, #a, #b, a, b, tol, 0)
#define CHECK_REL(a, b, tol) check_near(__FILE__, __LINE__, #a, #b, a, b, tol, 1)
#define CHECK_INT(a, b) check_int(__FILE__, __LINE__, #a, #b, a, b)
#define CHECK_STR(a, b) check_str(__FILE__, __LINE__, #a, #b, a, b, 0)
#define CHECK_HAS(text, part) check_str(__FILE__, __LINE__, #text, #part, text, part, 1)
#define CHECK_USER_ERROR(fn, arg, part) check_user_error(__FILE__, __LINE__, fn, arg, part)
#define CHECK_SUMMARY() check_summary(__FILE__)

#endif
