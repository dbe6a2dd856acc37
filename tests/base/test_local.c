/* Local sections: a collective call inside of one is a fault that names both, also on one rank; outside of them nothing
 * happens. */
#include "kernels/base/local.h"
#include "kernels/base/error.h"
#include "kernels/base/json.h"
#include "tests/check.h"

#include <signal.h>

static char text[4096]; /* standard error of the child */

/* The exit status of a process that makes a collective call within a line of JSON, or outside; -1 of one that was killed. */
static int run(int inside)
{
    FILE *capture = tmpfile();
    fflush(NULL);
    const pid_t child = capture ? fork() : -1;
    if (child == 0) {
        dup2(fileno(capture), STDERR_FILENO);
        FILE *out = fopen("/dev/null", "w");
        json j = json_begin(out);
        if (inside) local_check("a reduction over all ranks");
        json_end(&j);
        local_check("a reduction over all ranks");
        _exit(0);
    }
    int status = -1;
    if (child > 0) waitpid(child, &status, 0);
    text[0] = 0;
    if (capture) {
        rewind(capture);
        text[fread(text, 1, sizeof text - 1, capture)] = 0;
        fclose(capture);
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    CHECK(!local_section());
    local_begin("a table");
    CHECK_STR(local_section(), "a table");
    local_end();
    CHECK(!local_section());
    CHECK_INT(run(0), 0);
    const int status = run(1);
    CHECK(status != 0);
    CHECK(strstr(text, "a reduction over all ranks inside of a line of JSON"));
    return CHECK_SUMMARY();
}
