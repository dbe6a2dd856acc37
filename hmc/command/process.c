#include "hmc/command/process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Rounds of a waiting loop of GNU's runtime: some ten microseconds, longer than most gaps between kernels. Its own
 * default, 300000, keeps a core from others for milliseconds at each wait. */
#define SPINS "1000"
/* LLVM's runtime counts milliseconds. */
#define BLOCKTIME "1"

static void start_with_short_waits(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME")) return;
    setenv("GOMP_SPINCOUNT", SPINS, 1);
    setenv("KMP_BLOCKTIME", BLOCKTIME, 1);
    /* The program's own path gives the process its name: "/proc/self/exe" would make it "exe" in top and pkill. */
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    execv(path, argv);
    /* Threads spin for longer where exec fails: slow beside others, and no error. */
}

static void open_closed_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) abort();
}

void process_begin(char **argv)
{
    start_with_short_waits(argv);
    open_closed_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
