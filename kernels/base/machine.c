#include "kernels/base/machine.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"

/* ---- control groups ---- */

/* The folder of this process in the hierarchy of a controller of version 1, or of version 2 (null): the part behind
 * CGROUPS. Returns 0 when there is none. */
static int group_of(const char *controller, char folder[PATH_MAX])
{
    char line[PATH_MAX + 256];
    int found = 0;
    FILE *f = fopen("/proc/self/cgroup", "r"); /* lines NUMBER:CONTROLLER,CONTROLLER:PATH; 0::PATH of version 2 */
    if (!f) return 0;
    while (!found && fgets(line, sizeof line, f)) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        names++;
        if (!controller) found = !*names;
        for (char *rest = names, *name; controller && !found && (name = strsep(&rest, ","));)
            found = !strcmp(name, controller);
        if (found) snprintf(folder, PATH_MAX, "%s%s%s", controller ? "/" : "", controller ? controller : "", path);
    }
    fclose(f);
    return found;
}

/* The first line of a file of a group; 0 when there is none. */
static int read_line(const char *folder, const char *name, char *line, size_t size)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, CGROUPS "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    const int there = fgets(line, (int)size, f) != NULL;
    fclose(f);
    return there;
}

/* The least limit of a group and of those around it. */
static double least_limit(const char *controller, double (*limit)(const char *folder))
{
    char folder[PATH_MAX];
    double least = INFINITY;
    if (!group_of(controller, folder)) return least;
    for (;;) {
        least = fmin(least, limit(folder));
        char *last = strrchr(folder, '/');
        if (!last) return least;
        *last = 0;
    }
}

static double number_in(const char *folder, const char *name)
{
    char line[64], *end;
    if (!read_line(folder, name, line, sizeof line)) return INFINITY;
    const double x = strtod(line, &end);
    return end != line && x > 0 ? x : INFINITY; /* "max", or -1: no limit */
}

static double memory_limit(const char *folder)
{
    return number_in(folder, "memory.max");
}

static double memory_limit_old(const char *folder)
{
    return number_in(folder, "memory.limit_in_bytes");
}

static double core_limit(const char *folder)
{
    char line[64];
    double quota, period;
    if (!read_line(folder, "cpu.max", line, sizeof line)) return INFINITY;
    return sscanf(line, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0 ? quota / period : INFINITY;
}

static double core_limit_old(const char *folder)
{
    return number_in(folder, "cpu.cfs_quota_us") / fmin(number_in(folder, "cpu.cfs_period_us"), 1e12);
}

/* ---- the answers ---- */

double machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    const double there = pages > 0 && size > 0 ? (double)pages * (double)size : INFINITY;
    const double most = fmin(there, fmin(least_limit(NULL, memory_limit), least_limit("memory", memory_limit_old)));
    return isinf(most) ? 0 : most;
}

double machine_process_memory(void)
{
    static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA};
    double least = INFINITY;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct rlimit r;
        if (!getrlimit(kinds[i], &r) && r.rlim_cur != RLIM_INFINITY) least = fmin(least, (double)r.rlim_cur);
    }
    return least;
}

double machine_resident(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    const int found = fscanf(f, "%ld %ld", &size, &resident);
    fclose(f);
    return found == 2 ? (double)resident * (double)sysconf(_SC_PAGESIZE) : 0;
}

double machine_resident_peak(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : 1024.0 * (double)u.ru_maxrss;
}

void machine_cores(unsigned char may_use[MACHINE_CORES])
{
    cpu_set_t set;
    memset(may_use, 0, MACHINE_CORES);
    if (sched_getaffinity(0, sizeof set, &set)) {
        const long n = sysconf(_SC_NPROCESSORS_ONLN);
        for (long i = 0; i < n && i < MACHINE_CORES; i++) may_use[i] = 1;
        return;
    }
    for (int i = 0; i < MACHINE_CORES && i < CPU_SETSIZE; i++) may_use[i] = CPU_ISSET(i, &set) != 0;
}

double machine_core_share(void)
{
    return fmin(least_limit(NULL, core_limit), least_limit("cpu", core_limit_old));
}
