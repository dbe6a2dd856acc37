/* A function in a process of its own, for what ends the program. */
#ifndef PLAQ_TESTS_CHILD_H
#define PLAQ_TESTS_CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char child_text[4096]; /* standard error of the last one */

/* The exit status of fn() in a process of its own, or -1. */
static int child_run(void (*fn)(void))
{
    FILE *capture = tmpfile();
    fflush(NULL);
    const pid_t child = capture ? fork() : -1;
    if (child == 0) {
        dup2(fileno(capture), STDERR_FILENO);
        fn();
        _exit(0);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    child_text[0] = 0;
    if (capture) {
        rewind(capture);
        child_text[fread(child_text, 1, sizeof child_text - 1, capture)] = 0;
        fclose(capture);
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
