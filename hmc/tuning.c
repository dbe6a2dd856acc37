#include "hmc/tuning.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/atomic.h"
#include "io/regular.h"
#include "kernels/base/error.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"
#include "kernels/tune.h"

#define FILE_MAX ((uint64_t)16 << 20)

static char cache[ATOMIC_PATH];

/* The file as text, on rank 0; null with a message in *why when it cannot be read. */
static char *read_whole(const char *path, const char **why)
{
    uint64_t bytes;
    const int fd = regular_open(path, &bytes, why);
    if (fd < 0) return NULL;
    char *text = bytes <= FILE_MAX ? malloc((size_t)bytes + 1) : NULL;
    *why = "too long for a tuning file";
    ssize_t got = 0;
    for (size_t n = 0; text && n < bytes; n += (size_t)got) {
        got = read(fd, text + n, (size_t)bytes - n);
        if (got <= 0) {
            *why = got < 0 ? strerror(errno) : "it ends early";
            free(text);
            text = NULL;
        }
    }
    if (text) text[bytes] = 0;
    close(fd);
    return text;
}

/* All ranks get what rank 0 read; null where there is no such file. */
static char *read_shared(const char *path)
{
    char *text = NULL;
    const char *why = NULL;
    int64_t bytes = -1;
    if (comm_rank() == 0 && access(path, F_OK) == 0) {
        text = read_whole(path, &why);
        bytes = text ? (int64_t)strlen(text) : -2;
    }
    comm_bcast(&bytes, sizeof bytes);
    if (bytes == -2)
        user_error("tuning file %s: %s; remove it, or name another one as tune_file", path, why ? why : "");
    if (bytes < 0) return NULL;
    if (!text) text = calloc((size_t)bytes + 1, 1);
    REQUIRE(text, "out of memory for %lld bytes", (long long)bytes);
    comm_bcast(text, (size_t)bytes);
    return text;
}

void tuning_open(const char *mode, const char *path, const char *machine)
{
    const int measure = !strcmp(mode, "measure"), wanted = measure || !strcmp(mode, "file");
    tune_start(!wanted ? TUNE_ESTIMATE : measure ? TUNE_MEASURE : TUNE_FILE, machine);
    if (!wanted) return;
    char *text = read_shared(path);
    if (!text && !measure) user_error("tune = file, but there is no file %s; make one with tune = measure", path);
    int line;
    const int taken = text ? tune_read(text, &line) : 1;
    if (taken < 0)
        user_error("tuning file %s, line %d: not a case (kernel precision X.Y.Z.T variant rhs way microseconds); "
                   "remove the file",
                   path, line);
    if (taken == 0)
        log_warn("tuning file %s is of another machine or version of plaq (this is a %s); it is not used%s", path,
                 machine, measure ? ", and will be replaced" : "");
    free(text);
    if (measure) snprintf(cache, sizeof cache, "%s", path);
}

void tuning_close(void)
{
    char message[1024], *text = cache[0] ? tune_text() : NULL;
    if (text && comm_rank() == 0 && atomic_write(cache, text, strlen(text), message, sizeof message))
        log_warn("the tuner's choices are not kept: %s", message);
    free(text);
    cache[0] = 0;
}
